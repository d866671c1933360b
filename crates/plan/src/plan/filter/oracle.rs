//! The filter's table compiled a second time, by `seccompiler`, which shares no code with the assembler here.
//!
//! It has one answer for a match and one for no match, so the question is only: allowed or not?

use std::collections::BTreeMap;

use proptest::prelude::*;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::{Action, Architecture, Case, Condition, Half, Instruction, Table, Test, Verdict, assemble, evaluate};
use crate::plan::calls::{
    Allocating, Cutting, Maker, Memfds, Posture, Signals, Sockets, Spawning, Trace, Truncation, UNKNOWN, Unjudged,
    table,
};

const ARGUMENTS_OF_INTEREST: [u32; 16] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    10,
    16,
    17,
    41,
    0x5401,
    0x5412,
    0x541b,
    0x2000_0000,
];

/// Compiles the verdict on one number; `None` if `seccompiler` can't express it. (All the numbers together need more
/// instructions than the kernel's limit.)
fn compile(table: &Table, number: u32, arch: TargetArch) -> Option<Vec<Instruction>> {
    let alternatives = table.get(number).map_or(Some(None), expressed)?;
    let rules: BTreeMap<_, _> = alternatives
        .map(|rules| (i64::from(number), rules))
        .into_iter()
        .collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Errno(1), SeccompAction::Allow, arch).unwrap();
    let program = BpfProgram::try_from(filter).unwrap();
    let copy = |from: &seccompiler::sock_filter| Instruction {
        code: from.code,
        jt: from.jt,
        jf: from.jf,
        k: from.k,
    };
    Some(program.iter().map(copy).collect())
}

/// The rules that allow a call: `Some(None)` if none does, `None` if `seccompiler` can't express it.
fn expressed(verdict: &Verdict) -> Option<Option<Vec<SeccompRule>>> {
    match (verdict.cases, verdict.otherwise) {
        ([], Action::Allow) => Some(Some(Vec::new())),
        ([], _) => Some(None),
        // Allowed unless one bit is set.
        (
            [
                Case {
                    when:
                        [
                            Condition {
                                argument,
                                half: Half::Low,
                                test: Test::AnyBit(bit),
                            },
                        ],
                    ..
                },
            ],
            Action::Allow,
        ) => Some(Some(vec![
            SeccompRule::new(vec![masked(*argument, u64::from(*bit), 0)]).unwrap(),
        ])),
        (_, Action::Allow) => None,
        (cases, _) if cases.iter().any(is_exception) => None,
        (cases, _) => {
            let allowing = cases.iter().filter(|case| case.then == Action::Allow);
            Some(Some(allowing.flat_map(|case| alternatives(case.when)).collect()))
        }
    }
}

/// Whether a case refuses part of what a later one allows: `seccompiler` has alternatives without an order.
fn is_exception(case: &Case) -> bool {
    let tests: Vec<Test> = case.when.iter().map(|condition| condition.test).collect();
    case.then != Action::Allow && !matches!(tests[..], [Test::Equals(_)])
}

fn masked(argument: u8, mask: u64, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value).unwrap()
}

/// One rule for each combination that meets all the conditions.
fn alternatives(when: &[Condition]) -> Vec<SeccompRule> {
    let mut ways = vec![Vec::new()];
    for condition in when {
        let shift = if condition.half == Half::High { 32 } else { 0 };
        let all = u32::MAX;
        let pairs: Vec<(u32, u32)> = match condition.test {
            Test::Equals(value) => vec![(all, value)],
            Test::OneOf(values) => values.iter().map(|value| (all, *value)).collect(),
            Test::Masked { mask, value } => vec![(mask, value)],
            Test::NoBit(mask) => vec![(mask, 0)],
            Test::AnyBit(mask) => {
                assert!(mask.is_power_of_two(), "more than one bit has no `MaskedEq`");
                vec![(mask, mask)]
            }
        };
        let longer = |way: &Vec<SeccompCondition>| {
            let way = way.clone();
            let compared = pairs
                .iter()
                .map(|(mask, value)| (u64::from(*mask) << shift, u64::from(*value) << shift));
            let conditions = compared.map(|(mask, value)| masked(condition.argument, mask, value));
            conditions
                .map(|one| way.iter().cloned().chain([one]).collect())
                .collect::<Vec<_>>()
        };
        ways = ways.iter().flat_map(longer).collect();
    }
    ways.into_iter().map(|way| SeccompRule::new(way).unwrap()).collect()
}

fn postures() -> impl Strategy<Value = Posture> {
    let unjudged = prop_oneof![Just(Unjudged::Refused), Just(Unjudged::Allowed)];
    let sockets = prop_oneof![Just(Sockets::None), Just(Sockets::Hosts), Just(Sockets::All)];
    let memfds = prop_oneof![Just(Memfds::Executable), Just(Memfds::Sealed)];
    let truncation = prop_oneof![Just(Truncation::Landlock), Just(Truncation::Filter)];
    (unjudged, sockets, memfds, truncation).prop_map(|(unjudged, sockets, memfds, truncation)| Posture {
        unjudged,
        sockets,
        maker: Maker::Run,
        memfds,
        truncation,
        signals: Signals::Landlock,
        trace: Trace::Exact,
        spawning: Spawning::Free,
        cutting: Cutting::Free,
        allocating: Allocating::Free,
        extra: Vec::new(),
    })
}

fn argument() -> impl Strategy<Value = u64> {
    let known = prop::sample::select(&ARGUMENTS_OF_INTEREST[..]);
    let low = prop_oneof![3 => known, 1 => 0..128_u32, 1 => (0..32_u32).prop_map(|bit| 1 << bit), 1 => any::<u32>()];
    let high = prop_oneof![2 => Just(0_u32), 1 => any::<u32>()];
    (low, high).prop_map(|(low, high)| u64::from(high) << 32 | u64::from(low))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn seccompiler_allows_the_same_calls(
        posture in postures(),
        tries in prop::collection::vec(prop::array::uniform6(argument()), 16),
    ) {
        for (architecture, arch) in
            [(Architecture::X86_64, TargetArch::x86_64), (Architecture::Aarch64, TargetArch::aarch64)]
        {
            let table = table(&posture, architecture).unwrap();
            let ours = assemble(&table, architecture, UNKNOWN).unwrap();
            let mut compared = 0;
            for number in 0..600 {
                let Some(theirs) = compile(&table, number, arch) else { continue };
                compared += 1;
                for arguments in &tries {
                    let allows = |program: &[Instruction]| {
                        let answer = evaluate(program, architecture.audit(), number, *arguments);
                        answer.expect("well-formed") == Action::Allow.code()
                    };
                    prop_assert_eq!(allows(&ours), allows(&theirs), "{} {:x?}", number, arguments);
                }
            }
            prop_assert!(compared >= 595, "only {} numbers are compared", compared);
        }
    }
}

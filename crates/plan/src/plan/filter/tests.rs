//! Programs must return their tables' answers for all numbers and arguments.

use proptest::prelude::*;

use super::{
    Action, Architecture, Case, Condition, FilterError, Instruction, Table, Test, Verdict, X32_BIT, assemble, decide,
    evaluate,
};

const UNKNOWN: Action = Action::Errno(38);

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// Answers and tests of every kind; cases share arguments in every way that saves a load.
static VERDICTS: [Verdict; 10] = [
    Verdict::always(Action::Allow),
    Verdict::always(Action::Errno(1)),
    Verdict::always(Action::Notify),
    Verdict {
        cases: &[Case {
            when: &[Condition::low(0, Test::Equals(7))],
            then: Action::Notify,
        }],
        otherwise: Action::Kill,
    },
    Verdict {
        cases: &[
            Case {
                when: &[Condition::low(1, Test::OneOf(&[9, 3, 4, 5, u32::MAX, 0]))],
                then: Action::Allow,
            },
            Case {
                when: &[Condition::low(1, Test::OneOf(&[6, 8]))],
                then: Action::Errno(0),
            },
        ],
        otherwise: Action::Errno(22),
    },
    Verdict {
        cases: &[
            Case {
                when: &[Condition::low(1, Test::Equals(3)), Condition::low(2, Test::AnyBit(5))],
                then: Action::Allow,
            },
            Case {
                when: &[Condition::low(1, Test::Equals(4)), Condition::low(2, Test::NoBit(6))],
                then: Action::Notify,
            },
        ],
        otherwise: Action::Errno(1),
    },
    // The second case is reached with either argument in the accumulator.
    Verdict {
        cases: &[
            Case {
                when: &[Condition::low(1, Test::Equals(3)), Condition::low(2, Test::Equals(4))],
                then: Action::Allow,
            },
            Case {
                when: &[Condition::low(2, Test::Equals(5))],
                then: Action::Notify,
            },
        ],
        otherwise: Action::Errno(1),
    },
    Verdict {
        cases: &[
            Case {
                when: &[Condition::low(5, Test::Masked { mask: 6, value: 4 })],
                then: Action::Errno(2),
            },
            Case {
                when: &[Condition::low(5, Test::Masked { mask: 6, value: 2 })],
                then: Action::Errno(3),
            },
            Case {
                when: &[Condition::low(5, Test::Equals(9))],
                then: Action::Errno(4),
            },
        ],
        otherwise: Action::Allow,
    },
    Verdict {
        cases: &[Case {
            when: &[Condition::short(3), Condition::low(3, Test::NoBit(1))],
            then: Action::Allow,
        }],
        otherwise: Action::Errno(1),
    },
    Verdict {
        cases: &[
            Case {
                when: &[Condition::low(0, Test::OneOf(&[]))],
                then: Action::Kill,
            },
            Case {
                when: &[Condition::low(0, Test::Equals(1)), Condition::short(0)],
                then: Action::Allow,
            },
            Case {
                when: &[],
                then: Action::Notify,
            },
        ],
        otherwise: Action::Kill,
    },
];

fn argument() -> impl Strategy<Value = u64> {
    let low = prop_oneof![0..12_u32, Just(u32::MAX), any::<u32>()];
    let high = prop_oneof![Just(0_u32), Just(1), any::<u32>()];
    (low, high).prop_map(|(low, high)| u64::from(high) << 32 | u64::from(low))
}

fn expected(table: &Table, architecture: Architecture, number: u32, arguments: [u64; 6]) -> Action {
    if architecture == Architecture::X86_64 && number != u32::MAX && number & X32_BIT != 0 {
        return Action::Kill;
    }
    table.get(number).map_or(UNKNOWN, |verdict| decide(verdict, arguments))
}

proptest! {
    #[test]
    fn a_program_answers_what_its_table_says(
        calls in prop::collection::vec((0_u16..600, 0..VERDICTS.len()), 0..300),
        arguments in prop::array::uniform6(argument()),
        odd in any::<u32>(),
    ) {
        let mut table = Table::new();
        for (number, verdict) in calls {
            table.set(number, &VERDICTS[verdict]);
        }
        for architecture in ARCHITECTURES {
            let program = assemble(&table, architecture, UNKNOWN).unwrap();
            let special = [odd, odd | X32_BIT, X32_BIT, X32_BIT + 1, 1 << 31, u32::MAX - 1, u32::MAX];
            for number in (0..=620).chain(special) {
                let action = expected(&table, architecture, number, arguments);
                let answer = evaluate(&program, architecture.audit(), number, arguments);
                prop_assert_eq!(answer, Some(action.code()), "{:?} {:#x}", architecture, number);
            }
        }
    }

    #[test]
    fn a_set_holds_its_members_and_no_neighbour(
        values in prop::collection::vec(prop_oneof![0..40_u32, 0x5400..0x5460_u32, any::<u32>()], 0..60),
        high in any::<u32>(),
    ) {
        let members: &'static [u32] = values.clone().leak();
        let program = program_of(vec![verdict_of(members)]);
        let neighbours = values.iter().flat_map(|value| [value.wrapping_sub(1), *value, value.wrapping_add(1)]);
        for value in neighbours.chain([0, 1, u32::MAX]) {
            let arguments = [u64::from(high) << 32 | u64::from(value), 0, 0, 0, 0, 0];
            let action = if values.contains(&value) { Action::Allow } else { Action::Errno(1) };
            prop_assert_eq!(evaluate(&program, AUDIT, 0, arguments), Some(action.code()), "{:#x}", value);
        }
    }
}

const AUDIT: u32 = Architecture::X86_64.audit();

fn verdict_of(members: &'static [u32]) -> &'static Verdict {
    let when = vec![Condition::low(0, Test::OneOf(members))].leak();
    let cases = vec![Case {
        when,
        then: Action::Allow,
    }]
    .leak();
    Box::leak(Box::new(Verdict {
        cases,
        otherwise: Action::Errno(1),
    }))
}

fn table_of(verdicts: Vec<&'static Verdict>) -> Table {
    let mut table = Table::new();
    for (number, verdict) in verdicts.into_iter().enumerate() {
        table.set(u16::try_from(number).unwrap(), verdict);
    }
    table
}

fn program_of(verdicts: Vec<&'static Verdict>) -> Vec<Instruction> {
    assemble(&table_of(verdicts), Architecture::X86_64, UNKNOWN).unwrap()
}

/// Members unique to one verdict, spread so that each needs a comparison.
fn members(of: u32) -> &'static [u32] {
    (0..6).map(|member| of * 100 + member * 2).collect::<Vec<_>>().leak()
}

#[test]
fn targets_beyond_the_reach_of_a_comparison_are_reached() {
    let program = program_of((0..200).map(|number| verdict_of(members(number))).collect());
    assert!(program.len() > 1500, "{} instructions need no far jump", program.len());
    for number in 0..200 {
        for value in [
            0,
            number * 100 - u32::from(number > 0),
            number * 100,
            number * 100 + 1,
            number * 100 + 10,
        ] {
            let action = if members(number).contains(&value) {
                Action::Allow
            } else {
                Action::Errno(1)
            };
            let answer = evaluate(&program, AUDIT, number, [u64::from(value), 0, 0, 0, 0, 0]);
            assert_eq!(answer, Some(action.code()), "number {number}, value {value}");
        }
    }
}

#[test]
fn a_program_that_the_kernel_would_refuse_is_an_error() {
    let table = table_of((0..600).map(|number| verdict_of(members(number))).collect());
    let error = assemble(&table, Architecture::X86_64, UNKNOWN).unwrap_err();
    let FilterError::TooLong { instructions } = error;
    assert!(instructions > 4096, "{instructions}");
}

#[test]
fn an_empty_table_still_kills_foreign_architectures() {
    for architecture in ARCHITECTURES {
        let program = assemble(&Table::new(), architecture, UNKNOWN).unwrap();
        assert_eq!(
            evaluate(&program, architecture.audit(), 0, [0; 6]),
            Some(UNKNOWN.code())
        );
        assert_eq!(evaluate(&program, 0x4000_0003, 0, [0; 6]), Some(Action::Kill.code()));
    }
}

#[test]
fn every_call_of_a_foreign_architecture_is_killed() {
    const FOREIGN: [u32; 4] = [0x4000_0003, 0x4000_0028, 0, u32::MAX]; // i386, 32-bit ARM, nonsense
    for architecture in ARCHITECTURES {
        let program = assemble(&table_of(vec![&VERDICTS[0]; 400]), architecture, UNKNOWN).unwrap();
        let others = ARCHITECTURES
            .into_iter()
            .filter(|other| *other != architecture)
            .map(Architecture::audit);
        for audit in others.chain(FOREIGN) {
            for number in (0..600).chain([X32_BIT, u32::MAX]) {
                assert_eq!(evaluate(&program, audit, number, [0; 6]), Some(Action::Kill.code()));
            }
        }
    }
}

#[test]
fn x32_calls_are_killed_and_a_tracers_skip_is_not() {
    let program = program_of(vec![&VERDICTS[0]; 400]);
    for number in (X32_BIT..X32_BIT + 600).chain([X32_BIT | 1 << 31, u32::MAX - 1]) {
        assert_eq!(
            evaluate(&program, AUDIT, number, [0; 6]),
            Some(Action::Kill.code()),
            "{number:#x}"
        );
    }
    for number in [u32::MAX, 1 << 31, 512, 547] {
        assert_eq!(
            evaluate(&program, AUDIT, number, [0; 6]),
            Some(UNKNOWN.code()),
            "{number:#x}"
        );
    }
}

#[test]
fn actions_have_the_kernels_values() {
    assert_eq!(Action::Allow.code(), libc::SECCOMP_RET_ALLOW);
    assert_eq!(Action::Kill.code(), libc::SECCOMP_RET_KILL_PROCESS);
    assert_eq!(Action::Notify.code(), libc::SECCOMP_RET_USER_NOTIF);
    assert_eq!(Action::Errno(38).code(), libc::SECCOMP_RET_ERRNO | 38);
}

#[test]
fn an_instruction_is_laid_out_as_the_kernels() {
    assert_eq!(size_of::<Instruction>(), size_of::<libc::sock_filter>());
    assert_eq!(
        std::mem::offset_of!(Instruction, jf),
        std::mem::offset_of!(libc::sock_filter, jf)
    );
    assert_eq!(
        std::mem::offset_of!(Instruction, k),
        std::mem::offset_of!(libc::sock_filter, k)
    );
}

//! Promises about refused and allowed calls, checked on the assembled programs.

use proptest::prelude::*;

use super::super::filter::{Action, Architecture, Table, assemble, decide, evaluate};
use super::{
    Allocating, CallsError, Cutting, Maker, Memfds, Posture, Signals, Sockets, Spawning, Trace, Truncation, UNKNOWN,
    Unjudged, allowed, errno, judged, name, number, refused, rows, table,
};

/// libc's constants have many integer types.
macro_rules! each {
    ($($constant:expr),* $(,)?) => {
        [$($constant as u32 as u64),*]
    };
}

mod numbers;
mod promises;
mod requests;
mod sockets;

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

/// The posture of profiles without a supervisor.
fn strict() -> Posture {
    Posture {
        unjudged: Unjudged::Refused,
        sockets: Sockets::None,
        maker: Maker::Run,
        memfds: Memfds::Sealed,
        truncation: Truncation::Landlock,
        signals: Signals::Landlock,
        trace: Trace::Exact,
        spawning: Spawning::Free,
        cutting: Cutting::Free,
        allocating: Allocating::Free,
        extra: Vec::new(),
    }
}

/// The posture of profiles that allow nearly everything.
fn open() -> Posture {
    Posture {
        unjudged: Unjudged::Allowed,
        sockets: Sockets::All,
        memfds: Memfds::Executable,
        ..strict()
    }
}

/// Runs the programs of both architectures, which must agree if both have the call.
#[track_caller]
fn answer(posture: &Posture, call: &str, arguments: &[u64]) -> u32 {
    let mut padded = [0; 6];
    padded[..arguments.len()].copy_from_slice(arguments);
    let mut answers = ARCHITECTURES.iter().filter_map(|architecture| {
        let number = number(call, *architecture)?;
        let program = assemble(&table(posture, *architecture).unwrap(), *architecture, UNKNOWN).unwrap();
        evaluate(&program, architecture.audit(), number, padded)
    });
    let first = answers.next().unwrap_or_else(|| panic!("no architecture has `{call}`"));
    assert!(
        answers.all(|other| other == first),
        "architectures disagree about `{call}`"
    );
    first
}

#[track_caller]
fn assert_answer(posture: &Posture, call: &str, arguments: &[u64], action: Action) {
    let code = answer(posture, call, arguments);
    assert_eq!(
        code,
        action.code(),
        "`{call}` {arguments:x?} answers {code:#x} and not {action:?}"
    );
}

/// Checks with several upper halves of every argument.
#[track_caller]
fn assert_int_answer(posture: &Posture, call: &str, arguments: &[u64], action: Action) {
    for high in [0, 1, 1 << 31, u64::from(u32::MAX)] {
        let arguments: Vec<u64> = arguments
            .iter()
            .map(|low| high << 32 | low & u64::from(u32::MAX))
            .collect();
        assert_answer(posture, call, &arguments, action);
    }
}

#[track_caller]
fn assert_allowed(posture: &Posture, call: &str, arguments: &[u64]) {
    assert_int_answer(posture, call, arguments, Action::Allow);
}

#[track_caller]
fn assert_refused(posture: &Posture, call: &str, arguments: &[u64]) {
    assert_int_answer(posture, call, arguments, errno(libc::EPERM));
}

fn argument() -> impl Strategy<Value = u64> {
    let low = prop_oneof![
        0..80_u32,
        0x5400..0x5470_u32,
        1020..1045_u32,
        (0..32_u32).prop_map(|bit| 1 << bit),
        any::<u32>()
    ];
    (low, any::<u32>()).prop_map(|(low, high)| u64::from(high) << 32 | u64::from(low))
}

proptest! {
    #[test]
    fn programs_answer_what_the_tables_say(
        choices in any::<[bool; 4]>(),
        arguments in prop::array::uniform6(argument()),
    ) {
        let [refused, none, sealed, landlock] = choices;
        let posture = Posture {
            unjudged: if refused { Unjudged::Refused } else { Unjudged::Allowed },
            sockets: if none { Sockets::None } else { Sockets::All },
            maker: Maker::Run,
            memfds: if sealed { Memfds::Sealed } else { Memfds::Executable },
            truncation: if landlock { Truncation::Landlock } else { Truncation::Filter },
            signals: if landlock { Signals::Landlock } else { Signals::Supervisor },
            trace: Trace::Exact,
            spawning: Spawning::Free,
            cutting: Cutting::Free,
            allocating: Allocating::Free,
            extra: Vec::new(),
        };
        for architecture in ARCHITECTURES {
            let table = table(&posture, architecture).unwrap();
            let program = assemble(&table, architecture, UNKNOWN).unwrap();
            for number in 0..=600 {
                let action = table.get(number).map_or(UNKNOWN, |verdict| decide(verdict, arguments));
                let answer = evaluate(&program, architecture.audit(), number, arguments);
                prop_assert_eq!(answer, Some(action.code()), "{:?} {}", architecture, number);
            }
        }
    }
}

fn length(table: &Table, architecture: Architecture) -> usize {
    assemble(table, architecture, UNKNOWN).unwrap().len()
}

/// Each instruction costs every launch a quarter of a microsecond.
#[test]
fn programs_stay_short() {
    for (posture, most) in [(strict(), 255), (open(), 285)] {
        for architecture in ARCHITECTURES {
            let length = length(&table(&posture, architecture).unwrap(), architecture);
            assert!(length <= most, "{length} instructions on {architecture:?}");
        }
    }
}

#[test]
fn a_profile_can_add_ptrace() {
    for architecture in ARCHITECTURES {
        let ptrace = number("ptrace", architecture).unwrap();
        let posture = Posture {
            extra: vec![ptrace],
            ..strict()
        };
        assert_eq!(
            table(&posture, architecture).unwrap().get(ptrace).unwrap().otherwise,
            Action::Allow
        );
    }
}

#[test]
fn adding_what_is_allowed_anyway_changes_nothing() {
    let posture = Posture {
        extra: vec![0],
        ..strict()
    };
    assert_eq!(
        length(&table(&posture, Architecture::X86_64).unwrap(), Architecture::X86_64),
        { length(&table(&strict(), Architecture::X86_64).unwrap(), Architecture::X86_64) }
    );
}

#[test]
fn no_profile_can_add_what_other_promises_rest_on() {
    let judged = judged::CALLS.iter().map(|(row, _)| row);
    for row in refused::FOR_GOOD.iter().chain(judged) {
        let Some(number) = number(row.0, Architecture::X86_64) else {
            continue;
        };
        let error = table(
            &Posture {
                extra: vec![number],
                ..strict()
            },
            Architecture::X86_64,
        )
        .unwrap_err();
        assert_eq!(error, CallsError::NeverAdded { name: row.0 });
    }
    let error = CallsError::NeverAdded { name: "io_uring_setup" };
    assert_eq!(
        error.to_string(),
        "`io_uring_setup` can't be added: other limits rest on refusing it"
    );
}

#[test]
fn an_unknown_number_can_not_be_added() {
    for number in [470, 0x4000_0000, u32::MAX] {
        let error = table(
            &Posture {
                extra: vec![number],
                ..strict()
            },
            Architecture::X86_64,
        )
        .unwrap_err();
        assert_eq!(error, CallsError::Unknown { number });
    }
}

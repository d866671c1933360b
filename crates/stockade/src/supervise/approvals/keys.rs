//! The keys by which questions are grouped.

use std::path::Path;

use crate::report::{Kind, Refusal};

/// A kind of access that is granted as one, whichever call asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum QuestionPower {
    Read,
    Change,
    Socket,
    Connect,
    Listen,
    Other,
}

impl QuestionPower {
    fn of(kind: Kind) -> QuestionPower {
        match kind {
            Kind::Read => QuestionPower::Read,
            Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata => QuestionPower::Change,
            Kind::Socket => QuestionPower::Socket,
            Kind::Connect => QuestionPower::Connect,
            Kind::Listen => QuestionPower::Listen,
            Kind::Execute | Kind::Resolve | Kind::Signal | Kind::Spawn | Kind::Syscall | Kind::Variable => {
                QuestionPower::Other
            }
        }
    }
}

/// Questions with the same key share one answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuestionKey(QuestionPower, Vec<u8>);

impl QuestionKey {
    pub fn of(refusal: &Refusal) -> QuestionKey {
        QuestionKey(QuestionPower::of(refusal.kind), refusal.target.clone())
    }
}

/// Questions of the same group (a directory, a host) are asked one after the other: the answer to one may be wide
/// enough for the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group(QuestionPower, Vec<u8>);

impl Group {
    pub fn of(refusal: &Refusal) -> Group {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let power = QuestionPower::of(refusal.kind);
        let target = refusal.target.as_slice();
        let common = match power {
            QuestionPower::Connect => target.iter().rposition(|byte| *byte == b':').map(|end| &target[..end]),
            QuestionPower::Listen => Some(&b""[..]),
            _ => Path::new(OsStr::from_bytes(target))
                .parent()
                .map(|parent| parent.as_os_str().as_bytes()),
        };
        Group(power, common.unwrap_or(target).to_vec())
    }
}

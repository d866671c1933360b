//! A call that waits for an approval, and the keys by which such calls are grouped.

use std::path::Path;

use super::approved_grants::CallGrants;
use crate::approve::Answer;
use crate::report::{Kind, Refusal};
use crate::supervise::nested_runs::Applying;
use stockade_sys::notify::Notification;

/// A call that waits for an approval.
pub struct Question {
    /// The call.
    pub notification: Notification,
    /// The nested runs that the caller is in.
    pub nested_runs: Applying,
    /// The grants that the call already has.
    pub call_grants: CallGrants,
    /// The refused access.
    pub refusal: Refusal,
    /// The errno of the call on a no.
    pub errno: i32,
}

/// A message to the prompt queue.
pub enum Message {
    /// A call that waits.
    Question(Box<Question>),
    /// The answer to the question of this number.
    Answered(usize, Answer),
    /// No process of the run is left.
    Over,
}

/// A kind of access that is granted as one, whichever call asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Power {
    Read,
    Change,
    Socket,
    Connect,
    Listen,
    Other,
}

impl Power {
    fn of(kind: Kind) -> Power {
        match kind {
            Kind::Read => Power::Read,
            Kind::Write | Kind::Create | Kind::Delete | Kind::Metadata => Power::Change,
            Kind::Socket => Power::Socket,
            Kind::Connect => Power::Connect,
            Kind::Listen => Power::Listen,
            Kind::Execute | Kind::Resolve | Kind::Signal | Kind::Spawn | Kind::Syscall | Kind::Variable => Power::Other,
        }
    }
}

/// Questions with the same key share one answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(Power, Vec<u8>);

impl Key {
    pub fn of(refusal: &Refusal) -> Key {
        Key(Power::of(refusal.kind), refusal.target.clone())
    }
}

/// Questions of the same group (a directory, a host) are asked one after the other: the answer to one may be wide
/// enough for the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Group(Power, Vec<u8>);

impl Group {
    pub fn of(refusal: &Refusal) -> Group {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let power = Power::of(refusal.kind);
        let target = refusal.target.as_slice();
        let common = match power {
            Power::Connect => target.iter().rposition(|byte| *byte == b':').map(|end| &target[..end]),
            Power::Listen => Some(&b""[..]),
            _ => Path::new(OsStr::from_bytes(target))
                .parent()
                .map(|parent| parent.as_os_str().as_bytes()),
        };
        Group(power, common.unwrap_or(target).to_vec())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::refusal;

    fn key(kind: Kind, target: &str) -> QuestionKey {
        QuestionKey::of(&refusal(kind, target))
    }

    fn group(kind: Kind, target: &str) -> Group {
        Group::of(&refusal(kind, target))
    }

    #[test]
    fn every_way_to_change_a_file_is_one_question_and_reading_it_is_another() {
        let write = key(Kind::Write, "/x/a");
        for kind in [Kind::Create, Kind::Delete, Kind::Metadata] {
            assert_eq!(key(kind, "/x/a"), write);
        }
        assert_ne!(key(Kind::Read, "/x/a"), write);
        assert_ne!(key(Kind::Socket, "/x/a"), write);
        assert_ne!(key(Kind::Write, "/x/b"), write);
    }

    #[test]
    fn files_of_a_directory_are_a_group_and_those_below_it_are_not_in_it() {
        assert_eq!(group(Kind::Read, "/x/a"), group(Kind::Read, "/x/b"));
        assert_ne!(group(Kind::Read, "/x/a"), group(Kind::Read, "/x/y/a"));
        assert_ne!(group(Kind::Read, "/x/a"), group(Kind::Write, "/x/a"));
    }

    #[test]
    fn the_ports_of_a_host_are_a_group_and_so_are_all_ports_to_listen_on() {
        assert_eq!(
            group(Kind::Connect, "a.example:80"),
            group(Kind::Connect, "a.example:443")
        );
        assert_eq!(
            group(Kind::Connect, "[2001:db8::1]:80"),
            group(Kind::Connect, "[2001:db8::1]:443")
        );
        assert_ne!(
            group(Kind::Connect, "a.example:80"),
            group(Kind::Connect, "b.example:80")
        );
        assert_eq!(group(Kind::Listen, "127.0.0.1:80"), group(Kind::Listen, "[::1]:443"));
    }

    #[test]
    fn a_target_without_a_directory_or_port_is_a_group_of_its_own() {
        assert_ne!(group(Kind::Connect, "a"), group(Kind::Connect, "b"));
        assert_ne!(group(Kind::Read, "/"), group(Kind::Read, "/x/a"));
    }
}

//! The system calls that Stockade knows, and what the filter does with each of them.
//!
//! Every call that x86-64 or aarch64 has up to number 469 is in one of three lists: always allowed, always refused, or
//! judged by its registers and the run's [`Posture`]. [`table`] combines the lists for the assembler of
//! [`super::filter`]. An unlisted number is unknown and answered `ENOSYS`, so that a program falls back to an older
//! call; a known call that is refused answers `EPERM`.
//!
//! `clone3` answers `ENOSYS`, since its flags are in memory, so that a C library falls back to `clone`. No call has the
//! kernel send SIGCONT later (the exit signal of `clone`, `PR_SET_PDEATHSIG`, `F_SETSIG`): a run is stopped while a
//! question is open at its terminal.

mod allowed;
mod judged;
mod refused;
mod requests;
mod rule;
mod sockets;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::filter::{Action, Architecture, Table, Verdict};

/// The filter's answer to a call number that isn't in the table.
pub const UNKNOWN: Action = errno(libc::ENOSYS);

/// A call's name and its numbers on x86-64 and aarch64.
type Row = (&'static str, u16, u16);

/// In place of a number: the architecture lacks the call.
const NONE: u16 = u16::MAX;

/// The plan's requirements for the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posture {
    /// The treatment of calls that only a supervisor could judge.
    pub unjudged: Unjudged,
    /// The sockets that the run may make.
    pub sockets: Sockets,
    /// Who creates them.
    pub maker: Maker,
    /// Whether files without a path may be executed.
    pub memfds: Memfds,
    /// Who keeps the run from truncating files that it can't write.
    pub truncation: Truncation,
    /// Who confines signals to the run.
    pub signals: Signals,
    /// Who judges read-only opens.
    pub trace: Trace,
    /// Whether new processes are counted.
    pub spawning: Spawning,
    /// Whether files held open may be truncated.
    pub cutting: Cutting,
    /// Whether space may be allocated without writing.
    pub allocating: Allocating,
    /// Further calls, by number, that the profile adds.
    pub extra: Vec<u32>,
}

/// Who judges read-only opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// The supervisor.
    Exact,
    /// Landlock alone those that are marked ([`stockade_preload::MARK`]), at native speed, and the supervisor all others.
    Marked,
}

/// Whether the supervisor counts processes and threads as they are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spawning {
    /// There is no limit on them.
    Free,
    /// There is a limit.
    Counted,
    /// No process may be created; threads may.
    Refused,
}

/// Whether a program may allocate space on a file system without writing, gigabytes in a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocating {
    /// It may.
    Free,
    /// A few pages; more if the supervisor finds that enough stays free.
    Watched,
    /// Disk space is limited, and sampling can't be quick enough: the call isn't supported, so programs write.
    Refused,
}

/// Whether a file held open may be truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutting {
    /// Through a descriptor opened for writing.
    Free,
    /// Never to less than its size.
    Refused,
}

/// The treatment of calls that neither Landlock nor their registers can judge: metadata by path or descriptor, extended
/// attributes, watches, the scheduling of other processes, and, whatever [`Sockets`] says, addresses in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unjudged {
    /// They are refused, since no part of Stockade could judge them.
    Refused,
    /// They are allowed: the user accepted that nothing judges them.
    Allowed,
    /// The supervisor judges them, and sees all other calls that may be refused.
    Supervised,
    /// The outer run's supervisor judges them. Its filter shows it the same calls as every supervised run's; the rest
    /// is refused here.
    Outside,
}

/// The sockets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Unix streams that stay inside the run: pairs, and sockets that can be neither connected nor bound.
    None,
    /// TCP to named hosts, Unix streams, and the route side of netlink, which lists interfaces. The supervisor provides
    /// datagram sockets that never send.
    Hosts,
    /// TCP, UDP, Unix sockets, and the route side of netlink.
    All,
}

/// Who creates the sockets of a supervised run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// The run. The supervisor takes copies of them (pidfd_getfd(2)).
    Run,
    /// The supervisor, because a container's filter keeps it from taking copies.
    Supervisor,
}

/// The kinds of files that `memfd_create` may create. Landlock can't judge them, since they have no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memfds {
    /// Any kind.
    Executable,
    /// Only non-executable ones, sealed with `MFD_NOEXEC_SEAL` (Linux 6.3); none if access lists are allowed.
    Sealed,
}

/// Who refuses to truncate a file that may only be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// Landlock, from ABI 3.
    Landlock,
    /// The filter: no `truncate`, no `O_TRUNC` without write access, no access mode 3. Landlock judges opens for writing in every
    /// ABI.
    Filter,
}

/// Who keeps the run's signals from other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// Landlock's scope (ABI 6), also for signals that the kernel sends later on the run's behalf.
    Landlock,
    /// The supervisor, which sends each signal itself; without one, none is sent.
    Supervisor,
}

/// The reason why a posture has no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CallsError {
    /// Other promises depend on refusing the call.
    #[error("`{name}` can't be added: other limits rest on refusing it")]
    NeverAdded {
        /// The call.
        name: &'static str,
    },
    /// The number is unknown, and so is what it would open.
    #[error("{number} isn't the number of a system call that Stockade knows")]
    Unknown {
        /// The number.
        number: u32,
    },
}

/// The verdicts for a posture.
///
/// # Errors
///
/// A call in [`Posture::extra`] is unknown, or one that no profile can add.
pub fn table(posture: &Posture, architecture: Architecture) -> Result<Table, CallsError> {
    let mut table = Table::new();
    for row in allowed::CALLS {
        set(&mut table, row, architecture, &rule::ALLOWED);
    }
    // Refused either way; the supervisor records it.
    let refused = match posture.unjudged {
        Unjudged::Supervised => &rule::SEEN,
        Unjudged::Refused | Unjudged::Allowed | Unjudged::Outside => &rule::REFUSED,
    };
    for row in refused::CALLS.iter().chain(refused::FOR_GOOD) {
        set(&mut table, row, architecture, refused);
    }
    for (row, rule) in judged::CALLS {
        set(&mut table, row, architecture, rule.verdict(posture));
    }
    for &number in &posture.extra {
        set(&mut table, addable(number, architecture)?, architecture, &rule::ALLOWED);
    }
    Ok(table)
}

/// Sets a verdict if the architecture has the call.
fn set(table: &mut Table, row: &Row, architecture: Architecture, verdict: &'static Verdict) {
    if let Some(number) = column(row, architecture) {
        table.set(number, verdict);
    }
}

/// The call with this number, if a profile may add it (or needn't: it is allowed anyway).
fn addable(number: u32, architecture: Architecture) -> Result<&'static Row, CallsError> {
    let row = row(number, architecture).ok_or(CallsError::Unknown { number })?;
    let mut calls = refused::CALLS.iter().chain(allowed::CALLS);
    if calls.any(|call| call == row) {
        Ok(row)
    } else {
        Err(CallsError::NeverAdded { name: row.0 })
    }
}

/// The name of a call number.
#[must_use]
pub fn name(number: u32, architecture: Architecture) -> Option<&'static str> {
    row(number, architecture).map(|row| row.0)
}

/// The number of a call by its name, if the architecture has it.
#[must_use]
pub fn number(name: &str, architecture: Architecture) -> Option<u32> {
    rows()
        .find(|row| row.0 == name)
        .and_then(|row| column(row, architecture))
        .map(u32::from)
}

/// The call with a number.
fn row(number: u32, architecture: Architecture) -> Option<&'static Row> {
    rows().find(|row| column(row, architecture).map(u32::from) == Some(number))
}

/// All the calls of the three lists.
fn rows() -> impl Iterator<Item = &'static Row> {
    let judged = judged::CALLS.iter().map(|(row, _)| row);
    allowed::CALLS
        .iter()
        .chain(refused::CALLS)
        .chain(refused::FOR_GOOD)
        .chain(judged)
}

/// A row's number on an architecture.
fn column(row: &Row, architecture: Architecture) -> Option<u16> {
    let number = match architecture {
        Architecture::X86_64 => row.1,
        Architecture::Aarch64 => row.2,
    };
    (number != NONE).then_some(number)
}

/// An answer with one of libc's error numbers.
const fn errno(number: i32) -> Action {
    Action::Errno(number as u16)
}

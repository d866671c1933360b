//! The system calls Stockade knows, and what a run may do with each of them in ring 1.
//!
//! Every call that x86-64 or aarch64 has up to number 469 is in one of three lists: always allowed, always refused, or
//! judged by its registers and by the run's [`Posture`]. [`table`] puts the lists together for the assembler of
//! [`super::filter`]. A number that stands nowhere is unknown and answered `ENOSYS`, so that a program falls back to an
//! older call; a call that is known and refused answers `EPERM`.

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

/// In the place of a number: the architecture lacks the call.
const NONE: u16 = u16::MAX;

/// What a run's plan asks of the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posture {
    /// Calls that only a supervisor could judge.
    pub unjudged: Unjudged,
    /// The sockets that the run may make.
    pub sockets: Sockets,
    /// Who makes them.
    pub maker: Maker,
    /// Whether files without a name may be executed.
    pub memfds: Memfds,
    /// Who keeps the run from truncating what it can't write.
    pub truncation: Truncation,
    /// Who keeps signals in the run.
    pub signals: Signals,
    /// What is seen of opens that only read.
    pub trace: Trace,
    /// Whether new processes are counted.
    pub spawning: Spawning,
    /// Whether files that are held open may be cut.
    pub cutting: Cutting,
    /// Whether space may be taken without writing.
    pub allocating: Allocating,
    /// Further calls, by number, that the profile adds.
    pub extra: Vec<u32>,
}

/// What the supervisor sees of opens that only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// All.
    Exact,
    /// None: Landlock alone judges them, at native speed.
    Fast,
}

/// Whether the supervisor counts processes and threads as they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spawning {
    /// No limit on them.
    Free,
    /// There is one.
    Counted,
    /// None may be made; threads may.
    Refused,
}

/// Whether a program may take space on a file system without writing there, gigabytes in a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocating {
    /// It may.
    Free,
    /// A few pages of it; more where the supervisor finds that enough is left.
    Watched,
    /// Disk space is limited, and looking at it can't be quick enough: the call isn't supported, so programs write.
    Refused,
}

/// Whether a file that is held open may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutting {
    /// A descriptor that was opened to write may.
    Free,
    /// Never to less than it has.
    Refused,
}

/// What happens to calls that neither Landlock nor their registers can judge: metadata by path or descriptor, extended
/// attributes, watches, the scheduling of other processes, and, whatever [`Sockets`] says, addresses in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unjudged {
    /// They couldn't be judged, so they are refused.
    Refused,
    /// They are allowed: somebody accepted that nothing judges them.
    Allowed,
    /// The supervisor judges them, and sees whatever else may be refused.
    Supervised,
    /// The outer run's supervisor judges them. Its filter shows it what every supervised run's does; the rest is
    /// refused here.
    Outside,
}

/// The sockets of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sockets {
    /// Unix streams that stay inside the run: pairs, and sockets that can be neither connected nor bound.
    None,
    /// TCP to named hosts, Unix streams, and the route side of netlink, which lists interfaces. Datagram sockets that
    /// never send come from the supervisor.
    Hosts,
    /// TCP, UDP, Unix sockets, and the route side of netlink.
    All,
}

/// Who makes the sockets of a supervised run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// The run. The supervisor takes copies of them (pidfd_getfd(2)).
    Run,
    /// The supervisor, since a container's filter keeps it from taking copies.
    Supervisor,
}

/// What a file made by `memfd_create` may be. Landlock has no say: it has no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memfds {
    /// Any kind.
    Executable,
    /// Only those that can't be executed, sealed with `MFD_NOEXEC_SEAL` (Linux 6.3); none where access lists are open.
    Sealed,
}

/// Who refuses to truncate a file that may only be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truncation {
    /// Landlock, from ABI 3.
    Landlock,
    /// The filter: no `truncate`, and no `O_TRUNC` without write access. Opening to write is Landlock's in every ABI.
    Filter,
}

/// Who keeps the run's signals from the processes of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// Landlock's scope (ABI 6), also signals that the kernel sends later on the run's behalf.
    Landlock,
    /// The supervisor, which sends each one itself; without one, none is.
    Supervisor,
}

/// Why a posture has no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CallsError {
    /// The call's limits are what other promises rest on.
    #[error("`{name}` can't be added: other limits rest on refusing it")]
    NeverAdded {
        /// The call.
        name: &'static str,
    },
    /// Nothing is known of this number, so neither is what it would open.
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
    // Refused either way; the supervisor takes note of it.
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

/// Puts a verdict where the architecture has the call.
fn set(table: &mut Table, row: &Row, architecture: Architecture, verdict: &'static Verdict) {
    if let Some(number) = column(row, architecture) {
        table.set(number, verdict);
    }
}

/// The call of this number, if a profile may add it (or needn't: it is allowed anyway).
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

/// The call of a number.
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

/// The answer with one of libc's error numbers.
const fn errno(number: i32) -> Action {
    Action::Errno(number as u16)
}

//! Refused accesses as the supervisor saw them, deduplicated and bounded. Text in them comes from the target: it is
//! kept as bytes, cut to a length, and escaped when shown.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{Capabilities, DenialRule, Kind};

/// The reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing grants it; a grant would allow it.
    NotGranted,
    /// A denial closes it. Only a guarded file can be opened, by a person and by its very path.
    Denied(Box<DenialRule>),
    /// Only a narrower form is granted, as this text says; a grant of exactly this would allow it.
    Limited(Cow<'static, str>),
    /// No profile and no grant allows it, for this reason.
    Never(Cow<'static, str>),
    /// The run lacks this capability everywhere; no grant provides it.
    Incapable(Capabilities),
    /// Nothing grants it, and the answer to the prompt didn't either.
    Declined(Box<Declined>),
    /// A nested run doesn't grant it, and gets the reason: this report only counts it.
    Inside {
        /// The nested run's number.
        run: usize,
        /// The nested run's own reason.
        reason: Box<Reason>,
    },
}

/// A negative answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declined {
    /// The approver; `None` if no answer came.
    pub by: Option<String>,
    /// The reason given with it.
    pub reason: Option<String>,
}

/// The reason why a directory isn't moved, which returns `EXDEV` as between file systems: programs then copy it.
pub const COPIED: &str = "directories are copied into the scratch directory and out of it, and not moved";

/// The reason why a granted tree's own directory is neither removed nor replaced, and why no link gets a granted name: a later
/// run with the same grant would get what is there by then. Landlock's rules, the workers' too, would stay with the old one.
pub const TOP_STAYS: &str = "the top of what is granted stays where it is";

/// The reason why a granted name isn't connected to.
pub const NO_ADDRESS: &str = "the name is granted, but it has no address";

impl Reason {
    /// Whether it returns `EXDEV`.
    pub fn is_of_devices(&self) -> bool {
        matches!(self, Reason::Never(reason) if reason == COPIED)
    }

    /// Whether a grant may help.
    pub fn is_open(&self) -> bool {
        match self {
            Reason::NotGranted | Reason::Limited(_) => true,
            // Without an answer it is undecided.
            Reason::Declined(declined) => declined.by.is_none(),
            Reason::Denied(_) | Reason::Never(_) | Reason::Incapable(_) | Reason::Inside { .. } => false,
        }
    }
}

impl fmt::Display for Declined {
    /// `refused by ada at the terminal: not now`, `no answer within 60 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.by, &self.reason) {
            (Some(by), Some(reason)) => write!(f, "refused by {by}: {reason}"),
            (Some(by), None) => write!(f, "refused by {by}"),
            (None, Some(reason)) => f.write_str(reason),
            (None, None) => f.write_str("no answer"),
        }
    }
}

/// A refused access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The kind of access.
    pub kind: Kind,
    /// The target as the program named it; empty if it named none (a descriptor).
    pub asked: Vec<u8>,
    /// The target as the kernel names it: an absolute path, an address, a process, a call's name.
    pub target: Vec<u8>,
    /// Whether the target exists.
    pub exists: bool,
    /// Whether the target is a directory.
    pub is_directory: bool,
    /// The system call's name.
    pub syscall: Cow<'static, str>,
    /// The calling process (thread group).
    pub pid: i32,
    /// The program that it runs.
    pub program: Vec<u8>,
    /// Time since the run's start.
    pub at: Duration,
    /// The reason.
    pub reason: Reason,
}

/// A refusal and how often it occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The first occurrence.
    pub first: Refusal,
    /// The number of occurrences.
    pub count: u64,
    /// The time of the last occurrence.
    pub last_at: Duration,
    /// The number of calls that were handed over before the last occurrence.
    pub last_calls: u64,
}

/// All refusals of a run. Bounded: a target that probes endlessly fills no memory. When the room is used up, the first
/// ones and the latest stay: the last refusals before a failure are those that explain it.
#[derive(Debug, Default)]
pub struct Refusals {
    list: Vec<Counted>,
    known: HashMap<RefusalKey, usize>,
    bytes: usize,
    /// How many of the list stay, once it is full. The rest is a ring.
    settled: Option<usize>,
    /// The position in the ring that the next one takes.
    next: usize,
    dropped: u64,
    room: RefusalRoom,
}

/// The capacity.
#[derive(Debug, Clone, Copy)]
struct RefusalRoom {
    entries: usize,
    bytes: usize,
}

impl Default for RefusalRoom {
    fn default() -> Self {
        RefusalRoom {
            entries: Refusals::MAX,
            bytes: Refusals::MAX_BYTES,
        }
    }
}

type RefusalKey = (Kind, Vec<u8>, Vec<u8>);

impl Refusals {
    /// Different refusals kept from the start.
    pub const MAX: usize = 4096;
    /// Bytes of text that these may hold together.
    pub const MAX_BYTES: usize = 1 << 20;
    /// Later ones kept in addition.
    pub const LATEST: usize = 64;
    /// Bytes kept of a text: more than any path has (`PATH_MAX`).
    pub const MAX_LENGTH: usize = 4096;

    /// For a nested run, of which there may be many.
    pub fn of_inner_run() -> Refusals {
        const SHARE: usize = 16;
        Refusals {
            room: RefusalRoom {
                entries: Self::MAX / SHARE,
                bytes: Self::MAX_BYTES / SHARE,
            },
            ..Refusals::default()
        }
    }

    /// The list reported by another supervisor.
    pub fn told(list: Vec<Counted>, dropped: u64) -> Refusals {
        Refusals {
            list,
            dropped,
            ..Refusals::default()
        }
    }

    /// Records one, after so many calls; returns the stored refusal if it is the first of its kind.
    pub fn note(&mut self, mut refusal: Refusal, calls: u64) -> Option<&Refusal> {
        for text in [&mut refusal.asked, &mut refusal.target, &mut refusal.program] {
            text.truncate(Self::MAX_LENGTH);
        }
        if let Some(index) = self.known.get(&key(&refusal)) {
            let counted = &mut self.list[*index];
            counted.count += 1;
            counted.last_at = refusal.at;
            counted.last_calls = calls;
            None
        } else {
            let index = self.add(refusal, calls);
            Some(&self.list[index].first)
        }
    }

    /// Returns its position in the list.
    fn add(&mut self, refusal: Refusal, calls: u64) -> usize {
        let has_room = self.list.len() < self.room.entries && self.bytes < self.room.bytes;
        if self.settled.is_none() && !has_room {
            self.settled = Some(self.list.len());
        }
        self.bytes += refusal.asked.len() + refusal.target.len() + refusal.program.len();
        let index = match self.settled {
            Some(settled) => settled + self.next,
            None => self.list.len(),
        };
        if self.settled.is_some() {
            self.next = (self.next + 1) % Self::LATEST;
        }
        self.known.insert(key(&refusal), index);
        let counted = Counted {
            last_at: refusal.at,
            last_calls: calls,
            first: refusal,
            count: 1,
        };
        if index == self.list.len() {
            self.list.push(counted);
        } else {
            let dropped = std::mem::replace(&mut self.list[index], counted);
            self.known.remove(&key(&dropped.first));
            self.dropped += 1;
        }
        index
    }

    /// The refusals in the order of first occurrence, except the last [`Refusals::LATEST`].
    pub fn list(&self) -> &[Counted] {
        &self.list
    }

    /// How many were dropped. One that recurs after it was dropped counts again.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

fn key(refusal: &Refusal) -> RefusalKey {
    (refusal.kind, refusal.target.clone(), refusal.program.clone())
}

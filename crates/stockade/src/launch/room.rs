//! The bound on a user's processes (RLIMIT_NPROC) that stops a run's fork storms, if no control group counts.
//!
//! The kernel counts all processes and threads of the user, so the bound leaves room for those outside the run. They come
//! and go while it runs, and the launcher moves the bound with them. So it is a soft limit, which the run itself can't
//! raise: its filter hands such calls over (`supervise/limits.rs`). Without a supervisor of its own it is a hard limit.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::processes::{Load, below, is_crowded, threads_of_user_at_most};
use stockade_sys::limits::{limit_of, set_limit_of};

/// The bound for one run.
pub struct Room {
    /// The limit of the tree.
    most: u64,
    bound: u64,
    /// The highest bound so far.
    most_given: Arc<AtomicU64>,
    /// The caller's own limit: no run gets more.
    highest: u64,
    /// The earlier bounds.
    earlier: HashSet<u64>,
    /// The machine's threads when the user's were counted.
    threads_of_machine: u64,
    /// Whether a process may still have an earlier bound.
    is_moving: bool,
    may_move: bool,
}

impl Room {
    /// Room for a tree of so many processes and threads; `None` if the number of others can't be told.
    pub fn beside_others(most: u64, may_move: bool) -> Option<Room> {
        let (highest, _) = limit_of(0, libc::RLIMIT_NPROC).ok()?;
        let mut room = Room {
            most,
            bound: 0,
            most_given: Arc::default(),
            highest,
            earlier: HashSet::new(),
            threads_of_machine: Load::now().threads,
            is_moving: false,
            may_move,
        };
        room.bound = room.for_others(threads_of_user_at_most(most)?);
        room.most_given.store(room.bound, Ordering::Relaxed);
        Some(room)
    }

    /// The soft limit.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The highest soft limit so far.
    pub fn most_given(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.most_given)
    }

    /// How much higher the hard limit may be.
    pub fn above(&self) -> u64 {
        if self.may_move { u64::MAX } else { 0 }
    }

    fn for_others(&self, others: u64) -> u64 {
        let bound = others.saturating_add(self.most).saturating_add(slack(self.most));
        bound.min(self.highest)
    }

    /// Moves the bound if the number of the user's other processes has changed. `threads` are the run's, `load` the machine's.
    pub fn follow(&mut self, warden: i32, threads: u64, load: Load) {
        // A storm gets no more room.
        if !self.may_move || is_crowded(load) {
            return;
        }
        let change = load.threads.abs_diff(self.threads_of_machine);
        if change > slack(self.most) / 4
            && let Some(all) = threads_of_user_at_most(self.most)
        {
            self.threads_of_machine = load.threads;
            let bound = self.for_others(all.saturating_sub(threads));
            if bound != self.bound {
                self.earlier.insert(std::mem::replace(&mut self.bound, bound));
                self.earlier.remove(&bound);
                self.most_given.fetch_max(bound, Ordering::Relaxed);
                self.is_moving = true;
            }
        }
        if self.is_moving {
            self.is_moving = self.give(warden);
        }
    }

    /// Sets the bound for all processes that still have an earlier one, not for those that set a lower one themselves.
    /// Returns whether there was any; such a process may have forked another meanwhile.
    fn give(&self, warden: i32) -> bool {
        let Ok(processes) = below(warden) else {
            return true;
        };
        let mut found_any = false;
        for process in processes {
            if let Ok((soft, hard)) = limit_of(process, libc::RLIMIT_NPROC)
                && (self.earlier.contains(&soft) || soft > self.bound)
                && soft != self.bound.min(hard)
            {
                let given = set_limit_of(process, libc::RLIMIT_NPROC, (self.bound.min(hard), hard));
                found_any |= given.is_ok();
            }
        }
        found_any
    }
}

/// The room for processes that the user starts before the bound is moved. A storm can use it too, so it stays below a
/// fifth of the limit; where each process is counted as it is created nothing else is left to it.
fn slack(most: u64) -> u64 {
    const EACH_IS_COUNTED: u64 = 256;
    if most <= EACH_IS_COUNTED { 64 } else { most / 6 }
}

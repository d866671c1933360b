//! The bound of a user's processes (RLIMIT_NPROC) that holds a run's storms, where no control group counts.
//!
//! The kernel counts all processes and threads of the user, so the bound leaves room for those that there are beside the run.
//! They come and go while it runs, and the launcher moves the bound with them. So the bound is a soft one, which the run itself
//! can't raise any further: its filter hands such calls over (`supervise/limits.rs`). Without a supervisor of its own it is a hard one.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::processes::{Load, below, is_crowded, threads_of_user_at_most};
use stockade_sys::limits::{limit_of, set_limit_of};

/// The bound of one run.
pub struct Room {
    /// What the tree may have.
    most: u64,
    bound: u64,
    /// The highest that it was.
    most_given: Arc<AtomicU64>,
    /// The caller's own: no run has more.
    highest: u64,
    /// The bounds before.
    earlier: HashSet<u64>,
    /// Threads of this machine when the user's were counted.
    threads_of_machine: u64,
    /// Whether a process may have an earlier bound.
    is_moving: bool,
    may_move: bool,
}

impl Room {
    /// Room for a tree of so many processes and threads; `None` where nothing tells how many there are beside it.
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

    /// How much higher the hard limit is, at most.
    pub fn above(&self) -> u64 {
        if self.may_move { u64::MAX } else { 0 }
    }

    fn for_others(&self, others: u64) -> u64 {
        let bound = others.saturating_add(self.most).saturating_add(slack(self.most));
        bound.min(self.highest)
    }

    /// Moves the bound, where the user's other processes have become more or fewer. `threads` are the run's, `load` the machine's.
    pub fn follow(&mut self, warden: i32, threads: u64, load: Load) {
        // A storm isn't to be made room for.
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

    /// Gives the bound to all that still have an earlier one: not to those that set a lower one themselves. Whether there was any; then
    /// it may have begun another meanwhile.
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

/// What the bound leaves to those that the user starts until it is moved. A storm gets it too, so it stays below a fifth of the
/// limit; where each process is counted as it is made nothing else is left to it.
fn slack(most: u64) -> u64 {
    const EACH_IS_COUNTED: u64 = 256;
    if most <= EACH_IS_COUNTED { 64 } else { most / 6 }
}

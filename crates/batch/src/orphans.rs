//! What is left of a run whose warden was killed: its processes become children of this process, the subreaper, which then
//! kills all its children but the wardens of other runs and those that were there before the batch.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use stockade_sys::confine;

/// The children of this process that are to live.
#[derive(Debug)]
pub struct Orphans {
    older: BTreeSet<i32>,
    wardens: Mutex<BTreeSet<i32>>,
    /// Held for reading while a run starts, so that no warden is unknown while orphans are killed.
    starting: RwLock<()>,
}

impl Orphans {
    /// Called before the first start.
    ///
    /// # Errors
    /// The children can't be listed.
    pub fn expect() -> io::Result<Orphans> {
        let _ = confine::become_subreaper();
        Ok(Orphans {
            older: children()?,
            wardens: Mutex::default(),
            starting: RwLock::new(()),
        })
    }

    /// To be held until [`Orphans::begun`].
    pub fn start(&self) -> RwLockReadGuard<'_, ()> {
        self.starting.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run lives, with this warden.
    pub fn begun(&self, warden: i32) {
        self.wardens().insert(warden);
    }

    /// It has ended, and its warden was collected.
    pub fn ended(&self, warden: i32) {
        self.wardens().remove(&warden);
    }

    fn wardens(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        self.wardens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills what is left of a run that lost its warden. A process of another user (an approver's program may be one) stays:
    /// no process of a run is one.
    pub fn end(&self, lost: i32) {
        let _all_known = self.starting.write().unwrap_or_else(PoisonError::into_inner);
        self.ended(lost);
        loop {
            let spared = self.wardens().clone();
            let Ok(children) = children() else { return };
            let left = children.difference(&self.older).filter(|pid| !spared.contains(pid));
            let mut is_one_left = false;
            for pid in left.map(|pid| Pid::from_raw(*pid)) {
                is_one_left |= kill(pid, Signal::SIGKILL) != Err(Errno::EPERM);
                let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            }
            if !is_one_left {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The children of all threads (proc_pid_children(5)).
fn children() -> io::Result<BTreeSet<i32>> {
    let mut found = BTreeSet::new();
    for thread in std::fs::read_dir("/proc/self/task")? {
        // A thread may have ended since.
        let Ok(list) = std::fs::read_to_string(thread?.path().join("children")) else {
            continue;
        };
        found.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Ok(found)
}

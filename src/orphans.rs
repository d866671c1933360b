//! Orphans of a killed warden: the run's processes are reparented to the launcher, which kills them.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::REFUSED;
use super::message::Failure;
use stockade_sys::children::Children;
use stockade_sys::confine;

/// The launcher's children, and those from before the run: the launcher may have been a shell that started some.
pub struct Orphans {
    children: Children,
    older: Vec<i32>,
}

impl Orphans {
    /// Called before the start, since the warden may be killed at any moment after it.
    pub fn expect() -> Result<Orphans, Failure> {
        let _ = confine::become_subreaper();
        let children = Children::open().map_err(|error| {
            Failure::text(
                REFUSED,
                format!("can't open the list of this process's children in `/proc`: {error}"),
            )
        })?;
        let older = all(&children);
        Ok(Orphans { children, older })
    }

    /// Kills the newer children, except an approver's program that runs as another user: no process of the run can.
    pub fn end(&self) {
        let may_signal = |pid: i32| kill(Pid::from_raw(pid), None) != Err(Errno::EPERM);
        for round in 1.. {
            self.children.kill(round, |pid| self.older.contains(&pid));
            let mut left = all(&self.children);
            left.retain(|pid| !self.older.contains(pid) && may_signal(*pid));
            if left.is_empty() {
                return;
            }
            for pid in left {
                let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

fn all(children: &Children) -> Vec<i32> {
    let mut found = Vec::new();
    children.each(|pid| found.push(pid));
    found
}

//! Holding a run's processes still while a person is asked at the terminal that they read from and write to.
//!
//! A process that runs on could draw over the question, or take its answer, so nothing is asked unless all of them are held.
//! They may be many, and in each other's way on purpose: processes that make others and end, that let each other go on,
//! that have one thread in a call which waits for us and others beside it.

mod look;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::HashSet;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::warden::Order;
use crate::sys::wire::{self, Message};
use crate::sys::{other, process};
use look::{Held, below, identity, tasks};

/// A process by its number and the time of its start, since numbers are used again.
type Process = (i32, u64);

/// How long processes may take to stop, on a busy machine too. A run that takes longer does so on purpose.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long nothing must change until the run counts as held: what was on its way back to the processor has left it then.
const SETTLED: Duration = Duration::from_millis(5);

/// How many pauses there are in this process, and how many have begun.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// The processes of a run, stopped. Dropping it lets them go on.
///
/// SIGSTOP isn't for good: the kernel itself lets processes go on, for a timer, a child's end, a terminal's hang-up or a
/// process group that lost its last parent. So it is looked at whether anything has run since ([`Pause::is_unbroken`]).
pub struct Pause {
    warden: i32,
    /// Those that somebody else had stopped before.
    before: HashSet<Process>,
    /// All threads, once they were held.
    held: Option<Held>,
}

impl Pause {
    /// Stops every thread below a warden; `None`, with all of them going on, where they can't be held. `orders` leads to
    /// the warden.
    pub fn begin(warden: i32, orders: Option<BorrowedFd<'_>>) -> Option<Pause> {
        UNDER_WAY.fetch_add(1, SeqCst);
        BEGUN.fetch_add(1, SeqCst);
        let held = |pid: &i32| tasks(*pid).iter().all(|task| task.state == 'T');
        let before = below(warden).into_iter().filter(held).filter_map(identity).collect();
        let mut pause = Pause {
            warden,
            before,
            held: None,
        };
        let begun = Instant::now();
        pause.stop_in_order(begun + PATIENCE / 4);
        let mut looks_in_a_row = 0;
        while looks_in_a_row < 2 {
            if begun.elapsed() > PATIENCE {
                return None;
            }
            if pause.stop_whatever_runs(orders) {
                looks_in_a_row = 0;
                std::thread::sleep(Duration::from_millis(1));
            } else {
                looks_in_a_row += 1;
            }
        }
        pause.held = settle(warden, begun + PATIENCE * 2);
        pause.held.is_some().then_some(pause)
    }

    /// Whether a process is stopped, and not by a pause of this process.
    #[cfg(feature = "cli")]
    pub fn is_stopped_without(process: i32) -> bool {
        let begun = BEGUN.load(SeqCst);
        let is_stopped = tasks(process).iter().all(|task| task.state == 'T');
        is_stopped && UNDER_WAY.load(SeqCst) == 0 && BEGUN.load(SeqCst) == begun
    }

    /// Whether nothing below the warden has run, begun or ended since it was held.
    pub fn is_unbroken(&self) -> bool {
        self.look().is_unbroken()
    }

    /// The same question for another thread.
    pub fn look(&self) -> Look {
        Look {
            warden: self.warden,
            held: self.held.clone(),
        }
    }

    /// Whether the kernel was asked to let some of them go on, or to end one, at a time to come. Where it doesn't show
    /// timers (built without `CONFIG_CHECKPOINT_RESTORE`) there are none to see.
    pub fn has_alarm(&self) -> bool {
        below(self.warden).into_iter().any(timers::has_alarm)
    }

    /// Stops parents before their children, one after the other: who waits for a child would otherwise hear that it was
    /// stopped, and a shell would take its job for one that the user has put aside.
    fn stop_in_order(&self, deadline: Instant) {
        for pid in below(self.warden) {
            let running = || tasks(pid).into_iter().filter(|task| !task.is_held());
            for task in running() {
                self.stop(pid, task.thread);
            }
            while running().next().is_some() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }

    /// Stops what is found running; whether there was any.
    fn stop_whatever_runs(&self, orders: Option<BorrowedFd<'_>>) -> bool {
        let running: Vec<(i32, i32)> = below(self.warden)
            .into_iter()
            .flat_map(|pid| tasks(pid).into_iter().map(move |task| (pid, task)))
            .filter(|(_, task)| !task.is_held())
            .map(|(pid, task)| (pid, task.thread))
            .collect();
        if running.is_empty() {
            return false;
        }
        // One call reaches all processes, those that are being made too. Of a process it takes one thread, which may be
        // the one that waits for us and hears of nothing.
        if let Some(orders) = orders {
            let _ = wire::send(
                orders.as_raw_fd(),
                &Message::new(Order::SignalAll as u32, libc::SIGSTOP, 0),
            );
        }
        for (pid, thread) in running {
            self.stop(pid, thread);
        }
        true
    }

    /// Stops a process by one of its threads, if it still is one of the run: its number may be another's since it was listed.
    /// The thread is pinned before that is looked at, so the signal goes to it or to none. Linux before 6.9 pins no threads.
    fn stop(&self, pid: i32, thread: i32) {
        let pinned = other::thread_descriptor(thread);
        if !look::is_below(self.warden, pid) || look::Task::read(pid, thread).is_none() {
            return;
        }
        let _ = match pinned {
            Ok(pinned) => other::signal_process(pinned.as_fd(), libc::SIGSTOP, None),
            Err(_) => process::signal_thread(pid, thread, libc::SIGSTOP),
        };
    }
}

/// How a run was held.
pub struct Look {
    warden: i32,
    held: Option<Held>,
}

impl Look {
    /// Whether nothing below the warden has run, begun or ended since.
    pub fn is_unbroken(&self) -> bool {
        self.held.is_some() && Held::below(self.warden) == self.held
    }
}

/// All threads, once two looks in a row have found the same.
fn settle(warden: i32, deadline: Instant) -> Option<Held> {
    let mut last = Held::below(warden);
    while Instant::now() < deadline {
        std::thread::sleep(SETTLED);
        let now = Held::below(warden);
        if now.is_some() && now == last {
            return now;
        }
        last = now;
    }
    None
}

impl Drop for Pause {
    /// Children first: who waits for a child would otherwise hear that it was stopped.
    fn drop(&mut self) {
        for pid in below(self.warden).into_iter().rev() {
            let pinned = other::process_descriptor(pid);
            let is_ours = look::is_below(self.warden, pid)
                && identity(pid).is_some_and(|process| !self.before.contains(&process));
            let _ = match pinned {
                _ if !is_ours => Ok(()),
                Ok(pinned) => other::signal_process(pinned.as_fd(), libc::SIGCONT, None),
                Err(_) => process::signal(pid, libc::SIGCONT),
            };
        }
        UNDER_WAY.fetch_sub(1, SeqCst);
    }
}

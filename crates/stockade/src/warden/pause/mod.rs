//! Stops a run's processes while a person answers a prompt on the terminal that the processes read from and write to.
//!
//! A process that runs on could draw over the prompt, or take its answer, so nothing is asked unless all of them are
//! held. They may be many, and work against being stopped: processes that fork and exit, that send each other SIGCONT,
//! that have one thread in a call which waits for the supervisor and others beside it.
//!
//! That they are held is looked at, not believed: SIGCONT undoes a stop, and the kernel sends it by itself for a timer,
//! a child's end, input or an orphaned group. So every thread below the warden is noted with how often it has left a
//! processor, once two looks agree. One that has run since has a higher count, also if it was stopped again; then the
//! question is broken off. A stop goes to each thread, parents before their children, and the other way round
//! afterwards, so that no shell sees its job stopped.

mod look;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::HashSet;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::Order;
use crate::processes::{below, children};
use look::{HeldThreads, identity, tasks};
use stockade_sys::wire::{self, Message};
use stockade_sys::{other, process};

/// A process: its id and its start time, since ids are reused.
type Process = (i32, u64);

/// How long processes may take to stop, also on a busy machine. A run that takes longer resists on purpose.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long nothing must change until the run counts as held: threads on their way back to a processor have left it.
const SETTLED: Duration = Duration::from_millis(5);

/// How many orders a warden gets without obeying one: fewer than its socket holds, since the next send would block.
const ORDERS: usize = 128;

/// How many pauses this process holds, and how many have begun.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// The stopped processes of a run. Dropping it lets them go on.
///
/// SIGSTOP isn't final: the kernel itself lets processes go on, for a timer, a child's end, a terminal's hang-up or an
/// orphaned process group. So [`Pause::is_unbroken`] checks whether anything has run since.
pub struct Pause {
    warden: i32,
    /// The processes that were stopped before.
    before: HashSet<Process>,
    /// The socket to the warden, which stops all processes at once. It also lets all of them go on at once, so it is
    /// `None` where some had been stopped before.
    orders: Option<OwnedFd>,
    /// How many orders the warden got.
    ordered: usize,
    /// All threads, once they were held.
    held: Option<HeldThreads>,
    is_left: bool,
}

impl Pause {
    /// Stops every thread below a warden, parents before their children as far as time allows; returns `None`, with all
    /// of them going on, if they can't be held. `orders` is the socket to the warden.
    pub fn begin(warden: i32, orders: Option<BorrowedFd<'_>>) -> Option<Pause> {
        let before = below(warden).ok()?.into_iter().filter(|process| is_stopped(*process));
        let mut pause = Pause::new(warden, before.filter_map(identity).collect(), orders);
        let begun = Instant::now();
        for process in below(warden).ok()? {
            pause.stop_process(process);
            is_held_by(begun + PATIENCE / 4, process);
        }
        let mut looks_in_a_row = 0;
        while looks_in_a_row < 2 {
            if begun.elapsed() > PATIENCE {
                return None;
            }
            if pause.stop_whatever_runs()? {
                looks_in_a_row = 0;
                std::thread::sleep(Duration::from_millis(1));
            } else {
                looks_in_a_row += 1;
            }
        }
        pause.held = settle(warden, begun + PATIENCE * 2);
        pause.held.is_some().then_some(pause)
    }

    /// Stops every process once its parent is stopped; returns `None`, with all of them going on, if one takes longer
    /// than `patience`. A parent that waits for a child would otherwise learn that it was stopped, and a shell would
    /// take its job for one that the user suspended.
    pub fn begin_in_order(warden: i32, patience: Duration) -> Option<Pause> {
        // This pause would let go on what another pause holds.
        if UNDER_WAY.load(SeqCst) > 0 {
            return None;
        }
        let mut pause = Pause::new(warden, HashSet::new(), None);
        let deadline = Instant::now() + patience;
        let mut stopped = HashSet::new();
        loop {
            let mut found_running = false;
            let mut level = children(warden).ok()?;
            while !level.is_empty() {
                for process in &level {
                    if pause.stop_process(*process) {
                        stopped.insert(*process);
                        found_running = true;
                    } else if !stopped.contains(process) && is_stopped(*process) {
                        pause.before.extend(identity(*process));
                    }
                }
                if !level.iter().all(|process| is_held_by(deadline, *process)) {
                    return None;
                }
                let next: Result<Vec<_>, _> = level.into_iter().map(children).collect();
                level = next.ok()?.concat();
            }
            if !found_running {
                return Some(pause);
            }
            // They may let each other go on for ever.
            if Instant::now() >= deadline {
                return None;
            }
        }
    }

    /// A pause that has stopped nothing yet.
    fn new(warden: i32, before: HashSet<Process>, orders: Option<BorrowedFd<'_>>) -> Pause {
        UNDER_WAY.fetch_add(1, SeqCst);
        BEGUN.fetch_add(1, SeqCst);
        Pause {
            warden,
            orders: orders
                .filter(|_| before.is_empty())
                .and_then(|orders| orders.try_clone_to_owned().ok()),
            before,
            ordered: 0,
            held: None,
            is_left: false,
        }
    }

    /// Leaves all of them stopped, to be killed.
    pub fn leave_stopped(mut self) {
        self.is_left = true;
    }

    /// Whether a process is stopped, and not by a pause of this process.
    pub fn is_stopped_without(process: i32) -> bool {
        let begun = BEGUN.load(SeqCst);
        is_stopped(process) && UNDER_WAY.load(SeqCst) == 0 && BEGUN.load(SeqCst) == begun
    }

    /// Whether nothing below the warden has run, begun or ended since it was held.
    pub fn is_unbroken(&self) -> bool {
        self.look().is_unbroken()
    }

    /// The same check for another thread.
    pub fn look(&self) -> Look {
        Look {
            warden: self.warden,
            held: self.held.clone(),
        }
    }

    /// Whether a timer is to let one of them go on, or kill one, later. A kernel that doesn't show timers (built
    /// without `CONFIG_CHECKPOINT_RESTORE`) has none to report.
    pub fn has_alarm(&self) -> bool {
        below(self.warden).map_or(true, |found| found.into_iter().any(timers::has_alarm))
    }

    /// Stops a process if it runs; returns true if it did. The pause then owns it, also if it had been stopped before.
    fn stop_process(&mut self, pid: i32) -> bool {
        let mut running = tasks(pid);
        running.retain(|task| !task.is_held());
        for task in &running {
            self.stop(pid, task.thread);
        }
        if !running.is_empty() && !self.before.is_empty() {
            self.before.retain(|(before, _)| *before != pid);
        }
        !running.is_empty()
    }

    /// Stops the processes that run; returns true if there were any, `None` if that can't be told.
    fn stop_whatever_runs(&mut self) -> Option<bool> {
        let is_running = |pid: &i32| tasks(*pid).iter().any(|task| !task.is_held());
        let running: Vec<i32> = below(self.warden).ok()?.into_iter().filter(is_running).collect();
        if running.is_empty() {
            return Some(false);
        }
        // One call reaches all processes, also those being created. Of each process it takes one thread, which may be
        // the one that waits for the supervisor and doesn't see the signal.
        if self.ordered < ORDERS {
            self.ordered += usize::from(self.order(libc::SIGSTOP));
        }
        for pid in running {
            self.stop_process(pid);
        }
        Some(true)
    }

    /// Children first: a parent that waits for a child would otherwise learn that it was stopped.
    fn let_go_on(&self) {
        // Nothing else would let them go on.
        let deadline = Instant::now() + PATIENCE;
        let mut found = below(self.warden);
        while found.is_err() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
            found = below(self.warden);
        }
        let is_blind = found.is_err();
        for pid in found.into_iter().flatten().rev() {
            let pinned = other::process_descriptor(pid);
            let is_ours = look::is_below(self.warden, pid)
                && identity(pid).is_some_and(|process| !self.before.contains(&process));
            let _ = match pinned {
                _ if !is_ours => Ok(()),
                Ok(pinned) => other::signal_process(pinned.as_fd(), libc::SIGCONT, None),
                Err(_) => process::signal(pid, libc::SIGCONT),
            };
        }
        // A warden that waits for a processor stops them only now, and nothing else would let them go on.
        if self.ordered > 0 || is_blind {
            self.order(libc::SIGCONT);
        }
    }

    /// Orders the warden to signal all of them, once it is scheduled.
    fn order(&self, signal: i32) -> bool {
        let order = Message::new(Order::SignalAll as u32, signal, 0);
        self.orders
            .as_ref()
            .is_some_and(|orders| wire::send(orders.as_raw_fd(), &order).is_ok())
    }

    /// Stops a process by one of its threads, if it still belongs to the run: its id may have been reused since it was listed.
    /// The thread's pidfd is opened before that check, so the signal reaches it or none. Linux before 6.9 has no thread pidfds.
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

/// The state in which a run was held.
pub struct Look {
    warden: i32,
    held: Option<HeldThreads>,
}

impl Look {
    /// Whether nothing below the warden has run, begun or ended since.
    pub fn is_unbroken(&self) -> bool {
        self.held.is_some() && HeldThreads::below(self.warden) == self.held
    }
}

fn is_stopped(process: i32) -> bool {
    let tasks = tasks(process);
    !tasks.is_empty() && tasks.iter().all(|task| task.state == 'T')
}

/// Waits until a process is held; returns true if it was by the deadline.
fn is_held_by(deadline: Instant, process: i32) -> bool {
    while tasks(process).iter().any(|task| !task.is_held()) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    true
}

/// All threads, once two looks in a row have found the same.
fn settle(warden: i32, deadline: Instant) -> Option<HeldThreads> {
    let mut last = HeldThreads::below(warden);
    while Instant::now() < deadline {
        std::thread::sleep(SETTLED);
        let now = HeldThreads::below(warden);
        if now.is_some() && now == last {
            return now;
        }
        last = now;
    }
    None
}

impl Drop for Pause {
    fn drop(&mut self) {
        if !self.is_left {
            self.let_go_on();
        }
        UNDER_WAY.fetch_sub(1, SeqCst);
    }
}

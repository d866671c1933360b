//! Holding a run's processes still while a person is asked at the terminal that they read from and write to.
//!
//! Whoever runs on could draw over the question, or take its answer, so nothing is asked unless all of them are held.
//! They may be many, and in each other's way on purpose: processes that make others and end, that let each other go on,
//! that have one thread in a call which waits for us and others beside it.

use std::collections::HashSet;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::tree::{StatFields, children, status_field};
use super::warden::Order;
use crate::sys::process;
use crate::sys::wire::{self, Message};

/// A process by its number and the time of its start, since numbers are used again.
type Process = (i32, u64);

/// How long processes may take to stop. A run that takes longer does so on purpose.
const PATIENCE: Duration = Duration::from_millis(500);

/// The processes of a run, stopped. Dropping it lets them go on.
pub struct Pause {
    warden: i32,
    /// Those that somebody else had stopped before.
    before: HashSet<Process>,
}

impl Pause {
    /// Stops every thread below a warden; `None`, with all of them going on, where they can't be held. `orders` leads to
    /// the warden.
    pub fn begin(warden: i32, orders: Option<BorrowedFd<'_>>) -> Option<Pause> {
        let held = |pid: &i32| tasks(*pid).iter().all(|task| task.state == 'T');
        let before = below(warden).into_iter().filter(held).filter_map(identity).collect();
        let pause = Pause { warden, before };
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
        Some(pause)
    }

    /// Stops parents before their children, one after the other: who waits for a child would otherwise hear that it was
    /// stopped, and a shell would take its job for one that the user has put aside.
    fn stop_in_order(&self, deadline: Instant) {
        for pid in below(self.warden) {
            let running = || tasks(pid).into_iter().filter(|task| !task.is_held());
            for task in running() {
                let _ = process::signal_thread(pid, task.thread, libc::SIGSTOP);
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
            let _ = process::signal_thread(pid, thread, libc::SIGSTOP);
        }
        true
    }
}

impl Drop for Pause {
    /// Children first: who waits for a child would otherwise hear that it was stopped.
    fn drop(&mut self) {
        for pid in below(self.warden).into_iter().rev() {
            if identity(pid).is_some_and(|process| !self.before.contains(&process)) {
                let _ = process::signal(pid, libc::SIGCONT);
            }
        }
    }
}

/// A thread as it was found.
#[derive(Debug, Clone, Copy)]
struct Task {
    thread: i32,
    state: char,
    /// Whether it stops before it does anything else.
    is_about_to_stop: bool,
}

impl Task {
    fn read(pid: i32, thread: i32) -> Option<Task> {
        let place = format!("/proc/{pid}/task/{thread}");
        let text = fs::read(format!("{place}/stat")).ok()?;
        let state = StatFields::of(&text)?.get(3)?;
        Some(Task {
            thread,
            state,
            is_about_to_stop: state == 'D' && has_stop_pending(&place),
        })
    }

    /// Whether it is stopped, has ended, or waits in the kernel (for an answer of ours, mostly) and stops when it returns.
    fn is_held(self) -> bool {
        matches!(self.state, 'T' | 't' | 'Z' | 'X') || self.is_about_to_stop
    }
}

fn has_stop_pending(place: &str) -> bool {
    const STOP: u64 = 1 << (libc::SIGSTOP - 1);
    let status = fs::read_to_string(format!("{place}/status")).unwrap_or_default();
    status_field(&status, "SigPnd:", 16).is_some_and(|set| set & STOP != 0)
}

fn tasks(pid: i32) -> Vec<Task> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| Task::read(pid, entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

fn identity(pid: i32) -> Option<Process> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Some((pid, StatFields::of(&text)?.get(22)?))
}

/// Everything below a process, parents before children.
fn below(top: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut level = children(top);
    while !level.is_empty() {
        found.extend(&level);
        level = level.iter().flat_map(|pid| children(*pid)).collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn state(pid: u32) -> char {
        Task::read(pid as i32, pid as i32).map_or('X', |task| task.state)
    }

    fn until(pid: u32, is: impl Fn(char) -> bool) {
        let begun = Instant::now();
        while !is(state(pid)) {
            assert!(begun.elapsed() < Duration::from_secs(10), "{}", state(pid));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn sleeping(script: &str) -> Child {
        Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    #[test]
    fn everything_below_stops_and_goes_on_and_what_was_stopped_before_stays_so() {
        let mut shell = sleeping("sleep 60 & kill -STOP $!; sh -c 'sleep 60; true' & wait");
        let begun = Instant::now();
        let [held, free, below_it] = loop {
            let found = children(shell.id() as i32);
            let further = found.get(1).map(|pid| children(*pid)).unwrap_or_default();
            if let ([held, free], [below_it]) = (&found[..], &further[..])
                && state(*held as u32) == 'T'
                // Not while it waits, as after a `vfork`, for its child to become another program: it couldn't stop.
                && state(*free as u32) == 'S'
            {
                break [*held, *free, *below_it].map(|pid| pid as u32);
            }
            assert!(begun.elapsed() < Duration::from_secs(10));
        };
        let pause = Pause::begin(shell.id() as i32, None).unwrap();
        for pid in [held, free, below_it] {
            until(pid, |state| state == 'T');
        }
        drop(pause);
        for pid in [free, below_it] {
            until(pid, |state| state == 'S');
        }
        assert_eq!(state(held), 'T');
        for pid in [held, below_it, free, shell.id()] {
            let _ = process::signal(pid as i32, libc::SIGKILL);
        }
        let _ = shell.wait();
    }

    #[test]
    fn who_waits_for_a_child_does_not_hear_that_it_was_stopped() {
        let script = "import os, sys, time\n\
                      pid = os.fork()\n\
                      if pid == 0:\n  \
                        end = time.monotonic() + 0.6\n  \
                        while time.monotonic() < end: pass\n  \
                        os._exit(7)\n\
                      status = os.waitpid(pid, os.WUNTRACED)[1]\n\
                      sys.exit(0 if os.waitstatus_to_exitcode(status) == 7 else 1)";
        let mut shell = Command::new("sh")
            .args(["-c", "python3 -c \"$0\"", script])
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while below(shell.id() as i32).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
        for _ in 0..8 {
            drop(Pause::begin(shell.id() as i32, None));
            std::thread::sleep(Duration::from_millis(30));
        }
        assert!(shell.wait().unwrap().success());
    }

    #[test]
    fn processes_that_let_each_other_go_on_are_held_or_nothing_is() {
        let script = "import os, signal, time\n\
                      pids = [os.fork() for _ in range(4)]\n\
                      if 0 in pids:\n  \
                        while True: os.kill(0, signal.SIGCONT)\n\
                      time.sleep(60)";
        use std::os::unix::process::CommandExt;
        let mut shell = Command::new("sh");
        let mut shell = shell
            .args(["-c", "python3 -c \"$0\"; true", script])
            .process_group(0)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while below(shell.id() as i32).len() < 5 {
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
        if let Some(pause) = Pause::begin(shell.id() as i32, None) {
            std::thread::sleep(Duration::from_millis(50));
            for pid in below(shell.id() as i32) {
                assert!(tasks(pid).iter().all(|task| task.is_held()), "{:?}", tasks(pid));
            }
            drop(pause);
        }
        for pid in below(shell.id() as i32).into_iter().chain([shell.id() as i32]) {
            let _ = process::signal(pid, libc::SIGKILL);
        }
        let _ = shell.wait();
    }
}

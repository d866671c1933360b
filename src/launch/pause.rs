//! Holding a run's processes still while a person is asked at the terminal that they read from and write to.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::tree::{StatFields, children};
use crate::sys::process;

/// A process by its number and the time of its start, since numbers are used again.
type Process = (i32, u64);

/// The processes of a run, stopped. Dropping it lets them go on.
///
/// Parents are stopped before their children and go on after them: who waits for a child would otherwise hear that it
/// was stopped.
pub struct Pause {
    stopped: Vec<Process>,
}

impl Pause {
    /// Stops every process below a warden, but for those that are stopped already.
    pub fn begin(warden: i32) -> Pause {
        /// A process that makes others as fast as they are stopped is left to its limit.
        const MOST_ROUNDS: usize = 64;
        let mut pause = Pause { stopped: Vec::new() };
        let mut known = HashSet::new();
        for _ in 0..MOST_ROUNDS {
            let new: Vec<Found> = below(warden)
                .into_iter()
                .filter(|found| known.insert(found.process))
                .collect();
            if new.is_empty() {
                break;
            }
            for found in new.iter().filter(|found| found.runs()) {
                if process::signal(found.process.0, libc::SIGSTOP).is_ok() {
                    pause.stopped.push(found.process);
                }
            }
        }
        pause.settle();
        pause
    }

    /// Waits a moment for what runs on another processor to notice. Who waits in a system call of ours stays there.
    fn settle(&self) {
        const MOMENT: Duration = Duration::from_millis(20);
        let begun = Instant::now();
        let runs = |process: &Process| look(*process).is_some_and(|found| found.state == 'R');
        while begun.elapsed() < MOMENT && self.stopped.iter().any(runs) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        for process in self.stopped.iter().rev() {
            if look(*process).is_some() {
                let _ = process::signal(process.0, libc::SIGCONT);
            }
        }
    }
}

/// A process as it was found.
struct Found {
    process: Process,
    state: char,
}

impl Found {
    /// Whether it neither is stopped (or traced) nor has ended.
    fn runs(&self) -> bool {
        !matches!(self.state, 'T' | 't' | 'Z' | 'X')
    }
}

fn read(pid: i32) -> Option<Found> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let fields = StatFields::of(&text)?;
    Some(Found {
        process: (pid, fields.get(22)?),
        state: fields.get(3)?,
    })
}

/// The process as it is now, if it still is the same.
fn look(process: Process) -> Option<Found> {
    read(process.0).filter(|found| found.process == process)
}

/// Everything below a process, parents before children.
fn below(top: i32) -> Vec<Found> {
    let mut found = Vec::new();
    let mut level = children(top);
    while !level.is_empty() {
        found.extend(level.iter().filter_map(|pid| read(*pid)));
        level = level.iter().flat_map(|pid| children(*pid)).collect();
    }
    found
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn state(pid: u32) -> char {
        read(pid as i32).map_or('X', |found| found.state)
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
            {
                break [*held, *free, *below_it].map(|pid| pid as u32);
            }
            assert!(begun.elapsed() < Duration::from_secs(10));
        };
        let pause = Pause::begin(shell.id() as i32);
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
}

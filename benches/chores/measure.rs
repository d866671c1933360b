//! Measuring one row: bare and confined in turns.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::company::{Company, Since};
use super::rows::{LAUNCHES, Launcher, Measure, Row, TRUE};
use super::task::Way;
use crate::machine;

/// Where the rows are measured, and how long.
pub struct Setting {
    pub place: PathBuf,
    pub in_earnest: bool,
}

impl Setting {
    /// At least one.
    pub fn count(&self, operations: usize) -> usize {
        if self.in_earnest {
            operations
        } else {
            operations.div_ceil(100)
        }
    }

    pub fn rounds(&self, rounds: usize) -> usize {
        if self.in_earnest { rounds } else { 1 }
    }
}

/// Bare and confined times for one operation, one of each a round.
pub struct Times {
    pub bare: Vec<Duration>,
    pub confined: Vec<Duration>,
}

pub fn measure(row: &Row, setting: &Setting) -> Result<(Times, Company), String> {
    let rounds = setting.rounds(row.rounds);
    let time: Box<dyn Fn(Way) -> Result<Duration, String>> = match row.measure {
        Measure::Alternately(task) => {
            let task = task(setting)?;
            Box::new(move |way| task.time(way))
        }
        Measure::Together(launcher) => {
            let (launcher, count) = (launcher()?, setting.count(LAUNCHES));
            Box::new(move |way| Ok(launch_together(&launcher, count, way)))
        }
    };
    // Caches are filled first.
    time(Way::Bare)?;
    time(Way::Confined)?;
    let since = Since::now();
    let mut times = Times {
        bare: Vec::new(),
        confined: Vec::new(),
    };
    for _ in 0..rounds {
        times.bare.push(time(Way::Bare)?);
        times.confined.push(time(Way::Confined)?);
    }
    Ok((times, since.company()))
}

/// The time of `count` launches, spread over all CPUs.
fn launch_together(launcher: &Launcher, count: usize, way: Way) -> Duration {
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..machine::cpus() {
            scope.spawn(|| {
                for _ in 0..count.div_ceil(machine::cpus()) {
                    match way {
                        Way::Bare => launch(&mut Command::new(TRUE)),
                        Way::Confined => launcher(),
                    }
                }
            });
        }
    });
    started.elapsed()
}

pub fn launch(command: &mut Command) {
    let status = command.stdin(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "a launch failed");
}

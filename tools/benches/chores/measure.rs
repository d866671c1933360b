//! Measuring one row: bare and confined in turns.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::company::{Company, Since};
use super::rows::{LAUNCHES, Launcher, Measure, Row, TRUE, everyday};
use super::task::{BUBBLEWRAP, Task, Way};

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

/// The times of one operation, one of each way a round.
#[derive(Default)]
pub struct Times {
    pub bare: Vec<Duration>,
    pub confined: Vec<Duration>,
    /// Bare and in bubblewrap, in turns of their own: the kernel removes its namespaces while the next is measured. Empty
    /// where bubblewrap can't do it.
    pub bubblewrap: [Vec<Duration>; 2],
}

pub fn measure(row: &Row, setting: &Setting) -> Result<(Times, Company), String> {
    let rounds = setting.rounds(row.rounds);
    let time: Box<dyn Fn(Way) -> Result<Duration, String>> = match row.measure {
        Measure::Alternately(task) => of_task(task(setting)?),
        Measure::Everyday(job, flags) => of_task(everyday(setting, job, flags)?),
        Measure::Together(at_once, launcher) => {
            let (launcher, count) = (launcher()?, setting.count(LAUNCHES));
            Box::new(move |way| launch_together(&launcher, at_once, count, way))
        }
    };
    // Caches are filled first.
    time(Way::Bare)?;
    time(Way::Confined)?;
    let since = Since::now();
    let mut times = Times::default();
    for _ in 0..rounds {
        times.bare.push(time(Way::Bare)?);
        times.confined.push(time(Way::Confined)?);
    }
    let company = since.company();
    if time(Way::Bubblewrap).is_ok() {
        for _ in 0..rounds {
            times.bubblewrap[0].push(time(Way::Bare)?);
            times.bubblewrap[1].push(time(Way::Bubblewrap)?);
        }
    }
    Ok((times, company))
}

fn of_task(task: Task) -> Box<dyn Fn(Way) -> Result<Duration, String>> {
    Box::new(move |way| task.time(way))
}

/// The time of `count` launches, spread over so many threads.
fn launch_together(launcher: &Launcher, at_once: usize, count: usize, way: Way) -> Result<Duration, String> {
    let words = BUBBLEWRAP.split(' ').chain(["--", TRUE]);
    let mut bubblewrap = Command::new("bwrap");
    bubblewrap
        .args(words.clone())
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    if way == Way::Bubblewrap && !bubblewrap.status().is_ok_and(|status| status.success()) {
        return Err("bubblewrap doesn't work here".into());
    }
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                for _ in 0..count.div_ceil(at_once) {
                    match way {
                        Way::Bare => launch(&mut Command::new(TRUE)),
                        Way::Confined => launcher(),
                        Way::Bubblewrap => launch(Command::new("bwrap").args(words.clone())),
                    }
                }
            });
        }
    });
    Ok(started.elapsed())
}

pub fn launch(command: &mut Command) {
    let status = command.stdin(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "a launch failed");
}

//! Whether the machine did anything else meanwhile. Load averages alone can't tell, since the bench is part of them:
//! the processor time of the whole machine is compared with that of the bench and what it started.

use std::fs;
use std::time::Instant;

use crate::machine;

/// More of the machine than this, taken by others, and it wasn't idle.
const MAX: f64 = 0.05;
/// Ticks of `/proc/stat` in a second (`USER_HZ`, the same on all machines that Stockade knows).
const TICKS: f64 = 100.0;

/// The beginning of something.
pub struct Since {
    at: Instant,
    load: f64,
    others: f64,
}

/// What else went on.
pub struct Company {
    pub load_before: f64,
    pub load_after: f64,
    /// The share of the machine's processor time that others took.
    pub share: f64,
}

impl Since {
    pub fn now() -> Since {
        Since {
            at: Instant::now(),
            load: load(),
            others: of_machine() - own(),
        }
    }

    pub fn company(&self) -> Company {
        let seconds = self.at.elapsed().as_secs_f64();
        let others = of_machine() - own() - self.others;
        Company {
            load_before: self.load,
            load_after: load(),
            share: (others / seconds / machine::cpus() as f64).max(0.0),
        }
    }
}

impl Company {
    pub fn is_idle(&self) -> bool {
        self.share <= MAX
    }
}

fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|load| load.parse().ok())
        .unwrap_or(f64::NAN)
}

/// Seconds that all CPUs were busy, or taken by the host.
fn of_machine() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    // user nice system idle iowait irq softirq steal
    let busy = [0, 1, 2, 5, 6, 7].iter().filter_map(|index| ticks.get(*index));
    busy.sum::<f64>() / TICKS
}

/// Seconds that this process was busy, and those of its children that have ended.
fn own() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    // Fields 14 to 17 of proc_pid_stat(5); the first here is the third there.
    let times = fields.split(' ').skip(11).take(4);
    times.filter_map(|word| word.parse::<f64>().ok()).sum::<f64>() / TICKS
}

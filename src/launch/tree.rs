//! Sampling the process tree of a run, for limits where no control group counts.
//!
//! The warden is the subreaper, so every process of the run is below it. A sample is a lower bound: what lives
//! and dies between two samples is met by the warden's own count of collected children.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

/// What a sample of the tree found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Processes alive.
    pub processes: u64,
    /// Their threads, as a control group's `pids.max` counts them: one at least in each.
    pub threads: u64,
    /// Processor time of the tree since its start.
    pub cpu: Duration,
    /// Resident memory in bytes, every shared page counted in each of its processes.
    pub resident: u64,
}

/// The tree below one warden.
pub struct Tree {
    warden: i32,
    tick: Duration,
    page: u64,
    /// Processor time last seen, by process id and start time.
    seen: HashMap<(i32, u64), Duration>,
    alive: Vec<i32>,
    most_processes: u64,
    most_resident: u64,
}

impl Tree {
    /// The tree below a warden's process id.
    pub fn new(warden: i32) -> Self {
        let ask = |name, default: i64| {
            nix::unistd::sysconf(name)
                .ok()
                .flatten()
                .filter(|value| *value > 0)
                .unwrap_or(default)
                .unsigned_abs()
        };
        let ticks = ask(nix::unistd::SysconfVar::CLK_TCK, 100);
        Tree {
            warden,
            tick: Duration::from_secs(1) / u32::try_from(ticks).unwrap_or(100),
            page: ask(nix::unistd::SysconfVar::PAGE_SIZE, 4096),
            seen: HashMap::new(),
            alive: Vec::new(),
            most_processes: 0,
            most_resident: 0,
        }
    }

    /// The largest numbers of processes and of resident bytes that any sample found.
    pub fn most(&self) -> (u64, u64) {
        (self.most_processes, self.most_resident)
    }

    /// Looks at the tree once.
    pub fn sample(&mut self) -> Sample {
        self.alive.clear();
        let collected = self.note(self.warden).map_or(Duration::ZERO, |stat| stat.children);
        let mut waiting = children(self.warden);
        let mut sample = Sample::default();
        let mut live_children = Duration::ZERO;
        while let Some(pid) = waiting.pop() {
            let Some(stat) = self.note(pid) else {
                continue;
            };
            self.alive.push(pid);
            sample.processes += 1;
            sample.threads += stat.threads.max(1);
            sample.resident += stat.resident * self.page;
            live_children += stat.own + stat.children;
            waiting.extend(children(pid));
        }
        // Two lower bounds: what single processes were seen to use, and what the kernel added up.
        let single: Duration = self.seen.values().sum();
        sample.cpu = single.max(collected + live_children);
        self.most_processes = self.most_processes.max(sample.processes);
        self.most_resident = self.most_resident.max(sample.resident);
        sample
    }

    /// Memory of the last sample's processes with shared pages counted once: exact, and slow enough to ask only
    /// where the quick sum is over a limit.
    pub fn proportional(&self) -> u64 {
        let of = |pid: &i32| {
            let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
            let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
            Some(kilobytes * 1024)
        };
        let resident = |pid: &i32| Stat::read(*pid, self.tick).map_or(0, |stat| stat.resident * self.page);
        self.alive
            .iter()
            .map(|pid| of(pid).unwrap_or_else(|| resident(pid)))
            .sum()
    }

    /// Reads one process and remembers its processor time.
    fn note(&mut self, pid: i32) -> Option<Stat> {
        let stat = Stat::read(pid, self.tick)?;
        if pid != self.warden {
            self.seen.insert((pid, stat.started), stat.own);
        }
        Some(stat)
    }
}

/// The fields of a process's `stat` behind its name, which may hold anything.
pub struct StatFields<'a>(Vec<&'a str>);

impl<'a> StatFields<'a> {
    /// Of the whole text.
    pub fn of(text: &'a [u8]) -> Option<Self> {
        // The name is in brackets, and may have brackets itself.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end + 2..)?).ok()?;
        Some(StatFields(rest.split(' ').collect()))
    }

    /// A field by its number in proc_pid_stat(5), which counts from 1; the first behind the name is the third.
    pub fn get<T: std::str::FromStr>(&self, field: usize) -> Option<T> {
        self.0.get(field.checked_sub(3)?)?.parse().ok()
    }
}

/// A field of proc_pid_status(5), a number in this radix.
pub fn status_field(status: &str, field: &str, radix: u32) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    u64::from_str_radix(line.trim(), radix).ok()
}

/// The fields of `/proc/PID/stat` that count here.
struct Stat {
    own: Duration,
    children: Duration,
    threads: u64,
    started: u64,
    resident: u64,
}

impl Stat {
    fn read(pid: i32, tick: Duration) -> Option<Stat> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let fields = StatFields::of(&text)?;
        let number = |field: usize| fields.get::<u64>(field);
        let time = |field| {
            let ticks = u32::try_from(number(field)?).unwrap_or(u32::MAX);
            Some(tick * ticks)
        };
        Some(Stat {
            own: time(14)? + time(15)?,
            children: time(16)? + time(17)?,
            threads: number(20)?,
            started: number(22)?,
            resident: number(24)?,
        })
    }
}

/// Processes below one, as they are found now: those that start meanwhile may be missing.
pub fn below(process: i32) -> Vec<i32> {
    let mut found = children(process);
    let mut at = 0;
    while let Some(pid) = found.get(at) {
        found.extend(children(*pid));
        at += 1;
    }
    found
}

/// The children of all threads of a process.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}

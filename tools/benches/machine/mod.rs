//! What the benches have in common: the machine's description, medians, busy threads beside, memory of a process.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Processor, CPUs and kernel, in one line.
pub fn description() -> String {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let information = text("/proc/cpuinfo");
    let model = information
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let kernel = text("/proc/sys/kernel/osrelease");
    format!("{model}, {} CPUs, Linux {}", cpus(), kernel.trim())
}

pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Does something while one thread for each CPU is busy.
pub fn under_load<T>(action: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..cpus() {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        // Also when the action panics: the scope waits for its threads.
        let _over = SetAtEnd(&over);
        action()
    })
}

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A field in KiB of `/proc/PROCESS/FILE`, such as `VmHWM:` of `status`.
pub fn kibibytes(process: u32, file: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

//! POSIX timers that would undo a stop. The arguments of `timer_create(2)` lie in memory, so no filter can refuse them;
//! the kernel lists the timers that exist.

use std::fs;

/// Whether a process has a timer that sends SIGCONT, or SIGKILL, which may orphan a process group. A timer that isn't
/// set counts too: the kernel doesn't show the difference.
pub fn has_alarm(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/timers")).is_ok_and(|timers| lists_alarm(&timers))
}

/// proc_pid_timers(5): `signal: 18/0000000000000000`, then `notify: signal/pid.4711`.
fn lists_alarm(timers: &str) -> bool {
    let mut signal = None;
    timers.lines().any(|line| {
        if let Some(value) = line.strip_prefix("signal: ") {
            signal = value.split('/').next().and_then(|number| number.parse().ok());
            return false;
        }
        let sends = line
            .strip_prefix("notify: ")
            .is_some_and(|how| !how.starts_with("none/"));
        sends && matches!(signal, Some(libc::SIGCONT | libc::SIGKILL) | None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(signal: &str, notify: &str) -> String {
        format!("ID: 0\nsignal: {signal}/00007fff86e452a8\nnotify: {notify}/pid.2634\nClockID: 1\n")
    }

    #[test]
    fn timers_that_undo_a_stop_are_told_from_others() {
        let other = timer("60", "signal") + &timer("18", "none") + &timer("14", "signal");
        assert!(!lists_alarm(""));
        assert!(!lists_alarm(&other));
        for signal in ["18", "9", "?"] {
            assert!(lists_alarm(&(other.clone() + &timer(signal, "signal"))), "{signal}");
        }
        assert!(lists_alarm(&timer("18", "thread")));
    }
}

//! The threads of a run in `/proc`: whether they are held, and whether they have run since.

use std::collections::HashSet;
use std::fs;

use crate::processes::{StatFields, below, looks, status_field};

/// Most ancestors to walk up: more than a process limit allows.
const MAX_DEPTH: usize = 1 << 16;

const STOP: u64 = 1 << (libc::SIGSTOP - 1);

/// A thread as it was found.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub thread: i32,
    pub state: char,
    /// Whether it stops before it does anything else.
    is_about_to_stop: bool,
}

impl Task {
    pub fn read(pid: i32, thread: i32) -> Option<Task> {
        let place = format!("/proc/{pid}/task/{thread}");
        let text = looks::read(&format!("{place}/stat")).ok()?;
        let state = StatFields::of(&text)?.get(3)?;
        Some(Task {
            thread,
            state,
            is_about_to_stop: state == 'D' && has_stop_pending(&place),
        })
    }

    /// Whether it is stopped, has ended, or waits in the kernel (mostly for the supervisor's answer) and stops when it returns.
    pub fn is_held(self) -> bool {
        matches!(self.state, 'T' | 't' | 'Z' | 'X') || self.is_about_to_stop
    }
}

fn has_stop_pending(place: &str) -> bool {
    let status = looks::text(&format!("{place}/status")).unwrap_or_default();
    is_pending(&status, STOP)
}

fn is_pending(status: &str, set: u64) -> bool {
    status_field(status, "SigPnd:", 16).is_some_and(|pending| pending & set != 0)
}

pub fn tasks(pid: i32) -> Vec<Task> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| Task::read(pid, entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

pub fn identity(pid: i32) -> Option<super::Process> {
    let text = looks::read(&format!("/proc/{pid}/stat")).ok()?;
    Some((pid, StatFields::of(&text)?.get(22)?))
}

/// Whether a process descends from another one.
pub fn is_below(top: i32, pid: i32) -> bool {
    let parent = |pid: i32| -> Option<i32> {
        let text = looks::read(&format!("/proc/{pid}/stat")).ok()?;
        StatFields::of(&text)?.get(4)
    };
    let above = std::iter::successors(parent(pid), |pid| parent(*pid));
    above.take(MAX_DEPTH).any(|pid| pid == top)
}

/// Every living thread below a process, held, with its count of context switches: a thread that has run since has
/// switched once more, or is on a processor, or waits for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldThreads(HashSet<HeldThread>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HeldThread {
    process: i32,
    thread: i32,
    started: u64,
    switches: u64,
}

impl HeldThreads {
    /// Returns `None` if a thread isn't held, or can't be looked at.
    pub fn below(top: i32) -> Option<HeldThreads> {
        let mut held = HashSet::new();
        for process in below(top).ok()? {
            for entry in fs::read_dir(format!("/proc/{process}/task")).ok()? {
                let thread = entry.ok()?.file_name().to_str()?.parse().ok()?;
                held.extend(HeldThread::read(process, thread)?);
            }
        }
        Some(HeldThreads(held))
    }
}

impl HeldThread {
    /// Returns `Some(None)` if it has ended: that it hadn't is in an earlier look.
    fn read(process: i32, thread: i32) -> Option<Option<HeldThread>> {
        let place = format!("/proc/{process}/task/{thread}");
        let started = StatFields::of(&looks::read(&format!("{place}/stat")).ok()?)?.get(22)?;
        // One text, written from top to bottom: the state is older than the counts.
        let status = looks::text(&format!("{place}/status"))?;
        let state = status.lines().find_map(|line| line.strip_prefix("State:\t"))?;
        match state.chars().next()? {
            'Z' | 'X' => return Some(None),
            'T' | 't' => {}
            'D' if is_pending(&status, STOP) => {}
            _ => return None,
        }
        let count = |field| status_field(&status, field, 10);
        let switches = count("voluntary_ctxt_switches:")?.wrapping_add(count("nonvoluntary_ctxt_switches:")?);
        Some(Some(HeldThread {
            process,
            thread,
            started,
            switches,
        }))
    }
}

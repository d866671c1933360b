//! Handles signals to the launcher while a run lives, and the keys of a terminal.
//!
//! The target shares the launcher's process group, so it receives the keys directly and decides what they mean.
//! The launcher only steps in if the target ignores them, and stops when the target stops.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::message::note;
use super::modes::Modes;
use stockade::Child;
use stockade::internal::CallersSignals;
use stockade::internal::Pause;
use stockade::internal::status_field;
use stockade_sys::signals::{Arrived, SignalSet, Waking, is_ignored, next_signal, stop_as_by_key};

/// How long a signalled target has to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// This many interrupts within [`INSISTENCE`] end the process tree, whatever the target does with them.
const INTERRUPTS: usize = 3;
const INSISTENCE: Duration = Duration::from_secs(2);

/// The launcher's signals, blocked and read from a signalfd.
pub struct Signals {
    descriptor: OwnedFd,
    /// The previous mask, for the target.
    before: SignalSet,
    interrupts: Vec<Instant>,
    /// The signal that asked for the end, and the deadline of the target.
    ending: Option<(i32, Instant)>,
    /// Whether the run could be paused each time that the launcher was to stop with it.
    can_stop: bool,
    _modes: Modes,
}

impl Signals {
    /// Blocks the signals that the launcher handles, except those its caller set to be ignored, as nohup(1) does: the target
    /// ignores too.
    pub fn take() -> io::Result<Signals> {
        const ANSWERED: &[i32] = &[
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        let heeded = ANSWERED.iter().filter(|signal| !is_ignored(**signal));
        let set = SignalSet::of(&heeded.chain(&[libc::SIGALRM]).copied().collect::<Vec<_>>());
        let before = set.block()?;
        Ok(Signals {
            before,
            descriptor: set.descriptor(true)?,
            interrupts: Vec::new(),
            ending: None,
            can_stop: true,
            _modes: Modes::now(),
        })
    }

    /// The parts that the start of a run needs.
    pub fn for_start(&self) -> CallersSignals<'_> {
        CallersSignals {
            mask: self.before,
            descriptor: self.as_fd(),
        }
    }

    /// The descriptor to wait on.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The signal that ended the run, if one did.
    pub fn ended_by(&self) -> Option<i32> {
        self.ending.map(|(signal, _)| signal)
    }

    /// Reads signals that arrived after the end of the run. Returns true if one asks the launcher to end too: a new one, or an
    /// earlier one, some time after its grace period.
    pub fn ask_to_end(&mut self) -> bool {
        let mut asks = false;
        while let Some(arrived) = next_signal(self.descriptor.as_raw_fd()) {
            if matches!(
                arrived.signal,
                libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP
            ) {
                self.ending.get_or_insert_with(|| (arrived.signal, Instant::now()));
                asks = true;
            }
        }
        asks || self.ending.is_some_and(|(_, end)| Instant::now() >= end + GRACE)
    }

    /// Handles the signals that have arrived.
    pub fn answer(&mut self, child: &Child) {
        while let Some(arrived) = next_signal(self.descriptor.as_raw_fd()) {
            self.answer_one(arrived, child);
        }
    }

    fn answer_one(&mut self, arrived: Arrived, child: &Child) {
        match arrived.signal {
            libc::SIGALRM => self.lose_patience(child),
            libc::SIGINT | libc::SIGQUIT if arrived.is_key => self.key(arrived.signal, child),
            libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP => {
                child.signal(arrived.signal);
                self.expect_end(arrived.signal);
            }
            // The target received these keys itself; the launcher stops when the target does.
            _ => {}
        }
    }

    /// Handles a key. The target received it too: interactive programs catch it and go on; one that ignores it, or is
    /// stopped, must end. If the person insists, the whole tree must end.
    fn key(&mut self, signal: i32, child: &Child) {
        let now = Instant::now();
        self.interrupts.push(now);
        self.interrupts.retain(|time| now.duration_since(*time) < INSISTENCE);
        if self.interrupts.len() >= INTERRUPTS {
            self.ending = Some((signal, now));
            child.kill();
        } else if !hears(child.id(), signal) {
            self.expect_end(signal);
        }
    }

    /// Gives the target time to exit, then kills the tree.
    fn expect_end(&mut self, signal: i32) {
        if self.ending.is_none() {
            self.ending = Some((signal, Instant::now() + GRACE));
            nix::unistd::alarm::set(GRACE.as_secs() as u32);
        }
    }

    fn lose_patience(&self, child: &Child) {
        if self.ending.is_some_and(|(_, end)| Instant::now() >= end) {
            child.kill();
        } else if self.ending.is_some() {
            nix::unistd::alarm::set(1);
        }
    }
}

/// Whether this process is in a job of the shell that started it: a script waits for it without noticing a stop.
fn is_job() -> bool {
    use nix::unistd::{getpgid, getpgrp, getppid, getsid};
    let parent = Some(getppid());
    getsid(parent).is_ok_and(|session| getsid(None) == Ok(session))
        && getpgid(parent).is_ok_and(|group| group != getpgrp())
}

/// Whether a process has a handler for a signal and isn't stopped (`SigCgt` and `State` in
/// proc_pid_status(5)).
fn hears(pid: i32, signal: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = status_field(&status, "SigCgt:", 16);
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0) && !status.contains("\nState:\tT")
}

/// The target was stopped by a key, or as editors stop themselves at one, or as a shell does that is told to `suspend`: stop as
/// well, so that the shell gets its terminal back. Answers when the shell lets the group go on.
///
/// A stopped launcher keeps no limits, so first every process of the run is held still; for the time limit it is woken. A run that can't be held, or that
/// has a timer to let itself go on, isn't followed, then and later: no limits are kept while it is tried. The launcher uses
/// the key's own signal, which the kernel drops where no shell is left to let the group go on.
pub fn follow_stop(signals: &mut Signals, child: &Child, signal: i32) {
    let is_for_shell = match signal {
        libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => true,
        libc::SIGSTOP => is_job() && Pause::is_stopped_without(child.id()),
        _ => false,
    };
    if !is_for_shell || child.is_being_ended() || !signals.can_stop || std::fs::File::open("/dev/tty").is_err() {
        return;
    }
    let Some(held) = child.hold() else {
        signals.can_stop = false;
        note(
            "the program is stopped, but some processes of the run can't be: Stockade keeps running to enforce the limits",
        );
        return;
    };
    let Ok(waking) = child.time_left().map(Waking::after).transpose() else {
        signals.can_stop = false;
        note(
            "the program is stopped, but there is no timer to wake Stockade for the time limit: Stockade keeps running",
        );
        return;
    };
    stop_as_by_key();
    drop((waking, held));
    child.signal_all(libc::SIGCONT);
}

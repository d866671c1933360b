//! Stockade's hold on the terminal while a question is open; it is always restored to its former state.

use nix::errno::Errno;
use nix::sys::signal::killpg;
use nix::unistd::{Pid, getpgrp};

use super::device::Device;
use super::mode;
use super::unanswered::Unanswered;
use crate::approve::Deadline;

/// Whether the group has no process: the run has ended, and its last group was in the foreground. 0 is a group that this
/// process can't see (pid_namespaces(7)), so its state is unknown.
fn is_empty(group: i32) -> bool {
    group > 0 && killpg(Pid::from_raw(group), None) == Err(Errno::ESRCH)
}

/// The hold: Stockade in the foreground, the terminal in a mode of Stockade's. Dropping it restores both.
pub struct HeldTerminal<'t> {
    device: &'t Device,
    before: libc::termios,
    /// The process group that was in the foreground, if it was another.
    displaced: Option<i32>,
    erase: u8,
}

impl<'t> HeldTerminal<'t> {
    /// Takes the terminal if that is allowed: from a process group of the run, which is stopped. Never from raw mode, in
    /// which all input is meant for the program that reads it.
    pub fn take(device: &'t Device, erase: u8, owns: &dyn Fn(i32) -> bool) -> Result<HeldTerminal<'t>, Unanswered> {
        let before = device.mode().map_err(|_| Unanswered::Gone)?;
        if !mode::makes_lines(&before) {
            return Err(Unanswered::Raw);
        }
        let ours = getpgrp().as_raw();
        let foreground = device.foreground().map_err(|_| Unanswered::Gone)?;
        let mut displaced = None;
        if foreground != ours {
            let is_taken = !is_empty(foreground);
            if is_taken && (foreground <= 0 || !owns(foreground)) {
                return Err(Unanswered::Background);
            }
            device.set_foreground(ours).map_err(|_| Unanswered::Background)?;
            displaced = is_taken.then_some(foreground);
        }
        Ok(HeldTerminal {
            device,
            before,
            displaced,
            erase,
        })
    }

    /// The process group that keys reach once the terminal is released.
    pub fn foreground(&self) -> i32 {
        self.displaced.unwrap_or_else(|| getpgrp().as_raw())
    }

    /// Writes `first`, and discards input typed, or sent by the terminal, until it is quiet: the terminal may answer
    /// `first` too.
    pub fn quieten(&self, first: &str, deadline: &Deadline) -> Result<(), Unanswered> {
        let hushed = mode::hushed(&self.before);
        self.device.set_mode(&hushed).map_err(|_| Unanswered::Gone)?;
        self.device.resume_output();
        self.device.write(first, deadline)?;
        self.device.drain(deadline)?;
        let listening = mode::listening(&self.before, self.erase);
        self.device.set_mode(&listening).map_err(|_| Unanswered::Gone)?;
        // Again: a line begun in one mode can't be finished in the other.
        self.device.forget_input();
        Ok(())
    }
}

impl Drop for HeldTerminal<'_> {
    fn drop(&mut self) {
        // Input for the question isn't the program's: not as input, and once the mode is restored not as a signal.
        self.device.forget_input();
        let _ = self.device.set_mode(&self.before);
        if let Some(group) = self.displaced {
            // The group may have ended meanwhile.
            let _ = self.device.set_foreground(group);
        }
    }
}

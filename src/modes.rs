//! Saves the modes of the caller's terminals and restores them after a run: a program that ends abruptly leaves a
//! terminal without echo, or one that takes no Ctrl-C.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::signal::killpg;
use nix::sys::termios::{FlowArg, tcflow};
use nix::unistd::{getpgrp, tcgetpgrp};

use stockade_sys::terminal;

/// The modes before the run. Dropping it restores them, and resumes output that the program stopped.
pub struct Modes([Option<libc::termios>; 3]);

impl Modes {
    /// Reads the modes of standard input, output and error.
    pub fn now() -> Modes {
        Modes([0, 1, 2].map(|stream| terminal::mode(standard(stream).as_fd()).ok()))
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        for (stream, before) in self.0.iter().enumerate() {
            let stream = standard(stream);
            if let Some(before) = before
                && let Ok(now) = terminal::mode(stream.as_fd())
                && is_ours(stream.as_fd())
            {
                // A terminal that is gone needs no modes. SIGTTOU is blocked while a run lives.
                let _ = tcflow(stream.as_fd(), FlowArg::TCOON);
                if !terminal::is_same_mode(before, &now) {
                    let _ = terminal::set_mode(stream.as_fd(), before);
                }
            }
        }
    }
}

/// Whether no other group uses the terminal now: the foreground group is this one, or one that the run left empty.
fn is_ours(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp() || killpg(group, None) == Err(Errno::ESRCH))
}

fn standard(stream: usize) -> Box<dyn AsFd> {
    match stream {
        0 => Box::new(io::stdin()),
        1 => Box::new(io::stdout()),
        _ => Box::new(io::stderr()),
    }
}

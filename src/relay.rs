//! Forwards piped output without blocking on its reader: a pager that pauses must not suspend the limits.

use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::signals::Signals;
use stockade_sys::wire;

/// The most pieces, of at most 64 KiB each, that wait for the reader.
const WAITING: usize = 16;
/// How long the reader of a killed run's output may delay the end.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the limits are checked while the reader pauses.
const TICK: Duration = Duration::from_millis(10);

/// A thread that writes, and its channel.
type Writer = (SyncSender<Vec<u8>>, JoinHandle<()>);

/// Two writers, for standard output and standard error.
pub struct Relay {
    writers: [Option<Writer>; 2],
    /// When the run's end was noticed while the reader paused.
    ended: Option<Instant>,
}

impl Relay {
    /// Starts no threads: the first output does.
    pub fn new() -> Relay {
        Relay {
            writers: [None, None],
            ended: None,
        }
    }

    /// Forwards one piece. While the reader pauses, calls `meanwhile`, which returns true if the run is being ended.
    pub fn pass(&mut self, stream: usize, mut bytes: Vec<u8>, mut meanwhile: impl FnMut() -> bool) {
        let (sender, _) = self.writers[stream].get_or_insert_with(|| writer(stream));
        loop {
            match sender.try_send(bytes) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => return,
                Err(TrySendError::Full(back)) => bytes = back,
            }
            if meanwhile() && self.ended.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                return;
            }
            thread::sleep(TICK);
        }
    }

    /// Waits until all is written, and answers whether it is: not for the reader of a run that had to be ended, and not once
    /// a signal asks the launcher to end.
    pub fn finish(self, signals: &mut Signals) -> bool {
        if self.ended.is_some() {
            return false;
        }
        for (sender, thread) in self.writers.into_iter().flatten() {
            drop(sender);
            let mut pause = Duration::from_millis(1);
            while !thread.is_finished() {
                let _ = wire::wait_readable([signals.as_fd().as_raw_fd(), -1], pause.as_millis() as i32);
                if signals.ask_to_end() {
                    return false;
                }
                pause = TICK.min(2 * pause);
            }
        }
        true
    }
}

/// A closed reader is no failure: the rest is dropped.
fn writer(stream: usize) -> Writer {
    let (sender, receiver) = sync_channel::<Vec<u8>>(WAITING);
    let thread = thread::spawn(move || {
        for bytes in receiver {
            let written = if stream == 0 {
                let mut out = io::stdout().lock();
                out.write_all(&bytes).and_then(|()| out.flush())
            } else {
                io::stderr().write_all(&bytes)
            };
            if written.is_err() {
                return;
            }
        }
    });
    (sender, thread)
}

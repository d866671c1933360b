//! Stores grants for later runs, on a thread of its own.
//!
//! The thread that applies an answer is confined by then and can't write to the state directory. This thread is started
//! before the run, and does nothing else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{GrantStore, Key, NewGrant, StoreError};
use stockade_report::fault;
use stockade_sys::confine;
use stockade_sys::signals::SignalSet;

/// The thread, which ends when this is dropped.
pub(super) struct Keeper(Sender<Job>);

/// One grant, and the channel for its result.
struct Job {
    grant: NewGrant,
    reply: Sender<Result<(), StoreError>>,
}

impl Keeper {
    /// Starts the thread, for grants with this key.
    pub(super) fn start(state: Option<PathBuf>, key: Key) -> io::Result<Keeper> {
        let (sender, jobs) = channel();
        // Signals are for the thread that waits for them.
        let before = SignalSet::full().block()?;
        let spawned = std::thread::Builder::new()
            .name("stockade-keeper".into())
            .stack_size(512 * 1024)
            .spawn(move || serve(state.as_deref(), &key, &jobs));
        before.set()?;
        spawned.map(|_| Keeper(sender))
    }

    /// Stores a grant, and waits until it is.
    pub(super) fn keep(&self, grant: NewGrant) -> Result<(), StoreError> {
        let (reply, stored) = channel();
        let _ = self.0.send(Job { grant, reply });
        stored
            .recv()
            .unwrap_or_else(|_| Err(StoreError::Fault("the thread has ended".to_string())))
    }
}

fn serve(state: Option<&Path>, key: &Key, jobs: &Receiver<Job>) {
    // It needs no more power than the user has.
    let _ = confine::drop_capabilities(false);
    for job in jobs {
        let stored = fault::contain(|| {
            fault::point("keeper", || "");
            let state = state.ok_or(StoreError::Stateless);
            state
                .and_then(GrantStore::open)
                .and_then(|mut store| store.add(key, &job.grant))
        });
        let stored = stored.unwrap_or_else(|fault| Err(StoreError::Fault(fault.to_string())));
        let _ = job.reply.send(stored.map(drop));
    }
}

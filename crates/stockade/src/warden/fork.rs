//! The fork of the warden, from the thread whose Landlock domain it inherits.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc::Sender;

use super::WardenSpec;
use stockade_sys::process::{self, ExitOnDrop, Forked};
use stockade_sys::wire::Message;

/// A warden that was forked.
pub struct Spawned {
    /// Its process id.
    pub warden: i32,
    /// A message that it already sent.
    pub news: Option<Message>,
    /// Dropped once the warden's first message has arrived. Until then the warden's children end with the thread that
    /// forked it, which therefore waits.
    pub hold: Option<Sender<Infallible>>,
}

/// Forks the warden. All signals must be blocked in the calling thread.
///
/// # Errors
/// The process can't be forked; the listener can't be received.
pub fn spawn(spec: &WardenSpec) -> io::Result<Spawned> {
    match process::fork()? {
        Forked::Child => {
            let _ends_here = ExitOnDrop;
            super::serve(spec)
        }
        // The process stays a zombie until it is collected, so its id isn't reused.
        Forked::Parent(warden) => Ok(Spawned {
            warden,
            news: None,
            hold: None,
        }),
    }
}

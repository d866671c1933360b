//! The thread outside the workers' domain, for calls whose approved grants lie outside of it.
//!
//! It is started before the first worker confines itself, and starts one further thread per call. That thread reads, resolves and
//! judges the call unconfined, since Landlock would keep a thread of another domain from reading the target's memory, and confines
//! itself before the first effect.
//!
//! Hosts, ports and sockets need no such thread: no Landlock rule of the workers stands against them.

use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

use crate::supervise::approvals::UnconfinedTask;

/// Starts the thread from a worker that isn't confined yet. It ends with the last sender.
pub fn start() -> io::Result<Sender<UnconfinedTask>> {
    let (sender, tasks) = channel::<UnconfinedTask>();
    thread::Builder::new()
        .name("stockade-retry".into())
        .stack_size(64 * 1024)
        .spawn(move || tasks.into_iter().for_each(|task| task()))?;
    Ok(sender)
}

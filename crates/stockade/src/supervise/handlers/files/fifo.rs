//! Opening a FIFO blocks until its other side is open. So it runs on a thread of its own while the target is watched: a
//! signal interrupts the call, and so does the target's end.
//!
//! The target is looked at every 5 ms. A signal that it doesn't block answers `EINTR`, one for the whole process only
//! where this is its first thread, and the blocked open returns.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::fault::{self, Fault};
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::object::pinned::Pinned;
use stockade_sys::notify::OnExecute;

/// The interval at which the target is checked while it waits.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Opens a FIFO with the target's flags, blocking.
pub fn open(context: &NotifyContext<'_>, object: &Pinned, flags: i32, on_execute: OnExecute) -> Handled {
    let fds = context.fds();
    let (sender, receiver) = channel::<Result<io::Result<OwnedFd>, Fault>>();
    let opened = std::thread::scope(|scope| {
        let opening = std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn_scoped(scope, || {
                let opened = fault::contain(|| {
                    fault::point("fifo", || "");
                    fds.reopen(object.as_fd(), flags)
                });
                let _ = sender.send(opened);
            });
        if opening.is_err() {
            return fail(libc::EAGAIN);
        }
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(Ok(opened)) => return Ok(opened?),
                Ok(Err(fault)) => fault::pass_on(fault),
                Err(RecvTimeoutError::Disconnected) => return fail(libc::EIO),
                Err(RecvTimeoutError::Timeout) if context.caller().is_interrupted() => {
                    // Repeated, since the thread may not have reached its open yet.
                    while let Err(RecvTimeoutError::Timeout) = {
                        release(fds, object);
                        receiver.recv_timeout(LOOK_EVERY)
                    } {}
                    return fail(libc::EINTR);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })?;
    Ok(CallAnswer::Descriptor(opened, on_execute))
}

/// Makes the blocked open return by opening both sides for a moment.
fn release(fds: &WorkerFds, object: &Pinned) {
    let _ = fds.reopen(object.as_fd(), libc::O_RDWR | libc::O_NONBLOCK);
}

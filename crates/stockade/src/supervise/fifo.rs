//! Opening a FIFO blocks until its other side is open. So it runs on a thread of its own while the target is watched: a
//! signal interrupts the call, and so does the target's end.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::answer::{CallAnswer, Errno};
use super::notify_context::NotifyContext;
use super::pinned::Pinned;
use super::worker_fds::WorkerFds;
use crate::fault::{self, Fault};
use stockade_sys::notify::OnExecute;

/// The interval at which the target is checked while it waits.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Opens a FIFO with the target's flags, blocking.
pub fn open(
    context: &NotifyContext<'_>,
    object: &Pinned,
    flags: i32,
    on_execute: OnExecute,
) -> Result<CallAnswer, Errno> {
    let worker_fds = context.worker_fds();
    let (sender, receiver) = channel::<Result<Result<OwnedFd, Errno>, Fault>>();
    let opened = std::thread::scope(|scope| {
        let opening = std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn_scoped(scope, || {
                let opened = fault::contain(|| {
                    fault::point("fifo", || "");
                    worker_fds.reopen(object.as_fd(), flags).map_err(Errno::from)
                });
                let _ = sender.send(opened);
            });
        if opening.is_err() {
            return Err(Errno(libc::EAGAIN));
        }
        loop {
            match receiver.recv_timeout(LOOK_EVERY) {
                Ok(Ok(opened)) => return opened,
                Ok(Err(fault)) => fault::pass_on(fault),
                Err(RecvTimeoutError::Disconnected) => return Err(Errno(libc::EIO)),
                Err(RecvTimeoutError::Timeout) if context.caller().is_interrupted() => {
                    // Repeated, since the thread may not have reached its open yet.
                    while let Err(RecvTimeoutError::Timeout) = {
                        release(worker_fds, object);
                        receiver.recv_timeout(LOOK_EVERY)
                    } {}
                    return Err(Errno(libc::EINTR));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })?;
    Ok(CallAnswer::Descriptor(opened, on_execute))
}

/// Makes the blocked open return by opening both sides for a moment.
fn release(worker_fds: &WorkerFds, object: &Pinned) {
    let _ = worker_fds.reopen(object.as_fd(), libc::O_RDWR | libc::O_NONBLOCK);
}

//! Opening a FIFO blocks until its other side is open. So it runs on a thread of its own while the target is watched: a
//! signal interrupts the call, and so does the target's end.
//!
//! The target is looked at every 5 ms. A signal that it doesn't block answers `EINTR`, one for the whole process only
//! where this is its first thread, and the blocked open returns. Where the run may do no more than read the FIFO, the open
//! can't be made to return: its thread is left behind, counted as a slow call, until the other side comes or the run ends.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::fault::{self, Fault};
use crate::mutex::lock;
use crate::processes::looks;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::threads::SlowCall;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::object::pinned::Pinned;
use stockade_sys::file::{self, OpenHow};
use stockade_sys::notify::OnExecute;

/// The interval at which the target is checked while it waits.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Opens a FIFO with the target's flags, blocking.
pub fn open(context: &NotifyContext<'_>, object: &Pinned, flags: i32, on_execute: OnExecute) -> Handled {
    let (sender, receiver) = channel::<Result<io::Result<OwnedFd>, Fault>>();
    let left_behind: Arc<Mutex<Option<SlowCall>>> = Arc::default();
    let (pinned, counted) = (object.again()?, Arc::clone(&left_behind));
    let opening = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let opened = fault::contain(|| {
            fault::point("fifo", || "");
            reopen(&pinned, flags)
        });
        let _ = sender.send(opened);
        drop(counted);
    });
    opening.map_err(|_| Errno(libc::EAGAIN))?;
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(Ok(opened)) => return Ok(CallAnswer::Descriptor(opened?, on_execute)),
            Ok(Err(fault)) => fault::pass_on(fault),
            Err(RecvTimeoutError::Disconnected) => return fail(libc::EIO),
            Err(RecvTimeoutError::Timeout) if context.caller().is_interrupted() => {
                // Repeated, since the thread may not have reached its open yet.
                while release(object).is_ok() {
                    if !matches!(receiver.recv_timeout(LOOK_EVERY), Err(RecvTimeoutError::Timeout)) {
                        return fail(libc::EINTR);
                    }
                }
                *lock(&left_behind) = context.run().slow.begin();
                return fail(libc::EINTR);
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Makes the blocked open return by opening both sides for a moment; an error says that the run may not write.
fn release(object: &Pinned) -> io::Result<()> {
    reopen(object, libc::O_RDWR | libc::O_NONBLOCK).map(drop)
}

fn reopen(object: &Pinned, flags: i32) -> io::Result<OwnedFd> {
    let how = OpenHow::existing(flags | libc::O_NOCTTY);
    // The path is absolute, so the directory is ignored.
    looks::write(|| file::open(object.as_fd(), &object.path(), how))
}

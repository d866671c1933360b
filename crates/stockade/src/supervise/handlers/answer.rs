//! The supervisor's answers to calls.
//!
//! A descriptor is injected (`ADDFD`), the supervisor's copy closed, and then the call answered with its number.
//! `ADDFD` with `SEND` would do both in one step and is never used: the copy would live on past the answer, so that
//! "write, close, execute" meets `ETXTBSY`, locks outlive their `close`, and a FIFO has no end; and stopping Stockade
//! while that call sleeps makes the target's open answer 0.

use std::os::fd::OwnedFd;

use super::context::NotifyContext;
use super::stop::Stop;
use crate::supervise::call::errno::Errno;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::object::pinned::{Pinned, Place};
use stockade_sys::notify::OnExecute;

/// The answer to one call.
pub enum CallAnswer {
    /// Return this value.
    Value(i64),
    /// Install a descriptor. The supervisor's copy is closed before the answer: while it is open, executing the file
    /// fails with `ETXTBSY`, a lock outlives the target's close, and a pipe doesn't reach its end.
    Descriptor(OwnedFd, OnExecute),
    /// Install a descriptor, with an effect that depends on whether the target has room for it.
    Depending(OwnedFd, OnExecute, Box<Effect>),
    /// Let the kernel make the call.
    Continue(MayContinue),
    /// It may take long: this is done on a thread of its own, so that the other calls go on.
    Apart(Box<Apart>),
}

/// The rest of a call that is handled on a thread of its own.
pub type Apart = dyn FnOnce(&NotifyContext<'_>) -> Handled + Send;

impl CallAnswer {
    /// Leaves the rest of a call to a thread of its own.
    pub fn apart(task: impl FnOnce(&NotifyContext<'_>) -> Handled + Send + 'static) -> CallAnswer {
        CallAnswer::Apart(Box::new(task))
    }
}

/// The answer, or why there is none.
pub type Handled<T = CallAnswer> = Result<T, Stop>;

/// Fails a call with an error number.
pub fn fail<T>(errno: i32) -> Handled<T> {
    Err(Stop::Errno(Errno(errno)))
}

/// The effect of an open on the file, which must not happen if the target's descriptor table is full.
#[derive(Debug)]
pub enum Effect {
    /// Truncate this file once the target has the descriptor.
    Truncate(Pinned),
    /// This entry was created; remove it if the target doesn't get the descriptor.
    Made(Place),
}

//! One call on a worker's context: who asks, who judges, and what becomes of a call that isn't answered here.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;

use super::answer::{Answer, Errno};
use super::approvals::{self, ApprovedGrants, CallGrants, Place};
use super::caller::Caller;
use super::policy_stack::PolicyStack;
use super::shared::Shared;
use super::worker::{Slow, Worker};
use super::worker_fds::{Isolation, WorkerFds};
use crate::network::Network;
use crate::report::Refusal;
use stockade_sys::file;
use stockade_sys::notify::Notification;

/// One call on a worker's context.
pub struct NotifyContext<'a> {
    pub worker: &'a Worker,
    pub judge: PolicyStack<'a>,
    pub notification: &'a Notification,
    /// Where it is made.
    pub(super) place: Cell<Place>,
    /// Where it goes.
    pub(super) deferral: Cell<Option<Deferral>>,
}

/// What is to become of a call that isn't answered here.
pub enum Deferral {
    /// Somebody is asked about this.
    Ask(Box<Refusal>),
    /// It is made beyond the workers' domain.
    RetryThread,
}

impl<'a> NotifyContext<'a> {
    pub fn worker_fds(&self) -> &'a WorkerFds {
        self.judge.worker_fds
    }

    pub fn caller(&self) -> &'a Caller<'a> {
        self.judge.caller
    }

    pub fn shared(&self) -> &'a Shared {
        self.judge.shared
    }

    /// What was granted for this call alone.
    pub fn once(&self) -> &'a ApprovedGrants {
        &self.judge.call_grants.once
    }

    /// Leaves a call that is refused here to somebody else. The first reason counts.
    pub fn divert(&self, deferral: Deferral) {
        let first = self.deferral.take();
        self.deferral.set(Some(first.unwrap_or(deferral)));
    }

    /// Goes where what was granted can be reached: the first time by handing the call over, which `errno` stands for
    /// meanwhile, and there by confining the thread before anything is done.
    pub fn reach_what_was_granted(&self, errno: Errno) -> Result<(), Errno> {
        match self.place.get() {
            Place::Worker => {
                self.divert(Deferral::RetryThread);
                Err(errno)
            }
            Place::RetryThread => {
                approvals::confine(self)?;
                self.place.set(Place::Confined);
                Ok(())
            }
            Place::Confined => Ok(()),
        }
    }

    /// The relay, and where its visitors are announced.
    pub fn network(&self) -> Option<(&'a Network, BorrowedFd<'a>)> {
        let network = self.shared().network.as_deref()?;
        Some((network, self.worker_fds().bell.as_ref()?.as_fd()))
    }

    /// Hands the call to a thread of its own, because it may take long: the other calls go on.
    pub fn later(
        &self,
        task: impl FnOnce(&NotifyContext<'_>) -> Result<Answer, Errno> + Send + 'static,
    ) -> Result<Answer, Errno> {
        let call_grants = CallGrants {
            place: self.place.get(),
            ..self.judge.call_grants.clone()
        };
        let slow = Slow::begin(&self.worker.shared).ok_or(Errno(libc::EAGAIN))?;
        let call = (*self.notification, self.judge.nested_runs.clone());
        self.worker.work_apart(call, call_grants, move |context| {
            let _slow = slow;
            task(context)
        })?;
        Ok(Answer::Later)
    }

    /// The mode to make something with, so that it gets the caller's umask: this thread takes it on, or, where the
    /// umask isn't this thread's own, the bits are taken away here. What our own umask takes away then stays away.
    pub fn mode_under_umask(&self, mode: u32) -> u32 {
        let differ = self.shared().umasks_differ.load(Ordering::Relaxed);
        let umask = if differ {
            self.caller().umask()
        } else {
            self.worker_fds().umask
        };
        match self.worker_fds().isolation {
            Isolation::Own => {
                file::set_umask(umask);
                mode
            }
            Isolation::Shared => mode & !umask,
        }
    }

    /// The call's name.
    pub fn call_name(&self) -> &'static str {
        let number = u32::try_from(self.notification.number).unwrap_or(u32::MAX);
        crate::plan::filter::Architecture::native()
            .and_then(|architecture| crate::plan::calls::name(number, architecture))
            .unwrap_or("unknown")
    }
}

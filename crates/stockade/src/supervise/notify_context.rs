//! One call as a worker handles it: the caller, the policies, and the deferral of a call that isn't answered here.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::atomic::Ordering;

use super::answer::{CallAnswer, Errno};
use super::approvals::{self, ApprovedGrants, CallGrants, CallSite};
use super::caller::Caller;
use super::judge::AccessVerdict;
use super::policy_stack::PolicyStack;
use super::run_policy::RunPolicy;
use super::shared::Shared;
use super::worker::{Slow, Worker};
use super::worker_fds::{Isolation, WorkerFds};
use crate::network::RunNetwork;
use crate::policy::Access;
use crate::report::{Kind, Refusal};
use stockade_sys::file;
use stockade_sys::notify::Notification;

/// One call as a worker handles it.
pub struct NotifyContext<'a> {
    pub worker: &'a Worker,
    pub judge: PolicyStack<'a>,
    pub notification: &'a Notification,
    /// The kind of thread that handles the call.
    pub(super) place: Cell<CallSite>,
    /// The deferral, if the call isn't answered here.
    pub(super) deferral: Cell<Option<Deferral>>,
}

/// The next step for a call that isn't answered here.
pub enum Deferral {
    /// The approver is asked about this refusal.
    Ask(Box<Refusal>),
    /// The retry thread makes the call.
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

    /// The grants of this call alone.
    pub fn once(&self) -> &'a ApprovedGrants {
        &self.judge.call_grants.once
    }

    /// Defers a call that is refused here. The first deferral counts.
    pub fn divert(&self, deferral: Deferral) {
        let first = self.deferral.take();
        self.deferral.set(Some(first.unwrap_or(deferral)));
    }

    /// Prepares for an approved access. On a worker: queues a retry and returns `errno`. On the retry thread: enters
    /// the widened Landlock domain before anything is done.
    pub fn reach_what_was_granted(&self, errno: Errno) -> Result<(), Errno> {
        match self.place.get() {
            CallSite::Worker => {
                self.divert(Deferral::RetryThread);
                Err(errno)
            }
            CallSite::RetryThread => {
                approvals::confine(self)?;
                self.place.set(CallSite::Confined);
                Ok(())
            }
            CallSite::Confined => Ok(()),
        }
    }

    /// Whether this use of an absolute path of the base was continued before, and needn't be told.
    pub fn has_continued(&self, kind: Kind, path: &[u8]) -> bool {
        let is_known = |run_policy: &RunPolicy| run_policy.continued(kind).contains(path);
        !self.shared().tells_all() && self.judge.innermost().is_some_and(is_known)
    }

    /// Remembers that this use of a path was continued: a path that lies in the base as it is written. By a link anywhere else the
    /// run could lead it to another object.
    pub fn note_continued(&self, kind: Kind, path: &[u8]) {
        const MOST: usize = 4096;
        let name = Path::new(OsStr::from_bytes(path));
        let is_plain = name.is_absolute() && !name.components().any(|part| part == Component::ParentDir);
        if is_plain
            && !self.judge.is_in_a_scratch(name)
            && self.judge.name(Access::READ, name) == AccessVerdict::Static
            && let Some(run_policy) = self.judge.innermost()
        {
            let mut continued = run_policy.continued(kind);
            if continued.len() >= MOST {
                continued.clear();
            }
            continued.insert(path.to_vec());
        }
    }

    /// The relay, and the control socket on which pending connections are announced.
    pub fn network(&self) -> Option<(&'a RunNetwork, BorrowedFd<'a>)> {
        let network = self.shared().network.as_deref()?;
        Some((network, self.worker_fds().bell.as_ref()?.as_fd()))
    }

    /// Hands the call to a thread of its own, because it may take long, so that the other calls go on.
    pub fn later(
        &self,
        task: impl FnOnce(&NotifyContext<'_>) -> Result<CallAnswer, Errno> + Send + 'static,
    ) -> Result<CallAnswer, Errno> {
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
        Ok(CallAnswer::Later)
    }

    /// The mode to create something with under the caller's umask: this thread adopts the umask or, if its umask is
    /// shared, the bits are cleared here. Then the bits of the supervisor's own umask are cleared as well.
    pub fn mode_under_umask(&self, mode: u32) -> u32 {
        let differ = self.shared().umasks_differ.load(Ordering::Relaxed);
        let umask = if differ {
            self.caller().umask()
        } else {
            self.worker_fds().umask
        };
        match self.worker_fds().isolation {
            Isolation::Own => {
                adopt(umask);
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

/// Sets the thread's umask, unless it is that already.
fn adopt(umask: u32) {
    thread_local! {
        static UMASK: Cell<Option<u32>> = const { Cell::new(None) };
    }
    if UMASK.replace(Some(umask)) != Some(umask) {
        file::set_umask(umask);
    }
}

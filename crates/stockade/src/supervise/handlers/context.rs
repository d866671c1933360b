//! One call as a worker handles it: the caller, the policies that judge it, and the thread's domain.
//!
//! What is made on behalf gets the caller's umask, so default access lists work. Until a process of the run calls
//! `umask` all have the one that the run began with, which needs no look at the caller.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::stop::Stop;
use crate::network::RunNetwork;
use crate::policy::Access;
use crate::report::Kind;
use crate::ruleset;
use crate::supervise::approvals::{ApprovedGrants, CallGrants, CallSite};
use crate::supervise::call::caller::{Alleged, Caller};
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::{Isolation, WorkerFds};
use crate::supervise::judge::stack::PolicyStack;
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::resolve::PathRequest;
use crate::supervise::run::Run;
use crate::supervise::state::run_policy::RunPolicy;
use stockade_sys::file;
use stockade_sys::notify::Notification;

/// One call as a worker handles it.
pub struct NotifyContext<'a> {
    pub judge: PolicyStack<'a>,
    pub notification: &'a Notification,
    /// The kind of thread that handles the call.
    site: Cell<CallSite>,
}

impl<'a> NotifyContext<'a> {
    /// The context of a call on a thread of this kind.
    pub fn new(judge: PolicyStack<'a>, notification: &'a Notification) -> NotifyContext<'a> {
        NotifyContext {
            site: Cell::new(judge.call_grants.site),
            judge,
            notification,
        }
    }

    pub fn fds(&self) -> &'a WorkerFds {
        self.judge.fds
    }

    pub fn caller(&self) -> &'a Caller<'a> {
        self.judge.caller
    }

    pub fn run(&self) -> &'a Arc<Run> {
        self.judge.run
    }

    /// The grants of this call alone.
    pub fn once(&self) -> &'a ApprovedGrants {
        &self.judge.call_grants.once
    }

    /// The grants of this call, for the thread that goes on with it.
    pub fn call_grants(&self) -> CallGrants {
        CallGrants {
            site: self.site.get(),
            ..self.judge.call_grants.clone()
        }
    }

    /// A path and the directory of the caller's that it is relative to.
    pub fn request<'r>(&self, directory: i32, path: &'r Alleged) -> PathRequest<'r>
    where
        'a: 'r,
    {
        PathRequest::new(&self.run().process_lists, self.fds(), self.caller(), directory, path)
    }

    /// Enters the domain widened by the approved grants. On a worker it asks for a thread that can: `errno` is the answer if
    /// there is none.
    pub fn widen(&self, errno: Errno) -> Result<(), Stop> {
        match self.site.get() {
            CallSite::Worker => Err(Stop::Widen(errno)),
            CallSite::Unconfined => {
                self.confine()?;
                self.site.set(CallSite::Confined);
                Ok(())
            }
            CallSite::Confined => Ok(()),
        }
    }

    /// Confines the thread of a call to the workers' domain widened by the approved grants.
    fn confine(&self) -> Result<(), Stop> {
        // For the note of a later refusal: from here on the program can't be read.
        let _ = self.caller().program();
        let domain = self.fds().domain.as_ref().ok_or(Errno(libc::EPERM))?;
        let approvals = self.run().approvals.as_deref().ok_or(Errno(libc::EPERM))?;
        let paths: Vec<_> = approvals.opened().paths().chain(self.once().paths()).collect();
        let abi = self.run().policy().run_config.supervision.landlock_abi;
        ruleset::enter_with(domain.as_fd(), abi, &paths)?;
        Ok(())
    }

    /// Whether this use of an absolute path of the base was continued before, and needn't be told.
    pub fn has_continued(&self, kind: Kind, path: &[u8]) -> bool {
        let is_known = |run_policy: &RunPolicy| run_policy.continued(kind).contains(path);
        !self.run().journal.tells_all() && self.judge.innermost().is_some_and(is_known)
    }

    /// Remembers that this use of a path was continued: a path that lies in the base as it is written. By a link anywhere else the
    /// run could lead it to another object.
    pub fn note_continued(&self, kind: Kind, path: &[u8]) {
        const MAX: usize = 4096;
        let name = Path::new(OsStr::from_bytes(path));
        let is_plain = name.is_absolute() && !name.components().any(|part| part == Component::ParentDir);
        if is_plain
            && !self.judge.is_in_a_scratch(name)
            && self.judge.name(Access::READ, name) == AccessVerdict::Allowed(By::Landlock)
            && let Some(run_policy) = self.judge.innermost()
        {
            let mut continued = run_policy.continued(kind);
            if continued.len() >= MAX {
                continued.clear();
            }
            continued.insert(path.to_vec());
        }
    }

    /// The relay, and the control socket on which pending connections are announced.
    pub fn network(&self) -> Option<(&'a RunNetwork, BorrowedFd<'a>)> {
        let network = self.run().network.as_deref()?;
        Some((network, self.fds().control.as_ref()?.as_fd()))
    }

    /// The mode to create something with under the caller's umask: this thread adopts the umask or, if its umask is
    /// shared, the bits are cleared here. Then the bits of the supervisor's own umask are cleared as well.
    pub fn mode_under_umask(&self, mode: u32) -> u32 {
        let differ = self.run().umasks_differ.load(Ordering::Relaxed);
        let umask = if differ {
            self.caller().umask()
        } else {
            self.fds().umask
        };
        match self.fds().isolation {
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

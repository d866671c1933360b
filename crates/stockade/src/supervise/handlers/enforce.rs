//! Enforcing verdicts, and recording refusals.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::answer::Handled;
use super::context::NotifyContext;
use super::stop::Stop;
use crate::audit::{Record, Seen};
use crate::fault;
use crate::policy::git_directory;
use crate::profile::Origin;
use crate::report::{Kind, Reason, Refusal};
use crate::supervise::approvals::Considered;
use crate::supervise::call::errno::Errno;
use crate::supervise::judge::grant_named;
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::pinned::Pinned;
use stockade_sys::other;

/// An attempted access, for the record of its refusal.
pub struct Attempt<'a> {
    pub kind: Kind,
    /// The path as the target gave it; empty if it gave none.
    pub asked: &'a [u8],
    pub exists: bool,
    pub is_directory: bool,
}

impl<'a> Attempt<'a> {
    /// An attempt on something that exists, and isn't a directory as far as it matters.
    pub fn on(kind: Kind, asked: &'a [u8]) -> Self {
        Attempt {
            kind,
            asked,
            exists: true,
            is_directory: false,
        }
    }

    /// An attempt on an object that was found.
    pub fn with(kind: Kind, asked: &'a [u8], object: &Pinned) -> Self {
        Attempt {
            is_directory: object.is_directory(),
            ..Attempt::on(kind, asked)
        }
    }

    /// An attempt that needs nothing to exist.
    pub fn without(kind: Kind, asked: &'a [u8]) -> Self {
        Attempt {
            exists: false,
            ..Attempt::on(kind, asked)
        }
    }
}

impl NotifyContext<'_> {
    /// Stops if the verdict is a refusal, which is recorded or asked about: with `errno`. `Ok` says what grants
    /// the access.
    pub fn enforce(&self, verdict: AccessVerdict, attempt: &Attempt<'_>, target: &Path, errno: Errno) -> Handled<By> {
        fault::point("worker", || target.as_os_str().as_bytes());
        match verdict {
            AccessVerdict::Allowed(By::Approval) => {
                self.widen(errno)?;
                self.tell_allowed_by(attempt, target, || Some(grant_named::ANSWERED.to_string()));
                Ok(By::Approval)
            }
            AccessVerdict::Allowed(by) => {
                self.tell_allowed(attempt, target);
                Ok(by)
            }
            AccessVerdict::Refused(reason) => {
                let refusal = self.refusal(attempt, target.as_os_str().as_bytes(), reason);
                Err(self.refuse(refusal, errno))
            }
        }
    }

    /// Refuses the call, and records that; or stops it with a question, if the approver can be asked.
    pub fn refuse(&self, refusal: Refusal, errno: Errno) -> Stop {
        let mut refusal = self.run().journal.with_reason(refusal);
        let approvals = self.run().approvals.as_deref().filter(|_| !self.only_looks());
        let considered = approvals.map(|approvals| approvals.consider(&refusal));
        match considered {
            Some(Considered::Ask) => return Stop::Ask(Box::new(refusal), errno),
            Some(Considered::Refused(declined)) => refusal.reason = Reason::Declined(Box::new(declined)),
            Some(Considered::Plain) | None => {}
        }
        self.stop_git(&refusal);
        self.run().journal.note(refusal);
        Stop::Errno(errno)
    }

    /// Ends git at the first file of a work tree that stays closed: git would go on, and leave the tree half changed. At this
    /// signal it gives its locks back and leaves index and `HEAD` as they were.
    fn stop_git(&self, refusal: &Refusal) {
        let is_closed = matches!(&refusal.reason, Reason::Denied(denial) if denial.origin == Origin::BuiltIn);
        let target = Path::new(OsStr::from_bytes(&refusal.target));
        if !is_closed
            || !refusal.kind.changes()
            || !refusal.program.ends_with(b"/git")
            || git_directory(target).is_some()
        {
            return;
        }
        if let Ok(process) = other::process_descriptor(refusal.pid)
            && self.caller().confirm().is_ok()
        {
            let _ = other::signal_process(process.as_fd(), libc::SIGTERM, None);
        }
    }

    /// Whether the call only checks if something could be done: programs check much that they never do.
    fn only_looks(&self) -> bool {
        #[cfg(target_arch = "x86_64")]
        const ACCESS: i64 = libc::SYS_access;
        #[cfg(not(target_arch = "x86_64"))]
        const ACCESS: i64 = libc::SYS_faccessat;
        let looking = [
            ACCESS,
            libc::SYS_faccessat,
            libc::SYS_faccessat2,
            libc::SYS_inotify_add_watch,
        ];
        looking.contains(&i64::from(self.notification.number))
    }

    /// Reports an allowed access if all accesses are to be reported.
    pub fn tell_allowed(&self, attempt: &Attempt<'_>, target: &Path) {
        self.tell_allowed_by(attempt, target, || {
            grant_named::of_path(self.run().policy(), attempt.kind, target)
        });
    }

    fn tell_allowed_by(&self, attempt: &Attempt<'_>, target: &Path, rule: impl FnOnce() -> Option<String>) {
        if self.run().journal.tells_all() {
            let target = target.as_os_str().as_bytes();
            let seen = Seen::allowed(&self.refusal(attempt, target, Reason::NotGranted), rule());
            self.run().journal.tell(|| Record::Allowed(seen));
        }
    }

    /// Records a refusal that no grant can lift, and stops with `EPERM`.
    pub fn never(&self, attempt: &Attempt<'_>, target: &[u8], reason: &'static str) -> Stop {
        self.note(attempt, target, Reason::Never(reason.into()));
        Stop::Errno(Errno(libc::EPERM))
    }

    /// Records a refusal.
    pub fn note(&self, attempt: &Attempt<'_>, target: &[u8], reason: Reason) {
        self.run().journal.note(self.refusal(attempt, target, reason));
    }

    pub fn refusal(&self, attempt: &Attempt<'_>, target: &[u8], reason: Reason) -> Refusal {
        let caller = self.caller();
        Refusal {
            kind: attempt.kind,
            asked: attempt.asked.to_vec(),
            target: target.to_vec(),
            exists: attempt.exists,
            is_directory: attempt.is_directory,
            syscall: self.call_name().into(),
            pid: caller.process(),
            program: caller.program(),
            at: self.run().journal.started.elapsed(),
            reason,
        }
    }
}

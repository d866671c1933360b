//! Taking note of what is refused.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::answer::Errno;
use super::approvals::Considered;
use super::hearing;
use super::judge::Verdict;
use super::notify_context::{Deferral, NotifyContext};
use super::pinned::Pinned;
use crate::audit::{Record, Seen};
use crate::fault;
use crate::report::{Kind, Reason, Refusal};

/// What was refused to whom.
pub struct Attempt<'a> {
    pub kind: Kind,
    /// As the target put it; empty where it named nothing.
    pub asked: &'a [u8],
    pub exists: bool,
    pub is_directory: bool,
}

impl<'a> Attempt<'a> {
    /// Something with what is there, and isn't a directory as far as it matters.
    pub fn on(kind: Kind, asked: &'a [u8]) -> Self {
        Attempt {
            kind,
            asked,
            exists: true,
            is_directory: false,
        }
    }

    /// Something with an object that was found.
    pub fn with(kind: Kind, asked: &'a [u8], object: &Pinned) -> Self {
        Attempt {
            is_directory: object.is_directory(),
            ..Attempt::on(kind, asked)
        }
    }

    /// Something that needs nothing to be there.
    pub fn without(kind: Kind, asked: &'a [u8]) -> Self {
        Attempt {
            exists: false,
            ..Attempt::on(kind, asked)
        }
    }
}

impl NotifyContext<'_> {
    /// Answers `errno` where the verdict is a refusal, and takes note of it. `Ok` tells whether Landlock grants it too.
    pub fn enforce(
        &self,
        verdict: Verdict,
        attempt: &Attempt<'_>,
        target: &Path,
        errno: Errno,
    ) -> Result<IsStatic, Errno> {
        fault::point("worker", || target.as_os_str().as_bytes());
        match verdict {
            Verdict::Static | Verdict::OnBehalf => {
                self.tell_allowed(attempt, target);
                Ok(if verdict == Verdict::Static {
                    IsStatic::Yes
                } else {
                    IsStatic::No
                })
            }
            Verdict::Approved => {
                self.reach_what_was_granted(errno)?;
                self.tell_allowed(attempt, target);
                Ok(IsStatic::No)
            }
            Verdict::Refused(reason) => {
                self.refuse(self.refusal(attempt, target.as_os_str().as_bytes(), reason));
                Err(errno)
            }
        }
    }

    /// Refuses, or queues a question: the asking thread gives the call's answer then.
    pub fn refuse(&self, refusal: Refusal) {
        let mut refusal = self.shared().with_reason(refusal);
        let approvals = self.shared().approvals.as_deref().filter(|_| !self.only_looks());
        let considered = approvals.map(|approvals| approvals.consider(&refusal, &self.shared().run.run_config.policy));
        match considered {
            Some(Considered::Ask) => {
                self.divert(Deferral::Ask(Box::new(refusal)));
                return;
            }
            Some(Considered::Refused(declined)) => refusal.reason = Reason::Declined(Box::new(declined)),
            Some(Considered::Plain) | None => {}
        }
        self.shared().note(refusal);
    }

    /// Calls that look whether something could be done: programs ask for much that they never do.
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

    /// Takes note of an allowed access, and tells of it where somebody wants to hear of all.
    pub fn tell_allowed(&self, attempt: &Attempt<'_>, target: &Path) {
        if !self.only_looks() && !attempt.is_directory {
            hearing::note_got(
                self.shared(),
                self.caller(),
                self.judge.nested_runs.innermost(),
                (attempt.kind, target.as_os_str().as_bytes()),
            );
        }
        if self.shared().tells_all() {
            let target = target.as_os_str().as_bytes();
            let seen = Seen::of(&self.refusal(attempt, target, Reason::NotGranted));
            self.shared().tell(|| Record::Allowed(seen));
        }
    }

    /// Takes note of what no grant opens, and answers `EPERM`.
    pub fn never(&self, attempt: &Attempt<'_>, target: &[u8], reason: &'static str) -> Errno {
        self.note(attempt, target, Reason::Never(reason.into()));
        Errno(libc::EPERM)
    }

    /// Takes note of a refusal.
    pub fn note(&self, attempt: &Attempt<'_>, target: &[u8], reason: Reason) {
        self.shared().note(self.refusal(attempt, target, reason));
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
            at: self.shared().started.elapsed(),
            reason,
        }
    }
}

/// Whether Landlock grants an access by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsStatic {
    Yes,
    No,
}

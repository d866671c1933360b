//! Taking note of what is refused.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::answer::Errno;
use super::judge::Verdict;
use super::pinned::Pinned;
use super::worker::Desk;
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

impl Desk<'_> {
    /// Answers `errno` where the verdict is a refusal, and takes note of it. `Ok` tells whether Landlock grants it too.
    pub fn enforce(
        &self,
        verdict: Verdict,
        attempt: &Attempt<'_>,
        target: &Path,
        errno: Errno,
    ) -> Result<IsStatic, Errno> {
        match verdict {
            Verdict::Static => Ok(IsStatic::Yes),
            Verdict::OnBehalf => Ok(IsStatic::No),
            Verdict::Refused(reason) => {
                self.note(attempt, target.as_os_str().as_bytes(), reason);
                Err(errno)
            }
        }
    }

    /// Takes note of what no grant opens, and answers `EPERM`.
    pub fn never(&self, attempt: &Attempt<'_>, target: &[u8], reason: &'static str) -> Errno {
        self.note(attempt, target, Reason::Never(reason));
        Errno(libc::EPERM)
    }

    /// Takes note of a refusal.
    pub fn note(&self, attempt: &Attempt<'_>, target: &[u8], reason: Reason) {
        let caller = self.caller();
        let refusal = Refusal {
            kind: attempt.kind,
            asked: attempt.asked.to_vec(),
            target: target.to_vec(),
            exists: attempt.exists,
            is_directory: attempt.is_directory,
            syscall: self.call_name(),
            pid: caller.process(),
            program: caller.program(),
            at: self.shared().started.elapsed(),
            reason,
        };
        self.shared().refusals().note(refusal);
    }
}

/// Whether Landlock grants an access by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsStatic {
    Yes,
    No,
}

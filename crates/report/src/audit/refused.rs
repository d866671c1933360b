//! A refused access with what the run's policy says of it, for observers that act on refusals while the run lives.

use std::path::Path;

use super::Seen;
use crate::policy::Policy;
use crate::report::{self, Refusal, Setting};

/// A refused access, at the moment of its refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The access.
    pub seen: Seen,
    /// Whether the target exists.
    pub exists: bool,
    /// Whether programs usually do without it: they only look, try at their start, or would find nothing there.
    pub quiet: bool,
    /// The flag, as words, that would allow it; `None` if no grant would.
    pub grant: Option<Vec<String>>,
}

impl Refused {
    /// Judges one refusal by itself: how the run ends isn't known yet.
    pub fn of(refusal: &Refusal, policy: &Policy, home: Option<&Path>, command: &[String]) -> Refused {
        let setting = Setting {
            policy,
            home,
            command,
            opens_guarded: false,
        };
        let words = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
        Refused {
            seen: Seen::of(refusal),
            exists: refusal.exists,
            quiet: report::is_quiet(refusal, &setting),
            grant: report::usual_grant(refusal, &setting).map(|grant| grant.words().iter().map(words).collect()),
        }
    }
}

//! A denial: one refused access as reported.

use std::ffi::OsString;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::refusal::{Counted, Reason, Refusal};
use super::{milliseconds, text};
use crate::policy::Kind;
use crate::policy::{self, DenialKind, Target, git_directory};

/// A refused access. The target chooses the texts: they are kept unchanged, except bytes that aren't UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The target as the program named it; empty if it named none.
    pub asked: String,
    /// The system call.
    pub syscall: String,
    /// The process that asked.
    pub pid: i32,
    /// The program that it ran.
    pub program: String,
    /// How often it was refused.
    pub count: u64,
    /// When it was refused first, in milliseconds since the start.
    pub at_ms: u64,
    /// The rule that refused it; `None` if nothing grants it.
    pub rule: Option<RefusingRule>,
    /// The missing capability.
    pub capability: Option<String>,
    /// Whether this explains why the run failed.
    pub explains: Explains,
    /// Whether programs request it every time and live with the refusal, as with `/sys/fs/cgroup`.
    #[serde(default)]
    pub usual: bool,
    /// The fewest flags that would allow it; `None` if no grant would.
    #[serde(with = "text::words_or_none")]
    pub grant: Option<Vec<OsString>>,
    /// The lowest shipped profile that would allow it; `None` if only `trusted` would, or none.
    pub profile: Option<String>,
}

/// Whether a denial explains why a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Explains {
    /// The program's last words name it.
    Yes,
    /// It is among the likeliest.
    Perhaps,
    /// Another one does, none, or nothing failed.
    No,
}

impl Explains {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Explains::Yes => "yes",
            Explains::Perhaps => "perhaps",
            Explains::No => "no",
        }
    }
}

/// The rule that refused an access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusingRule {
    /// Its text.
    pub text: String,
    /// Its origin: where it is written.
    pub origin: String,
}

impl Denial {
    /// The facts in the refusal itself; nothing is judged yet.
    pub(super) fn of(counted: &Counted) -> Denial {
        let refusal = &counted.first;
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Denial {
            access: refusal.kind,
            target: lossy(&refusal.target),
            asked: lossy(&refusal.asked),
            syscall: refusal.syscall.to_string(),
            pid: refusal.pid,
            program: lossy(&refusal.program),
            count: counted.count,
            at_ms: milliseconds(refusal.at),
            rule: RefusingRule::of(&refusal.reason).map(|rule| match is_git_config(refusal) {
                true => RefusingRule {
                    text: GIT_CONFIG.to_string(),
                    ..rule
                },
                false => rule,
            }),
            capability: match refusal.reason {
                Reason::Incapable(capability) => Some(capability.to_string()),
                _ => None,
            },
            explains: Explains::No,
            usual: false,
            grant: None,
            profile: None,
        }
    }
}

/// The changes that the supervisor allows all the same: `policy::git_config`.
const GIT_CONFIG: &str = "git's configuration, but for remotes, branches and the author";

/// The end of a rule that no single line of the list stands for.
const BY_LIST: &str = "by the built-in list";

fn is_git_config(refusal: &Refusal) -> bool {
    let is_guarded = matches!(&refusal.reason, Reason::Denied(denial) if denial.target == Target::GitDirectories);
    is_guarded && refusal.target.ends_with(b"/config")
}

impl Denial {
    /// Whether it stands for a variable or program that the run didn't get: no process was refused a call.
    pub fn is_lack(&self) -> bool {
        self.pid == 0
    }

    /// Whether a program was refused changing a file that stays closed whatever is granted: a guarded one, or a secret. (Or git
    /// reading one of a work tree, which it takes for a changed one then.)
    pub fn is_of_closed_file(&self) -> bool {
        let Some(rule) = &self.rule else { return false };
        // Not Stockade's own state and scratch directories, which a run inside a run looks for.
        let named = Path::new(rule.text.trim_end_matches('`'))
            .file_name()
            .unwrap_or_default();
        let is_own = named.as_encoded_bytes().starts_with(b"stockade");
        // A directory that isn't moved is copied, and judged file by file.
        let is_copied = rule.text.ends_with(BY_LIST);
        let is_closed = ["guarded ", "secret ", GIT_CONFIG]
            .iter()
            .any(|start| rule.text.starts_with(start));
        let is_of_git = git_directory(Path::new(&self.target)).is_some();
        let is_closed = is_closed || is_of_git;
        // Programs make directories for settings that they then don't write.
        let makes_directory = self.syscall.starts_with("mkdir") && !self.stopped_git() && !is_of_git;
        let is_change = matches!(self.access, Kind::Write | Kind::Create | Kind::Delete) && !makes_directory;
        is_closed && !is_own && !is_copied && (is_change || self.access == Kind::Read && self.stopped_git())
    }

    /// Whether git was refused a file of a work tree, in the middle of its work.
    pub fn stopped_git(&self) -> bool {
        self.program.ends_with("/git") && policy::git_directory(Path::new(&self.target)).is_none()
    }
}

impl RefusingRule {
    /// The rule behind a refusal with this reason.
    pub fn of(reason: &Reason) -> Option<RefusingRule> {
        match reason {
            Reason::NotGranted => None,
            Reason::Denied(denial) => Some(RefusingRule {
                text: denial_text(denial),
                origin: denial.origin.to_string(),
            }),
            Reason::Limited(why) | Reason::Never(why) => Some(RefusingRule {
                text: why.to_string(),
                origin: "built in".to_string(),
            }),
            // The nested run's program chose the words.
            Reason::Inside { .. } => Some(RefusingRule {
                text: "a run inside this one doesn't grant it".to_string(),
                origin: "built in".to_string(),
            }),
            Reason::Incapable(capability) => Some(RefusingRule {
                text: format!("permission denied: {capability} capability required"),
                origin: "the capabilities of the run".to_string(),
            }),
            Reason::Declined(declined) => Some(RefusingRule {
                text: declined.to_string(),
                origin: declined.by.clone().unwrap_or_else(|| "no answer".into()),
            }),
        }
    }
}

/// ``secret pattern `**/.env*` ``: the kind of denial, and its pattern.
fn denial_text(denial: &policy::DenialRule) -> String {
    if let Some(line) = denial.openable_line() {
        return format!("guarded pattern `{}`, obeyed by {}", line.pattern(), line.owner());
    }
    let kind = match denial.kind {
        DenialKind::Explicit => "denied",
        DenialKind::SecretName | DenialKind::SecretPattern => "secret",
        DenialKind::Guarded => "guarded",
        DenialKind::Scope => "read-only",
    };
    match &denial.target {
        Target::Path(path) => format!("{kind} path `{}`", path.display()),
        Target::Glob { below, glob } if below.as_os_str() == "/" => format!("{kind} pattern `{glob}`"),
        Target::Glob { below, glob } => format!("{kind} pattern `{}`", below.join(glob).display()),
        Target::AllBut { globs, .. } if globs.is_empty() => "outside the scope, which allows no change".into(),
        Target::AllBut { globs, .. } => format!("outside the scope `{}`", globs.join("`, `")),
        Target::GitDirectories => format!("{kind} part of a git directory"),
        Target::Listed(_) => format!("{kind} {BY_LIST}"),
    }
}

//! The result of learning: the lists, the lowest profile, the refusals, and the document.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::compare::Comparison;
use super::folding::fold;
use super::least::least;
use super::used::{RunContext, Used};
use stockade_policy::profile::visible;
pub use stockade_report::report::{Denial, Flag, FlagGrant, Kind, Report};
use stockade_text::mask;
use stockade_text::quote::command_line;

/// The result of learning from one run. Texts come from the confined program: escape them before they are shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lesson {
    /// The lowest shipped profile that would have allowed all of it.
    pub least: &'static str,
    /// The shipped profile that the document builds on.
    pub extends: &'static str,
    /// Files and directories that were read: `./…`, `~/…` or absolute.
    pub reads: Vec<String>,
    /// Files and directories that were made, changed or removed.
    pub writes: Vec<String>,
    /// Programs outside the base that were started.
    pub executes: Vec<String>,
    /// Hosts that were asked for or connected to.
    pub hosts: Vec<String>,
    /// Ports that were listened on; 0 is one that the kernel chose.
    pub listens: Vec<u16>,
    /// Uses that no grant is derived from.
    pub withheld: Vec<Withheld>,
    /// Accesses that the ceiling refused.
    pub refused: Vec<Refused>,
    /// The number of uses dropped for lack of room.
    pub dropped: u64,
    /// The program's exit code; `None` if it didn't exit by itself.
    pub exit_code: Option<i32>,
    /// The profile, as TOML.
    pub profile: String,
    /// The comparison with the effects that its script asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<Comparison>,
}

/// A use whose grant a person must decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Withheld {
    /// The kind of access.
    pub access: Kind,
    /// The target.
    pub target: String,
}

/// An access that the ceiling refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The kind of access.
    pub access: Kind,
    /// The target.
    pub target: String,
    /// The number of times.
    pub count: u64,
    /// The flag that would grant it; `None` if none does.
    pub grant: Option<String>,
    /// The rule that refused it; `None` if it was refused only for lack of a grant.
    pub rule: Option<String>,
}

/// Paths as a profile writes them.
pub(super) fn place(path: &Path, run_context: &RunContext<'_>) -> String {
    let below = |anchor: &str, top: &Path| {
        let rest = path.strip_prefix(top).ok()?;
        Some(format!("{anchor}{}", rest.to_string_lossy()))
    };
    below("./", &run_context.policy.root)
        .or_else(|| below("~/", run_context.home?))
        .unwrap_or_else(|| path.to_string_lossy().into_owned())
}

/// Builds the lesson, with a profile of this name.
pub(crate) fn lesson(name: &str, used: &Used, report: &Report, run_context: &RunContext<'_>) -> Lesson {
    let grants = fold(&used.wanted, run_context);
    let least = least(used, run_context);
    let refused: Vec<Refused> = report.denials.iter().map(Refused::of).collect();
    let paths = |flag: Flag| {
        let of_it = used.wanted.iter().filter_map(|wanted| match &wanted.grant {
            FlagGrant::Path(grant) if grant.flag == flag => Some(place(wanted.path()?, run_context)),
            _ => None,
        });
        of_it.collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>()
    };
    let mut lesson = Lesson {
        least,
        extends: "minimal",
        reads: paths(Flag::Read),
        writes: paths(Flag::Write),
        executes: paths(Flag::Exec),
        hosts: Vec::new(),
        listens: Vec::new(),
        withheld: used.withheld.iter().map(Withheld::of).collect(),
        refused,
        dropped: used.dropped,
        exit_code: report.exit_code,
        profile: String::new(),
        compare: None,
    };
    for grant in &grants {
        match grant {
            FlagGrant::Host(pattern) => lesson.hosts.push(pattern.to_string()),
            FlagGrant::Listen(port) => lesson.listens.push(*port),
            FlagGrant::Path(_) => {}
        }
    }
    lesson.profile = super::profile::document(name, &lesson, used, &grants, report, run_context);
    lesson
}

impl Withheld {
    fn of(used: &super::observation::Use) -> Withheld {
        Withheld {
            access: used.access,
            target: used.target.clone(),
        }
    }
}

impl Refused {
    fn of(denial: &Denial) -> Refused {
        Refused {
            access: denial.access,
            target: denial.target.clone(),
            count: denial.count,
            grant: denial.grant.as_ref().map(|words| command_line(words)),
            rule: denial.rule.as_ref().map(|rule| rule.text.clone()),
        }
    }

    /// `reading /etc/shadow: secret path; no flag grants it`.
    pub(super) fn sentence(&self) -> String {
        let how = match (&self.grant, &self.rule) {
            (Some(flag), _) => format!("`{flag}` would grant it"),
            (None, Some(rule)) => format!("{rule}; no flag grants it"),
            (None, None) => "no flag grants it".to_string(),
        };
        format!("{} {}: {how}", self.access.name(), self.target)
    }
}

/// The command's words on one line, secrets masked, for a comment.
pub(super) fn command_text(command: &[String]) -> String {
    const MAX_LENGTH: usize = 120;
    let text = command_line(&mask::words(command));
    let short: String = text.chars().take(MAX_LENGTH).collect();
    let end = if short.len() < text.len() { "…" } else { "" };
    format!("{}{end}", visible(&short))
}

//! Refusals of the run, as `stockade run --events` tells them, and their words for the client.
//!
//! Their texts come from the server, so they are escaped and cut before anyone sees them.

use std::path::Path;

use serde::Deserialize;
use stockade_report::report::Kind;
use stockade_text::mask::looks_secret;
use stockade_text::visible::{fit, visible};

/// The name by which this program answers.
pub const BY: &str = "stockade mcp wrap";

/// The reason of a no for which no one was asked.
pub const NOTHING: &str = "nothing grants it";

/// The most refusals that are kept of one call.
pub const MAX: usize = 32;

/// The most that a client is told of.
const TOLD: usize = 3;

/// Columns of a target or reason in a message.
const COLUMNS: usize = 300;

/// A refused access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The target as the server named it.
    pub asked: String,
    /// The rule that refused it.
    pub rule: Option<String>,
    /// Whether programs usually do without it.
    pub quiet: bool,
    /// Whether the target exists.
    pub exists: bool,
    /// The flag that would allow it.
    pub grant: Option<Vec<String>>,
}

/// A row of the events.
#[derive(Deserialize)]
struct Row {
    kind: String,
    record: Seen,
    #[serde(default)]
    grant: Option<Vec<String>>,
    #[serde(default)]
    quiet: bool,
    #[serde(default)]
    exists: bool,
}

#[derive(Deserialize)]
struct Seen {
    access: Kind,
    target: String,
    asked: String,
    rule: Option<String>,
}

impl Refusal {
    /// Reads a row; `None` if it tells of something else.
    pub fn read(line: &[u8]) -> Option<Refusal> {
        let row: Row = serde_json::from_slice(line)
            .ok()
            .filter(|row: &Row| row.kind == "denied")?;
        Some(Refusal {
            access: row.record.access,
            target: row.record.target,
            asked: row.record.asked,
            rule: row.record.rule,
            quiet: row.quiet,
            exists: row.exists,
            grant: row.grant,
        })
    }

    /// Whether two are the same, as far as a client is told.
    pub fn is_like(&self, other: &Refusal) -> bool {
        (self.access, &self.target) == (other.access, &other.target)
    }

    /// Whether it changes what a call did, also where the server says nothing of it.
    pub fn is_loud(&self) -> bool {
        !self.quiet && !matches!(self.access, Kind::Syscall | Kind::Signal | Kind::Spawn | Kind::Variable)
    }

    /// Whether a text names it: the whole target, as it was asked for, or its last component.
    pub fn is_named_in(&self, text: &str) -> bool {
        const MIN_LENGTH: usize = 3;
        let name = Path::new(&self.target).file_name().and_then(|name| name.to_str());
        let host = self
            .asked
            .rsplit_once(':')
            .map_or(self.asked.as_str(), |(host, _)| host);
        let mut names = [Some(self.target.as_str()), Some(self.asked.as_str()), name, Some(host)]
            .into_iter()
            .flatten();
        names.any(|name| name.len() >= MIN_LENGTH && text.contains(name))
    }

    /// Of a variable that the server didn't get, as a run's own message has it.
    pub fn of_variable(name: &str) -> Refusal {
        let grant = (!looks_secret(name.as_ref())).then(|| vec!["--env".to_owned(), name.to_owned()]);
        Refusal {
            access: Kind::Variable,
            target: name.to_owned(),
            asked: name.to_owned(),
            rule: None,
            quiet: false,
            exists: true,
            grant,
        }
    }

    /// `reading /etc/x: nothing grants it`.
    fn reason(&self) -> String {
        let shown = |text: &str| fit::shortened(&visible(text), COLUMNS);
        let target = match self.access {
            Kind::Connect if self.target == "internet" => "the internet".to_owned(),
            Kind::Connect if !self.asked.is_empty() && self.asked != self.target => {
                format!("{} at {}", shown(&self.asked), shown(&self.target))
            }
            _ => shown(&self.target),
        };
        let why = match self.rule.as_deref().filter(|rule| !is_unasked(rule)) {
            Some(rule) => shown(plain(rule)),
            None => NOTHING.to_owned(),
        };
        format!("{} {target}: {why}", self.access.doing())
    }

    /// The least grant, or why there is none.
    fn grant(&self) -> Option<String> {
        let words = self.grant.as_ref()?;
        let words: Vec<std::ffi::OsString> = words.iter().map(std::ffi::OsString::from).collect();
        Some(visible(&stockade_text::quote::command_line(&words)).into_owned())
    }
}

/// Whether a rule of a refusal is the no for which no one was asked.
fn is_unasked(rule: &str) -> bool {
    rule == format!("refused by {BY}: {NOTHING}, from {BY}")
}

/// A rule without its origin, where that says nothing more.
fn plain(rule: &str) -> &str {
    if let Some(text) = rule.strip_suffix(" (built in)") {
        return text;
    }
    match rule.rsplit_once(", from ") {
        Some((text, _)) if text.starts_with("refused by ") => text,
        Some((text, "no answer")) => text,
        _ => rule,
    }
}

/// What a client is told of the refusals of a call: each with its reason and the least grant.
pub fn text(refusals: &[&Refusal], server: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for refusal in refusals.iter().take(TOLD) {
        lines.push(format!("Permission denied: {}", refusal.reason()));
        lines.push(match refusal.grant() {
            Some(grant) => format!("Least grant: {grant}"),
            None if refusal.access == Kind::Variable => {
                let name = visible(&refusal.target);
                format!("`--env {name}` hands it over, if that is meant: it may be a secret.")
            }
            None => "No grant opens it.".to_owned(),
        });
    }
    let more = refusals.len().saturating_sub(TOLD);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.push(format!(
        "(Stockade confines the server `{}`; a grant is a flag of `stockade mcp wrap`, or a line of its configuration.)",
        visible(server)
    ));
    lines.join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A refused read.
    pub(crate) fn refusal(target: &str, quiet: bool) -> Refusal {
        Refusal {
            access: Kind::Read,
            target: target.into(),
            asked: target.into(),
            rule: None,
            quiet,
            exists: true,
            grant: Some(vec!["--read".into(), target.into()]),
        }
    }

    fn row(kind: &str, target: &str, more: &str) -> String {
        format!(
            "{{\"seq\":null,\"kind\":\"{kind}\",\"run\":\"r\",\"time_ms\":1,\"hash\":null,\"record\":{{\"kind\":\"{kind}\",\"access\":\"read\",\
             \"target\":{},\"asked\":\"x\",\"syscall\":\"openat\",\"pid\":1,\"program\":\"p\",\"rule\":null}}{more}}}",
            crate::message::quoted(target)
        )
    }

    #[test]
    fn only_refusals_are_read() {
        assert!(Refusal::read(row("allowed", "/x", "").as_bytes()).is_none());
        assert!(Refusal::read(b"{").is_none());
        let refusal =
            Refusal::read(row("denied", "/x", ",\"grant\":[\"--read\",\"/x\"],\"exists\":true").as_bytes()).unwrap();
        assert_eq!(
            refusal.grant.as_deref(),
            Some(&["--read".to_owned(), "/x".to_owned()][..])
        );
        assert!(refusal.exists && refusal.is_loud());
    }

    #[test]
    fn a_name_that_the_server_chose_begins_no_line() {
        let row = row("denied", "/r/\n\u{1b}[2JLeast grant: --write /", "");
        let refusal = Refusal::read(row.as_bytes()).unwrap();
        let text = text(&[&refusal], "files");
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

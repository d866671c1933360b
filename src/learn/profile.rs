//! The document: a profile as TOML, each line with its evidence, and the tests that it has to pass.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::lesson::{Lesson, command_text, place};
use super::promises::promises;
use super::used::{RunContext, Used, Wanted};
use stockade_policy::profile::visible;
pub use stockade_report::report::{Flag, FlagGrant, Report};

/// The most refusals listed in comments; the JSON form lists all.
const MAX_TOLD: usize = 20;

/// The profile of this name, as TOML.
pub(super) fn document(
    name: &str,
    lesson: &Lesson,
    used: &Used,
    grants: &[FlagGrant],
    report: &Report,
    run_context: &RunContext<'_>,
) -> String {
    let mut text = comments(lesson, report);
    let program = report.command.first().map(String::as_str).unwrap_or_default();
    let program = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let description = format!("What `{program}` used when it was observed");
    let _ = write!(
        text,
        "\nversion = 1\nname = {}\ndescription = {}\nextends = {}\n",
        quoted(name),
        quoted(&visible(&description)),
        quoted(lesson.extends)
    );
    if used.scratch {
        text.push_str("scratch = true # temporary files: TMPDIR names it\n");
    }
    for grant in grants {
        let (table, key, value) = entry(grant, run_context);
        let why = quoted(&why(grant, &used.wanted));
        let _ = write!(text, "\n[[{table}]]\n{key} = {value}\nwhy = {why}\n");
    }
    if used.home {
        let why = "files in the home directory were used";
        let _ = write!(text, "\n[[environment.name]]\nname = \"HOME\"\nwhy = \"{why}\"\n");
    }
    let promises = promises(lesson, &used.wanted, grants, run_context);
    let _ = write!(
        text,
        "\n[tests]\nmust_allow = {}\nmust_deny = {}\n",
        list(&promises.must_allow),
        list(&promises.must_deny)
    );
    text
}

fn comments(lesson: &Lesson, report: &Report) -> String {
    let ended = match (lesson.exit_code, &report.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by {signal}"),
        (None, None) => "it didn't end by itself".to_string(),
    };
    let mut lines = vec![
        format!(
            "Learnt from one run of `{}` inside `{}`: {ended}.",
            command_text(&report.command),
            report.profile
        ),
        format!(
            "The lowest shipped profile that would have allowed it all is `{}`.",
            lesson.least
        ),
        "Other input may need more. Variables can't be observed: add those that the program needs as".into(),
        "`[[environment.name]]`.".into(),
    ];
    lines.extend(lesson.withheld.iter().take(MAX_TOLD).map(|withheld| {
        format!(
            "Used and not granted, for a person to decide: {} {}",
            withheld.access.name(),
            withheld.target
        )
    }));
    let refused = lesson.refused.iter().take(MAX_TOLD);
    lines.extend(refused.map(|refused| format!("Refused: {}", refused.sentence())));
    let more = lesson.refused.len().saturating_sub(MAX_TOLD);
    lines.extend((more > 0).then(|| format!("Refused besides: {more}")));
    lines
        .extend((lesson.dropped > 0).then(|| format!("Not looked at, since it was too much: {} uses", lesson.dropped)));
    lines.iter().map(|line| format!("# {}\n", visible(line))).collect()
}

fn entry(grant: &FlagGrant, run_context: &RunContext<'_>) -> (&'static str, &'static str, String) {
    match grant {
        FlagGrant::Path(grant) => {
            let table = match grant.flag {
                Flag::Read => "read",
                Flag::Write | Flag::WriteGuarded => "write",
                Flag::Exec => "exec",
                Flag::Socket => "network.socket",
            };
            (table, "path", quoted(&place(&grant.path, run_context)))
        }
        FlagGrant::Host(pattern) => ("network.host", "pattern", quoted(&pattern.to_string())),
        FlagGrant::Listen(port) => ("network.listen", "port", port.to_string()),
    }
}

/// `openat by /usr/bin/python3.11, 3 times`; for a directory, how much of it was used.
fn why(grant: &FlagGrant, wanted: &[Wanted]) -> String {
    const MAX: usize = 3;
    let of_it: Vec<&Wanted> = wanted.iter().filter(|wanted| grant.covers(&wanted.grant)).collect();
    let names = |names: BTreeSet<&String>| {
        let shown: Vec<&str> = names.iter().take(MAX).map(|name| name.as_str()).collect();
        let more = if names.len() > MAX { " and others" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let calls = names(of_it.iter().flat_map(|wanted| &wanted.used.calls).collect());
    let programs = names(of_it.iter().flat_map(|wanted| &wanted.used.programs).collect());
    let count: u64 = of_it.iter().map(|wanted| wanted.used.count).sum();
    let times = match count {
        1 => "once".to_string(),
        count => format!("{count} times"),
    };
    let places = match of_it.len() {
        0 | 1 => String::new(),
        many => format!(" in {many} places"),
    };
    visible(&format!("{calls} by {programs}, {times}{places}")).into_owned()
}

/// A basic string of TOML: JSON's escapes, and DEL, which JSON leaves as it is.
pub(super) fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json.replace('\u{7f}', "\\u007f")
}

fn list(texts: &[String]) -> String {
    if texts.is_empty() {
        return "[]".into();
    }
    let lines: String = texts.iter().map(|text| format!("    {},\n", quoted(text))).collect();
    format!("[\n{lines}]")
}

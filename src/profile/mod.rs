//! `stockade profile`: lists and shows profiles, and remarks on unwise rules; its submodules judge tests and
//! compare.
//!
//! Prints to the writer it is given and decides nothing.

mod diff;
mod foreseen;
mod idle;
mod new;
mod secrets;
mod task;
mod test;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use stockade_policy::profile::{
    Anchor, Catalog, Layer, Network, Pass, PathSpec, Profile, ProfileError, Remark, Rule, visible,
};

pub use diff::{compare, line};
pub use task::profile_task;

/// The reason that a profile couldn't be printed.
#[derive(Debug, thiserror::Error)]
pub enum PrintError {
    /// The profile couldn't be loaded.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The output couldn't be written.
    #[error("can't write the output")]
    Output(#[from] io::Error),
}

/// Prints every profile with its description, one a line; for an unusable one the reason.
pub fn list(catalog: &Catalog, is_json: bool, out: &mut dyn Write) -> io::Result<()> {
    let profiles = catalog.list();
    let width = profiles
        .iter()
        .map(|listed| visible(&listed.name).chars().count())
        .max()
        .unwrap_or(0);
    for listed in &profiles {
        let layer = match listed.layer {
            Layer::Shipped => "shipped",
            Layer::User => "user",
        };
        if is_json {
            let (name, description, problem) = (&listed.name, &listed.description, &listed.problem);
            let line = json!({ "name": name, "layer": layer, "description": description, "problem": problem });
            writeln!(out, "{line}")?;
            continue;
        }
        let name = visible(&listed.name);
        match &listed.problem {
            None => writeln!(out, "{name:width$}  {layer:7}  {}", visible(&listed.description))?,
            Some(problem) => {
                let first = problem.lines().next().unwrap_or_default();
                writeln!(out, "{name:width$}  {layer:7}  can't be used: {first}")?;
            }
        }
    }
    Ok(())
}

/// Prints a profile's rules, inherited ones included: one line a rule, with its reason and its origin. `place` is the root
/// and the home of a run, whose paths are absolute.
pub fn show(
    catalog: &Catalog,
    name: &str,
    place: Option<(&Path, &Path)>,
    is_json: bool,
    out: &mut dyn Write,
) -> Result<(), PrintError> {
    let profile = catalog.load(name)?;
    let path_text = |path: &PathSpec| match place {
        Some((root, home)) => path.resolve(root, home).to_string_lossy().into_owned(),
        None => path.to_string(),
    };
    let facts = facts(&profile, &path_text);
    if is_json {
        let (name, description) = (&profile.name, &profile.description);
        writeln!(
            out,
            "{:#}",
            json!({ "name": name, "description": description, "lines": facts })
        )?;
        return Ok(());
    }
    writeln!(out, "{}: {}", visible(&profile.name), visible(&profile.description))?;
    Ok(print(&facts, out)?)
}

/// Prints remarks on legal but unwise rules of a profile, and returns the number of remarks.
pub fn lint(remarks: &[Remark], is_json: bool, out: &mut dyn Write) -> io::Result<usize> {
    for Remark { origin, message, hint } in remarks {
        let origin = origin.to_string();
        match is_json {
            true => writeln!(out, "{}", json!({ "origin": origin, "message": message, "hint": hint }))?,
            false => writeln!(out, "{}: {}\n  hint: {hint}", visible(&origin), visible(message))?,
        }
    }
    Ok(remarks.len())
}

/// A rule or setting of a profile, or of a run.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub kind: &'static str,
    pub value: String,
    /// Of a rule.
    pub why: Option<String>,
    /// Of a rule.
    pub origin: Option<String>,
}

fn facts(profile: &Profile, path_text: &dyn Fn(&PathSpec) -> String) -> Vec<Fact> {
    let mut facts = Vec::new();
    if !profile.lineage.is_empty() {
        facts.push(setting("extends", &profile.lineage.join(", ")));
    }
    let grants = [
        ("read", &profile.read),
        ("write", &profile.write),
        ("exec", &profile.exec),
        ("socket", &profile.sockets),
    ];
    facts.extend(grants.into_iter().flat_map(|(kind, list)| rules(kind, list, path_text)));
    facts.extend(rules("deny", &profile.deny, &ToString::to_string));
    match &profile.network {
        Network::None => facts.push(setting("network", "none")),
        Network::Hosts(hosts) => facts.extend(rules("host", hosts, &ToString::to_string)),
        Network::All(all) => facts.extend(rules("network", std::slice::from_ref(all), &|()| "all".to_owned())),
    }
    if profile.llm {
        facts.push(setting("llm", "the hosts and keys of `models.toml`"));
    }
    facts.extend(rules("listen", &profile.listen, &ToString::to_string));
    facts.push(setting("environment", pass_text(profile.environment.pass)));
    facts.extend(rules("variable", &profile.environment.names, &ToString::to_string));
    facts.extend(rules("system-call", &profile.system_calls, &ToString::to_string));
    facts.push(setting("scratch", if profile.scratch { "yes" } else { "no" }));
    facts.push(setting("trace", trace_text(profile)));
    facts.push(setting("limits", &profile.limits));
    facts
}

/// Who judges reads.
fn trace_text(profile: &Profile) -> &'static str {
    let is_all =
        |rule: &Rule<PathSpec>| rule.value.anchor == Anchor::Absolute && rule.value.rest.as_os_str().is_empty();
    match profile.opened().any(is_all) {
        _ if !profile.native_reads => "exact: the supervisor judges all reads",
        true => "exact: `/` isn't looked through for secrets, so the supervisor judges all reads",
        false => "auto: the kernel reads by itself where nothing is closed, and the supervisor judges the rest",
    }
}

pub fn setting(kind: &'static str, value: &(impl Display + ?Sized)) -> Fact {
    Fact {
        kind,
        value: value.to_string(),
        why: None,
        origin: None,
    }
}

fn rules<T>(kind: &'static str, rules: &[Rule<T>], value_text: &dyn Fn(&T) -> String) -> Vec<Fact> {
    let fact = |rule: &Rule<T>| Fact {
        kind,
        value: value_text(&rule.value),
        why: Some(rule.why.clone().unwrap_or_else(|| "no reason given".into())),
        origin: Some(rule.origin.to_string()),
    };
    rules.iter().map(fact).collect()
}

/// Prints them in columns; neighbours of one kind are aligned.
pub fn print(facts: &[Fact], out: &mut dyn Write) -> io::Result<()> {
    for facts in facts.chunk_by(|a, b| a.kind == b.kind) {
        let values: Vec<_> = facts.iter().map(|fact| visible(&fact.value)).collect();
        let width = values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
        for (fact, value) in facts.iter().zip(&values) {
            write!(out, "  {:11}  {value}", fact.kind)?;
            if let Some(origin) = &fact.origin {
                let why = fact.why.iter().map(|why| format!("{} ", visible(why)));
                let (gap, why) = (width - value.chars().count(), why.collect::<String>());
                write!(out, "{:gap$}  {why}[{}]", "", visible(origin))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn pass_text(pass: Pass) -> &'static str {
    match pass {
        Pass::None => "none of the caller's",
        Pass::Limited => "a short list of the caller's",
        Pass::All => "the caller's, but what looks like a secret",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(print: impl FnOnce(&mut dyn Write) -> Result<(), PrintError>) -> String {
        let mut out = Vec::new();
        print(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn show_prints_each_rule_with_its_reason_and_its_origin() {
        let text = printed(|out| show(&Catalog::new(None), "workspace", None, false, out));
        insta::assert_snapshot!(text, @"
        workspace: Coding agents: reads, writes and starts programs of ./ and /tmp
          extends      filesystem
          read         ./  the files to process [profile `filesystem`, line 9]
          write        /tmp  results and intermediate files [profile `filesystem`, line 13]
          write        ./    the project that is worked on [profile `workspace`, line 9]
          exec         ./    the project's own scripts and tools [profile `filesystem`, line 17]
          exec         /tmp  programs that build tools make and start there [profile `filesystem`, line 21]
          network      none
          environment  none of the caller's
          scratch      yes
          trace        auto: the kernel reads by itself where nothing is closed, and the supervisor judges the rest
          limits       memory 8G, processes 4096, open-files 4096, file-size 4G
        ");
    }

    #[test]
    fn show_resolved_prints_absolute_paths() {
        let (root, home) = (Path::new("/srv/job"), Path::new("/home/ada"));
        let text = printed(|out| show(&Catalog::new(None), "readonly", Some((root, home)), false, out));
        assert!(
            text.contains("/srv/job/data  the data to analyse [profile `readonly`, line "),
            "{text}"
        );
    }

    #[test]
    fn list_prints_all_and_says_what_cannot_be_used() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("broken.toml"), "version = 2\n").unwrap();
        let catalog = Catalog::new(Some(dir.path().into()));
        let text = printed(|out| Ok(list(&catalog, false, out)?));
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(text.starts_with("minimal       shipped  Pure computation"), "{text}");
        assert!(text.contains("broken        user     can't be used: "), "{text}");
    }

    #[test]
    fn lint_counts_its_remarks() {
        let mut out = Vec::new();
        let profile = Catalog::new(None).load("network-api").unwrap();
        let count = lint(&stockade_policy::profile::lint(&profile), false, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(count, 1, "{text}");
        assert!(
            text.contains("`api.*` reaches any host that begins with `api.`"),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_profile_is_an_error_and_prints_nothing() {
        let mut out = Vec::new();
        assert!(matches!(
            show(&Catalog::new(None), "nothing-such", None, false, &mut out),
            Err(PrintError::Profile(ProfileError::Unknown { .. }))
        ));
        assert!(out.is_empty());
    }
}

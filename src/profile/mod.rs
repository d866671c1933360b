//! `stockade profile`: lists and shows profiles, and remarks on unwise rules; its submodules run tests and
//! comparisons.
//!
//! Prints to the writer it is given and decides nothing.

mod diff;
mod foreseen;
mod probe;
mod secrets;
mod stage;
mod task;
mod test;
mod trial;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use stockade::profile::{self, Anchor, Catalog, Layer, Network, Pass, PathSpec, Profile, ProfileError, Rule, visible};

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

/// Prints a profile's rules, inherited ones included: one line a rule, with its reason and its origin.
pub fn show(catalog: &Catalog, name: &str, out: &mut dyn Write) -> Result<(), PrintError> {
    let profile = catalog.load(name)?;
    Ok(print(&profile, &ToString::to_string, out)?)
}

/// Prints a profile's rules for a run with this root and this home: paths are absolute.
pub fn show_resolved(
    catalog: &Catalog,
    name: &str,
    root: &Path,
    home: &Path,
    out: &mut dyn Write,
) -> Result<(), PrintError> {
    let profile = catalog.load(name)?;
    let absolute = |path: &PathSpec| path.resolve(root, home).to_string_lossy().into_owned();
    Ok(print(&profile, &absolute, out)?)
}

/// Prints remarks on legal but unwise rules of a profile and returns the number of remarks.
pub fn lint(catalog: &Catalog, name: &str, out: &mut dyn Write) -> Result<usize, PrintError> {
    let profile = catalog.load(name)?;
    let remarks = profile::lint(&profile);
    for remark in &remarks {
        let origin = remark.origin.to_string();
        writeln!(out, "{}: {}\n  hint: {}", visible(&origin), remark.message, remark.hint)?;
    }
    Ok(remarks.len())
}

fn print(profile: &Profile, path_text: &dyn Fn(&PathSpec) -> String, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", visible(&profile.name), visible(&profile.description))?;
    if !profile.lineage.is_empty() {
        setting(out, "extends", &profile.lineage.join(", "))?;
    }
    let grants = [
        ("read", &profile.read),
        ("write", &profile.write),
        ("exec", &profile.exec),
        ("socket", &profile.sockets),
    ];
    for (label, list) in grants {
        rules(out, label, list, path_text)?;
    }
    rules(out, "deny", &profile.deny, &ToString::to_string)?;
    match &profile.network {
        Network::None => setting(out, "network", "none")?,
        Network::Hosts(hosts) => rules(out, "host", hosts, &ToString::to_string)?,
        Network::All(all) => rules(out, "network", std::slice::from_ref(all), &|()| "all".to_owned())?,
    }
    if profile.llm {
        setting(out, "llm", "the hosts and keys of `models.toml`")?;
    }
    rules(out, "listen", &profile.listen, &ToString::to_string)?;
    setting(out, "environment", pass_text(profile.environment.pass))?;
    rules(out, "variable", &profile.environment.names, &ToString::to_string)?;
    rules(out, "system-call", &profile.system_calls, &ToString::to_string)?;
    setting(out, "scratch", if profile.scratch { "yes" } else { "no" })?;
    setting(out, "trace", trace_text(profile))?;
    setting(out, "limits", &profile.limits)
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

fn setting(out: &mut dyn Write, label: &str, value: &(impl Display + ?Sized)) -> io::Result<()> {
    writeln!(out, "  {label:11}  {value}")
}

fn rules<T>(out: &mut dyn Write, label: &str, rules: &[Rule<T>], value_text: &dyn Fn(&T) -> String) -> io::Result<()> {
    let texts: Vec<String> = rules
        .iter()
        .map(|rule| visible(&value_text(&rule.value)).into_owned())
        .collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    for (rule, text) in rules.iter().zip(&texts) {
        let why = rule.why.as_deref().unwrap_or("no reason given");
        let origin = rule.origin.to_string();
        writeln!(
            out,
            "  {label:11}  {text:width$}  {} [{}]",
            visible(why),
            visible(&origin)
        )?;
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
        let text = printed(|out| show(&Catalog::new(None), "workspace", out));
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
        let text = printed(|out| show_resolved(&Catalog::new(None), "readonly", root, home, out));
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
        let count = lint(&Catalog::new(None), "network-api", &mut out).unwrap();
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
            show(&Catalog::new(None), "nothing-such", &mut out),
            Err(PrintError::Profile(ProfileError::Unknown { .. }))
        ));
        assert!(out.is_empty());
    }
}

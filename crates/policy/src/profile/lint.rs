//! Lints of profiles: remarks on lines that are legal but unwise.
//!
//! A remark never changes the meaning of a profile and never stops a run.

use super::code_variables::loads_code;
use super::host::{Host, HostPattern};
use super::rule::{Anchor, Glob, Origin, PathSpec, Rule};
use super::{Network, Profile, SHIPPED};
use stockade_text::visible::visible;

/// Trees of the runtime base, which every profile grants implicitly.
const BASE: [&str; 7] = ["usr", "lib", "lib64", "bin", "etc", "dev", "proc"];

/// A remark with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The line that it refers to.
    pub origin: Origin,
    /// The problem.
    pub message: String,
    /// The suggested remedy.
    pub hint: String,
}

/// Checks a profile, in the order of its fields. The lines of a shipped profile that it extends are none of its author's.
pub fn lint(profile: &Profile) -> Vec<Remark> {
    let mut remarks = Vec::new();
    whole_trees(profile, &mut remarks);
    writable_programs(profile, &mut remarks);
    literal_patterns(profile, &mut remarks);
    covered(profile, &mut remarks);
    idle_denials(profile, &mut remarks);
    wide_hosts(profile, &mut remarks);
    code_variables(profile, &mut remarks);
    missing_reasons(profile, &mut remarks);
    if !SHIPPED.iter().any(|(name, _)| *name == profile.name) {
        remarks.retain(|remark| !is_shipped(&remark.origin));
    }
    remarks
}

fn is_shipped(origin: &Origin) -> bool {
    matches!(origin, Origin::Shipped { .. })
}

impl Remark {
    fn about<T>(rule: &Rule<T>, message: String, hint: &str) -> Self {
        Remark {
            origin: rule.origin.clone(),
            message,
            hint: hint.to_owned(),
        }
    }
}

fn whole_trees(profile: &Profile, remarks: &mut Vec<Remark>) {
    for (verb, rules) in [("read", &profile.read), ("write", &profile.write)] {
        let whole = |path: &PathSpec| path.anchor != Anchor::Root && path.rest.as_os_str().is_empty();
        for rule in rules.iter().filter(|rule| whole(&rule.value)) {
            let message = format!("may {verb} every file below `{}` but secrets", text(&rule.value));
            remarks.push(Remark::about(rule, message, "name the directories that are needed"));
        }
    }
}

fn writable_programs(profile: &Profile, remarks: &mut Vec<Remark>) {
    for exec in &profile.exec {
        let writable = profile.write.iter().find(|write| overlap(&exec.value, &write.value));
        if let Some(write) = writable {
            let message = format!(
                "may write below `{}` and start programs below `{}`, so it may start what it wrote",
                text(&write.value),
                text(&exec.value)
            );
            let hint = "drop one of the two if the program needn't build or install anything";
            let rule = if is_shipped(&exec.origin) { write } else { exec };
            remarks.push(Remark::about(rule, message, hint));
        }
    }
}

fn literal_patterns(profile: &Profile, remarks: &mut Vec<Remark>) {
    for rule in profile
        .read
        .iter()
        .chain(&profile.write)
        .chain(&profile.exec)
        .chain(&profile.sockets)
    {
        if rule.value.rest.to_string_lossy().contains(['*', '?', '$']) {
            let message = format!(
                "`{}` is a path, not a pattern: `*`, `?` and `$` stand for themselves",
                text(&rule.value)
            );
            remarks.push(Remark::about(
                rule,
                message,
                "grant the directory, and deny what mustn't be reached in it",
            ));
        }
    }
}

/// Grants that another grant of the same document, or of one that it extends, already contains.
fn covered(profile: &Profile, remarks: &mut Vec<Remark>) {
    let lists = [
        (&profile.read, vec![&profile.read, &profile.write]),
        (&profile.write, vec![&profile.write]),
        (&profile.exec, vec![&profile.exec]),
    ];
    for (rules, wider_lists) in lists {
        for rule in rules {
            let wider = wider_lists.iter().copied().flatten().find(|wider| {
                !std::ptr::eq(*wider, rule)
                    && contains(&wider.value, &rule.value)
                    && inherits(profile, &rule.origin, &wider.origin)
                    && (wider.value != rule.value || precedes(&wider.origin, &rule.origin, profile))
            });
            if let Some(wider) = wider {
                let message = format!(
                    "`{}` is already granted by `{}` ({})",
                    text(&rule.value),
                    text(&wider.value),
                    wider.origin
                );
                remarks.push(Remark::about(rule, message, "drop this line"));
            }
        }
    }
}

fn idle_denials(profile: &Profile, remarks: &mut Vec<Remark>) {
    for rule in &profile.deny {
        let Glob(pattern) = &rule.value;
        let pattern = visible(pattern);
        if !meets_a_grant(profile, &rule.value) {
            let message = format!("`{pattern}` denies nothing: nothing there is granted");
            remarks.push(Remark::about(
                rule,
                message,
                "drop this line, or look for a misspelling",
            ));
        }
    }
}

fn wide_hosts(profile: &Profile, remarks: &mut Vec<Remark>) {
    let Network::Hosts(hosts) = &profile.network else {
        return;
    };
    for rule in hosts {
        if let Some((message, hint)) = wide_host(&rule.value) {
            remarks.push(Remark::about(rule, message, hint));
        }
    }
}

/// The problem of a wide host pattern, and a narrower form.
fn wide_host(pattern: &HostPattern) -> Option<(String, &'static str)> {
    /// More than sixteen million IPv4 addresses, or the IPv6 equivalent.
    const MAX_WIDTH: u8 = 8;
    match &pattern.host {
        Host::Any => Some(("`*` reaches every host".to_owned(), "say `all = true` if that is meant")),
        Host::Prefix(labels) => {
            let message = format!(
                "`{pattern}` reaches any host that begins with `{labels}.`, and anybody may register such a name"
            );
            Some((message, "name the hosts, as in `api.example.com`"))
        }
        Host::Subdomains(domain) if !domain.as_str().contains('.') => Some((
            format!("`{pattern}` reaches every host of a whole top-level domain"),
            "name the domain, as in `*.example.com`",
        )),
        Host::Network(range) if range.prefix_len() < MAX_WIDTH => Some((
            format!("`{pattern}` reaches a large part of all addresses"),
            "name the range that is needed, as in `10.0.0.0/8`",
        )),
        _ => None,
    }
}

fn code_variables(profile: &Profile, remarks: &mut Vec<Remark>) {
    for rule in &profile.environment.names {
        if loads_code(&rule.value) {
            let message = format!("`{}` tells a program which code to load", rule.value);
            remarks.push(Remark::about(
                rule,
                message,
                "drop it unless the program needs the caller's value",
            ));
        }
    }
}

fn missing_reasons(profile: &Profile, remarks: &mut Vec<Remark>) {
    let paths = profile
        .read
        .iter()
        .chain(&profile.write)
        .chain(&profile.exec)
        .chain(&profile.sockets);
    let mut silent: Vec<&Origin> = paths.filter_map(silent_origin).collect();
    silent.extend(profile.deny.iter().filter_map(silent_origin));
    silent.extend(profile.listen.iter().filter_map(silent_origin));
    silent.extend(profile.environment.names.iter().filter_map(silent_origin));
    silent.extend(profile.system_calls.iter().filter_map(silent_origin));
    match &profile.network {
        Network::None => {}
        Network::Hosts(hosts) => silent.extend(hosts.iter().filter_map(silent_origin)),
        Network::All(rule) => silent.extend(silent_origin(rule)),
    }
    for origin in silent {
        let message = "this line has no `why`".to_owned();
        let hint = "say what needs it: messages about the rule show the reason".to_owned();
        remarks.push(Remark {
            origin: origin.clone(),
            message,
            hint,
        });
    }
}

/// The origin of a rule that gives no reason.
fn silent_origin<T>(rule: &Rule<T>) -> Option<&Origin> {
    rule.why.is_none().then_some(&rule.origin)
}

fn text(path: &PathSpec) -> String {
    visible(&path.to_string()).into_owned()
}

/// Whether one tree contains the other for every root and home.
fn contains(outer: &PathSpec, inner: &PathSpec) -> bool {
    let everything = outer.anchor == Anchor::Absolute && outer.rest.as_os_str().is_empty();
    everything || (outer.anchor == inner.anchor && inner.rest.starts_with(&outer.rest))
}

fn overlap(one: &PathSpec, other: &PathSpec) -> bool {
    contains(one, other) || contains(other, one)
}

/// The distance of a rule's document in the lineage: 0 for the profile itself.
fn generation(profile: &Profile, origin: &Origin) -> usize {
    let name = match origin {
        Origin::Shipped { profile, .. } => Some(profile.as_str()),
        Origin::File { path, .. } => path.file_stem().and_then(|stem| stem.to_str()),
        _ => None,
    };
    profile
        .lineage
        .iter()
        .position(|ancestor| Some(ancestor.as_str()) == name)
        .map_or(0, |at| at + 1)
}

/// Whether a rule's document is or extends the one of `older`.
fn inherits(profile: &Profile, origin: &Origin, older: &Origin) -> bool {
    generation(profile, older) >= generation(profile, origin)
}

/// Whether the first of two equal rules precedes the second, so that only one of them gets a remark.
fn precedes(first: &Origin, second: &Origin, profile: &Profile) -> bool {
    let line = |origin: &Origin| match origin {
        Origin::Shipped { line, .. } | Origin::File { line, .. } => *line,
        _ => 0,
    };
    let generations = (generation(profile, first), generation(profile, second));
    generations.0 > generations.1 || (generations.0 == generations.1 && line(first) < line(second))
}

/// Whether a pattern may match a granted path; true if only the machine can tell.
fn meets_a_grant(profile: &Profile, Glob(pattern): &Glob) -> bool {
    let Some((anchor, fixed)) = fixed_part(pattern) else {
        return true;
    };
    let below = PathSpec {
        anchor,
        rest: fixed.into(),
    };
    let mut granted = profile
        .read
        .iter()
        .chain(&profile.write)
        .chain(&profile.exec)
        .map(|rule| &rule.value);
    let in_base = anchor == Anchor::Absolute
        && (below.rest.as_os_str().is_empty() || BASE.iter().any(|tree| below.rest.starts_with(tree)));
    in_base || granted.any(|grant| grant.anchor != anchor || overlap(grant, &below))
}

/// The anchor of a pattern and its components before the first wildcard; `None` if it applies anywhere.
fn fixed_part(pattern: &str) -> Option<(Anchor, String)> {
    let anchors = [("./", Anchor::Root), ("~/", Anchor::Home), ("/", Anchor::Absolute)];
    let (anchor, rest) = anchors
        .into_iter()
        .find_map(|(prefix, anchor)| Some((anchor, pattern.strip_prefix(prefix)?)))?;
    let fixed: Vec<&str> = rest
        .split('/')
        .take_while(|part| !part.contains(['*', '?', '[', '{', '\\']))
        .collect();
    Some((anchor, fixed.join("/")))
}

#[cfg(test)]
mod tests {
    use super::super::Catalog;
    use super::*;

    /// The remarks on a user's profile with these lines, as `line: message`.
    fn remarks(lines: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let head = "version = 1\nname = \"mine\"\ndescription = \"d\"\n";
        std::fs::write(dir.path().join("mine.toml"), format!("{head}{lines}")).unwrap();
        let profile = Catalog::new(Some(dir.path().into())).load("mine").unwrap();
        let line = |origin: &Origin| match origin {
            Origin::File { line, .. } => *line,
            other => panic!("{other}"),
        };
        lint(&profile)
            .iter()
            .map(|remark| format!("{}: {}", line(&remark.origin), remark.message))
            .collect()
    }

    #[test]
    fn a_modest_profile_is_not_remarked_on() {
        let lines = "[[read]]\npath = './data'\nwhy = 'w'\n[[deny]]\nglob = '**/x/**'\nwhy = 'w'\n";
        assert_eq!(remarks(lines), Vec::<String>::new());
    }

    #[test]
    fn wide_trees_and_hosts_are_remarked_on() {
        let found = remarks(
            "read = [{ path = '/', why = 'w' }]\nwrite = [{ path = '~', why = 'w' }]\n\
             network.host = [{ pattern = 'api.*', why = 'w' }, { pattern = '*.com:443', why = 'w' }, { pattern = '*', why = 'w' },\n\
             { pattern = '0.0.0.0/1', why = 'w' }]",
        );
        insta::assert_snapshot!(found.join("\n"), @"
        4: may read every file below `/` but secrets
        5: may write every file below `~/` but secrets
        6: `api.*` reaches any host that begins with `api.`, and anybody may register such a name
        6: `*.com:443` reaches every host of a whole top-level domain
        6: `*` reaches every host
        7: `0.0.0.0/1` reaches a large part of all addresses
        ");
    }

    #[test]
    fn starting_what_was_written_is_remarked_on() {
        let found = remarks("write = [{ path = './out', why = 'w' }]\nexec = [{ path = './', why = 'w' }]");
        assert_eq!(
            found,
            ["5: may write below `./out` and start programs below `./`, so it may start what it wrote"]
        );
    }

    #[test]
    fn the_lines_of_a_shipped_profile_are_not_its_childs_fault() {
        assert_eq!(remarks("extends = 'workspace'"), Vec::<String>::new());
        let found = remarks("extends = 'workspace'\nwrite = [{ path = '/tmp/x', why = 'w' }]");
        assert!(found.iter().any(|remark| remark.starts_with("5: ")), "{found:?}");
    }

    #[test]
    fn a_covered_grant_a_literal_star_and_a_missing_reason_are_remarked_on() {
        let found = remarks("read = [{ path = './', why = 'w' }, { path = './a', why = 'w' }, { path = '/x/*.py' }]");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].contains("`/x/*.py` is a path, not a pattern"));
        assert!(found[1].contains("`./a` is already granted by `./`"));
        assert!(found[2].contains("has no `why`"));
    }

    #[test]
    fn a_child_may_widen_what_it_inherits_but_needn_t_repeat_it() {
        assert!(
            remarks("extends = 'readonly'\nread = [{ path = './', why = 'w' }]").is_empty(),
            "the parent's narrower line isn't the child's fault"
        );
        let repeated = remarks("extends = 'readonly'\nread = [{ path = './data', why = 'w' }]");
        assert_eq!(repeated.len(), 1, "{repeated:?}");
        assert!(repeated[0].starts_with("5: "), "{repeated:?}");
    }

    #[test]
    fn denials_that_deny_nothing_are_remarked_on() {
        let found = remarks(
            "read = [{ path = './data', why = 'w' }]\n[[deny]]\nglob = './src/**'\nwhy = 'w'\n\
             [[deny]]\nglob = '**/private/'\nwhy = 'w'\n[[deny]]\nglob = './data/x*'\nwhy = 'w'\n\
             [[deny]]\nglob = '/etc/ssl/**'\nwhy = 'w'\n",
        );
        assert_eq!(found, ["6: `./src/**` denies nothing: nothing there is granted"]);
    }

    #[test]
    fn variables_that_load_code_are_remarked_on() {
        let found = remarks("[[environment.name]]\nname = 'NODE_OPTIONS'\nwhy = 'w'\n");
        assert_eq!(found, ["5: `NODE_OPTIONS` tells a program which code to load"]);
    }

    #[test]
    fn shipped_profiles_give_reasons_and_repeat_nothing() {
        for (name, _) in SHIPPED {
            for remark in lint(&Catalog::new(None).load(name).unwrap()) {
                assert!(!remark.message.contains("why"), "{name}: {}", remark.message);
                assert!(
                    !remark.message.contains("already granted"),
                    "{name}: {}",
                    remark.message
                );
            }
        }
    }
}

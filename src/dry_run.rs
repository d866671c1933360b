//! `stockade run --dry-run`: prints what a run would be granted, and from where. Starts, records and makes nothing.

use std::ffi::{OsStr, OsString};
use std::io::Write;

use super::acting::Acting;
use super::args::Run;
use super::ask::Ask;
use super::ledger::Ledger;
use super::message::Failure;
use super::profile::{Fact, print, setting};
use super::{REFUSED, run};
use stockade::Ready;
use stockade::internal::cache_variables;
use stockade_policy::policy::{Access, DenialKind, DenialRule, Grant, Mode, NetworkPolicy, Target};
use stockade_policy::profile::{Origin, Profile, visible};
use stockade_text::quote::command_line;

/// Prints it.
///
/// # Errors
/// Those of a run that is refused before its start.
pub fn show(task: &Run, out: &mut dyn Write) -> Result<u8, Failure> {
    run::send_messages(task)?;
    let task = Run {
        ask: Ask::Never,
        events: None,
        ..task.clone()
    };
    let acting = Acting::of_run(&task)?;
    let ledger = Ledger::open(&task)?;
    let report = task
        .report
        .as_deref()
        .filter(|report| !report.as_encoded_bytes().starts_with(b"fd:"));
    let report = report.map(std::path::absolute).transpose();
    let report = report.map_err(|error| Failure::new(REFUSED, &error))?;
    let ready = run::ready(&task, &acting, (None, &ledger), (&[], report.as_deref()))?;
    let profile = acting.sandbox()?.loaded_profile().clone();
    let command = command_line(&task.command);
    let written = writeln!(
        out,
        "`{}` would run under `{}` in `{}`; nothing was started",
        visible(&command),
        visible(&acting.profile),
        visible(&ready.policy.root.to_string_lossy())
    );
    let written = written.and_then(|()| print(&facts(&ready, &profile, &task), out));
    written.map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(0)
}

fn facts(ready: &Ready, profile: &Profile, task: &Run) -> Vec<Fact> {
    let policy = &ready.policy;
    let (base, mut grants): (Vec<_>, Vec<_>) = policy.grants.iter().partition(|grant| grant.origin == Origin::Base);
    grants.sort_by_key(|grant| (rank(grant.access), !grant.is_chosen()));
    let mut facts: Vec<_> = grants.into_iter().map(of_grant).collect();
    let programs = format!("{} programs, libraries and files of the system", base.len());
    facts.push(fact("base", &programs, None, &Origin::Base));
    facts.extend(
        policy
            .sockets
            .iter()
            .map(|socket| fact("socket", &socket.path.to_string_lossy(), None, &socket.origin)),
    );
    facts.extend(policy.denials.iter().filter_map(of_denial));
    facts.push(setting("deny", "secrets, and files that others obey, as ever"));
    match &policy.reach {
        NetworkPolicy::Nothing => facts.push(setting("network", "none")),
        NetworkPolicy::Hosts(hosts) => {
            facts.extend(
                hosts
                    .iter()
                    .map(|host| fact("host", &host.pattern.to_string(), None, &host.origin)),
            );
        }
        NetworkPolicy::Everything => facts.push(setting("network", "all")),
    }
    facts.extend(
        policy
            .listen
            .iter()
            .map(|listen| fact("listen", &listen.port.to_string(), None, &listen.origin)),
    );
    facts.extend(variables(ready, profile, task));
    facts.extend(policy.system_calls.iter().map(|call| setting("system-call", call)));
    if policy.mode != Mode::AcceptEdits {
        facts.push(setting("mode", policy.mode.name()));
    }
    facts.push(setting("scratch", if policy.scratch { "yes" } else { "no" }));
    facts.push(setting("cache", if ready.plan.cache.is_some() { "yes" } else { "no" }));
    facts.push(setting("limits", &policy.limits));
    let enforcement = &ready.report().enforcement;
    facts.extend(enforcement.read_natively.iter().map(|tree| setting("native", tree)));
    let supervised = enforcement.kept_exact.iter().chain(&enforcement.read_supervised);
    facts.extend(supervised.map(|why| setting("supervised", why)));
    facts.extend(enforcement.shortfalls.iter().map(|name| setting("shortfall", name)));
    facts
}

/// The kind of a grant, by the strongest access.
fn kind(access: Access) -> &'static str {
    match access {
        access if access.intersects(Access::CHANGE) => "write",
        access if access.contains(Access::EXECUTE) => "exec",
        _ => "read",
    }
}

/// Its place in the list.
fn rank(access: Access) -> usize {
    ["read", "write", "exec"]
        .iter()
        .position(|one| *one == kind(access))
        .unwrap_or_default()
}

fn of_grant(grant: &Grant) -> Fact {
    fact(
        kind(grant.access),
        &grant.path.to_string_lossy(),
        grant.why.clone(),
        &grant.origin,
    )
}

/// A denial of the profile or of a flag.
fn of_denial(denial: &DenialRule) -> Option<Fact> {
    let path = match &denial.target {
        Target::Path(path) => path.clone(),
        Target::Glob { below, glob } => below.join(glob),
        Target::GitDirectories | Target::Listed(_) | Target::AllBut { .. } => return None,
    };
    (denial.kind == DenialKind::Explicit).then(|| fact("deny", &path.to_string_lossy(), None, &denial.origin))
}

/// The names of variables: a value may be a secret.
fn variables(ready: &Ready, profile: &Profile, task: &Run) -> Vec<Fact> {
    let named = |name: &OsStr| {
        let is_it = |flag: &&OsString| run::split_variable(flag).0 == name;
        let flag = task
            .env
            .iter()
            .find(is_it)
            .map(|_| Origin::Flag(format!("--env {}", name.display())));
        let rule = || {
            profile
                .environment
                .names
                .iter()
                .find(|rule| name == rule.value.as_str())
        };
        flag.or_else(|| Some(rule()?.origin.clone()))
    };
    let (mut facts, mut callers, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for (name, value) in &ready.policy.environment {
        let text = name.to_string_lossy().into_owned();
        match named(name) {
            Some(origin) => facts.push(fact("variable", &text, None, &origin)),
            None if std::env::var_os(name).as_ref() == Some(value) => callers.push(text),
            None => own.push(text),
        }
    }
    let has_cache = ready.plan.cache.is_some();
    let cached = cache_variables().filter(|name| has_cache && !ready.policy.environment.contains_key(OsStr::new(name)));
    let cached = cached.map(String::from).collect();
    for (names, whose) in [
        (callers, "of the caller"),
        (own, "set for the run"),
        (cached, "of the run's cache"),
    ] {
        if !names.is_empty() {
            facts.push(setting("environment", &format!("{whose}: {}", names.join(", "))));
        }
    }
    facts
}

fn fact(kind: &'static str, value: &str, why: Option<String>, origin: &Origin) -> Fact {
    Fact {
        kind,
        value: value.to_owned(),
        why,
        origin: Some(origin.to_string()),
    }
}

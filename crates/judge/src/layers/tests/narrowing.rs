//! Guarantees of joining: an untrusted project only narrows, and a trusted one drops no denial.

use proptest::prelude::*;

use super::super::{Agent, Layers, Tool, Trust};
use super::{layers, without_project};
use stockade_policy::config::join::covers;
use stockade_policy::config::known;
use stockade_policy::policy::{Capabilities, Mode};
use stockade_policy::profile::Limits;

fn is_inside<T: PartialEq>(inner: &[T], outer: &[T]) -> bool {
    inner.iter().all(|value| outer.contains(value))
}

/// Asserts that `inner` can do nothing that `outer` can't.
fn assert_narrower(inner: &Agent, outer: &Agent) {
    assert!(inner.mode.unwrap() <= outer.mode.unwrap());
    assert_eq!(inner.profile, outer.profile);
    let all = Capabilities::all();
    let capabilities = |agent: &Agent| agent.capabilities.unwrap_or(all);
    assert!(capabilities(outer).contains(capabilities(inner)));
    if let Some(tools) = &outer.tools {
        let has = |inner: &String| tools.iter().any(|outer| known::declares(outer, inner));
        assert!(inner.tools.as_ref().unwrap().iter().all(has));
    }
    assert!(is_inside(&outer.scope.allowed, &inner.scope.allowed));
    assert!(is_inside(&outer.scope.denied, &inner.scope.denied));
    assert!(is_inside(&outer.scope.read_only, &inner.scope.read_only));
    if let Some(hosts) = &outer.hosts {
        let has = |inner| hosts.iter().any(|host| host.value.contains(inner));
        assert!(inner.hosts.as_ref().unwrap().iter().all(|host| has(&host.value)));
    }
    assert_eq!(Limits::meet(inner.limits, outer.limits), inner.limits);
}

fn assert_narrower_tool(inner: &Tool, outer: &Tool) {
    assert_eq!(inner.profile, outer.profile);
    let needs = |tool: &Tool| tool.capabilities.unwrap_or(Capabilities::empty());
    assert!(needs(inner).contains(needs(outer)));
    if let Some(commands) = &outer.commands {
        let has = |inner: &String| commands.iter().any(|outer| covers(outer, inner));
        assert!(inner.commands.as_ref().unwrap().iter().all(has));
    }
}

/// A random subset of these, as a TOML list.
fn some_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::subsequence(words, 0..=words.len()).prop_map(|words| format!("{words:?}"))
}

fn maybe(name: &'static str, value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::option::of(value).prop_map(move |value| value.map_or(String::new(), |value| format!("{name} = {value}\n")))
}

fn one_of(values: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(values).prop_map(ToString::to_string)
}

fn agent(name: &'static str, modes: &'static [&'static str]) -> impl Strategy<Value = String> {
    let globs = || some_of(&["src/**", "*.pem", "lib/**", "**"]);
    let head = (
        maybe("mode", one_of(modes)),
        maybe("profile", one_of(&["'minimal'", "'workspace'", "'trusted'"])),
        maybe("capabilities", some_of(&["READ", "WRITE", "LLM", "FILE_ALL", "NET"])),
        maybe(
            "tools",
            some_of(&["read", "filesystem", "write", "bash", "shell", "git"]),
        ),
        maybe(
            "hosts",
            some_of(&["*.a.org", "x.a.org", "10.0.0.0/8", "10.1.0.0/16:1-9", "*:443"]),
        ),
    );
    let scope = (
        maybe("allowed", globs()),
        maybe("denied", globs()),
        maybe("readOnly", globs()),
    );
    let limits = (
        maybe("time", one_of(&["1", "'2m'"])),
        maybe("memory", one_of(&["'1K'", "'1G'"])),
        maybe("processes", one_of(&["1", "9"])),
    );
    (head, scope, limits).prop_map(move |((a, b, c, d, e), (f, g, h), (i, j, k))| {
        format!("[agents.{name}]\n{a}{b}{c}{d}{e}[agents.{name}.scope]\n{f}{g}{h}[agents.{name}.limits]\n{i}{j}{k}")
    })
}

fn tool() -> impl Strategy<Value = String> {
    let fields = (
        maybe("profile", one_of(&["'minimal'", "'trusted'"])),
        maybe(
            "commands",
            some_of(&["git", "git status", "gitk", "cargo build", "cargo"]),
        ),
        maybe("capabilities", some_of(&["READ", "WRITE"])),
    );
    fields.prop_map(|(a, b, c)| format!("[tools.git]\n{a}{b}{c}"))
}

fn rules(list: &'static str) -> impl Strategy<Value = String> {
    let rule = one_of(&["tool = 'bash'\ncommand = 'git push'", "tool = 'read'", "tool = 'write'"]);
    prop::collection::vec(rule, 0..3).prop_map(move |rules| {
        let rules = rules.iter().map(|rule| format!("[[permissions.{list}]]\n{rule}\n"));
        rules.collect()
    })
}

/// A configuration with some of everything.
fn configuration(modes: &'static [&'static str]) -> impl Strategy<Value = String> {
    let agents = (
        prop::option::of(agent("worker", modes)),
        prop::option::of(agent("judge", modes)),
        prop::option::of(agent("mine", modes)),
    );
    (agents, prop::option::of(tool()), rules("allow"), rules("deny")).prop_map(|((a, b, c), tool, allow, deny)| {
        let parts = [a, b, c, tool, Some(allow), Some(deny)];
        parts.into_iter().flatten().collect()
    })
}

const OF_USERS: &[&str] = &["'manual'", "'accept-edits'", "'bypass'"];
const OF_PROJECTS: &[&str] = &["'manual'", "'accept-edits'"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_project_that_is_not_trusted_never_widens(
        user in configuration(OF_USERS), project in configuration(OF_PROJECTS), is_changed in any::<bool>(),
    ) {
        let trust = if is_changed { Trust::Changed } else { Trust::Untrusted };
        let (joined, own) = (layers(&user, &project, trust), without_project(&user));
        prop_assert_eq!(joined.agents().len(), own.agents().len());
        for (inner, outer) in joined.agents().iter().zip(&own.agents()) {
            prop_assert_eq!(&inner.name, &outer.name);
            assert_narrower(inner, outer);
        }
        prop_assert_eq!(joined.tools().len(), own.tools().len());
        for (inner, outer) in joined.tools().iter().zip(&own.tools()) {
            assert_narrower_tool(inner, outer);
        }
        prop_assert_eq!(&joined.permissions().allow, &own.permissions().allow);
        prop_assert!(is_inside(&own.permissions().deny, &joined.permissions().deny));
    }

    #[test]
    fn a_project_that_is_trusted_drops_no_denial_and_brings_no_bypass(
        user in configuration(OF_USERS), project in configuration(OF_PROJECTS),
    ) {
        let (joined, own) = (layers(&user, &project, Trust::Trusted), without_project(&user));
        prop_assert!(is_inside(&own.permissions().deny, &joined.permissions().deny));
        for outer in own.agents() {
            let inner = joined.agent(&outer.name).unwrap();
            prop_assert!(is_inside(&outer.scope.denied, &inner.scope.denied));
            prop_assert!(is_inside(&outer.scope.read_only, &inner.scope.read_only));
            prop_assert!(inner.mode != Some(Mode::Bypass) || outer.mode == Some(Mode::Bypass));
        }
    }

    /// A field that isn't shown as widening doesn't widen.
    #[test]
    fn trusting_a_project_that_widens_nothing_changes_nothing(
        user in configuration(OF_USERS), project in configuration(OF_PROJECTS),
    ) {
        let (trusted, untrusted) = (
            layers(&user, &project, Trust::Trusted),
            layers(&user, &project, Trust::Untrusted),
        );
        let same = |a: &Layers, b: &Layers| {
            let texts = |layers: &Layers| {
                let counting = layers.lines().into_iter().filter(|line| line.missing.is_none());
                counting.map(|line| line.text).collect::<Vec<_>>()
            };
            texts(a) == texts(b)
        };
        let widens = !untrusted.project().unwrap().widens.is_empty();
        prop_assert_eq!(!same(&trusted, &untrusted), widens);
    }
}

//! The joined layers and how they are displayed.

mod narrowing;
mod trust;

use super::project::{Project, hash, read};
use super::{Configuration, Layers, Trust};
use crate::examples::matches;
use stockade_policy::config::{Author, parse};
use stockade_policy::policy::{Capabilities, Mode};
use stockade_policy::profile::{Origin, Source};

/// Layers from two texts, without files.
pub(super) fn layers(user: &str, project: &str, trust: Trust) -> Layers {
    let source = |name: &str| Source::File(name.into());
    let user = parse(
        &format!("version = 1\n{user}"),
        &source("user.toml"),
        Author::User,
        Some(matches),
    )
    .unwrap_or_else(|faults| panic!("{faults:?}\n{user}"));
    let text = format!("version = 1\n{project}");
    let configuration = read(&text, &source("project.toml")).unwrap_or_else(|error| panic!("{error}\n{project}"));
    let mut layers = Layers::of(user);
    let widens = layers.widened_by(&configuration);
    layers.project = Some(Project {
        path: "project.toml".into(),
        hash: hash(text.as_bytes()),
        trust,
        widens,
        text,
        configuration,
    });
    layers
}

pub(super) fn without_project(user: &str) -> Layers {
    let text = format!("version = 1\n{user}");
    Layers::of(parse(&text, &Source::File("user.toml".into()), Author::User, Some(matches)).unwrap())
}

#[test]
fn four_agents_are_built_in_and_only_the_worker_edits_without_a_question() {
    let layers = without_project("");
    let told: Vec<String> = layers
        .agents()
        .iter()
        .map(|agent| {
            format!(
                "{} {} {}",
                agent.name,
                agent.mode.unwrap(),
                agent.profile.as_deref().unwrap()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "worker accept-edits workspace",
            "judge manual workspace",
            "planner manual workspace",
            "leader manual workspace",
            "mcp accept-edits workspace"
        ]
    );
    assert_eq!(layers.agent("stranger"), None);
    assert!(layers.tools().is_empty());
}

#[test]
fn the_user_says_what_the_built_in_agents_may() {
    let layers = without_project("[agents.worker]\nmode = 'bypass'\ncapabilities = ['READ']\n[agents.mine]\n");
    let worker = layers.agent("worker").unwrap();
    assert_eq!(worker.mode, Some(Mode::Bypass));
    assert_eq!(worker.profile.as_deref(), Some("workspace"));
    assert_eq!(worker.capabilities, Some(Capabilities::READ));
    // No mode is set, so each change asks.
    let mine = layers.agent("mine").unwrap();
    assert_eq!(
        (mine.mode, mine.profile.as_deref()),
        (Some(Mode::Manual), Some("workspace"))
    );
}

#[test]
fn an_agent_or_a_tool_that_only_an_untrusted_project_declares_is_not_there() {
    let project = "[agents.mine]\nmode = 'accept-edits'\n[tools.git]\ncommands = ['git']\n[tools.bare]\n";
    let untrusted = layers("", project, Trust::Untrusted);
    assert_eq!((untrusted.agent("mine"), untrusted.tool("git")), (None, None));
    let trusted = layers("", project, Trust::Trusted);
    assert_eq!(trusted.agent("mine").unwrap().mode, Some(Mode::AcceptEdits));
    assert_eq!(trusted.tools().len(), 2);
}

#[test]
fn a_project_without_anything_to_allow_needs_no_trust() {
    let project = "[[permissions.deny]]\ntool = 'bash'\n[agents.worker]\nmode = 'manual'\ntools = ['read']\n\
                   [agents.worker.scope]\nallowed = ['src/**']\n";
    let layers = layers("", project, Trust::Untrusted);
    assert!(layers.remarks().is_empty(), "{:?}", layers.remarks());
    let worker = layers.agent("worker").unwrap();
    assert_eq!((worker.mode, worker.scope.allowed.len()), (Some(Mode::Manual), 1));
}

#[test]
fn lines_say_where_they_come_from_and_why_they_do_not_count() {
    let user = "on_violation = ['notify', 'a\"b']\n[[permissions.deny]]\ntool = 'bash'\ncommand = 'rm'\n\
                [agents.judge.scope]\ndenied = ['*.pem']\n";
    let project = "[[permissions.allow]]\ntool = 'bash'\ncommand = 'git push'\n\
                   [agents.judge]\nmode = 'accept-edits'\n[agents.judge.scope]\nread_only = ['dist/**']\n\
                   [agents.worker]\nmode = 'manual'\n[tools.'my-tool']\n";
    let layers = layers(user, project, Trust::Untrusted);
    let lines: Vec<String> = layers
        .lines()
        .iter()
        .filter(|line| {
            !["planner", "leader", "mcp"]
                .iter()
                .any(|agent| line.text.contains(agent))
        })
        .filter(|line| line.origins != [Origin::BuiltIn] || !line.text.starts_with("permissions"))
        .map(|line| {
            let origins: Vec<String> = line.origins.iter().map(ToString::to_string).collect();
            let missing = if line.missing.is_some() { "not trusted: " } else { "" };
            format!("{missing}{}  # {}", line.text, origins.join(", "))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
        on_violation = ["notify", "a\"b"]  # user.toml:2
        permissions.deny = { tool = "bash", command = "rm" }  # user.toml:4
        agents.worker.mode = "manual"  # built in, project.toml:10
        agents.worker.profile = "workspace"  # built in
        agents.judge.mode = "manual"  # built in
        agents.judge.profile = "workspace"  # built in
        agents.judge.scope.denied = ["**/*.pem"]  # user.toml:7
        agents.judge.scope.read_only = ["./dist/**"]  # project.toml:8
        not trusted: permissions.allow = { tool = "bash", command = "git push" }  # project.toml:3
        not trusted: agents.judge.mode = "accept-edits"  # project.toml:6
        not trusted: tools.my-tool = {}  # project.toml:11
        "#);
}

#[test]
fn what_changed_is_told_against_what_was_trusted_before() {
    let rule = |command: &str| format!("[[permissions.allow]]\ntool = 'bash'\ncommand = '{command}'\n");
    let mut layers = layers("", &(rule("ls") + &rule("rm")), Trust::Changed);
    layers.before = Some(format!("version = 1\n{}{}", rule("ls"), rule("cat")));
    let widening = layers.widening();
    let texts = |lines: &[super::Line]| lines.iter().map(|line| line.text.clone()).collect::<Vec<_>>();
    assert_eq!(
        texts(&widening.added),
        ["permissions.allow = { tool = \"bash\", command = \"rm\" }"]
    );
    assert_eq!(
        texts(&widening.dropped),
        ["permissions.allow = { tool = \"bash\", command = \"cat\" }"]
    );
    layers.before = None;
    assert_eq!(layers.widening().added.len(), 2);
}

#[test]
fn what_was_denied_or_narrowed_and_is_no_longer_is_told_too() {
    let mut layers = layers("", "", Trust::Changed);
    layers.before = Some(
        "version = 1\n[[permissions.deny]]\ntool = 'bash'\ncommand = 'cat'\n[agents.worker]\ncapabilities = ['READ']\n"
            .into(),
    );
    let widening = layers.widening();
    let texts: Vec<_> = widening.lifted.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "permissions.deny = { tool = \"bash\", command = \"cat\" }",
            "agents.worker.capabilities = [\"READ\"]"
        ]
    );
    assert!(layers.remarks()[0].contains("may deny less"), "{:?}", layers.remarks());
}

/// A field that a project can't set even when trusted is a fault, so that it isn't trusted by mistake.
#[test]
fn a_project_sets_no_bypass_and_no_program_that_is_run() {
    let fault = |text: &str| read(&format!("version = 1\n{text}"), &Source::File("c.toml".into())).unwrap_err();
    insta::assert_snapshot!(fault("[agents.worker]\nmode = 'bypass'\n"), @"
        c.toml:3:8: a project can't set the mode `bypass`, trusted or not
          hint: write `manual` or `accept-edits`; who wants `bypass` says so on the command line or in the user's configuration
        ");
    insta::assert_snapshot!(fault("on_violation = 'rm -rf /'\n"), @"
        c.toml:2:16: a project can't set `on_violation`, which runs outside any sandbox
          hint: it belongs into your own configuration, `~/.config/stockade/config.toml`
        ");
    insta::assert_snapshot!(fault("[agents.worker]\nmode = 'bypassPermissions'\n"), @"
        c.toml:3:8: a project can't set the mode `bypass`, trusted or not
          hint: write `manual` or `accept-edits`; who wants `bypass` says so on the command line or in the user's configuration
        ");
}

#[test]
fn every_fault_has_its_place_and_what_was_meant() {
    let faults = |text: &str| {
        let text = format!("version = 1\n{text}");
        let faults = parse(&text, &Source::File("c.toml".into()), Author::User, Some(matches)).expect_err("faults");
        let told = faults.iter().map(|fault| match &fault.hint {
            Some(hint) => format!("{fault} ({hint})"),
            None => fault.to_string(),
        });
        told.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(faults("[agent.x]\n"), @"c.toml:2:2: the configuration has no field `agent` (did you mean `agents`?)");
    insta::assert_snapshot!(
        faults("[agents.x]\nmod = 'manual'\ncapabilities = ['RED']\ntools = 'bash'\nprofile = './p.toml'\n"), @"
        c.toml:3:1: an agent has no field `mod` (did you mean `mode`?)
        c.toml:4:17: `RED` isn't a capability: they are READ, WRITE, DELETE, EXECUTE, SPAWN, LLM and NET
        c.toml:5:9: expected an array of strings, found a string
        c.toml:6:11: `./p.toml` can't be the name of a profile (a name has small letters, digits, `-` and `_`, starts with a letter or a digit, and has at most 64 of them)
        ");
    insta::assert_snapshot!(
        faults("[agents.x.scope]\nallow = []\ndenied = ['../x']\n[agents.x]\nhosts = ['http://x']\nmode = 'auto'\n"), @"
        c.toml:3:1: `scope` has no field `allow` (the fields are `allowed`, `denied` and `read_only`)
        c.toml:4:11: the pattern `./../x` contains `..`; write the place that it means
        c.toml:6:10: `http://x` is a URL, not a host (write the host alone, without `http://` and path: `x`)
        c.toml:7:8: a mode is `manual`, `accept-edits` or `bypass`
        ");
    insta::assert_snapshot!(faults("[tools.x]\ncommands = ['a b c']\n[tools.'a b']\n[agents.\"a\\u001b\"]\n"), @r"
        c.toml:3:13: the command `a b c` has 3 words (write the first one or two words, or a `command_glob` for more)
        c.toml:4:8: `a b` isn't the name of a tool: it has blanks
        c.toml:5:9: `a\u{1b}` can't be a name (a name has 1 to 100 characters, none of them a control or invisible character)
        ");
    insta::assert_snapshot!(faults("[agents.x.limits]\ntime = 'soon'\n[agents]\ny = 1\n"), @"
        c.toml:3:8: `soon` isn't a duration: write a whole number with `ms`, `s`, `m` or `h`, as in `30s` or `2h`; without a unit it is seconds
        c.toml:5:5: expected a table, found an integer (write `[agents.y]` with its fields below)
        ");
}

impl Layers {
    fn of(user: Configuration) -> Layers {
        Layers {
            built_in: stockade_policy::config::join::built_in().into(),
            user,
            project: None,
            before: None,
            gone: None,
            unusable: None,
        }
    }
}

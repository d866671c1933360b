//! Agents' lists of tools, capabilities, modes, and tools that take command lines.

use super::Decision::{Allow, Confirm, Deny};
use super::*;
use stockade_policy::config::{Agent, Tool};
use stockade_policy::policy::{Capabilities, Mode, Scope};
use stockade_policy::profile::Limits;

fn agent(tools: Option<&[&str]>, capabilities: Option<Capabilities>) -> Agent {
    Agent {
        name: "judge".into(),
        mode: None,
        profile: None,
        capabilities,
        tools: tools.map(|tools| tools.iter().map(ToString::to_string).collect()),
        scope: Scope::WHOLE,
        hosts: None,
        limits: Limits::NONE,
        origin: Origin::BuiltIn,
    }
}

fn git(capabilities: Option<Capabilities>) -> Tool {
    Tool {
        name: "git".into(),
        profile: None,
        commands: Some(vec!["git status".into(), "git commit".into()]),
        capabilities,
        origin: Origin::BuiltIn,
    }
}

fn of_git(text: &str) -> Call {
    Call {
        tool: "git".into(),
        ..line(text)
    }
}

fn asked(judge: &Judge, agent: &Agent, call: &Call) -> Answer {
    judge.tool(Some(agent), call, Path::new("/"))
}

#[test]
fn an_agent_gets_only_the_tools_that_it_declares() {
    let judge = judge(&["+bash", "+write"]);
    let reader = agent(Some(&["read", "grep"]), None);
    assert_eq!(asked(&judge, &reader, &call("read")).decision, Allow);
    for call in [call("write"), line("ls"), call("todo_read")] {
        let answer = asked(&judge, &reader, &call);
        assert_eq!(answer.decision, Deny);
        let denied = format!(
            "CapabilityDenied: the agent `judge` doesn't declare the tool `{}`",
            call.tool
        );
        assert_eq!(answer.reason, denied);
    }
    assert_eq!(asked(&judge, &agent(Some(&[]), None), &call("read")).decision, Deny);
    let unknown = asked(&judge, &reader, &call("knob"));
    assert_eq!(
        unknown.reason,
        "Stockade doesn't know the tool `knob`; a rule can allow it"
    );
}

#[test]
fn a_group_stands_for_its_tools() {
    let judge = judge(&[]);
    let filesystem = agent(Some(&["filesystem"]), None);
    let shell = agent(Some(&["shell"]), None);
    assert_eq!(asked(&judge, &filesystem, &call("read")).decision, Allow);
    assert_eq!(asked(&judge, &filesystem, &call("write")).decision, Confirm);
    assert_eq!(asked(&judge, &filesystem, &line("ls")).decision, Deny);
    assert_eq!(asked(&judge, &shell, &line("ls")).decision, Allow);
    assert_eq!(asked(&judge, &shell, &call("read")).decision, Deny);
}

#[test]
fn a_missing_capability_is_named_whatever_the_rules_say() {
    let judge = judge(&["+write", "+bash", "+task", "+llm", "+web_fetch", "+delete"]);
    let reader = agent(None, Some(Capabilities::READ));
    for (call, needs) in [
        (call("write"), "WRITE"),
        (call("edit"), "WRITE"),
        (call("delete"), "DELETE"),
        (call("move"), "WRITE, DELETE"),
        (line("ls"), "EXECUTE, SPAWN"),
        (call("task"), "SPAWN"),
        (call("llm"), "LLM"),
        (call("web_fetch"), "NET"),
    ] {
        let answer = asked(&judge, &reader, &call);
        assert_eq!(answer.decision, Deny);
        assert_eq!(answer.reason, format!("permission denied: {needs} capability required"));
    }
    let error = asked(&judge, &reader, &call("write")).tool_error().unwrap();
    assert_eq!(error.content, "Permission denied: WRITE capability required");
    assert_eq!(asked(&judge, &reader, &call("read")).decision, Allow);
    assert_eq!(
        asked(&judge, &agent(None, Some(Capabilities::empty())), &call("read")).decision,
        Deny
    );
}

#[test]
fn in_manual_mode_each_change_asks() {
    let judge = judge(&["+write", "+remove"]);
    let manual = Agent {
        mode: Some(Mode::Manual),
        ..agent(None, None)
    };
    for tool in ["write", "remove"] {
        assert_eq!(asked(&judge, &agent(None, None), &call(tool)).decision, Allow);
        let answer = asked(&judge, &manual, &call(tool));
        assert_eq!((answer.decision, answer.remember), (Confirm, Vec::new()));
    }
    assert_eq!(asked(&judge, &manual, &call("read")).decision, Allow);
}

#[test]
fn a_tool_with_commands_runs_these_alone() {
    let decides = |rules: &[&str], text: &str, decision| {
        let judge = Judge::new(permissions(rules), vec![git(None)], Path::new("/"));
        let answer = answer(&judge, &of_git(text));
        assert_eq!(answer.decision, decision, "{rules:?} {text}: {answer:?}");
        answer
    };
    decides(&[], "git status", Allow);
    decides(&[], "git commit -m x", Confirm);
    decides(&["+bash:git commit"], "git commit -m x", Allow);
    decides(&["+git"], "git commit -m x", Allow);
    for text in [
        "git push",
        "ls",
        "git status | head",
        "git status; rm x",
        "git status $(rm x)",
        "cd /",
    ] {
        decides(&["+git", "+bash"], text, Deny);
    }
    let foreign = decides(&["+git"], "git push", Deny);
    assert_eq!(
        foreign.reason,
        "the tool `git` may run `git status`, `git commit` alone, and `git push` isn't one of them"
    );
    decides(&["+git", "-bash:git commit"], "git commit -m x", Deny);
    decides(&["-git"], "git status", Deny);
    let judge = Judge::new(permissions(&["+git"]), vec![git(None)], Path::new("/"));
    assert_eq!(answer(&judge, &call("git")).decision, Deny);
}

#[test]
fn a_known_tool_that_is_declared_with_commands_runs_these_alone_too() {
    let tool = Tool {
        name: "write".into(),
        ..git(None)
    };
    let judge = Judge::new(permissions(&["+write", "+bash"]), vec![tool], Path::new("/"));
    let asks = |text: &str| {
        let call = Call {
            tool: "write".into(),
            ..of_git(text)
        };
        answer(&judge, &call).decision
    };
    assert_eq!(asks("git status"), Allow);
    assert_eq!(asks("rm -rf x"), Deny);
}

#[test]
fn a_tool_needs_what_its_declaration_says() {
    let needing = |capabilities| Judge::new(permissions(&["+git"]), vec![git(capabilities)], Path::new("/"));
    let reader = agent(
        None,
        Some(Capabilities::READ | Capabilities::EXECUTE | Capabilities::SPAWN),
    );
    assert_eq!(asked(&needing(None), &reader, &of_git("git status")).decision, Allow);
    let denied = asked(&needing(Some(Capabilities::WRITE)), &reader, &of_git("git status"));
    assert_eq!(denied.reason, "permission denied: WRITE capability required");
    let none = agent(None, Some(Capabilities::READ));
    assert_eq!(asked(&needing(None), &none, &of_git("git status")).decision, Deny);
}

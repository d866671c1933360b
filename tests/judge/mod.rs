//! The corpora of command lines, through the whole decision: no hostile line is allowed, no ordinary one asks.

use stockade_judge::{Answer, Call, Decision, Judge, Permissions, SHELL, permissions_of};

const HOSTILE: &str = include_str!("hostile.txt");
const ORDINARY: &str = include_str!("ordinary.txt");

/// The lines of a corpus: one that begins with `"` is a JSON string.
fn lines(corpus: &str) -> Vec<String> {
    let lines = corpus.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.starts_with('"') {
            true => serde_json::from_str(line).unwrap_or_else(|_| line.to_string()),
            false => line.to_string(),
        })
        .collect()
}

fn usual() -> Permissions {
    let file = crate::common::checkout().join("tests/judge/usual.toml");
    permissions_of(&file).unwrap_or_else(|error| panic!("{error}"))
}

fn answers(permissions: Permissions, corpus: &str) -> Vec<(String, Answer)> {
    // Its directories are those that the ordinary lines go to.
    let root = tempfile::tempdir().unwrap();
    for directory in [
        "src", "tests", "docs", "frontend", "backend", "crates", "packages", "build", "target",
    ] {
        std::fs::create_dir(root.path().join(directory)).unwrap();
    }
    let judge = Judge::new(permissions, Vec::new(), root.path());
    let answer = |line: String| {
        let call = Call {
            tool: SHELL.into(),
            command: Some(line.clone()),
            skill_name: None,
        };
        (line, judge.tool(None, &call, root.path()))
    };
    lines(corpus).into_iter().map(answer).collect()
}

/// The lines whose answer isn't as it should be, with the reason.
fn wrong(permissions: Permissions, corpus: &str, is_right: fn(Decision) -> bool) -> Vec<String> {
    let answers = answers(permissions, corpus);
    assert!(answers.len() >= 200, "{} lines", answers.len());
    let wrong = answers.iter().filter(|(_, answer)| !is_right(answer.decision));
    wrong
        .map(|(line, answer)| {
            format!(
                "{line:?}: {} {}",
                answer.reason,
                answer.matched.as_deref().unwrap_or("")
            )
        })
        .collect()
}

// promise: agents.1
#[test]
fn no_hostile_line_is_allowed_by_built_in_and_usual_rules() {
    let wrong = wrong(usual(), HOSTILE, |decision| decision != Decision::Allow);
    assert!(wrong.is_empty(), "{} allowed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_ordinary_line_asks_under_built_in_and_usual_rules() {
    let wrong = wrong(usual(), ORDINARY, |decision| decision == Decision::Allow);
    assert!(wrong.is_empty(), "{} ask:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_hostile_line_is_allowed_by_no_glob_that_is_anything() {
    // Even where a person allows every command by `*`, what hides or does more asks.
    let mut permissions = usual();
    let mut any = permissions.allow[0].clone();
    (any.command, any.command_glob) = (None, Some("*".into()));
    permissions.allow = vec![any];
    let allowed = wrong(permissions, HOSTILE, |decision| decision != Decision::Allow);
    // What is left are plain commands with nothing but operands, which `*` means.
    for line in &allowed {
        let line = line.split("\": ").next().unwrap_or_default();
        let hides = ["$(", "`", "sudo", "-exec", "<<", "--pre"]
            .iter()
            .any(|hidden| line.contains(hidden));
        assert!(!hides, "{line}");
    }
}

//! A deny rule for a tool denies it, by the agent's own name as by each name that it is judged by.

use super::place::{call, command, place, said};
use crate::common::{Place, STOCKADE};

/// Calls that no rule denies, with the answer then.
const CALLS: [(&str, &str, &str); 22] = [
    ("Bash", r#"{"command": "ls"}"#, "allow"),
    ("Monitor", r#"{"command": "ls"}"#, "allow"),
    ("Read", r#"{"file_path": "a.txt"}"#, "allow"),
    ("Write", r#"{"file_path": "a.txt"}"#, "allow"),
    ("Edit", r#"{"file_path": "a.txt"}"#, "allow"),
    ("MultiEdit", r#"{"file_path": "a.txt"}"#, "allow"),
    ("NotebookEdit", r#"{"notebook_path": "a.ipynb"}"#, "allow"),
    ("Glob", r#"{"pattern": "*.rs"}"#, "allow"),
    ("Grep", r#"{"pattern": "x"}"#, "allow"),
    ("LS", r#"{"path": "sub"}"#, "allow"),
    ("WebFetch", r#"{"url": "https://docs.example.com/"}"#, "allow"),
    ("WebSearch", r#"{"query": "x"}"#, "ask"),
    ("Skill", r#"{"skill": "x"}"#, "ask"),
    ("Task", "{}", "pass"),
    ("Agent", "{}", "pass"),
    ("TodoWrite", "{}", "pass"),
    ("TodoRead", "{}", "pass"),
    ("BashOutput", "{}", "pass"),
    ("KillShell", "{}", "pass"),
    ("ExitPlanMode", "{}", "pass"),
    ("AskUserQuestion", "{}", "pass"),
    ("mcp__time__now", "{}", "ask"),
];

fn rules(place: &Place, list: &str, tool: &str) {
    let text = format!("version = 1\n\n[[permissions.{list}]]\ntool = \"{tool}\"\n");
    place.file("~/.config/stockade/config.toml", &text);
}

fn answer(place: &Place, tool: &str, input: &str) -> String {
    let cwd = place.root.to_str().unwrap();
    let event =
        format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input},"cwd":"{cwd}"}}"#);
    let words = ["claude-code", "--host", "docs.example.com"];
    said("claude-code", &call(place, &words, event.as_bytes()))
}

#[test]
fn a_rule_by_the_agents_own_name_denies_that_tool() {
    let place = place();
    for (tool, input, usual) in CALLS {
        rules(&place, "deny", "other_tool");
        assert_eq!(answer(&place, tool, input), usual, "{tool}");
        rules(&place, "deny", tool);
        assert_eq!(answer(&place, tool, input), "deny", "{tool}");
    }
    rules(&place, "allow", "WebSearch");
    assert_eq!(answer(&place, "WebSearch", "{}"), "allow");
}

#[test]
fn a_rule_by_our_name_denies_each_tool_that_is_judged_by_it() {
    let place = place();
    for (rule, denied) in [
        ("bash", &["Bash", "Monitor"][..]),
        ("edit", &["Edit", "MultiEdit", "NotebookEdit"]),
        ("multi_edit", &["MultiEdit"]),
        ("glob", &["Glob"]),
        ("glob_search", &["Glob"]),
        ("list", &["LS"]),
        ("agent", &["Task", "Agent"]),
        ("task", &["Task", "Agent"]),
        ("web_search", &["WebSearch"]),
        ("skill_load", &["Skill"]),
        ("NotebookEdit", &["NotebookEdit"]),
    ] {
        rules(&place, "deny", rule);
        for (tool, input, usual) in CALLS {
            let expected = if denied.contains(&tool) { "deny" } else { usual };
            assert_eq!(answer(&place, tool, input), expected, "{rule}: {tool}");
            let checked = command(&place, STOCKADE.path().as_ref())
                .args(["check", "--tool", tool])
                .output()
                .unwrap();
            let is_denied = String::from_utf8_lossy(&checked.stdout).contains("a rule denies it");
            assert_eq!(is_denied, denied.contains(&tool), "{rule}: {tool}: {checked:?}");
        }
    }
}

#[test]
fn check_answers_as_the_hook_does() {
    let place = place();
    let check = |tool: &str, input: &str| {
        let mut command = command(&place, STOCKADE.path().as_ref());
        command.args(["check", "--tool", tool, "--", input]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for (tool, field, input) in [
        ("Edit", "file_path", "a.txt"),
        ("Write", "file_path", "new.txt"),
        ("Write", "file_path", "/etc/new"),
        ("MultiEdit", "file_path", ".git/config"),
        ("NotebookEdit", "notebook_path", "a.ipynb"),
        ("Read", "file_path", ".env"),
        ("LS", "path", "sub"),
        ("Glob", "pattern", "**/.env"),
        ("Glob", "pattern", "*.rs"),
        ("WebFetch", "url", "https://other.example.com/"),
        ("mcp__time__now", "zone", "UTC"),
        ("WebSearch", "query", "what"),
    ] {
        let expected = match answer(&place, tool, &format!("{{\"{field}\": \"{input}\"}}")).as_str() {
            "ask" => "confirm".to_string(),
            answer => answer.to_string(),
        };
        let checked = check(tool, input);
        assert!(
            checked.starts_with(&format!("{expected}: ")),
            "{tool} {input}: {checked}"
        );
    }
    let asked = check("mcp__time__now", "UTC");
    assert!(asked.contains("question: Run tool? mcp__time__now: UTC"), "{asked}");
}

#[test]
fn a_name_that_seems_misspelt_is_told() {
    let place = place();
    let told = |tool: &str| {
        rules(&place, "deny", tool);
        let mut command = command(&place, STOCKADE.path().as_ref());
        String::from_utf8(command.args(["rules", "list"]).output().unwrap().stderr).unwrap()
    };
    assert!(told("Wrte").contains("no tool is known as `Wrte`"), "{}", told("Wrte"));
    assert!(
        told("Wrte").contains("config.toml:4); did you mean `Write`?"),
        "{}",
        told("Wrte")
    );
    for known in ["Write", "MultiEdit", "run_shell_command", "mcp__a__wrte", "order_pizza"] {
        assert_eq!(told(known), "", "{known}");
    }
}

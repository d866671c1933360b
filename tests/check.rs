//! `stockade check`, as it is called: answers, exit codes, batches, and what the trail keeps.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{STOCKADE, faults};
use serde_json::{Value, json};

/// A root with a configuration and a state of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(place.path().join("config/stockade")).unwrap();
        std::fs::create_dir(place.path().join("root")).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(STOCKADE);
        command
            .args(words)
            .current_dir(self.path().join("root"))
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env_remove("CDPATH");
        command
    }

    fn check(&self, words: &[&str]) -> Output {
        let words: Vec<&str> = std::iter::once("check").chain(words.iter().copied()).collect();
        self.command(&words).output().unwrap()
    }

    /// The exit code and the answer.
    fn answer(&self, words: &[&str]) -> (i32, Value) {
        let words: Vec<&str> = std::iter::once("--json").chain(words.iter().copied()).collect();
        let output = self.check(&words);
        assert_eq!(text(&output.stderr), "");
        (
            output.status.code().unwrap(),
            serde_json::from_slice(&output.stdout).unwrap(),
        )
    }

    /// The answers of a batch in which each line has one.
    fn batch(&self, words: &[&str], input: &[u8]) -> Vec<Value> {
        let (exit, answers) = self.batch_and_exit(words, input);
        assert_eq!(exit, 0);
        answers
    }

    fn batch_and_exit(&self, words: &[&str], input: &[u8]) -> (i32, Vec<Value>) {
        let words: Vec<&str> = ["check", "--batch"].iter().chain(words).copied().collect();
        let mut child = self
            .command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let lines = text(&output.stdout);
        let answers = lines.lines().map(|line| serde_json::from_str(line).unwrap());
        (output.status.code().unwrap(), answers.collect())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const RULES: &str = "version = 1\n[[permissions.allow]]\ntool = 'bash'\ncommand = 'cargo build'\n\
                     [[permissions.deny]]\ntool = 'bash'\ncommand = 'rm'\n";

#[test]
fn the_exit_code_is_the_decision() {
    let place = Place::new();
    let rules = place.write("rules.toml", RULES);
    for (line, code, decision) in [
        ("git status | head", 0, "allow"),
        ("cargo build", 0, "allow"),
        ("make", 3, "confirm"),
        ("rm x", 1, "deny"),
        ("make $(rm x)", 1, "deny"),
    ] {
        let (exit, answer) = place.answer(&["--tool", "bash", "--rules", &rules, "--", line]);
        assert_eq!(
            (exit, answer["decision"].as_str()),
            (code, Some(decision)),
            "{line}: {answer}"
        );
    }
    let (exit, answer) = place.answer(&["--no-ask", "--tool", "bash", "--", "make", "a b"]);
    assert_eq!(exit, 1);
    assert_eq!(
        answer["reason"],
        "no rule allows `make 'a b'`, and no question can be asked"
    );
}

#[test]
fn a_confirm_has_all_that_a_question_needs() {
    let place = Place::new();
    let (_, answer) = place.answer(&["--tool", "bash", "--", "make  all | tail"]);
    assert_eq!(
        answer,
        json!({
            "decision": "confirm", "reason": "no rule allows `make all`", "matched": null,
            "remember": [{ "tool": "bash", "command": "make" }, { "tool": "bash", "command": "tail" }],
            "title": "Run command?", "message": "make all | tail", "danger": "medium",
        })
    );
    let output = place.check(&["--tool", "bash", "--", "make"]);
    insta::assert_snapshot!(text(&output.stdout), @"
    confirm: no rule allows `make`
      question: Run command? make
      danger: medium
      a yes to remember stores: bash `make`
    ");
}

#[test]
fn rules_may_be_json_and_a_skill_is_judged_by_its_name() {
    let place = Place::new();
    let rules = place.write(
        "rules.json",
        r#"{"version":1,"permissions":{"allow":[{"tool":"skill_load","skill_name":"repo-review"}],
            "deny":[{"tool":"skill_load","skill_name":"dangerous-skill"}]}}"#,
    );
    for (name, code) in [("repo-review", 0), ("dangerous-skill", 1), ("other", 3)] {
        assert_eq!(place.answer(&["--rules", &rules, "--skill", name]).0, code, "{name}");
    }
    let (exit, answer) = place.answer(&["--tool", "frobnicate"]);
    assert_eq!(exit, 1);
    assert_eq!(
        answer["reason"],
        "Stockade doesn't know the tool `frobnicate`; a rule can allow it"
    );
}

#[test]
fn the_agents_names_of_tools_are_known_as_the_hook_knows_them() {
    let place = Place::new();
    assert_eq!(place.answer(&["--tool", "EnterWorktree"]).0, 3);
    let rules = r#"{"version":1,"permissions":{"allow":[{"tool":"edit"}],"deny":[{"tool":"bash","command":"rm"}]}}"#;
    let rules = place.write("rules.json", rules);
    for (words, code) in [
        (&["--tool", "MultiEdit"][..], 3),
        (&["--tool", "NotebookEdit"], 0),
        (&["--tool", "Bash", "--", "ls"], 0),
        (&["--tool", "Bash", "--", "rm x"], 1),
    ] {
        let words = [&["--rules", &rules], words].concat();
        assert_eq!(place.answer(&words).0, code, "{words:?}");
    }
}

#[test]
fn an_agents_lists_count() {
    let place = Place::new();
    place.write(
        "config/stockade/config.toml",
        "version = 1\n[agents.reader]\ntools = ['read']\n[agents.weak]\ncapabilities = ['READ']\n",
    );
    let (exit, answer) = place.answer(&["--agent", "reader", "--tool", "bash", "--", "ls"]);
    assert_eq!(exit, 1);
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.starts_with("CapabilityDenied: the agent `reader`"), "{reason}");
    let (_, answer) = place.answer(&["--agent", "weak", "--tool", "write"]);
    assert_eq!(answer["reason"], "permission denied: WRITE capability required");
    let output = place.check(&["--agent", "nobody", "--tool", "read"]);
    assert!(
        text(&output.stderr).contains("hint: there are `worker`, `judge`, "),
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).starts_with("stockade: no agent is called `nobody`"));
}

#[test]
fn wrong_calls_answer_125_and_nothing_on_standard_output() {
    let place = Place::new();
    let broken = place.write(
        "broken.toml",
        "version = 1\n[[permissions.allow]]\ntool = 'bash'\ncommand = 'a b c'\n",
    );
    let failing = place.write(
        "failing.toml",
        "version = 1\n[[permissions.allow]]\ntool = 'bash'\ncommand = 'make'\nmatch = ['cmake']\n",
    );
    for words in [
        &[][..],
        &["--", "ls"],
        &["--tool", "bash", "--action", "read"],
        &["--action", "fly", "--path", "x"],
        &["--rules", &broken, "--tool", "read"],
        &["--rules", &failing, "--tool", "read"],
        &["--rules", "missing.toml", "--tool", "read"],
        &["--root", "missing", "--tool", "read"],
        &["--batch", "--tool", "read"],
    ] {
        let output = place.check(words);
        assert_eq!(output.status.code(), Some(125), "{words:?} {output:?}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
        assert!(!output.stderr.is_empty());
    }
    let output = place.check(&["--rules", &failing, "--tool", "read"]);
    assert!(text(&output.stderr).contains("failing.toml:5:10: the rule doesn't match its example `cmake`"));
}

#[test]
fn a_command_is_understood_without_dashes_or_the_way_is_said() {
    let place = Place::new();
    for words in [
        &["git", "status"][..],
        &["git status"],
        &["--", "git", "status"],
        // Behind the command's first word every word is the command's.
        &["git", "status", "--short"],
    ] {
        let words = [&["--tool", "bash"], words].concat();
        assert_eq!(place.check(&words).status.code(), Some(0), "{words:?}");
    }
    let of_git = place.check(&["--tool", "bash", "git", "-c", "core.pager=x", "status", "--json"]);
    assert_eq!(of_git.status.code(), Some(3), "{of_git:?}");
    assert!(text(&of_git.stdout).starts_with("confirm: "), "{of_git:?}");
    let output = place.check(&["git", "status"]);
    assert_eq!(output.status.code(), Some(125));
    let said = text(&output.stderr);
    assert!(
        said.contains("needs the tool that gets it") && said.contains("hint: `stockade check --tool bash -- "),
        "{said}"
    );
}

#[test]
fn a_batch_exits_1_where_a_line_could_not_be_read() {
    let place = Place::new();
    for (input, exit) in [
        ("{\"tool\":\"read\"}\n\n", 0),
        ("{\"tool\":\"bash\",\"command\":\"rm x\"}\n", 0),
        ("", 0),
        ("no JSON\n{\"tool\":\"read\"}\n", 1),
        ("{\"tool\":\"read\"}\n{\"frob\":1}", 1),
    ] {
        assert_eq!(place.batch_and_exit(&[], input.as_bytes()).0, exit, "{input:?}");
    }
}

#[test]
fn a_batch_answers_each_line_with_its_id_and_goes_on_behind_a_bad_one() {
    let place = Place::new();
    let rules = place.write("rules.toml", RULES);
    let mut input = Vec::new();
    for line in [
        json!({ "id": 1, "tool": "bash", "command": "git status" }),
        json!({ "id": { "a": [1] }, "tool": "bash", "command": "cargo build" }),
        json!({ "id": null, "tool": "bash", "command": "cargo build", "rules": rules }),
        json!({ "id": 4, "tool": "bash", "command": "rm x", "rules": rules }),
        json!({ "id": 5, "tool": "skill_load", "skill_name": "x" }),
        json!({ "id": 6, "tool": "read", "agent": "nobody" }),
        json!({ "id": 7, "frob": 1 }),
        json!({ "id": 8 }),
        json!({ "id": 9, "tool": "read", "root": "/nonexistent" }),
    ] {
        input.extend_from_slice(format!("{line}\n").as_bytes());
    }
    input.extend_from_slice(b"no JSON\n\n\xff\xfe\n");
    input.extend_from_slice(&vec![b'x'; 2_500_000]);
    input.extend_from_slice(b"\n{\"id\":\"last\",\"tool\":\"read\"}");
    let (exit, answers) = place.batch_and_exit(&[], &input);
    assert_eq!(exit, 1, "a line had no answer");
    let short = |answer: &Value| match answer["error"].as_str() {
        Some(_) => json!([answer["id"], "error"]),
        None => json!([answer["id"], answer["decision"]]),
    };
    assert_eq!(
        answers.iter().map(short).collect::<Vec<_>>(),
        [
            json!([1, "allow"]),
            json!([{ "a": [1] }, "confirm"]),
            json!([null, "allow"]),
            json!([4, "deny"]),
            json!([5, "confirm"]),
            json!([6, "error"]),
            json!([7, "error"]),
            json!([8, "error"]),
            json!([9, "error"]),
            json!([null, "error"]),
            json!([null, "error"]),
            json!([null, "error"]),
            json!(["last", "allow"]),
        ]
    );
}

#[test]
fn every_decision_is_in_the_trail() {
    let place = Place::new();
    place.write(
        "config/stockade/config.toml",
        "version = 1\n[agents.worker]\nmode = 'manual'\n",
    );
    place.answer(&["--agent", "worker", "--tool", "bash", "--", "make --token=abc123secret"]);
    place.answer(&["--tool", "read"]);
    place.answer(&["--audit", "denials", "--tool", "grep"]);
    place.answer(&["--audit", "off", "--tool", "write"]);
    let lines: String = (0..3000)
        .map(|id| json!({ "id": id, "tool": "read" }).to_string() + "\n")
        .collect();
    assert_eq!(place.batch(&[], lines.as_bytes()).len(), 3000);
    let exported = place.command(&["audit", "export", "--jsonl"]).output().unwrap();
    let rows: Vec<Value> = text(&exported.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 3002);
    let schema: Value = serde_json::from_str(include_str!("../crates/report/schemas/audit.schema.json")).unwrap();
    for row in &rows[..2] {
        assert_eq!(faults(&schema, row), Vec::<String>::new(), "{row}");
    }
    assert_eq!(
        rows[0]["record"],
        json!({
            "kind": "judged", "agent": "worker", "action": "tool", "target": "bash: make --token=***",
            "result": "confirm", "mode": "manual", "reason": "no rule allows `make --token=***`", "matched": null,
        })
    );
    let listed = place.command(&["audit", "list", "--limit", "3002"]).output().unwrap();
    assert!(text(&listed.stdout).contains("judged    confirm tool bash: make --token=*** (worker)"));
}

#[test]
fn a_line_that_cannot_be_read_keeps_its_id_where_it_can_be_found() {
    let place = Place::new();
    let long = "a".repeat(2 * 1024 * 1024);
    let lines = [
        r#"{"id":1,"tool":"bash","command":"ls \ud800"}"#.to_string(),
        r#"{"tool":"bash","command":"ls \ud800","id":2}"#.to_string(),
        r#"{"id":3,"tool":"bash","command":"ls \x"}"#.to_string(),
        r#"{"id":4,"\ud800":1,"tool":"bash"}"#.to_string(),
        r#"{"id":5,"tool":"bash","#.to_string(),
        format!(r#"{{"id":6,"tool":"bash","command":"{long}"}}"#),
        format!(r#"{{"tool":"bash","command":"{long}","id":7}}"#),
        format!(r#"{{"x":"{}","id":123456789}}"#, "a".repeat(1024 * 1024 - 16)),
    ];
    let (_, replies) = place.batch_and_exit(&[], lines.join("\n").as_bytes());
    let ids: Vec<&Value> = replies.iter().map(|reply| &reply["id"]).collect();
    assert_eq!(json!(ids), json!([1, 2, 3, 4, 5, 6, null, null]));
    assert!(replies.iter().all(|reply| reply["decision"] == "deny"), "{replies:?}");
}

/// With rules that allow the tool: what it reads counts too.
#[test]
fn the_file_or_host_that_a_tool_is_given_is_judged_as_by_a_hook() {
    let place = Place::new();
    place.write("root/.env", "A=1");
    place.write("root/a.txt", "a");
    for (tool, input, decision) in [
        ("read", "a.txt", "allow"),
        ("read", ".env", "deny"),
        ("Read", "./.env", "deny"),
        ("read", "/etc/shadow", "deny"),
        ("read", " .env", "deny"),
        ("write", "a.txt", "confirm"),
        ("write", "/etc/x", "deny"),
        ("web_fetch", "https://docs.example.com/", "deny"),
        ("grep", ".env", "allow"),
    ] {
        let (_, answer) = place.answer(&["--tool", tool, "--", input]);
        assert_eq!(answer["decision"], decision, "{tool} {input}: {answer}");
    }
    let (_, answer) = place.answer(&["--agent", "judge", "--tool", "read", "--", ".env"]);
    assert_eq!(answer["decision"], "deny", "{answer}");
}

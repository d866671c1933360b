//! `stockade hook install` and `hook uninstall`, in the files of each agent.

use serde_json::{Value, json};

use std::os::unix::fs::symlink;

use super::{read, stockade, with_path, works};
use crate::common::{Place, STOCKADE, Terminal, faults, finish, run};

/// Each agent with its files: the user's and the project's.
pub(super) const FILES: &[(&str, &str, &str)] = &[
    ("claude-code", "~/.claude/settings.json", ".claude/settings.local.json"),
    ("codex", "~/.codex/hooks.json", ".codex/hooks.json"),
    (
        "copilot",
        "~/.copilot/hooks/stockade.json",
        ".github/hooks/stockade.json",
    ),
    ("cursor", "~/.cursor/hooks.json", ".cursor/hooks.json"),
    ("gemini", "~/.gemini/settings.json", ".gemini/settings.json"),
];

/// The part of an agent's settings that hooks are, as its documentation has it.
fn schema(agent: &str) -> Value {
    let text = json!({"type": "string"});
    let whole = |minimum: u32| json!({"type": "integer", "minimum": minimum});
    let table = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let list = |items: Value| json!({"type": "array", "items": items});
    let hook = match agent {
        "cursor" => table(
            json!({"command": text, "matcher": text, "failClosed": {"type": "boolean"}, "timeout": whole(1)}),
            &["command"],
        ),
        "copilot" => table(
            json!({"type": {"const": "command"}, "matcher": text, "bash": text, "timeoutSec": whole(1)}),
            &["type", "bash"],
        ),
        _ => {
            let least = if agent == "gemini" { 1000 } else { 1 };
            let handler = table(
                json!({"type": {"const": "command"}, "name": text, "command": text, "timeout": whole(least)}),
                &["type", "command"],
            );
            table(json!({"matcher": text, "hooks": list(handler)}), &["hooks"])
        }
    };
    let events: &[&str] = match agent {
        "claude-code" => &["PreToolUse", "PostToolUse", "PostToolUseFailure"],
        "codex" => &["PreToolUse", "PostToolUse"],
        "copilot" => &["preToolUse", "postToolUse", "postToolUseFailure"],
        "cursor" => &[
            "preToolUse",
            "beforeShellExecution",
            "beforeMCPExecution",
            "beforeReadFile",
            "postToolUse",
        ],
        _ => &["BeforeTool", "AfterTool"],
    };
    let of_events = events
        .iter()
        .map(|event| (event.to_string(), list(hook.clone())))
        .collect();
    let hooks = table(Value::Object(of_events), events);
    match agent {
        "cursor" | "copilot" => table(json!({"version": {"const": 1}, "hooks": hooks}), &["version", "hooks"]),
        _ => table(json!({"hooks": hooks}), &["hooks"]),
    }
}

#[test]
fn a_file_that_wasnt_there_is_what_the_agent_reads_and_goes_again() {
    for (agent, user, project) in FILES {
        for (name, flag) in [(user, ""), (project, " --project")] {
            let place = Place::new();
            works(
                &place,
                &format!("hook install --for {agent}{flag} --profile workspace --agent worker --yes"),
            );
            let text = read(&place, name);
            let found = serde_json::from_str(&text).unwrap();
            let faults = faults(&schema(agent), &found);
            assert!(faults.is_empty(), "{agent}: {faults:#?}\n{text}");
            let line = format!("/stockade hook {agent} --profile workspace --agent worker");
            assert!(text.contains(&line) && text.contains("exit 2; }"), "{text}");
            works(&place, &format!("hook uninstall --for {agent}{flag} --yes"));
            assert!(!place.path(name).exists(), "{agent}");
        }
    }
}

#[test]
fn settings_beside_the_hooks_stay_as_they_are() {
    for (agent, name, _) in FILES {
        let version = match *agent {
            "cursor" | "copilot" => "\"version\": 1,\n  ",
            _ => "",
        };
        for text in [
            format!("{{\n  {version}\"mine\": {{\"a\": [1, 2]}}\n}}\n"),
            format!("{{\n  {version}\"hooks\": {{\n    \"Stop\": [{{\"command\": \"x\"}}]\n  }} // c\n}}"),
        ] {
            let place = Place::new();
            place.file(name, &text);
            works(&place, &format!("hook install --for {agent} --yes"));
            assert_ne!(read(&place, name), text, "{agent}");
            works(&place, &format!("hook uninstall --for {agent} --yes"));
            assert_eq!(read(&place, name), text, "{agent}");
            assert!(!place.path(&format!("{name}.stockade-backup")).exists(), "{agent}");
        }
    }
}

#[test]
fn other_flags_replace_the_hooks() {
    let place = Place::new();
    works(&place, "hook install --for claude-code --yes");
    let first = read(&place, "~/.claude/settings.json");
    let again = stockade(&place, "hook install --for claude-code --yes");
    assert_eq!(again.stderr(), "stockade: nothing to change\n");
    works(&place, "hook install --for claude-code --confined allow --yes");
    let second = read(&place, "~/.claude/settings.json");
    assert_eq!(second.replace(" --confined allow", ""), first);
    let shown = stockade(&place, "hook uninstall --for claude-code");
    assert_eq!(shown.status.code(), Some(1));
    assert_eq!(read(&place, "~/.claude/settings.json"), second);
}

/// What a hook before a call of Claude Code's says, by the line of a settings file.
fn said(place: &Place, file: &str, tool: &str, input: Value) -> String {
    let found: Value = serde_json::from_str(&read(place, file)).unwrap();
    let line = found["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let event = json!({"hook_event_name": "PreToolUse", "cwd": place.path(""), "tool_name": tool, "tool_input": input});
    let done = finish(place.command("sh").args(["-c", line]), event.to_string().as_bytes());
    let reply: Value = serde_json::from_str(&done.stdout()).unwrap();
    let text = |name: &str| reply["hookSpecificOutput"][name].as_str().unwrap().to_string();
    format!("{}: {}", text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn the_line_that_a_denial_names_grants_it_beside_what_was_granted() {
    for (file, project) in [
        ("~/.claude/settings.json", ""),
        (".claude/settings.local.json", " --project"),
    ] {
        let place = Place::new();
        works(
            &place,
            &format!("hook install --for claude-code{project} --confined allow --yes"),
        );
        let calls = [
            ("Read", json!({"file_path": "/var/lib/x y"})),
            ("Write", json!({"file_path": "../beside.txt"})),
            ("WebFetch", json!({"url": "https://docs.example.com/a"})),
        ];
        for (tool, input) in &calls {
            let denied = said(&place, file, tool, input.clone());
            assert!(denied.starts_with("deny: "), "{denied}");
            let (_, line) = denied.split_once("with `stockade ").unwrap();
            let line = format!("{} {} --yes", STOCKADE.path(), line.trim_end_matches('`'));
            // Wherever it is pasted.
            let done = finish(place.command("sh").args(["-c", &line]).current_dir("/"), b"");
            assert_eq!(done.status.code(), Some(0), "{line}: {}", done.stderr());
            assert!(done.stderr().contains("--confined allow"), "{}", done.stderr());
        }
        for (tool, input) in calls {
            let allowed = said(&place, file, tool, input);
            assert!(allowed.starts_with("allow: "), "{allowed}");
        }
        let all = read(&place, file);
        assert!(all.contains("--confined allow --read '/var/lib/x y' --write "), "{all}");
    }
}

#[test]
fn what_confined_commands_may_do_is_granted_as_well() {
    let place = Place::new();
    works(
        &place,
        "hook install --for claude-code --confined allow --listen 8123 --exec tools --yes",
    );
    let text = read(&place, "~/.claude/settings.json");
    let flags = format!(
        "--confined allow --exec {} --listen 8123",
        place.path("tools").display()
    );
    assert!(text.contains(&flags), "{text}");
    let found: Value = serde_json::from_str(&text).unwrap();
    let line = found["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let event = json!({"hook_event_name": "PreToolUse", "cwd": place.path(""), "tool_name": "Bash", "tool_input": {"command": "true"}});
    let done = finish(place.command("sh").args(["-c", line]), event.to_string().as_bytes());
    assert!(
        done.stdout().contains("--listen 8123"),
        "{}{}",
        done.stdout(),
        done.stderr()
    );
}

#[test]
fn flags_that_cant_be_kept_are_said() {
    let place = Place::new();
    let hook = |line: &str| json!({"matcher": "*", "hooks": [{"type": "command", "command": line}]});
    let hooks = json!({"hooks": {"PreToolUse": [
        hook("stockade hook claude-code --net none --read \"$HOME/x\" || exit 2"),
        hook("stockade hook claude-code --deny a --llm || exit 2"),
        hook("stockade hook claude-code --llm || exit 2"),
    ]}});
    place.file("~/.claude/settings.json", hooks.to_string());
    let done = stockade(&place, "hook install --for claude-code --yes");
    for said in [
        "had: `--deny a`",
        "had: `stockade hook claude-code --net none",
        "kept `--llm`",
    ] {
        assert!(done.stderr().contains(said), "{said}: {}", done.stderr());
    }
    for wrong in ["--host=https://a/b", "--env=A=1"] {
        let done = stockade(&place, &format!("hook install --for claude-code --yes {wrong}"));
        assert!(!done.status.success(), "{wrong}");
    }
}

#[test]
fn a_file_behind_a_link_is_granted_by_its_real_path() {
    let place = Place::new();
    place.file("~/ref/a.txt", "a\n");
    symlink(place.path("~/ref"), place.path("docs")).unwrap();
    let (file, docs) = ("~/.claude/settings.json", json!({"file_path": "docs/a.txt"}));
    works(&place, "hook install --for claude-code --yes");
    let denied = said(&place, file, "Read", docs.clone());
    let real = std::fs::canonicalize(place.path("~/ref/a.txt")).unwrap();
    let flag = format!("--read {}", real.display());
    assert!(denied.contains(&format!("--for claude-code {flag}`")), "{denied}");
    works(&place, &format!("hook install --for claude-code --yes {flag}"));
    assert!(said(&place, file, "Read", docs).starts_with("allow: "));
}

#[test]
fn flags_with_which_no_command_would_start_are_refused_or_dropped() {
    let place = Place::new();
    place.file("~/ref/a.txt", "a\n");
    place.file("~/.ssh/id_rsa", "k\n");
    symlink(place.path("~/ref"), place.path("docs")).unwrap();
    works(&place, "hook install --for claude-code --yes");
    let before = read(&place, "~/.claude/settings.json");
    let secret = format!("--read {}", place.path("~/.ssh/id_rsa").display());
    for (flags, why) in [
        ("--read docs/a.txt", "hint: nothing was started, since an earlier run"),
        ("--write=~/q", "the shell didn't expand its `~`"),
        ("--profile nope", "no profile is called `nope`"),
        (&secret, "is a secret, which every profile keeps closed"),
    ] {
        let done = stockade(&place, &format!("hook install --for claude-code --yes {flags}"));
        assert!(
            !done.status.success() && done.stderr().contains(why),
            "{flags}: {}",
            done.stderr()
        );
        assert_eq!(read(&place, "~/.claude/settings.json"), before, "{flags}");
    }
    // As an earlier version, or a hand, had it.
    let bad = format!("--read {}", place.path("docs/a.txt").display());
    let text = before.replace(" ||", &format!(" --host a.example.com {bad} ||"));
    place.file("~/.claude/settings.json", &text);
    let done = stockade(&place, "hook install --for claude-code --yes --host b.example.com");
    let dropped = format!("dropped what the hooks had: `{bad}`: ");
    assert!(
        done.status.success() && done.stderr().contains(&dropped),
        "{}",
        done.stderr()
    );
    let now = read(&place, "~/.claude/settings.json");
    assert!(now.contains("--host a.example.com --host b.example.com ||"), "{now}");
}

#[test]
fn what_isnt_there_cant_be_taken_out() {
    let place = Place::new();
    let done = stockade(&place, "hook uninstall --for gemini --yes");
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stderr().contains("has no hook of Stockade's"), "{}", done.stderr());
    let done = stockade(&place, "hook install --for emacs --yes");
    assert!(
        done.stderr().contains("the agents are claude-code, codex"),
        "{}",
        done.stderr()
    );
}

#[test]
fn a_program_of_the_project_that_is_first_on_the_path_isnt_started() {
    let place = Place::new();
    let first = place.path(".venv/bin");
    std::fs::create_dir_all(&first).unwrap();
    symlink(STOCKADE.path(), first.join("stockade")).unwrap();
    let done = with_path(
        &place,
        &[&first],
        "hook install --for claude-code --project --agent worker --yes",
    );
    assert_eq!(done.status.code(), Some(0), "{}", done.stderr());
    // What a run could put there.
    std::fs::remove_file(first.join("stockade")).unwrap();
    place.program(".venv/bin/stockade", "#!/bin/sh\necho hijacked\n");
    let found: Value = serde_json::from_str(&read(&place, ".claude/settings.local.json")).unwrap();
    let line = found["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let path = format!("{}:/usr/bin:/bin", first.display());
    let asked = finish(place.command("sh").args(["-c", line]).env("PATH", path), b"{}");
    assert!(!asked.stdout().contains("hijacked"), "{line}");
    assert!(line.starts_with('/'), "{line}");
}

#[test]
fn a_link_that_an_upgrade_keeps_is_what_settings_name() {
    let place = Place::new();
    let link = place.file("~/.cargo/bin/none", "").with_file_name("stockade");
    symlink(STOCKADE.path(), &link).unwrap();
    let done = with_path(
        &place,
        &[link.parent().unwrap()],
        "hook install --for claude-code --yes",
    );
    assert_eq!(done.status.code(), Some(0), "{}", done.stderr());
    let line = format!("\"{} hook claude-code ||", link.display());
    assert!(read(&place, "~/.claude/settings.json").contains(&line), "{line}");
}

#[test]
fn a_program_by_another_name_is_named_by_the_link_that_it_was_called_by() {
    for (directory, is_named) in [("~/tools", true), (".venv/bin", false)] {
        let place = Place::new();
        let program = place.program("~/kept/stockade-0.1.0", std::fs::read(STOCKADE.path()).unwrap());
        let link = place.file(&format!("{directory}/none"), "").with_file_name("stockade");
        symlink(&program, &link).unwrap();
        let words = ["hook", "install", "--for", "claude-code", "--yes"];
        let done = finish(place.command(link.to_str().unwrap()).args(words), b"");
        match is_named {
            true => {
                let line = format!("\"{} hook claude-code ||", link.display());
                assert!(
                    read(&place, "~/.claude/settings.json").contains(&line),
                    "{}",
                    done.stderr()
                );
            }
            // A run could put another program there.
            false => assert!(done.stderr().contains("a link named `stockade`"), "{}", done.stderr()),
        }
    }
}

#[test]
fn a_file_with_nothing_in_it_gets_hooks_and_has_nothing_in_it_again() {
    for text in ["", "\n", "\u{feff}", "\u{feff} \r\n"] {
        let place = Place::new();
        place.file("~/.claude/settings.json", text);
        works(&place, "hook uninstall --for claude-code --yes");
        works(&place, "hook install --for claude-code --yes");
        works(&place, "hook install --for claude-code --confined allow --yes");
        works(&place, "hook uninstall --for claude-code --yes");
        assert_eq!(read(&place, "~/.claude/settings.json"), text);
        let copy = place.path("~/.claude/settings.json.stockade-backup");
        assert!(!copy.exists(), "{text:?}");
    }
}

#[test]
fn a_role_that_isnt_one_is_refused() {
    let place = Place::new();
    for (name, said) in [("nonexist", "no agent is called `nonexist`"), ("", "a name has 1 to")] {
        let done = stockade(
            &place,
            &format!("hook install --for claude-code --project --yes --agent={name}"),
        );
        assert!(
            !done.status.success() && done.stderr().contains(said),
            "{}",
            done.stderr()
        );
        assert!(!place.path(".claude/settings.local.json").exists());
    }
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[agents.mine]\nprofile = \"readonly\"\n",
    );
    works(&place, "hook install --for claude-code --project --yes --agent mine");
}

#[test]
fn a_file_that_switches_hooks_off_is_warned_of() {
    for (agent, name, text, said) in [
        (
            "claude-code --project",
            ".claude/settings.local.json",
            r#"{"disableAllHooks": true}"#,
            "`disableAllHooks: true`",
        ),
        (
            "gemini",
            "~/.gemini/settings.json",
            r#"{"tools": {"enableHooks": false}}"#,
            "`tools.enableHooks: false`",
        ),
    ] {
        let place = Place::new();
        place.file(name, text);
        // Also where the hooks are there already.
        for _ in 0..2 {
            let done = stockade(&place, &format!("hook install --for {agent} --yes"));
            assert_eq!(done.status.code(), Some(0), "{}", done.stderr());
            assert!(
                done.stderr().contains("stockade: warning: ") && done.stderr().contains(said),
                "{}",
                done.stderr()
            );
        }
        works(&place, &format!("hook uninstall --for {agent} --yes"));
        assert_eq!(read(&place, name), text);
    }
}

/// At a terminal one thing more is asked, before the change is.
#[test]
fn whether_confined_commands_are_free_is_asked_once() {
    for (answer, flag) in [("y", "--confined allow"), ("n", "--confined ask")] {
        let run = run();
        let terminal = Terminal::new()
            .awaits("Let confined commands run without a question?")
            .types(&format!("{answer}\n"))
            .awaits(&format!("confined commands: `{flag}`"))
            .awaits("Write this change?")
            .types("y\n")
            .ends_within(60);
        let words = [STOCKADE.path(), "hook", "install", "--for", "codex"];
        assert_eq!(terminal.plays_command(&run, words.map(Into::into).to_vec()), 0);
        assert!(read(&run.place, "~/.codex/hooks.json").contains(flag));
    }
}

#[test]
fn a_grant_for_hooks_that_are_there_asks_for_nothing_but_the_change() {
    let run = run();
    works(&run.place, "hook install --for codex --yes");
    let terminal = Terminal::new()
        .awaits("Write this change?")
        .types("y\n")
        .ends_within(60);
    let words = [
        STOCKADE.path(),
        "hook",
        "install",
        "--for",
        "codex",
        "--host",
        "a.example.com",
    ];
    assert_eq!(terminal.plays_command(&run, words.map(Into::into).to_vec()), 0);
    let text = read(&run.place, "~/.codex/hooks.json");
    assert!(text.contains("hook codex --host a.example.com ||"), "{text}");
}

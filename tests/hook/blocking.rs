//! Whatever a hook doesn't understand blocks: by exit code 2, by a reason on standard error, and by a denial in JSON.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::place::{call, command, place, said};
use crate::common::{PANIC, Place, STOCKADE, Terminal, injects_panics, run, skipped};

const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini", "cursor", "copilot"];

/// An event that is allowed where nothing is wrong.
fn good(agent: &str) -> String {
    match agent {
        "gemini" => r#"{"hook_event_name":"BeforeTool","tool_name":"list_directory","tool_input":{}}"#.into(),
        "cursor" => r#"{"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"path":"a.txt"}}"#.into(),
        "copilot" => r#"{"toolName":"view","toolArgs":{"path":"a.txt"}}"#.into(),
        _ => r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#.into(),
    }
}

fn must_block(agent: &str, output: &Output, what: &str) {
    assert_eq!(said(agent, output), "block", "{agent}: {what}: {output:?}");
    assert!(!output.stderr.is_empty(), "{agent}: {what}");
    assert!(
        !String::from_utf8_lossy(&output.stdout).contains('\u{1b}'),
        "{agent}: {what}"
    );
}

#[test]
fn an_event_that_is_right_is_allowed() {
    let place = place();
    for agent in AGENTS {
        assert_eq!(
            said(agent, &call(&place, &[agent], good(agent).as_bytes())),
            "allow",
            "{agent}"
        );
    }
}

// promise: agents.3
#[test]
fn input_that_is_no_event_blocks() {
    let place = place();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_inside = format!(r#"{{"hook_event_name":{}"#, r#"{"a":"#.repeat(50_000));
    let inputs: [&[u8]; 12] = [
        b"",
        b"\n",
        b"null",
        b"[]",
        b"\"PreToolUse\"",
        b"{}",
        b"{\"hook_event_name\":\"\\u001b[2J\"}",
        b"{\"hook_event_name\":null,\"tool_name\":null}",
        b"{\"hook_event_name\":\"PreToolUse\"} {}",
        b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"\xff\"}",
        deep.as_bytes(),
        deep_inside.as_bytes(),
    ];
    for agent in AGENTS {
        for input in inputs {
            let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
            must_block(agent, &call(&place, &[agent], input), &shown);
        }
        let good = good(agent);
        for end in [1, good.len() / 2, good.len() - 1] {
            must_block(agent, &call(&place, &[agent], &good.as_bytes()[..end]), "cut");
        }
    }
}

#[test]
fn an_event_with_a_member_twice_blocks() {
    let place = place();
    for (agent, event) in [
        (
            "claude-code",
            r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"~/.ssh/id_rsa","file_path":"a.txt"}}"#,
        ),
        (
            "claude-code",
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","tool_input":{"file_path":"a.txt"}}"#,
        ),
        (
            "codex",
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push","command":"ls"}}"#,
        ),
        (
            "gemini",
            r#"{"hook_event_name":"BeforeTool","tool_name":"list_directory","tool_input":{"dir_path":"/root","dir_path":"sub"}}"#,
        ),
        (
            "cursor",
            r#"{"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"path":".env","p\u0061th":"a.txt"}}"#,
        ),
        (
            "copilot",
            r#"{"toolName":"view","toolArgs":{"path":".env","path":"a.txt"}}"#,
        ),
        (
            "copilot",
            r#"{"toolName":"view","toolArgs":"{\"path\":\".env\",\"path\":\"a.txt\"}"}"#,
        ),
    ] {
        must_block(agent, &call(&place, &[agent], event.as_bytes()), event);
    }
}

#[test]
fn an_event_that_is_too_long_blocks() {
    let place = place();
    let mut long = good("claude-code").into_bytes();
    long.resize((32 << 20) + 1, b' ');
    must_block("claude-code", &call(&place, &["claude-code"], &long), "too long");
}

#[test]
fn wrong_words_block() {
    let place = place();
    for agent in AGENTS {
        for words in [
            &["--no-such-flag"][..],
            &["--confined", "perhaps"],
            &["--profile"],
            &["--ask", "fd:3"],
            &["--env", "A=b"],
            &["--agent", ""],
            &["stray"],
        ] {
            let words: Vec<&str> = [agent].iter().chain(words).copied().collect();
            must_block(agent, &call(&place, &words, good(agent).as_bytes()), &words.join(" "));
        }
    }
}

#[test]
fn an_agent_that_is_not_known_blocks_in_every_format() {
    let place = place();
    for words in [&["claud-code"][..], &[], &["--profile", "trusted"], &["Cursor"], &[""]] {
        let output = call(&place, words, good("claude-code").as_bytes());
        for agent in AGENTS {
            must_block(agent, &output, &words.join(" "));
        }
    }
}

#[test]
fn faults_of_the_configuration_deny() {
    for (file, text) in [
        ("~/.config/stockade/config.toml", "version = 1\npermisions = 1\n"),
        ("~/.config/stockade/config.toml", "\u{0}"),
        (".stockade/config.toml", "version = 1\non_violation = 'id'\n"),
        (".stockade/config.toml", "[["),
    ] {
        let place = place();
        place.file(file, text);
        for agent in AGENTS {
            must_block(agent, &call(&place, &[agent], good(agent).as_bytes()), file);
        }
    }
}

/// The same through a shell, which closes or limits what the hook has.
fn through_shell(place: &Place, agent: &str, script: &str) -> Output {
    let script = format!("printf '%s' \"$2\" | {}", script.replace("HOOK", r#""$0" hook "$1""#));
    command(place, "sh".as_ref())
        .args(["-c", &script, STOCKADE.path(), agent, &good(agent)])
        .output()
        .unwrap()
}

#[test]
fn a_closed_stream_and_a_low_limit_block() {
    let place = place();
    for agent in AGENTS {
        must_block(agent, &through_shell(&place, agent, "HOOK <&-"), "closed input");
        must_block(
            agent,
            &through_shell(&place, agent, "(ulimit -n 8; HOOK)"),
            "few descriptors",
        );
        // Nothing but an answer is lost there, and it is the caller's to lose.
        let output = through_shell(&place, agent, "HOOK >/dev/null");
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..]),
            "{agent}"
        );
        for script in ["HOOK >&-", "HOOK >/dev/full", "HOOK 1</dev/zero", "HOOK 1<>/dev/null"] {
            let output = through_shell(&place, agent, script);
            assert_eq!(output.status.code(), Some(2), "{agent}: {script}: {output:?}");
        }
    }
}

/// The exit code blocks there too.
#[test]
fn at_a_terminal_there_is_the_error_alone() {
    for (words, says) in [
        (&["claude-code", "--bogus"][..], "unexpected argument `--bogus`"),
        (&["claude-code"], "not from a terminal"),
        (&["claude"], "no agent or task of `stockade hook` is called `claude`"),
        (&["status"], "is called `status`"),
        (&["instal"], "did you mean `install`?"),
    ] {
        let run = run();
        let terminal = Terminal::new().awaits(says).ends_within(60);
        let shell = r#""$@" >out; code=$?; test ! -s out && exit $code"#;
        let argv = [&["/bin/sh", "-c", shell, "sh", STOCKADE.path(), "hook"], words].concat();
        assert_eq!(
            terminal.plays_command(&run, argv.iter().map(Into::into).collect()),
            2,
            "{words:?}"
        );
    }
}

#[test]
fn a_home_is_no_project() {
    let place = place();
    let output = command(&place, STOCKADE.path().as_ref())
        .current_dir(&place.home)
        .args(["hook", "claude-code"])
        .stdin(Stdio::from(
            std::fs::File::open(place.file("event", good("claude-code"))).unwrap(),
        ))
        .output()
        .unwrap();
    must_block("claude-code", &output, "a home");
}

/// A service may be started without `HOME`. The user database tells the home, but not to a test in another place.
#[test]
fn a_home_is_no_project_without_its_variable() {
    let home = nix::unistd::User::from_uid(nix::unistd::geteuid())
        .unwrap()
        .unwrap()
        .dir;
    let place = place();
    for told in [None, Some("/tmp")] {
        let mut hook = command(&place, STOCKADE.path().as_ref());
        match told {
            Some(told) => hook.env("HOME", told),
            None => hook.env_remove("HOME"),
        };
        let output = hook
            .current_dir(&home)
            .args(["hook", "claude-code"])
            .stdin(Stdio::from(
                std::fs::File::open(place.file("event", good("claude-code"))).unwrap(),
            ))
            .output()
            .unwrap();
        must_block("claude-code", &output, "a home");
    }
}

// promise: agents.3
#[test]
fn a_panic_blocks() {
    if !injects_panics() {
        return skipped("this build has no injected panics");
    }
    let place = place();
    for agent in AGENTS {
        let output = command(&place, STOCKADE.path().as_ref())
            .args(["hook", agent])
            .env(PANIC, "main:start")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        must_block(agent, &output, "panic");
    }
}

#[test]
fn an_event_that_never_ends_blocks() {
    let place = place();
    let begun = Instant::now();
    let mut child = command(&place, STOCKADE.path().as_ref())
        .args(["hook", "copilot"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(open);
    must_block("copilot", &output, "no end");
    assert!(begun.elapsed() < Duration::from_secs(25));
}

/// A confined command may have made the link: `workspace` writes `/tmp`.
#[test]
fn a_project_that_a_link_leads_elsewhere_blocks() {
    let place = place();
    place.file("~/elsewhere/private", "PRIVATE");
    let made = tempfile::Builder::new()
        .prefix("stockade-root-")
        .tempdir_in("/tmp")
        .unwrap();
    let (plain, link) = (made.path().join("plain"), made.path().join("link"));
    std::fs::create_dir(&plain).unwrap();
    std::os::unix::fs::symlink(place.path("~/elsewhere"), &link).unwrap();
    for (root, expected) in [(&plain, "allow"), (&link, "deny")] {
        let event = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "x", "cwd": root,
            "tool_name": "Read", "tool_input": { "file_path": root.join("private") },
        });
        let output = call(
            &place,
            &["claude-code", "--root", root.to_str().unwrap()],
            event.to_string().as_bytes(),
        );
        assert_eq!(said("claude-code", &output), expected, "{output:?}");
        // By the event alone.
        let event = serde_json::json!({
            "cwd": root, "toolName": "view", "toolArgs": { "path": root.join("private") },
        });
        let output = call(&place, &["copilot"], event.to_string().as_bytes());
        assert_eq!(said("copilot", &output), expected, "{output:?}");
    }
}

/// What an agent's runs may write isn't what `workspace` may.
#[test]
fn a_project_that_a_link_of_the_agents_own_runs_leads_elsewhere_blocks() {
    let place = place();
    place.file("~/private/file", "PRIVATE");
    place.file(
        "~/.config/stockade/profiles/wide.toml",
        "extends = \"workspace\"\nwrite = [\"~/shared\"]\n",
    );
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[agents.wide]\nprofile = \"wide\"\ncapabilities = [\"READ\", \"WRITE\"]\nmode = \"accept-edits\"\n",
    );
    std::fs::create_dir(place.home.join("shared")).unwrap();
    let link = place.home.join("shared/project");
    std::os::unix::fs::symlink(place.home.join("private"), &link).unwrap();
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "session_id": "x", "cwd": link,
        "tool_name": "Read", "tool_input": { "file_path": "file" },
    });
    // Where no run writes, the link is the user's.
    for (flags, expected) in [(&[][..], "allow"), (&["--agent", "wide"], "deny")] {
        let words = [&["claude-code", "--root", link.to_str().unwrap()], flags].concat();
        let output = call(&place, &words, event.to_string().as_bytes());
        assert_eq!(said("claude-code", &output), expected, "{output:?}");
    }
}

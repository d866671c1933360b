//! What a client can't choose, and what it can't turn off.

use serde_json::{Value, json};

use super::session::{Session, text};
use crate::common::{Place, STOCKADE, finish, skipped};

fn is_refused(result: &Value, why: &str) {
    assert!(
        result["isError"] == true && text(result).contains(why),
        "{why}: {result}"
    );
}

// promise: agents.7
#[test]
fn a_client_chooses_no_wider_profile_and_turns_nothing_off() {
    let place = Place::new();
    place.file("own.toml", "extends = \"trusted\"\nversion = 1\n");
    let mut session = Session::start(&place, &["--ceiling", "filesystem"], None);
    let run = ["sh", "-c", "touch ran"];
    for profile in [
        "trusted",
        "workspace",
        "mcp-standard",
        "network-api",
        "./own.toml",
        "own.toml",
        "",
        "minimal ",
    ] {
        let result = session.call("run_command", json!({ "argv": run, "profile": profile }));
        is_refused(&result, "isn't offered here");
    }
    for (name, value) in [
        ("report", json!("out.json")),
        ("root", json!("/")),
        ("ask", json!("never")),
        ("audit", json!("off")),
        ("accept_shortfall", json!(["supervisor"])),
        ("trace", json!("fast")),
        ("agent", json!("worker")),
        ("read", json!(["/"])),
    ] {
        let result = session.call("run_command", json!({ "argv": run, name: value }));
        is_refused(&result, &format!("there is no argument `{name}`"));
    }
    for name in [
        "LD_PRELOAD",
        "PATH",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "BASH_ENV",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_PAGER",
        "OPENSSL_CONF",
        "GIO_EXTRA_MODULES",
        "RIPGREP_CONFIG_PATH",
        "LUA_INIT_5_4",
        "A=B",
        "",
        "1A",
    ] {
        let result = session.call("run_command", json!({ "argv": run, "env": { name: "x" } }));
        is_refused(&result, name);
    }
    assert!(!place.root.join("ran").exists());
    // The same with nothing of that isn't refused.
    let result = session.call(
        "run_command",
        json!({ "argv": ["sh", "-c", "echo $A"], "env": { "A": "x y", "GIT_PAGER": "cat", "TMPDIR": "." } }),
    );
    assert_eq!(result["structuredContent"]["stdout"], "x y\n", "{result}");
}

#[test]
fn a_command_starts_within_the_root_alone() {
    let place = Place::new();
    place.file("sub/there", "");
    std::os::unix::fs::symlink("/etc", place.root.join("link")).unwrap();
    let mut session = Session::start(&place, &[], None);
    for cwd in ["..", "/", "link", "sub/../..", "nowhere", "sub/there", "\0"] {
        let result = session.call("run_command", json!({ "argv": ["pwd"], "cwd": cwd }));
        is_refused(&result, "`cwd` is no directory within the root");
    }
    for cwd in ["sub", "./sub/", "sub/../sub"] {
        let result = session.call("run_command", json!({ "argv": ["ls"], "cwd": cwd }));
        assert_eq!(result["structuredContent"]["stdout"], "there\n", "{result}");
    }
}

// promise: agents.8
#[test]
fn grants_are_given_by_a_person_alone() {
    let place = Place::new();
    place.file("secret.txt", "hi\n");
    let call = |session: &mut Session| {
        let grants = json!({ "read": ["secret.txt"], "write": ["/"], "host": ["example.com"] });
        session.call(
            "run_command",
            json!({ "argv": ["cat", "secret.txt"], "profile": "minimal", "grants": grants }),
        )
    };
    let mut unasked = Session::start(&place, &[], None);
    let result = call(&mut unasked);
    is_refused(&result, "Permission denied: read");
    assert!(
        result["structuredContent"]["notes"][0]
            .as_str()
            .unwrap()
            .contains("weren't given"),
        "{result}"
    );
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "answer": "always" } }),
        json!({ "action": "accept", "content": { "answer": ["session"] } }),
        json!({ "content": { "answer": "session" } }),
        json!("yes"),
        json!({}),
    ] {
        let mut session = Session::start(&place, &[], Some(answer.clone()));
        let result = call(&mut session);
        is_refused(&result, "Permission denied: read");
        assert_eq!(session.asked.len(), 1, "{answer}");
    }
    let yes = json!({ "action": "accept", "content": { "answer": "all-asked" } });
    let mut session = Session::start(&place, &[], Some(yes));
    assert_eq!(call(&mut session)["structuredContent"]["stdout"], "hi\n");
    // Secrets aren't asked about, whatever a client asks for.
    let key = place.file("~/.ssh/id_test", "private\n");
    let grants = json!({ "read": [key] });
    let arguments = json!({ "argv": ["cat", key], "grants": grants });
    is_refused(&session.call("run_command", arguments), "no grant opens it");
    assert_eq!(session.asked.len(), 1);
}

#[test]
fn what_the_users_rules_deny_is_denied() {
    let place = Place::new();
    let rules = "version = 1\n[[permissions.deny]]\ntool = \"bash\"\ncommand = \"touch\"\n";
    place.file("~/.config/stockade/config.toml", rules);
    let mut session = Session::start(&place, &[], None);
    for line in ["touch ran", "true && touch ran", "sh -c 'touch ran'"] {
        let result = session.run(line);
        is_refused(&result, "Permission denied: ");
        assert_eq!(result["structuredContent"]["status"], "refused");
    }
    is_refused(
        &session.call("run_command", json!({ "argv": ["touch", "ran"] })),
        "Permission denied: ",
    );
    let script = json!({ "language": "shell", "code": "touch ran\n" });
    is_refused(&session.call("run_script", script), "Permission denied: ");
    assert!(!place.root.join("ran").exists());
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
}

#[test]
fn what_the_users_rules_deny_is_denied_in_whatever_a_shell_would_run() {
    let place = Place::new();
    let rules = "version = 1\n[[permissions.deny]]\ntool = \"bash\"\ncommand = \"touch\"\n";
    place.file("~/.config/stockade/config.toml", rules);
    let mut session = Session::start(&place, &[], None);
    for (tool, arguments) in [
        ("run_command", json!({ "command": "sh", "stdin": "touch ran" })),
        ("run_command", json!({ "argv": ["sh"], "stdin": "touch ran\n" })),
        ("run_command", json!({ "command": "cat | sh", "stdin": "touch ran" })),
        (
            "run_command",
            json!({ "command": "xargs $X", "stdin": "touch ran", "env": { "X": "env" } }),
        ),
        (
            "run_command",
            json!({ "command": "sh -c \"$X\"", "env": { "X": "touch ran" } }),
        ),
        (
            "run_script",
            json!({ "language": "shell", "code": "\"$@\"", "arguments": ["touch", "ran"] }),
        ),
        (
            "run_script",
            json!({ "language": "shell", "code": "sh", "stdin": "touch ran" }),
        ),
    ] {
        let result = session.call(tool, arguments);
        is_refused(&result, "Permission denied: ");
        assert_eq!(result["structuredContent"]["status"], "refused", "{result}");
    }
    assert!(!place.root.join("ran").exists());
    // Data is no command.
    let data = "touch ran\n".repeat(50_000);
    let result = session.call(
        "run_command",
        json!({ "command": "wc -l", "stdin": data, "env": { "X": "fine" } }),
    );
    assert_eq!(result["structuredContent"]["stdout"], "50000\n", "{result}");
}

#[test]
fn output_keeps_its_head_and_tail_and_is_escaped() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let result = session.run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last");
    let told = result["structuredContent"]["stdout"].as_str().unwrap();
    assert!(
        told.starts_with("first\nxxx") && told.ends_with("xxx\nlast\n"),
        "{}",
        &told[..100]
    );
    assert!(told.len() < 70_000 && told.contains("bytes left out"), "{}", told.len());
    assert_eq!(result["structuredContent"]["stdout_bytes"], 3_000_012);
    let result = session.run("printf 'a\\033[2Jb\\342\\200\\256c\\n'; printf '\\377' >&2");
    let data = &result["structuredContent"];
    assert_eq!(data["stdout"], "a\\u{1b}[2Jb\\u{202e}c\n", "{data}");
    assert_eq!(data["stderr"], "\u{fffd}");
}

#[test]
fn a_run_ends_at_the_time_limit_that_the_user_set() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--time-limit", "1s"], None);
    let result = session.call(
        "run_command",
        json!({ "argv": ["sleep", "60"], "time_limit_seconds": 50 }),
    );
    assert_eq!(result["structuredContent"]["status"], "time_limit", "{result}");
    assert_eq!(result["isError"], true);
}

#[test]
fn runs_are_in_the_audit_trail_as_the_agents_own() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    session.run("true");
    assert_eq!(session.ends(), Some(0));
    let trail = finish(place.command(STOCKADE).args(["audit", "export", "--jsonl"]), b"").stdout();
    let is_of_run = |line: &&str| line.contains("\"agent\":\"mcp\"") && line.contains("/bin/sh");
    assert!(trail.lines().any(|line| is_of_run(&line)), "{trail}");
}

#[test]
fn a_server_never_offers_trusted() {
    let place = Place::new();
    for flags in [
        &["--ceiling", "trusted"][..],
        &["--profile", "trusted"],
        &["--ceiling", "workspace", "--profile", "trusted"],
        &["--ceiling", "readonly", "--profile", "workspace"],
        &["--ceiling", "nowhere"],
        &["--root", "nowhere"],
    ] {
        let refused = finish(place.command(STOCKADE).args(["mcp", "serve"]).args(flags), b"");
        assert_eq!(
            (refused.status.code(), refused.stdout().as_str()),
            (Some(125), ""),
            "{flags:?}"
        );
    }
}

#[test]
fn only_its_user_reads_a_script() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let code =
        "import os\nfor path in __file__, os.path.dirname(__file__):\n  print(oct(os.stat(path).st_mode & 0o77))";
    let result = session.call("run_script", json!({ "language": "python", "code": code }));
    let told = result["structuredContent"]["stdout"].as_str().unwrap_or_default();
    assert!(told.ends_with("0o0\n"), "the directory opens to others: {result}");
}

#[test]
fn javascript_is_either_kind_of_module_and_node_says_nothing_of_it() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--ceiling", "mcp-standard"], None);
    for code in [
        "console.log(typeof require('fs').readFileSync)",
        "import fs from 'fs'; console.log(typeof fs.readFileSync)",
    ] {
        let script = json!({ "language": "javascript", "code": code, "profile": "mcp-standard" });
        let result = session.call("run_script", script);
        let data = &result["structuredContent"];
        if data["stderr"]
            .as_str()
            .is_some_and(|said| said.contains("`node` not found"))
        {
            return skipped("Node isn't installed");
        }
        assert_eq!(data["stdout"], "function\n", "{result}");
        assert!(!data["stderr"].as_str().unwrap().contains("Warning"), "{result}");
        assert_eq!(data["denials"], json!([]), "{result}");
    }
}

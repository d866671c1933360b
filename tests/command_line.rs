//! What the command line promises of all its commands.

use serde_json::Value;

use crate::common::{Finished, Place, STOCKADE, finish};

fn stockade(place: &Place, words: &[&str]) -> Finished {
    finish(place.command(STOCKADE).args(words), b"")
}

#[test]
fn a_bare_stockade_prints_help_and_exits_0() {
    let place = Place::new();
    let help = stockade(&place, &["--help"]).stdout();
    for (words, text) in [(&[][..], &*help), (&["grant"], "Usage: stockade grant <TASK>")] {
        let bare = stockade(&place, words);
        assert_eq!(
            (bare.status.code(), bare.stderr()),
            (Some(0), String::new()),
            "{words:?}"
        );
        assert!(bare.stdout().contains(text), "{words:?}: {}", bare.stdout());
    }
}

/// Each line of a list is an object with these fields.
fn lists(place: &Place, words: &[&str], fields: &[&str]) {
    let words = [words, &["--json"]].concat();
    let listed = stockade(place, &words);
    assert_eq!(listed.stderr(), "", "{words:?}");
    let lines: Vec<Value> = listed
        .stdout()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty(), "{words:?}");
    for line in &lines {
        for field in fields {
            assert!(line.get(field).is_some(), "{words:?} has no {field}: {line}");
        }
    }
}

#[test]
fn every_list_and_explain_have_json() {
    let place = Place::new();
    place.file("file", "x");
    place.file("script.py", "print(1)\n");
    place.file(
        ".stockade/config.toml",
        "version = 1\n[[permissions.deny]]\ntool = \"bash\"\ncommand = \"rm\"\n",
    );
    let always = "command=echo '{\"answer\":\"yes\",\"lifetime\":\"always\"}'";
    assert_eq!(
        stockade(&place, &["run", "--ask", always, "--", "cat", "file"]).stdout(),
        "x"
    );
    let report = place.path("~/report.json");
    let report = report.to_str().unwrap();
    stockade(
        &place,
        &["run", "--ask", "never", "--report", report, "--", "cat", "script.py"],
    );
    assert_eq!(
        stockade(&place, &["exec", "--ask", "never", "script.py"]).stdout(),
        "1\n"
    );
    assert_eq!(stockade(&place, &["trust", "--yes"]).status.code(), Some(0));

    lists(
        &place,
        &["profile", "list"],
        &["name", "layer", "description", "problem"],
    );
    lists(
        &place,
        &["profile", "secrets"],
        &["kind", "pattern", "holds", "owner", "source", "by"],
    );
    assert_eq!(
        stockade(
            &place,
            &[
                "run",
                "--profile",
                "workspace",
                "--",
                "sh",
                "-c",
                "mkdir -p $npm_config_cache && echo x >$npm_config_cache/x"
            ]
        )
        .status
        .code(),
        Some(0)
    );
    lists(&place, &["cache", "list"], &["name", "profile", "root", "bytes"]);
    lists(&place, &["script", "list"], &["hash", "path", "language"]);
    lists(
        &place,
        &["audit", "list"],
        &["seq", "time_ms", "run", "kind", "record", "hash"],
    );
    lists(&place, &["grant", "list"], &["id", "project", "grant", "revoked_ms"]);
    lists(&place, &["rules", "list"], &["text", "origins", "counts"]);
    lists(&place, &["config", "show"], &["text", "origins", "counts"]);
    lists(&place, &["trust", "--list"], &["path", "hash", "now"]);
    place.file(
        "~/.cursor/mcp.json",
        r#"{ "mcpServers": { "time": { "command": "mcp-server-time" } } }"#,
    );
    lists(&place, &["mcp", "status"], &["client", "server", "standing"]);
    lists(&place, &["audit", "verify"], &["unaltered_rows", "newest", "fault"]);

    let explained = stockade(&place, &["explain", report, "--json"]);
    let explained: Value = serde_json::from_str(&explained.stdout()).unwrap();
    assert_eq!(explained["profile"], "minimal", "{explained:#}");
    assert_eq!(explained["denials"][0]["explains"], "yes", "{explained:#}");
    assert_eq!(explained["suggestion"]["flags"][0], "--read", "{explained:#}");
}

#[test]
fn messages_name_their_fix() {
    let place = Place::new();
    for (words, hint) in [
        (
            &["run", "--", "no-such-program"][..],
            "install it, or name its file by a path",
        ),
        (
            &["run", "--env", "=x", "--", "true"],
            "write `--env NAME`, or `--env NAME=VALUE`",
        ),
        (
            &["run", "--tool", "none", "--", "true"],
            "declare it as `[tools.NAME]` in `config.toml`",
        ),
        (
            &["run", "--report", "none/report", "--", "true"],
            "its directory has to be there",
        ),
        (
            &["run", "--profile", "none", "--", "true"],
            "the profiles are `minimal`, ",
        ),
        (
            &["explain", "file"],
            "`stockade run --report FILE -- COMMAND` writes a report; `stockade audit list` shows runs",
        ),
        (&["trust"], "name the project's root: `stockade trust DIR`"),
        (&["config", "show", "--root", "none"], "name a directory that exists"),
        (
            &["check", "--root", "none", "--tool", "read"],
            "name a directory that exists",
        ),
        (
            &["rules", "remember", "--tool", "bash"],
            "name the command line: `stockade rules remember",
        ),
        (&["audit", "show", "none"], "`stockade audit list` shows"),
        (&["grant", "revoke", "none"], "`stockade grant list` shows"),
        (&["script", "show", "none"], "`stockade script list` shows"),
    ] {
        place.file("file", "no report");
        let said = stockade(&place, words).stderr();
        assert!(said.contains(&format!("\nhint: {hint}")), "{words:?}: {said}");
    }
}

/// One style: what is wrong, and the way out as a hint.
#[test]
fn wrong_words_are_told_as_everything_else() {
    let place = Place::new();
    for (words, message) in [
        (
            &["runn"][..],
            "unrecognized task `runn`\n\nhint: a similar task exists: `run`\n",
        ),
        (
            &["profile", "shwo"],
            "unrecognized task `shwo`\n\nhint: a similar task exists: `show`\n",
        ),
        (
            &["run", "--profil", "x"],
            "unexpected argument `--profil` found\n\nhint: a similar argument exists: `--profile`\n",
        ),
        (
            &["mcp", "tools"],
            "the following required arguments were not provided: <NAME>\n\nhint: `stockade mcp tools <NAME>`\n",
        ),
        (
            &["run", "--listen", "x", "true"],
            "invalid value `x` for `--listen <PORT>`: a port is 1 to 65535, or 0 for one that the kernel chooses\n\n\
             hint: `stockade run --help` shows what it takes\n",
        ),
        (
            &["grant", "remove", "--all"],
            "unexpected argument `--all` found\n\nhint: `stockade grant remove <ID>`\n",
        ),
        (
            &["explain", "--last", "0"],
            "invalid value `0` for `--last <NTH>`: it is a number from 1 on, which is the newest run\n\n\
             hint: `stockade explain --help` shows what it takes\n",
        ),
        (
            &["mcp", "serve", "--ask", "terminal"],
            "invalid value `terminal` for `--ask <WHERE>`: it is `client`, `auto`, `socket`, `command=TEXT` or `never`\n\n\
             hint: `stockade mcp serve --help` shows what it takes\n",
        ),
    ] {
        let said = stockade(&place, words);
        assert_eq!(
            (said.status.code(), said.stderr()),
            (Some(125), format!("stockade: {message}")),
            "{words:?}"
        );
    }
}

#[test]
fn help_has_tasks_and_pages() {
    let place = Place::new();
    let help = |words: &[&str]| {
        let said = stockade(&place, words);
        assert_eq!(
            (said.status.code(), said.stderr()),
            (Some(0), String::new()),
            "{words:?}"
        );
        said.stdout()
    };
    assert_eq!(help(&["help"]), help(&["--help"]));
    assert_eq!(help(&["help", "profile", "show"]), help(&["profile", "show", "--help"]));
    assert_eq!(help(&["profile", "help", "show"]), help(&["profile", "show", "--help"]));
    // No terminal, so no pager.
    let page = finish(
        place.command(STOCKADE).args(["help", "a-day"]).env("PAGER", "false"),
        b"",
    )
    .stdout();
    assert!(
        page.starts_with("A day with a coding agent\n\n") && !page.contains("<!--"),
        "{page}"
    );
    assert_eq!(stockade(&place, &["help", "nothing"]).status.code(), Some(125));
}

#[test]
fn an_undeclared_agent_is_an_error_of_run_too() {
    let place = Place::new();
    place.file("script.sh", "echo it ran\n");
    for words in [
        &["run", "--agent", "fixer\u{202e}", "--", "echo", "it ran"][..],
        &["exec", "--agent", "fixer\u{202e}", "script.sh"],
    ] {
        let refused = stockade(&place, words);
        assert_eq!((refused.status.code(), refused.stdout()), (Some(125), String::new()));
        let said = refused.stderr();
        assert!(said.contains(r"stockade: no agent is called `fixer\u{202e}`"), "{said}");
        assert!(
            said.contains("hint: there are `worker`, `judge`, `planner`, `leader`, `mcp`; others are declared"),
            "{said}"
        );
    }
    let declared = "version = 1\n[agents.fixer]\nprofile = \"minimal\"\n";
    place.file("~/.config/stockade/config.toml", declared);
    let ran = stockade(&place, &["run", "--agent", "fixer", "--", "echo", "it ran"]);
    assert_eq!((ran.stdout(), ran.stderr()), ("it ran\n".to_string(), String::new()));
}

#[test]
fn help_is_as_wide_as_the_terminal_and_short_where_that_is_asked() {
    let place = Place::new();
    let help = |flag: &str| {
        let mut command = place.command(STOCKADE);
        finish(command.args(["run", flag]).env("COLUMNS", "72"), b"").stdout()
    };
    let (short, long) = (help("-h"), help("--help"));
    for line in short.lines().chain(long.lines()) {
        assert!(line.chars().count() <= 72, "{line}");
    }
    assert!(short.lines().count() * 3 < long.lines().count() * 2, "{short}");
    assert!(short.contains("--read") && !short.contains("--cpu-limit"), "{short}");
    assert!(long.contains("--cpu-limit"), "{long}");
}

#[test]
fn options_of_a_run_are_in_groups() {
    let place = Place::new();
    let help = stockade(&place, &["run", "--help"]).stdout();
    let mut headings: Vec<String> = Vec::new();
    for line in help.lines() {
        match line.trim_start().strip_prefix("--") {
            Some(option) => {
                let name = option.split([' ', '<']).next().unwrap();
                *headings.last_mut().unwrap() += &format!(" {name}");
            }
            None if line.ends_with(':') && !line.starts_with(' ') => headings.push(line.to_string()),
            None => {}
        }
    }
    insta::assert_snapshot!(headings.join("\n"), @"
    Arguments:
    Options:
    Profile and place: profile root agent tool
    Grants: what the run may do: read write write-guarded exec env deny host listen net llm socket cap mode
    Limits: time-limit cpu-limit memory-limit process-limit open-files-limit file-size-limit disk-limit output-limit
    Questions: ask ask-timeout escalate
    Report and audit trail: report messages dry-run events audit
    Enforcement: trace late-secrets resolver accept-shortfall
    ");
}

#[test]
fn shells_complete_the_command_line() {
    let place = Place::new();
    for (shell, checks) in [("bash", true), ("zsh", false), ("fish", false)] {
        let script = stockade(&place, &["completions", shell]).stdout();
        for word in [
            "doctor",
            "trace",
            "profile",
            "mcp-standard",
            "claude-desktop",
            "terminal",
        ] {
            assert!(script.contains(word), "{shell} has no {word}");
        }
        assert!(!script.contains("profile-digest"), "{shell} has hidden flags");
        if checks {
            let path = place.file(shell, &script);
            let completed = format!(
                ". {} && COMP_WORDS=(stockade doc) COMP_CWORD=1 && _stockade stockade doc stockade && \
                 echo \"${{COMPREPLY[@]}}\"",
                path.display()
            );
            let finished = finish(place.command(shell).args(["-c", &completed]), b"");
            assert_eq!(
                (finished.stdout(), finished.stderr()),
                ("doctor\n".into(), String::new())
            );
        }
    }
    let wrong = stockade(&place, &["completions", "tcsh"]);
    assert_eq!(wrong.status.code(), Some(125));
    assert!(
        wrong.stderr().contains("it is `bash`, `zsh` or `fish`"),
        "{}",
        wrong.stderr()
    );
}

#[test]
fn each_task_has_a_page_of_the_manual() {
    let place = Place::new();
    let directory = place.path("man");
    let written = stockade(&place, &["man-pages", directory.to_str().unwrap()]);
    assert_eq!((written.status.code(), written.stderr()), (Some(0), String::new()));
    for name in ["stockade", "stockade-run", "stockade-audit-list"] {
        let page = std::fs::read_to_string(directory.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
}

/// As `head` does. `bash` says what each side of a pipe ended with.
#[test]
fn a_reader_that_has_enough_ends_the_output_quietly() {
    let place = Place::new();
    stockade(&place, &["check", "--tool", "read"]);
    for words in [
        "completions bash",
        "config show --json",
        "profile show workspace",
        "profile schema",
        "audit report --html",
        "check --batch --audit off < <(yes '{\"tool\": \"read\"}' | head -n 9999)",
    ] {
        let line = format!("'{STOCKADE}' {words} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}");
        let finished = finish(place.command("bash").args(["-c", &line]), b"");
        assert_eq!(
            (finished.stdout(), finished.stderr()),
            ("0\n".into(), String::new()),
            "{words}"
        );
    }
}

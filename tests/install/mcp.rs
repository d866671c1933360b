//! `stockade mcp install` and `mcp uninstall`, in the files of each client.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use super::{read, stockade, with_path, works};
use crate::common::{Place, STOCKADE, Terminal, run};

/// Each client with a file of its servers, old and new layouts, and what else counts.
pub(super) const FILES: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        "~/.claude.json",
        r#"{"numStartups": 3, "mcpServers": {"s": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {}}}}"#,
    ),
    (
        "claude-code",
        "~/.claude.json",
        "{\n  \"projects\": {\n    \"/p\": {\n      \"mcpServers\": {\n        \"s\": {\n          \"command\": \"npx\",\n          \
         \"args\": [\n            \"-y\",\n            \"x\"\n          ]\n        }\n      }\n    }\n  }\n}\n",
    ),
    (
        "claude-code --project",
        ".mcp.json",
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "claude-desktop",
        "~/.config/Claude/claude_desktop_config.json",
        r#"{"globalShortcut": "", "mcpServers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "codex",
        "~/.codex/config.toml",
        "model = \"x\" # mine\n\n[mcp_servers.s] # c\ncommand = 'npx'\nargs = [\"-y\", \"x\"]\nenv_vars = [\"A\"]\n\n[mcp_servers.s.env]\nB = \"c\"\n",
    ),
    (
        "codex --project",
        ".codex/config.toml",
        "mcp_servers.s = { command = \"npx\", args = [\"-y\", \"x\"] }\n",
    ),
    (
        "copilot",
        "~/.copilot/mcp-config.json",
        r#"{"mcpServers": {"s": {"type": "local", "command": "npx", "args": ["-y", "x"], "tools": ["*"]}}}"#,
    ),
    (
        "cursor",
        "~/.cursor/mcp.json",
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "cursor --project",
        ".cursor/mcp.json",
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "vscode",
        "~/.config/Code/User/mcp.json",
        "{\n\t// mine\n\t\"servers\": {\n\t\t\"s\": {\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"x\",], // why\n\t\t},\n\t},\n\t\"inputs\": [],\n}\n",
    ),
    (
        "vscode",
        "~/.config/VSCodium/User/settings.json",
        "{\n    \"editor.tabSize\": 4, // mine\n    \"mcp\": {\"servers\": {\"s\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}}}\n}\n",
    ),
    (
        "vscode --project",
        ".vscode/mcp.json",
        r#"{"servers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "gemini",
        "~/.gemini/settings.json",
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "x"], "trust": false}}}"#,
    ),
    (
        "gemini --project",
        ".gemini/settings.json",
        r#"{"mcpServers": {"s": {"command": "npx", "args": ["-y", "x"]}}}"#,
    ),
    (
        "zed",
        "~/.config/zed/settings.json",
        "// Zed\n{\n  \"context_servers\": {\n    \"s\": {\"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": {}},\n  },\n}\n",
    ),
    (
        "zed --project",
        ".zed/settings.json",
        r#"{"context_servers": {"s": {"source": "custom", "command": {"path": "npx", "args": ["-y", "x"], "env": {"B": "c"}}, "settings": {}}}}"#,
    ),
];

#[test]
fn the_file_of_each_client_gets_a_wrapped_line_and_is_as_before_after_uninstall() {
    for (client, name, text) in FILES {
        let place = Place::new();
        let path = place.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let shown = works(&place, &format!("mcp install --for {client} --yes"));
        assert!(shown.contains(&format!("+++ {}", path.display())), "{shown}");
        let new = read(&place, name);
        for word in [
            "/stockade\"",
            "\"mcp\", \"wrap\", \"--profile\", \"mcp-standard\", \"--name\", \"s\"",
            "\"--\", ",
        ] {
            assert!(new.contains(word), "{client}: {word}\n{new}");
        }
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640, "{client}");
        assert_eq!(read(&place, &format!("{name}.stockade-backup")), *text, "{client}");
        // Once more, nothing happens.
        let again = stockade(&place, &format!("mcp install --for {client} --yes"));
        assert_eq!(again.stderr(), "stockade: nothing to change\n");
        assert!(
            again.stdout().contains("Stockade wraps it already"),
            "{}",
            again.stdout()
        );
        works(&place, &format!("mcp uninstall --for {client} --yes"));
        assert_eq!(read(&place, name), *text, "{client}");
        assert!(!place.path(&format!("{name}.stockade-backup")).exists(), "{client}");
    }
}

#[test]
fn a_projects_file_names_the_program_by_its_whole_path_too() {
    let place = Place::new();
    place.file(".mcp.json", FILES[2].2);
    let first = place.path("~/.cargo/bin");
    fs::create_dir_all(&first).unwrap();
    symlink(STOCKADE.path(), first.join("stockade")).unwrap();
    let done = with_path(&place, &[&first], "mcp install --for claude-code --project --yes");
    assert_eq!(done.status.code(), Some(0), "{}", done.stderr());
    let new: Value = serde_json::from_str(&read(&place, ".mcp.json")).unwrap();
    assert_eq!(
        new["mcpServers"]["s"]["command"],
        first.join("stockade").to_str().unwrap()
    );
}

#[test]
fn the_variables_of_the_entry_are_named_in_the_line() {
    let place = Place::new();
    place.file("~/.codex/config.toml", FILES[4].2);
    works(&place, "mcp install --for codex --yes");
    let new = read(&place, "~/.codex/config.toml");
    assert!(
        new.contains(r#""--env", "B", "--env", "A", "--", 'npx', "-y", "x"]"#),
        "{new}"
    );
}

#[test]
fn what_was_edited_since_stays_edited() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", FILES[7].2);
    works(&place, "mcp install --for cursor --yes");
    let new = read(&place, "~/.cursor/mcp.json");
    let edited = new
        .replace("\"-y\"", "\"--yes\"")
        .replace(r#"{"s""#, r#"{"mine": {"url": "https://mcp.example.com"}, "s""#);
    place.file(
        "~/.cursor/mcp.json",
        edited.replace("\"--name\"", "\"--llm\", \"--write\", \"/srv\", \"--name\""),
    );
    works(&place, "mcp uninstall --for cursor --yes");
    let expected = r#"{"mcpServers": {"mine": {"url": "https://mcp.example.com"}, "s": {"command": "npx", "args": ["--yes", "x"]}}}"#;
    assert_eq!(read(&place, "~/.cursor/mcp.json"), expected);
    // It differs from what is there now, so it isn't thrown away.
    assert_eq!(read(&place, "~/.cursor/mcp.json.stockade-backup"), FILES[7].2);
}

#[test]
fn servers_that_stockade_cant_confine_are_left_and_told() {
    let place = Place::new();
    let text = r#"{"mcpServers": {
        "run": {"command": "@", "args": ["run", "--", "x"]},
        "url": {"url": "https://mcp.example.com"},
        "box": {"command": "docker", "args": ["run", "-i", "x"]},
        "line": {"command": "npx -y x"},
        "odd": {"command": "x", "args": "y"}
    }}"#;
    let text = text.replace('@', STOCKADE.path());
    place.file("~/.cursor/mcp.json", &text);
    let shown = works(&place, "mcp install --for cursor --yes");
    for said in [
        "url: left as it is: it is reached by a URL",
        "box: left UNCONFINED: an engine starts its container",
        "line: left UNCONFINED: its command is a whole line",
        "odd: left UNCONFINED: its `args` aren't a list of texts",
        "run: left as it is: Stockade starts it already: run -- x",
    ] {
        assert!(shown.contains(said), "{said}\n{shown}");
    }
    assert_eq!(read(&place, "~/.cursor/mcp.json"), text);
}

/// The entry stays as it is, and both what is listed and a warning say that nothing confines it.
fn is_left_unconfined(entry: &str, reason: &str) {
    for (client, name) in [("cursor", "~/.cursor/mcp.json"), ("claude-code --project", ".mcp.json")] {
        let place = Place::new();
        let text = format!("{{\"mcpServers\": {{\"x\": {entry}}}}}");
        place.file(name, &text);
        let done = stockade(&place, &format!("mcp install --for {client} --yes"));
        assert!(
            done.stdout().contains("  x: left UNCONFINED: "),
            "{entry}: {}",
            done.stdout()
        );
        let told = done.stderr();
        assert!(
            told.contains("warning: `x`: nothing confines it: ") && told.contains(reason),
            "{entry}: {told}"
        );
        assert_eq!(read(&place, name), text);
    }
}

#[test]
fn an_entry_with_a_command_and_a_url_isnt_taken_for_one_without_a_program() {
    for key in ["url", "httpUrl", "serverUrl"] {
        is_left_unconfined(
            &format!(r#"{{"command": "./x", "{key}": "http://127.0.0.1/"}}"#),
            &format!("both `command` and `{key}`"),
        );
    }
}

#[test]
fn an_entry_whose_variables_would_reach_stockade_itself_isnt_wrapped() {
    for name in [
        "PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "TMPDIR",
        "LD_PRELOAD",
    ] {
        is_left_unconfined(
            &format!(r#"{{"command": "/bin/cat", "args": ["a"], "env": {{"A": "b", "{name}": "/srv/p"}}}}"#),
            &format!("the variable `{name}`"),
        );
        // Nor is it believed to be wrapped.
        is_left_unconfined(
            &format!(
                r#"{{"command": "{}", "args": ["mcp", "wrap", "--", "x"], "env": {{"{name}": "/srv/p"}}}}"#,
                STOCKADE.path()
            ),
            &format!("the variable `{name}`"),
        );
    }
    is_left_unconfined(r#"{"command": "x", "envFile": ".env"}"#, "has an `envFile`");
}

/// What an install says about entries of a project's file; each `@` is the program's path.
fn said_of_project(place: &Place, entries: &str, first: &[&Path]) -> String {
    let text = format!("{{\"mcpServers\": {{{}}}}}", entries.replace('@', STOCKADE.path()));
    place.file(".mcp.json", text);
    let done = with_path(place, first, "mcp install --for claude-code --project");
    done.stdout() + &done.stderr()
}

#[test]
fn another_program_called_stockade_is_wrapped_as_any_other() {
    let place = Place::new();
    let other = place.program("bin/stockade", "#!/bin/sh\n");
    for command in ["./stockade", "stockade", other.to_str().unwrap(), "/no/such/stockade"] {
        for args in [r#""mcp", "wrap", "--", "x""#, r#""run", "x""#] {
            let entry = format!(r#""a": {{"command": "{command}", "args": [{args}]}}"#);
            // Where the bare name finds that one, too.
            let shown = said_of_project(&place, &entry, &[&place.path("bin")]);
            assert!(shown.contains("  a: --profile mcp-standard --name a"), "{shown}");
            assert!(
                shown.contains(&format!(
                    "warning: `a`: it starts `{command}`, which isn't this program"
                )),
                "{shown}"
            );
        }
    }
}

#[test]
fn what_is_wrapped_already_is_shown_with_a_warning_of_what_it_may_do() {
    let place = Place::new();
    let shown = said_of_project(
        &place,
        r#""none": {"command": "@", "args": ["mcp", "wrap", "--profile", "minimal", "--name", "n", "--env", "A", "--", "x"]}"#,
        &[],
    );
    assert!(
        shown.contains("none: left as it is: Stockade wraps it already: --profile minimal --name n --env A"),
        "{shown}"
    );
    assert!(!shown.contains("warning"), "{shown}");
    for (flags, said) in [
        (r#""--profile", "trusted""#, "it runs in `trusted`"),
        (r#""--profile=trusted""#, "it runs in `trusted`"),
        (r#""--profile", "${P:-trusted}""#, "what the client puts in its place"),
        (r#""--profile", "./own.toml""#, "`./own.toml` is a file of the project"),
        (r#""--write", "/srv""#, "has `--write /srv`"),
        (r#""--net=all""#, "has `--net all`"),
        (r#""--ask", "command=./x""#, "has `--ask command=./x`"),
        (r#""--env", "A=b""#, "has `--env NAME=VALUE`"),
    ] {
        let entry = format!(r#""a": {{"command": "@", "args": ["mcp", "wrap", {flags}, "--", "x"]}}"#);
        let shown = said_of_project(&place, &entry, &[]);
        assert!(
            shown.contains("a: left as it is: Stockade wraps it already: --"),
            "{shown}"
        );
        assert!(
            shown.contains("warning: `a`: ") && shown.contains(said),
            "{flags}: {shown}"
        );
    }
    let profile = place.file("own.toml", "");
    let entry = format!(
        r#""a": {{"command": "@", "args": ["mcp", "wrap", "--profile", "{}", "--", "x"]}}"#,
        profile.display()
    );
    let shown = said_of_project(&place, &entry, &[]);
    assert!(shown.contains("is a file of the project"), "{shown}");
    let entry = r#""a": {"command": "@", "args": ["run", "--profile", "trusted", "x"]}"#;
    let shown = said_of_project(&place, entry, &[]);
    assert!(
        shown.contains("by another task than `mcp wrap`") && shown.contains("--profile trusted x"),
        "{shown}"
    );
}

#[test]
fn the_bare_name_counts_where_it_finds_this_program_and_is_warned_of() {
    let place = Place::new();
    let first = place.path("~/.cargo/bin");
    fs::create_dir_all(&first).unwrap();
    symlink(STOCKADE.path(), first.join("stockade")).unwrap();
    let entry = r#""a": {"command": "stockade", "args": ["mcp", "wrap", "--", "x"]}"#;
    let shown = said_of_project(&place, entry, &[&first]);
    assert!(
        shown.contains("a: left as it is: Stockade wraps it already, without flags"),
        "{shown}"
    );
    assert!(shown.contains("the bare name `stockade`"), "{shown}");
}

#[test]
fn one_server_gets_the_profile_that_is_asked_for() {
    let place = Place::new();
    let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#;
    place.file("~/.cursor/mcp.json", text);
    works(&place, "mcp install --for cursor --server b --profile readonly --yes");
    let new: Value = serde_json::from_str(&read(&place, "~/.cursor/mcp.json")).unwrap();
    assert_eq!(new["mcpServers"]["a"]["command"], "x");
    assert_eq!(new["mcpServers"]["b"]["args"][3], "readonly");
    for (line, said) in [
        ("mcp install --for cursor --profile no-such", "no-such"),
        (
            "mcp install --for cursor --server no-such",
            "no server is called no-such",
        ),
        ("mcp install --for gemini", "no server is configured for gemini"),
        (
            "mcp install --for claude-desktop --project",
            "has no settings of a project",
        ),
        ("mcp install --for emacs", "the clients are claude-code, claude-desktop"),
    ] {
        let done = stockade(&place, line);
        assert!(
            done.stderr().contains(said) && !done.status.success(),
            "{line}: {}",
            done.stderr()
        );
    }
}

#[test]
fn a_server_that_is_wrapped_already_gets_another_profile_and_keeps_its_other_flags() {
    let place = Place::new();
    place.file(
        ".mcp.json",
        r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#,
    );
    let install = "mcp install --for claude-code --project --yes";
    works(&place, &format!("{install} --server a"));
    let new = read(&place, ".mcp.json").replace("\"--name\"", "\"--write\", \"/srv\", \"--name\"");
    place.file(".mcp.json", &new);
    let done = stockade(&place, &format!("{install} --profile trusted"));
    assert!(done.stderr().contains("runs in `trusted`"), "{}", done.stderr());
    let shown = works(&place, &format!("{install} --profile readonly"));
    let said = "  a: --profile readonly --write /srv --name a (another profile, the rest as before)\n";
    assert!(shown.contains(said), "{shown}");
    let written: Value = serde_json::from_str(&read(&place, ".mcp.json")).unwrap();
    for server in ["a", "b"] {
        assert_eq!(written["mcpServers"][server]["args"][3], "readonly");
    }
    let again = stockade(&place, &format!("{install} --profile readonly"));
    assert_eq!(again.stderr().lines().last(), Some("stockade: nothing to change"));
    works(&place, "mcp uninstall --for claude-code --project --yes");
    assert!(!read(&place, ".mcp.json").contains("stockade"));
}

#[test]
fn a_profiles_file_is_named_by_its_whole_path_and_one_of_the_project_is_warned_of() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", FILES[7].2);
    let profile = place.file(
        "own.toml",
        "version = 1\nname = \"own\"\ndescription = \"own\"\nextends = \"readonly\"\n",
    );
    let warning = format!("its profile `{}` is a file of the project", profile.display());
    let install = "mcp install --for cursor --yes --profile own.toml";
    for round in ["first", "again"] {
        let done = stockade(&place, install);
        assert!(
            done.status.success() && done.stderr().contains(&warning),
            "{round}: {}",
            done.stderr()
        );
        let new: Value = serde_json::from_str(&read(&place, "~/.cursor/mcp.json")).unwrap();
        assert_eq!(new["mcpServers"]["s"]["args"][3], profile.to_str().unwrap());
    }
    let edited = read(&place, "~/.cursor/mcp.json").replace(profile.to_str().unwrap(), "own.toml");
    place.file("~/.cursor/mcp.json", edited);
    let done = stockade(&place, "mcp install --for cursor");
    assert!(
        done.stderr()
            .contains("its profile `own.toml` is a file of the project"),
        "{}",
        done.stderr()
    );
}

#[test]
fn a_profile_of_the_configuration_stays_where_no_flag_names_another() {
    let place = Place::new();
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[mcp.servers.s]\nprofile = \"minimal\"\n",
    );
    place.file("~/.cursor/mcp.json", FILES[7].2);
    let shown = works(&place, "mcp install --for cursor --yes");
    assert!(
        shown.contains("  s: --name s (the profile `minimal` of `config.toml`)\n"),
        "{shown}"
    );
    let shown = works(&place, "mcp install --for cursor --yes --profile readonly");
    assert!(shown.contains("  s: --profile readonly --name s "), "{shown}");
}

#[test]
fn a_variable_that_came_later_is_told_and_added() {
    let place = Place::new();
    let name = "~/.cursor/mcp.json";
    place.file(name, r#"{"mcpServers": {"s": {"command": "x", "env": {"A": "b"}}}}"#);
    works(&place, "mcp install --for cursor --yes");
    let new = read(&place, name).replace(r#""A": "b""#, r#""A": "b", "LATER": "c""#);
    place.file(name, new);
    let status = works(&place, "mcp status");
    let said = "without `LATER` of its variables, which `stockade mcp install --for cursor` adds";
    assert!(
        status.contains("Stockade wraps it already: ") && status.contains(said),
        "{status}"
    );
    works(&place, "mcp install --for cursor --yes");
    assert!(
        read(&place, name).contains(r#""--env", "A", "--env", "LATER", "--", "x"]"#),
        "{}",
        read(&place, name)
    );
    assert!(!works(&place, "mcp status").contains("LATER of"));
    works(&place, "mcp uninstall --for cursor --yes");
}

#[test]
fn status_takes_trusted_for_unconfined_and_goes_on_after_a_broken_file() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", FILES[7].2);
    works(&place, "mcp install --for cursor --profile trusted --yes");
    let done = stockade(&place, "mcp status");
    assert_eq!(done.status.code(), Some(1));
    assert!(
        done.stdout().contains("  s: not confined: it runs in `trusted`"),
        "{}",
        done.stdout()
    );
    place.file("~/.claude.json", "{");
    let done = stockade(&place, "mcp status");
    assert_eq!(done.status.code(), Some(125));
    assert!(done.stderr().contains(".claude.json`: "), "{}", done.stderr());
    assert!(done.stdout().contains("cursor"), "{}", done.stdout());
}

#[test]
fn status_shows_a_projects_servers_too_and_a_line_that_confines_them() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", r#"{"mcpServers": {"mine": {"command": "x"}}}"#);
    place.file(".mcp.json", r#"{"mcpServers": {"ours": {"command": "x"}}}"#);
    let ours = format!("ours (in {})", place.path("").canonicalize().unwrap().display());
    let lines = |line: &str, code| {
        let done = stockade(&place, line);
        assert_eq!(done.status.code(), Some(code), "{}", done.stderr());
        done.stdout().lines().map(str::to_string).collect::<Vec<_>>()
    };
    for (task, names) in [
        ("mcp status", &["mine", &ours, &ours][..]),
        ("mcp status --project", &[&ours, &ours]),
    ] {
        let shown = lines(task, 1);
        assert_eq!(shown.len(), names.len(), "{shown:?}");
        for (line, name) in shown.iter().zip(names) {
            assert!(
                line.contains(&format!("  {name}: not confined; `stockade mcp install")),
                "{line}"
            );
        }
    }
    let shown = lines("mcp status", 1);
    for remedy in shown.iter().filter_map(|line| line.split('`').nth(1)) {
        let line = remedy.strip_prefix("stockade ").unwrap();
        stockade(&place, &format!("{line} --yes"));
    }
    let after = lines("mcp status", 0);
    assert!(
        after.iter().all(|line| line.contains("Stockade wraps it already")),
        "{after:?}"
    );
}

#[test]
fn an_older_copy_isnt_replaced_without_a_word() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", FILES[7].2);
    let copy = "~/.cursor/mcp.json.stockade-backup";
    place.file(copy, "mine");
    let done = stockade(&place, "mcp install --for cursor --yes");
    assert!(
        done.stderr().contains("was there with another text: it is `"),
        "{}",
        done.stderr()
    );
    assert_eq!(read(&place, copy), FILES[7].2);
    assert_eq!(read(&place, &format!("{copy}.1")), "mine");
    works(&place, "mcp uninstall --for cursor --yes");
    assert_eq!(read(&place, copy), "mine");
    assert!(!place.path(&format!("{copy}.1")).exists());
}

// promise: agents.12
#[test]
fn without_a_terminal_the_change_is_only_shown() {
    let place = Place::new();
    place.file("~/.cursor/mcp.json", FILES[7].2);
    let shown = stockade(&place, "mcp install --for cursor");
    assert_eq!(shown.status.code(), Some(1));
    assert!(shown.stdout().contains("+{\"mcpServers\""), "{}", shown.stdout());
    assert!(
        shown.stderr().contains("hint: `--yes` writes this without a question"),
        "{}",
        shown.stderr()
    );
    assert_eq!(read(&place, "~/.cursor/mcp.json"), FILES[7].2);
}

#[test]
fn at_a_terminal_a_person_answers() {
    for (answer, code) in [("n\r", 1), ("y\r", 0)] {
        let run = run().file("~/.cursor/mcp.json", FILES[7].2);
        let terminal = Terminal::new()
            .awaits("Write this change?")
            .types("d\r")
            .awaits("would be written")
            .types(answer)
            .ends_within(10);
        let words = ["mcp", "install", "--for", "cursor"].map(Into::into);
        let words = [vec![STOCKADE.into()], words.to_vec()].concat();
        assert_eq!(terminal.plays_command(&run, words), code, "{answer:?}");
        assert_eq!(read(&run.place, "~/.cursor/mcp.json").contains("wrap"), code == 0);
    }
}

// promise: agents.12
#[test]
fn a_file_that_changes_while_the_question_is_open_is_kept() {
    let run = run().file("~/.cursor/mcp.json", FILES[7].2);
    let path = run.place.path("~/.cursor/mcp.json");
    let terminal = Terminal::new()
        .awaits("Write this change?")
        .meanwhile(&format!("echo '{{}}' >{}", path.display()))
        .types("y\r")
        .awaits("has changed in the meantime: nothing was written")
        .ends_within(10);
    let words = ["mcp", "install", "--for", "cursor"].map(Into::into);
    let words = [vec![STOCKADE.into()], words.to_vec()].concat();
    assert_eq!(terminal.plays_command(&run, words), 125);
    assert_eq!(read(&run.place, "~/.cursor/mcp.json"), "{}\n");
}

#[test]
fn a_link_of_the_users_is_followed_and_named_and_one_of_a_project_isnt() {
    let place = Place::new();
    let target = place.file("~/dotfiles/mcp.json", FILES[7].2);
    fs::create_dir(place.path("~/.cursor")).unwrap();
    symlink(&target, place.path("~/.cursor/mcp.json")).unwrap();
    let done = stockade(&place, "mcp install --for cursor --yes");
    assert!(
        done.stderr()
            .contains(&format!("is a link: the file is `{}`", target.display())),
        "{}",
        done.stderr()
    );
    assert!(
        fs::symlink_metadata(place.path("~/.cursor/mcp.json"))
            .unwrap()
            .is_symlink()
    );
    assert!(read(&place, "~/dotfiles/mcp.json").contains("wrap"));
    fs::create_dir(place.path(".cursor")).unwrap();
    symlink(&target, place.path(".cursor/mcp.json")).unwrap();
    let done = stockade(&place, "mcp uninstall --for cursor --project --yes");
    assert_eq!(done.status.code(), Some(125));
    assert!(
        done.stderr().contains("leads out of the project through a link"),
        "{}",
        done.stderr()
    );
}

#[test]
fn the_shown_difference_has_no_secret() {
    let place = Place::new();
    let secret = "zq7Xv31LpR";
    place.file(
        "~/.cursor/mcp.json",
        format!(
            "{{\"mcpServers\": {{\n\"s\": {{\"command\": \"x\", \"args\": [\"--api-key={secret}\"],\n\"env\": {{\"API_KEY\": \"{secret}\"}}}}\n}}}}"
        ),
    );
    let done = stockade(&place, "mcp install --for cursor --yes");
    assert!(
        !done.stdout().contains(secret) && done.stdout().contains("***"),
        "{}",
        done.stdout()
    );
    assert_eq!(read(&place, "~/.cursor/mcp.json").matches(secret).count(), 2);
}

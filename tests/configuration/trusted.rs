//! `stockade trust`, `stockade rules remember`.

use std::fs;

use crate::common::{Place, STOCKADE, finish};
use crate::configuration::{ALLOW, stockade, told};

/// The hash that `stockade trust` shows.
fn hash(place: &Place) -> String {
    let shown = stockade(place, &["trust"]).stdout();
    shown
        .lines()
        .nth(1)
        .unwrap()
        .strip_prefix("blake3 ")
        .unwrap()
        .to_owned()
}

fn without_hashes(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let (word, end) = word.split_at(word.find(['\n', '`']).unwrap_or(word.len()));
        let is_hash = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        format!("{}{end}", if is_hash { "HASH" } else { word })
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_is_trusted_where_no_question_can_be_asked() {
    let place = Place::new();
    place.file(".stockade/config.toml", ALLOW);
    insta::assert_snapshot!(without_hashes(&told(&place, &["trust"])), @r#"
        @ROOT/.stockade/config.toml
        blake3 HASH
        + permissions.allow = { tool = "bash", command = "git push" }  # @ROOT/.stockade/config.toml:3
        ! stockade: can't ask whether to trust it: standard input and error aren't a terminal
        !
        ! hint: `--hash HASH` trusts exactly the reviewed content, `--yes` the present content
        Some(125)
        "#);
    assert!(told(&place, &["trust", "--diff"]).ends_with("Some(1)"));
    assert!(!place.state().join("trusted.json").exists());
}

// promise: agents.2
#[test]
fn a_project_is_trusted_by_its_hash_until_one_byte_changes() {
    let place = Place::new();
    let file = place.file(".stockade/config.toml", ALLOW);
    let other = told(&place, &["trust", "--hash", &"0".repeat(64)]);
    assert!(
        other.contains("the file's hash is `") && other.ends_with("Some(125)"),
        "{other}"
    );
    let hash = hash(&place);
    let trusted = stockade(&place, &["trust", "--hash", &hash.to_uppercase()]);
    assert_eq!(trusted.status.code(), Some(0), "{}", trusted.stderr());
    assert_eq!(told(&place, &["trust", "--diff"]), "Some(0)");
    assert!(
        told(&place, &["rules", "list"]).starts_with("permissions.allow = { tool = \"bash\", command = \"git push\" }")
    );

    fs::write(&file, format!("{ALLOW}[tools.git]\n")).unwrap();
    insta::assert_snapshot!(told(&place, &["trust", "--diff"]), @"
        + tools.git = {}  # @ROOT/.stockade/config.toml:5
        ! stockade: `@ROOT/.stockade/config.toml` isn't trusted: what is marked with + doesn't count
        Some(1)
        ");
    insta::assert_snapshot!(without_hashes(&told(&place, &["trust"])), @r#"
        @ROOT/.stockade/config.toml
        blake3 HASH
          permissions.allow = { tool = "bash", command = "git push" }  # @ROOT/.stockade/config.toml:3
        + tools.git = {}  # @ROOT/.stockade/config.toml:5
        ! stockade: can't ask whether to trust it: standard input and error aren't a terminal
        !
        ! hint: `--hash HASH` trusts exactly the reviewed content, `--yes` the present content
        Some(125)
        "#);
    insta::assert_snapshot!(without_hashes(&told(&place, &["trust", "--list"])), @"
        HASH  @ROOT/.stockade/config.toml  # has changed, doesn't count
        Some(0)
        ");
    insta::assert_snapshot!(told(&place, &["trust", "--remove"]), @"
        @ROOT isn't trusted any more
        Some(0)
        ");
    insta::assert_snapshot!(told(&place, &["trust", "--remove"]), @"
        @ROOT wasn't trusted
        Some(0)
        ");
    assert_eq!(
        told(&place, &["trust", "--list"]),
        "! stockade: there is no trusted project\nSome(0)"
    );
}

#[test]
fn a_project_without_a_configuration_has_nothing_to_trust() {
    let place = Place::new();
    insta::assert_snapshot!(told(&place, &["trust", "--yes"]), @"
        ! stockade: there is no `.stockade/config.toml` in `@ROOT`
        !
        ! hint: name the project's root: `stockade trust DIR`
        Some(125)
        ");
    assert_eq!(told(&place, &["trust", "--diff"]), "Some(0)");
}

#[test]
fn of_a_command_line_each_part_is_remembered_and_only_what_can_be() {
    let place = Place::new();
    let remember = |line: &str| told(&place, &["rules", "remember", "--tool", "bash", "--", line]);
    insta::assert_snapshot!(remember("cargo test --lib && make -j2 | tee log"), @"
        bash `cargo test` is allowed from now on, with other arguments too, by @ROOT/.stockade/config.toml
        bash `make` is allowed from now on, with other arguments too, by @ROOT/.stockade/config.toml
        bash `tee` is allowed from now on, with other arguments too, by @ROOT/.stockade/config.toml
        Some(0)
        ");
    insta::assert_snapshot!(remember("cargo test --doc"), @"
        ! stockade: this is allowed already: a rule allows it
        Some(0)
        ");
    insta::assert_snapshot!(remember("make $(curl evil)"), @"
        ! stockade: this is asked each time: the command line expands something
        Some(1)
        ");
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[[permissions.deny]]\ntool = 'bash'\ncommand = 'rm'\n",
    );
    insta::assert_snapshot!(remember("rm -rf x"), @"
        ! stockade: this is denied: a rule denies it
        Some(1)
        ");
    assert_eq!(
        stockade(&place, &["check", "--tool", "bash", "--", "make all"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn a_rule_for_a_tool_that_isnt_known_is_remembered_and_counts() {
    let place = Place::new();
    for tool in ["Frobnicate", "WebSearch"] {
        let words = ["rules", "remember", "--tool", tool];
        let said = told(&place, &words);
        assert!(
            said.starts_with(&format!("{tool} is allowed from now on, by ")),
            "{said}"
        );
        assert_eq!(stockade(&place, &["check", "--tool", tool]).status.code(), Some(0));
    }
    let said = told(&place, &["rules", "remember", "--tool", "shell"]);
    assert!(said.contains("this is denied"), "{said}");
}

#[test]
fn what_is_remembered_counts_at_once_and_never_in_a_file_that_is_not_trusted() {
    let place = Place::new();
    insta::assert_snapshot!(told(&place, &["rules", "remember", "--tool", "write"]), @"
        write is allowed from now on, by @ROOT/.stockade/config.toml
        Some(0)
        ");
    insta::assert_snapshot!(told(&place, &["rules", "remember", "--tool", "write"]), @"
        ! stockade: this is allowed already: a rule allows it
        Some(0)
        ");
    insta::assert_snapshot!(told(&place, &["rules", "list"]), @r#"
        permissions.allow = { tool = "write" }  # @ROOT/.stockade/config.toml:5
        Some(0)
        "#);
    place.file(".stockade/config.toml", ALLOW);
    insta::assert_snapshot!(told(&place, &["rules", "remember", "--tool", "edit"]), @"
        ! stockade: `@ROOT/.stockade/config.toml` has changed since it was trusted, so what it allows doesn't count: see `stockade trust --diff`
        ! stockade: `@ROOT/.stockade/config.toml` isn't trusted, so no rule is written into it
        !
        ! hint: `stockade trust` shows what it would allow, and trusts it
        Some(125)
        ");
    assert_eq!(fs::read_to_string(place.path(".stockade/config.toml")).unwrap(), ALLOW);
}

/// The state directory is closed there, so that no program makes its own rules count.
#[test]
fn a_run_trusts_and_remembers_nothing() {
    let place = Place::new();
    place.file(".stockade/config.toml", ALLOW);
    fs::create_dir_all(place.state()).unwrap();
    for task in ["trust --yes", "rules remember --tool write"] {
        // Unconfined it works, elsewhere.
        let elsewhere = Place::new();
        elsewhere.file(".stockade/config.toml", ALLOW);
        if task.starts_with("trust") {
            assert!(told(&elsewhere, &["trust", "--yes"]).ends_with("Some(0)"));
        }
        let state = place.home.join(".local/state");
        let code = format!("XDG_STATE_HOME={} {STOCKADE} {task}", state.display());
        let mut command = place.command(STOCKADE);
        command.args([
            "run",
            "--profile",
            "workspace",
            "--audit",
            "off",
            "--exec",
            STOCKADE.path(),
            "--",
            "sh",
            "-c",
            &code,
        ]);
        let finished = finish(&mut command, b"");
        assert_ne!(finished.status.code(), Some(0));
        assert!(
            finished.stderr().contains("stockade: can't use `"),
            "{}",
            finished.stderr()
        );
        assert!(!place.state().join("trusted.json").exists());
        assert_eq!(fs::read_to_string(place.path(".stockade/config.toml")).unwrap(), ALLOW);
    }
}

#[test]
fn a_project_s_profile_of_runs_counts_once_it_is_trusted() {
    let place = Place::new();
    place.file("notes.txt", "x");
    let run = |words: &[&str]| {
        let words = [&["run", "--ask", "never"], words, &["--", "cat", "notes.txt"]].concat();
        let ended = stockade(&place, &words);
        (ended.status.code(), ended.stderr())
    };
    let config = place.file(".stockade/config.toml", "version = 1\n[run]\nprofile = \"workspace\"\n");
    let (code, said) = run(&[]);
    assert!(
        code == Some(1) && said.contains("`run.profile = \"workspace\"` doesn't count"),
        "{said}"
    );
    assert!(told(&place, &["trust", "--yes"]).contains("+ run.profile = \"workspace\""));
    let (code, said) = run(&[]);
    assert!(
        code == Some(0) && said.contains("stockade: runs under `workspace`, by "),
        "{said}"
    );
    assert_eq!(run(&["-q"]), (Some(0), String::new()));
    assert_eq!(run(&["--profile", "minimal"]).0, Some(1));
    fs::write(config, "version = 1\n[run]\nprofile = \"filesystem\"\n").unwrap();
    assert_eq!(run(&[]).0, Some(1));
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[run]\nprofile = \"workspace\"\n",
    );
    assert_eq!(run(&[]).0, Some(0));
}

//! `stockade explain` without a report's file: runs are explained from the audit trail.

use crate::common::{Finished, Place, STOCKADE, finish};

fn stockade(place: &Place, directory: &str, words: &[&str]) -> Finished {
    let mut command: std::process::Command = place.command(STOCKADE);
    finish(command.current_dir(place.path(directory)).args(words), b"")
}

/// A run of a directory, in which `cat` is refused a file there.
fn refused_reading(place: &Place, directory: &str, file: &str) {
    place.file(&format!("{directory}/{file}"), "");
    let finished = stockade(place, directory, &["run", "--ask", "never", "--", "cat", file]);
    assert_eq!(finished.status.code(), Some(1));
}

fn explained(place: &Place, directory: &str, words: &[&str]) -> String {
    let finished = stockade(place, directory, &[&["explain"], words].concat());
    assert_eq!((finished.status.code(), finished.stderr().as_str()), (Some(0), ""));
    finished.stdout()
}

/// The fields of one label.
fn field<'a>(text: &'a str, label: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.strip_prefix(label));
    line.expect("the label is there").trim()
}

#[test]
fn explain_without_a_file_is_about_the_last_run_of_this_directory() {
    let place = Place::new();
    refused_reading(&place, "here", "first");
    refused_reading(&place, "here", "second");
    refused_reading(&place, "elsewhere", "third");
    place.file("here/below/x", "");

    let last = explained(&place, "here", &[]);
    let file = place.path("here/second").display().to_string();
    assert!(
        last.contains(&format!("reading `{file}`: explains the failure")),
        "{last}"
    );
    assert_eq!(field(&last, "command"), "cat second");
    assert!(
        last.contains("by itself, exit code 1") || last.contains("a refusal explains it"),
        "{last}"
    );
    assert!(last.contains(&format!("--read {file}\n")), "{last}");

    assert_eq!(
        field(&explained(&place, "here", &["--last", "2"]), "command"),
        "cat first"
    );
    assert_eq!(field(&explained(&place, "elsewhere", &[]), "command"), "cat third");
    assert_eq!(field(&explained(&place, "here/below", &[]), "command"), "cat second");
    let id = field(&last, "run").to_owned();
    assert_eq!(explained(&place, "elsewhere", &[&id]), last);
}

#[test]
fn where_there_is_nothing_to_explain_it_says_so() {
    let place = Place::new();
    refused_reading(&place, "here", "first");
    place.file("elsewhere/x", "");
    for (directory, words, message) in [
        ("elsewhere", &["explain"][..], "has no run of `"),
        ("here", &["explain", "--last", "2"], "has no 2 runs of `"),
        (
            "here",
            &["explain", "0badcafe-00"],
            "the audit trail has no run `0badcafe-00`",
        ),
    ] {
        let finished = stockade(&place, directory, words);
        assert_eq!((finished.status.code(), finished.stdout().as_str()), (Some(125), ""));
        let stderr = finished.stderr();
        assert!(stderr.contains(message), "{stderr}");
        assert!(
            stderr.ends_with("\nhint: `stockade audit list` shows the newest records\n"),
            "{stderr}"
        );
    }
}

// promise: report.5
#[test]
fn no_name_that_a_run_chose_moves_a_terminal_as_it_is_explained() {
    let place = Place::new();
    refused_reading(&place, "here", "a\u{1b}[2J\nb");
    let text = explained(&place, "here", &[]);
    assert!(text.contains(r"/here/a\u{1b}[2J\nb`"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let json = explained(&place, "here", &["--json"]);
    assert!(!json.contains('\u{1b}'), "{json}");
}

#[test]
fn only_what_was_refused_lately_is_listed() {
    let place = Place::new();
    refused_reading(&place, "here", "first");
    let listed = |words: &[&str]| {
        let finished = stockade(&place, "here", &[&["audit", "list"], words].concat());
        assert_eq!(finished.status.code(), Some(0));
        finished.stdout()
    };
    let all = listed(&["--since", "1h"]);
    let denied = listed(&["--denied", "--since", "1h"]);
    assert!(
        all.lines().count() > denied.lines().count() && denied.contains("/here/first"),
        "{all}{denied}"
    );
    assert!(denied.lines().all(|line| line.contains("denied")), "{denied}");
    assert_eq!(listed(&["--denied", "--since", "9999-01-01"]), "");

    let wrong = stockade(&place, "here", &["audit", "list", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(125));
    assert!(
        wrong.stderr().contains("`yesterday`") && wrong.stderr().contains("how long ago (`12h`)"),
        "{}",
        wrong.stderr()
    );
}

/// The flags of the hint that a run of this command ends with under `workspace`.
fn suggested(place: &Place, flags: &[&str], command: &[&str]) -> String {
    let flags = [
        &["run", "--ask", "never", "--profile", "workspace"],
        flags,
        &["--"],
        command,
    ]
    .concat();
    let stderr = stockade(place, "here", &flags).stderr();
    let hint = stderr.lines().find_map(|line| line.split_once("--write "));
    let words = hint.unwrap_or_else(|| panic!("{stderr}")).1;
    words.trim_matches('`').to_owned()
}

#[test]
fn a_program_that_writes_a_temporary_name_beside_the_file_gets_the_directory_suggested_and_it_does() {
    let place = Place::new();
    let file = place.file("~/out/f", "a");
    let (file, directory) = (file.to_str().unwrap(), place.path("~/out").display().to_string());
    place.file(
        "here/replace.py",
        "import os, sys\nf = sys.argv[1]\nt = f'{f}.{os.getpid()}'\nopen(t, 'w').write('b')\nos.rename(t, f)\n",
    );
    for command in [
        &["sed", "-i", "s/./b/", file][..],
        &[crate::common::python(), "replace.py", file],
    ] {
        std::fs::write(file, "a").unwrap();
        assert_eq!(suggested(&place, &["--write", file], command), directory);
        let flags = [
            "run",
            "--ask",
            "never",
            "--profile",
            "workspace",
            "--write",
            &directory,
            "--",
        ];
        let done = stockade(&place, "here", &[&flags[..], command].concat());
        assert_eq!(done.status.code(), Some(0), "{}", done.stderr());
        assert_eq!(std::fs::read_to_string(file).unwrap(), "b");
    }
}

#[test]
fn a_variable_that_may_be_a_secret_is_named_with_its_flag_and_never_suggested_to_paste() {
    let place = Place::new();
    let report = place.path("report.json");
    let mut command = place.command(STOCKADE);
    command.env("OPENAI_API_KEY", format!("sk-proj-{}", "aB3".repeat(16)));
    let script = "import os; os.environ['OPENAI_API_KEY']";
    let report_flags = ["run", "--ask", "never", "--report", report.to_str().unwrap(), "--"];
    let stderr = finish(
        command.args(report_flags).args([crate::common::python(), "-c", script]),
        b"",
    )
    .stderr();
    let hint = "\nhint: `--env OPENAI_API_KEY` hands it over, if that is meant: it may be a secret\n";
    assert!(
        stderr.contains("was refused the variable `OPENAI_API_KEY`") && stderr.ends_with(hint),
        "{stderr}"
    );
    let explained = stockade(&place, ".", &["explain", report.to_str().unwrap()]);
    let grant = hint.replace("\nhint: ", "   grant     ");
    let explained = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(explained.contains(&grant), "{explained}");
    let rows = stockade(&place, ".", &["audit", "list", "--denied"]).stdout;
    let rows = String::from_utf8_lossy(&rows).into_owned();
    assert!(rows.contains("  denied    variable OPENAI_API_KEY ("), "{rows}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert!(
        report["suggestion"].is_null() && report["denials"][0]["grant"].is_null(),
        "{report}"
    );
}

#[test]
fn a_script_that_fetches_and_writes_keeps_its_writes_with_the_flags_that_exec_suggests() {
    let place = Place::new();
    let script =
        "import sys, urllib.request\nopen('out.txt', 'w').write('kept')\nurllib.request.urlopen(sys.argv[1])\n";
    place.file("here/fetch.py", script);
    let exec = |flags: &[&str]| {
        let script = ["fetch.py", "http://api.example.com/"];
        let words = [&["exec", "--ask", "never"], flags, &script].concat();
        stockade(&place, "here", &words).stderr()
    };
    let stderr = exec(&[]);
    // Another profile would be without the grants of the script's text.
    let hint = "\nhint: to allow it: `--host api.example.com`\n";
    assert!(
        stderr.contains("--write ./out.txt") && stderr.ends_with(hint),
        "{stderr}"
    );
    std::fs::remove_file(place.path("here/out.txt")).unwrap();
    let stderr = exec(&["--host", "api.example.com", "--resolver", "127.0.0.1:1"]);
    assert!(!stderr.contains("was refused"), "{stderr}");
    assert_eq!(std::fs::read_to_string(place.path("here/out.txt")).unwrap(), "kept");
}

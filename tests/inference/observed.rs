//! Labels are true: each script that can be run touches what its label says, as `strace` sees it. The labels change
//! rarely, so usually a quarter of them is looked at, and with `STOCKADE_TEST_SOAK=1` each.

use std::process::Command;

use super::alone::{can_run, tsx};
use super::label::corpus;
use crate::common::{python, tries};

/// Runs the observer of one language; what it prints besides its rows are the labels that aren't true.
fn observed(language: &str) {
    if !can_run() {
        return;
    }
    let output = Command::new(python())
        .arg(corpus().with_file_name("observe.py"))
        .args(["--tsx", &format!("file://{}", tsx().display())])
        .args(["--each", tries("4", "1")])
        .arg(corpus().join(format!("{language}.toml")))
        .output()
        .unwrap_or_else(|error| panic!("the observer can't be started: {error}"));
    let wrong = String::from_utf8_lossy(&output.stderr);
    let rows = String::from_utf8_lossy(&output.stdout);
    let is_about_wrong = |row: &&str| {
        let mut wrong_files = wrong.lines().filter_map(|line| line.split(": ").next());
        wrong_files.any(|file| row.contains(&format!("\"{file}\"")))
    };
    let shown: Vec<&str> = rows.lines().filter(is_about_wrong).collect();
    assert!(output.status.success(), "{wrong}\nas observed:\n{}", shown.join("\n"));
    assert!(rows.lines().count() >= tries(5, 20), "{rows}");
}

#[test]
fn labels_of_python_are_what_is_observed() {
    observed("python");
}

#[test]
fn labels_of_javascript_are_what_is_observed() {
    observed("javascript");
}

#[test]
fn labels_of_typescript_are_what_is_observed() {
    observed("typescript");
}

#[test]
fn labels_of_the_shell_are_what_is_observed() {
    observed("shell");
}

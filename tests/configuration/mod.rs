//! What users and projects configure, through the program: shown, trusted, remembered.

mod along;
mod asked;
mod dry_run;
mod opened;
mod schema;
mod shown;
mod trusted;

use std::process::Command;

use crate::common::{Finished, Place, STOCKADE, finish};

/// Rules that a project would like.
const ALLOW: &str = "version = 1\n[[permissions.allow]]\ntool = 'bash'\ncommand = 'git push'\n";

/// A call of `stockade` in a place's root.
fn stockade(place: &Place, arguments: &[&str]) -> Finished {
    let mut command: Command = place.command(STOCKADE);
    let arguments = arguments.iter().map(|argument| place.fill(argument));
    finish(command.args(arguments), b"")
}

/// Whether a line is one of the rules that are there without any configuration; there are many.
fn is_built_in_rule(line: &str) -> bool {
    line.starts_with("permissions.allow") && line.ends_with("# built in")
}

/// Exit code, and both streams, without the built-in rules, with the place's directories as names.
fn told(place: &Place, arguments: &[&str]) -> String {
    let finished = stockade(place, arguments);
    let hide = |text: String| {
        text.replace(place.root.to_str().unwrap(), "@ROOT")
            .replace(place.home.to_str().unwrap(), "@HOME")
    };
    let stderr: String = finished
        .stderr()
        .lines()
        .map(|line| format!("{}\n", format!("! {line}").trim_end()))
        .collect();
    let stdout: String = finished
        .stdout()
        .lines()
        .filter(|line| !is_built_in_rule(line))
        .map(|line| format!("{line}\n"))
        .collect();
    format!("{}{}{:?}", hide(stdout), hide(stderr), finished.status.code())
}

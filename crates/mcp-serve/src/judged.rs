//! The lines of a call that the user's rules judge: whatever of its arguments a shell would run.

use stockade_shell::{could_name, seen};
use stockade_text::quote::command_line;

use crate::arguments::{Language, Order, What};

/// Programs that run what they read.
const RUN_INPUT: [&str; 19] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox", "toybox", "xargs", "parallel",
    "ssh", "su", "source", ".", "eval",
];

/// The lines, none for a script that no shell runs.
pub fn lines(order: &Order) -> Vec<String> {
    let (line, arguments) = match &order.what {
        What::Command { line, .. } => (line, None),
        What::Script {
            language: Language::Shell,
            code,
            arguments,
        } => (code, Some(arguments)),
        What::Script { .. } => return Vec::new(),
    };
    let mut before = String::new();
    for variable in &order.env {
        before += &format!("{}\n", command_line(&["export", variable]));
    }
    if let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) {
        let words: Vec<&str> = ["set", "--"]
            .into_iter()
            .chain(arguments.iter().map(String::as_str))
            .collect();
        before += &format!("{}\n", command_line(&words));
    }
    let whole = format!("{before}{line}");
    let input = order.stdin.as_ref().filter(|_| runs_input(&whole));
    let input = input.map(|input| format!("{before}{input}"));
    // Without what stands before it as well: a rule may mean the whole line.
    let bare = (whole != *line).then(|| line.clone());
    bare.into_iter().chain([whole]).chain(input).collect()
}

/// Whether a line could start a program that runs what it reads.
fn runs_input(line: &str) -> bool {
    let is_one = |words: &Vec<String>| {
        words
            .first()
            .is_some_and(|word| RUN_INPUT.iter().any(|name| could_name(word, name)))
    };
    seen(line).iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_judged_where_a_shell_may_read_it() {
        for line in [
            "sh",
            "bash -s x",
            "env A=b sh",
            "cat | sh",
            "/bin/dash",
            "xargs rm",
            "true; exec sh",
            "X=sh; $X",
            ". /dev/stdin",
        ] {
            assert!(runs_input(line), "{line}");
        }
        for line in ["cat", "python3 -", "wc -l data.sh", "grep sh", "sort | uniq"] {
            assert!(!runs_input(line), "{line}");
        }
    }
}

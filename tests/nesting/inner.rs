//! Commands that start runs inside a run.

use crate::common::{Run, STOCKADE, older_inside, python, run};

/// A run under a profile that may start Stockade itself.
pub fn outer(profile: &str) -> Run {
    run()
        .profile(profile)
        .flags(["--exec", STOCKADE.path()])
        .flags(older_inside())
        .file("plain", "plain\n")
        .file("data/x", "x\n")
        .any_stderr()
}

/// Shell words of a run inside.
pub fn inner(flags: &str, command: &str) -> String {
    let older = older_inside().join(" ");
    format!("{STOCKADE} run --exec {STOCKADE} {older} --profile {flags} -- {command}")
}

/// Shell words of Python code, which holds no single quotes.
pub fn python_words(code: &str) -> String {
    assert!(!code.contains('\''), "the shell's quotes");
    format!("{} -I -c '{code}'", python())
}

/// What `cat` of these prints, or `-` for each that is refused.
pub fn shows(paths: &[&str]) -> String {
    let each: Vec<String> = paths
        .iter()
        .map(|path| format!("cat {path} 2>/dev/null || echo -"))
        .collect();
    format!("sh -c \"{}\"", each.join("; "))
}

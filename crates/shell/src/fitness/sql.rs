//! Statements for `sqlite3` that start nothing and open no other file.

/// No shell command (`.shell`) and no function or statement with outside access, wherever its name stands.
pub(super) fn is_safe(statement: &str) -> bool {
    const REACHING: [&str; 7] = [
        "edit",
        "load_extension",
        "readfile",
        "writefile",
        "attach",
        "vacuum",
        "tokenizer",
    ];
    let has_command = statement.lines().any(|line| line.trim_start().starts_with('.'));
    let lower = statement.to_ascii_lowercase();
    !has_command && !REACHING.iter().any(|name| lower.contains(name))
}

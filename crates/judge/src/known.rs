//! Tools and commands allowed without a rule.

use stockade_policy::config::SHELL;

/// Tools that may be called without a prompt.
const ALLOWED_TOOLS: [&str; 8] = [
    "read",
    "grep",
    "glob_search",
    "todo_read",
    "todo_write",
    "tool_output_cache",
    "tool_output_cache_grep",
    "done",
];

/// Commands that may be started without a prompt, with options that only read and print.
const ALLOWED_COMMANDS: [&str; 58] = [
    "echo",
    "printf",
    "true",
    "false",
    "test",
    "jq",
    "diff",
    "cut",
    "tr",
    "uniq",
    "nl",
    "tac",
    "rev",
    "fold",
    "paste",
    "column",
    "comm",
    "seq",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "which",
    "tree",
    "du",
    "df",
    "id",
    "nproc",
    "arch",
    "od",
    "hexdump",
    "strings",
    "cksum",
    "md5sum",
    "sha256sum",
    "pwd",
    "ls",
    "rg",
    "grep",
    "find",
    "sort",
    "cat",
    "head",
    "tail",
    "wc",
    "stat",
    "file",
    "uname",
    "whoami",
    "date",
    "git status",
    "git diff",
    "git show",
    "git log",
    "git rev-parse",
    "git ls-files",
    "git grep",
    "git blame",
];

/// Whether a command is allowed without a rule, by its first words.
pub(crate) fn only_reads(words: &[String]) -> bool {
    let Some((name, sub)) = stockade_shell::subject(words) else {
        return false;
    };
    ALLOWED_COMMANDS.iter().any(|command| match command.split_once(' ') {
        Some((first, second)) => first == name && Some(second) == sub,
        None => *command == name,
    })
}

/// Tools and commands that are allowed without a rule.
pub(crate) fn allowed() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let tools = ALLOWED_TOOLS.into_iter().map(|tool| (tool, None));
    let commands = ALLOWED_COMMANDS.into_iter().map(|command| (SHELL, Some(command)));
    tools.chain(commands)
}

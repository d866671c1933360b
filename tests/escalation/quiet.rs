//! Ordinary programs ask nothing.

use crate::common::{python, skipped};
use crate::escalation::person::{asking, once};

const PROFILES: [&str; 7] = [
    "minimal",
    "readonly",
    "filesystem",
    "network-api",
    "workspace",
    "mcp-standard",
    "trusted",
];

fn asks_nothing(words: &[&str]) {
    asks_nothing_under(&PROFILES, words);
}

fn asks_nothing_under(profiles: &[&str], words: &[&str]) {
    let bare = std::process::Command::new(words[0]).args(&words[1..]).output();
    if !bare.is_ok_and(|output| output.status.success()) {
        return skipped(&format!("`{}` doesn't work here", words.join(" ")));
    }
    for profile in profiles {
        let asked = asking(profile, once).command(words);
        assert_eq!(asked.output.outcome.exit_code(), 0, "{profile}: {:?}", asked.output);
        assert_eq!(asked.asked, Vec::<String>::new(), "{profile}");
    }
}

#[test]
fn python_asks_nothing() {
    asks_nothing(&[python(), "-c", "pass"]);
}

#[test]
fn node_asks_nothing() {
    asks_nothing(&["node", "-e", "0"]);
}

#[test]
fn git_asks_nothing() {
    asks_nothing(&["git", "--version"]);
}

#[test]
fn programs_that_say_their_version_ask_nothing() {
    for words in [
        &["curl", "--version"][..],
        &["java", "-version"],
        &["npm", "--version"],
        &[python(), "-m", "pip", "--version"],
        &["gcc", "--version"],
        &["make", "--version"],
    ] {
        asks_nothing_under(&["minimal", "workspace"], words);
    }
}

#[test]
fn shells_and_their_tools_ask_nothing() {
    asks_nothing(&[
        "bash",
        "-c",
        "ls / >/dev/null; date >/dev/null; echo x | sort | grep -c x >/dev/null",
    ]);
}

#[test]
fn files_that_do_not_exist_are_never_asked_for() {
    asking("minimal", once)
        .python(
            "import os\n\
             for name in ('none', '/etc/none', 'a/b'):\n  \
               try: open(name)\n  \
               except FileNotFoundError: print('none')\n\
             for name in ('none', '/etc/none'):\n  \
               try: os.unlink(name)\n  \
               except FileNotFoundError: print('none')",
        )
        .was_asked(&[])
        .prints("none\nnone\nnone\nnone\nnone\n");
}

#[test]
fn looking_whether_something_could_be_done_asks_nothing() {
    asking("minimal", once)
        .file("a", "")
        .python("import os; print(os.access('a', os.R_OK), os.access('a', os.W_OK), os.path.exists('a'))")
        .was_asked(&[])
        .prints("False False True\n");
}

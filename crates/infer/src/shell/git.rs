//! git(1): subcommands that read the repository, change it or contact a host, and the programs that git is told to start.

use super::arguments::Arguments;
use super::{program, started, transfer};
use crate::finding::{Act, Opaque};
use crate::text::Text;

/// git(1): subcommands that read the repository, change it or contact a host.
pub(super) fn acts(words: &[Text]) -> Vec<Act> {
    let arguments = program::arguments("git", words);
    let at = arguments
        .values(&["-C", "--work-tree"])
        .next()
        .cloned()
        .unwrap_or_else(|| ".".into());
    let Some((sub, rest)) = arguments.operands.split_first() else {
        return Vec::new();
    };
    let mut acts = told(&arguments, sub);
    acts.extend(outputs(sub.prefix(), rest, &at));
    acts.extend(subcommand(sub, rest, at));
    acts
}

fn subcommand(sub: &Text, rest: &[Text], at: Text) -> Vec<Act> {
    let operand = |at: usize| rest.iter().filter(|word| !word.prefix().starts_with('-')).nth(at);
    match sub.exact() {
        Some(
            "status" | "log" | "diff" | "show" | "rev-parse" | "ls-files" | "describe" | "blame" | "grep" | "shortlog"
            | "rev-list" | "cat-file" | "ls-tree" | "merge-base" | "for-each-ref" | "symbolic-ref" | "name-rev"
            | "whatchanged" | "reflog" | "check-ignore" | "diff-index" | "diff-tree" | "diff-files" | "show-ref"
            | "count-objects" | "var" | "cherry",
        ) => vec![Act::Read(at)],
        Some("branch" | "tag" | "remote" | "config" | "stash" | "worktree") if lists(sub.prefix(), rest) => {
            vec![Act::Read(at)]
        }
        // They write to the path that they are given, or to standard output.
        Some("archive") => vec![Act::Read(at)],
        Some("format-patch") if rest.iter().any(|word| writes_patches_elsewhere(word.prefix())) => vec![Act::Read(at)],
        Some("version" | "help") => Vec::new(),
        Some("clone") => {
            let target = operand(1).cloned().unwrap_or_else(|| ".".into());
            let from = operand(0).cloned().unwrap_or_else(Text::unknown);
            vec![transfer::remote(&from), Act::Write(target)]
        }
        Some("ls-remote") => {
            let from = operand(0).filter(|word| word.prefix().contains([':', '/']));
            let mut acts = vec![Act::Connect(from.cloned().unwrap_or_else(Text::unknown))];
            // Without a URL, the repository names the host; with one, its configuration is read as well.
            acts.push(Act::Read(at));
            acts
        }
        Some("fetch" | "pull" | "push") => {
            let from = operand(0).filter(|word| word.prefix().contains([':', '/']));
            vec![
                Act::Read(at.clone()),
                Act::Connect(from.cloned().unwrap_or_else(Text::unknown)),
                Act::Write(at),
            ]
        }
        Some(_) => vec![Act::Read(at.clone()), Act::Write(at)],
        None => vec![Act::Opaque(Opaque::UnknownProgram("git …".into()))],
    }
}

/// Whether a subcommand with these words only lists.
fn lists(sub: &str, rest: &[Text]) -> bool {
    let words: Vec<&str> = rest.iter().map(Text::prefix).collect();
    match (sub, &words[..]) {
        ("branch" | "tag" | "remote", []) => true,
        ("remote", ["-v" | "get-url" | "show", ..]) => true,
        ("branch" | "tag", [option, ..]) => {
            matches!(
                *option,
                "-l" | "--list"
                    | "-a"
                    | "-r"
                    | "-v"
                    | "-vv"
                    | "--show-current"
                    | "--contains"
                    | "--merged"
                    | "--no-merged"
            ) || option.starts_with("--sort")
                || option.starts_with("--format")
                || option.starts_with("--points-at")
        }
        ("config", [option, ..]) => {
            matches!(*option, "--get" | "--list" | "-l" | "--get-all" | "get" | "list") || words.len() == 1
        }
        ("stash" | "worktree", ["list", ..]) => true,
        _ => false,
    }
}

fn writes_patches_elsewhere(option: &str) -> bool {
    option == "--stdout" || option.starts_with("-o") || option.starts_with("--output-directory")
}

/// Files that a subcommand is told to write, and files outside of the repository that it compares.
fn outputs(sub: &str, rest: &[Text], at: &Text) -> Vec<Act> {
    let mut options = vec!["--output", "--output-directory"];
    if matches!(sub, "archive" | "format-patch") {
        options.push("-o");
    }
    let given = Arguments::of(rest, &options, false);
    let mut acts: Vec<Act> = given
        .values(&options)
        .map(|path| {
            Act::Write(if at.exact() == Some(".") {
                path.clone()
            } else {
                at.joined(path)
            })
        })
        .collect();
    if given.has(&["--no-index"]) {
        acts.extend(given.operands.iter().cloned().map(Act::Read));
    }
    let pager = |word: &Text| {
        word.without_start("--open-files-in-pager=")
            .or(word.without_start("-O"))
    };
    if sub == "grep" {
        acts.extend(
            rest.iter()
                .filter_map(pager)
                .filter(|line| line.exact() != Some(""))
                .map(Act::Shell),
        );
    }
    acts
}

/// Command-line settings whose value git runs: `-c core.pager=…`, `-c alias.x=!…`.
fn told(arguments: &Arguments, sub: &Text) -> Vec<Act> {
    let mut acts = Vec::new();
    for setting in arguments.values(&["-c"]) {
        let Some((name, _)) = setting.prefix().split_once('=') else {
            if setting.exact().is_none() {
                acts.push(Act::Opaque(Opaque::BuiltCode));
            }
            continue;
        };
        let value = setting.without_prefix(name.len() + 1);
        let name = name.to_ascii_lowercase();
        match name.strip_prefix("alias.") {
            Some(alias) if sub.prefix().eq_ignore_ascii_case(alias) => acts.push(aliased(&value)),
            Some(_) => {}
            None if started::is_program_setting(&name) => acts.push(Act::Shell(value)),
            None if started::is_code_setting(&name) => acts.push(Act::Opaque(Opaque::OtherFile(value.shown()))),
            None => {}
        }
    }
    if arguments.has(&["--config-env", "--exec-path"]) && !sub.is_unknown() {
        acts.push(Act::Opaque(Opaque::BuiltCode));
    }
    acts
}

/// `!line` is a shell command line, any other value a git subcommand.
fn aliased(value: &Text) -> Act {
    match value.without_start("!") {
        Some(line) => Act::Shell(line),
        None => Act::Shell(Text::from("git ").then(value)),
    }
}

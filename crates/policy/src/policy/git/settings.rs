//! The settings of a git configuration (git-config(1), "Syntax"), and what of them names programs and files that git obeys.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// One setting. Names are in lowercase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// The section without its subsection: `core`, `filter`.
    pub section: String,
    /// The subsection as written, of `[diff "python"]` the `python`.
    pub subsection: Option<String>,
    /// The name in the section: `hookspath`, `clean`.
    pub name: String,
    /// The value, without quotes; `true` where the name stands alone.
    pub value: String,
}

/// How a setting names what git obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A directory of hooks, or a template of one.
    Hooks,
    /// A file of attributes.
    File,
    /// Another configuration, relative to this one's directory.
    Configuration,
    /// Another repository, where it is a path.
    Repository,
    /// A command line.
    Command,
    /// Nothing that is known; files of the project in it may be obeyed all the same.
    Unknown,
}

/// The ends of names whose value is a command, whatever the section (git-config(1), and manuals of companions).
const COMMANDS: &[&str] = &[
    "askpass",
    "clean",
    "cmd",
    "command",
    "difffilter",
    "driver",
    "editor",
    "external",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hook",
    "pager",
    "process",
    "program",
    "receivepack",
    "smtpserver",
    "smudge",
    "textconv",
    "tunnel",
    "update",
    "uploadpack",
];

/// Settings whose value is data, or a name that only looks like a path.
const DATA: &[(&str, &str)] = &[
    ("blame", "ignorerevsfile"),
    ("commit", "template"),
    ("core", "excludesfile"),
    ("core", "worktree"),
    ("gpg", "allowedsignersfile"),
    ("init", "defaultbranch"),
    ("mailmap", "file"),
    ("remote", "fetch"),
    ("remote", "push"),
];

/// Sections of such settings.
const OF_DATA: &[&str] = &["branch", "http", "safe", "url", "user"];

impl GitSetting {
    /// The setting of a full name; `None` for a name without a section.
    pub fn of_key(key: &str, value: String) -> Option<GitSetting> {
        let (section, rest) = key.split_once('.')?;
        let (subsection, name) = match rest.rsplit_once('.') {
            Some((subsection, name)) => (Some(subsection.to_string()), name),
            None => (None, rest),
        };
        Some(GitSetting {
            section: section.to_ascii_lowercase(),
            subsection,
            name: name.to_ascii_lowercase(),
            value,
        })
    }

    /// The setting's full name: `diff.python.binary`.
    pub fn key(&self) -> String {
        let parts = [Some(&self.section), self.subsection.as_ref(), Some(&self.name)];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        parts.join(".")
    }

    /// How the setting names what git obeys; `None` if its value is data.
    pub fn named(&self) -> Option<Named> {
        let (section, name) = (self.section.as_str(), self.name.as_str());
        match (section, name) {
            ("core", "hookspath") | ("init", "templatedir") => Some(Named::Hooks),
            ("core", "attributesfile") => Some(Named::File),
            ("include" | "includeif", "path") => Some(Named::Configuration),
            ("remote" | "submodule", "url" | "pushurl") => Some(Named::Repository),
            ("alias" | "pager", _) => Some(Named::Command),
            _ if DATA.contains(&(section, name)) || OF_DATA.contains(&section) => None,
            _ if COMMANDS.iter().any(|end| name.ends_with(end)) => Some(Named::Command),
            _ => Some(Named::Unknown),
        }
    }
}

/// The words of a command line that may name a file.
pub fn words_of_command(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|letter: char| letter.is_whitespace() || "\"';&|()<>=!`{}".contains(letter));
    words.filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// A path of a configuration, without `.` and `..`: relative to a directory, or to a home.
pub fn placed_by_git(path: &str, below: &Path, home: Option<&Path>) -> PathBuf {
    let whole = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => below.join(path),
    };
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The directories of hooks that a value of `core.hooksPath` means. Husky's `_` starts what is beside it.
pub fn directories_of_hooks(place: &Path) -> impl Iterator<Item = &Path> {
    let is_huskys = place.file_name().is_some_and(|name| name == "_");
    [Some(place), place.parent().filter(|_| is_huskys)]
        .into_iter()
        .flatten()
}

/// Whether a file has the name of a hook (githooks(5)).
pub fn is_hook(name: &OsStr) -> bool {
    const HOOKS: &[&str] = &[
        "applypatch-msg",
        "commit-msg",
        "fsmonitor-watchman",
        "post-applypatch",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
        "post-receive",
        "post-rewrite",
        "post-update",
        "pre-applypatch",
        "pre-auto-gc",
        "pre-commit",
        "pre-merge-commit",
        "pre-push",
        "pre-rebase",
        "pre-receive",
        "prepare-commit-msg",
        "proc-receive",
        "push-to-checkout",
        "reference-transaction",
        "sendemail-validate",
        "update",
    ];
    HOOKS.iter().any(|hook| name.eq_ignore_ascii_case(hook))
}

/// Reads the settings of a configuration. What git can't parse is left out: it obeys nothing of such a file.
pub fn git_settings(text: &[u8]) -> Vec<GitSetting> {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.trim_start_matches('\u{feff}');
    let (mut section, mut subsection, mut settings) = (String::new(), None, Vec::new());
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '#' | ';' => after_line(rest),
            '[' => {
                let after;
                (section, subsection, after) = header(&rest[1..]);
                after
            }
            letter if letter.is_ascii_alphabetic() => {
                let (name, value, after) = setting(rest);
                settings.push(GitSetting {
                    section: section.clone(),
                    subsection: subsection.clone(),
                    name: name.to_ascii_lowercase(),
                    value,
                });
                after
            }
            other => &rest[other.len_utf8()..],
        };
    }
    settings
}

fn after_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

/// The section and subsection of a header, behind its bracket, and what follows. A subsection may hold brackets in its
/// quotes. One after a dot is in lowercase, as git takes it.
fn header(text: &str) -> (String, Option<String>, &str) {
    let end = text.find([']', '"', '\n']).unwrap_or(text.len());
    let name = text[..end].trim_end_matches([' ', '\t']).to_ascii_lowercase();
    let (section, mut subsection) = match name.split_once('.') {
        Some((section, rest)) => (section.to_string(), Some(rest.to_string())),
        None => (name, None),
    };
    let mut rest = &text[end..];
    if rest.starts_with('"') {
        let mut quoted = String::new();
        let mut letters = rest[1..].chars();
        while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
            quoted.extend(if letter == '\\' { letters.next() } else { Some(letter) });
        }
        subsection = Some(quoted);
        rest = letters.as_str();
    }
    let after = rest.trim_start_matches([' ', '\t']);
    (section, subsection, after.strip_prefix(']').unwrap_or(after))
}

/// A setting's name and value, and what follows.
fn setting(text: &str) -> (&str, String, &str) {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let end = text.find(|letter| !is_of_name(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start_matches([' ', '\t']);
    let Some(written) = rest.strip_prefix('=') else {
        return (name, "true".into(), rest);
    };
    let mut value = String::new();
    let (mut is_quoted, mut kept) = (false, 0);
    let mut letters = written.trim_start_matches([' ', '\t']).char_indices();
    let written = letters.as_str();
    let mut after = "";
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\n' => {
                after = &written[at + 1..];
                break;
            }
            '#' | ';' if !is_quoted => {
                after = after_line(&written[at..]);
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => match letters.next() {
                Some((_, '\n')) | None => {}
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, other)) => value.push(other),
            },
            '\r' => {}
            blank => value.push(blank),
        }
        // Blanks at the end count in quotes alone.
        if is_quoted || !value.ends_with([' ', '\t']) {
            kept = value.len();
        }
    }
    value.truncate(kept);
    (name, value, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let settings = git_settings(text.as_bytes()).into_iter();
        settings.map(|one| format!("{}={}", one.key(), one.value)).collect()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}# c\n[core]\n\thooksPath = .githooks ; mine\n\tbare\n[filter \"a]\\\"b\"] clean = \"x # y\" z \\\n more\n\
                    [Alias]\n\tst = !./tool \\\"a\\\"\n[includeIf.x]path=../p\n[remote \"o\"]\n\turl = ../r\n";
        assert_eq!(
            read(text),
            [
                "core.hookspath=.githooks",
                "core.bare=true",
                "filter.a]\"b.clean=x # y z  more",
                "alias.st=!./tool \"a\"",
                "includeif.x.path=../p",
                "remote.o.url=../r",
            ]
        );
        assert_eq!(read("[core]\n\tpager = less  \n"), ["core.pager=less"]);
    }

    #[test]
    fn what_git_obeys_is_told_from_what_it_only_shows() {
        let named = |text: &str| git_settings(text.as_bytes()).first().and_then(GitSetting::named);
        assert_eq!(named("[core]\nhooksPath = x"), Some(Named::Hooks));
        assert_eq!(named("[include]\npath = x"), Some(Named::Configuration));
        assert_eq!(named("[filter \"lfs\"]\nprocess = ./x"), Some(Named::Command));
        assert_eq!(named("[alias]\nx = !./x"), Some(Named::Command));
        assert_eq!(named("[remote \"o\"]\nurl = ../x"), Some(Named::Repository));
        for text in ["[user]\nname = a/b", "[commit]\ntemplate = ./x"] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}

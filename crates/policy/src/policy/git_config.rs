//! Changes of a `.git/config` that execute nothing and redirect nothing: remotes with a network address, the branches
//! that track them, and the author's name.
//!
//! The rest of the file is for git to parse (git-config(1), "Syntax"), and is compared literally. Only whole lines in
//! the forms that git writes may change, below a header in such a form: without these lines both files have to be the
//! same, line by line, each below the same header.

use std::collections::BTreeSet;

/// The longest value of a line that may change.
const MAX_LENGTH: usize = 512;

/// Whether the new file differs from the old one only in such lines.
pub fn is_harmless_change(old: &[u8], new: &[u8]) -> bool {
    let (Some(old), Some(new)) = (Parts::of(old), Parts::of(new)) else {
        return false;
    };
    // Without a URL git takes a remote's name for a directory, which may hold hooks. The remote may be named by a
    // branch, by another setting, or by a person out of habit.
    old.rest == new.rest
        && new.submodules.is_subset(&old.submodules)
        && new.lost().is_subset(&old.lost())
        && new.remotes.is_superset(&old.remotes)
}

/// A file in parts.
#[derive(Default)]
struct Parts<'a> {
    /// Lines that have to stay, each with its header.
    rest: Vec<(&'a str, &'a str)>,
    /// Remotes that have a URL.
    remotes: BTreeSet<&'a str>,
    /// Remotes whose URL has to stay, such as a path.
    elsewhere: BTreeSet<&'a str>,
    /// Where submodules come from, and that they are active: such lines may go, and none may come.
    submodules: BTreeSet<(&'a str, &'a str)>,
    /// Remotes that branches track.
    followed: BTreeSet<&'a str>,
}

impl<'a> Parts<'a> {
    /// `None` for a file with continued lines: a line inserted between them would change its meaning.
    fn of(text: &'a [u8]) -> Option<Parts<'a>> {
        let text = std::str::from_utf8(text).ok()?;
        let mut parts = Parts::default();
        let (mut header, mut section) = ("", None);
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if line.trim_end_matches('\r').ends_with('\\') {
                return None;
            }
            if line.trim_start().starts_with('[') {
                (header, section) = (line, GitSection::of(line));
                if section.is_none() {
                    parts.rest.push((header, line));
                }
                continue;
            }
            match section.as_ref().and_then(|section| section.value(line)) {
                Some(_) if matches!(section, Some(GitSection::Submodule)) => {
                    parts.submodules.insert((header, line));
                }
                Some(value) => parts.note(section.as_ref(), line, value),
                None => {
                    if let Some(GitSection::Remote(name)) = &section
                        && line.starts_with("\turl = ")
                    {
                        parts.elsewhere.insert(name);
                    }
                    parts.rest.push((header, line));
                }
            }
        }
        Some(parts)
    }

    fn note(&mut self, section: Option<&GitSection<'a>>, line: &str, value: &'a str) {
        match section {
            Some(GitSection::Remote(name)) if line.starts_with("\turl ") => {
                self.remotes.insert(name);
            }
            Some(GitSection::Branch) if line.starts_with("\tremote ") && value != "." => {
                self.followed.insert(value);
            }
            _ => {}
        }
    }

    fn lost(&self) -> BTreeSet<&'a str> {
        let has_address = |remote: &&str| self.remotes.contains(remote) || self.elsewhere.contains(remote);
        self.followed
            .iter()
            .copied()
            .filter(|remote| !has_address(remote))
            .collect()
    }
}

/// A section in which lines may change, by its header as git writes it.
enum GitSection<'a> {
    Remote(&'a str),
    Branch,
    Submodule,
    User,
}

impl<'a> GitSection<'a> {
    fn of(line: &'a str) -> Option<GitSection<'a>> {
        let named = |kind: &str| line.strip_prefix(kind)?.strip_suffix("\"]");
        if let Some(name) = named("[remote \"") {
            return is_name(name, "._-").then_some(GitSection::Remote(name));
        }
        if let Some(name) = named("[submodule \"") {
            return is_name(name, "._-/+@").then_some(GitSection::Submodule);
        }
        if let Some(name) = named("[branch \"") {
            return is_name(name, "._-/+@").then_some(GitSection::Branch);
        }
        (line == "[user]").then_some(GitSection::User)
    }

    /// Returns the value of a line that may change.
    fn value(&self, line: &'a str) -> Option<&'a str> {
        let (key, value) = line.strip_prefix('\t')?.split_once(" = ")?;
        let is_safe = value.len() <= MAX_LENGTH
            && match (self, key) {
                (GitSection::Remote(_), "url" | "pushurl") => is_address(value),
                (GitSection::Remote(_), "fetch") => is_fetch(value),
                (GitSection::Submodule, "url") => true,
                (GitSection::Submodule, "active") => value == "true",
                // Stacked git's, of a branch of its own: `[branch "main.stgit"]`.
                (GitSection::Branch, "stackformatversion") => value.bytes().all(|byte| byte.is_ascii_digit()),
                (GitSection::Branch, "remote") => value == "." || is_name(value, "._-"),
                (GitSection::Branch, "merge") => value
                    .strip_prefix("refs/heads/")
                    .is_some_and(|name| is_name(name, "._-/+@")),
                (GitSection::User, "name" | "email") => is_text(value),
                _ => false,
            };
        is_safe.then_some(value)
    }
}

/// Letters, digits and `others`, never starting like an option or like a path to another directory.
fn is_name(text: &str, others: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && is_of(text, others)
}

fn is_of(text: &str, others: &str) -> bool {
    text.chars()
        .all(|one| one.is_ascii_alphanumeric() || others.contains(one))
}

/// Whether git takes the text for a network address, over a protocol that authenticates the server: never a path, and
/// never a remote helper's name (gitremote-helpers(7)).
fn is_address(text: &str) -> bool {
    let path = "._~/-+=,%";
    let by_url = ["https://", "ssh://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    if let Some(rest) = by_url {
        let (authority, behind) = rest.split_once('/').unwrap_or((rest, ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        return is_name(authority, "._~-+=,%:@")
            && is_name(host, ".-:")
            && is_of(behind, path)
            && !behind.contains("..");
    }
    // The scp form needs a user: a name before a colon alone may be a helper's.
    let parts = text
        .split_once('@')
        .and_then(|(user, rest)| Some((user, rest.split_once(':')?)));
    parts.is_some_and(|(user, (host, path_there))| {
        is_name(user, "._-") && is_name(host, ".-") && !path_there.starts_with('-') && is_of(path_there, path)
    })
}

/// Whether fetched refs land below `refs/remotes`, never on a local branch.
fn is_fetch(text: &str) -> bool {
    let parts = text.strip_prefix('+').unwrap_or(text).split_once(":refs/remotes/");
    parts.is_some_and(|(from, to)| from.starts_with("refs/") && is_of(from, "._-/*") && is_of(to, "._-/*"))
}

/// Text that git takes literally.
fn is_text(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.chars().any(|one| one.is_control() || "\"\\;#".contains(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\t\
                       fetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\t\
                       merge = refs/heads/main\n[alias]\n\tst = status\n";

    fn changed(from: &str, to: &str) -> bool {
        assert!(OLD.contains(from), "{from}");
        is_harmless_change(OLD.as_bytes(), OLD.replacen(from, to, 1).as_bytes())
    }

    fn with(text: &str) -> bool {
        is_harmless_change(OLD.as_bytes(), format!("{OLD}{text}").as_bytes())
    }

    #[test]
    fn remotes_branches_and_the_authors_name_may_change() {
        assert!(with(""));
        assert!(with(
            "[remote \"my-fork\"]\n\turl = git@example.com:me/a.git\n\tfetch = +refs/heads/*:refs/remotes/my-fork/*\n"
        ));
        assert!(with(
            "[remote \"r\"]\n\turl = ssh://git@example.com:2222/a/~b\n[branch \"fix/a-1\"]\n\tremote = r\n\tmerge = refs/heads/fix/a-1\n"
        ));
        assert!(with("[branch \"x\"]\n\tremote = .\n\tmerge = refs/heads/main\n"));
        // A remote that existed before may have any URL.
        let old = format!("{OLD}[remote \"up\"]\n\turl = ../up.git\n");
        let new = format!("{old}[branch \"x\"]\n\tremote = up\n\tmerge = refs/heads/x\n");
        assert!(is_harmless_change(old.as_bytes(), new.as_bytes()));
        assert!(!is_harmless_change(OLD.as_bytes(), new.as_bytes()));
        assert!(with("[user]\n\tname = Jörg O'Neil\n\temail = j@example.com\n"));
        assert!(changed(
            "https://example.com/a.git",
            "https://me@example.com:8443/b/c.git"
        ));
        assert!(changed(
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            ""
        ));
        assert!(changed(
            "[alias]",
            "[remote \"b\"]\n\turl = https://example.com/b\n[alias]"
        ));
    }

    #[test]
    fn nothing_else_may() {
        for text in [
            "[core]\n\tsshCommand = x\n",
            "\tsshCommand = x\n",
            "[core] sshCommand = x\n",
            "[include]\n\tpath = x\n",
            "[remote \"b\"]\n\turl = https://example.com/b\n\tuploadpack = x\n",
            "[remote \"b\"]\n\tvcs = x\n",
            "[remote \"b\"] url = https://example.com/b\n",
            "[remote \"b\\\"\"]\n\turl = https://example.com/b\n",
            "[Remote \"b\"]\n\turl = https://example.com/b\n",
            "[remote \"../b\"]\n\turl = https://example.com/b\n",
            "[user]\n\tname = a \\\n",
            "[user]\n\tname = a\\\n\tsshCommand = x\n",
            "[user]\n\tname = \"a\n",
            "[user]\n\tname = a # b\n",
            "[user]\n\tsigningkey = x\n",
            "[branch \"x\"]\n\tremote = sub\n\tmerge = refs/heads/main\n",
            "[branch \"x\"]\n\tremote = ./sub\n",
            "[branch \"x\"]\n\tremote = https://example.com/b\n",
            "[branch \"x\"]\n\tmerge = refs/tags/x\n",
            "# a remark\n",
            "\n",
            "\r\n",
        ] {
            assert!(!with(text), "{text}");
        }
        for (from, to) in [
            ("bare = false", "bare = true"),
            ("[core]\n", ""),
            // Below another header the lines mean something else.
            (
                "\tbare = false\n[remote \"origin\"]\n",
                "[remote \"origin\"]\n\tbare = false\n",
            ),
            ("[alias]\n", ""),
            ("\tst = status\n", ""),
            // Git would take the remote for a directory.
            (
                "[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
                "",
            ),
            ("[remote \"origin\"]", "[remote \"mine\"]"),
            ("\turl = https://example.com/a.git\n", ""),
        ] {
            assert!(!changed(from, to), "{from} to {to}");
        }
        let goes_on = b"[alias]\n\ta = b \\\n\tc\n";
        assert!(!is_harmless_change(goes_on, goes_on));
        assert!(!is_harmless_change(b"[core]\n\xff\n", b"[core]\n\xff\n"));
    }

    #[test]
    fn submodules_are_given_up_and_none_is_taken_on() {
        let submodule = "[submodule \"lib\"]\n\tactive = true\n\turl = ../lib.git\n";
        let with = format!("{OLD}{submodule}");
        assert!(is_harmless_change(with.as_bytes(), OLD.as_bytes()));
        assert!(!is_harmless_change(OLD.as_bytes(), with.as_bytes()));
        let other = with.replace("../lib.git", "../other.git");
        assert!(!is_harmless_change(with.as_bytes(), other.as_bytes()));
        let updated = format!("{with}\tupdate = !x\n");
        assert!(!is_harmless_change(with.as_bytes(), updated.as_bytes()));
        assert!(!is_harmless_change(updated.as_bytes(), OLD.as_bytes()));
        assert!(self::with("[branch \"main.stgit\"]\n\tstackformatversion = 2\n"));
    }

    #[test]
    fn addresses_are_of_the_network() {
        for url in [
            "ext::sh -c x",
            "ext::x",
            "file:///tmp/a",
            "/tmp/a",
            "../a",
            "a",
            "http://example.com/a",
            "git://example.com/a",
            "ssh://-oProxyCommand=x/a",
            "ssh://a@-oProxyCommand=x/a",
            "https://",
            "https:///a",
            "a@-b:c",
            "-a@b:c",
            "a@b:-c",
            "a@b::c",
            "https://example.com/a b",
            "https://example.com/a\"",
            "https://example.com/a;b",
            "https://example.com/../a",
            "",
        ] {
            let text = format!("[remote \"b\"]\n\turl = {url}\n");
            assert!(!with(&text), "{url}");
        }
    }

    #[test]
    fn what_is_fetched_is_no_branch_of_ones_own() {
        let fetch = |spec: &str| changed("+refs/heads/*:refs/remotes/origin/*", spec);
        assert!(fetch("refs/heads/main:refs/remotes/origin/main"));
        for spec in [
            "+refs/heads/*:refs/heads/*",
            "+refs/heads/*",
            "refs/heads/a:refs/heads/b:refs/remotes/c",
            "^refs/heads/a",
        ] {
            assert!(!fetch(spec), "{spec}");
        }
    }

    /// The keys and values that git reads from a file, in order. `None` if git can't parse it.
    fn read_by_git(text: &str) -> Option<Vec<String>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut git = std::process::Command::new("git");
        git.args(["config", "--list", "--null", "--file"]).arg(file.path());
        let read = git.stderr(std::process::Stdio::null()).output().unwrap();
        let entries = String::from_utf8_lossy(&read.stdout).into_owned();
        read.status
            .success()
            .then(|| entries.split_terminator('\0').map(str::to_string).collect())
    }

    fn may_change(entry: &&String) -> bool {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        let last = key.rsplit('.').next().unwrap_or_default();
        match key.split('.').next().unwrap_or_default() {
            "remote" => matches!(last, "url" | "pushurl" | "fetch") && !value.contains("::"),
            "branch" => matches!(last, "remote" | "merge"),
            "user" => matches!(last, "name" | "email"),
            _ => false,
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(600))]

        /// Inserts and removes lines of many forms anywhere, and compares what git reads.
        #[test]
        fn git_reads_the_rest_as_before(changes in proptest::collection::vec((0_usize..12, 0_usize..LINES.len(), 0_u8..8), 1..4)) {
            let mut lines: Vec<&str> = OLD.lines().collect();
            for (at, line, what) in changes {
                let at = at.min(lines.len() - 1);
                match what {
                    0 => { lines.remove(at); }
                    1 => lines[at] = LINES[line],
                    2 => lines.extend(["[remote \"b\"]", LINES[line]]),
                    _ => lines.insert(at, LINES[line]),
                }
            }
            let new = lines.join("\n") + "\n";
            if is_harmless_change(OLD.as_bytes(), new.as_bytes())
                && let Some(before) = read_by_git(OLD)
            {
                let after = read_by_git(&new).expect("git reads it");
                let kept = |entries: &[String]| entries.iter().filter(|entry| !may_change(entry)).cloned().collect::<Vec<_>>();
                proptest::prop_assert_eq!(kept(&before), kept(&after), "{}", new);
            }
        }
    }

    const LINES: &[&str] = &[
        "[remote \"b\"]",
        "[remote \"b\"] sshCommand = x",
        "[remote \"b\"][core]",
        "[ remote \"b\"]",
        "[remote.b]",
        "[REMOTE \"b\"]",
        "[branch \"b/c\"]",
        "[user]",
        "[core]",
        "[include]",
        "\turl = https://example.com/b",
        "\turl = git@example.com:b",
        "\turl = ext::sh -c x",
        "\turl = https://example.com/b \\",
        "\turl = \"https://example.com/b",
        "\turl = https://example.com/b\"",
        "\turl = https://example.com/b # x",
        "\turl = https://example.com/b\r",
        "\turl = https://example.com/b\u{b}[core]",
        "  url = https://example.com/b",
        "\turl=https://example.com/b",
        "\tURL = https://example.com/b",
        "\turl",
        "\tfetch = +refs/heads/*:refs/remotes/b/*",
        "\tremote = origin",
        "\tmerge = refs/heads/main",
        "\tname = a b",
        "\tname = a; b",
        "\temail = a@example.com",
        "\tuploadpack = x",
        "\tsshCommand = x",
        "\tpath = x",
        "# [core]",
        "\\",
        "\"",
        "",
    ];
}

//! The settings of a git configuration (git-config(1), "Syntax"), and what of them names programs and files that git obeys.

/// One setting. Names are in lowercase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// The section without its subsection: `core`, `filter`.
    pub section: String,
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
    /// A command line.
    Command,
}

/// Names of settings whose value is a command, whatever the section (git-config(1)).
const COMMANDS: &[&str] = &[
    "alternaterefscommand",
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
    "packobjectshook",
    "pager",
    "process",
    "program",
    "receivepack",
    "smudge",
    "sshcommand",
    "textconv",
    "update",
    "uploadpack",
];

impl GitSetting {
    /// How the setting names what git obeys; `None` if it names nothing of the kind.
    pub fn named(&self) -> Option<Named> {
        match (self.section.as_str(), self.name.as_str()) {
            ("core", "hookspath") | ("init", "templatedir") => Some(Named::Hooks),
            ("core", "attributesfile") => Some(Named::File),
            ("include" | "includeif", "path") => Some(Named::Configuration),
            ("alias" | "pager", _) => Some(Named::Command),
            // The programs of `git mergetool`, and of man and web browsers.
            ("mergetool" | "difftool" | "man" | "browser" | "guitool", "path") => Some(Named::Command),
            ("sendemail", name) if name.ends_with("cmd") => Some(Named::Command),
            (_, name) if COMMANDS.contains(&name) => Some(Named::Command),
            _ => None,
        }
    }
}

/// Reads the settings of a configuration. What git can't parse is left out: it obeys nothing of such a file.
pub fn git_settings(text: &[u8]) -> Vec<GitSetting> {
    let text = String::from_utf8_lossy(text);
    let mut rest = text.trim_start_matches('\u{feff}');
    let (mut section, mut settings) = (String::new(), Vec::new());
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '#' | ';' => after_line(rest),
            '[' => {
                let (name, after) = header(&rest[1..]);
                section = name;
                after
            }
            letter if letter.is_ascii_alphabetic() => {
                let (name, value, after) = setting(rest);
                let (section, name) = (section.clone(), name.to_ascii_lowercase());
                settings.push(GitSetting { section, name, value });
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

/// The section of a header, behind its bracket, and what follows. A subsection may hold brackets in its quotes.
fn header(text: &str) -> (String, &str) {
    let end = text.find([']', '"', '\n']).unwrap_or(text.len());
    let name = text[..end].split(['.', ' ', '\t']).next().unwrap_or_default();
    let mut rest = &text[end..];
    if let Some(quoted) = rest.strip_prefix('"') {
        let mut is_escaped = false;
        let is_end = |letter: char| {
            let ends = letter == '"' && !is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            ends
        };
        rest = quoted.find(is_end).map_or("", |end| &quoted[end + 1..]);
    }
    let after = rest.trim_start_matches([' ', '\t']);
    (name.to_ascii_lowercase(), after.strip_prefix(']').unwrap_or(after))
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
        settings
            .map(|one| format!("{}.{}={}", one.section, one.name, one.value))
            .collect()
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
                "filter.clean=x # y z  more",
                "alias.st=!./tool \"a\"",
                "includeif.path=../p",
                "remote.url=../r",
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
        for text in [
            "[remote \"o\"]\nurl = ../x",
            "[user]\nname = a/b",
            "[commit]\ntemplate = ./x",
        ] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}

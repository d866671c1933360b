//! Parameter expansion: `$NAME` and `${NAME…}`. A variable that the script didn't set comes from the environment.

use super::expand::Part;
use super::pattern::{matches, without_prefix, without_suffix};
use super::scan::closing;
use super::state::Field;
use super::walk::{Reader, joined};
use crate::finding::Act;
use crate::text::Text;
use crate::value::Value;

/// Variables that the shell itself sets (bash(1), "Shell Variables").
const SHELLS_OWN: &str = "RANDOM SRANDOM LINENO UID EUID IFS OPTARG OPTIND OPTERR SECONDS PPID HOSTNAME REPLY \
                          PIPESTATUS FUNCNAME SHLVL OLDPWD COLUMNS LINES OSTYPE HOSTTYPE MACHTYPE SHELLOPTS \
                          EPOCHSECONDS EPOCHREALTIME GROUPS DIRSTACK PS4 COPROC MAPFILE _";

impl Reader<'_> {
    /// Expands the inside of `${…}`, or the name after a plain `$`.
    pub fn parameter(&mut self, inner: &str, is_quoted: bool) -> Part {
        if let Some(rest) = inner.strip_prefix('#')
            && !rest.is_empty()
        {
            self.parameter(rest, true);
            return Part::Text(vec![Text::unknown()]);
        }
        if let Some(rest) = inner.strip_prefix('!')
            && !rest.is_empty()
        {
            return self.indirect(rest);
        }
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = match inner.chars().next() {
            Some(letter) if is_letter(letter) => inner.find(|letter| !is_letter(letter)).unwrap_or(inner.len()),
            _ => inner.len().min(1),
        };
        let Some((name, rest)) = inner.split_at_checked(length) else {
            return Part::Text(vec![Text::unknown()]);
        };
        let (index, operator) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((index, operator)) => (Some(index), operator),
            None => (None, rest),
        };
        if operator.is_empty() {
            return self.plain(name, index, is_quoted);
        }
        let field = self.operated(name, index, operator);
        if is_quoted { Part::Text(field) } else { Part::Cut(field) }
    }

    fn indirect(&mut self, name: &str) -> Part {
        if name.ends_with(['*', '@', ']']) {
            return Part::Text(vec![Text::unknown()]);
        }
        for target in self.values(name, None, true) {
            match target.exact() {
                Some(exact) if !exact.is_empty() => return Part::Text(self.values(exact, None, true)),
                _ => self.act(Act::Variable(Text::unknown()), "${!…}"),
            }
        }
        Part::Text(vec![Text::unknown()])
    }

    fn plain(&mut self, name: &str, index: Option<&str>, is_quoted: bool) -> Part {
        let is_all = matches!(index, Some("@" | "*"));
        if is_all && let Some(Value::List(items)) = self.state.variables.get(name) {
            return Part::Words(items.iter().map(texts).collect());
        }
        if matches!(name, "@" | "*") {
            return match &self.state.arguments {
                Some(arguments) => Part::Words(arguments.to_vec()),
                None => Part::Words(vec![vec![Text::unknown()]]),
            };
        }
        let field = self.values(name, index, true);
        if is_quoted { Part::Text(field) } else { Part::Cut(field) }
    }

    /// The possible values of a variable. `touches`: an unset one is looked up in the environment.
    fn values(&mut self, name: &str, index: Option<&str>, touches: bool) -> Field {
        if let Ok(position) = name.parse::<usize>() {
            return self.argument(position);
        }
        match self.state.variables.get(name) {
            Some(Value::List(items)) => {
                let at = index.map_or(Some(0), |index| index.parse::<usize>().ok());
                return match at {
                    Some(at) => items.get(at).map_or_else(|| vec!["".into()], texts),
                    None => any_of(items),
                };
            }
            Some(value) => return texts(value),
            None => {}
        }
        match name {
            "PWD" => return self.here(),
            "BASH_SOURCE" => return vec![self.setting.script_path().into()],
            "HOME" => {
                self.act(Act::Variable("HOME".into()), "$HOME");
                return vec!["~".into()];
            }
            _ => {}
        }
        let is_own = SHELLS_OWN.split(' ').any(|own| own == name) || name.starts_with("BASH") && name != "BASH_ENV";
        let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
        if touches && is_name && !is_own && !self.state.has_sourced {
            self.act(Act::Variable(name.into()), "$");
        }
        vec![Text::unknown()]
    }

    fn argument(&self, position: usize) -> Field {
        match (&self.state.arguments, position) {
            (_, 0) => vec![self.setting.script_path().into()],
            (Some(arguments), _) => arguments.get(position - 1).cloned().unwrap_or_else(|| vec!["".into()]),
            (None, _) => vec![Text::unknown()],
        }
    }

    /// The current directory's name: `.` is the directory that the script started in, and later paths are relative to that,
    /// so the name is a path that keeps its meaning when the directory changes.
    pub fn here(&self) -> Field {
        match &self.state.directories[..] {
            [] => vec![self.root()],
            directories => directories
                .iter()
                .map(|directory| self.root().joined(directory))
                .collect(),
        }
    }

    /// The directory that the script started in.
    fn root(&self) -> Text {
        match (&self.setting.root, self.state.directories.is_empty()) {
            (Some(root), _) => root.to_string_lossy().into_owned().into(),
            (None, _) => ".".into(),
        }
    }

    /// Looks up variables by name.
    pub fn touch_each(&mut self, names: &Field) {
        for name in names {
            match name.exact() {
                Some(name) => drop(self.values(name, None, true)),
                None => self.act(Act::Variable(Text::unknown()), "test -v"),
            }
        }
    }

    /// Looks up the variables of an arithmetic expression, and sets those that it assigns.
    pub fn arithmetic(&mut self, expression: &str) {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let expression = self.without_commands(expression);
        let mut rest = &*expression;
        while let Some(at) = rest.find(is_letter) {
            let before = rest[..at].chars().next_back();
            rest = &rest[at..];
            let length = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(length);
            rest = after;
            if name.starts_with(|letter: char| letter.is_ascii_digit()) || before == Some('#') || before == Some('{') {
                continue;
            }
            let behind = after.trim_start();
            let is_set = behind.starts_with('=') && !behind.starts_with("==");
            if !is_set {
                self.values(name, None, true);
            }
            if is_set || behind.starts_with("++") || behind.starts_with("+=") || behind.starts_with("-=") {
                self.state.set(name, Value::Unknown);
            }
        }
    }

    /// Returns an expression without its command substitutions, and reads those.
    fn without_commands(&mut self, expression: &str) -> String {
        let (mut plain, mut rest) = (String::new(), expression);
        while let Some((before, inner)) = rest.split_once("$(") {
            plain.push_str(before);
            if inner.starts_with('(') {
                rest = inner;
                continue;
            }
            let length = closing(inner, ')').unwrap_or(inner.len());
            self.output(&inner[..length]);
            rest = inner.get(length + 1..).unwrap_or_default();
        }
        plain.push_str(rest);
        plain
    }

    fn operated(&mut self, name: &str, index: Option<&str>, operator: &str) -> Field {
        let bare = operator.strip_prefix(':').unwrap_or(operator);
        let mut letters = bare.chars();
        match letters.next() {
            Some(kind @ ('-' | '=')) => {
                let default = self.word(letters.as_str());
                self.or_default(name, index, default, kind == '=')
            }
            Some('?') => self.values(name, index, true),
            Some('+') => {
                self.values(name, index, true);
                let mut other = self.word(letters.as_str());
                other.push("".into());
                other
            }
            _ => {
                let known = self.values(name, index, true);
                let operated = known.iter().map(|text| self.cut(text, operator));
                operated.collect::<Vec<Text>>()
            }
        }
    }

    fn or_default(&mut self, name: &str, index: Option<&str>, default: Field, sets: bool) -> Field {
        // The location of temporary files is no secret.
        let is_temporary = name == "TMPDIR" && default.iter().all(|text| text.prefix().starts_with("/tmp"));
        let is_set = self.state.variables.contains_key(name) || name.parse::<usize>().is_ok();
        let known = match is_temporary && !is_set {
            true => Vec::new(),
            false => self.values(name, index, true),
        };
        let mut values: Field = known.into_iter().filter(|text| text.exact() != Some("")).collect();
        if values.is_empty() || values.iter().any(|text| text.exact().is_none()) || !is_set {
            values.extend(default);
        }
        if sets {
            self.state.set(name, joined(&values));
        }
        values
    }

    /// Applies `%`, `#`, `/` and the other operators to a text.
    fn cut(&mut self, text: &Text, operator: &str) -> Text {
        const MAX_LENGTH: usize = 1024;
        let Some(exact) = text.exact().filter(|exact| exact.len() <= MAX_LENGTH) else {
            return match operator.starts_with('%') {
                true => Text::from(text.prefix()).then(&Text::unknown()),
                false => Text::unknown(),
            };
        };
        let mut pattern = |raw: &str| {
            let field = self.word(raw);
            field.first().and_then(Text::exact).map(str::to_string)
        };
        let cut = match operator.as_bytes() {
            [b'%', b'%', ..] => pattern(&operator[2..]).and_then(|pattern| without_suffix(exact, &pattern, true)),
            [b'%', ..] => pattern(&operator[1..]).and_then(|pattern| without_suffix(exact, &pattern, false)),
            [b'#', b'#', ..] => pattern(&operator[2..]).and_then(|pattern| without_prefix(exact, &pattern, true)),
            [b'#', ..] => pattern(&operator[1..]).and_then(|pattern| without_prefix(exact, &pattern, false)),
            [b'^', b'^', ..] => Some(exact.to_uppercase()),
            [b',', b',', ..] => Some(exact.to_lowercase()),
            [b'/', ..] => {
                let is_all = operator.starts_with("//");
                let rest = operator.trim_start_matches('/');
                let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
                match (pattern(from), pattern(to)) {
                    (Some(from), Some(to))
                        if !from.is_empty()
                            && matches(&from, &from) == Some(true)
                            && !from.contains(['*', '?', '#', '%']) =>
                    {
                        Some(if is_all {
                            exact.replace(&from, &to)
                        } else {
                            exact.replacen(&from, &to, 1)
                        })
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        cut.map_or_else(Text::unknown, Text::from)
    }
}

/// The possible texts of a value.
pub(super) fn texts(value: &Value) -> Field {
    match value {
        Value::List(items) => any_of(items),
        value => value.alternatives().iter().map(Value::text).collect(),
    }
}

fn any_of(items: &[Value]) -> Field {
    const MAX: usize = 8;
    let mut all: Field = items.iter().flat_map(texts).take(MAX + 1).collect();
    if all.is_empty() || all.len() > MAX {
        all = vec![Text::unknown()];
    }
    all
}

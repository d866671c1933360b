//! The shell's builtins (bash(1), "SHELL BUILTIN COMMANDS").

use std::rc::Rc;

use super::feed::Feed;
use super::state::Field;
use super::walk::{Reader, join, joined};
use crate::finding::{Act, Opaque};
use crate::text::Text;
use crate::value::Value;
use crate::whereabouts::{Whereabouts, locate};
use stockade_policy::policy::Access;

impl Reader<'_> {
    /// Runs a builtin; returns false if the name isn't one.
    pub fn builtin(&mut self, name: &str, arguments: &[Field]) -> bool {
        match name {
            ":" | "true" | "false" | "set" | "shopt" | "umask" | "ulimit" | "wait" | "jobs" | "times" | "type"
            | "hash" | "help" | "alias" | "unalias" | "bind" | "break" | "continue" | "disown" | "bg" | "fg"
            | "kill" | "shift" | "caller" | "let" | "builtin" => self.plain_builtin(name, arguments),
            "exit" | "return" => {
                // A function's `return` ends only the function; commands after its call still run. Reading on is safe.
                self.state.is_over = name == "exit";
            }
            "cd" | "pushd" => self.change_directory(arguments),
            "popd" => self.state.directories = Vec::new(),
            "pwd" => {
                let here = self.here();
                self.print(here);
            }
            "dirs" => {}
            "echo" | "printf" => self.echo(name, arguments),
            "read" => self.read_line(arguments),
            "mapfile" | "readarray" => self.read_lines(arguments),
            "export" | "local" | "declare" | "typeset" | "readonly" => self.declare(name, arguments),
            "unset" => self
                .names(arguments)
                .iter()
                .for_each(|name| self.state.set(name, "".into())),
            "getopts" => {
                if let Some(name) = arguments.get(1).and_then(exact) {
                    self.state.set(&name, Value::Unknown);
                }
            }
            "test" | "[" => self.test_words(arguments),
            "source" | "." => self.source(arguments),
            "eval" => self.evaluate(arguments),
            "trap" => self.trap(arguments),
            "exec" => {
                if !arguments.is_empty() {
                    self.start(arguments.to_vec());
                    self.state.is_over = true;
                }
            }
            "command" => self.command_builtin(arguments),
            _ => return false,
        }
        true
    }

    fn plain_builtin(&mut self, name: &str, arguments: &[Field]) {
        match name {
            "let" => arguments
                .iter()
                .filter_map(exact)
                .for_each(|expression| self.arithmetic(&expression)),
            "builtin" if !arguments.is_empty() => self.start(arguments.to_vec()),
            "shift" => {
                if let Some(all) = &self.state.arguments {
                    let count = arguments
                        .first()
                        .and_then(exact)
                        .and_then(|count| count.parse().ok())
                        .unwrap_or(1);
                    self.state.arguments = Some(Rc::new(all.iter().skip(count).cloned().collect()));
                }
            }
            "set" if arguments.is_empty() => self.act(Act::Variable(Text::unknown()), name),
            "set" if arguments.first().and_then(exact).as_deref() == Some("--") => {
                self.state.arguments = Some(Rc::new(arguments[1..].to_vec()));
            }
            _ => {}
        }
    }

    fn change_directory(&mut self, arguments: &[Field]) {
        let target = arguments
            .iter()
            .find(|field| exact(field).is_none_or(|word| !word.starts_with('-')));
        let Some(target) = target else {
            if arguments.iter().any(|field| exact(field).as_deref() == Some("-")) {
                self.state.directories = Vec::new();
                return;
            }
            self.act(Act::Variable("HOME".into()), "cd");
            self.state.directories = vec!["~".into()];
            return;
        };
        const MAX: usize = 4;
        let before = match self.state.directories.is_empty() {
            true => vec![Text::from(".")],
            false => self.state.directories.clone(),
        };
        let mut after: Field = Vec::new();
        for from in &before {
            for path in target {
                let directory = match path.exact() {
                    Some("." | "") => from.clone(),
                    Some(path) if path.starts_with('~') => path.into(),
                    _ if path.prefix().starts_with('~') || path.is_unknown() => path.clone(),
                    _ if from.exact() == Some(".") => path.clone(),
                    _ => from.joined(path),
                };
                if !after.contains(&directory) {
                    after.push(directory);
                }
            }
        }
        if after.len() > MAX {
            after = vec![Text::unknown()];
        }
        self.state.directories = match &after[..] {
            [only] if only.exact() == Some(".") => Vec::new(),
            _ => after,
        };
    }

    fn echo(&mut self, name: &str, arguments: &[Field]) {
        if self.printed.is_none() {
            return;
        }
        let mut output: Field = vec!["".into()];
        let words: Vec<&Field> = arguments
            .iter()
            .filter(|field| {
                exact(field)
                    .is_none_or(|word| name == "printf" || !matches!(&*word, "-n" | "-e" | "-en" | "-ne" | "-E"))
            })
            .collect();
        match (name, &words[..]) {
            ("printf", [format, rest @ ..]) => {
                let format = exact(format).unwrap_or_default();
                match (&*format, rest) {
                    ("%s" | "%s\\n" | "%s\\0", [only]) => output = (*only).clone(),
                    (_, []) => output = vec![stockade_shell::ansi_c(&format).into()],
                    _ => output = vec![Text::unknown()],
                }
            }
            _ => {
                for (at, word) in words.iter().enumerate() {
                    if at > 0 {
                        join(&mut output, &vec![" ".into()]);
                    }
                    join(&mut output, word);
                }
                join(&mut output, &vec!["\n".into()]);
            }
        }
        self.print(output);
    }

    /// `read`: the first variable gets the first word; an unknown line has the pattern that all lines have.
    fn read_line(&mut self, arguments: &[Field]) {
        let names = self.names_behind(arguments, "dintpNu");
        let line = match &self.feed {
            Feed::Text(field) if names.len() == 1 => match &field[..] {
                [text] if text.exact().is_some_and(|text| text.trim_end().contains('\n')) => Value::Unknown,
                [text] => text
                    .exact()
                    .map_or_else(|| Value::Text(text.clone()), |text| text.trim().into()),
                _ => joined(field),
            },
            _ => Value::Unknown,
        };
        for name in names {
            self.state.set(&name, line.clone());
        }
    }

    fn read_lines(&mut self, arguments: &[Field]) {
        let items: Vec<Value> = self.feed.words().iter().map(joined).collect();
        for name in self.names_behind(arguments, "dnOsuCc") {
            self.state.set(&name, Value::List(Rc::new(items.clone())));
        }
    }

    /// Names after the options; `valued` are the options that take a value.
    fn names_behind(&self, arguments: &[Field], valued: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut words = arguments.iter();
        while let Some(field) = words.next() {
            let Some(word) = exact(field) else { continue };
            match word.strip_prefix('-') {
                Some("a") => names.extend(words.next().and_then(exact)),
                Some(option) => {
                    if option.len() == 1 && option.ends_with(|letter| valued.contains(letter))
                        || option.ends_with(['p', 'd']) && valued.contains('p')
                    {
                        words.next();
                    }
                }
                None => names.push(word),
            }
        }
        names
    }

    fn names(&self, arguments: &[Field]) -> Vec<String> {
        arguments
            .iter()
            .filter_map(exact)
            .filter(|name| !name.starts_with('-'))
            .collect()
    }

    /// Declares names without a value; those with one were assigned already.
    fn declare(&mut self, name: &str, arguments: &[Field]) {
        let is_array = arguments
            .iter()
            .filter_map(exact)
            .any(|word| word == "-a" || word == "-A");
        for declared in self.names(arguments) {
            if declared.contains('=') || self.state.variables.contains_key(&declared) && name != "local" {
                continue;
            }
            match name {
                // `export NAME` of an environment variable changes nothing.
                "export" | "readonly" => {}
                _ if is_array => self.state.set(&declared, Value::List(Rc::new(Vec::new()))),
                _ => self.state.set(&declared, "".into()),
            }
        }
    }

    /// `export -p`, `declare -x` and the like without names print every variable, `declare -p NAME` prints that one.
    pub fn list_variables(&mut self, fields: &[Field]) {
        let Some((name, arguments)) = fields.split_first() else {
            return;
        };
        let name = exact(name).unwrap_or_default();
        if !matches!(&*name, "export" | "declare" | "typeset") {
            return;
        }
        let words: Vec<String> = arguments.iter().map(|field| exact(field).unwrap_or_default()).collect();
        let options: String = words.iter().filter_map(|word| word.strip_prefix('-')).collect();
        let (prints, functions) = (options.contains('p'), options.contains(['f', 'F']));
        if functions {
            return;
        }
        if words.iter().all(|word| word.starts_with('-')) {
            self.act(Act::Variable(Text::unknown()), &name);
        } else if prints {
            let named = arguments
                .iter()
                .filter(|field| exact(field).is_none_or(|word| !word.starts_with('-')));
            named.for_each(|field| self.touch_each(field));
        }
    }

    fn test_words(&mut self, arguments: &[Field]) {
        for (at, field) in arguments.iter().enumerate() {
            let (Some(operator), Some(next)) = (exact(field), arguments.get(at + 1)) else {
                continue;
            };
            match operator.as_str() {
                "-nt" | "-ot" | "-ef" => {
                    let before = at.checked_sub(1).and_then(|at| arguments.get(at));
                    for path in before.into_iter().chain([next]).flatten() {
                        self.act(Act::Read(path.clone()), "test");
                    }
                }
                "-v" => self.touch_each(next),
                "-a" if at > 0 => {}
                _ => {
                    let is_file = super::special::tests_file(&operator) && exact(next).as_deref() != Some("]");
                    for path in next.iter().filter(|_| is_file) {
                        self.act(Act::Read(path.clone()), "test");
                    }
                }
            }
        }
    }

    fn source(&mut self, arguments: &[Field]) {
        for path in arguments.first().into_iter().flatten() {
            if path.prefix().starts_with("/dev/fd/") {
                let opaque = if path.exact() == Some(super::FETCHED) {
                    Opaque::RemoteCode
                } else {
                    Opaque::BuiltCode
                };
                self.opaque(opaque, "source");
                continue;
            }
            self.act(Act::Read(path.clone()), "source");
            self.state.has_sourced = true;
            // Files that every run may read belong to the system: settings, and functions of packages.
            if locate(path, Access::READ, self.setting).whereabouts == Whereabouts::Free {
                continue;
            }
            let opaque = match path.exact() {
                Some(name) => Opaque::loaded(name, path.shown()),
                None => Opaque::OtherFile(path.shown()),
            };
            self.state.has_unread_functions |= matches!(opaque, Opaque::Unfollowed(_));
            self.opaque(opaque, "source");
        }
    }

    fn evaluate(&mut self, arguments: &[Field]) {
        const MAX_WORDS: usize = 1000;
        if arguments.len() > MAX_WORDS {
            return self.opaque(Opaque::TooMuch("too many words for one command"), "eval");
        }
        let mut code: Field = vec!["".into()];
        for field in arguments {
            join(&mut code, field);
            join(&mut code, &vec![" ".into()]);
        }
        for code in code {
            match code.exact() {
                Some(code) => self.embedded(code),
                None => self.opaque(Opaque::BuiltCode, "eval"),
            }
        }
    }

    fn trap(&mut self, arguments: &[Field]) {
        let code = arguments
            .iter()
            .find(|field| exact(field).is_none_or(|word| !word.starts_with('-')));
        for code in code.into_iter().flatten() {
            match code.exact() {
                // It runs later, with the state at that time; mostly that equals the current state.
                Some(code) => self.apart(|reader| reader.embedded(code)),
                None => self.opaque(Opaque::BuiltCode, "trap"),
            }
        }
    }

    fn command_builtin(&mut self, arguments: &[Field]) {
        match arguments.first().and_then(exact).as_deref() {
            Some("-v" | "-V") => {
                let name = arguments.get(1).and_then(exact).unwrap_or_default();
                self.print(vec![format!("/usr/bin/{name}").into()]);
            }
            Some("-p") => self.start(arguments[1..].to_vec()),
            Some(_) | None if arguments.is_empty() => {}
            _ => self.start(arguments.to_vec()),
        }
    }
}

/// The text of a word, if it is known exactly.
fn exact(field: &Field) -> Option<String> {
    match &field[..] {
        [text] => text.exact().map(str::to_string),
        _ => None,
    }
}

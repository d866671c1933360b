//! Simple commands: assignments, redirections, functions, builtins, programs.

use std::rc::Rc;

use brush_parser::ast::{Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem as Item, IoRedirect};
use brush_parser::ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, ProcessSubstitutionKind};
use brush_parser::ast::{SimpleCommand, SourceLocation, SubshellCommand};

use super::feed::{Feed, fetches};
use super::parameter::texts;
use super::program;
use super::started;
use super::state::Field;
use super::walk::{Reader, join, joined};
use crate::finding::{Act, Opaque};
use crate::text::Text;
use crate::value::Value;

impl Reader<'_> {
    pub fn simple(&mut self, command: &SimpleCommand) {
        self.stand(command.location().as_ref());
        let feed = self.feed.clone();
        let mut goes_elsewhere = false;
        let mut assignments = Vec::new();
        for item in command.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                Item::IoRedirect(redirection) => goes_elsewhere |= self.redirection(redirection),
                Item::AssignmentWord(assignment, _) => assignments.push(assignment),
                Item::Word(_) | Item::ProcessSubstitution(..) => {}
            }
        }
        let mut fields = Vec::new();
        if let Some(word) = &command.word_or_name {
            fields.extend(self.fields(&word.value));
        }
        let declares = fields.first().is_some_and(declares);
        let mut declared = Vec::new();
        for item in command.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                Item::IoRedirect(redirection) => goes_elsewhere |= self.redirection(redirection),
                Item::AssignmentWord(assignment, _) if declares => declared.push(assignment),
                Item::Word(word) | Item::AssignmentWord(_, word) => fields.extend(self.fields(&word.value)),
                Item::ProcessSubstitution(kind, subshell) => fields.push(self.process(kind, subshell)),
            }
        }
        let printed = if goes_elsewhere { self.printed.take() } else { None };
        if fields.is_empty() {
            assignments.iter().for_each(|assignment| self.assign(assignment));
        } else {
            self.run(&assignments, &declared, fields);
        }
        if goes_elsewhere {
            self.printed = printed;
        }
        // Only the redirections of `exec < file` stay in force.
        self.feed = feed;
    }

    fn run(&mut self, assignments: &[&Assignment], declared: &[&Assignment], fields: Vec<Field>) {
        // `IFS=, read -r a b`: only the command sees them; functions do as well, which makes no difference here.
        let kept: Vec<(String, Option<Value>)> = assignments
            .iter()
            .filter_map(|assignment| match &assignment.name {
                AssignmentName::VariableName(name) => Some((name.clone(), self.state.variables.get(name).cloned())),
                AssignmentName::ArrayElementName(..) => None,
            })
            .collect();
        assignments.iter().for_each(|assignment| self.assign(assignment));
        declared.iter().for_each(|assignment| self.assign(assignment));
        if declared.is_empty() {
            self.list_variables(&fields);
        }
        self.start(fields);
        for (name, value) in kept {
            match value {
                Some(value) => self.state.set(&name, value),
                None => drop(self.state.variables.remove(&name)),
            }
        }
    }

    /// Runs a command, given its words.
    pub fn start(&mut self, fields: Vec<Field>) {
        let name = fields.first().and_then(|field| match &field[..] {
            [text] => text.exact(),
            _ => None,
        });
        if let Some(name) = name {
            if let Some(function) = self.state.functions.get(name).cloned() {
                return self.call(&function, fields[1..].to_vec());
            }
            if self.builtin(name, &fields[1..]) {
                return;
            }
            if self.state.has_unread_functions && !name.contains('/') && !program::is_known(name) {
                return;
            }
        }
        for words in choices(&fields) {
            self.program(words);
        }
    }

    fn program(&mut self, mut words: Vec<Text>) {
        let Some(first) = words.first() else { return };
        let by = first.exact().map_or("a computed program", super::base_name).to_string();
        if by == "xargs" {
            let fed = self.feed.words();
            words.extend(fed.into_iter().filter_map(|field| field.into_iter().next()));
        }
        self.started_by_variables(&words);
        self.feed_program(&words);
        self.print_program(&words);
        self.act(Act::Start(words), &by);
    }

    fn assign(&mut self, assignment: &Assignment) {
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => joined(&self.word(&word.value)),
            AssignmentValue::Array(items) => {
                let fields: Vec<Field> = items.iter().flat_map(|(_, word)| self.fields(&word.value)).collect();
                Value::List(Rc::new(fields.iter().map(joined).collect()))
            }
        };
        match &assignment.name {
            AssignmentName::VariableName(name) => {
                let value = if assignment.append {
                    self.appended(name, value)
                } else {
                    value
                };
                self.state.set(name, value);
            }
            AssignmentName::ArrayElementName(name, index) => {
                // A plain word is mostly the key of an associative array.
                if !index
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                {
                    self.arithmetic(index);
                }
                let mut items = match self.state.variables.get(name) {
                    Some(Value::List(items)) => items.to_vec(),
                    _ => Vec::new(),
                };
                if items.len() < 256 {
                    items.push(value);
                }
                self.state.set(name, Value::List(Rc::new(items)));
            }
        }
    }

    fn appended(&mut self, name: &str, value: Value) -> Value {
        const MAX: usize = 256;
        match (self.state.variables.get(name), value) {
            (Some(Value::List(before)), Value::List(more)) => {
                Value::List(Rc::new(before.iter().chain(more.iter()).take(MAX).cloned().collect()))
            }
            (Some(before), value) => {
                let mut field = texts(before);
                join(&mut field, &texts(&value));
                joined(&field)
            }
            (None, value) => value,
        }
    }

    /// Records the file that a redirection opens; returns true if standard output goes into it.
    pub fn redirection(&mut self, redirection: &IoRedirect) -> bool {
        match redirection {
            IoRedirect::File(number, kind, target) => {
                let is_output = matches!(kind, Kind::Write | Kind::Append | Kind::Clobber | Kind::DuplicateOutput);
                let path = match target {
                    Target::Filename(word) => self.word(&word.value),
                    Target::ProcessSubstitution(substitution, subshell) => {
                        let output = self.substituted(substitution, subshell);
                        if !is_output {
                            self.feed = Feed::of(output);
                        }
                        return is_output;
                    }
                    // `>&2` and `>&-` name descriptors; `>&file` is a file.
                    Target::Duplicate(word) => {
                        let is_number = word.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                        if is_number || word.value.starts_with('$') {
                            return is_output && number.is_none_or(|number| number == 1) && word.value != "1";
                        }
                        self.word(&word.value)
                    }
                    Target::Fd(_) => return false,
                };
                for path in path {
                    self.opened(kind, path);
                }
                is_output && number.is_none_or(|number| number == 1)
            }
            IoRedirect::OutputAndError(word, _) => {
                for path in self.word(&word.value) {
                    self.opened(&Kind::Write, path);
                }
                true
            }
            IoRedirect::HereDocument(_, document) => {
                let text = match document.requires_expansion {
                    true => self.document(&document.doc.value),
                    false => vec![document.doc.value.as_str().into()],
                };
                self.feed = Feed::Text(text);
                false
            }
            IoRedirect::HereString(_, word) => {
                self.feed = Feed::Text(self.word(&word.value));
                false
            }
        }
    }

    fn opened(&mut self, kind: &Kind, path: Text) {
        // Bash itself opens a connection for these paths.
        if path.prefix().starts_with("/dev/tcp/") || path.prefix().starts_with("/dev/udp/") {
            let address = path.exact().map(|path| path[9..].replacen('/', ":", 1));
            return self.act(Act::Connect(address.map_or_else(Text::unknown, Text::from)), "/dev/tcp");
        }
        match kind {
            Kind::Read | Kind::DuplicateInput => {
                self.feed = Feed::Text(vec![Text::unknown()]);
                self.act(Act::Read(path), "<");
            }
            Kind::ReadAndWrite => {
                self.act(Act::Read(path.clone()), "<>");
                self.act(Act::Write(path), "<>");
            }
            _ => self.act(Act::Write(path), ">"),
        }
    }

    /// The word that `<(…)` expands to.
    fn process(&mut self, kind: &ProcessSubstitutionKind, subshell: &SubshellCommand) -> Field {
        self.substituted(kind, subshell);
        let mut commands = subshell.list.0.iter().flat_map(|item| &item.0.first.seq);
        match commands.any(fetches) {
            true => vec![super::FETCHED.into()],
            false => vec!["/dev/fd/63".into()],
        }
    }

    fn substituted(&mut self, kind: &ProcessSubstitutionKind, subshell: &SubshellCommand) -> Field {
        let (feed, printed) = (self.feed.clone(), self.printed.take());
        if matches!(kind, ProcessSubstitutionKind::Write) {
            self.feed = Feed::Text(vec![Text::unknown()]);
        }
        self.printed = Some(Vec::new());
        self.apart(|reader| reader.list(&subshell.list));
        let output = std::mem::replace(&mut self.printed, printed).unwrap_or_default();
        self.feed = feed;
        output
    }
}

/// Commands whose arguments are assignments.
fn declares(name: &Field) -> bool {
    matches!(
        name.first().and_then(Text::exact),
        Some("export" | "local" | "declare" | "typeset" | "readonly")
    )
}

/// The possible word lists: all combinations if they are few; else each text of each word once.
fn choices(fields: &[Field]) -> Vec<Vec<Text>> {
    const MAX: usize = 8;
    let all = fields.iter().fold(1usize, |all, field| all.saturating_mul(field.len()));
    if all > MAX {
        let rounds = fields.iter().map(Vec::len).max().unwrap_or(1);
        let at = |round: usize| {
            fields
                .iter()
                .map(move |field| field[round % field.len()].clone())
                .collect()
        };
        return (0..rounds).map(at).collect();
    }
    let mut choices: Vec<Vec<Text>> = vec![Vec::new()];
    for field in fields {
        let further = |words: &Vec<Text>| {
            let words = words.clone();
            field
                .iter()
                .map(move |text| words.iter().cloned().chain([text.clone()]).collect())
        };
        choices = choices.iter().flat_map(further).collect();
    }
    choices
}

impl Reader<'_> {
    /// Records the programs that a program starts because of a variable that the script has set: `PAGER`.
    fn started_by_variables(&mut self, words: &[Text]) {
        for name in started::variables(&words[0]) {
            let Some(value) = self.state.variables.get(name) else {
                continue;
            };
            for value in texts(value) {
                for act in started::by_variable(&words[0], name, &value) {
                    self.act(act, name);
                }
            }
        }
    }

    /// Records code that can't be analysed.
    pub fn opaque(&mut self, opaque: Opaque, by: &str) {
        self.act(Act::Opaque(opaque), by);
    }
}

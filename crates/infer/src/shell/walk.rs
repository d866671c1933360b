//! Walks a script: every branch and each function call, within a budget of steps.

use std::ops::Range;
use std::rc::Rc;

use brush_parser::SourceSpan;
use brush_parser::ast::{AndOr, AndOrList, Command, CompoundCommand, CompoundList, ExtendedTestExpr, FunctionBody};
use brush_parser::ast::{Pipeline, Program, RedirectList, SeparatorOperator, SourceLocation, UnaryPredicate, Word};

use super::feed::Feed;
use super::parse::{Offsets, parse};
use super::state::{Field, Function, State};
use crate::finding::{Act, Finding, Opaque};
use crate::setting::Setting;
use crate::text::Text;
use crate::value::Value;

/// Walks a script, with its state at the current position.
pub(super) struct Reader<'s> {
    pub setting: &'s Setting,
    pub state: State,
    /// The current command's standard input.
    pub feed: Feed,
    /// Output printed so far at the current position; `None` where no one reads it.
    pub printed: Option<Field>,
    found: Vec<Finding>,
    /// The possible directories in force after the last finding.
    entered: Vec<Text>,
    at: Range<usize>,
    offsets: Option<Rc<Offsets>>,
    steps: usize,
    depth: usize,
}

impl<'s> Reader<'s> {
    /// Maximum number of commands and words that are examined; a longer script is reported as too much.
    const MAX_STEPS: usize = 30_000;
    /// Maximum nesting of calls and substitutions.
    const MAX_DEPTH: usize = 8;

    pub fn new(setting: &'s Setting) -> Self {
        Reader {
            setting,
            state: State::new(),
            feed: Feed::Nothing,
            printed: None,
            found: Vec::new(),
            entered: Vec::new(),
            at: 0..0,
            offsets: None,
            steps: 0,
            depth: 0,
        }
    }

    pub fn finish(self) -> Vec<Finding> {
        self.found
    }

    /// Reads a whole script.
    pub fn script(&mut self, text: &str) {
        match parse(text) {
            Ok(parsed) => {
                self.offsets = Some(Rc::new(parsed.offsets));
                self.all_of(&parsed.program);
            }
            Err(opaque) => self.act(Act::Opaque(opaque), "shell"),
        }
    }

    /// Reads code embedded in another script, with the current state. Its findings get the position of the outer command.
    pub fn embedded(&mut self, text: &str) {
        self.deeper(|reader| {
            let offsets = reader.offsets.take();
            match parse(text) {
                Ok(parsed) => reader.all_of(&parsed.program),
                Err(opaque) => reader.act(Act::Opaque(opaque), "shell"),
            }
            reader.offsets = offsets;
        });
    }

    /// Returns the output of embedded code that runs in a subshell.
    pub fn output(&mut self, text: &str) -> Field {
        let printed = self.printed.replace(Vec::new());
        let feed = std::mem::replace(&mut self.feed, Feed::Nothing);
        self.apart(|reader| reader.embedded(text));
        self.feed = feed;
        let output = std::mem::replace(&mut self.printed, printed).unwrap_or_default();
        match output.is_empty() {
            true => vec!["".into()],
            false => output.iter().map(without_newline).collect(),
        }
    }

    /// Runs a closure as in a subshell: the state that it sets is discarded.
    pub fn apart(&mut self, of: impl FnOnce(&mut Self)) {
        let state = self.state.clone();
        self.steps += state.variables.len() / 8;
        of(self);
        self.state = state;
    }

    /// Counts a step; returns false once the budget is spent.
    pub fn step(&mut self) -> bool {
        self.steps += 1;
        if self.steps == Self::MAX_STEPS {
            self.act(Act::Opaque(Opaque::TooMuch("too many commands")), "shell");
        }
        self.steps < Self::MAX_STEPS
    }

    fn deeper(&mut self, of: impl FnOnce(&mut Self)) {
        if self.depth >= Self::MAX_DEPTH {
            return self.act(Act::Opaque(Opaque::TooMuch("calls too deep in one another")), "shell");
        }
        self.depth += 1;
        of(self);
        self.depth -= 1;
    }

    /// Records an act, done in the current directory.
    pub fn act(&mut self, act: Act, by: &str) {
        const MAX: usize = 4096;
        if self.found.len() >= MAX {
            return;
        }
        if matches!(&act, Act::Read(path) if path.exact() == Some(&self.setting.script_path())) {
            return;
        }
        let directories = match matches!(act, Act::Variable(_) | Act::Connect(_) | Act::Opaque(_) | Act::Listen) {
            true => self.entered.clone(),
            false => self.state.directories.clone(),
        };
        let rounds = directories.len().max(1);
        for round in 0..rounds {
            let target: Vec<Text> = directories.get(round).cloned().into_iter().collect();
            if target != self.entered {
                self.push(Act::Back, by);
                for directory in &target {
                    self.push(Act::Enter(directory.clone()), by);
                }
                self.entered = target;
            }
            self.push(act.clone(), by);
        }
    }

    fn push(&mut self, act: Act, by: &str) {
        let finding = Finding::new(act, by, self.at.clone());
        if self.found.last() != Some(&finding) {
            self.found.push(finding);
        }
    }

    /// Sets the current position.
    pub fn stand(&mut self, place: Option<&SourceSpan>) {
        if let (Some(offsets), Some(place)) = (&self.offsets, place) {
            self.at = offsets.byte(place.start.index)..offsets.byte(place.end.index);
        }
    }

    fn all_of(&mut self, program: &Program) {
        for list in &program.complete_commands {
            self.list(list);
        }
    }

    pub fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            if self.state.is_over || !self.step() {
                return;
            }
            match item.1 {
                SeparatorOperator::Async => self.apart(|reader| reader.and_or(&item.0)),
                SeparatorOperator::Sequence => self.and_or(&item.0),
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        self.pipeline(&list.first);
        for further in &list.additional {
            if self.state.is_over {
                return;
            }
            let (before, printed) = (self.state.clone(), self.printed.clone());
            let (AndOr::And(pipeline) | AndOr::Or(pipeline)) = further;
            let is_or = matches!(further, AndOr::Or(_));
            if is_or && let Some(printed) = &mut self.printed {
                printed.clear();
            }
            self.pipeline(pipeline);
            // A command that runs only if another failed is the less likely one to matter; the output of both counts.
            if let (true, Some(now), Some(printed)) = (is_or, &mut self.printed, printed) {
                for text in printed {
                    if !now.contains(&text) {
                        now.insert(0, text);
                    }
                }
            }
            let after = std::mem::replace(&mut self.state, before.clone());
            // After a failed `cd`, nothing behind `&&` runs, so after both the second one's directory is the likely one.
            self.state = match is_or || after.is_over || after.directories == before.directories {
                true => before.or(after),
                false => after,
            };
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let [command] = &pipeline.seq[..] else {
            return self.pipe(&pipeline.seq);
        };
        self.command(command);
    }

    fn pipe(&mut self, commands: &[Command]) {
        let outer = self.printed.take();
        let before = self.feed.clone();
        for (at, command) in commands.iter().enumerate() {
            let is_last = at + 1 == commands.len();
            self.printed = Some(Vec::new());
            self.apart(|reader| reader.command(command));
            let printed = self.printed.take().unwrap_or_default();
            if is_last {
                self.printed = outer.clone();
                if let (Some(output), false) = (&mut self.printed, printed.is_empty()) {
                    join(output, &printed);
                }
            } else {
                let fetches = self.feed == Feed::Fetched || super::feed::fetches(command);
                self.feed = if fetches { Feed::Fetched } else { Feed::of(printed) };
            }
        }
        self.feed = before;
    }

    fn command(&mut self, command: &Command) {
        if self.state.is_over || !self.step() {
            return;
        }
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections) => {
                self.stand(compound.location().as_ref());
                self.redirected(redirections.as_ref(), |reader| reader.compound(compound));
            }
            Command::Function(definition) => {
                let function = Function {
                    body: definition.body.clone(),
                    offsets: self.offsets.clone(),
                };
                self.state
                    .functions
                    .insert(definition.fname.value.clone(), Rc::new(function));
            }
            Command::ExtendedTest(test, redirections) => {
                self.stand(Some(&test.loc));
                self.redirected(redirections.as_ref(), |reader| reader.test(&test.expr));
            }
        }
    }

    fn redirected(&mut self, redirections: Option<&RedirectList>, of: impl FnOnce(&mut Self)) {
        let feed = self.feed.clone();
        let mut goes_elsewhere = false;
        for redirection in redirections.iter().flat_map(|list| &list.0) {
            goes_elsewhere |= self.redirection(redirection);
        }
        let printed = match goes_elsewhere {
            true => self.printed.take(),
            false => None,
        };
        of(self);
        if goes_elsewhere {
            self.printed = printed;
        }
        self.feed = feed;
    }

    /// Calls a function; `arguments` are its `$1`, `$2`, ….
    pub fn call(&mut self, function: &Rc<Function>, arguments: Vec<Field>) {
        let FunctionBody(body, redirections) = &function.body;
        self.deeper(|reader| {
            let outer = reader.state.arguments.replace(Rc::new(arguments));
            let offsets = std::mem::replace(&mut reader.offsets, function.offsets.clone());
            let at = reader.at.clone();
            reader.redirected(redirections.as_ref(), |reader| reader.compound(body));
            (reader.at, reader.offsets) = (at, offsets);
            reader.state.arguments = outer;
        });
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(command) => self.arithmetic(&command.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.arithmetic(&part.value);
                }
                self.perhaps(|reader| reader.list(&clause.body.list));
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.apart(|reader| reader.list(&subshell.list)),
            CompoundCommand::ForClause(clause) => {
                let values = clause.values.as_ref().map(|words| self.words(words));
                self.each(&clause.variable_name, values, &clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                let before = self.state.clone();
                let mut after = before.clone();
                for item in &clause.cases {
                    let Some(list) = &item.cmd else { continue };
                    self.state = before.clone();
                    self.list(list);
                    after = after.or(self.state.clone());
                }
                self.state = after;
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                let before = self.state.clone();
                self.list(&clause.then);
                let mut after = std::mem::replace(&mut self.state, before);
                let mut has_else = false;
                for clause in clause.elses.iter().flatten() {
                    match &clause.condition {
                        Some(condition) => self.list(condition),
                        None => has_else = true,
                    }
                    let before = self.state.clone();
                    self.list(&clause.body);
                    after = after.or(std::mem::replace(&mut self.state, before));
                }
                self.state = match has_else {
                    true => after,
                    false => std::mem::replace(&mut self.state, State::new()).or(after),
                };
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                // A second round with the state that the first one left: the next page's address, for example.
                for _ in 0..2 {
                    let before = self.state.variables.clone();
                    self.steps += before.len() / 8;
                    self.list(&clause.0);
                    self.perhaps(|reader| reader.list(&clause.1.list));
                    if self.state.variables == before {
                        break;
                    }
                }
            }
            CompoundCommand::Coprocess(coprocess) => self.apart(|reader| reader.command(&coprocess.body)),
        }
    }

    /// Runs a loop's body once for each value.
    fn each(&mut self, name: &str, values: Option<Vec<Field>>, body: &CompoundList) {
        const MAX: usize = 64;
        let values = match values {
            Some(values) => values,
            None => self
                .state
                .arguments
                .as_ref()
                .map_or_else(|| vec![vec![Text::unknown()]], |all| all.to_vec()),
        };
        if values.len() > MAX {
            self.state.set(name, Value::Unknown);
            return self.perhaps(|reader| reader.list(body));
        }
        for value in values {
            self.state.set(name, joined(&value));
            self.perhaps(|reader| reader.list(body));
        }
    }

    /// Runs a closure for code that may or may not run.
    fn perhaps(&mut self, of: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        self.steps += before.variables.len() / 8;
        of(self);
        let after = std::mem::replace(&mut self.state, State::new());
        self.state = before.or(after);
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(first, second) | ExtendedTestExpr::Or(first, second) => {
                self.test(first);
                self.test(second);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                let value = self.word(&word.value);
                use UnaryPredicate::{FdIsOpenTerminal, ShellOptionEnabled, ShellVariableIsSetAndAssigned};
                use UnaryPredicate::{ShellVariableIsSetAndNameRef, StringHasNonZeroLength, StringHasZeroLength};
                match predicate {
                    ShellVariableIsSetAndAssigned => self.touch_each(&value),
                    FdIsOpenTerminal
                    | ShellOptionEnabled
                    | ShellVariableIsSetAndNameRef
                    | StringHasNonZeroLength
                    | StringHasZeroLength => {}
                    _ => value.into_iter().for_each(|path| self.act(Act::Read(path), "test")),
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, first, second) => {
                use brush_parser::ast::BinaryPredicate as Binary;
                let is_file = matches!(
                    predicate,
                    Binary::FilesReferToSameDeviceAndInodeNumbers
                        | Binary::LeftFileIsNewerOrExistsWhenRightDoesNot
                        | Binary::LeftFileIsOlderOrDoesNotExistWhenRightDoes
                );
                for Word { value, .. } in [first, second] {
                    for path in self.word(value).into_iter().filter(|_| is_file) {
                        self.act(Act::Read(path), "test");
                    }
                }
            }
        }
    }
}

/// Merges the texts that a field may be into one value.
pub(super) fn joined(field: &Field) -> Value {
    let mut values = field.iter().map(|text| Value::Text(text.clone()));
    let first = values.next().unwrap_or(Value::Unknown);
    values.fold(first, |all, value| all.or(&value))
}

/// Appends output to earlier output.
pub(super) fn join(output: &mut Field, further: &Field) {
    const MAX: usize = 8;
    if output.is_empty() {
        return output.extend(further.iter().cloned());
    }
    let both = output
        .iter()
        .flat_map(|first| further.iter().map(|second| first.then(second)));
    *output = both.take(MAX).collect();
}

fn without_newline(text: &Text) -> Text {
    match text.exact() {
        Some(exact) => exact.trim_end_matches('\n').into(),
        None => text.clone(),
    }
}

//! The state of a reading: what was found, what the script defines, how much work is left.

use std::collections::{HashMap, HashSet, VecDeque};

use oxc_ast::ast::{ArrowFunctionExpression, Class, Function, Program};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::Span;

use crate::finding::{Act, Finding, Opaque};
use crate::language::Language;
use crate::scopes::{Branching, Flow, MODULE, Scopes};
use crate::setting::Setting;
use crate::table::Table;
use crate::value::Value;

/// Expressions and statements that are looked at.
const MOST_STEPS: usize = 200_000;
/// How deep they stand in each other, calls among them: what the stack bears.
const DEEPEST: usize = 2500;
/// Visits of one function that is only referenced.
const MOST_VISITS: usize = 4;

/// Something that the script defines.
#[derive(Clone)]
pub enum Own<'a> {
    /// A function with the scope around it, its `this`, and the class that it stands in.
    Function {
        code: Code<'a>,
        around: usize,
        this: Option<Value>,
        home: Option<usize>,
    },
    /// A function with its first arguments: `f.bind(this, 'a')`.
    Bound {
        callee: Value,
        this: Option<Value>,
        first: Vec<Value>,
    },
    /// A class, with its parent and static fields.
    Class {
        class: &'a Class<'a>,
        around: usize,
        parent: Option<Value>,
        fields: Vec<(String, Value)>,
    },
    /// An object of a class; `base` is the API's part of it, where its class extends one of an API.
    Object {
        class: usize,
        base: Option<Value>,
        fields: Vec<(String, Value)>,
    },
}

/// A function's code.
#[derive(Clone, Copy)]
pub enum Code<'a> {
    Function(&'a Function<'a>),
    Arrow(&'a ArrowFunctionExpression<'a>),
}

/// A call of one of the script's functions that is being followed.
pub struct Frame {
    /// The start of the function's code.
    pub code: u32,
    pub this: Option<Value>,
    pub home: Option<usize>,
    pub returned: Option<Value>,
    pub yielded: Vec<Value>,
}

/// A reading.
pub struct Reader<'a, 'r> {
    pub scoping: &'r Scoping,
    pub language: Language,
    pub setting: &'r Setting,
    pub table: &'static Table,
    pub scopes: Scopes<SymbolId>,
    /// The scope of the call that is followed.
    pub scope: usize,
    pub own: Vec<Own<'a>>,
    pub frames: Vec<Frame>,
    found: Vec<Finding>,
    seen: HashSet<(u32, String)>,
    waiting: VecDeque<usize>,
    visits: HashMap<u32, usize>,
    escaped: HashSet<usize>,
    /// Whether what is found is only likely.
    pub is_guessing: bool,
    steps: usize,
    depth: usize,
}

impl<'a, 'r> Reader<'a, 'r> {
    pub fn new(scoping: &'r Scoping, language: Language, setting: &'r Setting) -> Self {
        Reader {
            scoping,
            language,
            setting,
            table: Table::of(language),
            scopes: Scopes::new(),
            scope: MODULE,
            own: Vec::new(),
            frames: Vec::new(),
            found: Vec::new(),
            seen: HashSet::new(),
            waiting: VecDeque::new(),
            visits: HashMap::new(),
            escaped: HashSet::new(),
            is_guessing: false,
            steps: 0,
            depth: 0,
        }
    }

    /// Runs the script, then what it handed to others to be called.
    pub fn run(mut self, program: &'a Program<'a>) -> Vec<Finding> {
        self.statements(&program.body);
        while let Some(own) = self.waiting.pop_front() {
            self.visit(own);
        }
        self.found
    }

    /// Notes an act.
    pub fn note(&mut self, act: Act, by: &str, at: Span) {
        self.note_finding(Finding::new(act, shown(by), at.start as usize..at.end as usize));
    }

    /// Notes what is only likely.
    pub fn guess(&mut self, act: Act, by: &str, at: Span) {
        self.note_finding(Finding::new(act, shown(by), at.start as usize..at.end as usize).guessed());
    }

    fn note_finding(&mut self, finding: Finding) {
        let finding = if self.is_guessing { finding.guessed() } else { finding };
        let key = (finding.at.start as u32, format!("{:?}", finding.act));
        if self.seen.insert(key) {
            self.found.push(finding);
        }
    }

    pub fn opaque(&mut self, why: Opaque, by: &str, at: Span) {
        self.note(Act::Opaque(why), by, at);
    }

    /// Something new of the script's own.
    pub fn add(&mut self, own: Own<'a>) -> Value {
        self.own.push(own);
        Value::Own(self.own.len() - 1)
    }

    /// Takes a step inwards: false when there have been too many, or too deep.
    pub fn enter(&mut self, at: Span) -> bool {
        self.steps += 1;
        self.depth += 1;
        let is_fine = self.steps <= MOST_STEPS && self.depth <= DEEPEST;
        if !is_fine {
            self.depth -= 1;
            let at = Span::new(0, at.end.min(1));
            self.opaque(
                Opaque::TooMuch("more work than is done for a script"),
                self.language.name(),
                at,
            );
            self.steps = MOST_STEPS.max(self.steps);
        }
        is_fine
    }

    /// Whether enough work is left to go a second time through what calls itself.
    pub fn is_fresh(&self) -> bool {
        self.steps < MOST_STEPS / 10
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// A value goes where it can't be followed: what can be called of it is called some time, with anything.
    pub fn escape(&mut self, value: &Value, at: Span) {
        self.escape_at(value, at, 0);
    }

    fn escape_at(&mut self, value: &Value, at: Span, depth: usize) {
        if depth > 6 {
            return;
        }
        match value {
            Value::Own(own) => self.escape_own(*own, at, depth),
            Value::List(all) | Value::OneOf(all) => {
                for value in all.iter() {
                    self.escape_at(value, at, depth + 1);
                }
            }
            Value::Record(fields) => {
                for (_, value) in fields.iter() {
                    self.escape_at(value, at, depth + 1);
                }
            }
            Value::Api(name) if super::module::is_environment(name) => {
                self.note(Act::Variable(crate::text::Text::unknown()), name, at);
            }
            _ => {}
        }
    }

    fn escape_own(&mut self, own: usize, at: Span, depth: usize) {
        if !self.escaped.insert(own) {
            return;
        }
        match self.own.get(own).cloned() {
            Some(Own::Function { code, .. }) => {
                let visits = self.visits.entry(code.start()).or_default();
                *visits += 1;
                if *visits <= MOST_VISITS {
                    self.waiting.push_back(own);
                }
            }
            Some(Own::Bound { .. }) => self.waiting.push_back(own),
            Some(Own::Object { class, fields, .. }) => {
                for (_, value) in &fields {
                    self.escape_at(value, at, depth + 1);
                }
                for method in self.methods(class, &Value::Own(own)) {
                    self.escape_at(&method, at, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn visit(&mut self, own: usize) {
        let arguments = super::call::Arguments {
            values: Vec::new(),
            has_more: true,
        };
        self.maybe(|reader| {
            reader.call_own(own, None, &arguments, Span::new(0, 0));
            Flow::Next
        });
    }

    /// What a name stands for.
    pub fn lookup(&self, symbol: SymbolId) -> Value {
        self.scopes.find(self.scope, &symbol).cloned().unwrap_or(Value::Unknown)
    }

    /// A name of this function begins.
    pub fn declare(&mut self, symbol: SymbolId, value: Value) {
        self.scopes.set(self.scope, symbol, value);
    }

    /// A name gets another value.
    pub fn assign(&mut self, symbol: SymbolId, value: Value) {
        let place = self.scopes.holder(self.scope, &symbol).unwrap_or(self.scope);
        self.scopes.set(place, symbol, value);
    }
}

impl Branching for Reader<'_, '_> {
    type Name = SymbolId;

    fn scopes(&mut self) -> &mut Scopes<SymbolId> {
        &mut self.scopes
    }

    fn scope(&mut self) -> usize {
        self.scope
    }
}

impl Code<'_> {
    pub fn start(&self) -> u32 {
        match self {
            Code::Function(function) => function.span.start,
            Code::Arrow(arrow) => arrow.span.start,
        }
    }
}

/// An API's name for people: globals without the table's prefix.
fn shown(name: &str) -> &str {
    name.strip_prefix("global.").unwrap_or(name)
}

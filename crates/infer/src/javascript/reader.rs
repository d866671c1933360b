//! The interpreter's state: the acts found, the script's definitions, the remaining work budget.

use std::collections::{HashMap, HashSet, VecDeque};

use oxc_ast::ast::{ArrowFunctionExpression, BindingIdentifier, Class, Function, Program};
use oxc_semantic::{Scoping, SymbolId};
use oxc_span::Span;

use crate::arguments::Arguments;
use crate::finding::{Act, Finding};
use crate::language::Language;
use crate::reading::{Reading, Work};
use crate::scopes::{Flow, MODULE, Scopes};
use crate::setting::Setting;
use crate::table::Table;
use crate::value::Value;

/// Maximum number of expressions and statements that are visited.
const MAX_STEPS: usize = 200_000;
/// How deep they nest, calls included: the limit that the stack allows.
const MAX_DEPTH: usize = 2500;
/// Maximum number of visits of one function that is only referenced.
const MAX_VISITS: usize = 4;

/// A definition of the script.
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
#[derive(Default)]
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
    pub work: Work,
    waiting: VecDeque<usize>,
    visits: HashMap<u32, usize>,
    escaped: HashSet<usize>,
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
            work: Work::of(language, MAX_STEPS, MAX_DEPTH),
            waiting: VecDeque::new(),
            visits: HashMap::new(),
            escaped: HashSet::new(),
        }
    }

    /// Runs the script, then what it handed to others to be called.
    pub fn run(mut self, program: &'a Program<'a>) -> Vec<Finding> {
        self.statements(&program.body);
        while let Some(own) = self.waiting.pop_front() {
            self.visit(own);
        }
        self.work.finish()
    }

    /// Records an act that is only likely.
    pub fn guess(&mut self, act: Act, by: &str, at: Span) {
        let before = std::mem::replace(&mut self.work.is_guessing, true);
        self.note(act, by, at);
        self.work.is_guessing = before;
    }

    /// Adds a definition of the script.
    pub fn add(&mut self, own: Own<'a>) -> Value {
        self.own.push(own);
        Value::Own(self.own.len() - 1)
    }

    /// The fields of an object or class.
    pub fn fields_of(&mut self, own: usize) -> Option<&mut Vec<(String, Value)>> {
        match self.own.get_mut(own) {
            Some(Own::Object { fields, .. } | Own::Class { fields, .. }) => Some(fields),
            _ => None,
        }
    }

    /// A value escapes: its callable parts may be called at any time, with any arguments.
    pub fn escape(&mut self, value: &Value, at: Span) {
        self.escape_at(value, at, 0);
    }

    fn escape_at(&mut self, value: &Value, at: Span, depth: usize) {
        if depth > 6 {
            return;
        }
        match value {
            Value::Own(own) => self.escape_own(*own, at, depth),
            Value::Api(name) if super::module::is_environment(name) => {
                self.note(Act::Variable(crate::text::Text::unknown()), name, at);
            }
            value => value
                .parts()
                .into_iter()
                .for_each(|part| self.escape_at(part, at, depth + 1)),
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
                if *visits <= MAX_VISITS {
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
        self.maybe(|reader| {
            reader.call_own(own, None, &Arguments::unknown(), Span::new(0, 0));
            Flow::Next
        });
    }

    /// The value that a name stands for.
    pub fn lookup(&self, symbol: SymbolId) -> Value {
        self.scopes.find(self.scope, &symbol).cloned().unwrap_or(Value::Unknown)
    }

    /// A name of this function begins.
    pub fn declare(&mut self, name: &BindingIdentifier<'_>, value: Value) {
        if let Some(symbol) = name.symbol_id.get() {
            self.scopes.set(self.scope, symbol, value);
        }
    }

    /// Assigns another value to a name.
    pub fn assign(&mut self, symbol: SymbolId, value: Value) {
        let place = self.scopes.holder(self.scope, &symbol).unwrap_or(self.scope);
        self.scopes.set(place, symbol, value);
    }
}

impl Reading for Reader<'_, '_> {
    type Name = SymbolId;
    const MAX_REPEATS: usize = 4096;

    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

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

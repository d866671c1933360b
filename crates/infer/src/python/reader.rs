//! The state of a reading, its budget, and its findings.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::Stmt;

use super::super::finding::Finding;
use super::super::language::Language;
use super::super::reading::{Reading, Work};
use super::super::scopes::{MODULE, Scopes};
use super::super::setting::Setting;
use super::super::table::Table;
use super::super::text::Text;
use super::super::value::Value;
use super::own::Own;

/// A reading of one script.
pub struct Reader<'a, 's> {
    pub setting: &'s Setting,
    pub table: &'static Table,
    pub scopes: Scopes<String>,
    pub own: Vec<Own<'a>>,
    pub frames: Vec<Frame>,
    /// Functions and classes that are referenced without a call.
    pub referenced: Vec<usize>,
    pub is_referenced: HashSet<usize>,
    /// Functions whose bodies were run.
    pub visited: HashSet<usize>,
    /// Unknown modules that were reported already.
    pub strangers: HashSet<String>,
    /// Directories that the script adds to the module search path.
    pub module_paths: Vec<Text>,
    /// The examples in the script's docstrings.
    pub examples: String,
    /// The last known module that was imported with `*`.
    pub star: Option<String>,
    /// Command-line options by name: their defaults and types.
    pub options: HashMap<String, Value>,
    /// Whether the last call never returns.
    pub has_left: bool,
    work: Work,
}

/// A body that is being run: the module's, a class's, a function's.
pub struct Frame {
    pub scope: usize,
    pub is_class: bool,
    /// The function's index.
    pub function: Option<usize>,
    /// The class and object if it is a method.
    pub class: Option<usize>,
    pub receiver: Option<Value>,
    pub globals: HashSet<String>,
    pub nonlocals: HashSet<String>,
    pub returned: Option<Value>,
    pub yielded: Option<Value>,
}

impl Frame {
    pub fn of(scope: usize) -> Frame {
        Frame {
            scope,
            is_class: false,
            function: None,
            class: None,
            receiver: None,
            globals: HashSet::new(),
            nonlocals: HashSet::new(),
            returned: None,
            yielded: None,
        }
    }
}

/// Maximum steps of one reading: some tenths of a second.
const MAX_STEPS: usize = 300_000;
/// Maximum recursion depth of the reader: bounds its stack.
const MAX_DEPTH: usize = 3000;

impl<'a, 's> Reader<'a, 's> {
    pub fn new(setting: &'s Setting) -> Self {
        Reader {
            setting,
            table: Table::of(Language::Python),
            scopes: Scopes::new(),
            own: Vec::new(),
            frames: vec![Frame::of(MODULE)],
            referenced: Vec::new(),
            is_referenced: HashSet::new(),
            visited: HashSet::new(),
            strangers: HashSet::new(),
            module_paths: Vec::new(),
            examples: String::new(),
            star: None,
            options: HashMap::new(),
            has_left: false,
            work: Work::of(Language::Python, MAX_STEPS, MAX_DEPTH),
        }
    }

    /// Runs a module, then the functions and classes that are only referenced.
    pub fn run(mut self, body: &'a [Stmt]) -> Vec<Finding> {
        self.examples = super::code::examples(body);
        self.block(body);
        self.has_left = false;
        self.visit_referenced();
        self.work.finish()
    }

    /// The innermost frame. There always is one.
    pub fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::of(MODULE));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub fn define(&mut self, own: Own<'a>) -> Value {
        self.own.push(own);
        Value::Own(self.own.len() - 1)
    }

    pub fn iterable(&mut self, element: Value) -> Value {
        self.define(Own::Iterable { element })
    }

    pub fn get(&self, number: usize) -> Option<Own<'a>> {
        self.own.get(number).cloned()
    }
}

impl Reading for Reader<'_, '_> {
    type Name = String;
    const MAX_REPEATS: usize = 128;

    fn work(&mut self) -> &mut Work {
        &mut self.work
    }

    fn scopes(&mut self) -> &mut Scopes<String> {
        &mut self.scopes
    }

    fn scope(&mut self) -> usize {
        self.frame().scope
    }
}

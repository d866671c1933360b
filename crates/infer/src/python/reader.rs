//! The state of a reading, its budget, and what it finds.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use ruff_python_ast::Stmt;

use super::super::finding::{Act, Finding, Opaque};
use super::super::language::Language;
use super::super::scopes::{Branching, MODULE, Scopes};
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
    /// Functions and classes that something refers to without calling them.
    pub referenced: Vec<usize>,
    pub is_referenced: HashSet<usize>,
    /// Functions whose bodies were run.
    pub visited: HashSet<usize>,
    /// Modules that aren't known, and were said to be.
    pub strangers: HashSet<String>,
    /// Directories in which the script has modules looked for.
    pub module_paths: Vec<Text>,
    /// The examples in the script's documentation.
    pub examples: String,
    /// The last known module all of whose names were imported.
    pub star: Option<String>,
    /// Options of the command line by name: their defaults and types.
    pub options: HashMap<String, Value>,
    /// Whether what was just called never returns.
    pub has_left: bool,
    /// How often the bodies of open loops over known lists are repeated altogether.
    pub repeats: usize,
    found: Vec<Finding>,
    places: HashMap<usize, Vec<usize>>,
    steps: usize,
    depth: usize,
    is_exhausted: bool,
}

/// A body that is being run: the module's, a class's, a function's.
pub struct Frame {
    pub scope: usize,
    pub is_class: bool,
    /// The function's number.
    pub function: Option<usize>,
    /// The class whose method it is, and the object.
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

/// Steps of one reading: some tenths of a second.
const MOST_STEPS: usize = 300_000;
/// How deep the reader recurses: bounds its stack.
const DEEPEST: usize = 3000;
const MOST_FINDINGS: usize = 4000;
/// What one list, with all that is in it, may hold; beyond that nothing is known of it.
const LARGEST: usize = 4000;

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
            repeats: 1,
            found: Vec::new(),
            places: HashMap::new(),
            steps: 0,
            depth: 0,
            is_exhausted: false,
        }
    }

    /// Runs a module, and then what it only refers to.
    pub fn run(mut self, body: &'a [Stmt]) -> Vec<Finding> {
        self.examples = super::code::examples(body);
        self.block(body);
        self.has_left = false;
        self.visit_referenced();
        self.found
    }

    /// The innermost frame. There always is one.
    pub fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::of(MODULE));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub fn find(&mut self, act: Act, by: &str, at: &Range<usize>) {
        self.add(Finding::new(act, by, at.clone()));
    }

    /// Keeps a finding, once.
    pub fn add(&mut self, finding: Finding) {
        let there = self.places.entry(finding.at.start).or_default();
        if there.iter().any(|index| self.found.get(*index) == Some(&finding)) {
            return;
        }
        if self.found.len() >= MOST_FINDINGS {
            self.exhaust();
            return;
        }
        there.push(self.found.len());
        self.found.push(finding);
    }

    pub fn opaque(&mut self, opaque: Opaque, by: &str, at: &Range<usize>) {
        self.find(Act::Opaque(opaque), by, at);
    }

    pub fn variable(&mut self, name: impl Into<Text>, at: &Range<usize>) {
        self.find(Act::Variable(name.into()), "os.environ", at);
    }

    /// Takes steps; `false` when there are none left.
    pub fn step(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MOST_STEPS {
            self.exhaust();
        }
        !self.is_exhausted
    }

    /// Goes a level down; `false` where that is too deep, or work has to end. Pairs with `leave`.
    pub fn enter(&mut self) -> bool {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.exhaust();
        }
        self.step(1)
    }

    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn exhaust(&mut self) {
        if !std::mem::replace(&mut self.is_exhausted, true) {
            let act = Act::Opaque(Opaque::TooMuch("it does more than is read"));
            self.found.push(Finding::new(act, "python", 0..0));
        }
    }

    /// A value that was made: what is large costs steps, and what is too large isn't kept.
    pub fn made(&mut self, value: Value) -> Value {
        let mut left = LARGEST;
        let fits = measure(&value, &mut left);
        self.step((LARGEST - left) / 8);
        match fits {
            true => value,
            false => Value::Unknown,
        }
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

impl Branching for Reader<'_, '_> {
    type Name = String;

    fn scopes(&mut self) -> &mut Scopes<String> {
        &mut self.scopes
    }

    fn scope(&mut self) -> usize {
        self.frame().scope
    }
}

/// Counts a value down; `false` where it is larger than what is left.
fn measure(value: &Value, left: &mut usize) -> bool {
    let size = match value {
        Value::Text(text) | Value::Instance(_, Some(text)) => 1 + text.prefix().len() / 256,
        _ => 1,
    };
    if *left < size {
        return false;
    }
    *left -= size;
    match value {
        Value::List(values) | Value::OneOf(values) => values.iter().all(|value| measure(value, left)),
        Value::Record(fields) => fields.iter().all(|(_, value)| measure(value, left)),
        _ => true,
    }
}

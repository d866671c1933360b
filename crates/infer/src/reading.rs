//! Shared by the readers of Python and JavaScript: findings, the step budget, and control flow.
//!
//! A step budget bounds the work, whatever the script; exceeding it is reported as `TooMuch`.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::finding::{Act, Finding, Opaque};
use super::language::Language;
use super::scopes::{Changes, Flow, Scopes, Way};
use super::text::Text;
use super::value::Value;

/// The findings of a reading, and its remaining budget.
pub struct Work {
    language: Language,
    most_steps: usize,
    /// Maximum recursion depth of the reader: bounds its stack.
    deepest: usize,
    found: Vec<Finding>,
    /// Indexes of findings by start offset.
    places: HashMap<usize, Vec<usize>>,
    /// Whether new findings are guesses.
    pub is_guessing: bool,
    /// Product of the repetitions of all open loops over known lists.
    repeats: usize,
    steps: usize,
    depth: usize,
    is_exhausted: bool,
}

impl Work {
    const MAX_FINDINGS: usize = 4000;
    /// Maximum size of a value, with nested ones; a larger value becomes unknown.
    const MAX_SIZE: usize = 4000;

    pub fn of(language: Language, most_steps: usize, deepest: usize) -> Work {
        Work {
            language,
            most_steps,
            deepest,
            found: Vec::new(),
            places: HashMap::new(),
            is_guessing: false,
            repeats: 1,
            steps: 0,
            depth: 0,
            is_exhausted: false,
        }
    }

    pub fn finish(self) -> Vec<Finding> {
        self.found
    }

    /// Adds a finding unless it is there already.
    pub fn add(&mut self, mut finding: Finding) {
        finding.is_guess |= self.is_guessing;
        let there = self.places.entry(finding.at.start).or_default();
        // A guess adds nothing to the same act at the same place.
        let is_known = |known: &Finding| known.act == finding.act && (finding.is_guess || *known == finding);
        if there.iter().filter_map(|index| self.found.get(*index)).any(is_known) {
            return;
        }
        if self.found.len() >= Self::MAX_FINDINGS {
            return self.exhaust();
        }
        there.push(self.found.len());
        self.found.push(finding);
    }

    /// Spends steps; `false` if the budget is exhausted.
    pub fn step(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.most_steps {
            self.exhaust();
        }
        !self.is_exhausted
    }

    /// Whether the budget suffices for a second pass through recursive code.
    pub fn is_fresh(&self) -> bool {
        self.steps < self.most_steps / 10
    }

    fn exhaust(&mut self) {
        if !std::mem::replace(&mut self.is_exhausted, true) {
            let act = Act::Opaque(Opaque::TooMuch("it does more than is read"));
            self.found.push(Finding::new(act, self.language.name(), 0..0));
        }
    }

    /// Accounts for a new value: a large one costs steps, one that is too large becomes unknown.
    pub fn made(&mut self, value: Value) -> Value {
        let mut left = Self::MAX_SIZE;
        let fits = measure(&value, &mut left);
        self.step((Self::MAX_SIZE - left) / 8);
        match fits {
            true => value,
            false => Value::Unknown,
        }
    }
}

/// Subtracts a value's size from `left`; `false` if it is larger.
fn measure(value: &Value, left: &mut usize) -> bool {
    let size = match value {
        Value::Text(text) | Value::Instance(_, Some(text)) => 1 + text.prefix().len() / 256,
        _ => 1,
    };
    if *left < size {
        return false;
    }
    *left -= size;
    value.parts().into_iter().all(|part| measure(part, left))
}

/// A location in the source.
pub trait Place {
    fn bytes(self) -> Range<usize>;
}

impl Place for &Range<usize> {
    fn bytes(self) -> Range<usize> {
        self.clone()
    }
}

impl Place for oxc_span::Span {
    fn bytes(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// An abstract interpreter for one language.
pub trait Reading {
    /// The reader's key for a name.
    type Name: Clone + Eq + Hash + Ord;

    /// Maximum repetitions of loop bodies over known lists, across all open loops.
    const MAX_REPEATS: usize;

    fn work(&mut self) -> &mut Work;

    fn scopes(&mut self) -> &mut Scopes<Self::Name>;

    /// The current scope.
    fn scope(&mut self) -> usize;

    /// Records an act; globals are named without the table's prefix.
    fn note(&mut self, act: Act, by: &str, at: impl Place) {
        let by = by.strip_prefix("global.").unwrap_or(by);
        self.work().add(Finding::new(act, by, at.bytes()));
    }

    fn opaque(&mut self, why: Opaque, by: &str, at: impl Place) {
        self.note(Act::Opaque(why), by, at);
    }

    /// Records a read of an environment variable; its value is unknown except for `HOME`.
    fn variable(&mut self, name: &Text, by: &str, at: impl Place) -> Value {
        self.note(Act::Variable(name.clone()), by, at);
        match name.exact() {
            Some("HOME") => "~".into(),
            _ => Value::Unknown,
        }
    }

    /// Runs `inside` one level deeper; `None` if that is too deep or the budget is exhausted.
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let work = self.work();
        work.depth += 1;
        if work.depth > work.deepest {
            work.exhaust();
        }
        let result = match work.step(1) {
            true => Some(inside(self)),
            false => None,
        };
        self.work().depth -= 1;
        result
    }

    /// Runs one branch, and undoes its changes of names.
    fn branch(&mut self, way: impl FnOnce(&mut Self) -> Flow) -> Way<Self::Name> {
        let begun = self.scopes().begin();
        let flow = way(self);
        (flow, self.scopes().end(begun))
    }

    /// Joins branches: continues if any of them does. One that leaves the function doesn't change the function's names.
    fn join(&mut self, ways: Vec<Way<Self::Name>>) -> Flow {
        let here = self.scope();
        let flow = [Flow::Next, Flow::Loop]
            .into_iter()
            .find(|flow| ways.iter().any(|(way, _)| way == flow))
            .unwrap_or(Flow::Out);
        let (mut local, mut beyond) = (Vec::new(), Vec::new());
        for (way, changes) in ways {
            let (inner, outer): (Changes<_>, Changes<_>) =
                changes.into_iter().partition(|((scope, _), _)| *scope == here);
            if way != Flow::Out || flow == Flow::Out {
                local.push(inner);
            }
            beyond.push(outer);
        }
        self.scopes().join(&local);
        self.scopes().join(&beyond);
        flow
    }

    /// The same if possibly no branch was taken.
    fn join_or_none(&mut self, mut ways: Vec<Way<Self::Name>>) -> Flow {
        ways.insert(0, (Flow::Next, Changes::new()));
        self.join(ways)
    }

    /// Runs a branch that may not be taken.
    fn maybe(&mut self, way: impl FnOnce(&mut Self) -> Flow) {
        let way = self.branch(way);
        self.join_or_none(vec![way]);
    }

    /// Whether a body is run once for each of this many elements.
    fn may_repeat(&mut self, elements: usize) -> bool {
        /// Maximum number of elements of one list.
        const MAX_ELEMENTS: usize = 64;
        elements <= MAX_ELEMENTS && self.work().repeats.saturating_mul(elements) <= Self::MAX_REPEATS
    }

    /// Runs a body with each known element, or with any of them if they are too many or unknown.
    /// `is_one`: whether the value is certainly an element.
    fn each_element(
        &mut self,
        elements: Result<Vec<Value>, Value>,
        is_one: fn(&Value) -> bool,
        mut body: impl FnMut(&mut Self, &Value) -> Flow,
    ) {
        match elements {
            Ok(elements) if self.may_repeat(elements.len()) => {
                let before = self.work().repeats;
                self.work().repeats = before.saturating_mul(elements.len()).max(1);
                for element in &elements {
                    let way = self.branch(|reader| body(reader, element));
                    match way.0 == Flow::Next && is_one(element) {
                        true => self.join(vec![way]),
                        false => self.join_or_none(vec![way]),
                    };
                }
                self.work().repeats = before;
            }
            elements => {
                let any = elements.map_or_else(|any| any, Value::either);
                self.some_times(|reader| body(reader, &any));
            }
        }
    }

    /// Runs a body that repeats an unknown number of times: the second run sees the first one's changes of names.
    fn some_times(&mut self, mut body: impl FnMut(&mut Self) -> Flow) {
        /// Maximum depth of nested loops whose bodies are run twice.
        const MAX_LOOPS: usize = 3;
        self.scopes().loops += 1;
        let times = if self.scopes().loops > MAX_LOOPS { 1 } else { 2 };
        for _ in 0..times {
            self.maybe(&mut body);
        }
        self.scopes().loops -= 1;
    }
}

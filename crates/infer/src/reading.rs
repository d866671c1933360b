//! The part that the readers of Python and of JavaScript share: findings, the budget of work, and ways through the code.
//!
//! Work is bounded by a budget of steps, not by the script: what is beyond it is said to be too much.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::finding::{Act, Finding, Opaque};
use super::language::Language;
use super::scopes::{Changes, Flow, Scopes, Way};
use super::text::Text;
use super::value::Value;

/// The findings of a reading, and the work that is left for it.
pub struct Work {
    language: Language,
    most_steps: usize,
    /// How deep the reader recurses: bounds its stack.
    deepest: usize,
    found: Vec<Finding>,
    /// Findings by where they begin.
    places: HashMap<usize, Vec<usize>>,
    /// Whether what is found is only likely.
    pub is_guessing: bool,
    /// How often the bodies of open loops over known lists are repeated altogether.
    repeats: usize,
    steps: usize,
    depth: usize,
    is_exhausted: bool,
}

impl Work {
    const MOST_FINDINGS: usize = 4000;
    /// Values in one list, with all that is in it; of a larger one nothing is known.
    const LARGEST: usize = 4000;

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

    /// Keeps a finding, once.
    pub fn add(&mut self, mut finding: Finding) {
        finding.is_guess |= self.is_guessing;
        let there = self.places.entry(finding.at.start).or_default();
        // A guess at an act that was found there already says nothing new.
        let is_known = |known: &Finding| known.act == finding.act && (finding.is_guess || *known == finding);
        if there.iter().filter_map(|index| self.found.get(*index)).any(is_known) {
            return;
        }
        if self.found.len() >= Self::MOST_FINDINGS {
            return self.exhaust();
        }
        there.push(self.found.len());
        self.found.push(finding);
    }

    /// Takes steps; `false` when there are none left.
    pub fn step(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.most_steps {
            self.exhaust();
        }
        !self.is_exhausted
    }

    /// Whether enough work is left to go a second time through what calls itself.
    pub fn is_fresh(&self) -> bool {
        self.steps < self.most_steps / 10
    }

    fn exhaust(&mut self) {
        if !std::mem::replace(&mut self.is_exhausted, true) {
            let act = Act::Opaque(Opaque::TooMuch("it does more than is read"));
            self.found.push(Finding::new(act, self.language.name(), 0..0));
        }
    }

    /// A value that was made: what is large costs steps, and what is too large isn't kept.
    pub fn made(&mut self, value: Value) -> Value {
        let mut left = Self::LARGEST;
        let fits = measure(&value, &mut left);
        self.step((Self::LARGEST - left) / 8);
        match fits {
            true => value,
            false => Value::Unknown,
        }
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
    value.parts().into_iter().all(|part| measure(part, left))
}

/// Where something stands in the source.
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

/// A reader of a language whose code it goes through.
pub trait Reading {
    /// The reader's key of a name.
    type Name: Clone + Eq + Hash + Ord;

    /// Times that bodies of loops over known lists are run, over all loops that are open.
    const MOST_REPEATS: usize;

    fn work(&mut self) -> &mut Work;

    fn scopes(&mut self) -> &mut Scopes<Self::Name>;

    /// The scope that the reader stands in.
    fn scope(&mut self) -> usize;

    /// Notes an act; globals are named without the table's prefix.
    fn note(&mut self, act: Act, by: &str, at: impl Place) {
        let by = by.strip_prefix("global.").unwrap_or(by);
        self.work().add(Finding::new(act, by, at.bytes()));
    }

    fn opaque(&mut self, why: Opaque, by: &str, at: impl Place) {
        self.note(Act::Opaque(why), by, at);
    }

    /// Looks at an environment variable: unknown, but for the home directory.
    fn variable(&mut self, name: &Text, by: &str, at: impl Place) -> Value {
        self.note(Act::Variable(name.clone()), by, at);
        match name.exact() {
            Some("HOME") => "~".into(),
            _ => Value::Unknown,
        }
    }

    /// Does something a level further down; `None` where that is too deep, or work has to end.
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

    /// Goes one of several ways, and takes back what it made of names.
    fn branch(&mut self, way: impl FnOnce(&mut Self) -> Flow) -> Way<Self::Name> {
        let begun = self.scopes().begin();
        let flow = way(self);
        (flow, self.scopes().end(begun))
    }

    /// Goes on where any of several ways goes on. Names of a function are as they were before a way that left it.
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

    /// The same where it may have gone none of them.
    fn join_or_none(&mut self, mut ways: Vec<Way<Self::Name>>) -> Flow {
        ways.insert(0, (Flow::Next, Changes::new()));
        self.join(ways)
    }

    /// Goes a way that may not be gone.
    fn maybe(&mut self, way: impl FnOnce(&mut Self) -> Flow) {
        let way = self.branch(way);
        self.join_or_none(vec![way]);
    }

    /// Whether a body is run for each of so many elements.
    fn may_repeat(&mut self, elements: usize) -> bool {
        /// Elements of one list.
        const MOST_ELEMENTS: usize = 64;
        elements <= MOST_ELEMENTS && self.work().repeats.saturating_mul(elements) <= Self::MOST_REPEATS
    }

    /// Goes through a body with each of known elements; with any, where there are too many, or where they aren't known.
    /// `is_one`: whether what stands for an element surely is one.
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

    /// Goes through a body that runs an unknown number of times: its second run sees what it makes of names.
    fn some_times(&mut self, mut body: impl FnMut(&mut Self) -> Flow) {
        /// Loops in loops whose bodies are run twice.
        const MOST_LOOPS: usize = 3;
        self.scopes().loops += 1;
        let times = if self.scopes().loops > MOST_LOOPS { 1 } else { 2 };
        for _ in 0..times {
            self.maybe(&mut body);
        }
        self.scopes().loops -= 1;
    }
}

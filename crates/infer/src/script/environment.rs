//! What names stand for, function by function, and how two ways through the code are joined.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use oxc_semantic::SymbolId;

use super::reader::Reader;
use crate::value::Value;

/// The names of one activation of a function; those of the function around it are behind it.
#[derive(Debug)]
pub struct Environment {
    names: RefCell<HashMap<SymbolId, Value>>,
    outer: Option<Rc<Environment>>,
}

/// How a statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next one follows.
    Next,
    /// `break`, `continue`: the loop goes on or ends.
    Left,
    /// `return`, `throw`, `process.exit()`.
    Ended,
}

/// One name that was set, and what it was before.
pub struct Change {
    place: Rc<Environment>,
    symbol: SymbolId,
    before: Option<Value>,
}

/// What one way through the code made of names.
pub struct Branch {
    pub flow: Flow,
    values: HashMap<(usize, SymbolId), (Rc<Environment>, Value)>,
}

impl Environment {
    pub fn within(outer: Option<Rc<Environment>>) -> Rc<Environment> {
        Rc::new(Environment {
            names: RefCell::default(),
            outer,
        })
    }

    fn get(&self, symbol: SymbolId) -> Option<Value> {
        self.names.borrow().get(&symbol).cloned()
    }

    fn put(&self, symbol: SymbolId, value: Option<Value>) {
        match value {
            Some(value) => self.names.borrow_mut().insert(symbol, value),
            None => self.names.borrow_mut().remove(&symbol),
        };
    }
}

impl<'a> Reader<'a, '_> {
    /// What a name stands for.
    pub fn lookup(&self, symbol: SymbolId) -> Value {
        match self.place(symbol) {
            Some(place) => place.get(symbol).unwrap_or(Value::Unknown),
            None => Value::Unknown,
        }
    }

    fn place(&self, symbol: SymbolId) -> Option<Rc<Environment>> {
        let mut place = Some(self.environment.clone());
        while let Some(here) = place {
            if here.names.borrow().contains_key(&symbol) {
                return Some(here);
            }
            place = here.outer.clone();
        }
        None
    }

    /// A name of this function begins.
    pub fn declare(&mut self, symbol: SymbolId, value: Value) {
        self.set(self.environment.clone(), symbol, value);
    }

    /// A name gets another value.
    pub fn assign(&mut self, symbol: SymbolId, value: Value) {
        let place = self.place(symbol).unwrap_or_else(|| self.environment.clone());
        self.set(place, symbol, value);
    }

    fn set(&mut self, place: Rc<Environment>, symbol: SymbolId, value: Value) {
        let before = place.get(symbol);
        place.put(symbol, Some(value));
        if self.branches > 0 {
            self.journal.push(Change { place, symbol, before });
        }
    }

    /// Goes one of several ways, and takes back what it made of names.
    pub fn branch(&mut self, way: impl FnOnce(&mut Self) -> Flow) -> Branch {
        let mark = self.journal.len();
        self.branches += 1;
        let flow = way(self);
        self.branches -= 1;
        let mut values = HashMap::new();
        for change in self.journal.split_off(mark.min(self.journal.len())).into_iter().rev() {
            if let Some(last) = change.place.get(change.symbol) {
                let key = (Rc::as_ptr(&change.place) as usize, change.symbol);
                values.entry(key).or_insert((change.place.clone(), last));
            }
            change.place.put(change.symbol, change.before);
        }
        Branch { flow, values }
    }

    /// Names are what any of the ways made of them; `or_none`: none may have been gone.
    pub fn join(&mut self, ways: Vec<Branch>, or_none: bool) -> Flow {
        let here = Rc::as_ptr(&self.environment) as usize;
        let mut joined: HashMap<(usize, SymbolId), (Rc<Environment>, Value, usize)> = HashMap::new();
        let mut going = usize::from(or_none);
        let mut left = false;
        for way in ways {
            going += usize::from(way.flow != Flow::Ended);
            left |= way.flow == Flow::Left;
            for (key, (place, value)) in way.values {
                if way.flow == Flow::Ended && key.0 == here {
                    continue;
                }
                let entry = joined.entry(key);
                entry
                    .and_modify(|(_, old, count)| (*old, *count) = (old.or(&value), *count + 1))
                    .or_insert((place, value, 1));
            }
        }
        for ((_, symbol), (place, value, count)) in joined {
            let value = match place.get(symbol) {
                Some(before) if count < going || or_none => before.or(&value),
                _ => value,
            };
            self.set(place, symbol, value);
        }
        match going {
            0 => Flow::Ended,
            1 if left && !or_none => Flow::Left,
            _ => Flow::Next,
        }
    }
}

//! Names and their values, with an undo log so that branches can be rolled back and joined.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use super::value::Value;

/// All scopes of a reading: of the module, of classes, of calls, and the fields of objects. `N` is a reader's key
/// for a name.
pub struct Scopes<N> {
    all: Vec<Scope<N>>,
    /// The previous values of changed names, while a branch is open.
    log: Vec<(usize, N, Option<Value>)>,
    branches: usize,
    /// Number of open loops over unknown elements.
    pub loops: usize,
}

struct Scope<N> {
    names: HashMap<N, Value>,
    parent: Option<usize>,
}

/// How a statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next one follows.
    Next,
    /// `break`, `continue`: the loop goes on or ends.
    Loop,
    /// `return`, `raise`, `throw`, or a call that never returns.
    Out,
}

/// The names that a branch has changed, with their new values.
pub type Changes<N> = HashMap<(usize, N), Option<Value>>;

/// One branch: its flow and its changes of names.
pub type Way<N> = (Flow, Changes<N>);

/// The module's scope.
pub const MODULE: usize = 0;

impl<N: Clone + Eq + Hash + Ord> Scopes<N> {
    pub fn new() -> Scopes<N> {
        let mut scopes = Scopes {
            all: Vec::new(),
            log: Vec::new(),
            branches: 0,
            loops: 0,
        };
        scopes.open(None);
        scopes
    }

    /// Opens a new scope inside of another.
    pub fn open(&mut self, parent: Option<usize>) -> usize {
        self.all.push(Scope {
            names: HashMap::new(),
            parent,
        });
        self.all.len() - 1
    }

    /// Whether the current code is conditional.
    pub fn is_branching(&self) -> bool {
        self.branches > 0
    }

    pub fn parent(&self, scope: usize) -> Option<usize> {
        self.all.get(scope)?.parent
    }

    /// The value of a name in this scope alone.
    pub fn own<Q: Eq + Hash + ?Sized>(&self, scope: usize, name: &Q) -> Option<&Value>
    where
        N: Borrow<Q>,
    {
        self.all.get(scope)?.names.get(name)
    }

    /// The value of a name in this or an enclosing scope.
    pub fn find<Q: Eq + Hash + ?Sized>(&self, scope: usize, name: &Q) -> Option<&Value>
    where
        N: Borrow<Q>,
    {
        self.holder(scope, name).and_then(|scope| self.own(scope, name))
    }

    /// The innermost scope, from this one outwards, that has a name.
    pub fn holder<Q: Eq + Hash + ?Sized>(&self, scope: usize, name: &Q) -> Option<usize>
    where
        N: Borrow<Q>,
    {
        let mut scope = Some(scope);
        // A scope's parent has a smaller index, so this ends.
        while let Some(at) = scope {
            if self.own(at, name).is_some() {
                return Some(at);
            }
            scope = self.parent(at);
        }
        None
    }

    pub fn names(&self, scope: usize) -> Vec<(N, Value)> {
        let names = self.all.get(scope).map(|scope| &scope.names);
        let mut names: Vec<_> = names
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        names.sort_by(|one, other| one.0.cmp(&other.0));
        names
    }

    pub fn set(&mut self, scope: usize, name: impl Into<N>, value: Value) {
        self.change(scope, name.into(), Some(value));
    }

    fn change(&mut self, scope: usize, name: N, value: Option<Value>) {
        let Some(at) = self.all.get_mut(scope) else { return };
        let before = match value {
            Some(value) => at.names.insert(name.clone(), value),
            None => at.names.remove(&name),
        };
        if self.branches > 0 {
            self.log.push((scope, name, before));
        }
    }

    /// Begins a branch.
    pub fn begin(&mut self) -> usize {
        self.branches += 1;
        self.log.len()
    }

    /// Ends the branch that began there: undoes it, and returns its changes of names.
    pub fn end(&mut self, begun: usize) -> Changes<N> {
        let mut changes = Changes::new();
        while self.log.len() > begun {
            let Some((scope, name, before)) = self.log.pop() else {
                break;
            };
            let Some(at) = self.all.get_mut(scope) else { continue };
            let after = match before {
                Some(before) => at.names.insert(name.clone(), before),
                None => at.names.remove(&name),
            };
            changes.entry((scope, name)).or_insert(after);
        }
        self.branches = self.branches.saturating_sub(1);
        changes
    }

    /// Sets each name to the alternatives of its values in the branches.
    pub fn join(&mut self, branches: &[Changes<N>]) {
        let mut keys: Vec<&(usize, N)> = branches.iter().flat_map(HashMap::keys).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let now = self.own(key.0, &key.1).cloned();
            let values = branches
                .iter()
                .filter_map(|branch| branch.get(key).unwrap_or(&now).clone());
            let joined = Value::any(values);
            self.change(key.0, key.1.clone(), joined);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_any_that_the_ways_made_of_it() {
        let mut scopes: Scopes<String> = Scopes::new();
        let inner = scopes.open(Some(MODULE));
        scopes.set(MODULE, "a", "before".into());
        let mut ways = Vec::new();
        for value in ["one", "other"] {
            let begun = scopes.begin();
            scopes.set(MODULE, "a", value.into());
            scopes.set(inner, "b", value.into());
            ways.push(scopes.end(begun));
            assert_eq!(scopes.find(inner, "a"), Some(&"before".into()));
            assert_eq!(scopes.find(inner, "b"), None);
        }
        scopes.join(&ways[..1]);
        assert_eq!(scopes.find(inner, "a"), Some(&"one".into()));
        scopes.join(&ways);
        let both = Value::from("one").or(&"other".into());
        assert_eq!(scopes.find(inner, "a"), Some(&both));
        scopes.join(&[ways[1].clone(), Changes::new()]);
        assert_eq!(scopes.find(inner, "b"), Some(&Value::from("other").or(&both)));
    }
}

//! Names and what they stand for, with a log so that branches can be undone and joined.

use std::collections::HashMap;

use super::super::value::Value;

/// All scopes of a run: of the module, of classes, of calls, and the fields of objects.
pub struct Scopes {
    all: Vec<Scope>,
    /// What names stood for before they were changed, while a branch is open.
    log: Vec<(usize, String, Option<Value>)>,
    branches: usize,
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, Value>,
    parent: Option<usize>,
}

/// What a branch has made of names.
pub type Changes = HashMap<(usize, String), Option<Value>>;

/// The module's scope.
pub const MODULE: usize = 0;

impl Scopes {
    pub fn new() -> Scopes {
        Scopes {
            all: vec![Scope::default()],
            log: Vec::new(),
            branches: 0,
        }
    }

    /// A new one inside of another.
    pub fn open(&mut self, parent: Option<usize>) -> usize {
        self.all.push(Scope {
            names: HashMap::new(),
            parent,
        });
        self.all.len() - 1
    }

    pub fn parent(&self, scope: usize) -> Option<usize> {
        self.all.get(scope)?.parent
    }

    /// What a name stands for in this scope alone.
    pub fn own(&self, scope: usize, name: &str) -> Option<&Value> {
        self.all.get(scope)?.names.get(name)
    }

    /// What it stands for, here or further out.
    pub fn find(&self, scope: usize, name: &str) -> Option<&Value> {
        self.holder(scope, name).and_then(|scope| self.own(scope, name))
    }

    /// The scope that has a name, from here outwards.
    pub fn holder(&self, scope: usize, name: &str) -> Option<usize> {
        let mut scope = Some(scope);
        // A scope's parent is older than it is, so this ends.
        while let Some(at) = scope {
            if self.own(at, name).is_some() {
                return Some(at);
            }
            scope = self.parent(at);
        }
        None
    }

    pub fn names(&self, scope: usize) -> Vec<(String, Value)> {
        let names = self.all.get(scope).map(|scope| &scope.names);
        let mut names: Vec<_> = names
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        names.sort_by(|one, other| one.0.cmp(&other.0));
        names
    }

    pub fn set(&mut self, scope: usize, name: &str, value: Value) {
        self.change(scope, name, Some(value));
    }

    fn change(&mut self, scope: usize, name: &str, value: Option<Value>) {
        let Some(at) = self.all.get_mut(scope) else { return };
        let before = match value {
            Some(value) => at.names.insert(name.to_string(), value),
            None => at.names.remove(name),
        };
        if self.branches > 0 {
            self.log.push((scope, name.to_string(), before));
        }
    }

    /// Begins a branch.
    pub fn begin(&mut self) -> usize {
        self.branches += 1;
        self.log.len()
    }

    /// Ends the branch that began there: undoes it, and says what it made of names.
    pub fn end(&mut self, begun: usize) -> Changes {
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

    /// Lets names stand for what any of several branches made of them.
    pub fn join(&mut self, branches: &[Changes]) {
        let mut keys: Vec<&(usize, String)> = branches.iter().flat_map(HashMap::keys).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let now = self.own(key.0, &key.1).cloned();
            let values = branches
                .iter()
                .filter_map(|branch| branch.get(key).unwrap_or(&now).clone());
            let joined = Value::any(values);
            self.change(key.0, &key.1, joined);
        }
    }
}

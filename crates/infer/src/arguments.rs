//! The arguments of a call, in Python or JavaScript.

use super::value::Value;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub positional: Vec<Value>,
    pub named: Vec<(String, Value)>,
    /// Whether further, unknown arguments may follow.
    pub has_more: bool,
}

impl Arguments {
    pub fn none() -> Arguments {
        Arguments::default()
    }

    pub fn of(positional: Vec<Value>) -> Arguments {
        Arguments {
            positional,
            ..Arguments::default()
        }
    }

    /// Any number of unknown arguments.
    pub fn unknown() -> Arguments {
        Arguments::known(None)
    }

    /// The given arguments; any number of unknown ones for `None`.
    pub fn known(positional: Option<Vec<Value>>) -> Arguments {
        Arguments {
            has_more: positional.is_none(),
            ..Arguments::of(positional.unwrap_or_default())
        }
    }

    /// Returns the argument with this name, else the one at this position.
    pub fn get(&self, at: usize, name: &str) -> Option<&Value> {
        let by_name = self.named.iter().find(|(given, _)| given == name);
        by_name.map(|(_, value)| value).or_else(|| self.positional.get(at))
    }

    /// Returns the argument at this position; `Nothing` if it is missing, `Unknown` if it may be there.
    pub fn at(&self, at: usize) -> Value {
        match self.positional.get(at) {
            Some(value) => value.clone(),
            None if self.has_more => Value::Unknown,
            None => Value::Nothing,
        }
    }

    /// The arguments without the first `count` positional ones.
    pub fn behind(&self, count: usize) -> Arguments {
        Arguments {
            positional: self.positional.get(count..).unwrap_or_default().to_vec(),
            ..self.clone()
        }
    }

    /// The arguments with `first` prepended.
    pub fn after(&self, first: &[Value]) -> Arguments {
        Arguments {
            positional: [first, &self.positional].concat(),
            ..self.clone()
        }
    }
}

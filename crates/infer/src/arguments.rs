//! The arguments of a call, of either language.

use super::value::Value;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub positional: Vec<Value>,
    pub named: Vec<(String, Value)>,
    /// Whether there may be more that aren't known.
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

    /// Any number of them, of which nothing is known.
    pub fn unknown() -> Arguments {
        Arguments::known(None)
    }

    /// These, or any where they aren't known.
    pub fn known(positional: Option<Vec<Value>>) -> Arguments {
        Arguments {
            has_more: positional.is_none(),
            ..Arguments::of(positional.unwrap_or_default())
        }
    }

    /// The argument of this position or name.
    pub fn get(&self, at: usize, name: &str) -> Option<&Value> {
        let by_name = self.named.iter().find(|(given, _)| given == name);
        by_name.map(|(_, value)| value).or_else(|| self.positional.get(at))
    }

    /// The argument of this position; nothing where there is none.
    pub fn at(&self, at: usize) -> Value {
        match self.positional.get(at) {
            Some(value) => value.clone(),
            None if self.has_more => Value::Unknown,
            None => Value::Nothing,
        }
    }

    /// Without the first ones.
    pub fn behind(&self, count: usize) -> Arguments {
        Arguments {
            positional: self.positional.get(count..).unwrap_or_default().to_vec(),
            ..self.clone()
        }
    }

    /// With others before them.
    pub fn after(&self, first: &[Value]) -> Arguments {
        Arguments {
            positional: [first, &self.positional].concat(),
            ..self.clone()
        }
    }
}

//! Partially known values.

use std::rc::Rc;

use super::text::Text;

/// A partially known value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing is known.
    Unknown,
    /// `None`, `null`, `undefined`.
    Nothing,
    /// A boolean.
    Truth(bool),
    /// An integer.
    Number(i64),
    /// A text, or bytes.
    Text(Text),
    /// A list, tuple, set or array whose length is known.
    List(Rc<Vec<Value>>),
    /// A dictionary or object; the last of two equal names wins.
    Record(Rc<Vec<(String, Value)>>),
    /// An item of an API by its qualified name: a module (`os.path`), a function (`os.path.join`), a class
    /// (`pathlib.Path`).
    Api(Rc<str>),
    /// An object of an API's class, with the path or URL that it stands for.
    Instance(Rc<str>, Option<Text>),
    /// A function, class or object that the script defines, by the reader's index.
    Own(usize),
    /// One of several alternatives, at most [`Value::MAX_ALTERNATIVES`]; they don't nest.
    OneOf(Rc<Vec<Value>>),
}

impl Value {
    /// Maximum number of alternatives; with more the value is unknown.
    pub const MAX_ALTERNATIVES: usize = 16;

    /// The alternatives of both values.
    pub fn or(&self, other: &Value) -> Value {
        let mut all = self.alternatives();
        for value in other.alternatives() {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        match all.len() {
            1 => all.remove(0),
            2..=Self::MAX_ALTERNATIVES => Value::OneOf(Rc::new(all)),
            _ => Value::Unknown,
        }
    }

    /// The alternatives of all values; `None` if there are none.
    pub fn any(all: impl IntoIterator<Item = Value>) -> Option<Value> {
        all.into_iter().reduce(|one, other| one.or(&other))
    }

    /// The alternatives of all values; unknown if there are none.
    pub fn either(all: impl IntoIterator<Item = Value>) -> Value {
        Value::any(all).unwrap_or(Value::Unknown)
    }

    /// Adds this to the alternatives of a place's present value, if it has one.
    pub fn beside(self, place: Option<Value>) -> Value {
        place.map_or(self.clone(), |before| before.or(&self))
    }

    /// Maps each alternative.
    pub fn each(&self, make: impl FnMut(Value) -> Value) -> Value {
        Value::either(self.alternatives().into_iter().map(make))
    }

    /// Maps each pair of alternatives of two values.
    pub fn each_with(&self, other: &Value, mut make: impl FnMut(&Value, &Value) -> Value) -> Value {
        self.each(|one| other.each(|other| make(&one, &other)))
    }

    /// Removes `Nothing` from the alternatives; `None` if no other is left.
    pub fn something(&self) -> Option<Value> {
        Value::any(self.alternatives().into_iter().filter(|value| *value != Value::Nothing))
    }

    /// The elements, fields' values or alternatives.
    pub fn parts(&self) -> Vec<&Value> {
        match self {
            Value::List(all) | Value::OneOf(all) => all.iter().collect(),
            Value::Record(fields) => fields.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// All alternatives; the value itself if it is the only one.
    pub fn alternatives(&self) -> Vec<Value> {
        match self {
            Value::OneOf(all) => all.to_vec(),
            value => vec![value.clone()],
        }
    }

    /// The value as a text, path or URL; numbers are formatted. Unknown for everything else.
    pub fn text(&self) -> Text {
        match self {
            Value::Text(text) | Value::Instance(_, Some(text)) => text.clone(),
            Value::Number(number) => number.to_string().into(),
            _ => Text::unknown(),
        }
    }

    /// A field of a record.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Record(fields) => fields
                .iter()
                .rev()
                .find(|(field, _)| field == name)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// Its truth value, if known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::Nothing => Some(false),
            Value::Truth(truth) => Some(*truth),
            Value::Number(number) => Some(*number != 0),
            Value::Text(text) => text.exact().map(|text| !text.is_empty()),
            Value::Api(_) | Value::Instance(..) | Value::Own(_) => Some(true),
            _ => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Value {
        Value::Text(text)
    }
}

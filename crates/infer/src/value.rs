//! What is known of a value while code is read.

use std::rc::Rc;

use super::text::Text;

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing is known.
    Unknown,
    /// None, null, undefined.
    Nothing,
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Number(i64),
    /// A text, or bytes.
    Text(Text),
    /// A list, tuple, set or array whose length is known.
    List(Rc<Vec<Value>>),
    /// A dictionary or object; the last of two equal names counts.
    Record(Rc<Vec<(String, Value)>>),
    /// Something of an API by its qualified name: a module (`os.path`), a function (`os.path.join`), a class
    /// (`pathlib.Path`).
    Api(Rc<str>),
    /// An object of an API's class, with the path or URL that it stands for.
    Instance(Rc<str>, Option<Text>),
    /// Something that the script defines, by the reader's own number: a function, a class, an object.
    Own(usize),
    /// One of several, at most [`Value::MOST_ALTERNATIVES`], none of them one of several itself.
    OneOf(Rc<Vec<Value>>),
}

impl Value {
    /// Alternatives that are kept; beyond them nothing is known.
    pub const MOST_ALTERNATIVES: usize = 16;

    /// Either this or another.
    pub fn or(&self, other: &Value) -> Value {
        let mut all = self.alternatives();
        for value in other.alternatives() {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        match all.len() {
            1 => all.remove(0),
            2..=Self::MOST_ALTERNATIVES => Value::OneOf(Rc::new(all)),
            _ => Value::Unknown,
        }
    }

    /// Any of several; `None` where there is none.
    pub fn any(all: impl IntoIterator<Item = Value>) -> Option<Value> {
        all.into_iter().reduce(|one, other| one.or(&other))
    }

    /// Any of several; unknown where there is none.
    pub fn either(all: impl IntoIterator<Item = Value>) -> Value {
        Value::any(all).unwrap_or(Value::Unknown)
    }

    /// Either what is in a place already, if anything is, or this.
    pub fn beside(self, place: Option<Value>) -> Value {
        place.map_or(self.clone(), |before| before.or(&self))
    }

    /// Makes something of it, for each that it could be.
    pub fn each(&self, make: impl FnMut(Value) -> Value) -> Value {
        Value::either(self.alternatives().into_iter().map(make))
    }

    /// Makes something of it and another, for each that they could be.
    pub fn each_with(&self, other: &Value, mut make: impl FnMut(&Value, &Value) -> Value) -> Value {
        self.each(|one| other.each(|other| make(&one, &other)))
    }

    /// It without nothing among its alternatives; `None` where no other is left.
    pub fn something(&self) -> Option<Value> {
        Value::any(self.alternatives().into_iter().filter(|value| *value != Value::Nothing))
    }

    /// Values that it is made of, or could be.
    pub fn parts(&self) -> Vec<&Value> {
        match self {
            Value::List(all) | Value::OneOf(all) => all.iter().collect(),
            Value::Record(fields) => fields.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// Each that it could be; itself where it is one.
    pub fn alternatives(&self) -> Vec<Value> {
        match self {
            Value::OneOf(all) => all.to_vec(),
            value => vec![value.clone()],
        }
    }

    /// As a text, path or URL: numbers too. Unknown for everything else.
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

    /// Whether it counts as true, where that is known.
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

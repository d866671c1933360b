//! Methods of lists and records: those that change them, those that call back with their elements.

use std::rc::Rc;

use oxc_span::Span;

use super::binding::set_field;
use super::expression::printed;
use super::member::listed;
use super::reader::Reader;
use crate::arguments::Arguments;
use crate::constant;
use crate::value::Value;

/// Maximum number of elements that are passed to a callback one by one.
const MAX_ELEMENTS: usize = 64;

impl<'a> Reader<'a, '_> {
    /// What a method makes of its object, where it changes that.
    pub fn changed(&self, receiver: &Value, name: &str, arguments: &Arguments) -> Option<Value> {
        match (receiver, name) {
            (Value::List(all), "push" | "unshift" | "add") if all.len() < 1024 => {
                let mut all = all.to_vec();
                all.extend(arguments.positional.iter().cloned());
                Some(Value::List(all.into()))
            }
            (Value::Record(fields), "set") if receiver.field("set").is_none() => {
                let mut fields = fields.to_vec();
                match arguments.at(0).text().exact() {
                    Some(name) => set_field(&mut fields, name, arguments.at(1)),
                    None => fields.push(("*".into(), arguments.at(1))),
                }
                fields.truncate(1024);
                Some(Value::Record(fields.into()))
            }
            _ => None,
        }
    }

    pub fn array_method(&mut self, all: &Rc<Vec<Value>>, name: &str, arguments: &Arguments, at: Span) -> Value {
        let first = arguments.at(0);
        let list = || Value::List(all.clone());
        match name {
            "map" | "flatMap" | "forEach" | "filter" | "find" | "findLast" | "some" | "every" | "findIndex" => {
                return self.called_with_each(all, name, &first, at);
            }
            "reduce" | "reduceRight" => return self.reduced(all, &first, arguments.positional.get(1), at),
            "join" => {
                let separator = first.something().map_or(",".into(), |separator| separator.text());
                return constant::join(all, &separator, printed);
            }
            "concat" => {
                let mut all = all.to_vec();
                for value in &arguments.positional {
                    all.extend(inner(value));
                }
                return Value::List(all.into());
            }
            "slice" => {
                return match (&first, arguments.at(1)) {
                    (Value::Number(from), Value::Nothing) if *from >= 0 => {
                        Value::List(Rc::new(self::from(all, *from as usize)))
                    }
                    (Value::Number(0) | Value::Nothing, Value::Number(count))
                        if count >= 0 && !all.iter().any(is_open) =>
                    {
                        Value::List(Rc::new(all.iter().take(count as usize).cloned().collect()))
                    }
                    _ => list(),
                };
            }
            "reverse" | "toReversed" => return Value::List(Rc::new(all.iter().rev().cloned().collect())),
            "at" => {
                return match first {
                    Value::Number(at) if at >= 0 => self.element(&list(), at as usize),
                    Value::Number(-1) if !all.iter().any(is_open) => all.last().cloned().unwrap_or(Value::Nothing),
                    _ => any(all),
                };
            }
            "pop" | "shift" => return any(all),
            "values" => return list(),
            "flat" => {
                return Value::List(Rc::new(all.iter().flat_map(inner).take(1024).collect()));
            }
            "entries" => {
                let pair =
                    |(at, value): (usize, &Value)| Value::List(Rc::new(vec![Value::Number(at as i64), value.clone()]));
                return Value::List(Rc::new(all.iter().enumerate().map(pair).collect()));
            }
            _ => {}
        }
        self.escape_all(arguments, at);
        match name {
            "sort" | "toSorted" | "fill" | "splice" => list(),
            _ => Value::Unknown,
        }
    }

    fn called_with_each(&mut self, all: &[Value], name: &str, callback: &Value, at: Span) -> Value {
        let elements = match all.len() <= MAX_ELEMENTS {
            true => all.to_vec(),
            false => vec![any(all)],
        };
        let mut results = Vec::new();
        for (index, element) in elements.iter().enumerate() {
            let index = match is_open(element) {
                true => Value::Unknown,
                false => Value::Number(index as i64),
            };
            let given = Arguments::of(vec![element.clone(), index, Value::Unknown]);
            results.push(self.call_value(callback, None, &given, at));
        }
        match name {
            "map" => Value::List(results.into()),
            "flatMap" => Value::List(Rc::new(results.iter().flat_map(inner).take(1024).collect())),
            "filter" => Value::List(all.to_vec().into()),
            "find" | "findLast" => any(all),
            _ => Value::Unknown,
        }
    }

    fn reduced(&mut self, all: &[Value], callback: &Value, start: Option<&Value>, at: Span) -> Value {
        let mut elements = all.iter();
        let mut value = match start {
            Some(start) => start.clone(),
            None => elements.next().cloned().unwrap_or(Value::Nothing),
        };
        for element in elements.take(MAX_ELEMENTS) {
            let given = Arguments::of(vec![value, element.clone(), Value::Unknown, Value::Unknown]);
            value = self.call_value(callback, None, &given, at);
        }
        value
    }

    /// Methods of records: their own functions, and those of maps.
    pub fn record_method(&mut self, receiver: &Value, name: &str, arguments: &Arguments, at: Span) -> Value {
        let first = arguments.at(0);
        if let Some(callee) = receiver.field(name) {
            let callee = callee.clone();
            return self.call_value(&callee, Some(receiver.clone()), arguments, at);
        }
        let fields = self.fields(receiver);
        match name {
            "get" => match first.text().exact() {
                Some(name) => self.member(receiver, name, at),
                None => self.any_field(receiver, at),
            },
            "values" | "keys" | "entries" => listed(&fields, name).unwrap_or(Value::Unknown),
            "forEach" => {
                for (name, value) in fields.into_iter().take(MAX_ELEMENTS) {
                    let given = Arguments::of(vec![value, name.as_str().into()]);
                    self.call_value(&first, None, &given, at);
                }
                Value::Nothing
            }
            "has" | "hasOwnProperty" | "delete" => Value::Unknown,
            name => match receiver.field("*").cloned() {
                Some(callee) => self.call_value(&callee, Some(receiver.clone()), arguments, at),
                None => self.unknown_method(name, arguments, at),
            },
        }
    }
}

/// Whether a value isn't wholly known: as an element, it may stand for any number of them.
pub fn is_open(value: &Value) -> bool {
    match value {
        Value::Unknown => true,
        Value::Text(text) => text.exact().is_none(),
        Value::Api(name) => name.ends_with(".*"),
        Value::List(all) => all.iter().any(is_open),
        Value::Record(fields) => fields.iter().any(|(_, value)| is_open(value)),
        _ => false,
    }
}

/// The elements from one on.
pub fn from(all: &[Value], first: usize) -> Vec<Value> {
    let rest = all
        .iter()
        .enumerate()
        .filter(|(at, value)| *at >= first || is_open(value));
    rest.map(|(_, value)| value.clone()).collect()
}

/// Flattens an element: a list gives its elements, anything else stays as it is.
fn inner(value: &Value) -> Vec<Value> {
    let each = |value: Value| match value {
        Value::List(all) => all.to_vec(),
        value => vec![value],
    };
    value.alternatives().into_iter().flat_map(each).collect()
}

/// Any of these.
pub fn any(all: &[Value]) -> Value {
    Value::any(all.iter().cloned()).unwrap_or(Value::Nothing)
}

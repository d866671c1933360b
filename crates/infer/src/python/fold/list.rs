//! Lists and records: elements, slices, methods, and functions over them.

use std::rc::Rc;

use super::super::super::constant;
use super::super::super::text::Text;
use super::super::super::value::Value;
use crate::arguments::Arguments;

/// `object[key]`.
pub fn element(object: &Value, key: &Value) -> Value {
    match (object, key) {
        (Value::List(values), Value::Number(at)) => index(*at, values.len())
            .and_then(|at| values.get(at))
            .cloned()
            .unwrap_or(Value::Unknown),
        (Value::Record(_), key) if key.text().exact().is_some() => object
            .field(key.text().exact().unwrap_or_default())
            .cloned()
            .unwrap_or(Value::Unknown),
        // One of the elements, not known which.
        (Value::List(values), _) => Value::either(values.to_vec()),
        (Value::Record(fields), _) => Value::either(fields.iter().map(|(_, value)| value.clone())),
        (Value::Text(text), Value::Number(at)) => match text.exact() {
            Some(known) => {
                let letters: Vec<char> = known.chars().collect();
                match index(*at, letters.len()) {
                    Some(at) => letters[at].to_string().as_str().into(),
                    None => Value::Unknown,
                }
            }
            None => Value::Text(Text::unknown()),
        },
        _ => Value::Unknown,
    }
}

fn index(at: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let at = if at < 0 { at.checked_add(length)? } else { at };
    (0..length).contains(&at).then_some(at as usize)
}

/// `object[lower:upper:step]`.
pub fn sliced(object: &Value, bounds: [Option<Value>; 3]) -> Value {
    let number = |bound: &Option<Value>| match bound {
        None | Some(Value::Nothing) => Some(None),
        Some(Value::Number(number)) => Some(Some(*number)),
        Some(_) => None,
    };
    let [Some(lower), Some(upper), Some(step)] = [number(&bounds[0]), number(&bounds[1]), number(&bounds[2])] else {
        return match object {
            Value::Text(_) => Value::Text(Text::unknown()),
            _ => Value::Unknown,
        };
    };
    match object {
        Value::List(values) => Value::List(Rc::new(constant::part(values, [lower, upper, step]))),
        Value::Text(text) => match text.exact() {
            Some(known) => constant::letters(known, [lower, upper, step]),
            None => Value::Text(Text::unknown()),
        },
        Value::Instance(class, _) if super::is_sticky(class) => object.clone(),
        _ => Value::Unknown,
    }
}

/// A method of a list or record.
pub fn list_method(receiver: &Value, name: &str, arguments: &Arguments) -> Value {
    let first = arguments.positional.first();
    match (receiver, name) {
        (Value::Record(_), "get" | "pop" | "setdefault") => {
            let Some(key) = first else { return Value::Unknown };
            let default = arguments.positional.get(1).cloned().unwrap_or(Value::Nothing);
            match key.text().exact() {
                Some(key) => receiver.field(key).cloned().unwrap_or(default),
                None => element(receiver, &Value::Unknown).or(&default),
            }
        }
        (Value::Record(fields), "items") => Value::List(Rc::new(
            fields
                .iter()
                .map(|(name, value)| Value::List(Rc::new(vec![name.as_str().into(), value.clone()])))
                .collect(),
        )),
        (Value::Record(fields), "values") => {
            Value::List(Rc::new(fields.iter().map(|(_, value)| value.clone()).collect()))
        }
        (Value::Record(fields), "keys") => {
            Value::List(Rc::new(fields.iter().map(|(name, _)| name.as_str().into()).collect()))
        }
        (receiver, "copy") => receiver.clone(),
        (Value::List(values), "pop" | "popleft") => match first {
            Some(Value::Number(at)) => element(receiver, &Value::Number(*at)).or(&Value::either(values.to_vec())),
            _ => Value::either(values.to_vec()),
        },
        _ => Value::Unknown,
    }
}

/// Functions over lists.
pub fn call(name: &str, arguments: &Arguments) -> Option<Value> {
    let first = arguments.positional.first();
    Some(match (name, first) {
        ("builtins.dict", None) => Value::Record(Rc::new(arguments.named.clone())),
        ("builtins.dict" | "types.MappingProxyType" | "copy.copy" | "copy.deepcopy", Some(value)) => value.clone(),
        ("builtins.list" | "builtins.set" | "builtins.tuple" | "collections.deque", None) => {
            Value::List(Rc::new(Vec::new()))
        }
        ("builtins.frozenset" | "collections.deque" | "builtins.reversed", Some(value @ Value::List(_))) => {
            value.clone()
        }
        ("builtins.enumerate", Some(Value::List(values))) => {
            let pairs = (0_i64..)
                .zip(values.iter())
                .map(|(at, value)| Value::List(Rc::new(vec![Value::Number(at), value.clone()])));
            Value::List(Rc::new(pairs.collect()))
        }
        ("builtins.zip", Some(Value::List(values))) => {
            let lists = arguments.positional.iter().map(|list| match list {
                Value::List(values) => Some(values.clone()),
                _ => None,
            });
            let lists: Vec<_> = lists.collect();
            let rows = (0..values.len()).map(|at| {
                let row = lists.iter().map(|list| match list {
                    Some(list) => list.get(at).cloned().unwrap_or(Value::Unknown),
                    None => Value::Unknown,
                });
                Value::List(Rc::new(row.collect()))
            });
            Value::List(Rc::new(rows.collect()))
        }
        ("builtins.next", Some(Value::List(values))) => Value::either(values.to_vec()),
        ("itertools.chain", Some(_)) => {
            let mut all = Vec::new();
            for list in &arguments.positional {
                match list {
                    Value::List(values) => all.extend(values.iter().cloned()),
                    _ => return None,
                }
            }
            Value::List(Rc::new(all))
        }
        ("random.choice", Some(Value::List(values))) => Value::either(values.to_vec()),
        ("builtins.max" | "builtins.min", Some(Value::List(values))) => Value::either(values.to_vec()),
        ("typing.cast", Some(_)) => arguments.positional.get(1)?.clone(),
        ("types.SimpleNamespace", _) => Value::Record(Rc::new(arguments.named.clone())),
        ("ast.literal_eval", _) => Value::Unknown,
        _ => return None,
    })
}

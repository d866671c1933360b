//! String methods.

use std::rc::Rc;

use crate::constant;
use crate::text::Text;
use crate::value::Value;

/// The result of a string method.
pub fn method(text: &Text, name: &str, arguments: &[Value]) -> Value {
    let first = arguments.first().map(Value::text);
    let first = first.as_ref().and_then(Text::exact);
    match name {
        "toString" | "valueOf" | "normalize" | "toWellFormed" => return Value::Text(text.clone()),
        "concat" => {
            return Value::Text(
                arguments
                    .iter()
                    .fold(text.clone(), |text, more| text.then(&more.text())),
            );
        }
        _ => {}
    }
    let Some(known) = text.exact() else {
        return partly(text, name);
    };
    let number = |at: usize| match arguments.get(at) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let text = match name {
        "trim" => known.trim().to_string(),
        "trimStart" => known.trim_start().to_string(),
        "trimEnd" => known.trim_end().to_string(),
        "toLowerCase" | "toLocaleLowerCase" => known.to_lowercase(),
        "toUpperCase" | "toLocaleUpperCase" => known.to_uppercase(),
        "repeat" => return number(0).map_or(Value::Unknown, |times| constant::repeated(text, times)),
        "padStart" if number(0).is_some_and(|width| width <= known.len() as i64) => known.to_string(),
        "slice" | "substring" | "substr" => match (number(0), number(1), arguments.len()) {
            (Some(from), _, 1) => return constant::letters(known, [Some(from), None, None]),
            (Some(from), Some(to), 2) if name != "substr" => {
                return constant::letters(known, [Some(from), Some(to), None]);
            }
            _ => return Value::Unknown,
        },
        "at" | "charAt" => {
            return number(0).map_or(Value::Unknown, |at| {
                constant::letters(known, [Some(at), Some(at.saturating_add(1)), None])
            });
        }
        "replace" | "replaceAll" => return replaced(known, name, arguments),
        "split" => {
            let parts = first.and_then(|separator| match separator {
                "" => Some(
                    known
                        .chars()
                        .take(256)
                        .map(|letter| letter.to_string().into())
                        .collect(),
                ),
                separator => Text::from(known).split(separator),
            });
            let parts = parts.map(|parts: Vec<Text>| parts.into_iter().map(Value::Text).collect::<Vec<Value>>());
            return parts.map_or(Value::Unknown, |parts| Value::List(Rc::new(parts)));
        }
        "startsWith" | "endsWith" | "includes" => {
            return Value::Unknown;
        }
        _ => return Value::Unknown,
    };
    text.as_str().into()
}

fn partly(text: &Text, name: &str) -> Value {
    match name {
        "trim" | "trimEnd" => Value::Text(text.clone()),
        "split" | "matchAll" => Value::List(Rc::new(vec![Value::Unknown])),
        // What is replaced is rarely what a path or URL begins with.
        "replace" | "replaceAll" | "toLowerCase" if text.prefix().contains('/') => {
            Value::Text(Text::from(text.prefix()).then(&Text::unknown()))
        }
        _ => Value::Unknown,
    }
}

fn replaced(text: &str, name: &str, arguments: &[Value]) -> Value {
    let new = arguments.get(1).map(Value::text).unwrap_or(Text::unknown());
    let Some(new) = new.exact() else {
        return unknown_behind_directory(text);
    };
    let replaced = match arguments.first() {
        Some(Value::Text(old)) => old.exact().map(|old| match name {
            "replace" => text.replacen(old, new, 1),
            _ => text.replace(old, new),
        }),
        Some(Value::Instance(_, Some(pattern))) => pattern.exact().and_then(|pattern| by_pattern(text, pattern, new)),
        _ => None,
    };
    match replaced {
        Some(replaced) if replaced.len() < 1 << 16 => replaced.as_str().into(),
        _ => unknown_behind_directory(text),
    }
}

/// A pattern of letters and escaped marks, at one of the ends or the first one.
fn by_pattern(text: &str, pattern: &str, new: &str) -> Option<String> {
    let (pattern, at_start) = pattern
        .strip_prefix('^')
        .map_or((pattern, false), |pattern| (pattern, true));
    let (pattern, at_end) = pattern
        .strip_suffix('$')
        .map_or((pattern, false), |pattern| (pattern, true));
    let mut plain = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(letters.next().filter(|letter| letter.is_ascii_punctuation())?),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => return None,
            letter => plain.push(letter),
        }
    }
    Some(match (at_start, at_end) {
        (_, true) => text
            .strip_suffix(&plain)
            .map_or(text.to_string(), |before| format!("{before}{new}")),
        (true, false) => text
            .strip_prefix(&plain)
            .map_or(text.to_string(), |after| format!("{new}{after}")),
        (false, false) => text.replacen(&plain, new, 1),
    })
}

fn unknown_behind_directory(text: &str) -> Value {
    match text.rsplit_once('/') {
        Some((directory, _)) => Value::Text(Text::from(format!("{directory}/")).then(&Text::unknown())),
        None => Value::Unknown,
    }
}

/// One letter of a text.
pub fn letter(text: &Text, at: usize) -> Value {
    let letter = text.exact().and_then(|text| text.chars().nth(at));
    letter.map_or(Value::Unknown, |letter| letter.to_string().as_str().into())
}

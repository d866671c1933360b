//! Texts: methods of `str` and `bytes`, formats, encodings.

use std::rc::Rc;

use super::super::super::constant;
use super::super::super::text::Text;
use super::super::super::value::Value;
use super::{as_text, concatenate};
use crate::arguments::Arguments;

/// A method of a text.
pub fn text_method(receiver: &Value, name: &str, arguments: &Arguments) -> Value {
    let text = receiver.text();
    let first = arguments.positional.first().cloned().unwrap_or(Value::Nothing);
    match name {
        "format" => return format(&text, arguments),
        "join" => {
            return match &first {
                Value::List(parts) => constant::join(parts, &text, Value::text),
                _ => Value::Text(Text::unknown()),
            };
        }
        "decode" | "encode" | "rstrip" | "strip" | "lstrip" if text.exact().is_none() => return receiver.clone(),
        "splitlines" => return listed(text.exact().map(|text| text.lines().map(Value::from).collect())),
        _ => {}
    }
    let Some(known) = text.exact() else {
        return Value::Text(Text::unknown());
    };
    let given = |at: usize| arguments.positional.get(at).map(Value::text);
    let exact = |at: usize| given(at).and_then(|text| text.exact().map(String::from));
    let letters: Vec<char> = exact(0).unwrap_or_default().chars().collect();
    let trimmed = |letter: char| match letters.is_empty() {
        true => letter.is_whitespace(),
        false => letters.contains(&letter),
    };
    match (name, exact(0), exact(1)) {
        ("lower" | "casefold", ..) => known.to_lowercase().as_str().into(),
        ("upper", ..) => known.to_uppercase().as_str().into(),
        ("strip", ..) => known.trim_matches(trimmed).into(),
        ("lstrip", ..) => known.trim_start_matches(trimmed).into(),
        ("rstrip", ..) => known.trim_end_matches(trimmed).into(),
        ("decode" | "encode" | "title" | "expandtabs", ..) => known.into(),
        ("replace", Some(from), Some(to)) if !from.is_empty() && known.len().saturating_mul(to.len() + 1) < 1 << 20 => {
            known.replace(&from, &to).as_str().into()
        }
        ("removeprefix", Some(start), _) => known.strip_prefix(&*start).unwrap_or(known).into(),
        ("removesuffix", Some(end), _) => known.strip_suffix(&*end).unwrap_or(known).into(),
        ("split", None, _) if arguments.positional.is_empty() => {
            listed(Some(known.split_whitespace().take(4096).map(Value::from).collect()))
        }
        ("split", Some(at), _) if arguments.positional.len() == 1 => listed(
            text.split(&at)
                .map(|parts| parts.into_iter().map(Value::Text).collect()),
        ),
        ("rsplit", Some(at), Some(count)) if count == "1" && !at.is_empty() => match known.rsplit_once(&*at) {
            Some((before, behind)) => listed(Some(vec![before.into(), behind.into()])),
            None => listed(Some(vec![known.into()])),
        },
        ("startswith", Some(start), _) => Value::Truth(known.starts_with(&*start)),
        ("endswith", Some(end), _) => Value::Truth(known.ends_with(&*end)),
        _ => Value::Unknown,
    }
}

fn listed(values: Option<Vec<Value>>) -> Value {
    values.map_or(Value::Unknown, |values| Value::List(Rc::new(values)))
}

/// `"{}/{name}".format(…)`.
fn format(text: &Text, arguments: &Arguments) -> Value {
    let Some(pattern) = text.exact() else {
        return Value::Text(Text::unknown());
    };
    let mut whole: Value = "".into();
    let (mut rest, mut next) = (pattern, 0_usize);
    while let Some(at) = rest.find(['{', '}']) {
        whole = concatenate(&whole, &rest[..at].into());
        let behind = &rest[at..];
        if behind.starts_with("{{") || behind.starts_with("}}") {
            whole = concatenate(&whole, &behind[..1].into());
            rest = &behind[2..];
            continue;
        }
        let Some(end) = behind.find('}') else { break };
        let field = behind.get(1..end).unwrap_or_default();
        rest = &behind[end + 1..];
        let value = match field.parse::<usize>() {
            Ok(at) => arguments.positional.get(at).cloned(),
            Err(_) if field.is_empty() => {
                next += 1;
                arguments.positional.get(next - 1).cloned()
            }
            Err(_) => arguments
                .named
                .iter()
                .find(|(name, _)| name == field)
                .map(|(_, value)| value.clone()),
        };
        whole = concatenate(&whole, &value.unwrap_or(Value::Unknown));
    }
    concatenate(&whole, &rest.into())
}

/// `"%s/%d" % (…)`.
pub fn percent(format: &Text, values: &Value) -> Value {
    let Some(pattern) = format.exact() else {
        return Value::Text(Text::unknown());
    };
    let mut whole: Value = "".into();
    let mut rest = pattern;
    let mut next = 0;
    while let Some((before, behind)) = rest.split_once('%') {
        whole = concatenate(&whole, &before.into());
        let (name, behind) = match behind.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            Some((name, behind)) => (Some(name), behind),
            None => (None, behind),
        };
        let end = behind
            .find(|letter: char| letter.is_alphabetic() || letter == '%')
            .unwrap_or(behind.len());
        let kind = behind[end..].chars().next().unwrap_or('%');
        rest = behind.get(end + kind.len_utf8()..).unwrap_or_default();
        let value = match (kind, name, values) {
            ('%', ..) => "%".into(),
            (_, Some(name), values) => values.field(name).cloned().unwrap_or(Value::Unknown),
            (_, None, Value::List(values)) => {
                next += 1;
                values.get(next - 1).cloned().unwrap_or(Value::Unknown)
            }
            (_, None, value) => value.clone(),
        };
        let is_plain = end == 0 && matches!(kind, 's' | 'd' | '%' | 'i');
        whole = concatenate(&whole, &if is_plain { value } else { Value::Unknown });
    }
    concatenate(&whole, &rest.into())
}

/// Functions that return texts.
pub fn call(name: &str, arguments: &Arguments) -> Option<Value> {
    let first = arguments.positional.first()?;
    let text = first.text();
    Some(match name {
        "builtins.str"
        | "builtins.bytes"
        | "urllib.parse.unquote"
        | "re.escape"
        | "os.fsencode"
        | "builtins.bytearray"
        | "textwrap.dedent"
        | "html.escape"
        | "shlex.quote"
        | "shutil.which"
        | "sys.intern" => as_text(first),
        "urllib.parse.quote" | "urllib.parse.quote_plus" => match text.exact() {
            Some(known)
                if known
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte)) =>
            {
                known.into()
            }
            _ => Value::Text(Text::unknown()),
        },
        "urllib.parse.urlencode" | "json.dumps" => Value::Text(Text::unknown()),
        "urllib.parse.urljoin" => {
            let other = arguments.positional.get(1)?;
            first.each_with(other, |base, other| {
                Value::Text(url_joined(&base.text(), &other.text()))
            })
        }
        "urllib.request.Request" | "httpx.URL" | "yarl.URL" => Value::Instance(name.into(), Some(text)),
        "base64.b64decode" | "base64.standard_b64decode" | "base64.urlsafe_b64decode" => decoded(&text, "base64"),
        "bytes.fromhex" | "builtins.bytes.fromhex" | "binascii.unhexlify" => decoded(&text, "hex"),
        "codecs.decode" | "codecs.encode"
            if arguments
                .get(1, "encoding")
                .is_some_and(|kind| kind.text().prefix().starts_with("rot")) =>
        {
            match text.exact() {
                Some(known) => known.chars().map(rotated).collect::<String>().as_str().into(),
                None => Value::Unknown,
            }
        }
        "builtins.chr" => match first {
            Value::Number(number) => {
                let letter = u32::try_from(*number).ok().and_then(char::from_u32)?;
                letter.to_string().as_str().into()
            }
            _ => Value::Text(Text::unknown()),
        },
        "shlex.split" => match text.exact() {
            Some(known) if !known.contains(['\'', '"', '\\']) => {
                listed(Some(known.split_whitespace().take(4096).map(Value::from).collect()))
            }
            _ => Value::Unknown,
        },
        "os.path.commonpath" => Value::Text(Text::unknown()),
        _ => return None,
    })
}

fn url_joined(base: &Text, other: &Text) -> Text {
    if other.prefix().contains("://") {
        return other.clone();
    }
    let known = base.prefix();
    let start = known.find("://").map_or(0, |at| at + 3);
    match (other.prefix().starts_with('/'), known[start..].find('/')) {
        (true, Some(end)) => Text::from(&known[..start + end]).then(other),
        _ => match known[start..].rfind('/') {
            Some(end) => Text::from(&known[..start + end + 1]).then(other),
            None => base.joined(other),
        },
    }
}

fn decoded(text: &Text, encoding: &str) -> Value {
    let known = text.exact().and_then(|text| constant::decoded(text, encoding));
    known.unwrap_or_else(|| Text::unknown().into())
}

fn rotated(letter: char) -> char {
    match letter {
        'a'..='z' => ((letter as u8 - b'a' + 13) % 26 + b'a') as char,
        'A'..='Z' => ((letter as u8 - b'A' + 13) % 26 + b'A') as char,
        other => other,
    }
}

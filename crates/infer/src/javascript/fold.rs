//! Functions that only compute: paths, URLs, encodings, lists and objects.

use std::rc::Rc;

use super::array::any;
use super::binding::set_field;
use super::expression::printed;
use super::listing::below;
use super::member::listed;
use crate::arguments::Arguments;
use crate::constant;
use crate::text::Text;
use crate::value::Value;

/// Evaluates a pure function; `None` if it isn't a known one.
pub fn call(name: &str, arguments: &Arguments) -> Option<Value> {
    let first = arguments.at(0).something().unwrap_or(Value::Nothing);
    if let Some(function) = name.strip_prefix("node:path.") {
        return each(&first, |first| path(function, first, arguments)).or(Some(Value::Unknown));
    }
    Some(match name {
        "node:os.tmpdir" => "/tmp".into(),
        "node:process.cwd" | "Deno.cwd" => ".".into(),
        "node:url.fileURLToPath" | "Bun.fileURLToPath" => {
            let path = first.text();
            Value::Text(path.without_start("file://").unwrap_or(path))
        }
        "node:url.pathToFileURL" => url(Text::from("file://").then(&first.text())),
        "global.URL" | "node:url.URL" => url(resolved(&first.text(), arguments.positional.get(1))),
        "node:url.resolve" => Value::Text(resolved(&arguments.at(1).text(), arguments.positional.first())),
        "global.atob" => decoded(&first, "base64"),
        "node:buffer.Buffer.from" => {
            let encoding = arguments.at(1).text();
            Value::Instance(
                "node:buffer.Buffer".into(),
                Some(decoded(&first, encoding.exact().unwrap_or("utf8")).text()),
            )
        }
        "global.String.fromCharCode" | "global.String.fromCodePoint" => letters(&arguments.positional),
        "global.String" => Value::Text(printed(&first)),
        "global.Number" | "global.parseInt" => match first.text().exact().and_then(|text| text.trim().parse().ok()) {
            Some(number) => Value::Number(number),
            None => Value::Unknown,
        },
        "global.encodeURIComponent" | "global.encodeURI" | "global.decodeURIComponent" | "global.decodeURI" => {
            let is_plain = |text: &&str| {
                text.chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "-_.~".contains(letter))
            };
            first
                .text()
                .exact()
                .filter(is_plain)
                .map_or(Value::Unknown, Value::from)
        }
        "global.Object.freeze"
        | "global.Object.seal"
        | "global.structuredClone"
        | "global.Promise.resolve"
        | "global.Promise.all"
        | "node:util.promisify"
        | "global.Set"
        | "node:events.once"
        | "global.Request.clone" => match (name, first) {
            ("global.Set", Value::Nothing) => Value::List(Rc::default()),
            (_, first) => first,
        },
        "global.Promise.race" | "global.Promise.any" => match &first {
            Value::List(all) => any(all),
            _ => Value::Unknown,
        },
        "global.Promise.allSettled" => match &first {
            Value::List(all) => {
                let settled = |value: &Value| Value::Record(vec![("value".to_string(), value.clone())].into());
                Value::List(Rc::new(all.iter().map(settled).collect()))
            }
            _ => Value::Unknown,
        },
        "global.Array.from" | "global.Array.of" => match (&first, arguments.positional.len()) {
            (Value::List(_), 1) => first,
            _ => Value::Unknown,
        },
        "global.Map" | "global.Object.fromEntries" => pairs(&first),
        "global.Object.keys" | "global.Object.values" | "global.Object.entries" => match &first {
            Value::Record(fields) => listed(fields, name.trim_start_matches("global.Object."))?,
            // The environment as a whole is an act.
            Value::Api(_) => return None,
            _ => Value::Unknown,
        },
        "global.Object.assign" => assigned(&arguments.positional),
        _ => return None,
    })
}

/// Evaluates a method of an object that represents a string.
pub fn instance_method(class: &str, text: Option<&Text>, name: &str, arguments: &[Value]) -> Option<Value> {
    match (class, name, text) {
        ("global.URL", "toString" | "toJSON", Some(text)) => Some(Value::Text(text.clone())),
        ("node:buffer.Buffer", "toString", Some(text)) => match arguments.first().map(Value::text) {
            Some(encoding) if !matches!(encoding.exact(), Some("utf8" | "utf-8" | "ascii" | "latin1")) => {
                Some(Value::Unknown)
            }
            _ => Some(Value::Text(text.clone())),
        },
        ("RegExp", ..) => Some(Value::Unknown),
        _ if class.starts_with("global.URL.") => Some(Value::Unknown),
        _ => None,
    }
}

/// A part of a URL.
pub fn url_part(url: &Text, name: &str) -> Value {
    let parsed = url.exact().and_then(|url| url::Url::parse(url).ok());
    match name {
        "href" => Value::Text(url.clone()),
        "pathname" => match (url.without_start("file://"), &parsed) {
            (Some(path), _) => Value::Text(path),
            (None, Some(url)) => url.path().into(),
            _ => Value::Unknown,
        },
        "hostname" => parsed
            .and_then(|url| url.host_str().map(Value::from))
            .unwrap_or(Value::Unknown),
        "host" | "origin" => match (url.prefix().split_once("://"), name) {
            (Some((scheme, rest)), _) if rest.contains('/') => {
                let host = rest.split('/').next().unwrap_or_default();
                match name {
                    "host" => host.into(),
                    _ => format!("{scheme}://{host}").as_str().into(),
                }
            }
            _ => Value::Text(url.clone()),
        },
        _ => Value::Unknown,
    }
}

/// A URL with another value for one of its parts.
pub fn url_with(before: &Text, part: Option<&str>, value: &Text) -> Value {
    url(match part {
        Some("href") => value.clone(),
        Some("hostname" | "host") => {
            let scheme = before.prefix().split_once("://").map_or("https", |(scheme, _)| scheme);
            let host = Text::from(format!("{scheme}://")).then(value);
            host.then(&"/".into()).then(&Text::unknown())
        }
        Some("port") => {
            let known = before.prefix();
            let rest = known.split_once("://").map_or("", |(_, rest)| rest);
            match rest.split_once(['/', ':']) {
                Some((host, _)) => {
                    let host = &known[..known.len() - rest.len() + host.len()];
                    Text::from(format!("{host}:")).then(value).then(&"/".into())
                }
                None => before.clone(),
            }
        }
        Some(_) => before.clone(),
        None => Text::unknown(),
    })
}

fn each(value: &Value, of_one: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let all: Option<Vec<Value>> = value.alternatives().iter().map(of_one).collect();
    Value::any(all?)
}

fn path(function: &str, first: &Value, arguments: &Arguments) -> Option<Value> {
    let text = first.text();
    Some(match function {
        "join" | "resolve" => put_together(function == "resolve", text, arguments),
        "dirname" => Value::Text(text.directory()),
        "normalize" | "toNamespacedPath" | "toFileUrl" | "fromFileUrl" => {
            Value::Text(text.without_start("file://").unwrap_or(text))
        }
        "basename" => {
            let (name, ending) = (constant::file_name(&text), arguments.at(1).text());
            name.exact().map_or(Value::Unknown, |name| {
                let stem = ending.exact().and_then(|ending| name.strip_suffix(ending));
                stem.unwrap_or(name).into()
            })
        }
        "extname" => match constant::extension(&text).exact() {
            Some(ending) => ending.into(),
            None => Value::Unknown,
        },
        "format" => {
            let field = |name: &str| first.field(name).map(Value::text);
            let directory = field("dir").or(field("root")).unwrap_or("".into());
            let name = field("base").or_else(|| Some(field("name")?.then(&field("ext").unwrap_or("".into()))));
            Value::Text(directory.joined(&name.unwrap_or(Text::unknown())))
        }
        "parse" => {
            let part = |function: &str| path(function, first, &Arguments::none()).unwrap_or(Value::Unknown);
            let base = part("basename");
            let name = base.text().exact().map_or(Value::Unknown, |base| {
                base.rsplit_once('.')
                    .map_or(base, |(name, _)| if name.is_empty() { base } else { name })
                    .into()
            });
            let fields = [
                ("dir", part("dirname")),
                ("base", base),
                ("name", name),
                ("ext", part("extname")),
            ];
            Value::Record(Rc::new(fields.map(|(name, value)| (name.to_string(), value)).to_vec()))
        }
        _ => return None,
    })
}

/// `join` and `resolve`: only the latter begins anew at an absolute part.
fn put_together(begins_anew: bool, first: Text, arguments: &Arguments) -> Value {
    let mut all = vec![if arguments.positional.is_empty() {
        ".".into()
    } else {
        first
    }];
    for value in arguments.positional.iter().skip(1) {
        let mut next = Vec::new();
        for part in value.something().unwrap_or(Value::Unknown).alternatives() {
            let part = part.text();
            next.extend(all.iter().take(Value::MAX_ALTERNATIVES).map(|before| {
                if part.is_unknown() {
                    return below(before);
                }
                match (begins_anew, part.without_start("/")) {
                    (false, Some(relative)) => before.joined(&relative),
                    _ => before.joined(&part),
                }
            }));
        }
        all = next;
        all.truncate(Value::MAX_ALTERNATIVES + 1);
    }
    if arguments.has_more {
        all = all.iter().map(|path| path.joined(&Text::unknown())).collect();
    }
    Value::either(all.into_iter().map(Value::Text))
}

fn url(text: Text) -> Value {
    Value::Instance("global.URL".into(), Some(text))
}

/// Resolves a URL against its base.
fn resolved(relative: &Text, base: Option<&Value>) -> Text {
    let base = match base {
        None | Some(Value::Nothing) => return relative.clone(),
        Some(base) => base.text(),
    };
    let scheme = relative.prefix().split_once("://").map(|(scheme, _)| scheme);
    if scheme.is_some_and(|scheme| scheme.chars().all(|letter| letter.is_ascii_alphanumeric())) {
        return relative.clone();
    }
    if let Some(path) = base.without_start("file://") {
        let directory = if path.suffix().ends_with('/') {
            path
        } else {
            path.directory()
        };
        return Text::from("file://").then(&directory.joined(relative));
    }
    match base.prefix().split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split('/').next().unwrap_or_default();
            let is_whole = rest.contains('/') || base.exact().is_some();
            match is_whole {
                true => Text::from(format!("{scheme}://{host}/"))
                    .then(&relative.without_start("/").unwrap_or(relative.clone())),
                false => base,
            }
        }
        None => Text::unknown(),
    }
}

fn letters(codes: &[Value]) -> Value {
    let letter = |code: &Value| match code {
        Value::Number(code) => u32::try_from(*code).ok().and_then(char::from_u32),
        _ => None,
    };
    let text: Option<String> = codes.iter().map(letter).collect();
    text.map_or(Value::Unknown, |text| text.as_str().into())
}

fn decoded(value: &Value, encoding: &str) -> Value {
    let text = value.text();
    let Some(known) = text.exact() else {
        return match encoding {
            "utf8" | "utf-8" => Value::Text(text),
            _ => Value::Unknown,
        };
    };
    constant::decoded(known, encoding).unwrap_or(Value::Unknown)
}

fn pairs(all: &Value) -> Value {
    let mut fields = Vec::new();
    match all {
        Value::Nothing => {}
        Value::Record(_) => return all.clone(),
        Value::List(all) => {
            for pair in all.iter() {
                match pair {
                    Value::List(pair) if pair.len() == 2 => match pair[0].text().exact() {
                        Some(name) => set_field(&mut fields, name, pair[1].clone()),
                        None => fields.push(("*".into(), pair[1].clone())),
                    },
                    _ => fields.push(("*".into(), Value::Unknown)),
                }
            }
        }
        _ => fields.push(("*".into(), Value::Unknown)),
    }
    Value::Record(fields.into())
}

fn assigned(all: &[Value]) -> Value {
    let mut fields = Vec::new();
    for value in all {
        match value {
            Value::Record(more) => {
                for (name, value) in more.iter() {
                    set_field(&mut fields, name, value.clone());
                }
            }
            Value::Nothing => {}
            Value::Own(_) => return all[0].clone(),
            _ => fields.push(("*".into(), Value::Unknown)),
        }
    }
    Value::Record(fields.into())
}

//! URLs: `urllib.parse`.

use super::super::super::text::Text;
use super::super::super::value::Value;
use super::concatenate;
use crate::arguments::Arguments;

/// The class of a parsed URL.
pub const PARTS: &str = "urllib.parse.ParseResult";

/// A part of a URL, as far as it is known.
pub fn part(url: &Text, name: &str) -> Option<Value> {
    let known = url.prefix();
    let is_exact = url.exact().is_some();
    let start = known.find("://").map(|at| at + 3);
    if start.is_none() && !is_exact {
        return Some(Value::Unknown);
    }
    let scheme = start.map_or("", |start| &known[..start - 3]);
    let start = start.unwrap_or(0);
    let rest = &known[start..];
    let end = match start {
        0 => Some(0),
        _ => rest.find(['/', '?', '#']).or(is_exact.then_some(rest.len())),
    };
    let authority = end.map(|end| &rest[..end]);
    let host = authority.map(|authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    let port = host.map(|host| host.rsplit_once(':').and_then(|(_, port)| port.parse::<i64>().ok()));
    Some(match name {
        "scheme" => scheme.to_ascii_lowercase().as_str().into(),
        "netloc" => authority.map_or(Text::unknown().into(), Value::from),
        "hostname" => match host {
            Some("") => Value::Nothing,
            Some(host) => match port {
                Some(Some(_)) => host.rsplit_once(':').map_or(host, |(name, _)| name).into(),
                _ => host.into(),
            },
            None => Text::unknown().into(),
        },
        "port" => match port {
            Some(Some(port)) => Value::Number(port),
            Some(None) => Value::Nothing,
            None => Value::Unknown,
        },
        "path" => match end {
            Some(end) => {
                let path = &rest[end..];
                match path.find(['?', '#']) {
                    Some(at) => path[..at].into(),
                    None => url.without_prefix(start + end).into(),
                }
            }
            None => Text::unknown().into(),
        },
        "query" | "fragment" | "params" | "username" | "password" => Value::Unknown,
        _ => return None,
    })
}

/// Functions that split and join URLs.
pub fn call(name: &str, receiver: Option<&Text>, arguments: &Arguments) -> Option<Value> {
    match name {
        "urllib.parse.urlsplit" | "urllib.parse.urlparse" => {
            let url = arguments.positional.first()?.text();
            Some(Value::Instance(PARTS.into(), Some(url)))
        }
        "urllib.parse.ParseResult.geturl" => Some(receiver?.clone().into()),
        "urllib.parse.urlunsplit" | "urllib.parse.urlunparse" => match arguments.positional.first()? {
            Value::List(parts) => Some(together(parts)),
            parts @ Value::Instance(..) => Some(parts.text().into()),
            _ => None,
        },
        _ => None,
    }
}

fn together(parts: &[Value]) -> Value {
    let [scheme, host, path, ..] = parts else {
        return Text::unknown().into();
    };
    let mut whole = match scheme.text().exact() {
        Some("") => "".into(),
        _ => concatenate(scheme, &"://".into()),
    };
    whole = concatenate(&whole, host);
    let path_text = path.text();
    if !path_text.prefix().starts_with('/') && path_text.exact() != Some("") {
        whole = concatenate(&whole, &"/".into());
    }
    whole = concatenate(&whole, path);
    match parts[3..].iter().all(|part| part.text().exact() == Some("")) {
        true => whole,
        false => concatenate(&whole, &Value::Unknown),
    }
}

//! Programs and hosts given by several arguments: `spawn(program, words, options)`, `connect(port, host)`.

use crate::arguments::Arguments;
use crate::finding::Act;
use crate::text::Text;
use crate::value::Value;

/// The target that a call starts or connects to; `None` if it is no such call.
pub fn acts(name: &str, arguments: &Arguments) -> Option<Vec<Act>> {
    let bare = name.strip_suffix("Sync").unwrap_or(name);
    Some(match bare {
        "node:child_process.spawn"
        | "node:child_process.execFile"
        | "execa"
        | "execa.execa"
        | "execa.default"
        | "cross-spawn"
        | "cross-spawn.sync" => started(arguments),
        "node:child_process.fork" | "execa.execaNode" => {
            let mut arguments = arguments.clone();
            arguments.positional.splice(0..0, ["node".into()]);
            let file = arguments.at(1);
            let words = match arguments.at(2) {
                Value::List(words) => words.to_vec(),
                _ => Vec::new(),
            };
            let all = std::iter::once(file).chain(words);
            vec![Act::Start(
                std::iter::once("node".into())
                    .chain(all.map(|word| word.text()))
                    .collect(),
            )]
        }
        "Deno.Command" => {
            let words = arguments.at(1).field("args").cloned().unwrap_or(Value::Nothing);
            started(&Arguments::of(vec![arguments.at(0), words]))
        }
        "Bun.spawn" | "Deno.run" => {
            let words = match arguments.at(0) {
                record @ Value::Record(_) => record.field("cmd").cloned().unwrap_or(Value::Unknown),
                words => words,
            };
            match words {
                Value::List(words) => vec![Act::Start(words.iter().map(Value::text).collect())],
                _ => vec![Act::Start(vec![Text::unknown()])],
            }
        }
        "node:http.request" | "node:http.get" => requested("http", arguments),
        "node:https.request" | "node:https.get" => requested("https", arguments),
        "node:net.connect" | "node:net.createConnection" | "node:tls.connect" => connected(arguments),
        "node:dgram.Socket.send" => sent(arguments),
        _ => return None,
    })
}

/// `send(message, [offset, length,] port, host, callback)`.
fn sent(arguments: &Arguments) -> Vec<Act> {
    if arguments.has_more {
        return vec![Act::Connect(Text::unknown())];
    }
    let given = arguments
        .positional
        .iter()
        .filter(|value| !matches!(value, Value::Own(_)));
    let given: Vec<&Value> = given.collect();
    let skipped = if given.len() > 3 { 3 } else { 1 };
    let port = given.get(skipped).copied().unwrap_or(&Value::Unknown);
    let host = given.get(skipped + 1).copied().unwrap_or(&Value::Nothing);
    connected(&Arguments::of(vec![Value::Number(0).or(port), host.clone()]))
}

/// The result of such a call.
pub fn gives(name: &str) -> Value {
    let class = match name {
        _ if name.starts_with("node:http") => "node:http.ClientRequest",
        _ if name.starts_with("node:net") || name.starts_with("node:tls") => "node:net.Socket",
        _ => return Value::Unknown,
    };
    Value::Instance(class.into(), None)
}

/// The URL among arguments: the first text, or the field of a record.
pub fn url(arguments: &Arguments) -> Text {
    for value in &arguments.positional {
        let texts = ["url", "endpoint", "baseURL"]
            .iter()
            .find_map(|name| value.field(name))
            .unwrap_or(value)
            .text();
        if texts.prefix().contains("://") {
            return texts;
        }
    }
    Text::unknown()
}

fn started(arguments: &Arguments) -> Vec<Act> {
    let words = match arguments.at(1) {
        Value::List(words) => words.iter().map(Value::text).collect(),
        Value::Unknown => vec![Text::unknown()],
        Value::OneOf(_) => vec![Text::unknown()],
        _ => Vec::new(),
    };
    let options = arguments
        .positional
        .iter()
        .skip(1)
        .find(|value| matches!(value, Value::Record(_)));
    let shell = options.and_then(|options| options.field("shell"));
    let is_shell = shell.is_some_and(|shell| shell.truth() != Some(false));
    let each = |program: Value| match is_shell {
        true => Act::Shell(
            words
                .iter()
                .fold(program.text(), |line, word| line.then(&" ".into()).then(word)),
        ),
        false => Act::Start(std::iter::once(program.text()).chain(words.iter().cloned()).collect()),
    };
    arguments.at(0).alternatives().into_iter().map(each).collect()
}

/// `request(url, options)`, `request(options)`.
fn requested(scheme: &str, arguments: &Arguments) -> Vec<Act> {
    let first = arguments.at(0);
    let each = |value: Value| match &value {
        Value::Record(_) => {
            if value.field("socketPath").is_some() {
                return None;
            }
            let host = value.field("hostname").or_else(|| value.field("host"));
            let host = host.map_or("localhost".into(), Value::text);
            let target = Text::from(format!("{scheme}://")).then(&host);
            Some(Act::Connect(match value.field("port").map(Value::text) {
                Some(port) => target.then(&":".into()).then(&port),
                None => target.then(&"/".into()),
            }))
        }
        value => Some(Act::Connect(value.text())),
    };
    first.alternatives().into_iter().filter_map(each).collect()
}

/// `connect(port, host)`, `connect({ port, host })`, `connect(path)`.
fn connected(arguments: &Arguments) -> Vec<Act> {
    let first = arguments.at(0);
    let (port, host) = match &first {
        Value::Text(path) => return vec![Act::Write(path.clone())],
        Value::Record(_) => {
            if let Some(path) = first.field("path") {
                return vec![Act::Write(path.text())];
            }
            (first.field("port").cloned(), first.field("host").cloned())
        }
        port => (Some(port.clone()), arguments.positional.get(1).cloned()),
    };
    let host = match host {
        None | Some(Value::Nothing | Value::Own(_)) => "localhost".into(),
        Some(host) => host.text(),
    };
    let port = port.map_or(Text::unknown(), |port| port.text());
    vec![Act::Connect(host.then(&":".into()).then(&port))]
}

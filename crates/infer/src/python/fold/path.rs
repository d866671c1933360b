//! Paths: `os.path` and `pathlib`.

use super::super::super::constant::{extension, file_name};
use super::super::super::text::Text;
use super::super::super::value::Value;
use super::{PATH, url};
use crate::arguments::Arguments;

fn path(text: Text) -> Value {
    Value::Instance(PATH.into(), Some(text))
}

/// The parent directory by name alone; the parent of the run's initial directory is `..`.
pub fn parent(text: &Text) -> Text {
    match text.exact() {
        Some(path)
            if matches!(path.trim_end_matches('/').rsplit('/').next(), Some("" | "." | ".."))
                && !path.starts_with('/') =>
        {
            match path.trim_end_matches('/') {
                "" | "." => "..".into(),
                path => format!("{path}/..").into(),
            }
        }
        _ => text.directory(),
    }
}

fn stem(text: &Text) -> Text {
    match text.exact() {
        Some(name) => match name.rfind('.') {
            Some(at) if at > 0 => name[..at].into(),
            _ => name.into(),
        },
        None => Text::unknown(),
    }
}

/// Attributes of paths and path-like objects.
pub fn path_attribute(class: &str, text: Option<&Text>, name: &str) -> Option<Value> {
    let text = text?;
    Some(match (class, name) {
        (PATH, "parent") => path(parent(text)),
        (PATH, "parents") => Value::Instance("pathlib.parents".into(), Some(text.clone())),
        (PATH, "name") | ("os.DirEntry", "name") => file_name(text).into(),
        (PATH, "stem") => stem(&file_name(text)).into(),
        (PATH, "suffix") => extension(text).into(),
        (PATH, "parts") => text.split("/").map_or(Value::Unknown, |parts| {
            Value::List(parts.into_iter().map(Value::Text).collect::<Vec<_>>().into())
        }),
        ("os.DirEntry", "path") => text.clone().into(),
        (url::PARTS, name) => url::part(text, name)?,
        (class, "name") if class.starts_with("tempfile.") || class == "io.File" => text.clone().into(),
        _ => return None,
    })
}

/// Functions that return paths.
pub fn call(name: &str, receiver: Option<&Text>, arguments: &Arguments) -> Option<Value> {
    let texts: Vec<Text> = arguments.positional.iter().map(Value::text).collect();
    let first = texts.first().cloned().unwrap_or_else(Text::unknown);
    let joined = |start: Option<Text>| {
        let mut all = start.into_iter().chain(texts.iter().cloned());
        let begin = all.next().unwrap_or_else(|| ".".into());
        let whole = all.fold(begin, |path, part| path.joined(&part));
        match arguments.has_more {
            true => whole.joined(&Text::unknown()),
            false => whole,
        }
    };
    Some(match name {
        "os.path.join" => joined(None).into(),
        "os.path.dirname" => parent(&first).into(),
        "os.path.basename" => file_name(&first).into(),
        "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.fspath" | "os.path.normcase"
        | "os.fsdecode" => first.into(),
        "os.path.splitext" => {
            let end = extension(&first);
            let begin = match (first.exact(), end.exact()) {
                (Some(path), Some(end)) => path.strip_suffix(end).unwrap_or(path).into(),
                _ => Text::from(first.prefix()).then(&Text::unknown()),
            };
            Value::List(vec![begin.into(), end.into()].into())
        }
        "os.path.split" => Value::List(vec![parent(&first).into(), file_name(&first).into()].into()),
        "os.path.relpath" => Value::Text(first),
        "os.getcwd" => ".".into(),
        "pathlib.Path.cwd" => path(".".into()),
        PATH => path(joined(None)),
        "tempfile.gettempdir" => "/tmp".into(),
        "tempfile.mkdtemp" | "tempfile.mktemp" => Text::from("/tmp/").then(&Text::unknown()).into(),
        "tempfile.mkstemp" => {
            let file = Text::from("/tmp/").then(&Text::unknown());
            Value::List(vec![Value::Unknown, file.into()].into())
        }
        "tempfile.TemporaryDirectory" | "tempfile.NamedTemporaryFile" => {
            let directory = arguments.named.iter().find(|(name, _)| name == "dir");
            let directory = directory.map_or("/tmp".into(), |(_, directory)| directory.text());
            Value::Instance(name.into(), Some(directory.joined(&Text::unknown())))
        }
        name => {
            return of_path(
                name.strip_prefix("pathlib.Path.")?,
                receiver?,
                &first,
                joined(receiver.cloned()),
            );
        }
    })
}

/// Methods of a path.
fn of_path(method: &str, receiver: &Text, first: &Text, joined: Text) -> Option<Value> {
    let directory = parent(receiver);
    let beside = |name: &Text| match directory.exact() {
        Some(".") => name.clone(),
        _ => directory.joined(name),
    };
    Some(match method {
        "joinpath" => path(joined),
        "resolve" | "absolute" | "readlink" => path(receiver.clone()),
        "as_posix" | "as_uri" | "__str__" | "__fspath__" => receiver.clone().into(),
        "with_name" => path(beside(first)),
        "with_stem" => path(beside(&first.then(&extension(receiver)))),
        "with_suffix" => path(match receiver.exact() {
            Some(_) => beside(&stem(&file_name(receiver)).then(first)),
            None => beside(&Text::unknown()),
        }),
        "relative_to" => path(Text::unknown()),
        "rename" | "replace" => path(first.clone()),
        _ => return None,
    })
}

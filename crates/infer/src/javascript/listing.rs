//! Listings: they give names, and paths below the directory that is listed.

use std::rc::Rc;

use oxc_span::Span;

use super::array::any;
use super::reader::Reader;
use crate::arguments::Arguments;
use crate::finding::Act;
use crate::reading::Reading;
use crate::text::Text;
use crate::value::Value;

/// Functions that find files by patterns, without `Sync`.
const GLOBS: [&str; 18] = [
    "glob",
    "glob.glob",
    "glob.sync",
    "glob.stream",
    "glob.globIterate",
    "glob.globStream",
    "fast-glob",
    "fast-glob.sync",
    "fast-glob.async",
    "fast-glob.glob",
    "fast-glob.stream",
    "globby",
    "globby.sync",
    "globby.globby",
    "globby.globbyStream",
    "tinyglobby.glob",
    "node:fs.glob",
    "fs-extra.glob",
];
/// What begins the part of a pattern that more than one path fits.
const WILDCARDS: [char; 7] = ['*', '?', '[', '{', '(', '!', '+'];

impl<'a> Reader<'a, '_> {
    /// Evaluates a call that lists and records its acts; `None` if it doesn't list.
    pub fn listing(&mut self, name: &str, receiver: Option<&Text>, arguments: &Arguments, at: Span) -> Option<Value> {
        let bare = name.strip_suffix("Sync").unwrap_or(name);
        let first = arguments.at(0);
        let listed = match bare {
            "node:fs.readdir" | "fs-extra.readdir" | "node:fs.opendir" | "fs-extra.opendir" | "Deno.readDir" => {
                self.note_each(&first, name, at, Act::Read);
                let are_entries = match bare {
                    "node:fs.readdir" | "fs-extra.readdir" => arguments.at(1).field("withFileTypes").is_some(),
                    _ => true,
                };
                vec![match are_entries {
                    true => entry(Value::Unknown, &first),
                    false => Value::Unknown,
                }]
            }
            "@std/fs.walk" => {
                self.note_each(&first, name, at, Act::Read);
                let entries = first.alternatives().into_iter();
                entries
                    .map(|directory| entry(below(&directory.text()).into(), &directory))
                    .collect()
            }
            "@std/fs.expandGlob" => {
                let paths = self.found(&first, &options(arguments, "root"), name, at);
                paths.into_iter().map(|path| entry(path, &Value::Unknown)).collect()
            }
            "Bun.Glob" => return Some(Value::Instance(name.into(), Some(first.text()))),
            "Bun.Glob.scan" => {
                let pattern = receiver.cloned().unwrap_or(Text::unknown());
                let base = match first {
                    Value::Text(base) => Some(base),
                    options => options.field("cwd").map(Value::text),
                };
                self.found(&Value::Text(pattern), &(base, false), name, at)
            }
            "chokidar.watch" | "chokidar.default.watch" => {
                let paths = self.found(&first, &options(arguments, "cwd"), name, at);
                let watchers = paths
                    .into_iter()
                    .map(|path| Value::Instance("chokidar.FSWatcher".into(), Some(path.text())));
                return Some(any(&watchers.collect::<Vec<Value>>()));
            }
            "chokidar.FSWatcher.on" | "chokidar.FSWatcher.once" => {
                let path = receiver.map_or(Value::Unknown, |path| Value::Text(below(path)));
                let given = Arguments::of(vec![path.clone(), path]);
                self.call_maybe(&arguments.at(1), &given, at);
                return Some(Value::Instance("chokidar.FSWatcher".into(), receiver.cloned()));
            }
            "Deno.makeTempFile" | "Deno.makeTempDir" => {
                let directory = first.field("dir").map_or("/tmp".into(), Value::text);
                self.note(Act::Write(directory.clone()), name, at);
                return Some(Value::Text(below(&directory)));
            }
            "node:fs.mkdtemp" | "fs-extra.mkdtemp" => {
                self.note_each(&first, name, at, Act::Write);
                let made = first.text().then(&Text::unknown());
                return Some(self.given(Value::Text(made), arguments, at));
            }
            _ if GLOBS.contains(&bare) => {
                let (patterns, options) = match first.field("patterns") {
                    Some(patterns) => (patterns.clone(), cwd(&first, "cwd")),
                    None => (first, options(arguments, "cwd")),
                };
                self.found(&patterns, &options, name, at)
            }
            _ => return None,
        };
        Some(self.given(Value::List(Rc::new(listed)), arguments, at))
    }

    /// Returns a call's result, and passes it to its callback.
    fn given(&mut self, value: Value, arguments: &Arguments, at: Span) -> Value {
        if let Some(callback @ Value::Own(_)) = arguments.positional.last() {
            let given = Arguments::of(vec![Value::Unknown, value.clone()]);
            self.call_maybe(callback, &given, at);
        }
        value
    }

    fn note_each(&mut self, paths: &Value, by: &str, at: Span, act: impl Fn(Text) -> Act) {
        for path in paths.alternatives() {
            self.note(act(path.text()), by, at);
        }
    }

    /// The paths that fit patterns, from a base if there is one, which they begin with if so wanted.
    fn found(&mut self, patterns: &Value, (base, is_whole): &(Option<Text>, bool), by: &str, at: Span) -> Vec<Value> {
        let patterns = patterns.alternatives().into_iter().flat_map(|value| match value {
            Value::List(all) => all.to_vec(),
            value => vec![value],
        });
        let mut paths = Vec::new();
        for pattern in patterns.flat_map(|pattern| pattern.alternatives()) {
            let pattern = pattern.text();
            if pattern.prefix().starts_with('!') {
                continue;
            }
            let (directory, path) = fitting(&pattern);
            let based = |path: &Text| base.as_ref().map_or(path.clone(), |base| base.joined(path));
            self.note(Act::Read(based(&directory)), by, at);
            let path = Value::Text(if *is_whole { based(&path) } else { path });
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }
}

/// An entry of a directory.
fn entry(path: Value, directory: &Value) -> Value {
    let path = match path {
        Value::Unknown => directory.clone(),
        path => path,
    };
    let fields = [
        ("path", path),
        ("parentPath", directory.clone()),
        ("name", Value::Unknown),
        ("*", Value::Unknown),
    ];
    Value::Record(Rc::new(fields.map(|(name, value)| (name.to_string(), value)).to_vec()))
}

fn options(arguments: &Arguments, base: &str) -> (Option<Text>, bool) {
    match arguments.at(1) {
        Value::Unknown => (Some(Text::unknown()), true),
        options => cwd(&options, base),
    }
}

/// The base that options name, and whether paths are to begin with it.
fn cwd(options: &Value, base: &str) -> (Option<Text>, bool) {
    let base = options.field(base).map(Value::text);
    let is_whole = options.field("absolute").and_then(Value::truth) == Some(true);
    (base, is_whole)
}

/// Any path below a directory.
pub fn below(directory: &Text) -> Text {
    match directory.exact() {
        None if directory.suffix().is_empty() => directory.clone(),
        _ => directory.joined(&Text::unknown()),
    }
}

/// The directory that a pattern begins in, and the paths that fit it.
fn fitting(pattern: &Text) -> (Text, Text) {
    let known = pattern.prefix();
    match known.find(WILDCARDS) {
        Some(at) => {
            let directory: Text = match known[..at].rfind('/') {
                Some(0) => "/".into(),
                Some(end) => known[..end].into(),
                None => ".".into(),
            };
            let path = below(&directory);
            (directory, path)
        }
        None if pattern.exact().is_some() => (pattern.clone(), pattern.clone()),
        None => {
            let path = Text::from(known).then(&Text::unknown());
            (path.clone(), path)
        }
    }
}

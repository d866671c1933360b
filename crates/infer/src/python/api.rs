//! Calls of APIs: their effects and results by the table.

use std::ops::Range;

use super::super::finding::{Act, Finding};
use super::super::reading::Reading;
use super::super::sql;
use super::super::table::Call;
use super::super::text::Text;
use super::super::value::Value;
use super::fold;
use super::reader::Reader;
use crate::arguments::Arguments;

/// Maximum number of argument lists of one call.
const MAX_WAYS: usize = 16;

impl Reader<'_, '_> {
    /// Calls an API by its qualified name; `receiver` is the path or URL of a method's object.
    pub fn call_api(&mut self, name: &str, receiver: Option<&Text>, arguments: &Arguments, at: Range<usize>) -> Value {
        let name = &*fold::canonical(name);
        if !self.work().step(1) {
            return Value::Unknown;
        }
        self.run_code(name, arguments, &at);
        if let Some(value) = self.special(name, arguments, &at) {
            return value;
        }
        let given = self.table_call(name, receiver, arguments, &at, false);
        if let Some(value) = self.machine(name, receiver, arguments, &at) {
            return value;
        }
        if let Some(value) = self.listing(name, receiver, arguments) {
            return value;
        }
        if let Some(value) = self.of_iterables(name, arguments) {
            return value;
        }
        if let Some(value) = fold::call(name, receiver, arguments) {
            return self.work().made(value);
        }
        if let Some(given) = given {
            return given;
        }
        let class = name.rsplit_once('.').map_or("", |(class, _)| class);
        match fold::is_class(name) {
            true => Value::Instance(name.into(), None),
            // Methods of such a class mostly return the same class: `df.groupby(…).sum()`.
            false if fold::is_sticky(class) => Value::Instance(class.into(), None),
            false => Value::Unknown,
        }
    }

    /// Records a call's acts from the table; returns its result if the table has one.
    fn table_call(
        &mut self,
        name: &str,
        receiver: Option<&Text>,
        arguments: &Arguments,
        at: &Range<usize>,
        is_guess: bool,
    ) -> Option<Value> {
        if !self.table.has(name) {
            return None;
        }
        let positional: Vec<Value> = arguments.positional.iter().map(target).collect();
        let named: Vec<(String, Value)> = arguments
            .named
            .iter()
            .map(|(name, value)| (name.clone(), target(value)))
            .collect();
        let mut given: Option<Value> = None;
        for positional in ways(&positional) {
            let mut positional = positional;
            adjust(name, &mut positional);
            let call = Call {
                name,
                receiver,
                positional: &positional,
                named: &named,
                has_more: arguments.has_more,
            };
            let Some(outcome) = self.table.call(&call) else {
                continue;
            };
            for act in outcome.acts.into_iter().chain(further(name, arguments)) {
                for act in adjusted(name, receiver, arguments, act) {
                    let finding = Finding::new(act, name, at.clone());
                    self.work().add(if is_guess { finding.guessed() } else { finding });
                }
            }
            if let Some((class, carried)) = outcome.gives {
                let value = match &*class {
                    "text" => Value::Text(carried.unwrap_or_else(Text::unknown)),
                    _ => Value::Instance(class, carried),
                };
                given = Some(value.beside(given));
            }
        }
        given
    }

    /// Records the files that an SQL statement names.
    fn open_databases(&mut self, name: &str, arguments: &Arguments, at: &Range<usize>) {
        let statements = arguments.positional.first().map_or(Vec::new(), Value::alternatives);
        for file in statements.iter().flat_map(|statement| sql::files(&statement.text())) {
            for act in database(&file) {
                self.note(act, name, at);
            }
        }
    }

    /// Guesses the API of a method on an unknown value by its distinctive name.
    pub fn guess(&mut self, name: &str, arguments: &Arguments, at: Range<usize>) {
        let api = match name {
            // A subcommand's parser.
            "add_argument" => return self.declare_option(arguments, &at),
            "set_defaults" => return self.declare_defaults(arguments),
            "read_text" | "write_text" | "read_bytes" | "write_bytes" | "iterdir" | "rglob" | "unlink" | "rmdir" => {
                format!("{}.{name}", fold::PATH)
            }
            "mkdir" => format!("{}.{name}", fold::PATH),
            "to_csv" | "to_excel" | "to_parquet" => format!("pandas.DataFrame.{name}"),
            "savefig" => "matplotlib.pyplot.savefig".to_string(),
            "tofile" => "numpy.ndarray.tofile".to_string(),
            "dump" if is_path(arguments) => "numpy.ndarray.dump".to_string(),
            "execute" | "executescript" => return self.open_databases(name, arguments, &at),
            "urlopen" => "urllib.request.urlopen".to_string(),
            _ => return,
        };
        self.table_call(&api, Some(&Text::unknown()), arguments, &at, true);
    }
}

/// Whether the only argument is a path.
fn is_path(arguments: &Arguments) -> bool {
    match &arguments.positional[..] {
        [only] => arguments.named.is_empty() && !only.text().is_unknown(),
        _ => false,
    }
}

/// An argument as a target: `Nothing` if it isn't a path or URL; a missing alternative is dropped.
fn target(value: &Value) -> Value {
    match value {
        Value::Instance(class, _) if !fold::is_target(class) => Value::Nothing,
        Value::Api(name) if name.starts_with("sys.std") || name.starts_with("subprocess.") => Value::Nothing,
        Value::OneOf(all) => {
            let some = all.iter().map(target).filter(|value| *value != Value::Nothing);
            Value::any(some).unwrap_or(Value::Nothing)
        }
        value => value.clone(),
    }
}

/// The argument lists of a call whose list has elements with alternatives.
fn ways(positional: &[Value]) -> Vec<Vec<Value>> {
    let words = match positional.first() {
        Some(Value::List(words)) => words,
        Some(Value::OneOf(all)) => {
            let each = all
                .iter()
                .map(|one| [std::slice::from_ref(one), &positional[1..]].concat());
            return each
                .flat_map(|positional| ways(&positional))
                .take(MAX_WAYS * MAX_WAYS)
                .collect();
        }
        _ => return vec![positional.to_vec()],
    };
    let mut lists: Vec<Vec<Value>> = vec![Vec::new()];
    for word in words.iter() {
        let each = match word.alternatives() {
            each if each.len() * lists.len() <= MAX_WAYS => each,
            _ => vec![Value::Unknown],
        };
        lists = lists
            .iter()
            .flat_map(|list| {
                each.iter()
                    .map(move |word| list.iter().cloned().chain([word.clone()]).collect())
            })
            .collect();
    }
    let rest = &positional[1..];
    lists
        .into_iter()
        .map(|list: Vec<Value>| {
            std::iter::once(Value::List(list.into()))
                .chain(rest.iter().cloned())
                .collect()
        })
        .collect()
}

/// Adjusts arguments whose meaning differs from the row.
fn adjust(name: &str, positional: &mut [Value]) {
    match (name, positional) {
        // A number is an open descriptor.
        ("builtins.open" | "os.fdopen", [file @ Value::Number(_), ..]) => *file = Value::Nothing,
        // `r:xz`: the part after the colon is a compression.
        ("tarfile.open", [_, mode @ Value::Text(_), ..]) => {
            let text = mode.text();
            let known = text.prefix();
            *mode = known.split([':', '|']).next().unwrap_or_default().into();
        }
        _ => {}
    }
}

/// Adjusts an act: a URL in place of a path, a database in memory.
fn adjusted(name: &str, receiver: Option<&Text>, arguments: &Arguments, act: Act) -> Vec<Act> {
    let is_url = |text: &Text| {
        ["http://", "https://", "ftp://", "s3://", "gs://"]
            .iter()
            .any(|scheme| text.prefix().starts_with(scheme))
    };
    match act {
        Act::Read(path) if is_url(&path) && !name.starts_with("builtins.") && !name.starts_with("os.") => {
            vec![Act::Connect(path)]
        }
        Act::Read(path) | Act::Write(path) if name == "sqlite3.connect" => database(&path),
        // Only the pattern's fixed directories are listed: `Path(".").glob("data/*.csv")`.
        Act::Read(path) if name == "pathlib.Path.glob" => {
            let pattern = arguments.get(0, "pattern").map_or(Text::unknown(), Value::text);
            let fixed = fixed(&pattern);
            match fixed.rfind('/') {
                Some(end) => vec![Act::Read(path.joined(&fixed[..end].into()))],
                None => vec![Act::Read(path)],
            }
        }
        Act::Read(path) if name.starts_with("glob.") => match arguments.get(usize::MAX, "root_dir") {
            Some(root) if *root != Value::Nothing => vec![Act::Read(root.text().joined(&path))],
            _ => vec![Act::Read(path)],
        },
        Act::Connect(host) if name.starts_with("http.client.") => with_port(name, &host, arguments),
        Act::Connect(path) => match receiver {
            // A client with a base URL: `httpx.Client(base_url=…).get("/users")`.
            Some(base) if !base.prefix().is_empty() && !path.prefix().contains("://") => {
                vec![Act::Connect(base.joined(&relative(&path)))]
            }
            _ => vec![Act::Connect(path)],
        },
        act => vec![act],
    }
}

/// Acts of a call that a row can't express.
fn further(name: &str, arguments: &Arguments) -> Vec<Act> {
    match name {
        "fileinput.input" | "fileinput.FileInput" => input_files(arguments),
        "logging.config.dictConfig" => arguments.get(0, "config").map_or(Vec::new(), handlers),
        _ => Vec::new(),
    }
}

/// Files and hosts of the handlers in a `logging` configuration.
fn handlers(configuration: &Value) -> Vec<Act> {
    let mut acts = Vec::new();
    for one in configuration.alternatives() {
        match one.field("handlers") {
            Some(Value::Record(handlers)) => {
                for (_, handler) in handlers.iter() {
                    acts.extend(handler.field("filename").map(|file| Act::Write(file.text())));
                    let hosts = ["host", "mailhost"].iter().filter_map(|name| handler.field(name));
                    acts.extend(hosts.map(|host| Act::Connect(host.text())));
                    if *handler == Value::Unknown {
                        acts.push(Act::Write(Text::unknown()));
                    }
                }
            }
            None if matches!(one, Value::Record(_)) => {}
            _ => acts.push(Act::Write(Text::unknown())),
        }
    }
    acts
}

fn input_files(arguments: &Arguments) -> Vec<Act> {
    let files: Vec<Text> = match arguments.get(0, "files") {
        // The files that the command line names.
        None | Some(Value::Nothing) => vec![Text::unknown()],
        Some(files) => {
            let each = files.alternatives().into_iter().flat_map(|files| match files {
                Value::List(files) => files.to_vec(),
                file => vec![file],
            });
            each.map(|file| file.text()).collect()
        }
    };
    let in_place = arguments.get(1, "inplace").map(Value::truth);
    let is_written = in_place.is_some_and(|truth| truth != Some(false));
    let acts = |file: Text| match is_written {
        // A backup of the file exists meanwhile.
        true => vec![
            Act::Read(file.clone()),
            Act::Write(file.then(&".bak".into())),
            Act::Write(file),
        ],
        false => vec![Act::Read(file)],
    };
    files.into_iter().flat_map(acts).collect()
}

/// `HTTPConnection(host, port)`.
fn with_port(name: &str, host: &Text, arguments: &Arguments) -> Vec<Act> {
    let scheme = if name.contains("HTTPS") { "https://" } else { "http://" };
    let ports = arguments
        .get(1, "port")
        .map_or(vec![Value::Nothing], Value::alternatives);
    let each = ports.iter().map(|port| match port {
        Value::Number(port) => Text::from(scheme).then(host).then(&format!(":{port}").into()),
        _ => host.clone(),
    });
    each.map(Act::Connect).collect()
}

/// A pattern up to its first wildcard.
pub fn fixed(pattern: &Text) -> &str {
    let known = pattern.prefix();
    &known[..known.find(['*', '?', '[']).unwrap_or(known.len())]
}

fn relative(path: &Text) -> Text {
    match path.exact() {
        Some(path) => path.trim_start_matches('/').into(),
        None => Text::unknown(),
    }
}

fn database(path: &Text) -> Vec<Act> {
    match path.exact() {
        Some(":memory:" | "") => Vec::new(),
        _ => match path.prefix().strip_prefix("file:") {
            Some(uri) => {
                let file = uri.split('?').next().unwrap_or_default();
                let is_whole = uri.contains('?') || path.exact().is_some();
                let file = match is_whole {
                    true => Text::from(file),
                    false => Text::from(file).then(&Text::unknown()),
                };
                match path.shown() {
                    shown if shown.contains("mode=memory") => Vec::new(),
                    shown if shown.contains("mode=ro") || shown.contains("immutable=1") => vec![Act::Read(file)],
                    _ => vec![Act::Read(file.clone()), Act::Write(file)],
                }
            }
            None => vec![Act::Read(path.clone()), Act::Write(path.clone())],
        },
    }
}

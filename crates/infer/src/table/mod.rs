//! The effects of APIs as data: `table/*.toml`, one row per API with its source.
//!
//! A row says what a call reads, writes, connects to and starts, and in which argument the target stands. A function of
//! a known module that has no row does nothing outside. A module that stands nowhere is unknown.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use serde::Deserialize;

use super::finding::{Act, Opaque};
use super::language::Language;
use super::text::Text;
use super::value::Value;

/// The table of a language.
#[derive(Debug)]
pub struct Table {
    rows: HashMap<String, Row>,
    modules: HashMap<String, ()>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// Modules whose acts are all listed in the rows.
    modules: Vec<String>,
    api: Vec<Row>,
}

/// The effects of one API.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its qualified name: `os.listdir`, `pathlib.Path.read_text`, `node:fs.readFileSync`. A row of a class is of its
    /// construction.
    name: String,
    reads: Option<Place>,
    writes: Option<Place>,
    /// Reads or writes, as `mode` says.
    opens: Option<Place>,
    mode: Option<Place>,
    connects: Option<Place>,
    #[serde(default)]
    listens: bool,
    variable: Option<Place>,
    /// The program; its further words are in a list there or in `arguments`.
    starts: Option<Place>,
    arguments: Option<Place>,
    /// Where this is true, what is started is a shell line.
    shell_if: Option<Place>,
    shell: Option<Place>,
    enters: Option<Place>,
    /// Code of the same language that it runs.
    code: Option<Place>,
    /// The class of what it gives; with `carries`, made of that text.
    gives: Option<String>,
    carries: Option<Place>,
    /// It reads variables of the environment: all of them.
    #[serde(default)]
    environment: bool,
    /// Its documentation.
    #[serde(rename = "source")]
    _source: String,
}

/// The position of a target among a call's arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Position among the arguments, from 0.
    at: Option<usize>,
    /// Name of a keyword argument.
    name: Option<String>,
    /// Fields of the record that the argument is: the first that is there.
    #[serde(default)]
    fields: Vec<String>,
    /// All arguments from `at` on, each a target (or a word of a command).
    #[serde(default)]
    rest: bool,
    /// The object whose method it is.
    #[serde(default)]
    receiver: bool,
    /// The target where the argument isn't given. Without a default a missing argument is no act.
    default: Option<String>,
    /// The target, whatever the arguments are.
    fixed: Option<String>,
    /// The target is unknown.
    #[serde(default)]
    unknown: bool,
}

/// A call of an API.
#[derive(Debug)]
pub struct Call<'a> {
    /// The qualified name.
    pub name: &'a str,
    /// The value of the object whose method is called.
    pub receiver: Option<&'a Text>,
    /// The arguments by position.
    pub positional: &'a [Value],
    /// The arguments by name.
    pub named: &'a [(String, Value)],
    /// Whether there are more that aren't known (`*args`, `...args`).
    pub has_more: bool,
}

/// The effects and the result of a call.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The acts of the call.
    pub acts: Vec<Act>,
    /// The class of the result, and its value.
    pub gives: Option<(Rc<str>, Option<Text>)>,
}

static PYTHON: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("python.toml")));
static JAVASCRIPT: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("javascript.toml")));

impl Table {
    /// The table of a language; the shell has one of its own.
    pub fn of(language: Language) -> &'static Table {
        match language {
            Language::Python | Language::Shell => &PYTHON,
            Language::JavaScript | Language::TypeScript => &JAVASCRIPT,
        }
    }

    fn parse(text: &str) -> Table {
        let document: Document = toml::from_str(text).expect("a test reads every table");
        Table {
            rows: document.api.into_iter().map(|row| (row.name.clone(), row)).collect(),
            modules: document.modules.into_iter().map(|name| (name, ())).collect(),
        }
    }

    /// Whether a module, or the package that it is in (`.` or `/` parts), is known.
    pub fn knows_module(&self, name: &str) -> bool {
        let mut name = name;
        loop {
            if self.modules.contains_key(name) {
                return true;
            }
            match name.rfind(['.', '/']) {
                Some(at) => name = &name[..at],
                None => return false,
            }
        }
    }

    /// Whether there is a row of this name.
    pub fn has(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// The names right below a module that have rows: what `from module import *` brings of them.
    pub fn members(&self, module: &str) -> Vec<&str> {
        let below = |name: &'_ String| name.strip_prefix(module)?.strip_prefix('.').map(str::to_string);
        let rows = self
            .rows
            .keys()
            .filter(|name| below(name).is_some_and(|rest| !rest.contains('.')));
        let mut names: Vec<&str> = rows.filter_map(|name| name.rsplit('.').next()).collect();
        names.sort_unstable();
        names
    }

    /// The effects of a call; `None` if no row has its name.
    pub fn call(&self, call: &Call<'_>) -> Option<Outcome> {
        Some(self.rows.get(call.name)?.outcome(call))
    }
}

impl Row {
    fn outcome(&self, call: &Call<'_>) -> Outcome {
        let mut acts = Vec::new();
        let texts = |place: &Option<Place>| place.iter().flat_map(|place| place.texts(call)).collect::<Vec<Text>>();
        acts.extend(texts(&self.reads).into_iter().map(Act::Read));
        acts.extend(texts(&self.writes).into_iter().map(Act::Write));
        for path in texts(&self.opens) {
            acts.extend(self.opened(path, call));
        }
        match self
            .connects
            .as_ref()
            .and_then(|place| place.value(call))
            .and_then(|value| address(&value))
        {
            Some(host) => acts.push(Act::Connect(host)),
            None => acts.extend(texts(&self.connects).into_iter().map(Act::Connect)),
        }
        if self.listens {
            acts.push(Act::Listen);
        }
        if self.environment {
            acts.push(Act::Variable(Text::unknown()));
        }
        acts.extend(texts(&self.variable).into_iter().map(Act::Variable));
        acts.extend(texts(&self.shell).into_iter().map(Act::Shell));
        acts.extend(texts(&self.enters).into_iter().map(Act::Enter));
        if let Some(code) = &self.code
            && !code.texts(call).is_empty()
        {
            acts.push(Act::Opaque(Opaque::BuiltCode));
        }
        acts.extend(self.started(call));
        let carried = self
            .carries
            .as_ref()
            .and_then(|place| place.texts(call).into_iter().next());
        let gives = self.gives.as_deref().map(|class| (Rc::from(class), carried));
        Outcome { acts, gives }
    }

    /// The acts of opening a file in this mode: `r`, `w`, `a`, `x`, `+`; without a mode it reads.
    fn opened(&self, path: Text, call: &Call<'_>) -> Vec<Act> {
        let mode = self.mode.as_ref().and_then(|place| place.value(call));
        match mode.map(|mode| mode.text()) {
            None => vec![Act::Read(path)],
            Some(mode) => match mode.exact() {
                Some(mode) if mode.contains(['w', 'a', 'x', '+']) => vec![Act::Write(path)],
                Some(_) => vec![Act::Read(path)],
                None => vec![Act::Read(path.clone()), Act::Write(path)],
            },
        }
    }

    fn started(&self, call: &Call<'_>) -> Vec<Act> {
        let Some(place) = &self.starts else {
            return Vec::new();
        };
        let is_shell = self.shell_if.as_ref().and_then(|place| place.value(call));
        let is_shell = is_shell.is_some_and(|value| value.truth() != Some(false));
        let arguments = self
            .arguments
            .as_ref()
            .map(|place| place.words(call))
            .unwrap_or_default();
        let mut acts = Vec::new();
        for program in place.values(call).iter().flat_map(Value::alternatives) {
            acts.push(match (&program, is_shell) {
                (Value::List(words), false) => Act::Start(words.iter().map(Value::text).collect()),
                (Value::List(words), true) => match words.first() {
                    Some(line) => Act::Shell(line.text()),
                    None => continue,
                },
                (program, false) => Act::Start(
                    std::iter::once(program.text())
                        .chain(arguments.iter().cloned())
                        .collect(),
                ),
                (line, true) => Act::Shell(
                    arguments
                        .iter()
                        .fold(line.text(), |line, word| line.then(&" ".into()).then(word)),
                ),
            });
            if place.rest {
                acts.truncate(1);
            }
        }
        acts
    }
}

/// The host of a socket's address: `("example.com", 80)`.
fn address(value: &Value) -> Option<Text> {
    let Value::List(parts) = value else { return None };
    match &parts[..] {
        [host, Value::Number(port), ..] => match host.text() {
            host if host.exact().is_some_and(|host| !host.contains(':')) => {
                Some(host.then(&format!(":{port}").as_str().into()))
            }
            host => Some(host),
        },
        [host, Value::Unknown] => Some(host.text()),
        _ => None,
    }
}

impl Place {
    /// The value at that position.
    fn value(&self, call: &Call<'_>) -> Option<Value> {
        self.values(call).into_iter().next()
    }

    fn values(&self, call: &Call<'_>) -> Vec<Value> {
        if let Some(fixed) = &self.fixed {
            return vec![fixed.as_str().into()];
        }
        if self.unknown {
            return vec![Value::Unknown];
        }
        if self.receiver {
            return vec![call.receiver.cloned().map_or(Value::Unknown, Value::Text)];
        }
        if self.rest {
            let from = self.at.unwrap_or(0);
            let mut values = call.positional.get(from..).unwrap_or_default().to_vec();
            if call.has_more {
                values.push(Value::Unknown);
            }
            return values;
        }
        let by_name = self
            .name
            .as_ref()
            .and_then(|name| call.named.iter().find(|(given, _)| given == name));
        let given = by_name
            .map(|(_, value)| value)
            .or_else(|| call.positional.get(self.at?))
            .cloned();
        let given = match given {
            Some(Value::Nothing) => None,
            given => given,
        };
        match given.map(|value| self.in_fields(value)) {
            Some(Some(value)) => vec![value],
            Some(None) | None if self.default.is_some() => {
                self.default.as_deref().map(Value::from).into_iter().collect()
            }
            None if call.has_more && self.at.is_some() => vec![Value::Unknown],
            _ => Vec::new(),
        }
    }

    /// The field that is asked for, where fields are and the value has them.
    fn in_fields(&self, value: Value) -> Option<Value> {
        if self.fields.is_empty() || !matches!(value, Value::Record(_) | Value::Unknown) {
            return Some(value);
        }
        if value == Value::Unknown {
            return Some(value);
        }
        self.fields.iter().find_map(|name| value.field(name)).cloned()
    }

    /// As targets: each of the alternatives, and each of a list.
    fn texts(&self, call: &Call<'_>) -> Vec<Text> {
        let each = |value: Value| match value {
            Value::List(values) => values.iter().map(Value::text).collect(),
            value => vec![value.text()],
        };
        let values = self.values(call);
        values.iter().flat_map(Value::alternatives).flat_map(each).collect()
    }

    /// As the words of a command.
    fn words(&self, call: &Call<'_>) -> Vec<Text> {
        match &self.values(call)[..] {
            [Value::List(words)] => words.iter().map(Value::text).collect(),
            values => values.iter().map(Value::text).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(name: &str, positional: &[Value]) -> Vec<Act> {
        let call = Call {
            name,
            receiver: None,
            positional,
            named: &[],
            has_more: false,
        };
        Table::of(Language::Python).call(&call).unwrap().acts
    }

    #[test]
    fn every_table_is_read() {
        for table in [&*PYTHON, &*JAVASCRIPT] {
            assert!(!table.rows.is_empty() && !table.modules.is_empty());
        }
    }

    #[test]
    fn a_mode_says_whether_a_file_is_read_or_written() {
        assert_eq!(acts("builtins.open", &["a".into()]), [Act::Read("a".into())]);
        assert_eq!(
            acts("builtins.open", &["a".into(), "rb".into()]),
            [Act::Read("a".into())]
        );
        assert_eq!(
            acts("builtins.open", &["a".into(), "w".into()]),
            [Act::Write("a".into())]
        );
        assert_eq!(
            acts("builtins.open", &["a".into(), Value::Unknown]),
            [Act::Read("a".into()), Act::Write("a".into())]
        );
    }

    #[test]
    fn a_program_comes_with_its_words() {
        let words = Value::List(Rc::new(vec!["ls".into(), "-l".into()]));
        assert_eq!(
            acts("subprocess.run", &[words]),
            [Act::Start(vec!["ls".into(), "-l".into()])]
        );
    }
}

//! Calls of APIs: special cases in code, pure functions folded, all others by their row of the table.

use oxc_span::Span;

use super::binding::set_field;
use super::call::is_plain;
use super::reader::Reader;
use super::{endpoint, fold, module};
use crate::arguments::Arguments;
use crate::finding::{Act, Opaque};
use crate::reading::Reading;
use crate::scopes::Flow;
use crate::table::{Call, Outcome};
use crate::text::Text;
use crate::value::Value;

/// Packages whose functions are those of another module, where they have no row of their own.
const ALIASES: [(&str, &str); 3] = [
    ("fs-extra.", "node:fs."),
    ("@std/fs.", "fs-extra."),
    ("mcp.filesystem.", "mcp.fs."),
];

/// Methods whose names tell what they do, whatever their object is: its first argument is a path.
const READING: [&str; 11] = [
    "readFileSync",
    "createReadStream",
    "readdirSync",
    "existsSync",
    "statSync",
    "lstatSync",
    "opendirSync",
    "readJsonSync",
    "readTextFile",
    "readTextFileSync",
    "readFile",
];
const WRITING: [&str; 16] = [
    "writeFileSync",
    "appendFileSync",
    "createWriteStream",
    "unlinkSync",
    "mkdirSync",
    "rmSync",
    "rmdirSync",
    "renameSync",
    "copyFileSync",
    "chmodSync",
    "writeJsonSync",
    "writeTextFile",
    "writeTextFileSync",
    "writeFile",
    "appendFile",
    "symlinkSync",
];

/// The class of a function built from text.
const MADE: &str = "global.Function()";
/// Functions that return the names in a directory.
const LISTS: [&str; 5] = [
    "mcp.fs.list",
    "mcp.fs.listDirectory",
    "mcp.fs.listFiles",
    "mcp.fs.readdir",
    "mcp.fs.list_directory",
];
/// Namespaces whose functions act without a row in the table.
const BY_HAND: [&str; 14] = [
    "globalThis",
    "mcp",
    "Deno",
    "Bun",
    "execa",
    "cross-spawn",
    "node:child_process",
    "node:http",
    "node:https",
    "node:module",
    "node:net",
    "node:os",
    "node:tls",
    "node:vm",
];

impl<'a> Reader<'a, '_> {
    /// Calls an API by its qualified name.
    pub fn call_api(&mut self, name: &str, receiver: Option<&Text>, arguments: &Arguments, at: Span) -> Value {
        if let Some(module) = name.find(".*").map(|end| &name[..end]) {
            self.computed_name(module, at);
            self.escape_all(arguments, at);
            return Value::Unknown;
        }
        if let Some(value) = self.listing(name, receiver, arguments, at) {
            return value;
        }
        if let (MADE, Some(code)) = (name, receiver) {
            return self.made(code);
        }
        if let Some(value) = self.by_hand(name, arguments, at) {
            self.escape_all(arguments, at);
            return value;
        }
        if let Some(value) = fold::call(name, arguments) {
            self.escape_all(arguments, at);
            return value;
        }
        let given = arguments.positional.iter().map(|value| self.plain(value, 0));
        let mut positional: Vec<Value> = given.map(|value| value.something().unwrap_or(Value::Nothing)).collect();
        self.escape_all(arguments, at);
        let Some(row) = self.row(name) else {
            return match name.strip_prefix("global.").and_then(|name| name.rsplit_once('.')) {
                Some((object, method)) => {
                    if !matches!(object, "console" | "jest" | "vi") {
                        self.hand_away(arguments, at);
                    }
                    self.unknown_method(method, arguments, at)
                }
                None => {
                    self.hand_to(name, arguments, at);
                    Value::Unknown
                }
            };
        };
        if row.starts_with("node:fs.")
            && let Some(file) = positional.first_mut()
            && is_descriptor(file)
        {
            *file = Value::Nothing;
        }
        let call = Call {
            name: &row,
            receiver,
            positional: &positional,
            named: &[],
            has_more: arguments.has_more,
        };
        let Some(Outcome { acts, gives }) = self.table.call(&call) else {
            return Value::Unknown;
        };
        for act in acts {
            self.note(based(act, receiver), name, at);
        }
        match gives {
            Some((class, text)) => Value::Instance(class, text),
            None if row == "node:fs.open" => Value::Instance("node:fs.FileHandle".into(), Some(arguments.at(0).text())),
            None if LISTS.contains(&&*row) => Value::List(vec![Value::Unknown].into()),
            None => Value::Unknown,
        }
    }

    /// Something of a module is called whose name is computed: noted, unless nothing of it does anything outside.
    pub fn computed_name(&mut self, module: &str, at: Span) {
        let by_hand = BY_HAND.iter().any(|name| {
            module
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        if !by_hand && (is_plain(module) || self.table.members(module).is_empty()) {
            return;
        }
        let by = format!("{module}[…]");
        if module == "node:child_process" {
            self.note(Act::Start(vec![Text::unknown()]), &by, at);
        }
        self.opaque(Opaque::ComputedName, &by, at);
    }

    /// The result of a function built from text: `Function('return globalThis')()`.
    fn made(&self, code: &Text) -> Value {
        let name = code.exact().and_then(|code| code.trim().strip_prefix("return "));
        match name.map(|name| name.trim().trim_end_matches(';').trim()) {
            Some("this") => module::global("globalThis", self.setting),
            Some(name)
                if name
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '_') =>
            {
                module::global(name, self.setting)
            }
            _ => Value::Unknown,
        }
    }

    /// `Object.assign(object, …)` where the object is of the script's own classes.
    fn assign_own(&mut self, own: usize, arguments: &Arguments) {
        for value in arguments.positional.iter().skip(1) {
            for (name, value) in self.fields(value) {
                if let Some(fields) = self.fields_of(own) {
                    set_field(fields, &name, value);
                }
            }
        }
    }

    /// The name under which the table has an API: as it is, without `Sync`, as another package's.
    pub fn row(&self, name: &str) -> Option<String> {
        let alone = name.strip_suffix("Sync").unwrap_or(name);
        if let Some(name) = [name, alone].into_iter().find(|name| self.table.has(name)) {
            return Some(name.to_string());
        }
        ALIASES.iter().find_map(|(from, to)| {
            let renamed = format!("{to}{}", alone.strip_prefix(from)?);
            self.row(&renamed)
        })
    }

    /// A value as the table reads it: the script's objects as records.
    fn plain(&self, value: &Value, depth: usize) -> Value {
        match value {
            Value::Own(_) if depth < 3 => {
                let fields = self.fields(value);
                let fields = fields
                    .iter()
                    .map(|(name, value)| (name.clone(), self.plain(value, depth + 1)));
                Value::Record(fields.collect::<Vec<_>>().into())
            }
            value => value.clone(),
        }
    }

    fn by_hand(&mut self, name: &str, arguments: &Arguments, at: Span) -> Option<Value> {
        let first = arguments.at(0);
        match name {
            "global.require" => return Some(self.import_computed(&first, at)),
            "node:module.createRequire" => return Some(Value::Api("global.require".into())),
            "global.eval" | "global.Function" => {
                let code = arguments.positional.last().cloned().unwrap_or(first);
                self.code(&code, name, at);
                if name == "global.Function" {
                    return Some(Value::Instance(MADE.into(), Some(code.text())));
                }
            }
            "global.Proxy" => {
                self.escape(&arguments.at(1), at);
                return Some(first);
            }
            "global.Object.values" | "global.Object.entries" => {
                let any = match &first {
                    Value::Api(module) if !module::is_environment(module) => self.any_field(&first, at),
                    _ => return None,
                };
                let any = match name {
                    "global.Object.values" => any,
                    _ => Value::List(vec![Value::Unknown, any].into()),
                };
                return Some(Value::List(vec![any].into()));
            }
            "node:sqlite.DatabaseSync"
            | "better-sqlite3"
            | "bun:sqlite"
            | "bun:sqlite.Database"
            | "sqlite3.Database" => {
                self.database(name, arguments, at);
            }
            "global.Reflect.get" => return Some(self.named_members(&first, &arguments.at(1), at)),
            "global.Reflect.apply" => {
                let given = Arguments::of(vec![arguments.at(1), arguments.at(2)]);
                return Some(self.method(&first, "apply", &given, at));
            }
            "global.Reflect.construct" => {
                let all = self.elements(&arguments.at(1));
                return Some(self.new_value(&first, &Arguments::known(all), at));
            }
            "global.Object.assign" => match &first {
                Value::Own(own) => {
                    self.assign_own(*own, arguments);
                    return Some(first);
                }
                _ => return None,
            },
            "node:vm.runInNewContext"
            | "node:vm.runInThisContext"
            | "node:vm.runInContext"
            | "node:vm.Script"
            | "node:vm.compileFunction" => self.code(&first, name, at),
            "global.setTimeout" | "global.setInterval" => match &first {
                Value::Text(_) => self.code(&first, name, at),
                Value::Api(_) => return Some(self.call_value(&first, None, &arguments.behind(2), at)),
                _ => return None,
            },
            "global.setImmediate" | "global.queueMicrotask" | "node:process.nextTick" => match &first {
                Value::Api(_) => return Some(self.call_value(&first, None, &arguments.behind(1), at)),
                _ => return None,
            },
            "global.Array.from" => match (&first, arguments.at(1)) {
                (Value::List(_), function @ Value::Api(_)) => {
                    return Some(self.method(&first, "map", &Arguments::of(vec![function]), at));
                }
                _ => return None,
            },
            "node:os.homedir" | "Deno.homeDir" => {
                return Some(self.variable(&"HOME".into(), name, at));
            }
            "Deno.env.get" | "Deno.env.has" | "Bun.env.get" => return Some(self.variable(&first.text(), name, at)),
            "Deno.env.toObject" => {
                self.note(Act::Variable(Text::unknown()), name, at);
            }
            "global.Promise" => {
                let given = Arguments::of(vec![Value::Unknown, Value::Unknown]);
                self.call_value(&first, None, &given, at);
            }
            "node:worker_threads.Worker" | "global.Worker" | "global.SharedWorker" => self.worker(name, arguments, at),
            _ if name.starts_with("mcp.api.") => self.note(Act::Connect(endpoint::url(arguments)), name, at),
            _ => {
                let acts = endpoint::acts(name, arguments)?;
                for act in acts {
                    self.note(act, name, at);
                }
                return Some(endpoint::gives(name));
            }
        }
        Some(Value::Unknown)
    }

    fn code(&mut self, code: &Value, by: &str, at: Span) {
        for code in code.alternatives() {
            match code {
                Value::Text(text) if text.exact().is_some() => self.note(Act::Code(self.language, text), by, at),
                _ => self.opaque(Opaque::BuiltCode, by, at),
            }
        }
    }

    /// Opens a database in a file, or one in memory.
    fn database(&mut self, by: &str, arguments: &Arguments, at: Span) {
        let options = arguments.at(1);
        let is_read = ["readonly", "readOnly"]
            .iter()
            .any(|name| options.field(name).and_then(Value::truth) == Some(true));
        for file in arguments.at(0).alternatives() {
            match (file.text(), is_read) {
                (path, _) if file == Value::Nothing || matches!(path.exact(), Some(":memory:" | "")) => {}
                (path, true) => self.note(Act::Read(path), by, at),
                (path, false) => self.note(Act::Write(path), by, at),
            }
        }
    }

    fn worker(&mut self, by: &str, arguments: &Arguments, at: Span) {
        let first = arguments.at(0);
        if arguments
            .at(1)
            .field("eval")
            .is_some_and(|eval| *eval == Value::Truth(true))
        {
            return self.code(&first, by, at);
        }
        let path = first.text();
        let path = path.without_start("file://").unwrap_or(path);
        self.opaque(Opaque::OtherFile(path.shown()), by, at);
        self.note(Act::Read(path), by, at);
    }

    /// A method of an unknown object: its name may tell what it does.
    pub fn unknown_method(&mut self, name: &str, arguments: &Arguments, at: Span) -> Value {
        let is_own = matches!(arguments.positional.first(), Some(Value::Own(_)));
        match name {
            "split" | "matchAll" => return Value::List(vec![Value::Unknown].into()),
            "map" | "flatMap" | "forEach" | "filter" | "find" | "findLast" | "some" | "every" if is_own => {
                let mut value = Value::Unknown;
                self.maybe(|reader| {
                    value = reader.array_method(&vec![Value::Unknown].into(), name, arguments, at);
                    Flow::Next
                });
                return value;
            }
            _ => {}
        }
        self.escape_all(arguments, at);
        let path = arguments.at(0).text();
        if READING.contains(&name) {
            self.guess(Act::Read(path), name, at);
        } else if WRITING.contains(&name) {
            self.guess(Act::Write(path), name, at);
        } else if matches!(name, "execSync" | "spawnSync") {
            self.guess(Act::Shell(path), name, at);
        }
        Value::Unknown
    }
}

/// Whether a file's number is given instead of its path: it was opened before, or is a standard stream.
fn is_descriptor(file: &Value) -> bool {
    match file {
        Value::Number(_) => true,
        Value::Api(name) => name.starts_with("node:process.std"),
        _ => false,
    }
}

/// A connection of a client with a base: to that, where its own target is relative.
fn based(act: Act, receiver: Option<&Text>) -> Act {
    match (act, receiver) {
        (Act::Connect(target), Some(base)) if !target.prefix().contains("://") && !base.is_unknown() => {
            Act::Connect(base.clone())
        }
        (act, _) => act,
    }
}

//! Parses one profile document: TOML text into values, each with its position.
//!
//! Looks at the text alone: no file, no inheritance, no machine. Collects every fault, so that a person can correct a
//! document in one go; a document with any fault yields no value.

use std::collections::HashMap;
use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::attempt::{Attempt, attempt};
use super::document::{Document, Extends, Source, Tests};
use super::error::{Complaint, DocumentFault, excerpt, listed, nearest};
use super::limits::{Limits, LimitsParseError, parse_count, parse_duration, parse_size};
use super::position::Positions;
use super::rule::{Origin, PathSpec, Rule};
use super::{Network, Pass, value};

/// The version of the format that this code parses.
const VERSION: u64 = 1;

/// More rules than this in one list are a mistake or an attack, and would slow down every launch.
const MAX_RULES: usize = 4096;

pub(super) const DOCUMENT_FIELDS: [&str; 16] = [
    "version",
    "name",
    "description",
    "extends",
    "scratch",
    "native-reads",
    "late-secrets",
    "read",
    "write",
    "exec",
    "deny",
    "network",
    "environment",
    "limits",
    "system-call",
    "tests",
];
pub(super) const NETWORK_FIELDS: [&str; 6] = ["all", "why", "host", "llm", "listen", "socket"];
pub(super) const ENVIRONMENT_FIELDS: [&str; 2] = ["pass", "name"];
pub(super) const LIMITS_FIELDS: [&str; 8] = [
    "time",
    "cpu",
    "memory",
    "processes",
    "open-files",
    "file-size",
    "disk",
    "output",
];
pub(super) const TESTS_FIELDS: [&str; 2] = ["must_allow", "must_deny"];

/// Parses a document. On failure returns every fault, in the order of the text.
///
/// If the text isn't valid TOML, reports only that: faults derived from a recovered tree could mislead.
///
/// # Errors
/// The faults, at least one.
pub fn parse(text: &str, source: &Source) -> Result<Document, Vec<DocumentFault>> {
    read_with(text, source, "profile", |reader, root| {
        let mut document = Document::saying_nothing();
        reader.document(root, &mut document);
        document
    })
}

/// Parses a document of any kind (`kind` names it in messages) with a function that turns its table into a value.
///
/// # Errors
/// All faults of the text.
pub fn read_with<T>(
    text: &str,
    source: &Source,
    kind: &'static str,
    read: impl FnOnce(&mut Reader<'_>, &DeTable<'_>) -> T,
) -> Result<T, Vec<DocumentFault>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    let complaints = errors.iter().map(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, Complaint::new(excerpt(error.message()).into_owned()))
    });
    read_root_with(text, source, kind, root.get_ref(), complaints.collect(), read)
}

/// The same for a table that was extracted from the text by the caller, with the faults found by that.
///
/// # Errors
/// All faults of the text.
pub fn read_root_with<T>(
    text: &str,
    source: &Source,
    kind: &'static str,
    root: &DeTable<'_>,
    complaints: Vec<(usize, Complaint)>,
    read: impl FnOnce(&mut Reader<'_>, &DeTable<'_>) -> T,
) -> Result<T, Vec<DocumentFault>> {
    let mut reader = Reader {
        source,
        kind,
        positions: Positions::of(text),
        faults: Vec::new(),
    };
    let is_whole = complaints.is_empty();
    complaints
        .into_iter()
        .for_each(|(at, complaint)| reader.fault(at, complaint));
    let is_readable = is_whole && reader.version(root);
    let value = is_readable.then(|| read(&mut reader, root));
    match value {
        Some(value) if reader.faults.is_empty() => Ok(value),
        _ => {
            reader.faults.sort_by_key(|fault| (fault.line, fault.column));
            Err(reader.faults)
        }
    }
}

/// A value and its position.
pub type Value<'t> = Spanned<DeValue<'t>>;
type SpannedKey<'t> = Spanned<std::borrow::Cow<'t, str>>;

/// Walks one document and collects its faults.
pub struct Reader<'t> {
    source: &'t Source,
    /// The kind of document, for messages.
    kind: &'static str,
    positions: Positions<'t>,
    faults: Vec<DocumentFault>,
}

/// The tables of a document.
impl Reader<'_> {
    /// Whether the document has the version that this code parses. One of another version isn't parsed further.
    fn version(&mut self, root: &DeTable<'_>) -> bool {
        let Some(version) = root.get("version") else {
            return true;
        };
        match self.integer(version) {
            Some(VERSION) => true,
            Some(other) => {
                let complaint = Complaint::new(format!("this is a {} of version {other}", self.kind))
                    .hint(format!("this Stockade reads version {VERSION}"));
                self.fault(version.span().start, complaint);
                false
            }
            None => false,
        }
    }

    fn document(&mut self, root: &DeTable<'_>, document: &mut Document) {
        self.required(root);
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "version" => {}
                "name" => document.name = self.name(value),
                "description" => document.description = self.parsed(value, value::line_of_text).unwrap_or_default(),
                "extends" => document.extends = self.extends(value),
                "scratch" => document.scratch = self.boolean(value),
                "native-reads" => document.native_reads = self.boolean(value),
                "late-secrets" => document.ends_for_late_secrets = self.late_secrets(value),
                "read" => document.read = self.paths(value, "read"),
                "write" => document.write = self.paths(value, "write"),
                "exec" => document.exec = self.paths(value, "exec"),
                "deny" => document.deny = self.rules(value, "deny", "glob", |r, v| r.parsed(v, value::glob)),
                "network" => self.network(value, document),
                "environment" => self.environment(value, document),
                "limits" => document.limits = self.limits(value),
                "system-call" => {
                    document.system_calls =
                        self.rules(value, "system-call", "name", |r, v| r.parsed(v, value::system_call));
                }
                "tests" => document.tests = self.tests(value),
                _ => self.unknown_field(key, "a profile", &DOCUMENT_FIELDS),
            }
        }
    }

    fn required(&mut self, root: &DeTable<'_>) {
        let missing: Vec<&str> = ["version", "name", "description"]
            .into_iter()
            .filter(|&field| !root.contains_key(field))
            .collect();
        if !missing.is_empty() {
            let verb = if missing.len() == 1 { "is" } else { "are" };
            let complaint = Complaint::new(format!("{} {verb} missing", listed(&missing)))
                .hint("a profile begins with `version = 1`, a `name` and a `description`");
            self.fault(0, complaint);
        }
    }

    fn name(&mut self, value: &Value<'_>) -> String {
        let Some(name) = self.parsed(value, value::profile_name) else {
            return String::new();
        };
        if let Some(expected) = self.source.name()
            && expected != name
        {
            let complaint = Complaint::new(format!(
                "the name is `{name}`, but the file's is `{}`",
                excerpt(expected)
            ))
            .hint("a profile is found by its file's name, so both must agree");
            self.fault(value.span().start, complaint);
        }
        name
    }

    fn extends(&mut self, value: &Value<'_>) -> Option<Extends> {
        let target = self.text(value)?.to_owned();
        let (line, column) = self.positions.line_and_column(value.span().start);
        Some(Extends { target, line, column })
    }

    fn network(&mut self, value: &Value<'_>, document: &mut Document) {
        let Some(table) = self.table(value, "[network]") else {
            return;
        };
        let mut hosts = None;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "host" => {
                    hosts = Some(self.rules(value, "network.host", "pattern", |r, v| r.parsed(v, value::host)));
                }
                "llm" => document.llm = self.boolean(value),
                "listen" => document.listen = self.rules(value, "network.listen", "port", Reader::port),
                "socket" => document.sockets = self.paths(value, "network.socket"),
                "all" | "why" => {}
                _ => self.unknown_field(key, "`network`", &NETWORK_FIELDS),
            }
        }
        let all = self.all_hosts(table);
        document.network = match (all, hosts) {
            (Some(Network::All(_)), Some(_)) => {
                let at = table.get("all").map_or(0, |all| all.span().start);
                let complaint = Complaint::new("`all = true` and `[[network.host]]` contradict each other")
                    .hint("keep `all` for every host, or the list for those hosts alone");
                self.fault(at, complaint);
                None
            }
            (_, Some(hosts)) => Some(Network::Hosts(hosts)),
            (all, None) => all,
        };
    }

    /// The meaning of `all` and its `why`: every host, no host, or unset.
    fn all_hosts(&mut self, table: &DeTable<'_>) -> Option<Network> {
        let why = table.get("why").and_then(|why| self.parsed(why, value::line_of_text));
        let all = table.get("all").and_then(|value| Some((value, self.boolean(value)?)));
        match all {
            Some((value, true)) => {
                let origin = self.source.origin(self.positions.line(value.span().start));
                Some(Network::All(Rule { value: (), why, origin }))
            }
            Some((_, false)) => Some(Network::None),
            None => {
                if let Some(why) = table.get("why") {
                    self.fault(
                        why.span().start,
                        Complaint::new("this `why` is the reason for `all`, which isn't here"),
                    );
                }
                None
            }
        }
    }

    fn environment(&mut self, value: &Value<'_>, document: &mut Document) {
        let Some(table) = self.table(value, "[environment]") else {
            return;
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "pass" => document.pass = self.pass(value),
                "name" => {
                    document.variables =
                        self.rules(value, "environment.name", "name", |r, v| r.parsed(v, value::variable));
                }
                _ => self.unknown_field(key, "`environment`", &ENVIRONMENT_FIELDS),
            }
        }
    }

    fn pass(&mut self, value: &Value<'_>) -> Option<Pass> {
        self.parsed(value, |text| match text {
            "none" => Ok(Pass::None),
            "limited" => Ok(Pass::Limited),
            "all" => Ok(Pass::All),
            _ => Err(
                Complaint::new(format!("`{}` isn't a group of variables", excerpt(text)))
                    .hint("write `none`, `limited` or `all`, and single variables as `[[environment.name]]`"),
            ),
        })
    }

    /// Whether they end the run.
    fn late_secrets(&mut self, value: &Value<'_>) -> Option<bool> {
        self.parsed(value, |text| match text {
            "tell" => Ok(false),
            "end" => Ok(true),
            _ => Err(Complaint::new(format!(
                "`{}` is neither `tell` nor `end`",
                excerpt(text)
            ))),
        })
    }

    /// Parses the table `limits`.
    pub fn limits(&mut self, value: &Value<'_>) -> Limits {
        let mut limits = Limits::NONE;
        let Some(table) = self.table(value, "[limits]") else {
            return limits;
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "time" => limits.time = self.limit(value, parse_duration),
                "cpu" => limits.cpu = self.limit(value, parse_duration),
                "memory" => limits.memory = self.limit(value, parse_size),
                "processes" => limits.processes = self.limit(value, parse_count),
                "open-files" => limits.open_files = self.limit(value, parse_count),
                "file-size" => limits.file_size = self.limit(value, parse_size),
                "disk" => limits.disk = self.limit(value, parse_size),
                "output" => limits.output = self.limit(value, parse_size),
                _ => self.unknown_field(key, "`limits`", &LIMITS_FIELDS),
            }
        }
        limits
    }

    /// Parses a limit from text, or from a bare integer if it is a count or in seconds; a size needs its unit.
    fn limit<T>(&mut self, value: &Value<'_>, parse: fn(&str) -> Result<T, LimitsParseError>) -> Option<T> {
        let parsed = match value.get_ref() {
            DeValue::String(text) => parse(text),
            DeValue::Integer(integer) if integer.radix() == 10 => parse(integer.as_str()),
            _ => {
                self.wrong_type(value, "a string or an integer", None);
                return None;
            }
        };
        parsed
            .map_err(|error| {
                let mut complaint = Complaint::new(error.to_string());
                complaint.hint = error.hint();
                self.fault(value.span().start, complaint);
            })
            .ok()
    }

    fn tests(&mut self, value: &Value<'_>) -> Tests {
        let mut tests = Tests {
            must_allow: Vec::new(),
            must_deny: Vec::new(),
        };
        let Some(table) = self.table(value, "[tests]") else {
            return tests;
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "must_allow" => tests.must_allow = self.attempts(value, "must_allow"),
                "must_deny" => tests.must_deny = self.attempts(value, "must_deny"),
                _ => self.unknown_field(key, "`tests`", &TESTS_FIELDS),
            }
        }
        tests
    }
}

/// Lists of rules.
impl Reader<'_> {
    fn paths(&mut self, value: &Value<'_>, list: &str) -> Vec<Rule<PathSpec>> {
        self.rules(value, list, "path", |r, v| r.parsed(v, value::path))
    }

    /// An array of tables, each with `field` and an optional `why`.
    fn rules<T: fmt::Display>(
        &mut self,
        value: &Value<'_>,
        list: &str,
        field: &'static str,
        read: fn(&mut Self, &Value<'_>) -> Option<T>,
    ) -> Vec<Rule<T>> {
        let hint = format!("write one `[[{list}]]` table for each, with `{field}` and `why`");
        let tables = self.tables(value, list, &hint);
        let count = tables.len();
        let mut rules = Vec::with_capacity(count);
        let mut seen = HashMap::new();
        for (table, at) in tables {
            self.check_rule_fields(table, list, field);
            let why = table.get("why").and_then(|why| self.parsed(why, value::line_of_text));
            let Some(target) = table.get(field) else {
                self.fault(at, Complaint::new(format!("this `{list}` has no `{field}`")));
                continue;
            };
            let Some(value) = read(self, target) else {
                continue;
            };
            let line = self.positions.line(target.span().start);
            // A list of one has no duplicates; most lists of shipped profiles are that short.
            if count > 1
                && let Some(first) = seen.insert(value.to_string(), line)
            {
                let text = value.to_string();
                let complaint = Complaint::new(format!("`{}` already stands in line {first}", excerpt(&text)));
                self.fault(target.span().start, complaint);
                continue;
            }
            rules.push(Rule {
                value,
                why,
                origin: self.source.origin(line),
            });
        }
        rules
    }

    fn check_rule_fields(&mut self, table: &DeTable<'_>, list: &str, field: &'static str) {
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if name != field && name != "why" {
                self.unknown_field(key, &format!("`{list}`"), &[field, "why"]);
            }
        }
    }

    fn port(&mut self, value: &Value<'_>) -> Option<u16> {
        let number = self.integer(value)?;
        match u16::try_from(number) {
            Ok(port) => Some(port),
            Err(_) => {
                let complaint = Complaint::new(format!("{number} isn't a port"))
                    .hint("ports are 1 to 65535; 0 is one that the kernel chooses");
                self.fault(value.span().start, complaint);
                None
            }
        }
    }
}

/// Single values and their faults.
impl Reader<'_> {
    /// Records a fault at a byte offset of the text.
    pub fn fault(&mut self, at: usize, complaint: Complaint) {
        let (line, column) = self.positions.line_and_column(at);
        let Complaint { message, hint } = complaint;
        self.faults.push(DocumentFault {
            file: self.source.to_string(),
            line,
            column,
            message,
            hint,
        });
    }

    /// The origin of a value at this offset.
    pub fn origin(&self, at: usize) -> Origin {
        self.source.origin(self.positions.line(at))
    }

    /// Records an unknown field of a table.
    pub fn unknown_field(&mut self, key: &SpannedKey<'_>, table: &str, known: &[&'static str]) {
        let name = key.get_ref().as_ref();
        let hint = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the fields are {}", listed(known)),
        };
        let complaint = Complaint::new(format!("{table} has no field `{}`", excerpt(name))).hint(hint);
        self.fault(key.span().start, complaint);
    }

    /// Records a value of an unexpected type.
    pub fn wrong_type(&mut self, value: &Value<'_>, expected: &str, hint: Option<String>) {
        let message = format!("expected {expected}, found {}", type_text(value.get_ref()));
        self.fault(value.span().start, Complaint { message, hint });
    }

    fn text<'v>(&mut self, value: &'v Value<'_>) -> Option<&'v str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(value, "a string", None);
        }
        text
    }

    fn attempts(&mut self, value: &Value<'_>, list: &str) -> Vec<Rule<Attempt>> {
        let length = value.get_ref().as_array().map_or(0, |array| array.len());
        if self.is_too_long(value, list, length) {
            return Vec::new();
        }
        let attempts = self.all_parsed(value, attempt);
        let rule = |(value, line)| Rule {
            value,
            why: None,
            origin: self.source.origin(line),
        };
        attempts.into_iter().map(rule).collect()
    }

    /// Parses a string, and records the complaint if it is invalid.
    pub fn parsed<T>(&mut self, value: &Value<'_>, parse: fn(&str) -> Result<T, Complaint>) -> Option<T> {
        let text = self.text(value)?;
        parse(text)
            .map_err(|complaint| self.fault(value.span().start, complaint))
            .ok()
    }

    /// Parses the strings of an array, each with its line.
    pub fn all_parsed<T>(&mut self, value: &Value<'_>, parse: fn(&str) -> Result<T, Complaint>) -> Vec<(T, usize)> {
        let DeValue::Array(array) = value.get_ref() else {
            self.wrong_type(value, "an array of strings", None);
            return Vec::new();
        };
        let mut values = Vec::with_capacity(array.len());
        for entry in array.iter() {
            let line = self.positions.line(entry.span().start);
            values.extend(self.parsed(entry, parse).map(|value| (value, line)));
        }
        values
    }

    /// The tables of an array, each with its offset.
    pub fn tables<'v, 't>(&mut self, value: &'v Value<'t>, list: &str, hint: &str) -> Vec<(&'v DeTable<'t>, usize)> {
        let DeValue::Array(array) = value.get_ref() else {
            self.wrong_type(value, "an array of tables", Some(hint.to_owned()));
            return Vec::new();
        };
        if self.is_too_long(value, list, array.len()) {
            return Vec::new();
        }
        let mut tables = Vec::with_capacity(array.len());
        for entry in array.iter() {
            match entry.get_ref() {
                DeValue::Table(table) => tables.push((table, entry.span().start)),
                _ => self.wrong_type(entry, "a table", Some(hint.to_owned())),
            }
        }
        tables
    }

    /// Whether a list exceeds the maximum length; records a fault if so.
    pub fn is_too_long(&mut self, value: &Value<'_>, list: &str, length: usize) -> bool {
        let is_too_long = length > MAX_RULES;
        if is_too_long {
            let complaint = Complaint::new(format!("`{list}` has {length} rules; at most {MAX_RULES} are read"));
            self.fault(value.span().start, complaint);
        }
        is_too_long
    }

    fn boolean(&mut self, value: &Value<'_>) -> Option<bool> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.wrong_type(value, "`true` or `false`", None);
        }
        boolean
    }

    fn integer(&mut self, value: &Value<'_>) -> Option<u64> {
        let DeValue::Integer(integer) = value.get_ref() else {
            self.wrong_type(value, "an integer", None);
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        if number.is_none() {
            let complaint = Complaint::new(format!("`{}` is out of range", excerpt(integer.as_str())));
            self.fault(value.span().start, complaint);
        }
        number
    }

    /// A table; the fault names the header that a person would write.
    pub fn table<'v, 't>(&mut self, value: &'v Value<'t>, header: &str) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(
                value,
                "a table",
                Some(format!("write `{header}` with its fields below")),
            );
        }
        table
    }
}

fn type_text(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::super::SHIPPED;
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = "version = 1\nname = \"mine\"\ndescription = \"d\"\n";

    fn source() -> Source {
        Source::File("mine.toml".into())
    }

    fn document(lines: &str) -> Document {
        parse(&format!("{HEAD}{lines}"), &source()).unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    /// The faults of a document with these lines after a three-line head, with their hints.
    fn faults(lines: &str) -> Vec<String> {
        let faults = parse(&format!("{HEAD}{lines}"), &source()).expect_err("the document has faults");
        let hint = |fault: &DocumentFault| fault.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        faults.iter().map(|fault| format!("{fault}{}", hint(fault))).collect()
    }

    fn fault(lines: &str) -> String {
        let faults = faults(lines);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.into_iter().next().unwrap()
    }

    #[test]
    fn every_field_of_the_format_is_read() {
        let document = document(
            "extends = 'minimal'\nscratch = true\n\
             [[read]]\npath = './data'\nwhy = 'the data'\n[[write]]\npath = '/tmp'\n[[exec]]\npath = '/'\n\
             [[deny]]\nglob = '**/private/**'\n\
             [[network.host]]\npattern = 'api.*'\n[[network.listen]]\nport = 8080\n[[network.socket]]\npath = '/run/x.sock'\n\
             [environment]\npass = 'limited'\n[[environment.name]]\nname = 'FOO'\n\
             [limits]\ntime = '30s'\ncpu = 90\nmemory = '1G'\nprocesses = 64\nopen-files = '10'\nfile-size = '1024B'\ndisk = '1M'\noutput = '1K'\n\
             [[system-call]]\nname = 'ptrace'\n[tests]\nmust_allow = ['read ./data']\nmust_deny = []\n",
        );
        assert_eq!(
            document.extends,
            Some(Extends {
                target: "minimal".into(),
                line: 4,
                column: 11
            })
        );
        assert_eq!(document.read[0].value.to_string(), "./data");
        assert_eq!(document.read[0].why.as_deref(), Some("the data"));
        assert_eq!(document.read[0].origin.to_string(), "mine.toml:7");
        assert_eq!(document.listen[0].value, 8080);
        assert_eq!(document.sockets[0].value.to_string(), "/run/x.sock");
        assert_eq!((document.scratch, document.pass), (Some(true), Some(Pass::Limited)));
        assert!(matches!(&document.network, Some(Network::Hosts(hosts)) if hosts[0].value.to_string() == "api.*"));
        let limits = "time 30s, cpu 90s, memory 1G, processes 64, open-files 10, file-size 1K, disk 1M, output 1K";
        assert_eq!(document.limits.to_string(), limits);
        assert_eq!(document.system_calls[0].value, "ptrace");
        assert_eq!(document.variables[0].value, "FOO");
        assert_eq!(document.tests.must_allow[0].value.to_string(), "read ./data");
        assert_eq!(document.tests.must_allow[0].origin.to_string(), "mine.toml:37");
    }

    #[test]
    fn a_list_may_be_written_inline() {
        let document = document("read = [\n  { path = './a' },\n  { path = './b' },\n]");
        assert_eq!(document.read[1].origin.to_string(), "mine.toml:6");
    }

    #[test]
    fn an_unknown_field_is_told_at_its_place_with_what_was_meant() {
        insta::assert_snapshot!(fault("[[read]]\n  pth = './a'\n  path = './a'"), @"mine.toml:5:3: `read` has no field `pth` (did you mean `path`?)");
        insta::assert_snapshot!(fault("descripton = 'x'"), @"mine.toml:4:1: a profile has no field `descripton` (did you mean `description`?)");
        insta::assert_snapshot!(fault("[limits]\nmem = '1G'\n"), @"mine.toml:5:1: `limits` has no field `mem` (the fields are `time`, `cpu`, `memory`, `processes`, `open-files`, `file-size`, `disk` and `output`)");
        insta::assert_snapshot!(fault("[network]\nhosts = ['a']\n"), @"mine.toml:5:1: `network` has no field `hosts` (did you mean `host`?)");
        insta::assert_snapshot!(fault("[environment]\n'kubernetes' = 1\n"), @"mine.toml:5:1: `environment` has no field `kubernetes` (the fields are `pass` and `name`)");
    }

    #[test]
    fn a_wrong_type_says_what_was_expected_and_what_was_found() {
        insta::assert_snapshot!(fault("scratch = 'yes'"), @"mine.toml:4:11: expected `true` or `false`, found a string");
        insta::assert_snapshot!(fault("[read]\npath = './a'"), @"mine.toml:4:1: expected an array of tables, found a table (write one `[[read]]` table for each, with `path` and `why`)");
        insta::assert_snapshot!(fault("read = ['./a']"), @"mine.toml:4:9: expected a table, found a string (write one `[[read]]` table for each, with `path` and `why`)");
        insta::assert_snapshot!(fault("[[read]]\npath = 1"), @"mine.toml:5:8: expected a string, found an integer");
        insta::assert_snapshot!(fault("network = 'all'"), @"mine.toml:4:11: expected a table, found a string (write `[network]` with its fields below)");
        insta::assert_snapshot!(fault("[limits]\nmemory = 1.5"), @"mine.toml:5:10: expected a string or an integer, found a float");
        insta::assert_snapshot!(fault("[tests]\nmust_allow = 2020-01-01"), @"mine.toml:5:14: expected an array of strings, found a date or time");
    }

    #[test]
    fn all_faults_are_collected_in_the_order_of_the_text() {
        let found = faults(
            "scratch = 1\n[[read]]\npath = '../x'\n[[read]]\nwhy = 'w'\n[limits]\ntime = '0s'\n\
             [environment]\nname = [{ name = 'LD_PRELOAD' }, { name = 'ü ö', zzzzzzz = 1 }]\npass = 'some'\n",
        );
        insta::assert_snapshot!(found.join("\n"), @"
        mine.toml:4:11: expected `true` or `false`, found an integer
        mine.toml:6:8: the path `../x` contains `..` (write the place that it means)
        mine.toml:7:1: this `read` has no `path`
        mine.toml:10:8: `0s` is zero: a limit is at least 1; leave it out for the default
        mine.toml:12:18: `LD_PRELOAD` can't be passed: it tells the loader or the C library which code or files to use
        mine.toml:12:43: `ü ö` isn't the name of a variable (names have letters, digits and `_`, and are given one by one, without `*` or a value)
        mine.toml:12:50: `environment.name` has no field `zzzzzzz` (the fields are `name` and `why`)
        mine.toml:13:8: `some` isn't a group of variables (write `none`, `limited` or `all`, and single variables as `[[environment.name]]`)
        ");
    }

    #[test]
    fn text_that_is_not_toml_is_told_with_its_place() {
        let found = faults("[[read]\npath = './a'\nname = name\n");
        assert!(found.len() > 1, "{found:?}");
        assert!(found[0].starts_with("mine.toml:4:"), "{found:?}");
        assert!(fault("name = 'again'").contains("duplicate key"));
        assert!(fault("why = 'a\0b'").starts_with("mine.toml:4:"));
    }

    #[test]
    fn an_empty_document_lacks_what_every_profile_has() {
        let found = parse("", &source()).unwrap_err();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].to_string(),
            "mine.toml:1:1: `version`, `name` and `description` are missing"
        );
    }

    #[test]
    fn another_version_is_told_before_its_unknown_fields() {
        let found = parse("version = 2\nreads = 1\n", &source()).unwrap_err();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "mine.toml:1:11: this is a profile of version 2");
        let found = parse("\u{feff}version = 2\r\n", &source()).unwrap_err();
        assert_eq!(found[0].column, 11, "a byte order mark is no column");
        assert!(parse("version = -1\n", &source()).is_err());
        assert!(parse("version = '1'\n", &source()).is_err());
    }

    #[test]
    fn the_name_agrees_with_the_file_s() {
        let found = parse("version = 1\nname = 'yours'\ndescription = 'd'", &source()).unwrap_err();
        assert_eq!(
            found[0].to_string(),
            "mine.toml:2:8: the name is `yours`, but the file's is `mine`"
        );
    }

    #[test]
    fn contradictions_and_duplicates_are_refused() {
        insta::assert_snapshot!(fault("[network]\nall = true\n[[network.host]]\npattern = 'a.b'\n"), @"mine.toml:5:7: `all = true` and `[[network.host]]` contradict each other (keep `all` for every host, or the list for those hosts alone)");
        insta::assert_snapshot!(fault("read = [{ path = './a' }, { path = './/a/' }]"), @"mine.toml:4:36: `./a` already stands in line 4");
        insta::assert_snapshot!(fault("[network]\nwhy = 'w'\n"), @"mine.toml:5:7: this `why` is the reason for `all`, which isn't here");
    }

    #[test]
    fn no_network_at_all_can_be_said_and_hosts_can_be_an_empty_list() {
        assert_eq!(document("network.all = false").network, Some(Network::None));
        assert_eq!(document("network.listen = [{ port = 1 }]").network, None);
        assert_eq!(
            document("network.host = []").network,
            Some(Network::Hosts(vec![])),
            "never every host"
        );
    }

    #[test]
    fn ports_and_limits_are_in_range() {
        for port in ["65536", "-1", "99999999999999999999999", "'80'"] {
            fault(&format!("network.listen = [{{ port = {port} }}]"));
        }
        for limit in [
            "time = 0",
            "time = -1",
            "memory = '0M'",
            "processes = 0x0",
            "disk = '99999999T'",
            "cpu = ''",
        ] {
            fault(&format!("limits.{limit}"));
        }
    }

    #[test]
    fn a_size_without_its_unit_is_refused_where_it_stands() {
        insta::assert_snapshot!(fault("[limits]\nmemory = 256"), @"mine.toml:5:10: `256` has no unit (write `256M` for mebibytes, or `K`, `G`, `T` or `B` for bytes)");
        insta::assert_snapshot!(fault("[limits]\ndisk = '256'"), @"mine.toml:5:8: `256` has no unit (write `256M` for mebibytes, or `K`, `G`, `T` or `B` for bytes)");
    }

    #[test]
    fn a_nul_in_a_path_is_refused() {
        assert!(fault("read = [{ path = \"/a\\u0000b\" }]").contains("contains a NUL"));
    }

    #[test]
    fn deep_nesting_and_long_lists_are_refused_without_a_panic() {
        let deep = "[".repeat(100_000);
        assert!(!faults(&format!("read = {deep}")).is_empty());
        assert!(!faults(&format!("{}x = 1", "a.".repeat(10_000))).is_empty());
        let long = "{path='/'},".repeat(MAX_RULES + 1);
        assert!(fault(&format!("read = [{long}]")).contains("at most 4096"));
    }

    #[test]
    fn what_a_stranger_wrote_is_shown_with_its_escapes_spelled_out() {
        let found = fault("\"\\u001b[2J\" = 1");
        assert!(!found.contains('\u{1b}') && found.contains("\\u{1b}"), "{found}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn no_text_makes_parsing_panic(text in any::<String>()) {
            let _ = parse(&text, &source());
        }

        #[test]
        fn no_toml_of_this_shape_makes_parsing_panic(text in "(version|name|read|network|limits|\\[|\\]|\\.|=|'|\"|\\{|\\}|,|\n|1|true| |\\\\u00)*") {
            let _ = parse(&text, &source());
        }

        #[test]
        fn no_mutation_of_a_shipped_profile_makes_parsing_panic(
            which in 0..SHIPPED.len(),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, any::<char>()), 1..12),
        ) {
            let (name, text) = SHIPPED[which];
            let mut characters: Vec<char> = text.chars().collect();
            for (index, removed, inserted) in edits {
                let at = index.index(characters.len() + 1);
                let end = (at + removed).min(characters.len());
                characters.splice(at..end, [inserted]);
            }
            let mutated: String = characters.into_iter().collect();
            if let Err(faults) = parse(&mutated, &Source::Shipped(name)) {
                prop_assert!(!faults.is_empty());
                prop_assert!(faults.is_sorted_by_key(|fault| (fault.line, fault.column)));
            }
        }
    }
}

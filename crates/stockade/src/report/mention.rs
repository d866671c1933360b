//! Whether and how a text names a path: the text is the program's output, or the words of its command line.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::policy::Kind;

/// The way in which a text names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mention {
    /// Not at all.
    None,
    /// By name.
    Named,
    /// On a line that reports a failure.
    Blamed,
}

/// Words for a refusal, each a word prefix. A program that prints one was refused something and noticed it.
const REFUSED: &[&str] = &[
    "denied",
    "not permitted",
    "permission",
    "eacces",
    "eperm",
    "read-only",
    "readonly",
    "accessdeniedexception",
    "not supported",
];
/// Words for any failure.
const FAILED: &[&str] = &[
    "error",
    "exception",
    "fail",
    "fatal",
    "unable",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unreachable",
    "unavailable",
    "refused",
    "no such",
    "not found",
    "missing",
    // Resolver errors of the C library, Node and Go.
    "not known",
    "enotfound",
    "no such host",
];
/// Words for something optional, on the line that reports it.
const WITHOUT: &[&str] = &[
    "ignor",
    "skipp",
    "disabled",
    "fall back",
    "falling back",
    "fallback",
    "optional",
    "continuing",
    "default",
];
/// Words of a warning about something that may be optional.
const WARNS: &[&str] = &["warn", "note:", "debug", "retry"];
/// Words for something that is missing or didn't work, as after a refusal.
const LACKS: &[&str] = &[
    "no ",
    "not ",
    "n't ",
    "missing",
    "fail",
    "cannot",
    "unable",
    "lost",
    "unavailable",
    "offline",
    "without",
    "skipped",
    "closed",
    "unknown",
    "incomplete",
    "unreadable",
    "only 0",
    "nothing",
    "giving up",
    "gave up",
    "absent",
    "unusable",
    "could not",
    "notfound",
];
/// Words for something that exists and is wrong, which no refusal causes.
const WRONG: &[&str] = &[
    "invalid",
    "bad ",
    "reject",
    "expected",
    "issues",
    "problems",
    "differ",
    "out of range",
    "assert",
    "syntax",
    "too many",
    "too few",
    "duplicate",
    "already",
    "conflict",
    "illegal",
    "malformed",
    "unsupported",
    "violat",
    "constraint",
    "licen",
    "wrong",
    "usage:",
    "unrecognized",
    "unknown option",
    "no rule to make",
    "parameter not set",
    "unbound variable",
    "matched",
    "' is not ",
    "\" is not ",
    "is not a ",
    "at least",
    "cycle",
    "no such table",
    "no such column",
    "double free",
];
/// Words for a missing value, such as one that couldn't be read.
const NO_VALUE: &[&str] = &[
    "nonetype",
    "of undefined",
    "is undefined",
    "undefined value",
    "of null",
    "is null",
    "nullpointerexception",
    "nil pointer",
    "for nil",
    "by zero",
    "is empty",
    "uninitialized value",
];
/// Words for a number or a text that is wrong because it is empty.
const EMPTY: &[&str] = &["have 0", "got 0", "found 0", "but 0", "''", "\"\"", "(none)"];
/// Words of a failed connection.
const NETWORK: &[&str] = &[
    "getaddrinfo",
    "eai_again",
    "enotfound",
    "resolve host",
    "name resolution",
    "name or service",
    "connectionerror",
    "connection refused",
    "connection error",
    "econnrefused",
    "unreachable",
    "urlerror",
    "unknownhost",
    "connectexception",
    "socketexception",
    "failed to connect",
    "couldn't connect",
    "fetch failed",
    "unresolvedaddress",
    "could not find a version that satisfies",
    "no matching distribution found",
    "could not transfer artifact",
    "failed to fetch",
];
/// Lines that only report that something else failed: test runners, make, npm, a parent process.
const BOILERPLATE: &[&str] = &[
    "make: ***",
    "make[",
    "make: target",
    "npm error",
    "npm err!",
    "node.js v",
    "ran ",
    "failed (",
    "=====",
    "-----",
    "at ",
    "from ",
    "file \"",
    "^",
    "~",
    "calledprocesserror",
    "subprocess.calledprocesserror",
    "error: command failed",
    "traceback (most",
    "exception in thread",
    "> ",
];
/// Phrases that join the parts of one error.
const JOINS: &[&str] = &["during handling of", "direct cause of", "caused by"];
/// Exceptions that a refusal raises, or that may stand for any error.
const REFUSALS_OWN: &[&str] = &[
    "PermissionError",
    "OSError",
    "IOError",
    "EnvironmentError",
    "FileNotFoundError",
    "FileNotFoundException",
    "AccessDeniedException",
    "NoSuchFileException",
    "IOException",
    "UncheckedIOException",
    "FileSystemException",
    "Error",
    "RuntimeError",
    "AssertionError",
    "RuntimeException",
    "Exception",
    "ExecutionException",
    "CompletionException",
    "AggregateError",
    "OperationalError",
    "CalledProcessError",
    "ConnectionError",
    "ConnectionRefusedError",
    "URLError",
    "gaierror",
    "SocketException",
    "ConnectException",
    "UnknownHostException",
    "ImportError",
    "ModuleNotFoundError",
    "SystemExit",
    "DatabaseError",
    "ExceptionInInitializerError",
    "BindException",
    "NotADirectoryError",
    "BackendUnavailable",
];

/// A text's subject, judged by its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tone {
    /// The last line that reports an error that no refusal causes.
    pub own_line: Option<usize>,
    /// The Python module that wasn't found.
    pub missing_module: Option<String>,
    /// The line at its end that reports a missing value.
    pub lacks_value: Option<usize>,
    /// Whether its end reports that something exists and is wrong.
    pub is_wrong: bool,
    /// Whether it ends in an assertion without a message.
    pub is_bare_assertion: bool,
    /// Whether it reports on a connection.
    pub is_of_network: bool,
    /// Whether it reports a refusal, and not as a warning.
    pub tells_of_refusal: bool,
    /// Whether it only reports that something else failed.
    pub is_boilerplate: bool,
    /// Whether its end reports that something is missing.
    pub lacks: bool,
    /// Whether its end doesn't say what is wrong.
    pub is_vague: bool,
}

impl Tone {
    /// Judges a text's lines.
    pub fn of(text: &str) -> Tone {
        let lines: Vec<&str> = text.lines().collect();
        let joined = lines.iter().rposition(|line| has_any(line, JOINS));
        // A consequence of a refusal: a file that couldn't be created doesn't exist.
        let follows = |at: usize| is_absent(lines[at]) && refused_in(&lines[..at]);
        let is_own = |at: &usize| {
            !follows(*at) && is_own(lines[*at]) && joined.is_none_or(|joined| *at < joined || !refused_in(&lines))
        };
        let significant = lines.iter().rev().find(|line| !is_boilerplate(line));
        let last = significant.copied().unwrap_or_default();
        let is_wrong = has_any(last, WRONG) && !has_any(last, EMPTY);
        let own_line = (0..lines.len()).rev().find(is_own);
        // A class that no refusal raises, for what it may lead to.
        let nothing = (0..lines.len())
            .rev()
            .find(|at| exception(lines[*at]).is_some() && has_any(lines[*at], NO_VALUE))
            .or_else(|| has_any(last, NO_VALUE).then(|| lines.len().saturating_sub(1)));
        let lacks_value = nothing.filter(|at| own_line.is_none_or(|own| own <= *at));
        Tone {
            own_line: own_line.filter(|_| lacks_value.is_none()),
            lacks_value,
            is_wrong,
            missing_module: lines.iter().rev().find_map(|line| missing_module(line)),
            is_bare_assertion: last.trim() == "AssertionError",
            is_of_network: lines.iter().any(|line| has_any(line, NETWORK)),
            tells_of_refusal: lines.iter().any(|line| tells_of_refusal(line) && !is_tolerated(line)),
            is_boilerplate: significant.is_none(),
            lacks: has_any(last, LACKS) && !is_wrong,
            is_vague: !is_wrong,
        }
    }
}

impl Tone {
    /// Whether it reports an error that no refusal causes.
    pub fn is_of_own(&self) -> bool {
        self.own_line.is_some() || self.is_wrong
    }
}

/// The last line that doesn't only report that something else failed.
pub fn last_message(text: &str) -> &str {
    text.lines()
        .rev()
        .find(|line| !is_boilerplate(line))
        .unwrap_or_default()
}

/// Whether a text reports no failure, or only missing optional things.
pub fn tells_of_no_failure(text: &str) -> bool {
    let is_harmless = |line: &str| {
        is_tolerated(line)
            || !(tells_of_refusal(line) || has_any(line, FAILED) || has_any(line, LACKS) || has_any(line, WRONG))
    };
    !Tone::of(text).is_of_own() && text.lines().all(is_harmless)
}

fn refused_in(lines: &[&str]) -> bool {
    lines.iter().any(|line| tells_of_refusal(line))
}

fn is_boilerplate(line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    !line.contains(char::is_alphanumeric) || BOILERPLATE.iter().any(|start| line.starts_with(start))
}

/// Whether a line is an error that no refusal causes: an exception of another class, a missing command.
fn is_own(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let is_rules = lower.contains("no rule to make target") || line.starts_with("Error [ERR_");
    let is_command = lower.ends_with(": not found") || lower.ends_with("command not found");
    let is_absent = is_absent(line);
    // An application's error; the system's has a number.
    let is_applications = line.starts_with("PermissionError: ") && !line.contains("[Errno");
    let is_compilers = lower.contains(": error: ")
        && lower
            .split(':')
            .nth(1)
            .is_some_and(|part| part.trim().parse::<u32>().is_ok());
    // A library's exception for a refusal has its own class and the system's words.
    let is_systems = tells_of_refusal(line) || has_any(line, NETWORK);
    let is_exception = exception(line).is_some_and(|class| !REFUSALS_OWN.contains(&class)) && !is_systems;
    is_rules || is_command || is_absent || is_applications || is_compilers || is_exception
}

fn is_absent(line: &str) -> bool {
    has_any(line, &["no such file", "enoent"])
}

/// The class at the start of a line: `java.lang.ArithmeticException: / by zero`, `TypeError: …`, `MemoryError`.
fn exception(line: &str) -> Option<&str> {
    let line = line
        .trim_start_matches("Exception in thread \"main\" ")
        .trim_start_matches("Uncaught ");
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || "._$".contains(c)))
        .unwrap_or(line.len());
    // Ruby has it at the end, in brackets.
    if let Some((_, class)) = line.strip_suffix(')').and_then(|line| line.rsplit_once(" ("))
        && class.ends_with("Error")
        && class.chars().all(char::is_alphanumeric)
    {
        return Some(class);
    }
    let class = line[..end].rsplit(['.', '$']).next()?;
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase())
        && ["Error", "Exception", "Exit", "Failure"]
            .iter()
            .any(|ending| class.ends_with(ending));
    (is_class && (line[end..].is_empty() || line[end..].starts_with([':', ' ']))).then_some(class)
}

/// `ModuleNotFoundError: No module named 'x.y'`: `x`.
fn missing_module(line: &str) -> Option<String> {
    let (_, name) = line.split_once("No module named ")?;
    let name = name.trim_matches(|c: char| "'\"".contains(c) || c.is_whitespace());
    Some(name.split('.').next()?.to_string())
}

/// Words that may name a program that wasn't found: a shell's `tool: not found`, make's
/// `tool: No such file or directory`, Node's `spawn tool ENOENT`, Python's `No such file or directory: 'tool'`, a
/// script's `tool: please install it`. The caller must look up whether one is a program that the run lacks.
pub fn missing_programs(text: &str) -> impl Iterator<Item = &str> {
    const SAYS: [&str; 6] = [
        "not found",
        "no such file",
        "enoent",
        "please install",
        "cannot run program",
        "not installed",
    ];
    const MOST: usize = 32;
    let lines = text.lines().rev().filter(|line| has_any(line, &SAYS));
    let is_part = |c: char| c.is_alphanumeric() || "._+-/".contains(c);
    let words = lines.flat_map(move |line| line.split(move |c: char| !is_part(c)));
    words.filter(|word| !word.is_empty() && !word.contains('/')).take(MOST)
}

/// The hosts that a text about a connection names: addresses, and words in a URL or right after the phrases for it.
pub fn hosts(text: &str) -> impl Iterator<Item = &str> {
    const BEFORE: [&str; 8] = [
        "connect to ",
        "resolve host: ",
        "lookup ",
        "enotfound ",
        "eai_again ",
        "econnrefused ",
        "://",
        "host ",
    ];
    text.lines().flat_map(|line| {
        let lower = line.to_ascii_lowercase();
        let after: Vec<usize> = BEFORE
            .iter()
            .flat_map(|before| lower.match_indices(before).map(|(at, _)| at + before.len()))
            .collect();
        let named = after.into_iter().filter_map(|at| line.get(at..));
        let host = |rest: &'_ str| {
            rest.find(|c: char| !(c.is_alphanumeric() || ".-".contains(c)))
                .unwrap_or(rest.len())
        };
        named
            .map(move |rest| &rest[..host(rest)])
            .filter(|name| name.contains('.') || *name == "localhost")
    })
}

/// Whether a text names a file, by its path or by its name with an extension.
pub fn names_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let has_ending = name.trim_start_matches('.').contains('.');
    mention(text, &[path]) != Mention::None || has_ending && mention(text, &[name]) != Mention::None
}

/// The first of these variables that a text names as a word, except in a warning.
pub fn named_variable<'v>(text: &str, variables: &'v [String]) -> Option<&'v str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let names = |line: &str, name: &str| {
        let mut found = line.match_indices(name);
        found.any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part))
    };
    let is_one = |name: &&String| {
        let mut lines = text
            .lines()
            .filter(|line| !line.starts_with("    ") && !is_tolerated(line));
        name.len() > 2 && name.chars().all(|c| !c.is_lowercase()) && lines.any(|line| names(line, name))
    };
    variables.iter().find(is_one).map(String::as_str)
}

/// Whether a text ends with a key or property that something lacks.
pub fn tells_of_an_absent_key(text: &str) -> bool {
    has_any(
        last_message(text),
        &[
            "keyerror",
            "cannot read properties of",
            "nullpointerexception",
            "'nonetype'",
        ],
    )
}

/// Whether a text reports a move between file systems.
pub fn tells_of_devices(text: &str) -> bool {
    has_any(
        text,
        &["cross-device", "exdev", "different file system", "different device"],
    )
}

/// Whether a text reports a time-out.
pub fn tells_of_waiting(text: &str) -> bool {
    has_any(text, &["timed out", "timeout"])
}

/// Whether a text reports a refusal, other than one to a user or a table, which is an application's.
pub fn tells_of_refusal(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let is_applications = |after: &str| {
        let whom = after.strip_prefix(" for ").or_else(|| after.strip_prefix(" to "));
        whom.is_some_and(|whom| whom.starts_with(char::is_alphabetic))
    };
    if text
        .match_indices("denied")
        .any(|(at, word)| is_applications(&text[at + word.len()..]))
    {
        return false;
    }
    REFUSED.iter().any(|word| {
        let mut found = text.match_indices(word);
        found.any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric()))
    })
}

/// The words of a text that may be refused paths, on the lines that report a refusal: quoted text, fields between
/// colons, and single words.
pub fn refused_paths(text: &str) -> impl Iterator<Item = &str> {
    let mut seen = HashSet::new();
    let lines = text.lines().rev().filter(|line| tells_of_refusal(line));
    lines
        .flat_map(possible_paths)
        .filter(move |word| !word.is_empty() && seen.insert(*word))
}

fn possible_paths(line: &str) -> impl Iterator<Item = &str> {
    const QUOTES: [char; 5] = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
    const AROUND: [char; 9] = [',', ';', ':', '(', ')', '[', ']', '<', '>'];
    // Not every other part: `can't` contains a quote.
    let quoted = line.split(QUOTES).skip(1);
    let fields = line.split(": ").map(str::trim);
    let is_around = |c| QUOTES.contains(&c) || AROUND.contains(&c);
    let words = line.split_whitespace().map(move |word| word.trim_matches(is_around));
    quoted.chain(fields).chain(words)
}

/// The last line that names one of these in a failure, and not as something optional.
pub fn last_blaming_line(text: &str, names: &[&str], kind: Kind) -> Option<usize> {
    let is_python = text.contains("Traceback (most");
    let is_code = |line: &str| is_python && line.starts_with("    ");
    let blames = |line: &str| names_on(line, names, kind) == Mention::Blamed && !is_code(line) && !is_tolerated(line);
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| blames(line)).map(|(at, _)| at).last()
}

/// Whether a text names one of these only as something optional.
pub fn warns_of(text: &str, names: &[&str], kind: Kind) -> bool {
    let warning = |line: &str| names_on(line, names, kind) != Mention::None && is_tolerated(line);
    text.lines().any(warning) && last_blaming_line(text, names, kind).is_none()
}

/// Dots in one word that may end a name; bounded, so that a text of dots doesn't take long.
const MOST_ENDS: usize = 8;

/// The words of all texts: searching each text for each name would take long.
pub struct Words<'t>(HashSet<&'t str>);

impl<'t> Words<'t> {
    /// Collects the words of these texts.
    pub fn of(texts: impl Iterator<Item = &'t str>) -> Words<'t> {
        let words = texts.flat_map(|text| text.split(|c: char| !(goes_on(c) || c == '.')));
        // A dot ends a name unless an alphanumeric character follows.
        let ends = |word: &'t str| {
            let dots = word.match_indices('.').map(|(at, _)| at);
            let ending = dots.filter(move |at| !word[at + 1..].starts_with(char::is_alphanumeric));
            ending
                .take(MOST_ENDS)
                .chain([word.len()])
                .map(move |end| plain(&word[..end]))
        };
        Words(words.map(plain).flat_map(ends).collect())
    }

    /// Whether a text may name it as [`mention`] finds it: it is a known word, consists of several, or has several spellings.
    pub fn may_name(&self, name: &str, kind: Kind) -> bool {
        let is_host = matches!(kind, Kind::Connect | Kind::Resolve | Kind::Listen);
        let name = plain(name);
        is_host || !name.chars().all(|c| goes_on(c) || c == '.') || self.0.contains(name)
    }
}

/// The word without characters that may surround a path.
fn plain(word: &str) -> &str {
    word.trim_start_matches("./").trim_end_matches('.')
}

/// Whether it reports that something optional is missing.
pub fn does_without(text: &str) -> bool {
    has_any(&without_paths(text), WITHOUT)
}

fn is_tolerated(line: &str) -> bool {
    let said = without_paths(line);
    has_any(&said, WITHOUT) || has_any(&said, WARNS)
}

/// A text without the paths in it: `/etc/default/x` isn't about a default.
fn without_paths(text: &str) -> Cow<'_, str> {
    match text.contains('/') {
        true => {
            let words = text.split(' ').filter(|word| !word.contains('/'));
            Cow::Owned(words.collect::<Vec<_>>().join(" "))
        }
        false => Cow::Borrowed(text),
    }
}

/// Whether a text consists of warnings.
pub fn only_warns(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_boilerplate(line)).peekable();
    let warns = |line: &str| {
        let says_so = tells_of_refusal(line) || has_any(line, &["warn", "note:", "debug"]);
        says_so && is_tolerated(line) && !has_any(line, &["error:", "fatal:"])
    };
    lines.peek().is_some() && lines.all(warns)
}

/// The way in which a text names the target of a refusal of this kind.
pub fn names_on(line: &str, names: &[&str], kind: Kind) -> Mention {
    match kind {
        Kind::Connect | Kind::Resolve | Kind::Listen => mention_host(line, names),
        _ => mention(line, names),
    }
}

/// Whether a text has a word of a file's name, or a prefix of one: `no signing key` of `prod.key`.
pub fn share_a_word(text: &str, names: &[String]) -> bool {
    /// Common parts of names, which don't identify a file.
    const COMMON: &[&str] = &[
        "conf", "config", "cfg", "json", "toml", "yaml", "yml", "txt", "log", "tmp", "data", "file",
    ];
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.map(str::to_ascii_lowercase).collect()
    };
    let said: Vec<String> = messages(text).flat_map(words).collect();
    let names = names.iter().filter_map(|name| name.rsplit('/').next());
    let mut named = names
        .flat_map(words)
        .filter(|word| word.len() >= 3 && !COMMON.contains(&word.as_str()));
    named.any(|name| {
        said.iter()
            .any(|word| word.starts_with(&name) || word.len() >= 4 && name.contains(word.as_str()))
    })
}

/// A text without quoted source code, positions, and the program name before a message.
fn messages(text: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_mark = |line: &&str| line.contains('^') && !line.contains(char::is_alphanumeric);
    let is_quoted = move |at: usize, lines: &[&str]| {
        lines.get(at + 1).is_some_and(is_mark) || lines[at].starts_with(char::is_whitespace)
    };
    let kept: Vec<&str> = (0..lines.len())
        .filter(|at| !is_quoted(*at, &lines) && !is_boilerplate(lines[*at]))
        .map(|at| lines[at])
        .collect();
    kept.into_iter().map(|line| match line.split_once(": ") {
        Some((program, message)) if !program.contains(' ') => message,
        _ => line,
    })
}

/// The way in which a text names one of these.
pub fn mention(text: &str, names: &[&str]) -> Mention {
    names
        .iter()
        .flat_map(|name| places(text, name.trim_start_matches("./"), is_end))
        .map(|at| blame(line_around(text, at)))
        .max()
        .unwrap_or(Mention::None)
}

/// The way in which a line names something in it.
fn blame(line: &str) -> Mention {
    if tells_of_refusal(line) || has_any(line, FAILED) {
        Mention::Blamed
    } else {
        Mention::Named
    }
}

/// The way in which a text names one of these hosts: alone, with a port, or in a URL; case-insensitive.
pub fn mention_host(text: &str, names: &[&str]) -> Mention {
    // The length in bytes stays the same, and so do offsets.
    let lower = text.to_ascii_lowercase();
    names
        .iter()
        .flat_map(|name| host_places(&lower, &name.to_ascii_lowercase()))
        .map(|at| blame(line_around(text, at)))
        .max()
        .unwrap_or(Mention::None)
}

/// Offsets of a host's name that isn't part of a longer one: `a.b` isn't named by `x.a.b`, `a.b.c` or `a.bc`.
fn host_places(text: &str, name: &str) -> Vec<usize> {
    let is_label = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_apart = |at: &usize| {
        let (before, mut rest) = (&text[..*at], text[at + name.len()..].chars());
        let ends = match rest.next() {
            Some('.') => !rest.next().is_some_and(is_label),
            other => !other.is_some_and(is_label),
        };
        ends && !before.ends_with(|c| is_label(c) || c == '.')
    };
    if name.is_empty() {
        return Vec::new();
    }
    text.match_indices(name).map(|(at, _)| at).filter(is_apart).collect()
}

/// Whether a text names a path that is a prefix of the name: `/r/t-` where the target is `/r/t-Ab3x`.
pub fn names_the_start(text: &str, directory: &str, name: &str) -> bool {
    places(text, directory, |rest| rest.starts_with('/')).any(|at| {
        let rest = &text[at + directory.len() + 1..];
        let end = rest.find(|c: char| !goes_on(c) && c != '.').unwrap_or(rest.len());
        let start = &rest[..end];
        !start.is_empty() && start.len() < name.len() && name.starts_with(start)
    })
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Offsets at which a name starts a word, and `follows` accepts the rest.
fn places<'a>(text: &'a str, name: &'a str, follows: impl Fn(&str) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
    let found = (!name.is_empty()).then(|| text.match_indices(name));
    found.into_iter().flatten().map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].trim_end_matches("./");
        follows(&text[at + name.len()..]) && !before.ends_with(|c| goes_on(c) || c == '.')
    })
}

/// Whether a name ends before this rest: `/r/a` isn't named by `/r/a/b`, `/r/ab` or `/r/a.py`.
fn is_end(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
        other => !other.is_some_and(goes_on),
    }
}

/// Whether a character next to a name makes it part of a longer one.
fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/')
}

fn line_around(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    &text[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_only_as_a_whole() {
        for text in ["see /r/a.", "'/r/a'", "/r/a: no", "x=/r/a", "(/r/a)"] {
            assert_eq!(mention(text, &["/r/a"]), Mention::Named, "{text}");
        }
        for text in ["/r/a/b", "/r/ab", "/x/r/a", "/r/a.py", "", "r/a"] {
            assert_eq!(mention(text, &["/r/a"]), Mention::None, "{text}");
        }
        assert_eq!(mention("cat ./notes", &["notes"]), Mention::Named);
        assert_eq!(mention("cat notes", &["./notes"]), Mention::Named);
        assert_eq!(mention("cat x", &[""]), Mention::None);
    }

    #[test]
    fn what_is_named_is_among_the_words() {
        let names = ["/r/a", "/r/a.py", "a", "a b", "./a", "..a"];
        for text in [
            "see /r/a.",
            "'./a'",
            "x=/r/a",
            "(/r/a.py)",
            "a b",
            "./../a",
            "/r/a/",
            "..a.",
            "a./b",
            ".",
            "a..",
        ] {
            for name in names {
                let may = Words::of([text].into_iter()).may_name(name, Kind::Read);
                assert!(may || mention(text, &[name]) == Mention::None, "{text} {name}");
            }
        }
    }

    #[test]
    fn a_host_is_named_alone_and_in_a_url() {
        let names = ["api.example.com"];
        for text in [
            "https://API.example.com/v1",
            "host='api.example.com', port=443",
            "api.example.com:443",
            "user@api.example.com.",
        ] {
            assert_eq!(mention_host(text, &names), Mention::Named, "{text}");
        }
        for text in [
            "x.api.example.com",
            "api.example.com.evil",
            "api.example.community",
            "my-api.example.com",
            "",
        ] {
            assert_eq!(mention_host(text, &names), Mention::None, "{text}");
        }
        for text in [
            "curl: (6) Could not resolve host: api.example.com",
            "getaddrinfo ENOTFOUND api.example.com",
            "dial tcp: lookup api.example.com: no such host",
        ] {
            assert_eq!(mention_host(text, &names), Mention::Blamed, "{text}");
        }
        assert_eq!(mention_host("x", &[""]), Mention::None);
    }

    #[test]
    fn the_start_of_a_made_up_name_is_found() {
        assert!(names_the_start("mkdtemp('/r/t-')", "/r", "t-Ab3x"));
        assert!(names_the_start("sort -o /r/a.txt", "/r", "a.txt.tmp"));
        for text in ["/r/", "/r/t-Ab3x", "/r/u", "/x/r/t-", "/r", "/r/t-/x"] {
            assert!(!names_the_start(text, "/r", "t-Ab3x"), "{text}");
        }
    }

    #[test]
    fn a_line_that_tells_of_a_failure_blames() {
        let text = "reading /r/a\nPermissionError: [Errno 13] Permission denied: '/r/b'\n";
        assert_eq!(mention(text, &["/r/a"]), Mention::Named);
        assert_eq!(mention(text, &["/r/b"]), Mention::Blamed);
        assert_eq!(mention("cannot open ünï", &["ünï"]), Mention::Blamed);
    }
}

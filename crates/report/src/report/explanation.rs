//! Which refusals may be why a run failed, likeliest first.
//!
//! A program copes with most refusals, and its last words tell which one it couldn't cope with. One is the reason only if
//! these words name it; all else is a list of those that may be. Refusals that programs live with every time
//! ([`probe`]) aren't on it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::conclusion::FailureFacts;
use super::grant::path_of;
use super::host::{Endpoint, endpoint_of, spellings};
use super::naming::{names_on, names_the_start, names_variable};
use super::probe::{Probe, ProbePlaces, may_be_needed, probe};
use super::refusal::{Counted, Reason, Refusal};
use super::stderr::StderrText;
use crate::policy::{DenialKind, Kind};

/// Refusals that are named as perhaps the reason.
pub const MAX_LISTED: usize = 3;
/// Lines that are searched for names, from the end.
const MAX_LINES: usize = 80;
/// Refusals that are searched for, from the end.
const MAX_CANDIDATES: usize = 512;
/// Lines that may name a variable or program that the run lacks, from the end.
const MAX_LAST_LINES: usize = 4;
/// Calls that a program makes between its last words and its end: exit handlers, buffers, temporary files.
const ENDING: u64 = 8;

/// Begins the names of directories that hold a client's script and nothing else.
const OWN_SCRIPTS: &str = "stockade-code-";

/// Why a run may have failed. The numbers are indexes in the list of refusals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The reason: the first one, and those that belong to it.
    pub reasons: Vec<usize>,
    /// At most [`MAX_LISTED`], if there is no reason.
    pub perhaps: Vec<usize>,
    /// A part of the caller's environment in place of a refusal.
    pub missing: Option<Missing>,
    /// Refusals that programs live with.
    pub noise: Vec<usize>,
}

/// A part of the caller's environment that the run didn't get, and that its last words name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// A variable.
    Variable(String),
    /// A program in a directory of the caller's search path that the run's lacks.
    Program(PathBuf),
}

/// Explains the end of a run.
pub fn explain(list: &[Counted], facts: &FailureFacts<'_>) -> Explanation {
    let evidence = FailureEvidence::new(facts);
    let (noise, mut candidates): (Vec<_>, Vec<_>) = evidence.candidates(list).into_iter().partition(|one| one.is_noise);
    let noise = noise.into_iter().map(|one| one.index).collect();
    if !facts.failed {
        return Explanation {
            noise,
            ..Explanation::default()
        };
    }
    candidates.sort_by_key(|one| evidence.rank(one));
    let reasons = match candidates.first() {
        Some(first) if evidence.is_reason(first) => belonging(first, &candidates),
        _ => Vec::new(),
    };
    let missing = reasons.is_empty().then(|| evidence.missing()).flatten();
    let perhaps = match missing.is_none() && reasons.is_empty() {
        true => listed(&candidates),
        false => Vec::new(),
    };
    Explanation {
        reasons,
        perhaps,
        missing,
        noise,
    }
}

/// A refusal that a program could have succeeded without.
struct Candidate<'a> {
    index: usize,
    counted: &'a Counted,
    /// How many lines follow the last one that names it, without those that only warn.
    lines_after: Option<usize>,
    /// Whether a line that names it tells of a failure.
    is_blamed: bool,
    /// Whether it is named only as something that the program does without.
    is_done_without: bool,
    /// Whether run-times request it by themselves, and nothing names it.
    is_noise: bool,
}

impl Candidate<'_> {
    fn refusal(&self) -> &Refusal {
        &self.counted.first
    }

    /// Whether another one is of the same process and target, as SQLite opens for writing and then for reading.
    fn is_same(&self, other: &Candidate<'_>) -> bool {
        let (one, other) = (self.refusal(), other.refusal());
        one.pid == other.pid && one.target == other.target
    }

    /// Whether another one changes the same directory in the same process: a temporary file and the one that it replaces, the
    /// two names of a rename.
    fn belongs_to(&self, other: &Candidate<'_>) -> bool {
        let (one, other) = (self.refusal(), other.refusal());
        let is_of_one_call = one.syscall == other.syscall && one.syscall.starts_with("rename");
        one.pid == other.pid
            && one.kind.changes()
            && other.kind.changes()
            && (is_of_one_call || directory(one).is_some() && directory(one) == directory(other))
    }
}

fn directory(refusal: &Refusal) -> Option<&Path> {
    path_of(&refusal.target)?.parent()
}

/// A line of the program's standard error.
struct Line {
    text: String,
    /// The number of calls that were handed over before it.
    calls: u64,
}

/// What the run tells, ready for lookup.
struct FailureEvidence<'a> {
    facts: &'a FailureFacts<'a>,
    places: ProbePlaces<'a>,
    /// Without what went to `/dev/null`.
    lines: Vec<Line>,
    /// Whether npm tells of another error than the network's: its look for a newer npm has nothing to do with it.
    is_own_error_of_npm: bool,
    /// Whether it told of a move between file systems. Otherwise a move refused that way was done as a copy.
    tells_of_devices: bool,
}

impl<'a> FailureEvidence<'a> {
    fn new(facts: &'a FailureFacts<'a>) -> Self {
        let command = facts.command.first().map_or("", String::as_str);
        let lines = lines(facts.run_context.stderr.texts.iter().filter(|text| !text.is_discarded));
        FailureEvidence {
            facts,
            places: ProbePlaces {
                root: &facts.run_context.policy.root,
                home: facts.run_context.home,
                command: command.rsplit('/').next().unwrap_or_default(),
            },
            is_own_error_of_npm: lines.iter().any(|line| has_any(&line.text, NPM_ERRORS))
                && !lines
                    .iter()
                    .any(|line| has_any(&line.text, &["network"]) || has_any(&line.text, NETWORK)),
            tells_of_devices: lines.iter().any(|line| has_any(&line.text, MOVES)),
            lines,
        }
    }

    /// The latest refusals with which a program could have succeeded; of one target tried in several ways the first.
    fn candidates<'c>(&self, list: &'c [Counted]) -> Vec<Candidate<'c>> {
        let is_real = |refusal: &Refusal| {
            !is_absent(refusal)
                && !is_told_elsewhere(refusal)
                && (self.tells_of_devices || !refusal.reason.is_of_devices())
        };
        let mut latest: Vec<_> = list.iter().enumerate().filter(|(_, one)| is_real(&one.first)).collect();
        latest.sort_by_key(|(_, counted)| Reverse(counted.last_at));
        latest.truncate(MAX_CANDIDATES);
        let hosts: HashSet<String> = latest.iter().filter_map(|(_, one)| host(&one.first)).collect();
        let is_only_host = hosts.len() == 1;
        latest
            .into_iter()
            .map(|(index, counted)| self.look(index, counted, is_only_host))
            .collect()
    }

    fn look<'c>(&self, index: usize, counted: &'c Counted, is_only_host: bool) -> Candidate<'c> {
        let refusal = &counted.first;
        let names = self.names(refusal);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let script = self.script_in(refusal);
        let naming = self.lines.iter().rev().take(MAX_LINES).enumerate();
        // `<urlopen error [Errno -3] Temporary failure in name resolution>` names none.
        let is_host = is_only_host && host(refusal).is_some();
        // Each line of a traceback has the script's path, which names no directory.
        let apart = |line: &str| script.map_or_else(|| line.to_owned(), |script| line.replace(script, ""));
        let tells = |line: &str| is_named(&apart(line), refusal, &names) || is_host && has_any(line, NETWORK);
        let naming = naming.filter(|(_, line)| tells(&line.text));
        let (does_without, told): (Vec<_>, Vec<_>) = naming.partition(|(_, line)| is_done_without(&line.text));
        let mut arguments = self.facts.command.iter().skip(1);
        let is_needed = !told.is_empty()
            || may_be_needed(refusal, &self.places)
            || is_secret_read(refusal)
            || arguments.any(|argument| is_named(&apart(argument), refusal, &names));
        let is_usual = script.is_some()
            || probe(refusal, &self.places) == Probe::Yes
            || self.is_own_error_of_npm && host(refusal).as_deref() == Some("registry.npmjs.org");
        Candidate {
            index,
            counted,
            lines_after: told.first().map(|(after, _)| *after),
            is_blamed: told.iter().any(|(_, line)| tells_of_failure(&line.text)),
            is_done_without: told.is_empty() && !does_without.is_empty(),
            is_noise: !is_needed && is_usual,
        }
    }

    /// Python's script in a directory whose listing was refused: an import looks for modules beside it, and does without, unless
    /// one is missing. Beside a script that Stockade itself put there is none.
    fn script_in(&self, refusal: &Refusal) -> Option<&str> {
        let lists = refusal.is_directory && refusal.kind == Kind::Read && self.places.command.starts_with("python");
        let directory = path_of(&refusal.target).filter(|_| lists)?;
        let is_ours = directory.file_name()?.to_str()?.starts_with(OWN_SCRIPTS);
        let lacks_module = self.lines.iter().any(|line| line.text.contains("No module named"));
        if lacks_module && !is_ours {
            return None;
        }
        let mut arguments = self.facts.command.iter().skip(1).filter(|word| !word.starts_with('-'));
        let script = arguments.next()?;
        (self.places.root.join(script).parent() == Some(directory)).then_some(script)
    }

    /// The ways in which the program may write the target of a refusal.
    fn names(&self, refusal: &Refusal) -> Vec<String> {
        const MIN_LENGTH: usize = 3;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let path = path_of(&refusal.target);
        let below = path.and_then(|path| path.strip_prefix(self.places.root).ok());
        let file = path
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned());
        let hosts = endpoint_of(refusal).map(|endpoint| spellings(refusal.kind, &endpoint));
        [text(&refusal.asked), text(&refusal.target)]
            .into_iter()
            .chain(hosts.into_iter().flatten())
            .chain(below.map(|path| path.to_string_lossy().into_owned()))
            .chain(file.filter(|name| name.len() >= MIN_LENGTH))
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// The order of the candidates: those that the last words blame; those after all words; those that other words name; the
    /// others, the latest first; and those that the program said that it does without.
    fn rank(&self, one: &Candidate<'_>) -> (u8, usize, Reverse<u64>) {
        let last_words = self.lines.last().map(|line| line.calls);
        let is_after_all = last_words.is_none_or(|last| last <= one.counted.last_calls);
        let tier = match one.lines_after {
            Some(after) if one.is_blamed && self.are_empty_words(after) => 0,
            _ if is_after_all && self.is_ending(one.counted.last_calls) => 1,
            Some(_) => 2,
            None if one.is_done_without => 4,
            None => 3,
        };
        (
            tier,
            one.lines_after.unwrap_or(usize::MAX),
            Reverse(one.counted.last_calls),
        )
    }

    /// Whether the last words name it in a failure, and nothing else was done since.
    fn is_reason(&self, one: &Candidate<'_>) -> bool {
        one.is_blamed
            && one.lines_after.is_some_and(|after| {
                let line = self.lines.iter().rev().nth(after);
                self.are_empty_words(after) && line.is_some_and(|line| self.is_ending(line.calls))
            })
    }

    /// Whether so many lines at the end only tell that something failed: a stack, make, a test runner.
    fn are_empty_words(&self, count: usize) -> bool {
        const FEW: usize = 2;
        let is_short = |line: &str| line.split_whitespace().count() <= FEW;
        let mut last = self.lines.iter().rev().take(count);
        last.all(|line| is_short(&line.text) || is_empty_talk(&line.text))
    }

    /// Whether hardly any call was handed over after so many.
    fn is_ending(&self, calls: u64) -> bool {
        self.facts.run_context.stderr.calls.saturating_sub(calls) <= ENDING
    }

    /// A variable or program that the last lines name.
    fn missing(&self) -> Option<Missing> {
        let context = self.facts.run_context;
        let last = || {
            self.lines
                .iter()
                .rev()
                .filter(|line| !is_empty_talk(&line.text))
                .take(MAX_LAST_LINES)
        };
        let mut variables = context.variables.iter();
        let is_told =
            |name: &&String| last().any(|line| names_variable(&line.text, name) && !is_done_without(&line.text));
        if let Some(name) = variables.find(is_told) {
            return Some(Missing::Variable(name.clone()));
        }
        // Scripts discard the message of the shell that looked for it.
        let texts = &context.stderr.texts;
        let discarded = lines(texts.iter().filter(|text| text.is_discarded));
        let all = last().chain(discarded.iter().rev().take(MAX_LAST_LINES));
        let mut words = all.filter(|line| has_any(&line.text, ABSENT)).flat_map(|line| {
            let is_part = |c: char| c.is_alphanumeric() || "._+-/".contains(c);
            line.text
                .split(move |c| !is_part(c))
                .filter(|word| !word.is_empty() && !word.contains('/'))
        });
        words.find_map(|word| (context.program)(word)).map(Missing::Program)
    }
}

/// The first one, and those that belong to it, in the order in which they happened.
fn belonging(first: &Candidate<'_>, all: &[Candidate<'_>]) -> Vec<usize> {
    let belong = all.iter().filter(|one| one.is_same(first) || one.belongs_to(first));
    let mut belong: Vec<&Candidate<'_>> = belong.collect();
    belong.sort_by_key(|one| (!one.is_same(first), one.refusal().at));
    let mut kept: Vec<&Candidate<'_>> = Vec::new();
    for one in belong {
        if !kept.iter().any(|other| other.is_same(one)) {
            kept.push(one);
        }
    }
    kept.into_iter().map(|one| one.index).collect()
}

/// The likeliest: of one target the first try, and of one directory one file as long as there are others.
fn listed(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let (mut first, mut beside): (Vec<&Candidate<'_>>, Vec<&Candidate<'_>>) = (Vec::new(), Vec::new());
    for one in candidates {
        let is_like = |other: &&Candidate<'_>| {
            let (one, other) = (one.refusal(), other.refusal());
            one.kind == other.kind
                && one.pid == other.pid
                && directory(one).is_some()
                && directory(one) == directory(other)
        };
        if first.iter().chain(&beside).any(|other| other.is_same(one)) {
            continue;
        }
        let tries = candidates.iter().filter(|other| other.is_same(one));
        let earliest = tries.min_by_key(|one| one.refusal().at).unwrap_or(one);
        match first.iter().any(is_like) {
            true => beside.push(earliest),
            false => first.push(earliest),
        }
    }
    let all = first.into_iter().chain(beside);
    all.take(MAX_LISTED).map(|one| one.index).collect()
}

/// The lines of texts: pieces that one process wrote make one line.
fn lines<'t>(texts: impl Iterator<Item = &'t StderrText>) -> Vec<Line> {
    let mut open: HashMap<i32, Line> = HashMap::new();
    let mut lines = Vec::new();
    for text in texts {
        for piece in text.text.split_inclusive('\n') {
            let line = open.entry(text.process).or_insert_with(|| Line {
                text: String::new(),
                calls: 0,
            });
            line.calls = text.calls;
            line.text.push_str(piece);
            if piece.ends_with('\n') {
                lines.extend(open.remove(&text.process));
            }
        }
    }
    lines.extend(open.into_values());
    lines.retain(|line| !line.text.trim().is_empty());
    lines.sort_by_key(|line| line.calls);
    lines
}

/// The host of a refused connection or lookup.
fn host(refusal: &Refusal) -> Option<String> {
    let is_outgoing = matches!(refusal.kind, Kind::Connect | Kind::Resolve);
    match is_outgoing.then(|| endpoint_of(refusal)).flatten()? {
        Endpoint::Name(name, _) => Some(name.to_string()),
        Endpoint::Address(address) => Some(address.ip().to_string()),
    }
}

fn is_named(text: &str, refusal: &Refusal, names: &[&str]) -> bool {
    let made_up = || {
        let path = path_of(&refusal.target)?;
        let (directory, name) = (path.parent()?.to_str()?, path.file_name()?.to_str()?);
        Some(refusal.kind.changes() && names_the_start(text, directory, name))
    };
    names_on(text, names, refusal.kind) || made_up().unwrap_or_default()
}

/// Words for a failure, in lower case.
const FAILED: &[&str] = &[
    "denied",
    "not permitted",
    "permission",
    "eacces",
    "eperm",
    "read-only",
    "readonly",
    "not supported",
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
    // Resolver errors of the C library and Node.
    "not known",
    "enotfound",
];
/// Words of a failed connection or lookup.
const NETWORK: &[&str] = &[
    "name resolution",
    "name or service",
    "getaddrinfo",
    "eai_again",
    "unreachable",
    "connection refused",
    "failed to connect",
    "fetch failed",
    "urlerror",
    // Java's exceptions of sockets and lookups: most are printed without the host.
    "java.net.",
];
/// Words for something that a program does without, and of warnings.
const WITHOUT: &[&str] = &[
    "ignor",
    "skipp",
    "disabled",
    "fall back",
    "falling back",
    "fallback",
    "optional",
    "continuing",
    "using default",
    "using the default",
    "warn",
    "note:",
    "debug",
    "retry",
    " off",
];
/// Words for a program that wasn't found.
const ABSENT: &[&str] = &["not found", "no such file", "enoent", "install", "cannot run program"];
/// Words of npm's own errors. What it says of the network has a line `npm error network …`.
const NPM_ERRORS: &[&str] = &["npm error code", "npm err! code", "npm error missing script"];
/// Words for a move between file systems.
const MOVES: &[&str] = &["cross-device", "exdev", "different file system", "different device"];
/// How lines begin that only tell that something else failed: stacks, make, npm, test runners, a run inside the run.
const EMPTY_TALK: &[&str] = &[
    "stockade: ",
    "make: ***",
    "make[",
    "npm error",
    "npm err!",
    "node.js v",
    "at ",
    "from ",
    "file \"",
    "ran ",
    "failed (",
    "errno:",
    "code:",
    "syscall:",
    "path:",
];

fn tells_of_failure(line: &str) -> bool {
    has_any(line, FAILED)
}

/// A path isn't a word: `/etc/default/x` isn't about a default.
fn is_done_without(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.contains('/')).collect();
    has_any(&words.join(" "), WITHOUT)
}

fn is_empty_talk(line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    !line.contains(char::is_alphanumeric) || EMPTY_TALK.iter().any(|start| line.starts_with(start))
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| text.contains(word))
}

/// Whether the target would be missing without Stockade too.
fn is_absent(refusal: &Refusal) -> bool {
    let needs_it = match refusal.kind {
        Kind::Read | Kind::Write | Kind::Delete | Kind::Metadata | Kind::Execute => true,
        Kind::Socket => refusal.syscall != "bind",
        _ => false,
    };
    needs_it && !refusal.exists && path_of(&refusal.target).is_some()
}

/// Whether a nested run reports it, or copes with it: Stockade itself reports what it fails on.
fn is_told_elsewhere(refusal: &Refusal) -> bool {
    matches!(refusal.reason, Reason::Inside { .. }) || refusal.program.ends_with(b"/stockade")
}

/// A key in `~/.ssh` lies behind a dot and is needed all the same.
fn is_secret_read(refusal: &Refusal) -> bool {
    match &refusal.reason {
        Reason::Denied(denial) => refusal.kind == Kind::Read && denial.kind != DenialKind::Guarded,
        _ => false,
    }
}

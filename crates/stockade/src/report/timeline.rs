//! The texts that a failed run wrote at its end, and which refusals they blame.
//!
//! A program copes with most refusals, and its last texts tell which one it couldn't cope with. So the end is read
//! backwards: texts that name a refusal blame it, errors of another kind blame none, and a text that only reports
//! something missing blames the refusal right before it. "Right before" counts judged calls, not time: a program that
//! coped with a refusal went on opening files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::course::{Stream, Timeline};
use super::mention::{self, Tone};
use super::refusal::{Counted, Refusal};
use crate::policy::Kind;

/// Two events with more judged calls than this between them are unrelated.
const NEAR: usize = 3;
/// Calls that a program makes between its last text and its exit: buffers, temporary files, exit handlers.
const ENDING: usize = 8;

/// Calls that a parent makes between its child's last text and its own.
const BETWEEN: usize = 80;

/// Texts written to `/dev/null` that are searched for a missing program.
const MOST_UNHEARD: usize = 8;

/// Refusals whose companions are searched for: a text that names more names those too.
const MOST_LOOKED_AT: usize = 16;

/// A program that creates so many files in a directory needs the directory.
const MANY: usize = 3;

/// Texts that one process wrote with nothing in between.
struct Utterance {
    begin: Duration,
    end: Duration,
    process: i32,
    stream: Stream,
    text: String,
}

/// The explanation of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Refusals, by index in the list; empty if something else explains it.
    Refusals(Vec<usize>),
    /// Nothing that the run showed explains it.
    Unsure,
    /// A variable that wasn't passed.
    Variable(String),
    /// A program in a directory of the caller's search path that the run's lacks.
    Program(PathBuf),
}

/// Parts of the caller's environment that the run didn't get.
pub trait Withheld {
    /// The names of variables.
    fn variables(&self) -> &[String];
    /// A program in a directory of the search path that the run's lacks.
    fn program(&self, name: &str) -> Option<PathBuf>;
    /// Whether a file exists.
    fn exists(&self, path: &Path) -> bool;
}

/// Nothing is withheld: the run has everything that its caller has.
pub struct Nothing;

impl Withheld for Nothing {
    fn variables(&self) -> &[String] {
        &[]
    }

    fn program(&self, _: &str) -> Option<PathBuf> {
        None
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }
}

/// The conclusion from a text about the refusals before it.
enum TextVerdict {
    /// This explains the failure.
    Blames(Cause),
    /// It reports an unrelated error.
    Own,
    /// It only reports that something failed: earlier texts may tell more. `is_about`: whether it has a subject.
    Continues { is_about: bool },
}

/// A refusal with further facts about it.
pub struct Candidate<'a> {
    /// The refusal.
    pub counted: &'a Counted,
    /// The ways in which a program may write its target.
    pub names: Vec<String>,
    /// Whether a program could have succeeded with this access.
    pub is_real: bool,
    /// Whether run-times request it by themselves, and don't need it.
    pub is_probe: bool,
    /// Whether it is a command-line word by itself.
    pub is_operand: bool,
    /// Whether it is a program's own settings or state, by a name that begins with a dot.
    pub is_hidden: bool,
}

impl Candidate<'_> {
    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Whether a text names it only as something optional.
    fn is_warned_of(&self, utterance: &Utterance) -> bool {
        mention::warns_of(&utterance.text, &self.names(), self.counted.first.kind)
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// Time since its start.
    pub at: Duration,
    /// Whether a signal ended its first process.
    pub is_signal: bool,
    /// Whether that signal is for a memory or arithmetic fault: nothing happened between its cause and the signal.
    pub is_crash: bool,
}

/// Explains why a run failed.
pub fn cause(list: &[Candidate<'_>], timeline: &Timeline, end: End, withheld: &dyn Withheld) -> Cause {
    let sequence = Sequence::new(list, timeline, end, withheld);
    let silent = sequence.silent_end(ENDING);
    if silent.last().is_some_and(|index| sequence.is_last_word(*index)) {
        return sequence.whole(Cause::Refusals(silent));
    }
    let (found, is_about) = sequence.walk();
    // If other texts were written, only refusals right before the end.
    let silent = sequence.silent_end(NEAR);
    let found = found
        .or_else(|| sequence.unheard_program())
        .or_else(|| sequence.hosts_named_last());
    match (found, is_about) {
        (Some(found), _) => sequence.whole(found),
        (None, false) if !silent.is_empty() => sequence.whole(Cause::Refusals(silent)),
        (None, false) if !sequence.warned.is_empty() => sequence.whole(Cause::Refusals(sequence.warned.clone())),
        // Also if warnings reported all of them: it went on without them, and then failed of nothing that it reported.
        (None, _) if list.iter().any(|one| one.is_real && !one.is_probe) => Cause::Unsure,
        (None, _) => Cause::Refusals(Vec::new()),
    }
}

struct Sequence<'a> {
    list: &'a [Candidate<'a>],
    timeline: &'a Timeline,
    end: End,
    withheld: &'a dyn Withheld,
    /// Except warnings and text written to `/dev/null`.
    utterances: Vec<Utterance>,
    /// By refusal: whether a text may name it.
    may_be_named: Vec<bool>,
    /// By refusal: whether the run reported that it goes on without it.
    is_lived_with: Vec<bool>,
    /// The refusals of the last text, if that was only a warning.
    warned: Vec<usize>,
    /// Processes whose errors are discarded: nothing depends on them.
    quiet: Vec<i32>,
    /// When each process was first seen.
    begun: HashMap<i32, Duration>,
}

impl<'a> Sequence<'a> {
    fn new(list: &'a [Candidate<'a>], timeline: &'a Timeline, end: End, withheld: &'a dyn Withheld) -> Sequence<'a> {
        let quiet = timeline.said.iter().filter(|said| said.stream == Stream::Nowhere);
        // Its end is known in milliseconds, rounded down.
        let moments = list
            .iter()
            .map(|one| one.counted.last_at)
            .chain(timeline.said.iter().map(|said| said.at))
            .chain(timeline.calls.last().map(|(at, _)| *at));
        let end = End {
            at: moments.fold(end.at, |last, at| last.max(at + Duration::from_nanos(1))),
            ..end
        };
        let mut sequence = Sequence {
            list,
            timeline,
            end,
            withheld,
            utterances: Vec::new(),
            may_be_named: Vec::new(),
            is_lived_with: Vec::new(),
            warned: Vec::new(),
            quiet: quiet.map(|said| said.process).collect(),
            begun: timeline
                .calls
                .iter()
                .rev()
                .map(|(at, process)| (*process, *at))
                .collect(),
        };
        let mut utterances = sequence.utterances();
        let words = mention::Words::of(utterances.iter().map(|one| one.text.as_str()));
        let may_name = |one: &Candidate<'_>| {
            let mut names = one.names.iter();
            names.any(|name| words.may_name(name, one.counted.first.kind))
        };
        sequence.may_be_named = list.iter().map(may_name).collect();
        let lived_with = list
            .iter()
            .zip(&sequence.may_be_named)
            .map(|(one, may_be_named)| *may_be_named && utterances.iter().any(|utterance| one.is_warned_of(utterance)));
        sequence.is_lived_with = lived_with.collect();
        if let Some(last) = utterances.last().filter(|last| last.stream == Stream::Error)
            && mention::only_warns(&last.text)
            && !mention::does_without(&last.text)
            && sequence.calls_between(last.end, end.at) <= ENDING
        {
            let named = list
                .iter()
                .enumerate()
                .filter(|(_, one)| one.is_real && one.is_warned_of(last));
            sequence.warned = named.map(|(index, _)| index).collect();
        }
        utterances.retain(|utterance| utterance.stream != Stream::Nowhere && !mention::only_warns(&utterance.text));
        sequence.utterances = utterances;
        sequence
    }

    /// The texts, merged where one process went on with nothing else between.
    fn utterances(&self) -> Vec<Utterance> {
        const RECENT: usize = 8;
        let mut all: Vec<Utterance> = Vec::new();
        for said in &self.timeline.said {
            let recent = all.len().saturating_sub(RECENT);
            let same = |one: &&mut Utterance| one.process == said.process && one.stream == said.stream;
            let last = all[recent..].iter_mut().rev().find(same);
            let goes_on = last.filter(|last| {
                !self.was_refused_between(said.process, last.end, said.at)
                    && self.own_calls_between(last.end, said.at, said.process) <= 2 * NEAR
            });
            match goes_on {
                Some(last) => {
                    last.end = said.at;
                    last.text.push_str(&said.text);
                }
                None => all.push(Utterance {
                    begin: said.at,
                    end: said.at,
                    process: said.process,
                    stream: said.stream,
                    text: said.text.clone(),
                }),
            }
        }
        all.sort_by_key(|one| one.end);
        all
    }

    fn was_refused_between(&self, process: i32, from: Duration, to: Duration) -> bool {
        self.list.iter().any(|candidate| {
            let (first, last) = (candidate.counted.first.at, candidate.counted.last_at);
            candidate.counted.first.pid == process && [first, last].iter().any(|at| from < *at && *at < to)
        })
    }

    /// The number of calls judged between two moments, without processes whose errors are discarded.
    fn calls_between(&self, from: Duration, to: Duration) -> usize {
        self.timeline
            .calls_between(from, to, |process| !self.quiet.contains(&process))
    }

    /// The number of calls judged after a process's action, without processes that were already working beside it.
    fn calls_after(&self, process: i32, from: Duration, to: Duration) -> usize {
        let line = self.timeline.line_of(process);
        let is_beside = |one: &i32| !line.contains(one) && self.begun.get(one).is_some_and(|begun| *begun <= from);
        self.timeline
            .calls_between(from, to, |one| !self.quiet.contains(&one) && !is_beside(&one))
    }

    fn own_calls_between(&self, from: Duration, to: Duration, process: i32) -> usize {
        self.timeline.calls_between(from, to, |one| one == process)
    }

    /// Whether the refused process went on with other work, up to a moment.
    fn went_on(&self, index: usize, until: Duration) -> bool {
        let counted = self.list[index].counted;
        latest(&self.list[index], until).is_some_and(|at| self.timeline.goes_on(counted.first.pid, at, until))
    }

    /// Walks the texts backwards from the end; returns `None` if they explain nothing, and whether they had a subject.
    fn walk(&self) -> (Option<Cause>, bool) {
        let (mut until, mut allowed, mut is_about) = (self.end.at, ENDING, false);
        for (place, utterance) in self.utterances.iter().enumerate().rev() {
            if self.calls_after(utterance.process, utterance.end, until) > allowed {
                break;
            }
            // A child's text isn't why its parent crashed.
            if self.end.is_signal && self.timeline.is_child(utterance.process) {
                continue;
            }
            match self.verdict(utterance) {
                TextVerdict::Blames(Cause::Refusals(found)) if self.is_of_ending(&found, place) => {
                    return (Some(Cause::Refusals(Vec::new())), true);
                }
                TextVerdict::Blames(found) => return (Some(found), true),
                TextVerdict::Own => return (Some(Cause::Refusals(Vec::new())), true),
                TextVerdict::Continues { is_about: says } => {
                    (until, allowed) = (utterance.begin, BETWEEN);
                    is_about |= says;
                }
            }
        }
        (None, is_about)
    }

    /// Whether the refusals came after the program's own error report: a log written then, or files cleaned up.
    fn is_of_ending(&self, found: &[usize], place: usize) -> bool {
        let is_after = |index: &usize| {
            let first = &self.list[*index].counted.first;
            let mut before = self.utterances[..place].iter().rev();
            first.kind.changes()
                && before.any(|one| {
                    one.process == first.pid
                        && one.end < first.at
                        && self.own_calls_between(one.end, first.at, first.pid) <= ENDING
                        && Tone::of(&one.text).is_of_own()
                })
        };
        !found.is_empty() && found.iter().all(is_after)
    }

    /// Hosts that the last text names, whatever was written after it: caches, for example, that a program saves when it fails.
    fn hosts_named_last(&self) -> Option<Cause> {
        let is_network = |index: &usize| matches!(self.list[*index].counted.first.kind, Kind::Connect | Kind::Resolve);
        match self.verdict(self.utterances.last()?) {
            TextVerdict::Blames(Cause::Refusals(found)) if !found.is_empty() && found.iter().all(is_network) => {
                Some(Cause::Refusals(found))
            }
            _ => None,
        }
    }

    /// A program that wasn't found, if that was written to `/dev/null`.
    fn unheard_program(&self) -> Option<Cause> {
        let unheard = self
            .timeline
            .said
            .iter()
            .rev()
            .filter(|said| said.stream == Stream::Nowhere);
        let last: Vec<&str> = unheard.take(MOST_UNHEARD).map(|said| said.text.as_str()).collect();
        let text: String = last.into_iter().rev().collect();
        mention::missing_programs(&text)
            .find_map(|name| self.withheld.program(name))
            .map(Cause::Program)
    }

    fn verdict(&self, utterance: &Utterance) -> TextVerdict {
        let tone = Tone::of(&utterance.text);
        let named = self.named(utterance);
        let changes = |(index, _): &(usize, usize)| self.changes(*index);
        // Data that wasn't read has no value; data that wasn't written lacks nothing.
        let own_line = tone.own_line.or(tone.lacks_value.filter(|_| named.iter().all(changes)));
        if !named.is_empty() && own_line.is_none_or(|own| named.iter().any(|(_, line)| *line >= own)) {
            let found = self.in_order(named.into_iter().map(|(index, _)| index).collect());
            // It reported a failed write, and went on with other work.
            let goes_on = |index: &usize| {
                let pid = self.list[*index].counted.first.pid;
                self.changes(*index) && self.timeline.goes_on(pid, utterance.end, self.end.at)
            };
            return match found.iter().all(goes_on) {
                true => TextVerdict::Continues { is_about: true },
                false => refusals(found),
            };
        }
        if let Some(name) = mention::named_variable(&utterance.text, self.withheld.variables()) {
            return TextVerdict::Blames(Cause::Variable(name.to_string()));
        }
        if let Some(program) = mention::missing_programs(&utterance.text).find_map(|name| self.withheld.program(name)) {
            return TextVerdict::Blames(Cause::Program(program));
        }
        // It waited for a server that wasn't allowed to listen: on a browser's port, for example.
        if mention::tells_of_waiting(&utterance.text)
            && let Some(index) = self.last_before(utterance, |kind| kind == Kind::Listen)
        {
            return refusals(vec![index]);
        }
        if let Some(module) = &tone.missing_module {
            return self
                .holding(module)
                .map_or(TextVerdict::Own, |index| refusals(vec![index]));
        }
        if tone.own_line.is_some() {
            // A setting that wasn't read long before may be what is missing.
            let may_lack = mention::tells_of_an_absent_key(&utterance.text);
            return match may_lack && self.open().any(|(index, _)| !self.changes(index)) {
                true => TextVerdict::Continues { is_about: true },
                false => TextVerdict::Own,
            };
        }
        if tone.lacks_value.is_some() {
            return match self.all_near(utterance).as_slice() {
                [.., before, last] if !self.changes(*last) && self.changes(*before) => refusals(vec![*last]),
                [] => TextVerdict::Own,
                [only] if !self.changes(*only) => refusals(vec![*only]),
                _ => TextVerdict::Continues { is_about: true },
            };
        }
        if tone.is_of_network && self.tells_of_another_host(utterance) {
            return TextVerdict::Own;
        }
        if tone.is_of_network
            && let Some(index) = self.last_before(utterance, |kind| {
                matches!(kind, Kind::Connect | Kind::Resolve | Kind::Listen | Kind::Socket)
            })
        {
            return refusals(vec![index]);
        }
        if tone.tells_of_refusal
            && let Some(index) = self.last_before(utterance, |_| true)
        {
            return refusals(vec![index]);
        }
        if tone.is_boilerplate {
            return TextVerdict::Continues { is_about: false };
        }
        if tone.is_wrong && !tone.is_bare_assertion || self.tells_of_what_it_got(utterance) {
            return TextVerdict::Own;
        }
        let operand = || {
            self.open()
                .filter(|(_, one)| one.is_operand && tone.lacks)
                .map(|(index, _)| index)
                .last()
        };
        match self.near(utterance).or_else(operand) {
            Some(index) if tone.lacks || mention::share_a_word(&utterance.text, &self.list[index].names) => {
                refusals(vec![index])
            }
            // `assert glob(…)`: a directory that can't be listed looks empty.
            Some(index) if tone.is_bare_assertion && self.list[index].counted.first.is_directory => {
                refusals(vec![index])
            }
            _ if tone.is_bare_assertion => TextVerdict::Own,
            _ if tone.lacks || tone.is_vague => TextVerdict::Continues { is_about: true },
            _ => TextVerdict::Own,
        }
    }

    /// The refusals that a text names on a line that isn't a warning, each with the last such line.
    fn named(&self, utterance: &Utterance) -> Vec<(usize, usize)> {
        let before = |candidate: &Candidate<'_>| candidate.is_real && candidate.counted.first.at <= utterance.end;
        let all = self.list.iter().enumerate();
        let mut found: Vec<(usize, usize)> = all
            .filter(|(index, candidate)| self.may_be_named[*index] && before(candidate))
            .filter_map(|(index, candidate)| {
                let kind = candidate.counted.first.kind;
                let line = mention::last_blaming_line(&utterance.text, &candidate.names(), kind)?;
                Some((index, line))
            })
            .collect();
        if found.iter().any(|(index, _)| !self.list[*index].is_probe) {
            found.retain(|(index, _)| !self.list[*index].is_probe);
        }
        found
    }

    /// Sorts them by time.
    fn in_order(&self, mut found: Vec<usize>) -> Vec<usize> {
        found.sort_by_key(|index| self.list[*index].counted.first.at);
        found
    }

    /// The last refusal of the same process before a text, or else of any process.
    fn last_before(&self, utterance: &Utterance, is_fitting: impl Fn(Kind) -> bool) -> Option<usize> {
        let last = |fits: &dyn Fn(&Candidate<'_>) -> bool| {
            let all = self.list.iter().enumerate();
            all.filter(|(_, one)| one.is_real && is_fitting(one.counted.first.kind) && fits(one))
                .filter_map(|(index, one)| Some((latest(one, utterance.end)?, index)))
                .max()
                .map(|(_, index)| index)
        };
        last(&|one| !one.is_probe && one.counted.first.pid == utterance.process)
            .or_else(|| last(&|one| !one.is_probe))
            .or_else(|| last(&|one| one.counted.first.pid == utterance.process))
    }

    /// The refusal right before a text, unless already reported; of several, the one whose name shares a word with it.
    fn near(&self, utterance: &Utterance) -> Option<usize> {
        let near = self.all_near(utterance);
        let shares = |index: &&usize| mention::share_a_word(&utterance.text, &self.list[**index].names);
        near.iter().rev().find(shares).or(near.last()).copied()
    }

    /// All refusals right before a text, in order.
    fn all_near(&self, utterance: &Utterance) -> Vec<usize> {
        let near = self.latest_open(utterance.begin).into_iter().rev();
        near.filter(|(at, index)| self.is_near(*at, *index, utterance) && !self.went_on(*index, utterance.begin))
            .map(|(_, index)| index)
            .collect()
    }

    /// The last ones before a moment, the latest first: earlier ones are unrelated.
    fn latest_open(&self, before: Duration) -> Vec<(Duration, usize)> {
        const MOST: usize = 64;
        let open = self.open();
        let mut all: Vec<(Duration, usize)> = open
            .filter_map(|(index, one)| Some((latest(one, before)?, index)))
            .collect();
        all.sort_unstable();
        all.into_iter().rev().take(MOST).collect()
    }

    fn changes(&self, index: usize) -> bool {
        self.list[index].counted.first.kind.changes()
    }

    fn is_near(&self, at: Duration, index: usize, utterance: &Utterance) -> bool {
        let process = self.list[index].counted.first.pid;
        let is_own = process == utterance.process;
        let was_told = !is_own
            && self
                .timeline
                .said
                .iter()
                .filter(|said| said.stream != Stream::Nowhere)
                .any(|said| said.process == process && at < said.at && said.at < utterance.begin);
        // A child's calls after its refusal are how it ended.
        let is_meant = |one: i32| match is_own {
            true => one == process,
            false => one != process && !self.quiet.contains(&one),
        };
        !was_told && self.timeline.calls_between(at, utterance.begin, is_meant) <= NEAR
    }

    /// Whether a text about a connection names hosts, none of which was refused.
    fn tells_of_another_host(&self, utterance: &Utterance) -> bool {
        let refused = |host: &str| {
            let mut named = self.list.iter().flat_map(|one| &one.names);
            named.any(|name| name.contains(host))
        };
        let mut hosts = mention::hosts(&utterance.text).peekable();
        hosts.peek().is_some() && !hosts.any(refused)
    }

    /// Whether a text is about a data file that the program could open.
    fn tells_of_what_it_got(&self, utterance: &Utterance) -> bool {
        let last = mention::last_message(&utterance.text);
        self.timeline
            .names_of_data()
            .any(|path| mention::names_file(last, path))
    }

    /// The refusals that may explain a failure without being named.
    fn open(&self) -> impl Iterator<Item = (usize, &'a Candidate<'a>)> {
        let all = self.list.iter().enumerate();
        all.filter(|(index, one)| one.is_real && !one.is_probe && !self.is_lived_with[*index])
    }

    /// A refused directory that contains this module.
    fn holding(&self, module: &str) -> Option<usize> {
        self.list.iter().position(|one| {
            let first = &one.counted.first;
            let directory = Path::new(OsStr::from_bytes(&first.target));
            let holds = |name: String| self.withheld.exists(&directory.join(name));
            first.kind == Kind::Read
                && first.is_directory
                && (holds(format!("{module}.py")) || holds(module.to_string()))
        })
    }

    /// The refusals at most so many calls before the end; command-line words come first.
    fn silent_end(&self, most: usize) -> Vec<usize> {
        let is_open =
            |index: usize| self.list[index].counted.first.kind != Kind::Syscall && !self.went_on(index, self.end.at);
        let operands = self.open().filter(|(index, one)| one.is_operand && is_open(*index));
        let named: Vec<usize> = operands.map(|(index, _)| index).collect();
        if !named.is_empty() {
            return named;
        }
        // Of several refusals whose errors were discarded, at least one was harmless.
        let is_alone = |one: &Candidate<'_>| {
            let first = &one.counted.first;
            let is_same = |other: &Refusal| other.pid == first.pid || other.target == first.target;
            self.open().all(|(_, other)| is_same(&other.counted.first))
        };
        let allowed = if self.end.is_crash { 0 } else { most };
        let explains = |(at, index): &(Duration, usize)| {
            let one = &self.list[*index];
            let pid = one.counted.first.pid;
            is_open(*index)
                && (!self.quiet.contains(&pid) || is_alone(one))
                && self.calls_after(pid, *at, self.end.at) <= allowed
        };
        let near: Vec<usize> = self
            .latest_open(self.end.at)
            .into_iter()
            .filter(explains)
            .map(|(_, index)| index)
            .collect();
        let plain = near.iter().find(|index| !self.list[**index].is_hidden);
        plain.or(near.first()).copied().into_iter().collect()
    }

    /// Whether a refusal comes after all texts, and none of them reported an error.
    fn is_last_word(&self, index: usize) -> bool {
        let first = &self.list[index].counted.first;
        let mut said = self.utterances.iter();
        // Run-times contact their own hosts at their end, too.
        let is_network = matches!(first.kind, Kind::Connect | Kind::Resolve);
        let is_harmless = |one: &Utterance| match one.process == first.pid {
            true => mention::tells_of_no_failure(&one.text),
            false => !is_network || self.named(one).is_empty(),
        };
        !self.quiet.contains(&first.pid) && said.all(|one| one.end < first.at && is_harmless(one))
    }

    /// Adds related refusals: the first try, if one target was tried in several ways, as SQLite opens for writing and
    /// then for reading; and those of the same process, kind and directory that were reported too, or created too.
    fn whole(&self, cause: Cause) -> Cause {
        let Cause::Refusals(found) = cause else {
            return cause;
        };
        let first = |index: usize| &self.list[index].counted.first;
        let earliest = |index: usize| {
            let is_same =
                |other: &usize| first(*other).target == first(index).target && first(*other).pid == first(index).pid;
            let tries = (0..self.list.len()).filter(is_same);
            tries.min_by_key(|other| first(*other).at).unwrap_or(index)
        };
        let mut found: Vec<usize> = found.into_iter().map(earliest).collect();
        let directory = |index: usize| {
            let target = &first(index).target;
            target.iter().rposition(|byte| *byte == b'/').map(|end| &target[..end])
        };
        let told: HashSet<usize> = self
            .utterances
            .iter()
            .flat_map(|one| self.named(one))
            .map(|(index, _)| index)
            .collect();
        let culprits = found.clone();
        let is_beside = |one: usize, other: usize| directory(one).is_some() && directory(one) == directory(other);
        let belong = |index: &usize| {
            let is_like = |other: &usize| {
                let (one, other) = (first(*index), first(*other));
                one.kind == other.kind && one.pid == other.pid
            };
            !self.is_lived_with[*index] && culprits.iter().any(|other| is_like(other) && is_beside(*index, *other))
        };
        let beside: Vec<usize> = (0..self.list.len()).filter(belong).collect();
        let makes_many = beside.len() >= MANY && first(beside[0]).kind == Kind::Create;
        found.extend(beside.iter().filter(|index| makes_many || told.contains(index)));
        // A rename and a link have two names, and removing a list of files is one task.
        let is_of_one_call = |index: &usize| {
            let one = first(*index);
            culprits.iter().take(MOST_LOOKED_AT).any(|culprit| {
                let other = first(*culprit);
                let (from, to) = (one.at.min(other.at), one.at.max(other.at));
                let has_two_names = one.syscall.starts_with("rename") || one.syscall.starts_with("link");
                let removes = one.kind == Kind::Delete && is_beside(*index, *culprit);
                one.pid == other.pid
                    && one.syscall == other.syscall
                    && (has_two_names || removes)
                    && self.own_calls_between(from, to, one.pid) <= if removes { NEAR } else { 0 }
            })
        };
        found.extend((0..self.list.len()).filter(is_of_one_call));
        found.sort_unstable();
        found.dedup();
        Cause::Refusals(self.in_order(found))
    }
}

fn refusals(found: Vec<usize>) -> TextVerdict {
    TextVerdict::Blames(Cause::Refusals(found))
}

/// The last occurrence of a refusal before a moment, as far as recorded.
fn latest(candidate: &Candidate<'_>, before: Duration) -> Option<Duration> {
    let (first, last) = (candidate.counted.first.at, candidate.counted.last_at);
    [last, first].into_iter().find(|at| *at <= before)
}

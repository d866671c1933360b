//! What a failed run said at its end, and which refusals that blames.
//!
//! A program lives with most of what it is refused, and what it says last tells which one it couldn't live with. So the
//! end is read backwards: texts that name a refusal blame it, errors of another kind blame none, and a text that only says
//! that something is lacking blames what was refused right before it. "Right before" counts judged calls, not time: a
//! program that lived with a refusal went on opening files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::mention::{self, Tone};
use super::refusal::{Counted, Kind};

/// Where a run wrote a text to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard error, or what a program of the run put in its place.
    Error,
    /// `/dev/null`.
    Nowhere,
}

/// A text that the run wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Since the run's start.
    pub at: Duration,
    /// The process.
    pub process: i32,
    /// Where to.
    pub stream: Stream,
    /// What, with whatever stands for bytes that are no text.
    pub text: String,
}

/// The end of what a run did, as far as the supervisor saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Its texts, in their order.
    pub said: Vec<Said>,
    /// When calls were judged, and of which threads, in their order.
    pub calls: Vec<(Duration, i32)>,
}

/// More judged calls than this between two things, and they have nothing to do with each other.
const NEAR: usize = 3;
/// What a program does between its last words and its end: buffers, temporary files, exit handlers.
const ENDING: usize = 8;

/// What a parent does between the last words of its child and its own.
const BETWEEN: usize = 80;

/// A program that makes so many files in a directory needs the directory.
const MANY: usize = 3;

/// Texts that one process wrote with nothing between them.
struct Utterance {
    begin: Duration,
    end: Duration,
    process: i32,
    stream: Stream,
    text: String,
}

/// What explains a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Refusals, by their places in the list; none where something else does.
    Refusals(Vec<usize>),
    /// Nothing that the run showed tells.
    Unsure,
    /// A variable that wasn't passed.
    Variable(String),
    /// A program in a directory of the caller's search path that the run's doesn't have.
    Program(PathBuf),
}

/// What the run didn't get of its caller's.
pub trait Withheld {
    /// The names of variables.
    fn variables(&self) -> &[String];
    /// A program in a directory of the search path that the run doesn't have.
    fn program(&self, name: &str) -> Option<PathBuf>;
    /// Whether a file is there.
    fn exists(&self, path: &Path) -> bool;
}

/// A run that has all that its caller has.
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

/// What a text says of the refusals before it.
enum Verdict {
    /// This explains it.
    Blames(Cause),
    /// It tells of another mistake.
    Own,
    /// It only says that something failed: what was said before it may tell more. Whether it was about anything.
    Continues { is_about: bool },
}

/// A refusal with what is known of it beside.
pub struct Candidate<'a> {
    /// What was refused.
    pub counted: &'a Counted,
    /// How a program may call its target.
    pub names: Vec<String>,
    /// Whether a program could have got on with what it asked for.
    pub is_real: bool,
    /// Whether run-times ask for it on their own account, and do without.
    pub is_probe: bool,
    /// Whether the command line names it.
    pub is_argument: bool,
}

impl Candidate<'_> {
    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Whether a text names it only as something that is done without.
    fn is_warned_of(&self, utterance: &Utterance) -> bool {
        mention::warns_of(&utterance.text, &self.names(), self.counted.first.kind)
    }
}

/// What explains why a run failed.
pub fn cause(list: &[Candidate<'_>], timeline: &Timeline, end: Duration, withheld: &dyn Withheld) -> Cause {
    let scene = Scene::new(list, timeline, end, withheld);
    let silent = scene.silent_end();
    if silent.last().is_some_and(|index| scene.is_last_word(*index)) {
        return scene.whole(Cause::Refusals(silent));
    }
    match scene.walk() {
        (Some(found), _) => scene.whole(found),
        (None, false) if !silent.is_empty() => scene.whole(Cause::Refusals(silent)),
        (None, false) if !scene.warned.is_empty() => scene.whole(Cause::Refusals(scene.warned.clone())),
        (None, _) if scene.open().next().is_some() => Cause::Unsure,
        (None, _) => Cause::Refusals(Vec::new()),
    }
}

struct Scene<'a> {
    list: &'a [Candidate<'a>],
    timeline: &'a Timeline,
    end: Duration,
    withheld: &'a dyn Withheld,
    /// But for warnings, and for what was thrown away.
    utterances: Vec<Utterance>,
    /// By refusal: whether the run said that it goes on without.
    is_lived_with: Vec<bool>,
    /// What the last thing said was a warning of, if that was all.
    warned: Vec<usize>,
    /// Processes whose errors are thrown away: nothing depends on them.
    quiet: Vec<i32>,
}

impl<'a> Scene<'a> {
    fn new(list: &'a [Candidate<'a>], timeline: &'a Timeline, end: Duration, withheld: &'a dyn Withheld) -> Scene<'a> {
        let quiet = timeline.said.iter().filter(|said| said.stream == Stream::Nowhere);
        let mut scene = Scene {
            list,
            timeline,
            end,
            withheld,
            utterances: Vec::new(),
            is_lived_with: Vec::new(),
            warned: Vec::new(),
            quiet: quiet.map(|said| said.process).collect(),
        };
        let mut utterances = scene.utterances();
        let lived_with = list
            .iter()
            .map(|one| utterances.iter().any(|utterance| one.is_warned_of(utterance)));
        scene.is_lived_with = lived_with.collect();
        if let Some(last) = utterances.last().filter(|last| last.stream == Stream::Error)
            && mention::only_warns(&last.text)
            && !mention::does_without(&last.text)
            && scene.calls_between(last.end, end, None) <= ENDING
        {
            let named = list
                .iter()
                .enumerate()
                .filter(|(_, one)| one.is_real && one.is_warned_of(last));
            scene.warned = named.map(|(index, _)| index).collect();
        }
        utterances.retain(|utterance| utterance.stream != Stream::Nowhere && !mention::only_warns(&utterance.text));
        scene.utterances = utterances;
        scene
    }

    /// The texts, put together where one process went on with nothing else between.
    fn utterances(&self) -> Vec<Utterance> {
        const RECENT: usize = 8;
        let mut all: Vec<Utterance> = Vec::new();
        for said in &self.timeline.said {
            let recent = all.len().saturating_sub(RECENT);
            let same = |one: &&mut Utterance| one.process == said.process && one.stream == said.stream;
            let last = all[recent..].iter_mut().rev().find(same);
            let goes_on = last.filter(|last| {
                !self.was_refused_between(said.process, last.end, said.at)
                    && self.calls_between(last.end, said.at, Some(said.process)) <= 2 * NEAR
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

    /// How many calls were judged between two moments: of one process's first thread, or of all.
    fn calls_between(&self, from: Duration, to: Duration, process: Option<i32>) -> usize {
        let calls = &self.timeline.calls;
        let after = calls.partition_point(|(at, _)| *at <= from);
        calls[after..]
            .iter()
            .take_while(|(at, _)| *at < to)
            .filter(|(_, thread)| match process {
                Some(process) => process == *thread,
                None => !self.quiet.contains(thread),
            })
            .count()
    }

    /// Follows what was said back from the end; `None` where that tells nothing, and whether it was about anything.
    fn walk(&self) -> (Option<Cause>, bool) {
        let (mut until, mut allowed, mut is_about) = (self.end, ENDING, false);
        for utterance in self.utterances.iter().rev() {
            if self.calls_between(utterance.end, until, None) > allowed {
                break;
            }
            match self.verdict(utterance) {
                Verdict::Blames(found) => return (Some(found), true),
                Verdict::Own => return (Some(Cause::Refusals(Vec::new())), true),
                Verdict::Continues { is_about: says } => {
                    (until, allowed) = (utterance.begin, BETWEEN);
                    is_about |= says;
                }
            }
        }
        (None, is_about)
    }

    fn verdict(&self, utterance: &Utterance) -> Verdict {
        let tone = Tone::of(&utterance.text);
        let named = self.named(utterance);
        if !named.is_empty()
            && tone
                .own_line
                .is_none_or(|own| named.iter().any(|(_, line)| *line >= own))
        {
            return refusals(self.in_order(named.into_iter().map(|(index, _)| index).collect()));
        }
        if let Some(name) = mention::named_variable(&utterance.text, self.withheld.variables()) {
            return Verdict::Blames(Cause::Variable(name.to_string()));
        }
        if let Some(program) = tone
            .missing_program
            .as_deref()
            .and_then(|name| self.withheld.program(name))
        {
            return Verdict::Blames(Cause::Program(program));
        }
        if let Some(module) = &tone.missing_module {
            return self.holding(module).map_or(Verdict::Own, |index| refusals(vec![index]));
        }
        if tone.own_line.is_some() {
            return Verdict::Own;
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
            return Verdict::Continues { is_about: false };
        }
        let near = self.near(utterance);
        match near {
            Some(index) if tone.lacks || mention::share_a_word(&utterance.text, &self.list[index].names) => {
                refusals(vec![index])
            }
            // `assert glob(…)`: what can't be listed is empty.
            Some(index) if tone.is_bare_assertion && self.list[index].counted.first.is_directory => {
                refusals(vec![index])
            }
            _ if tone.is_bare_assertion => Verdict::Own,
            _ if tone.lacks || tone.is_vague => Verdict::Continues { is_about: true },
            _ => Verdict::Own,
        }
    }

    /// The refusals that a text names on a line that isn't a warning, with the last such line.
    fn named(&self, utterance: &Utterance) -> Vec<(usize, usize)> {
        let before = |candidate: &Candidate<'_>| candidate.is_real && candidate.counted.first.at <= utterance.end;
        let all = self.list.iter().enumerate();
        all.filter(|(_, candidate)| before(candidate))
            .filter_map(|(index, candidate)| {
                let kind = candidate.counted.first.kind;
                let line = mention::last_blaming_line(&utterance.text, &candidate.names(), kind)?;
                Some((index, line))
            })
            .collect()
    }

    /// As they happened.
    fn in_order(&self, mut found: Vec<usize>) -> Vec<usize> {
        found.sort_by_key(|index| self.list[*index].counted.first.at);
        found
    }

    /// The last refusal of the same process before a text, or of any process shortly before it.
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

    /// The refusal right before a text, unless it was spoken of already; of several the one whose name it has a word of.
    fn near(&self, utterance: &Utterance) -> Option<usize> {
        let mut near: Vec<(Duration, usize)> = self
            .open()
            .filter_map(|(index, one)| Some((latest(one, utterance.begin)?, index)))
            .filter(|(at, index)| self.is_near(*at, *index, utterance))
            .collect();
        near.sort();
        let shares = |(_, index): &&(Duration, usize)| mention::share_a_word(&utterance.text, &self.list[*index].names);
        near.iter().rev().find(shares).or(near.last()).map(|(_, index)| *index)
    }

    fn is_near(&self, at: Duration, index: usize, utterance: &Utterance) -> bool {
        let process = self.list[index].counted.first.pid;
        let own = (process == utterance.process).then_some(process);
        let was_told = own.is_none()
            && self
                .timeline
                .said
                .iter()
                .filter(|said| said.stream != Stream::Nowhere)
                .any(|said| said.process == process && at < said.at && said.at < utterance.begin);
        !was_told && self.calls_between(at, utterance.begin, own) <= NEAR
    }

    /// What may explain a failure without being named.
    fn open(&self) -> impl Iterator<Item = (usize, &'a Candidate<'a>)> {
        let all = self.list.iter().enumerate();
        all.filter(|(index, one)| one.is_real && !one.is_probe && !self.is_lived_with[*index])
    }

    /// A directory that couldn't be looked into and holds this module.
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

    /// What was refused right before the end; what the command line names comes first.
    fn silent_end(&self) -> Vec<usize> {
        let open = || self.open().filter(|(_, one)| one.counted.first.kind != Kind::Syscall);
        let named: Vec<usize> = open()
            .filter(|(_, one)| one.is_argument)
            .map(|(index, _)| index)
            .collect();
        if !named.is_empty() {
            return named;
        }
        // Of several whose errors were thrown away, at least one was lived with.
        let is_alone = |pid: i32| open().all(|(_, one)| one.counted.first.pid == pid);
        let heeded = open().filter(|(_, one)| {
            let pid = one.counted.first.pid;
            !self.quiet.contains(&pid) || is_alone(pid)
        });
        let last = heeded.max_by_key(|(index, one)| (one.counted.last_at, *index));
        let near = last.filter(|(_, one)| self.calls_between(one.counted.last_at, self.end, None) <= NEAR);
        near.map(|(index, _)| index).into_iter().collect()
    }

    /// Whether a refusal at the end comes after all that was said, of a process that said nothing.
    fn is_last_word(&self, index: usize) -> bool {
        let first = &self.list[index].counted.first;
        let mut said = self.utterances.iter();
        !self.quiet.contains(&first.pid) && said.all(|one| one.process != first.pid && one.end < first.at)
    }

    /// With what belongs to it: the first try, where one target was tried in several ways, as SQLite opens for writing and then
    /// for reading; and of one process, kind and directory what was told as well, or made as well.
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
        let belong = |index: &usize| {
            let is_like = |other: &usize| {
                let (one, other) = (first(*index), first(*other));
                one.kind == other.kind && one.pid == other.pid
            };
            let is_beside = |other: &usize| directory(*index).is_some() && directory(*index) == directory(*other);
            !self.is_lived_with[*index] && culprits.iter().any(|other| is_like(other) && is_beside(other))
        };
        let beside: Vec<usize> = (0..self.list.len()).filter(belong).collect();
        let makes_many = beside.len() >= MANY && first(beside[0]).kind == Kind::Create;
        found.extend(beside.iter().filter(|index| makes_many || told.contains(index)));
        found.sort_unstable();
        found.dedup();
        Cause::Refusals(self.in_order(found))
    }
}

fn refusals(found: Vec<usize>) -> Verdict {
    Verdict::Blames(Cause::Refusals(found))
}

/// When a refusal happened last before a moment, as far as that is kept.
fn latest(candidate: &Candidate<'_>, before: Duration) -> Option<Duration> {
    let (first, last) = (candidate.counted.first.at, candidate.counted.last_at);
    [last, first].into_iter().find(|at| *at <= before)
}

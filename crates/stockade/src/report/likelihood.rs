//! Which refusals explain why a run failed, and the order in which all are reported.

use std::cmp::Reverse;
use std::path::Path;

use super::grant::path_of;
use super::host::{endpoint_of, spellings};
use super::judge::LikelihoodFacts;
use super::mention::{Mention, names_on, tells_of_devices};
use super::probe::{Probe, ProbePlaces, is_hidden, may_be_needed, probe};
use super::refusal::{Counted, Reason, Refusal};
use super::timeline::{Candidate, Cause, End, cause};
use crate::policy::Kind;

/// A refusal, and whether it explains the failure.
pub struct Weighed<'a> {
    pub counted: &'a Counted,
    pub explains: bool,
}

/// Signals for something that the process itself has just done (signal(7)).
const FAULTS: [&str; 4] = ["SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"];

/// All refusals: those that explain the failure in the order in which they happened, then the others, the latest first.
pub fn weigh<'a>(list: &'a [Counted], facts: &LikelihoodFacts<'_>) -> (Vec<Weighed<'a>>, Cause) {
    let evidence = RunEvidence::new(facts);
    let candidates: Vec<Candidate<'a>> = list.iter().map(|counted| evidence.look(counted)).collect();
    let end = End {
        at: facts.duration,
        is_signal: facts.signal.is_some(),
        is_crash: facts.signal.is_some_and(|signal| FAULTS.contains(&signal)),
    };
    let cause = match facts.failed {
        true => cause(&candidates, facts.run_context.timeline, end, facts.run_context.withheld),
        false => Cause::Refusals(Vec::new()),
    };
    let found: &[usize] = match &cause {
        Cause::Refusals(found) => found,
        Cause::Unsure | Cause::Variable(_) | Cause::Program(_) => &[],
    };
    let rank = |index: usize| found.iter().position(|culprit| *culprit == index);
    let mut all: Vec<(usize, bool)> = (0..list.len()).map(|index| (index, rank(index).is_some())).collect();
    all.sort_by_key(|(index, explains)| {
        let candidate = &candidates[*index];
        (
            !explains,
            rank(*index).unwrap_or(usize::MAX),
            candidate.is_probe || !candidate.is_real,
            Reverse(list[*index].last_at),
        )
    });
    let weighed = all
        .into_iter()
        .map(|(index, explains)| Weighed {
            counted: &list[index],
            explains,
        })
        .collect();
    (weighed, cause)
}

/// The facts about the run, ready for lookup.
struct RunEvidence<'a> {
    facts: &'a LikelihoodFacts<'a>,
    /// Whether it reported a move between file systems. Otherwise a move refused that way was done as a copy.
    tells_of_devices: bool,
    places: ProbePlaces<'a>,
}

impl<'a> RunEvidence<'a> {
    fn new(facts: &'a LikelihoodFacts<'a>) -> Self {
        let command = facts.command.first().map_or("", String::as_str);
        let said = &facts.run_context.timeline.said;
        RunEvidence {
            facts,
            tells_of_devices: said.iter().any(|said| tells_of_devices(&said.text)),
            places: ProbePlaces {
                root: &facts.run_context.policy.root,
                home: facts.run_context.home,
                command: command.rsplit('/').next().unwrap_or_default(),
            },
        }
    }

    fn look<'c>(&self, counted: &'c Counted) -> Candidate<'c> {
        let refusal = &counted.first;
        let names = self.names(refusal);
        let is_last_resort = matches!(refusal.reason, Reason::Denied(_)) && is_secret_read(refusal);
        let is_argument = self.is_argument(refusal, &names);
        let is_operand = is_argument && {
            let mut words = self.facts.command.iter().skip(1);
            words.any(|word| {
                !word.contains(char::is_whitespace) && names_on(word, &borrowed(&names), refusal.kind) != Mention::None
            })
        };
        let is_probe = probe(refusal, &self.places) == Probe::Yes
            && !may_be_needed(refusal, &self.places)
            && !is_last_resort
            && !is_argument;
        Candidate {
            counted,
            names,
            is_real: !is_absent(refusal)
                && !is_told_elsewhere(refusal)
                && (self.tells_of_devices || !refusal.reason.is_of_devices()),
            is_probe,
            is_operand,
            is_hidden: !is_operand && !is_last_resort && is_hidden(refusal, &self.places),
        }
    }

    /// The ways in which the program may write the target of a refusal.
    fn names(&self, refusal: &Refusal) -> Vec<String> {
        const SHORTEST: usize = 3;
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
            .chain(file.filter(|name| name.len() >= SHORTEST))
            .filter(|name| !name.is_empty())
            .collect()
    }

    fn is_argument(&self, refusal: &Refusal, names: &[String]) -> bool {
        let names = borrowed(names);
        let arguments = self.facts.command.iter().skip(1);
        arguments.into_iter().any(|argument| {
            names.contains(&argument.as_str()) || names_on(argument, &names, refusal.kind) != Mention::None
        })
    }
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
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
    use crate::policy::DenialKind;
    match &refusal.reason {
        Reason::Denied(denial) => refusal.kind == Kind::Read && denial.kind != DenialKind::Guarded,
        _ => false,
    }
}

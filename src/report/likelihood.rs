//! How likely each refusal explains why a run failed.
//!
//! Programs try many things that they don't need. What speaks for a refusal: it is named on the command line or in
//! what the program printed, it was a change or a connection, it was among the last, it concerns the user's own files.
//! What is absent, or a known probe, explains nothing unless it is named. The points are weights of evidence, tried on
//! traces; only their order matters.

use std::cmp::Reverse;
use std::path::Path;
use std::time::Duration;

use super::grant::path_of;
use super::host::{endpoint_of, spellings};
use super::judge::Facts;
use super::mention::{Mention, mention, mention_host, tells_of_refusal};
use super::probe::{Places, Probe, probe};
use super::refusal::{Counted, Kind, Reason, Refusal};

/// Fewer points explain nothing.
const ENOUGH: i32 = 6;
/// For the latest, the second and the third before the end.
const RECENCY: [i32; 3] = [4, 2, 1];
/// A reading that was refused longer ago than this was lived with; anything else gets more time.
const READ_IS_OLD: Duration = Duration::from_secs(2);
const CHANGE_IS_OLD: Duration = Duration::from_secs(5);
/// As much of the end of what was printed is searched.
const TAIL: usize = 16 << 10;

/// A refusal with what speaks for it.
pub struct Weighed<'a> {
    pub counted: &'a Counted,
    /// Whether it explains the failure.
    pub explains: bool,
    points: i32,
    plausible: bool,
    named: bool,
    probe: Probe,
}

/// All refusals, the likeliest explanation first.
pub fn weigh<'a>(list: &'a [Counted], facts: &Facts<'_>) -> Vec<Weighed<'a>> {
    let evidence = Evidence::new(facts);
    // The latest first; the sorts below keep that order among equals.
    let mut all: Vec<Weighed<'a>> = list.iter().rev().map(|counted| evidence.look(counted)).collect();
    all.sort_by_key(|weighed| Reverse(weighed.counted.last_at));
    reward_the_last(&mut all);
    all.sort_by_key(|weighed| Reverse((weighed.plausible, weighed.points)));
    mark(&mut all);
    all.sort_by_key(|weighed| !weighed.explains);
    all
}

/// Gives points to what was tried last. What was tried twice with one target, first for writing and then for reading,
/// as SQLite does, or first started and then read, as bash does, is one attempt.
fn reward_the_last(all: &mut [Weighed<'_>]) {
    let mut targets: Vec<&[u8]> = Vec::with_capacity(RECENCY.len());
    for weighed in all.iter_mut().filter(|weighed| weighed.plausible) {
        let target = weighed.counted.first.target.as_slice();
        let rank = targets.iter().position(|known| *known == target);
        let rank = rank.unwrap_or_else(|| {
            targets.push(target);
            targets.len() - 1
        });
        match RECENCY.get(rank) {
            Some(points) => weighed.points += points,
            None => break,
        }
    }
}

/// Marks the likeliest, what is as likely, what is named as well, and what happened to its siblings.
fn mark(all: &mut [Weighed<'_>]) {
    let Some(best) = all.first().filter(|best| best.plausible && best.points >= ENOUGH) else {
        return;
    };
    let (points, refusal) = (best.points, &best.counted.first);
    for weighed in all.iter_mut().filter(|weighed| weighed.plausible) {
        let is_strong = weighed.points >= ENOUGH && (weighed.named || weighed.points >= points - 1);
        weighed.explains = is_strong || weighed.probe == Probe::No && are_siblings(&weighed.counted.first, refusal);
    }
}

/// Whether two refusals are the same thing done to two files of one directory of the user's.
fn are_siblings(one: &Refusal, other: &Refusal) -> bool {
    let directory = |refusal: &Refusal| path_of(&refusal.target).and_then(Path::parent).map(Path::to_path_buf);
    one.kind == other.kind
        && one.program == other.program
        && is_users(one)
        && directory(one).is_some()
        && directory(one) == directory(other)
}

/// What is known of the run, ready to be looked up.
struct Evidence<'a> {
    facts: &'a Facts<'a>,
    places: Places<'a>,
    printed: Option<String>,
    /// Something was printed, and it doesn't tell of any refusal.
    is_silent: bool,
}

impl<'a> Evidence<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        let printed = facts.scene.printed.map(|bytes| {
            let tail = &bytes[bytes.len().saturating_sub(TAIL)..];
            String::from_utf8_lossy(tail).into_owned()
        });
        let command = facts.command.first().map_or("", String::as_str);
        Evidence {
            facts,
            places: Places {
                root: &facts.scene.policy.root,
                home: facts.scene.home,
                command: command.rsplit('/').next().unwrap_or_default(),
            },
            is_silent: printed
                .as_deref()
                .is_some_and(|text| !text.trim().is_empty() && !tells_of_refusal(text)),
            printed,
        }
    }

    fn look<'c>(&self, counted: &'c Counted) -> Weighed<'c> {
        let refusal = &counted.first;
        let names = self.names(refusal);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mention = mention_of(refusal.kind);
        let printed = match &self.printed {
            Some(text) if self.facts.failed => mention(text, &names),
            _ => Mention::None,
        };
        let is_argument = self.facts.failed && self.is_argument(&names, mention);
        let named = is_argument || printed != Mention::None;
        let probe = probe(refusal, &self.places);
        let is_last_resort = matches!(refusal.reason, Reason::Denied(_)) && !is_absent(refusal);
        let points = points_of(refusal)
            + 5 * i32::from(is_argument)
            + [0, 6, 10][printed as usize]
            + i32::from(self.is_commands(refusal))
            - i32::from(probe != Probe::No)
            - 3 * i32::from(self.is_silent && !named)
            - 5 * i32::from(self.is_old(counted));
        Weighed {
            counted,
            explains: false,
            points,
            plausible: self.facts.failed
                && !is_absent(refusal)
                && (probe != Probe::Yes || named || is_last_resort && is_secret_read(refusal)),
            named,
            probe,
        }
    }

    /// How the program may call what it was refused.
    fn names(&self, refusal: &Refusal) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let below = path_of(&refusal.target).and_then(|path| path.strip_prefix(self.places.root).ok());
        let hosts = endpoint_of(refusal).map(|endpoint| spellings(refusal.kind, &endpoint));
        [text(&refusal.asked), text(&refusal.target)]
            .into_iter()
            .chain(hosts.into_iter().flatten())
            .chain(below.map(|path| path.to_string_lossy().into_owned()))
            .filter(|name| !name.is_empty())
            .collect()
    }

    fn is_argument(&self, names: &[&str], mention: fn(&str, &[&str]) -> Mention) -> bool {
        let arguments = self.facts.command.iter().skip(1);
        arguments
            .into_iter()
            .any(|argument| names.contains(&argument.as_str()) || mention(argument, names) != Mention::None)
    }

    /// Whether the run's own command asked, and not one of its children.
    fn is_commands(&self, refusal: &Refusal) -> bool {
        use crate::profile::Origin;
        let program = path_of(&refusal.program);
        let mut grants = self.facts.scene.policy.grants.iter();
        program.is_some_and(|program| grants.any(|grant| grant.origin == Origin::Entrypoint && grant.path == program))
    }

    fn is_old(&self, counted: &Counted) -> bool {
        let age = self.facts.duration.saturating_sub(counted.last_at);
        match counted.first.kind {
            Kind::Read | Kind::Syscall => age > READ_IS_OLD,
            _ => age > CHANGE_IS_OLD,
        }
    }
}

/// How a text names what a refusal of this kind is about.
fn mention_of(kind: Kind) -> fn(&str, &[&str]) -> Mention {
    match kind {
        Kind::Connect | Kind::Resolve | Kind::Listen => mention_host,
        _ => mention,
    }
}

fn points_of(refusal: &Refusal) -> i32 {
    let of_kind = match refusal.kind {
        Kind::Write | Kind::Create | Kind::Delete => 4,
        Kind::Execute | Kind::Connect | Kind::Listen | Kind::Socket | Kind::Resolve => 4,
        Kind::Spawn => 3,
        Kind::Read | Kind::Signal => 2,
        Kind::Metadata => 1,
        Kind::Syscall => 0,
    };
    of_kind + i32::from(is_users(refusal)) - i32::from(matches!(refusal.reason, Reason::Never(_)))
}

/// Whether the target is a file outside the system's own trees.
fn is_users(refusal: &Refusal) -> bool {
    const SYSTEM: [&str; 6] = ["/etc", "/proc", "/sys", "/dev", "/run", "/var/lib"];
    path_of(&refusal.target).is_some_and(|path| !SYSTEM.iter().any(|tree| path.starts_with(tree)))
}

/// Whether the program would have found nothing without Stockade, either.
fn is_absent(refusal: &Refusal) -> bool {
    let needs_it = match refusal.kind {
        Kind::Read | Kind::Write | Kind::Delete | Kind::Metadata | Kind::Execute => true,
        Kind::Socket => refusal.syscall != "bind",
        _ => false,
    };
    needs_it && !refusal.exists && path_of(&refusal.target).is_some()
}

/// A key in `~/.ssh` is behind a dot and needed all the same.
fn is_secret_read(refusal: &Refusal) -> bool {
    use crate::policy::DenialKind;
    match &refusal.reason {
        Reason::Denied(denial) => refusal.kind == Kind::Read && denial.kind != DenialKind::Guarded,
        _ => false,
    }
}

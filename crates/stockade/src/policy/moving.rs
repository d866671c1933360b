//! Whether a move would open something that is closed, or put something where nothing may be made.
//!
//! Both look at names alone, so that the answer holds whatever a directory contains, now and later. A glob is an
//! automaton over components: it is in a set of positions after the components of a path. A move *opens* nothing where
//! the old positions are among the new: what follows stays closed. It *fills* nothing where the new positions are among
//! the old: what would be closed under the new name was closed when it was made.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use globset::GlobMatcher;

use super::closed::{compile, essence};
use super::decide::{begun_packages, holds_packages};
use super::listed::Closing;
use super::{Access, Denial, DenialKind, Matcher, Target, git};
use crate::profile::Origin;

/// What comes to have a name, by a move, a link or a symlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'p> {
    /// A directory that had this name, with all it holds.
    Directory(&'p Path),
    /// A file, as far as that could be seen: another supervisor's run may have put a directory in its place by now.
    File,
    /// A symbolic link, which may lead to anything.
    Link,
}

impl<'a> Matcher<'a> {
    /// A denial that closes something below `new`, so that what arrives there may hold, or lead to, what the run could
    /// not have made under that name. `new` itself is judged as any other entry. The kernel's names.
    pub fn filled_by(&self, arrival: Arrival<'_>, new: &Path) -> Option<&'a Denial> {
        let denials = &self.policy().denials;
        let mut all = denials.iter().zip(self.closed().courses(denials));
        let filled =
            all.find(|(denial, course)| denial.access.intersects(Access::CHANGE) && course.is_filled(arrival, new));
        match arrival {
            Arrival::Directory(old) => filled.map(|(denial, _)| denial).or_else(|| self.crossed(old, new)),
            Arrival::File | Arrival::Link => filled.map(|(denial, _)| denial),
        }
    }

    /// A denial that holds below one of the names and not below the other: patterns are off in exempt grants, secret ones
    /// in directories of packages too, and all that is built in at places that a person opened. What is closed in a directory
    /// would be open after a move into one of these, or to a name that makes one of what it holds, and what was made in one would
    /// come to be closed after a move out of it.
    fn crossed(&self, old: &Path, new: &Path) -> Option<&'a Denial> {
        let exempt = || self.policy().grants.iter().filter(|grant| grant.exempt);
        let is_exempt = |path: &Path| exempt().any(|grant| grant.covers(path));
        let holds_exempt = |path: &Path| exempt().any(|grant| grant.path != path && grant.path.starts_with(path));
        let mut denials = self.policy().denials.iter();
        if is_exempt(old) != is_exempt(new) || holds_exempt(old) || holds_exempt(new) {
            denials.find(|denial| denial.is_pattern())
        } else if holds_packages(old) != holds_packages(new) || begun_packages(old) != begun_packages(new) {
            denials.find(|denial| denial.kind == DenialKind::SecretPattern)
        } else {
            let mut all = denials.zip(self.closed().courses(&self.policy().denials));
            all.find(|(_, course)| matches!(course, Course::Listed(closing) if closing.is_opened_by_moving(old, new)))
                .map(|(denial, _)| denial)
        }
    }

    /// A denial by built-in name that closes something strictly below this directory.
    pub fn built_in_below(&self, directory: &Path) -> Option<&'a Denial> {
        let denials = &self.policy().denials;
        let mut all = denials.iter().zip(self.closed().courses(denials));
        let found = all.find(|(denial, course)| match course {
            Course::Path(path) => denial.origin == Origin::BuiltIn && path.starts_with(directory) && path != directory,
            Course::Listed(closing) => closing.is_placed_below(directory),
            _ => false,
        });
        found.map(|(denial, _)| denial)
    }

    /// A denial that closes something at or below `old` and would no longer do so when that is `new`, unless another
    /// denial closes all of `new`. Strict where it can't tell, and about everything that git trusts. Both are the
    /// kernel's names. Where denials are off is a matter of [`Matcher::filled_by`].
    pub fn opens_by_moving(&self, old: &Path, new: &Path) -> Option<&'a Denial> {
        self.opens_by_moving_for_maker(old, new, &|_| false)
    }

    /// The same for a run that made some directories itself, as in [`Matcher::denial_for_maker`].
    pub fn opens_by_moving_for_maker(
        &self,
        old: &Path,
        new: &Path,
        made: &dyn Fn(&Path) -> bool,
    ) -> Option<&'a Denial> {
        let denials = &self.policy().denials;
        let mut lost = denials.iter().zip(self.closed().courses(denials));
        lost.find(|(denial, course)| course.opens(old, new, made) && !self.closes_wholly(new, denial))
            .map(|(denial, _)| denial)
    }

    /// Whether some denial closes all of the path at least as tightly as this one does.
    fn closes_wholly(&self, path: &Path, denial: &Denial) -> bool {
        let denials = &self.policy().denials;
        let as_tight = |index: usize| {
            let other = &denials[index];
            // What is closed in a git directory isn't closed with all that is below it.
            !other.guards_git() && other.access.contains(denial.access) && (denial.is_pattern() || !other.is_pattern())
        };
        self.closed().first(path, &|_| false, as_tight).is_some()
    }
}

/// What a denial closes, as far as moving goes.
#[derive(Debug, Clone)]
pub(super) enum Course {
    /// One path and what is below it.
    Path(PathBuf),
    /// Git directories.
    Git,
    /// A built-in list.
    Listed(Closing),
    /// A glob, component by component.
    Steps(Vec<Step>),
    /// Something below this directory: a glob that can't be split into components.
    Somewhere(PathBuf),
    /// All there is.
    Everything,
    /// Nothing that moving could open.
    Nothing,
}

/// One component of a glob.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// This name.
    Literal(OsString),
    /// A name that matches.
    Name(GlobMatcher),
    /// `**`: any number of names; at the end at least one.
    Any,
}

impl Course {
    pub(super) fn new(denial: &Denial) -> Course {
        match &denial.target {
            Target::Path(path) => Course::Path(path.clone()),
            Target::GitDirectories => Course::Git,
            Target::Listed(listed) => Course::Listed(Closing::new(listed)),
            // What is open below a directory is open with the directory, and both names have to be open to move it.
            Target::AllBut { .. } => Course::Nothing,
            Target::Glob { below, glob } if compile(glob, denial.kind).is_ok() => {
                let literal = below
                    .components()
                    .map(|part| Step::Literal(part.as_os_str().to_owned()));
                steps(essence(glob), denial.kind)
                    .map(|steps| Course::Steps(literal.chain(steps).collect()))
                    .unwrap_or_else(|| Course::Somewhere(below.clone()))
            }
            Target::Glob { .. } => Course::Everything,
        }
    }

    /// Whether something that is closed at or below `old`, for a run that made some directories, may be open at or below
    /// `new`.
    fn opens(&self, old: &Path, new: &Path, made: &dyn Fn(&Path) -> bool) -> bool {
        let touches = |place: &Path| old.starts_with(place) || place.starts_with(old);
        match self {
            Course::Path(closed) => touches(closed) && !new.starts_with(closed),
            Course::Git => !git::may_move(old, new) && !git::git_directories(old).iter().any(|above| made(above)),
            Course::Listed(closing) => closing.opens(old, new, made),
            Course::Steps(steps) => !positions(steps, old).is_among(&positions(steps, new)),
            Course::Somewhere(below) => touches(below),
            Course::Everything | Course::Nothing => false,
        }
    }
}

impl Course {
    /// Whether something is closed strictly below `new` that wasn't where this comes from.
    fn is_filled(&self, arrival: Arrival<'_>, new: &Path) -> bool {
        match self {
            Course::Path(closed) => closed.starts_with(new) && closed != new,
            Course::Listed(closing) => match arrival {
                Arrival::File => closing.is_filled(None, new),
                Arrival::Directory(old) => closing.is_filled(Some(old), new),
                Arrival::Link => closing.is_filled(new.parent(), new),
            },
            Course::Steps(steps) => {
                let from = match arrival {
                    Arrival::File => return false,
                    Arrival::Directory(old) => old,
                    // It leads anywhere. A glob that closes names at any depth says nothing of that: so it counts
                    // where this very name takes the glob a step further.
                    Arrival::Link => new.parent().unwrap_or(new),
                };
                let (before, after) = (positions(steps, from), positions(steps, new));
                matches!(after, Positions::Before(_)) && !after.is_among(&before)
            }
            Course::Somewhere(_) if arrival == Arrival::File => false,
            Course::Somewhere(below) => new.starts_with(below) || below.starts_with(new),
            // What git trusts has a rule of its own; the others refuse the name itself.
            Course::Git | Course::Everything | Course::Nothing => false,
        }
    }
}

/// A glob by its components; nothing where these don't tell all that it means.
fn steps(glob: &str, kind: DenialKind) -> Option<Vec<Step>> {
    let parts: Vec<_> = glob.split('/').collect();
    // What several of them in a row mean is a matter of the matcher's version.
    if parts.windows(2).any(|pair| pair == ["**", "**"]) {
        return None;
    }
    parts.into_iter().map(|part| step(part, kind)).collect()
}

fn step(part: &str, kind: DenialKind) -> Option<Step> {
    if part == "**" {
        return Some(Step::Any);
    }
    // A `**` among alternatives may span components, and so may a class that holds the separator. A separator inside
    // braces, or behind a backslash, leaves parts that are no globs by themselves.
    if part.contains("**") || !has_plain_classes(part) {
        return None;
    }
    let glob = compile(part, kind).ok()?;
    Some(Step::Name(glob.compile_matcher()))
}

/// Whether all classes hold but letters, digits and `_`, and so no separator.
fn has_plain_classes(part: &str) -> bool {
    part.split('[').skip(1).all(|rest| {
        let class = rest.split(']').next().unwrap_or(rest);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        class.bytes().all(plain) && !class.starts_with('-') && !class.contains("--")
    })
}

/// Where the automaton can be.
enum Positions {
    /// At the end: the path, or a directory above it, is closed.
    Closed,
    /// Before these steps.
    Before(BTreeSet<usize>),
}

impl Positions {
    fn is_among(&self, others: &Positions) -> bool {
        match (self, others) {
            (_, Positions::Closed) => true,
            (Positions::Closed, _) => false,
            (Positions::Before(ours), Positions::Before(theirs)) => ours.is_subset(theirs),
        }
    }
}

fn positions(steps: &[Step], path: &Path) -> Positions {
    let mut before = BTreeSet::new();
    enter(steps, 0, &mut before);
    for part in path.components() {
        let mut after = BTreeSet::new();
        for at in before {
            advance(steps, at, part, &mut after);
        }
        if after.contains(&steps.len()) {
            return Positions::Closed;
        }
        before = after;
    }
    Positions::Before(before)
}

/// Adds a position, and the one behind a `**` that may be empty.
fn enter(steps: &[Step], at: usize, positions: &mut BTreeSet<usize>) {
    positions.insert(at);
    if matches!(steps.get(at), Some(Step::Any)) && at + 1 < steps.len() {
        enter(steps, at + 1, positions);
    }
}

fn advance(steps: &[Step], at: usize, part: Component<'_>, after: &mut BTreeSet<usize>) {
    let name = part.as_os_str();
    match &steps[at] {
        Step::Literal(literal) if literal == name => enter(steps, at + 1, after),
        Step::Name(glob) if glob.is_match(name) => enter(steps, at + 1, after),
        Step::Any if at + 1 == steps.len() => enter(steps, at + 1, after),
        Step::Any => enter(steps, at, after),
        Step::Literal(_) | Step::Name(_) => {}
    }
}

//! Checks whether a move would open a closed path, or bring content to a name under which it couldn't be created.
//!
//! Both checks look at names alone, so the answer holds whatever a directory contains, now and later. What a glob closes
//! below a path follows from which of the glob's beginnings match the path. A move *opens* nothing where those of the old
//! name are among those of the new: everything below stays closed. It *fills* nothing where those of the new name are
//! among those of the old: whatever would be closed under the new name was closed when it was created.
//!
//! What would fill a closed name is refused as `EXDEV` for a directory, so that programs copy it and each file is
//! judged, and as `EACCES` for a symbolic link. A directory is never moved over the border of a tree in which patterns
//! don't count: the scratch directory, exempt grants, packages.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobSet};

use super::closed::{compile, essence};
use super::decide::{begun_packages, holds_packages};
use super::listed::{Closing, GuardedBy, IsSpared, SecretList};
use super::{Access, DenialKind, DenialRule, Matcher, Target, git};
use crate::profile::Origin;

/// The kind of object that gets a name by a rename, a link or a symlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'p> {
    /// A directory that had this name, with everything in it.
    Directory(&'p Path),
    /// A directory where nothing was guarded for being the run's own: what its new name begins may be in it.
    Made,
    /// A file, as far as the supervisor saw: another supervisor's run may have put a directory in its place by now.
    File,
    /// A symbolic link, whose target may be anything.
    Link,
}

impl<'a> Matcher<'a> {
    /// Returns a denial that closes a path below `new`, where the arriving object may hold, or lead to, content that the run
    /// could not have created under that name. `new` itself is checked like any other entry. Paths are the kernel's names.
    pub fn filled_by(&self, arrival: Arrival<'_>, new: &Path) -> Option<&'a DenialRule> {
        let denials = &self.policy().denials;
        let mut all = denials.iter().zip(self.closed().denied_sets(denials));
        let filled = all.find(|(denial, denied_set)| {
            denial.access.intersects(Access::CHANGE) && denied_set.is_filled(arrival, new)
        });
        match arrival {
            Arrival::Directory(old) => filled.map(|(denial, _)| denial).or_else(|| self.crossed(old, new)),
            Arrival::Made | Arrival::File | Arrival::Link => filled.map(|(denial, _)| denial),
        }
    }

    /// Returns a denial that applies below one of the names and not below the other: patterns are off in exempt grants,
    /// secret patterns in package directories too, names that tools look for in any directory also where builds write, and all built-in denials at paths that a person opened. Content
    /// closed in a directory would be open after a move into one of these, or to a name that makes one of its entries
    /// such a place; and content made in one would become closed after a move out.
    fn crossed(&self, old: &Path, new: &Path) -> Option<&'a DenialRule> {
        let exempt = || self.policy().grants.iter().filter(|grant| grant.exempt);
        let is_exempt = |path: &Path| exempt().any(|grant| grant.covers(path));
        let holds_exempt = |path: &Path| exempt().any(|grant| grant.path != path && grant.path.starts_with(path));
        let mut denials = self.policy().denials.iter();
        if is_exempt(old) != is_exempt(new) || holds_exempt(old) || holds_exempt(new) {
            denials.find(|denial| denial.is_pattern())
        } else if holds_packages(old) != holds_packages(new) || begun_packages(old) != begun_packages(new) {
            denials.find(|denial| denial.kind == DenialKind::SecretPattern)
        } else if self.policy().holds_output(old) && !self.policy().holds_output(new) {
            // What was made there unguarded. On the way in nothing opens that a tool would still find.
            let is_of_folders =
                |target: &Target| matches!(target, Target::Listed(listed) if listed.list == SecretList::Folder);
            denials.find(|denial| is_of_folders(&denial.target))
        } else {
            let mut all = denials.zip(self.closed().denied_sets(&self.policy().denials));
            all.find(|(_, denied_set)| matches!(denied_set, DeniedSet::BuiltIn(closing) if closing.is_opened_by_moving(old, new)))
                .map(|(denial, _)| denial)
        }
    }

    /// Returns a built-in denial with a fixed path that closes something strictly below this directory.
    pub fn built_in_below(&self, directory: &Path) -> Option<&'a DenialRule> {
        let denials = &self.policy().denials;
        let mut all = denials.iter().zip(self.closed().denied_sets(denials));
        let found = all.find(|(denial, denied_set)| match denied_set {
            DeniedSet::Tree(path) => {
                denial.origin == Origin::BuiltIn && path.starts_with(directory) && path != directory
            }
            DeniedSet::BuiltIn(closing) => closing.is_placed_below(directory),
            _ => false,
        });
        found.map(|(denial, _)| denial)
    }

    /// Returns a denial that closes something at or below `old` and would no longer do so under `new`, unless another
    /// denial closes all of `new`. Strict where it can't tell, and for all files that git trusts. Both are the kernel's
    /// names. Places where denials are off are checked by [`Matcher::filled_by`].
    pub fn opens_by_moving(&self, old: &Path, new: &Path) -> Option<&'a DenialRule> {
        self.opens_by_moving_unless(old, new, &|_, _| false)
    }

    /// Like [`Matcher::opens_by_moving`], where directories are spared, as in [`Matcher::denial_unless`].
    pub fn opens_by_moving_unless(&self, old: &Path, new: &Path, is_spared: IsSpared<'_>) -> Option<&'a DenialRule> {
        let denials = &self.policy().denials;
        let mut lost = denials.iter().zip(self.closed().denied_sets(denials));
        lost.find(|(denial, denied_set)| denied_set.opens(old, new, is_spared) && !self.closes_wholly(new, denial))
            .map(|(denial, _)| denial)
    }

    /// Whether another denial closes all of the path at least as strictly as this one.
    fn closes_wholly(&self, path: &Path, denial: &DenialRule) -> bool {
        let denials = &self.policy().denials;
        let as_tight = |index: usize| {
            let other = &denials[index];
            // A denial that closes a path in a git directory doesn't close everything below it.
            !other.guards_git() && other.access.contains(denial.access) && (denial.is_pattern() || !other.is_pattern())
        };
        self.closed().first(path, &|_, _| false, as_tight).is_some()
    }
}

/// The paths that a denial closes, in the form in which rename and link compare two names.
#[derive(Debug, Clone)]
pub(super) enum DeniedSet {
    /// One path and everything below it.
    Tree(PathBuf),
    /// Git directories.
    GitDirectories,
    /// A built-in list.
    BuiltIn(Closing),
    /// A glob, component by component.
    Components(Beginnings),
    /// A path below this directory: a glob that can't be split into components.
    AnywhereBelow(PathBuf),
    /// All paths.
    All,
    /// No path that a move could open.
    Empty,
}

impl DeniedSet {
    pub(super) fn new(denial: &DenialRule) -> DeniedSet {
        match &denial.target {
            Target::Path(path) => DeniedSet::Tree(path.clone()),
            Target::GitDirectories => DeniedSet::GitDirectories,
            Target::Listed(listed) => DeniedSet::BuiltIn(Closing::new(listed)),
            // A path open below a directory is open with the directory, and a move needs both names open.
            Target::AllBut { .. } => DeniedSet::Empty,
            Target::Glob { below, glob } if compile(glob, denial.kind).is_ok() => {
                Beginnings::of(below, essence(glob), denial.kind)
                    .map_or_else(|| DeniedSet::AnywhereBelow(below.clone()), DeniedSet::Components)
            }
            Target::Glob { .. } => DeniedSet::All,
        }
    }

    /// Whether something closed at or below `old`, with what is spared there, may be open at or below `new`.
    fn opens(&self, old: &Path, new: &Path, is_spared: IsSpared<'_>) -> bool {
        let touches = |place: &Path| old.starts_with(place) || place.starts_with(old);
        match self {
            DeniedSet::Tree(closed) => touches(closed) && !new.starts_with(closed),
            DeniedSet::GitDirectories => {
                !git::may_move(old, new) && !git::git_directory(old).is_some_and(|git| is_spared(GuardedBy::Git, git))
            }
            DeniedSet::BuiltIn(closing) => closing.opens(old, new, is_spared),
            DeniedSet::Components(glob) => !glob.begun_by(old).is_among(&glob.begun_by(new)),
            DeniedSet::AnywhereBelow(below) => touches(below),
            DeniedSet::All | DeniedSet::Empty => false,
        }
    }
}

impl DeniedSet {
    /// Whether something strictly below `new` is closed that wasn't closed below the old name.
    fn is_filled(&self, arrival: Arrival<'_>, new: &Path) -> bool {
        match self {
            DeniedSet::Tree(closed) => closed.starts_with(new) && closed != new,
            DeniedSet::BuiltIn(closing) => match arrival {
                Arrival::File => closing.is_filled(None, new),
                Arrival::Directory(old) => closing.is_filled(Some(old), new),
                Arrival::Made | Arrival::Link => closing.is_filled(new.parent(), new),
            },
            DeniedSet::Components(glob) => {
                let from = match arrival {
                    Arrival::File => return false,
                    Arrival::Directory(old) => old,
                    // A symlink may lead anywhere. A glob that closes names at any depth would match below every name,
                    // so it counts only where this very name advances the glob.
                    Arrival::Made | Arrival::Link => new.parent().unwrap_or(new),
                };
                let after = glob.begun_by(new);
                after != Begun::Whole && !after.is_among(&glob.begun_by(from))
            }
            DeniedSet::AnywhereBelow(_) if arrival == Arrival::File => false,
            DeniedSet::AnywhereBelow(below) => new.starts_with(below) || below.starts_with(new),
            // Files that git trusts have a rule of their own; the others refuse the name itself.
            DeniedSet::GitDirectories | DeniedSet::All | DeniedSet::Empty => false,
        }
    }
}

/// The beginnings of a glob: `a`, `a/*` and `a/*/b` of `a/*/b`.
#[derive(Debug, Clone)]
pub(super) struct Beginnings {
    below: PathBuf,
    /// The shortest first. The last two match the closed paths, and what lies below those.
    globs: Vec<Glob>,
    /// Compiled at the first path below the directory.
    compiled: OnceLock<Option<GlobSet>>,
}

/// The beginnings that match a path. Whatever follows the path, a glob closes it by these alone.
#[derive(PartialEq, Eq)]
enum Begun {
    /// The whole glob: the path, or a directory above it, is closed.
    Whole,
    /// These beginnings.
    Parts(Vec<usize>),
    /// The path lies this many names above the glob's directory.
    Above(usize),
}

impl Begun {
    fn is_among(&self, others: &Begun) -> bool {
        match (self, others) {
            (_, Begun::Whole) => true,
            (Begun::Parts(ours), Begun::Parts(theirs)) => ours.iter().all(|part| theirs.contains(part)),
            (Begun::Parts(ours), Begun::Above(_)) => ours.is_empty(),
            _ => self == others,
        }
    }
}

impl Beginnings {
    /// `None` where the components of a glob don't carry its full meaning.
    fn of(below: &Path, glob: &str, kind: DenialKind) -> Option<Beginnings> {
        // The meaning of several `**` in a row depends on the matcher's version, one beside letters may span components,
        // and so may a class that contains the separator.
        let is_plain = |part: &str| part == "**" || !part.contains("**") && has_plain_classes(part);
        if glob.contains("**/**") || !glob.split('/').all(is_plain) {
            return None;
        }
        // A separator inside braces or after a backslash leaves a beginning that is no glob.
        let ends = glob.match_indices('/').map(|(at, _)| at);
        let beginnings = ends.map(|end| compile(&glob[..end], kind));
        let whole = [glob.to_string(), format!("{glob}/**")];
        let globs = beginnings.chain(whole.iter().map(|glob| compile(glob, kind)));
        Some(Beginnings {
            below: below.to_path_buf(),
            globs: globs.collect::<Result<_, _>>().ok()?,
            compiled: OnceLock::new(),
        })
    }

    fn begun_by(&self, path: &Path) -> Begun {
        let Ok(rest) = path.strip_prefix(&self.below) else {
            return match self.below.strip_prefix(path) {
                Ok(missing) => Begun::Above(missing.iter().count()),
                Err(_) => Begun::Parts(Vec::new()),
            };
        };
        if rest.as_os_str().is_empty() {
            let any_depth = self.globs[0].glob().starts_with("**").then_some(0);
            return Begun::Parts(any_depth.into_iter().chain([usize::MAX]).collect());
        }
        let set = self.compiled.get_or_init(|| GlobSet::new(&self.globs).ok());
        // Too large to compile: it closes everything, as in `Sets`.
        let Some(set) = set else { return Begun::Whole };
        let parts = set.matches(rest);
        match parts.iter().any(|part| part + 2 >= self.globs.len()) {
            true => Begun::Whole,
            false => Begun::Parts(parts),
        }
    }
}

/// Whether all classes contain only letters, digits and `_`, and so no separator.
fn has_plain_classes(part: &str) -> bool {
    part.split('[').skip(1).all(|rest| {
        // A `]` that comes first is one of the class's characters.
        let class = rest.split(']').next().filter(|class| !class.is_empty()).unwrap_or(rest);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        class.bytes().all(plain) && !class.starts_with('-') && !class.contains("--")
    })
}

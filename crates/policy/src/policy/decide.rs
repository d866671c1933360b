//! Evaluates one access against a policy: pure, by component, on a path that is already the kernel's name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listed::{Closing, IsSpared, Line, openable_line};
use super::{Access, Closed, DenialKind, DenialRule, Grant, GrantExtent, Policy, Target, git_directory};
use crate::profile::Origin;

/// The decision on one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessDecision<'a> {
    /// Allowed, by this grant among others.
    Allow(&'a Grant),
    /// Refused by this denial.
    Denied(&'a DenialRule),
    /// Refused because nothing grants it.
    NotGranted,
}

impl AccessDecision<'_> {
    /// Whether the access may go ahead.
    pub fn is_allowed(self) -> bool {
        matches!(self, AccessDecision::Allow(_))
    }
}

impl Grant {
    /// Whether a person wrote it (in a profile, as a flag, as an answer), as opposed to Stockade deriving it. Under a
    /// supervisor, Landlock grants the derived ones, and the supervisor serves the chosen ones.
    pub fn is_chosen(&self) -> bool {
        matches!(
            self.origin,
            Origin::Shipped { .. } | Origin::File { .. } | Origin::Flag(_) | Origin::Approval(_)
        )
    }

    /// Whether the grant covers a path, whatever the access.
    pub fn covers(&self, path: &Path) -> bool {
        match self.extent {
            GrantExtent::Single => path == self.path,
            GrantExtent::Subtree => lies_below(path, &self.path),
        }
    }
}

/// Like `Path::starts_with`, which compares component by component, in a tenth of the time: compares bytes where they decide.
pub fn lies_below(path: &Path, top: &Path) -> bool {
    let (bytes, above) = (path.as_os_str().as_bytes(), top.as_os_str().as_bytes());
    if bytes.len() > above.len() && bytes[above.len()] == b'/' && bytes.starts_with(above) {
        return true;
    }
    let same = bytes.iter().zip(above).take_while(|(a, b)| a == b).count();
    // A separator or a dot may belong to a spelling (`//`, `/./`) that is equivalent.
    let plain = |byte: &u8| *byte != b'/' && *byte != b'.';
    match (bytes.get(same), above.get(same)) {
        (Some(a), Some(b)) if plain(a) && plain(b) => false,
        (None, Some(_)) if above[same..].iter().any(plain) => false,
        (None | Some(b'/'), None) => true,
        _ => path.starts_with(top),
    }
}

impl Policy {
    /// The first grant of an access (a single bit) to a path. Whether the access is allowed, denials say too.
    pub fn granting(&self, access: Access, path: &Path) -> Option<&Grant> {
        let mut grants = self.grants.iter();
        grants.find(|grant| grant.access.contains(access) && grant.covers(path))
    }
}

impl DenialRule {
    /// Whether it covers files of a kind at any depth, and so doesn't apply in the runtime base and in installations. A
    /// denial with a fixed place applies there too, except a scope, which concerns only the files that a run works on.
    pub(super) fn is_pattern(&self) -> bool {
        let anywhere = matches!(&self.target, Target::Glob { glob, .. } if glob.starts_with("**/"));
        matches!(self.kind, DenialKind::SecretPattern | DenialKind::Scope)
            || self.kind == DenialKind::Explicit && anywhere
    }

    /// The same denial as it applies at a path, for messages: of a built-in list, the one line that matches.
    pub fn met_at(&self, path: &Path) -> DenialRule {
        let target = match &self.target {
            Target::Listed(listed) => Closing::new(listed).target(path),
            _ => None,
        };
        DenialRule {
            target: target.unwrap_or_else(|| self.target.clone()),
            ..self.clone()
        }
    }

    /// Whether it spares directories, those that the run made itself among them.
    pub fn spares(&self) -> bool {
        let is_list = matches!(&self.target, Target::Listed(listed) if listed.list.is_guarded());
        is_list || self.guards_git()
    }

    /// The line by which it guards a name that a person may open for one file. Of a denial as it was met.
    pub fn openable_line(&self) -> Option<&'static Line> {
        match &self.target {
            Target::Glob { below, glob } if self.kind == DenialKind::Guarded && below == Path::new("/") => {
                openable_line(glob)
            }
            _ => None,
        }
    }

    /// Whether it is the denial that guards git directories.
    pub fn guards_git(&self) -> bool {
        self.target == Target::GitDirectories
    }

    /// Returns a predicate on trees: whether an anchored denial closes all of a tree or may close something in it.
    pub fn touching(&self) -> impl Fn(&Path) -> bool + use<> {
        let (place, listed) = match &self.target {
            _ if self.is_pattern() => (None, None),
            Target::Listed(listed) => (None, Some(Closing::new(listed))),
            _ => (self.place(), None),
        };
        move |tree| {
            place
                .as_ref()
                .is_some_and(|place| lies_below(place, tree) || lies_below(tree, place))
                || listed.as_ref().is_some_and(|closing| closing.touches(tree))
        }
    }

    /// Whether an anchored denial can close only this directory or something in it.
    pub fn is_within(&self, directory: &Path) -> bool {
        match &self.target {
            Target::Listed(listed) => Closing::new(listed).is_placed_below(directory),
            _ => self.place().is_some_and(|place| lies_below(&place, directory)),
        }
    }

    /// The directory or file that contains everything an anchored denial closes; `None` for patterns and lists.
    fn place(&self) -> Option<PathBuf> {
        match &self.target {
            _ if self.is_pattern() => None,
            Target::Path(path) => Some(path.clone()),
            Target::GitDirectories => Some(PathBuf::from("/")),
            Target::AllBut { below, .. } => Some(below.clone()),
            Target::Listed(_) => None,
            Target::Glob { below, glob } => {
                let literal = glob.split('/').take(Target::literal_parts(glob));
                Some(literal.fold(below.clone(), |path, part| path.join(part)))
            }
        }
    }
}

impl Target {
    /// The number of leading components of a glob that are literal names.
    pub fn literal_parts(glob: &str) -> usize {
        glob.split('/').take_while(|part| !part.contains(SPECIAL)).count()
    }
}

/// The characters that make a component of a glob more than a literal name.
pub(super) const SPECIAL: [char; 6] = ['*', '?', '[', '{', '\\', '!'];

/// A policy with its denials compiled.
#[derive(Debug)]
pub struct Matcher<'a> {
    policy: &'a Policy,
    closed: Verdicts<'a>,
}

#[derive(Debug)]
enum Verdicts<'a> {
    Own(Box<Closed>),
    Shared(&'a Closed),
}

impl<'a> Matcher<'a> {
    /// Compiles the denials.
    pub fn new(policy: &'a Policy) -> Self {
        Matcher {
            policy,
            closed: Verdicts::Own(Box::new(Closed::compile(policy))),
        }
    }

    /// Uses denials compiled from this policy, or from one with the same denials. Costs nothing.
    pub fn with(policy: &'a Policy, closed: &'a Closed) -> Self {
        assert_eq!(policy.denials.len(), closed.count(), "denials of another policy");
        Matcher {
            policy,
            closed: Verdicts::Shared(closed),
        }
    }

    /// Decides one access (a single bit) to one path, the kernel's absolute name of the object.
    pub fn decide(&self, access: Access, path: &Path) -> AccessDecision<'a> {
        let mut exempt = false;
        let mut allowing = None;
        for grant in self.policy.grants.iter().filter(|grant| grant.covers(path)) {
            exempt |= grant.exempt;
            if grant.access.contains(access) {
                allowing = allowing.or(Some(grant));
            }
        }
        if let Some(denial) = self.denial(access, path, exempt) {
            return AccessDecision::Denied(denial);
        }
        allowing.map_or(AccessDecision::NotGranted, AccessDecision::Allow)
    }

    /// Returns the denial that refuses this access, if any. `exempt`: secret patterns are off here.
    pub fn denial(&self, access: Access, path: &Path, exempt: bool) -> Option<&'a DenialRule> {
        self.denial_of(access, path, exempt, &|_, _| false)
    }

    /// Whether a path is closed to reading by the lists of secrets alone, and a grant covers it: by nothing that a person said.
    pub fn is_secret_by_list(&self, path: &Path) -> bool {
        let denials = &self.policy.denials;
        let is_of_list = |denial: &DenialRule| {
            matches!(denial.kind, DenialKind::SecretName | DenialKind::SecretPattern)
                && denial.origin == Origin::BuiltIn
        };
        let is_denied = matches!(self.decide(Access::READ, path), AccessDecision::Denied(denial) if is_of_list(denial));
        let is_persons = |index: usize| denials[index].access.contains(Access::READ) && !is_of_list(&denials[index]);
        is_denied
            && self.policy.granting(Access::READ, path).is_some()
            && self.closed().first(path, &|_, _| false, is_persons).is_none()
    }

    /// The denial that closes this access to a path, where directories are spared: a `.git` among them isn't guarded, and no path in one is guarded for its
    /// name alone.
    pub fn denial_unless(&self, access: Access, path: &Path, is_spared: IsSpared<'_>) -> Option<&'a DenialRule> {
        self.denial_of(access, path, false, is_spared)
    }

    fn denial_of(&self, access: Access, path: &Path, exempt: bool, is_spared: IsSpared<'_>) -> Option<&'a DenialRule> {
        let denials = &self.policy.denials;
        let refuses = |index: usize| {
            let denial = &denials[index];
            let is_lifted = || {
                exempt && denial.is_pattern()
                    || denial.kind == DenialKind::SecretPattern && is_of_a_package(path)
                    || self.opens_part(denial, path)
            };
            denial.access.intersects(access) && !is_lifted()
        };
        self.closed()
            .first(path, is_spared, refuses)
            .map(|index| &denials[index])
    }

    /// Whether a person opened a file in a directory that is guarded since a repository's configuration names it.
    fn opens_part(&self, denial: &DenialRule, path: &Path) -> bool {
        denial.kind == DenialKind::Guarded
            && matches!(&denial.target, Target::Path(guarded) if guarded != path)
            && git_directory(path).is_none()
            && self.policy.opens_guarded(path)
    }

    pub(super) fn policy(&self) -> &'a Policy {
        self.policy
    }

    pub(super) fn closed(&self) -> &Closed {
        match &self.closed {
            Verdicts::Own(closed) => closed,
            Verdicts::Shared(closed) => closed,
        }
    }
}

/// A component of a package directory's path.
enum PackageName {
    As(&'static str),
    /// Contains this text, in any case.
    With(&'static str),
}

impl PackageName {
    fn is(&self, name: &OsStr) -> bool {
        match self {
            PackageName::As(this) => name == *this,
            PackageName::With(part) => name
                .to_str()
                .is_some_and(|name| name.to_ascii_lowercase().contains(part)),
        }
    }
}

/// Package directories: Node's, Python's, vendored ones, cargo's, Go's and Maven's.
const OF_PACKAGES: &[&[PackageName]] = &[
    &[PackageName::As("node_modules")],
    &[PackageName::As("site-packages")],
    &[PackageName::As("dist-packages")],
    &[PackageName::As("vendor")],
    &[
        PackageName::With("cargo"),
        PackageName::As("registry"),
        PackageName::As("src"),
    ],
    &[
        PackageName::With("cargo"),
        PackageName::As("git"),
        PackageName::As("checkouts"),
    ],
    &[PackageName::As("pkg"), PackageName::As("mod")],
    &[PackageName::As(".m2"), PackageName::As("repository")],
];

/// Whether a path lies in a directory of installed packages. These come from registries, with certificates and test
/// keys that are no secrets; otherwise no environment that holds `cacert.pem` could be created.
pub(super) fn is_of_a_package(path: &Path) -> bool {
    path.parent().is_some_and(holds_packages)
}

/// Whether paths below this one belong to packages.
pub(super) fn holds_packages(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.iter().collect();
    OF_PACKAGES.iter().any(|place| {
        let mut rows = names.windows(place.len());
        rows.any(|row| row.iter().zip(*place).all(|(name, named)| named.is(name)))
    })
}

impl Policy {
    /// Whether a directory in a tree that the run works in belongs to packages there, or to what a build made, by its name: no
    /// tool is started there. (Not `build` and its like, where people start debuggers.)
    pub(super) fn holds_output(&self, directory: &Path) -> bool {
        // The tree itself may lie in a directory of such a name.
        let inside = self.tops().filter_map(|top| directory.strip_prefix(top).ok());
        let deepest = inside.min_by_key(|rest| rest.as_os_str().len());
        deepest.is_some_and(|rest| rest.iter().any(|name| name == "target") || holds_packages(rest))
    }

    /// The same, unless it is of a repository there.
    pub fn is_output(&self, directory: &Path, holds_repository: impl Fn(&Path) -> bool) -> bool {
        let mut inside = directory.ancestors().take_while(|above| self.holds_output(above));
        self.holds_output(directory) && !inside.any(holds_repository)
    }
}

/// The package directories that the last components of a path partly match, with the number of matched components:
/// paths below belong to packages if the rest follows.
pub(super) fn begun_packages(path: &Path) -> Vec<(usize, usize)> {
    let names: Vec<&OsStr> = path.iter().collect();
    let places = OF_PACKAGES.iter().enumerate();
    let begun = places.flat_map(|(number, place)| (1..place.len()).map(move |count| (number, &place[..count])));
    let ends_so = |(_, first): &(usize, &[PackageName])| {
        let last = names.len().checked_sub(first.len()).map(|from| &names[from..]);
        last.is_some_and(|last| last.iter().zip(*first).all(|(name, named)| named.is(name)))
    };
    begun
        .filter(ends_so)
        .map(|(number, first)| (number, first.len()))
        .collect()
}

/// Returns the deeper of `a` and `b` where one lies below the other.
pub fn deeper(a: &Grant, b: &Grant) -> Option<(PathBuf, GrantExtent)> {
    if a.covers(&b.path) {
        Some((
            b.path.clone(),
            b.extent.min(if a.path == b.path { a.extent } else { b.extent }),
        ))
    } else if b.covers(&a.path) {
        Some((a.path.clone(), a.extent))
    } else {
        None
    }
}

//! What a policy says to one access: pure, by component, on a path that is already the kernel's name.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listed::{Closing, List};
use super::{Access, Closed, Denial, DenialKind, Extent, Grant, Policy, Target};
use crate::profile::Origin;

/// The answer to one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'a> {
    /// Allowed, by this grant among others.
    Allow(&'a Grant),
    /// Refused by this denial.
    Denied(&'a Denial),
    /// Refused because nothing grants it.
    NotGranted,
}

impl Decision<'_> {
    /// Whether the access may go ahead.
    pub fn is_allowed(self) -> bool {
        matches!(self, Decision::Allow(_))
    }
}

impl Grant {
    /// Whether a person wrote it (in a profile, as a flag, as an answer), and Stockade didn't find it. Under a
    /// supervisor Landlock grants what was found by itself, and the supervisor serves what was chosen.
    pub fn is_chosen(&self) -> bool {
        matches!(
            self.origin,
            Origin::Shipped { .. } | Origin::File { .. } | Origin::Flag(_) | Origin::Approval(_)
        )
    }

    /// Whether the grant covers a path, whatever the access.
    pub fn covers(&self, path: &Path) -> bool {
        match self.extent {
            Extent::Single => path == self.path,
            Extent::Subtree => lies_below(path, &self.path),
        }
    }
}

/// `Path::starts_with`, which compares component by component, in a tenth of the time: by bytes where these tell.
pub fn lies_below(path: &Path, top: &Path) -> bool {
    let (bytes, above) = (path.as_os_str().as_bytes(), top.as_os_str().as_bytes());
    let same = bytes.iter().zip(above).take_while(|(a, b)| a == b).count();
    // A separator or a dot may belong to a spelling (`//`, `/./`) that makes no difference.
    let plain = |byte: &u8| *byte != b'/' && *byte != b'.';
    match (bytes.get(same), above.get(same)) {
        (Some(a), Some(b)) if plain(a) && plain(b) => false,
        (None | Some(b'/'), None) => true,
        _ => path.starts_with(top),
    }
}

impl Denial {
    /// Whether it means files of a kind wherever they are, and so not those of the runtime base and of installations.
    /// A denial that says where it applies holds there too, but for a scope, which is about what a run works on.
    pub(super) fn is_pattern(&self) -> bool {
        let anywhere = matches!(&self.target, Target::Glob { glob, .. } if glob.starts_with("**/"));
        matches!(self.kind, DenialKind::SecretPattern | DenialKind::Scope)
            || self.kind == DenialKind::Explicit && anywhere
    }

    /// The same denial as what it closes at a path, for a person: of a built-in list one line.
    pub fn met_at(&self, path: &Path) -> Denial {
        let target = match &self.target {
            Target::Listed(listed) => Closing::new(listed).target(path),
            _ => None,
        };
        Denial {
            target: target.unwrap_or_else(|| self.target.clone()),
            ..self.clone()
        }
    }

    /// Whether it closes for reading too.
    pub fn closes_reading(&self) -> bool {
        self.access.contains(Access::READ) && self.kind != DenialKind::Guarded
    }

    /// Whether it guards something that isn't guarded from a run that made the directory itself.
    pub fn spares_makers(&self) -> bool {
        let is_list = matches!(&self.target, Target::Listed(listed) if listed.list == List::Guarded);
        is_list || self.guards_git()
    }

    /// Whether it is the one that guards git directories.
    pub fn guards_git(&self) -> bool {
        self.target == Target::GitDirectories
    }

    /// Whether a denial with a place may close something in a tree, or closes all of it: for any number of trees.
    pub fn touching(&self) -> impl Fn(&Path) -> bool + use<> {
        let (place, listed) = match &self.target {
            _ if self.is_pattern() => (None, None),
            Target::Listed(listed) => (None, Some(Closing::new(listed))),
            _ => (self.place(), None),
        };
        move |tree| {
            place
                .as_ref()
                .is_some_and(|place| place.starts_with(tree) || tree.starts_with(place))
                || listed.as_ref().is_some_and(|closing| closing.touches(tree))
        }
    }

    /// Whether a denial with a place may close this directory or something in it, and nothing around it.
    pub fn is_within(&self, directory: &Path) -> bool {
        match &self.target {
            Target::Listed(listed) => Closing::new(listed).is_placed_below(directory),
            _ => self.place().is_some_and(|place| place.starts_with(directory)),
        }
    }

    /// The directory or file below which a denial with a place can close something; `None` for patterns and lists.
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
    /// How many components a glob begins with that are names and nothing more.
    pub fn literal_parts(glob: &str) -> usize {
        glob.split('/').take_while(|part| !part.contains(SPECIAL)).count()
    }
}

/// The characters that make a component of a glob more than a name.
pub(super) const SPECIAL: [char; 6] = ['*', '?', '[', '{', '\\', '!'];

/// A policy with its denials compiled.
#[derive(Debug)]
pub struct Matcher<'a> {
    policy: &'a Policy,
    closed: Held<'a>,
}

#[derive(Debug)]
enum Held<'a> {
    Own(Box<Closed>),
    Shared(&'a Closed),
}

impl<'a> Matcher<'a> {
    /// Compiles the denials once.
    pub fn new(policy: &'a Policy) -> Self {
        Matcher {
            policy,
            closed: Held::Own(Box::new(Closed::compile(policy))),
        }
    }

    /// Uses denials that were compiled from this policy, or from one with the same denials. Costs nothing.
    pub fn with(policy: &'a Policy, closed: &'a Closed) -> Self {
        assert_eq!(policy.denials.len(), closed.count(), "denials of another policy");
        Matcher {
            policy,
            closed: Held::Shared(closed),
        }
    }

    /// Decides one access (a single bit) to one path, the kernel's absolute name for the object.
    pub fn decide(&self, access: Access, path: &Path) -> Decision<'a> {
        let mut exempt = false;
        let mut allowing = None;
        for grant in self.policy.grants.iter().filter(|grant| grant.covers(path)) {
            exempt |= grant.exempt;
            if grant.access.contains(access) {
                allowing = allowing.or(Some(grant));
            }
        }
        if let Some(denial) = self.denial(access, path, exempt) {
            return Decision::Denied(denial);
        }
        allowing.map_or(Decision::NotGranted, Decision::Allow)
    }

    /// The denial that refuses this access, if one does. `exempt`: secret patterns are off here.
    pub fn denial(&self, access: Access, path: &Path, exempt: bool) -> Option<&'a Denial> {
        self.denial_of(access, path, exempt, &|_| false)
    }

    /// The same for a run that made some directories itself: a `.git` among them isn't guarded, and nothing in one is
    /// for its name alone.
    pub fn denial_for_maker(&self, access: Access, path: &Path, made: &dyn Fn(&Path) -> bool) -> Option<&'a Denial> {
        self.denial_of(access, path, false, made)
    }

    fn denial_of(&self, access: Access, path: &Path, exempt: bool, made: &dyn Fn(&Path) -> bool) -> Option<&'a Denial> {
        let denials = &self.policy.denials;
        let refuses = |index: usize| {
            let denial = &denials[index];
            denial.access.intersects(access)
                && !(exempt && denial.is_pattern())
                && !(denial.kind == DenialKind::SecretPattern && is_of_a_package(path))
        };
        self.closed().first(path, made, refuses).map(|index| &denials[index])
    }

    pub(super) fn policy(&self) -> &'a Policy {
        self.policy
    }

    pub(super) fn closed(&self) -> &Closed {
        match &self.closed {
            Held::Own(closed) => closed,
            Held::Shared(closed) => closed,
        }
    }
}

/// A name on the way to packages.
enum Named {
    As(&'static str),
    /// With this in it, in any case.
    With(&'static str),
}

impl Named {
    fn is(&self, name: &OsStr) -> bool {
        match self {
            Named::As(this) => name == *this,
            Named::With(part) => name
                .to_str()
                .is_some_and(|name| name.to_ascii_lowercase().contains(part)),
        }
    }
}

/// Where packages lie: Node's, Python's, those that a project took in, cargo's, Go's and Maven's.
const OF_PACKAGES: &[&[Named]] = &[
    &[Named::As("node_modules")],
    &[Named::As("site-packages")],
    &[Named::As("dist-packages")],
    &[Named::As("vendor")],
    &[Named::With("cargo"), Named::As("registry"), Named::As("src")],
    &[Named::With("cargo"), Named::As("git"), Named::As("checkouts")],
    &[Named::As("pkg"), Named::As("mod")],
    &[Named::As(".m2"), Named::As("repository")],
];

/// Whether a path lies in a directory of installed packages. They come from registries, with certificates and test keys
/// that are no secrets; else no environment that holds `cacert.pem` could be made.
pub(super) fn is_of_a_package(path: &Path) -> bool {
    path.parent().is_some_and(holds_packages)
}

/// Whether what is below the path is of packages.
pub(super) fn holds_packages(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.iter().collect();
    OF_PACKAGES.iter().any(|place| {
        let mut rows = names.windows(place.len());
        rows.any(|row| row.iter().zip(*place).all(|(name, named)| named.is(name)))
    })
}

/// Which directories of packages have begun with the last names of a path: what lies below it is of packages if the rest
/// follows.
pub(super) fn begun_packages(path: &Path) -> Vec<(usize, usize)> {
    let names: Vec<&OsStr> = path.iter().collect();
    let places = OF_PACKAGES.iter().enumerate();
    let begun = places.flat_map(|(number, place)| (1..place.len()).map(move |count| (number, &place[..count])));
    let ends_so = |(_, first): &(usize, &[Named])| {
        let last = names.len().checked_sub(first.len()).map(|from| &names[from..]);
        last.is_some_and(|last| last.iter().zip(*first).all(|(name, named)| named.is(name)))
    };
    begun
        .filter(ends_so)
        .map(|(number, first)| (number, first.len()))
        .collect()
}

/// `a` and `b` where one lies below the other: the deeper one.
pub fn deeper(a: &Grant, b: &Grant) -> Option<(PathBuf, Extent)> {
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

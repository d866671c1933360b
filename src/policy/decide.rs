//! What a policy says to one access: pure, by component, on a path that is already the kernel's name.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use super::{Access, Denial, DenialKind, Extent, Grant, Policy, Target};

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
    /// Whether the grant covers a path, whatever the access.
    pub fn covers(&self, path: &Path) -> bool {
        match self.extent {
            Extent::Single => path == self.path,
            Extent::Subtree => path.starts_with(&self.path),
        }
    }
}

impl Denial {
    /// Whether it means files of a kind wherever they are, and so not those of the runtime base and of installations.
    /// A denial that says where it applies holds there too.
    fn is_pattern(&self) -> bool {
        let anywhere = matches!(&self.target, Target::Glob { glob, .. } if glob.starts_with("**/"));
        self.kind == DenialKind::SecretPattern || self.kind == DenialKind::Explicit && anywhere
    }

    /// The directory or file below which a denial with a place can close something; `None` for patterns.
    pub fn place(&self) -> Option<PathBuf> {
        match &self.target {
            _ if self.is_pattern() => None,
            Target::Path(path) => Some(path.clone()),
            Target::Glob { below, glob } => {
                let literal = glob.split('/').take_while(|part| !part.contains(SPECIAL));
                Some(literal.fold(below.clone(), |path, part| path.join(part)))
            }
        }
    }
}

/// The characters that make a component of a glob more than a name.
pub(super) const SPECIAL: [char; 6] = ['*', '?', '[', '{', '\\', '!'];

/// The denials of a policy with their globs compiled.
#[derive(Debug)]
pub struct Matcher<'a> {
    policy: &'a Policy,
    denials: Vec<(&'a Denial, Compiled<'a>)>,
}

#[derive(Debug)]
enum Compiled<'a> {
    Path(&'a Path),
    Glob(&'a Path, GlobMatcher),
    /// A glob that doesn't compile is refused where profiles are read; one that gets here closes everything.
    Everything,
}

impl<'a> Matcher<'a> {
    /// Compiles the denials once.
    pub fn new(policy: &'a Policy) -> Self {
        let denials = policy
            .denials
            .iter()
            .map(|denial| (denial, compile(&denial.target, denial.kind)))
            .collect();
        Matcher { policy, denials }
    }

    /// Decides one access (a single bit) to one path, the kernel's absolute name for the object.
    pub fn decide(&self, access: Access, path: &Path) -> Decision<'a> {
        let covering = || self.policy.grants.iter().filter(|grant| grant.covers(path));
        let exempt = covering().any(|grant| grant.exempt);
        if let Some(denial) = self.denial(access, path, exempt) {
            return Decision::Denied(denial);
        }
        match covering().find(|grant| grant.access.contains(access)) {
            Some(grant) => Decision::Allow(grant),
            None => Decision::NotGranted,
        }
    }

    /// The denial that refuses this access, if one does. `exempt`: secret patterns are off here.
    pub fn denial(&self, access: Access, path: &Path, exempt: bool) -> Option<&'a Denial> {
        self.denials
            .iter()
            .filter(|(denial, _)| denial.access.intersects(access))
            .filter(|(denial, _)| !(exempt && denial.is_pattern()))
            .find(|(_, compiled)| compiled.closes(path))
            .map(|(denial, _)| *denial)
    }
}

impl Compiled<'_> {
    /// Whether the path or a directory above it is meant.
    fn closes(&self, path: &Path) -> bool {
        match self {
            Compiled::Path(closed) => path.starts_with(closed),
            Compiled::Everything => true,
            Compiled::Glob(below, glob) => path.strip_prefix(below).is_ok_and(|rest| {
                rest.ancestors()
                    .take_while(|part| !part.as_os_str().is_empty())
                    .any(|part| glob.is_match(part))
            }),
        }
    }
}

fn compile(target: &Target, kind: DenialKind) -> Compiled<'_> {
    match target {
        Target::Path(path) => Compiled::Path(path),
        // What closes everything in a directory closes the directory: else it could be renamed.
        Target::Glob { below, glob } => GlobBuilder::new(glob.strip_suffix("/**").unwrap_or(glob))
            .literal_separator(true)
            // `server.PEM` is as secret as `server.pem`; what a person wrote is meant as it stands.
            .case_insensitive(kind != DenialKind::Explicit)
            .build()
            .map_or(Compiled::Everything, |glob| {
                Compiled::Glob(below, glob.compile_matcher())
            }),
    }
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

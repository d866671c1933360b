//! Fixed places of denials, so that a walk through a tree needn't check each path: in most directories only names that
//! are closed at any depth matter.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::GlobMatcher;

use super::closed::compile;
use super::listed::{Closing, Depth, TreePositions};
use super::{Access, DenialKind, Policy, Target};

/// The fixed places of the denials that refuse an access.
pub struct Placed {
    places: Vec<PathBuf>,
    globs: Vec<GlobPlace>,
    lists: Vec<Closing>,
}

/// Where a glob starts to match.
struct GlobPlace {
    below: PathBuf,
    /// Its first component; `None` if it starts at any depth.
    first: Option<String>,
    kind: DenialKind,
    /// Compiled at the first directory in `below`: most globs are relative to places that no walk goes to.
    matcher: OnceLock<Option<GlobMatcher>>,
}

impl GlobPlace {
    fn of(below: &Path, glob: &str, kind: DenialKind) -> GlobPlace {
        let first = glob.split('/').next().filter(|first| !first.contains("**"));
        GlobPlace {
            below: below.to_path_buf(),
            first: first.map(str::to_owned),
            kind,
            matcher: OnceLock::new(),
        }
    }

    fn first(&self) -> Option<&GlobMatcher> {
        let compile = |first| Some(compile(first, self.kind).ok()?.compile_matcher());
        let matcher = self.matcher.get_or_init(|| self.first.as_deref().and_then(compile));
        matcher.as_ref()
    }

    fn is_near(&self, directory: &Path) -> bool {
        let Ok(rest) = directory.strip_prefix(&self.below) else {
            return self.below.starts_with(directory);
        };
        let Some(name) = rest.components().next() else {
            return true;
        };
        self.first().is_none_or(|first| first.is_match(name.as_os_str()))
    }
}

impl Placed {
    /// The places of a policy's denials.
    pub fn of(policy: &Policy, access: Access) -> Placed {
        let mut placed = Placed {
            places: Vec::new(),
            globs: Vec::new(),
            lists: Vec::new(),
        };
        for denial in policy.denials.iter().filter(|denial| denial.access.intersects(access)) {
            match &denial.target {
                Target::Path(path) => placed.places.push(path.clone()),
                Target::Listed(listed) => placed.lists.push(Closing::new(listed)),
                Target::AllBut { below, .. } => placed.places.push(below.clone()),
                Target::GitDirectories => placed.places.push(PathBuf::from("/")),
                Target::Glob { below, glob } => placed.globs.push(GlobPlace::of(below, glob, denial.kind)),
            }
        }
        placed
    }

    /// Whether no anchored denial closes a directory or something in it.
    pub fn are_elsewhere(&self, directory: &Path) -> bool {
        let is_near = |place: &PathBuf| place.starts_with(directory) || directory.starts_with(place);
        let begins_nothing = |list: &Closing| {
            !list.touches(directory) && list.positions(directory, Depth::Any) == TreePositions::Before(Vec::new())
        };
        !self.places.iter().any(is_near)
            && !self.globs.iter().any(|glob| glob.is_near(directory))
            && self.lists.iter().all(begins_nothing)
    }

    /// Whether a name is closed at any depth, or starts a path that is.
    pub fn begin(&self, name: &OsStr) -> bool {
        self.lists.iter().any(|list| list.begins(name.as_bytes()))
    }
}

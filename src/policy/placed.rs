//! Where denials have their places, so that a walk through a tree needn't ask of each path: nearly everywhere only names
//! that mean the same at any depth count.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::listed::{Closing, Depth, Positions};
use super::{Access, Policy, Target};

/// The places of the denials that refuse an access.
pub struct Placed {
    places: Vec<PathBuf>,
    lists: Vec<Closing>,
}

impl Placed {
    /// Those of a policy.
    pub fn of(policy: &Policy, access: Access) -> Placed {
        let mut placed = Placed {
            places: Vec::new(),
            lists: Vec::new(),
        };
        for denial in policy.denials.iter().filter(|denial| denial.access.intersects(access)) {
            match &denial.target {
                Target::Path(path) => placed.places.push(path.clone()),
                Target::Listed(listed) => placed.lists.push(Closing::new(listed)),
                Target::AllBut { below, .. } => placed.places.push(below.clone()),
                Target::GitDirectories => placed.places.push(PathBuf::from("/")),
                Target::Glob { below, glob } => {
                    let literal = glob.split('/').take(Target::literal_parts(glob));
                    placed
                        .places
                        .push(literal.fold(below.clone(), |path, part| path.join(part)));
                }
            }
        }
        placed
    }

    /// Whether nothing that has a place closes a directory or something in it.
    pub fn are_elsewhere(&self, directory: &Path) -> bool {
        let is_near = |place: &PathBuf| place.starts_with(directory) || directory.starts_with(place);
        let begins_nothing = |list: &Closing| {
            !list.touches(directory) && list.positions(directory, Depth::Any) == Positions::Before(Vec::new())
        };
        !self.places.iter().any(is_near) && self.lists.iter().all(begins_nothing)
    }

    /// Whether a name is one that is closed at any depth, or leads to one.
    pub fn begin(&self, name: &OsStr) -> bool {
        self.lists.iter().any(|list| list.begins(name.as_bytes()))
    }
}

//! Repositories that runs made, kept in the state directory. One of them is no more the user's than what a later run puts in
//! its place, so a later run may remove it and make another.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::profile::path_bytes;
use crate::supervise::Identity;

const NAME: &str = "made";
/// The most that are kept. The oldest are forgotten.
const MAX: usize = 1024;

/// A repository, or the directory that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeByRun {
    #[serde(with = "path_bytes")]
    path: PathBuf,
    identity: Identity,
}

impl MadeByRun {
    /// What is at a path, if it is what a run made.
    pub fn at(path: &Path, is_made: impl FnOnce(Identity) -> bool) -> Option<MadeByRun> {
        let identity = Identity::at(path).filter(|identity| is_made(*identity))?;
        Some(MadeByRun {
            path: path.to_path_buf(),
            identity,
        })
    }

    fn is_there(&self) -> bool {
        Identity::at(&self.path) == Some(self.identity)
    }
}

/// Those of earlier runs that are still there.
pub fn load(state: &Path) -> Vec<MadeByRun> {
    let text = fs::read(state.join(NAME)).unwrap_or_default();
    let mut all: Vec<MadeByRun> = serde_json::from_slice(&text).unwrap_or_default();
    all.retain(MadeByRun::is_there);
    all
}

/// The identities of those.
pub fn identities(state: &Path) -> impl Iterator<Item = Identity> + use<> {
    load(state).into_iter().map(|made| made.identity)
}

/// Adds some. Of runs that end at the same time the last one's may be all that is kept.
///
/// # Errors
/// The file can't be written.
pub fn keep(state: &Path, new: Vec<MadeByRun>) -> io::Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    crate::custody::make_private(state)?;
    let mut all = load(state);
    all.retain(|made| !new.contains(made));
    all.extend(new);
    let newest = &all[all.len().saturating_sub(MAX)..];
    let mut file = tempfile::NamedTempFile::new_in(state)?;
    file.write_all(&serde_json::to_vec(newest)?)?;
    file.persist(state.join(NAME))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_made_is_known_as_long_as_it_is_there() {
        let state = tempfile::tempdir().unwrap();
        let place = |name: &str| state.path().join(name);
        for name in ["a", "b"] {
            fs::create_dir(place(name)).unwrap();
        }
        let at = |name: &str| MadeByRun::at(&place(name), |_| true);
        keep(state.path(), vec![at("a").unwrap()]).unwrap();
        keep(state.path(), vec![at("a").unwrap(), at("b").unwrap()]).unwrap();
        assert_eq!(load(state.path()), [at("a").unwrap(), at("b").unwrap()]);
        fs::remove_dir(place("a")).unwrap();
        fs::create_dir(place("a")).unwrap();
        assert_eq!(load(state.path()), [at("b").unwrap()]);
        assert!(MadeByRun::at(&place("b"), |_| false).is_none());
        assert!(load(&place("none")).is_empty());
    }
}

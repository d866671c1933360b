//! Trees that runs may write: a link in one needn't be the user's.

use std::path::{Path, PathBuf};

use super::Error;
use crate::real_path::{Walked, Walker};

/// Trees that runs may write, or may have written.
#[derive(Debug, Clone, Default)]
pub struct WrittenTrees {
    pub(super) trees: Vec<PathBuf>,
}

impl WrittenTrees {
    /// Adds others that runs may write from now on.
    pub fn add(&mut self, named: impl IntoIterator<Item = PathBuf>) {
        let real = named.into_iter().map(|path| Walker::default().walk(&path).real);
        self.trees.extend(real.collect::<Vec<_>>());
        self.trees.sort();
        self.trees.dedup();
    }

    /// The real path of one that `said` names, as far as it exists.
    ///
    /// # Errors
    /// It leads out of one of the trees by a link there.
    pub fn real_path(&self, said: &str, path: &Path) -> Result<PathBuf, Error> {
        let walked = Walker::default().walk(path);
        self.refuse(said, &walked)?;
        Ok(walked.real)
    }

    pub(super) fn refuse(&self, said: &str, walked: &Walked) -> Result<(), Error> {
        match walked.leads_out_of(self.trees.iter().map(PathBuf::as_path)) {
            None => Ok(()),
            Some((tree, link)) => Err(Error::FlagLinkOut {
                flag: said.to_string(),
                tree: tree.to_path_buf(),
                link: link.to_path_buf(),
                real: walked.real.clone(),
            }),
        }
    }
}

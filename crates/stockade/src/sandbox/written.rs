//! Trees that runs may write: a link in one needn't be the user's.

use std::path::{Path, PathBuf};

use super::Error;
use crate::real_path::{Walked, Walker};

/// Trees that runs may write, or may have written.
#[derive(Debug, Clone, Default)]
pub struct WrittenTrees {
    pub(crate) trees: Vec<PathBuf>,
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

    pub(crate) fn refuse(&self, said: &str, walked: &Walked) -> Result<(), Error> {
        for tree in &self.trees {
            // The tree's own name lies above it.
            let is_inside = |link: &&PathBuf| *link != tree && link.starts_with(tree);
            let link = walked.links.iter().rfind(is_inside);
            if let Some(link) = link
                && !walked.real.starts_with(tree)
            {
                return Err(Error::FlagLinkOut {
                    flag: said.to_string(),
                    tree: tree.clone(),
                    link: link.clone(),
                    real: walked.real.clone(),
                });
            }
        }
        Ok(())
    }
}

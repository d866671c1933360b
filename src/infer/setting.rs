//! What is known of where a script will run.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where a script is and where it runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Setting {
    /// The run's root, which it starts in: absolute. `./` of the answer.
    pub root: Option<PathBuf>,
    /// The script's file, absolute; `None` for a text without one.
    pub script: Option<PathBuf>,
    /// The user's home directory, absolute.
    pub home: Option<PathBuf>,
}

impl Setting {
    /// The script's file as a path that `whereabouts` understands: `./job.py` below the root, else absolute.
    pub fn script_path(&self) -> String {
        let Some(script) = &self.script else {
            return "./script".into();
        };
        match self.root.as_deref().and_then(|root| script.strip_prefix(root).ok()) {
            Some(below) => Path::new(".").join(below).to_string_lossy().into_owned(),
            None => script.to_string_lossy().into_owned(),
        }
    }
}

//! The known facts about a script's later run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The location of a script and of its run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Setting {
    /// The run's root and initial directory: absolute. `./` in the answer.
    pub root: Option<PathBuf>,
    /// The script's file, absolute; `None` for a text without one.
    pub script: Option<PathBuf>,
    /// The user's home directory, absolute.
    pub home: Option<PathBuf>,
    /// The Python modules next to the script: files without extension, and directories.
    #[serde(default)]
    pub modules: BTreeSet<String>,
}

impl Setting {
    /// Adds the modules that are next to the script now.
    #[must_use]
    pub fn with_modules(mut self) -> Setting {
        /// A script has few neighbours.
        const MAX: usize = 1024;
        let entries = self
            .script
            .as_deref()
            .and_then(|script| script.parent()?.read_dir().ok());
        let names = entries.into_iter().flatten().flatten().take(MAX).filter_map(|entry| {
            let path = PathBuf::from(entry.file_name());
            let is_module = match path.extension() {
                None => entry.path().is_dir(),
                Some(ending) => ending == "py",
            };
            is_module
                .then(|| path.file_stem()?.to_str().map(str::to_owned))
                .flatten()
        });
        self.modules = names.collect();
        self
    }

    /// A path as a flag takes it: no shell expands a `~` in quotes.
    pub fn absolute(&self, shown: &str) -> String {
        match (shown.strip_prefix("~/"), &self.home) {
            (Some(below), Some(home)) => home.join(below).to_string_lossy().into_owned(),
            _ => shown.to_string(),
        }
    }

    /// The script's file as a path for `whereabouts`: `./job.py` below the root, else absolute.
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

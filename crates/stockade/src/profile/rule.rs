//! One line of a profile: a value, why it stands there, and where.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A value with the reason for it and the place it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule<T> {
    /// What is granted or denied.
    pub value: T,
    /// The `why` of the document.
    pub why: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a grant or a denial comes from. Every message about one names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Origin {
    /// A shipped profile, by name and line.
    Shipped {
        /// The profile's name.
        profile: String,
        /// The line, from 1.
        line: usize,
    },
    /// A profile in a file.
    File {
        /// The file as it was found.
        #[serde(with = "crate::profile::path_bytes")]
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The shipped list of models, by line.
    Models {
        /// The line, from 1.
        line: usize,
    },
    /// A flag of the command line or a call of the library, as it was given.
    Flag(String),
    /// The runtime base that every profile has.
    Base,
    /// The installation that the command belongs to.
    Installation,
    /// The command's own file, or the script that an interpreter was asked to run.
    Entrypoint,
    /// The scratch directory of the run.
    Scratch,
    /// An answer, and whose.
    Approval(String),
    /// Built in: secrets and guarded paths.
    BuiltIn,
}

impl Origin {
    /// A flag as it was given; what else it is, in words.
    pub fn flag(&self) -> String {
        match self {
            Origin::Flag(flag) => flag.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Shipped { profile, line } => write!(f, "profile `{profile}`, line {line}"),
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Models { line } => write!(f, "the shipped `models.toml`, line {line}"),
            Origin::Flag(flag) => write!(f, "`{flag}`"),
            Origin::Base => f.write_str("the runtime base"),
            Origin::Installation => f.write_str("the command's installation"),
            Origin::Entrypoint => f.write_str("the command itself"),
            Origin::Scratch => f.write_str("the run's scratch directory"),
            Origin::Approval(by) => write!(f, "an answer of {by}"),
            Origin::BuiltIn => f.write_str("built in"),
        }
    }
}

/// A path as a profile writes it: `./…` below the run's root, `~/…` below the caller's home, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSpec {
    /// What the path is relative to.
    pub anchor: Anchor,
    /// The rest, without `.`, `..` or a leading slash; empty for the anchor itself.
    pub rest: PathBuf,
}

/// What a path of a profile is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The run's root, written `./`.
    Root,
    /// The caller's home, written `~/`.
    Home,
    /// The file system's root, written `/`.
    Absolute,
}

impl PathSpec {
    /// The absolute path that this means for a run.
    pub fn resolve(&self, root: &Path, home: &Path) -> PathBuf {
        let base = match self.anchor {
            Anchor::Root => root,
            Anchor::Home => home,
            Anchor::Absolute => Path::new("/"),
        };
        if self.rest.as_os_str().is_empty() {
            base.to_path_buf()
        } else {
            base.join(&self.rest)
        }
    }
}

impl fmt::Display for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let anchor = match self.anchor {
            Anchor::Root => "./",
            Anchor::Home => "~/",
            Anchor::Absolute => "/",
        };
        write!(f, "{anchor}{}", self.rest.display())
    }
}

/// A glob of a denial, checked to compile: `**/…` anywhere, `./…` below the root, `~/…` below the home, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(pub String);

impl Glob {
    /// Checks a pattern that stands outside a document, such as a flag's.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn parse(text: &str) -> Result<Glob, String> {
        super::value::glob(text).map_err(|complaint| match complaint.hint {
            Some(hint) => format!("{}; {hint}", complaint.message),
            None => complaint.message,
        })
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

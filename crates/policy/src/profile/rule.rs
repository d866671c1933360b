//! One line of a profile: a value, its reason and its origin.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A value with its reason and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule<T> {
    /// The granted or denied value.
    pub value: T,
    /// The `why` of the document.
    pub why: Option<String>,
    /// The rule's origin.
    pub origin: Origin,
}

/// The origin of a grant or a denial. Every message about one names it.
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
        /// The path that was used to find the file.
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
    /// A flag of the command line or a call of the library, as given.
    Flag(String),
    /// The runtime base that every profile has.
    Base,
    /// The installation that the command belongs to.
    Installation,
    /// The command's own file, or the script that an interpreter runs.
    Entrypoint,
    /// The scratch directory of the run.
    Scratch,
    /// An approval, with the approver.
    Approval(String),
    /// A built-in list: secrets and guarded paths.
    BuiltIn,
}

impl Origin {
    /// A flag as given; any other origin in words.
    pub fn flag(&self) -> String {
        match self {
            Origin::Flag(flag) => flag.clone(),
            other => other.to_string(),
        }
    }
}

/// A rule with its origin behind it.
pub fn with_origin(rule: &str, origin: &str) -> String {
    match origin {
        BUILT_IN => format!("{rule} ({BUILT_IN})"),
        _ => format!("{rule}, from {origin}"),
    }
}

/// The origin of built-in lists.
const BUILT_IN: &str = "built in";

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
            Origin::BuiltIn => f.write_str(BUILT_IN),
        }
    }
}

/// A path as written in a profile: `./…` below the run's root, `~/…` below the caller's home, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSpec {
    /// The directory that the path is relative to.
    pub anchor: Anchor,
    /// The rest, without `.`, `..` or a leading slash; empty for the anchor itself.
    pub rest: PathBuf,
}

/// The directory that a profile's path is relative to.
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
    /// Resolves the path for a run.
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

/// A denial's glob, checked to compile: `**/…` anywhere, `./…` below the root, `~/…` below the home, or absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(pub String);

impl Glob {
    /// Parses a pattern from outside a document, such as a flag's.
    ///
    /// # Errors
    /// The text says what is wrong and how to correct it.
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

//! One parsed document, and the source of its text.

use std::fmt;
use std::path::{Path, PathBuf};

use super::attempt::Attempt;
use super::limits::Limits;
use super::rule::{Glob, Origin, PathSpec, Rule};
use super::{Network, Pass};
use stockade_text::visible::visible;

/// The source of a document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A profile built into this binary, by name.
    Shipped(&'static str),
    /// A file, by the path that was used to find it.
    File(PathBuf),
}

impl Source {
    /// The name that the document must have: the file name without its suffix.
    pub fn name(&self) -> Option<&str> {
        match self {
            Source::Shipped(name) => Some(name),
            Source::File(path) => path.file_stem().and_then(|stem| stem.to_str()),
        }
    }

    /// The file's path, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Source::Shipped(_) => None,
            Source::File(path) => Some(path),
        }
    }

    pub(super) fn origin(&self, line: usize) -> Origin {
        match self {
            Source::Shipped(name) => Origin::Shipped {
                profile: (*name).to_owned(),
                line,
            },
            Source::File(path) => Origin::File {
                path: path.clone(),
                line,
            },
        }
    }
}

/// Formats for messages: the file, or the path of a shipped profile in Stockade's source.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Shipped(name) => write!(f, "profiles/{name}.toml"),
            Source::File(path) => f.write_str(&visible(&path.to_string_lossy())),
        }
    }
}

/// The content of one document, before inheritance; `None` for a field that is inherited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The name of the profile.
    pub name: String,
    /// One sentence for `profile list`.
    pub description: String,
    /// The profile that it extends.
    pub extends: Option<Extends>,
    /// Whether the run gets a scratch directory.
    pub scratch: Option<bool>,
    /// Whether the kernel alone may judge reads.
    pub native_reads: Option<bool>,
    /// Whether a secret that somebody makes where it does ends the run.
    pub ends_for_late_secrets: Option<bool>,
    /// Trees and files that the run may read.
    pub read: Vec<Rule<PathSpec>>,
    /// Trees and files that the run may read, write, create in and delete from.
    pub write: Vec<Rule<PathSpec>>,
    /// Trees and files whose programs the run may execute.
    pub exec: Vec<Rule<PathSpec>>,
    /// Denials inside the trees above.
    pub deny: Vec<Rule<Glob>>,
    /// The hosts that the run may connect to. Replaces the inherited value as a whole, so that a child can also narrow it.
    pub network: Option<Network>,
    /// Whether the run may reach the endpoints of language models, with their keys.
    pub llm: Option<bool>,
    /// Ports of the loopback interface that the run may listen on.
    pub listen: Vec<Rule<u16>>,
    /// Unix sockets that the run may connect to.
    pub sockets: Vec<Rule<PathSpec>>,
    /// The group of the caller's variables that is passed.
    pub pass: Option<Pass>,
    /// Single variables that are passed as well.
    pub variables: Vec<Rule<String>>,
    /// Limits that the document sets.
    pub limits: Limits,
    /// System calls on top of the base.
    pub system_calls: Vec<Rule<String>>,
    /// The document's own test cases. Not inherited.
    pub tests: Tests,
}

/// The profile that a document extends, and the position of the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extends {
    /// A name, or a relative path.
    pub target: String,
    /// The line of the value, from 1.
    pub line: usize,
    /// The column of the value in characters, from 1.
    pub column: usize,
}

/// A document's own tests, which `stockade profile test` judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tests {
    /// Accesses that the profile must allow.
    pub must_allow: Vec<Rule<Attempt>>,
    /// Accesses that the profile must deny.
    pub must_deny: Vec<Rule<Attempt>>,
}

impl Document {
    pub(super) fn saying_nothing() -> Self {
        Document {
            name: String::new(),
            description: String::new(),
            extends: None,
            scratch: None,
            native_reads: None,
            ends_for_late_secrets: None,
            read: Vec::new(),
            write: Vec::new(),
            exec: Vec::new(),
            deny: Vec::new(),
            network: None,
            llm: None,
            listen: Vec::new(),
            sockets: Vec::new(),
            pass: None,
            variables: Vec::new(),
            limits: Limits::NONE,
            system_calls: Vec::new(),
            tests: Tests {
                must_allow: Vec::new(),
                must_deny: Vec::new(),
            },
        }
    }
}

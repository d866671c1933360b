//! Named permission profiles: parses TOML documents into values.
//!
//! A profile is a *source*: it still has variables (`./`, `~/`) and is not yet tied to a machine or a run. `catalog`
//! finds one by name or file, `read` parses one document, `lint` reports what is legal but unwise. Nothing here decides
//! an access; that is `policy`.

mod attempt;
#[expect(clippy::disallowed_methods, reason = "it reads the files of profiles")]
mod catalog;
mod code_variables;
mod document;
mod error;
mod host;
mod limits;
mod lint;
mod models;
pub mod path_bytes;
mod position;
mod read;
mod rule;
mod schema;
mod value;

pub use attempt::{Attempt, Deed};
pub use catalog::{Catalog, Layer, ListedProfile, SHIPPED, is_within, names_profile_file};
pub use code_variables::{CODE_VARIABLES, CodeVariables, Effect, effect_of, is_unsecure_variable, loads_code};
pub use document::{Document, Extends, Source, Tests};
pub use error::{DocumentFault, ProfileError, nearest};
pub use host::{Host, HostError, HostPattern, Name, Ports, is_localhost};
pub use limits::{
    Limits, LimitsParseError, Quantity, duration_text, parse_count, parse_duration, parse_size, size_text,
};
pub use lint::{Remark, lint};
pub use models::{Model, models};
pub use read::parse;
pub use rule::{Anchor, Glob, Origin, PathSpec, Rule, with_origin};
pub use schema::SCHEMA;

pub use stockade_text::visible::visible;

/// The parser for documents of any kind, which reports each fault with its position.
pub mod reading {
    pub use super::catalog::{bytes_of, text_from};
    pub use super::catalog::{own_text_of, text_of};
    pub use super::error::Complaint;
    pub use super::read::{Reader, Value, read_root_with, read_with};
    pub use super::value::{glob, host, profile_name};
}

/// The permissions of a run as a document states them. Lists hold the inherited rules first, then the profile's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name of the profile.
    pub name: String,
    /// One sentence for `profile list`.
    pub description: String,
    /// The profiles it extends, nearest first.
    pub lineage: Vec<String>,
    /// Trees and files that the run may read.
    pub read: Vec<Rule<PathSpec>>,
    /// Trees and files that the run may read, write, create in and delete from.
    pub write: Vec<Rule<PathSpec>>,
    /// Trees and files whose programs the run may execute (and read).
    pub exec: Vec<Rule<PathSpec>>,
    /// Denials inside the trees above. A denial always wins.
    pub deny: Vec<Rule<Glob>>,
    /// The hosts that the run may connect to.
    pub network: Network,
    /// Whether the run may reach the endpoints of language models, with their keys.
    pub llm: bool,
    /// Ports of the loopback interface that the run may listen on.
    pub listen: Vec<Rule<u16>>,
    /// Unix sockets that the run may connect to, by path.
    pub sockets: Vec<Rule<PathSpec>>,
    /// The caller's variables that are passed.
    pub environment: Environment,
    /// Whether the run gets a scratch directory of its own as `HOME` and `TMPDIR`.
    pub scratch: bool,
    /// Whether the kernel alone may judge reads, where it can.
    pub native_reads: bool,
    /// Whether a secret that somebody makes where it does ends the run.
    pub ends_for_late_secrets: bool,
    /// Resource limits of the whole process tree.
    pub limits: Limits,
    /// System calls allowed on top of the base, by name.
    pub system_calls: Vec<Rule<String>>,
}

impl Profile {
    /// The trees and files that the profile opens.
    pub fn opened(&self) -> impl Iterator<Item = &Rule<PathSpec>> {
        self.read.iter().chain(&self.write).chain(&self.exec)
    }

    /// Whether it extends the profile of this name, however many others lie between.
    pub fn extends(&self, name: &str) -> bool {
        self.lineage.iter().any(|parent| parent == name)
    }

    /// A hash of all that it says and of where each line stands, the same in each process of one program.
    pub fn digest(&self) -> String {
        blake3::hash(format!("{self:?}").as_bytes()).to_hex().to_string()
    }
}

/// The hosts that a run may connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// No socket of the internet families at all.
    None,
    /// Only these hosts.
    Hosts(Vec<Rule<HostPattern>>),
    /// Every host.
    All(Rule<()>),
}

/// The caller's variables that a run gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The group of variables that is passed.
    pub pass: Pass,
    /// Single variables that are passed as well, by name.
    pub names: Vec<Rule<String>>,
}

/// A group of the caller's variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// No variables.
    None,
    /// A short list of variables that programs commonly need.
    Limited,
    /// All variables, except those that look like secrets.
    All,
}

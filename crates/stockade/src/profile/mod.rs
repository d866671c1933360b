//! Named permission profiles: TOML documents turned into values.
//!
//! A profile is a *source*: it still has variables (`./`, `~/`) and is not yet tied to a machine or a
//! run. `catalog` finds one by name or file, `read` parses one document, `lint` looks for what is legal
//! but unwise. Nothing here decides an access; that is `policy`.

mod attempt;
mod catalog;
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
pub use catalog::{Catalog, Layer, Listed, SHIPPED, is_within};
pub use document::{Document, Extends, Source, Tests};
pub use error::{Fault, ProfileError};
pub use host::{Host, HostError, HostPattern, Name, Ports, is_localhost};
pub use limits::{
    Limits, LimitsParseError, Quantity, duration_text, parse_count, parse_duration, parse_size, size_text,
};
pub use lint::{Remark, lint, loads_code};
pub use models::{Model, models};
pub use read::parse;
pub use rule::{Anchor, Glob, Origin, PathSpec, Rule};
pub use schema::SCHEMA;
pub use value::is_unsecure_variable;

pub use stockade_text::visible::visible;

/// How documents of any kind are read, with the place of every fault.
pub mod reading {
    pub use super::catalog::{bytes_of, text_from};
    pub use super::catalog::{own_text_of, text_of};
    pub use super::error::Complaint;
    pub use super::read::{Reader, Value, read_root_with, read_with};
    pub use super::value::{glob, host, profile_name};
}

/// What a run may do, as a document says it. Lists hold the inherited rules first, then the profile's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name it is found by.
    pub name: String,
    /// One sentence for `profile list`.
    pub description: String,
    /// The profiles it extends, nearest first.
    pub lineage: Vec<String>,
    /// Trees and files that may be read.
    pub read: Vec<Rule<PathSpec>>,
    /// Trees and files that may be read, written, created in and deleted from.
    pub write: Vec<Rule<PathSpec>>,
    /// Trees and files whose programs may be started (and read).
    pub exec: Vec<Rule<PathSpec>>,
    /// What is refused inside the trees above. A denial always wins.
    pub deny: Vec<Rule<Glob>>,
    /// Which hosts may be reached.
    pub network: Network,
    /// Whether the endpoints of language models may be reached, with their keys.
    pub llm: bool,
    /// Ports of the loopback interface that may be listened on.
    pub listen: Vec<Rule<u16>>,
    /// Unix sockets that may be connected to, by path.
    pub sockets: Vec<Rule<PathSpec>>,
    /// Which of the caller's variables come along.
    pub environment: Environment,
    /// Whether the run gets a scratch directory of its own as `HOME` and `TMPDIR`.
    pub scratch: bool,
    /// Resource limits of the whole tree.
    pub limits: Limits,
    /// System calls allowed on top of the base, by name.
    pub system_calls: Vec<Rule<String>>,
}

impl Profile {
    /// The trees and files that it opens.
    pub fn opened(&self) -> impl Iterator<Item = &Rule<PathSpec>> {
        self.read.iter().chain(&self.write).chain(&self.exec)
    }
}

/// Which hosts a run may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// No socket of the internet families at all.
    None,
    /// Only these hosts.
    Hosts(Vec<Rule<HostPattern>>),
    /// Every host.
    All(Rule<()>),
}

/// Which of the caller's variables a run gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The group of variables that passes.
    pub pass: Pass,
    /// Single variables that pass as well, by name.
    pub names: Vec<Rule<String>>,
}

/// A group of the caller's variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// None of the caller's.
    None,
    /// A short list that programs commonly need.
    Limited,
    /// All but what looks like a secret.
    All,
}

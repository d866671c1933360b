//! The configuration of users and projects: rules for tool calls, agents, tools.
//!
//! `read` parses one file's text, `join` joins two, and narrows one by another. A project's file comes from the
//! repository's author: it may always deny and narrow, and what it allows counts only while the user trusts its exact
//! content. Layers and trust are `stockade_judge`'s. Nothing here decides a call or an access.

mod agent;
mod error;
pub mod join;
pub mod known;
mod mcp;
mod read;
mod rule;
mod rules;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::profile::reading::own_text_of;
use crate::profile::{Glob, Origin, Rule, Source};
use crate::real_path::{is_closed_to_us, is_there};
use crate::unconfined::UnconfinedCaller;

pub use agent::{Agent, Tool};
pub use error::ConfigurationError;
pub use known::{SHELL, SKILL_LOAD};
pub use mcp::{Mcp, McpServer, McpTool, OnTools, Roots};
pub use read::{Author, parse};
pub use rule::{Decision, IsMatch, List, PermissionRule, Permissions};
pub use rules::permissions;

/// The JSON Schema of `config.toml`, for editors.
pub const SCHEMA: &str = include_str!("../../schemas/config.schema.json");

/// The content of one configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// A command that is notified of each denial. Only in a user's file.
    pub on_violation: Option<OnViolation>,
    /// Exceptions from and additions to the built-in list of secrets. Only a user's file may open paths.
    pub secrets: Secrets,
    /// How `stockade shell` runs. Only in a user's file.
    pub shell: Shell,
    /// The profile of `stockade run` where the command line names none.
    pub run_profile: Option<String>,
    /// Rules for tool calls.
    pub permissions: Permissions,
    /// The declared agents.
    pub agents: Vec<Agent>,
    /// The declared tools.
    pub tools: Vec<Tool>,
    /// Servers of the Model Context Protocol.
    pub mcp: Mcp,
    /// The position of each field of an agent or a tool.
    places: BTreeMap<(Section, String, &'static str), Origin>,
}

/// The profile or agent of `stockade shell`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shell {
    /// The name of the profile.
    pub profile: Option<String>,
    /// The agent that the shell acts for.
    pub agent: Option<String>,
}

/// Changes to the built-in list of secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Paths from `/` or `~/` that the list doesn't close.
    pub open: Vec<Rule<PathBuf>>,
    /// Patterns that are secret too.
    pub closed: Vec<Rule<Glob>>,
}

/// The section that a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// The whole file.
    OnViolation,
    /// An agent.
    Agents,
    /// A tool.
    Tools,
    /// The confined shell.
    Shell,
    /// A run of which nothing else is said.
    Run,
}

impl Section {
    /// The name in TOML.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Section::OnViolation => "on_violation",
            Section::Agents => "agents",
            Section::Tools => "tools",
            Section::Shell => "shell",
            Section::Run => "run",
        }
    }
}

/// A command that gets records of the audit log as JSON on its standard input, one per line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnViolation {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl OnViolation {
    /// The files that the command consists of, found as when it is started.
    pub fn files(&self) -> Vec<PathBuf> {
        let caller = UnconfinedCaller::of_process();
        let arguments: Vec<&OsStr> = self.arguments.iter().map(OsStr::new).collect();
        caller.files(OsStr::new(&self.program), &arguments)
    }
}

impl Configuration {
    /// Reads the file in the user's configuration directory; empty if there is none. Tests the rules on their examples
    /// if `is_match` is given.
    ///
    /// # Errors
    /// The file can't be read, or has faults.
    pub fn load(directory: Option<&Path>, is_match: Option<IsMatch>) -> Result<Configuration, ConfigurationError> {
        let Some(path) = directory.map(|directory| directory.join("config.toml")) else {
            return Ok(Configuration::default());
        };
        match is_there(&path) {
            Ok(true) => {}
            Ok(false) => return Ok(Configuration::default()),
            Err(source) => return Err(ConfigurationError::Unreadable { path, source }),
        }
        let source = Source::File(path);
        let text = own_text_of(source.path().unwrap_or(Path::new("")), &source)?;
        parse(&text, &source, Author::User, is_match).map_err(ConfigurationError::faults)
    }

    /// The same, but `None` if an outer run closes the file, as it does to a run inside a run.
    ///
    /// # Errors
    /// The file can't be read for another reason, or has faults.
    pub fn load_if_open(
        directory: Option<&Path>,
        is_match: Option<IsMatch>,
    ) -> Result<Option<Configuration>, ConfigurationError> {
        match Configuration::load(directory, is_match) {
            Err(ConfigurationError::Unreadable { path, source }) if is_closed_to_us(&path, &source) => Ok(None),
            loaded => loaded.map(Some),
        }
    }

    /// The agent of this name, if declared here.
    #[must_use]
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// The tool of this name, if declared here.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The position of a field.
    #[must_use]
    pub fn place(&self, section: Section, name: &str, field: &'static str) -> Option<&Origin> {
        self.places.get(&(section, name.to_owned(), field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Configuration, String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config.toml"), text).unwrap();
        let loaded = Configuration::load(Some(directory.path()), None);
        loaded.map_err(|error| error.to_string().replace(directory.path().to_str().unwrap(), "@"))
    }

    #[test]
    fn a_command_is_a_list_of_words_or_a_text_for_a_shell() {
        for (text, program, arguments) in [
            (
                "version = 1\non_violation = [\"notify\", \"a b\"]",
                "notify",
                &["a b"][..],
            ),
            (
                "version = 1\non_violation = \"cat >> x\"",
                "/bin/sh",
                &["-c", "cat >> x"],
            ),
        ] {
            let on_violation = parsed(text).unwrap().on_violation.unwrap();
            assert_eq!(
                (on_violation.program.as_str(), on_violation.arguments),
                (program, arguments.iter().map(ToString::to_string).collect())
            );
        }
        assert_eq!(parsed("version = 1\n"), Ok(Configuration::default()));
        assert_eq!(Configuration::load(None, None).unwrap(), Configuration::default());
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let fault = |text: &str| parsed(text).unwrap_err();
        insta::assert_snapshot!(fault("version = 1\non_violatoin = \"x\"\n"), @"
        @/config.toml:2:1: the configuration has no field `on_violatoin`
          hint: did you mean `on_violation`?
        ");
        insta::assert_snapshot!(fault("version = 1\non_violation = []\n"), @"
        @/config.toml:2:16: `on_violation` names no program
          hint: write a list of words, or one text that `/bin/sh` runs
        ");
        insta::assert_snapshot!(fault("on_violation = \"x\"\n"), @"
        @/config.toml:1:1: `version` is missing
          hint: a configuration begins with `version = 1`
        ");
    }
}

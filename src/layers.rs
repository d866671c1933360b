//! Loads the layers of configuration for a command once, and prints warnings to standard error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::REFUSED;
use super::message::{Failure, note};
use stockade::internal::Surroundings;
use stockade_hook::meant;
use stockade_judge::{Layers, Line, Missing, TrustError};
use stockade_policy::config::Agent;
use stockade_policy::profile::visible;

/// The configuration for a command's directory.
pub struct Here {
    /// The caller's directories.
    pub surroundings: Surroundings,
    /// The project's root, its real path.
    pub root: PathBuf,
    /// The configuration layers of the project.
    pub layers: Layers,
}

impl Here {
    /// Loads the layers, and reports entries that are ignored.
    pub fn load(root: Option<&Path>) -> Result<Here, Failure> {
        let here = Here::quiet(root)?;
        remarks(&here.layers).iter().for_each(|remark| note(remark));
        Ok(here)
    }

    /// Loads the layers, unless they are closed, as inside a run, or there is no such root that can be entered, which the run
    /// tells.
    pub fn if_open(root: Option<&Path>) -> Result<Option<Here>, Failure> {
        let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
        let root = std::fs::canonicalize(surroundings.directory.join(root.unwrap_or("".as_ref())));
        let Some(root) = root.ok().filter(|root| root.join(".").is_dir()) else {
            return Ok(None);
        };
        let (configuration, state) = (surroundings.configuration.as_deref(), surroundings.state.as_deref());
        let layers = Layers::load_if_open(configuration, state, &root)?;
        Ok(layers.map(|layers| Here {
            surroundings,
            root,
            layers,
        }))
    }

    /// Loads the layers for a command that reports ignored entries itself.
    pub fn quiet(root: Option<&Path>) -> Result<Here, Failure> {
        let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
        let root = surroundings.directory.join(root.unwrap_or("".as_ref()));
        let root = std::fs::canonicalize(&root).map_err(|error| {
            let message = format!("the root `{}` can't be used: {error}", root.display());
            Failure::text(REFUSED, message).hint("name a directory that exists")
        })?;
        let layers = Layers::load(
            surroundings.configuration.as_deref(),
            surroundings.state.as_deref(),
            &root,
        )?;
        Ok(Here {
            surroundings,
            root,
            layers,
        })
    }
}

/// What a person should know of the configuration: what doesn't count, and rules for tools whose names seem misspelt.
pub fn remarks(layers: &Layers) -> Vec<String> {
    let permissions = layers.permissions();
    let rules = permissions.deny.iter().chain(&permissions.allow);
    let tools = layers.tools();
    let misspelt = rules.filter_map(|rule| {
        let meant = meant(&rule.tool, tools.iter().map(|tool| tool.name.as_str()))?;
        let (tool, origin) = (visible(&rule.tool), &rule.origin);
        Some(format!(
            "warning: no tool is known as `{tool}` (a rule of {origin}); did you mean `{meant}`?"
        ))
    });
    layers.remarks().into_iter().chain(misspelt).collect()
}

/// An unknown agent's name, and the names of the known agents.
#[derive(Debug, thiserror::Error)]
#[error("no agent is called `{}`", visible(.name))]
pub struct UnknownAgent {
    name: String,
    known: Vec<String>,
}

impl UnknownAgent {
    /// The agent of this name.
    pub fn or_agent(layers: &Layers, name: &str) -> Result<Agent, UnknownAgent> {
        layers.agent(name).ok_or_else(|| UnknownAgent {
            name: name.to_string(),
            known: layers.agents().into_iter().map(|agent| agent.name).collect(),
        })
    }

    /// The hint for the message.
    pub fn hint(&self) -> String {
        let known: Vec<String> = self.known.iter().map(|name| format!("`{}`", visible(name))).collect();
        let known = known.join(", ");
        format!("there are {known}; others are declared as `[agents.NAME]` in `config.toml`")
    }
}

impl From<UnknownAgent> for Failure {
    fn from(unknown: UnknownAgent) -> Failure {
        Failure::new(REFUSED, &unknown).hint(unknown.hint())
    }
}

/// The level of detail of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The effective value alone.
    Value,
    /// The origin too, and the values that are overridden.
    Origin,
    /// The same as JSON, one object a line.
    Json,
}

/// Prints lines.
pub fn print(lines: &[Line], detail: Detail, out: &mut dyn Write) -> Result<(), Failure> {
    let shown = lines
        .iter()
        .filter(|line| detail != Detail::Value || line.missing.is_none());
    for line in shown {
        let text = visible(&line.text);
        let origins: Vec<String> = line.origins.iter().map(ToString::to_string).collect();
        if detail == Detail::Json {
            let line = json!({ "text": line.text, "origins": origins, "counts": line.missing.is_none() });
            writeln!(out, "{line}").map_err(unprinted)?;
            continue;
        }
        let origins = origins.join(", ");
        let written = match (detail, line.missing) {
            (Detail::Value, _) => writeln!(out, "{text}"),
            (_, None) => writeln!(out, "{text}  # {}", visible(&origins)),
            (_, Some(Missing::Untrusted)) => {
                writeln!(out, "# doesn't count, not trusted: {text}  # {}", visible(&origins))
            }
        };
        written.map_err(unprinted)?;
    }
    Ok(())
}

/// A closed pipe is no error.
pub fn unprinted(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::text(0, String::new()),
        _ => Failure::new(REFUSED, &error),
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Failure {
        Failure {
            hint: error.hint().map(String::from),
            ..Failure::new(REFUSED, &error)
        }
    }
}

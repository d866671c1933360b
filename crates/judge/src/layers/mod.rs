//! Joins the layers: built-in, user, project.
//!
//! Rules are concatenated. An untrusted project can only deny and narrow; a trusted one counts as the user's own
//! configuration, except for fields that a project file can't have (see `read`). No layer drops the denials of another.

mod error;
mod line;
mod listing;
mod project;
mod remember;
#[cfg(test)]
mod tests;
mod trust;
mod widening;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use project::path_below;
use stockade_policy::config::join::{PROFILE, built_in};
use stockade_policy::config::{
    Agent, Configuration, ConfigurationError, McpServer, OnTools, Permissions, Section, Tool,
};
use stockade_policy::profile::Origin;
use trust::Pins;

pub use error::TrustError;
pub use line::{Line, Missing};
pub use project::{Project, Trust};
pub use remember::{Written, remember, remove_rules};
use stockade_policy::policy::Mode;
pub use trust::{Pinned, revoke, trust, trusted};
pub use widening::Widening;

/// The configuration for one root.
#[derive(Debug)]
pub struct Layers {
    built_in: Vec<Agent>,
    user: Configuration,
    project: Option<Project>,
    /// The trusted text of the project before it changed.
    before: Option<String>,
    /// The path of the project's file if it was trusted and no longer exists.
    gone: Option<PathBuf>,
    /// Why nothing is trusted, if the list of pins is unusable.
    unusable: Option<TrustError>,
}

impl Layers {
    /// Reads the user's and the project's configuration, by the real path of its root. If the list of pins is unusable, nothing is trusted.
    ///
    /// # Errors
    /// A configuration can't be read, or has faults.
    pub fn load(configuration: Option<&Path>, state: Option<&Path>, root: &Path) -> Result<Layers, ConfigurationError> {
        Layers::over(Configuration::load(configuration, Some(crate::is_match))?, state, root)
    }

    /// The same, but `None` inside a run that closes the user's configuration.
    ///
    /// # Errors
    /// As of [`Layers::load`].
    pub fn load_if_open(
        configuration: Option<&Path>,
        state: Option<&Path>,
        root: &Path,
    ) -> Result<Option<Layers>, ConfigurationError> {
        let user = Configuration::load_if_open(configuration, Some(crate::is_match))?;
        user.map(|user| Layers::over(user, state, root)).transpose()
    }

    fn over(user: Configuration, state: Option<&Path>, root: &Path) -> Result<Layers, ConfigurationError> {
        let mut layers = Layers {
            built_in: built_in().into(),
            user,
            project: None,
            before: None,
            gone: None,
            unusable: None,
        };
        if let Some(mut project) = layers.read_project(state, root)? {
            project.widens = layers.widened_by(&project.configuration);
            layers.project = Some(project);
        }
        Ok(layers)
    }

    /// The project's file and its trust. A concurrent `remember` may change both in between: if they seem
    /// changed, both are read again, until two successive reads agree.
    fn read_project(&mut self, state: Option<&Path>, root: &Path) -> Result<Option<Project>, ConfigurationError> {
        let mut last = None;
        loop {
            let Some(mut project) = Project::read(root)? else {
                let path = path_below(root);
                let was_trusted = Pins::load(state).is_ok_and(|pins| pins.text_of(&path).is_some());
                self.gone = was_trusted.then_some(path);
                return Ok(None);
            };
            match Pins::load(state) {
                Ok(pins) => {
                    project.trust = pins.trust(&project.path, &project.hash);
                    self.before = pins.text_of(&project.path);
                }
                Err(error) => self.unusable = Some(error),
            }
            if project.trust != Trust::Changed || last.as_ref() == Some(&project.hash) {
                return Ok(Some(project));
            }
            last = Some(project.hash);
        }
    }

    /// The user's configuration.
    pub fn user(&self) -> &Configuration {
        &self.user
    }

    /// The project's configuration, if there is one.
    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// The rules for tool calls: the user's, then the project's, whose allows count only while it is trusted.
    pub fn permissions(&self) -> Permissions {
        let mut permissions = self.user.permissions.clone();
        if let Some(project) = &self.project {
            let theirs = &project.configuration.permissions;
            permissions.deny.extend(theirs.deny.iter().cloned());
            if project.is_trusted() {
                permissions.allow.extend(theirs.allow.iter().cloned());
            }
        }
        permissions
    }

    /// The profile of a run of which nothing else is said, and where it comes from: the project's, while that is trusted,
    /// else the user's.
    pub fn run_profile(&self) -> Option<(&str, &Origin)> {
        let trusted = self.project.iter().filter(|project| project.is_trusted());
        let layers = trusted.map(|project| &project.configuration).chain([&self.user]);
        layers.into_iter().find_map(|layer| {
            let place = layer.place(Section::Run, "", "profile")?;
            Some((layer.run_profile.as_deref()?, place))
        })
    }

    /// Looks up an agent; `None` if no layer that counts declares it. It always has a mode and a profile.
    pub fn agent(&self, name: &str) -> Option<Agent> {
        let project = self.project.as_ref();
        self.agent_with(name, project.map(|project| (&project.configuration, project.trust)))
    }

    /// All agents, the built-in ones first.
    pub fn agents(&self) -> Vec<Agent> {
        let names = self.names(|configuration| configuration.agents.iter().map(|agent| &agent.name).collect());
        let built_in = self.built_in.iter().map(|agent| agent.name.as_str());
        let mut seen = BTreeSet::new();
        built_in
            .chain(names)
            .filter(|name| seen.insert(*name))
            .filter_map(|name| self.agent(name))
            .collect()
    }

    /// Looks up a tool; `None` if no layer that counts declares it.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        let project = self.project.as_ref();
        self.tool_with(name, project.map(|project| (&project.configuration, project.trust)))
    }

    /// An MCP server as the user declares it, narrowed by the project; one of which nothing is said if no layer declares it.
    pub fn mcp_server(&self, name: &str) -> McpServer {
        let own = self.user.mcp.server(name).cloned();
        let own = own.unwrap_or_else(|| McpServer::saying_nothing(name.to_owned(), Origin::BuiltIn));
        let theirs = self
            .project
            .as_ref()
            .and_then(|project| project.configuration.mcp.server(name));
        theirs.map_or(own.clone(), |theirs| own.narrowed(theirs))
    }

    /// What happens about tools that have changed, and about those that shadow others, where a server says nothing else.
    pub fn mcp_usual(&self) -> (Option<OnTools>, Option<OnTools>) {
        let own = &self.user.mcp;
        let theirs = self.project.as_ref().map(|project| &project.configuration.mcp);
        (
            own.on_changed_tools
                .max(theirs.and_then(|theirs| theirs.on_changed_tools)),
            own.on_shadowed_tools
                .max(theirs.and_then(|theirs| theirs.on_shadowed_tools)),
        )
    }

    /// All declared tools.
    pub fn tools(&self) -> Vec<Tool> {
        let names = self.names(|configuration| configuration.tools.iter().map(|tool| &tool.name).collect());
        let mut seen = BTreeSet::new();
        let names = names.into_iter().filter(|name| seen.insert(*name));
        names.filter_map(|name| self.tool(name)).collect()
    }

    /// Remarks for a person about configuration that was found and doesn't count.
    pub fn remarks(&self) -> Vec<String> {
        let Some(project) = &self.project else {
            let gone = self.gone.iter();
            let said = gone.map(|path| {
                format!(
                    "`{}` was trusted and is gone: nothing of it holds; `stockade trust --remove` forgets it",
                    path.display()
                )
            });
            return said.collect();
        };
        let path = project.path.display();
        let widens = !project.widens.is_empty();
        let untrusted = match project.trust {
            Trust::Trusted => None,
            Trust::Changed if widens => Some(format!(
                "`{path}` has changed since it was trusted, so what it allows doesn't count: see `stockade trust --diff`"
            )),
            Trust::Changed => Some(format!(
                "`{path}` has changed since it was trusted, and may deny less: see `stockade trust --diff`"
            )),
            Trust::Untrusted if !widens => None,
            Trust::Untrusted => Some(format!(
                "`{path}` isn't trusted, so what it allows doesn't count: `stockade trust` shows it"
            )),
        };
        let unusable = self.unusable.as_ref().map(|error| {
            let why = std::error::Error::source(error).map(|source| format!(": {source}"));
            format!(
                "no project's configuration is trusted: {error}{}",
                why.unwrap_or_default()
            )
        });
        unusable.into_iter().chain(untrusted).collect()
    }

    fn names<'l>(&'l self, of: impl Fn(&'l Configuration) -> Vec<&'l String>) -> Vec<&'l str> {
        let project = self.project.iter().map(|project| &project.configuration);
        let all = std::iter::once(&self.user).chain(project).flat_map(of);
        all.map(String::as_str).collect()
    }

    /// The agent as the built-in and the user's layers declare it.
    fn own_agent(&self, name: &str) -> Option<Agent> {
        let built_in = self.built_in.iter().find(|agent| agent.name == name).cloned();
        over(self.user.agent(name).cloned(), built_in, Agent::over).map(complete)
    }

    fn agent_with(&self, name: &str, project: Said<'_>) -> Option<Agent> {
        let own = self.own_agent(name);
        let said = project.and_then(|(configuration, trust)| Some((configuration.agent(name)?, trust)));
        match said {
            None => own,
            Some((theirs, Trust::Trusted)) => over(Some(theirs.clone()), own, Agent::over).map(complete),
            Some((theirs, _)) => own.map(|own| own.narrowed(theirs)),
        }
    }

    fn tool_with(&self, name: &str, project: Said<'_>) -> Option<Tool> {
        let own = self.user.tool(name).cloned();
        let said = project.and_then(|(configuration, trust)| Some((configuration.tool(name)?, trust)));
        match said {
            None => own,
            Some((theirs, Trust::Trusted)) => over(Some(theirs.clone()), own, Tool::over),
            Some((theirs, _)) => own.map(|own| own.narrowed(theirs)),
        }
    }
}

/// Fills in the default mode and profile of an agent that a user or project declares without them.
fn complete(agent: Agent) -> Agent {
    Agent {
        mode: agent.mode.or(Some(Mode::Manual)),
        profile: agent.profile.or_else(|| Some(PROFILE.to_owned())),
        ..agent
    }
}

/// A project's configuration and its trust.
type Said<'c> = Option<(&'c Configuration, Trust)>;

fn over<T>(upper: Option<T>, lower: Option<T>, join: fn(T, T) -> T) -> Option<T> {
    match (upper, lower) {
        (Some(upper), Some(lower)) => Some(join(upper, lower)),
        (one, other) => one.or(other),
    }
}

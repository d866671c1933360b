//! Lists all effective configuration as lines, each with its origins.

use super::line::{Field, Fields, Line, Missing, bare_tool, lines, quoted, run_line, texts};
use super::{Layers, Section};
use crate::known;
use stockade_policy::profile::Origin;

impl Layers {
    /// The effective lines in the order of evaluation, then those that an untrusted project would allow.
    pub fn lines(&self) -> Vec<Line> {
        let mut all = self.user_lines();
        let of_project = self.project.iter().filter(|project| project.is_trusted());
        let of_run = of_project.map(|project| &project.configuration).chain([&self.user]);
        all.extend(of_run.into_iter().find_map(run_line));
        all.extend(self.rule_lines());
        for agent in self.agents() {
            let own = self.own_agent(&agent.name).map(|own| own.fields());
            let origins = |field| self.origins(Section::Agents, &agent.name, field, own.as_deref(), &agent.fields());
            all.extend(lines(Section::Agents, &agent.name, agent.fields(), origins));
        }
        for tool in self.tools() {
            let fields = tool.fields();
            if fields.is_empty() {
                all.push(bare_tool(&tool.name, &tool.origin));
            }
            let own = self.user.tool(&tool.name).map(|own| own.fields());
            let origins = |field| self.origins(Section::Tools, &tool.name, field, own.as_deref(), &tool.fields());
            all.extend(lines(Section::Tools, &tool.name, fields, origins));
        }
        all.extend(self.mcp_lines());
        all.extend(self.missing_lines());
        all
    }

    /// MCP servers: the user's, and what the project's file narrows, trusted or not.
    fn mcp_lines(&self) -> Vec<Line> {
        let project = self.project.iter().map(|project| &project.configuration);
        let mut all = Vec::new();
        for configuration in std::iter::once(&self.user).chain(project) {
            for server in &configuration.mcp.servers {
                all.extend(server.fields().into_iter().map(|(field, value)| Line {
                    text: format!("mcp.servers.{}.{field} = {value}", server.name),
                    origins: vec![server.origin.clone()],
                    missing: None,
                }));
            }
        }
        let usual = self.mcp_usual();
        for (field, on) in [("on_changed_tools", usual.0), ("on_shadowed_tools", usual.1)] {
            all.extend(on.map(|on| Line {
                text: format!("mcp.{field} = {}", on.text()),
                origins: Vec::new(),
                missing: None,
            }));
        }
        all
    }

    /// The effective rules for tool calls: denials first, in the order of evaluation, then allows, built-in ones first.
    pub fn rule_lines(&self) -> Vec<Line> {
        let permissions = self.permissions();
        let deny = permissions.deny.iter().map(|rule| Line::of_rule("deny", rule));
        let built_in = known::allowed().map(|(tool, command)| Line::built_in(tool, command));
        let allow = permissions.allow.iter().map(|rule| Line::of_rule("allow", rule));
        deny.chain(built_in).chain(allow).collect()
    }

    /// The lines that would count if the project were trusted.
    pub fn missing_lines(&self) -> Vec<Line> {
        let untrusted = self.project.iter().filter(|project| !project.is_trusted());
        let widens = untrusted.flat_map(|project| project.widens.iter().cloned());
        let missing = widens.map(|line| Line {
            missing: Some(Missing::Untrusted),
            ..line
        });
        missing.collect()
    }

    fn user_lines(&self) -> Vec<Line> {
        let line = |text, origin: Option<&Origin>| Line {
            text,
            origins: origin.cloned().into_iter().collect(),
            missing: None,
        };
        let on_violation = self.user.on_violation.iter().map(|command| {
            let words = std::iter::once(&command.program).chain(&command.arguments);
            let origin = self.user.place(Section::OnViolation, "", "on_violation");
            line(format!("on_violation = {}", texts(words)), origin)
        });
        let secrets = &self.user.secrets;
        let closed = secrets.closed.iter().map(|rule| {
            let pattern = rule.value.to_string();
            line(format!("secrets.closed = {}", texts([pattern])), Some(&rule.origin))
        });
        let open = secrets.open.iter().map(|rule| {
            let path = rule.value.to_string_lossy();
            line(format!("secrets.open = {}", texts([path])), Some(&rule.origin))
        });
        let shell = &self.user.shell;
        let shell = [("profile", &shell.profile), ("agent", &shell.agent)].into_iter();
        let shell = shell.filter_map(|(field, value)| {
            let text = format!("shell.{field} = {}", quoted(value.as_ref()?));
            Some(line(text, self.user.place(Section::Shell, "", field)))
        });
        on_violation.chain(closed).chain(open).chain(shell).collect()
    }

    /// The origins of an effective field. `own` are the fields without the project's, `now` those with them.
    fn origins(
        &self,
        section: Section,
        name: &str,
        field: &'static str,
        own: Option<&[Field]>,
        now: &[Field],
    ) -> Vec<Origin> {
        let value = |fields: &[Field]| fields.iter().find(|(said, _)| *said == field).cloned();
        let of_own = own.and_then(value);
        let user = self.user.place(section, name, field).cloned();
        let base = user.or_else(|| of_own.as_ref().map(|_| Origin::BuiltIn));
        let changes = of_own != value(now);
        let theirs = self.project.as_ref().filter(|_| changes).and_then(|project| {
            let place = project.configuration.place(section, name, field)?;
            Some((place.clone(), project.is_trusted()))
        });
        match theirs {
            // These accumulate, trusted or not.
            Some((place, true)) if !matches!(field, "scope.denied" | "scope.read_only" | "limits") => vec![place],
            theirs => {
                let theirs = theirs.map(|(place, _)| place);
                let origins: Vec<Origin> = base.into_iter().chain(theirs).collect();
                // A default mode that no layer sets.
                if origins.is_empty() {
                    vec![Origin::BuiltIn]
                } else {
                    origins
                }
            }
        }
    }
}

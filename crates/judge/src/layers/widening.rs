//! Computes what trusting a project's configuration allows: the difference to the configuration without it.

use std::path::Path;

use super::line::{Field, Fields, Line, bare_tool, lines, run_line};
use super::project::read;
use super::{Configuration, Layers, Section, Trust};
use stockade_policy::profile::{Origin, Source};

/// The changes of a project's file compared with its previously trusted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widening {
    /// Lines that it would allow and the trusted text doesn't.
    pub added: Vec<Line>,
    /// Lines of the trusted text that it no longer has.
    pub dropped: Vec<Line>,
    /// Denials and restrictions of the trusted text that it no longer has.
    pub lifted: Vec<Line>,
}

impl Layers {
    /// Compares the project's file with the previously trusted text, or with nothing.
    pub fn widening(&self) -> Widening {
        let Some(project) = &self.project else {
            return Widening {
                added: Vec::new(),
                dropped: Vec::new(),
                lifted: Vec::new(),
            };
        };
        let said = self.before.as_deref();
        let narrowed = said.map_or_else(Vec::new, |text| narrowing_of_text(text, &project.path));
        let before = said.map_or_else(Vec::new, |text| self.widened_by_text(text, &project.path));
        let without = |lines: &[Line], others: &[Line]| -> Vec<Line> {
            let is_new = |line: &&Line| others.iter().all(|other| other.text != line.text);
            lines.iter().filter(is_new).cloned().collect()
        };
        Widening {
            added: without(&project.widens, &before),
            dropped: without(&before, &project.widens),
            lifted: without(&without(&narrowed, &narrowing(&project.configuration)), &before),
        }
    }

    /// The lines that a project's configuration allows only when trusted.
    pub(super) fn widened_by(&self, project: &Configuration) -> Vec<Line> {
        let allow = project.permissions.allow.iter();
        let mut widened: Vec<Line> = allow.map(|rule| Line::of_rule("allow", rule)).collect();
        if project.run_profile != self.user.run_profile {
            widened.extend(run_line(project));
        }
        for declared in &project.agents {
            let name = &declared.name;
            let fields = |trust| {
                let agent = self.agent_with(name, Some((project, trust)));
                agent.map_or_else(Vec::new, |agent| agent.fields())
            };
            let fields = differing(fields(Trust::Trusted), &fields(Trust::Untrusted));
            widened.extend(lines(Section::Agents, name, fields, |field| {
                place_or(project, Section::Agents, name, field, &declared.origin)
            }));
        }
        for declared in &project.tools {
            let name = &declared.name;
            let fields = |trust| {
                let tool = self.tool_with(name, Some((project, trust)));
                tool.map_or_else(Vec::new, |tool| tool.fields())
            };
            let fields = differing(fields(Trust::Trusted), &fields(Trust::Untrusted));
            // Even without fields, a new tool is one that agents may be given.
            if fields.is_empty() && self.user.tool(name).is_none() {
                widened.push(bare_tool(name, &declared.origin));
            }
            widened.extend(lines(Section::Tools, name, fields, |field| {
                place_or(project, Section::Tools, name, field, &declared.origin)
            }));
        }
        widened
    }

    /// The lines that a previously trusted text allowed; none if it can't be parsed any more.
    fn widened_by_text(&self, text: &str, path: &Path) -> Vec<Line> {
        let configuration = read(text, &Source::File(path.to_path_buf()));
        configuration.map_or_else(|_| Vec::new(), |configuration| self.widened_by(&configuration))
    }
}

/// The lines of a project's configuration that may deny or narrow: its deny rules, and everything about agents and
/// tools.
fn narrowing(project: &Configuration) -> Vec<Line> {
    let denying = project.permissions.deny.iter();
    let mut narrowing: Vec<Line> = denying.map(|rule| Line::of_rule("deny", rule)).collect();
    for agent in &project.agents {
        let places = |field| place_or(project, Section::Agents, &agent.name, field, &agent.origin);
        narrowing.extend(lines(Section::Agents, &agent.name, agent.fields(), places));
    }
    for tool in &project.tools {
        let places = |field| place_or(project, Section::Tools, &tool.name, field, &tool.origin);
        narrowing.extend(lines(Section::Tools, &tool.name, tool.fields(), places));
    }
    narrowing
}

fn narrowing_of_text(text: &str, path: &Path) -> Vec<Line> {
    let configuration = read(text, &Source::File(path.to_path_buf()));
    configuration.map_or_else(|_| Vec::new(), |configuration| narrowing(&configuration))
}

fn place_or(
    configuration: &Configuration,
    section: Section,
    name: &str,
    field: &'static str,
    declared: &Origin,
) -> Vec<Origin> {
    vec![configuration.place(section, name, field).unwrap_or(declared).clone()]
}

/// The fields whose values differ.
fn differing(fields: Vec<Field>, others: &[Field]) -> Vec<Field> {
    let differs = |field: &Field| !others.contains(field);
    fields.into_iter().filter(differs).collect()
}

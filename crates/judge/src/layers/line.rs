//! Configurations as lines of text, as `stockade config show`, `trust` and `rules list` print them.
//!
//! Texts in lines come from untrusted files; code that displays a line must escape it.

use super::{Agent, Configuration, Section, Tool};
use crate::PermissionRule;
use stockade_policy::profile::{Glob, Limits, Origin, Rule};

/// One value in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// As in TOML: `agents.worker.mode = "manual"`.
    pub text: String,
    /// The origins of the value; several if one narrows the other.
    pub origins: Vec<Origin>,
    /// Why it doesn't count, if it doesn't.
    pub missing: Option<Missing>,
}

/// Why a line doesn't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The project's file isn't trusted.
    Untrusted,
}

impl Line {
    pub(super) fn of_rule(list: &str, rule: &PermissionRule) -> Line {
        Line {
            text: format!("permissions.{list} = {}", rule_text(rule)),
            origins: vec![rule.origin.clone()],
            missing: None,
        }
    }

    /// A rule that exists without any configuration.
    pub(super) fn built_in(tool: &str, command: Option<&str>) -> Line {
        Line::of_rule(
            "allow",
            &PermissionRule {
                tool: tool.to_owned(),
                command: command.map(str::to_owned),
                command_glob: None,
                skill_name: None,
                matches: Vec::new(),
                not_matches: Vec::new(),
                origin: Origin::BuiltIn,
            },
        )
    }
}

/// The lines of an agent's or a tool's fields, all with the same origin.
pub(super) fn lines(
    section: Section,
    name: &str,
    fields: Vec<Field>,
    origins: impl Fn(&'static str) -> Vec<Origin>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    for (field, values) in fields {
        let origins = origins(field);
        lines.extend(values.into_iter().map(|value| Line {
            text: format!("{}.{}.{field} = {value}", section.name(), key(name)),
            origins: origins.clone(),
            missing: None,
        }));
    }
    lines
}

/// The profile of a run of which nothing else is said.
pub(super) fn run_line(configuration: &Configuration) -> Option<Line> {
    let profile = configuration.run_profile.as_ref()?;
    let origin = configuration.place(Section::Run, "", "profile");
    Some(Line {
        text: format!("run.profile = {}", quoted(profile)),
        origins: origin.cloned().into_iter().collect(),
        missing: None,
    })
}

/// A declared tool without fields.
pub(super) fn bare_tool(name: &str, origin: &Origin) -> Line {
    Line {
        text: format!("{}.{} = {{}}", Section::Tools.name(), key(name)),
        origins: vec![origin.clone()],
        missing: None,
    }
}

/// Formats a key for TOML.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// The fields that decide, as an inline table.
fn rule_text(rule: &PermissionRule) -> String {
    let fields = [
        ("tool", Some(&rule.tool)),
        ("command", rule.command.as_ref()),
        ("command_glob", rule.command_glob.as_ref()),
        ("skill_name", rule.skill_name.as_ref()),
    ];
    let written: Vec<String> = fields
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} = {}", quoted(value?))))
        .collect();
    format!("{{ {} }}", written.join(", "))
}

/// A field of an agent or tool: its name and its values; a scope may have several lists of allowed paths.
pub(super) type Field = (&'static str, Vec<String>);

/// An agent or a tool.
pub(super) trait Fields {
    /// The fields that it has.
    fn fields(&self) -> Vec<Field>;
}

impl Fields for Agent {
    fn fields(&self) -> Vec<Field> {
        let one = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
        let listed = |rules: &[Rule<Glob>]| one((!rules.is_empty()).then(|| ruled(rules)));
        let scope = &self.scope;
        let limits = (self.limits != Limits::NONE).then(|| limits(&self.limits.to_string()));
        let fields = [
            ("mode", one(self.mode.map(|mode| quoted(mode.name())))),
            ("profile", one(self.profile.as_deref().map(quoted))),
            ("capabilities", one(self.capabilities.map(|held| texts(held.names())))),
            ("tools", one(self.tools.as_ref().map(texts))),
            ("hosts", one(self.hosts.as_deref().map(ruled))),
            ("scope.allowed", scope.allowed.iter().map(|list| ruled(list)).collect()),
            ("scope.denied", listed(&scope.denied)),
            ("scope.read_only", listed(&scope.read_only)),
            ("limits", one(limits)),
        ];
        fields.into_iter().filter(|(_, values)| !values.is_empty()).collect()
    }
}

impl Fields for Tool {
    fn fields(&self) -> Vec<Field> {
        let capabilities = self.capabilities.map(|needed| texts(needed.names()));
        let fields = [
            ("profile", self.profile.as_deref().map(quoted)),
            ("commands", self.commands.as_ref().map(texts)),
            ("capabilities", capabilities),
        ];
        let fields = fields
            .into_iter()
            .filter_map(|(name, value)| Some((name, vec![value?])));
        fields.collect()
    }
}

/// `time 30s, memory 1G` as an inline table.
fn limits(text: &str) -> String {
    let each = text.split(", ").filter_map(|limit| limit.split_once(' '));
    let written: Vec<String> = each
        .map(|(name, value)| format!("{name} = {}", quoted(value)))
        .collect();
    format!("{{ {} }}", written.join(", "))
}

fn ruled<T: std::fmt::Display>(rules: &[Rule<T>]) -> String {
    texts(rules.iter().map(|rule| rule.value.to_string()))
}

pub(super) fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

/// Quotes a string for TOML, except for invisible characters, which the display code escapes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

//! Compiled rules: the built-in list, the configuration layers and any added rules, concatenated.
//!
//! No list has precedence: a deny in any list wins, then an allow in any list counts.

use super::glob::CommandGlob;
use super::{PermissionRule, Permissions, known};
use stockade_policy::profile::{Origin, with_origin};

/// All rules of all layers.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) allow: Vec<CompiledRule>,
    pub(super) deny: Vec<CompiledRule>,
}

/// A compiled rule.
#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) tool: String,
    /// The words of `command`; empty if the rule has no `command`.
    pub(super) words: Vec<String>,
    pub(super) glob: Option<CommandGlob>,
    pub(super) skill_name: Option<String>,
    pub(super) origin: Origin,
    /// The rule as displayed, with its origin.
    pub(super) shown: String,
}

impl Rules {
    /// Compiles these rules and puts them after the built-in ones.
    pub(super) fn new(permissions: Permissions) -> Rules {
        let built_in = known::allowed().map(|(tool, command)| PermissionRule {
            tool: tool.to_string(),
            command: command.map(str::to_string),
            command_glob: None,
            skill_name: None,
            matches: Vec::new(),
            not_matches: Vec::new(),
            origin: Origin::BuiltIn,
        });
        let allow = built_in.chain(permissions.allow);
        Rules {
            allow: allow.map(|rule| CompiledRule::new("allow", rule)).collect(),
            deny: compiled("deny", permissions.deny),
        }
    }

    /// Compiles these rules without the built-in ones.
    pub(super) fn alone(permissions: Permissions) -> Rules {
        Rules {
            allow: compiled("allow", permissions.allow),
            deny: compiled("deny", permissions.deny),
        }
    }

    /// Whether any rule names this tool.
    pub(super) fn name(&self, tool: &str) -> bool {
        self.allow.iter().chain(&self.deny).any(|rule| rule.tool == tool)
    }
}

fn compiled(list: &str, rules: Vec<PermissionRule>) -> Vec<CompiledRule> {
    rules.into_iter().map(|rule| CompiledRule::new(list, rule)).collect()
}

impl CompiledRule {
    fn new(list: &str, rule: PermissionRule) -> CompiledRule {
        let shown = shown(list, &rule);
        let words = rule.command.iter().flat_map(|command| command.split_whitespace());
        let glob = rule.command_glob.as_deref();
        CompiledRule {
            words: words.map(str::to_string).collect(),
            glob: glob.map(|glob| CommandGlob::new(&stockade_shell::normalise(glob))),
            tool: rule.tool,
            skill_name: rule.skill_name,
            origin: rule.origin,
            shown,
        }
    }

    /// Whether the rule applies to every call of its tool.
    pub(super) fn is_whole(&self) -> bool {
        self.words.is_empty() && self.glob.is_none() && self.skill_name.is_none()
    }

    /// Whether a command begins with exactly the rule's words; safe options may stand before a sub-command.
    pub(super) fn begins(&self, words: &[String]) -> bool {
        words.starts_with(&self.words)
            || match self.words.as_slice() {
                [command, sub] if words.first() == Some(command) => {
                    stockade_shell::subject(words).is_some_and(|(_, said)| said == Some(sub))
                }
                _ => false,
            }
    }
}

/// Displays a rule, as in ``allow bash `git push`, from c.toml:3``.
fn shown(list: &str, rule: &PermissionRule) -> String {
    use std::fmt::Write;
    let mut text = format!("{list} {}", rule.tool);
    if let Some(command) = &rule.command {
        let _ = write!(text, " `{command}`");
    }
    if let Some(glob) = &rule.command_glob {
        let _ = write!(text, " matching `{glob}`");
    }
    if let Some(skill) = &rule.skill_name {
        let _ = write!(text, " `{skill}`");
    }
    with_origin(&text, &rule.origin.to_string())
}

//! Judging a tool call.

use std::path::{Path, PathBuf};

pub use super::answer::{Answer, Danger, Decision};
use super::asking::shortened;
use super::line::{self, Judged};
use super::rules::{CompiledRule, Rules};
use super::{Call, Permissions, Refused, SHELL, SKILL_LOAD, denying, harm, storing};
use stockade_policy::config::{Agent, Tool, known};
use stockade_policy::policy::{Capabilities, Mode};
use stockade_policy::profile::Origin;
use stockade_shell::Line;

/// The rules of all layers and the declared tools, compiled for repeated use. Judging reads the file system only if a
/// command line has a `cd`.
#[derive(Debug)]
pub struct Judge {
    rules: Rules,
    tools: Vec<Tool>,
    root: PathBuf,
}

impl Judge {
    /// `permissions` joins all layers except the built-in one; `root` is the run's root.
    #[must_use]
    pub fn new(permissions: Permissions, tools: Vec<Tool>, root: &Path) -> Judge {
        Judge {
            rules: Rules::new(permissions),
            tools,
            root: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
        }
    }

    /// A judge without the built-in rules, which allow only what a run confines.
    #[must_use]
    pub fn without_built_in(permissions: Permissions, tools: Vec<Tool>, root: &Path) -> Judge {
        Judge {
            rules: Rules::alone(permissions.clone()),
            ..Judge::new(permissions, tools, root)
        }
    }

    /// Judges a call by the agent's lists, if one is named, and by the rules. `cwd` is the directory where a
    /// command line would start, absolute or relative to the root.
    #[must_use]
    pub fn tool(&self, agent: Option<&Agent>, call: &Call, cwd: &Path) -> Answer {
        if let Err(refused) = self.admit(agent, &call.tool) {
            return Answer::plain(Decision::Deny, refused.to_string(), None);
        }
        if let Some(rule) = denying::tool(&self.rules.deny, call) {
            return Answer::plain(Decision::Deny, "a rule denies it".into(), Some(rule.shown.clone()));
        }
        let declared = self.declared(&call.tool);
        let commands = declared.and_then(|tool| tool.commands.as_deref());
        let answer = match &call.command {
            // A declared tool takes command lines, and the shell's rules apply to anything that starts programs.
            Some(text) if call.tool == SHELL || declared.is_some() => self.command(call, text, commands, cwd),
            None if commands.is_some() => Answer::plain(
                Decision::Deny,
                format!("the tool `{}` needs a command line", shortened(&call.tool)),
                None,
            ),
            _ => self.other(call),
        };
        self.under_mode(agent, call, answer)
    }

    /// The answer of a rule of the user's for all of a tool that it calls by one of its names: a denial first.
    #[must_use]
    pub fn ruled(&self, is_name: impl Fn(&str) -> bool) -> Option<Answer> {
        let find = |rules: &[CompiledRule], decision, reason: &str| {
            let is_own = |rule: &&CompiledRule| rule.is_whole() && rule.origin != Origin::BuiltIn;
            let rule = rules.iter().filter(is_own).find(|rule| is_name(&rule.tool))?;
            Some(Answer::plain(decision, reason.into(), Some(rule.shown.clone())))
        };
        let denied = find(&self.rules.deny, Decision::Deny, "a rule denies it");
        denied.or_else(|| find(&self.rules.allow, Decision::Allow, "a rule allows it"))
    }

    /// Whether there is such a tool: a known one, a declared one, or one that a rule names.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        known::needs(tool).is_some() || self.declared(tool).is_some() || self.rules.name(tool)
    }

    /// Checks that the tool exists and that this agent may call it.
    fn admit(&self, agent: Option<&Agent>, tool: &str) -> Result<(), Refused> {
        if !self.has(tool) {
            return Err(Refused::ToolNotFound { tool: tool.into() });
        }
        let Some(agent) = agent else { return Ok(()) };
        let is_listed = |tools: &Vec<String>| tools.iter().any(|entry| known::declares(entry, tool));
        if !agent.tools.as_ref().is_none_or(is_listed) {
            return Err(Refused::CapabilityDenied {
                agent: agent.name.clone(),
                tool: tool.into(),
            });
        }
        let missing = self.needs(tool) - agent.capabilities.unwrap_or(Capabilities::USUAL);
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Refused::Lacks(missing)),
        }
    }

    fn declared(&self, tool: &str) -> Option<&Tool> {
        self.tools.iter().find(|declared| declared.name == tool)
    }

    /// The capabilities that a tool needs: the known ones and the declared ones. One that takes command lines starts programs.
    fn needs(&self, tool: &str) -> Capabilities {
        let declared = self.declared(tool);
        let said = declared.and_then(|tool| tool.capabilities);
        let starts = declared.is_some_and(|tool| tool.commands.is_some());
        let usual = match starts {
            true if said.is_none() => Capabilities::EXECUTE | Capabilities::SPAWN,
            _ => Capabilities::empty(),
        };
        known::needs(tool).unwrap_or(Capabilities::empty()) | said.unwrap_or(usual)
    }

    fn command(&self, call: &Call, text: &str, commands: Option<&[String]>, cwd: &Path) -> Answer {
        let judged = line::judge(
            &self.rules,
            &line::Question {
                tool: &call.tool,
                text,
                place: Some((&self.root, cwd)),
                commands,
            },
        );
        let answer = Answer::plain(judged.decision, judged.reason.clone(), judged.matched.clone());
        match judged.decision {
            Decision::Confirm => answer.asking(
                if call.tool == SHELL || commands.is_some() {
                    "Run command?"
                } else {
                    "Run tool?"
                },
                match call.tool == SHELL || commands.is_some() {
                    true => normalised(&judged).to_string(),
                    false => format!("{}: {}", call.tool, normalised(&judged)),
                },
                harm::of_line(text, &judged.line, judged.is_unfit),
                match judged.is_storable && call.tool == SHELL {
                    true => storing::of_line(&judged.line),
                    false => Vec::new(),
                },
            ),
            _ => answer,
        }
    }

    /// Judges a tool whose input isn't a command line, or a shell call without one.
    fn other(&self, call: &Call) -> Answer {
        let is_about = |rule: &&CompiledRule| {
            rule.tool == call.tool
                && (rule.is_whole() || (rule.skill_name.is_some() && rule.skill_name == call.skill_name))
        };
        if let Some(rule) = self.rules.allow.iter().find(is_about) {
            return Answer::plain(Decision::Allow, "a rule allows it".into(), Some(rule.shown.clone()));
        }
        let input = call.skill_name.as_ref().or(call.command.as_ref());
        let message = match input {
            Some(input) => format!("{}: {input}", call.tool),
            None => call.tool.clone(),
        };
        let remember = storing::storable(call);
        let reason = format!("no rule allows `{}`", shortened(&message));
        let danger = match call.tool.as_str() {
            SKILL_LOAD => Danger::Medium,
            tool => harm::of_tool(self.needs(tool)),
        };
        Answer::plain(Decision::Confirm, reason, None).asking("Run tool?", message, danger, remember)
    }

    /// In manual mode every change needs a confirm, even if the rules allow it.
    fn under_mode(&self, agent: Option<&Agent>, call: &Call, answer: Answer) -> Answer {
        let changes = self
            .needs(&call.tool)
            .intersects(Capabilities::WRITE | Capabilities::DELETE);
        match agent {
            Some(agent) if agent.mode == Some(Mode::Manual) && changes && answer.decision == Decision::Allow => {
                let reason = format!("the agent `{}` is in manual mode: each change asks", agent.name);
                let message = call.command.as_ref().unwrap_or(&call.tool).clone();
                Answer::plain(Decision::Confirm, reason, None).asking(
                    "Run tool?",
                    message,
                    harm::of_tool(self.needs(&call.tool)),
                    Vec::new(),
                )
            }
            _ => answer,
        }
    }
}

fn normalised(judged: &Judged) -> &str {
    match &judged.line {
        Line::Plain(plain) => &plain.normalised,
        Line::NotPlain(line) => &line.normalised,
    }
}

//! Checks a rule's own examples when its file is loaded.

use super::line::{self, Question};
use super::rules::Rules;
use stockade_policy::config::{Decision, List, PermissionRule, Permissions, SHELL, SKILL_LOAD};

/// Whether this rule alone decides about the text: a command line for the shell, a skill for `skill_load`, otherwise the
/// tool's name.
pub fn matches(rule: &PermissionRule, list: List, text: &str) -> bool {
    match rule.tool.as_str() {
        SHELL => shell_matches(rule, list, text),
        SKILL_LOAD => rule.skill_name.as_deref().is_none_or(|skill| skill == text),
        tool => tool == text,
    }
}

fn shell_matches(rule: &PermissionRule, list: List, text: &str) -> bool {
    let (mut permissions, decision) = (
        Permissions::default(),
        match list {
            List::Allow => Decision::Allow,
            List::Deny => Decision::Deny,
        },
    );
    match list {
        List::Allow => permissions.allow.push(rule.clone()),
        List::Deny => permissions.deny.push(rule.clone()),
    }
    let question = Question {
        tool: SHELL,
        text,
        place: None,
        commands: None,
    };
    line::judge(&Rules::alone(permissions), &question).decision == decision
}

//! The rules that a yes to a command line may store: the first word of each of its commands, or two if the second is the
//! sub-command.

use super::{Call, Remember, SHELL, SKILL_LOAD};
use stockade_shell::{self as shell, Line, Part};
use stockade_text::visible::is_visible;

/// Commands with sub-commands, stored with two words.
const WITH_SUBCOMMANDS: [&str; 20] = [
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "npx",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "go",
    "pip",
    "uv",
    "poetry",
    "apt",
    "systemctl",
    "gh",
    "aws",
    "gcloud",
    "terraform",
];

/// Longer words aren't accepted as names.
const MAX_LENGTH: usize = 200;

/// The rules that a yes to a call stores, whatever is already allowed. None if a command line isn't plain, writes or
/// reads a file by a redirection, or has options that do more than its commands say.
#[must_use]
pub fn storable(call: &Call) -> Vec<Remember> {
    match (call.tool.as_str(), &call.command, &call.skill_name) {
        (SHELL, Some(text), _) => {
            let line = shell::read(text);
            match &line {
                Line::Plain(plain) if plain.parts.iter().all(is_fit) => of_line(&line),
                _ => Vec::new(),
            }
        }
        // A rule stored for another tool's command line would allow all its other command lines.
        (SHELL, None, _) | (SKILL_LOAD, _, None) | (_, Some(_), _) => Vec::new(),
        (tool, _, skill) => vec![Remember {
            tool: tool.to_string(),
            command: None,
            skill_name: skill.clone().filter(|_| tool == SKILL_LOAD),
        }],
    }
}

fn is_fit(part: &Part) -> bool {
    let is_unfit = matches!(shell::fitness(&part.words), shell::Fitness::Unfit(_));
    !is_unfit && part.redirections.iter().all(shell::Redirection::opens_nothing)
}

/// The rules for a plain line, one for each different command; none if one command has no rule of that form, since
/// the same line would be asked again.
pub(super) fn of_line(line: &Line) -> Vec<Remember> {
    let Line::Plain(plain) = line else {
        return Vec::new();
    };
    let mut stored: Vec<Remember> = Vec::new();
    for part in plain.parts.iter().filter(|part| part.words[0] != "cd") {
        let Some(command) = command(part) else {
            return Vec::new();
        };
        let remember = Remember {
            tool: SHELL.to_string(),
            command: Some(command),
            skill_name: None,
        };
        if !stored.contains(&remember) {
            stored.push(remember);
        }
    }
    stored
}

fn command(part: &Part) -> Option<String> {
    let name = part.words.first()?;
    if !WITH_SUBCOMMANDS.contains(&name.as_str()) {
        return is_name(name).then(|| name.clone());
    }
    let second = part.words.get(1).map(String::as_str);
    let sub = shell::subject(&part.words).and_then(|(_, sub)| sub).or(second);
    // A rule for `docker -H` would allow anything that follows it.
    let sub = sub.filter(|sub| is_name(sub) && !sub.starts_with(['-', '+']))?;
    is_name(name).then(|| format!("{name} {sub}"))
}

/// Whether a rule can hold the word.
fn is_name(word: &str) -> bool {
    let is_plain = |c: char| (c.is_alphanumeric() || "._-/:@%,=+".contains(c)) && is_visible(c);
    !word.is_empty() && word.len() <= MAX_LENGTH && word.chars().all(is_plain)
}

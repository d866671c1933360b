//! Whether a deny rule matches: matching is generous, so that nothing hides from it.
//!
//! Tries every command that the line could start, the whole line and each of its pieces, as written and without
//! quotes. A line denied needlessly costs one prompt; a missed one costs more.

use std::collections::HashSet;

use super::glob::Work;
use super::rules::CompiledRule;
use super::{Call, SHELL};
use stockade_shell::{self as shell, Fitness, Line, Part};

/// A line of more pieces also has more words than `seen` distinguishes, and could do anything.
const MAX_PIECES: usize = 32 * 1024;

/// The rule that denies a whole tool, or this skill.
pub(super) fn tool<'r>(rules: &'r [CompiledRule], call: &Call) -> Option<&'r CompiledRule> {
    rules.iter().filter(|rule| rule.tool == call.tool).find(|rule| {
        rule.is_whole()
            || match (&rule.skill_name, &call.skill_name) {
                // The program that loads it may be less strict than `==`.
                (Some(denied), Some(name)) => denied.trim().eq_ignore_ascii_case(name.trim()),
                _ => false,
            }
    })
}

/// The rule that denies something that a command line could do. If the work budget runs out, the current rule denies:
/// it can't be ruled out that it matches.
pub(super) fn line<'r>(rules: &'r [CompiledRule], text: &str, line: &Line, work: &Work) -> Option<&'r CompiledRule> {
    if !rules.iter().any(|rule| rule.tool == SHELL) {
        return None;
    }
    let commands = commands(text, line);
    if could_be_anything(&commands) {
        return rules.iter().find(|rule| rule.tool == SHELL);
    }
    let commands = with_base_names(commands);
    let joined: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
    let is_literal = matches!(line, Line::Plain(_)) && !text.contains(['$', '`', '*', '?', '[', '{']);
    let mut wholes = wholes(text, line);
    wholes.sort_unstable();
    wholes.dedup();
    rules.iter().filter(|rule| rule.tool == SHELL).find(|rule| {
        let Some(glob) = &rule.glob else {
            return rule.is_whole() || commands.iter().any(|words| begins(rule, words, is_literal));
        };
        let is_whole_meant = wholes.iter().any(|whole| glob.matches(whole, work).unwrap_or(true));
        let mut commands = commands.iter().zip(&joined);
        match rule.words.is_empty() {
            true => is_whole_meant || joined.iter().any(|text| glob.matches(text, work).unwrap_or(true)),
            false => commands.any(|(words, text)| {
                begins(rule, words, is_literal) && (is_whole_meant || glob.matches(text, work).unwrap_or(true))
            }),
        }
    })
}

/// All commands that the line could start, found by any of the readers.
fn commands(text: &str, line: &Line) -> Vec<Vec<String>> {
    if let Line::Plain(plain) = line {
        let parts = plain.parts.iter().map(|part| part.words.clone());
        return match plain.parts.iter().all(takes_text) {
            true => parts.collect(),
            false => shell::seen(text).into_iter().chain(parts).collect(),
        };
    }
    let mut commands = shell::seen(text);
    if could_be_anything(&commands) {
        return commands;
    }
    // The words of the text as it stands, in case no other reader found anything.
    let mut known = HashSet::new();
    let pieces = text.split(['|', '&', ';', '<', '>', '(', ')', '\n', '`']);
    let pieces = pieces
        .filter(|piece| !piece.trim().is_empty() && known.insert(*piece))
        .take(MAX_PIECES);
    commands.extend(pieces.filter_map(|piece| {
        let words: Vec<String> = unquoted(piece).split_whitespace().map(str::to_string).collect();
        (!words.is_empty()).then_some(words)
    }));
    commands
}

/// Whether it can't be determined what a line would start.
fn could_be_anything(commands: &[Vec<String>]) -> bool {
    commands.iter().any(|words| *words == shell::ANYTHING)
}

/// Whether a command treats quoted text as data (a message, a pattern) and executes none of it. If another command
/// stands next to it, that one may be a shell that receives the text.
fn takes_text(part: &Part) -> bool {
    const TEXTUAL: [&str; 6] = ["echo", "printf", "grep", "rg", "git", "gh"];
    TEXTUAL.contains(&part.words[0].as_str()) && shell::fitness(&part.words) == Fitness::Safe
}

/// Adds a second copy, with the base name, of each command whose name is a path.
fn with_base_names(mut commands: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let named = commands.iter().filter_map(|words| {
        let (path, rest) = words.split_first()?;
        let (_, base) = path.rsplit_once('/')?;
        Some(std::iter::once(base.to_string()).chain(rest.iter().cloned()).collect())
    });
    let named: Vec<_> = named.collect();
    commands.extend(named);
    commands
}

/// The texts that a whole-line glob is matched against.
fn wholes(text: &str, line: &Line) -> Vec<String> {
    let normalised = match line {
        Line::Plain(plain) => &plain.normalised,
        Line::NotPlain(line) => &line.normalised,
    };
    let bare = unquoted(text);
    let squeezed = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wholes = vec![text.trim().to_string(), normalised.clone(), squeezed];
    if let Line::Plain(plain) = line {
        wholes.extend(plain.parts.iter().map(|part| part.text.clone()));
    }
    wholes
}

fn unquoted(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

/// Whether a command begins with the rule's words, allowing options before its sub-command. If the words are literal,
/// the tables determine which of them is the sub-command.
fn begins(rule: &CompiledRule, words: &[String], is_literal: bool) -> bool {
    let ([first, ..], [denied, sub @ ..]) = (words, rule.words.as_slice()) else {
        return false;
    };
    if !shell::could_name(first, denied) {
        return false;
    }
    let Some(sub) = sub.first() else { return true };
    if let (true, Some((_, Some(known)))) = (is_literal, shell::subject(words)) {
        return known == sub;
    }
    subcommands(&words[1..]).any(|word| shell::could_name(word, sub))
}

/// The words that could be a command's sub-command: its options, words that could be option values, and the first
/// word that can't be one.
fn subcommands(words: &[String]) -> impl Iterator<Item = &String> {
    let (mut follows_option, mut is_over) = (false, false);
    words.iter().map_while(move |word| {
        let is_option = word.starts_with(['-', '+']);
        if std::mem::replace(&mut is_over, !is_option && !follows_option) {
            return None;
        }
        follows_option = is_option;
        Some(word)
    })
}

//! Whether allow rules allow a plain line: all of its commands, or the whole line by a glob that spells it out.

use std::ops::Range;

use super::SHELL;
use super::glob::{CommandGlob, Place, Work};
use super::rules::CompiledRule;
use stockade_policy::profile::Origin;
use stockade_shell::{self as shell, Fitness, Part, Plain};

/// A plain line with the facts known about its commands.
pub(super) struct Examined<'l> {
    /// The tool that receives the line.
    pub(super) tool: &'l str,
    pub(super) line: &'l Plain,
    /// For each part: whether its options are safe.
    pub(super) fitness: Vec<Fitness>,
    /// For each part: whether it is a `cd` that stays inside the root.
    pub(super) free: Vec<bool>,
    /// The work budget for globs; once it is spent, a glob allows nothing.
    work: &'l Work,
}

/// The reason why a command isn't allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Open {
    /// No rule matches it.
    NoRule,
    /// A rule matches it, but it has options that do more.
    Unfit(String),
    /// It reads or writes a file that no rule spells out.
    Redirected(String),
    /// It leaves the root, or its directory can't be determined.
    Elsewhere,
}

impl<'l> Examined<'l> {
    pub(super) fn new(tool: &'l str, line: &'l Plain, free: Vec<bool>, work: &'l Work) -> Examined<'l> {
        let fitness = line.parts.iter().map(|part| shell::fitness(&part.words)).collect();
        Examined {
            tool,
            line,
            fitness,
            free,
            work,
        }
    }

    /// The rule that allows the whole line.
    pub(super) fn whole<'r>(&self, rules: &'r [CompiledRule]) -> Option<&'r CompiledRule> {
        let mut globs = self.rules(rules).filter(|rule| rule.glob.is_some()).peekable();
        globs.peek()?;
        let normalised = &self.line.normalised;
        globs.find(|rule| {
            let Some(glob) = rule.glob.as_ref().filter(|glob| self.is_match(glob, normalised)) else {
                return false;
            };
            if self.work.spend(normalised.len()).is_none() {
                return false;
            }
            let places = self.places_in_line(glob);
            let is_spelled = glob.matches_within(normalised, self.work, |at| places[at]) == Some(true);
            is_spelled && rule.begins(&self.line.parts[0].words)
        })
    }

    /// The rule that allows one command of the line; `Ok(None)` for a `cd` that is free.
    pub(super) fn part<'r>(&self, index: usize, rules: &'r [CompiledRule]) -> Result<Option<&'r CompiledRule>, Open> {
        let part = &self.line.parts[index];
        if let Some(redirection) = part
            .redirections
            .iter()
            .find(|redirection| !redirection.opens_nothing())
        {
            return Err(Open::Redirected(redirection.target.clone()));
        }
        if self.free[index] {
            return Ok(None);
        }
        let is_cd = part.words[0] == "cd";
        let mut open = if is_cd { Open::Elsewhere } else { Open::NoRule };
        for rule in self.rules(rules) {
            if rule.is_whole() {
                return Ok(Some(rule));
            }
            if !rule.begins(&part.words) {
                continue;
            }
            if let Some(glob) = &rule.glob {
                if self.is_spelled(index, glob) {
                    return Ok(Some(rule));
                }
                if let (Fitness::Unfit(why), true) = (&self.fitness[index], self.is_match(glob, &part.text)) {
                    open = Open::Unfit(why.clone());
                }
                continue;
            }
            match &self.fitness[index] {
                _ if is_cd => {}
                Fitness::Unfit(why) => open = Open::Unfit(why.clone()),
                // The built-in list allows only reading: without a table that can't be checked.
                Fitness::NoTable if rule.origin == Origin::BuiltIn => {}
                Fitness::Safe | Fitness::NoTable => return Ok(Some(rule)),
            }
        }
        Err(open)
    }

    /// The rules for the tool. For commands, the shell's rules also apply to a tool that takes command lines.
    fn rules<'r>(&self, rules: &'r [CompiledRule]) -> impl Iterator<Item = &'r CompiledRule> {
        let tool = self.tool.to_string();
        rules
            .iter()
            .filter(move |rule| rule.tool == tool || (rule.tool == SHELL && !rule.is_whole()))
    }

    fn is_match(&self, glob: &CommandGlob, text: &str) -> bool {
        glob.matches(text, self.work) == Some(true)
    }

    /// Whether a glob matches one command and spells out the parts that it must.
    fn is_spelled(&self, index: usize, glob: &CommandGlob) -> bool {
        let part = &self.line.parts[index];
        // Classifying each byte costs work as well.
        if !self.is_match(glob, &part.text) || self.work.spend(part.text.len()).is_none() {
            return false;
        }
        let mut places = vec![Place::Free; part.text.len()];
        self.spell(index, glob, part.places_in_text(), &mut places);
        glob.matches_within(&part.text, self.work, |at| places[at]) == Some(true)
    }

    /// For each byte of the line: whether a wildcard may stand for it.
    fn places_in_line(&self, glob: &CommandGlob) -> Vec<Place> {
        let text = self.line.normalised.as_bytes();
        let mut places = vec![Place::Free; text.len()];
        for at in self.line.operators.iter().cloned().flatten() {
            places[at] = match text[at] {
                // Between new lines.
                b' ' | b'\t' => Place::Free,
                // The number before a redirection.
                b'0'..=b'9' => Place::Spelled,
                _ => Place::Operator,
            };
        }
        for (index, part) in self.line.parts.iter().enumerate() {
            let targets = part.redirections.iter().map(|redirection| &redirection.place);
            targets.for_each(|target| places[target.clone()].fill(Place::Spelled));
            self.spell(index, glob, part.places.iter().cloned(), &mut places);
        }
        places
    }

    /// Marks the parts of a command's words that the pattern has to spell out. `words` are their ranges.
    fn spell(&self, index: usize, glob: &CommandGlob, words: impl Iterator<Item = Range<usize>>, places: &mut [Place]) {
        let part = &self.line.parts[index];
        for (at, (range, is_spelled)) in words.zip(self.spelled(index, part)).enumerate() {
            // `rg*` must not match `rg/../x`, but `*` may.
            let is_name = at == 0 && !glob.begins_anywhere();
            if is_spelled || is_name && part.words[0].split('/').any(|component| component == "..") {
                places[range].fill(Place::Spelled);
            } else if is_name {
                let slashes = range.zip(part.text.bytes()).filter(|(_, byte)| *byte == b'/');
                slashes.for_each(|(at, _)| places[at] = Place::Spelled);
            }
        }
    }

    /// The words of a command that no wildcard may match: those that make it do more than its name says.
    fn spelled(&self, index: usize, part: &Part) -> Vec<bool> {
        if part.words[0] == "cd" && !self.free[index] {
            return vec![true; part.words.len()];
        }
        if !matches!(self.fitness[index], Fitness::Unfit(_)) {
            return vec![false; part.words.len()];
        }
        let is_option = |word: &String| word.starts_with('-');
        let without: Vec<String> = part.words.iter().filter(|word| !is_option(word)).cloned().collect();
        // If the command is unfit for another reason than its options (`sudo`, a script), every word counts.
        if without.is_empty() || matches!(shell::fitness(&without), Fitness::Unfit(_)) {
            return vec![true; part.words.len()];
        }
        part.words.iter().map(is_option).collect()
    }
}

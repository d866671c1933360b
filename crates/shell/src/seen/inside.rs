//! Commands inside commands: arguments of wrappers, scripts of shells, code of interpreters and names in options.

use super::{MAX_WORDS, Seer};
use crate::fitness::has_table;
use crate::names::{self, Class};

impl Seer {
    /// Stores a command and every command that it could start.
    pub(super) fn command(&mut self, words: &[String], depth: usize) {
        if words.is_empty() || !self.has_room_for(words, depth) {
            return;
        }
        if words.len() > MAX_WORDS {
            self.is_exhausted = true;
            return self.push(words[..MAX_WORDS].to_vec());
        }
        self.push(words.to_vec());
        // `command -v` only looks up a command.
        if let ["command", "-v" | "-V", ..] = words.iter().map(String::as_str).take(2).collect::<Vec<_>>().as_slice() {
            return;
        }
        let nature = Nature::of(&words[0]);
        let mut is_read = false;
        self.look(words, depth, &nature, &mut is_read);
        let is_sure = nature.wraps || nature.is_unknown || nature.mark(words).is_some();
        let Some(first) = nature.spreads_from(words).filter(|_| is_sure || !self.is_guess) else {
            return;
        };
        // The commands that these start come later among the same words, so none of them recurses again.
        for at in first..words.len().min(first + 64) {
            let inner = &words[at..];
            // Any file name: few of them are commands.
            let is_files = inner[0].rsplit('/').next() == Some("*") && !nature.wraps && !nature.is_unknown;
            if is_files || !self.has_room_for(inner, depth + 1) {
                continue;
            }
            self.push(inner.to_vec());
            self.look(inner, depth + 1, &Nature::of(&inner[0]), &mut is_read);
            if !nature.has_table && inner[0].contains(',') {
                let parts: Vec<String> = inner[0].split(',').map(str::to_string).collect();
                (0..parts.len().min(16)).for_each(|at| self.push(parts[at..].to_vec()));
            }
        }
        self.is_exhausted |= words.len() > first + 64;
    }

    /// Looks for scripts among a command's words. `is_read` tells whether each of them was parsed as one.
    fn look(&mut self, words: &[String], depth: usize, nature: &Nature<'_>, is_read: &mut bool) {
        self.reads_commands |= nature.wraps
            || nature.is_shell
            || nature.is_unknown
            || nature.is_interpreter && !nature.reads_files_alone(words);
        let is_started = nature.mark(words).is_some();
        if (nature.wraps || nature.is_shell || nature.is_unknown || is_started) && !std::mem::replace(is_read, true) {
            words[1..].iter().for_each(|word| self.text(word, depth));
            self.named_by_options(words, depth);
        }
        if nature.is_shell {
            self.text(&words[1..].join(" "), depth);
        }
        if nature.wraps {
            words[1..].iter().for_each(|word| self.attached(word, depth));
        }
        if nature.name == "bind" {
            let bound = words[1..].iter().filter_map(|word| word.split_once(':'));
            bound.for_each(|(_, script)| self.text(script, depth));
        }
        if names::is(nature.name, Class::Evaluates) {
            // The shell expands an index again, even if it was quoted.
            for word in words[1..].iter().filter(|word| word.contains(['$', '`'])) {
                self.expanded(word, depth);
            }
        }
        if nature.is_interpreter {
            words[1..].iter().for_each(|word| self.literals(word, depth));
        }
        if !*is_read {
            self.named_by_options(words, depth);
        }
    }

    /// The value attached to option letters, as in `env -iS'rm x'`.
    fn attached(&mut self, word: &str, depth: usize) {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
            return;
        };
        let values = letters.char_indices().skip(1).take(4);
        values.for_each(|(at, _)| self.text(&letters[at..], depth));
    }

    /// Reads an argument as a script if it can be more than a word.
    fn text(&mut self, word: &str, depth: usize) {
        if !word.is_empty() {
            self.script(word, depth + 1);
        }
    }

    /// Strings inside a text of another language: each may be a script, and several in a row the words of a command. So may
    /// be what follows `!` in an editor and `e` in sed.
    fn literals(&mut self, text: &str, depth: usize) {
        let mut literals = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['\'', '"', '`']) {
            let quote = &rest[open..=open];
            let inner = &rest[open + 1..];
            let end = inner.find(quote).unwrap_or(inner.len());
            literals.push(inner[..end].to_string());
            rest = inner.get(end + 1..).unwrap_or_default();
        }
        let was_guess = std::mem::replace(&mut self.is_guess, true);
        for at in 0..literals.len().min(64) {
            self.text(&literals[at], depth);
            self.command(&literals[at..], depth + 1);
        }
        for (at, _) in text
            .char_indices()
            .filter(|(_, c)| matches!(c, '!' | 'e' | 'x'))
            .take(64)
        {
            self.text(&text[at + 1..], depth);
        }
        self.is_guess = was_guess;
    }

    /// Option values name programs more often than can be listed: `core.pager=…`, `--pre=…`, `-oProxyCommand=…`.
    fn named_by_options(&mut self, words: &[String], depth: usize) {
        for word in &words[1..] {
            if let Some((_, value)) = word.split_once('=') {
                self.text(value.trim_start_matches('!'), depth);
                if let Some((_, value)) = value.rsplit_once('=') {
                    self.text(value, depth);
                }
            }
        }
    }
}

/// The properties of a command by its name.
struct Nature<'n> {
    name: &'n str,
    wraps: bool,
    is_shell: bool,
    is_interpreter: bool,
    /// A name of unknown origin may be any of these.
    is_unknown: bool,
    /// Without a table its use of its words is unknown: it may start them.
    has_table: bool,
}

impl Nature<'_> {
    fn of(first: &str) -> Nature<'_> {
        let name = first.rsplit('/').next().unwrap_or(first);
        let bare = names::without_version(name);
        let is = |class| names::is(name, class) || names::is(bare, class);
        Nature {
            name,
            wraps: is(Class::Wraps) || name.starts_with("ld-linux") || name.starts_with("ld-musl"),
            is_shell: is(Class::Shell),
            is_interpreter: is(Class::Interpreter),
            is_unknown: name.is_empty()
                || name.starts_with('-')
                || name.contains(['*', '?', '[']) && !matches!(name, "[" | "[["),
            has_table: has_table(name),
        }
    }

    /// Whether it takes no commands from its input, though it is told things in a language of its own.
    fn reads_files_alone(&self, words: &[String]) -> bool {
        let names_file = |word: &String| word.starts_with("-f") || word.starts_with("--f") || word.starts_with("--m");
        match self.name {
            "git" | "gcc" | "jq" => true,
            "make" => !words.iter().any(names_file),
            _ => false,
        }
    }

    /// The first of its words behind which another command begins: `find -exec`, `git bisect run`.
    fn mark(&self, words: &[String]) -> Option<usize> {
        let marks = names::marks(self.name);
        words.iter().position(|word| marks.contains(&word.as_str()))
    }

    /// From where on each of its words may be where a command begins.
    fn spreads_from(&self, words: &[String]) -> Option<usize> {
        match self.wraps || self.is_unknown || !(self.has_table || self.is_shell || self.is_interpreter) {
            true => Some(1),
            false => self.mark(words).map(|mark| mark + 1),
        }
    }
}

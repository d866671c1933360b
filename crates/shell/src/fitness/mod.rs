//! Whether a command's options are among the safe ones.
//!
//! The tables list safe options, never unsafe ones: an option that they lack makes the command unfit, and so does
//! an abbreviation. Safe means that the command does no more than its name promises: it starts no program that the line
//! names, writes no file but the ones it is there to write, and loads no configuration from elsewhere. What a command is
//! configured to start (a pager, a diff driver, hooks) and what the project's own code does isn't seen here.

mod awk;
mod compiler;
mod format;
mod sql;
mod table;

use table::{Kind, Row, Value};

/// The result of checking a command against the tables of safe options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fitness {
    /// All of its options and operands are in the command's table.
    Safe,
    /// One of them isn't; the reason as a sentence without its end. It may contain text of the line, not escaped.
    Unfit(String),
    /// There is no table for this command: a person's rule counts as it is.
    NoTable,
}

/// Looks a command up in the tables, by the base name of its first word. `words` are those of a `Part`.
#[must_use]
pub fn fitness(words: &[String]) -> Fitness {
    let Some((command, arguments)) = words.split_first() else {
        return Fitness::NoTable;
    };
    let name = command.rsplit('/').next().unwrap_or(command);
    let Some(row) = table::row(name, "") else {
        return Fitness::NoTable;
    };
    match Check::new(name, row).words(arguments) {
        Ok(()) => Fitness::Safe,
        Err(why) => Fitness::Unfit(why),
    }
}

/// Whether the tables know a command, by its base name.
pub(crate) fn has_table(name: &str) -> bool {
    table::row(name, "").is_some()
}

/// The command's name and its sub-command, if it has sub-commands: the scope of a rule of two words. Safe options may stand
/// between them (`git --no-pager log`).
#[must_use]
pub fn subject(words: &[String]) -> Option<(&str, Option<&str>)> {
    let (command, arguments) = words.split_first()?;
    let name = command.rsplit('/').next().unwrap_or(command);
    let row = table::row(name, "").filter(|row| row.kind == Kind::Sub);
    let sub = row.and_then(|row| {
        let mut check = Check::new(name, row);
        let mut rest = arguments;
        while let [word, after @ ..] = rest {
            if !is_option(word) {
                return Some(word.as_str());
            }
            let taken = check.option(word, after).ok()?;
            rest = after.get(taken..)?;
        }
        None
    });
    Some((command, sub))
}

/// The reason why a command isn't fit.
type Why = String;

/// The check of one command.
struct Check<'c> {
    /// The name with its sub-command.
    name: String,
    row: &'c Row,
    operands: usize,
    /// The script of `sed` or `awk` has been seen.
    has_script: bool,
    /// The remaining words belong to another program.
    is_free: bool,
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

impl<'c> Check<'c> {
    fn new(name: &str, row: &'c Row) -> Self {
        Self {
            name: name.to_string(),
            row,
            operands: 0,
            has_script: false,
            is_free: row.kind == Kind::Free,
        }
    }

    fn words(&mut self, arguments: &[String]) -> Result<(), Why> {
        match self.row.kind {
            Kind::Never => return Err(format!("`{}` starts, loads or redefines something else", self.name)),
            Kind::Test if arguments.iter().any(|word| matches!(word.as_str(), "-v" | "-R")) => {
                return Err("`test -v` evaluates what it is given".to_string());
            }
            Kind::Tar => self.bundle(arguments.first())?,
            Kind::Compiler => return compiler::check(&self.name, self.row, arguments),
            _ => {}
        }
        let mut rest = arguments;
        while let [word, after @ ..] = rest {
            if self.is_free {
                return Ok(());
            }
            rest = after;
            if word == "--" {
                self.end_options();
            } else if is_option(word) || !self.row.word(word).is_empty() {
                let taken = self.option(word, after)?;
                rest = after.get(taken..).unwrap_or_default();
            } else if self.row.kind == Kind::Sub {
                return self.sub_command(word, after);
            } else {
                self.operand(word)?;
            }
        }
        // Without a statement it reads commands from its input.
        match self.row.kind {
            Kind::Sqlite if self.operands < 2 && arguments != ["-version"] => Err(self.strange_operand()),
            _ => Ok(()),
        }
    }

    /// After `--` words are operands. They are still checked against the table: an option that takes `--` as its value,
    /// contrary to the table, must not hide those after it.
    fn end_options(&mut self) {
        self.is_free |= matches!(self.row.kind, Kind::Pass | Kind::Rest);
    }

    fn sub_command(&mut self, sub: &str, arguments: &[String]) -> Result<(), Why> {
        let Some(row) = table::row(&self.name, sub) else {
            return Err(format!("`{} {sub}` isn't in the tables of safe options", self.name));
        };
        Check::new(&format!("{} {sub}", self.name), row).words(arguments)
    }

    /// Checks one word of options; returns how many words after it are values.
    fn option(&mut self, word: &str, after: &[String]) -> Result<usize, Why> {
        let is_whole = self.row.kind.has_whole_words();
        if word.starts_with("--") || is_whole {
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            let values = self.row.word(name);
            return self.value(name, values, attached, after);
        }
        let letters = &word[1..];
        if self.row.takes_numbers && letters.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(0);
        }
        for (at, letter) in letters.char_indices() {
            let values = self.row.letter(letter);
            let behind = &letters[at + letter.len_utf8()..];
            if values != [Value::None] {
                let attached = (!behind.is_empty()).then_some(behind);
                return self.value(&format!("-{letter}"), values, attached, after);
            }
        }
        Ok(0)
    }

    /// Checks an option's value; returns how many words after it belong to it.
    fn value(&mut self, name: &str, values: &[Value], attached: Option<&str>, after: &[String]) -> Result<usize, Why> {
        let unfit = || Err(format!("`{} {name}` isn't in the tables of safe options", self.name));
        let next = after.first().map(String::as_str);
        let (value, taken) = match attached {
            Some(value) => (Some(value), 0),
            None => (next, 1),
        };
        let count = 1 + usize::from(values.first() == Some(&Value::Two));
        let may_be_option = || after.iter().take(count).any(|word| self.may_be_option(word));
        let allowed = match values.first() {
            Some(Value::None) if attached.is_none() => return Ok(0),
            Some(Value::Attached) => return Ok(0),
            Some(Value::AttachedFormat) if attached.is_none_or(format::only_shows) => return Ok(0),
            Some(_) if attached.is_none() && may_be_option() => {
                return Err(format!(
                    "a word behind `{} {name}` may be an option of its own",
                    self.name
                ));
            }
            Some(Value::Format) => value.is_some_and(format::checks_nothing),
            Some(Value::Two) if attached.is_none() => return Ok(2),
            Some(Value::Any) => true,
            Some(Value::AndRest) => {
                self.is_free = true;
                true
            }
            Some(Value::NoFile) => value.is_some_and(names_no_file),
            Some(Value::Exactly(_)) => values
                .iter()
                .any(|one| matches!((one, value), (Value::Exactly(exact), Some(value)) if *exact == value)),
            _ => false,
        };
        if !allowed {
            return unfit();
        }
        if let (Kind::Sed | Kind::Awk, "-e" | "--expression", Some(script)) = (self.row.kind, name, value) {
            self.script(script)?;
        }
        if self.row.kind == Kind::Tar {
            self.no_remote_archive(value.unwrap_or_default())?;
        }
        Ok(taken)
    }

    /// Whether a program could take the word behind an option for an option of its own, contrary to the table:
    /// `rg --engine --pre=x`. A negative number is a value.
    fn may_be_option(&self, word: &str) -> bool {
        let size = match self.row.kind.has_whole_words() {
            true => word.trim_end_matches(['c', 'w', 'b', 'k', 'M', 'G']),
            false => word,
        };
        let is_number = size.len() > 1 && size[1..].bytes().all(|byte| byte.is_ascii_digit());
        is_option(word) && !is_number
    }

    fn operand(&mut self, word: &str) -> Result<(), Why> {
        self.operands += 1;
        let is_fit = match self.row.kind {
            Kind::None | Kind::Exact => false,
            Kind::Sqlite => self.operands == 1 || sql::is_safe(word),
            Kind::One => self.operands == 1,
            Kind::Plus => word.starts_with('+'),
            Kind::Remote => !word.contains("::"),
            Kind::Make => !word.contains('='),
            Kind::Tar => return self.no_remote_archive(word),
            Kind::Sed | Kind::Awk if !self.has_script => return self.script(word),
            Kind::Rest => {
                self.is_free = true;
                true
            }
            _ => true,
        };
        match is_fit {
            true => Ok(()),
            false => Err(self.strange_operand()),
        }
    }

    fn strange_operand(&self) -> Why {
        format!(
            "`{}` with such an operand isn't in the tables of safe options",
            self.name
        )
    }

    fn script(&mut self, script: &str) -> Result<(), Why> {
        self.has_script = true;
        let is_safe = match self.row.kind {
            Kind::Awk => awk::is_safe(script),
            _ => crate::sed::sed(script).is_plain,
        };
        match is_safe {
            true => Ok(()),
            false => Err(format!("the script of `{}` may do more than change text", self.name)),
        }
    }

    /// `tar xzf`: the first word is option letters even without a `-`.
    fn bundle(&self, first: Option<&String>) -> Result<(), Why> {
        match first {
            Some(word) if !word.starts_with('-') && !word.chars().all(|c| !self.row.letter(c).is_empty()) => {
                Err(format!("`{} {word}` isn't in the tables of safe options", self.name))
            }
            _ => Ok(()),
        }
    }

    /// `host:file` would be fetched by a program from the machine's configuration.
    fn no_remote_archive(&self, word: &str) -> Result<(), Why> {
        match word.contains(':') {
            true => Err(format!("`{}` may start a program to reach another machine", self.name)),
            false => Ok(()),
        }
    }
}

/// For options of `curl`: `@file` sends a file, `%output{file}` writes one.
fn names_no_file(value: &str) -> bool {
    !value.starts_with('@') && !value.contains("%output{") && !value.starts_with("file:")
}

#[cfg(test)]
mod tests;

//! Names of commands that start other commands, from `names.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A kind of command; `names.txt` describes each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Class {
    Wraps,
    Shell,
    Interpreter,
    Evaluates,
    Never,
}

/// A command's classes, and the words after which it starts another command.
#[derive(Debug, Default)]
struct Name {
    classes: Vec<Class>,
    marks: Vec<&'static str>,
}

const TEXT: &str = include_str!("names.txt");

static NAMES: LazyLock<HashMap<&'static str, Name>> = LazyLock::new(read);

/// Whether a command is in a class, by its base name.
pub(crate) fn is(name: &str, class: Class) -> bool {
    NAMES.get(name).is_some_and(|known| known.classes.contains(&class))
}

/// The words after which a command starts another command.
pub(crate) fn marks(name: &str) -> &'static [&'static str] {
    NAMES.get(name).map_or(&[], |known| &known.marks)
}

/// A name without its version suffix: `python3.11`.
#[must_use]
pub fn without_version(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// All commands of a class, from the text itself: most lines are judged without the other names.
pub(crate) fn all(class: Class) -> impl Iterator<Item = &'static str> {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(" : "))
        .filter(move |(classes, _)| classes.split(' ').any(|word| of_word(word) == Some(class)))
        .flat_map(|(_, listed)| listed.split(' '))
}

/// Parses the embedded table; a test reports any line that can't be parsed.
fn read() -> HashMap<&'static str, Name> {
    let mut names: HashMap<&str, Name> = HashMap::new();
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        if let Some((classes, listed)) = line.split_once(" : ") {
            for name in listed.split(' ') {
                let known = names.entry(name).or_default();
                known.classes.extend(classes.split(' ').filter_map(of_word));
            }
        } else if let Some((listed, marks)) = line.split_once(" > ") {
            for name in listed.split(' ') {
                names.entry(name).or_default().marks.extend(marks.split(' '));
            }
        }
    }
    names
}

fn of_word(word: &str) -> Option<Class> {
    Some(match word {
        "wraps" => Class::Wraps,
        "shell" => Class::Shell,
        "interpreter" => Class::Interpreter,
        "evaluates" => Class::Evaluates,
        "never" => Class::Never,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_can_be_read_and_names_each_command_once() {
        let mut listed = Vec::new();
        for line in TEXT.lines() {
            if line.is_empty() || line.starts_with('#') || line.contains(" > ") {
                continue;
            }
            let (classes, names) = line.split_once(" : ").unwrap_or_else(|| panic!("{line}"));
            assert!(classes.split(' ').all(|word| of_word(word).is_some()), "{line}");
            assert!(names.split(' ').all(|name| !name.is_empty()), "{line}");
            listed.extend(names.split(' '));
        }
        let count = listed.len();
        listed.sort_unstable();
        listed.dedup();
        assert_eq!(listed.len(), count);
        assert!(is("sudo", Class::Wraps) && !is("sudo", Class::Shell) && marks("find").contains(&"-exec"));
    }
}

//! The interpreters known by name, and just enough of their options to find the script among the arguments.
//!
//! An option that is missing here costs little: its value is taken for the script, no such file exists, and nothing is
//! granted.

use std::ffi::OsStr;

use super::interpreter_table::INTERPRETERS;

/// How an interpreter parses its command line. Letters are single-letter options.
#[derive(Debug)]
pub(super) struct Interpreter {
    /// File names without their version: `python` stands for `python3.12` as well.
    pub names: &'static [&'static str],
    /// Whether `-abc` means `-a -b -c`.
    pub clusters: bool,
    /// Whether options may start with `+`, as in shells.
    pub plus: bool,
    /// Letters whose value is the rest of the word, or the next word if the rest is empty.
    pub valued: &'static str,
    /// Letters whose value is the next word, whatever follows them in their own word.
    pub next: &'static str,
    /// Letters whose value is the rest of the word, even if empty.
    pub attached: &'static str,
    /// Letters after which no script follows: code in the arguments, a module, standard input.
    pub ends: &'static str,
    /// Letters whose value is a script.
    pub script: &'static str,
    /// Long options whose value is the next word.
    pub long_valued: &'static [&'static str],
    /// Long options after which no script follows.
    pub long_ends: &'static [&'static str],
    /// Long options whose value is a script.
    pub long_script: &'static [&'static str],
    /// Words that may stand before the script.
    pub subcommands: &'static [&'static str],
    /// The meaning of the first word that isn't an option.
    pub operand: Operand,
    /// Whether scripts find their packages in `node_modules`.
    pub node_modules: bool,
}

/// The meaning of the first word that isn't an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// The script.
    Script,
    /// The script if it ends in `.java`, a class otherwise.
    JavaSource,
    /// The program's text, or data.
    Other,
}

/// The interpreter with this file name, if known.
pub(super) fn by_name(name: &OsStr) -> Option<&'static Interpreter> {
    let name = name.to_str()?;
    let known = |wanted: &str| {
        INTERPRETERS
            .iter()
            .find(|interpreter| interpreter.names.contains(&wanted))
    };
    known(name).or_else(|| known(without_version(name)?))
}

/// `python3.12`, `python3.13t`, `bash-5.2`, `perl5.36.0`, but not `python-config`.
fn without_version(name: &str) -> Option<&str> {
    let end = name.find(|character: char| !character.is_ascii_alphabetic())?;
    let (stem, version) = name.split_at(end);
    let build = version
        .trim_start_matches('-')
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(build, "" | "t" | "d" | "td" | "m" | "-dbg").then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_no_part_of_the_name() {
        for name in [
            "python",
            "python3",
            "python3.12",
            "python3.13t",
            "pypy3.10",
            "bash-5.2",
            "lua5.4",
            "ts-node",
        ] {
            assert!(by_name(OsStr::new(name)).is_some(), "{name} is an interpreter");
        }
        for name in [
            "python-config",
            "python3-config",
            "shred",
            "nodemon",
            "perldoc",
            "true",
            "sh2elf",
            "awkward",
        ] {
            assert!(by_name(OsStr::new(name)).is_none(), "{name} is no interpreter");
        }
    }
}

//! Programs that only start another one: finds that program and its arguments. Reads no file.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::Variable;
use super::split::split;

/// The program that a wrapper starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrapped<'a> {
    /// The arguments of the wrapped program, its name first.
    pub argv: Vec<Cow<'a, OsStr>>,
    /// The `PATH` that `env` sets.
    pub search_path: Option<OsString>,
}

struct Wrapper {
    name: &'static str,
    /// Letters whose value is the rest of the word or the next word.
    valued: &'static str,
    long_valued: &'static [&'static str],
    /// Words between the options and the program.
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        valued: "uCSa",
        long_valued: &["--unset", "--chdir", SPLIT, "--argv0"],
        operands: 0,
    },
    Wrapper {
        name: "nice",
        valued: "n",
        long_valued: &["--adjustment"],
        operands: 0,
    },
    Wrapper {
        name: "nohup",
        valued: "",
        long_valued: &[],
        operands: 0,
    },
    Wrapper {
        name: "setsid",
        valued: "",
        long_valued: &[],
        operands: 0,
    },
    Wrapper {
        name: "stdbuf",
        valued: "ioe",
        long_valued: &["--input", "--output", "--error"],
        operands: 0,
    },
    Wrapper {
        name: "timeout",
        valued: "sk",
        long_valued: &["--signal", "--kill-after"],
        operands: 1,
    },
];

/// The option of `env` that is replaced by the words of its value.
const SPLIT: &str = "--split-string";

/// The most `-S` options to split: a variable that holds `-S${ITSELF}` would go on forever.
const MAX_SPLITS: usize = 4;

/// Unwraps one wrapper. `None` if it isn't one, or starts nothing.
pub(super) fn unwrap<'a>(name: &OsStr, argv: &[Cow<'a, OsStr>], variable: Variable<'_>) -> Option<Wrapped<'a>> {
    let wrapper = WRAPPERS.iter().find(|wrapper| name == wrapper.name)?;
    let mut words: Vec<Cow<'a, OsStr>> = argv.get(1..)?.to_vec();
    let at = wrapper.skip_options(&mut words, variable)? + wrapper.operands;
    let assignments = words.get(at..).unwrap_or_default().iter();
    let assignments: Vec<_> = assignments
        .take_while(|word| wrapper.name == "env" && word.as_bytes().contains(&b'='))
        .collect();
    let set = |word: &&Cow<'a, OsStr>| Some(word.as_bytes().strip_prefix(b"PATH=")?.to_vec());
    let search_path = assignments.iter().rev().find_map(set).map(OsString::from_vec);
    let start = (at + assignments.len()).min(words.len());
    let argv = words.split_off(start);
    (!argv.is_empty()).then_some(Wrapped { argv, search_path })
}

/// The form of a word that starts with `-`.
enum OptionForm<'w> {
    /// `--`.
    End,
    /// An option without a value in the next word.
    Plain,
    /// An option with a value; if none is attached, it is the next word.
    Value { attached: Option<&'w [u8]>, splits: bool },
}

impl Wrapper {
    /// Returns the index after the options. Words of `-S` replace it, and are parsed as options again.
    fn skip_options(&self, words: &mut Vec<Cow<'_, OsStr>>, variable: Variable<'_>) -> Option<usize> {
        let mut at = 0;
        let mut splits_left = MAX_SPLITS;
        while let Some(word) = words.get(at).filter(|word| word.as_bytes().starts_with(b"-")) {
            let option = self.option(word.as_bytes());
            at += 1;
            let pieces = match option {
                OptionForm::End => break,
                OptionForm::Plain => continue,
                OptionForm::Value {
                    attached,
                    splits: false,
                } => {
                    at += usize::from(attached.is_none());
                    continue;
                }
                OptionForm::Value {
                    attached: Some(text),
                    splits: true,
                } => split(text, variable),
                OptionForm::Value {
                    attached: None,
                    splits: true,
                } => {
                    at += 1;
                    split(words.get(at - 1)?.as_bytes(), variable)
                }
            };
            splits_left = splits_left.checked_sub(1)?;
            words.splice(..at, pieces.into_iter().map(Cow::Owned));
            at = 0;
        }
        Some(at)
    }

    fn option<'w>(&self, word: &'w [u8]) -> OptionForm<'w> {
        if word == b"--" {
            return OptionForm::End;
        }
        if word.starts_with(b"--") {
            let equals = word.iter().position(|&byte| byte == b'=');
            let name = &word[..equals.unwrap_or(word.len())];
            // getopt_long(3) takes the beginning of a name, too.
            let mut valued = self.long_valued.iter();
            return match valued.find(|known| known.as_bytes().starts_with(name)) {
                Some(known) => OptionForm::Value {
                    attached: equals.map(|at| &word[at + 1..]),
                    splits: *known == SPLIT,
                },
                None => OptionForm::Plain,
            };
        }
        match word.iter().position(|letter| self.valued.as_bytes().contains(letter)) {
            Some(at) => {
                let rest = &word[at + 1..];
                OptionForm::Value {
                    attached: (!rest.is_empty()).then_some(rest),
                    splits: word[at] == b'S',
                }
            }
            None => OptionForm::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(words: &[&str]) -> Option<(Vec<String>, Option<OsString>)> {
        let argv: Vec<Cow<'_, OsStr>> = words.iter().map(|word| Cow::Borrowed(OsStr::new(*word))).collect();
        let wrapped = unwrap(&argv[0], &argv, &|_| None)?;
        let argv = wrapped
            .argv
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        Some((argv, wrapped.search_path))
    }

    #[test]
    fn the_wrapped_command_is_found_behind_options_and_operands() {
        for words in [
            &["env", "python3", "x"] as &[&str],
            &["env", "-i", "-u", "HOME", "A=b", "C=", "python3", "x"],
            &[
                "env",
                "-",
                "-uHOME",
                "-C",
                "/tmp",
                "--unset=B",
                "--",
                "A=b",
                "python3",
                "x",
            ],
            &["env", "-S", "-i A=b python3 x"],
            &["env", "-Spython3", "x"],
            &["env", "-vS", "python3", "x"],
            &["env", "--split-string=python3 'x'"],
            &["env", "--uns", "B", "--spl", "python3 x"],
            &["nice", "python3", "x"],
            &["nice", "-n", "5", "python3", "x"],
            &["nice", "-5", "python3", "x"],
            &["nohup", "python3", "x"],
            &["setsid", "-w", "python3", "x"],
            &["stdbuf", "-oL", "-e", "0", "python3", "x"],
            &["timeout", "-k", "5", "--signal=KILL", "9", "python3", "x"],
        ] {
            assert_eq!(
                inner(words).map(|found| found.0),
                Some(vec!["python3".into(), "x".into()]),
                "{words:?}"
            );
        }
    }

    #[test]
    fn env_may_set_the_path_that_it_searches() {
        assert_eq!(
            inner(&["env", "PATH=/a:/b", "x"]).and_then(|found| found.1),
            Some("/a:/b".into())
        );
    }

    #[test]
    fn nothing_wrapped_is_nothing() {
        for words in [
            &["env"] as &[&str],
            &["env", "A=b"],
            &["env", "-S"],
            &["timeout", "5"],
            &["ls", "x"],
            &["nice", "-n"],
        ] {
            assert_eq!(inner(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_variable_that_names_itself_ends() {
        let argv = ["env", "-S${A}", "x"].map(|word| Cow::Borrowed(OsStr::new(word)));
        let variable = |_: &str| Some(OsString::from("-S${A}"));
        assert_eq!(unwrap(&argv[0], &argv, &variable), None);
    }
}

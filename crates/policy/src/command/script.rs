//! Finds the script among an interpreter's arguments. Reads no file.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::interpreter::{Interpreter, Operand};

/// The arguments that name scripts, as written. More than one only for `awk -f`.
pub(super) fn scripts<'v>(interpreter: &'static Interpreter, argv: &'v [Cow<'_, OsStr>]) -> Vec<&'v OsStr> {
    let mut scan = Scan {
        interpreter,
        words: argv.get(1..).unwrap_or_default(),
        at: 0,
        found: Vec::new(),
    };
    while let Some(word) = scan.next_word() {
        if scan.take(word) == Search::Done {
            break;
        }
    }
    scan.found
}

/// Whether later words can name a script.
#[derive(PartialEq, Eq)]
enum Search {
    More,
    Done,
}

struct Scan<'v, 'w> {
    interpreter: &'static Interpreter,
    words: &'v [Cow<'w, OsStr>],
    at: usize,
    found: Vec<&'v OsStr>,
}

impl<'v> Scan<'v, '_> {
    fn next_word(&mut self) -> Option<&'v OsStr> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word.as_ref())
    }

    fn take(&mut self, word: &'v OsStr) -> Search {
        match word.as_bytes() {
            // Standard input.
            b"-" => Search::Done,
            b"--" => match self.next_word() {
                Some(word) => self.operand(word),
                None => Search::Done,
            },
            [b'-', b'-', ..] => self.long(word),
            [b'-', ..] if !self.interpreter.clusters => self.long(word),
            [b'-', letters @ ..] => self.cluster(word, letters),
            [b'+', letters @ ..] if self.interpreter.plus => self.cluster(word, letters),
            _ => self.operand(word),
        }
    }

    fn operand(&mut self, word: &'v OsStr) -> Search {
        let interpreter = self.interpreter;
        if let Some(text) = word.to_str() {
            if interpreter.subcommands.contains(&text) {
                return Search::More;
            }
            if interpreter.long_ends.contains(&text) {
                return Search::Done;
            }
        }
        let is_script = match interpreter.operand {
            Operand::Script => true,
            Operand::JavaSource => word.as_bytes().ends_with(b".java"),
            Operand::Other => false,
        };
        if is_script {
            self.found.push(word);
        }
        Search::Done
    }

    /// `--name`, `--name value`, `--name=value`, and for some interpreters the same with one dash.
    fn long(&mut self, word: &'v OsStr) -> Search {
        let bytes = word.as_bytes();
        let equals = bytes.iter().position(|&byte| byte == b'=');
        let name = std::str::from_utf8(&bytes[..equals.unwrap_or(bytes.len())]).unwrap_or_default();
        let attached = equals.map(|at| OsStr::from_bytes(&bytes[at + 1..]));
        let interpreter = self.interpreter;
        if interpreter.long_ends.contains(&name) {
            return Search::Done;
        }
        if interpreter.long_script.contains(&name) {
            return self.script(attached);
        }
        if interpreter.long_valued.contains(&name) && attached.is_none() {
            self.next_word();
        }
        Search::More
    }

    /// `-a`, `-abc`, `-avalue`, `-a value`.
    fn cluster(&mut self, word: &'v OsStr, letters: &'v [u8]) -> Search {
        let interpreter = self.interpreter;
        if word.to_str().is_some_and(|text| interpreter.long_ends.contains(&text)) {
            return Search::Done;
        }
        for (at, &letter) in letters.iter().enumerate() {
            let rest = &letters[at + 1..];
            let is_in = |set: &str| set.as_bytes().contains(&letter);
            if is_in(interpreter.ends) {
                return Search::Done;
            }
            if is_in(interpreter.attached) {
                return Search::More;
            }
            if is_in(interpreter.next) {
                self.next_word();
            }
            if is_in(interpreter.script) {
                return self.script((!rest.is_empty()).then(|| OsStr::from_bytes(rest)));
            }
            if is_in(interpreter.valued) {
                if rest.is_empty() {
                    self.next_word();
                }
                return Search::More;
            }
        }
        Search::More
    }

    fn script(&mut self, attached: Option<&'v OsStr>) -> Search {
        let script = attached.or_else(|| self.next_word());
        self.found.extend(script);
        if self.interpreter.operand == Operand::Other {
            Search::More
        } else {
            Search::Done
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::interpreter::by_name;

    fn found(line: &str) -> Vec<String> {
        let argv: Vec<Cow<'_, OsStr>> = line.split(' ').map(|word| Cow::Borrowed(OsStr::new(word))).collect();
        let interpreter = by_name(&argv[0]).expect("a known interpreter");
        scripts(interpreter, &argv)
            .iter()
            .map(|script| script.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn options_and_their_values_are_not_the_script() {
        for line in [
            "python3 x",
            "python3 -W ignore x",
            "python3 -Wignore -uBX dev x a.py",
            "python3 -- x",
            "python3 -O -- x",
            "python3 --check-hash-based-pycs never x",
            "pypy3 -u x -c y",
            "node -r ./hook.js --import=./a x",
            "node --max-old-space-size=99 --no-warnings x y",
            "node inspect x",
            "nodejs x",
            "tsx watch x",
            "bash -euo pipefail x",
            "bash +o posix -O extglob --rcfile rc x",
            "sh -x x -c",
            "zsh -o errexit x",
            "perl -I lib -w x",
            "perl -Ilib -MFoo -i.bak x",
            "ruby -r json -I lib -W0 x",
            "php -d a=b x",
            "php -f x -- y",
            "php --file=x",
            "php -S localhost:8000 x",
            "lua -e a=1 x",
            "Rscript --vanilla x y",
            "awk -F : -f x data",
            "gawk -vA=1 --file=x",
            "java -cp lib -jar x",
            "deno run --allow-read -c deno.json x",
            "bun x.ts",
            "bun run --cwd sub x",
            "fish -C true x",
            "java -ea x.java",
        ] {
            let found = found(line);
            assert!(
                found == ["x"] || found == ["x.java"] || found == ["x.ts"],
                "{line} gave {found:?}"
            );
        }
        assert_eq!(found("awk -f a -fb data"), ["a", "b"]);
    }

    #[test]
    fn code_modules_and_standard_input_are_no_scripts() {
        for line in [
            "python3",
            "python3 -c code x",
            "python3 -m json.tool x",
            "python3 -uc code",
            "python3 - x",
            "bash -lc code",
            "bash -s x",
            "node -e code",
            "node --eval=code x",
            "node -p 1",
            "perl -lane code x",
            "perl -pi -e code x",
            "ruby -ne code x",
            "php -r code",
            "awk code data",
            "java -cp lib Main",
            "java -m a/b",
            "deno eval code",
            "bun -e code",
            "Rscript -e code",
            "python3 -W",
            "bash --",
            "python3 --version",
            "fish -c code",
        ] {
            assert_eq!(found(line), Vec::<String>::new(), "{line}");
        }
    }
}

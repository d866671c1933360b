//! The supported languages, and the detection of a script's language.

use std::path::Path;

use stockade_policy::command::shebang::Shebang;

use serde::{Deserialize, Serialize};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, module or script, with JSX.
    JavaScript,
    /// TypeScript; with JSX if the file's name says so.
    TypeScript,
    /// sh and bash.
    Shell,
}

impl Language {
    /// The name, as `--lang` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::TypeScript => "typescript",
            Language::Shell => "shell",
        }
    }

    /// Looks up a language by name: `python`, `js`, `bash`, ….
    pub fn named(name: &str) -> Option<Language> {
        Some(match name.to_ascii_lowercase().as_str() {
            "python" | "python3" | "py" => Language::Python,
            "javascript" | "js" | "mjs" | "cjs" | "jsx" | "node" => Language::JavaScript,
            "typescript" | "ts" | "tsx" | "mts" | "cts" | "deno" | "bun" => Language::TypeScript,
            "shell" | "sh" | "bash" | "dash" => Language::Shell,
            _ => return None,
        })
    }

    /// Detects the language from the first line (`#!`), else from the file's extension.
    pub fn of(path: Option<&Path>, source: &str) -> Option<Language> {
        if source.starts_with("#!") {
            return Self::of_first_line(source);
        }
        match path?.extension()?.to_str()? {
            "py" | "pyw" => Some(Language::Python),
            "js" | "mjs" | "cjs" | "jsx" => Some(Language::JavaScript),
            "ts" | "mts" | "cts" | "tsx" => Some(Language::TypeScript),
            "sh" | "bash" => Some(Language::Shell),
            _ => None,
        }
    }

    fn of_first_line(source: &str) -> Option<Language> {
        let shebang = Shebang::of_text(source)?;
        let reader = shebang.reader()?;
        let name = Path::new(reader.program).file_name()?.to_str()?;
        let language = Self::named(stockade_shell::without_version(name))?;
        // An option may make the interpreter run or load other code.
        let mut words = reader.words.into_iter();
        words.all(|word| language.runs_the_text_with(word)).then_some(language)
    }

    /// Whether an interpreter with this word on the script's first line still runs the script and nothing else.
    /// Sources: bash(1), python(1), node(1), the manual of `deno run`.
    fn runs_the_text_with(self, word: &str) -> bool {
        let letters = |known: &str| {
            let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty());
            letters.is_some_and(|letters| letters.chars().all(|letter| known.contains(letter)))
        };
        let begins = |known: &[&str]| known.iter().any(|beginning| word.starts_with(beginning));
        match self {
            Language::Shell => letters("aefuvxCEo") || matches!(word, "pipefail" | "errexit" | "nounset" | "--posix"),
            Language::Python => letters("BEIOPRSsuvq") || begins(&["-W", "-Xdev", "-Xutf8"]),
            Language::JavaScript => begins(&[
                "--no-",
                "--harmony",
                "--max-",
                "--stack-size=",
                "--unhandled-rejections=",
                "--enable-source-maps",
                "--disable-warning=",
                "--experimental-vm-modules",
                "--experimental-strip-types",
            ]),
            Language::TypeScript => {
                word == "run" || word == "-A" || begins(&["--allow-", "--deny-", "--no-", "--quiet", "--unstable"])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_says_what_runs_a_text_and_else_its_name() {
        let of = |name: &str, text: &str| Language::of(Some(Path::new(name)), text);
        assert_eq!(of("a.py", "x"), Some(Language::Python));
        assert_eq!(of("a.py", "#!/bin/bash\n"), Some(Language::Shell));
        assert_eq!(of("a", "#!/usr/bin/env -S python3.12 -u\n"), Some(Language::Python));
        assert_eq!(of("a", "#!/usr/bin/env -S PYTHONPATH=b python3.12\n"), None);
        assert_eq!(
            of("a", "#!/usr/bin/env -S deno run --allow-net\n"),
            Some(Language::TypeScript)
        );
        assert_eq!(of("a.sh", "#!/bin/sh -eu\n"), Some(Language::Shell));
        assert_eq!(of("a.py", "#!/usr/bin/python3 -cimport os\n"), None);
        assert_eq!(of("a.py", "#!/opt/other\n"), None);
        assert_eq!(of("a", "#!/bin/env -S bash -euo pipefail\n"), Some(Language::Shell));
        // The kernel passes this as one argument, which bash rejects.
        assert_eq!(of("a", "#!/bin/bash -euo pipefail\n"), None);
        for line in [
            "node --require ./x.js",
            "python3 -i",
            "bash --rcfile x",
            "bash -s",
            "deno run --preload=./x.ts",
        ] {
            assert_eq!(of("a", &format!("#!/usr/bin/env -S {line}\n")), None, "{line}");
        }
        assert_eq!(of("a.txt", "x"), None);
    }
}

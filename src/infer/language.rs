//! The languages that can be read, and how a script's is found.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, module or script, with JSX.
    JavaScript,
    /// TypeScript; with JSX where the file's name says so.
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

    /// By name: `python`, `js`, `bash`, ….
    pub fn named(name: &str) -> Option<Language> {
        Some(match name.to_ascii_lowercase().as_str() {
            "python" | "python3" | "py" => Language::Python,
            "javascript" | "js" | "mjs" | "cjs" | "jsx" | "node" => Language::JavaScript,
            "typescript" | "ts" | "tsx" | "mts" | "cts" | "deno" | "bun" => Language::TypeScript,
            "shell" | "sh" | "bash" | "dash" => Language::Shell,
            _ => return None,
        })
    }

    /// By the first line (`#!`), else by the file's extension.
    pub fn of(path: Option<&Path>, source: &str) -> Option<Language> {
        Self::of_first_line(source).or_else(|| {
            let extension = path?.extension()?.to_str()?;
            match extension {
                "py" | "pyw" => Some(Language::Python),
                "js" | "mjs" | "cjs" | "jsx" => Some(Language::JavaScript),
                "ts" | "mts" | "cts" | "tsx" => Some(Language::TypeScript),
                "sh" | "bash" => Some(Language::Shell),
                _ => None,
            }
        })
    }

    fn of_first_line(source: &str) -> Option<Language> {
        let line = source.strip_prefix("#!")?.lines().next()?;
        line.split([' ', '\t', '/'])
            .filter(|word| !word.starts_with('-') && !word.contains('='))
            .filter_map(|word| {
                let name = word.trim_end_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
                Self::named(name)
            })
            .next_back()
    }
}

//! The arguments of the tools: read strictly, bounded, and within what the user set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::bounds::{
    MAX, MAX_COMMAND, Unusable, Usable, bounded, known, offered, unusable, variables, without_home, without_nul,
};
use crate::settings::{Profile, Settings, plain};
use stockade_text::visible::visible;

/// Reads the arguments of a tool; a field that the tool doesn't have is an error.
///
/// # Errors
/// They don't fit.
pub fn read<T: DeserializeOwned>(arguments: Option<Map<String, Value>>) -> Usable<T> {
    serde_json::from_value(Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| Unusable(format!("the arguments don't fit: {}", visible(&error.to_string()))))
}

/// What `run_command` and `run_script` have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Common {
    stdin: Option<String>,
    profile: Option<String>,
    env: BTreeMap<String, String>,
    grants: Grants,
    time_limit_seconds: Option<u64>,
}

/// Grants that the client asks for.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Paths to read.
    pub read: Vec<String>,
    /// Paths to write.
    pub write: Vec<String>,
    /// Hosts to connect to.
    pub host: Vec<String>,
}

/// The arguments of `run_command`.
#[derive(Debug, Deserialize)]
pub struct RunCommand {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// The arguments of `run_script`.
#[derive(Debug, Deserialize)]
pub struct RunScript {
    language: Language,
    code: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(flatten)]
    common: Common,
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, for Node.
    Javascript,
    /// TypeScript.
    Typescript,
    /// A POSIX shell, or bash.
    Shell,
}

impl Language {
    /// Its name for `--lang`.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Javascript => "javascript",
            Language::Typescript => "typescript",
            Language::Shell => "shell",
        }
    }

    /// The name of a file with such a script.
    pub fn file(self) -> &'static str {
        match self {
            Language::Python => "script.py",
            Language::Javascript => "script.js",
            Language::Typescript => "script.ts",
            Language::Shell => "script.sh",
        }
    }
}

/// The arguments of `infer_permissions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Infer {
    /// The language.
    pub language: Language,
    /// The text.
    pub code: String,
}

/// The arguments of `check`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Check {
    /// The tool of an agent; `bash` where a command is given.
    pub tool: Option<String>,
    /// The command line of `bash`.
    pub command: Option<String>,
    /// The skill of `skill_load`.
    pub skill: Option<String>,
    /// An access: `read`, `write`, `delete`, `execute`, `connect`.
    pub action: Option<String>,
    /// Its path.
    pub path: Option<String>,
    /// Its host.
    pub host: Option<String>,
    /// The directory of the call.
    pub cwd: Option<String>,
}

/// The arguments of `explain_denial`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The run's id.
    pub run: String,
}

/// What is to be run.
#[derive(Debug, PartialEq, Eq)]
pub enum What {
    /// A command, with the directory that it starts in where that isn't the root.
    Command {
        /// Its words.
        words: Vec<String>,
        /// The line that the user's rules judge.
        line: String,
        /// Where it starts.
        directory: Option<PathBuf>,
    },
    /// A script.
    Script {
        /// Its language.
        language: Language,
        /// Its text.
        code: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// A run that a call asks for.
#[derive(Debug)]
pub struct Order {
    /// What is to be run.
    pub what: What,
    /// Its input.
    pub stdin: Option<String>,
    /// The profile that the call names.
    pub profile: Option<Profile>,
    /// Variables, each a word of `--env`.
    pub env: Vec<String>,
    /// Grants that the client asks for; only a person gives them.
    pub grants: Grants,
    /// How long it may take.
    pub time_limit: Duration,
}

impl RunCommand {
    /// Checks them against the settings.
    ///
    /// # Errors
    /// They don't fit, or name what a call can't choose.
    pub fn order(self, settings: &Settings) -> Usable<Order> {
        known(&self.unknown)?;
        let (mut words, line) = match (self.command, self.argv) {
            (Some(line), None) => (vec!["/bin/sh".into(), "-c".into(), line.clone()], line),
            (None, Some(words)) if !words.is_empty() && !words[0].is_empty() => {
                let line = stockade_text::quote::command_line(&words);
                (words, line)
            }
            _ => return unusable("give either `command`, a line for the shell, or `argv`, the words of a command"),
        };
        without_nul(words.iter())?;
        let length: usize = words.iter().map(String::len).sum();
        if length > MAX_COMMAND || words.len() > MAX_COMMAND / 8 {
            return unusable(format!("the command is longer than {MAX_COMMAND} bytes"));
        }
        let mut directory = None;
        if let Some(cwd) = &self.cwd {
            let Some(real) = settings.within_root(cwd) else {
                return unusable(format!(
                    "`cwd` is no directory within the root `{}`",
                    visible(&settings.root.to_string_lossy())
                ));
            };
            // A program named by a relative path is the one of that directory.
            if words[0].contains('/') && !words[0].starts_with('/') {
                words[0] = real.join(&words[0]).to_string_lossy().into_owned();
            }
            directory = (real != settings.root).then_some(real);
        }
        let what = What::Command { words, line, directory };
        self.common.order(what, settings)
    }
}

impl RunScript {
    /// Checks them against the settings.
    ///
    /// # Errors
    /// They don't fit, or name what a call can't choose.
    pub fn order(self, settings: &Settings) -> Usable<Order> {
        known(&self.unknown)?;
        bounded("the script", &self.code)?;
        without_nul(self.arguments.iter())?;
        let length: usize = self.arguments.iter().map(String::len).sum();
        if length > MAX_COMMAND || self.arguments.len() > MAX_COMMAND / 8 {
            return unusable(format!("the arguments are longer than {MAX_COMMAND} bytes"));
        }
        let what = What::Script {
            language: self.language,
            code: self.code,
            arguments: self.arguments,
        };
        self.common.order(what, settings)
    }
}

impl Common {
    fn order(self, what: What, settings: &Settings) -> Usable<Order> {
        let profile = self.profile.map(|name| offered(&name, settings)).transpose()?;
        if let Some(text) = &self.stdin {
            bounded("`stdin`", text)?;
        }
        let time_limit = match self.time_limit_seconds {
            None => settings.time_limit,
            Some(0) => return unusable("`time_limit_seconds` is at least 1"),
            Some(seconds) => Duration::from_secs(seconds).min(settings.time_limit),
        };
        Ok(Order {
            what,
            stdin: self.stdin,
            profile,
            env: variables(self.env)?,
            grants: self.grants.checked(settings)?,
            time_limit,
        })
    }
}

impl Grants {
    /// As absolute paths, and hosts as they are.
    fn checked(self, settings: &Settings) -> Usable<Grants> {
        let all = self.read.iter().chain(&self.write).chain(&self.host);
        without_nul(all)?;
        if [&self.read, &self.write, &self.host]
            .iter()
            .any(|list| list.len() > MAX)
        {
            return unusable(format!("`grants` takes at most {MAX} of each kind"));
        }
        self.read
            .iter()
            .chain(&self.write)
            .try_for_each(|path| without_home(path))?;
        let whole = |path: &String| match plain(path, &settings.root) {
            Some(path) => Ok(path.to_string_lossy().into_owned()),
            None => unusable(format!("`{}` in `grants` has a `..`", visible(path))),
        };
        Ok(Grants {
            read: self.read.iter().map(whole).collect::<Usable<_>>()?,
            write: self.write.iter().map(whole).collect::<Usable<_>>()?,
            host: self.host,
        })
    }

    /// Whether the client asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.host.is_empty()
    }

    /// Each as the words of a flag.
    pub fn flags(&self) -> Vec<[String; 2]> {
        let of = |flag: &'static str, list: &[String]| -> Vec<[String; 2]> {
            list.iter().map(|value| [flag.to_string(), value.clone()]).collect()
        };
        [
            of("--read", &self.read),
            of("--write", &self.write),
            of("--host", &self.host),
        ]
        .concat()
    }
}

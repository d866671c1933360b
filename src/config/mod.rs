//! The user's configuration, `$XDG_CONFIG_HOME/stockade/config.toml`. Only the user's: a project says nothing here.

mod agent;

use std::io;
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use crate::judge::Permissions;
use crate::profile::reading::{Complaint, Reader, Value, read_with, text_of};
use crate::profile::{Fault, ProfileError, Source};

pub use agent::{Agent, Tool};

const FIELDS: [&str; 2] = ["version", "on_violation"];

/// What the user has set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// A command that is told of each denial.
    pub on_violation: Option<OnViolation>,
    /// Rules for tool calls.
    pub permissions: Permissions,
    /// Agents that are declared here.
    pub agents: Vec<Agent>,
    /// Tools that are declared here.
    pub tools: Vec<Tool>,
}

/// A command that gets rows of the audit trail as JSON on its standard input, one a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnViolation {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Why the configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// The file can't be read.
    #[error("can't read the configuration `{}`", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The document has faults: all of them, in the order of the text.
    #[error(transparent)]
    Faults(ProfileError),
}

impl Configuration {
    /// Reads the file in the user's configuration directory; nothing is set where there is none.
    ///
    /// # Errors
    /// The file can't be read, or has faults.
    pub fn load(directory: Option<&Path>) -> Result<Configuration, ConfigurationError> {
        let path = directory.map(|directory| directory.join("config.toml"));
        // A dangling link is a file that can't be read, not an absent one.
        let Some(path) = path.filter(|path| std::fs::symlink_metadata(path).is_ok()) else {
            return Ok(Configuration::default());
        };
        let source = Source::File(path);
        let text = text_of(source.path().unwrap_or(Path::new("")), &source).map_err(|error| match error {
            ProfileError::Unreadable { path, source } => ConfigurationError::Unreadable { path, source },
            other => ConfigurationError::Faults(other),
        })?;
        parse(&text, &source).map_err(|faults| ConfigurationError::Faults(ProfileError::Faults(faults)))
    }
}

fn parse(text: &str, source: &Source) -> Result<Configuration, Vec<Fault>> {
    read_with(text, source, "configuration", |reader, root| {
        let mut configuration = Configuration::default();
        if !root.contains_key("version") {
            let complaint = Complaint::new("`version` is missing").hint("a configuration begins with `version = 1`");
            reader.fault(0, complaint);
        }
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "version" => {}
                "on_violation" => configuration.on_violation = command(reader, value),
                _ => reader.unknown_field(key, "the configuration", &FIELDS),
            }
        }
        configuration
    })
}

/// A list of words, or one text for a shell.
fn command(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<OnViolation> {
    let words = match value.get_ref() {
        DeValue::Array(_) => {
            let words = reader.all_parsed(value, word);
            words.into_iter().map(|(word, _)| word).collect()
        }
        _ => vec!["/bin/sh".to_string(), "-c".to_string(), reader.parsed(value, word)?],
    };
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        let complaint = Complaint::new("`on_violation` names no program")
            .hint("write a list of words, or one text that `/bin/sh` runs");
        reader.fault(value.span().start, complaint);
        return None;
    };
    Some(OnViolation {
        program,
        arguments: words.collect(),
    })
}

fn word(text: &str) -> Result<String, Complaint> {
    if text.contains('\0') {
        return Err(Complaint::new("a word of a command can't hold NUL"));
    }
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Configuration, String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config.toml"), text).unwrap();
        let loaded = Configuration::load(Some(directory.path()));
        loaded.map_err(|error| error.to_string().replace(directory.path().to_str().unwrap(), "@"))
    }

    #[test]
    fn a_command_is_a_list_of_words_or_a_text_for_a_shell() {
        for (text, program, arguments) in [
            (
                "version = 1\non_violation = [\"notify\", \"a b\"]",
                "notify",
                &["a b"][..],
            ),
            (
                "version = 1\non_violation = \"cat >> x\"",
                "/bin/sh",
                &["-c", "cat >> x"],
            ),
        ] {
            let on_violation = parsed(text).unwrap().on_violation.unwrap();
            assert_eq!(
                (on_violation.program.as_str(), on_violation.arguments),
                (program, arguments.iter().map(ToString::to_string).collect())
            );
        }
        assert_eq!(parsed("version = 1\n"), Ok(Configuration::default()));
        assert_eq!(Configuration::load(None).unwrap(), Configuration::default());
    }

    #[test]
    fn a_fault_is_told_with_its_place() {
        let fault = |text: &str| parsed(text).unwrap_err();
        insta::assert_snapshot!(fault("version = 1\non_violatoin = \"x\"\n"), @"
        @/config.toml:2:1: the configuration has no field `on_violatoin`
          hint: did you mean `on_violation`?
        ");
        insta::assert_snapshot!(fault("version = 1\non_violation = []\n"), @"
        @/config.toml:2:16: `on_violation` names no program
          hint: write a list of words, or one text that `/bin/sh` runs
        ");
        insta::assert_snapshot!(fault("on_violation = \"x\"\n"), @"
        @/config.toml:1:1: `version` is missing
          hint: a configuration begins with `version = 1`
        ");
    }
}

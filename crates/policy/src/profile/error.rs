//! Errors of profiles: faults inside a document, and failures to find or read one.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use stockade_text::quote::quoted;
use stockade_text::visible::visible;

/// A fault in a document, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFault {
    /// The document's name for messages.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The description of the fault.
    pub message: String,
    /// The suggested correction, if there is one.
    pub hint: Option<String>,
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// The reason that a profile couldn't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("no profile is called `{}`", excerpt(name))]
    Unknown {
        /// The requested name.
        name: String,
        /// The closest known name.
        did_you_mean: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// The document has faults: all of them, in the order of the text.
    #[error("{}", Listing(.0))]
    Faults(Vec<DocumentFault>),
    /// Profiles extend each other in a cycle.
    #[error("{file}:{line}:{column}: profiles extend each other in a circle: {}", chain.join(" → "))]
    Cycle {
        /// The names, from the first one to its second occurrence.
        chain: Vec<String>,
        /// The document whose `extends` closes the cycle, as named in messages.
        file: String,
        /// The line of that `extends`, from 1.
        line: usize,
        /// The column of its value, from 1.
        column: usize,
    },
    /// The file can't be read.
    #[error("can't read the profile `{}`", visible(&path.to_string_lossy()))]
    Unreadable {
        /// The path that was tried.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has the name of a shipped profile, so messages couldn't tell which one a run used.
    #[error("`{}` has the name of the shipped profile `{name}`", visible(&path.to_string_lossy()))]
    Shadowing {
        /// The path of the file.
        path: PathBuf,
        /// The shipped name.
        name: String,
    },
}

impl ProfileError {
    /// The suggested remedy, if the message doesn't contain it.
    pub fn hint(&self) -> Option<String> {
        match self {
            ProfileError::Unknown {
                did_you_mean: Some(name),
                ..
            } => Some(format!("did you mean `{name}`?")),
            ProfileError::Unknown { known, .. } => Some(format!("the profiles are {}", listed(known))),
            ProfileError::Shadowing { path, name } => {
                let words = [
                    path.as_os_str(),
                    path.with_file_name(format!("my-{name}.toml")).as_os_str(),
                ]
                .map(quoted);
                Some(format!(
                    "rename it: `mv {} {}`, and write `name = \"my-{name}\"` in it; it may say `extends = \"{name}\"`",
                    words[0], words[1]
                ))
            }
            ProfileError::Faults(_) | ProfileError::Cycle { .. } | ProfileError::Unreadable { .. } => None,
        }
    }
}

/// Formats the faults of a document, one per line, each followed by its hint.
struct Listing<'f>(&'f [DocumentFault]);

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{fault}")?;
            if let Some(hint) = &fault.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

/// The complaint about one value, before its position is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The description of the fault.
    pub message: String,
    /// The suggested remedy.
    pub hint: Option<String>,
}

impl Complaint {
    /// A complaint without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Complaint {
            message: message.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// A quotation for a message: invisible characters shown, and cut if longer than a line or two.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    const MAX_LENGTH: usize = 200;
    match text.char_indices().nth(MAX_LENGTH) {
        None => visible(text),
        Some((cut, _)) => Cow::Owned(format!("{}…", visible(&text[..cut]))),
    }
}

/// The candidate closest to a misspelt word.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const MAX_LENGTH: usize = 64;
    if word.len() > MAX_LENGTH {
        return None;
    }
    let tolerated = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|&(distance, _)| distance <= tolerated)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Formats names for a sentence: `` `a`, `b` and `c` ``.
pub(super) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut() {
        assert_eq!(excerpt(&"x".repeat(1000)).chars().count(), 201);
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_strange_one_nothing() {
        let names = ["readonly", "minimal", "trusted"];
        assert_eq!(nearest("read-only", names), Some("readonly"));
        assert_eq!(nearest("trused", names), Some("trusted"));
        assert_eq!(nearest("kubernetes", names), None);
        assert_eq!(nearest("", names), None);
    }
}

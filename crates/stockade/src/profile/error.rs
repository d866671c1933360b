//! What can be wrong with a profile: faults inside a document, and failures to find or read one.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use stockade_text::quote::quoted;
use stockade_text::visible::visible;

/// One thing that is wrong in a document, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The document as messages name it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be told.
    pub hint: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// Why a profile couldn't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No profile has this name.
    #[error("no profile is called `{}`", excerpt(name))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The known name that is closest to it.
        did_you_mean: Option<String>,
        /// Every name there is.
        known: Vec<String>,
    },
    /// The document has faults: all of them, in the order of the text.
    #[error("{}", Listing(.0))]
    Faults(Vec<Fault>),
    /// Profiles extend each other in a circle.
    #[error("{file}:{line}:{column}: profiles extend each other in a circle: {}", chain.join(" → "))]
    Cycle {
        /// The names, from the first to where it comes again.
        chain: Vec<String>,
        /// The document whose `extends` closes the circle, as messages name it.
        file: String,
        /// The line of that `extends`, from 1.
        line: usize,
        /// The column of its value, from 1.
        column: usize,
    },
    /// The file can't be read.
    #[error("can't read the profile `{}`", visible(&path.to_string_lossy()))]
    Unreadable {
        /// The file as it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file has the name of a shipped profile, so it couldn't be told which one a run used.
    #[error("`{}` has the name of the shipped profile `{name}`", visible(&path.to_string_lossy()))]
    Shadowing {
        /// The file in question.
        path: PathBuf,
        /// The shipped name.
        name: String,
    },
}

impl ProfileError {
    /// What the person can do about it, where the message itself doesn't say.
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

/// The faults of a document, one a line, each followed by its hint.
struct Listing<'f>(&'f [Fault]);

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

/// What is wrong with one value, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub message: String,
    /// What a person can do about it.
    pub hint: Option<String>,
}

impl Complaint {
    /// Without a hint.
    pub fn new(message: impl Into<String>) -> Self {
        Complaint {
            message: message.into(),
            hint: None,
        }
    }

    /// With one.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What a message quotes of a text: visible, and cut where it is longer than a line or two.
pub(super) fn excerpt(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 200;
    match text.char_indices().nth(LONGEST) {
        None => visible(text),
        Some((cut, _)) => Cow::Owned(format!("{}…", visible(&text[..cut]))),
    }
}

/// The candidate that a misspelt word most likely meant.
pub(super) fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
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

/// Names for a sentence: `` `a`, `b` and `c` ``.
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

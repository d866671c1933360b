//! The layers of configuration for a command: loaded once, with what a person has to know on standard error.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::REFUSED;
use super::message::{Failure, note};
use crate::config::{Layers, Line, Missing, TrustError};
use crate::profile::visible;
use crate::surroundings::Surroundings;

/// What is configured where a command works.
pub struct Here {
    /// The caller's directories.
    pub surroundings: Surroundings,
    /// The project's root, its real path.
    pub root: PathBuf,
    /// What is configured for it.
    pub layers: Layers,
}

impl Here {
    /// Loads them, and says what was found and doesn't count.
    pub fn load(root: Option<&Path>) -> Result<Here, Failure> {
        let here = Here::quiet(root)?;
        here.layers.remarks().iter().for_each(|remark| note(remark));
        Ok(here)
    }

    /// Loads them for a command that says itself what doesn't count.
    pub fn quiet(root: Option<&Path>) -> Result<Here, Failure> {
        let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
        let root = surroundings.directory.join(root.unwrap_or("".as_ref()));
        let root = std::fs::canonicalize(&root)
            .map_err(|error| Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", root.display())))?;
        let layers = Layers::load(
            surroundings.configuration.as_deref(),
            surroundings.state.as_deref(),
            &root,
        )?;
        Ok(Here {
            surroundings,
            root,
            layers,
        })
    }
}

/// How much is said of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// What counts, alone.
    Value,
    /// Where it comes from too, and what doesn't count.
    Origin,
}

/// Prints lines.
pub fn print(lines: &[Line], detail: Detail, out: &mut dyn Write) -> Result<(), Failure> {
    let shown = lines
        .iter()
        .filter(|line| detail == Detail::Origin || line.missing.is_none());
    for line in shown {
        let text = visible(&line.text);
        let origins: Vec<String> = line.origins.iter().map(ToString::to_string).collect();
        let origins = origins.join(", ");
        let written = match (detail, line.missing) {
            (Detail::Value, _) => writeln!(out, "{text}"),
            (Detail::Origin, None) => writeln!(out, "{text}  # {}", visible(&origins)),
            (Detail::Origin, Some(Missing::Untrusted)) => {
                writeln!(out, "# doesn't count, not trusted: {text}  # {}", visible(&origins))
            }
        };
        written.map_err(unprinted)?;
    }
    Ok(())
}

/// A reader that went away is nobody's problem.
pub fn unprinted(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure {
            verbatim: true,
            ..Failure::text(0, String::new())
        },
        _ => Failure::new(REFUSED, &error),
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Failure {
        Failure {
            hint: error.hint().map(String::from),
            ..Failure::new(REFUSED, &error)
        }
    }
}

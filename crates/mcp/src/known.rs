//! The tools that were accepted of each server, in files of the state directory: one a server and command.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::listing::{Accepted, Others, Tool};

/// The directory in the state directory.
const DIRECTORY: &str = "mcp";

/// The most that is read of one file.
const MAX_LENGTH: u64 = 4 << 20;

/// The most files that are read for names of other servers.
const MAX_FILES: usize = 256;

/// The file of one server and command.
#[derive(Debug)]
pub struct Known {
    path: PathBuf,
    name: String,
    command: Vec<String>,
}

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// The version of the format.
    pub version: u32,
    /// The server's name.
    pub name: String,
    /// Its command.
    pub command: Vec<String>,
    /// The accepted tools; `None` if none were accepted yet.
    pub accepted: Option<Accepted>,
    /// The tools as they were listed last, if that is something else.
    pub listed: Option<Accepted>,
}

/// A file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum KnownError {
    /// It can't be read or written.
    #[error("can't use `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It isn't what was written.
    #[error("`{}` isn't a list of tools", .0.display())]
    Damaged(PathBuf),
}

impl Known {
    /// The file for a server's name and command.
    pub fn of(state: &Path, name: &str, command: &[OsString]) -> Known {
        let mut hasher = blake3::Hasher::new();
        for word in command {
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word.as_bytes());
        }
        let hash = hasher.finalize().to_hex();
        let plain: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                    c
                } else {
                    '_'
                }
            })
            .take(40)
            .collect();
        let of_name = &blake3::hash(name.as_bytes()).to_hex()[..8];
        Known {
            path: state
                .join(DIRECTORY)
                .join(format!("{plain}-{of_name}-{}.json", &hash[..16])),
            name: name.to_owned(),
            command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        }
    }

    /// What was accepted and listed; empty if nothing was.
    ///
    /// # Errors
    /// The file can't be read, or is damaged.
    pub fn load(&self) -> Result<Content, KnownError> {
        let empty = Content {
            version: 1,
            name: self.name.clone(),
            command: self.command.clone(),
            ..Content::default()
        };
        Ok(read(&self.path)?.unwrap_or(empty))
    }

    /// Replaces what is kept.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn store(&self, content: &Content) -> Result<(), KnownError> {
        store(&self.path, content)
    }

    /// The names of other servers' accepted tools. The same command under another name is the same server.
    pub fn others(&self) -> Others {
        let mut others = Others::new();
        let all = all(self.path.parent().unwrap_or(Path::new("")));
        for (_, content) in all
            .into_iter()
            .filter(|(_, content)| content.name != self.name && content.command != self.command)
        {
            for Accepted(tools) in content.accepted.into_iter() {
                for tool in tools.into_keys() {
                    others.entry(tool).or_default().insert(content.name.clone());
                }
            }
        }
        others
    }
}

/// Adds a tool of a listing to what is kept: nothing that was accepted changes, unless it is the first listing.
pub fn add(content: &mut Content, tool: &Tool, is_first: bool) {
    if is_first {
        content.accepted.get_or_insert_default().add(tool);
    } else {
        content.listed.get_or_insert_default().add(tool);
    }
}

/// The files of all servers, with what they hold. Those that are damaged are left out.
fn all(directory: &Path) -> Vec<(PathBuf, Content)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.truncate(MAX_FILES);
    let read = paths
        .into_iter()
        .filter_map(|path| Some((path.clone(), read(&path).ok()??)));
    read.collect()
}

/// The files of all servers, below the state directory.
pub fn of_state(state: &Path) -> Vec<(PathBuf, Content)> {
    all(&state.join(DIRECTORY))
}

/// Those of a server of this name.
pub fn of_name(state: &Path, name: &str) -> Vec<(PathBuf, Content)> {
    let mut all = of_state(state);
    all.retain(|(_, content)| content.name == name);
    all
}

/// Accepts what was listed last: returns the names of the tools that change.
///
/// # Errors
/// The file can't be written.
pub fn accept(path: &Path, mut content: Content) -> Result<Vec<String>, KnownError> {
    let Some(Accepted(listed)) = content.listed.take() else {
        return Ok(Vec::new());
    };
    let accepted = &mut content.accepted.get_or_insert_default().0;
    let mut changed = Vec::new();
    for (name, hash) in listed {
        if accepted.insert(name.clone(), hash.clone()) != Some(hash) {
            changed.push(name);
        }
    }
    store(path, &content)?;
    Ok(changed)
}

fn read(path: &Path) -> Result<Option<Content>, KnownError> {
    let failed = |source| KnownError::File {
        path: path.to_path_buf(),
        source,
    };
    let mut text = String::new();
    let file = fs::File::options()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(path);
    let file = match file {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(failed)?,
    };
    file.take(MAX_LENGTH).read_to_string(&mut text).map_err(failed)?;
    let content: Option<Content> = serde_json::from_str(&text).ok();
    let content = content.filter(|content| content.version == 1);
    content.map(Some).ok_or_else(|| KnownError::Damaged(path.to_path_buf()))
}

fn store(path: &Path, content: &Content) -> Result<(), KnownError> {
    let failed = |source| KnownError::File {
        path: path.to_path_buf(),
        source,
    };
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    let text = serde_json::to_string_pretty(content).map_err(|error| failed(error.into()))?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_first_is_accepted_and_later_changes_wait() {
        let state = tempfile::tempdir().unwrap();
        let known = Known::of(state.path(), "files", &["npx".into(), "x".into()]);
        let mut content = known.load().unwrap();
        assert_eq!(content.accepted, None);
        let tool = |text: &str| Tool::read(text).unwrap();
        add(&mut content, &tool(r#"{"name":"a"}"#), true);
        known.store(&content).unwrap();
        let mut content = known.load().unwrap();
        let before = content.accepted.clone();
        add(&mut content, &tool(r#"{"name":"a","description":"x"}"#), false);
        known.store(&content).unwrap();
        assert_eq!(known.load().unwrap().accepted, before);
        let [(path, content)] = &of_name(state.path(), "files")[..] else {
            panic!("one file");
        };
        assert_eq!(accept(path, content.clone()).unwrap(), ["a"]);
        let content = known.load().unwrap();
        assert_ne!(content.accepted, before);
        assert_eq!(content.listed, None);
        let other = Known::of(state.path(), "other", &["y".into()]);
        assert_eq!(other.others().keys().collect::<Vec<_>>(), ["a"]);
        assert!(known.others().is_empty());
        let same = Known::of(state.path(), "again", &["npx".into(), "x".into()]);
        assert!(same.others().is_empty());
    }

    #[test]
    fn a_file_that_is_damaged_is_an_error() {
        let state = tempfile::tempdir().unwrap();
        let known = Known::of(state.path(), "../x", &[]);
        fs::create_dir(state.path().join(DIRECTORY)).unwrap();
        fs::write(&known.path, "{}").unwrap();
        assert!(matches!(known.load(), Err(KnownError::Damaged(_))));
        assert!(known.path.starts_with(state.path()));
    }
}

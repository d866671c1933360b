//! The contents of project configurations that the user trusts, pinned in `$XDG_STATE_HOME/stockade/trusted.json`.
//!
//! A list that can't be read, or that isn't the user's alone, trusts nothing. A process that changes it locks a file next to it
//! and replaces the whole list.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrustError;
use super::project::{Project, Trust, hash, path_below};
use stockade_policy::custody::make_private;

const LIST: &str = "trusted.json";
const LOCK: &str = "trusted.lock";
const VERSION: u32 = 1;

/// Each pin has at most a mebibyte of text; no person trusts so many large ones.
const MAX_SIZE: u64 = 64 << 20;

/// The pinned content of one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The file's real path.
    #[serde(with = "stockade_policy::profile::path_bytes")]
    pub path: PathBuf,
    /// The hashes of the content that counts. While a rule is being written there are two: before and after.
    pub hashes: Vec<String>,
    /// The trusted text, to determine what a later one widens.
    text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    projects: Vec<Pinned>,
}

/// The list, as read.
#[derive(Debug, Clone, Default)]
pub(super) struct Pins {
    pins: BTreeMap<PathBuf, Pinned>,
}

impl Pins {
    /// Reads the list; it is empty if the file doesn't exist.
    pub(super) fn load(state: Option<&Path>) -> Result<Pins, TrustError> {
        let Some(state) = state else {
            return Ok(Pins::default());
        };
        let failed = |path: &Path, source| TrustError::State {
            path: path.to_path_buf(),
            source,
        };
        match fs::symlink_metadata(state).map(|metadata| metadata.is_dir() && is_ours(&metadata)) {
            Ok(true) => {}
            Ok(false) => return Err(failed(state, strange())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::default()),
            Err(error) => return Err(failed(state, error)),
        }
        let path = state.join(LIST);
        let bytes = match content(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Pins::default()),
            Err(error) => return Err(failed(&path, error)),
        };
        let damaged = |why: String| TrustError::Damaged {
            path: path.clone(),
            why,
        };
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if document.version != VERSION {
            return Err(damaged(format!("it is of version {}, not {VERSION}", document.version)));
        }
        let pins = document.projects.into_iter().map(|pin| (pin.path.clone(), pin));
        Ok(Pins { pins: pins.collect() })
    }

    /// The pin of this file.
    fn of(&self, path: &Path) -> Option<&Pinned> {
        self.pins.get(path)
    }

    /// The trusted text of this file, if it matches its hash.
    pub(super) fn text_of(&self, path: &Path) -> Option<String> {
        let pin = self.of(path).filter(|pin| pin.is_whole());
        pin.map(|pin| pin.text.clone())
    }

    /// The trust in exactly this content.
    pub(super) fn trust(&self, path: &Path, hash: &str) -> Trust {
        match self.of(path) {
            Some(pin) if pin.hashes.iter().any(|trusted| trusted == hash) => Trust::Trusted,
            Some(_) => Trust::Changed,
            None => Trust::Untrusted,
        }
    }
}

/// The list, locked against other processes. Dropping the value releases the lock.
pub(super) struct Locked {
    state: PathBuf,
    pub(super) pins: Pins,
    _lock: File,
}

impl Locked {
    /// Waits for the lock and reads the list. Creates the directory if it is missing.
    pub(super) fn open(state: Option<&Path>) -> Result<Locked, TrustError> {
        let state = state.ok_or(TrustError::Stateless)?;
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| TrustError::State { path, source }
        };
        make_private(state).map_err(failed(state))?;
        let path = state.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(failed(&path))?;
        Ok(Locked {
            state: state.to_path_buf(),
            pins: Pins::load(Some(state))?,
            _lock: lock,
        })
    }

    /// Trusts these contents of a file and no others.
    pub(super) fn pin(&mut self, path: &Path, hashes: &[&str], text: &str) -> Result<(), TrustError> {
        let pin = Pinned {
            path: path.to_path_buf(),
            hashes: hashes.iter().map(ToString::to_string).collect(),
            text: text.to_owned(),
        };
        self.pins.pins.insert(path.to_path_buf(), pin);
        self.write()
    }

    fn write(&self) -> Result<(), TrustError> {
        let path = self.state.join(LIST);
        let document = Document {
            version: VERSION,
            projects: self.pins.pins.values().cloned().collect(),
        };
        let written = serde_json::to_vec(&document)
            .map_err(io::Error::from)
            .and_then(|bytes| {
                let mut file = tempfile::Builder::new()
                    .permissions(fs::Permissions::from_mode(0o600))
                    .tempfile_in(&self.state)?;
                file.write_all(&bytes)?;
                file.as_file().sync_all()?;
                file.persist(&path).map(drop).map_err(|error| error.error)
            });
        written.map_err(|source| TrustError::State { path, source })
    }
}

/// Trusts a project's configuration as read, until one byte of it changes.
///
/// # Errors
/// There is no state directory, or it or the list in it can't be used.
pub fn trust(state: Option<&Path>, project: &Project) -> Result<(), TrustError> {
    let mut locked = Locked::open(state)?;
    locked.pin(&project.path, &[&project.hash], &project.text)
}

/// Revokes all trust in a project; returns true if something was trusted.
///
/// # Errors
/// The state directory or the list in it can't be used.
pub fn revoke(state: Option<&Path>, root: &Path) -> Result<bool, TrustError> {
    let mut locked = Locked::open(state)?;
    let was_there = locked.pins.pins.remove(&path_below(root)).is_some();
    if was_there {
        locked.write()?;
    }
    Ok(was_there)
}

/// Lists every pin.
///
/// # Errors
/// The state directory or the list in it can't be used.
pub fn trusted(state: Option<&Path>) -> Result<Vec<Pinned>, TrustError> {
    Pins::load(state).map(|pins| pins.pins.into_values().collect())
}

impl Pinned {
    /// How the file's current content compares to the pin.
    pub fn now(&self) -> Trust {
        let root = self.path.ancestors().nth(2).unwrap_or(&self.path);
        let found = Project::read(root).ok().flatten();
        match found.map(|project| self.hashes.contains(&project.hash)) {
            Some(true) => Trust::Trusted,
            Some(false) => Trust::Changed,
            None => Trust::Untrusted,
        }
    }

    /// Whether the text matches one of the hashes.
    fn is_whole(&self) -> bool {
        self.hashes.contains(&hash(self.text.as_bytes()))
    }
}

/// The content of a file that no other user could have written; never follows a link.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_ours(&metadata) {
        return Err(strange());
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, MAX_SIZE + 1), &mut bytes)?;
    if bytes.len() as u64 > MAX_SIZE {
        return Err(io::Error::other(format!("it is larger than {MAX_SIZE} bytes")));
    }
    Ok(bytes)
}

/// Whether only this user can write it.
fn is_ours(metadata: &fs::Metadata) -> bool {
    metadata.uid() == nix::unistd::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

fn strange() -> io::Error {
    io::Error::other("somebody else can write it, or it is a link or of another kind")
}

//! A project's configuration, `.stockade/config.toml` below its root: hostile until the user trusts its content.
//!
//! It is read once: the hashed bytes are the parsed and displayed ones. No link is followed below the root.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use super::{Configuration, ConfigurationError, Line};
use crate::examples::matches;
use stockade_policy::config::{Author, parse};
use stockade_policy::profile::reading::{bytes_of, text_from};
use stockade_policy::profile::{ProfileError, Source};

/// The directory of a project's configuration.
pub(super) const DIRECTORY: &str = ".stockade";

/// The file in it.
pub(super) const FILE: &str = "config.toml";

/// Whether the user trusts a project's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user trusts exactly this content.
    Trusted,
    /// The user trusts other content of the same file.
    Changed,
    /// The user trusts nothing of it.
    Untrusted,
}

/// A project's configuration as found.
#[derive(Debug, Clone)]
pub struct Project {
    /// The file's real path.
    pub path: PathBuf,
    /// BLAKE3 of its content, in 64 hexadecimal digits.
    pub hash: String,
    /// Whether the user trusts it.
    pub trust: Trust,
    /// The lines that it adds to the user's own configuration: what trusting it allows, or already allows.
    pub widens: Vec<Line>,
    pub(super) text: String,
    pub(super) configuration: Configuration,
}

impl Project {
    /// Reads the file; `None` if the project has none. The caller fills in `trust` and `widens`.
    pub(super) fn read(root: &Path) -> Result<Option<Project>, ConfigurationError> {
        let path = path_below(root);
        let Some(bytes) = content(&path)? else {
            return Ok(None);
        };
        let hash = hash(&bytes);
        let source = Source::File(path);
        let faults = |fault| ConfigurationError::Faults(ProfileError::Faults(vec![fault]));
        let text = text_from(bytes, &source).map_err(faults)?;
        let configuration = read(&text, &source)?;
        let Source::File(path) = source else {
            unreachable!("it was made of a file");
        };
        Ok(Some(Project {
            path,
            hash,
            trust: Trust::Untrusted,
            widens: Vec::new(),
            text,
            configuration,
        }))
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether its allows count.
    pub fn is_trusted(&self) -> bool {
        self.trust == Trust::Trusted
    }
}

/// Parses a text as a project's configuration.
pub(super) fn read(text: &str, source: &Source) -> Result<Configuration, ConfigurationError> {
    parse(text, source, Author::Project, Some(matches)).map_err(ConfigurationError::faults)
}

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The path of a project's configuration, existing or not, from the root's real path.
pub(super) fn path_below(root: &Path) -> PathBuf {
    root.join(DIRECTORY).join(FILE)
}

fn content(path: &Path) -> Result<Option<Vec<u8>>, ConfigurationError> {
    let directory = path.parent().unwrap_or(path);
    let root = directory.parent().unwrap_or(path);
    let root = match opened(root) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(root, error)),
    };
    let Some(directory) = open(&root, directory, OFlag::O_DIRECTORY | OFlag::O_PATH)? else {
        return Ok(None);
    };
    // Without O_NONBLOCK, opening a FIFO would wait for a writer that may never come.
    let Some(file) = open(&directory, path, OFlag::O_NONBLOCK | OFlag::O_NOCTTY)? else {
        return Ok(None);
    };
    let bytes = bytes_of(file.into()).map_err(|error| unreadable(path, error))?;
    Ok(Some(bytes))
}

/// Opens the root. Since its name was resolved, a run may have led it elsewhere: another project's configuration isn't its own.
fn opened(root: &Path) -> io::Result<File> {
    let opened = File::open(root)?;
    match fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd()))? == root {
        true => Ok(opened),
        false => Err(io::Error::other("its name leads elsewhere by now")),
    }
}

/// Opens the last component of a path in an open directory, wherever the rest of the path leads by now.
pub(super) fn open(
    parent: &impl std::os::fd::AsFd,
    path: &Path,
    flags: OFlag,
) -> Result<Option<OwnedFd>, ConfigurationError> {
    let name = path.file_name().unwrap_or_default();
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::ENOENT) => Ok(None),
        Err(Errno::ELOOP | Errno::ENOTDIR) => Err(ConfigurationError::Linked {
            path: path.to_path_buf(),
        }),
        Err(errno) => Err(unreadable(path, errno.into())),
    }
}

fn unreadable(path: &Path, source: io::Error) -> ConfigurationError {
    ConfigurationError::Unreadable {
        path: path.to_path_buf(),
        source,
    }
}

//! The directory of the watchers' sockets, and access to sockets with long paths.
//!
//! A socket's address has 108 bytes (unix(7)), and a state directory's path may be longer. So the directory is opened,
//! and its sockets are addressed through the descriptor: `/proc/thread-self/fd/N/NAME`. (Not `self`: a thread may have
//! its own descriptor table.)

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, fchmod, fstat};

use super::place;
use crate::profile::visible;
use stockade_sys::{random, socket};

/// The name suffix of a listening socket.
const READY: &[u8] = b".sock";
/// The name suffix before it listens.
const UNREADY: &[u8] = b".new";
/// A watcher that isn't listening after this time has died.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// The directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It is missing, or can't be created or opened.
    #[error("can't use the directory `{}`", visible(&path.to_string_lossy()))]
    System {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another user could answer in this user's place.
    #[error("the directory `{}` isn't yours alone", visible(&.0.to_string_lossy()))]
    NotOurs(PathBuf),
}

impl DirectoryError {
    /// The remedy.
    pub fn hint(&self) -> Option<String> {
        match self {
            DirectoryError::System { .. } => None,
            DirectoryError::NotOurs(path) => Some(format!("look at what it holds, then remove `{}`", path.display())),
        }
    }
}

/// The directory: owned by the user, not a symbolic link, closed to all others.
#[derive(Debug)]
pub(super) struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens the directory, and creates it if it is missing.
    pub fn make(state: &Path) -> Result<Directory, DirectoryError> {
        let path = place(state);
        let failed = |source| DirectoryError::System {
            path: path.clone(),
            source,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(state)
            .map_err(failed)?;
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        Directory::open(state)
    }

    /// Opens the directory.
    pub fn open(state: &Path) -> Result<Directory, DirectoryError> {
        let path = place(state);
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let failed = |error: nix::Error| DirectoryError::System {
            path: path.clone(),
            source: error.into(),
        };
        let handle = open(&path, flags, Mode::empty()).map_err(failed)?;
        let status = fstat(&handle).map_err(failed)?;
        if status.st_uid != nix::unistd::geteuid().as_raw() {
            return Err(DirectoryError::NotOurs(path));
        }
        if status.st_mode & 0o077 != 0 {
            fchmod(&handle, Mode::S_IRWXU).map_err(failed)?;
        }
        Ok(Directory { handle, path })
    }

    /// The path of an entry, for display.
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// The names of the sockets that a watcher listens on, or did.
    pub fn sockets(&self) -> Vec<OsString> {
        self.entries(READY)
    }

    fn entries(&self, suffix: &[u8]) -> Vec<OsString> {
        let entries = fs::read_dir(self.entry(OsStr::new(".")));
        let mut names: Vec<OsString> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
            .map(|entry| entry.file_name())
            .filter(|name| name.as_bytes().ends_with(suffix))
            .collect();
        names.sort();
        names
    }

    /// Connects to a watcher of the same user. Removes the name of one that has died.
    pub fn connect(&self, name: &OsStr) -> io::Result<UnixStream> {
        let made = socket::open(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
        // Non-blocking: a stopped watcher with a full queue counts as none.
        if let Err(error) = socket::connect(made.as_fd(), &address(&self.entry(name))?) {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                self.remove(name);
            }
            return Err(error);
        }
        if !is_same_user(made.as_fd())? {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        Ok(UnixStream::from(made))
    }

    /// Listens under a new name, which gets its suffix only once connections are accepted: before, they would be
    /// refused, and the refused client removes the name.
    pub fn listen(&self) -> io::Result<(UnixListener, OsString)> {
        self.remove_abandoned();
        let stem = format!(
            "{}-{:04x}{:04x}",
            std::process::id(),
            random::number()?,
            random::number()?
        );
        let name = |suffix: &[u8]| OsString::from(format!("{stem}{}", String::from_utf8_lossy(suffix)));
        let listener = UnixListener::bind(self.entry(&name(UNREADY)))?;
        fs::rename(self.entry(&name(UNREADY)), self.entry(&name(READY)))
            .inspect_err(|_| self.remove(&name(UNREADY)))?;
        Ok((listener, name(READY)))
    }

    /// Removes the sockets of watchers that were killed before they listened.
    fn remove_abandoned(&self) {
        for name in self.entries(UNREADY) {
            let changed = fs::symlink_metadata(self.entry(&name)).and_then(|status| status.modified());
            let age = changed.ok().and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age > STARTS_WITHIN) {
                self.remove(&name);
            }
        }
    }

    /// Removes an entry; a missing one is no error.
    pub fn remove(&self, name: &OsStr) {
        let _ = fs::remove_file(self.entry(name));
    }

    fn entry(&self, name: &OsStr) -> PathBuf {
        Path::new(&format!("/proc/thread-self/fd/{}", self.handle.as_raw_fd())).join(name)
    }
}

/// Whether the peer of a connection belongs to the same user.
pub(super) fn is_same_user(stream: impl AsFd) -> io::Result<bool> {
    Ok(socket::peer_user(stream.as_fd())? == nix::unistd::geteuid().as_raw())
}

/// The kernel's address bytes for a path (unix(7)).
fn address(path: &Path) -> io::Result<Vec<u8>> {
    const MAX_LENGTH: usize = 107;
    let path = path.as_os_str().as_bytes();
    if path.len() > MAX_LENGTH || path.contains(&0) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut bytes = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    bytes.extend_from_slice(path);
    bytes.push(0);
    Ok(bytes)
}

//! The state directory and its files: the user's alone, never behind a symbolic link.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::StoreError;
pub use stockade_policy::custody::make_private;

/// The state directory, checked to be writable by no other user.
#[derive(Debug)]
pub(super) struct Place {
    directory: PathBuf,
}

impl Place {
    /// Creates it if it is missing, and takes other users' access away.
    pub(super) fn make(state: &Path) -> Result<Place, StoreError> {
        let is_private = fs::symlink_metadata(state).is_ok_and(|metadata| metadata.mode() & 0o077 == 0);
        let made = if is_private { Ok(()) } else { make_private(state) };
        made.and_then(|()| Place::checked(state))
            .map_err(|source| directory_error(state, source))
    }

    /// The directory if it exists.
    pub(super) fn existing(state: &Path) -> Result<Option<Place>, StoreError> {
        match Place::checked(state) {
            Ok(place) => Ok(Some(place)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(source) => Err(directory_error(state, source)),
        }
    }

    /// Symbolic links above it are the user's own business.
    fn checked(state: &Path) -> io::Result<Place> {
        check(&fs::symlink_metadata(state)?, Metadata::is_dir)?;
        Ok(Place {
            directory: state.to_path_buf(),
        })
    }

    /// Opens a file that isn't a database, if it exists.
    pub(super) fn open(&self, name: &str) -> Result<Option<File>, StoreError> {
        match self.opened(name, File::options().read(true).write(true)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(source) => Err(self.file_error(name, source)),
        }
    }

    /// The same, created empty if it is missing.
    pub(super) fn create(&self, name: &str) -> Result<File, StoreError> {
        self.opened(name, File::options().read(true).write(true).create(true).mode(0o600))
            .map_err(|source| self.file_error(name, source))
    }

    fn opened(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        // A FIFO has no reader.
        let file = options
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(self.directory.join(name))?;
        let metadata = file.metadata()?;
        check(&metadata, Metadata::is_file)?;
        if metadata.mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    /// A database, created empty if it is missing.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf, StoreError> {
        if let Some(path) = self.existing_file(name)? {
            return Ok(path);
        }
        // Never opened and closed under its own name: closing drops the locks that SQLite may already hold on it in
        // this process (fcntl(2)).
        let made = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(&self.directory)
            .map(tempfile::NamedTempFile::into_temp_path)
            .and_then(|path| match path.persist_noclobber(self.directory.join(name)) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
                _ => Ok(()),
            });
        made.map_err(|source| self.file_error(name, source))?;
        let path = self.existing_file(name)?;
        path.ok_or_else(|| self.file_error(name, io::ErrorKind::NotFound.into()))
    }

    /// A database if it exists. SQLite follows no link in its path.
    pub(super) fn existing_file(&self, name: &str) -> Result<Option<PathBuf>, StoreError> {
        let path = self.directory.join(name);
        let checked = fs::symlink_metadata(&path).and_then(|metadata| {
            check(&metadata, Metadata::is_file)?;
            if metadata.mode() & 0o077 != 0 {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            }
            Ok(fs::canonicalize(&self.directory)?.join(name))
        });
        match checked {
            Ok(path) => Ok(Some(path)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(source) => Err(self.file_error(name, source)),
        }
    }

    /// Waits until no other process sets up a file here. Dropping the value unlocks.
    pub(super) fn lock(&self) -> Result<File, StoreError> {
        let locked = File::open(&self.directory).and_then(|directory| directory.lock().map(|()| directory));
        locked.map_err(|source| directory_error(&self.directory, source))
    }

    pub(super) fn file_error(&self, name: &str, source: io::Error) -> StoreError {
        let path = self.directory.join(name);
        StoreError::File { path, source }
    }

    pub(super) fn line_error(&self, name: &str, line: u64) -> StoreError {
        let path = self.directory.join(name);
        StoreError::Line { line, path }
    }
}

fn check(metadata: &Metadata, is_of_kind: fn(&Metadata) -> bool) -> io::Result<()> {
    if metadata.is_symlink() {
        return Err(io::Error::from_raw_os_error(libc::ELOOP));
    }
    if !is_of_kind(metadata) || metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to somebody else, or is of another kind"));
    }
    Ok(())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn directory_error(state: &Path, source: io::Error) -> StoreError {
    let path = state.to_path_buf();
    StoreError::Directory { path, source }
}

//! Settings files: read once, shown, and replaced only if they are still what was read.
//!
//! A file is replaced as a whole, by a new one with its mode and owner. Links are followed, since people keep their settings
//! elsewhere, and the caller says which file that is; in a project, whose author may have made the link, none leads outside.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::document::MAX_BYTES;

/// The end of a copy's name.
const COPY: &str = ".stockade-backup";

/// The most older copies beside one file.
const MAX_COPIES: usize = 100;

/// The mode of a new file: it may come to hold keys.
const NEW_MODE: u32 = 0o600;

/// Why a file can't be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A call failed.
    #[error("can't {what} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// It isn't fit to be changed.
    #[error("`{}` {why}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
}

/// A file that was read, or that isn't there.
#[derive(Debug)]
pub struct SettingsFile {
    named: PathBuf,
    real: PathBuf,
    content: Option<Content>,
}

#[derive(Debug)]
struct Content {
    text: String,
    has_mark: bool,
    mode: u32,
    owner: (u32, u32),
    identity: (u64, u64),
}

/// A byte order mark, which some editors put before a text.
const MARK: &str = "\u{feff}";

impl SettingsFile {
    /// Reads a file. `within` is a directory that its real path may not leave.
    ///
    /// # Errors
    /// It can't be read, isn't a text file of the caller's, is too long, or lies elsewhere.
    pub fn read(path: &Path, within: Option<&Path>) -> Result<SettingsFile, FileError> {
        let real = real_path(path).map_err(|source| io_error("find", path, source))?;
        if let Some(within) = within {
            let within = fs::canonicalize(within).map_err(|source| io_error("find", within, source))?;
            if !real.starts_with(&within) {
                return Err(unfit(path, "leads out of the project through a link"));
            }
        }
        let content = read(&real)?;
        Ok(SettingsFile {
            named: path.to_path_buf(),
            real,
            content,
        })
    }

    /// The path that it was asked for by.
    pub fn path(&self) -> &Path {
        &self.named
    }

    /// Where it really is, if a link leads there.
    pub fn link_target(&self) -> Option<&Path> {
        let named = std::path::absolute(&self.named).ok();
        (named.as_deref() != Some(&self.real)).then_some(&self.real)
    }

    /// Its text, without a byte order mark; `None` if it isn't there.
    pub fn text(&self) -> Option<&str> {
        self.content.as_ref().map(|content| content.text.as_str())
    }

    /// Puts another text in its place.
    ///
    /// # Errors
    /// It has changed since it was read, or can't be written.
    pub fn replace(&self, text: &str) -> Result<(), FileError> {
        let failed = |source| io_error("write", &self.real, source);
        let directory = self.real.parent().unwrap_or(Path::new("/"));
        if self.content.is_none() {
            fs::create_dir_all(directory).map_err(|source| io_error("make", directory, source))?;
        }
        let mut new = NamedTempFile::new_in(directory).map_err(failed)?;
        let has_mark = self.content.as_ref().is_some_and(|content| content.has_mark);
        let mark = if has_mark { MARK } else { "" };
        let written = self.dress(new.as_file());
        let written = written.and_then(|()| new.write_all(mark.as_bytes()));
        let written = written.and_then(|()| new.write_all(text.as_bytes()));
        written.and_then(|()| new.as_file().sync_all()).map_err(failed)?;
        self.check_unchanged()?;
        match self.content {
            Some(_) => new.persist(&self.real),
            None => new.persist_noclobber(&self.real),
        }
        .map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Removes it.
    ///
    /// # Errors
    /// It has changed since it was read, or can't be removed.
    pub fn remove(&self) -> Result<(), FileError> {
        self.check_unchanged()?;
        fs::remove_file(&self.real).map_err(|source| io_error("remove", &self.real, source))
    }

    /// Gives a file this one's mode and owner.
    fn dress(&self, file: &File) -> io::Result<()> {
        let Some(content) = &self.content else {
            return file.set_permissions(Permissions::from_mode(NEW_MODE));
        };
        let has = file.metadata()?;
        if (has.uid(), has.gid()) != content.owner {
            fchown(file, Some(content.owner.0), Some(content.owner.1))?;
        }
        file.set_permissions(Permissions::from_mode(content.mode))
    }

    fn check_unchanged(&self) -> Result<(), FileError> {
        let now = read(&self.real)?;
        let is_same = match (&self.content, &now) {
            (None, None) => true,
            (Some(then), Some(now)) => then.identity == now.identity && then.text == now.text && then.mode == now.mode,
            _ => false,
        };
        match is_same {
            true => Ok(()),
            false => Err(unfit(&self.real, "has changed in the meantime: nothing was written")),
        }
    }

    /// Where its copy is kept.
    pub fn copy_path(&self) -> PathBuf {
        let mut name = OsString::from(&self.real);
        name.push(COPY);
        name.into()
    }

    /// The text of its copy, if there is one that can be read.
    pub fn copy_text(&self) -> Option<String> {
        read(&self.copy_path()).ok().flatten().map(|content| content.text)
    }

    /// Keeps a copy beside it. A file that has the copy's name and another text stays under a numbered one, which is returned.
    ///
    /// # Errors
    /// It can't be written.
    pub fn keep_copy(&self) -> Result<Option<PathBuf>, FileError> {
        let Some(content) = &self.content else {
            return Ok(None);
        };
        let path = self.copy_path();
        let failed = |source| io_error("write", &path, source);
        let directory = path.parent().unwrap_or(Path::new("/"));
        let mut copy = NamedTempFile::new_in(directory).map_err(failed)?;
        let mark = if content.has_mark { MARK } else { "" };
        let written = self.dress(copy.as_file());
        let written = written.and_then(|()| copy.write_all(mark.as_bytes()));
        written
            .and_then(|()| copy.write_all(content.text.as_bytes()))
            .map_err(failed)?;
        let older = self.keep_older(content)?;
        copy.persist(&path).map_err(|error| failed(error.error))?;
        Ok(older)
    }

    /// Gives what is in the copy's place another name, too, unless it is the same text.
    fn keep_older(&self, content: &Content) -> Result<Option<PathBuf>, FileError> {
        let path = self.copy_path();
        let is_same = |older: &Content| older.text == content.text && older.has_mark == content.has_mark;
        if fs::symlink_metadata(&path).is_err() || read(&path).is_ok_and(|older| older.as_ref().is_some_and(is_same)) {
            return Ok(None);
        }
        for number in 1..=MAX_COPIES {
            let name = self.older_path(number);
            // Unlike a renaming, this replaces nothing.
            match fs::hard_link(&path, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                linked => {
                    return linked
                        .map(|()| Some(name))
                        .map_err(|source| io_error("keep", &path, source));
                }
            }
        }
        Err(unfit(&path, "has too many older ones beside it"))
    }

    fn older_path(&self, number: usize) -> PathBuf {
        let mut name = OsString::from(self.copy_path());
        name.push(format!(".{number}"));
        name.into()
    }

    /// Removes the copy. An older one takes its place again.
    ///
    /// # Errors
    /// It can't be removed.
    pub fn remove_copy(&self) -> Result<(), FileError> {
        let path = self.copy_path();
        let numbered = (1..=MAX_COPIES).map(|number| self.older_path(number));
        let older = numbered.take_while(|path| fs::symlink_metadata(path).is_ok()).last();
        let removed = match older {
            Some(older) => fs::rename(older, &path),
            None => fs::remove_file(&path),
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error("remove", &path, error)),
            _ => Ok(()),
        }
    }
}

/// The path without links; of what isn't there, as far as it is.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match fs::canonicalize(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    if fs::symlink_metadata(&path).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it is a link that leads nowhere",
        ));
    }
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Ok(real_path(above)?.join(name)),
        _ => Ok(path),
    }
}

/// Reads a file by its real path; `None` if it isn't there.
fn read(path: &Path) -> Result<Option<Content>, FileError> {
    let failed = |source| io_error("read", path, source);
    // A pipe in its place doesn't make this wait.
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(unfit(path, "isn't a file"));
    }
    let caller = nix::unistd::geteuid();
    if !caller.is_root() && metadata.uid() != caller.as_raw() {
        return Err(unfit(path, "belongs to another user"));
    }
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_BYTES {
        return Err(unfit(path, "is longer than a settings file may be"));
    }
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(unfit(path, "isn't UTF-8"));
    };
    let (has_mark, text) = match text.strip_prefix(MARK) {
        Some(rest) => (true, rest.to_string()),
        None => (false, text),
    };
    Ok(Some(Content {
        text,
        has_mark,
        mode: metadata.mode() & 0o7777,
        owner: (metadata.uid(), metadata.gid()),
        identity: (metadata.dev(), metadata.ino()),
    }))
}

fn io_error(what: &'static str, path: &Path, source: io::Error) -> FileError {
    FileError::Io {
        what,
        path: path.to_path_buf(),
        source,
    }
}

fn unfit(path: &Path, why: &'static str) -> FileError {
    FileError::Unfit {
        path: path.to_path_buf(),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_is_replaced_with_its_mode_and_mark() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        fs::write(&path, "\u{feff}{}").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let file = SettingsFile::read(&path, None).unwrap();
        assert_eq!(file.text(), Some("{}"));
        file.keep_copy().unwrap();
        file.replace("{ }").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "\u{feff}{ }");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(file.copy_path()).unwrap(), "\u{feff}{}");
        assert_eq!(fs::metadata(file.copy_path()).unwrap().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_with_the_name_of_a_copy_is_kept_and_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        fs::write(&path, "{}").unwrap();
        let file = SettingsFile::read(&path, None).unwrap();
        let (copy, older) = (file.copy_path(), directory.path().join("a.json.stockade-backup.1"));
        fs::write(&copy, "mine").unwrap();
        assert_eq!(file.keep_copy().unwrap(), Some(older.clone()));
        assert_eq!(fs::read_to_string(&older).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&copy).unwrap(), "{}");
        // The same text once more needs no other name.
        assert_eq!(file.keep_copy().unwrap(), None);
        file.remove_copy().unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "mine");
        assert!(!older.exists());
        // A link stays a link, and what it leads to is left alone.
        fs::remove_file(&copy).unwrap();
        symlink("nowhere", &copy).unwrap();
        assert_eq!(file.keep_copy().unwrap(), Some(older.clone()));
        assert_eq!(fs::read_link(&older).unwrap(), Path::new("nowhere"));
        file.remove_copy().unwrap();
        file.remove_copy().unwrap();
        assert!(fs::symlink_metadata(&copy).is_err());
    }

    #[test]
    fn what_changed_in_the_meantime_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.json");
        let absent = SettingsFile::read(&path, None).unwrap();
        fs::write(&path, "{}").unwrap();
        let file = SettingsFile::read(&path, None).unwrap();
        fs::write(&path, "{\"other\": 1}").unwrap();
        for file in [file, absent] {
            assert!(file.replace("{\"ours\": 1}").is_err());
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"other\": 1}");
    }

    #[test]
    fn a_link_is_followed_where_the_user_made_it() {
        let directory = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(directory.path()).unwrap();
        let (project, target) = (top.join("project"), top.join("dotfiles.json"));
        fs::create_dir(&project).unwrap();
        fs::write(&target, "{}").unwrap();
        let link = project.join("a.json");
        symlink(&target, &link).unwrap();
        let file = SettingsFile::read(&link, None).unwrap();
        assert_eq!(file.link_target(), Some(&*target));
        file.replace("{ }").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "{ }");
        assert!(SettingsFile::read(&link, Some(&project)).is_err());
        assert!(SettingsFile::read(&link, Some(&top)).is_ok());
    }

    #[test]
    fn only_a_text_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("bytes"), b"\xff").unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        fs::create_dir(path("directory")).unwrap();
        for name in ["bytes", "dangling", "pipe", "directory"] {
            assert!(SettingsFile::read(&path(name), None).is_err(), "{name}");
        }
    }
}

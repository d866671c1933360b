//! Where a report goes. Opened before the launch, never through a link, written after the run's end.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Report;

/// Where a report goes: opened before the launch, so that no run can put a link in its place.
#[derive(Debug)]
pub struct Sink {
    file: File,
    /// The path, where it is a file of the caller's choosing.
    path: Option<PathBuf>,
}

impl Sink {
    /// Opens a file of the caller's choosing, never through a link, and empties it.
    pub fn file(path: &Path) -> io::Result<Sink> {
        let path = std::path::absolute(path)?;
        for above in path.ancestors().skip(1) {
            if std::fs::symlink_metadata(above).is_ok_and(|metadata| metadata.is_symlink()) {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
        }
        let file = open(&path)?;
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(Sink { file, path: Some(path) })
    }

    /// Takes a descriptor that the caller opened; the caller's own stays open.
    pub fn descriptor(number: i32) -> io::Result<Sink> {
        let file = File::from(crate::sys::duplicate(number)?);
        Ok(Sink { file, path: None })
    }

    /// Writes the document, in place of whatever the run may have put there meanwhile. The run is over: it can't
    /// interfere any more.
    pub fn write(mut self, report: &Report) -> io::Result<()> {
        if let Some(path) = &self.path
            && !is_same(&self.file, path)
        {
            std::fs::remove_file(path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            self.file = open(path)?;
        }
        if self.file.metadata()?.is_file() && self.file.stream_position()? == 0 {
            self.file.set_len(0)?;
        }
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

/// Whether the path still names the file that was opened.
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(opened), Ok(found)) => (opened.dev(), opened.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

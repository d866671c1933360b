//! Where a report goes. Opened before the launch, never through a link, written after the run's end.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Report;
use crate::sys::file::{self, OpenHow};

/// Where a report goes: opened before the launch, so that no run can put a link in its place.
#[derive(Debug)]
pub struct Sink {
    file: File,
    /// The directory and the name in it, where it is a file of the caller's choosing. The directory is held since the
    /// start: its path may lead elsewhere by the end of the run.
    place: Option<(File, CString)>,
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
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        };
        let directory = File::options()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(above)?;
        let name = CString::new(name.as_bytes())?;
        let file = open(&directory, &name)?;
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(Sink {
            file,
            place: Some((directory, name)),
        })
    }

    /// Takes a descriptor that the caller opened; the caller's own stays open.
    pub fn descriptor(number: i32) -> io::Result<Sink> {
        let file = File::from(crate::sys::duplicate(number)?);
        Ok(Sink { file, place: None })
    }

    /// Writes the document, in place of whatever the run may have put there meanwhile. The run is over: it can't
    /// interfere any more.
    pub fn write(self, report: &Report) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        self.write_text(&text)
    }

    /// The same for another document.
    pub fn write_text(mut self, text: &str) -> io::Result<()> {
        if let Some((directory, name)) = &self.place
            && !is_same(&self.file, directory, name)
        {
            file::remove(directory.as_fd(), name, 0).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
            self.file = open(directory, name)?;
        }
        if self.file.metadata()?.is_file() && self.file.stream_position()? == 0 {
            self.file.set_len(0)?;
        }
        self.file.write_all(text.as_bytes())
    }
}

fn open(directory: &File, name: &CStr) -> io::Result<File> {
    let how = OpenHow {
        flags: (libc::O_WRONLY | libc::O_CREAT | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC) as u64,
        mode: 0o600,
        resolve: 0,
    };
    file::open(directory.as_fd(), name, how).map(File::from)
}

/// Whether the name still means the file that was opened.
fn is_same(file: &File, directory: &File, name: &CStr) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), file::entry_status(directory.as_fd(), name)) {
        (Ok(opened), Ok(found)) => {
            let device = libc::makedev(found.stx_dev_major, found.stx_dev_minor);
            (opened.dev(), opened.ino()) == (device, found.stx_ino)
        }
        _ => false,
    }
}

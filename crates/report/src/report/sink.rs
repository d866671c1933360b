//! The destination of a report. Opened before the launch, never through a link, and written after the run's end through
//! that descriptor, never by name.
//!
//! A reader of the file sees it empty until the document is complete. Whatever the run did to the file meanwhile, it
//! contains the document afterwards and nothing else; a change of the name is reported.

use std::ffi::{CStr, CString, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{FallocateFlags, fallocate};

use super::Report;
use stockade_sys::file::{self, OpenHow};

/// Space reserved before the run, which may fill the file system.
const RESERVED: i64 = 512 * 1024;

/// The file that every audit trail has beside its database and its log.
const TRAIL_HEAD: &str = "audit.head";

/// A report's destination: opened before the launch, so that no run can replace it.
#[derive(Debug)]
pub struct Sink {
    file: File,
    /// The name, if it is a regular file of the caller's choosing. A device or FIFO is written directly.
    place: Option<FileIdentity>,
}

/// A file's name at the start.
#[derive(Debug)]
struct FileIdentity {
    /// Open since the start: its path may lead elsewhere by the end of the run.
    directory: File,
    name: CString,
}

/// Where a document was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// At the intended name.
    InPlace,
    /// Into the file that was opened, which the name no longer means. The kernel's name for it, which ends with
    /// ` (deleted)` if it has none.
    Elsewhere(PathBuf),
}

impl Sink {
    /// Opens a file of the caller's choosing, never through a link, and empties it. A file with a second hard link is refused.
    ///
    /// # Errors
    /// It can't be opened for writing, is a link, has a second hard link, is a database, or is beside the audit trail.
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
        if Path::new(&format!("/proc/self/fd/{}/{TRAIL_HEAD}", directory.as_raw_fd())).exists() {
            return Err(io::Error::other("it is beside the audit trail"));
        }
        let name = CString::new(name.as_bytes())?;
        let file = open(&directory, &name)?;
        let metadata = file.metadata()?;
        let is_regular = metadata.is_file();
        if is_regular {
            // Through its other name it could be rewritten after the run.
            if metadata.nlink() > 1 {
                return Err(io::Error::from_raw_os_error(libc::EMLINK));
            }
            if is_database(&file).unwrap_or(false) {
                return Err(io::Error::other("it is a database of SQLite, as the audit trail is"));
            }
            file.set_len(0)?;
            // Not every file system supports this, and one that is nearly full may hold the report all the same.
            let _ = fallocate(&file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, RESERVED);
        }
        let place = is_regular.then_some(FileIdentity { directory, name });
        Ok(Sink { file, place })
    }

    /// Removes the file that nothing was written to; one that holds something by now stays.
    pub fn discard(self) {
        let is_empty = |path: &PathBuf| {
            path.symlink_metadata()
                .is_ok_and(|file| file.is_file() && file.len() == 0)
        };
        if let Some(path) = self.path().filter(is_empty) {
            let _ = std::fs::remove_file(path);
        }
    }

    /// The kernel's name of the file, which a run must not change; `None` unless it is a regular file opened by name.
    pub fn path(&self) -> Option<PathBuf> {
        let place = self.place.as_ref()?;
        let above = kernel_name(&place.directory).ok()?;
        Some(above.join(OsString::from(std::ffi::OsStr::from_bytes(place.name.to_bytes()))))
    }

    /// Takes an existing file's access away from everybody but its owner, if that is the caller. A device or FIFO stays as it is.
    ///
    /// # Errors
    /// Others can read the file, and it belongs to another user or its mode can't be changed.
    pub fn make_private(&self) -> io::Result<()> {
        const OTHERS: u32 = 0o077;
        if self.place.is_none() {
            return Ok(());
        }
        let metadata = self.file.metadata()?;
        if metadata.mode() & OTHERS == 0 {
            return Ok(());
        }
        if metadata.uid() != nix::unistd::geteuid().as_raw() {
            return Err(io::Error::other(
                "it belongs to another user, and not only its owner has access",
            ));
        }
        self.file.set_permissions(Permissions::from_mode(0o600))
    }

    /// Takes a descriptor that the caller opened for writing; the caller's own stays open.
    ///
    /// # Errors
    /// There is no such descriptor, or it isn't open for writing.
    pub fn descriptor(number: i32) -> io::Result<Sink> {
        let file = File::from(stockade_sys::duplicate(number)?);
        if file::open_flags(file.as_fd())? & libc::O_ACCMODE == libc::O_RDONLY {
            return Err(io::Error::other("it isn't open for writing"));
        }
        Ok(Sink { file, place: None })
    }

    /// Writes the document. The run is over: it can't interfere any more.
    ///
    /// # Errors
    /// See [`Sink::write_text`].
    pub fn write(self, report: &Report) -> io::Result<Written> {
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        self.write_text(&text)
    }

    /// The same for another document.
    ///
    /// # Errors
    /// It can't be written completely.
    pub fn write_text(mut self, text: &str) -> io::Result<Written> {
        let Some(place) = &self.place else {
            self.file.write_all(text.as_bytes())?;
            return Ok(Written::InPlace);
        };
        // The run may have filled it, by another name or its own descriptor. Truncation comes last, since it releases
        // the reserved space.
        let written = self.file.write_all_at(text.as_bytes(), 0);
        let length = if written.is_ok() { text.len() } else { 0 };
        self.file.set_len(length as u64)?;
        written?;
        Ok(match is_same(&self.file, &place.directory, &place.name) {
            true => Written::InPlace,
            false => Written::Elsewhere(kernel_name(&self.file)?),
        })
    }
}

/// Whether a file is a database of SQLite, such as an audit trail, whose place no document takes. It is open for writing alone.
fn is_database(file: &File) -> io::Result<bool> {
    const BEGINS: &[u8; 16] = b"SQLite format 3\0";
    let mut begins = [0; BEGINS.len()];
    let read = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?.read_at(&mut begins, 0)?;
    Ok(read == BEGINS.len() && begins == *BEGINS)
}

fn kernel_name(file: &File) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn open(directory: &File, name: &CStr) -> io::Result<File> {
    let how = OpenHow {
        flags: (libc::O_WRONLY | libc::O_CREAT | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC) as u64,
        mode: 0o600,
        resolve: 0,
    };
    file::open(directory.as_fd(), name, how).map(File::from)
}

/// Whether the name still means the opened file.
fn is_same(file: &File, directory: &File, name: &CStr) -> bool {
    match (file.metadata(), file::entry_status(directory.as_fd(), name)) {
        (Ok(opened), Ok(found)) => {
            let device = libc::makedev(found.stx_dev_major, found.stx_dev_minor);
            (opened.dev(), opened.ino()) == (device, found.stx_ino)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The state of a document written after `meddle`.
    fn written(meddle: impl Fn(&Path)) -> (tempfile::TempDir, Written) {
        let place = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(place.path()).unwrap();
        let sink = Sink::file(&real.join("report")).unwrap();
        assert_eq!(sink.path(), Some(real.join("report")));
        meddle(&real);
        let written = sink.write_text("document").unwrap();
        (place, written)
    }

    #[test]
    fn the_file_holds_the_document_alone_whatever_was_written_to_it() {
        for meddle in [
            |place: &Path| fs::write(place.join("report"), "x".repeat(100_000)).unwrap(),
            |place: &Path| fs::hard_link(place.join("report"), place.join("other")).unwrap(),
            |place: &Path| fs::set_permissions(place.join("report"), fs::Permissions::from_mode(0o000)).unwrap(),
        ] {
            let (place, written) = written(meddle);
            assert_eq!(written, Written::InPlace);
            let report = place.path().join("report");
            fs::set_permissions(&report, fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(fs::read_to_string(report).unwrap(), "document");
        }
    }

    #[test]
    fn an_existing_file_becomes_its_owners_alone_and_anothers_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(place.path()).unwrap().join("page");
        for mode in [0o644, 0o666, 0o640, 0o600] {
            fs::write(&path, "before").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Sink::file(&path).unwrap().make_private().unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{mode:o}");
        }
        if !nix::unistd::geteuid().is_root() {
            return eprintln!("skipped: only root makes a file of another user's");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        assert!(Sink::file(&path).unwrap().make_private().is_err());
    }

    #[test]
    fn nothing_that_took_the_name_is_touched_and_it_is_told() {
        let (place, told) = written(|place| {
            fs::rename(place.join("report"), place.join("moved")).unwrap();
            fs::create_dir(place.join("report")).unwrap();
        });
        let moved = fs::canonicalize(place.path()).unwrap().join("moved");
        assert_eq!(told, Written::Elsewhere(moved.clone()));
        assert_eq!(fs::read_to_string(moved).unwrap(), "document");
        assert!(place.path().join("report").is_dir());

        let (place, told) = written(|place| {
            fs::write(place.join("precious"), "precious").unwrap();
            fs::remove_file(place.join("report")).unwrap();
            std::os::unix::fs::symlink("precious", place.join("report")).unwrap();
        });
        let Written::Elsewhere(name) = told else {
            panic!("{told:?}");
        };
        assert!(name.to_string_lossy().ends_with("report (deleted)"), "{name:?}");
        assert_eq!(fs::read_to_string(place.path().join("precious")).unwrap(), "precious");
    }

    #[test]
    fn a_directory_that_was_swapped_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(real.join("a")).unwrap();
        let sink = Sink::file(&real.join("a/report")).unwrap();
        fs::rename(real.join("a"), real.join("b")).unwrap();
        fs::create_dir(real.join("a")).unwrap();
        assert_eq!(sink.write_text("document").unwrap(), Written::InPlace);
        assert_eq!(fs::read_to_string(real.join("b/report")).unwrap(), "document");
        assert_eq!(fs::read_dir(real.join("a")).unwrap().count(), 0);
    }

    #[test]
    fn a_descriptor_is_written_where_it_stands() {
        use std::io::Seek;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before ").unwrap();
        let sink = Sink::descriptor(file.as_raw_fd()).unwrap();
        assert_eq!(sink.path(), None);
        sink.write_text("document").unwrap();
        file.rewind().unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "before document");
    }
}

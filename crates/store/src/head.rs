//! The head of the audit trail: position and hash of its newest row, in a file beside the database.
//!
//! It detects what a chain alone doesn't: rows missing at the end, whether they were removed or
//! SQLite silently dropped the end of a log whose checksum fails. Its lock also serialises the writers.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::chain::Hash;

/// Longer than any head.
const MOST: usize = 256;

/// The content of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// None, because there is no file, or an empty one whose first line isn't written yet.
    Absent,
    /// The newest row.
    At(u64, Hash),
    /// It was changed by a person or a disk error.
    Unreadable,
}

impl Head {
    /// The content of the file, if it exists.
    pub(super) fn of(path: &Path) -> io::Result<Head> {
        match open(path, Access::Looking) {
            Ok(file) => {
                file.lock_shared()?;
                read(&file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Head::Absent),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> Head {
        if text.is_empty() {
            return Head::Absent;
        }
        let parsed = || {
            let (seq, rest) = text.strip_suffix('\n')?.split_once(' ')?;
            let (hash, _) = rest.split_once(' ')?;
            let (seq, hash) = (seq.parse().ok()?, Hash::parse(hash)?);
            // It has its own checksum, and only one accepted form: a flipped digit must not pass for another position.
            (seq < u64::MAX >> 2 && line(seq, hash) == text).then_some(Head::At(seq, hash))
        };
        parsed().unwrap_or(Head::Unreadable)
    }
}

/// The file, locked for a change. Others wait until the value is dropped.
pub(super) struct Locked<'f> {
    file: &'f File,
}

impl<'f> Locked<'f> {
    pub(super) fn of(file: &'f File) -> io::Result<Locked<'f>> {
        file.lock()?;
        Ok(Locked { file })
    }

    pub(super) fn read(&self) -> io::Result<Head> {
        read(self.file)
    }

    /// Advances the head, never back; an unreadable head stays as it is, so that it is detected.
    pub(super) fn advance(&self, seq: u64, hash: Hash) -> io::Result<()> {
        match self.read()? {
            Head::Unreadable => Ok(()),
            Head::At(newest, _) if newest >= seq => Ok(()),
            // A later line is never shorter than the one before.
            Head::At(..) | Head::Absent => self.file.write_all_at(line(seq, hash).as_bytes(), 0),
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Explicitly: a process started meanwhile has copies of the descriptor, and the lock with them.
        let _ = self.file.unlock();
    }
}

/// The mode of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Looking,
    Writing,
}

/// Opens the file.
pub(super) fn open(path: &Path, access: Access) -> io::Result<File> {
    File::options()
        .read(true)
        .write(access == Access::Writing)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

fn read(file: &File) -> io::Result<Head> {
    let mut bytes = [0; MOST];
    let mut length = 0;
    while length < bytes.len() {
        match file.read_at(&mut bytes[length..], length as u64)? {
            0 => break,
            read => length += read,
        }
    }
    Ok(str::from_utf8(&bytes[..length]).map_or(Head::Unreadable, Head::parse))
}

fn line(seq: u64, hash: Hash) -> String {
    let check = blake3::hash(format!("{seq} {hash}").as_bytes()).to_hex();
    format!("{seq} {hash} {}\n", &check[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_never_goes_back_and_a_changed_one_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let opened = open(file.path(), Access::Writing).unwrap();
        let locked = Locked::of(&opened).unwrap();
        assert_eq!(locked.read().unwrap(), Head::Absent);
        let hash = Hash([7; 32]);
        for seq in [9, 10, 4] {
            locked.advance(seq, hash).unwrap();
        }
        assert_eq!(locked.read().unwrap(), Head::At(10, hash));
        drop(locked);
        let text = std::fs::read(file.path()).unwrap();
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            std::fs::write(file.path(), &changed).unwrap();
            assert_eq!(Head::of(file.path()).unwrap(), Head::Unreadable, "byte {at}");
        }
    }
}

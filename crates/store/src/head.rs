//! The head of the audit trail: place and hash of its newest row, in a file beside the database.
//!
//! It finds what a chain alone doesn't: rows that are missing at the end, be it because somebody took them or because
//! SQLite drops the end of a log whose checksum fails without a word. Its lock is also what makes writers wait in turn.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::chain::Hash;

/// Longer than any head.
const MOST: usize = 256;

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// Nothing yet, or nothing any more: there is no file, or an empty one whose first line is still to come.
    Absent,
    /// The newest row.
    At(u64, Hash),
    /// Somebody, or a disk, changed it.
    Unreadable,
}

impl Head {
    /// What the file says, where there is one.
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
            // Its own check, and only one way to write it: a flipped digit must not pass for another place.
            (seq < u64::MAX >> 2 && line(seq, hash) == text).then_some(Head::At(seq, hash))
        };
        parsed().unwrap_or(Head::Unreadable)
    }
}

/// The file, locked for a change. Others wait until the value is gone.
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

    /// Moves the head on, never back; a head that can't be read stays as it is, so that it is found.
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
        // By name: a process that was started meanwhile holds copies of the descriptor, and the lock with them.
        let _ = self.file.unlock();
    }
}

/// What it is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Looking,
    Writing,
}

/// Opens it.
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

//! The head of the audit trail: position and hash of its newest row, in a file beside the database.
//!
//! It detects what a chain alone doesn't: rows missing at the end, whether they were removed or SQLite silently dropped the
//! end of its own log, whose checksum fails. It is read and advanced under the lock of the trail's log.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::chain::Hash;

/// Longer than any head.
const MAX: usize = 256;

/// The content of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head {
    /// None, because there is no file, or an empty one. Where rows exist somebody emptied it: its first line is written before
    /// the first row.
    Absent,
    /// The newest row.
    At(u64, Hash),
    /// It was changed by a person or a disk error.
    Unreadable,
}

impl Head {
    /// The content of the file.
    pub(super) fn of(file: &File) -> io::Result<Head> {
        let mut bytes = [0; MAX];
        // A regular file is read in whole.
        let length = file.read_at(&mut bytes, 0)?;
        Ok(str::from_utf8(&bytes[..length]).map_or(Head::Unreadable, Head::parse))
    }

    /// Begins the head of a trail without a row.
    pub(super) fn begin(file: &File) -> io::Result<Head> {
        file.write_all_at(line(0, Hash::FIRST).as_bytes(), 0)?;
        Ok(Head::At(0, Hash::FIRST))
    }

    /// Advances the head, never back; one that is unreadable or missing stays so, so that it is detected.
    pub(super) fn advance(self, file: &File, (seq, hash): (u64, Hash)) -> io::Result<()> {
        match self {
            Head::Unreadable | Head::Absent => Ok(()),
            Head::At(newest, _) if newest >= seq => Ok(()),
            // A later line is never shorter than the one before.
            Head::At(..) => file.write_all_at(line(seq, hash).as_bytes(), 0),
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
        let head = || Head::of(file.as_file()).unwrap();
        head().advance(file.as_file(), (1, Hash([7; 32]))).unwrap();
        assert_eq!(head(), Head::Absent);
        assert_eq!(Head::begin(file.as_file()).unwrap(), head());
        let hash = Hash([7; 32]);
        for seq in [9, 10, 4] {
            head().advance(file.as_file(), (seq, hash)).unwrap();
        }
        assert_eq!(head(), Head::At(10, hash));
        let text = std::fs::read(file.path()).unwrap();
        for at in 0..text.len() {
            let mut changed = text.clone();
            changed[at] ^= 1;
            std::fs::write(file.path(), &changed).unwrap();
            assert_eq!(head(), Head::Unreadable, "byte {at}");
        }
    }
}

//! What git goes into by itself: submodules, by the entries of an index (gitformat-index(5)).

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Seek};

/// The places of an index that git goes into where a directory is there: submodules by their paths, and the trees of a sparse
/// index, which may hold more of them, by path and object.
type Links = BTreeSet<Vec<u8>>;

/// The length of an object's name, in bytes: SHA-1 and SHA-256. An index doesn't say which one its repository has.
const HASHES: [usize; 2] = [20, 32];
/// The kind of an entry that is a submodule.
const SUBMODULE: u32 = 0o160_000;
/// A path may be as long as the kernel's, and a tree's is that of a directory.
const LONGEST_PATH: usize = 4096;
/// An index with more isn't read further.
const MOST_LINKS: usize = 65_536;

/// Whether git goes into no more places by `new` than by `old`, the index before. Not where either isn't understood: a split
/// index has more entries in another file.
///
/// # Errors
/// Reading fails.
pub fn leads_no_further<F: Read + Seek>(old: Option<&mut F>, new: &mut F) -> io::Result<bool> {
    let Some(old) = old else {
        // Of a repository without an index it isn't known how it is to be read.
        let mut is_whole = false;
        for hash in HASHES {
            let (links, is_whole_so) = read(new, hash)?;
            if !links.is_empty() {
                return Ok(false);
            }
            is_whole |= is_whole_so;
        }
        return Ok(is_whole);
    };
    for hash in HASHES {
        if let (before, true) = read(old, hash)? {
            let (links, is_whole) = read(new, hash)?;
            return Ok(is_whole && links.is_subset(&before));
        }
    }
    Ok(false)
}

/// The links up to where it isn't understood, and whether all of it was.
fn read<F: Read + Seek>(index: &mut F, hash: usize) -> io::Result<(Links, bool)> {
    let length = index.seek(io::SeekFrom::End(0))?;
    index.rewind()?;
    let mut links = Links::new();
    let mut reader = Reader {
        input: BufReader::new(index).take(length),
        hash,
    };
    match reader.index(&mut links) {
        Ok(()) => Ok((links, true)),
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => {
            Ok((links, false))
        }
        Err(error) => Err(error),
    }
}

struct Reader<R> {
    input: io::Take<R>,
    hash: usize,
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

impl<R: BufRead> Reader<R> {
    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self) -> io::Result<u32> {
        self.bytes().map(u32::from_be_bytes)
    }

    fn vector(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn index(&mut self, links: &mut Links) -> io::Result<()> {
        if self.bytes()? != *b"DIRC" {
            return Err(malformed());
        }
        let version = self.number()?;
        if !(2..=4).contains(&version) {
            return Err(malformed());
        }
        let mut path = Vec::new();
        for _ in 0..self.number()? {
            self.entry(version, &mut path, links)?;
        }
        self.extensions()
    }

    /// Reads one entry. `path` is the one before, and this one afterwards.
    fn entry(&mut self, version: u32, path: &mut Vec<u8>, links: &mut Links) -> io::Result<()> {
        // Times, device and inode; owner and size.
        self.bytes::<24>()?;
        let kind = self.number()? & libc::S_IFMT;
        self.bytes::<12>()?;
        let object = self.vector(self.hash)?;
        let flags = u16::from_be_bytes(self.bytes()?);
        let is_extended = flags & 0x4000 != 0;
        if is_extended {
            self.bytes::<2>()?;
        }
        let fixed = 40 + self.hash + if is_extended { 4 } else { 2 };
        match version {
            4 => self.compressed_path(flags, path)?,
            _ => self.padded_path(flags, fixed, path)?,
        }
        let link = match kind {
            SUBMODULE => path.clone(),
            libc::S_IFDIR => [path.as_slice(), b"\0", &object].concat(),
            _ => return Ok(()),
        };
        if links.len() >= MOST_LINKS {
            return Err(malformed());
        }
        links.insert(link);
        Ok(())
    }

    /// The length of a path that isn't too long to be in the flags.
    fn length_in(flags: u16) -> Option<usize> {
        const MASK: u16 = 0xfff;
        let length = flags & MASK;
        (length != MASK).then_some(usize::from(length))
    }

    /// A path to its NUL.
    fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        self.input
            .by_ref()
            .take(LONGEST_PATH as u64 + 1)
            .read_until(0, &mut text)?;
        text.pop_if(|last| *last == 0).map(|_| text).ok_or_else(malformed)
    }

    fn padded_path(&mut self, flags: u16, fixed: usize, path: &mut Vec<u8>) -> io::Result<()> {
        let read = match Self::length_in(flags) {
            Some(length) => {
                *path = self.vector(length)?;
                fixed + length
            }
            None => {
                *path = self.text()?;
                // The first NUL of the padding is read.
                let end = fixed + path.len();
                return self.padding(7 - end % 8);
            }
        };
        self.padding(8 - read % 8)
    }

    fn padding(&mut self, length: usize) -> io::Result<()> {
        match self.vector(length)?.iter().all(|byte| *byte == 0) {
            true => Ok(()),
            false => Err(malformed()),
        }
    }

    /// Of a path that has its beginning from the one before: how much of that one's end it lacks, and what comes after.
    fn compressed_path(&mut self, flags: u16, path: &mut Vec<u8>) -> io::Result<()> {
        let mut lacks: usize = 0;
        loop {
            let [byte] = self.bytes()?;
            lacks = lacks
                .checked_mul(128)
                .and_then(|lacks| lacks.checked_add(usize::from(byte & 0x7f)))
                .filter(|lacks| *lacks <= LONGEST_PATH)
                .ok_or_else(malformed)?;
            if byte & 0x80 == 0 {
                break;
            }
            lacks += 1;
        }
        let kept = path.len().checked_sub(lacks).ok_or_else(malformed)?;
        path.truncate(kept);
        match Self::length_in(flags) {
            Some(length) => {
                let rest = length.checked_sub(kept).ok_or_else(malformed)?;
                path.extend(self.vector(rest)?);
                self.padding(1)
            }
            None => {
                path.extend(self.text()?);
                Ok(())
            }
        }
    }

    /// What comes behind the entries, up to the checksum. A split index has more entries in another file (`link`).
    fn extensions(&mut self) -> io::Result<()> {
        while self.input.limit() > self.hash as u64 {
            let name = self.bytes::<4>()?;
            let length = u64::from(self.number()?);
            if name == *b"link" || length > self.input.limit() {
                return Err(malformed());
            }
            let skipped = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
            if skipped != length {
                return Err(malformed());
            }
        }
        match self.input.limit() == self.hash as u64 {
            true => self.vector(self.hash).map(drop),
            false => Err(malformed()),
        }
    }
}

#[cfg(test)]
#[path = "git_index_tests.rs"]
mod tests;

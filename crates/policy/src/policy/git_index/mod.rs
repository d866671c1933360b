//! Files that redirect git: `HEAD`, and the submodules of an index (gitformat-index(5)).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::git::{GitSetting, Named, git_settings};

/// The mode of a submodule's entry.
const SUBMODULE: u32 = 0o160_000;
/// The longest path: the kernel's limit. A tree's path is that of a directory.
const MAX_PATH: usize = 4096;
/// The most bytes of links to keep; an index with more isn't parsed further.
const MAX_BYTES: usize = 1 << 22;
/// The lengths of SHA-1 and SHA-256, in bytes.
const HASHES: [usize; 2] = [20, 32];

/// Whether git accepts the text as a repository's `HEAD`: a branch, or an object (gitrepository-layout(5)).
pub fn is_head(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    let is_object = HASHES.map(|length| 2 * length).contains(&text.len()) && text.iter().all(u8::is_ascii_hexdigit);
    let branch = text.strip_prefix(b"ref: refs/");
    is_object || text.len() < 256 && branch.is_some_and(is_name_of_ref)
}

/// Whether git takes it for the name of a ref (git-check-ref-format(1)): so it leads to no file but one below `refs` and `logs`.
fn is_name_of_ref(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"~^:?*[\\".contains(byte);
    let is_part = |part: &[u8]| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock");
    let has = |two: &[u8]| name.windows(2).any(|pair| pair == two);
    name.iter().all(is_plain)
        && name.split(|byte| *byte == b'/').all(is_part)
        && !has(b"..")
        && !has(b"@{")
        && !name.ends_with(b".")
}

/// Whether a configuration names a work tree, or another file that may.
pub fn may_name_work_tree(config: &[u8]) -> bool {
    let settings = git_settings(config);
    settings
        .iter()
        .any(|setting| setting.name == "worktree" || setting.named() == Some(Named::Configuration))
}

/// The length of an object's name in a repository of this configuration, in bytes. `None` if it isn't known.
pub fn object_name_length(config: &[u8]) -> Option<usize> {
    let settings = git_settings(config);
    let is_it = |setting: &&GitSetting| setting.section == "extensions" && setting.name == "objectformat";
    match settings.iter().rfind(is_it).map(|setting| setting.value.as_str()) {
        None | Some("sha1") => Some(HASHES[0]),
        Some("sha256") => Some(HASHES[1]),
        Some(_) => None,
    }
}

/// A path that git enters if a directory is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Link {
    /// A submodule, by its path.
    Submodule(Vec<u8>),
    /// A tree of a sparse index, which may hold submodules, by its path and object.
    Tree(Vec<u8>, Vec<u8>),
}

/// The parts of an index that lead git elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    links: BTreeSet<Link>,
    /// Directories that contain an entry, except those of a sparse index; incomplete if there are too many.
    directories: BTreeSet<Vec<u8>>,
    /// For a split index, the part of the other file's name after `sharedindex.`.
    pub shared: Option<String>,
    /// Whether it has an entry of the requested name, or one below it.
    pub has_name: bool,
}

impl Index {
    /// Parses the index of a repository with object names of this length, and looks for a name. `None` if it can't be
    /// parsed.
    ///
    /// # Errors
    /// Reading fails.
    pub fn read<F: Read + Seek>(file: &mut F, hash: usize, name: Option<&Path>) -> io::Result<Option<Index>> {
        let length = file.seek(io::SeekFrom::End(0))?;
        let claimed = claimed_end(file, length, hash)?;
        file.rewind()?;
        let mut reader = IndexReader {
            input: BufReader::new(file).take(length),
            hash,
            left: MAX_BYTES,
            left_for_directories: 4 * MAX_BYTES,
            length,
            starts: Vec::new(),
            end: 0,
            end_told_at: None,
            name: name.map(|name| name.as_os_str().as_bytes()),
            index: Index {
                links: BTreeSet::new(),
                directories: BTreeSet::new(),
                shared: None,
                has_name: false,
            },
        };
        match reader.index() {
            Ok(()) if claimed.is_some_and(|claimed| reader.end_told_at != Some(claimed)) => Ok(None),
            Ok(()) => Ok(Some(reader.index)),
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Adds the links of the other file of a split index.
    pub fn with(mut self, shared: Index) -> Index {
        self.links.extend(shared.links);
        self.directories.extend(shared.directories);
        self.has_name |= shared.has_name;
        self
    }

    /// The submodules that git enters by this index, and not by the previous one. `None` if that is unknown, since a
    /// sparse index has another tree.
    pub fn submodules_beyond(&self, before: Option<&Index>) -> Option<Vec<PathBuf>> {
        let is_new = |link: &&Link| before.is_none_or(|before| !before.links.contains(link));
        let path = |link: &Link| match link {
            Link::Submodule(path) => Some(PathBuf::from(OsStr::from_bytes(path))),
            Link::Tree(..) => None,
        };
        self.links.iter().filter(is_new).map(path).collect()
    }

    /// The submodules, and the trees that may hold more of them.
    pub fn links(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().map(Link::path)
    }

    /// The links at or below a directory, and the directories with entries there: paths relative to it.
    pub fn places(&self, directory: &Path) -> impl Iterator<Item = &Path> {
        let bytes = directory.as_os_str().as_bytes();
        let directories = self.directories.range(bytes.to_vec()..);
        let directories = directories
            .take_while(move |name| name.starts_with(bytes))
            .map(|name| as_path(name));
        self.links()
            .chain(directories)
            .filter_map(move |place| place.strip_prefix(directory).ok())
    }
}

impl Link {
    fn path(&self) -> &Path {
        match self {
            Link::Submodule(path) | Link::Tree(path, _) => as_path(path),
        }
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

struct IndexReader<'a, R> {
    input: io::Take<R>,
    /// The length of an object's name, in bytes.
    hash: usize,
    /// The length of the whole file, in bytes.
    length: u64,
    /// Where the entries start, and whether each one's path needs no previous one.
    starts: Vec<(u32, bool)>,
    /// Where the last entry ends.
    end: u64,
    /// The position of the extension that gives the end.
    end_told_at: Option<u64>,
    /// The name to look for.
    name: Option<&'a [u8]>,
    /// Bytes of links that may still be kept.
    left: usize,
    left_for_directories: usize,
    index: Index,
}

/// The position of the end-of-entries extension where git looks for it, if present: in the last bytes before the
/// checksum, whatever they belong to.
fn claimed_end<F: Read + Seek>(file: &mut F, length: u64, hash: usize) -> io::Result<Option<u64>> {
    let behind = (8 + 4 + 2 * hash) as u64;
    let Some(place) = length.checked_sub(behind) else {
        return Ok(None);
    };
    let mut name = [0; 4];
    file.seek(io::SeekFrom::Start(place))?;
    file.read_exact(&mut name)?;
    Ok((name == *b"EOIE").then_some(place))
}

/// Whether a path only descends. Git takes the paths of an index as they are.
fn is_plain(path: &[u8]) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let mut parts = path.split(|byte| *byte == b'/');
    parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git")) && !path.contains(&0)
}

fn malformed() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

impl<R: BufRead> IndexReader<'_, R> {
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

    fn index(&mut self) -> io::Result<()> {
        if self.bytes()? != *b"DIRC" {
            return Err(malformed());
        }
        let version = self.number()?;
        if !(2..=4).contains(&version) {
            return Err(malformed());
        }
        let mut path = Vec::new();
        for _ in 0..self.number()? {
            self.entry(version, &mut path)?;
        }
        self.end = self.position();
        self.extensions()
    }

    fn position(&self) -> u64 {
        self.length - self.input.limit()
    }

    /// Parses one entry. `path` is that of the previous entry, and afterwards that of this one.
    fn entry(&mut self, version: u32, path: &mut Vec<u8>) -> io::Result<()> {
        let start = u32::try_from(self.position()).map_err(|_| malformed())?;
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
        let stands_alone = match version {
            4 => self.compressed_path(flags, path)? == 0,
            _ => self.padded_path(flags, fixed, path).map(|()| true)?,
        };
        self.starts.push((start, stands_alone));
        let rest = self.name.and_then(|name| path.strip_prefix(name));
        self.index.has_name |= rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')));
        self.keep_directories(path);
        // Git reads a path up to its first NUL. In a split index an entry without a path replaces one of the other file.
        if !matches!(kind, SUBMODULE | libc::S_IFDIR) {
            return Ok(());
        }
        if !is_plain(path) {
            return Err(malformed());
        }
        self.left = self.left.checked_sub(path.len() + object.len()).ok_or_else(malformed)?;
        self.index.links.insert(match kind {
            SUBMODULE => Link::Submodule(path.clone()),
            _ => Link::Tree(path.clone(), object),
        });
        Ok(())
    }

    /// Keeps the directories above a path. Usually the next entry has the same ones.
    fn keep_directories(&mut self, path: &[u8]) {
        let mut path = path;
        while let Some(end) = path.iter().rposition(|byte| *byte == b'/') {
            path = &path[..end];
            if self.index.directories.contains(path) {
                return;
            }
            let Some(left) = self.left_for_directories.checked_sub(path.len()) else {
                return;
            };
            self.left_for_directories = left;
            self.index.directories.insert(path.to_vec());
        }
    }

    /// The length of a path, if it is short enough for the flags.
    fn length_in(flags: u16) -> Option<usize> {
        const MASK: u16 = 0xfff;
        let length = flags & MASK;
        (length != MASK).then_some(usize::from(length))
    }

    /// Reads a path up to its NUL.
    fn text(&mut self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        self.input.by_ref().take(MAX_PATH as u64 + 1).read_until(0, &mut text)?;
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
                // The first NUL of the padding is already consumed.
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

    /// Reads a path compressed against the previous one: how many bytes to cut from that one's end, and the bytes to
    /// append. Returns the number of bytes kept from it.
    fn compressed_path(&mut self, flags: u16, path: &mut Vec<u8>) -> io::Result<usize> {
        let mut lacks: usize = 0;
        loop {
            let [byte] = self.bytes()?;
            lacks = lacks
                .checked_mul(128)
                .and_then(|lacks| lacks.checked_add(usize::from(byte & 0x7f)))
                .filter(|lacks| *lacks <= MAX_PATH)
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
                self.padding(1)?;
            }
            None => path.extend(self.text()?),
        }
        Ok(kept)
    }

    /// Parses the extensions, up to the checksum. A split index has more entries in another file (`link`). When git
    /// reads with several threads, it relies on extensions for the entries' end (`EOIE`) and blocks (`IEOT`).
    fn extensions(&mut self) -> io::Result<()> {
        while self.input.limit() > self.hash as u64 {
            let start = self.position();
            let name = self.bytes::<4>()?;
            let mut length = u64::from(self.number()?);
            if name == *b"link" {
                length = length.checked_sub(self.hash as u64).ok_or_else(malformed)?;
                let shared = self.vector(self.hash)?;
                let is_named = shared.iter().any(|byte| *byte != 0);
                let shared = is_named.then(|| shared.iter().map(|byte| format!("{byte:02x}")).collect());
                if self.index.shared.is_some() {
                    return Err(malformed());
                }
                self.index.shared = shared;
            } else if name == *b"EOIE" {
                self.end_told_at = Some(start);
                length = length.checked_sub(4).ok_or_else(malformed)?;
                if u64::from(self.number()?) != self.end {
                    return Err(malformed());
                }
            } else if name == *b"IEOT" {
                self.blocks(length)?;
                length = 0;
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

    /// Checks the start and the number of entries of each block against the entries that were read, in order.
    fn blocks(&mut self, length: u64) -> io::Result<()> {
        let mut next = 0;
        self.number()?;
        for _ in 0..length.checked_sub(4).ok_or_else(malformed)? / 8 {
            let (start, count) = (self.number()?, self.number()?);
            if self.starts.get(next) != Some(&(start, true)) {
                return Err(malformed());
            }
            next = usize::try_from(count)
                .ok()
                .and_then(|count| next.checked_add(count))
                .ok_or_else(malformed)?;
        }
        match next == self.starts.len() && length % 8 == 4 {
            true => Ok(()),
            false => Err(malformed()),
        }
    }
}

#[cfg(test)]
mod tests;

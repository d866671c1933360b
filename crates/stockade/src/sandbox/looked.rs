//! Directories that were looked through before a start and hold nothing closed, kept in the state directory, so that a tree
//! that was seen before costs one statx(2) a directory.
//!
//! A directory's entries can't change without its change time (inode(7)), which no program sets. One that changed in the
//! last moments isn't kept: its time may not tell the next change. The file's name says for which denials it holds.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::policy::{Access, DenialRule, FINGERPRINT, Policy};

/// The directory of these files.
const DIRECTORY: &str = "looked";
/// The most trees that are kept. The oldest are forgotten.
const MAX_TREES: usize = 64;
/// The longest file.
const MAX_LENGTH: usize = 4 << 20;
/// The first bytes of a file, with the version of its form.
const MAGIC: &[u8] = b"stockade looked 1\n";
/// A directory is kept once it has stayed as it is for so long, in seconds: file systems count in steps of up to two.
const SETTLED: i64 = 4;

/// What tells that a directory is the same and has the same entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    changed: (i64, u32),
}

impl Stamp {
    /// The same at a path relative to a directory. An empty one means the directory.
    pub(super) fn at(directory: BorrowedFd<'_>, path: &Path) -> Option<Stamp> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let status = stockade_sys::file::entry_status(directory, &path).ok()?;
        let is_directory = u32::from(status.stx_mode) & libc::S_IFMT == libc::S_IFDIR;
        is_directory.then_some(Stamp {
            device: u64::from(status.stx_dev_major) << 32 | u64::from(status.stx_dev_minor),
            inode: status.stx_ino,
            changed: (status.stx_ctime.tv_sec, status.stx_ctime.tv_nsec),
        })
    }

    /// Whether the next change of the directory will show.
    pub(super) fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.is_ok_and(|now| i64::try_from(now.as_secs()).is_ok_and(|now| self.changed.0.saturating_add(SETTLED) < now))
    }
}

/// A directory of a tree: nothing closed is in it if it has a stamp, and it is unknown if not.
#[derive(Debug)]
struct Node {
    name: OsString,
    stamp: Option<Stamp>,
    /// The number of nodes up to the end of those below it.
    end: usize,
}

/// A tree's directories, each before those below it.
#[derive(Debug, Default)]
pub(super) struct Looked {
    nodes: Vec<Node>,
}

impl Looked {
    /// What is known of a tree under a key.
    pub(super) fn load(state: &Path, key: &str) -> Looked {
        let text = read(state, key, MAX_LENGTH);
        text.and_then(|text| parse(&text)).unwrap_or_default()
    }

    /// The number of directories.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The tree's top, if anything is known.
    pub(super) fn top(&self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    /// The stamp of a directory.
    pub(super) fn stamp(&self, node: usize) -> Option<Stamp> {
        self.nodes[node].stamp
    }

    /// The directories in a directory.
    pub(super) fn below(&self, node: usize) -> impl Iterator<Item = (usize, &OsStr)> {
        let end = self.nodes[node].end;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let at = (next < end).then_some(next)?;
            next = self.nodes[at].end;
            Some((at, self.nodes[at].name.as_os_str()))
        })
    }
}

/// What is known of a tree after it was looked through.
#[derive(Debug, Default)]
pub(super) struct Seen<'k> {
    directories: Vec<(usize, Cow<'k, OsStr>, Option<Stamp>)>,
    /// Whether a stamp is new.
    pub(super) is_news: bool,
}

impl<'k> Seen<'k> {
    /// Adds a directory. Those in it follow, one deeper.
    pub(super) fn add(&mut self, depth: usize, name: Cow<'k, OsStr>, stamp: Option<Stamp>) {
        self.directories.push((depth, name, stamp));
    }

    /// It as the text of a file.
    pub(super) fn text(&self) -> Vec<u8> {
        let mut text = MAGIC.to_vec();
        for (depth, name, stamp) in &self.directories {
            let before = match stamp {
                Some(stamp) => format!(
                    "{depth} {:x} {:x} {} {} ",
                    stamp.device, stamp.inode, stamp.changed.0, stamp.changed.1
                ),
                None => format!("{depth} - "),
            };
            text.extend(before.as_bytes());
            text.extend(name.as_bytes());
            text.push(0);
        }
        text
    }
}

/// What is kept under a key.
pub(super) fn read(state: &Path, key: &str, longest: usize) -> Option<Vec<u8>> {
    let text = fs::read(state.join(DIRECTORY).join(key)).ok()?;
    (text.len() <= longest).then_some(text)
}

/// Keeps something under a key. Of two runs that start at the same time either's is true.
///
/// # Errors
/// The file can't be written.
pub(super) fn write(state: &Path, key: &str, text: &[u8]) -> io::Result<()> {
    crate::custody::make_private(state)?;
    let directory = state.join(DIRECTORY);
    if !directory.join(key).exists() {
        crate::custody::make_private(&directory)?;
        forget_oldest(&directory);
    }
    let mut file = tempfile::NamedTempFile::new_in(&directory)?;
    file.write_all(text)?;
    file.persist(directory.join(key))?;
    Ok(())
}

fn forget_oldest(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut kept: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    kept.sort();
    let many = kept.len().saturating_sub(MAX_TREES - 1);
    for (_, path) in kept.drain(..many) {
        let _ = fs::remove_file(path);
    }
}

/// What is closed to reading, by this program's lists.
pub(super) struct Closings(blake3::Hash);

impl Closings {
    pub(super) fn of(policy: &Policy) -> Closings {
        let denials: Vec<&DenialRule> = policy
            .denials
            .iter()
            .filter(|denial| denial.access.intersects(Access::READ))
            .collect();
        let grants: Vec<_> = policy.grants.iter().filter(|grant| grant.exempt).collect();
        let all = (env!("CARGO_PKG_VERSION"), FINGERPRINT, denials, grants);
        Closings(blake3::hash(&serde_json::to_vec(&all).expect("numbers and strings")))
    }

    /// The name of the file on something that holds for these closings.
    pub(super) fn key(&self, what: &impl Serialize) -> String {
        let what = serde_json::to_vec(what).expect("numbers and strings");
        let mut hash = blake3::Hasher::new();
        hash.update(self.0.as_bytes()).update(&what);
        hash.finalize().to_hex()[..32].to_string()
    }
}

fn parse(text: &[u8]) -> Option<Looked> {
    let mut nodes: Vec<Node> = Vec::new();
    // The nodes above, each with its depth.
    let mut above: Vec<(usize, usize)> = Vec::new();
    let close = |nodes: &mut Vec<Node>, above: &mut Vec<(usize, usize)>, depth: usize| {
        while let Some((at, _)) = above.pop_if(|(_, open)| *open >= depth) {
            let end = nodes.len();
            nodes[at].end = end;
        }
    };
    for record in text.strip_prefix(MAGIC)?.split(|byte| *byte == 0) {
        if record.is_empty() {
            continue;
        }
        let (depth, rest) = word(record)?;
        let depth: usize = depth.parse().ok()?;
        let (first, rest) = word(rest)?;
        let (stamp, name) = match first {
            "-" => (None, rest),
            device => {
                let (inode, rest) = word(rest)?;
                let (seconds, rest) = word(rest)?;
                let (nanoseconds, rest) = word(rest)?;
                let stamp = Stamp {
                    device: u64::from_str_radix(device, 16).ok()?,
                    inode: u64::from_str_radix(inode, 16).ok()?,
                    changed: (seconds.parse().ok()?, nanoseconds.parse().ok()?),
                };
                (Some(stamp), rest)
            }
        };
        close(&mut nodes, &mut above, depth);
        let is_next = above
            .last()
            .map_or(depth == 0 && nodes.is_empty(), |(_, over)| depth == over + 1);
        if !is_next {
            return None;
        }
        above.push((nodes.len(), depth));
        nodes.push(Node {
            name: OsString::from_vec(name.to_vec()),
            stamp,
            end: 0,
        });
    }
    close(&mut nodes, &mut above, 0);
    Some(Looked { nodes })
}

fn word(text: &[u8]) -> Option<(&str, &[u8])> {
    let at = text.iter().position(|byte| *byte == b' ')?;
    Some((std::str::from_utf8(&text[..at]).ok()?, &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    fn names(looked: &Looked, node: usize) -> Vec<(String, bool)> {
        let below = looked.below(node);
        below
            .map(|(at, name)| (name.to_string_lossy().into_owned(), looked.stamp(at).is_some()))
            .collect()
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let state = tempfile::tempdir().unwrap();
        let stamp = Stamp::at(std::fs::File::open(state.path()).unwrap().as_fd(), Path::new(""));
        assert!(stamp.is_some() && !stamp.unwrap().is_settled());
        let mut seen = Seen::default();
        for (depth, name, stamp) in [
            (0, &b""[..], stamp),
            (1, b"a b\n", stamp),
            (2, b"\xff", None),
            (1, b"- c", None),
        ] {
            seen.add(depth, OsStr::from_bytes(name).into(), stamp);
        }
        write(state.path(), "key", &seen.text()).unwrap();
        let looked = Looked::load(state.path(), "key");
        assert_eq!(looked.stamp(looked.top().unwrap()), stamp);
        assert_eq!(names(&looked, 0), [("a b\n".into(), true), ("- c".into(), false)]);
        assert_eq!(names(&looked, 1).len(), 1);
        assert!(Looked::load(state.path(), "other").top().is_none());
    }

    #[test]
    fn what_is_damaged_is_unknown() {
        for text in [
            &b""[..],
            b"stockade looked 2\n0 - \0",
            b"stockade looked 1\n1 - a\0",
            b"stockade looked 1\n0 - \x002 - a\0",
            b"stockade looked 1\n0 - \x000 - \0",
            b"stockade looked 1\n0 1 2 3 \0",
            b"stockade looked 1\n0 zz 2 3 4 \0",
            b"stockade looked 1\nx\0",
        ] {
            assert!(parse(text).is_none(), "{text:?}");
        }
        assert_eq!(parse(b"stockade looked 1\n").unwrap().count(), 0);
    }

    #[test]
    fn the_oldest_trees_are_forgotten() {
        let state = tempfile::tempdir().unwrap();
        for number in 0..MAX_TREES + 3 {
            write(state.path(), &number.to_string(), &Seen::default().text()).unwrap();
        }
        assert_eq!(fs::read_dir(state.path().join(DIRECTORY)).unwrap().count(), MAX_TREES);
    }
}

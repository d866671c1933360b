//! Whether a git repository holds a file's very content as a blob: then the file is no secret to a run that may read the
//! repository, as `git cat-file` shows the same.
//!
//! The run may write the repository and watch what is read of it. So a pack's index is read from end to end, whatever is looked
//! for: by the pages of it that are in memory (mincore(2)) a run could learn the hash of a secret byte by byte, and write an index
//! that lists it. Nothing is opened by a link, and nothing but directories and regular files.
//! Sources: gitrepository-layout(5), gitformat-pack(5), and git-hash-object(1) for the hash.

use std::cell::OnceCell;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

use crate::plan::Links;
use crate::policy::{Access, Matcher};
use crate::ruleset::pin;
use stockade_sys::file::{self, OpenHow, each_entry};

/// The longest file that is looked up.
const MAX_LENGTH: u64 = 1 << 20;
/// The most packs that are looked through, and the most bytes of their indexes: of about a million objects.
const MAX_PACKS: usize = 64;
const MAX_BYTES: u64 = 32 << 20;
/// The first bytes of a pack's index of version 2.
const INDEX: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// The length of an object's name: only SHA-1 repositories are known.
const NAME: usize = 20;

/// A repository's objects.
#[derive(Debug)]
pub struct Objects {
    directory: OwnedFd,
    /// The packs' indexes, read when the first content is looked for.
    indexes: OnceCell<Vec<Vec<u8>>>,
}

impl Objects {
    /// Opens a directory of objects, to which no link may lead.
    pub fn open(directory: &Path) -> Option<Objects> {
        let directory = pin(directory, Links::Refused).ok()?.into();
        let indexes = OnceCell::new();
        Some(Objects { directory, indexes })
    }

    /// Whether they hold the content of the file at a path. A link isn't followed.
    pub fn hold_file(&self, path: &Path) -> bool {
        open_regular(path).and_then(|file| self.hold(&file)).unwrap_or(false)
    }

    /// Whether they hold the content of a file that is open for reading, at its start.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn hold(&self, file: &File) -> io::Result<bool> {
        let length = file.metadata()?.len();
        if length > MAX_LENGTH {
            return Ok(false);
        }
        let mut content = Vec::with_capacity(length as usize);
        file.take(MAX_LENGTH + 1).read_to_end(&mut content)?;
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", content.len()));
        hash.update(&content);
        Ok(self.have(&hash.finalize().into()))
    }

    fn have(&self, name: &[u8; NAME]) -> bool {
        let indexes = self.indexes.get_or_init(|| read_indexes(self.directory.as_fd()));
        let is_packed = indexes.iter().any(|index| is_listed(index, name) == Some(true));
        is_packed || self.have_loose(name)
    }

    fn have_loose(&self, name: &[u8; NAME]) -> bool {
        let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = format!("{}/{}", &hex[..2], &hex[2..]);
        // Not opened for reading, which the run could watch.
        let found = open_inside(self.directory.as_fd(), path.as_bytes(), libc::O_PATH);
        found.is_ok_and(|found| is_regular(found.as_fd()))
    }
}

/// The repository that was opened last: files that lie together are mostly of one.
#[derive(Debug, Default)]
pub struct LastOpened(Option<(PathBuf, Option<Objects>)>);

impl LastOpened {
    /// Its objects, and whether it was opened now.
    pub fn open(&mut self, directory: PathBuf) -> (Option<&Objects>, bool) {
        let is_new = self.0.as_ref().is_none_or(|(last, _)| *last != directory);
        if is_new {
            let objects = Objects::open(&directory);
            self.0 = Some((directory, objects));
        }
        (self.0.as_ref().and_then(|(_, objects)| objects.as_ref()), is_new)
    }
}

/// The directory of objects of the repository around a path that the lists of secrets alone close, if the run may read it.
pub fn objects_for(matcher: &Matcher<'_>, path: &Path) -> Option<PathBuf> {
    let objects = matcher
        .is_secret_by_list(path)
        .then(|| objects_around(path))
        .flatten()?;
    matcher.decide(Access::READ, &objects).is_allowed().then_some(objects)
}

/// The directory of objects of the repository that a file is in: of the nearest directory with a `.git`.
fn objects_around(file: &Path) -> Option<PathBuf> {
    let git = file.ancestors().skip(1).map(|above| above.join(".git"));
    let git = git.into_iter().find(|git| git.symlink_metadata().is_ok())?;
    let directory = match git.symlink_metadata().ok()?.is_dir() {
        true => git,
        false => common_directory(&git)?,
    };
    let objects = directory.join("objects");
    let is_directory = objects.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_directory.then_some(objects)
}

/// The repository of a linked work tree, by the `.git` file in it (gitrepository-layout(5), gitdir and commondir).
fn common_directory(file: &Path) -> Option<PathBuf> {
    let read = |path: &Path| {
        let mut text = Vec::new();
        open_regular(path).ok()?.take(4096).read_to_end(&mut text).ok()?;
        Some(text)
    };
    let path = |text: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(text.trim_ascii_end()));
    let own = file.parent()?.join(path(read(file)?.strip_prefix(b"gitdir: ")?));
    let common = own.join(path(&read(&own.join("commondir"))?));
    fs::canonicalize(common).ok()
}

/// Opens a regular file for reading; a link isn't followed, and a pipe isn't waited for.
fn open_regular(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match is_regular(file.as_fd()) {
        true => Ok(file),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Opens something in a directory, to which no link leads.
fn open_inside(base: BorrowedFd<'_>, path: &[u8], flags: i32) -> io::Result<OwnedFd> {
    let how = OpenHow {
        resolve: libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH,
        ..OpenHow::existing(flags | libc::O_NOFOLLOW)
    };
    file::open(base, &CString::new(path)?, how)
}

fn is_regular(object: BorrowedFd<'_>) -> bool {
    file::status(object).is_ok_and(|status| status.st_mode & libc::S_IFMT == libc::S_IFREG)
}

/// The indexes of the packs in a directory of objects.
fn read_indexes(objects: BorrowedFd<'_>) -> Vec<Vec<u8>> {
    let (mut indexes, mut bytes) = (Vec::new(), MAX_BYTES);
    let Ok(packs) = open_inside(objects, b"pack", libc::O_DIRECTORY) else {
        return indexes;
    };
    let mut read = |name: &[u8]| -> io::Result<()> {
        let index = File::from(open_inside(packs.as_fd(), name, libc::O_NONBLOCK)?);
        let length = index.metadata()?.len();
        if is_regular(index.as_fd()) && length <= bytes {
            let mut text = Vec::with_capacity(length as usize);
            index.take(length).read_to_end(&mut text)?;
            bytes -= length;
            indexes.push(text);
        }
        Ok(())
    };
    let mut left = MAX_PACKS;
    let _ = each_entry(packs.as_fd(), |name, _| {
        if name.ends_with(b".idx") {
            // One that can't be read lists nothing.
            let _ = read(name);
            left -= 1;
        }
        match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    indexes
}

/// Whether a pack's index lists an object: a table of counts by first byte, and the names in order. `None` if it is damaged.
fn is_listed(index: &[u8], name: &[u8; NAME]) -> Option<bool> {
    let rest = index.strip_prefix(&INDEX)?;
    let (table, names) = rest.split_at_checked(4 * 256)?;
    let count = |byte: u8| {
        let count = table.as_chunks::<4>().0.get(usize::from(byte))?;
        usize::try_from(u32::from_be_bytes(*count)).ok()
    };
    let (from, to) = (name[0].checked_sub(1).map_or(Some(0), count)?, count(name[0])?);
    let names = names.as_chunks::<NAME>().0.get(from..to)?;
    Some(names.binary_search(name).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_repository_holds_what_git_says_it_does() {
        // Not in `/tmp`: runs of other tests read there by themselves, and would tell of the `.env`.
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]);
            command
                .args(words)
                .current_dir(place.path())
                .output()
                .is_ok_and(|done| done.status.success())
        };
        if !git(&["init", "--quiet"]) {
            return eprintln!("skipped: there is no git here");
        }
        let at = |name: &str| place.path().join(name);
        let is_held = |name: &str| {
            let objects = objects_around(&at(name)).unwrap();
            Objects::open(&objects).unwrap().hold_file(&at(name))
        };
        for number in 0..300 {
            fs::write(at(&format!("f{number}")), format!("{number}\n")).unwrap();
        }
        fs::write(at(".env"), "A=1\n").unwrap();
        fs::create_dir(at("sub")).unwrap();
        assert!(!is_held(".env"));
        assert!(git(&["add", "."]) && is_held(".env") && is_held("f7"));
        assert!(git(&["commit", "--quiet", "-m", "x"]) && git(&["gc", "--quiet"]));
        assert!(fs::read_dir(at(".git/objects/pack")).unwrap().count() > 1);
        assert!((0..300).all(|number| is_held(&format!("f{number}"))) && is_held(".env"));
        fs::write(at("sub/x"), "A=1\n").unwrap();
        assert!(is_held("sub/x"));
        fs::write(at(".env"), "A=2\n").unwrap();
        assert!(!is_held(".env"));
        assert!(git(&["worktree", "add", "--quiet", "tree"]));
        assert!(is_held("tree/.env"));
        assert!(objects_around(Path::new("/proc/self/x")).is_none());
    }

    #[test]
    fn nothing_is_read_by_a_link_or_waited_for() {
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        let place = place.path().canonicalize().unwrap();
        let at = |name: &str| place.join(name);
        fs::create_dir_all(at("objects/pack")).unwrap();
        fs::write(at("x"), "").unwrap();
        let held = || Objects::open(&at("objects")).unwrap().hold_file(&at("x"));
        // Of nothing.
        fs::create_dir_all(at("other/e6")).unwrap();
        fs::write(at("other/e6/9de29bb2d1d6434b8b29ae775ad8c2e48c5391"), "").unwrap();
        std::os::unix::fs::symlink(at("other/e6"), at("objects/e6")).unwrap();
        for pipe in ["objects/pack/a.idx", "pipe"] {
            nix::unistd::mkfifo(&at(pipe), nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
        assert!(!held() && !Objects::open(&at("objects")).unwrap().hold_file(&at("pipe")));
        fs::remove_file(at("objects/e6")).unwrap();
        fs::rename(at("other/e6"), at("objects/e6")).unwrap();
        assert!(held());
        std::os::unix::fs::symlink(at("objects"), at("link")).unwrap();
        assert!(Objects::open(&at("link")).is_none());
    }
}

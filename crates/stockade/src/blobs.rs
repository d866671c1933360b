//! Whether a git repository holds a file's very content as a blob: then the file is no secret to a run that may read the
//! repository, as `git cat-file` shows the same.
//!
//! The hash of the content proves it, which only that content has; an index proves nothing, since a run may write it.
//! Sources: gitrepository-layout(5), gitformat-pack(5), and git-hash-object(1) for the hash.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

use crate::policy::{Access, Matcher};

/// The longest file that is looked up.
const LONGEST: u64 = 1 << 20;
/// The most packs that are looked through.
const MOST_PACKS: usize = 64;
/// The first bytes of a pack's index of version 2.
const INDEX: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// The length of an object's name: only SHA-1 repositories are known.
const NAME: usize = 20;

/// The objects of the repository around a path that the lists of secrets alone close, if the run may read them.
pub fn objects_for(matcher: &Matcher<'_>, path: &Path) -> Option<PathBuf> {
    let objects = matcher
        .is_secret_by_list(path)
        .then(|| objects_around(path))
        .flatten()?;
    matcher.decide(Access::READ, &objects).is_allowed().then_some(objects)
}

/// Whether a directory of objects holds the content of the file at a path. A link isn't followed.
pub fn holds_file(objects: &Path, path: &Path) -> bool {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    file.and_then(|file| holds(objects, &file)).unwrap_or(false)
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
        File::open(path).ok()?.take(4096).read_to_end(&mut text).ok()?;
        Some(text)
    };
    let path = |text: &[u8]| PathBuf::from(std::ffi::OsStr::from_bytes(text.trim_ascii_end()));
    let is_regular = file.symlink_metadata().is_ok_and(|found| found.is_file());
    let text = is_regular.then(|| read(file)).flatten()?;
    let own = file.parent()?.join(path(text.strip_prefix(b"gitdir: ")?));
    let common = own.join(path(&read(&own.join("commondir"))?));
    fs::canonicalize(common).ok()
}

/// Whether a directory of objects holds the content of a file that is open for reading, at its start.
///
/// # Errors
/// The file can't be read.
pub fn holds(objects: &Path, file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    if length > LONGEST {
        return Ok(false);
    }
    let mut content = Vec::with_capacity(length as usize);
    file.take(LONGEST + 1).read_to_end(&mut content)?;
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(&content);
    Ok(has(objects, &hash.finalize().into()))
}

fn has(objects: &Path, name: &[u8; NAME]) -> bool {
    let hex: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    let loose = objects.join(&hex[..2]).join(&hex[2..]);
    if loose.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return true;
    }
    let entries = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
    let indexes = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "idx"));
    indexes
        .take(MOST_PACKS)
        .any(|index| is_in_pack(&index, name).unwrap_or(false))
}

/// Whether a pack's index lists an object: a table of counts by first byte, and the names in order.
fn is_in_pack(index: &Path, name: &[u8; NAME]) -> io::Result<bool> {
    const TABLE: u64 = INDEX.len() as u64;
    const NAMES: u64 = TABLE + 4 * 256;
    let file = File::open(index)?;
    let mut start = [0; INDEX.len()];
    file.read_exact_at(&mut start, 0)?;
    if start != INDEX {
        return Ok(false);
    }
    let count = |byte: u8| {
        let mut count = [0; 4];
        file.read_exact_at(&mut count, TABLE + 4 * u64::from(byte))?;
        io::Result::Ok(u64::from(u32::from_be_bytes(count)))
    };
    let (mut from, mut to) = (name[0].checked_sub(1).map_or(Ok(0), count)?, count(name[0])?);
    while from < to {
        let middle = from + (to - from) / 2;
        let mut found = [0; NAME];
        file.read_exact_at(&mut found, NAMES + NAME as u64 * middle)?;
        match found.cmp(name) {
            std::cmp::Ordering::Equal => return Ok(true),
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => to = middle,
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_repository_holds_what_git_says_it_does() {
        let place = tempfile::tempdir().unwrap();
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
            holds(&objects, &File::open(at(name)).unwrap()).unwrap()
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
}

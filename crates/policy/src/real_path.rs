//! Resolves paths as the file system does, including paths whose end doesn't exist yet.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use stockade_sys::file::each_entry;

/// Directories in which many names are looked up, most of them absent: they are listed once. Not for directories that
/// create names on lookup, as an automounter does.
const LISTED: [&str; 2] = ["/etc", "/var/lib"];

/// The most links that the kernel follows in one path (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Directories that many users share for writing.
pub const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// The real path as far as it exists, with the rest appended unchanged.
pub fn real_path(path: &Path) -> PathBuf {
    Walker::default().walk(path).real
}

/// Whether something has this name, including a dangling link. Returns the error if it can't be inspected.
pub fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What makes a directory the top of a repository or work tree: git's, Mercurial's, Jujutsu's, Sapling's, Subversion's.
pub const REPOSITORIES: [&str; 5] = [".git", ".hg", ".jj", ".sl", ".svn"];

/// The same; what can't be inspected counts as being there.
pub fn may_be_there(path: &Path) -> bool {
    is_there(path).unwrap_or(true)
}

/// Whether a directory is the top of a repository or work tree, or can't be looked at.
pub fn holds_repository(directory: &Path) -> bool {
    REPOSITORIES.iter().any(|name| may_be_there(&directory.join(name)))
}

/// Whether the error means that no such name exists.
pub fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether this process's confinement closes a path, rather than its mode or that of a directory above it.
pub fn is_closed_to_us(path: &Path, error: &io::Error) -> bool {
    let reads = |metadata: fs::Metadata| match metadata.uid() == nix::unistd::geteuid().as_raw() {
        true => metadata.mode() & 0o400 != 0,
        false => metadata.mode() & 0o004 != 0,
    };
    error.kind() == io::ErrorKind::PermissionDenied && fs::metadata(path).is_ok_and(reads)
}

/// A path resolved by the file system.
#[derive(Debug, Clone)]
pub struct Walked {
    /// The path with links resolved as far as it exists; the rest is appended unchanged.
    pub real: PathBuf,
    /// The links on the way, each by its real path, and the directories that a link's target leaves by `..`: replacing
    /// one of these redirects the path.
    pub links: Vec<PathBuf>,
    /// The links alone.
    pub followed: Vec<PathBuf>,
    /// Whether the real path exists.
    pub exists: bool,
    /// Whether it is a directory.
    pub is_directory: bool,
}

impl Walked {
    /// The first of these trees that a link in it leads out of, and the link. A tree's own name lies above it.
    pub fn leads_out_of<'t>(&self, trees: impl IntoIterator<Item = &'t Path>) -> Option<(&'t Path, &Path)> {
        trees.into_iter().find_map(|tree| {
            let is_inside = |link: &&PathBuf| *link != tree && link.starts_with(tree);
            let link = self.links.iter().rfind(is_inside)?;
            (!self.real.starts_with(tree)).then_some((tree, link.as_path()))
        })
    }
}

/// The type of the object at a real path.
#[derive(Clone)]
enum RealFound {
    Link(PathBuf),
    Directory,
    /// An object of any other type.
    Other,
    /// Nothing, or inaccessible.
    Nothing,
}

/// A directory or a link in a directory.
#[derive(Debug, Clone)]
pub struct DirectoryChild {
    /// Its name there.
    pub name: OsString,
    /// Whether it is a link.
    pub is_link: bool,
}

/// Resolves paths and looks up each name once: many paths share the directories above them.
#[derive(Default)]
pub struct Walker {
    /// Keyed by the path's bytes: a `Path` would be compared component by component.
    found: HashMap<OsString, RealFound>,
    /// The names in each of [`LISTED`], if it can be listed.
    listed: HashMap<PathBuf, Option<HashSet<OsString>>>,
    /// The directories and links in directories that were listed.
    leading: HashMap<PathBuf, Arc<[DirectoryChild]>>,
    unseen: Option<(PathBuf, io::Error)>,
}

impl Walker {
    /// Resolves an absolute path.
    pub fn walk(&mut self, path: &Path) -> Walked {
        let (known, rest) = self.known_part(path);
        let mut walked = Walked {
            real: PathBuf::with_capacity(path.as_os_str().len()),
            links: Vec::new(),
            followed: Vec::new(),
            exists: true,
            is_directory: true,
        };
        walked.real.push(known);
        let mut ahead = names(rest);
        // Components after the last link.
        let mut behind = 0_usize;
        while let Some(name) = ahead.pop() {
            // Nothing exists below a file.
            walked.exists &= walked.is_directory;
            if name == ".." {
                if behind > 0 {
                    walked.links.push(walked.real.clone());
                    behind -= 1;
                }
                walked.real.pop();
                continue;
            }
            walked.real.push(name);
            behind += usize::from(!walked.links.is_empty());
            match walked.is_directory.then(|| self.look(&walked.real)) {
                Some(RealFound::Link(target)) if walked.followed.len() < MAX_LINKS => {
                    walked.links.push(walked.real.clone());
                    walked.followed.push(walked.real.clone());
                    walked.real.pop();
                    behind = 0;
                    if target.is_absolute() {
                        walked.real = PathBuf::from("/");
                    }
                    ahead.extend(names(&target));
                }
                Some(RealFound::Directory) => {}
                Some(RealFound::Other) => walked.is_directory = false,
                _ => (walked.is_directory, walked.exists) = (false, false),
            }
        }
        walked
    }

    /// Splits off the nearest ancestor already known as a directory by its real path, or `/`, from the components after it.
    fn known_part<'a>(&self, path: &'a Path) -> (&'a Path, &'a Path) {
        let bytes = path.as_os_str().as_bytes();
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
        let all_are_plain = |rest: &[u8]| rest.split(|byte| *byte == b'/').all(is_plain);
        let mut slashes = (1..bytes.len())
            .rev()
            .filter(|at| bytes[*at] == b'/')
            .map(|at| (OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..])));
        let known = slashes.find(|(above, _)| matches!(self.found.get(*above), Some(RealFound::Directory)));
        match known {
            Some((above, rest)) if bytes.strip_prefix(b"/").is_some_and(all_are_plain) => {
                (above.as_ref(), rest.as_ref())
            }
            _ => (Path::new("/"), path),
        }
    }

    /// The real path of an existing path: realpath(3) of an absolute path.
    pub fn canonical(&mut self, path: &Path) -> Option<PathBuf> {
        let walked = path.is_absolute().then(|| self.walk(path))?;
        walked.exists.then_some(walked.real)
    }

    /// The first path that couldn't be accessed in a directory owned by this user, who could make it accessible. The
    /// next walk looks each one up again.
    pub fn take_unseen(&mut self) -> Option<(PathBuf, io::Error)> {
        self.unseen.take()
    }

    /// The directories and links in a directory. Records as unseen one of this user's that can't be listed or accessed.
    pub fn children(&mut self, directory: &Path) -> Arc<[DirectoryChild]> {
        self.list(directory, usize::MAX).unwrap_or_else(|error| {
            if error.kind() == io::ErrorKind::PermissionDenied {
                self.look(directory);
                if is_below_ours(&directory.join("x")) {
                    self.unseen.get_or_insert_with(|| (directory.to_path_buf(), error));
                }
            }
            Arc::default()
        })
    }

    /// The same for at most this many entries when first listed; empty if the directory can't be listed.
    pub fn some_children(&mut self, directory: &Path, most: usize) -> Arc<[DirectoryChild]> {
        self.list(directory, most).unwrap_or_default()
    }

    /// All of them; `None` if there are more entries than that, or the directory can't be listed.
    pub fn all_children(&mut self, directory: &Path, most: usize) -> Option<Arc<[DirectoryChild]>> {
        let listed = self.list(directory, most).ok()?;
        self.leading.contains_key(directory).then_some(listed)
    }

    fn list(&mut self, directory: &Path, most: usize) -> io::Result<Arc<[DirectoryChild]>> {
        if let Some(known) = self.leading.get(directory) {
            return Ok(Arc::clone(known));
        }
        let mut count = 0;
        let mut children = Vec::new();
        let listed = each_name(directory, |name, kind| {
            if count == most {
                return ControlFlow::Break(());
            }
            count += 1;
            let (is_directory, is_link) = match kind {
                libc::DT_UNKNOWN => fs::symlink_metadata(directory.join(name))
                    .map_or((false, false), |found| (found.is_dir(), found.is_symlink())),
                kind => (kind == libc::DT_DIR, kind == libc::DT_LNK),
            };
            if is_directory || is_link {
                let name = name.to_owned();
                children.push(DirectoryChild { name, is_link });
            }
            ControlFlow::Continue(())
        });
        let is_whole = listed.is_ok() && count < most;
        // Entries read before an error count.
        if count == 0 {
            listed?;
        }
        let children: Arc<[DirectoryChild]> = children.into();
        if is_whole {
            self.leading.insert(directory.to_path_buf(), Arc::clone(&children));
        }
        Ok(children)
    }

    fn look(&mut self, path: &Path) -> RealFound {
        if let Some(found) = self.found.get(path.as_os_str()) {
            return found.clone();
        }
        if self.is_surely_absent(path) {
            return RealFound::Nothing;
        }
        let found = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => fs::read_link(path).map_or(RealFound::Nothing, RealFound::Link),
            Ok(metadata) if metadata.is_dir() => RealFound::Directory,
            Ok(_) => RealFound::Other,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_below_ours(path) => {
                self.unseen.get_or_insert_with(|| (path.to_path_buf(), error));
                return RealFound::Nothing;
            }
            _ => RealFound::Nothing,
        };
        self.found.insert(path.as_os_str().to_owned(), found.clone());
        found
    }

    /// Whether the cached list of its directory lacks the name.
    fn is_surely_absent(&mut self, path: &Path) -> bool {
        let Some((directory, name)) = path.parent().zip(path.file_name()) else {
            return false;
        };
        if !LISTED.iter().any(|listed| directory.as_os_str() == *listed) {
            return false;
        }
        let names = self.listed.entry(directory.to_path_buf()).or_insert_with(|| {
            let mut names = HashSet::new();
            let listed = each_name(directory, |name, _| {
                names.insert(name.to_owned());
                ControlFlow::Continue(())
            });
            listed.ok().map(|()| names)
        });
        names.as_ref().is_some_and(|names| !names.contains(name))
    }
}

/// Calls `act` for each name in a directory with its type, until it breaks.
fn each_name(directory: &Path, mut act: impl FnMut(&OsStr, u8) -> ControlFlow<()>) -> io::Result<()> {
    let mut options = File::options();
    let directory = options.read(true).custom_flags(libc::O_DIRECTORY).open(directory)?;
    each_entry(directory.as_fd(), |name, kind| act(OsStr::from_bytes(name), kind))
}

/// Whether the path's parent directory belongs to this user.
fn is_below_ours(path: &Path) -> bool {
    let directory = path.parent().and_then(|directory| fs::metadata(directory).ok());
    directory.is_some_and(|directory| directory.uid() == nix::unistd::geteuid().as_raw())
}

/// The components of a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsStr::new("..").to_owned()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}

/// Whether a mount of this type and source (proc_pid_mountinfo(5)) is on a local disk. File servers may never answer.
pub fn is_of_disk(kind: &[u8], source: &[u8]) -> bool {
    const STACKED: [&[u8]; 3] = [b"overlay", b"zfs", b"bcachefs"];
    STACKED.contains(&kind) || source.starts_with(b"/dev/") && !kind.starts_with(b"fuse")
}

/// Decodes a path of the mount table (proc_pid_mountinfo(5)), in which `\040` and the like stand for a space, a tab, a
/// line feed and the backslash.
pub fn unescaped(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind
            .get(..3)
            .filter(|digits| *byte == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        rest = behind;
        match digits {
            Some(digits) => {
                let value = digits
                    .iter()
                    .fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                bytes.push(u8::try_from(value & 0xff).unwrap_or_default());
                rest = &behind[3..];
            }
            None => bytes.push(*byte),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    /// The names in a tree: directories `a` and `b`, a file `f`, links to `targets`.
    fn tree(targets: &[String]) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        for directory in ["a", "a/b", "b"] {
            fs::create_dir(place.path().join(directory)).expect("a new directory");
        }
        for file in ["f", "a/f"] {
            fs::write(place.path().join(file), "").expect("a new file");
        }
        for (name, target) in ["l", "a/l", "b/l"].iter().zip(targets) {
            symlink(target, place.path().join(name)).expect("a new link");
        }
        place
    }

    proptest! {
        #[test]
        fn a_walker_finds_what_the_file_system_finds(
            targets in prop::collection::vec("(\\.\\./)?[abflx](/[abflx]|/\\.\\.){0,2}", 3),
            paths in prop::collection::vec("[abflx](/[abflx]|/\\.\\.){0,3}", 1..6),
        ) {
            let place = tree(&targets);
            let mut walker = Walker::default();
            for path in paths {
                let path = place.path().join(path);
                prop_assert_eq!(walker.canonical(&path), fs::canonicalize(&path).ok(), "{}", path.display());
                prop_assert_eq!(walker.walk(&path).is_directory, path.is_dir(), "{}", path.display());
            }
        }
    }

    #[test]
    fn a_list_of_names_answers_as_each_name_would() {
        let mut walker = Walker::default();
        for name in [
            "passwd",
            "hostname",
            "mtab",
            "localtime",
            "ssl/certs",
            "no-such-name",
            "no-such/name",
        ] {
            let path = Path::new("/etc").join(name);
            assert_eq!(walker.canonical(&path), fs::canonicalize(&path).ok(), "{name}");
        }
    }
}

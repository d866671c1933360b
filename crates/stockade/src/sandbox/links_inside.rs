//! Links in directories of homes that are closed as a whole: their targets are closed too, or the closed name opens them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use super::homes::may_lead;
use super::repositories::Repositories;
use crate::command::is_below_base;
use crate::policy::{ListedNames, Opened, SecretList, names_anywhere};
use crate::real_path::{DirectoryChild, SHARED, Walked, Walker};

/// The most entries listed of a closed directory. A run can't add to it.
const MAX_ENTRIES: usize = 65_536;

/// The most directories of a closed one in which links to files are looked for.
const MAX_DIRECTORIES: usize = 256;

/// The most entries of a tree's top directory, which a run can add to. Beyond that, only names without a wildcard are looked up.
const MAX_OF_TREE: usize = 1 << 22;

/// Directories whose links are guarded as a whole, since the guarded files in them may not exist yet.
const AS_A_WHOLE: [&str; 3] = [".gitlab", ".hg", ".jj"];

/// Finds such links.
pub(super) struct LinksInside<'a> {
    /// The run's root.
    root: &'a Path,
    /// The caller's homes.
    pub own: &'a [PathBuf],
    /// The paths that a person opened.
    open: &'a [Opened],
    /// The links' targets, each with the list that closes it.
    pub targets: BTreeSet<(SecretList, PathBuf)>,
    /// The links on the way to the targets.
    pub links: BTreeSet<PathBuf>,
}

impl<'a> LinksInside<'a> {
    /// No links yet.
    pub fn new(root: &'a Path, own: &'a [PathBuf], open: &'a [Opened]) -> LinksInside<'a> {
        LinksInside {
            root,
            own,
            open,
            targets: BTreeSet::new(),
            links: BTreeSet::new(),
        }
    }

    /// Adds the targets of closed links in a tree that a run writes: `.git/hooks/pre-commit`, `.vscode`, `.env`. Only
    /// closed names in its top directory count; deeper, each directory would have to be listed.
    pub fn add_of_tree(&mut self, of_tree: &Repositories, walker: &mut Walker) {
        let mut ahead = vec![(of_tree.tree.clone(), ListedNames::anywhere())];
        while let Some((directory, names)) = ahead.pop() {
            for child in closed_children(&directory, walker) {
                let Some(names) = names.below(&child.name) else {
                    continue;
                };
                let path = directory.join(&child.name);
                let list = match names.closing() {
                    Some(list) if list.is_guarded() => SecretList::Guarded,
                    Some(list) => list,
                    None if child.is_link && AS_A_WHOLE.iter().any(|name| child.name == *name) => SecretList::Guarded,
                    None => {
                        ahead.extend((!child.is_link).then_some((path, names)));
                        continue;
                    }
                };
                self.add_closed(&path, (list, child.is_link), walker);
            }
        }
        for directory in &of_tree.directories {
            let hooks = directory.join("hooks");
            let walked = walker.walk(&hooks);
            if walked.exists {
                self.add_closed(&hooks, (SecretList::Guarded, walked.real != hooks), walker);
            }
        }
    }

    /// Adds the links in a closed directory; of a closed link its target, and the links in that.
    fn add_closed(&mut self, path: &Path, (list, is_link): (SecretList, bool), walker: &mut Walker) {
        let directory = match is_link {
            true => self.follow(path, (path, list), walker),
            false => Some(path.to_path_buf()),
        };
        if let Some(directory) = directory {
            self.add(&directory, list, walker);
        }
    }

    /// Adds the targets of the links that lie directly in a directory that a list closes.
    pub fn add(&mut self, top: &Path, list: SecretList, walker: &mut Walker) {
        if is_below_base(top) {
            return;
        }
        let mut directories = 0;
        for child in walker.some_children(top, MAX_ENTRIES).iter() {
            let path = top.join(&child.name);
            if child.is_link {
                self.follow(&path, (top, list), walker);
                continue;
            }
            directories += 1;
            if directories > MAX_DIRECTORIES {
                continue;
            }
            // One level deeper what leads to files: units in `~/.config/systemd/user`.
            for inside in walker
                .some_children(&path, MAX_ENTRIES)
                .iter()
                .filter(|inside| inside.is_link)
            {
                let link = path.join(&inside.name);
                if !link.is_dir() {
                    self.follow(&link, (top, list), walker);
                }
            }
        }
    }

    /// Adds the target of a link in a closed directory, or of one that is closed itself and its own `top`. Returns a new
    /// target that is a directory.
    fn follow(&mut self, link: &Path, (top, list): (&Path, SecretList), walker: &mut Walker) -> Option<PathBuf> {
        if !may_lead(link) || self.is_opened(link) {
            return None;
        }
        let walked = walker.walk(link);
        // A loop stays one until one of its links is replaced.
        if walked.links.contains(&walked.real) {
            self.links.extend(walked.links);
            return None;
        }
        if self.is_left_open(&walked, (top, list), link == top) {
            return None;
        }
        let is_closed = |link: &PathBuf| link.parent().is_some_and(|parent| parent.starts_with(top));
        self.links
            .extend(walked.links.into_iter().filter(|link| !is_closed(link)));
        let is_new = self.targets.insert((list, walked.real.clone()));
        (is_new && walked.is_directory).then_some(walked.real)
    }

    fn is_left_open(&self, walked: &Walked, (top, list): (&Path, SecretList), is_closed_itself: bool) -> bool {
        let real = walked.real.as_path();
        // It would close the run's root.
        if self.root.starts_with(real) {
            return true;
        }
        // It would close what is around the closed directory; inside, it is closed already.
        if top.starts_with(real) || real.starts_with(top) {
            return true;
        }
        // All programs need it.
        if SHARED.iter().any(|shared| Path::new(shared).starts_with(real)) || is_below_base(real) {
            return true;
        }
        if self.is_opened(real) {
            return true;
        }
        if !list.is_guarded() {
            return false;
        }
        // A run of this user can't change it anyhow.
        if !is_changed_by_us(real) {
            return true;
        }
        // The run works on what its root holds. A file is closed if the root's own guarded directory leads to it: a hook
        // of the project, whose script is kept beside its sources.
        let is_of_root = real.starts_with(self.root) && !self.own.iter().any(|home| home.starts_with(self.root));
        is_of_root && !is_closed_itself && (walked.is_directory || !top.starts_with(self.root))
    }

    fn is_opened(&self, path: &Path) -> bool {
        self.open.iter().any(|open| path.starts_with(&open.0))
    }
}

/// The directories and links in a directory of the run; if it has too many entries, only those with closed names.
fn closed_children(directory: &Path, walker: &mut Walker) -> Vec<DirectoryChild> {
    if let Some(all) = walker.all_children(directory, MAX_OF_TREE) {
        return all.to_vec();
    }
    let names = SecretList::ALL.into_iter().flat_map(names_anywhere);
    let firsts: BTreeSet<OsString> = names
        .filter_map(|path| path.iter().next().map(OsString::from))
        .collect();
    let child = |name: OsString| {
        let found = directory.join(&name).symlink_metadata().ok()?;
        let is_link = found.is_symlink();
        (is_link || found.is_dir()).then_some(DirectoryChild { name, is_link })
    };
    firsts.into_iter().filter_map(child).collect()
}

/// Whether this user may change it, create it, or replace it.
fn is_changed_by_us(path: &Path) -> bool {
    let is_ours = || {
        path.metadata()
            .is_ok_and(|found| found.uid() == nix::unistd::geteuid().as_raw())
    };
    let may_write = |path: &Path| faccessat(AT_FDCWD, path, AccessFlags::W_OK, AtFlags::AT_EACCESS).is_ok();
    nix::unistd::geteuid().is_root() || !path.exists() || is_ours() || path.ancestors().any(may_write)
}

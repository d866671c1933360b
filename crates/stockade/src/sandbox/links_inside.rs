//! Links in directories of homes that are closed as a whole: their targets are closed too, or the closed name opens them.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};

use super::homes::may_lead;
use super::repositories::Repositories;
use crate::command::is_below_base;
use crate::policy::{ListedNames, Opened, SecretList, names_anywhere};
use crate::real_path::{DirectoryChild, SHARED, Walker};

/// The most directories listed per closed one, and the most entries of each. A run can't add to them.
const MAX_DIRECTORIES: usize = 256;
const MAX_ENTRIES: usize = 65_536;

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
                match names.closing() {
                    Some(list) if list.is_guarded() => self.add_guarded(&path, child.is_link, walker),
                    Some(list) if child.is_link => self.add_link(&path, list, walker),
                    // A virtual environment called `.env` leads to its interpreter.
                    Some(list) if !path.join("pyvenv.cfg").exists() => self.add(&path, list, walker),
                    None if !child.is_link => ahead.push((path, names)),
                    None if AS_A_WHOLE.iter().any(|name| child.name == *name) => {
                        self.add_link(&path, SecretList::Guarded, walker);
                    }
                    _ => {}
                }
            }
        }
        for directory in &of_tree.directories {
            let hooks = directory.join("hooks");
            let walked = walker.walk(&hooks);
            if walked.exists {
                self.add_guarded(&hooks, walked.real != hooks, walker);
            }
        }
    }

    fn add_guarded(&mut self, path: &Path, is_link: bool, walker: &mut Walker) {
        if is_link {
            return self.add_link(path, SecretList::Guarded, walker);
        }
        for child in walker.some_children(path, MAX_ENTRIES).iter() {
            let link = path.join(&child.name);
            if child.is_link && (is_loaded(&link, path) || !link.is_dir()) {
                self.add_link(&link, SecretList::Guarded, walker);
            }
        }
        self.add(path, SecretList::Guarded, walker);
    }

    /// Adds the target of a closed link in the run's tree, and the targets of links inside it.
    fn add_link(&mut self, path: &Path, list: SecretList, walker: &mut Walker) {
        if !may_lead(path) {
            return;
        }
        let walked = walker.walk(path);
        // A loop stays one until one of its links is replaced.
        if walked.links.contains(&walked.real) {
            return self.links.extend(walked.links);
        }
        let real = walked.real;
        let is_around = self.root.starts_with(&real) || path.starts_with(&real);
        let is_shared = SHARED.iter().any(|shared| Path::new(shared).starts_with(&real));
        if is_around || is_shared || is_below_base(&real) || self.is_opened(&real) || !is_changed_by_us(&real) {
            return;
        }
        self.links.extend(walked.links);
        if self.targets.insert((list, real.clone())) && walked.is_directory {
            self.add(&real, list, walker);
        }
    }

    /// Adds the links in a directory that a list closes.
    pub fn add(&mut self, top: &Path, list: SecretList, walker: &mut Walker) {
        if is_below_base(top) {
            return;
        }
        // Deeper among secrets, a virtual environment of `~/.config/gcloud` leads to its interpreter.
        let levels = match list {
            // Files that agents load in a project: `.claude/skills/NAME/scripts`.
            list if list.is_guarded() && top.starts_with(self.root) => 6,
            list if list.is_guarded() => 3,
            _ => 2,
        };
        let mut ahead = VecDeque::from([(top.to_path_buf(), 1)]);
        let mut seen = BTreeSet::from([top.to_path_buf()]);
        while let Some((directory, level)) = ahead.pop_front() {
            for child in walker.some_children(&directory, MAX_ENTRIES).iter() {
                let path = directory.join(&child.name);
                let inside = match child.is_link {
                    true => self.follow(&path, (top, list, level), walker),
                    false => Some(path),
                };
                let inside = inside.filter(|_| level < levels && seen.len() < MAX_DIRECTORIES);
                if let Some(inside) = inside.filter(|inside| seen.insert(inside.clone())) {
                    ahead.push_back((inside, level + 1));
                }
            }
        }
    }

    /// Adds a link's target; returns it if it is a directory.
    fn follow(
        &mut self,
        link: &Path,
        (top, list, level): (&Path, SecretList, usize),
        walker: &mut Walker,
    ) -> Option<PathBuf> {
        if !may_lead(link) || self.is_opened(link) {
            return None;
        }
        let walked = walker.walk(link);
        let is_directory = walked.is_directory;
        // Deeper inside, a snap has links to `~/Documents`.
        let is_loaded = list == SecretList::Guarded && top.starts_with(self.root) && is_loaded(link, top);
        if is_directory && level > 1 && !is_loaded || self.is_left_open((top, list), &walked.real, is_loaded) {
            return None;
        }
        let on_the_way = walked.links.into_iter();
        self.links.extend(on_the_way.filter(|link| !link.starts_with(top)));
        self.targets.insert((list, walked.real.clone()));
        is_directory.then_some(walked.real)
    }

    fn is_left_open(&self, (top, list): (&Path, SecretList), real: &Path, is_loaded: bool) -> bool {
        let is_around_or_inside = top.starts_with(real) || real.starts_with(top);
        // Programs are built and started there. A unit or a setting that is kept there is still the user's.
        let is_built = || self.is_of_run(real) && (real.is_dir() && !is_loaded || holds_programs(top));
        let is_of_run = || is_built() || self.root.starts_with(real) || !is_changed_by_us(real);
        is_around_or_inside
            || SHARED.iter().any(|shared| Path::new(shared).starts_with(real))
            || is_below_base(real)
            || self.is_opened(real)
            || list == SecretList::Guarded && is_of_run()
    }

    fn is_opened(&self, path: &Path) -> bool {
        self.open.iter().any(|open| path.starts_with(&open.0))
    }

    /// Whether it is in the run's root, or contains it: the run works there, and may change it.
    fn is_of_run(&self, real: &Path) -> bool {
        let is_around_home = self.own.iter().any(|home| home.starts_with(self.root));
        real.starts_with(self.root) && !is_around_home || self.root.starts_with(real)
    }
}

/// Whether it is a directory of programs, by its name.
fn holds_programs(directory: &Path) -> bool {
    directory.ends_with("bin") || directory.ends_with("shims")
}

/// Whether a link among an agent's files leads to something that it loads or obeys: shared skills are linked, and so is `src`.
fn is_loaded(link: &Path, top: &Path) -> bool {
    const LOADED: [&str; 14] = [
        "agents",
        "commands",
        "extensions",
        "hooks",
        "memories",
        "modes",
        "output-styles",
        "plugins",
        "prompts",
        "rules",
        "scripts",
        "skills",
        "steering",
        "workflows",
    ];
    let inside = link.strip_prefix(top).unwrap_or(link);
    let named = |path: &Path| path.iter().any(|name| LOADED.iter().any(|loaded| name == *loaded));
    named(inside) || top.file_name().is_some_and(|name| named(name.as_ref()))
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

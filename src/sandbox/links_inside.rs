//! Links in directories of homes that are closed as a whole: what they lead to is closed, too, or the closed name opens it.

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::homes::may_lead;
use crate::command::is_below_base;
use crate::policy::{List, ListedNames, Opened};
use crate::real_path::Walker;

/// Directories that are listed of each closed one, and entries of each of them. A run can't add to them.
const MOST_DIRECTORIES: usize = 256;
const MOST_ENTRIES: usize = 65_536;

/// Looks for such links.
pub(super) struct LinksInside<'a> {
    /// The run's root.
    root: &'a Path,
    /// The caller's homes.
    pub own: &'a [PathBuf],
    /// What a person opened.
    open: &'a [Opened],
    /// What links were found to lead to, with the list that closes them.
    pub targets: BTreeSet<(List, PathBuf)>,
    /// The links on the way there.
    pub links: BTreeSet<PathBuf>,
}

impl<'a> LinksInside<'a> {
    /// None yet.
    pub fn new(root: &'a Path, own: &'a [PathBuf], open: &'a [Opened]) -> LinksInside<'a> {
        LinksInside {
            root,
            own,
            open,
            targets: BTreeSet::new(),
            links: BTreeSet::new(),
        }
    }

    /// Adds what guarded links in a tree that a run writes lead to: `.git/hooks/pre-commit`, `.vscode`. By the names that are
    /// guarded in its uppermost directory alone; deeper, each directory would have to be looked into.
    pub fn add_of_tree(&mut self, tree: &Path, walker: &mut Walker) {
        let mut ahead = vec![(tree.to_path_buf(), ListedNames::anywhere())];
        while let Some((directory, names)) = ahead.pop() {
            for child in walker.some_children(&directory, MOST_ENTRIES).iter() {
                let Some(names) = names.below(&child.name) else {
                    continue;
                };
                let path = directory.join(&child.name);
                match names.closing() {
                    Some(List::Guarded) => self.add_guarded(&path, child.is_link, walker),
                    None if !child.is_link => ahead.push((path, names)),
                    _ => {}
                }
            }
        }
        let hooks = tree.join(".git/hooks");
        let walked = walker.walk(&hooks);
        if walked.exists {
            self.add_guarded(&hooks, walked.real != hooks, walker);
        }
    }

    fn add_guarded(&mut self, path: &Path, is_link: bool, walker: &mut Walker) {
        if !is_link {
            for child in walker
                .some_children(path, MOST_ENTRIES)
                .iter()
                .filter(|child| child.is_link)
            {
                self.add_guarded(&path.join(&child.name), true, walker);
            }
            return self.add(path, List::Guarded, walker);
        }
        if !may_lead(path) {
            return;
        }
        let walked = walker.walk(path);
        let is_around = self.root.starts_with(&walked.real) || path.starts_with(&walked.real);
        if !is_around && !is_below_base(&walked.real) && !self.is_opened(&walked.real) && is_changed_by_us(&walked.real)
        {
            self.links.extend(walked.links);
            self.targets.insert((List::Guarded, walked.real));
        }
    }

    /// Adds those of a directory that a list closes.
    pub fn add(&mut self, top: &Path, list: List, walker: &mut Walker) {
        if is_below_base(top) {
            return;
        }
        // Deeper among secrets, a virtual environment of `~/.config/gcloud` leads to its interpreter.
        let levels = if list == List::Guarded { 3 } else { 2 };
        let mut ahead = VecDeque::from([(top.to_path_buf(), 1)]);
        let mut seen = BTreeSet::from([top.to_path_buf()]);
        while let Some((directory, level)) = ahead.pop_front() {
            for child in walker.some_children(&directory, MOST_ENTRIES).iter() {
                let path = directory.join(&child.name);
                let inside = match child.is_link {
                    true => self.follow(&path, (top, list, level), walker),
                    false => Some(path),
                };
                let inside = inside.filter(|_| level < levels && seen.len() < MOST_DIRECTORIES);
                if let Some(inside) = inside.filter(|inside| seen.insert(inside.clone())) {
                    ahead.push_back((inside, level + 1));
                }
            }
        }
    }

    /// Adds what a link leads to; that, where it is a directory.
    fn follow(
        &mut self,
        link: &Path,
        (top, list, level): (&Path, List, usize),
        walker: &mut Walker,
    ) -> Option<PathBuf> {
        if !may_lead(link) || self.is_opened(link) {
            return None;
        }
        let walked = walker.walk(link);
        let is_directory = walked.is_directory;
        // Deeper inside, a snap has links to `~/Documents`.
        if is_directory && level > 1 || self.is_left_open(top, list, &walked.real) {
            return None;
        }
        let on_the_way = walked.links.into_iter();
        self.links.extend(on_the_way.filter(|link| !link.starts_with(top)));
        self.targets.insert((list, walked.real.clone()));
        is_directory.then_some(walked.real)
    }

    fn is_left_open(&self, top: &Path, list: List, real: &Path) -> bool {
        let is_around_or_inside = top.starts_with(real) || real.starts_with(top);
        // What programs are started by is built there. A unit or a setting that is kept there is the user's all the same.
        let is_of_run = || self.is_of_run(real) && (real.is_dir() || holds_programs(top)) || !is_changed_by_us(real);
        is_around_or_inside || is_below_base(real) || self.is_opened(real) || list == List::Guarded && is_of_run()
    }

    fn is_opened(&self, path: &Path) -> bool {
        self.open.iter().any(|open| path.starts_with(&open.0))
    }

    /// Whether it is in the run's root, or around it: the run works on that, and may change it.
    fn is_of_run(&self, real: &Path) -> bool {
        let is_around_home = self.own.iter().any(|home| home.starts_with(self.root));
        real.starts_with(self.root) && !is_around_home || self.root.starts_with(real)
    }
}

/// Whether it is a directory of programs, by its name.
fn holds_programs(directory: &Path) -> bool {
    directory.ends_with("bin") || directory.ends_with("shims")
}

/// Whether this user may change it, or make it.
fn is_changed_by_us(path: &Path) -> bool {
    let user = nix::unistd::geteuid();
    user.is_root() || path.metadata().is_ok_and(|found| found.uid() == user.as_raw()) || !path.exists()
}

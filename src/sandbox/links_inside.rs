//! Links in directories of homes that are closed as a whole: what they lead to is closed, too, or the closed name opens it.

use std::collections::{BTreeSet, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::homes::may_lead;
use crate::command::is_below_base;
use crate::policy::{List, Opened};
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
        let is_of_run = || self.is_of_run(real) || !is_changed_by_us(real);
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

/// Whether this user may change it, or make it.
fn is_changed_by_us(path: &Path) -> bool {
    let user = nix::unistd::geteuid();
    user.is_root() || path.metadata().is_ok_and(|found| found.uid() == user.as_raw()) || !path.exists()
}

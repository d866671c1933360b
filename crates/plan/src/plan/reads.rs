//! Who judges read-only opens that are marked: the supervisor, or Landlock alone.
//!
//! Landlock rules only add, so Landlock can judge a tree where nothing is closed, and the surroundings of closed names in a
//! tree that the run can't write. In a tree that it writes, a file created beside a closed name would have no rule.

use std::path::{Path, PathBuf};

use super::calls::Sockets;
use super::{Ability, Links, SupervisorAbility, Trace, files, shortfall, sockets_on};
use crate::policy::{Access, Grant, GrantExtent, Policy};

/// Who judges read-only opens.
#[derive(Debug, Clone, Copy)]
pub enum Reads<'a> {
    /// The supervisor.
    Exact,
    /// Landlock, by rules for these paths.
    Marked(&'a [Opening]),
}

impl<'a> Reads<'a> {
    pub(super) fn trace(self) -> Trace {
        match self {
            Reads::Exact => Trace::Exact,
            Reads::Marked(_) => Trace::Marked,
        }
    }

    /// The chosen trees that are opened whole.
    pub(super) fn trees(self, policy: &Policy) -> impl Iterator<Item = &'a Path> {
        let is_tree = |path: &Path| {
            let mut chosen = policy.grants.iter().filter(|grant| grant.is_chosen());
            chosen.any(|grant| grant.extent == GrantExtent::Subtree && grant.path == path)
        };
        let whole = self
            .openings()
            .into_iter()
            .flatten()
            .filter(|opening| opening.part == Part::All);
        whole
            .map(|opening| opening.path.as_path())
            .filter(move |path| is_tree(path))
    }

    pub(super) fn openings(self) -> Option<&'a [Opening]> {
        match self {
            Reads::Exact => None,
            Reads::Marked(openings) => Some(openings),
        }
    }
}

/// A path in a chosen tree that Landlock opens by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// An absolute path.
    pub path: PathBuf,
    /// Reading, and executing if granted.
    pub access: Access,
    /// The part of it that is opened.
    pub part: Part,
    /// What a symbolic link in the path means.
    pub links: Links,
}

/// The part of a directory that is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// All of it: nothing in it is closed.
    All,
    /// Its entries' names, and those in its subdirectories. Something in it is closed.
    Names,
}

/// The reason why the supervisor judges all reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptExact {
    /// The supervisor must see opens of a file that it serves, and a grant covers it.
    #[error("programs find hosts by `{0}`, which the supervisor serves")]
    Hosts(&'static str),
    /// What is read is recorded.
    #[error("what the run reads is recorded")]
    Recorded,
    /// The supervisor serves the script's text.
    #[error("the script is read as it was checked")]
    Script,
    /// A tree of runs has one supervisor.
    #[error("the supervisor of the run outside judges")]
    Inside,
    /// A pattern closes something in a tree that every run reads.
    #[error("{0} closes part of a tree of the runtime base")]
    Base(String),
    /// It contains the kernel's own trees, or every user's.
    #[error("`{}` isn't looked through: it is the machine's, or every user's", .0.display())]
    TooLarge(PathBuf),
    /// It has more directories, or files beside closed ones, than a launch looks at.
    #[error("`{}` has more than {most} {what}", .tree.display())]
    TooMany {
        /// The tree.
        tree: PathBuf,
        /// The kind of thing that exceeds the bound.
        what: &'static str,
        /// The bound.
        most: usize,
    },
    /// Landlock can't let a program be executed without letting it be read.
    #[error("programs of `{}` may be started and not read", .0.display())]
    Executed(PathBuf),
    /// A file that the run creates beside it would have no rule.
    #[error("`{}` is closed, and the run writes beside it", .0.display())]
    Closed(PathBuf),
    /// It takes longer to look through than a launch may: that goes on while the run does.
    #[error("`{}` hasn't been looked through yet", .0.display())]
    NotSeen(PathBuf),
    /// Its entries are unknown.
    #[error("`{}` can't be listed", .0.display())]
    Unlisted(PathBuf),
    /// The kernel shows its state there, or a server may never answer.
    #[error("`{}` is a mount that isn't of a disk", .0.display())]
    Mounted(PathBuf),
}

/// The files by which programs find hosts, which a grant of `/etc` would open.
const OF_HOSTS: [&str; 2] = ["/etc/resolv.conf", "/etc/hosts"];

/// Whether Landlock judges some of a grant's tree in any case: it is executed, which needs the right to read. In a tree that
/// is written nothing closed may be either: the run could move it to where Landlock reads.
pub fn must_be_open(grant: &Grant) -> bool {
    grant.access.intersects(Access::EXECUTE | Access::CHANGE)
}

/// Whether a grant's tree is too large, or not a disk's, to be looked through.
pub fn is_too_large(grant: &Grant) -> bool {
    grant.extent == GrantExtent::Subtree
        && (shortfall::is_too_large(&grant.path) || ["/proc", "/sys"].iter().any(|tree| grant.path.starts_with(tree)))
}

/// The reason in a policy that keeps Landlock from judging reads alone, if the policy has one.
pub fn kept_exact(policy: &Policy, ability: Ability) -> Option<KeptExact> {
    if ability.supervisor == SupervisorAbility::Outer {
        return Some(KeptExact::Inside);
    }
    let chosen = || policy.grants.iter().filter(|grant| grant.is_chosen());
    if sockets_on(policy, ability) == Sockets::Hosts {
        let is_read =
            |file: &&&str| chosen().any(|grant| grant.access.contains(Access::READ) && grant.covers(Path::new(file)));
        if let Some(file) = OF_HOSTS.iter().find(is_read) {
            return Some(KeptExact::Hosts(file));
        }
    }
    if let Some(denial) = files::globs_into_found_trees(policy).next() {
        return Some(KeptExact::Base(denial.origin.to_string()));
    }
    if let Some(grant) = chosen().find(|grant| must_be_open(grant) && is_too_large(grant)) {
        return Some(KeptExact::TooLarge(grant.path.clone()));
    }
    let is_only_executed =
        |grant: &&Grant| grant.access.contains(Access::EXECUTE) && !grant.access.contains(Access::READ);
    chosen()
        .find(is_only_executed)
        .map(|grant| KeptExact::Executed(grant.path.clone()))
}

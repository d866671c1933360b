//! Who judges read-only opens: the supervisor, or Landlock alone (`--trace fast`).
//!
//! Landlock rules only add, so Landlock can judge a tree where nothing is closed, and the surroundings of closed names in a
//! tree that the run can't write. In a tree that it writes, a file created beside a closed name would have no rule.

use std::path::{Path, PathBuf};

use super::calls::Sockets;
use super::{Ability, Links, SupervisorAbility, Trace, files, shortfall, sockets_on};
use crate::policy::{Access, Asks, Grant, GrantExtent, Policy};

/// Who judges read-only opens.
#[derive(Debug, Clone, Copy)]
pub enum Reads<'a> {
    /// The supervisor, which reports refusals.
    Exact,
    /// Landlock, by rules for these paths.
    Fast(&'a [Opening]),
}

impl<'a> Reads<'a> {
    pub(super) fn trace(self) -> Trace {
        match self {
            Reads::Exact => Trace::Exact,
            Reads::Fast(_) => Trace::Fast,
        }
    }

    pub(super) fn openings(self) -> Option<&'a [Opening]> {
        match self {
            Reads::Exact => None,
            Reads::Fast(openings) => Some(openings),
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

/// The reason why the supervisor judges reads although `--trace fast` was requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeptExact {
    /// The supervisor must see opens of files that it serves.
    #[error("programs find hosts by files that the supervisor serves")]
    Hosts,
    /// A question starts with a call that the supervisor sees.
    #[error("somebody is asked for what is refused")]
    Asks,
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
    #[error("`{}` is too large to be looked through", .0.display())]
    TooLarge(PathBuf),
    /// It has more entries or files than the walk allows.
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
    /// A file that the run creates there anew would have no rule.
    #[error("the run may make `{}` anew", .0.display())]
    MadeAnew(PathBuf),
    /// A file that the run creates beside it would have no rule.
    #[error("`{}` is closed, and the run writes beside it", .0.display())]
    Closed(PathBuf),
    /// A rule for a directory covers everything in it.
    #[error("the directory `{}` is granted without what is in it", .0.display())]
    Alone(PathBuf),
    /// Its entries are unknown.
    #[error("`{}` can't be listed", .0.display())]
    Unlisted(PathBuf),
    /// The kernel shows its state there, or a server may never answer.
    #[error("`{}` is a mount that isn't of a disk", .0.display())]
    Mounted(PathBuf),
}

/// Whether a grant's path stays the same object: a run may replace a file, and create a flag's tree anew.
pub fn stays(grant: &Grant) -> bool {
    grant.extent == GrantExtent::Subtree && Links::of(&grant.origin) != Links::Refused
}

/// The reason in a policy that keeps Landlock from judging reads alone, if the policy has one.
pub fn kept_exact(policy: &Policy, ability: Ability) -> Option<KeptExact> {
    if ability.supervisor == SupervisorAbility::Outer {
        return Some(KeptExact::Inside);
    }
    if policy.asks != Asks::Nothing {
        return Some(KeptExact::Asks);
    }
    if sockets_on(policy, ability) == Sockets::Hosts {
        return Some(KeptExact::Hosts);
    }
    if let Some(denial) = files::globs_into_found_trees(policy).next() {
        return Some(KeptExact::Base(denial.origin.to_string()));
    }
    let chosen = || policy.grants.iter().filter(|grant| grant.is_chosen());
    let is_too_large = |grant: &&Grant| {
        grant.extent == GrantExtent::Subtree
            && (shortfall::is_too_large(&grant.path)
                || ["/proc", "/sys"].iter().any(|tree| grant.path.starts_with(tree)))
    };
    if let Some(grant) = chosen().find(is_too_large) {
        return Some(KeptExact::TooLarge(grant.path.clone()));
    }
    let is_only_executed =
        |grant: &&Grant| grant.access.contains(Access::EXECUTE) && !grant.access.contains(Access::READ);
    if let Some(grant) = chosen().find(is_only_executed) {
        return Some(KeptExact::Executed(grant.path.clone()));
    }
    let lies_in_another = |path: &Path| {
        chosen().any(|grant| {
            grant.extent == GrantExtent::Subtree
                && grant.access.contains(Access::READ)
                && path != grant.path
                && grant.covers(path)
        })
    };
    let may_be_made_anew =
        |grant: &&Grant| grant.access.intersects(Access::CHANGE) && !stays(grant) && !lies_in_another(&grant.path);
    chosen()
        .find(may_be_made_anew)
        .map(|grant| KeptExact::MadeAnew(grant.path.clone()))
}

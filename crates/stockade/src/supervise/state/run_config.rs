//! The configuration of a run, as its supervisor needs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::growth::SpaceReserve;
use crate::plan::Supervision;
use crate::policy::{Mode, Policy};
use crate::report::{Reason, Refusal};
use crate::supervise::object::identity::Identity;

/// The configuration of a run, as its supervisor needs it.
pub struct RunConfig {
    /// The run's policy.
    pub policy: Policy,
    /// The checks that may be left to the kernel.
    pub supervision: Supervision,
    /// Chosen trees where Landlock reads all that is there.
    pub native: Vec<PathBuf>,
    /// The run's own scratch directory.
    pub scratch: Option<PathBuf>,
    /// The directory that it keeps for later runs of its kind.
    pub cache: Option<PathBuf>,
    /// Whether programs may be started from the scratch directory.
    pub scratch_executes: bool,
    /// The terminals that the run was given.
    pub terminals: Vec<PathBuf>,
    /// The number of `execve(2)` calls that the command itself takes.
    pub starts: u32,
    /// The highest soft limit on its user's processes that the run has had, if the launcher adjusts the limit.
    pub most_processes: Option<Arc<AtomicU64>>,
    /// The space that the run leaves free where it writes.
    pub kept: Option<SpaceReserve>,
    /// Places of repositories that earlier runs removed.
    pub taken: Vec<PathBuf>,
    /// Repositories that earlier runs made, and the directories that they are in.
    pub earlier: Vec<Identity>,
}

impl RunConfig {
    pub fn is_in_scratch(&self, name: &Path) -> bool {
        self.scratch.as_ref().is_some_and(|scratch| name.starts_with(scratch))
    }

    /// Whether Landlock lets the run read what lies there. The tree itself is another object once it was replaced.
    pub fn is_read_natively(&self, name: &Path, is_replaced: impl Fn(&Path) -> bool) -> bool {
        let mut trees = self.native.iter();
        trees.any(|tree| name != tree && name.starts_with(tree) && !is_replaced(tree))
    }

    /// Whether it lies in a tree that was looked through before the start, or is one.
    pub fn was_looked_through(&self, name: &Path) -> bool {
        self.native.iter().any(|tree| name.starts_with(tree))
    }

    pub fn is_in_cache(&self, name: &Path) -> bool {
        self.cache.as_ref().is_some_and(|cache| name.starts_with(cache))
    }

    /// Whether a name is in a directory that the run has to itself: no denial applies there.
    pub fn is_private(&self, name: &Path) -> bool {
        self.is_in_scratch(name) || self.is_in_cache(name)
    }

    /// Replaces a missing grant, as the reason of a refusal, by a missing capability or the mode `manual` behind it.
    pub fn policy_reason(&self, mut refusal: Refusal) -> Refusal {
        let held = self.policy.capabilities;
        if refusal.reason == Reason::NotGranted
            && let Some(capability) = refusal.kind.capability().filter(|needed| !held.contains(*needed))
        {
            refusal.reason = Reason::Incapable(capability);
        }
        if refusal.reason == Reason::NotGranted && refusal.kind.changes() && self.policy.mode == Mode::Manual {
            refusal.reason = Reason::Limited("every change asks in mode `manual`".into());
        }
        refusal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Capabilities;
    use crate::report::Kind;
    use crate::supervise::testing::{policy, refusal, run_config};

    fn reason(change: impl FnOnce(&mut RunConfig), refused: Refusal) -> Reason {
        let mut config = run_config(policy(Vec::new()));
        change(&mut config);
        config.policy_reason(refused).reason
    }

    #[test]
    fn a_missing_capability_is_told_in_place_of_a_missing_grant() {
        let readers = |config: &mut RunConfig| config.policy.capabilities = Capabilities::READ;
        let incapable = Reason::Incapable(Capabilities::WRITE);
        assert_eq!(reason(readers, refusal(Kind::Create, "/w/a")), incapable);
        assert_eq!(reason(readers, refusal(Kind::Read, "/w/a")), Reason::NotGranted);
        assert_eq!(reason(readers, refusal(Kind::Socket, "/w/a")), Reason::NotGranted);
    }

    #[test]
    fn in_manual_mode_a_change_is_limited_and_reading_is_not_granted() {
        let manual = |config: &mut RunConfig| config.policy.mode = Mode::Manual;
        assert!(matches!(
            reason(manual, refusal(Kind::Write, "/w/a")),
            Reason::Limited(_)
        ));
        assert_eq!(reason(manual, refusal(Kind::Read, "/w/a")), Reason::NotGranted);
    }

    #[test]
    fn any_other_reason_stays() {
        let mut never = refusal(Kind::Write, "/w/a");
        never.reason = Reason::Never("never".into());
        let strict = |config: &mut RunConfig| {
            config.policy.mode = Mode::Manual;
            config.policy.capabilities = Capabilities::READ;
        };
        assert_eq!(reason(strict, never), Reason::Never("never".into()));
    }

    #[test]
    fn what_landlock_reads_is_below_a_native_tree_and_not_the_tree_itself() {
        let mut config = run_config(policy(Vec::new()));
        config.native = vec!["/w".into()];
        let (tree, below, beside) = (Path::new("/w"), Path::new("/w/a"), Path::new("/wa"));
        let reads = |name| config.is_read_natively(name, |_| false);
        assert!(!reads(tree) && reads(below) && !reads(beside));
        assert!(!config.is_read_natively(below, |top| top == tree));
        assert!(config.was_looked_through(tree) && config.was_looked_through(below));
        assert!(!config.was_looked_through(beside));
    }

    #[test]
    fn the_scratch_directory_and_the_cache_are_private_and_their_neighbours_are_not() {
        let mut config = run_config(policy(Vec::new()));
        assert!(!config.is_private(Path::new("/s")));
        config.scratch = Some("/s".into());
        config.cache = Some("/c".into());
        for private in ["/s", "/s/a", "/c/a"] {
            assert!(config.is_private(Path::new(private)), "{private}");
        }
        assert!(!config.is_private(Path::new("/sa")));
        assert!(config.is_in_scratch(Path::new("/s/a")) && !config.is_in_cache(Path::new("/s/a")));
    }
}

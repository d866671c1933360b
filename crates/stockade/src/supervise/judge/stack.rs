//! The policies that judge one call: the run's, and those of the nested runs that the caller is in. A refusal by one of
//! them is final, so a nested run never has more access than the outer one.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use super::may_continue::{Change, MayContinue, RegisterAccess};
use super::policy::Judge;
use super::verdict::{AccessVerdict, By};
use crate::policy::{Access, Arrival, Capabilities, Renamed};
use crate::report::Reason;
use crate::supervise::approvals::CallGrants;
use crate::supervise::call::caller::Caller;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::{Pinned, Place};
use crate::supervise::run::Run;
use crate::supervise::state::made::Made;
use crate::supervise::state::nested_runs::CallerRuns;
use crate::supervise::state::run_policy::RunPolicy;

/// The policies that judge one call.
pub struct PolicyStack<'a> {
    pub run: &'a Arc<Run>,
    pub fds: &'a WorkerFds,
    pub caller: &'a Caller<'a>,
    pub nested_runs: &'a CallerRuns,
    /// The grants of this call beyond the policies.
    pub call_grants: &'a CallGrants,
}

impl PolicyStack<'_> {
    /// The policies that apply, the run's first.
    pub fn policies(&self) -> impl Iterator<Item = &RunPolicy> {
        std::iter::once(self.run.policy()).chain(self.nested_runs.list.iter().map(|nested_run| &nested_run.run_policy))
    }

    fn judge<'a>(&'a self, run_policy: &'a RunPolicy) -> Judge<'a> {
        Judge {
            run_policy,
            fds: self.fds,
            caller: self.caller,
            indexes: &self.run.indexes,
            opened: None,
        }
    }

    /// The run's own judge, which considers approved grants.
    fn own_judge(&self) -> Judge<'_> {
        Judge {
            opened: self
                .run
                .approvals
                .as_deref()
                .map(|approvals| (approvals, &self.call_grants.once)),
            ..self.judge(self.run.policy())
        }
    }

    /// The combined verdict of all policies.
    pub fn all(&self, ask: impl Fn(&Judge<'_>) -> AccessVerdict) -> AccessVerdict {
        let outer = ask(&self.own_judge());
        self.nested_runs.list.iter().fold(outer, |verdict, nested_run| {
            let inner = match ask(&self.judge(&nested_run.run_policy)) {
                AccessVerdict::Refused(reason) => AccessVerdict::Refused(nested_run.refuses(reason)),
                granted => granted,
            };
            verdict.and(inner)
        })
    }

    /// Judges access to a name.
    pub fn name(&self, access: Access, name: &Path) -> AccessVerdict {
        self.all(|judge| judge.name(access, name))
    }

    /// Judges access to an existing object. `access` is READ, WRITE or both.
    pub fn object(&self, access: Access, object: &Pinned) -> AccessVerdict {
        self.all(|judge| judge.object(access, object))
    }

    /// Whether the process list may replace `/proc`: no policy refuses that for another reason than a missing grant.
    pub fn lists_processes(&self, proc: &Pinned) -> bool {
        let verdict = self.all(|judge| match judge.object(Access::READ, proc) {
            AccessVerdict::Refused(Reason::NotGranted | Reason::Incapable(_)) => AccessVerdict::Allowed(By::Supervisor),
            verdict => verdict,
        });
        !verdict.is_refused()
    }

    /// Judges truncating a file.
    pub fn truncation(&self, object: &Pinned) -> AccessVerdict {
        self.all(|judge| judge.truncation(object))
    }

    /// Whether a name is in the scratch directory of one of the runs.
    pub fn is_in_a_scratch(&self, name: &Path) -> bool {
        self.policies()
            .any(|run_policy| run_policy.run_config.is_in_scratch(name))
    }

    /// Judges access to the entry at a place.
    pub fn place(&self, access: Access, place: &Place) -> AccessVerdict {
        self.all(|judge| judge.place(access, place))
    }

    /// Judges creating an entry.
    pub fn new_entry(&self, place: &Place) -> AccessVerdict {
        self.all(|judge| judge.new_entry(place))
    }

    /// Judges making or removing an empty directory.
    pub fn empty_directory(&self, access: Access, place: &Place) -> AccessVerdict {
        self.all(|judge| judge.empty_directory(access, place))
    }

    /// Judges creating the lock of a git configuration.
    pub fn new_git_lock(&self, place: &Place) -> AccessVerdict {
        self.all(|judge| judge.new_git_lock(place))
    }

    /// Whether a rename, and nothing else, may write this file of a repository that one of the runs didn't make.
    pub fn renames_into_anothers(&self, place: &Place) -> bool {
        Renamed::of(place.name()).is_some()
            && self.place(Access::CHANGE, place).is_refused()
            && !self.all(|judge| judge.git_renamed(place)).is_refused()
    }

    /// Whether none of the active runs, the caller's and all others, has this access to a name.
    pub fn is_closed_to_all(&self, access: Access, name: &Path) -> bool {
        let nested_runs = self.run.journal.nested_runs.all();
        let inner = nested_runs.iter().map(|nested_run| &nested_run.run_policy);
        let mut policies = std::iter::once(self.run.policy()).chain(inner);
        policies.all(|run_policy| self.judge(run_policy).name(access, name).is_refused())
    }

    /// Whether a directory of this name would fill a submodule's or directory's place in another repository's index.
    pub fn fills_submodule(&self, directory: &Path, is_repository: &dyn Fn(&Path) -> bool) -> bool {
        let mut policies = self
            .policies()
            .filter(|run_policy| !run_policy.run_config.is_private(directory));
        policies.any(|run_policy| self.judge(run_policy).fills_submodule(directory, is_repository))
    }

    /// Whether a file is refused only for being one that git obeys.
    pub fn is_closed_as_git_file(&self, place: &Place) -> bool {
        let is_open = |run_policy: &RunPolicy| self.judge(run_policy).is_open_but_for_git(Access::CHANGE, place.name());
        self.place(Access::CHANGE, place).is_refused() && self.policies().all(is_open)
    }

    /// Judges bringing something from outside into a `.git`, where only writing is allowed.
    pub fn entry_in_git(&self, old: Option<&Path>, new: &Path) -> AccessVerdict {
        self.all(|judge| judge.entry_in_git(old, new))
    }

    /// Judges whether what gets the name `new` contains, or leads to, something that couldn't be created there.
    pub fn plants_below(&self, arrival: Arrival<'_>, new: &Path) -> AccessVerdict {
        self.all(|judge| judge.plants_below(arrival, new))
    }

    /// Judges changing a directory's mode, owner and access list.
    pub fn directory_attributes(&self, directory: &Path) -> AccessVerdict {
        self.all(|judge| judge.directory_attributes(directory))
    }

    /// Judges moving or linking between a cache and the outside.
    pub fn cache_border(&self, old: Option<&Path>, new: &Path) -> AccessVerdict {
        self.all(|judge| judge.cache_border(old, new))
    }

    /// Judges whether moving `old` to `new` would open something denied.
    pub fn rename_opens(&self, old: &Path, new: &Path) -> AccessVerdict {
        self.all(|judge| judge.rename_opens(old, new))
    }

    /// The reason why a program may not be executed, if it may not.
    pub fn refuses_to_execute(&self, object: &Pinned) -> Option<Reason> {
        let verdict = self.all(|judge| match (judge.closed_program(object), judge.executes(object)) {
            (Some(reason), _) => AccessVerdict::Refused(reason),
            (None, true) => AccessVerdict::Allowed(By::Landlock),
            (None, false) => AccessVerdict::Refused(Reason::NotGranted),
        });
        match verdict {
            AccessVerdict::Refused(reason) => Some(reason),
            _ => None,
        }
    }

    /// The reason why the run lacks a capability, if it does.
    pub fn incapable(&self, capability: Capabilities) -> Option<Reason> {
        self.unless(capability, |run_policy| {
            run_policy.run_config.policy.capabilities.contains(capability)
        })
    }

    /// The reason why a caller may not execute one more program, if it may not.
    pub fn refuses_to_start(&self, caller: &Caller<'_>) -> Option<Reason> {
        self.unless(Capabilities::EXECUTE, |run_policy| {
            run_policy.may_start(|| caller.process())
        })
    }

    fn unless(&self, capability: Capabilities, may: impl Fn(&RunPolicy) -> bool) -> Option<Reason> {
        self.refusing(Reason::Incapable(capability), may)
    }

    /// The reason of a refusal, unless every run may do it: the run's own, or that of a nested run.
    pub fn refusing(&self, reason: Reason, may: impl Fn(&RunPolicy) -> bool) -> Option<Reason> {
        if !may(self.run.policy()) {
            return Some(reason);
        }
        let inner = self
            .nested_runs
            .list
            .iter()
            .find(|nested_run| !may(&nested_run.run_policy));
        inner.map(|nested_run| nested_run.refuses(reason))
    }

    /// The open file that a descriptor of the caller's refers to, and its access mode.
    pub fn held(&self, object: &Pinned) -> Option<(OwnedFd, Access)> {
        self.judge(self.run.policy()).held(object)
    }

    /// The proof for an open that no policy refuses, if Landlock grants it by all policies.
    pub fn may_open(&self, access: RegisterAccess) -> Option<MayContinue> {
        self.each(|run_policy| MayContinue::open(run_policy.run_config.supervision, access))
    }

    /// Whether Landlock lets the caller read what has this name.
    pub fn is_read_natively(&self, name: &Path) -> bool {
        self.policies().all(|run_policy| {
            // Landlock's rule went with the tree that the run removed.
            let is_replaced = |tree: &Path| run_policy.made().may_have_been_anothers(tree);
            run_policy.run_config.is_read_natively(name, is_replaced)
        })
    }

    /// The proof for a change of directories.
    pub fn may_change(&self, change: Change) -> Option<MayContinue> {
        self.each(|run_policy| MayContinue::change(run_policy.run_config.supervision, change))
    }

    /// The last proof, if every policy has one.
    fn each(&self, prove: impl Fn(&RunPolicy) -> Option<MayContinue>) -> Option<MayContinue> {
        let mut proof = None;
        for run_policy in self.policies() {
            proof = Some(prove(run_policy)?);
        }
        proof
    }

    /// The policy whose remembered paths apply to the caller: the innermost one's. `None` if that isn't certain.
    pub fn innermost(&self) -> Option<&RunPolicy> {
        let innermost = self
            .nested_runs
            .list
            .first()
            .map_or(self.run.policy(), |nested_run| &nested_run.run_policy);
        self.nested_runs.is_certain.then_some(innermost)
    }

    /// Whether the caller is in the run itself, and in no nested run.
    pub fn is_in_no_inner_run(&self) -> bool {
        self.nested_runs.is_certain && self.nested_runs.list.is_empty()
    }

    /// Whether all policies count something as made by their own run.
    pub fn made(&self, is_among: impl Fn(&Made) -> bool) -> bool {
        self.policies().all(|run_policy| is_among(&run_policy.made()))
    }

    /// Records something that the caller made: it belongs to its run, and to those around it.
    pub fn note_made(&self, note: impl Fn(&mut MutexGuard<'_, Made>)) {
        self.policies().for_each(|run_policy| note(&mut run_policy.made()));
    }

    /// Forgets an object in all runs.
    pub fn forget(&self, identity: Identity) {
        self.in_all_runs(|made| made.forget(identity));
    }

    /// Records in all runs that a repository, or a part of one, is gone from its place, unless the run made it.
    pub fn note_taken(&self, repository: &Path, part: Identity) {
        let whole = Identity::at(repository);
        self.in_all_runs(|made| {
            let is_runs = |identity| made.has_made(identity) || made.earlier.contains(&identity);
            let is_own = is_runs(part) || whole.is_some_and(is_runs);
            if !is_own || made.was_anothers(repository) {
                made.take(repository);
            }
        });
    }

    /// Records in all runs that an object lost its name, unless the run made the object; and its new name, if it was
    /// moved.
    pub fn vacate(&self, name: &Path, identity: Identity, now: Option<&Path>) {
        self.in_all_runs(|made| {
            if let Some(now) = now {
                made.move_vacated(name, now);
                made.carry(identity);
            }
            made.vacate(name, identity);
        });
    }

    fn in_all_runs(&self, note: impl Fn(&mut Made)) {
        note(&mut self.run.made());
        for nested_run in self.run.journal.nested_runs.all() {
            note(&mut nested_run.run_policy.made());
        }
    }

    /// The lowest value of a limit among the policies.
    pub fn lowest(&self, limit: impl Fn(&RunPolicy) -> Option<u64>) -> Option<u64> {
        self.policies().filter_map(limit).min()
    }
}

#[cfg(test)]
mod tests;

//! Verdicts: the policy's decision on an access to a pinned object, which considers what the run itself has made.

use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::state::git_indexes;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::blobs;
use crate::policy::{
    Access, AccessDecision, Arrival, Capabilities, DenialRule, Grant, GuardedBy, IsSpared, Renamed, SecretList,
    git_config_of_lock, git_directory, is_git_config, is_of_work_tree,
};
use crate::profile::Origin;
use crate::real_path::{REPOSITORIES, holds_repository, may_be_there};
use crate::report::{COPIED, Reason, TOP_STAYS};
use crate::supervise::approvals::{Approvals, ApprovedGrants};
use crate::supervise::call::caller::Caller;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::call::procfs::{self, Whose};
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::{FileSystemKind, Pinned, PinnedEntry, Place};
use crate::supervise::state::git_indexes::GitIndexes;
use crate::supervise::state::made::Made;
use crate::supervise::state::pseudo_terminal::PseudoTerminal;
use crate::supervise::state::run_policy::RunPolicy;
use stockade_sys::file;

/// The reason to refuse writing git's `HEAD` or index in another way than git does.
const RENAMED: &str = "git's HEAD and its index are written to another name, and renamed";

/// Allows the file that only a rename may write, for accesses that don't write it or that are such a rename.
fn but_for_renames(verdict: AccessVerdict) -> AccessVerdict {
    match verdict {
        AccessVerdict::Refused(Reason::Never(reason)) if reason == RENAMED => AccessVerdict::Allowed(By::Supervisor),
        verdict => verdict,
    }
}

/// The reason to refuse another hook.
const HOOK: &str = "a hook of the repository around it, by its `core.hooksPath`";

/// The reason to refuse a name by which git would take a directory over.
const TAKES_OVER: &str = "git would take this for the repository of a directory whose own was there before";

/// Judges accesses by one policy.
pub struct Judge<'a> {
    pub run_policy: &'a RunPolicy,
    pub fds: &'a WorkerFds,
    pub caller: &'a Caller<'a>,
    pub indexes: &'a GitIndexes,
    /// The approved grants: those until the run ends, and those of this call alone.
    pub opened: Option<(&'a Approvals, &'a ApprovedGrants)>,
}

impl Judge<'_> {
    /// Judges access to an existing object. `access` is READ, WRITE or both.
    pub fn object(&self, access: Access, object: &Pinned) -> AccessVerdict {
        if !object.has_name() {
            return self.nameless(access, object);
        }
        if let Some(refused) = kernels_elsewhere(access, object.file_system(), object.name()) {
            return refused;
        }
        if object.is_device() {
            return self.device(access, object);
        }
        if object.name().starts_with("/dev/shm") && self.run_policy.made().shared_memory.contains(&object.identity()) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        if self.is_own_git_lock(access, object.name(), object.identity()) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        let verdict = self.name(access, object.name());
        if verdict.is_refused() && access == Access::READ && self.is_in_repository(object) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        verdict
    }

    /// Whether the lists close a file whose content the repository around holds: the run reads it there.
    fn is_in_repository(&self, object: &Pinned) -> bool {
        if !object.is_regular() || object.has_other_names() {
            return false;
        }
        let objects = blobs::objects_for(&self.run_policy.matcher(), object.name());
        let objects = objects.and_then(|objects| blobs::Objects::open(&objects));
        let read = || self.fds.reopen(object.as_fd(), libc::O_RDONLY).map(File::from);
        objects.is_some_and(|objects| read().and_then(|file| objects.hold(&file)).unwrap_or(false))
    }

    /// Judges access to the entry at a place: creating it, or removing and replacing it.
    pub fn place(&self, access: Access, place: &Place) -> AccessVerdict {
        if !place.parent.has_name() {
            return AccessVerdict::Refused(Reason::NotGranted);
        }
        let run_config = &self.run_policy.run_config;
        if run_config.scratch.as_deref() == Some(place.name()) {
            return AccessVerdict::Refused(Reason::Never("the scratch directory stays where it is".into()));
        }
        if run_config.cache.as_deref() == Some(place.name()) {
            return AccessVerdict::Refused(Reason::Never("the cache stays where it is".into()));
        }
        if access.contains(Access::DELETE) && self.is_kept_top(place) {
            return AccessVerdict::Refused(Reason::Never(TOP_STAYS.into()));
        }
        if let Some(refused) = kernels_elsewhere(access, place.parent.file_system(), place.parent.name()) {
            return refused;
        }
        let is_own_lock = |found: PinnedEntry| self.is_own_git_lock(access, place.name(), found.identity());
        match is_git_lock(place.name()) && place.look().is_some_and(is_own_lock) {
            true => AccessVerdict::Allowed(By::Supervisor),
            false => self.name(access, place.name()),
        }
    }

    /// Whether something is granted by itself, and nothing grants the directory above.
    fn is_top_alone(&self, access: Access, name: &Path) -> bool {
        let mut grants = self.grants(access, name).peekable();
        grants.peek().is_some() && grants.all(|grant| grant.path == name)
    }

    /// Whether the top of a granted tree stays where it is: outside the root, unless the run made it. In its place a later run with
    /// the same grant would find something else.
    fn is_kept_top(&self, place: &Place) -> bool {
        let is_anothers =
            |found: PinnedEntry| found.is_directory() && !self.run_policy.made().has_made(found.identity());
        self.is_top_alone(Access::DELETE, place.name())
            && !self.run_policy.run_config.policy.is_inside_root(place.name())
            && place.look().is_some_and(is_anothers)
    }

    /// Judges creating an entry. A new repository is the run's own, unless it lies in another's `.git`, or where git
    /// may take it for a submodule of another's.
    pub fn new_entry(&self, place: &Place) -> AccessVerdict {
        let name = place.name();
        if self.takes_over(name) {
            return AccessVerdict::Refused(Reason::Never(TAKES_OVER.into()));
        }
        match self.place(Access::WRITE, place) {
            AccessVerdict::Refused(Reason::Denied(denial))
                if denial.guards_git()
                    && git_directory(name) == Some(name)
                    && self.is_granted(Access::WRITE, name)
                    && !self.may_be_submodule(name) =>
            {
                // The directory doesn't exist yet; a name that was another's directory still counts as that.
                self.where_spared(Access::WRITE, name, &|by, directory| match by {
                    GuardedBy::Git => is_built(directory) || !self.run_policy.made().was_anothers(directory),
                    GuardedBy::Name(_) => self.spares(Access::WRITE, by, directory),
                })
            }
            verdict => verdict,
        }
    }

    /// Judges making or removing an empty directory. One whose own name is guarded, and nothing above it, holds nothing that a
    /// tool obeys, and programs make it on the way to a file, of which the refusal then tells.
    pub fn empty_directory(&self, access: Access, place: &Place) -> AccessVerdict {
        let verdict = match access {
            Access::WRITE => self.new_entry(place),
            _ => self.place(access, place),
        };
        match verdict {
            AccessVerdict::Refused(Reason::Denied(denial)) if self.is_closed_for_itself(&denial, access, place) => {
                AccessVerdict::Allowed(By::Supervisor)
            }
            verdict => verdict,
        }
    }

    fn is_closed_for_itself(&self, denial: &DenialRule, access: Access, place: &Place) -> bool {
        let is_name = |by, _: &Path| matches!(by, GuardedBy::Name(SecretList::Folder | SecretList::Project));
        let matcher = self.run_policy.matcher();
        denial.openable_line().is_some()
            && self.is_granted(access, place.name())
            && matcher.denial(access, place.parent.name(), false).is_none()
            && matcher.denial_unless(access, place.name(), &is_name).is_none()
    }

    /// Whether git would take the directory of a new `.git` or `HEAD` for the repository of one below, whose own the run has
    /// removed something of; or a directory with another's `.git` for a repository itself.
    fn takes_over(&self, name: &Path) -> bool {
        let around = git_directory(name);
        let is_repository = around == Some(name);
        let is_head = around.is_none() && name.file_name().is_some_and(|last| last.eq_ignore_ascii_case("HEAD"));
        let Some(directory) = name.parent().filter(|_| is_head || is_repository) else {
            return false;
        };
        let git = directory.join(".git");
        let made = self.run_policy.made();
        is_head && (made.was_anothers(&git) || may_be_there(&git) && !self.is_made(&made, &git))
            || made.has_taken_from_below(directory)
    }

    /// Judges a rename that writes a file which only a rename may write.
    pub fn git_renamed(&self, place: &Place) -> AccessVerdict {
        but_for_renames(self.place(Access::CHANGE, place))
    }

    /// Judges setting an object's times, or a mode that leaves it readable.
    pub fn attributes(&self, object: &Pinned) -> AccessVerdict {
        let name = object.name();
        if object.has_name() && is_git_config(name) && self.is_open_but_for_git(Access::WRITE, name) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        but_for_renames(self.object(Access::WRITE, object))
    }

    /// Whether only a rename may write the file, which leads git elsewhere in a repository that the run didn't make.
    /// Without `HEAD` git may use a directory above, or the work tree itself, as the repository; and an index lists
    /// submodules where no repository may be. Linked work trees lose theirs when they are removed.
    fn is_renamed_alone(&self, access: Access, name: &Path) -> bool {
        let closed = match Renamed::of(name) {
            Some(Renamed::Head | Renamed::Index) => Access::CHANGE,
            Some(Renamed::OthersIndex | Renamed::SharedIndex) => Access::WRITE,
            None => return false,
        };
        let is_gone = access.intersection(closed) == Access::DELETE && self.may_remove(name);
        access.intersects(closed) && !is_gone && !self.is_of_own_repository(name)
    }

    /// Judges creating the lock of a git configuration.
    pub fn new_git_lock(&self, place: &Place) -> AccessVerdict {
        match self.new_entry(place) {
            AccessVerdict::Refused(Reason::Denied(denial))
                if denial.guards_git() && self.is_open_but_for_git(Access::WRITE, place.name()) =>
            {
                AccessVerdict::Allowed(By::Supervisor)
            }
            verdict => verdict,
        }
    }

    /// Whether this is a git configuration's lock that the run made, and may access as it may access `.git`'s parent.
    fn is_own_git_lock(&self, access: Access, name: &Path, found: Identity) -> bool {
        is_git_lock(name)
            && self.run_policy.made().git_locks.contains_key(&found)
            && self.is_open_but_for_git(access, name)
    }

    /// Whether a name in a `.git` is granted, and denied only for being there.
    pub fn is_open_but_for_git(&self, access: Access, name: &Path) -> bool {
        let is_git = |by, _: &Path| by == GuardedBy::Git;
        let is_open = |bit: Access| {
            self.is_granted(bit, name) && self.run_policy.matcher().denial_unless(bit, name, &is_git).is_none()
        };
        let mut bits = [Access::READ, Access::WRITE, Access::DELETE].into_iter();
        bits.all(|bit| !access.contains(bit) || is_open(bit))
    }

    /// Judges access to a name.
    pub fn name(&self, access: Access, name: &Path) -> AccessVerdict {
        if self.run_policy.run_config.is_in_scratch(name) {
            return AccessVerdict::Allowed(By::Landlock);
        }
        if self.run_policy.run_config.is_in_cache(name) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        if let Some(process) = procfs::process_of(name) {
            return self.process_entry(access, name, process);
        }
        let mut verdict = AccessVerdict::Allowed(By::Landlock);
        for bit in [Access::READ, Access::WRITE, Access::DELETE] {
            if access.contains(bit) {
                verdict = verdict.and(self.bit(bit, name));
            }
        }
        if !verdict.is_refused()
            && access.contains(Access::WRITE)
            && git_indexes::is_named_hook(name)
            && !self.has_made_around(name)
            && !self.run_policy.run_config.policy.opens_guarded(name)
        {
            return AccessVerdict::Refused(Reason::Never(HOOK.into()));
        }
        if !verdict.is_refused() && self.is_renamed_alone(access, name) {
            return AccessVerdict::Refused(Reason::Never(RENAMED.into()));
        }
        verdict
    }

    /// Judges truncating a file, which counts as deleting. The scratch directory and the cache are the run's own.
    pub fn truncation(&self, object: &Pinned) -> AccessVerdict {
        match self.incapable(Access::DELETE) {
            Some(capability) if object.has_name() && !self.run_policy.run_config.is_private(object.name()) => {
                AccessVerdict::Refused(Reason::Incapable(capability))
            }
            _ => AccessVerdict::Allowed(By::Supervisor),
        }
    }

    fn bit(&self, bit: Access, name: &Path) -> AccessVerdict {
        match self.run_policy.matcher().decide(bit, name) {
            AccessDecision::Allow(_) if is_apart(bit, name) && !self.is_granted_inside(bit, name) => {
                AccessVerdict::Refused(Reason::NotGranted)
            }
            AccessDecision::Allow(grant) if grant.is_chosen() => AccessVerdict::Allowed(By::Supervisor),
            AccessDecision::Allow(_) => AccessVerdict::Allowed(By::Landlock),
            AccessDecision::NotGranted => match self.incapable(bit) {
                Some(capability) => AccessVerdict::Refused(Reason::Incapable(capability)),
                None if self.is_opened(|opened| opened.path(bit, name)) && !is_apart(bit, name) => {
                    AccessVerdict::Allowed(By::Approval)
                }
                None => AccessVerdict::Refused(Reason::NotGranted),
            },
            AccessDecision::Denied(denial) if self.opens_guarded(denial, bit, name) => {
                match self.is_granted(bit, name) {
                    true => AccessVerdict::Allowed(By::Supervisor),
                    false => AccessVerdict::Allowed(By::Approval),
                }
            }
            AccessDecision::Denied(denial) => {
                if denial.spares() && self.is_granted(bit, name) {
                    return self.where_spared(bit, name, &|by, directory| self.spares(bit, by, directory));
                }
                AccessVerdict::Refused(Reason::Denied(Box::new(denial.met_at(name))))
            }
        }
    }

    /// Whether a person opened this guarded file for the run, and nothing else denies it.
    fn opens_guarded(&self, denial: &DenialRule, bit: Access, name: &Path) -> bool {
        let is_name = |by, _: &Path| matches!(by, GuardedBy::Name(SecretList::Folder | SecretList::Project));
        denial.spares()
            && self.is_opened(|opened| opened.opens_guarded(name))
            && self.run_policy.matcher().denial_unless(bit, name, &is_name).is_none()
    }

    /// Whether nothing is guarded in a directory: the run made it, no tool looks there, or what is there may be removed.
    /// A `.git` stands for the directory that it is in.
    fn spares(&self, bit: Access, by: GuardedBy, directory: &Path) -> bool {
        let place = match by {
            GuardedBy::Git => directory.parent().unwrap_or(directory),
            GuardedBy::Name(_) => directory,
        };
        let is_name = matches!(by, GuardedBy::Name(SecretList::Folder | SecretList::Project));
        self.has_made(directory)
            || bit == Access::DELETE && !self.is_top(place)
            || by == GuardedBy::Name(SecretList::Project) && !self.is_project(place)
            || is_name && self.is_output(place)
    }

    /// Whether a directory is one of installed packages, or of what a build made, and of no repository there.
    fn is_output(&self, directory: &Path) -> bool {
        self.run_policy.run_config.policy.is_output(directory, holds_repository)
    }

    /// Whether a directory is the top of a tree that the run was given to work in, or lies above one.
    fn is_top(&self, directory: &Path) -> bool {
        self.run_policy
            .run_config
            .policy
            .tops()
            .any(|top| top.starts_with(directory))
    }

    /// Whether tools take a directory for the top of a project. One that the run took the repository from still is one.
    fn is_project(&self, directory: &Path) -> bool {
        let was_one = |name: &&str| self.run_policy.made().may_have_been_anothers(&directory.join(name));
        self.is_top(directory) || holds_repository(directory) || REPOSITORIES.iter().any(was_one)
    }

    /// Whether the run may remove what is in another's `.git`: where that is no tree's own, and what belongs to a linked
    /// work tree. Nothing is executed for being gone.
    fn may_remove(&self, name: &Path) -> bool {
        is_of_work_tree(name) || git_directory(name).is_some_and(|git| self.spares(Access::DELETE, GuardedBy::Git, git))
    }

    /// Judges something in directories where the guards of names, or of `.git`, may be off: only other denials apply.
    fn where_spared(&self, access: Access, name: &Path, is_spared: IsSpared<'_>) -> AccessVerdict {
        let is_of_work_tree = access == Access::DELETE && is_of_work_tree(name);
        let is_spared = |by, directory: &Path| by == GuardedBy::Git && is_of_work_tree || is_spared(by, directory);
        let denial = || self.run_policy.matcher().denial_unless(access, name, &is_spared);
        // Removing brings nothing to where it is guarded.
        let noted = || access == Access::DELETE || std::mem::replace(&mut self.run_policy.made().uses_own, true);
        // Decided again once `uses_own` is set: a link made meanwhile claims its target first and then checks the flag.
        match denial().or_else(|| if noted() { None } else { denial() }) {
            Some(denial) => AccessVerdict::Refused(Reason::Denied(Box::new(denial.met_at(name)))),
            None => AccessVerdict::Allowed(By::Supervisor),
        }
    }

    /// The capability for this access, if the run lacks it.
    fn incapable(&self, bit: Access) -> Option<Capabilities> {
        let capability = match bit {
            Access::READ => Capabilities::READ,
            Access::WRITE => Capabilities::WRITE,
            Access::DELETE => Capabilities::DELETE,
            _ => Capabilities::EXECUTE,
        };
        (!self.run_policy.run_config.policy.capabilities.contains(capability)).then_some(capability)
    }

    /// Whether one of the approved grants matches.
    pub fn is_opened(&self, is: impl Fn(&ApprovedGrants) -> bool) -> bool {
        self.opened
            .is_some_and(|(approvals, once)| is(once) || is(&approvals.opened()))
    }

    fn is_granted(&self, bit: Access, name: &Path) -> bool {
        self.grants(bit, name).next().is_some()
    }

    fn grants(&self, bit: Access, name: &Path) -> impl Iterator<Item = &Grant> {
        let grants = self.run_policy.run_config.policy.grants.iter();
        grants.filter(move |grant| grant.access.contains(bit) && grant.covers(name))
    }

    /// Whether a grant lies inside `/dev`, `/proc` or `/sys`: `/dev`, and writing to the others, need such a grant.
    fn is_granted_inside(&self, bit: Access, name: &Path) -> bool {
        self.grants(bit, name)
            .any(|grant| APART.iter().any(|apart| grant.path.starts_with(apart)))
    }

    /// Whether the run made the `.git`, or a directory in it, that the name lies in: then it isn't guarded.
    fn is_of_own_repository(&self, name: &Path) -> bool {
        let Some(git) = git_directory(name) else { return false };
        let above = name.ancestors().skip(usize::from(name != git));
        above
            .take_while(|above| above.starts_with(git))
            .any(|directory| self.has_made(directory))
    }

    /// Whether the run made the directory of a name, or one above: what is there is the run's own.
    fn has_made_around(&self, name: &Path) -> bool {
        name.ancestors().skip(1).any(|above| self.has_made(above))
    }

    /// Whether git may take a `.git` for a submodule's: in a repository that the run didn't make, in a directory that
    /// the run didn't make or that the index has an entry for, or in another's directory that was moved. Git enters
    /// submodules from the top, and obeys what it finds there (git-status(1)).
    fn may_be_submodule(&self, git: &Path) -> bool {
        let directory = git.parent().unwrap_or(git);
        let is_made = self.has_made(directory);
        // It may be moved back to where there is a repository around it.
        let may_return = !is_made && self.run_policy.made().has_carried(directory);
        may_return
            || self
                .repositories_around(directory)
                .any(|repository| !is_made || git_indexes::has_tracked(&repository, directory))
    }

    /// Whether a directory of this name would fill a place where an index has a submodule or a directory.
    /// `is_repository` is called for those places in it.
    pub fn fills_submodule(&self, directory: &Path, is_repository: &dyn Fn(&Path) -> bool) -> bool {
        self.repositories_around(directory)
            .any(|repository| self.indexes.have_place(&repository, directory, is_repository))
    }

    /// The `.git` of each directory above, if one is there that the run didn't make, or if that can't be checked.
    fn repositories_around(&self, directory: &Path) -> impl Iterator<Item = PathBuf> {
        let above = directory.ancestors().skip(1).map(|above| above.join(".git"));
        above.filter(|git| may_be_there(git) && !self.has_made(git))
    }

    /// Whether this run made the directory, and not in the place of another's. The run can't rename meanwhile.
    fn has_made(&self, directory: &Path) -> bool {
        self.is_made(&self.run_policy.made(), directory)
    }

    fn is_made(&self, made: &Made, directory: &Path) -> bool {
        !made.directories.is_empty()
            && Identity::at(directory).is_some_and(|identity| made.directories.contains(&identity))
            && !made.was_anothers(directory)
    }

    fn process_entry(&self, access: Access, name: &Path, process: i32) -> AccessVerdict {
        let own = self.caller.process();
        let whose = if process == own {
            Whose::Own
        } else {
            Whose::AnotherOfRun
        };
        if whose != Whose::Own && !procfs::is_below(self.fds, self.caller.top, process) {
            return AccessVerdict::Refused(Reason::Never("the process isn't part of the run".into()));
        }
        if procfs::may_access(name, whose, access) {
            AccessVerdict::Allowed(By::Supervisor)
        } else {
            AccessVerdict::Refused(Reason::Never("no program may change this of a process".into()))
        }
    }

    /// Judges a deleted file, a pipe or a memory file: the caller may reopen it with the access that it already has.
    fn nameless(&self, access: Access, object: &Pinned) -> AccessVerdict {
        match self.held(object) {
            Some((_, held)) if held.contains(access) => AccessVerdict::Allowed(By::Supervisor),
            _ => AccessVerdict::Refused(Reason::Never("it has no name any more".into())),
        }
    }

    /// The open file that the caller's descriptor refers to, if it is still this object, and its access mode. Both come
    /// from a copy: another thread may have put something else at the number meanwhile.
    pub fn held(&self, object: &Pinned) -> Option<(OwnedFd, Access)> {
        let copy = self.caller.same_file(object.through_descriptor()?).ok()?;
        if Identity::of(copy.as_fd()).ok()? != object.identity() {
            return None;
        }
        let flags = file::open_flags(copy.as_fd()).ok()?;
        let access = match flags & libc::O_ACCMODE {
            _ if flags & libc::O_PATH != 0 => return None,
            libc::O_RDONLY => Access::READ,
            libc::O_WRONLY => Access::WRITE,
            libc::O_RDWR => Access::READ | Access::WRITE,
            _ => return None,
        };
        Some((copy, access))
    }

    /// Judges devices: those of the base, the run's terminals, and those granted by a path below `/dev`.
    fn device(&self, access: Access, object: &Pinned) -> AccessVerdict {
        let name = object.name();
        if self
            .run_policy
            .run_config
            .terminals
            .iter()
            .any(|terminal| terminal == name)
        {
            return AccessVerdict::Allowed(By::Landlock);
        }
        if is_terminal_multiplexer(name) || self.is_own_terminal(object) {
            return AccessVerdict::Allowed(By::Supervisor);
        }
        let named = |bit| {
            self.grants(bit, name)
                .any(|grant| grant.origin == Origin::Base || grant.path.starts_with("/dev"))
        };
        let is_named = [Access::READ, Access::WRITE]
            .into_iter()
            .all(|bit| !access.contains(bit) || named(bit));
        if is_named {
            self.name(access, name)
        } else {
            AccessVerdict::Refused(Reason::NotGranted)
        }
    }

    fn is_own_terminal(&self, object: &Pinned) -> bool {
        object.name().starts_with("/dev/pts")
            && PseudoTerminal::of(object.as_fd())
                .is_some_and(|terminal| self.run_policy.made().terminals.contains(&terminal))
    }

    /// Whether a program may be executed. Landlock decides, by trees. The supervisor refuses programs that are denied
    /// for reading, except to a thread that swaps the name after it was judged.
    pub fn executes(&self, object: &Pinned) -> bool {
        let run_config = &self.run_policy.run_config;
        !object.has_name()
            || run_config.scratch_executes && run_config.is_in_scratch(object.name())
            || run_config.is_in_cache(object.name())
            || self.is_granted(Access::EXECUTE, object.name())
    }

    /// The denial of reading a program, if there is one.
    pub fn closed_program(&self, object: &Pinned) -> Option<Reason> {
        if !object.has_name() || self.run_policy.run_config.is_private(object.name()) {
            return None;
        }
        match self.run_policy.matcher().decide(Access::READ, object.name()) {
            AccessDecision::Denied(denial) => Some(Reason::Denied(Box::new(denial.met_at(object.name())))),
            AccessDecision::Allow(_) | AccessDecision::NotGranted => None,
        }
    }

    /// The denial of a name, if there is one.
    pub fn denial(&self, name: &Path) -> Option<Reason> {
        let access = Access::WRITING;
        let denial = self.run_policy.matcher().denial(access, name, false)?;
        Some(Reason::Denied(Box::new(denial.met_at(name))))
    }

    /// Judges bringing something that isn't a plain file into a `.git` from outside: git would write through a link.
    pub fn entry_in_git(&self, old: Option<&Path>, new: &Path) -> AccessVerdict {
        let Some(git) = git_directory(new).filter(|git| *git != new) else {
            return AccessVerdict::Allowed(By::Landlock);
        };
        let comes_from_outside = old.is_none_or(|old| git_directory(old).is_none());
        // What the run made in another's doesn't count: git follows links there as it does elsewhere.
        if !comes_from_outside || self.run_policy.run_config.is_in_cache(new) || self.has_made(git) {
            return AccessVerdict::Allowed(By::Landlock);
        }
        let denials = &self.run_policy.run_config.policy.denials;
        let denial = denials.iter().find(|denial| denial.guards_git());
        let reason = denial.map_or(Reason::NotGranted, |denial| {
            Reason::Denied(Box::new(denial.met_at(new)))
        });
        AccessVerdict::Refused(reason)
    }

    /// Judges whether what gets the name `new` contains, or leads to, something that couldn't be created there.
    pub fn plants_below(&self, arrival: Arrival<'_>, new: &Path) -> AccessVerdict {
        let run_config = &self.run_policy.run_config;
        if run_config.is_in_cache(new) {
            return AccessVerdict::Allowed(By::Landlock);
        }
        // A later run with the same grant would get what it leads to.
        if arrival == Arrival::Link && self.is_top_alone(Access::WRITE, new) {
            return AccessVerdict::Refused(Reason::Never(TOP_STAYS.into()));
        }
        // No denial applies in the scratch directory.
        if let Arrival::Directory(old) = arrival
            && run_config.is_in_scratch(old) != run_config.is_in_scratch(new)
        {
            return AccessVerdict::Refused(Reason::Never(COPIED.into()));
        }
        match self.run_policy.matcher().filled_by(arrival, new) {
            Some(denial) => AccessVerdict::Refused(Reason::Denied(Box::new(denial.met_at(new)))),
            None => AccessVerdict::Allowed(By::Landlock),
        }
    }

    /// Judges changing a directory's mode, owner or access list: refused where Stockade or the user's programs look for
    /// something denied below it.
    pub fn directory_attributes(&self, directory: &Path) -> AccessVerdict {
        match self.run_policy.matcher().built_in_below(directory) {
            Some(denial) if !self.run_policy.run_config.is_private(directory) => {
                AccessVerdict::Refused(Reason::Denied(Box::new(denial.met_at(directory))))
            }
            _ => AccessVerdict::Allowed(By::Landlock),
        }
    }

    /// Judges moving or linking between the cache and the outside: by another name a later run could change what it is
    /// denied.
    pub fn cache_border(&self, old: Option<&Path>, new: &Path) -> AccessVerdict {
        let run_config = &self.run_policy.run_config;
        match old.is_some_and(|old| run_config.is_in_cache(old)) == run_config.is_in_cache(new) {
            true => AccessVerdict::Allowed(By::Landlock),
            false => AccessVerdict::Refused(Reason::Never(
                "files are copied into the cache and out of it, and neither moved nor linked".into(),
            )),
        }
    }

    /// Judges whether moving `old` to `new` would open something denied.
    pub fn rename_opens(&self, old: &Path, new: &Path) -> AccessVerdict {
        if self.run_policy.run_config.is_private(old) {
            return AccessVerdict::Allowed(By::Landlock);
        }
        let is_spared = |by, directory: &Path| self.spares(Access::WRITE, by, directory);
        match self.run_policy.matcher().opens_by_moving_unless(old, new, &is_spared) {
            Some(denial) => AccessVerdict::Refused(Reason::Denied(Box::new(denial.met_at(old)))),
            None => AccessVerdict::Allowed(By::Landlock),
        }
    }
}

/// Whether a path is in a directory that builds and installations make, and people don't work in.
fn is_built(path: &Path) -> bool {
    path.iter().any(|name| name == "target" || name == "node_modules")
}

/// Refuses the kernel's own file systems where they are mounted elsewhere: they would be taken for plain files.
fn kernels_elsewhere(access: Access, system: FileSystemKind, name: &Path) -> Option<AccessVerdict> {
    let is_out_of_place = match system {
        FileSystemKind::Process => !name.starts_with("/proc"),
        FileSystemKind::Kernel => access.intersects(Access::CHANGE) && !name.starts_with("/sys"),
        FileSystemKind::Ordinary => false,
    };
    is_out_of_place.then_some(AccessVerdict::Refused(Reason::Never(
        "the kernel's own file systems are only served from where they belong".into(),
    )))
}

/// The trees of the kernel's own file systems.
const APART: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Whether a grant of a tree above doesn't apply here.
fn is_apart(bit: Access, name: &Path) -> bool {
    let is_listing = name == Path::new("/dev") || name == Path::new("/dev/pts");
    match bit {
        Access::READ => name.starts_with("/dev") && !is_listing || name == Path::new("/proc"),
        _ => APART.iter().any(|apart| name.starts_with(apart)),
    }
}

/// Whether this is a device that creates pseudo-terminals.
pub fn is_terminal_multiplexer(name: &Path) -> bool {
    name == Path::new("/dev/ptmx") || name == Path::new("/dev/pts/ptmx")
}

/// The errno of a refused access.
pub const CLOSED: Errno = Errno(libc::EACCES);

/// Whether a name is a shared memory object's: directly in `/dev/shm`.
pub fn is_shared_memory(name: &Path) -> bool {
    name.parent() == Some(Path::new("/dev/shm")) && name.file_name() != Some(OsStr::new(""))
}

/// Whether a name is that of the lock of a git configuration; the run may only create, write, read or remove its own.
pub fn is_git_lock(name: &Path) -> bool {
    git_config_of_lock(name).is_some()
}

#[cfg(test)]
mod tests;

//! Verdicts: what the policy says to an access to a pinned object, and what the run has made counts for.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::answer::Errno;
use super::approvals::{Approvals, ApprovedGrants};
use super::caller::Caller;
use super::git_config;
use super::hard_links::Number;
use super::pinned::{Entry, FileSystem, Identity, Pinned, Place};
use super::procfs;
use super::run_policy::RunPolicy;
use super::submodules::{self, Indexes};
use super::terminals::Terminal;
use super::worker_fds::WorkerFds;
use crate::policy::{Access, Arrival, Capabilities, Decision, Grant, Renamed, git_directories, is_in_git_directory};
use crate::profile::Origin;
use crate::real_path::is_absence;
use crate::report::{COPIED, Reason};
use stockade_sys::file;

/// What is to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Landlock grants it too.
    Static,
    /// The supervisor does it.
    OnBehalf,
    /// The same, for what was granted on an answer.
    Approved,
    /// None does.
    Refused(Reason),
}

impl Verdict {
    pub fn is_refused(&self) -> bool {
        matches!(self, Verdict::Refused(_))
    }

    /// Whether it is refused and no grant would help.
    pub fn is_closed(&self) -> bool {
        matches!(self, Verdict::Refused(reason) if !reason.is_open())
    }

    /// Both must be allowed; static only if both are.
    pub fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Refused(reason), _) | (_, Verdict::Refused(reason)) => Verdict::Refused(reason),
            (Verdict::Approved, _) | (_, Verdict::Approved) => Verdict::Approved,
            (Verdict::Static, Verdict::Static) => Verdict::Static,
            _ => Verdict::OnBehalf,
        }
    }

    /// The same where a file that is written by a rename alone isn't written, or is by one.
    fn but_for_renames(self) -> Verdict {
        match self {
            Verdict::Refused(Reason::Never(reason)) if reason == RENAMED => Verdict::OnBehalf,
            verdict => verdict,
        }
    }
}

/// Why it isn't written otherwise.
const RENAMED: &str = "git's HEAD and its index are written to another name, and renamed";

/// Judges by one policy.
pub struct Judge<'a> {
    pub run_policy: &'a RunPolicy,
    pub worker_fds: &'a WorkerFds,
    pub caller: &'a Caller<'a>,
    pub indexes: &'a Indexes,
    /// What was granted on answers: until the run ends, and for this call alone.
    pub opened: Option<(&'a Approvals, &'a ApprovedGrants)>,
}

impl Judge<'_> {
    /// Access to an object that exists. `access` is READ, WRITE or both.
    pub fn object(&self, access: Access, object: &Pinned) -> Verdict {
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
            return Verdict::OnBehalf;
        }
        if self.is_own_git_lock(access, object.name(), object.identity()) {
            return Verdict::OnBehalf;
        }
        let verdict = self.name(access, object.name());
        if verdict.is_refused() || verdict == Verdict::Static || !object.has_other_names() {
            return verdict;
        }
        verdict.and(self.by_other_names(access, object.number()))
    }

    /// What is closed by one name is closed by all.
    pub fn by_other_names(&self, access: Access, file: Number) -> Verdict {
        let Some(name) = self.run_policy.closed_name(file) else {
            return Verdict::OnBehalf;
        };
        // One kind after the other: that nothing grants the one doesn't hide that the other is closed.
        let denied = access
            .iter()
            .map(|one| self.name(one, &name))
            .find(|verdict| matches!(verdict, Verdict::Refused(Reason::Denied(_))));
        denied.unwrap_or(Verdict::OnBehalf)
    }

    /// Reading a link's text, which is reading the link. One that nothing grants may be read all the same where it leads, by
    /// these steps, to what may be read or to a directory above a grant: the run knows such paths, and programs spell them
    /// without links.
    pub fn link_text(&self, link: &Pinned, steps: &[Pinned]) -> Verdict {
        match self.object(Access::READ, link) {
            Verdict::Refused(Reason::NotGranted | Reason::Incapable(_))
                if steps.iter().any(|step| self.is_on_the_way(step)) =>
            {
                Verdict::OnBehalf
            }
            verdict => verdict,
        }
    }

    fn is_on_the_way(&self, object: &Pinned) -> bool {
        match self.object(Access::READ, object) {
            Verdict::Refused(Reason::NotGranted | Reason::Incapable(_)) => {
                let policy = &self.run_policy.run_config.policy;
                let granted = policy.grants.iter().map(|grant| &grant.path);
                granted
                    .chain(policy.sockets.iter().map(|grant| &grant.path))
                    .any(|path| path.starts_with(object.name()))
            }
            verdict => !verdict.is_refused(),
        }
    }

    /// Access to the entry at a place: making it, or removing and replacing it.
    pub fn place(&self, access: Access, place: &Place) -> Verdict {
        if !place.parent.has_name() {
            return Verdict::Refused(Reason::NotGranted);
        }
        let run_config = &self.run_policy.run_config;
        if run_config.scratch.as_deref() == Some(place.name()) {
            return Verdict::Refused(Reason::Never("the scratch directory stays where it is".into()));
        }
        if run_config.cache.as_deref() == Some(place.name()) {
            return Verdict::Refused(Reason::Never("the cache stays where it is".into()));
        }
        if let Some(refused) = kernels_elsewhere(access, place.parent.file_system(), place.parent.name()) {
            return refused;
        }
        let is_own_lock = |found: Entry| self.is_own_git_lock(access, place.name(), found.identity());
        match git_config::is_lock(place.name()) && place.look().is_some_and(is_own_lock) {
            true => Verdict::OnBehalf,
            false => self.name(access, place.name()),
        }
    }

    /// Making an entry where there's none. A new repository is the run's own, unless it lies in another's `.git`, or where git
    /// may take it for a submodule of another's.
    pub fn new_entry(&self, place: &Place) -> Verdict {
        let name = place.name();
        match self.place(Access::WRITE, place) {
            Verdict::Refused(Reason::Denied(denial))
                if denial.guards_git()
                    && git_directories(name).as_slice() == [name]
                    && self.is_granted(Access::WRITE, name)
                    && !self.may_be_submodule(name) =>
            {
                // There's no directory yet, and one that was another's is still that.
                self.for_maker(Access::WRITE, name, &|directory| {
                    !self.run_policy.made().was_anothers(directory)
                })
            }
            verdict => verdict,
        }
    }

    /// Writing by a rename what is written in no other way.
    pub fn git_renamed(&self, place: &Place) -> Verdict {
        self.place(Access::CHANGE, place).but_for_renames()
    }

    /// Setting the times of an object, or a mode that leaves it readable.
    pub fn attributes(&self, object: &Pinned) -> Verdict {
        self.object(Access::WRITE, object).but_for_renames()
    }

    /// Whether git goes elsewhere by it, in a repository that the run didn't make. Without a `HEAD` a directory above, or the work
    /// tree itself, may be the repository; and an index has submodules where no repository may be. Linked work trees lose theirs
    /// when they are removed.
    fn is_renamed_alone(&self, access: Access, name: &Path) -> bool {
        let closed = match Renamed::of(name) {
            Some(Renamed::Head | Renamed::Index) => Access::CHANGE,
            Some(Renamed::OthersIndex | Renamed::SharedIndex) => Access::WRITE,
            None => return false,
        };
        access.intersects(closed) && !self.is_of_own_repository(name)
    }

    /// Making the lock of a git configuration where there's none.
    pub fn new_git_lock(&self, place: &Place) -> Verdict {
        match self.new_entry(place) {
            Verdict::Refused(Reason::Denied(denial))
                if denial.guards_git() && self.is_open_but_for_git(Access::WRITE, place.name()) =>
            {
                Verdict::OnBehalf
            }
            verdict => verdict,
        }
    }

    /// Whether it is the lock of a git configuration that the run made, and may write as it may what is around the `.git`.
    fn is_own_git_lock(&self, access: Access, name: &Path, found: Identity) -> bool {
        git_config::is_lock(name)
            && self.run_policy.made().git_locks.contains_key(&found)
            && self.is_open_but_for_git(access, name)
    }

    /// Whether a name in a `.git` is granted, and closed for no other reason than that.
    pub fn is_open_but_for_git(&self, access: Access, name: &Path) -> bool {
        let above = |directory: &Path| Some(directory) == name.parent();
        let is_open = |bit: Access| {
            self.is_granted(bit, name) && self.run_policy.matcher().denial_for_maker(bit, name, &above).is_none()
        };
        let mut bits = [Access::READ, Access::WRITE, Access::DELETE].into_iter();
        bits.all(|bit| !access.contains(bit) || is_open(bit))
    }

    /// Access to whatever has this name.
    pub fn name(&self, access: Access, name: &Path) -> Verdict {
        if self.run_policy.run_config.is_in_scratch(name) {
            return Verdict::Static;
        }
        if self.run_policy.run_config.is_in_cache(name) {
            return Verdict::OnBehalf;
        }
        if let Some(process) = procfs::process_of(name) {
            return self.process_entry(access, name, process);
        }
        let mut verdict = Verdict::Static;
        for bit in [Access::READ, Access::WRITE, Access::DELETE] {
            if access.contains(bit) {
                verdict = verdict.and(self.bit(bit, name));
            }
        }
        if !verdict.is_refused() && self.is_renamed_alone(access, name) {
            return Verdict::Refused(Reason::Never(RENAMED.into()));
        }
        verdict
    }

    /// Cutting away what a file holds, which is deleting. Scratch directory and cache are the run's own.
    pub fn cutting(&self, object: &Pinned) -> Verdict {
        match self.incapable(Access::DELETE) {
            Some(capability) if object.has_name() && !self.run_policy.run_config.is_private(object.name()) => {
                Verdict::Refused(Reason::Incapable(capability))
            }
            _ => Verdict::OnBehalf,
        }
    }

    fn bit(&self, bit: Access, name: &Path) -> Verdict {
        match self.run_policy.matcher().decide(bit, name) {
            Decision::Allow(_) if is_apart(bit, name) && !self.is_granted_inside(bit, name) => {
                Verdict::Refused(Reason::NotGranted)
            }
            Decision::Allow(grant) if grant.is_chosen() => Verdict::OnBehalf,
            Decision::Allow(_) => Verdict::Static,
            Decision::NotGranted => match self.incapable(bit) {
                Some(capability) => Verdict::Refused(Reason::Incapable(capability)),
                None if self.is_opened(|opened| opened.path(bit, name)) && !is_apart(bit, name) => Verdict::Approved,
                None => Verdict::Refused(Reason::NotGranted),
            },
            Decision::Denied(denial) => {
                if denial.spares_makers() && self.is_granted(bit, name) {
                    return self.for_maker(bit, name, &|directory| self.has_made(directory));
                }
                Verdict::Refused(Reason::Denied(Box::new(denial.met_at(name))))
            }
        }
    }

    /// For what the run may have made: it is refused what is closed for another reason than its name.
    fn for_maker(&self, access: Access, name: &Path, made: &dyn Fn(&Path) -> bool) -> Verdict {
        let denial = || self.run_policy.matcher().denial_for_maker(access, name, made);
        let noted = || std::mem::replace(&mut self.run_policy.made().uses_own, true);
        // Asked again once it is noted: a link that is made meanwhile claims its target first, and looks for the note then.
        match denial().or_else(|| if noted() { None } else { denial() }) {
            Some(denial) => Verdict::Refused(Reason::Denied(Box::new(denial.met_at(name)))),
            None => Verdict::OnBehalf,
        }
    }

    /// The capability that the run lacks for this.
    fn incapable(&self, bit: Access) -> Option<Capabilities> {
        let capability = match bit {
            Access::READ => Capabilities::READ,
            Access::WRITE => Capabilities::WRITE,
            Access::DELETE => Capabilities::DELETE,
            _ => Capabilities::EXECUTE,
        };
        (!self.run_policy.run_config.policy.capabilities.contains(capability)).then_some(capability)
    }

    /// Whether something was granted on an answer.
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

    /// `/dev`, and writing to `/proc` and `/sys`, are only granted by name, never by a tree above.
    fn is_granted_inside(&self, bit: Access, name: &Path) -> bool {
        self.grants(bit, name)
            .any(|grant| APART.iter().any(|apart| grant.path.starts_with(apart)))
    }

    /// A `.git` that this run made isn't guarded, nor what it made in one.
    fn is_of_own_repository(&self, name: &Path) -> bool {
        git_directories(name).iter().any(|directory| self.has_made(directory))
    }

    /// Whether a `.git` would be in a repository that the run didn't make, in a directory that it didn't make or of which the index
    /// has something: git goes into submodules from the top, and obeys what is there (git-status(1)). Or in another's directory
    /// that was moved.
    fn may_be_submodule(&self, git: &Path) -> bool {
        let directory = git.parent().unwrap_or(git);
        let is_made = self.has_made(directory);
        // It may go back to where there is one around it.
        let may_return = !is_made && self.run_policy.made().has_carried(directory);
        may_return
            || self
                .repositories_around(directory)
                .any(|repository| !is_made || submodules::has_tracked(&repository, directory))
    }

    /// Whether a directory of this name would fill a place where an index has a submodule or a directory: those places in it are
    /// asked for.
    pub fn fills_submodule(&self, directory: &Path, is_repository: &dyn Fn(&Path) -> bool) -> bool {
        self.repositories_around(directory)
            .any(|repository| self.indexes.have_place(&repository, directory, is_repository))
    }

    /// The `.git` of each directory above, where there is one that the run didn't make, or none can be looked for.
    fn repositories_around(&self, directory: &Path) -> impl Iterator<Item = PathBuf> {
        let above = directory.ancestors().skip(1).map(|above| above.join(".git"));
        let is_there = |git: &PathBuf| match git.symlink_metadata() {
            Ok(_) => !self.has_made(git),
            Err(error) => !is_absence(&error),
        };
        above.filter(is_there)
    }

    /// Whether this run made the directory, and not in the place of another. Nothing of the run renames meanwhile.
    fn has_made(&self, directory: &Path) -> bool {
        let made = self.run_policy.made();
        !made.directories.is_empty()
            && Identity::at(directory).is_some_and(|identity| made.directories.contains(&identity))
            && !made.was_anothers(directory)
    }

    fn process_entry(&self, access: Access, name: &Path, process: i32) -> Verdict {
        let own = self.caller.process();
        let is_own = process == own;
        if !is_own && !procfs::is_below(self.worker_fds, self.caller.top, process) {
            return Verdict::Refused(Reason::Never("the process isn't part of the run".into()));
        }
        if procfs::allows(name, is_own, access.intersects(Access::CHANGE)) {
            Verdict::OnBehalf
        } else {
            Verdict::Refused(Reason::Never("no program may change this of a process".into()))
        }
    }

    /// A deleted file, a pipe, a memory file: the caller opens anew what it already holds, no wider than it holds it.
    fn nameless(&self, access: Access, object: &Pinned) -> Verdict {
        match self.held(object) {
            Some((_, held)) if held.contains(access) => Verdict::OnBehalf,
            _ => Verdict::Refused(Reason::Never("it has no name any more".into())),
        }
    }

    /// The very file that the caller's descriptor refers to, if it still is this object, and what it was opened for.
    /// Asked of a copy: another thread may have put something else at the number meanwhile.
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

    /// The base's devices, the run's terminals, and what is granted below `/dev` by name.
    fn device(&self, access: Access, object: &Pinned) -> Verdict {
        let name = object.name();
        if self
            .run_policy
            .run_config
            .terminals
            .iter()
            .any(|terminal| terminal == name)
        {
            return Verdict::Static;
        }
        if is_terminal_multiplexer(name) || self.is_own_terminal(object) {
            return Verdict::OnBehalf;
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
            Verdict::Refused(Reason::NotGranted)
        }
    }

    fn is_own_terminal(&self, object: &Pinned) -> bool {
        object.name().starts_with("/dev/pts")
            && Terminal::of(object.as_fd()).is_some_and(|terminal| self.run_policy.made().terminals.contains(&terminal))
    }

    /// Whether a program may be started. Landlock decides, by trees. What is closed for reading is refused here: to all but
    /// a thread that puts another name in its place when this one has been judged.
    pub fn executes(&self, object: &Pinned) -> bool {
        let run_config = &self.run_policy.run_config;
        !object.has_name()
            || run_config.scratch_executes && run_config.is_in_scratch(object.name())
            || run_config.is_in_cache(object.name())
            || self.is_granted(Access::EXECUTE, object.name())
    }

    /// The denial that closes a program for reading, if one does.
    pub fn closed_program(&self, object: &Pinned) -> Option<Reason> {
        if !object.has_name() || self.run_policy.run_config.is_private(object.name()) {
            return None;
        }
        match self.run_policy.matcher().decide(Access::READ, object.name()) {
            Decision::Denied(denial) => Some(Reason::Denied(Box::new(denial.met_at(object.name())))),
            Decision::Allow(_) | Decision::NotGranted => None,
        }
    }

    /// The denial that closes a name, if one does.
    pub fn denial(&self, name: &Path) -> Option<Reason> {
        let access = Access::WRITING;
        let denial = self.run_policy.matcher().denial(access, name, false)?;
        Some(Reason::Denied(Box::new(denial.met_at(name))))
    }

    /// That nothing is brought into a `.git` from outside but by writing it: through a link git would write elsewhere.
    pub fn bringing(&self, old: Option<&Path>, new: &Path) -> Verdict {
        let is_git_itself = git_directories(new).as_slice() == [new];
        let comes_from_outside = old.is_none_or(|old| !is_in_git_directory(old));
        if self.run_policy.run_config.is_in_cache(new)
            || !is_in_git_directory(new)
            || is_git_itself
            || !comes_from_outside
            || self.is_of_own_repository(new)
        {
            return Verdict::Static;
        }
        let denial = self
            .run_policy
            .run_config
            .policy
            .denials
            .iter()
            .find(|denial| denial.guards_git());
        let reason = denial.map_or(Reason::NotGranted, |denial| {
            Reason::Denied(Box::new(denial.met_at(new)))
        });
        Verdict::Refused(reason)
    }

    /// That what comes to be called `new` holds nothing, and leads to nothing, that could not be made there.
    pub fn filling(&self, arrival: Arrival<'_>, new: &Path) -> Verdict {
        let run_config = &self.run_policy.run_config;
        if run_config.is_in_cache(new) {
            return Verdict::Static;
        }
        // No denial holds in the scratch directory.
        if let Arrival::Directory(old) = arrival
            && run_config.is_in_scratch(old) != run_config.is_in_scratch(new)
        {
            return Verdict::Refused(Reason::Never(COPIED.into()));
        }
        match self.run_policy.matcher().filled_by(arrival, new) {
            Some(denial) => Verdict::Refused(Reason::Denied(Box::new(denial.met_at(new)))),
            None => Verdict::Static,
        }
    }

    /// That a directory's mode, owner and access list may change: not where Stockade or the user's programs are to find
    /// what is closed below it.
    pub fn keeping(&self, directory: &Path) -> Verdict {
        match self.run_policy.matcher().built_in_below(directory) {
            Some(denial) if !self.run_policy.run_config.is_private(directory) => {
                Verdict::Refused(Reason::Denied(Box::new(denial.met_at(directory))))
            }
            _ => Verdict::Static,
        }
    }

    /// That a name in the cache is neither moved out nor given to what is outside: by another name a later run could change
    /// what is closed to it.
    pub fn keeping_apart(&self, old: Option<&Path>, new: &Path) -> Verdict {
        let run_config = &self.run_policy.run_config;
        match old.is_some_and(|old| run_config.is_in_cache(old)) == run_config.is_in_cache(new) {
            true => Verdict::Static,
            false => Verdict::Refused(Reason::Never(
                "files are copied into the cache and out of it, and neither moved nor linked".into(),
            )),
        }
    }

    /// That moving `old` to `new` opens nothing that was closed.
    pub fn moving(&self, old: &Path, new: &Path) -> Verdict {
        if self.run_policy.run_config.is_private(old) {
            return Verdict::Static;
        }
        let made = |directory: &Path| self.has_made(directory);
        match self.run_policy.matcher().opens_by_moving_for_maker(old, new, &made) {
            Some(denial) => Verdict::Refused(Reason::Denied(Box::new(denial.met_at(old)))),
            None => Verdict::Static,
        }
    }
}

/// The kernel's own file systems count where they belong. Mounted elsewhere they would be taken for plain files.
fn kernels_elsewhere(access: Access, system: FileSystem, name: &Path) -> Option<Verdict> {
    let is_out_of_place = match system {
        FileSystem::Process => !name.starts_with("/proc"),
        FileSystem::Kernel => access.intersects(Access::CHANGE) && !name.starts_with("/sys"),
        FileSystem::Ordinary => false,
    };
    is_out_of_place.then_some(Verdict::Refused(Reason::Never(
        "the kernel's own file systems are only served from where they belong".into(),
    )))
}

/// Trees of the kernel's own.
const APART: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Whether a grant of a tree above doesn't reach here.
fn is_apart(bit: Access, name: &Path) -> bool {
    let is_listing = name == Path::new("/dev") || name == Path::new("/dev/pts");
    match bit {
        Access::READ => name.starts_with("/dev") && !is_listing || name == Path::new("/proc"),
        _ => APART.iter().any(|apart| name.starts_with(apart)),
    }
}

/// What makes pseudo-terminals.
pub fn is_terminal_multiplexer(name: &Path) -> bool {
    name == Path::new("/dev/ptmx") || name == Path::new("/dev/pts/ptmx")
}

/// An access that was refused becomes an error number.
pub const CLOSED: Errno = Errno(libc::EACCES);

/// Whether a component is a shared memory object's: directly in `/dev/shm`.
pub fn is_shared_memory(name: &Path) -> bool {
    name.parent() == Some(Path::new("/dev/shm")) && name.file_name() != Some(OsStr::new(""))
}

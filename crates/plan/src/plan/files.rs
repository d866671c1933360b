//! The Landlock rights for a policy's accesses, and the rules that grant them.
//!
//! A tree is *static* where Stockade found it (the base, the command's installation, the script, the scratch
//! directory): nothing in it has to be refused, so Landlock grants it. It is *supervised* where a person chose it:
//! Landlock grants nothing there but executing, and the supervisor does the rest. Executing needs `READ_FILE` as well
//! as `EXECUTE` in Landlock (measured on Linux 6.18), so where a chosen tree may be executed, no open that reads is
//! left to the kernel.

use std::path::{Path, PathBuf};

use landlock::{ABI, Access as _, AccessFs, BitFlags};

use super::calls::{Sockets, Trace};
use super::{Part, Reading, Reads, Watch};
use crate::command::BASE_TREES;
use crate::policy::{Access, DenialKind, DenialRule, Grant, GrantExtent, Policy, Target, lies_below};
use crate::profile::Origin;

/// The highest ABI whose rights this release knows.
const NEWEST_ABI: i32 = 9;

/// The rights that a ruleset handles, that is, refuses unless a rule allows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handled {
    /// The ruleset's ABI.
    pub abi: i32,
    /// File rights: all of the ABI's.
    pub files: u64,
    /// Whether TCP connections and listening are refused (ABI 4).
    pub tcp: bool,
    /// Whether abstract unix sockets and signals are confined to the domain (ABI 6).
    pub scopes: bool,
}

impl Handled {
    pub(super) fn new(abi: i32, sockets: Sockets) -> Self {
        let abi = abi.min(NEWEST_ABI);
        Handled {
            abi,
            files: AccessFs::from_all(ABI::from(abi)).bits(),
            tcp: abi >= ABI::V4 as i32 && sockets != Sockets::All,
            scopes: abi >= ABI::V6 as i32,
        }
    }
}

/// A path with rights in the ruleset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRule {
    /// An absolute path; a missing one grants nothing.
    pub path: PathBuf,
    /// Landlock's rights.
    pub rights: u64,
    /// How the tree is granted.
    pub cover: Cover,
    /// What a symbolic link in the path means.
    pub links: Links,
}

/// The meaning of a symbolic link that is in a rule's path at launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Links {
    /// The machine's own link, such as `/bin`: it is followed.
    Followed,
    /// Its target isn't what the policy names, so nothing is granted.
    GrantNothing,
    /// The path was resolved before, so the link was created since, perhaps by another run: the run isn't started.
    Refused,
}

impl Links {
    /// The meaning of links in the path of a grant with this origin.
    pub fn of(origin: &Origin) -> Links {
        match origin {
            Origin::Base => Links::Followed,
            Origin::Flag(_) | Origin::Approval(_) => Links::Refused,
            _ => Links::GrantNothing,
        }
    }
}

/// How a tree is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cover {
    /// Nothing in it must be refused: one rule for all of it, now and later.
    Whole,
    /// Around closed paths: their siblings are granted, in place of the directory above.
    AroundClosed,
    /// Each file that exists at launch and isn't denied, by itself; no file created later. Used without a supervisor.
    FileByFile,
}

/// The rights of one ABI.
pub(super) struct Rights {
    all: BitFlags<AccessFs>,
}

impl Rights {
    pub(super) fn new(abi: i32) -> Self {
        Rights {
            all: AccessFs::from_all(ABI::from(abi.min(NEWEST_ABI))),
        }
    }

    /// An access as Landlock rights. Executing needs reading too (measured on 6.18). Creating devices is never granted;
    /// device ioctls only on the base's own devices; connecting to unix sockets (ABI 9) nowhere, which leaves those of
    /// the run itself.
    fn of(&self, access: Access, path: &Path) -> u64 {
        let mut rights = BitFlags::<AccessFs>::empty();
        if access.intersects(Access::READ | Access::EXECUTE) {
            rights |= AccessFs::ReadFile | AccessFs::ReadDir;
        }
        if access.contains(Access::EXECUTE) {
            rights |= AccessFs::Execute;
        }
        if access.contains(Access::WRITE) {
            rights |= AccessFs::WriteFile
                | AccessFs::MakeDir
                | AccessFs::MakeReg
                | AccessFs::MakeSock
                | AccessFs::MakeFifo
                | AccessFs::MakeSym
                | AccessFs::Refer
                | AccessFs::Truncate;
        }
        if access.contains(Access::DELETE) {
            rights |= AccessFs::RemoveDir | AccessFs::RemoveFile | AccessFs::Refer;
        }
        if lies_below(path, Path::new("/dev")) {
            rights |= AccessFs::IoctlDev;
        }
        (rights & self.all).bits()
    }
}

impl Rights {
    /// The workers' rights. The same wherever they may write, since Landlock refuses a move to a place with more
    /// rights; they include executing for that reason alone.
    fn of_workers(&self, access: Access) -> u64 {
        if access.intersects(Access::CHANGE) {
            self.of_writing_workers()
        } else {
            ((AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir) & self.all).bits()
        }
    }

    pub(super) fn of_writing_workers(&self) -> u64 {
        (self.all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::ResolveUnix)).bits()
    }

    /// The rights to create and remove entries.
    fn of_entries(&self) -> u64 {
        let entries = AccessFs::RemoveDir
            | AccessFs::RemoveFile
            | AccessFs::MakeDir
            | AccessFs::MakeReg
            | AccessFs::MakeSock
            | AccessFs::MakeFifo
            | AccessFs::MakeSym
            | AccessFs::Refer;
        (entries & self.all).bits()
    }

    /// The target's rights in its cache: the supervisor does the writing.
    pub(super) fn of_cache(&self, trace: Trace) -> u64 {
        let access = Access::READ | Access::EXECUTE;
        match trace {
            Trace::Exact => self.supervised(access),
            Trace::Marked => self.of(access, Path::new("")),
        }
    }

    /// The rights that the kernel itself needs in a tree that the supervisor opens: executing, and reading for its sake.
    pub(super) fn supervised(&self, access: Access) -> u64 {
        if access.contains(Access::EXECUTE) {
            ((AccessFs::Execute | AccessFs::ReadFile) & self.all).bits()
        } else {
            0
        }
    }
}

/// The right to read the target's own `/proc` directory.
pub fn rights_of_own_proc() -> u64 {
    (AccessFs::ReadFile | AccessFs::ReadDir).bits()
}

/// The rules of a policy.
///
/// Under a supervisor chosen trees are granted for executing alone: it opens the files in them. Without a supervisor,
/// if that was accepted, they are granted as they are, around the secret names; if nothing requires a supervisor they
/// are only read, and granted file by file. If Landlock alone judges reads, the openings found are granted.
pub(super) fn rules(policy: &Policy, rights: &Rights, watch: Watch, reads: Reads<'_>) -> Vec<FileRule> {
    let is_narrowed = narrowing(policy);
    let openings = reads.openings();
    let mut rules: Vec<FileRule> = policy
        .grants
        .iter()
        .filter(|grant| openings.is_none() || !is_looked_through(policy, grant))
        .map(|grant| FileRule {
            path: grant.path.clone(),
            rights: match watch {
                Watch::Supervised(_) if grant.is_chosen() => rights.supervised(grant.access),
                _ => rights.of(grant.access, &grant.path),
            },
            cover: cover(&is_narrowed, grant, watch),
            links: Links::of(&grant.origin),
        })
        .collect();
    rules.extend(openings.into_iter().flatten().map(|opening| FileRule {
        path: opening.path.clone(),
        rights: match opening.part {
            // Without device ioctls, as for files opened by the supervisor.
            Part::All => rights.of(opening.access, Path::new("")),
            Part::Names => right_to_list(),
        },
        cover: Cover::Whole,
        links: opening.links,
    }));
    if watch == Watch::None {
        rules.push(FileRule {
            path: PathBuf::from("/proc"),
            rights: rights_of_own_proc(),
            cover: Cover::Whole,
            links: Links::Followed,
        });
    }
    if matches!(watch, Watch::Supervised(_)) {
        // The supervisor opens it for runs that were given a terminal.
        rules.retain(|rule| rule.path.as_os_str() != "/dev/tty");
    }
    rules.retain(|rule| rule.rights != 0);
    drop_covered(&mut rules);
    rules
}

/// Whether the whole of a grant is searched for closed paths if Landlock alone judges reads: chosen trees, and an
/// installation in one. Others may contain some hundred thousand files.
pub fn is_looked_through(policy: &Policy, grant: &Grant) -> bool {
    let is_in_chosen = || {
        policy
            .grants
            .iter()
            .any(|other| other.is_chosen() && other.covers(&grant.path))
    };
    grant.is_chosen() || grant.origin == Origin::Installation && is_in_chosen()
}

/// A worker's Landlock rights to do this on behalf of a run, with this ABI.
pub fn rights_on_behalf(access: Access, abi: i32) -> u64 {
    Rights::new(abi).of_workers(access)
}

/// The rights to create and remove entries of a directory, and none in them.
pub fn rights_on_entries(abi: i32) -> u64 {
    Rights::new(abi).of_entries()
}

/// A path that the supervisor's workers may use in addition to the run's own rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkersRule {
    /// An absolute path; if it isn't a directory, the rights apply to the one that it is created in.
    pub path: PathBuf,
    /// Landlock's rights.
    pub rights: u64,
    /// Whether they apply to the directory above, so that the path may be removed and made anew.
    pub is_for_above: bool,
    /// What a symbolic link in the path means.
    pub links: Links,
}

/// The workers' rules in addition to the run's own: the chosen trees, with the policy's rights there, and the kernel's
/// trees that they serve the run from. The workers themselves are confined to these. A rule belongs to a directory and not
/// to its name, so for a written tree inside the root it is one for the directory above: the run may make the tree anew.
pub(super) fn workers_rules(policy: &Policy, rights: &Rights) -> Vec<WorkersRule> {
    const SERVED: [(&str, Access); 5] = [
        // Entries of the run's processes, `comm` and `oom_score_adj` among them.
        ("/proc", Access::WRITING),
        ("/dev/ptmx", Access::WRITING),
        ("/dev/pts", Access::WRITING),
        ("/dev/shm", Access::WRITING),
        // `/dev/stdout` and its like are found there.
        ("/dev/fd", Access::READ),
    ];
    let served = SERVED.map(|(path, access)| WorkersRule {
        path: PathBuf::from(path),
        rights: rights.of_workers(access),
        is_for_above: false,
        links: Links::Followed,
    });
    let chosen = policy.grants.iter().filter(|grant| grant.is_chosen());
    let chosen = chosen.map(|grant| WorkersRule {
        path: grant.path.clone(),
        rights: rights.of_workers(grant.access),
        is_for_above: grant.access.intersects(Access::CHANGE) && policy.is_inside_root(&grant.path),
        links: Links::of(&grant.origin),
    });
    chosen.chain(served).collect()
}

/// The right to list a directory.
fn right_to_list() -> u64 {
    BitFlags::from(AccessFs::ReadDir).bits()
}

fn cover(is_narrowed: impl Fn(&Grant) -> bool, grant: &Grant, watch: Watch) -> Cover {
    match (grant.is_chosen(), watch) {
        (false, _) | (true, Watch::None | Watch::Alone) if is_single_or_found(grant) => {
            if is_narrowed(grant) {
                Cover::AroundClosed
            } else {
                Cover::Whole
            }
        }
        (_, Watch::Supervised(_)) => Cover::Whole,
        (_, Watch::None) => Cover::AroundClosed,
        (_, Watch::Alone) => Cover::FileByFile,
    }
}

fn is_single_or_found(grant: &Grant) -> bool {
    grant.extent == GrantExtent::Single || !grant.is_chosen()
}

/// Who judges reading under a supervisor: the supervisor, if Landlock must grant reading for the sake of executing
/// where something may be closed.
pub(super) fn reading(policy: &Policy) -> Reading {
    let executes_chosen = policy
        .grants
        .iter()
        .any(|grant| grant.is_chosen() && grant.access.contains(Access::EXECUTE));
    if executes_chosen || globs_into_found_trees(policy).next().is_some() {
        Reading::Supervisor
    } else {
        Reading::Landlock
    }
}

/// Globs with a place that close something in a tree granted as a whole. The rules exclude denials of single paths.
pub(super) fn globs_into_found_trees(policy: &Policy) -> impl Iterator<Item = &DenialRule> {
    let whole = policy
        .grants
        .iter()
        .filter(|grant| !grant.is_chosen() && grant.extent == GrantExtent::Subtree);
    policy
        .denials
        .iter()
        .filter(|denial| {
            let is_persons = denial.kind == DenialKind::SecretName && denial.origin != Origin::BuiltIn;
            (denial.kind == DenialKind::Explicit || is_persons) && matches!(denial.target, Target::Glob { .. })
        })
        .filter(move |denial| {
            let touches = denial.touching();
            whole.clone().any(|grant| touches(&grant.path))
        })
}

/// Whether a denial with a place closes a grant, or something in it. The base contains no secret with a listed name;
/// paths found around the command may, and so may those that a person or a link put there.
fn narrowing(policy: &Policy) -> impl Fn(&Grant) -> bool {
    let counts = |denial: &&DenialRule| matches!(denial.kind, DenialKind::Explicit | DenialKind::SecretName);
    let counting = policy.denials.iter().filter(counts);
    let placed: Vec<_> = counting.map(|denial| (denial, denial.touching())).collect();
    let counts_in_base = |denial: &DenialRule, tree: &Path| match &denial.target {
        Target::Listed(listed) => listed.entries.iter().any(|entry| lies_below(&entry.place, tree)),
        Target::Path(_) | Target::Glob { .. } | Target::GitDirectories | Target::AllBut { .. } => true,
    };
    move |grant| {
        placed.iter().any(|(denial, touches)| {
            (grant.origin != Origin::Base || counts_in_base(denial, &grant.path)) && touches(&grant.path)
        })
    }
}

/// Drops the rules of single paths that an earlier rule for a whole tree covers, such as `/usr/bin/python3`.
fn drop_covered(rules: &mut Vec<FileRule>) {
    let trees: Vec<(PathBuf, u64)> = rules
        .iter()
        .filter(|rule| BASE_TREES.iter().any(|tree| rule.path.as_os_str() == *tree))
        .map(|rule| (rule.path.clone(), rule.rights))
        .collect();
    rules.retain(|rule| {
        !trees
            .iter()
            .any(|(tree, rights)| rule.rights & !rights == 0 && rule.path != *tree && lies_below(&rule.path, tree))
    });
}

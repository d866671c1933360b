//! What the supervisor's unit tests are made of: policies, refusals, and a caller that is the test's own thread.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;

use super::approvals::{Approvals, Asking, Profiles};
use super::call::fds::{Copies, Isolation, WorkerFds};
use super::object::identity::Identity;
use super::object::pinned::{Pinned, Place};
use super::state::journal::Journal;
use super::state::run_config::RunConfig;
use super::state::run_policy::RunPolicy;
use crate::approve::{Answer, Approver, Deadline, EscalationRequest, Lifetime, Unit};
use crate::plan::{Reading, Supervision, Trace};
use crate::policy::{
    Access, Asks, Capabilities, DenialKind, DenialRule, Entry, Grant, GrantExtent, Listed, Mode, NetworkPolicy, Policy,
    SecretList, Target,
};
use crate::profile::{Limits, Origin};
use crate::report::{Kind, Reason, Refusal};
use stockade_sys::file::{self, OpenHow};
use stockade_sys::notify::Notification;

/// A grant that a person chose.
pub fn grant(access: Access, path: impl AsRef<Path>) -> Grant {
    Grant {
        access,
        path: path.as_ref().to_path_buf(),
        extent: GrantExtent::Subtree,
        exempt: false,
        origin: Origin::Flag("--test".into()),
        why: None,
    }
}

/// A policy with these grants and nothing denied. Its root is `/w`.
pub fn policy(grants: Vec<Grant>) -> Policy {
    Policy {
        profile: "test".into(),
        capabilities: Capabilities::USUAL,
        mode: Mode::AcceptEdits,
        root: "/w".into(),
        grants,
        denials: Vec::new(),
        reach: NetworkPolicy::Nothing,
        listen: Vec::new(),
        sockets: Vec::new(),
        environment: BTreeMap::new(),
        scratch: false,
        limits: Limits::NONE,
        system_calls: Vec::new(),
        asks: Asks::All,
    }
}

/// A policy with this writable root and the denials of the built-in lists; `/home/ada` is the home.
pub fn guarded_policy(root: &Path) -> Policy {
    let home = Entry {
        place: "/home/ada".into(),
        at: PathBuf::new(),
    };
    let entries: Arc<[Entry]> = [home].into();
    let listed = |list: SecretList| {
        let target = Target::Listed(Listed {
            list,
            entries: Arc::clone(&entries),
            open: [].into(),
        });
        match list {
            SecretList::Secret => denial(target, Access::WRITING, DenialKind::SecretName),
            SecretList::Key => denial(target, Access::WRITING, DenialKind::SecretPattern),
            _ => denial(target, Access::CHANGE, DenialKind::Guarded),
        }
    };
    let git = denial(Target::GitDirectories, Access::CHANGE, DenialKind::Guarded);
    Policy {
        root: root.to_path_buf(),
        denials: SecretList::ALL.into_iter().map(listed).chain([git]).collect(),
        ..policy(vec![grant(Access::WRITING, root)])
    }
}

/// A denial of Stockade's own.
pub fn denial(target: Target, access: Access, kind: DenialKind) -> DenialRule {
    DenialRule {
        target,
        access,
        kind,
        origin: Origin::BuiltIn,
    }
}

/// A run with this policy, where Landlock judges reading.
pub fn run_config(policy: Policy) -> RunConfig {
    RunConfig {
        policy,
        supervision: Supervision {
            reading: Reading::Landlock,
            trace: Trace::Exact,
            landlock_abi: 7,
        },
        native: Vec::new(),
        scratch: None,
        cache: None,
        scratch_executes: false,
        terminals: Vec::new(),
        starts: 1,
        most_processes: None,
        kept: None,
        taken: Vec::new(),
        earlier: Vec::new(),
    }
}

/// An access that nothing grants.
pub fn refusal(kind: Kind, target: &str) -> Refusal {
    Refusal {
        kind,
        asked: target.into(),
        target: target.into(),
        exists: true,
        is_directory: false,
        syscall: "openat".into(),
        pid: 1,
        program: Vec::new(),
        at: Duration::ZERO,
        reason: Reason::NotGranted,
    }
}

/// A worker's descriptors, without a listener: no caller is ever confirmed.
pub fn worker_fds() -> WorkerFds {
    let nothing = || File::open("/dev/null").unwrap().into();
    let copies = Copies {
        control: None,
        domain: None,
        orders: nothing(),
    };
    let warden = std::os::unix::process::parent_id().try_into().unwrap();
    WorkerFds::new(nothing(), copies, warden, Isolation::Shared).unwrap()
}

/// A call of the test's own thread.
pub fn notification(id: u64) -> Notification {
    let mut notification = Notification::default();
    notification.id = id;
    notification.thread = nix::unistd::gettid().as_raw();
    notification
}

/// An empty directory, removed with the value, and its real path.
pub fn directory() -> (TempDir, PathBuf) {
    let made = tempfile::tempdir().unwrap();
    let path = made.path().canonicalize().unwrap();
    (made, path)
}

/// Makes a directory with those above it; returns its identity.
pub fn make(path: &Path) -> Identity {
    std::fs::create_dir_all(path).unwrap();
    identity(path)
}

pub fn identity(path: &Path) -> Identity {
    Identity::at(path).unwrap()
}

/// Pins what lies at a path; a link in the last place is followed.
pub fn pinned(fds: &WorkerFds, path: impl AsRef<Path>) -> Pinned {
    let opened = file::open(
        fds.root.as_fd(),
        &std::ffi::CString::new(path.as_ref().as_os_str().as_bytes()).unwrap(),
        OpenHow::existing(libc::O_PATH),
    );
    Pinned::new(fds, opened.unwrap()).unwrap()
}

/// The place of a path in its directory.
pub fn place(fds: &WorkerFds, path: &Path) -> Place {
    let name = path.file_name().unwrap().as_bytes();
    Place::in_directory(pinned(fds, path.parent().unwrap()), name).unwrap()
}

/// An approver that knows no answer.
pub struct Silent;

impl Approver for Silent {
    fn ask(&self, _: &EscalationRequest, _: &Deadline) -> Answer {
        Answer::silence("not there")
    }
}

/// `build`, and `trusted`: both write `/build`.
struct TwoProfiles;

impl Profiles for TwoProfiles {
    fn lowest(&self, refusal: &Refusal) -> Option<String> {
        refusal.target.starts_with(b"/build").then(|| "build".into())
    }

    fn policy(&self, name: &str) -> Option<Policy> {
        ["build", "trusted"]
            .contains(&name)
            .then(|| policy(vec![grant(Access::WRITING, "/build")]))
    }
}

/// Asks this approver, for grants of every lifetime.
pub fn asking(approver: impl Approver + 'static) -> Asking {
    Asking {
        approver: Arc::new(approver),
        timeout: Duration::from_secs(60),
        unit: Unit::Grants,
        lifetimes: vec![Lifetime::Once, Lifetime::Session, Lifetime::Always],
        run: "run".into(),
        command: vec!["python3".into(), "a.py".into()],
        home: Some("/home/ada".into()),
        agent: None,
        script: None,
        profiles: Box::new(TwoProfiles),
    }
}

/// The journal of a run that no observer follows.
pub fn journal(run_config: RunConfig) -> Journal {
    Journal::new(RunPolicy::new(run_config), None, Arc::default())
}

/// The approvals of a run.
pub fn approvals(asking: Asking, run_config: RunConfig) -> Approvals {
    Approvals::new(asking, Arc::new(journal(run_config)))
}

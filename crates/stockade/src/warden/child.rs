//! From the fork to the exec: the target drops its own privileges, step by step, then executes the program.
//!
//! This code runs in memory that it shares with the warden (`stockade_sys::spawn::run_until_exec`), in a process whose
//! host may have had threads: system calls only, no allocation, no lock, no formatting. A failure is (step, errno); the
//! launcher phrases it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use super::News;
use crate::fault;
use crate::plan::Instruction;
use stockade_sys::confine;
use stockade_sys::notify;
use stockade_sys::process::{self, PointerArray, Scheduling};
use stockade_sys::signals::{self, SignalSet};
use stockade_sys::spawn::Go;
use stockade_sys::wire::{self, Message};

/// The steps of a launch, in order. The number is sent; the launcher has the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Step {
    /// The warden: becoming the subreaper.
    Subreaper = 1,
    /// The warden: setting `no_new_privs`.
    NoNewPrivs,
    /// The warden: dropping Linux capabilities.
    Capabilities,
    /// The warden: its Landlock domain with the signal scope.
    SignalDomain,
    /// The warden, without a signal scope: the list of its children.
    Children,
    /// The warden of a nested run: having the outer supervisor narrow this one.
    Outer,
    /// The warden: creating the target's process.
    Fork,
    /// The warden: dying with the launcher until it watches the socket. The target: dying with the warden.
    DeathSignal,
    /// The target: its control group.
    ControlGroup,
    /// The target: resource limits.
    Limits,
    /// The target: its working directory.
    Directory,
    /// The target: standard input, output and error.
    Streams,
    /// The target: granting its own `/proc` entries.
    OwnProc,
    /// The target: its Landlock domain.
    Landlock,
    /// The target: its seccomp filter.
    Seccomp,
    /// The target: its seccomp filter, and handing over the filter's listener.
    Listener,
    /// The target: closing the descriptors that it must not inherit.
    Descriptors,
    /// The warden: leaving the launcher's session.
    Session,
    /// The target: executing the program.
    Execute,
    /// The target: ending within these steps, by a panic or a kill.
    Unfinished,
}

impl Step {
    /// The step with this number.
    pub fn from_number(number: i32) -> Option<Step> {
        use Step::*;
        [
            Subreaper,
            NoNewPrivs,
            Capabilities,
            SignalDomain,
            Children,
            Outer,
            Fork,
            DeathSignal,
            ControlGroup,
            Limits,
            Directory,
            Streams,
            OwnProc,
            Landlock,
            Seccomp,
            Listener,
            Descriptors,
            Session,
            Execute,
            Unfinished,
        ]
        .into_iter()
        .find(|step| *step as i32 == number)
    }

    /// The step's text, to follow "could not".
    pub fn describe(self) -> &'static str {
        match self {
            Step::Subreaper => "become the collector of orphaned processes",
            Step::NoNewPrivs => "give up gaining privileges (no_new_privs)",
            Step::Capabilities => "drop Linux capabilities",
            Step::SignalDomain => "enter the Landlock domain that scopes signals",
            Step::Children => "open the list of the warden's children (/proc)",
            Step::Outer => "ask the outer run to narrow this one",
            Step::Fork => "start a process",
            Step::DeathSignal => "tie the program's life to the warden's",
            Step::ControlGroup => "enter the control group",
            Step::Limits => "set resource limits",
            Step::Directory => "change to the root",
            Step::Streams => "connect standard input, output and error",
            Step::OwnProc => "grant the program its own /proc entries",
            Step::Landlock => "enforce the Landlock ruleset",
            Step::Seccomp => "install the seccomp filter",
            Step::Listener => "install the seccomp filter with the supervisor's listener",
            Step::Descriptors => "close inherited descriptors",
            Step::Session => "have the warden leave the session",
            Step::Execute => "execute the program",
            Step::Unfinished => "become the program",
        }
    }
}

/// A resource limit: the kernel's number for it, the soft and the hard value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimit {
    /// `RLIMIT_…`.
    pub resource: u32,
    /// The soft limit, which the program meets first.
    pub soft: u64,
    /// The hard limit, up to which the program can raise the soft one.
    pub hard: u64,
}

/// Everything the target needs, made before the first fork. Descriptors are owned by the launcher's `Prepared`.
pub struct ExecSpec {
    /// The program to execute.
    pub program: CString,
    /// Its arguments, the name first.
    pub arguments: PointerArray,
    /// Its environment.
    pub environment: PointerArray,
    /// Its working directory, opened with `O_PATH`.
    pub directory: RawFd,
    /// The descriptors that become 0, 1 and 2; -1 is closed.
    pub streams: [RawFd; 3],
    /// The Landlock ruleset.
    pub ruleset: RawFd,
    /// The rights on its own `/proc` directory, 0 for none.
    pub own_proc_rights: u64,
    /// The seccomp program.
    pub filter: Vec<Instruction>,
    /// The socket that the filter's listener is sent to, -1 without a supervisor.
    pub listener_socket: RawFd,
    /// Resource limits.
    pub limits: Vec<ResourceLimit>,
    /// `cgroup.procs` of the run's control group, -1 for none.
    pub control_group: RawFd,
    /// Signals that stay ignored, as the caller had them.
    pub ignored_signals: u64,
    /// The signal mask to restore.
    pub signal_mask: SignalSet,
    /// The caller's scheduling, where the launcher has precedence: its children get neither that nor a nice value.
    pub scheduling: Option<Scheduling>,
}

/// The new process's argument, and where it leaves its failure.
pub struct Birth<'a> {
    /// The program to execute and its confinement.
    pub exec_spec: &'a ExecSpec,
    /// The warden's process id.
    pub warden: i32,
    /// Signals whether the warden has left the launcher's session.
    pub apart: &'a Go,
    /// The step that failed and its errno.
    pub failure: Option<(Step, i32)>,
}

/// The new process's main function. Never returns if it succeeds.
pub fn begin(birth: &mut Birth<'_>) -> i32 {
    // The result if something ends the process within the steps.
    birth.failure = Some((Step::Unfinished, libc::ECANCELED));
    let (step, error) = become_program(birth);
    birth.failure = Some((step, error.raw_os_error().unwrap_or(libc::EIO)));
    127
}

/// Confines the calling process and executes the program; returns only if a step failed.
fn become_program(birth: &mut Birth<'_>) -> (Step, io::Error) {
    if let Err(failure) = confine_self(birth) {
        return failure;
    }
    let exec_spec = birth.exec_spec;
    birth.failure = None;
    // Signals that arrived meanwhile act on the target now, with default actions.
    if let Err(error) = exec_spec.signal_mask.set() {
        return (Step::Descriptors, error);
    }
    let error = process::execute(&exec_spec.program, &exec_spec.arguments, &exec_spec.environment);
    (Step::Execute, error)
}

/// The order matters where a comment says so.
fn confine_self(birth: &Birth<'_>) -> Result<(), (Step, io::Error)> {
    let at = |step: Step| move |error: io::Error| (step, error);
    let exec_spec = birth.exec_spec;
    fault::point("target", || "");

    // First, so that killing the warden from here on kills the target too. Exec keeps it: nothing is set-user-ID.
    confine::parent_death_signal(libc::SIGKILL).map_err(at(Step::DeathSignal))?;
    // A warden that was killed before sends no signal.
    if process::parent() != birth.warden {
        return Err((Step::DeathSignal, io::Error::from_raw_os_error(libc::ESRCH)));
    }

    // As far as permitted: a run without it is confined all the same.
    if let Some(scheduling) = &exec_spec.scheduling {
        scheduling.take();
    }
    // Before Landlock, which doesn't grant writing to the control group.
    if exec_spec.control_group >= 0 {
        confine::write_all(exec_spec.control_group, b"0").map_err(at(Step::ControlGroup))?;
    }
    for limit in &exec_spec.limits {
        confine::limit_resource(limit.resource, limit.soft, limit.hard).map_err(at(Step::Limits))?;
    }
    confine::change_directory(exec_spec.directory).map_err(at(Step::Directory))?;
    place_streams(exec_spec.streams).map_err(at(Step::Streams))?;

    // Its `/proc` entries exist only from now on.
    if exec_spec.own_proc_rights != 0 {
        confine::grant_own_proc(exec_spec.ruleset, exec_spec.own_proc_rights).map_err(at(Step::OwnProc))?;
    }

    signals::reset_dispositions(exec_spec.ignored_signals);
    confine::landlock_restrict_self(exec_spec.ruleset).map_err(at(Step::Landlock))?;
    // After Landlock, whose calls the filter allows but needn't see.
    if exec_spec.listener_socket < 0 {
        confine::install_filter(&exec_spec.filter).map_err(at(Step::Seccomp))?;
    } else {
        hand_over_listener(exec_spec).map_err(at(Step::Listener))?;
    }
    // Last, since the ruleset's descriptor is among them.
    confine::close_from(3).map_err(at(Step::Descriptors))?;
    // Nothing of the run starts while one signal to the launcher's process group could kill both launcher and warden.
    if !birth.apart.wait() {
        return Err((Step::Session, io::Error::from_raw_os_error(libc::EPERM)));
    }
    Ok(())
}

/// Installs the filter and sends its listener to the supervisor. From here on mediated calls wait for the supervisor.
fn hand_over_listener(exec_spec: &ExecSpec) -> io::Result<()> {
    let listener = notify::install_filter(&exec_spec.filter)?;
    let message = Message::new(News::Listener as u32, 0, 0);
    wire::send_with(exec_spec.listener_socket, &message, listener.as_raw_fd())
}

/// Puts the three streams on 0, 1 and 2. The launcher moves sources at 0 to 2 that are needed later out of the way, so
/// copying them in order is right.
fn place_streams(streams: [RawFd; 3]) -> io::Result<()> {
    for (number, source) in (0..).zip(streams) {
        if source < 0 {
            confine::close(number);
        } else {
            confine::place_descriptor(source, number)?;
        }
    }
    Ok(())
}

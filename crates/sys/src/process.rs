//! Starting, awaiting and killing processes.

use std::ffi::CStr;
use std::io;
use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{check, check_long, confine};

/// Which side of a fork the caller is on.
pub enum Forked {
    /// The parent, with the child's process id.
    Parent(i32),
    /// The child: only child-safe calls from here on.
    Child,
}

/// Forks with the bare system call: no fork handlers of the host program run in the child.
///
/// The child has a copy of this memory and only the calling thread. All signals should be blocked around the call, so
/// that no signal handler of the host runs in it.
pub fn fork() -> io::Result<Forked> {
    let flags = libc::SIGCHLD as libc::c_ulong;
    let none: libc::c_ulong = 0;
    // SAFETY: without CLONE_VM and with no stack this is fork(2): the child runs on its own copy of this
    // stack. What follows in the child is child-safe code only.
    let pid = check_long(unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) })?;
    Ok(if pid == 0 {
        IS_FORKED.store(true, Ordering::Relaxed);
        Forked::Child
    } else {
        Forked::Parent(pid as i32)
    })
}

/// Whether this is a process that [`fork`] made, or one that shares its memory.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Whether a fork made this process, so that only child-safe calls are allowed.
pub fn is_forked() -> bool {
    IS_FORKED.load(Ordering::Relaxed)
}

/// Exits the process when it goes out of scope: a panic in a forked child must not unwind into the parent's frames.
pub struct ExitOnDrop;

impl Drop for ExitOnDrop {
    fn drop(&mut self) {
        exit_now(1);
    }
}

/// Executes a program; returns only the error. The arrays end with a null pointer.
///
/// Child-safe.
pub fn execute(path: &CStr, arguments: &PointerArray, environment: &PointerArray) -> io::Error {
    // SAFETY: both arrays are null-terminated lists of NUL-terminated strings that they own.
    unsafe {
        libc::execve(
            path.as_ptr(),
            arguments.pointers.as_ptr(),
            environment.pointers.as_ptr(),
        );
    }
    io::Error::last_os_error()
}

/// A null-terminated array of C strings, built before the fork.
pub struct PointerArray {
    pointers: Vec<*const libc::c_char>,
    // Owns what `pointers` points into; never touched again.
    _strings: Vec<std::ffi::CString>,
}

// SAFETY: the pointers lead into `_strings`, which the value owns and never changes.
unsafe impl Send for PointerArray {}
// SAFETY: as above; shared reads only.
unsafe impl Sync for PointerArray {}

impl PointerArray {
    /// Takes ownership of the strings.
    pub fn new(strings: Vec<std::ffi::CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|string| string.as_ptr())
            .chain(std::iter::once(std::ptr::null()))
            .collect();
        PointerArray {
            pointers,
            _strings: strings,
        }
    }
}

/// A change of a child's state.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The child's process id.
    pub pid: i32,
    /// The status in wait(2)'s encoding.
    pub status: i32,
}

/// The result of a wait for children.
#[derive(Debug, Clone, Copy)]
pub enum Waited {
    /// A child changed state.
    Changed(Change),
    /// There are children, and none has changed state.
    Nothing,
    /// There are no children.
    NoChildren,
}

/// Returns the next change of any child; waits for one if `block`. Child-safe.
pub fn wait_any(block: bool) -> Waited {
    let flags = libc::WUNTRACED | libc::WCONTINUED | if block { 0 } else { libc::WNOHANG };
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one integer.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, flags) };
        match pid {
            0 => return Waited::Nothing,
            pid if pid > 0 => return Waited::Changed(Change { pid, status }),
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            _ => return Waited::NoChildren,
        }
    }
}

/// Whether a child has exited. It remains a zombie to be collected, unless SIGCHLD is ignored.
pub fn has_ended(pid: i32) -> io::Result<bool> {
    let mut about = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel writes one `siginfo_t`; zeroed memory is a valid one, with the process id 0, should it write none.
    let (waited, child) = unsafe {
        let waited = libc::waitid(libc::P_PID, pid.cast_unsigned(), about.as_mut_ptr(), flags);
        (check(waited), about.assume_init().si_pid())
    };
    match waited {
        Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(true),
        waited => waited.map(|_| child == pid),
    }
}

/// The signal that stopped a child since the last call, if it is stopped. Child-safe.
pub fn stopped_by(pid: i32) -> Option<i32> {
    let mut about = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WSTOPPED | libc::WNOHANG;
    // SAFETY: as in `has_ended`.
    let (child, signal) = unsafe {
        libc::waitid(libc::P_PID, pid.cast_unsigned(), about.as_mut_ptr(), flags);
        let about = about.assume_init();
        (about.si_pid(), about.si_status())
    };
    (child == pid).then_some(signal)
}

/// Collects one child that is known to have ended, or waits for it. An error (already collected) is ignored.
pub fn collect(pid: i32) {
    let mut status = 0;
    // SAFETY: the kernel writes one integer.
    while unsafe { libc::waitpid(pid, &raw mut status, 0) } < 0 {
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return;
        }
    }
}

/// Processor time in microseconds and largest resident set in bytes of all collected descendants. Child-safe.
pub fn usage_of_children() -> (i64, i64) {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage`; zeroed memory is a valid one should it fail.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let micros = |t: libc::timeval| t.tv_sec * 1_000_000 + t.tv_usec;
    (micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_maxrss * 1024)
}

/// Sends a signal to one process. Child-safe.
pub fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::kill(pid, signal) }).map(drop)
}

/// Sends a signal to one thread of a process.
pub fn signal_thread(pid: i32, thread: i32, signal: i32) -> io::Result<()> {
    // SAFETY: integers only.
    check_long(unsafe { libc::syscall(libc::SYS_tgkill, pid, thread, signal) }).map(drop)
}

/// The calling process's id. Child-safe.
pub fn id() -> i32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::getpid() }
}

/// The id of the calling process's parent. Child-safe.
pub fn parent() -> i32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { libc::getppid() }
}

/// Makes the calling process the leader of a new session, and so of a new process group. Child-safe.
pub fn begin_session() -> io::Result<()> {
    // SAFETY: takes nothing.
    check(unsafe { libc::setsid() }).map(drop)
}

/// Ends the calling process at once. Child-safe.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: never returns, runs no handler.
    unsafe { libc::_exit(status) }
}

/// Proof that this process is inside a Landlock domain that scopes signals.
///
/// Only [`SignalDomain::enter`] constructs one. Without the domain `kill(-1)` would kill everything that the user runs.
pub struct SignalDomain(());

impl SignalDomain {
    /// Enforces a ruleset that scopes signals (Landlock ABI 6 and later) on the calling process.
    ///
    /// Child-safe.
    pub fn enter(ruleset: RawFd) -> io::Result<SignalDomain> {
        confine::landlock_restrict_self(ruleset).map(SignalDomain)
    }

    /// Sends a signal to every other process of the domain, which is exactly the run.
    ///
    /// Child-safe.
    pub fn signal_all(&self, signal: i32) {
        // SAFETY: integers only. kill(2) spares the caller; Landlock's scope spares every process outside.
        unsafe { libc::kill(-1, signal) };
    }
}

/// Makes a command start as if from a shell: no signal blocked or ignored, in its own process group. SIGALRM kills it
/// after so many seconds, also without a process that would (alarm(2) outlives execve).
pub fn set_apart(command: &mut std::process::Command, seconds: u32) {
    use super::signals;
    use std::os::unix::process::CommandExt;
    let prepare = move || {
        signals::reset_dispositions(0);
        signals::SignalSet::of(&[]).set()?;
        nix::unistd::alarm::set(seconds);
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls only: no allocation, no lock.
    unsafe { command.process_group(0).pre_exec(prepare) };
}

/// Makes a command start apart from the terminal's foreground, in its own process group, with the signals as this process's
/// caller left them, and get a signal when this thread ends, however that comes (prctl(2), `PR_SET_PDEATHSIG`). Where it has
/// ended before, nothing starts.
pub fn end_with_us(command: &mut std::process::Command, signal: libc::c_int) {
    use super::signals;
    use std::os::unix::process::CommandExt;
    let (ignored, us) = (signals::ignored(), id());
    let prepare = move || {
        signals::reset_dispositions(ignored);
        signals::SignalSet::of(&[]).set()?;
        confine::parent_death_signal(signal)?;
        match parent() == us {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: between fork and exec the closure makes system calls only: no allocation, no lock.
    unsafe { command.process_group(0).pre_exec(prepare) };
}

/// The machine's processors, also where a container gets the time of few. Queried once.
pub fn processors() -> u64 {
    static COUNT: OnceLock<u64> = OnceLock::new();
    // SAFETY: an integer only.
    let ask = || unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    *COUNT.get_or_init(|| u64::try_from(ask()).unwrap_or(1).max(1))
}

/// The scheduling policy, priority and nice value of a thread without real-time priority (sched(7)).
#[derive(Debug, Clone, Copy)]
pub struct Scheduling {
    policy: i32,
    nice: i32,
}

impl Scheduling {
    /// Returns the calling thread's.
    pub fn now() -> io::Result<Scheduling> {
        // SAFETY: integers only.
        let policy = check(unsafe { libc::sched_getscheduler(0) })?;
        Ok(Scheduling {
            policy: policy & !libc::SCHED_RESET_ON_FORK,
            nice: nice(0)?,
        })
    }

    /// Applies it to the calling thread, as far as permitted. Child-safe.
    pub fn take(&self) {
        if matches!(self.policy, libc::SCHED_BATCH | libc::SCHED_IDLE) {
            let _ = set_policy(0, self.policy, &libc::sched_param { sched_priority: 0 });
        }
        let _ = set_nice(0, self.nice);
    }
}

/// The precedence of a process or thread over all others, until this is dropped.
pub struct Precedence {
    id: i32,
    before: Before,
}

/// The scheduling before.
enum Before {
    /// A policy of sched(7), with its parameter.
    Policy(i32, libc::sched_param),
    /// A nice value.
    Nice(i32),
}

impl Precedence {
    /// Gives it to a process or thread by its id, or with 0 to the calling thread. Only root may.
    pub fn of(id: i32) -> io::Result<Precedence> {
        Precedence::in_real_time(id).or_else(|_| {
            let id = thread_or(id);
            Ok(Precedence {
                id,
                before: be_least_nice(id)?,
            })
        })
    }

    /// The same, but not by its nice value, which its children would inherit. With the nice value alone a thread still
    /// waits for its turn among thousands that have just started, and where sessions are grouped (sched(7), "The
    /// autogroup feature") it counts within its own session only.
    pub fn in_real_time(id: i32) -> io::Result<Precedence> {
        let id = thread_or(id);
        Ok(Precedence {
            id,
            before: go_first(id)?,
        })
    }
}

/// Returns the id, or for 0 the calling thread's.
///
/// Not by libc's function: `file::entry_status` has the reason.
fn thread_or(id: i32) -> i32 {
    if id == 0 { nix::unistd::gettid().as_raw() } else { id }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        match &self.before {
            Before::Policy(policy, parameter) => {
                // Without Linux capabilities the policy can be given up, but not SCHED_RESET_ON_FORK.
                let _ = set_policy(self.id, *policy, parameter)
                    .or_else(|_| set_policy(self.id, *policy | libc::SCHED_RESET_ON_FORK, parameter));
            }
            Before::Nice(nice) => {
                let _ = set_nice(self.id, *nice);
            }
        }
    }
}

/// Gives a process or thread the lowest real-time priority, which its children don't inherit.
fn go_first(id: i32) -> io::Result<Before> {
    // SAFETY: integers only.
    let policy = check(unsafe { libc::sched_getscheduler(id) })?;
    let mut before = libc::sched_param { sched_priority: 0 };
    // SAFETY: the kernel writes one `sched_param` that outlives the call.
    check(unsafe { libc::sched_getparam(id, &raw mut before) })?;
    let first = libc::sched_param { sched_priority: 1 };
    set_policy(id, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &first)?;
    Ok(Before::Policy(policy, before))
}

fn set_policy(id: i32, policy: i32, parameter: &libc::sched_param) -> io::Result<()> {
    // SAFETY: the parameter outlives the call, which only reads it.
    check(unsafe { libc::sched_setscheduler(id, policy, parameter) }).map(drop)
}

fn be_least_nice(id: i32) -> io::Result<Before> {
    const MIN: i32 = -20;
    let before = nice(id)?;
    set_nice(id, MIN)?;
    Ok(Before::Nice(before))
}

fn nice(id: i32) -> io::Result<i32> {
    // The C library's function can't report failure: -1 is a value. The kernel returns 20 minus the nice value.
    // SAFETY: integers only.
    let raw = check_long(unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, id) })?;
    Ok(20 - i32::try_from(raw).unwrap_or(20))
}

fn set_nice(id: i32, nice: i32) -> io::Result<()> {
    // SAFETY: integers only.
    check_long(unsafe { libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, id, nice) }).map(drop)
}

/// The machine's memory in bytes, from sysinfo(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineMemory {
    /// All memory.
    pub total: u64,
    /// Unused memory.
    pub free: u64,
    /// Memory files, shared mappings and in-memory file systems, mapped or not.
    pub shared: u64,
}

/// Makes all threads of this process share one heap (mallopt(3)): each further heap is pages that every launch touches
/// for the first time. Only for a process of this program alone, before it has a second thread.
pub fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: two integers, and no other thread allocates yet. If it fails, nothing changes.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Queries the kernel; `None` if a filter refuses that.
pub fn machine_memory() -> Option<MachineMemory> {
    // SAFETY: integers and padding, for which zero is a valid value.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `sysinfo` that outlives the call.
    check(unsafe { libc::sysinfo(&raw mut info) }).ok()?;
    let unit = u64::from(info.mem_unit);
    Some(MachineMemory {
        total: info.totalram.saturating_mul(unit),
        free: info.freeram.saturating_mul(unit),
        shared: info.sharedram.saturating_mul(unit),
    })
}

//! Signal masks, dispositions and signal descriptors.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use super::check;

/// Stops this process as Ctrl-Z does, and returns when its shell lets it go on: at once where no shell is left to do that, since
/// the kernel drops the signal then (setpgid(2), "orphaned process group").
pub fn stop_as_by_key() {
    // SAFETY: sends a signal to the calling thread.
    let _ = unsafe { libc::raise(libc::SIGTSTP) };
    if let Ok(before) = SignalSet::of(&[libc::SIGTSTP]).unblock() {
        let _ = before.set();
    }
}

/// A set of signals, in the C library's layout.
#[derive(Clone, Copy)]
pub struct SignalSet(libc::sigset_t);

impl std::fmt::Debug for SignalSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignalSet")
    }
}

impl SignalSet {
    /// The set of all signals.
    pub fn full() -> Self {
        let mut set = std::mem::MaybeUninit::uninit();
        // SAFETY: sigfillset initialises the whole set.
        unsafe {
            libc::sigfillset(set.as_mut_ptr());
            SignalSet(set.assume_init())
        }
    }

    /// The set of the given signals.
    pub fn of(signals: &[libc::c_int]) -> Self {
        let mut set = std::mem::MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the whole set; sigaddset takes it and a number.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in signals {
                libc::sigaddset(set.as_mut_ptr(), *signal);
            }
            SignalSet(set.assume_init())
        }
    }

    /// Blocks these signals too in the calling thread; returns the mask before. Child-safe.
    pub fn block(&self) -> io::Result<SignalSet> {
        self.apply(libc::SIG_BLOCK)
    }

    /// Makes this the mask of the calling thread; returns the mask before. Child-safe.
    pub fn set(&self) -> io::Result<SignalSet> {
        self.apply(libc::SIG_SETMASK)
    }

    /// Lets these signals through again in the calling thread; one that waits is delivered before this returns.
    pub fn unblock(&self) -> io::Result<SignalSet> {
        self.apply(libc::SIG_UNBLOCK)
    }

    fn apply(&self, how: libc::c_int) -> io::Result<SignalSet> {
        let mut before = std::mem::MaybeUninit::uninit();
        // SAFETY: reads one set, writes one set.
        let answer = unsafe { libc::pthread_sigmask(how, &raw const self.0, before.as_mut_ptr()) };
        if answer != 0 {
            return Err(io::Error::from_raw_os_error(answer));
        }
        // SAFETY: the call succeeded, so the old mask was written.
        Ok(SignalSet(unsafe { before.assume_init() }))
    }

    /// A descriptor on which these signals, once blocked, can be read. Child-safe.
    pub fn descriptor(&self, nonblocking: bool) -> io::Result<OwnedFd> {
        let flags = libc::SFD_CLOEXEC | if nonblocking { libc::SFD_NONBLOCK } else { 0 };
        // SAFETY: reads one set; the descriptor is new and has no other owner.
        unsafe {
            let descriptor = check(libc::signalfd(-1, &raw const self.0, flags))?;
            Ok(OwnedFd::from_raw_fd(descriptor))
        }
    }
}

/// Whether a signal that the calling thread blocks is pending for its process. Child-safe.
pub fn is_pending(signal: libc::c_int) -> bool {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigpending writes one set if it succeeds, and only then is the set read.
    unsafe { libc::sigpending(set.as_mut_ptr()) == 0 && libc::sigismember(set.as_ptr(), signal) == 1 }
}

/// Makes a command's program start with no signal blocked, whatever the calling thread blocks.
pub fn unblock_in(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let none = SignalSet::of(&[]);
    // SAFETY: between fork and exec the closure makes one child-safe call, on a set that was made before.
    unsafe { command.pre_exec(move || none.set().map(drop)) };
}

/// One signal read from a signal descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// The signal's number.
    pub signal: i32,
    /// Whether the kernel (a key at the terminal, a hang-up) or this process in its place sent it, and no other process.
    pub is_key: bool,
}

/// The next signal of a non-blocking signal descriptor, or `None`. Child-safe.
pub fn next_signal(descriptor: RawFd) -> Option<Arrived> {
    const SI_KERNEL: i32 = 0x80;
    let mut record = std::mem::MaybeUninit::<libc::signalfd_siginfo>::uninit();
    // SAFETY: the kernel writes whole records only, and the record is read only when one was written.
    unsafe {
        let size = size_of::<libc::signalfd_siginfo>();
        let got = libc::read(descriptor, record.as_mut_ptr().cast(), size);
        if usize::try_from(got) != Ok(size) {
            return None;
        }
        let record = record.assume_init();
        Some(Arrived {
            signal: record.ssi_signo as i32,
            is_key: record.ssi_code == SI_KERNEL || record.ssi_pid == std::process::id(),
        })
    }
}

/// Whether SIGCHLD was ignored before [`await_children`].
static IGNORED_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Lets this process learn of its children's exit and collect them itself: where SIGCHLD is ignored, which exec keeps,
/// the kernel collects them silently (wait(2)). [`ignored`] answers as before. Child-safe.
pub fn await_children() {
    // SAFETY: the default action installs no code of this program.
    let before = unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if before == libc::SIG_IGN {
        IGNORED_CHILDREN.store(true, Ordering::Relaxed);
    }
}

/// Whether SIGXFSZ wasn't ignored before [`outlive_file_limit`].
static HEEDED_FILE_LIMIT: AtomicBool = AtomicBool::new(false);

/// Makes a write past the caller's file size limit (setrlimit(2), RLIMIT_FSIZE) fail instead of killing this process.
/// [`ignored`] answers as before.
pub fn outlive_file_limit() {
    // SAFETY: ignoring the signal installs no code of this program.
    let before = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    HEEDED_FILE_LIMIT.store(before != libc::SIG_IGN, Ordering::Relaxed);
}

/// Whether the caller of this program ignored SIGPIPE, which Rust's runtime always ignores.
static IGNORED_PIPES: AtomicBool = AtomicBool::new(false);

/// A function that the C library calls before `main` (the ELF specification, "Initialization and Termination Functions").
// SAFETY: the section holds pointers to functions; this one makes a system call and stores a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = see_ignored_pipes;

extern "C" fn see_ignored_pipes() {
    IGNORED_PIPES.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
}

/// Whether the calling process ignores a signal.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null new action only queries; the old one is read only when the call wrote it.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// The signals from 1 to 64 that the calling process ignores, as a bit set (bit 0 is signal 1). SIGPIPE is among them
/// if the caller ignored it.
pub fn ignored() -> u64 {
    let pipes = u64::from(IGNORED_PIPES.load(Ordering::Relaxed)) << (libc::SIGPIPE - 1);
    let own = u64::from(HEEDED_FILE_LIMIT.load(Ordering::Relaxed)) << (libc::SIGXFSZ - 1);
    let mut set = u64::from(IGNORED_CHILDREN.load(Ordering::Relaxed)) << (libc::SIGCHLD - 1);
    for signal in (1..=64).filter(|signal| *signal != libc::SIGPIPE) {
        if is_ignored(signal) {
            set |= 1 << (signal - 1);
        }
    }
    set & !own | pipes
}

/// Resets every signal to its default action, except those in the bit set, which are ignored. Child-safe.
pub fn reset_dispositions(ignored: u64) {
    for signal in 1..=64 {
        let ignore = ignored & (1 << (signal - 1)) != 0;
        // SAFETY: the two standard actions install no code of this program. KILL, STOP and the C library's own signals
        // return an error, as they should.
        unsafe {
            libc::signal(signal, if ignore { libc::SIG_IGN } else { libc::SIG_DFL });
        }
    }
}

/// Sends this process SIGCONT after a time, also while it is stopped (timer_create(2)).
pub struct Waking(libc::timer_t);

impl Waking {
    /// Sends it after `time`, at least a millisecond.
    pub fn after(time: std::time::Duration) -> io::Result<Waking> {
        // SAFETY: all zero is a valid value of these structures of integers and pointers that aren't used.
        let (mut event, mut set): (libc::sigevent, libc::itimerspec) = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGCONT;
        let time = time.max(std::time::Duration::from_millis(1));
        set.it_value.tv_sec = time.as_secs().try_into().unwrap_or(libc::time_t::MAX);
        set.it_value.tv_nsec = time.subsec_nanos().into();
        let mut timer = std::ptr::null_mut();
        // SAFETY: both structures are whole, and the kernel's number of the timer is written to `timer`.
        check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) })?;
        let waking = Waking(timer);
        // SAFETY: the timer was made above.
        check(unsafe { libc::timer_settime(waking.0, 0, &set, std::ptr::null_mut()) })?;
        Ok(waking)
    }
}

impl Drop for Waking {
    fn drop(&mut self) {
        // SAFETY: this value alone owns the timer.
        unsafe { libc::timer_delete(self.0) };
    }
}

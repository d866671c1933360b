//! The allow-lists of calls that multiplex many requests: `ioctl`, `fcntl`, `prctl` and `arch_prctl`.
//!
//! Unlisted requests get the answer of an object or a kernel that doesn't know them. The numbers are those of the
//! kernel's headers, the same on x86-64 and aarch64; libc lacks many of them.

use super::super::filter::{Action, Case, Condition, Test, Verdict};
use super::{Sockets, errno};

/// The verdict on `ioctl`. Interface requests are for runs with a network.
pub(super) fn ioctl(sockets: Sockets) -> &'static Verdict {
    match sockets {
        Sockets::None => &LOCAL_IOCTL,
        Sockets::Hosts | Sockets::All => &NETWORK_IOCTL,
    }
}

/// The requests that the supervisor sees: the size of a terminal, and those that may signal a file's owner.
pub(super) fn seen_ioctl(sockets: Sockets) -> &'static Verdict {
    match sockets {
        Sockets::None => &SEEN_LOCAL_IOCTL,
        Sockets::Hosts | Sockets::All => &SEEN_NETWORK_IOCTL,
    }
}

const LOCAL: Case = Case {
    when: &[Condition::low(1, Test::OneOf(FILES_AND_TERMINALS))],
    then: Action::Allow,
};

const NETWORK: Case = Case {
    when: &[Condition::low(1, Test::OneOf(INTERFACES))],
    then: Action::Allow,
};

/// `TIOCSWINSZ`: would change the size of the caller's terminal for good.
const SIZE: Case = Case {
    when: &[Condition::low(1, Test::Equals(0x5414))],
    then: Action::Notify,
};

/// Turns `O_ASYNC` on, like `F_SETFL`. Without a supervisor the owner isn't checked, and the call isn't listed.
const ASYNCHRONOUS_BY_IOCTL: Case = Case {
    when: &[Condition::low(1, Test::Equals(FIOASYNC))],
    then: Action::Notify,
};

const FIOASYNC: u32 = 0x5452;

static LOCAL_IOCTL: Verdict = Verdict {
    cases: &[LOCAL],
    otherwise: errno(libc::ENOTTY),
};

static NETWORK_IOCTL: Verdict = Verdict {
    cases: &[LOCAL, NETWORK],
    otherwise: errno(libc::ENOTTY),
};

static SEEN_LOCAL_IOCTL: Verdict = Verdict {
    cases: &[ASYNCHRONOUS_BY_IOCTL, SIZE, LOCAL],
    otherwise: errno(libc::ENOTTY),
};

static SEEN_NETWORK_IOCTL: Verdict = Verdict {
    cases: &[ASYNCHRONOUS_BY_IOCTL, SIZE, LOCAL, NETWORK],
    otherwise: errno(libc::ENOTTY),
};

/// Never `TIOCSTI` and `TIOCLINUX` (they type into the terminal), `TIOCCONS`, `TIOCSETD`, `TIOCEXCL` (no other process could
/// open the user's terminal any more), `FS_IOC_SETFLAGS`, `FS_IOC_FSSETXATTR`, `FS_IOC_SETVERSION`, and none of a
/// single file system or device.
#[rustfmt::skip]
const FILES_AND_TERMINALS: &[u32] = &[
    0x5401, 0x5402, 0x5403, 0x5404, // TCGETS TCSETS TCSETSW TCSETSF
    0x5405, 0x5406, 0x5407, 0x5408, // TCGETA TCSETA TCSETAW TCSETAF
    0x5409, 0x540a, 0x540b, // TCSBRK TCXONC TCFLSH
    0x540e, 0x540f, 0x5410, 0x5411, // TIOCSCTTY TIOCGPGRP TIOCSPGRP TIOCOUTQ
    0x5413, 0x5414, 0x5415, // TIOCGWINSZ TIOCSWINSZ TIOCMGET
    0x541b, // FIONREAD
    0x5420, 0x5421, 0x5422, // TIOCPKT FIONBIO TIOCNOTTY
    0x5424, 0x5425, 0x5427, 0x5428, 0x5429, // TIOCGETD TCSBRKP TIOCSBRK TIOCCBRK TIOCGSID
    0x802c_542a, 0x402c_542b, 0x402c_542c, 0x402c_542d, // TCGETS2 TCSETS2 TCSETSW2 TCSETSF2
    0x8004_5430, 0x4004_5431, // TIOCGPTN TIOCSPTLCK
    0x8004_5438, 0x8004_5439, 0x8004_5440, // TIOCGPKT TIOCGPTLCK TIOCGEXCL
    0x5441, // TIOCGPTPEER
    0x5450, 0x5451, 0x5460, // FIONCLEX FIOCLEX FIOQSIZE
    0x0002, // FIGETBSZ
    0x1268, 0x8008_1272, // BLKSSZGET BLKGETSIZE64
    0x8008_6601, 0x801c_581f, 0x8008_7601, // FS_IOC_GETFLAGS FSGETXATTR GETVERSION
    0xc020_660b, // FS_IOC_FIEMAP
    0x4004_9409, 0x4020_940d, 0xc018_9436, // FICLONE FICLONERANGE FIDEDUPERANGE
];

/// Reads the interfaces' names and addresses, and a socket's mark and timestamps.
#[rustfmt::skip]
const INTERFACES: &[u32] = &[
    0x8905, 0x8906, // SIOCATMARK SIOCGSTAMP
    0x8910, 0x8912, 0x8913, 0x8915, // SIOCGIFNAME GIFCONF GIFFLAGS GIFADDR
    0x8919, 0x891b, 0x8921, // SIOCGIFBRDADDR GIFNETMASK GIFMTU
    0x8927, 0x8933, // SIOCGIFHWADDR GIFINDEX
];

/// Never `F_NOTIFY`, which watches a directory, and `F_SETLEASE`, which blocks the next opener of the file: the
/// supervisor, and programs outside. 12 to 14 and 1029 are commands of 32-bit calls and of the kernel itself, which
/// answers `EINVAL` to them.
const FCNTL_COMMANDS: &[u32] = &[
    0, 1, 2, 3, 4, // F_DUPFD GETFD SETFD GETFL SETFL
    5, 6, 7, // F_GETLK SETLK SETLKW
    8, 9, 10, 11, // F_SETOWN GETOWN SETSIG GETSIG
    12, 13, 14, 15, 16, // (F_GETLK64 SETLK64 SETLKW64) SETOWN_EX GETOWN_EX
    36, 37, 38,   // F_OFD_GETLK SETLK SETLKW
    1025, // F_GETLEASE
    1027, 1028, // F_DUPFD_QUERY CREATED_QUERY
    1029, 1030, 1031, 1032, // (F_CANCELLK) DUPFD_CLOEXEC SETPIPE_SZ GETPIPE_SZ
    1033, 1034, // F_ADD_SEALS GET_SEALS
    1035, 1036, 1037, 1038, // F_GET_RW_HINT SET_RW_HINT GET_FILE_RW_HINT SET_FILE_RW_HINT
];

const F_SETSIG: u32 = 10;

/// SIGCONT as an argument: the kernel would send it later, also while the run is stopped for a question at its
/// terminal. The kernel accepts no signal with a bit of the upper half.
const fn continues(argument: u8) -> Condition {
    Condition::low(argument, Test::Equals(libc::SIGCONT as u32))
}

/// SIGKILL too: it kills a stopped process, which may orphan another one's process group, which the kernel then lets go on.
const CONTINUES_BY_A_FILE: Case = Case {
    when: &[
        Condition::low(1, Test::Equals(F_SETSIG)),
        Condition::low(2, Test::OneOf(&[libc::SIGCONT as u32, libc::SIGKILL as u32])),
    ],
    then: errno(libc::EINVAL),
};

const KNOWN_TO_FCNTL: Case = Case {
    when: &[Condition::low(1, Test::OneOf(FCNTL_COMMANDS))],
    then: Action::Allow,
};

pub(super) static FCNTL: Verdict = Verdict {
    cases: &[CONTINUES_BY_A_FILE, NEVER_ASYNCHRONOUS, KNOWN_TO_FCNTL],
    otherwise: errno(libc::EINVAL),
};

/// Sets the signal of a file's events, whose owner may be outside.
const SIGNAL_OF_EVENTS: Case = Case {
    when: &[Condition::low(1, Test::Equals(F_SETSIG))],
    then: Action::Notify,
};

/// Sends signals for a file's events to its owner.
const ASYNCHRONOUS: Case = Case {
    when: &[
        Condition::low(1, Test::Equals(F_SETFL)),
        Condition::low(2, Test::AnyBit(libc::O_ASYNC as u32)),
    ],
    then: Action::Notify,
};

/// Refused, since the owner isn't checked, which a caller may have set outside.
const NEVER_ASYNCHRONOUS: Case = Case {
    then: errno(libc::EPERM),
    ..ASYNCHRONOUS
};

const F_SETFL: u32 = 4;

/// Sets the processes that get a file's signals. The supervisor can check that a number in a register is one of the
/// caller's own processes; a structure in memory may change by the time of the call.
const F_SETOWN: u32 = 8;
const F_SETOWN_EX: u32 = 15;

/// Removes the owner. With the next `O_ASYNC` a terminal without an owner would take its foreground group, or the
/// thread that sets the flag: the supervisor's.
const DISOWNING: Case = Case {
    when: &[
        Condition::low(1, Test::Equals(F_SETOWN)),
        Condition::low(2, Test::Equals(0)),
    ],
    then: errno(libc::EPERM),
};

/// Sets the owner by a structure in memory, which may also remove it.
const OWNING_BY_MEMORY: Case = Case {
    when: &[Condition::low(1, Test::Equals(F_SETOWN_EX))],
    then: errno(libc::EPERM),
};

/// With a supervisor, if Landlock confines signals to owners that the run set, but not to those that its caller set.
pub(super) static WATCHED_FCNTL: Verdict = Verdict {
    cases: &[
        CONTINUES_BY_A_FILE,
        SIGNAL_OF_EVENTS,
        ASYNCHRONOUS,
        DISOWNING,
        OWNING_BY_MEMORY,
        KNOWN_TO_FCNTL,
    ],
    otherwise: errno(libc::EINVAL),
};

/// With a supervisor, if Landlock doesn't confine signals.
pub(super) static SEEN_FCNTL: Verdict = Verdict {
    cases: &[
        CONTINUES_BY_A_FILE,
        SIGNAL_OF_EVENTS,
        ASYNCHRONOUS,
        Case {
            when: &[Condition::low(1, Test::Equals(F_SETOWN))],
            then: Action::Notify,
        },
        OWNING_BY_MEMORY,
        KNOWN_TO_FCNTL,
    ],
    otherwise: errno(libc::EINVAL),
};

/// The supervisor can't read a process that isn't dumpable, and must know the call's arguments.
const PR_SET_DUMPABLE: u32 = 4;

const PR_SET_PDEATHSIG: u32 = 1;

/// Never `PR_SET_SECCOMP` (seccomp(2) does it, with visible flags), `PR_SET_MM`, `PR_SCHED_CORE`,
/// `PR_SET_SYSCALL_USER_DISPATCH`. Those in parentheses are of other processors or long gone: the kernel answers
/// `EINVAL` to them, and they join two ranges.
#[rustfmt::skip]
const PRCTL_OPTIONS: &[u32] = &[
    1, 2, 3, // PR_SET_PDEATHSIG GET_PDEATHSIG GET_DUMPABLE
    5, 6, 7, 8, // (PR_GET_UNALIGN SET_UNALIGN) GET_KEEPCAPS SET_KEEPCAPS
    9, 10, 11, 12, // (PR_GET_FPEMU SET_FPEMU GET_FPEXC SET_FPEXC)
    13, 14, 15, 16, // PR_GET_TIMING SET_TIMING SET_NAME GET_NAME
    21, 23, 24, // PR_GET_SECCOMP CAPBSET_READ CAPBSET_DROP
    25, 26, 27, 28, // PR_GET_TSC SET_TSC GET_SECUREBITS SET_SECUREBITS
    29, 30, // PR_SET_TIMERSLACK GET_TIMERSLACK
    36, 37, 38, 39, // PR_SET_CHILD_SUBREAPER GET_CHILD_SUBREAPER SET_NO_NEW_PRIVS GET_NO_NEW_PRIVS
    40, 41, 42, // PR_GET_TID_ADDRESS SET_THP_DISABLE GET_THP_DISABLE
    43, 44, 45, 46, 47, // (PR_MPX_ENABLE MPX_DISABLE SET_FP_MODE GET_FP_MODE) CAP_AMBIENT
    50, 51, 52, 53, // PR_SVE_SET_VL SVE_GET_VL GET_SPECULATION_CTRL SET_SPECULATION_CTRL
    54, 55, 56, // PR_PAC_RESET_KEYS SET_TAGGED_ADDR_CTRL GET_TAGGED_ADDR_CTRL
    60, 61, 63, 64, // PR_PAC_SET_ENABLED_KEYS PAC_GET_ENABLED_KEYS SME_SET_VL SME_GET_VL
    65, 66, // PR_SET_MDWE GET_MDWE
    74, 75, 76, // PR_GET_SHADOW_STACK_STATUS SET_SHADOW_STACK_STATUS LOCK_SHADOW_STACK_STATUS
    0x4155_5856, 0x5356_4d41, 0x5961_6d61, // PR_GET_AUXV SET_VMA SET_PTRACER
];

pub(super) static PRCTL: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(0, Test::Equals(PR_SET_DUMPABLE))],
            then: Action::Errno(0),
        },
        Case {
            when: &[Condition::low(0, Test::Equals(PR_SET_PDEATHSIG)), continues(1)],
            then: errno(libc::EINVAL),
        },
        Case {
            when: &[Condition::low(0, Test::OneOf(PRCTL_OPTIONS))],
            then: Action::Allow,
        },
    ],
    otherwise: errno(libc::EINVAL),
};

/// The caller's own thread registers, processor features and shadow stacks.
#[rustfmt::skip]
const ARCH_PRCTL_OPTIONS: &[u32] = &[
    0x1001, 0x1002, 0x1003, 0x1004, // ARCH_SET_GS SET_FS GET_FS GET_GS
    0x1021, 0x1022, 0x1023, // ARCH_GET_XCOMP_SUPP GET_XCOMP_PERM REQ_XCOMP_PERM
    0x3001, // ARCH_CET_STATUS
    0x5001, 0x5002, 0x5003, 0x5004, 0x5005, // ARCH_SHSTK_ENABLE DISABLE LOCK UNLOCK STATUS
];

pub(super) static ARCH_PRCTL: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::OneOf(ARCH_PRCTL_OPTIONS))],
        then: Action::Allow,
    }],
    otherwise: errno(libc::EINVAL),
};

//! The rules for calls that are judged by their registers.
//!
//! A register can't change between the check and the call, so nothing here looks at memory. `int` arguments are tested
//! by their low 32 bits, which is all that the kernel reads of them.

use super::super::filter::{Action, Case, Condition, Test, Verdict};
use super::{Memfds, Posture, Sockets, Truncation, Unjudged, errno, requests, sockets};

/// What decides about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    ArchPrctl,
    AttributeRead,
    Clone,
    Clone3,
    Fcntl,
    IoPriority,
    Ioctl,
    Limits,
    MemfdCreate,
    Metadata,
    Mknod,
    Mknodat,
    Open,
    Openat,
    Openat2,
    Peer,
    Personality,
    Prctl,
    Priority,
    Scheduling,
    Seccomp,
    Send,
    SendMessage,
    SetSocketOption,
    Socket,
    SocketPair,
    Truncate,
    Unshare,
}

impl Rule {
    /// The verdict in a posture.
    pub(super) fn verdict(self, posture: &Posture) -> &'static Verdict {
        match self {
            Self::Metadata => unjudged(posture, &REFUSED),
            // What a file system without attributes answers: `ls -l` and `cp -a` go on without a word.
            Self::AttributeRead => unjudged(posture, &NOT_SUPPORTED),
            Self::Scheduling => unjudged(posture, &SELF_ONLY),
            Self::Priority => unjudged(posture, &PRIORITY),
            Self::IoPriority => unjudged(posture, &IO_PRIORITY),
            Self::Peer => match posture.sockets {
                Sockets::None => &REFUSED,
                Sockets::All => unjudged(posture, &REFUSED),
            },
            Self::Socket => sockets::socket(posture.sockets),
            Self::SocketPair => sockets::pair(posture.sockets),
            Self::SetSocketOption => sockets::options(posture.sockets),
            Self::Send => &sockets::SEND,
            Self::SendMessage => &sockets::SEND_MESSAGE,
            Self::Ioctl => requests::ioctl(posture.sockets),
            Self::MemfdCreate => match posture.memfds {
                Memfds::Executable => &ALLOWED,
                Memfds::Sealed => &SEALED_MEMFD,
            },
            Self::Truncate => untruncated(posture, &REFUSED),
            Self::Open => untruncated(posture, &OPEN),
            Self::Openat => untruncated(posture, &OPENAT),
            // Its flags are in memory.
            Self::Openat2 => untruncated(posture, &UNKNOWN),
            // Its flags are in memory; libc falls back to `clone`, whose flags are in a register.
            Self::Clone3 => &UNKNOWN,
            Self::ArchPrctl => &requests::ARCH_PRCTL,
            Self::Clone => &CLONE,
            Self::Fcntl => &requests::FCNTL,
            Self::Limits => &SELF_ONLY,
            Self::Mknod => &MKNOD,
            Self::Mknodat => &MKNODAT,
            Self::Personality => &PERSONALITY,
            Self::Prctl => &requests::PRCTL,
            Self::Seccomp => &SECCOMP,
            Self::Unshare => &UNSHARE,
        }
    }
}

/// The verdict where only a supervisor could judge.
fn unjudged(posture: &Posture, refused: &'static Verdict) -> &'static Verdict {
    match posture.unjudged {
        Unjudged::Refused => refused,
        Unjudged::Allowed => &ALLOWED,
    }
}

/// The verdict where Landlock doesn't know truncation.
fn untruncated(posture: &Posture, refused: &'static Verdict) -> &'static Verdict {
    match posture.truncation {
        Truncation::Landlock => &ALLOWED,
        Truncation::Filter => refused,
    }
}

pub(super) const EPERM: Action = errno(libc::EPERM);

pub(super) static ALLOWED: Verdict = Verdict::always(Action::Allow);
pub(super) static REFUSED: Verdict = Verdict::always(EPERM);
static NOT_SUPPORTED: Verdict = Verdict::always(errno(libc::EOPNOTSUPP));
static UNKNOWN: Verdict = Verdict::always(super::UNKNOWN);

/// `CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET`.
/// `CLONE_NEWTIME` is 0x80, which `clone` takes for a part of the exit signal.
const CLONE_NAMESPACES: u32 = 0x7e02_0000;

static CLONE: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::NoBit(CLONE_NAMESPACES)), Condition::short(0)],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// `CLONE_FS | CLONE_FILES | CLONE_SYSVSEM`: what a process may stop sharing without a new namespace.
const UNSHARED: u32 = 0x0004_0600;

static UNSHARE: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::NoBit(!UNSHARED)), Condition::short(0)],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// The `pid` of calls that may act on the calling thread alone, which is 0. Threads can't name each other by number
/// here: the filter can't know which numbers are the run's own.
const SELF: Condition = Condition::low(0, Test::Equals(0));

static SELF_ONLY: Verdict = Verdict {
    cases: &[Case {
        when: &[SELF],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// `setpriority(PRIO_PROCESS, 0, …)`.
static PRIORITY: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::Equals(0)), Condition::low(1, Test::Equals(0))],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// `ioprio_set(IOPRIO_WHO_PROCESS, 0, …)`.
static IO_PRIORITY: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::Equals(1)), Condition::low(1, Test::Equals(0))],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// `MFD_NOEXEC_SEAL`: mode 0666, and sealed against adding execute permission.
const MFD_NOEXEC_SEAL: u32 = 8;

static SEALED_MEMFD: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(1, Test::AnyBit(MFD_NOEXEC_SEAL))],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

/// Character and block devices both have this bit of `S_IFMT`; regular files, FIFOs and sockets don't, and the kernel
/// makes nothing else.
const DEVICE: Test = Test::AnyBit(libc::S_IFCHR);

static MKNOD: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(1, DEVICE)],
        then: EPERM,
    }],
    otherwise: Action::Allow,
};

static MKNODAT: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(2, DEVICE)],
        then: EPERM,
    }],
    otherwise: Action::Allow,
};

/// `O_TRUNC` without write access: the kernel truncates all the same, and Landlock before ABI 3 only asks for reading.
const TRUNCATING_READ: Test = Test::Masked {
    mask: (libc::O_TRUNC | libc::O_ACCMODE) as u32,
    value: libc::O_TRUNC as u32,
};

static OPEN: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(1, TRUNCATING_READ)],
        then: EPERM,
    }],
    otherwise: Action::Allow,
};

static OPENAT: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(2, TRUNCATING_READ)],
        then: EPERM,
    }],
    otherwise: Action::Allow,
};

/// `PER_LINUX32`, `UNAME26` and `ADDR_NO_RANDOMIZE` (debuggers and `setarch`), alone or together, change what the run
/// sees of itself and nothing else. Never `READ_IMPLIES_EXEC` or `MMAP_PAGE_ZERO`.
const HARMLESS_PERSONALITY: u32 = 0x8 | 0x2_0000 | 0x4_0000;

static PERSONALITY: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(0, Test::NoBit(!HARMLESS_PERSONALITY))],
            then: Action::Allow,
        },
        // Asks what it is now.
        Case {
            when: &[Condition::low(0, Test::Equals(0xffff_ffff))],
            then: Action::Allow,
        },
    ],
    otherwise: EPERM,
};

const SECCOMP_SET_MODE_FILTER: u32 = 1;
const SECCOMP_GET_ACTION_AVAIL: u32 = 2;
const SECCOMP_GET_NOTIF_SIZES: u32 = 3;

/// A process that holds a listener answers for its children, with `CONTINUE` among the answers.
const SECCOMP_FILTER_FLAG_NEW_LISTENER: u32 = 8;

/// Further filters only narrow; strict mode isn't needed by anything.
static SECCOMP: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(
                0,
                Test::OneOf(&[SECCOMP_GET_ACTION_AVAIL, SECCOMP_GET_NOTIF_SIZES]),
            )],
            then: Action::Allow,
        },
        Case {
            when: &[
                Condition::low(0, Test::Equals(SECCOMP_SET_MODE_FILTER)),
                Condition::low(1, Test::NoBit(SECCOMP_FILTER_FLAG_NEW_LISTENER)),
            ],
            then: Action::Allow,
        },
    ],
    otherwise: EPERM,
};

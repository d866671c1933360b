//! The rules for calls that are judged by their registers.
//!
//! A register can't change between the check and the call, so nothing here looks at memory. `int` arguments are tested
//! by their low 32 bits, all that the kernel reads of them.

use super::super::filter::{Action, Case, Condition, Test, Verdict};
use super::{
    Allocating, Cutting, Memfds, Posture, Signals, Sockets, Spawning, Trace, Truncation, Unjudged, errno, requests,
    sockets,
};

/// The rule that decides about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallRule {
    Accept,
    Allocate,
    ArchPrctl,
    Ask,
    AskAt,
    Clone,
    Clone3,
    Creat,
    Cut,
    Entry,
    Execute,
    Fcntl,
    Fork,
    Group,
    IoPriority,
    Ioctl,
    Kill,
    Limits,
    Listen,
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
    Say,
    Scheduling,
    Seccomp,
    Send,
    SendMessage,
    SetLimit,
    SetSocketOption,
    Signal,
    Socket,
    SocketPair,
    Truncate,
    Umask,
    Unshare,
}

impl CallRule {
    /// The verdict in a posture.
    pub(super) fn verdict(self, posture: &Posture) -> &'static Verdict {
        match posture.unjudged {
            Unjudged::Supervised => self.supervised(posture).unwrap_or_else(|| self.alone(posture)),
            // The visible sockets depend on the outer run's policy.
            Unjudged::Outside if self == Self::Socket => sockets::streams(posture.sockets),
            // The outer run may be allowed to, and then its supervisor isn't notified.
            Unjudged::Outside if self.is_refused_to(posture) => self.alone(posture),
            Unjudged::Outside => self.supervised(posture).unwrap_or_else(|| self.alone(posture)),
            Unjudged::Refused | Unjudged::Allowed => self.alone(posture),
        }
    }

    /// The verdict if the supervisor must see the call; `None` if the registers decide with or without it.
    fn supervised(self, posture: &Posture) -> Option<&'static Verdict> {
        Some(match self {
            Self::Metadata
            | Self::Creat
            | Self::Entry
            | Self::Execute
            | Self::Group
            | Self::Kill
            | Self::Openat2
            | Self::Peer
            | Self::Truncate
            | Self::Umask => &SEEN,
            // The outer run's supervisor collects the texts, if there is one.
            Self::Say if posture.unjudged == Unjudged::Outside => return None,
            Self::Say => &HEARD,
            Self::Ask => &ASK,
            Self::AskAt => &ASK_AT,
            Self::Open => opens(posture, [&SEEN_OPEN, &MARKED_OPEN, &UNMARKED_OPEN]),
            Self::Openat => opens(posture, [&SEEN_OPENAT, &MARKED_OPENAT, &UNMARKED_OPENAT]),
            Self::Mknod => &SEEN_MKNOD,
            Self::Mknodat => &SEEN_MKNODAT,
            Self::Scheduling => &SEEN_UNLESS_SELF,
            Self::Limits => &SEEN_LIMITS,
            Self::SetLimit => &SEEN_LIMIT,
            Self::Priority => &SEEN_PRIORITY,
            Self::IoPriority => &SEEN_IO_PRIORITY,
            Self::Accept => &ALLOWED,
            Self::Listen => match posture.sockets {
                Sockets::Hosts => &SEEN,
                Sockets::None | Sockets::All => &ALLOWED,
            },
            Self::Socket => sockets::seen(posture.sockets, posture.maker),
            Self::SocketPair => sockets::pair(Sockets::None),
            Self::SetSocketOption if posture.unjudged == Unjudged::Supervised && posture.sockets == Sockets::None => {
                &sockets::STAND_IN_OPTIONS
            }
            // Also if all may be executed: a nested run may be narrower.
            Self::MemfdCreate => &SEEN_MEMFD,
            Self::Fork | Self::Clone => match (posture.spawning, self) {
                (Spawning::Free, _) => return None,
                (Spawning::Counted | Spawning::Refused, Self::Fork) => &SEEN,
                (Spawning::Counted, _) => &COUNTED_CLONE,
                (Spawning::Refused, _) => &SEEN_CLONE,
            },
            Self::Cut if posture.cutting == Cutting::Refused => &SEEN,
            Self::Cut => return None,
            Self::Allocate => match (posture.allocating, posture.cutting) {
                (Allocating::Free, Cutting::Free) => return None,
                (Allocating::Free, Cutting::Refused) => &SEEN_ALLOCATE,
                (Allocating::Watched, Cutting::Free) => &SEEN_LARGE_ALLOCATE,
                (Allocating::Watched, Cutting::Refused) => &SEEN_LARGE_OR_CUTTING_ALLOCATE,
                (Allocating::Refused, _) => &NOT_SUPPORTED,
            },
            Self::Signal => match posture.signals {
                Signals::Landlock => return None,
                Signals::Supervisor => &SEEN,
            },
            Self::Fcntl => match posture.signals {
                Signals::Landlock => &requests::WATCHED_FCNTL,
                Signals::Supervisor => &requests::SEEN_FCNTL,
            },
            Self::Ioctl => requests::seen_ioctl(posture.sockets),
            Self::ArchPrctl
            | Self::Clone3
            | Self::Personality
            | Self::Prctl
            | Self::Seccomp
            | Self::Send
            | Self::SendMessage
            | Self::SetSocketOption
            | Self::Unshare => return None,
        })
    }

    /// Whether it is refused to a run without SPAWN or DELETE.
    fn is_refused_to(self, posture: &Posture) -> bool {
        match self {
            Self::Fork | Self::Clone => posture.spawning == Spawning::Refused,
            Self::Cut | Self::Allocate => posture.cutting == Cutting::Refused,
            _ => false,
        }
    }

    /// The verdict without a supervisor.
    fn alone(self, posture: &Posture) -> &'static Verdict {
        match self {
            // Landlock judges them.
            Self::Ask
            | Self::AskAt
            | Self::Creat
            | Self::Entry
            | Self::Execute
            | Self::Kill
            | Self::Say
            | Self::SetLimit
            | Self::Signal
            | Self::Umask => &ALLOWED,
            Self::Fork if posture.spawning == Spawning::Refused => &REFUSED,
            Self::Fork => &ALLOWED,
            Self::Cut if posture.cutting == Cutting::Refused => &REFUSED,
            Self::Cut => &ALLOWED,
            Self::Allocate => match (posture.allocating, posture.cutting) {
                (Allocating::Free, Cutting::Free) => &ALLOWED,
                (Allocating::Free, Cutting::Refused) => &ALLOCATE,
                (Allocating::Watched, Cutting::Free) => &SMALL_ALLOCATE,
                (Allocating::Watched, Cutting::Refused) => &SMALL_KEEPING_ALLOCATE,
                (Allocating::Refused, _) => &NOT_SUPPORTED,
            },
            Self::Metadata | Self::Group => unjudged(posture, &REFUSED),
            Self::Scheduling => unjudged(posture, &SELF_ONLY),
            Self::Priority => unjudged(posture, &PRIORITY),
            Self::IoPriority => unjudged(posture, &IO_PRIORITY),
            Self::Peer | Self::Listen | Self::Accept => match posture.sockets {
                Sockets::None | Sockets::Hosts => &REFUSED,
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
                // An access list makes a sealed file executable again, and here the run may set lists.
                Memfds::Sealed if posture.unjudged == Unjudged::Allowed => &REFUSED,
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
            Self::Clone if posture.spawning == Spawning::Refused => &THREADS,
            Self::Clone => &CLONE,
            Self::Fcntl => &requests::FCNTL,
            Self::Limits => &SELF_ONLY,
            Self::Mknod => &MKNOD,
            Self::Mknodat => &MKNODAT,
            Self::Personality => &PERSONALITY,
            Self::Prctl => &requests::PRCTL,
            Self::Seccomp => &SECCOMP,
            Self::Unshare if posture.unjudged == Unjudged::Supervised => &UNSHARE_OR_SEEN,
            Self::Unshare => &UNSHARE,
        }
    }
}

/// The verdict on opens: whether marked ones are seen. Those of a run inside another are tried again without the mark, for
/// the supervisor of the run outside, whose own filter may let them through.
fn opens(posture: &Posture, [exact, marked, unmarked]: [&'static Verdict; 3]) -> &'static Verdict {
    match (posture.unjudged, posture.trace) {
        (Unjudged::Outside, _) => unmarked,
        (_, Trace::Exact) => exact,
        (_, Trace::Marked) => marked,
    }
}

/// The verdict if only a supervisor could judge.
fn unjudged(posture: &Posture, refused: &'static Verdict) -> &'static Verdict {
    match posture.unjudged {
        Unjudged::Refused | Unjudged::Supervised | Unjudged::Outside => refused,
        Unjudged::Allowed => &ALLOWED,
    }
}

/// The verdict if Landlock doesn't know truncation.
fn untruncated(posture: &Posture, refused: &'static Verdict) -> &'static Verdict {
    match posture.truncation {
        Truncation::Landlock => &ALLOWED,
        Truncation::Filter => refused,
    }
}

pub(super) const EPERM: Action = errno(libc::EPERM);

pub(super) static ALLOWED: Verdict = Verdict::always(Action::Allow);
pub(super) static REFUSED: Verdict = Verdict::always(EPERM);
/// The supervisor answers.
pub(super) static SEEN: Verdict = Verdict::always(Action::Notify);
static NOT_SUPPORTED: Verdict = Verdict::always(errno(libc::EOPNOTSUPP));
static UNKNOWN: Verdict = Verdict::always(super::UNKNOWN);

/// `CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET`.
/// `CLONE_NEWTIME` is 0x80, which `clone` takes for a part of the exit signal.
const CLONE_NAMESPACES: u32 = 0x7e02_0000;

/// The low byte of the flags is the signal that the parent gets when the child exits. SIGCONT would let a stopped
/// parent go on, and the run is stopped while a question is open at its terminal.
const CONTINUES_PARENT: Case = Case {
    when: &[Condition::low(
        0,
        Test::Masked {
            mask: 0xff,
            value: libc::SIGCONT as u32,
        },
    )],
    then: EPERM,
};

static CLONE: Verdict = Verdict {
    cases: &[
        CONTINUES_PARENT,
        Case {
            when: &[Condition::low(0, Test::NoBit(CLONE_NAMESPACES)), Condition::short(0)],
            then: Action::Allow,
        },
    ],
    otherwise: EPERM,
};

/// A thread may always be created.
const THREAD: Case = Case {
    when: &[
        Condition::low(0, Test::NoBit(CLONE_NAMESPACES)),
        Condition::short(0),
        Condition::low(0, Test::AnyBit(libc::CLONE_THREAD as u32)),
    ],
    then: Action::Allow,
};

/// Allows threads alone.
static THREADS: Verdict = Verdict {
    cases: &[THREAD],
    otherwise: EPERM,
};

/// `fallocate` with none of `PUNCH_HOLE`, `COLLAPSE_RANGE`, `ZERO_RANGE` and `WRITE_ZEROES`: it removes nothing.
const KEEPING: Condition = Condition::low(1, Test::NoBit(0x2 | 0x8 | 0x10 | 0x80));

static ALLOCATE: Verdict = Verdict {
    cases: &[Case {
        when: &[KEEPING],
        then: Action::Allow,
    }],
    otherwise: EPERM,
};

static SEEN_ALLOCATE: Verdict = Verdict {
    cases: &[Case {
        when: &[KEEPING],
        then: Action::Allow,
    }],
    otherwise: Action::Notify,
};

/// `fallocate` of less than 16 KiB: hardly quicker than writing them.
const FEW_PAGES: [Condition; 2] = [Condition::low(3, Test::NoBit(!0x3fff)), Condition::short(3)];

/// `fallocate` of few pages, with an optional condition that it removes nothing.
macro_rules! small_allocate {
    ($name:ident, $keeping:ident, $otherwise:expr) => {
        static $name: Verdict = Verdict {
            cases: &[Case {
                when: &FEW_PAGES,
                then: Action::Allow,
            }],
            otherwise: $otherwise,
        };

        static $keeping: Verdict = Verdict {
            cases: &[Case {
                when: &[KEEPING, FEW_PAGES[0], FEW_PAGES[1]],
                then: Action::Allow,
            }],
            otherwise: $otherwise,
        };
    };
}

small_allocate!(SMALL_ALLOCATE, SMALL_KEEPING_ALLOCATE, errno(libc::EOPNOTSUPP));
small_allocate!(SEEN_LARGE_ALLOCATE, SEEN_LARGE_OR_CUTTING_ALLOCATE, Action::Notify);

/// `CLONE_FS | CLONE_FILES | CLONE_SYSVSEM`: a process may unshare these without a new namespace.
const UNSHARED: u32 = 0x0004_0600;

const UNSHARING: Case = Case {
    when: &[Condition::low(0, Test::NoBit(!UNSHARED)), Condition::short(0)],
    then: Action::Allow,
};

static UNSHARE: Verdict = Verdict {
    cases: &[UNSHARING],
    otherwise: EPERM,
};

/// The supervisor refuses the rest, and records it.
static UNSHARE_OR_SEEN: Verdict = Verdict {
    cases: &[UNSHARING],
    otherwise: Action::Notify,
};

/// The `pid` of calls that may act on the calling thread alone, which is 0. Threads can't name each other by id here:
/// the filter can't know which ids belong to the run.
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
/// creates nothing else.
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

/// `O_TRUNC` without write access: the kernel truncates all the same, and Landlock before ABI 3 only requires the right to read.
const TRUNCATING_READ: Test = Test::Masked {
    mask: (libc::O_TRUNC | libc::O_ACCMODE) as u32,
    value: libc::O_TRUNC as u32,
};

/// Access mode 3: neither reading nor writing. Landlock requires no right for it, and the kernel truncates all the same.
const NEITHER: Test = Test::Masked {
    mask: libc::O_ACCMODE as u32,
    value: libc::O_ACCMODE as u32,
};

static OPEN: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(1, TRUNCATING_READ)],
            then: EPERM,
        },
        Case {
            when: &[Condition::low(1, NEITHER)],
            then: EPERM,
        },
    ],
    otherwise: Action::Allow,
};

static OPENAT: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(2, TRUNCATING_READ)],
            then: EPERM,
        },
        Case {
            when: &[Condition::low(2, NEITHER)],
            then: EPERM,
        },
    ],
    otherwise: Action::Allow,
};

/// `PER_LINUX32`, `UNAME26` and `ADDR_NO_RANDOMIZE` (debuggers and `setarch`), alone or together, change only what the
/// run sees of itself. Never `READ_IMPLIES_EXEC` or `MMAP_PAGE_ZERO`.
const HARMLESS_PERSONALITY: u32 = 0x8 | 0x2_0000 | 0x4_0000;

static PERSONALITY: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(0, Test::NoBit(!HARMLESS_PERSONALITY))],
            then: Action::Allow,
        },
        // Queries the current one.
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

/// The holder of a listener answers for its children, and may answer `CONTINUE`.
const SECCOMP_FILTER_FLAG_NEW_LISTENER: u32 = 8;

/// Further filters only narrow; no program needs strict mode.
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

/// Every case of a verdict that the supervisor needn't see, then the supervisor's action.
macro_rules! seen_unless {
    ($name:ident, $doc:literal, $($when:expr),+) => {
        #[doc = $doc]
        static $name: Verdict = Verdict {
            cases: &[$(Case { when: $when, then: Action::Allow }),+],
            otherwise: Action::Notify,
        };
    };
}

/// A descriptor that only names a file: reading the content takes another open.
const NAMES_ONLY: Test = Test::AnyBit(libc::O_PATH as u32);

/// Neither writes nor creates.
const READS_ONLY: Test = Test::NoBit((libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u32);

seen_unless!(SEEN_OPEN, "`open`.", &[Condition::low(1, NAMES_ONLY)]);
seen_unless!(SEEN_OPENAT, "`openat`.", &[Condition::low(2, NAMES_ONLY)]);
/// The kernel ignores `mode` where no file is made.
const MARK: Test = Test::Equals(stockade_preload::MARK);

seen_unless!(
    MARKED_OPEN,
    "`open`, where Landlock alone judges marked reading.",
    &[Condition::low(1, NAMES_ONLY)],
    &[Condition::low(1, READS_ONLY), Condition::low(2, MARK)]
);
seen_unless!(
    MARKED_OPENAT,
    "`openat`, where Landlock alone judges marked reading.",
    &[Condition::low(2, NAMES_ONLY)],
    &[Condition::low(2, READS_ONLY), Condition::low(3, MARK)]
);

/// An open that answers a mark as Landlock would where it grants nothing.
macro_rules! unmarked {
    ($name:ident, $flags:literal) => {
        static $name: Verdict = Verdict {
            cases: &[
                Case {
                    when: &[Condition::low($flags, NAMES_ONLY)],
                    then: Action::Allow,
                },
                Case {
                    when: &[
                        Condition::low($flags, READS_ONLY),
                        Condition::low($flags + 1, MARK),
                    ],
                    then: errno(libc::EACCES),
                },
            ],
            otherwise: Action::Notify,
        };
    };
}

unmarked!(UNMARKED_OPEN, 1);
unmarked!(UNMARKED_OPENAT, 2);
seen_unless!(
    ASK,
    "`access`: whether a file exists (`F_OK`) is no secret.",
    &[Condition::low(1, Test::Equals(0))]
);
seen_unless!(
    ASK_AT,
    "`faccessat`, `faccessat2`.",
    &[Condition::low(2, Test::Equals(0))]
);
seen_unless!(SEEN_UNLESS_SELF, "Acting on the calling thread alone.", &[SELF]);
seen_unless!(
    SEEN_PRIORITY,
    "`setpriority`.",
    &[Condition::low(0, Test::Equals(0)), Condition::low(1, Test::Equals(0))]
);
seen_unless!(
    SEEN_IO_PRIORITY,
    "`ioprio_set`.",
    &[Condition::low(0, Test::Equals(1)), Condition::low(1, Test::Equals(0))]
);
seen_unless!(
    SEEN_MEMFD,
    "`memfd_create`.",
    &[Condition::low(1, Test::AnyBit(MFD_NOEXEC_SEAL))]
);

/// The bound on the user's processes, which is a soft limit if a supervisor keeps the run from raising it.
const OF_PROCESSES: Test = Test::Equals(libc::RLIMIT_NPROC);

/// `prlimit64`.
static SEEN_LIMITS: Verdict = Verdict {
    cases: &[
        Case {
            when: &[Condition::low(1, OF_PROCESSES)],
            then: Action::Notify,
        },
        Case {
            when: &[SELF],
            then: Action::Allow,
        },
    ],
    otherwise: Action::Notify,
};

/// `setrlimit`.
static SEEN_LIMIT: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, OF_PROCESSES)],
        then: Action::Notify,
    }],
    otherwise: Action::Allow,
};

static SEEN_MKNOD: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(1, DEVICE)],
        then: EPERM,
    }],
    otherwise: Action::Notify,
};

static SEEN_MKNODAT: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(2, DEVICE)],
        then: EPERM,
    }],
    otherwise: Action::Notify,
};

/// Writes to standard error are kept for the report. Not those to standard output: a signal may interrupt a call that
/// is handed over, which never happens to a write to a file or a pipe with room, and not every program retries.
static HEARD: Verdict = Verdict {
    cases: &[Case {
        when: &[Condition::low(0, Test::Equals(2))],
        then: Action::Notify,
    }],
    otherwise: Action::Allow,
};

/// Processes and threads are counted.
static COUNTED_CLONE: Verdict = Verdict {
    cases: &[
        CONTINUES_PARENT,
        Case {
            when: &[Condition::low(0, Test::NoBit(CLONE_NAMESPACES)), Condition::short(0)],
            then: Action::Notify,
        },
    ],
    otherwise: EPERM,
};

/// Threads are free, processes are refused with a reason.
static SEEN_CLONE: Verdict = Verdict {
    cases: &[
        CONTINUES_PARENT,
        THREAD,
        Case {
            when: &[Condition::low(0, Test::NoBit(CLONE_NAMESPACES)), Condition::short(0)],
            then: Action::Notify,
        },
    ],
    otherwise: EPERM,
};

//! One test for each promise, named after it.

use super::*;

/// libc's constants have many integer types.
macro_rules! each {
    ($($constant:expr),* $(,)?) => {
        [$($constant as u32 as u64),*]
    };
}

#[test]
fn tiocsti_is_refused_whatever_the_upper_half_says() {
    for posture in [strict(), open()] {
        for request in each![
            libc::TIOCSTI,
            libc::TIOCLINUX,
            libc::TIOCCONS,
            libc::TIOCSETD,
            libc::TIOCEXCL
        ] {
            assert_int_answer(&posture, "ioctl", &[0, request], errno(libc::ENOTTY));
        }
    }
}

#[test]
fn file_flags_and_subvolumes_can_not_be_changed_by_ioctl() {
    const FSSETXATTR: u64 = 0x401c_5820;
    const BTRFS_SUBVOL_CREATE: u64 = 0x5000_940e;
    const BTRFS_SNAP_DESTROY: u64 = 0x5000_940f;
    const FIBMAP: u64 = 1;
    let requests = each![libc::FS_IOC_SETFLAGS, libc::FS_IOC_SETVERSION];
    for request in requests
        .into_iter()
        .chain([FSSETXATTR, BTRFS_SUBVOL_CREATE, BTRFS_SNAP_DESTROY, FIBMAP])
    {
        assert_int_answer(&open(), "ioctl", &[3, request], errno(libc::ENOTTY));
    }
}

#[test]
fn shells_and_terminals_work() {
    let requests = each![
        libc::TCGETS,
        libc::TCSETS,
        libc::TCSETSW,
        libc::TCSETSF,
        libc::TCGETS2,
        libc::TCSETS2,
        libc::TCSETSW2,
        libc::TCSETSF2,
        libc::TCSBRK,
        libc::TCXONC,
        libc::TCFLSH,
        libc::TIOCGWINSZ,
        libc::TIOCSWINSZ,
        libc::TIOCGPGRP,
        libc::TIOCSPGRP,
        libc::TIOCGSID,
        libc::TIOCSCTTY,
        libc::TIOCNOTTY,
        libc::TIOCOUTQ,
        libc::FIONREAD,
        libc::FIONBIO,
        libc::FIOASYNC,
        libc::FIOCLEX,
        libc::FIONCLEX,
        libc::FIOQSIZE,
        libc::TIOCGPTN,
        libc::TIOCSPTLCK,
        libc::TIOCGPTPEER,
        libc::TIOCGPTLCK,
        libc::TIOCGPKT,
        libc::TIOCGEXCL,
        libc::TIOCPKT,
        libc::FICLONE,
        libc::FICLONERANGE,
        libc::FS_IOC_GETFLAGS,
        libc::FS_IOC_GETVERSION,
        libc::BLKSSZGET,
    ];
    for request in requests {
        assert_allowed(&strict(), "ioctl", &[0, request]);
    }
}

#[test]
fn interfaces_are_listed_only_by_runs_with_a_network() {
    for request in each![
        libc::SIOCGIFCONF,
        libc::SIOCGIFADDR,
        libc::SIOCGIFINDEX,
        libc::SIOCGIFHWADDR
    ] {
        assert_allowed(&open(), "ioctl", &[3, request]);
        assert_int_answer(&strict(), "ioctl", &[3, request], errno(libc::ENOTTY));
    }
    assert_int_answer(&open(), "ioctl", &[3, each![libc::SIOCSIFADDR][0]], errno(libc::ENOTTY));
}

#[test]
fn fcntl_can_do_all_but_watch_directories() {
    for command in each![
        libc::F_DUPFD,
        libc::F_SETFL,
        libc::F_SETLKW,
        libc::F_OFD_SETLK,
        libc::F_SETLEASE
    ] {
        assert_allowed(&strict(), "fcntl", &[3, command]);
    }
    for command in each![
        libc::F_DUPFD_CLOEXEC,
        libc::F_SETPIPE_SZ,
        libc::F_ADD_SEALS,
        libc::F_GET_SEALS
    ] {
        assert_allowed(&strict(), "fcntl", &[3, command]);
    }
    for command in each![libc::F_NOTIFY, 17, 39, 1023, 1039, u32::MAX] {
        assert_int_answer(&open(), "fcntl", &[3, command], errno(libc::EINVAL));
    }
}

#[test]
fn pr_set_dumpable_answers_success_and_does_nothing() {
    for value in [0, 1, 2] {
        assert_int_answer(
            &open(),
            "prctl",
            &[each![libc::PR_SET_DUMPABLE][0], value],
            Action::Errno(0),
        );
    }
}

#[test]
fn prctl_options_that_are_not_listed_are_invalid() {
    let refused = each![
        libc::PR_SET_MM,
        libc::PR_SET_SECCOMP,
        libc::PR_SCHED_CORE,
        59,
        67,
        0,
        200,
        u32::MAX
    ];
    for option in refused {
        assert_int_answer(&open(), "prctl", &[option], errno(libc::EINVAL));
    }
    let allowed = each![
        libc::PR_SET_PDEATHSIG,
        libc::PR_SET_NAME,
        libc::PR_CAPBSET_READ,
        libc::PR_CAPBSET_DROP,
        libc::PR_SET_NO_NEW_PRIVS,
        libc::PR_SET_CHILD_SUBREAPER,
        libc::PR_SET_PTRACER,
        libc::PR_CAP_AMBIENT,
        libc::PR_SET_THP_DISABLE,
        libc::PR_SET_TIMERSLACK,
        libc::PR_SET_MDWE,
        libc::PR_SET_VMA,
    ];
    for option in allowed {
        assert_allowed(&strict(), "prctl", &[option]);
    }
}

#[test]
fn thread_registers_can_be_set_and_the_vdso_can_not_be_moved() {
    for option in [0x1001, 0x1002, 0x1003, 0x1004, 0x1023, 0x3001, 0x5001, 0x5005] {
        assert_allowed(&strict(), "arch_prctl", &[option]);
    }
    for option in [0, 0x1000, 0x1005, 0x2001, 0x2003, 0x5006, 0xffff_ffff] {
        assert_int_answer(&open(), "arch_prctl", &[option], errno(libc::EINVAL));
    }
}

#[test]
fn new_namespaces_are_refused() {
    const NEWTIME: u64 = 0x80;
    let namespaces = each![
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    for flag in namespaces {
        assert_refused(&open(), "clone", &[flag | libc::SIGCHLD as u64]);
        assert_refused(&open(), "unshare", &[flag]);
        assert_refused(&open(), "unshare", &[flag | libc::CLONE_FS as u64]);
    }
    assert_refused(&open(), "unshare", &[NEWTIME]);
    assert_refused(&open(), "setns", &[3, 0]);
    assert_int_answer(&open(), "clone3", &[0, 88], errno(libc::ENOSYS));
}

#[test]
fn processes_and_threads_are_made_with_flags_that_fit_in_32_bits() {
    let thread = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    let flags = each![
        libc::SIGCHLD,
        thread,
        thread | libc::CLONE_SETTLS | libc::CLONE_CHILD_CLEARTID
    ];
    for flag in flags {
        assert_answer(&strict(), "clone", &[flag], Action::Allow);
        assert_answer(&strict(), "clone", &[1 << 32 | flag], errno(libc::EPERM));
    }
    for flag in each![
        0,
        libc::CLONE_FS,
        libc::CLONE_FILES,
        libc::CLONE_SYSVSEM | libc::CLONE_FILES
    ] {
        assert_answer(&strict(), "unshare", &[flag], Action::Allow);
        assert_answer(&strict(), "unshare", &[1 << 33 | flag], errno(libc::EPERM));
    }
}

#[test]
fn a_run_without_network_makes_only_unix_streams() {
    let [unix, inet, inet6, netlink, packet, vsock] = each![
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
        libc::AF_PACKET,
        libc::AF_VSOCK
    ];
    let [stream, datagram, raw, seqpacket] = each![
        libc::SOCK_STREAM,
        libc::SOCK_DGRAM,
        libc::SOCK_RAW,
        libc::SOCK_SEQPACKET
    ];
    let [flags] = each![libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK];
    let posture = Posture {
        sockets: Sockets::None,
        ..open()
    };
    for call in ["socket", "socketpair"] {
        for kind in [stream, seqpacket] {
            assert_allowed(&posture, call, &[unix, kind | flags, 0]);
        }
        // The kernel makes a datagram socket of a raw Unix one.
        for kind in [datagram, raw, 4, 6, 9, 13] {
            assert_refused(&posture, call, &[unix, kind, 0]);
        }
        for family in [inet, inet6, netlink, packet, vsock, 38] {
            for kind in [stream, datagram | flags, raw] {
                assert_refused(&posture, call, &[family, kind, 0]);
            }
        }
    }
}

#[test]
fn a_run_with_a_network_makes_no_other_sockets_than_it_needs() {
    let [unix, inet, inet6, netlink, packet] = each![
        libc::AF_UNIX,
        libc::AF_INET,
        libc::AF_INET6,
        libc::AF_NETLINK,
        libc::AF_PACKET
    ];
    let [stream, datagram, raw] = each![libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW];
    let [cloexec] = each![libc::SOCK_CLOEXEC];
    for family in [inet, inet6] {
        for (kind, protocol) in [(stream, 0), (stream, 6), (datagram, 0), (datagram, 17)] {
            assert_allowed(&open(), "socket", &[family, kind | cloexec, protocol]);
        }
        // ICMP, MPTCP, SCTP, UDP-Lite.
        for (kind, protocol) in [
            (datagram, 1),
            (datagram, 58),
            (stream, 262),
            (stream, 132),
            (datagram, 136),
        ] {
            assert_refused(&open(), "socket", &[family, kind, protocol]);
        }
        assert_refused(&open(), "socket", &[family, raw, 6]);
        assert_refused(&open(), "socketpair", &[family, stream, 0]);
    }
    for kind in [datagram, raw] {
        assert_allowed(&open(), "socket", &[netlink, kind | cloexec, 0]);
        assert_refused(&open(), "socket", &[netlink, kind, 9]);
        assert_refused(&open(), "socket", &[packet, kind, 0]);
        assert_allowed(&open(), "socketpair", &[unix, kind, 0]);
        assert_allowed(&open(), "socket", &[unix, kind, 0]);
    }
}

#[test]
fn addresses_are_refused_where_nobody_can_judge_them() {
    for call in ["connect", "bind", "listen", "accept", "accept4"] {
        assert_allowed(&open(), call, &[3]);
        assert_refused(
            &Posture {
                sockets: Sockets::None,
                ..open()
            },
            call,
            &[3],
        );
        assert_refused(
            &Posture {
                unjudged: Unjudged::Refused,
                ..open()
            },
            call,
            &[3],
        );
    }
}

#[test]
fn nothing_connects_while_it_sends() {
    let [fast_open, no_signal] = each![libc::MSG_FASTOPEN, libc::MSG_NOSIGNAL];
    for posture in [strict(), open()] {
        for (call, place) in [("sendto", 3), ("sendmmsg", 3), ("sendmsg", 2)] {
            let mut arguments = [0; 4];
            arguments[place] = fast_open | no_signal;
            assert_int_answer(&posture, call, &arguments, errno(libc::EOPNOTSUPP));
            arguments[place] = no_signal;
            assert_allowed(&posture, call, &arguments);
        }
    }
}

#[test]
fn socket_options_without_need_are_unknown_ones() {
    let [socket, tcp, ip, ipv6] = each![
        libc::SOL_SOCKET,
        libc::IPPROTO_TCP,
        libc::IPPROTO_IP,
        libc::IPPROTO_IPV6
    ];
    let refused = [
        (socket, each![libc::SO_ATTACH_FILTER][0]),
        (socket, each![libc::SO_ATTACH_BPF][0]),
        (socket, each![libc::SO_BINDTODEVICE][0]),
        (socket, each![libc::SO_MARK][0]),
        (tcp, each![libc::TCP_ULP][0]),
        (tcp, each![libc::TCP_REPAIR][0]),
        (tcp, each![libc::TCP_FASTOPEN_CONNECT][0]),
        (tcp, each![libc::TCP_FASTOPEN][0]),
        (ip, each![libc::IP_TRANSPARENT][0]),
        (ip, 4),
        (ipv6, each![libc::IPV6_ADDRFORM][0]),
        (270, 1),
        (u64::from(u32::MAX), 1),
    ];
    for (level, option) in refused {
        assert_int_answer(&open(), "setsockopt", &[3, level, option], errno(libc::ENOPROTOOPT));
    }
    let allowed = [
        (socket, each![libc::SO_REUSEADDR][0]),
        (socket, each![libc::SO_RCVTIMEO][0]),
        (tcp, each![libc::TCP_NODELAY][0]),
        (tcp, each![libc::TCP_USER_TIMEOUT][0]),
        (ip, each![libc::IP_BIND_ADDRESS_NO_PORT][0]),
        (ip, each![libc::IP_RECVERR][0]),
        (ipv6, each![libc::IPV6_V6ONLY][0]),
    ];
    for (level, option) in allowed {
        assert_allowed(&open(), "setsockopt", &[3, level, option]);
    }
    assert_allowed(&strict(), "setsockopt", &[3, socket, each![libc::SO_SNDBUF][0]]);
    assert_int_answer(&strict(), "setsockopt", &[3, tcp, 1], errno(libc::ENOPROTOOPT));
}

#[test]
fn metadata_is_refused_where_nobody_can_judge_it() {
    let calls = "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat \
                 setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat \
                 file_setattr inotify_add_watch";
    for call in calls.split_whitespace() {
        assert_refused(&strict(), call, &[]);
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn extended_attributes_look_unsupported_where_nobody_can_judge_them() {
    let calls = "getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr getxattrat listxattrat";
    for call in calls.split_whitespace() {
        assert_int_answer(&strict(), call, &[], errno(libc::EOPNOTSUPP));
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn a_strict_run_schedules_nobody_but_the_calling_thread() {
    for call in [
        "sched_setaffinity",
        "sched_setscheduler",
        "sched_setparam",
        "sched_setattr",
    ] {
        assert_allowed(&strict(), call, &[0]);
        assert_refused(&strict(), call, &[1]);
        assert_allowed(&open(), call, &[1]);
    }
    let [process, group, user] = each![libc::PRIO_PROCESS, libc::PRIO_PGRP, libc::PRIO_USER];
    assert_allowed(&strict(), "setpriority", &[process, 0]);
    assert_allowed(&strict(), "ioprio_set", &[1, 0]);
    for (which, who) in [(process, 1), (group, 0), (user, 0), (user, 1000)] {
        assert_refused(&strict(), "setpriority", &[which, who]);
        assert_refused(&strict(), "ioprio_set", &[which + 1, who]);
        assert_allowed(&open(), "setpriority", &[which, who]);
    }
}

#[test]
fn limits_of_other_processes_are_out_of_reach() {
    for posture in [strict(), open()] {
        assert_allowed(&posture, "prlimit64", &[0]);
        assert_refused(&posture, "prlimit64", &[1]);
    }
}

#[test]
fn memory_files_are_sealed_where_executing_is_limited() {
    let [cloexec, sealed] = each![libc::MFD_CLOEXEC, libc::MFD_NOEXEC_SEAL];
    for flags in [0, cloexec, 0x10] {
        assert_refused(&strict(), "memfd_create", &[0, flags]);
        assert_allowed(&open(), "memfd_create", &[0, flags]);
        assert_allowed(&strict(), "memfd_create", &[0, flags | sealed]);
    }
}

#[test]
fn the_filter_guards_truncation_where_landlock_does_not() {
    let guarded = Posture {
        truncation: Truncation::Filter,
        ..open()
    };
    let [truncate, write, both, create] = each![libc::O_TRUNC, libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT];
    for (call, place) in [("open", 1), ("openat", 2)] {
        for (flags, refused) in [
            (truncate, true),
            (truncate | create, true),
            (truncate | write, false),
            (truncate | both | create, false),
            (create, false),
            (0, false),
        ] {
            let mut arguments = [0; 3];
            arguments[place] = flags;
            let action = if refused { errno(libc::EPERM) } else { Action::Allow };
            assert_int_answer(&guarded, call, &arguments, action);
            assert_allowed(&open(), call, &arguments);
        }
    }
    assert_refused(&guarded, "truncate", &[]);
    assert_int_answer(&guarded, "openat2", &[], errno(libc::ENOSYS));
    for call in ["truncate", "openat2", "ftruncate", "creat"] {
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn devices_can_not_be_made() {
    for (call, place) in [("mknod", 1), ("mknodat", 2)] {
        let mut arguments = [0; 4];
        for mode in [0, libc::S_IFREG, libc::S_IFIFO, libc::S_IFSOCK] {
            arguments[place] = u64::from(mode | 0o644);
            assert_allowed(&strict(), call, &arguments);
        }
        for mode in [libc::S_IFCHR, libc::S_IFBLK] {
            arguments[place] = u64::from(mode | 0o644);
            assert_refused(&open(), call, &arguments);
        }
    }
}

#[test]
fn only_harmless_personalities_are_taken() {
    for persona in [0, 0x8, 0x2_0000, 0x2_0008, 0x4_0000, 0x4_0008, 0xffff_ffff] {
        assert_allowed(&strict(), "personality", &[persona]);
    }
    // READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, other systems'.
    for persona in [0x40_0000, 0x10_0000, 0x20_0000, 0x1, 0x44_0000, 0xffff_fffe] {
        assert_refused(&open(), "personality", &[persona]);
    }
}

#[test]
fn a_run_can_narrow_itself_but_not_listen() {
    for flags in [0, 1, 2, 4, 1 << 4] {
        assert_allowed(&strict(), "seccomp", &[1, flags]);
        assert_refused(&open(), "seccomp", &[1, flags | 8]);
    }
    for operation in [2, 3] {
        assert_allowed(&strict(), "seccomp", &[operation, 0]);
    }
    for operation in [0, 4, 0xffff_ffff] {
        assert_refused(&open(), "seccomp", &[operation, 0]);
    }
    for call in ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"] {
        assert_allowed(&strict(), call, &[]);
    }
}

#[test]
fn side_doors_are_refused_in_every_posture() {
    let calls = "io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_getevents io_pgetevents io_cancel \
                 io_destroy ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp bpf \
                 perf_event_open userfaultfd keyctl add_key request_key mount umount2 pivot_root chroot move_mount \
                 open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr statmount listmount setns \
                 open_by_handle_at name_to_handle_at init_module finit_module delete_module kexec_load \
                 kexec_file_load reboot swapon swapoff settimeofday clock_settime clock_adjtime adjtimex acct quotactl \
                 quotactl_fd syslog vhangup iopl ioperm modify_ldt lookup_dcookie nfsservctl uselib fanotify_init \
                 fanotify_mark shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop semctl semtimedop \
                 mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr memfd_secret \
                 lsm_set_self_attr setdomainname sethostname migrate_pages move_pages";
    for call in calls.split_whitespace() {
        assert_refused(&strict(), call, &[]);
        assert_refused(&open(), call, &[]);
    }
}

#[test]
fn everyday_calls_are_allowed_in_every_posture() {
    let calls = "read write open openat openat2 close stat newfstatat statx mmap mprotect brk execve execveat fork vfork \
                 exit_group wait4 waitid kill tgkill rt_sigaction futex futex_waitv futex_wait rseq set_robust_list \
                 getrandom getdents64 readlinkat access faccessat2 mkdirat unlinkat renameat2 linkat symlinkat \
                 ftruncate fallocate copy_file_range sendfile splice tee vmsplice pipe2 dup3 close_range epoll_pwait2 \
                 eventfd2 signalfd4 timerfd_create timer_create clock_nanosleep pidfd_open pidfd_send_signal \
                 inotify_init1 membarrier mseal map_shadow_stack cachestat setsid setpgid setuid setgroups capset \
                 getsockopt getsockname recvmsg shutdown flock fsync umask getrusage sysinfo uname sched_getaffinity \
                 getcpu mlock2 pkey_alloc set_mempolicy mbind set_mempolicy_home_node restart_syscall uretprobe uprobe";
    for call in calls.split_whitespace() {
        assert_allowed(&strict(), call, &[]);
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn numbers_nobody_knows_are_not_implemented() {
    for architecture in ARCHITECTURES {
        let program = assemble(&table(&open(), architecture).unwrap(), architecture, UNKNOWN).unwrap();
        for number in (470..=600).chain([423, 1 << 16, 1 << 29, u32::MAX]) {
            let code = evaluate(&program, architecture.audit(), number, [0; 6]);
            assert_eq!(code, Some(errno(libc::ENOSYS).code()), "{architecture:?} {number}");
        }
    }
}

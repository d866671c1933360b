//! Promises about all other calls, one test for each promise, named after it.

use super::*;

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

/// It would let a stopped run go on.
#[test]
fn nothing_has_the_kernel_send_sigcont_later() {
    const F_SETSIG: u64 = 10;
    let [pdeathsig, cont, kill, chld, thread] = each![
        libc::PR_SET_PDEATHSIG,
        libc::SIGCONT,
        libc::SIGKILL,
        libc::SIGCHLD,
        libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD,
    ];
    let supervised = Posture {
        unjudged: Unjudged::Supervised,
        ..strict()
    };
    let counted = Posture {
        spawning: Spawning::Counted,
        ..supervised.clone()
    };
    for posture in [strict(), open(), supervised, counted] {
        for flags in [cont, cont | thread, cont | each![libc::CLONE_VFORK | libc::CLONE_VM][0]] {
            assert_answer(&posture, "clone", &[flags], errno(libc::EPERM));
        }
        assert_int_answer(&posture, "prctl", &[pdeathsig, cont], errno(libc::EINVAL));
        assert_int_answer(&posture, "fcntl", &[0, F_SETSIG, cont], errno(libc::EINVAL));
        assert_int_answer(&posture, "fcntl", &[0, F_SETSIG, kill], errno(libc::EINVAL));
        assert_allowed(&posture, "prctl", &[pdeathsig, kill]);
        let another = match posture.unjudged {
            Unjudged::Supervised => Action::Notify,
            _ => Action::Allow,
        };
        assert_int_answer(&posture, "fcntl", &[0, F_SETSIG, chld], another);
    }
}

#[test]
fn metadata_is_refused_where_it_can_not_be_judged() {
    let calls = "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat \
                 setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat removexattrat \
                 file_setattr inotify_add_watch";
    for call in calls.split_whitespace() {
        assert_refused(&strict(), call, &[]);
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn a_strict_run_schedules_the_calling_thread_alone() {
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

/// The bound on the user's processes is a soft limit in a run with a supervisor.
#[test]
fn the_supervisor_sees_that_the_bound_of_processes_is_set() {
    let [processes, files] = each![libc::RLIMIT_NPROC, libc::RLIMIT_NOFILE];
    let posture = Posture {
        unjudged: Unjudged::Supervised,
        ..strict()
    };
    for own in [0, 1] {
        assert_int_answer(&posture, "prlimit64", &[own, processes, 8], Action::Notify);
    }
    assert_allowed(&posture, "prlimit64", &[0, files, 8]);
    assert_int_answer(&posture, "setrlimit", &[processes, 8], Action::Notify);
    assert_allowed(&posture, "setrlimit", &[files, 8]);
}

#[test]
fn memory_files_are_sealed_where_executing_is_limited() {
    let [cloexec, sealed] = each![libc::MFD_CLOEXEC, libc::MFD_NOEXEC_SEAL];
    for flags in [0, cloexec, 0x10] {
        assert_refused(&strict(), "memfd_create", &[0, flags]);
        assert_allowed(&open(), "memfd_create", &[0, flags]);
        assert_allowed(&strict(), "memfd_create", &[0, flags | sealed]);
        let lists_are_open = Posture {
            unjudged: Unjudged::Allowed,
            ..strict()
        };
        assert_refused(&lists_are_open, "memfd_create", &[0, flags | sealed]);
    }
}

#[test]
fn the_filter_guards_truncation_where_landlock_does_not() {
    let guarded = Posture {
        truncation: Truncation::Filter,
        ..open()
    };
    let [truncate, write, both, create] = each![libc::O_TRUNC, libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT];
    // Neither reading nor writing, and the kernel truncates all the same.
    let neither = write | both;
    for (call, place) in [("open", 1), ("openat", 2)] {
        for (flags, refused) in [
            (neither, true),
            (neither | truncate, true),
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
    // READ_IMPLIES_EXEC, MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, other systems' personalities.
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
    let calls = "io_uring_setup io_uring_enter io_uring_register io_setup io_submit io_getevents io_pgetevents \
                 io_cancel io_destroy ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp bpf \
                 perf_event_open userfaultfd keyctl add_key request_key mount umount2 pivot_root chroot move_mount \
                 open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr statmount listmount setns \
                 open_by_handle_at name_to_handle_at init_module finit_module delete_module kexec_load \
                 kexec_file_load reboot swapon swapoff settimeofday clock_settime clock_adjtime adjtimex acct \
                 quotactl quotactl_fd syslog vhangup iopl ioperm modify_ldt lookup_dcookie nfsservctl uselib \
                 fanotify_init fanotify_mark shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop \
                 semctl semtimedop mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr \
                 memfd_secret lsm_set_self_attr setdomainname sethostname migrate_pages move_pages";
    for call in calls.split_whitespace() {
        assert_refused(&strict(), call, &[]);
        assert_refused(&open(), call, &[]);
    }
}

#[test]
fn everyday_calls_are_allowed_in_every_posture() {
    let calls = "read write open openat openat2 close stat newfstatat statx mmap mprotect brk execve execveat fork \
                 vfork exit_group wait4 waitid kill tgkill rt_sigaction futex futex_waitv futex_wait rseq \
                 set_robust_list getrandom getdents64 readlinkat access faccessat2 mkdirat unlinkat renameat2 linkat \
                 symlinkat ftruncate fallocate copy_file_range sendfile splice tee pipe2 dup3 close_range \
                 epoll_pwait2 eventfd2 signalfd4 timerfd_create timer_create clock_nanosleep pidfd_open \
                 pidfd_send_signal inotify_init1 membarrier mseal map_shadow_stack cachestat setsid setuid \
                 setgroups capset getsockopt getsockname recvmsg shutdown flock fsync umask getrusage sysinfo uname \
                 sched_getaffinity getcpu mlock2 pkey_alloc set_mempolicy mbind set_mempolicy_home_node \
                 restart_syscall uretprobe uprobe";
    for call in calls.split_whitespace() {
        assert_allowed(&strict(), call, &[]);
        assert_allowed(&open(), call, &[]);
    }
}

#[test]
fn links_and_attributes_tell_as_much_as_stat() {
    let calls =
        "readlink readlinkat getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr getxattrat listxattrat";
    for unjudged in [
        Unjudged::Supervised,
        Unjudged::Outside,
        Unjudged::Refused,
        Unjudged::Allowed,
    ] {
        let posture = Posture { unjudged, ..strict() };
        for call in calls.split_whitespace() {
            assert_allowed(&posture, call, &[]);
        }
    }
}

#[test]
fn only_reading_with_the_mark_is_left_to_landlock() {
    let mark = u64::from(stockade_preload::MARK);
    let of = |trace, unjudged| Posture {
        trace,
        unjudged,
        ..strict()
    };
    let marked = of(Trace::Marked, Unjudged::Supervised);
    let read = libc::O_CLOEXEC as u64 | libc::O_DIRECTORY as u64;
    assert_answer(&marked, "openat", &[1, 2, read, mark], Action::Allow);
    assert_answer(&marked, "open", &[1, read, mark], Action::Allow);
    for flags in [libc::O_WRONLY, libc::O_RDWR, 3, libc::O_CREAT, libc::O_TRUNC] {
        assert_answer(&marked, "openat", &[1, 2, flags as u64, mark], Action::Notify);
        assert_answer(&marked, "open", &[1, flags as u64, mark], Action::Notify);
    }
    for mode in [0, 0o644, mark ^ 1] {
        assert_answer(&marked, "openat", &[1, 2, 0, mode], Action::Notify);
    }
    assert_answer(&marked, "openat2", &[1, 2, 3, mark], Action::Notify);
    assert_answer(
        &of(Trace::Exact, Unjudged::Supervised),
        "openat",
        &[1, 2, 0, mark],
        Action::Notify,
    );
    // Inside another run it is tried again without.
    for trace in [Trace::Exact, Trace::Marked] {
        let inside = of(trace, Unjudged::Outside);
        assert_answer(&inside, "openat", &[1, 2, 0, mark], errno(libc::EACCES));
        assert_answer(&inside, "openat", &[1, 2, 0, 0], Action::Notify);
        assert_answer(&inside, "openat", &[1, 2, libc::O_PATH as u64, mark], Action::Allow);
    }
}

#[test]
fn unknown_numbers_are_not_implemented() {
    for architecture in ARCHITECTURES {
        let program = assemble(&table(&open(), architecture).unwrap(), architecture, UNKNOWN).unwrap();
        for number in (470..=600).chain([423, 1 << 16, 1 << 29, u32::MAX]) {
            let code = evaluate(&program, architecture.audit(), number, [0; 6]);
            assert_eq!(code, Some(errno(libc::ENOSYS).code()), "{architecture:?} {number}");
        }
    }
}

#[test]
fn signals_are_the_supervisors_where_landlock_does_not_keep_them_in() {
    const F_SETOWN: u64 = libc::F_SETOWN as u64;
    const F_SETOWN_EX: u64 = 15;
    let older = Posture {
        unjudged: Unjudged::Supervised,
        signals: Signals::Supervisor,
        ..strict()
    };
    let newer = Posture {
        signals: Signals::Landlock,
        ..older.clone()
    };
    for call in [
        "tkill",
        "tgkill",
        "rt_sigqueueinfo",
        "rt_tgsigqueueinfo",
        "pidfd_send_signal",
    ] {
        assert_answer(&older, call, &[1, 9], Action::Notify);
        assert_allowed(&newer, call, &[1, 9]);
    }
    assert_answer(&older, "kill", &[1, 9], Action::Notify);
    assert_answer(&older, "fcntl", &[3, F_SETOWN, 7], Action::Notify);
    assert_allowed(&older, "fcntl", &[3, libc::F_GETFL as u64]);
    assert_allowed(&newer, "fcntl", &[3, F_SETOWN, 7]);
    // A file that has an owner keeps one.
    for none in [0, 1 << 32] {
        assert_answer(&newer, "fcntl", &[3, F_SETOWN, none], errno(libc::EPERM));
        assert_answer(&older, "fcntl", &[3, F_SETOWN, none], Action::Notify);
    }
    for posture in [&older, &newer] {
        assert_answer(posture, "fcntl", &[3, F_SETOWN_EX, 7], errno(libc::EPERM));
    }
}

#[test]
fn events_of_files_that_could_signal_an_owner_outside_are_the_supervisors() {
    const F_SETFL: u64 = libc::F_SETFL as u64;
    const F_SETSIG: u64 = 10;
    const O_ASYNC: u64 = libc::O_ASYNC as u64;
    const SIGCONT: u64 = libc::SIGCONT as u64;
    let older = Posture {
        unjudged: Unjudged::Supervised,
        signals: Signals::Supervisor,
        ..strict()
    };
    let newer = Posture {
        signals: Signals::Landlock,
        ..older.clone()
    };
    for posture in [&older, &newer] {
        assert_answer(posture, "fcntl", &[0, F_SETFL, O_ASYNC | 1], Action::Notify);
        assert_allowed(posture, "fcntl", &[0, F_SETFL, !O_ASYNC & 0xffff_ffff]);
        assert_answer(posture, "fcntl", &[0, F_SETSIG, 10], Action::Notify);
        assert_answer(posture, "fcntl", &[0, F_SETSIG, SIGCONT], errno(libc::EINVAL));
    }
    assert_answer(&strict(), "fcntl", &[0, F_SETFL, O_ASYNC | 1], errno(libc::EPERM));
    assert_int_answer(&strict(), "ioctl", &[0, libc::FIOASYNC], errno(libc::ENOTTY));
    for sockets in [Sockets::None, Sockets::All] {
        let with = |posture: &Posture| Posture {
            sockets,
            ..posture.clone()
        };
        for posture in [&older, &newer] {
            assert_int_answer(&with(posture), "ioctl", &[0, libc::FIOASYNC], Action::Notify);
        }
    }
}

#[test]
fn process_groups_are_the_supervisors() {
    let supervised = Posture {
        unjudged: Unjudged::Supervised,
        ..strict()
    };
    assert_int_answer(&supervised, "setpgid", &[0, 0], Action::Notify);
    assert_refused(&strict(), "setpgid", &[0, 0]);
    assert_allowed(&open(), "setpgid", &[0, 0]);
}

//! Promises about `ioctl`, `fcntl`, `prctl` and `arch_prctl`, one test for each promise, named after it.

use super::*;

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
fn fcntl_can_do_all_but_watch_directories_and_hold_up_others() {
    for command in each![
        libc::F_DUPFD,
        libc::F_SETFL,
        libc::F_SETLKW,
        libc::F_OFD_SETLK,
        libc::F_GETLEASE
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
    for command in each![libc::F_NOTIFY, libc::F_SETLEASE, 17, 39, 1023, 1039, u32::MAX] {
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

//! Calls that get round every other promise, unknown calls, and calls of foreign ABIs.
#![cfg(target_arch = "x86_64")]

use crate::common::Probe;

/// Calls with arguments that fail unconfined for another reason, or do nothing.
fn table(calls: &[&str]) -> Probe {
    calls
        .iter()
        .fold(Probe::new(), |probe, call| probe.reaches_the_kernel(call))
}

// promise: privileges.6
#[test]
fn interfaces_that_act_behind_the_filter_are_refused() {
    table(&[
        "call(425, 1, 0) # io_uring_setup",
        "call(426, -1, 0, 0, 0, 0, 0) # io_uring_enter",
        "call(427, -1, 0, 0, 0) # io_uring_register",
        "call(321, 0, 0, 0) # bpf",
        "call(298, 0, 0, -1, -1, 0) # perf_event_open",
        "call(323, 0) # userfaultfd",
        "call(206, 1, 0) # io_setup",
        "call(447, 0) # memfd_secret",
        "call(440, -1, 0, 0, 0, 0) # process_madvise",
    ])
    .refused("minimal", "EPERM");
}

// promise: privileges.7
#[test]
fn keys_cannot_be_reached() {
    table(&[
        "call(250, 0, -3, 0) # keyctl(KEYCTL_GET_KEYRING_ID)",
        "call(248, 'user', 'stockade-test', 'x', 1, -2) # add_key",
        "call(249, 'user', 'stockade-none', 0, 0) # request_key",
    ])
    .refused("minimal", "EPERM");
}

// promise: privileges.5
#[test]
fn mounts_and_handles_are_refused() {
    table(&[
        "call(165, 0, 0, 0, 0, 0) # mount",
        "call(166, '/stockade-none', 0) # umount2",
        "call(155, '/stockade-none', '/stockade-none') # pivot_root",
        "call(161, '/stockade-none') # chroot",
        "call(428, -1, '', 0) # open_tree",
        "call(429, -1, '', -1, '', 0) # move_mount",
        "call(430, '', 0) # fsopen",
        "call(431, -1, 0, 0, 0, 0) # fsconfig",
        "call(432, -1, 0, 0) # fsmount",
        "call(433, -1, '', 0) # fspick",
        "call(442, -1, '', 0, 0, 0) # mount_setattr",
        "call(457, 0, 0, 0, 0) # statmount",
        "call(458, 0, 0, 0, 0) # listmount",
        "call(303, AT_FDCWD, '/usr', bytes(8), bytes(8), 0) # name_to_handle_at",
        "call(304, AT_FDCWD, bytes(16), 0) # open_by_handle_at",
        "call(300, 0, 0) # fanotify_init",
        "call(179, -1, 0, 0, 0) # quotactl",
    ])
    .refused("minimal", "EPERM");
}

// promise: privileges.8
#[test]
fn the_machine_cannot_be_changed() {
    table(&[
        "call(164, 0, 0) # settimeofday",
        "call(227, -1, 0) # clock_settime",
        "call(159, 0) # adjtimex",
        "call(167, 0, 0) # swapon",
        "call(169, 0, 0, 0, 0) # reboot, without its magic",
        "call(170, 0, -1) # sethostname",
        "call(175, 0, 0, '') # init_module",
        "call(313, -1, '', 0) # finit_module",
        "call(103, 10, 0, 0) # syslog",
        "call(173, 0, 0, 0) # ioperm",
    ])
    .refused("minimal", "EPERM");
}

#[test]
fn system_v_objects_and_queues_are_refused_where_nothing_is_written() {
    table(&[
        "i = call(29, 0, 4096, 0o1600); call(31, i, 0, 0) # shmget",
        "call(30, 0, 0, 0) # shmat",
        "call(31, 0, 14, bytes(256)) # shmctl(SHM_INFO)",
        "i = call(64, 0, 1, 0o1600); call(66, i, 0, 0, 0) # semget",
        "call(65, 0, bytes(6), 1) # semop",
        "call(66, 0, 0, 19, bytes(256)) # semctl(SEM_INFO)",
        "call(220, 0, bytes(6), 1, 0) # semtimedop",
        "i = call(68, 0, 0o1600); call(71, i, 0, 0) # msgget",
        "n = 'stockade-%d' % os.getpid(); call(240, n, 0o102, 0o600, 0); call(241, n) # mq_open",
    ])
    .refused("minimal", "EPERM");
}

#[test]
fn only_harmless_personalities_are_taken() {
    Probe::new()
        .attempt("call(135, 0x400000) # READ_IMPLIES_EXEC")
        .attempt("call(135, 0x100000) # MMAP_PAGE_ZERO")
        .works("call(135, 0xffffffff) # asks")
        .works("call(135, 0x40000) # ADDR_NO_RANDOMIZE")
        .refused("minimal", "EPERM");
}

#[test]
fn a_process_stays_dumpable_whatever_it_asks() {
    Probe::new()
        .answers(
            "call(157, 4, 0, 0, 0, 0); expect(call(157, 3) == 0) # PR_SET_DUMPABLE",
            "ok",
            "EBADMSG",
        )
        .works("expect(call(157, 4, 0, 0, 0, 0) == 0)")
        .answers(
            "call(157, 4 | 1 << 32, 0, 0, 0, 0); expect(call(157, 3) == 0) # upper half",
            "ok",
            "EBADMSG",
        )
        .refused("minimal", "EBADMSG");
}

#[test]
fn options_that_hide_a_process_are_unknown() {
    Probe::new()
        .answers_if_possible(
            "call(157, 35, 14, 0, 0, 0) # PR_SET_MM",
            "EPERM|EFAULT|EINVAL|EACCES",
            "EINVAL",
        )
        .answers_if_possible(
            "call(157, 59, 0, 0, 0, 0) # PR_SET_SYSCALL_USER_DISPATCH",
            "ok",
            "EINVAL",
        )
        .refused("minimal", "EINVAL");
}

#[test]
fn a_listener_cannot_be_installed() {
    // SECCOMP_SET_MODE_FILTER with NEW_LISTENER: who holds one answers for others.
    Probe::new()
        .answers("call(317, 1, 8, 0) # seccomp", "EFAULT", "EPERM")
        .answers("call(317, 0, 0, 0) # strict mode", "ok|SIGKILL", "EPERM")
        .works("import array; call(317, 2, 0, struct.pack('I', 0x7fff0000)) # asks for an action")
        .refused("minimal", "EPERM");
}

// promise: privileges.9
#[test]
fn unknown_numbers_answer_enosys() {
    let mut probe = Probe::new();
    for number in ["400", "600", "500", "1000", "5000", "0x3fffffff"] {
        probe = probe.answers(&format!("call({number})"), "ENOSYS", "ENOSYS");
    }
    probe.refused("minimal", "ENOSYS");
}

// promise: privileges.10
#[test]
fn calls_of_x32_kill_the_caller() {
    Probe::new()
        .answers("call(39 | 0x40000000) # getpid", "ok|ENOSYS", "SIGSYS")
        .answers("call(2 | 0x40000000, '/etc/hosts', 0) # open", "ok|ENOSYS", "SIGSYS")
        .answers("call(520 | 0x40000000, 0, 0, 0) # execve", "EFAULT|ENOSYS", "SIGSYS")
        .refused("minimal", "SIGSYS");
}

// promise: privileges.10
#[test]
fn calls_of_i386_kill_the_caller() {
    // mov eax, 20 (getpid); int 0x80; ret
    Probe::new()
        .answers_if_possible("machine_code(bytes.fromhex('b814000000cd80c3'))", "ok", "SIGSYS")
        .works("machine_code(bytes.fromhex('b82a000000c3')) == 42")
        .refused("minimal", "SIGSYS");
}

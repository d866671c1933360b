//! Interfaces that act behind the filter, unknown calls, and upper halves of arguments, in wide profiles.

use crate::common::{Probe, run};

const PROFILES: [&str; 2] = ["workspace", "trusted"];

fn table(calls: &[&str], refusal: &str) {
    let probe = calls
        .iter()
        .fold(Probe::new(), |probe, call| probe.reaches_the_kernel(call));
    for profile in PROFILES {
        probe.refused(profile, refusal);
    }
}

#[test]
fn what_acts_behind_the_filter() {
    table(
        &[
            "call(425, 1, bytes(120)) # io_uring_setup",
            "call(426, -1, 0, 0, 0, 0, 0) # io_uring_enter",
            "call(427, -1, 0, 0, 0) # io_uring_register",
            "call(206, 1, bytes(8)) # io_setup",
            "call(209, 0, 0, 0) # io_submit",
            "call(321, 0, bytes(64), 64) # bpf",
            "call(298, bytes(128), 0, -1, -1, 0) # perf_event_open",
            "call(323, 1) # userfaultfd for user memory",
            "call(447, 0) # memfd_secret",
            "call(250, 0, -3, 0) # keyctl",
            "call(248, 'user', 'stockade-test', 'x', 1, -2) # add_key",
            "call(249, 'user', 'stockade-none', 0, 0) # request_key",
        ],
        "EPERM",
    );
}

#[test]
fn handles_mounts_and_namespaces() {
    let handle = "b = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136); i = ctypes.create_string_buffer(4)";
    table(
        &[
            &format!("{handle}; call(303, AT_FDCWD, '/usr', b, i, 0) # name_to_handle_at"),
            &format!("{handle}; call(303, AT_FDCWD, '/usr', b, i, 0x200) # AT_HANDLE_FID"),
            "call(304, AT_FDCWD, bytes(16), 0) # open_by_handle_at",
            "call(304, -10002, bytes(16), 0) # open_by_handle_at(FD_PIDFS_ROOT)",
            "call(165, 0, 0, 0, 0, 0) # mount",
            "call(166, '/stockade-none', 0) # umount2",
            "call(155, '/stockade-none', '/stockade-none') # pivot_root",
            "call(161, '/stockade-none') # chroot",
            "call(428, -1, '', 0) # open_tree",
            "call(429, -1, '', -1, '', 0) # move_mount",
            "call(430, '', 0) # fsopen",
            "call(442, -1, '', 0, 0, 0) # mount_setattr",
            "call(467, -1, '', 0, 0, 0) # open_tree_attr",
            "call(308, 0, 0) # setns",
            "call(272, 0x10000000) # unshare(CLONE_NEWUSER)",
            "call(272, 0x00020000) # unshare(CLONE_NEWNS)",
            "call(272, 0x10020000) # unshare of both",
            "call(272, 0x40000000) # unshare(CLONE_NEWNET)",
            "call(272, 0x20000000) # unshare(CLONE_NEWPID)",
            "p = call(56, 0x10000000 | 17, 0, 0, 0, 0); p or os._exit(0); os.waitpid(p, 0) # clone(CLONE_NEWUSER)",
            "p = call(56, 0x20000000 | 17, 0, 0, 0, 0); p or os._exit(0); os.waitpid(p, 0) # clone(CLONE_NEWPID)",
            "p = call(56, 1 << 32 | 0x10000000 | 17, 0, 0, 0, 0); p or os._exit(0); os.waitpid(p, 0) # upper half",
        ],
        "EPERM",
    );
}

#[test]
fn clone3_and_unknown_numbers() {
    let mut probe = Probe::new().answers_if_possible("call(435, 0, 0) # clone3", "EINVAL", "ENOSYS");
    for number in ["400", "423", "500", "513", "547", "600", "1000", "5000", "0x3fffffff"] {
        probe = probe.answers(&format!("call({number})"), "ENOSYS", "ENOSYS");
    }
    for profile in PROFILES {
        probe.refused(profile, "ENOSYS");
    }
}

#[test]
fn calls_452_to_469_open_no_door() {
    // Each with arguments that reach a secret or an outsider where the call could.
    let attribute = "v = ctypes.create_string_buffer(b'1', 64); s = struct.pack('QII', ctypes.addressof(v), 1, 0)";
    let probe = Probe::new()
        .file(".env", "SECRET")
        .attempt_if_possible("call(452, AT_FDCWD, '@ROOT/.env', 0o600, 0) # fchmodat2")
        .attempt_if_possible(&format!(
            "{attribute}; call(463, AT_FDCWD, '@ROOT/.env', 0, 'user.x', s, 16) # setxattrat"
        ))
        .attempt_if_possible("call(466, AT_FDCWD, '@ROOT/.env', 0, 'user.x') # removexattrat")
        .attempt_if_possible("s = bytes(24); call(469, AT_FDCWD, '@ROOT/.env', s, 24, 0) # file_setattr")
        .reaches_the_kernel("call(457, bytes(24), bytes(512), 512, 0) # statmount")
        .reaches_the_kernel("call(458, bytes(24), bytes(64), 1, 0) # listmount")
        .reaches_the_kernel("call(460, 100, 0, 0, 0) # lsm_set_self_attr")
        .reaches_the_kernel("call(467, -1, '', 0, 0, 0) # open_tree_attr")
        .answers_if_possible("call(470, -1, 0, 0, 0)", "ENOSYS|EINVAL|EBADF|EFAULT", "ENOSYS")
        .answers_if_possible("call(475, -1, 0, 0, 0)", "ENOSYS|EINVAL|EBADF|EFAULT", "ENOSYS");
    for profile in PROFILES {
        probe.refused(profile, "EPERM|EACCES|EOPNOTSUPP|ENOTSUP|ENODATA|ENOTTY");
    }
}

#[test]
fn calls_of_foreign_abis_kill_the_caller() {
    let probe = Probe::new()
        .file(".env", "SECRET")
        .answers("call(39 | 0x40000000) # getpid", "ok|ENOSYS", "SIGSYS")
        .answers("call(2 | 0x40000000, '@ROOT/.env', 0) # open", "ok|ENOSYS", "SIGSYS")
        .answers(
            "call(257 | 0x40000000, AT_FDCWD, '@ROOT/.env', 0) # openat",
            "ok|ENOSYS",
            "SIGSYS",
        )
        .answers(
            "call(437 | 0x40000000, AT_FDCWD, '@ROOT/.env', bytes(24), 24) # openat2",
            "ok|ENOSYS",
            "SIGSYS",
        )
        .answers("call(520 | 0x40000000, 0, 0, 0) # execve", "EFAULT|ENOSYS", "SIGSYS")
        .answers(
            "call(425 | 0x40000000, 1, 0) # io_uring_setup",
            "EFAULT|ENOSYS|EPERM",
            "SIGSYS",
        )
        // mov eax, 20 (getpid); int 0x80; ret
        .answers_if_possible("machine_code(bytes.fromhex('b814000000cd80c3'))", "ok", "SIGSYS")
        // mov eax, 5 (open); xor ebx, ebx; int 0x80; ret
        .answers_if_possible(
            "machine_code(bytes.fromhex('b80500000053bb00000000cd805bc3'))",
            "ok",
            "SIGSYS",
        );
    for profile in PROFILES {
        probe.refused(profile, "SIGSYS");
    }
}

// promise: files.7
#[test]
fn a_file_without_a_name_is_not_executed() {
    let run_it = "os.write(fd, open(os.path.realpath('/bin/true'), 'rb').read()); ";
    let mut probe = Probe::new();
    for make in [
        "os.memfd_create('a')",
        "os.memfd_create('b', os.MFD_CLOEXEC)",
        "os.memfd_create('c', 0x10)",
        "os.memfd_create('d', 0)",
    ] {
        probe = probe
            .attempt_if_possible(&format!(
                "fd = {make}; {run_it}os.execve('/proc/self/fd/%d' % fd, ['x'], {{}})"
            ))
            .attempt_if_possible(&format!("fd = {make}; {run_it}os.execve(fd, ['x'], {{}})"))
            .attempt_if_possible(&format!(
                "fd = {make}; {run_it}call(322, fd, '', 0, 0, 0x1000) # execveat"
            ));
    }
    probe = probe.works("fd = os.memfd_create('plain'); os.write(fd, b'x'); expect(os.pread(fd, 1, 0) == b'x')");
    probe.refused("workspace", "EACCES|EPERM|EINVAL");
}

#[test]
fn a_file_without_a_name_gets_no_execute_permission() {
    let list = "struct.pack('<I' + 3 * 'HHI', 2, 1, 7, 0xffffffff, 4, 7, 0xffffffff, 32, 7, 0xffffffff)";
    let run_it = "os.write(fd, open(os.path.realpath('/bin/true'), 'rb').read()); os.execve(fd, ['x'], {})";
    let changes = [
        "os.fchmod(fd, 0o777)".to_string(),
        "os.fchmod(fd, 0o611)".to_string(),
        "os.chmod('/proc/self/fd/%d' % fd, 0o777)".to_string(),
        "call(452, fd, '', 0o777, 0x1000) # fchmodat2".to_string(),
        format!("os.setxattr(fd, 'system.posix_acl_access', {list})"),
        format!("os.setxattr('/proc/self/fd/%d' % fd, 'system.posix_acl_access', {list})"),
        format!(
            "v = ctypes.create_string_buffer({list}); a = struct.pack('=QII', ctypes.addressof(v), 28, 0); \
             call(463, fd, '', 0x1000, 'system.posix_acl_access', a, 16) # setxattrat"
        ),
    ];
    let mut probe = Probe::new();
    // MFD_NOEXEC_SEAL: the kernel refuses a mode, and not a list.
    for make in [
        "os.memfd_create('a')",
        "os.memfd_create('b', 3)",
        "os.memfd_create('c', 8)",
    ] {
        for change in &changes {
            probe = probe
                .attempt_if_possible(&format!("fd = {make}; {change}"))
                .answers_if_possible(
                    &format!("fd = {make}\ntry: {change}\nexcept OSError: pass\n{run_it}"),
                    "ok",
                    "EACCES|EINVAL",
                );
        }
    }
    probe
        .works("fd = os.memfd_create('plain'); os.fchmod(fd, 0o640); expect(os.fstat(fd).st_mode & 0o777 == 0o640)")
        .refused("workspace", "EPERM|EINVAL");
}

// promise: stockade.8
#[test]
fn the_supervisor_is_not_blinded() {
    let probe = |dumpable: &str| {
        Probe::new()
            .file(".env", "SECRET")
            .file("plain", "plain")
            .attempt(&format!("{dumpable}; read('.env')"))
            .attempt(&format!(
                "{dumpable}; os.open('.env', 0, dir_fd=os.open('.', os.O_PATH))"
            ))
            .attempt(&format!(
                "{dumpable}; os.fork() or os._exit(0); os.wait(); read('.env')"
            ))
            .works(&format!("{dumpable}; read('plain'); write('new')"))
    };
    for profile in PROFILES {
        probe("call(157, 4, 0, 0, 0, 0)").refused(profile, "EACCES");
        probe("call(157, 4 | 1 << 32, 0, 0, 0, 0)").refused(profile, "EACCES");
        Probe::new()
            .answers(
                "call(157, 4, 0, 0, 0, 0); expect(call(157, 3) == 0) # PR_SET_DUMPABLE",
                "ok",
                "EBADMSG",
            )
            .answers("call(317, 1, 8, 0) # seccomp with a listener", "EFAULT", "EPERM")
            .answers(
                "call(317, 1, 1 << 32 | 8, 0) # upper half",
                "EFAULT|EINVAL",
                "EPERM|EINVAL",
            )
            .answers(
                "call(157, 22, 2, 0, 0, 0) # PR_SET_SECCOMP",
                "EFAULT",
                "EINVAL|EPERM|EFAULT",
            )
            .answers_if_possible(
                "call(157, 59, 0, 0, 0, 0) # PR_SET_SYSCALL_USER_DISPATCH",
                "ok",
                "EINVAL",
            )
            .answers(
                "call(157, 36, 1, 0, 0, 0) # PR_SET_CHILD_SUBREAPER",
                "ok",
                "ok|EINVAL|EPERM",
            )
            .refused(profile, "EPERM");
    }
}

#[test]
fn upper_halves_of_arguments_change_nothing() {
    let probe = Probe::new()
        .file(".env", "SECRET")
        .file("x/.env", "SECRET")
        .file("plain", "p")
        .attempt("call(257, AT_FDCWD & 0xffffffff | 7 << 32, '@ROOT/.env', 0)")
        .attempt("call(257, AT_FDCWD, '@ROOT/.env', 1 << 45, 1 << 50)")
        .attempt("call(2, '@ROOT/.env', os.O_RDWR | 1 << 60)")
        .attempt("d = os.open('x', os.O_PATH); call(257, d | 1 << 32, '.env', 0)")
        .attempt("d = os.open('x', os.O_PATH); call(263, d | 1 << 33, '.env', 0)")
        .attempt("call(90, '@ROOT/.env', 0o600 | 1 << 32)")
        .attempt("d = os.open('.', os.O_PATH); call(268, d | 1 << 35, '.env', 0o600 | 1 << 40)")
        .attempt("call(21, '@ROOT/.env', 4 | 1 << 32)")
        .works("call(257, AT_FDCWD & 0xffffffff | 7 << 32, '@ROOT/plain', 1 << 40)");
    for profile in PROFILES {
        probe.refused(profile, "EACCES|EPERM");
    }
}

#[test]
fn an_inherited_descriptor_is_closed() {
    let code = "import os\n\
        def tried(what):\n  \
          try: return what()\n  \
          except OSError: return b'closed'\n\
        print(tried(lambda: os.read(7, 6)), tried(lambda: os.read(os.open('.env', 0, dir_fd=8), 6)),\n  \
          tried(lambda: open('/proc/self/fd/7', 'rb').read(6)), tried(lambda: open('/dev/fd/8/.env', 'rb').read(6)),\n  \
          tried(lambda: open('/proc/self/fd/200/.env', 'rb').read(6)))\n";
    for profile in ["workspace", "filesystem", "mcp-standard", "trusted"] {
        let begun = run()
            .profile(profile)
            .file(".env", "SECRET")
            .after("exec 7<@ROOT/.env 8<@ROOT 200<@ROOT")
            .python(code);
        let mut unconfined = begun.place.command("bash");
        let script = begun.place.fill("exec 7<@ROOT/.env 8<@ROOT 200<@ROOT\nexec \"$@\"");
        unconfined.args(["-c", &script, "bash", crate::common::python(), "-I", "-c", code]);
        let free = crate::common::finish(&mut unconfined, b"").stdout();
        assert_eq!(free, "b'SECRET' b'SECRET' b'SECRET' b'SECRET' b'SECRET'\n");
        begun
            .stdout("b'closed' b'closed' b'closed' b'closed' b'closed'\n")
            .ends();
    }
}

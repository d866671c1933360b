//! Landlock doesn't know metadata: the supervisor lets only what may be written be changed.

use crate::common::Probe;

fn refused(probe: Probe) {
    probe
        .file("data/a", "a")
        .link("data/link", "a")
        .refused("readonly", "EPERM");
}

#[test]
fn modes_cannot_be_changed() {
    refused(
        Probe::new()
            .attempt("os.chmod('data/a', 0o600)")
            .attempt("os.fchmod(os.open('data/a', os.O_RDONLY), 0o600)")
            .attempt("os.chmod('a', 0o600, dir_fd=os.open('data', os.O_PATH))")
            .attempt_if_possible("call(452, AT_FDCWD, 'data/a', 0o600, 0) # fchmodat2")
            .attempt_if_possible("call(452, os.open('data/a', os.O_RDONLY), '', 0o600, 0x1000) # AT_EMPTY_PATH"),
    );
}

#[test]
fn modes_of_scratch_files_can_be_changed_but_for_set_user_id() {
    Probe::new()
        .works("p = os.environ.get('TMPDIR', '@HOME') + '/g'; write(p); os.chmod(p, 0o750)")
        .attempt("p = os.environ.get('TMPDIR', '@HOME') + '/f'; write(p); os.chmod(p, 0o4755)")
        .refused("readonly", "EPERM");
}

#[test]
fn owners_cannot_be_changed() {
    refused(
        Probe::new()
            .attempt("os.chown('data/a', -1, -1)")
            .attempt("os.fchown(os.open('data/a', os.O_RDONLY), -1, -1)")
            .attempt("os.lchown('data/link', -1, -1)")
            .attempt("os.chown('a', -1, -1, dir_fd=os.open('data', os.O_PATH))")
            .attempt("os.chown('data/a', os.getuid(), os.getgid())"),
    );
}

#[test]
fn times_cannot_be_changed() {
    let probe = Probe::new()
        .attempt("os.utime('data/a')")
        .attempt("os.utime('data/a', (1, 2))")
        .attempt("os.utime(os.open('data/a', os.O_RDONLY))")
        .attempt("os.utime('data/link', follow_symlinks=False)");
    #[cfg(target_arch = "x86_64")]
    let probe = probe
        .attempt("call(132, 'data/a', 0) # utime")
        .attempt("call(235, 'data/a', 0) # utimes")
        .attempt("call(261, AT_FDCWD, 'data/a', 0) # futimesat")
        .attempt("call(280, os.open('data/a', os.O_RDONLY), 0, 0, 0) # utimensat of a descriptor");
    refused(probe);
}

#[test]
fn extended_attributes_cannot_be_changed() {
    refused(
        Probe::new()
            .attempt_if_possible("os.setxattr('data/a', 'user.a', b'1')")
            .attempt_if_possible("os.setxattr('data/a', 'user.b', b'1', follow_symlinks=False)")
            .attempt_if_possible("os.setxattr(os.open('data/a', os.O_RDONLY), 'user.c', b'1')")
            .attempt_if_possible(
                "v = ctypes.create_string_buffer(b'1'); \
                 s = struct.pack('QII', ctypes.addressof(v), 1, 0); \
                 call(463, AT_FDCWD, 'data/a', 0, 'user.d', s, len(s)) # setxattrat",
            )
            .attempt_if_possible("os.removexattr('data/a', 'user.a')")
            .attempt_if_possible("os.removexattr('data/a', 'user.b', follow_symlinks=False)")
            .attempt_if_possible("os.removexattr(os.open('data/a', os.O_RDONLY), 'user.c')")
            .attempt_if_possible("call(466, AT_FDCWD, 'data/a', 0, 'user.d') # removexattrat"),
    );
}

#[test]
fn file_attributes_cannot_be_changed() {
    // FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR answer like a file system that has none.
    refused(
        Probe::new()
            .attempt_if_possible("s = bytes(24); call(469, AT_FDCWD, 'data/a', s, 24, 0) # file_setattr")
            .answers_if_possible(
                "import fcntl; fd = os.open('data/a', os.O_RDONLY); \
                 f = fcntl.ioctl(fd, 0x80086601, bytes(8)); fcntl.ioctl(fd, 0x40086602, f) # FS_IOC_SETFLAGS",
                "ok",
                "ENOTTY",
            )
            .answers_if_possible(
                "import fcntl; fd = os.open('data/a', os.O_RDONLY); \
                 f = fcntl.ioctl(fd, 0x801c581f, bytes(28)); fcntl.ioctl(fd, 0x401c5820, f) # FS_IOC_FSSETXATTR",
                "ok",
                "ENOTTY",
            ),
    );
}

#[test]
fn what_may_be_read_may_be_watched() {
    Probe::new()
        .file("data/a", "a")
        .works("fd = answer(libc.inotify_init1(0)); answer(libc.inotify_add_watch(fd, b'data', 2))")
        .attempt("fd = answer(libc.inotify_init1(0)); answer(libc.inotify_add_watch(fd, b'@HOME', 2))")
        .refused("readonly", "EACCES");
}

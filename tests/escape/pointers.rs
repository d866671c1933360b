//! Arguments that point nowhere, too far, or at too much get the kernel's own answers.

use crate::common::Probe;

const PROFILES: [&str; 2] = ["workspace", "trusted"];

/// `edge(text)`: a pointer to text that ends where the memory ends. `gone`: a pointer to memory that isn't there.
const MEMORY: &str = "\n\
    libc.mmap.restype = ctypes.c_void_p\n\
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]\n\
    page = libc.mmap(None, 8192, 3, 0x22, -1, 0)\n\
    libc.munmap(ctypes.c_void_p(page + 4096), ctypes.c_size_t(4096))\n\
    gone = page + 4096\n\
    def edge(text):\n  \
      start = gone - len(text)\n  \
      ctypes.memmove(start, text, len(text))\n  \
      return start\n\
    def long(length, name=b'@ROOT/plain'):\n  \
      return b'/' * (length - len(name)) + name + b'\\0'\n";

fn alike(forms: &[(&str, &'static str)]) {
    for profile in PROFILES {
        let mut probe = Probe::new().file("plain", "plain").file(".env", "SECRET");
        for (form, word) in forms {
            probe = probe.answers(&format!("# {form}{MEMORY}{form}"), word, word);
        }
        probe.refused(profile, "");
    }
}

#[test]
fn a_path_that_points_nowhere_is_efault() {
    alike(&[
        ("call(2, 0, 0) # open", "EFAULT"),
        ("call(2, gone, 0) # open", "EFAULT"),
        ("call(2, -1, 0) # open", "EFAULT"),
        ("call(2, 0x7fffffffffff, 0) # open, past user memory", "EFAULT"),
        ("call(257, AT_FDCWD, 0, 0) # openat", "EFAULT"),
        ("call(257, AT_FDCWD, 1, 0) # openat", "EFAULT"),
        ("call(437, AT_FDCWD, 0, bytes(24), 24) # openat2", "EFAULT"),
        ("call(437, AT_FDCWD, '@ROOT/plain', 0, 24) # openat2", "EFAULT"),
        ("call(437, AT_FDCWD, '@ROOT/plain', gone - 8, 24) # openat2", "EFAULT"),
        ("call(437, AT_FDCWD, '@ROOT/plain', bytes(24), 8) # openat2", "EINVAL"),
        (
            "call(437, AT_FDCWD, '@ROOT/plain', bytes(24) + b'x' * 16, 40) # openat2",
            "E2BIG",
        ),
        (
            "call(437, AT_FDCWD, '@ROOT/plain', bytes(8192), 8192) # openat2",
            "E2BIG",
        ),
        ("openat2('@ROOT/plain', flags=0x40000000 << 32) # openat2", "EINVAL"),
        ("openat2('@ROOT/plain', resolve=1 << 20) # openat2", "EINVAL"),
        ("openat2('@ROOT/plain', mode=0o600) # openat2", "EINVAL"),
        ("call(85, gone, 0o600) # creat", "EFAULT"),
    ]);
}

#[test]
fn the_same_of_the_calls_that_change_the_tree() {
    alike(&[
        ("call(87, 0) # unlink", "EFAULT"),
        ("call(263, AT_FDCWD, gone, 0) # unlinkat", "EFAULT"),
        ("call(263, AT_FDCWD, '@ROOT/plain', 0x8000) # unlinkat", "EINVAL"),
        ("call(82, gone, '@ROOT/x') # rename", "EFAULT"),
        ("call(82, '@ROOT/plain', gone) # rename", "EFAULT"),
        ("renameat2('@ROOT/plain', '@ROOT/x', 0x40) # renameat2", "EINVAL"),
        ("renameat2('@ROOT/plain', '@ROOT/x', 3) # renameat2", "EINVAL"),
        ("call(86, gone, '@ROOT/x') # link", "EFAULT"),
        (
            "call(265, AT_FDCWD, '@ROOT/plain', AT_FDCWD, gone, 0) # linkat",
            "EFAULT",
        ),
        ("call(88, gone, '@ROOT/x') # symlink", "EFAULT"),
        ("call(88, 'x', gone) # symlink", "EFAULT"),
        ("call(88, '', '@ROOT/x') # symlink", "ENOENT"),
        ("call(83, gone, 0o700) # mkdir", "EFAULT"),
        ("call(84, gone) # rmdir", "EFAULT"),
        ("call(133, gone, 0o100600, 0) # mknod", "EFAULT"),
        ("call(76, gone, 0) # truncate", "EFAULT"),
        ("call(76, '@ROOT/plain', -1) # truncate", "EINVAL"),
        ("call(90, gone, 0o600) # chmod", "EFAULT"),
        ("call(92, gone, -1, -1) # chown", "EFAULT"),
        ("call(280, AT_FDCWD, '@ROOT/plain', gone, 0) # utimensat", "EFAULT"),
        ("call(188, '@ROOT/plain', gone, b'1', 1, 0) # setxattr", "EFAULT"),
        ("call(254, call(294, 0), gone, 2) # inotify_add_watch", "EFAULT"),
        ("call(21, gone, 4) # access", "EFAULT"),
        ("call(439, AT_FDCWD, gone, 4, 0) # faccessat2", "EFAULT"),
        ("call(439, AT_FDCWD, '@ROOT/plain', 64, 0) # faccessat2", "EINVAL"),
    ]);
}

#[test]
fn a_path_at_the_edge_of_memory_is_read_to_its_end() {
    alike(&[
        ("call(2, edge(b'@ROOT/plain\\0'), 0)", "ok"),
        ("call(2, edge(b'@ROOT/plain'), 0) # without an end", "EFAULT"),
        ("call(2, edge(b'\\0'), 0)", "ENOENT"),
        ("os.chdir('@ROOT'); call(257, AT_FDCWD, edge(b'plain\\0'), 0)", "ok"),
        ("call(437, AT_FDCWD, edge(b'@ROOT/plain\\0'), bytes(24), 24)", "ok"),
        ("call(437, AT_FDCWD, '@ROOT/plain', edge(bytes(24)), 24)", "ok"),
        ("call(87, edge(b'@ROOT/none\\0'))", "ENOENT"),
        ("call(90, edge(b'@ROOT/plain\\0'), 0o600)", "ok"),
        ("call(280, AT_FDCWD, edge(b'@ROOT/plain\\0'), 0, 0)", "ok"),
        ("call(21, edge(b'@ROOT/plain\\0'), 4)", "ok"),
    ]);
}

#[test]
fn long_paths_are_the_kernels_length() {
    alike(&[
        ("call(2, long(4095), 0)", "ok"),
        ("call(2, long(4096), 0)", "ENAMETOOLONG"),
        ("call(2, long(5000), 0)", "ENAMETOOLONG"),
        ("call(2, b'x' * 100000 + b'\\0', 0)", "ENAMETOOLONG"),
        ("call(2, b'@ROOT/' + b'x' * 255 + b'\\0', 0)", "ENOENT"),
        ("call(2, b'@ROOT/' + b'x' * 256 + b'\\0', 0)", "ENAMETOOLONG"),
        ("call(257, AT_FDCWD, long(4095), 0)", "ok"),
        ("openat2(long(4095))", "ok"),
        ("openat2(long(4096))", "ENAMETOOLONG"),
        ("call(90, long(4095), 0o600)", "ok"),
        ("call(90, long(4096), 0o600)", "ENAMETOOLONG"),
        ("call(87, long(4096))", "ENAMETOOLONG"),
        ("call(83, long(4096), 0o700)", "ENAMETOOLONG"),
        ("call(82, '@ROOT/plain', long(4096))", "ENAMETOOLONG"),
        ("call(21, long(4095), 4)", "ok"),
        ("call(88, b'y' * 4095 + b'\\0', '@ROOT/l')", "ok"),
        ("call(88, b'y' * 4096 + b'\\0', '@ROOT/m')", "ENAMETOOLONG"),
    ]);
    for profile in PROFILES {
        Probe::new()
            .file(".env", "SECRET")
            .attempt(&format!("# long{MEMORY}call(2, long(4095, b'@ROOT/.env'), 0)"))
            .attempt(&format!("# long unlink{MEMORY}call(21, long(4095, b'@ROOT/.env'), 4)"))
            .attempt(&format!("# edge{MEMORY}call(2, edge(b'@ROOT/.env\\0'), 0)"))
            .attempt(&format!("# chmod{MEMORY}call(90, long(4095, b'@ROOT/.env'), 0o600)"))
            .attempt(&format!("# in memory that can't be written{MEMORY}s = edge(b'@ROOT/.env\\0'); libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(4096), 1); call(2, s, 0)"))
            .refused(profile, "EACCES|EPERM");
    }
}

#[test]
fn errors_of_the_tree_are_the_kernels() {
    alike(&[
        ("os.open('none', 0)", "ENOENT"),
        ("os.open('', 0)", "ENOENT"),
        ("os.open('plain/x', 0)", "ENOTDIR"),
        ("os.open('plain/', 0)", "ENOTDIR"),
        ("os.open('.', os.O_WRONLY)", "EISDIR"),
        ("os.open('.', os.O_RDONLY | os.O_CREAT)", "EISDIR"),
        ("os.open('plain', os.O_CREAT | os.O_EXCL)", "EEXIST"),
        ("os.open('plain', os.O_DIRECTORY)", "ENOTDIR"),
        ("os.symlink('loop', 'loop'); os.open('loop', 0)", "ELOOP"),
        (
            "os.symlink('plain', 'to-plain'); os.open('to-plain', os.O_NOFOLLOW)",
            "ELOOP",
        ),
        ("os.symlink('nowhere', 'dangling'); os.open('dangling', 0)", "ENOENT"),
        ("os.open('x', 0, dir_fd=os.open('plain', 0))", "ENOTDIR"),
        ("call(257, 999, 'plain', 0)", "EBADF"),
        ("os.mkdir('plain')", "EEXIST"),
        ("os.mkdir('none/x')", "ENOENT"),
        ("os.rmdir('plain')", "ENOTDIR"),
        ("os.mkdir('full'); write('full/x'); os.rmdir('full')", "ENOTEMPTY"),
        ("os.unlink('none')", "ENOENT"),
        ("os.mkdir('dir'); os.unlink('dir')", "EISDIR"),
        ("os.mkdir('dir2'); os.rename('dir2', 'dir2/sub')", "EINVAL"),
        ("os.rename('none', 'x')", "ENOENT"),
        ("os.link('plain', '.git-none/x')", "ENOENT"),
        ("os.link('.', 'x')", "EPERM"),
        (
            "renameat2('plain', 'plain2', 1); write('plain'); renameat2('plain2', 'plain', 1)",
            "EEXIST",
        ),
        ("os.chmod('none', 0o600)", "ENOENT"),
        ("os.truncate('.', 0)", "EISDIR"),
        ("openat2('/etc', resolve=8)", "EXDEV"),
        ("openat2('..', resolve=8)", "EXDEV"),
        ("os.symlink('plain', 'sl'); openat2('sl', resolve=4)", "ELOOP"),
        (
            "p = os.open('plain', os.O_PATH); openat2('/proc/self/fd/%d' % p, resolve=2)",
            "ELOOP",
        ),
        (
            "os.open('plain', os.O_PATH | os.O_WRONLY); os.read(os.open('plain', os.O_PATH), 1)",
            "EBADF",
        ),
    ]);
}

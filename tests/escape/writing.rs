//! A secret isn't changed, removed or made.

use super::cases::{WRITING, attempts, works};
use crate::common::Probe;

const TREE: &[(&str, &str)] = &[
    (".env", "SECRET"),
    ("secrets/token", "SECRET"),
    ("plain", "plain"),
    ("sub/plain", "plain"),
];

fn refused(forms: &[&str]) {
    for profile in WRITING {
        let probe = works(
            Probe::new(),
            TREE,
            &[
                "write('@DIR/plain'); write('@DIR/new'); os.truncate('@DIR/plain', 0); os.unlink('@DIR/plain')",
                "os.mkdir('@DIR/d'); os.mkfifo('@DIR/d/f'); os.symlink('x', '@DIR/d/s'); os.unlink('@DIR/d/f')",
            ],
        );
        attempts(probe, TREE, forms).refused(profile, "EACCES|EPERM|EXDEV");
    }
}

// promise: secrets.8
#[test]
fn it_is_not_opened_to_write() {
    refused(&[
        "write('@DIR/.env')",
        "write('@DIR/.env', 'ab')",
        "write('@DIR/.env', 'r+b')",
        "os.open('@DIR/.env', os.O_WRONLY)",
        "os.open('@DIR/.env', os.O_WRONLY | os.O_APPEND)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_TRUNC)",
        "os.open('@DIR/.env', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)",
        "call(2, '@DIR/.env', os.O_WRONLY | 1 << 32, 0) # upper half",
        "call(85, '@DIR/.env', 0o600) # creat",
        "openat2('@DIR/.env', flags=os.O_WRONLY | os.O_CLOEXEC)",
        "os.open('.env', os.O_WRONLY, dir_fd=os.open('@DIR', os.O_PATH))",
        "os.symlink('.env', '@DIR/l'); write('@DIR/l')",
        "os.symlink('secrets', '@DIR/l'); write('@DIR/l/token')",
        "p = os.open('@DIR/.env', os.O_PATH); os.open('/proc/self/fd/%d' % p, os.O_WRONLY)",
        "os.chdir('@DIR'); write('/proc/self/cwd/.env')",
    ]);
}

#[test]
fn it_is_not_truncated() {
    refused(&[
        "os.truncate('@DIR/.env', 0)",
        "call(76, '@DIR/.env', 1) # truncate",
        "os.chdir('@DIR'); os.truncate('.env', 0)",
        "os.truncate('@DIR/secrets/token', 0)",
        "os.symlink('.env', '@DIR/l'); os.truncate('@DIR/l', 0)",
        "p = os.open('@DIR/.env', os.O_PATH); call(76, '/proc/self/fd/%d' % p, 0)",
        "call(76, '/proc/self/root@DIR/.env', 0)",
    ]);
}

// promise: secrets.8
#[test]
fn it_is_not_removed() {
    refused(&[
        "os.unlink('@DIR/.env')",
        "call(87, '@DIR/.env') # unlink",
        "call(263, AT_FDCWD, '@DIR/.env', 0) # unlinkat",
        "call(263, os.open('@DIR', os.O_PATH), '.env', 0) # unlinkat",
        "os.chdir('@DIR/sub'); os.unlink('../.env')",
        "os.symlink('secrets', '@DIR/l'); os.unlink('@DIR/l/token')",
        "os.chdir('@DIR/secrets'); os.unlink('token')",
        "os.unlink('/proc/self/root@DIR/.env')",
        "d = os.open('@DIR', os.O_PATH); os.unlink('/proc/self/fd/%d/.env' % d)",
        "import shutil; shutil.rmtree('@DIR/secrets')",
        "os.rename('@DIR/plain', '@DIR/.env')",
    ]);
}

// promise: secrets.7
#[test]
fn one_is_not_made() {
    refused(&[
        "write('@DIR/.env.new')",
        "write('@DIR/secrets/new')",
        "write('@DIR/x.pem', 'xb')",
        "os.open('@DIR/x.key', os.O_RDONLY | os.O_CREAT, 0o600)",
        "call(85, '@DIR/sub/.env', 0o600) # creat",
        "openat2('@DIR/credentials', flags=os.O_RDWR | os.O_CREAT, mode=0o600)",
        "os.open('.env2', os.O_WRONLY | os.O_CREAT, dir_fd=os.open('@DIR', os.O_PATH))",
        "os.mknod('@DIR/y.pem')",
        "call(133, '@DIR/z.pem', 0o100600, 0) # mknod",
        "call(259, os.open('@DIR', os.O_PATH), 'a.pem', 0o100600, 0) # mknodat",
        "os.mkfifo('@DIR/b.key')",
        "os.symlink('plain', '@DIR/c.key')",
        "os.link('@DIR/plain', '@DIR/d.key')",
        "os.mkdir('@DIR/secrets/dir')",
        "call(258, os.open('@DIR/secrets', os.O_PATH), 'dir', 0o700) # mkdirat",
        "f = os.open('@DIR', os.O_TMPFILE | os.O_RDWR); \
         call(265, AT_FDCWD, '/proc/self/fd/%d' % f, AT_FDCWD, '@DIR/e.pem', 0x400)",
        "? f = os.open('@DIR', os.O_TMPFILE | os.O_RDWR); call(265, f, '', AT_FDCWD, '@DIR/f.pem', 0x1000)",
        "os.open('@DIR/secrets', os.O_TMPFILE | os.O_RDWR)",
        "s = socket.socket(socket.AF_UNIX); s.bind('@DIR/s.pem')",
        "os.symlink('.env.through', '@DIR/l'); write('@DIR/l')",
        "os.symlink('secrets/through', '@DIR/l'); write('@DIR/l')",
        "os.mkdir('@DIR/m.pem')",
    ]);
}

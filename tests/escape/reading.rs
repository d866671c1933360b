//! A secret inside a granted tree isn't read, whatever it is called by.

use super::cases::{SUPERVISED, attempts, works};
use crate::common::Probe;

const SECRET: &[(&str, &str)] = &[(".env", "SECRET"), ("sub/plain", "plain"), ("plain", "plain")];

fn refused(forms: &[&str]) {
    for profile in SUPERVISED {
        let probe = works(
            Probe::new(),
            SECRET,
            &["read('@DIR/plain')", "read('@DIR/sub/../plain')"],
        );
        attempts(probe, SECRET, forms).refused(profile, "EACCES");
    }
}

// promise: files.8
#[test]
fn by_its_names() {
    refused(&[
        "read('@DIR/.env')",
        "os.chdir('@DIR'); read('.env')",
        "os.chdir('@DIR'); read('./.env')",
        "os.chdir('@DIR/sub'); read('../.env')",
        "read('@DIR//.//.env')",
        "read('@DIR/sub/../.env')",
        "read('@DIR/sub/../../' + os.path.basename('@DIR') + '/.env')",
        "read('/../..@DIR/.env')",
        "read('/./' * 200 + '@DIR/.env')",
        "os.chdir('/'); read('@DIR/.env'[1:])",
        "os.chdir('@DIR'); read('../' * 60 + '@DIR/.env'[1:])",
    ]);
}

// promise: files.13
#[test]
fn by_every_call_that_opens() {
    refused(&[
        "call(2, '@DIR/.env', 0) # open",
        "call(257, AT_FDCWD, '@DIR/.env', 0) # openat",
        "call(257, -1, '@DIR/.env', 0) # openat, absolute with a bad descriptor",
        "openat2('@DIR/.env')",
        "call(437, AT_FDCWD, '@DIR/.env', struct.pack('QQQ', 0, 0, 0) + bytes(16), 40) # a longer open_how",
        "call(2, '@DIR/.env', os.O_RDONLY | 1 << 32) # upper half",
        "call(2, '@DIR/.env', os.O_RDONLY | 1 << 63) # upper half",
        "call(257, 0xffffff9c, '@DIR/.env', 0) # AT_FDCWD in 32 bits",
        "call(257, AT_FDCWD, '@DIR/.env', 0 | 1 << 33) # upper half",
    ]);
}

// promise: files.13
#[test]
fn with_every_flag() {
    refused(&[
        "os.open('@DIR/.env', os.O_RDONLY | os.O_CLOEXEC)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_NOFOLLOW)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_NONBLOCK)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_NOATIME)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_SYNC)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_NOCTTY)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_APPEND)",
        "os.open('@DIR/.env', os.O_RDONLY | os.O_CREAT, 0o600)",
        "os.open('@DIR/.env', os.O_RDWR)",
        "os.open('@DIR/.env', os.O_RDWR | os.O_CREAT, 0o600)",
        "os.open('@DIR/.env', 3) # the access mode that only allows ioctl",
        "os.open('@DIR/.env', os.O_RDONLY | 0x40000000) # a bit that means nothing",
    ]);
}

#[test]
fn with_every_way_to_resolve() {
    refused(&[
        "openat2('@DIR/.env', resolve=1) # RESOLVE_NO_XDEV",
        "openat2('@DIR/.env', resolve=2) # RESOLVE_NO_MAGICLINKS",
        "openat2('@DIR/.env', resolve=4) # RESOLVE_NO_SYMLINKS",
        "os.chdir('@DIR'); openat2('.env', resolve=8) # RESOLVE_BENEATH",
        "os.chdir('@DIR'); openat2('/.env', resolve=16) # RESOLVE_IN_ROOT",
        "d = os.open('@DIR', os.O_PATH); openat2('/../../.env', resolve=16, dirfd=d) # RESOLVE_IN_ROOT",
        "d = os.open('@DIR', os.O_PATH); openat2('sub/../.env', resolve=8, dirfd=d) # RESOLVE_BENEATH",
        "d = os.open('@DIR', os.O_PATH); openat2('.env', resolve=8 | 4 | 2 | 1, dirfd=d)",
        "d = os.open('/', os.O_PATH); openat2('@DIR/.env', resolve=16, dirfd=d)",
    ]);
    let cached = "read('@DIR/plain'); os.stat('@DIR/.env'); openat2('@DIR/.env', resolve=32) # RESOLVE_CACHED";
    for profile in SUPERVISED {
        attempts(Probe::new(), SECRET, &[cached]).refused(profile, "EACCES|EAGAIN");
    }
}

// promise: files.9
#[test]
fn through_proc() {
    refused(&[
        "read('/proc/self/root@DIR/.env')",
        "read('/proc/self/root/proc/self/root@DIR/.env')",
        "os.chdir('@DIR'); read('/proc/self/cwd/.env')",
        "os.chdir('@DIR'); read('/proc/self/cwd/sub/../.env')",
        "read('/proc/thread-self/root@DIR/.env')",
        "os.chdir('@DIR'); read('/proc/thread-self/cwd/.env')",
        "read('/proc/%d/root@DIR/.env' % os.getpid())",
        "os.chdir('@DIR'); read('/proc/%d/cwd/.env' % os.getpid())",
        "read('/proc/%d/root@DIR/.env' % os.getppid())",
        "read('/proc/self/task/%d/root@DIR/.env' % os.getpid())",
        "os.chdir('@DIR'); read('/proc/self/task/%d/cwd/.env' % os.getpid())",
        "read('/proc/self/../self/root@DIR/.env')",
        "os.chdir('@DIR'); read('/proc/self/../%d/cwd/.env' % os.getpid())",
        "os.chdir('/proc/self'); read('root@DIR/.env')",
        "os.chdir('@DIR'); p = os.open('/proc/self', os.O_PATH); os.open('cwd/.env', 0, dir_fd=p)",
    ]);
}

#[test]
fn through_a_descriptor_of_its_directory() {
    refused(&[
        "os.open('.env', 0, dir_fd=os.open('@DIR', os.O_RDONLY))",
        "os.open('.env', 0, dir_fd=os.open('@DIR', os.O_PATH))",
        "os.open('../.env', 0, dir_fd=os.open('@DIR/sub', os.O_PATH))",
        "os.fchdir(os.open('@DIR', os.O_PATH)); read('.env')",
        "openat2('.env', dirfd=os.open('@DIR', os.O_PATH))",
        "read('/proc/self/fd/%d/.env' % os.open('@DIR', os.O_PATH))",
        "read('/dev/fd/%d/.env' % os.open('@DIR', os.O_RDONLY))",
        "read('/dev/fd/%d/../.env' % os.open('@DIR/sub', os.O_RDONLY))",
        "d = os.dup2(os.open('@DIR', os.O_PATH), 0); read('/dev/stdin/.env')",
        "d = os.open('@DIR', os.O_PATH); os.chdir('/proc/self/fd/%d' % d); read('.env')",
        "d = os.open('@DIR', os.O_PATH); f = os.open('/proc/self/fd', os.O_PATH); os.open('%d/.env' % d, 0, dir_fd=f)",
        "d = os.open('@DIR', os.O_PATH); t = os.open('/proc/self/fd/%d' % d, os.O_PATH); os.open('.env', 0, dir_fd=t)",
    ]);
}

// promise: files.10
#[test]
fn through_a_descriptor_that_only_names_it() {
    refused(&[
        "p = os.open('@DIR/.env', os.O_PATH); read('/proc/self/fd/%d' % p)",
        "p = os.open('@DIR/.env', os.O_PATH); read('/dev/fd/%d' % p)",
        "p = os.open('@DIR/.env', os.O_PATH); read('/proc/thread-self/fd/%d' % p)",
        "p = os.open('@DIR/.env', os.O_PATH); read('/proc/%d/fd/%d' % (os.getpid(), p))",
        "p = os.open('@DIR/.env', os.O_PATH); read('/proc/self/task/%d/fd/%d' % (os.getpid(), p))",
        "p = os.open('@DIR/.env', os.O_PATH); os.open('%d' % p, 0, dir_fd=os.open('/proc/self/fd', os.O_PATH))",
        "p = os.open('@DIR/.env', os.O_PATH); os.open('self/fd/%d' % p, 0, dir_fd=os.open('/proc', os.O_PATH))",
        "p = os.open('@DIR/.env', os.O_PATH); os.dup2(p, 0); read('/dev/stdin')",
        "p = os.open('@DIR/.env', os.O_PATH | os.O_NOFOLLOW); openat2('/proc/self/fd/%d' % p)",
        "p = os.open('.env', os.O_PATH, dir_fd=os.open('@DIR', os.O_PATH)); read('/proc/self/fd/%d' % p)",
        "p = os.open('@DIR/.env', os.O_PATH); os.chdir('/proc/self/fd'); read('./%d' % p)",
        "p = os.open('@DIR/.env', os.O_PATH); q = os.open('/proc/self/fd/%d' % p, os.O_PATH); read('/dev/fd/%d' % q)",
    ]);
}

#[test]
fn a_descriptor_that_only_names_it_is_handed_on_in_vain() {
    refused(&[
        "a, b = socket.socketpair(); p = os.open('@DIR/.env', os.O_PATH); socket.send_fds(a, [b'x'], [p]); \
         q = socket.recv_fds(b, 1, 1)[1][0]; read('/proc/self/fd/%d' % q)",
        "p = os.dup(os.open('@DIR/.env', os.O_PATH)); read('/proc/self/fd/%d' % p)",
    ]);
    shows_nothing(&[
        "p = os.open('@DIR/.env', os.O_PATH); shows(['cat', '/proc/self/fd/%d' % p], pass_fds=[p])",
        "p = os.open('@DIR/.env', os.O_PATH); shows(['cat', '/dev/fd/%d' % p], pass_fds=[p])",
        "p = os.open('@DIR', os.O_PATH); shows(['cat', '/proc/self/fd/%d/.env' % p], pass_fds=[p])",
        "p = os.open('@DIR/.env', os.O_PATH); shows(['cat', '/dev/stdin'], stdin=p)",
        "p = os.open('@DIR/.env', os.O_PATH); shows(['cat', '/proc/%d/fd/%d' % (os.getpid(), p)])",
    ]);
}

/// `shows` runs a program and expects the secret in what it prints.
fn shows_nothing(forms: &[&str]) {
    let shows = "def shows(*argv, **more):\n  \
                 expect(b'SECRET' in subprocess.run(*argv, stdout=-1, stderr=-2, **more).stdout)\n";
    let forms: Vec<String> = forms.iter().map(|form| format!("# {form}\n{shows}{form}")).collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in SUPERVISED {
        attempts(Probe::new(), SECRET, &forms).refused(profile, "EBADMSG");
    }
}

#[test]
fn by_programs() {
    shows_nothing(&[
        "shows(['cat', '@DIR/.env'])",
        "shows(['sh', '-c', 'read x < @DIR/.env; echo $x'])",
        "shows(['sh', '-c', 'exec 5< @DIR/.env; cat <&5'])",
        "shows(['sed', '-n', 'p', '@DIR/.env'])",
        "shows(['dd', 'status=none', 'if=@DIR/.env'])",
        "shows(['tail', '-c', '+1', '@DIR/.env'])",
        "shows(['grep', '-r', '.', '@DIR', '--include=.env'])",
        "shows(['tar', '-cf', '-', '-C', '@DIR', '.env'])",
        "shows(['sh', '-c', 'cat < @DIR/.env & wait'])",
        "shows(['setsid', 'sh', '-c', 'cat @DIR/.env'])",
    ]);
}

#[test]
fn by_executing_it_as_a_script() {
    // Interpreters open the script themselves; the loader maps what it is asked to.
    let script: &[(&str, &str)] = &[("script.pem", "#!/bin/sh\necho SECRET\n"), ("lib.key", "SECRET")];
    let shows = "expect(b'SECRET' in subprocess.run(%, stdout=-1, stderr=-2).stdout)";
    let forms = [
        "['sh', '@DIR/script.pem']",
        "['sh', '-c', '. @DIR/script.pem']",
        "['/lib64/ld-linux-x86-64.so.2', '/bin/sh', '@DIR/script.pem']",
        "['env', 'sh', '@DIR/script.pem']",
        "['sh', '-c', 'sh < @DIR/script.pem']",
    ];
    let forms: Vec<String> = forms.iter().map(|form| shows.replace('%', form)).collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in SUPERVISED {
        attempts(Probe::new(), script, &forms).refused(profile, "EBADMSG");
    }
}

#[test]
fn by_moving_its_bytes_elsewhere() {
    refused(&[
        "? f = os.open('@DIR/.env', 0); os.copy_file_range(f, os.open('/tmp', os.O_TMPFILE | os.O_RDWR), 6)",
        "f = os.open('@DIR/.env', 0); r, w = os.pipe(); os.splice(f, w, 6)",
        "f = os.open('@DIR/.env', 0); r, w = os.pipe(); os.sendfile(w, f, 0, 6)",
        "mmap.mmap(os.open('@DIR/.env', 0), 0, prot=mmap.PROT_READ)[:6]",
        "f = os.open('@DIR/.env', 0); os.preadv(f, [bytearray(6)], 0)",
        "import shutil; shutil.copyfile('@DIR/.env', os.devnull)",
    ]);
}

#[test]
fn whatever_pattern_makes_it_one() {
    let names = [
        ".env",
        ".env.local",
        ".envoy",
        "server.pem",
        "x.key",
        ".key",
        "secrets/token",
        "secrets/deep/er/token",
        "deep/secrets/x",
        "credentials",
        "credentials.json",
        "credentials-prod.yaml",
        // Their readers fold case.
        ".ENV",
        "A.PEM",
        "Secrets/x",
        "b.Key",
        "name with space.pem",
        "é.pem",
        "tab\\t.pem",
        "-.pem",
    ];
    for profile in SUPERVISED {
        let mut probe = Probe::new()
            .file("credentials.py", "no secret")
            .works("read('credentials.py')")
            .file("environment", "no secret")
            .works("read('environment')")
            .file("pem", "no secret")
            .works("read('pem')");
        for name in names {
            probe = probe
                .file(&format!("tree/{name}"), "SECRET")
                .attempt(&format!("read({:?})", format!("@ROOT/tree/{name}")));
        }
        probe.refused(profile, "EACCES");
    }
}

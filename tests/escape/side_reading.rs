//! What tells of a file without opening it: extended attributes, watches, the text of links, and `access`, which tells the
//! truth. Attributes and texts of links tell as much as `stat` and are open.

use super::cases::SUPERVISED;
use crate::common::Probe;

// promise: files.16
#[test]
fn directories_outside_are_not_watched() {
    let watch = |path: &str| format!("f = call(294, 0); call(254, f, {path}, 2) # inotify_add_watch");
    Probe::new()
        .file("~/dir/x", "x")
        .file(".env", "SECRET")
        .file("sub/x", "x")
        .works(&watch("'@ROOT'"))
        .works(&watch("'sub'"))
        .works(&watch("'/proc/self/cwd/sub'"))
        .attempt(&watch("'@HOME'"))
        .attempt(&watch("'@HOME/dir'"))
        .attempt(&watch("'../home'"))
        .attempt(&watch("'/proc/self/cwd/../home'"))
        .attempt(&watch("'/proc/self/fd/%d' % os.open('@HOME', os.O_PATH)"))
        .attempt(&watch("'@HOME/dir/x'"))
        .attempt(&watch("'.env'"))
        .attempt(&format!("os.symlink('@HOME', 'l'); {}", watch("'l'")))
        .attempt(&format!(
            "os.symlink('@HOME/dir', 'm'); os.chdir('m'); {}",
            watch("'.'")
        ))
        .refused("workspace", "EACCES|EPERM");
}

#[test]
fn nothing_is_watched_by_other_means() {
    let mut probe = Probe::new()
        .attempt("import fcntl; fcntl.fcntl(os.open('@ROOT', 0), 1026, 2) # F_NOTIFY")
        .attempt("call(72, os.open('@ROOT', 0), 1026 | 1 << 32, 2) # upper half")
        .reaches_the_kernel("call(300, 0, 0) # fanotify_init")
        .reaches_the_kernel("call(300, 0x200, 0) # FAN_REPORT_FID, for everybody")
        .reaches_the_kernel("call(301, -1, 0, 0, 0, 0) # fanotify_mark");
    probe = probe.reaches_the_kernel("call(298, bytes(128), 0, -1, -1, 0) # perf_event_open");
    for profile in ["workspace", "trusted"] {
        probe.refused(profile, "EINVAL|EPERM|EACCES");
    }
}

/// Every call that asks. 4 reads, 2 writes, 1 executes.
fn asks(path: &str, mode: u32) -> [String; 6] {
    [
        format!("call(21, '{path}', {mode}) # access"),
        format!("call(269, AT_FDCWD, '{path}', {mode}) # faccessat"),
        format!("call(439, AT_FDCWD, '{path}', {mode}, 0) # faccessat2"),
        format!("call(439, AT_FDCWD, '{path}', {mode}, 0x200) # AT_EACCESS"),
        format!("call(439, os.open('{path}', os.O_PATH), '', {mode}, 0x1000) # AT_EMPTY_PATH"),
        format!("call(21, '/proc/self/fd/%d' % os.open('{path}', os.O_PATH), {mode})"),
    ]
}

#[test]
fn asking_tells_the_truth() {
    let base = || {
        Probe::new()
            .file("plain", "p")
            .file(".env", "SECRET")
            .file(".envrc", "guarded")
            .file(".mcp.json", "{}")
            .file(".git/hooks/x", "hook")
            .file("secrets/x", "SECRET")
            .file("~/letter", "letter")
            .program("tool", "#!/bin/sh\n")
    };
    let with = |mut probe: Probe, closed: &[(&str, u32)], open: &[(&str, u32)]| {
        for (path, mode) in closed {
            for code in asks(path, *mode) {
                probe = probe.attempt(&code);
            }
        }
        for (path, mode) in open {
            for code in asks(path, *mode) {
                probe = probe.works(&code);
            }
        }
        probe
    };
    let closed: &[(&str, u32)] = &[
        (".env", 4),
        (".env", 2),
        (".env", 6),
        ("secrets/x", 4),
        (".envrc", 2),
        (".mcp.json", 2),
        (".git/hooks/x", 2),
        (".git/hooks", 2),
        ("@HOME/letter", 4),
        ("@HOME/letter", 2),
        ("@HOME", 2),
        ("/usr", 2),
    ];
    let open: &[(&str, u32)] = &[
        ("plain", 4),
        ("plain", 2),
        ("plain", 6),
        (".mcp.json", 4),
        (".git/hooks/x", 4),
        ("@ROOT", 2),
        ("/tmp", 2),
        ("tool", 1),
        ("tool", 5),
        ("/usr/bin/env", 1),
        ("/dev/null", 6),
    ];
    let closed: Vec<_> = closed
        .iter()
        .filter(|(path, _)| crate::common::is_root() || *path != "/usr")
        .copied()
        .collect();
    with(base(), &closed, open).refused("workspace", "EACCES|EROFS");
    with(
        base(),
        &[("plain", 2), ("@ROOT", 2), (".env", 4), ("@HOME/letter", 4)],
        &[("plain", 4), ("tool", 1)],
    )
    .refused("filesystem", "EACCES|EROFS");
}

fn links() -> Probe {
    Probe::new()
        .file("open", "open")
        .file("~/.ssh/y", "SECRET")
        .link("~/.ssh/x", "y")
        .link(".env", "kept")
}

#[test]
fn texts_of_links_and_attributes_tell_as_much_as_stat() {
    for profile in SUPERVISED {
        let probe = links()
            .works("expect(os.readlink('@HOME/.ssh/x') == 'y')")
            .works("expect(os.readlink('@ROOT/.env') == 'kept')")
            .answers("os.listxattr('@HOME/.ssh/y')", "ok|ENOTSUP", "ok|ENOTSUP")
            .answers(
                "os.getxattr('@HOME/.ssh/y', 'user.x')",
                "ENODATA|ENOTSUP",
                "ENODATA|ENOTSUP",
            )
            .attempt("open('@HOME/.ssh/x').read()");
        probe.refused(profile, "EACCES");
    }
}

#[test]
fn links_of_the_runs_own_processes_are_read_and_are_the_callers() {
    let own = [
        "expect(os.readlink('/proc/self') == str(os.getpid()))",
        "expect(os.readlink('/proc/self/cwd/../../../../../../../../../../proc/self') == str(os.getpid()))",
        "expect(os.readlink('', dir_fd=os.open('/proc/self', os.O_PATH | os.O_NOFOLLOW)) == str(os.getpid()))",
        "import threading; expect(os.readlink('/proc/thread-self') == '%d/task/%d' % (os.getpid(), threading.get_native_id()))",
        "import threading; told = []\n\
         def ask(): told.append(os.readlink('/proc/thread-self') == '%d/task/%d' % (os.getpid(), threading.get_native_id()))\n\
         thread = threading.Thread(target=ask); thread.start(); thread.join(); expect(told == [True])",
        "expect(os.readlink('/proc/self/exe') == os.path.realpath(sys.executable))",
        "expect(os.readlink('/proc/self/cwd') == os.getcwd())",
        "expect(os.readlink('/proc/self/root') == '/')",
        "expect(os.readlink('/proc/self/fd/%d' % os.open('open', 0)) == os.getcwd() + '/open')",
        "expect(os.readlink('/dev/fd/%d' % os.open('open', 0)) == os.getcwd() + '/open')",
        "r, w = os.pipe(); expect(os.readlink('/proc/self/fd/%d' % w).startswith('pipe:'))",
        "expect(os.readlink('/dev/stdout') == '/proc/self/fd/1')",
        "expect(os.readlink('/proc/mounts') == 'self/mounts')",
        "child = subprocess.Popen(['sleep', '60'])\n\
         wait_in_call(child.pid, 230)\n\
         try: expect('/bin/' in os.readlink('/proc/%d/exe' % child.pid)); os.readlink('/proc/%d/fd/0' % child.pid)\n\
         finally: child.kill()",
    ];
    for profile in ["workspace", "minimal"] {
        let probe = own.iter().fold(links(), |probe, code| match profile {
            "minimal" if code.contains("'open'") => probe,
            _ => probe.works(code),
        });
        probe.refused(profile, "works");
    }
}

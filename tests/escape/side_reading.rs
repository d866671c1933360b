//! What tells of a file without opening it: extended attributes, watches, the text of links, and `access`, which tells the
//! truth.

use super::cases::SUPERVISED;
use crate::common::{Probe, run};

/// Files outside the grants, secret files and an open one, all with an attribute.
fn tree() -> Probe {
    Probe::new()
        .file("~/letter", "letter")
        .file("~/dir/x", "x")
        .file("open", "open")
        .file("kept", "SECRET")
        .file(".env", "SECRET")
        .file(".envrc", "guarded")
        .file("sub/.env", "SECRET")
        .file("tool", "#!/bin/sh\n")
        .beside(
            "for path in '@HOME/letter', '@HOME/dir', '@ROOT/.env', '@ROOT/open', '@ROOT/sub/.env':\n  \
               try: os.setxattr(path, 'user.x', b'VALUE')\n  \
               except OSError: pass\n\
             ready()\n\
             time.sleep(60)\n",
        )
}

/// `value` and `names` read attributes by raw calls and expect what is there.
const ATTRIBUTES: &str = "\n\
    b = ctypes.create_string_buffer(64)\n\
    def value(number, *target): call(number, *target, 'user.x', b, 64); expect(b.value == b'VALUE')\n\
    def names(number, *target): call(number, *target, b, 64); expect(b'user.x' in b.raw)\n\
    def at(d, path, flags):\n  \
      call(464, d, path, flags, 'user.x', struct.pack('QII', ctypes.addressof(b), 64, 0), 16)\n  \
      expect(b.value == b'VALUE')\n";

const FORMS: &[&str] = &[
    "value(191, '@F') # getxattr",
    "value(192, '@F') # lgetxattr",
    "value(191, '/proc/self/root@F')",
    "value(191, '/proc/self/fd/%d' % os.open('@F', os.O_PATH))",
    "value(193, os.open('@F', 0)) # fgetxattr",
    "l = fresh('/tmp'); os.symlink('@F', l)\ntry: value(191, l)\nfinally: os.unlink(l)",
    "at(AT_FDCWD, '@F', 0) # getxattrat",
    "at(AT_FDCWD, '@F', 0x100) # getxattrat",
    "at(os.open('@F', 0), '', 0x1000) # AT_EMPTY_PATH",
    "names(194, '@F') # listxattr",
    "names(195, '@F') # llistxattr",
    "names(196, os.open('@F', 0)) # flistxattr",
    "names(194, '/proc/self/fd/%d' % os.open('@F', os.O_PATH))",
    "names(465, AT_FDCWD, '@F', 0) # listxattrat",
    "names(465, os.open('@F', 0), '', 0x1000) # AT_EMPTY_PATH",
    "names(196, os.dup(os.open('@F', 0))) # flistxattr",
];

/// What names an attempt.
fn first(form: &str) -> &str {
    form.lines().next().unwrap_or_default()
}

fn attributes_are_closed(profile: &str, files: &[&str]) {
    let mut probe = tree();
    for file in files {
        for form in FORMS {
            probe =
                probe.attempt_if_possible(&format!("# {} {file}{ATTRIBUTES}{form}", first(form)).replace("@F", file));
        }
    }
    // Anything but the value.
    probe.refused(profile, "EACCES|EPERM|ENODATA|ENOTSUP|EOPNOTSUPP|ENOENT|ENOSYS");
}

#[test]
fn attributes_of_files_outside_are_not_read() {
    attributes_are_closed("workspace", &["@HOME/letter", "@HOME/dir"]);
    attributes_are_closed("filesystem", &["@HOME/letter"]);
}

#[test]
fn attributes_of_secrets_are_not_read() {
    for profile in SUPERVISED {
        attributes_are_closed(profile, &["@ROOT/.env", "@ROOT/sub/.env"]);
    }
}

#[test]
fn attributes_of_files_that_may_be_read_are_read() {
    let mut probe = tree();
    for form in FORMS {
        let code = format!("# {}{ATTRIBUTES}{form}", first(form)).replace("@F", "@ROOT/open");
        probe = probe.answers_if_possible(&code, "ok", "ok");
    }
    probe.refused("workspace", "ok");
}

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

/// Every way to a link's text.
const TEXTS: &[&str] = &[
    "text(call(89, '@L', b, 64)) # readlink",
    "text(call(267, AT_FDCWD, '@L', b, 64)) # readlinkat",
    "text(call(267, os.open('@D', os.O_PATH), '@N', b, 64))",
    "text(call(267, os.open('@L', os.O_PATH | os.O_NOFOLLOW), '', b, 64)) # an empty path",
    "os.chdir('@D'); text(call(89, '@N', b, 64))",
    "os.chdir('@D'); text(call(89, './/../@P/./@N', b, 64))",
    "text(call(89, '/proc/self/root@L', b, 64))",
    "text(call(89, '/proc/self/fd/%d/@N' % os.open('@D', os.O_PATH), b, 64))",
    "os.chdir('@D'); text(call(89, '/proc/thread-self/cwd/@N', b, 64))",
    "l = fresh('/tmp'); os.symlink('@D', l)\ntry: text(call(89, l + '/@N', b, 64))\nfinally: os.unlink(l)",
    "expect(os.readlink('@L') == '@T')",
];

/// Adds all of them for a link of this text.
fn texts(mut probe: Probe, link: &str, target: &str, add: impl Fn(Probe, &str) -> Probe) -> Probe {
    let (directory, name) = link.rsplit_once('/').unwrap();
    let parent = directory.rsplit(['/', '@']).next().unwrap();
    let parent = match parent {
        "ROOT" => "root",
        "HOME" => "home",
        other => other,
    };
    for form in TEXTS {
        let form = form.replace("@L", link).replace("@D", directory).replace("@N", name);
        let form = form.replace("@P", parent).replace("@T", target);
        let buffer = format!(
            "b = ctypes.create_string_buffer(64)\n\
             def text(length): expect(b.raw[:length] == os.fsencode('{target}') and not any(b.raw[length:]))\n"
        );
        probe = add(
            probe,
            &format!("# {} {link}\n{buffer}{form}", form.lines().next().unwrap()),
        );
    }
    probe
}

fn links() -> Probe {
    let links = [
        ("~/.ssh/x", "y"),
        ("~/dir/outside", "letter"),
        ("~/dir/dangling", "nowhere"),
        ("~/dir/to-secret", "../.ssh/y"),
        ("~/dir/to-link", "outside"),
        ("~/dir/in", "@ROOT/open"),
        ("~/dir/above", "@ROOT/.."),
        ("~/dir/to-both", "in"),
        (".env", "kept"),
        ("within", "open"),
        ("dangling", "nowhere"),
        ("out", "@HOME/dir/letter"),
    ];
    let probe = Probe::new()
        .file("open", "open")
        .file("~/dir/letter", "letter")
        .file("~/.ssh/y", "SECRET");
    links
        .iter()
        .fold(probe, |probe, (name, target)| probe.link(name, target))
}

#[test]
fn the_text_of_a_link_with_a_secret_name_is_not_read() {
    for profile in SUPERVISED {
        let mut probe = links();
        for (link, text) in [("@HOME/.ssh/x", "y"), ("@ROOT/.env", "kept")] {
            probe = texts(probe, link, text, |probe, code| probe.attempt(code));
        }
        probe.refused(profile, "EACCES");
    }
}

#[test]
fn the_text_of_a_link_outside_is_not_read() {
    for (link, text) in [
        ("@HOME/dir/outside", "letter"),
        ("@HOME/dir/dangling", "nowhere"),
        ("@HOME/dir/to-secret", "../.ssh/y"),
        ("@HOME/dir/to-link", "outside"),
    ] {
        texts(links(), link, text, |probe, code| probe.attempt(code)).refused("workspace", "EACCES");
    }
}

#[test]
fn the_text_of_a_link_within_and_on_the_way_is_read() {
    let mut probe = links();
    for (link, text) in [
        ("@ROOT/within", "open"),
        ("@ROOT/dangling", "nowhere"),
        ("@ROOT/out", "@HOME/dir/letter"),
        ("@HOME/dir/in", "@ROOT/open"),
        ("@HOME/dir/to-both", "in"),
        ("@HOME/dir/above", "@ROOT/.."),
    ] {
        probe = texts(probe, link, text, Probe::works);
    }
    probe.refused("workspace", "works");
}

/// `realpath` asks of every component.
#[test]
fn what_is_no_link_answers_as_the_kernel_does() {
    let mut probe = links();
    for (code, errno) in [
        ("os.readlink('/')", "EINVAL"),
        ("os.readlink('/usr')", "EINVAL"),
        ("os.readlink('@HOME')", "EINVAL"),
        ("os.readlink('@HOME/dir/letter')", "EINVAL"),
        ("os.readlink('@HOME/.ssh')", "EINVAL"),
        ("os.readlink('@HOME/.ssh/y')", "EINVAL"),
        ("os.readlink('@HOME/dir/above/')", "EINVAL"),
        ("os.readlink('@HOME/.ssh/none')", "ENOENT"),
        ("os.readlink('')", "ENOENT"),
        ("os.readlink('', dir_fd=os.open('@HOME', os.O_PATH))", "ENOENT"),
        ("os.readlink('open/x')", "ENOTDIR"),
        ("os.readlink('open/')", "ENOTDIR"),
        ("os.readlink('x' * 256)", "ENAMETOOLONG"),
        ("os.readlink('./' * 2048)", "ENAMETOOLONG"),
        ("os.symlink('loop', 'loop'); os.readlink('loop/x')", "ELOOP"),
        ("os.readlink('x', dir_fd=77)", "EBADF"),
        ("os.readlink('/proc/self/fd/77')", "ENOENT"),
        ("call(89, 'within', bytes(9), 0)", "EINVAL"),
        ("call(89, 'within', bytes(9), -1)", "EINVAL"),
        ("call(89, 'within', bytes(9), 1 << 32)", "EINVAL"),
        ("call(89, 8, bytes(9), 9)", "EFAULT"),
        ("call(89, 'within', 8, 9)", "EFAULT"),
    ] {
        probe = probe.answers(code, errno, errno);
    }
    probe
        .works("b = ctypes.create_string_buffer(b'....'); expect(call(89, 'within', b, 2) == 2 and b.value == b'op..')")
        .works("b = ctypes.create_string_buffer(b'....'); expect(call(89, 'within', b, 1 << 32 | 3) == 3)")
        .refused("workspace", "works");
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

#[test]
fn a_refused_link_is_reported() {
    for profile in ["mcp-standard", "trusted"] {
        let ran = run()
            .profile(profile)
            .after("mkdir -p @HOME/.ssh; ln -s y @HOME/.ssh/x")
            .bash("readlink @HOME/.ssh/x")
            .reporting()
            .status(1)
            .any_stderr()
            .ends();
        let denials = ran.report()["denials"].clone();
        let link = ran.place.path("~/.ssh/x");
        assert_eq!(denials[0]["target"], link.to_str().unwrap(), "{profile}: {denials:#}");
        assert_eq!(denials[0]["access"], "read", "{denials:#}");
        assert!(
            denials[0]["syscall"].as_str().unwrap().starts_with("readlink"),
            "{denials:#}"
        );
    }
}

/// Compilers ask so of every directory above every file.
#[test]
fn what_is_no_link_answers_as_without_confinement() {
    let mut probe = links();
    for (path, answer) in [
        ("'/usr'", "EINVAL"),
        ("'/'", "EINVAL"),
        ("'//usr//lib/'", "EINVAL"),
        ("'/nowhere'", "ENOENT"),
        ("'/usr/nowhere/x'", "ENOENT"),
        ("'/etc/passwd'", "EINVAL"),
        ("'/etc/passwd/x'", "ENOTDIR"),
        ("os.getcwd()", "EINVAL"),
        ("os.getcwd() + '/nowhere'", "ENOENT"),
        ("os.getcwd() + '/../' + os.path.basename(os.getcwd())", "EINVAL"),
        ("'/usr/' + 'x' * 300", "ENAMETOOLONG"),
    ] {
        probe = probe.answers(&format!("os.readlink({path})"), answer, answer);
    }
    // However it is spelled, a process outside is none of the run's.
    for path in ["/proc/1", "//proc/1", "/usr/../proc/1", "/./proc/1/task"] {
        probe = probe.answers(&format!("os.readlink('{path}')"), "EINVAL", "EACCES");
    }
    // By a link of the run's own the entries are the caller's, not those of who looks.
    probe = probe.answers(
        "l = fresh('.'); os.symlink('/proc/self', l)\n\
         try: os.readlink(os.path.abspath(l) + '/fd')\n\
         finally: os.unlink(l)",
        "EINVAL",
        "EINVAL",
    );
    probe.refused("workspace", "works");
}

//! What tells of a file without opening it: extended attributes, watches, and `access`, which tells the truth.

use super::cases::SUPERVISED;
use crate::common::Probe;

/// Files outside the grants, secret files and an open one, all with an attribute.
fn tree() -> Probe {
    Probe::new()
        .file("~/letter", "letter")
        .file("~/dir/x", "x")
        .file("open", "open")
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

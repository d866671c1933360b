//! Mode, owner, times and attributes: changed only on files that may be written, by every call and every form.

use super::cases::{WRITING, attempts, works};
use crate::common::Probe;

const MODE: &[&str] = &[
    "call(90, '@F', 0o640); mode()",
    "f = os.open('@F', 0); call(91, f, 0o640); mode()",
    "call(268, AT_FDCWD, '@F', 0o640); mode()",
    "os.chmod('@N', 0o640, dir_fd=os.open('@DIR', os.O_PATH)); mode()",
    "? call(452, AT_FDCWD, '@F', 0o640, 0); mode()",
    "? call(452, AT_FDCWD, '@F', 0o640, 0x100); mode() # AT_SYMLINK_NOFOLLOW",
    "? call(452, os.open('@DIR', os.O_PATH), '@N', 0o640, 0); mode()",
    "? call(452, os.open('@F', 0), '', 0o640, 0x1000); mode() # AT_EMPTY_PATH",
    "? call(452, os.open('@F', os.O_PATH), '', 0o640, 0x1000); mode() # AT_EMPTY_PATH",
    "os.chmod('/proc/self/fd/%d' % os.open('@F', 0), 0o640); mode()",
    "os.chmod('/proc/self/fd/%d' % os.open('@F', os.O_PATH), 0o640); mode()",
    "os.chmod('/dev/fd/%d' % os.open('@F', os.O_PATH), 0o640); mode()",
    "os.chmod('/proc/self/root@F', 0o640); mode()",
    "os.chdir('@DIR'); os.chmod('@N', 0o640); mode()",
];

const OWNER: &[&str] = &[
    "call(92, '@F', os.getuid(), os.getgid()); changed()",
    "call(93, os.open('@F', 0), os.getuid(), os.getgid()); changed()",
    "call(94, '@F', os.getuid(), os.getgid()); changed()",
    "call(260, AT_FDCWD, '@F', os.getuid(), os.getgid(), 0); changed()",
    "call(260, AT_FDCWD, '@F', -1, os.getgid(), 0x100); changed()",
    "call(260, os.open('@DIR', os.O_PATH), '@N', -1, os.getgid(), 0); changed()",
    "call(260, os.open('@F', os.O_PATH), '', -1, os.getgid(), 0x1000); changed() # AT_EMPTY_PATH",
    "call(260, os.open('@F', 0), '', os.getuid(), -1, 0x1000); changed() # AT_EMPTY_PATH",
    "os.chown('/proc/self/fd/%d' % os.open('@F', os.O_PATH), os.getuid(), -1); changed()",
];

const TIMES: &[&str] = &[
    "call(132, '@F', struct.pack('qq', 7, 7)); times() # utime",
    "call(235, '@F', struct.pack('qqqq', 7, 0, 7, 0)); times() # utimes",
    "call(261, AT_FDCWD, '@F', struct.pack('qqqq', 7, 0, 7, 0)); times() # futimesat",
    "call(261, os.open('@DIR', os.O_PATH), '@N', struct.pack('qqqq', 7, 0, 7, 0)); times() # futimesat",
    "call(280, AT_FDCWD, '@F', struct.pack('qqqq', 7, 0, 7, 0), 0); times() # utimensat",
    "call(280, AT_FDCWD, '@F', struct.pack('qqqq', 7, 0, 7, 0), 0x100); times() # AT_SYMLINK_NOFOLLOW",
    "call(280, os.open('@DIR', os.O_PATH), '@N', struct.pack('qqqq', 7, 0, 7, 0), 0); times()",
    "call(280, os.open('@F', 0), 0, struct.pack('qqqq', 7, 0, 7, 0), 0); times() # of a descriptor",
    "? call(280, os.open('@F', os.O_PATH), '', struct.pack('qqqq', 7, 0, 7, 0), 0x1000); times() # AT_EMPTY_PATH",
    "call(261, os.open('@F', 0), 0, struct.pack('qqqq', 7, 0, 7, 0)); times() # futimesat of a descriptor",
    "os.utime('/proc/self/fd/%d' % os.open('@F', os.O_PATH), (7, 7)); times()",
];

const ATTRIBUTES: &[&str] = &[
    "? call(188, '@F', 'user.x', b'1', 1, 0); attribute() # setxattr",
    "? call(189, '@F', 'user.x', b'1', 1, 0); attribute() # lsetxattr",
    "? call(190, os.open('@F', 0), 'user.x', b'1', 1, 0); attribute() # fsetxattr",
    "? setxattrat(AT_FDCWD, '@F', 0); attribute()",
    "? setxattrat(os.open('@DIR', os.O_PATH), '@N', 0x100); attribute()",
    "? setxattrat(os.open('@F', 0), '', 0x1000); attribute() # AT_EMPTY_PATH",
    "? os.setxattr('/proc/self/fd/%d' % os.open('@F', os.O_PATH), 'user.x', b'1'); attribute()",
    "? os.setxattr('/proc/self/root@F', 'user.x', b'1'); attribute()",
];

const REMOVALS: &[&str] = &[
    "? call(197, '@F', 'user.old'); bare() # removexattr",
    "? call(198, '@F', 'user.old'); bare() # lremovexattr",
    "? call(199, os.open('@F', 0), 'user.old'); bare() # fremovexattr",
    "? call(466, AT_FDCWD, '@F', 0, 'user.old'); bare() # removexattrat",
    "? call(466, os.open('@DIR', os.O_PATH), '@N', 0x100, 'user.old'); bare() # removexattrat",
    "? call(466, os.open('@F', 0), '', 0x1000, 'user.old'); bare() # AT_EMPTY_PATH",
    "? os.removexattr('/proc/self/fd/%d' % os.open('@F', os.O_PATH), 'user.old'); bare()",
];

/// What the calls should have done is looked at afterwards.
const CHECKS: &str = "\n\
    def mode(): expect(os.stat('@F').st_mode & 0o7777 == 0o640)\n\
    def times(): expect(os.stat('@F').st_mtime == 7 == os.stat('@F').st_atime)\n\
    def changed(): expect(os.stat('@F').st_uid == os.getuid() and os.stat('@F').st_ctime > before)\n\
    def attribute(): expect('user.x' in os.listxattr('@F'))\n\
    def bare(): expect('user.old' not in os.listxattr('@F'))\n\
    def setxattrat(d, path, flags):\n  \
      v = ctypes.create_string_buffer(b'1'); s = struct.pack('QII', ctypes.addressof(v), 1, 0)\n  \
      return call(463, d, path, flags, 'user.x', s, 16)\n\
    before = os.stat('@F').st_ctime\n";

/// Outside: every file `name` has an attribute when the run begins. A change's time is that of the kernel's last tick, so
/// one passes before anything is changed again.
fn with_attributes(name: &str) -> Probe {
    Probe::new().beside(&format!(
        "import glob\n\
         for path in glob.glob('@ROOT/case-*/{name}'):\n  \
           try: os.setxattr(path, 'user.old', b'1')\n  \
           except OSError: pass\n\
         time.sleep(0.05)\n\
         ready()\n\
         time.sleep(60)\n"
    ))
}

fn filled(name: &str) -> Vec<String> {
    let forms = [MODE, OWNER, TIMES, ATTRIBUTES, REMOVALS].concat();
    let fill = |text: &str| text.replace("@F", &format!("@DIR/{name}")).replace("@N", name);
    forms
        .into_iter()
        .map(|form| {
            let (optional, code) = match form.strip_prefix("? ") {
                Some(code) => ("? ", code),
                None => ("", form),
            };
            format!("{optional}# {code}{}{}", fill(CHECKS), fill(code))
        })
        .collect()
}

fn refused(profile: &str, name: &str) {
    let files: &[(&str, &str)] = &[(name, "text")];
    let forms = filled(name);
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    attempts(with_attributes(name), files, &forms).refused(profile, "EACCES|EPERM");
}

// promise: files.5
#[test]
fn of_a_file_that_may_only_be_read() {
    refused("filesystem", "f");
    refused("mcp-standard", "f");
}

#[test]
fn of_a_guarded_file() {
    for profile in WRITING {
        refused(profile, ".gdbinit");
        refused(profile, ".git/hooks/x");
    }
}

#[test]
fn of_a_secret() {
    for profile in WRITING {
        // A secret can't be opened either, which is as good a refusal.
        refused(profile, ".env");
    }
}

#[test]
fn of_a_file_that_may_be_written_they_change() {
    let forms = filled("f");
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in WRITING {
        works(with_attributes("f"), &[("f", "text")], &forms).refused(profile, "ok");
    }
}

// promise: files.5
#[test]
fn of_a_file_outside_by_a_link_of_the_runs() {
    Probe::new()
        .file("~/letter", "text")
        .works("os.symlink('@HOME/letter', 'l'); os.lchown('l', -1, os.getgid()); os.unlink('l')")
        .attempt("os.symlink('@HOME/letter', 'l1'); os.chmod('l1', 0o600)")
        .attempt("os.symlink('@HOME/letter', 'l2'); os.chown('l2', -1, os.getgid())")
        .attempt("os.symlink('@HOME/letter', 'l3'); os.utime('l3', (1, 1))")
        .attempt_if_possible("os.symlink('@HOME/letter', 'l4'); os.setxattr('l4', 'user.x', b'1')")
        .attempt("os.symlink('@HOME', 'l5'); os.chmod('l5/letter', 0o600)")
        .attempt("os.chmod('../home/letter', 0o600)")
        .attempt("os.chmod('@HOME', 0o700)")
        .attempt("p = os.open('@HOME/letter', os.O_PATH); os.chmod('/proc/self/fd/%d' % p, 0o600)")
        .attempt("p = os.open('@HOME/letter', os.O_PATH); call(260, p, '', -1, os.getgid(), 0x1000)")
        .attempt_if_possible("p = os.open('@HOME/letter', os.O_PATH); call(452, p, '', 0o600, 0x1000)")
        .attempt("os.chmod('/proc/self/cwd/../home/letter', 0o600)")
        .refused("workspace", "EACCES|EPERM");
}

#[test]
fn flags_of_the_file_system_are_not_set_anywhere() {
    let files: &[(&str, &str)] = &[("f", "text"), (".mcp.json", "{}")];
    let mut forms = Vec::new();
    for (name, mode) in [("f", "os.O_RDWR"), ("f", "0"), (".mcp.json", "0")] {
        for (get, set, size) in [
            ("0x80086601", "0x40086602", 8),  // FS_IOC_GETFLAGS, SETFLAGS
            ("0x80086601", "0x140086602", 8), // the same, upper half
            ("0x801c581f", "0x401c5820", 28), // FS_IOC_FSGETXATTR, FSSETXATTR
            ("0x80087601", "0x40087602", 8),  // FS_IOC_GETVERSION, SETVERSION
        ] {
            forms.push(format!(
                "? f = os.open('@DIR/{name}', {mode}); b = ctypes.create_string_buffer({size}); \
                 call(16, f, {get}, b); call(16, f, {set}, b)"
            ));
        }
        forms.push(format!(
            "? f = os.open('@DIR/{name}', {mode}); s = ctypes.create_string_buffer(24); \
             call(468, f, '', s, 24, 0x1000); call(469, f, '', s, 24, 0x1000) # file_setattr"
        ));
    }
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    for profile in WRITING {
        attempts(Probe::new(), files, &forms).refused(profile, "EACCES|EPERM|ENOTTY|EOPNOTSUPP|ENOTSUP");
    }
}

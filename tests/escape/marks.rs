//! Opens with the mark that Landlock alone judges, put on by the attacker.

use super::cases::SUPERVISED;
use crate::common::{Probe, run};

/// Every way to open with the mark.
const FORMS: &[&str] = &[
    "shows(call(257, AT_FDCWD, '@F', 0, MARK)) # openat",
    "shows(call(2, '@F', 0, MARK)) # open",
    "shows(call(257, AT_FDCWD, '@F', 0o2000000 | 0o4000, MARK | 7 << 32)) # upper half",
    "shows(call(257, os.open('@D', os.O_PATH), '@N', 0, MARK))",
    "shows(call(257, AT_FDCWD, '/proc/self/fd/%d' % os.open('@F', os.O_PATH), 0, MARK))",
    "shows(call(257, AT_FDCWD, '/proc/self/root@F', 0, MARK))",
    "os.chdir('@D'); shows(call(257, AT_FDCWD, '/proc/thread-self/cwd/@N', 0, MARK))",
    "l = fresh('/tmp'); os.symlink('@F', l)\ntry: shows(call(257, AT_FDCWD, l, 0, MARK))\nfinally: os.unlink(l)",
    "l = fresh('/tmp'); os.symlink('@D', l)\ntry: shows(call(2, l + '/@N', 0, MARK))\nfinally: os.unlink(l)",
];

fn with(mut probe: Probe, file: &str, add: impl Fn(Probe, &str) -> Probe) -> Probe {
    let (directory, name) = file.rsplit_once('/').unwrap();
    for form in FORMS {
        let form = form.replace("@F", file).replace("@D", directory).replace("@N", name);
        let code = format!(
            "# {}\nMARK = {}\ndef shows(fd): expect(os.read(fd, 6) == b'SECRET')\n{form}",
            form.lines().next().unwrap(),
            0x5f0c_4ade_u32
        );
        probe = add(probe, &code);
    }
    probe
}

fn tree() -> Probe {
    Probe::new()
        .file("~/letter", "SECRET")
        .file("~/.ssh/id_ed25519", "SECRET")
        .file("plain", "SECRET")
}

// promise: files.19
#[test]
fn what_is_outside_is_not_read_with_the_mark() {
    for profile in ["workspace", "filesystem"] {
        let probe = with(tree(), "@HOME/letter", Probe::attempt);
        with(probe, "@HOME/.ssh/id_ed25519", Probe::attempt).refused(profile, "EACCES");
        with(tree(), "@ROOT/plain", Probe::works).refused(profile, "works");
    }
}

/// Where a tree that is written holds a secret no mark counts; around one in a tree that is only read it does.
// promise: files.19
#[test]
fn secrets_are_not_read_with_the_mark() {
    for profile in SUPERVISED {
        let tree = || {
            tree()
                .file(".env", "SECRET")
                .file("sub/.env", "SECRET")
                .file("sub/plain", "SECRET")
        };
        let probe = with(tree(), "@ROOT/.env", Probe::attempt);
        let probe = with(probe, "@ROOT/sub/.env", Probe::attempt);
        with(probe, "@HOME/.ssh/id_ed25519", Probe::attempt).refused(profile, "EACCES");
    }
}

// promise: files.19
#[test]
fn nothing_is_written_made_or_cut_with_the_mark() {
    const MARK: u32 = 0x5f0c_4ade;
    let mut probe = tree();
    for (number, at) in [(257, "AT_FDCWD, "), (2, "")] {
        for flags in [1, 2, 0o1000, 0o1001, 0o102] {
            probe = probe.attempt(&format!("call({number}, {at}'@HOME/letter', {flags}, {MARK})"));
        }
        probe = probe.attempt(&format!(
            "call({number}, {at}'@HOME', 0o20200000 | 2, {MARK}) # O_TMPFILE"
        ));
        probe = probe.attempt(&format!("call({number}, {at}fresh('@HOME'), 0o100, {MARK})"));
    }
    probe.refused("workspace", "EACCES|EPERM");
}

/// What was continued once by a path is continued again without a look: by a path of the base alone, not by a link of the run's.
#[test]
fn a_link_that_led_into_the_base_is_judged_anew_when_it_leads_elsewhere() {
    let code = "import ctypes, os, subprocess, sys\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        link = os.environ['TMPDIR'] + '/link'\n\
        def lead(to):\n\
        \x20   if os.path.lexists(link): os.unlink(link)\n\
        \x20   os.symlink(to, link)\n\
        def start():\n\
        \x20   try: return subprocess.run([link, 'started'], capture_output=True, text=True).stdout.strip()\n\
        \x20   except OSError as error: return error.strerror\n\
        def read(): return libc.syscall(257, -100, link.encode(), 0, 0) >= 0\n\
        lead('/usr/bin/echo'); print(start(), start(), read(), read(), os.access(link, os.R_OK))\n\
        lead(os.getcwd() + '/denied'); print(start())\n\
        lead('/etc/shadow'); print(read())\n";
    for trace in ["auto", "exact"] {
        let ran = run()
            .profile("workspace")
            .flags(["--trace", trace, "--deny", "./denied"])
            .program("denied", "#!/bin/sh\necho started anyway\n")
            .python(code)
            .stdout("started started True True True\nPermission denied\nFalse\n")
            .any_stderr()
            .reporting()
            .ends();
        let report = ran.report();
        let denials = report["denials"].as_array().unwrap();
        let is_told = |end: &str| {
            denials
                .iter()
                .any(|one| one["target"].as_str().is_some_and(|target| target.ends_with(end)))
        };
        assert!(is_told("/denied") && is_told("/etc/shadow"), "{trace}: {denials:?}");
    }
}

/// The supervisor and the launcher read a repository that the run writes.
#[test]
fn a_pipe_among_a_repositorys_packs_holds_nothing_up() {
    run()
        .profile("workspace")
        .file(".env", "A=1\n")
        .bash("git init -q . && mkfifo .git/objects/pack/x.idx && (cat .env || cat .env) 2>&1 | grep -c denied")
        .stdout("2\n")
        .any_stderr()
        .ends();
}

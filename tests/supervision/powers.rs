//! The supervisor isn't more powerful than it must be, and leaves its process as it was.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::common::{Probe, Run, is_root, run, skipped, tries};

#[test]
fn devices_are_never_made() {
    Probe::new()
        .attempt_if_possible("os.mknod('null', 0o20666, os.makedev(1, 3))")
        .attempt_if_possible("os.mknod('disk', 0o60600, os.makedev(7, 0))")
        .attempt_if_possible("call(133, 'at', 0o20666, os.makedev(1, 3))")
        .attempt_if_possible("d = os.open('.', os.O_PATH); os.mknod('relative', 0o20600, os.makedev(5, 0), dir_fd=d)")
        .attempt_if_possible(
            "os.mknod('/tmp/stockade-null', 0o20666, os.makedev(1, 3)); os.unlink('/tmp/stockade-null')",
        )
        .works("os.mknod('file', 0o100600); os.mkfifo('fifo'); os.mknod('fifo2', 0o10600)")
        .works("with socket.socket(socket.AF_UNIX) as s: s.bind('socket')")
        .works("os.mknod('node', 0o140600)")
        .refused("workspace", "EPERM");
}

#[test]
fn devices_keep_their_modes_owners_and_times() {
    // Bare, this changes nothing: what it sets is what is there.
    Probe::new()
        .attempt_if_possible("os.chmod('/dev/null', os.stat('/dev/null').st_mode & 0o7777)")
        .attempt_if_possible("os.chmod(os.open('/dev/null', os.O_RDWR), os.stat('/dev/null').st_mode & 0o7777)")
        .attempt_if_possible("os.chmod('/proc/self/fd/%d' % os.open('/dev/null', os.O_RDWR), 0o666)")
        .attempt_if_possible("os.symlink('/dev/null', 'l'); os.chmod('l', 0o666)")
        .attempt_if_possible("os.chown('/dev/null', 0, 0)")
        .attempt_if_possible("os.chown(os.open('/dev/null', os.O_RDWR), 0, 0)")
        .attempt_if_possible(
            "os.utime('/dev/null', ns=(os.stat('/dev/null').st_atime_ns, os.stat('/dev/null').st_mtime_ns))",
        )
        .works("write('file'); os.chmod('file', 0o600); os.utime('file', (1, 1)); os.chown('file', -1, -1)")
        .refused("workspace", "EPERM|EACCES");
}

// promise: privileges.2
#[test]
fn set_user_id_bits_are_never_set() {
    let mut probe = Probe::new().program("tool", "#!/bin/sh\n").file("plain", "plain");
    for mode in ["0o4755", "0o2755", "0o6711"] {
        for code in [
            "os.chmod('tool', MODE)",
            "os.chmod(os.open('tool', os.O_RDONLY), MODE)",
            "call(452, AT_FDCWD, 'tool', MODE, 0)",
            "os.chmod('@ROOT/tool', MODE)",
            "os.chmod('/proc/self/cwd/tool', MODE)",
            "n = fresh('.'); os.close(os.open(n, os.O_CREAT | os.O_WRONLY, MODE)); expect(os.stat(n).st_mode & 0o6000)",
            "n = fresh('.'); os.close(answer(libc.creat(n.encode(), MODE))); expect(os.stat(n).st_mode & 0o6000)",
            "n = fresh('.'); os.close(openat2(n, os.O_CREAT | os.O_WRONLY, mode=MODE)); expect(os.stat(n).st_mode & 0o6000)",
            "n = fresh('.'); os.mknod(n, 0o100000 | MODE); expect(os.stat(n).st_mode & 0o6000)",
            "f = os.open('.', os.O_TMPFILE | os.O_RDWR, MODE); expect(os.fstat(f).st_mode & 0o6000)",
        ] {
            probe = probe.attempt_if_possible(&code.replace("MODE", mode));
        }
    }
    probe
        .works("os.chmod('plain', 0o755); expect(os.stat('plain').st_mode & 0o7777 == 0o755)")
        .works("os.chmod('plain', 0o1644)")
        .refused("workspace", "EPERM|EACCES");
}

/// A run that says `begun`, has files made by several workers, and sleeps.
fn sleeping(umask: &str) -> (Child, Run) {
    let begun = run().profile("workspace").after(&format!("umask {umask}")).python(
        "import os, threading, time\n\
             def work(n):\n  \
               for i in range(200):\n    \
                 os.umask(n); open('f%d-%d' % (n, i), 'w').close(); open('f%d-%d' % (n, i)).close()\n\
             threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n\
             for t in threads: t.start()\n\
             for t in threads: t.join()\n\
             os.umask(0o111)\n\
             open('last', 'w').close()\n\
             print('begun', flush=True)\n\
             time.sleep(60)\n",
    );
    let mut child = begun
        .process()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "begun\n");
    (child, begun)
}

/// The status files of a process's threads, its first thread's first.
fn threads(pid: u32) -> Vec<String> {
    let mut list: Vec<u32> = fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
        .collect();
    list.sort_by_key(|thread| (*thread != pid, *thread));
    let read = |thread: &u32| fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap();
    list.iter().map(read).collect()
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or_default()
        .trim()
}

// promise: stockade.10
#[test]
fn the_supervisors_threads_have_no_linux_capabilities() {
    let (mut child, _begun) = sleeping("022");
    let all = threads(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    let workers: Vec<&String> = all
        .iter()
        .filter(|status| field(status, "Name:").starts_with("stockade-"))
        .collect();
    assert!(!workers.is_empty(), "there's no supervisor: {all:?}");
    for status in &workers {
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
            let value = u64::from_str_radix(field(status, set), 16).unwrap();
            assert_eq!(value, 0, "{set} of {}", field(status, "Name:"));
        }
        // The audit trail's starts the user's own alerts, which may be any program.
        if field(status, "Name:") != "stockade-audit" {
            assert_eq!(field(status, "NoNewPrivs:"), "1", "{}", field(status, "Name:"));
        }
    }
    // The program itself drops its own, too.
    for status in &all {
        assert_eq!(u64::from_str_radix(field(status, "CapEff:"), 16), Ok(0), "{status}");
    }
    let own = fs::read_to_string("/proc/self/status").unwrap();
    if u64::from_str_radix(field(&own, "CapEff:"), 16) == Ok(0) {
        skipped("an ordinary user has no Linux capabilities anyway");
    }
}

#[test]
fn the_launchers_umask_stays_as_it_was() {
    for umask in ["037", "000"] {
        let (mut child, begun) = sleeping(umask);
        let all = threads(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(field(&all[0], "Umask:"), format!("0{umask}"));
        use std::os::unix::fs::PermissionsExt;
        let last = fs::metadata(begun.place.path("last")).unwrap().permissions().mode();
        assert_eq!(last & 0o777, 0o666, "the run's own umask");
    }
}

/// Whether a thread is in a Landlock domain can't be seen from outside. What can be: that a link which changes all the
/// time never gets the supervisor to what the policy can't grant.
#[test]
fn the_supervisor_opens_nothing_that_the_policy_can_never_grant() {
    let code = "import os\n\
        refused = set()\n\
        for n in range(@TRIES):\n  \
          try: os.unlink('l')\n  \
          except OSError: pass\n  \
          os.symlink('@HOME/other' if n % 2 else '@ROOT/plain', 'l')\n  \
          try: refused.add(open('l').read())\n  \
          except OSError as error: refused.add(error.errno)\n\
        print(sorted(map(str, refused)))\n";
    run()
        .profile("workspace")
        .file("~/other", "other")
        .file("plain", "plain")
        .python(&code.replace("@TRIES", tries("1200", "2000")))
        .stdout("['13', 'plain']\n")
        .ends();
}

#[test]
fn files_made_as_root_are_roots_and_no_capability_helps() {
    if !is_root() {
        return skipped("only root has what the supervisor gives up");
    }
    // Another user's closed directory: root's right to look into it is a Linux capability.
    let begun = run()
        .profile("workspace")
        .file("closed/file", "x")
        .python(
            "import os\n\
             for what in (lambda: os.listdir('closed')), (lambda: open('closed/file').read()), \\\n    \
                 (lambda: os.chown('own', 12345, 12345)), (lambda: os.chmod('closed', 0o777)), \\\n    \
                 (lambda: os.mkdir('closed/new')), (lambda: os.unlink('closed/file')):\n  \
               try: what(); print('ok')\n  \
               except OSError as error: print(error.errno)\n\
             open('new', 'w').close(); print(os.stat('new').st_uid)",
        )
        .file("own", "x")
        .stdout("13\n13\n1\n1\n13\n13\n0\n");
    let closed = begun.place.path("closed");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(&closed, Some(12345), Some(12345)).unwrap();
    assert_eq!(fs::read_dir(&closed).unwrap().count(), 1);
    begun.ends();
}

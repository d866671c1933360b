//! `/proc` shows a run itself, and nothing of any process outside it.

use crate::common::{Asleep, Place, Probe, STOCKADE, finish, python};

const PROFILES: [&str; 4] = ["workspace", "filesystem", "mcp-standard", "trusted"];

const REFUSED: &str = "EACCES|EPERM|ENOENT|ESRCH";

fn refused(forms: &[String]) {
    let victim = Asleep::new();
    for profile in PROFILES {
        let mut probe = Probe::new()
            .file("plain", "plain")
            .works("for name in 'status', 'maps', 'environ', 'cmdline', 'stat': read('/proc/self/' + name)")
            .works("expect(os.listdir('/proc/self/fd')); expect(os.listdir('/proc/thread-self/fd'))")
            .works("read('/proc/%d/status' % os.getppid())");
        for form in forms {
            probe = probe.attempt_if_possible(&form.replace("@V", &victim.id().to_string()));
        }
        probe.refused(profile, REFUSED);
    }
}

// promise: processes.6
#[test]
fn files_of_a_process_outside() {
    let mut forms = Vec::new();
    for name in [
        "mem",
        "environ",
        "cmdline",
        "maps",
        "smaps",
        "status",
        "stat",
        "auxv",
        "io",
        "limits",
        "mountinfo",
        "pagemap",
        "task/@V/mem",
        "task/@V/environ",
        "task/@V/status",
        "net/unix",
        "fdinfo/0",
        "comm",
        "wchan",
        "syscall",
    ] {
        forms.push(format!("os.close(os.open('/proc/@V/{name}', 0))"));
    }
    forms.push("os.close(os.open('/proc/@V/mem', os.O_RDWR))".into());
    forms.push("os.close(os.open('/proc/@V/oom_score_adj', os.O_RDWR))".into());
    forms.push("os.close(os.open('/proc/@V/clear_refs', os.O_WRONLY))".into());
    for name in ["fd", "task", "ns", "map_files", "fdinfo", "."] {
        forms.push(format!("os.listdir('/proc/@V/{name}')"));
    }
    for name in ["exe", "cwd", "root", "fd/0", "ns/user"] {
        forms.push(format!("os.close(os.open('/proc/@V/{name}', 0))"));
        forms.push(format!("os.readlink('/proc/@V/{name}')"));
    }
    refused(&forms);
}

#[test]
fn detours_to_a_process_outside() {
    let forms = [
        "read('/proc/self/../@V/environ')",
        "read('/proc/thread-self/../../../@V/environ')",
        "read('/proc/self/task/../../@V/environ')",
        "os.chdir('/proc'); read('@V/environ')",
        "os.chdir('/proc/self'); read('../@V/environ')",
        "os.open('@V/environ', 0, dir_fd=os.open('/proc', os.O_PATH))",
        "os.open('environ', 0, dir_fd=os.open('/proc/@V', os.O_PATH))",
        "p = os.open('/proc/@V/environ', os.O_PATH); read('/proc/self/fd/%d' % p)",
        "read('/proc/self/root/proc/@V/environ')",
        "l = fresh('/tmp'); os.symlink('/proc/@V', l)\ntry: read(l + '/environ')\nfinally: os.unlink(l)",
        "l = fresh('/tmp'); os.symlink('/proc/self/../@V/mem', l)\ntry: os.open(l, 0)\nfinally: os.unlink(l)",
        "read('/proc/@V/root/proc/self/root/proc/@V/environ')",
        "read('/proc/@V/root@ROOT/plain')",
        "read('/proc/@V/cwd/Cargo.toml')",
        "read('/proc/@V/task/@V/root@ROOT/plain')",
        "openat2('/proc/@V/environ')",
        "openat2('@V/environ', resolve=8, dirfd=os.open('/proc', os.O_PATH))",
    ];
    refused(&forms.map(String::from));
}

/// Whatever has a number near ours and isn't ours: the launcher, its threads, the warden, other tests.
fn around(what: &str) -> String {
    format!(
        "# around: {what}\n\
         found = 0\n\
         for pid in range(max(2, os.getpid() - 300), os.getpid() + 20):\n  \
           if pid in (os.getpid(), os.getppid()) or not os.path.exists('/proc/%d' % pid): continue\n  \
           try: {what}\n  \
           except OSError as error:\n    \
             if error.errno in (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ESRCH): continue\n    \
             raise\n  \
           found += 1\n\
         if not found: raise OSError(errno.EACCES, '')"
    )
}

// promise: stockade.7
#[test]
fn stockades_own_processes() {
    let mut forms = Vec::new();
    for name in [
        "environ", "mem", "maps", "cmdline", "status", "task", "exe", "cwd", "root", "fd",
    ] {
        forms.push(around(&format!("os.close(os.open('/proc/%d/{name}' % pid, 0))")));
    }
    forms.push(around("os.readlink('/proc/%d/exe' % pid)"));
    forms.push(around("os.listdir('/proc/%d/fd' % pid)"));
    forms.push(around("read('/proc/%d/task/%d/status' % (pid, pid))"));
    refused(&forms);
}

#[test]
fn a_link_to_ones_own_memory_is_ones_own() {
    let own = |path: &str| {
        format!(
            "# {path}\n\
             l = fresh('/tmp'); os.symlink('{path}', l); b = ctypes.create_string_buffer(b'MINE')\n\
             try:\n  \
               m = os.open(l, 0); os.lseek(m, ctypes.addressof(b), 0); expect(os.read(m, 4) == b'MINE')\n\
             finally: os.unlink(l)"
        )
    };
    let is_me = |path: &str| {
        format!(
            "# {path}\n\
             l = fresh('/tmp'); os.symlink('{path}', l)\n\
             try: text = open(l + '/status').read()\n\
             finally: os.unlink(l)\n\
             expect('\\nPid:\\t%d\\n' % os.getpid() in text)"
        )
    };
    for profile in PROFILES {
        Probe::new()
            .works(&own("/proc/self/mem"))
            .works(&own("/proc/self/../self/mem"))
            .works(&own("/proc/self/root/proc/self/mem"))
            .works(&is_me("/proc/self"))
            .works(&is_me("/proc/thread-self"))
            .works(&is_me("/proc/self/task/../../self"))
            .works("expect('Pid:\\t%d\\n' % os.getpid() in open('/proc/self/status').read())")
            .works("expect('Pid:\\t%d\\n' % os.getpid() in open('/proc/thread-self/status').read())")
            .works("os.chdir('/proc'); expect('Pid:\\t%d\\n' % os.getpid() in open('self/status').read())")
            .refused(profile, "ok");
    }
}

#[test]
fn the_list_of_processes_has_no_others() {
    let victim = Asleep::new();
    for profile in PROFILES {
        Probe::new()
            .attempt(&format!("expect('{}' in os.listdir('/proc'))", victim.id()))
            .attempt(&format!("expect('{}' in os.listdir('/proc/self/../'))", victim.id()))
            .refused(profile, "EACCES|EPERM|EBADMSG");
    }
}

/// `/proc` mounted a second time, as in the tree of a container or a chroot.
// promise: processes.6
#[test]
fn another_mount_of_proc_is_no_way_round() {
    if !crate::common::is_root() {
        return crate::common::skipped("only root mounts");
    }
    let code = "import os\n\
        for name in 'self/environ', 'self/mem', 'thread-self/environ', 'self/maps', '1/cmdline', '@V/environ', '@V/mem',\\\n  \
            'self/task/%d/environ' % os.getppid(), '%d/environ' % os.getppid(), 'self/fd/0', 'self/exe':\n  \
          try: fd = os.open('proc2/' + name, 0)\n  \
          except OSError: continue\n  \
          print(name)\n\
        try: os.listdir('proc2'); print('list')\n\
        except OSError: pass\n";
    let victim = Asleep::new();
    let code = code.replace("@V", &victim.id().to_string());
    for profile in [None, Some("workspace"), Some("mcp-standard"), Some("trusted")] {
        let place = Place::new();
        std::fs::create_dir(place.path("proc2")).unwrap();
        let mut command = place.command("unshare");
        command.args(["-m", "sh", "-c", "mount -t proc proc proc2 && exec \"$@\"", "sh"]);
        if let Some(profile) = profile {
            command.args([STOCKADE.path(), "run", "--profile", profile, "--"]);
        }
        command.args([python(), "-I", "-c", &code]);
        let finished = finish(&mut command, b"");
        let opened = finished.stdout();
        match profile {
            None if opened.lines().count() < 8 => {
                return crate::common::skipped(&format!("nothing can be mounted here: {}", finished.stderr()));
            }
            None => {}
            Some(profile) => assert_eq!(opened, "", "under {profile}: {}", finished.stderr()),
        }
    }
}

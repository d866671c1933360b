//! `/proc` opened as a directory: it lists the run's own processes, and nothing can be done with the list but to read it.

use std::path::Path;

use crate::common::{Asleep, Place, STOCKADE, finish, run};

const PROFILES: [&str; 4] = ["minimal", "workspace", "mcp-standard", "trusted"];

/// Opens the list, and has a child that has answered: right after `exec` a process has no command line yet.
const OPENED: &str = "import os, subprocess\n\
     def numbers(names): return sorted(int(name) for name in names if name.isdigit())\n\
     child = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)\n\
     child.stdin.write(b'x'); assert child.stdout.read(1) == b'x'\n\
     mine = sorted([os.getpid(), child.pid])\n\
     proc = os.open('/proc', os.O_RDONLY | os.O_DIRECTORY)\n";

fn works(code: &str) {
    for profile in PROFILES {
        let code = format!("{OPENED}{code}\nchild.kill(); child.wait()\n");
        run().profile(profile).python(&code).ends();
    }
}

// promise: processes.7
#[test]
fn the_list_of_processes_has_those_of_the_run_and_no_other() {
    let outside = Asleep::new();
    works(&format!(
        "assert {} not in mine\n\
         assert os.access('/proc', os.R_OK | os.X_OK) and not os.access('/proc', os.W_OK)\n\
         assert numbers(os.listdir('/proc')) == numbers(os.listdir(proc)) == mine\n\
         os.chdir('/proc'); assert numbers(os.listdir('.')) == numbers(os.listdir('self/..')) == mine\n\
         os.fchdir(proc); assert numbers(os.listdir('.')) == mine\n\
         assert all(entry.is_dir() for entry in os.scandir('/proc') if entry.name.isdigit())\n\
         other = subprocess.Popen(['sleep', '60'])\n\
         assert numbers(os.listdir('/proc')) == sorted([*mine, other.pid])\n\
         other.kill(); other.wait()\n\
         assert numbers(os.listdir('/proc')) == mine",
        outside.id()
    ));
}

#[test]
fn what_is_relative_to_the_list_of_processes_is_in_proc() {
    works(
        "def text(name): return os.read(os.open(name, os.O_RDONLY, dir_fd=proc), 4096).decode()\n\
         assert text('%d/stat' % child.pid).startswith('%d (cat)' % child.pid)\n\
         assert text('self/stat').startswith('%d ' % os.getpid()) and text('./uptime')\n\
         assert os.path.join('/proc', os.readlink('self', dir_fd=proc)) in ('/proc/self', '/proc/%d' % os.getpid())\n\
         assert os.stat('self', dir_fd=proc).st_ino == os.stat('/proc/self').st_ino\n\
         assert os.stat(str(child.pid), dir_fd=proc).st_uid == os.getuid()\n\
         os.fchdir(proc)\n\
         assert open('%d/cmdline' % child.pid).read().startswith('cat')",
    );
}

#[test]
fn the_list_of_processes_cannot_be_changed() {
    works(
        "def fails(act):\n  \
           try: act()\n  \
           except OSError: return\n  \
           raise AssertionError\n\
         fails(lambda: os.mkdir('1', dir_fd=proc))\n\
         fails(lambda: os.symlink('/etc', '1', dir_fd=proc))\n\
         fails(lambda: os.rmdir(str(child.pid), dir_fd=proc))\n\
         fails(lambda: os.rename(str(child.pid), '1', src_dir_fd=proc, dst_dir_fd=proc))\n\
         fails(lambda: os.chmod(proc, 0o777))\n\
         fails(lambda: os.rmdir(os.readlink('/proc/self/fd/%d' % proc)))\n\
         os.fchdir(proc); fails(lambda: os.mkdir('1')); fails(lambda: open('1', 'w'))\n\
         assert numbers(os.listdir('/proc')) == mine",
    );
}

#[test]
fn nothing_of_the_list_of_processes_is_left_behind() {
    let code = "import os; print(os.readlink('/proc/self/fd/%d' % os.open('/proc', os.O_RDONLY)))";
    let ran = run().profile("workspace").python(code).any_stdout().ends();
    let list = ran.stdout();
    assert!(list.starts_with("/dev/shm/stockade-"), "{list}");
    assert!(!Path::new(list.trim()).exists(), "{list}");
}

#[test]
fn a_denial_closes_the_list_of_processes() {
    let begun = run()
        .profile("workspace")
        .flags(["--deny", "/proc"])
        .command(["ls", "/proc"]);
    begun.status(2).stderr_has("cannot open directory '/proc'").ends();
}

#[test]
fn a_run_inside_a_run_lists_its_own_processes_alone() {
    let place = Place::new();
    let list = "ls /proc | grep -c '^[0-9]'";
    let inner = format!("{list}; {STOCKADE} run --profile minimal -- sh -c \"{list}\"; {list}");
    let mut command = place.command(STOCKADE);
    command.args([
        "run",
        "--profile",
        "workspace",
        "--exec",
        STOCKADE.path(),
        "--",
        "sh",
        "-c",
        &inner,
    ]);
    let finished = finish(&mut command, b"");
    // The shell and `ls` and `grep`.
    assert_eq!(finished.stdout(), "3\n3\n3\n", "{}", finished.stderr());
}

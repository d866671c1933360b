//! Numbers and names that mean something else by the time they are used: terminals, descriptors, directories.

use std::process::Stdio;
use std::time::Duration;

use crate::common::{python, run, until};

/// The numbers of closed pseudo-terminals go to the next ones.
#[test]
fn the_number_of_a_closed_terminal_opens_no_other() {
    let code = "import os, time\n\
                masters = [os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY) for _ in range(24)]\n\
                for master in masters: os.close(master)\n\
                open('armed', 'w').close()\n\
                while not os.path.exists('victim'): time.sleep(0.01)\n\
                name = open('victim').read()\n\
                try: os.open(name, os.O_RDWR | os.O_NOCTTY); print('open')\n\
                except OSError: print('closed')";
    let begun = run().profile("workspace").python(code).stdout("closed\n");
    let root = begun.place.root.clone();
    let victim = std::thread::spawn(move || {
        assert!(until(Duration::from_secs(30), || root.join("armed").exists()));
        // Held until its input ends.
        let program = "import os, sys\n\
                       m, s = os.openpty(); open('victim.new', 'w').write(os.ttyname(s))\n\
                       os.rename('victim.new', 'victim'); sys.stdin.read()";
        let mut held = std::process::Command::new(python());
        held.args(["-I", "-c", program])
            .current_dir(&root)
            .stdin(Stdio::piped());
        held.spawn().unwrap()
    });
    begun.ends();
    let held = victim.join().unwrap().wait_with_output();
    assert!(held.unwrap().status.success());
}

/// While one name of a rename is walked slowly, what the other one means is changed.
#[test]
fn a_slow_path_lets_no_secret_slip_into_a_directory_of_packages() {
    let code = "import os, threading, time\n\
                os.makedirs('node_modules/p/d'); os.makedirs('node_modules/q'); os.makedirs('slow')\n\
                for i in range(30):\n  \
                  os.symlink('./' * 1900 + ('l%d' % (i + 1) if i < 29 else 'end'), 'slow/l%d' % i)\n\
                os.symlink('/proc/self/cwd/node_modules/q', 'slow/end')\n\
                def move():\n  \
                  try: os.rename('node_modules/p/d', 'slow/l0/got')\n  \
                  except OSError: pass\n\
                def moves():\n  \
                  try: return open('/proc/self/task/%d/syscall' % thread.native_id).read().startswith(('82 ', '264 ', '316 '))\n  \
                  except OSError: return True\n\
                thread = threading.Thread(target=move); thread.start()\n\
                while not moves(): time.sleep(0.001)\n\
                for old, new in (('node_modules/p', 'p2'), ('p2/d', 'p2/old'), ('s', 'p2/d')):\n  \
                  try: os.rename(old, new)\n  \
                  except OSError: pass\n\
                thread.join()\n\
                for name in ('node_modules/q/got/.env', 's/.env', 'p2/d/.env'):\n  \
                  try: print(open(name).read())\n  \
                  except OSError: print('-')";
    run()
        .profile("workspace")
        .file("s/.env", "SECRET")
        .python(code)
        .stdout("-\n-\n-\n")
        .ends();
}

/// A descriptor's number means another file to a thread with a table of its own.
// promise: files.10
#[test]
fn a_nameless_file_is_opened_no_wider_than_it_is_held() {
    let code = "import ctypes, os, threading\n\
                libc = ctypes.CDLL(None)\n\
                N = 50\n\
                made = os.open('x', os.O_CREAT | os.O_WRONLY); os.write(made, b'text')\n\
                os.dup2(os.open('x', os.O_PATH), N); os.unlink('x')\n\
                def other():\n  \
                  libc.unshare(0x400)\n  \
                  os.dup2(os.open('y', os.O_CREAT | os.O_RDWR), N)\n  \
                  try: print(os.read(os.open('/proc/%d/fd/%d' % (os.getpid(), N), os.O_RDONLY), 9))\n  \
                  except OSError: print('-')\n\
                thread = threading.Thread(target=other); thread.start(); thread.join()";
    run()
        .profile("workspace")
        .flags(["--trace", "exact"])
        .python(code)
        .stdout("-\n")
        .ends();
}

/// The report's directory can't be moved away, to have a link out of the root put in its place.
#[test]
fn the_directory_of_a_report_stays_where_it_is() {
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("report.json");
    std::fs::write(&kept, "kept").unwrap();
    let begun = run().file("out/x", "");
    let command = format!("mv out out2 && ln -s {} out", outside.path().display());
    begun
        .profile("workspace")
        .flags(["--report", "@ROOT/out/report.json"])
        .bash(&format!("{command}; test -L out || echo stays"))
        .stdout("stays\n")
        .stderr_has("mv: cannot move 'out'")
        .ends();
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
}

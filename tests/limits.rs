//! Limits hold for the whole tree, and the report and the exit code say which one ended a run.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::common::{Ran, UNDER_WORKSPACE, finish, python, run, skipped, slowness, until};

fn ended_by(ran: &Ran, limit: &str) {
    let report = ran.report();
    assert_eq!(report["status"], "resource_limit", "{report:#}");
    assert_eq!(report["limit"], limit, "{report:#}");
    assert!(report["enforcement"]["limit_noticed_by"].is_string(), "{report:#}");
}

const BUSY: &str = "while True: pass";

#[test]
fn the_cpu_limit_ends_a_busy_program() {
    let begun = run().flags(["--cpu-limit", "1s"]).python(BUSY).reporting();
    let process = finish(&mut begun.process(), b"");
    // SIGXCPU by the kernel, or SIGKILL by the launcher: the first to look.
    let code = process.status.code().unwrap();
    assert!([128 + 24, 128 + 9].contains(&code), "{code}");
    assert_eq!(
        process.stderr(),
        "stockade: the run was ended past its cpu limit (`--cpu-limit`)\n"
    );
}

// promise: limits.3
#[test]
fn the_cpu_limit_counts_the_whole_tree() {
    let code = "import os, time\n\
                for _ in range(3):\n  \
                  if os.fork() == 0:\n    \
                    while True: pass\n\
                time.sleep(60)";
    let ran = run()
        .flags(["--cpu-limit", "1s"])
        .python(code)
        .reporting()
        .status(137)
        .stderr("stockade: the run was ended past its cpu limit (`--cpu-limit`)\n")
        .ends();
    ended_by(&ran, "cpu");
}

#[test]
fn the_cpu_limit_counts_processes_that_have_ended() {
    let code = "import subprocess\n\
                while True: subprocess.run(['sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'])";
    let ran = run()
        .flags(["--cpu-limit", "1s", "--time-limit", "30s"])
        .python(code)
        .reporting()
        .status(137)
        .any_stderr()
        .ends();
    ended_by(&ran, "cpu");
}

/// Allocates in steps, so that somebody who looks now and then can see it; what comes then follows.
const HUNGRY: &str = "import time\n\
    held = []\n\
    for _ in range(40):\n  \
      held.append(b'x' * (10 << 20))\n  \
      time.sleep(0.02)\n";

#[test]
fn the_memory_limit_ends_a_hungry_program() {
    let ran = run()
        .flags(["--memory-limit", "100M"])
        .python(&format!("{HUNGRY}time.sleep(60)"))
        .reporting()
        .status(137)
        .stderr("stockade: the run was ended past its memory limit (`--memory-limit`)\n")
        .ends();
    ended_by(&ran, "memory");
    run()
        .flags(["--memory-limit", "1G"])
        // It is looked at a few times.
        .python(&format!("{HUNGRY}time.sleep(0.5)\nprint('had it all')"))
        .stdout("had it all\n")
        .ends();
}

// promise: limits.1
#[test]
fn the_memory_limit_counts_the_whole_tree() {
    let code = "import os, time\n\
                for _ in range(4):\n  \
                  if os.fork() == 0:\n    \
                    held = b'x' * (50 << 20)\n    \
                    time.sleep(60)\n\
                time.sleep(60)";
    let ran = run()
        .flags(["--memory-limit", "150M"])
        .python(code)
        .reporting()
        .status(137)
        .any_stderr()
        .ends();
    ended_by(&ran, "memory");
}

/// What no process has mapped, what several may share, and children that grow together: `tools/benches/limits.py` measures how
/// far past the limit each comes.
// promise: limits.1
#[test]
fn the_memory_limit_counts_memory_files_and_shared_memory_and_children_that_grow_together() {
    let megabyte = "import os, mmap, time\nsome = b'x' * (1 << 20)\n";
    for code in [
        "file = os.memfd_create('a')\nfor _ in range(2000): os.write(file, some)",
        "files = []\nfor _ in range(900):\n  files.append(os.memfd_create('a')); os.write(files[-1], some)",
        "kept = []\nfor _ in range(2000): kept.append(mmap.mmap(-1, 1 << 20)); kept[-1][:] = some",
        "file = os.open('/dev/shm/stockade-%d' % os.getpid(), os.O_CREAT | os.O_RDWR)\n\
         for _ in range(2000): os.write(file, some)",
        "for _ in range(8):\n  if os.fork() == 0:\n    kept = []\n    for _ in range(300):\n      \
         kept.append(mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)); kept[-1][:] = some\n    \
         time.sleep(60)",
    ] {
        let ran = run()
            .profile("workspace")
            .flags(["--memory-limit", "100M"])
            .python(&format!("{megabyte}{code}\ntime.sleep(60)"))
            .reporting()
            .status(137)
            .stderr("stockade: the run was ended past its memory limit (`--memory-limit`)\n")
            .ends();
        ended_by(&ran, "memory");
    }
}

#[test]
fn workers_that_share_their_memory_live_under_the_limit() {
    // 60M in each of five, but the same 60M. They live long enough to be looked at together.
    let code = "import os, time\n\
                held = b'x' * (60 << 20)\n\
                children = [os.fork() for _ in range(4)] if True else []\n";
    let code = format!(
        "{}for child in children:\n  os.waitpid(child, 0)\nprint('done')",
        code.replace(
            "children = [os.fork() for _ in range(4)] if True else []",
            "children = []\nfor _ in range(4):\n  child = os.fork()\n  if child == 0:\n    time.sleep(1)\n    \
             os._exit(0)\n  children.append(child)",
        )
    );
    run()
        .flags(["--memory-limit", "200M"])
        .python(&code)
        .stdout("done\n")
        .ends();
}

#[test]
fn the_open_files_limit_fails_the_call() {
    run()
        .flags(["--open-files-limit", "32"])
        .python(
            "import errno\n\
             held = []\n\
             try:\n  \
               while True: held.append(open('/dev/null'))\n\
             except OSError as error: print(errno.errorcode[error.errno], 20 < len(held) < 32)",
        )
        .stdout("EMFILE True\n")
        .ends();
}

// promise: limits.6
#[test]
fn limits_cannot_be_raised_from_inside() {
    run()
        .flags([
            "--open-files-limit",
            "32",
            "--file-size-limit",
            "1M",
            "--cpu-limit",
            "10s",
        ])
        .python(
            "import resource as r\n\
             for what in r.RLIMIT_NOFILE, r.RLIMIT_FSIZE, r.RLIMIT_CPU, r.RLIMIT_CORE:\n  \
               try: r.setrlimit(what, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print('raised')\n  \
               except (ValueError, OSError): print('kept')",
        )
        .stdout("kept\nkept\nkept\nkept\n")
        .ends();
}

#[test]
fn the_file_size_limit_fails_the_write_or_ends_the_program() {
    let fill = "import os\n\
                try:\n  \
                  with open(os.environ['HOME'] + '/tmpbig', 'wb') as file: file.write(bytes(3 << 20))\n\
                except OSError as error: print(error.strerror)";
    run()
        .profile("readonly")
        .flags(["--file-size-limit", "1M"])
        .python(fill)
        .stdout("File too large\n")
        .ends();
    let ran = run()
        .profile("readonly")
        .flags(["--file-size-limit", "1M"])
        .bash("exec head -c 3M /dev/zero > $HOME/big")
        .reporting()
        .status(128 + 25)
        .any_stderr()
        .ends();
    ended_by(&ran, "file-size");
    run()
        .profile("readonly")
        .flags(["--file-size-limit", "4M"])
        .python(fill)
        .ends();
}

// promise: limits.5
#[test]
fn the_output_is_cut_at_the_byte() {
    let ran = run()
        .flags(["--output-limit", "1000B"])
        .bash("head -c 5000 /dev/zero | tr '\\0' x; sleep 60")
        .stdout(&"x".repeat(1000))
        .reporting()
        .status(137)
        .stderr("stockade: the run was ended past its output limit (`--output-limit`); the output is cut\n")
        .ends();
    ended_by(&ran, "output");
    let report = ran.report();
    assert_eq!(report["resources"]["output_cut"], true);
    assert_eq!(report["resources"]["stdout_bytes"], 1000);
}

#[test]
fn the_output_limit_counts_both_streams() {
    let ran = run()
        .flags(["--output-limit", "1000B"])
        .python(
            "import array, fcntl, os, termios, time\n\
             os.write(1, b'%600s' % b'x')\n\
             unread = array.array('i', [1])\n\
             while unread[0]: fcntl.ioctl(1, termios.FIONREAD, unread); time.sleep(0.01)\n\
             os.write(2, b'%600s' % b'y')\n\
             time.sleep(60)",
        )
        .stdout(&format!("{:>600}", "x"))
        .stderr_has(&" ".repeat(400))
        .reporting()
        .status(137)
        .ends();
    let report = ran.report();
    assert_eq!(report["resources"]["stdout_bytes"], 600);
    assert_eq!(report["resources"]["stderr_bytes"], 400);
}

#[test]
fn output_up_to_the_limit_passes_whole() {
    let ran = run()
        .flags(["--output-limit", "1000B"])
        .bash("printf %1000s x")
        .stdout(&format!("{:>1000}", "x"))
        .reporting()
        .ends();
    let report = ran.report();
    assert_eq!(report["status"], "completed");
    assert_eq!(report["resources"]["output_cut"], false);
    assert_eq!(report["resources"]["stdout_bytes"], 1000);
}

#[test]
fn the_time_limit_ends_a_sleeper() {
    let ran = run()
        .flags(["--time-limit", "300ms"])
        .command(["sleep", "60"])
        .reporting()
        .status(124)
        .stderr("stockade: the run was ended past its time limit (`--time-limit`)\n")
        .ends();
    let report = ran.report();
    assert_eq!(report["status"], "time_limit");
    assert_eq!(report["limit"], "time");
    let duration = report["duration_ms"].as_u64().unwrap();
    assert!((300..40_000).contains(&duration), "{duration}");
}

#[test]
fn huge_limits_are_no_limits() {
    run()
        .flags([
            "--time-limit",
            "1000000h",
            "--cpu-limit",
            "1000000h",
            "--memory-limit",
            "8000000T",
        ])
        .any_stderr()
        .ends();
}

#[test]
fn a_size_needs_its_unit() {
    for flag in ["--memory-limit", "--disk-limit", "--file-size-limit", "--output-limit"] {
        run()
            .flags([flag, "256"])
            .status(125)
            .stderr_has("`256` has no unit\n\nhint: write `256M` for mebibytes, or `K`, `G`, `T` or `B` for bytes\n")
            .ends();
    }
    for size in ["256M", "256MB", "256 MiB"] {
        run().flags(["--output-limit", size]).ends();
    }
}

// promise: limits.4
#[test]
fn the_disk_limit_ends_a_run_that_fills_its_root() {
    let code = "import os, time\n\
                for i in range(200):\n  \
                  open('part%d' % i, 'wb').write(os.urandom(1 << 20)); time.sleep(0.01)\n\
                time.sleep(60)";
    let ran = run()
        .profile("workspace")
        .flags(["--disk-limit", "20M"])
        .python(code)
        .reporting()
        .status(137)
        .stderr("stockade: the run was ended past its disk limit (`--disk-limit`)\n")
        .ends();
    ended_by(&ran, "disk");
}

/// The kernel refuses to make one file larger than all may be; many are looked at while they are written. Space isn't
/// taken without writing.
#[test]
fn no_file_is_larger_than_the_disk_limit() {
    let code = "import os, signal, errno\n\
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
                file = os.open('one', os.O_CREAT | os.O_RDWR)\n\
                try: os.pwrite(file, b'x', 21 << 20)\n\
                except OSError as error: print(errno.errorcode[error.errno])\n\
                import ctypes\n\
                libc = ctypes.CDLL(None, use_errno=True)\n\
                print(libc.fallocate(file, 0, ctypes.c_long(0), ctypes.c_long(1 << 20)), \
                      errno.errorcode[ctypes.get_errno()])\n\
                os.posix_fallocate(file, 0, 1 << 20)\n\
                print(os.fstat(file).st_size)";
    run()
        .profile("workspace")
        .flags(["--disk-limit", "20M"])
        .python(code)
        .stdout("EFBIG\n-1 ENOTSUP\n1048576\n")
        .ends();
}

/// Gigabytes take a moment, so what is short has to be known before; what a file has already takes nothing.
#[test]
fn space_is_allocated_where_that_leaves_enough() {
    let code = "import ctypes, errno, os\n\
                libc = ctypes.CDLL(None, use_errno=True)\n\
                def takes(file, size, mode=0):\n  \
                  failed = libc.fallocate(file, mode, ctypes.c_long(0), ctypes.c_long(size))\n  \
                  return errno.errorcode[ctypes.get_errno()] if failed else 'ok'\n\
                file = os.open('f', os.O_CREAT | os.O_RDWR)\n\
                space = os.statvfs('.')\n\
                free = space.f_bavail * space.f_frsize\n\
                print(*[takes(file, size) for size in (8192, 1 << 20, 1 << 20, 70 << 20)], takes(file, free, 1))\n\
                found = os.stat('f')\n\
                print(found.st_size == 70 << 20, found.st_blocks * 512 < 80 << 20, takes(file, 1 << 20, 3), takes(os.pipe()[1], 1 << 20))\n\
                memory = os.memfd_create('m')\n\
                print(takes(memory, 1 << 20), os.fstat(memory).st_size, takes(memory, 1 << 40))";
    let begun = run().profile("workspace").python(code);
    let kind = finish(begun.place.command("stat").args(["-f", "-c", "%T", "."]), b"").stdout();
    if kind.trim() == "tmpfs" {
        return skipped("the tests' directory is memory here");
    }
    begun
        .stdout("ok ok ok ok ENOSPC\nTrue True ok ESPIPE\nok 1048576 ENOTSUP\n")
        .ends();
}

#[test]
fn the_disk_limit_counts_what_was_written_last_and_leaves_less_alone() {
    let write = |size: &str| format!("open('x', 'wb').write(b'x' * ({size}))");
    let begun = || run().profile("workspace").flags(["--disk-limit", "20M"]);
    begun().python(&write("10 << 20")).ends();
    let ran = begun()
        .python(&format!(
            "{}; {}",
            write("19 << 20"),
            write("19 << 20").replace("'x'", "'y'")
        ))
        .reporting()
        .status(137)
        .stderr("stockade: the run was ended past its disk limit (`--disk-limit`)\n")
        .ends();
    ended_by(&ran, "disk");
}

/// A walk of a large tree takes long, and the run is held still meanwhile. It goes on as if nothing had been.
#[test]
fn a_run_beside_which_a_disk_is_filled_is_held_for_a_walk_and_goes_on() {
    const FILES: usize = 10_000;
    // Without `/tmp`, where other tests write.
    let flags = ["--write", "./", "--disk-limit", "1M"];
    let begun = run().profile("readonly").flags(flags).python(
        "import os, subprocess, sys, time\n\
         from threading import Thread\n\
         open('filling', 'w')\n\
         def child():\n  \
           pid = os.fork()\n  \
           if pid == 0:\n    \
             until = time.monotonic() + 0.2\n    \
             while time.monotonic() < until: open('mine', 'a').write('x')\n    \
             os._exit(7)\n  \
           return os.waitpid(pid, os.WUNTRACED)[1]\n\
         statuses, words = set(), set()\n\
         while not os.path.exists('filled') or len(words) < 20:\n  \
           statuses.add(child())\n  \
           words.add(subprocess.run(['echo', str(len(words))], capture_output=True).stdout)\n\
         print(statuses, len(words))\n",
    );
    let many = begun.place.path("many");
    std::fs::create_dir(&many).unwrap();
    for number in 0..FILES {
        std::fs::write(many.join(number.to_string()), "").unwrap();
    }
    // On the same file system, and not in the run's trees.
    let (filling, filled) = (begun.place.path("filling"), begun.place.path("filled"));
    let beside = begun.place.home.join("large");
    let filler = std::thread::spawn(move || {
        assert!(until(Duration::from_secs(30), || filling.exists()));
        std::fs::write(beside, vec![1; 4 << 20]).unwrap();
        std::fs::write(filled, "").unwrap();
    });
    begun.stdout("{1792} 20\n").ends();
    filler.join().unwrap();
}

/// In a directory that was closed, only mapped, and on their way through a socket.
#[test]
fn the_disk_limit_counts_what_is_hidden() {
    let prelude = "import array, os, socket, time\n\
                   def make(name): return os.open(name, os.O_CREAT | os.O_RDWR)\n\
                   def fill(file):\n  \
                     for _ in range(16): os.write(file, os.urandom(1 << 20)); time.sleep(0.01)\n";
    // Many times the limit: here the file system's own numbers decide, from which the tests beside this one take what they remove.
    for hides in [
        "os.mkdir('d')\n\
         files = [make('d/%d' % i) for i in range(12)]\n\
         os.chmod('d', 0)\n\
         for file in files: fill(file); os.close(file)\n",
        // It can be listed, and nothing in it can be looked at.
        "os.mkdir('l')\n\
         files = [make('l/%d' % i) for i in range(12)]\n\
         os.chmod('l', 0o600)\n\
         for file in files: fill(file); os.close(file)\n",
        "maps = []\n\
         for i in range(12):\n  \
           file = make('m'); fill(file); maps.append(mapped(file)); os.unlink('m'); os.close(file)\n",
        "held = []\n\
         for i in range(12):\n  \
           file = make('s'); os.unlink('s'); fill(file); held.append(socket.socketpair())\n  \
           held[-1][0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file]))]); os.close(file)\n",
    ] {
        // Python's own mapping keeps a descriptor.
        let mapped = "import ctypes\n\
                      libc = ctypes.CDLL(None)\n\
                      libc.mmap.restype = ctypes.c_void_p\n\
                      libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]\n\
                      def mapped(file): return libc.mmap(None, 8 << 20, 1, 1, file, 0)\n";
        let code = format!("{prelude}{mapped}{hides}time.sleep(60)");
        let ran = run()
            .profile("workspace")
            .flags(["--disk-limit", "20M"])
            .python(&code)
            .reporting()
            .status(137)
            .stderr("stockade: the run was ended past its disk limit (`--disk-limit`)\n")
            .ends();
        ended_by(&ran, "disk");
    }
}

#[test]
fn the_process_limit_counts_threads_and_refuses_with_the_kernel_s_error() {
    let code = "import ctypes, errno, os, threading\n\
                held, stop = [], threading.Event()\n\
                try:\n  \
                  for _ in range(450):\n    \
                    one = threading.Thread(target=stop.wait)\n    \
                    one.start()\n    \
                    held.append(one)\n\
                except RuntimeError: pass\n\
                print(len(held))\n\
                try: os.fork()\n\
                except OSError as error: print(errno.errorcode[error.errno])\n\
                stop.set()\n\
                for one in held: one.join()\n\
                held[0] = threading.Thread(target=print, args=['again'])\n\
                held[0].start()";
    let ran = run()
        .flags(["--process-limit", "64"])
        .python(code)
        .stdout("63\nEAGAIN\nagain\n")
        .any_stderr()
        .reporting()
        .ends();
    let report = ran.report();
    let denials = report["denials"].as_array().unwrap();
    assert!(denials.iter().any(|denial| denial["target"] == "process"), "{report:#}");
}

/// Each ends by itself after a while, for the machine's sake.
// promise: limits.2
#[test]
fn a_fork_bomb_under_a_shipped_profile_is_held() {
    let beginning = "import os, threading, time\nend = time.time() + 3\nwhile time.time() < end:\n";
    for bomb in [
        "  try: os.fork()\n  except OSError: pass",
        "  try:\n    if os.fork() == 0: time.sleep(3); os._exit(0)\n  except OSError: pass",
        "  try: threading.Thread(target=time.sleep, args=(3,)).start()\n  except RuntimeError: pass",
    ] {
        let ran = run()
            .profile("minimal")
            .python(&format!("{beginning}{bomb}"))
            .reporting()
            .any_status()
            .any_stderr()
            .ends();
        let report = ran.report();
        // A control group refuses, and the run goes on.
        if report["enforcement"]["limits_by"] == "control group" {
            let denials = report["denials"].as_array().unwrap();
            assert!(denials.iter().any(|denial| denial["target"] == "process"), "{report:#}");
        } else {
            // An ordinary user's is refused by the kernel as well, and sooner where others of that user want room.
            let held = report["resources"]["processes"].as_u64().unwrap() <= 614;
            assert!(report["limit"] == "processes" || held, "{report:#}");
        }
    }
}

#[test]
fn what_is_nowhere_to_be_seen_counts_too() {
    let memory = [
        "import mmap\nm = mmap.mmap(-1, 900 << 20)\nfor at in range(0, len(m), 1 << 20):\n  \
         m[at:at + (1 << 20)] = bytes(1 << 20); m.madvise(mmap.MADV_DONTNEED, at, 1 << 20)\nimport time; time.sleep(9)",
        "import os, time\nfor n in range(60):\n  f = os.open('/dev/shm/stockade-%d-%d' % (os.getpid(), n), os.O_RDWR | os.O_CREAT)\n  \
         os.write(f, bytes(16 << 20)); os.close(f)\ntime.sleep(9)",
        // A page of tables for each 2 MiB that were only read.
        "import mmap, time\nm = mmap.mmap(-1, 200 << 30, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)\n\
         for at in range(0, len(m), 2 << 20): m[at]\ntime.sleep(9)",
        "import os, socket, time\na, b = socket.socketpair()\nfor _ in range(60):\n  f = os.memfd_create('f')\n  \
         os.write(f, bytes(16 << 20)); socket.send_fds(a, [b'x'], [f]); os.close(f)\ntime.sleep(9)",
    ];
    let disk = [
        "import os, time\nfiles = []\nfor n in range(10):\n  f = open('x%d' % n, 'wb'); files.append(f); os.unlink(f.name)\n  \
         f.write(bytes(40 << 20)); f.flush()\ntime.sleep(9)",
        "import os, time\nfiles = [os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600) for _ in range(10)]\n\
         for f in files: os.write(f, bytes(40 << 20))\ntime.sleep(9)",
    ];
    let ends = |flags: [&str; 2], code: &str, limit: &str| {
        let ran = run().profile("workspace").flags(flags).python(code).reporting();
        let report = ran.any_status().any_stderr().ends().report();
        assert_eq!(report["limit"], limit, "{code}: {report:#}");
    };
    for code in memory {
        ends(["--memory-limit", "256MiB"], code, "memory");
    }
    for code in disk {
        ends(["--disk-limit", "50MiB"], code, "disk");
    }
}

/// The process is listed as ended then, and its own entries in `/proc` are empty.
#[test]
fn the_memory_limit_counts_what_is_left_where_the_first_thread_has_ended() {
    let code = "import ctypes, os, threading, time\n\
                def hold():\n  \
                  time.sleep(0.2)\n  \
                  assert open('/proc/%d/statm' % os.getpid()).read().startswith('0 ')\n  \
                  held = [bytearray(16 << 20) for _ in range(20)]\n  \
                  for one in held: one[::4096] = b'x' * len(one[::4096])\n  \
                  time.sleep(1)\n  \
                  os.write(1, b'held\\n')\n  \
                  os._exit(0)\n\
                threading.Thread(target=hold).start()\n\
                ctypes.CDLL(None).syscall(60, 0)";
    let start = || run().profile("workspace").python(code);
    start().flags(["--memory-limit", "1G"]).stdout("held\n").ends();
    let ran = start()
        .flags(["--memory-limit", "128M"])
        .reporting()
        .any_status()
        .any_stderr()
        .any_stdout()
        .ends();
    ended_by(&ran, "memory");
}

/// In a descriptor table of its own, and in a socket there.
#[test]
fn what_only_a_thread_has_open_counts_too() {
    let prelude = "import ctypes, os, socket, threading, time\n\
                   libc = ctypes.CDLL(None)\n\
                   def unshare(): assert libc.unshare(0x400) == 0\n\
                   def file(): return os.memfd_create('f')\n\
                   def deleted(): return os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600)\n\
                   def fill(make):\n  \
                     for _ in range(20):\n    \
                       held = make(); os.write(held, bytes(16 << 20)); yield held\n\
                   def keep(make): return list(fill(make))\n\
                   def send(make):\n  \
                     ends = socket.socketpair()\n  \
                     for one in fill(make): socket.send_fds(ends[0], [b'x'], [one]); os.close(one)\n  \
                     return ends\n\
                   def thread(hold, make):\n  \
                     time.sleep(0.2)\n  \
                     unshare()\n  \
                     held = hold(make)\n  \
                     time.sleep(HELD)\n  \
                     os.write(1, b'held\\n')\n  \
                     os._exit(0)\n\
                   def start(*arguments): threading.Thread(target=thread, args=arguments).start()\n";
    let limits = [
        ("--memory-limit", "memory", "file"),
        ("--disk-limit", "disk", "deleted"),
    ];
    for (flag, name, make) in limits {
        for hold in ["keep", "send"] {
            let prelude = prelude.replace("HELD", &slowness().to_string());
            let code = format!("{prelude}start({hold}, {make})\ntime.sleep(60)");
            let start = || run().profile("workspace").python(&code);
            start().flags([flag, "1G"]).stdout("held\n").ends();
            let ran = start()
                .flags([flag, "128M"])
                .reporting()
                .any_status()
                .any_stderr()
                .any_stdout()
                .ends();
            ended_by(&ran, name);
        }
    }
}

/// Right after a count that found them to share it, which takes a while among so many: the next came late.
#[test]
fn the_memory_limit_counts_what_children_copy_soon() {
    let code = "import mmap, os, time\n\
                start = time.monotonic() + 1\n\
                held = mmap.mmap(-1, 32 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n\
                for at in range(0, len(held), 4096): held[at] = 1\n\
                for _ in range(60):\n  \
                  if os.fork() == 0:\n    \
                    time.sleep(max(0, start - time.monotonic()))\n    \
                    for at in range(0, 10 << 20, 4096): held[at] = 2\n    \
                    time.sleep(2)\n    \
                    os._exit(0)\n\
                for _ in range(60): os.wait()";
    let ran = run().flags(["--memory-limit", "400M"]).python(code).reporting();
    ended_by(&ran.any_status().any_stderr().ends(), "memory");
}

/// Many files, where only one is limited. 600 MiB of memory are the disk.
#[test]
fn a_run_that_fills_the_disk_ends_and_one_beside_which_it_is_filled_goes_on() {
    const SETTING: &str = "mkdir disk; mount -t tmpfs -o size=600M none disk 2>/dev/null || { echo nothing can be mounted; exit; }\n\
        mkdir disk/root; cd disk/root; filler=$1; shift\n\
        if [ \"$filler\" = other ]; then (until test -s own; do sleep 0.1; done; exec head -c 590M /dev/zero >../other) & fi\n\
        \"$@\"; echo ended with $?; wait";
    let place = crate::common::Place::new();
    let ends = |filler: &str, code: &str| {
        let mut command = place.command("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", SETTING, "sh", filler]);
        command.arg(crate::common::STOCKADE.path());
        command.args(UNDER_WORKSPACE).args([python(), "-I", "-c", code]);
        finish(&mut command, b"")
    };
    // Small files, so that Stockade gets to look at a busy disk while it fills.
    let fills = "for n in range(20000): open('f%d' % n, 'wb').write(bytes(1 << 16))";
    let filled = ends("run", fills);
    if filled.stdout() == "nothing can be mounted\n" {
        return skipped("no file system can be mounted here");
    }
    assert_eq!(filled.stdout(), "ended with 137\n", "{}", filled.stderr());
    assert!(filled.stderr().contains("past its disk limit"), "{}", filled.stderr());
    let beside = ends(
        "other",
        "import os, time\nopen('own', 'w').write('x')\nwhile os.statvfs('.').f_bavail > 4096: time.sleep(0.1)\ntime.sleep(1)",
    );
    assert_eq!(beside.stdout(), "ended with 0\n", "{}", beside.stderr());
}

#[test]
fn the_kernel_bounds_a_storm_of_an_ordinary_user() {
    let code = "import resource; print(*resource.getrlimit(resource.RLIMIT_NPROC))";
    let ran = run()
        .flags(["--process-limit", "2000"])
        .python(code)
        .any_stdout()
        .reporting()
        .ends();
    if is_counted_by_a_control_group(&ran) {
        return skipped("a control group counts here");
    }
    let words = ran.stdout();
    let bounds: Vec<u64> = words.split_whitespace().map(|word| word.parse().unwrap()).collect();
    assert!(bounds[0] < 4000, "{bounds:?}");
    // A storm comes no further past the limit than a fifth: other users' threads leave it no room. Some of this user's may
    // have ended since.
    if Path::new("/proc/2/comm").exists() {
        let room = 2000 + 2000 / 5 + threads_of_this_user() + 200;
        assert!(bounds[0] < room, "{bounds:?} of {room}");
    }
}

fn is_counted_by_a_control_group(ran: &Ran) -> bool {
    let by = ran.report()["enforcement"]["limits_by"].clone();
    by.as_str().is_some_and(|by| by.starts_with("control group"))
}

/// The bound is a soft limit, for the launcher to move, and the run's to lower alone.
#[test]
fn a_run_lowers_the_bound_of_its_processes_and_does_not_raise_it() {
    let of_this_machine = run().flags(["--process-limit", "2000"]).reporting().python("").ends();
    if is_counted_by_a_control_group(&of_this_machine) {
        return skipped("a control group counts here");
    }
    let code = "import os, resource as r\n\
                soft, hard = r.getrlimit(r.RLIMIT_NPROC)\n\
                def sets(soft, hard, sets=lambda both: r.prlimit(os.getpid(), r.RLIMIT_NPROC, both)):\n  \
                  try: return sets((soft, hard))\n  \
                  except (ValueError, PermissionError): return 'refused'\n\
                own = lambda both: r.setrlimit(r.RLIMIT_NPROC, both)\n\
                import threading\n\
                def thread(both): return r.prlimit(threading.get_native_id(), r.RLIMIT_NPROC, both)\n\
                t = threading.Thread(target=lambda: print(sets(soft + 1, hard, thread)))\n\
                t.start(); t.join()\n\
                print(sets(soft + 1, hard), sets(soft + 1, hard, own), sets(hard, hard) if hard != soft else 'refused')\n\
                print(sets(soft - 1, hard) == (soft, hard), r.getrlimit(r.RLIMIT_NPROC)[0] == soft - 1)\n\
                print(sets(soft - 2, hard, own), sets(soft - 1, hard, own), sets(soft - 3, soft - 2, own))\n\
                print(r.getrlimit(r.RLIMIT_NPROC) == (soft - 3, soft - 2))\n\
                r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); print(r.prlimit(os.getpid(), r.RLIMIT_NOFILE, (50, 50)))";
    run()
        .flags(["--process-limit", "2000"])
        .python(code)
        .stdout("refused\nrefused refused refused\nTrue True\nNone None None\nTrue\n(64, 64)\n")
        .ends();
}

/// A browser is opened beside the run, and closed again.
#[test]
fn the_bound_of_a_runs_processes_moves_with_the_users_other_ones() {
    const OTHERS: usize = 500;
    let code = "import os, resource\n\
                def forks():\n  \
                  child = os.fork()\n  \
                  if child == 0: os._exit(0)\n  \
                  os.wait()\n\
                for _ in open(0):\n  \
                  try: forks(); forked = 1\n  \
                  except BlockingIOError: forked = 0\n  \
                  print(resource.getrlimit(resource.RLIMIT_NPROC)[0], forked, flush=True)";
    let of_this_machine = run().flags(["--process-limit", "300"]).reporting().python("").ends();
    if is_counted_by_a_control_group(&of_this_machine) {
        return skipped("a control group counts here");
    }
    let begun = run().flags(["--process-limit", "300"]).python(code);
    let mut launcher = begun
        .process()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asks = launcher.stdin.take().unwrap();
    let mut answers = BufReader::new(launcher.stdout.take().unwrap()).lines();
    let mut bound = || {
        asks.write_all(b"\n").unwrap();
        let answer = answers.next().unwrap().unwrap();
        let (bound, forked) = answer.split_once(' ').unwrap();
        (bound.parse::<u64>().unwrap(), forked == "1")
    };
    let before = bound().0;
    let (ends, end) = mpsc::channel::<()>();
    let end = Arc::new(Mutex::new(end));
    let others: Vec<_> = (0..OTHERS)
        .map(|_| {
            let end = end.clone();
            thread::spawn(move || end.lock().unwrap().recv().unwrap_err())
        })
        .collect();
    let most = before + OTHERS as u64 * 4 / 5;
    assert!(
        until(Duration::from_secs(20), || bound().0 > most),
        "the bound stays {before}"
    );
    assert!(bound().1, "it can't make a process");
    drop(ends);
    for other in others {
        other.join().unwrap();
    }
    assert!(
        until(Duration::from_secs(20), || bound().0 < most),
        "the bound stays high"
    );
    drop(asks);
    assert!(launcher.wait().unwrap().success());
}

fn threads_of_this_user() -> u64 {
    let own = std::fs::metadata("/proc/self").unwrap().uid();
    let processes = std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.path().join("task"));
    let found = processes.filter_map(|tasks| std::fs::metadata(tasks).ok());
    found
        .filter(|found| found.uid() == own)
        .map(|found| found.nlink())
        .sum()
}

#[test]
fn the_process_limit_is_kept_where_a_process_is_made() {
    let code = "import os, time\n\
                made = 0\n\
                try:\n  \
                  for _ in range(30):\n    \
                    if os.fork() == 0: time.sleep(30)\n    \
                    made += 1\n\
                except BlockingIOError: pass\n\
                print(made)";
    run().flags(["--process-limit", "8"]).python(code).stdout("7\n").ends();
}

/// Also where the caller is root, who may write there only by Linux capabilities that are gone by then.
#[test]
fn no_control_group_of_a_run_is_left() {
    const OF_RUNS: &str = "/sys/fs/cgroup/pids/stockade";
    let begun = run().command(["true"]);
    let mut launcher = begun.process().spawn().unwrap();
    let name = format!("stockade-{}-", launcher.id());
    assert!(launcher.wait().unwrap().success());
    let groups = std::fs::read_dir(OF_RUNS).into_iter().flatten().flatten();
    let names: Vec<_> = groups.map(|group| group.file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|of| of.starts_with(&name)), "{names:?}");
}

//! When the supervisor is killed, crowded, interrupted or slow, the run ends or waits; nothing opens.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Run, finish, is_alive, python, run, until};

const PROFILES: [&str; 2] = ["workspace", "trusted"];

/// A run with a secret, an open file, and code.
fn with(profile: &str, code: &str) -> Run {
    run()
        .profile(profile)
        .file(".env", "SECRET")
        .file("plain", "plain")
        .file("secrets/token", "SECRET")
        .file("d/token", "plain")
        .python(code)
}

/// Code that prints this in a run, and something else where the secret opens.
fn prints(code: &str, text: &str) {
    for profile in PROFILES {
        let begun = with(profile, code);
        let mut unconfined = begun.place.command(python());
        unconfined.args(["-I", "-c", code]);
        let free = finish(&mut unconfined, b"").stdout();
        assert_ne!(free, text, "unconfined it's the same, so this proves nothing");
        with(profile, code).stdout(text).ends();
    }
}

// promise: end.7
#[test]
fn when_the_supervisor_is_killed_the_run_ends() {
    let code = "import os, threading, time\n\
        reader, writer = os.pipe()\n\
        def loop():\n  \
          rounds = 0\n  \
          while True:\n    \
            rounds += 1\n    \
            if rounds == 10: os.write(writer, b'x')\n    \
            for name in '.env', 'plain', 'secrets/token':\n      \
              try: text = open(name).read()\n      \
              except OSError as error: text = ''\n      \
              if 'SECRET' in text: print('SECRET', flush=True)\n\
        for _ in range(4): threading.Thread(target=loop, daemon=True).start()\n\
        child = os.fork()\n\
        if child == 0:\n  \
          os.setsid(); loop()\n\
        for _ in range(5): os.read(reader, 1)\n\
        print(os.getpid(), child, flush=True)\n\
        time.sleep(60)\n";
    for profile in PROFILES {
        let begun = with(profile, code);
        let mut child = begun
            .process()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let pids: Vec<i32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(pids.len(), 2, "{line}");
        child.kill().unwrap();
        child.wait().unwrap();
        for pid in pids {
            assert!(
                until(Duration::from_secs(10), || !is_alive(pid)),
                "{pid} outlives its supervisor"
            );
        }
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "under {profile}");
    }
}

#[test]
fn two_hundred_threads_at_once_get_right_answers() {
    let code = "import os, threading\n\
        wrong, right = [], []\n\
        gate = threading.Barrier(200)\n\
        def work(n):\n  \
          gate.wait()\n  \
          for i in range(10):\n    \
            name, wanted = [('plain', 'plain'), ('.env', 13), ('d/token', 'plain'), ('secrets/token', 13), ('none', 2)][(n + i) % 5]\n    \
            try: got = open(name).read()\n    \
            except OSError as error: got = error.errno\n    \
            (right if got == wanted else wrong).append((name, got))\n\
        threads = [threading.Thread(target=work, args=(n,)) for n in range(200)]\n\
        for t in threads: t.start()\n\
        for t in threads: t.join()\n\
        print(len(right), wrong[:5])\n";
    prints(code, "2000 []\n");
}

#[test]
fn a_hundred_processes_at_once_get_right_answers() {
    let code = "import os\n\
        pids = []\n\
        for n in range(100):\n  \
          pid = os.fork()\n  \
          if pid == 0:\n    \
            bad = 0\n    \
            for i in range(10):\n      \
              try: bad |= open('plain').read() != 'plain'\n      \
              except OSError: bad |= 2\n      \
              try: open('.env'); bad |= 4\n      \
              except OSError as error: bad |= 8 * (error.errno != 13)\n    \
            os._exit(bad)\n  \
          pids.append(pid)\n\
        print(sorted(set(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids)))\n";
    prints(code, "[0]\n");
}

#[test]
fn those_who_wait_for_a_fifo_hold_up_no_other() {
    let code = "import os, threading, time\n\
        def waits(thread):\n  \
          return open('/proc/self/task/%d/syscall' % thread.native_id).read().startswith('257 ')\n\
        for n in range(40): os.mkfifo('f%d' % n)\n\
        got = []\n\
        def wait(n): got.append(open('f%d' % n).read())\n\
        threads = [threading.Thread(target=wait, args=(n,)) for n in range(40)]\n\
        for t in threads: t.start()\n\
        while not all(map(waits, threads)): time.sleep(0.01)\n\
        start = time.monotonic()\n\
        assert open('plain').read() == 'plain'\n\
        try: open('.env'); print('open')\n\
        except PermissionError: pass\n\
        print(time.monotonic() - start < 30)\n\
        for n in range(40):\n  \
          with open('f%d' % n, 'w') as f: f.write('x')\n\
        for t in threads: t.join()\n\
        print(got == ['x'] * 40)\n";
    prints(code, "True\nTrue\n");
}

#[test]
fn an_interrupted_call_happens_once() {
    // A signal every millisecond; Python tries an interrupted open again by itself, and reports an interrupted mkdir.
    let code = "import os, signal\n\
        signal.signal(signal.SIGALRM, lambda *_: None)\n\
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n\
        wrong = []\n\
        def tries(what, *arguments):\n  \
          while True:\n    \
            try: return what(*arguments)\n    \
            except InterruptedError: continue\n    \
            except OSError as error: return wrong.append((what.__name__, error.errno))\n\
        for n in range(300):\n  \
          tries(os.mkdir, 'm%d' % n)\n  \
          tries(os.rename, 'm%d' % n, 'r%d' % n)\n  \
          tries(os.rmdir, 'r%d' % n)\n  \
          tries(lambda: os.close(os.open('x%d' % n, os.O_CREAT | os.O_EXCL | os.O_WRONLY)))\n  \
          tries(os.unlink, 'x%d' % n)\n  \
          try: open('.env'); wrong.append('open')\n  \
          except PermissionError: pass\n\
        signal.setitimer(signal.ITIMER_REAL, 0)\n\
        print(wrong[:5], sorted(set(os.listdir('.')) - {'.env', 'plain', 'secrets', 'd'})[:3])\n";
    prints(code, "[] []\n");
}

#[test]
fn who_ends_in_the_middle_of_a_call_leaves_the_others_alone() {
    let code = "import os, random, signal, time\n\
        for n in range(150):\n  \
          pid = os.fork()\n  \
          if pid == 0:\n    \
            while True:\n      \
              try: open('.env'); os._exit(7)\n      \
              except OSError: pass\n      \
              open('plain').close()\n  \
          time.sleep(random.random() * 0.004)\n  \
          os.kill(pid, signal.SIGKILL)\n  \
          assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -9\n\
        print(open('plain').read())\n";
    prints(code, "plain\n");
}

#[test]
fn a_thread_is_asked_about_its_own_directory_and_descriptors() {
    let code = "import ctypes, os, threading\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        words = []\n\
        def tried(name):\n  \
          try: return open(name).read()\n  \
          except OSError as error: return error.errno\n\
        def in_a_directory_of_its_own():\n  \
          assert libc.unshare(0x200) == 0\n  \
          os.chdir('secrets')\n  \
          words.append(tried('token'))\n  \
          os.chdir('../d')\n  \
          words.append(tried('token'))\n\
        def with_descriptors_of_its_own():\n  \
          assert libc.unshare(0x400) == 0\n  \
          fd = os.open('plain', os.O_PATH); os.dup2(fd, 99)\n  \
          words.append(tried('/proc/thread-self/fd/99'))\n  \
          d = os.open('secrets', os.O_PATH); os.dup2(d, 98)\n  \
          words.append(tried('/proc/thread-self/fd/98/token'))\n\
        os.chdir('d')\n\
        os.chdir('..')\n\
        for what in in_a_directory_of_its_own, with_descriptors_of_its_own:\n  \
          t = threading.Thread(target=what); t.start(); t.join()\n\
        words.append(tried('d/token')); words.append(tried('/proc/self/fd/98/token'))\n\
        print(words)\n";
    prints(code, "[13, 'plain', 'plain', 13, 'plain', 2]\n");
}

#[test]
fn a_full_table_of_descriptors_is_emfile() {
    let code = "import os, resource\n\
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n\
        held = []\n\
        try:\n  \
          while True: held.append(os.open('plain', 0))\n\
        except OSError as error: word = error.errno\n\
        os.close(held.pop())\n\
        os.close(os.open('plain', 0))\n\
        try: os.open('.env', 0)\n\
        except OSError as error: print(word, error.errno)\n";
    prints(code, "24 13\n");
}

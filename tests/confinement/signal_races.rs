//! Races for a signal where the supervisor sends each: the target changes its number, its parent or its group meanwhile,
//! the caller ends, another thread rewrites what goes with it.
#![cfg(target_arch = "x86_64")]

use super::outsiders::Stage;
use crate::common::{skipped, tries};

/// The run's process with a number ends, and one outside gets the number at once, while threads go on signalling it.
const REUSED: &str = "import select\n\
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n\
    target, sent = 0, {'ok': 0}\n\
    def send(form):\n  \
      while True:\n    \
        number = target\n    \
        if number < 0: return\n    \
        if number == 0: time.sleep(0.0005); continue\n    \
        try: form(number); sent['ok'] += 1\n    \
        except OSError: pass\n\
    info = struct.pack('iii', 50, 0, -1).ljust(128, bytes(1))\n\
    forms = [lambda t: os.kill(t, 50), lambda t: call(234, t, t, 50), lambda t: call(129, t, 50, info)]\n\
    threads = [threading.Thread(target=send, args=(form,)) for form in forms]\n\
    for thread in threads: thread.start()\n\
    for round in range(ROUNDS):\n  \
      child = os.fork()\n  \
      if child == 0: time.sleep(60)\n  \
      target = child; time.sleep(0.003)\n  \
      print('number', child, flush=True)\n  \
      os.kill(child, 9); os.waitpid(child, 0)\n  \
      sys.stdin.buffer.raw.read(1)\n  \
      target = 0\n\
    target = -1\n\
    for thread in threads: thread.join()\n\
    print('sent', sent['ok'] > ROUNDS)\n";

/// Takes each number as soon as it is free, keeps it for a moment, and tells how many of these were signalled.
const TAKES: &str = "taken = hit = 0\n\
    kept = []\n\
    for line in program.stdout:\n  \
      word, number = line.split()\n  \
      if word != 'number': kept.append(line); break\n  \
      end = time.monotonic() + 2\n  \
      while time.monotonic() < end:\n    \
        with open('/proc/sys/kernel/ns_last_pid', 'w') as file: file.write(str(int(number) - 1))\n    \
        child = os.fork()\n    \
        if child == 0: time.sleep(20); os._exit(0)\n    \
        if child == int(number): break\n    \
        os.kill(child, 9); os.waitpid(child, 0)\n  \
      if child == int(number):\n    \
        taken += 1; time.sleep(0.005); hit += 50 in pending(child)\n    \
        os.kill(child, 9); os.waitpid(child, 0)\n  \
      near.send(b'x')\n\
    print('taken', taken, 'hit', hit)\n\
    print(*kept, sep='', end='', flush=True)\n";

// promise: processes.2
#[test]
fn a_number_that_is_another_processs_by_then_gets_no_signal() {
    let rounds: usize = tries(25, 500);
    let stage = |rounds: usize| Stage {
        stdin: Some("silent"),
        after: TAKES,
        is_numbered: true,
        ..Stage::new(&REUSED.replace("ROUNDS", &rounds.to_string()))
    };
    let counts = |words: &[String]| -> Option<(usize, usize)> {
        let mut parts = words.first()?.split(' ');
        let mut number = || parts.nth(1)?.parse().ok();
        Some((number()?, number()?))
    };
    let Some(free) = stage(10).plays(&[], None) else {
        return skipped("no PID namespace can be made here");
    };
    // On a busy machine some numbers are taken too late; one hit shows that the probe works.
    let (taken, hit) = counts(&free.words).expect("two numbers");
    assert!(taken >= 3 && hit >= 1, "unconfined {:?}", free.words);
    for abi in [None, Some("2")] {
        let held = stage(rounds).confined(abi);
        let (taken, hit) = counts(&held.words).expect("two numbers");
        assert!(
            taken * 2 > rounds,
            "ABI {abi:?}: too few numbers were taken: {:?}",
            held.words
        );
        assert_eq!(hit, 0, "ABI {abi:?}: an outsider was signalled");
        assert_eq!(held.words[1], "sent True", "ABI {abi:?}");
        held.assert_untouched("a race");
    }
}

/// All at once: orphans that change parents, members that change groups, callers that are killed in the call, information
/// that another thread rewrites. A receiver says what came.
const TURMOIL: &str = "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n\
    end = time.monotonic() + SECONDS\n\
    r, w = os.pipe()\n\
    receiver = os.fork()\n\
    if receiver == 0:\n  \
      os.setpgid(0, 0); os.write(w, b'r'); got = forged = 0\n  \
      while True:\n    \
        info = signal.sigwaitinfo([50, 51])\n    \
        if info.si_signo == 51: os._exit(1 if forged else 0 if got > 5 else 2)\n    \
        got += 1; forged += info.si_code >= 0 and info.si_pid == 4242\n\
    os.read(r, 1)\n\
    def every(work):\n  \
      child = os.fork()\n  \
      if child: return child\n  \
      os.setpgid(0, 0)\n  \
      while time.monotonic() < end:\n    \
        try: work()\n    \
        except OSError: pass\n  \
      os._exit(0)\n\
    def forge():\n  \
      info = ctypes.create_string_buffer(struct.pack('iiiii', 50, 0, -1, 0, 4242).ljust(128, bytes(1)), 128)\n  \
      def flip():\n    \
        while time.monotonic() < end: info[8:12] = struct.pack('i', 0x80); info[8:12] = struct.pack('i', -1)\n  \
      thread = threading.Thread(target=flip); thread.start(); sent = 0\n  \
      while time.monotonic() < end or sent <= 5:\n    \
        try: call(129, receiver, 50, info); sent += 1\n    \
        except OSError as error: expect(error.errno in (errno.EPERM, errno.EAGAIN))\n  \
      thread.join()\n\
    def orphans():\n  \
      a, b = os.pipe()\n  \
      if os.fork() == 0:\n    \
        for _ in range(3):\n      \
          if os.fork(): time.sleep(0.002); os._exit(0)\n    \
        os.write(b, struct.pack('i', os.getpid())); time.sleep(0.01); os._exit(0)\n  \
      number = struct.unpack('i', os.read(a, 4))[0]\n  \
      os.close(a); os.close(b)\n  \
      for _ in range(10): told(lambda: os.kill(number, 52))\n  \
      os.wait()\n\
    def flips():\n  \
      child = os.fork()\n  \
      if child == 0:\n    \
        for n in range(20):\n      \
          told(lambda: os.setpgid(0, 0)); told(lambda: os.setpgid(0, os.getppid())); told(lambda: os.setpgid(0, @G)); told(lambda: os.setpgid(0, @V))\n    \
        os._exit(0)\n  \
      while os.waitpid(child, os.WNOHANG) == (0, 0):\n    \
        for target in -child, -os.getpid(), 0: told(lambda: os.kill(target, 53))\n\
    def killed():\n  \
      child = os.fork()\n  \
      if child == 0:\n    \
        while True: told(lambda: os.kill(@V, 54)); told(lambda: os.kill(-1, 55)); told(lambda: os.kill(-os.getpgid(@V), 56))\n  \
      time.sleep(0.003); os.kill(child, 9); os.waitpid(child, 0)\n\
    workers = [every(work) for work in (forge, orphans, flips, killed)]\n\
    for worker in workers: print(os.waitpid(worker, 0)[1])\n\
    os.kill(receiver, 51); print(os.waitpid(receiver, 0)[1])\n";

#[test]
fn nothing_gets_out_in_the_turmoil() {
    let told = "def told(send):\n  try: send()\n  except OSError: pass\n";
    let script = format!("{told}{}", TURMOIL.replace("SECONDS", tries("1.5", "20")));
    let held = Stage::new(&script).confined(Some("2"));
    held.assert_untouched("a race");
    assert_eq!(
        (held.status, held.words.as_slice()),
        (0, ["0"; 5].map(String::from).as_slice())
    );
}

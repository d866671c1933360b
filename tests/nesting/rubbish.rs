//! What a program of the run may say to the address at which inner runs ask to be narrowed.

use crate::nesting::inner::{inner, outer, python_words, shows};

const ASK: &str = "import socket, struct, os, time\n\
                   def ask(request, answer=True):\n  \
                     s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + \"stockade-outer\")\n  \
                     try:\n    \
                       s.sendall(request)\n    \
                       return s.recv(1) if answer else s\n  \
                     except OSError as e: return e.errno\n\
                   def framed(body): return struct.pack(\"<I\", len(body)) + body\n\
                   def reads(path):\n  \
                     try: return open(path).read().strip()\n  \
                     except OSError: return \"-\"\n";

#[test]
fn rubbish_is_answered_by_a_closed_socket() {
    let code = format!(
        "{ASK}\
         for body in b\"\", b\"{{}}\", b\"x\" * 1000, b\"[\" * 100000, b\"null\", bytes(range(256)), \
         b\"{{\\\"policy\\\":1}}\": print(ask(framed(body)) in (b\"\", 104, 32))\n\
         print(ask(struct.pack(\"<I\", 0xffffffff)) in (b\"\", 104, 32))\n\
         s = ask(struct.pack(\"<I\", 100), False); s.send(b\"half\"); s.shutdown(1); print(s.recv(1))\n\
         start = time.monotonic(); s = ask(b\"\", False); print(s.recv(1), 8 < time.monotonic() - start < 40)\n\
         print(reads(\"plain\"), reads(\"/var/tmp/none\"))\n"
    );
    let expected = format!("{}b''\nb'' True\nplain -\nplain\n", "True\n".repeat(8));
    outer("workspace")
        .bash(&format!("{}; {}", python_words(&code), inner("workspace", "cat plain")))
        .stdout(&expected)
        .ends();
}

#[test]
fn too_many_are_refused_and_the_inner_run_with_them() {
    let hold = format!(
        "{ASK}held = []\nn = 0\n\
         while n < 200:\n  \
           n += 1\n  \
           try: held.append(ask(b\"\", False))\n  \
           except OSError as e: print(e.errno, len(held) == 64, flush=True); break\n\
         open(\"full\", \"w\"); time.sleep(60)"
    );
    outer("workspace")
        .bash(&format!(
            "{} & while ! test -e full; do sleep 0.05; done; {}; echo $?; kill %1; cat plain",
            python_words(&hold),
            inner("minimal", &shows(&["plain"]))
        ))
        .stdout("11 True\n125\nplain\n")
        .ends();
}

#[test]
fn elsewhere_the_name_means_nothing() {
    // As in a container that refuses listeners with EPERM, as a run does.
    let listens = "import ctypes, socket, struct, subprocess, sys, threading\n\
                   c = ctypes.CDLL(None)\n\
                   i = [(0x20, 0, 0, 0), (0x15, 0, 3, 317), (0x20, 0, 0, 24), (0x45, 0, 1, 8), (6, 0, 0, 0x50001), \
                   (6, 0, 0, 0x7fff0000)]\n\
                   p = ctypes.create_string_buffer(b\"\".join(struct.pack(\"HBBI\", *x) for x in i))\n\
                   f = struct.pack(\"HxxxxxxQ\", len(i), ctypes.addressof(p))\n\
                   assert c.prctl(38, 1, 0, 0, 0) == 0 and c.prctl(22, 2, f, 0, 0) == 0\n\
                   s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + \"stockade-outer\"); s.listen()\n\
                   def serve():\n  \
                     while True: s.accept()[0].sendall(b\"y\")\n\
                   threading.Thread(target=serve, daemon=True).start()\n\
                   print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout, end=\"\")";
    let place = crate::common::Place::new();
    place.file("plain", "plain\n");
    let mut command = place.command("sh");
    // Without a supervisor an older Landlock keeps no signals in.
    let shortfalls = "--accept-shortfall supervisor --accept-shortfall signals";
    let run = inner(
        &format!("minimal {shortfalls} --report ./report.json"),
        &shows(&["plain"]),
    );
    let words = format!("{} {run}", python_words(listens));
    command.args(["-c", &words]);
    let finished = crate::common::finish(&mut command, b"");
    assert_eq!(finished.stdout(), "-\n", "{}", finished.stderr());
    let report = std::fs::read_to_string(place.path("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["enforcement"]["supervisor"], false, "{report:#}");
}

//! What a program may try in order to be granted more than a person meant.

use std::time::Duration;

use nix::sys::signal::Signal;
use stockade_report::approve::{Answer, Lifetime};

use crate::common::until;
use crate::escalation::person::{asking, no, once, opening, session, signal, threads};

/// Longer than anything takes but what hangs, shorter than a question is open.
const PATIENCE: Duration = Duration::from_secs(20);

// promise: answers.5
#[test]
fn a_path_that_changes_while_the_person_thinks_is_judged_again() {
    // The name that was asked for becomes a link to another file meanwhile.
    let asking = asking("minimal", |request| {
        let root = std::path::Path::new(&request.evidence.root);
        if request.evidence.target.ends_with("/harmless") {
            std::fs::remove_file(root.join("harmless")).unwrap();
            std::os::unix::fs::symlink(root.join("precious"), root.join("harmless")).unwrap();
            Answer::yes(Lifetime::Session, "ada")
        } else {
            Answer::no("ada")
        }
    });
    asking
        .file("harmless", "1")
        .file("precious", "2")
        .python("try: print(open('harmless').read())\nexcept PermissionError: print('closed')")
        .was_asked(&["--read @ROOT/harmless", "--read @ROOT/precious"])
        .prints("closed\n");
}

#[test]
fn memory_that_changes_while_the_person_thinks_is_judged_again() {
    let code = "import ctypes, signal, threading\n\
                libc = ctypes.CDLL(None, use_errno=True)\n\
                path = ctypes.create_string_buffer(b'harmless', 32)\n\
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n\
                def flip(): signal.sigwait([signal.SIGUSR1]); path.value = b'precious'\n\
                threading.Thread(target=flip).start()\n\
                fd = libc.open(path, 0)\n\
                print('closed' if fd < 0 else open(fd).read())";
    asking("minimal", |request| {
        if request.evidence.target.ends_with("/harmless") {
            signal(request, Signal::SIGUSR1);
            let is_flipped = until(PATIENCE, || threads(request).count() == 1);
            assert!(is_flipped, "the other thread doesn't end");
            Answer::yes(Lifetime::Once, "ada")
        } else {
            Answer::no("ada")
        }
    })
    .file("harmless", "1")
    .file("precious", "2")
    .python(code)
    .was_asked(&["--read @ROOT/harmless", "--read @ROOT/precious"])
    .prints("closed\n");
}

// promise: answers.6
#[test]
fn a_yes_to_reading_is_none_to_writing() {
    asking("minimal", |request| {
        if request.evidence.access == stockade_report::report::Kind::Read {
            Answer::yes(Lifetime::Session, "ada")
        } else {
            Answer::no("ada")
        }
    })
    .file("a", "1")
    .python(
        "print(open('a').read())\n\
         try: open('a', 'r+'); print('open')\n\
         except PermissionError: print('closed')",
    )
    .was_asked(&["--read @ROOT/a", "--write @ROOT/a"])
    .prints("1\nclosed\n");
}

#[test]
fn a_link_to_a_granted_name_leads_to_what_it_leads_to() {
    asking("minimal", |request| {
        if request.evidence.target.ends_with("/a") {
            Answer::yes(Lifetime::Session, "ada")
        } else {
            Answer::no("ada")
        }
    })
    .file("a", "1")
    .file("b", "2")
    .python(
        "import os\n\
         print(open('a').read())\n\
         try: print(open('a/../b').read())\n\
         except OSError: print('closed')\n\
         try: print(open('./b').read())\n\
         except OSError: print('closed')",
    )
    .prints("1\nclosed\nclosed\n");
}

#[test]
fn a_program_that_asks_without_end_is_refused_for_the_rest() {
    let asked = asking("minimal", |_| Answer::no("ada")).python(
        "import os\n\
         for i in range(100):\n  \
           d = f'd{i}'\n  \
           try: os.mkdir(d)\n  \
           except PermissionError: pass\n\
         for i in range(100):\n  \
           try: open(f'/etc/alternatives/x{i}', 'w')\n  \
           except OSError: pass\n\
         print('done')",
    );
    assert!(asked.asked.len() <= 20, "{}", asked.asked.len());
    asked.prints("done\n");
}

#[test]
fn many_threads_that_ask_for_one_file_are_one_question() {
    let code = "import threading\n\
                results = []\n\
                def read():\n  \
                  results.append(open('/etc/hosts').read() != '')\n\
                threads = [threading.Thread(target=read) for _ in range(20)]\n\
                [t.start() for t in threads]; [t.join() for t in threads]\n\
                print(results == [True] * 20)";
    asking("minimal", |request| {
        assert!(until(PATIENCE, || opening(request) == 20), "{}", opening(request));
        session(request)
    })
    .python(code)
    .was_asked(&["--read /etc/hosts"])
    .prints("True\n");
}

#[test]
fn text_of_the_program_arrives_as_it_is_and_bounded() {
    let asked = asking("minimal", no).python(
        "import os\n\
         try: os.mkdir('\\x1b[2J\\n' + 'x' * 200)\n\
         except OSError: print('closed')",
    );
    let target = &asked.requests[0].evidence.target;
    assert!(target.contains("\u{1b}[2J\n"), "{target:?}");
    asked.prints("closed\n");
}

#[test]
fn an_inner_run_gets_no_more_than_its_own_policy_by_an_answer_to_the_outer() {
    let inner = crate::common::STOCKADE;
    let code = format!(
        "import subprocess\n\
         r = subprocess.run(['{inner}', 'run', '--', 'cat', '@ROOT/a'], capture_output=True, text=True)\n\
         print(repr(r.stdout), 'denied' in r.stderr, r.returncode)"
    );
    let asking = asking("trusted", session);
    asking.file("a", "1").python(&code).prints("'' True 1\n");
}

#[test]
fn what_is_granted_for_one_process_is_reached_by_no_flip_of_the_path() {
    // A thread flips the path between what was granted and what wasn't while another opens it again and again.
    let code = "import ctypes, threading\n\
                libc = ctypes.CDLL(None)\n\
                path = ctypes.create_string_buffer(b'harmless', 32)\n\
                stop = False\n\
                def flip():\n  \
                  while not stop: path.raw = b'precious' + b'\\0' * 24; path.raw = b'harmless' + b'\\0' * 24\n\
                open('harmless').close()\n\
                t = threading.Thread(target=flip); t.start()\n\
                seen = set()\n\
                for _ in range(300):\n  \
                  fd = libc.open(path, 0)\n  \
                  if fd >= 0: seen.add(open(fd).read())\n\
                stop = True; t.join(); print(seen <= {'1'})";
    asking("minimal", |request| {
        if request.evidence.target.ends_with("/harmless") {
            Answer::yes(Lifetime::Session, "ada")
        } else {
            Answer::no("ada")
        }
    })
    .file("harmless", "1")
    .file("precious", "2")
    .python(code)
    .prints("True\n");
}

#[test]
fn a_yes_to_a_file_opens_no_set_user_id_programs() {
    asking("minimal", once)
        .python(
            "import os\n\
             try: os.close(os.open('p', os.O_CREAT | os.O_WRONLY, 0o4755)); print('made')\n\
             except PermissionError: print('closed')",
        )
        .prints("closed\n");
}

#[test]
fn once_is_for_one_of_many_calls_that_wait() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let code = "import threading\n\
                read = []\n\
                def task():\n  \
                  try: read.append(open('a').read())\n  \
                  except PermissionError: pass\n\
                threads = [threading.Thread(target=task) for _ in range(8)]\n\
                [t.start() for t in threads]; [t.join() for t in threads]\n\
                print(read)";
    asking("minimal", move |request| {
        let before = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        assert!(
            until(PATIENCE, || opening(request) >= 8 - before),
            "{}",
            opening(request)
        );
        match before {
            0 => Answer::yes(Lifetime::Once, "ada"),
            _ => Answer::no("ada"),
        }
    })
    .file("a", "1")
    .python(code)
    .was_asked(&["--read @ROOT/a", "--read @ROOT/a"])
    .prints("['1']\n");
}

#[test]
fn a_name_that_hides_from_the_command_line_is_asked_for_itself() {
    asking("minimal", session)
        .python(
            "open('@ROOT/a\\x1bb', 'w').close()\n\
             open('@ROOT/anything', 'w').close()",
        )
        .was_asked(&["--write @ROOT/a\u{1b}b", "--write @ROOT/anything"]);
}

#[test]
fn every_question_of_a_call_names_its_program() {
    let asked = asking("minimal", once)
        .file("d/a", "1")
        .file("e/b", "2")
        .python("import os; os.rename('d/a', 'e/a'); print(os.listdir)")
        .was_asked(&["--write @ROOT/d/a", "--write @ROOT/e/a"]);
    for request in &asked.requests {
        assert!(request.evidence.program.contains("python"), "{request:?}");
    }
}

#[test]
fn a_yes_to_a_file_is_none_to_a_directory_in_its_place() {
    asking("minimal", |request| {
        if request.evidence.target.ends_with("/o") {
            Answer::yes(Lifetime::Session, "ada")
        } else {
            Answer::no("ada")
        }
    })
    .python(
        "import os\n\
         open('o', 'w').close(); os.unlink('o'); os.mkdir('o')\n\
         try: open('o/t', 'w'); print('made')\n\
         except PermissionError: print('closed')",
    )
    .prints("closed\n");
}

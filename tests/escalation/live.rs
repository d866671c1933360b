//! A yes: the very access is made, and the program never notices.

use std::time::Duration;

use nix::sys::signal::Signal;
use stockade_report::approve::EscalationRequest;

use crate::common::until;
use crate::escalation::person::{asking, no, once, session, signal, wider};

const DEFINED: &str = "import os, sys\n";

#[test]
fn a_file_outside_the_profile_is_read_after_a_yes() {
    asking("minimal", once)
        .python("print('localhost' in open('/etc/hosts').read())")
        .was_asked(&["--read /etc/hosts"])
        .was_refused_nothing()
        .prints("True\n");
}

#[test]
fn a_file_is_made_and_written_after_a_yes() {
    let asked = asking("minimal", once)
        .python("f = open('out.csv', 'w'); f.write('a,b'); f.close()")
        .was_asked(&["--write @ROOT/out.csv"])
        .was_refused_nothing()
        .prints("");
    assert_eq!(std::fs::read_to_string(asked.place.path("out.csv")).unwrap(), "a,b");
}

#[test]
fn changes_of_every_kind_are_made_after_a_yes() {
    let code = format!(
        "{DEFINED}\
         os.truncate('a', 1)\n\
         os.chmod('a', 0o600)\n\
         os.utime('a', (100, 100))\n\
         os.link('a', 'b')\n\
         os.rename('b', 'c')\n\
         os.symlink('a', 'l')\n\
         os.unlink('c')\n\
         os.mkdir('d'); os.rmdir('d')\n\
         os.mkfifo('f')\n\
         s = os.stat('a'); print(s.st_size, oct(s.st_mode & 0o777), int(s.st_mtime), sorted(os.listdir('.')))"
    );
    asking("minimal", session)
        .file("a", "text")
        .python(&code)
        .was_refused_nothing()
        .prints("1 0o600 100 ['a', 'f', 'l']\n");
}

#[test]
fn once_is_for_one_access_and_session_for_all() {
    let code = "open('a').read(); open('a').read(); print('read')";
    asking("minimal", once)
        .file("a", "")
        .python(code)
        .was_asked(&["--read @ROOT/a", "--read @ROOT/a"])
        .prints("read\n");
    asking("minimal", session)
        .file("a", "")
        .python(code)
        .was_asked(&["--read @ROOT/a"])
        .prints("read\n");
}

#[test]
fn a_wider_yes_opens_the_directory() {
    asking("minimal", wider)
        .file("d/a", "1")
        .file("d/b", "2")
        .file("d/e/c", "3")
        .python("print(*(open('d/' + n).read() for n in ('a', 'b', 'e/c')))")
        .was_asked(&["--read @ROOT/d/a"])
        .prints("1 2 3\n");
}

/// The prompt then offers `wider` first (`approve::grammar`).
#[test]
fn the_fourth_question_in_one_directory_knows_of_three_yeses() {
    let rule = |request: &EscalationRequest| match request.granted_beside {
        3 => no(request),
        _ => session(request),
    };
    let code = "import os\n\
                for name in ('d/a', 'd/b', 'e/a', 'd/c', 'd/d'):\n  \
                  try: os.close(os.open(name, os.O_RDONLY)); print(name)\n  \
                  except PermissionError: print(name, 'closed')";
    let mut asking = asking("minimal", rule);
    for name in ["d/a", "d/b", "d/c", "d/d", "e/a"] {
        asking = asking.file(name, "");
    }
    asking.python(code).prints("d/a\nd/b\ne/a\nd/c\nd/d closed\n");
}

// promise: secrets.15
#[test]
fn what_a_yes_opens_is_no_secret_in_it() {
    asking("minimal", wider)
        .file("d/a", "1")
        .file("d/.env", "KEY")
        .file("d/key.pem", "KEY")
        .python(
            "print(open('d/a').read())\n\
             for n in ('.env', 'key.pem'):\n  \
               try: print(open('d/' + n).read())\n  \
               except PermissionError: print('closed')",
        )
        .was_asked(&["--read @ROOT/d/a"])
        .prints("1\nclosed\nclosed\n");
}

#[test]
fn a_file_replaced_after_the_yes_is_still_open() {
    asking("minimal", session)
        .file("a", "old")
        .with(|sandbox| sandbox)
        .python(
            "print(open('a').read())\n\
             open('new', 'w').write('newer'); os_ = __import__('os'); os_.rename('new', 'a')\n\
             print(open('a').read())",
        )
        .prints("old\nnewer\n");
}

#[test]
fn a_unix_socket_is_connected_to_after_a_yes() {
    let place_code = "import socket\ns = socket.socket(socket.AF_UNIX); s.connect('sock'); print(s.recv(2).decode())";
    let asking = asking("minimal", once);
    let listener = std::os::unix::net::UnixListener::bind(asking.place.path("sock")).unwrap();
    let serving = std::thread::spawn(move || {
        use std::io::Write;
        listener.accept().unwrap().0.write_all(b"hi").unwrap();
    });
    asking
        .python(place_code)
        .was_asked(&["--socket @ROOT/sock"])
        .was_refused_nothing()
        .prints("hi\n");
    serving.join().unwrap();
}

#[test]
fn a_port_is_listened_on_after_a_yes() {
    let code = "import socket\n\
                s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n\
                c = socket.create_connection(s.getsockname(), 10); print('up')";
    let asked = asking("minimal", session)
        .python(code)
        .was_refused_nothing()
        .prints("up\n");
    assert!(
        asked.asked.len() == 1 && asked.asked[0].starts_with("--listen "),
        "{:?}",
        asked.asked
    );
}

#[test]
fn a_server_on_no_address_gets_loopback_after_a_yes() {
    let code = "import socket\n\
                s = socket.socket(); s.bind(('', 0)); s.listen(); print(s.getsockname()[0])";
    asking("minimal", session)
        .python(code)
        .was_asked(&["--listen 0"])
        .prints("127.0.0.1\n");
}

#[test]
fn other_threads_go_on_while_one_waits() {
    let asking = asking("minimal", |request| {
        signal(request, Signal::SIGUSR1);
        let sign = std::path::Path::new(&request.evidence.root).join("sign");
        let is_given = || std::fs::read_to_string(&sign).unwrap() == "given";
        assert!(until(Duration::from_secs(20), is_given), "the other thread waits too");
        once(request)
    });
    let code = "import signal, threading\n\
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n\
                t = threading.Thread(target=lambda: print(open('/etc/hosts').read() != ''))\n\
                t.start(); signal.sigwait([signal.SIGUSR1]); open('sign', 'w').write('given'); t.join()";
    let sign = asking.place.file("sign", "");
    asking
        .with(|sandbox| sandbox.write(sign))
        .python(code)
        .was_asked(&["--read /etc/hosts"])
        .prints("True\n");
}

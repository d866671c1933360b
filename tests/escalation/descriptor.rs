//! The caller answers over a socket that the run's launcher inherits.

use crate::common::{Finished, Place, STOCKADE, finish};

/// A caller as a program would write one: it answers each request by `how`, and prints what it saw.
const CALLER: &str = r#"
import json, os, socket, subprocess, sys
stockade, how, *rest = sys.argv[1:]
ours, theirs = socket.socketpair()
number = theirs.fileno()
words = [stockade, "run", "--ask", f"fd:{number}", "--profile", "readonly", "--"] + rest
child = subprocess.Popen(words, pass_fds=[number])
theirs.close()
lines = ours.makefile("r")
for line in lines:
    request = json.loads(line)
    if "withdrawn" in request:
        print("withdrawn")
        continue
    print("asked", request["reason"], flush=True)
    if how == "close":
        ours.shutdown(socket.SHUT_RDWR)
        break
    answer = {"id": request["id"], "answer": how}
    if how == "yes":
        answer["lifetime"] = "session"
    ours.sendall(json.dumps(answer).encode() + b"\n")
sys.exit(child.wait())
"#;

fn asked(place: &Place, how: &str, command: &[&str]) -> Finished {
    let mut caller = place.command("python3");
    caller.args(["-c", CALLER]).arg(STOCKADE).arg(how).args(command);
    finish(&mut caller, b"")
}

#[test]
fn a_yes_of_the_caller_makes_the_very_call_succeed() {
    let place = Place::new();
    let file = place.file("mine.txt", "content\n");
    let ran = asked(&place, "yes", &["cat", "mine.txt"]);
    let stdout = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(
        stdout.contains(&format!("asked PermissionDenied: read {}\n", file.display())) && stdout.contains("content\n"),
        "{stdout}"
    );
}

#[test]
fn a_no_and_a_closed_connection_are_a_refusal() {
    let place = Place::new();
    place.file("mine.txt", "content\n");
    for how in ["no", "close", "maybe"] {
        let ran = asked(&place, how, &["cat", "mine.txt"]);
        assert_eq!(ran.status.code(), Some(1), "{how}: {ran:?}");
        assert!(!String::from_utf8_lossy(&ran.stdout).contains("content"), "{how}");
    }
}

/// The launcher's copy is no descriptor of the target's.
#[test]
fn the_run_inherits_no_end_of_it() {
    let place = Place::new();
    let ran = asked(&place, "yes", &["sh", "-c", "ls -l /proc/self/fd | grep -c socket"]);
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "0\n", "{ran:?}");
}

#[test]
fn only_a_socket_above_the_standard_streams_is_taken() {
    let place = Place::new();
    for (number, why) in [
        ("1", "is one of the standard streams"),
        ("99", "isn't open"),
        ("9", "isn't a connected unix stream socket"),
    ] {
        let line = format!("exec 9</dev/null; exec \"$0\" run --ask fd:{number} -- true");
        let mut shell = place.command("bash");
        shell.args(["-c", &line]).arg(STOCKADE);
        let ran = finish(&mut shell, b"");
        assert_eq!(ran.status.code(), Some(125), "{number}");
        assert!(String::from_utf8_lossy(&ran.stderr).contains(why), "{number}: {ran:?}");
    }
}

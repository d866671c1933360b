//! What the other side says is an allegation.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use stockade_report::approve::{Answer, Choice, Waiting};

use crate::approvals::question::{ask, request};
use crate::common::Place;
use crate::common::{sockets, watch};

/// A watcher that says this to every run, whatever is asked.
fn parrot(state: &Path, words: Vec<u8>) {
    let directory = state.join("approvals");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(directory.join("1-parrot.sock")).unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = [0; 4096];
        let _ = stream.read(&mut question);
        let _ = stream.write_all(&words);
        // Stays, so that only the words can be the reason.
        let _ = stream.read_to_end(&mut Vec::new());
    });
}

fn answer_to(words: &[u8]) -> Answer {
    let place = Place::new();
    parrot(&place.state(), words.to_vec());
    ask(&place.state(), Waiting::OnlyWatched, request("/x")).answer().0
}

#[test]
fn an_answer_that_cant_be_used_is_a_no() {
    let yes = r#"{"version":1,"id":"id-of-/x","answer":"yes","lifetime":"once","by":"me","reason":null}"#;
    assert_eq!(
        answer_to(format!("{yes}\n").as_bytes()),
        Answer::yes(stockade_report::approve::Lifetime::Once, "me"),
        "otherwise the rest proves nothing"
    );
    for (words, why) in [
        ("yes\n".to_string(), "it isn't an answer"),
        ("\0\u{1b}\n".to_string(), "it isn't an answer"),
        (yes.replace("/x", "/y") + "\n", "it is the answer to another question"),
        (
            yes.replace("once", "always") + "\n",
            "the lifetime `always` wasn't offered",
        ),
        (yes.replace("\"by\"", "\"and\":1,\"by\"") + "\n", "unknown field"),
        (format!("{yes}\n{yes}\n"), "it is too long"),
        (" ".repeat(70_000), "it is too long"),
    ] {
        let answer = answer_to(words.as_bytes());
        assert_eq!(answer.choice, Choice::No { all: false }, "{why}");
        assert!(
            answer.reason.as_ref().is_some_and(|reason| reason.contains(why)),
            "{answer:?}"
        );
    }
}

#[test]
fn rubbish_at_the_watcher_is_no_question_and_keeps_no_run_from_asking() {
    let place = Place::new();
    let mut watch = watch(&place, &["--watch", "--plain"]);
    let socket = sockets(&place.state()).pop().unwrap();
    let mut streams = Vec::new();
    let endless = "x".repeat(300_000) + "\n";
    for words in ["", "{}\n", "half", "{\"version\":1}\n", &endless] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        let _ = stream.write_all(words.as_bytes());
        streams.push(stream);
    }
    let open = ask(&place.state(), Waiting::OnlyWatched, request("/real"));
    watch.awaits("1: read /real", 1);
    watch.types("1 once");
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
    assert_eq!(watch.said().matches("wants to").count(), 1);
}

// promise: answers.4
#[test]
fn hostile_texts_are_spelled_out() {
    let place = Place::new();
    let mut watch = watch(&place, &["--watch", "--plain"]);
    let mut hostile = request("/x\u{1b}]11;?\u{7}\n2: read /innocent\u{202e}");
    hostile.run = "r\u{1b}c".into();
    hostile.current_profile = "p\r".into();
    hostile.evidence.program = "/p\u{200b}".into();
    hostile.evidence.command = vec!["c\u{1b}[2J".into()];
    hostile.evidence.agent = Some("a\u{9b}".into());
    hostile.evidence.why = "w\n".into();
    hostile.evidence.warning = Some("!\u{8}".into());
    hostile.evidence.syscall = "s\t".into();
    let open = ask(&place.state(), Waiting::OnlyWatched, hostile);
    watch.awaits("wants to", 1);
    watch.types("1 details");
    watch.awaits("call: ", 1);
    watch.types("1 no \u{1b}[31m");
    assert!(matches!(open.answer().0.choice, Choice::No { .. }));
    watch.awaits(r"1: no: \u{1b}[31m", 1);
    let said = watch.said();
    let is_hidden = |c: char| c != '\n' && c.is_control() || matches!(c, '\u{202e}' | '\u{200b}');
    assert!(!said.contains(is_hidden), "{said:?}");
    assert!(!said.lines().any(|line| line.starts_with("2:")), "{said}");
}

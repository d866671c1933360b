//! However a call or a client ends, its runs end.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::session::Session;
use crate::common::{Place, is_alive, tries, until};

const PATIENCE: Duration = Duration::from_secs(20);

/// Begins a run that lasts, and waits for it; the call's id and the process.
fn lasting(session: &mut Session, place: &Place) -> (u64, i32) {
    let _ = std::fs::remove_file(place.root.join("pid"));
    let call = session.begin("run_command", json!({ "command": "echo $$ > pid; exec sleep 600" }));
    let mut process = None;
    let is_there = until(PATIENCE, || {
        let text = std::fs::read_to_string(place.root.join("pid")).unwrap_or_default();
        process = text.trim().parse().ok().filter(|_| text.ends_with('\n'));
        process.is_some()
    });
    assert!(is_there, "the run begins");
    (call, process.unwrap())
}

fn ends(process: i32) -> bool {
    until(PATIENCE, || !is_alive(process))
}

#[test]
fn a_cancelled_call_ends_its_run() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let (call, process) = lasting(&mut session, &place);
    session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": call } }));
    assert!(ends(process));
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
}

#[test]
fn a_call_that_is_cancelled_at_once_leaves_nothing_behind() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--parallel", "2"], None);
    for round in 0..tries(10_u64, 200) {
        let call = session.begin("run_command", json!({ "argv": ["sleep", "600"] }));
        std::thread::sleep(Duration::from_millis(round * 7 % 60));
        session
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": call } }));
    }
    // Each place is free again.
    for _ in 0..3 {
        assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
    }
    assert_eq!(session.ends(), Some(0));
    assert!(
        until(PATIENCE, || place.leftovers().is_empty()),
        "{:?}",
        place.leftovers()
    );
}

#[test]
fn runs_end_where_the_client_is_gone() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let (_, process) = lasting(&mut session, &place);
    session.vanish();
    assert!(
        until(Duration::from_secs(4), || !is_alive(process)),
        "it doesn't take the five seconds of a client that reads on"
    );
    assert!(until(PATIENCE, || session.server.try_wait().unwrap().is_some()));
}

#[test]
fn a_client_that_closed_its_end_gets_the_answers_that_come_soon() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    let call = session.begin("run_command", json!({ "command": "sleep 0.3; echo late" }));
    session.close();
    assert_eq!(session.wait(call)["result"]["structuredContent"]["stdout"], "late\n");
    assert_eq!(session.ends(), Some(0));
}

#[test]
fn runs_end_with_the_server_whatever_ends_it() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGKILL] {
        let place = Place::new();
        let mut session = Session::start(&place, &[], None);
        let (_, process) = lasting(&mut session, &place);
        kill(Pid::from_raw(session.server.id().cast_signed()), signal).unwrap();
        assert!(ends(process), "{signal}");
        assert!(
            until(PATIENCE, || session.server.try_wait().unwrap().is_some()),
            "{signal}"
        );
    }
}

/// Has an answer written that is more than a pipe holds; the client reads none of it.
fn unread(session: &mut Session, place: &Place) {
    let line = "touch began; head -c 60000 /dev/urandom | base64; touch written";
    session.begin("run_command", json!({ "command": line }));
    assert!(until(PATIENCE, || place.root.join("written").exists()));
    // The server hears of the run's end, and answers.
    std::thread::sleep(Duration::from_secs(1));
}

#[test]
fn a_client_that_does_not_read_keeps_no_server() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    unread(&mut session, &place);
    let server = Pid::from_raw(session.server.id().cast_signed());
    kill(server, Signal::SIGTERM).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        session.server.try_wait().unwrap().is_none(),
        "it waits for the client to read"
    );
    kill(server, Signal::SIGTERM).unwrap();
    assert!(until(Duration::from_secs(3), || session
        .server
        .try_wait()
        .unwrap()
        .is_some()));
    let mut session = Session::start(&place, &[], None);
    unread(&mut session, &place);
    session.close();
    assert!(until(PATIENCE, || session.server.try_wait().unwrap().is_some()));
}

#[test]
fn a_client_that_does_not_read_is_not_read_either_until_it_does() {
    const REQUESTS: u64 = 8_000;
    let place = Place::new();
    let mut session = Session::start(&place, &["--parallel", "1"], None);
    let (call, process) = lasting(&mut session, &place);
    let mut input = session.input.take().unwrap();
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        for id in 1..=REQUESTS {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}}\n",
                1_000 + id
            );
            input.write_all(line.as_bytes()).expect("the server reads");
            count.store(id, Ordering::Relaxed);
        }
        input
    });
    let mut before = 0;
    let stands = until(PATIENCE, || {
        std::thread::sleep(Duration::from_secs(1));
        std::mem::replace(&mut before, written.load(Ordering::Relaxed)) == before
    });
    assert!(
        stands && before < REQUESTS,
        "{before} requests were taken from a client that reads no answer"
    );
    // Now it reads. Everything is answered, and a cancelled call ends.
    session.wait(1_000 + REQUESTS);
    session.input = Some(writer.join().unwrap());
    session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": call } }));
    assert!(ends(process));
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
}

#[test]
fn a_client_that_does_not_read_is_waited_for_five_seconds_where_nothing_runs() {
    let place = Place::new();
    let mut session = Session::start(&place, &[], None);
    unread(&mut session, &place);
    kill(Pid::from_raw(session.server.id().cast_signed()), Signal::SIGTERM).unwrap();
    let began = Instant::now();
    assert!(until(PATIENCE, || session.server.try_wait().unwrap().is_some()));
    let took = began.elapsed();
    assert!(took < Duration::from_millis(7_500), "{took:?}");
}

#[test]
fn a_client_that_says_nothing_is_no_failure() {
    let place = Place::new();
    assert_eq!(Session::silent(&place, &[]).ends(), Some(0));
}

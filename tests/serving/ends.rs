//! However a call or a client ends, its runs end.

use std::time::Duration;

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
fn a_client_that_says_nothing_is_no_failure() {
    let place = Place::new();
    assert_eq!(Session::silent(&place, &[]).ends(), Some(0));
}

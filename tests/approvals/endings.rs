//! However a watcher ends, nothing hangs and nothing is left.

use std::time::Duration;

use nix::sys::signal::Signal;
use stockade::approve::{Answer, SocketApprover, Waiting};

use crate::approvals::question::{LONG, ask, request};
use crate::common::Place;
use crate::common::{sockets, watch};

const PLAIN: &[&str] = &["--watch", "--plain"];

#[test]
fn when_the_watcher_is_killed_all_that_waits_is_refused_at_once() {
    let place = Place::new();
    let state = place.state();
    let mut watch = watch(&place, PLAIN);
    let open: Vec<_> = (0..10)
        .map(|number| ask(&state, Waiting::ForSomebody, request(&format!("/q{number}"))))
        .collect();
    watch.awaits("wants to read", 10);
    watch.signals(Signal::SIGKILL);
    let killed = std::time::Instant::now();
    watch.ended();
    for open in open {
        assert_eq!(
            open.answer().0,
            Answer::silence("`stockade approvals` ended before it answered")
        );
    }
    assert!(killed.elapsed() < LONG / 2);
    // What it left is removed by who finds it.
    assert_eq!(sockets(&state).len(), 1);
    assert!(!SocketApprover::new(&state, Waiting::OnlyWatched).is_watched());
    assert!(sockets(&state).is_empty());
}

#[test]
fn a_stopped_watcher_costs_no_more_than_patience() {
    let place = Place::new();
    let watch = watch(&place, PLAIN);
    watch.signals(Signal::SIGSTOP);
    let time = Duration::from_millis(400);
    let open = crate::approvals::question::ask_for(&place.state(), Waiting::OnlyWatched, request("/x"), time);
    let (answer, took) = open.answer();
    assert_eq!(answer, Answer::silence("no answer within 400ms"));
    assert!(took < LONG / 2);
}

#[test]
fn a_signal_ends_it_and_removes_the_socket() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let place = Place::new();
        let mut watch = watch(&place, PLAIN);
        watch.signals(signal);
        assert_eq!(watch.ended().code(), Some(code));
        assert!(sockets(&place.state()).is_empty());
    }
}

#[test]
fn quitting_refuses_what_waits() {
    let place = Place::new();
    let mut watch = watch(&place, PLAIN);
    let open = ask(&place.state(), Waiting::ForSomebody, request("/x"));
    watch.awaits("wants to read", 1);
    watch.types("quit");
    assert_eq!(
        open.answer().0,
        Answer::silence("`stockade approvals` ended before it answered")
    );
    assert_eq!(watch.ended().code(), Some(0));
    watch.awaits("1: refused, no `stockade approvals` is watching any more", 1);
    assert!(sockets(&place.state()).is_empty());
}

#[test]
fn without_questions_it_ends_by_itself() {
    let place = Place::new();
    let mut watch = watch(&place, &[]);
    assert_eq!(watch.ended().code(), Some(0));
    watch.awaits("nothing waits\n", 1);
    assert_eq!(watch.said(), "nothing waits\n");
}

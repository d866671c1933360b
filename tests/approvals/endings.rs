//! However a watcher ends, nothing hangs and nothing is left.

use std::io::Write;
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use stockade_report::approve::{Answer, Choice, SocketApprover, Waiting};

use crate::approvals::question::{LONG, ask, request};
use crate::common::{Place, STOCKADE, finish, sockets, until, watch};

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
fn a_signal_ends_it_while_its_output_is_not_read() {
    let place = Place::new();
    let (_unread, output) = nix::unistd::pipe().unwrap();
    nix::fcntl::fcntl(&output, nix::fcntl::FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    let full = output.try_clone().unwrap();
    let mut command = place.command(STOCKADE);
    command
        .arg("approvals")
        .args(PLAIN)
        .stdin(Stdio::piped())
        .stdout(output);
    let mut watch = command.spawn().unwrap();
    drop(command);
    let mut input = watch.stdin.take().unwrap();
    input.write_all("help\n".repeat(100).as_bytes()).unwrap();
    // The first help fills it, the second one waits.
    let is_full = || poll(&mut [PollFd::new(full.as_fd(), PollFlags::POLLOUT)], PollTimeout::ZERO) == Ok(0);
    assert!(until(LONG, is_full));
    nix::sys::signal::kill(Pid::from_raw(watch.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(watch.wait().unwrap().code(), Some(143));
    assert!(sockets(&place.state()).is_empty());
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
fn a_list_is_only_a_list() {
    let place = Place::new();
    let open = ask(&place.state(), Waiting::ForSomebody, request("/x"));
    let listed = finish(place.command(STOCKADE).args(["approvals"]), b"");
    assert_eq!(listed.status.code(), Some(0));
    let listed = listed.stdout();
    assert!(
        listed.contains("wants to read") && !listed.contains("refused, no"),
        "{listed}"
    );
    let mut watch = watch(&place, PLAIN);
    watch.awaits("wants to read", 1);
    watch.types("1 y");
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
}

#[test]
fn without_questions_it_ends_by_itself() {
    let place = Place::new();
    let mut watch = watch(&place, &[]);
    assert_eq!(watch.ended().code(), Some(0));
    watch.awaits("nothing waits\n", 1);
    assert_eq!(watch.said(), "nothing waits\n");
}

//! Questions at the terminal of the run, which is stopped meanwhile.

use super::*;

#[test]
fn where_the_run_can_not_be_held_nothing_is_asked_at_its_terminal() {
    let mut bench = Bench::with(Manner::InPlace, |_| {});
    let id = bench.read("/x/a");
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    assert_eq!(bench.reasons(), ["refused by Stockade: it can't be held"]);
}

#[test]
fn before_linux_5_19_no_run_is_held() {
    let (mut bench, _tree) = Bench::in_place();
    lock(&bench.server).held.as_mut().unwrap().0.is_interruptible = true;
    bench.read("/x/a");
    assert!(
        bench.reasons()[0].contains("before Linux 5.19"),
        "{:?}",
        bench.reasons()
    );
}

#[test]
fn at_the_terminal_one_question_is_open_at_a_time_and_calls_are_answered_after_the_last() {
    let (mut bench, _tree) = Bench::in_place();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/y/a");
    assert_eq!(bench.open(), ["/x/a"]);
    bench.answer(&asked, no());
    assert_eq!(bench.open(), ["/y/a"]);
    assert_eq!(bench.served(), []);
    let asked = bench.asked();
    bench.answer(&asked, no());
    assert_eq!(bench.served(), [Refused(first, REFUSED), Refused(second, REFUSED)]);
    assert!(bench.queue.hold.is_none());
}

#[test]
fn an_answer_from_a_run_that_went_on_meanwhile_counts_as_none() {
    let (mut bench, mut tree) = Bench::in_place();
    let (id, asked) = bench.asked_about("/x/a");
    assert!(!asked.deadline.is_broken());
    tree.grow();
    assert!(asked.deadline.is_broken());
    bench.answer(&asked, for_the_session());
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    assert_eq!(bench.reasons(), ["the run went on while the question was open"]);
    assert!(!bench.queue.approvals.opened().path(Access::READ, "/x/a".as_ref()));
}

#[test]
fn after_ctrl_c_the_waiting_calls_are_refused_without_a_question() {
    let (mut bench, _tree) = Bench::in_place();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/y/a");
    lock(&bench.server).interrupted.extend([first, second]);
    // The key is announced before its signal is sent, and the answer comes after it.
    asked.deadline.interrupt();
    bench.look();
    bench.answer(&asked, no());
    assert_eq!(bench.served(), [Refused(first, REFUSED), Refused(second, REFUSED)]);
    assert!(bench.open().is_empty());
}

#[test]
fn after_ctrl_z_the_same_question_comes_again() {
    use stockade_sys::signals::{ignored, reset_dispositions};
    let bit = |signal: i32| 1 << (signal - 1);
    // Ignored, the signal that stops Stockade stops nothing.
    reset_dispositions(ignored() | bit(libc::SIGTSTP) | bit(libc::SIGPIPE));
    let (mut bench, _tree) = Bench::in_place();
    let (id, asked) = bench.asked_about("/x/a");
    asked.deadline.suspend();
    bench.answer(&asked, Answer::silence("suspended"));
    assert_eq!(bench.served(), []);
    let again = bench.asked();
    assert_eq!(again.target(), "/x/a");
    bench.answer(&again, once());
    assert_eq!(bench.served(), [Again(id)]);
}

//! What goes wrong, and how much is too much.

use super::*;

#[test]
fn questions_without_an_answer_refuse_and_the_third_is_the_last() {
    let mut bench = Bench::new();
    for directory in ["/x", "/y", "/z"] {
        let (id, asked) = bench.asked_about(&format!("{directory}/a"));
        bench.answer(&asked, Answer::silence("asleep"));
        assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    }
    bench.read("/v/a");
    assert!(bench.open().is_empty());
    assert_eq!(bench.reasons().last().unwrap(), "no answer to the questions before");
}

#[test]
fn no_more_than_twenty_questions_are_asked_within_a_minute() {
    let mut bench = Bench::new();
    for number in 0..20 {
        bench.read(&format!("/{number}/a"));
    }
    assert_eq!(bench.queue.open.len(), 20);
    let one_more = bench.read("/20/a");
    assert_eq!(bench.served(), [Refused(one_more, REFUSED)]);
    assert_eq!(
        bench.reasons(),
        ["refused by Stockade: this run has asked 20 times within a minute"]
    );
}

#[test]
fn more_waiting_calls_than_there_is_room_for_are_refused() {
    let mut bench = Bench::new();
    for number in 0..=MAX_WAITING {
        bench.read(&format!("/x/{number}"));
    }
    assert_eq!((bench.open().len(), bench.queue.waiting.len()), (1, MAX_WAITING));
    assert_eq!(bench.served(), []);
    let one_more = bench.read("/x/more");
    assert_eq!(bench.served(), [Refused(one_more, REFUSED)]);
}

#[test]
fn an_interrupted_call_gets_eintr_and_its_question_is_withdrawn() {
    let mut bench = Bench::new();
    let (id, asked) = bench.asked_about("/x/a");
    lock(&bench.server).interrupted.insert(id);
    bench.look();
    assert_eq!(bench.served(), [Refused(id, libc::EINTR)]);
    assert!(asked.deadline.is_withdrawn());
    let escalation = bench.queue.approvals.escalation().unwrap();
    assert_eq!(escalation.requests[0].answer.choice, Choice::Silence);
}

#[test]
fn a_question_stays_while_one_of_its_calls_waits() {
    let mut bench = Bench::new();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/x/a");
    lock(&bench.server).interrupted.insert(first);
    let waiting = bench.read("/x/b");
    assert_eq!(bench.served(), [Refused(first, libc::EINTR)]);
    assert!(!asked.deadline.is_withdrawn());
    bench.answer(&asked, once());
    assert_eq!(bench.served(), [Again(second)]);
    lock(&bench.server).interrupted.insert(waiting);
    bench.look();
    assert_eq!(bench.served(), [Refused(waiting, libc::EINTR)]);
}

#[test]
fn an_approver_that_takes_longer_than_it_may_is_given_up_and_its_answer_comes_too_late() {
    let mut bench = Bench::with(Manner::Beside, |asking| asking.timeout = Duration::ZERO);
    let (id, asked) = bench.asked_about("/x/a");
    assert_eq!(bench.open(), ["/x/a"]);
    bench.queue.open[0].begun -= GRACE;
    bench.look();
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    assert_eq!(bench.reasons(), ["no answer within 0 s"]);
    asked.reply.send(for_the_session()).unwrap();
    bench.round();
    assert_eq!(bench.served(), []);
    assert!(!bench.queue.approvals.opened().path(Access::READ, "/x/a".as_ref()));
}

#[test]
fn a_panic_of_the_approver_is_no_answer_and_is_told() {
    let mut bench = Bench::new();
    let id = bench.read("/panic/a");
    while !bench.queue.open.is_empty() {
        bench.round();
    }
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    assert_eq!(bench.reasons(), ["asking failed"]);
    assert_eq!(bench.queue.journal().faults.list()[0].part, FaultyPart::Approver);
}

#[test]
fn a_panic_of_the_queue_refuses_every_call_and_the_queue_goes_on() {
    let mut bench = Bench::new();
    let (_, asked) = bench.asked_about("/x/a");
    let (_, beside) = bench.asked_about("/y/a");
    bench.read("/y/b");
    lock(&bench.server).is_broken = true;
    bench.answer(&asked, once());
    let served = bench.served();
    assert_eq!(served, [1, 2, 3].map(|id| Refused(id, REFUSED)));
    assert!(beside.deadline.is_withdrawn());
    assert_eq!(bench.queue.journal().faults.list()[0].part, FaultyPart::Questions);
    lock(&bench.server).is_broken = false;
    let (id, asked) = bench.asked_about("/z/a");
    bench.answer(&asked, once());
    assert_eq!(bench.served(), [Again(id)]);
}

#[test]
fn a_granted_call_that_no_thread_can_handle_fails_for_now() {
    let mut bench = Bench::new();
    lock(&bench.server).has_no_threads = true;
    let (id, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, once());
    assert_eq!(bench.served(), [Refused(id, libc::EAGAIN)]);
    assert!(bench.queue.owed.is_empty());
}

#[test]
fn the_queue_ends_with_the_run() {
    let mut bench = Bench::new();
    bench.queue.replies.send(Message::Over).unwrap();
    assert!(!bench.round());
}

#[test]
fn a_thread_serves_the_queue_until_the_run_is_over() {
    let bench = Bench::new();
    let PromptQueue {
        server,
        approvals,
        approver_pool,
        ..
    } = bench.queue;
    let sender = PromptQueue::start(server, approvals, approver_pool).unwrap();
    let call = Box::new(question(1, Kind::Read, "/x/a"));
    sender.send(Message::Question(call)).unwrap();
    let asked = bench.asked.recv_timeout(Duration::from_secs(10)).unwrap();
    sender.send(Message::Over).unwrap();
    while !asked.deadline.is_withdrawn() {
        std::thread::yield_now();
    }
}

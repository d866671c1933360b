//! Answers reach the run that asked.

use std::time::Duration;

use stockade_report::approve::{Answer, Choice, Extent, Lifetime, SocketApprover, Waiting};

use crate::approvals::question::{LONG, ask, ask_for, request};
use crate::common::{Place, STOCKADE, Terminal, run, watch};

const PLAIN: &[&str] = &["--watch", "--plain"];

#[test]
fn ten_questions_at_once_each_get_their_own_answer() {
    let place = Place::new();
    let mut watch = watch(&place, PLAIN);
    let open: Vec<_> = (0..10)
        .map(|number| ask(&place.state(), Waiting::OnlyWatched, request(&format!("/q{number}"))))
        .collect();
    watch.awaits("wants to read", 10);
    for at in 0..10 {
        let number = watch.number_of(&format!("/q{at}"));
        watch.types(&match at % 2 {
            0 => format!("{number} once"),
            _ => format!("{number} no because of {at}"),
        });
    }
    for (at, open) in open.into_iter().enumerate() {
        let (answer, _) = open.answer();
        assert!(answer.by.ends_with(" at approvals"), "{answer:?}");
        let expected = match at % 2 {
            0 => Answer::yes(Lifetime::Once, answer.by.clone()),
            _ => Answer::no(answer.by.clone()).because(format!("because of {at}")),
        };
        assert_eq!(answer, expected);
    }
    assert_eq!(watch.complaints(), "");
}

#[test]
fn a_question_waits_for_somebody_to_come() {
    let place = Place::new();
    let open = ask(&place.state(), Waiting::ForSomebody, request("/early"));
    // Only time shows that it doesn't give up.
    std::thread::sleep(Duration::from_millis(300));
    assert!(!open.asking.is_finished());
    let mut watch = watch(&place, &[]);
    watch.awaits("1: read /early", 1);
    watch.types("1 W");
    let (answer, _) = open.answer();
    let (lifetime, extent) = (Lifetime::Session, Extent::Wider);
    assert_eq!(answer.choice, Choice::Yes { lifetime, extent });
    // Without `--watch` it ends when nothing waits.
    assert_eq!(watch.ended().code(), Some(0));
}

#[test]
fn a_program_reads_questions_as_lines_of_json() {
    let place = Place::new();
    let mut watch = watch(&place, &["--watch", "--json"]);
    let open = ask(&place.state(), Waiting::OnlyWatched, request("/one"));
    watch.awaits("/one", 1);
    watch.types("1 no because");
    assert_eq!(open.answer().0.reason.as_deref(), Some("because"));
    watch.awaits("\"answered\"", 1);
    let said = watch.said();
    let events: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let [asked, answered] = events.as_slice() else {
        panic!("{said}")
    };
    assert_eq!((&asked["event"], &asked["number"]), (&"asked".into(), &1.into()));
    let answers = ["yes", "once", "wider", "no", "details"];
    assert!(
        answers
            .iter()
            .all(|word| asked["answers"].as_array().unwrap().contains(&(*word).into())),
        "{asked}"
    );
    assert_eq!(asked["request"]["evidence"]["target"], "/one");
    assert!(asked["left_ms"].as_u64().is_some_and(|left| left > 0));
    assert_eq!(
        (&answered["answer"], &answered["reason"]),
        (&"no".into(), &"because".into())
    );
}

#[test]
fn where_no_watcher_is_the_answer_is_silence_at_once() {
    let place = Place::new();
    assert!(!SocketApprover::new(place.state(), Waiting::OnlyWatched).is_watched());
    let (answer, took) = ask(&place.state(), Waiting::OnlyWatched, request("/x")).answer();
    assert_eq!(answer, Answer::silence("no `stockade approvals` is watching"));
    assert!(took < LONG / 2);
    let _watch = watch(&place, PLAIN);
    assert!(SocketApprover::new(place.state(), Waiting::OnlyWatched).is_watched());
}

#[test]
fn of_two_watchers_the_first_answer_counts_and_the_other_is_told() {
    let place = Place::new();
    let (one, mut two) = (watch(&place, PLAIN), watch(&place, PLAIN));
    let open = ask(&place.state(), Waiting::OnlyWatched, request("/both"));
    one.awaits("1: read /both", 1);
    two.awaits("1: read /both", 1);
    two.types("1 y");
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
    one.awaits("1: isn't asked any more", 1);
}

#[test]
fn a_question_disappears_when_time_is_over_or_it_is_not_needed() {
    let place = Place::new();
    let watch = watch(&place, PLAIN);
    let late = ask_for(
        &place.state(),
        Waiting::OnlyWatched,
        request("/late"),
        Duration::from_secs(3),
    );
    let withdrawn = ask(&place.state(), Waiting::OnlyWatched, request("/withdrawn"));
    watch.awaits("wants to read", 2);
    withdrawn.deadline.withdraw();
    assert_eq!(
        withdrawn.answer().0,
        Answer::silence("the answer isn't needed any more")
    );
    assert_eq!(late.answer().0, Answer::silence("no answer within 3s"));
    watch.awaits("isn't asked any more", 2);
}

#[test]
fn no_to_all_answers_all_of_that_run() {
    let place = Place::new();
    let mut watch = watch(&place, PLAIN);
    let mut other = request("/other");
    other.run = "0191".into();
    let mine: Vec<_> = ["/a", "/b"]
        .map(|target| ask(&place.state(), Waiting::OnlyWatched, request(target)))
        .into();
    let other = ask(&place.state(), Waiting::OnlyWatched, other);
    watch.awaits("wants to read", 3);
    watch.types(&format!("{} no all", watch.number_of("/b")));
    for open in mine {
        assert_eq!(open.answer().0.choice, Choice::No { all: true });
    }
    watch.types("all no enough");
    let answer = other.answer().0;
    assert_eq!(
        (answer.choice, answer.reason.as_deref()),
        (Choice::No { all: false }, Some("enough"))
    );
}

#[test]
fn what_was_never_offered_cant_be_answered() {
    let place = Place::new();
    let mut watch = watch(&place, PLAIN);
    let open = ask(&place.state(), Waiting::OnlyWatched, request("/x"));
    watch.awaits("wants to read", 1);
    for line in ["1 always", "1 once trusted", "1 session", "1 on", "1"] {
        let before = watch.complaints().matches("that is no answer").count();
        watch.types(line);
        watch.awaits_complaint_times(
            "1: that is no answer; it is one of these: [y]es for this run, [o]nce, [w]ider",
            before + 1,
        );
    }
    watch.types("y");
    watch.awaits_complaint("`y` isn't the number of a question with an answer");
    watch.types("2 once");
    watch.awaits_complaint("there is no question 2");
    watch.types("1 d");
    watch.awaits("root: /r", 1);
    watch.types("1 once");
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
}

#[test]
fn a_script_answers_what_waits_when_it_comes() {
    let place = Place::new();
    let open = ask(&place.state(), Waiting::ForSomebody, request("/scripted"));
    let mut watch = watch(&place, &[]);
    watch.types("1 no by script");
    watch.closes();
    assert_eq!(open.answer().0.reason.as_deref(), Some("by script"));
    assert_eq!(watch.ended().code(), Some(0));
}

#[test]
fn what_is_typed_at_a_terminal_before_a_question_is_no_answer() {
    let run = run();
    let open = ask(&run.place.state(), Waiting::ForSomebody, request("/early"));
    let command = vec![STOCKADE.into(), "approvals".into()];
    let code = Terminal::new()
        .types("1 y\n")
        .awaits("1: read /early")
        .awaits("answers: ")
        .types("1 n mine\n")
        .ends_within(20)
        .plays_command(&run, command);
    assert_eq!(code, 0);
    assert_eq!(open.answer().0.reason.as_deref(), Some("mine"));
}

#[test]
fn a_socket_is_reached_however_long_its_path_is() {
    let place = Place::new();
    let base = place.path(&"long/".repeat(40));
    std::fs::create_dir_all(&base).unwrap();
    let state = base.join("stockade");
    let open = ask(&state, Waiting::ForSomebody, request("/far"));
    let mut watcher = stockade_report::approve::socket::Watcher::begin(&state).unwrap();
    let came = crate::common::until(Duration::from_secs(20), || {
        watcher.hear();
        watcher.question(1).is_some()
    });
    assert!(came);
    let left = watcher.question(1).unwrap().request.timeout_ms;
    assert!(left < 60_000, "who comes late has less time: {left}");
    watcher.answer(1, &Answer::no("x")).unwrap();
    assert_eq!(open.answer().0, Answer::no("x"));
}

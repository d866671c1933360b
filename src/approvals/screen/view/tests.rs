//! Keys pressed at a drawn list.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::approvals::screen::state::Effect;
use stockade_report::approve::samples::request;
use stockade_report::approve::{Lifetime, Requested};
use stockade_text::visible::is_visible;

fn question(number: u32, run: &str) -> WaitingQuestion {
    let mut request = request();
    request.run = run.into();
    request.evidence.target = format!("/etc/file{number}");
    WaitingQuestion {
        number,
        request,
        deadline: Instant::now() + Duration::from_secs(60),
    }
}

fn drawn(state: &State, questions: &[&WaitingQuestion]) -> String {
    let mut terminal = Terminal::new(TestBackend::new(100, 34)).unwrap();
    terminal.draw(|frame| draw(frame, state, questions)).unwrap();
    terminal.backend().to_string()
}

fn key(letter: char) -> KeyEvent {
    let code = match letter {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '\u{1b}' => KeyCode::Esc,
        '↓' => KeyCode::Down,
        letter => KeyCode::Char(letter),
    };
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn press(state: &mut State, questions: &[&WaitingQuestion], keys: &str) -> Effect {
    let mut effect = Effect::Nothing;
    for letter in keys.chars() {
        effect = state.keys(&[key(letter)], questions);
    }
    effect
}

fn paste(state: &mut State, questions: &[&WaitingQuestion], keys: &str) -> Effect {
    let keys: Vec<KeyEvent> = keys.chars().map(key).collect();
    state.keys(&keys, questions)
}

fn settled(questions: &[&WaitingQuestion]) -> State {
    let mut state = State::new();
    state.settle(questions);
    state
}

#[test]
fn questions_stand_below_their_run_with_the_details_of_the_chosen_one() {
    let all = [question(1, "run-a"), question(2, "run-b"), question(3, "run-a")];
    let all: Vec<&WaitingQuestion> = all.iter().collect();
    let text = drawn(&settled(&all), &all);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{text}"));
    let order = [
        "3 waiting",
        "run run-a: python3 'read it.py' (minimal, agent coder)",
        "> ",
        "1:  60 s  read /etc/file1",
    ];
    let order = order
        .iter()
        .chain(&["3:  60 s  read /etc/file3", "run run-b", "2:  60 s  read /etc/file2"]);
    let order = order.chain(
        &[
            "would be granted: --read /etc/hosts",
            "wider: --read /etc",
            "nothing grants it",
        ][..2],
    );
    let places: Vec<usize> = order.map(|part| at(part)).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
}

fn yes(number: u32, lifetime: Lifetime, extent: Extent) -> Effect {
    Effect::Answer(number, Choice::Yes { lifetime, extent }, None)
}

fn no(reason: Option<&str>) -> Effect {
    Effect::Answer(1, Choice::No { all: false }, reason.map(Into::into))
}

#[test]
fn the_watch_takes_the_words_of_every_question_with_enter() {
    let all = [question(1, "a")];
    let all: Vec<&WaitingQuestion> = all.iter().collect();
    let mut state = settled(&all);
    assert_eq!(press(&mut state, &all, "y"), Effect::Nothing);
    assert!(drawn(&state, &all).contains("1: y_  Enter: yes, for this run: --read /etc/hosts"));
    assert_eq!(
        press(&mut state, &all, "\u{1b}\n"),
        Effect::Nothing,
        "Esc takes it back"
    );
    for (keys, effect) in [
        ("y\n", yes(1, Lifetime::Session, Extent::Requested)),
        ("YES\n", yes(1, Lifetime::Session, Extent::Requested)),
        ("once\n", yes(1, Lifetime::Once, Extent::Requested)),
        ("A\n", yes(1, Lifetime::Always, Extent::Requested)),
        ("wider\n", yes(1, Lifetime::Session, Extent::Wider)),
        ("w a\n", yes(1, Lifetime::Always, Extent::Wider)),
        ("n\n", no(None)),
        ("no not so\n", no(Some("not so"))),
        ("n all\n", Effect::Answer(1, Choice::No { all: true }, None)),
    ] {
        assert_eq!(press(&mut state, &all, keys), effect, "{keys}");
    }
    for keys in ["\n", "s\n", "yes please\n", "on\n", "?\n"] {
        assert_eq!(press(&mut state, &all, keys), Effect::Nothing, "{keys}");
        assert!(drawn(&state, &all).contains("that is no answer"), "{keys}");
    }
}

#[test]
fn details_are_shown_on_the_word_and_hidden_on_the_next() {
    let one = question(1, "a");
    let mut state = settled(&[&one]);
    assert!(!drawn(&state, &[&one]).contains("command: python3"));
    press(&mut state, &[&one], "d\n");
    assert!(drawn(&state, &[&one]).contains("command: python3 'read it.py'"));
    press(&mut state, &[&one], "details\n");
    assert!(!drawn(&state, &[&one]).contains("command: python3"));
}

#[test]
fn a_paste_is_no_answer_and_begins_none() {
    let all = [question(1, "a")];
    let all: Vec<&WaitingQuestion> = all.iter().collect();
    let mut state = settled(&all);
    for text in ["yes\n", "y\n", "\n\ny", "\u{1b}y\n", "w\n", "q\n"] {
        assert_eq!(paste(&mut state, &all, text), Effect::Nothing, "{text:?}");
        assert!(drawn(&state, &all).contains("several keys at once"), "{text:?}");
        assert_eq!(press(&mut state, &all, "\n"), Effect::Nothing, "{text:?}");
    }
    press(&mut state, &all, "y");
    assert_eq!(paste(&mut state, &all, "\n\n"), Effect::Nothing);
    assert_eq!(press(&mut state, &all, "\n"), Effect::Nothing);
    press(&mut state, &all, "y");
    let escaped = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::ALT);
    assert_eq!(state.keys(&[escaped], &all), Effect::Nothing);
    assert_eq!(
        press(&mut state, &all, "\n"),
        Effect::Nothing,
        "Esc and a letter at once"
    );
    press(&mut state, &all, "no ");
    paste(&mut state, &all, "because");
    assert_eq!(press(&mut state, &all, "\n"), no(Some("because")));
}

#[test]
fn a_yes_never_goes_to_another_question_than_it_was_begun_for() {
    let (first, second) = (question(1, "a"), question(2, "a"));
    let mut state = settled(&[&first, &second]);
    press(&mut state, &[&first, &second], "y");
    state.settle(&[&second]);
    assert_eq!(state.selected, Some(2));
    assert!(drawn(&state, &[&second]).contains("1: isn't asked any more"));
    assert_eq!(press(&mut state, &[&second], "\n"), Effect::Nothing);
    let mut state = settled(&[&first, &second]);
    assert_eq!(
        press(&mut state, &[&first, &second], "y↓\n"),
        Effect::Nothing,
        "it was for the first"
    );
    let second_yes = yes(2, Lifetime::Session, Extent::Requested);
    assert_eq!(press(&mut state, &[&first, &second], "y\n"), second_yes);
}

#[test]
fn what_isnt_offered_cant_be_chosen() {
    let mut narrow = question(1, "a");
    narrow.request.wider = None;
    narrow.request.lifetimes = vec![Lifetime::Once];
    let mut state = settled(&[&narrow]);
    for keys in ["w\n", "a\n"] {
        assert_eq!(press(&mut state, &[&narrow], keys), Effect::Nothing, "{keys}");
    }
}

#[test]
fn trusted_is_typed() {
    let mut wide = question(1, "a");
    wide.request.requested = Requested::Profile("trusted".into());
    let mut state = settled(&[&wide]);
    assert_eq!(press(&mut state, &[&wide], "y\n"), Effect::Nothing);
    let trusted = yes(1, Lifetime::Session, Extent::Profile("trusted".into()));
    assert_eq!(press(&mut state, &[&wide], "trusted\n"), trusted);
}

#[test]
fn leaving_is_confirmed_where_something_waits() {
    let one = question(1, "a");
    let mut state = settled(&[&one]);
    assert_eq!(press(&mut state, &[&one], "q\n"), Effect::Nothing);
    assert!(drawn(&state, &[&one]).contains("1 waiting will be refused"));
    assert_eq!(press(&mut state, &[&one], "\u{1b}\n"), Effect::Nothing);
    assert_eq!(press(&mut state, &[&one], "quit\n\n"), Effect::Quit);
    assert_eq!(press(&mut settled(&[]), &[], "q\n"), Effect::Quit);
}

#[test]
fn names_keep_their_directory_at_forty_columns() {
    let mut one = question(1, "a");
    one.request.evidence.target = "/home/ada/projects/shop/data/sales.csv".into();
    let mut terminal = Terminal::new(TestBackend::new(40, 34)).unwrap();
    terminal.draw(|frame| draw(frame, &settled(&[&one]), &[&one])).unwrap();
    let text = terminal.backend().to_string();
    for part in [
        "/data/sales.csv",
        "[y]es for this run, [o]nce, [a]lways,",
        "[q]uit, and Enter: _",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn hostile_texts_are_spelled_out() {
    let mut hostile = question(1, "a\u{1b}[2J");
    hostile.request.evidence.target = "/x\u{1b}]11;?\u{7}\n\u{202e}y".into();
    hostile.request.evidence.program = "/p\u{200b}".into();
    hostile.request.evidence.why = "w\ny".into();
    hostile.request.evidence.warning = Some("a\rb".into());
    let mut state = settled(&[&hostile]);
    state.remember("1: \u{1b}[31m");
    let text = drawn(&state, &[&hostile]);
    assert!(text.chars().all(|c| c == '\n' || is_visible(c)));
    for part in [
        r"$'/x\033]11;?\007\012\342\200\256y'",
        r"$'/p\342\200\213'",
        r"w\ny",
        r"a\rb",
        r"\u{1b}[31m",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn no_row_of_a_question_begins_with_a_text_of_the_run() {
    let mut hostile = question(1, "a");
    let name = format!("/r/{}", "would be granted: nothing ".repeat(40));
    hostile.request.evidence.program.clone_from(&name);
    hostile.request.evidence.target.clone_from(&name);
    hostile.request.evidence.root = name;
    let mut state = settled(&[&hostile]);
    state.has_details = true;
    let text = drawn(&state, &[&hostile]);
    let rows = text.lines().skip_while(|row| !row.contains("Question 1")).skip(1);
    let rows: Vec<&str> = rows.map(|row| row.trim_start_matches(['"', '│'])).collect();
    let ends = rows.iter().position(|row| row.starts_with('└')).unwrap();
    const OURS: [&str; 8] = [
        "program: ",
        "refused: ",
        "would be granted: --read /etc/hosts",
        "wider: ",
        "run: ",
        "command: ",
        "root: ",
        "  | ",
    ];
    assert!(
        rows[..ends].iter().filter(|row| row.starts_with("  | ")).count() > 3,
        "{text}"
    );
    for row in &rows[..ends] {
        assert!(OURS.iter().any(|ours| row.starts_with(ours)), "{row:?}\n{text}");
    }
}

#[test]
fn a_tiny_terminal_is_no_fault() {
    let one = question(1, "a");
    let state = settled(&[&one]);
    for (width, height) in [(1, 1), (10, 3), (20, 8)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &state, &[&one])).unwrap();
    }
}

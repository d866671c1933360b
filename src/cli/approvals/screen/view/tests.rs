//! Keys pressed at a drawn list.

use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::approve::samples::request;
use crate::approve::{Lifetime, Requested};
use crate::cli::approvals::screen::state::Effect;
use crate::visible::is_visible;

fn question(number: u32, run: &str) -> Question {
    let mut request = request();
    request.run = run.into();
    request.evidence.target = format!("/etc/file{number}");
    Question {
        number,
        request,
        deadline: Instant::now() + Duration::from_secs(60),
    }
}

fn drawn(state: &State, questions: &[&Question]) -> String {
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

fn press(state: &mut State, questions: &[&Question], keys: &str) -> Effect {
    let mut effect = Effect::Nothing;
    for letter in keys.chars() {
        effect = state.keys(&[key(letter)], questions);
    }
    effect
}

fn paste(state: &mut State, questions: &[&Question], keys: &str) -> Effect {
    let keys: Vec<KeyEvent> = keys.chars().map(key).collect();
    state.keys(&keys, questions)
}

fn settled(questions: &[&Question]) -> State {
    let mut state = State::new();
    state.settle(questions);
    state
}

#[test]
fn questions_stand_below_their_run_with_the_details_of_the_chosen_one() {
    let all = [question(1, "run-a"), question(2, "run-b"), question(3, "run-a")];
    let all: Vec<&Question> = all.iter().collect();
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

#[test]
fn a_yes_needs_a_letter_and_enter() {
    let all = [question(1, "a")];
    let all: Vec<&Question> = all.iter().collect();
    let mut state = settled(&all);
    assert_eq!(press(&mut state, &all, "\n\n"), Effect::Nothing);
    assert_eq!(press(&mut state, &all, "s"), Effect::Nothing);
    assert!(drawn(&state, &all).contains("Enter: yes to 1, session"));
    assert_eq!(
        press(&mut state, &all, "x\n"),
        Effect::Nothing,
        "another key takes it back"
    );
    assert_eq!(press(&mut state, &all, "s\u{1b}\n"), Effect::Nothing);
    let yes = Effect::Answer(1, Said::Yes(Lifetime::Session, None));
    assert_eq!(press(&mut state, &all, "s\n"), yes);
    let wider = Effect::Answer(1, Said::Wider(Some(Lifetime::Always)));
    assert_eq!(press(&mut state, &all, "w\t\n"), wider);
}

#[test]
fn a_word_is_never_a_yes() {
    let all = [question(1, "a"), question(2, "a")];
    let all: Vec<&Question> = all.iter().collect();
    let mut state = settled(&all);
    let yes = Effect::Answer(1, Said::Yes(Lifetime::Session, None));
    for word in [
        "details", "yes", "always", "so", "ss", "wa", "jas", "qs", "xs", "1s", " s",
    ] {
        assert_eq!(press(&mut state, &all, word), Effect::Nothing, "{word}");
        assert_eq!(press(&mut state, &all, "\n"), Effect::Nothing, "{word}");
        assert!(drawn(&state, &all).contains("one letter, then Enter"), "{word}");
        assert_eq!(press(&mut state, &all, "s\n"), yes, "after {word}");
    }
    assert_eq!(press(&mut state, &all, "xy\u{1b}s\n"), yes);
    let second = Effect::Answer(2, Said::Yes(Lifetime::Session, None));
    assert_eq!(press(&mut state, &all, "x↓s\n"), second);
}

#[test]
fn a_paste_neither_confirms_nor_begins_a_yes() {
    let all = [question(1, "a")];
    let all: Vec<&Question> = all.iter().collect();
    let mut state = settled(&all);
    for text in ["yes\n", "s\n", "\n\ns", "\u{1b}s\n", "w\n", "N\n"] {
        assert_eq!(paste(&mut state, &all, text), Effect::Nothing, "{text:?}");
        assert_eq!(state.mode, Mode::Choosing, "{text:?}");
        assert!(drawn(&state, &all).contains("one letter, then Enter"), "{text:?}");
        assert_eq!(press(&mut state, &all, "\n"), Effect::Nothing, "{text:?}");
    }
    press(&mut state, &all, "s");
    assert_eq!(paste(&mut state, &all, "\n\n"), Effect::Nothing);
    assert_eq!(press(&mut state, &all, "\n"), Effect::Nothing);
    press(&mut state, &all, "s");
    let escaped = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::ALT);
    assert_eq!(state.keys(&[escaped], &all), Effect::Nothing);
    assert_eq!(
        press(&mut state, &all, "\n"),
        Effect::Nothing,
        "Esc and a letter at once"
    );
}

#[test]
fn a_no_takes_a_reason() {
    let all = [question(1, "a")];
    let all: Vec<&Question> = all.iter().collect();
    let mut state = settled(&all);
    assert_eq!(press(&mut state, &all, "n\n"), Effect::Answer(1, Said::No(None)));
    let no = Effect::Answer(1, Said::No(Some("not so".into())));
    assert_eq!(press(&mut state, &all, "nnot so\n"), no);
    assert_eq!(press(&mut state, &all, "N\n"), Effect::Answer(1, Said::NoAll));
}

#[test]
fn a_yes_never_goes_to_another_question_than_it_was_begun_for() {
    let (first, second) = (question(1, "a"), question(2, "a"));
    let mut state = settled(&[&first, &second]);
    press(&mut state, &[&first, &second], "s");
    state.settle(&[&second]);
    assert_eq!(state.selected, Some(2));
    assert!(drawn(&state, &[&second]).contains("1: isn't asked any more"));
    assert_eq!(press(&mut state, &[&second], "\n"), Effect::Nothing);
}

#[test]
fn what_isnt_offered_cant_be_chosen() {
    let mut narrow = question(1, "a");
    narrow.request.wider = None;
    narrow.request.lifetimes = vec![Lifetime::Once];
    let mut state = settled(&[&narrow]);
    for keys in ["w\n", "a\n", "s\n"] {
        assert_eq!(press(&mut state, &[&narrow], keys), Effect::Nothing, "{keys}");
    }
}

#[test]
fn trusted_is_typed() {
    let mut wide = question(1, "a");
    wide.request.requested = Requested::Profile("trusted".into());
    let mut state = settled(&[&wide]);
    assert_eq!(press(&mut state, &[&wide], "s\n"), Effect::Nothing);
    let yes = Effect::Answer(1, Said::Yes(Lifetime::Session, Some("trusted".into())));
    assert_eq!(press(&mut state, &[&wide], "strusted\n"), yes);
}

#[test]
fn leaving_is_confirmed_where_something_waits() {
    let one = question(1, "a");
    let mut state = settled(&[&one]);
    assert_eq!(press(&mut state, &[&one], "q"), Effect::Nothing);
    assert!(drawn(&state, &[&one]).contains("1 waiting will be refused"));
    assert_eq!(press(&mut state, &[&one], "\n"), Effect::Quit);
    assert_eq!(press(&mut settled(&[]), &[], "q"), Effect::Quit);
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
    let text = drawn(&settled(&[&hostile]), &[&hostile]);
    let rows = text.lines().skip_while(|row| !row.contains("Question 1")).skip(1);
    let rows: Vec<&str> = rows.map(|row| row.trim_start_matches(['"', '│'])).collect();
    let ends = rows.iter().position(|row| row.starts_with('└')).unwrap();
    const OURS: [&str; 9] = [
        "program: ",
        "refused: ",
        "would be granted: --read /etc/hosts",
        "wider: ",
        "answers: ",
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

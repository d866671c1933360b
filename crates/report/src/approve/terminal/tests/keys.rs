//! Question and answer through a real pseudo-terminal.

use super::scene::{Foreground, Mode, Scene};
use super::stage::Stage;
use crate::approve::{Answer, Choice, Extent, Lifetime};

const PROMPT: &str = " s)? ";

fn answered(keys: &str) -> Choice {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types(keys);
    stage.outcome().answer.choice
}

fn yes(lifetime: Lifetime, extent: Extent) -> Choice {
    Choice::Yes { lifetime, extent }
}

#[test]
fn a_word_and_enter_is_the_answer_and_one_line_stays_that_says_so() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits("wants to read");
    stage.awaits(PROMPT);
    stage.types("once\r");
    stage.awaits("stockade: granted once: --read /etc/hosts\r\n");
    let outcome = stage.outcome();
    assert_eq!(outcome.answer.choice, yes(Lifetime::Once, Extent::Requested));
    assert!(outcome.answer.by.ends_with(" at the terminal"), "{outcome:?}");
    assert!(outcome.is_mode_as_before && outcome.is_foreground_as_before && outcome.do_others_live);
}

#[test]
fn other_words_reach_the_asking_thread_too() {
    assert_eq!(answered("W a\r"), yes(Lifetime::Always, Extent::Wider));
    assert_eq!(answered("yx\x7fes\r"), yes(Lifetime::Session, Extent::Requested));
    assert_eq!(answered("n\r"), Choice::No { all: false });
}

/// On a terminal that executes escape sequences, whatever was typed in between.
#[test]
fn an_answered_question_shrinks_to_one_line() {
    let scene = Scene {
        term: "xterm".into(),
        ..Scene::new()
    };
    for (keys, rows) in [(&["o\r"][..], &[7][..]), (&["x\r", "d\r", "o\r"], &[7, 8, 28])] {
        let mut stage = Stage::new(&scene);
        for (keys, rows) in keys.iter().zip(rows) {
            stage.awaits(PROMPT);
            stage.types(keys);
            stage.awaits(&format!("\x1b[{}A\r\x1b[J", rows - 1));
        }
        stage.awaits("\x1b[32mstockade: granted once: --read /etc/hosts\x1b[0m\r\n");
    }
}

#[test]
fn what_is_asked_is_bold_and_colour_is_left_out_where_no_color_says_so() {
    let scene = Scene {
        term: "xterm".into(),
        is_colourless: true,
        ..Scene::new()
    };
    let mut stage = Stage::new(&scene);
    stage.awaits("\x1b[1m  target: ../etc/hosts → /etc/hosts\x1b[0m\r\n");
    stage.awaits(PROMPT);
    stage.types("n\r");
    stage.awaits("\x1b[Jstockade: refused to read /etc/hosts\r\n");
}

#[test]
fn always_leaves_one_line() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("a\r");
    stage.awaits("stockade: granted for this and later runs: --read /etc/hosts\r\n");
}

#[test]
fn details_are_shown_and_it_is_asked_again() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("details\r");
    stage.awaits("  command: python3 'read it.py'\r\n");
    stage.awaits(PROMPT);
    stage.types("no try another\r");
    stage.awaits("stockade: refused to read /etc/hosts: try another\r\n");
    let answer = stage.outcome().answer;
    assert_eq!(answer.choice, Choice::No { all: false });
    assert_eq!(answer.reason.as_deref(), Some("try another"));
}

#[test]
fn a_wrong_word_and_enter_alone_ask_again_as_often_as_it_takes() {
    let mut stage = Stage::new(&Scene::new());
    for keys in ["yes please\r", "\r", "on\r", "maybe\r", "\r", "\r"] {
        stage.awaits(PROMPT);
        stage.types(keys);
        stage.awaits("that is no answer");
    }
    stage.awaits(PROMPT);
    stage.types("YES\r");
    assert_eq!(stage.outcome().answer.choice, yes(Lifetime::Session, Extent::Requested));
}

#[test]
fn what_is_typed_behind_a_wrong_word_is_thrown_away() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("what\ry\ralways\r");
    stage.awaits("that is no answer");
    stage.awaits(PROMPT);
    stage.types("n\r");
    assert_eq!(stage.outcome().answer.choice, Choice::No { all: false });
}

/// Nothing is granted, and the key sends its usual signal.
#[test]
fn ctrl_c_is_a_no_and_ends_what_is_in_the_foreground() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("y\x03");
    stage.awaits("stockade: refused to read /etc/hosts: Ctrl-C\r\n");
    assert_eq!(stage.ended_by(), Some(libc::SIGINT));
}

#[test]
fn the_other_keys_that_end_programs_are_a_no_too() {
    for keys in ["\x04", "once\x04", "\x1c\r"] {
        assert_eq!(answered(keys), Choice::No { all: false }, "{keys:?}");
    }
}

#[test]
fn the_last_no_in_a_directory_says_that_it_is_the_last() {
    for (before, is_last) in [(0, false), (1, true), (2, false)] {
        let mut scene = Scene::new();
        scene.request.refused_beside = before;
        let mut stage = Stage::new(&scene);
        stage.awaits(PROMPT);
        stage.types("n\r");
        assert_eq!(stage.outcome().answer.choice, Choice::No { all: false });
        let said = stage.said();
        assert_eq!(
            said.contains("stockade: no more questions come there in this run"),
            is_last,
            "{said}"
        );
    }
}

#[test]
fn ctrl_z_answers_nothing_and_gives_the_terminal_back() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("y\x1a");
    stage.awaits("stockade: stopped; the question comes again\r\n");
    let outcome = stage.outcome();
    assert_eq!(outcome.answer, Answer::silence("Ctrl-Z"));
    assert!(outcome.is_mode_as_before && outcome.is_foreground_as_before && outcome.do_others_live);
}

#[test]
fn the_foreground_is_taken_from_the_run_and_given_back() {
    let scene = Scene {
        foreground: Foreground::Run,
        mode: Mode::Strange,
        ..Scene::new()
    };
    let mut stage = Stage::new(&scene);
    stage.awaits(PROMPT);
    // `n` erased, by the erase key that the run had set.
    stage.types("no none\r");
    let outcome = stage.outcome();
    assert_eq!(outcome.answer.reason.as_deref(), Some("none"));
    assert!(
        outcome.is_mode_as_before && outcome.is_foreground_as_before && outcome.do_others_live,
        "{outcome:?}"
    );
}

#[test]
fn the_foreground_of_a_stranger_is_left_alone() {
    let scene = Scene {
        foreground: Foreground::Stranger,
        ..Scene::new()
    };
    let mut stage = Stage::new(&scene);
    let outcome = stage.outcome();
    assert_eq!(outcome.answer.choice, Choice::Silence);
    assert!(outcome.answer.reason.unwrap().contains("in the background"));
    assert!(outcome.is_mode_as_before && outcome.is_foreground_as_before);
    assert_eq!(stage.said(), "");
}

#[test]
fn the_foreground_of_a_run_that_has_ended_is_taken() {
    let scene = Scene {
        foreground: Foreground::None,
        ..Scene::new()
    };
    let mut stage = Stage::new(&scene);
    stage.awaits(PROMPT);
    stage.types("once\r");
    assert_eq!(stage.outcome().answer.choice, yes(Lifetime::Once, Extent::Requested));
}

#[test]
fn nothing_is_asked_in_raw_mode() {
    let scene = Scene {
        mode: Mode::Raw,
        ..Scene::new()
    };
    let mut stage = Stage::new(&scene);
    let outcome = stage.outcome();
    assert_eq!(outcome.answer.choice, Choice::Silence);
    assert!(outcome.answer.reason.unwrap().contains("raw mode"));
    assert_eq!(stage.said(), "");
}

#[test]
fn no_answer_is_silence_and_the_prompt_says_so() {
    let late = Scene {
        patience_ms: 800,
        ..Scene::new()
    };
    let withdrawn = Scene {
        withdrawn_after_ms: Some(800),
        ..Scene::new()
    };
    for (scene, said) in [
        (late, "stockade: no answer: refused\r\n"),
        (withdrawn, "the answer isn't needed any more: refused\r\n"),
    ] {
        let mut stage = Stage::new(&scene);
        stage.awaits(PROMPT);
        stage.types("onc");
        stage.awaits(said);
        let outcome = stage.outcome();
        assert_eq!(outcome.answer.choice, Choice::Silence);
        assert!(outcome.is_mode_as_before);
    }
}

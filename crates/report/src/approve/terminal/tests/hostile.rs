//! A program that tries to answer in place of the person.

use super::scene::Scene;
use super::stage::Stage;
use crate::approve::{Answer, Choice, Extent, Lifetime};

const PROMPT: &str = " s)? ";
const NO: Choice = Choice::No { all: false };

#[test]
fn what_was_typed_before_answers_nothing() {
    let mut stage = Stage::with_keys(&Scene::new(), "o\ralways\ro");
    stage.awaits(PROMPT);
    stage.types("y\r");
    let session = Choice::Yes {
        lifetime: Lifetime::Session,
        extent: Extent::Requested,
    };
    assert_eq!(stage.outcome().answer.choice, session);
}

/// The terminal answers the program's queries from before it was stopped: some answers are there, some arrive while
/// the terminal is drained, some later.
#[test]
fn what_the_terminal_answers_changes_nothing() {
    const ANSWER: &str = "\x1b]11;rgb:once/once/once\x1b\\";
    let scene = Scene {
        term: "xterm".into(),
        left: "\x1b]11;?\x1b\\".into(),
        ..Scene::new()
    };
    let mut stage = Stage::with_keys(&scene, &format!("{ANSWER}always\r{ANSWER}"));
    stage.awaits("\x18");
    stage.types(ANSWER);
    stage.awaits(PROMPT);
    stage.types(ANSWER);
    stage.types("y\r");
    stage.awaits("that is no answer");
    stage.awaits(PROMPT);
    stage.types("no thanks\r");
    let answer = stage.outcome().answer;
    assert_eq!(answer.choice, NO);
    assert_eq!(answer.reason.as_deref(), Some("thanks"));
}

/// A window's title, which the program chose, comes back with a line end in it.
#[test]
fn the_rest_of_half_a_sequence_answers_nothing() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.types("\x1b]lhello\ry\r\x1b\\");
    stage.awaits("that is no answer");
    stage.awaits(PROMPT);
    stage.types("n\r");
    assert_eq!(stage.outcome().answer.choice, NO);
}

#[test]
fn output_that_the_program_stopped_goes_on() {
    // Ctrl-S, as the first key.
    let mut stage = Stage::with_keys(&Scene::new(), "\x13");
    stage.awaits(PROMPT);
    stage.types("n\r");
    assert_eq!(stage.outcome().answer.choice, NO);
}

#[test]
fn a_terminal_that_vanishes_is_silence() {
    let mut stage = Stage::new(&Scene::new());
    stage.awaits(PROMPT);
    stage.hangs_up();
    assert_eq!(stage.outcome().answer, Answer::silence("the terminal is gone"));
}

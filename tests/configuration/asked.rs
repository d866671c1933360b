//! The question of `stockade trust`, on a terminal.

use crate::common::{STOCKADE, Terminal, run};
use crate::configuration::ALLOW;

fn ends(answer: &str) -> (i32, bool) {
    let run = run().file(".stockade/config.toml", ALLOW);
    let terminal = Terminal::new()
        .awaits("Trust this configuration?")
        .types(answer)
        .ends_within(10);
    let code = terminal.plays_command(&run, vec![STOCKADE.into(), "trust".into()]);
    (code, run.place.state().join("trusted.json").exists())
}

#[test]
fn the_question_of_trust_takes_the_words_of_every_question() {
    for answer in ["y\r", "YES\r"] {
        assert_eq!(ends(answer), (0, true), "{answer:?}");
    }
    for answer in ["n\r", "no\r", "\x04"] {
        assert_eq!(ends(answer), (1, false), "{answer:?}");
    }
}

#[test]
fn trust_asks_again_until_there_is_an_answer_and_shows_the_file_on_details() {
    let run = run().file(".stockade/config.toml", ALLOW);
    let mut terminal = Terminal::new();
    // The last one types two answers behind a wrong word.
    for answer in ["\r", "yes please\r", "always\r", "x\ry\ry\r"] {
        terminal = terminal
            .awaits("Trust this configuration?")
            .types(answer)
            .awaits("that is no answer");
    }
    let terminal = terminal
        .awaits("Trust this configuration?")
        .types("d\r")
        .awaits("  [[permissions.allow]]")
        .awaits("Trust this configuration?")
        .types("n\r")
        .ends_within(10);
    assert_eq!(terminal.plays_command(&run, vec![STOCKADE.into(), "trust".into()]), 1);
    assert!(!run.place.state().join("trusted.json").exists());
}

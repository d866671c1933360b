//! The question of `stockade trust`, on a terminal.

use crate::common::{STOCKADE, Terminal, run};
use crate::configuration::ALLOW;

fn ends(answer: &str) -> (i32, bool) {
    let run = run().file(".stockade/config.toml", ALLOW);
    let terminal = Terminal::new()
        .awaits("Shall this count?")
        .types(answer)
        .ends_within(10);
    let code = terminal.plays_command(&run, vec![STOCKADE.into(), "trust".into()]);
    (code, run.place.state().join("trusted.json").exists())
}

#[test]
fn on_a_terminal_only_yes_trusts() {
    assert_eq!(ends("yes\r"), (0, true));
    for answer in ["y\r", "\r", "yes please\r", "no\r", "\x04"] {
        assert_eq!(ends(answer), (1, false), "{answer:?}");
    }
}

//! Ending processes by name is ending launcher and target, and with them the warden ends the rest. It has no name or
//! command line in common with them, or all that ends a run would be gone at once.

use std::collections::HashSet;
use std::process::Command;

use super::watched::{DAEMON, PATIENCE, Watched, with_daemon};
use crate::common::{python, run, until};

const STAYS: &str = "time.sleep(60)";

/// The processes that a tool finds.
fn found(tool: &str, words: &[&str]) -> HashSet<i32> {
    let said = Command::new(tool).args(words).output().unwrap().stdout;
    let text = String::from_utf8(said).unwrap();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn warden_of(watched: &Watched) -> i32 {
    let launcher = watched.child.id().to_string();
    let below = found("pgrep", &["-P", &launcher]);
    assert_eq!(below.len(), 1);
    below.into_iter().next().unwrap()
}

// promise: end.4
#[test]
fn no_name_of_stockades_finds_the_warden() {
    let watched = Watched::start(with_daemon(STAYS));
    let launcher = watched.child.id().cast_signed();
    let warden = warden_of(&watched);
    for words in [
        &["stockade"][..],
        &["-f", "stockade"],
        &["-x", "stockade"],
        &["-f", "time.sleep"],
    ] {
        let found = found("pgrep", words);
        assert!(found.contains(&launcher), "{words:?}");
        assert!(!found.contains(&warden), "{words:?}");
    }
    assert!(found("pgrep", &["sandbox-warden"]).contains(&warden));
    assert!(found("pgrep", &["-fx", "sandbox-warden"]).contains(&warden));
    watched.signal(nix::sys::signal::Signal::SIGTERM);
    watched.ends();
}

/// The daemon is another program by then, which has the word no more.
// promise: end.4
#[test]
fn the_tree_ends_when_everything_with_a_word_of_the_command_is_killed() {
    let daemon = DAEMON.replace("time.sleep(90)", "os.execvp('sleep', ['sleep', '90'])");
    for is_confined in [false, true] {
        let word = format!("word-{}-{is_confined}", std::process::id());
        let code = format!("{daemon}{STAYS} # {word}");
        let watched = if is_confined {
            Watched::start(run().python(&code))
        } else {
            Watched::started(Command::new(python()).args(["-I", "-c", &code]), None)
        };
        let cmdline = || std::fs::read_to_string(format!("/proc/{}/cmdline", watched.daemon)).unwrap();
        assert!(until(PATIENCE, || !cmdline().contains(&word)));
        assert!(
            Command::new("pkill")
                .args(["-9", "-f", &word])
                .status()
                .unwrap()
                .success()
        );
        if is_confined {
            assert_eq!(watched.ends(), -9);
        } else {
            watched.survives();
        }
    }
}

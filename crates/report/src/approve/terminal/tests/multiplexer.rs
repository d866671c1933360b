//! A program's leftovers on a terminal that draws: tmux.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::scene::Scene;
use super::stage::{outcome, supervisor};
use crate::approve::Choice;

/// A pane with the supervisor in it.
struct Pane {
    place: tempfile::TempDir,
}

impl Pane {
    /// `None` where tmux isn't installed.
    fn open(scene: &Scene) -> Option<Pane> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux isn't installed (tests/setup-programs.sh)");
            return None;
        }
        let pane = Pane {
            place: tempfile::tempdir().unwrap(),
        };
        let supervisor = supervisor(scene, &pane.outcome());
        // tmux sets TERM itself. The pane is already a session of its own with a terminal: neither sh nor setsid.
        let words = supervisor.get_args().skip(3).map(|word| word.to_str().unwrap());
        let line = format!(
            "exec env TERM={} {} >/dev/null 2>&1",
            scene.term,
            words.collect::<Vec<_>>().join(" ")
        );
        let mut server = pane.tmux(&["new-session", "-d", "-x", "80", "-y", "24", &line]);
        server.envs(supervisor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        server.env("TERM", "screen");
        assert!(server.status().unwrap().success());
        Some(pane)
    }

    fn outcome(&self) -> std::path::PathBuf {
        self.place.path().join("outcome")
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        let socket: &Path = &self.place.path().join("tmux");
        command.arg("-S").arg(socket).args(["-f", "/dev/null"]).args(words);
        command
    }

    /// The screen, with escape sequences where the style isn't plain.
    fn screen(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-e"]).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    fn awaits(&self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < end, "{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

fn scene(left: &str, term: &str) -> Scene {
    Scene {
        left: left.into(),
        term: term.into(),
        ..Scene::new()
    }
}

#[test]
fn what_a_program_left_neither_swallows_nor_hides_the_question() {
    const UNFINISHED: &str = "\x1b]0;a title";
    for left in [
        UNFINISHED,
        "\x1bPq",
        "\x1b[",
        "\x1b[8m\x1b[1;2r\x1b[4h\x1b(0\x0e\x1b[?7l\x1b[?25l",
    ] {
        let Some(pane) = Pane::open(&scene(left, "screen")) else {
            return;
        };
        let screen = pane.awaits(" s)?");
        for part in [
            "(pid 4711, agent coder) wants to read",
            "would grant: --read /etc/hosts\n",
            "[y]es for this run, [o]nce",
        ] {
            assert!(screen.contains(part), "{left:?}: {screen}");
        }
        // No sequence except those with which tmux ends the earlier style, and those of the question in bold.
        let question = &screen[screen.find("stockade: ").unwrap()..];
        let ours = ["\x1b[1m", "\x1b[0m", "\x1b[39m", "\x1b[49m"];
        let plain = ours
            .iter()
            .fold(question.to_string(), |text, ours| text.replace(ours, ""));
        assert!(!plain.contains('\x1b'), "{left:?}: {question:?}");
        pane.tmux(&["send-keys", "no", "Enter"]).status().unwrap();
        assert_eq!(outcome(&pane.outcome()).answer.choice, Choice::No { all: false });
    }
}

/// Otherwise the test above would prove nothing.
#[test]
fn without_the_undoing_it_would_be_swallowed() {
    let mut scene = scene("\x1b]0;a title", "dumb");
    scene.patience_ms = 600;
    let Some(pane) = Pane::open(&scene) else { return };
    assert_eq!(outcome(&pane.outcome()).answer.choice, Choice::Silence);
    assert!(!pane.screen().contains("wants to read"));
}

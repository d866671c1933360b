//! Runs without a terminal, and somebody at another one who answers half of them.

use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Finished, Place, STOCKADE, finish, sockets, until, watch};

/// A run that wants a file of its own, in the home that all share.
struct Headless {
    number: usize,
    thread: JoinHandle<Finished>,
}

impl Headless {
    fn begin(place: &Place, number: usize) -> Headless {
        let mut command = place.command(STOCKADE);
        command
            .args(["run", "--ask", "socket", "--report"])
            .arg(report(place, number))
            .args(["--", "cat", &name(number)]);
        let thread = thread::spawn(move || finish(&mut command, b""));
        Headless { number, thread }
    }

    fn ends(self, place: &Place) -> (Finished, Value) {
        let finished = self.thread.join().unwrap();
        let text = std::fs::read_to_string(report(place, self.number)).expect("the report is there");
        (finished, serde_json::from_str(&text).unwrap())
    }
}

/// The client of a server that is asked for waits no longer.
#[test]
fn a_question_at_the_socket_waits_twenty_seconds_by_default() {
    let place = Place::new();
    place.file(&name(1), "");
    let mut watcher = stockade_report::approve::socket::Watcher::begin(&place.state()).unwrap();
    let run = Headless::begin(&place, 1);
    let came = until(Duration::from_secs(30), || {
        watcher.hear();
        watcher.question(1).is_some()
    });
    assert!(came);
    let left = watcher.question(1).unwrap().request.timeout_ms;
    assert!((1_000..=20_000).contains(&left), "{left}");
    watcher.answer(1, &stockade_report::approve::Answer::no("ada")).unwrap();
    assert_eq!(run.ends(&place).0.status.code(), Some(1));
}

fn name(number: usize) -> String {
    format!("file-{number}")
}

fn report(place: &Place, number: usize) -> std::path::PathBuf {
    place.home.join(format!("report-{number}.json"))
}

#[test]
fn half_of_ten_runs_are_answered_and_the_others_refused_at_once_when_the_watcher_is_killed() {
    let place = Place::new();
    let mut watch = watch(&place, &["--watch", "--plain"]);
    let mut runs: Vec<Headless> = (0..10)
        .map(|number| {
            place.file(&name(number), format!("it is {number}\n"));
            Headless::begin(&place, number)
        })
        .collect();
    watch.awaits("wants to read", 10);
    let waiting = runs.split_off(5);
    for run in &runs {
        let target = place.path(&name(run.number));
        let number = watch.number_of(target.to_str().unwrap());
        watch.types(&format!("{number} once"));
    }
    for (number, run) in runs.into_iter().enumerate() {
        let (finished, report) = run.ends(&place);
        assert_eq!(finished.stdout(), format!("it is {number}\n"), "{}", finished.stderr());
        assert_eq!(finished.status.code(), Some(0));
        let answer = &report["escalation"]["requests"][0];
        assert_eq!(answer["lifetime"], "once", "{report}");
        assert!(answer["by"].as_str().unwrap().ends_with(" at approvals"), "{answer}");
    }
    // Without an answer nothing goes on.
    assert!(waiting.iter().all(|run| !run.thread.is_finished()));
    watch.signals(Signal::SIGKILL);
    let killed = Instant::now();
    for run in waiting {
        let (finished, report) = run.ends(&place);
        assert_eq!((finished.status.code(), finished.stdout().as_str()), (Some(1), ""));
        assert!(finished.stderr().contains("Permission denied"), "{}", finished.stderr());
        assert_eq!(report["status"], "permission_denied");
        let rule = &report["denials"][0]["rule"];
        assert!(
            rule.to_string()
                .contains("`stockade approvals` ended before it answered"),
            "{report}"
        );
    }
    assert!(killed.elapsed() < Duration::from_secs(40), "{:?}", killed.elapsed());
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_run_that_asks_only_where_somebody_watches_is_refused_at_once_without() {
    let place = Place::new();
    place.file("file", "closed");
    let begun = Instant::now();
    // `auto`, in a session without a terminal.
    let mut command = place.command("setsid");
    command.args(["-w", STOCKADE.path(), "run", "--", "cat", "file"]);
    let finished = finish(&mut command, b"");
    assert_eq!((finished.status.code(), finished.stdout().as_str()), (Some(1), ""));
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    assert!(sockets(&place.state()).is_empty());
}

//! A program that couldn't be started while the run lived: only a yes starts it all once more.

use crate::common::{Run, STOCKADE, Terminal, run};

fn begun() -> Run {
    run()
        .flags(["--ask", "terminal"])
        .program("tool", "#!/bin/sh\necho the tool runs\n")
        .reporting()
        .python("import subprocess\nprint('started', flush=True)\nsubprocess.run(['./tool'], check=True)")
}

fn status(run: &Run) -> serde_json::Value {
    let text = std::fs::read(run.place.path("~/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&text).unwrap();
    report["status"].clone()
}

#[test]
fn a_yes_starts_it_once_more_with_the_grant() {
    let run = begun();
    let code = Terminal::new()
        .awaits("started")
        .awaits("wanted to start")
        .awaits("--exec")
        .awaits(" s)? ")
        .types("y\n")
        .awaits("started")
        .awaits("the tool runs")
        .ends_within(20)
        .plays(&run);
    assert_eq!(code, 0);
    assert_eq!(status(&run), "completed");
    let report = std::fs::read(run.place.path("~/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let asked = &report["escalation"]["requests"][0];
    assert_eq!(
        (&asked["answer"], &asked["granted"]),
        (&"yes".into(), &asked["requested"])
    );
    let trail = run.place.command(STOCKADE).args(["audit", "list"]).output().unwrap();
    let trail = String::from_utf8(trail.stdout).unwrap();
    for kind in ["asked", "answered", "granted"] {
        assert!(trail.contains(kind), "{kind} isn't in\n{trail}");
    }
}

#[test]
fn anything_else_starts_nothing() {
    for keys in ["no\n", "N\n", "\x04", "\x03"] {
        let run = begun();
        let code = Terminal::new()
            .awaits("started")
            .awaits("--exec")
            .awaits(" s)? ")
            .types(keys)
            .ends_within(20)
            .never_saw("the tool runs")
            .plays(&run);
        assert_eq!(code, 1);
        assert_eq!(status(&run), "permission_denied");
    }
}

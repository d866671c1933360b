//! `run --dry-run` and `exec --dry-run`: what would be granted, and from where.

use super::stockade;
use crate::common::{Finished, Place};

fn dry(place: &Place, task: &str, words: &[&str]) -> Finished {
    stockade(place, &[&[task, "--dry-run", "--audit", "all"], words].concat())
}

#[test]
fn a_dry_run_says_what_would_be_granted_and_from_where_and_starts_and_writes_nothing() {
    let place = Place::new();
    // The state directory lies in a tree that the run is given: a start would make it.
    let home = place.home.to_str().unwrap();
    let report = place.path("report.json");
    let words = [
        "--profile",
        "workspace",
        "--write",
        home,
        "--host",
        "api.example.com:8443",
        "--deny",
        "**/*.mine",
    ];
    let more = [
        "--env",
        "TOKEN=hidden",
        "--time-limit",
        "5s",
        "--report",
        report.to_str().unwrap(),
        "--",
        "touch",
        "made",
    ];
    let shown = dry(&place, "run", &[&words[..], &more].concat()).stdout();
    for part in [
        "`touch made` would run under `workspace` in `",
        "[profile `workspace`, line 9]\n",
        &format!("{home}  [`--write {home}`]\n"),
        "  host         api.example.com:8443  [`--host api.example.com:8443`]\n",
        "  deny         /**/*.mine  ",
        "  variable     TOKEN  [`--env TOKEN`]\n",
        "  environment  of the run's cache: npm_config_cache, ",
        "  limits       time 5s, ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("hidden"), "{shown}");
    for made in [place.path("made"), report, place.state()] {
        assert!(!made.exists(), "{}", made.display());
    }
}

#[test]
fn a_dry_run_of_what_would_be_refused_fails_as_the_run_does() {
    let place = Place::new();
    for (words, code) in [
        (&["--", "no-such-program"][..], 127),
        (&["--write", "/etc/shadow", "--", "true"], 125),
    ] {
        let started = stockade(&place, &[&["run"], words].concat());
        let dry = dry(&place, "run", words);
        assert_eq!((dry.status.code(), started.status.code()), (Some(code), Some(code)));
        assert_eq!(dry.stderr(), started.stderr());
    }
}

#[test]
fn a_dry_run_of_a_script_remembers_nothing() {
    let place = Place::new();
    place.file("a.py", "open('made', 'w')\n");
    let shown = dry(&place, "exec", &["a.py"]).stdout();
    assert!(shown.contains("/made  [`--write "), "{shown}");
    assert!(!place.path("made").exists() && !place.state().exists());
}

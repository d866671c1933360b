//! What the audit trail has of runs, through the real binary.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Finished, Place, STOCKADE, finish, is_root, run, skipped, until};

fn stockade(place: &Place, words: &[&str]) -> Finished {
    finish(place.command(STOCKADE).args(words), b"")
}

/// The rows, oldest first.
fn rows(place: &Place) -> Vec<Value> {
    let exported = stockade(place, &["audit", "export", "--jsonl"]);
    assert_eq!((exported.status.code(), exported.stderr().as_str()), (Some(0), ""));
    let text = exported.stdout();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'r>(rows: &'r [Value], kind: &str) -> Vec<&'r Value> {
    rows.iter().filter(|row| row["kind"] == kind).collect()
}

/// Lines of Stockade's own that speak of something.
fn lines_about(finished: &Finished, what: &str) -> usize {
    let text = finished.stderr();
    text.lines()
        .filter(|line| line.starts_with("stockade: ") && line.contains(what))
        .count()
}

#[test]
fn of_a_hundred_runs_at_once_every_record_is_there_and_a_flipped_byte_is_found() {
    const RUNS: usize = 100;
    let place = Place::new();
    let children: Vec<_> = (0..RUNS)
        .map(|number| {
            let name = format!("wanted-by-{number}-alone");
            place.file(&name, "");
            let mut command = place.command(STOCKADE);
            command.args(["run", "--ask", "never", "--audit", "denials", "--", "cat", &name]);
            let command = command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(!said.contains("audit"), "{said}");
    }
    let rows = rows(&place);
    let mut runs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in &rows {
        let kinds = runs.entry(row["run"].as_str().unwrap()).or_default();
        kinds.push(row["kind"].as_str().unwrap());
    }
    assert_eq!(runs.len(), RUNS);
    for (run, kinds) in &runs {
        assert_eq!(kinds[..], ["started", "denied", "ended"], "{run}");
    }
    let verified = stockade(&place, &["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", verified.stdout());
    flipped_byte_is_found(&place);
}

/// As the kernel does that runs out of memory.
#[test]
fn a_run_that_loses_its_warden_is_reported_and_recorded_as_it_was() {
    let begun = run().profile("workspace").flags(["--audit", "denials"]).reporting();
    let root = begun.place.root.display().to_string();
    // It may get its name after the program's first steps.
    let kills_warden = format!(
        "(until [ -e {root}/written ]; do sleep 0.02; done
          while kill -0 $$ && ! pkill -KILL -x -P $$ sandbox-warden; do sleep 0.02; done) &"
    );
    let ran = begun
        .after(&kills_warden)
        .bash("cat /etc/shadow 2>/dev/null; echo > written; sleep 60")
        .status(125)
        .stderr("stockade: the warden was killed, and with it the run\n")
        .ends();
    let report = ran.report();
    assert_eq!(report["status"], "signalled");
    assert_eq!(report["signal"], "SIGKILL");
    assert_eq!(report["faults"][0]["part"], "warden");
    assert!(report["duration_ms"].as_u64().unwrap() > 0);
    let refused = report["denials"].as_array().unwrap().iter();
    assert!(
        refused.clone().any(|denial| denial["target"] == "/etc/shadow"),
        "{report:#}"
    );
    let rows = rows(&ran.place);
    let [ended] = of_kind(&rows, "ended")[..] else {
        panic!("{rows:#?}")
    };
    assert_eq!(ended["record"]["status"], "signalled", "{ended:#}");
}

fn flipped_byte_is_found(place: &Place) {
    const TEXT: &str = "wanted-by-57-alone";
    let path = place.state().join("audit.db");
    let bodies = || -> Vec<(u64, String, String)> {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let _: i64 = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .unwrap();
        let mut statement = connection
            .prepare("SELECT seq, run, body FROM records ORDER BY seq")
            .unwrap();
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let before = bodies();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(TEXT.len()).position(|window| window == TEXT.as_bytes());
    bytes[at.expect("the text is in the file") + TEXT.len() - 1] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let after = bodies();
    let altered: Vec<_> = std::iter::zip(&before, &after)
        .filter(|(old, new)| old != new)
        .collect();
    let [((seq, run, _), _)] = altered[..] else {
        panic!("one byte is in {} rows", altered.len());
    };
    let found = stockade(place, &["audit", "verify"]);
    assert_eq!(found.status.code(), Some(1), "{}", found.stdout());
    let expected = format!("row {seq} of run {run} was altered");
    assert!(found.stdout().contains(&expected), "{expected}: {}", found.stdout());
}

#[test]
fn secrets_of_a_command_line_are_nowhere_in_the_trail() {
    let place = Place::new();
    let words = [
        "run",
        "--ask",
        "never",
        "--audit",
        "all",
        "--env",
        "API_KEY=hush-1",
        "--",
    ];
    let command = [
        "echo",
        "--password",
        "hush-2",
        "TOKEN=hush-3",
        "https://me:hush-4@example.com/",
    ];
    let finished = stockade(&place, &[&words[..], &command[..]].concat());
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    let no_file_has_one = || {
        for entry in std::fs::read_dir(place.state()).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains("hush"), "a secret is in {:?}", entry.path());
            }
        }
    };
    no_file_has_one();
    let rows = rows(&place);
    let started = of_kind(&rows, "started")[0].to_string();
    assert!(started.contains("--password") && started.contains("***"), "{started}");
    no_file_has_one();
}

#[test]
fn how_much_is_recorded_is_what_audit_says() {
    let allowed = |words: &[&str]| {
        let place = Place::new();
        let file = place.file("data/file", "");
        let words = [
            &["run", "--ask", "never", "--profile", "readonly"],
            words,
            &["--", "cat", "data/file"],
        ]
        .concat();
        let finished = stockade(&place, &words);
        assert_eq!((finished.status.code(), finished.stderr().as_str()), (Some(0), ""));
        if !place.state().join("audit.db").exists() {
            return None;
        }
        let rows = rows(&place);
        let target = file.to_str().unwrap();
        let of_file = of_kind(&rows, "allowed")
            .into_iter()
            .filter(|row| row.to_string().contains(target));
        Some(of_file.count())
    };
    assert_eq!(allowed(&["--audit", "all"]), Some(1));
    assert_eq!(allowed(&["--agent", "worker"]), Some(1));
    assert_eq!(allowed(&["--agent", "worker", "--audit", "denials"]), Some(0));
    assert_eq!(allowed(&[]), Some(0));
    assert_eq!(allowed(&["--audit", "off"]), None);
}

#[test]
fn on_violation_gets_the_row() {
    let place = Place::new();
    place.file("file", "");
    let alerts = place.path("~/alerts");
    let text = format!("version = 1\non_violation = \"cat >> {}\"\n", alerts.display());
    place.file("~/.config/stockade/config.toml", text);
    stockade(&place, &["run", "--ask", "never", "--", "cat", "file"]);
    let read = || std::fs::read_to_string(&alerts).unwrap_or_default();
    assert!(until(std::time::Duration::from_secs(20), || read().ends_with('\n')));
    let told: Value = serde_json::from_str(read().trim()).unwrap();
    let rows = rows(&place);
    assert_eq!(of_kind(&rows, "denied"), [&told]);
}

/// A run that is denied a file, and goes on contained; so often is it said that the database is no use.
fn contained(place: &Place, name: &str) -> usize {
    place.file("file", "");
    let mut command: Command = place.command(STOCKADE);
    command.args(["run", "--ask", "never", "--", "cat", "file"]);
    let finished = finish(&mut command, b"");
    assert_eq!((finished.status.code(), finished.stdout().as_str()), (Some(1), ""));
    assert!(finished.stderr().contains("Permission denied"), "{}", finished.stderr());
    lines_about(&finished, name)
}

#[test]
fn corrupt_grants_are_said_once_and_widen_nothing() {
    let place = Place::new();
    contained(&place, "grants.db");
    place.file("~/.local/state/stockade/grants.db", "no database".repeat(1000));
    assert_eq!(contained(&place, "grants.db"), 1);
}

/// It is needed by readers alone.
#[test]
fn a_corrupt_database_keeps_no_run_from_recording() {
    let place = Place::new();
    contained(&place, "audit");
    place.file("~/.local/state/stockade/audit.db", "no database".repeat(1000));
    assert_eq!(contained(&place, "audit"), 0);
    let log = std::fs::read_to_string(place.state().join("audit.log")).unwrap();
    assert_eq!(log.matches("\"denied\"").count(), 2, "{log}");
    let listed = stockade(&place, &["audit", "list"]);
    assert_eq!(listed.status.code(), Some(125));
    assert_eq!(lines_about(&listed, "audit.db"), 1, "{}", listed.stderr());
}

#[test]
fn a_file_that_cannot_be_used_is_said_once_and_widens_nothing() {
    for name in ["audit.db", "audit.head", "audit.log", "grants.db"] {
        let place = Place::new();
        std::fs::create_dir_all(place.state().join(name)).unwrap();
        assert_eq!(contained(&place, name), 1, "{name}");
    }
    if is_root() {
        return skipped("root writes read-only files");
    }
    for name in ["audit.log", "audit.head"] {
        let place = Place::new();
        contained(&place, name);
        let mut permissions = std::fs::metadata(place.state().join(name)).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(place.state().join(name), permissions).unwrap();
        assert_eq!(contained(&place, name), 1);
    }
}

/// A limit on sizes stops a write in its middle, as a full disk does.
#[test]
fn a_full_disk_is_said_once_and_what_was_recorded_stays_whole() {
    let place = Place::new();
    contained(&place, "audit");
    let log = place.state().join("audit.log");
    let before = std::fs::read(&log).unwrap();
    // `ulimit` counts in blocks of 512 bytes.
    let blocks = before.len() / 512 + 1;
    let script = format!("ulimit -f {blocks} && exec {STOCKADE} run --ask never -- cat file");
    let finished = finish(place.command("sh").args(["-c", &script]), b"");
    assert_eq!(finished.status.code(), Some(1));
    assert_eq!(
        lines_about(&finished, "the audit trail lacks"),
        1,
        "{}",
        finished.stderr()
    );
    let after = std::fs::read(&log).unwrap();
    assert!(after.starts_with(&before) && after.ends_with(b"\n"));
    assert_eq!(contained(&place, "audit"), 0);
    assert_eq!(stockade(&place, &["audit", "verify"]).status.code(), Some(0));
}

#[test]
fn a_launcher_that_is_killed_leaves_the_trail_whole() {
    let place = Place::new();
    place.file("file", "");
    let denied = "while :; do cat file; done 2>/dev/null";
    let mut command = place.command(STOCKADE);
    command.args(["run", "--ask", "never", "--audit", "all", "--", "sh", "-c", denied]);
    for _ in 0..5 {
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let log = place.state().join("audit.log");
        let length = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
        let before = length();
        assert!(until(std::time::Duration::from_secs(20), || length() > before + 3000));
        child.kill().unwrap();
        child.wait().unwrap();
        let verified = stockade(&place, &["audit", "verify"]);
        assert_eq!(verified.status.code(), Some(0), "{}", verified.stdout());
    }
}

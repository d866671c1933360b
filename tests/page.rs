//! `--html` of `stockade audit report` and `stockade explain`: where the page goes, and that no name in it is ever more than
//! text, in a browser as well.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Finished, Place, STOCKADE, finish, finish_within, run, skipped, slowness};
use stockade_report::audit::{Ended, Record, Seen, Started};
use stockade_report::report::Kind;
use stockade_store::{AuditWriter, Level};

const RUN: &str = "006543210a-0badcafe";
/// Names that would do something in a page if they were more than text. Each would change the title.
const HOSTILE: [&str; 9] = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>",
    "</title><svg/onload=document.title='owned'>",
    "\"><iframe srcdoc=\"<script>parent.document.title='owned'</script>\">",
    "<!--<script>",
    "]]>",
    "{{script}}{{data}}",
    "'\\\";document.title='owned'//",
    "a\u{2028}document.title='owned'\u{2029}",
];

fn stockade(place: &Place, words: &[&str]) -> Finished {
    let mut command: Command = place.command(STOCKADE);
    finish(command.args(words), b"")
}

fn page(place: &Place, words: &[&str]) -> String {
    let finished = stockade(place, words);
    assert_eq!(
        (finished.status.code(), finished.stderr().as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    finished.stdout()
}

fn record(place: &Place, run: &str, names: &[&str]) {
    let writer = AuditWriter::start(Some(&place.state()), Level::All, None);
    let observer = writer.observer();
    let started = Started {
        profile: names[0].into(),
        command: names.iter().map(|name| (*name).to_string()).collect(),
        root: format!("/srv/{}", names[0]),
        agent: Some(names[0].into()),
        flags: vec!["--read".into(), names[0].into()],
    };
    observer.note(run, Record::Started(started));
    for (at, name) in names.iter().enumerate() {
        let seen = Seen {
            access: Kind::Create,
            target: format!("/srv/{name}"),
            asked: (*name).into(),
            syscall: "openat".into(),
            pid: 7,
            program: format!("/opt/{name}"),
            rule: (at % 3 == 0).then(|| (*name).to_string()),
        };
        let is_allowed = at % 2 == 1;
        observer.note(
            run,
            if is_allowed {
                Record::Allowed(seen)
            } else {
                Record::Denied(seen)
            },
        );
    }
    let ended = Ended {
        status: names[0].into(),
        exit_code: None,
        signal: Some(names[0].into()),
        supervisor: true,
        denials: 1,
        duration_ms: 12,
        likely: Vec::new(),
        suggestion: None,
    };
    observer.note(run, Record::Ended(ended));
    writer.finish().expect("the trail can be written");
}

/// The document as a browser has it once its scripts ran; `None` where there is no browser.
fn dom(place: &Place, file: &Path, flags: &[&str]) -> Option<String> {
    let found = std::env::var_os("PATH").and_then(|path| {
        let mut directories = std::env::split_paths(&path);
        directories.find_map(|directory| Some(directory.join("chromium")).filter(|program| program.is_file()))
    });
    let Some(chromium) = found else {
        skipped("chromium isn't installed");
        return None;
    };
    let mut command = place.command(chromium);
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
        ])
        .args([
            "--no-first-run",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", place.home.join("browser").display()))
        .args(flags)
        .arg(format!("file://{}", file.display()));
    let finished = finish_within(&mut command, b"", Duration::from_secs(90) * slowness());
    assert!(finished.status.success(), "{}", finished.stderr());
    Some(finished.stdout())
}

#[test]
fn the_page_of_a_trail_is_one_file_with_a_strict_policy() {
    let place = Place::new();
    record(&place, RUN, &["plain"]);
    record(&place, "run-b", &["plain"]);
    let of_all = page(&place, &["audit", "report", "--html"]);
    assert!(of_all.starts_with("<!DOCTYPE html>") && of_all.contains("default-src 'none'; script-src 'sha256-"));
    assert!(of_all.contains(RUN) && of_all.contains("\"run-b\""));
    let of_one = page(&place, &["audit", "report", "--html", RUN]);
    assert!(of_one.contains(RUN) && !of_one.contains("\"run-b\""));
    let of_none = stockade(&place, &["audit", "report", "--html", "--since", "9999-01-01"]);
    assert!(of_none.stdout().contains("\"rows\":0") && !of_none.stdout().contains(RUN));
    assert!(of_none.stderr().contains("there is no record"), "{}", of_none.stderr());
    for (words, why) in [
        (
            &["audit", "report", "--html", "nosuch"][..],
            "the audit trail has no run `nosuch`",
        ),
        (&["audit", "report"], "--html"),
        (&["audit", "report", "--html", RUN, "--since", "1h"], "--since"),
        (&["explain", "--output", "x", "r.json"], "--html"),
    ] {
        let refused = stockade(&place, words);
        assert_eq!(refused.status.code(), Some(125), "{words:?}");
        assert!(refused.stderr().contains(why), "{}", refused.stderr());
    }
}

#[test]
fn a_page_is_written_for_its_owner_alone_and_through_no_link() {
    let place = Place::new();
    record(&place, RUN, &["plain"]);
    let (file, link, other) = (place.path("page.html"), place.path("link.html"), place.path("other"));
    let written = page(
        &place,
        &["audit", "report", "--html", "--output", file.to_str().unwrap()],
    );
    assert_eq!(written, "");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        page(&place, &["audit", "report", "--html"])
    );
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    page(&place, &["audit", "report", "--html", "-o", file.to_str().unwrap()]);
    assert_eq!(
        fs::metadata(&file).unwrap().mode() & 0o777,
        0o600,
        "it was there before"
    );
    fs::write(&other, "kept").unwrap();
    symlink(&other, &link).unwrap();
    let refused = stockade(&place, &["audit", "report", "--html", "-o", link.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(
        refused.stderr().contains("link.html") && refused.stderr().contains("hint: "),
        "{}",
        refused.stderr()
    );
    assert_eq!(fs::read_to_string(&other).unwrap(), "kept");
}

#[test]
fn no_page_and_no_report_takes_the_place_of_the_trail() {
    let place = Place::new();
    record(&place, RUN, &["plain"]);
    for name in ["audit.db", "audit.log", "audit.head", "new"] {
        let trail = place.state().join(name);
        let trail = trail.to_str().unwrap();
        for words in [
            &["audit", "report", "--html", "-o", trail][..],
            &["run", "--ask", "never", "--report", trail, "--", "true"],
        ] {
            let refused = stockade(&place, words);
            assert_eq!(refused.status.code(), Some(125), "{words:?}");
            assert!(refused.stderr().contains("the audit trail"), "{}", refused.stderr());
        }
    }
    assert!(!place.state().join("new").exists());
    let verified = page(&place, &["audit", "verify"]);
    assert!(verified.contains("rows are unaltered"), "{verified}");
}

#[test]
fn a_page_of_a_trail_that_is_not_whole_says_so_at_its_top() {
    let place = Place::new();
    record(&place, RUN, &["plain"]);
    let file = place.path("page.html");
    fs::write(place.state().join("audit.head"), "altered\n").unwrap();
    let finished = stockade(&place, &["audit", "report", "--html", "-o", file.to_str().unwrap()]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    const WHY: &str = "`audit.head` is gone or was altered";
    assert!(finished.stderr().contains(WHY), "{}", finished.stderr());
    assert!(fs::read_to_string(&file).unwrap().contains(WHY));
    if let Some(html) = dom(&place, &file, &["--virtual-time-budget=4000"]) {
        assert!(html.contains("The audit trail isn't as it was written: "), "{html}");
    }
    fs::write(place.state().join("audit.log"), "altered\n").unwrap();
    let finished = stockade(&place, &["audit", "report", "--html", "-o", file.to_str().unwrap()]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    let html = fs::read_to_string(&file).unwrap();
    assert!(
        html.contains("line 1 of `audit.log` was altered") && html.contains(RUN),
        "{html}"
    );
}

/// A row that somebody damaged, or that a later version writes.
#[test]
fn a_run_that_ended_without_a_status_is_shown() {
    let place = Place::new();
    record(&place, RUN, &[""]);
    let file = place.path("page.html");
    page(
        &place,
        &["audit", "report", "--html", "-o", file.to_str().unwrap(), RUN],
    );
    if let Some(html) = dom(&place, &file, &["--virtual-time-budget=4000"]) {
        assert!(html.contains("Ended in an unknown way"), "{html}");
    }
}

#[test]
fn a_report_becomes_a_page_that_says_what_would_allow_it() {
    let ran = run()
        .profile("readonly")
        .reporting()
        .file("a&b", "x")
        .flags(["--ask", "never"])
        .command(["cat", "a&b"])
        .any_status()
        .any_stderr()
        .ends();
    ran.place.file("report.json", ran.report().to_string());
    let html = page(&ran.place, &["explain", "--html", "report.json"]);
    assert!(
        html.contains("a\\u0026b") && html.contains("failed, and a refusal explains it"),
        "{html}"
    );
    assert!(html.contains("\"suggestion\":{\"flags\":\"--read "), "{html}");
}

#[test]
fn an_allowed_access_names_the_grant_behind_it() {
    let ran = run()
        .flags(["--read", "granted", "--audit", "all"])
        .file("granted/file", "x")
        .command(["cat", "granted/file"])
        .stdout("x")
        .ends();
    let listed = page(&ran.place, &["audit", "export", "--jsonl"]);
    let rows = listed
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let rule = |row: &serde_json::Value| row["record"]["rule"].as_str().unwrap_or_default().to_string();
    let allowed: Vec<_> = rows.filter(|row| row["kind"] == "allowed").collect();
    let of = |name: &str| {
        let ends = |row: &&serde_json::Value| row["record"]["target"].as_str().unwrap().ends_with(name);
        allowed.iter().find(ends).map(&rule).unwrap_or_default()
    };
    assert!(of("/granted/file").starts_with("granted tree `"), "{listed}");
    assert!(
        of("/granted/file").ends_with("/granted`, from `--read granted`"),
        "{}",
        of("/granted/file")
    );
    assert!(of("/cat").ends_with(", from the runtime base"), "{}", of("/cat"));
}

#[test]
fn no_name_does_anything_in_a_browser() {
    let place = Place::new();
    record(&place, RUN, &HOSTILE);
    let (file, bare) = (place.path("page.html"), place.path("bare.html"));
    let settled = ["--virtual-time-budget=4000"];
    // That they would, if they stood there as they are.
    fs::write(&bare, format!("<!DOCTYPE html><title>x</title><p>{}", HOSTILE[1])).unwrap();
    let Some(owned) = dom(&place, &bare, &settled) else {
        return;
    };
    assert!(owned.contains("<title>owned</title>"), "{owned}");
    page(&place, &["audit", "report", "--html", "-o", file.to_str().unwrap()]);
    let html = dom(&place, &file, &settled).unwrap();
    assert!(
        html.contains("data-ready=") && html.contains("class=\"r v2\""),
        "the script ran\n{html}"
    );
    assert!(html.contains("<title>Stockade: "), "{html}");
    for tag in ["<img", "<svg", "<iframe", "<title>owned", "onerror=\"", "<!--"] {
        assert!(!html.contains(tag), "{tag}\n{html}");
    }
    assert_eq!(html.matches("<script").count(), 2, "{html}");
    // As the terminal would show them.
    assert!(html.contains("/srv/") && html.contains("a\\u{2028}document"), "{html}");
}

#[test]
fn a_hundred_thousand_rows_open_in_seconds_and_few_of_them_are_elements() {
    const ROWS: &str = r#"WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        INSERT INTO records SELECT i, 1795752000000 + i, '006543210a-0badcafe', 'allowed',
            '{"kind":"allowed","access":"read","target":"/usr/lib/' || (i % 300) || '/' || i || '","asked":"",' ||
            '"syscall":"openat","pid":' || (i % 50) || ',"program":"/usr/bin/cat","rule":null}',
            zeroblob(32) FROM n"#;
    let place = Place::new();
    record(&place, RUN, &["plain"]);
    let connection = rusqlite::Connection::open(place.state().join("audit.db")).unwrap();
    connection.execute_batch(ROWS).unwrap();
    let file = place.path("page.html");
    let finished = stockade(&place, &["audit", "report", "--html", "-o", file.to_str().unwrap()]);
    // The rows have no hashes.
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    assert!(finished.stderr().contains("row 4 of run"), "{}", finished.stderr());
    let Some(html) = dom(&place, &file, &["--window-size=1280,800"]) else {
        return;
    };
    let (_, ready) = html.split_once("data-ready=\"").expect("the script ran");
    let ready: u32 = ready.split_once('"').unwrap().0.parse().unwrap();
    // Two seconds on an idle machine, see docs/evidence.md.
    assert!(ready < 6000 * slowness(), "{ready} ms");
    let elements = html.matches("class=\"r ").count();
    assert!(elements < 200 && html.contains("100,000 rows"), "{elements}");
}

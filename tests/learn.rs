//! `stockade learn`: what a program did becomes a profile that loads, under which it does the same, and nothing besides.

use std::process::Command;

use crate::common::{Finished, Place, STOCKADE, finish, python, skipped};

/// `stockade WORDS` in a place.
fn stockade(place: &Place, words: &[&str]) -> Finished {
    let mut command = place.command(STOCKADE);
    command.args(words);
    finish(&mut command, b"")
}

/// Learns a command; the profile's text.
fn learnt(place: &Place, flags: &[&str], command: &[&str]) -> String {
    let words = [&["learn", "-o", "learnt.toml"], flags, &["--"], command].concat();
    let _ = std::fs::remove_file(place.path("learnt.toml"));
    let finished = stockade(place, &words);
    assert_eq!(
        finished.status.code(),
        Some(0),
        "{}{}",
        finished.stdout(),
        finished.stderr()
    );
    std::fs::read_to_string(place.path("learnt.toml")).unwrap()
}

/// The profile loads without a remark, its tests hold, and the same command succeeds under it, with the same output.
fn holds(place: &Place, profile: &str, command: &[&str]) {
    for task in ["lint", "test"] {
        let finished = stockade(place, &["profile", task, "./learnt.toml"]);
        let said = format!("{}{}\n{profile}", finished.stdout(), finished.stderr());
        assert_eq!(finished.status.code(), Some(0), "{task}: {said}");
    }
    let free = finish(&mut bare(place, command), b"");
    let words = [&["run", "--ask", "never", "--profile", "./learnt.toml", "--"], command].concat();
    let again = stockade(place, &words);
    assert_eq!(again.status.code(), free.status.code(), "{}\n{profile}", again.stderr());
    assert_eq!(again.stdout(), free.stdout(), "{}\n{profile}", again.stderr());
}

fn bare(place: &Place, command: &[&str]) -> Command {
    let mut bare = place.command(command[0]);
    bare.args(&command[1..]);
    bare
}

fn refuses(place: &Place, command: &[&str]) {
    let words = [&["run", "--ask", "never", "--profile", "./learnt.toml", "--"], command].concat();
    assert!(
        finish(&mut bare(place, command), b"").status.success(),
        "{command:?} proves nothing"
    );
    assert!(!stockade(place, &words).status.success(), "{command:?}");
}

fn with_data() -> Place {
    let place = Place::new();
    for name in ["a", "b", "c", "d", "e"] {
        place.file(&format!("data/{name}.csv"), name);
    }
    place.file("notes.txt", "notes\n");
    place
}

#[test]
fn a_link_that_is_followed_needs_no_grant_of_its_own() {
    let place = with_data();
    std::os::unix::fs::symlink("data", place.path("followed")).unwrap();
    std::os::unix::fs::symlink("notes.txt", place.path("read")).unwrap();
    place.file(
        "job.py",
        "import os; print(os.readlink('read'), os.readlink('followed'), open(os.path.realpath('followed/a.csv')).read())\n",
    );
    let command = [python(), "job.py"];
    let profile = learnt(&place, &[], &command);
    assert!(!profile.contains("\"./followed"), "{profile}");
    holds(&place, &profile, &command);
}

#[test]
fn what_a_script_reads_is_granted_and_its_neighbour_is_not() {
    let place = with_data();
    place.file("job.py", "print(open('data/a.csv').read())\n");
    let command = [python(), "job.py"];
    let profile = learnt(&place, &[], &command);
    assert!(profile.contains("path = \"./data/a.csv\""), "{profile}");
    assert!(profile.contains("would have allowed it all is `readonly`"), "{profile}");
    assert!(profile.contains("read ./data/b.csv"), "{profile}");
    assert_eq!(profile.matches("\n[[").count(), 1, "{profile}");
    holds(&place, &profile, &command);
    refuses(&place, &["cat", "data/b.csv"]);
}

#[test]
fn a_directory_stands_for_its_files_where_most_of_them_were_used() {
    let place = with_data();
    let command = ["cat", "data/a.csv", "data/b.csv", "data/c.csv", "data/d.csv"];
    let profile = learnt(&place, &[], &command);
    assert!(profile.contains("path = \"./data\""), "{profile}");
    holds(&place, &profile, &command);
    let few = ["cat", "data/a.csv", "data/b.csv", "notes.txt"];
    let profile = learnt(&place, &[], &few);
    assert!(
        profile.contains("\"./data/a.csv\"") && !profile.contains("path = \"./data\""),
        "{profile}"
    );
    assert!(profile.contains("is `filesystem`"), "{profile}");
    holds(&place, &profile, &few);
}

/// Process substitution: the program opens its own pipe by `/dev/fd`.
#[test]
fn pipes_are_nothing_to_grant() {
    let place = with_data();
    let profile = learnt(&place, &[], &["bash", "-c", "cat <(head -n 1 notes.txt)"]);
    assert!(!profile.contains("pipe:"), "{profile}");
    assert!(
        profile.contains("would have allowed it all is `filesystem`"),
        "{profile}"
    );
    holds(&place, &profile, &["bash", "-c", "cat <(head -n 1 notes.txt)"]);
}

#[test]
fn a_computation_needs_nothing() {
    let place = Place::new();
    let command = [python(), "-c", "import json, csv, math; print(json.dumps([math.pi]))"];
    let profile = learnt(&place, &[], &command);
    assert!(
        profile.contains("is `minimal`") && !profile.contains("\n[["),
        "{profile}"
    );
    holds(&place, &profile, &command);
}

#[test]
fn files_in_tmp_and_temporary_ones_are_learnt() {
    if std::path::Path::new(STOCKADE.path()).starts_with("/tmp") {
        return skipped("`stockade` itself lies in /tmp, which no profile grants then");
    }
    let place = with_data();
    let name = format!("/tmp/stockade-learn-{}", std::process::id());
    let code = format!("printf x > {name} && sort data/a.csv && t=$(mktemp) && rm $t {name} && echo done");
    let command = ["sh", "-c", &code];
    let profile = learnt(&place, &[], &command);
    assert!(
        profile.contains("[[write]]") && profile.contains("is `filesystem`"),
        "{profile}"
    );
    holds(&place, &profile, &command);
}

/// Else `profile test` would speak of names that no later run has.
#[test]
fn no_temporary_name_is_a_test_of_a_learnt_profile() {
    let place = Place::new();
    const JOB: &str = "import os, tempfile; t = tempfile.NamedTemporaryFile(dir='.'); \
                       new = f'.new.{os.getpid()}'; open(new, 'w').close(); os.rename(new, 'out'); os.remove('old')";
    place.file("old", "");
    let profile = learnt(&place, &["--ceiling", "workspace"], &[python(), "-c", JOB]);
    let (_, tests) = profile.split_once("must_allow").unwrap();
    for (part, is_there) in [
        ("create ./out", true),
        ("delete ./old", true),
        (".new", false),
        ("./tmp", false),
    ] {
        assert_eq!(tests.contains(part), is_there, "{part}: {profile}");
    }
}

#[test]
fn what_a_wider_ceiling_lets_be_written_is_learnt_file_by_file() {
    let place = with_data();
    let command = ["sh", "-c", "mkdir -p out && cp notes.txt out/n && cat out/n"];
    let profile = learnt(&place, &["--ceiling", "workspace"], &command);
    assert!(
        profile.contains("path = \"./out\"") && profile.contains("is `workspace`"),
        "{profile}"
    );
    std::fs::remove_dir_all(place.path("out")).unwrap();
    holds(&place, &profile, &command);
}

#[test]
fn hosts_are_learnt_by_name_and_address_and_ports_by_number() {
    let place = Place::new();
    let code = "
import http.server, threading, urllib.request, socket
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen('http://127.0.0.1:%d/job.py' % server.server_port).status)
try:
    urllib.request.urlopen('https://nothing.example.invalid/x')
except OSError:
    print('not there')
";
    place.file("job.py", code);
    let command = [python(), "job.py"];
    let profile = learnt(&place, &[], &command);
    assert!(profile.contains("pattern = \"nothing.example.invalid\""), "{profile}");
    assert!(
        profile.contains("port = 0") && profile.contains("is `mcp-standard`"),
        "{profile}"
    );
    holds(&place, &profile, &command);
}

#[test]
fn a_server_outside_of_the_run_is_learnt_as_localhost() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let code = format!("import socket; socket.create_connection(('localhost', {port})); print('ok')");
    let command = [python(), "-c", &code];
    let profile = learnt(&place, &[], &command);
    assert!(
        profile.contains(&format!("pattern = \"localhost:{port}\"")),
        "{profile}"
    );
    assert!(profile.contains("is `network-api`"), "{profile}");
    holds(&place, &profile, &command);
}

#[test]
fn what_the_ceiling_refuses_is_told_and_secrets_are_never_granted() {
    let place = with_data();
    place.file(".env", "KEY=1\n");
    let command = ["sh", "-c", "cat .env; echo x > new.txt; cat notes.txt"];
    let words = [&["learn", "--json", "--"][..], &command].concat();
    let finished = stockade(&place, &words);
    let json: serde_json::Value = serde_json::from_str(&finished.stdout()).unwrap();
    assert_eq!(json["exit_code"], 0);
    assert_eq!(json["reads"], serde_json::json!(["./notes.txt"]));
    let refused = json["refused"].as_array().unwrap();
    let of = |name: &str| {
        let is_it = |one: &&serde_json::Value| one["target"].as_str().unwrap().ends_with(name);
        refused.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {json:#}"))
    };
    assert!(of(".env")["grant"].is_null(), "{json:#}");
    assert!(
        of("new.txt")["grant"].as_str().unwrap().starts_with("--write "),
        "{json:#}"
    );
    assert!(!json["profile"].as_str().unwrap().contains("path = \"./.env\""));
    assert!(
        finished.stderr().contains("notes"),
        "the program's output goes to standard error"
    );
}

#[test]
fn the_exit_code_is_the_program_s_and_a_bad_name_is_refused_before_it_runs() {
    let place = Place::new();
    place.file("mine.toml", "version = 1\n");
    assert_eq!(
        stockade(&place, &["learn", "--", "sh", "-c", "exit 7"]).status.code(),
        Some(7)
    );
    for words in [
        ["-o", "Bad Name.toml"],
        ["-o", "x.txt"],
        ["-o", "mine.toml"],
        ["--name", "minimal"],
    ] {
        let all = [&["learn"], &words[..], &["--", "touch", "/tmp/ran"]].concat();
        assert_eq!(stockade(&place, &all).status.code(), Some(125), "{words:?}");
    }
    assert_eq!(
        std::fs::read_to_string(place.path("mine.toml")).unwrap(),
        "version = 1\n"
    );
}

#[test]
fn a_run_that_was_refused_or_interrupted_leaves_no_half_profile() {
    let place = Place::new();
    place.file("job.py", "open('made', 'w')\n");
    let command = [python(), "job.py"];
    let refused = stockade(&place, &[&["learn", "-o", "learnt.toml", "--"], &command[..]].concat());
    let copied = format!("learn --ceiling workspace -o learnt.toml -- {} job.py", python());
    let ended = format!(
        "\nhint: `stockade {copied}` observes it where that is granted\n\
         stockade: no profile is learnt from a run that didn't get through\n"
    );
    assert!(refused.stderr().ends_with(&ended), "{}", refused.stderr());
    let killed = stockade(
        &place,
        &["learn", "-o", "learnt.toml", "--", "sh", "-c", "kill -INT $$"],
    );
    assert_eq!((refused.status.code(), killed.status.code()), (Some(1), Some(130)));
    assert!(!place.path("learnt.toml").exists());
    let again = stockade(&place, &copied.split(' ').collect::<Vec<_>>());
    assert_eq!(again.status.code(), Some(0), "{}", again.stderr());
    assert!(
        std::fs::read_to_string(place.path("learnt.toml"))
            .unwrap()
            .contains("is `workspace`")
    );
}

// promise: report.6
#[test]
fn what_is_observed_cannot_touch_the_file_of_its_profile() {
    let place = with_data();
    const FORGING: &str = "cat notes.txt; echo forged > learnt.toml; rm -f learnt.toml; mkdir learnt.toml; \
                           head -c 100000 /dev/zero >> learnt.toml; chmod 000 learnt.toml; touch beside";
    let profile = learnt(&place, &["--ceiling", "workspace"], &["sh", "-c", FORGING]);
    assert!(
        profile.contains("name = \"learnt\"") && !profile.contains("forged\n"),
        "{profile}"
    );
    assert!(place.path("beside").exists(), "the tree is open");
    assert!(profile.contains("extends = "), "{profile}");
}

#[test]
fn a_run_inside_a_run_teaches_nothing_and_says_so() {
    let place = with_data();
    for profile in ["mcp-standard", "filesystem"] {
        let outer = [
            "run",
            "--ask",
            "never",
            "--profile",
            "mcp-standard",
            "--",
            STOCKADE.path(),
        ];
        let words = [&outer[..], &["learn", "--ceiling", profile, "--", "cat", "notes.txt"]].concat();
        let finished = stockade(&place, &words);
        assert_eq!(finished.status.code(), Some(125), "{}", finished.stderr());
        assert!(
            finished.stderr().contains("can't observe this run"),
            "{}",
            finished.stderr()
        );
        assert_eq!(finished.stdout(), "");
    }
}

#[test]
fn asked_stands_beside_used() {
    let place = with_data();
    place.file("job.sh", "cat data/a.csv\n");
    let words = ["learn", "--json", "--compare", "--", "sh", "job.sh"];
    let finished = stockade(&place, &words);
    let json: serde_json::Value = serde_json::from_str(&finished.stdout()).unwrap();
    assert!(json["compare"]["asked"]["profile"].is_string(), "{json:#}");
    assert!(finished.stderr().contains("asked"), "{}", finished.stderr());
}

#[test]
fn real_programs_do_the_same_under_what_was_learnt() {
    let place = with_data();
    place.file(
        "job.js",
        "const fs = require('node:fs');\nconsole.log(fs.readFileSync('data/b.csv', 'utf8'));\n",
    );
    let setup = "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm x; sqlite3 app.db 'create table t(a); insert into t values (1)'";
    finish(place.command("sh").args(["-c", setup]), b"");
    for command in [
        &["node", "job.js"][..],
        &["git", "status", "--short", "--untracked-files=no"],
        &["sqlite3", "-readonly", "app.db", "select * from t"],
        &["sh", "-c", "wc -c data/*.csv | sort"],
        &["grep", "-r", "notes", "notes.txt"],
    ] {
        if !finish(&mut bare(&place, command), b"").status.success() {
            skipped(&format!("{command:?} doesn't work here"));
            continue;
        }
        let profile = learnt(&place, &[], command);
        holds(&place, &profile, command);
    }
}

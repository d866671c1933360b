//! `stockade batch`: results in order, each once whatever ends the batch, and no job gets more than the flags give.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::common::{Finished, Place, Run, STOCKADE, Terminal, finish, is_alive, run, until};

/// Writes the jobs to a file of the home, which no profile but `trusted` opens.
fn write(place: &Place, jobs: &[Value]) {
    let lines: Vec<String> = jobs.iter().map(|job| format!("{job}\n")).collect();
    place.file("~/jobs.jsonl", lines.concat());
}

fn command(place: &Place, flags: &[&str]) -> Command {
    let mut command = place.command(STOCKADE);
    let jobs = place.path("~/jobs.jsonl");
    command.arg("batch").args(flags).arg(jobs);
    command
}

fn batch(place: &Place, flags: &[&str]) -> Finished {
    finish(&mut command(place, flags), b"")
}

fn signal(child: &Child, signal: Signal) {
    nix::sys::signal::kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The results of jobs that are all answered.
fn answers(place: &Place, flags: &[&str], jobs: &[Value]) -> Vec<Value> {
    write(place, jobs);
    let finished = batch(place, flags);
    assert_eq!(
        (finished.status.code(), &*finished.stderr()),
        (Some(0), ""),
        "{}",
        finished.stdout()
    );
    rows(&finished.stdout())
}

/// Jobs that take different times, and print their number.
fn numbered(count: usize) -> Vec<Value> {
    let job = |i| json!({"id": i, "shell": format!("sleep 0.0{}; echo {i}", 9 - i % 10)});
    (0..count).map(job).collect()
}

fn assert_numbered(text: &str, count: usize) {
    let rows = rows(text);
    assert_eq!(rows.len(), count);
    for (i, row) in rows.iter().enumerate() {
        let told = (&row["index"], &row["id"], &row["stdout"]);
        assert_eq!(told, (&json!(i), &json!(i), &json!(format!("{i}\n"))), "{row}");
    }
}

#[test]
fn results_are_in_the_order_of_the_jobs() {
    let place = Place::new();
    write(&place, &numbered(30));
    let finished = batch(&place, &["--jobs", "8"]);
    assert_eq!((finished.status.code(), &*finished.stderr()), (Some(0), ""));
    assert_numbered(&finished.stdout(), 30);
}

#[test]
fn one_bad_job_stops_no_other() {
    let place = Place::new();
    write(
        &place,
        &[
            json!({"id": "a", "command": ["no-such-program"]}),
            json!({"id": "b", "comand": ["true"]}),
            json!("true"),
            json!({"id": "d", "shell": "kill -SEGV $$"}),
            json!({"id": "e", "shell": "sleep 60", "timeout": 0.2}),
            json!({"id": "f", "shell": "kill -STOP $$; exit 7"}),
            json!({"id": "g", "shell": "cat /etc/shadow"}),
            json!({"id": "h", "command": ["a\u{0}b"]}),
            json!({"id": "i", "shell": "true"}),
        ],
    );
    let finished = batch(&place, &[]);
    assert_eq!(finished.status.code(), Some(1));
    assert_eq!(
        finished.stderr(),
        "stockade: 4 of 9 jobs have no answer; their results have an `error`\n"
    );
    let told: Vec<Value> = rows(&finished.stdout())
        .iter()
        .map(|row| {
            json!([
                row["id"],
                row["status"],
                row["exit_code"],
                row["signal"],
                row["error"].is_string()
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!(["a", "not_started", null, null, true]),
            json!(["b", "invalid", null, null, true]),
            json!([null, "invalid", null, null, true]),
            json!(["d", "signalled", null, "SIGSEGV", false]),
            json!(["e", "time_limit", null, "SIGKILL", false]),
            json!(["f", "completed", 7, null, false]),
            json!(["g", "permission_denied", 1, null, false]),
            json!(["h", "not_started", null, null, true]),
            json!(["i", "completed", 0, null, false]),
        ]
    );
}

#[test]
fn a_batch_that_was_killed_goes_on_and_has_each_result_once() {
    let place = Place::new();
    write(&place, &numbered(24));
    let results = place.path("~/results.jsonl");
    let flags = ["--output", results.to_str().unwrap()];
    for least in [1, 8, 16] {
        let mut child = command(&place, &flags).stderr(Stdio::null()).spawn().unwrap();
        let written = || {
            fs::read(&results)
                .unwrap_or_default()
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
        };
        assert!(until(Duration::from_secs(60), || written() >= least));
        child.kill().unwrap();
        child.wait().unwrap();
        // As a write that was cut short leaves it.
        let text = fs::read_to_string(&results).unwrap();
        let torn = text.rfind("{\"index\"").unwrap() + 25;
        fs::write(&results, &text[..torn]).unwrap();
    }
    let finished = batch(&place, &flags);
    assert_eq!((finished.status.code(), finished.stdout().len()), (Some(0), 0));
    assert!(
        finished.stderr().contains("and dropped a torn one"),
        "{}",
        finished.stderr()
    );
    let text = fs::read_to_string(&results).unwrap();
    assert_numbered(&text, 24);
    assert_eq!(batch(&place, &flags).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&results).unwrap(), text);
}

#[test]
fn where_nobody_reads_the_results_the_batch_ends_and_is_no_success() {
    let place = Place::new();
    write(&place, &numbered(200));
    let (reading, writing) = std::io::pipe().unwrap();
    drop(reading);
    let status = command(&place, &[]).stdout(writing).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn an_edited_input_is_told() {
    let place = Place::new();
    let results = place.path("~/results.jsonl");
    let flags = ["--output", results.to_str().unwrap()];
    write(&place, &numbered(3));
    assert_eq!(batch(&place, &flags).status.code(), Some(0));
    let before = fs::read_to_string(&results).unwrap();
    let mut jobs = numbered(4);
    jobs[1]["id"] = json!("other");
    write(&place, &jobs);
    let finished = batch(&place, &flags);
    assert_eq!(finished.status.code(), Some(125));
    assert!(
        finished.stderr().contains("line 2 of the jobs has changed"),
        "{}",
        finished.stderr()
    );
    assert_eq!(fs::read_to_string(&results).unwrap(), before);
    write(&place, &numbered(4));
    assert_eq!(batch(&place, &flags).status.code(), Some(0));
    assert_numbered(&fs::read_to_string(&results).unwrap(), 4);
}

#[test]
fn an_interrupt_ends_the_running_jobs_and_leaves_results_to_go_on_from() {
    let place = Place::new();
    let mut jobs = numbered(6);
    jobs[3]["shell"] = json!("echo $$ > pid; test -e go || sleep 300; echo 3");
    write(&place, &jobs);
    let results = place.path("~/results.jsonl");
    let flags = ["--output", results.to_str().unwrap(), "--write", "."];
    let mut child = command(&place, &flags).stderr(Stdio::null()).spawn().unwrap();
    let pid = || fs::read_to_string(place.path("pid")).ok()?.trim().parse().ok();
    let has_three = || fs::read_to_string(&results).is_ok_and(|text| text.lines().count() == 3);
    assert!(until(Duration::from_secs(60), || pid().is_some() && has_three()));
    assert!(is_alive(pid().unwrap()));
    let batch_id = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(batch_id, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_alive(pid().unwrap()));
    assert!(has_three());
    place.file("go", "");
    assert_eq!(batch(&place, &flags).status.code(), Some(0));
    assert_numbered(&fs::read_to_string(&results).unwrap(), 6);
}

#[test]
fn what_jobs_go_without_of_the_users_settings_is_told_once() {
    let place = Place::new();
    place.file("~/.gitconfig", "[core]\n\tautocrlf = in\0put\n");
    let job = json!({"shell": "git --version; cat", "stdin": "x"});
    write(&place, &[job.clone(), job, json!({"shell": "exit 3"})]);
    let finished = batch(&place, &["--profile", "workspace"]);
    let told = "stockade: `core.autocrlf` doesn't come along: it holds a NUL byte\n";
    assert_eq!((finished.status.code(), &*finished.stderr()), (Some(0), told));
}

#[test]
fn a_key_at_the_terminal_ends_the_batch_and_no_job_is_told_as_ended_by_it() {
    let run: Run = run();
    write(
        &run.place,
        &[
            json!({"shell": "sleep 300"}),
            json!({"shell": "sleep 300"}),
            json!({"shell": "true"}),
        ],
    );
    let program = STOCKADE.to_string();
    // A dumb terminal gets no bar.
    let argv = [
        "/usr/bin/env",
        "TERM=xterm",
        &*program,
        "batch",
        "--output",
        "results",
        "@HOME/jobs.jsonl",
    ]
    .map(|word| run.place.fill(word).into());
    let code = Terminal::new()
        .awaits("0/3 jobs")
        .awaits(" left")
        .rows_within(80)
        .meanwhile("sleep 0.5")
        .types("\u{3}")
        .awaits("SIGINT ended the batch after 0 results")
        .ends_within(20)
        .plays_command(&run, argv.into());
    assert_eq!(code, 130);
    assert_eq!(fs::read_to_string(run.place.path("results")).unwrap(), "");
}

// promise: agents.10
#[test]
fn a_job_gets_no_profile_and_no_root_that_the_flags_do_not_give() {
    let place = Place::new();
    fs::create_dir(place.path("in")).unwrap();
    symlink(&place.home, place.path("out")).unwrap();
    let job = |profile: &str, root: &str| json!({"shell": "pwd", "profile": profile, "root": root});
    write(
        &place,
        &[
            job("minimal", "in"),
            job("trusted", "."),
            job("mcp-standard", "."),
            job("./x.toml", "."),
            job("readonly", "out"),
            job("readonly", ".."),
            job("readonly", "/"),
            job("readonly", "none"),
            job("readonly", "in/../in"),
        ],
    );
    let finished = batch(&place, &["--profile", "readonly"]);
    let told: Vec<Value> = rows(&finished.stdout())
        .iter()
        .map(|row| row["stdout"].clone())
        .collect();
    let inside = json!(format!("{}\n", place.path("in").display()));
    let null = Value::Null;
    let expected = [&inside, &null, &null, &null, &null, &null, &null, &null, &inside];
    assert_eq!(told.iter().collect::<Vec<_>>(), expected);
    let allowed = batch(&place, &["--profile", "readonly", "--allow-profile", "mcp-standard"]);
    assert_eq!(rows(&allowed.stdout())[2]["profile"], "mcp-standard");
}

#[test]
fn a_job_names_an_allowed_file_by_its_path_or_its_name() {
    let place = Place::new();
    let text = "version = 1\nname = \"m3\"\ndescription = \"own\"\nextends = \"workspace\"\n";
    let path = place.file("~/m3.toml", text);
    let path = path.to_str().unwrap();
    let job = |profile: &str| json!({"shell": "pwd", "profile": profile});
    write(&place, &[job("m3"), job(path), job("m4")]);
    let finished = batch(&place, &["--profile", "readonly", "--allow-profile", path]);
    let rows = rows(&finished.stdout());
    for row in &rows[..2] {
        assert_eq!(row["status"], "completed", "{row}");
    }
    assert_eq!(rows[2]["status"], "not_started", "{}", rows[2]);
}

#[test]
fn a_job_that_leads_the_root_elsewhere_moves_no_later_job() {
    for (begins, swap) in [
        (
            "mkdir real; ln -s real current",
            "rm ../current; ln -s '@HOME' ../current",
        ),
        ("mkdir current", "mv ../current ../was; ln -s '@HOME' ../current"),
    ] {
        let place = Place::new();
        place.file("~/private", "PRIVATE");
        let begun = finish(place.command("sh").args(["-c", begins]), b"");
        assert_eq!(begun.status.code(), Some(0));
        let jobs = [
            json!({"shell": place.fill(swap)}),
            json!({"shell": "cat private; echo x >planted"}),
        ];
        write(&place, &jobs);
        let finished = batch(
            &place,
            &[
                "--profile",
                "workspace",
                "--root",
                "current",
                "--write",
                ".",
                "--jobs",
                "1",
            ],
        );
        let rows = rows(&finished.stdout());
        assert_eq!(rows[0]["exit_code"], 0, "{}", rows[0]);
        assert_ne!(rows[1]["stdout"], "PRIVATE", "{begins}: {}", rows[1]);
        assert!(!place.path("~/planted").exists(), "{begins}: {}", rows[1]);
        // Where the name leads by now, it is read.
        let free = finish(place.command("cat").arg("current/private"), b"");
        assert_eq!(free.stdout(), "PRIVATE", "so this proves nothing");
    }
}

/// By a shipped profile alone: `workspace` writes `/tmp`.
#[test]
fn a_root_in_tmp_stays_where_it_was() {
    let root = tempfile::Builder::new()
        .prefix("stockade-root-")
        .tempdir_in("/tmp")
        .unwrap();
    let (root, was) = (root.path().join("r"), root.path().join("was"));
    fs::create_dir(&root).unwrap();
    let place = Place::new();
    place.file("~/private", "PRIVATE");
    let swap = format!(
        "mv {0} {1}; ln -s {2} {0}",
        root.display(),
        was.display(),
        place.home.display()
    );
    let jobs = [json!({"shell": swap}), json!({"shell": "cat private; echo x >planted"})];
    write(&place, &jobs);
    let root = root.to_str().unwrap();
    let finished = batch(&place, &["--profile", "workspace", "--root", root, "--jobs", "1"]);
    let rows = rows(&finished.stdout());
    assert_eq!(rows[0]["exit_code"], 0, "{}", rows[0]);
    assert_ne!(rows[1]["stdout"], "PRIVATE", "{}", rows[1]);
    assert!(!place.path("~/planted").exists(), "{}", rows[1]);
    let free = finish(place.command("cat").arg(format!("{root}/private")), b"");
    assert_eq!(free.stdout(), "PRIVATE", "so this proves nothing");
    // A later run of any kind, too.
    let later = place
        .command(STOCKADE)
        .args(["run", "--profile", "workspace", "--root", root, "--", "cat", "private"])
        .output();
    assert_eq!(later.unwrap().status.code(), Some(125));
}

#[test]
fn a_time_that_no_clock_reaches_is_no_limit() {
    let place = Place::new();
    let answers = answers(&place, &[], &[json!({"shell": "echo a", "timeout": 1.8e19})]);
    assert_eq!(answers[0]["stdout"], "a\n");
}

#[test]
fn a_line_that_a_signal_cuts_is_no_job() {
    let place = Place::new();
    let mut command = place.command(STOCKADE);
    command.args(["batch", "--profile", "readonly", "--output", "results", "-"]);
    let jobs = "{\"id\": 1, \"shell\": \"echo a\"}\n{\"id\": 2, \"shell\": \"echo b\"}\n";
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (whole, cut) = jobs.split_at(jobs.len() - 9);
    let mut input = child.stdin.take().unwrap();
    input.write_all(whole.as_bytes()).unwrap();
    let results = place.path("results");
    assert!(until(Duration::from_secs(30), || fs::read_to_string(&results)
        .is_ok_and(|text| text.lines().count() == 1)));
    signal(&child, Signal::SIGINT);
    let ended = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(
        ended.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    assert_eq!(fs::read_to_string(&results).unwrap().lines().count(), 1, "{cut}");
    let resumed = finish(&mut command, jobs.as_bytes());
    assert_eq!(resumed.status.code(), Some(0), "{}", resumed.stderr());
    assert_eq!(rows(&fs::read_to_string(&results).unwrap())[1]["stdout"], "b\n");
}

#[test]
fn a_fifo_without_a_writer_ends_with_the_batch() {
    let place = Place::new();
    nix::unistd::mkfifo(&place.path("jobs"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut command = place.command(STOCKADE);
    let mut child = command.args(["batch", "jobs"]).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, Signal::SIGTERM);
    assert!(until(Duration::from_secs(30), || child.try_wait().unwrap().is_some()));
    assert_eq!(child.wait().unwrap().code(), Some(143));
}

#[test]
fn a_job_only_shortens_the_time_that_it_has() {
    let place = Place::new();
    let jobs = [
        json!({"shell": "sleep 60", "timeout": "1h"}),
        json!({"shell": "sleep 60", "timeout": 0.1}),
    ];
    let answers = answers(&place, &["--time-limit", "400ms"], &jobs);
    for (row, most) in answers.iter().zip([5000, 390]) {
        assert_eq!(row["status"], "time_limit");
        assert!(row["duration_ms"].as_u64().unwrap() < most, "{row}");
    }
}

// promise: agents.11
#[test]
fn no_job_changes_the_jobs_or_the_results() {
    let place = Place::new();
    let change = "for file in jobs.jsonl results.jsonl other; do echo x >> $file && echo $file; done; rm -f jobs.jsonl \
                  results.jsonl; mv results.jsonl y; ln -f results.jsonl z && echo x >> z";
    let job = json!({"shell": change});
    // Without Stockade each of these is possible.
    place.file("jobs.jsonl", format!("{job}\n"));
    let mut command = place.command(STOCKADE);
    command.args([
        "batch",
        "--profile",
        "workspace",
        "--output",
        "results.jsonl",
        "jobs.jsonl",
    ]);
    let finished = finish(&mut command, b"");
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    assert_eq!(
        fs::read_to_string(place.path("jobs.jsonl")).unwrap(),
        format!("{job}\n")
    );
    let text = fs::read_to_string(place.path("results.jsonl")).unwrap();
    let rows = rows(&text);
    assert_eq!((rows.len(), &rows[0]["stdout"]), (1, &json!("other\n")));
    let bare = Command::new("sh")
        .args(["-c", change])
        .current_dir(&place.root)
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&bare.stdout).starts_with("jobs.jsonl\nresults.jsonl\n"));
    assert!(!place.path("jobs.jsonl").exists());
}

/// A job that replaces a file of the root, and one that then uses it.
fn replaced(text: &str, file: &str, then: Value) -> [Value; 2] {
    let line =
        format!("printf '{text}' > new; mv new {file} && echo replaced; printf '{text}' > {file} && echo written");
    [json!({"shell": line}), then]
}

// promise: agents.11
#[test]
fn no_job_changes_a_profile_of_the_batch_or_what_it_extends() {
    let place = Place::new();
    place.file("~/secret", "s");
    place.file("own.toml", profile("own", "./base.toml"));
    place.file("base.toml", profile("base", "readonly"));
    let wide = profile("base", "trusted").replace('\n', "\\n");
    let cat = format!("cat {}", place.path("~/secret").display());
    for (flags, writer) in [
        (
            &["--profile", "workspace", "--allow-profile", "./own.toml"][..],
            "workspace",
        ),
        (&["--profile", "./own.toml", "--write", "."], "minimal"),
    ] {
        let then = json!({"shell": cat, "profile": "./own.toml", "root": "."});
        let mut jobs = replaced(&wide, "base.toml", then);
        jobs[0]["profile"] = json!(writer);
        write(&place, &jobs);
        let mut flags = flags.to_vec();
        flags.extend(["--jobs", "1"]);
        let finished = batch(&place, &flags);
        let rows = rows(&finished.stdout());
        assert_eq!(rows[0]["stdout"], "", "{rows:?}");
        assert!(!rows[0]["denials"].as_array().unwrap().is_empty());
        assert_eq!(
            (&rows[1]["status"], &rows[1]["profile"]),
            (&json!("permission_denied"), &json!("own"))
        );
    }
}

#[test]
fn a_profile_is_that_of_the_start_whoever_changes_its_file() {
    let place = Place::new();
    place.file("own.toml", profile("own", "readonly"));
    place.file("~/secret", "s");
    let wait = "touch here; while ! test -e go; do sleep 0.02; done";
    let cat = json!({"shell": format!("cat {}", place.path("~/secret").display()), "profile": "./own.toml"});
    write(&place, &[json!({"shell": wait}), cat]);
    let flags = ["--jobs", "1", "--profile", "workspace", "--allow-profile", "./own.toml"];
    let child = command(&place, &flags).stdout(Stdio::piped()).spawn().unwrap();
    assert!(until(Duration::from_secs(60), || place.path("here").exists()));
    place.file("own.toml", "no profile");
    place.file("go", "");
    let output = child.wait_with_output().unwrap();
    let rows = rows(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(
        (&rows[1]["status"], &rows[1]["profile"]),
        (&json!("permission_denied"), &json!("own"))
    );
}

fn profile(name: &str, extends: &str) -> String {
    format!("version = 1\nname = \"{name}\"\ndescription = \"own\"\nextends = \"{extends}\"\n")
}

#[test]
fn a_profile_that_extends_trusted_is_none_of_a_batch() {
    let place = Place::new();
    place.file("own.toml", profile("own", "./base.toml"));
    place.file("base.toml", profile("base", "trusted"));
    write(&place, &numbered(1));
    for flag in ["--allow-profile", "--profile"] {
        let finished = batch(&place, &[flag, "./own.toml"]);
        assert_eq!((finished.status.code(), finished.stdout().len()), (Some(125), 0));
        assert!(
            finished.stderr().contains("`./own.toml` extends `trusted`"),
            "{}",
            finished.stderr()
        );
        assert_eq!(batch(&place, &[flag, "trusted"]).status.code(), Some(0));
    }
}

#[test]
fn no_job_changes_what_a_standard_stream_is_redirected_to() {
    let place = Place::new();
    let change = "for file in jobs.jsonl results.jsonl messages other; do echo x >> $file && echo $file; true > $file; done; \
                  rm -f jobs.jsonl results.jsonl messages; mv results.jsonl y";
    let job = json!({"shell": change});
    place.file("jobs.jsonl", format!("{job}\n"));
    let open = |name: &str| fs::File::create(place.path(name)).unwrap();
    let mut command = place.command(STOCKADE);
    let status = command
        .args(["batch", "--profile", "workspace", "-"])
        .stdin(fs::File::open(place.path("jobs.jsonl")).unwrap())
        .stdout(open("results.jsonl"))
        .stderr(open("messages"))
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    let rows = rows(&fs::read_to_string(place.path("results.jsonl")).unwrap());
    assert_eq!((rows.len(), &rows[0]["stdout"]), (1, &json!("other\n")));
    assert_eq!(
        fs::read_to_string(place.path("jobs.jsonl")).unwrap(),
        format!("{job}\n")
    );
    assert!(place.path("messages").exists());
}

#[test]
fn no_job_replaces_a_link_that_the_files_are_named_by() {
    let place = Place::new();
    for directory in ["results", "jobs"] {
        fs::create_dir(place.path(directory)).unwrap();
    }
    symlink("results", place.path("out")).unwrap();
    symlink("jobs/all", place.path("all")).unwrap();
    let job =
        json!({"shell": "rm out; mv out away; mkdir out && echo out; rm all; echo > all && echo all; mv results z"});
    place.file("jobs/all", format!("{job}\n"));
    let mut command = place.command(STOCKADE);
    command.args(["batch", "--profile", "workspace", "--output", "out/rows", "all"]);
    let finished = finish(&mut command, b"");
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
    let rows = rows(&fs::read_to_string(place.path("results/rows")).unwrap());
    assert_eq!((rows.len(), &rows[0]["stdout"]), (1, &json!("")));
    assert!(place.path("out").is_symlink() && place.path("all").is_symlink());
}

#[test]
fn grants_of_the_flags_are_each_jobs() {
    let place = Place::new();
    place.file("given", "g");
    let jobs = [
        json!({"shell": "cat given; echo $X"}),
        json!({"shell": "cat given; echo $X", "profile": "minimal"}),
    ];
    for row in answers(
        &place,
        &["--profile", "readonly", "--read", "given", "--env", "X=1"],
        &jobs,
    ) {
        assert_eq!(row["stdout"], "g1\n");
    }
    write(&place, &[json!({"shell": "cat given"})]);
    let refused = rows(&batch(&place, &[]).stdout());
    assert_eq!(refused[0]["status"], "permission_denied");
    assert_eq!(
        refused[0]["suggestion"]["flags"],
        json!(["--read", place.path("given")])
    );
}

#[test]
fn input_of_any_length_arrives_and_need_not_be_read() {
    let place = Place::new();
    let long = "x".repeat(1 << 20);
    let jobs = [
        json!({"shell": "wc -c", "stdin": long}),
        json!({"shell": "true", "stdin": long}),
        json!({"command": ["cat"], "stdin": "ä"}),
        json!({"shell": "cat"}),
        json!({"shell": "echo x > /dev/stdin", "stdin": "y"}),
    ];
    let answers = answers(&place, &[], &jobs);
    let told: Vec<&str> = answers[..4].iter().map(|row| row["stdout"].as_str().unwrap()).collect();
    assert_eq!(told, ["1048576\n", "", "ä", ""]);
}

#[test]
fn kept_output_is_bounded_and_told_as_it_is() {
    let place = Place::new();
    let jobs = [
        json!({"shell": "head -c 3000000 /dev/zero | tr '\\0' a; printf '\\377' >&2"}),
        json!({"shell": "printf '\\033[31m'"}),
    ];
    let answers = answers(&place, &["--keep-output", "1K"], &jobs);
    assert_eq!(answers[0]["stdout"], "a".repeat(1024));
    assert_eq!(
        (&answers[0]["stdout_cut"], &answers[0]["stderr_lossy"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(answers[0]["resources"]["stdout_bytes"], 3_000_000);
    assert_eq!(answers[1]["stdout"], "\u{1b}[31m");
}

#[test]
fn a_killed_warden_costs_one_result_and_leaves_no_process() {
    let place = Place::new();
    let orphan = "setsid sleep 300 & echo $! > pid; while :; do sleep 0.01; done";
    let mut jobs = numbered(5);
    jobs[1] = json!({"id": 1, "shell": orphan});
    write(&place, &jobs);
    let mut command = command(&place, &["--jobs", "2", "--write", "."]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut pid = None;
    assert!(until(Duration::from_secs(60), || {
        pid = fs::read_to_string(place.path("pid"))
            .ok()
            .and_then(|text| text.trim().parse().ok());
        pid.is_some()
    }));
    // The shell's parent is the warden.
    let warden = parent(parent(pid.unwrap()));
    assert_eq!(
        fs::read_to_string(format!("/proc/{warden}/comm")).unwrap(),
        "sandbox-warden\n"
    );
    let warden = nix::unistd::Pid::from_raw(warden);
    nix::sys::signal::kill(warden, nix::sys::signal::Signal::SIGKILL).unwrap();
    let output = child.wait_with_output().unwrap();
    let rows = rows(&String::from_utf8(output.stdout).unwrap());
    let statuses: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["completed", "lost", "completed", "completed", "completed"]);
    assert_eq!((output.status.code(), output.status.signal()), (Some(1), None));
    assert!(!is_alive(pid.unwrap()));
}

fn parent(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit(") ").next().unwrap();
    rest.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn runs_of_a_batch_are_in_the_audit_trail() {
    let place = Place::new();
    let ids = answers(&place, &[], &[json!({"shell": "true"}), json!({"shell": "true"})]);
    let listed = finish(place.command(STOCKADE).args(["audit", "list", "--json"]), b"");
    for row in ids {
        assert!(
            listed.stdout().contains(row["run"].as_str().unwrap()),
            "{}",
            listed.stdout()
        );
    }
}

#[test]
fn wrong_calls_say_so() {
    let place = Place::new();
    write(&place, &numbered(1));
    place.file("notes", "mine");
    for (flags, part) in [
        (&["--ask", "terminal"][..], "asks no questions at a terminal"),
        (&["--ask", "auto"], "asks no questions at a terminal"),
        (&["--report", "x"], "writes no report"),
        (&["--profile", "nope"], "no profile is called `nope`"),
        (&["--allow-profile", "nope"], "no profile is called `nope`"),
        (&["--root", "nope"], "nope` can't be used"),
        (&["--output", "notes"], "line 1 of `notes` isn't the result of a batch"),
        (&["--output", "/dev/null"], "it isn't a regular file"),
        (&["other.jsonl"], "takes one file of jobs"),
        (&["--jobs", "0"], "at least 1"),
    ] {
        let finished = batch(&place, flags);
        assert_eq!(
            (finished.status.code(), finished.stdout().len()),
            (Some(125), 0),
            "{flags:?}"
        );
        assert!(finished.stderr().contains(part), "{flags:?}: {}", finished.stderr());
    }
    assert_eq!(fs::read(place.path("notes")).unwrap(), b"mine");
    assert!(!Path::new("x").exists());
}

/// A job's words aren't the user's.
// promise: others.5
#[test]
fn a_job_reads_no_file_for_naming_it_as_a_script() {
    let place = Place::new();
    place.file("~/notes", "NOTES");
    let notes = place.path("~/notes");
    let free = finish(place.command("bash").args(["-v"]).arg(&notes), b"");
    assert!(free.stderr().contains("NOTES"), "so this proves nothing");
    place.program("own.sh", "#!/bin/sh\necho own");
    write(
        &place,
        &[
            json!({"command": ["bash", "-v", notes]}),
            json!({"command": ["bash", "own.sh"]}),
            json!({"command": ["./own.sh"]}),
        ],
    );
    let finished = batch(&place, &["--read", "own.sh"]);
    let rows = rows(&finished.stdout());
    assert!(!finished.stdout().contains("NOTES"), "{rows:?}");
    assert_eq!(rows[0]["status"], "permission_denied", "{rows:?}");
    assert_eq!(rows[1]["stdout"], "own\n", "{rows:?}");
    let hint = format!("`--exec {}`", place.path("own.sh").display());
    assert_eq!(rows[2]["status"], "not_started", "{rows:?}");
    assert!(rows[2]["hint"].as_str().unwrap().contains(&hint), "{rows:?}");
}

/// A job's narrower profile or root makes no program the user's that another job may have made.
// promise: others.6
#[test]
fn a_job_gets_no_program_from_where_jobs_with_another_profile_or_root_write() {
    let place = Place::new();
    place.program("~/notes.sh", "#!/bin/sh\necho NOTES");
    // Outside of the home, in which `PATH` guards its directories.
    let directories = [place.path("tools"), place.root.with_file_name("tools")];
    for directory in directories.iter().chain([&place.path("sub")]) {
        fs::create_dir_all(directory).unwrap();
    }
    let directories = directories.map(|directory| directory.display().to_string());
    let own = format!("[[write]]\npath = \"{}\"\nwhy = \"tools\"\n", directories[1]);
    place.file("~/wide.toml", profile("wide", "workspace") + &own);
    let path = format!("{}:{}:/usr/bin:/bin", directories[0], directories[1]);
    let notes = place.path("~/notes.sh").display().to_string();
    let wide = place.path("~/wide.toml").display().to_string();
    write(
        &place,
        &[
            json!({"shell": format!("ln -s {notes} {}/own", directories[0])}),
            json!({"shell": format!("ln -s {notes} {}/other", directories[1]), "profile": wide}),
            json!({"command": ["own"], "root": "sub"}),
            json!({"command": ["own"], "root": "sub", "profile": "minimal"}),
            json!({"command": ["other"]}),
            json!({"command": ["env", "other"], "profile": "minimal"}),
        ],
    );
    let mut command = command(
        &place,
        &["--jobs", "1", "--profile", "workspace", "--allow-profile", &wide],
    );
    let finished = finish(command.env("PATH", &path), b"");
    let rows = rows(&finished.stdout());
    for made in &rows[..2] {
        assert_eq!(made["exit_code"], 0, "so this proves nothing: {made}");
    }
    let mut free = place.command("sh");
    let free = finish(free.env("PATH", &path).args(["-c", "own; other"]), b"");
    assert_eq!(free.stdout(), "NOTES\nNOTES\n", "so this proves nothing");
    for row in &rows[2..] {
        assert!(row["exit_code"] != 0 && !row.to_string().contains("NOTES"), "{row}");
    }
}

/// An earlier run may have made the link: `workspace` writes `/tmp`.
#[test]
fn a_root_that_is_a_link_out_of_a_written_tree_is_refused() {
    let made = tempfile::Builder::new()
        .prefix("stockade-root-")
        .tempdir_in("/tmp")
        .unwrap();
    let link = made.path().join("r");
    let place = Place::new();
    symlink(&place.home, &link).unwrap();
    place.file("~/private", "PRIVATE");
    write(&place, &[json!({"shell": "cat private"})]);
    let root = link.to_str().unwrap();
    let finished = batch(&place, &["--profile", "workspace", "--root", root]);
    assert_eq!(
        (finished.status.code(), &*finished.stdout()),
        (Some(125), ""),
        "{}",
        finished.stderr()
    );
    assert!(
        finished.stderr().contains("leads out of `/tmp`"),
        "{}",
        finished.stderr()
    );
    let served = finish(place.command(STOCKADE).args(["mcp", "serve", "--root", root]), b"");
    assert_eq!(served.status.code(), Some(125), "{}", served.stderr());
    assert!(served.stderr().contains("leads out of `/tmp`"), "{}", served.stderr());
}

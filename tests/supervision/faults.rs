//! Mistakes of Stockade's own: a panic refuses what it was about, the run goes on, and its report says so.

use serde_json::{Value, json};

use crate::common::{PANIC, Ran, Run, injects_panics, run};

/// A run in which one point of Stockade panics.
fn panicking(at: &str) -> Option<Run> {
    injects_panics().then(|| run().variable(PANIC, at).reporting())
}

/// The report's faults, without the messages, which have to name the point.
#[track_caller]
fn faults(ran: &Ran, point: &str) -> Vec<(Value, Value)> {
    let report = ran.report();
    let list = report["faults"].as_array().expect("a list").clone();
    let pair = |fault: &Value| {
        let message = fault["message"].as_str().unwrap();
        assert!(
            message.starts_with(&format!("injected at `{point}` (crates/stockade/src/")),
            "{message}"
        );
        (fault["part"].clone(), fault["count"].clone())
    };
    list.iter().map(pair).collect()
}

/// Tries to make files; the program's own exit code is 7.
const MAKE: &str = "import os, sys\n\
    for name in ('a', 'boom', 'b', 'boom', 'c'):\n  \
      try: os.close(os.open(name, os.O_CREAT | os.O_WRONLY)); print(name)\n  \
      except OSError as e: print(e.strerror)\n\
    sys.exit(7)";

// promise: stockade.9
#[test]
fn a_call_is_refused_where_a_worker_panics_and_the_next_ones_are_served() {
    let Some(run) = panicking("worker:/boom") else { return };
    let ran = run
        .profile("workspace")
        .python(MAKE)
        .status(7)
        .stdout("a\nOperation not permitted\nb\nOperation not permitted\nc\n")
        .stderr_has("stockade: internal error in a worker: injected at `worker` (crates/stockade/src/")
        .stderr_has("); the call was refused (2 times)\n")
        .stderr_has("\nhint: this is a bug in Stockade: please report it with these lines\n")
        .ends();
    assert_eq!(faults(&ran, "worker"), [(json!("worker"), json!(2))]);
    assert_eq!(ran.report()["status"], "completed");
    let lines = ran.finished.stderr();
    assert_eq!(
        lines.lines().filter(|line| line.contains("internal error")).count(),
        1,
        "{lines}"
    );
}

#[test]
fn a_call_is_refused_where_a_worker_panics_before_it_is_looked_at() {
    let Some(run) = panicking(&format!("handling:{}", libc::SYS_mkdir)) else {
        return;
    };
    let code = "import os\n\
        try: os.mkdir('x')\n\
        except OSError as e: print(e.strerror)\n\
        os.close(os.open('y', os.O_CREAT | os.O_WRONLY)); print('y')";
    let ran = run
        .profile("workspace")
        .python(code)
        .stdout("Operation not permitted\ny\n")
        .any_stderr()
        .ends();
    assert_eq!(faults(&ran, "handling"), [(json!("worker"), json!(1))]);
}

#[test]
fn a_panic_on_the_thread_of_a_slow_call_refuses_that_call() {
    let code = "import os, threading\n\
        os.mkfifo('pipe')\n\
        try: os.open('pipe', os.O_RDONLY)\n\
        except OSError as e: print(e.strerror)\n\
        os.close(os.open('y', os.O_CREAT | os.O_WRONLY)); print('y')";
    for point in ["apart", "fifo"] {
        let Some(run) = panicking(point) else { return };
        let ran = run
            .profile("workspace")
            .flags(["--trace", "exact"])
            .python(code)
            .stdout("Operation not permitted\ny\n")
            .any_stderr()
            .ends();
        assert_eq!(faults(&ran, point), [(json!("worker"), json!(1))]);
    }
}

/// Says yes to everything.
const YES: &str = "command=cat > /dev/null; echo '{\"answer\":\"yes\",\"lifetime\":\"session\"}'";

/// Opens files beside the root that nothing grants.
const READ: &str = "import os\n\
    for name in ('boom', 'other', 'boom2'):\n  \
      try: print(open('@HOME/' + name).read())\n  \
      except OSError as e: print(e.strerror)";

fn asking(point: &str) -> Option<Run> {
    let run = panicking(&format!("{point}:/boom"))?;
    Some(
        run.profile("minimal")
            .flags(["--ask", YES])
            .file("~/boom", "1")
            .file("~/other", "2")
            .file("~/boom2", "3"),
    )
}

#[test]
fn an_approver_that_panics_has_given_no_answer_and_the_next_question_is_asked() {
    let Some(run) = asking("asker") else { return };
    let ran = run
        .python(READ)
        .stdout("Permission denied\n2\nPermission denied\n")
        .any_stderr()
        .ends();
    assert_eq!(faults(&ran, "asker"), [(json!("approver"), json!(2))]);
}

#[test]
fn calls_are_refused_where_the_thread_that_keeps_questions_panics_and_the_next_ones_are_asked() {
    for point in ["questions", "granting"] {
        let Some(run) = asking(point) else { return };
        let ran = run
            .python(READ)
            .stdout("Permission denied\n2\nPermission denied\n")
            .any_stderr()
            .ends();
        assert_eq!(faults(&ran, point), [(json!("questions"), json!(2))], "{point}");
    }
}

#[test]
fn a_call_beyond_the_workers_domain_is_refused_where_its_thread_panics() {
    let Some(run) = panicking("unconfined") else { return };
    let ran = run
        .profile("minimal")
        .flags(["--ask", YES])
        .file("~/x", "1")
        .python("try: open('@HOME/x')\nexcept OSError as e: print(e.strerror)")
        .stdout("Operation not permitted\n")
        .any_stderr()
        .ends();
    assert_eq!(faults(&ran, "unconfined"), [(json!("worker"), json!(1))]);
}

#[test]
fn the_run_is_ended_where_a_worker_panics_between_two_calls() {
    let Some(run) = panicking("receiving@200") else { return };
    let code = "import os\n\
        for n in range(300): os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))";
    let ran = run
        .profile("workspace")
        .python(code)
        .status(125)
        .stderr_has("stockade: internal error in the supervisor: injected at `receiving`")
        .stderr_has("the run was ended")
        .ends();
    assert_eq!(faults(&ran, "receiving"), [(json!("supervisor"), json!(1))]);
}

/// A run of which nothing starts.
fn assert_not_started(at: &str, said: &str) {
    let Some(run) = panicking(at) else { return };
    run.profile("workspace")
        .command(["touch", "made"])
        .status(125)
        .stderr_has(said)
        .ends();
}

#[test]
fn nothing_is_started_where_a_worker_panics_before_the_first_call() {
    assert_not_started(
        "receiving",
        "stockade: internal error in the supervisor: injected at `receiving`",
    );
}

#[test]
fn nothing_is_started_where_the_supervisor_panics_at_first() {
    assert_not_started(
        "supervisor",
        "stockade: can't start the warden: internal error: injected at `supervisor` (crates/stockade/src/",
    );
}

#[test]
fn the_run_ends_with_a_launcher_that_panics() {
    let Some(run) = panicking("main:event") else { return };
    let ran = run
        .profile("workspace")
        .bash("trap '' HUP TERM INT; kill -STOP $$; sleep 1000")
        .status(125)
        .stderr_has("stockade: internal error: injected at `main` (src/")
        .stderr_has("\nhint: this is a bug in Stockade")
        .ends();
    drop(ran);
}

#[test]
fn a_panic_in_a_forked_process_ends_it_at_once_and_the_launcher_says_so() {
    for (point, said) in [
        ("warden:begin", "the warden ended before the program started"),
        ("warden:watch", "the warden was killed, and with it the run"),
        ("target", "the new process ended before it became the program"),
    ] {
        for profile in ["workspace", "trusted"] {
            let Some(run) = panicking(point) else { return };
            run.profile(profile)
                .command(["sleep", "1000"])
                .status(125)
                .stderr_has(said)
                .ends();
        }
    }
}

#[test]
fn a_panic_of_the_audit_trails_writer_is_told_and_the_run_goes_on() {
    let Some(run) = panicking("audit:denied") else { return };
    let ran = run
        .profile("workspace")
        .flags(["--audit", "denials"])
        .python("try: open('/etc/shadow')\nexcept OSError: print('closed')")
        .stdout("closed\n")
        .stderr_has("stockade: the audit trail lacks records of this run: internal error: injected at `audit` (crates/store/src/")
        .ends();
    drop(ran);
}

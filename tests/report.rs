//! The report: one JSON document whose field names programs rely on, written where the caller said and nowhere else.

use std::fs;

use serde_json::Value;

use crate::common::{Place, STOCKADE, finish, run, skipped};

fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn has_all(value: &Value, names: &[&str]) {
    let present = fields(value);
    for name in names {
        assert!(present.contains(name), "`{name}` is missing in {value:#}");
    }
}

#[test]
fn every_promised_field_is_there() {
    let ran = run().command(["sh", "-c", "exit 3"]).reporting().status(3).ends();
    let report = ran.report();
    has_all(
        &report,
        &[
            "version",
            "run",
            "profile",
            "command",
            "root",
            "status",
            "exit_code",
            "signal",
            "limit",
            "duration_ms",
            "enforcement",
            "denials",
            "denials_dropped",
            "suggestion",
            "escalation",
            "faults",
            "resources",
        ],
    );
    has_all(
        &report["enforcement"],
        &["landlock_abi", "supervisor", "namespaces", "shortfalls"],
    );
    has_all(
        &report["resources"],
        &[
            "cpu_ms",
            "max_rss_bytes",
            "processes",
            "stdout_bytes",
            "stderr_bytes",
            "output_cut",
        ],
    );
    assert_eq!(report["version"], 1);
    assert_eq!(report["profile"], "minimal");
    assert_eq!(report["command"], serde_json::json!(["sh", "-c", "exit 3"]));
    assert_eq!(report["root"], ran.place.root.to_str().unwrap());
    assert_eq!(report["status"], "completed");
    assert_eq!(report["exit_code"], 3);
    assert!(report["signal"].is_null() && report["limit"].is_null());
    assert!(report["enforcement"]["landlock_abi"].as_u64().unwrap() >= 1);
    assert!(report["enforcement"]["supervisor"].is_boolean());
    assert_eq!(report["enforcement"]["shortfalls"], serde_json::json!([]));
    assert!(report["resources"]["stdout_bytes"].is_null(), "the output wasn't piped");
    assert!(report["resources"]["max_rss_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_signal_is_named() {
    let ran = run()
        .command(["sh", "-c", "kill -SEGV $$"])
        .reporting()
        .status(139)
        .ends();
    let report = ran.report();
    assert_eq!(report["status"], "signalled");
    assert_eq!(report["signal"], "SIGSEGV");
    assert!(report["exit_code"].is_null());
}

#[test]
fn no_two_runs_share_an_id() {
    let id = || run().reporting().ends().report()["run"].as_str().unwrap().to_string();
    assert_ne!(id(), id());
}

#[test]
fn a_descriptor_takes_the_report() {
    let ran = run().after("exec 5>@HOME/by-fd").flags(["--report", "fd:5"]).ends();
    let text = fs::read_to_string(ran.place.path("~/by-fd")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["status"], "completed");
}

#[test]
fn a_pipe_takes_the_report() {
    let ran = run()
        .after("exec 3>&1 >/dev/null")
        .flags(["--report", "fd:3"])
        .any_stdout()
        .ends();
    let report: Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!(report["status"], "completed");
}

#[test]
fn the_run_does_not_get_the_descriptor_of_the_report() {
    run()
        .after("exec 5>@HOME/by-fd")
        .flags(["--report", "fd:5"])
        .command(["sh", "-c", "echo forged >&5"])
        .status(2)
        .any_stderr()
        .ends();
}

#[test]
fn a_descriptor_takes_the_messages_and_standard_error_stays_the_programs() {
    let ran = run()
        .after("exec 5>@HOME/messages")
        .flags(["--messages", "fd:5"])
        .bash("echo own >&2; echo forged >&5; cat closed")
        .file("closed", "")
        .status(1)
        .any_stderr()
        .ends();
    let (messages, errors) = (
        fs::read_to_string(ran.place.path("~/messages")).unwrap(),
        ran.finished.stderr(),
    );
    assert!(
        messages.contains("was refused reading") && messages.contains("hint: "),
        "{messages}"
    );
    assert!(
        !messages.contains("forged") && !errors.contains("stockade:"),
        "{errors}"
    );
    assert!(errors.starts_with("own\n"), "{errors}");
    let ran = run()
        .after("exec 5>@HOME/messages")
        .flags(["--messages", "fd:5", "--profile", "no-such"])
        .status(125)
        .ends();
    let messages = fs::read_to_string(ran.place.path("~/messages")).unwrap();
    assert!(
        messages.starts_with("stockade: no profile is called `no-such`"),
        "{messages}"
    );
}

#[test]
fn messages_go_to_no_descriptor_that_cannot_be_written() {
    for (flag, said) in [
        ("fd:77", "can't print messages to descriptor 77"),
        ("fd:4", "it isn't open for writing"),
        ("fd:1", "it is `fd:3`"),
        ("5", "it is `fd:3`"),
    ] {
        run()
            .after("exec 4</dev/null")
            .flags(["--messages", flag])
            .bash("echo ran")
            .status(125)
            .stderr_has(said)
            .ends();
    }
}

#[test]
fn a_descriptor_that_is_not_open_for_writing_is_refused() {
    run()
        .flags(["--report", "fd:77"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to `fd:77`")
        .ends();
    run()
        .flags(["--report", "fd:0"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to `fd:0`: it isn't open for writing")
        .ends();
    run()
        .flags(["--report", "fd:x"])
        .status(125)
        .stderr_has("isn't a descriptor")
        .ends();
    run().flags(["--report", "fd:-1"]).status(125).any_stderr().ends();
}

// promise: report.1
#[test]
fn a_report_is_never_written_through_a_link() {
    let begun = run().file("~/precious", "precious");
    std::os::unix::fs::symlink(begun.place.path("~/precious"), begun.place.path("~/link")).unwrap();
    let ran = begun
        .flags(["--report", "@HOME/link"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to")
        .stderr_has("hint: it is a symbolic link")
        .ends();
    assert_eq!(fs::read_to_string(ran.place.path("~/precious")).unwrap(), "precious");
}

// promise: report.1
#[test]
fn a_report_with_a_second_name_is_refused() {
    let begun = run().file("~/report.json", "precious");
    fs::hard_link(begun.place.path("~/report.json"), begun.place.path("other")).unwrap();
    let ran = begun
        .flags(["--report", "@HOME/report.json"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to")
        .stderr_has("hint: it has a second name")
        .ends();
    assert_eq!(fs::read_to_string(ran.place.path("other")).unwrap(), "precious");
}

#[test]
fn a_report_into_a_directory_is_refused() {
    run()
        .flags(["--report", "@HOME"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to")
        .ends();
    run()
        .flags(["--report", "@HOME/no/such/directory.json"])
        .bash("echo ran")
        .status(125)
        .stderr_has("can't write the report to")
        .ends();
}

#[test]
fn a_full_device_is_said() {
    run()
        .flags(["--report", "/dev/full"])
        .status(125)
        .stderr_has("can't write the report")
        .ends();
}

#[test]
fn a_run_that_fills_the_file_system_leaves_the_report_its_space() {
    let place = Place::new();
    let filled = "cat /etc/shadow; cat /dev/zero >fill; cp fill another";
    let script = "mount -t tmpfs -o size=3m none . && cd \"$PWD\" && \"$@\"; cat rep.json || echo no report; df . >&2";
    let mut command = place.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    if !finish(command.arg("true"), b"").status.success() {
        return skipped("no file system can be mounted here");
    }
    let mut command = place.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    // With a limit of its own it isn't ended for what it leaves free, which it would be when it's looked at just before.
    command
        .arg(STOCKADE)
        .args(["run", "--ask", "never", "--profile", "workspace", "--disk-limit", "1G"]);
    let finished = finish(command.args(["--report", "./rep.json", "--", "sh", "-c", filled]), b"");
    let (stdout, stderr) = (finished.stdout(), finished.stderr());
    assert!(stderr.contains("No space left on device"), "it wasn't filled: {stderr}");
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert_eq!(report["denials"][0]["target"], "/etc/shadow");
}

#[test]
fn an_old_report_is_overwritten_whole() {
    let begun = run().file("~/report.json", &"x".repeat(100_000));
    assert_eq!(begun.reporting().ends().report()["status"], "completed");
}

// promise: report.4
#[test]
fn a_run_that_could_not_start_has_a_report() {
    let refused = |begun: crate::common::Run, code: i32| {
        let ran = begun.reporting().status(code).any_stderr().ends();
        let report = ran.report();
        assert_eq!(report["status"], "not_started");
        assert!(report["exit_code"].is_null());
    };
    refused(run().command(["./nothing"]), 127);
    refused(run().profile("nothing-like-it"), 125);
    refused(run().flags(["--root", "/no/such/root"]).without_root(), 125);
    // This one only fails in the kernel.
    refused(
        run().program("broken", "\x7fELF and no more").command(["./broken"]),
        126,
    );
}

#[test]
fn a_command_that_is_no_text_is_reported_all_the_same() {
    use std::os::unix::ffi::OsStringExt;
    let odd = std::ffi::OsString::from_vec(vec![b'a', 0xff, b'\n', b'"']);
    let ran = run()
        .command([std::ffi::OsString::from("true"), odd])
        .reporting()
        .ends();
    assert_eq!(ran.report()["command"][1], "a\u{fffd}\n\"");
}

/// Text for it would be another name, and a grant of it would open another file.
#[test]
fn no_flag_is_proposed_in_text_for_a_file_whose_name_is_none() {
    use std::os::unix::ffi::OsStringExt;
    let report = |name: &str, bytes: &[u8]| {
        let begun = run().python(&format!("open(b'@HOME/{name}')")).reporting();
        let file = begun.place.home.join(std::ffi::OsString::from_vec(bytes.to_vec()));
        fs::write(file, "x").unwrap();
        begun.any_stderr().status(1).ends().report()
    };
    let plain = report("plain", b"plain");
    assert!(plain["suggestion"]["flags"][1].as_str().unwrap().ends_with("/plain"));
    let odd = report("odd\\xff", b"odd\xff");
    assert_eq!(odd["suggestion"]["flags"], serde_json::json!([]));
    assert_eq!(odd["denials"][0]["grant"], Value::Null);
}

// promise: report.3
#[test]
fn a_report_is_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let ran = run().after("umask 0").reporting().ends();
    let mode = fs::metadata(ran.place.path("~/report.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// All that a shell can do to a report in `sub`. It says which of these succeeded, and leaves with 3.
const MEDDLING: &str = "\
    try() { \"$@\" 2>/dev/null && echo \"done: $*\"; }
    forge() { echo forged > sub/report.json; }
    pad() { head -c 100000 /dev/zero >> sub/report.json; }
    touch sub/beside && rm sub/beside || echo 'the tree is not open at all'
    try forge
    try pad
    try truncate -s 0 sub/report.json
    try chmod 000 sub/report.json
    try ln sub/report.json sub/other
    try ln sub/report.json other
    try mv sub/report.json moved
    try mv sub swapped
    try mv -T sub/beside sub/report.json
    try rm -f sub/report.json
    try ln -sf /etc/passwd sub/report.json
    try mkdir sub/report.json
    exit 3";

// promise: report.2
#[test]
fn a_run_cannot_touch_its_report_in_a_tree_that_it_writes() {
    for (profile, flags) in [
        ("workspace", &[][..]),
        ("workspace", &["--trace", "exact"]),
        ("workspace", &["--net", "all"]),
        ("minimal", &["--write", "@ROOT"]),
        ("minimal", &["--write", "@ROOT", "--exec", "@ROOT"]),
        ("readonly", &["--write", "@ROOT/sub", "--trace", "exact"]),
        ("mcp-standard", &["--write", "@ROOT"]),
        ("filesystem", &["--write", "@ROOT"]),
        ("trusted", &[]),
    ] {
        let begun = run().file("sub/old", "old");
        fs::write(begun.place.path("sub/report.json"), "x".repeat(9000)).unwrap();
        let ran = begun
            .profile(profile)
            .flags(flags.iter().copied())
            .flags(["--report", "@ROOT/sub/report.json"])
            .bash(MEDDLING)
            .status(3)
            .any_stderr()
            .ends();
        let path = ran.place.path("sub/report.json");
        assert!(
            fs::symlink_metadata(&path).unwrap().is_file(),
            "{profile} {flags:?}: it is what was opened"
        );
        let report: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(report["exit_code"], 3, "{profile} {flags:?}");
        assert!(
            !ran.finished.stderr().contains("has taken the report's name"),
            "{}",
            ran.finished.stderr()
        );
        assert!(!ran.place.path("moved").exists() && !ran.place.path("swapped").exists());
    }
}

/// Otherwise the test above would prove nothing.
#[test]
fn without_a_sandbox_a_report_would_be_gone() {
    let place = Place::new();
    fs::create_dir(place.path("sub")).unwrap();
    fs::write(place.path("sub/report.json"), "").unwrap();
    let mut bash = place.command("bash");
    let finished = finish(bash.current_dir(&place.root).args(["-c", MEDDLING]), b"");
    assert_eq!(finished.status.code(), Some(3));
    for deed in ["forge", "pad", "truncate", "chmod", "ln sub", "mv sub/report.json"] {
        assert!(
            finished.stdout().contains(&format!("done: {deed}")),
            "{}",
            finished.stdout()
        );
    }
}

#[test]
fn a_refused_change_of_a_report_is_in_it() {
    let ran = run()
        .profile("workspace")
        .flags(["--report", "@ROOT/report.json"])
        .bash("rm -f report.json; exit 3")
        .status(3)
        .any_stderr()
        .ends();
    let text = fs::read_to_string(ran.place.path("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let denial = &report["denials"][0];
    assert_eq!(denial["access"], "delete");
    assert_eq!(denial["rule"]["origin"], "`--report`");
    assert!(denial["grant"].is_null() && report["suggestion"].is_null());
}

#[test]
fn a_link_above_a_report_is_not_followed() {
    let begun = run().file("~/.ssh/id_rsa", "key");
    let key = begun.place.path("~/.ssh/id_rsa");
    std::os::unix::fs::symlink(key.parent().unwrap(), begun.place.path("reports")).unwrap();
    begun
        .flags(["--report", "@ROOT/reports/id_rsa"])
        .status(125)
        .stderr_has("symbolic link")
        .ends();
    assert_eq!(fs::read_to_string(key).unwrap_or_else(|_| "key".into()), "key");
}

/// `stockade explain FILE` with this on standard input.
fn explain(place: &Place, file: &str, input: &[u8]) -> crate::common::Finished {
    finish(place.command(crate::common::STOCKADE).args(["explain", file]), input)
}

#[test]
fn a_report_that_was_written_is_explained() {
    let ran = run().command(["sh", "-c", "exit 3"]).reporting().status(3).ends();
    let file = ran.place.path("~/report.json");
    let explained = explain(&ran.place, file.to_str().unwrap(), b"");
    let text = explained.stdout();
    assert_eq!(explained.status.code(), Some(0), "{}", explained.stderr());
    assert!(text.contains("command      sh -c 'exit 3'\n"), "{text}");
    assert!(text.contains("ended        by itself, exit code 3, after "), "{text}");
    assert_eq!(explained.stderr(), "");
    let from_input = explain(&ran.place, "-", &fs::read(&file).unwrap());
    assert_eq!(from_input.stdout(), text);
}

#[test]
fn a_denial_of_a_report_is_explained() {
    let ran = run().reporting().ends();
    let mut report = ran.report();
    report["denials"] = serde_json::json!([{
        "access": "read", "target": "/r/a b\n\u{1b}", "asked": "a b", "syscall": "openat", "pid": 4711,
        "program": "/usr/bin/python3", "count": 3, "at_ms": 31, "rule": null, "capability": null, "explains": "yes", "usual": false,
        "grant": ["--read", "/r/a b"], "profile": "filesystem",
    }]);
    report["suggestion"] = serde_json::json!({ "flags": ["--read", "/r/a b"], "profile": null });
    let explained = explain(&ran.place, "-", report.to_string().as_bytes());
    let text = explained.stdout();
    assert_eq!(explained.status.code(), Some(0), "{}", explained.stderr());
    assert!(
        text.contains(r"1. reading `/r/a b\n\u{1b}`: explains the failure"),
        "{text}"
    );
    assert!(text.contains("3 times, first after 31 ms"), "{text}");
    assert!(text.contains("to allow it  --read '/r/a b'\n"), "{text}");
}

#[test]
fn a_name_that_a_program_quotes_is_the_one_that_is_suggested() {
    let place = run()
        .profile("workspace")
        .file("~/it's $HOME", "text")
        .bash("cat \"@HOME/it's \\$HOME\"")
        .status(1)
        .any_stderr()
        .reporting()
        .ends();
    let flags = &place.report()["suggestion"]["flags"];
    assert!(
        flags[1].as_str().is_some_and(|path| path.ends_with("/it's $HOME")),
        "{flags}"
    );
}

#[test]
fn what_is_no_report_is_refused() {
    let place = Place::new();
    let ran = run().reporting().ends();
    let newer = ran.report().to_string().replacen("\"version\":1", "\"version\":2", 1);
    let refused = |file: &str, input: &[u8], message: &str| {
        let explained = explain(&place, file, input);
        assert_eq!(explained.status.code(), Some(125));
        assert_eq!(explained.stdout(), "");
        assert!(explained.stderr().contains(message), "{}", explained.stderr());
    };
    refused("no-such-file", b"", "can't read `no-such-file`: No such file");
    refused(".", b"", "can't read `.`: Is a directory");
    refused("-", b"", "can't explain standard input: this isn't a report");
    refused("-", b"{\"version\": 1}", "this isn't a report: missing field");
    refused(
        "-",
        newer.as_bytes(),
        "has version 2, and this Stockade reads version 1",
    );
}

#[test]
fn a_root_that_is_no_text_is_reported_all_the_same() {
    use std::os::unix::ffi::OsStringExt;
    let begun = run().reporting().without_root();
    let name = std::ffi::OsString::from_vec(vec![b'r', 0xff]);
    let root = begun.place.root.join(name);
    fs::create_dir(&root).unwrap();
    let ran = begun.raw_flag("--root").raw_flag(root).ends();
    assert!(ran.report()["root"].as_str().unwrap().ends_with("/r\u{fffd}"));
}

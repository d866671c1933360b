//! Odd surroundings: no home, closed streams; and nothing is left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bad_input::left_nothing;
use crate::common::{STOCKADE, finish, run, scratch_directories};

#[test]
fn without_a_home_it_runs_all_the_same() {
    for profile in ["minimal", "readonly"] {
        let begun = run().profile(profile).bash("echo ran");
        let finished = finish(begun.process().env_remove("HOME"), b"");
        assert_eq!(finished.stdout(), "ran\n", "{}", finished.stderr());
        let finished = finish(begun.process().env("HOME", "relative/home"), b"");
        assert_eq!(finished.stdout(), "ran\n", "{}", finished.stderr());
    }
    assert_eq!(scratch_directories(None), Vec::<std::path::PathBuf>::new());
}

#[test]
fn in_a_home_that_cannot_be_written_it_runs_all_the_same() {
    let begun = run().profile("readonly").bash("touch ~/file && echo ran");
    fs::set_permissions(&begun.place.home, fs::Permissions::from_mode(0o500)).unwrap();
    // The audit trail alone is missed.
    begun.stdout("ran\n").stderr_has("can't use the state directory").ends();
}

#[test]
fn closed_streams_are_no_obstacle() {
    let code = "import os\n\
                def state(fd):\n  \
                  try: os.fstat(fd); return 'open'\n  \
                  except OSError: return 'closed'\n\
                for fd in 0, 1, 2:\n  \
                  if state(fd) == 'open':\n    \
                    try: os.write(fd, b'') \n    \
                    except OSError: pass\n\
                os._exit(7)";
    for closed in ["exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&-", "exec <&- >&- 2>&-"] {
        for profile in ["minimal", "readonly"] {
            let ran = run().profile(profile).after(closed).python(code).status(7).ends();
            left_nothing(&ran);
        }
    }
}

#[test]
fn limits_of_the_callers_that_leave_too_little_room_are_named() {
    for (limit, word) in [("ulimit -n 8", "open files"), ("ulimit -s 64", "the stack")] {
        let begun = run().after(limit).bash("echo ran").status(125);
        begun.stderr_has(word).stderr_has("hint: raise it: `ulimit").ends();
    }
    // Nothing can be written but to pipes, and the audit trail is missed.
    let begun = run()
        .profile("workspace")
        .after("ulimit -f 0")
        .bash("echo ran; echo x >file");
    begun.status(153).stdout("ran\n").any_stderr().ends();
}

/// Processes have other numbers there.
#[test]
fn where_proc_is_of_another_pid_namespace_nothing_runs() {
    let unshare = ["unshare", "--map-root-user", "--pid", "--fork"];
    let possible = std::process::Command::new(unshare[0])
        .args(&unshare[1..])
        .arg("true")
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        return crate::common::skipped("no namespace of process ids can be made here");
    }
    let begun = run().bash("echo ran");
    for (mount, code, said) in [
        (None, Some(125), "isn't that of this process's PID namespace"),
        (Some("--mount-proc"), Some(0), ""),
    ] {
        let mut process = begun.place.command(unshare[0]);
        process
            .args(&unshare[1..])
            .args(mount)
            .arg(STOCKADE.path())
            .args(begun.words());
        let finished = finish(&mut process, b"");
        assert_eq!(finished.status.code(), code, "{}", finished.stderr());
        assert!(finished.stderr().contains(said), "{}", finished.stderr());
    }
}

#[test]
fn with_closed_streams_no_file_takes_their_place() {
    // Descriptor 0 to 2 of the run must never be one of Stockade's own.
    let code = "import os\n\
                names = []\n\
                for fd in 0, 1:\n  \
                  try: names.append(os.readlink('/proc/self/fd/%d' % fd))\n  \
                  except OSError: names.append('closed')\n\
                os.write(2, repr([n for n in names if n not in ('closed', '/dev/null')]).encode())";
    run().after("exec <&- >&-").python(code).stderr("[]").ends();
    run()
        .after("exec <&- >&-")
        .flags(["--report", "@HOME/report"])
        .python(code)
        .stderr("[]")
        .ends();
}

#[test]
fn a_report_never_lands_in_the_programs_output() {
    // With 1 closed, the report's file would be opened as descriptor 1.
    let ran = run()
        .after("exec >&-")
        .reporting()
        .command(["sh", "-c", "echo forged; true"])
        .any_stderr()
        .ends();
    assert_eq!(ran.report()["status"], "completed");
}

#[test]
fn refusals_leave_nothing_in_the_state_directory() {
    for (begun, code) in [
        (run().profile("readonly").command(["./nothing"]), 127),
        (
            run().profile("readonly").program("noise", "x").command(["./noise"]),
            126,
        ),
        (
            run()
                .profile("readonly")
                .command(["true".to_string(), "x".repeat(100_000)])
                .flags(["--env", "NO=="]),
            0,
        ),
        (run().profile("readonly").command(["sh", "-c", "kill -9 $$"]), 137),
    ] {
        let ran = begun.status(code).any_stderr().ends();
        left_nothing(&ran);
    }
}

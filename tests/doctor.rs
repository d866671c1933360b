//! `stockade doctor`: its first finding says whether the shipped profiles hold here, and by which means.

use crate::common::{Place, STOCKADE, finish, python};

/// Runs a command under a filter that refuses listeners with `EINVAL`, as a kernel without user notification does.
/// seccomp(2) and linux/filter.h: the call's number at 0, the low half of its second argument at 24.
const WITHOUT_LISTENERS: &str = "\
import ctypes, os, struct, sys
call = {'x86_64': 317, 'aarch64': 277}[os.uname().machine]
program = b''.join(struct.pack('HBBI', *one) for one in [
    (0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 24), (0x45, 0, 1, 8), (6, 0, 0, 0x50016), (6, 0, 0, 0x7fff0000)])
text = ctypes.create_string_buffer(program)
filter = struct.pack('HxxxxxxP', len(program) // 8, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])
";

fn under(words: &[&str]) -> (Option<i32>, String) {
    let place = Place::new();
    let mut command = place.command(words[0]);
    let finished = finish(command.args(&words[1..]), b"");
    (finished.status.code(), finished.stdout() + &finished.stderr())
}

#[test]
fn the_first_finding_says_that_all_profiles_hold() {
    let (code, said) = under(&[STOCKADE.path(), "doctor"]);
    let all = "ok       all 7 shipped profiles hold here without a flag, by Landlock, seccomp and the supervisor";
    assert!(said.lines().nth(1).unwrap_or_default().starts_with(all), "{said}");
    assert_eq!(code, Some(0));
}

#[test]
fn profiles_that_cannot_start_are_named_with_the_reason() {
    let inside = [
        STOCKADE.path(),
        "run",
        "--profile",
        "trusted",
        "--",
        STOCKADE.path(),
        "doctor",
    ];
    let (code, said) = under(&inside);
    assert!(
        said.contains("not every shipped profile starts here: `readonly`, "),
        "{said}"
    );
    assert!(
        said.contains("this is inside a run: the outer run's supervisor answers"),
        "{said}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn without_user_notification_it_and_a_run_say_what_would_help() {
    let reason = "refuses user notification, so a run can have no supervisor of its own";
    let help = "let `seccomp` with SECCOMP_FILTER_FLAG_NEW_LISTENER through in the container's seccomp profile";
    let (code, said) = under(&[python(), "-c", WITHOUT_LISTENERS, STOCKADE.path(), "doctor"]);
    assert!(said.contains(reason) && said.contains(help), "{said}");
    assert!(
        said.contains("the shortfall `supervisor` takes the promises files.5, files.14, secrets, guarded, "),
        "{said}"
    );
    assert_eq!(code, Some(0), "`minimal` needs no supervisor");
    let run = [STOCKADE.path(), "run", "--profile", "workspace", "--", "true"];
    let (code, said) = under(&[&[python(), "-c", WITHOUT_LISTENERS][..], &run].concat());
    assert!(said.contains(reason) && said.contains(help), "{said}");
    assert!(said.contains("--accept-shortfall supervisor"), "{said}");
    assert_eq!(code, Some(125));
}

#[test]
fn an_empty_search_path_hides_nothing() {
    let (code, said) = under(&["/usr/bin/env", "PATH=", STOCKADE.path(), "doctor"]);
    assert!(said.contains("all 7 shipped profiles hold here"), "{said}");
    assert_eq!(code, Some(0));
}

#[test]
fn a_home_that_cannot_be_written_keeps_no_profile_from_holding() {
    let (code, said) = under(&["/usr/bin/env", "HOME=/proc/none", STOCKADE.path(), "doctor"]);
    assert!(said.contains("all 7 shipped profiles hold here"), "{said}");
    assert_eq!(code, Some(0));
    // In a run nothing is made in `/var/tmp`.
    let run = [
        STOCKADE.path(),
        "run",
        "--profile",
        "workspace",
        "--exec",
        STOCKADE.path(),
        "--env",
        "HOME=/proc/none",
    ];
    let (_, said) = under(&[&run[..], &["--", STOCKADE.path(), "doctor"]].concat());
    let cause = "(can't make a scratch directory in `/proc/none/.local/state/stockade/scratch`: ";
    assert!(said.contains(cause), "{said}");
    assert!(said.contains("set `XDG_STATE_HOME` to a directory of yours"), "{said}");
}

#[test]
fn why_reads_are_judged_one_by_one_here_is_said() {
    let (_, said) = under(&[STOCKADE.path(), "doctor"]);
    // Another test may have put a secret into `/tmp`.
    assert!(said.contains("`workspace` here "), "{said}");
    let (_, said) = under(&[
        "/bin/sh",
        "-c",
        &format!("echo A=1 >.env; exec {} doctor", STOCKADE.path()),
    ]);
    // What is closed in `/tmp` may come first.
    let asks = "`workspace` here asks the supervisor about each read, which takes longer: `";
    assert!(said.contains(asks), "{said}");
}

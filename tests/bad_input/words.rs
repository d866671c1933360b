//! Odd words on the command line: variables, globs, limits, arguments.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use crate::bad_input::refused;
use crate::common::{Run, STOCKADE, finish, is_root, python, run, skipped};

#[test]
fn odd_names_of_variables_are_refused() {
    for name in ["", "=value"] {
        refused(run())
            .flags(["--env", name])
            .stderr_has("is no name of a variable")
            .ends();
    }
    // Odd, but the kernel's and libc's rules allow them.
    run()
        .flags(["--env", "with space=1", "--env", "ünïcode=2", "--env", "A-B=3"])
        .command(["env"])
        .stdout_has("with space=1\n")
        .stdout_has("ünïcode=2\n")
        .stdout_has("A-B=3\n")
        .ends();
}

#[test]
fn a_bad_glob_is_refused() {
    for glob in ["[", "relative", "", "**/{a"] {
        refused(run())
            .flags(["--deny", glob])
            .stderr_has("can't be denied")
            .ends();
    }
}

#[test]
fn ten_thousand_arguments_pass() {
    let mut words: Vec<String> = vec![
        "sh".into(),
        "-c".into(),
        "echo $#; shift 9998; echo $*".into(),
        "sh".into(),
    ];
    words.extend((1..=10_000).map(|n| n.to_string()));
    run().command(words).stdout("10000\n9999 10000\n").ends();
}

#[test]
fn a_caller_can_say_as_much_as_the_kernel_takes() {
    // A run's own words are fewer than its caller's, so what reaches Stockade reaches the program.
    let begun = run().file("~/word", &"x".repeat(131_000));
    let words = "\"$w\" ".repeat(12);
    let code = format!("w=$(cat @HOME/word); {STOCKADE} run --root @ROOT -- sh -c 'echo $#' sh {words}");
    let mut process = begun.place.command("bash");
    process.args(["-c", &begun.place.fill(&code)]);
    let finished = finish(&mut process, b"");
    assert_eq!(
        finished.stdout(),
        "12
",
        "{}",
        finished.stderr()
    );
}

#[test]
fn a_script_that_cannot_be_read_is_126() {
    if is_root() {
        skipped("root reads everything");
        return;
    }
    let begun = run().file("script.py", "print('ran')");
    let path = begun.place.path("script.py");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    begun
        .command([OsString::from(python()), path.into()])
        .status(126)
        .stderr_has("can't be read: permission denied")
        .stderr_has("hint: run `chmod +r")
        .ends();
}

#[test]
fn an_empty_command_is_refused() {
    run()
        .command([""])
        .status(125)
        .stderr("stockade: no command was given\n")
        .ends();
}

#[test]
fn control_characters_in_names_are_spelled_out() {
    let odd = |text: &str| OsString::from(text);
    let checks: Vec<(Run, i32)> = vec![
        (run().command([odd("no\u{1b}[2Jsuch\u{202e}thing\u{200b}")]), 127),
        (run().raw_flag("--profile").raw_flag(odd("\u{1b}]0;title\u{7}")), 125),
        (run().raw_flag("--deny").raw_flag(odd("\u{1b}[31m")), 125),
        (run().raw_flag("--env").raw_flag(odd("=\u{1b}[31m")), 125),
        (run().raw_flag("--report").raw_flag(odd("/no/\u{1b}[31m/x")), 125),
        (
            run().without_root().raw_flag("--root").raw_flag(odd("/no/\u{1b}[31m")),
            125,
        ),
        (run().raw_flag("--time-limit").raw_flag(odd("\u{1b}[31m")), 125),
        (run().raw_flag("--no-such-\u{1b}[31m"), 125),
        (
            run()
                .raw_flag("--accept-shortfall")
                .raw_flag(odd("\u{1b}[31m\u{9b}31m")),
            125,
        ),
        (run().raw_flag("--read").raw_flag(odd("/no/\u{1b}[31m\u{202e}")), 0),
    ];
    let mut faults = Vec::new();
    for (begun, code) in checks {
        let ran = begun.status(code).any_stderr().ends();
        let said = ran.finished.stderr();
        let bad: Vec<char> = said
            .chars()
            .filter(|c| (c.is_control() && *c != '\n') || ['\u{202e}', '\u{200b}'].contains(c))
            .collect();
        if !bad.is_empty() || said.is_empty() {
            faults.push(format!("{bad:?} in {said:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn absurd_limits_are_refused_or_harmless() {
    for value in ["99999999999999999999h", "-1s", "1y", "", "1e3s", "0.0.1s", " 5s"] {
        refused(run())
            .raw_flag(format!("--time-limit={value}"))
            .any_stderr()
            .ends();
    }
    for value in ["99999999999999999999T", "-1", "", "1Q", "0x10"] {
        refused(run())
            .raw_flag(format!("--memory-limit={value}"))
            .any_stderr()
            .ends();
    }
    for (flag, value) in [
        ("--open-files-limit", "9223372036854775807"),
        ("--file-size-limit", "9223372036854775807B"),
    ] {
        let finished = finish(&mut run().flags([flag, value]).process(), b"");
        let said = finished.stderr();
        assert!(
            finished.status.success() || said.starts_with("stockade: "),
            "{flag}: {said}"
        );
        assert_eq!(said.lines().filter(|line| line.contains("panicked")).count(), 0);
    }
}

#[test]
fn arguments_that_are_no_text_pass_unchanged() {
    let odd = OsString::from_vec((1..=255).collect());
    run()
        .command([
            OsString::from("sh"),
            "-c".into(),
            "printf %s \"$1\" | od -An -tx1 | tr -d ' \\n' | wc -c".into(),
            "sh".into(),
            odd,
        ])
        .stdout("510\n")
        .ends();
}

//! The exit code says how the run ended: the program's own, 128+n, 124, 125, 126, 127.

use crate::common::{run, slowness, tries};

#[test]
fn the_programs_own_code_passes_through() {
    for code in [0, 1, 2, 42, 124, 125, 126, 127, 255] {
        run().command(["sh", "-c", &format!("exit {code}")]).status(code).ends();
    }
}

#[test]
fn a_signal_is_128_and_its_number() {
    let ignored = signals_ignored_here();
    for signal in [1, 2, 6, 9, 11, 13, 15, 34] {
        // What the caller ignores (`nohup`) the program ignores too.
        if ignored & (1 << (signal - 1)) != 0 && signal != 13 {
            eprintln!("skipped: signal {signal} is ignored where the tests run");
            continue;
        }
        run()
            .command(["sh", "-c", &format!("kill -{signal} $$")])
            .status(128 + signal)
            .ends();
    }
}

/// The kernel collects the children of such a caller without a word, and exec keeps that.
#[test]
fn a_caller_that_ignores_its_children_hears_the_codes_and_the_program_ignores_them_too() {
    let ignored = "echo $(( 0x$(sed -n 's/SigIgn:\\t//p' /proc/self/status) >> 16 & 1 ))";
    for (code, status) in [("exit 7", 7), ("kill -15 $$", 143)] {
        run()
            .after("trap '' CHLD")
            .command(["bash", "-c", &format!("{ignored}; {code}")])
            .stdout("1\n")
            .status(status)
            .ends();
    }
}

#[test]
fn the_time_limit_is_124() {
    run()
        .flags(["--time-limit", "200ms"])
        .command(["sleep", "60"])
        .status(124)
        .stderr("stockade: the run was ended past its time limit (`--time-limit`)\n")
        .ends();
}

#[test]
fn a_wrong_call_is_125() {
    run()
        .flags(["--no-such-flag"])
        .status(125)
        .stderr_has("--no-such-flag")
        .ends();
    run()
        .flags(["--time-limit", "soon"])
        .status(125)
        .stderr_has("soon")
        .ends();
    run().flags(["--memory-limit", "-1"]).status(125).any_stderr().ends();
    run()
        .flags(["--accept-shortfall", "everything"])
        .status(125)
        .stderr_has("everything")
        .ends();
    run().command::<&str>([]).status(125).stderr_has("COMMAND").ends();
}

#[test]
fn what_is_not_executable_is_126() {
    run()
        .file("plain", "#!/bin/sh\n")
        .command(["./plain"])
        .status(126)
        .stderr_has("is not executable: no execute permission")
        .stderr_has("hint: run `chmod +x")
        .ends();
    run()
        .file("directory/x", "")
        .command(["./directory"])
        .status(126)
        .stderr_has("is not executable: it is a directory")
        .ends();
    run()
        .program("noise", "neither ELF nor script\n")
        .command(["./noise"])
        .status(126)
        .stderr_has("neither a program nor a script")
        .ends();
}

#[test]
fn what_the_kernel_will_not_execute_is_126() {
    run()
        .profile("readonly")
        .program("broken", "\x7fELF and no more")
        .command(["./broken"])
        .status(126)
        .stderr_has("can't execute `@ROOT/broken`")
        .stderr_has("hint: ")
        .ends();
}

#[test]
fn a_run_that_is_over_at_once_still_says_how_it_ended() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..tries(40, 400) / slowness() {
                    run().command(["sh", "-c", "kill -9 $$"]).status(137).ends();
                    run()
                        .profile("readonly")
                        .program("broken", "\x7fELF and no more")
                        .command(["./broken"])
                        .status(126)
                        .stderr_has("can't execute")
                        .ends();
                }
            });
        }
    });
}

#[test]
fn what_is_not_there_is_127() {
    run()
        .command(["stockade-no-such-command"])
        .status(127)
        .stderr_has("stockade: `stockade-no-such-command` not found")
        .ends();
    run().command(["./nothing"]).status(127).stderr_has("not found").ends();
    run()
        .program("script", "#!/no/such/interpreter\n")
        .command(["./script"])
        .status(127)
        .stderr_has("its interpreter `/no/such/interpreter` does not exist")
        .ends();
}

#[test]
fn help_is_no_failure() {
    let place = crate::common::Place::new();
    for words in [&["--help"][..], &["run", "--help"], &["--version"]] {
        let finished = crate::common::finish(place.command(crate::common::STOCKADE).args(words), b"");
        assert_eq!(finished.status.code(), Some(0));
        assert!(finished.stderr.is_empty());
        assert!(finished.stdout().contains("stockade"));
    }
}

fn signals_ignored_here() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap()
}

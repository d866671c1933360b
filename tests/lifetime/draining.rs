//! What a command leaves behind writes the rest of the run's output before the tree ends, as `tee` does in build scripts.

use std::time::{Duration, Instant};

use crate::common::{run, slowness};

#[test]
fn what_is_left_behind_writes_the_rest_of_the_output() {
    for _ in 0..10 {
        run().bash("echo hi > >(cat)").stdout("hi\n").ends();
        run()
            .bash("echo hi > >(sleep 0.1; sed s/h/H/ | tr i I)")
            .stdout("HI\n")
            .ends();
        run()
            .profile("workspace")
            .bash("exec > >(tee build.log) 2>&1; seq 2000 | tail -1; ls absent; echo end")
            .any_status()
            .stdout("2000\nls: cannot access 'absent': No such file or directory\nend\n")
            .ends();
    }
}

#[test]
fn a_daemon_that_holds_the_output_costs_a_moment_once_and_one_that_does_not_costs_none() {
    let took = |code: &str| {
        let start = Instant::now();
        run().bash(code).stdout("done\n").ends();
        start.elapsed()
    };
    let without = took("sleep 60 >/dev/null 2>&1 & echo done");
    let with = took("sleep 60 & echo done");
    assert!(with >= Duration::from_millis(250), "{with:?}");
    assert!(
        with < without + Duration::from_secs(2) * slowness(),
        "{with:?} {without:?}"
    );
}

#[test]
fn a_chain_of_processes_that_hold_the_output_ends_all_the_same() {
    let start = Instant::now();
    run()
        .bash("chain() { sleep 0.05; chain & }; chain & echo begun")
        .stdout("begun\n")
        .ends();
    assert!(
        start.elapsed() < Duration::from_secs(10) * slowness(),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn a_limit_and_a_signal_end_the_tree_at_once() {
    let start = Instant::now();
    run()
        .flags(["--time-limit", "1s"])
        .bash("(trap '' TERM; while :; do sleep 0.2; done) & sleep 60")
        .status(124)
        .any_stderr()
        .ends();
    assert!(
        start.elapsed() < Duration::from_secs(5) * slowness(),
        "{:?}",
        start.elapsed()
    );
    run()
        .bash("(sleep 60; echo late) & kill -9 $$")
        .status(137)
        .any_stderr()
        .ends();
}

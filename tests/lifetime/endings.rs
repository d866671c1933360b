//! No process of a run outlives it: with the command, on signals, on the time limit, when Stockade is killed.

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::harnesses::children_of;
use super::watched::{DAEMON, PATIENCE, READY, Watched, is_stopped, with_daemon};
use crate::common::{Beside, is_alive, python, run, scratch_directories, skipped, slowness, until};

#[test]
fn unconfined_the_daemon_survives() {
    let mut plain = Command::new(python());
    Watched::started(plain.args(["-I", "-c", DAEMON]), None).survives();
}

// promise: end.1
#[test]
fn a_daemon_ends_with_the_command() {
    assert_eq!(Watched::start(with_daemon("sys.exit(7)")).ends(), 7);
}

#[test]
fn a_daemon_ends_with_a_command_that_crashes() {
    assert_eq!(Watched::start(with_daemon("os.abort()")).ends(), 128 + 6);
}

#[test]
fn a_daemon_ends_when_stockade_is_told_to() {
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let watched = Watched::start(with_daemon("time.sleep(60)"));
        watched.signal(signal);
        assert_eq!(watched.ends(), code, "{signal}");
    }
}

#[test]
fn a_command_that_ignores_the_signal_is_ended_all_the_same() {
    let ignoring = format!("signal.signal(15, signal.SIG_IGN); {READY}; time.sleep(60)");
    let watched = Watched::start_until_ready(with_daemon(&ignoring));
    watched.signal(Signal::SIGTERM);
    assert_eq!(watched.ends(), 143);
}

/// As nohup(1) does, and a shell for what it starts in the background.
#[test]
fn a_signal_that_the_caller_ignores_ends_nothing() {
    use nix::sys::signal::{Signal, kill};
    for (signal, word) in [
        (Signal::SIGHUP, "HUP"),
        (Signal::SIGINT, "INT"),
        (Signal::SIGTERM, "TERM"),
    ] {
        let begun = run()
            .after(&format!("trap '' {word}"))
            .bash("echo ready; sleep 3; echo over");
        let mut child = begun.process().stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        kill(nix::unistd::Pid::from_raw(child.id() as i32), signal).unwrap();
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        assert_eq!(
            (line.as_str(), child.wait().unwrap().code()),
            ("ready\nover\n", Some(0)),
            "{word}"
        );
    }
}

/// The launcher goes before others for a run with limits, if it may; the run doesn't.
#[test]
fn a_run_is_as_nice_as_its_caller() {
    let nice = "import os; print(os.nice(0), os.sched_getscheduler(0) == os.SCHED_BATCH)";
    for profile in ["minimal", "workspace", "trusted"] {
        let begun = run()
            .profile(profile)
            .after("renice -n 19 $$ >/dev/null; chrt --batch --pid 0 $$")
            .python(nice);
        begun.stdout("19 True\n").ends();
    }
}

#[test]
fn a_command_may_tidy_up_before_it_ends() {
    // Python notices a signal between two calls of its own, and one that comes right before a sleep only after it.
    let naps = "[time.sleep(0.05) for _ in range(1200)]";
    let tidy = format!("signal.signal(15, lambda *_: sys.exit(9)); {READY}; {naps}");
    let watched = Watched::start_until_ready(with_daemon(&tidy));
    watched.signal(Signal::SIGTERM);
    assert_eq!(watched.ends(), 9);
}

// promise: end.8
#[test]
fn a_daemon_ends_on_the_time_limit() {
    // The daemon has to be there before.
    let limit = format!("{}s", slowness());
    let begun = with_daemon("time.sleep(60)").flags(["--time-limit", &limit]);
    assert_eq!(Watched::start(begun).ends(), 124);
}

// promise: end.2
#[test]
fn a_daemon_ends_when_stockade_is_killed() {
    let watched = Watched::start(with_daemon("time.sleep(60)"));
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

#[test]
fn a_stopped_run_ends_when_stockade_is_killed() {
    let stopping = format!("{READY}; os.kill(os.getpid(), signal.SIGSTOP)");
    let watched = Watched::start_until_ready(with_daemon(&stopping));
    let command = watched.command.unwrap();
    assert!(until(PATIENCE, || is_stopped(command)), "the command isn't stopped");
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

/// Begins chains of processes, each of which ends once it has made the next. The twentieth of the first chain tells of it:
/// the storm rages, and its maker may still be adding chains.
fn storm(chains: u32, tells: &str) -> String {
    format!(
        "for chain in range({chains}):\n  \
           if os.fork() == 0:\n    \
             number = 0\n    \
             while True:\n      \
               number += 1\n      \
               if (chain, number) == (0, 20): {tells}\n      \
               if os.fork(): os._exit(0)\n"
    )
}

#[test]
fn a_fork_storm_ends_with_the_command() {
    let code = storm(20, "os.write(writer, b'x')") + "os.read(reader, 1)\nos._exit(3)";
    assert_eq!(Watched::start(with_daemon(&code)).ends(), 3);
}

/// There is always one more process that has ended: collecting them must not be all that is done.
#[test]
fn a_fork_storm_ends_when_stockade_is_killed() {
    // Room for those that ended and wait to be collected: a control group counts them.
    let begun = with_daemon(&(storm(400, READY) + "time.sleep(60)")).flags(["--process-limit", "4096"]);
    let watched = Watched::start_until_ready(begun);
    watched.signal(Signal::SIGKILL);
    assert_eq!(watched.ends(), -9);
}

#[test]
fn two_runs_do_not_disturb_each_other() {
    let long = Watched::start(with_daemon("time.sleep(60)"));
    let short = Watched::start(with_daemon("time.sleep(60)"));
    short.signal(Signal::SIGKILL);
    assert_eq!(short.ends(), -9);
    let third = Watched::start(with_daemon("try: os.kill(-1, 9)\nexcept OSError: pass\nsys.exit(4)"));
    assert_eq!(third.ends(), 4);
    // The third had time to do it: its own end is behind us, and what it would have ended is told of at once.
    assert!(!long.is_over_within(Duration::from_millis(300)));
    assert!(is_alive(long.daemon));
    long.signal(Signal::SIGTERM);
    assert_eq!(long.ends(), 143);
}

#[test]
fn the_scratch_directory_is_removed_when_a_signal_ends_the_run() {
    let begun = with_daemon("time.sleep(60)").profile("readonly");
    let state = begun.place.state();
    let watched = Watched::start(begun);
    assert!(until(PATIENCE, || scratch_directories(Some(&state)).len() == 1));
    watched.signal(Signal::SIGTERM);
    assert!(watched.is_over_within(PATIENCE));
    assert!(until(PATIENCE, || scratch_directories(Some(&state)).is_empty()));
    assert_eq!(watched.ends(), 143);
}

/// Which a key does too. The signal meets the new process where that confines itself, or gets its signal mask back.
#[test]
fn a_run_that_is_stopped_before_it_is_the_program_has_its_limit_all_the_same() {
    let mut early = 0;
    for _ in 0..60 {
        let begun = run().flags(["--time-limit", "300ms"]).command(["sleep", "60"]);
        let mut child = begun.process().stderr(Stdio::null()).spawn().unwrap();
        let below = |pid: i32| children_of(pid).first().copied();
        let launcher = child.id().cast_signed();
        let mut target = None;
        assert!(until(PATIENCE, || {
            // Without a pause: the steps take a millisecond.
            target = (0..1000).find_map(|_| below(launcher).and_then(below));
            target.is_some()
        }));
        let target = target.unwrap();
        kill(Pid::from_raw(target), Signal::SIGSTOP).unwrap();
        let name = std::fs::read_to_string(format!("/proc/{target}/comm")).unwrap_or_default();
        early += i32::from(name != "sleep\n");
        let ended = until(PATIENCE, || child.try_wait().unwrap().is_some());
        let _ = child.kill();
        let status = child.wait().unwrap();
        assert!(ended, "stopped as {name:?}, it waits past its limit");
        assert_eq!(status.code(), Some(124), "stopped as {name:?}");
        if early == 3 {
            return;
        }
    }
    skipped("the new process was the program each time before it could be stopped");
}

#[test]
fn a_process_outside_that_was_sent_the_output_keeps_no_run() {
    let begun = run().profile("workspace");
    let path = begun.place.root.join("outer");
    let got = begun.place.root.join("got");
    let _keeper = Beside::new(
        &begun.place,
        &format!(
            "import socket\n\
             listener = socket.socket(socket.AF_UNIX); listener.bind({path:?}); listener.listen()\n\
             print('ready', flush=True)\n\
             connection = listener.accept()[0]\n\
             kept = socket.recv_fds(connection, 1, 1)[1]\n\
             open({got:?}, 'w').write(str(len(kept)))\n\
             connection.recv(1); connection.send(b'x'); listener.accept()"
        ),
    );
    let sends = format!(
        "import socket\n\
         print('said', flush=True)\n\
         outer = socket.socket(socket.AF_UNIX); outer.connect({path:?})\n\
         socket.send_fds(outer, [b'x'], [1]); outer.send(b'x'); outer.recv(1)"
    );
    let path = path.display().to_string();
    let ran = begun
        .flags(["--output-limit", "1M", "--socket", &path])
        .python(&sends)
        .stdout("said\n")
        .ends();
    assert_eq!(std::fs::read_to_string(got).unwrap(), "1");
    drop(ran);
}

#[test]
fn a_signal_ends_stockade_where_the_reader_of_its_output_pauses_past_the_end_of_the_run() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let begun = run()
            .flags(["--output-limit", "8M"])
            .command(["seq", "1", "20000"])
            .reporting();
        let mut child = begun.process().stdout(Stdio::piped()).spawn().unwrap();
        let launcher = child.id().cast_signed();
        assert!(until(PATIENCE, || !children_of(launcher).is_empty()));
        let is_over = || !children_of(launcher).into_iter().any(is_alive);
        assert!(until(PATIENCE, is_over));
        assert!(child.try_wait().unwrap().is_none(), "it doesn't wait for the reader");
        kill(Pid::from_raw(launcher), signal).unwrap();
        let ended = until(PATIENCE, || child.try_wait().unwrap().is_some());
        let _ = child.kill();
        assert!(ended, "it answers no {signal}");
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal as i32));
    }
}

#[test]
fn what_a_run_leaves_in_its_own_home_is_named_at_the_end() {
    let leaves = "echo x > ~/notes.txt; git config --global alias.st status; mktemp >/dev/null; mkdir -p ~/.cache/x";
    let ran = run()
        .bash(leaves)
        .profile("workspace")
        .stderr(
            "stockade: gone with the run's own home: `~/.gitconfig`, `~/notes.txt`\n\n\
             hint: a run's `~` isn't yours: write in the root, or outside of a run\n",
        )
        .reporting()
        .ends();
    assert_eq!(ran.report()["left_in_home"], json!([".gitconfig", "notes.txt"]));
    // Programs leave such names each time.
    run()
        .bash("mktemp >/dev/null; mktemp -d >/dev/null; echo 1 > ~/.bash_history; mkdir -p ~/.npm/_logs ~/go/bin")
        .profile("workspace")
        .ends();
}

//! The ways in which harnesses end what they have started. Whatever the way, nothing of the run goes on. Each is first
//! seen to leave a daemon alive that runs without Stockade.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::watched::{DAEMON, PATIENCE, READY, Watched, is_stopped, with_daemon};
use crate::common::{Run, STOCKADE, is_alive, python, run, skipped, slowness, until};

/// Deaf to every signal that asks.
const DEAF: &str = "for number in 1, 2, 3, 15: signal.signal(number, signal.SIG_IGN)\ntime.sleep(60)";

/// The words of a command that has a daemon and would stay, with Stockade or without.
fn words(begun: &Run, is_confined: bool) -> Vec<OsString> {
    if is_confined {
        return std::iter::once(STOCKADE.into()).chain(begun.words()).collect();
    }
    [python(), "-I", "-c", &format!("{DAEMON}{DEAF}")]
        .map(OsString::from)
        .to_vec()
}

/// Both, started by a harness and watched.
fn started_by(is_confined: bool, harness: &[&str], prepare: impl Fn(&mut Command)) -> Watched {
    let begun = with_daemon(DEAF);
    let mut words = harness.iter().map(OsString::from).chain(words(&begun, is_confined));
    let mut command = begun.place.command(words.next().unwrap());
    command.args(words);
    prepare(&mut command);
    Watched::started(&mut command, Some(begun))
}

/// `end` leaves the daemon of a plain program and ends all of a run.
fn ends_all(harness: &[&str], prepare: impl Fn(&mut Command), end: impl Fn(&Watched)) {
    for is_confined in [false, true] {
        let watched = started_by(is_confined, harness, &prepare);
        end(&watched);
        if is_confined {
            watched.ends();
        } else {
            watched.survives();
        }
    }
}

fn pid(watched: &Watched) -> Pid {
    Pid::from_raw(watched.child.id().cast_signed())
}

fn in_a_group(command: &mut Command) {
    command.process_group(0);
}

// promise: end.3
#[test]
fn the_tree_ends_when_stockades_process_group_is_killed() {
    ends_all(&[], in_a_group, |watched| {
        killpg(pid(watched), Signal::SIGKILL).unwrap();
    });
}

// promise: end.3
#[test]
fn the_tree_ends_when_stockades_session_is_killed() {
    // A shell leads the session, as a harness does that gives each of its children one.
    ends_all(
        &["setsid", "sh", "-c", "\"$@\" & wait", "sh"],
        |_| {},
        |watched| {
            let session = watched.child.id().to_string();
            assert!(
                Command::new("pkill")
                    .args(["-9", "-s", &session])
                    .status()
                    .unwrap()
                    .success()
            );
        },
    );
}

#[test]
fn the_tree_ends_when_its_group_is_asked_to() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
        let watched = started_by(true, &[], in_a_group);
        killpg(pid(&watched), signal).unwrap();
        assert_eq!(watched.ends(), 128 + signal as i32);
    }
}

/// Seconds, for a time-out: the daemon has to be there before, and on a slow machine Python takes one to start.
fn time_for_the_daemon() -> String {
    (4 * slowness()).to_string()
}

#[test]
fn the_tree_ends_when_timeout_kills_it() {
    let seconds = time_for_the_daemon();
    ends_all(
        &["timeout", "-s", "KILL", &seconds],
        |_| {},
        |watched| assert!(until(PATIENCE, || !is_alive(pid(watched).as_raw())), "no time-out"),
    );
}

/// `subprocess.run(…, timeout=4)` kills the one process and waits for the holders of the output.
#[test]
fn pythons_timeout_ends_the_tree_and_returns() {
    let harness = "import subprocess, sys, time\n\
                   begun = time.monotonic()\n\
                   try: subprocess.run(sys.argv[1:], timeout=SECONDS, stderr=subprocess.PIPE)\n\
                   except subprocess.TimeoutExpired: pass\n\
                   sys.exit(time.monotonic() - begun > 40)"
        .replace("SECONDS", &time_for_the_daemon());
    let watched = started_by(true, &[python(), "-I", "-c", &harness], |_| {});
    assert_eq!(watched.ends(), 0);
    let watched = started_by(false, &[python(), "-I", "-c", &harness], |_| {});
    assert!(
        until(PATIENCE, || !is_alive(watched.child.id().cast_signed())),
        "no time-out"
    );
    watched.survives();
}

/// What a terminal's window does when it is closed.
// promise: end.5
#[test]
fn the_tree_ends_when_its_terminal_is_closed() {
    let window = "import os, pty, sys, time\n\
                  pid, master = pty.fork()\n\
                  if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
                  said = b''\n\
                  while b'\\n' not in said: said += os.read(master, 100)\n\
                  os.write(1, said.replace(b'\\r', b''))\n\
                  os.close(master); os.close(1); os.waitpid(pid, 0)";
    for is_confined in [false, true] {
        let mut watched = started_by(is_confined, &[python(), "-I", "-c", window], |_| {});
        if is_confined {
            assert!(until(PATIENCE, || !is_alive(watched.daemon)), "the daemon survives");
            watched.child.wait().unwrap();
        } else {
            assert!(watched.is_over_within(PATIENCE), "the terminal isn't closed");
            // Only time shows that the signal of its end doesn't end the daemon.
            thread::sleep(Duration::from_millis(300));
            assert!(is_alive(watched.daemon));
            kill(Pid::from_raw(watched.daemon), Signal::SIGKILL).unwrap();
        }
    }
}

/// A control group of the test's own, removed with the value.
struct Group(PathBuf);

impl Group {
    fn new() -> Result<Group, String> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let top = mounts
            .lines()
            .find(|line| line.split(' ').nth(2) == Some("cgroup2"))
            .and_then(|line| line.split(' ').nth(1))
            .ok_or("there is no cgroup v2 here")?;
        let of = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = of
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .unwrap_or_default();
        let group = Path::new(top)
            .join(own)
            .join(format!("stockade-test-{}", std::process::id()));
        std::fs::create_dir(&group).map_err(|error| format!("no control group can be made: {error}"))?;
        let group = Group(group);
        if group.0.join("cgroup.kill").exists() {
            Ok(group)
        } else {
            Err("control groups can't be killed before Linux 5.14".into())
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = until(PATIENCE, || std::fs::remove_dir(&self.0).is_ok());
    }
}

// promise: end.5
#[test]
fn the_tree_ends_when_its_control_group_is_killed() {
    let group = match Group::new() {
        Ok(group) => group,
        Err(why) => return skipped(&why),
    };
    let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.0.display());
    let watched = started_by(true, &["sh", "-c", &enter, "sh"], |_| {});
    if std::fs::write(group.0.join("cgroup.kill"), "1").is_err() {
        return skipped("the control group can't be killed by this user");
    }
    assert_eq!(watched.ends(), -9);
}

pub fn children_of(pid: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Warden and target of a run.
fn inner(watched: &Watched) -> (i32, i32) {
    let warden = children_of(watched.child.id().cast_signed())[0];
    let target = children_of(warden)
        .into_iter()
        .find(|pid| *pid != watched.daemon)
        .unwrap();
    (warden, target)
}

/// As the kernel does that runs out of memory: one process, without a word.
// promise: end.6
#[test]
fn the_tree_ends_when_any_of_its_three_processes_is_killed() {
    let killed = |choose: fn(&Watched) -> i32| {
        let watched = started_by(true, &[], |_| {});
        kill(Pid::from_raw(choose(&watched)), Signal::SIGKILL).unwrap();
        watched.ends()
    };
    assert_eq!(killed(|watched| watched.child.id().cast_signed()), -9);
    assert_eq!(killed(|watched| inner(watched).0), 125);
    assert_eq!(killed(|watched| inner(watched).1), 137);
}

/// A shell that starts a program in the background and then becomes Stockade.
#[test]
fn a_child_that_stockade_had_before_the_run_outlives_a_killed_warden() {
    let harness = ["sh", "-c", "sleep 300 >/dev/null 2>&1 & exec \"$@\"", "sh"];
    let watched = started_by(true, &harness, |_| {});
    let of_launcher = children_of(watched.child.id().cast_signed());
    let is_warden = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() == "sandbox-warden\n";
    let (wardens, older): (Vec<i32>, Vec<i32>) = of_launcher.into_iter().partition(is_warden);
    assert_eq!((wardens.len(), older.len()), (1, 1));
    kill(Pid::from_raw(wardens[0]), Signal::SIGKILL).unwrap();
    assert_eq!(watched.ends(), 125);
    assert!(is_alive(older[0]));
    kill(Pid::from_raw(older[0]), Signal::SIGKILL).unwrap();
}

/// By the user, since no run can.
#[test]
fn the_tree_ends_where_its_warden_was_stopped() {
    for (signal, code) in [(Signal::SIGKILL, -9), (Signal::SIGTERM, 143)] {
        let watched = Watched::start_until_ready(with_daemon(&format!("{READY}; time.sleep(60)")));
        let (warden, _) = inner(&watched);
        kill(Pid::from_raw(warden), Signal::SIGSTOP).unwrap();
        assert!(until(PATIENCE, || is_stopped(warden)));
        watched.signal(signal);
        assert_eq!(watched.ends(), code, "{signal}");
    }
}

#[test]
fn the_warden_is_in_a_session_of_its_own_and_the_target_in_the_launchers() {
    let watched = started_by(true, &[], in_a_group);
    let place = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<String> = stat.rsplit(") ").next().unwrap().split(' ').map(String::from).collect();
        (fields[2].clone(), fields[3].clone())
    };
    let launcher = watched.child.id().cast_signed();
    let (warden, target) = inner(&watched);
    assert_eq!(place(target), place(launcher));
    assert_eq!(place(warden), (warden.to_string(), warden.to_string()));
    watched.signal(Signal::SIGKILL);
    watched.ends();
}

/// A killing at any moment of the start, the fork of the warden and of the target among them.
// promise: end.6
#[test]
fn the_tree_ends_whenever_the_process_group_or_the_launcher_is_killed() {
    let daemons = "import os, time\n\
                   while True:\n  \
                     if os.fork() == 0:\n    \
                       os.setsid(); time.sleep(60); os._exit(0)\n  \
                     time.sleep(0.01)";
    let kills: [fn(Pid) -> nix::Result<()>; 2] = [|pid| killpg(pid, Signal::SIGKILL), |pid| kill(pid, Signal::SIGKILL)];
    for (step, end) in (0..30).flat_map(|step| kills.map(|end| (step, end))) {
        let begun = run().profile("workspace").python(daemons);
        let mut child = begun.process().process_group(0).spawn().unwrap();
        thread::sleep(Duration::from_millis(2 * step));
        let _ = end(Pid::from_raw(child.id().cast_signed()));
        child.wait().unwrap();
        assert!(until(PATIENCE, || !is_used(&begun.place.root)), "after {} ms", 2 * step);
    }
}

/// Whether a process works in a directory.
fn is_used(directory: &std::path::Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
        .any(|cwd| cwd.starts_with(directory))
}

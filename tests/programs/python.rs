//! Python: its own tests, scripts, environments, installations.

use std::collections::BTreeSet;
use std::env;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::common::{run, tries};

use super::support::{Pair, find, installed, missing, prepared, text_of};

/// A Python that has its own tests; distributions leave them out.
fn tested_python() -> Option<String> {
    let mut candidates = vec![PathBuf::from("python3"), PathBuf::from("/usr/bin/python3")];
    candidates.extend(pyenv_versions());
    let found = candidates.into_iter().find(|python| {
        let probe = "import test.test_json, test.test_pathlib, test.test_subprocess, test.test_tempfile";
        // They write where they are loaded.
        succeeds(Command::new(python).args(["-c", probe]).current_dir(env::temp_dir()))
    });
    if found.is_none() {
        missing("Python's own test suite");
    }
    found.map(|python| python.to_string_lossy().into_owned())
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn pyenv_versions() -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let versions = std::fs::read_dir(home.join(".pyenv/versions"));
    let mut pythons: Vec<PathBuf> = versions
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin/python3"))
        .filter(|python| python.exists())
        .collect();
    pythons.sort();
    pythons.reverse();
    pythons
}

/// The tests that failed, by name.
fn failed(output: &Output) -> BTreeSet<String> {
    text_of(output)
        .lines()
        .filter(|line| line.starts_with("ERROR: ") || line.starts_with("FAIL: "))
        .map(str::to_owned)
        .collect()
}

/// Runs a module of CPython's tests under both profiles, at the same time: they sleep a lot. What fails has to fail bare
/// as well. `rarely` are tests that are left out unless the tests soak.
fn cpython_passes(module: &str, rarely: &[&str]) {
    let Some(python) = tested_python() else {
        return;
    };
    let pair = Pair::new();
    let mut command = vec![python.as_str(), "-m", "test", "-v", module];
    let left_out = tries(rarely, &[]);
    command.extend(left_out.iter().flat_map(|pattern| ["--ignore", pattern]));
    thread::scope(|scope| {
        let confined = ["filesystem", "trusted"].map(|profile| {
            let (pair, command) = (&pair, &command);
            (profile, scope.spawn(move || pair.run_confined(profile, command)))
        });
        for (profile, run) in confined {
            let confined = run.join().expect("the confined run");
            assert!(text_of(&confined).contains("Ran "), "{}", text_of(&confined));
            if confined.status.success() {
                continue;
            }
            let bare = pair.run_bare(&command);
            assert_eq!(
                (failed(&confined), confined.status.code()),
                (failed(&bare), bare.status.code()),
                "{module} under {profile}:\n{}",
                text_of(&confined),
            );
        }
    });
}

#[test]
fn cpythons_own_tests_of_json_pass() {
    cpython_passes("test_json", &[]);
}

#[test]
fn cpythons_own_tests_of_pathlib_pass() {
    cpython_passes("test_pathlib", &[]);
}

#[test]
fn cpythons_own_tests_of_subprocess_pass() {
    // The same tests again, for systems without poll(2).
    cpython_passes("test_subprocess", &["ProcessTestCaseNoPoll"]);
}

#[test]
fn cpythons_own_tests_of_tempfile_pass() {
    cpython_passes("test_tempfile", &[]);
}

const READER: &str = "import os, sys
def can_read(path):
    try:
        return bool(os.listdir(path) if os.path.isdir(path) else open(path).read())
    except PermissionError:
        return False
print([can_read(path) for path in [__file__, *sys.argv[1:]]])
";

#[test]
fn minimal_lets_python_read_its_script_and_nothing_else_of_the_users() {
    if !installed(&["python3"]) {
        return;
    }
    let pair = Pair::new().with_home();
    pair.file("script.py", READER)
        .file("beside.txt", "text\n")
        .file("sub/below.txt", "text\n");
    pair.home_file(".profile", "text\n").home_file("notes.txt", "text\n");
    let home = pair.bare().with_file_name("home");
    let [notes, profile] = ["notes.txt", ".profile"].map(|name| home.join(name).to_string_lossy().into_owned());
    let home = home.to_string_lossy().into_owned();
    let python = find("/usr/bin/python3").map_or("python3", |_| "/usr/bin/python3");
    let command = [
        python,
        "script.py",
        "beside.txt",
        "sub/below.txt",
        ".",
        &notes,
        &profile,
        &home,
        "/etc/hosts",
    ];
    let bare = pair.run_bare(&command);
    assert_eq!(
        String::from_utf8_lossy(&bare.stdout),
        "[True, True, True, True, True, True, True, True]\n"
    );
    let confined = pair.run_confined("minimal", &command);
    assert_eq!(
        String::from_utf8_lossy(&confined.stdout),
        "[True, False, False, False, False, False, False, False]\n",
        "{}",
        text_of(&confined)
    );
}

#[test]
fn python_computes_under_minimal() {
    if installed(&["python3"]) {
        let script = "import sqlite3, ssl, ctypes, hashlib, asyncio, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
print(sqlite3.connect(':memory:').execute('select 6 * 7').fetchall(), hashlib.sha256(b'a').hexdigest())
print(list(ThreadPoolExecutor(4).map(abs, range(4))), subprocess.check_output(['echo', 'child']))
async def main():
    child = await asyncio.create_subprocess_exec('echo', 'again', stdout=-1)
    print(await child.communicate())
asyncio.run(main())
print(sys.version, sys.prefix)
sys.exit(9)";
        let ended = Pair::new().same(&["minimal", "readonly", "filesystem"], &["python3", "-c", script]);
        assert_eq!(ended.code, Some(9));
    }
}

#[test]
fn the_systems_python_runs_under_minimal() {
    if installed(&["/usr/bin/python3"]) {
        Pair::new().succeeds(
            &["minimal"],
            &["/usr/bin/python3", "-c", "import sys; print(sys.version)"],
        );
    }
}

#[test]
fn pythons_of_pyenv_run_under_minimal_by_shim_and_by_path() {
    // Not in any package, so it may be missing even where everything else is there.
    let Some(python) = pyenv_versions().into_iter().next() else {
        eprintln!("skipped: pyenv isn't installed");
        return;
    };
    let script = "import sys, json; print(sys.version, sys.prefix)";
    let python = python.to_string_lossy().into_owned();
    Pair::new().succeeds(&["minimal", "filesystem"], &[&python, "-c", script]);
    let home = env::var("HOME").unwrap_or_default();
    let shim = format!("{home}/.pyenv/shims/python3");
    if succeeds(Command::new(&shim).arg("-V")) {
        Pair::new().succeeds(&["minimal", "filesystem"], &[&shim, "-c", script]);
    }
}

const WHERE: &str = "import sys; print(sys.prefix, sys.base_prefix != sys.prefix, sys.path)";

#[test]
fn the_python_of_a_virtual_environment_runs_under_minimal() {
    if installed(&["python3"]) {
        let pair = Pair::new();
        pair.prepare(&["python3", "-m", "venv", "--without-pip", "environment"]);
        pair.succeeds(&["minimal", "filesystem"], &["environment/bin/python", "-c", WHERE]);
    }
}

#[test]
fn uv_makes_an_environment_under_workspace_and_its_python_runs_under_minimal() {
    let prepared = prepared("STOCKADE_TEST_UV", "test-uv").join("bin/uv");
    let uv = if prepared.exists() { Some(prepared) } else { find("uv") };
    let Some(uv) = uv else {
        return missing("uv");
    };
    let uv = uv.to_string_lossy().into_owned();
    let pair = Pair::new();
    let make = [
        uv.as_str(),
        "venv",
        "-q",
        "--offline",
        "--python",
        "/usr/bin/python3",
        "environment",
    ];
    pair.succeeds(&["workspace"], &make);
    pair.succeeds(&["minimal", "filesystem"], &["environment/bin/python", "-c", WHERE]);
}

/// What listens on a unix socket in `TMPDIR`, for a user in whose home's name there's no room for one (unix(7): 108 bytes).
#[test]
fn sockets_in_the_temporary_directory_of_a_deep_home() {
    if !installed(&["/usr/bin/python3", "ssh-agent", "tmux"]) {
        return;
    }
    let manager = "import multiprocessing\nwith multiprocessing.Manager() as manager: print(manager.list([1]))";
    let tmux = "export SHELL=/bin/sh TMUX_TMPDIR=$TMPDIR; tmux -f /dev/null new-session -d 'sleep 9'; tmux list-sessions -F listens";
    for (shell, said) in [
        (&*format!("/usr/bin/python3 -c '{manager}'"), "[1]\n"),
        (
            "eval $(ssh-agent) >&2; test -S $SSH_AUTH_SOCK && echo listens; kill $SSH_AGENT_PID",
            "listens\n",
        ),
        (&*format!("{tmux}; tmux kill-server"), "listens\n"),
    ] {
        let begun = run().profile("workspace").bash(shell);
        let home = begun.place.home.join("a-long-name/".repeat(10));
        std::fs::create_dir_all(&home).expect("a deep home");
        begun.variable("HOME", home).stdout(said).any_stderr().ends();
    }
}

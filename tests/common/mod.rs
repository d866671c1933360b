//! Shared code of the integration tests: a place for a run, a builder for `stockade run`, and probes that are first
//! proved to work unconfined. Every field has a default; stdout and stderr must be empty unless a test says otherwise.

#![allow(dead_code, unused_imports, reason = "each test program uses another part")]

mod binary;
mod fault;
mod place;
mod probe;
mod process;
mod run;
mod schema;
mod terminal;
mod watch;

pub use binary::{STOCKADE, checkout};
pub use fault::{PANIC, injects_panics};
pub use place::{Place, older_inside, older_landlock, scratch_directories};
pub use probe::{Probe, results};
pub use process::{Asleep, Beside, Finished, finish, finish_within, is_alive, is_in_call, slowness, until};
pub use run::{Ran, Run, run};
pub use schema::faults;
pub use terminal::Terminal;
pub use watch::{Watch, sockets, watch};

/// A project that is read, written and executed, and nothing else: what others keep in `/tmp` doesn't count.
pub const PROJECT: &str = "version = 1\nname = \"project\"\ndescription = \"a project\"\n\
    [[write]]\npath = \"./\"\nwhy = \"work\"\n[[exec]]\npath = \"./\"\nwhy = \"work\"\n";

/// The words of a run under `workspace` that asks nothing, before its command.
pub const UNDER_WORKSPACE: [&str; 6] = ["run", "--ask", "never", "--profile", "workspace", "--"];

/// The system's Python; shims on `PATH` are tested elsewhere.
pub fn python() -> &'static str {
    const SYSTEM: &str = "/usr/bin/python3";
    if std::path::Path::new(SYSTEM).exists() {
        SYSTEM
    } else {
        "python3"
    }
}

/// A Python that has these modules: one of `STOCKADE_TEST_PYTHONS`, a list like `PATH`, of the environment that `tests/setup-programs.sh` makes, or
/// the system's.
pub fn python_with(modules: &[&str]) -> Option<std::path::PathBuf> {
    let made = checkout().join("target/test-python/bin/python3");
    let named = std::env::var_os("STOCKADE_TEST_PYTHONS").unwrap_or_default();
    let named: Vec<_> = std::env::split_paths(&named)
        .filter(|python| python.is_absolute())
        .collect();
    let mut pythons = named.into_iter().chain([made, python().into()]);
    let import = format!("import {}", modules.join(", "));
    pythons.find(|python| {
        let tried = std::process::Command::new(python).args(["-c", &import]).output();
        tried.is_ok_and(|tried| tried.status.success())
    })
}

/// How often a race is tried, normally or with `STOCKADE_TEST_SOAK=1` (see `tools/test`).
pub fn tries<T>(usually: T, soaking: T) -> T {
    match std::env::var_os("STOCKADE_TEST_SOAK").is_some_and(|value| value == "1") {
        true => soaking,
        false => usually,
    }
}

/// Whether the tests run as root.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Prints that a test, or a part of one, proves nothing here. `tools/test` lists all of these at its end.
pub fn skipped(why: &str) {
    eprintln!("skipped: {why}");
    if let Some(list) = std::env::var_os("STOCKADE_TEST_SKIPS") {
        let thread = std::thread::current();
        let line = format!("{}: {why}\n", thread.name().unwrap_or_default());
        let mut list = std::fs::File::options().append(true).open(list).unwrap();
        std::io::Write::write_all(&mut list, line.as_bytes()).unwrap();
    }
}

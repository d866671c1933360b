//! Programs that the command starts by name: they are those that it would start outside.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use super::support::installed;
use crate::common::{Run, run};

/// A search path with these directories of the home before the system's.
fn with_path(begun: Run, directories: &[&str]) -> Run {
    let own = directories.iter().map(|directory| begun.place.home.join(directory));
    let path: OsString = env::join_paths(own.chain(["/usr/bin".into(), "/bin".into()])).expect("a search path");
    begun.variable("PATH", path)
}

/// A run whose home has a virtual environment with a tool, which is active.
fn with_environment() -> Run {
    let begun = run().profile("workspace");
    let environment = begun.place.home.join("env");
    let made = Command::new("/usr/bin/python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&environment)
        .status();
    assert!(made.expect("Python starts").success());
    let python = environment.join("bin/python");
    let tool = format!("#!{}\nimport sys; print('tool of', sys.prefix)\n", python.display());
    begun.place.program("~/env/bin/tool", tool);
    with_path(begun, &["env/bin"]).variable("VIRTUAL_ENV", environment)
}

#[test]
fn the_python_of_the_active_environment_is_the_same_directly_and_from_a_shell() {
    if !installed(&["/usr/bin/python3"]) {
        return;
    }
    let code = "import sys; print(sys.prefix)";
    with_environment()
        .command(["python3", "-c", code])
        .stdout("@HOME/env\n")
        .ends();
    let shell = format!("python3 -c '{code}'");
    with_environment().bash(&shell).stdout("@HOME/env\n").ends();
}

#[test]
fn make_starts_the_tools_of_the_active_environment() {
    if !installed(&["/usr/bin/python3", "make"]) {
        return;
    }
    let begun = with_environment().file("Makefile", "all:\n\t@tool\n");
    begun.command(["make"]).stdout("tool of @HOME/env\n").ends();
}

#[test]
fn an_environment_on_the_search_path_can_be_read_and_not_written() {
    if !installed(&["/usr/bin/python3"]) {
        return;
    }
    let write = "touch @HOME/env/x || touch @HOME/env/bin/tool || rm @HOME/env/pyvenv.cfg";
    let begun = with_environment().bash(&format!("cat @HOME/env/pyvenv.cfg >&2; {write}"));
    begun.status(1).stderr_has("include-system-site-packages").ends();
}

/// rustup's proxies find the toolchain and cargo's home; the token beside them can't be read.
#[test]
fn a_nested_cargo_starts_and_its_credentials_stay_closed() {
    let begun = with_path(run().profile("workspace"), &[".cargo/bin"]);
    let place = &begun.place;
    place.program("~/.cargo/bin/rustup", "#!/bin/sh\necho $CARGO_HOME $RUSTUP_HOME\n");
    std::os::unix::fs::symlink("rustup", place.path("~/.cargo/bin/cargo")).unwrap();
    place.file("~/.cargo/credentials.toml", "[registry]\ntoken = 'secret'\n");
    place.file("~/.rustup/toolchains/stable/x", "");
    let begun = begun.bash("cargo; cat @HOME/.cargo/credentials.toml");
    begun
        .status(1)
        .stdout("@HOME/.cargo @HOME/.rustup\n")
        .stderr_has("Permission denied")
        .ends();
}

/// An earlier run may have put it there.
// promise: others.9
#[test]
fn an_environment_that_the_run_may_write_opens_nothing_else() {
    let mut begun = run().profile("workspace");
    for (name, text) in [("~/private/bin/python3", "#!/bin/sh\n"), ("bin/tool", "#!/bin/sh\n")] {
        begun = begun.program(name, text);
    }
    begun.place.file("~/private/lib/python3.12/os.py", "");
    begun
        .place
        .file("pyvenv.cfg", begun.place.fill("home = @HOME/private/bin\n"));
    let path = format!("{}/bin:/usr/bin:/bin", begun.place.root.display());
    let begun = begun
        .variable("PATH", path)
        .bash("tool && cat @HOME/private/lib/python3.12/os.py");
    begun.status(1).stderr_has("Permission denied").ends();
}

//! Roots that are no roots, and roots with odd names.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::bad_input::refused;
use crate::common::{STOCKADE, finish, is_root, python, run, skipped};

#[test]
fn a_root_that_is_no_directory_is_refused() {
    refused(run().without_root())
        .flags(["--root", "@ROOT/missing"])
        .stderr_has("stockade: the root `@ROOT/missing` can't be used")
        .ends();
    refused(run().file("file", "").without_root())
        .flags(["--root", "@ROOT/file"])
        .stderr_has("the root `@ROOT/file` can't be used")
        .ends();
    refused(run().without_root())
        .flags(["--root", ""])
        .any_stderr()
        .any_stdout()
        .ends();
}

#[test]
fn a_home_is_no_root_unless_it_is_named() {
    let of_its_root = |place: &str| run().without_root().profile("filesystem").after(place);
    refused(of_its_root("cd @HOME"))
        .stderr_has("as the root unless `--root` names it in full")
        .ends();
    of_its_root("cd @HOME").flags(["--root", "."]).ends();
    // A run may have moved the directory that it starts from.
    refused(of_its_root("mkdir -p @HOME/a/b; cd @HOME/a/b"))
        .flags(["--root", "../.."])
        .stderr_has("as the root unless `--root` names it in full")
        .ends();
    refused(of_its_root("cd /"))
        .stderr_has("as the root unless `--root` names it in full")
        .ends();
}

/// A caller that has read something for the root by its own look says which one that was.
#[test]
fn another_root_than_the_caller_looked_at_is_refused() {
    run().flags(["--real-root", "@ROOT"]).ends();
    refused(run())
        .flags(["--real-root", "@HOME"])
        .stderr_has("its name leads elsewhere by now")
        .ends();
}

#[test]
fn a_profile_that_opens_nothing_by_the_root_starts_in_a_home_and_at_the_top() {
    for profile in ["minimal", "network-api", "mcp-standard"] {
        for place in ["cd @HOME", "cd /"] {
            let begun = run().without_root().profile(profile).after(place);
            let here = begun.place.fill(&place.replace("cd ", ""));
            begun.bash("pwd; ! (: >new) 2>&-").stdout(&format!("{here}\n")).ends();
        }
    }
}

#[test]
fn in_a_home_no_profile_that_would_open_all_of_it_is_suggested() {
    let begun = run().file("~/notes", "text").without_root().after("cd @HOME");
    begun
        .command(["cat", "notes"])
        .status(1)
        .stderr_has("hint: to allow it: `--read @HOME/notes`, or more widely `--profile mcp-standard`")
        .ends();
}

#[test]
fn a_root_that_cannot_be_entered_is_refused() {
    if is_root() {
        skipped("root enters everything");
        return;
    }
    let begun = run();
    fs::create_dir(begun.place.path("closed")).unwrap();
    fs::set_permissions(begun.place.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let ran = refused(begun.without_root())
        .flags(["--root", "@ROOT/closed"])
        .stderr_has("change to the root")
        .ends();
    fs::set_permissions(ran.place.path("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn odd_names_of_roots_are_only_names() {
    for name in [
        &b"with space"[..],
        b"with\nnewline",
        b"no\xffutf8",
        b"-dash",
        b"*?[",
        b"\"'$(id)`",
    ] {
        let begun = run();
        let root = begun.place.root.join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir_all(root.join("data")).unwrap();
        fs::write(root.join("data/x"), "read").unwrap();
        begun
            .without_root()
            .raw_flag("--root")
            .raw_flag(root)
            .profile("readonly")
            .command(["cat", "data/x"])
            .stdout("read")
            .ends();
    }
}

#[test]
fn a_root_deeper_than_a_path_may_be_is_refused_or_works() {
    let begun = run();
    // A relative walk makes what no absolute path can name.
    let code = "import os\nos.chdir('@ROOT')\nfor _ in range(30):\n  os.mkdir('d' * 200)\n  os.chdir('d' * 200)\n\
                os.execv('@BIN', ['stockade', 'run', '--root', '.', '--', 'echo', 'ran'])";
    let code = begun.place.fill(code).replace("@BIN", STOCKADE.path());
    let finished = finish(begun.place.command(python()).args(["-I", "-c", &code]), b"");
    let said = finished.stderr();
    assert!(
        finished.stdout() == "ran\n" || (finished.status.code() == Some(125) && said.starts_with("stockade: ")),
        "{:?} {said}",
        finished.status
    );
}

#[test]
fn a_directory_that_was_removed_is_no_root() {
    let begun = run();
    let code = "mkdir @ROOT/gone; cd @ROOT/gone; rmdir @ROOT/gone; exec \"$@\"";
    let mut process = begun.place.command("bash");
    process.args([
        "-c",
        &begun.place.fill(code),
        "bash",
        STOCKADE.path(),
        "run",
        "--",
        "echo",
        "ran",
    ]);
    let finished = finish(&mut process, b"");
    assert_eq!(finished.status.code(), Some(125));
    assert_eq!(finished.stderr(), "stockade: the current directory was removed\n");
}

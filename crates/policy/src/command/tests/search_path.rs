//! The installations added for the search path.

use super::python::pyenv;
use super::*;

/// A machine whose search path has these directories, for a run that may write these trees.
fn machine(directories: &[&str], written: &[&str]) -> Machine {
    let mut machine = Machine::new();
    let directories = directories.iter().map(|directory| machine.path(directory));
    let system = ["/usr/bin", "/bin"].map(PathBuf::from);
    machine.search_path = std::env::join_paths(directories.chain(system)).expect("a search path");
    machine.others = Some(written.iter().map(|tree| machine.path(tree)).collect());
    machine
}

#[test]
fn installations_on_the_search_path_come_along() {
    let directories = [
        "home/.cargo/bin",
        "home/.pyenv/shims",
        "home/tools/bin",
        "home/go/bin",
        "home/link",
    ];
    let machine = machine(&directories, &[]);
    pyenv(&machine);
    machine
        .program("home/.cargo/bin/rustup", ELF)
        .link("home/.cargo/bin/cargo", "rustup")
        .file("home/.cargo/credentials.toml", "token")
        .file("home/.rustup/toolchains/stable/x", "");
    machine
        .program("home/tools/bin/node", ELF)
        .file("home/tools/include/node/node.h", "");
    machine
        .program("home/go/bin/gopls", ELF)
        .program("home/.nvm/versions/node/v20/bin/node", ELF)
        .file("home/.nvm/versions/node/v20/include/node/node.h", "")
        .link("home/link", ".nvm/versions/node/v20/bin");
    let expected = [
        "x home/.cargo/bin",
        "x home/.rustup",
        "x home/.pyenv/shims",
        "x home/.pyenv/libexec",
        "x home/.pyenv/plugins",
        "x home/.pyenv/versions/3.11.7",
        "x home/go/bin",
        "x home/.nvm/versions/node/v20",
    ];
    assert_eq!(machine.grants(&["/bin/sh"]), expected);
    let found = machine.find(&["/bin/sh"]);
    let open = directories
        .iter()
        .filter(|directory| !directory.starts_with("home/tools"));
    let open: Vec<_> = open.map(|directory| machine.path(directory)).collect();
    assert_eq!(found.search_path, open);
    let names: Vec<_> = found.variables.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(names, ["RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT", "PYENV_VERSION"]);
}

/// A run gets the directories of its caller's `PATH` that it can start something of.
#[test]
fn a_wrapper_finds_its_program_where_the_caller_would() {
    let machine = Machine::new();
    machine.program("home/bin/tool", ELF);
    let searched = |argv: &[&str]| machine.find(argv).search_path;
    assert_eq!(searched(&["env", "-C", "sub", "tool"]), [machine.path("home/bin")]);
    assert_eq!(
        searched(&["nice", "timeout", "5", "tool"]),
        ["/usr/bin".into(), machine.path("home/bin")]
    );
    assert!(searched(&["tool"]).is_empty());
}

#[test]
fn what_is_no_installation_stays_closed() {
    let machine = machine(
        &["home/bin", "home/.local/bin", "home/work/tools", "home/.ssh", "home"],
        &[],
    );
    for program in ["home/work/tools/x", "home/.ssh/x", "home/x"] {
        machine.program(program, ELF);
    }
    for script in ["home/bin/x", "home/.local/bin/x"] {
        machine.program(script, "#!/bin/sh\nexport TOKEN=1\n");
    }
    assert_eq!(machine.grants(&["/bin/sh"]), [""; 0]);
    assert!(machine.find(&["/bin/sh"]).search_path.is_empty());
}

/// `~/.local/bin` contains programs of `pipx`, `uv tool` and installers, each added separately.
#[test]
fn programs_of_many_origins_come_along_one_by_one() {
    let machine = machine(&["home/.local/bin", "home/bin"], &["home/work/root"]);
    machine
        .python("home/.local/share/uv/python/cpython-3.12")
        .file(
            "home/.local/share/uv/tools/ruff/pyvenv.cfg",
            "home = @/home/.local/share/uv/python/cpython-3.12/bin\n",
        )
        .program("home/.local/share/uv/tools/ruff/bin/ruff", ELF)
        .link("home/.local/bin/ruff", "../share/uv/tools/ruff/bin/ruff")
        .program("home/.local/bin/uv", ELF)
        .program("home/.local/bin/deploy", "#!/bin/sh\nexport TOKEN=1\n")
        .file("home/.local/bin/notes.txt", "private")
        .program("home/work/private/tool", ELF)
        .link("home/.local/bin/tool", "@/home/work/private/tool")
        .link("home/.local/bin/docs", "@/home/work/private")
        .link("home/.local/bin/gone", "nowhere");
    machine.file("home/bin/x", "text, and no program");
    let mut grants = machine.grants(&["/bin/sh"]);
    grants.sort();
    let expected = [
        "x home/.local/bin/uv",
        "x home/.local/share/uv/python/cpython-3.12",
        "x home/.local/share/uv/tools/ruff",
    ];
    assert_eq!(grants, expected);
    assert_eq!(
        machine.find(&["/bin/sh"]).search_path,
        [machine.path("home/.local/bin")]
    );
}

#[test]
fn a_command_that_starts_no_others_brings_its_own_installation_alone() {
    let mut machine = machine(&["home/go/bin"], &[]);
    machine.program("home/go/bin/gopls", ELF);
    assert_eq!(machine.grants(&["/bin/sh"]), ["x home/go/bin"]);
    machine.others = None;
    assert_eq!(machine.grants(&["/bin/sh"]), [""; 0]);
}

/// An earlier run, in this root or another one, may have put it there.
#[test]
fn a_link_or_a_marker_beside_the_programs_opens_nothing() {
    let machine = machine(&["home/work/root/.venv/bin", "home/other/bin"], &["home/work/root"]);
    machine
        .file("home/docs/plan.txt", "private")
        .file("home/other/private.txt", "private")
        .program("home/other/bin/run", "#!/bin/sh\n")
        .file("home/other/conda-meta/history", "")
        .file("home/work/root/.venv/pyvenv.cfg", "");
    for directory in ["home/work/root/.venv/bin", "home/other/bin"] {
        for name in ["volta-shim", "rustup", "tool"] {
            fs::create_dir_all(machine.path(directory)).expect("a directory");
            machine.link(&format!("{directory}/{name}"), "@/home/docs");
        }
    }
    assert_eq!(machine.grants(&["/bin/sh"]), [""; 0]);
}

/// An earlier run may have put it there.
#[test]
fn what_the_run_may_write_brings_no_more_than_its_base() {
    let root = "home/work/root";
    let machine = machine(&["home/work/root/.venv/bin", "home/work/root/bin"], &[root]);
    machine
        .python("home/.pyenv/versions/3.12.9")
        .python("home/work/private");
    fs::create_dir_all(machine.path("home/.pyenv/shims")).expect("a directory");
    let environment = |home: &str| {
        machine.file(format!("{root}/.venv/pyvenv.cfg"), &format!("home = @/{home}\n"));
        machine.program(format!("{root}/.venv/bin/pytest"), "#!x\n");
    };
    environment("home/.pyenv/versions/3.12.9/bin");
    assert_eq!(machine.grants(&["/bin/sh"]), ["x home/.pyenv/versions/3.12.9"]);
    environment("home/work/private/bin");
    assert_eq!(machine.grants(&["/bin/sh"]), [""; 0]);
    machine.file(format!("{root}/.venv/pyvenv.cfg"), "");
    machine.link("home/work/root/bin/node", "@/home/work/private/bin/python3");
    assert_eq!(machine.grants(&["/bin/sh"]), [""; 0], "a link of an earlier run's");
}

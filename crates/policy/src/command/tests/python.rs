//! Layouts of Python: environments, pyenv, uv.

use super::*;

#[test]
fn a_virtual_environment_brings_its_python() {
    let machine = Machine::new();
    machine.python("home/.local/share/uv/python/cpython-3.12.1");
    for (name, copies) in [("linked", false), ("copied", true)] {
        let venv = format!("home/work/root/{name}");
        machine.file(
            format!("{venv}/pyvenv.cfg"),
            "home = @/home/.local/share/uv/python/cpython-3.12.1/bin\n",
        );
        match copies {
            true => machine.program(format!("{venv}/bin/python"), ELF),
            false => machine.link(
                &format!("{venv}/bin/python"),
                "@/home/.local/share/uv/python/cpython-3.12.1/bin/python3",
            ),
        };
        machine.program(format!("{venv}/bin/black"), &format!("#!@/{venv}/bin/python\n"));
        let expected = [
            format!("x {venv}"),
            "x home/.local/share/uv/python/cpython-3.12.1".to_owned(),
        ];
        assert_eq!(machine.grants(&[&format!("{name}/bin/python")]), expected);
        assert_eq!(machine.grants(&[&format!("{name}/bin/black")]), expected);
        assert_eq!(
            machine.find(&[&format!("{name}/bin/python")]).program,
            machine.path(&format!("{venv}/bin/python"))
        );
    }
}

#[test]
fn a_virtual_environment_of_an_environment() {
    let machine = Machine::new();
    machine
        .python("py")
        .file("home/a/pyvenv.cfg", "home = @/py/bin")
        .link("home/a/bin/python3", "@/py/bin/python3");
    machine
        .file("home/b/pyvenv.cfg", "HOME=@/home/a/bin\n")
        .program("home/b/bin/python3", ELF);
    assert_eq!(
        machine.grants(&["@/home/b/bin/python3"]),
        ["x home/b", "x home/a", "x py"]
    );
    machine
        .file("home/c/pyvenv.cfg", "home = @/home/c/bin")
        .program("home/c/bin/python3", ELF);
    assert_eq!(machine.grants(&["@/home/c/bin/python3"]), ["x home/c"]);
}

#[test]
fn an_environment_can_not_name_what_is_no_python() {
    let machine = Machine::new();
    machine
        .program("home/private/bin/python3", ELF)
        .file("home/private/lib/letters.txt", "");
    machine
        .file("home/work/root/v/pyvenv.cfg", "home = @/home/private/bin")
        .program("home/work/root/v/bin/python", ELF);
    assert_eq!(machine.grants(&["v/bin/python"]), ["x home/work/root/v"]);
}

#[test]
fn markers_in_wide_directories_grant_the_file_alone() {
    let machine = Machine::new();
    for wide in ["home", "home/.local", "home/work", "home/work/root"] {
        machine
            .file(format!("{wide}/pyvenv.cfg"), "home = /usr/bin")
            .program(format!("{wide}/bin/tool"), ELF);
        fs::create_dir_all(machine.path(&format!("{wide}/conda-meta"))).expect("a directory");
        assert_eq!(
            machine.grants(&[&format!("@/{wide}/bin/tool")]),
            [format!("x {wide}/bin/tool")]
        );
    }
}

pub(super) fn pyenv(machine: &Machine) {
    machine
        .python("home/.pyenv/versions/3.11.7")
        .python("home/.pyenv/versions/3.12.10")
        .python("home/.pyenv/versions/3.12.9");
    machine
        .program("home/.pyenv/libexec/pyenv", "#!/usr/bin/env bash\n")
        .file("home/.pyenv/plugins/p/x", "");
    machine.program(
        "home/.pyenv/shims/python3",
        "#!/usr/bin/env bash\nexec pyenv exec python3\n",
    );
    machine
        .file("home/.pyenv/version", "3.11.7\n")
        .file("home/work/root/x.py", "");
}

#[test]
fn a_pyenv_shim_brings_pyenv_and_the_chosen_version() {
    let mut machine = Machine::new();
    pyenv(&machine);
    machine.link("home/bin/python3", "../.pyenv/shims/python3");
    let with = |version: &str| {
        ["shims", "libexec", "plugins", &format!("versions/{version}")].map(|part| format!("x home/.pyenv/{part}"))
    };
    assert_eq!(machine.grants(&["python3"]), with("3.11.7"));
    assert_eq!(machine.entrypoints(&["python3", "x.py"])[0], "home/work/root/x.py");
    let variables = machine.find(&["python3"]).variables;
    assert_eq!(variables[0], ("PYENV_ROOT".into(), machine.path("home/.pyenv").into()));
    assert_eq!(variables[1], ("PYENV_VERSION".into(), "3.11.7".into()));
    machine.file("home/work/.python-version", "3.12 # newest\n");
    assert_eq!(machine.grants(&["python3"]), with("3.12.10"));
    machine.variables.push(("PYENV_VERSION", "system".into()));
    assert_eq!(machine.grants(&["python3"]).len(), 3);
    machine.variables[0].1 = "3.9:3.11.7".into();
    let all = machine.grants(&["python3"]);
    assert!(all.contains(&"x home/.pyenv/versions".to_owned()) && all.contains(&"r home/.pyenv/version".to_owned()));
}

#[test]
fn a_version_file_leads_nowhere_else() {
    let machine = Machine::new();
    pyenv(&machine);
    for text in ["../../private", "..", ".", "/etc"] {
        machine
            .file("home/work/root/.python-version", text)
            .file("home/private/x", "");
        let grants = machine.grants(&["@/home/.pyenv/shims/python3"]);
        assert!(
            grants.iter().all(|grant| grant.contains("home/.pyenv/")),
            "{text}: {grants:?}"
        );
    }
}

//! Links, first lines and markers where runs may have made them open no further installation.

use super::*;

/// A machine with an environment and a conda prefix of its user, and a directory where runs write.
fn machine() -> Machine {
    let mut machine = Machine::new();
    machine
        .python("home/python")
        .program("home/private/bin/python3", ELF)
        .file("home/private/pyvenv.cfg", "home = /usr/bin")
        .program("home/conda/bin/python3", ELF)
        .file("home/conda/conda-meta/history", "");
    machine.written.push(machine.path("shared"));
    machine
}

#[test]
fn a_program_that_is_typed_through_a_link_where_runs_write_is_there_alone() {
    let machine = machine();
    for (place, target) in [
        ("shared/venv", "@/home/private"),
        ("shared/conda", "@/home/conda"),
        ("home/work/root/.venv", "@/home/private"),
        ("home/own", "shared/../../shared/venv"),
        ("home/link", "private"),
    ] {
        machine.link(place, target);
    }
    for (typed, expected) in [
        ("@/home/link/bin/python3", "x home/private"),
        ("@/shared/venv/bin/python3", "x home/private/bin/python3"),
        (".venv/bin/python3", "x home/private/bin/python3"),
        ("@/home/work/root/.venv/bin/python3", "x home/private/bin/python3"),
        ("@/shared/conda/bin/python3", "x home/conda/bin/python3"),
    ] {
        assert_eq!(machine.grants(&[typed]), [expected], "{typed}");
    }
}

#[test]
fn a_marker_where_runs_write_names_no_further_installation() {
    let mut machine = machine();
    machine
        .program("shared/venv/bin/python3", ELF)
        .file("shared/venv/pyvenv.cfg", "home = @/home/conda/bin");
    let typed = ["@/shared/venv/bin/python3"];
    assert_eq!(machine.grants(&typed), ["x shared/venv"]);
    machine.written.clear();
    assert_eq!(machine.grants(&typed), ["x shared/venv", "x home/conda"]);
    // The user's own line, by a link that a run may have put there since.
    machine.written.push(machine.path("shared"));
    machine
        .link("shared/python", "@/home/conda")
        .program("home/own/bin/python3", ELF)
        .file("home/own/pyvenv.cfg", "home = @/shared/python/bin");
    assert_eq!(machine.grants(&["@/home/own/bin/python3"]), ["x home/own"]);
}

#[test]
fn a_first_line_that_says_where_to_search_names_the_program() {
    let mut machine = machine();
    for (name, line) in [
        ("by-path", "#!@/home/private/bin/python3"),
        ("by-env", "#!/usr/bin/env @/home/private/bin/python3"),
        ("by-search", "#!/usr/bin/env -S PATH=@/home/private/bin python3"),
        (
            "by-both",
            "#!/usr/bin/env -S PATH=@/home/private/bin:/usr/bin nice python3",
        ),
        ("by-another", "#!/usr/bin/env -S nice @/home/private/bin/python3"),
        ("by-user", "#!/usr/bin/env python3"),
    ] {
        machine.program(format!("home/work/root/{name}"), &format!("{line}\n"));
    }
    for name in ["./by-path", "./by-env", "./by-search", "./by-both", "./by-another"] {
        assert_eq!(machine.grants(&[name])[1..], ["x home/private/bin/python3"], "{name}");
    }
    machine.search_path = format!("{}:/usr/bin", machine.path("home/private/bin").display()).into();
    assert_eq!(machine.grants(&["./by-user"])[1..], ["x home/private"]);
}

/// A program of `~/bin` that is the user's, started from there, makes nothing else of the home the user's choice.
#[test]
fn a_program_in_the_homes_bin_trusts_no_other_installation_of_the_home() {
    let machine = machine();
    machine
        .program("home/work/root/tool.sh", "#!@/home/private/bin/python3\n")
        .link("home/bin/tool", "@/home/work/root/tool.sh")
        .program("home/work/root/.venv/bin/python3", ELF)
        .file("home/work/root/.venv/pyvenv.cfg", "home = @/home/conda/bin\n")
        .program("home/bin/own", "#!@/home/work/root/.venv/bin/python3\n")
        .program("home/bin/timeout", ELF);
    for typed in [
        &["tool"] as &[&str],
        &["@/home/bin/tool"],
        &["own"],
        &["timeout", "5", "./tool.sh"],
    ] {
        let grants = machine.grants(typed);
        let whole = grants
            .iter()
            .any(|grant| ["x home/private", "x home/conda"].contains(&&**grant));
        assert!(!whole && !grants.is_empty(), "{typed:?}: {grants:?}");
    }
}

/// No run writes there, so such a line is the user's.
#[test]
fn a_first_line_in_the_homes_bin_names_an_environment_as_the_user_would() {
    let machine = machine();
    machine
        .program("home/bin/own", "#!@/home/private/bin/python3\n")
        .program("home/scripts/other", "#!@/home/private/bin/python3\n")
        .program("home/work/root/made", "#!/usr/bin/env -S PYTHONPATH=z own\n");
    assert_eq!(machine.grants(&["own"]), ["x home/bin/own", "x home/private"]);
    // A run's line that names it is none.
    for typed in ["@/home/scripts/other", "./made"] {
        assert!(!machine.grants(&[typed]).contains(&"x home/private".into()), "{typed}");
    }
}

#[test]
fn an_environment_where_runs_write_is_there_with_its_python_elsewhere() {
    let machine = machine();
    machine
        .link("shared/venv/bin/python", "@/home/python/bin/python3")
        .file("shared/venv/pyvenv.cfg", "home = @/home/python/bin");
    assert!(
        machine
            .grants(&["@/shared/venv/bin/python"])
            .contains(&"x shared/venv".into())
    );
}

/// People type from there. A file of a project below it isn't the user's word for all of the home.
#[test]
fn a_home_that_is_the_root_is_no_place_for_installations() {
    let mut machine = machine();
    machine.root = "home";
    machine.written.clear();
    machine.program("home/work/root/tool", "#!@/home/private/bin/python3\n");
    assert!(!machine.grants(&["work/root/tool"]).contains(&"x home/private".into()));
    assert_eq!(machine.grants(&["private/bin/python3"]), ["x home/private"]);
}

#[test]
fn a_part_of_a_version_manager_is_no_link_that_a_run_made() {
    let machine = machine();
    fs::create_dir_all(machine.path("home/work/root/installs")).expect("a directory");
    machine
        .program("home/work/root/shims/t", ELF)
        .file("home/go/private/key.go", "")
        .link("home/work/root/lib", "@/home/go/private");
    let grants = machine.grants(&["shims/t"]);
    assert_eq!(grants, ["x home/work/root/shims", "x home/work/root/installs"]);
}

#[test]
fn a_first_line_makes_no_script_of_an_argument() {
    let machine = machine();
    machine.file("home/notes", "");
    for (name, line) in [
        ("by-bash", "#!/bin/bash --rcfile"),
        ("by-env", "#!/usr/bin/env python3"),
    ] {
        machine.program(format!("home/work/root/{name}"), &format!("{line}\n"));
    }
    machine
        .program("home/bin/node", ELF)
        .program("home/work/root/own", "#!@/home/bin/node --require\n");
    for typed in ["./by-bash", "./by-env", "./own"] {
        assert_eq!(
            machine.entrypoints(&[typed, "@/home/notes"]),
            ["home/work/root/".to_owned() + &typed[2..]]
        );
    }
    assert_eq!(
        machine.entrypoints(&["bash", "--rcfile", "x", "@/home/notes"]),
        ["home/notes"],
        "so this proves nothing"
    );
}

#[test]
fn a_script_that_a_run_may_have_chosen_is_not_there_for_being_named() {
    let machine = machine();
    machine
        .program("home/notes.sh", "#!/bin/sh\n")
        .program("home/work/root/made", "#!@/home/notes.sh\n")
        .program("home/work/root/made-too", "#!/usr/bin/env @/home/notes.sh\n")
        .link("home/work/root/link", "@/home/notes.sh")
        .link("shared/link", "@/home/notes.sh")
        .link("home/link", "notes.sh");
    for typed in ["./made", "./made-too", "./link", "@/shared/link"] {
        let found = machine.find(&[typed]);
        let all = found.executables.iter().chain(&found.entrypoints);
        assert!(
            all.clone().all(|path| !path.ends_with("notes.sh")),
            "{typed}: {found:?}"
        );
        assert!(
            found.installation.iter().all(|part| !part.path.ends_with("notes.sh")),
            "{typed}"
        );
    }
    for typed in ["@/home/link", "@/home/notes.sh"] {
        assert_eq!(machine.grants(&[typed]), ["x home/notes.sh"]);
    }
}

/// A run may replace the project's `.venv`, which the search path and `VIRTUAL_ENV` name, by a link.
#[test]
fn a_directory_of_the_search_path_is_followed_out_of_no_tree_where_runs_write() {
    let mut machine = machine();
    machine
        .link("home/work/root/.venv", "@/home/private")
        .link("shared/tools", "@/home/go/private")
        .program("home/go/private/tool", ELF)
        .program("home/go/private/own", ELF);
    machine.others = Some(vec![machine.path("home/work/root")]);
    let mut open = |directory: &str, environment: &str| {
        let named = machine.path(directory);
        machine.search_path = std::env::join_paths([&named, Path::new("/usr/bin")]).expect("a search path");
        machine.variables = vec![("VIRTUAL_ENV", machine.path(environment).into())];
        let found = machine.find(&["/usr/bin/env"]);
        (machine.grants(&["/usr/bin/env"]), found.search_path.contains(&named))
    };
    let nothing = (Vec::new(), false);
    assert_eq!(open("home/work/root/.venv/bin", "home/work/root/.venv"), nothing);
    assert_eq!(open("home/private/bin", "home/work/root/.venv"), nothing);
    assert_eq!(open("shared/tools", "nowhere"), nothing);
    assert_eq!(
        open("home/private/bin", "home/private"),
        (vec!["x home/private".to_owned()], true)
    );
    assert_eq!(
        open("home/go/private", "nowhere"),
        (vec!["x home/go/private".to_owned()], true)
    );
}

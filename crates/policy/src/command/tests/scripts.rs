//! Which argument is the script.

use super::*;

#[test]
fn the_script_alone_is_readable() {
    let mut machine = Machine::new();
    machine
        .file("home/work/root/x.py", "")
        .file("home/work/other.py", "")
        .link("home/work/root/l.py", "../other.py");
    for argv in [
        &["python3", "x.py", "l.py"] as &[&str],
        &["/usr/bin/python3", "-u", "./x.py"],
        &["timeout", "5", "nice", "-n", "3", "env", "-i", "A=b", "python3", "x.py"],
        &["sh", "x.py"],
    ] {
        assert_eq!(machine.entrypoints(argv), ["home/work/root/x.py"], "{argv:?}");
    }
    // An earlier run may have made the link.
    assert_eq!(machine.entrypoints(&["python3", "l.py"]), Vec::<String>::new());
    machine.link("shared/l.sh", "/etc/hostname");
    assert_eq!(machine.entrypoints(&["sh", "@/shared/l.sh"]), ["/etc/hostname"]);
    machine.written.push(machine.path("shared"));
    assert_eq!(machine.entrypoints(&["sh", "@/shared/l.sh"]), [""; 0]);
    assert_eq!(machine.grants(&["python3", "x.py"]), Vec::<String>::new());
}

#[test]
fn no_word_of_another_party_brings_a_file_for_being_named() {
    let mut machine = Machine::new();
    machine
        .file("home/notes", "")
        .file("home/work/root/x.py", "")
        .program("home/bin/tool", "#!/bin/sh\n")
        .program("home/app/bin/node", ELF)
        .file("home/app/lib/node_modules/npm/index.js", "")
        .file("home/other/node_modules/p/cli.js", "");
    machine.is_foreign = true;
    let none = Vec::<String>::new();
    for argv in [
        &["bash", "-v", "@/home/notes"] as &[&str],
        &["python3", "x.py"],
        &["env", "python3", "@/home/notes"],
        &["node", "@/home/other/node_modules/p/cli.js"],
        &["@/home/app/bin/node"],
        &["../../app/bin/node", "x.js"],
    ] {
        assert_eq!(
            (machine.entrypoints(argv), machine.grants(argv)),
            (none.clone(), none.clone()),
            "{argv:?}"
        );
    }
    // The user's own search path names this one.
    for named in ["tool", "@/home/bin/tool"] {
        assert_eq!(machine.entrypoints(&[named, "@/home/notes"]), ["home/bin/tool"]);
    }
    assert_eq!(machine.entrypoints(&["env", "-C", "sub", "tool"]), ["home/bin/tool"]);
    for elsewhere in ["PATH=@/home/app/bin", "PATH=@/home"] {
        assert_eq!(machine.grants(&["env", elsewhere, "node", "x.js"]), none);
    }
    assert_eq!(machine.find(&["env", "timeout", "5", "python3", "x.py"]).starts, 3);
}

/// A run may have made them: `node_modules/.bin` and an activated environment stand on many a search path.
#[test]
fn another_party_gets_nothing_by_a_program_that_it_may_have_made() {
    let mut machine = Machine::new();
    let own = machine.path("home/work/root/bin");
    machine.search_path = format!("{}:{}", own.display(), machine.search_path.to_str().unwrap()).into();
    machine
        .program("home/private.sh", "#!/bin/sh\n")
        .program("home/bin/tool", "#!/bin/sh\n")
        .program("home/work/root/bin/made", "#!@/home/private.sh\n")
        .link("home/work/root/bin/linked", "../../../private.sh")
        .link("home/bin/through", "../work/root/bin/linked");
    let written = std::mem::take(&mut machine.written);
    for argv in [["made"], ["linked"], ["through"]] {
        let found = machine.entrypoints(&argv);
        assert!(
            found.contains(&"home/private.sh".into()),
            "{argv:?}: so this proves nothing"
        );
    }
    machine.written = written;
    machine.is_foreign = true;
    for argv in [&["made"][..], &["linked"], &["env", "linked"], &["through"]] {
        let found = machine.find(argv);
        let own = found
            .executables
            .iter()
            .any(|path| path.starts_with(machine.path("home")));
        assert!(!own && machine.entrypoints(argv).is_empty(), "{argv:?}: {found:?}");
    }
    assert_eq!(machine.entrypoints(&["tool"]), ["home/bin/tool"]);
}

/// An earlier run may have made the script, and what its first line names.
#[test]
fn a_program_of_a_wrappers_name_that_a_script_names_brings_no_other() {
    let machine = Machine::new();
    machine
        .program("home/deploy.sh", "#!/bin/sh\n")
        .program("home/work/root/env", ELF)
        .program("home/build.sh", "#!@/home/work/root/env -S @/home/deploy.sh\n")
        .program("home/own.sh", "#!/usr/bin/env -S @/home/deploy.sh\n");
    let found = |script: &str| {
        machine
            .find(&[script])
            .executables
            .contains(&machine.path("home/deploy.sh"))
    };
    assert!(found("@/home/own.sh"), "so this proves nothing");
    assert!(!found("@/home/build.sh"));
    // By a path of the user's own, too, since a run may have made it.
    let of_path = |wrapper: &str| machine.find(&[wrapper, "deploy.sh"]).executables.len();
    machine
        .program("home/bin/deploy.sh", "#!/bin/sh\n")
        .program("home/work/root/nice", ELF);
    assert!(of_path("nice") > of_path("./nice"));
}

/// `stockade exec` takes the words before the script from its first line.
#[test]
fn of_words_from_a_script_the_script_alone_is_one() {
    let mut machine = Machine::new();
    machine.file("home/notes", "").file("home/work/root/x.sh", "");
    let argv = ["/usr/bin/bash", "-v", "@/home/notes", "@/home/work/root/x.sh"];
    assert_eq!(machine.entrypoints(&argv), ["home/notes"]);
    // A script that an installer made beside its interpreter.
    machine
        .program("home/tools/bin/python3", ELF)
        .file("home/tools/pyvenv.cfg", "home = /usr/bin\n")
        .program("home/tools/bin/made", "#!@/home/tools/bin/python3\n");
    machine.script = Some(machine.path("home/tools/bin/made"));
    let own = machine.grants(&["@/home/tools/bin/python3", "@/home/tools/bin/made"]);
    assert!(own.iter().any(|grant| grant.ends_with("home/tools")), "{own:?}");
    machine.script = Some(machine.path("home/work/root/x.sh"));
    let other = machine.grants(&["@/home/tools/bin/python3", "@/home/work/root/x.sh"]);
    assert!(!other.iter().any(|grant| grant.ends_with("home/tools")), "{other:?}");
    assert_eq!(machine.entrypoints(&argv), Vec::<String>::new());
    machine
        .program("home/v/bin/python3", ELF)
        .file("home/v/pyvenv.cfg", "home = /usr/bin\n");
    let behind = machine.grants(&["/usr/bin/nice", "@/home/v/bin/python3", "@/home/work/root/x.sh"]);
    assert!(
        !behind.contains(&"r home/v".into()) && !behind.contains(&"x home/v".into()),
        "{behind:?}"
    );
    // A link in its place was made since.
    machine.link("home/x.sh", "notes");
    machine.script = Some(machine.path("home/x.sh"));
    assert_eq!(
        machine.entrypoints(&["/usr/bin/bash", "@/home/x.sh"]),
        Vec::<String>::new()
    );
    machine.script = Some(machine.path("home/work/root/x.sh"));
    let own = ["/usr/bin/bash", "@/home/work/root/x.sh", "@/home/notes"];
    assert_eq!(machine.entrypoints(&own), ["home/work/root/x.sh"]);
    machine.is_foreign = true;
    assert_eq!(machine.entrypoints(&own), ["home/work/root/x.sh"]);
}

#[test]
fn what_is_no_file_is_left_to_the_interpreter() {
    let machine = Machine::new();
    fs::create_dir(machine.path("home/work/root/package")).expect("a directory");
    nix::unistd::mkfifo(&machine.path("home/work/root/fifo"), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    for script in ["package", "fifo", "missing.py", "/dev/null", "/dev/stdin", "-", ""] {
        assert_eq!(
            machine.entrypoints(&["python3", script]),
            Vec::<String>::new(),
            "{script}"
        );
    }
}

#[test]
fn an_unreadable_script_is_an_error() {
    if nix::unistd::geteuid().is_root() {
        eprintln!("skipped: root reads every file");
        return;
    }
    let machine = Machine::new();
    machine.file("home/work/root/x.py", "");
    fs::set_permissions(machine.path("home/work/root/x.py"), fs::Permissions::from_mode(0o200)).expect("a mode");
    let error = machine.try_find(&["python3", "x.py"]).expect_err("unreadable");
    assert_eq!(
        (
            error.exit_code(),
            matches!(error, CommandError::UnreadableScript { .. })
        ),
        (126, true)
    );
}

//! The chain of `#!` lines.

use super::*;

#[test]
fn the_chain_is_followed_to_its_end() {
    let machine = Machine::new();
    machine
        .program("home/bin/lowest", "#! /bin/sh -e\n")
        .program("home/bin/middle", "#!@/home/bin/lowest arg\n");
    machine.program("home/work/root/top", "#!/usr/bin/env -S middle -x\n");
    let found = machine.find(&["./top", "a"]);
    let names: Vec<_> = found
        .executables
        .iter()
        .filter_map(|path| path.file_name()?.to_str())
        .collect();
    assert_eq!(names[..4], ["top", "env", "middle", "lowest"]);
    assert_eq!(names.len(), 5);
    assert_eq!(
        machine.entrypoints(&["./top"]),
        ["home/work/root/top", "home/bin/middle", "home/bin/lowest"]
    );
}

#[test]
fn a_relative_interpreter_is_below_the_root() {
    let machine = Machine::new();
    machine
        .program("home/work/root/bin/run", ELF)
        .program("home/bin/x", "#!bin/run\n");
    assert!(
        machine
            .find(&["x"])
            .executables
            .contains(&machine.path("home/work/root/bin/run"))
    );
}

#[test]
fn a_missing_interpreter_is_named() {
    let machine = Machine::new();
    machine
        .program("home/bin/a", "#!/nowhere/sh\n")
        .program("home/bin/b", "#!/usr/bin/env python3\r\n");
    let error = |name: &str| machine.try_find(&[name]).expect_err("no interpreter");
    assert!(
        error("a")
            .to_string()
            .ends_with("its interpreter `/nowhere/sh` does not exist")
    );
    assert_eq!((error("a").exit_code(), error("a").hint()), (127, None));
    assert!(error("b").hint().is_some_and(|hint| hint.contains("Windows")));
}

#[test]
fn a_circle_of_interpreters_ends() {
    let machine = Machine::new();
    machine
        .program("home/bin/a", "#!@/home/bin/b\n")
        .program("home/bin/b", "#!/usr/bin/env a\n");
    assert!(matches!(
        machine.try_find(&["a"]),
        Err(CommandError::TooManyInterpreters { limit: 5, .. })
    ));
    machine.program("home/bin/1", "#!/bin/sh\n");
    for level in 2..=6 {
        machine.program(format!("home/bin/{level}"), &format!("#!@/home/bin/{}\n", level - 1));
    }
    assert!(machine.try_find(&["5"]).is_ok());
    assert!(machine.try_find(&["6"]).is_err());
}

#[test]
fn a_wrapper_that_finds_nothing_speaks_for_itself() {
    let machine = Machine::new();
    for argv in [
        &["env", "nothing-of-that-name"] as &[&str],
        &["timeout", "5", "@/home"],
        &["env", "env", "env", "env", "env", "env", "env"],
    ] {
        assert!(machine.try_find(argv).is_ok(), "{argv:?}");
    }
}

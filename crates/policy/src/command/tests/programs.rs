//! Which files are programs.

use super::*;
use crate::command::installation::{ChosenBy, Installation};

#[test]
fn a_system_program_needs_nothing_more() {
    let machine = Machine::new();
    for argv in [
        &["/bin/true"] as &[&str],
        &["true"],
        &["env", "true"],
        &["sh", "-c", "true"],
    ] {
        let found = machine.find(argv);
        assert!(found.program.is_absolute());
        assert_eq!(
            (found.installation, found.entrypoints, found.variables),
            (vec![], vec![], vec![]),
            "{argv:?}"
        );
    }
}

#[test]
fn what_only_a_shell_does_is_told_with_the_way_to_one() {
    let machine = Machine::new();
    for (typed, hint) in [
        (&["cd", "/tmp"][..], "a shell does `cd` itself: write `sh -c 'cd …'`"),
        (
            &["echo hi > x"][..],
            "for a whole line of the shell, write `sh -c 'echo hi > x'`",
        ),
    ] {
        let error = machine.try_find(typed).expect_err("it isn't a program");
        assert_eq!(error.hint().as_deref(), Some(hint));
    }
}

#[test]
fn only_absolute_directories_of_the_path_are_searched() {
    let mut machine = Machine::new();
    machine
        .program("home/work/root/tool", ELF)
        .program("home/work/root/bin/tool", ELF);
    machine.search_path = ":bin:.::".into();
    let error = machine.try_find(&["tool"]).expect_err("the root isn't searched");
    assert_eq!(error.exit_code(), 127);
    assert_eq!(
        error.hint().as_deref(),
        Some("for the file in the run's root, write `./tool`")
    );
    assert_eq!(machine.find(&["./tool"]).program, machine.path("home/work/root/tool"));
}

#[test]
fn what_can_not_be_executed_says_why() {
    let machine = Machine::new();
    machine
        .file("home/bin/plain", ELF)
        .program("home/bin/text", "echo hello")
        .program("home/bin/empty", "");
    machine.link("home/bin/loop", "loop").link("home/bin/gone", "nowhere");
    nix::unistd::mkfifo(
        &machine.path("home/bin/fifo"),
        nix::sys::stat::Mode::from_bits_truncate(0o755),
    )
    .expect("a FIFO");
    let obstacle = |name: &str| match machine.try_find(&[name]) {
        Err(error @ CommandError::NotExecutable { obstacle, .. }) => {
            assert_eq!(error.exit_code(), 126);
            obstacle
        }
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(obstacle("@/home/bin"), Obstacle::Directory);
    assert_eq!(obstacle("@/home/bin/fifo"), Obstacle::NotRegular);
    assert_eq!(obstacle("/dev/null"), Obstacle::NotRegular);
    assert_eq!(obstacle("@/home/bin/loop"), Obstacle::LinkLoop);
    assert_eq!(obstacle("plain"), Obstacle::Permission);
    assert_eq!(obstacle("text"), Obstacle::Format);
    assert_eq!(obstacle("empty"), Obstacle::Format);
    let gone = machine.try_find(&["@/home/bin/gone"]).expect_err("a dangling link");
    assert_eq!(
        (
            gone.exit_code(),
            gone.hint().is_some_and(|hint| hint.contains("nowhere"))
        ),
        (127, true)
    );
}

#[test]
fn a_program_later_in_the_path_wins_over_one_that_can_not_run() {
    let machine = Machine::new();
    machine.file("home/bin/true", ELF);
    assert_eq!(machine.find(&["true"]).program, Path::new("/usr/bin/true"));
}

#[test]
fn nonsense_is_refused() {
    let machine = Machine::new();
    assert_eq!(machine.try_find(&[]), Err(CommandError::Empty));
    assert_eq!(machine.try_find(&[""]), Err(CommandError::Empty));
    assert_eq!(
        machine.try_find(&["true", "a", "b\0c"]),
        Err(CommandError::Nul { index: 2 })
    );
}

#[test]
fn names_need_not_be_utf8_and_arguments_may_be_many() {
    use std::os::unix::ffi::OsStringExt;
    let machine = Machine::new();
    let name = OsString::from_vec(b"t\xff\xfe.py".to_vec());
    machine.program(Path::new("home/work/root").join(&name), "#!/bin/sh\n");
    let mut argv = vec![OsString::from("python3"), name.clone()];
    argv.resize(10_000, name.clone());
    let found = machine.try_find_os(&argv).expect("a script");
    assert_eq!(found.entrypoints, [machine.path("home/work/root").join(&name)]);
    assert_eq!(found.argv.len(), 10_000);
    let mut direct = OsString::from("./");
    direct.push(&name);
    machine.try_find_os(&[direct]).expect("a program");
}

#[test]
fn a_link_that_takes_the_name_of_a_program_meanwhile_opens_nothing() {
    let machine = Machine::new();
    machine.file("home/private/doc", "");
    machine.link("home/work/root/tool", "@/home/private");
    let (root, home) = (machine.path("home/work/root"), machine.path("home"));
    let tool = root.join("tool");
    let request = Request {
        argv: &[],
        root: &root,
        search_path: None,
        home: Some(&home),
        variable: &|_| None,
        others: None,
        written: &[],
        is_foreign: false,
        script: None,
    };
    let mut installation = Installation::new(&request);
    let found = |real: &Path| program::Program {
        path: tool.clone(),
        real: real.to_owned(),
        head: program::Head::Binary,
    };
    // `real` is the kernel's path of a file, so the file existed.
    installation.add_program(&found(&tool), ChosenBy::User);
    assert_eq!(installation.belongs, []);
    installation.add_program(&found(&machine.path("home/private/doc")), ChosenBy::User);
    assert_eq!(
        installation.belongs.len(),
        1,
        "a program that isn't below the base is granted"
    );
}

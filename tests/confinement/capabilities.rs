//! What a run lacks by its capabilities, whatever its profile grants.

use crate::common::{Probe, STOCKADE, python, run};

const ALL_BUT: [(&str, &str); 3] = [
    ("READ", "WRITE,DELETE,EXECUTE,SPAWN,NET"),
    ("WRITE", "READ,DELETE,EXECUTE,SPAWN,NET"),
    ("DELETE", "READ,WRITE,EXECUTE,SPAWN,NET"),
];

/// The scratch directory, in which all may be done.
const SCRATCH: &str = "s = os.environ.get('TMPDIR', '@HOME')";

fn without(capability: &str) -> Probe {
    let (_, others) = ALL_BUT.iter().find(|(name, _)| *name == capability).unwrap();
    Probe::new()
        .flags(["--cap", others])
        .file("a", "text of a")
        .file("b", "text of b")
        .file("c", "text of c")
        .file("d", "text of d")
        .file("long", &"l".repeat(8192))
        .file("empty", "")
        .file("sub/e", "e")
        .file("gone/x", "x")
        .file("kept/x", "x")
}

// promise: capabilities.1
#[test]
fn without_read_nothing_that_the_profile_grants_is_read() {
    without("READ")
        .attempt("read('a')")
        .attempt("os.listdir('.')")
        .attempt("os.close(os.open('a', os.O_RDWR))")
        .attempt("os.rename('b', 'z')")
        .works("os.close(os.open('c', os.O_WRONLY))")
        .works("os.mkdir('made')")
        .works("read('/etc/passwd')")
        .refused("workspace", "EACCES");
}

// promise: capabilities.2
#[test]
fn without_write_nothing_is_made_or_changed_and_what_is_there_can_be_deleted() {
    without("WRITE")
        .attempt("write('a')")
        .attempt("write('a', 'ab')")
        .attempt("write('new')")
        .attempt("os.mkdir('directory')")
        .attempt("os.symlink('a', 'link')")
        .attempt("os.link('a', 'hard')")
        .attempt("os.truncate('a', 1)")
        .attempt("os.rename('sub', 'moved')")
        .attempt("name = '/tmp/stockade-' + os.urandom(8).hex(); write(name); os.unlink(name)")
        .answers("os.chmod('a', 0o600)", "ok", "EPERM")
        .attempt(&format!("{SCRATCH}; write(s + '/n'); renameat2('b', s + '/n', 2)"))
        .attempt(&format!(
            "{SCRATCH}; os.mkdir(s + '/d'); renameat2('kept', s + '/d', 2)"
        ))
        .attempt(&format!(
            "{SCRATCH}; os.symlink('/etc/passwd', s + '/l'); renameat2('c', s + '/l', 2)"
        ))
        .works("read('a')")
        .works("os.unlink('gone/x')")
        .works("os.rmdir('gone')")
        .works("write(os.environ.get('TMPDIR', '@HOME') + '/own')")
        .refused("workspace", "EACCES");
}

// promise: capabilities.3
#[test]
fn without_delete_nothing_is_removed_moved_away_or_cut() {
    without("DELETE")
        .attempt("os.unlink('d')")
        .attempt("os.unlink('sub/e')")
        .attempt("os.rename('sub', 'moved')")
        .attempt("write('new'); os.rename('new', 'b')")
        .attempt("write('other'); renameat2('other', 'c', 2)")
        .attempt("write('b', 'wb')")
        .attempt("os.close(os.open('b', os.O_RDONLY | os.O_TRUNC))")
        .attempt("os.truncate('b', 0)")
        .attempt("os.truncate('b', 3)")
        .attempt("os.ftruncate(os.open('b', os.O_RDWR), 0)")
        .attempt("os.ftruncate(os.open('b', os.O_RDWR), 3)")
        .attempt(&format!("{SCRATCH}; os.link('b', s + '/b')"))
        .attempt(&format!("{SCRATCH}; write(s + '/n'); renameat2(s + '/n', 'b', 2)"))
        .answers("os.rmdir('gone')", "ENOTEMPTY", "EACCES")
        .answers("call(285, os.open('b', os.O_RDWR), 3, 0, 4)", "ok", "EPERM")
        .answers_if_possible("call(285, os.open('long', os.O_RDWR), 8, 0, 4096)", "ok", "EPERM")
        .works("call(285, os.open('a', os.O_RDWR), 0, 0, 4)")
        .works("os.link('b', 'second')")
        .works("write('a', 'ab')")
        .works("write('fresh')")
        .works("write('empty')")
        .works("os.ftruncate(os.open('a', os.O_RDWR), 100)")
        .works("os.truncate('a', 200)")
        .works("s = os.environ.get('TMPDIR', '@HOME') + '/own'; write(s); write(s); os.unlink(s)")
        .refused("workspace", "EACCES");
}

// promise: capabilities.4
#[test]
fn without_execute_the_command_runs_and_starts_no_other_program() {
    let code = "import os, subprocess, sys\n\
                for start in (lambda: os.execv('/bin/true', ['true']), lambda: subprocess.run([sys.executable, '-c', '']),\n\
                              lambda: os.execv('/proc/self/exe', ['python3', '-c', ''])):\n\
                \x20   try:\n        start()\n        print('started')\n\
                \x20   except PermissionError:\n        print('refused')\n\
                if os.fork() == 0:\n\
                \x20   try:\n        os.execv('/bin/true', ['true'])\n\
                \x20   except PermissionError:\n        os._exit(7)\n\
                print(os.waitstatus_to_exitcode(os.wait()[1]))";
    let of = |capabilities: &str| {
        let run = run().profile("workspace").flags(["--cap", capabilities]);
        run.python(code).any_stderr().any_stdout().ends()
    };
    assert_eq!(of("READ,SPAWN").stdout(), "refused\nrefused\nrefused\n7\n");
    assert_eq!(
        of("READ,SPAWN,EXECUTE").stdout(),
        "",
        "the first one takes the program's place"
    );
}

#[test]
fn without_execute_a_script_and_a_wrapper_still_start_what_they_are_for() {
    let base = || run().profile("workspace").flags(["--cap", "READ"]);
    base().command(["env", "true"]).ends();
    base()
        .program("script", &format!("#!{}\nprint('ran')\n", python()))
        .command(["./script"])
        .stdout("ran\n")
        .ends();
    base()
        .program("script", "#!/usr/bin/env sh\necho ran\n")
        .command(["./script"])
        .stdout("ran\n")
        .ends();
    base()
        .program("script", "#!/usr/bin/env sh\nexec true\n")
        .command(["./script"])
        .status(126)
        .stderr_has("permission denied: EXECUTE capability required")
        .ends();
}

// promise: capabilities.5
#[test]
fn without_spawn_threads_can_be_made_and_processes_cannot() {
    let code = "import os, threading\n\
                t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n\
                try:\n    os.fork()\n    print('forked')\n\
                except PermissionError:\n    print('refused')\n\
                try:\n    os.posix_spawn('/bin/true', ['true'], {})\n    print('spawned')\n\
                except PermissionError:\n    print('refused')";
    let ran = run()
        .profile("workspace")
        .flags(["--cap", "READ,WRITE,DELETE,EXECUTE"])
        .python(code)
        .reporting()
        .stdout("thread\nrefused\nrefused\n")
        .ends();
    let denials = ran.report()["denials"].clone();
    assert_eq!(denials[0]["access"], "spawn", "{denials:#}");
    assert_eq!(denials[0]["capability"], "SPAWN", "{denials:#}");
    assert_eq!(
        denials[0]["rule"]["text"],
        "permission denied: SPAWN capability required"
    );
    run().profile("workspace").python("import os\nos.fork()").ends();
}

// promise: capabilities.6
#[test]
fn without_net_no_host_is_reached_whatever_names_one() {
    let code = "import socket\n\
                try:\n    socket.socket().connect(('127.0.0.1', 9))\n\
                except ConnectionRefusedError:\n    print('made')\n\
                except PermissionError:\n    print('refused')";
    for flags in [
        &["--profile", "mcp-standard", "--cap", "READ,EXECUTE"][..],
        &[
            "--profile",
            "minimal",
            "--host",
            "api.example.com",
            "--listen",
            "0",
            "--cap",
            "READ",
        ],
    ] {
        let ran = run().flags(flags).python(code).reporting().stdout("refused\n").ends();
        let denial = ran.report()["denials"][0].clone();
        assert_eq!(denial["capability"], "NET", "{denial:#}");
    }
    run().profile("mcp-standard").python(code).stdout("made\n").ends();
}

#[test]
fn a_refusal_names_the_capability_that_is_missing_and_no_flag() {
    run()
        .profile("workspace")
        .flags(["--cap", "READ,EXECUTE,SPAWN"])
        .command(["touch", "new"])
        .status(1)
        .stderr_has("was refused creating `@ROOT/new` (permission denied: WRITE capability required")
        .ends();
    run()
        .flags(["--cap", "RED"])
        .status(125)
        .stderr_has("`RED` isn't a capability")
        .ends();
}

#[test]
fn a_run_inside_has_what_both_it_and_the_run_around_it_have() {
    let inner = |capabilities: &str| {
        format!(
            "{STOCKADE} run --ask never --exec {STOCKADE} --profile workspace --cap {capabilities} -- sh -c 'cat a && \
             echo x > new'"
        )
    };
    let outer = |capabilities: &str, inner: String| {
        run()
            .profile("workspace")
            .flags(["--exec", STOCKADE.path(), "--cap", capabilities])
            .file("a", "text\n")
            .bash(&format!("{inner}; ls"))
            .any_stderr()
            .any_stdout()
            .ends()
            .stdout()
    };
    let all = "READ,WRITE,DELETE,EXECUTE,SPAWN";
    let reading = "READ,EXECUTE,SPAWN";
    assert_eq!(outer(all, inner(all)), "text\na\nnew\n");
    assert_eq!(outer(reading, inner(all)), "text\na\n");
    assert_eq!(outer(all, inner(reading)), "text\na\n");
    assert_eq!(outer(all, inner("WRITE,EXECUTE,SPAWN")), "a\n");
    run()
        .profile("workspace")
        .flags(["--exec", STOCKADE.path()])
        .file("a", "text\n")
        .bash(&inner(reading))
        .status(2)
        .stdout("text\n")
        .stderr_has("permission denied: WRITE capability required")
        .ends();
}

//! Grants by flag do what they say, no more, and are refused where they can't be held.

use crate::common::{Probe, run};

#[test]
fn read_opens_one_path_and_not_its_neighbour() {
    Probe::new()
        .file("notes.txt", "n")
        .file("other.txt", "o")
        .file("tree/a", "a")
        .file("tree/.env", "e")
        .flags(["--read", "@ROOT/notes.txt", "--read", "@ROOT/tree"])
        .works("read('notes.txt')")
        .works("read('tree/a')")
        .attempt("read('other.txt')")
        .attempt("read('tree/.env')")
        .attempt("write('notes.txt')")
        .attempt("write('tree/new')")
        .refused("minimal", "EACCES");
}

#[test]
fn a_relative_path_of_a_flag_is_the_callers_directory() {
    let begun = run().file("notes.txt", "read me");
    begun
        .flags(["--read", "notes.txt"])
        .command(["cat", "notes.txt"])
        .stdout("read me")
        .ends();
}

#[test]
fn write_opens_its_tree_and_nothing_beside_it() {
    Probe::new()
        .file("out/old", "")
        .file("beside/x", "")
        .flags(["--write", "@ROOT/out"])
        .works("write('out/new'); os.rename('out/new', 'out/moved'); os.unlink('out/old')")
        .works("os.mkdir('out/d'); os.rmdir('out/d')")
        .attempt("write('beside/x')")
        .attempt("write('new')")
        .attempt("read('beside/x')")
        .refused("minimal", "EACCES");
}

/// Landlock's rules belong to the directory, not to its name.
#[test]
fn a_granted_directory_is_made_anew_in_the_root_and_elsewhere_stays_where_it_is() {
    let make = "&& echo x > out/a && mkdir out/b && mv out/a out/b/c && cat out/b/c && rm -r out";
    for profile in ["minimal", "readonly", "filesystem"] {
        run()
            .file("out/old", "")
            .bash(&format!("rm -r out && mkdir out {make} && mkdir out {make}"))
            .profile(profile)
            .flags(["--write", "./out"])
            .stdout("x\nx\n")
            .ends();
    }
    let again = |code: &str| {
        run()
            .file("here/.keep", "")
            .file("out/old", "")
            .file("one.txt", "")
            .bash(code)
            .profile("minimal")
            .without_root()
            .flags(["--root", "./here"])
    };
    for code in [
        "rm -r ../out",
        "mv ../out ../out2",
        "rm ../one.txt; ln -s / ../one.txt",
        "ln -s / ../new",
    ] {
        again(code)
            .flags(["--write", "./out", "--write", "./one.txt", "--write", "./new"])
            .status(1)
            .stderr_has("the top of what is granted stays where it is")
            .stderr_has("a grant of the directory above allows it: `--write ")
            .any_stderr()
            .ends();
    }
    // With a grant of the directory above, and where it wasn't there before, it may go.
    again("rm -r ../out && mkdir ../out && echo x > ../out/new")
        .flags(["--write", "."])
        .ends();
    again("mkdir ../new && rm -r ../new && mkdir ../new && echo x > ../new/a")
        .flags(["--write", "./new"])
        .any_stderr()
        .ends();
}

#[test]
fn exec_lets_a_tree_be_executed() {
    let tool = "subprocess.check_call(['@ROOT/tools/tool'])";
    let probe = || Probe::new().program("tools/tool", "#!/bin/sh\nexit 0\n");
    probe().attempt(tool).refused("minimal", "EACCES");
    probe()
        .flags(["--exec", "@ROOT/tools"])
        .works(tool)
        .attempt("write('tools/tool')")
        .refused("minimal", "EACCES");
}

#[test]
fn env_passes_a_variable_and_sets_one() {
    run()
        .variable("PASSED", "from outside")
        .variable("KEPT_BACK", "1")
        .flags([
            "--env", "PASSED", "--env", "SET=a=b", "--env", "EMPTY=", "--env", "ABSENT",
        ])
        .command([
            "sh",
            "-c",
            "echo \"$PASSED/$SET/${EMPTY-unset}/${ABSENT-unset}/${KEPT_BACK-unset}\"",
        ])
        .stdout("from outside/a=b//unset/unset\n")
        .stderr("stockade: `--env` names variables that aren't set here: ABSENT\n")
        .ends();
}

// promise: caller.4
#[test]
fn env_never_passes_what_steers_the_loader() {
    for name in ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "GCONV_PATH"] {
        run()
            .flags(["--env", &format!("{name}=/x")])
            .status(125)
            .stderr_has(&format!("stockade: `{name}` can't be passed to a run"))
            .ends();
    }
}

// promise: files.14
#[test]
fn deny_closes_a_part_of_what_is_granted() {
    Probe::new()
        .file("data/open", "o")
        .file("data/private/x", "p")
        .file("data/a.bak", "b")
        .flags(["--deny", "./data/private/**", "--deny", "**/*.bak"])
        .works("read('data/open')")
        .attempt("read('data/private/x')")
        .attempt("read('data/a.bak')")
        .refused("readonly", "EACCES");
}

#[test]
fn deny_closes_what_a_pattern_means_with_empty_components_or_dots_in_it() {
    let reads = |flags: &[&str], status: i32| {
        let reads = run()
            .profile("workspace")
            .file("t/key", "x")
            .flags(flags)
            .command(["cat", "t/key"]);
        reads.any_stdout().any_stderr().status(status).ends();
    };
    reads(&[], 0);
    for pattern in [
        ".//t",
        "**/t/",
        "./t*/",
        "**//key",
        "./t/./**",
        "./t//**",
        "**/./t",
        "//var/tmp//**/./t/**",
    ] {
        reads(&["--deny", pattern], 1);
    }
}

#[test]
fn deny_closes_a_part_of_the_base_or_the_run_is_refused() {
    let code = "open('/etc/passwd').close(); print('open')";
    run().python(code).stdout("open\n").ends();
    let process = run().flags(["--deny", "/etc/passwd"]).python(code);
    let finished = crate::common::finish(&mut process.process(), b"");
    assert_ne!(
        finished.stdout(),
        "open\n",
        "`--deny /etc/passwd` was dropped without a word"
    );
}

// promise: secrets.15
#[test]
fn a_flag_that_grants_a_secret_is_refused() {
    let refused = |begun: crate::common::Run, flag: &str, path: &str| {
        begun
            .flags([flag, path])
            .status(125)
            .stderr_has("grants nothing")
            .stderr_has("is a secret")
            .ends();
    };
    refused(run().file("~/.ssh/id_x", "k"), "--read", "@HOME/.ssh");
    refused(run().file("~/.ssh/id_x", "k"), "--read", "@HOME/.ssh/id_x");
    refused(run().file(".env", "k"), "--read", "@ROOT/.env");
    refused(run().file("~/.aws/credentials", "k"), "--exec", "@HOME/.aws");
}

#[test]
fn a_link_is_no_way_round_a_secret() {
    let begun = run().file("~/.ssh/id_x", "k");
    std::os::unix::fs::symlink(begun.place.path("~/.ssh"), begun.place.path("~/harmless")).unwrap();
    begun
        .flags(["--read", "@HOME/harmless"])
        .status(125)
        .stderr_has("is a secret")
        .ends();
}

/// A later run would find another one there.
#[test]
fn the_root_is_not_removed_whatever_grants_it() {
    let own = "version = 1\nname = \"own\"\ndescription = \"d\"\nextends = \"minimal\"\n\
               [[write]]\npath = \"./\"\nwhy = \"w\"\n";
    for profile in ["workspace", "./own.toml"] {
        run()
            .file("own.toml", own)
            .bash("cd /; rmdir \"$OLDPWD\"")
            .profile(profile)
            .status(1)
            .stderr_has("the top of what is granted stays where it is")
            .any_stderr()
            .ends();
    }
}

//! What a person is told who uses a flag for the first time, or wrongly.

use crate::common::{Place, STOCKADE, finish, run, skipped};

#[test]
fn no_grant_is_suggested_for_a_port_that_the_kernel_keeps() {
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").unwrap();
    if first.trim() != "1024" {
        skipped("the kernel keeps other ports than usual");
        return;
    }
    for flags in [&[][..], &["--listen", "8081"]] {
        run()
            .flags(["--ask", "never"])
            .flags(flags)
            .python("import socket\nsocket.socket().bind(('127.0.0.1', 80))")
            .status(1)
            .stderr_has("the kernel keeps the lowest ports for the administrator")
            .stderr_has("hint: let it listen on a port from 1024 on, as with `--listen 8080`")
            .ends();
    }
}

#[test]
fn a_limit_that_a_run_failed_on_is_named_with_its_flag() {
    run()
        .flags(["--process-limit", "4"])
        .python(
            "import os\nfor _ in range(9):\n  if os.fork() == 0:\n    import time\n    time.sleep(1)\n    os._exit(0)",
        )
        .status(1)
        .stderr_has("the run had as many processes and threads as its limit allows")
        .stderr_has("hint: `--process-limit COUNT` sets it")
        .ends();
    let writes = "head -c 3000000 /dev/zero >x; exit $?";
    let run_past = |flag: &str| {
        run()
            .profile("workspace")
            .flags([flag, "1M"])
            .command(["bash", "-c", writes])
    };
    run_past("--file-size-limit")
        .status(153)
        .stderr_has("a program was probably ended by SIGXFSZ")
        .stderr_has("hint: `--file-size-limit` sets it for each file, `--disk-limit` for all together")
        .ends();
    // Where it is seen in time, the whole run is ended.
    run_past("--disk-limit")
        .any_status()
        .stderr_has("`--disk-limit`")
        .ends();
    // What got along without is no failure.
    run()
        .flags(["--process-limit", "2"])
        .python("import os\ntry:\n  for _ in range(9): os.fork() or os._exit(0)\nexcept OSError: pass")
        .ends();
}

#[test]
fn each_of_two_refused_files_is_named() {
    run()
        .file("a.txt", "a")
        .file("b.txt", "b")
        .bash("cat a.txt; cat b.txt")
        .status(1)
        .stderr_has("1 more: reading")
        .stderr_has("`--read @ROOT/a.txt`\n")
        .stderr_has("hint: to allow it: `--read @ROOT/b.txt`")
        .ends();
}

#[test]
fn an_empty_list_says_so_on_standard_error() {
    let place = Place::new();
    for (words, said) in [
        (&["grant", "list"][..], "there is no permanent grant"),
        (&["cache", "list"], "there is no cache"),
        (&["trust", "--list"], "there is no trusted project"),
        (&["script", "list"], "there is no script that `exec` remembers"),
        (&["audit", "list"], "there is no record in the audit trail"),
    ] {
        let listed = finish(place.command(STOCKADE).args(words), b"");
        let expected = (Some(0), String::new(), format!("stockade: {said}\n"));
        assert_eq!(
            (listed.status.code(), listed.stdout(), listed.stderr()),
            expected,
            "{words:?}"
        );
        let as_json = finish(place.command(STOCKADE).args(words).arg("--json"), b"");
        assert_eq!(
            (as_json.stdout(), as_json.stderr()),
            (String::new(), String::new()),
            "{words:?}"
        );
    }
}

#[test]
fn infer_names_what_exec_leaves_out() {
    let place = Place::new();
    place.file("data/a.csv", "1");
    let script = place.file("s.py", "print(open('data/a.csv').read())\n");
    std::fs::create_dir(place.path("other")).unwrap();
    let infers = |root: &str| {
        let words = ["infer", script.to_str().unwrap(), "--root", root];
        finish(place.command(STOCKADE).args(words), b"").stdout()
    };
    let here = infers(".");
    assert!(
        here.starts_with("minimal --read ./data/a.csv (0.95; by a profile alone: readonly)\n"),
        "{here}"
    );
    assert!(!here.contains("the rest"), "{here}");
    let elsewhere = infers("other");
    assert!(
        elsewhere.starts_with("minimal (0.95; by a profile alone: readonly)\n"),
        "{elsewhere}"
    );
    assert!(
        elsewhere.ends_with("`stockade exec` asks for the rest: reading ./data/a.csv (`--read ./data/a.csv`)\n"),
        "{elsewhere}"
    );
}

/// No program waits for a variable.
#[test]
fn a_variable_that_is_not_passed_is_lacking() {
    let place = Place::new();
    place.file("s.py", "import os\nprint(os.environ['API_TOKEN'])\n");
    let infers = finish(place.command(STOCKADE).args(["infer", "s.py"]), b"").stdout();
    assert!(
        infers.contains("`stockade exec` lacks variable API_TOKEN (only by `--env API_TOKEN`)\n"),
        "{infers}"
    );
}

#[test]
fn timeout_is_the_time_limit() {
    run()
        .flags(["--timeout", "200ms"])
        .command(["sleep", "60"])
        .status(124)
        .stderr("stockade: the run was ended past its time limit (`--time-limit`)\n")
        .ends();
}

#[test]
fn a_path_that_the_shell_left_as_it_was_is_told() {
    run()
        .flags(["--read", "~/notes", "--write", "./*.csv", "--exec", "./absent"])
        .stderr(
            "stockade: `~/notes` doesn't exist: the shell didn't expand its `~`, as in quotes or after `=`; `$HOME` works \
             there\n\
             stockade: `./*.csv` doesn't exist: `--write` takes no patterns; name a directory, or each file with a `--write` \
             of its own\n\
             stockade: `./absent` doesn't exist yet\n",
        )
        .ends();
}

#[test]
fn a_variable_that_isnt_set_here_is_told() {
    run()
        .variable("HERE", "")
        .flags([
            "--env", "NOWHERE", "--env", "HERE", "--env", "NOTHING", "--env", "GIVEN=x",
        ])
        .stderr("stockade: `--env` names variables that aren't set here: NOWHERE, NOTHING\n")
        .ends();
}

#[test]
fn a_program_without_a_place_for_temporary_files_is_told_a_profile_with_one() {
    let code = "import tempfile; print(len(tempfile.mkstemp()))";
    run()
        .python(code)
        .status(1)
        .stderr_has("hint: it needs a temporary directory")
        .ends();
    run().profile("readonly").python(code).stdout("2\n").ends();
}

#[test]
fn a_file_of_a_profiles_name_is_named_in_the_hint() {
    let place = Place::new();
    place.file(
        "pipeline.toml",
        "version = 1\nname = \"pipeline\"\ndescription = \"x\"\n",
    );
    let refused = finish(
        place.command(STOCKADE).args(["run", "--profile", "pipeline", "true"]),
        b"",
    );
    assert_eq!(
        refused.stderr(),
        "stockade: no profile is called `pipeline`\n\n\
         hint: a profile's file is named by its path: `--profile ./pipeline.toml`\n"
    );
}

#[test]
fn a_file_with_a_shipped_profiles_name_is_named_with_the_way_to_rename_it() {
    let text = "version = 1\nname = \"readonly\"\ndescription = \"x\"\n";
    run()
        .file("~/.config/stockade/profiles/readonly.toml", text)
        .profile("readonly")
        .status(125)
        .stderr(
            "stockade: `@HOME/.config/stockade/profiles/readonly.toml` has the name of the shipped profile `readonly`\n\n\
             hint: rename it: `mv @HOME/.config/stockade/profiles/readonly.toml \
             @HOME/.config/stockade/profiles/my-readonly.toml`, and write `name = \"my-readonly\"` in it; it may say \
             `extends = \"readonly\"`\n",
        )
        .ends();
    run()
        .file("~/.config/stockade/profiles/readonly.toml", text)
        .profile("workspace")
        .ends();
}

#[test]
fn a_flag_behind_the_command_is_told_where_the_run_fails() {
    const NOTE: &str =
        "`--profile` after the command was the command's own; flags of Stockade stand before the command\n";
    let place = Place::new();
    let said = |words: &[&str]| finish(place.command(STOCKADE).arg("run").args(words), b"").stderr();
    assert_eq!(
        said(&["sh", "-c", "exit 3", "sh", "--profile", "readonly"]),
        format!("stockade: {NOTE}")
    );
    assert_eq!(said(&["sh", "-c", "exit 0", "sh", "--profile", "readonly"]), "");
    assert_eq!(said(&["--", "sh", "-c", "exit 3", "sh", "--profile", "readonly"]), "");
    assert_eq!(said(&["sh", "-c", "exit 3", "sh", "--color"]), "");
}

#[test]
fn a_granted_host_without_an_address_is_said() {
    run()
        .profile("workspace")
        .flags(["--ask", "never", "--host", "no-such-host.invalid"])
        .python("import socket\nsocket.create_connection(('no-such-host.invalid', 443))")
        .status(1)
        .stderr_has("host `no-such-host.invalid` is granted, but has no address")
        .stderr_has("`getent hosts no-such-host.invalid`")
        .ends();
}

#[test]
fn git_that_would_add_a_secret_is_told_to_leave_it_out() {
    let made = run();
    let git = |words: &[&str]| finish(made.place.command("git").args(words), b"");
    assert_eq!(git(&["init", "-q", "."]).status.code(), Some(0));
    made.place.file(".env", "A=1\n");
    made.place.file("a.txt", "a\n");
    let add = || {
        let mut command = made.place.command(STOCKADE);
        command.args(["run", "--profile", "workspace", "--", "git", "add", "-A"]);
        command.output().unwrap().stderr
    };
    let said = String::from_utf8(add()).unwrap();
    let (_, own) = said.split_once("stockade: ").unwrap();
    assert!(
        own.ends_with("hint: add `.env` to `.gitignore`: git leaves it out then\n"),
        "{own}"
    );
    assert!(
        own.contains("`stockade explain` tells more") && own.lines().count() <= 5,
        "{own}"
    );
    made.place.file(".gitignore", ".env\n");
    assert_eq!(add(), b"");
    assert!(git(&["ls-files"]).stdout().contains("a.txt"));
}

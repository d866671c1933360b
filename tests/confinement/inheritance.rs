//! What a run gets from its caller: three streams, a rebuilt environment, a directory, a umask. Nothing else.

use crate::common::{finish, python, run, skipped};

// promise: caller.1
#[test]
fn no_descriptor_above_two_is_inherited() {
    let code = "import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd')))";
    let open = "exec 7</etc/passwd 9>>@HOME/log 200</etc";
    let begun = run().after(open).python(code);
    let mut unconfined = begun.place.command("bash");
    unconfined.args(["-c", &format!("{}\nexec \"$@\"", begun.place.fill(open)), "bash"]);
    unconfined.args([python(), "-I", "-c", code]);
    let inherited = finish(&mut unconfined, b"").stdout();
    for number in [" 7,", " 9,", " 200"] {
        assert!(inherited.contains(number), "{inherited} lacks{number}");
    }
    // 3 is the listing itself.
    begun.stdout("[0, 1, 2, 3]\n").ends();
}

// promise: caller.2
#[test]
fn the_environment_is_rebuilt() {
    let code = "import os\nfor name in sorted(os.environ): print(name)";
    run()
        .variable("SECRET_TOKEN", "x")
        .variable("AWS_SECRET_ACCESS_KEY", "x")
        .variable("LD_LIBRARY_PATH", "/x")
        .variable("PYTHONPATH", "/x")
        .variable("SSH_AUTH_SOCK", "/x")
        .variable("BASH_ENV", "/x")
        .variable("USER", "somebody")
        .variable("TZ", "UTC")
        .variable("LC_ALL", "C.UTF-8")
        .python(code)
        .stdout(
            "CARGO_NET_RETRY\nHOME\nLANG\nLC_ALL\nLD_PRELOAD\nPATH\nPIP_RETRIES\nTMPDIR\nTZ\nUV_HTTP_RETRIES\n\
             npm_config_fetch_retries\n",
        )
        .ends();
}

// promise: caller.3
#[test]
fn wide_profiles_pass_no_secret_variable() {
    let code = "import os; print([n for n in ('PLAIN', 'SECRET_TOKEN', 'MY_API_KEY', 'DB_PASSWORD', 'LD_PRELOAD',\n\
                'SSH_AUTH_SOCK', 'GITHUB_PAT', 'DBPASS', 'OPTIONS', 'LS_COLORS', 'HARMLESS') if n in os.environ])";
    let token = "ghp_0123456789abcdefghij0123456789abcdef";
    for (flags, printed) in [
        (&[][..], "['PLAIN', 'LS_COLORS']\n"),
        (&["--env", "HARMLESS"], "['PLAIN', 'LS_COLORS', 'HARMLESS']\n"),
    ] {
        run()
            .profile("trusted")
            .flags(flags)
            .variable("PLAIN", "1")
            .variable("HARMLESS", token)
            .variable("SECRET_TOKEN", "x")
            .variable("MY_API_KEY", "x")
            .variable("DB_PASSWORD", "x")
            .variable("SSH_AUTH_SOCK", "x")
            .variable("GITHUB_PAT", "x")
            .variable("DBPASS", "x")
            .variable("OPTIONS", "--user x --password hunter22")
            .variable("LS_COLORS", "*.key=01;31")
            .variable("LD_PRELOAD", "")
            .python(code)
            .stdout(printed)
            .ends();
    }
}

// promise: caller.3
#[test]
fn a_token_passes_under_no_name_that_a_profile_passes() {
    let token = "ghp_0123456789abcdefghij0123456789abcdef";
    for profile in ["minimal", "mcp-standard", "trusted"] {
        run()
            .profile(profile)
            .variable("TZ", token)
            .variable("LANG", "C.UTF-8")
            .variable("EDITOR", format!("vi --key={token}"))
            .python("import os; print([n for n in ('TZ', 'LANG', 'EDITOR') if n in os.environ])")
            .stdout("['LANG']\n")
            .ends();
    }
}

#[test]
fn the_search_path_names_nothing_of_the_home() {
    let begun = run().program("~/bin/tool", "#!/bin/sh\n");
    let path = begun.place.fill("@HOME/bin:.:bin::/usr/bin:@HOME/.local/bin:/bin");
    begun
        .variable("PATH", path)
        .command(["/bin/sh", "-c", "echo $PATH"])
        .stdout("/usr/bin:/bin\n")
        .ends();
}

#[test]
fn the_run_starts_in_its_root() {
    run().command(["/bin/sh", "-c", "pwd -P"]).stdout("@ROOT\n").ends();
}

#[test]
fn streams_pass_through_untouched() {
    run()
        .command(["/bin/sh", "-c", "cat; echo to-stderr >&2"])
        .input("to-stdout\n")
        .stdout("to-stdout\n")
        .stderr("to-stderr\n")
        .ends();
}

#[test]
fn the_streams_are_the_callers_own_files() {
    // Not pipes through the launcher: the very same file, at the very same offset.
    let begun = run().after("exec >@HOME/out; echo first").command(["echo", "second"]);
    let ran = begun.ends();
    assert_eq!(
        std::fs::read_to_string(ran.place.path("~/out")).unwrap(),
        "first\nsecond\n"
    );
}

#[test]
fn core_dumps_are_off() {
    let before = "ulimit -c unlimited 2>/dev/null || ulimit -c $(ulimit -Hc)";
    let begun = run()
        .after(before)
        .python("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))");
    let mut unconfined = begun.place.command("bash");
    unconfined.args(["-c", &format!("{before}; ulimit -c")]);
    if finish(&mut unconfined, b"").stdout() == "0\n" {
        skipped("core dumps are off for all that this user starts");
    }
    begun.stdout("(0, 0)\n").ends();
}

#[test]
fn the_umask_is_kept() {
    run()
        .after("umask 027")
        .command(["/bin/sh", "-c", "umask"])
        .stdout("0027\n")
        .ends();
}

#[test]
fn signals_are_as_the_caller_had_them() {
    // Rust's runtime ignores SIGPIPE for itself; `nohup` ignores SIGHUP for the program.
    for before in ["true", "trap '' HUP", "trap '' INT USR1", "trap '' PIPE"] {
        let question = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
        let begun = run()
            .after(before)
            .command(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]);
        let mut unconfined = begun.place.command("bash");
        unconfined.args(["-c", &format!("{before}; exec {question}")]);
        let expected = finish(&mut unconfined, b"").stdout();
        begun.stdout(&expected).ends();
    }
}

//! Real programs: what they try at their start, and what they fail on.

use super::*;

/// The files that Python tries before the first line of a script, each name in many directories.
fn python_starts(mut run: Run) -> Run {
    for index in 0..100 {
        run = run
            .misses(&format!("/home/ada/project/lib{index}/__init__.py"))
            .misses(&format!("/home/ada/.local/lib/python3.12/site-packages/m{index}.py"));
    }
    for index in 0..100 {
        run = run.tries(Kind::Read, &format!("/opt/more/site-packages/a{index}.pth"));
    }
    run.lists(ROOT)
        .lists("/home/ada")
        .lists("/")
        .tries(Kind::Read, "/home/ada/project/pyvenv.cfg")
        .tries(Kind::Create, "/home/ada/project/__pycache__")
        .tries(Kind::Read, "/proc/1/cgroup")
        .tries(Kind::Syscall, "io_uring_setup")
}

#[test]
fn python_that_fails_on_one_file_after_300_probes() {
    let begun = python_starts(run(&["python3", "fetch.py"])).tries(Kind::Read, "/etc/hosts");
    let error = "Traceback (most recent call last):\n  File \"fetch.py\", line 1, in <module>\n\
                 PermissionError: [Errno 13] Permission denied: '/etc/hosts'\n";
    let report = begun.says(error).judged();
    assert_eq!(explaining(&report), ["/etc/hosts"]);
    assert_eq!(report.denials[0].target, "/etc/hosts");
    assert!(report.denials.len() > 300);
    assert_eq!(report.status, Status::PermissionDenied);
    assert_eq!(flags(&report), "--read /etc/hosts");
    let suggested = report.suggestion.unwrap().profile;
    assert_eq!(suggested.as_deref(), Some("mcp-standard"));
}

#[test]
fn what_run_times_try_every_time_is_told_as_such_and_never_listed() {
    let report = python_starts(run(&["python3", "fetch.py"])).judged();
    assert_eq!((explaining(&report).len(), perhaps(&report).len()), (0, 0));
    assert_eq!(report.suggestion, None);
    let is_usual = |target: &str| {
        report
            .denials
            .iter()
            .any(|denial| denial.target == target && denial.usual)
    };
    assert!(is_usual("/proc/1/cgroup") && is_usual("io_uring_setup") && is_usual(ROOT));
}

#[test]
fn the_directory_of_a_script_is_no_reason_unless_the_script_lists_it_or_a_module_is_missing() {
    let ends = |directory: &str, error: &str| {
        let script = format!("{directory}/script.py");
        let traceback = format!("Traceback (most recent call last):\n  File \"{script}\", line 1, in <module>\n");
        let run = run(&["/usr/bin/python3", &script, "--all"]).lists(directory);
        run.says(&format!("{traceback}{error}\n")).judged()
    };
    let missing = "ModuleNotFoundError: No module named 'nope'";
    for (directory, error) in [("/run/stockade-code-1a2b", missing), ("/srv/code", "ValueError: 5")] {
        let report = ends(directory, error);
        assert_eq!((explaining(&report).len(), perhaps(&report).len()), (0, 0), "{error}");
        assert!(report.denials[0].usual);
    }
    // It may stand beside the script.
    assert_eq!(perhaps(&ends("/srv/code", missing)), ["/srv/code"]);
    let listed = "PermissionError: [Errno 13] Permission denied: '/srv/code'";
    assert_eq!(explaining(&ends("/srv/code", listed)), ["/srv/code"]);
}

#[test]
fn package_managers_that_tell_of_a_fault_of_their_own_list_no_noise() {
    let npm = |words: &str| {
        let run = run(&["npm", "test"]).by("/usr/bin/node");
        perhaps(
            &run.tries(Kind::Resolve, "registry.npmjs.org")
                .goes_on()
                .says(words)
                .judged(),
        )
        .len()
    };
    assert_eq!(npm("npm error code ENOENT\nnpm error path /r/package.json\n"), 0);
    assert_eq!(npm("npm error Missing script: \"test\"\n"), 0);
    assert_eq!(
        npm("npm error code ETIMEDOUT\nnpm error network It is a problem of the network\n"),
        1
    );
    assert_eq!(npm(""), 1);
    let look = Refusal {
        syscall: "access".into(),
        ..refusal(Kind::Write, "/opt/python/lib/site-packages")
    };
    let pip = run(&["pip", "install", "x"]).lists("/etc").refused(look).goes_on();
    let report = pip
        .tries(Kind::Listen, "127.0.0.1:0")
        .says("ERROR: No matching distribution found for x\n")
        .judged();
    assert_eq!(perhaps(&report), [""; 0]);
    let ls = run(&["ls"]).by("/usr/bin/ls").lists("/etc").judged();
    assert_eq!(perhaps(&ls), ["/etc"]);
}

#[test]
fn a_silent_end_lists_what_may_be_the_reason() {
    let report = python_starts(run(&["python3", "fetch.py"]))
        .tries(Kind::Read, "/srv/settings.toml")
        .goes_on()
        .tries(Kind::Create, "/srv/out/result")
        .judged();
    assert_eq!(perhaps(&report), ["/srv/out/result", "/srv/settings.toml"]);
    assert_eq!(report.status, Status::Completed);
    let suggestion = report.suggestion.unwrap();
    assert!(suggestion.flags.is_empty() && suggestion.profile.is_none());
    let candidates = suggestion
        .candidates
        .iter()
        .map(|candidate| candidate.flags.join(" ".as_ref()));
    let candidates: Vec<_> = candidates.collect();
    assert_eq!(candidates, ["--write /srv/out/result", "--read /srv/settings.toml"]);
}

#[test]
fn an_error_of_its_own_leaves_a_list() {
    for text in [
        "AssertionError: 3 is not 4\n",
        "KeyError: 'server'\n",
        "nothing found in here\n",
    ] {
        let begun = run(&["python3", "x.py"]).tries(Kind::Read, "/srv/settings.toml");
        let report = begun.says(text).judged();
        assert_eq!(
            (explaining(&report).len(), perhaps(&report)),
            (0, vec!["/srv/settings.toml"]),
            "{text}"
        );
    }
}

#[test]
fn a_file_that_the_last_words_name_comes_before_later_ones() {
    let report = run(&["python3", "fetch.py"])
        .tries(Kind::Read, "/srv/data/a.csv")
        .tries(Kind::Create, "/var/log/fetch.log")
        .tries(Kind::Read, "/srv/other/b.csv")
        .fails_on("/srv/data/a.csv")
        .judged();
    assert_eq!(report.denials[0].target, "/srv/data/a.csv");
    assert_eq!(explaining(&report), ["/srv/data/a.csv"]);
}

#[test]
fn a_warning_is_no_reason_and_comes_last() {
    let report = run(&["cc", "x.c"])
        .tries(Kind::Read, "/srv/a.cfg")
        .says("warning: /srv/a.cfg: Permission denied, using the default\n")
        .goes_on()
        .tries(Kind::Read, "/srv/b.h")
        .goes_on()
        .judged();
    assert_eq!(
        (explaining(&report).len(), perhaps(&report)),
        (0, vec!["/srv/b.h", "/srv/a.cfg"])
    );
}

#[test]
fn who_goes_on_after_naming_it_copes_with_it_perhaps() {
    let begun = || run(&["sh", "x.sh"]).tries(Kind::Read, "/srv/a").fails_on("/srv/a");
    assert_eq!(explaining(&begun().judged()), ["/srv/a"]);
    let report = begun().goes_on().judged();
    assert_eq!((explaining(&report).len(), perhaps(&report)), (0, vec!["/srv/a"]));
    let made = begun().says("make: *** [Makefile:4: all] Error 1\n").judged();
    assert_eq!(explaining(&made), ["/srv/a"]);
}

#[test]
fn pieces_of_one_process_are_one_line() {
    let report = run(&["sh", "x.sh"])
        .tries(Kind::Read, "/srv/a")
        .says("cat: ")
        .of(FIRST + 1)
        .says("working\n")
        .of(FIRST)
        .says("/srv/a")
        .says(": Permission denied\n")
        .judged();
    assert_eq!(explaining(&report), ["/srv/a"]);
}

#[test]
fn a_name_on_the_command_line_is_no_probe() {
    let report = run(&["cat", "/proc/1/cgroup"])
        .by("/usr/bin/cat")
        .tries(Kind::Read, "/proc/1/cgroup")
        .judged();
    assert_eq!(perhaps(&report), ["/proc/1/cgroup"]);
    let report = run(&["sh", "-c", "ls /home/ada && echo yes"])
        .by("/usr/bin/ls")
        .lists("/home/ada")
        .fails_on("/home/ada")
        .judged();
    assert_eq!(explaining(&report), ["/home/ada"]);
    assert_eq!(flags(&report), "", "a whole home is never suggested");
}

#[test]
fn node_that_cannot_write_its_result() {
    let report = run(&["node", "build.js"])
        .by("/usr/bin/node")
        .tries(Kind::Read, "/proc/4711/cgroup")
        .tries(Kind::Read, "/sys/fs/cgroup/memory.max")
        .tries(Kind::Read, "/home/ada/package.json")
        .tries(Kind::Syscall, "io_uring_setup")
        .tries(Kind::Create, "/home/ada/project/dist")
        .says(
            "Error: EACCES: permission denied, mkdir 'dist'\n    at Object.mkdirSync (node:fs:1349:26)\n\
             \x20   at Module._compile (node:internal:1521:14) {\n  errno: -13,\n  code: 'EACCES',\n  syscall: 'mkdir',\n\
             \x20 path: 'dist'\n}\n\nNode.js v20.20.2\n",
        )
        .judged();
    assert_eq!(explaining(&report), ["/home/ada/project/dist"]);
    assert_eq!(flags(&report), "--write /home/ada/project/dist");
    assert_eq!(report.suggestion.unwrap().profile.as_deref(), Some("workspace"));
}

#[test]
fn git_needs_its_whole_directory() {
    let lock = "/home/ada/project/.git/index.lock";
    let report = run(&["git", "commit", "-m", "x"])
        .profile("filesystem")
        .by("/usr/bin/git")
        .tries(Kind::Read, "/home/ada/.config/git/ignore")
        .lists("/home/ada")
        .tries(Kind::Create, lock)
        .exits(128)
        .says(&format!("fatal: Unable to create '{lock}': Permission denied\n"))
        .judged();
    assert_eq!(explaining(&report), [lock]);
    assert_eq!(flags(&report), "--write /home/ada/project/.git");
    assert_eq!(report.suggestion.unwrap().profile.as_deref(), Some("workspace"));
}

#[test]
fn sqlite_makes_journals_beside_its_database() {
    for file in ["/srv/app/shop.db", "/srv/app/shop.db-journal", "/srv/app/x.sqlite3-wal"] {
        let report = run(&["python3", "shop.py"])
            .tries(Kind::Create, file)
            .fails_on(file)
            .judged();
        assert_eq!(explaining(&report), [file]);
        assert_eq!(flags(&report), "--write /srv/app", "{file}");
    }
    let begun = run(&["python3", "shop.py"]).tries(Kind::Write, "/home/ada/shop.db");
    assert_eq!(
        flags(&begun.fails_on("shop.db").judged()),
        "--write /home/ada/shop.db",
        "never the home"
    );
}

#[test]
fn a_temporary_file_beside_the_one_that_it_replaces_is_granted_with_the_directory() {
    let report = run(&["python3", "x.py"])
        .tries(Kind::Write, "/srv/out/result.json")
        .tries(Kind::Create, "/srv/out/result.json.new")
        .fails_on("/srv/out/result.json")
        .judged();
    assert_eq!(flags(&report), "--write /srv/out");
}

#[test]
fn sqlite_that_falls_back_to_reading_wanted_to_write() {
    let report = run(&["python3", "shop.py"])
        .tries(Kind::Write, "/srv/app/shop.db")
        .tries(Kind::Read, "/srv/app/shop.db")
        .fails_on("/srv/app/shop.db")
        .judged();
    assert_eq!(report.denials[0].access, Kind::Write);
    assert_eq!(flags(&report), "--write /srv/app");
}

#[test]
fn bash_that_reads_what_it_could_not_start_wanted_to_start_it() {
    let report = run(&["bash", "-c", "tool"])
        .by("/usr/bin/bash")
        .tries(Kind::Execute, "/srv/bin/tool")
        .tries(Kind::Read, "/srv/bin/tool")
        .exits(126)
        .fails_on("/srv/bin/tool")
        .judged();
    assert_eq!(report.denials[0].access, Kind::Execute);
    assert_eq!(flags(&report), "--exec /srv/bin/tool");
}

#[test]
fn a_run_that_ended_well_has_denials_and_no_explanation() {
    let begun = python_starts(run(&["python3", "fetch.py"]));
    let report = begun
        .tries(Kind::Create, "/srv/out")
        .exits(0)
        .fails_on("/srv/out")
        .judged();
    assert_eq!(report.status, Status::Completed);
    assert_eq!(report.suggestion, None);
    assert_eq!((explaining(&report).len(), perhaps(&report).len()), (0, 0));
    let mut denials = report.denials.iter();
    let created = denials.find(|denial| denial.target == "/srv/out").unwrap();
    assert_eq!(created.grant.as_deref().unwrap(), ["--write", "/srv/out"]);
}

#[test]
fn what_somebody_ended_is_not_explained() {
    let begun = || {
        run(&["python3", "x.py"])
            .tries(Kind::Create, "/srv/out")
            .fails_on("/srv/out")
    };
    for report in [begun().exits(130).judged(), begun().signalled("SIGTERM").judged()] {
        assert_eq!(explaining(&report), [""; 0]);
    }
    let mut limited = begun();
    limited.report.limit = Some("memory".into());
    limited.report.status = Status::ResourceLimit;
    assert_eq!(limited.judged().status, Status::ResourceLimit);
    let aborted = begun().signalled("SIGABRT").judged();
    assert_eq!(aborted.status, Status::PermissionDenied);
    assert_eq!(aborted.signal.as_deref(), Some("SIGABRT"));
}

#[test]
fn a_script_that_reads_a_key_is_told_that_nothing_opens_it() {
    let key = Refusal {
        reason: secret("**/.env*"),
        ..refusal(Kind::Read, "/home/ada/project/data/.env")
    };
    let report = run(&["python3", "x.py"]).refused(key).fails_on("data/.env").judged();
    assert_eq!(explaining(&report), ["/home/ada/project/data/.env"]);
    let denial = &report.denials[0];
    assert_eq!(denial.rule.as_ref().unwrap().text, "secret pattern `**/.env*`");
    assert_eq!(denial.rule.as_ref().unwrap().origin, "built in");
    assert_eq!((&denial.grant, &denial.profile), (&None, &None));
    assert_eq!(report.suggestion, None);
}

#[test]
fn a_name_that_a_program_makes_up_is_granted_by_its_directory() {
    let suggested = |command: &[&str], program: &'static str, target: &str| {
        let report = run(command)
            .by(program)
            .tries(Kind::Create, target)
            .fails_on(target)
            .judged();
        assert_eq!(explaining(&report), [target]);
        flags(&report)
    };
    let python = "/usr/bin/python3.12";
    assert_eq!(
        suggested(&["mktemp", "-p", "/srv/o"], "/usr/bin/mktemp", "/srv/o/x"),
        "--write /srv/o"
    );
    assert_eq!(
        suggested(&["node", "-e", "mkdtempSync('/srv/o/t-')"], python, "/srv/o/t-abcdef"),
        "--write /srv/o"
    );
    assert_eq!(
        suggested(&["sed", "-i", "s/a/b/", "x"], "/usr/bin/sed", "/srv/o/sedabcdef"),
        "--write /srv/o"
    );
    assert_eq!(
        suggested(&["zip", "/srv/o/a.zip", "x"], "/usr/bin/zip", "/srv/o/a.zip"),
        "--write /srv/o"
    );
    for name in ["tmpabcdefg", "results.json.tmp", "x4Kd9Qa.bin"] {
        let target = format!("/srv/o/{name}");
        assert_eq!(
            suggested(&["python3", "x.py"], python, &target),
            "--write /srv/o",
            "{name}"
        );
    }
    for name in ["results.json", "2025-06-Report.csv", "python"] {
        let target = format!("/srv/o/{name}");
        assert_eq!(
            suggested(&["python3", "x.py"], python, &target),
            format!("--write {target}")
        );
    }
    let named = ["python3", "x.py", "/srv/o/tmpfile", "/srv/o"];
    assert_eq!(suggested(&named, python, "/srv/o/tmpfile"), "--write /srv/o/tmpfile");
}

#[test]
fn what_was_not_passed_is_told_and_a_secret_is_not_suggested() {
    let told = |begun: Run| {
        let program = |name: &str| (name == "tool").then(|| PathBuf::from("/opt/tools/tool"));
        let report = begun.judged_without(&["STAGE".into(), "API_TOKEN".into()], &program);
        let suggestion = report.suggestion.clone();
        let words = suggestion.map(|one| one.flags.join(" ".as_ref()).into_string().unwrap());
        (explaining(&report).join(" "), words)
    };
    let begun = || run(&["python3", "x.py"]);
    let says = |text: &str| told(begun().says(text));
    assert_eq!(
        says("KeyError: 'STAGE'\n"),
        ("STAGE".into(), Some("--env STAGE".into()))
    );
    assert_eq!(says("API_TOKEN must be set\n"), ("API_TOKEN".into(), None));
    let tool = ("/opt/tools/tool".to_string(), Some("--exec /opt/tools".to_string()));
    assert_eq!(says("sh: 1: tool: not found\n"), tool);
    assert_eq!(told(begun().discards("sh: 1: tool: not found\n")), tool);
    assert_eq!(says("sh: 1: other: not found\n"), (String::new(), None));
}

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
        .tries(Kind::Read, "/home/ada/.config/matplotlib/matplotlibrc")
        .tries(Kind::Create, "/home/ada/project/__pycache__")
        .tries(Kind::Read, "/proc/1/cgroup")
        .tries(Kind::Syscall, "io_uring_setup")
}

#[test]
fn python_that_fails_on_one_file_after_300_probes() {
    let begun = python_starts(run(&["python3", "fetch.py"]));
    let report = begun.tries(Kind::Read, "/etc/hosts").judged();
    assert_eq!(explaining(&report), ["/etc/hosts"]);
    assert_eq!(report.denials[0].target, "/etc/hosts");
    assert!(report.denials.len() > 300);
    assert_eq!(report.status, Status::PermissionDenied);
    assert_eq!(flags(&report), "--read /etc/hosts");
    let suggested = report.suggestion.unwrap().profile;
    assert_eq!(suggested.as_deref(), Some("mcp-standard"));
}

#[test]
fn python_that_fails_on_a_bug_of_its_own_is_not_explained() {
    let report = python_starts(run(&["python3", "fetch.py"])).goes_on().judged();
    assert_eq!(explaining(&report), [""; 0]);
    assert_eq!(report.status, Status::Completed);
    assert_eq!(report.suggestion, None);
    // Settings read long before, and an error about something else.
    let begun = run(&["python3", "fetch.py"]).tries(Kind::Read, "/data/settings.toml");
    let report = begun.goes_on().judged();
    assert_eq!(explaining(&report), [""; 0]);
    let begun = run(&["python3", "fetch.py"]).tries(Kind::Read, "/data/settings.toml");
    let report = begun.prints("AssertionError: 3 != 4\n").judged();
    assert_eq!(explaining(&report), [""; 0]);
}

#[test]
fn a_file_that_the_program_blames_comes_before_the_last() {
    let report = run(&["python3", "fetch.py"])
        .tries(Kind::Read, "/srv/data/a.csv")
        .tries(Kind::Create, "/var/log/fetch.log")
        .tries(Kind::Read, "/srv/other/b.csv")
        .prints("PermissionError: [Errno 13] Permission denied: '/srv/data/a.csv'\n")
        .judged();
    assert_eq!(report.denials[0].target, "/srv/data/a.csv");
    assert_eq!(explaining(&report), ["/srv/data/a.csv"]);
}

#[test]
fn a_name_on_the_command_line_explains_even_what_is_a_probe_elsewhere() {
    let report = run(&["cat", "/proc/1/cgroup"])
        .by("/usr/bin/cat")
        .tries(Kind::Read, "/proc/1/cgroup")
        .judged();
    assert_eq!(explaining(&report), ["/proc/1/cgroup"]);
    let report = run(&["sh", "-c", "ls /home/ada && echo yes"])
        .by("/usr/bin/ls")
        .lists("/home/ada")
        .judged();
    assert_eq!(explaining(&report), ["/home/ada"]);
    // A whole home is never suggested.
    assert_eq!(flags(&report), "");
}

#[test]
fn node_that_cannot_write_its_result() {
    let report = run(&["node", "build.js"])
        .by("/usr/bin/node")
        .tries(Kind::Read, "/proc/4711/cgroup")
        .tries(Kind::Read, "/sys/fs/cgroup/memory.max")
        .tries(Kind::Read, "/home/ada/package.json")
        .tries(Kind::Read, "/home/ada/project/package.json")
        .misses("/home/ada/project/node_modules/left-pad/package.json")
        .tries(Kind::Syscall, "io_uring_setup")
        .tries(Kind::Create, "/home/ada/project/dist")
        .judged();
    assert_eq!(explaining(&report), ["/home/ada/project/dist"]);
    assert_eq!(flags(&report), "--write /home/ada/project/dist");
    assert_eq!(report.suggestion.unwrap().profile.as_deref(), Some("workspace"));
}

#[test]
fn npm_that_cannot_read_the_package_is_told_apart_from_node_that_looks_for_one() {
    let package = "/home/ada/project/package.json";
    let begun = |command: &[&str]| {
        let begun = run(command).by("/usr/bin/node").tries(Kind::Read, "/proc/self/cgroup");
        begun.tries(Kind::Read, package)
    };
    assert_eq!(explaining(&begun(&["npm", "test"]).judged()), [package]);
    assert_eq!(explaining(&begun(&["node", "build.js"]).goes_on().judged()), [""; 0]);
}

#[test]
fn git_needs_its_whole_directory() {
    let report = run(&["git", "commit", "-m", "x"])
        .profile("filesystem")
        .by("/usr/bin/git")
        .tries(Kind::Read, "/home/ada/.config/git/ignore")
        .lists("/home/ada")
        .tries(Kind::Create, "/home/ada/project/.git/index.lock")
        .exits(128)
        .judged();
    assert_eq!(explaining(&report), ["/home/ada/project/.git/index.lock"]);
    assert_eq!(flags(&report), "--write /home/ada/project/.git");
    assert_eq!(report.suggestion.unwrap().profile.as_deref(), Some("workspace"));
}

#[test]
fn sqlite_makes_journals_beside_its_database() {
    for file in ["/srv/app/shop.db", "/srv/app/shop.db-journal", "/srv/app/x.sqlite3-wal"] {
        let report = run(&["python3", "shop.py"])
            .tries(Kind::Create, file)
            .prints("sqlite3.OperationalError: unable to open database file\n")
            .judged();
        assert_eq!(explaining(&report), [file]);
        assert_eq!(flags(&report), "--write /srv/app", "{file}");
    }
    let report = run(&["python3", "shop.py"])
        .tries(Kind::Write, "/home/ada/shop.db")
        .judged();
    assert_eq!(flags(&report), "--write /home/ada/shop.db", "never the home");
}

#[test]
fn bash_gcc_and_cargo_find_nothing_in_their_probes() {
    let report = run(&["bash", "-c", "make"])
        .by("/usr/bin/bash")
        .tries(Kind::Read, "/etc/profile")
        .tries(Kind::Read, "/home/ada/.bashrc")
        .tries(Kind::Socket, "/var/run/nscd/socket")
        .by("/home/ada/.cargo/bin/cargo")
        .tries(Kind::Read, "/home/ada/.cargo/config")
        .tries(Kind::Read, "/home/ada/rust-toolchain.toml")
        .tries(Kind::Read, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
        .by("/usr/libexec/gcc/cc1")
        .misses("/home/ada/project/include/stdio.h")
        .lists("/home/ada/project")
        .goes_on()
        .exits(2)
        .judged();
    assert_eq!(explaining(&report), [""; 0]);
}

#[test]
fn a_run_that_ended_well_has_denials_and_no_explanation() {
    let begun = python_starts(run(&["python3", "fetch.py"]));
    let report = begun.tries(Kind::Create, "/srv/out").exits(0).judged();
    assert_eq!(report.status, Status::Completed);
    assert_eq!(report.suggestion, None);
    assert_eq!(explaining(&report), [""; 0]);
    assert!(report.denials.len() > 300);
    let created = report
        .denials
        .iter()
        .find(|denial| denial.target == "/srv/out")
        .unwrap();
    assert_eq!(created.grant.as_deref().unwrap(), ["--write", "/srv/out"]);
}

#[test]
fn a_word_of_a_path_is_no_word_of_what_is_said() {
    let says = |text: &str| {
        let begun = run(&["tmux", "new"]).tries(Kind::Socket, "/tmp/tmux-0/default");
        begun.says(text).exits(1).judged()
    };
    let fails = says("error connecting to /tmp/tmux-0/default (Permission denied)\n");
    assert_eq!(explaining(&fails), ["/tmp/tmux-0/default"]);
    let lives = says("can't connect to /tmp/tmux-0/default, using the default\nSyntaxError: odd\n");
    assert_eq!(explaining(&lives), [""; 0]);
}

#[test]
fn where_nothing_tells_that_is_said() {
    let begun = |text: &str| {
        let begun = run(&["python3", "x.py"]).lists("/srv/plugins").goes_on();
        begun.tries(Kind::Read, "/srv/state").goes_on().prints(text).exits(1)
    };
    let unsure = begun("nothing found\n").judged();
    assert_eq!((unsure.unsure, unsure.status), (true, Status::Completed));
    assert_eq!(explaining(&unsure), [""; 0]);
    assert_eq!(unsure.suggestion, None);
    let own = begun("ZeroDivisionError: division by zero\n").judged();
    let lacks = begun("KeyError: 'server'\n").judged();
    assert_eq!((lacks.unsure, lacks.status), (true, Status::Completed));
    let named = begun("PermissionError: '/srv/state'\n").judged();
    assert_eq!((own.unsure, named.unsure), (false, false));
    assert_eq!(explaining(&named), ["/srv/state"]);
}

#[test]
fn of_two_whose_errors_are_thrown_away_none_is_blamed() {
    let throws_away = |process: i32, target: &str, run: super::Run| {
        let mut refusal = refusal(Kind::Read, target);
        refusal.pid = process;
        let mut run = run.refused(refusal);
        run.said.push(Said {
            at: run.clock,
            process,
            stream: Stream::Nowhere,
            text: format!("cat: {target}: Permission denied\n"),
        });
        run
    };
    let one = throws_away(5001, "/srv/version", run(&["sh", "build.sh"]))
        .exits(1)
        .judged();
    assert_eq!(explaining(&one), ["/srv/version"]);
    let first = throws_away(5001, "/srv/version", run(&["sh", "build.sh"]));
    let both = throws_away(5002, "/srv/stale", first).exits(1).judged();
    assert_eq!(explaining(&both), [""; 0]);
    assert!(both.unsure);
}

#[test]
fn what_somebody_ended_is_not_explained() {
    let begun = || run(&["python3", "x.py"]).tries(Kind::Create, "/srv/out");
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
    let report = run(&["python3", "x.py"]).refused(key).judged();
    assert_eq!(explaining(&report), ["/home/ada/project/data/.env"]);
    let denial = &report.denials[0];
    assert_eq!(denial.rule.as_ref().unwrap().text, "secret pattern `**/.env*`");
    assert_eq!(denial.rule.as_ref().unwrap().origin, "built in");
    assert_eq!((&denial.grant, &denial.profile), (&None, &None));
    assert_eq!(report.suggestion, None);
}

#[test]
fn sqlite_that_falls_back_to_reading_wanted_to_write() {
    let report = run(&["python3", "shop.py"])
        .tries(Kind::Write, "/srv/app/shop.db")
        .tries(Kind::Read, "/srv/app/shop.db")
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
        .judged();
    assert_eq!(report.denials[0].access, Kind::Execute);
    assert_eq!(flags(&report), "--exec /srv/bin/tool");
}

#[test]
fn node_that_needs_a_module_is_told_which() {
    let module = "/srv/app/node_modules/left-pad/index.js";
    let report = run(&["node", "main.js"])
        .by("/usr/bin/node")
        .misses("/srv/app/node_modules/left-pad/package.json")
        .tries(Kind::Read, module)
        .judged();
    assert_eq!(explaining(&report), [module]);
}

#[test]
fn a_name_that_a_program_makes_up_is_granted_by_its_directory() {
    let suggested = |command: &[&str], program: &'static str, target: &str| {
        let report = run(command).by(program).tries(Kind::Create, target).judged();
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

/// A run without two of its caller's variables.
struct Two([String; 2]);

impl Withheld for Two {
    fn variables(&self) -> &[String] {
        &self.0
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        (name == "tool").then(|| PathBuf::from("/opt/tools/tool"))
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }
}

#[test]
fn what_was_not_passed_is_told_and_a_secret_is_not_suggested() {
    let told = |text: &str| {
        let withheld = Two(["STAGE".into(), "API_TOKEN".into()]);
        let report = run(&["python3", "x.py"]).prints(text).judged_without(&withheld);
        let suggestion = report.suggestion.clone();
        let flags = suggestion.map(|one| {
            one.flags
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        });
        (explaining(&report).join(" "), flags)
    };
    let flags = |words: [&str; 2]| Some(words.map(String::from).to_vec());
    assert_eq!(told("KeyError: 'STAGE'\n"), ("STAGE".into(), flags(["--env", "STAGE"])));
    assert_eq!(told("API_TOKEN must be set\n"), ("API_TOKEN".into(), None));
    assert_eq!(
        told("sh: 1: tool: not found\n"),
        ("/opt/tools/tool".into(), flags(["--exec", "/opt/tools"]))
    );
    assert_eq!(told("sh: 1: other: not found\n"), (String::new(), None));
}

//! Marked reads: the kernel reads by itself what is open when the run starts, and nothing that is closed then. What it refuses
//! the supervisor judges and reports. Writing stays judged, so nothing of the run's own gets a closed name.

use std::fs;

use crate::common::{PROJECT, Run, run};

/// The same, which is only read, but for one directory.
const LIBRARY: &str = "version = 1\nname = \"library\"\ndescription = \"a library\"\n\
    [[read]]\npath = \"./\"\nwhy = \"reading\"\n[[exec]]\npath = \"./\"\nwhy = \"reading\"\n\
    [[write]]\npath = \"./out\"\nwhy = \"results\"\n";

fn marked(profile: &str) -> Run {
    run()
        .file("~/.config/stockade/profiles/project.toml", PROJECT)
        .file("~/.config/stockade/profiles/library.toml", LIBRARY)
        .profile(profile)
        .reporting()
}

#[test]
fn a_project_without_secrets_is_read_by_the_kernel_and_written_through_the_supervisor() {
    let ran = marked("project")
        .file("src/a", "a\n")
        .bash(
            "cat src/a; echo b >b; cat b; mkdir -p deep/er; echo c >deep/er/c; cat deep/er/c; mv deep moved; cat moved/er/c; \
             rm -r src; mkdir src; echo d >src/d; cat src/d; printf '#!/bin/sh\\necho e\\n' >e; chmod +x e; ./e; \
             diff <(echo f) <(echo g) >/dev/null || cat <<<h; ls moved",
        )
        .stdout("a\nb\nc\nc\nd\ne\nh\ner\n")
        .ends();
    let report = ran.report();
    assert_eq!(report["enforcement"]["trace"], "marked");
    assert!(report["enforcement"]["kept_exact"].is_null());
    assert_eq!(report["denials"].as_array().unwrap().len(), 0);
}

#[test]
fn what_a_run_makes_gets_no_closed_name_and_is_reported() {
    let ran = marked("project")
        .file("src/a", "a\n")
        .bash(
            "try() { \"$@\" 2>&1 | grep -q denied && echo refused; }; try cp src/a .env; try mv src/a .env; \
             try ln src/a server.pem; try mkdir .aws; ls -A",
        )
        .any_stdout()
        .any_status()
        .any_stderr()
        .ends();
    assert_eq!(ran.stdout().matches("refused").count(), 4, "{}", ran.stdout());
    assert!(!ran.stdout().contains(".env"));
    assert!(!ran.report()["denials"].as_array().unwrap().is_empty());
}

/// Beside a closed name the run could make a file that has no rule.
#[test]
fn a_written_tree_with_a_closed_name_is_judged_by_the_supervisor_which_the_report_says() {
    for closed in [".env", "deep/er/server.pem", "a/id_rsa"] {
        let ran = marked("project")
            .file(closed, "secret")
            .file("a/b", "b\n")
            .bash(&format!("cat a/b; echo c >c; cat c; cat {closed}"))
            .status(1)
            .stdout("b\nc\n")
            .stderr_has("was refused reading")
            .ends();
        let report = ran.report();
        assert_eq!(report["enforcement"]["trace"], "exact");
        let why = report["enforcement"]["kept_exact"].as_str().unwrap();
        assert!(
            why.contains(&format!("{closed}` is closed, and the run writes beside it")),
            "{why}"
        );
    }
}

#[test]
fn what_is_closed_in_a_tree_that_is_only_read_stays_so_and_its_neighbours_are_read() {
    let ran = marked("library")
        .file(".env", "secret")
        .file("a/b/.env", "secret")
        .file("a/b/c", "c\n")
        .file("a/keys/server.key", "secret")
        .file("a/keys/server.pub", "pub\n")
        .file("d/e/f", "f\n")
        .file("out/old", "old\n")
        .program("tool", "#!/bin/sh\necho tool\n")
        .bash(
            "cat a/b/c a/keys/server.pub d/e/f out/old; ./tool; echo new >out/new; cat out/new; ls -A a/b; \
             for closed in .env a/b/.env a/keys/server.key d/../.env $PWD/.env; do cat $closed && echo OPEN; done; exit 0",
        )
        .stdout("c\npub\nf\nold\ntool\nnew\n.env\nc\n")
        .any_stderr()
        .ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "marked");
    assert_eq!(
        ran.finished.stderr().matches("denied").count(),
        5,
        "{}",
        ran.finished.stderr()
    );
}

#[test]
fn a_directory_that_cannot_be_listed_is_not_opened_unseen() {
    use std::os::unix::fs::PermissionsExt;
    let begun = marked("library")
        .file("a/hidden/.env", "secret")
        .file("a/b", "b\n")
        .file("out/c", "c\n");
    let hidden = begun.place.path("a/hidden");
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o311)).unwrap();
    begun
        .bash("cat a/b; cat a/hidden/.env")
        .status(1)
        .stdout("b\n")
        .any_stderr()
        .ends();
    let begun = marked("project").file("a/hidden/.env", "secret");
    let hidden = begun.place.path("a/hidden");
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o311)).unwrap();
    let ran = begun.bash("cat a/hidden/.env").status(1).any_stderr().ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "exact");
    fs::set_permissions(ran.place.path("a/hidden"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_keeps_the_trace_exact_is_in_the_report() {
    for (flags, why) in [
        (
            &["--profile", "minimal", "--host", "example.com", "--read", "/etc"][..],
            "programs find hosts by `/etc/resolv.conf`",
        ),
        (&["--profile", "mcp-standard"], "`/` isn't looked through"),
        (
            &["--profile", "minimal", "--deny", "/usr/share/**/*.txt"],
            "closes part of a tree of the runtime base",
        ),
        (
            &["--profile", "workspace", "--cap", "EXECUTE"],
            "may be started and not read",
        ),
    ] {
        let ran = run()
            .file("~/.config/stockade/profiles/project.toml", PROJECT)
            .file("out/a", "")
            .flags(flags)
            .reporting()
            .ends();
        let enforcement = ran.report()["enforcement"].clone();
        assert_eq!(enforcement["trace"], "exact", "{flags:?}");
        let kept = enforcement["kept_exact"].as_str().unwrap();
        assert!(kept.contains(why), "{kept}");
    }
    let supervised = PROJECT.replace("version = 1", "version = 1\nnative-reads = false");
    for ran in [
        marked("project").flags(["--trace", "exact"]).ends(),
        marked("project")
            .file("~/.config/stockade/profiles/project.toml", &supervised)
            .ends(),
    ] {
        assert_eq!(ran.report()["enforcement"]["trace"], "exact");
        assert!(ran.report()["enforcement"]["kept_exact"].is_null());
    }
}

#[test]
fn a_tree_that_is_only_read_and_too_large_is_left_to_the_supervisor() {
    let ran = run()
        .file("a", "a\n")
        .flags(["--profile", "minimal", "--read", "/", "--read", "@ROOT"])
        .bash("cat a")
        .reporting()
        .stdout("a\n")
        .ends();
    let enforcement = ran.report()["enforcement"].clone();
    assert_eq!(enforcement["trace"], "marked");
    assert!(
        enforcement["read_supervised"][0]
            .as_str()
            .unwrap()
            .starts_with("`/` isn't looked through")
    );
}

/// Landlock refuses it, and the object asks again.
#[test]
fn a_refused_read_is_reported_as_any_other() {
    for command in [
        "cat ../home/notes",
        "bash -c 'read line <../home/notes'",
        "cd src; cat ../../home/notes",
        "python3 -c 'open(\"../home/notes\")'",
        "sed p @HOME/notes",
    ] {
        let ran = marked("project")
            .file("~/notes", "notes")
            .file("src/a", "a")
            .bash(command)
            .any_status()
            .stderr_has("was refused reading `@HOME")
            .stderr_has("hint: to allow it: `--read @HOME")
            .ends();
        let report = ran.report();
        assert_eq!(report["enforcement"]["trace"], "marked", "{command}");
        assert_eq!(report["status"], "permission_denied", "{command}");
    }
}

/// Whatever is made anew has no rule of Landlock's, so the supervisor judges it.
#[test]
fn what_is_made_anew_beside_a_closed_name_can_be_read() {
    let ran = marked("library")
        .file(".env", "secret")
        .bash("mkdir out; echo x >out/a; cat out/a")
        .stdout("x\n")
        .ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "marked");
}

#[test]
fn programs_without_the_object_are_judged_call_by_call() {
    for command in [
        "env -i /bin/cat src/a",
        "env -u LD_PRELOAD cat src/a",
        "LD_PRELOAD= cat src/a",
    ] {
        marked("project")
            .file("src/a", "a\n")
            .bash(command)
            .stdout("a\n")
            .ends();
    }
}

#[test]
fn the_variable_is_stockades_own_word() {
    marked("project")
        .variable("LD_PRELOAD", "")
        .bash("echo $LD_PRELOAD")
        .stdout("linux-stockade/preload.so\n")
        .ends();
    marked("project")
        .flags(["--trace", "exact"])
        .bash("echo \"[$LD_PRELOAD]\"")
        .stdout("[]\n")
        .ends();
}

#[test]
fn what_the_lists_close_in_an_installation_is_closed() {
    let begun = marked("library")
        .file("venv/pyvenv.cfg", "home = /usr/bin\n")
        .file("venv/lib/x/.netrc", "secret")
        .file("venv/lib/x/code.py", "code\n")
        .file("out/a", "a\n")
        .after("mkdir -p venv/bin; ln -s /usr/bin/python3 venv/bin/python");
    let python = begun.place.path("venv/bin/python");
    let ran = begun
        .command([
            python.to_str().unwrap(),
            "-c",
            "print(open('venv/lib/x/code.py').read(), end='')\nopen('venv/lib/x/.netrc')",
        ])
        .status(1)
        .stdout("code\n")
        .any_stderr()
        .ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "marked");
    assert!(
        ran.finished.stderr().contains("PermissionError"),
        "{}",
        ran.finished.stderr()
    );
}

#[test]
fn a_glob_of_the_users_closes_whatever_the_case_of_its_names() {
    marked("library")
        .file("~/.config/stockade/config.toml", "version = 1\n[secrets]\nclosed = [\"~/Work/PRIVATE/*\"]\n")
        .after("mkdir -p @HOME/Work/private; echo secret >@HOME/Work/private/x; echo open >@HOME/Work/y; mkdir out; touch out/a")
        .flags(["--read", "@HOME/Work"])
        .bash("cat @HOME/Work/y; cat @HOME/Work/private/x")
        .status(1)
        .stdout("open\n")
        .any_stderr()
        .ends();
}

fn trace(ran: &crate::common::Ran) -> String {
    let enforcement = ran.report()["enforcement"].clone();
    format!(
        "{} {}",
        enforcement["trace"].as_str().unwrap(),
        enforcement["kept_exact"].as_str().unwrap_or_default()
    )
}

/// What a launch doesn't look through the run does, for the next one.
#[test]
fn a_large_tree_is_looked_through_while_the_first_run_goes_on_and_read_natively_from_then_on() {
    let begun = marked("project").after(
        "for d in $(seq 60); do mkdir -p sub/d$d; (cd sub/d$d; seq 300 | xargs touch); done; find . -exec touch -h -d '1 hour ago' {} +; sleep 5",
    );
    let first = begun.bash("sleep 2").ends();
    assert!(
        trace(&first).contains("hasn't been looked through yet"),
        "{}",
        trace(&first)
    );
    let again = |before: crate::common::Ran, command: &str| {
        let mut next = marked("project");
        next.place = before.place;
        next.bash(command).any_status().any_stderr().any_stdout().ends()
    };
    let ran = again(first, "cat sub/d7/30");
    assert_eq!(trace(&ran), "marked ");
    // A secret that comes later shows.
    fs::write(ran.place.path("sub/d7/.env"), "secret").unwrap();
    let ran = again(ran, "cat sub/d7/.env");
    assert!(trace(&ran).contains("sub/d7/.env` is closed"), "{}", trace(&ran));
    fs::remove_file(ran.place.path("sub/d7/.env")).unwrap();
    fs::create_dir_all(ran.place.path("sub/d8/new/er")).unwrap();
    let ran = again(ran, "true");
    assert_eq!(trace(&ran), "marked ");
    fs::write(ran.place.path("sub/d8/new/er/id_rsa"), "secret").unwrap();
    let ran = again(ran, "true");
    assert!(trace(&ran).contains("id_rsa` is closed"));
    fs::rename(ran.place.path("sub/d8/new"), ran.place.path("sub/d9/moved")).unwrap();
    let ran = again(ran, "true");
    assert!(
        trace(&ran).contains("sub/d9/moved/er/id_rsa` is closed"),
        "{}",
        trace(&ran)
    );
}

/// The one promise that native reading can't keep is told.
#[test]
fn a_secret_that_somebody_makes_meanwhile_is_told_at_once_and_ends_the_run_where_that_was_asked() {
    let ending = PROJECT.replace("version = 1", "version = 1\nlate-secrets = 'end'");
    for (flag, profile, code, printed) in [
        ("tell", PROJECT, 0, "secret\nend\n"),
        ("end", PROJECT, 137, ""),
        ("tell", &ending, 137, ""),
    ] {
        let mut begun = marked("project")
            .file("~/.config/stockade/profiles/project.toml", profile)
            .file("sub/a", "a")
            .flags(["--late-secrets", flag]);
        begun =
            begun.bash("touch started; until test -e sub/.env; do sleep 0.05; done; sleep 0.5; cat sub/.env; echo end");
        let root = begun.place.root.clone();
        let maker = std::thread::spawn(move || {
            while !root.join("started").exists() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            fs::write(root.join("sub/.env"), "secret\n").unwrap();
        });
        let ran = begun
            .status(code)
            .stdout(printed)
            .stderr_has("@ROOT/sub/.env` was made meanwhile under a closed name")
            .ends();
        maker.join().unwrap();
        let late = ran.report()["enforcement"]["late_secrets"].clone();
        assert_eq!(late[0], ran.place.path("sub/.env").to_str().unwrap(), "{late}");
    }
}

/// `git cat-file` shows the same.
// promise: secrets.19
#[test]
fn what_the_repository_holds_is_no_secret_to_a_run_that_reads_it() {
    const COMMIT: &str = "git init -q; git add -A; git -c user.name=a -c user.email=a@b commit -q -m x";
    let reads = "cat .env tests/secrets/x tests/key.pem";
    let begun = |trace: &'static str| {
        marked("project")
            .flags(["--trace", trace])
            .file(".env", "one\n")
            .file("tests/secrets/x", "two\n")
            .file("tests/key.pem", "three\n")
            .after(COMMIT)
    };
    for (flag, trace) in [("auto", "marked"), ("exact", "exact")] {
        let ran = begun(flag).bash(reads).stdout("one\ntwo\nthree\n").ends();
        assert_eq!(ran.report()["enforcement"]["trace"], trace);
        // It is read, and written no more than before.
        begun(flag)
            .bash("echo four >.env || cat .env")
            .any_stderr()
            .stdout("one\n")
            .ends();
        for change in ["echo other >.env", "echo new >.env.local", "echo new >tests/secrets/y"] {
            let ran = begun(flag)
                .after(&format!("{COMMIT}; {change}"))
                .bash("cat .env* tests/secrets/[xy] tests/key.pem | grep -c -e other -e new")
                .status(1)
                .any_stderr()
                .stdout("0\n")
                .ends();
            assert_eq!(ran.report()["enforcement"]["trace"], "exact");
        }
        // What a person closes stays so, and so does a secret of a repository that isn't read.
        begun(flag)
            .flags(["--deny", "./tests/key.pem"])
            .bash("cat tests/key.pem")
            .status(1)
            .any_stderr()
            .ends();
        begun(flag)
            .flags(["--deny", "./.git/objects"])
            .bash("cat .env")
            .status(1)
            .any_stderr()
            .ends();
    }
}

/// The look before the start went through other trees.
#[test]
fn a_directory_of_a_tree_that_an_answer_granted_is_copied_and_not_moved_to_where_the_kernel_reads() {
    const YES: &str = "command=cat >/dev/null; echo '{\"answer\":\"yes\",\"lifetime\":\"session\"}'";
    let code = "import os, shutil\n\
                try: os.rename('@HOME/z/c', 'c')\n\
                except OSError as error: print(error.strerror)\n\
                os.rename('@HOME/z/plain', 'plain'); print(open('plain').read())\n\
                os.mkdir('@HOME/z/own')\n\
                try: os.rename('@HOME/z/c', '@HOME/z/own/c'); os.rename('@HOME/z/own', 'own')\n\
                except OSError as error: print(error.strerror)\n\
                print([open(d + '/.aws/credentials').read() for d in ('c', 'own/c') if os.path.exists(d)])\n";
    let ran = marked("project")
        .flags(["--ask", YES])
        .file("~/z/c/.aws/credentials", "SECRET")
        .file("~/z/plain", "plain")
        .python(code)
        .any_stderr()
        .stdout("Invalid cross-device link\nplain\nInvalid cross-device link\n[]\n")
        .ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "marked");
}

/// Others may have made something closed in it.
#[test]
fn a_directory_of_a_tree_that_did_not_exist_is_copied_and_not_moved_to_where_the_kernel_reads() {
    let code = "import os, time\n\
                open('started', 'w')\n\
                while not os.path.exists('@HOME/made/ready'): time.sleep(0.05)\n\
                os.rename('@HOME/made/c', '@HOME/made/d')\n\
                try: os.rename('@HOME/made/d', 'd')\n\
                except OSError as error: print(error.strerror)\n\
                try: os.rename('@HOME/made', 'd')\n\
                except OSError as error: print(error.strerror)\n\
                for path in '@HOME/made/d/.aws/credentials', 'd/.aws/credentials':\n  \
                  try: print(open(path).read())\n  \
                  except OSError as error: print(error.strerror)\n";
    let begun = marked("project").flags(["--write", "@HOME/made"]).python(code);
    let (started, made) = (begun.place.path("started"), begun.place.home.join("made"));
    let maker = std::thread::spawn(move || {
        while !started.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        fs::create_dir_all(made.join("c/.aws")).unwrap();
        fs::write(made.join("c/.aws/credentials"), "SECRET").unwrap();
        fs::write(made.join("ready"), "").unwrap();
    });
    let ran = begun
        .any_stderr()
        .stdout("Invalid cross-device link\nPermission denied\nPermission denied\nNo such file or directory\n")
        .ends();
    maker.join().unwrap();
    assert_eq!(trace(&ran), "marked ");
}

/// Made after the look it would lie open in a tree that was looked through without it.
#[test]
fn stockades_own_places_are_closed_where_they_are_not_there_yet() {
    let ran = run()
        .file("~/x", "x")
        .flags(["--profile", "minimal", "--write", "@HOME"])
        .reporting()
        .python(
            "import ctypes, os\n\
             c = ctypes.CDLL(None)\n\
             for top, _, names in os.walk('@HOME/.local/state'):\n  \
               for name in names: print(name, c.syscall(257, -100, os.path.join(top, name).encode(), 0, 0x5f0c4ade) >= 0)\n\
             print(os.path.isdir('@HOME/.local/state/stockade'))",
        )
        .any_stderr()
        .stdout("True\n")
        .ends();
    assert_eq!(ran.report()["enforcement"]["trace"], "exact");
}

#[test]
fn what_the_repository_holds_is_no_late_secret_either() {
    let ran = marked("project")
        .flags(["--late-secrets", "end"])
        .file(".env", "one\n")
        .file("secrets/x", "two\n")
        .after("git init -q; git add -A; git -c user.name=a -c user.email=a@b commit -q -m x; touch .env secrets/x")
        .bash("sleep 0.6; cat .env secrets/x")
        .stdout("one\ntwo\n")
        .ends();
    assert_eq!(trace(&ran), "marked ");
    assert!(
        ran.report()["enforcement"]["late_secrets"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

/// No rule can be made for it before the start.
#[test]
fn what_is_granted_and_made_later_is_read_through_the_supervisor() {
    let ran = marked("project")
        .flags(["--write", "@HOME/made"])
        .bash("cd @HOME; mkdir -p made/in; echo one >made/a; echo two >made/in/b; cat made/a made/in/b")
        .any_stderr()
        .stdout("one\ntwo\n")
        .ends();
    assert_eq!(trace(&ran), "marked ");
}

/// A static program, or one with a C library of its own, makes opens without the mark.
#[test]
fn what_is_opened_without_the_mark_is_read_and_refused_alike() {
    let code = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
        def read(path):\n\
        \x20   number = libc.syscall(257, -100, path, 0, 0)\n\
        \x20   print(os.read(number, 9) if number >= 0 else os.strerror(ctypes.get_errno()))\n\
        for path in b'src/a', b'link', b'.env', b'to-env', b'/etc/passwd', b'/etc/shadow', b'absent', b'/proc/self/comm':\n\
        \x20   read(path)\n";
    let ran = marked("library")
        .file("src/a", "a\n")
        .file(".env", "TOKEN=1\n")
        .after("ln -s src/a link; ln -s .env to-env")
        .python(code)
        .any_stdout()
        .any_stderr()
        .any_status()
        .ends();
    let lines: Vec<String> = ran.stdout().lines().map(String::from).collect();
    let denied = "Permission denied";
    assert_eq!(lines[..4], ["b'a\\n'", "b'a\\n'", denied, denied], "{lines:?}");
    assert!(lines[4].starts_with("b'root"), "{lines:?}");
    assert_eq!(lines[5..7], [denied, "No such file or directory"], "{lines:?}");
    let report = ran.report();
    assert_eq!(report["enforcement"]["trace"], "marked");
    let targets: Vec<&str> = report["denials"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["target"].as_str())
        .collect();
    assert!(targets.iter().any(|target| target.ends_with("/.env")), "{targets:?}");
    assert!(targets.contains(&"/etc/shadow"), "{targets:?}");
}

//! The library as a program uses it: from threads, with piped output, on kernels that lack the newest Landlock.

use std::time::{Duration, Instant};

use stockade::{Event, Sandbox, ServedTo, Status};

fn minimal() -> Sandbox {
    let root = std::env::temp_dir();
    Sandbox::profile("minimal").unwrap().root(root)
}

#[test]
fn output_is_collected_and_counted() {
    let mut command = minimal().command("/bin/sh");
    command.args(["-c", "printf out; printf error >&2; exit 3"]);
    let output = command.output().unwrap();
    assert_eq!(output.stdout, b"out");
    assert_eq!(output.stderr, b"error");
    assert_eq!(output.outcome.exit_code(), 3);
    assert_eq!(output.outcome.status(), Status::Completed);
    assert_eq!(output.outcome.report().resources.stdout_bytes, Some(3));
    assert_eq!(output.outcome.report().resources.stderr_bytes, Some(5));
    assert!(output.outcome.denials().is_empty());
    assert!(!output.outcome.success());
}

#[test]
fn many_threads_run_at_once() {
    let sandbox = minimal();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..4 {
                    let word = format!("{thread}-{round}");
                    let output = sandbox.command("/bin/echo").arg(&word).output().unwrap();
                    assert_eq!(output.stdout, format!("{word}\n").as_bytes());
                }
            });
        }
    });
}

#[test]
fn dropping_a_child_ends_its_tree() {
    let mut command = minimal().command("/bin/sh");
    command.args(["-c", "sleep 300 & sleep 300"]).no_input();
    let child = command.spawn().unwrap();
    let process = format!("/proc/{}", child.id());
    assert!(std::path::Path::new(&process).exists());
    drop(child);
    assert!(!std::path::Path::new(&process).exists());
}

#[test]
fn a_failed_start_says_which_step_failed() {
    let error = minimal().command("/dev/null").run().unwrap_err();
    assert_eq!(error.exit_code(), 126);
    let error = minimal().command("/no/such/program").run().unwrap_err();
    assert_eq!(error.exit_code(), 127);
    let error = Sandbox::profile("no-such-profile").unwrap_err();
    assert_eq!(error.exit_code(), 125);
}

/// Landlock before ABI 6 has no signal scope: the warden then ends the tree child by child. The plan is told that
/// this kernel is such a one.
#[test]
fn the_tree_ends_on_kernels_without_signal_scopes_too() {
    let mut command = minimal().command("/bin/sh");
    let daemons = "for i in 1 2 3 4; do (trap '' HUP TERM INT; setsid sh -c 'echo; sleep 300; sleep 300' &); done |
        { read a; read a; read a; read a; }";
    command.args(["-c", daemons]).no_input().pipe_output();
    let mut ready = command.prepare().unwrap();
    ready.plan.handled.scopes = false;
    let mut child = ready.start().unwrap();
    let start = Instant::now();
    // The end comes once every holder of the pipes is gone, the daemons among them.
    let ending = loop {
        if let Event::Ended(ending) = child.next_event(None).unwrap() {
            break ending;
        }
    };
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
    assert_eq!(child.outcome(&ending).exit_code(), 0);
}

/// What a path leads to may change until the interpreter opens it.
#[test]
fn a_script_is_what_was_read_whatever_lies_at_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(directory.path()).unwrap();
    let printed = |interpreter: &[&str], read: &str, to_whom: ServedTo| {
        let script = root.join("script");
        let sandbox = Sandbox::profile("readonly").unwrap().root(&root);
        let sandbox = sandbox.script_text(script.clone(), read.as_bytes(), to_whom);
        let mut command = sandbox.command(interpreter[0]);
        command.args(&interpreter[1..]).arg(&script);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let file = root.join("script");
    std::fs::write(&file, "echo another").unwrap();
    assert_eq!(printed(&["/bin/sh"], "echo this", ServedTo::First(1)), "this\n");
    assert_eq!(printed(&["/bin/sh"], "cat \"$0\"", ServedTo::First(1)), "echo another");
    std::fs::write(&file, "print('another')").unwrap();
    for interpreter in [&["python3"], &["/usr/bin/python3"]] {
        assert_eq!(printed(interpreter, "print('this')", ServedTo::First(2)), "this\n");
    }
    let itself = "print(open(__file__).read())";
    assert_eq!(printed(&["python3"], itself, ServedTo::First(2)), "print('another')\n");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(root.join("other"), "console.log('another')").unwrap();
    std::os::unix::fs::symlink("other", &file).unwrap();
    let node = ["node", "--preserve-symlinks-main"];
    assert_eq!(printed(&node, "console.log('this')", ServedTo::All), "this\n");
}

#[test]
fn a_script_is_told_from_others_by_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(directory.path()).unwrap();
    std::fs::write(root.join("other"), "echo other").unwrap();
    let sandbox = Sandbox::profile("readonly")
        .unwrap()
        .root(&root)
        .read(root.join("other"));
    let sandbox = sandbox.script_text(root.join("script"), &b"echo this"[..], ServedTo::All);
    let mut command = sandbox.command("/bin/sh");
    let output = command.arg(root.join("other")).output().unwrap();
    assert_eq!(output.stdout, b"other\n");
}

/// Not a test: the host that the next one starts and kills.
#[test]
#[ignore = "started by another test"]
fn a_host_with_threads() {
    let daemon = "setsid sh -c 'trap \"\" HUP INT TERM; echo $$; sleep 300; sleep 300' & sleep 300";
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| minimal().command("/bin/sh").args(["-c", daemon]).run());
        }
    });
}

/// Not a test either.
#[test]
#[ignore = "started by another test"]
fn a_host_that_ignores_its_children() {
    let of_ours = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = of_ours.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap();
    let ignored = u64::from_str_radix(ignored, 16).unwrap();
    assert_ne!(ignored & 1 << (libc::SIGCHLD - 1), 0);
    let outcome = minimal().command("/bin/sh").args(["-c", "exit 3"]).run().unwrap();
    assert_eq!(outcome.exit_code(), 3);
    let sandbox = Sandbox::profile("readonly").unwrap().root("/");
    assert_eq!(
        sandbox
            .command("/bin/sh")
            .args(["-c", "exit 4"])
            .run()
            .unwrap()
            .exit_code(),
        4
    );
}

/// This program as a host, by the name of such a test.
fn host(name: &str) -> std::process::Command {
    // What follows the test program's name in the module's.
    let module = module_path!()
        .split_once("::")
        .map_or(String::new(), |(_, module)| format!("{module}::"));
    let mut host = std::process::Command::new(std::env::current_exe().unwrap());
    host.args([
        "--exact",
        &format!("{module}{name}"),
        "--ignored",
        "--nocapture",
        "--quiet",
    ])
    .stdin(std::process::Stdio::null());
    host
}

#[test]
fn a_host_that_ignores_its_children_hears_the_codes() {
    let host = host("a_host_that_ignores_its_children");
    let host = std::process::Command::new("env")
        .arg("--ignore-signal=CHLD")
        .arg(host.get_program())
        .args(host.get_args())
        .output()
        .unwrap();
    assert!(host.status.success(), "{}", String::from_utf8_lossy(&host.stdout));
}

#[test]
fn runs_end_with_a_host_that_is_killed() {
    use std::io::BufRead;
    let mut host = host("a_host_with_threads")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufReader::new(host.stdout.take().unwrap()).lines();
    let daemons = lines.map_while(Result::ok).filter_map(|line| line.parse::<i32>().ok());
    let daemons: Vec<i32> = daemons.take(4).collect();
    let lives = |pid: &i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(daemons.len() == 4 && daemons.iter().all(lives));
    host.kill().unwrap();
    host.wait().unwrap();
    let begun = Instant::now();
    while daemons.iter().any(lives) {
        assert!(begun.elapsed() < Duration::from_secs(30), "a daemon survives");
        std::thread::sleep(Duration::from_millis(10));
    }
}

//! `stockade shell` and `stockade-sh`: a shell as any other, whose commands run inside one run.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::common::{Place, STOCKADE, is_root};

struct Shell {
    place: Place,
    program: PathBuf,
}

impl Shell {
    fn new() -> Shell {
        let place = Place::new();
        let program = place.home.join("stockade-sh");
        symlink(STOCKADE.path(), &program).unwrap();
        Shell { place, program }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .current_dir(&self.place.root)
            .env("HOME", &self.place.home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).stdin(Stdio::null()).output().unwrap()
    }

    fn prints(&self, words: &[&str], stdout: &str) {
        let output = self.run(words);
        assert_eq!(String::from_utf8_lossy(&output.stdout), stdout, "{words:?}: {output:?}");
    }

    /// Whether a shell with these words may write in the root.
    fn writes(&self, words: &[&str]) -> bool {
        let words: Vec<&str> = words.iter().copied().chain(["-c", "echo x > written"]).collect();
        self.run(&words);
        std::fs::remove_file(self.place.path("written")).is_ok()
    }
}

#[test]
fn its_arguments_are_the_shells() {
    let shell = Shell::new();
    shell.prints(&["-c", "echo $0 $1", "name", "one"], "name one\n");
    shell.prints(&["-lc", "shopt -q login_shell && echo login"], "login\n");
    shell.prints(&["-ec", "false; echo no"], "");
    shell.place.file("script.sh", "echo \"$#:$1\"\n");
    shell.prints(&["script.sh", "a b"], "1:a b\n");
    shell.prints(&["--norc", "-c", "echo long"], "long\n");
    shell.prints(&["-c", "echo $1", "x", "--profile"], "--profile\n");
}

#[test]
fn it_reads_standard_input() {
    let shell = Shell::new();
    for words in [&[][..], &["-s", "x"]] {
        let mut child = shell
            .command(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"echo in; exit 3\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.stdout.as_slice(), output.status.code()),
            (&b"in\n"[..], Some(3))
        );
    }
}

#[test]
fn exit_codes_and_signals_pass() {
    let shell = Shell::new();
    for (line, code) in [
        ("exit 42", 42),
        ("no-such-command 2>/dev/null", 127),
        ("kill -TERM $$", 143),
    ] {
        let status = shell.run(&["-c", line]).status;
        assert_eq!(
            status.code().or(status.signal().map(|signal| 128 + signal)),
            Some(code),
            "{line}"
        );
    }
}

#[test]
fn its_commands_are_confined() {
    let shell = Shell::new();
    shell.place.file("~/outside", "x\n");
    let line = format!("cat {}", shell.place.home.join("outside").display());
    let output = shell.run(&["-c", &line]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was refused reading"));
    assert!(shell.writes(&[]));
}

#[test]
fn the_profile_is_the_users_own() {
    let shell = Shell::new();
    assert!(shell.writes(&[]));
    // Neither a project nor a variable says how its shell is confined.
    shell.place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[shell]\nprofile = \"readonly\"\n",
    );
    assert!(!shell.writes(&[]));
    for name in ["STOCKADE_PROFILE", "PROFILE", "SHELL_PROFILE"] {
        let status = shell
            .command(&["-c", "echo x > written"])
            .env(name, "trusted")
            .status()
            .unwrap();
        assert!(!status.success());
    }
    shell.place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[shell]\nagent = \"judge\"\n",
    );
    assert!(!shell.writes(&[]));
}

#[test]
fn a_project_cannot_set_it() {
    let shell = Shell::new();
    shell.place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[shell]\nprofile = \"readonly\"\n",
    );
    shell
        .place
        .file(".stockade/config.toml", "version = 1\n[shell]\nprofile = \"trusted\"\n");
    assert!(!shell.writes(&[]));
}

#[test]
fn faults_of_the_configuration_start_nothing() {
    let shell = Shell::new();
    for text in [
        "version = 1\n[shell]\nprofil = \"readonly\"\n",
        "version = 1\n[shell]\nprofile = \"../x\"\n",
        "version = 1\n[shell]\nprofile = \"nosuch\"\n",
        "[shell",
    ] {
        shell.place.file("~/.config/stockade/config.toml", text);
        let output = shell.run(&["-c", "echo started"]);
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(125), &b""[..]),
            "{text}"
        );
    }
}

#[test]
fn a_login_shell_is_one_by_its_dash() {
    let shell = Shell::new();
    let script = "exec -a -stockade-sh \"$0\" -c 'shopt -q login_shell && echo login'";
    let output = Command::new("bash")
        .args(["-c", script, shell.program.to_str().unwrap()])
        .current_dir(&shell.place.root)
        .env("HOME", &shell.place.home)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "login\n");
}

#[test]
fn the_task_takes_flags_before_the_shells_arguments() {
    let shell = Shell::new();
    let run = |words: &[&str]| {
        let mut command = shell.command(&[]);
        let program = std::mem::replace(&mut command, Command::new(STOCKADE.path()));
        command.arg("shell").args(words).current_dir(&shell.place.root);
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.output().unwrap()
    };
    assert_eq!(run(&["-c", "echo $1", "x", "--profile"]).stdout, b"--profile\n");
    assert_eq!(
        run(&["--profile", "readonly", "-c", "echo x > written"]).status.code(),
        Some(1)
    );
    assert_eq!(run(&["--profile", "nosuch", "-c", "true"]).status.code(), Some(125));
}

#[test]
fn inside_a_run_it_is_narrowed_further() {
    let shell = Shell::new();
    let directory = shell.place.home.to_str().unwrap().to_string();
    let program = shell.program.to_str().unwrap().to_string();
    let output = Command::new(STOCKADE.path())
        .args(["run", "--ask", "never", "--profile", "workspace"])
        .args([
            "--exec",
            STOCKADE.path(),
            "--exec",
            &directory,
            "--",
            &program,
            "-c",
            "echo inside",
        ])
        .current_dir(&shell.place.root)
        .env("HOME", if is_root() { "/root" } else { &directory })
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "inside\n", "{output:?}");
}

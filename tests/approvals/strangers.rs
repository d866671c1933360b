//! Only the user answers, and only the user asks.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use stockade_report::approve::socket::{WatchError, Watcher};
use stockade_report::approve::{Answer, Choice, SocketApprover, Waiting};

use crate::approvals::question::{ask, request};
use crate::common::{Place, is_root, python, skipped};
use crate::common::{sockets, watch};

fn open_to(directory: &Path, mode: u32) {
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Python as another user, with a place that this user may enter.
fn as_stranger(code: &str, argument: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            python(),
            "-I",
            "-c",
            code,
        ])
        .arg(argument);
    command
}

/// A place whose state directory strangers may enter.
fn open_place() -> Place {
    let place = Place::new();
    let state = place.state();
    std::fs::create_dir_all(state.join("approvals")).unwrap();
    let mut directory = state.as_path();
    while directory.starts_with(&place.home) {
        open_to(directory, 0o755);
        directory = directory.parent().unwrap();
    }
    open_to(directory, 0o755);
    place
}

// promise: answers.9
#[test]
fn a_stranger_who_asks_is_not_heard() {
    if !is_root() {
        return skipped("only root can be somebody else");
    }
    let place = open_place();
    let mut watch = watch(&place, &["--watch", "--plain"]);
    let socket = sockets(&place.state()).pop().unwrap();
    open_to(socket.parent().unwrap(), 0o777);
    open_to(&socket, 0o777);
    // Sooner than somebody who is welcome and says nothing would be sent away.
    let code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.settimeout(3)
try: print(s.recv(1))
except ConnectionResetError: print(b'')";
    let said = as_stranger(code, &socket).output().unwrap();
    assert_eq!(said.stdout, b"b''\n", "{said:?}");
    let open = ask(&place.state(), Waiting::OnlyWatched, request("/mine"));
    watch.awaits("1: read /mine", 1);
    watch.types("1 once");
    assert!(matches!(open.answer().0.choice, Choice::Yes { .. }));
}

// promise: answers.9
#[test]
fn a_stranger_who_listens_is_not_asked() {
    if !is_root() {
        return skipped("only root can be somebody else");
    }
    let place = open_place();
    let directory = place.state().join("approvals");
    open_to(&directory, 0o777);
    let code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
print('ready', flush=True); s.settimeout(30); s.accept()[0].recv(1)";
    let mut stranger = as_stranger(code, &directory.join("1-a.sock"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(stranger.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    assert!(!SocketApprover::new(place.state(), Waiting::OnlyWatched).is_watched());
    let (answer, _) = ask(&place.state(), Waiting::OnlyWatched, request("/x")).answer();
    assert_eq!(answer, Answer::silence("no `stockade approvals` is watching"));
    let mode = std::fs::metadata(&directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "what was open is closed");
    let _ = stranger.kill();
    let _ = stranger.wait();
}

#[test]
fn a_directory_that_is_a_link_or_anothers_isnt_used() {
    let place = Place::new();
    let (state, elsewhere) = (place.path("state"), place.path("elsewhere"));
    std::fs::create_dir(&state).unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, state.join("approvals")).unwrap();
    assert!(matches!(Watcher::begin(&state), Err(WatchError::Directory(_))));
    let _elsewhere = Watcher::begin(&elsewhere).unwrap();
    assert!(!SocketApprover::new(&state, Waiting::OnlyWatched).is_watched());
    if is_root() {
        std::fs::remove_file(state.join("approvals")).unwrap();
        std::fs::create_dir(state.join("approvals")).unwrap();
        std::os::unix::fs::chown(state.join("approvals"), Some(65534), None).unwrap();
        let error = Watcher::begin(&state).unwrap_err();
        assert!(error.to_string().ends_with("isn't yours alone"), "{error}");
    }
}

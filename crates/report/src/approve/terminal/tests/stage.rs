//! A terminal with a simulated person, and a supervisor that asks there: this test program once more, in a session of
//! its own (`setsid -c`), since only a process in such a session can have a controlling terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, poll};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};

use super::super::{Device, Terminal};
use super::scene::{Foreground, Mode, Outcome, Scene};
use crate::approve::{Approver, Deadline};
use stockade_sys::signals::SignalSet;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// The variables that pass the supervisor its scene and the file for its outcome.
const SCENE: &str = "STOCKADE_TEST_SCENE";
const OUTCOME: &str = "STOCKADE_TEST_OUTCOME";

/// The supervisor's command line. A hang-up doesn't end it, as it doesn't end Stockade while it asks. Ctrl-C does, even
/// if the tests' caller ignores it, as shells without job control do in the background.
pub fn supervisor(scene: &Scene, outcome: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "trap '' HUP; exec env --default-signal=INT setsid -c \"$@\"",
            "sh",
        ])
        .arg(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "approve::terminal::tests::stage::supervises",
        "--ignored",
        "--nocapture",
    ]);
    set_scene(&mut command, scene, outcome);
    command
}

/// Passes the scene.
pub fn set_scene(command: &mut Command, scene: &Scene, outcome: &Path) {
    let no_color = if scene.is_colourless { "1" } else { "" };
    command
        .env("TERM", &scene.term)
        .env("NO_COLOR", no_color)
        .env(OUTCOME, outcome);
    command.env(SCENE, serde_json::to_string(scene).unwrap());
}

/// Waits for the outcome.
pub fn outcome(file: &Path) -> Outcome {
    let end = Instant::now() + LONG;
    loop {
        match fs::read_to_string(file) {
            Ok(text) if text.ends_with('\n') => return serde_json::from_str(&text).unwrap(),
            _ => assert!(Instant::now() < end, "no outcome"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A pseudo-terminal: the master and the slave. Neither is inherited, not even by other tests' programs: a
/// terminal hangs up when the last copy of its master is closed.
fn pair() -> (File, File) {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY;
    let master = posix_openpt(flags | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let mut slave = OpenOptions::new();
    slave.read(true).write(true).custom_flags(libc::O_NOCTTY);
    let slave = slave.open(ptsname_r(&master).unwrap()).unwrap();
    (File::from(OwnedFd::from(master)), slave)
}

/// The master side of the terminal.
pub struct Stage {
    master: Option<File>,
    supervisor: Option<Child>,
    place: tempfile::TempDir,
    said: String,
    seen: usize,
}

impl Stage {
    /// A stage with these keys typed before anything runs.
    pub fn with_keys(scene: &Scene, keys: &str) -> Stage {
        let place = tempfile::tempdir().unwrap();
        let (mut master, slave) = pair();
        master.write_all(keys.as_bytes()).unwrap();
        let mut command = supervisor(scene, &place.path().join("outcome"));
        command.stdin(slave).stdout(Stdio::null()).stderr(Stdio::null());
        Stage {
            supervisor: Some(command.spawn().unwrap()),
            master: Some(master),
            place,
            said: String::new(),
            seen: 0,
        }
    }

    pub fn new(scene: &Scene) -> Stage {
        Stage::with_keys(scene, "")
    }

    /// Waits until this text is on the terminal, after the text waited for before.
    pub fn awaits(&mut self, text: &str) {
        let end = Instant::now() + LONG;
        loop {
            if let Some(at) = self.said[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(Instant::now() < end, "never said {text:?}: {:?}", self.said);
            self.listen();
        }
    }

    pub fn types(&mut self, keys: &str) {
        let master = self.master.as_mut().expect("it is gone");
        master.write_all(keys.as_bytes()).unwrap();
    }

    /// Simulates a hang-up.
    pub fn hangs_up(&mut self) {
        self.master = None;
    }

    pub fn outcome(&self) -> Outcome {
        outcome(&self.place.path().join("outcome"))
    }

    /// All output on the terminal so far.
    pub fn said(&mut self) -> &str {
        self.listen();
        &self.said
    }

    /// The signal that ends the supervisor.
    pub fn ended_by(mut self) -> Option<i32> {
        let mut supervisor = self.supervisor.take().unwrap();
        supervisor.wait().unwrap().signal()
    }

    fn listen(&mut self) {
        let master = self.master.as_mut().expect("it is gone");
        let mut polled = [PollFd::new(master.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, 20u8).unwrap() == 0 {
            return;
        }
        let mut bytes = [0; 4096];
        if let Ok(count) = master.read(&mut bytes) {
            self.said.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(supervisor) = &mut self.supervisor {
            let _ = supervisor.kill();
            let _ = supervisor.wait();
        }
    }
}

/// Not a test: the second program of those in `keys`, `hostile` and `multiplexer`.
#[test]
#[ignore = "started by other tests, on a terminal of its own"]
fn supervises() {
    let Ok(scene) = std::env::var(SCENE) else { return };
    let scene: Scene = serde_json::from_str(&scene).unwrap();
    // Before signals are blocked, because it would inherit that.
    let mut beside = Command::new("sleep").arg("20").stdin(Stdio::null()).spawn().unwrap();
    SignalSet::full().block().unwrap();
    let group = Arc::new(AtomicI32::new(0));
    let owned = Arc::clone(&group);
    let device = Device::open().unwrap();
    let terminal = Terminal::open(Box::new(move |group| group == owned.load(Ordering::Relaxed))).unwrap();
    let mut other = Command::new("sleep").arg("20").process_group(0).spawn().unwrap();
    let other_group = i32::try_from(other.id()).unwrap();
    match scene.foreground {
        Foreground::Stockade | Foreground::None => {}
        Foreground::Run => group.store(other_group, Ordering::Relaxed),
        Foreground::Stranger => group.store(-1, Ordering::Relaxed),
    }
    if scene.foreground != Foreground::Stockade {
        device.set_foreground(other_group).unwrap();
    }
    if scene.foreground == Foreground::None {
        let _ = (other.kill(), other.wait());
    }
    set_mode(&device, scene.mode);
    OpenOptions::new()
        .write(true)
        .open("/dev/tty")
        .unwrap()
        .write_all(scene.left.as_bytes())
        .unwrap();
    let state = || (format!("{:?}", device.mode().ok()), device.foreground().ok());
    let before = state();
    let answer = terminal.ask(&scene.request, &deadline(&scene));
    let after = state();
    let outcome = Outcome {
        answer,
        is_mode_as_before: before.0 == after.0,
        is_foreground_as_before: before.1 == after.1,
        do_others_live: beside.try_wait().unwrap().is_none() && other.try_wait().unwrap().is_none(),
    };
    let file = std::env::var_os(OUTCOME).unwrap();
    fs::write(file, serde_json::to_string(&outcome).unwrap() + "\n").unwrap();
    for mut child in [beside, other] {
        let _ = (child.kill(), child.wait());
    }
}

fn deadline(scene: &Scene) -> Deadline {
    let deadline = Deadline::of(Duration::from_millis(scene.patience_ms));
    if let Some(time) = scene.withdrawn_after_ms {
        let deadline = deadline.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(time));
            deadline.withdraw();
        });
    }
    deadline
}

fn set_mode(device: &Device, mode: Mode) {
    let mut set = device.mode().unwrap();
    match mode {
        Mode::Ordinary => return,
        Mode::Raw => set.c_lflag &= !(libc::ICANON | libc::ECHO),
        Mode::Strange => {
            set.c_lflag = libc::ICANON | libc::ISIG | libc::TOSTOP | libc::NOFLSH;
            set.c_iflag = libc::BRKINT | libc::ICRNL | libc::IXOFF;
            set.c_oflag = libc::OPOST | libc::OLCUC;
            set.c_cc[libc::VERASE] = b'n';
            set.c_cc[libc::VEOL] = b'x';
        }
    }
    device.set_mode(&set).unwrap();
}

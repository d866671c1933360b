//! A run: its command line, and the task that attends it while questions and the end are waited for elsewhere.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::arguments::{Language, Order, What};
use crate::child::{self, Bounds, Ended};
use crate::question::{self, Line};
use crate::settings::{AGENT, Asked, Profile, Settings};

/// How much of a run's output is kept.
const OUTPUT: Bounds = Bounds {
    stdout: 64 << 10,
    stderr: 32 << 10,
};

/// The most bytes of a question. Stockade asks none that is longer.
const LONGEST_QUESTION: u64 = 256 << 10;

/// Where scripts are put if nothing better is there. Like in the others, no shipped profile writes there, so a run can't
/// change the script of another.
const SCRIPTS: &str = "/var/tmp";

/// A run that goes on. Dropping it ends the run.
#[derive(Debug)]
pub struct Running {
    /// Questions as they come.
    pub questions: mpsc::Receiver<Line>,
    /// Answers to them, each a line.
    pub answers: mpsc::Sender<Vec<u8>>,
    /// The end.
    pub ended: oneshot::Receiver<Ended>,
    /// What it has written so far.
    pub heard: Arc<AtomicU64>,
    /// When it began.
    pub begun: Instant,
    /// The profile that it has.
    pub profile: String,
    _stop: DropGuard,
}

/// What a run holds until it has ended: its place among the runs at once, and what the server waits for at its end.
pub type Held = (OwnedSemaphorePermit, mpsc::Sender<()>);

/// Starts a run.
///
/// # Errors
/// Its process can't be started.
pub fn start(order: &Order, profile: &Profile, asks: bool, settings: &Settings, held: Held) -> io::Result<Running> {
    let (report, report_end) = child::report_pipe()?;
    let mut inherited = vec![report_end];
    let mut words: Vec<OsString> = match order.what {
        What::Command { .. } => vec!["run".into(), "--foreign-command".into()],
        What::Script { .. } => vec!["exec".into()],
    };
    let socket = match asks {
        true => {
            let (socket, end) = child::question_socket()?;
            words.extend(["--ask".into(), end.word()]);
            words.extend(["--ask-timeout".into(), milliseconds(settings.ask_timeout)]);
            inherited.push(end);
            Some(socket)
        }
        false => {
            words.extend(["--ask".into(), elsewhere(&settings.ask).into()]);
            None
        }
    };
    words.extend(["--report".into(), inherited[0].word()]);
    words.extend(flags(order, profile, settings));
    let script = command(order, &mut words)?;
    let has_input = order.stdin.is_some();
    let child = child::start(settings, &words, has_input, inherited)?;
    let stop = CancellationToken::new();
    let heard = Arc::new(AtomicU64::new(0));
    let (to_questions, questions) = mpsc::channel(16);
    let (answers, from_answers) = mpsc::channel(16);
    let (to_ended, ended) = oneshot::channel();
    let (token, count) = (stop.clone(), Arc::clone(&heard));
    let input = order.stdin.clone().map(String::into_bytes);
    tokio::spawn(async move {
        let asked = tokio::spawn(converse(socket, to_questions, from_answers));
        let hear = |piece: &[u8]| {
            count.fetch_add(piece.len() as u64, Ordering::Relaxed);
        };
        let end = child::attend(child, input, Some(report), OUTPUT, &token, hear).await;
        asked.abort();
        drop((script, held));
        let _ = to_ended.send(end);
    });
    Ok(Running {
        questions,
        answers,
        ended,
        heard,
        begun: Instant::now(),
        profile: profile.name.clone(),
        _stop: stop.drop_guard(),
    })
}

/// The value of `--ask` where the client isn't asked.
fn elsewhere(ask: &Asked) -> &str {
    match ask {
        Asked::Client => "auto",
        Asked::Elsewhere(value) => value,
    }
}

fn milliseconds(time: std::time::Duration) -> OsString {
    format!("{}ms", time.as_millis()).into()
}

/// What the user set, and variables. No grant is among them.
fn flags(order: &Order, profile: &Profile, settings: &Settings) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![
        "--agent".into(),
        AGENT.into(),
        "--profile".into(),
        profile.argument.clone().into(),
        "--time-limit".into(),
        milliseconds(order.time_limit),
    ];
    if let Some(digest) = &profile.digest {
        words.extend(["--profile-digest".into(), digest.into()]);
    }
    // Under whatever profile: the next run may have another.
    for file in settings.profiles.files() {
        words.extend(["--guard".into(), file.into()]);
    }
    // Without it the root is where the server was started, which Stockade may refuse.
    if settings.is_root_named {
        words.extend(["--root".into(), ".".into()]);
    }
    for variable in &order.env {
        words.extend(["--env".into(), variable.into()]);
    }
    words.push("--".into());
    words
}

/// Adds the command; returns the directory of its script.
fn command(order: &Order, words: &mut Vec<OsString>) -> io::Result<Option<TempDir>> {
    match &order.what {
        What::Command {
            words: command,
            directory,
            ..
        } => {
            if let Some(directory) = directory {
                // Stockade looks through `env` to the program behind it.
                words.extend(["env".into(), "-C".into(), directory.clone().into(), "--".into()]);
            }
            words.extend(command.iter().map(OsString::from));
            Ok(None)
        }
        What::Script {
            language,
            code,
            arguments,
        } => {
            let (directory, path) = script(*language, code)?;
            words.push(path.into());
            words.extend(arguments.iter().map(OsString::from));
            Ok(Some(directory))
        }
    }
}

/// A script in a directory of its own, which goes with the run.
fn script(language: Language, code: &str) -> io::Result<(TempDir, PathBuf)> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("stockade-mcp-")
        .permissions(Permissions::from_mode(0o700));
    let directory = places().find_map(|place| builder.tempdir_in(place).ok());
    let directory = directory.map_or_else(|| builder.tempdir(), Ok)?;
    if matches!(language, Language::Javascript | Language::Typescript) {
        refuse_modules_of_others(directory.path())?;
    }
    let path = directory.path().join(language.file());
    let mut file = std::fs::File::create_new(&path)?;
    file.write_all(code.as_bytes())?;
    Ok((directory, path))
}

/// Directories for scripts, the best one first: Node looks for modules above a script, so other users shouldn't be able to
/// make anything there. That of a session is one's own (file-hierarchy(7)); only root may make something in `/run`.
fn places() -> impl Iterator<Item = PathBuf> {
    let user = nix::unistd::geteuid();
    let own = match user.is_root() {
        true => PathBuf::from("/run"),
        false => PathBuf::from(format!("/run/user/{user}")),
    };
    let is_own = |place: &PathBuf| {
        std::fs::symlink_metadata(place)
            .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user.as_raw() && metadata.mode() & 0o022 == 0)
    };
    Some(own).filter(is_own).into_iter().chain([PathBuf::from(SCRIPTS)])
}

/// Refuses a place above which another user has modules, which a script could load by their names alone.
fn refuse_modules_of_others(place: &Path) -> io::Result<()> {
    let user = nix::unistd::geteuid().as_raw();
    for above in place.ancestors().skip(1) {
        let modules = above.join("node_modules");
        if let Ok(metadata) = std::fs::symlink_metadata(&modules)
            && ![0, user].contains(&metadata.uid())
        {
            let text = format!("another user's `{}` would be loaded from", modules.display());
            return Err(io::Error::other(text));
        }
    }
    Ok(())
}

/// Carries questions from the run, and answers to it.
async fn converse(socket: Option<UnixStream>, questions: mpsc::Sender<Line>, mut answers: mpsc::Receiver<Vec<u8>>) {
    let Some(socket) = socket else { return };
    let (reading, mut writing) = socket.into_split();
    let read = async {
        let mut reading = BufReader::new(reading);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut reading)
                .take(LONGEST_QUESTION + 1)
                .read_until(b'\n', &mut line)
                .await;
            if !matches!(read, Ok(1..)) || line.last() != Some(&b'\n') {
                return;
            }
            if let Some(line) = question::read(&line)
                && questions.send(line).await.is_err()
            {
                return;
            }
        }
    };
    let write = async {
        while let Some(answer) = answers.recv().await {
            if writing.write_all(&answer).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}

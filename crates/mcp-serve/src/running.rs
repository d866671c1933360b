//! A run: its command line, and the task that attends it while questions and the end are waited for elsewhere.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
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
const MAX_QUESTION: u64 = 256 << 10;

/// Names beside a script's directory by which Node, tsx, Bun and Deno load code, or learn where to load it from. A
/// `package.json` of ours in the directory wouldn't do: Node then warns about ES modules, and Deno takes no `npm:` packages.
const LOADED: &str = "{node_modules,package.json,tsconfig.json,jsconfig.json,deno.json,deno.jsonc}";

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
        What::Command { .. } => vec!["run".into()],
        // The profile isn't one that a user named.
        What::Script { .. } => vec!["exec".into(), "--quiet".into()],
    };
    for tree in &settings.written {
        words.extend(["--foreign-tree".into(), tree.into()]);
    }
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
    let script = command(&order.what, &places(), &mut words)?;
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
        // Else the call would wait until a person comes to watch.
        Asked::Elsewhere(value) if value == "socket" => "watched",
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
    words
}

/// Adds the command; returns the directory of its script, which is in the first of these places that can be used.
fn command(what: &What, places: &[PathBuf], words: &mut Vec<OsString>) -> io::Result<Option<TempDir>> {
    match what {
        What::Command {
            words: command,
            directory,
            ..
        } => {
            words.push("--".into());
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
            let directory = directory_in(places)?;
            let path = directory.path().join(language.file());
            let mut file = std::fs::File::create_new(&path)?;
            file.write_all(code.as_bytes())?;
            if let (Language::Javascript | Language::Typescript, Some(place)) = (language, directory.path().parent()) {
                // In `/var/tmp` other users may put modules beside it, also later.
                for closed in [LOADED, "node_modules/**"] {
                    words.extend(["--deny".into(), place.join(closed).into()]);
                }
            }
            words.extend(["--".into(), path.into()]);
            words.extend(arguments.iter().map(OsString::from));
            Ok(Some(directory))
        }
    }
}

/// A directory for a script, which goes with the run. By its name, no run changes what is in it, whatever grants that.
fn directory_in(places: &[PathBuf]) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("stockade-code-")
        .permissions(Permissions::from_mode(0o700));
    let mut usable = places.iter().filter(|place| keeps_names(place));
    usable.find_map(|place| builder.tempdir_in(place).ok()).ok_or_else(|| {
        let tried: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
        io::Error::other(format!(
            "a script needs a directory where runs and other users replace nothing, and {} can't be used; make one of them \
             writable, in a container by a tmpfs",
            tried.join(" and ")
        ))
    })
}

/// Where scripts are put, the best place first. That of a session is the user's own (file-hierarchy(7)); only root may
/// make something in `/run`. No shipped profile writes in any, and `TMPDIR` and `/tmp`, where runs write, aren't among them.
fn places() -> [PathBuf; 2] {
    let user = nix::unistd::geteuid();
    let own = match user.is_root() {
        true => PathBuf::from("/run"),
        false => PathBuf::from(format!("/run/user/{user}")),
    };
    [own, PathBuf::from("/var/tmp")]
}

/// Whether no other user can rename or replace what this user has in a directory. No link leads there from elsewhere.
fn keeps_names(place: &PathBuf) -> bool {
    let owners = [0, nix::unistd::geteuid().as_raw()];
    std::fs::canonicalize(place).is_ok_and(|real| real == *place)
        && std::fs::metadata(place).is_ok_and(|metadata| {
            let is_sticky = metadata.mode() & nix::libc::S_ISVTX != 0;
            metadata.is_dir() && owners.contains(&metadata.uid()) && (is_sticky || metadata.mode() & 0o022 == 0)
        })
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
            let read = (&mut reading).take(MAX_QUESTION + 1).read_until(b'\n', &mut line).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The words for a script.
    fn words(language: Language, places: &[PathBuf]) -> io::Result<(Vec<OsString>, TempDir)> {
        let script = What::Script {
            language,
            code: "1".into(),
            arguments: vec!["a".into()],
        };
        let mut words = Vec::new();
        let directory = command(&script, places, &mut words)?;
        Ok((words, directory.unwrap()))
    }

    #[test]
    fn what_other_users_put_beside_a_script_for_node_is_closed_to_it() {
        let place = tempfile::tempdir().unwrap();
        let places = [place.path().to_path_buf()];
        for (language, is_node) in [
            (Language::Javascript, true),
            (Language::Typescript, true),
            (Language::Python, false),
            (Language::Shell, false),
        ] {
            let (words, directory) = words(language, &places).unwrap();
            let script = directory.path().join(language.file());
            let closed = |name: &str| [OsString::from("--deny"), place.path().join(name).into()];
            let mut expected: Vec<OsString> = Vec::new();
            if is_node {
                expected.extend(closed(LOADED).into_iter().chain(closed("node_modules/**")));
            }
            expected.extend(["--".into(), OsString::from(script), "a".into()]);
            assert_eq!(words, expected);
        }
    }

    #[test]
    fn a_script_is_put_nowhere_else_than_in_its_places() {
        let top = tempfile::tempdir().unwrap();
        let [open, link, missing, own] = ["open", "link", "missing", "own"].map(|name| top.path().join(name));
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        std::fs::create_dir(&own).unwrap();
        std::fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        let mut places = vec![open.clone(), link, missing.clone()];
        let error = words(Language::Shell, &places).unwrap_err().to_string();
        for place in [&open, &missing] {
            assert!(error.contains(&format!("`{}`", place.display())), "{error}");
        }
        places.push(own.clone());
        let (_, directory) = words(Language::Shell, &places).unwrap();
        assert_eq!(directory.path().parent(), Some(own.as_path()));
        // By this name it is guarded from all runs.
        let name = directory.path().file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("stockade-code-"), "{name}");
        std::fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
        let (_, directory) = words(Language::Shell, &places).unwrap();
        assert_eq!(directory.path().parent(), Some(open.as_path()));
    }
}

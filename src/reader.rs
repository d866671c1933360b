//! Parses untrusted code in a separate process: Stockade itself, which gives up every file and connection
//! before it looks at the text. A hostile text that breaks the parser costs the answer and nothing else.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError};
use nix::sys::resource::{Resource, setrlimit};
use serde::{Deserialize, Serialize};

use super::REFUSED;
use super::message::Failure;
use stockade_infer::{Inference, Language, MAX_LENGTH, Setting, infer};

/// The limit for one text in seconds, of processor time and of real time.
const MAX_READING: u64 = 10;

/// The size of the stack in bytes. It is allocated as it is used.
const STACK: usize = 256 << 20;

/// The limit of memory in bytes.
const MEMORY: u64 = 4 << 30;

/// The most bytes of an answer.
const MAX_ANSWER: u64 = 16 << 20;

/// The text to be read.
#[derive(Serialize, Deserialize)]
struct Task {
    source: String,
    language: Language,
    setting: Setting,
}

/// Infers a script's needs in a confined process. A text that can't be read gets an unsure answer.
pub fn read(source: &str, language: Language, setting: &Setting) -> Inference {
    if source.len() > MAX_LENGTH {
        return Inference::unreadable(language, "it is longer than 1 MiB");
    }
    let task = Task {
        source: source.to_string(),
        language,
        setting: setting.clone(),
    };
    answer(&task).unwrap_or_else(|why| Inference::unreadable(language, why))
}

fn answer(task: &Task) -> Result<Inference, &'static str> {
    let mut reader = Command::new("/proc/self/exe")
        .args(["infer", "--reader", "-"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|_| "no process could be made that reads it")?;
    let (input, output) = (reader.stdin.take(), reader.stdout.take());
    let question = serde_json::to_vec(task).map_err(|_| "it is no text")?;
    // The reader reads the whole question before it answers.
    let mut answer = Vec::new();
    let asked = input.map(|mut input| input.write_all(&question));
    let waited = output.map(|output| wait_for(output, &mut answer));
    if !waited.unwrap_or(false) {
        let _ = reader.kill();
    }
    let ended = reader.wait();
    match (asked, ended) {
        (Some(Ok(())), Ok(status)) if status.success() => {
            serde_json::from_slice(&answer).map_err(|_| "its reader answered nonsense")
        }
        _ => Err("its reader broke, or took too long"),
    }
}

/// Reads to the end; returns true if that came in time.
fn wait_for(mut output: std::process::ChildStdout, answer: &mut Vec<u8>) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let deadline = Instant::now() + Duration::from_secs(MAX_READING + 2);
    let mut piece = vec![0; 64 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        let mut waiting = [PollFd::new(output.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waiting, timeout) {
            Ok(0) => return false,
            Err(nix::errno::Errno::EINTR) => continue,
            Err(_) => return false,
            Ok(_) => {}
        }
        match output.read(&mut piece) {
            Ok(0) => return true,
            Ok(count) => answer.extend(&piece[..count]),
            Err(_) => return false,
        }
        if answer.len() as u64 > MAX_ANSWER {
            return false;
        }
    }
}

/// The reader's side: one question on standard input, its answer on standard output.
///
/// # Errors
/// The question is malformed.
pub fn serve() -> Result<u8, Failure> {
    confine();
    let failed = |error: &dyn std::error::Error| Failure::new(REFUSED, error);
    let mut question = Vec::new();
    let mut input = std::io::stdin().lock().take(8 * MAX_LENGTH as u64);
    input.read_to_end(&mut question).map_err(|error| failed(&error))?;
    let task: Task = serde_json::from_slice(&question).map_err(|error| failed(&error))?;
    let reading = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let answer = infer(&task.source, task.language, &task.setting);
        serde_json::to_vec(&answer)
    });
    let answer = reading.map_err(|error| failed(&error))?.join();
    let answer = answer.map_err(|_| Failure::text(REFUSED, "the reader broke"))?;
    let answer = answer.map_err(|error| failed(&error))?;
    std::io::stdout().write_all(&answer).map_err(|error| failed(&error))?;
    Ok(0)
}

/// Drops all access that reading doesn't need. If this kernel can't drop some, it stays: the text is only read, never run.
fn confine() {
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    let _ = setrlimit(Resource::RLIMIT_CPU, MAX_READING, MAX_READING);
    let _ = setrlimit(Resource::RLIMIT_AS, MEMORY, MEMORY);
    let _ = close_everything();
}

fn close_everything() -> Result<(), RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V5))?;
    ruleset.create()?.restrict_self().map(drop)
}

//! `stockade hook AGENT`: answers a coding agent's hook, before and after a tool call, in the agent's own format.
//!
//! Whatever goes wrong blocks, in the way that the agent understands: wrong words on the command line, an event that isn't
//! understood, faults of the configuration, a panic, and time that passes.

mod checker;
mod reports;
mod trial;
mod work_tree;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::REFUSED;
use super::hook_flags::{HookFlags, HookTask};
use super::hook_grants::whole;
use super::install;
use super::message::Failure;
use checker::HookChecker;
use reports::Reports;
use stockade::internal::Surroundings;
use stockade_hook::{Agent, Confinement, Event, Reply, answer, bounded, unknown_agent};
use stockade_policy::profile::{nearest, visible};

/// The longest time until an answer. Agents take the time-out of a hook for no objection.
const MAX_TIME: Duration = Duration::from_secs(8);

/// One more byte than any event has, so that a longer one is seen to be longer.
const MAX_READ: u64 = (32 << 20) + 1;

/// Words in the place of an agent's that are for people.
const FOR_PEOPLE: [&str; 5] = ["install", "uninstall", "help", "-h", "--help"];

/// The exit code that every agent takes for a denial.
const BLOCKED: u8 = 2;

/// Whether a reply was printed, or is about to be.
static SAID: AtomicBool = AtomicBool::new(false);

/// A call of `stockade hook`, known before its arguments are read, so that wrong ones block too.
#[derive(Debug, Clone, Copy)]
pub struct Called {
    agent: Option<Agent>,
}

impl Called {
    /// Whether these words call a hook; tasks that manage hooks are for people.
    pub fn by(words: &[OsString]) -> Option<Called> {
        let mut words = words.iter().skip(1).map(|word| word.to_str());
        if words.next()? != Some("hook") {
            return None;
        }
        match words.next() {
            Some(Some(word)) if FOR_PEOPLE.contains(&word) => None,
            None if io::stdin().is_terminal() => None,
            word => Some(Called {
                agent: word.flatten().and_then(Agent::named),
            }),
        }
    }

    /// Whether the agent's name is missing or wrong, which clap would answer with help or an error for people.
    pub fn is_of_no_agent(self) -> bool {
        self.agent.is_none()
    }

    /// Blocks for a failure; returns the exit code. At a terminal there is the error alone, and the exit code blocks all the same.
    pub fn fail(self, failure: &Failure) -> u8 {
        if io::stdin().is_terminal() {
            failure.print();
            return BLOCKED;
        }
        self.block(&reason_of(failure))
    }

    /// Blocks for this reason; returns the exit code.
    pub fn block(self, reason: &str) -> u8 {
        say(&self.blocked(reason))
    }

    fn blocked(self, reason: &str) -> Reply {
        let reason = format!("Permission denied: the hook of Stockade failed: {}", bounded(reason));
        match self.agent {
            Some(agent) => agent.blocked(&reason),
            None => unknown_agent(&reason),
        }
    }

    /// Blocks after a while if there is no other reply by then.
    pub fn watch(self) {
        let watcher = move || {
            std::thread::sleep(MAX_TIME);
            std::process::exit(i32::from(self.block("it took too long")));
        };
        // Without a thread the agent's own time-out is left.
        let _ = std::thread::Builder::new().spawn(watcher);
    }
}

/// The reason of a failure in one line.
pub fn reason_of(failure: &Failure) -> String {
    let lines = failure.lines();
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = lines.collect::<Vec<_>>().join("; ");
    text.strip_prefix("stockade: ").unwrap_or(&text).to_string()
}

/// The failure of a hook that names no agent, or one that isn't known.
pub fn no_agent(words: &[OsString]) -> Failure {
    let names = Agent::ALL.map(Agent::name);
    let Some(given) = words.get(2).map(|word| word.to_string_lossy()) else {
        return Failure::text(REFUSED, "`stockade hook` needs the name of an agent").hint(all_of(&names));
    };
    let message = format!("no agent or task of `stockade hook` is called `{}`", visible(&given));
    let hint = match nearest(&given, names.into_iter().chain(FOR_PEOPLE)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("{}; the tasks are `install` and `uninstall`", all_of(&names)),
    };
    Failure::text(REFUSED, message).hint(hint)
}

fn all_of(names: &[&str]) -> String {
    format!("the agents are `{}`", names.join("`, `"))
}

/// Carries out `stockade hook …`.
pub fn hook(task: &HookTask) -> Result<u8, Failure> {
    match task {
        HookTask::ClaudeCode(flags) => reply(Agent::ClaudeCode, flags),
        HookTask::Codex(flags) => reply(Agent::Codex, flags),
        HookTask::Gemini(flags) => reply(Agent::Gemini, flags),
        HookTask::Cursor(flags) => reply(Agent::Cursor, flags),
        HookTask::Copilot(flags) => reply(Agent::Copilot, flags),
        HookTask::Install(task) => install::hook_install(task, trial::tried),
        HookTask::Uninstall(task) => install::hook_uninstall(task),
    }
}

/// Answers one event on standard input; returns the exit code.
fn reply(agent: Agent, flags: &HookFlags) -> Result<u8, Failure> {
    if io::stdin().is_terminal() {
        let message = "a hook reads an agent's event from standard input, not from a terminal";
        return Err(Failure::text(REFUSED, message).hint("`stockade hook install --for AGENT` registers it"));
    }
    let mut input = Vec::new();
    let read = io::stdin().lock().take(MAX_READ).read_to_end(&mut input);
    read.map_err(|error| Failure::text(REFUSED, format!("can't read the event: {error}")))?;
    let event = agent.read(&input).map_err(|error| Failure::new(REFUSED, &error))?;
    let reply = match answered(agent, flags, event.clone()) {
        Ok(reply) => reply,
        Err(failure) => {
            let reason = format!("Permission denied: {}", bounded(&reason_of(&failure)));
            agent.blocked_event(&event, &reason)
        }
    };
    Ok(say(&reply))
}

fn answered(agent: Agent, flags: &HookFlags, mut event: Event) -> Result<Reply, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    // As it is named: the run and the checker refuse a name that an earlier run may have led elsewhere.
    let root = root(agent, flags, &event, &surroundings)?;
    event.call.cwd = event.call.cwd.map(real_or_same);
    let reports = Reports::of(&surroundings);
    let absolute: PathBuf = surroundings.directory.join(&root).components().collect();
    let confinement = confinement(flags, &absolute, &reports, &surroundings)?;
    let mut checker = HookChecker::open(agent, flags, &root, reports, &surroundings)?;
    let reply = answer(agent, &event, &mut checker, &confinement, flags.confined);
    checker.close();
    Ok(reply)
}

/// The name of the run's root: the flag's, else what the agent says that the project is.
fn root(agent: Agent, flags: &HookFlags, event: &Event, surroundings: &Surroundings) -> Result<PathBuf, Failure> {
    let here = &surroundings.directory;
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cwd = event.call.cwd.as_deref();
    let told = match agent {
        Agent::ClaudeCode => variable("CLAUDE_PROJECT_DIR"),
        Agent::Gemini => variable("GEMINI_PROJECT_DIR"),
        Agent::Cursor => around(&event.call.roots, cwd).or_else(|| variable("CURSOR_PROJECT_DIR")),
        // Its hooks may have a directory of their own.
        Agent::Copilot => cwd.map(Path::to_path_buf),
        Agent::Codex => None,
    };
    let told = told.unwrap_or_else(|| ".".into());
    let beside = || work_tree::sibling(&here.join(&told), cwd?);
    let wanted = flags.root.clone().or_else(beside).unwrap_or(told);
    let root = std::fs::canonicalize(here.join(&wanted)).map_err(|error| {
        let message = format!("the project `{}` can't be used: {error}", wanted.display());
        Failure::text(REFUSED, message).hint("name one with `--root DIR` of the hook")
    })?;
    if flags.root.is_none() && surroundings.holds_home(&root) {
        let message = format!("refusing to use `{}` as the project without `--root`", root.display());
        return Err(Failure::text(REFUSED, message).hint("start the agent in the project's directory"));
    }
    Ok(wanted)
}

/// The directory of the workspace around `cwd`, else the first.
fn around(roots: &[PathBuf], cwd: Option<&Path>) -> Option<PathBuf> {
    let cwd = cwd.map(|cwd| real_or_same(cwd.to_path_buf()));
    let holds = |root: &&PathBuf| {
        cwd.as_ref()
            .is_some_and(|cwd| cwd.starts_with(real_or_same(root.to_path_buf())))
    };
    roots.iter().find(holds).or(roots.first()).cloned()
}

fn real_or_same(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

fn confinement(
    flags: &HookFlags,
    root: &Path,
    reports: &Reports,
    surroundings: &Surroundings,
) -> Result<Confinement, Failure> {
    let program = env::current_exe()
        .map_err(|error| Failure::text(REFUSED, format!("can't tell where Stockade's own program is: {error}")))?;
    Ok(Confinement {
        program,
        flags: run_flags(flags, &surroundings.directory)?,
        root: root.to_path_buf(),
        reports: reports.directory().map(Path::to_path_buf),
        shell: super::shell::name(surroundings),
    })
}

/// The flags of `run` for the hook's own. Their paths are this process's: the command starts elsewhere.
fn run_flags(flags: &HookFlags, here: &Path) -> Result<Vec<String>, Failure> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |flag: &str, value: String| words.extend([flag.to_string(), value]);
    match (&flags.profile, &flags.agent) {
        (Some(profile), _) if profile.contains('/') => add("--profile", whole(profile.as_ref(), here)?),
        (Some(profile), _) => add("--profile", profile.clone()),
        (None, None) => add("--profile", checker::PROFILE.into()),
        (None, Some(_)) => {}
    }
    if let Some(agent) = &flags.agent {
        add("--agent", agent.clone());
    }
    if let Some(choice) = &flags.net {
        let choice = match choice {
            stockade::NetworkChoice::None => "none",
            stockade::NetworkChoice::All => "all",
        };
        add("--net", choice.into());
    }
    if flags.ask != "auto" {
        add("--ask", flags.ask.clone());
    }
    words.extend(flags.grants.flags(here)?.concat());
    words.extend(flags.llm.then(|| "--llm".to_string()));
    Ok(words)
}

/// Prints the reply, once; returns the exit code. A reply that can't be printed blocks.
fn say(reply: &Reply) -> u8 {
    if SAID.swap(true, Ordering::SeqCst) {
        // The other thread ends the process.
        loop {
            std::thread::park();
        }
    }
    let printed = match is_read() {
        true => print(&format!("{}\n", reply.stdout)),
        false => Err(io::ErrorKind::BrokenPipe.into()),
    };
    let _ = io::stderr().lock().write_all(reply.stderr.as_bytes());
    match printed {
        Ok(()) => reply.exit_code,
        Err(_) => {
            let _ = writeln!(
                io::stderr().lock(),
                "stockade: the reply can't be printed: standard output is closed, full or leads nowhere"
            );
            BLOCKED
        }
    }
}

/// Writes to standard output itself: the standard library takes one that isn't open for writing for one that was written.
fn print(text: &str) -> io::Result<()> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match nix::unistd::write(io::stdout(), rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => rest = &rest[length..],
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether standard output may lead anywhere. One that was closed is `/dev/null` by now, open for reading and writing; a
/// shell's `>/dev/null` only writes, and is meant.
fn is_read() -> bool {
    let device = |path: &str| std::fs::metadata(path).map(|metadata| metadata.rdev());
    let flags = nix::fcntl::fcntl(io::stdout(), nix::fcntl::FcntlArg::F_GETFL).unwrap_or(libc::O_WRONLY);
    match (device("/proc/self/fd/1"), device("/dev/null")) {
        (Ok(output), Ok(null)) => output != null || flags & libc::O_ACCMODE == libc::O_WRONLY,
        _ => true,
    }
}

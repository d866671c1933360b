//! `stockade mcp wrap`: starts the server by `stockade run`, and relays between it and its client.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stockade::Sandbox;
use stockade::internal::WrittenTrees;
use stockade_mcp::known::Known;
use stockade_mcp::relay::{self, Streams};
use stockade_mcp::{Places, Rules, Session, Setup, Variables, name_of, of_client, set_for_server};
use stockade_policy::config::McpServer;
use stockade_report::approve::{Approver, SocketApprover, Waiting};
use stockade_sys::file::has_other_end;
use stockade_sys::process::end_with_us;
use stockade_sys::signals::{SignalSet, next_signal};

use super::words::{before_command, grants};
use crate::REFUSED;
use crate::args::{McpWrap, Run};
use crate::ask::Ask;
use crate::layers::Here;
use crate::message::{Failure, note};
use crate::run::split_variable;

/// The profile of servers of which nothing else is said.
const PROFILE: &str = "mcp-standard";

/// How long a server that has ended may keep its last lines, and one that isn't heard may stay.
const GRACE: Duration = Duration::from_secs(5);

/// Milliseconds between two looks whether the last lines have gone.
const LOOKS: u8 = 2;

/// Signals that are passed on to the server.
const PASSED_ON: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// Serves one client; returns the exit code of the server.
pub fn wrap(task: &McpWrap) -> Result<u8, Failure> {
    let failed = |error: io::Error| Failure::new(REFUSED, &error);
    let run = &task.run;
    if run.dry_run {
        return Err(Failure::text(REFUSED, "`mcp wrap` has no `--dry-run`")
            .hint("`stockade run --dry-run` with the server's profile and flags shows what it is granted"));
    }
    let name = task.name.clone().unwrap_or_else(|| name_of(&run.command));
    let here = Here::load(run.root.as_deref())?;
    let server = here.layers.mcp_server(&name);
    let profile = profile(run, &server, &here);
    let places = Places {
        home: here.surroundings.home.as_deref(),
        root: &here.root,
        trees: &WrittenTrees::default(),
    };
    let own = server.write.iter().filter_map(|text| places.path(text));
    let sandbox = sandbox(run, own, (&profile, run.llm || server.llm), &here)?;
    let mut trees = sandbox.trees_of_any_command()?;
    let of_tools = server.tools.iter().flat_map(|tool| &tool.write);
    trees.add(of_tools.filter_map(|text| places.path(text)));
    for text in [&server.read, &server.exec, &server.socket].into_iter().flatten() {
        if let Some(path) = places.path(text) {
            trees.real_path(text, &path)?;
        }
    }
    for path in run.read.iter().chain(&run.exec).chain(&run.socket) {
        trees.real_path(&path.to_string_lossy(), &here.surroundings.directory.join(path))?;
    }
    let places = Places {
        trees: &trees,
        ..places
    };
    let rules = Rules::of(&server, here.layers.mcp_usual(), &places)?;
    let asking = Asking::of(run, &rules, here.surroundings.state.as_deref())?;
    let (ask, runs_ask) = UnixStream::pair().map_err(failed)?;
    let (events, runs_events) = UnixStream::pair().map_err(failed)?;
    events.set_nonblocking(true).map_err(failed)?;

    let mut words = before_command(&run.command)?;
    words.extend(grants(&server, &places));
    words.extend(["--real-root".into(), (&here.root).into()]);
    if run.profile.is_none() {
        words.extend(["--profile".into(), (&profile).into()]);
    }
    words.extend(variables(run));
    let lacks = lacks(&sandbox, run, &words)?;
    words.extend(asking.words(&runs_ask));
    words.extend(["--events".into(), format!("fd:{}", runs_events.as_raw_fd()).into()]);
    words.push("--".into());
    words.extend(run.command.iter().cloned());

    // Before the start and all threads, so that no signal is missed.
    let mut heeded: Vec<i32> = PASSED_ON.to_vec();
    heeded.push(libc::SIGCHLD);
    let signals = SignalSet::of(&heeded);
    signals.block().map_err(failed)?;
    let signals = signals.descriptor(true).map_err(failed)?;
    let mut child = start(&words, [&runs_ask, &runs_events]).map_err(failed)?;
    drop((runs_ask, runs_events));

    let setup = Setup {
        known: here
            .surroundings
            .state
            .as_deref()
            .map(|state| Known::of(state, &name, &run.command)),
        name,
        rules,
        approver: asking.approver,
        is_attended: asking.is_attended,
        forms: asking.forms,
        lacks,
        home: here.surroundings.home.clone(),
        trees,
        token: token().map_err(failed)?,
        tell: Box::new(note),
    };
    let output = File::from(io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    let waited_at = events.try_clone().map_err(failed)?;
    let session = Arc::new(Session::new(setup, Box::new(output), Box::new(events)));
    let streams = Streams {
        from_client: File::from(io::stdin().as_fd().try_clone_to_owned().map_err(failed)?),
        to_server: child.stdin.take().expect("it is piped"),
        from_server: child.stdout.take().expect("it is piped"),
        ask,
        events: waited_at,
    };
    let answers = relay::start(&session, streams).map_err(failed)?;
    let status = wait(&mut child, signals.as_fd()).map_err(failed)?;
    finish(&answers, &session, signals.as_fd()).map_err(failed)?;
    Ok(exit_code(status))
}

/// How the run's questions are answered.
struct Asking {
    /// By this process; else by what the flag says.
    is_ours: bool,
    forms: bool,
    approver: Option<Arc<dyn Approver>>,
    is_attended: Box<dyn Fn() -> bool + Send + Sync>,
    flag: Option<OsString>,
}

impl Asking {
    fn of(run: &Run, rules: &Rules, state: Option<&Path>) -> Result<Asking, Failure> {
        let has_rules = rules.roots.is_some() || rules.tools.values().any(|grants| !grants.is_empty());
        let none = |is_ours| Asking {
            is_ours,
            forms: false,
            approver: None,
            is_attended: Box::new(|| false),
            flag: None,
        };
        let elsewhere = |flag: String| {
            if has_rules {
                note("grants of single tools and of the client's roots don't hold with this `--ask`");
            }
            Asking {
                flag: Some(flag.into()),
                ..none(false)
            }
        };
        Ok(match &run.ask {
            // Nothing waits for a person to come and watch: the client would give its server up meanwhile.
            Ask::Auto | Ask::Socket | Ask::Watched => {
                let socket =
                    state.map(|state| Arc::new(SocketApprover::new(state.to_path_buf(), Waiting::OnlyWatched)));
                let watched = socket.clone();
                Asking {
                    forms: run.ask == Ask::Auto,
                    approver: socket.map(|socket| socket as Arc<dyn Approver>),
                    is_attended: Box::new(move || watched.as_ref().is_some_and(|socket| socket.is_watched())),
                    ..none(true)
                }
            }
            Ask::Never => none(has_rules),
            Ask::Command(text) => elsewhere(format!("command={text}")),
            Ask::Descriptor(number) => elsewhere(format!("fd:{number}")),
            Ask::Terminal => {
                return Err(
                    Failure::text(REFUSED, "a server can't ask at the terminal, which is its client's").hint(
                        "leave `--ask` out: the client shows the questions if it can, else `stockade approvals` does",
                    ),
                );
            }
        })
    }

    fn words(&self, socket: &UnixStream) -> Vec<OsString> {
        let flag = match (&self.flag, self.is_ours) {
            (Some(flag), _) => flag.clone(),
            (None, true) => {
                return vec![
                    "--ask".into(),
                    format!("fd:{}", socket.as_raw_fd()).into(),
                    "--ask-each".into(),
                ];
            }
            (None, false) => "never".into(),
        };
        vec!["--ask".into(), flag]
    }
}

/// The profile: the flag's, the configuration's, or the agent's.
fn profile(run: &Run, server: &McpServer, here: &Here) -> String {
    let agents = || {
        let agent = here.layers.agent(run.agent.as_ref()?)?;
        Some(agent.profile().to_string())
    };
    let named = run.profile.clone().or_else(|| server.profile.clone());
    named.or_else(agents).unwrap_or_else(|| PROFILE.into())
}

/// The server's sandbox, as far as it tells what is written and which variables pass, whatever the server's tools may do.
fn sandbox(
    run: &Run,
    own: impl Iterator<Item = PathBuf>,
    (profile, llm): (&str, bool),
    here: &Here,
) -> Result<Sandbox, Failure> {
    let mut sandbox = Sandbox::profile(profile)?;
    if llm {
        sandbox = sandbox.llm()?;
    }
    if let Some(root) = &run.root {
        sandbox = sandbox.root(root);
    }
    sandbox = run.write.iter().cloned().chain(own).fold(sandbox, Sandbox::write);
    sandbox.refuse_other_root(&here.root)?;
    Ok(sandbox)
}

/// The names of the client's variables that neither the profile nor a flag passes.
fn lacks(sandbox: &Sandbox, run: &Run, words: &[OsString]) -> Result<Vec<String>, Failure> {
    let by_words = words.windows(2).filter(|pair| pair[0] == "--env").map(|pair| &pair[1]);
    let passed = run
        .env
        .iter()
        .chain(by_words)
        .map(|variable| split_variable(variable).0);
    let passed: Vec<OsString> = passed.collect();
    let mut lacks = sandbox.withheld_variables()?;
    lacks.retain(|name| passed.iter().all(|passed| passed != name.as_str()));
    Ok(lacks)
}

/// The variables that the client's configuration set for the server, unless the flags name them.
fn variables(run: &Run) -> Vec<OsString> {
    if !run.env.is_empty() {
        return Vec::new();
    }
    let own: Variables = std::env::vars_os().collect();
    let Some(clients) = of_client(&own) else {
        return Vec::new();
    };
    let names = set_for_server(&own, &clients).into_iter();
    names.flat_map(|name| ["--env".into(), name]).collect()
}

/// A word that can't be guessed.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Starts the run, with these descriptors.
fn start(words: &[OsString], kept: [&UnixStream; 2]) -> io::Result<Child> {
    for socket in kept {
        fcntl(socket, FcntlArg::F_SETFD(FdFlag::empty()))?;
    }
    let mut command = Command::new("/proc/self/exe");
    command.arg0("stockade").arg("run").args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    end_with_us(&mut command, libc::SIGKILL);
    let started = command.spawn();
    for socket in kept {
        fcntl(socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    started
}

/// Passes signals on until the run has ended. A server whose client hears nothing any more is ended after a while, as a client
/// ends one that stays (MCP, "Lifecycle").
fn wait(child: &mut Child, signals: BorrowedFd<'_>) -> io::Result<ExitStatus> {
    let heard = io::stdout();
    let mut endings = [Signal::SIGTERM, Signal::SIGKILL].into_iter();
    let mut end = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let mut waiting = vec![PollFd::new(signals, PollFlags::POLLIN)];
        waiting.extend(end.is_none().then(|| PollFd::new(heard.as_fd(), PollFlags::empty())));
        match poll(&mut waiting, end.map_or(PollTimeout::NONE, left_until)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        // The run isn't collected yet, so its number is its own.
        let send = |signal| {
            let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
        };
        let is_due = end.is_some_and(|end| Instant::now() >= end);
        if end.is_none() && waiting[1].any() == Some(true) {
            end = Some(Instant::now() + GRACE);
        } else if is_due && has_other_end(heard.as_fd()) {
            end = None;
        } else if is_due {
            endings.next().into_iter().for_each(send);
            end = Some(Instant::now() + GRACE);
        }
        while let Some(arrived) = next_signal(signals.as_raw_fd()) {
            if PASSED_ON.contains(&arrived.signal)
                && let Ok(signal) = Signal::try_from(arrived.signal)
            {
                send(signal);
            }
        }
    }
}

fn left_until(end: Instant) -> PollTimeout {
    // A millisecond more, so that it isn't waited for in ever shorter steps.
    let left = end.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
    PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
}

/// Waits for the last lines, for a client that takes them slowly as long as it does, or until a signal.
fn finish(answers: &JoinHandle<()>, session: &Session, signals: BorrowedFd<'_>) -> io::Result<()> {
    let mut end = Instant::now() + GRACE;
    while !answers.is_finished() && Instant::now() < end {
        if session.is_carrying() {
            end = Instant::now() + GRACE;
        }
        let mut waiting = [PollFd::new(signals, PollFlags::POLLIN)];
        match poll(&mut waiting, LOOKS) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(arrived) = next_signal(signals.as_raw_fd()) {
            if PASSED_ON.contains(&arrived.signal) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(REFUSED)
}

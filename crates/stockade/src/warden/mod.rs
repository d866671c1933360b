//! The warden: the process between the launcher and the target. It exists so that the whole process tree ends.
//!
//! *Why a process of its own.* It is the subreaper, so every orphan of the run stays below it, and it lives in a
//! Landlock domain that scopes signals, with the target in a nested domain: `kill(-1)` from here reaches exactly the
//! run, and the target can't signal the warden. A parent-death signal would not do: it isn't inherited. The warden has
//! a session of its own: otherwise a signal to the launcher's process group, or its whole session, would kill both at
//! once, and leave the processes that had left the group. The target stays in the launcher's session, so keys and job
//! control reach it.
//!
//! *When it ends.* When the target has ended, and what it left behind has written its output; when it is ordered to end the run, or when the launcher's end of the
//! socket closes, which the kernel does however the launcher dies. It always kills and collects the rest of the tree
//! first.
//!
//! It is a fork of a program that may have had threads, and never executes: all code here is child-safe (system calls, no
//! allocation). A panic in it or in the target's first steps ends the process at once (`process::ExitOnDrop`, and before that
//! the binary's panic hook), so the run fails or ends. All signals are blocked in it, so no key at a terminal stops it.

mod child;
mod fork;
mod pause;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::fault;
pub use child::{Birth, ExecSpec, ResourceLimit, Step};
pub use fork::{Spawned, spawn as spawn_warden};
pub use pause::{Look, Pause};
use stockade_sys::children::{Children, Stream};
use stockade_sys::process::{self, SignalDomain, Waited};
use stockade_sys::signals::SignalSet;
use stockade_sys::spawn::{self, ChildStack, Go};
use stockade_sys::wire::{self, Message};
use stockade_sys::{confine, outer, signals, title};

/// Messages from the warden to the launcher. `first` and `second` of the message in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum News {
    /// The program runs (pid).
    Started = 1,
    /// It could not be started (step, errno); nothing runs.
    Failed,
    /// The program was stopped by a signal (signal).
    Stopped,
    /// The program was continued.
    Continued,
    /// The program has ended, and so has the whole tree (-, wait status).
    Ended,
    /// The target sends its filter's listener along (-, -).
    Listener,
    /// The warden of a nested run sends along its connection to the outer supervisor, which reports there what it
    /// refused (-, -).
    Outer,
}

/// Messages from the launcher to the warden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Order {
    /// End the whole tree now.
    Kill = 16,
    /// Send the program a signal, the first number.
    Signal,
    /// Send every process of the tree a signal, the first number.
    SignalAll,
}

/// Everything the warden needs, made before the fork.
pub struct WardenSpec {
    /// The process that forks the warden.
    pub launcher: i32,
    /// The warden's end of the socket.
    pub socket: RawFd,
    /// The ruleset that scopes signals; `None` before Landlock ABI 6.
    pub signal_ruleset: Option<RawFd>,
    /// The ruleset of the supervisor's workers; `None` without a supervisor. The warden starts inside it.
    pub workers_ruleset: Option<RawFd>,
    /// The request to the outer run's supervisor, if it supervises this run too.
    pub outer_request: Option<Vec<u8>>,
    /// The control socket by which workers announce connections to the relay, where hosts are named. The workers' alone.
    pub control: Option<RawFd>,
    /// Whether the launcher holds Linux capabilities.
    pub holds_capabilities: bool,
    /// What to start.
    pub exec_spec: ExecSpec,
    /// A stack for the target's first steps.
    pub stack: ChildStack,
}

/// The warden's process name and command line. They contain nothing of the launcher's, which names the program too:
/// `pkill stockade` and `pkill -f program` would kill both at once.
const NAME: &CStr = c"sandbox-warden";

/// The warden's main function.
pub fn serve(spec: &WardenSpec) -> ! {
    let status = match begin(spec) {
        Ok(begun) => WardenWatch::new(spec.socket, begun).run(),
        Err((step, errno)) => {
            tell(spec.socket, News::Failed, step as i32, errno);
            1
        }
    };
    process::exit_now(status)
}

fn tell(socket: RawFd, news: News, first: i32, second: i32) {
    // If the launcher is gone, the closed socket is noticed where the warden waits on it.
    let _ = wire::send(socket, &Message::new(news as u32, first, second));
}

/// The target that the warden has started.
struct BegunWarden {
    target: i32,
    scope: KillScope,
    /// The connection to the outer run's supervisor.
    outer: Option<OwnedFd>,
    output: [Option<Stream>; 2],
}

/// How the warden signals the processes below it.
enum KillScope {
    /// All at once.
    Domain(SignalDomain),
    /// Its children and all below them, one after the other, until none is left.
    Children(Children),
}

impl KillScope {
    fn signal(&self, signal: i32) {
        match self {
            KillScope::Domain(domain) => domain.signal_all(signal),
            KillScope::Children(children) => children.signal(signal, |_| false),
        }
    }

    /// One round of killing the tree.
    fn kill(&self, round: usize) {
        match self {
            KillScope::Domain(domain) => domain.signal_all(libc::SIGKILL),
            KillScope::Children(children) => children.kill(round, |_| false),
        }
    }

    fn is_whole(&self) -> bool {
        matches!(self, KillScope::Domain(_))
    }
}

/// Confines the warden and starts the target; the error is the step that failed.
fn begin(spec: &WardenSpec) -> Result<BegunWarden, (Step, i32)> {
    fault::point("warden", || "begin");
    let at = |step: Step| move |error: std::io::Error| (step, error.raw_os_error().unwrap_or(libc::EIO));
    // Until there is a target. It would wait for ever for the answer to its first calls, and so would the warden.
    confine::parent_death_signal(libc::SIGKILL).map_err(at(Step::DeathSignal))?;
    if process::parent() != spec.launcher {
        process::exit_now(1);
    }
    // A host of the library may ignore SIGCHLD.
    signals::await_children();
    confine::become_subreaper().map_err(at(Step::Subreaper))?;
    confine::no_new_privs().map_err(at(Step::NoNewPrivs))?;
    confine::drop_capabilities(spec.holds_capabilities).map_err(at(Step::Capabilities))?;
    let scope = match spec.signal_ruleset {
        Some(ruleset) => KillScope::Domain(SignalDomain::enter(ruleset).map_err(at(Step::SignalDomain))?),
        None => KillScope::Children(Children::open().map_err(at(Step::Children))?),
    };
    // Before there is a process to be narrowed, and after the last step that narrows the warden.
    let outer = match &spec.outer_request {
        Some(request) => Some(ask_outer(request).map_err(at(Step::Outer))?),
        None => None,
    };
    let apart = Go::new();
    let mut birth = Birth {
        exec_spec: &spec.exec_spec,
        warden: process::id(),
        apart: &apart,
        failure: None,
    };
    let mut first_steps = FirstSteps::default();
    let meanwhile = |target: i32, is_first: bool| match is_first {
        // Once the target exists in the launcher's session, and before it executes anything. From then on the warden
        // doesn't die with the launcher: what the target starts until the socket is watched would be left running.
        true => {
            let _ = confine::parent_death_signal(LAUNCHER_IS_GONE);
            apart.set(process::begin_session().is_ok());
        }
        false => first_steps.look(spec.socket, target, &scope),
    };
    let target = spawn::run_until_exec(&spec.stack, child::begin, &mut birth, meanwhile).map_err(at(Step::Fork))?;
    let failure = birth.failure.filter(|failure| !first_steps.explain(failure));
    if let Some(signal) = first_steps.stopped {
        let _ = process::signal(target, signal);
    }
    // The launcher's thread that forked the warden may end before the run does. If its user has stopped the warden, the
    // signal lets it go on; it has no other effect. An outer run refuses it.
    confine::parent_death_signal(libc::SIGCONT)
        .or_else(|_| confine::parent_death_signal(0))
        .map_err(at(Step::DeathSignal))?;
    match failure {
        Some(failure) => {
            say_goodbye(outer.as_ref());
            Err(failure)
        }
        None => Ok(BegunWarden {
            target,
            scope,
            outer,
            output: [1, 2].map(|number| Stream::of(spec.exec_spec.streams[number])),
        }),
    }
}

/// The signal that tells the warden, with all signals blocked, that the thread that forked it has ended. No kernel
/// sends it otherwise (signal(7)).
const LAUNCHER_IS_GONE: i32 = libc::SIGSTKFLT;

/// The signals that arrived before a slow target has executed the program.
#[derive(Default)]
struct FirstSteps {
    /// The signal that stopped it, sent again once it is the program: a target stopped before that would keep the
    /// warden from watching.
    stopped: Option<i32>,
    /// Whether the warden killed it.
    is_ended: bool,
}

impl FirstSteps {
    fn look(&mut self, socket: RawFd, target: i32, scope: &KillScope) {
        if let Some(signal) = process::stopped_by(target) {
            self.stopped = Some(signal);
            let _ = process::signal(target, libc::SIGCONT);
        }
        if !self.is_ended && signals::is_pending(LAUNCHER_IS_GONE) {
            self.is_ended = true;
            let _ = process::signal(target, libc::SIGKILL);
        }
        while !self.is_ended && wire::wait_readable([socket, -1], 0).is_ok_and(|ready| ready != 0) {
            if !obey(socket, target, scope) {
                self.is_ended = true;
                let _ = process::signal(target, libc::SIGKILL);
            }
        }
    }

    /// Whether that kill is why it didn't execute the program: that is an end, not a failure.
    fn explain(&self, (step, _): &(Step, i32)) -> bool {
        self.is_ended && *step == Step::Unfinished
    }
}

fn ask_outer(request: &[u8]) -> std::io::Result<OwnedFd> {
    let socket = outer::connect()?;
    outer::ask(&socket, request)?;
    Ok(socket)
}

/// Tells the outer supervisor that no process is left below. Without that it goes on narrowing what may be left.
fn say_goodbye(outer: Option<&OwnedFd>) {
    if let Some(socket) = outer {
        let _ = outer::send_all(socket, &[outer::GOODBYE]);
    }
}

/// Obeys one order; `false` ends the run, and so does anything that isn't an order.
fn obey(socket: RawFd, target: i32, scope: &KillScope) -> bool {
    let Ok(Some(message)) = wire::receive(socket) else {
        return false;
    };
    if message.kind == Order::Signal as u32 {
        let _ = process::signal(target, message.first);
        return true;
    }
    if message.kind == Order::SignalAll as u32 {
        scope.signal(message.first);
        return true;
    }
    false
}

/// Closes every descriptor from `first` on but these.
fn close_all_but(first: RawFd, mut kept: [Option<RawFd>; 2]) {
    kept.sort_unstable();
    let mut next = first;
    for kept in kept.into_iter().flatten().filter(|kept| *kept >= first) {
        (next..kept).for_each(confine::close);
        next = kept + 1;
    }
    let _ = confine::close_from(next as u32);
}

/// How many descendants are collected before the socket is polled again: where each process forks the next and exits,
/// there is always one more to collect.
const COLLECTED_AT_ONCE: usize = 64;
/// The same once the run is to end. Zombies stand before the processes to kill, and hold places for more.
const COLLECTED_AT_LAST: usize = 1 << 16;

/// What the target left behind is looked at so often.
const SLICE_MS: i32 = 10;
/// A daemon that holds the run's output costs so many slices at the end.
const QUIET_SLICES: usize = 25;
/// The most slices where one process after the other ends.
const MAX_SLICES: usize = 200;

/// The descendants that are left after a round of collecting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// No descendant.
    None,
    /// Descendants that live.
    Living,
    /// Perhaps more zombies.
    More,
}

/// The warden while the target runs.
struct WardenWatch {
    socket: RawFd,
    signals: Option<OwnedFd>,
    target: i32,
    scope: KillScope,
    outer: Option<OwnedFd>,
    /// The run's standard output and error.
    output: [Option<Stream>; 2],
    /// The target's wait status, once it has ended.
    ended: Option<i32>,
    /// How many other processes have ended.
    collected: usize,
}

impl WardenWatch {
    /// Closes everything but the sockets, so that a closed pipe is closed for its reader.
    fn new(socket: RawFd, begun: BegunWarden) -> Self {
        const SOCKET: RawFd = 3;
        let BegunWarden {
            target,
            scope,
            outer,
            output,
        } = begun;
        tell(socket, News::Started, target, 0);
        // Inside another run its filter refuses the second half, and that run's warden is there.
        let _ = title::rename(NAME);
        let socket = match confine::place_descriptor(socket, SOCKET) {
            Ok(()) => SOCKET,
            Err(_) => socket,
        };
        if socket == SOCKET {
            let children = match &scope {
                KillScope::Children(children) => Some(children.as_raw_fd()),
                KillScope::Domain(_) => None,
            };
            close_all_but(4, [outer.as_ref().map(AsRawFd::as_raw_fd), children]);
            (0..SOCKET).for_each(confine::close);
        }
        WardenWatch {
            socket,
            signals: SignalSet::of(&[libc::SIGCHLD]).descriptor(true).ok(),
            target,
            scope,
            outer,
            output,
            ended: None,
            collected: 0,
        }
    }

    /// Watches until the run is over, kills what is left of it and reports the end.
    fn run(mut self) -> i32 {
        fault::point("warden", || "watch");
        let left = self.until_over();
        if left != Left::None && self.ended.is_some_and(|status| libc::WIFEXITED(status)) {
            self.drain();
        }
        self.end_tree();
        if let Some(outer) = &self.outer {
            let _ = wire::send_with(self.socket, &Message::new(News::Outer as u32, 0, 0), outer.as_raw_fd());
        }
        say_goodbye(self.outer.as_ref());
        let mut last = Message::new(News::Ended as u32, 0, self.ended.unwrap_or(libc::SIGKILL));
        (last.cpu_us, last.max_rss) = process::usage_of_children();
        let _ = wire::send(self.socket, &last);
        0
    }

    /// Watches until the target has ended; returns what it has left.
    fn until_over(&mut self) -> Left {
        // Without a signal descriptor (out of descriptors) a short time-out does the same.
        let idle = if self.signals.is_none() { 20 } else { -1 };
        loop {
            let left = self.collect(false, COLLECTED_AT_ONCE);
            if self.ended.is_some() || left == Left::None {
                return left;
            }
            let timeout = if left == Left::More { 0 } else { idle };
            match self.wait(timeout) {
                Ok(true) if !obey(self.socket, self.target, &self.scope) => return left,
                Ok(_) => {}
                Err(_) => return left,
            }
        }
    }

    /// Waits for an order, a child's end or the time-out; returns whether there is an order.
    fn wait(&self, timeout_ms: i32) -> io::Result<bool> {
        let children = self.signals.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let ready = wire::wait_readable([self.socket, children], timeout_ms)?;
        while children >= 0 && signals::next_signal(children).is_some() {}
        Ok(ready & 1 != 0)
    }

    /// Lets what the target left behind write the rest of the run's output, as `tee` in `> >(tee log)` does: until none of it
    /// holds that output, or for a moment in which none of it ends. Any order ends it, and so the run.
    fn drain(&mut self) {
        let Ok(children) = Children::open() else {
            return;
        };
        let mut quiet = 0;
        for _ in 0..MAX_SLICES {
            let mut holds = false;
            children.each(|child| holds |= self.output.iter().flatten().any(|stream| stream.is_of(child)));
            if !holds || quiet == QUIET_SLICES || !matches!(self.wait(SLICE_MS), Ok(false)) {
                return;
            }
            let before = self.collected;
            let _ = self.collect(false, COLLECTED_AT_ONCE);
            quiet = if self.collected > before { 0 } else { quiet + 1 };
        }
    }

    /// Kills and collects until no descendant is left.
    fn end_tree(&mut self) {
        // One round is enough with the scope: the pending signal undoes a fork under way. Without it, each round
        // catches what the last one missed; the pause lets dying processes exit.
        for round in 1.. {
            self.scope.kill(round);
            match self.collect(self.scope.is_whole(), COLLECTED_AT_LAST) {
                Left::None => return,
                Left::Living => drop(wire::wait_readable([-1, -1], 1)),
                Left::More => {}
            }
        }
    }

    /// Collects zombies, a bounded number, and notes what happened to the target.
    fn collect(&mut self, block: bool, most: usize) -> Left {
        for _ in 0..most {
            match process::wait_any(block) {
                Waited::NoChildren => return Left::None,
                Waited::Nothing => return Left::Living,
                Waited::Changed(change) if change.pid == self.target => self.note(change.status),
                Waited::Changed(_) => self.collected += 1,
            }
        }
        Left::More
    }

    fn note(&mut self, status: i32) {
        if libc::WIFSTOPPED(status) {
            tell(self.socket, News::Stopped, libc::WSTOPSIG(status), 0);
        } else if libc::WIFCONTINUED(status) {
            tell(self.socket, News::Continued, 0, 0);
        } else {
            self.ended = Some(status);
        }
    }
}

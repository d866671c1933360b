//! A run while it lives: its events, its limits, its end.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::LaunchError;
use super::cache::Cache;
use super::cgroup::ControlGroup;
use super::late::LateSecrets;
use super::made::{self, MadeByRun};
use super::network::ShutdownHandle;
use super::sampler::{Sampled, Sampler};
use super::scratch::Scratch;
use super::taken;
use crate::plan::Grouped;
use crate::processes::TOO_MANY_PROCESSES;
use crate::profile::Limits;
use crate::report::{
    Ending, Escalation, FaultyPart, InternalFault, Kind, Limit, LimitHit, Reason, Refusal, Refusals, StderrTail, Usage,
};
use crate::supervise::{self, Approvals, Supervisor, Told};
use crate::warden::{News, Order, Pause, Spawned, Step};
use stockade_sys::file;
use stockade_sys::process::{self, Precedence};
use stockade_sys::wire::{self, Message};

/// Something that happened to a run.
#[derive(Debug)]
pub enum Event {
    /// The program was stopped by this signal.
    Stopped(i32),
    /// It goes on.
    Continued,
    /// The caller's own descriptor can be read.
    Attention,
    /// The program wrote to standard output (0) or error (1).
    Output(usize, Vec<u8>),
    /// Somebody else made these closed names, and the run may read what is there: the kernel alone judges its reads.
    Appeared(Vec<PathBuf>),
    /// The tree has ended.
    Ended(Ending),
}

/// The resources of a run, removed when it is over.
pub struct Holdings {
    /// Its scratch directory.
    pub scratch: Option<Scratch>,
    /// Its hold on its cache, which is removed if empty.
    pub cache: Option<Cache>,
    /// The state directory.
    pub state: Option<PathBuf>,
    /// Its control group.
    pub control_group: Option<ControlGroup>,
    /// What is sampled of it.
    pub sampled: Sampled,
    /// The handle that shuts its relay down.
    pub shutdown: Option<ShutdownHandle>,
    /// The calling thread's precedence over the run, taken before the run existed.
    pub precedence: Option<Precedence>,
}

/// A run that was started. Dropping it ends the tree.
pub struct Running {
    warden: i32,
    supervisor: Option<Supervisor>,
    socket: OwnedFd,
    /// The program's process; 0 until it runs.
    target: i32,
    /// Held by the thread that forked the warden ([`Spawned`]).
    hold: Option<Sender<Infallible>>,
    // Keeps the kernel from evicting the directory that the ruleset names.
    _own_proc: Option<File>,
    output: [Option<File>; 2],
    counted: [u64; 2],
    /// Bytes that the run left in the pipes.
    left: [usize; 2],
    piped: bool,
    limits: Limits,
    hit: Option<LimitHit>,
    output_cut: bool,
    sampler: Sampler,
    late: Option<LateSecrets>,
    started: Instant,
    ended: Option<Ending>,
    over: bool,
    /// The connection by which the outer run's supervisor reports, at the end of the tree, what it refused by this run's policy.
    outer: Option<OwnedFd>,
    /// The outer supervisor's report.
    told: Option<Told>,
    control_group: Option<ControlGroup>,
    shutdown: Option<ShutdownHandle>,
    scratch: Option<Scratch>,
    _cache: Option<Cache>,
    state: Option<PathBuf>,
}

impl Running {
    /// Takes over a forked warden; [`Running::await_start`] comes next.
    pub(super) fn begun(
        spawned: Spawned,
        supervisor: Option<Supervisor>,
        socket: OwnedFd,
        output: [Option<OwnedFd>; 2],
        limits: Limits,
        holdings: Holdings,
    ) -> Running {
        let started = supervisor
            .as_ref()
            .map_or_else(Instant::now, |supervisor| supervisor.run().journal.started);
        let Spawned { warden, hold, .. } = spawned;
        let Holdings {
            scratch,
            cache,
            state,
            control_group,
            sampled,
            shutdown,
            precedence,
        } = holdings;
        if precedence.is_some() {
            // Before waiting for anything: the target may be starting already. It ends with the warden.
            let _ = Precedence::in_real_time(warden).map(std::mem::forget);
        }
        let piped = output.iter().any(Option::is_some);
        let counts = control_group.as_ref().map_or(Grouped::Nothing, ControlGroup::counts);
        let sampler = Sampler::new(warden, (limits, counts), sampled, precedence, started);
        Running {
            warden,
            supervisor,
            socket,
            target: 0,
            hold,
            _own_proc: None,
            output: output.map(|end| end.map(File::from)),
            counted: [0; 2],
            left: [0; 2],
            piped,
            limits,
            hit: None,
            output_cut: false,
            sampler,
            late: None,
            started,
            ended: None,
            over: false,
            outer: None,
            told: None,
            control_group,
            shutdown,
            scratch,
            _cache: cache,
            state,
        }
    }

    /// Waits for the warden's first message, and keeps the limits meanwhile. If `attention` becomes readable first, the
    /// events bring that message.
    pub(super) fn await_start(&mut self, attention: Option<BorrowedFd<'_>>) -> Result<(), LaunchError> {
        while self.target == 0 {
            self.keep_limits();
            let ready = self.poll(attention)?;
            if ready.news {
                self.hear()?;
            } else if ready.attention {
                break;
            }
        }
        Ok(())
    }

    /// Handles the warden's first message, or that it ended without any.
    pub(super) fn hear_of_start(&mut self, news: Option<Message>) -> Result<(), LaunchError> {
        self.hold = None;
        match news {
            Some(message) if message.kind == News::Started as u32 => {
                self.target = message.first;
                self._own_proc = hold_own_proc(self.target);
                Ok(())
            }
            other => {
                self.over = true;
                process::collect(self.warden);
                Err(fault_of(self.supervisor.as_ref()).unwrap_or_else(|| start_failure(other)))
            }
        }
    }

    /// Passes the refusals, and the end of the run's standard error, to `look` if there is a supervisor: the run's own, or
    /// that of the outer run.
    pub fn testimony<T>(&self, look: impl FnOnce(&Refusals, &StderrTail) -> T) -> Option<T> {
        if let Some(told) = &self.told {
            return Some(look(&told.refusals, &told.stderr));
        }
        let run = self.supervisor.as_ref()?.run();
        let stderr = run.stderr_log().tail(None, run.journal.handled_calls());
        Some(look(&run.journal.refusals(), &stderr))
    }

    /// The program's process id; 0 until it runs.
    pub fn id(&self) -> i32 {
        self.target
    }

    /// The warden's process id.
    pub fn warden(&self) -> i32 {
        self.warden
    }

    /// Ends the whole tree. [`Event::Ended`] follows.
    pub fn kill(&self) {
        self.order(Order::Kill, 0);
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: i32) {
        self.order(Order::Signal, signal);
    }

    /// Sends every process of the tree a signal.
    pub fn signal_all(&self, signal: i32) {
        self.order(Order::SignalAll, signal);
    }

    /// Holds the whole tree still until the value is dropped; `None` if it can't be held, or could resume itself.
    pub fn hold(&self) -> Option<Pause> {
        let held = Pause::begin(self.warden, Some(self.socket.as_fd()))?;
        (!held.has_alarm()).then_some(held)
    }

    fn order(&self, order: Order, signal: i32) {
        // Only the user's own SIGSTOP can keep the warden from obeying.
        if !self.over {
            let _ = process::signal(self.warden, libc::SIGCONT);
        }
        // A warden that is gone has ended the tree already.
        let _ = wire::send(self.socket.as_raw_fd(), &Message::new(order as u32, signal, 0));
    }

    /// Whether a limit was passed and the tree is being ended for it.
    pub fn is_being_ended(&self) -> bool {
        self.hit.is_some()
    }

    /// Checks the limits, for a caller that can't wait for events now.
    pub fn tick(&mut self) {
        self.keep_limits();
    }

    /// Waits for the next event. `attention` is a descriptor of the caller's to wait on as well.
    ///
    /// # Errors
    /// Descriptors can't be waited on, or the warden is gone without a message.
    pub fn next_event(&mut self, attention: Option<BorrowedFd<'_>>) -> Result<Event, LaunchError> {
        loop {
            if let Some(event) = self.remaining()? {
                return Ok(event);
            }
            self.keep_limits();
            if let Some(error) = self.sampler.blindness() {
                return Err(LaunchError::System(
                    "look at the run's processes, to keep its limits",
                    error,
                ));
            }
            let ready = self.poll(attention)?;
            if ready.news
                && let Some(event) = self.hear()?
            {
                return Ok(event);
            }
            for stream in 0..2 {
                if ready.output[stream]
                    && let Some(event) = self.read_output(stream)
                {
                    return Ok(event);
                }
            }
            if let Some(late) = self.late.as_mut().filter(|late| late.next() <= Instant::now()) {
                let appeared = late.look();
                if !appeared.is_empty() {
                    return Ok(Event::Appeared(appeared));
                }
            }
            if ready.attention {
                return Ok(Event::Attention);
            }
        }
    }

    /// Tells of closed names that others make.
    pub fn watch(&mut self, late: LateSecrets) {
        self.late = Some(late);
    }

    /// The closed names that others have made.
    pub fn late_secrets(&mut self) -> Vec<PathBuf> {
        let Some(late) = self.late.as_mut() else {
            return Vec::new();
        };
        late.look();
        late.told().cloned().collect()
    }

    /// The names in the run's own home that its user may miss.
    pub fn left_in_home(&self) -> Vec<String> {
        self.scratch.as_ref().map(Scratch::left).unwrap_or_default()
    }

    /// After the tree's end: the bytes left in the pipes, then the end itself. It doesn't wait for the end of file, nor
    /// read later bytes: a process outside may hold the other end, sent by a socket that was granted.
    fn remaining(&mut self) -> Result<Option<Event>, LaunchError> {
        let Some(mut ending) = self.ended else {
            return Ok(None);
        };
        for stream in 0..2 {
            while self.left[stream] > 0 {
                if let Some(event) = self.read_output(stream) {
                    return Ok(Some(event));
                }
            }
        }
        ending.usage.output = self.piped.then_some(self.counted);
        ending.output_cut = self.output_cut;
        ending.limit = self.hit;
        Ok(Some(Event::Ended(ending)))
    }

    fn poll(&self, attention: Option<BorrowedFd<'_>>) -> Result<ReadyDescriptors, LaunchError> {
        let nothing = self.socket.as_fd();
        let watch = |fd: Option<BorrowedFd<'_>>| match fd {
            Some(_) => PollFlags::POLLIN,
            None => PollFlags::empty(),
        };
        let output = [0, 1].map(|i| self.output[i].as_ref().map(AsFd::as_fd));
        let mut polled = [
            PollFd::new(self.socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(output[0].unwrap_or(nothing), watch(output[0])),
            PollFd::new(output[1].unwrap_or(nothing), watch(output[1])),
            PollFd::new(attention.unwrap_or(nothing), watch(attention)),
        ];
        match poll(&mut polled, self.timeout()) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(LaunchError::System("wait for the run", error.into())),
        }
        let ready = |i: usize| polled[i].any().unwrap_or(false);
        Ok(ReadyDescriptors {
            news: ready(0),
            output: [output[0].is_some() && ready(1), output[1].is_some() && ready(2)],
            attention: attention.is_some() && ready(3),
        })
    }

    /// The time until a limit next has to be checked.
    fn timeout(&self) -> PollTimeout {
        let now = Instant::now();
        let deadline = self.deadline();
        let limits = deadline.into_iter().chain(self.sampler.next());
        let next = limits
            .filter(|_| self.hit.is_none())
            .chain(self.late.as_ref().map(LateSecrets::next))
            .min();
        next.map_or(PollTimeout::NONE, |next| {
            let left = next.saturating_duration_since(now) + Duration::from_millis(1);
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        })
    }

    /// How long the time limit lets the run go on; `None` without one. It stands still while a question is open.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn deadline(&self) -> Option<Instant> {
        let waited = self.approvals().map_or(Duration::ZERO, Approvals::waited);
        // A time that no clock reaches is none.
        self.started.checked_add(self.limits.time?)?.checked_add(waited)
    }

    fn approvals(&self) -> Option<&Approvals> {
        self.supervisor.as_ref()?.run().approvals.as_deref()
    }

    /// Stockade's own faults during the run, and the loss of the warden.
    pub fn faults(&self) -> Vec<InternalFault> {
        let supervisor = self.supervisor.as_ref();
        let mut faults = supervisor.map_or_else(Vec::new, |supervisor| supervisor.run().journal.faults.list());
        let is_lost = self.over && self.ended.is_none() && self.target != 0;
        if is_lost && !faults.iter().any(|fault| fault.part == FaultyPart::Supervisor) {
            faults.push(InternalFault {
                part: FaultyPart::Warden,
                message: LaunchError::WardenLost.to_string(),
                count: 1,
            });
        }
        faults
    }

    /// After a failed event: how the run ended, as far as known without the warden. `None` if it never started.
    pub fn lost(&self) -> Option<Ending> {
        (self.target != 0).then(|| Ending {
            status: libc::SIGKILL,
            limit: self.hit,
            usage: Usage {
                processes: self.sampler.most_processes(),
                output: self.piped.then_some(self.counted),
                ..Usage::default()
            },
            duration: self.started.elapsed(),
            output_cut: self.output_cut,
        })
    }

    /// The questions asked while it ran.
    pub fn escalation(&self) -> Option<Escalation> {
        self.approvals()?.escalation()
    }

    /// Ends the tree if it is past a limit.
    fn keep_limits(&mut self) {
        if self.hit.is_some() || self.ended.is_some() {
            return;
        }
        let now = Instant::now();
        if self.deadline().is_some_and(|deadline| now >= deadline) {
            self.end_for(Limit::Time, "timer");
            return;
        }
        let supervisor = self.supervisor.as_ref();
        let shared = || {
            let made = supervisor.map(|one| one.run().made());
            made.map_or_else(Default::default, |made| (made.shared_files(), made.system_v.memory()))
        };
        if let Some(limit) = self.sampler.look(now, shared) {
            self.end_for(limit, "sampling");
        }
    }

    fn end_for(&mut self, limit: Limit, by: &'static str) {
        self.hit = Some(LimitHit { limit, by });
        self.kill();
    }

    /// Handles one message of the warden.
    fn hear(&mut self) -> Result<Option<Event>, LaunchError> {
        let news = wire::receive_with(self.socket.as_raw_fd())
            .map_err(|error| LaunchError::System("hear from the warden", error))?;
        if self.target == 0 {
            return self.hear_of_start(news.map(|(message, _)| message)).map(|()| None);
        }
        let Some((message, descriptor)) = news else {
            self.over = true;
            process::collect(self.warden);
            return Err(fault_of(self.supervisor.as_ref()).unwrap_or(LaunchError::WardenLost));
        };
        // A run that is to end may have been stopped for that.
        if message.kind == News::Stopped as u32 {
            return Ok(self.hit.is_none().then_some(Event::Stopped(message.first)));
        }
        if message.kind == News::Continued as u32 {
            return Ok(self.hit.is_none().then_some(Event::Continued));
        }
        if message.kind == News::Outer as u32 {
            self.outer = descriptor;
        }
        if message.kind == News::Ended as u32 {
            self.end(&message);
        }
        Ok(None)
    }

    fn end(&mut self, message: &Message) {
        self.over = true;
        self.left = [0, 1].map(|stream| {
            let pipe = self.output[stream].as_ref();
            pipe.map_or(0, |pipe| file::bytes_in(pipe.as_fd()).unwrap_or(0))
        });
        self.sampler.end();
        if let Some(supervisor) = &self.supervisor {
            let mut made = supervisor.run().made();
            made.clear_shared_memory();
            let known = &supervisor.run().policy().run_config.taken;
            let places: Vec<PathBuf> = made.taken().filter(|place| !known.contains(place)).cloned().collect();
            let is_made = |identity| made.has_made(identity);
            let repositories = made
                .repositories()
                .into_iter()
                .filter_map(|path| MadeByRun::at(path, is_made))
                .collect();
            drop(made);
            // Without them a later run only counts more, or less, as its own.
            let _ = self.state.as_ref().map(|state| taken::keep(state, &places));
            let _ = self.state.as_ref().map(|state| made::keep(state, repositories));
            supervisor.run().process_lists.clear();
            if self
                .control_group
                .as_ref()
                .is_some_and(ControlGroup::ran_out_of_processes)
            {
                supervisor.run().journal.note(self.refused_process());
            }
        }
        self.told = self.outer.take().and_then(supervise::told);
        // A run that was ended has nothing more to send.
        if let Some(shutdown) = self.shutdown.take()
            && self.hit.is_none()
        {
            shutdown.wait();
        }
        let status = message.second;
        let unsigned = |value: i64| u64::try_from(value).unwrap_or(0);
        if self.hit.is_none() {
            self.hit = self.kernels_limit(status);
        }
        // Files written since the last look.
        if self.hit.is_none() && self.sampler.is_past_disk_limit() {
            self.hit = Some(LimitHit {
                limit: Limit::Disk,
                by: "sampling",
            });
        }
        self.ended = Some(Ending {
            status,
            limit: None,
            usage: Usage {
                cpu: Duration::from_micros(unsigned(message.cpu_us)),
                max_rss: unsigned(message.max_rss),
                processes: self.sampler.most_processes(),
                output: None,
            },
            duration: self.started.elapsed(),
            output_cut: false,
        });
    }

    /// The control group's refusal: it doesn't tell which process was refused.
    fn refused_process(&self) -> Refusal {
        Refusal {
            kind: Kind::Spawn,
            asked: Vec::new(),
            target: b"process".into(),
            exists: false,
            is_directory: false,
            syscall: "clone".into(),
            pid: self.target,
            program: Vec::new(),
            at: self.started.elapsed(),
            reason: Reason::Never(TOO_MANY_PROCESSES.into()),
        }
    }

    /// The limit that the kernel itself enforced, as the exit status shows.
    fn kernels_limit(&self, status: i32) -> Option<LimitHit> {
        let killed_by = |signal| libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == signal;
        let hit = |limit, by| Some(LimitHit { limit, by });
        let group = self.control_group.as_ref();
        if self.limits.memory.is_some() && group.is_some_and(ControlGroup::ran_out_of_memory) {
            hit(Limit::Memory, "control group")
        } else if self.limits.cpu.is_some() && killed_by(libc::SIGXCPU) {
            hit(Limit::Cpu, "rlimit")
        } else if self.limits.largest_file().is_some() && killed_by(libc::SIGXFSZ) {
            let is_for_all = self.limits.largest_file() != self.limits.file_size;
            hit(if is_for_all { Limit::Disk } else { Limit::FileSize }, "rlimit")
        } else {
            None
        }
    }

    /// Reads one piece of output, cut at the limit.
    fn read_output(&mut self, stream: usize) -> Option<Event> {
        let mut buffer = vec![0; 64 * 1024];
        let got = loop {
            match self.output[stream].as_mut()?.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Another process may read from the pipe too, by its entry in `/proc`.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.left[stream] = 0;
                    return None;
                }
                result => break result.unwrap_or(0),
            }
        };
        self.left[stream] = self.left[stream].saturating_sub(got);
        if got == 0 {
            self.left[stream] = 0;
            self.output[stream] = None;
            return None;
        }
        buffer.truncate(got);
        let before: u64 = self.counted.iter().sum();
        self.counted[stream] += got as u64;
        if let Some(limit) = self.limits.output {
            let room = usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX);
            if got > room {
                buffer.truncate(room);
                self.counted[stream] -= (got - room) as u64;
                self.output_cut = true;
                if self.hit.is_none() {
                    self.end_for(Limit::Output, "count");
                }
            }
        }
        (!buffer.is_empty()).then_some(Event::Output(stream, buffer))
    }
}

struct ReadyDescriptors {
    news: bool,
    output: [bool; 2],
    attention: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
            while let Ok(Some(message)) = wire::receive(self.socket.as_raw_fd()) {
                if message.kind == News::Ended as u32 {
                    break;
                }
            }
        }
        process::collect(self.warden);
    }
}

/// Pins the target's `/proc` directory: the ruleset names this inode, and an unused one would be evicted under memory
/// pressure and created anew.
fn hold_own_proc(target: i32) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options()
        .read(true)
        .custom_flags(libc::O_PATH)
        .open(format!("/proc/{target}"))
        .ok()
}

/// The fault for which the run was ended, if there is one.
fn fault_of(supervisor: Option<&Supervisor>) -> Option<LaunchError> {
    let faults = supervisor?.run().journal.faults.list();
    let ending = faults.into_iter().find(|fault| fault.part == FaultyPart::Supervisor)?;
    Some(LaunchError::Fault(ending.message))
}

fn start_failure(news: Option<Message>) -> LaunchError {
    match news {
        Some(message) if message.kind == News::Failed as u32 => match Step::from_number(message.first) {
            Some(Step::Unfinished) => LaunchError::Unfinished,
            Some(step) => LaunchError::Step(step, io::Error::from_raw_os_error(message.second)),
            None => LaunchError::WardenGone,
        },
        _ => LaunchError::WardenGone,
    }
}

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
use super::room::Room;
use super::scratch::Scratch;
use super::taken;
use crate::growth::{Growth, Reserve};
use crate::plan::Grouped;
use crate::processes::{self, Load, TOO_MANY_PROCESSES, Tree, is_crowded};
use crate::profile::Limits;
use crate::report::{
    Ending, Escalation, FaultyPart, InternalFault, Kind, Limit, LimitHit, Reason, Refusal, Refusals, StderrTail, Usage,
};
use crate::supervise::{self, Approvals, Supervisor, Told};
use crate::warden::{News, Order, Pause, Spawned, Step};
use stockade_sys::file;
use stockade_sys::process::{self, Precedence};
use stockade_sys::wire::{self, Message};

/// The longest time between two looks, if a limit needs sampling.
const MAX_PAUSE: Duration = Duration::from_millis(40);
/// The shortest time between two looks, used near a limit as far as the cost of looking allows.
const MIN_PAUSE: Duration = Duration::from_millis(1);
/// Looking may take a twentieth of the time; half of it if a limit could be passed sooner.
const SHARE: u32 = 20;
/// Longer walks of the trees hold the run still, if the file system shows that the limit was passed.
const LONG_WALK: Duration = Duration::from_millis(5);
/// A run that isn't held by then resists, and is walked as it is.
const MAX_HOLDING: Duration = Duration::from_millis(100);
/// A run whose processes can't be looked at for so long, for want of descriptors or memory, is ended.
const MAX_BLINDNESS: Duration = Duration::from_secs(1);
/// The longest time between two counts of memory that processes may share, unless counting takes longer.
const MAX_UNCOUNTED: Duration = Duration::from_secs(1);
/// What each processor can add per second: bytes of memory and of files at most, and processes and threads as a rule.
/// Higher rates would wake an idle launcher more often than every 40 ms.
const MEMORY_RATE: u64 = 4 << 30;
const DISK_RATE: u64 = 2 << 30;
const PROCESS_RATE: u64 = 6_000;
/// Threads that one program creates, which is faster.
const STORM_RATE: u64 = 60_000;

/// When memory that processes may share is counted again.
struct NextCount {
    /// At the latest.
    at: Instant,
    /// Earlier, once the run has faulted in more bytes than this: that may be all that its limit had left.
    faulted: u64,
}

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
    /// The growth of the trees it writes, if that is limited.
    pub growth: Option<Growth>,
    /// The space it leaves free where it writes, if growth isn't limited.
    pub reserve: Option<Reserve>,
    /// The bound on the user's processes.
    pub room: Option<Room>,
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
    tree: Option<Tree>,
    late: Option<LateSecrets>,
    growth: Option<Growth>,
    reserve: Option<Reserve>,
    room: Option<Room>,
    /// When the written trees are walked again, however little their file systems have grown.
    next_walk: Instant,
    /// When the run may next be held still for a walk.
    next_held_walk: Instant,
    /// When memory is counted exactly, if the upper bound is over the limit and the lower bound isn't.
    next_count: Option<NextCount>,
    /// The sampling thread and the warden get precedence, if permitted: among thousands of runnable processes they
    /// would wait for seconds, and root has no other bound. Ordinary users may not, and have RLIMIT_NPROC.
    precedence: Option<Precedence>,
    /// When the processes were last looked at one by one, and when they will be at the latest.
    looked_at: Instant,
    next_look: Instant,
    next_sample: Instant,
    /// Since when `/proc` couldn't be read.
    blind_since: Option<Instant>,
    /// The reason, once that has lasted too long for the run to go on.
    blindness: Option<io::Error>,
    started: Instant,
    ended: Option<Ending>,
    over: bool,
    /// The connection by which the outer run's supervisor reports, at the end of the tree, what it refused by this run's policy.
    outer: Option<OwnedFd>,
    /// The outer supervisor's report.
    told: Option<Told>,
    control_group: Option<ControlGroup>,
    shutdown: Option<ShutdownHandle>,
    _scratch: Option<Scratch>,
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
            growth,
            reserve,
            room,
            shutdown,
            precedence,
        } = holdings;
        if precedence.is_some() {
            // Before waiting for anything: the target may be starting already. It ends with the warden.
            let _ = Precedence::in_real_time(warden).map(std::mem::forget);
        }
        let piped = output.iter().any(Option::is_some);
        let counts = control_group.as_ref().map_or(Grouped::Nothing, ControlGroup::counts);
        let is_hurried = is_hurried(&limits, counts);
        let sampled = limits.cpu.is_some() || is_hurried;
        let precedence = precedence.or_else(|| is_hurried.then(|| Precedence::of(0).ok()).flatten());
        let rate = process_rate(precedence.as_ref());
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
            tree: sampled.then(|| Tree::new(warden)),
            late: None,
            growth,
            reserve,
            room,
            next_walk: started,
            next_held_walk: started,
            next_count: None,
            precedence,
            next_look: Instant::now(),
            blind_since: None,
            blindness: None,
            looked_at: started,
            next_sample: started + first_pause(&limits, rate),
            started,
            ended: None,
            over: false,
            outer: None,
            told: None,
            control_group,
            shutdown,
            _scratch: scratch,
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
            if let Some(error) = self.blindness.take() {
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
        let next = match (deadline, self.samples() && self.hit.is_none()) {
            (_, _) if self.hit.is_some() => None,
            (Some(deadline), true) => Some(deadline.min(self.next_sample)),
            (Some(deadline), false) => Some(deadline),
            (None, true) => Some(self.next_sample),
            (None, false) => None,
        };
        let next = next.into_iter().chain(self.late.as_ref().map(LateSecrets::next)).min();
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
                processes: self.tree.as_ref().map(Tree::most_processes),
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
        } else if now >= self.next_sample {
            self.look(now);
        }
    }

    fn is_past_disk_limit(&mut self) -> bool {
        let growth = self.growth.as_mut().map(Growth::sample);
        growth
            .zip(self.limits.disk)
            .is_some_and(|(growth, limit)| growth > limit)
    }

    fn samples(&self) -> bool {
        self.tree.is_some() || self.growth.is_some() || self.reserve.is_some()
    }

    /// Samples everything that the kernel doesn't count. The next look comes before a limit can be passed, as far as
    /// the cost of looking allows.
    fn look(&mut self, now: Instant) {
        let looked = self.look_at_files(now).and_then(|found| match found {
            (None, pause) => {
                let (passed, other) = self.look_at_tree()?;
                Ok((passed, pause.min(other)))
            }
            passed => Ok(passed),
        });
        let (passed, pause) = match looked {
            Ok(found) => {
                (self.blind_since, self.blindness) = (None, None);
                found
            }
            Err(error) => {
                let since = *self.blind_since.get_or_insert(now);
                self.blindness = (since.elapsed() > MAX_BLINDNESS).then_some(error);
                (None, MIN_PAUSE)
            }
        };
        let looked = now.elapsed();
        let pause = pause.clamp(MIN_PAUSE.max(looked), MAX_PAUSE.max(looked * SHARE));
        self.next_sample = Instant::now() + pause;
        if let Some(limit) = passed {
            self.end_for(limit, "sampling");
        }
    }

    /// Checks the written files: returns the limit if it is passed, and how soon it can be.
    fn look_at_files(&mut self, now: Instant) -> io::Result<(Option<Limit>, Duration)> {
        let (Some(growth), Some(limit)) = (&mut self.growth, self.limits.disk) else {
            return self.look_at_reserve(now);
        };
        let mut glance = growth.glance();
        let mut grown = glance;
        if glance <= limit && now >= self.next_walk {
            match growth.sample_below(limit) {
                Some(sample) => grown = sample,
                None => glance = growth.glance(),
            }
            self.next_walk = Instant::now() + MAX_PAUSE.max(now.elapsed() * SHARE);
        }
        if glance > limit {
            // Files written during a long walk would be added.
            let is_held = growth.took > LONG_WALK && Instant::now() >= self.next_held_walk;
            let held = is_held.then(|| Pause::begin_in_order(self.warden, MAX_HOLDING));
            grown = growth.sample();
            if grown <= limit {
                let processes = processes::below(self.warden)?;
                grown += processes::nameless_files(&processes, &growth.devices());
                if grown <= limit && growth.is_hidden_from(&processes) {
                    grown = glance;
                }
            }
            self.next_walk = Instant::now() + MAX_PAUSE.max(now.elapsed() * SHARE);
            if let Some(held) = held {
                // If others fill the disk, the run isn't held most of the time.
                let share = if grown > limit / 2 { 2 } else { SHARE };
                self.next_held_walk = Instant::now() + growth.took * share;
                // A run that is to end writes nothing more until then.
                if let Some(held) = held.filter(|_| grown > limit) {
                    held.leave_stopped();
                }
            }
        }
        let passed = (grown > limit).then_some(Limit::Disk);
        Ok((passed, soonest(limit.saturating_sub(grown), DISK_RATE)))
    }

    /// Checks whether the run's writing leaves a file system short of space.
    fn look_at_reserve(&mut self, now: Instant) -> io::Result<(Option<Limit>, Duration)> {
        let Some(reserve) = &self.reserve else {
            return Ok((None, Duration::MAX));
        };
        let left = reserve.left();
        if left > 0 || now < self.next_walk {
            return Ok((None, soonest(left, DISK_RATE)));
        }
        let passed = reserve
            .is_taken_by(&processes::below(self.warden)?)
            .then_some(Limit::Disk);
        self.next_walk = Instant::now() + MAX_PAUSE.max(now.elapsed() * SHARE);
        Ok((passed, MAX_PAUSE))
    }

    /// The same for the processes and their memory.
    fn look_at_tree(&mut self) -> io::Result<(Option<Limit>, Duration)> {
        let group = self.control_group.as_ref();
        let counted = group.map_or(Grouped::Nothing, ControlGroup::counts);
        let Some(tree) = &mut self.tree else {
            return Ok((None, Duration::MAX));
        };
        let processes = self.limits.processes.filter(|_| !counted.processes());
        let rate = process_rate(self.precedence.as_ref());
        let load = Load::now();
        let at_a_glance = tree.threads_at_a_glance(load);
        if let Some(limit) = processes {
            let most = self.limits.memory.unwrap_or(u64::MAX);
            let (threads, memory) = (at_a_glance, tree.memory_at_most());
            let is_due = match is_crowded(load) {
                true => self.looked_at.elapsed() >= MAX_PAUSE * SHARE,
                false => Instant::now() >= self.next_look,
            };
            if !is_due && threads <= limit && memory < most {
                let pause = soonest(limit - threads, rate).min(soonest(most - memory, MEMORY_RATE));
                return Ok((None, pause));
            }
        }
        if let Some(limit) = processes
            && tree.is_surely_past(limit, load)
        {
            return Ok((Some(Limit::Processes), Duration::MAX));
        }
        self.looked_at = Instant::now();
        let sample = tree.sample(processes)?;
        if self.limits.cpu.is_some_and(|cpu| sample.cpu > cpu) {
            return Ok((Some(Limit::Cpu), Duration::MAX));
        }
        let mut pause = Duration::MAX;
        if let Some(room) = &mut self.room {
            room.follow(self.warden, sample.threads, load);
        }
        if let Some(limit) = processes {
            // A process that ends during a look is counted along with its replacement: two looks don't err alike. If
            // the machine has gained so many threads, a second look would only give a storm time to double.
            let is_storm = at_a_glance > 2 * limit || is_crowded(Load::now());
            let is_past = sample.threads > limit && (is_storm || tree.sample(processes)?.threads > limit);
            if is_past {
                return Ok((Some(Limit::Processes), pause));
            }
            pause = pause.min(soonest(limit.saturating_sub(sample.threads), rate));
        }
        if let Some(limit) = self.limits.memory.filter(|_| !counted.memory()) {
            let mut used = sample.memory_at_most();
            if used <= limit {
                self.next_count = None;
            } else {
                let supervisor = self.supervisor.as_ref();
                let made = supervisor.map(|one| {
                    let made = one.run().made();
                    (made.shared_files(), made.system_v.memory())
                });
                let (files, segments) = made.unwrap_or_default();
                used = tree.memory_at_least(&sample, &files, segments);
                let now = Instant::now();
                let next = self.next_count.get_or_insert(NextCount {
                    at: now + MAX_PAUSE,
                    faulted: u64::MAX,
                });
                if used <= limit && (now >= next.at || sample.faulted > next.faulted) {
                    used = tree.memory(&sample, used, limit);
                    let took = now.elapsed();
                    *next = NextCount {
                        at: Instant::now() + (took * SHARE).min(MAX_UNCOUNTED).max(took),
                        faulted: sample.faulted + limit.saturating_sub(used),
                    };
                }
            }
            if used > limit {
                return Ok((Some(Limit::Memory), pause));
            }
            pause = pause.min(soonest(limit - used, MEMORY_RATE));
        }
        let looked = self.looked_at.elapsed();
        self.next_look = Instant::now() + MAX_PAUSE.max(looked * SHARE);
        Ok((None, pause))
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
        self.precedence = None;
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
        if self.hit.is_none() && self.is_past_disk_limit() {
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
                processes: self.tree.as_ref().map(Tree::most_processes),
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

/// The least time in which the run can add this much, at `rate` per second and processor.
fn soonest(room: u64, rate: u64) -> Duration {
    let nanoseconds = u128::from(room) * 1_000_000_000 / u128::from(rate * process::processors());
    u64::try_from(nanoseconds).map_or(Duration::MAX, Duration::from_nanos)
}

/// Whether anything is sampled that grows fast.
pub(super) fn is_hurried(limits: &Limits, counts: Grouped) -> bool {
    limits.processes.is_some() && !counts.processes() || limits.memory.is_some() && !counts.memory()
}

/// Threads per second and processor of a run that nothing else bounds: root's.
fn process_rate(precedence: Option<&Precedence>) -> u64 {
    match precedence {
        Some(_) => STORM_RATE,
        None => PROCESS_RATE,
    }
}

/// The time after its start in which a run can't pass any limit.
fn first_pause(limits: &Limits, process_rate: u64) -> Duration {
    let rates = [
        (limits.memory, MEMORY_RATE),
        (limits.disk, DISK_RATE),
        (limits.processes, process_rate),
    ];
    let pauses = rates
        .into_iter()
        .filter_map(|(limit, rate)| Some(soonest(limit?, rate)));
    pauses.fold(MAX_PAUSE, Duration::min).max(MIN_PAUSE)
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

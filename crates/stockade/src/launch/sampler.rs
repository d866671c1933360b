//! Samples what the kernel doesn't count, so that a run is ended soon after it passes a limit.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::room::Room;
use crate::growth::{Growth, Reserve};
use crate::plan::Grouped;
use crate::processes::{self, Load, Tree, is_crowded};
use crate::profile::Limits;
use crate::report::Limit;
use crate::warden::Pause;
use stockade_sys::process::{self, Precedence};

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

/// What is sampled of one run.
pub struct Sampler {
    warden: i32,
    limits: Limits,
    /// What the run's control group counts.
    counted: Grouped,
    tree: Option<Tree>,
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
}

/// The trees that a run writes, and its bound on processes, as far as they are limited.
pub struct Sampled {
    /// The growth of the trees it writes, if that is limited.
    pub growth: Option<Growth>,
    /// The space it leaves free where it writes, if growth isn't limited.
    pub reserve: Option<Reserve>,
    /// The bound on the user's processes.
    pub room: Option<Room>,
}

impl Sampler {
    /// The sampler of a run below this warden, which started at `started`.
    pub fn new(
        warden: i32,
        (limits, counted): (Limits, Grouped),
        sampled: Sampled,
        precedence: Option<Precedence>,
        started: Instant,
    ) -> Sampler {
        let is_hurried = is_hurried(&limits, counted);
        let precedence = precedence.or_else(|| is_hurried.then(|| Precedence::of(0).ok()).flatten());
        let rate = process_rate(precedence.as_ref());
        Sampler {
            warden,
            counted,
            tree: (limits.cpu.is_some() || is_hurried).then(|| Tree::new(warden)),
            growth: sampled.growth,
            reserve: sampled.reserve,
            room: sampled.room,
            next_walk: started,
            next_held_walk: started,
            next_count: None,
            precedence,
            looked_at: started,
            next_look: Instant::now(),
            next_sample: started + first_pause(&limits, rate),
            blind_since: None,
            blindness: None,
            limits,
        }
    }

    /// When it looks next; `None` if nothing is sampled.
    pub fn next(&self) -> Option<Instant> {
        let samples = self.tree.is_some() || self.growth.is_some() || self.reserve.is_some();
        samples.then_some(self.next_sample)
    }

    /// Why the run's processes couldn't be looked at for too long.
    pub fn blindness(&mut self) -> Option<io::Error> {
        self.blindness.take()
    }

    /// The most processes and threads that were seen at once.
    pub fn most_processes(&self) -> Option<u64> {
        self.tree.as_ref().map(Tree::most_processes)
    }

    /// Gives the precedence back when the tree has ended.
    pub fn end(&mut self) {
        self.precedence = None;
    }

    /// Whether the written trees are past their limit now.
    pub fn is_past_disk_limit(&mut self) -> bool {
        let growth = self.growth.as_mut().map(Growth::sample);
        growth
            .zip(self.limits.disk)
            .is_some_and(|(growth, limit)| growth > limit)
    }

    /// Samples everything that the kernel doesn't count. The next look comes before a limit can be passed, as far as
    /// the cost of looking allows. `shared` gives the run's files in `/dev/shm` and the bytes of its System V memory. Returns the
    /// limit that is passed.
    pub fn look(&mut self, now: Instant, shared: impl FnOnce() -> (Vec<PathBuf>, u64)) -> Option<Limit> {
        if now < self.next()? {
            return None;
        }
        let looked = self.look_at_files(now).and_then(|found| match found {
            (None, pause) => {
                let (passed, other) = self.look_at_tree(shared)?;
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
        passed
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
    fn look_at_tree(&mut self, shared: impl FnOnce() -> (Vec<PathBuf>, u64)) -> io::Result<(Option<Limit>, Duration)> {
        let counted = self.counted;
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
                let (files, segments) = shared();
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

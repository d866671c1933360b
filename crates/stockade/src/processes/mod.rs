//! Samples the process tree of a run, for limits where no control group counts.
//!
//! The warden is the subreaper, so every process of the run is below it. A sample is a lower bound: the warden's own
//! count of collected children covers what starts and ends between two samples.

pub mod looks;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

use stockade_sys::file;
use stockade_sys::other::compare_descriptor_tables;
use stockade_sys::process::{MachineMemory, machine_memory};

/// The reason given when one more process is refused.
pub const TOO_MANY_PROCESSES: &str =
    "the run has as many processes and threads as its limit allows (`--process-limit`)";

/// A sample of the tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Live processes.
    pub processes: u64,
    /// Their threads, as a control group's `pids.max` counts them: one at least in each.
    pub threads: u64,
    /// Processor time of the tree since its start.
    pub cpu: Duration,
    /// Bytes of anonymous memory, each page counted once per process that maps it.
    pub anonymous: u64,
    /// The same without pages that a process may share with its parent, so that no page is counted twice.
    pub own: u64,
    /// Bytes that its processes have faulted in since its start, also those freed since: a process that copies shared
    /// pages has no more memory than before. A huge page counts as one.
    pub faulted: u64,
    /// Bytes of page tables of processes that may have many.
    pub tables: u64,
    /// Bytes by which the machine's shared memory grew since the start: the run's, mapped or not, and others'.
    pub shared: u64,
}

impl Sample {
    /// An upper bound of the tree's memory, unless others freed shared memory meanwhile. Mapped file pages aren't
    /// counted: the kernel reclaims them when it needs to.
    pub fn memory_at_most(&self) -> u64 {
        self.anonymous + self.tables + self.shared
    }
}

/// The state kept for a process.
#[derive(Default)]
struct SeenProcess {
    /// Its processor time.
    cpu: Duration,
    /// Its page faults that read no file.
    faults: u64,
    /// The number of the last look that found it.
    look: u64,
    /// Bytes that it may share with its parent: all of the parent's memory when the process was first seen, or, if it
    /// was an orphan by then, as much as any process had.
    inherited: u64,
}

/// Whether so many threads are runnable that this one waits long for its next turn.
pub fn is_crowded(load: Load) -> bool {
    const EACH: u64 = 16;
    load.running > EACH * stockade_sys::process::processors()
}

/// The process tree below a warden.
pub struct Tree {
    warden: i32,
    tick: Duration,
    page: u64,
    /// The state of each live process, by its id and start time.
    seen: HashMap<(i32, u64), SeenProcess>,
    /// The sums of all ended processes, and the number of looks.
    ended: SeenProcess,
    looks: u64,
    /// The processes alive at the last look, each by a thread whose `/proc` entries show its memory.
    alive: Vec<i32>,
    most_processes: u64,
    shared_before: u64,
    /// Threads of the run at the last look, and of the machine then.
    threads: u64,
    threads_of_machine: u64,
    /// An upper bound of its memory then, in bytes, and the machine's free memory.
    memory: u64,
    free: u64,
    /// The most memory that one process was seen with, in bytes.
    largest: u64,
}

impl Tree {
    /// The tree below a warden's process id.
    pub fn new(warden: i32) -> Self {
        let ask = |name, default: i64| {
            nix::unistd::sysconf(name)
                .ok()
                .flatten()
                .filter(|value| *value > 0)
                .unwrap_or(default)
                .unsigned_abs()
        };
        let ticks = ask(nix::unistd::SysconfVar::CLK_TCK, 100);
        let machine = machine();
        Tree {
            warden,
            tick: Duration::from_secs(1) / u32::try_from(ticks).unwrap_or(100),
            page: ask(nix::unistd::SysconfVar::PAGE_SIZE, 4096),
            seen: HashMap::new(),
            ended: SeenProcess::default(),
            looks: 0,
            alive: Vec::new(),
            most_processes: 0,
            shared_before: machine.shared,
            threads: 0,
            memory: 0,
            free: machine.free,
            largest: 0,
            threads_of_machine: Load::now().threads,
        }
    }

    /// The largest number of processes that any sample found.
    pub fn most_processes(&self) -> u64 {
        self.most_processes
    }

    /// Looks at the tree once, and stops where it has more threads than `most`. Among hundreds of runnable processes a
    /// look takes seconds, and the tree may grow faster than the look: then all threads that the machine gained count
    /// as the tree's. Fails if `/proc` can't be read.
    pub fn sample(&mut self, most: Option<u64>) -> io::Result<Sample> {
        const WAITED: Duration = Duration::from_millis(2);
        let mut moment = Instant::now();
        self.alive.clear();
        let collected = Stat::read(self.warden, self.tick)?.map_or(Duration::ZERO, |stat| stat.children);
        let orphans = children(self.warden)?.into_iter();
        let mut waiting: Vec<(i32, u64)> = orphans.map(|pid| (pid, self.largest)).collect();
        let mut sample = Sample {
            shared: machine().shared.saturating_sub(self.shared_before),
            ..Sample::default()
        };
        let mut live_children = Duration::ZERO;
        self.looks += 1;
        while let Some((pid, of_parent)) = waiting.pop() {
            let before = std::mem::replace(&mut moment, Instant::now());
            if let Some(most) = most.filter(|_| moment - before > WAITED) {
                let load = Load::now();
                if self.is_surely_past(most, load) {
                    sample.threads = most + 1;
                    break;
                }
            }
            let Some(stat) = Stat::read(pid, self.tick)? else {
                continue;
            };
            let (lender, memory) = Pages::of_process(pid, stat.threads);
            let anonymous = memory.anonymous() * self.page;
            let seen = self.seen.entry((pid, stat.started)).or_insert_with(|| SeenProcess {
                inherited: of_parent,
                ..SeenProcess::default()
            });
            seen.cpu = stat.own;
            seen.faults = stat.faults;
            seen.look = self.looks;
            self.alive.push(lender);
            sample.processes += 1;
            sample.threads += stat.threads.max(1);
            if most.is_some_and(|most| sample.threads > most) {
                break;
            }
            self.largest = self.largest.max(anonymous);
            sample.anonymous += anonymous;
            sample.own += anonymous.saturating_sub(seen.inherited);
            sample.tables += page_tables(lender, memory.size * self.page);
            live_children += stat.own + stat.children;
            waiting.extend(children(pid)?.into_iter().map(|child| (child, anonymous)));
        }
        // Two lower bounds: the use seen of single processes, and the kernel's sums.
        self.forget_ended();
        let single = self.ended.cpu + self.seen.values().map(|seen| seen.cpu).sum::<Duration>();
        sample.faulted = (self.ended.faults + self.seen.values().map(|seen| seen.faults).sum::<u64>()) * self.page;
        sample.cpu = single.max(collected + live_children);
        self.most_processes = self.most_processes.max(sample.processes);
        self.threads = sample.threads;
        self.threads_of_machine = Load::now().threads;
        self.memory = sample.memory_at_most();
        self.free = machine().free;
        Ok(sample)
    }

    /// Keeps only the sums of ended processes: a run may go through millions.
    fn forget_ended(&mut self) {
        let (looks, tick, ended) = (self.looks, self.tick, &mut self.ended);
        self.seen.retain(|(pid, started), seen| {
            // Not every look goes through all processes.
            let lives = seen.look == looks
                || Stat::read(*pid, tick).is_ok_and(|stat| stat.is_some_and(|stat| stat.started == *started));
            if !lives {
                ended.cpu += seen.cpu;
                ended.faults += seen.faults;
            }
            lives
        });
    }

    /// An upper bound of the tree's threads, without a full look: if it isn't small, those of the last look plus all
    /// that the machine gained since then.
    pub fn threads_at_most(&self, machine: Load) -> u64 {
        self.small().unwrap_or_else(|| self.threads_at_a_glance(machine))
    }

    /// Whether the tree has more threads than this, judged without a full look where that would take too long.
    /// Processes outside the run don't start so many threads meanwhile, or not all are runnable.
    pub fn is_surely_past(&self, most: u64, machine: Load) -> bool {
        if !is_crowded(machine) {
            return false;
        }
        let threads = self.threads_at_most(machine);
        let allowed = if machine.running > most / 2 {
            most + most / 2
        } else {
            2 * most
        };
        threads > allowed
    }

    /// The same without any look: all threads that the machine gained count as the tree's.
    pub fn threads_at_a_glance(&self, machine: Load) -> u64 {
        self.threads + machine.threads.saturating_sub(self.threads_of_machine)
    }

    /// Its threads, if it has few: counting those is quick.
    fn small(&self) -> Option<u64> {
        const FEW: usize = 128;
        threads_below(self.warden, |processes, threads| {
            processes <= FEW && threads <= 2 * FEW as u64
        })
    }

    /// An upper bound of its memory in bytes: the last look's plus the machine's loss of free memory since.
    pub fn memory_at_most(&self) -> u64 {
        self.memory + self.free.saturating_sub(machine().free)
    }

    /// A lower bound of the memory of the last sample's processes and their shared memory, unless others made some
    /// meanwhile. `shared_files` are the run's in `/dev/shm`, and `segments` the bytes of its System V shared memory.
    pub fn memory_at_least(&self, sample: &Sample, shared_files: &[PathBuf], segments: u64) -> u64 {
        // At most what the run may hold, and at most the growth of the machine's shared memory.
        let shared = match sample.shared {
            0 => 0,
            // Memory files in transit in a socket are visible nowhere else.
            grown if have_descriptors_under_way(&self.alive) => grown,
            grown => grown.min(shared_memory(&self.alive, shared_files) + segments),
        };
        sample.own + sample.tables + shared
    }

    /// `at_least` ([`Tree::memory_at_least`]) with each page counted once, as far as needed to tell whether that is
    /// over a limit. Slow: used where both bounds leave it open.
    pub fn memory(&self, sample: &Sample, at_least: u64, limit: u64) -> u64 {
        let mut sum = at_least - sample.own;
        for pid in &self.alive {
            sum += proportional(*pid)
                .or_else(|| Pages::of(*pid).map(|memory| memory.anonymous() * self.page))
                .unwrap_or(0);
            if sum > limit {
                break;
            }
        }
        sum
    }
}

fn machine() -> MachineMemory {
    machine_memory().unwrap_or_default()
}

/// The machine's threads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Load {
    /// Runnable threads.
    pub running: u64,
    /// All threads.
    pub threads: u64,
}

impl Load {
    /// Reads proc_loadavg(5); zero where that can't be read, as in a nested run.
    pub fn now() -> Load {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let both = text.split(' ').nth(3).and_then(|field| field.split_once('/'));
        both.map_or_else(Load::default, |(running, threads)| Load {
            running: running.parse().unwrap_or(0),
            threads: threads.parse().unwrap_or(0),
        })
    }

    /// The kernel's own threads, which count for no user: 0 where they can't be seen, as in a container.
    pub fn threads_of_kernel() -> u64 {
        let is_theirs = fs::read("/proc/2/comm").is_ok_and(|name| name == b"kthreadd\n");
        let count = || children(2).map_or(0, |threads| threads.len() as u64);
        if is_theirs { count() } else { 0 }
    }
}

/// An upper bound of the threads of the caller's user (RLIMIT_NPROC): those of all users where a few more don't matter
/// for a limit of `most`, or where not all processes are visible, as in a container. `None` if there is no source.
pub fn threads_of_user_at_most(most: u64) -> Option<u64> {
    let all = Some(Load::now().threads).filter(|all| *all > 0)?;
    let kernel = Load::threads_of_kernel();
    let users = all.saturating_sub(kernel);
    // Looking costs some microseconds per process, and RLIMIT_NPROC doesn't bind root.
    let is_exact = kernel > 0 && users > most / 50 && !nix::unistd::getuid().is_root();
    Some(if is_exact {
        threads_of(nix::unistd::getuid().as_raw()).min(users)
    } else {
        users
    })
}

/// Threads of this user's processes. A process's directories belong to its effective user, and the link count of `task`
/// is its number of threads plus two (`proc_task_getattr`).
fn threads_of(user: u32) -> u64 {
    let is_number = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().filter(is_number);
    processes
        .filter_map(|process| fs::metadata(process.path().join("task")).ok())
        .filter(|found| found.uid() == user)
        .map(|found| found.nlink().saturating_sub(2))
        .sum()
}

/// A process's pages (proc_pid_statm(5)).
#[derive(Default)]
struct Pages {
    /// Of its address space.
    size: u64,
    /// Resident pages.
    resident: u64,
    /// Resident pages of files and shared memory.
    mapped: u64,
}

impl Pages {
    fn of(pid: i32) -> Option<Pages> {
        let text = looks::text(&format!("/proc/{pid}/statm"))?;
        let mut fields = text.split(' ').map(|field| field.parse().ok());
        let (size, resident, mapped) = (fields.next()??, fields.next()??, fields.next()??);
        Some(Pages { size, resident, mapped })
    }

    /// The same, and the thread that shows them: the first thread, whose id is the process's, shows no memory once it
    /// has ended, whatever the others hold.
    fn of_process(pid: i32, threads: u64) -> (i32, Pages) {
        let pages = Pages::of(pid).unwrap_or_default();
        if pages.size > 0 || threads < 2 {
            return (pid, pages);
        }
        let told = thread_ids(pid).find_map(|thread| Some((thread, Pages::of(thread).filter(|pages| pages.size > 0)?)));
        told.unwrap_or((pid, pages))
    }

    fn anonymous(&self) -> u64 {
        self.resident.saturating_sub(self.mapped)
    }
}

/// A process's bytes of page tables (`VmPTE` of proc_pid_status(5)), if its address space may need many: a table of one
/// page maps 512 pages, also where those take no memory.
fn page_tables(pid: i32, addresses: u64) -> u64 {
    const MANY: u64 = 128 << 10;
    if addresses / 512 <= MANY {
        return 0;
    }
    // The process name in it may be any bytes.
    let text = looks::read(&format!("/proc/{pid}/status")).unwrap_or_default();
    kilobytes(&String::from_utf8_lossy(&text), "VmPTE:").unwrap_or(0)
}

/// A process's bytes of anonymous memory, each page divided by the number of processes that map it. `None` if the
/// process is gone, or the caller may not look into it.
fn proportional(pid: i32) -> Option<u64> {
    let text = looks::text(&format!("/proc/{pid}/smaps_rollup"))?;
    kilobytes(&text, "Pss_Anon:")
}

/// A `kB` field in bytes.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// An upper bound of the bytes of shared memory that these processes hold: their mappings, resident or not, their open
/// files, and the files in `/dev/shm` that they made. Each file once.
fn shared_memory(processes: &[i32], made: &[PathBuf]) -> u64 {
    let memory_file = file::memory_file(c"", libc::MFD_CLOEXEC).ok();
    let memory_files = memory_file.and_then(|made| file::status(made.as_fd()).ok().map(|status| status.st_dev));
    let named = fs::metadata("/dev/shm").ok().map(|found| found.dev());
    let mut sizes: HashMap<(u64, u64), u64> = HashMap::new();
    let mut keep = |number: (u64, u64), size: u64| {
        let known = sizes.entry(number).or_default();
        *known = size.max(*known);
    };
    for found in open_files(processes).filter(|found| [memory_files, named].contains(&Some(found.dev()))) {
        keep((found.dev(), found.ino()), found.blocks() * BLOCK);
    }
    for found in made.iter().filter_map(|path| fs::symlink_metadata(path).ok()) {
        keep((found.dev(), found.ino()), found.blocks() * BLOCK);
    }
    for process in processes {
        for (number, size) in shared_mappings(*process) {
            keep(number, size);
        }
    }
    sizes.values().sum()
}

/// A process's mappings of shared memory, by device and inode, in bytes of address space (proc_pid_maps(5)).
fn shared_mappings(process: i32) -> HashMap<(u64, u64), u64> {
    const PLACES: [&str; 3] = ["/memfd:", "/dev/zero", "/dev/shm/"];
    let text = looks::read(&format!("/proc/{process}/maps")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = text
        .lines()
        .filter(|line| PLACES.iter().any(|place| line.contains(place)));
    let mut sizes = HashMap::new();
    for (number, size) in lines.filter_map(mapping) {
        *sizes.entry(number).or_default() += size;
    }
    sizes
}

/// Device and inode of a line of `maps`, and the size of its address range.
fn mapping(line: &str) -> Option<((u64, u64), u64)> {
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let part = |text: &str| u32::from_str_radix(text, 16).ok();
    let mut fields = line.split_ascii_whitespace();
    let (from, to) = fields.next()?.split_once('-')?;
    let (major, minor) = fields.nth(2)?.split_once(':')?;
    let device = libc::makedev(part(major)?, part(minor)?);
    let inode = fields.next()?.parse().ok()?;
    Some(((device, inode), hexadecimal(to)?.checked_sub(hexadecimal(from)?)?))
}

/// Bytes on these file systems of unlinked files that the processes have open, each once.
pub fn nameless_files(processes: &[i32], devices: &HashSet<u64>) -> u64 {
    let mut seen = HashSet::new();
    open_files(processes)
        .filter(|found| found.is_file() && found.nlink() == 0 && devices.contains(&found.dev()))
        .filter(|found| seen.insert((found.dev(), found.ino())))
        .map(|found| found.blocks() * BLOCK)
        .sum()
}

/// The processes' open files, one item per descriptor.
fn open_files(processes: &[i32]) -> impl Iterator<Item = fs::Metadata> {
    let tables = processes.iter().flat_map(|pid| descriptor_tables(*pid));
    let open = tables.flat_map(|thread| fs::read_dir(thread.join("fd")).into_iter().flatten().flatten());
    open.filter_map(|entry| fs::metadata(entry.path()).ok())
}

/// A thread's directory in `/proc` for each descriptor table of a process. Threads share one, unless they unshared it
/// (`CLONE_FILES`); a thread that has ended has none, also the first.
fn descriptor_tables(process: i32) -> Vec<PathBuf> {
    let tasks = PathBuf::from(format!("/proc/{process}/task"));
    let mut tables: Vec<i32> = Vec::new();
    for thread in thread_ids(process) {
        // If kcmp(2) fails, each table is looked at.
        let compare = |known: &i32| compare_descriptor_tables(*known, thread).unwrap_or(Ordering::Less);
        if let Err(place) = tables.binary_search_by(compare) {
            tables.insert(place, thread);
        }
    }
    tables.iter().map(|thread| tasks.join(thread.to_string())).collect()
}

/// The threads of a process, including the first one once it has ended.
fn thread_ids(process: i32) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether an unlinked file may exist that no descriptor shows: in transit in a socket, or only mapped.
pub fn may_hide_files(processes: &[i32]) -> bool {
    const OF_MEMORY: &[&str] = &["/memfd:", "/dev/zero", "/dev/shm/", "/SYSV", "/[aio]"];
    let is_deleted = |line: &str| {
        let path = line.find('/').map(|start| &line[start..]);
        path.is_some_and(|path| {
            path.ends_with(" (deleted)") && !OF_MEMORY.iter().any(|memory| path.starts_with(memory))
        })
    };
    let maps = |process: &i32| fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    have_descriptors_under_way(processes)
        || processes
            .iter()
            .any(|process| String::from_utf8_lossy(&maps(process)).lines().any(is_deleted))
}

/// Whether a process lives and can't be looked into: one that executes a file which it may not read (`would_dump` in
/// the kernel). A process that has ended has no pages left.
fn is_unreadable(process: i32) -> bool {
    let is_refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    fs::File::open(format!("/proc/{process}/maps")).is_err_and(is_refused)
        && Pages::of(process).is_some_and(|pages| pages.size > 0)
}

/// Whether these processes may hold files that none of their descriptors shows: a process can't be looked into, or a
/// socket holds descriptors that no process has received yet (`unix_show_fdinfo`).
fn have_descriptors_under_way(processes: &[i32]) -> bool {
    let waits = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("scm_fds:"));
        count.is_some_and(|count| count.trim() != "0")
    };
    let mut tables = processes.iter().flat_map(|process| descriptor_tables(*process));
    let waits_in = |thread: PathBuf| {
        let descriptors = fs::read_dir(thread.join("fdinfo")).into_iter();
        descriptors.flatten().flatten().any(waits)
    };
    processes.iter().any(|process| is_unreadable(*process)) || tables.any(waits_in)
}

/// The unit of `st_blocks`.
pub const BLOCK: u64 = 512;

/// The fields of a process's `stat` after its name, which may hold any bytes.
pub struct StatFields<'a>(Vec<&'a str>);

impl<'a> StatFields<'a> {
    /// Parses the whole text.
    pub fn of(text: &'a [u8]) -> Option<Self> {
        // The name is in brackets, and may contain brackets itself.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end + 2..)?).ok()?;
        Some(StatFields(rest.split(' ').collect()))
    }

    /// A field by its number in proc_pid_stat(5), which counts from 1; the first after the name is number 3.
    pub fn get<T: std::str::FromStr>(&self, field: usize) -> Option<T> {
        self.0.get(field.checked_sub(3)?)?.parse().ok()
    }
}

/// A field of proc_pid_status(5), a number in this radix.
pub fn status_field(status: &str, field: &str, radix: u32) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    u64::from_str_radix(line.trim(), radix).ok()
}

/// The fields of `/proc/PID/stat` used here.
struct Stat {
    faults: u64,
    own: Duration,
    children: Duration,
    threads: u64,
    started: u64,
}

impl Stat {
    /// Returns `None` if the process is gone.
    fn read(pid: i32, tick: Duration) -> io::Result<Option<Stat>> {
        let text = unless_gone(looks::read(&format!("/proc/{pid}/stat")))?;
        Ok(text.and_then(|text| Stat::of(&text, tick)))
    }

    fn of(text: &[u8], tick: Duration) -> Option<Stat> {
        let fields = StatFields::of(text)?;
        let number = |field: usize| fields.get::<u64>(field);
        let time = |field| {
            let ticks = u32::try_from(number(field)?).unwrap_or(u32::MAX);
            Some(tick * ticks)
        };
        Some(Stat {
            faults: number(10)?,
            own: time(14)? + time(15)?,
            children: time(16)? + time(17)?,
            threads: number(20)?,
            started: number(22)?,
        })
    }
}

/// Threads below a process, as long as `are_few` accepts the counts; otherwise, or if they can't be read, `None`.
pub fn threads_below(process: i32, are_few: impl Fn(usize, u64) -> bool) -> Option<u64> {
    let (mut waiting, mut counted, mut threads) = (children(process).ok()?, 0, 0);
    loop {
        if !are_few(counted + waiting.len(), threads) {
            return None;
        }
        let Some(pid) = waiting.pop() else {
            return Some(threads);
        };
        counted += 1;
        let found = unless_gone(fs::read_dir(format!("/proc/{pid}/task"))).ok()?;
        threads += found.map_or(0, Iterator::count).max(1) as u64;
        waiting.extend(children(pid).ok()?);
    }
}

/// The processes below one, as found now, parents before their children: those that start meanwhile may be missing.
///
/// # Errors
/// `/proc` can't be read, for want of descriptors or memory.
pub fn below(process: i32) -> io::Result<Vec<i32>> {
    let mut found = children(process)?;
    let mut at = 0;
    while let Some(pid) = found.get(at) {
        found.extend(children(*pid)?);
        at += 1;
    }
    Ok(found)
}

/// The children of all threads of a process; empty if it is gone. Fails if `/proc` can't be read, for want of
/// descriptors or memory.
pub fn children(pid: i32) -> io::Result<Vec<i32>> {
    let mut found = Vec::new();
    let Some(threads) = unless_gone(fs::read_dir(format!("/proc/{pid}/task")))? else {
        return Ok(found);
    };
    for thread in threads {
        let Some(thread) = unless_gone(thread)? else { break };
        let text = unless_gone(fs::read_to_string(thread.path().join("children")))?.unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Ok(found)
}

/// The result of reading a process's entry; `None` if the process is gone.
fn unless_gone<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)) => Ok(None),
        Err(error) => Err(error),
    }
}

//! Creates everything that a launch needs before the fork: descriptors, the ruleset, strings, the scratch directory.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated,
    Scope,
};

use super::LaunchError;
use super::cache::{Cache, CacheKey};
use super::cgroup::{self, ControlGroup};
use super::network::Exchange;
use super::room::Room;
use super::running::{Holdings, Running};
use super::sampler::{Sampled, is_hurried};
use super::scratch::Scratch;
use super::survey::{Spot, survey};
use super::workers;
use super::{made, taken};
use crate::command::ResolvedCommand;
use crate::growth::{Growth, Reserve};
use crate::plan::{Grouped, Handled, Home, Links, Plan, SupervisorAbility as Supervises};
use crate::policy::{Access, NetworkPolicy, Policy};
use crate::profile::Limits;
use crate::ruleset::{allow, pin};
use crate::supervise::{self, Run, RunConfig, RunServices, Supervisor};
use crate::warden::{ExecSpec, ResourceLimit, WardenSpec, spawn_warden};
use stockade_sys::process::{PointerArray, Precedence, Scheduling};
use stockade_sys::signals::{self, SignalSet};
use stockade_sys::spawn::ChildStack;
use stockade_sys::wire;
use stockade_sys::{confine, socket};

/// The home of a run without one: nothing may exist there.
const NOWHERE: &str = "/nonexistent";

/// The target's standard input.
#[derive(Debug, Clone)]
pub enum Input {
    /// The caller's.
    Callers,
    /// An empty one.
    Empty,
    /// A pipe that the caller writes to.
    Pipe(Arc<io::PipeReader>),
}

/// The target's standard input, output and error.
#[derive(Debug, Clone)]
pub struct Streams {
    /// Standard input.
    pub input: Input,
    /// Whether output and error are the caller's; otherwise they are piped to [`Running`].
    pub inherit_output: bool,
}

/// The directories where Stockade may write and the resources it found, for one launch.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The state directory.
    pub state: Option<&'a Path>,
    /// The parent of scratch directories.
    pub scratch: &'a Path,
    /// The key of the run's cache in the state directory.
    pub cache: CacheKey<'a>,
    /// A delegated control group.
    pub control_group: Option<&'a cgroup::Parent>,
    /// The DNS server used in place of the machine's.
    pub resolver: Option<SocketAddr>,
}

/// A run that is ready to start. Dropping it removes everything created for it.
pub struct Prepared {
    spec: WardenSpec,
    limits: Limits,
    scratch: Option<Scratch>,
    cache: Option<Cache>,
    /// The state directory.
    state: Option<PathBuf>,
    control_group: Option<ControlGroup>,
    /// The launcher's end of the socket.
    socket: OwnedFd,
    /// The read ends of the output and error pipes.
    output: [Option<OwnedFd>; 2],
    /// The supervisor's configuration, if there is a supervisor.
    run_config: Option<RunConfig>,
    /// The relay, if hosts are named.
    exchange: Option<Exchange>,
    /// The size of the written trees, if their growth is limited.
    growth: Option<Growth>,
    /// The space to keep free where they lie, if it isn't.
    reserve: Option<Reserve>,
    room: Option<Room>,
    // Descriptors that the `WardenSpec` and `ExecSpec` name by number.
    _held: Vec<OwnedFd>,
}

/// Prepares a run of `command` under `plan`.
///
/// # Errors
/// A directory, ruleset, socket or limit of the run can't be created; the error names the step.
pub fn prepare(
    plan: &Plan,
    policy: &Policy,
    command: &ResolvedCommand,
    streams: Streams,
    places: Places<'_>,
) -> Result<Prepared, LaunchError> {
    refuse_foreign_proc()?;
    refuse_datagram_streams(policy, &streams)?;
    let scratch = match plan.home {
        Home::Scratch => Some(Scratch::make(places.scratch, places.state)?),
        Home::Callers | Home::Nowhere => None,
    };
    // Without a state directory, programs get errors for files that they would keep in the home.
    let state = places.state.filter(|_| plan.cache.is_some());
    let cache = state.and_then(|state| Cache::open(state, &places.cache).ok());
    let private = Private {
        scratch: scratch.as_ref().map(Scratch::path),
        cache: cache.as_ref().map(Cache::path),
    };
    let control_group = match places.control_group {
        Some(parent) if plan.control_group != Grouped::Nothing => Some(ControlGroup::make(parent, &plan.limits)?),
        _ => None,
    };
    let mut held = OpenDescriptors(Vec::with_capacity(8));
    let root = pin(&plan.directory, Links::Refused).map(OwnedFd::from);
    let root = root.map_err(|error| LaunchError::Root(plan.directory.clone(), error))?;
    let terminals = terminals(&streams);
    let keeps_reserve = plan.limits.disk.is_none() && plan.limits.file_size.is_some();
    let reserve = keeps_reserve.then(|| Reserve::begin(written(policy, private)));
    let counted_by_launcher = plan.limits.processes.filter(|_| !plan.control_group.processes());
    let may_move = plan.supervisor == Supervises::Own;
    let room = counted_by_launcher.and_then(|most| Room::beside_others(most, may_move));
    let run_config = plan.supervision.map(|supervision| RunConfig {
        policy: policy.clone(),
        supervision,
        native: plan.native.clone(),
        scratch: private.scratch.map(Path::to_path_buf),
        cache: private.cache.map(Path::to_path_buf),
        scratch_executes: plan.scratch_executes,
        terminals: terminals.iter().map(|spot| spot.path.clone()).collect(),
        starts: command.starts,
        most_processes: room.as_ref().map(Room::most_given),
        kept: reserve.as_ref().map(Reserve::kept),
        taken: places.state.map(taken::load).unwrap_or_default(),
        earlier: places.state.into_iter().flat_map(made::identities).collect(),
    });
    let growth = plan.limits.disk.map(|_| Growth::begin(written(policy, private)));
    let (run_config, outer_request) = match plan.supervisor {
        Supervises::Outer => (None, run_config.map(supervise::request)),
        Supervises::Own | Supervises::None => (run_config, None),
    };
    let rulesets = ruleset(plan, policy, private, terminals)?;
    let exchange = plan
        .network
        .then(|| Exchange::open(plan, places.resolver))
        .transpose()?;
    let signal_ruleset = plan.handled.scopes.then(signal_ruleset).transpose()?;
    let (launchers_end, wardens_end) = wire::pair().map_err(|e| LaunchError::System("make a socket", e))?;
    let (streams, output) = streams_of(&streams, &mut held)?;
    let door = control_group.as_ref().map(ControlGroup::door).transpose();
    let door = door.map_err(|e| LaunchError::System("open the control group", e))?;

    let exec_spec = ExecSpec {
        program: c_string(path_for_exec(command), "the program's path")?,
        arguments: PointerArray::new(c_strings(command.argv.iter().cloned(), "an argument")?),
        environment: PointerArray::new(environment(plan, policy, command, (scratch.as_ref(), cache.as_ref()))?),
        directory: held.keep(root)?,
        streams,
        ruleset: held.keep(rulesets.target)?,
        own_proc_rights: plan.own_proc_rights,
        filter: plan.filter.clone(),
        listener_socket: match run_config {
            Some(_) => wardens_end.as_raw_fd(),
            None => -1,
        },
        limits: resource_limits(&plan.limits, room.as_ref()),
        control_group: match door {
            Some(door) => held.keep(door.into())?,
            None => -1,
        },
        ignored_signals: signals::ignored(),
        signal_mask: SignalSet::of(&[]),
        scheduling: None,
    };
    let spec = WardenSpec {
        launcher: stockade_sys::process::id(),
        socket: held.keep(wardens_end)?,
        signal_ruleset: signal_ruleset.map(|fd| held.keep(fd)).transpose()?,
        workers_ruleset: rulesets.workers.map(|fd| held.keep(fd)).transpose()?,
        outer_request,
        control: None,
        holds_capabilities: holds_capabilities(),
        exec_spec,
        stack: ChildStack::new(),
    };
    Ok(Prepared {
        spec,
        limits: plan.limits,
        scratch,
        cache,
        state: places.state.map(Path::to_path_buf),
        control_group,
        socket: launchers_end,
        output,
        run_config,
        exchange,
        growth,
        reserve,
        room,
        _held: held.0,
    })
}

/// Signals that the caller has blocked, to handle them itself.
#[derive(Clone, Copy)]
pub struct CallersSignals<'a> {
    /// The mask before, which the program starts with.
    pub mask: SignalSet,
    /// The signal descriptor.
    pub descriptor: BorrowedFd<'a>,
}

impl Prepared {
    /// Forks the warden, which starts the program with the caller's signal mask, or the calling thread's. Returns once
    /// the program runs, or the caller's descriptor is readable.
    ///
    /// # Errors
    /// A process can't be forked, confined or executed, with the step that failed.
    pub fn start(mut self, caller: Option<CallersSignals<'_>>, aides: RunServices) -> Result<Running, LaunchError> {
        let failed = |error| LaunchError::System("block signals", error);
        let mask = SignalSet::full().block().map_err(failed)?;
        self.spec.exec_spec.signal_mask = caller.map_or(mask, |caller| caller.mask);
        let Prepared {
            mut spec,
            limits,
            scratch,
            cache,
            state,
            control_group,
            socket,
            output,
            run_config,
            exchange,
            growth,
            reserve,
            room,
            _held: mut held,
        } = self;
        let failed_relay = |error| LaunchError::System("start the relay", error);
        let network = exchange
            .map(|exchange| exchange.start(spec.holds_capabilities))
            .transpose();
        let network = match network {
            Ok(network) => network,
            Err(error) => {
                mask.set().map_err(failed)?;
                return Err(failed_relay(error));
            }
        };
        let (network, shutdown) = match network {
            Some(relay) => {
                spec.control = Some(relay.control.as_raw_fd());
                held.push(relay.control);
                (Some(relay.network), Some(relay.shutdown))
            }
            None => (None, None),
        };
        // Before any process of the run can fork; threads and processes started later don't inherit it.
        let counts = control_group.as_ref().map_or(Grouped::Nothing, ControlGroup::counts);
        let precedence = is_hurried(&limits, counts).then(|| {
            spec.exec_spec.scheduling = Scheduling::now().ok();
            Precedence::in_real_time(0).ok()
        });
        let precedence = precedence.flatten();
        let started = match run_config {
            None => spawn_warden(&spec).map(|spawned| (None, spawned)),
            Some(run_config) => Supervisor::start(
                &Arc::new(Run::new(run_config, network, aides)),
                spec,
                socket.as_raw_fd(),
            )
            .map(|(supervisor, spawned)| (Some(supervisor), spawned)),
        };
        mask.set().map_err(failed)?;
        let (supervisor, mut spawned) = started.map_err(|e| LaunchError::System("start the warden", e))?;
        // The warden has its own copies; the launcher's would keep its socket and the pipes open.
        drop(held);
        let news = spawned.news.take();
        let mut running = Running::begun(
            spawned,
            supervisor,
            socket,
            output,
            limits,
            Holdings {
                scratch,
                cache,
                state,
                control_group,
                sampled: Sampled { growth, reserve, room },
                shutdown,
                precedence,
            },
        );
        match news {
            Some(news) => running.hear_of_start(Some(news))?,
            None => running.await_start(caller.map(|caller| caller.descriptor))?,
        }
        Ok(running)
    }
}

/// The run's private directories.
#[derive(Clone, Copy)]
struct Private<'a> {
    scratch: Option<&'a Path>,
    cache: Option<&'a Path>,
}

/// The trees that the run may write, without devices.
fn written(policy: &Policy, private: Private<'_>) -> Vec<PathBuf> {
    let granted = policy
        .grants
        .iter()
        .filter(|grant| grant.access.contains(Access::WRITE) && !grant.path.starts_with("/dev"))
        .map(|grant| grant.path.clone());
    let own = private.scratch.into_iter().chain(private.cache);
    granted.chain(own.map(Path::to_path_buf)).collect()
}

/// Descriptors kept open for the launch, none of them among the first three, which the target's streams replace.
struct OpenDescriptors(Vec<OwnedFd>);

impl OpenDescriptors {
    fn keep(&mut self, descriptor: OwnedFd) -> Result<RawFd, LaunchError> {
        let descriptor = if descriptor.as_raw_fd() > 2 {
            descriptor
        } else {
            nix::fcntl::fcntl(&descriptor, nix::fcntl::FcntlArg::F_DUPFD_CLOEXEC(3))
                .map_err(|e| LaunchError::System("move a descriptor", e.into()))
                .map(owned)?
        };
        let number = descriptor.as_raw_fd();
        self.0.push(descriptor);
        Ok(number)
    }
}

fn owned(number: RawFd) -> OwnedFd {
    stockade_sys::own(number)
}

fn open_directory(path: &Path) -> Result<OwnedFd, LaunchError> {
    let opened = File::options()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path);
    opened
        .map(OwnedFd::from)
        .map_err(|error| LaunchError::Root(path.to_path_buf(), error))
}

/// The target's ruleset. Every right is a hard requirement: the crate returns an error rather than less.
fn ruleset(plan: &Plan, policy: &Policy, private: Private<'_>, terminals: Vec<Spot>) -> Result<Rulesets, LaunchError> {
    let target = create(plan.handled)?;
    let has_workers = plan.supervision.is_some() && plan.supervisor == Supervises::Own;
    let workers = has_workers.then(|| workers::create(plan)).transpose()?;
    let scratch = private.scratch.map(|scratch| Spot {
        path: scratch.to_path_buf(),
        rights: if plan.scratch_executes {
            plan.handled.files & !NOT_IN_SCRATCH.bits()
        } else {
            plan.handled.files & !(NOT_IN_SCRATCH | AccessFs::Execute).bits()
        },
        links: Links::Followed,
    });
    let cache = private.cache.map(|cache| Spot {
        path: cache.to_path_buf(),
        rights: plan.cache.unwrap_or_default(),
        links: Links::Refused,
    });
    let own: Vec<Spot> = scratch.into_iter().chain(cache).collect();
    if let Some(workers) = &workers {
        for Spot { path, .. } in &own {
            let failed = |error| LaunchError::Open(path.clone(), error);
            let directory = File::from(open_directory(path)?);
            allow(workers.as_fd(), &directory, plan.workers_private, plan.handled).map_err(failed)?;
        }
    }
    for spot in survey(plan, policy)?.into_iter().chain(own).chain(terminals) {
        let Some(file) = open_spot(&spot)? else {
            continue;
        };
        let failed = |error| LaunchError::Open(spot.path.clone(), error);
        let rights = spot.rights & plan.handled.files;
        let rights = allow(target.as_fd(), &file, rights, plan.handled).map_err(failed)?;
        if let Some(workers) = &workers {
            allow(workers.as_fd(), &file, rights, plan.handled).map_err(failed)?;
        }
    }
    Ok(Rulesets { target, workers })
}

/// The target's ruleset, and the wider one of the workers that act on its behalf.
struct Rulesets {
    target: OwnedFd,
    workers: Option<OwnedFd>,
}

/// No devices, and no unix sockets except the run's own.
const NOT_IN_SCRATCH: BitFlags<AccessFs> = landlock::make_bitflags!(AccessFs::{
    MakeChar | MakeBlock | IoctlDev | ResolveUnix
});

pub(super) fn create(handled: Handled) -> Result<OwnedFd, LaunchError> {
    let abi = ABI::from(handled.abi);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if handled.tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if handled.scopes {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    descriptor(ruleset.create()?)
}

pub(super) fn descriptor(ruleset: RulesetCreated) -> Result<OwnedFd, LaunchError> {
    Option::<OwnedFd>::from(ruleset).ok_or(LaunchError::System(
        "make a Landlock ruleset",
        io::Error::from_raw_os_error(libc::ENOSYS),
    ))
}

/// Opens one path. A missing path grants nothing, and so does one that the user can't reach.
fn open_spot(spot: &Spot) -> Result<Option<File>, LaunchError> {
    match pin(&spot.path, spot.links) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.raw_os_error() {
            Some(libc::ELOOP) if spot.links == Links::Refused => Err(LaunchError::Open(spot.path.clone(), error)),
            Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP) => Ok(None),
            _ => Err(LaunchError::Open(spot.path.clone(), error)),
        },
    }
}

/// The run's terminals, so that it can open them by name (`ttyname`).
fn terminals(streams: &Streams) -> Vec<Spot> {
    let numbers = inherited(streams);
    let mut paths: Vec<PathBuf> = numbers
        .iter()
        .filter(|number| stockade_sys::terminal::is_terminal(**number))
        .filter_map(|number| std::fs::read_link(format!("/proc/self/fd/{number}")).ok())
        .filter(|path| path.starts_with("/dev"))
        .collect();
    paths.sort();
    paths.dedup();
    let rights = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    paths
        .into_iter()
        .map(|path| Spot {
            path,
            rights: rights.bits(),
            links: Links::GrantNothing,
        })
        .collect()
}

fn inherited(streams: &Streams) -> &'static [RawFd] {
    match (matches!(streams.input, Input::Callers), streams.inherit_output) {
        (true, true) => &[0, 1, 2],
        (true, false) => &[0],
        (false, true) => &[1, 2],
        (false, false) => &[],
    }
}

/// Refuses a datagram socket as a standard stream, which the supervisor would neither judge nor see: every message may
/// name another receiver.
fn refuse_datagram_streams(policy: &Policy, streams: &Streams) -> Result<(), LaunchError> {
    const NAMES: [&str; 3] = ["standard input", "standard output", "standard error"];
    let reaches_all = policy.reach == NetworkPolicy::Everything;
    for number in inherited(streams) {
        let Ok(copy) = stockade_sys::duplicate(*number) else {
            continue;
        };
        let is_harmless = match socket::kind(copy.as_fd()) {
            Ok(libc::SOCK_STREAM | libc::SOCK_SEQPACKET) | Err(_) => true,
            Ok(kind) => kind == libc::SOCK_DGRAM && reaches_all,
        };
        if !is_harmless {
            return Err(LaunchError::Datagrams(NAMES[*number as usize]));
        }
    }
    Ok(())
}

/// The warden's ruleset: it scopes signals and refuses nothing else.
///
/// Moving files between directories is refused by every layer that doesn't handle and grant it, once any layer handles
/// files (landlock(7), `LANDLOCK_ACCESS_FS_REFER`), so this one has to grant it everywhere.
fn signal_ruleset() -> Result<OwnedFd, LaunchError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Refer)?
        .scope(Scope::Signal)?
        .create()?;
    let ruleset = descriptor(ruleset)?;
    let top = open_directory(Path::new("/"))?;
    confine::landlock_add_path(ruleset.as_fd(), top.as_fd(), AccessFs::Refer as u64)
        .map_err(|error| LaunchError::Open(PathBuf::from("/"), error))?;
    Ok(ruleset)
}

type Pipes = ([RawFd; 3], [Option<OwnedFd>; 2]);

/// The target's three streams, and the launcher's ends of the pipes among them.
fn streams_of(streams: &Streams, held: &mut OpenDescriptors) -> Result<Pipes, LaunchError> {
    let failed = |error| LaunchError::System("make a pipe", error);
    let input = match &streams.input {
        Input::Callers => 0,
        Input::Empty => held.keep(File::open("/dev/null").map_err(failed)?.into())?,
        Input::Pipe(reader) => held.keep(reader.try_clone().map_err(failed)?.into())?,
    };
    if streams.inherit_output {
        return Ok(([input, 1, 2], [None, None]));
    }
    let mut pipe = || {
        let (reader, writer) = io::pipe().map_err(failed)?;
        // Only the launcher's end: the target's end blocks.
        nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK))
            .map_err(|error| failed(error.into()))?;
        Ok::<_, LaunchError>((OwnedFd::from(reader), held.keep(writer.into())?))
    };
    let (output, output_writer) = pipe()?;
    let (error, error_writer) = pipe()?;
    Ok(([input, output_writer, error_writer], [Some(output), Some(error)]))
}

/// The path as given if it has a slash, since scripts see it as `$0`; the working directory is the root, against which
/// it was resolved. A bare name is executed by the path where it was found.
fn path_for_exec(command: &ResolvedCommand) -> &OsStr {
    match command.argv.first() {
        Some(name) if name.as_bytes().contains(&b'/') => name,
        _ => command.program.as_os_str(),
    }
}

/// The policy's variables, and those for the run's private directories. The toolchain's `CARGO_HOME` is read-only: it
/// is replaced if the run can fetch crates, or has some in its cache.
fn environment(
    plan: &Plan,
    policy: &Policy,
    command: &ResolvedCommand,
    (scratch, cache): (Option<&Scratch>, Option<&Cache>),
) -> Result<Vec<CString>, LaunchError> {
    let home = match plan.home {
        Home::Callers => None,
        Home::Scratch => scratch.map(|scratch| scratch.path().as_os_str().to_owned()),
        Home::Nowhere => Some(OsString::from(NOWHERE)),
    };
    // tmux and zsh look at no other variable. tmux's place in `/tmp` is guarded; zsh begins the names of its files for
    // here-documents so, everywhere else in `/tmp` (zshparam(1)).
    let names: &[(&str, &str)] = match plan.home {
        Home::Scratch => &[("HOME", ""), ("TMPDIR", ""), ("TMUX_TMPDIR", ""), ("TMPPREFIX", "/zsh")],
        Home::Callers | Home::Nowhere => &[("HOME", ""), ("TMPDIR", "")],
    };
    let own = names.iter().filter_map(|(name, below)| {
        let mut value = home.clone()?;
        value.push(below);
        Some((OsString::from(name), value))
    });
    let fetches = cache.is_some_and(|cache| policy.reach != NetworkPolicy::Nothing || cache.holds_crates());
    let gives_way =
        |pair: &&(OsString, OsString)| fetches && pair.0 == "CARGO_HOME" && command.variables.contains(pair);
    let mut pairs: BTreeMap<_, _> = own.chain(cache.into_iter().flat_map(Cache::variables)).collect();
    pairs.extend(plan.environment.iter().filter(|pair| !gives_way(pair)).cloned());
    let joined = pairs.into_iter().map(|(name, value)| {
        let mut text = name;
        text.push("=");
        text.push(value);
        text
    });
    c_strings(joined, "a variable of the environment")
}

fn c_strings(texts: impl Iterator<Item = OsString>, what: &'static str) -> Result<Vec<CString>, LaunchError> {
    texts
        .map(|text| CString::new(text.into_vec()).map_err(|_| LaunchError::Nul(what)))
        .collect()
}

fn c_string(text: &OsStr, what: &'static str) -> Result<CString, LaunchError> {
    CString::new(text.as_bytes()).map_err(|_| LaunchError::Nul(what))
}

/// Never RLIMIT_AS, which breaks the JVM and Go. The tree's limit of processor time is sampled; here it ends a single
/// runaway process. RLIMIT_NPROC counts all of the user's processes and threads, and never root's; so there's room for
/// those that exist, and for more than the tree may have: it stops a storm that grows faster than it is sampled. A
/// control group needs none of it.
fn resource_limits(limits: &Limits, room: Option<&Room>) -> Vec<ResourceLimit> {
    // A core dump holds the memory, and its handler runs outside; no run may get priority over the user's other programs.
    let mut list: Vec<_> = [libc::RLIMIT_CORE, libc::RLIMIT_NICE, libc::RLIMIT_RTPRIO]
        .map(|resource| ResourceLimit {
            resource,
            soft: 0,
            hard: 0,
        })
        .into();
    let mut add = |resource: u32, soft: Option<u64>, slack: u64| {
        list.extend(soft.map(|soft| ResourceLimit {
            resource,
            soft,
            hard: soft.saturating_add(slack),
        }));
    };
    add(libc::RLIMIT_NOFILE, limits.open_files, 0);
    add(libc::RLIMIT_FSIZE, limits.largest_file(), 0);
    let seconds = limits
        .cpu
        .map(|cpu| cpu.as_secs().max(1) + u64::from(cpu.subsec_nanos() > 0));
    add(libc::RLIMIT_CPU, seconds, 1);
    add(libc::RLIMIT_NPROC, room.map(Room::bound), room.map_or(0, Room::above));
    list
}

/// Refuses a `/proc` whose process ids differ from this process's (pid_namespaces(7), "/proc and PID namespaces").
fn refuse_foreign_proc() -> Result<(), LaunchError> {
    let own = std::fs::read_link("/proc/self").map_err(|e| LaunchError::System("read `/proc/self`", e))?;
    match own.as_os_str() == std::process::id().to_string().as_str() {
        true => Ok(()),
        false => Err(LaunchError::ForeignProc),
    }
}

/// Whether this process has Linux capabilities to drop. If that can't be read, "yes".
fn holds_capabilities() -> bool {
    [
        caps::CapSet::Permitted,
        caps::CapSet::Effective,
        caps::CapSet::Inheritable,
    ]
    .into_iter()
    .any(|set| caps::read(None, set).map_or(true, |held| !held.is_empty()))
}

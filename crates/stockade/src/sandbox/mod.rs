//! The library's API: a sandbox, a command in it, and the outcome. Modelled on `std::process::Command`.

mod along;
mod approved;
mod asking;
mod closed_places;
mod error;
mod homes;
mod links_inside;
mod looked;
mod lowest;
mod mounts;
mod observing;
mod outcome;
mod outside;
mod own_sockets;
mod reads;
mod repositories;
#[cfg(test)]
mod role_tests;
mod withheld;
mod written;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use tracing::{debug_span, info};

pub use along::LeftBehind;
pub use error::Error;
pub use outcome::{Outcome, Output};
pub use written::WrittenTrees;

use crate::audit::{Ended, Record, Seen};
use crate::command;
use crate::config::Configuration;
use crate::kernel;
use crate::launch::{self, CacheKey, CallersSignals, Event, Input, LaunchError, Places, Prepared, Running, Streams};
use crate::plan::{
    self, Ability, Grouped, KeptExact, Missing, Plan, PlanError, Reads, Shortfall, SupervisorAbility, Trace,
};
use crate::policy::{
    self, Access, Additions, Capabilities, Circumstances, DenialKind, DenialRule, Grant, GrantExtent, HostGrant,
    ListenGrant, Matcher, Mode, NetworkChoice, NetworkPolicy, Policy, Role, Target,
};
use crate::profile::{self, Anchor, Catalog, Glob, HostPattern, Limits, Model, Network, Origin, Profile};
use crate::real_path::{SHARED, Walked, Walker, real_path};
use crate::report::{Report, RunContext};
use crate::surroundings::Surroundings;
use along::Along;
use asking::Escalating;
use reads::{Budget, Looking, NativeLook, Unkept};

/// A profile with additions: commands run in it.
///
/// One sandbox serves any number of runs: paths are resolved as they are named, all else is read as a command is prepared.
#[derive(Debug, Clone)]
pub struct Sandbox {
    profile: Profile,
    /// The profile's name, or the file that it was named by: part of the caches' key.
    profile_key: OsString,
    surroundings: Surroundings,
    root: Option<PathBuf>,
    /// The one walk that resolved the root: another one could find other links.
    root_walk: Walked,
    /// Read only if `llm` is called.
    models: Vec<Model>,
    resolver: Option<SocketAddr>,
    additions: Additions,
    accepted: Vec<Shortfall>,
    trace: Trace,
    ends_for_late_secrets: bool,
    makes_nothing: bool,
    has_grants_by_text: bool,
    /// For commands whose words are another party's: other trees that its runs write.
    foreign_trees: Option<Vec<PathBuf>>,
    escalating: Escalating,
    /// Files that Stockade writes after the run, or reads before the next, and what names them.
    guarded: Vec<(PathBuf, &'static str)>,
    /// The flags that name paths, each with the walk that resolved it for the policy: another walk could find other links.
    flag_paths: Vec<(String, Walked)>,
}

impl Sandbox {
    /// Creates a sandbox with a profile, by name or by file.
    ///
    /// # Errors
    /// The profile isn't known or has faults; the caller's directory can't be determined.
    pub fn profile(name_or_file: &str) -> Result<Sandbox, Error> {
        let surroundings = Surroundings::here().map_err(Error::Surroundings)?;
        let catalog = Catalog::new(surroundings.profiles());
        let (profile, files) = catalog.load_with_files(name_or_file)?;
        let models = if profile.llm {
            profile::models(surroundings.models().as_deref())?
        } else {
            Vec::new()
        };
        let mut sandbox = Sandbox::of(profile, surroundings, models);
        if name_or_file.contains('/') {
            sandbox.profile_key = real_path(&sandbox.absolute(Path::new(name_or_file))).into();
        }
        // A profile may lie in the tree that it opens; the run must leave it unchanged for the next.
        let files = files.iter().map(|file| (sandbox.absolute(file), "--profile"));
        sandbox.guarded = files.collect();
        Ok(sandbox)
    }

    /// The same with a loaded profile and an environment that needn't be this process's.
    pub fn of(profile: Profile, surroundings: Surroundings, models: Vec<Model>) -> Sandbox {
        Sandbox {
            profile_key: OsString::from(&profile.name),
            profile,
            root: None,
            root_walk: Walker::default().walk(&surroundings.directory),
            surroundings,
            models,
            resolver: None,
            additions: Additions::NONE,
            accepted: Vec::new(),
            trace: Trace::Marked,
            ends_for_late_secrets: false,
            makes_nothing: false,
            has_grants_by_text: false,
            foreign_trees: None,
            escalating: Escalating::NONE,
            guarded: Vec::new(),
            flag_paths: Vec::new(),
        }
    }

    /// The run's root, which `./` in profiles means and where the command starts. Default: the caller's directory.
    #[must_use]
    pub fn root(mut self, directory: impl Into<PathBuf>) -> Self {
        let directory = self.absolute(&directory.into());
        self.root_walk = Walker::default().walk(&directory);
        self.root = Some(directory);
        self
    }

    /// Grants reading a file or tree.
    #[must_use]
    pub fn read(self, path: impl AsRef<Path>) -> Self {
        self.grant(Access::READ, path.as_ref(), "--read")
    }

    /// Grants reading, writing, creating and deleting in a tree.
    #[must_use]
    pub fn write(self, path: impl AsRef<Path>) -> Self {
        self.grant(Access::WRITING, path.as_ref(), "--write")
    }

    /// Grants writing a guarded file, or those of a directory, which no other grant opens: what editors, agents and
    /// debuggers obey by themselves. Neither secrets nor what git obeys in a `.git`.
    #[must_use]
    pub fn write_guarded(self, path: impl AsRef<Path>) -> Self {
        let mut sandbox = self.grant(Access::WRITING, path.as_ref(), "--write-guarded");
        let opened = sandbox.additions.grants.last().map(|(_, path, _)| path.clone());
        sandbox.additions.guarded.extend(opened);
        sandbox
    }

    /// Grants starting (and reading) the programs of a tree.
    #[must_use]
    pub fn exec(self, path: impl AsRef<Path>) -> Self {
        self.grant(Access::READ | Access::EXECUTE, path.as_ref(), "--exec")
    }

    /// Grants connecting to a unix socket, or to those in a directory. Sockets with special power (a container
    /// engine's, a desktop bus, an agent with keys) must each be named.
    #[must_use]
    pub fn socket(mut self, path: impl AsRef<Path>) -> Self {
        let flag = format!("--socket {}", path.as_ref().display());
        let path = self.real_flag_path(path.as_ref(), &flag);
        self.additions.sockets.push((path, flag));
        self
    }

    /// Grants connecting to hosts: a name, `*.example.com`, `api.*`, an address or a range, with `:PORT` if it isn't 80
    /// or 443. Without a port only TLS and HTTP that name a granted host are allowed; on a named port, any protocol.
    ///
    /// # Errors
    /// The pattern is invalid.
    pub fn host(mut self, pattern: &str) -> Result<Self, Error> {
        self.additions.hosts.push(HostGrant {
            pattern: HostPattern::parse(pattern).map_err(|source| Error::Host {
                pattern: pattern.to_string(),
                source,
            })?,
            origin: Origin::Flag(format!("--host {pattern}")),
        });
        Ok(self)
    }

    /// Grants listening on a port of the loopback interface; with 0 the kernel chooses it.
    #[must_use]
    pub fn listen(mut self, port: u16) -> Self {
        self.additions.listen.push(ListenGrant {
            port,
            origin: Origin::Flag(format!("--listen {port}")),
        });
        self
    }

    /// Overrides the profile's network: every host or none.
    #[must_use]
    pub fn network(mut self, choice: NetworkChoice) -> Self {
        self.additions.network = Some(choice);
        self
    }

    /// Grants access to language models: the hosts of `models.toml` and the variables with their keys.
    ///
    /// # Errors
    /// The user's `models.toml` can't be read or has faults.
    pub fn llm(mut self) -> Result<Self, Error> {
        self.additions.llm = true;
        self.models = profile::models(self.surroundings.models().as_deref())?;
        Ok(self)
    }

    /// Uses this DNS server for lookups in place of the machine's.
    #[must_use]
    pub fn resolver(mut self, server: SocketAddr) -> Self {
        self.resolver = Some(server);
        self
    }

    /// Closes paths that match a glob: `**/…` anywhere, `./…` below the root, `~/…` below the home, or absolute.
    ///
    /// # Errors
    /// The glob is invalid.
    pub fn deny(mut self, glob: &str) -> Result<Self, Error> {
        let glob = Glob::parse(glob).map_err(|message| Error::Glob {
            glob: glob.to_string(),
            message,
        })?;
        self.additions.denials.push(glob);
        Ok(self)
    }

    /// Passes a variable: with this value, or with the caller's if none is given.
    ///
    /// # Errors
    /// The variable steers the dynamic loader or libc, and never passes.
    pub fn env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Result<Self, Error> {
        let name = name.into();
        let text = name.as_encoded_bytes();
        if text.is_empty() || text.contains(&b'=') || text.contains(&0) {
            return Err(Error::VariableName(name));
        }
        if policy::is_unsecure(&name) {
            return Err(Error::Variable(name));
        }
        self.additions.variables.push((name, value));
        Ok(self)
    }

    /// Restricts the profile's grants to these capabilities. Called again, both apply.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Capabilities) -> Self {
        self.additions.role.capabilities &= capabilities;
        self
    }

    /// How changes of files are handled: in [`Mode::Manual`] each one is asked about, and refused if that isn't possible.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.additions.role.mode = mode;
        self
    }

    /// An agent's role within the profile. Replaces earlier settings of mode and scope, and adds to those of
    /// capabilities.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        let capabilities = self.additions.role.capabilities & role.capabilities;
        self.additions.role = Role { capabilities, ..role };
        self
    }

    /// Limits in place of the profile's; `None` keeps the profile's.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.additions.limits = limits.or(self.additions.limits);
        self
    }

    /// A wall-clock limit for the tree.
    #[must_use]
    pub fn time_limit(self, time: Duration) -> Self {
        self.limits(Limits {
            time: Some(time),
            ..Limits::NONE
        })
    }

    /// A wall-clock limit for the tree that only shortens the one it has: the profile's, or an earlier one.
    #[must_use]
    pub fn time_limit_at_most(self, time: Duration) -> Self {
        let limits = self.additions.limits.or(self.profile.limits);
        let shortest = limits.time.map_or(time, |limit| limit.min(time));
        self.time_limit(shortest)
    }

    /// Accepts a named shortfall. Without this a run that has the shortfall is refused.
    #[must_use]
    pub fn accept_shortfall(mut self, shortfall: Shortfall) -> Self {
        self.accepted.push(shortfall);
        self
    }

    /// Takes the words of commands for another party's than the user's. A program that the search path finds brings its
    /// installation as ever, unless it lies where runs write; a program or script that a word names by its path is there only
    /// as far as other grants reach. `written`: where that party's other runs write, under other profiles or with other roots.
    #[must_use]
    pub fn foreign_commands(mut self, written: impl IntoIterator<Item = PathBuf>) -> Self {
        self.foreign_trees.get_or_insert_default().extend(written);
        self
    }

    /// Who judges read-only opens. [`Trace::Marked`], the default, takes effect if Landlock can judge them alone; otherwise
    /// [`Enforcement::kept_exact`](crate::report::Enforcement::kept_exact) gives the reason.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = trace;
        self
    }

    /// Ends a run when somebody else makes a secret where the kernel alone judges its reads: it could read that.
    #[must_use]
    pub fn end_for_late_secrets(mut self) -> Self {
        self.ends_for_late_secrets = true;
        self
    }

    /// For a command that is prepared and never started: preparing makes no directory either.
    #[must_use]
    pub fn making_nothing(mut self) -> Self {
        self.makes_nothing = true;
        self
    }

    fn ends_for_late_secrets(&self) -> bool {
        self.ends_for_late_secrets || self.profile.ends_for_late_secrets
    }

    /// A command to run in this sandbox.
    pub fn command(&self, program: impl Into<OsString>) -> Command {
        Command {
            sandbox: self.clone(),
            argv: vec![program.into()],
            streams: Streams {
                input: Input::Callers,
                inherit_output: true,
            },
        }
    }

    /// Grants paths named in a script's text, if each still resolves to itself, and nothing closes it here.
    ///
    /// # Errors
    /// See [`Sandbox::policy_of_any_command`].
    pub fn by_text(mut self, reads: &[PathBuf], writes: &[PathBuf]) -> Result<Self, Error> {
        if reads.is_empty() && writes.is_empty() {
            return Ok(self);
        }
        let policy = self.policy_of_any_command()?;
        let matcher = policy::Matcher::new(&policy);
        let reads = reads.iter().map(|path| (Access::READ, path, "--read"));
        let all = reads.chain(writes.iter().map(|path| (Access::WRITING, path, "--write")));
        for (access, path, flag) in all {
            let is_open = access
                .iter()
                .all(|one| matcher.denial(one, path, path.is_dir()).is_none());
            // Unless another run has put a link there since.
            if is_open && real_path(path) == *path {
                self.has_grants_by_text = true;
                self.additions
                    .grants
                    .push((access, path.clone(), format!("{flag} {}", path.display())));
            }
        }
        Ok(self)
    }

    fn grant(mut self, access: Access, path: &Path, flag: &str) -> Self {
        let flag = format!("{flag} {}", path.display());
        let path = self.real_flag_path(path, &flag);
        self.additions.grants.push((access, path, flag));
        self
    }

    /// The real path of one that a flag names.
    fn real_flag_path(&mut self, path: &Path, flag: &str) -> PathBuf {
        let walked = Walker::default().walk(&self.absolute(path));
        let real = walked.real.clone();
        self.flag_paths.push((flag.to_string(), walked));
        real
    }

    /// A path that the user named, with the walk that resolved it: a launch is refused where an earlier run may have led it
    /// elsewhere.
    #[must_use]
    pub fn flag_path(mut self, flag: impl Into<String>, walk: Walked) -> Self {
        self.flag_paths.push((flag.into(), walk));
        self
    }

    /// Resolves a path of a flag or call against the caller's directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        self.surroundings.directory.join(path)
    }

    /// The root by its real path.
    fn resolved_root(&self) -> Result<&Path, Error> {
        let root = self.root_walk.real.as_path();
        let named = self.root.as_ref().unwrap_or(&self.surroundings.directory);
        let failed = |source| Error::Root {
            path: named.clone(),
            source,
        };
        self.refuse_moved(&self.root_walk)?;
        let found = fs::symlink_metadata(root).map_err(failed)?;
        if !found.is_dir() {
            return Err(failed(io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        self.refuse_implicit_root(root)?;
        Ok(root)
    }

    /// getcwd(2) gives the caller's directory without links. One on the way to it was made since then.
    fn refuse_moved(&self, walked: &Walked) -> Result<(), Error> {
        let directory = &self.surroundings.directory;
        match walked.followed.iter().any(|link| directory.starts_with(link)) {
            true => Err(Error::Moved(directory.clone())),
            false => Ok(()),
        }
    }

    /// The program of another party's words is there as far as grants reach: the kernel's EACCES would tell no grant.
    fn refuse_program_of_others(&self, policy: &Policy, command: &command::ResolvedCommand) -> Result<(), Error> {
        if self.foreign_trees.is_none() {
            return Ok(());
        }
        let real = real_path(&command.program);
        match plan::executes(policy, &real) {
            true => Ok(()),
            false => Err(Error::ProgramOfOthers(real)),
        }
    }

    /// A program that an earlier run may have led elsewhere is there as far as other grants reach.
    fn refuse_left_out(&self, policy: &Policy, command: &command::ResolvedCommand) -> Result<(), Error> {
        let Some(left_out) = &command.left_out else {
            return Ok(());
        };
        if plan::executes(policy, &left_out.place) {
            return Ok(());
        }
        let walked = Walked {
            real: left_out.place.clone(),
            ..Walker::default().walk(&left_out.path)
        };
        self.written_trees(policy)
            .refuse(&left_out.path.to_string_lossy(), &walked)
    }

    /// A profile opens a whole home or machine by `./` only if that root was named explicitly. By `..` it wasn't: where that
    /// leads depends on where the caller's directory is by now.
    fn refuse_implicit_root(&self, root: &Path) -> Result<(), Error> {
        let is_wide = self.surroundings.holds_home(root);
        let mut opened = self.profile.opened().chain(&self.profile.sockets);
        let is_above = |named: &PathBuf| named.components().any(|part| part == Component::ParentDir);
        if self.root.as_ref().is_none_or(is_above) && is_wide && opened.any(|rule| rule.value.anchor == Anchor::Root) {
            return Err(Error::ImplicitRoot(root.to_path_buf()));
        }
        Ok(())
    }
}

/// If every host may be reached, the run resolves names like the machine, by these files. They may be links.
fn files_of_names(policy: &Policy) -> Vec<Grant> {
    if policy.reach != NetworkPolicy::Everything {
        return Vec::new();
    }
    let files = ["/etc/resolv.conf", "/etc/hosts"].map(|path| Grant {
        access: Access::READ,
        path: real_path(Path::new(path)),
        extent: GrantExtent::Single,
        exempt: false,
        origin: Origin::Base,
        why: None,
    });
    files.into()
}

/// A program and its arguments, to be run in a sandbox.
#[derive(Debug, Clone)]
pub struct Command {
    sandbox: Sandbox,
    argv: Vec<OsString>,
    streams: Streams,
}

impl Command {
    /// Adds an argument.
    pub fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.argv.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> &mut Self {
        self.argv.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Gives the program an empty standard input in place of the caller's.
    pub fn no_input(&mut self) -> &mut Self {
        self.streams.input = Input::Empty;
        self
    }

    /// Gives the program a pipe as standard input, in place of the caller's. The program sees its end once the writing
    /// end is closed, and a write fails once neither this command nor a run holds the reading one.
    pub fn input(&mut self, reader: io::PipeReader) -> &mut Self {
        self.streams.input = Input::Pipe(Arc::new(reader));
        self
    }

    /// Pipes standard output and error in place of passing the caller's on: [`Child::next_event`] returns the output.
    pub fn pipe_output(&mut self) -> &mut Self {
        self.streams.inherit_output = false;
        self
    }

    /// Resolves and compiles everything; starts nothing.
    ///
    /// # Errors
    /// The first obstacle to the run.
    pub fn prepare(&self) -> Result<Ready, Error> {
        let sandbox = &self.sandbox;
        let _prepare = debug_span!("prepare").entered();
        sandbox.refuse_contradictions()?;
        let root = sandbox.resolved_root()?;
        sandbox.refuse_links_out(root)?;
        let command = debug_span!("find the program").in_scope(|| self.find(root))?;
        let control_group = sandbox.control_group();
        let ability = kernel::ability(control_group.as_ref().map_or(Grouped::Nothing, |group| group.counts));
        let (mut policy, left_behind) = debug_span!("policy").in_scope(|| sandbox.policy_here(root, &command))?;
        sandbox.refuse_program_of_others(&policy, &command)?;
        sandbox.refuse_left_out(&policy, &command)?;
        let guards = sandbox.guards(&policy, ability)?;
        policy.denials.extend(guards);
        policy.asks = sandbox.asks(ability);
        refuse_void_grants(&policy)?;
        own_sockets::close(&mut policy, &sandbox.surroundings.own().map_err(Error::Surroundings)?)?;
        let begun = SystemTime::now();
        let look = sandbox.look(&policy, ability);
        let (native, unkept) = look.map(|look| (look.native, look.unkept)).unzip();
        let reads = match &native {
            Some(Ok(native)) => Reads::Marked(&native.openings),
            None | Some(Err(_)) => Reads::Exact,
        };
        let plan = debug_span!("plan").in_scope(|| plan::compile(&policy, ability, &sandbox.accepted, reads))?;
        let mut streams = self.streams.clone();
        streams.inherit_output &= plan.limits.output.is_none();
        let mut report = outcome::begin(&policy, &plan, &self.argv, ability);
        let open = outcome::tell_of_reads(&mut report.enforcement, native);
        let late = (!open.is_empty()).then(|| launch::LateSecrets::new(&policy, open, begun));
        Ok(Ready {
            sandbox: sandbox.clone(),
            state: sandbox.surroundings.state.clone(),
            accepts_supervisor: sandbox.accepted.contains(&Shortfall::Supervisor),
            policy,
            plan,
            resolver: sandbox.resolver,
            left_behind,
            command,
            control_group,
            streams,
            report,
            unkept: unkept.unwrap_or_default(),
            late,
        })
    }

    /// Starts the program.
    ///
    /// # Errors
    /// The run was refused or could not be started.
    pub fn spawn(&self) -> Result<Child, Error> {
        self.prepare()?.start()
    }

    /// Runs the program until its whole tree has ended.
    ///
    /// # Errors
    /// The run was refused or could not be started.
    pub fn run(&self) -> Result<Outcome, Error> {
        self.spawn()?.wait()
    }

    /// The same, capturing standard output and error. Standard input is empty, unless [`Command::input`] set it.
    ///
    /// # Errors
    /// The run was refused or could not be started.
    pub fn output(&self) -> Result<Output, Error> {
        let mut piped = self.clone();
        if matches!(piped.streams.input, Input::Callers) {
            piped.no_input();
        }
        piped.pipe_output();
        piped.spawn()?.wait_with_output()
    }

    fn find(&self, root: &Path) -> Result<command::ResolvedCommand, Error> {
        let surroundings = &self.sandbox.surroundings;
        let others = self.sandbox.starts_others().then(|| self.sandbox.written(root));
        let foreign = self.sandbox.foreign_trees.iter().flatten().cloned();
        let written: Vec<PathBuf> = self.sandbox.trees_below(root).chain(foreign).collect();
        Ok(command::find(&command::Request {
            argv: &self.argv,
            root,
            search_path: surroundings.variable("PATH").as_deref(),
            home: surroundings.home.as_deref(),
            variable: &|name| surroundings.variable(name),
            written: &written,
            others: others.as_deref(),
            is_foreign: self.sandbox.foreign_trees.is_some(),
            script: self.sandbox.script_path(),
        })?)
    }
}

impl Sandbox {
    /// What Landlock alone reads, or why it doesn't; `None` where the supervisor is to judge all of it.
    fn look(&self, policy: &Policy, ability: Ability) -> Option<NativeLook> {
        if self.trace == Trace::Exact || !self.profile.native_reads || ability.supervisor == SupervisorAbility::None {
            return None;
        }
        let kept = if self.script_path().is_some() {
            Some(KeptExact::Script)
        } else if self.records_reads() {
            Some(KeptExact::Recorded)
        } else {
            plan::kept_exact(policy, ability)
        };
        if let Some(kept) = kept {
            return Some(NativeLook::of(Err(kept)));
        }
        if !self.makes_nothing {
            self.surroundings.keep_own_places(policy);
        }
        let state = self.surroundings.state.as_deref();
        Some(debug_span!("reads").in_scope(|| reads::look(policy, state, Budget::of_launch())))
    }

    /// Whether runs may start programs other than the base's and the command.
    fn starts_others(&self) -> bool {
        let additions = &self.additions;
        let is_execution = |(access, _, _): &(Access, PathBuf, String)| access.contains(Access::EXECUTE);
        additions.role.capabilities.contains(Capabilities::EXECUTE)
            && (!self.profile.exec.is_empty() || additions.grants.iter().any(is_execution))
    }

    /// The trees that runs may write.
    fn written(&self, root: &Path) -> Vec<PathBuf> {
        let home = self.surroundings.home.as_deref().unwrap_or(Path::new("/nonexistent"));
        let additions = &self.additions;
        let flags = additions.grants.iter().map(|(access, path, _)| (*access, path));
        let answers = additions.approved.iter().map(|(access, path, ..)| (*access, path));
        let granted = flags
            .chain(answers)
            .filter(|(access, _)| access.contains(Access::WRITE));
        let of_profile = self.profile.write.iter().map(|rule| rule.value.resolve(root, home));
        of_profile.chain(granted.map(|(_, path)| path.clone())).collect()
    }

    /// Refuses a flag that another one makes void, or that opens nothing: it was meant to have an effect.
    fn refuse_contradictions(&self) -> Result<(), Error> {
        let additions = &self.additions;
        if let Some(path) = additions
            .guarded
            .iter()
            .find(|path| policy::git_directory(path).is_some())
        {
            return Err(Error::NeverOpened(path.clone()));
        }
        let Some(choice) = additions.network else {
            return self.refuse_superfluous_host();
        };
        let llm = additions.llm.then(|| "--llm".to_string());
        let named = |origin: &Origin| matches!(origin, Origin::Flag(_)).then(|| origin.flag());
        let host = additions.hosts.iter().find_map(|grant| named(&grant.origin));
        let listen = additions.listen.iter().find_map(|grant| named(&grant.origin));
        let other = match choice {
            NetworkChoice::None => host.or(listen).or(llm),
            // Models' keys are useful there, and ports needn't be named.
            NetworkChoice::All => host,
        };
        match other {
            Some(other) => Err(Error::Contradiction { choice, other }),
            None => Ok(()),
        }
    }

    /// Refuses host flags if every host is open: their user may believe that others are closed.
    fn refuse_superfluous_host(&self) -> Result<(), Error> {
        let is_flag = |grant: &&HostGrant| matches!(grant.origin, Origin::Flag(_));
        match (&self.profile.network, self.additions.hosts.iter().find(is_flag)) {
            (Network::All(_), Some(grant)) => Err(Error::SuperfluousHost {
                flag: grant.origin.flag(),
                profile: self.profile.name.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The profile's `./data` lies in the root. A link there that leads out of it may be an earlier run's.
    fn refuse_links_out(&self, root: &Path) -> Result<(), Error> {
        for rule in self.profile.opened().filter(|rule| rule.value.anchor == Anchor::Root) {
            let path = root.join(&rule.value.rest);
            if let Ok(real) = fs::canonicalize(&path)
                && !real.starts_with(root)
            {
                return Err(Error::LinkOut { path, real });
            }
        }
        Ok(())
    }

    /// The same for the paths of flags and the root's own name, in all trees that runs under this policy may write, or an
    /// earlier one may have: `./out` means a path there, and not what that run made of it.
    fn refuse_flags_out(&self, policy: &Policy) -> Result<(), Error> {
        let trees = self.written_trees(policy);
        for (flag, walked) in &self.flag_paths {
            self.refuse_moved(walked)?;
            trees.refuse(flag, walked)?;
        }
        let named = self.root.as_ref().unwrap_or(&self.surroundings.directory);
        trees.refuse(&format!("--root {}", named.display()), &self.root_walk)
    }

    /// Trees where runs under this policy, or earlier ones, may have made links.
    fn written_trees(&self, policy: &Policy) -> WrittenTrees {
        let granted = policy.grants.iter();
        let written = granted.filter(|grant| grant.access.contains(Access::WRITE));
        let trees = self.trees_below(&policy.root);
        WrittenTrees {
            trees: trees.chain(written.map(|grant| grant.path.clone())).collect(),
        }
    }

    /// The trees where its runs, or earlier ones, may have made programs and links, as far as its profile and flags say.
    pub fn trees_of_runs(&self) -> Vec<PathBuf> {
        self.trees_below(&self.root_walk.real).collect()
    }

    /// Those of the profile as a whole, since another role's runs may write them. The caller's directory counts, as the root of
    /// an earlier run, and directories that many share. A home doesn't: its links are its user's.
    fn trees_below(&self, root: &Path) -> impl Iterator<Item = PathBuf> {
        let directory = &self.surroundings.directory;
        let is_one = directory != root && may_write(directory) && !self.surroundings.holds_home(directory);
        // Runs that write a whole home have it among their profile's trees.
        let is_home = self.surroundings.holds_home(root);
        let root_of_runs = (!is_home).then(|| root.to_path_buf());
        root_of_runs
            .into_iter()
            .chain(is_one.then(|| directory.clone()))
            .chain(self.written(root))
            .chain(SHARED.map(PathBuf::from))
    }

    /// The trees that its runs may write.
    ///
    /// # Errors
    /// The root can't be used.
    pub fn trees_of_any_command(&self) -> Result<WrittenTrees, Error> {
        Ok(self.written_trees(&self.policy_of_any_command()?))
    }

    /// The names of the caller's variables that its runs don't get, as far as a person may be told of them.
    ///
    /// # Errors
    /// The profile can't be resolved here.
    pub fn withheld_variables(&self) -> Result<Vec<String>, Error> {
        let policy = self.policy_of_any_command()?;
        Ok(withheld::Withheld::of(&self.surroundings.environment, &policy).variables)
    }

    /// The real path of its runs' root.
    ///
    /// # Errors
    /// The root can't be used, or an earlier run may have led its name elsewhere.
    pub fn real_root(&self) -> Result<PathBuf, Error> {
        Ok(self.policy_of_any_command()?.root)
    }

    /// Refuses another root than the one at this real path, from which something was read for its runs.
    ///
    /// # Errors
    /// It is another, or can't be used.
    pub fn refuse_other_root(&self, real: &Path) -> Result<(), Error> {
        match self.resolved_root()? == real {
            true => Ok(()),
            false => Err(Error::Moved(real.to_path_buf())),
        }
    }

    /// Its runs' policy, without the additions for their commands.
    ///
    /// # Errors
    /// The root can't be used.
    pub fn policy_of_any_command(&self) -> Result<Policy, Error> {
        let root = self.resolved_root()?;
        self.refuse_links_out(root)?;
        Ok(self.policy_here(root, &command::ResolvedCommand::nothing())?.0)
    }

    /// The policy, with the denials that links on this machine add and what comes along of the user's settings, and what
    /// doesn't.
    fn policy_here(&self, root: &Path, command: &command::ResolvedCommand) -> Result<(Policy, Vec<LeftBehind>), Error> {
        let mut walker = Walker::default();
        let mut policy = self.policy(root, command, &mut walker)?;
        self.refuse_flags_out(&policy)?;
        let along = Along::of(&self.surroundings, (&policy, &command.argv), &mut walker);
        // No link of the user's closes anything in the base, or found below it.
        let is_found_there = |grant: &Grant| grant.origin == Origin::Base || command::is_below_base(&grant.path);
        let needs_links = policy
            .grants
            .iter()
            .any(|grant| grant.is_chosen() || !is_found_there(grant));
        if needs_links || self.may_ask() || along.names_files() {
            closed_places::complete(&mut policy, &self.surroundings, &mut walker)?;
            let home = self.surroundings.named_home.as_deref();
            let kept = home.map(|home| closed_places::links_to(home, &mut walker));
            policy.denials.extend(kept.into_iter().flatten());
        }
        policy.grants.extend(files_of_names(&policy));
        let left_behind = along.join(&mut policy);
        Ok((policy, left_behind))
    }

    fn policy(&self, root: &Path, command: &command::ResolvedCommand, walker: &mut Walker) -> Result<Policy, Error> {
        let writes = !self.profile.write.is_empty() || !self.additions.grants.is_empty();
        // Without a grant to write, none of them can be reached.
        let programs = match writes || self.may_ask() || !self.additions.approved.is_empty() {
            true => self.surroundings.programs(root, walker),
            false => Vec::new(),
        };
        // A link that closes nothing may lead where the user can't look.
        walker.take_unseen();
        let configuration = Configuration::load_if_open(self.surroundings.configuration.as_deref(), None)?;
        let secrets = configuration.unwrap_or_default().secrets;
        let mut policy = policy::resolve(
            &self.profile,
            &Circumstances {
                root,
                home: self.surroundings.home.as_deref(),
                environment: &self.surroundings.environment,
                command,
                entries: &homes::entries(&self.surroundings),
                opened: &homes::opened(&self.surroundings, &secrets),
                closed: &secrets.closed,
                own: &self.surroundings.own().map_err(Error::Surroundings)?,
                programs: &programs,
                models: &self.models,
                memory: kernel::memory().map(|memory| memory / 2),
                additions: &self.additions,
            },
        );
        policy.denials.push(scratch_of_other_runs());
        let own = self.temporary_directories(root, walker);
        let guarded = own
            .iter()
            .flat_map(|directory| policy::temporary::denials_in(directory));
        policy.denials.extend(guarded);
        Ok(policy)
    }

    /// The caller's directories for temporary files that lie elsewhere than all others', and not in the root.
    fn temporary_directories(&self, root: &Path, walker: &mut Walker) -> BTreeSet<PathBuf> {
        let named = policy::temporary::VARIABLES
            .iter()
            .filter_map(|name| self.surroundings.variable(name));
        let real = named.map(PathBuf::from).filter(|named| named.is_absolute());
        let real = real.map(|named| walker.walk(&named).real);
        real.filter(|real| !real.starts_with(root) && !SHARED.iter().any(|shared| real == Path::new(shared)))
            .collect()
    }

    /// Determined only if a limit needs it.
    fn control_group(&self) -> Option<launch::ControlGroups> {
        let limits = self.additions.limits.or(self.profile.limits);
        (limits.memory.is_some() || limits.processes.is_some())
            .then(launch::find_control_group)
            .flatten()
    }
}

/// Whether the user may make names in a directory, as one of their runs may.
fn may_write(directory: &Path) -> bool {
    faccessat(AT_FDCWD, directory, AccessFlags::W_OK, AtFlags::AT_EACCESS).is_ok()
}

/// All possible places of scratch directories, by name: which one is used may change during a run.
fn scratch_of_other_runs() -> DenialRule {
    let (below, glob) = launch::places_of_scratch();
    DenialRule {
        target: Target::Glob { below, glob },
        access: Access::READ | Access::WRITING,
        kind: DenialKind::SecretName,
        origin: Origin::BuiltIn,
    }
}

/// Refuses flags that grant something always closed, since the user wants to know of that mistake, and a script that is
/// a secret.
fn refuse_void_grants(policy: &Policy) -> Result<(), Error> {
    let asked: Vec<_> = policy
        .grants
        .iter()
        .filter(|grant| match grant.origin {
            Origin::Flag(_) => true,
            Origin::Entrypoint => !command::is_below_base(&grant.path),
            _ => false,
        })
        .collect();
    // Compiling the globs takes longer than the rest of a launch.
    if asked.is_empty() {
        return Ok(());
    }
    let matcher = Matcher::new(policy);
    for grant in asked {
        let Some(denial) = matcher.denial(Access::READ, &grant.path, false) else {
            continue;
        };
        let denial = Box::new(denial.met_at(&grant.path));
        return Err(match &grant.origin {
            Origin::Flag(flag) => Error::VoidGrant {
                flag: flag.clone(),
                denial,
            },
            _ => Error::SecretScript {
                path: grant.path.clone(),
                denial,
            },
        });
    }
    Ok(())
}

/// A run with everything resolved, not started yet.
#[derive(Debug)]
pub struct Ready {
    sandbox: Sandbox,
    state: Option<PathBuf>,
    accepts_supervisor: bool,
    /// The run's policy.
    pub policy: Policy,
    /// How the policy is enforced.
    pub plan: Plan,
    /// The DNS server used in place of the machine's.
    pub resolver: Option<SocketAddr>,
    /// What the run goes without of the user's own settings, for people.
    pub left_behind: Vec<LeftBehind>,
    command: command::ResolvedCommand,
    control_group: Option<launch::ControlGroups>,
    streams: Streams,
    report: Report,
    unkept: Unkept,
    late: Option<launch::LateSecrets>,
}

impl Ready {
    /// Starts the program.
    ///
    /// # Errors
    /// A step of the launch failed; nothing runs.
    pub fn start(self) -> Result<Child, Error> {
        self.start_for(None)
    }

    /// The same for a caller that handles signals itself, also while the program is slow to start: then this returns
    /// before it runs, and the events tell whether it could be started.
    ///
    /// # Errors
    /// See [`Ready::start`].
    pub fn start_for(self, caller: Option<CallersSignals<'_>>) -> Result<Child, Error> {
        let run = &self.report.run;
        self.sandbox.tell(run, || Record::Started(self.started()));
        let launched = self.launch(caller);
        if launched.is_err() {
            self.sandbox.tell(run, || Record::Ended(Ended::of(&self.report)));
        }
        info!(is_started = launched.is_ok(), "run started");
        let mut running = match launched {
            Err(LaunchError::TooManyFiles { tree, limit }) if !self.accepts_supervisor => {
                return Err(too_many_files(&tree, limit));
            }
            other => other.map_err(|error| Error::launch(error, &self.command.program))?,
        };
        if let Some(late) = self.late {
            running.watch(late);
        }
        let looking = self.unkept.keep(self.state.as_deref(), &self.policy);
        Ok(Child {
            running,
            _looking: looking,
            report: self.report,
            sandbox: self.sandbox,
            policy: self.policy,
            command: self.command,
        })
    }

    fn launch(&self, caller: Option<CallersSignals<'_>>) -> Result<Running, LaunchError> {
        self.sandbox.surroundings.keep_place_of_configuration(&self.policy);
        let places = Places {
            state: self.state.as_deref(),
            scratch: &self.sandbox.surroundings.scratch,
            cache: self.cache_key(),
            control_group: self.control_group.as_ref(),
            resolver: self.resolver,
        };
        let _launch = debug_span!("launch").entered();
        let streams = self.streams.clone();
        let make = || launch::prepare(&self.plan, &self.policy, &self.command, streams, places);
        let prepared: Prepared = debug_span!("make rulesets and directories").in_scope(make)?;
        debug_span!("start").in_scope(|| prepared.start(caller, self.aides()))
    }

    fn cache_key(&self) -> CacheKey<'_> {
        CacheKey {
            profile: &self.sandbox.profile_key,
            agent: self.sandbox.agent_name(),
            root: &self.policy.root,
            command: (!self.policy.writes_root()).then_some(&self.command.argv),
        }
    }

    /// The report of a run that never started.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

/// A tree too large to be granted file by file needs the supervisor.
fn too_many_files(tree: &Path, limit: usize) -> Error {
    Error::Plan(PlanError::Shortfall(vec![Missing {
        shortfall: Shortfall::Supervisor,
        because: vec![format!(
            "`{}` holds more than {limit} files, too many to grant one by one",
            tree.display()
        )],
    }]))
}

/// A program that runs in a sandbox. Dropping it ends the whole tree.
pub struct Child {
    running: Running,
    /// Ends with it.
    _looking: Option<Looking>,
    report: Report,
    sandbox: Sandbox,
    policy: Policy,
    command: command::ResolvedCommand,
}

impl Child {
    /// The program's process id.
    pub fn id(&self) -> i32 {
        self.running.id()
    }

    /// The process id of its warden, a child of this process.
    #[doc(hidden)]
    pub fn warden(&self) -> i32 {
        self.running.warden()
    }

    /// Ends the whole tree.
    pub fn kill(&self) {
        self.running.kill();
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: i32) {
        self.running.signal(signal);
    }

    /// Sends every process of the tree a signal.
    pub fn signal_all(&self, signal: i32) {
        self.running.signal_all(signal);
    }

    /// Holds the whole tree still until the value is dropped; `None` if it can't be held, or could resume itself.
    pub fn hold(&self) -> Option<crate::warden::Pause> {
        self.running.hold()
    }

    /// How long the time limit lets it run on; `None` without one.
    pub fn time_left(&self) -> Option<Duration> {
        self.running.time_left()
    }

    /// Whether a limit was passed and the tree is being ended for it.
    pub fn is_being_ended(&self) -> bool {
        self.running.is_being_ended()
    }

    /// Checks the limits, for a caller that can't wait for events now.
    pub fn tick(&mut self) {
        self.running.tick();
    }

    /// Waits for the next event; `attention` is a descriptor of the caller's to wait on as well.
    ///
    /// # Errors
    /// The warden was killed; the program died with it.
    pub fn next_event(&mut self, attention: Option<BorrowedFd<'_>>) -> Result<Event, Error> {
        let event = self.running.next_event(attention);
        if matches!(event, Ok(Event::Appeared(_))) && self.sandbox.ends_for_late_secrets() {
            self.running.kill();
        }
        event.map_err(|error| {
            self.break_off();
            Error::launch(error, &self.command.program)
        })
    }

    /// The report after a failed event.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Records everything known of a run that sends no more events.
    fn break_off(&mut self) {
        match self.running.lost() {
            Some(ending) => self.conclude(&ending),
            None => self.tell_end(),
        }
    }

    /// Waits until the whole tree has ended.
    ///
    /// # Errors
    /// The warden was killed; the program died with it.
    pub fn wait(mut self) -> Result<Outcome, Error> {
        loop {
            if let Event::Ended(ending) = self.next_event(None)? {
                return Ok(self.outcome(&ending));
            }
        }
    }

    /// The outcome for an ending that [`Child::next_event`] answered.
    pub fn outcome(mut self, ending: &launch::Ending) -> Outcome {
        self.conclude(ending);
        Outcome::new(self.report, ending.status)
    }

    fn conclude(&mut self, ending: &launch::Ending) {
        let _conclude = debug_span!("conclude").entered();
        self.report.ended(ending);
        self.report.escalation = self.running.escalation();
        self.report.faults = self.running.faults();
        let late = self.running.late_secrets();
        self.report.enforcement.late_secrets = late.iter().map(|path| path.display().to_string()).collect();
        let withheld = withheld::Withheld::of(&self.sandbox.surroundings.environment, &self.policy);
        self.running.testimony(|refusals, stderr| {
            let run_context = RunContext {
                policy: &self.policy,
                home: self.sandbox.surroundings.home.as_deref(),
                stderr,
                variables: &withheld.variables,
                program: &|name| withheld.program(name),
                order: &lowest::Shipped::new(&self.sandbox, &self.policy.root, &self.command),
            };
            self.report.conclude(refusals, &run_context);
        });
        // Named by `--profile`, another profile would come without them.
        if self.sandbox.has_grants_by_text
            && let Some(suggestion) = &mut self.report.suggestion
            && !suggestion.flags.is_empty()
        {
            suggestion.profile = None;
        }
        self.tell_end();
    }

    fn tell_end(&self) {
        let denials = self.report.denials.len();
        info!(
            status = self.report.status.name(),
            duration_ms = self.report.duration_ms,
            denials,
            "run ended"
        );
        for denial in self.report.denials.iter().filter(|denial| denial.is_lack()) {
            self.sandbox
                .tell(&self.report.run, || Record::Denied(Seen::lacked(denial)));
        }
        let ended = || Record::Ended(Ended::of(&self.report));
        self.sandbox.tell(&self.report.run, ended);
    }

    fn wait_with_output(mut self) -> Result<Output, Error> {
        let mut streams = [Vec::new(), Vec::new()];
        loop {
            match self.next_event(None)? {
                Event::Output(stream, bytes) => streams[stream].extend(bytes),
                Event::Ended(ending) => {
                    let [stdout, stderr] = streams;
                    return Ok(Output {
                        outcome: self.outcome(&ending),
                        stdout,
                        stderr,
                    });
                }
                Event::Stopped(_) | Event::Continued | Event::Attention | Event::Appeared(_) => {}
            }
        }
    }
}

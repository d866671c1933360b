//! The library's API: a sandbox, a command in it, and the outcome. Modelled on `std::process::Command`.

mod along;
mod approved;
mod asking;
mod child;
mod closed_places;
mod command;
mod derived;
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

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use along::LeftBehind;
pub use child::Child;
pub use command::{Command, Ready};
pub use error::Error;
pub use outcome::{Outcome, Output};
pub use written::WrittenTrees;

use crate::launch::{Input, Streams};
use crate::plan::{Shortfall, Trace};
use crate::policy::{self, Access, Additions, Capabilities, HostGrant, ListenGrant, Mode, NetworkChoice, Role};
use crate::profile::{self, Catalog, Glob, HostPattern, Limits, Model, Origin, Profile};
use crate::real_path::{Walked, Walker, real_path};
use crate::surroundings::Surroundings;
use asking::Escalating;

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
}

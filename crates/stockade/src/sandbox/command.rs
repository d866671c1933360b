//! A command in a sandbox: from its words to a run that is ready to start.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tracing::{debug_span, info};

use super::child::Child;
use super::derived::refuse_void_grants;
use super::reads::Unkept;
use super::{Error, LeftBehind, Outcome, Output, Sandbox};
use super::{outcome, own_sockets};
use crate::audit::{Ended, Record};
use crate::command;
use crate::kernel;
use crate::launch::{self, CacheKey, CallersSignals, Input, LaunchError, Places, Prepared, Running, Streams};
use crate::plan::{self, Grouped, Missing, Plan, PlanError, Reads, Shortfall};
use crate::policy::Policy;
use crate::report::Report;

/// A program and its arguments, to be run in a sandbox.
#[derive(Debug, Clone)]
pub struct Command {
    pub(super) sandbox: Sandbox,
    pub(super) argv: Vec<OsString>,
    pub(super) streams: Streams,
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

/// A run with everything resolved, not started yet.
#[derive(Debug)]
pub struct Ready {
    pub(super) sandbox: Sandbox,
    pub(super) state: Option<PathBuf>,
    pub(super) accepts_supervisor: bool,
    /// The run's policy.
    pub policy: Policy,
    /// How the policy is enforced.
    pub plan: Plan,
    /// The DNS server used in place of the machine's.
    pub resolver: Option<SocketAddr>,
    /// What the run goes without of the user's own settings, for people.
    pub left_behind: Vec<LeftBehind>,
    pub(super) command: command::ResolvedCommand,
    pub(super) control_group: Option<launch::ControlGroups>,
    pub(super) streams: Streams,
    pub(super) report: Report,
    pub(super) unkept: Unkept,
    pub(super) late: Option<launch::LateSecrets>,
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

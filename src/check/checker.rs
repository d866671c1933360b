//! Answers checks: from the layers of each root and the rules of each file; every answer goes to the audit trail.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::REFUSED;
use super::super::args::Check;
use super::super::layers::{UnknownAgent, remarks};
use super::super::ledger::{profile_key, with_stored};
use super::super::message::{Failure, note};
use stockade::internal::Surroundings;
use stockade::{NetworkChoice, Sandbox};
use stockade_hook::{accesses, is_named, is_of_server, judged_as, named};
use stockade_judge::files::{self, Reachable};
use stockade_judge::{Act, Answer, Call, Decision, Judge, Layers, Permissions, permissions_of};
use stockade_policy::config::join::PROFILE;
use stockade_policy::config::known;
use stockade_policy::config::{Agent, ConfigurationError, Tool};
use stockade_policy::policy::{Capabilities, Mode, Role};
use stockade_policy::profile::{Origin, visible};
use stockade_report::audit::{Judged, Record};
use stockade_store::{self as store, AuditWriter, Level};

/// The most roots and rule files that are cached at once.
const MAX_KEPT: usize = 64;

/// One question. Missing fields take the values of the flags.
pub struct Asked {
    pub agent: Option<String>,
    pub act: Act,
    pub cwd: Option<PathBuf>,
    pub root: Option<PathBuf>,
    pub rules: Option<PathBuf>,
    /// What is known of a tool's call beside its words.
    pub calling: Calling,
}

/// What is known of a tool's call beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calling {
    /// What it starts runs confined, or it is one of Stockade's own tools.
    Usual,
    /// It is a call of an MCP server's tool: the agent knows that there is such a tool, so it need not be declared.
    OfServer,
    /// What it does isn't confined, so no built-in rule allows it.
    Unconfined,
}

impl Asked {
    /// A question about an act, with the flags' values for all else.
    pub fn about(act: Act) -> Asked {
        Asked {
            agent: None,
            act,
            cwd: None,
            root: None,
            rules: None,
            calling: Calling::Usual,
        }
    }
}

/// What files and hosts are judged by in place of an agent's own profile, where the caller confines what it starts: the
/// same as its runs get. Without an agent the role is the whole profile.
#[derive(Debug, Default)]
pub struct CallerGrants {
    pub profile: Option<String>,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub hosts: Vec<String>,
    pub deny: Vec<String>,
    pub network: Option<NetworkChoice>,
    pub llm: bool,
    /// Programs that answer its runs' questions, unconfined.
    pub approvers: Vec<PathBuf>,
}

impl CallerGrants {
    /// The sandbox with the grants.
    fn granted(&self, mut sandbox: Sandbox) -> Result<Sandbox, stockade::Error> {
        for path in &self.read {
            sandbox = sandbox.read(path);
        }
        for path in &self.write {
            sandbox = sandbox.write(path);
        }
        for host in &self.hosts {
            sandbox = sandbox.host(host)?;
        }
        for glob in &self.deny {
            sandbox = sandbox.deny(glob)?;
        }
        for program in &self.approvers {
            sandbox = sandbox.guard(program, "--ask");
        }
        if let Some(choice) = self.network {
            sandbox = sandbox.network(choice);
        }
        match self.llm {
            true => sandbox.llm(),
            false => Ok(sandbox),
        }
    }
}

/// The reason that there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Wrong {
    #[error("the root `{}` can't be used", visible(&.0.to_string_lossy()))]
    Root(PathBuf, #[source] std::io::Error),
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    #[error(transparent)]
    Profile(#[from] stockade::Error),
}

impl Wrong {
    pub fn hint(&self) -> Option<String> {
        match self {
            Wrong::Agent(unknown) => Some(unknown.hint()),
            Wrong::Root(..) => Some("name a directory that exists".into()),
            Wrong::Configuration(_) | Wrong::Profile(_) => None,
        }
    }
}

/// Cache key: a root and a rules file, as they were when they were read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    /// As it was named: the caller's directory has no other name than the one that each walk asks for (getcwd(2)).
    root: PathBuf,
    rules: Option<(PathBuf, Option<SystemTime>)>,
}

/// Cache entry of a root and rules file.
struct Ready {
    layers: Layers,
    permissions: Permissions,
    judge: Judge,
    /// The root as it was named, and its real path.
    named: PathBuf,
    root: PathBuf,
    /// Whether a link is on the way to it.
    is_led: bool,
    /// The resources that each requested agent can reach, by name; `None` for the caller's own ground.
    reachable: HashMap<Option<String>, Reachable>,
}

/// Answers questions.
pub struct Checker {
    check: Check,
    ground: Option<CallerGrants>,
    surroundings: Surroundings,
    ready: HashMap<Key, Ready>,
    writer: AuditWriter,
}

impl Checker {
    /// Reads the files that the flags name, so that an error in them is reported before the first question.
    pub fn open(check: Check, ground: Option<CallerGrants>) -> Result<Checker, Failure> {
        let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
        let key = key(check.root.as_deref(), check.rules.as_deref());
        let ready = Ready::load(&surroundings, &key).map_err(Failure::from)?;
        remarks(&ready.layers).iter().for_each(|text| note(text));
        let on_violation = ready.layers.user().on_violation.clone();
        let writer = AuditWriter::start(surroundings.state.as_deref(), check.audit, on_violation);
        Ok(Checker {
            check,
            ground,
            surroundings,
            ready: HashMap::from([(key, ready)]),
            writer,
        })
    }

    /// Decides, and records the decision.
    pub fn answer(&mut self, asked: &Asked) -> Result<Answer, Wrong> {
        let key = self.loaded(asked.root.as_deref(), asked.rules.as_deref())?;
        let ready = self.ready.get_mut(&key).expect("it was put there");
        let check = &self.check;
        let ground = self.ground.as_ref();
        let here = &self.surroundings.directory;
        let state = self.surroundings.state.as_deref();
        let name = asked.agent.as_ref().or(check.agent.as_ref());
        let agent = match name {
            Some(name) => Some(UnknownAgent::or_agent(&ready.layers, name)?),
            None => None,
        };
        let cwd = match (&asked.cwd, &check.cwd) {
            (Some(cwd), _) => ready.root.join(cwd),
            (None, Some(cwd)) => here.join(cwd),
            (None, None) => ready.root.clone(),
        };
        // Rules of a tool mean the root too.
        if ready.is_led {
            ready.reachable(agent.as_ref(), ground, state)?;
        }
        let home = self.surroundings.home.as_deref();
        let ruled = match &asked.act {
            Act::Tool(call) => ready.ruled(&call.tool),
            Act::Path(..) | Act::Connect(_) => None,
        };
        let (denied, ruled): (Option<Answer>, Option<Answer>) = match ruled {
            Some(answer) if answer.decision == Decision::Deny => (Some(answer), None),
            ruled => (None, ruled),
        };
        let answer = match (denied, &asked.act) {
            (Some(denied), _) => denied,
            (None, Act::Tool(call)) => match asked.calling {
                Calling::Usual => {
                    let tool = ready.ours(&call.tool);
                    let is_of_agents = tool.is_some();
                    let call = Call {
                        tool: tool.unwrap_or(&call.tool).to_string(),
                        ..call.clone()
                    };
                    let answer = ready.by_name(agent.as_ref(), &call, is_of_agents, &cwd);
                    let answer = match ruled.filter(|_| is_of_agents && answer.decision == Decision::Confirm) {
                        Some(allowed) if !changes(&call.tool) => allowed,
                        _ => answer,
                    };
                    let by_name = (answer, is_of_agents);
                    ready.with_accesses(by_name, &call, (agent.as_ref(), ground, state), (&cwd, home))?
                }
                Calling::OfServer => ready.of_server(&call.tool).tool(agent.as_ref(), call, &cwd),
                Calling::Unconfined => ready.unconfined().tool(agent.as_ref(), call, &cwd),
            },
            (None, Act::Path(action, path)) => match ready.reachable(agent.as_ref(), ground, state)? {
                Some(reachable) => reachable.path(*action, path, &cwd),
                None => files::without_context(action.capability()),
            },
            (None, Act::Connect(host)) => match ready.reachable(agent.as_ref(), ground, state)? {
                Some(reachable) => reachable.connect(host),
                None => files::without_context(Capabilities::NET),
            },
        };
        let answer = match check.no_ask {
            true => answer.without_asking(),
            false => answer,
        };
        self.keep(agent.as_ref(), &asked.act, &answer);
        Ok(answer)
    }

    /// The answer of a rule of the user's for all of an agent's tool, by any name of it. A denial is recorded.
    pub fn ruled(&mut self, tool: &str) -> Result<Option<Answer>, Wrong> {
        let key = self.loaded(None, None)?;
        let ready = &self.ready[&key];
        let answer = ready.ruled(tool);
        if let Some(denied) = answer.as_ref().filter(|answer| answer.decision == Decision::Deny) {
            let agent = self.check.agent.as_ref();
            let agent = agent
                .map(|name| UnknownAgent::or_agent(&ready.layers, name))
                .transpose()?;
            self.keep(agent.as_ref(), &Act::Tool(named(tool)), denied);
        }
        Ok(answer)
    }

    /// The key of what is loaded for a root and a rules file, by default those of the flags.
    fn loaded(&mut self, root: Option<&Path>, rules: Option<&Path>) -> Result<Key, Wrong> {
        let key = key(
            root.or(self.check.root.as_deref()),
            rules.or(self.check.rules.as_deref()),
        );
        if !self.ready.contains_key(&key) {
            if self.ready.len() >= MAX_KEPT {
                self.ready.clear();
            }
            let ready = Ready::load(&self.surroundings, &key)?;
            self.ready.insert(key.clone(), ready);
        }
        Ok(key)
    }

    fn keep(&self, agent: Option<&Agent>, act: &Act, answer: &Answer) {
        // The writer selects the records; without a writer none need be built.
        if self.check.audit == Level::Off {
            return;
        }
        let record = Record::Judged(Judged {
            agent: agent.map(|agent| agent.name.clone()),
            action: act.action().to_string(),
            target: act.target(),
            result: answer.decision,
            mode: agent.and_then(|agent| agent.mode).map(|mode| mode.to_string()),
            reason: answer.reason.clone(),
            matched: answer.matched.clone(),
        });
        self.writer.observer().note("", record);
    }

    /// Writes the rest of the trail. No decision depends on it.
    pub fn close(self) {
        if let Err(error) = self.writer.finish() {
            note(&Failure::new(REFUSED, &error).message);
        }
    }
}

impl Ready {
    fn load(surroundings: &Surroundings, key: &Key) -> Result<Ready, Wrong> {
        let named = surroundings.directory.join(&key.root);
        let root = std::fs::canonicalize(&named).map_err(|error| Wrong::Root(named.clone(), error))?;
        let layers = Layers::load(
            surroundings.configuration.as_deref(),
            surroundings.state.as_deref(),
            &root,
        )?;
        let mut permissions = layers.permissions();
        if let Some((path, _)) = &key.rules {
            let Permissions { allow, deny } = permissions_of(path)?;
            permissions.allow.extend(allow);
            permissions.deny.extend(deny);
        }
        Ok(Ready {
            judge: Judge::new(permissions.clone(), layers.tools(), &root),
            permissions,
            layers,
            named: key.root.clone(),
            is_led: named != root,
            root,
            reachable: HashMap::new(),
        })
    }

    /// The name that a tool of an agent's is judged by; `None` for our names, declared ones and unknown ones.
    fn ours<'t>(&self, tool: &'t str) -> Option<&'t str> {
        let is_ours = known::needs(tool).is_some() || self.layers.tool(tool).is_some();
        judged_as(tool).filter(|_| !is_ours)
    }

    /// The answer about a tool by its name. One of a server or an agent need not be declared.
    fn by_name(&self, agent: Option<&Agent>, call: &Call, is_of_agents: bool, cwd: &Path) -> Answer {
        let tool = &call.tool;
        match self.judge.has(tool) || !(is_of_agents || is_of_server(tool)) {
            true => self.judge.tool(agent, call, cwd),
            false => self.of_server(tool).tool(agent, call, cwd),
        }
    }

    /// The answer about a tool, or that about the file or host that its input names: of an agent's tool as its hook says, of
    /// ours where this is stricter. Without an agent these are judged as by a hook without flags.
    fn with_accesses(
        &mut self,
        (answer, is_of_agents): (Answer, bool),
        call: &Call,
        (agent, ground, state): (Option<&Agent>, Option<&CallerGrants>, Option<&Path>),
        (cwd, home): (&Path, Option<&Path>),
    ) -> Result<Answer, Wrong> {
        let input = call.command.as_deref().unwrap_or_default();
        if answer.decision == Decision::Deny || input.is_empty() {
            return Ok(answer);
        }
        let acts = match accesses(&call.tool, input, home) {
            Ok(acts) if acts.is_empty() => return Ok(answer),
            Ok(acts) => acts,
            Err(why) => return Ok(files::deny(why, None)),
        };
        let usual = CallerGrants::default();
        let Some(reachable) = self.reachable(agent, ground.or(agent.is_none().then_some(&usual)), state)? else {
            return Ok(answer);
        };
        let answers = acts.iter().filter_map(|act| match act {
            Act::Path(action, path) => Some(reachable.path(*action, path, cwd)),
            Act::Connect(host) => Some(reachable.connect(host)),
            Act::Tool(_) => None,
        });
        let strictness = |answer: &Answer| match answer.decision {
            Decision::Allow => 2,
            Decision::Confirm => 1,
            Decision::Deny => 0,
        };
        let by_name = Some(answer).filter(|_| !is_of_agents);
        Ok(by_name
            .into_iter()
            .chain(answers)
            .min_by_key(strictness)
            .expect("there is one"))
    }

    /// The answer of a rule of the user's for all of a tool, by any name of it.
    fn ruled(&self, tool: &str) -> Option<Answer> {
        self.judge.ruled(|rule| is_named(rule, tool))
    }

    /// The judge that has this tool, declared or not.
    fn of_server(&self, tool: &str) -> Judge {
        let mut tools = self.layers.tools();
        if tools.iter().all(|declared| declared.name != tool) {
            tools.push(Tool {
                name: tool.to_string(),
                profile: None,
                commands: None,
                capabilities: None,
                origin: Origin::BuiltIn,
            });
        }
        Judge::new(self.permissions.clone(), tools, &self.root)
    }

    /// The judge of what isn't confined.
    fn unconfined(&self) -> Judge {
        Judge::without_built_in(self.permissions.clone(), self.layers.tools(), &self.root)
    }

    /// The resources that the agent's runs could reach here, or those of the caller's own ground, with what was granted for
    /// always, resolved once; `None` with neither.
    fn reachable(
        &mut self,
        agent: Option<&Agent>,
        ground: Option<&CallerGrants>,
        state: Option<&Path>,
    ) -> Result<Option<&Reachable>, Wrong> {
        if agent.is_none() && ground.is_none() {
            return Ok(None);
        }
        let name = agent.map(|agent| agent.name.clone());
        if !self.reachable.contains_key(&name) {
            let role = agent.map_or(Role::WHOLE, Agent::role);
            let named = ground.and_then(|ground| ground.profile.as_deref());
            let profile = named.or(agent.map(Agent::profile)).unwrap_or(PROFILE);
            let policy = |mode: Mode| {
                let sandbox = Sandbox::profile(profile)?.root(&self.named);
                let sandbox = sandbox.role(Role { mode, ..role.clone() });
                let sandbox = match ground {
                    Some(ground) => ground.granted(sandbox)?,
                    None => sandbox,
                };
                let key = store::Key {
                    project: sandbox.project()?,
                    profile: profile_key(profile),
                    agent: name.clone(),
                    script: None,
                };
                let sandbox = with_stored(sandbox, &key, state);
                let policy = sandbox.policy_of_any_command()?;
                match policy.root == self.root {
                    true => Ok(policy),
                    false => Err(stockade::Error::Moved(self.named.clone())),
                }
            };
            let own = policy(role.mode)?;
            let free = match role.mode {
                Mode::Manual => policy(Mode::AcceptEdits)?,
                Mode::AcceptEdits | Mode::Bypass => own.clone(),
            };
            let reachable = Reachable::new(own, free);
            self.reachable.insert(name.clone(), reachable);
        }
        Ok(self.reachable.get(&name))
    }
}

/// Whether a tool of ours changes files or starts programs: more than its name decides on those.
fn changes(tool: &str) -> bool {
    let more = Capabilities::WRITE | Capabilities::DELETE | Capabilities::EXECUTE;
    known::needs(tool).is_some_and(|needs| needs.intersects(more))
}

/// The cache key: a rules file that has changed is a different one.
fn key(root: Option<&Path>, rules: Option<&Path>) -> Key {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    Key {
        root: root.unwrap_or(Path::new(".")).to_path_buf(),
        rules: rules.map(|path| (path.to_path_buf(), changed(path))),
    }
}

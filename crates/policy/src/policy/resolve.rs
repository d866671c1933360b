//! Resolves a profile and the circumstances of a run to its policy. Pure: the circumstances are gathered beforehand.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::decide::SPECIAL;
use super::temporary;
use super::{
    Access, Asks, BASE, Capabilities, DenialKind, DenialRule, Entry, Grant, GrantExtent, HostGrant, Listed,
    ListenGrant, Mode, NetworkPolicy, Opened, Policy, Role, SecretList, SocketGrant, Target, environment,
};
use crate::command::{self, ResolvedCommand};
use crate::profile::{Glob, Limits, Model, Network, Origin, PathSpec, Profile, Rule};

/// The additions that a run makes to its profile by flags or calls. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Additions {
    /// Granted paths with the flag that granted them.
    pub grants: Vec<(Access, PathBuf, String)>,
    /// Guarded files, or directories of them, that a person opened. Grants of their own let them be written.
    pub guarded: Vec<PathBuf>,
    /// Unix sockets with the flag that granted them.
    pub sockets: Vec<(PathBuf, String)>,
    /// Paths granted by an "always" answer.
    pub approved: Vec<(Access, PathBuf, GrantExtent, Origin)>,
    /// Unix sockets granted by an "always" answer.
    pub approved_sockets: Vec<(PathBuf, Origin)>,
    /// Hosts that the run may connect to.
    pub hosts: Vec<HostGrant>,
    /// Ports of the loopback interface that the run may listen on.
    pub listen: Vec<ListenGrant>,
    /// Replaces the profile's rule on hosts.
    pub network: Option<NetworkChoice>,
    /// Whether to grant the model endpoints of the circumstances, with the variables that hold their keys.
    pub llm: bool,
    /// Denied globs in the form of a profile.
    pub denials: Vec<Glob>,
    /// Variables with a value; without one, the caller's value is passed.
    pub variables: Vec<(OsString, Option<OsString>)>,
    /// Limits that override the profile's.
    pub limits: Limits,
    /// The role that narrows the profile and these additions.
    pub role: Role,
}

impl Additions {
    /// No additions.
    pub const NONE: Additions = Additions {
        grants: Vec::new(),
        guarded: Vec::new(),
        sockets: Vec::new(),
        approved: Vec::new(),
        approved_sockets: Vec::new(),
        hosts: Vec::new(),
        listen: Vec::new(),
        network: None,
        llm: false,
        denials: Vec::new(),
        variables: Vec::new(),
        limits: Limits::NONE,
        role: Role::WHOLE,
    };
}

impl Additions {
    /// The flags that grant, deny or pass something. Non-UTF-8 paths are shown lossily.
    pub fn flags(&self) -> Vec<String> {
        let hosts = self.hosts.iter().map(|grant| grant.origin.flag());
        let listen = self.listen.iter().map(|grant| grant.origin.flag());
        let network = self.network.map(|choice| match choice {
            NetworkChoice::None => "--net none".to_string(),
            NetworkChoice::All => "--net all".to_string(),
        });
        let variable = |(name, value): &(OsString, Option<OsString>)| {
            let name = name.to_string_lossy();
            match value {
                Some(value) => format!("--env {name}={}", value.to_string_lossy()),
                None => format!("--env {name}"),
            }
        };
        let paths = self.grants.iter().map(|(_, _, flag)| flag.clone());
        let sockets = self.sockets.iter().map(|(_, flag)| flag.clone());
        let denials = self.denials.iter().map(|glob| format!("--deny {glob}"));
        let llm = self.llm.then(|| "--llm".to_string());
        paths
            .chain(sockets)
            .chain(hosts)
            .chain(listen)
            .chain(network)
            .chain(llm)
            .chain(denials)
            .chain(self.variables.iter().map(variable))
            .collect()
    }
}

/// A choice for all hosts that overrides the profile's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkChoice {
    /// No socket of the internet families at all.
    None,
    /// Every host.
    All,
}

/// The inputs of a run besides its profile.
pub struct Circumstances<'a> {
    /// The run's root: canonical.
    pub root: &'a Path,
    /// The caller's home directory, if there is one.
    pub home: Option<&'a Path>,
    /// The caller's environment.
    pub environment: &'a [(OsString, OsString)],
    /// The resolved command.
    pub command: &'a ResolvedCommand,
    /// The homes, and the parts of them that lie elsewhere.
    pub entries: &'a [Entry],
    /// Paths of the built-in lists that a person opened.
    pub opened: &'a [Opened],
    /// Globs that a person added to them.
    pub closed: &'a [Rule<Glob>],
    /// Stockade's own configuration and state directories.
    pub own: &'a [PathBuf],
    /// Stockade's program, and directories of `PATH` in the caller's home: programs that the user starts by name.
    pub programs: &'a [PathBuf],
    /// The endpoints of language models that `llm` grants; empty where none was requested.
    pub models: &'a [Model],
    /// The most bytes of memory that a profile may give a run; a flag may give more.
    pub memory: Option<u64>,
    /// The additions by flags.
    pub additions: &'a Additions,
}

impl Circumstances<'_> {
    /// One of the caller's variables.
    pub fn variable(&self, name: impl AsRef<OsStr>) -> Option<OsString> {
        let name = name.as_ref();
        self.environment
            .iter()
            .find(|(candidate, _)| candidate == name)
            .map(|(_, value)| value.clone())
    }
}

/// The policy of one run.
pub fn resolve(profile: &Profile, circumstances: &Circumstances<'_>) -> Policy {
    let mut grants = base_grants();
    grants.extend(command_grants(circumstances.command));
    grants.extend(profile_grants(profile, circumstances));
    grants.extend(circumstances.additions.grants.iter().map(|(access, path, flag)| Grant {
        access: *access,
        path: path.clone(),
        extent: GrantExtent::Subtree,
        exempt: false,
        origin: Origin::Flag(flag.clone()),
        why: None,
    }));
    grants.extend(
        circumstances
            .additions
            .approved
            .iter()
            .map(|(access, path, extent, origin)| Grant {
                access: *access,
                path: path.clone(),
                extent: *extent,
                exempt: false,
                origin: origin.clone(),
                why: None,
            }),
    );
    let role = &circumstances.additions.role;
    narrow(&mut grants, role.access(), Grant::is_chosen);
    let listen = listen_grants(profile, circumstances.additions);
    let reach = reach(profile, circumstances, &listen);
    let mut environment = environment::build(profile, circumstances, &grants);
    if reach == NetworkPolicy::Nothing {
        environment::fail_at_once(&mut environment);
    }
    if role.mode == Mode::Manual {
        // Changes that a person already allowed by a flag or an answer don't ask again.
        let is_profiles = |grant: &Grant| matches!(grant.origin, Origin::Shipped { .. } | Origin::File { .. });
        narrow(&mut grants, !Access::CHANGE, is_profiles);
    }
    Policy {
        profile: profile.name.clone(),
        capabilities: role.capabilities,
        mode: role.mode,
        root: circumstances.root.to_path_buf(),
        denials: denials(profile, circumstances),
        reach,
        listen,
        sockets: sockets(profile, circumstances),
        environment,
        scratch: profile.scratch,
        limits: override_limits(&profile.limits, &circumstances.additions.limits, circumstances.memory)
            .meet(role.limits),
        system_calls: profile.system_calls.iter().map(|rule| rule.value.clone()).collect(),
        asks: Asks::Nothing,
        grants,
    }
}

/// Removes the accesses that a role lacks from the grants that `counts` selects. Those that a program needs to start stay.
fn narrow(grants: &mut Vec<Grant>, access: Access, counts: impl Fn(&Grant) -> bool) {
    for grant in grants.iter_mut().filter(|grant| counts(grant)) {
        grant.access &= access;
    }
    grants.retain(|grant| !grant.access.is_empty());
}

fn base_grants() -> Vec<Grant> {
    BASE.iter()
        .map(|entry| Grant {
            access: entry.access,
            path: PathBuf::from(entry.path),
            extent: GrantExtent::Subtree,
            exempt: true,
            origin: Origin::Base,
            why: None,
        })
        .collect()
}

/// The executables, the installation that they belong to, and the script file.
fn command_grants(command: &ResolvedCommand) -> Vec<Grant> {
    let single = |path: &PathBuf, access: Access, origin: Origin| Grant {
        access,
        path: path.clone(),
        extent: GrantExtent::Single,
        exempt: false,
        origin,
        why: None,
    };
    let installation = command.installation.iter().map(|part| Grant {
        access: match part.access {
            command::InstallationAccess::Read => Access::READ,
            command::InstallationAccess::Execute => Access::READ | Access::EXECUTE,
        },
        path: part.path.clone(),
        extent: GrantExtent::Subtree,
        exempt: true,
        origin: Origin::Installation,
        why: Some(part.reason.to_string()),
    });
    let executables = command
        .executables
        .iter()
        .map(|path| single(path, Access::READ | Access::EXECUTE, Origin::Entrypoint));
    let scripts = command
        .entrypoints
        .iter()
        .map(|path| single(path, Access::READ, Origin::Entrypoint));
    installation.chain(executables).chain(scripts).collect()
}

fn profile_grants<'a>(profile: &'a Profile, circumstances: &'a Circumstances<'_>) -> impl Iterator<Item = Grant> + 'a {
    let home = circumstances.home.unwrap_or(Path::new("/nonexistent"));
    let grant = |access: Access| {
        move |rule: &Rule<PathSpec>| Grant {
            access,
            path: rule.value.resolve(circumstances.root, home),
            extent: GrantExtent::Subtree,
            exempt: false,
            origin: rule.origin.clone(),
            why: rule.why.clone(),
        }
    };
    let read = profile.read.iter().map(grant(Access::READ));
    let write = profile.write.iter().map(grant(Access::WRITING));
    let exec = profile.exec.iter().map(grant(Access::READ | Access::EXECUTE));
    read.chain(write).chain(exec)
}

fn sockets(profile: &Profile, circumstances: &Circumstances<'_>) -> Vec<SocketGrant> {
    let home = circumstances.home.unwrap_or(Path::new("/nonexistent"));
    let of_profile = profile.sockets.iter().map(|rule| SocketGrant {
        path: rule.value.resolve(circumstances.root, home),
        origin: rule.origin.clone(),
    });
    let of_flags = circumstances.additions.sockets.iter().map(|(path, flag)| SocketGrant {
        path: path.clone(),
        origin: Origin::Flag(flag.clone()),
    });
    let approved = circumstances.additions.approved_sockets.iter();
    let of_answers = approved.map(|(path, origin)| SocketGrant {
        path: path.clone(),
        origin: origin.clone(),
    });
    of_profile.chain(of_flags).chain(of_answers).collect()
}

/// The hosts of the profile, the flags and the models, narrowed to the role's.
fn reach(profile: &Profile, circumstances: &Circumstances<'_>, listen: &[ListenGrant]) -> NetworkPolicy {
    let all = all_hosts(profile, circumstances, listen);
    match &circumstances.additions.role.hosts {
        None => all,
        Some(hosts) => {
            let models = models(profile, circumstances).iter().flat_map(|model| &model.hosts);
            all.meet(&NetworkPolicy::Hosts(
                hosts.iter().chain(models).map(HostGrant::of).collect(),
            ))
        }
    }
}

fn all_hosts(profile: &Profile, circumstances: &Circumstances<'_>, listen: &[ListenGrant]) -> NetworkPolicy {
    let additions = circumstances.additions;
    let has_network = additions.role.capabilities.contains(Capabilities::NET);
    let of_profile = match (additions.network, &profile.network) {
        (Some(NetworkChoice::None), _) => return NetworkPolicy::Nothing,
        _ if !has_network => None,
        (Some(NetworkChoice::All), _) | (None, Network::All(_)) => return NetworkPolicy::Everything,
        (None, Network::Hosts(hosts)) => Some(hosts),
        (None, Network::None) => None,
    };
    let models = models(profile, circumstances).iter().flat_map(|model| &model.hosts);
    let written = of_profile.into_iter().flatten().chain(models).map(HostGrant::of);
    let of_flags = additions.hosts.iter().filter(|_| has_network);
    let hosts: Vec<HostGrant> = written.chain(of_flags.cloned()).collect();
    // Listening needs sockets, too.
    if of_profile.is_none() && hosts.is_empty() && listen.is_empty() {
        return NetworkPolicy::Nothing;
    }
    NetworkPolicy::Hosts(hosts)
}

/// The models that the run may use: all or none. Without a network their keys would be useless.
pub(super) fn models<'a>(profile: &Profile, circumstances: &Circumstances<'a>) -> &'a [Model] {
    let additions = circumstances.additions;
    let is_asked = (profile.llm || additions.llm)
        && additions.network != Some(NetworkChoice::None)
        && additions.role.capabilities.contains(Capabilities::LLM);
    if is_asked { circumstances.models } else { &[] }
}

fn listen_grants(profile: &Profile, additions: &Additions) -> Vec<ListenGrant> {
    let has_network = additions.role.capabilities.contains(Capabilities::NET);
    if additions.network == Some(NetworkChoice::None) || !has_network {
        return Vec::new();
    }
    let of_profile = profile.listen.iter().map(|rule| ListenGrant {
        port: rule.value,
        origin: rule.origin.clone(),
    });
    of_profile.chain(additions.listen.iter().cloned()).collect()
}

fn denials(profile: &Profile, circumstances: &Circumstances<'_>) -> Vec<DenialRule> {
    let both = Access::WRITING;
    let built_in = |target: Target, access: Access, kind: DenialKind| DenialRule {
        target,
        access,
        kind,
        origin: Origin::BuiltIn,
    };
    let entries: Arc<[Entry]> = circumstances.entries.into();
    let opened: Arc<[Opened]> = circumstances.opened.into();
    let of_flags = circumstances.additions.guarded.iter().cloned().map(Opened);
    let with_flags: Arc<[Opened]> = opened.iter().cloned().chain(of_flags).collect();
    let listed = |list: SecretList| {
        Target::Listed(Listed {
            list,
            entries: Arc::clone(&entries),
            open: Arc::clone(if list.is_guarded() { &with_flags } else { &opened }),
        })
    };
    let names = |paths: &[PathBuf], access: Access, kind: DenialKind| {
        let targets = paths.iter().cloned().map(Target::Path);
        targets.map(|target| built_in(target, access, kind)).collect::<Vec<_>>()
    };
    let mut denials = names(circumstances.own, both, DenialKind::SecretName);
    denials.push(built_in(listed(SecretList::Secret), both, DenialKind::SecretName));
    denials.push(built_in(listed(SecretList::Key), both, DenialKind::SecretPattern));
    denials.extend(names(circumstances.programs, Access::CHANGE, DenialKind::Guarded));
    for list in SecretList::ALL.into_iter().filter(|list| list.is_guarded()) {
        denials.push(built_in(listed(list), Access::CHANGE, DenialKind::Guarded));
    }
    denials.push(built_in(Target::GitDirectories, Access::CHANGE, DenialKind::Guarded));
    denials.extend(temporary::denials());
    denials.extend(circumstances.closed.iter().map(|rule| DenialRule {
        target: anchored(&rule.value, circumstances),
        access: both,
        kind: if rule.value.0.starts_with("**/") {
            DenialKind::SecretPattern
        } else {
            DenialKind::SecretName
        },
        origin: rule.origin.clone(),
    }));
    let of_profile = profile.deny.iter().map(|rule| (&rule.value, rule.origin.clone()));
    let of_flags = circumstances
        .additions
        .denials
        .iter()
        .map(|glob| (glob, Origin::Flag(format!("--deny {}", glob.0))));
    denials.extend(of_profile.chain(of_flags).map(|(glob, origin)| DenialRule {
        target: anchored(glob, circumstances),
        access: Access::all(),
        kind: DenialKind::Explicit,
        origin,
    }));
    denials.extend(scope(circumstances));
    denials
}

/// The denials of a scope. In `bypass` mode there are none.
fn scope(circumstances: &Circumstances<'_>) -> Vec<DenialRule> {
    let Role { mode, scope, .. } = &circumstances.additions.role;
    if *mode == Mode::Bypass {
        return Vec::new();
    }
    let closed = |rule: &Rule<Glob>, access: Access, kind: DenialKind| DenialRule {
        target: anchored(&rule.value, circumstances),
        access,
        kind,
        origin: rule.origin.clone(),
    };
    let denied = scope.denied.iter();
    let denied = denied.map(|rule| closed(rule, Access::all(), DenialKind::Explicit));
    let kept = scope.read_only.iter();
    let kept = kept.map(|rule| closed(rule, Access::CHANGE, DenialKind::Scope));
    let outside = scope.allowed.iter().map(|allowed| DenialRule {
        target: Target::AllBut {
            below: circumstances.root.to_path_buf(),
            globs: allowed
                .iter()
                .filter_map(|rule| below_root(&rule.value, circumstances))
                .collect(),
        },
        access: Access::CHANGE,
        kind: DenialKind::Scope,
        origin: allowed.first().map_or(Origin::BuiltIn, |rule| rule.origin.clone()),
    });
    denied.chain(kept).chain(outside).collect()
}

/// The glob that a scope opens below the root, relative to it. `None` for a glob anchored elsewhere, which opens nothing here.
fn below_root(glob: &Glob, circumstances: &Circumstances<'_>) -> Option<String> {
    let (below, rest) = anchor(glob, circumstances);
    let is_anywhere = glob.0.starts_with("**/");
    if below == circumstances.root || is_anywhere {
        return Some(rest.to_string());
    }
    let absolute = below.join(rest);
    let rest = absolute.strip_prefix(circumstances.root).ok()?;
    rest.to_str().map(str::to_string)
}

/// The target of a profile's or flag's glob, anchored at the directory it is relative to.
fn anchored(glob: &Glob, circumstances: &Circumstances<'_>) -> Target {
    let (below, rest) = anchor(glob, circumstances);
    if rest.contains(SPECIAL) {
        Target::Glob {
            below: below.to_path_buf(),
            glob: rest.to_string(),
        }
    } else {
        Target::Path(below.join(rest))
    }
}

/// Returns the directory that a glob is relative to, and the rest of the glob.
fn anchor<'a>(glob: &'a Glob, circumstances: &Circumstances<'a>) -> (&'a Path, &'a str) {
    let text = glob.0.as_str();
    let home = circumstances.home.unwrap_or(Path::new("/nonexistent"));
    if let Some(rest) = text.strip_prefix("./") {
        (circumstances.root, rest)
    } else if let Some(rest) = text.strip_prefix("~/") {
        (home, rest)
    } else {
        (Path::new("/"), text.trim_start_matches('/'))
    }
}

/// A profile's memory limit is written for any machine, so `most` caps it on a small one.
fn override_limits(profile: &Limits, flags: &Limits, most: Option<u64>) -> Limits {
    let memory = profile
        .memory
        .map(|memory| most.map_or(memory, |most| memory.min(most)));
    Limits {
        time: flags.time.or(profile.time),
        cpu: flags.cpu.or(profile.cpu),
        memory: flags.memory.or(memory),
        processes: flags.processes.or(profile.processes),
        open_files: flags.open_files.or(profile.open_files),
        file_size: flags.file_size.or(profile.file_size),
        disk: flags.disk.or(profile.disk),
        output: flags.output.or(profile.output),
    }
}

//! The policy of a sandbox's runs, the trees that they write, and what refuses a launch.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use tracing::debug_span;

use super::along::Along;
use super::reads::{Budget, NativeLook};
use super::{Error, LeftBehind, Sandbox, WrittenTrees};
use super::{closed_places, homes, reads, withheld};
use crate::command;
use crate::config::Configuration;
use crate::kernel;
use crate::launch;
use crate::plan::{self, Ability, KeptExact, SupervisorAbility, Trace};
use crate::policy::{
    self, Access, Capabilities, Circumstances, DenialKind, DenialRule, Grant, GrantExtent, HostGrant, Matcher,
    NetworkChoice, NetworkPolicy, Policy, Target,
};
use crate::profile::{Anchor, Network, Origin};
use crate::real_path::{SHARED, Walked, Walker, real_path};

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

impl Sandbox {
    /// The root by its real path.
    pub(super) fn resolved_root(&self) -> Result<&Path, Error> {
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
    pub(super) fn refuse_program_of_others(
        &self,
        policy: &Policy,
        command: &command::ResolvedCommand,
    ) -> Result<(), Error> {
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
    pub(super) fn refuse_left_out(&self, policy: &Policy, command: &command::ResolvedCommand) -> Result<(), Error> {
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
    pub(super) fn refuse_implicit_root(&self, root: &Path) -> Result<(), Error> {
        let is_wide = self.surroundings.holds_home(root);
        let mut opened = self.profile.opened().chain(&self.profile.sockets);
        let is_above = |named: &PathBuf| named.components().any(|part| part == Component::ParentDir);
        if self.root.as_ref().is_none_or(is_above) && is_wide && opened.any(|rule| rule.value.anchor == Anchor::Root) {
            return Err(Error::ImplicitRoot(root.to_path_buf()));
        }
        Ok(())
    }

    /// What Landlock alone reads, or why it doesn't; `None` where the supervisor is to judge all of it.
    pub(super) fn look(&self, policy: &Policy, ability: Ability) -> Option<NativeLook> {
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
    pub(super) fn starts_others(&self) -> bool {
        let additions = &self.additions;
        let is_execution = |(access, _, _): &(Access, PathBuf, String)| access.contains(Access::EXECUTE);
        additions.role.capabilities.contains(Capabilities::EXECUTE)
            && (!self.profile.exec.is_empty() || additions.grants.iter().any(is_execution))
    }

    /// The trees that runs may write.
    pub(super) fn written(&self, root: &Path) -> Vec<PathBuf> {
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
    pub(super) fn refuse_contradictions(&self) -> Result<(), Error> {
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
    pub(super) fn refuse_links_out(&self, root: &Path) -> Result<(), Error> {
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
    pub(super) fn trees_below(&self, root: &Path) -> impl Iterator<Item = PathBuf> {
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

    /// Its runs' policy with what they may not change, without the additions for their commands.
    ///
    /// # Errors
    /// The root can't be used; a link to a guarded file can't be followed.
    pub fn policy_of_any_command(&self) -> Result<Policy, Error> {
        let root = self.resolved_root()?;
        self.refuse_links_out(root)?;
        let (mut policy, _) = self.policy_here(root, &command::ResolvedCommand::nothing())?;
        policy.denials.extend(self.guards_of_all()?);
        Ok(policy)
    }

    /// The policy, with the denials that links on this machine add and what comes along of the user's settings, and what
    /// doesn't.
    pub(super) fn policy_here(
        &self,
        root: &Path,
        command: &command::ResolvedCommand,
    ) -> Result<(Policy, Vec<LeftBehind>), Error> {
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

    pub(super) fn policy(
        &self,
        root: &Path,
        command: &command::ResolvedCommand,
        walker: &mut Walker,
    ) -> Result<Policy, Error> {
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
    pub(super) fn control_group(&self) -> Option<launch::ControlGroups> {
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
pub(super) fn refuse_void_grants(policy: &Policy) -> Result<(), Error> {
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

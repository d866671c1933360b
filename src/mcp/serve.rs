//! `stockade mcp serve`: from the user's flags to the settings of a server.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::libc::{O_DIRECTORY, O_PATH};

use super::super::REFUSED;
use super::super::args::Serve;
use super::super::layers::{Here, UnknownAgent};
use super::super::message::Failure;
use super::super::profile::{compare, line};
use stockade::Sandbox;
use stockade_mcp_serve::{AGENT, Profile, Profiles, ProfilesError, ServeError, Settings};
use stockade_policy::profile::{Catalog, SHIPPED, names_profile_file, visible};

/// Serves until the client leaves.
pub fn serve(task: &Serve) -> Result<u8, Failure> {
    let here = Here::load(task.root.as_deref())?;
    let agent = UnknownAgent::or_agent(&here.layers, AGENT)?;
    let catalog = Catalog::new(here.surroundings.profiles());
    let find = |name: &str| profile(name, &catalog, &here.surroundings.directory);
    let default = task.profile.as_deref().map(find).transpose()?;
    let ceiling = match (&task.ceiling, &default) {
        (Some(name), _) => find(name)?,
        (None, Some(default)) => default.clone(),
        (None, None) => find(agent.profile())?,
    };
    let shipped = SHIPPED
        .iter()
        .map(|(name, _)| find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let beyond = |less: &Profile, more: &Profile| {
        let names = [more.argument.as_str(), less.argument.as_str()];
        match compare(&catalog, &here.surroundings, names, &here.root) {
            Ok(differences) => differences.widens.iter().map(line).collect(),
            Err(error) => vec![Failure::new(REFUSED, &error).message],
        }
    };
    let profiles = Profiles::within(ceiling, default, shipped, beyond).map_err(unserved)?;
    let sandboxes = sandboxes(task, &profiles)?;
    let root_directory = directory(task, &sandboxes, &here)?;
    let mut written: Vec<PathBuf> = sandboxes.iter().flat_map(Sandbox::trees_of_runs).collect();
    written.sort();
    written.dedup();
    let settings = Settings {
        root: here.root,
        root_directory: Arc::new(root_directory.into()),
        is_root_named: task.root.is_some(),
        profiles,
        written,
        ask: task.ask.clone(),
        ask_timeout: task.ask_timeout,
        time_limit: task.time_limit,
        parallel: usize::try_from(task.parallel).unwrap_or(1).clamp(1, MAX_AT_ONCE),
        program: "/proc/self/exe".into(),
    };
    match stockade_mcp_serve::serve(settings) {
        Ok(()) => Ok(0),
        Err(error @ ServeError::Handshake(_)) => {
            Err(Failure::new(REFUSED, &error)
                .hint("`stockade mcp serve` is started by an MCP client, which talks to it"))
        }
        Err(error) => Err(Failure::new(REFUSED, &error)),
    }
}

/// A choice of profiles that can't be served.
fn unserved(error: ProfilesError) -> Failure {
    let failure = Failure::new(REFUSED, &error);
    match error {
        ProfilesError::Beyond { ceiling, grants, .. } => Failure {
            details: grants,
            ..failure.hint(format!(
                "take that out of the profile, or leave `--profile` out: calls then run in `{ceiling}`"
            ))
        },
        ProfilesError::Trusted | ProfilesError::ExtendsTrusted(_) => {
            failure.hint("name a narrower profile: `--ceiling workspace`, for example")
        }
    }
}

/// One for each profile that a call may name.
fn sandboxes(task: &Serve, profiles: &Profiles) -> Result<Vec<Sandbox>, Failure> {
    let make = |profile: &Profile| {
        let sandbox = Sandbox::profile(&profile.argument)?;
        Ok(task.root.iter().fold(sandbox, Sandbox::root))
    };
    profiles.offered().iter().map(make).collect()
}

/// The directory of the root. A name that an earlier run may have led elsewhere is refused, under each profile that a call may
/// name.
fn directory(task: &Serve, sandboxes: &[Sandbox], here: &Here) -> Result<File, Failure> {
    let mut options = File::options();
    options.read(true).custom_flags(O_PATH | O_DIRECTORY);
    let failed = |error: std::io::Error| {
        let root = here.root.to_string_lossy();
        Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", visible(&root)))
    };
    let directory = options.open(task.root.as_ref().map_or(".".as_ref(), |_| here.root.as_path()));
    let directory = directory.map_err(failed)?;
    let opened = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).map_err(failed)?;
    if opened != here.root {
        return Err(stockade::Error::Moved(here.root.clone()).into());
    }
    for sandbox in sandboxes.iter().filter(|_| task.root.is_some()) {
        sandbox.real_root()?;
        sandbox.refuse_other_root(&opened)?;
    }
    Ok(directory)
}

/// The most calls at once, whatever the user says.
const MAX_AT_ONCE: usize = 64;

/// A profile with its name for clients, and the word for the flag of a run.
fn profile(name_or_file: &str, catalog: &Catalog, directory: &Path) -> Result<Profile, Failure> {
    let argument = match names_profile_file(name_or_file) {
        true => directory.join(name_or_file).to_string_lossy().into_owned(),
        false => name_or_file.to_string(),
    };
    // As a run will name it, so that it finds the same profile.
    let (loaded, files) = catalog.load_with_files(&argument).map_err(stockade::Error::from)?;
    let files: Vec<PathBuf> = files.iter().map(|file| directory.join(file)).collect();
    Ok(Profile {
        name: visible(&loaded.name).into_owned(),
        argument,
        description: visible(&loaded.description).into_owned(),
        digest: (!files.is_empty()).then(|| loaded.digest()),
        files,
        extends: loaded.lineage,
    })
}

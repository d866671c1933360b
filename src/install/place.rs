//! Where the settings of other programs are, and what flags in them name.

use std::fs;
use std::path::PathBuf;

use super::args::Where;
use crate::REFUSED;
use crate::layers::{Here, UnknownAgent};
use crate::message::Failure;
use stockade::Sandbox;
use stockade::internal::Surroundings;
use stockade_install::{Places, Scope};
use stockade_policy::profile::names_profile_file;

/// The user's or the project's settings.
pub fn scope(place: &Where) -> Scope {
    match place.project {
        true => Scope::Project,
        false => Scope::User,
    }
}

/// The directories of settings for this process.
pub fn places(place: &Where) -> Result<Places, Failure> {
    let here = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let home = here.named_home.clone().or(here.home.clone());
    let home = home.ok_or_else(|| Failure::text(REFUSED, "the home directory isn't known").hint("set HOME"))?;
    let directory = |name: &str| here.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let root = here.directory.join(place.root.clone().unwrap_or_default());
    let root = fs::canonicalize(&root)
        .map_err(|error| Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", root.display())))?;
    Ok(Places {
        config: directory("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        claude: directory("CLAUDE_CONFIG_DIR"),
        codex: directory("CODEX_HOME"),
        copilot: directory("COPILOT_HOME"),
        home,
        root,
    })
}

/// A profile as settings name it: it has to exist, and a file is named by its whole path.
pub fn profile(name: &str) -> Result<String, Failure> {
    let name = match names_profile_file(name) {
        true => {
            let path = std::path::absolute(name).map_err(|error| Failure::new(REFUSED, &error))?;
            path.to_string_lossy().into_owned()
        }
        false => name.to_string(),
    };
    Sandbox::profile(&name)?;
    Ok(name)
}

/// A role as settings name it: it has to be one, since each call of an agent with an unknown one is denied.
pub fn role(name: &str, places: &Places) -> Result<String, Failure> {
    let here = Here::quiet(Some(&places.root))?;
    Ok(UnknownAgent::or_agent(&here.layers, name)?.name)
}

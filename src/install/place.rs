//! Where the settings of other programs are, and by which path they start Stockade.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::args::Where;
use crate::REFUSED;
use crate::message::Failure;
use stockade::Sandbox;
use stockade::surroundings::Surroundings;
use stockade_install::{Places, Scope};

/// Directories that are on every program's `PATH`, a desktop's too.
const EVERYWHERE: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// The program's name.
const NAME: &str = "stockade";

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

/// How other programs start this one: by name if each of them finds it, or if others share the file; else by its path.
pub fn stockade(scope: Scope) -> Result<String, Failure> {
    let own = env::current_exe().map_err(|error| Failure::new(REFUSED, &error))?;
    let search_path = env::var_os("PATH").unwrap_or_default();
    let directories = env::split_paths(&search_path).filter(|directory| directory.is_absolute());
    let found = directories
        .map(|directory| directory.join(NAME))
        .find(|path| path.is_file());
    let found = found.filter(|path| is_same(path, &own));
    let is_everywhere = |path: &Path| {
        EVERYWHERE
            .iter()
            .any(|directory| path.parent() == Some(Path::new(directory)))
    };
    let path = match found {
        Some(path) if scope == Scope::Project || is_everywhere(&path) => return Ok(NAME.to_string()),
        found => found.unwrap_or(own),
    };
    let is_named = path.file_name().is_some_and(|name| name == NAME);
    match path.into_os_string().into_string() {
        Ok(path) if is_named => Ok(path),
        _ => Err(Failure::text(
            REFUSED,
            "this program isn't called `stockade`, or lies where its path isn't text: settings couldn't name it",
        )),
    }
}

fn is_same(path: &Path, own: &Path) -> bool {
    match (fs::canonicalize(path), fs::canonicalize(own)) {
        (Ok(path), Ok(own)) => path == own,
        _ => false,
    }
}

/// A profile as settings name it: it has to exist, and a file is named by its whole path.
pub fn profile(name: &str) -> Result<String, Failure> {
    let name = match name.contains('/') {
        true => {
            let path = std::path::absolute(name).map_err(|error| Failure::new(REFUSED, &error))?;
            path.to_string_lossy().into_owned()
        }
        false => name.to_string(),
    };
    Sandbox::profile(&name)?;
    Ok(name)
}

//! The caller's environment for a run: directories, variables. Read once, before the policy.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::command::is_below_base;
use crate::custody;
use crate::policy::{Access, Grant, PARENTS_OF_HOMES, Policy};
use crate::real_path::{Walker, is_absence, is_closed_to_us, is_there, real_path};
use crate::user_database::UserDatabase;

/// The most entries of one `PATH` directory to examine.
const MAX_ENTRIES: usize = 4096;

/// Where configuration and state are below a home, unless variables move them.
const USUAL: [&str; 2] = [".config", ".local/state"];

/// The caller's directories and variables.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The caller's working directory.
    pub directory: PathBuf,
    /// The caller's home, if it has one, with links resolved.
    pub home: Option<PathBuf>,
    /// The home as written in `HOME`.
    pub named_home: Option<PathBuf>,
    /// The caller's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// `$XDG_CONFIG_HOME/stockade`.
    pub configuration: Option<PathBuf>,
    /// `$XDG_STATE_HOME/stockade`.
    pub state: Option<PathBuf>,
    /// The parent directory of the runs' scratch directories.
    pub scratch: PathBuf,
    /// The machine's users.
    pub users: UserDatabase,
}

impl Surroundings {
    /// Reads them from this process.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn here() -> io::Result<Surroundings> {
        let named = env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute() && home != Path::new("/"));
        let home = named.clone().map(|home| fs::canonicalize(&home).unwrap_or(home));
        let base = |variable: &str, default: &str| {
            env::var_os(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| home.as_ref().map(|home| home.join(default)))
                .map(|path| path.join("stockade"))
        };
        let configuration = base("XDG_CONFIG_HOME", USUAL[0]);
        if let Some(directory) = &configuration {
            custody::of_directory(directory).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied => unseen(directory, &error),
                _ => error,
            })?;
        }
        let state = base("XDG_STATE_HOME", USUAL[1]);
        Ok(Surroundings {
            directory: env::current_dir().map_err(no_directory)?,
            named_home: named,
            configuration,
            scratch: crate::launch::parent_of_scratch(state.as_deref()),
            state,
            environment: env::vars_os().collect(),
            home,
            users: UserDatabase::here(),
        })
    }

    /// One of the caller's variables.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        self.environment
            .iter()
            .find(|(candidate, _)| candidate == OsStr::new(name))
            .map(|(_, value)| value.clone())
    }

    /// The directory of the user's profiles.
    pub fn profiles(&self) -> Option<PathBuf> {
        self.configuration.as_ref().map(|directory| directory.join("profiles"))
    }

    /// The user's list of language models, which may be absent.
    pub fn models(&self) -> Option<PathBuf> {
        self.configuration
            .as_ref()
            .map(|directory| directory.join("models.toml"))
    }

    /// Whether a directory is a home, contains the caller's, or is `/`: too wide for a root that the user didn't
    /// name. `HOME` may be unset or another directory, as in services, so the user database counts too.
    #[must_use]
    pub fn holds_home(&self, directory: &Path) -> bool {
        let is_in_parent = |home: &Path| {
            let parent = home.parent();
            PARENTS_OF_HOMES.iter().any(|known| parent == Some(Path::new(known)))
        };
        let is_home_of_another =
            |home: &PathBuf| (is_in_parent(home) || home == Path::new("/root")) && real_path(home) == directory;
        directory == Path::new("/")
            || self.homes().any(|home| home.starts_with(directory))
            || self.users.homes().iter().any(is_home_of_another)
    }

    /// The caller's homes: by `HOME`, and by the user database, where another start of Stockade would find it.
    fn homes(&self) -> impl Iterator<Item = PathBuf> {
        let of_database = self.users.home_of(nix::unistd::geteuid().as_raw());
        self.home
            .iter()
            .cloned()
            .chain(of_database.map(|home| real_path(&home)))
    }

    /// Stockade's own directories, which no run may read or write, and the targets elsewhere of links in the
    /// configuration. Those of the caller's homes count where variables name others: the next start may be without them.
    ///
    /// # Errors
    /// The configuration can't be listed.
    pub fn own(&self) -> io::Result<Vec<PathBuf>> {
        let mut own: Vec<_> = self.configuration.iter().chain(&self.state).cloned().collect();
        let usual = self
            .homes()
            .flat_map(|home| USUAL.map(|below| home.join(below).join("stockade")));
        own.extend(usual.collect::<Vec<_>>());
        own.sort();
        own.dedup();
        let is_outside = !own.iter().any(|own| self.scratch.starts_with(own));
        own.extend(is_outside.then(|| self.scratch.clone()));
        for directory in self.configuration.iter().cloned().chain(self.profiles()) {
            let entries = entries(&directory)?.into_iter();
            own.extend(entries.filter(is_link).map(|entry| entry.path()));
        }
        Ok(own)
    }

    /// The programs that the user starts by name: Stockade's own program with the link that it was started by, and, in
    /// a home that a run may be allowed to write, the directories of `PATH` with the targets of links in them. Excludes
    /// paths in the run's root or above it, which the run works on.
    pub fn programs(&self, root: &Path, walker: &mut Walker) -> Vec<PathBuf> {
        let is_around = |real: &Path| {
            let is_of_root = |home: &Path| real.starts_with(root) && !home.starts_with(root);
            self.home.as_deref().is_some_and(is_of_root) || root.starts_with(real)
        };
        let search_path = self.variable("PATH").unwrap_or_default();
        let directories: Vec<(PathBuf, PathBuf)> = env::split_paths(&search_path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| (walker.walk(&directory).real, directory))
            .collect();
        let mut programs: Vec<PathBuf> = env::current_exe().into_iter().collect();
        programs.extend(self.started_by(&directories));
        for (real, directory) in directories {
            let is_users = self
                .home
                .as_ref()
                .is_some_and(|home| real.starts_with(home) && real != *home);
            if !is_users || is_around(&real) {
                continue;
            }
            let children = walker.some_children(&real, MAX_ENTRIES);
            let links = children.iter().filter(|child| child.is_link);
            let links = links.map(|child| real.join(&child.name));
            programs.extend(links.filter(|link| {
                let leads_to = walker.walk(link).real;
                !is_around(&leads_to) && !is_below_base(&leads_to)
            }));
            programs.push(directory);
        }
        programs
    }

    /// The link that this process was started by, if any.
    fn started_by(&self, directories: &[(PathBuf, PathBuf)]) -> Option<PathBuf> {
        let name = PathBuf::from(env::args_os().next()?);
        let path = match name.components().count() {
            1 => directories
                .iter()
                .map(|(_, directory)| directory.join(&name))
                .find(|path| path.is_file())?,
            _ => self.directory.join(name),
        };
        (real_path(&path) != path).then_some(path)
    }

    /// Creates the user's configuration directory if a run could otherwise create it first. The run's denials refuse
    /// that already, but an existing directory can't be replaced by another either.
    pub fn keep_place_of_configuration(&self, policy: &Policy) {
        let is_written = |grant: &Grant| grant.access.contains(Access::WRITE);
        let configuration = self.configuration.iter();
        configuration.for_each(|directory| make_where_granted(directory, policy, is_written));
    }

    /// Makes the places of Stockade's own that lie in a granted tree and aren't there: made later, they would be in a tree that was
    /// looked through without them.
    pub fn keep_own_places(&self, policy: &Policy) {
        let own = self.configuration.iter().chain(&self.state).chain([&self.scratch]);
        own.for_each(|directory| make_where_granted(directory, policy, Grant::is_chosen));
    }
}

/// Makes a directory of Stockade's own that isn't there, if a grant that counts covers it.
fn make_where_granted(directory: &Path, policy: &Policy, counts: impl Fn(&Grant) -> bool) {
    let real = real_path(directory);
    let is_granted = policy.grants.iter().any(|grant| counts(grant) && grant.covers(&real));
    let is_absent = is_there(directory).is_ok_and(|is_there| !is_there);
    // A directory that the next start would refuse doesn't help.
    if is_granted && is_absent && custody::of_path(directory).is_ok() {
        // The denials still apply if this fails.
        let _ = crate::custody::make_private(directory);
    }
}

fn is_link(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_symlink())
}

/// Lists a directory of Stockade's own. One that doesn't exist, or that an outer run closes, counts as empty.
fn entries(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(error) if is_absence(&error) || is_closed_to_us(directory, &error) => Ok(Vec::new()),
        Err(error) => Err(unseen(directory, &error)),
    }
}

/// A directory that can't be accessed isn't absent.
fn no_directory(error: io::Error) -> io::Error {
    let text = match error.kind() {
        io::ErrorKind::NotFound => "the current directory was removed".into(),
        _ => format!("the current directory can't be told: {error}"),
    };
    io::Error::new(error.kind(), text)
}

fn unseen(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("can't look into `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stockades_own_places_are_closed_in_the_users_home_without_its_variable() {
        let users = UserDatabase::here();
        let Some(home) = users.home_of(nix::unistd::geteuid().as_raw()) else {
            return;
        };
        let surroundings = Surroundings {
            directory: "/".into(),
            home: None,
            named_home: None,
            environment: Vec::new(),
            configuration: None,
            state: None,
            scratch: "/var/tmp/scratch".into(),
            users,
        };
        let own = surroundings.own().unwrap();
        let home = real_path(&home);
        for below in [".config/stockade", ".local/state/stockade"] {
            assert!(own.contains(&home.join(below)), "{below}: {own:?}");
        }
        assert!(surroundings.holds_home(&home) && surroundings.holds_home(Path::new("/")));
        assert!(!surroundings.holds_home(&home.join("project")));
    }
}

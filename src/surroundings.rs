//! What a run takes from its caller: directories, variables, the name for commits. Read once, before the policy.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::policy::{Access, Grant, Policy};
use crate::real_path::{Walker, real_path};

/// The caller's world.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directory that the caller is in.
    pub directory: PathBuf,
    /// The caller's home, where it has one.
    pub home: Option<PathBuf>,
    /// The caller's environment.
    pub environment: Vec<(OsString, OsString)>,
    /// `$XDG_CONFIG_HOME/stockade`.
    pub configuration: Option<PathBuf>,
    /// `$XDG_STATE_HOME/stockade`.
    pub state: Option<PathBuf>,
}

impl Surroundings {
    /// Reads them from this process.
    pub fn here() -> io::Result<Surroundings> {
        let home = env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute() && home != Path::new("/"))
            .map(|home| fs::canonicalize(&home).unwrap_or(home));
        let base = |variable: &str, default: &str| {
            env::var_os(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| home.as_ref().map(|home| home.join(default)))
                .map(|path| path.join("stockade"))
        };
        let configuration = base("XDG_CONFIG_HOME", ".config");
        if let Some(directory) = &configuration {
            refuse_hands_of_others(directory)?;
        }
        Ok(Surroundings {
            directory: env::current_dir()?,
            configuration,
            state: base("XDG_STATE_HOME", ".local/state"),
            environment: env::vars_os().collect(),
            home,
        })
    }

    /// One of the caller's variables.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        self.environment
            .iter()
            .find(|(candidate, _)| candidate == OsStr::new(name))
            .map(|(_, value)| value.clone())
    }

    /// Where the user's profiles are.
    pub fn profiles(&self) -> Option<PathBuf> {
        self.configuration.as_ref().map(|directory| directory.join("profiles"))
    }

    /// Where the user's list of language models is, which needn't exist.
    pub fn models(&self) -> Option<PathBuf> {
        self.configuration
            .as_ref()
            .map(|directory| directory.join("models.toml"))
    }

    /// Stockade's own directories, which no run may read or write, and the files elsewhere that links in the
    /// configuration lead to.
    pub fn own(&self) -> Vec<PathBuf> {
        let homeless = self.state.is_none().then(crate::launch::scratch_without_home);
        let mut own: Vec<_> = self.configuration.iter().chain(&self.state).cloned().collect();
        own.extend(homeless);
        for directory in self.configuration.iter().cloned().chain(self.profiles()) {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
            own.extend(links.map(|entry| entry.path()));
        }
        own
    }

    /// What the user starts by name, in a home that a run may be allowed to write: Stockade's own program, and the
    /// directories of `PATH`, but for those in the run's root, or around it, which the run works on.
    pub fn programs(&self, root: &Path) -> Vec<PathBuf> {
        let search_path = self.variable("PATH").unwrap_or_default();
        let is_users = |directory: &PathBuf| {
            let home = self.home.as_deref().filter(|home| directory.starts_with(home));
            home.is_some_and(|home| {
                let is_of_root = directory.starts_with(root) && !home.starts_with(root);
                directory != home && !is_of_root && !root.starts_with(directory)
            })
        };
        let directories = env::split_paths(&search_path).filter(is_users);
        env::current_exe().into_iter().chain(directories).collect()
    }

    /// Makes the directory of the user's configuration where a run could otherwise be the first to make it. Its denials
    /// refuse that already; a directory that is there can't be replaced by another either.
    pub fn keep_place_of_configuration(&self, policy: &Policy) {
        let Some(directory) = &self.configuration else {
            return;
        };
        let real = real_path(directory);
        let is_written = |grant: &Grant| grant.access.contains(Access::WRITE) && grant.covers(&real);
        if policy.grants.iter().any(is_written) && fs::symlink_metadata(directory).is_err() {
            // Where that fails nothing less holds.
            let _ = crate::launch::make_private(directory);
        }
    }

    /// The user's name and e-mail for commits, as git's variables: a run that has a home of its own doesn't see
    /// the user's git configuration.
    pub fn git_identity(&self) -> Vec<(OsString, OsString)> {
        let files = [
            self.home.as_ref().map(|home| home.join(".gitconfig")),
            self.configuration.as_ref().map(|own| own.with_file_name("git/config")),
        ];
        let text: String = files
            .iter()
            .flatten()
            .filter_map(|file| fs::read_to_string(file).ok())
            .collect::<Vec<_>>()
            .join("\n");
        let mut variables = Vec::new();
        for (key, suffix) in [("name", "NAME"), ("email", "EMAIL")] {
            for role in ["AUTHOR", "COMMITTER"] {
                let variable = format!("GIT_{role}_{suffix}");
                let value = self
                    .variable(&variable)
                    .or_else(|| user_setting(&text, key).map(OsString::from));
                variables.extend(value.map(|value| (OsString::from(variable), value)));
            }
        }
        variables
    }
}

/// That no other user could have put this configuration here: it may name programs that run unconfined. Each directory
/// on the way belongs to the caller or to root, and so does each link; others may write in it only where it is sticky.
/// One that isn't there holds nothing.
fn refuse_hands_of_others(configuration: &Path) -> io::Result<()> {
    if fs::metadata(configuration).is_err() {
        return Ok(());
    }
    let walked = Walker::default().walk(configuration);
    let files = ["config.toml", "models.toml", "profiles"].map(|name| configuration.join(name));
    let files = files.iter().filter(|file| file.exists()).map(|file| real_path(file));
    let places = walked.links.into_iter().chain([walked.real]).chain(files);
    for path in places.flat_map(|place| place.ancestors().map(Path::to_path_buf).collect::<Vec<_>>()) {
        let metadata = fs::symlink_metadata(&path)?;
        if let Some(fault) = fault_of(&metadata) {
            return Err(io::Error::other(format!(
                "the configuration in `{}` isn't used, since `{}` {fault}; give it back to yourself (chown, chmod go-w) \
                 and look at what is in there",
                configuration.display(),
                path.display()
            )));
        }
    }
    Ok(())
}

fn fault_of(metadata: &fs::Metadata) -> Option<&'static str> {
    // What root owns outside of a user namespace has this number inside (user_namespaces(7)).
    const OVERFLOW: u32 = 65534;
    let is_ours = [0, OVERFLOW, nix::unistd::geteuid().as_raw()].contains(&metadata.uid());
    let is_sticky = metadata.is_dir() && metadata.mode() & libc::S_ISVTX != 0;
    let own_group = [0, nix::unistd::getegid().as_raw()].contains(&metadata.gid());
    let mode = if metadata.is_symlink() { 0 } else { metadata.mode() };
    if !is_ours {
        Some("belongs to another user")
    } else if is_sticky {
        None
    } else if mode & 0o002 != 0 || mode & 0o020 != 0 && !own_group {
        Some("may be written by other users")
    } else {
        None
    }
}

/// `key` of the section `[user]`, the last one wins (git-config(1)). Includes aren't followed.
fn user_setting(text: &str, key: &str) -> Option<String> {
    let mut in_user = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            in_user = line.eq_ignore_ascii_case("[user]");
        } else if in_user
            && let Some((name, value)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case(key)
        {
            let value = value.split(['#', ';']).next().unwrap_or_default();
            found = Some(value.trim().trim_matches('"').to_string());
        }
    }
    found.filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_user_section_names_the_committer() {
        let text = "[core]\nname = no\n[user]\n\tname = \"Ada L\" # me\n[User]\nemail=a@b.c\n[user]\nName = Bo\n";
        assert_eq!(user_setting(text, "name").as_deref(), Some("Bo"));
        assert_eq!(user_setting(text, "email").as_deref(), Some("a@b.c"));
        assert_eq!(user_setting("[user]\n", "name"), None);
    }
}

//! What a run takes from its caller: directories, variables, the name for commits. Read once, before the policy.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

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
    pub fn here() -> std::io::Result<Surroundings> {
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
        Ok(Surroundings {
            directory: env::current_dir()?,
            configuration: base("XDG_CONFIG_HOME", ".config"),
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

    /// Stockade's own directories, which no run may read or write.
    pub fn own(&self) -> Vec<PathBuf> {
        let homeless = self.state.is_none().then(crate::launch::scratch_without_home);
        self.configuration
            .iter()
            .chain(&self.state)
            .cloned()
            .chain(homeless)
            .collect()
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

//! The homes of the user database.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::policy::PARENTS_OF_HOMES;

/// The most homes that are read.
const MAX_HOMES: usize = 256;

/// The text of a passwd(5), read once for all questions.
#[derive(Debug, Clone, Default)]
pub struct UserDatabase(Vec<u8>);

impl UserDatabase {
    /// This machine's.
    pub fn here() -> UserDatabase {
        UserDatabase::read("/etc/passwd".as_ref())
    }

    /// A file's. One that can't be read names no user.
    pub fn read(file: &Path) -> UserDatabase {
        UserDatabase(fs::read(file).unwrap_or_default())
    }

    /// The homes, without placeholders such as `/nonexistent`.
    pub fn homes(&self) -> Vec<PathBuf> {
        let user = nix::unistd::geteuid().to_string();
        let is_home = |(id, home): &(&[u8], &Path)| {
            let is_ours = *home == Path::new("/") && *id == user.as_bytes();
            is_ours || may_be_home(home)
        };
        let homes: BTreeSet<&Path> = self.users().filter(is_home).map(|(_, home)| home).collect();
        homes.into_iter().take(MAX_HOMES).map(Path::to_path_buf).collect()
    }

    /// The caller's own, and those in the usual places: no service has its home there.
    pub fn homes_of_persons(&self) -> Vec<PathBuf> {
        let own = self.home_of(nix::unistd::geteuid().as_raw());
        let is_persons = |home: &PathBuf| {
            let is_in = |parent: &&str| home.parent() == Some(Path::new(parent));
            own.as_ref() == Some(home) || PARENTS_OF_HOMES.iter().any(is_in)
        };
        let mut homes = self.homes();
        homes.retain(is_persons);
        homes
    }

    /// The home of a user.
    pub fn home_of(&self, user: u32) -> Option<PathBuf> {
        let user = user.to_string();
        let is_one =
            |(id, home): &(&[u8], &Path)| *id == user.as_bytes() && home.is_absolute() && *home != Path::new("/");
        self.users().find(is_one).map(|(_, home)| home.to_path_buf())
    }

    /// The id and home of each user.
    fn users(&self) -> impl Iterator<Item = (&[u8], &Path)> {
        self.0.split(|byte| *byte == b'\n').filter_map(|line| {
            let mut fields = line.split(|byte| *byte == b':').skip(2);
            let (id, home) = (fields.next()?, fields.nth(2)?);
            Some((id, Path::new(OsStr::from_bytes(home))))
        })
    }
}

/// Whether it may contain a person's or a service's files rather than the machine's.
fn may_be_home(path: &Path) -> bool {
    const NEVER: [&str; 8] = ["bin", "sbin", "usr", "dev", "proc", "sys", "run", "nonexistent"];
    let mut components = path.components();
    let is_never = |name: &OsStr| NEVER.iter().any(|never| name == *never);
    components.next() == Some(Component::RootDir) && components.next().is_some_and(|first| !is_never(first.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_database_tells_a_home_that_no_variable_does() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("passwd");
        fs::write(
            &file,
            "# users\nroot:x:0:0::/root:/bin/sh\nada:x:1000:1000:Ada:/home/ada:/bin/sh\nbo:x:7:7::/:\n\
             games:x:5:60::/usr/games:\nnobody:x:65534:65534::/nonexistent:\nq:x:9:9::/usrs/q:\nr:x:8:8::home/r:\n",
        )
        .unwrap();
        let users = UserDatabase::read(&file);
        assert_eq!(users.home_of(1000), Some("/home/ada".into()));
        assert_eq!(users.home_of(7), None);
        assert_eq!(users.home_of(1), None);
        assert!(users.homes_of_persons().contains(&"/home/ada".into()));
        assert!(!users.homes_of_persons().contains(&"/usrs/q".into()));
        assert_eq!(users.homes(), ["/home/ada", "/root", "/usrs/q"].map(PathBuf::from));
    }
}

//! The homes of the user database.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The most homes that are read.
const MOST_HOMES: usize = 256;

/// The homes in passwd(5), without placeholders such as `/nonexistent`.
pub fn of_user_database(file: &Path) -> Vec<PathBuf> {
    let text = fs::read(file).unwrap_or_default();
    let user = nix::unistd::geteuid().to_string();
    let home = |line: &[u8]| -> Option<PathBuf> {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let home = Path::new(OsStr::from_bytes(fields.get(5)?));
        let is_ours = home == Path::new("/") && fields[2] == user.as_bytes();
        (is_ours || may_be_home(home)).then(|| home.to_path_buf())
    };
    let homes: BTreeSet<PathBuf> = text.split(|byte| *byte == b'\n').filter_map(home).collect();
    homes.into_iter().take(MOST_HOMES).collect()
}

/// The home of a user in passwd(5).
pub fn home_of_user(file: &Path, user: u32) -> Option<PathBuf> {
    let text = fs::read(file).unwrap_or_default();
    let user = user.to_string();
    text.split(|byte| *byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let home = Path::new(OsStr::from_bytes(fields.get(5)?));
        let is_one = home.is_absolute() && home != Path::new("/");
        (fields[2] == user.as_bytes() && is_one).then(|| home.to_path_buf())
    })
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
        assert_eq!(
            of_user_database(&file),
            ["/home/ada", "/root", "/usrs/q"].map(PathBuf::from)
        );
        assert_eq!(home_of_user(&file, 1000), Some("/home/ada".into()));
        assert_eq!(home_of_user(&file, 7), None);
        assert_eq!(home_of_user(&file, 1), None);
    }
}

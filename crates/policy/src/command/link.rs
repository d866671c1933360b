//! The symbolic links between the path that a program is started by and its file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::real_path::Walker;

/// The most links to follow; the kernel gives up after as many (path_resolution(7)).
pub(super) const MAX_LINKS: usize = 40;

/// Each path of the program, from the given one to its file. The directory of every one has no links, so that `..` and
/// prefixes mean what they seem to.
pub(super) fn hops(path: &Path, walker: &mut Walker) -> Vec<PathBuf> {
    let mut hops: Vec<PathBuf> = Vec::new();
    let mut next = path.to_owned();
    while hops.len() <= MAX_LINKS {
        let Some(hop) = in_real_directory(&next, walker) else {
            break;
        };
        let target = fs::read_link(&hop);
        let directory = hop.parent().map(Path::to_owned).unwrap_or_default();
        if hops.contains(&hop) {
            break;
        }
        hops.push(hop);
        match target {
            Ok(target) => next = directory.join(target),
            Err(_) => break,
        }
    }
    hops
}

fn in_real_directory(path: &Path, walker: &mut Walker) -> Option<PathBuf> {
    let directory = walker.canonical(path.parent()?)?;
    match path.file_name() {
        Some(name) => Some(directory.join(name)),
        None => walker.canonical(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_link_is_a_hop_and_directories_are_real() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let base = fs::canonicalize(scratch.path()).expect("its real name");
        fs::create_dir_all(base.join("v1/bin")).expect("a directory");
        fs::write(base.join("v1/bin/node"), "").expect("a file");
        symlink("v1", base.join("current")).expect("a link to a directory");
        symlink("current/bin/node", base.join("node")).expect("a link to a file");
        assert_eq!(
            hops(&base.join("node"), &mut Walker::default()),
            [base.join("node"), base.join("v1/bin/node")]
        );
    }

    #[test]
    fn a_circle_and_a_dangling_link_end() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let base = fs::canonicalize(scratch.path()).expect("its real name");
        symlink("b", base.join("a")).expect("a link");
        symlink("a", base.join("b")).expect("a link");
        symlink("nowhere", base.join("c")).expect("a link");
        assert_eq!(
            hops(&base.join("a"), &mut Walker::default()),
            [base.join("a"), base.join("b")]
        );
        assert_eq!(
            hops(&base.join("c"), &mut Walker::default()),
            [base.join("c"), base.join("nowhere")]
        );
    }
}

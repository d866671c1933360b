//! Where closed places really are. A closed name may be a symbolic link, or lie behind one: what it leads to is closed
//! under its own name too, also where it is still to be made, and the links on the way are kept as they are, or the
//! closed name would soon lead elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::policy::{Access, Denial, DenialKind, Target};
use crate::real_path::Walker;

/// The denials that links on this machine add.
pub(super) fn behind_links(denials: &[Denial]) -> Vec<Denial> {
    let mut walker = Walker::default();
    let mut added = Vec::new();
    let mut kept = BTreeSet::new();
    for denial in denials {
        let Some((place, rest)) = split(&denial.target) else {
            continue;
        };
        let walked = walker.walk(&place);
        if walked.real != place {
            added.push(Denial {
                target: joined(walked.real, rest),
                ..denial.clone()
            });
        }
        for link in walked.links {
            if denial.access.intersects(Access::CHANGE) && kept.insert(link.clone()) {
                added.push(link_on_the_way(denial, link));
            }
        }
    }
    added
}

/// Only the user makes such a link lead elsewhere. Reading it is reading what it leads to, which has its own denial.
fn link_on_the_way(denial: &Denial, link: PathBuf) -> Denial {
    Denial {
        target: Target::Path(link),
        access: Access::CHANGE,
        kind: DenialKind::Guarded,
        origin: denial.origin.clone(),
    }
}

/// The place of a denial that has one, and the rest of its glob.
fn split(target: &Target) -> Option<(PathBuf, Option<String>)> {
    match target {
        Target::Path(path) => Some((path.clone(), None)),
        Target::Glob { below, glob } => {
            let literal = Target::literal_parts(glob);
            let place = glob
                .split('/')
                .take(literal)
                .fold(below.clone(), |path, part| path.join(part));
            let rest: Vec<_> = glob.split('/').skip(literal).collect();
            (place != Path::new("/")).then(|| (place, Some(rest.join("/"))))
        }
        Target::GitDirectories | Target::AllBut { .. } => None,
    }
}

fn joined(real: PathBuf, rest: Option<String>) -> Target {
    match rest {
        None => Target::Path(real),
        Some(glob) => Target::Glob { below: real, glob },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::profile::Origin;

    /// What links in a directory make of a closed name in it.
    fn added(links: &[(&str, &str)], directories: &[&str], closed: &str) -> Vec<(String, Access)> {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        directories
            .iter()
            .for_each(|name| fs::create_dir_all(place.join(name)).unwrap());
        for (link, target) in links {
            symlink(target, place.join(link)).unwrap();
        }
        let target = match closed.split_once(':') {
            Some((below, glob)) => Target::Glob {
                below: place.join(below),
                glob: glob.into(),
            },
            None => Target::Path(place.join(closed)),
        };
        let denial = Denial {
            target,
            access: Access::WRITING,
            kind: DenialKind::SecretName,
            origin: Origin::BuiltIn,
        };
        let name = |path: &Path| path.strip_prefix(&place).unwrap().display().to_string();
        let shown = |denial: &Denial| match &denial.target {
            Target::Path(path) => name(path),
            Target::Glob { below, glob } => format!("{}:{glob}", name(below)),
            other => format!("{other:?}"),
        };
        let denials = behind_links(&[denial]);
        denials.iter().map(|denial| (shown(denial), denial.access)).collect()
    }

    fn closed(name: &str) -> (String, Access) {
        (name.into(), Access::WRITING)
    }

    fn kept(name: &str) -> (String, Access) {
        (name.into(), Access::CHANGE)
    }

    #[test]
    fn what_a_link_leads_to_is_closed_and_the_link_is_kept() {
        assert_eq!(added(&[], &["a"], "a/b"), []);
        assert_eq!(added(&[("a", "d")], &["d"], "a/b"), [closed("d/b"), kept("a")]);
        assert_eq!(
            added(&[("a", "absent/x")], &[], "a/b"),
            [closed("absent/x/b"), kept("a")]
        );
        let chain = [("a", "one/l"), ("one/l", "../two/l"), ("two/l", "../three")];
        assert_eq!(
            added(&chain, &["one", "two", "three/b"], "a/b/c"),
            [closed("three/b/c"), kept("a"), kept("one/l"), kept("two/l")]
        );
        assert_eq!(added(&[("d/b", "../e")], &["d"], "d/b"), [closed("e"), kept("d/b")]);
    }

    #[test]
    fn a_glob_with_a_place_is_closed_behind_a_link_too() {
        assert_eq!(
            added(&[("out", "real")], &["real"], ":out/*.json"),
            [closed("real:*.json"), kept("out")]
        );
        assert_eq!(added(&[("out", "real")], &["real"], "d:*.json"), []);
    }

    #[test]
    fn links_that_lead_in_a_circle_end() {
        let found = added(&[("a", "b"), ("b", "a")], &[], "a/c");
        assert!(found.contains(&kept("a")) && found.contains(&kept("b")), "{found:?}");
    }
}

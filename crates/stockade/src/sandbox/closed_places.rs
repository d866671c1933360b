//! The real locations of closed places. A closed name may be a symbolic link, or lie behind one: the target is closed
//! under its own name too, also if it doesn't exist yet, and the links on the way are protected from change, or the
//! closed name would soon lead elsewhere.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::Glob;

use super::Error;
use super::homes;
use super::links_inside::LinksInside;
use super::mounts::{Mounts, Shown};
use super::outside::guarded;
use super::repositories::Repositories;
use crate::kernel;
use crate::plan::SupervisorAbility;
use crate::policy::{
    Access, Closing, DenialKind, DenialRule, Entry, Grant, Listed, Policy, Target, git_directory, paths_of_machine,
};
use crate::profile::Origin;
use crate::real_path::Walker;
use crate::surroundings::Surroundings;

/// The most links that the wildcards of one run may match.
const MAX_LINKS: usize = 4096;

/// The denials that protect the links on the way to a place.
pub(super) fn links_to(place: &Path, walker: &mut Walker) -> Vec<DenialRule> {
    let links = walker.walk(place).links;
    let kept = |link| link_on_the_way(&Origin::BuiltIn, link);
    links.into_iter().map(kept).collect()
}

/// Adds to a policy's denials those for links and other mounts on this machine.
///
/// # Errors
/// A directory of the user's own can't be searched: a run could open it, and its links' targets are unknown. Wildcards
/// match too many links.
pub(super) fn complete(policy: &mut Policy, surroundings: &Surroundings, walker: &mut Walker) -> Result<(), Error> {
    let mounts = Mounts::here();
    let is_inside = kernel::supervisor() == SupervisorAbility::Outer;
    let of_list = |denial: &DenialRule| match &denial.target {
        Target::Listed(listed) => Some((listed.clone(), denial.clone())),
        _ => None,
    };
    let lists: Vec<(Listed, DenialRule)> = policy.denials.iter().filter_map(of_list).collect();
    let mut named: Vec<_> = policy
        .denials
        .iter()
        .filter(|denial| has_name(denial))
        .cloned()
        .collect();
    let is_written = |grant: &&Grant| grant.is_chosen() && grant.access.intersects(Access::CHANGE);
    let written = policy.grants.iter().filter(is_written).map(|grant| grant.path.clone());
    let written: BTreeSet<PathBuf> = written.collect();
    let is_root_written = policy
        .grants
        .iter()
        .any(|grant| grant.access.intersects(Access::CHANGE) && grant.covers(&policy.root));
    let trees: BTreeSet<PathBuf> = policy.tops().map(Path::to_path_buf).collect();
    let repositories: Vec<Repositories> = trees.iter().map(|tree| Repositories::of(tree, walker)).collect();
    let (looking, own) = homes::looking(surroundings);
    for of_tree in &repositories {
        if is_root_written || written.contains(&of_tree.tree) {
            let mut elsewhere = of_tree.elsewhere(&own, &trees, walker, &mounts)?;
            elsewhere.retain(|denial| !is_opened(denial, policy));
            policy.denials.extend(elsewhere);
        }
    }
    // All lists of a policy have the same entries.
    if let Some((first, _)) = lists.first() {
        let mut inside = LinksInside::new(&policy.root, &own, &first.open);
        let (entries, links) = homes::elsewhere(&first.entries, (looking, &mut inside), walker, &mounts);
        if looking == homes::HomesLookedAt::All {
            for of_tree in &repositories {
                inside.add_of_tree(of_tree, walker);
            }
        }
        for (list, place) in inside.targets {
            let of_list = lists.iter().filter(|(listed, _)| listed.list == list);
            let closed: Vec<_> = of_list.map(|(_, denial)| closed_at(denial, place.clone())).collect();
            named.extend(closed.iter().cloned());
            policy.denials.extend(closed);
        }
        let kept = links
            .into_iter()
            .chain(inside.links)
            .map(|link| link_on_the_way(&Origin::BuiltIn, link));
        policy.denials.extend(kept);
        let entries: Arc<[Entry]> = entries.into();
        for denial in &mut policy.denials {
            if let Target::Listed(listed) = &mut denial.target {
                listed.entries = Arc::clone(&entries);
            }
        }
    }
    for (listed, denial) in &lists {
        let of_machine = paths_of_machine(listed.list).into_iter();
        let closing = Closing::new(listed);
        let parts = mounts.parts().filter(|(root, _)| closing.closes_by_name(root));
        let parts: Vec<_> = parts.map(|(_, place)| place.to_path_buf()).collect();
        let at = |place: PathBuf| closed_at(denial, place);
        policy.denials.extend(parts.into_iter().map(at));
        let of_others = of_machine.clone().flat_map(|path| mounts.of_other_machines(&path));
        policy.denials.extend(of_others.map(at));
        // In a nested run the outer run has closed them, and refuses to read links on the way.
        if !is_inside {
            named.extend(of_machine.map(at));
        }
    }
    let behind = behind_links(&named, walker)?;
    named.extend(behind.iter().cloned());
    policy.denials.extend(behind);
    if !mounts.show_nothing_twice() {
        policy
            .denials
            .extend(named.iter().flat_map(|denial| shown_elsewhere(denial, &mounts)));
    }
    Ok(())
}

/// Whether a person opened what a denial closes by a path outside of any `.git`, or a directory above it.
fn is_opened(denial: &DenialRule, policy: &Policy) -> bool {
    matches!(&denial.target, Target::Path(path) if git_directory(path).is_none() && policy.opens_guarded(path))
}

/// Whether the denial has a name that links may lead away from.
fn has_name(denial: &DenialRule) -> bool {
    matches!(denial.target, Target::Path(_) | Target::Glob { .. })
}

/// The denial, for a path.
fn closed_at(denial: &DenialRule, place: PathBuf) -> DenialRule {
    DenialRule {
        target: Target::Path(place),
        ..denial.clone()
    }
}

/// The denial, at the other paths of its place.
fn shown_elsewhere(denial: &DenialRule, mounts: &Mounts) -> Vec<DenialRule> {
    let Some((place, rest)) = split(&denial.target) else {
        return Vec::new();
    };
    let is_any_depth = rest.as_ref().is_none_or(|rest| rest.starts_with("**"));
    let shown = mounts.showing(&place).into_iter();
    let shown = shown.filter(|shown| is_any_depth || shown.part.as_os_str().is_empty());
    let at = |shown: Shown| DenialRule {
        target: joined(shown.place, rest.clone()),
        ..denial.clone()
    };
    shown.map(at).collect()
}

/// The denials that links on this machine add.
///
/// # Errors
/// See [`complete`].
pub(super) fn behind_links(denials: &[DenialRule], walker: &mut Walker) -> Result<Vec<DenialRule>, Error> {
    let mut added = Vec::new();
    let mut kept = BTreeSet::new();
    for denial in denials {
        let Some((place, rest)) = split(&denial.target) else {
            continue;
        };
        let walked = walker.walk(&place);
        if walked.real != place {
            added.push(DenialRule {
                target: joined(walked.real, rest),
                ..denial.clone()
            });
        }
        for link in walked.links {
            if denial.access.intersects(Access::CHANGE) && kept.insert(link.clone()) {
                added.push(link_on_the_way(&denial.origin, link));
            }
        }
    }
    let mut budget = MAX_LINKS;
    for denial in denials {
        for (closed, links) in behind_wildcards(denial, walker, &mut budget)? {
            added.push(closed);
            for link in links {
                if denial.access.intersects(Access::CHANGE) && kept.insert(link.clone()) {
                    added.push(link_on_the_way(&denial.origin, link));
                }
            }
        }
    }
    match walker.take_unseen() {
        Some((path, error)) => Err(Error::Surroundings(io::Error::new(
            error.kind(),
            format!(
                "can't look at `{}`, where something closed may be: {error}",
                path.display()
            ),
        ))),
        None => Ok(added),
    }
}

/// The denials for a person's placed pattern behind links that its wildcards match: `a/*/b` where `a/x` is a link. Each
/// with the links on the way. Up to the first `**`, which may match names at any depth.
fn behind_wildcards(
    denial: &DenialRule,
    walker: &mut Walker,
    budget: &mut usize,
) -> Result<Vec<(DenialRule, Vec<PathBuf>)>, Error> {
    let Target::Glob { below, glob } = &denial.target else {
        return Ok(Vec::new());
    };
    if !matches!(denial.kind, DenialKind::Explicit | DenialKind::Scope) {
        return Ok(Vec::new());
    }
    let parts: Vec<&str> = glob.split('/').collect();
    let mut found = Vec::new();
    let mut ahead = vec![(walker.walk(below).real, 0)];
    // Many links may lead to one large tree.
    let mut seen = BTreeSet::new();
    while let Some((place, at)) = ahead.pop() {
        let Some(part) = parts.get(at).filter(|part| !part.contains("**")) else {
            continue;
        };
        if !seen.insert((place.clone(), at)) {
            continue;
        }
        for path in matches(&place, part) {
            let walked = walker.walk(&path);
            // The literal start was walked before.
            if walked.real != path && at >= Target::literal_parts(glob) {
                *budget = budget.checked_sub(1).ok_or_else(|| Error::ManyLinks {
                    origin: denial.origin.clone(),
                    most: MAX_LINKS,
                })?;
                let closed = DenialRule {
                    target: rest_of(walked.real.clone(), &parts[at + 1..]),
                    ..denial.clone()
                };
                found.push((closed, walked.links));
            }
            ahead.push((walked.real, at + 1));
        }
    }
    Ok(found)
}

/// The directories and links in a directory that a component of a glob matches; without a wildcard, the one that it
/// names.
fn matches(directory: &Path, part: &str) -> Vec<PathBuf> {
    if Target::literal_parts(part) == 1 {
        return vec![directory.join(part)];
    }
    let Ok(glob) = Glob::new(part) else { return Vec::new() };
    let glob = glob.compile_matcher();
    let leads_on = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink());
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| glob.is_match(entry.file_name()) && leads_on(entry))
        .map(|entry| entry.path())
        .collect()
}

fn rest_of(real: PathBuf, rest: &[&str]) -> Target {
    match rest {
        [] | ["**"] => Target::Path(real),
        _ => joined(real, Some(rest.join("/"))),
    }
}

/// Only the user may change such a link. Reading it means reading its target, which has its own denial.
fn link_on_the_way(origin: &Origin, link: PathBuf) -> DenialRule {
    guarded(&link, origin.clone())
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
        Target::GitDirectories | Target::Listed(_) | Target::AllBut { .. } => None,
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
    use std::os::unix::fs::symlink;

    use super::*;

    /// The denials that links in a directory add for a closed name in it.
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
        let denial = DenialRule {
            target,
            access: Access::WRITING,
            kind: DenialKind::Explicit,
            origin: Origin::BuiltIn,
        };
        let name = |path: &Path| path.strip_prefix(&place).unwrap().display().to_string();
        let shown = |denial: &DenialRule| match &denial.target {
            Target::Path(path) => name(path),
            Target::Glob { below, glob } => format!("{}:{glob}", name(below)),
            other => format!("{other:?}"),
        };
        let denials = behind_links(&[denial], &mut Walker::default()).unwrap();
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
    fn what_wildcards_match_is_closed_behind_a_link_too() {
        let directories = ["a/y", "t", "u", "v"];
        let links = [("a/x", "../t"), ("a/y/b", "../../u"), ("t/b", "../v"), ("a/c", "../v")];
        let mut found = added(&links, &directories, "a:[xy]/b/**");
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let mut wanted = [
            closed("t:b/**"),
            kept("a/x"),
            closed("v"),
            kept("t/b"),
            closed("u"),
            kept("a/y/b"),
        ];
        wanted.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, wanted);
        assert_eq!(added(&links, &directories, "a:c*"), [closed("v"), kept("a/c")]);
        assert_eq!(added(&links, &directories, "a:**/b"), []);
    }

    #[test]
    fn however_many_names_a_wildcard_matches_each_link_among_them_is_found_or_the_run_refused() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for number in 0..1500 {
            fs::write(place.join(format!("file{number}")), "").unwrap();
        }
        for link in ["one", "other"] {
            symlink("t", place.join(link)).unwrap();
        }
        let denial = DenialRule {
            target: Target::Glob {
                below: place.clone(),
                glob: "*/x".into(),
            },
            access: Access::READ,
            kind: DenialKind::Explicit,
            origin: Origin::Flag("--deny ./*/x".into()),
        };
        let behind = |mut budget| behind_wildcards(&denial, &mut Walker::default(), &mut budget);
        assert_eq!(behind(2).unwrap().len(), 2);
        let refused = behind(1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the pattern of `--deny ./*/x` matches more than 4096 links"
        );
        assert!(refused.hint().is_some());
    }

    #[test]
    fn links_that_lead_in_a_circle_end() {
        let found = added(&[("a", "b"), ("b", "a")], &[], "a/c");
        assert!(found.contains(&kept("a")) && found.contains(&kept("b")), "{found:?}");
    }
}

//! Folds grants for files into a grant for their directory where most of it was used, and removes duplicates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::used::{RunContext, Wanted};
pub use stockade_report::report::{Flag, FlagGrant, GrantLimits, PathGrant};

/// A directory with fewer used files isn't folded.
const FEWEST_USED: usize = 3;
/// The percentage of a directory's entries that must have been used.
const MAX_OF_IT: usize = 80;
/// More new files than this in one directory become a grant of the directory.
const MAX_MADE: usize = 3;
/// Directories with more entries are never folded.
const MAX_SIZE: usize = 10_000;

/// The fewest grants that cover all uses, ordered by kind and path.
pub(super) fn fold(wanted: &[Wanted], run_context: &RunContext<'_>) -> Vec<FlagGrant> {
    let grant_limits = GrantLimits::new(run_context.policy, run_context.home, run_context.command);
    let mut paths: BTreeSet<(Flag, PathBuf)> = BTreeSet::new();
    let mut others: Vec<FlagGrant> = Vec::new();
    for wanted in wanted {
        match &wanted.grant {
            FlagGrant::Path(grant) => drop(paths.insert((grant.flag, grant.path.clone()))),
            other if others.iter().any(|known| known.covers(other)) => {}
            other => {
                others.retain(|known| !other.covers(known));
                others.push(other.clone());
            }
        }
    }
    let made: BTreeSet<&Path> = wanted
        .iter()
        .filter(|wanted| wanted.is_made())
        .filter_map(Wanted::path)
        .collect();
    loop {
        drop_covered(&mut paths);
        let Some((flag, directory)) = foldable(&paths, &made, &grant_limits, run_context) else {
            break;
        };
        paths.insert((flag, directory));
    }
    others.sort_by_key(|grant| grant.words());
    let paths = paths
        .into_iter()
        .map(|(flag, path)| FlagGrant::Path(PathGrant { flag, path }));
    paths.chain(others).collect()
}

/// A directory that may replace the files used in it, and isn't granted yet.
fn foldable(
    paths: &BTreeSet<(Flag, PathBuf)>,
    made: &BTreeSet<&Path>,
    grant_limits: &GrantLimits<'_>,
    run_context: &RunContext<'_>,
) -> Option<(Flag, PathBuf)> {
    let mut used: BTreeMap<(Flag, &Path), usize> = BTreeMap::new();
    let mut new: BTreeMap<&Path, usize> = BTreeMap::new();
    for (flag, path) in paths {
        let Some(directory) = path.parent() else { continue };
        *used.entry((*flag, directory)).or_default() += 1;
        if *flag == Flag::Write && made.contains(path.as_path()) {
            *new.entry(directory).or_default() += 1;
        }
    }
    let may_stand = |flag: Flag, directory: &Path| {
        flag != Flag::Socket
            && !run_context.policy.root.starts_with(directory)
            && grant_limits.may_open(flag, directory)
    };
    let is_mostly_used = |directory: &Path, count: usize| {
        count >= FEWEST_USED && entries(directory).is_some_and(|entries| count * 100 >= entries * MAX_OF_IT)
    };
    used.into_iter()
        .find(|((flag, directory), count)| {
            let is_made = *flag == Flag::Write && new.get(directory).is_some_and(|count| *count > MAX_MADE);
            may_stand(*flag, directory) && (is_made || is_mostly_used(directory, *count))
        })
        .map(|((flag, directory), _)| (flag, directory.to_path_buf()))
}

/// The number of entries that a directory has now, after the run.
fn entries(directory: &Path) -> Option<usize> {
    let count = fs::read_dir(directory).ok()?.take(MAX_SIZE + 1).count();
    (count <= MAX_SIZE).then_some(count)
}

/// Removes grants that another grant covers.
fn drop_covered(paths: &mut BTreeSet<(Flag, PathBuf)>) {
    let all = paths.clone();
    let grant = |(flag, path): &(Flag, PathBuf)| PathGrant {
        flag: *flag,
        path: path.clone(),
    };
    paths.retain(|one| {
        let is_covered_by = |other: &(Flag, PathBuf)| other != one && grant(other).covers(&grant(one));
        !one.1
            .ancestors()
            .flat_map(|above| [Flag::Read, Flag::Write, Flag::Exec].map(|flag| (flag, above.to_path_buf())))
            .any(|other| all.contains(&other) && is_covered_by(&other))
    });
}

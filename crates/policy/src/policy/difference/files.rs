//! Compares grants and denials: each line has a witness, a path that one side opens and the other doesn't.

use std::path::{Path, PathBuf};

use super::sample::{Samples, samples_of};
use super::{Power, PowerKind, power};
use crate::policy::{Access, DenialRule, Grant, GrantExtent, Matcher, Policy, Target};

/// Both policies with their denials compiled.
struct Pair<'a> {
    narrow: &'a Policy,
    wide: &'a Policy,
    refusing: Matcher<'a>,
    allowing: Matcher<'a>,
}

impl Pair<'_> {
    /// Whether `wide` allows an access to the path that `narrow` refuses.
    fn differ_at(&self, access: Access, path: &Path) -> bool {
        self.allowing.decide(access, path).is_allowed() && !self.refusing.decide(access, path).is_allowed()
    }

    /// The accesses for which one of the paths is a witness.
    fn witnessed(&self, access: Access, paths: &[PathBuf]) -> Access {
        let shown = access
            .iter()
            .filter(|one| paths.iter().any(|path| self.differ_at(*one, path)));
        shown.fold(Access::empty(), Access::union)
    }
}

/// Compares grants and denials. Equal ones are skipped, since compiling the denials costs the most.
pub(super) fn compare(narrow: &Policy, wide: &Policy, powers: &mut Vec<Power>) {
    if narrow.grants == wide.grants && narrow.denials == wide.denials {
        return;
    }
    let pair = Pair {
        narrow,
        wide,
        refusing: Matcher::new(narrow),
        allowing: Matcher::new(wide),
    };
    grants(&pair, powers);
    denials(&pair, powers);
}

fn grants(pair: &Pair<'_>, powers: &mut Vec<Power>) {
    let mut more: Vec<(Access, &Grant)> = Vec::new();
    for grant in &pair.wide.grants {
        let missing = grant.access - covered(grant, &pair.narrow.grants);
        let shown = pair.witnessed(missing, &inside(grant, pair));
        if !shown.is_empty() {
            more.push((shown, grant));
        }
    }
    for (index, (access, grant)) in more.iter().enumerate() {
        // Another line of the same side covers it; of two equal ones, the first counts.
        let is_said = more.iter().enumerate().any(|(other, (said, wider))| {
            let is_other = other < index || other > index && !(encloses(grant, wider) && access.contains(*said));
            is_other && encloses(wider, grant) && said.contains(*access)
        });
        if !is_said {
            let target = grant.path.display().to_string();
            powers.extend(kinds(*access).map(|kind| power(kind, &target, Some(&grant.origin))));
        }
    }
}

/// Writing and executing imply reading, so reading is listed only alone.
fn kinds(access: Access) -> impl Iterator<Item = PowerKind> {
    let alone = access == Access::READ;
    [
        (alone, PowerKind::Read),
        (access.contains(Access::WRITE), PowerKind::Write),
        (access.contains(Access::EXECUTE), PowerKind::Exec),
    ]
    .into_iter()
    .filter_map(|(is_there, kind)| is_there.then_some(kind))
}

/// The accesses that the other side's grants open in all of the paths that a grant covers.
fn covered(grant: &Grant, grants: &[Grant]) -> Access {
    let wider = grants.iter().filter(|other| encloses(other, grant));
    wider.fold(Access::empty(), |access, other| access | other.access)
}

/// Whether `wider` covers everything that `grant` does.
fn encloses(wider: &Grant, grant: &Grant) -> bool {
    wider.covers(&grant.path) && (wider.extent == GrantExtent::Subtree || grant.extent == GrantExtent::Single)
}

/// Paths that a grant covers, of every kind that the two policies distinguish.
fn inside(grant: &Grant, pair: &Pair<'_>) -> Vec<PathBuf> {
    let mut paths = samples_of(grant);
    let named = pair.narrow.grants.iter().chain(&pair.wide.grants);
    paths.extend(named.flat_map(samples_of).filter(|path| grant.covers(path)));
    paths
}

fn denials(pair: &Pair<'_>, powers: &mut Vec<Power>) {
    for denial in &pair.narrow.denials {
        let is_same = |other: &DenialRule| {
            (&other.target, other.access, other.kind) == (&denial.target, denial.access, denial.kind)
        };
        if pair.wide.denials.iter().any(is_same) {
            continue;
        }
        let shown = match denial.samples(&pair.wide.grants) {
            Samples::Paths(paths) => pair.witnessed(denial.access, &paths),
            // A pattern without sample paths is listed rather than skipped.
            Samples::Unknown => denial.access,
        };
        if !shown.is_empty() {
            powers.push(power(
                PowerKind::Undenied,
                closed_text(&denial.target),
                Some(&denial.origin),
            ));
        }
    }
}

/// In the form of a profile, except that fixed paths are absolute.
fn closed_text(target: &Target) -> String {
    match target {
        Target::Path(path) => path.display().to_string(),
        Target::Glob { below, glob } if below == Path::new("/") && glob.starts_with("**/") => glob.clone(),
        Target::Glob { below, glob } => below.join(glob).display().to_string(),
        Target::GitDirectories => "**/.git".to_string(),
        Target::Listed(listed) => format!("what is {} by the built-in list", listed.list),
        Target::AllBut { below, globs } => format!("{} but for {}", below.display(), globs.join(", ")),
    }
}

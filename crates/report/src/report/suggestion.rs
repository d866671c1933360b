//! The minimal grants that would let a failed run succeed: a few flags, and a profile.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::grant::{Flag, FlagGrant, GrantLimits, PathGrant};
use super::text;
use crate::policy::Kind;
use crate::policy::{Access, Matcher};

/// The minimal grants to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// Words for `stockade run`; empty if there would be too many.
    #[serde(with = "text::words")]
    pub flags: Vec<OsString>,
    /// The lowest shipped profile that would suffice and that allows everything the run's own profile grants; never `trusted`.
    pub profile: Option<String>,
    /// Where no refusal is certain to be the reason: those that may be, each with its own grant.
    #[serde(default)]
    pub candidates: Vec<SuggestedGrant>,
}

/// The grant for a refusal that may be the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedGrant {
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// Words for `stockade run`; empty if no grant would allow it.
    #[serde(with = "text::words")]
    pub flags: Vec<OsString>,
    /// The lowest shipped profile that would allow it.
    pub profile: Option<String>,
}

impl Suggestion {
    /// These flags alone.
    pub(super) fn of_flags(flags: Vec<OsString>) -> Suggestion {
        Suggestion {
            flags,
            profile: None,
            candidates: Vec::new(),
        }
    }

    /// A list without a decision; `None` if it is empty.
    pub(super) fn of_candidates(candidates: Vec<SuggestedGrant>) -> Option<Suggestion> {
        (!candidates.is_empty()).then_some(Suggestion {
            flags: Vec::new(),
            profile: None,
            candidates,
        })
    }
}

/// More flags than this are worse than a profile.
const MAX_FLAGS: usize = 6;
/// More grants than this in one directory are a grant of the directory.
const MAX_SIBLINGS: usize = 3;

/// The fewest grants that cover these: paths first, then the network.
pub fn fold(wanted: Vec<(Kind, FlagGrant)>, grant_limits: &GrantLimits<'_>, matcher: &Matcher<'_>) -> Vec<FlagGrant> {
    let mut paths = Vec::new();
    let mut others = Vec::new();
    for (kind, grant) in wanted {
        match grant {
            FlagGrant::Path(grant) => paths.push((kind, grant)),
            other => others.push(other),
        }
    }
    let paths = fold_paths(paths, grant_limits, matcher)
        .into_iter()
        .map(FlagGrant::Path);
    paths.chain(drop_covered(others, FlagGrant::covers)).collect()
}

fn fold_paths(wanted: Vec<(Kind, PathGrant)>, grant_limits: &GrantLimits<'_>, matcher: &Matcher<'_>) -> Vec<PathGrant> {
    let mut grants = fold_creations(wanted, grant_limits);
    loop {
        grants = drop_covered(grants, PathGrant::covers);
        let before = grants.len();
        grants = fold_siblings(grants, grant_limits, MAX_SIBLINGS);
        if grants.len() == before {
            break;
        }
    }
    grants.retain(|grant| is_open(grant, matcher));
    grants
}

/// The flags for these grants; none if they are too many and a profile would suffice.
pub fn flags(grants: &[FlagGrant], has_profile: bool) -> Vec<OsString> {
    if grants.len() > MAX_FLAGS && has_profile {
        return Vec::new();
    }
    grants.iter().take(MAX_FLAGS).flat_map(FlagGrant::words).collect()
}

/// A program that creates two files in a directory creates more there: journals, locks, temporary files to be renamed.
/// So does one that renames in it.
fn fold_creations(wanted: Vec<(Kind, PathGrant)>, grant_limits: &GrantLimits<'_>) -> Vec<PathGrant> {
    let makes = |grant: &PathGrant| {
        let mut made = wanted.iter().filter(|(kind, _)| *kind == Kind::Create);
        made.any(|(_, other)| other.path.parent() == grant.path.parent())
    };
    let is_created = |kind: Kind, grant: &PathGrant| kind == Kind::Create || kind == Kind::Delete && makes(grant);
    let (created, others): (Vec<_>, Vec<_>) = wanted
        .iter()
        .cloned()
        .partition(|(kind, grant)| is_created(*kind, grant));
    let created = created.into_iter().map(|(_, grant)| grant).collect();
    let mut grants = fold_siblings(drop_covered(created, PathGrant::covers), grant_limits, 1);
    grants.extend(others.into_iter().map(|(_, grant)| grant));
    grants
}

/// Replaces more than `most` grants of one kind in one directory by one for the directory, in the first one's position.
fn fold_siblings(grants: Vec<PathGrant>, grant_limits: &GrantLimits<'_>, most: usize) -> Vec<PathGrant> {
    let parent = |grant: &PathGrant| grant.path.parent().map(|parent| (grant.flag, parent.to_path_buf()));
    let mut siblings: HashMap<(Flag, PathBuf), usize> = HashMap::new();
    for directory in grants.iter().filter_map(parent) {
        *siblings.entry(directory).or_default() += 1;
    }
    siblings.retain(|(flag, directory), count| {
        *count > most && !matches!(flag, Flag::Socket | Flag::WriteGuarded) && grant_limits.may_open(*flag, directory)
    });
    let folded = grants.into_iter().map(|grant| match parent(&grant) {
        Some(directory) if siblings.contains_key(&directory) => PathGrant {
            flag: directory.0,
            path: directory.1,
        },
        _ => grant,
    });
    drop_covered(folded.collect(), PathGrant::covers)
}

/// Drops grants that another one covers; of equals the first stays.
fn drop_covered<T>(grants: Vec<T>, covers: fn(&T, &T) -> bool) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for grant in grants {
        if !kept.iter().any(|other| covers(other, &grant)) {
            kept.retain(|other| !covers(&grant, other));
            kept.push(grant);
        }
    }
    kept
}

/// Whether no denial closes it. A refusal tells this for its own target only; a directory in its place must be checked again.
///
/// A `.git` is guarded as a name, so that nothing replaces it, while the files that commands write in it are open. Granting it
/// grants those, and no more.
fn is_open(grant: &PathGrant, matcher: &Matcher<'_>) -> bool {
    let access = match grant.flag {
        Flag::WriteGuarded => return true,
        Flag::Socket => Access::READ | Access::WRITE,
        flag => flag.access(),
    };
    match matcher.denial(access, &grant.path, false) {
        None => true,
        Some(denial) => {
            denial.guards_git()
                && grant.path.file_name() == Some(OsStr::new(".git"))
                && matcher.denial(access, &grant.path.join("index"), false).is_none()
        }
    }
}

//! Sample paths for grants and denials, so that two policies can be compared by evaluating both on them.

use std::path::{Path, PathBuf};

use crate::policy::{DenialRule, Grant, GrantExtent, Target};

/// A name that no rule mentions: a rule that matches it matches any name.
const ANY: &str = "stockade-any-name";

/// Paths that a denial closes, taken alone.
pub(super) enum Samples {
    /// These, possibly none.
    Paths(Vec<PathBuf>),
    /// No path can be derived from the pattern.
    Unknown,
}

/// Paths that a grant covers: itself, a child, and a deeper one.
pub(super) fn samples_of(grant: &Grant) -> Vec<PathBuf> {
    let mut paths = vec![grant.path.clone()];
    if grant.extent == GrantExtent::Subtree {
        paths.push(grant.path.join(ANY));
        paths.push(grant.path.join(ANY).join(ANY));
    }
    paths
}

impl DenialRule {
    /// Paths that the denial closes among those that the grants cover.
    pub(super) fn samples(&self, grants: &[Grant]) -> Samples {
        let named: Vec<PathBuf> = match &self.target {
            Target::Path(path) => closing(path, grants),
            Target::GitDirectories | Target::Listed(_) | Target::AllBut { .. } => return Samples::Unknown,
            Target::Glob { glob, .. } if is_intricate(glob) => return Samples::Unknown,
            Target::Glob { below, glob } => {
                let tops = grants.iter().flat_map(samples_of).filter(|top| top.starts_with(below));
                let tops: Vec<PathBuf> = tops.chain([below.clone()]).collect();
                let examples = examples(glob);
                let inside = |top: &PathBuf| examples.iter().map(|one| top.join(one)).collect::<Vec<_>>();
                let made = tops.iter().flat_map(inside);
                made.flat_map(|path| closing(&path, grants))
                    .chain(tops.clone())
                    .collect()
            }
        };
        Samples::Paths(named)
    }
}

/// A closed path, a path in it, and the grants' paths there.
fn closing(path: &Path, grants: &[Grant]) -> Vec<PathBuf> {
    let named = grants.iter().map(|grant| grant.path.clone());
    let inside = named.filter(|named| named.starts_with(path));
    [path.to_path_buf(), path.join(ANY), path.join(ANY).join(ANY)]
        .into_iter()
        .chain(inside)
        .collect()
}

/// Paths that match a glob, relative to its directory. `**/` becomes nothing or a directory.
fn examples(glob: &str) -> Vec<PathBuf> {
    let mut texts = alternatives(glob);
    if let Some(rest) = glob.strip_prefix("**/") {
        texts.extend(alternatives(rest));
    }
    let plain = |text: &String| text.replace("**", ANY).replace('*', ANY).replace('?', "x");
    texts.iter().map(plain).map(PathBuf::from).collect()
}

/// Expands `a{b,c}d` to `abd` and `acd`.
fn alternatives(glob: &str) -> Vec<String> {
    let braces = glob
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = braces else {
        return vec![glob.to_string()];
    };
    let ends = alternatives(after);
    let with_ends = |choice| ends.iter().map(move |end| format!("{before}{choice}{end}"));
    choices.split(',').flat_map(with_ends).collect()
}

/// Whether no path can be derived from it: character classes, and nested braces.
fn is_intricate(glob: &str) -> bool {
    let depth = glob.bytes().scan(0_i32, |depth, byte| {
        *depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        Some(*depth)
    });
    glob.contains(['[', '\\']) || depth.max().is_some_and(|deepest| deepest > 1)
}

//! The compiled denials of a policy: an owned value that threads share. Finds the denials that close a path.
//!
//! Most paths are closed by nothing, so that case has to be cheap: the lookup of names descends the path, and all globs
//! of a directory form one automaton. The value holds indices, so it belongs to the policy it was compiled from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Candidate, Error, Glob, GlobBuilder, GlobSet};

use super::listed::{Closing, IsSpared};
use super::moving::DeniedSet;
use super::{DenialKind, DenialRule, Policy, Target, git};

/// The compiled denials of a policy.
#[derive(Debug, Clone)]
pub struct Closed {
    count: usize,
    names: ClosedNames,
    globs: Vec<Globs>,
    git: Vec<usize>,
    listed: Vec<(usize, Closing)>,
    scopes: Vec<Scoped>,
    /// Scopes with a glob that doesn't compile. The parser of configurations refuses such a glob; one that gets here
    /// closes everything.
    everything: Vec<usize>,
    /// Used for moves. Few runs move a directory, so the first move compiles it.
    denied_sets: OnceLock<Vec<DeniedSet>>,
}

impl Closed {
    /// Compiles the denials.
    pub fn compile(policy: &Policy) -> Closed {
        let mut closed = Closed {
            count: policy.denials.len(),
            names: ClosedNames::default(),
            globs: Vec::new(),
            git: Vec::new(),
            listed: Vec::new(),
            scopes: Vec::new(),
            everything: Vec::new(),
            denied_sets: OnceLock::new(),
        };
        let mut by_directory: BTreeMap<&Path, Vec<Uncompiled>> = BTreeMap::new();
        for (index, denial) in policy.denials.iter().enumerate() {
            match &denial.target {
                Target::Path(path) => closed.names.add(path, index),
                Target::GitDirectories => closed.git.push(index),
                Target::Listed(listed) => closed.listed.push((index, Closing::new(listed))),
                Target::AllBut { below, globs } => match Scoped::new(index, below, globs) {
                    Ok(scoped) => closed.scopes.push(scoped),
                    Err(_) => closed.everything.push(index),
                },
                Target::Glob { below, glob } => {
                    let glob = glob.clone();
                    let kind = denial.kind;
                    by_directory
                        .entry(below)
                        .or_default()
                        .push(Uncompiled { index, glob, kind });
                }
            }
        }
        let globs = by_directory
            .into_iter()
            .map(|(below, patterns)| Globs::new(below, patterns));
        closed.globs = globs.collect();
        closed
    }

    /// The number of compiled denials.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The form of each denial that the checks of moves use.
    pub(super) fn denied_sets(&self, denials: &[DenialRule]) -> &[DeniedSet] {
        self.denied_sets
            .get_or_init(|| denials.iter().map(DeniedSet::new).collect())
    }

    /// Returns the first denial accepted by `counts` that closes the path, by itself or by a directory above it. In the
    /// directories that `is_spared` names a `.git` isn't guarded, and no path is guarded for its name alone.
    pub(super) fn first(&self, path: &Path, is_spared: IsSpared<'_>, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let named = self.names.on_the_way(path);
        let matching = self.globs.iter().flat_map(|globs| globs.matching(path, &counts));
        let outside = self.scopes.iter().filter(|scoped| scoped.closes(path));
        let outside = outside.map(|scoped| scoped.index);
        let always = self.everything.iter().copied();
        let all = named.chain(matching).chain(outside).chain(always);
        let others = all.filter(|index| counts(*index));
        let git = self.git.iter().copied().filter(|index| counts(*index));
        let git = git.filter(|_| git::is_guarded_unless(path, is_spared));
        let listed = self.listed.iter().filter(|(index, _)| counts(*index));
        let listed = listed.filter(|(_, closing)| closing.line_unless(path, is_spared).is_some());
        others.chain(git).chain(listed.map(|(index, _)| *index)).min()
    }
}

/// Closed paths as a tree of names. Each node holds the denials that close it.
#[derive(Debug, Clone, Default)]
struct ClosedNames {
    here: Vec<usize>,
    inside: BTreeMap<OsString, ClosedNames>,
}

impl ClosedNames {
    fn add(&mut self, path: &Path, index: usize) {
        let node = path.components().fold(self, |node, part| {
            node.inside.entry(part.as_os_str().to_owned()).or_default()
        });
        node.here.push(index);
    }

    /// The denials that close the path or a directory above it.
    fn on_the_way<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = usize> + 'a {
        let below = path.components().scan(self, |node, part| {
            *node = node.inside.get(part.as_os_str())?;
            Some(*node)
        });
        std::iter::once(self)
            .chain(below)
            .flat_map(|node| node.here.iter().copied())
    }
}

/// The glob of one denial as two globs: one matches the closed paths, the other everything below them.
#[derive(Debug, Clone)]
struct Pattern {
    index: usize,
    itself: Glob,
    inside: Glob,
}

impl Pattern {
    fn new(index: usize, glob: &str, kind: DenialKind) -> Result<Pattern, Error> {
        let glob = essence(glob);
        Ok(Pattern {
            index,
            itself: compile(glob, kind)?,
            inside: compile(&format!("{glob}/**"), kind)?,
        })
    }
}

/// A glob that closes everything in a directory closes the directory too: otherwise it could be renamed.
pub(super) fn essence(glob: &str) -> &str {
    glob.strip_suffix("/**").unwrap_or(glob)
}

/// Compiles a glob with the options shared by all denials.
pub(super) fn compile(glob: &str, kind: DenialKind) -> Result<Glob, Error> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        // `server.PEM` is as secret as `server.pem`; a person's glob is taken literally.
        .case_insensitive(!matches!(kind, DenialKind::Explicit | DenialKind::Scope))
        .build()
}

/// Closes everything below one directory except the paths that match.
#[derive(Debug, Clone)]
struct Scoped {
    index: usize,
    below: PathBuf,
    open: GlobSet,
}

impl Scoped {
    fn new(index: usize, below: &Path, globs: &[String]) -> Result<Scoped, Error> {
        let mut set = GlobSet::builder();
        for glob in globs {
            let pattern = Pattern::new(index, glob, DenialKind::Scope)?;
            set.add(pattern.itself).add(pattern.inside);
        }
        Ok(Scoped {
            index,
            below: below.to_path_buf(),
            open: set.build()?,
        })
    }

    /// The directory itself belongs to the scope if all of it does.
    fn closes(&self, path: &Path) -> bool {
        match path.strip_prefix(&self.below) {
            Ok(rest) => !self.open.is_match(rest),
            Err(_) => false,
        }
    }
}

/// The glob of one denial as it was written.
#[derive(Debug, Clone)]
struct Uncompiled {
    index: usize,
    glob: String,
    kind: DenialKind,
}

impl Uncompiled {
    /// Whether a path begins as one that the glob matches. Most don't, and need no automaton, which takes longer to build
    /// than all other denials.
    fn may_match(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        let literal = |text: &str| text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
        let begins = |text: &str| {
            let start = &text.as_bytes()[..literal(text)];
            path.get(..start.len())
                .is_some_and(|path| path.eq_ignore_ascii_case(start))
        };
        let alternatives = self.glob.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        match alternatives.filter(|(all, _)| !all.contains(['{', '[', '\\'])) {
            Some((all, _)) => all.split(',').any(begins),
            None => begins(essence(&self.glob)),
        }
    }
}

/// All patterns relative to one directory.
#[derive(Debug, Clone)]
struct Globs {
    below: PathBuf,
    patterns: Vec<Uncompiled>,
    /// Compiled at the first path below the directory that may match; few runs look one up.
    sets: OnceLock<Sets>,
}

#[derive(Debug, Clone, Default)]
struct Sets {
    /// Automata, each with the denial of each pair of its globs.
    automata: Vec<(GlobSet, Vec<usize>)>,
    /// Denials that close all that they may match: their automaton is too large, or their glob doesn't compile, which
    /// the profile parser refuses.
    everything: Vec<usize>,
}

impl Sets {
    /// Builds one automaton for all patterns, or one for each where that is too large.
    fn add(&mut self, patterns: &[Pattern]) {
        let globs = patterns.iter().flat_map(|pattern| [&pattern.itself, &pattern.inside]);
        let indices = patterns.iter().map(|pattern| pattern.index);
        match GlobSet::new(globs) {
            Ok(set) => self.automata.push((set, indices.collect())),
            Err(_) if patterns.len() > 1 => patterns.chunks(1).for_each(|pattern| self.add(pattern)),
            Err(_) => self.everything.extend(indices),
        }
    }

    fn of(patterns: &[Uncompiled]) -> Sets {
        let mut sets = Sets::default();
        let mut compiled = Vec::new();
        for Uncompiled { index, glob, kind } in patterns {
            match Pattern::new(*index, glob, *kind) {
                Ok(pattern) => compiled.push(pattern),
                Err(_) => sets.everything.push(*index),
            }
        }
        sets.add(&compiled);
        sets
    }
}

impl Globs {
    fn new(below: &Path, patterns: Vec<Uncompiled>) -> Globs {
        Globs {
            below: below.to_path_buf(),
            patterns,
            sets: OnceLock::new(),
        }
    }

    /// The denials that match; none unless one of them counts. Those of `/tmp` guard against changes, so a run that only
    /// reads there compiles nothing.
    fn matching(&self, path: &Path, counts: impl Fn(usize) -> bool) -> Vec<usize> {
        let Some(rest) = path
            .strip_prefix(&self.below)
            .ok()
            .filter(|rest| *rest != Path::new(""))
        else {
            return Vec::new();
        };
        let may_count = |pattern: &Uncompiled| pattern.may_match(rest) && counts(pattern.index);
        if !self.patterns.iter().any(may_count) {
            return Vec::new();
        }
        let candidate = Candidate::new(rest);
        let sets = self.sets.get_or_init(|| Sets::of(&self.patterns));
        let mut found = sets.everything.clone();
        for (set, indices) in &sets.automata {
            if set.is_match_candidate(&candidate) {
                let matches = set.matches_candidate(&candidate);
                found.extend(matches.into_iter().map(|glob| indices[glob / 2]));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_glob_matches_begins_as_the_glob_does() {
        let globs = [
            "a",
            "a/**",
            "a/**/b",
            "a*/b",
            "{ab,c*}/x",
            "{a,b}{c,d}",
            "{,a}b",
            "**/a",
            "[ab]c",
            "A?",
            r"\*a",
            "{a,[b]}c",
            "{a,{b,c}}d",
            "a{b,c}",
            r"{a\,b,c}d",
        ];
        let paths = [
            "a", "a/b", "ab", "ab/x", "AB/X", "c", "cd/x", "ac", "bd", "x/a", "bc", "ax", "*a", "a/b/c", "b", "cd",
            "a,bd",
        ];
        let mut others = 0;
        for glob in globs {
            let kind = DenialKind::Guarded;
            let pattern = Pattern::new(0, glob, kind).unwrap();
            let uncompiled = Uncompiled {
                index: 0,
                glob: glob.to_string(),
                kind,
            };
            for path in paths.map(Path::new) {
                let matches = [&pattern.itself, &pattern.inside].map(|glob| glob.compile_matcher().is_match(path));
                let may_match = uncompiled.may_match(path);
                assert!(may_match || matches == [false; 2], "{glob} {}", path.display());
                others += usize::from(!may_match);
            }
        }
        assert!(others > 50, "{others}");
    }
}

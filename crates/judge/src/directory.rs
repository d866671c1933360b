//! Resolves the directory of a `cd`: inside the root it needs no rule.
//!
//! The only judging that reads the file system: a link inside the root may point out of it. The lookup happens before the line
//! runs, so a `cd` is free only after commands that leave the directories unchanged.

use std::path::{Component, Path, PathBuf};

use super::known;
use stockade_shell::{self as shell, Fitness, Operator, Part, Plain};

/// Maximum number of directories that the line may be in: each `cd` that may not be executed adds to them.
const MAX: usize = 16;

/// Follows the `cd`s of one line.
pub(super) struct Directories<'r> {
    root: &'r Path,
    /// The directories that the line may be in at this point.
    here: Vec<PathBuf>,
    /// Directories that the line itself creates, as named there.
    made: Vec<String>,
    /// A name without `./` may mean another directory.
    has_search_path: bool,
    /// An earlier command may have replaced a directory by a link or changed directory: names can't be resolved any more.
    is_lost: bool,
}

impl<'r> Directories<'r> {
    /// `root` without links.
    pub(super) fn new(root: &'r Path, cwd: &Path) -> Directories<'r> {
        Directories {
            root,
            here: vec![root.join(cwd)],
            made: Vec::new(),
            // The shell looks up a name in `CDPATH` first.
            has_search_path: std::env::var_os("CDPATH").is_some(),
            is_lost: false,
        }
    }

    /// For each part of a line, in order: whether it is a `cd` that stays inside the root.
    pub(super) fn free(mut self, line: &Plain) -> Vec<bool> {
        let mut free = Vec::with_capacity(line.parts.len());
        for (index, part) in line.parts.iter().enumerate() {
            // In a pipe or in the background, `cd` affects only its own subshell; elsewhere it may or may not be executed.
            let is_own = |operator: Option<Operator>| {
                matches!(
                    operator,
                    Some(Operator::Pipe | Operator::PipeBoth | Operator::Background)
                )
            };
            let stays = is_own(part.follows) || is_own(line.parts.get(index + 1).and_then(|next| next.follows));
            let name = part.words[0].as_str();
            let is_free = name == "cd" && part.redirections.is_empty() && self.follow(&part.words[1..], stays);
            free.push(is_free);
            if name == "mkdir" {
                self.made.extend(part.words[1..].iter().cloned());
            }
            self.is_lost |= !is_free && !keeps_directories(part);
        }
        free
    }

    fn follow(&mut self, operands: &[String], stays: bool) -> bool {
        let operands = match operands {
            [dashes, rest @ ..] if dashes == "--" => rest,
            all => all,
        };
        let [target] = operands else { return false };
        let is_anchored = target.starts_with('/') || matches!(target.split('/').next(), Some("." | ".."));
        if target.is_empty() || target.starts_with('-') || target.contains(['*', '?', '[']) {
            return false;
        }
        if self.is_lost || self.has_search_path && !is_anchored {
            return false;
        }
        let targets: Vec<PathBuf> = self.here.iter().map(|here| lexical(&here.join(target))).collect();
        let is_made = self.made.contains(target);
        let is_inside = |place: &Path| is_below(place, self.root, is_made);
        // Resolved as the shell does (`a/..` is `.`), and as the kernel does (`a` may be a link).
        let is_free =
            targets.iter().all(|place| is_inside(place)) && self.here.iter().all(|here| is_inside(&here.join(target)));
        if is_free && !stays {
            self.here.extend(targets);
            self.here.sort();
            self.here.dedup();
        }
        is_free && self.here.len() <= MAX
    }
}

/// Whether the command leaves every directory unchanged: it only reads, or creates new ones.
fn keeps_directories(part: &Part) -> bool {
    let opens_nothing = part.redirections.iter().all(shell::Redirection::opens_nothing);
    let is_known = matches!(part.words[0].as_str(), "mkdir" | "echo") || known::only_reads(&part.words);
    opens_nothing && is_known && shell::fitness(&part.words) == Fitness::Safe
}

/// Removes `.` and `..` lexically, without resolving links.
pub fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Whether a path really is below the root. A missing path is accepted only if the line itself creates it.
fn is_below(place: &Path, root: &Path, is_made: bool) -> bool {
    match place.canonicalize() {
        Ok(real) => real.starts_with(root),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && is_made => {
            // A dangling link can't be created as a directory.
            let is_link = place.symlink_metadata().is_ok();
            let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
            !is_link && lexical(place).starts_with(root) && parent.is_some_and(|real| real.starts_with(root))
        }
        Err(_) => false,
    }
}

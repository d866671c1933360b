//! Where a `cd` leads: it is free inside the root.
//!
//! The only judging that looks at the machine: a link inside the root may lead out of it. It looks before the line runs,
//! so only behind commands that leave the directories as they are is a `cd` free.

use std::path::{Component, Path, PathBuf};

use super::known;
use stockade_shell::{self as shell, Fitness, Operator, Part, Plain};

/// Directories that the line may be in, at most: each `cd` that may not be carried out adds to them.
const MOST: usize = 16;

/// Follows the `cd`s of one line.
pub(super) struct Directories<'r> {
    root: &'r Path,
    /// Where it may be by now.
    here: Vec<PathBuf>,
    /// Directories that the line made itself, as they were named.
    made: Vec<String>,
    /// A name without `./` may mean another directory.
    has_search_path: bool,
    /// Something may have put a link where a directory was, or gone elsewhere: it can't be told any more where a name leads.
    is_lost: bool,
}

impl<'r> Directories<'r> {
    /// `root` without links.
    pub(super) fn new(root: &'r Path, cwd: &Path) -> Directories<'r> {
        Directories {
            root,
            here: vec![root.join(cwd)],
            made: Vec::new(),
            // A name is looked for in `CDPATH` first.
            has_search_path: std::env::var_os("CDPATH").is_some(),
            is_lost: false,
        }
    }

    /// Which parts of a line are a `cd` that stays inside the root, in their order.
    pub(super) fn free(mut self, line: &Plain) -> Vec<bool> {
        let mut free = Vec::with_capacity(line.parts.len());
        for (index, part) in line.parts.iter().enumerate() {
            // In a pipe or in the background it changes a shell of its own alone; it may be carried out or not elsewhere.
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
        // As the shell takes it (`a/..` is here), and as the kernel does (`a` may be a link).
        let is_free =
            targets.iter().all(|place| is_inside(place)) && self.here.iter().all(|here| is_inside(&here.join(target)));
        if is_free && !stays {
            self.here.extend(targets);
            self.here.sort();
            self.here.dedup();
        }
        is_free && self.here.len() <= MOST
    }
}

/// Whether each directory is after the command what it was before: it only reads, or makes new ones.
fn keeps_directories(part: &Part) -> bool {
    let opens_nothing = part.redirections.iter().all(shell::Redirection::opens_nothing);
    let is_known = matches!(part.words[0].as_str(), "mkdir" | "echo") || known::only_reads(&part.words);
    opens_nothing && is_known && shell::fitness(&part.words) == Fitness::Safe
}

/// Without `.` and `..`, links not looked at.
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

/// Whether a place is really below the root. One that isn't there yet is only where the line made it itself.
fn is_below(place: &Path, root: &Path, is_made: bool) -> bool {
    match place.canonicalize() {
        Ok(real) => real.starts_with(root),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && is_made => {
            // A link that leads nowhere yet is no directory to be made.
            let is_link = place.symlink_metadata().is_ok();
            let parent = place.parent().and_then(|parent| parent.canonicalize().ok());
            !is_link && lexical(place).starts_with(root) && parent.is_some_and(|real| real.starts_with(root))
        }
        Err(_) => false,
    }
}

//! Keeps what the run made from taking the place of something of another's, if it may contain what is guarded
//! elsewhere: a directory with git hooks of the run's own, say, in the place of the user's.

use crate::supervise::handlers::answer::{Handled, fail};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::policy::git_directory;
use crate::real_path::{REPOSITORIES, is_absence};
use crate::report::{Kind, Reason};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::object::pinned::{PinnedEntry, Place};
use crate::supervise::object::resolve;
use crate::supervise::state::made::Made;

/// Records that a directory, a link or a `.git` file has lost its name, and the new name if it was moved.
pub fn vacate(context: &NotifyContext<'_>, place: &Place, found: Option<PinnedEntry>, now: Option<&Place>) {
    let Some(found) = found else { return };
    let (name, now) = (place.name(), now.map(Place::name));
    if let Some(repository) = repository_of(name, now.filter(|_| found.is_directory())) {
        context.judge.note_taken(&repository, found.identity());
    }
    if found.is_directory() || found.is_symlink() || git_directory(name) == Some(name) {
        context.judge.vacate(name, found.identity(), now);
    }
}

/// Whether a path is that of a `.git` or its like, or of what git keeps of a linked work tree.
pub fn is_repository(name: &Path) -> bool {
    let Some((above, last)) = name.parent().zip(name.file_name()) else {
        return false;
    };
    REPOSITORIES.iter().any(|one| last == *one)
        || git_directory(above).is_some_and(|git| git.join("worktrees") == above)
}

/// The repository that is no more where it was, for what is removed or moved: a `.git` or its like, what git needs in one, the
/// directory of a linked work tree, or a directory with a repository that has another name now.
fn repository_of(name: &Path, now: Option<&Path>) -> Option<PathBuf> {
    let last = name.file_name()?;
    let above = name.parent()?;
    if is_repository(name) {
        return Some(name.to_path_buf());
    }
    let is_needed = git_directory(name) == Some(above) && ["HEAD", "refs", "objects"].iter().any(|one| last == *one);
    if is_needed {
        return Some(above.to_path_buf());
    }
    let moved = |one: &&&str| now.is_some_and(|now| now.join(one).symlink_metadata().is_ok());
    REPOSITORIES.iter().find(moved).map(|one| name.join(one))
}

/// Refuses a directory that may contain what is guarded elsewhere in the place of one that the run didn't make, and a
/// link that leads to one. The errno is that of another file system, as for a move across the border of a denied tree.
pub fn refuse_move(
    context: &NotifyContext<'_>,
    (old, moved): (&Place, Option<PinnedEntry>),
    (new, replaced): (&Place, Option<PinnedEntry>),
    asked: &[u8],
) -> Handled<()> {
    let Some(moved) = moved else { return Ok(()) };
    if moved.is_symlink() {
        let text = resolve::link_at(old)?.unwrap_or_default();
        return refuse_link(context, text.as_bytes(), Some(moved), (new, replaced), asked);
    }
    let takes_over = |made: &Made| made.uses_own && is_in_anothers_place(made, Some(moved), (new, replaced));
    let mut policies = context.judge.policies();
    if moved.is_directory()
        && policies.any(|run_policy| !run_policy.run_config.is_private(new.name()) && takes_over(&run_policy.made()))
    {
        let reason = "a directory doesn't take the place of another that the run didn't make, once the run has written, in one \
                      of its own, what is guarded elsewhere";
        note(context, new, asked, reason);
        return fail(libc::EXDEV);
    }
    Ok(())
}

/// Refuses a link in the place of something that the run didn't make, if it leads to a directory that may contain what
/// is guarded elsewhere. Its target counts as another's from then on, so that no such directory can get there later.
pub fn refuse_link(
    context: &NotifyContext<'_>,
    text: &[u8],
    moved: Option<PinnedEntry>,
    (new, replaced): (&Place, Option<PinnedEntry>),
    asked: &[u8],
) -> Handled<()> {
    let mut target = None;
    for run_policy in context.judge.policies() {
        let is_meant = !run_policy.run_config.is_private(new.name());
        if !is_meant || !is_in_anothers_place(&run_policy.made(), moved, (new, replaced)) {
            continue;
        }
        let (name, is_directory) = target.get_or_insert_with(|| target_of(new.parent.name(), text));
        let mut made = run_policy.made();
        made.claim(name, None);
        if made.uses_own && *is_directory {
            drop(made);
            let reason = "a link doesn't lead to a directory from the place of something that the run didn't make, once the \
                          run has written, in a directory of its own, what is guarded elsewhere";
            note(context, new, asked, reason);
            return Err(CLOSED.into());
        }
    }
    Ok(())
}

fn is_in_anothers_place(
    made: &Made,
    moved: Option<PinnedEntry>,
    (new, replaced): (&Place, Option<PinnedEntry>),
) -> bool {
    let replaced = replaced.filter(|replaced| replaced.is_directory() || replaced.is_symlink());
    replaced.is_some_and(|replaced| !made.has_made(replaced.identity()))
        || made.is_anothers(new.name(), moved.map(|moved| moved.identity()))
}

fn note(context: &NotifyContext<'_>, new: &Place, asked: &[u8], reason: &'static str) {
    let name = new.name().as_os_str().as_encoded_bytes();
    context.note(&Attempt::on(Kind::Write, asked), name, Reason::Never(reason.into()));
}

/// The target of a link in this directory, and whether it is a directory. Through another link it may be anywhere: `/`.
fn target_of(directory: &Path, text: &[u8]) -> (PathBuf, bool) {
    let anywhere = (PathBuf::from("/"), true);
    let (mut at, mut is_directory) = (directory.to_path_buf(), true);
    for component in Path::new(OsStr::from_bytes(text)).components() {
        match component {
            Component::Normal(name) => at.push(name),
            Component::RootDir => at = PathBuf::from("/"),
            Component::CurDir | Component::Prefix(_) => continue,
            Component::ParentDir if is_directory => drop(at.pop()),
            Component::ParentDir => return anywhere,
        }
        is_directory = match std::fs::symlink_metadata(&at) {
            Ok(found) if found.is_symlink() => return anywhere,
            Ok(found) => found.is_dir(),
            Err(error) if is_absence(&error) => false,
            Err(_) => return anywhere,
        };
    }
    (at, is_directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::{directory, make};

    fn taken(name: &str, now: Option<&Path>) -> Option<PathBuf> {
        repository_of(Path::new(name), now)
    }

    #[test]
    fn repositories_and_linked_work_trees_are_known_by_their_names() {
        for name in ["/w/.git", "/w/.hg", "/w/.git/worktrees/a"] {
            assert!(is_repository(Path::new(name)), "{name}");
        }
        for name in ["/w/a", "/w/.gitx", "/w/.git/worktrees", "/w/worktrees/a", "/"] {
            assert!(!is_repository(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn a_repository_is_gone_with_what_makes_it_one() {
        let git = Some(PathBuf::from("/w/.git"));
        for name in ["/w/.git", "/w/.git/HEAD", "/w/.git/refs", "/w/.git/objects"] {
            assert_eq!(taken(name, None), git, "{name}");
        }
        for name in ["/w/.git/index", "/w/.git/refs/heads", "/w/HEAD", "/"] {
            assert_eq!(taken(name, None), None, "{name}");
        }
    }

    #[test]
    fn a_moved_directory_takes_its_repository_along() {
        let (_made, root) = directory();
        assert_eq!(taken("/w/old", Some(&root)), None);
        make(&root.join(".git"));
        assert_eq!(taken("/w/old", Some(&root)), Some("/w/old/.git".into()));
    }

    #[test]
    fn a_links_text_leads_to_where_it_says_or_anywhere() {
        let (_made, root) = directory();
        make(&root.join("d"));
        std::fs::write(root.join("f"), "").unwrap();
        std::os::unix::fs::symlink("d", root.join("l")).unwrap();
        let target = |text: &str| target_of(&root, text.as_bytes());
        let anywhere = (PathBuf::from("/"), true);
        assert_eq!(target("d"), (root.join("d"), true));
        assert_eq!(target("./f"), (root.join("f"), false));
        assert_eq!(target("d/../missing"), (root.join("missing"), false));
        assert_eq!(target("l/x"), anywhere);
        assert_eq!(target("missing/.."), anywhere);
        assert_eq!(target(root.to_str().unwrap()), (root.clone(), true));
    }
}

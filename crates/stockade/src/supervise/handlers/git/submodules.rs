//! Moves of directories with a repository to where an index of another repository has a submodule.
//!
//! A new index may have a submodule only where no repository is, or one of `.git/modules` that no run can write; and no
//! repository comes to be where the index has a submodule or a directory. The index is read as git reads it by one
//! thread, and what would have several threads read it otherwise (`EOIE`, `IEOT`) isn't taken. All of these calls hold
//! the lock of names, so that none comes between; two supervisors have two.

use crate::supervise::handlers::answer::{Handled, fail};
use std::path::Path;

use crate::real_path::is_absence;
use crate::report::{Kind, Reason};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::object::pinned::{PinnedEntry, Place};

/// Refuses to move a directory with a repository to where an index has a submodule, or a directory, with the errno of
/// another file system.
pub fn refuse_move(
    context: &NotifyContext<'_>,
    (old, moved): (&Place, Option<PinnedEntry>),
    new: &Place,
    asked: &[u8],
) -> Handled<()> {
    if !moved.is_some_and(|moved| moved.is_directory()) {
        return Ok(());
    }
    let is_repository = |rest: &Path| {
        let dot_git = old.name().join(rest).join(".git");
        dot_git
            .symlink_metadata()
            .map_or_else(|error| !is_absence(&error), |_| true)
    };
    if !context.judge.fills_submodule(new.name(), &is_repository) {
        return Ok(());
    }
    let reason = "a repository doesn't come to be where the index of another has a submodule or a directory: git would start what \
                  its configuration names";
    let name = new.name().as_os_str().as_encoded_bytes();
    context.note(&Attempt::on(Kind::Write, asked), name, Reason::Never(reason.into()));
    fail(libc::EXDEV)
}

//! Replacing `.git/config` as git does: git writes `config.lock`, which must not exist before, and renames it.
//!
//! A run may create that lock where it may write, and read, write and remove its own. If the lock's text differs from
//! the old file only in harmless lines ([`is_harmless_change`]), the supervisor writes the text that it has read into a
//! lock of its own, which no process of the run holds open, and renames that one.

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::policy::{git_config_of_lock, is_harmless_change};
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::{PinnedEntry, Place};
use stockade_sys::file::{self, OpenHow};

/// The longest configuration that is replaced.
const MAX_LENGTH: u64 = 1 << 20;

/// Records a lock that the run made.
pub fn note_lock(context: &NotifyContext<'_>, made: &OwnedFd, name: &Path) -> Handled<()> {
    const MAX: usize = 1024;
    let identity = Identity::of(made.as_fd())?;
    context.judge.note_made(|list| {
        if list.git_locks.len() < MAX {
            list.git_locks.insert(identity, name.to_path_buf());
        }
    });
    Ok(())
}

/// Handles a rename of the run's own lock to a configuration that it may not write. Returns `None` for every other
/// rename, and for a change that isn't harmless, which is refused as usual.
pub fn replace(
    context: &NotifyContext<'_>,
    old: &Place,
    moved: Option<PinnedEntry>,
    new: &Place,
) -> Handled<Option<CallAnswer>> {
    let is_of_lock = git_config_of_lock(old.name()).is_some_and(|config| config == new.name());
    let lock = moved
        .map(|moved| moved.identity())
        .filter(|_| is_of_lock && new.is_named());
    let Some(lock) = lock.filter(|lock| context.judge.made(|made| made.git_locks.contains_key(lock))) else {
        return Ok(None);
    };
    if !context.judge.is_closed_as_git_file(new) {
        return Ok(None);
    }
    let (Some(wanted), Some(config)) = (Text::of(old, Some(lock)), Text::of(new, None)) else {
        return Ok(None);
    };
    if !is_harmless_change(&config.text, &wanted.text) || asks_for_more(context) {
        return Ok(None);
    }
    file::remove(old.parent.as_fd(), old.component(), 0)?;
    context.judge.forget(lock);
    let result = put(&config, &wanted.text, old, new);
    result.map(|()| Some(CallAnswer::Value(0)))
}

/// Whether git says by its own words that it is about something that a run may not change, though this change is harmless. To
/// remove a remote it begins with its branches, and would be refused the rest. A program that sets `core.hooksPath` to what it
/// is (husky, at each installation) would write the hooks next; it does without where git can't set that.
fn asks_for_more(context: &NotifyContext<'_>) -> bool {
    let words = context.caller().own_text("cmdline").unwrap_or_default();
    let words: Vec<&str> = words.split('\0').collect();
    let is_of_remote = |pair: &[&str]| pair[0] == "remote" && matches!(pair[1], "rm" | "remove");
    let sets_hooks = |word: &&str| word.eq_ignore_ascii_case("core.hooksPath");
    words.windows(2).any(is_of_remote) || words.iter().any(sets_hooks)
}

/// Writes the text to the supervisor's own lock, which keeps others from changing the configuration, and renames it.
fn put(config: &Text, wanted: &[u8], lock: &Place, new: &Place) -> Handled<()> {
    let how = OpenHow {
        flags: (libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64,
        mode: 0o600,
        resolve: 0,
    };
    let mut ours = File::from(file::open(lock.parent.as_fd(), lock.component(), how)?);
    let mut renamed = || -> Handled<()> {
        // Others could change the configuration until the supervisor had the lock.
        let is_as_before = Text::of(new, None).is_some_and(|now| now.text == config.text);
        if !is_as_before {
            return fail(libc::EBUSY);
        }
        ours.write_all(wanted)?;
        ours.set_permissions(Permissions::from_mode(config.mode))?;
        ours.sync_all()?;
        file::rename(
            (lock.parent.as_fd(), lock.component()),
            (new.parent.as_fd(), new.component()),
            0,
        )?;
        Ok(())
    };
    renamed().inspect_err(|_| {
        let _ = file::remove(lock.parent.as_fd(), lock.component(), 0);
    })
}

struct Text {
    text: Vec<u8>,
    mode: u32,
}

impl Text {
    /// Reads the file at a place: it must be regular, with one name, and of the given identity if there is one.
    fn of(place: &Place, identity: Option<Identity>) -> Option<Text> {
        let how = OpenHow {
            flags: (libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC) as u64,
            mode: 0,
            resolve: 0,
        };
        let opened = file::open(place.parent.as_fd(), place.component(), how).ok()?;
        let is_it = identity.is_none_or(|identity| Identity::of(opened.as_fd()).is_ok_and(|found| found == identity));
        let opened = File::from(opened);
        let found = opened.metadata().ok()?;
        if !is_it || !found.is_file() || found.nlink() != 1 || found.len() > MAX_LENGTH {
            return None;
        }
        let mut text = Vec::new();
        opened.take(MAX_LENGTH).read_to_end(&mut text).ok()?;
        let mode = found.mode() & 0o777;
        Some(Text { text, mode })
    }
}

//! Calls that make, remove and rename directory entries, and `truncate`.

use crate::supervise::handlers::checks::note_directory;
use std::os::fd::AsFd;
use std::path::Path;

use super::truncate;
use crate::plan::Trace;
use crate::policy::{Access, Arrival};
use crate::processes::looks;
use crate::report::{COPIED, Kind, Reason};
use crate::supervise::call::caller::Alleged;
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::handlers::git::{config, renamed, submodules, taking_over};
use crate::supervise::judge::may_continue::Change;
use crate::supervise::judge::policy;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::identity::Identity;
use crate::supervise::object::pinned::{Pinned, PinnedEntry, Place};
use crate::supervise::object::resolve::{Last, PathRequest};
use crate::supervise::state::made::Made;
use stockade_sys::file;

/// A directory descriptor and a path, from two registers.
struct DirectoryAndPath {
    directory: i32,
    path: Alleged,
}

impl DirectoryAndPath {
    fn at(context: &NotifyContext<'_>, directory: i32, path: u64) -> Handled<DirectoryAndPath> {
        Ok(DirectoryAndPath {
            directory,
            path: context.caller().path(path)?,
        })
    }

    fn request<'a>(&'a self, context: &NotifyContext<'a>) -> PathRequest<'a> {
        context.request(self.directory, &self.path)
    }

    fn place(&self, context: &NotifyContext<'_>) -> Result<Place, Errno> {
        self.request(context).place()
    }

    /// A place that has no entry yet. The kernel answers `EEXIST` before it checks permissions, and programs such as
    /// `mkdir -p` depend on it.
    fn new_place(&self, context: &NotifyContext<'_>) -> Handled<Place> {
        let place = self.place(context)?;
        match place.look() {
            Some(_) => fail(libc::EEXIST),
            None => Ok(place),
        }
    }
}

/// The forms of a call: without a directory, or with one in register 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Relative to the working directory.
    Legacy,
    /// `…at`.
    At,
}

impl Form {
    /// The first operand and the index of the next register.
    fn operand(self, context: &NotifyContext<'_>) -> Handled<(DirectoryAndPath, usize)> {
        let registers = context.caller().registers;
        match self {
            Form::Legacy => Ok((DirectoryAndPath::at(context, libc::AT_FDCWD, registers.long(0))?, 1)),
            Form::At => Ok((DirectoryAndPath::at(context, registers.int(0), registers.long(1))?, 2)),
        }
    }

    /// Both operands of a rename or link, and the index of the next register.
    fn operands(self, context: &NotifyContext<'_>) -> Handled<(DirectoryAndPath, DirectoryAndPath, usize)> {
        let registers = context.caller().registers;
        match self {
            Form::Legacy => Ok((
                DirectoryAndPath::at(context, libc::AT_FDCWD, registers.long(0))?,
                DirectoryAndPath::at(context, libc::AT_FDCWD, registers.long(1))?,
                2,
            )),
            Form::At => Ok((
                DirectoryAndPath::at(context, registers.int(0), registers.long(1))?,
                DirectoryAndPath::at(context, registers.int(2), registers.long(3))?,
                4,
            )),
        }
    }
}

/// Judges a change of one entry. Returns `Some` if the kernel may make the call itself.
fn judge_entry(context: &NotifyContext<'_>, place: &Place, attempt: &Attempt<'_>) -> Handled<Option<CallAnswer>> {
    context.caller().confirm()?;
    let verdict = match (attempt.kind, attempt.is_directory) {
        (Kind::Create, true) => context.judge.empty_directory(Access::WRITE, place),
        (Kind::Create, false) => context.judge.new_entry(place),
        (_, true) => context.judge.empty_directory(Access::DELETE, place),
        (_, false) => context.judge.place(Access::DELETE, place),
    };
    let by = context.enforce(verdict, attempt, place.name(), CLOSED)?;
    Ok(by_landlock(context, by, Change::Entry))
}

fn by_landlock(context: &NotifyContext<'_>, by: By, change: Change) -> Option<CallAnswer> {
    match by {
        By::Landlock => context.judge.may_change(change).map(CallAnswer::Continue),
        By::Supervisor | By::Approval => None,
    }
}

/// The entry at a place. The kernel answers `ENOENT` before it checks permissions.
fn refuse_missing(place: &Place) -> Handled<Option<PinnedEntry>> {
    if !place.is_named() {
        return Ok(place.look());
    }
    Ok(Some(place.entry()?))
}

pub fn make_directory(context: &NotifyContext<'_>, form: Form) -> Handled {
    let (operand, next) = form.operand(context)?;
    let mode = context.caller().registers.word(next);
    let place = operand.new_place(context)?;
    let attempt = Attempt {
        is_directory: true,
        ..Attempt::without(Kind::Create, operand.path.bytes())
    };
    if let Some(answer) = judge_entry(context, &place, &attempt)? {
        return Ok(answer);
    }
    let mode = context.mode_under_umask(mode & 0o1777);
    file::make_directory(place.parent.as_fd(), place.component(), mode)?;
    note_directory(context, &place);
    Ok(CallAnswer::Value(0))
}

pub fn make_node(context: &NotifyContext<'_>, form: Form) -> Handled {
    let (operand, next) = form.operand(context)?;
    let mode = context.caller().registers.word(next);
    let kind = mode & libc::S_IFMT;
    if ![0, libc::S_IFREG, libc::S_IFIFO, libc::S_IFSOCK].contains(&kind) {
        return fail(if kind == libc::S_IFDIR {
            libc::EPERM
        } else {
            libc::EINVAL
        });
    }
    let place = operand.new_place(context)?;
    crate::supervise::handlers::checks::refuse_set_user_id(context, mode, operand.path.bytes())?;
    let attempt = Attempt::without(Kind::Create, operand.path.bytes());
    if let Some(answer) = judge_entry(context, &place, &attempt)? {
        return Ok(answer);
    }
    let mode = context.mode_under_umask(mode);
    file::make_node(place.parent.as_fd(), place.component(), mode)?;
    Ok(CallAnswer::Value(0))
}

pub fn symlink(context: &NotifyContext<'_>, form: Form) -> Handled {
    let registers = context.caller().registers;
    let text = context.caller().path(registers.long(0))?;
    let operand = match form {
        Form::Legacy => DirectoryAndPath::at(context, libc::AT_FDCWD, registers.long(1))?,
        Form::At => DirectoryAndPath::at(context, registers.int(1), registers.long(2))?,
    };
    if text.bytes().is_empty() {
        return fail(libc::ENOENT);
    }
    let place = operand.new_place(context)?;
    let attempt = Attempt::without(Kind::Create, operand.path.bytes());
    if let Some(answer) = judge_entry(context, &place, &attempt)? {
        return Ok(answer);
    }
    context.enforce(
        context.judge.entry_in_git(None, place.name()),
        &attempt,
        place.name(),
        CLOSED,
    )?;
    refuse_planting(context, &[Arrival::Link], place.name(), &attempt)?;
    taking_over::refuse_link(context, text.bytes(), None, (&place, None), operand.path.bytes())?;
    file::make_symlink(text.text(), place.parent.as_fd(), place.component())?;
    note_link(context, &place);
    Ok(CallAnswer::Value(0))
}

fn note_link(context: &NotifyContext<'_>, place: &Place) {
    if let Some(made) = place.look().filter(PinnedEntry::is_symlink) {
        context
            .judge
            .note_made(|list| Made::keep(&mut list.links, made.identity(), Made::MAX_DIRECTORIES));
    }
}

pub fn rmdir(context: &NotifyContext<'_>) -> Handled {
    let operand = DirectoryAndPath::at(context, libc::AT_FDCWD, context.caller().registers.long(0))?;
    remove(context, &operand, libc::AT_REMOVEDIR)
}

pub fn unlink(context: &NotifyContext<'_>) -> Handled {
    let operand = DirectoryAndPath::at(context, libc::AT_FDCWD, context.caller().registers.long(0))?;
    remove(context, &operand, 0)
}

pub fn unlinkat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let flags = registers.int(2);
    if flags & !libc::AT_REMOVEDIR != 0 {
        return fail(libc::EINVAL);
    }
    let operand = DirectoryAndPath::at(context, registers.int(0), registers.long(1))?;
    remove(context, &operand, flags)
}

fn remove(context: &NotifyContext<'_>, operand: &DirectoryAndPath, flags: i32) -> Handled {
    let place = operand.place(context)?;
    let found = refuse_missing(&place)?;
    refuse_what_stays(context, &place, found, flags)?;
    let attempt = Attempt {
        is_directory: flags == libc::AT_REMOVEDIR,
        ..Attempt::on(Kind::Delete, operand.path.bytes())
    };
    if let Some(found) = found
        && policy::is_shared_memory(place.name())
        && is_own_shared_memory(context, found.identity())
    {
        context.caller().confirm()?;
    } else if let Some(answer) = judge_entry(context, &place, &attempt)? {
        return Ok(answer);
    }
    // For a link, before something else can get its name. A directory is removed under the exclusive lock.
    if found.as_ref().is_some_and(PinnedEntry::is_symlink) {
        taking_over::vacate(context, &place, found, None);
    }
    file::remove(place.parent.as_fd(), place.component(), flags)?;
    taking_over::vacate(context, &place, found, None);
    look_at_shared_names(context, &[&place]);
    if let Some(found) = found.filter(|found| !found.has_other_names()) {
        context.judge.forget(found.identity());
    }
    Ok(CallAnswer::Value(0))
}

/// What the kernel wouldn't remove is no refusal: git tries `rmdir` on each directory above a file that it removed.
fn refuse_what_stays(
    context: &NotifyContext<'_>,
    place: &Place,
    found: Option<PinnedEntry>,
    flags: i32,
) -> Handled<()> {
    let removes_directory = flags == libc::AT_REMOVEDIR;
    let is_directory = found.is_some_and(|found| found.is_directory());
    let is_denied = || {
        matches!(
            context.judge.place(Access::DELETE, place),
            AccessVerdict::Refused(Reason::Denied(_))
        )
    };
    let may_look = || !context.judge.place(Access::READ, place).is_refused();
    if !removes_directory || !is_directory || !is_denied() || !may_look() {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(place.name()).into_iter().flatten();
    match entries.next() {
        Some(_) => fail(libc::ENOTEMPTY),
        None => Ok(()),
    }
}

/// Records which shared memory names are to be removed when the run is over.
fn look_at_shared_names(context: &NotifyContext<'_>, places: &[&Place]) {
    for place in places.iter().filter(|place| policy::is_shared_memory(place.name())) {
        context.run().made().look_at_shared_name(place.name());
    }
}

fn is_own_shared_memory(context: &NotifyContext<'_>, identity: Identity) -> bool {
    context.judge.made(|made| made.shared_memory.contains(&identity))
}

pub fn rename(context: &NotifyContext<'_>, form: Form) -> Handled {
    let (from, to, _) = form.operands(context)?;
    rename_with(context, &from, &to, 0)
}

pub fn renameat2(context: &NotifyContext<'_>) -> Handled {
    let (from, to, next) = Form::At.operands(context)?;
    rename_with(context, &from, &to, context.caller().registers.word(next))
}

fn rename_with(context: &NotifyContext<'_>, from: &DirectoryAndPath, to: &DirectoryAndPath, flags: u32) -> Handled {
    const KNOWN: u32 = libc::RENAME_NOREPLACE | libc::RENAME_EXCHANGE;
    if flags & libc::RENAME_WHITEOUT != 0 {
        return fail(libc::EPERM);
    }
    if flags & !KNOWN != 0 || flags == KNOWN {
        return fail(libc::EINVAL);
    }
    let old = from.place(context)?;
    let beside = to.request(context).beside(&from.request(context), &old);
    let new = beside.unwrap_or_else(|| to.place(context))?;
    let moved = refuse_missing(&old)?;
    context.caller().confirm()?;
    if flags == 0
        && let Some(answer) = config::replace(context, &old, moved, &new)?
    {
        return Ok(answer);
    }
    // The run can't rename anything else meanwhile.
    let replaced = new.look();
    let exchanges = flags & libc::RENAME_EXCHANGE != 0;
    let manner = match flags {
        0 if context.judge.renames_into_anothers(&new) => RenameManner::Git,
        libc::RENAME_EXCHANGE => RenameManner::Exchange,
        _ => RenameManner::Move,
    };
    let by = judge_move(context, (from, &old, moved), (to, &new, replaced), manner)?;
    if manner == RenameManner::Git {
        renamed::replace(context, (&old, moved), &new, &Attempt::on(Kind::Write, to.path.bytes()))?;
        return Ok(CallAnswer::Value(0));
    }
    if let Some(answer) = by_landlock(context, by, Change::Move) {
        return Ok(answer);
    }
    taking_over::refuse_move(context, (&old, moved), (&new, replaced), to.path.bytes())?;
    submodules::refuse_move(context, (&old, moved), &new, to.path.bytes())?;
    if exchanges {
        submodules::refuse_move(context, (&new, replaced), &old, from.path.bytes())?;
        taking_over::refuse_move(context, (&new, replaced), (&old, moved), from.path.bytes())?;
    }
    file::rename(
        (old.parent.as_fd(), old.component()),
        (new.parent.as_fd(), new.component()),
        flags,
    )?;
    // Two names of one object stay as they are (rename(2)).
    if moved.is_some_and(|moved| replaced.is_some_and(|replaced| replaced.identity() == moved.identity())) {
        return Ok(CallAnswer::Value(0));
    }
    taking_over::vacate(context, &old, moved, Some(&new));
    taking_over::vacate(context, &new, replaced, exchanges.then_some(&old));
    if let Some(replaced) = replaced.filter(|replaced| !exchanges && !replaced.has_other_names()) {
        context.judge.forget(replaced.identity());
    }
    look_at_shared_names(context, &[&old, &new]);
    Ok(CallAnswer::Value(0))
}

/// The kind of a rename.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RenameManner {
    Move,
    Exchange,
    /// Replaces git's `HEAD` or index: the new content is checked and copied ([`renamed`]).
    Git,
}

/// Judges a rename: both names must be writable, and the moved entry must be no less denied at its new name.
fn judge_move(
    context: &NotifyContext<'_>,
    (from, old, moved): (&DirectoryAndPath, &Place, Option<PinnedEntry>),
    (to, new, replaced): (&DirectoryAndPath, &Place, Option<PinnedEntry>),
    manner: RenameManner,
) -> Handled<By> {
    let exchanges = manner == RenameManner::Exchange;
    let (old_name, new_name) = (old.name(), new.name());
    if policy::is_shared_memory(old_name) && policy::is_shared_memory(new_name) {
        let is_own =
            |found: Option<PinnedEntry>| found.is_none_or(|found| is_own_shared_memory(context, found.identity()));
        if is_own(old.look()) && is_own(replaced) {
            return Ok(By::Supervisor);
        }
    }
    // An exchange removes both entries, and gives both names to something else.
    let (leaving, old_access) = match exchanges {
        true => (Attempt::on(Kind::Write, from.path.bytes()), Access::WRITING),
        false => (
            Attempt::on(Kind::Delete, from.path.bytes()),
            Access::READ | Access::DELETE,
        ),
    };
    let arriving = match replaced {
        Some(_) => Attempt::on(Kind::Write, to.path.bytes()),
        None => Attempt::without(Kind::Create, to.path.bytes()),
    };
    let arrival = match (replaced, manner) {
        (_, RenameManner::Git) => context.judge.all(|judge| judge.git_renamed(new)),
        (Some(_), RenameManner::Exchange) => context.judge.place(Access::WRITING, new),
        (Some(_), RenameManner::Move) => context.judge.place(Access::CHANGE, new),
        (None, _) => context.judge.new_entry(new),
    };
    // A denied access that no grant can allow is refused before a question about the other name.
    if arrival.is_closed() {
        context.enforce(arrival.clone(), &arriving, new_name, CLOSED)?;
    }
    let first = context.enforce(context.judge.place(old_access, old), &leaving, old_name, CLOSED);
    if first.is_err()
        && context.run().approvals.is_none()
        && let AccessVerdict::Refused(reason) = &arrival
    {
        // Both names need a grant, and one message reports both.
        context.note(&arriving, new_name.as_os_str().as_encoded_bytes(), reason.clone());
    }
    let first = first?;
    let second = context.enforce(arrival, &arriving, new_name, CLOSED)?;
    if first == By::Landlock && second == By::Landlock {
        return Ok(By::Landlock);
    }
    refuse_cache_border(context, Some(old_name), new_name, &arriving)?;
    context.enforce(
        context.judge.rename_opens(old_name, new_name),
        &leaving,
        old_name,
        CLOSED,
    )?;
    refuse_entry_in_git(context, (old_name, moved, first), new_name, &arriving)?;
    refuse_planting(context, &arrivals(moved, old_name, first), new_name, &arriving)?;
    refuse_planting_from_own(context, (old, moved), new, &arriving)?;
    refuse_unseen(context, (old_name, moved), new_name, &arriving)?;
    if exchanges {
        refuse_planting_from_own(context, (new, replaced), old, &leaving)?;
        refuse_unseen(context, (new_name, replaced), old_name, &leaving)?;
        refuse_planting(context, &arrivals(replaced, new_name, second), old_name, &leaving)?;
        refuse_entry_in_git(context, (new_name, replaced, second), old_name, &leaving)?;
        context.enforce(
            context.judge.rename_opens(new_name, old_name),
            &arriving,
            new_name,
            CLOSED,
        )?;
    }
    Ok(By::Supervisor)
}

/// Refuses moves and links between the cache and the outside, with the errno of another file system.
fn refuse_cache_border(
    context: &NotifyContext<'_>,
    old: Option<&Path>,
    new: &Path,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    let verdict = context.judge.cache_border(old, new);
    context.enforce(verdict, attempt, new, Errno(libc::EXDEV)).map(drop)
}

/// The kinds of entry that a moved entry may be. Where Landlock grants the tree, the run may replace it without being seen,
/// so there it counts as all of them.
fn arrivals(moved: Option<PinnedEntry>, name: &Path, by: By) -> Vec<Arrival<'_>> {
    let directory = Arrival::Directory(name);
    match moved.filter(|_| by != By::Landlock) {
        None => vec![directory, Arrival::Link],
        Some(entry) if entry.is_directory() => vec![directory],
        Some(entry) if entry.is_symlink() => vec![Arrival::Link],
        Some(_) => vec![Arrival::File],
    }
}

/// Refuses to bring a link or a directory into a `.git` from outside.
fn refuse_entry_in_git(
    context: &NotifyContext<'_>,
    (old, moved, by): (&Path, Option<PinnedEntry>, By),
    new: &Path,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    if arrivals(moved, old, by) == [Arrival::File] {
        return Ok(());
    }
    let verdict = context.judge.entry_in_git(Some(old), new);
    context.enforce(verdict, attempt, new, CLOSED).map(drop)
}

/// Refuses to move a directory out of a tree that wasn't looked through before the start to where the kernel alone judges reads: out
/// of one that was granted since, and one that didn't exist yet.
fn refuse_unseen(
    context: &NotifyContext<'_>,
    (old, moved): (&Path, Option<PinnedEntry>),
    new: &Path,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    let run_config = &context.run().policy().run_config;
    let is_granted = || run_config.policy.granting(Access::DELETE, old).is_some();
    let is_seen = || {
        run_config.is_private(old)
            || is_granted() && (run_config.was_looked_through(old) || !run_config.was_looked_through(new))
    };
    if run_config.supervision.trace == Trace::Exact || moved.is_some_and(|moved| !moved.is_directory()) || is_seen() {
        return Ok(());
    }
    context.note(
        attempt,
        old.as_os_str().as_encoded_bytes(),
        Reason::Never(COPIED.into()),
    );
    fail(libc::EXDEV)
}

/// Refuses to move a directory out of one that the run made, where no name is guarded, if its name begins one that is.
fn refuse_planting_from_own(
    context: &NotifyContext<'_>,
    (old, moved): (&Place, Option<PinnedEntry>),
    new: &Place,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    let leaves_own = || {
        context
            .judge
            .policies()
            .any(|run_policy| run_policy.made().leaves_own(old.name(), new.name()))
    };
    match moved {
        Some(moved) if moved.is_directory() && leaves_own() => {
            refuse_planting(context, &[Arrival::Made], new.name(), attempt)
        }
        _ => Ok(()),
    }
}

/// Refuses an entry that would put something at a denied path below its new name. For a directory the errno is that of
/// another file system: programs then copy it file by file, and each file is judged.
fn refuse_planting(
    context: &NotifyContext<'_>,
    arrivals: &[Arrival<'_>],
    new: &Path,
    attempt: &Attempt<'_>,
) -> Handled<()> {
    for arrival in arrivals {
        let errno = match arrival {
            Arrival::Directory(_) | Arrival::Made | Arrival::File => Errno(libc::EXDEV),
            Arrival::Link => CLOSED,
        };
        context.enforce(context.judge.plants_below(*arrival, new), attempt, new, errno)?;
    }
    Ok(())
}

pub fn link(context: &NotifyContext<'_>, form: Form) -> Handled {
    let (from, to, next) = form.operands(context)?;
    let flags = match form {
        Form::Legacy => 0,
        Form::At => context.caller().registers.int(next),
    };
    if flags & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return fail(libc::EINVAL);
    }
    let last = if flags & libc::AT_SYMLINK_FOLLOW != 0 {
        Last::Follow
    } else {
        Last::Keep
    };
    let object = if flags & libc::AT_EMPTY_PATH != 0 {
        from.request(context).object_or_descriptor(last)?
    } else {
        from.request(context).object(last)?
    };
    let place = to.new_place(context)?;
    context.caller().confirm()?;
    if object.is_directory() {
        return fail(libc::EPERM);
    }
    // The location of its other name is unknown, and so is the access that it would have there.
    if object.has_lost_its_name() {
        return fail(libc::ENOENT);
    }
    let by = judge_link(context, (&from, &object), (&to, &place))?;
    if let Some(answer) = by_landlock(context, by, Change::Move) {
        return Ok(answer);
    }
    if policy::is_shared_memory(place.name()) {
        crate::supervise::handlers::files::memory::refuse_one_more_name(context)?;
    }
    if object.is_symlink() {
        let text = object.link_text()?;
        taking_over::refuse_link(context, &text, None, (&place, None), to.path.bytes())?;
    }
    link_pinned(&object, &place)?;
    look_at_shared_names(context, &[&place]);
    Ok(CallAnswer::Value(0))
}

/// Judges a hard link: the second name must give no more access than the first.
fn judge_link(
    context: &NotifyContext<'_>,
    (from, object): (&DirectoryAndPath, &Pinned),
    (to, place): (&DirectoryAndPath, &Place),
) -> Handled<By> {
    let name = place.name();
    if policy::is_shared_memory(name) && is_own_shared_memory(context, object.identity()) {
        return Ok(By::Supervisor);
    }
    let arriving = Attempt::without(Kind::Create, to.path.bytes());
    let leaving = Attempt::on(Kind::Write, from.path.bytes());
    let arrival = context.judge.new_entry(place);
    let is_in_scratch = arrival == AccessVerdict::Allowed(By::Landlock) || context.judge.is_in_a_scratch(name);
    // A nameless object was created by the holder of a descriptor for writing. In the scratch directory everything is
    // allowed, so linking an existing file there needs all access.
    let access = match object.has_name() {
        false => Access::WRITE,
        true if is_in_scratch => Access::WRITING,
        true => Access::READ | Access::WRITE,
    };
    let verdict = context.judge.object(access, object);
    // A denied access that no grant can allow is refused before a question about the other name.
    if verdict.is_closed() {
        context.enforce(verdict.clone(), &leaving, object.name(), CLOSED)?;
    }
    let second = context.enforce(arrival, &arriving, name, CLOSED);
    if second.is_err()
        && context.run().approvals.is_none()
        && let AccessVerdict::Refused(reason) = &verdict
    {
        // Both names need a grant, and one message reports both.
        context.note(&leaving, object.name().as_os_str().as_encoded_bytes(), reason.clone());
    }
    let second = second?;
    let first = context.enforce(verdict, &leaving, object.name(), CLOSED)?;
    if first == By::Landlock && second == By::Landlock {
        return Ok(By::Landlock);
    }
    refuse_cache_border(context, object.has_name().then(|| object.name()), name, &arriving)?;
    if object.is_symlink() {
        let verdict = context.judge.entry_in_git(Some(object.name()), name);
        context.enforce(verdict, &arriving, name, CLOSED)?;
        refuse_planting(context, &[Arrival::Link], name, &arriving)?;
    }
    Ok(By::Supervisor)
}

/// Links the pinned object, not whatever has its name by now. The link in `/proc` leads to the object itself, and no
/// further if that is a symbolic link. (`AT_EMPTY_PATH` would need a Linux capability before Linux 6.10.)
fn link_pinned(object: &Pinned, place: &Place) -> Handled<()> {
    let to = (place.parent.as_fd(), place.component());
    file::make_link((object.as_fd(), &object.path()), to, libc::AT_SYMLINK_FOLLOW)?;
    Ok(())
}

pub fn truncate(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let operand = DirectoryAndPath::at(context, libc::AT_FDCWD, registers.long(0))?;
    let object = operand.request(context).object(Last::Follow)?;
    context.caller().confirm()?;
    if object.is_directory() {
        return fail(libc::EISDIR);
    }
    let attempt = Attempt::on(Kind::Write, operand.path.bytes());
    let by = context.enforce(
        context.judge.object(Access::WRITE, &object),
        &attempt,
        object.name(),
        CLOSED,
    )?;
    if let Some(answer) = by_landlock(context, by, Change::Truncate) {
        return Ok(answer);
    }
    if !object.is_regular() {
        return fail(libc::EINVAL);
    }
    let length = registers.long(1) as i64;
    truncate::refuse_to_cut(context, &object, length, operand.path.bytes())?;
    truncate::refuse_to_grow(context, length)?;
    looks::write(|| file::truncate(&object.path(), length))?;
    Ok(CallAnswer::Value(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervise::testing::{directory, make, place, worker_fds};

    #[test]
    fn what_moves_in_a_static_tree_may_be_anything_by_then() {
        let (_made, root) = directory();
        let fds = worker_fds();
        make(&root.join("d"));
        std::fs::write(root.join("f"), "").unwrap();
        std::os::unix::fs::symlink("x", root.join("l")).unwrap();
        let found = |name: &str| place(&fds, &root.join(name)).look();
        let name = Path::new("/w/old");
        let directory = Arrival::Directory(name);
        for (entry, arrival) in [("d", directory), ("f", Arrival::File), ("l", Arrival::Link)] {
            assert_eq!(arrivals(found(entry), name, By::Supervisor), [arrival]);
            assert_eq!(arrivals(found(entry), name, By::Landlock), [directory, Arrival::Link]);
        }
        assert_eq!(arrivals(None, name, By::Supervisor), [directory, Arrival::Link]);
    }
}

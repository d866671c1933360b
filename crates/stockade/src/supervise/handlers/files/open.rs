//! `open`, `openat`, `openat2`, `creat`.
//!
//! A write on behalf may meet `ETXTBSY` after the program's end: a reader of its `stat` holds its memory for that
//! moment. The launcher reads that for limits, so the open waits for the launcher's look and is tried once more
//! (`crate::processes::looks`).

use crate::supervise::handlers::checks::refuse_set_user_id;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{process_list, synthetic, terminals};
use crate::policy::{Access, is_common_directory};
use crate::report::Kind;
use crate::supervise::call::caller::Alleged;
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Effect, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::handlers::git::config;
use crate::supervise::handlers::stop::Stop;
use crate::supervise::judge::may_continue::RegisterAccess;
use crate::supervise::judge::policy::CLOSED;
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::pinned::{Pinned, Place};
use crate::supervise::object::resolve::{Last, PathRequest};
use stockade_sys::file::{self, OpenHow};
use stockade_sys::notify::OnExecute;

/// How many times an open is tried while the file appears or vanishes.
const MAX_TRIES: usize = 16;

/// The flags that open(2) knows; other bits are dropped, as in the kernel.
const KNOWN: i32 = libc::O_ACCMODE
    | libc::O_CREAT
    | libc::O_EXCL
    | libc::O_NOCTTY
    | libc::O_TRUNC
    | libc::O_APPEND
    | libc::O_NONBLOCK
    | libc::O_DSYNC
    | libc::O_SYNC
    | libc::O_ASYNC
    | libc::O_DIRECT
    | LARGE_FILE
    | libc::O_DIRECTORY
    | libc::O_NOFOLLOW
    | libc::O_NOATIME
    | libc::O_CLOEXEC
    | libc::O_PATH
    | libc::O_TMPFILE;

/// `O_LARGEFILE` is 0 in 64-bit libraries; this is the kernel's bit.
const LARGE_FILE: i32 = 0o100_000;

/// Flags that only concern finding or creating the file, not the descriptor.
const FINDING: i32 = libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// The arguments of one open.
struct Open {
    directory: i32,
    path: Alleged,
    flags: i32,
    mode: u32,
    resolve: u64,
    from_registers: RegisterAccess,
}

pub fn open(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    by_registers(
        context,
        libc::AT_FDCWD,
        registers.long(0),
        registers.int(1),
        registers.word(2),
    )
}

pub fn creat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    by_registers(context, libc::AT_FDCWD, registers.long(0), flags, registers.word(1))
}

pub fn openat(context: &NotifyContext<'_>) -> Handled {
    let registers = context.caller().registers;
    by_registers(
        context,
        registers.int(0),
        registers.long(1),
        registers.int(2),
        registers.word(3),
    )
}

fn by_registers(context: &NotifyContext<'_>, directory: i32, path: u64, flags: i32, mode: u32) -> Handled {
    let flags = flags & KNOWN;
    refuse_directory_to_create(flags)?;
    let makes = flags & libc::O_CREAT != 0 || is_nameless(flags);
    Open {
        directory,
        path: context.caller().path(path)?,
        flags,
        mode: if makes { mode & 0o7777 } else { 0 },
        resolve: 0,
        from_registers: register_access(flags),
    }
    .run(context)
}

fn register_access(flags: i32) -> RegisterAccess {
    match flags & libc::O_ACCMODE {
        libc::O_WRONLY | libc::O_RDWR => RegisterAccess::Writes,
        libc::O_RDONLY if flags & libc::O_TRUNC != 0 => RegisterAccess::Truncates,
        libc::O_RDONLY => RegisterAccess::Reads,
        _ => RegisterAccess::Neither,
    }
}

pub fn openat2(context: &NotifyContext<'_>) -> Handled {
    const SIZE: usize = size_of::<OpenHow>();
    let registers = context.caller().registers;
    let size = usize::try_from(registers.long(3)).unwrap_or(usize::MAX);
    if size < SIZE {
        return fail(libc::EINVAL);
    }
    refuse_unknown_fields(context, registers.long(2), SIZE, size)?;
    let mut words = [0_u8; SIZE];
    context.caller().read(registers.long(2), &mut words)?;
    let word = |index: usize| u64::from_ne_bytes(words[index * 8..index * 8 + 8].try_into().expect("eight bytes"));
    let (flags, mode, resolve) = (word(0), word(1), word(2));
    check_strictly(flags, mode, resolve)?;
    refuse_directory_to_create(flags as i32)?;
    // No supervisor can install such a descriptor (seccomp_unotify(2) takes none), and flags in memory may change.
    // Programs fall back to openat(2), as before Linux 5.6; the filter lets it through.
    if flags as i32 & libc::O_PATH != 0 {
        return fail(libc::ENOSYS);
    }
    Open {
        directory: registers.int(0),
        path: context.caller().path(registers.long(1))?,
        flags: flags as i32,
        mode: mode as u32,
        resolve,
        from_registers: RegisterAccess::Unknown,
    }
    .run(context)
}

/// Refuses to create a directory, which mkdir(2) alone does; the kernel checks this first.
fn refuse_directory_to_create(flags: i32) -> Handled<()> {
    let both = libc::O_CREAT | libc::O_DIRECTORY;
    if flags & both == both && flags & libc::O_PATH == 0 {
        return fail(libc::EINVAL);
    }
    Ok(())
}

/// Accepts a later kernel's structure if all fields that aren't known here are zero.
pub fn refuse_unknown_fields(context: &NotifyContext<'_>, address: u64, known: usize, size: usize) -> Handled<()> {
    const MAX_SIZE: usize = 4096;
    if size > MAX_SIZE {
        return fail(libc::E2BIG);
    }
    let mut rest = vec![0; size - known];
    context.caller().read(address.wrapping_add(known as u64), &mut rest)?;
    if rest.iter().any(|byte| *byte != 0) {
        return fail(libc::E2BIG);
    }
    Ok(())
}

/// Refuses what openat2(2) refuses and open(2) ignores.
fn check_strictly(flags: u64, mode: u64, resolve: u64) -> Handled<()> {
    const ALL: u64 = libc::RESOLVE_NO_XDEV
        | libc::RESOLVE_NO_MAGICLINKS
        | libc::RESOLVE_NO_SYMLINKS
        | libc::RESOLVE_BENEATH
        | libc::RESOLVE_IN_ROOT
        | libc::RESOLVE_CACHED;
    let makes = flags as i32 & libc::O_CREAT != 0 || is_nameless(flags as i32);
    let both = libc::RESOLVE_BENEATH | libc::RESOLVE_IN_ROOT;
    let is_wrong = flags & !(KNOWN as u32 as u64) != 0
        || resolve & !ALL != 0
        || resolve & both == both
        || mode & !0o7777 != 0
        || !makes && mode != 0
        || flags as i32 & libc::O_PATH != 0 && flags as i32 & !PATH_FLAGS != 0;
    if is_wrong { fail(libc::EINVAL) } else { Ok(()) }
}

/// The flags that may accompany `O_PATH`.
const PATH_FLAGS: i32 = libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_PATH | libc::O_CLOEXEC;

/// `O_TMPFILE`, which includes the bit of `O_DIRECTORY`.
fn is_nameless(flags: i32) -> bool {
    flags & libc::O_TMPFILE == libc::O_TMPFILE
}

impl Open {
    fn run(&self, context: &NotifyContext<'_>) -> Handled {
        if let Some(answer) = self.served(context)? {
            return Ok(answer);
        }
        if let Some(answer) = self.known_static(context) {
            return Ok(answer);
        }
        if self.creates()
            && let Some(answer) = self.create_where_none_is(context)?
        {
            return Ok(answer);
        }
        for _ in 0..MAX_TRIES {
            match self.request(context).object(self.last()) {
                Ok(object) => return self.existing(context, object),
                Err(Errno(libc::ENOENT)) if self.creates() => {
                    if let Some(answer) = self.create(context)? {
                        return Ok(answer);
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        fail(libc::EAGAIN)
    }

    /// Opens a synthetic file: one that programs resolve names with, if the run does so through the relay, or the run's
    /// script. It contains nothing that the run may not know, so comparing the path's text is enough.
    fn served(&self, context: &NotifyContext<'_>) -> Handled<Option<CallAnswer>> {
        let is_read = self.access() == Access::READ && !self.creates() && !self.has(libc::O_PATH | libc::O_DIRECTORY);
        if is_read && synthetic::is_preloaded(&self.path) {
            let object = synthetic::preloaded(context)?;
            return Ok(Some(CallAnswer::Descriptor(object, self.on_execute())));
        }
        let content = is_read.then(|| synthetic::content(context, &self.path)).flatten();
        match content {
            Some(content) => {
                let made = synthetic::file(context, &content)?;
                let attempt = Attempt::on(Kind::Read, self.path.bytes());
                context.tell_allowed(&attempt, Path::new(OsStr::from_bytes(self.path.bytes())));
                Ok(Some(CallAnswer::Descriptor(made, self.on_execute())))
            }
            None => Ok(None),
        }
    }

    /// Creates a file where nothing exists, which is the usual case; `None` if something does.
    fn create_where_none_is(&self, context: &NotifyContext<'_>) -> Handled<Option<CallAnswer>> {
        let place = self.request(context).place()?;
        if !place.is_named() {
            return Ok(None);
        }
        if self.path.bytes().ends_with(b"/") {
            return fail(libc::EISDIR);
        }
        match place.look() {
            Some(_) => Ok(None),
            None => self.create_at(context, place),
        }
    }

    /// Continues the open of a path that was continued before, without another check. Landlock judges it in any case;
    /// only a refusal, should somebody have changed what is there, isn't noted.
    fn known_static(&self, context: &NotifyContext<'_>) -> Option<CallAnswer> {
        let is_known = self.is_plain_read() && context.has_continued(Kind::Read, self.path.bytes());
        let proof = is_known
            .then(|| context.judge.may_open(self.from_registers))
            .flatten()?;
        Some(CallAnswer::Continue(proof))
    }

    fn is_plain_read(&self) -> bool {
        self.from_registers == RegisterAccess::Reads && !self.creates()
    }

    fn request<'a>(&'a self, context: &NotifyContext<'a>) -> PathRequest<'a> {
        context.request(self.directory, &self.path).restricted(self.resolve)
    }

    fn has(&self, flag: i32) -> bool {
        self.flags & flag != 0
    }

    fn creates(&self) -> bool {
        self.has(libc::O_CREAT) && !self.has(libc::O_PATH)
    }

    fn last(&self) -> Last {
        let exclusive = self.has(libc::O_CREAT) && self.has(libc::O_EXCL);
        if self.has(libc::O_NOFOLLOW) || exclusive {
            Last::Keep
        } else {
            Last::Follow
        }
    }

    fn on_execute(&self) -> OnExecute {
        if self.has(libc::O_CLOEXEC) {
            OnExecute::Close
        } else {
            OnExecute::Keep
        }
    }

    fn access(&self) -> Access {
        let truncates = self.has(libc::O_TRUNC) || is_nameless(self.flags);
        let access = match self.flags & libc::O_ACCMODE {
            libc::O_RDONLY => Access::READ,
            libc::O_WRONLY => Access::WRITE,
            _ => Access::READ | Access::WRITE,
        };
        if truncates { access | Access::WRITE } else { access }
    }

    fn existing(&self, context: &NotifyContext<'_>, object: Pinned) -> Handled {
        context.caller().confirm()?;
        self.refuse_kind(&object)?;
        if terminals::is_own_terminal_device(&object) {
            return terminals::open_own(context, self.flags, self.on_execute());
        }
        let access = self.access();
        let kind = if access.contains(Access::WRITE) {
            Kind::Write
        } else {
            Kind::Read
        };
        if access == Access::READ
            && let Some(list) = process_list::open(context, &object, self.flags & !FINDING, self.on_execute())
        {
            return Ok(list);
        }
        let attempt = Attempt::with(kind, self.path.bytes(), &object);
        let verdict = context.judge.object(access, &object);
        if self.has(libc::O_TRUNC) && object.is_regular() {
            crate::supervise::handlers::files::truncate::refuse_to_cut(context, &object, 0, self.path.bytes())?;
        }
        if let Some(held) = self.held_already(context, access, &object, &verdict) {
            return Ok(held);
        }
        let by = context.enforce(verdict, &attempt, object.name(), CLOSED)?;
        let is_native = by == By::Landlock || access == Access::READ && context.judge.is_read_natively(object.name());
        if is_native
            && !self.request(context).begins_at_process_list()
            && let Some(proof) = context.judge.may_open(self.from_registers)
        {
            // In the base, which the run doesn't change.
            if by == By::Landlock && self.is_plain_read() {
                context.note_continued(Kind::Read, self.path.bytes());
            }
            return Ok(CallAnswer::Continue(proof));
        }
        self.on_behalf(context, object)
    }

    /// Reopens what the caller already holds, as `/dev/stdout` does: it gets the very same open file. That is no more
    /// than it has, even if the file has a name that nothing grants.
    fn held_already(
        &self,
        context: &NotifyContext<'_>,
        access: Access,
        object: &Pinned,
        verdict: &AccessVerdict,
    ) -> Option<CallAnswer> {
        if !verdict.is_refused() || self.has(libc::O_DIRECTORY) && !object.is_directory() {
            return None;
        }
        let (held, _) = context.judge.held(object).filter(|(_, held)| held.contains(access))?;
        context.caller().confirm().ok()?;
        Some(CallAnswer::Descriptor(held, self.on_execute()))
    }

    /// The errors that the kernel returns before it checks permissions.
    fn refuse_kind(&self, object: &Pinned) -> Handled<()> {
        if self.creates() {
            if self.has(libc::O_EXCL) {
                return fail(libc::EEXIST);
            }
            if object.is_directory() {
                return fail(libc::EISDIR);
            }
        }
        if object.is_symlink() {
            return fail(if self.has(libc::O_DIRECTORY) {
                libc::ENOTDIR
            } else {
                libc::ELOOP
            });
        }
        if object.is_directory() && !is_nameless(self.flags) && self.access().contains(Access::WRITE) {
            return fail(libc::EISDIR);
        }
        Ok(())
    }

    /// Reopens the pinned object.
    fn on_behalf(&self, context: &NotifyContext<'_>, object: Pinned) -> Handled {
        if is_nameless(self.flags) {
            return self.nameless(context, &object);
        }
        let flags = self.flags & !FINDING;
        if object.is_fifo() && !self.has(libc::O_NONBLOCK) && flags & libc::O_ACCMODE != libc::O_RDWR {
            let on_execute = self.on_execute();
            return Ok(CallAnswer::apart(move |context| {
                crate::supervise::handlers::files::fifo::open(context, &object, flags, on_execute)
            }));
        }
        let opened = context.fds().reopen(object.as_fd(), flags & !libc::O_TRUNC)?;
        terminals::note_master(context, &object, opened.as_fd());
        // For a run that may not delete, the file was empty when it was judged; by now it may hold something.
        if self.has(libc::O_TRUNC) && object.is_regular() && !context.judge.truncation(&object).is_refused() {
            return Ok(CallAnswer::Depending(
                opened,
                self.on_execute(),
                Box::new(Effect::Truncate(object)),
            ));
        }
        Ok(CallAnswer::Descriptor(opened, self.on_execute()))
    }

    /// Creates an `O_TMPFILE` file in a pinned directory.
    fn nameless(&self, context: &NotifyContext<'_>, directory: &Pinned) -> Handled {
        refuse_set_user_id(context, self.mode, self.path.bytes())?;
        let mode = context.mode_under_umask(self.mode);
        let how = OpenHow {
            flags: ((self.flags & !FINDING) | libc::O_CLOEXEC | if self.has(libc::O_EXCL) { libc::O_EXCL } else { 0 })
                as u64,
            mode: u64::from(mode),
            resolve: 0,
        };
        let opened = file::open(directory.as_fd(), c".", how)?;
        Ok(CallAnswer::Descriptor(opened, self.on_execute()))
    }

    /// Creates a file that didn't exist; `None` if it exists now.
    fn create(&self, context: &NotifyContext<'_>) -> Handled<Option<CallAnswer>> {
        self.create_at(context, self.request(context).place_to_create(self.last())?)
    }

    fn create_at(&self, context: &NotifyContext<'_>, place: Place) -> Handled<Option<CallAnswer>> {
        context.caller().confirm()?;
        if place.component().to_bytes().ends_with(b"/") {
            // A dangling link names a directory.
            return fail(libc::EISDIR);
        }
        let attempt = Attempt::without(Kind::Create, self.path.bytes());
        refuse_set_user_id(context, self.mode, self.path.bytes())?;
        if is_common_directory(place.name()) && context.judge.is_closed_as_git_file(&place) {
            return self.make_common_directory(context, &place).map(Some);
        }
        let is_shared_memory = crate::supervise::judge::policy::is_shared_memory(place.name());
        let is_git_lock = crate::supervise::judge::policy::is_git_lock(place.name());
        if is_shared_memory {
            crate::supervise::handlers::files::memory::refuse_one_more_name(context)?;
        } else {
            let verdict = match is_git_lock {
                true => context.judge.new_git_lock(&place),
                false => context.judge.new_entry(&place),
            };
            let by = context.enforce(verdict, &attempt, place.name(), CLOSED)?;
            if by == By::Landlock
                && let Some(proof) = context.judge.may_open(self.from_registers)
            {
                return Ok(Some(CallAnswer::Continue(proof)));
            }
        }
        let made = match self.make(context, &place) {
            Err(Stop::Errno(Errno(libc::EEXIST))) if !self.has(libc::O_EXCL) => return Ok(None),
            other => other?,
        };
        if is_shared_memory {
            crate::supervise::handlers::files::memory::note_shared(context, &made, place.name())?;
        } else if is_git_lock {
            config::note_lock(context, &made, place.name())?;
        } else if place.name().file_name().is_some_and(|last| last == ".git") {
            crate::supervise::handlers::checks::note_directory(context, &place);
        }
        Ok(Some(CallAnswer::Depending(
            made,
            self.on_execute(),
            Box::new(Effect::Made(place)),
        )))
    }

    /// Makes the `commondir` of a linked work tree in another's repository. It says what git writes there, whatever the
    /// run writes: with another text it would lead the user's git elsewhere.
    fn make_common_directory(&self, context: &NotifyContext<'_>, place: &Place) -> Handled {
        File::from(self.make(context, place)?).write_all(b"../..\n")?;
        let nowhere = File::options().read(true).write(true).open("/dev/null")?;
        Ok(CallAnswer::Descriptor(nowhere.into(), self.on_execute()))
    }

    fn make(&self, context: &NotifyContext<'_>, place: &Place) -> Handled<OwnedFd> {
        let mode = context.mode_under_umask(self.mode);
        let how = OpenHow {
            flags: (self.flags | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NOCTTY) as u64,
            mode: u64::from(mode),
            resolve: 0,
        };
        Ok(file::open(place.parent.as_fd(), place.component(), how)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(flags: i32) -> Open {
        Open {
            directory: libc::AT_FDCWD,
            path: Alleged::empty(),
            flags,
            mode: 0,
            resolve: 0,
            from_registers: register_access(flags),
        }
    }

    #[test]
    fn the_registers_of_an_open_tell_what_landlock_will_ask_for() {
        const NEITHER: i32 = libc::O_ACCMODE;
        for (flags, access) in [
            (libc::O_RDONLY, RegisterAccess::Reads),
            (libc::O_RDONLY | libc::O_TRUNC, RegisterAccess::Truncates),
            (libc::O_WRONLY, RegisterAccess::Writes),
            (libc::O_RDWR | libc::O_TRUNC, RegisterAccess::Writes),
            (NEITHER, RegisterAccess::Neither),
            (NEITHER | libc::O_TRUNC, RegisterAccess::Neither),
        ] {
            assert_eq!(register_access(flags), access, "{flags:o}");
        }
    }

    #[test]
    fn an_open_is_judged_for_all_that_the_kernel_does() {
        let both = Access::READ | Access::WRITE;
        for (flags, access) in [
            (libc::O_RDONLY, Access::READ),
            (libc::O_WRONLY, Access::WRITE),
            (libc::O_RDWR, both),
            (libc::O_ACCMODE, both),
            (libc::O_RDONLY | libc::O_TRUNC, both),
            (libc::O_WRONLY | libc::O_TMPFILE, Access::WRITE),
        ] {
            assert_eq!(open(flags).access(), access, "{flags:o}");
        }
    }

    #[test]
    fn only_an_open_that_reads_and_makes_nothing_is_remembered() {
        assert!(open(libc::O_RDONLY | libc::O_CLOEXEC).is_plain_read());
        for flags in [libc::O_CREAT, libc::O_TRUNC, libc::O_RDWR, libc::O_ACCMODE] {
            assert!(!open(flags).is_plain_read(), "{flags:o}");
        }
    }

    #[test]
    fn a_link_in_the_last_place_is_kept_where_the_kernel_keeps_it() {
        assert_eq!(open(libc::O_RDONLY).last(), Last::Follow);
        assert_eq!(open(libc::O_EXCL).last(), Last::Follow);
        assert_eq!(open(libc::O_NOFOLLOW).last(), Last::Keep);
        assert_eq!(open(libc::O_CREAT | libc::O_EXCL).last(), Last::Keep);
    }

    #[test]
    fn no_open_makes_a_directory() {
        let both = libc::O_CREAT | libc::O_DIRECTORY;
        assert!(refuse_directory_to_create(both).is_err());
        for flags in [libc::O_CREAT, libc::O_DIRECTORY, both | libc::O_PATH] {
            assert!(refuse_directory_to_create(flags).is_ok(), "{flags:o}");
        }
    }

    #[test]
    fn openat2_is_as_strict_as_the_kernel() {
        let flags = |flags: i32| u64::from(flags as u32);
        let is_taken = |how: (u64, u64, u64)| check_strictly(how.0, how.1, how.2).is_ok();
        assert!(is_taken((flags(libc::O_CREAT), 0o644, libc::RESOLVE_BENEATH)));
        assert!(is_taken((flags(libc::O_PATH | libc::O_DIRECTORY), 0, 0)));
        for refused in [
            (1 << 40, 0, 0),
            (0, 0o644, 0),
            (flags(libc::O_CREAT), 0o10000, 0),
            (0, 0, 1 << 40),
            (0, 0, libc::RESOLVE_BENEATH | libc::RESOLVE_IN_ROOT),
            (flags(libc::O_PATH | libc::O_TRUNC), 0, 0),
        ] {
            assert!(!is_taken(refused), "{refused:?}");
        }
    }
}

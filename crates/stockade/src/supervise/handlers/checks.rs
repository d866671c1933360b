//! The checks that several families share.

use crate::supervise::handlers::answer::Handled;
use crate::supervise::handlers::git::taking_over;
use crate::supervise::object::pinned::Place;
use crate::supervise::state::made::Made;
use std::os::fd::{AsFd, OwnedFd};

use super::context::NotifyContext;
use super::enforce::Attempt;
use crate::policy::Access;
use crate::report::Kind;
use crate::supervise::call::errno::Errno;
use crate::supervise::judge::policy::Judge;
use crate::supervise::judge::verdict::AccessVerdict;
use crate::supervise::object::pinned::Pinned;
use crate::supervise::object::subject::Subject;
use stockade_sys::file;

/// The errno of a refused metadata change, as for another user's file.
pub const NOT_YOURS: Errno = Errno(libc::EPERM);

impl NotifyContext<'_> {
    /// Pins the object that a call names.
    pub fn object(&self, subject: &Subject) -> Result<Pinned, Errno> {
        subject.object(&self.run().process_lists, self.fds(), self.caller())
    }

    /// The object, if the run may write it. Never a device, whose mode is the machine's.
    pub fn writable(&self, subject: &Subject) -> Handled<Pinned> {
        self.changeable(subject, |judge, object| judge.object(Access::WRITE, object))
    }

    /// The object, if the run may change its attributes by this verdict.
    pub fn changeable(&self, subject: &Subject, ask: impl Fn(&Judge<'_>, &Pinned) -> AccessVerdict) -> Handled<Pinned> {
        let object = self.object(subject)?;
        let attempt = Attempt::with(Kind::Metadata, subject.asked(), &object);
        if object.is_device() || !object.has_name() && !object.is_regular() {
            let target = object.name().as_os_str().as_encoded_bytes();
            return Err(self.never(&attempt, target, "devices and pipes keep their attributes"));
        }
        let verdict = self.judge.all(|judge| ask(judge, &object));
        self.enforce(verdict, &attempt, object.name(), NOT_YOURS)?;
        Ok(object)
    }

    /// The socket that a descriptor of the caller's refers to.
    pub fn socket(&self, number: i32) -> Result<OwnedFd, Errno> {
        let refused = match self.caller().same_file(number) {
            Err(Errno(libc::EPERM | libc::ENOSYS)) => Errno(libc::EPERM),
            other => return other,
        };
        self.run().sockets.copy(self.socket_number(number)?).ok_or(refused)
    }

    /// Keeps a copy of a socket that is about to be the caller's and couldn't be taken from it.
    pub fn keep_socket(&self, made: &OwnedFd) -> Handled<()> {
        Ok(self.run().sockets.keep(made)?)
    }

    /// Drops the copy.
    pub fn release_socket(&self, number: i32) {
        if !self.run().sockets.is_empty()
            && let Ok(number) = self.socket_number(number)
        {
            self.run().sockets.release(number);
        }
    }

    fn socket_number(&self, number: i32) -> Result<u64, Errno> {
        let pinned = self.caller().descriptor(number)?;
        Ok(file::status(pinned.as_fd())?.st_ino)
    }
}

/// Refuses set-user-ID and set-group-ID programs, which could be left behind for somebody outside to start.
pub fn refuse_set_user_id(context: &NotifyContext<'_>, mode: u32, asked: &[u8]) -> Handled<()> {
    if mode & (libc::S_ISUID | libc::S_ISGID) == 0 {
        return Ok(());
    }
    let attempt = Attempt::on(Kind::Metadata, asked);
    let reason = "no run makes set-user-ID or set-group-ID programs";
    Err(context.never(&attempt, asked, reason))
}

/// Records a directory that the run made. Nothing in it is guarded for its name alone, as cloned repositories need.
pub fn note_directory(context: &NotifyContext<'_>, place: &Place) {
    if let Some(made) = place.look() {
        let is_repository = taking_over::is_repository(place.name());
        context.judge.note_made(|list| {
            Made::keep(&mut list.directories, made.identity(), Made::MAX_DIRECTORIES);
            if is_repository {
                list.found(place.name());
            }
        });
    }
}

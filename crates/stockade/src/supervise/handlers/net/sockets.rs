//! `connect` and `bind`, on the target's own socket. The address is read once, decisions are made on that copy, and no
//! call is ever continued.
//!
//! A path is pinned and connected through its descriptor. `bind` uses the target's own text, since that is the address
//! which the socket has afterwards, on a thread that Landlock lets make sockets below the pinned directory alone.
//! Sockets that the run bound are reachable; others need a grant, and some well-known ones a grant of their own name.

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{internet, stand_in};
use crate::fault;
use crate::policy::{Access, is_powerful_socket};
use crate::report::{Kind, Reason};
use crate::supervise::call::caller::Alleged;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::Isolation;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::enforce::Attempt;
use crate::supervise::handlers::processes::nest;
use crate::supervise::judge::policy::{CLOSED, Judge};
use crate::supervise::judge::verdict::{AccessVerdict, By};
use crate::supervise::object::pinned::{Pinned, Place};
use crate::supervise::object::resolve::Last;
use crate::supervise::state::made::Made;
use stockade_sys::{confine, outer, socket};

/// `sizeof(struct sockaddr_storage)`.
const MAX_LENGTH: usize = 128;
/// The offset of the path in `struct sockaddr_un`, and its largest length.
const PATH_AT: usize = 2;
const MAX_PATH: usize = 108;

/// Why abstract names, which no directory holds, are never connected or bound.
const ABSTRACT: &str = "abstract unix sockets are closed";

/// An address as read from the target's memory.
struct Address(Vec<u8>);

impl Address {
    fn read(context: &NotifyContext<'_>) -> Handled<Address> {
        let registers = context.caller().registers;
        let length = usize::try_from(registers.int(2)).map_err(|_| Errno(libc::EINVAL))?;
        if length > MAX_LENGTH {
            return fail(libc::EINVAL);
        }
        let mut bytes = vec![0; length];
        context.caller().read(registers.long(1), &mut bytes)?;
        Ok(Address(bytes))
    }

    fn family(&self) -> Option<i32> {
        let bytes = self.0.get(..PATH_AT)?.try_into().expect("two bytes");
        Some(i32::from(u16::from_ne_bytes(bytes)))
    }

    /// The path of a unix address; `None` for an abstract name or an empty address.
    fn path(&self) -> Handled<Option<Alleged>> {
        let bytes = &self.0[PATH_AT..];
        if bytes.len() > MAX_PATH {
            return fail(libc::EINVAL);
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        if end == 0 {
            return Ok(None);
        }
        Ok(Some(Alleged::new(
            CString::new(&bytes[..end]).expect("cut at the first NUL"),
        )))
    }
}

pub fn connect(context: &NotifyContext<'_>) -> Handled {
    let address = Address::read(context)?;
    let target = context.socket(context.caller().registers.int(0))?;
    context.caller().confirm()?;
    let domain = socket::domain(target.as_fd())?;
    if domain == libc::AF_UNIX {
        return connect_unix(context, target, &address);
    }
    if address.family() == Some(libc::AF_UNSPEC) || domain == libc::AF_NETLINK {
        socket::connect(target.as_fd(), &address.0)?;
        return Ok(CallAnswer::Value(0));
    }
    internet::connect(context, target, domain, &address.0)
}

fn connect_unix(context: &NotifyContext<'_>, socket: OwnedFd, address: &Address) -> Handled {
    if address.family() == Some(libc::AF_UNSPEC) {
        socket::connect(socket.as_fd(), &address.0)?;
        return Ok(CallAnswer::Value(0));
    }
    if stand_in::is_meant(context, address.family()) {
        return stand_in::connect(context, &socket, &address.0);
    }
    if address.family() != Some(libc::AF_UNIX) {
        return fail(libc::EINVAL);
    }
    let Some(path) = address.path()? else {
        if &address.0[PATH_AT..] == outer::NAME {
            return nest::connect(context);
        }
        let name = [b"@", address.0.get(PATH_AT + 1..).unwrap_or_default()].concat();
        return Err(context.never(&Attempt::on(Kind::Socket, &name), &name, ABSTRACT));
    };
    let object = context.request(libc::AT_FDCWD, &path).object(Last::Follow)?;
    context.caller().confirm()?;
    if !object.is_socket() {
        return fail(libc::ECONNREFUSED);
    }
    let attempt = Attempt::on(Kind::Socket, path.bytes());
    context.enforce(
        context.judge.all(|judge| verdict(judge, &object)),
        &attempt,
        object.name(),
        CLOSED,
    )?;
    Ok(CallAnswer::apart(move |context| {
        socket::connect(socket.as_fd(), &unix_address(object.path().as_bytes()))?;
        context.release_socket(context.caller().registers.int(0));
        Ok(CallAnswer::Value(0))
    }))
}

/// Allows the run's own sockets, and those granted by name. Write access to a directory doesn't open its sockets.
fn verdict(judge: &Judge<'_>, object: &Pinned) -> AccessVerdict {
    let run_policy = judge.run_policy;
    if run_policy.made().sockets.contains(&object.identity()) {
        return AccessVerdict::Allowed(By::Supervisor);
    }
    // A grant of this exact path allows even an agent's socket that lies among secrets.
    let grants = &run_policy.run_config.policy.sockets;
    if grants.iter().any(|grant| grant.path == object.name()) {
        return AccessVerdict::Allowed(By::Supervisor);
    }
    if let Some(denial) = judge.denial(object.name()) {
        return AccessVerdict::Refused(denial);
    }
    if judge.is_opened(|opened| opened.socket(object.name())) {
        return AccessVerdict::Allowed(By::Supervisor);
    }
    let is_inside = grants.iter().any(|grant| object.name().starts_with(&grant.path));
    if is_inside && !is_powerful_socket(object.name()) {
        AccessVerdict::Allowed(By::Supervisor)
    } else {
        AccessVerdict::Refused(Reason::NotGranted)
    }
}

fn unix_address(path: &[u8]) -> Vec<u8> {
    let mut address = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    address.extend(path);
    address.push(0);
    address
}

pub fn bind(context: &NotifyContext<'_>) -> Handled {
    let address = Address::read(context)?;
    let socket = context.socket(context.caller().registers.int(0))?;
    context.caller().confirm()?;
    match socket::domain(socket.as_fd())? {
        libc::AF_UNIX => {}
        domain @ (libc::AF_INET | libc::AF_INET6) => return internet::bind(context, &socket, domain, &address.0),
        _ => {
            // Netlink's route sockets.
            socket::bind(socket.as_fd(), &address.0)?;
            return Ok(CallAnswer::Value(0));
        }
    }
    if stand_in::is_meant(context, address.family()) {
        return stand_in::bind(context, &address.0);
    }
    if address.family() != Some(libc::AF_UNIX) {
        return fail(libc::EINVAL);
    }
    let Some(path) = address.path()? else {
        return Err(context.never(&Attempt::on(Kind::Socket, b""), b"@", ABSTRACT));
    };
    let place = context.request(libc::AT_FDCWD, &path).place()?;
    context.caller().confirm()?;
    if place.look().is_some() {
        return fail(libc::EADDRINUSE);
    }
    let attempt = Attempt::without(Kind::Create, path.bytes());
    context.enforce(
        context.judge.place(Access::WRITE, &place),
        &attempt,
        place.name(),
        CLOSED,
    )?;
    bind_at(context, socket.as_fd(), &place, &address)?;
    Ok(CallAnswer::Value(0))
}

/// Binds in the pinned directory. The socket's address is from then on the text by which it was bound, so that has to
/// be the target's own.
fn bind_at(context: &NotifyContext<'_>, socket: BorrowedFd<'_>, place: &Place, address: &Address) -> Handled<()> {
    // The mode of a socket depends on the umask alone.
    context.mode_under_umask(0o777);
    let as_given = match context.fds().isolation {
        Isolation::Own => bind_as_given(context, socket, place, address),
        Isolation::Shared => fail(libc::EPERM),
    };
    if as_given.is_err() {
        bind_by_name(context, socket, place)?;
    }
    let made = place.look().ok_or(CLOSED)?;
    context
        .judge
        .note_made(|list| Made::keep(&mut list.sockets, made.identity(), Made::MAX));
    Ok(())
}

/// Binds on a thread that can make sockets only below the pinned directory: the path may lead elsewhere by now. It
/// starts from the target's own directory.
fn bind_as_given(context: &NotifyContext<'_>, socket: BorrowedFd<'_>, place: &Place, address: &Address) -> Handled<()> {
    let directory = context.caller().own_entry("cwd")?;
    let (socket, parent) = (socket.try_clone_to_owned()?, place.parent.as_fd().try_clone_to_owned()?);
    let (bytes, isolation) = (address.0.clone(), context.fds().isolation);
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    crate::supervise::call::threads::spawn(move || {
        let bind = || -> std::io::Result<()> {
            isolation.leave_directory()?;
            confine::change_directory(directory.as_raw_fd())?;
            crate::ruleset::make_sockets_only_below(parent)?;
            socket::bind(socket.as_fd(), &bytes)
        };
        let _ = sender.send(fault::contain(bind));
    })?;
    match receiver.recv() {
        Ok(Ok(bound)) => Ok(bound?),
        Ok(Err(fault)) => fault::pass_on(fault),
        Err(_) => fail(libc::EPERM),
    }
}

/// Binds in the directory itself: the worker changes to it, since an address has room for a short path only.
fn bind_by_name(context: &NotifyContext<'_>, socket: BorrowedFd<'_>, place: &Place) -> Handled<()> {
    match context.fds().isolation {
        Isolation::Own => {
            confine::change_directory(place.parent.as_fd().as_raw_fd())?;
            let bound = socket::bind(socket, &unix_address(place.component().to_bytes()));
            confine::change_directory(context.fds().root.as_raw_fd())?;
            Ok(bound?)
        }
        Isolation::Shared => {
            let path = [place.parent.path().as_bytes(), b"/", place.component().to_bytes()].concat();
            if path.len() >= MAX_PATH {
                return fail(libc::ENAMETOOLONG);
            }
            Ok(socket::bind(socket, &unix_address(&path))?)
        }
    }
}

//! Runs without network: what they would reach is told, and refused.
//!
//! Such a run gets a unix stream where it asks for TCP. No address of the internet is anything to it, so the run is where it
//! was without one; but `connect` and `bind` say which host and port it wanted. Names are asked of a nameserver that knows
//! none: the stream is replaced by one end of a pair then, and no other process can get in between.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::answer::{Answer, Errno};
use super::caller::Alleged;
use super::internet::{self, Cleared, REFUSED};
use super::notify_context::NotifyContext;
use super::worker::{self, Slow};
use crate::network::{self, NAMES_PORT, NAMESERVER, NetworkAcl};
use crate::report::{Kind, Part, Reason};
use crate::{fault, plan};
use stockade_sys::{file, notify};

/// Slow calls beside which no nameserver begins: the run's other ones need theirs.
const MOST_NAMESERVERS: usize = 64;

/// Whether an address of this family is one that a run without network gives to a stand-in.
pub fn is_meant(context: &NotifyContext<'_>, family: Option<i32>) -> bool {
    matches!(family, Some(libc::AF_INET | libc::AF_INET6)) && is_needed(context)
}

/// Whether the run, or a run inside it that the caller is in, has no network.
pub fn is_needed(context: &NotifyContext<'_>) -> bool {
    refusing(context, Reason::NotGranted).is_some()
}

/// The reason of the run that has none.
pub fn refusing(context: &NotifyContext<'_>, reason: Reason) -> Option<Reason> {
    context
        .judge
        .refusing(reason, |run_policy| plan::has_network(&run_policy.run_config.policy))
}

/// `connect` of a stand-in to an address of the internet, which nothing grants.
pub fn connect(context: &NotifyContext<'_>, target: &OwnedFd, bytes: &[u8]) -> Result<Answer, Errno> {
    let address = internet::parse(bytes)?;
    if address == SocketAddr::new(NAMESERVER.into(), NAMES_PORT) {
        return ask_for_names(context, target);
    }
    // Programs try both addresses of this machine, and one grant is for both.
    let wanted = match address.ip().is_loopback() {
        true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        false => address,
    };
    let reason = network::why_closed(address.ip());
    let reason = refusing(context, reason.clone()).unwrap_or(reason);
    // This asks no question: a run whose caller can be asked for hosts has sockets.
    Cleared::of(context).refuse(Kind::Connect, &wanted.to_string(), &address.to_string(), reason);
    Err(REFUSED)
}

/// `bind` of a stand-in: a server's port.
pub fn bind(context: &NotifyContext<'_>, bytes: &[u8]) -> Result<Answer, Errno> {
    let given = internet::parse(bytes)?;
    let wanted = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), given.port());
    Cleared::of(context).refuse(
        Kind::Listen,
        &wanted.to_string(),
        &given.to_string(),
        not_granted(context),
    );
    Err(REFUSED)
}

fn not_granted(context: &NotifyContext<'_>) -> Reason {
    refusing(context, Reason::NotGranted).unwrap_or(Reason::NotGranted)
}

/// Gives the run a connection to a nameserver of its own, which lives as long as that is used.
fn ask_for_names(context: &NotifyContext<'_>, target: &OwnedFd) -> Result<Answer, Errno> {
    if context.shared().slow.load(Ordering::Relaxed) >= MOST_NAMESERVERS {
        return Err(Errno(libc::EAGAIN));
    }
    let slow = Slow::begin(&context.worker.shared).ok_or(Errno(libc::EAGAIN))?;
    let (own, stream) = UnixStream::pair()?;
    own.set_nonblocking(file::open_flags(target.as_fd())? & libc::O_NONBLOCK != 0)?;
    context.caller().confirm()?;
    let (number, id) = (context.caller().registers.int(0), context.notification.id);
    notify::replace(context.worker_fds().listener.as_fd(), id, own.as_fd(), number)?;
    context.release_socket(number);
    drop(own);
    let (acl, reason) = (Cleared::of(context), not_granted(context));
    let faults = Arc::clone(&context.shared().faults);
    worker::spawn(move || {
        let _slow = slow;
        let mut was_asked = false;
        let mut refuse = |name: &str| {
            was_asked = true;
            acl.refuse(Kind::Resolve, name, name, reason.clone());
        };
        if let Err(fault) = fault::contain(|| network::know_nothing(stream, &mut refuse)) {
            faults.note(Part::Names, &fault);
        }
        if !was_asked {
            // Who finds that it is no TCP says no name.
            acl.refuse(Kind::Connect, "internet", "internet", reason);
        }
    })?;
    Ok(Answer::Value(0))
}

/// What is served in place of a file by which names are found. The machine's hosts file is one like others, until a process
/// has opened what C libraries open before it to find a host.
pub fn file(context: &NotifyContext<'_>, path: &Alleged) -> Option<String> {
    if !network::is_about_names(path.bytes()) || !is_needed(context) {
        return None;
    }
    super::synthetic_files::is_looking_for_hosts(context, path)
        .then(|| network::file_without_names(path.bytes()))
        .flatten()
}

//! Runs without network: what they try to reach is reported, and refused.
//!
//! Such a run gets a unix stream when it asks for TCP. Internet addresses mean nothing to that socket, so the run
//! reaches no more than without one; but `connect` and `bind` show which host and port it wanted. Lookups go to a
//! nameserver that knows no names: then one end of a pair replaces the stream, and no other process can get in between.
//!
//! TCP options on it do nothing and succeed, and this machine's addresses are told as 127.0.0.1. Package managers are
//! told by variables not to try again (`policy/environment.rs`).

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::acl::Cleared;
use super::address;
use super::address::REFUSED;
use crate::network::{self, NAMES_PORT, NAMESERVER, NetworkAcl};
use crate::report::{FaultyPart, Kind, Reason};
use crate::supervise::call::errno::Errno;
use crate::supervise::call::threads::spawn;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::{fault, plan};
use stockade_sys::{file, notify};

/// Most slow calls beside which a nameserver is started: the run's other slow calls need the rest.
const MAX_NAMESERVERS: usize = 64;

/// Whether an address of this family means a stand-in, because the run has no network.
pub fn is_meant(context: &NotifyContext<'_>, family: Option<i32>) -> bool {
    matches!(family, Some(libc::AF_INET | libc::AF_INET6)) && is_needed(context)
}

/// Whether the run, or a nested run that the caller is in, has no network.
pub fn is_needed(context: &NotifyContext<'_>) -> bool {
    refusing(context, Reason::NotGranted).is_some()
}

/// The refusal's reason from the run that has no network.
pub fn refusing(context: &NotifyContext<'_>, reason: Reason) -> Option<Reason> {
    context
        .judge
        .refusing(reason, |run_policy| plan::has_network(&run_policy.run_config.policy))
}

/// `connect` of a stand-in to an internet address, which nothing grants.
pub fn connect(context: &NotifyContext<'_>, target: &OwnedFd, bytes: &[u8]) -> Handled {
    let address = address::parse(bytes)?;
    if address == SocketAddr::new(NAMESERVER.into(), NAMES_PORT) {
        return ask_for_names(context, target);
    }
    // Programs try both addresses of this machine, and one grant covers both.
    let wanted = match address.ip().is_loopback() {
        true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        false => address,
    };
    let reason = network::why_closed(address.ip());
    let reason = refusing(context, reason.clone()).unwrap_or(reason);
    // No question is asked: a run whose approver can be asked for hosts has sockets.
    Cleared::of(context).refuse(Kind::Connect, &wanted.to_string(), &address.to_string(), reason);
    Err(REFUSED.into())
}

/// `bind` of a stand-in to a server's port.
pub fn bind(context: &NotifyContext<'_>, bytes: &[u8]) -> Handled {
    let given = address::parse(bytes)?;
    let wanted = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), given.port());
    let reason = address::why_not_granted(given.port());
    let reason = refusing(context, reason.clone()).unwrap_or(reason);
    Cleared::of(context).refuse(Kind::Listen, &wanted.to_string(), &given.to_string(), reason);
    Err(REFUSED.into())
}

fn not_granted(context: &NotifyContext<'_>) -> Reason {
    refusing(context, Reason::NotGranted).unwrap_or(Reason::NotGranted)
}

/// Gives the run a connection to a nameserver of its own, which lives as long as it is used.
fn ask_for_names(context: &NotifyContext<'_>, target: &OwnedFd) -> Handled {
    if context.run().slow.count() >= MAX_NAMESERVERS {
        return fail(libc::EAGAIN);
    }
    let slow = context.run().slow.begin().ok_or(Errno(libc::EAGAIN))?;
    let (own, stream) = UnixStream::pair()?;
    own.set_nonblocking(file::open_flags(target.as_fd())? & libc::O_NONBLOCK != 0)?;
    context.caller().confirm()?;
    let (number, id) = (context.caller().registers.int(0), context.notification.id);
    notify::replace(context.fds().listener.as_fd(), id, own.as_fd(), number)?;
    context.release_socket(number);
    drop(own);
    let (acl, reason) = (Cleared::of(context), not_granted(context));
    let faults = Arc::clone(&context.run().journal.faults);
    spawn(move || {
        let _slow = slow;
        let mut was_asked = false;
        let mut refuse = |name: &str| {
            was_asked = true;
            acl.refuse(Kind::Resolve, name, name, reason.clone());
        };
        if let Err(fault) = fault::contain(|| network::know_nothing(stream, &mut refuse)) {
            faults.note(FaultyPart::Names, &fault);
        }
        if !was_asked {
            // A client that notices that this isn't TCP sends no name.
            acl.refuse(Kind::Connect, "internet", "internet", reason);
        }
    })?;
    Ok(CallAnswer::Value(0))
}

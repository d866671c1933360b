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
use super::desk::Desk;
use super::internet::{self, Cleared, REFUSED};
use super::worker::{self, Slow};
use crate::network::{self, Clearance, NAMES_PORT, NAMESERVER};
use crate::report::{Kind, Part, Reason};
use crate::{fault, plan};
use stockade_sys::{file, notify};

/// Slow calls beside which no nameserver begins: the run's other ones need theirs.
const MOST_NAMESERVERS: usize = 64;

/// Whether an address of this family is one that a run without network gives to a stand-in.
pub fn is_meant(desk: &Desk<'_>, family: Option<i32>) -> bool {
    matches!(family, Some(libc::AF_INET | libc::AF_INET6)) && is_needed(desk)
}

/// Whether the run, or a run inside it that the caller is in, has no network.
pub fn is_needed(desk: &Desk<'_>) -> bool {
    refusing(desk, Reason::NotGranted).is_some()
}

/// The reason of the run that has none.
pub fn refusing(desk: &Desk<'_>, reason: Reason) -> Option<Reason> {
    desk.judge
        .refusing(reason, |realm| plan::has_network(&realm.brief.policy))
}

/// `connect` of a stand-in to an address of the internet, which nothing grants.
pub fn connect(desk: &Desk<'_>, target: &OwnedFd, bytes: &[u8]) -> Result<Answer, Errno> {
    let address = internet::parse(bytes)?;
    if address == SocketAddr::new(NAMESERVER.into(), NAMES_PORT) {
        return ask_for_names(desk, target);
    }
    // Programs try both addresses of this machine, and one grant is for both.
    let wanted = match address.ip().is_loopback() {
        true => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        false => address,
    };
    let reason = network::why_closed(address.ip());
    let reason = refusing(desk, reason.clone()).unwrap_or(reason);
    // This asks no question: a run whose caller can be asked for hosts has sockets.
    Cleared::of(desk).refuse(Kind::Connect, &wanted.to_string(), &address.to_string(), reason);
    Err(REFUSED)
}

/// `bind` of a stand-in: a server's port.
pub fn bind(desk: &Desk<'_>, bytes: &[u8]) -> Result<Answer, Errno> {
    let given = internet::parse(bytes)?;
    let wanted = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), given.port());
    let reason = internet::why_not_granted(given.port());
    let reason = refusing(desk, reason.clone()).unwrap_or(reason);
    Cleared::of(desk).refuse(Kind::Listen, &wanted.to_string(), &given.to_string(), reason);
    Err(REFUSED)
}

fn not_granted(desk: &Desk<'_>) -> Reason {
    refusing(desk, Reason::NotGranted).unwrap_or(Reason::NotGranted)
}

/// Gives the run a connection to a nameserver of its own, which lives as long as that is used.
fn ask_for_names(desk: &Desk<'_>, target: &OwnedFd) -> Result<Answer, Errno> {
    if desk.shared().slow.load(Ordering::Relaxed) >= MOST_NAMESERVERS {
        return Err(Errno(libc::EAGAIN));
    }
    let slow = Slow::begin(&desk.worker.shared).ok_or(Errno(libc::EAGAIN))?;
    let (own, stream) = UnixStream::pair()?;
    own.set_nonblocking(file::open_flags(target.as_fd())? & libc::O_NONBLOCK != 0)?;
    desk.caller().confirm()?;
    let (number, id) = (desk.caller().registers.int(0), desk.notification.id);
    notify::replace(desk.station().listener.as_fd(), id, own.as_fd(), number)?;
    desk.release_socket(number);
    drop(own);
    let (clearance, reason) = (Cleared::of(desk), not_granted(desk));
    let faults = Arc::clone(&desk.shared().faults);
    worker::spawn(move || {
        let _slow = slow;
        let mut was_asked = false;
        let mut refuse = |name: &str| {
            was_asked = true;
            clearance.refuse(Kind::Resolve, name, name, reason.clone());
        };
        if let Err(fault) = fault::contain(|| network::know_nothing(stream, &mut refuse)) {
            faults.note(Part::Names, &fault);
        }
        if !was_asked {
            // Who finds that it is no TCP says no name.
            clearance.refuse(Kind::Connect, "internet", "internet", reason);
        }
    })?;
    Ok(Answer::Value(0))
}

/// What is served in place of a file by which names are found. The machine's hosts file is one like others, until a process
/// has opened what C libraries open before it to find a host.
pub fn file(desk: &Desk<'_>, path: &Alleged) -> Option<String> {
    if !network::is_about_names(path.bytes()) || !is_needed(desk) {
        return None;
    }
    super::served::is_looking_for_hosts(desk, path)
        .then(|| network::file_without_names(path.bytes()))
        .flatten()
}

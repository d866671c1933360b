//! `connect` and `bind`, on the target's own socket. The address is read once; what is done with it is decided on that
//! copy, and nothing is ever continued.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::answer::{Answer, Errno};
use super::caller::Alleged;
use super::judge::{CLOSED, Judge, Verdict};
use super::nested;
use super::pinned::{Pinned, Place};
use super::realm::Realm;
use super::refuse::Attempt;
use super::resolve::{Last, Request};
use super::shared::Made;
use super::station::Isolation;
use super::worker::Desk;
use crate::policy::{Reach, is_powerful_socket};
use crate::report::{Kind, Reason};
use crate::sys::{confine, file, outer};

/// `sizeof(struct sockaddr_storage)`.
const LONGEST: usize = 128;
/// Where the path starts in `struct sockaddr_un`, and how long it may be.
const PATH_AT: usize = 2;
const LONGEST_PATH: usize = 108;

/// Why names that no directory holds are never connected or bound.
const ABSTRACT: &str = "abstract unix sockets are closed";

/// An address as the target's memory held it.
struct Address(Vec<u8>);

impl Address {
    fn read(desk: &Desk<'_>) -> Result<Address, Errno> {
        let registers = desk.caller().registers;
        let length = usize::try_from(registers.int(2)).map_err(|_| Errno(libc::EINVAL))?;
        if length > LONGEST {
            return Err(Errno(libc::EINVAL));
        }
        let mut bytes = vec![0; length];
        desk.caller().read(registers.long(1), &mut bytes)?;
        Ok(Address(bytes))
    }

    fn family(&self) -> Option<i32> {
        let bytes = self.0.get(..PATH_AT)?.try_into().expect("two bytes");
        Some(i32::from(u16::from_ne_bytes(bytes)))
    }

    /// The path of a unix address; `None` for abstract names and for none at all.
    fn path(&self) -> Result<Option<Alleged>, Errno> {
        let bytes = &self.0[PATH_AT..];
        if bytes.len() > LONGEST_PATH {
            return Err(Errno(libc::EINVAL));
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        if end == 0 {
            return Ok(None);
        }
        Ok(Some(Alleged::new(
            CString::new(&bytes[..end]).expect("cut at the first NUL"),
        )))
    }

    fn internet(&self) -> Option<IpAddr> {
        match self.family()? {
            libc::AF_INET => {
                let octets: [u8; 4] = self.0.get(4..8)?.try_into().ok()?;
                Some(IpAddr::V4(Ipv4Addr::from(octets)))
            }
            libc::AF_INET6 => {
                let octets: [u8; 16] = self.0.get(8..24)?.try_into().ok()?;
                Some(Ipv6Addr::from(octets).to_canonical())
            }
            _ => None,
        }
    }
}

/// A socket that the policy has no place for.
pub fn refuse(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let family = desk.caller().registers.int(0);
    let is_internet = [libc::AF_INET, libc::AF_INET6].contains(&family);
    let (kind, target, reason) = if is_internet {
        (Kind::Connect, "internet".to_string(), Reason::NotGranted)
    } else {
        let reason = Reason::Never("no profile allows sockets of this kind");
        (Kind::Socket, format!("socket family {family}"), reason)
    };
    desk.note(&Attempt::on(kind, b""), target.as_bytes(), reason);
    Err(Errno(libc::EPERM))
}

pub fn connect(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let address = Address::read(desk)?;
    let socket = desk.caller().same_file(desk.caller().registers.int(0))?;
    desk.caller().confirm()?;
    let domain = file::socket_domain(socket.as_fd())?;
    if domain == libc::AF_UNIX {
        return connect_unix(desk, socket, &address);
    }
    if address.family() == Some(libc::AF_UNSPEC) || domain == libc::AF_NETLINK {
        file::connect(socket.as_fd(), &address.0)?;
        return Ok(Answer::Value(0));
    }
    require_reach(desk, &address)?;
    desk.later(move |_| {
        file::connect(socket.as_fd(), &address.0)?;
        Ok(Answer::Value(0))
    })
}

/// Every host but those that hand out the machine's own credentials.
fn require_reach(desk: &Desk<'_>, address: &Address) -> Result<(), Errno> {
    let Some(host) = address.internet() else {
        return Err(Errno(libc::EAFNOSUPPORT));
    };
    let has_reach = |realm: &Realm| realm.brief.policy.reach == Reach::Everything;
    let reason = if !desk.judge.realms().all(has_reach) {
        Reason::NotGranted
    } else if is_metadata_service(host) {
        Reason::Never("cloud metadata services hand out the machine's own credentials")
    } else {
        return Ok(());
    };
    desk.note(&Attempt::on(Kind::Connect, b""), host.to_string().as_bytes(), reason);
    Err(Errno(libc::ECONNREFUSED))
}

/// Addresses at which clouds serve credentials: link-local (AWS, Azure, Google), Alibaba, Azure's host, and on IPv6 AWS,
/// Google and Oracle.
fn is_metadata_service(host: IpAddr) -> bool {
    match host {
        IpAddr::V4(host) => {
            host.is_link_local() || [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)].contains(&host)
        }
        IpAddr::V6(host) => {
            let aws = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
            let google = Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254);
            let pods = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23);
            let oracle = Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe);
            [aws, google, pods, oracle].contains(&host)
        }
    }
}

fn connect_unix(desk: &Desk<'_>, socket: OwnedFd, address: &Address) -> Result<Answer, Errno> {
    if address.family() == Some(libc::AF_UNSPEC) {
        file::connect(socket.as_fd(), &address.0)?;
        return Ok(Answer::Value(0));
    }
    if address.family() != Some(libc::AF_UNIX) {
        return Err(Errno(libc::EINVAL));
    }
    let Some(path) = address.path()? else {
        if &address.0[PATH_AT..] == outer::NAME {
            return nested::connect(desk);
        }
        let name = [b"@", address.0.get(PATH_AT + 1..).unwrap_or_default()].concat();
        return Err(desk.never(&Attempt::on(Kind::Socket, &name), &name, ABSTRACT));
    };
    let object = Request::new(desk.station(), desk.caller(), libc::AT_FDCWD, &path).object(Last::Follow)?;
    desk.caller().confirm()?;
    if !object.is_socket() {
        return Err(Errno(libc::ECONNREFUSED));
    }
    let attempt = Attempt::on(Kind::Socket, path.bytes());
    desk.enforce(
        desk.judge.all(|judge| verdict(judge, &object)),
        &attempt,
        object.name(),
        CLOSED,
    )?;
    desk.later(move |_| {
        file::connect(socket.as_fd(), &unix_address(object.path().as_bytes()))?;
        Ok(Answer::Value(0))
    })
}

/// The run's own sockets, and those that are granted by name. A directory that may be written opens none.
fn verdict(judge: &Judge<'_>, object: &Pinned) -> Verdict {
    let realm = judge.realm;
    if object
        .identity()
        .is_some_and(|identity| realm.made().sockets.contains(&identity))
    {
        return Verdict::OnBehalf;
    }
    // Named one by one even an agent's that lies among secrets.
    let grants = &realm.brief.policy.sockets;
    if grants.iter().any(|grant| grant.path == object.name()) {
        return Verdict::OnBehalf;
    }
    if let Some(denial) = judge.denial(object.name()) {
        return Verdict::Refused(denial);
    }
    let is_inside = grants.iter().any(|grant| object.name().starts_with(&grant.path));
    if is_inside && !is_powerful_socket(object.name()) {
        Verdict::OnBehalf
    } else {
        Verdict::Refused(Reason::NotGranted)
    }
}

fn unix_address(path: &[u8]) -> Vec<u8> {
    let mut address = (libc::AF_UNIX as u16).to_ne_bytes().to_vec();
    address.extend(path);
    address.push(0);
    address
}

pub fn bind(desk: &Desk<'_>) -> Result<Answer, Errno> {
    let address = Address::read(desk)?;
    let socket = desk.caller().same_file(desk.caller().registers.int(0))?;
    desk.caller().confirm()?;
    if file::socket_domain(socket.as_fd())? != libc::AF_UNIX {
        // Only a run that may reach every host has other sockets.
        file::bind(socket.as_fd(), &address.0)?;
        return Ok(Answer::Value(0));
    }
    if address.family() != Some(libc::AF_UNIX) {
        return Err(Errno(libc::EINVAL));
    }
    let Some(path) = address.path()? else {
        return Err(desk.never(&Attempt::on(Kind::Socket, b""), b"@", ABSTRACT));
    };
    let place = Request::new(desk.station(), desk.caller(), libc::AT_FDCWD, &path).place()?;
    desk.caller().confirm()?;
    if place.look().is_some() {
        return Err(Errno(libc::EADDRINUSE));
    }
    let attempt = Attempt::without(Kind::Create, path.bytes());
    desk.enforce(desk.judge.place(&place), &attempt, place.name(), CLOSED)?;
    bind_at(desk, socket.as_fd(), &place)?;
    Ok(Answer::Value(0))
}

/// Binds in the pinned directory: the worker goes there, since an address has room for a short path only.
fn bind_at(desk: &Desk<'_>, socket: BorrowedFd<'_>, place: &Place) -> Result<(), Errno> {
    // The mode of a socket is its umask's affair alone.
    desk.mode_under_umask(0o777);
    match desk.station().isolation {
        Isolation::Own => {
            confine::change_directory(place.parent.as_fd().as_raw_fd())?;
            let bound = file::bind(socket, &unix_address(place.component().to_bytes()));
            confine::change_directory(desk.station().root.as_raw_fd())?;
            bound?;
        }
        Isolation::Shared => {
            let path = [place.parent.path().as_bytes(), b"/", place.component().to_bytes()].concat();
            if path.len() >= LONGEST_PATH {
                return Err(Errno(libc::ENAMETOOLONG));
            }
            file::bind(socket, &unix_address(&path))?;
        }
    }
    if let Some(made) = place.look() {
        desk.judge
            .note_made(|list| Made::keep(&mut list.sockets, made.identity(), Made::MOST));
    }
    Ok(())
}

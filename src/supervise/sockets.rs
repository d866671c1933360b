//! `connect` and `bind`, on the target's own socket. The address is read once; what is done with it is decided on that
//! copy, and nothing is ever continued.

use std::ffi::CString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use super::answer::{Answer, Errno};
use super::caller::Alleged;
use super::judge::{CLOSED, Verdict};
use super::pinned::{Pinned, Place};
use super::refuse::Attempt;
use super::resolve::{Last, Request};
use super::worker::Desk;
use crate::policy::Reach;
use crate::report::{Kind, Reason};
use crate::sys::file;

/// `sizeof(struct sockaddr_storage)`.
const LONGEST: usize = 128;
/// Where the path starts in `struct sockaddr_un`, and how long it may be.
const PATH_AT: usize = 2;
const LONGEST_PATH: usize = 108;

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
    note(desk, kind, b"", target.as_bytes(), reason);
    Err(Errno(libc::EPERM))
}

fn note(desk: &Desk<'_>, kind: Kind, asked: &[u8], target: &[u8], reason: Reason) {
    let attempt = Attempt {
        kind,
        asked,
        exists: true,
        is_directory: false,
    };
    desk.note(&attempt, target, reason);
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
    let reason = if desk.shared().brief.policy.reach != Reach::Everything {
        Reason::NotGranted
    } else if is_metadata_service(host) {
        Reason::Never("cloud metadata services hand out the machine's own credentials")
    } else {
        return Ok(());
    };
    note(desk, Kind::Connect, b"", host.to_string().as_bytes(), reason);
    Err(Errno(libc::ECONNREFUSED))
}

/// Link-local addresses at which clouds serve credentials (AWS, Azure, Google, Alibaba; AWS on IPv6).
fn is_metadata_service(host: IpAddr) -> bool {
    match host {
        IpAddr::V4(host) => host.is_link_local() || host == Ipv4Addr::new(100, 100, 100, 200),
        IpAddr::V6(host) => host == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
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
        let name = [b"@", address.0.get(PATH_AT + 1..).unwrap_or_default()].concat();
        note(
            desk,
            Kind::Socket,
            &name,
            &name,
            Reason::Never("abstract unix sockets are closed"),
        );
        return Err(Errno(libc::EPERM));
    };
    let object = Request::new(desk.station(), desk.caller(), libc::AT_FDCWD, &path).object(Last::Follow)?;
    desk.caller().confirm()?;
    if !object.is_socket() {
        return Err(Errno(libc::ECONNREFUSED));
    }
    let attempt = Attempt {
        kind: Kind::Socket,
        asked: path.bytes(),
        exists: true,
        is_directory: false,
    };
    desk.enforce(verdict(desk, &object), &attempt, object.name(), CLOSED)?;
    desk.later(move |_| {
        file::connect(socket.as_fd(), &unix_address(object.path().as_bytes()))?;
        Ok(Answer::Value(0))
    })
}

/// The run's own sockets, and those that are granted by name. A directory that may be written opens none.
fn verdict(desk: &Desk<'_>, object: &Pinned) -> Verdict {
    let shared = desk.shared();
    if shared.made().sockets.contains(&object.identity()) {
        return Verdict::OnBehalf;
    }
    if let Some(denial) = desk.judge.denial(object.name()) {
        return Verdict::Refused(denial);
    }
    let is_granted = |grant: &&crate::policy::SocketGrant| {
        grant.path == object.name() || object.name().starts_with(&grant.path) && !is_powerful(object.name())
    };
    if shared.brief.policy.sockets.iter().any(|grant| is_granted(&grant)) {
        Verdict::OnBehalf
    } else {
        Verdict::Refused(Reason::NotGranted)
    }
}

/// Sockets behind which somebody does whatever is asked: each needs a grant of its own name.
fn is_powerful(name: &Path) -> bool {
    const NAMES: &[&str] = &[
        "docker.sock",
        "containerd.sock",
        "podman.sock",
        "crio.sock",
        "buildkitd.sock",
        "system_bus_socket",
        "bus",
        "private",
        "notify",
        "agent.sock",
        "snapd.socket",
        "wayland-0",
        "wayland-1",
        "stockade.sock",
    ];
    let file = name.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    let text = name.to_string_lossy();
    NAMES.contains(&file)
        || file.starts_with("S.gpg-agent")
        || file.starts_with("agent.")
        || text.contains("/.X11-unix/")
        || text.contains("/systemd/")
        || text.contains("/gnupg/")
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
        note(
            desk,
            Kind::Socket,
            b"",
            b"@",
            Reason::Never("abstract unix sockets are closed"),
        );
        return Err(Errno(libc::EPERM));
    };
    let place = Request::new(desk.station(), desk.caller(), libc::AT_FDCWD, &path).place()?;
    desk.caller().confirm()?;
    if place.look().is_some() {
        return Err(Errno(libc::EADDRINUSE));
    }
    let attempt = Attempt {
        kind: Kind::Create,
        asked: path.bytes(),
        exists: false,
        is_directory: false,
    };
    desk.enforce(desk.judge.place(&place), &attempt, &place.name(), CLOSED)?;
    bind_at(desk, socket.as_fd(), &place)?;
    Ok(Answer::Value(0))
}

/// Binds in the pinned directory: the worker goes there, since an address has room for a short path only.
fn bind_at(desk: &Desk<'_>, socket: BorrowedFd<'_>, place: &Place) -> Result<(), Errno> {
    desk.take_umask();
    file::change_directory(place.parent.as_fd())?;
    let bound = file::bind(socket, &unix_address(place.component().to_bytes()));
    file::change_directory(desk.station().root.as_fd())?;
    bound?;
    if let Some(made) = place.look() {
        desk.shared().made().sockets.insert(made.identity());
    }
    Ok(())
}

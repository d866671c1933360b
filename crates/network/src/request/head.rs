//! Extracts the host and the body length from a request's head.
//!
//! `httparse` parses the head; this module checks what it leaves to its caller: which fields may occur, and how often.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Checked, RequestHost, RequestRefusal};
use crate::profile::Name;

/// A head that may be passed on if its host is granted.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub(super) host: RequestHost,
    pub(super) port: Option<u16>,
    pub(super) body: Body,
    /// It asks to switch to a WebSocket, and has no body.
    pub(super) websocket: bool,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// After a number of bytes, perhaps 0.
    Counted {
        length: u64,
        /// A server that takes up the HTTP/2 offer too early could parse the body as HTTP/2.
        may_be_http2: bool,
    },
    /// After chunks and a trailer.
    Chunked,
}

/// The protocol that a request offers to switch to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upgrade {
    Nothing,
    WebSocket,
    Http2,
}

/// The most fields of a head or trailer.
pub(super) const MAX_FIELDS: usize = 100;
const MALFORMED: RequestRefusal = "a head is malformed";
const BAD_HOST: RequestRefusal = "`Host` isn't a name or an address, with or without a port";
const BAD_UPGRADE: RequestRefusal = "`Upgrade` asks for something else than a WebSocket";

impl RequestHead {
    /// Parses a complete head whose lines have been checked.
    pub(super) fn read(bytes: &[u8]) -> Checked<RequestHead> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        complete(request.parse(bytes), bytes)?;
        let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
            return Err(MALFORMED);
        };
        let fields = Fields(request.headers);
        let named = fields
            .only("host", "it has several `Host`")?
            .ok_or("it has no `Host`")?;
        let (host, port) = read_host(str::from_utf8(named).map_err(|_| BAD_HOST)?)?;
        check_target(method, target, (&host, port))?;
        let upgrade = fields.upgrade(minor)?;
        let body = fields.body(minor, upgrade)?;
        let websocket = upgrade == Upgrade::WebSocket;
        let has_body = !matches!(body, Body::Counted { length: 0, .. });
        if has_body && websocket {
            return Err("it asks for a WebSocket and has a body");
        }
        if has_body && WITHOUT_BODY.iter().any(|known| method.eq_ignore_ascii_case(known)) {
            return Err("it is a GET, HEAD or TRACE with a body, which some servers take for the next request");
        }
        Ok(RequestHead {
            host,
            port,
            body,
            websocket,
        })
    }
}

/// A trailer may not contain fields that belong in the head.
pub(super) fn check_trailer(bytes: &[u8]) -> Checked<()> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let parsed = httparse::parse_headers(bytes, &mut fields);
    let (length, fields) = match parsed {
        Ok(httparse::Status::Complete(parsed)) => parsed,
        Ok(httparse::Status::Partial) => return Err(MALFORMED),
        Err(error) => return Err(reason_of(error)),
    };
    let misplaced = |name: &str| FRAMING.iter().chain(&HOP).any(|known| known.eq_ignore_ascii_case(name));
    if length != bytes.len() {
        return Err(MALFORMED);
    }
    if fields.iter().any(|field| misplaced(field.name)) {
        return Err("a trailer has a field that belongs into the head");
    }
    Ok(())
}

/// Methods whose bodies mean nothing (RFC 9110, 9.3), so that servers leave them unread.
const WITHOUT_BODY: [&str; 3] = ["GET", "HEAD", "TRACE"];

/// The fields that determine the host and the end. `Connection` may not name them: the next proxy would drop them.
const FRAMING: [&str; 3] = ["host", "content-length", "transfer-encoding"];
/// The fields that determine the protocol after this request.
const HOP: [&str; 2] = ["connection", "upgrade"];

pub(super) fn complete(parsed: httparse::Result<usize>, bytes: &[u8]) -> Checked<()> {
    match parsed {
        Ok(httparse::Status::Complete(length)) if length == bytes.len() => Ok(()),
        Ok(_) => Err(MALFORMED),
        Err(error) => Err(reason_of(error)),
    }
}

fn reason_of(error: httparse::Error) -> RequestRefusal {
    match error {
        httparse::Error::TooManyHeaders => "a head has more than 100 fields",
        _ => MALFORMED,
    }
}

/// The fields of a head.
pub(super) struct Fields<'h>(pub(super) &'h [httparse::Header<'h>]);

impl<'h> Fields<'h> {
    fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'h [u8]> + use<'n, 'h> {
        let of_name = move |field: &&httparse::Header<'_>| field.name.eq_ignore_ascii_case(name);
        self.0.iter().filter(of_name).map(|field| field.value)
    }

    /// The value of a field that may occur once.
    pub(super) fn only(&self, name: &str, several: RequestRefusal) -> Checked<Option<&'h [u8]>> {
        let mut values = self.all(name);
        let value = values.next();
        if values.next().is_some() {
            Err(several)
        } else {
            Ok(value)
        }
    }

    fn connection(&self) -> impl Iterator<Item = &'h [u8]> {
        self.all("connection")
            .flat_map(|value| value.split(|&byte| byte == b','))
            .map(<[u8]>::trim_ascii)
    }

    fn upgrade(&self, minor: u8) -> Checked<Upgrade> {
        let mut upgrades = false;
        for option in self.connection() {
            upgrades |= option.eq_ignore_ascii_case(b"upgrade");
            if FRAMING.iter().any(|name| option.eq_ignore_ascii_case(name.as_bytes())) {
                return Err("`Connection` names a field that proxies may not drop");
            }
        }
        let upgrade = match self.only("upgrade", BAD_UPGRADE)? {
            None => return Ok(Upgrade::Nothing),
            Some(value) if value.eq_ignore_ascii_case(b"websocket") => Upgrade::WebSocket,
            // Java offers it in every request. The reply needn't be watched: HTTP/2 begins with a preface, which is
            // refused wherever a server could look for it.
            Some(b"h2c") => Upgrade::Http2,
            Some(_) => return Err(BAD_UPGRADE),
        };
        if upgrades && minor == 1 {
            Ok(upgrade)
        } else {
            Err("it has `Upgrade` without `Connection: upgrade`")
        }
    }

    fn body(&self, minor: u8, upgrade: Upgrade) -> Checked<Body> {
        let length = self.only("content-length", "it has several `Content-Length`")?;
        let encoding = self.only("transfer-encoding", "it has several `Transfer-Encoding`")?;
        match (length, encoding) {
            (None, None) => Ok(0),
            (Some(length), None) => read_length(length).ok_or("`Content-Length` isn't a plain number"),
            (None, Some(b"chunked")) if minor == 1 => return Ok(Body::Chunked),
            (None, Some(b"chunked")) => Err("it is HTTP/1.0 with `Transfer-Encoding`"),
            (None, Some(_)) => Err("`Transfer-Encoding` is something else than `chunked`"),
            (Some(_), Some(_)) => Err("it has both `Content-Length` and `Transfer-Encoding`"),
        }
        .map(|length| Body::Counted {
            length,
            may_be_http2: upgrade == Upgrade::Http2,
        })
    }
}

/// Eighteen digits at most: below 2⁶³ and within every signed number that a server might use.
fn read_length(value: &[u8]) -> Option<u64> {
    read_digits(value).filter(|_| value.len() <= 18)?.parse().ok()
}

fn read_digits(value: &[u8]) -> Option<&str> {
    let plain = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    str::from_utf8(value).ok().filter(|_| plain)
}

/// `host`, `host:port`, `[v6]`, `[v6]:port`. Other notations of an address aren't names either, so they fail.
fn read_host(text: &str) -> Checked<(RequestHost, Option<u16>)> {
    let end = text.rfind(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match text[end..].split_once(':') {
        Some((rest, port)) => (&text[..end + rest.len()], Some(read_port(port)?)),
        None => (text, None),
    };
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').and_then(|inner| inner.parse().ok()).map(v6),
        None => host
            .parse()
            .map(v4)
            .ok()
            .or_else(|| Name::from_wire(host.as_bytes()).map(RequestHost::Name)),
    };
    Ok((host.ok_or(BAD_HOST)?, port))
}

fn v4(address: Ipv4Addr) -> RequestHost {
    RequestHost::Address(IpAddr::V4(address))
}

fn v6(address: Ipv6Addr) -> RequestHost {
    RequestHost::Address(IpAddr::V6(address))
}

fn read_port(text: &str) -> Checked<u16> {
    let digits = read_digits(text.as_bytes()).filter(|digits| !digits.starts_with('0'));
    digits.and_then(|digits| digits.parse().ok()).ok_or(BAD_HOST)
}

/// A path, `*` for OPTIONS, or a whole URL of the same host; never CONNECT.
fn check_target(method: &str, target: &str, (host, port): (&RequestHost, Option<u16>)) -> Checked<()> {
    if method.eq_ignore_ascii_case("connect") {
        return Err("CONNECT asks for a tunnel");
    }
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok(());
    }
    let (scheme, rest) = target.split_once("://").ok_or("its target isn't a path or URL")?;
    if !scheme.eq_ignore_ascii_case("http") {
        return Err("its target isn't a path or URL");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (named, named_port) = read_host(&rest[..end]).map_err(|_| OTHER_HOST)?;
    if (&named, named_port) == (host, port) {
        Ok(())
    } else {
        Err(OTHER_HOST)
    }
}

const OTHER_HOST: RequestRefusal = "its URL names another host than `Host`";

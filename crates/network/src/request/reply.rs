//! The server's reply to a WebSocket upgrade: the first bytes that it sends on the connection.

use super::{
    Checked, RequestRefusal,
    head::{Fields, MAX_FIELDS, complete},
    lines::{HeaderSection, Lines, MAX_LENGTH},
};

/// The server's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpReply {
    /// The head isn't complete. Never returned for [`MAX_LENGTH`] bytes or more.
    Incomplete,
    /// The connection becomes a WebSocket.
    WebSocket,
    /// The connection stays HTTP/1, whatever the status.
    Stays,
    /// It isn't HTTP/1, or switches to a protocol that wasn't asked for.
    Refused(RequestRefusal),
}

/// Parses the server's bytes from the first of the connection. Interim replies (1xx except 101) are skipped.
pub fn read_reply(bytes: &[u8]) -> HttpReply {
    match find_final(bytes) {
        Ok(HttpReply::Incomplete) if bytes.len() >= MAX_LENGTH => HttpReply::Refused("the server's answer is too long"),
        Ok(reply) => reply,
        Err(reason) => HttpReply::Refused(reason),
    }
}

fn find_final(bytes: &[u8]) -> Checked<HttpReply> {
    let mut rest = bytes;
    while let Some(length) = Lines::new(HeaderSection::Reply).end(rest)? {
        let (head, behind) = rest.split_at(length);
        match read_head(head)? {
            Some(reply) => return Ok(reply),
            None => rest = behind,
        }
    }
    Ok(HttpReply::Incomplete)
}

/// `None` for an interim reply.
fn read_head(bytes: &[u8]) -> Checked<Option<HttpReply>> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    complete(response.parse(bytes), bytes)?;
    match response.code {
        Some(101) => {}
        Some(100..200) => return Ok(None),
        _ => return Ok(Some(HttpReply::Stays)),
    }
    let several = "the server names several protocols to go on with";
    let protocol = Fields(response.headers).only("upgrade", several)?;
    match protocol.is_some_and(|protocol| protocol.eq_ignore_ascii_case(b"websocket")) {
        true => Ok(Some(HttpReply::WebSocket)),
        false => Err("the server goes on as something else than a WebSocket"),
    }
}

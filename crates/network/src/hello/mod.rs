//! Parses the first bytes of a TLS client for the server name that it asks for (SNI).
//!
//! Stockade has its own parser because only this much of TLS is needed and it must be strict: anything that two parsers
//! could understand differently isn't a hello here. It decides nothing, keeps nothing and never looks past the hello;
//! the relay passes on what follows (early data, for instance). Sources: RFC 8446, 4.1.2 and 5.1; RFC 6066, 3;
//! RFC 9849 for encrypted hellos.

use std::ops::RangeInclusive;

use crate::profile::Name;

/// A hello that isn't complete in this many bytes is rejected: 64 KiB of message and as much for its record headers.
pub const MAX_LENGTH: usize = 128 * 1024;

/// The classification of a client's first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hello {
    /// The beginning of a hello. Never returned for [`MAX_LENGTH`] bytes or more: a buffer of that size always has room.
    Incomplete,
    /// A hello that names the server.
    Names(Name),
    /// A hello without a name (no SNI), or with one that isn't a DNS name, such as an address.
    Unnamed,
    /// It holds an encrypted hello (or what Chrome sends in its place), so the visible name may not be the one meant.
    Hidden,
    /// Not the hello of a TLS client, or one that could be read in two ways.
    NotTls,
}

/// Parses all bytes that a client has sent. Once the result isn't [`Hello::Incomplete`], more bytes don't change it.
pub fn read(bytes: &[u8]) -> Hello {
    let known = &bytes[..bytes.len().min(MAX_LENGTH)];
    match join_records(known).and_then(|message| read_message(&message)) {
        Ok(hello) => hello,
        Err(Stop::Incomplete) if bytes.len() < MAX_LENGTH => Hello::Incomplete,
        Err(Stop::Incomplete | Stop::NotTls) => Hello::NotTls,
    }
}

const HANDSHAKE: u16 = 22;
const CLIENT_HELLO: u16 = 1;
const SERVER_NAME: u16 = 0;
const HOST_NAME: u16 = 0;
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
/// The draft before it (ESNI), which hid the name alone.
const ENCRYPTED_SERVER_NAME: u16 = 0xffce;

/// SSL 3.0 to TLS 1.3; the numbers mean nothing any more but every hello carries one.
const MINOR_VERSIONS: RangeInclusive<u16> = 0..=4;
/// A handshake record may not be empty.
const RECORD_LENGTHS: RangeInclusive<u16> = 1..=1 << 14;
/// Version, random, empty session, one cipher suite, one compression method.
const MIN_MESSAGE: u16 = 2 + 32 + 1 + 4 + 2;
/// Type and length.
const MESSAGE_HEADER: usize = 4;
/// Real clients send up to twenty-five; the bound keeps the search for duplicates cheap.
const MAX_EXTENSIONS: usize = 100;

/// The reason that parsing ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Incomplete,
    NotTls,
}

/// Reassembles the handshake message from its records, as far as it has arrived.
fn join_records(bytes: &[u8]) -> Result<Vec<u8>, Stop> {
    let mut records = ByteReader {
        bytes,
        left: usize::MAX,
    };
    let mut message = Vec::new();
    while message_length(&message).is_none_or(|length| message.len() < length) {
        let length = match read_record_header(&mut records) {
            Ok(length) => length,
            Err(Stop::Incomplete) => break,
            Err(Stop::NotTls) => return Err(Stop::NotTls),
        };
        let fragment = records.part(length)?;
        message.extend_from_slice(fragment.bytes);
        let missing = length - fragment.bytes.len();
        // The hello's last record may hold nothing else: keys may change after it.
        if message_length(&message).is_some_and(|whole| message.len() + missing > whole) {
            return Err(Stop::NotTls);
        }
    }
    Ok(message)
}

fn read_record_header(records: &mut ByteReader<'_>) -> Result<usize, Stop> {
    records.byte(HANDSHAKE..=HANDSHAKE)?;
    read_version(records)?;
    records.pair(RECORD_LENGTHS)
}

fn read_version(reader: &mut ByteReader<'_>) -> Result<(), Stop> {
    reader.byte(3..=3)?;
    reader.byte(MINOR_VERSIONS).map(|_| ())
}

/// The length that a message declares, its header included.
fn message_length(message: &[u8]) -> Option<usize> {
    let &[_, high, middle, low] = message.first_chunk::<MESSAGE_HEADER>()?;
    Some(MESSAGE_HEADER + u32::from_be_bytes([0, high, middle, low]) as usize)
}

/// Parses the message as far as it has arrived, so that invalid input is rejected before the end is there.
fn read_message(message: &[u8]) -> Result<Hello, Stop> {
    let mut reader = ByteReader {
        bytes: message,
        left: usize::MAX,
    };
    reader.byte(CLIENT_HELLO..=CLIENT_HELLO)?;
    // The first of the three length bytes is zero: the message is shorter than 64 KiB.
    reader.byte(0..=0)?;
    let length = reader.pair(MIN_MESSAGE..=u16::MAX)?;
    let mut body = reader.part(length)?;
    read_version(&mut body)?;
    body.take(32)?;
    let session = body.byte(0..=32)?;
    body.take(session)?;
    let ciphers = body.pair(2..=u16::MAX)?;
    if ciphers % 2 != 0 {
        return Err(Stop::NotTls);
    }
    body.take(ciphers)?;
    let compressions = body.byte(1..=255)?;
    body.take(compressions)?;
    read_extensions(&mut body)
}

fn read_extensions(body: &mut ByteReader<'_>) -> Result<Hello, Stop> {
    // Before TLS 1.3 the whole extensions block may be missing.
    if body.left == 0 {
        return Ok(Hello::Unnamed);
    }
    let rest = body.left.checked_sub(2).ok_or(Stop::NotTls)? as u16;
    body.pair(rest..=rest)?;
    let mut seen = Vec::new();
    let mut hello = Hello::Unnamed;
    while body.left > 0 {
        let kind = body.pair(0..=u16::MAX)? as u16;
        if seen.contains(&kind) || seen.len() == MAX_EXTENSIONS {
            return Err(Stop::NotTls);
        }
        seen.push(kind);
        let length = body.pair(0..=u16::MAX)?;
        let mut extension = body.part(length)?;
        match kind {
            SERVER_NAME => {
                let named = read_server_name(&mut extension)?;
                if hello != Hello::Hidden {
                    hello = named;
                }
            }
            ENCRYPTED_CLIENT_HELLO | ENCRYPTED_SERVER_NAME => hello = Hello::Hidden,
            _ => {}
        }
        extension.take(extension.left)?;
    }
    Ok(hello)
}

/// A list by its format, but of one name: there is one name type, and each type may occur once.
fn read_server_name(extension: &mut ByteReader<'_>) -> Result<Hello, Stop> {
    let list = extension.left.checked_sub(2).ok_or(Stop::NotTls)? as u16;
    extension.pair(list..=list)?;
    extension.byte(HOST_NAME..=HOST_NAME)?;
    let name = extension
        .left
        .checked_sub(2)
        .filter(|&length| length > 0)
        .ok_or(Stop::NotTls)? as u16;
    extension.pair(name..=name)?;
    let name = extension.take(extension.left)?;
    Ok(Name::from_wire(name).map_or(Hello::Unnamed, Hello::Names))
}

/// A part of known length, perhaps with only its beginning received. Bytes that the length rules out are
/// [`Stop::NotTls`] even before they arrive.
struct ByteReader<'a> {
    /// The bytes received, at most `left`.
    bytes: &'a [u8],
    /// The length of the part from here.
    left: usize,
}

impl<'a> ByteReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        let part = self.part(length)?;
        if part.bytes.len() < length {
            Err(Stop::Incomplete)
        } else {
            Ok(part.bytes)
        }
    }

    /// Splits off a part, as far as it has arrived.
    fn part(&mut self, length: usize) -> Result<ByteReader<'a>, Stop> {
        self.left = self.left.checked_sub(length).ok_or(Stop::NotTls)?;
        let (bytes, rest) = self.bytes.split_at(length.min(self.bytes.len()));
        self.bytes = rest;
        Ok(ByteReader { bytes, left: length })
    }

    fn byte(&mut self, allowed: RangeInclusive<u16>) -> Result<usize, Stop> {
        let value = u16::from(self.take(1)?[0]);
        if allowed.contains(&value) {
            Ok(value.into())
        } else {
            Err(Stop::NotTls)
        }
    }

    /// Reads a 16-bit number. Its first byte alone may show that it isn't in the range.
    fn pair(&mut self, allowed: RangeInclusive<u16>) -> Result<usize, Stop> {
        let high = self.byte(allowed.start() >> 8..=allowed.end() >> 8)?;
        let low = self.byte(0..=255)?;
        let value = (high << 8 | low) as u16;
        if allowed.contains(&value) {
            Ok(value.into())
        } else {
            Err(Stop::NotTls)
        }
    }
}

#[cfg(test)]
mod tests;

//! Recognises secrets by their shape: well-known tokens, private keys, the user's part of a URL.

use std::sync::LazyLock;

use super::MASK;

/// The token table, parsed when the first text is masked: a run that records nothing never needs it.
static TOKENS: LazyLock<[Vec<Token>; 128]> = LazyLock::new(|| table(include_str!("tokens.txt")));

/// The longest first part of a web token. The scan from each position is bounded, so that the time stays linear in
/// the text's length.
const MAX_LENGTH: usize = 1024;

/// A token format.
#[derive(Debug)]
struct Token {
    prefix: &'static str,
    least: usize,
    is_part: fn(u8) -> bool,
    /// Its prefix also ends common words (`task-`, `mask-`): the token must begin a word.
    is_at_start: bool,
}

/// Indexes the token formats by first letter.
fn table(text: &'static str) -> [Vec<Token>; 128] {
    let mut table = [const { Vec::new() }; 128];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&'static str> = line.split(' ').collect();
        let [prefix, least, kind, ..] = fields[..] else {
            continue;
        };
        let token = Token {
            prefix,
            least: least.parse().unwrap_or(usize::MAX),
            is_part: kind_of(kind),
            is_at_start: fields.len() > 3,
        };
        table[usize::from(prefix.as_bytes()[0] & 127)].push(token);
    }
    table
}

fn kind_of(kind: &str) -> fn(u8) -> bool {
    match kind {
        "a" => |byte| byte.is_ascii_alphanumeric(),
        "x" => |byte| byte.is_ascii_hexdigit(),
        "u" => |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        "d" => |byte| byte.is_ascii_alphanumeric() || b"_-.=/+:".contains(&byte),
        _ => |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
    }
}

const KEY: &str = "-----BEGIN";

/// The shortest run of letters and digits in any token without a separator.
const MIN_LENGTH: usize = 16;

/// Whether a text without any separator may still hold a token.
pub(super) fn may_hold(text: &str) -> bool {
    let longest = text
        .bytes()
        .try_fold(0_usize, |row, byte| match byte.is_ascii_alphanumeric() {
            true if row + 1 >= MIN_LENGTH => None,
            true => Some(row + 1),
            false => Some(0),
        });
    longest.is_none()
}

/// Whether a text holds a token: a user's name in a URL is none, a password beside it is. A part of a path, a public
/// key or a certificate is none either.
pub fn holds_token(text: &str) -> bool {
    text.char_indices().any(|(at, _)| {
        let here = &text[at..];
        secret_at(text, at).is_some_and(|(keep, length)| {
            let before = &text[..at];
            let is_below = before.ends_with('/') && !before.ends_with("://");
            let is_of_path = || is_below || here[keep + length..].starts_with('/');
            match here.as_bytes()[0] {
                b'-' => here.lines().next().is_some_and(|line| line.contains("PRIVATE KEY")),
                b':' if here.starts_with("://") => here[keep..][..length].contains(':'),
                _ => !is_of_path(),
            }
        })
    })
}

/// Masks the tokens.
pub(super) fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if let Some((keep, skip)) = secret_at(text, at) {
            masked.push_str(&text[at..at + keep]);
            masked.push_str(MASK);
            at += keep + skip;
        } else {
            let next = text.ceil_char_boundary(at + 1);
            masked.push_str(&text[at..next]);
            at = next;
        }
    }
    masked
}

/// For a secret that begins here: the bytes to keep, and the bytes to mask after them.
fn secret_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let here = &text[at..];
    match here.as_bytes()[0] {
        b'-' if here.starts_with(KEY) => Some((0, key_length(here))),
        b':' if here.starts_with("://") => user_of_url(&here[3..]).map(|length| (3, length)),
        b'e' if !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) => web_token(here).map(|length| (0, length)),
        b':' if text[..at].ends_with(|c: char| c.is_ascii_digit()) => bot_token(text, at).map(|length| (1, length)),
        byte if byte.is_ascii_alphanumeric() => prefixed(text, at)
            .or_else(|| without_prefix(text, at))
            .map(|length| (0, length))
            .or_else(|| of_scheme(text, at)),
        _ => None,
    }
}

/// `HEX-us12`, a Mailchimp key, and `M….….…`, a Discord bot token: neither has a recognisable prefix.
fn without_prefix(text: &str, at: usize) -> Option<usize> {
    if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_' || c == '.') {
        return None;
    }
    let here = &text[at..];
    let run = |from: usize, kind: &str, most: usize| {
        let is_part = kind_of(kind);
        here.bytes()
            .skip(from)
            .take(most)
            .take_while(|byte| is_part(*byte))
            .count()
    };
    let hexes = run(0, "x", 33);
    if hexes == 32 && here[32..].starts_with("-us") && here[35..].starts_with(|c: char| c.is_ascii_digit()) {
        return Some(35 + run(35, "x", 2));
    }
    let first = run(0, "w", 27);
    let second = first + 1 + run(first + 1, "w", 7);
    let third = run(second + 1, "w", 64);
    let dots = [first, second].map(|dot| here.as_bytes().get(dot) == Some(&b'.'));
    let is_bots = here.starts_with(['M', 'N', 'O']) && (24..=26).contains(&first) && second == first + 7;
    (is_bots && dots == [true, true] && third >= 27).then_some(second + 1 + third)
}

/// Credentials after a header's scheme: `Bearer …` (RFC 6750), `Basic …` (RFC 7617). Prose words have no digits.
fn of_scheme(text: &str, at: usize) -> Option<(usize, usize)> {
    const MIN: usize = 16;
    let here = &text[at..];
    let is_scheme = |scheme: &&str| {
        here.get(..scheme.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(scheme))
    };
    let scheme = ["bearer ", "basic "].into_iter().find(is_scheme)?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
    let secret = here[scheme.len()..].bytes().take_while(is_part);
    let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric());
    let is_one = is_start && secret.clone().count() >= MIN && secret.clone().any(|byte| byte.is_ascii_digit());
    is_one.then(|| (scheme.len(), secret.count()))
}

fn prefixed(text: &str, at: usize) -> Option<usize> {
    let here = &text[at..];
    let is_start = || !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    TOKENS[usize::from(here.as_bytes()[0] & 127)]
        .iter()
        .filter(|token| here.starts_with(token.prefix) && (!token.is_at_start || is_start()))
        .find_map(|token| length(here, token.prefix.len(), token.least, token.is_part))
}

/// The length of a prefix and its token characters, if there are at least `least`.
fn length(text: &str, prefix: usize, least: usize, is_part: impl Fn(u8) -> bool) -> Option<usize> {
    let rest = text.bytes().skip(prefix).take_while(|byte| is_part(*byte)).count();
    (rest >= least).then_some(prefix + rest)
}

/// `123456789:AA…`, from the colon on: a Telegram bot token.
fn bot_token(text: &str, at: usize) -> Option<usize> {
    let digits = text[..at].bytes().rev().take(8).take_while(u8::is_ascii_digit).count();
    let secret = &text[at + 1..];
    let is_one = digits == 8 && secret.starts_with("AA");
    is_one.then(|| length(secret, 0, 35, kind_of("w"))).flatten()
}

/// `eyJ….eyJ….…`: a JSON web token; its first two parts are objects in base64.
fn web_token(text: &str) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte);
    if !text.starts_with("eyJ") {
        return None;
    }
    let head = text.bytes().take(MAX_LENGTH).take_while(|byte| is_part(*byte)).count();
    if !text[head..].starts_with(".eyJ") {
        return None;
    }
    Some(text.bytes().take_while(|byte| is_part(*byte) || *byte == b'.').count())
}

/// A private key in PEM: up to its end mark, or the whole rest.
fn key_length(text: &str) -> usize {
    const END: &str = "-----END";
    let Some(end) = text.find(END) else {
        return text.len();
    };
    let mark = &text[end + END.len()..];
    let closing = mark.find("-----").map_or(mark.len(), |at| at + 5);
    end + END.len() + closing
}

/// The length of `user:password` before a URL's host.
fn user_of_url(rest: &str) -> Option<usize> {
    // Up to the next URL, so that nothing is scanned twice.
    let rest = &rest[..rest.find("://").unwrap_or(rest.len())];
    let is_end = |c: char| c.is_whitespace() || "\"'`<>".contains(c);
    let whole = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let authority = &whole[..whole.find(['/', '?', '#']).unwrap_or(whole.len())];
    let at = authority.rfind('@').or_else(|| {
        // A password may hold a `/`; a port is digits.
        let (_, behind) = authority.split_once(':')?;
        let is_port = behind.bytes().all(|byte| byte.is_ascii_digit());
        whole.rfind('@').filter(|_| !is_port)
    })?;
    (at > 0).then_some(at)
}

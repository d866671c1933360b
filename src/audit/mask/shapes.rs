//! Secrets by their shape: well-known tokens, private keys, the user's part of a URL.

use super::MASK;

/// How a token begins, and how many of its characters must follow.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("dckr_pat_", 16),
    ("hf_", 24),
];

/// Tokens whose beginning also ends common words (`task-`, `mask-`): these begin a word.
const TOKENS_AT_A_START: &[(&str, usize)] = &[("sk-", 16), ("sk_live_", 8), ("sk_test_", 8), ("rk_live_", 8)];

const KEY: &str = "-----BEGIN";

/// Whether a text without any separator may still hold one.
pub(super) fn may_hold(text: &str) -> bool {
    text.contains("AKIA") || text.contains("ASIA") || text.contains("eyJ") || text.contains("AIza")
}

/// Masks them.
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

/// How many bytes to keep, and how many to mask behind them, of a secret that begins here.
fn secret_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let here = &text[at..];
    match here.as_bytes()[0] {
        b'-' if here.starts_with(KEY) => Some((0, key_length(here))),
        b':' if here.starts_with("://") => user_of_url(&here[3..]).map(|length| (3, length)),
        b'e' => web_token(here).map(|length| (0, length)),
        b'A' if here.starts_with("AKIA") || here.starts_with("ASIA") => {
            let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
            token(here, 4, 16, is_part).map(|length| (0, length))
        }
        byte if byte.is_ascii_alphabetic() => prefixed(text, at).map(|length| (0, length)),
        _ => None,
    }
}

fn prefixed(text: &str, at: usize) -> Option<usize> {
    let here = &text[at..];
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let begins = |known: &[(&str, usize)]| {
        known
            .iter()
            .find(|(prefix, _)| here.starts_with(prefix))
            .and_then(|(prefix, least)| token(here, prefix.len(), *least, is_part))
    };
    let is_start = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    begins(TOKENS).or_else(|| begins(TOKENS_AT_A_START).filter(|_| is_start))
}

/// The length of a prefix and at least so many characters of a token.
fn token(text: &str, prefix: usize, least: usize, is_part: impl Fn(u8) -> bool) -> Option<usize> {
    let rest = text.bytes().skip(prefix).take_while(|byte| is_part(*byte)).count();
    (rest >= least).then_some(prefix + rest)
}

/// `eyJ….eyJ….…`: a JSON web token; its two first parts are objects in base64.
fn web_token(text: &str) -> Option<usize> {
    let (head, rest) = text.strip_prefix("eyJ")?.split_once('.')?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte);
    if !head.bytes().all(is_part) || !rest.starts_with("eyJ") {
        return None;
    }
    let length = text.bytes().take_while(|byte| is_part(*byte)).count();
    Some(length)
}

/// A private key in PEM: to its end mark, or all the rest.
fn key_length(text: &str) -> usize {
    const END: &str = "-----END";
    let Some(end) = text.find(END) else {
        return text.len();
    };
    let mark = &text[end + END.len()..];
    let closing = mark.find("-----").map_or(mark.len(), |at| at + 5);
    end + END.len() + closing
}

/// The length of `user:password` in front of a URL's host.
fn user_of_url(rest: &str) -> Option<usize> {
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

//! The test cases of a profile: each names one access to one target, as text.
//!
//! `[tests]` holds lists of these. This module only parses them; `stockade profile test` judges them.

use std::fmt;

use super::error::{Complaint, excerpt, listed, nearest};
use super::host::{Host, HostPattern, Ports};
use super::rule::PathSpec;
use super::value;

/// The keywords that a test starts with.
pub(super) const WORDS: [&str; 9] = [
    "read", "write", "create", "delete", "execute", "connect", "listen", "socket", "env",
];

/// One access to one target, as named in a profile's test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// `read ./data/x.csv`, `create /tmp/x`: an operation on a path.
    Path(Deed, PathSpec),
    /// `connect api.example.com:443`: one name or address, and one port.
    Connect(Host, u16),
    /// `listen 8080`: on a port of the loopback interface; 0 for one that the kernel chooses.
    Listen(u16),
    /// `env EDITOR`: the caller's variable is passed, with its value.
    Variable(String),
}

/// An operation on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Open a file for reading, or list a directory.
    Read,
    /// Open an existing file for writing.
    Write,
    /// Create a file.
    Create,
    /// Remove a file.
    Delete,
    /// Execute a program.
    Execute,
    /// Connect to a unix socket.
    Socket,
}

impl Deed {
    /// The keyword of the operation.
    pub fn word(self) -> &'static str {
        match self {
            Deed::Read => "read",
            Deed::Write => "write",
            Deed::Create => "create",
            Deed::Delete => "delete",
            Deed::Execute => "execute",
            Deed::Socket => "socket",
        }
    }
}

impl Attempt {
    /// The keyword that the test starts with.
    pub fn word(&self) -> &'static str {
        match self {
            Attempt::Path(deed, _) => deed.word(),
            Attempt::Connect(..) => "connect",
            Attempt::Listen(_) => "listen",
            Attempt::Variable(_) => "env",
        }
    }

    /// The target, as it would be written.
    pub fn target(&self) -> String {
        match self {
            Attempt::Path(_, path) => path.to_string(),
            Attempt::Connect(host, port) => HostPattern {
                host: host.clone(),
                ports: Ports::one(*port),
            }
            .to_string(),
            Attempt::Listen(port) => port.to_string(),
            Attempt::Variable(name) => name.clone(),
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.word(), self.target())
    }
}

/// Parses a test: a keyword, a space, a target.
pub(super) fn attempt(text: &str) -> Result<Attempt, Complaint> {
    value::line_of_text(text)?;
    let Some((word, target)) = text.split_once(' ') else {
        let complaint = Complaint::new(format!("the test `{}` has no target", excerpt(text)));
        return Err(complaint.hint("write an access and its target, as in `read ./data/x.csv`"));
    };
    let path = |deed: Deed| Ok(Attempt::Path(deed, literal(target)?));
    match word {
        "read" => path(Deed::Read),
        "write" => path(Deed::Write),
        "create" => path(Deed::Create),
        "delete" => path(Deed::Delete),
        "execute" => path(Deed::Execute),
        "socket" => path(Deed::Socket),
        "connect" => connect(target),
        "listen" => port(target).map(Attempt::Listen),
        "env" => value::variable_name(target).map(|()| Attempt::Variable(target.to_owned())),
        _ => Err(unknown_word(word)),
    }
}

fn unknown_word(word: &str) -> Complaint {
    let complaint = Complaint::new(format!("`{}` isn't an access that can be tested", excerpt(word)));
    complaint.hint(match nearest(word, WORDS) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("a test begins with one of {}", listed(&WORDS)),
    })
}

/// A test names one path, so a pattern in it is a mistake.
fn literal(text: &str) -> Result<PathSpec, Complaint> {
    if text.contains('*') {
        let complaint = Complaint::new(format!("`{}` is a pattern, and a test tries one path", excerpt(text)));
        return Err(complaint.hint("name a path that stands for the others, as in `./data/x.csv`"));
    }
    value::path(text)
}

fn connect(text: &str) -> Result<Attempt, Complaint> {
    let pattern = value::host(text)?;
    let port = match &pattern.ports {
        Ports::These(ranges) => match ranges.as_slice() {
            [range] if range.start() == range.end() => Some(*range.start()),
            _ => None,
        },
        _ => None,
    };
    let is_one = match &pattern.host {
        Host::Exact(_) | Host::Localhost => true,
        Host::Network(network) => network.prefix_len() == network.max_prefix_len(),
        _ => false,
    };
    match port.filter(|_| is_one) {
        Some(port) => Ok(Attempt::Connect(pattern.host, port)),
        None => Err(
            Complaint::new(format!("`{}` isn't one host and one port", excerpt(text)))
                .hint("write both, as in `api.example.com:443` or `127.0.0.1:5432`"),
        ),
    }
}

fn port(text: &str) -> Result<u16, Complaint> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let port = text.parse().ok().filter(|_| is_number);
    port.ok_or_else(|| {
        Complaint::new(format!("`{}` isn't a port", excerpt(text)))
            .hint("ports are 1 to 65535; 0 is one that the kernel chooses")
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_test_is_an_access_and_its_target() {
        for text in [
            "read ./data/x.csv",
            "write /tmp/x",
            "create ~/new file",
            "delete ./x",
            "execute /usr/bin/env",
            "socket /run/x.sock",
            "connect api.example.com:443",
            "connect 10.0.0.1:5432",
            "connect [fd00::1]:22",
            "connect localhost:8080",
            "listen 0",
            "env LD_PRELOAD",
        ] {
            assert_eq!(attempt(text).map(|attempt| attempt.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_text_that_is_no_test_is_told_with_what_was_meant() {
        for (text, message, hint) in [
            ("", "empty", ""),
            ("read", "`read` has no target", "as in `read"),
            ("reed ./x", "`reed` isn't an access", "did you mean `read`?"),
            ("mount /", "`mount` isn't an access", "one of `read`, `write`"),
            ("read data", "relative to", "./"),
            ("read ../x", "contains `..`", ""),
            ("read ./*.csv", "is a pattern", "one path"),
            ("connect api.*:443", "isn't one host", "as in"),
            ("connect api.example.com", "isn't one host and one port", "as in"),
            ("connect 10.0.0.0/8:1", "isn't one host", "as in"),
            ("connect a.example:1-2", "isn't one host", "as in"),
            ("listen 65536", "isn't a port", "65535"),
            ("listen +1", "isn't a port", ""),
            ("env A=b", "isn't the name of a variable", "one by one"),
        ] {
            let complaint = attempt(text).unwrap_err();
            assert!(complaint.message.contains(message), "{text}: {}", complaint.message);
            let said = complaint.hint.unwrap_or_default();
            assert!(
                said.contains(hint) || complaint.message.contains("one path"),
                "{text}: {said}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_a_test_panic_and_what_is_shown_is_read_again(
            word in "(read|socket|connect|listen|env|[a-z]{0,4})",
            target in "(\\./|~|/|\\[|:|[0-9]{1,6}|[a-z.]{1,6}|\\PC){0,6}",
        ) {
            if let Ok(read) = attempt(&format!("{word} {target}")) {
                prop_assert_eq!(attempt(&read.to_string()), Ok(read));
            }
        }
    }
}

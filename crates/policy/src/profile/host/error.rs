//! Errors of host patterns.

/// The accepted forms of a pattern, for hints.
pub(super) const FORMS: &str = "write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range \
     (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443";

/// The reason that a text isn't a host pattern, and a correction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// The description of the error.
    pub message: String,
    /// The suggested correction.
    pub hint: String,
}

impl HostError {
    pub(super) fn saying(message: impl Into<String>) -> Unhinted {
        Unhinted(message.into())
    }
}

/// An error that still needs its hint.
pub(super) struct Unhinted(String);

impl Unhinted {
    pub(super) fn hint(self, hint: impl Into<String>) -> HostError {
        HostError {
            message: self.0,
            hint: hint.into(),
        }
    }
}

//! What is wrong with a host pattern.

/// The forms that a pattern has, for hints.
pub(super) const FORMS: &str = "write a name (`api.github.com`), `*.github.com`, `api.*`, an address or a range \
     (`10.0.0.0/8`), with `:PORT` where it isn't 80 or 443";

/// Why a text isn't a host pattern, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl HostError {
    pub(super) fn saying(message: impl Into<String>) -> Unhinted {
        Unhinted(message.into())
    }
}

/// An error on its way: there is none without a hint.
pub(super) struct Unhinted(String);

impl Unhinted {
    pub(super) fn hint(self, hint: impl Into<String>) -> HostError {
        HostError {
            message: self.0,
            hint: hint.into(),
        }
    }
}

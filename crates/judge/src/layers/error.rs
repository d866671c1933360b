//! Errors of the list of trusted configurations.

use std::io;
use std::path::PathBuf;

use stockade_policy::config::ConfigurationError;
use stockade_policy::profile::visible;

/// The reason why a configuration couldn't be trusted or a rule couldn't be stored.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no state directory: neither `$XDG_STATE_HOME` nor a home.
    #[error("there is no state directory, where what is trusted would be kept")]
    Stateless,
    /// A directory or file of the state can't be used.
    #[error("can't use `{}`", shown(path))]
    State {
        /// The directory or file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The list of pins isn't valid.
    #[error("the list of trusted configurations, `{}`, is damaged: {why}", shown(path))]
    Damaged {
        /// The list.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The file that a rule was to be written into isn't trusted.
    #[error("`{}` isn't trusted, so no rule is written into it", shown(path))]
    Untrusted {
        /// The project's configuration.
        path: PathBuf,
    },
    /// The project's configuration can't be written.
    #[error("can't write `{}`", shown(path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The project's configuration can't be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
}

impl TrustError {
    /// A hint for a person on how to fix it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            TrustError::Stateless => Some("set `XDG_STATE_HOME` or `HOME` to a directory of yours"),
            TrustError::State { .. } => Some(
                "it must be yours alone and no symbolic link; inside a run it is closed, and nothing can be trusted",
            ),
            TrustError::Damaged { .. } => Some("move it away, and trust again what you trust"),
            TrustError::Untrusted { .. } => Some("`stockade trust` shows what it would allow, and trusts it"),
            TrustError::Unwritable { .. } => None,
            TrustError::Configuration(error) => error.hint(),
        }
    }
}

fn shown(path: &std::path::Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

//! The value of `--ask`.

use std::str::FromStr;

/// The value of `--ask`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The terminal where there is one, else the socket where `stockade approvals` is watching, else none.
    Auto,
    /// On the terminal.
    Terminal,
    /// `stockade approvals`, in another terminal.
    Socket,
    /// A program.
    Command(String),
    /// No one.
    Never,
}

impl FromStr for Ask {
    type Err = String;

    fn from_str(text: &str) -> Result<Ask, String> {
        match text {
            "auto" => Ok(Ask::Auto),
            "terminal" => Ok(Ask::Terminal),
            "socket" => Ok(Ask::Socket),
            "never" => Ok(Ask::Never),
            _ => match text.strip_prefix("command=") {
                Some(command) if !command.trim().is_empty() => Ok(Ask::Command(command.to_string())),
                _ => Err("it is `auto`, `terminal`, `socket`, `command=TEXT` or `never`".into()),
            },
        }
    }
}

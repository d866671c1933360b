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
    /// The same where one watches, else no one: the client of a server waits for its answer too.
    Watched,
    /// A program.
    Command(String),
    /// The program that started Stockade, over a descriptor of this number.
    Descriptor(i32),
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
            "watched" => Ok(Ask::Watched),
            "never" => Ok(Ask::Never),
            _ => {
                let command = text.strip_prefix("command=").filter(|text| !text.trim().is_empty());
                let number = text.strip_prefix("fd:").and_then(|number| number.parse().ok());
                command
                    .map(|command| Ask::Command(command.to_string()))
                    .or(number.map(Ask::Descriptor))
                    .ok_or_else(|| "it is `auto`, `terminal`, `socket`, `command=TEXT`, `fd:N` or `never`".into())
            }
        }
    }
}

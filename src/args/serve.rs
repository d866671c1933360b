//! The arguments of `stockade mcp serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use stockade_mcp_serve::Asked;
use stockade_policy::profile::{parse_count, parse_duration};

use super::super::ask::Ask;

#[derive(Debug, Args)]
pub struct Serve {
    /// Widest profile that a client may choose, by name or file; never `trusted` [default: that of `--profile`, else of the
    /// agent `mcp`, which is `workspace`]
    #[arg(long, value_name = "NAME|FILE")]
    pub ceiling: Option<String>,
    /// Profile of calls that name none [default: the ceiling]
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// Root of all runs [default: current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Where to ask: client, auto, socket, command=TEXT, never
    ///
    /// `client` asks the person at the client, by a form of the protocol, and where the client shows none as `auto` does.
    #[arg(long, value_name = "WHERE", default_value = "client", value_parser = parse_ask)]
    pub ask: Asked,
    /// How long a question at the client stays open
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "60s")]
    pub ask_timeout: Duration,
    /// The longest that a run may take; a call may ask for less
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5m")]
    pub time_limit: Duration,
    /// Number of calls at once; others wait
    #[arg(long, value_name = "COUNT", value_parser = parse_count, default_value = "4")]
    pub parallel: u64,
}

fn parse_ask(text: &str) -> Result<Asked, String> {
    match (text, text.parse()) {
        ("client", _) => Ok(Asked::Client),
        (_, Ok(Ask::Auto | Ask::Socket | Ask::Never | Ask::Command(_))) => Ok(Asked::Elsewhere(text.to_string())),
        _ => Err("it is `client`, `auto`, `socket`, `command=TEXT` or `never`".into()),
    }
}

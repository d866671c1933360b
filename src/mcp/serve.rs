//! `stockade mcp serve`: from the user's flags to the settings of a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use super::super::REFUSED;
use super::super::ask::Ask;
use super::super::layers::{Here, UnknownAgent};
use super::super::message::Failure;
use stockade::profile::{Catalog, SHIPPED, parse_count, parse_duration, visible};
use stockade_mcp_serve::{AGENT, Asked, Profile, Profiles, ServeError, Settings};

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

/// Serves until the client leaves.
pub fn serve(task: &Serve) -> Result<u8, Failure> {
    let here = Here::load(task.root.as_deref())?;
    let agent = UnknownAgent::or_agent(&here.layers, AGENT)?;
    let catalog = Catalog::new(here.surroundings.profiles());
    let find = |name: &str| profile(name, &catalog, &here.surroundings.directory);
    let default = task.profile.as_deref().map(find).transpose()?;
    let ceiling = match (&task.ceiling, &default) {
        (Some(name), _) => find(name)?,
        (None, Some(default)) => default.clone(),
        (None, None) => find(agent.profile())?,
    };
    let shipped = SHIPPED
        .iter()
        .map(|(name, _)| find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let profiles = Profiles::within(ceiling, default, shipped).map_err(|error| {
        Failure::new(REFUSED, &error).hint("name a narrower profile: `--ceiling workspace`, for example")
    })?;
    let settings = Settings {
        root: here.root,
        is_root_named: task.root.is_some(),
        profiles,
        ask: task.ask.clone(),
        ask_timeout: task.ask_timeout,
        time_limit: task.time_limit,
        parallel: usize::try_from(task.parallel).unwrap_or(1).clamp(1, MOST_AT_ONCE),
        program: "/proc/self/exe".into(),
    };
    match stockade_mcp_serve::serve(settings) {
        Ok(()) => Ok(0),
        Err(error @ ServeError::Handshake(_)) => {
            Err(Failure::new(REFUSED, &error)
                .hint("`stockade mcp serve` is started by an MCP client, which talks to it"))
        }
        Err(error) => Err(Failure::new(REFUSED, &error)),
    }
}

/// The most calls at once, whatever the user says.
const MOST_AT_ONCE: usize = 64;

/// A profile with its name for clients, and the word for the flag of a run.
fn profile(name_or_file: &str, catalog: &Catalog, directory: &Path) -> Result<Profile, Failure> {
    let loaded = catalog.load(name_or_file).map_err(stockade::Error::from)?;
    let is_file = name_or_file.contains('/') || name_or_file.ends_with(".toml");
    let argument = match is_file {
        true => directory.join(name_or_file).to_string_lossy().into_owned(),
        false => name_or_file.to_string(),
    };
    Ok(Profile {
        name: visible(&loaded.name).into_owned(),
        argument,
        description: visible(&loaded.description).into_owned(),
    })
}

fn parse_ask(text: &str) -> Result<Asked, String> {
    match (text, text.parse()) {
        ("client", _) => Ok(Asked::Client),
        (_, Ok(Ask::Auto | Ask::Socket | Ask::Never | Ask::Command(_))) => Ok(Asked::Elsewhere(text.to_string())),
        _ => Err("it is `client`, `auto`, `socket`, `command=TEXT` or `never`".into()),
    }
}

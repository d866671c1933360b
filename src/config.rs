//! `stockade config`: shows the configuration and the origin of each value.

use std::io::Write;

use super::args::Config;
use super::layers::{Detail, Here, print, unprinted};
use super::message::Failure;
use stockade_policy::config::SCHEMA;

/// Carries out `stockade config …`.
pub fn config(task: &Config, out: &mut dyn Write) -> Result<u8, Failure> {
    match task {
        Config::Show { origin, root, json } => {
            let here = Here::load(root.as_deref())?;
            let detail = match (json, origin) {
                (true, _) => Detail::Json,
                (false, true) => Detail::Origin,
                (false, false) => Detail::Value,
            };
            print(&here.layers.lines(), detail, out)?;
        }
        Config::Schema => write!(out, "{SCHEMA}").map_err(unprinted)?,
    }
    Ok(0)
}

//! `stockade doctor`: what this machine enforces.

use std::io::{self, Write};

use super::REFUSED;
use super::message::Failure;
use crate::kernel::{self, Facts, Level};
use crate::launch;

/// Prints what this machine enforces; exit code 1 where runs can't start at all.
pub fn doctor(json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let facts = kernel::gather(launch::find_control_group());
    let printed = if json {
        serde_json::to_writer_pretty(&mut *out, &facts)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        print(&facts, out)
    };
    printed.map_err(|error| Failure::new(REFUSED, &error))?;
    let missing = facts.findings.iter().any(|finding| finding.level == Level::Missing);
    Ok(u8::from(missing))
}

fn print(facts: &Facts, out: &mut dyn Write) -> io::Result<()> {
    let user = if facts.root { "root" } else { "an ordinary user" };
    writeln!(out, "Linux {} on {}, as {user}", facts.kernel, facts.architecture)?;
    for finding in &facts.findings {
        let mark = match finding.level {
            Level::Ok => "ok     ",
            Level::Less => "less   ",
            Level::Missing => "MISSING",
        };
        writeln!(out, "{mark}  {}", finding.what)?;
        if let Some(hint) = &finding.hint {
            writeln!(out, "         hint: {hint}")?;
        }
    }
    Ok(())
}

//! `stockade profile secrets`: what every profile keeps closed.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::REFUSED;
use crate::cli::message::Failure;
use crate::config::{Configuration, Secrets};
use crate::policy::{List, listed_lines, moved_places};
use crate::profile::visible;
use crate::surroundings::Surroundings;

/// A line of the list.
#[derive(Serialize)]
struct Entry {
    closed: &'static str,
    pattern: &'static str,
    holds: &'static str,
    owner: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct Moved {
    variable: &'static str,
    place: String,
}

/// All of it, as JSON has it.
#[derive(Serialize)]
struct Document {
    built_in: Vec<Entry>,
    moved: Vec<Moved>,
    /// By the user's configuration.
    closed: Vec<String>,
    open: Vec<String>,
}

/// Prints the built-in list and what the user's configuration changes of it.
pub fn print(json: bool, surroundings: &Surroundings, out: &mut dyn Write) -> Result<u8, Failure> {
    let loaded = Configuration::load_if_open(surroundings.configuration.as_deref());
    let configuration = loaded.map_err(|error| Failure::new(REFUSED, &error))?;
    let document = document(&configuration.unwrap_or_default().secrets);
    let written = match json {
        true => serde_json::to_writer_pretty(&mut *out, &document)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
        false => text(&document, out),
    };
    written.map_err(|error| Failure::new(REFUSED, &error))?;
    Ok(0)
}

fn document(secrets: &Secrets) -> Document {
    let entries = listed_lines().map(|(list, line)| Entry {
        closed: match list {
            List::Secret | List::Key => "reading and writing",
            List::Guarded => "writing",
        },
        pattern: line.pattern(),
        holds: line.holds(),
        owner: line.owner(),
        source: line.source(),
    });
    let moved = moved_places().map(|(variable, place)| Moved {
        variable,
        place: format!("~/{place}"),
    });
    Document {
        built_in: entries.collect(),
        moved: moved.collect(),
        closed: secrets.closed.iter().map(|rule| rule.value.to_string()).collect(),
        open: secrets
            .open
            .iter()
            .map(|rule| rule.value.display().to_string())
            .collect(),
    }
}

fn text(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for entry in &document.built_in {
        let kind = match entry.closed {
            "writing" => "guarded",
            _ => "secret",
        };
        writeln!(
            out,
            "{kind:7}  {}  {} ({}; {})",
            entry.pattern, entry.holds, entry.owner, entry.source
        )?;
    }
    for moved in &document.moved {
        writeln!(out, "moved    {}  says where {} is", moved.variable, moved.place)?;
    }
    for pattern in &document.closed {
        writeln!(out, "secret   {}  by your configuration", visible(pattern))?;
    }
    for path in &document.open {
        writeln!(out, "open     {}  by your configuration", visible(path))?;
    }
    Ok(())
}

//! `stockade profile secrets`: lists the paths that every profile keeps closed.

use std::io::Write;

use serde::Serialize;

use crate::REFUSED;
use crate::layers::unprinted;
use crate::message::Failure;
use stockade::internal::Surroundings;
use stockade_policy::config::{Configuration, Secrets};
use stockade_policy::policy::{SecretList, listed_lines, moved_places};
use stockade_policy::profile::visible;

/// A line of the list; absent fields are null.
#[derive(Serialize)]
struct Line {
    /// `secret`; `guarded`, in every `folder` or at the top of a `project` only; `moved`, `open`.
    kind: &'static str,
    /// What is closed, where a variable moves what belongs there, or what is open.
    pattern: String,
    variable: Option<&'static str>,
    holds: Option<&'static str>,
    owner: Option<&'static str>,
    source: Option<&'static str>,
    /// `built in` or `configuration`.
    by: &'static str,
}

/// Prints the built-in list and the user configuration's changes to it.
pub fn print(json: bool, surroundings: &Surroundings, out: &mut dyn Write) -> Result<u8, Failure> {
    let loaded = Configuration::load_if_open(surroundings.configuration.as_deref(), Some(stockade_judge::is_match));
    let configuration = loaded.map_err(|error| Failure::new(REFUSED, &error))?;
    for line in lines(&configuration.unwrap_or_default().secrets) {
        let text = match json {
            true => serde_json::to_string(&line).map_err(|error| Failure::new(REFUSED, &error))?,
            false => line.text(),
        };
        writeln!(out, "{text}").map_err(unprinted)?;
    }
    Ok(0)
}

fn lines(secrets: &Secrets) -> Vec<Line> {
    let built_in = listed_lines().map(|(list, line)| Line {
        kind: match list {
            SecretList::Secret | SecretList::Key => "secret",
            SecretList::Guarded => "guarded",
            SecretList::Folder => "folder",
            SecretList::Project => "project",
        },
        pattern: line.pattern().into(),
        variable: None,
        holds: Some(line.holds()),
        owner: Some(line.owner()),
        source: Some(line.source()),
        by: "built in",
    });
    let moved = moved_places().map(|(variable, place)| Line {
        variable: Some(variable),
        by: "built in",
        ..Line::of_configuration("moved", format!("~/{place}"))
    });
    let closed = secrets.closed.iter().map(|rule| rule.value.to_string());
    let closed = closed.map(|pattern| Line::of_configuration("secret", pattern));
    let open = secrets.open.iter().map(|rule| rule.value.display().to_string());
    let open = open.map(|path| Line::of_configuration("open", path));
    built_in.chain(moved).chain(closed).chain(open).collect()
}

impl Line {
    fn of_configuration(kind: &'static str, pattern: String) -> Line {
        Line {
            kind,
            pattern,
            variable: None,
            holds: None,
            owner: None,
            source: None,
            by: "configuration",
        }
    }

    fn text(&self) -> String {
        let pattern = visible(&self.pattern);
        let kind = self.kind;
        match (self.variable, self.holds, self.owner, self.source) {
            (Some(variable), ..) => format!("{kind:7}  {variable}  says where {pattern} is"),
            (_, Some(holds), Some(owner), Some(source)) => format!("{kind:7}  {pattern}  {holds} ({owner}; {source})"),
            _ => format!("{kind:7}  {pattern}  by your configuration"),
        }
    }
}

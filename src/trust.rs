//! `stockade trust`: shows the grants of a project's configuration, asks, and pins its content.
//!
//! The content that is shown, hashed and pinned was read once. Its texts come from the project's author, and are escaped.

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::REFUSED;
use super::args::Trust;
use super::confirm;
use super::layers::{Here, unprinted};
use super::message::{Failure, note, note_empty};
use stockade::internal::Surroundings;
use stockade_judge::{self as judge, Line, Project};
use stockade_policy::profile::visible;
use stockade_text::visible::visible_but_for_blanks;

/// Exit code: the project isn't trusted.
const UNTRUSTED: u8 = 1;

/// Carries out `stockade trust`.
pub fn trust(task: &Trust, out: &mut dyn Write) -> Result<u8, Failure> {
    if task.list {
        return list(task.json, out);
    }
    if task.remove {
        return revoke(task.root.as_deref(), out);
    }
    let here = Here::quiet(task.root.as_deref())?;
    let Some(project) = here.layers.project() else {
        return absent(task, &here);
    };
    if task.diff {
        return diff(&here, project, out);
    }
    show(&here, project, out)?;
    if project.is_trusted() {
        note("already trusted");
        return Ok(0);
    }
    // If the answer can't be stored, asking is pointless.
    let state = here.surroundings.state.as_deref();
    judge::trusted(state)?;
    out.flush().map_err(unprinted)?;
    if !agreed(task, project)? {
        note("not trusted");
        return Ok(UNTRUSTED);
    }
    judge::trust(state, project)?;
    note("trusted until the file changes");
    Ok(0)
}

fn absent(task: &Trust, here: &Here) -> Result<u8, Failure> {
    if task.diff {
        here.layers.remarks().iter().for_each(|remark| note(remark));
        return Ok(0);
    }
    let root = &here.root;
    let message = format!("there is no `.stockade/config.toml` in `{}`", root.display());
    Err(Failure::text(REFUSED, message).hint("name the project's root: `stockade trust DIR`"))
}

/// Prints the path, the hash, and the grants: `+` marks a new one, `-` a removed one.
fn show(here: &Here, project: &Project, out: &mut dyn Write) -> Result<(), Failure> {
    let widening = here.layers.widening();
    let is_new = |line: &Line| !project.is_trusted() && widening.added.contains(line);
    let path = project.path.to_string_lossy();
    writeln!(out, "{}\nblake3 {}", visible(&path), project.hash).map_err(unprinted)?;
    for line in &project.widens {
        marked(if is_new(line) { '+' } else { ' ' }, line, out)?;
    }
    for line in &widening.dropped {
        marked('-', line, out)?;
    }
    lifted(&widening.lifted, out)?;
    if project.widens.is_empty() {
        writeln!(out, "  it allows nothing beyond what is allowed without it").map_err(unprinted)?;
    }
    Ok(())
}

fn diff(here: &Here, project: &Project, out: &mut dyn Write) -> Result<u8, Failure> {
    if project.is_trusted() {
        return Ok(0);
    }
    let widening = here.layers.widening();
    for (mark, lines) in [('+', &widening.added), ('-', &widening.dropped)] {
        for line in lines {
            marked(mark, line, out)?;
        }
    }
    lifted(&widening.lifted, out)?;
    let path = project.path.display();
    match widening.added.is_empty() {
        true => note(&format!("`{path}` isn't trusted, and widens nothing")),
        false => note(&format!("`{path}` isn't trusted: what is marked with + doesn't count")),
    }
    if !widening.lifted.is_empty() {
        note("lines marked `no longer` denied or narrowed something before");
    }
    Ok(UNTRUSTED)
}

/// Prints the denials and limits that are lifted, as they were written.
fn lifted(lines: &[Line], out: &mut dyn Write) -> Result<(), Failure> {
    for line in lines {
        writeln!(out, "! no longer: {}", visible(&line.text)).map_err(unprinted)?;
    }
    Ok(())
}

fn marked(mark: char, line: &Line, out: &mut dyn Write) -> Result<(), Failure> {
    let lines = line.origins.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (text, origins) = (visible(&line.text), lines.join(", "));
    writeln!(out, "{mark} {text}  # {}", visible(&origins)).map_err(unprinted)
}

/// Whether the person agrees: by a flag, or by an answer on the terminal.
fn agreed(task: &Trust, project: &Project) -> Result<bool, Failure> {
    if let Some(hash) = &task.hash {
        if hash.eq_ignore_ascii_case(&project.hash) {
            return Ok(true);
        }
        let message = format!("the file's hash is `{}`, not `{hash}`", project.hash);
        return Err(Failure::text(REFUSED, message).hint("the file has changed since its review: review it again"));
    }
    if task.yes {
        return Ok(true);
    }
    if !confirm::can_ask() {
        let message = "can't ask whether to trust it: standard input and error aren't a terminal";
        return Err(Failure::text(REFUSED, message)
            .hint("`--hash HASH` trusts exactly the reviewed content, `--yes` the present content"));
    }
    confirm::agreed("Trust this configuration?", &|| {
        let lines = project
            .text()
            .lines()
            .map(|line| format!("  {}\n", visible_but_for_blanks(line)));
        let _ = io::stderr().lock().write_all(lines.collect::<String>().as_bytes());
    })
}

fn list(is_json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let pins = judge::trusted(surroundings.state.as_deref())?;
    note_empty("trusted project", pins.is_empty(), is_json);
    for pin in pins {
        let (now, remark) = match pin.now() {
            judge::Trust::Trusted => ("trusted", ""),
            judge::Trust::Changed => ("changed", "  # has changed, doesn't count"),
            judge::Trust::Untrusted => ("missing", "  # isn't there, or can't be read"),
        };
        let path = pin.path.to_string_lossy();
        let hash = pin.hashes.first().map_or("", String::as_str);
        if is_json {
            let line = json!({ "path": path, "hash": hash, "now": now });
            writeln!(out, "{line}").map_err(unprinted)?;
            continue;
        }
        writeln!(out, "{}  {}{remark}", visible(hash), visible(&path)).map_err(unprinted)?;
    }
    Ok(0)
}

/// Revokes trust, also of a project that no longer exists.
fn revoke(root: Option<&Path>, out: &mut dyn Write) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    let here = surroundings.directory;
    let root = root.map_or_else(|| here.clone(), |root| here.join(root));
    let was_trusted = judge::revoke(surroundings.state.as_deref(), &root)?;
    let said = if was_trusted {
        "isn't trusted any more"
    } else {
        "wasn't trusted"
    };
    writeln!(out, "{} {said}", visible(&root.to_string_lossy())).map_err(unprinted)?;
    Ok(0)
}

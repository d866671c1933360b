//! `stockade mcp install` and `stockade mcp uninstall`.

use std::collections::HashSet;
use std::io::Write;

use serde_json::json;

use super::already;
use super::args::{McpInstall, McpStatus, McpUninstall, Where};
use super::own::Own;
use super::place;
use super::plan::{Plan, Planner, lacking};
use super::write::{Change, UNWRITTEN, carry_out};
use crate::layers::{Here, unprinted};
use crate::message::{Failure, note_empty};
use crate::{REFUSED, to_output};
use stockade_install::{
    Client, Places, Scope, Server, ServerFile, SettingsFile, Start, Wrap, Wrapped, amend, parse, servers, unwrap, wrap,
    wrap_flags, wrapped,
};
use stockade_policy::profile::visible;
use stockade_text::mask;
use stockade_text::quote::command_line;
use stockade_text::visible::visible_json;

/// Carries out `stockade mcp install`.
pub fn mcp_install(task: &McpInstall) -> Result<u8, Failure> {
    let places = place::places(&task.place)?;
    let settings = Settings::read(task.client, &task.place, &places, &task.server)?;
    let profile = task.profile.as_deref().map(place::profile).transpose()?;
    let own = Own::here(&places)?;
    let here = Here::load(Some(&places.root))?;
    let planner = Planner {
        scope: settings.scope,
        places: &places,
        own: &own,
        profile,
        layers: Some(&here.layers),
    };
    to_output(|out| {
        let mut changes = Vec::new();
        let mut warnings = Vec::new();
        for found in settings.found {
            writeln!(out, "{}", visible(&found.file.path().to_string_lossy())).map_err(unprinted)?;
            let (mut wraps, mut amended) = (Vec::new(), Vec::new());
            for server in &found.servers {
                let plan = planner.plan(server);
                let remarks = planner.warnings(server, &plan);
                warnings.extend(remarks.iter().map(|remark| format!("`{}`: {remark}", name(server))));
                let said = match plan {
                    Plan::Wrap { flags, why, .. } => {
                        let said = format!("{} ({why})", command_line(&mask::words(&flags)));
                        wraps.push(Wrap { server, flags });
                        said
                    }
                    Plan::Amend { amendment, program } => {
                        let what = match (&amendment.profile, amendment.flags.is_empty()) {
                            (Some(_), true) => "another profile",
                            (None, _) => "with what was added to its variables",
                            (Some(_), false) => "another profile, and what was added to its variables",
                        };
                        amended.push((server, amendment));
                        let flags = command_line(&mask::words(wrap_flags(&program).unwrap_or_default()));
                        format!("{flags} ({what}, the rest as before)")
                    }
                    Plan::Keep(why) => format!("left as it is: {why}"),
                    Plan::Unconfined(why) => format!("left UNCONFINED: {why}"),
                };
                writeln!(out, "  {}: {}", name(server), visible(&said)).map_err(unprinted)?;
            }
            let text = found.file.text().unwrap_or_default();
            let (format, tables) = (found.place.format, found.place.tables);
            let new = wrap(text, format, tables, &wraps, own.path())
                .and_then(|new| amend(&new, format, tables, &amended))
                .map_err(|why| unwritten(&found.file, &why))?;
            if new != text {
                let has_ours = found.servers.iter().any(is_wrapped);
                let keeps_copy = !has_ours || found.file.copy_text().is_none();
                changes.push(change(found.file, new, keeps_copy));
            }
        }
        carry_out(&changes, &warnings, task.place.yes, out)
    })
}

/// Carries out `stockade mcp status`: no client without settings is named. A file that can't be read is told, and the others are
/// shown.
pub fn mcp_status(task: &McpStatus, out: &mut dyn Write) -> Result<u8, Failure> {
    let place = |project| Where {
        project,
        root: task.root.clone(),
        yes: false,
    };
    let places = place::places(&place(task.project))?;
    let own = Own::here(&places)?;
    let (mut is_any, mut is_unconfined) = (false, false);
    let mut failed = None;
    let mut looked_at = HashSet::new();
    let scopes: &[bool] = if task.project { &[true] } else { &[false, true] };
    for (place, client) in scopes
        .iter()
        .flat_map(|project| Client::ALL.map(|client| (place(*project), client)))
    {
        let mut settings = match Settings::read(client, &place, &places, &[]) {
            Ok(settings) => settings,
            Err(failure)
                if failure.exit_code == UNWRITTEN || client.files(place::scope(&place), &places).is_empty() =>
            {
                continue;
            }
            Err(failure) => {
                failure.print();
                failed.get_or_insert(failure.exit_code);
                continue;
            }
        };
        // In the home directory some files are both the user's and the project's.
        settings
            .found
            .retain(|found| looked_at.insert((client.name(), found.file.path().to_owned())));
        let planner = Planner {
            scope: settings.scope,
            places: &places,
            own: &own,
            profile: None,
            layers: None,
        };
        for server in settings.found.iter().flat_map(|found| &found.servers) {
            let (standing, said) = standing(&planner, server, &installing(client, &place));
            (is_any, is_unconfined) = (true, is_unconfined || standing == "unconfined");
            let root = place.project.then(|| places.root.to_string_lossy().into_owned());
            let server = Server {
                project: root.or(server.project.clone()),
                ..server.clone()
            };
            let line = match task.json {
                true => {
                    let (client, server, project) = (client.name(), &server.name, &server.project);
                    let line = json!({ "client": client, "server": server, "project": project, "standing": standing, "said": said });
                    visible_json(&line.to_string()).into_owned()
                }
                false => format!("{:14}  {}: {}", client.name(), name(&server), visible(&said)),
            };
            writeln!(out, "{line}").map_err(unprinted)?;
        }
    }
    note_empty(
        "server in the settings of an MCP client",
        !is_any && failed.is_none(),
        task.json,
    );
    Ok(failed.unwrap_or(u8::from(is_unconfined)))
}

/// Whether a server is confined, and the words for it. `installing` is the line that changes its own.
fn standing(planner: &Planner<'_>, server: &Server, installing: &str) -> (&'static str, String) {
    match (planner.plan(server), &server.start) {
        (Plan::Keep(_) | Plan::Amend { .. }, Start::Program(program)) if already::is_trusted(program) => {
            let why = "it runs in `trusted`, which confines nothing";
            ("unconfined", format!("not confined: {why}"))
        }
        (Plan::Amend { .. }, Start::Program(program)) => {
            let names: Vec<&str> = lacking(program).collect();
            let (said, names) = (already::said(program), names.join("`, `"));
            (
                "kept",
                format!("{said}; without `{names}` of its variables, which `{installing}` adds"),
            )
        }
        (Plan::Keep(said), _) => ("kept", said),
        (Plan::Unconfined(why), _) => ("unconfined", format!("not confined: {why}")),
        (Plan::Wrap { .. } | Plan::Amend { .. }, _) => {
            ("unconfined", format!("not confined; `{installing}` confines it"))
        }
    }
}

/// The line that wraps the servers of these settings.
fn installing(client: Client, place: &Where) -> String {
    let mut words = ["stockade", "mcp", "install", "--for", client.name()]
        .map(String::from)
        .to_vec();
    if place.project {
        words.push("--project".into());
        let root = place
            .root
            .iter()
            .flat_map(|root| ["--root".into(), root.to_string_lossy().into_owned()]);
        words.extend(root);
    }
    command_line(&words)
}

/// Carries out `stockade mcp uninstall`.
pub fn mcp_uninstall(task: &McpUninstall) -> Result<u8, Failure> {
    let places = place::places(&task.place)?;
    let settings = Settings::read(task.client, &task.place, &places, &task.server)?;
    to_output(|out| {
        let mut changes = Vec::new();
        for found in settings.found {
            let text = found.file.text().unwrap_or_default();
            let ours: Vec<&Server> = found.servers.iter().filter(|server| is_wrapped(server)).collect();
            let (format, tables) = (found.place.format, found.place.tables);
            let new = unwrap(text, format, tables, &ours).map_err(|why| unwritten(&found.file, &why))?;
            if new != text {
                changes.push(change(found.file, new, false));
            }
        }
        carry_out(&changes, &[], task.place.yes, out)
    })
}

fn change(file: SettingsFile, text: String, keeps_copy: bool) -> Change {
    Change {
        file,
        text: Some(text),
        keeps_copy,
    }
}

/// A file with its servers.
struct Found {
    file: SettingsFile,
    place: ServerFile,
    servers: Vec<Server>,
}

/// The files of a client that are there.
struct Settings {
    scope: Scope,
    found: Vec<Found>,
}

impl Settings {
    fn read(client: Client, place: &Where, places: &Places, wanted: &[String]) -> Result<Settings, Failure> {
        let scope = place::scope(place);
        let within = place.project.then_some(places.root.as_path());
        let files = client.files(scope, places);
        if files.is_empty() {
            let message = format!("{} has no settings of a project", client.name());
            return Err(Failure::text(REFUSED, message).hint("leave `--project` out"));
        }
        let mut found = Vec::new();
        let mut looked_at = Vec::new();
        for place in files {
            looked_at.push(format!("`{}`", place.path.display()));
            let file = SettingsFile::read(&place.path, within)?;
            let Some(text) = file.text().filter(|text| !text.trim().is_empty()) else {
                continue;
            };
            let root = parse(text, place.format);
            let all = root.and_then(|root| servers(&root, place.tables, text));
            let mut all =
                all.map_err(|fault| Failure::text(REFUSED, format!("`{}`: {fault}", place.path.display())))?;
            all.retain(|server| wanted.is_empty() || wanted.contains(&server.name));
            if !all.is_empty() {
                found.push(Found {
                    file,
                    place,
                    servers: all,
                });
            }
        }
        if found.is_empty() {
            let what = match wanted {
                [] => "no server is configured".to_string(),
                wanted => format!("no server is called {}", wanted.join(" or ")),
            };
            let message = format!("{what} for {}", client.name());
            return Err(Failure::text(UNWRITTEN, message).hint(format!("looked at {}", looked_at.join(", "))));
        }
        Ok(Settings { scope, found })
    }
}

fn is_wrapped(server: &Server) -> bool {
    matches!(&server.start, Start::Program(program) if matches!(wrapped(program), Wrapped::At(_)))
}

fn name(server: &Server) -> String {
    match &server.project {
        Some(project) => format!("{} (in {})", visible(&server.name), visible(project)),
        None => visible(&server.name).into_owned(),
    }
}

fn unwritten(file: &SettingsFile, why: &str) -> Failure {
    let message = format!("`{}` can't be changed: {why}", file.path().display());
    Failure::text(REFUSED, message).hint("nothing was written; change it by hand, as `stockade mcp wrap --help` says")
}

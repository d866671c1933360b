//! `stockade profile …`: selects the subcommand, and returns the exit code.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::test::Order;
use super::{PrintError, diff, idle, new, secrets, test};
use crate::REFUSED;
use crate::args::Profile;
use crate::message::{Failure, note};
use stockade::internal::Surroundings;
use stockade_policy::profile::{self, Catalog, SCHEMA, visible};

/// Carries out `stockade profile …`.
pub fn profile_task(task: &Profile, out: &mut dyn Write) -> Result<u8, Failure> {
    let surroundings = Surroundings::here().map_err(failed)?;
    let catalog = Catalog::new(surroundings.profiles());
    match task {
        Profile::List { json } => super::list(&catalog, *json, out).map_err(failed).map(|()| 0),
        Profile::Show {
            name,
            resolved,
            root,
            json,
        } => {
            let root = canonical(&surroundings, root.as_deref())?;
            let home = surroundings.home.clone().unwrap_or_else(|| "/nonexistent".into());
            let place = resolved.then_some((root.as_path(), home.as_path()));
            printed(super::show(&catalog, name, place, *json, out))?;
            // A place where nothing can run is no reason not to show a profile.
            for remark in idle::remarks(name, &root).unwrap_or_default() {
                note(&format!("warning: {}: {}", remark.origin, visible(&remark.message)));
            }
            Ok(0)
        }
        Profile::Secrets { json } => secrets::print(*json, &surroundings, out),
        Profile::Lint { name, json } => {
            let profile = printed(catalog.load(name).map_err(PrintError::from))?;
            let idle = idle::remarks(name, &canonical(&surroundings, None)?)?;
            let remarks = [profile::lint(&profile), idle].concat();
            let count = super::lint(&remarks, *json, out).map_err(failed)?;
            Ok(u8::from(count > 0))
        }
        Profile::New { name, from } => new::new(&catalog, &surroundings, name, from, out),
        Profile::Test { names, root, json } => {
            let root = root.as_deref().map(|root| canonical(&surroundings, Some(root)));
            let order = Order {
                names,
                root: root.transpose()?,
                json: *json,
            };
            test::test(&catalog, &surroundings, &order, out)
        }
        Profile::Diff { a, b, root, json } => {
            let root = canonical(&surroundings, root.as_deref())?;
            let differences = printed(diff::compare(&catalog, &surroundings, [a, b], &root).map_err(Into::into))?;
            let written = match json {
                true => writeln!(out, "{:#}", diff::document(&differences, [a, b], &root)),
                false => diff::print(&differences, out),
            };
            written.map_err(failed)?;
            Ok(u8::from(!differences.are_none()))
        }
        Profile::Schema => out.write_all(SCHEMA.as_bytes()).map_err(failed).map(|()| 0),
    }
}

fn canonical(surroundings: &Surroundings, root: Option<&Path>) -> Result<PathBuf, Failure> {
    let root = surroundings.directory.join(root.unwrap_or("".as_ref()));
    std::fs::canonicalize(&root)
        .map_err(|error| Failure::text(REFUSED, format!("the root `{}` can't be used: {error}", root.display())))
}

fn failed(error: io::Error) -> Failure {
    Failure::new(REFUSED, &error)
}

fn printed<T>(result: Result<T, PrintError>) -> Result<T, Failure> {
    result.map_err(|error| {
        let hint = match &error {
            PrintError::Profile(error) => error.hint(),
            PrintError::Output(_) => None,
        };
        Failure {
            hint,
            ..Failure::new(REFUSED, &error)
        }
    })
}

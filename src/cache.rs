//! `stockade cache`: shows and removes the package manager caches of runs.

use std::io::{self, Write};
use std::path::Path;

use super::REFUSED;
use super::args::Cache;
use super::audit::state;
use super::layers::unprinted;
use super::message::{Failure, note_empty};
use super::moment;
use stockade::internal::{StoredCache, remove_cache, stored_caches};
use stockade_policy::profile::visible;
use stockade_text::quote::{command_line, quoted};

/// Carries out `stockade cache …`.
pub fn cache(task: &Cache, out: &mut dyn Write) -> Result<u8, Failure> {
    let state = state()?;
    let caches = stored_caches(&state).map_err(|error| Failure::new(REFUSED, &error))?;
    match task {
        Cache::List { json } => {
            let text = if *json { exact } else { listed };
            note_empty("cache", caches.is_empty(), *json);
            caches
                .iter()
                .try_for_each(|cache| writeln!(out, "{}", text(cache)).map_err(unprinted))?;
        }
        Cache::Remove { all: true, .. } => {
            remove_each(&state, caches.iter(), out)?;
        }
        Cache::Remove { names, .. } => {
            let named = names
                .iter()
                .map(|name| find(&caches, name))
                .collect::<Result<Vec<_>, _>>()?;
            remove_each(&state, named.into_iter(), out)?;
        }
    }
    Ok(0)
}

fn exact(cache: &StoredCache) -> String {
    serde_json::to_string(cache).unwrap_or_default()
}

/// Two lines: the size of the cache, and its purpose.
fn listed(cache: &StoredCache) -> String {
    let whom = match &cache.about {
        None => "nothing says what it is for".into(),
        Some(about) => {
            let mut whom = format!(
                "in {} under {}",
                quoted(about.root.as_ref()),
                quoted(about.profile.as_ref())
            );
            if let Some(agent) = &about.agent {
                whom += &format!(", for agent {}", quoted(agent.as_ref()));
            }
            if let Some(command) = &about.command {
                whom += &format!(": {}", command_line(command));
            }
            whom
        }
    };
    format!(
        "{}  {:.1} MiB, used {}\n        {}",
        visible(&cache.name),
        cache.bytes as f64 / f64::from(1 << 20),
        moment::text(cache.used_ms),
        visible(&whom)
    )
}

fn find<'c>(caches: &'c [StoredCache], name: &str) -> Result<&'c StoredCache, Failure> {
    let mut found = caches
        .iter()
        .filter(|cache| !name.is_empty() && cache.name.starts_with(name));
    match (found.next(), found.next()) {
        (Some(cache), None) => Ok(cache),
        (None, _) => Err(
            Failure::text(REFUSED, format!("no cache is called `{}`", visible(name)))
                .hint("`stockade cache list` shows them"),
        ),
        (Some(_), Some(_)) => Err(Failure::text(
            REFUSED,
            format!("several caches begin with `{}`", visible(name)),
        )),
    }
}

/// Continues where a cache can't be removed; the last failure is the command's.
fn remove_each<'c>(
    state: &Path,
    caches: impl Iterator<Item = &'c StoredCache>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut failed: Option<Failure> = None;
    for cache in caches {
        if let Err(failure) = remove(state, cache, out) {
            failed.replace(failure).iter().for_each(Failure::print);
        }
    }
    failed.map_or(Ok(()), Err)
}

fn remove(state: &Path, cache: &StoredCache, out: &mut dyn Write) -> Result<(), Failure> {
    let name = visible(&cache.name);
    match remove_cache(state, &cache.name) {
        Ok(()) => writeln!(out, "removed {name}").map_err(unprinted),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(Failure::text(REFUSED, format!("a run is using the cache `{name}`")))
        }
        Err(error) => Err(Failure::text(
            REFUSED,
            format!("can't remove the cache `{name}`: {error}"),
        )),
    }
}

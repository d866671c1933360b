//! `stockade script`: manages the scripts that `exec` knows, by the hash of their content and directory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::REFUSED;
use super::args::ScriptTask;
use super::audit::state;
use super::message::{Failure, note, note_empty};
use super::moment;
use stockade::internal::Surroundings;
use stockade_infer::Language;
use stockade_policy::profile::{Catalog, visible};
use stockade_store::{Basis, GrantStore, ScriptStore, Source, StoredGrant, StoredScript, now_ms};
use stockade_text::quote::{command_line, quoted};

/// Carries out `stockade script …`.
pub fn script(task: &ScriptTask, out: &mut dyn Write) -> Result<u8, Failure> {
    let printed = match task {
        ScriptTask::List { profile, json } => list(profile.as_deref(), *json, out),
        ScriptTask::Show { script, json } => show(script, *json, out),
        ScriptTask::Set {
            script,
            profile,
            observed,
        } => set(script, profile, *observed, out),
        ScriptTask::Remove { script } => forget(script, out),
    };
    printed.map(|()| 0)
}

/// The identity of a file as a script ([`hash_of`]).
///
/// # Errors
/// The file can't be read.
pub fn hash(path: &Path) -> io::Result<String> {
    let path = std::fs::canonicalize(path)?;
    Ok(hash_of(&path, &content(&path)?))
}

/// BLAKE3, in hexadecimal, of a script's content and of what makes the same text another program: the directory of its
/// canonical path, whose modules and settings the interpreter loads, and the language that its name says where its first
/// line says none.
pub fn hash_of(path: &Path, content: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    let directory = path.parent().unwrap_or(path).as_os_str().as_bytes();
    let language = match content.starts_with(b"#!") {
        true => None,
        false => Language::of(Some(path), "").map(Language::name),
    };
    for part in [content, directory, language.unwrap_or_default().as_bytes()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex().to_string()
}

/// The whole content of a script, by its real path.
///
/// # Errors
/// It can't be read, is too long for a script, or something on the way was replaced meanwhile by a link, perhaps by a run.
pub fn content(path: &Path) -> io::Result<Vec<u8>> {
    const MAX_LENGTH: u64 = 64 << 20;
    let mut content = Vec::new();
    let file = open_file(path)?;
    if std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))? != path {
        return Err(io::Error::other("it was moved meanwhile"));
    }
    file.take(MAX_LENGTH + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MAX_LENGTH {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 64 MiB")),
        false => Ok(content),
    }
}

/// Opens a regular file for reading; anything else is refused, and opening doesn't block on a FIFO.
///
/// # Errors
/// It can't be opened, or isn't a file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

/// The stored entry of one content; a damaged one is reported and ignored.
pub fn known(state: &Path, hash: &str) -> Option<StoredScript> {
    let found =
        ScriptStore::open_existing(state).and_then(|store| store.map_or(Ok(None), |mut store| store.find(hash)));
    found.unwrap_or_else(|error| {
        note(&format!(
            "can't use the stored record of this script: {}",
            visible(&error.to_string())
        ));
        None
    })
}

/// The stored grants for one content.
pub fn approvals(state: &Path, hash: &str) -> Vec<StoredGrant> {
    let listing = GrantStore::open_existing(state).and_then(|store| store.map(|mut store| store.list()).transpose());
    let grants = listing.ok().flatten().map(|listing| listing.grants).unwrap_or_default();
    let counts = |grant: &StoredGrant| grant.revoked_ms.is_none() && grant.key.script.as_deref() == Some(hash);
    grants.into_iter().filter(counts).collect()
}

fn list(profile: Option<&str>, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let state = state()?;
    if let Some(profile) = profile {
        must_load(profile)?;
    }
    let all = ScriptStore::open_existing(&state)?
        .map(|mut store| store.list())
        .transpose()?;
    let is_shown = |script: &StoredScript| profile.is_none_or(|profile| script.profile == profile);
    let shown: Vec<StoredScript> = all.into_iter().flatten().filter(is_shown).collect();
    note_empty("script that `exec` remembers", shown.is_empty(), json);
    for script in shown {
        let line = match json {
            true => as_json(&script, &state).to_string(),
            false => format!(
                "{}  {:<12} {}{}  {}",
                &script.hash[..12.min(script.hash.len())],
                visible(&script.profile.to_string_lossy()),
                source(&script),
                sureness(&script),
                quoted(script.path.as_os_str())
            ),
        };
        say(out, &line)?;
    }
    Ok(())
}

fn show(which: &str, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let state = state()?;
    let script = find(&state, which)?;
    if json {
        let text = serde_json::to_string_pretty(&as_json(&script, &state)).unwrap_or_default();
        return say(out, &text);
    }
    for (name, value) in [
        ("script", quoted(script.path.as_os_str())),
        ("hash", script.hash.clone()),
        ("profile", script.profile.to_string_lossy().into_owned()),
        ("source", format!("{}{}", source(&script), sureness(&script))),
        ("runs", script.runs.to_string()),
        ("first", moment::text(script.first_ms)),
        ("last", moment::text(script.last_ms)),
    ] {
        say(out, &format!("{name:<9} {}", visible(&value)))?;
    }
    for grant in approvals(&state, &script.hash) {
        let words = command_line(&grant.grant.given.words());
        let by = format!("{words} by {} ({})", grant.grant.by, grant.id);
        say(out, &format!("approved  {}", visible(&by)))?;
    }
    Ok(())
}

/// Checks that a chosen profile exists.
///
/// # Errors
/// It doesn't exist, or has faults.
pub fn must_load(profile: &str) -> Result<(), Failure> {
    let surroundings = Surroundings::here().map_err(|error| Failure::new(REFUSED, &error))?;
    Catalog::new(surroundings.profiles())
        .load(profile)
        .map_err(stockade::Error::from)?;
    Ok(())
}

fn set(file: &Path, profile: &str, observed: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if profile.contains('/') {
        return Err(Failure::text(
            REFUSED,
            "a script's profile has to be a name: a profile's file could change",
        )
        .hint("put it into `~/.config/stockade/profiles/`"));
    }
    must_load(profile)?;
    let failed = |error: io::Error| Failure::text(REFUSED, format!("can't read `{}`: {error}", file.display()));
    let path = std::fs::canonicalize(file).map_err(failed)?;
    let hash = hash(&path).map_err(failed)?;
    let state = state()?;
    let mut script = known(&state, &hash).unwrap_or_else(|| StoredScript::new(hash, path.clone(), profile.into()));
    script.path = path;
    script.profile = super::ledger::profile_key(profile);
    script.source = Source::Manual;
    script.basis = if observed { Basis::Observed } else { Basis::Approved };
    script.confidence = None;
    script.last_ms = now_ms();
    ScriptStore::open(&state)?.set(&script)?;
    say(
        out,
        &visible(&format!("{} runs under {profile}", script.path.display())),
    )
}

fn forget(which: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let state = state()?;
    let script = find(&state, which)?;
    // A forgotten yes must not count either.
    let mut grants = GrantStore::open_existing(&state)?;
    let approved = approvals(&state, &script.hash);
    for grant in &approved {
        if let Some(grants) = &mut grants {
            grants.revoke(&grant.id)?;
        }
    }
    ScriptStore::open(&state)?.forget(&script.hash)?;
    say(out, &visible(&format!("removed {}", script.path.display())))?;
    for grant in &approved {
        let words = command_line(&grant.grant.given.words());
        let text = format!("removed {words} in {}", grant.key.project.display());
        say(out, &visible(&text))?;
    }
    Ok(())
}

/// Finds a script by its file, or by the beginning of its hash.
fn find(state: &Path, which: &str) -> Result<StoredScript, Failure> {
    let unknown = || {
        Failure::text(REFUSED, format!("no script is known as `{which}`"))
            .hint("`stockade script list` shows those that are; a file that was changed, or lies in another directory, is another script")
    };
    let all = ScriptStore::open_existing(state)?
        .map(|mut store| store.list())
        .transpose()?
        .unwrap_or_default();
    let hash = hash(Path::new(which)).ok();
    let is_it = |script: &StoredScript| match &hash {
        Some(hash) => script.hash == *hash,
        None => which.len() >= 6 && script.hash.starts_with(which),
    };
    let mut found = all.into_iter().filter(is_it);
    match (found.next(), found.next()) {
        (Some(script), None) => Ok(script),
        (Some(_), Some(_)) => Err(Failure::text(
            REFUSED,
            format!("more than one script begins with `{which}`"),
        )),
        (None, _) => Err(unknown()),
    }
}

fn source(script: &StoredScript) -> String {
    match script.source {
        Source::Emergent if script.basis == Basis::Inferred => "emergent".into(),
        source => format!("{}, {}", source.name(), script.basis.name()),
    }
}

fn sureness(script: &StoredScript) -> String {
    script
        .confidence
        .map(|confidence| format!(" ({confidence})"))
        .unwrap_or_default()
}

fn as_json(script: &StoredScript, state: &Path) -> serde_json::Value {
    let approvals: Vec<_> = approvals(state, &script.hash).iter().map(StoredGrant::json).collect();
    serde_json::json!({
        "hash": script.hash,
        "path": script.path.to_string_lossy(),
        "language": script.language,
        "permission_set": script.profile.to_string_lossy(),
        "permission_confidence": script.confidence,
        "source": script.source.name(),
        "basis": script.basis.name(),
        "runs": script.runs,
        "first_ms": script.first_ms,
        "last_ms": script.last_ms,
        "approvals": approvals,
    })
}

fn say(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    match writeln!(out, "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(REFUSED, &error)),
        _ => Ok(()),
    }
}

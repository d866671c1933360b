//! Writes a rule that a yes stores permanently into the project's configuration, or removes it, and trusts the result.
//!
//! Keeps the file's comments and order. Only a trusted or new file is changed; links are never followed.
//! A concurrent reader sees the old file or the new one, and trusts either: both hashes are pinned while the new
//! file replaces the old one.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, fstat, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

use super::project::{DIRECTORY, Project, Trust, hash, open, path_below, read};
use super::trust::Locked;
use super::{Configuration, TrustError};
use crate::{PermissionRule, Remember};
use stockade_policy::profile::Source;

/// The beginning of a newly created file.
const HEAD: &str = "# Rules of this project. Stockade adds what is remembered; `stockade trust` has to agree to other changes.\nversion = 1\n";

/// The new file's name before it replaces the old one.
const NEW: &str = ".config.toml.new";

/// The result of `remember` and `remove_rules`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The project's configuration.
    pub path: PathBuf,
    /// The rules that were added or removed; none if nothing had to be written.
    pub changed: Vec<Remember>,
}

/// Writes rules into the project's configuration, creating it if it is missing, and trusts the result.
///
/// # Errors
/// The file is there and isn't trusted, or has faults, or is a link; it or the state directory can't be written; a rule
/// isn't one.
pub fn remember(root: &Path, state: Option<&Path>, rules: &[Remember]) -> Result<Written, TrustError> {
    change(root, state, |there| missing(there, rules), with_rules)
}

/// Removes rules from the project's configuration, and trusts the result. Those that name more than `rules` stay.
///
/// # Errors
/// As of [`remember`].
pub fn remove_rules(root: &Path, state: Option<&Path>, rules: &[Remember]) -> Result<Written, TrustError> {
    let there = |there: Option<&Configuration>| {
        let absent = missing(there, rules);
        rules.iter().filter(|rule| !absent.contains(rule)).cloned().collect()
    };
    change(root, state, there, without_rules)
}

/// Changes the rules that have to be, by what the file has: `due` has none for the result.
fn change(
    root: &Path,
    state: Option<&Path>,
    due: impl Fn(Option<&Configuration>) -> Vec<Remember>,
    edit: fn(&str, &[Remember]) -> Result<String, String>,
) -> Result<Written, TrustError> {
    let mut locked = Locked::open(state)?;
    let path = path_below(root);
    let found = Project::read(root)?;
    if let Some(project) = &found
        && locked.pins.trust(&path, &project.hash) != Trust::Trusted
    {
        return Err(TrustError::Untrusted { path });
    }
    let changed = due(found.as_ref().map(|project| &project.configuration));
    if changed.is_empty() {
        return Ok(Written { path, changed });
    }
    let before = found.as_ref().map(|project| project.text.as_str());
    let text = edit(before.unwrap_or(HEAD), &changed).map_err(|why| unwritable(&path, io::Error::other(why)))?;
    // Parses the text before writing it: an invalid rule never gets into the file.
    let written = read(&text, &Source::File(path.clone()))?;
    if !due(Some(&written)).is_empty() {
        let why = "its table of permissions has a form that can't be changed";
        return Err(unwritable(&path, io::Error::other(why)));
    }
    let new = hash(text.as_bytes());
    let old = found.as_ref().map(|project| project.hash.as_str());
    let both: Vec<&str> = [new.as_str()].into_iter().chain(old).collect();
    locked.pin(&path, &both, &text)?;
    write(&path, &text)?;
    locked.pin(&path, &[&new], &text)?;
    Ok(Written { path, changed })
}

/// The rules that aren't there yet, without duplicates.
fn missing(configuration: Option<&Configuration>, rules: &[Remember]) -> Vec<Remember> {
    let there = configuration.map_or(&[][..], |configuration| &configuration.permissions.allow);
    let mut missing: Vec<Remember> = Vec::new();
    for rule in rules {
        if !missing.contains(rule) && !there.iter().any(|known| is_same(known, rule)) {
            missing.push(rule.clone());
        }
    }
    missing
}

fn is_same(known: &PermissionRule, rule: &Remember) -> bool {
    known.tool == rule.tool
        && known.command == rule.command
        && known.skill_name == rule.skill_name
        && known.command_glob.is_none()
}

/// The text with the rules appended to the existing ones.
fn with_rules(text: &str, rules: &[Remember]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let permissions = document.entry("permissions").or_insert_with(|| {
        let mut table = Table::new();
        // `[permissions]` alone has no meaning.
        table.set_implicit(true);
        Item::Table(table)
    });
    let permissions = permissions.as_table_like_mut().ok_or("`permissions` isn't a table")?;
    let allow = permissions
        .entry("allow")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    for rule in rules {
        let fields = [
            ("tool", Some(&rule.tool)),
            ("command", rule.command.as_ref()),
            ("skill_name", rule.skill_name.as_ref()),
        ];
        let fields = fields.into_iter().filter_map(|(name, text)| Some((name, text?)));
        match allow {
            Item::ArrayOfTables(tables) => {
                let mut table = Table::new();
                fields.for_each(|(name, text)| drop(table.insert(name, value(text.as_str()))));
                tables.push(table);
            }
            Item::Value(toml_edit::Value::Array(array)) => {
                let inline = fields
                    .map(|(name, text)| (name, text.as_str()))
                    .collect::<toml_edit::InlineTable>();
                array.push(inline);
            }
            _ => return Err("`permissions.allow` isn't a list".to_owned()),
        }
    }
    Ok(document.to_string())
}

/// The text without these rules.
fn without_rules(text: &str, rules: &[Remember]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let stays = |rule: &dyn TableLike| {
        let text = |name| rule.get(name).and_then(Item::as_str);
        let is_it = |known: &Remember| {
            text("tool") == Some(&known.tool)
                && text("command") == known.command.as_deref()
                && text("skill_name") == known.skill_name.as_deref()
                && text("command_glob").is_none()
        };
        !rules.iter().any(is_it)
    };
    match document
        .get_mut("permissions")
        .and_then(|permissions| permissions.get_mut("allow"))
    {
        Some(Item::ArrayOfTables(tables)) => tables.retain(|rule| stays(rule)),
        Some(Item::Value(toml_edit::Value::Array(array))) => {
            array.retain(|rule| rule.as_inline_table().is_none_or(|rule| stays(rule)));
        }
        _ => return Err("`permissions.allow` isn't a list".to_owned()),
    }
    Ok(document.to_string())
}

/// Replaces the old file by a new one, in a directory that is held open.
fn write(path: &Path, text: &str) -> Result<(), TrustError> {
    let directory = directory(path)?;
    let name = path.file_name().unwrap_or_default();
    let old = open(&directory, path, OFlag::O_PATH)?;
    let failed = |errno: Errno| unwritable(path, errno.into());
    let mode = match old {
        Some(old) => Mode::from_bits_truncate(fstat(&old).map_err(failed)?.st_mode & 0o777),
        None => Mode::from_bits_truncate(0o644),
    };
    // Only the holder of the lock creates it, so an existing one was left by a process that was killed.
    let _ = unlinkat(&directory, NEW, UnlinkatFlags::NoRemoveDir);
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let file = openat(&directory, NEW, flags, mode).map_err(failed)?;
    let mut file = File::from(file);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| renameat(&directory, NEW, &directory, name).map_err(io::Error::from));
    moved.map_err(|error| {
        let _ = unlinkat(&directory, NEW, UnlinkatFlags::NoRemoveDir);
        unwritable(path, error)
    })
}

/// Opens the project's configuration directory, creating it if it is missing.
fn directory(path: &Path) -> Result<OwnedFd, TrustError> {
    let directory = path.parent().unwrap_or(path);
    let root = directory.parent().unwrap_or(path);
    let root = File::open(root).map_err(|error| unwritable(root, error))?;
    match mkdirat(root.as_fd(), DIRECTORY, Mode::from_bits_truncate(0o755)) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(unwritable(directory, errno.into())),
    }
    let opened = open(&root, directory, OFlag::O_DIRECTORY | OFlag::O_RDONLY)?;
    opened.ok_or_else(|| unwritable(directory, io::ErrorKind::NotFound.into()))
}

fn unwritable(path: &Path, source: io::Error) -> TrustError {
    TrustError::Unwritable {
        path: path.to_path_buf(),
        source,
    }
}

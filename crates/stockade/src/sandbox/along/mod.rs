//! What comes along of the user's own configuration, which a run with a home of its own doesn't see: settings that
//! execute nothing and hold no secret, and the files that they name. Read before the start, from files that no run may
//! write. What doesn't come along, although the run would differ without it, is told.

mod git;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use crate::policy::{Access, DenialKind, Grant, GrantExtent, Matcher, Policy};
use crate::profile::Origin;
use crate::real_path::{Walked, Walker};
use crate::surroundings::Surroundings;
use stockade_text::mask::holds_secret;

/// The longest file that is read here, in bytes.
const LONGEST: u64 = 1 << 20;

/// What comes along, and what doesn't.
#[derive(Debug, Default)]
pub(super) struct Along {
    brought: Vec<Brought>,
    /// A line each, for the user.
    left: Vec<String>,
}

/// A variable or a setting, with the file that it names.
#[derive(Debug)]
struct Brought {
    name: Name,
    value: OsString,
    file: Option<Walked>,
}

#[derive(Debug)]
enum Name {
    Variable(String),
    /// A setting of git's, by its full name: a variable of a number of its own.
    OfGit(String),
}

impl Along {
    /// Finds what a run of this policy and command may have.
    pub fn of(surroundings: &Surroundings, (policy, argv): (&Policy, &[OsString]), walker: &mut Walker) -> Along {
        let mut along = Along::default();
        git::bring(&mut along, surroundings, (policy, argv), walker);
        let is_secret = |brought: &Brought| holds_secret(&brought.value.to_string_lossy());
        along.brought.retain(|brought| !is_secret(brought));
        along
    }

    fn variable(&mut self, name: impl Into<String>, value: impl Into<OsString>) {
        self.brought.push(Brought {
            name: Name::Variable(name.into()),
            value: value.into(),
            file: None,
        });
    }

    /// Whether it names files, which are granted only once all denials are known.
    pub fn names_files(&self) -> bool {
        self.brought.iter().any(|brought| brought.file.is_some())
    }

    /// Adds it to a policy that has all its denials; returns a line for each thing that is left.
    pub fn join(self, policy: &mut Policy) -> Vec<String> {
        let Along { brought, mut left } = self;
        let matcher = brought
            .iter()
            .any(|one| one.file.is_some())
            .then(|| Matcher::new(policy));
        let (mut grants, mut variables, mut settings) = (Vec::new(), Vec::new(), Vec::new());
        for Brought { name, value, file } in brought {
            if let (Some(matcher), Some(file)) = (&matcher, &file) {
                match readable(matcher, policy, file) {
                    Ok(grant) => grants.extend(grant),
                    Err(why) => {
                        let (Name::Variable(name) | Name::OfGit(name)) = name;
                        left.push(format!("`{name}` doesn't come along: `{}` {why}", file.real.display()));
                        continue;
                    }
                }
            }
            match name {
                Name::Variable(name) => variables.push((name, value)),
                Name::OfGit(name) => settings.push((name, value)),
            }
        }
        variables.extend(numbered(settings, policy));
        policy.grants.extend(grants);
        for (name, value) in variables {
            policy.environment.entry(name.into()).or_insert(value);
        }
        left
    }
}

/// Settings as variables (git-config(1), ENVIRONMENT), behind those that the run has already.
fn numbered(settings: Vec<(String, OsString)>, policy: &mut Policy) -> Vec<(String, OsString)> {
    if settings.is_empty() {
        return Vec::new();
    }
    let had = policy.environment.remove(OsStr::new("GIT_CONFIG_COUNT"));
    let had: usize = had.and_then(|count| count.to_str()?.parse().ok()).unwrap_or(0);
    let count = had + settings.len();
    let pairs = settings.into_iter().zip(had..).flat_map(|((key, value), number)| {
        [
            (format!("GIT_CONFIG_KEY_{number}"), key.into()),
            (format!("GIT_CONFIG_VALUE_{number}"), value),
        ]
    });
    pairs
        .chain([("GIT_CONFIG_COUNT".into(), count.to_string().into())])
        .collect()
}

/// The grant that lets a run read such a file, if it needs one.
///
/// # Errors
/// Why it may not.
fn readable(matcher: &Matcher<'_>, policy: &Policy, file: &Walked) -> Result<Option<Grant>, &'static str> {
    if file.leads_out_of(written(policy)).is_some() {
        return Err("is behind a link where runs write");
    }
    let path = &file.real;
    if !file.exists || matcher.decide(Access::READ, path).is_allowed() {
        return Ok(None);
    }
    match matcher.denial(Access::READ, path, false) {
        Some(denial) if denial.kind == DenialKind::Explicit => return Err("is denied"),
        Some(_) => return Err("is closed to every run"),
        None => {}
    }
    let text = read(path).ok_or("can't be read, or isn't a short file")?;
    if text.windows(11).any(|part| part == b"PRIVATE KEY") {
        return Err("holds a private key");
    }
    Ok(Some(Grant {
        access: Access::READ,
        path: path.clone(),
        extent: GrantExtent::Single,
        exempt: false,
        origin: Origin::Base,
        why: Some("the user's own settings name it".into()),
    }))
}

/// The trees that runs of a policy write.
fn written(policy: &Policy) -> impl Iterator<Item = &Path> {
    let granted = policy.grants.iter();
    granted
        .filter(|grant| grant.access.contains(Access::WRITE))
        .map(|grant| grant.path.as_path())
}

/// Reads a short regular file.
fn read(file: &Path) -> Option<Vec<u8>> {
    let is_read = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    is_read.then(|| fs::read(file).ok())?
}

//! What comes along of the user's own configuration, which a run with a home of its own doesn't see: settings that
//! execute nothing and hold no secret, and the files that they name. Read before the start, from files that no run may
//! write. What doesn't come along, although the run would differ without it, is told.

mod certificates;
mod git;
mod registries;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use crate::policy::{Access, DenialKind, Grant, GrantExtent, Kind, Matcher, Policy};
use crate::profile::Origin;
use crate::real_path::{Walked, Walker};
use crate::report::Report;
use crate::surroundings::Surroundings;
use stockade_text::mask::holds_secret;

/// The longest file that is read here, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// What comes along, and what doesn't.
#[derive(Debug, Default)]
pub(super) struct Along {
    brought: Vec<Brought>,
    left: Vec<LeftBehind>,
    /// Whether the command may start git: otherwise nothing is said of git's settings.
    starts_git: bool,
}

/// Something of the user's own settings that a run goes without.
#[derive(Debug, Clone)]
pub struct LeftBehind {
    /// A line for the user.
    pub said: String,
    /// The hosts whose refusal it explains: it is said then. Without any it is said at the start.
    pub hosts: &'static [&'static str],
}

impl LeftBehind {
    /// Whether a run was refused a host that it asked for without the setting.
    pub fn explains(&self, report: &Report) -> bool {
        let is_of = |target: &str| {
            let mut rests = self.hosts.iter().filter_map(|host| target.strip_prefix(host));
            rests.any(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let mut denials = report.denials.iter();
        denials.any(|denial| matches!(denial.access, Kind::Connect | Kind::Resolve) && is_of(&denial.target))
    }
}

/// A variable or a setting, with the files that it names.
#[derive(Debug)]
struct Brought {
    name: Name,
    value: OsString,
    files: Vec<Walked>,
}

#[derive(Debug)]
enum Name {
    Variable(String),
    /// A setting of git's, by its full name: a variable of a number of its own.
    OfGit(String),
}

impl Name {
    fn text(&self) -> &str {
        let (Name::Variable(name) | Name::OfGit(name)) = self;
        name
    }
}

impl Along {
    /// Finds what a run of this policy and command may have.
    pub fn of(surroundings: &Surroundings, (policy, argv): (&Policy, &[OsString]), walker: &mut Walker) -> Along {
        let mut along = Along {
            starts_git: git::may_start(argv),
            ..Along::default()
        };
        git::bring(&mut along, surroundings, policy, walker);
        certificates::bring(&mut along, surroundings, policy, walker);
        registries::bring(&mut along, surroundings, policy);
        let holds_nul =
            |brought: &Brought| brought.name.text().contains('\0') || brought.value.as_encoded_bytes().contains(&0);
        let is_secret = |brought: &Brought| holds_secret(&brought.value.to_string_lossy());
        let is_left = |brought: &mut Brought| holds_nul(brought) || is_secret(brought);
        for brought in along.brought.extract_if(.., is_left).collect::<Vec<_>>() {
            // No variable has one.
            let what = if holds_nul(&brought) { "NUL byte" } else { "secret" };
            along.go_without(&brought.name, &format!("it holds a {what}"));
        }
        along
    }

    fn variable(&mut self, name: impl Into<String>, value: impl Into<OsString>) {
        self.brought.push(Brought {
            name: Name::Variable(name.into()),
            value: value.into(),
            files: Vec::new(),
        });
    }

    fn leave(&mut self, said: String, hosts: &'static [&'static str]) {
        self.left.push(LeftBehind { said, hosts });
    }

    fn go_without(&mut self, name: &Name, why: &str) {
        if self.starts_git || matches!(name, Name::Variable(_)) {
            self.leave(format!("`{}` doesn't come along: {why}", name.text()), &[]);
        }
    }

    /// Whether it names files, which are granted only once all denials are known.
    pub fn names_files(&self) -> bool {
        self.brought.iter().any(|brought| !brought.files.is_empty())
    }

    /// Adds it to a policy that has all its denials; returns what is left.
    pub fn join(mut self, policy: &mut Policy) -> Vec<LeftBehind> {
        let matcher = self.names_files().then(|| Matcher::new(policy));
        let brought = std::mem::take(&mut self.brought);
        let (mut grants, mut variables, mut settings) = (Vec::new(), Vec::new(), Vec::new());
        for Brought { name, value, files } in brought {
            let holds = match &name {
                Name::Variable(_) => Holds::Certificates,
                Name::OfGit(_) => Holds::Data,
            };
            let granted = |file| {
                matcher
                    .as_ref()
                    .map_or(Ok(None), |matcher| readable(matcher, policy, file, holds))
            };
            match files
                .iter()
                .filter_map(|file| granted(file).transpose())
                .collect::<Result<Vec<_>, _>>()
            {
                Ok(granted) => grants.extend(granted),
                Err((place, why)) => {
                    self.go_without(&name, &format!("`{}` {why}", place.display()));
                    continue;
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
        self.left
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

/// What a file has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Data,
    Certificates,
}

/// The grant that lets a run read a file, or a directory of nothing but files, if it needs one.
///
/// # Errors
/// The place that it may not read, and why.
fn readable<'f>(
    matcher: &Matcher<'_>,
    policy: &Policy,
    file: &'f Walked,
    holds: Holds,
) -> Result<Option<Grant>, (&'f Path, &'static str)> {
    let path = file.real.as_path();
    let refused = |why| Err((path, why));
    if file.leads_out_of(written(policy)).is_some() {
        return refused("is behind a link where runs write");
    }
    if !file.exists || matcher.decide(Access::READ, path).is_allowed() {
        return Ok(None);
    }
    match matcher.denial(Access::READ, path, false) {
        Some(denial) if denial.kind == DenialKind::Explicit => return refused("is denied"),
        Some(denial) if denial.kind == DenialKind::SecretPattern => return refused("has the name of a secret"),
        Some(_) => return refused("is closed to every run"),
        None => {}
    }
    if file.is_directory {
        if certificates::holds_other_than_files(path) {
            return refused("isn't a directory of certificates");
        }
    } else {
        let Some(text) = read(path) else {
            return refused("can't be read, or isn't a short file");
        };
        let has = |words: &[u8]| text.windows(words.len()).any(|part| part == words);
        if has(b"PRIVATE KEY") {
            return refused("holds a private key");
        }
        if holds == Holds::Certificates && !has(b"CERTIFICATE-----") && !has(b"X509 CRL-----") {
            return refused("holds no certificate");
        }
    }
    Ok(Some(Grant {
        access: Access::READ,
        path: path.to_path_buf(),
        extent: if file.is_directory {
            GrantExtent::Subtree
        } else {
            GrantExtent::Single
        },
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
    let is_read = fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() <= MAX_LENGTH);
    is_read.then(|| fs::read(file).ok())?
}

//! The tests of a learnt profile: the uses are allowed, and a few neighbours that weren't used are not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::lesson::{Lesson, place};
use super::used::{RunContext, Wanted};
use stockade_policy::policy::{Access, Matcher};
use stockade_policy::profile::{Host, HostPattern, Name};
pub use stockade_report::report::{Flag, FlagGrant, Kind};

/// The most tests of a kind; more prove nothing more.
const MAX_ALLOWED: usize = 40;
const MAX_NEIGHBOURS: usize = 3;
/// The most entries of a directory that are searched for an unused one.
const MAX_ENTRIES: usize = 1000;

/// Tests for `stockade profile test`.
pub(super) struct Promises {
    pub(super) must_allow: Vec<String>,
    pub(super) must_deny: Vec<String>,
}

pub(super) fn promises(
    lesson: &Lesson,
    wanted: &[Wanted],
    grants: &[FlagGrant],
    run_context: &RunContext<'_>,
) -> Promises {
    let made = wanted.iter().filter(|wanted| wanted.is_made());
    let made: BTreeSet<&Path> = made.filter_map(Wanted::path).collect();
    let allowed: BTreeSet<String> = wanted
        .iter()
        .filter_map(|wanted| allowed(wanted, &made, grants, run_context))
        .collect();
    let is_written = |path: &str| {
        let starts = |grant: &FlagGrant| matches!(grant, FlagGrant::Path(grant) if grant.flag == Flag::Write && below(path, run_context, &grant.path));
        grants.iter().any(starts)
    };
    let files = wanted.iter().filter_map(Wanted::path).filter(|path| path.is_file());
    let files: BTreeSet<String> = files.map(|path| place(path, run_context)).collect();
    let mut reads = lesson.reads.iter().filter(|path| files.contains(*path));
    let unwritten = reads.find(|path| !is_written(path) && is_literal(path));
    let mut must_deny: Vec<String> = neighbours(wanted, grants, run_context)
        .into_iter()
        .map(|path| format!("read {}", place(&path, run_context)))
        .filter(|text| is_literal(text))
        .collect();
    must_deny.extend(unwritten.map(|path| format!("write {path}")));
    let example = Name::parse("example.com").map(Host::Exact);
    let reaches_it = |grant: &FlagGrant| matches!(grant, FlagGrant::Host(HostPattern { host, .. }) if Some(host) == example.as_ref());
    if !grants.iter().any(reaches_it) {
        must_deny.push("connect example.com:443".into());
    }
    Promises {
        must_allow: allowed.into_iter().take(MAX_ALLOWED).collect(),
        must_deny,
    }
}

fn below(shown: &str, run_context: &RunContext<'_>, top: &Path) -> bool {
    Path::new(shown).starts_with(place(top, run_context))
}

/// Whether a text is one literal path: a test tries one path.
fn is_literal(text: &str) -> bool {
    !text.contains('*') && !text.contains("/../")
}

fn allowed(
    wanted: &Wanted,
    made: &BTreeSet<&Path>,
    grants: &[FlagGrant],
    run_context: &RunContext<'_>,
) -> Option<String> {
    let text = match &wanted.grant {
        FlagGrant::Host(pattern) => {
            let port = wanted
                .used
                .target
                .rsplit_once(':')
                .and_then(|(_, port)| port.parse::<u16>().ok());
            let port = port.filter(|_| wanted.used.access == Kind::Connect).unwrap_or(443);
            let host = HostPattern {
                host: pattern.host.clone(),
                ports: stockade_policy::profile::Ports::one(port),
            };
            format!("connect {host}")
        }
        FlagGrant::Listen(port) => format!("listen {port}"),
        FlagGrant::Path(grant) => {
            let word = match (grant.flag, wanted.used.access) {
                (Flag::Read, _) => "read",
                (Flag::Exec, _) => "execute",
                (Flag::Socket, _) => "socket",
                (Flag::Write, Kind::Create) => "create",
                (Flag::Write, Kind::Delete) => "delete",
                (Flag::Write | Flag::WriteGuarded, _) => "write",
            };
            let path = wanted.path()?;
            // Made and gone: a temporary name. Where its directory is granted, any name is a test.
            if made.contains(path) && !path.exists() {
                let directory = |top: &&FlagGrant| {
                    top.covers(&wanted.grant) && !matches!(top, FlagGrant::Path(top) if top.path == path)
                };
                let Some(FlagGrant::Path(top)) = grants.iter().find(directory) else {
                    return None;
                };
                return Some(format!("{word} {}", place(&top.path.join("x"), run_context)));
            }
            // A generated name differs the next time.
            if grant.flag == Flag::Write && grant.path != path && wanted.is_made() {
                return Some(format!("create {}", place(&grant.path.join("x"), run_context)));
            } else if grant.path != path && !path.exists() {
                return None;
            }
            // The top of a tree exists in every test.
            let path = match path == run_context.policy.root || Some(path) == run_context.home {
                true => path.join("x"),
                false => path.to_path_buf(),
            };
            format!("{word} {}", place(&path, run_context))
        }
    };
    is_literal(&text).then_some(text)
}

/// Files beside those that were read, which no grant covers.
fn neighbours(wanted: &[Wanted], grants: &[FlagGrant], run_context: &RunContext<'_>) -> Vec<PathBuf> {
    let matcher = Matcher::new(run_context.free);
    let is_granted = |path: &Path| {
        let mut paths = grants.iter().filter_map(|grant| match grant {
            FlagGrant::Path(grant) => Some(&grant.path),
            _ => None,
        });
        paths.any(|top| path.starts_with(top)) || matcher.decide(Access::READ, path).is_allowed()
    };
    let read = wanted.iter().filter(|wanted| wanted.used.access == Kind::Read);
    let directories = read.filter_map(Wanted::path).filter_map(Path::parent);
    let directories: BTreeSet<&Path> = directories
        .filter(|path| path.starts_with(&run_context.policy.root))
        .collect();
    let unused = |directory: &Path| {
        let entries = fs::read_dir(directory).ok()?.take(MAX_ENTRIES).flatten();
        let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
        files
            .map(|entry| entry.path())
            .filter(|path| path.to_str().is_some() && !is_granted(path))
            .min()
    };
    directories
        .into_iter()
        .filter_map(unused)
        .take(MAX_NEIGHBOURS)
        .collect()
}

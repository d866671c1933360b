//! Certificates of authorities that the caller's variables name, where a run has a network.

use std::env::{join_paths, split_paths};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Along, Brought, Name};
use crate::policy::{NetworkPolicy, Policy};
use crate::real_path::{Walked, Walker};
use crate::surroundings::Surroundings;

/// Each names a file, or directories: OpenSSL's SSL_CTX_load_verify_locations(3), Node's CLI documentation, and those of
/// Requests, curl(1), pip, Cargo and git(1).
const VARIABLES: [&str; 8] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "GIT_SSL_CAINFO",
];

/// The most files of a directory of certificates.
const MAX: usize = 1024;

pub(super) fn bring(along: &mut Along, surroundings: &Surroundings, policy: &Policy, walker: &mut Walker) {
    if policy.reach == NetworkPolicy::Nothing {
        return;
    }
    for name in VARIABLES {
        let Some(value) = surroundings.variable(name) else {
            continue;
        };
        let named: Vec<PathBuf> = match name {
            "SSL_CERT_DIR" => split_paths(&value).collect(),
            _ => vec![value.into()],
        };
        // The run may start elsewhere.
        let named = named.into_iter().filter(|path| !path.as_os_str().is_empty());
        let absolute: Vec<PathBuf> = named.map(|path| surroundings.directory.join(path)).collect();
        if let Ok(value) = join_paths(&absolute) {
            along.brought.push(Brought {
                name: Name::Variable(name.into()),
                value,
                files: absolute.iter().flat_map(|path| files_of(path, walker)).collect(),
            });
        }
    }
}

/// The file, or the directory with all that is in it.
fn files_of(path: &Path, walker: &mut Walker) -> Vec<Walked> {
    let inside = inside(path).into_iter().chain([path.to_path_buf()]);
    inside.map(|path| walker.walk(&path)).collect()
}

/// Whether there is a directory in a directory, or more than belongs in one of certificates.
pub(super) fn holds_other_than_files(directory: &Path) -> bool {
    let inside = inside(directory);
    inside.len() > MAX || inside.iter().any(|path| path.is_dir())
}

fn inside(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.take(MAX + 1).map(|entry| entry.path()).collect()
}

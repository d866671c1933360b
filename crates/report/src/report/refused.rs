//! The report of a run that didn't start.

use std::ffi::OsString;
use std::path::Path;

use super::{Enforcement, Report, Resources, Status, VERSION};
use crate::plan::Trace;

impl Report {
    /// The report of a run that was refused before it was resolved.
    pub fn refused(profile: &str, argv: &[OsString], root: &Path) -> Report {
        Report {
            version: VERSION,
            run: run_id(),
            profile: profile.to_string(),
            command: argv
                .iter()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            root: root.to_path_buf(),
            status: Status::NotStarted,
            exit_code: None,
            signal: None,
            limit: None,
            duration_ms: 0,
            enforcement: Enforcement {
                landlock_abi: 0,
                supervisor: false,
                trace: Trace::Exact,
                kept_exact: None,
                read_natively: Vec::new(),
                read_supervised: Vec::new(),
                late_secrets: Vec::new(),
                namespaces: Vec::new(),
                shortfalls: Vec::new(),
                limits_by: "sampling".to_string(),
                limit_noticed_by: None,
            },
            left_in_home: Vec::new(),
            denials: Vec::new(),
            denials_dropped: 0,
            suggestion: None,
            escalation: None,
            faults: Vec::new(),
            resources: Resources::default(),
        }
    }
}

/// Sorts by start time, and is unique to a run.
fn run_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u128(now.as_nanos());
    format!("{:010x}-{:08x}", now.as_secs(), hasher.finish() as u32)
}

//! The reports of confined commands, which the hook after a call reads. They are below the state directory, which no run
//! may read or write; what a command prints isn't believed.

use std::fs::{self, DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::ledger::HOOK_REPORTS;
use super::super::refused;
use stockade::internal::Surroundings;
use stockade_hook::Refusals;
use stockade_report::report::{Denial, Explains, Report};

/// A longer file is no report of a command.
const MAX_LENGTH: u64 = 16 << 20;

/// Reports that no hook has read are removed after this time.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// The most files that one call looks at.
const MAX: usize = 2000;

/// The directory of reports, if there can be one.
pub struct Reports(Option<PathBuf>);

impl Reports {
    /// Makes the directory, and removes what is old in it.
    pub fn of(surroundings: &Surroundings) -> Reports {
        let directory = surroundings.state.as_deref().and_then(|state| {
            let directory = state.join(HOOK_REPORTS);
            DirBuilder::new().recursive(true).mode(0o700).create(&directory).ok()?;
            // A report is never written through a link.
            fs::canonicalize(directory).ok()
        });
        if let Some(directory) = &directory {
            remove_old(directory);
        }
        Reports(directory)
    }

    /// Where the reports are.
    pub fn directory(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// What the run with this key was refused, and removes its report; `None` without a report, or without a refusal that
    /// explains a failure or kept a file closed.
    pub fn take(&self, key: &str) -> Option<Refusals> {
        let path = self.0.as_ref()?.join(format!("{key}.json"));
        let mut options = File::options();
        let file = options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&path)
            .ok()?;
        let mut document = Vec::new();
        let read = file.take(MAX_LENGTH).read_to_end(&mut document);
        let _ = fs::remove_file(&path);
        read.ok()?;
        let report = Report::parse(&document).ok()?;
        let closed = report
            .closed_files()
            .into_iter()
            .filter(|denial| denial.explains != Explains::Yes);
        let certain: Vec<&Denial> = report.explanation().chain(closed).collect();
        let (told, may_be) = match certain.is_empty() {
            true => (report.perhaps().collect(), ", perhaps the reason"),
            false => (certain, ""),
        };
        let sentences = told
            .iter()
            .map(|denial| format!("{}{may_be}", refused::sentence(denial)));
        let sentences: Vec<String> = sentences.collect();
        let suggested = report.suggestion.as_ref().map(|suggestion| &suggestion.flags);
        let grants = suggested.filter(|flags| !flags.is_empty());
        let grants = grants.or_else(|| told.iter().find_map(|denial| denial.grant.as_ref()));
        let flags = grants.map(|flags| flags.iter().map(|flag| flag.to_string_lossy().into_owned()).collect());
        (!sentences.is_empty()).then(|| Refusals {
            sentences,
            flags: flags.unwrap_or_default(),
        })
    }
}

fn remove_old(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MAX);
    let now = SystemTime::now();
    for entry in entries {
        let is_old = |changed| now.duration_since(changed).is_ok_and(|age| age > KEPT);
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        if changed.is_ok_and(is_old) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

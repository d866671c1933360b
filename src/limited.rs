//! Messages for a limit that hindered a run or ended it.

use stockade_report::report::{Denial, Kind, Report, Status};

use super::message::Failure;

/// The shell's exit code for a program that SIGXFSZ ended.
const PAST_FILE_SIZE: i32 = 128 + 25;

/// The limit that ended the run, with its flag.
pub fn ended(report: &Report) -> Option<String> {
    let limit = report.limit.as_ref()?;
    if !matches!(report.status, Status::TimeLimit | Status::ResourceLimit) {
        return None;
    }
    let name = if limit == "processes" { "process" } else { limit };
    let cut = if report.resources.output_cut {
        "; the output is cut"
    } else {
        ""
    };
    Some(format!(
        "the run was ended past its {name} limit (`--{name}-limit`){cut}"
    ))
}

/// A limit that may explain why the run failed, if no other refusal does.
pub fn reached(report: &Report) -> Option<Failure> {
    let has_failed = report.signal.is_some() || report.exit_code.is_some_and(|code| code != 0);
    if !has_failed || report.limit.is_some() || report.explanation().any(|denial| !is_of_processes(denial)) {
        return None;
    }
    if report.exit_code == Some(PAST_FILE_SIZE) {
        let text = "a program was probably ended by SIGXFSZ (exit code 153): it wrote past a limit of file sizes";
        return Some(
            Failure::text(0, text).hint("`--file-size-limit` sets it for each file, `--disk-limit` for all together"),
        );
    }
    let text = "the run had as many processes and threads as its limit allows, and that may be why it failed";
    let found = report.denials.iter().any(is_of_processes);
    found.then(|| Failure::text(0, text).hint("`--process-limit COUNT` sets it"))
}

/// Whether creating a process or thread failed for lack of room, not of a capability.
pub fn is_of_processes(denial: &Denial) -> bool {
    denial.access == Kind::Spawn && denial.capability.is_none()
}

//! Reads that the kernel refused by itself (`--trace fast`), as far as a program tells of them on its standard error: each path
//! that it names is tried against the policy. That grants nothing; it is what a report can say of them.

use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

use super::caller::Alleged;
use super::judge::Verdict;
use super::notify_context::NotifyContext;
use super::refuse::Attempt;
use super::resolve::{Last, Request};
use crate::policy::Access;
use crate::report::{Kind, Reason, Refusal, refused_paths};

/// Paths of one line that are tried.
const MOST: usize = 16;

/// Takes note of what the caller's last line names and nothing lets it read.
pub fn note(context: &NotifyContext<'_>) {
    let Some((line, at)) = context.shared().heard().last_line(context.caller().process()) else {
        return;
    };
    for path in refused_paths(&line).take(MOST) {
        let Ok(alleged) = CString::new(path).map(Alleged::new) else {
            continue;
        };
        let request = Request::new(context.worker_fds(), context.caller(), libc::AT_FDCWD, &alleged);
        let Ok(object) = request.object(Last::Follow) else {
            continue;
        };
        if let Verdict::Refused(reason) = context.judge.object(Access::READ, &object) {
            let attempt = Attempt::with(Kind::Read, path.as_bytes(), &object);
            let refusal = refusal(context, &attempt, (object.name(), reason), at);
            context.shared().note_told(refusal);
        }
    }
}

/// As if the open had been judged, right before the line began.
fn refusal(
    context: &NotifyContext<'_>,
    attempt: &Attempt<'_>,
    (target, reason): (&Path, Reason),
    at: Duration,
) -> Refusal {
    use std::os::unix::ffi::OsStrExt;
    Refusal {
        syscall: "openat".into(),
        at: at.saturating_sub(Duration::from_micros(1)),
        ..context.refusal(attempt, target.as_os_str().as_bytes(), reason)
    }
}

//! Reads that the kernel refused by itself (`--trace fast`), as far as a program mentions them on its standard error:
//! each path that it names is judged by the policy. That grants nothing; it is for the report alone.

use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

use super::caller::Alleged;
use super::judge::AccessVerdict;
use super::notify_context::NotifyContext;
use super::refuse::RefusedAttempt;
use super::resolve::{Last, PathRequest};
use crate::policy::Access;
use crate::report::{Kind, Reason, Refusal, refused_paths};

/// Most paths of one line that are judged.
const MOST: usize = 16;

/// Records the paths in the caller's last line that it may not read.
pub fn note(context: &NotifyContext<'_>) {
    let Some((line, at)) = context.shared().heard().last_line(context.caller().process()) else {
        return;
    };
    for path in refused_paths(&line).take(MOST) {
        let Ok(alleged) = CString::new(path).map(Alleged::new) else {
            continue;
        };
        let request = PathRequest::new(context.worker_fds(), context.caller(), libc::AT_FDCWD, &alleged);
        let Ok(object) = request.object(Last::Follow) else {
            continue;
        };
        if let AccessVerdict::Refused(reason) = context.judge.object(Access::READ, &object) {
            let attempt = RefusedAttempt::with(Kind::Read, path.as_bytes(), &object);
            let refusal = refusal(context, &attempt, (object.name(), reason), at);
            context.shared().note_told(refusal);
        }
    }
}

/// The refusal as if the open had been judged, right before the line began.
fn refusal(
    context: &NotifyContext<'_>,
    attempt: &RefusedAttempt<'_>,
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

//! Standard error: what the run writes there is recorded, since programs say there what failed.
//!
//! The descriptor's number is in a register, so the call continues unchanged, whatever its memory holds by then.

use super::answer::CallAnswer;
use crate::report::StderrText;
use crate::supervise::call::caller::Caller;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::judge::may_continue::MayContinue;
use crate::supervise::run::Run;
use crate::supervise::state::stderr_log::MAX_BYTES;

/// Records a `write` or `writev` to descriptor 2, and continues it.
pub fn record(run: &Run, fds: &WorkerFds, caller: &Caller<'_>, number: i64) -> CallAnswer {
    let (address, count) = (caller.registers.long(1), caller.registers.long(2));
    let goes_on = CallAnswer::Continue(MayContinue::registers_decided(&caller.registers));
    let text = match number {
        libc::SYS_writev => gathered(caller, address, count),
        _ => end_of(caller, address, count),
    };
    if let Some(text) = text.filter(|text| !text.is_empty() && caller.confirm().is_ok()) {
        let nested_runs = run.journal.nested_runs.of(fds, caller);
        let innermost = nested_runs.innermost();
        let process = caller.process();
        let calls = run.journal.handled_calls();
        nested_runs.note_call(calls);
        let mut log = run.stderr_log();
        let is_discarded = log.is_discarded(caller);
        let text = StderrText {
            process,
            is_discarded,
            calls,
            // GNU programs quote a name for the shell if it contains a quote: `'it'\''s'`.
            text: String::from_utf8_lossy(&text).replace("'\\''", "'"),
        };
        log.add(innermost, text);
    }
    goes_on
}

/// The end of the buffer of a `write`.
fn end_of(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    let kept = count.min(MAX_BYTES as u64);
    let mut text = vec![0; usize::try_from(kept).ok()?];
    caller.read(address.checked_add(count - kept)?, &mut text).ok()?;
    Some(text)
}

/// The end of the buffers of a `writev`: `struct iovec` is an address and a length (readv(2)).
fn gathered(caller: &Caller<'_>, address: u64, count: u64) -> Option<Vec<u8>> {
    const MAX: u64 = 64;
    let mut table = vec![0; usize::try_from(count.min(MAX)).ok()? * 16];
    caller.read(address, &mut table).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    let mut text = Vec::new();
    for entry in table.chunks_exact(16) {
        text.extend(end_of(caller, word(&entry[..8]), word(&entry[8..]))?);
        text.drain(..text.len().saturating_sub(MAX_BYTES));
    }
    Some(text)
}

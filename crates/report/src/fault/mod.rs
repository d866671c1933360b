//! Panics: bugs in Stockade itself.
//!
//! A thread that serves a run does each unit of its work in [`contain`]. A panic there refuses that unit and is noted
//! for the report ([`crate::report::Faults`]); the thread goes on. The binary must unwind for this, which `main.rs`
//! asserts. Other panics are reported at once and end their thread.
//!
//! A stack overflow and a panic during unwinding can't be contained: the process aborts, and the warden ends the run.
//!
//! | panic in | costs |
//! |---|---|
//! | a worker, a thread of a slow call or of a retry | the call: `EPERM` |
//! | a worker between two calls, the launcher's main thread, the warden, the target's first steps | the run: it ends, or fails to start |
//! | the prompt queue | the open questions: their calls get the error of a no |
//! | an approver | the question: no answer |
//! | the relay | the connection: reset |
//! | a lookup, the run's DNS server | the name: not found |
//! | the audit trail's writer | the records that it held; a `lost` row counts them |

mod injected;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::PanicHookInfo;
use std::panic::{self, AssertUnwindSafe};

pub use injected::point;

use stockade_text::visible::visible;

/// The longest panic message in bytes: it may quote text that the run chose.
const MAX_LENGTH: usize = 300;

thread_local! {
    /// The nesting depth of [`contain`] calls on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The fault that the hook saw of this thread's current panic.
    static SEEN: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// One panic: its message and location. One line, escaped and of bounded length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    fn new(payload: &(dyn Any + Send), place: Option<&panic::Location<'_>>) -> Fault {
        let message = if let Some(text) = payload.downcast_ref::<&str>() {
            text
        } else if let Some(text) = payload.downcast_ref::<String>() {
            text.as_str()
        } else {
            "no message"
        };
        let mut end = message.len().min(MAX_LENGTH);
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        let cut = if end < message.len() { "…" } else { "" };
        let shown = visible(&message[..end]);
        Fault(match place {
            Some(place) => format!("{shown}{cut} ({}:{})", place.file(), place.line()),
            None => format!("{shown}{cut}"),
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs `task`. If it panics, returns the fault; everything that `task` owned is dropped.
///
/// `task` may be left half done, so the state it shares must be consistent after every statement, or the caller must
/// discard it. Mutexes can be locked in spite of a panic (`mutex`).
pub fn contain<T>(task: impl FnOnce() -> T) -> Result<T, Fault> {
    DEPTH.set(DEPTH.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(task));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|payload| {
        // Without the hook, as in the library, the location is unknown.
        let seen = SEEN.take();
        match payload.downcast::<Fault>() {
            Ok(passed_on) => *passed_on,
            Err(payload) => seen.unwrap_or_else(|| Fault::new(payload.as_ref(), None)),
        }
    })
}

/// Resumes another thread's fault as a panic of this thread.
pub fn pass_on(fault: Fault) -> ! {
    panic::resume_unwind(Box::new(fault))
}

/// Installs a hook that passes uncontained panics to `tell`. For the binary: a library leaves the hook to its host.
pub fn install_hook(tell: fn(&Fault)) {
    panic::set_hook(Box::new(move |info| hook(info, tell)));
}

fn hook(info: &PanicHookInfo<'_>, tell: fn(&Fault)) {
    // After the fork, a thread that doesn't exist in this process may hold a lock.
    if stockade_sys::process::is_forked() {
        stockade_sys::process::exit_now(1);
    }
    let fault = Fault::new(info.payload(), info.location());
    let is_kept = DEPTH.get() > 0
        && SEEN.with_borrow_mut(|seen| {
            let is_first = seen.is_none();
            if is_first {
                *seen = Some(fault.clone());
            }
            is_first
        });
    if !is_kept {
        tell(&fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_contained_and_the_thread_goes_on() {
        assert_eq!(contain(|| 7), Ok(7));
        let fault = contain(|| -> i32 { panic!("on \u{1b}[31m purpose\n") }).unwrap_err();
        assert!(fault.to_string().starts_with("on \\u{1b}[31m purpose\\n"), "{fault}");
        assert_eq!(contain(|| 8), Ok(8));
    }

    #[test]
    fn a_message_is_cut_between_characters() {
        let fault = contain(|| -> i32 { panic!("{}", "ä".repeat(1000)) }).unwrap_err();
        assert!(fault.to_string().contains(&"ä".repeat(MAX_LENGTH / 2)));
        assert!(fault.to_string().len() < MAX_LENGTH + 100);
    }

    #[test]
    fn a_fault_of_another_thread_is_passed_on() {
        let outer = contain(|| {
            let inner = std::thread::scope(|scope| scope.spawn(|| contain(|| panic!("inner"))).join());
            match inner {
                Ok(Err(fault)) => pass_on(fault),
                other => other.map(drop),
            }
        });
        assert!(outer.unwrap_err().to_string().starts_with("inner"));
    }
}

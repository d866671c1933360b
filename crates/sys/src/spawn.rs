//! Starts a process that shares this memory until it executes a program, while the caller runs on.
//!
//! vfork(2) suspends the caller meanwhile. Here both run, so that the caller can leave its session after the new
//! process was created in it and before that process executes anything.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

use super::check;

/// Memory for the stack of [`run_until_exec`]'s child, made before the first fork.
pub struct ChildStack(Box<[MaybeUninit<u128>]>);

impl Default for ChildStack {
    fn default() -> Self {
        ChildStack::new()
    }
}

impl ChildStack {
    /// 64 KiB: the child calls a dozen small functions. Left uninitialised, so that only the pages used are faulted in.
    pub fn new() -> Self {
        ChildStack(Box::new_uninit_slice(4096))
    }

    fn top(&self) -> *mut c_void {
        // Both supported architectures grow the stack downwards from a 16-byte boundary.
        self.0.as_ptr_range().end.cast_mut().cast()
    }
}

/// A word in shared memory by which one process tells another to go on or stop. Child-safe.
pub struct Go(AtomicU32);

impl Default for Go {
    fn default() -> Self {
        Go::new()
    }
}

impl Go {
    const OPEN: u32 = 0;
    const YES: u32 = 1;
    const NO: u32 = 2;

    /// One that isn't set yet.
    pub const fn new() -> Self {
        Go(AtomicU32::new(Self::OPEN))
    }

    /// Tells the other side whether to go on. Only the first call counts.
    pub fn set(&self, onwards: bool) {
        let word = if onwards { Self::YES } else { Self::NO };
        self.0.store(word, Ordering::Release);
        wake(&self.0);
    }

    /// Waits until it is set; returns whether to go on.
    pub fn wait(&self) -> bool {
        waited_while(&self.0, Self::OPEN, None);
        self.0.load(Ordering::Acquire) == Self::YES
    }
}

/// The time after which `meanwhile` is called again. No start on a quiet machine takes so long.
const SLICE_MS: i64 = 100;

/// Runs `task` in a new process that shares this memory, and `meanwhile` beside it in this one, with the process id and
/// whether it is the first call; then waits until the new process has executed a program or ended, and calls
/// `meanwhile` again after each slice. Starting copies no page tables, and the caller sees what `task` writes.
///
/// The result of `task` is the exit status. Returns the process id.
///
/// Child-safe, if both functions are. They share `errno` too, so neither may rely on its value while the other makes
/// calls that can fail: `meanwhile` makes none at first.
pub fn run_until_exec<T>(
    stack: &ChildStack,
    task: fn(&mut T) -> libc::c_int,
    argument: &mut T,
    mut meanwhile: impl FnMut(i32, bool),
) -> io::Result<i32> {
    struct Call<'a, T> {
        task: fn(&mut T) -> libc::c_int,
        argument: &'a mut T,
    }
    extern "C" fn enter<T>(call: *mut c_void) -> libc::c_int {
        // SAFETY: the pointer is the `Call<T>` below. Its owner doesn't touch it, and doesn't return, until this process
        // has left the memory, so the borrow is exclusive and outlives its use.
        let call = unsafe { &mut *call.cast::<Call<'_, T>>() };
        (call.task)(call.argument)
    }
    /// The kernel clears the word when the new process leaves this memory, by exec or exit.
    const SHARES: u32 = 1;
    let shares = AtomicU32::new(SHARES);
    let mut call = Call { task, argument };
    let flags = libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
    let nothing = std::ptr::null_mut::<c_void>();
    // SAFETY: the stack is this call's and large enough. It, `call` and `shares` outlive the child's use of this
    // memory, because the loop below ends only after that. `call` is what `enter::<T>` expects. The pointers for flags
    // that aren't set are null.
    let pid = check(unsafe {
        libc::clone(
            enter::<T>,
            stack.top(),
            flags,
            (&raw mut call).cast(),
            nothing,
            nothing,
            shares.as_ptr(),
        )
    })?;
    meanwhile(pid, true);
    while !waited_while(&shares, SHARES, Some(SLICE_MS)) {
        meanwhile(pid, false);
    }
    Ok(pid)
}

/// Waits until the word differs from `value`, at most so many milliseconds (less than a second); returns whether it
/// does. Not `FUTEX_PRIVATE`: the kernel wakes without it (mm_release()), and one side may be another process.
fn waited_while(word: &AtomicU32, value: u32, milliseconds: Option<i64>) -> bool {
    let time = milliseconds.map(|milliseconds| libc::timespec {
        tv_sec: 0,
        tv_nsec: milliseconds * 1_000_000,
    });
    let time: *const libc::timespec = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    while word.load(Ordering::Acquire) == value {
        // SAFETY: the kernel reads the word and the time, if there is one, which outlive the call.
        let waited = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, time) };
        if waited < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT) {
            return word.load(Ordering::Acquire) != value;
        }
    }
    true
}

fn wake(word: &AtomicU32) {
    // SAFETY: the kernel only takes the word's address.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process;

    struct Told {
        go: *const Go,
        heard: u32,
    }

    fn listen(told: &mut Told) -> libc::c_int {
        // SAFETY: the test's word outlives the child.
        let go = unsafe { &*told.go };
        told.heard = 1 + u32::from(go.wait());
        3
    }

    #[test]
    fn both_processes_run_and_the_first_waits_for_the_others_end() {
        for onwards in [true, false] {
            let go = Go::new();
            let mut told = Told {
                go: &raw const go,
                heard: 0,
            };
            let mut calls = 0;
            let pid = run_until_exec(&ChildStack::new(), listen, &mut told, |_, is_first| {
                assert_eq!(is_first, calls == 0);
                calls += 1;
                // A caller that doesn't wait would have returned by then.
                if calls == 3 {
                    go.set(onwards);
                }
            })
            .unwrap();
            process::collect(pid);
            assert_eq!(calls, 3);
            assert_eq!(told.heard, 1 + u32::from(onwards));
        }
    }
}

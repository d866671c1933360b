//! The heap of the `stockade` command, which a forked process may not use.

use std::alloc::{GlobalAlloc, Layout, System};

use super::process;

/// The system's heap, except that a forked process that allocates ends. At the fork another thread may have held a lock
/// of the heap, which stays locked in the child for good (signal-safety(7)): the child would wait for it. The child's
/// own code allocates nothing, but a panic does, for its message, before any hook runs.
pub struct Heap;

// SAFETY: each call either ends the process or is the system's, for which the caller promised the same. A forked
// process frees nothing, so nothing is freed twice.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        end_if_forked();
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        end_if_forked();
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        end_if_forked();
        // SAFETY: as the caller promised; `memory` is from the system's heap.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if !process::is_forked() {
            // SAFETY: as the caller promised; `memory` is from the system's heap.
            unsafe { System.dealloc(memory, layout) }
        }
    }
}

fn end_if_forked() {
    if process::is_forked() {
        process::exit_now(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Forked;
    use nix::sys::wait::{WaitStatus, waitpid};
    use nix::unistd::Pid;

    /// The exit status of a forked process that runs `task` and then exits with 7.
    fn status_of_a_fork(task: impl FnOnce()) -> i32 {
        match process::fork().expect("a fork") {
            Forked::Child => {
                task();
                process::exit_now(7)
            }
            Forked::Parent(pid) => match waitpid(Pid::from_raw(pid), None).expect("its end") {
                WaitStatus::Exited(_, status) => status,
                other => panic!("{other:?}"),
            },
        }
    }

    #[test]
    fn a_forked_process_that_asks_for_memory_ends_at_once() {
        let layout = Layout::new::<[u64; 4]>();
        // SAFETY: the layout has a size, and each process frees the memory once, with the same one.
        unsafe {
            let memory = Heap.alloc(layout);
            assert!(!memory.is_null());
            assert_eq!(status_of_a_fork(|| _ = Heap.alloc(layout)), 1);
            assert_eq!(status_of_a_fork(|| _ = Heap.alloc_zeroed(layout)), 1);
            assert_eq!(status_of_a_fork(|| _ = Heap.realloc(memory, layout, 64)), 1);
            assert_eq!(status_of_a_fork(|| Heap.dealloc(memory, layout)), 7);
            Heap.dealloc(memory, layout);
        }
    }
}

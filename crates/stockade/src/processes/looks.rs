//! Reads a process's entries in `/proc` that pin its memory.
//!
//! The kernel frees the memory of a process that ends once no reader pins it, and only then can the program that it
//! executed be written: until then that fails with `ETXTBSY`. So workers that write on behalf must know of a look.

use std::sync::Mutex;
use std::{fs, io};

use crate::mutex::lock;

/// Held during each look.
static LOOK: Mutex<()> = Mutex::new(());

/// Reads an entry of a process: `stat`, `statm`, `maps` or another for which the kernel pins its memory.
///
/// # Errors
/// The entry can't be read, mostly because the process is gone.
pub fn read(entry: &str) -> io::Result<Vec<u8>> {
    let _look = lock(&LOOK);
    fs::read(entry)
}

/// The same as text, if it is UTF-8.
pub fn text(entry: &str) -> Option<String> {
    String::from_utf8(read(entry).ok()?).ok()
}

/// Waits until no look pins the memory of an ended process.
pub fn wait() {
    drop(lock(&LOOK));
}

/// Runs a task that may write a program, and again if a process executes it: that process may have ended.
///
/// # Errors
/// The error of the second attempt.
pub fn write<T>(task: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match task() {
        Err(error) if error.raw_os_error() == Some(libc::ETXTBSY) => {
            wait();
            task()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_executed_is_written_after_a_look_that_was_under_way() {
        let directory = tempfile::tempdir().unwrap();
        let entry = directory.path().join("entry");
        nix::unistd::mkfifo(&entry, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let entry = entry.to_str().unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let looking = scope.spawn(|| read(entry));
            // Opens once the look has begun; closing it ends the look.
            let other_side = fs::File::options().write(true).open(entry).unwrap();
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                is_over.store(true, Ordering::SeqCst);
                drop(other_side);
            });
            let tries = Cell::new(0);
            let written = write(|| {
                tries.set(tries.get() + 1);
                match is_over.load(Ordering::SeqCst) {
                    true => Ok(()),
                    false => Err(io::Error::from_raw_os_error(libc::ETXTBSY)),
                }
            });
            assert_eq!((written.is_ok(), tries.get()), (true, 2));
            looking.join().unwrap().unwrap();
        });
    }

    #[test]
    fn what_is_executed_still_is_busy() {
        let tries = Cell::new(0);
        let written: io::Result<()> = write(|| {
            tries.set(tries.get() + 1);
            Err(io::Error::from_raw_os_error(libc::ETXTBSY))
        });
        assert_eq!(written.unwrap_err().raw_os_error(), Some(libc::ETXTBSY));
        assert_eq!(tries.get(), 2);
    }
}

//! The name and command line by which `ps` and `pkill` know a process.

use std::ffi::CStr;
use std::io;

use super::check;

/// Gives the calling process a name (at most 15 bytes count) and makes that its command line too.
///
/// For a forked copy that never executes: it would keep the original's command line, so that a program that kills by
/// command line would kill both. Child-safe.
pub fn rename(title: &CStr) -> io::Result<()> {
    // SAFETY: the title is NUL-terminated; the kernel copies 16 bytes at most.
    check(unsafe { libc::prctl(libc::PR_SET_NAME, title.as_ptr()) })?;
    let mut buffer = [0; 1024];
    let (start, end) = arguments(read_stat(&mut buffer)?).ok_or(io::ErrorKind::InvalidData)?;
    // If the last byte isn't NUL, the kernel reads one text up to its first NUL (get_mm_cmdline()).
    let text = title.to_bytes_with_nul();
    let Some(room) = end.checked_sub(start + 1).filter(|room| *room >= text.len()) else {
        return Err(io::ErrorKind::StorageFull.into());
    };
    write_own(start, text)?;
    write_own(start + room, b".")
}

/// Reads `/proc/self/stat`, up to the buffer's size.
fn read_stat(buffer: &mut [u8]) -> io::Result<&[u8]> {
    // SAFETY: a static path; the kernel writes at most the buffer's size into it; the descriptor is closed here.
    let got = unsafe {
        let file = check(libc::open(
            c"/proc/self/stat".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        ))?;
        let got = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        got
    };
    Ok(&buffer[..usize::try_from(got).unwrap_or(0)])
}

/// Where the arguments begin and end: fields 48 and 49 of proc_pid_stat(5). The name in brackets may contain any bytes.
fn arguments(stat: &[u8]) -> Option<(usize, usize)> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    // Field 3 follows the name and a blank.
    let mut fields = stat.get(name_end + 2..)?.split(|byte| *byte == b' ').skip(48 - 3);
    let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
    let (start, end): (usize, usize) = (number()?, number()?);
    (start > 0 && start < end).then_some((start, end))
}

/// Writes to memory of the calling process; an error if it isn't mapped any more.
fn write_own(address: usize, bytes: &[u8]) -> io::Result<()> {
    let from = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let to = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(address),
        iov_len: bytes.len(),
    };
    // SAFETY: the kernel reads `bytes` and checks the address. There are the words of the command line, which the
    // process doesn't read any more.
    let written = unsafe { libc::process_vm_writev(libc::getpid(), &raw const from, 1, &raw const to, 1, 0) };
    if written == bytes.len().cast_signed() {
        Ok(())
    } else {
        Err(io::ErrorKind::WriteZero.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{self, Forked};

    #[test]
    fn a_fork_is_called_what_it_is_told() {
        let (reader, writer) = std::io::pipe().unwrap();
        let pid = match process::fork().unwrap() {
            Forked::Child => {
                drop(writer);
                let status = i32::from(rename(c"another").is_err());
                // Runs until the other end is closed.
                let _ = super::super::wire::wait_readable([std::os::fd::AsRawFd::as_raw_fd(&reader), -1], -1);
                process::exit_now(status)
            }
            Forked::Parent(pid) => pid,
        };
        drop(reader);
        let of = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
        let begun = std::time::Instant::now();
        while of("cmdline") != "another\0" {
            assert!(begun.elapsed().as_secs() < 60, "{:?}", of("cmdline"));
        }
        assert_eq!(of("comm"), "another\n");
        drop(writer);
        process::collect(pid);
        assert!(std::env::args().next().unwrap().contains("stockade"));
    }

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let mut stat = b"7 (a) b 1 2 ) R".to_vec();
        (4..=47).for_each(|field: i32| stat.extend(format!(" {field}").bytes()));
        stat.extend(b" 4096 8192 1 2");
        assert_eq!(arguments(&stat), Some((4096, 8192)));
        assert_eq!(arguments(b"7 (a) R 1 2"), None);
    }
}

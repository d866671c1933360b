//! Resource limits (prlimit(2)).

use std::io;

use super::check_long;

/// A resource limit of a process, soft and hard; process 0 is the calling one (prlimit(2)). Child-safe.
pub fn limit_of(process: i32, resource: u32) -> io::Result<(u64, u64)> {
    let mut current = libc::rlimit64 {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes one `rlimit64` that outlives the call.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_prlimit64,
            process,
            resource,
            std::ptr::null::<libc::rlimit64>(),
            &raw mut current,
        )
    })?;
    Ok((current.rlim_cur, current.rlim_max))
}

/// Sets a resource limit of a process. Child-safe.
pub fn set_limit_of(process: i32, resource: u32, (soft, hard): (u64, u64)) -> io::Result<()> {
    let wanted = libc::rlimit64 {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: the kernel reads one `rlimit64` that outlives the call.
    check_long(unsafe {
        libc::syscall(
            libc::SYS_prlimit64,
            process,
            resource,
            &raw const wanted,
            std::ptr::null::<libc::rlimit64>(),
        )
    })
    .map(drop)
}

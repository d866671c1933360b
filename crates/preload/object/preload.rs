//! Stands in for the C library's functions that open files: what only reads is tried with the mark.
//!
//! Freestanding, so that it loads beside every C library. It has no state and takes no lock, so it may be called from a
//! signal's handler, between fork and exec, and before the C library is ready.
//!
//! Invariants of the `unsafe` code: each function has the signature that its name has in C (a variadic argument of type
//! `mode_t` is passed as a named one would be, by the psABI of x86-64 and of aarch64), pointers are the caller's and only
//! handed to the kernel or the C library, but for `mode` of `fopen`, a string by contract; the system call clobbers what
//! the kernel says it does.

#![no_std]
#![no_main]

use core::arch::asm;
use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

include!("../src/mark.rs");

const AT_FDCWD: c_int = -100;
const EPERM: c_long = 1;
const ENOENT: c_long = 2;
const EACCES: c_long = 13;
const O_ACCMODE: c_int = 3;
const O_RDONLY: c_int = 0;
const O_WRONLY: c_int = 1;
const O_RDWR: c_int = 2;
const O_CREAT: c_int = 0o100;
const O_EXCL: c_int = 0o200;
const O_TRUNC: c_int = 0o1000;
const O_APPEND: c_int = 0o2000;
const O_NONBLOCK: c_int = 0o4000;
const O_CLOEXEC: c_int = 0o2_000_000;
const O_PATH: c_int = 0o10_000_000;
/// `__O_TMPFILE`, without the bit of `O_DIRECTORY`.
const TMPFILE: c_int = 0o20_000_000;
#[cfg(target_arch = "x86_64")]
const O_DIRECTORY: c_int = 0o200_000;
#[cfg(target_arch = "aarch64")]
const O_DIRECTORY: c_int = 0o40_000;

unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
    fn fdopendir(descriptor: c_int) -> *mut c_void;
    fn fdopen(descriptor: c_int, mode: *const c_char) -> *mut c_void;
    fn freopen(path: *const c_char, mode: *const c_char, stream: *mut c_void) -> *mut c_void;
    fn close(descriptor: c_int) -> c_int;
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// openat(2) itself.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn call(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_long {
    let result: c_long;
    unsafe {
        asm!("syscall", inlateout("rax") 257_i64 => result, in("rdi") c_long::from(directory), in("rsi") path,
            in("rdx") c_long::from(flags), in("r10") u64::from(mode), lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn call(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_long {
    let result: c_long;
    unsafe {
        asm!("svc 0", in("x8") 56_u64, inlateout("x0") c_long::from(directory) => result, in("x1") path,
            in("x2") c_long::from(flags), in("x3") u64::from(mode), options(nostack));
    }
    result
}

fn only_reads(flags: c_int) -> bool {
    flags & (O_ACCMODE | O_CREAT | O_TRUNC | O_PATH | TMPFILE) == 0
}

/// Whether a path that the kernel has just read begins so.
unsafe fn is_in_etc(path: *const c_char) -> bool {
    b"/etc/".iter().enumerate().all(|(at, byte)| unsafe { *path.cast::<u8>().add(at) } == *byte)
}

unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    let mut result = -EACCES;
    if only_reads(flags) {
        result = unsafe { call(directory, path, flags, MARK) };
    }
    // The supervisor serves what isn't there: of `/proc`, by its list of processes, and the files of name resolution.
    let may_be_elsewhere = result == -ENOENT && (directory != AT_FDCWD || unsafe { is_in_etc(path) });
    if result == -EACCES || result == -EPERM || may_be_elsewhere {
        result = unsafe { call(directory, path, flags, mode) };
    }
    if result < 0 {
        unsafe { *__errno_location() = -result as c_int };
        return -1;
    }
    result as c_int
}

/// Closes a descriptor after a failure, whose error number stays.
unsafe fn give_up(descriptor: c_int) {
    unsafe {
        let errno = *__errno_location();
        close(descriptor);
        *__errno_location() = errno;
    }
}

/// The flags of a `fopen` by a mode of plain letters, of which C libraries read seven; `None` for any other (fopen(3)).
unsafe fn flags_of(mode: *const c_char) -> Option<c_int> {
    const LETTERS: usize = 7;
    let letters = mode.cast::<u8>();
    let mut flags = match unsafe { *letters } {
        b'r' => O_RDONLY,
        b'w' => O_WRONLY | O_CREAT | O_TRUNC,
        b'a' => O_WRONLY | O_CREAT | O_APPEND,
        _ => return None,
    };
    for at in 1..LETTERS {
        match unsafe { *letters.add(at) } {
            0 => break,
            b'+' => flags = flags & !O_ACCMODE | O_RDWR,
            b'b' | b't' => {}
            b'e' => flags |= O_CLOEXEC,
            b'x' => flags |= O_EXCL,
            _ => return None,
        }
    }
    Some(flags)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { open_at(directory, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    unsafe { open_at(directory, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __open_2(path: *const c_char, flags: c_int) -> c_int {
    unsafe { open_at(AT_FDCWD, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __open64_2(path: *const c_char, flags: c_int) -> c_int {
    unsafe { open_at(AT_FDCWD, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __openat_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    unsafe { open_at(directory, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __openat64_2(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    unsafe { open_at(directory, path, flags, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut c_void {
    unsafe {
        let descriptor = open_at(AT_FDCWD, path, O_DIRECTORY | O_CLOEXEC | O_NONBLOCK, 0);
        if descriptor < 0 {
            return core::ptr::null_mut();
        }
        let stream = fdopendir(descriptor);
        if stream.is_null() {
            give_up(descriptor);
        }
        stream
    }
}

/// A mode of other letters is the C library's: a stream that is open is opened again, by the path and mode as they are.
#[inline(always)]
unsafe fn open_stream(path: *const c_char, mode: *const c_char) -> *mut c_void {
    unsafe {
        if let Some(flags) = flags_of(mode) {
            let descriptor = open_at(AT_FDCWD, path, flags, 0o666);
            if descriptor < 0 {
                return core::ptr::null_mut();
            }
            let stream = fdopen(descriptor, mode);
            if stream.is_null() {
                give_up(descriptor);
            }
            return stream;
        }
        let nothing = open_at(AT_FDCWD, c"/dev/null".as_ptr(), O_CLOEXEC, 0);
        if nothing < 0 {
            return core::ptr::null_mut();
        }
        let stream = fdopen(nothing, c"r".as_ptr());
        if stream.is_null() {
            give_up(nothing);
            return stream;
        }
        freopen(path, mode, stream)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    unsafe { open_stream(path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut c_void {
    unsafe { open_stream(path, mode) }
}

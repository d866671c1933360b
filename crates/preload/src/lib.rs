//! The object that is preloaded into a run's programs, so that what they read needs no question to the supervisor.
//!
//! The filter lets an `open` or `openat` through that only reads and has [`MARK`] as its `mode`, a register that the kernel
//! ignores where no file is created. Landlock alone judges it. The object puts the mark on: it stands in for the C library's
//! functions that open files, tries the marked call first, and makes the ordinary one if that was refused. The ordinary
//! one reaches the supervisor, which judges it, reports it and asks.
//!
//! It is a convenience and no boundary. A program without it (static, with a cleared environment, by raw system calls) is
//! judged call by call, and one that misuses the mark gets what Landlock grants, which is nothing that the policy closes.
//!
//! `object/preload.rs` is its source, freestanding so that it fits every C library; `build.rs` compiles it.

include!("mark.rs");

/// The object, an ELF shared library that needs no other.
pub static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// The path by which programs load it (`LD_PRELOAD`). No file has it: the supervisor serves the object to a program that
/// opens exactly this. AddressSanitizer wants to be the first library, and takes one whose path begins so for the kernel's own.
pub const PATH: &str = "linux-stockade/preload.so";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_a_small_library_for_this_machine() {
        assert!(OBJECT.starts_with(b"\x7fELF\x02\x01"));
        assert!(OBJECT.len() < 32 * 1024, "{}", OBJECT.len());
        let type_of_file = u16::from_le_bytes([OBJECT[16], OBJECT[17]]);
        assert_eq!(type_of_file, 3, "ET_DYN");
    }
}

//! Extended attributes: changing them needs WRITE on the object. Reading them is as free as `stat`.

use std::ffi::CString;

use super::memory::{PermissionChange, refuse_to_make_executable};
use super::metadata::shareable;
use crate::supervise::handlers::answer::{CallAnswer, Handled, fail};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::object::pinned::Pinned;
use crate::supervise::object::subject::Subject;
use stockade_sys::file;

/// `XATTR_NAME_MAX` with its NUL, and `XATTR_SIZE_MAX`.
const MAX_NAME: usize = 256;
const MAX_VALUE: usize = 65_536;

const ACCESS_LISTS: &[u8] = b"system.posix_acl_";

/// The form of the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeForm {
    /// A path, following links.
    Followed,
    /// A path, not following a final link.
    Kept,
    /// A descriptor.
    Descriptor,
    /// A directory, a path and flags.
    At,
}

impl AttributeForm {
    /// The object, and the index of the next register.
    fn subject(self, context: &NotifyContext<'_>) -> Handled<(Subject, usize)> {
        let registers = context.caller().registers;
        Ok(match self {
            AttributeForm::Followed => (Subject::followed(context.caller(), registers.long(0))?, 1),
            AttributeForm::Kept => (Subject::kept(context.caller(), registers.long(0))?, 1),
            AttributeForm::Descriptor => (Subject::Descriptor(registers.int(0)), 1),
            AttributeForm::At => (
                Subject::at(context.caller(), registers.int(0), registers.long(1), registers.int(2))?,
                3,
            ),
        })
    }
}

/// `value`, `size` and `flags`: in registers, or in `struct xattr_args`.
struct Buffer {
    address: u64,
    size: usize,
    flags: i32,
}

fn buffer(context: &NotifyContext<'_>, form: AttributeForm, next: usize) -> Handled<Buffer> {
    let registers = context.caller().registers;
    if form != AttributeForm::At {
        return Ok(Buffer {
            address: registers.long(next),
            size: usize::try_from(registers.long(next + 1)).unwrap_or(usize::MAX),
            flags: registers.0.get(next + 2).map_or(0, |flags| *flags as i32),
        });
    }
    const SIZE: u64 = 16;
    if registers.long(next + 1) < SIZE {
        return fail(libc::EINVAL);
    }
    let size = usize::try_from(registers.long(next + 1)).unwrap_or(usize::MAX);
    crate::supervise::handlers::files::open::refuse_unknown_fields(context, registers.long(next), SIZE as usize, size)?;
    let mut bytes = [0; SIZE as usize];
    context.caller().read(registers.long(next), &mut bytes)?;
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    Ok(Buffer {
        address: u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes")),
        size: half(8) as usize,
        flags: half(12) as i32,
    })
}

fn name(context: &NotifyContext<'_>, address: u64) -> Handled<CString> {
    let name = context.caller().string(address, MAX_NAME, libc::ERANGE)?;
    if name.is_empty() { fail(libc::ERANGE) } else { Ok(name) }
}

pub fn set(context: &NotifyContext<'_>, form: AttributeForm) -> Handled {
    let (subject, next) = form.subject(context)?;
    let name = name(context, context.caller().registers.long(next))?;
    let buffer = buffer(context, form, next + 1)?;
    if buffer.size > MAX_VALUE {
        return fail(libc::E2BIG);
    }
    let mut value = vec![0; buffer.size];
    context.caller().read(buffer.address, &mut value)?;
    let object = shareable(context, &subject)?;
    refuse_powers(&name)?;
    refuse_link(&object)?;
    if name.as_bytes().starts_with(ACCESS_LISTS) {
        refuse_to_make_executable(context, &object, PermissionChange::List)?;
    }
    file::set_attribute(&object.path(), &name, &value, buffer.flags)?;
    Ok(CallAnswer::Value(0))
}

pub fn remove(context: &NotifyContext<'_>, form: AttributeForm) -> Handled {
    let (subject, next) = form.subject(context)?;
    let name = name(context, context.caller().registers.long(next))?;
    let object = shareable(context, &subject)?;
    refuse_powers(&name)?;
    refuse_link(&object)?;
    file::remove_attribute(&object.path(), &name)?;
    Ok(CallAnswer::Value(0))
}

/// Allows `user.` attributes and access lists; refuses security labels and file capabilities.
fn refuse_powers(name: &CString) -> Handled<()> {
    let open: [&[u8]; 2] = [b"user.", ACCESS_LISTS];
    if open.iter().any(|prefix| name.as_bytes().starts_with(prefix)) {
        Ok(())
    } else {
        fail(libc::EPERM)
    }
}

/// Refuses symbolic links: they can't have user attributes.
fn refuse_link(object: &Pinned) -> Handled<()> {
    if object.is_symlink() { fail(libc::EPERM) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_sets_user_attributes_and_access_lists_and_no_powers() {
        let is_open = |name: &str| refuse_powers(&CString::new(name).unwrap()).is_ok();
        assert!(is_open("user.a") && is_open("system.posix_acl_access"));
        for power in [
            "security.capability",
            "security.selinux",
            "trusted.a",
            "system.a",
            "userx",
        ] {
            assert!(!is_open(power), "{power}");
        }
    }
}

//! Checks that only the caller or root could have put a file where it is: the configuration may name programs that run
//! unconfined.

use std::ffi::{CStr, CString};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::real_path::{Walker, is_absence, is_there};
use stockade_sys::file::read_attribute;

/// Inside a user namespace, root's files from outside have this owner (user_namespaces(7)).
const OVERFLOW: u32 = 65534;

/// Ids below this belong to system accounts, without logins (login.defs(5)).
const FIRST_PERSON: u32 = 1000;

/// A POSIX access ACL (acl(5)). With one, the group bits of a mode are the upper bound for any named user or group.
const ACCESS_LIST: &CStr = c"system.posix_acl_access";

/// The reason that others may have changed a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotOurs {
    Owner,
    Mode,
}

/// Refuses a directory in which another user could have put something, unless it is absent or empty.
pub fn of_directory(directory: &Path) -> io::Result<()> {
    if !is_there(directory)? {
        return Ok(());
    }
    let is_empty = |mut entries: fs::ReadDir| entries.next().is_none();
    match fs::read_dir(directory).is_ok_and(is_empty) {
        true => Ok(()),
        false => of_path(directory),
    }
}

/// Refuses a file that another user could have written, or put there. `file` was opened by `path`.
pub fn of_file(path: &Path, file: &File) -> io::Result<()> {
    let opened = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    match fault_of(&file.metadata()?, &opened) {
        Some(fault) => Err(fault.of(path, path)),
        None => of_path(path),
    }
}

/// Requires that every directory on the way, the final file, and every link belong to the caller or to root; others may
/// write only in sticky directories. Components that don't exist pass.
pub fn of_path(path: &Path) -> io::Result<()> {
    let walked = Walker::default().walk(&std::path::absolute(path)?);
    for place in walked.links.iter().chain([&walked.real]) {
        for above in place.ancestors() {
            match fs::symlink_metadata(above) {
                Ok(metadata) => {
                    if let Some(fault) = fault_of(&metadata, above) {
                        return Err(fault.of(path, above));
                    }
                }
                Err(error) if is_absence(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

impl NotOurs {
    fn of(self, path: &Path, place: &Path) -> io::Error {
        let (what, hint) = match self {
            NotOurs::Owner => (
                "belongs to another user",
                "set XDG_CONFIG_HOME to a directory of your own, or chown what is yours",
            ),
            NotOurs::Mode => (
                "may be written by other users",
                "take that from them (chmod go-w, setfacl -b) and look at what is in there",
            ),
        };
        io::Error::other(format!(
            "the configuration in `{}` isn't used, since `{}` {what}; {hint}",
            path.display(),
            place.display()
        ))
    }
}

fn fault_of(metadata: &Metadata, path: &Path) -> Option<NotOurs> {
    let user = nix::unistd::geteuid().as_raw();
    let is_ours = [0, user].contains(&metadata.uid()) || metadata.uid() == OVERFLOW && is_in_a_namespace();
    let is_sticky = metadata.is_dir() && metadata.mode() & libc::S_ISVTX != 0;
    if !is_ours {
        return Some(NotOurs::Owner);
    }
    // A link's mode has no effect (symlink(7)).
    if is_sticky || metadata.is_symlink() {
        return None;
    }
    let by_others = metadata.mode() & 0o002 != 0;
    let by_group = || metadata.mode() & 0o020 != 0;
    let means_others = || !is_own_group(user, metadata.gid()) || has_access_list(path);
    (by_others || by_group() && means_others()).then_some(NotOurs::Mode)
}

/// Whether this process is in a user namespace, where some ids aren't mapped.
fn is_in_a_namespace() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map");
    map.is_ok_and(|map| !map.split_whitespace().eq(["0", "0", "4294967295"]))
}

fn has_access_list(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return true;
    };
    match read_attribute(&path, ACCESS_LIST, &mut []) {
        Ok(_) => true,
        Err(error) => !matches!(error.raw_os_error(), Some(libc::ENODATA | libc::EOPNOTSUPP)),
    }
}

fn is_own_group(user: u32, group: u32) -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    is_alone_in(user, group, &read("/etc/passwd"), &read("/etc/group"))
}

/// Whether a group is the primary one of this user, or root's, and has no other member (passwd(5), group(5)). Other
/// databases aren't consulted, so a user who is in none of these files has no private group.
fn is_alone_in(user: u32, group: u32, users: &str, groups: &str) -> bool {
    let users: Vec<(&str, u32, u32)> = users.lines().filter_map(user_of).collect();
    let is_users = group == 0 || users.iter().any(|(_, id, primary)| (*id, *primary) == (user, group));
    let counts = |id: u32| id != user && id != 0 && (group != 0 || id >= FIRST_PERSON);
    let by_primary = users.iter().any(|(_, id, primary)| *primary == group && counts(*id));
    let by_name = members_of(groups, group).any(|name| {
        let id = users.iter().find(|(known, _, _)| *known == name).map(|(_, id, _)| *id);
        id.is_none_or(counts)
    });
    is_users && !by_primary && !by_name
}

/// Parses name, id and primary group.
fn user_of(line: &str) -> Option<(&str, u32, u32)> {
    let mut fields = line.split(':');
    let name = fields.next()?;
    let id = fields.nth(1)?.parse().ok()?;
    Some((name, id, fields.next()?.parse().ok()?))
}

fn members_of(groups: &str, group: u32) -> impl Iterator<Item = &str> {
    let of_group = move |line: &&str| line.split(':').nth(2).and_then(|id| id.parse().ok()) == Some(group);
    let names = groups
        .lines()
        .filter(of_group)
        .filter_map(|line| line.rsplit(':').next());
    names.flat_map(|names| names.split(',')).filter(|name| !name.is_empty())
}

/// Creates the directory and its missing parents, for the user alone. A directory that somebody else prepared isn't used.
///
/// # Errors
/// It can't be created, or isn't the caller's alone.
pub fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if !is_ours(path) {
        return Err(io::Error::other("it is a link, or belongs to somebody else"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Whether it is a directory of the caller's own, and no link to one.
pub fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == nix::unistd::geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_ones_own_without_other_members() {
        const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nsync:x:5:0::/:/bin/sync\nada:x:1000:1000::/:\n\
                             bo:x:1001:1001::/:\ncy:x:1002:100::/:\ndi:x:1003:100::/:\n";
        const GROUPS: &str =
            "root:x:0:\nusers:x:100:\nada:x:1000:\nbo:x:1001:ada\nshared:x:2000:ada\nlone:x:3000:ada\n";
        let alone = |user, group| is_alone_in(user, group, USERS, GROUPS);
        assert!(alone(1000, 1000));
        assert!(
            alone(1000, 0) && alone(54321, 0),
            "root's group, with accounts of the machine in it"
        );
        assert!(!alone(1001, 1001), "somebody else is a member");
        assert!(!alone(1002, 100), "somebody else has it as the primary group");
        assert!(
            !alone(1000, 2000) && !alone(1000, 3000),
            "not the primary group, as after newgrp"
        );
        assert!(!alone(54321, 54321), "no such user");
        assert!(
            !is_alone_in(1000, 0, USERS, "root:x:0:bo\n"),
            "a person in root's group"
        );
        assert!(!is_alone_in(1000, 1000, USERS, "ada:x:1000:of-another-database\n"));
    }
}

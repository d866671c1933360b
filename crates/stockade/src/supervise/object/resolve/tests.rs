//! Paths of a caller that is the test's own thread.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::*;
use crate::supervise::testing::{directory, make, notification, worker_fds};

/// Resolves a path as the test's own thread means it.
fn with<T>(path: &str, restrictions: u64, act: impl FnOnce(&PathRequest<'_>) -> T) -> T {
    let (fds, lists) = (worker_fds(), ProcessLists::default());
    let caller = Caller::new(&fds, &notification(1));
    let path = Alleged::new(CString::new(path).unwrap());
    act(&PathRequest::new(&lists, &fds, &caller, libc::AT_FDCWD, &path).restricted(restrictions))
}

fn object(path: impl AsRef<Path>, last: Last) -> Result<PathBuf, Errno> {
    let found = with(path.as_ref().to_str().unwrap(), 0, |request| request.object(last));
    found.map(|pinned| pinned.name().to_path_buf())
}

fn place(path: impl AsRef<Path>) -> Result<PathBuf, Errno> {
    with(path.as_ref().to_str().unwrap(), 0, |request| request.place()).map(|place| place.name().to_path_buf())
}

fn to_create(path: impl AsRef<Path>, last: Last) -> Result<PathBuf, Errno> {
    let created = with(path.as_ref().to_str().unwrap(), 0, |request| {
        request.place_to_create(last)
    });
    created.map(|place| place.name().to_path_buf())
}

#[test]
fn a_path_is_split_before_its_last_component_with_its_slashes() {
    for (path, parent, component) in [
        ("a", "", "a"),
        ("a/b", "a/", "b"),
        ("/a", "/", "a"),
        ("a/b//", "a/", "b//"),
        ("/", "/", "."),
        ("//", "//", "."),
        ("a//b", "a//", "b"),
        ("a/..", "a/", ".."),
    ] {
        assert_eq!(
            split(path.as_bytes()),
            (parent.as_bytes(), component.as_bytes()),
            "{path}"
        );
    }
}

#[test]
fn a_slash_at_the_end_means_this_directory() {
    let parts = |path: &str| {
        components(path.as_bytes())
            .into_iter()
            .map(|part| String::from_utf8(part).unwrap())
    };
    assert_eq!(parts("/a//b").collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(parts("a/b/").collect::<Vec<_>>(), ["a", "b", "."]);
    assert_eq!(parts("/").collect::<Vec<_>>(), ["."]);
    assert_eq!(parts("").count(), 0);
}

#[test]
fn an_empty_path_names_nothing() {
    assert_eq!(object("", Last::Follow), Err(Errno(libc::ENOENT)));
    assert_eq!(place(""), Err(Errno(libc::ENOENT)));
}

#[test]
fn a_link_is_followed_or_kept_in_the_last_place_and_followed_before_it() {
    let (_made, root) = directory();
    make(&root.join("d"));
    fs::write(root.join("d/a"), "").unwrap();
    symlink("d", root.join("link")).unwrap();
    assert_eq!(object(root.join("link"), Last::Follow), Ok(root.join("d")));
    assert_eq!(object(root.join("link"), Last::Keep), Ok(root.join("link")));
    assert_eq!(object(root.join("link/a"), Last::Keep), Ok(root.join("d/a")));
    assert_eq!(place(root.join("link/a")), Ok(root.join("d/a")));
    assert_eq!(place(root.join("link")), Ok(root.join("link")));
}

#[test]
fn a_file_is_made_where_a_dangling_link_leads() {
    let (_made, root) = directory();
    make(&root.join("d"));
    symlink("d/new", root.join("link")).unwrap();
    symlink(root.join("link"), root.join("to-link")).unwrap();
    assert_eq!(to_create(root.join("to-link"), Last::Follow), Ok(root.join("d/new")));
    assert_eq!(to_create(root.join("to-link"), Last::Keep), Ok(root.join("to-link")));
}

#[test]
fn links_in_a_ring_are_too_many() {
    let (_made, root) = directory();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    assert_eq!(to_create(root.join("a"), Last::Follow), Err(Errno(libc::ELOOP)));
    assert_eq!(object(root.join("a"), Last::Follow), Err(Errno(libc::ELOOP)));
}

#[test]
fn self_means_the_caller_and_not_the_thread_that_resolves() {
    let own = std::process::id();
    assert_eq!(
        object("/proc/self/status", Last::Follow),
        Ok(format!("/proc/{own}/status").into())
    );
    let (_made, root) = directory();
    symlink("/proc/self", root.join("link")).unwrap();
    assert_eq!(
        object(root.join("link/status"), Last::Follow),
        Ok(format!("/proc/{own}/status").into())
    );
    let thread = nix::unistd::gettid();
    let expected = format!("/proc/{own}/task/{thread}/status");
    assert_eq!(object("/proc/thread-self/status", Last::Follow), Ok(expected.into()));
}

#[test]
fn entries_of_processes_outside_the_run_are_refused() {
    assert_eq!(object("/proc/1/status", Last::Follow), Err(Errno(libc::EACCES)));
    assert_eq!(object("/proc/1/cwd/etc", Last::Follow), Err(Errno(libc::EACCES)));
}

#[test]
fn a_magic_link_of_the_callers_own_leads_to_its_object() {
    let (_made, root) = directory();
    fs::write(root.join("a"), "").unwrap();
    let file = fs::File::open(root.join("a")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    with(&format!("/proc/self/fd/{number}"), 0, |request| {
        let object = request.object(Last::Follow).unwrap();
        assert_eq!(object.name(), root.join("a"));
        assert_eq!(object.through_descriptor(), Some(number));
    });
    let refused = with(
        &format!("/proc/self/fd/{number}"),
        libc::RESOLVE_NO_MAGICLINKS,
        |request| request.object(Last::Follow).map(drop),
    );
    assert_eq!(refused, Err(Errno(libc::ELOOP)));
}

#[test]
fn restrictions_of_openat2_hold() {
    let (_made, root) = directory();
    let path = root.to_str().unwrap();
    let beneath = with(path, libc::RESOLVE_BENEATH, |request| {
        request.object(Last::Follow).map(drop)
    });
    assert_eq!(beneath, Err(Errno(libc::EXDEV)));
    symlink("/", root.join("link")).unwrap();
    let link = root.join("link");
    let no_links = with(link.to_str().unwrap(), libc::RESOLVE_NO_SYMLINKS, |request| {
        request.object(Last::Follow).map(drop)
    });
    assert_eq!(no_links, Err(Errno(libc::ELOOP)));
}

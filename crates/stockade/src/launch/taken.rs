//! Places from which runs removed a repository of the user's, kept in the state directory: a later run puts none of its own
//! there, which the user's git would take for the old one.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::real_path::may_be_there;

/// Paths, each with a NUL behind it.
const NAME: &str = "taken";
/// The longest file. The oldest places are forgotten then.
const MAX_LENGTH: usize = 1 << 20;

/// The places without a repository of now. One that is there was made since by the user: no run makes it.
pub fn load(state: &Path) -> Vec<PathBuf> {
    let text = fs::read(state.join(NAME)).unwrap_or_default();
    let newest = &text[text.len().saturating_sub(MAX_LENGTH)..];
    let places = newest
        .split(|byte| *byte == 0)
        .map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)));
    let is_gone = |place: &PathBuf| place.is_absolute() && !may_be_there(place);
    places.filter(is_gone).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Adds places.
///
/// # Errors
/// The file can't be written.
pub fn keep(state: &Path, places: &[PathBuf]) -> io::Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    crate::custody::make_private(state)?;
    let mut text = Vec::new();
    for place in places {
        text.extend(place.as_os_str().as_bytes());
        text.push(0);
    }
    let path = state.join(NAME);
    if fs::metadata(&path).is_ok_and(|found| found.len() > 2 * MAX_LENGTH as u64) {
        let known = load(state);
        let known: Vec<&[u8]> = known.iter().map(|place| place.as_os_str().as_bytes()).collect();
        fs::write(&path, [known.join(&0), vec![0]].concat())?;
    }
    // One write: runs that end at the same time add whole lines.
    let mut options = OpenOptions::new();
    options
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?
        .write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_kept_until_something_is_there_again() {
        let state = tempfile::tempdir().unwrap();
        let place = |name: &str| state.path().join(name);
        keep(state.path(), &[place("a/.git"), place("b")]).unwrap();
        keep(state.path(), &[place("b"), place("c\n")]).unwrap();
        assert_eq!(load(state.path()), [place("a/.git"), place("b"), place("c\n")]);
        fs::create_dir_all(place("a/.git")).unwrap();
        assert_eq!(load(state.path()), [place("b"), place("c\n")]);
        assert!(load(&place("none")).is_empty());
    }
}

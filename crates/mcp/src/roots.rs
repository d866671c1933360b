//! The roots that a client announces.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::message::{Object, elements};
use crate::rules::real_path;

/// More roots than this are none.
const MOST: usize = 64;

/// Trees that no root opens as a whole.
const WIDE: [&str; 21] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/opt", "/proc",
    "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
];

/// The directories of a client's answer to `roots/list`, their links resolved, and those that are too wide.
pub fn read(result: &RawValue, home: Option<&Path>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let roots = Object::read(result.get()).and_then(|result| elements(result.get("roots")?, MOST));
    let roots = roots.unwrap_or_default();
    let paths = roots.iter().filter_map(|root| {
        let uri = Object::read(root.get())?.text("uri")?;
        let url = url::Url::parse(&uri).ok().filter(|url| url.scheme() == "file")?;
        Some(real_path(&url.to_file_path().ok()?))
    });
    paths.partition(|path| {
        let is_anyones_home = path.parent() == Some(Path::new("/home"));
        let is_wide = is_anyones_home || WIDE.iter().any(|wide| path == Path::new(wide));
        !is_wide && !home.is_some_and(|home| home.starts_with(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_not_too_wide_are_roots() {
        let text = r#"{"roots":[{"uri":"file:///srv/my%20work/../site"},{"uri":"https://x/y"},{"uri":"file:///"},
            {"uri":"file:///home/ada"},{"uri":"file:///home/ada/work","name":"w"},{"uri":"file://other/srv"},
            {"uri":"file:///home/bea"},{"uri":"file:///srv"},{}]}"#;
        let result: Box<RawValue> = serde_json::from_str(text).unwrap();
        let (roots, wide) = read(&result, Some(Path::new("/home/ada")));
        assert_eq!(roots, [Path::new("/srv/site"), Path::new("/home/ada/work")]);
        assert_eq!(wide, ["/", "/home/ada", "/home/bea", "/srv"].map(Path::new));
    }
}

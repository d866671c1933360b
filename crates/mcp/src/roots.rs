//! The roots that a client announces.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use stockade::internal::WrittenTrees;

use crate::listing::shown;
use crate::message::{Object, elements};

/// More roots than this are none.
const MAX: usize = 64;

/// Trees that no root opens as a whole.
const WIDE: [&str; 21] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/media", "/mnt", "/opt", "/proc",
    "/root", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
];

/// The paths of a client's answer to `roots/list`, as they are named.
pub fn named(result: &RawValue) -> Vec<PathBuf> {
    let roots = Object::read(result.get()).and_then(|result| elements(result.get("roots")?, MAX));
    let roots = roots.unwrap_or_default();
    roots.iter().filter_map(|root| path(root)).collect()
}

/// Those of them that are granted, their links resolved, and the reasons why others aren't.
pub fn granted(named: &[PathBuf], home: Option<&Path>, trees: &WrittenTrees) -> (Vec<PathBuf>, Vec<String>) {
    let mut granted = Vec::new();
    let mut refused = Vec::new();
    for path in named {
        let said = path.to_string_lossy();
        match trees.real_path(&said, path) {
            Err(error) => refused.push(format!("a root of the client grants nothing: {error}")),
            Ok(real) if is_wide(&real, home) => refused.push(format!(
                "the client's root `{}` grants nothing: it is too wide",
                shown(&said)
            )),
            Ok(real) => granted.push(real),
        }
    }
    (granted, refused)
}

fn path(root: &RawValue) -> Option<PathBuf> {
    let uri = Object::read(root.get())?.text("uri")?;
    let url = url::Url::parse(&uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

fn is_wide(path: &Path, home: Option<&Path>) -> bool {
    let is_anyones_home = path.parent() == Some(Path::new("/home"));
    let is_listed = WIDE.iter().any(|wide| path == Path::new(wide));
    is_anyones_home || is_listed || home.is_some_and(|home| home.starts_with(path))
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
        let (roots, refused) = granted(&named(&result), Some(Path::new("/home/ada")), &WrittenTrees::default());
        assert_eq!(roots, [Path::new("/srv/site"), Path::new("/home/ada/work")]);
        let wide = ["/", "/home/ada", "/home/bea", "/srv"];
        assert_eq!(
            refused,
            wide.map(|path| format!("the client's root `{path}` grants nothing: it is too wide"))
        );
    }
}

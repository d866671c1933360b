//! Classifies paths by the places that profiles distinguish.

use std::path::Path;

use super::setting::Setting;
use super::text::Text;
use stockade_policy::policy::{Access, BASE};

/// A class of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// Available to every run: the base, the standard streams.
    Free,
    /// Below `./data`.
    Data,
    /// Below `./`.
    Root,
    /// Below `/tmp`.
    Temporary,
    /// Anywhere else.
    Elsewhere,
    /// The path is unknown.
    Unknown,
}

/// A path with its class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The class of the path.
    pub whereabouts: Whereabouts,
    /// `./…` below the root, absolute or `~/…` elsewhere; `…` for unknown parts.
    pub shown: String,
    /// Whether every part of it is known.
    pub is_exact: bool,
}

/// Classifies a path; `access` is the intended access.
pub fn locate(path: &Text, access: Access, setting: &Setting) -> Located {
    let is_exact = path.exact().is_some();
    let known = path.prefix();
    let known = known.strip_prefix("file://").unwrap_or(known);
    if known.is_empty() && !is_exact {
        return Located {
            whereabouts: Whereabouts::Unknown,
            shown: path.shown(),
            is_exact,
        };
    }
    let absolute = in_home(known, setting);
    let below = absolute.as_deref().and_then(|path| below_root(path, setting));
    let known = below.as_deref().unwrap_or(known);
    let all = path.shown();
    let rest = all.get(path.prefix().len()..).unwrap_or_default();
    let (mut whereabouts, shown) = place(known, is_exact, access);
    let is_script = setting.script.is_some() && is_exact && shown == setting.script_path();
    if is_script && access == Access::READ {
        whereabouts = Whereabouts::Free;
    }
    Located {
        whereabouts,
        shown: if is_exact { shown } else { format!("{shown}{rest}") },
        is_exact,
    }
}

/// Returns an absolute path; expands `~` if the home directory is known.
fn in_home(path: &str, setting: &Setting) -> Option<String> {
    match (path.strip_prefix('~'), &setting.home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            Some(format!("{}{rest}", home.display()))
        }
        _ => path.starts_with('/').then(|| path.to_string()),
    }
}

fn below_root(path: &str, setting: &Setting) -> Option<String> {
    let root = setting.root.as_deref()?;
    let rest = path.strip_prefix(root.to_str()?)?;
    match rest.strip_prefix('/') {
        Some(rest) => Some(format!("./{rest}")),
        None => rest.is_empty().then(|| ".".to_string()),
    }
}

fn place(known: &str, is_exact: bool, access: Access) -> (Whereabouts, String) {
    if known.is_empty() || known == "-" {
        return (Whereabouts::Free, known.to_string());
    }
    if known.starts_with('~') {
        return (Whereabouts::Elsewhere, known.to_string());
    }
    let parts = parts(known);
    // The last component may be known only in its beginning.
    let whole = match is_exact || known.ends_with('/') {
        true => parts.len(),
        false => parts.len().saturating_sub(1),
    };
    let end = if known.ends_with('/') && !parts.is_empty() {
        "/"
    } else {
        ""
    };
    if known.starts_with('/') {
        let shown = format!("/{}{end}", parts.join("/"));
        return (absolute(&parts, &shown, whole, access), shown);
    }
    let shown = match parts.is_empty() {
        true if end.is_empty() && is_exact => ".".to_string(),
        true => "./".to_string(),
        false if parts[0] == ".." => format!("{}{end}", parts.join("/")),
        false => format!("./{}{end}", parts.join("/")),
    };
    let whereabouts = match parts.first() {
        Some(&"..") => Whereabouts::Elsewhere,
        Some(&"data") if whole > 0 => Whereabouts::Data,
        _ => Whereabouts::Root,
    };
    (whereabouts, shown)
}

/// The components of a path without `.` and, where the text alone resolves it, `..`.
fn parts(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some(&before)) if before != ".." => {
                parts.pop();
            }
            ("..", None) if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    parts
}

fn absolute(parts: &[&str], path: &str, whole: usize, access: Access) -> Whereabouts {
    match parts {
        ["tmp", ..] if whole > 0 => return Whereabouts::Temporary,
        ["dev", "stdin" | "stdout" | "stderr" | "fd", ..] | ["proc", "self", ..] => return Whereabouts::Free,
        _ => {}
    }
    let is_free = BASE.iter().any(|entry| {
        entry.access.contains(access)
            && Path::new(path).starts_with(entry.path)
            && whole >= entry.path.matches('/').count()
    });
    match is_free {
        true => Whereabouts::Free,
        false => Whereabouts::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::Whereabouts::*;
    use super::*;

    fn at(path: &Text, access: Access) -> (Whereabouts, String) {
        let setting = Setting {
            root: Some("/home/ada/project".into()),
            script: None,
            home: Some("/home/ada".into()),
            ..Setting::default()
        };
        let located = locate(path, access, &setting);
        (located.whereabouts, located.shown)
    }

    #[test]
    fn paths_are_told_apart_by_what_the_profiles_tell_apart() {
        for (path, whereabouts, shown) in [
            ("data/a.csv", Data, "./data/a.csv"),
            ("./data", Data, "./data"),
            ("./data/../secret", Root, "./secret"),
            ("database/a", Root, "./database/a"),
            (".", Root, "."),
            ("./", Root, "."),
            ("../a", Elsewhere, "../a"),
            ("a/../../b", Elsewhere, "../b"),
            ("/tmp/a", Temporary, "/tmp/a"),
            ("/tmp/../etc/hosts", Elsewhere, "/etc/hosts"),
            ("/tmpfile", Elsewhere, "/tmpfile"),
            ("/usr/share/dict/words", Free, "/usr/share/dict/words"),
            ("/etc/shadow", Elsewhere, "/etc/shadow"),
            ("/etc/passwd", Free, "/etc/passwd"),
            ("/home/ada/project/data/x", Data, "./data/x"),
            ("/home/ada/project", Root, "."),
            ("/home/ada/projects", Elsewhere, "/home/ada/projects"),
            ("~/project/x", Root, "./x"),
            ("~/.ssh/id", Elsewhere, "~/.ssh/id"),
            ("file:///etc/hosts", Elsewhere, "/etc/hosts"),
            ("/dev/stdin", Free, "/dev/stdin"),
        ] {
            assert_eq!(
                at(&path.into(), Access::READ),
                (whereabouts, shown.to_string()),
                "{path}"
            );
        }
        assert_eq!(at(&"/dev/null".into(), Access::WRITE).0, Free);
        assert_eq!(at(&"/usr/bin/x".into(), Access::WRITE).0, Elsewhere);
    }

    #[test]
    fn a_script_may_read_itself() {
        let setting = Setting {
            root: Some("/home/ada".into()),
            script: Some("/home/ada/job.py".into()),
            ..Setting::default()
        };
        let at = |access| locate(&"job.py".into(), access, &setting).whereabouts;
        assert_eq!((at(Access::READ), at(Access::WRITE)), (Free, Root));
    }

    #[test]
    fn what_is_known_of_a_path_tells_where_it_leads() {
        let partly = |known: &str| at(&Text::from(known).then(&Text::unknown()), Access::READ);
        assert_eq!(partly("data/"), (Data, "./data/…".into()));
        assert_eq!(partly("data"), (Root, "./data…".into()));
        assert_eq!(partly("/tmp/x-"), (Temporary, "/tmp/x-…".into()));
        assert_eq!(partly("/tmp").0, Elsewhere);
        assert_eq!(partly("report-"), (Root, "./report-…".into()));
        assert_eq!(partly(""), (Unknown, "…".into()));
    }
}

//! Many forms of one attack. Each gets a directory of its own, so that none spoils what the next one needs.

use crate::common::Probe;

/// Adds attempts. `@DIR` in a form is its directory, which holds the files; a form that begins with `?` is skipped
/// where the machine or the user can't do it unconfined.
pub fn attempts(probe: Probe, files: &[(&str, &str)], forms: &[&str]) -> Probe {
    number(probe, files, forms, |probe, code| match code.strip_prefix('?') {
        Some(code) => probe.attempt_if_possible(code.trim_start()),
        None => probe.attempt(code),
    })
}

/// Adds code that must work confined too.
pub fn works(probe: Probe, files: &[(&str, &str)], forms: &[&str]) -> Probe {
    number(probe, files, forms, |probe, code| match code.strip_prefix('?') {
        Some(code) => probe.answers_if_possible(code.trim_start(), "ok", "ok"),
        None => probe.works(code),
    })
}

fn number(mut probe: Probe, files: &[(&str, &str)], forms: &[&str], add: impl Fn(Probe, &str) -> Probe) -> Probe {
    for form in forms {
        let name = directory();
        for (file, text) in files {
            probe = probe.file(&format!("{name}/{file}"), text);
        }
        probe = add(probe, &form.replace("@DIR", &format!("@ROOT/{name}")));
    }
    probe
}

/// A name that no other case of this process has.
fn directory() -> String {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("case-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A directory below `/tmp`, which all the supervised profiles may write.
pub fn in_tmp() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("stockade-escape-")
        .tempdir_in("/tmp")
        .expect("/tmp can be written")
}

/// Profiles that grant a tree with secrets in it.
pub const SUPERVISED: [&str; 4] = ["workspace", "filesystem", "mcp-standard", "trusted"];

/// Those that may write it.
pub const WRITING: [&str; 2] = ["workspace", "trusted"];

//! The words, the question, and both through a real pseudo-terminal.

mod hostile;
mod keys;
mod multiplexer;
mod questions;
mod scene;
mod stage;
mod words;

use crate::approve::{EscalationRequest, Evidence, Lifetime, Requested, VERSION};
use crate::report::Kind;

/// A script that reads a file under `minimal`.
fn request() -> EscalationRequest {
    EscalationRequest {
        version: VERSION,
        id: "r-1".into(),
        run: "run-1".into(),
        capability_id: None,
        current_profile: "minimal".into(),
        requested: grants(&["--read", "/etc/hosts"]),
        wider: Some(grants(&["--read", "/etc"])),
        reason: "PermissionDenied: read /etc/hosts".into(),
        evidence: Evidence {
            access: Kind::Read,
            target: "/etc/hosts".into(),
            asked: "../etc/hosts".into(),
            syscall: "openat".into(),
            pid: 4711,
            program: "/usr/bin/python3.12".into(),
            command: vec!["python3".into(), "read it.py".into()],
            root: "/home/ada/work".into(),
            agent: Some("coder".into()),
            why: "nothing grants it".into(),
            warning: None,
            at_ms: 1234,
        },
        lifetimes: vec![Lifetime::Once, Lifetime::Session, Lifetime::Always],
        live: true,
        timeout_ms: 60_000,
    }
}

fn grants(flag: &[&str]) -> Requested {
    Requested::Grants(vec![flag.iter().map(ToString::to_string).collect()])
}

//! A sample request for the tests of the channels.

use super::{EscalationRequest, Evidence, Lifetime, Requested, VERSION};
use crate::policy::Kind;

/// A script that reads `/etc/hosts`.
#[must_use]
pub fn request() -> EscalationRequest {
    let grants = |path: &str| Requested::Grants(vec![vec!["--read".into(), path.into()]]);
    EscalationRequest {
        version: VERSION,
        id: "run-1-1".into(),
        run: "run-1".into(),
        capability_id: None,
        current_profile: "minimal".into(),
        requested: grants("/etc/hosts"),
        wider: Some(grants("/etc")),
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
        granted_beside: 0,
        refused_beside: 0,
        live: true,
        timeout_ms: 60_000,
    }
}

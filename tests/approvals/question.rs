//! A run that asks, as the library's face has it.

use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use stockade_report::approve::{
    Answer, Approver, Deadline, EscalationRequest, Evidence, Lifetime, Requested, SocketApprover, VERSION, Waiting,
};
use stockade_report::report::Kind;

/// Long enough for a loaded machine; no test waits for its end.
pub const LONG: Duration = Duration::from_secs(60);

/// A request to read `target`.
pub fn request(target: &str) -> EscalationRequest {
    let grants = |path: &str| Requested::Grants(vec![vec!["--read".into(), path.into()]]);
    EscalationRequest {
        version: VERSION,
        id: format!("id-of-{target}"),
        run: "0190".into(),
        capability_id: None,
        current_profile: "minimal".into(),
        requested: grants(target),
        wider: Some(grants("/wider")),
        reason: format!("PermissionDenied: read {target}"),
        evidence: Evidence {
            access: Kind::Read,
            target: target.into(),
            asked: String::new(),
            syscall: "openat".into(),
            pid: 7,
            program: "/usr/bin/python3".into(),
            command: vec!["python3".into(), "x.py".into()],
            root: "/r".into(),
            agent: None,
            why: "nothing grants it".into(),
            warning: None,
            at_ms: 12,
        },
        lifetimes: vec![Lifetime::Once, Lifetime::Session],
        granted_beside: 0,
        refused_beside: 0,
        live: true,
        timeout_ms: 60_000,
    }
}

/// A question that is open.
pub struct Open {
    pub asking: JoinHandle<(Answer, Duration)>,
    pub deadline: Deadline,
}

impl Open {
    /// The answer, and how long it took.
    pub fn answer(self) -> (Answer, Duration) {
        self.asking.join().unwrap()
    }
}

/// Asks on a thread of its own.
pub fn ask(state: &Path, waiting: Waiting, request: EscalationRequest) -> Open {
    ask_for(state, waiting, request, LONG)
}

/// The same with less patience.
pub fn ask_for(state: &Path, waiting: Waiting, mut request: EscalationRequest, time: Duration) -> Open {
    request.timeout_ms = time.as_millis().try_into().unwrap();
    let approver = SocketApprover::new(state, waiting);
    let deadline = Deadline::of(time);
    let copy = deadline.clone();
    let asking = thread::spawn(move || {
        let start = Instant::now();
        (approver.ask(&request, &copy), start.elapsed())
    });
    Open { asking, deadline }
}

//! The names, servers and grants of one test, and the runs that have them.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Finished, Place, Run, finish_within, run};
use crate::network::servers::Names;

/// No run of these tests takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a run may reach, and who answers its names.
pub struct Net {
    pub names: Names,
    flags: Vec<String>,
}

impl Net {
    pub fn new() -> Net {
        let names = Names::new();
        let flags = vec!["--resolver".into(), names.address().to_string()];
        Net { names, flags }
    }

    /// A name that leads to a server, granted with the server's port. So is the address, which is a loopback one.
    pub fn grant(&mut self, name: &str, server: SocketAddr) -> &mut Net {
        self.names.lead(name, server.ip());
        self.host(&format!("{name}:{}", server.port()))
            .host(&server.to_string())
    }

    /// The same without a port, so that what is said on 80 and 443 is looked at.
    pub fn grant_web(&mut self, name: &str, server: SocketAddr) -> &mut Net {
        self.names.lead(name, server.ip());
        self.host(name).host(&server.to_string())
    }

    pub fn host(&mut self, pattern: &str) -> &mut Net {
        self.flag(["--host", pattern])
    }

    pub fn flag<const N: usize>(&mut self, words: [&str; N]) -> &mut Net {
        self.flags.extend(words.map(String::from));
        self
    }

    pub fn flags(&self) -> &[String] {
        &self.flags
    }

    /// A run that has these grants on top of a profile, with a report.
    pub fn run(&self, profile: &str) -> Run {
        run().profile(profile).flags(&self.flags).reporting()
    }

    /// A run of Python code under `minimal`.
    pub fn python(&self, code: &str) -> Outcome {
        outcome(self.run("minimal").python(code))
    }
}

/// What came of a run, whatever it was.
pub struct Outcome {
    pub finished: Finished,
    pub report: Value,
    _place: Place,
}

/// Runs it to its end.
pub fn outcome(run: Run) -> Outcome {
    outcome_of(run, b"")
}

/// Runs it to its end with some input.
pub fn outcome_of(run: Run, input: &[u8]) -> Outcome {
    let mut process = run.process();
    let finished = finish_within(&mut process, input, PATIENCE);
    let report = std::fs::read(run.place.path("~/report.json")).unwrap_or_default();
    Outcome {
        report: serde_json::from_slice(&report).unwrap_or(Value::Null),
        finished,
        _place: run.place,
    }
}

impl Outcome {
    pub fn stdout(&self) -> String {
        self.finished.stdout()
    }

    pub fn stderr(&self) -> String {
        self.finished.stderr()
    }

    /// It ended with 0 and printed this.
    #[track_caller]
    pub fn prints(&self, text: &str) -> &Outcome {
        assert!(
            self.finished.status.success() && self.stdout() == text,
            "expected {text:?}\n{}",
            self.told()
        );
        self
    }

    /// Everything, for messages.
    pub fn told(&self) -> String {
        format!(
            "{}\n--- stdout\n{}\n--- stderr\n{}\n--- denials\n{:#}",
            self.finished.status,
            self.stdout(),
            self.stderr(),
            self.report["denials"]
        )
    }

    /// The report names a refusal, and the flag that would have allowed it (none looked for where it's empty).
    #[track_caller]
    pub fn was_refused(&self, access: &str, target: &str, grant: &[&str]) -> &Outcome {
        let denials = self.report["denials"].as_array().cloned().unwrap_or_default();
        let found = denials
            .iter()
            .find(|denial| denial["access"] == access && (denial["target"] == target || denial["asked"] == target));
        let denial = found.unwrap_or_else(|| panic!("no denial `{access}` of `{target}`\n{}", self.told()));
        if !grant.is_empty() {
            assert_eq!(
                denial["grant"],
                Value::from(grant.to_vec()),
                "of `{access}` `{target}`\n{}",
                self.told()
            );
        }
        let program = denial["program"].as_str().unwrap_or_default();
        assert!(
            !program.is_empty(),
            "`{access}` of `{target}` names no program\n{}",
            self.told()
        );
        self
    }

    /// The report has no refusal of the network.
    #[track_caller]
    pub fn was_refused_nothing(&self) -> &Outcome {
        let kinds = ["connect", "resolve", "listen", "socket"];
        let denials = self.report["denials"].as_array().cloned().unwrap_or_default();
        let refused = denials
            .iter()
            .any(|denial| kinds.iter().any(|kind| denial["access"] == *kind));
        assert!(!refused, "something was refused\n{}", self.told());
        self
    }
}

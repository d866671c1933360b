//! Faults of Stockade's own during a run: panics that were contained.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use crate::fault;
use crate::mutex::lock;

/// The part of Stockade that panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultyPart {
    /// A worker: the call was refused.
    Worker,
    /// The thread that keeps the open questions: the waiting calls were refused.
    Questions,
    /// Asking a person or a program: counts as a no.
    Approver,
    /// The relay: a connection was reset.
    Relay,
    /// Looking a name up, or answering the run's DNS query: the name wasn't found.
    Names,
    /// A thread that serves the run as a whole: the run was ended.
    Supervisor,
    /// The warden, which was killed: the run was ended.
    Warden,
}

impl FaultyPart {
    /// The part, and the consequence.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            FaultyPart::Worker => ("a worker", "the call was refused"),
            FaultyPart::Questions => ("the thread that keeps questions", "the calls that waited were refused"),
            FaultyPart::Approver => ("asking for approval", "that counts as no answer"),
            FaultyPart::Relay => ("the relay", "the connection was reset"),
            FaultyPart::Names => ("a name lookup", "the name wasn't found"),
            FaultyPart::Supervisor => ("the supervisor", "the run was ended"),
            FaultyPart::Warden => ("the warden", "the run was ended"),
        }
    }
}

/// A fault of Stockade's own, and how often it occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InternalFault {
    /// The part that panicked.
    pub part: FaultyPart,
    /// The message and its source location. It may quote the run's text; it is escaped, and its length bounded.
    pub message: String,
    /// How often it occurred.
    pub count: u64,
}

/// Different faults kept: the first ones only.
const MAX: usize = 16;

/// The faults of one run, recorded by its threads.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<InternalFault>>);

impl Faults {
    /// Adds one.
    pub fn note(&self, part: FaultyPart, fault: &fault::Fault) {
        let mut faults = lock(&self.0);
        let message = fault.to_string();
        if let Some(known) = faults
            .iter_mut()
            .find(|known| known.part == part && known.message == message)
        {
            known.count = known.count.saturating_add(1);
        } else if faults.len() < MAX || part == FaultyPart::Supervisor {
            faults.push(InternalFault {
                part,
                message,
                count: 1,
            });
        }
    }

    /// All of them so far.
    pub fn list(&self) -> Vec<InternalFault> {
        lock(&self.0).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_faults_are_counted_and_their_number_is_bounded() {
        let faults = Faults::default();
        for number in 0..100 {
            let fault = crate::fault::contain(|| panic!("{number}")).unwrap_err();
            faults.note(FaultyPart::Worker, &fault);
            faults.note(FaultyPart::Worker, &fault);
        }
        let list = faults.list();
        assert_eq!(list.len(), MAX);
        assert!(list.iter().all(|fault| fault.count == 2));
    }
}

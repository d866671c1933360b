//! Records the uses that the observer is told of: each once, with its count and programs. Bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use stockade_policy::mutex::lock;
use stockade_report::audit::{Observer, Record, Seen};
use stockade_report::report::Kind;

/// The most different uses that are kept; a run has some thousands.
const MAX: usize = 65_536;
/// The most names that are kept of each use.
const MAX_NAMES: usize = 64;

/// A use, with its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The kind of access.
    pub access: Kind,
    /// The target, as the kernel names it.
    pub target: String,
    /// The target as the program first named it.
    pub asked: String,
    /// The system calls.
    pub calls: BTreeSet<String>,
    /// The programs.
    pub programs: BTreeSet<String>,
    /// The processes.
    pub processes: BTreeSet<i32>,
    /// The number of times.
    pub count: u64,
}

/// Records uses for learning, and forwards each event to the previous observer.
pub struct Observation {
    next: Option<Arc<dyn Observer>>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    uses: BTreeMap<(Kind, String), Use>,
    dropped: u64,
    /// Targets for which a change was refused.
    refused: BTreeSet<String>,
}

impl Observation {
    /// Starts recording; `next` receives every event that it asks for.
    pub fn new(next: Option<Arc<dyn Observer>>) -> Observation {
        Observation {
            next,
            kept: Mutex::default(),
        }
    }

    /// What was seen, by kind and target, and how many found no room. A change of which a part was refused (an open that
    /// cuts the file is two) was none.
    pub fn uses(&self) -> (Vec<Use>, u64) {
        let kept = lock(&self.kept);
        let was_done = |used: &&Use| !(used.access.changes() && kept.refused.contains(&used.target));
        (kept.uses.values().filter(was_done).cloned().collect(), kept.dropped)
    }

    fn keep(&self, seen: &Seen) {
        if is_nameless(seen) {
            return;
        }
        let mut kept = lock(&self.kept);
        let key = (seen.access, seen.target.clone());
        if kept.uses.len() >= MAX && !kept.uses.contains_key(&key) {
            kept.dropped += 1;
            return;
        }
        let used = kept.uses.entry(key).or_insert_with(|| Use {
            access: seen.access,
            target: seen.target.clone(),
            asked: seen.asked.clone(),
            calls: BTreeSet::new(),
            programs: BTreeSet::new(),
            processes: BTreeSet::new(),
            count: 0,
        });
        used.count += 1;
        add(&mut used.calls, seen.syscall.clone());
        add(&mut used.programs, seen.program.clone());
        add(&mut used.processes, seen.pid);
    }
}

/// Pipes and the like, reopened through `/dev/fd`: the process holds one already, and no grant names it.
fn is_nameless(seen: &Seen) -> bool {
    matches!(seen.access, Kind::Read | Kind::Write)
        && (!seen.target.starts_with('/') || seen.target.starts_with("/memfd:"))
}

fn add<T: Ord>(names: &mut BTreeSet<T>, name: T) {
    if names.len() < MAX_NAMES {
        names.insert(name);
    }
}

impl Observer for Observation {
    fn note(&self, run: &str, record: Record) {
        match &record {
            Record::Allowed(seen) => self.keep(seen),
            Record::Denied(seen) if seen.access.changes() => {
                let mut kept = lock(&self.kept);
                if kept.refused.len() < MAX {
                    kept.refused.insert(seen.target.clone());
                }
            }
            _ => {}
        }
        if let Some(next) = &self.next
            && (next.wants_allowed() || !record.allows())
        {
            next.note(run, record);
        }
    }

    fn wants_allowed(&self) -> bool {
        true
    }
}

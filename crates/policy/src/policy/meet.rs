//! The intersection of two policies: the accesses that both allow. Denials add up, the lower limits apply.

use super::decide::deeper;
use super::{Grant, ListenGrant, NetworkPolicy, Policy};

impl Policy {
    /// The intersection of both policies, for a run inside a run and for capabilities.
    ///
    /// Commutative, associative and idempotent in its decisions; name, root and scratch are those of `self`.
    pub fn meet(&self, other: &Policy) -> Policy {
        let mut denials: Vec<_> = self.denials.iter().chain(&other.denials).cloned().collect();
        denials.sort();
        denials.dedup();
        Policy {
            profile: self.profile.clone(),
            capabilities: self.capabilities & other.capabilities,
            mode: self.mode.min(other.mode),
            root: self.root.clone(),
            grants: meet_grants(&self.grants, &other.grants),
            denials,
            reach: self.reach.meet(&other.reach),
            listen: meet_listen(self, other),
            sockets: self
                .sockets
                .iter()
                .filter(|ours| other.sockets.iter().any(|theirs| ours.path.starts_with(&theirs.path)))
                .chain(other.sockets.iter().filter(|theirs| {
                    self.sockets
                        .iter()
                        .any(|ours| theirs.path != ours.path && theirs.path.starts_with(&ours.path))
                }))
                .cloned()
                .collect(),
            environment: self
                .environment
                .iter()
                .filter(|(name, _)| other.environment.contains_key(*name))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            scratch: self.scratch,
            limits: self.limits.meet(other.limits),
            system_calls: self
                .system_calls
                .iter()
                .filter(|call| other.system_calls.contains(call))
                .cloned()
                .collect(),
            asks: self.asks.min(other.asks),
        }
    }
}

fn meet_grants(ours: &[Grant], theirs: &[Grant]) -> Vec<Grant> {
    let mut grants = Vec::new();
    for a in ours {
        for b in theirs {
            let access = a.access & b.access;
            let Some((path, extent)) = deeper(a, b) else {
                continue;
            };
            if access.is_empty() {
                continue;
            }
            grants.push(Grant {
                access,
                path,
                extent,
                exempt: a.exempt && b.exempt,
                origin: a.origin.clone(),
                why: a.why.clone(),
            });
        }
    }
    grants
}

/// A run that may reach every host may listen anywhere, whatever its list says.
fn meet_listen(a: &Policy, b: &Policy) -> Vec<ListenGrant> {
    match (&a.reach, &b.reach) {
        (NetworkPolicy::Nothing, _) | (_, NetworkPolicy::Nothing) => Vec::new(),
        (NetworkPolicy::Everything, NetworkPolicy::Hosts(_)) => b.listen.clone(),
        (NetworkPolicy::Hosts(_), NetworkPolicy::Everything) => a.listen.clone(),
        (NetworkPolicy::Hosts(_), NetworkPolicy::Hosts(_)) | (NetworkPolicy::Everything, NetworkPolicy::Everything) => {
            let is_theirs = |ours: &&ListenGrant| b.listen.iter().any(|theirs| theirs.port == ours.port);
            a.listen.iter().filter(is_theirs).cloned().collect()
        }
    }
}

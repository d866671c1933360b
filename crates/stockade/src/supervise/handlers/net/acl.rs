//! The network access of a caller: what its run and every nested run that it is in allow.
//!
//! A run that may ask (`Policy::asks`) has what named hosts need: sockets, the resolver, the relay. A name that isn't
//! granted gets a synthetic address without being looked up; the question comes with `connect`.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use crate::audit::{Record, Seen};
use crate::network::NetworkAcl;
use crate::policy::{Asks, NetworkPolicy, Policy, ProtocolCheck};
use crate::profile::Name;
use crate::report::{Kind, Reason, Refusal};
use crate::supervise::approvals::ApprovedGrants;
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::judge::grant_named;
use crate::supervise::run::Run;
use crate::supervise::state::nested_runs::NestedRun;

/// The network access of a caller: what its run and every nested run that it is in allow.
pub struct Cleared {
    run: Arc<Run>,
    /// Granted for this connection alone.
    once: ApprovedGrants,
    nested_runs: Vec<Arc<NestedRun>>,
    process: i32,
    program: Vec<u8>,
    syscall: Cow<'static, str>,
}

impl Cleared {
    pub fn of(context: &NotifyContext<'_>) -> Cleared {
        Cleared {
            run: Arc::clone(context.run()),
            once: context.once().clone(),
            nested_runs: context.judge.nested_runs.list.clone(),
            process: context.caller().process(),
            program: context.caller().program(),
            syscall: context.call_name().into(),
        }
    }

    fn policies(&self) -> impl Iterator<Item = &Policy> {
        let inner = self
            .nested_runs
            .iter()
            .map(|nested_run| &nested_run.run_policy.run_config.policy);
        std::iter::once(&self.run.policy().run_config.policy).chain(inner)
    }

    pub fn reaches_everything(&self) -> bool {
        self.policies().all(|policy| policy.reach == NetworkPolicy::Everything)
    }

    /// Whether a port may be listened on. Port 0 stands for one that the kernel chooses.
    pub fn may_listen(&self, port: u16) -> bool {
        let grants = |policy: &Policy| {
            policy.reach == NetworkPolicy::Everything || policy.listen.iter().any(|grant| grant.port == port)
        };
        self.every(grants, |opened| opened.may_listen(port))
    }

    /// Whether all policies grant something; for the run's own policy, approved grants count too.
    fn every(&self, grants: impl Fn(&Policy) -> bool, is_opened: impl Fn(&ApprovedGrants) -> bool) -> bool {
        let mut policies = self.policies();
        let own = policies.next().is_some_and(&grants) || self.is_opened(is_opened);
        own && policies.all(grants)
    }

    fn is_opened(&self, is: impl Fn(&ApprovedGrants) -> bool) -> bool {
        let approvals = self.run.approvals.as_deref();
        is(&self.once) || approvals.is_some_and(|approvals| is(&approvals.opened()))
    }

    /// The protocol check for a host by the approved grants.
    fn opened_check(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
        let approvals = self.run.approvals.as_deref();
        let lasting = approvals.and_then(|approvals| approvals.opened().name(name, port));
        self.once.name(name, port).max(lasting)
    }

    pub fn refusal(&self, kind: Kind, target: &str, asked: &str, reason: Reason) -> Refusal {
        Refusal {
            kind,
            asked: asked.as_bytes().to_vec(),
            target: target.as_bytes().to_vec(),
            exists: true,
            is_directory: false,
            syscall: self.syscall.clone(),
            pid: self.process,
            program: self.program.clone(),
            at: self.run.journal.started.elapsed(),
            reason,
        }
    }
}

impl NetworkAcl for Cleared {
    fn knows(&self, name: &Name) -> bool {
        self.every(|policy| policy.reach.knows(name), |opened| opened.knows(name))
    }

    fn may_be_asked_for(&self, name: &Name) -> bool {
        let mut policies = self.policies();
        let asks = policies.next().is_some_and(|policy| policy.asks == Asks::All);
        // `localhost` is in the hosts file, and no grant of a name covers it.
        let is_askable = asks && name.as_str() != "localhost";
        is_askable && self.run.approvals.is_some() && policies.all(|policy| policy.reach.knows(name))
    }

    fn name(&self, name: &Name, port: u16) -> Option<ProtocolCheck> {
        let mut policies = self.policies();
        let own = policies.next().and_then(|policy| policy.reach.name(name, port));
        let mut all = own.max(self.opened_check(name, port))?;
        for policy in policies {
            all = all.min(policy.reach.name(name, port)?);
        }
        Some(all)
    }

    fn address(&self, address: IpAddr, port: u16) -> bool {
        self.every(
            |policy| policy.reach.address(address, port),
            |opened| opened.address(address, port),
        )
    }

    fn refuse(&self, kind: Kind, target: &str, asked: &str, reason: Reason) {
        self.run.journal.note(self.refusal(kind, target, asked, reason));
    }

    fn let_pass(&self, kind: Kind, target: &str, asked: &str) {
        if self.run.journal.tells_all() {
            let access = self.refusal(kind, target, asked, Reason::NotGranted);
            let granted = grant_named::of_network(&self.run.policy().run_config.policy, &access);
            let is_answered = || self.run.approvals.is_some() && kind != Kind::Resolve;
            let rule = granted.or_else(|| is_answered().then(|| grant_named::ANSWERED.to_string()));
            let seen = Seen::allowed(&access, rule);
            self.run.journal.tell(|| Record::Allowed(seen));
        }
    }
}

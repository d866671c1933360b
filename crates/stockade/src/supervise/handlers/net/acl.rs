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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::policy::{GrantExtent, HostGrant, ListenGrant};
    use crate::profile::Origin;
    use crate::report::FlagGrant;
    use crate::supervise::run::RunServices;
    use crate::supervise::state::nested_runs::NestRequest;
    use crate::supervise::testing::{Silent, asking, policy, run_config};

    /// A policy that grants these hosts, and the port 8080 to listen on.
    fn hosts(patterns: &[&str]) -> Policy {
        let grant = |pattern: &&str| HostGrant {
            pattern: pattern.parse().unwrap(),
            origin: Origin::BuiltIn,
        };
        Policy {
            reach: NetworkPolicy::Hosts(patterns.iter().map(grant).collect()),
            listen: vec![ListenGrant {
                port: 8080,
                origin: Origin::BuiltIn,
            }],
            ..policy(Vec::new())
        }
    }

    fn everything() -> Policy {
        Policy {
            reach: NetworkPolicy::Everything,
            ..policy(Vec::new())
        }
    }

    /// What a caller in these nested runs may reach, with an answer about it for one connection.
    fn cleared(own: Policy, inner: Vec<Policy>, once: Option<&str>, is_asked: bool) -> Cleared {
        let services = RunServices {
            asking: is_asked.then(|| asking(Silent)),
            ..RunServices::default()
        };
        let run = Arc::new(Run::new(run_config(own), None, services));
        for policy in inner {
            let request = NestRequest::of(1, 1, &[]);
            run.journal
                .nested_runs
                .add(request, run_config(policy), Duration::ZERO)
                .unwrap();
        }
        let mut answered = ApprovedGrants::default();
        if let Some(pattern) = once {
            answered.add(&FlagGrant::Host(pattern.parse().unwrap()), GrantExtent::Single, "ada");
        }
        Cleared {
            nested_runs: run.journal.nested_runs.all(),
            run,
            once: answered,
            process: 1,
            program: Vec::new(),
            syscall: "connect".into(),
        }
    }

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn a_host_is_reached_where_every_policy_grants_it_by_the_strictest_check() {
        let named = hosts(&["a.example:443", "b.example"]);
        let acl = cleared(named, vec![hosts(&["a.example"])], None, false);
        assert_eq!(acl.name(&name("a.example"), 443), Some(ProtocolCheck::Checked));
        assert_eq!(acl.name(&name("b.example"), 443), None);
        assert!(acl.knows(&name("a.example")) && !acl.knows(&name("b.example")));
        let acl = cleared(everything(), vec![everything()], None, false);
        assert_eq!(acl.name(&name("b.example"), 22), Some(ProtocolCheck::Anything));
        assert!(acl.reaches_everything());
    }

    #[test]
    fn an_answer_opens_a_host_for_the_run_and_not_what_a_nested_run_refuses() {
        let acl = cleared(hosts(&[]), Vec::new(), Some("a.example"), true);
        assert_eq!(acl.name(&name("a.example"), 443), Some(ProtocolCheck::Checked));
        assert!(acl.knows(&name("a.example")));
        let acl = cleared(hosts(&[]), vec![hosts(&[])], Some("a.example"), true);
        assert_eq!(acl.name(&name("a.example"), 443), None);
    }

    #[test]
    fn an_address_and_a_port_need_a_grant_of_every_policy() {
        let address = "192.0.2.1".parse().unwrap();
        let granting = || hosts(&["192.0.2.1:80"]);
        assert!(cleared(granting(), vec![granting()], None, false).address(address, 80));
        assert!(!cleared(granting(), vec![hosts(&[])], None, false).address(address, 80));
        assert!(!cleared(granting(), Vec::new(), None, false).address(address, 81));
        let acl = cleared(granting(), vec![everything()], None, false);
        assert!(acl.may_listen(8080) && !acl.may_listen(8081));
        assert!(!cleared(granting(), vec![policy(Vec::new())], None, false).may_listen(8080));
    }

    #[test]
    fn only_a_run_with_an_approver_is_asked_about_names_and_never_about_localhost() {
        let may = |acl: &Cleared, text: &str| acl.may_be_asked_for(&name(text));
        let acl = cleared(hosts(&[]), Vec::new(), None, true);
        assert!(may(&acl, "a.example") && !may(&acl, "localhost"));
        assert!(!may(&cleared(hosts(&[]), Vec::new(), None, false), "a.example"));
        assert!(!may(&cleared(hosts(&[]), vec![hosts(&[])], None, true), "a.example"));
        let mut files_alone = hosts(&[]);
        files_alone.asks = Asks::Files;
        assert!(!may(&cleared(files_alone, Vec::new(), None, true), "a.example"));
    }

    #[test]
    fn a_refused_host_is_recorded_with_its_caller() {
        let acl = cleared(hosts(&[]), Vec::new(), None, false);
        acl.refuse(Kind::Connect, "a.example:443", "a.example", Reason::NotGranted);
        let refusals = acl.run.journal.refusals();
        let first = &refusals.list()[0].first;
        assert_eq!(
            (first.target.as_slice(), &*first.syscall),
            (&b"a.example:443"[..], "connect")
        );
    }
}

//! The shipped profiles from the lowest up, resolved for one run: which of them would have allowed an access.
//!
//! Nothing is resolved until it is needed.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Sandbox;
use crate::command;
use crate::policy::{NetworkPolicy, Policy};
use crate::profile::{Catalog, SHIPPED};
use crate::real_path::Walker;
use crate::report::{Need, ProfileOrder};

/// Only a person may grant `trusted`.
const ONLY_A_PERSON_GIVES: &str = "trusted";

/// The shipped profiles, resolved for a run.
pub(super) struct Shipped {
    sandbox: Sandbox,
    root: PathBuf,
    command: command::ResolvedCommand,
    resolved: OnceLock<Vec<(&'static str, Policy)>>,
}

impl Shipped {
    /// For a run of this command in this root. Does little work yet.
    pub(super) fn new(sandbox: &Sandbox, root: &Path, command: &command::ResolvedCommand) -> Self {
        Shipped {
            sandbox: sandbox.clone(),
            root: root.to_path_buf(),
            command: command.clone(),
            resolved: OnceLock::new(),
        }
    }

    /// The policy of one of them here, `trusted` too; `None` for other names.
    pub(super) fn policy(&self, name: &str) -> Option<Policy> {
        let (known, _) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        self.resolve_one(&Catalog::new(None), known)
    }

    fn resolve_one(&self, catalog: &Catalog, name: &str) -> Option<Policy> {
        let mut sandbox = self.sandbox.clone();
        sandbox.profile = catalog.load(name).ok()?;
        sandbox.refuse_implicit_root(&self.root).ok()?;
        sandbox.policy(&self.root, &self.command, &mut Walker::default()).ok()
    }

    fn resolve(&self) -> Vec<(&'static str, Policy)> {
        let catalog = Catalog::new(None);
        let policies = SHIPPED
            .iter()
            .filter(|(name, _)| *name != ONLY_A_PERSON_GIVES)
            .filter_map(|(name, _)| Some((*name, self.resolve_one(&catalog, name)?)));
        policies.collect()
    }
}

impl ProfileOrder for Shipped {
    fn lowest(&self, needs: &[Need<'_>]) -> Option<&'static str> {
        let policies = self.resolved.get_or_init(|| self.resolve());
        policies
            .iter()
            .find(|(_, policy)| needs.iter().all(|need| allows(policy, need)))
            .map(|(name, _)| *name)
    }
}

/// Shipped profiles have no denials of their own, so paths that the run's denials leave open are open in each of them,
/// and only grants must be compared. Compiling the globs of all would take longer than everything else here.
fn allows(policy: &Policy, need: &Need<'_>) -> bool {
    match need {
        Need::Path(access, path) => policy
            .grants
            .iter()
            .any(|grant| grant.access.contains(*access) && grant.covers(path)),
        Need::Hosts(wanted) => match (wanted, &policy.reach) {
            (NetworkPolicy::Nothing, _) | (_, NetworkPolicy::Everything) => true,
            (NetworkPolicy::Hosts(wanted), NetworkPolicy::Hosts(open)) => wanted
                .iter()
                .all(|host| open.iter().any(|grant| grant.pattern.contains(&host.pattern))),
            (NetworkPolicy::Hosts(_) | NetworkPolicy::Everything, _) => false,
        },
        Need::Endpoint(endpoint, speech) => endpoint.is_open_in(&policy.reach, *speech),
        Need::Listen(port) => {
            policy.reach == NetworkPolicy::Everything || policy.listen.iter().any(|grant| grant.port == *port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Access, ProtocolCheck};
    use crate::profile::Name;
    use crate::report::Endpoint;

    fn ask(needs: &[Need<'_>]) -> Option<&'static str> {
        let root = Path::new("/work/project");
        let sandbox = Sandbox::profile("minimal").unwrap();
        let command = command::ResolvedCommand {
            program: "/bin/true".into(),
            argv: vec!["true".into()],
            executables: vec!["/bin/true".into()],
            starts: 1,
            installation: Vec::new(),
            entrypoints: Vec::new(),
            variables: Vec::new(),
            left_out: None,
            search_path: Vec::new(),
        };
        Shipped::new(&sandbox, root, &command).lowest(needs)
    }

    fn path(access: Access, path: &str) -> Option<&'static str> {
        ask(&[Need::Path(access, Path::new(path))])
    }

    #[test]
    fn the_lowest_profile_that_allows_is_named_and_never_trusted() {
        assert_eq!(path(Access::READ, "/usr/lib/x"), Some("minimal"));
        assert_eq!(path(Access::READ, "/work/project/data/a"), Some("readonly"));
        assert_eq!(path(Access::READ, "/work/project/a"), Some("filesystem"));
        assert_eq!(path(Access::EXECUTE, "/work/project/a"), Some("filesystem"));
        assert_eq!(path(Access::WRITE, "/tmp/a"), Some("filesystem"));
        assert_eq!(path(Access::WRITE, "/work/project/a"), Some("workspace"));
        assert_eq!(path(Access::READ, "/etc/hosts"), Some("mcp-standard"));
        assert_eq!(path(Access::WRITE, "/etc/hosts"), None);
        assert_eq!(ask(&[Need::Hosts(&NetworkPolicy::Everything)]), Some("mcp-standard"));
    }

    #[test]
    fn hosts_that_serve_an_api_are_those_of_network_api_and_all_others_of_mcp_standard() {
        let host = |name: &str, port: Option<u16>, speech: ProtocolCheck| {
            let name = Name::parse(name).unwrap();
            ask(&[Need::Endpoint(Endpoint::Name(name, port), speech)])
        };
        assert_eq!(
            host("api.example.com", Some(443), ProtocolCheck::Checked),
            Some("network-api")
        );
        assert_eq!(
            host("api.example.com", None, ProtocolCheck::Checked),
            Some("network-api")
        );
        assert_eq!(
            host("api.example.com", Some(443), ProtocolCheck::Anything),
            Some("mcp-standard")
        );
        assert_eq!(
            host("api.example.com", Some(8443), ProtocolCheck::Checked),
            Some("mcp-standard")
        );
        assert_eq!(
            host("example.com", Some(443), ProtocolCheck::Checked),
            Some("mcp-standard")
        );
        let address = |text: &str| {
            ask(&[Need::Endpoint(
                Endpoint::Address(text.parse().unwrap()),
                ProtocolCheck::Checked,
            )])
        };
        assert_eq!(address("10.0.0.5:5432"), Some("mcp-standard"));
        assert_eq!(address("169.254.169.254:80"), None);
        assert_eq!(ask(&[Need::Listen(8080)]), Some("mcp-standard"));
    }

    #[test]
    fn several_needs_are_met_by_one_profile() {
        let write = Need::Path(Access::WRITE, Path::new("/work/project/a"));
        let read = Need::Path(Access::READ, Path::new("/work/project/data/a"));
        let hosts = Need::Path(Access::READ, Path::new("/etc/hosts"));
        assert_eq!(ask(&[write.clone(), read]), Some("workspace"));
        assert_eq!(ask(&[write, hosts]), None);
    }

    #[test]
    fn shipped_profiles_deny_nothing_of_their_own_and_grant_no_socket() {
        let catalog = Catalog::new(None);
        for (name, _) in SHIPPED {
            let profile = catalog.load(name).unwrap();
            assert!(profile.deny.is_empty() && profile.sockets.is_empty(), "{name}");
        }
    }
}

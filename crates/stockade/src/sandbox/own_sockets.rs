//! Stockade's own sockets: no run can connect to one, granted or not, or it could make requests in another's name.

use std::path::{Path, PathBuf};

use super::Error;
use crate::policy::{DenialRule, Policy, Target};
use crate::profile::Origin;
use crate::real_path::real_path;

/// Refuses a flag that names one. A profile or an earlier answer opens none, whatever it names.
pub(super) fn close(policy: &mut Policy, own: &[PathBuf]) -> Result<(), Error> {
    if policy.sockets.is_empty() {
        return Ok(());
    }
    let owner = |path: &Path| {
        let mut owners = own.iter();
        owners.find(|own| path.starts_with(own) || path.starts_with(real_path(own)))
    };
    for grant in &policy.sockets {
        let (Origin::Flag(flag), Some(directory)) = (&grant.origin, owner(&grant.path)) else {
            continue;
        };
        let closes = |denial: &&DenialRule| denial.target == Target::Path(directory.clone());
        if let Some(denial) = policy.denials.iter().find(closes) {
            return Err(Error::VoidGrant {
                flag: flag.clone(),
                denial: Box::new(denial.clone()),
            });
        }
    }
    policy.sockets.retain(|grant| owner(&grant.path).is_none());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sandbox;

    /// The policy of a run with this flag, as this module leaves it, in a home of the test's own.
    fn closed(place: &Path, sockets: &[(&str, Origin)]) -> Result<Vec<PathBuf>, String> {
        use crate::policy::SocketGrant;
        let root = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::profile("minimal").unwrap().root(root.path());
        let mut policy = sandbox.command("true").prepare().unwrap().policy;
        policy.denials = vec![DenialRule {
            target: Target::Path(place.join("state")),
            access: crate::policy::Access::READ,
            kind: crate::policy::DenialKind::SecretName,
            origin: Origin::BuiltIn,
        }];
        policy.sockets = sockets
            .iter()
            .map(|(name, origin)| SocketGrant {
                path: place.join(name),
                origin: origin.clone(),
            })
            .collect();
        let result = close(&mut policy, &[place.join("state")]);
        let paths = policy.sockets.into_iter().map(|grant| grant.path);
        result.map(|()| paths.collect()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_flag_that_names_one_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let flag = Origin::Flag("--socket x".into());
        for name in ["state/approvals/1-a.sock", "state/approvals", "state"] {
            let error = closed(place.path(), &[(name, flag.clone())]).unwrap_err();
            assert!(error.starts_with("`--socket x` grants nothing: "), "{error}");
        }
        let beside = closed(place.path(), &[("stated/a.sock", flag)]).unwrap();
        assert_eq!(beside, [place.path().join("stated/a.sock")]);
    }

    #[test]
    fn the_same_directory_behind_a_link_is_found() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", place.path().join("state")).unwrap();
        let flag = Origin::Flag("--socket x".into());
        assert!(closed(place.path(), &[("elsewhere/approvals/1-a.sock", flag)]).is_err());
    }

    #[test]
    fn an_answer_or_a_profile_opens_none() {
        let place = tempfile::tempdir().unwrap();
        let sockets = [
            ("state/approvals/1-a.sock", Origin::Approval("ada".into())),
            ("state/approvals/1-a.sock", Origin::BuiltIn),
            ("other.sock", Origin::Approval("ada".into())),
        ];
        assert_eq!(
            closed(place.path(), &sockets).unwrap(),
            [place.path().join("other.sock")]
        );
    }
}

//! Grants of a profile that open nothing, since secrets or guarded files are closed in every profile.

use std::path::Path;

use stockade::Sandbox;
use stockade_policy::policy::{Access, Grant, Matcher, Policy};
use stockade_policy::profile::{Origin, Remark, with_origin};
use stockade_report::report::{Reason, RefusingRule};

use crate::message::Failure;

/// One remark for each such grant, of a run with this root.
pub fn remarks(name: &str, root: &Path) -> Result<Vec<Remark>, Failure> {
    let policy = Sandbox::profile(name)?.root(root).policy_of_any_command()?;
    let matcher = Matcher::new(&policy);
    Ok(policy
        .grants
        .iter()
        .filter_map(|grant| remark(&policy, &matcher, grant))
        .collect())
}

fn remark(policy: &Policy, matcher: &Matcher<'_>, grant: &Grant) -> Option<Remark> {
    let access = match grant.access.contains(Access::WRITE) {
        true => Access::WRITE,
        false => Access::READ,
    };
    let is_of_profile = matches!(grant.origin, Origin::Shipped { .. } | Origin::File { .. });
    let closed = matcher
        .denial(access, &grant.path, false)
        .filter(|_| is_of_profile && !policy.opens_guarded(&grant.path))?;
    let rule = RefusingRule::of(&Reason::Denied(Box::new(closed.clone())))?;
    Some(Remark {
        origin: grant.origin.clone(),
        message: format!(
            "`{}` opens nothing: {} closes it",
            grant.path.display(),
            with_origin(&rule.text, &rule.origin)
        ),
        hint: "drop this line: `stockade profile secrets` shows what no profile opens".to_owned(),
    })
}

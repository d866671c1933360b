//! The Landlock domain of the supervisor's workers: the widest set that the policy could ever grant.
//!
//! A bug in the supervisor then opens no more than the policy names, and the directory above a written tree in the root.
//! The run's own domain is nested inside, since Landlock lets a confined thread read the memory only of processes in its own domain or a nested one.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use landlock::{ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};

use super::LaunchError;
use super::prepare::descriptor;
use crate::plan::{Links, Plan};
use crate::ruleset::{allow, pin};

/// The ruleset with the rights that workers need beyond the run's own rules, which are added to both.
pub fn create(plan: &Plan) -> Result<OwnedFd, LaunchError> {
    let abi = ABI::from(plan.handled.abi);
    // The policy judges connections, not the file system.
    let files = AccessFs::from_all(abi) & !BitFlags::from(AccessFs::ResolveUnix);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(files)?;
    // An owner set on a terminal on behalf of the run can't make the terminal signal a process outside.
    let ruleset = match plan.handled.scopes {
        true => ruleset.scope(Scope::Signal)?,
        false => ruleset,
    };
    let ruleset = descriptor(ruleset.create()?)?;
    for rule in &plan.workers_rules {
        let failed = |error| LaunchError::Open(rule.path.clone(), error);
        let Some(mut file) = nearest(&rule.path, rule.links).map_err(failed)? else {
            continue;
        };
        // Only once the path itself was found to be no link.
        if let Some(above) = rule.path.parent().filter(|_| rule.is_for_above) {
            file = nearest(above, rule.links).map_err(failed)?.unwrap_or(file);
        }
        allow(ruleset.as_fd(), &file, rule.rights & files.bits(), plan.handled).map_err(failed)?;
    }
    Ok(ruleset)
}

/// The directory in which a path is created, replaced or found, or the path itself if it is one. A device is never replaced.
fn nearest(path: &Path, links: Links) -> io::Result<Option<File>> {
    use std::os::unix::fs::FileTypeExt;
    let is_device = |file: &File| {
        file.metadata()
            .is_ok_and(|metadata| metadata.file_type().is_char_device() || metadata.file_type().is_block_device())
    };
    let fits = |file: &File| file.metadata().is_ok_and(|metadata| metadata.is_dir()) || is_device(file);
    for path in path.ancestors() {
        match pin(path, links) {
            Ok(file) if fits(&file) => return Ok(Some(file)),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
                return if links == Links::Refused { Err(error) } else { Ok(None) };
            }
            _ => {}
        }
    }
    Ok(None)
}

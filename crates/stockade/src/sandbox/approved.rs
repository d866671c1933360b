//! Grants for always from earlier answers.

use std::ffi::OsString;
use std::path::Path;

use super::Sandbox;
use crate::policy::{Access, GrantExtent, HostGrant, ListenGrant};
use crate::profile::{Catalog, HostPattern, Network, Origin};
use crate::real_path::real_path;

impl Sandbox {
    /// Repeats a grant for always: the words of one flag, and the approver. `None` if it can't be: the words are
    /// invalid, or lead elsewhere by now, since an earlier run may have replaced a name by a link.
    #[must_use]
    pub fn approved(mut self, words: &[OsString], by: &str) -> Option<Self> {
        let [flag, value] = words else {
            return None;
        };
        let origin = Origin::Approval(by.to_string());
        let path = Path::new(value);
        let is_itself = || path.is_absolute() && real_path(path) == path;
        let access = match flag.to_str()? {
            "--read" => Access::READ,
            "--write" => Access::WRITING,
            "--exec" => Access::READ | Access::EXECUTE,
            "--socket" if is_itself() => {
                self.additions.approved_sockets.push((path.to_path_buf(), origin));
                return Some(self);
            }
            "--host" => {
                let pattern = HostPattern::parse(value.to_str()?).ok()?;
                self.additions.hosts.push(HostGrant { pattern, origin });
                return Some(self);
            }
            "--listen" => {
                let port = value.to_str()?.parse().ok()?;
                self.additions.listen.push(ListenGrant { port, origin });
                return Some(self);
            }
            "--profile" => return self.with_shipped(value.to_str()?),
            _ => return None,
        };
        if !is_itself() {
            return None;
        }
        // For a path that is, or was, a file, a directory in its place isn't opened as a tree.
        let extent = if path.is_dir() {
            GrantExtent::Subtree
        } else {
            GrantExtent::Single
        };
        self.additions
            .approved
            .push((access, path.to_path_buf(), extent, origin));
        Some(self)
    }

    /// Adds a profile's grants to the run's own, as when the answer was given. Denials and limits stay the run's own.
    fn with_shipped(mut self, name: &str) -> Option<Self> {
        let shipped = Catalog::new(None).load(name).ok();
        let shipped = shipped.filter(|profile| profile.name == name)?;
        let own = &mut self.profile;
        own.read.extend(shipped.read);
        own.write.extend(shipped.write);
        own.exec.extend(shipped.exec);
        own.sockets.extend(shipped.sockets);
        own.listen.extend(shipped.listen);
        match (&mut own.network, shipped.network) {
            (Network::All(_), _) | (_, Network::None) => {}
            (Network::Hosts(own), Network::Hosts(hosts)) => own.extend(hosts),
            (own, wider) => *own = wider,
        }
        Some(self)
    }
}

//! Runs that are observed to learn from them: hosts by name, and the accesses allowed without any grant.

use std::path::{Path, PathBuf};

use super::lowest::Shipped;
use super::{Ready, Sandbox};
use crate::policy::Policy;
use crate::profile::{HostPattern, Network, Origin, Rule};

/// Every host that a ceiling of all hosts allows, written so that names are visible: by name, and as addresses.
const EVERY_HOST: [&str; 3] = ["*:*", "0.0.0.0/0:*", "[::]/0:*"];

impl Sandbox {
    /// Reaches every host by the run's own resolver and relay if the profile reaches every host, so that an observer
    /// sees names. The run may then listen on every port, on loopback alone.
    #[must_use]
    pub fn telling_hosts(mut self) -> Self {
        if !matches!(self.profile.network, Network::All(_)) {
            return self;
        }
        let hosts = EVERY_HOST.iter().filter_map(|text| HostPattern::parse(text).ok());
        self.profile.network = Network::Hosts(hosts.map(rule).collect());
        self.profile.listen = (0..=u16::MAX).map(rule).collect();
        self
    }

    /// The caller's home directory, if there is one.
    pub fn home(&self) -> Option<&Path> {
        self.surroundings.home.as_deref()
    }

    /// Stockade's own directories. Of these a run can access its scratch directory only.
    ///
    /// # Errors
    /// The configuration can't be read.
    pub fn own_directories(&self) -> Result<Vec<PathBuf>, super::Error> {
        self.surroundings.own().map_err(super::Error::Surroundings)
    }
}

fn rule<T>(value: T) -> Rule<T> {
    Rule {
        value,
        why: None,
        origin: Origin::BuiltIn,
    }
}

impl Ready {
    /// The command's policy without any grant: that of `minimal`.
    pub fn ungranted(&self) -> Option<Policy> {
        Shipped::new(&self.sandbox, &self.policy.root, &self.command).policy("minimal")
    }

    /// The scripts that the command's interpreters are to run, and the program itself.
    pub fn scripts(&self) -> impl Iterator<Item = &Path> {
        let found = self.command.entrypoints.iter().chain(&self.command.executables);
        found.map(PathBuf::as_path)
    }
}

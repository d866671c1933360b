//! The machine's resolver files, read again when they change: when a laptop joins another network or a VPN comes up, a
//! long run must not be left with unreachable nameservers.

use std::fs::{self, Metadata};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::machine::Machine;
use crate::mutex::lock;

/// The source of the machine's resolver configuration.
#[derive(Debug)]
pub struct NameSource {
    resolv_conf: PathBuf,
    hosts: PathBuf,
    /// Replaces the nameservers of resolv.conf.
    nameserver: Option<SocketAddr>,
    held: Mutex<CachedSource>,
}

#[derive(Debug)]
struct CachedSource {
    stamps: [SourceStamp; 2],
    machine: Arc<Machine>,
}

/// Detects a change: modification time, length, inode. `None`: there is no such file.
type SourceStamp = Option<(SystemTime, u64, u64)>;

impl NameSource {
    /// The machine's own files; `nameserver`, if given, replaces those that they name.
    pub fn new(nameserver: Option<SocketAddr>) -> NameSource {
        NameSource::at(Path::new("/etc/resolv.conf"), Path::new("/etc/hosts"), nameserver)
    }

    pub(super) fn at(resolv_conf: &Path, hosts: &Path, nameserver: Option<SocketAddr>) -> NameSource {
        let held = CachedSource::read(resolv_conf, hosts, nameserver);
        NameSource {
            resolv_conf: resolv_conf.to_path_buf(),
            hosts: hosts.to_path_buf(),
            nameserver,
            held: Mutex::new(held),
        }
    }

    /// The files' current content. The same `Arc` for as long as they don't change.
    pub fn current(&self) -> Arc<Machine> {
        let mut held = lock(&self.held);
        if held.stamps != [stamp(&self.resolv_conf), stamp(&self.hosts)] {
            *held = CachedSource::read(&self.resolv_conf, &self.hosts, self.nameserver);
        }
        held.machine.clone()
    }

    /// The files' content as of the last read by a thread that may read them. Opens nothing.
    pub fn known(&self) -> Arc<Machine> {
        let held = lock(&self.held);
        held.machine.clone()
    }

    /// A configuration without files.
    #[cfg(test)]
    pub(super) fn unchanging(machine: Machine) -> NameSource {
        let source = NameSource::at(Path::new(""), Path::new(""), None);
        source.held.lock().unwrap().machine = Arc::new(machine);
        source
    }
}

impl CachedSource {
    /// The stamps are taken first: a file that changes in between is then read again, not missed.
    fn read(resolv_conf: &Path, hosts: &Path, nameserver: Option<SocketAddr>) -> CachedSource {
        let stamps = [stamp(resolv_conf), stamp(hosts)];
        let mut machine = Machine::parse(&text(resolv_conf), &text(hosts));
        if let Some(nameserver) = nameserver {
            machine = machine.asking(nameserver);
        }
        CachedSource {
            stamps,
            machine: Arc::new(machine),
        }
    }
}

fn stamp(file: &Path) -> SourceStamp {
    let of = |metadata: Metadata| Some((metadata.modified().ok()?, metadata.len(), metadata.ino()));
    fs::metadata(file).ok().and_then(of)
}

/// A missing file counts as empty, as in every resolver.
fn text(file: &Path) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Name;

    #[test]
    fn files_are_read_again_only_when_they_changed() {
        let dir = tempfile::tempdir().unwrap();
        let (resolv_conf, hosts) = (dir.path().join("resolv.conf"), dir.path().join("hosts"));
        let source = NameSource::at(&resolv_conf, &hosts, None);
        let missing = source.current();
        assert_eq!(missing.nameservers, ["127.0.0.1:53".parse().unwrap()]);

        fs::write(&resolv_conf, "nameserver 10.0.0.1").unwrap();
        let first = source.current();
        assert_eq!(first.nameservers, ["10.0.0.1:53".parse().unwrap()]);
        assert!(Arc::ptr_eq(&first, &source.current()));

        fs::write(&hosts, "10.0.0.5 db").unwrap();
        let second = source.current();
        assert!(second.listed(&Name::parse("db").unwrap()).is_some());

        fs::remove_file(&resolv_conf).unwrap();
        assert_eq!(source.current().nameservers, missing.nameservers);
    }

    #[test]
    fn a_file_replaced_by_one_of_the_same_size_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (resolv_conf, next) = (dir.path().join("resolv.conf"), dir.path().join("next"));
        fs::write(&resolv_conf, "nameserver 10.0.0.1").unwrap();
        let source = NameSource::at(&resolv_conf, Path::new(""), None);
        fs::write(&next, "nameserver 10.0.0.2").unwrap();
        fs::rename(&next, &resolv_conf).unwrap();
        assert_eq!(source.current().nameservers, ["10.0.0.2:53".parse().unwrap()]);
    }

    #[test]
    fn a_given_nameserver_is_asked_alone_but_hosts_still_count() {
        let dir = tempfile::tempdir().unwrap();
        let (resolv_conf, hosts) = (dir.path().join("resolv.conf"), dir.path().join("hosts"));
        fs::write(&resolv_conf, "nameserver 10.0.0.1\nsearch corp.example").unwrap();
        fs::write(&hosts, "10.0.0.5 db").unwrap();
        let nameserver = "127.0.0.1:5353".parse().unwrap();
        let machine = NameSource::at(&resolv_conf, &hosts, Some(nameserver)).current();
        assert_eq!(machine.nameservers, [nameserver]);
        assert_eq!(machine.search, ["corp.example"]);
        assert!(machine.listed(&Name::parse("db").unwrap()).is_some());
    }
}

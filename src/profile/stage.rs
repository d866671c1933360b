//! The environment of a profile's tests: a root and a home made for one test, with the files that it needs.
//!
//! The user's files are never changed. In a root that the user names nothing is created; outside the created directories only
//! an unused name in `/tmp` and the like, which is removed again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use stockade::internal::Surroundings;
use stockade_policy::profile::{Anchor, Attempt, Deed, Host, PathSpec, Profile};

/// A file that can be read, written, removed, and started.
const PROGRAM: &[u8] = b"#!/bin/sh\n";

/// Directories in which every user creates files.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Programs that do nothing without arguments, and so can be started for a test.
const HARMLESS: [&str; 4] = ["/bin/true", "/usr/bin/true", "/bin/env", "/usr/bin/env"];

/// The environment of one test.
pub struct World {
    /// The directory of `./`: canonical.
    pub root: PathBuf,
    /// The caller's environment for the run.
    pub surroundings: Surroundings,
    /// Removed with everything in it when the test is over; `None` where the user named the root.
    made: Option<TempDir>,
}

/// The prepared target of one attempt; dropping it cleans up.
pub struct Ready {
    /// The probe's target: an absolute path, an address, a name.
    pub target: std::ffi::OsString,
    /// The value of a variable.
    pub value: String,
    _listener: Option<TcpListener>,
    _socket: Option<UnixListener>,
    _litter: Option<Litter>,
}

/// A file that a test creates outside its directories. Dropping it removes that very file; a file that somebody else put in
/// its place stays.
struct Litter {
    path: PathBuf,
    since: SystemTime,
}

impl Litter {
    fn is_ours(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| {
            let is_new = found.modified().is_ok_and(|time| time >= self.since);
            let is_plain = found.is_file() && found.nlink() == 1 && found.len() <= PROGRAM.len() as u64;
            is_new && is_plain && found.uid() == nix::unistd::geteuid().as_raw()
        })
    }
}

impl Drop for Litter {
    fn drop(&mut self) {
        if self.is_ours() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The reason that an attempt isn't made, so that the policy's decision must do.
pub struct NotMade(pub &'static str);

impl World {
    /// Creates a root and a home, in a place that no grant of the profile names.
    pub fn make(profile: &Profile, caller: &Surroundings) -> io::Result<World> {
        let made = tempfile::Builder::new()
            .prefix("stockade-profile-")
            .tempdir_in(place(profile, caller))?;
        let path = fs::canonicalize(made.path())?;
        let (root, home) = (path.join("root"), path.join("home"));
        fs::create_dir(&root)?;
        fs::create_dir(&home)?;
        let surroundings = Surroundings {
            directory: root.clone(),
            configuration: Some(home.join(".config/stockade")),
            state: Some(home.join(".local/state/stockade")),
            scratch: caller.scratch.clone(),
            environment: caller.environment.clone(),
            named_home: Some(home.clone()),
            home: Some(home),
            users: caller.users.clone(),
        };
        Ok(World {
            root,
            surroundings,
            made: Some(made),
        })
    }

    /// Uses the user's own root and home, in which nothing is created.
    pub fn given(root: &Path, caller: &Surroundings) -> World {
        World {
            root: root.to_path_buf(),
            surroundings: caller.clone(),
            made: None,
        }
    }

    /// Resolves a path of a profile.
    pub fn path(&self, spec: &PathSpec) -> PathBuf {
        let home = self.surroundings.home.as_deref();
        spec.resolve(&self.root, home.unwrap_or(Path::new("/nonexistent")))
    }

    /// Creates the files that the attempt needs to succeed unconfined.
    pub fn prepare(&mut self, attempt: &Attempt) -> Result<Ready, NotMade> {
        match attempt {
            Attempt::Path(deed, spec) => self.prepare_path(*deed, spec),
            Attempt::Connect(host, port) => prepare_connection(host, *port),
            Attempt::Listen(port) => Ok(Ready::of(loopback(*port).to_string())),
            Attempt::Variable(name) => Ok(self.prepare_variable(name)),
        }
    }

    fn prepare_path(&self, deed: Deed, spec: &PathSpec) -> Result<Ready, NotMade> {
        let path = self.path(spec);
        let is_made = self.made.is_some() && spec.anchor != Anchor::Absolute;
        if deed == Deed::Read && !is_made || path.is_dir() {
            return is_readable(deed, &path).map(|()| Ready::of(path));
        }
        if self.made.is_none() {
            return Err(NotMade("in a root that is named only reading is tried"));
        }
        if deed == Deed::Execute && HARMLESS.iter().any(|program| path == Path::new(program)) {
            return Ok(Ready::of(path));
        }
        let is_shared = SHARED
            .iter()
            .any(|directory| path.parent() == Some(Path::new(directory)));
        if !is_made && (!is_shared || deed == Deed::Socket) {
            return Err(NotMade("it lies outside what is made for the test"));
        }
        // The kernel's clock for files is up to a tick behind.
        let since = SystemTime::now() - Duration::from_millis(50);
        let ready = put(deed, &path).map_err(|_| NotMade("it is there already, or can't be made here"))?;
        Ok(Ready {
            _litter: (!is_made).then(|| Litter { path, since }),
            ..ready
        })
    }

    /// Sets the variable for the caller, with a value that nothing else gives it.
    fn prepare_variable(&mut self, name: &str) -> Ready {
        let value = match name {
            // What of it can't be started is left away.
            "PATH" => "/usr/bin:/bin".to_string(),
            _ => format!("stockade-{}", std::process::id()),
        };
        let environment = &mut self.surroundings.environment;
        environment.retain(|(other, _)| other != name);
        environment.push((name.into(), value.clone().into()));
        Ready {
            value,
            ..Ready::of(name)
        }
    }
}

impl Ready {
    fn of(target: impl Into<std::ffi::OsString>) -> Ready {
        Ready {
            target: target.into(),
            value: String::new(),
            _listener: None,
            _socket: None,
            _litter: None,
        }
    }
}

/// Reading a file or a directory changes nothing; opening a FIFO or a device might.
fn is_readable(deed: Deed, path: &Path) -> Result<(), NotMade> {
    let metadata = fs::metadata(path).map_err(|_| NotMade("nothing is there"))?;
    if deed == Deed::Read && (metadata.is_file() || metadata.is_dir()) {
        Ok(())
    } else {
        Err(NotMade("it is no file"))
    }
}

/// Creates the target of an attempt and the directories above it. Existing files aren't touched.
fn put(deed: Deed, path: &Path) -> io::Result<Ready> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent)?;
    let mut ready = Ready::of(path);
    match deed {
        Deed::Create if fs::symlink_metadata(path).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
        Deed::Create => {}
        Deed::Socket => ready._socket = Some(UnixListener::bind(path)?),
        Deed::Read | Deed::Write | Deed::Delete | Deed::Execute => {
            let mut file: File = OpenOptions::new().write(true).create_new(true).mode(0o755).open(path)?;
            file.write_all(PROGRAM)?;
        }
    }
    Ok(ready)
}

/// Prepares a connection to a listener made for the test; no other is connected to.
fn prepare_connection(host: &Host, port: u16) -> Result<Ready, NotMade> {
    let address = match host {
        Host::Localhost => IpAddr::from(Ipv4Addr::LOCALHOST),
        Host::Network(network) if network.addr().is_loopback() => network.addr(),
        _ => return Err(NotMade("it is no address of this machine's own")),
    };
    let address = SocketAddr::new(address, port);
    let listener = TcpListener::bind(address).map_err(|_| NotMade("the port is taken, or not for this user"))?;
    Ok(Ready {
        _listener: Some(listener),
        ..Ready::of(address.to_string())
    })
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port)
}

/// The first directory that can hold a new one and that no rule of the profile covers, except one on `/`.
fn place(profile: &Profile, caller: &Surroundings) -> PathBuf {
    let rules = profile.read.iter().chain(&profile.write).chain(&profile.exec);
    let granted: Vec<PathBuf> = rules
        .filter(|rule| rule.value.anchor == Anchor::Absolute && rule.value.rest != Path::new(""))
        .map(|rule| Path::new("/").join(&rule.value.rest))
        .collect();
    let mut places = ["/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec();
    places.extend(caller.home.clone());
    let is_fit = |place: &&PathBuf| {
        let real = fs::canonicalize(place).unwrap_or_default();
        let is_writable = nix::unistd::access(*place, nix::unistd::AccessFlags::W_OK).is_ok();
        is_writable && !granted.iter().any(|granted| real.starts_with(granted))
    };
    let fit = places.iter().find(is_fit).cloned();
    fit.unwrap_or_else(std::env::temp_dir)
}

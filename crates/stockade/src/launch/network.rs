//! The relay of a run with named hosts, opened before the fork and started in its own Landlock domain.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use landlock::AccessFs;

use super::LaunchError;
use super::prepare::create;
use crate::fault;
use crate::network::{self, NameSource, Relay, RunNetwork};
use crate::plan::{Handled, Plan};
use crate::report::FaultyPart;
use crate::ruleset::allow;
use stockade_sys::{confine, file};

/// The stack size of the relay's thread, which makes no deep calls.
const STACK: usize = 512 * 1024;

/// A relay that waits to be started.
pub struct Exchange {
    relay: Relay,
    ruleset: OwnedFd,
    /// The state shared with the supervisor.
    pub network: Arc<RunNetwork>,
    /// The control socket on which workers announce pending connections.
    pub control: OwnedFd,
}

impl Exchange {
    /// Opens the relay's listeners. `resolver` replaces the machine's DNS server.
    pub fn open(plan: &Plan, resolver: Option<SocketAddr>) -> Result<Exchange, LaunchError> {
        let ruleset = ruleset(plan)?;
        let (relay, listeners, control) = Relay::open().map_err(|e| LaunchError::System("open the relay", e))?;
        let network = Arc::new(RunNetwork::new(NameSource::new(resolver), listeners));
        Ok(Exchange {
            relay,
            ruleset,
            network,
            control,
        })
    }

    /// Starts it. All signals are blocked in the calling thread.
    pub fn start(self, holds_capabilities: bool) -> io::Result<RunningRelay> {
        let Exchange {
            relay,
            ruleset,
            network,
            control,
        } = self;
        let of_relay = Arc::clone(&network);
        // The thread copies the descriptors into a table of its own; these are closed here.
        let listeners = Arc::new((relay, ruleset));
        let of_thread = Arc::clone(&listeners);
        let (sender, receiver) = sync_channel(1);
        let (has_ended, ended) = sync_channel(1);
        thread::Builder::new()
            .name("stockade-relay".into())
            .stack_size(STACK)
            .spawn(move || {
                let confined = confine_relay(&of_thread.0, &of_thread.1, holds_capabilities);
                drop(of_thread);
                let (relay, said) = match confined {
                    Ok(relay) => (Some(relay), Ok(())),
                    Err(error) => (None, Err(error)),
                };
                let _ = sender.send(said);
                if let Some(relay) = relay {
                    // A run that loses its relay loses its hosts.
                    let served = fault::contain(|| relay.serve(&of_relay));
                    if let Err(fault) = served {
                        of_relay.faults.note(FaultyPart::Relay, &fault);
                    }
                }
                drop(has_ended);
            })?;
        let confined = receiver.recv();
        confined.unwrap_or_else(|_| Err(io::Error::other("the relay ended at once")))?;
        Ok(RunningRelay {
            network,
            shutdown: ShutdownHandle {
                control: control.try_clone()?,
                ended,
            },
            control,
        })
    }
}

/// A relay that runs.
pub struct RunningRelay {
    /// The state shared with the supervisor.
    pub network: Arc<RunNetwork>,
    /// The control socket on which workers announce pending connections.
    pub control: OwnedFd,
    /// Ends the relay with the run.
    pub shutdown: ShutdownHandle,
}

/// The launcher's handle to shut the relay down.
pub struct ShutdownHandle {
    control: OwnedFd,
    ended: Receiver<()>,
}

impl ShutdownHandle {
    /// Waits until the run's last data is sent. The relay gives up by itself.
    pub fn wait(&self) {
        const PATIENCE: Duration = Duration::from_secs(3);
        if network::announce_end(self.control.as_fd()).is_ok() {
            let _ = self.ended.recv_timeout(PATIENCE);
        }
    }
}

/// Confines the relay, since it talks to strangers: no Linux capabilities, none of the launcher's descriptors, no files
/// but those for name lookup.
fn confine_relay(relay: &Relay, ruleset: &OwnedFd, holds_capabilities: bool) -> io::Result<Relay> {
    confine::no_new_privs()?;
    confine::drop_capabilities(holds_capabilities)?;
    confine::landlock_restrict_self(ruleset.as_raw_fd())?;
    let is_own = file::stop_sharing_if_allowed()?;
    let relay = relay.try_clone()?;
    if is_own {
        file::close_all_but(&mut relay.numbers())?;
    }
    Ok(relay)
}

/// `/etc`, and the target of the link `/etc/resolv.conf`.
fn ruleset(plan: &Plan) -> Result<OwnedFd, LaunchError> {
    let files_alone = Handled {
        tcp: false,
        scopes: false,
        ..plan.handled
    };
    let ruleset = create(files_alone)?;
    let real = fs::canonicalize("/etc/resolv.conf").ok();
    let beside = real.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    for path in [PathBuf::from("/etc")].into_iter().chain(beside) {
        let opened = File::options().read(true).custom_flags(libc::O_PATH).open(&path);
        // A missing file can't be read.
        if let Ok(opened) = opened {
            let rights = AccessFs::ReadFile as u64;
            let allowed = allow(ruleset.as_fd(), &opened, rights, plan.handled);
            allowed.map_err(|error| LaunchError::Open(path.clone(), error))?;
        }
    }
    Ok(ruleset)
}

//! The relay against servers on loopback, without a sandbox: the test plays the supervisor.

mod announced;
mod bytes;
mod checks;
mod dialling;
mod lifetime;
mod nameserver;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Destination, NameSource, NetworkAcl, PendingConnection, Purpose, Relay, RunNetwork};
use crate::policy::ProtocolCheck;
use crate::profile::Name;
use crate::report::{Kind, Reason};
use stockade_sys::{file, socket};

/// Longer than anything here takes: a test that waits this long has failed.
const LONG: Duration = Duration::from_secs(20);

/// The names that every pending connection may reach, on every port.
const GRANTED: [&str; 2] = ["api.test", "cdn.test"];

/// A running relay, with descriptors of its own as in a run.
struct Running {
    network: Arc<RunNetwork>,
    control: Option<OwnedFd>,
    thread: Option<JoinHandle<io::Result<()>>>,
    task: i32,
    refusals: Arc<Mutex<Vec<Refused>>>,
    addresses: Vec<IpAddr>,
}

/// One refusal: kind, target, the name asked for, reason.
type Refused = (Kind, String, String, Reason);

impl Running {
    fn new() -> Running {
        Running::asking(None, &[])
    }

    /// Uses this nameserver; these addresses are granted as such.
    fn asking(nameserver: Option<SocketAddr>, addresses: &[IpAddr]) -> Running {
        let (relay, listeners, control) = Relay::open().unwrap();
        let network = Arc::new(RunNetwork::new(NameSource::new(nameserver), listeners));
        let (relay, of_thread) = {
            let relay = Arc::new(relay);
            (Arc::clone(&relay), relay)
        };
        let (sender, receiver) = mpsc::channel();
        let served = Arc::clone(&network);
        let thread = thread::spawn(move || {
            file::stop_sharing().unwrap();
            let own = of_thread.try_clone().unwrap();
            drop(of_thread);
            file::close_all_but(&mut own.numbers()).unwrap();
            sender.send(nix::unistd::gettid().as_raw()).unwrap();
            own.serve(&served)
        });
        let task = receiver.recv().unwrap();
        drop(relay);
        eventually("the relay has all that it serves with", || has_begun(task));
        Running {
            network,
            control: Some(control),
            thread: Some(thread),
            task,
            refusals: Arc::default(),
            addresses: addresses.to_vec(),
        }
    }

    fn acl(&self) -> Box<dyn NetworkAcl> {
        Box::new(Cleared {
            addresses: self.addresses.clone(),
            refusals: Arc::clone(&self.refusals),
        })
    }

    /// Announces a connection from this address.
    fn announce(&self, from: SocketAddr, purpose: Purpose, host: Option<TcpStream>) {
        let pending = PendingConnection {
            purpose,
            acl: self.acl(),
            has_host: host.is_some(),
            number: 0,
        };
        let control = self.control.as_ref().unwrap().as_fd();
        self.network.expect(control, from, pending, host).unwrap();
    }

    /// Connects to the relay and announces the connection.
    fn connect(&self, purpose: Purpose, host: Option<TcpStream>) -> TcpStream {
        let client = patient(TcpStream::connect(self.network.listeners.v4).unwrap());
        self.announce(client.local_addr().unwrap(), purpose, host);
        client
    }

    /// A client and the server that it is connected to, on a port without protocol checks.
    fn joined(&self) -> (TcpStream, TcpStream) {
        self.joined_on(5000, ProtocolCheck::Anything)
    }

    fn joined_on(&self, port: u16, check: ProtocolCheck) -> (TcpStream, TcpStream) {
        let (host, server) = pair();
        (self.connect(to("api.test", port, check), Some(host)), server)
    }

    /// The number of the relay's open descriptors.
    fn descriptors(&self) -> usize {
        fs::read_dir(format!("/proc/self/task/{}/fd", self.task))
            .unwrap()
            .count()
    }

    /// The number of wake-ups of the relay's thread so far.
    fn wakes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/self/task/{}/status", self.task)).unwrap();
        let count = |field: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
            line.trim().parse().unwrap()
        };
        count("voluntary_ctxt_switches:") + count("nonvoluntary_ctxt_switches:")
    }

    /// The refusals, once there are some.
    fn refusals(&self) -> Vec<Refused> {
        eventually("a refusal", || !self.refusals.lock().unwrap().is_empty());
        self.refusals.lock().unwrap().clone()
    }

    fn ring_off(&mut self) -> JoinHandle<io::Result<()>> {
        self.control = None;
        self.thread.take().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control = None;
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            if !thread::panicking() {
                result.unwrap().unwrap();
            }
        }
    }
}

/// The relay's own eventfd is the last descriptor that it opens before it serves.
fn has_begun(task: i32) -> bool {
    let descriptors = fs::read_dir(format!("/proc/self/task/{task}/fd")).unwrap();
    descriptors
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| target.as_os_str() == "anon_inode:[eventfd]")
}

struct Cleared {
    addresses: Vec<IpAddr>,
    refusals: Arc<Mutex<Vec<Refused>>>,
}

impl NetworkAcl for Cleared {
    fn knows(&self, name: &Name) -> bool {
        GRANTED.contains(&name.as_str())
    }

    fn name(&self, name: &Name, _port: u16) -> Option<ProtocolCheck> {
        self.knows(name).then_some(ProtocolCheck::Checked)
    }

    fn address(&self, address: IpAddr, _port: u16) -> bool {
        self.addresses.contains(&address)
    }

    fn refuse(&self, kind: Kind, target: &str, asked: &str, reason: Reason) {
        let refused = (kind, target.to_string(), asked.to_string(), reason);
        self.refusals.lock().unwrap().push(refused);
    }
}

fn to(name: &str, port: u16, check: ProtocolCheck) -> Purpose {
    let name = Name::parse(name).unwrap();
    Purpose::Host(Destination { name, port, check })
}

/// Both ends of one connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (far, _) = listener.accept().unwrap();
    (near, patient(far))
}

/// Sets timeouts, so that a hanging test fails.
fn patient(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_write_timeout(Some(LONG)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "still not: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads to the end.
fn rest(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Reads exactly `count` bytes.
fn next(mut stream: &TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// Sends text and checks that it arrives and nothing else.
fn check_way(mut from: &TcpStream, to: &TcpStream, text: &[u8]) {
    from.write_all(text).unwrap();
    assert_eq!(next(to, text.len()), text);
}

/// Checks that a read fails with a reset; returns the bytes before it.
fn until_reset(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ECONNRESET), "{error}");
    bytes
}

fn reset(stream: TcpStream) {
    socket::reset_on_close(stream.as_fd()).unwrap();
}

//! Somebody whom a run must not reach: counts who came, by stream and by datagram.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::address;
use crate::common::until;

/// Listens until the test program ends.
pub struct Witness {
    pub address: SocketAddr,
    datagrams: SocketAddr,
    contacts: Arc<Mutex<Vec<SocketAddr>>>,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Witness {
    /// At an address of its own.
    pub fn new() -> Witness {
        Witness::at(address(), 0).expect("loopback addresses can be listened on")
    }

    /// At an address and a port (0: any); none where that can't be had.
    pub fn at(ip: IpAddr, port: u16) -> Option<Witness> {
        // A port that is free for streams needn't be for datagrams.
        for _ in 0..20 {
            let stream = TcpListener::bind((ip, port)).ok()?;
            let address = stream.local_addr().unwrap();
            if let Ok(datagram) = UdpSocket::bind(address) {
                return Some(Witness::listening(address, stream, datagram));
            }
        }
        None
    }

    /// On streams that are listened for already.
    pub fn around(stream: TcpListener) -> Witness {
        let address = stream.local_addr().unwrap();
        let datagram = UdpSocket::bind((address.ip(), 0)).unwrap();
        Witness::listening(address, stream, datagram)
    }

    fn listening(address: SocketAddr, stream: TcpListener, datagram: UdpSocket) -> Witness {
        let datagrams = datagram.local_addr().unwrap();
        let contacts = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (by_stream, by_datagram) = (Arc::clone(&contacts), Arc::clone(&contacts));
        let hears = Arc::clone(&heard);
        thread::spawn(move || {
            let mut buffer = [0; 2048];
            while let Ok((_, who)) = datagram.recv_from(&mut buffer) {
                by_datagram.lock().unwrap().push(who);
            }
        });
        thread::spawn(move || {
            while let Ok((mut stream, who)) = stream.accept() {
                by_stream.lock().unwrap().push(who);
                let hears = Arc::clone(&hears);
                thread::spawn(move || {
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
                    let mut buffer = [0; 4096];
                    while let Ok(length @ 1..) = stream.read(&mut buffer) {
                        hears.lock().unwrap().extend(&buffer[..length]);
                    }
                });
            }
        });
        Witness {
            address,
            datagrams,
            contacts,
            heard,
        }
    }

    pub fn contacts(&self) -> usize {
        self.contacts.lock().unwrap().len()
    }

    /// What came by stream.
    pub fn heard(&self) -> Vec<u8> {
        self.heard.lock().unwrap().clone()
    }

    /// Whether somebody has come.
    pub fn is_met(&self) -> bool {
        self.catch_up();
        self.contacts() > 0
    }

    /// Takes note of all who came before: the queues are in order, so they are through once somebody of our own is.
    #[track_caller]
    fn catch_up(&self) {
        let stream = TcpStream::connect(self.address).unwrap();
        let datagram = UdpSocket::bind((self.address.ip(), 0)).unwrap();
        datagram.connect(self.datagrams).unwrap();
        datagram.send(b"").unwrap();
        for own in [stream.local_addr().unwrap(), datagram.local_addr().unwrap()] {
            let is_through = || {
                let mut contacts = self.contacts.lock().unwrap();
                let at = contacts.iter().position(|who| *who == own);
                at.map(|at| contacts.remove(at)).is_some()
            };
            assert!(until(Duration::from_secs(20), is_through), "{} is stuck", self.address);
        }
    }

    /// Waits until so many came.
    #[track_caller]
    pub fn saw(&self, count: usize) {
        let came = until(Duration::from_secs(10), || self.contacts() >= count);
        assert!(came, "{} came of {count}, so this proves nothing", self.contacts());
    }

    /// Those that waited to be taken note of are forgotten too.
    pub fn forget(&self) {
        self.catch_up();
        self.contacts.lock().unwrap().clear();
    }

    /// No connection came, and none waits to be taken note of.
    #[track_caller]
    pub fn saw_none(&self) {
        self.catch_up();
        let contacts = self.contacts.lock().unwrap();
        assert!(contacts.is_empty(), "{} was reached from {contacts:?}", self.address);
    }
}

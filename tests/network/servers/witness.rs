//! Somebody whom a run must not reach: counts who came, by stream and by datagram.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::address;
use crate::common::until;

/// Listens until the test program ends.
pub struct Witness {
    pub address: SocketAddr,
    contacts: Arc<AtomicUsize>,
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
        let contacts = Arc::new(AtomicUsize::new(0));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (by_stream, by_datagram) = (Arc::clone(&contacts), Arc::clone(&contacts));
        let hears = Arc::clone(&heard);
        thread::spawn(move || {
            let mut buffer = [0; 2048];
            while datagram.recv_from(&mut buffer).is_ok() {
                by_datagram.fetch_add(1, Ordering::SeqCst);
            }
        });
        thread::spawn(move || {
            for mut stream in stream.incoming().flatten() {
                by_stream.fetch_add(1, Ordering::SeqCst);
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
            contacts,
            heard,
        }
    }

    pub fn contacts(&self) -> usize {
        self.contacts.load(Ordering::SeqCst)
    }

    /// What came by stream.
    pub fn heard(&self) -> Vec<u8> {
        self.heard.lock().unwrap().clone()
    }

    /// Whether somebody came, or comes within a moment.
    pub fn is_met(&self) -> bool {
        until(Duration::from_millis(500), || self.contacts() > 0)
    }

    /// Waits until so many came.
    #[track_caller]
    pub fn saw(&self, count: usize) {
        let came = until(Duration::from_secs(10), || self.contacts() >= count);
        assert!(came, "{} came of {count}, so this proves nothing", self.contacts());
    }

    /// Whoever waited to be taken note of is forgotten too.
    pub fn forget(&self) {
        let mut before = usize::MAX;
        while self.contacts() != before {
            before = self.contacts();
            thread::sleep(Duration::from_millis(200));
        }
        self.contacts.store(0, Ordering::SeqCst);
    }

    /// Nobody came, and nobody is on the way.
    #[track_caller]
    pub fn saw_nobody(&self) {
        thread::sleep(Duration::from_millis(150));
        assert_eq!(self.contacts(), 0, "{} was reached", self.address);
    }
}

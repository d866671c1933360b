//! A nameserver on loopback for tests, over UDP and TCP on one port. A script determines its answers.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, Metadata, ResponseCode};
use hickory_proto::rr::{Name as WireName, RData, Record, RecordType, rdata};

use crate::names::frame;
use crate::names::machine::Carrier;

/// One query, as it arrived.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub name: String,
    pub family: RecordType,
    pub carrier: Carrier,
    pub request: Message,
    pub client: SocketAddr,
    /// The number of times that the same was asked before.
    pub before: usize,
}

impl Asked {
    pub fn reply(&self, code: ResponseCode) -> Message {
        let mut reply = Message::response(0, self.request.metadata.op_code);
        reply.metadata = Metadata::response_from_request(&self.request.metadata);
        reply.metadata.response_code = code;
        reply.queries = self.request.queries.clone();
        reply
    }

    /// A reply with the addresses of the family asked for, under the name asked for.
    pub fn addresses(&self, addresses: &[&str]) -> Message {
        let mut reply = self.reply(ResponseCode::NoError);
        let records = addresses.iter().map(|address| record(&self.name, 300, address));
        reply.add_answers(records.filter(|record| record.record_type() == self.family));
        reply
    }
}

/// An address record, or (with a trailing dot) an alias.
pub(super) fn record(name: &str, ttl_seconds: u32, data: &str) -> Record {
    let data = match data.parse() {
        Ok(address) => RData::from(std::net::IpAddr::to_owned(&address)),
        Err(_) => RData::CNAME(rdata::CNAME(WireName::from_ascii(data).unwrap())),
    };
    Record::from_rdata(WireName::from_ascii(name).unwrap(), ttl_seconds, data)
}

type Script = dyn Fn(&Asked) -> Vec<Vec<u8>> + Send + Sync;

pub(super) struct FakeServer {
    pub address: SocketAddr,
    answers: Arc<Answers>,
    threads: Vec<JoinHandle<()>>,
}

struct Answers {
    script: Box<Script>,
    log: Mutex<Vec<Asked>>,
    is_over: AtomicBool,
}

impl FakeServer {
    /// Sends one message for each question.
    pub fn saying(script: impl Fn(&Asked) -> Message + Send + Sync + 'static) -> FakeServer {
        FakeServer::sending(move |asked| vec![script(asked).to_vec().unwrap()])
    }

    /// Sends any number of arbitrary messages for each question.
    pub fn sending(script: impl Fn(&Asked) -> Vec<Vec<u8>> + Send + Sync + 'static) -> FakeServer {
        let (socket, listener) = same_port();
        let address = socket.local_addr().unwrap();
        let answers = Arc::new(Answers {
            script: Box::new(script),
            log: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let threads = vec![
            thread::spawn({
                let answers = answers.clone();
                move || answers.serve_datagrams(&socket)
            }),
            thread::spawn({
                let answers = answers.clone();
                move || answers.serve_streams(&listener)
            }),
        ];
        FakeServer {
            address,
            answers,
            threads,
        }
    }

    pub fn log(&self) -> Vec<Asked> {
        self.answers.log.lock().unwrap().clone()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.answers.is_over.store(true, Ordering::SeqCst);
        let _ = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.send_to(b"", self.address));
        let _ = TcpStream::connect(self.address);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The kernel chooses a free port for one of them; it may be taken for the other.
fn same_port() -> (UdpSocket, TcpListener) {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        if let Ok(socket) = UdpSocket::bind(listener.local_addr().unwrap()) {
            return (socket, listener);
        }
    }
}

impl Answers {
    fn serve_datagrams(&self, socket: &UdpSocket) {
        let mut bytes = [0; 4096];
        loop {
            let (length, client) = socket.recv_from(&mut bytes).unwrap();
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            for answer in self.answers(&bytes[..length], client, Carrier::Datagrams) {
                let _ = socket.send_to(&answer, client);
            }
        }
    }

    fn serve_streams(&self, listener: &TcpListener) {
        loop {
            let (mut stream, client) = listener.accept().unwrap();
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let deadline = Instant::now() + Duration::from_secs(1);
            if let Ok(Some(bytes)) = frame::read(&mut stream, deadline) {
                for answer in self.answers(&bytes, client, Carrier::Streams) {
                    let _ = frame::write(&mut stream, &answer, Duration::from_secs(1));
                }
            }
        }
    }

    fn answers(&self, bytes: &[u8], client: SocketAddr, carrier: Carrier) -> Vec<Vec<u8>> {
        let request = Message::from_vec(bytes).unwrap();
        let query = request.queries[0].clone();
        let (name, family) = (query.name.to_ascii(), query.query_type);
        let mut log = self.log.lock().unwrap();
        let is_same = |asked: &&Asked| (&asked.name, asked.family, asked.carrier) == (&name, family, carrier);
        let before = log.iter().filter(is_same).count();
        let asked = Asked {
            name: name.clone(),
            family,
            carrier,
            request,
            client,
            before,
        };
        log.push(asked.clone());
        drop(log);
        (self.script)(&asked)
    }
}

//! A DNS server for made-up names (RFC 1035), by datagram and by stream, that remembers what it was asked.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::address;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// What a name leads to.
#[derive(Clone)]
pub enum Answer {
    Addresses(Vec<IpAddr>),
    /// Another one at each question for an address of its family, the last one from then on. It may not be kept.
    Turning(Vec<IpAddr>),
    Alias(String),
    /// By datagram only that it doesn't fit.
    StreamOnly(IpAddr),
    /// `SERVFAIL`.
    Failure,
    /// None at all.
    Silence,
}

#[derive(Default)]
struct Table {
    answers: HashMap<String, Answer>,
    asked: Vec<String>,
}

/// The server, until the test program ends.
pub struct Names {
    address: SocketAddr,
    table: Arc<Mutex<Table>>,
}

impl Names {
    pub fn new() -> Names {
        let stream = TcpListener::bind((address(), 0)).unwrap();
        let address = stream.local_addr().unwrap();
        let datagram = UdpSocket::bind(address).expect("the same port for datagrams");
        let table = Arc::new(Mutex::new(Table::default()));
        let (by_datagram, by_stream) = (Arc::clone(&table), Arc::clone(&table));
        thread::spawn(move || serve_datagrams(&datagram, &by_datagram));
        thread::spawn(move || serve_streams(&stream, &by_stream));
        Names { address, table }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn lead(&self, name: &str, address: IpAddr) {
        self.answer(name, Answer::Addresses(vec![address]));
    }

    /// `*.example.test` answers for all names below it.
    pub fn answer(&self, name: &str, answer: Answer) {
        self.table.lock().unwrap().answers.insert(name.into(), answer);
    }

    /// Every name that was asked, in lower case, each time it was.
    pub fn asked(&self) -> Vec<String> {
        self.table.lock().unwrap().asked.clone()
    }

    /// No question held this, in whatever case.
    #[track_caller]
    pub fn were_never_asked(&self, part: &str) {
        let asked = self.asked();
        assert!(
            !asked.iter().any(|name| name.contains(part)),
            "asked outside: {asked:?}"
        );
    }
}

fn serve_datagrams(socket: &UdpSocket, table: &Mutex<Table>) {
    let mut buffer = [0; 4096];
    while let Ok((length, sender)) = socket.recv_from(&mut buffer) {
        if let Some(reply) = reply(&buffer[..length], table, false) {
            let _ = socket.send_to(&reply, sender);
        }
    }
}

fn serve_streams(listener: &TcpListener, table: &Arc<Mutex<Table>>) {
    for stream in listener.incoming().flatten() {
        let table = Arc::clone(table);
        thread::spawn(move || serve_stream(stream, &table));
    }
}

fn serve_stream(mut stream: TcpStream, table: &Mutex<Table>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length).ok()?;
        let mut message = vec![0; u16::from_be_bytes(length).into()];
        stream.read_exact(&mut message).ok()?;
        if let Some(reply) = reply(&message, table, true) {
            let length = u16::try_from(reply.len()).ok()?;
            stream.write_all(&[&length.to_be_bytes(), &*reply].concat()).ok()?;
        }
    }
}

/// A question of a message.
struct Question<'a> {
    name: String,
    kind: u16,
    /// As it was asked, to be said again.
    bytes: &'a [u8],
}

impl Question<'_> {
    fn read(message: &[u8]) -> Option<Question<'_>> {
        let mut labels = Vec::new();
        let mut at = 12;
        loop {
            let length = usize::from(*message.get(at)?);
            at += 1;
            if length == 0 {
                break;
            }
            labels.push(String::from_utf8_lossy(message.get(at..at + length)?).to_ascii_lowercase());
            at += length;
        }
        let kind = message.get(at..at + 2)?;
        Some(Question {
            name: labels.join("."),
            kind: u16::from_be_bytes([kind[0], kind[1]]),
            bytes: message.get(12..at + 4)?,
        })
    }
}

/// The response to a message; none to rubbish and where silence is the answer.
fn reply(message: &[u8], table: &Mutex<Table>, by_stream: bool) -> Option<Vec<u8>> {
    const NO_ERROR: u16 = 0;
    const SERVER_FAILURE: u16 = 2;
    const NO_SUCH_NAME: u16 = 3;
    const TRUNCATED: u16 = 0x200;
    let question = Question::read(message)?;
    let mut table = table.lock().unwrap();
    table.asked.push(question.name.clone());
    let (state, records) = match find(&table, &question.name) {
        None => (NO_SUCH_NAME, Vec::new()),
        Some(Answer::Failure) => (SERVER_FAILURE, Vec::new()),
        Some(Answer::Silence) => return None,
        Some(Answer::StreamOnly(_)) if !by_stream => (NO_ERROR | TRUNCATED, Vec::new()),
        Some(answer) => (NO_ERROR, records(&mut table, &question.name, answer, question.kind)),
    };
    let mut reply = message[..2].to_vec();
    // A response, recursion desired and available; one question, some answers.
    for word in [0x8180 | state, 1, u16::try_from(records.len()).unwrap(), 0, 0] {
        reply.extend(word.to_be_bytes());
    }
    reply.extend(question.bytes);
    reply.extend(records.concat());
    Some(reply)
}

fn find(table: &Table, name: &str) -> Option<Answer> {
    let mut parent = name;
    if let Some(answer) = table.answers.get(name) {
        return Some(answer.clone());
    }
    while let Some((_, rest)) = parent.split_once('.') {
        if let Some(answer) = table.answers.get(&format!("*.{rest}")) {
            return Some(answer.clone());
        }
        parent = rest;
    }
    None
}

/// The records for a question; those of an alias's goal come with it.
fn records(table: &mut Table, name: &str, answer: Answer, kind: u16) -> Vec<Vec<u8>> {
    match answer {
        Answer::Addresses(addresses) => addresses
            .iter()
            .filter_map(|ip| record_of(name, *ip, kind, 60))
            .collect(),
        Answer::StreamOnly(ip) => record_of(name, ip, kind, 60).into_iter().collect(),
        Answer::Turning(addresses) => {
            let mut fitting = addresses.iter().filter(|ip| kind_of(**ip) == kind);
            let (Some(first), another) = (fitting.next().copied(), fitting.next()) else {
                return Vec::new();
            };
            if another.is_some() {
                let rest = addresses.into_iter().filter(|ip| *ip != first).collect();
                table.answers.insert(name.into(), Answer::Turning(rest));
            }
            record_of(name, first, kind, 0).into_iter().collect()
        }
        Answer::Alias(goal) => {
            let mut all = vec![record(name, CNAME, &encoded(&goal), 60)];
            if let Some(answer) = find(table, &goal) {
                all.extend(records(table, &goal, answer, kind));
            }
            all
        }
        Answer::Failure | Answer::Silence => Vec::new(),
    }
}

fn kind_of(ip: IpAddr) -> u16 {
    if ip.is_ipv4() { A } else { AAAA }
}

fn record_of(name: &str, ip: IpAddr, kind: u16, seconds: u32) -> Option<Vec<u8>> {
    let data = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    (kind_of(ip) == kind).then(|| record(name, kind, &data, seconds))
}

fn record(name: &str, kind: u16, data: &[u8], seconds: u32) -> Vec<u8> {
    let mut record = encoded(name);
    record.extend(kind.to_be_bytes());
    record.extend(1u16.to_be_bytes());
    record.extend(seconds.to_be_bytes());
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

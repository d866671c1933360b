//! The two ends of the network's bench, both this program with a hidden argument: a server, in a process of its own so
//! that it shares no thread with anybody, and a client, which times itself, so that no launch is in its figures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SERVER: &str = "--peer-server";
const CLIENT: &str = "--peer-client";

/// What a client asks for first: how many bytes it sends or wants follows in eight bytes.
const SENDS: u8 = b'S';
const WANTS: u8 = b'W';
const PIECE: usize = 128 * 1024;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\nhello, world\n";

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chore {
    /// Sends so many bytes.
    Send,
    /// Receives so many.
    Receive,
    /// So many requests, each on a connection of its own.
    Requests,
    /// So many connections, each waited for in `connect`: the median.
    Connect,
    /// The same, waited for in `poll`.
    ConnectLater,
}

impl Chore {
    const ALL: [(Chore, &'static str); 5] = [
        (Chore::Send, "send"),
        (Chore::Receive, "receive"),
        (Chore::Requests, "requests"),
        (Chore::Connect, "connect"),
        (Chore::ConnectLater, "connect-later"),
    ];

    fn word(self) -> &'static str {
        let entry = Chore::ALL.iter().find(|(chore, _)| *chore == self);
        entry.map_or("", |(_, word)| word)
    }
}

/// Is a server or a client if the arguments ask for it.
pub fn run_if_asked() -> bool {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [SERVER, address] => serve(address),
        [CLIENT, word, peer, count] => {
            let chore = Chore::ALL.iter().find(|(_, name)| name == word).expect("a chore").0;
            let count = count.parse().expect("a count");
            // Looking the name up isn't what is measured.
            let peer = peer.to_socket_addrs().expect("the name is known").next();
            println!("{}", time(chore, peer.expect("an address"), count).as_nanos());
        }
        _ => return false,
    }
    true
}

/// The server's process, which ends with this.
pub struct Server {
    process: Child,
    pub port: u16,
}

impl Server {
    /// On a free port of this address.
    pub fn start(ip: &str) -> Server {
        let mut process = Command::new(std::env::current_exe().expect("the bench has a name"))
            .args([SERVER, &format!("{ip}:0")])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let out = process.stdout.take().expect("piped");
        BufReader::new(out)
            .read_line(&mut line)
            .expect("the server tells its port");
        let port = line.trim().parse().expect("a port");
        Server { process, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The words that start a client.
pub fn client(chore: Chore, peer: &str, count: u64) -> [String; 5] {
    let own = std::env::current_exe().expect("the bench has a name");
    let own = own.to_str().expect("a plain path").to_string();
    [own, CLIENT.into(), chore.word().into(), peer.into(), count.to_string()]
}

fn serve(address: &str) {
    let listener = TcpListener::bind(address).expect("the address is free");
    println!("{}", listener.local_addr().expect("bound").port());
    for stream in listener.incoming().flatten() {
        thread::spawn(move || answer(stream));
    }
}

/// A process that goes away in between is measured no more.
fn answer(mut stream: TcpStream) -> Option<()> {
    let mut kind = [0];
    stream.read_exact(&mut kind).ok()?;
    if ![SENDS, WANTS].contains(&kind[0]) {
        // One request, which fits a segment.
        let _ = stream.read(&mut [0; 4096]).ok()?;
        return stream.write_all(ANSWER).ok();
    }
    let mut count = [0; 8];
    stream.read_exact(&mut count).ok()?;
    let count = u64::from_be_bytes(count);
    if kind[0] == WANTS {
        return write(&mut stream, count);
    }
    read(&mut stream, count)?;
    stream.write_all(b".").ok()
}

fn write(stream: &mut TcpStream, mut count: u64) -> Option<()> {
    let piece = [b'x'; PIECE];
    while count > 0 {
        let length = piece.len().min(usize::try_from(count).unwrap_or(usize::MAX));
        stream.write_all(&piece[..length]).ok()?;
        count -= length as u64;
    }
    Some(())
}

fn read(stream: &mut TcpStream, mut count: u64) -> Option<()> {
    let mut piece = [0; PIECE];
    while count > 0 {
        let length = piece.len().min(usize::try_from(count).unwrap_or(usize::MAX));
        match stream.read(&mut piece[..length]).ok()? {
            0 => return None,
            got => count -= got as u64,
        }
    }
    Some(())
}

fn time(chore: Chore, peer: SocketAddr, count: u64) -> Duration {
    match chore {
        Chore::Send | Chore::Receive => time_stream(chore, peer, count),
        Chore::Requests => {
            let started = Instant::now();
            (0..count).for_each(|_| request(peer));
            started.elapsed()
        }
        Chore::Connect => median_of(count, || drop(TcpStream::connect(peer).expect("connected"))),
        Chore::ConnectLater => median_of(count, || {
            // A time limit has the standard library connect without blocking, and poll.
            drop(TcpStream::connect_timeout(&peer, Duration::from_secs(10)).expect("connected"));
        }),
    }
}

fn time_stream(chore: Chore, peer: SocketAddr, count: u64) -> Duration {
    let mut stream = TcpStream::connect(peer).expect("connected");
    let started = Instant::now();
    let kind = if chore == Chore::Send { SENDS } else { WANTS };
    stream.write_all(&[kind]).expect("sent");
    stream.write_all(&count.to_be_bytes()).expect("sent");
    let moved = if chore == Chore::Send {
        write(&mut stream, count).and_then(|()| read(&mut stream, 1))
    } else {
        read(&mut stream, count)
    };
    moved.expect("all bytes moved");
    started.elapsed()
}

fn request(peer: SocketAddr) {
    let mut stream = TcpStream::connect(peer).expect("connected");
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: api.bench.test\r\n\r\n")
        .expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("answered");
    assert_eq!(answer, ANSWER);
    let _ = stream.shutdown(Shutdown::Both);
}

fn median_of(count: u64, mut action: impl FnMut()) -> Duration {
    let times = (0..count).map(|_| {
        let started = Instant::now();
        action();
        started.elapsed()
    });
    crate::machine::median(times.collect())
}

//! Servers that speak no protocol: they echo, greet, add up, pour, break off.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::listener;

/// A server with a behaviour, until the test program ends.
pub struct Streams {
    pub address: SocketAddr,
    log: Arc<Log>,
}

/// What a server saw.
#[derive(Default)]
pub struct Log {
    connections: AtomicUsize,
    ended: AtomicUsize,
    lines: Mutex<Vec<String>>,
}

impl Log {
    pub fn say(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }
}

impl Streams {
    pub fn at(listener: TcpListener, behave: impl Fn(TcpStream, &Log) + Send + Sync + 'static) -> Streams {
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Log::default());
        let (kept, behave) = (Arc::clone(&log), Arc::new(behave));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, behave) = (Arc::clone(&log), Arc::clone(&behave));
                log.connections.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(100)));
                    behave(stream, &log);
                    log.ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Streams { address, log: kept }
    }

    /// Sends back what it gets, to the end.
    pub fn echo() -> Streams {
        Streams::at(listener(), |stream, _| echo(stream))
    }

    /// Speaks first, as mail and database servers do, and is an echo then.
    pub fn greeter() -> Streams {
        Streams::at(listener(), |mut stream, _| {
            let _ = stream.write_all(b"220 hello\n");
            echo(stream);
        })
    }

    /// Reads to the end, and says then what that was: length and checksum.
    pub fn adder() -> Streams {
        Streams::at(listener(), |mut stream, log| {
            let (length, sum) = added(&mut stream);
            log.say(format!("{length} {sum}"));
            let _ = writeln!(stream, "{length} {sum}");
        })
    }

    /// Pours as many bytes as a line asks for.
    pub fn source() -> Streams {
        Streams::at(listener(), |mut stream, _| {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            let _ = stream.write_all(&pattern(line.trim().parse().unwrap_or(0)));
        })
    }

    /// Breaks off with a reset as soon as something comes.
    pub fn breaker() -> Streams {
        // A close with something unread is a reset.
        Streams::at(listener(), |stream, _| drop(stream.peek(&mut [0])))
    }

    /// Ends its own half first; tells what still came then.
    pub fn early_ender() -> Streams {
        Streams::at(listener(), |mut stream, log| {
            let _ = stream.write_all(b"bye\n");
            let _ = stream.shutdown(Shutdown::Write);
            let (length, _) = added(&mut stream);
            log.say(length.to_string());
        })
    }

    /// Reads and says nothing; tells that something has come, and how the stream ended.
    pub fn listener_to_the_end() -> Streams {
        Streams::at(listener(), |mut stream, log| {
            let (mut buffer, mut is_first) = ([0; 4096], true);
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => return log.say("end"),
                    Ok(_) if is_first => log.say("something"),
                    Ok(_) => {}
                    Err(error) => return log.say(format!("{:?}", error.kind())),
                }
                is_first = false;
            }
        })
    }

    /// Takes nothing for some time, then reads to the end.
    pub fn late_reader(delay: Duration) -> Streams {
        Streams::at(listener(), move |mut stream, log| {
            thread::sleep(delay);
            let (length, sum) = added(&mut stream);
            log.say(format!("{length} {sum}"));
            let _ = writeln!(stream, "{length} {sum}");
        })
    }

    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::SeqCst)
    }

    /// Connections that are over.
    pub fn ended(&self) -> usize {
        self.log.ended.load(Ordering::SeqCst)
    }

    pub fn lines(&self) -> Vec<String> {
        self.log.lines.lock().unwrap().clone()
    }
}

pub fn echo(mut stream: TcpStream) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
}

fn added(stream: &mut TcpStream) -> (usize, u32) {
    let (mut length, mut sum) = (0, 1);
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        length += count;
        sum = also(sum, &buffer[..count]);
    }
    (length, sum)
}

/// Bytes in which every stretch tells where it belongs.
pub fn pattern(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length + 16);
    let mut number = 0;
    while bytes.len() < length {
        let _ = writeln!(bytes, "{number:015}");
        number += 16;
    }
    bytes.truncate(length);
    bytes
}

/// Adler-32 (RFC 1950), which Python's `zlib` has too.
pub fn checksum(bytes: &[u8]) -> u32 {
    also(1, bytes)
}

fn also(sum: u32, bytes: &[u8]) -> u32 {
    const BASE: u32 = 65521;
    let (mut low, mut high) = (sum & 0xffff, sum >> 16);
    // 5552 additions don't overflow.
    for part in bytes.chunks(5552) {
        for byte in part {
            low += u32::from(*byte);
            high += low;
        }
        (low, high) = (low % BASE, high % BASE);
    }
    high << 16 | low
}

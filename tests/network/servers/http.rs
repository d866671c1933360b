//! An HTTP/1.1 server (RFC 9112) that remembers its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::listener;
use super::streams::{checksum, echo, pattern};

/// A request as the server took it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub host: String,
    pub body: Vec<u8>,
    /// Upgrades the connection.
    upgrades: bool,
    chunked: bool,
    length: usize,
}

/// `GET /hello`, `GET /bytes/N`, `POST /sum`; `Upgrade` leads to an echo.
pub struct Http {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Every byte that came, whatever was made of it.
    raw: Arc<Mutex<Vec<u8>>>,
}

/// What `GET /hello` answers.
pub const HELLO: &str = "hello from the server\n";

impl Http {
    pub const HELLO: &'static str = HELLO;

    pub fn new() -> Http {
        Http::at(listener())
    }

    pub fn at(listener: TcpListener) -> Http {
        let address = listener.local_addr().unwrap();
        let (requests, raw) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let http = Http {
            address,
            requests: Arc::clone(&requests),
            raw: Arc::clone(&raw),
        };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, raw) = (Arc::clone(&requests), Arc::clone(&raw));
                thread::spawn(move || serve(stream, &requests, &raw));
            }
        });
        http
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The `Host` of each request.
    pub fn hosts(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.host).collect()
    }

    /// All that came, as text.
    pub fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw.lock().unwrap()).into_owned()
    }
}

/// Keeps what passes.
struct Kept<'a> {
    stream: &'a TcpStream,
    raw: &'a Mutex<Vec<u8>>,
}

impl Read for Kept<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.stream.read(buffer)?;
        let mut raw = self.raw.lock().unwrap();
        // Large bodies aren't looked at.
        if raw.len() < 1 << 20 {
            raw.extend(&buffer[..length]);
        }
        Ok(length)
    }
}

fn serve(stream: TcpStream, requests: &Mutex<Vec<Request>>, raw: &Mutex<Vec<u8>>) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    let mut reader = BufReader::new(Kept { stream: &stream, raw });
    loop {
        let mut request = head(&mut reader)?;
        request.body = body(&mut reader, &request)?;
        let reply = reply(&request);
        let upgrades = request.upgrades;
        requests.lock().unwrap().push(request);
        (&stream).write_all(&reply).ok()?;
        if upgrades {
            // An echoing client waits for the answer before it says more, so nothing is in the reader.
            drop(reader);
            echo(stream);
            return None;
        }
    }
}

fn head(reader: &mut impl BufRead) -> Option<Request> {
    let mut request = Request::default();
    let first = line(reader)?;
    let mut words = first.split(' ');
    request.method = words.next()?.into();
    request.path = words.next()?.into();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            return line.is_empty().then_some(request);
        };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "host" => request.host = value.into(),
            "content-length" => request.length = value.parse().ok()?,
            "transfer-encoding" => request.chunked = true,
            "upgrade" => request.upgrades = request.path != "/no-upgrade",
            _ => {}
        }
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_string())
}

fn body(reader: &mut impl BufRead, request: &Request) -> Option<Vec<u8>> {
    let mut body = vec![0; request.length];
    if !request.chunked {
        reader.read_exact(&mut body).ok()?;
        return Some(body);
    }
    body.clear();
    loop {
        let length = usize::from_str_radix(line(reader)?.split(';').next()?, 16).ok()?;
        if length == 0 {
            break;
        }
        let mut chunk = vec![0; length];
        reader.read_exact(&mut chunk).ok()?;
        body.extend(chunk);
        line(reader)?;
    }
    // Trailers.
    while !line(reader)?.is_empty() {}
    Some(body)
}

fn reply(request: &Request) -> Vec<u8> {
    if request.upgrades {
        return b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".to_vec();
    }
    let content = match request.path.strip_prefix("/bytes/") {
        Some(count) => pattern(count.parse().unwrap_or(0)),
        None if request.path == "/sum" => format!("{} {}\n", request.body.len(), checksum(&request.body)).into_bytes(),
        None => HELLO.into(),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
        content.len()
    );
    let content = if request.method == "HEAD" { Vec::new() } else { content };
    [head.into_bytes(), content].concat()
}

//! A certificate authority and HTTPS servers with its certificates. The servers are Python's.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

use crate::common::python;

/// An authority whose certificate runs may read.
pub struct Authority {
    directory: TempDir,
}

impl Authority {
    /// Made by `openssl`.
    pub fn new() -> Authority {
        let directory = tempfile::Builder::new()
            .prefix("stockade-ca-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let authority = Authority { directory };
        authority.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Stockade-Test-CA \
             -addext keyUsage=critical,keyCertSign,cRLSign -keyout {} -out {}",
            authority.path("ca.private"),
            authority.path("ca.crt")
        ));
        authority
    }

    fn path(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_string()
    }

    /// The file with the authority's own certificate.
    pub fn certificate(&self) -> String {
        self.path("ca.crt")
    }

    /// A certificate for some names and its key, in files.
    fn issue(&self, names: &[&str]) -> [String; 2] {
        let files = [self.path("server.crt"), self.path("server.private")];
        let names: Vec<String> = names.iter().map(|name| format!("DNS:{name}")).collect();
        let request = self.path("server.csr");
        self.openssl(&format!(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server \
             -addext subjectAltName={} -keyout {} -out {request}",
            names.join(","),
            files[1]
        ));
        self.openssl(&format!(
            "x509 -req -in {request} -CA {} -CAkey {} -CAcreateserial -days 2 -copy_extensions copy -out {}",
            self.path("ca.crt"),
            self.path("ca.private"),
            files[0]
        ));
        files
    }

    fn openssl(&self, words: &str) {
        let ended = Command::new("openssl")
            .args(words.split_whitespace())
            .stdin(Stdio::null())
            .output()
            .expect("`openssl` starts");
        assert!(
            ended.status.success(),
            "openssl {words}: {}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }

    /// Flags of a run whose program is to trust it, whatever the program.
    pub fn flags(&self) -> Vec<String> {
        let certificate = self.certificate();
        let mut flags = vec!["--read".to_string(), certificate.clone()];
        for variable in [
            "SSL_CERT_FILE",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "GIT_SSL_CAINFO",
        ] {
            flags.extend(["--env".to_string(), format!("{variable}={certificate}")]);
        }
        flags
    }
}

/// An HTTPS server; `GET` of anything answers [`super::Http::HELLO`].
pub struct Secure {
    pub address: SocketAddr,
    lines: Arc<Mutex<Vec<String>>>,
    child: Child,
}

impl Secure {
    /// At an address and a port (0: any); none where this user can't have it.
    pub fn new(authority: &Authority, names: &[&str], ip: IpAddr, port: u16) -> Option<Secure> {
        let program = include_str!("secure.py");
        Secure::start(
            authority,
            names,
            ip,
            port,
            Command::new(python()).args(["-I", "-c", program]),
        )
    }

    /// The same in HTTP/2, by Node.
    pub fn http2(authority: &Authority, names: &[&str], ip: IpAddr, port: u16) -> Option<Secure> {
        let program = include_str!("secure_http2.js");
        Secure::start(
            authority,
            names,
            ip,
            port,
            Command::new("node").args(["-e", program, "--"]),
        )
    }

    fn start(authority: &Authority, names: &[&str], ip: IpAddr, port: u16, command: &mut Command) -> Option<Secure> {
        let files: Vec<PathBuf> = authority.issue(names).into_iter().map(PathBuf::from).collect();
        let mut child = command
            .args(&files)
            .args([ip.to_string(), port.to_string(), HELLO.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = output.next().and_then(Result::ok).unwrap_or_default();
        let Some(port) = first.strip_prefix("port ") else {
            let _ = child.kill();
            let _ = child.wait();
            crate::common::skipped(&format!("no HTTPS server at port {port}: {first}"));
            return None;
        };
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        thread::spawn(move || {
            output
                .map_while(Result::ok)
                .for_each(|line| kept.lock().unwrap().push(line))
        });
        Some(Secure {
            address: SocketAddr::new(ip, port.parse().unwrap()),
            lines,
            child,
        })
    }

    /// What it noticed: `connected`, `sni NAME`, `host NAME`.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub fn has_seen(&self, line: &str) -> bool {
        self.lines().iter().any(|seen| seen == line)
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HELLO: &str = super::http::HELLO;

//! A nameserver over UDP that knows IPv4 addresses alone.

use std::net::UdpSocket;

use super::*;

const HEADER: usize = 12;

pub struct Nameserver {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Nameserver {
    /// Starts a thread that ends with the tests.
    pub fn knowing(name: &'static str, addresses: &'static [[u8; 4]]) -> Nameserver {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            let mut bytes = [0; 1500];
            while let Ok((length, client)) = socket.recv_from(&mut bytes) {
                let (question, asked) = read(&bytes[..length]);
                let known = (asked == name).then_some(addresses);
                let _ = socket.send_to(&answer(question, known), client);
                log.lock().unwrap().push(asked);
            }
        });
        Nameserver { address, asked }
    }
}

/// The query up to the end of its question, and the name in it (RFC 1035, 4.1).
fn read(query: &[u8]) -> (&[u8], String) {
    let mut labels = Vec::new();
    let mut at = HEADER;
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_ascii_lowercase());
        at = end;
    }
    (&query[..at + 5], labels.join("."))
}

/// The answer; NXDOMAIN if nothing is known.
fn answer(question: &[u8], known: Option<&[[u8; 4]]>) -> Vec<u8> {
    const A: [u8; 2] = [0, 1];
    let is_v4 = question[question.len() - 4..][..2] == A;
    let addresses = known.filter(|_| is_v4).unwrap_or_default();
    let flags = if known.is_some() { [0x81, 0x80] } else { [0x81, 0x83] };
    let mut answer = question.to_vec();
    answer[2..4].copy_from_slice(&flags);
    answer[6..HEADER].copy_from_slice(&[0, addresses.len() as u8, 0, 0, 0, 0]);
    for address in addresses {
        answer.extend([0xc0, HEADER as u8, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(address);
    }
    answer
}

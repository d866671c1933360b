//! Stockade's own ports on loopback: for the sockets of the one run, and for no others.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::attack::NAME;
use crate::common::{is_root, run, skipped};
use crate::network::begun::Begun;
use crate::network::net::{Net, outcome};
use crate::network::servers::{Streams, listener};

/// An echo that tells what it got.
fn recorder() -> Streams {
    Streams::at(listener(), |mut stream, log| {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            log.say(String::from_utf8_lossy(&buffer[..length]));
            let _ = stream.write_all(&buffer[..length]);
        }
    })
}

/// A run that holds a connection to `goal` and prints its real other end.
fn holding(net: &Net, goal: &str) -> Begun {
    let code = format!(
        "import socket, sys\n\
         s = socket.create_connection({goal}, 20)\n\
         print('%s %d' % s.getpeername()[:2], flush=True)\n\
         sys.stdin.readline(); s.sendall(b'own'); print(s.recv(3), flush=True)"
    );
    Begun::new(net.run("minimal").python(&code))
}

fn end_of(line: &str) -> SocketAddr {
    let (ip, port) = line.split_once(' ').unwrap_or_else(|| panic!("no other end: {line:?}"));
    SocketAddr::new(ip.parse().unwrap(), port.parse().unwrap())
}

/// What an intruder is answered.
fn intrude(to: SocketAddr, words: &[u8]) -> Vec<u8> {
    let Ok(mut stream) = TcpStream::connect_timeout(&to, Duration::from_secs(5)) else {
        return Vec::new();
    };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let _ = stream.write_all(words);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

// promise: network.18
#[test]
fn the_relays_port_is_closed_to_everybody_else() {
    let server = recorder();
    let mut net = Net::new();
    net.grant(NAME, server.address);
    let mut held = holding(&net, &format!("('{NAME}', {})", server.address.port()));
    let relay = end_of(&held.line());
    assert_ne!(relay, server.address, "there's no relay, so this proves nothing");
    for _ in 0..5 {
        assert_eq!(intrude(relay, b"intruder"), b"");
    }
    let code = format!(
        "import socket\n\
         try:\n  \
           s = socket.create_connection(('{}', {}), 5); s.settimeout(1); s.sendall(b'intruder'); print(s.recv(9))\n\
         except OSError: print('nothing')",
        relay.ip(),
        relay.port()
    );
    let other = outcome(run().profile("mcp-standard").python(&code).reporting());
    assert!(["nothing\n", "b''\n"].contains(&&*other.stdout()), "{}", other.told());
    // Nor to another socket of the run itself, and to one with other grants.
    let same = net.python(&code);
    assert!(["nothing\n", "b''\n"].contains(&&*same.stdout()), "{}", same.told());

    held.say("");
    assert_eq!(held.line(), "b'own'");
    assert_eq!((server.connections(), server.lines()), (1, vec!["own".to_string()]));
}

#[test]
fn another_socket_of_the_run_does_not_reach_the_relay() {
    let server = recorder();
    let mut net = Net::new();
    net.grant(NAME, server.address);
    let code = format!(
        "import errno, socket\n\
         s = socket.create_connection(('{NAME}', {}), 20); s.sendall(b'own'); s.recv(3)\n\
         try: socket.create_connection(s.getpeername()[:2], 5); print('reached')\n\
         except OSError as error: print(errno.errorcode[error.errno])",
        server.address.port()
    );
    net.python(&code).prints("EACCES\n");
    assert_eq!(server.connections(), 1);
}

#[test]
fn the_resolver_answers_the_run_alone() {
    let mut net = Net::new();
    net.host("*.shop.test");
    let mut held = holding(&net, "('198.18.0.1', 53)");
    let resolver = end_of(&held.line());
    let question = b"\0\x1e\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x06stolen\x04shop\x04test\0\0\x01\0\x01";
    assert_eq!(intrude(resolver, question), b"");
    net.names.were_never_asked("stolen");
}

/// Somebody outside connects to every port that Stockade opens, as soon as it is there.
#[test]
fn nothing_slips_into_a_relay_that_is_being_made() {
    let server = recorder();
    let mut net = Net::new();
    net.grant(NAME, server.address);
    let code = format!(
        "import socket, sys\n\
         while sys.stdin.readline():\n  \
           wrong = 0\n  \
           for i in range(300):\n    \
             try:\n      \
               s = socket.create_connection(('{NAME}', {}), 20); s.sendall(b'own%d' % i)\n      \
               wrong += s.recv(9) != b'own%d' % i; s.close()\n    \
             except OSError: wrong += 1\n  \
           print(wrong, flush=True)",
        server.address.port()
    );
    let mut held = Begun::new(net.run("minimal").python(&code));
    let stop = Arc::new(AtomicBool::new(false));
    let (stockade, stops) = (held.id(), Arc::clone(&stop));
    let (sender, looks) = mpsc::channel();
    let tries = Arc::new(AtomicUsize::new(0));
    let tried = Arc::clone(&tries);
    let hammer = thread::spawn(move || hammer(stockade, &stops, &sender, &tried));
    looks.recv().unwrap();
    let mut wrong = String::new();
    // On a busy machine it may look too late for each of many ports.
    for _ in 0..if is_root() { 20 } else { 1 } {
        held.say("");
        wrong = held.line();
        if tries.load(Ordering::SeqCst) > 0 {
            break;
        }
    }
    stop.store(true, Ordering::SeqCst);
    let stolen = hammer.join().unwrap();
    let tried = tries.load(Ordering::SeqCst);
    // Others may not list what the launcher has open.
    match is_root() {
        true => assert!(tried > 0, "nothing tried to slip in, so this proves nothing"),
        false if tried == 0 => skipped("only root finds the ports of Stockade"),
        false => {}
    }
    assert_eq!(stolen, "", "an intruder was answered");
    let lines = server.lines();
    assert!(
        lines.iter().all(|line| !line.contains("intruder")),
        "an intruder was heard"
    );
    // It may break a connection off, but not often.
    assert!(
        wrong.parse().is_ok_and(|wrong: u32| wrong < 30),
        "{wrong} of 300 failed"
    );
}

/// All that it was answered. Says when it has looked for ports, and counts how often it connected.
fn hammer(stockade: u32, stop: &AtomicBool, looks: &mpsc::Sender<()>, tried: &AtomicUsize) -> String {
    let mut answers = String::new();
    while !stop.load(Ordering::SeqCst) {
        for port in listening(stockade) {
            let to = SocketAddr::new([127, 0, 0, 1].into(), port);
            let Ok(mut stream) = TcpStream::connect_timeout(&to, Duration::from_millis(200)) else {
                continue;
            };
            tried.fetch_add(1, Ordering::SeqCst);
            let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
            let _ = stream.write_all(b"intruder");
            let mut answer = [0; 64];
            let length = stream.read(&mut answer).unwrap_or(0);
            answers.push_str(&String::from_utf8_lossy(&answer[..length]));
        }
        let _ = looks.send(());
    }
    answers
}

/// The ports at which a process or its children listen (proc_net_tcp(5)). Threads have descriptors of their own.
fn listening(process: u32) -> Vec<u16> {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    let mut sockets = HashSet::new();
    for id in tree(process) {
        let threads = entries(format!("/proc/{id}/task").into());
        for descriptor in threads.flat_map(|thread| entries(thread.path().join("fd"))) {
            let link = fs::read_link(descriptor.path()).unwrap_or_default();
            let link = link.to_string_lossy().into_owned();
            sockets.extend(
                link.strip_prefix("socket:[")
                    .and_then(|rest| rest.strip_suffix(']'))
                    .map(String::from),
            );
        }
    }
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.get(3) == Some(&"0A") && row.get(9).is_some_and(|inode| sockets.contains(*inode)))
        .filter_map(|row| u16::from_str_radix(row[1].split_once(':')?.1, 16).ok())
        .collect()
}

fn tree(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let mut at = 0;
    while at < all.len() {
        let tasks = fs::read_dir(format!("/proc/{}/task", all[at]))
            .into_iter()
            .flatten()
            .flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
        at += 1;
    }
    all
}

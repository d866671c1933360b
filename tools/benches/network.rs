//! What the network costs in a run with named hosts: through the relay (a name) and directly (a granted address),
//! against the same client without Stockade, in turns in one run. The limits are those of the design.
//!
//!     cargo bench --bench network
//!     cargo bench --bench network -- --loaded            with one busy thread for each CPU beside
//!
//! Where others took more than 5 % of the machine meanwhile, the row says so: then it is an indication and no more.

#[path = "chores/company.rs"]
mod company;
mod machine;
mod peers;

use std::fs;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use company::{Company, Since};
use peers::{Chore, Server};

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");
/// The server's name and address. Not a public one, so it is granted as an address too.
const NAME: &str = "api.bench.test";
const ADDRESS: &str = "127.0.0.2";
const ROUNDS: usize = 7;

/// How a client gets to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Bare,
    Relayed,
    Direct,
}

/// What a row may cost.
enum Limit {
    /// Bare's speed, at least so much of it.
    Share { relayed: f64, direct: f64 },
    /// So much longer than bare, each.
    Longer(Duration),
    /// The design sets none.
    None,
}

struct Row {
    what: &'static str,
    chore: Chore,
    count: u64,
    limit: Limit,
}

/// Throughput of one connection.
const SHARE: Limit = Limit::Share {
    relayed: 0.5,
    direct: 1.0,
};
const LONGER: Limit = Limit::Longer(Duration::from_micros(200));

const ROWS: [Row; 5] = [
    Row {
        what: "one connection, sending 1 GiB",
        chore: Chore::Send,
        count: 1 << 30,
        limit: SHARE,
    },
    Row {
        what: "one connection, receiving 1 GiB",
        chore: Chore::Receive,
        count: 1 << 30,
        limit: SHARE,
    },
    Row {
        what: "1,000 HTTP requests, a connection each",
        chore: Chore::Requests,
        count: 1000,
        limit: Limit::None,
    },
    Row {
        what: "`connect`, blocking (median)",
        chore: Chore::Connect,
        count: 500,
        limit: LONGER,
    },
    Row {
        what: "`connect`, non-blocking (median)",
        chore: Chore::ConnectLater,
        count: 500,
        limit: LONGER,
    },
];

/// Where the server is, and where its name is found.
struct Scene {
    port: u16,
    nameserver: u16,
}

fn main() {
    if peers::run_if_asked() {
        return;
    }
    // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    let in_earnest = has("--bench");
    let nameserver = start_nameserver();
    println!("{}\n", machine::description());
    if has("--loaded") {
        machine::under_load(|| print_table(nameserver, in_earnest));
    } else {
        print_table(nameserver, in_earnest);
    }
    print_memory(nameserver, in_earnest);
}

fn print_table(nameserver: u16, in_earnest: bool) {
    println!("| | limit | bare | relayed | | directly | | load before, after | others |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|---|");
    for row in &ROWS {
        let (count, rounds) = if in_earnest {
            (row.count, ROUNDS)
        } else {
            (row.count.div_ceil(100), 1)
        };
        match measure(nameserver, row, count, rounds) {
            Ok((times, company)) => print_row(row, times, &company),
            Err(reason) => println!("| {} | skipped: {reason} |||||||", row.what),
        }
    }
}

fn command(scene: &Scene, way: Way, chore: Chore, count: u64) -> Command {
    let port = scene.port;
    let host = if way == Way::Relayed { NAME } else { ADDRESS };
    let words = peers::client(chore, &format!("{host}:{port}"), count);
    let mut command = match way {
        Way::Bare => Command::new(&words[0]),
        Way::Relayed | Way::Direct => {
            let mut command = Command::new(STOCKADE);
            command.args(["run", "--profile", "minimal"]);
            command.args([
                "--host",
                &format!("{NAME}:{port}"),
                "--host",
                &format!("{ADDRESS}:{port}"),
            ]);
            command.args(["--resolver", &format!("127.0.0.1:{}", scene.nameserver)]);
            command.args(["--", &words[0]]);
            command
        }
    };
    command.args(&words[1..]).stdin(Stdio::null());
    command
}

fn time(scene: &Scene, way: Way, chore: Chore, count: u64) -> Result<Duration, String> {
    let output = command(scene, way, chore, count)
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(format!("{way:?}, {}: {message}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let nanoseconds = text.trim().parse().map_err(|_| format!("{way:?} printed {text:?}"))?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// The medians: bare, relayed, directly.
fn measure(nameserver: u16, row: &Row, count: u64, rounds: usize) -> Result<([Duration; 3], Company), String> {
    const WAYS: [Way; 3] = [Way::Bare, Way::Relayed, Way::Direct];
    let since = Since::now();
    let server = Server::start(ADDRESS);
    let scene = Scene {
        port: server.port,
        nameserver,
    };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (way, times) in WAYS.into_iter().zip(&mut times) {
            times.push(time(&scene, way, row.chore, count)?);
        }
    }
    // Its own processor time counts as the bench's only once it has ended.
    drop(server);
    Ok((times.map(machine::median), since.company()))
}

fn print_row(row: &Row, [bare, relayed, direct]: [Duration; 3], company: &Company) {
    let speed = |time: Duration| bare.as_secs_f64() / time.as_secs_f64();
    let longer = |time: Duration| format!("{:+.0} µs", (time.as_secs_f64() - bare.as_secs_f64()) * 1e6);
    let marked = |text: String, is_kept: bool| if is_kept { text } else { format!("**{text}**") };
    let share = |time: Duration, least: f64| marked(format!("{:.2} × the speed", speed(time)), speed(time) >= least);
    let (limit, of_relayed, of_direct) = match row.limit {
        Limit::Share {
            relayed: least,
            direct: least_direct,
        } => (
            format!("{least} ×, {least_direct} ×"),
            share(relayed, least),
            share(direct, least_direct),
        ),
        Limit::Longer(most) => (
            format!("{} µs more", most.as_micros()),
            marked(longer(relayed), relayed <= bare + most),
            marked(longer(direct), direct <= bare + most),
        ),
        Limit::None => ("none".into(), share(relayed, 0.0), share(direct, 0.0)),
    };
    println!(
        "| {} | {limit} | {} | {} | {of_relayed} | {} | {of_direct} | {:.1}, {:.1} | {:.0} %, {} |",
        row.what,
        short(bare),
        short(relayed),
        short(direct),
        company.load_before,
        company.load_after,
        company.share * 100.0,
        if company.is_idle() { "idle" } else { "not idle" },
    );
}

fn short(time: Duration) -> String {
    match time.as_micros() {
        0..10_000 => format!("{} µs", time.as_micros()),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// Memory of the process that supervises and relays, while bytes are moved.
fn print_memory(nameserver: u16, in_earnest: bool) {
    let server = Server::start(ADDRESS);
    let scene = Scene {
        port: server.port,
        nameserver,
    };
    let count = if in_earnest { 8 << 30 } else { 1 << 28 };
    let mut launcher = command(&scene, Way::Relayed, Chore::Receive, count)
        .stdout(Stdio::null())
        .spawn()
        .expect("stockade starts");
    thread::sleep(Duration::from_millis(if in_earnest { 1000 } else { 50 }));
    let field = |file: &str, name: &str| {
        machine::kibibytes(launcher.id(), file, name).map_or_else(|| "unknown".into(), |value| format!("{value} KiB"))
    };
    let threads = fs::read_dir(format!("/proc/{}/task", launcher.id())).map_or(0, Iterator::count);
    println!(
        "\nsupervisor and relay, while moving bytes: {} resident, {} proportional, {} anonymous, {threads} threads",
        field("smaps_rollup", "Rss:"),
        field("smaps_rollup", "Pss:"),
        field("smaps_rollup", "Anonymous:"),
    );
    let status = launcher.wait().expect("the launcher is ours");
    assert!(status.success(), "the client failed");
}

/// Answers every query by datagram with the server's address (RFC 1035, 4.1), and answers none for IPv6.
fn start_nameserver() -> u16 {
    const HEADER: usize = 12;
    const A: [u8; 2] = [0, 1];
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let port = socket.local_addr().expect("bound").port();
    thread::spawn(move || {
        let mut bytes = [0; 1500];
        while let Ok((_, client)) = socket.recv_from(&mut bytes) {
            let name = bytes[HEADER..].iter().position(|byte| *byte == 0).expect("a name");
            let end = HEADER + name + 5;
            let is_v4 = bytes[end - 4..end - 2] == A;
            let mut answer = bytes[..end].to_vec();
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            answer[6..HEADER].copy_from_slice(&[0, u8::from(is_v4), 0, 0, 0, 0]);
            if is_v4 {
                answer.extend([0xc0, HEADER as u8, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 2]);
            }
            let _ = socket.send_to(&answer, client);
        }
    });
    port
}

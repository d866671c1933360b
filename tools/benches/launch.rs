//! What a launch costs: `stockade run -- /bin/true` against bare fork and exec, and against bubblewrap where it is
//! installed. `docs/costs.md` has some of what this prints.
//!
//! The contestants take turns in one process, so that whatever else the machine does meets them alike; each number
//! is a median, and the ratio is that of two medians. Once on an idle machine, once with a busy thread for each CPU.

mod machine;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");
const FIRST_RUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/first-run");
/// What every contestant starts. It does nothing, so nothing but the launch is measured.
const PROGRAM: &str = "/bin/true";
const ROUNDS: usize = 400;
const WARM_UP: usize = 20;

/// Sandboxes of the same kind that this bench has no comparable command for.
const NOT_COMPARED: &[&str] = &["nono", "sandlock", "landstrip", "srt"];

struct Contestant {
    name: &'static str,
    words: Vec<&'static str>,
}

fn main() {
    // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
    let in_earnest = std::env::args().any(|argument| argument == "--bench");
    let rounds = if in_earnest { ROUNDS } else { 3 };
    let contestants = contestants();
    println!("{}\n", machine::description());
    let idle = measure(&contestants, rounds);
    let loaded = machine::under_load(|| measure(&contestants, rounds));
    print_table(&contestants, &idle, &loaded);
    print_memory();
}

/// The bare launch first: the others are compared with it.
fn contestants() -> Vec<Contestant> {
    let mut contestants = vec![
        Contestant {
            name: "bare fork and exec",
            words: vec![PROGRAM],
        },
        Contestant {
            name: "stockade, `minimal`",
            words: vec![STOCKADE, "run", "--", PROGRAM],
        },
        Contestant {
            name: "stockade, `readonly` (scratch directory, one file)",
            words: vec![
                STOCKADE,
                "run",
                "--profile",
                "readonly",
                "--root",
                FIRST_RUN,
                "--",
                PROGRAM,
            ],
        },
    ];
    // The same system read-only, private devices and /proc, no network, and an end with its parent.
    let bubblewrap = Contestant {
        name: "bubblewrap, read-only system",
        words: "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --"
            .split(' ')
            .chain([PROGRAM])
            .collect(),
    };
    if works(&bubblewrap) {
        contestants.push(bubblewrap);
    } else {
        println!("skipped: bubblewrap isn't installed, or can't make user namespaces here");
    }
    println!(
        "skipped: {}: no comparable command is known to this bench",
        NOT_COMPARED.join(", ")
    );
    contestants
}

fn works(contestant: &Contestant) -> bool {
    let mut command = command(contestant);
    command
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn command(contestant: &Contestant) -> Command {
    let mut command = Command::new(contestant.words[0]);
    command.args(&contestant.words[1..]).stdin(Stdio::null());
    command
}

/// The median time of each contestant.
fn measure(contestants: &[Contestant], rounds: usize) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
    for round in 0..WARM_UP + rounds {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            let time = launch(contestant);
            if round >= WARM_UP {
                times.push(time);
            }
        }
    }
    times.into_iter().map(machine::median).collect()
}

fn launch(contestant: &Contestant) -> Duration {
    let mut command = command(contestant);
    let started = Instant::now();
    let status = command.status();
    let time = started.elapsed();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{} failed",
        contestant.name
    );
    time
}

fn print_table(contestants: &[Contestant], idle: &[Duration], loaded: &[Duration]) {
    println!("| launch of `{PROGRAM}` | idle, µs | over bare | loaded, µs | over bare |");
    println!("|---|---:|---:|---:|---:|");
    for (index, contestant) in contestants.iter().enumerate() {
        let cell = |times: &[Duration]| {
            let ratio = times[index].as_secs_f64() / times[0].as_secs_f64();
            format!("{} | {ratio:.1} ×", times[index].as_micros())
        };
        println!("| {} | {} | {} |", contestant.name, cell(idle), cell(loaded));
    }
}

/// Memory of Stockade's own two processes while a run lives.
fn print_memory() {
    let mut launcher = Command::new(STOCKADE)
        .args(["run", "--", "sleep", "60"])
        .stdin(Stdio::null())
        .spawn()
        .expect("stockade starts");
    let warden = wait_for_warden(&launcher);
    let of_launcher = memory(launcher.id());
    let of_warden = warden.map(memory);
    launcher.kill().expect("the launcher can be ended");
    launcher.wait().expect("the launcher is ours");
    println!();
    println!("launcher: {of_launcher}");
    println!("warden:   {}", of_warden.unwrap_or_else(|| "not seen".into()));
}

/// The warden's process id, once the program runs below it.
fn wait_for_warden(launcher: &Child) -> Option<u32> {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline {
        if let Some(warden) = child_of(launcher.id())
            && let Some(target) = child_of(warden)
            && fs::read_link(format!("/proc/{target}/exe")).is_ok_and(|program| program != Path::new(STOCKADE))
        {
            return Some(warden);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

fn child_of(process: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// Peak resident memory, and the share of it that is this process's alone (each shared page counted in parts).
fn memory(process: u32) -> String {
    let kilobytes = |value: Option<u64>| value.map_or_else(|| "unknown".into(), |value| format!("{value} KiB"));
    format!(
        "{} resident at most, {} proportional now",
        kilobytes(machine::kibibytes(process, "status", "VmHWM:")),
        kilobytes(machine::kibibytes(process, "smaps_rollup", "Pss:")),
    )
}

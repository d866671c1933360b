//! What judging costs: 100,000 command lines through `stockade check --batch`, against parsing them alone with the
//! grammar that is used.
//!
//!     cargo bench --bench check

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use brush_parser::ParserOptions;

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");
const ORDINARY: &str = include_str!("../../tests/judge/ordinary.txt");
const USUAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judge/usual.toml");

fn main() {
    // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
    let in_earnest = std::env::args().any(|argument| argument == "--bench");
    let (count, rounds) = if in_earnest { (100_000, 5) } else { (1_000, 1) };
    let lines: Vec<&str> = ORDINARY
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '"']))
        .cycle()
        .take(count)
        .collect();
    let place = tempfile::tempdir().expect("a scratch directory");
    let input = place.path().join("lines");
    let mut file = File::create(&input).expect("a scratch file");
    for (id, line) in lines.iter().enumerate() {
        let question = serde_json::json!({ "id": id, "tool": "bash", "command": line });
        writeln!(file, "{question}").expect("a scratch file");
    }
    let parsing = median(rounds, || parse(&lines));
    println!("| {count} command lines | per second | over parsing alone |\n|---|---|---|");
    row("parsing alone", count, parsing, parsing);
    for (name, level) in [
        ("check --batch --audit off", "off"),
        ("check --batch --audit denials", "denials"),
        ("check --batch --audit all", "all"),
    ] {
        let checking = median(rounds, || {
            let start = Instant::now();
            let status = Command::new(STOCKADE)
                .args(["check", "--batch", "--rules", USUAL, "--audit", level])
                .current_dir(place.path())
                .env("XDG_CONFIG_HOME", place.path())
                .env("XDG_STATE_HOME", place.path())
                .stdin(File::open(&input).expect("a scratch file"))
                .stdout(Stdio::null())
                .status()
                .expect("stockade starts");
            assert!(status.success());
            start.elapsed()
        });
        row(name, count, checking, parsing);
    }
}

fn row(name: &str, count: usize, time: Duration, parsing: Duration) {
    let per_second = count as f64 / time.as_secs_f64();
    let ratio = time.as_secs_f64() / parsing.as_secs_f64();
    println!("| {name} | {per_second:.0} | {ratio:.2} |");
}

fn parse(lines: &[&str]) -> Duration {
    let start = Instant::now();
    for line in lines {
        if let Ok(tokens) = brush_parser::tokenize_str(line) {
            std::hint::black_box(brush_parser::parse_tokens(&tokens, &ParserOptions::default()).is_ok());
        }
    }
    start.elapsed()
}

fn median(rounds: usize, mut action: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..rounds).map(|_| action()).collect();
    times.sort();
    times[times.len() / 2]
}

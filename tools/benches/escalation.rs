//! What asking and recording cost where nothing is asked and little is recorded: launches with and without the audit
//! trail and somebody to ask, opens of a file that an answer granted, and the supervisor's memory.
//!
//!     cargo bench --bench escalation
//!     cargo bench --bench escalation -- --loaded         with one busy thread for each CPU beside
//!
//! All ways of one row take turns in one run, on a trail that grows meanwhile as a user's does; each number is a median.

#[path = "chores/company.rs"]
mod company;
#[path = "chores/loops.rs"]
mod loops;
mod machine;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use company::Since;

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");
const TRUE: &str = "/bin/true";
/// A file of the runtime base with more than 4 kB.
const STATIC_FILE: &str = "/usr/bin/env";
/// An approver who is never asked.
const NO: &str = "command=false";
/// An approver who says yes, and needn't be asked twice.
const YES: &str = r#"command=echo '{"answer":"yes","lifetime":"session"}'"#;

/// A table: what is done in different ways.
struct Table {
    what: &'static str,
    rounds: usize,
    /// By how much a time is divided.
    operations: usize,
    ways: Vec<Way>,
}

/// One way to do it.
struct Way {
    name: &'static str,
    /// The way of the same table that it is compared with, and the most that the ratio may be.
    over: Option<(usize, Option<f64>)>,
    /// The flags of `stockade run`; none for bare.
    flags: Option<Vec<String>>,
    words: Vec<String>,
}

fn main() {
    if loops::run_if_asked() {
        return;
    }
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
    let in_earnest = has("--bench");
    let is_loaded = has("--loaded");
    let directory = tempfile::Builder::new()
        .prefix("stockade-bench-")
        .tempdir_in("/var/tmp")
        .expect("a directory");
    let place = directory.path();
    fs::create_dir(place.join("home")).expect("a directory can be made");
    let root = place.join("root");
    fs::create_dir(&root).expect("a directory can be made");
    let file = root.join("file");
    fs::write(&file, [b'x'; 8192]).expect("a file can be written");
    let beside = if is_loaded {
        ", one busy thread for each CPU beside"
    } else {
        ""
    };
    println!("{}{beside}", machine::description());
    let tables = || {
        for table in [launches(in_earnest), opens(in_earnest, &file)] {
            measure(&table, place);
        }
    };
    if is_loaded {
        machine::under_load(tables)
    } else {
        tables()
    }
    print_memory(place, &file);
}

fn launches(in_earnest: bool) -> Table {
    let way = |name, flags: &[&str], over| Way {
        name,
        over,
        flags: Some(flags.iter().map(ToString::to_string).collect()),
        words: vec![TRUE.into()],
    };
    Table {
        what: "launch of `/bin/true`, `minimal`",
        rounds: if in_earnest { 200 } else { 2 },
        operations: 1,
        ways: vec![
            Way {
                name: "bare",
                over: None,
                flags: None,
                words: vec![TRUE.into()],
            },
            way("`--audit off`", &["--audit", "off", "--ask", "never"], Some((0, None))),
            way(
                "`--audit denials`",
                &["--audit", "denials", "--ask", "never"],
                Some((1, Some(1.3))),
            ),
            way("`--audit all`", &["--audit", "all", "--ask", "never"], Some((1, None))),
            way(
                "`--audit off --ask command=…`",
                &["--audit", "off", "--ask", NO],
                Some((1, Some(1.5))),
            ),
        ],
    }
}

fn opens(in_earnest: bool, file: &Path) -> Table {
    let count = if in_earnest { 5_000 } else { 50 };
    let file = file.to_str().expect("a name in ASCII");
    let own = std::env::current_exe().expect("the bench has a name");
    let way = |name, path: &str, flags: &[&str], over| Way {
        name,
        over,
        flags: Some(
            ["--audit", "denials"]
                .iter()
                .chain(flags)
                .map(ToString::to_string)
                .collect(),
        ),
        words: vec![
            own.to_string_lossy().into_owned(),
            loops::HIDDEN.into(),
            "open".into(),
            path.into(),
            count.to_string(),
        ],
    };
    Table {
        what: "open, read 4 kB, close (`minimal`)",
        rounds: if in_earnest { 7 } else { 1 },
        operations: count,
        ways: vec![
            way("static root, no asker", STATIC_FILE, &["--ask", "never"], None),
            way(
                "static root, somebody to ask",
                STATIC_FILE,
                &["--ask", NO],
                Some((0, None)),
            ),
            way(
                "`--read` of the file, no asker",
                file,
                &["--read", file, "--ask", "never"],
                None,
            ),
            way(
                "`--read` of the file, somebody to ask",
                file,
                &["--read", file, "--ask", NO],
                Some((2, None)),
            ),
            way(
                "granted by an answer, for the session",
                file,
                &["--ask", YES],
                Some((2, None)),
            ),
        ],
    }
}

impl Way {
    /// The command, with the same few variables in every way, and a state directory of the bench's own.
    fn command(&self, place: &Path) -> Command {
        let mut command = match &self.flags {
            None => Command::new(&self.words[0]),
            Some(flags) => confined(flags, &self.words),
        };
        if self.flags.is_none() {
            command.args(&self.words[1..]);
        }
        with_state(&mut command, place);
        command
    }

    /// How long it takes: a loop tells its own time, of anything else it is that of the whole process.
    fn time(&self, place: &Path) -> Duration {
        let mut command = self.command(place);
        let started = Instant::now();
        let output = command.output().expect("it can be started");
        let whole = started.elapsed();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}: {}",
            self.name,
            String::from_utf8_lossy(&output.stderr)
        );
        let told = String::from_utf8_lossy(&output.stdout);
        told.trim().parse().map_or(whole, Duration::from_nanos)
    }
}

fn confined(flags: &[String], words: &[String]) -> Command {
    let mut command = Command::new(STOCKADE);
    command.arg("run").args(flags).arg("--").args(words);
    command
}

fn with_state(command: &mut Command, place: &Path) {
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", place.join("home"));
    command
        .env("XDG_STATE_HOME", state(place))
        .current_dir(place.join("root"));
    command.stdin(Stdio::null());
}

fn state(place: &Path) -> PathBuf {
    place.join("state")
}

fn measure(table: &Table, place: &Path) {
    // Caches are filled first.
    for way in &table.ways {
        way.time(place);
    }
    let since = Since::now();
    let mut times = vec![Vec::with_capacity(table.rounds); table.ways.len()];
    for _ in 0..table.rounds {
        for (way, times) in table.ways.iter().zip(&mut times) {
            times.push(way.time(place));
        }
    }
    let company = since.company();
    println!(
        "\n| {} | limit | median | ratio | fastest | ratio of the fastest |",
        table.what
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let times: Vec<Pair> = times.into_iter().map(Pair::of).collect();
    for (way, own) in table.ways.iter().zip(&times) {
        print_row(table, way, own, way.over.map(|(index, _)| &times[index]));
    }
    println!(
        "\nload {:.1} before, {:.1} after, {:.0} % by others: {}",
        company.load_before,
        company.load_after,
        company.share * 100.0,
        if company.is_idle() { "idle" } else { "not idle" },
    );
}

/// The median and the fastest of some times.
struct Pair([Duration; 2]);

impl Pair {
    fn of(times: Vec<Duration>) -> Pair {
        let fastest = times.iter().min().copied().expect("a round");
        Pair([machine::median(times), fastest])
    }

    fn over(&self, other: &Pair) -> [f64; 2] {
        [0, 1].map(|index| self.0[index].as_secs_f64() / other.0[index].as_secs_f64())
    }
}

fn print_row(table: &Table, way: &Way, own: &Pair, other: Option<&Pair>) {
    let (over, limit) = match way.over {
        Some((index, limit)) => (format!(", over {}", table.ways[index].name), limit),
        None => (String::new(), None),
    };
    let [median, fastest] = own
        .0
        .map(|time| format!("{:.1} µs", time.as_secs_f64() * 1e6 / table.operations as f64));
    let ratios = other.map(|other| own.over(other));
    let mark = match (ratios, limit) {
        (Some([ratio, _]), Some(limit)) if ratio > limit => "**",
        _ => "",
    };
    let [of_medians, of_fastest] =
        ratios.map_or_else(Default::default, |ratios| ratios.map(|ratio| format!("{ratio:.2} ×")));
    let limit = limit.map_or_else(String::new, |limit| format!("{limit} ×"));
    println!(
        "| {}{over} | {limit} | {median} | {mark}{of_medians}{mark} | {fastest} | {of_fastest} |",
        way.name
    );
}

/// Memory of the process that supervises, in the middle of runs that do nothing more.
fn print_memory(place: &Path, file: &Path) {
    println!();
    for (what, audit, ask) in [
        ("`--audit off`", "off", "never"),
        ("`--audit denials`", "denials", "never"),
        ("`--audit denials`, somebody to ask", "denials", NO),
        ("`--audit denials`, one question answered", "denials", YES),
    ] {
        let script = match ask {
            YES => format!("cat {} >/dev/null; exec sleep 60", file.display()),
            _ => "exec sleep 60".to_string(),
        };
        let flags = ["--audit", audit, "--ask", ask].map(String::from);
        let words = ["/bin/sh".to_string(), "-c".into(), script];
        let mut command = confined(&flags, &words);
        with_state(&mut command, place);
        let mut launcher = command.spawn().expect("it can be started");
        thread::sleep(Duration::from_millis(600));
        println!(
            "* supervisor's memory, {what} (limit 6 MiB resident): {}",
            memory(&launcher)
        );
        launcher.kill().expect("the launcher can be ended");
        launcher.wait().expect("the launcher is ours");
    }
}

fn memory(launcher: &Child) -> String {
    let field = |name: &str| {
        machine::kibibytes(launcher.id(), "smaps_rollup", name)
            .map_or_else(|| "unknown".into(), |value| format!("{value} KiB"))
    };
    let threads = fs::read_dir(format!("/proc/{}/task", launcher.id())).map_or(0, Iterator::count);
    format!(
        "{} resident, {} proportional, {} anonymous, {threads} threads",
        field("Rss:"),
        field("Pss:"),
        field("Anonymous:")
    )
}

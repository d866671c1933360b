//! What work costs in a run: system calls in loops, git, builds, against the same without Stockade. The rows and limits
//! are those of the design; `docs/evidence.md` has the last table that this printed.
//!
//!     cargo bench --bench supervised                     all rows
//!     cargo bench --bench supervised -- open git         rows whose names begin so
//!     cargo bench --bench supervised -- --loaded         with one busy thread for each CPU beside
//!     cargo bench --bench supervised -- --list           the names
//!
//! Bare and confined take turns in one run; each number is a median. Where others took more than 5 % of the machine
//! meanwhile, the row says so: then the ratio is an indication and no more.

mod chores;
mod machine;

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use chores::company::Company;
use chores::loops;
use chores::measure::{Setting, Times, measure};
use chores::rows::{OPENS, Row, is_everyday, rows, tree};
use chores::task::{Task, Timing, Way};
use chores::trees;

/// The name of the row that isn't a ratio.
const MEMORY: &str = "memory";

fn main() {
    if loops::run_if_asked() {
        return;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--list") {
        rows().for_each(|row| println!("{:16} {}", row.name, row.what));
        println!("{MEMORY:16} the supervisor's memory in the middle of runs");
        return;
    }
    let directory = tempfile::Builder::new()
        .prefix("stockade-bench-")
        .tempdir_in("/var/tmp")
        .expect("a directory");
    let setting = Setting {
        place: directory.path().to_path_buf(),
        // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
        in_earnest: has("--bench"),
    };
    let wanted: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.starts_with(word.as_str()));
    println!(
        "{}{}\n",
        machine::description(),
        if has("--loaded") {
            ", one busy thread for each CPU beside"
        } else {
            ""
        }
    );
    let table = || print_table(&setting, is_wanted);
    if has("--loaded") {
        machine::under_load(table)
    } else {
        table()
    }
    if is_wanted(MEMORY) {
        print_memory(&setting);
    }
}

fn print_table(setting: &Setting, is_wanted: impl Fn(&str) -> bool) {
    println!("| | limit | bare | confined | ratio | ratio of the fastest | bubblewrap | load before, after | others |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---|");
    let (mut auto, mut exact) = (Vec::new(), Vec::new());
    for row in rows().filter(|row| is_wanted(row.name)) {
        match measure(&row, setting) {
            Ok((times, company)) => {
                let ratio = print_row(&row, setting.count(row.operations), times, &company);
                if is_everyday(&row) {
                    if row.name.ends_with("-exact") {
                        &mut exact
                    } else {
                        &mut auto
                    }
                    .push(ratio);
                }
            }
            Err(reason) => println!("| {} | {} × | skipped: {reason} ||||||||", row.what, row.limit),
        }
    }
    for (mut ratios, what, limit) in [(auto, "by default", 1.1), (exact, "`--trace exact`", 1.4)] {
        if !ratios.is_empty() {
            ratios.sort_by(f64::total_cmp);
            let (count, median) = (ratios.len(), ratios[ratios.len() / 2]);
            println!("| median of the {count} everyday jobs above, {what} | {limit} × | | | {median:.2} × |||||");
        }
    }
}

/// Prints a row, and answers the ratio of its medians.
fn print_row(row: &Row, operations: usize, times: Times, company: &Company) -> f64 {
    let fastest = ratio(times.bare.iter().min().copied(), times.confined.iter().min().copied());
    let (bare, confined) = (machine::median(times.bare), machine::median(times.confined));
    let of_medians = ratio(Some(bare), Some(confined));
    let [beside, boxed] = times.bubblewrap;
    let bubblewrap = (!boxed.is_empty()).then(|| ratio(Some(machine::median(beside)), Some(machine::median(boxed))));
    // Launches at once are held against bubblewrap's.
    let (held, unit) = match (row.is_at_once(), bubblewrap) {
        (true, Some(bubblewrap)) => (of_medians / bubblewrap, " bubblewrap"),
        _ => (of_medians, ""),
    };
    let mark = if held > row.limit { "**" } else { "" };
    let bubblewrap = bubblewrap.map_or("–".into(), |ratio| format!("{ratio:.2} ×"));
    println!(
        "| {} | {} ×{unit} | {} | {} | {mark}{of_medians:.2} ×{mark} | {fastest:.2} × | {bubblewrap} | {:.1}, {:.1} | {:.0} %, {} |",
        row.what,
        row.limit,
        short(bare, operations),
        short(confined, operations),
        company.load_before,
        company.load_after,
        company.share * 100.0,
        if company.is_idle() { "idle" } else { "not idle" },
    );
    of_medians
}

fn ratio(bare: Option<Duration>, confined: Option<Duration>) -> f64 {
    let seconds = |time: Option<Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64());
    seconds(confined) / seconds(bare)
}

/// The time of one operation.
fn short(time: Duration, operations: usize) -> String {
    let microseconds = time.as_secs_f64() * 1e6 / operations as f64;
    match microseconds {
        _ if microseconds < 100.0 => format!("{microseconds:.2} µs"),
        _ if microseconds < 10_000.0 => format!("{microseconds:.0} µs"),
        _ => format!("{:.0} ms", microseconds / 1e3),
    }
}

/// Memory of the process that supervises, in the middle of runs that keep it busy.
fn print_memory(setting: &Setting) {
    println!();
    let opens = tree(trees::plain(&setting.place))
        .map(|root| Task::of_loop("--profile workspace", "open", root.join("file"), 5 * OPENS, &root));
    let make = tree(trees::c_program(&setting.place))
        .map(|root| Task::new("--profile workspace", "make -j2", &root, Timing::Process));
    for (what, task) in [("opens in a supervised root", opens), ("`make -j2`", make)] {
        let told = task.and_then(|task| memory_during(&task));
        println!(
            "supervisor's memory during {what} (limit 6 MiB resident): {}",
            told.unwrap_or_else(|reason| reason)
        );
    }
}

fn memory_during(task: &Task) -> Result<String, String> {
    trees::clean(&task.directory);
    let mut command = task.command(Way::Confined);
    let mut launcher = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    thread::sleep(Duration::from_millis(400));
    let field = |file: &str, name: &str| {
        machine::kibibytes(launcher.id(), file, name).map_or_else(|| "unknown".into(), |value| format!("{value} KiB"))
    };
    let threads = fs::read_dir(format!("/proc/{}/task", launcher.id())).map_or(0, Iterator::count);
    let told = format!(
        "{} resident, {} proportional, {} anonymous, {threads} threads",
        field("smaps_rollup", "Rss:"),
        field("smaps_rollup", "Pss:"),
        field("smaps_rollup", "Anonymous:"),
    );
    launcher.wait().map_err(|error| error.to_string())?;
    Ok(told)
}

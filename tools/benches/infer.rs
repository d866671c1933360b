//! What reading a script costs: 200 lines of each language in this process, after its tables were read once; a whole
//! `stockade infer` beside a start that does nothing; and 1 MiB.
//!
//!     cargo bench --bench infer

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stockade_infer::{Language, MAX_LENGTH, Setting, infer};

const STOCKADE: &str = env!("CARGO_BIN_EXE_stockade");

/// Some lines as they occur, with a number in them that makes each piece another.
const PYTHON: &str = r#"
def load_@(name, root=Path("data")):
    # Reads one file.
    path = root / f"{name}-@.csv"
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["kind"] != "x"]

rows_@ = load_@("sales")
print(sum(float(row["price"]) for row in rows_@))
"#;
const SCRIPT: &str = r#"
function load@(name, root = "data") {
  // Reads one file.
  const file = path.join(root, `${name}-@.json`);
  if (!fs.existsSync(file)) return [];
  const text = fs.readFileSync(file, "utf8");
  return JSON.parse(text).filter((row) => row.kind !== "x");
}

const rows@ = load@("sales");
console.log(rows@.map((row) => row.price * 2).join(", "));
"#;
const SHELL: &str = r#"
count_@() {
    # Counts the lines of one file.
    local file="$1"
    if [ -f "$file" ]; then
        wc -l < "$file" | tr -d ' '
    else
        echo 0
    fi
}
total_@=$(count_@ "data/sales-@.csv")
printf '%s\n' "$total_@"
"#;

fn main() {
    // `cargo test --all-targets` starts benches too, without this argument: then a look is enough.
    let in_earnest = std::env::args().any(|argument| argument == "--bench");
    let rounds = if in_earnest { 21 } else { 1 };
    println!("| | 200 lines | its start and reading, as a process | 1 MiB |\n|---|---:|---:|---:|");
    for (language, head, piece) in [
        (Language::Python, "import csv\nfrom pathlib import Path\n", PYTHON),
        (
            Language::JavaScript,
            "import fs from \"node:fs\";\nimport path from \"node:path\";\n",
            SCRIPT,
        ),
        (
            Language::TypeScript,
            "import fs from \"node:fs\";\nimport path from \"node:path\";\n",
            SCRIPT,
        ),
        (Language::Shell, "#!/bin/sh\n", SHELL),
    ] {
        let script = repeated(head, piece, |text| text.lines().count() >= 200);
        let longest = repeated(head, piece, |text| text.len() + 2 * piece.len() > MAX_LENGTH);
        let read = |text: &str, rounds| median(rounds, || timed(|| infer(text, language, &Setting::default())));
        let most = if in_earnest { read(&longest, 3) } else { Duration::ZERO };
        println!(
            "| {} | {:.2} ms | {:.1} ms | {:.0} ms |",
            language.name(),
            milliseconds(read(&script, rounds)),
            milliseconds(median(rounds, || as_process(&script, language))),
            milliseconds(most)
        );
    }
    println!(
        "\nA start that does nothing: {:.1} ms",
        milliseconds(median(rounds, start))
    );
}

fn repeated(head: &str, piece: &str, is_enough: impl Fn(&str) -> bool) -> String {
    let mut text = head.to_string();
    for number in 0.. {
        if is_enough(&text) {
            break;
        }
        text += &piece.replace('@', &number.to_string());
    }
    text
}

fn as_process(text: &str, language: Language) -> Duration {
    let file = tempfile::NamedTempFile::new().expect("a scratch file");
    std::fs::write(file.path(), text).expect("a scratch file");
    timed(|| stockade(&["infer", "--lang", language.name()], Some(file.path())))
}

fn start() -> Duration {
    timed(|| stockade(&["--version"], None))
}

fn stockade(words: &[&str], file: Option<&Path>) {
    let mut command = Command::new(STOCKADE);
    command.args(words).args(file).stdout(Stdio::null());
    assert!(command.status().expect("stockade starts").success());
}

fn timed<T>(action: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(action());
    start.elapsed()
}

fn median(rounds: usize, action: impl Fn() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..rounds).map(|_| action()).collect();
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

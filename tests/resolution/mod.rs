//! Opening a path under `workspace` gives the object that the kernel's own resolution gives, or a refusal: never
//! another object. Where nothing is closed, it gives the same answer.
//!
//! `trees.py` makes trees and cases from a seed, `drive.py` performs them: bare, and confined on the same trees.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use crate::common::{Finished, Place, STOCKADE, finish_within, python, tries};
use serde_json::Value;

const TREES: &str = include_str!("trees.py");
const DRIVE: &str = include_str!("drive.py");
/// Far more than it takes, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);
const CASES_OF_A_TREE: usize = 250;
/// Faults that are shown of each kind, and kinds.
const SHOWN: usize = 4;

/// One line of the driver: what the twin may answer, and the answer.
type Line = (String, String);

/// 15 trees with 250 paths each, and 375 creations; twice as many where tests soak.
fn resolves_alike(seed: u32) {
    let place = Place::new();
    let numbers = [seed as usize, tries(15, 30), CASES_OF_A_TREE].map(|number| number.to_string());
    let mut command = place.command(python());
    let made = done(command.args(["-I", "-c", TREES]).args(numbers), b"");
    let cases = cases_of(&made);
    let mut command = place.command(python());
    let bare = lines(&done(command.args(["-I", "-c", DRIVE, "bare"]), &made));
    let mut command = place.command(STOCKADE);
    command
        .args(["run", "--profile", "workspace", "--root"])
        .arg(&place.root);
    let held = lines(&done(command.args(["--", python(), "-I", "-c", DRIVE, "held"]), &made));
    assert_eq!(
        (bare.len(), held.len()),
        (cases.len(), cases.len()),
        "every case has its answer"
    );
    assert_worth(&bare);
    let mut faults: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ((case, (expected, free)), (_, answer)) in cases.iter().zip(&bare).zip(&held) {
        if !is_right(expected, free, answer) {
            let kind = format!(
                "bare {}, confined {}, expected {expected}",
                word(free, free),
                word(free, answer)
            );
            faults
                .entry(kind)
                .or_default()
                .push(format!("{free} | {answer} | {case}"));
        }
    }
    assert!(faults.is_empty(), "seed {seed}\n{}", told(&faults));
}

/// The bare answers hold objects, errors and secrets, or the comparison proves little.
fn assert_worth(bare: &[Line]) {
    let share =
        |is_counted: &dyn Fn(&Line) -> bool| bare.iter().filter(|line| is_counted(line)).count() * 100 / bare.len();
    let strict = share(&|(expected, _)| expected == "same");
    let objects = share(&|(expected, answer)| expected == "same" && !answer.starts_with('E'));
    let refused = share(&|(expected, _)| expected == "refused");
    assert!(
        strict >= 60 && objects >= 25 && refused >= 2,
        "of the bare answers {strict} % must be the same, {objects} % are objects, {refused} % must be refused"
    );
}

fn is_right(expected: &str, bare: &str, answer: &str) -> bool {
    let is_refusal = answer == "EACCES" || answer == "EACCES; unchanged";
    match expected {
        "same" => answer == bare,
        "either" => answer == bare || is_refusal || is_pinned(bare, answer),
        "refused" => is_refusal,
        // The kernel has no name for what lies deeper than 4,096 bytes.
        "nameless" => answer == bare || answer.starts_with('E'),
        // Holding a secret's place open gives nothing of its content.
        "pinned" => is_refusal || is_pinned(bare, answer),
        other => panic!("the driver expects {other:?}"),
    }
}

/// The same object, but what it leads to is refused.
fn is_pinned(bare: &str, answer: &str) -> bool {
    let (Some((bare, _)), Some((answer, again))) = (bare.split_once(" reopened "), answer.split_once(" reopened "))
    else {
        return false;
    };
    bare == answer && again.starts_with('E')
}

/// An error, or how the object compares with the bare answer.
fn word<'a>(bare: &str, answer: &'a str) -> &'a str {
    let object = |answer: &'_ str| answer.split(' ').next().map(str::to_owned);
    match answer.starts_with('E') {
        true => answer,
        false if answer == bare => "an object",
        false if object(answer) == object(bare) => "the same object in another way",
        false => "ANOTHER OBJECT",
    }
}

fn told(faults: &BTreeMap<String, Vec<String>>) -> String {
    let shown = |(kind, cases): (&String, &Vec<String>)| {
        let first: Vec<&str> = cases.iter().take(SHOWN).map(String::as_str).collect();
        format!("{} × {kind}\n    {}", cases.len(), first.join("\n    "))
    };
    faults.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn cases_of(made: &[u8]) -> Vec<String> {
    let groups: Value = serde_json::from_slice(made).expect("the cases are JSON");
    let groups = groups.as_array().expect("a list of groups");
    groups
        .iter()
        .flat_map(|group| {
            let opened = group["opened"].as_array().expect("a list of numbers and paths");
            let cases = group["cases"].as_array().expect("a list of cases").iter();
            cases.map(move |case| {
                let base = opened.iter().find(|pair| pair[0] == case["base"]);
                let base = base.map_or(&group["cwd"], |pair| &pair[1]);
                squeezed(&format!("{case} from {base}"))
            })
        })
        .collect()
}

/// Without the padding of long names and paths.
fn squeezed(text: &str) -> String {
    let mut squeezed = text.to_string();
    for padding in ["./", "/", "l", "k", "d", "n", "x"] {
        let long = padding.repeat(12);
        while squeezed.contains(&long) {
            squeezed = squeezed.replace(&long, &padding.repeat(4));
        }
    }
    match squeezed == text {
        true => squeezed,
        false => format!("{squeezed} (squeezed from {} bytes)", text.len()),
    }
}

fn lines(output: &[u8]) -> Vec<Line> {
    String::from_utf8_lossy(output)
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(expected, answer)| (expected.to_string(), answer.to_string()))
        .collect()
}

fn done(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let finished: Finished = finish_within(command, input, PATIENCE);
    let status = finished.status;
    assert!(status.success(), "{status}: {}", finished.stderr());
    finished.stdout
}

#[test]
fn paths_resolve_to_the_same_object_or_a_refusal_1() {
    resolves_alike(1);
}

#[test]
fn paths_resolve_to_the_same_object_or_a_refusal_2() {
    resolves_alike(2);
}

#[test]
fn paths_resolve_to_the_same_object_or_a_refusal_3() {
    resolves_alike(3);
}

//! How well profiles are inferred, by the labels: one table, and the bounds that it has to keep.
//!
//! `cargo test --test programs inference::accuracy -- --nocapture` prints it.

use std::collections::BTreeSet;
use std::fmt::Write;

use stockade_infer::{Inference, Language, Setting, infer};

use super::label::{LANGUAGES, Label, corpus, labels};
use super::order::{Standing, steps};
use super::within::{covers, plain_host, plain_path};

/// The parsers recurse, as deep as a script is nested.
const STACK: usize = 256 << 20;
/// A band with fewer answers says nothing about the share of right ones.
const FEW: usize = 8;

/// A script, its label and its answer.
struct Answered {
    label: Label,
    answer: Inference,
}

impl Answered {
    fn standing(&self) -> Standing {
        Standing::of(&self.answer.profile, &self.label.profile)
    }

    fn is(&self, standing: Standing) -> bool {
        self.standing() == standing
    }
}

/// A band of confidence, and the shares of right answers that are true to it.
struct Band {
    name: &'static str,
    holds: fn(f64) -> bool,
    is_true: fn(f64) -> bool,
}

const BANDS: [Band; 3] = [
    Band {
        name: "under 0.7",
        holds: |confidence| confidence < 0.7,
        is_true: |share| share < 0.7,
    },
    Band {
        name: "0.7 to 0.9",
        holds: |confidence| (0.7..=0.9).contains(&confidence),
        is_true: |share| (0.7..=0.9).contains(&share),
    },
    Band {
        name: "over 0.9",
        holds: |confidence| confidence > 0.9,
        is_true: |share| share > 0.9,
    },
];

/// Infers every script of the corpus, without running any.
fn answered() -> Vec<Answered> {
    let all = || labels().into_iter().map(answer).collect();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(all).unwrap();
    thread.join().expect("no script makes the reader fail")
}

fn answer(label: Label) -> Answered {
    let root = corpus().join("root");
    let setting = Setting {
        script: Some(root.join(label.name())),
        root: Some(root),
        home: Some("/home/someone".into()),
        ..Setting::default()
    }
    .with_modules();
    let source = std::fs::read_to_string(label.path()).unwrap();
    let language = Language::of(Some(&label.path()), &source);
    let named = Language::named(label.language());
    assert_eq!(language, named, "{}", label.file);
    let answer = infer(&source, named.unwrap(), &setting);
    Answered { label, answer }
}

#[test]
fn accuracy() {
    let all = answered();
    println!("{}", table(&all));
    // Scripts that the readers were never mended by are shown and promise nothing but that confidence means something.
    let known: Vec<&Answered> = all.iter().filter(|one| !one.label.held_out).collect();
    let count = |is: &dyn Fn(&Answered) -> bool| known.iter().filter(|one| is(one)).count();
    let mut faults = Vec::new();
    let exact = share(count(&|one| one.is(Standing::Exact)), known.len());
    if exact < 0.95 {
        faults.push(format!("{:.1} % are exact, the aim is 95 %", exact * 100.0));
    }
    let under = share(count(&|one| one.is(Standing::Under)), known.len());
    if under > 0.02 {
        faults.push(format!(
            "{:.1} % give too little, the aim is 2 % at most",
            under * 100.0
        ));
    }
    for one in known {
        let away = steps(&one.answer.profile, &one.label.profile);
        if one.answer.confidence >= 0.9 && away > 1 {
            faults.push(format!("{} is sure and {away} steps away", one.label.file));
        }
    }
    for band in &BANDS {
        let (right, answers) = right_of(&all, band);
        if answers >= FEW && !(band.is_true)(share(right, answers)) {
            faults.push(format!("of the answers {}, {right} of {answers} are right", band.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The right answers of a band, and all of its answers.
fn right_of(all: &[Answered], band: &Band) -> (usize, usize) {
    let of_it: Vec<&Answered> = all.iter().filter(|one| (band.holds)(one.answer.confidence)).collect();
    let right = of_it.iter().filter(|one| one.is(Standing::Exact)).count();
    (right, of_it.len())
}

fn table(all: &[Answered]) -> String {
    let mut text = format!(
        "{:<12}{:>9}{:>9}{:>9}{:>9}{:>14}\n",
        "language", "scripts", "exact", "under", "over", "under, unsure"
    );
    for language in LANGUAGES.into_iter().chain(["all", "held out"]) {
        let of_it = |one: &&Answered| match language {
            "held out" => one.label.held_out,
            "all" => !one.label.held_out,
            language => !one.label.held_out && one.label.language() == language,
        };
        let of_it: Vec<&Answered> = all.iter().filter(of_it).collect();
        let percent = |is: &dyn Fn(&Answered) -> bool| {
            let count = of_it.iter().filter(|one| is(one)).count();
            format!("{:.1} %", share(count, of_it.len()) * 100.0)
        };
        let _ = writeln!(
            text,
            "{language:<12}{:>9}{:>9}{:>9}{:>9}{:>14}",
            of_it.len(),
            percent(&|one| one.is(Standing::Exact)),
            percent(&|one| one.is(Standing::Under)),
            percent(&|one| one.is(Standing::Over)),
            percent(&|one| one.is(Standing::Under) && !one.answer.is_sure()),
        );
    }
    let _ = writeln!(text, "\n{:<12}{:>9}{:>9}", "confidence", "answers", "right");
    for band in &BANDS {
        let (right, answers) = right_of(all, band);
        let percent = share(right, answers) * 100.0;
        let _ = writeln!(text, "{:<12}{answers:>9}{percent:>7.1} %", band.name);
    }
    text + &effects(all) + &wrong(all)
}

/// The answers that aren't exact.
fn wrong(all: &[Answered]) -> String {
    let mut text = String::from("\n");
    for one in all.iter().filter(|one| !one.is(Standing::Exact)) {
        let (inferred, label) = (&one.answer.profile, &one.label);
        let _ = writeln!(
            text,
            "{:<40} {:<13} is taken for {:<13} {:.2}, {} steps{}",
            label.file,
            label.profile,
            inferred,
            one.answer.confidence,
            steps(inferred, &label.profile),
            if label.hard { ", hard" } else { "" },
        );
    }
    text
}

/// A field of labels and answers, as plain texts.
type Field = fn(&Answered) -> (BTreeSet<String>, BTreeSet<String>);

/// Of what was inferred, what the labels name (precision); of what they name, what was inferred (recall).
fn effects(all: &[Answered]) -> String {
    let fields: [(&str, Field); 4] = [
        ("reads", |one| (paths(&one.answer.reads), paths(&one.label.reads))),
        ("writes", |one| (paths(&one.answer.writes), paths(&one.label.writes))),
        ("hosts", |one| (hosts(&one.answer.hosts), hosts(&one.label.hosts))),
        ("env", |one| (names(&one.answer.env), names(&one.label.env))),
    ];
    let mut text = format!("\n{:<12}{:>11}{:>9}\n", "effects", "precision", "recall");
    for (name, field) in fields {
        let (mut right, mut inferred, mut found, mut named) = (0, 0, 0, 0);
        for (answers, labels) in all.iter().map(field) {
            inferred += answers.len();
            named += labels.len();
            right += answers
                .iter()
                .filter(|answer| labels.iter().any(|label| covers(label, answer)))
                .count();
            let meets = |label: &String| {
                answers
                    .iter()
                    .any(|answer| covers(label, answer) || covers(answer, label))
            };
            found += labels.iter().filter(|label| meets(label)).count();
        }
        let (precision, recall) = (share(right, inferred) * 100.0, share(found, named) * 100.0);
        let _ = writeln!(text, "{name:<12}{precision:>9.1} %{recall:>7.1} %");
    }
    text
}

fn paths(all: &[String]) -> BTreeSet<String> {
    all.iter().map(|path| plain_path(path).to_string()).collect()
}

fn hosts(all: &[String]) -> BTreeSet<String> {
    all.iter().map(|host| plain_host(host)).collect()
}

fn names(all: &[String]) -> BTreeSet<String> {
    all.iter().cloned().collect()
}

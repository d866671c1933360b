//! The loop closes: `exec` ends each script as it ends unconfined, and asks for what was missing and nothing else.
//!
//! Each script runs under what is inferred, under its label's profile where that is another, both with somebody who says
//! yes to every question once, and unconfined by the command that `exec` chose.

use serde_json::Value;

use super::alone::{Claimed, alone, can_run, place, state};
use super::label::{Label, labels, runnable};
use super::within::{is_host, is_named};
use crate::common::{Finished, Place, STOCKADE, finish};

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    code: i32,
    /// The place's own paths are `@ROOT` and `@HOME`.
    stdout: String,
    stderr: String,
}

/// A run by `exec`.
struct Confined {
    ended: Ended,
    /// What was asked: access and target, paths as labels have them.
    asked: Vec<(String, String)>,
    report: Value,
}

/// A script's runs.
struct Round {
    label: Label,
    bare: Ended,
    /// Whether it prints the same each time.
    is_steady: bool,
    inferred: Confined,
    /// `None` where that is what was inferred.
    labelled: Option<Confined>,
}

/// All rounds of a language; none where the scripts can't be run. `STOCKADE_TEST_SCRIPT` names those wanted.
fn rounds(language: &str) -> Vec<Round> {
    if !can_run() {
        return Vec::new();
    }
    let only = std::env::var("STOCKADE_TEST_SCRIPT").unwrap_or_default();
    let labels = match only.is_empty() {
        true => runnable(),
        false => labels()
            .into_iter()
            .filter(|label| label.runs && label.file.contains(&only))
            .collect(),
    };
    let of_language = labels.iter().filter(|label| label.language() == language);
    of_language.map(Round::of).collect()
}

impl Round {
    fn of(label: &Label) -> Round {
        let claimed = Claimed::new(label);
        let inferred = Confined::of(&claimed, &[]);
        let is_label = inferred.report["profile"] == label.profile.as_str();
        let labelled = (!is_label).then(|| Confined::of(&claimed, &["--profile", &label.profile]));
        let command = command_of(&inferred.report);
        let bare = bare(&claimed, &command);
        let is_same = |confined: &Confined| confined.ended.stdout == bare.stdout;
        let is_same_again = || bare.stdout == self::bare(&claimed, &command).stdout;
        let is_steady = !label.varies && (is_same(&inferred) && labelled.iter().all(is_same) || is_same_again());
        Round {
            label: label.clone(),
            bare,
            is_steady,
            inferred,
            labelled,
        }
    }

    fn labelled(&self) -> &Confined {
        self.labelled.as_ref().unwrap_or(&self.inferred)
    }

    /// What is wrong with one of its confined runs.
    fn faults(&self, confined: &Confined) -> Vec<String> {
        let (label, ended) = (&self.label, &confined.ended);
        if confined.report.is_null() {
            return vec![format!("exec doesn't run it: {}", ended.stderr)];
        }
        let mut faults = Vec::new();
        for (access, target) in &confined.asked {
            if !is_of_label(access, target, label) {
                faults.push(format!("asked for more: {access} {target}"));
            }
        }
        // A name that was granted is found, and what a program makes of a host that then can't be reached is its own.
        let fails_alike = label.leaves_machine() && self.bare.code != 0 && ended.code != 0;
        let ends_alike = self.bare.code == ended.code || fails_alike;
        let prints_alike = self.bare.stdout == ended.stdout || !self.is_steady || label.leaves_machine();
        if ends_alike && prints_alike {
            return faults;
        }
        match confined.cannot_be_asked(label) {
            Some(why) => println!("{} ends otherwise: {why}", label.file),
            None => faults.push(format!(
                "exit code {}, unconfined {}\n--- stdout\n{}\n--- unconfined\n{}\n--- stderr\n{}\n--- refused\n{}",
                ended.code,
                self.bare.code,
                ended.stdout,
                self.bare.stdout,
                ended.stderr,
                refused(&confined.report)
            )),
        }
        faults
    }
}

impl Confined {
    fn of(claimed: &Claimed<'_>, flags: &[&str]) -> Confined {
        let place = place(claimed);
        let (asked, report) = (state(&place).join("asked"), state(&place).join("report.json"));
        let answers = format!(
            "command={{ cat; echo; }} >> {}; echo '{{\"answer\":\"yes\",\"lifetime\":\"once\"}}'",
            asked.display()
        );
        let mut words = vec![
            STOCKADE.path(),
            "exec",
            "--ask",
            &answers,
            "--report",
            report.to_str().unwrap(),
        ];
        words.extend(flags);
        words.extend(["--", claimed.label.name()]);
        let words: Vec<String> = words.into_iter().map(str::to_string).collect();
        let mut command = alone(&place, &words);
        let ended = finish(&mut command, b"");
        let text = std::fs::read_to_string(&asked).unwrap_or_default();
        let requests = text.lines().filter(|line| !line.is_empty());
        let requests = requests.map(|line| serde_json::from_str(line).expect("a request is JSON"));
        Confined {
            asked: requests.map(|request: Value| question(&request, &place)).collect(),
            ended: Ended::of(&ended, &place),
            report: std::fs::read_to_string(&report)
                .ok()
                .and_then(|text| serde_json::from_str(&unplaced(&text, &place)).ok())
                .unwrap_or_default(),
        }
    }

    /// Why it may end otherwise although nothing is wrong: what can't be asked for.
    fn cannot_be_asked(&self, label: &Label) -> Option<String> {
        let profile = self.report["profile"].as_str().unwrap_or_default();
        let is_passed = |name: &String| match profile {
            "trusted" => true,
            "mcp-standard" => ["HOME", "PATH", "USER", "SHELL", "LOGNAME"].contains(&name.as_str()),
            _ => false,
        };
        if let Some(name) = label.env.iter().find(|name| !is_passed(name)) {
            return Some(format!("`{profile}` doesn't pass the variable {name}"));
        }
        if profile == "minimal" && label.writes.iter().any(|path| path == "/tmp") {
            return Some("`minimal` has no directory for temporary files".into());
        }
        let denials = self.report["denials"].as_array()?;
        denials.iter().find_map(|denial| {
            let rule = denial["rule"]["text"].as_str().unwrap_or_default();
            let target = denial["target"].as_str().unwrap_or_default();
            match denial["access"].as_str()? {
                "execute" => Some(format!("`{profile}` doesn't start {target}")),
                "socket" if target == "datagrams" => Some(rule.to_string()),
                _ if rule.contains("has asked") || rule.contains("guarded") => Some(rule.to_string()),
                _ => None,
            }
        })
    }
}

impl Ended {
    fn of(finished: &Finished, place: &Place) -> Ended {
        Ended {
            code: finished.status.code().unwrap_or(-1),
            stdout: unplaced(&finished.stdout(), place),
            stderr: unplaced(&finished.stderr(), place),
        }
    }
}

/// Unconfined, by the command that `exec` chose.
fn bare(claimed: &Claimed<'_>, command: &[String]) -> Ended {
    let place = place(claimed);
    let words: Vec<String> = command.iter().map(|word| place.fill(word)).collect();
    Ended::of(&finish(&mut alone(&place, &words), b""), &place)
}

fn unplaced(text: &str, place: &Place) -> String {
    text.replace(place.root.to_str().unwrap(), "@ROOT")
        .replace(place.home.to_str().unwrap(), "@HOME")
        .replace(state(place).to_str().unwrap(), "@STATE")
}

/// The command of a report; `true` where there is none.
fn command_of(report: &Value) -> Vec<String> {
    let Some(words) = report["command"].as_array() else {
        return vec!["true".into()];
    };
    words
        .iter()
        .map(|word| word.as_str().unwrap_or_default().to_string())
        .collect()
}

/// A request's access and target.
fn question(request: &Value, place: &Place) -> (String, String) {
    let text = |field: &str| request["evidence"][field].as_str().unwrap_or_default();
    let target = unplaced(text("target"), place);
    (
        text("access").into(),
        target.replacen("@ROOT", ".", 1).replacen("@HOME", "~", 1),
    )
}

fn is_of_label(access: &str, target: &str, label: &Label) -> bool {
    match access {
        "read" => [&label.reads, &label.writes, &label.tries]
            .iter()
            .any(|named| is_named(target, named)),
        "execute" => is_named(target, &label.commands),
        "write" | "create" | "delete" | "metadata" => is_named(target, &label.writes),
        "connect" | "resolve" => is_host(target, label),
        "listen" => label.listens,
        _ => false,
    }
}

fn refused(report: &Value) -> String {
    let denials = report["denials"].as_array().into_iter().flatten();
    let lines = denials.map(|denial| format!("{} {} {}", denial["access"], denial["target"], denial["rule"]["text"]));
    lines.collect::<Vec<String>>().join("\n")
}

/// What is wrong with a script: unconfined it doesn't end as its label says, or under what is inferred or labelled not as
/// unconfined, or it asked for more than was missing.
fn faults(round: &Round) -> Vec<String> {
    let is_right = round.bare.code == round.label.exit || round.inferred.report.is_null();
    let unconfined = (!is_right).then(|| format!("unconfined, exit code {}\n{}", round.bare.code, round.bare.stderr));
    let of_inferred = round.faults(&round.inferred).into_iter();
    let of_labelled = beyond_label(round).into_iter().chain(round.faults(round.labelled()));
    unconfined
        .into_iter()
        .chain(of_inferred.map(|fault| format!("by exec, {fault}")))
        .chain(of_labelled.map(|fault| format!("under its label, {fault}")))
        .collect()
}

/// Under its label a script asks for hosts alone.
fn beyond_label(round: &Round) -> Vec<String> {
    let asked = round.labelled().asked.iter();
    // `network-api` has `api.*` alone.
    let is_more = |access: &str| round.label.profile != "network-api" || access != "connect";
    let is_tried = |target: &String| round.label.tries.contains(target);
    let more = asked.filter(|(access, target)| is_more(access) && !is_tried(target));
    more.map(|(access, target)| format!("asked beyond its label: {access} {target}"))
        .collect()
}

/// Fails with all that is wrong, script by script.
fn all_are_well(language: &str) {
    let rounds = rounds(language);
    let of_each = rounds.iter().map(|round| (&round.label, faults(round)));
    let wrong: Vec<String> = of_each
        .filter(|(_, faults)| !faults.is_empty())
        .map(|(label, faults)| format!("{} ({}): {}", label.file, label.profile, faults.join("\n  ")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rounds.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn python_ends_as_unconfined_and_asks_for_what_was_missing_alone() {
    all_are_well("python");
}

#[test]
fn javascript_ends_as_unconfined_and_asks_for_what_was_missing_alone() {
    all_are_well("javascript");
}

#[test]
fn typescript_ends_as_unconfined_and_asks_for_what_was_missing_alone() {
    all_are_well("typescript");
}

#[test]
fn the_shell_ends_as_unconfined_and_asks_for_what_was_missing_alone() {
    all_are_well("shell");
}

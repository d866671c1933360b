//! `stockade explain`: one report in full, for a person.

mod trail;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::REFUSED;
use super::args::Explain;
use super::message::Failure;
use super::{page, refused};
use stockade_policy::profile::visible;
use stockade_report::approve::{Choice, Requested};
use stockade_report::report::{Denial, Escalated, Explains, Report, Status, Suggestion};
use stockade_text::quote::command_line;

/// Longer files aren't reports.
const MAX_LENGTH: u64 = 256 << 20;

/// Prints a report, or what the audit trail keeps of a run.
pub fn explain(task: &Explain, out: &mut dyn Write) -> Result<u8, Failure> {
    let (report, name) = match &task.what {
        None => (trail::of_last(task.last)?, "audit trail".to_string()),
        Some(what) => match what.to_str().filter(|text| is_run(text) && !what.exists()) {
            Some(run) => (trail::of_run(run)?, format!("run {run}")),
            None => read_report(what)?,
        },
    };
    if task.html {
        page::of_report(&report, &name, task.output.as_deref(), out)?;
        return Ok(0);
    }
    let printed = match task.json {
        true => writeln!(out, "{:#}", as_json(&report)),
        false => print(&report, out),
    };
    printed.map(|()| 0).map_err(|error| Failure::new(REFUSED, &error))
}

/// Whether a text has the form of a run's id: `0192f0c1e2-5f3a0b77`.
fn is_run(text: &str) -> bool {
    let is_hexadecimal = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split_once('-')
        .is_some_and(|(first, second)| is_hexadecimal(first) && is_hexadecimal(second))
}

/// The report in a file, and the name of that.
fn read_report(file: &Path) -> Result<(Report, String), Failure> {
    let name = if file == Path::new("-") {
        "standard input".to_string()
    } else {
        format!("`{}`", file.display())
    };
    let failed = |message: String| {
        let hint = "`stockade run --report FILE -- COMMAND` writes a report; `stockade audit list` shows runs";
        Failure::text(REFUSED, message).hint(hint)
    };
    let document = read(file).map_err(|error| failed(format!("can't read {name}: {error}")))?;
    let report = Report::parse(&document).map_err(|error| {
        failed(format!(
            "can't explain {name}: {}",
            Failure::new(REFUSED, &error).message
        ))
    })?;
    Ok((report, name))
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut document = Vec::new();
    if file == Path::new("-") {
        io::stdin().lock().take(MAX_LENGTH).read_to_end(&mut document)?;
    } else {
        File::open(file)?.take(MAX_LENGTH).read_to_end(&mut document)?;
    }
    Ok(document)
}

/// Labels, each with its text. Texts may come from the target, and aren't escaped yet.
type Told = Vec<(&'static str, String)>;

fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (label, text) in of_run(report) {
        writeln!(out, "{label:11}  {}", visible(&text))?;
    }
    for (index, denial) in report.denials.iter().enumerate() {
        let explains = match denial.explains {
            Explains::Yes => ": explains the failure",
            Explains::Perhaps => ": perhaps explains the failure",
            Explains::No if denial.usual => " (programs try this every time)",
            Explains::No => "",
        };
        let access = refused::access(denial, &visible(&denial.target));
        writeln!(out, "\n{}. {access}{explains}", index + 1)?;
        for (label, text) in of_denial(denial) {
            writeln!(out, "   {label:8}  {}", visible(&text))?;
        }
    }
    match &report.suggestion {
        Some(suggestion) => print_suggestion(suggestion, out),
        None => Ok(()),
    }
}

/// The same as JSON, under the same labels.
fn as_json(report: &Report) -> Value {
    const LISTS: [&str; 2] = ["asked", "error"];
    let (lists, texts): (Told, Told) = of_run(report).into_iter().partition(|(label, _)| LISTS.contains(label));
    let mut document = object(texts);
    for list in LISTS {
        let texts = lists
            .iter()
            .filter(|(label, _)| *label == list)
            .map(|(_, text)| text.as_str());
        document[list] = texts.collect();
    }
    let denials = report.denials.iter().map(|denial| {
        let mut document = object(of_denial(denial));
        document["access"] = json!(refused::access(denial, &denial.target));
        document["explains"] = json!(denial.explains);
        document
    });
    document["denials"] = denials.collect();
    document["suggestion"] = json!(report.suggestion);
    document
}

fn object(told: Told) -> Value {
    let fields = told
        .into_iter()
        .map(|(label, text)| (label.replace(' ', "_"), Value::from(text)));
    Value::Object(fields.collect())
}

fn of_run(report: &Report) -> Told {
    let mut told = vec![
        ("run", report.run.clone()),
        ("command", command_line(&report.command)),
        ("profile", report.profile.clone()),
        ("root", report.root.to_string_lossy().into_owned()),
        ("ended", ending(report)),
    ];
    // The trail doesn't keep it.
    if report.enforcement.landlock_abi > 0 {
        told.push(("enforced by", enforcement(report)));
    }
    told.push(("refused", count(report)));
    if let Some(escalation) = &report.escalation {
        told.extend(
            escalation
                .requests
                .iter()
                .map(|escalated| ("asked", question(escalated))),
        );
        let ended = escalation.ended.iter();
        told.extend(ended.map(|why| ("asked", format!("nothing more: {why}"))));
    }
    told.extend(report.faults.iter().map(|fault| ("error", super::run::told(fault))));
    told
}

fn ending(report: &Report) -> String {
    let status = match report.status {
        Status::Completed => "by itself",
        Status::PermissionDenied => "it failed, and a refusal explains it",
        Status::TimeLimit => "past its time limit",
        Status::ResourceLimit => "past a limit",
        Status::Signalled => "by a signal",
        Status::NotStarted => return "it never started".to_string(),
    };
    let mut parts = vec![status.to_string()];
    parts.extend(report.exit_code.map(|code| format!("exit code {code}")));
    parts.extend(report.signal.clone());
    parts.extend(report.limit.as_ref().map(|limit| format!("limit {limit}")));
    parts.push(format!("after {}", milliseconds(report.duration_ms)));
    parts.join(", ")
}

fn enforcement(report: &Report) -> String {
    let enforcement = &report.enforcement;
    let mut parts = vec![format!("Landlock ABI {}, seccomp", enforcement.landlock_abi)];
    if enforcement.supervisor {
        parts.push("supervisor".into());
    }
    parts.extend(
        enforcement
            .kept_exact
            .as_ref()
            .map(|why| format!("which judged all reads: {}", visible(why))),
    );
    parts.extend(
        enforcement
            .namespaces
            .iter()
            .map(|namespace| format!("{namespace} namespace")),
    );
    if !enforcement.shortfalls.is_empty() {
        parts.push(format!("accepted shortfalls: {}", enforcement.shortfalls.join(", ")));
    }
    parts.join(", ")
}

fn count(report: &Report) -> String {
    let total: u64 = report
        .denials
        .iter()
        .map(|denial| denial.count)
        .fold(0, u64::saturating_add);
    let seen = match report.denials.len() {
        0 => report.without_denials().to_string(),
        different => format!("{}, {different} different", times(total)),
    };
    match report.denials_dropped {
        0 => seen,
        dropped => format!("{seen}; {dropped} more were left out of the report"),
    }
}

/// ``read `/etc/hosts`: once, said ada at the terminal (not today)``.
fn question(escalated: &Escalated) -> String {
    let answer = &escalated.answer;
    let said = match &answer.choice {
        Choice::Yes { lifetime, .. } => {
            let granted = match &escalated.granted {
                Some(Requested::Grants(grants)) => {
                    let flags: Vec<String> = grants.iter().map(|words| command_line(words)).collect();
                    format!(" (`{}`)", flags.join(" "))
                }
                Some(Requested::Profile(name)) => format!(" (all of the profile `{name}`)"),
                None => String::new(),
            };
            format!("{}{granted}, said {}", lifetime.word(), answer.by)
        }
        Choice::No { all: true } => format!("no to everything, said {}", answer.by),
        Choice::No { all: false } => format!("no, said {}", answer.by),
        Choice::Silence => "no answer".to_string(),
    };
    let reason = answer.reason.as_ref().map(|reason| format!(" ({reason})"));
    let access = escalated.access.name();
    format!("{access} `{}`: {said}{}", escalated.target, reason.unwrap_or_default())
}

fn of_denial(denial: &Denial) -> Told {
    let mut told = Told::new();
    if denial.asked != denial.target && !denial.asked.is_empty() {
        told.push(("asked", denial.asked.clone()));
    }
    let when = format!("{}, first after {}", times(denial.count), milliseconds(denial.at_ms));
    let rule = denial.rule.as_ref().map(|rule| match rule.origin.is_empty() {
        true => rule.text.clone(),
        false => format!("{} ({})", rule.text, rule.origin),
    });
    told.extend([
        ("call", denial.syscall.clone()),
        ("process", format!("{}, {}", denial.pid, denial.program)),
        ("when", when),
        ("rule", rule.unwrap_or_else(|| "nothing grants it".to_string())),
    ]);
    let capability = denial.capability.iter();
    told.extend(capability.map(|capability| ("lacks", format!("the capability {capability}"))));
    told.push(("grant", refused::grant(denial)));
    let profile = denial.profile.iter();
    told.extend(profile.map(|profile| ("profile", format!("{profile} would allow it"))));
    told
}

fn print_suggestion(suggestion: &Suggestion, out: &mut dyn Write) -> io::Result<()> {
    let line = |out: &mut dyn Write, label: &str, text: &str| writeln!(out, "{label:11}  {}", visible(text));
    writeln!(out)?;
    if !suggestion.flags.is_empty() {
        line(out, "to allow it", &command_line(&suggestion.flags))?;
    }
    for candidate in suggestion
        .candidates
        .iter()
        .filter(|candidate| !candidate.flags.is_empty())
    {
        line(out, "perhaps", &command_line(&candidate.flags))?;
    }
    match &suggestion.profile {
        None => Ok(()),
        Some(profile) if suggestion.flags.is_empty() => line(out, "to allow it", &format!("--profile {profile}")),
        Some(profile) => line(out, "or wider", &format!("--profile {profile}")),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_string(),
        count => format!("{count} times"),
    }
}

fn milliseconds(count: u64) -> String {
    if count < 1000 {
        format!("{count} ms")
    } else {
        format!("{}.{} s", count / 1000, count % 1000 / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_report::approve::{Answer, Lifetime};
    use stockade_report::report::{Escalation, Kind, RefusingRule};

    fn report() -> Report {
        let words = ["python3".into(), "analyse it.py".into()];
        let mut report = Report::refused("readonly", &words, Path::new("/r"));
        report.run = "0000000000-00000000".into();
        report.status = Status::PermissionDenied;
        report.exit_code = Some(1);
        report.duration_ms = 1234;
        report.enforcement.landlock_abi = 6;
        report.enforcement.supervisor = true;
        report
    }

    fn denial() -> Denial {
        Denial {
            access: Kind::Read,
            target: "/etc/hosts".into(),
            asked: "../etc/hosts".into(),
            syscall: "openat".into(),
            pid: 4711,
            program: "/usr/bin/python3".into(),
            count: 2,
            at_ms: 31,
            rule: None,
            capability: None,
            explains: Explains::Yes,
            usual: false,
            grant: Some(vec!["--read".into(), "/etc/hosts".into()]),
            profile: Some("mcp-standard".into()),
        }
    }

    #[test]
    fn what_a_run_named_is_escaped_once() {
        let mut report = report();
        report.denials = vec![Denial {
            target: "/r/\u{1b}[2J".into(),
            ..denial()
        }];
        assert!(
            printed(&report).contains("reading `/r/\\u{1b}[2J`"),
            "{}",
            printed(&report)
        );
        assert_eq!(as_json(&report)["denials"][0]["access"], "reading `/r/\u{1b}[2J`");
    }

    fn printed(report: &Report) -> String {
        let mut out = Vec::new();
        print(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_was_asked_is_told_with_the_answer() {
        let asked = |target: &str, answer: Answer| Escalated {
            id: "0-1".into(),
            access: Kind::Read,
            target: target.into(),
            requested: Requested::Grants(vec![vec!["--read".into(), target.into()]]),
            granted: matches!(answer.choice, Choice::Yes { .. })
                .then(|| Requested::Grants(vec![vec!["--read".into(), target.into()]])),
            answer,
            waited_ms: 1200,
        };
        let mut report = report();
        report.denials = Vec::new();
        report.escalation = Some(Escalation {
            requests: vec![
                asked("/etc/hosts", Answer::yes(Lifetime::Session, "ada at the terminal")),
                asked("/r/\u{1b}[2J", Answer::no("ada at the terminal").because("not today")),
                asked("/r/c", Answer::silence("no answer within 60 s")),
            ],
            ended: Some("refused by Stockade: this run has asked 50 times".into()),
        });
        let printed = printed(&report);
        let told: Vec<&str> = printed.lines().skip(7).collect();
        assert_eq!(
            told,
            [
                "asked        read `/etc/hosts`: session (`--read /etc/hosts`), said ada at the terminal",
                "asked        read `/r/\\u{1b}[2J`: no, said ada at the terminal (not today)",
                "asked        read `/r/c`: no answer (no answer within 60 s)",
                "asked        nothing more: refused by Stockade: this run has asked 50 times",
            ]
        );
    }

    #[test]
    fn all_of_a_report_is_printed() {
        let mut report = report();
        let secret = Denial {
            target: "/r/.env".into(),
            asked: "/r/.env".into(),
            count: 1,
            explains: Explains::No,
            rule: Some(RefusingRule {
                text: "secret pattern `**/.env*`".into(),
                origin: "built in".into(),
            }),
            grant: None,
            profile: None,
            ..denial()
        };
        report.denials = vec![denial(), secret];
        report.denials_dropped = 7;
        report.suggestion = Some(Suggestion {
            flags: vec!["--read".into(), "/etc/hosts".into()],
            profile: Some("mcp-standard".into()),
            candidates: Vec::new(),
        });
        insta::assert_snapshot!(printed(&report), @"
        run          0000000000-00000000
        command      python3 'analyse it.py'
        profile      readonly
        root         /r
        ended        it failed, and a refusal explains it, exit code 1, after 1.2 s
        enforced by  Landlock ABI 6, seccomp, supervisor
        refused      3 times, 2 different; 7 more were left out of the report

        1. reading `/etc/hosts`: explains the failure
           asked     ../etc/hosts
           call      openat
           process   4711, /usr/bin/python3
           when      2 times, first after 31 ms
           rule      nothing grants it
           grant     --read /etc/hosts
           profile   mcp-standard would allow it

        2. reading `/r/.env`
           call      openat
           process   4711, /usr/bin/python3
           when      once, first after 31 ms
           rule      secret pattern `**/.env*` (built in)
           grant     only `[secrets] open` in your `config.toml` opens it, by its path

        to allow it  --read /etc/hosts
        or wider     --profile mcp-standard
        ");
    }

    #[test]
    fn the_same_is_told_as_json() {
        let mut report = report();
        report.denials = vec![denial()];
        report.suggestion = Some(Suggestion {
            flags: vec!["--read".into(), "/etc/hosts".into()],
            profile: Some("mcp-standard".into()),
            candidates: Vec::new(),
        });
        insta::assert_snapshot!(format!("{:#}", as_json(&report)), @r#"
        {
          "asked": [],
          "command": "python3 'analyse it.py'",
          "denials": [
            {
              "access": "reading `/etc/hosts`",
              "asked": "../etc/hosts",
              "call": "openat",
              "explains": "yes",
              "grant": "--read /etc/hosts",
              "process": "4711, /usr/bin/python3",
              "profile": "mcp-standard would allow it",
              "rule": "nothing grants it",
              "when": "2 times, first after 31 ms"
            }
          ],
          "ended": "it failed, and a refusal explains it, exit code 1, after 1.2 s",
          "enforced_by": "Landlock ABI 6, seccomp, supervisor",
          "error": [],
          "profile": "readonly",
          "refused": "2 times, 1 different",
          "root": "/r",
          "run": "0000000000-00000000",
          "suggestion": {
            "candidates": [],
            "flags": [
              "--read",
              "/etc/hosts"
            ],
            "profile": "mcp-standard"
          }
        }
        "#);
    }

    #[test]
    fn a_run_that_was_not_supervised_claims_nothing() {
        let mut report = report();
        report.enforcement.supervisor = false;
        report.enforcement.shortfalls = vec!["supervisor".into()];
        insta::assert_snapshot!(printed(&report), @"
        run          0000000000-00000000
        command      python3 'analyse it.py'
        profile      readonly
        root         /r
        ended        it failed, and a refusal explains it, exit code 1, after 1.2 s
        enforced by  Landlock ABI 6, seccomp, accepted shortfalls: supervisor
        refused      unknown: no supervisor took part
        ");
    }

    #[test]
    fn a_text_of_the_target_stays_on_its_line() {
        let odd = "/r/\nrun          all is well\u{1b}[2J\u{202e}";
        let mut report = report();
        let plain = printed(&report).lines().count();
        report.command = vec![odd.into()];
        report.profile = odd.into();
        report.root = odd.into();
        report.enforcement.shortfalls = vec![odd.into()];
        assert_eq!(printed(&report).lines().count(), plain);
        report.denials = vec![Denial {
            target: odd.into(),
            asked: format!("{odd}x"),
            syscall: odd.into(),
            program: odd.into(),
            capability: Some(odd.into()),
            grant: Some(vec!["--read".into(), odd.into()]),
            profile: Some(odd.into()),
            rule: Some(RefusingRule {
                text: odd.into(),
                origin: odd.into(),
            }),
            ..denial()
        }];
        let text = printed(&report);
        assert_eq!(text.lines().count(), plain + 10, "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
}

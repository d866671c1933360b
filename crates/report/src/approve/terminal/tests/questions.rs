//! The question as a person sees it.

use super::super::details::details;
use super::super::question::{prompt, question, width};
use super::super::unanswered::Unanswered;
use super::{grants, request};
use crate::approve::grammar::AnswerChoices;
use crate::approve::{EscalationRequest, Requested};
use proptest::prelude::*;
use stockade_text::visible::fit::{GOES_ON, columns};
use stockade_text::visible::is_visible;
use stockade_text::visible::odd::ODD;
use stockade_text::visible::style::Ink;
use unicode_width::UnicodeWidthChar;

/// Texts of odd characters, and others.
fn odd_text() -> impl Strategy<Value = String> {
    let one = prop_oneof![4 => prop::sample::select(ODD), 1 => any::<char>()];
    prop::collection::vec(one, 0..300).prop_map(String::from_iter)
}

const SIZE: (usize, usize) = (80, 24);

fn asked(request: &EscalationRequest, size: (usize, usize)) -> Result<String, Unanswered> {
    let prompt = prompt(&AnswerChoices::of(request), 60, width(size).ok_or(Unanswered::TooLong)?);
    Ok(question(request, &prompt, size, Ink::Plain)? + &prompt)
}

fn shown(request: &EscalationRequest) -> String {
    asked(request, SIZE).unwrap()
}

#[test]
fn a_question_is_six_lines() {
    insta::assert_snapshot!(shown(&request()), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      target: ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would grant: --read /etc/hosts
      wider grants: --read /etc
    [y]es for this run, [o]nce, [a]lways, [w]ider, [n]o, [d]etails (60 s)?
    ");
}

#[test]
fn a_warning_is_said_and_it_stays_six_lines() {
    let mut request = request();
    request.evidence.warning = Some("a program that reaches this socket controls the machine".into());
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      target: ../etc/hosts → /etc/hosts (nothing grants it)
      careful: a program that reaches this socket controls the machine
      would grant: --read /etc/hosts
      wider grants: --read /etc
    [y]es for this run, [o]nce, [a]lways, [w]ider, [n]o, [d]etails (60 s)?
    ");
}

#[test]
fn a_program_that_has_ended_is_asked_about_in_the_past() {
    let mut request = request();
    request.live = false;
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wanted to read
      target: ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would start it once more with: --read /etc/hosts
    [y]es, [n]o, [d]etails (60 s)?
    ");
}

#[test]
fn a_profile_is_named_and_trusted_wants_its_name_typed() {
    let mut request = request();
    request.wider = None;
    request.requested = Requested::Profile("readonly".into());
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      target: ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would grant: all of the profile readonly
    [y]es for this run, [o]nce, [a]lways, [n]o, [d]etails (60 s)?
    ");
    request.requested = Requested::Profile("trusted".into());
    insta::assert_snapshot!(prompt(&AnswerChoices::of(&request), 60, 80), @"trusted, [n]o, [d]etails (60 s)?");
}

#[test]
fn names_begin_no_line_and_move_no_terminal() {
    let name = "/r/\u{1b}[2J\u{1b}]0;x\u{7}\nstockade: granted\r\u{202e}gpj\u{200b}\u{3164}\u{9b}1m";
    let mut request = request();
    request.requested = grants(&["--read", name]);
    request.wider = None;
    let evidence = &mut request.evidence;
    evidence.target = name.into();
    evidence.asked = "x y".into();
    evidence.program = name.into();
    evidence.agent = Some(name.into());
    evidence.command = vec![name.into()];
    evidence.why = name.into();
    evidence.root = name.into();
    evidence.syscall = name.into();
    for text in [shown(&request), details(&request, &AnswerChoices::of(&request), 80)] {
        for line in text.lines() {
            assert!(line.chars().all(is_visible));
            assert!(
                line.starts_with("  ") || !line.starts_with("stockade: granted"),
                "{line}"
            );
        }
    }
    insta::assert_snapshot!(shown(&request), @r"
    stockade: $'/r/\03…\302\2331m' (pid 4711, agent $'/r/\…2\2331m') wants to read
      target: 'x y' → $'/r/\033[2J\033]0;x\007…\342\200\213\343\205\244\302\2331m'
      refused: /r/\u{1b}[2J\u{1b}]0;x\u{7}…ted\r\u{202e}gpj\u{200b}\u{3164}\u{9b}1m
      would grant: --read $'/r/\033[2J\033]0;x\007\012stockade: granted\015\342\200\
      | 256gpj\342\200\213\343\205\244\302\2331m'
    [y]es for this run, [o]nce, [a]lways, [n]o, [d]etails (60 s)?
    ");
}

#[test]
fn long_names_are_cut_but_never_what_is_granted() {
    let path = format!("/home/ada/{}/data.csv", "very/long/".repeat(30));
    let mut request = request();
    request.requested = grants(&["--read", &path]);
    request.evidence.target.clone_from(&path);
    request.evidence.program.clone_from(&path);
    let text = shown(&request);
    let whole = text.replace(&format!("\n{GOES_ON}"), "");
    assert!(whole.contains(&format!("--read {path}\n")), "{text}");
    assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    assert_eq!(whole.lines().count(), 6);
}

#[test]
fn names_keep_their_directory_at_forty_columns() {
    let mut request = request();
    request.evidence.target = "/home/ada/projects/shop/data/2026/sales.csv".into();
    request.evidence.asked = "data/2026/sales.csv".into();
    request.requested = grants(&["--read", &request.evidence.target]);
    insta::assert_snapshot!(asked(&request, (40, 24)).unwrap(), @"
    stockade: /usr/bin/python3.12 (pid 4711,
      |  agent coder) wants to read
      target: data/2026/sales.csv → /home/a
      | da/projects/shop/data/2026/sales.csv
      refused: nothing grants it
      would grant: --read /home/ada/projects
      | /shop/data/2026/sales.csv
      wider grants: --read /etc
    [y]es for this run, [o]nce, [a]lways,
    [w]ider, [n]o, [d]etails (60 s)?
    ");
    let name = format!("/home/ada/{}reports/sales.csv", "very/long/".repeat(30));
    request.evidence.target.clone_from(&name);
    let text = asked(&request, (40, 24)).unwrap().replace(&format!("\n{GOES_ON}"), "");
    assert!(text.contains("/reports/sales.csv\n"), "{text}");
}

#[test]
fn what_does_not_fit_on_the_screen_is_not_asked() {
    let mut request = request();
    request.requested = grants(&["--read", &format!("/{}", "x".repeat(2000))]);
    // Whatever size the program sets for the terminal.
    for size in [SIZE, (80, 60000), (60000, 60000)] {
        assert_eq!(asked(&request, size), Err(Unanswered::TooLong));
    }
    for size in [(80, 4), (19, 60), (1, 24)] {
        assert_eq!(asked(&self::request(), size), Err(Unanswered::TooLong));
    }
    assert!(asked(&self::request(), (20, 24)).is_ok());
}

#[test]
fn details_are_the_whole_evidence() {
    let request = request();
    insta::assert_snapshot!(details(&request, &AnswerChoices::of(&request), 80), @"
    access: read
    target: /etc/hosts
    asked as: ../etc/hosts
    system call: openat
    program: /usr/bin/python3.12
    process: 4711
    command: python3 'read it.py'
    root: /home/ada/work
    profile: minimal
    agent: coder
    refused: nothing grants it
    reason: PermissionDenied: read /etc/hosts
    run: run-1
    request: run-1-1
    after: 1.2 s
    yes = until this run ends
    once = for this access alone
    always = for later runs too, until it is revoked
    wider = `wider grants`, until this run ends; `wider always` for later runs too
    no = refused; what stands behind it is passed on; `no all` refuses the rest
    would grant: --read /etc/hosts
    ");
}

/// The rows of a terminal that wraps lines, with ambiguous characters wide or narrow.
fn rows(text: &str, width: usize, columns: impl Fn(char) -> usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let (mut row, mut used) = (String::new(), 0);
        for c in line.chars() {
            if used + columns(c) > width {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(c);
            used += columns(c);
        }
        rows.push(row);
    }
    rows
}

/// A request whose texts all come from the program, except for the access.
fn hostile(texts: &[String]) -> EscalationRequest {
    let text = |at: usize| texts[at % texts.len()].clone();
    let mut request = request();
    request.requested = grants(&["--read", &text(0)]);
    request.wider = None;
    request.reason = text(1);
    request.current_profile = text(2);
    let evidence = &mut request.evidence;
    evidence.target = text(0);
    evidence.asked = text(1);
    evidence.program = text(2);
    evidence.command = texts.to_vec();
    evidence.root = text(0);
    evidence.agent = Some(text(1));
    evidence.why = text(2);
    evidence.syscall = text(0);
    evidence.warning = Some(text(1));
    request
}

proptest::proptest! {
    #[test]
    fn no_row_of_a_question_begins_with_a_text_of_the_program(
        texts in proptest::collection::vec(odd_text(), 1..4),
        width in 20_usize..=200,
    ) {

        const OURS: [&str; 7] = [
            "stockade: ", "  target: ", "  refused: ", "  careful: ", "  would grant: --", "  would grant: $", GOES_ON,
        ];
        let request = hostile(&texts);
        let prompt = prompt(&AnswerChoices::of(&request), 60, width.min(80));
        let Ok(text) = question(&request, &prompt, (width, 1000), Ink::Plain) else {
            return Ok(());
        };
        let narrow = |c: char| c.width().unwrap_or(0);
        let wide = |c: char| c.width_cjk().unwrap_or(0);
        for rows in [rows(&text, width, narrow), rows(&text, width, wide)] {
            for row in &rows {
                prop_assert!(row.chars().all(is_visible), "{row:?}");
                prop_assert!(OURS.iter().any(|ours| row.starts_with(ours)), "{row:?} in\n{text}");
            }
            let beginning = |ours: &str| rows.iter().filter(|row| row.starts_with(ours)).count();
            prop_assert_eq!(beginning("  would grant: "), 1);
            prop_assert_eq!(beginning("stockade: "), 1);
        }
        let text = details(&request, &AnswerChoices::of(&request), width.min(80));
        for row in rows(&text, width, wide) {
            let is_ours = row.starts_with(GOES_ON) || row.trim_start().starts_with(|c: char| c.is_ascii_lowercase());
            prop_assert!(row.starts_with("  ") && is_ours, "{row:?} in\n{text}");
        }
    }
}

#[test]
fn blanks_of_other_kinds_make_no_line_of_their_own() {
    for blank in ["\u{a0}", "\u{2800}", "\u{2003}", "\u{3000}", "\u{1680}", " "] {
        let name = format!("/r/x{}wider grants: --read /etc/motd", blank.repeat(70));
        let mut request = request();
        request.evidence.target.clone_from(&name);
        request.requested = grants(&["--read", &name]);
        let text = shown(&request);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  wider")).collect();
        assert_eq!(lines, ["  wider grants: --read /etc"], "{text}");
        assert!(
            text.chars().all(|c| c == '\n' || is_visible(c)) && !text.contains("   "),
            "{text}"
        );
    }
}

//! What a person sees.

use super::super::details::details;
use super::super::fit::rows;
use super::super::offer::Offer;
use super::super::question::{prompt, question};
use super::super::unanswered::Unanswered;
use super::{grants, request};
use crate::approve::{EscalationRequest, Requested};
use crate::profile::visible;

const SIZE: (usize, usize) = (80, 24);

fn shown(request: &EscalationRequest) -> String {
    format!(
        "{}{}",
        question(request, SIZE).unwrap(),
        prompt(&Offer::of(request), 60)
    )
}

#[test]
fn a_question_is_six_lines() {
    insta::assert_snapshot!(shown(&request()), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would grant: --read /etc/hosts
      wider grants: --read /etc
    once, session, always, wider, no [reason], no all or details (60 s)?
    ");
}

#[test]
fn a_warning_is_said_and_it_stays_six_lines() {
    let mut request = request();
    request.evidence.warning = Some("whoever reaches this socket controls the machine".into());
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      ../etc/hosts → /etc/hosts (nothing grants it)
      careful: whoever reaches this socket controls the machine
      would grant: --read /etc/hosts
      wider grants: --read /etc
    once, session, always, wider, no [reason], no all or details (60 s)?
    ");
}

#[test]
fn a_program_that_has_ended_is_asked_about_in_the_past() {
    let mut request = request();
    request.live = false;
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wanted to read
      ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would start it once more with: --read /etc/hosts
    yes, no [reason], no all or details (60 s)?
    ");
}

#[test]
fn a_profile_is_named_and_trusted_wants_its_name_typed() {
    let mut request = request();
    request.wider = None;
    request.requested = Requested::Profile("readonly".into());
    insta::assert_snapshot!(shown(&request), @"
    stockade: /usr/bin/python3.12 (pid 4711, agent coder) wants to read
      ../etc/hosts → /etc/hosts
      refused: nothing grants it
      would grant: all of the profile readonly
    yes, once, session, always, no [reason], no all or details (60 s)?
    ");
    request.requested = Requested::Profile("trusted".into());
    insta::assert_snapshot!(prompt(&Offer::of(&request), 60), @"no [reason], no all, trusted or details (60 s)?");
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
    for text in [shown(&request), details(&request, &Offer::of(&request))] {
        for line in text.lines() {
            assert_eq!(visible(line), line);
            assert!(
                line.starts_with("  ") || !line.starts_with("stockade: granted"),
                "{line}"
            );
        }
    }
    insta::assert_snapshot!(shown(&request), @r"
    stockade: $'/r/\03…\302\2331m' (pid 4711, agent $'/r/\…2\2331m') wants to read
      'x y' → $'/r/\033[2J\033]0;x\007\01…56gpj\342\200\213\343\205\244\302\2331m'
      refused: /r/\u{1b}[2J\u{1b}]0;…: granted\r\u{202e}gpj\u{200b}\u{3164}\u{9b}1m
      would grant: --read $'/r/\033[2J\033]0;x\007\012stockade: granted\015\342\200\256gpj\342\200\213\343\205\244\302\2331m'
    once, session, always, no [reason], no all or details (60 s)?
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
    assert!(text.contains(&format!("--read {path}\n")), "{text}");
    let lines = text.lines().filter(|line| !line.contains("would grant"));
    assert!(lines.clone().all(|line| rows(line, 80) == 1), "{text}");
    assert_eq!(lines.count(), 5);
}

#[test]
fn what_does_not_fit_on_the_screen_is_not_asked() {
    let mut request = request();
    request.requested = grants(&["--read", &format!("/{}", "x".repeat(2000))]);
    // However large the program says that the terminal is.
    for size in [SIZE, (80, 60000), (60000, 60000)] {
        assert_eq!(question(&request, size), Err(Unanswered::TooLong));
    }
    assert_eq!(question(&self::request(), (80, 4)), Err(Unanswered::TooLong));
    assert!(question(&self::request(), (1, 24)).is_ok());
}

#[test]
fn details_are_the_whole_evidence() {
    let request = request();
    insta::assert_snapshot!(details(&request, &Offer::of(&request)), @"
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
    once = for this access alone
    session = until this run ends
    always = for later runs too, until it is revoked
    wider = what `wider grants` says, until this run ends; `wider always` for later runs too
    no = refused; what stands behind it is passed on; `no all` refuses everything from here on
    would grant: --read /etc/hosts
    ");
}

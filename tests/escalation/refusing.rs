//! A no, and everything that is one.

use std::time::Duration;

use stockade::Status;
use stockade_report::approve::{Answer, Choice, Extent, Lifetime, Manner};

use nix::sys::signal::Signal;

use crate::escalation::person::{asking, no, once, patiently, session, signal};

const TRY: &str = "try: print(open('/etc/hosts').read() != '')\nexcept OSError as e: print(type(e).__name__)";

#[test]
fn a_no_is_an_ordinary_refusal_and_the_report_says_whose() {
    let asked = asking("minimal", no).python(TRY).prints("PermissionError\n");
    let denials = asked.output.outcome.denials();
    let rule = denials[0].rule.as_ref().unwrap();
    assert_eq!(
        (rule.text.as_str(), rule.origin.as_str()),
        ("refused by ada: not today", "ada")
    );
    let escalation = asked.output.outcome.report().escalation.as_ref().unwrap();
    assert_eq!(escalation.requests.len(), 1);
    assert_eq!(escalation.requests[0].answer.reason.as_deref(), Some("not today"));
}

#[test]
fn a_run_that_fails_of_a_no_was_denied() {
    let asked = asking("minimal", no).python("open('/etc/hosts')");
    assert_eq!(asked.output.outcome.status(), Status::PermissionDenied);
    assert_eq!(asked.output.outcome.report().suggestion, None);
}

// promise: answers.8
#[test]
fn a_time_out_is_a_no_and_does_not_count_as_the_runs_time() {
    let asked = patiently("minimal", Manner::Beside, |_, deadline| {
        while deadline.left().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::silence("no answer within 4 s")
    })
    // The run's own time is enough for Python to begin on a busy machine, and less than the question's.
    .with(|sandbox| {
        sandbox
            .ask_timeout(Duration::from_secs(4))
            .time_limit(Duration::from_millis(3500))
    })
    .python(TRY)
    .prints("PermissionError\n");
    let rule = asked.output.outcome.denials()[0].rule.clone().unwrap();
    assert_eq!(rule.text, "no answer within 4 s");
}

#[test]
fn one_that_never_answers_is_given_up() {
    patiently("minimal", Manner::Beside, |_, _| {
        std::thread::sleep(Duration::from_secs(20));
        Answer::yes(Lifetime::Once, "too late")
    })
    .with(|sandbox| sandbox.ask_timeout(Duration::from_millis(100)))
    .python(TRY)
    .prints("PermissionError\n");
}

// promise: answers.8
#[test]
fn one_that_panics_has_said_no() {
    asking("minimal", |_| panic!("this is the test's own panic"))
        .python(TRY)
        .prints("PermissionError\n");
}

// promise: answers.6
#[test]
fn an_answer_that_does_not_fit_the_question_is_a_no() {
    for (lifetime, extent) in [
        (Lifetime::Always, Extent::Requested),
        (Lifetime::Session, Extent::Wider),
        (Lifetime::Session, Extent::Profile("trusted".into())),
    ] {
        let choice = Choice::Yes { lifetime, extent };
        asking("minimal", move |_| Answer {
            choice: choice.clone(),
            ..Answer::no("ada")
        })
        .python(TRY)
        .prints("PermissionError\n");
    }
}

#[test]
fn what_was_refused_is_not_asked_again() {
    let code = "import os\n\
                for what in (lambda: open('/etc/hosts'), lambda: open('/etc/hosts', 'rb'), lambda: os.listxattr('/')):\n  \
                  try: what()\n  \
                  except OSError as e: print('closed')";
    asking("minimal", no).python(code).was_asked(&["--read /etc/hosts"]);
}

#[test]
fn two_noes_in_a_directory_are_one_to_its_rest_and_the_second_question_says_so() {
    let asked = asking("minimal", no)
        .file("a", "")
        .file("b", "")
        .file("c", "")
        .python(
            "for name in 'abc':\n  \
               try: open(name)\n  \
               except PermissionError: print('closed')",
        )
        .was_asked(&["--read @ROOT/a", "--read @ROOT/b"])
        .prints("closed\nclosed\nclosed\n");
    let ends: Vec<bool> = asked.requests.iter().map(|request| request.ends_by_no()).collect();
    assert_eq!(ends, [false, true]);
}

#[test]
fn no_all_ends_the_questions() {
    asking("minimal", |_| Answer {
        choice: Choice::No { all: true },
        ..Answer::no("ada")
    })
    .file("a", "")
    .python(
        "for name in ('a', '/etc/hosts'):\n  \
           try: open(name)\n  \
           except PermissionError: print('closed')",
    )
    .was_asked(&["--read @ROOT/a"])
    .prints("closed\nclosed\n");
}

#[test]
fn a_signal_takes_a_waiting_call_back() {
    let code = "import signal\n\
                class Tired(Exception): pass\n\
                def ring(*_): raise Tired\n\
                signal.signal(signal.SIGALRM, ring); signal.setitimer(signal.ITIMER_REAL, 0.2)\n\
                try: open('/etc/hosts')\n\
                except Tired: print('interrupted')";
    patiently("minimal", Manner::Beside, |_, deadline| {
        while deadline.left().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::silence("withdrawn")
    })
    .with(|sandbox| sandbox.ask_timeout(Duration::from_secs(20)))
    .python(code)
    .prints("interrupted\n");
}

#[test]
fn a_program_that_is_killed_withdraws_its_question() {
    let code = "import subprocess, sys\n\
                p = subprocess.Popen([sys.executable, '-I', '-c', 'open(\"/etc/hosts\")'])\n\
                p.wait(); print('gone')";
    let asked = patiently("minimal", Manner::Beside, |request, deadline| {
        signal(request, Signal::SIGKILL);
        while deadline.left().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(deadline.is_withdrawn());
        Answer::silence("withdrawn")
    })
    .python(code)
    .prints("gone\n");
    assert_eq!(asked.requests.len(), 1);
}

#[test]
fn a_run_with_an_unanswered_question_ends_when_it_is_told_to() {
    use std::time::Instant;
    let begun = Instant::now();
    let asked = patiently("minimal", Manner::Beside, |request, deadline| {
        signal(request, Signal::SIGUSR1);
        while deadline.left().is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Answer::silence("withdrawn")
    })
    .python(
        "import os, signal, threading\n\
         signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n\
         threading.Thread(target=lambda: open('/etc/hosts'), daemon=True).start()\n\
         signal.sigwait([signal.SIGUSR1]); os._exit(0)",
    );
    assert_eq!(asked.requests.len(), 1);
    assert_eq!(asked.output.outcome.exit_code(), 0);
    // The question would be open for a minute.
    assert!(begun.elapsed() < Duration::from_secs(40));
}

// promise: answers.7
#[test]
fn no_question_is_asked_for_what_no_grant_opens() {
    asking("workspace", session)
        .file(".env", "KEY")
        .file(".git/config", "")
        .with(|sandbox| sandbox.deny("./closed").unwrap())
        .file("closed", "")
        .python(
            "for name, mode in (('.env', 'r'), ('.git/config', 'a'), ('closed', 'r'), ('/etc/shadow', 'r'), ('/etc/passwd', 'a')):\n  \
               try: open(name, mode); print('open', name)\n  \
               except PermissionError: print('closed')",
        )
        .was_asked(&[])
        .prints("closed\nclosed\nclosed\nclosed\nclosed\n");
}

#[test]
fn no_question_is_asked_where_the_network_is_off() {
    use stockade::NetworkChoice;
    asking("minimal", once)
        .with(|sandbox| sandbox.network(NetworkChoice::None))
        .python(
            "import socket\n\
             try: socket.socket().connect(('127.0.0.1', 9)); print('connected')\n\
             except PermissionError: print('closed')",
        )
        .was_asked(&[])
        .prints("closed\n");
}

//! `--escalate profile`: a whole profile in place of single grants, and `trusted` only to who types its name.

use stockade_report::approve::{Answer, Choice, EscalationRequest, Extent, Lifetime, Requested, Unit};

use crate::common::{Terminal, run};
use crate::escalation::person::{Asking, asking, no, session};

fn by_profile(rule: impl Fn(&EscalationRequest) -> Answer + Send + Sync + 'static) -> Asking {
    asking("minimal", rule).with(|sandbox| sandbox.escalate(Unit::Profile))
}

const CODE: &str = "def read(name):\n  \
                      try: print(open(name).read())\n  \
                      except PermissionError: print('closed')\n\
                    read('data/a'); read('data/b'); read('.env')\n\
                    try: open('new', 'w'); print('made')\n\
                    except PermissionError: print('closed')\n";

fn project(asking: Asking) -> Asking {
    asking.file("data/a", "1").file("data/b", "2").file(".env", "KEY")
}

#[test]
fn the_lowest_profile_is_asked_for_and_a_yes_opens_what_it_grants_and_no_more() {
    let asked = project(by_profile(|request| match &request.requested {
        Requested::Profile(name) if name == "readonly" => session(request),
        _ => no(request),
    }))
    .python(CODE)
    .prints("1\n2\nclosed\nclosed\n");
    assert_eq!(asked.asked.len(), 2, "{:?}", asked.asked);
    assert_eq!(asked.asked[0], "--profile readonly");
    let writing = &asked.asked[1];
    assert!(
        !["readonly", "trusted"].iter().any(|name| writing.ends_with(name)),
        "{writing}"
    );
    assert!(!asked.requests[0].lifetimes.contains(&Lifetime::Once));
}

#[test]
fn trusted_is_granted_to_who_names_it_alone() {
    let code = "try: print(open('@HOME/file', 'r+').read())\nexcept PermissionError: print('closed')";
    for extent in [Extent::Requested, Extent::Wider, Extent::Profile("readonly".into())] {
        let choice = Choice::Yes {
            lifetime: Lifetime::Session,
            extent,
        };
        by_profile(move |_| Answer {
            choice: choice.clone(),
            ..Answer::no("ada")
        })
        .file("~/file", "x")
        .python(code)
        .was_asked(&["--profile trusted"])
        .prints("closed\n");
    }
    let choice = Choice::Yes {
        lifetime: Lifetime::Session,
        extent: Extent::Profile("trusted".into()),
    };
    by_profile(move |_| Answer {
        choice: choice.clone(),
        ..Answer::no("ada")
    })
    .file("~/file", "x")
    .python(code)
    .was_asked(&["--profile trusted"])
    .prints("x\n");
}

#[test]
fn at_the_terminal_trusted_is_typed_in_full() {
    let begun = run()
        .flags(["--ask", "terminal", "--escalate", "profile"])
        .file("~/file", "precious")
        .python("print('it is', open('@HOME/file', 'r+').read())");
    let code = Terminal::new()
        .awaits("all of the profile trusted")
        .awaits(" s)? ")
        .types("yes\n")
        .awaits("that is no answer")
        .awaits(" s)? ")
        .types("tru\n")
        .awaits("that is no answer")
        .awaits(" s)? ")
        .never_saw("it is precious")
        .types("trusted\n")
        .awaits("it is precious")
        .ends_within(20)
        .plays(&begun);
    assert_eq!(code, 0);
}

//! What a line means.

use super::super::line::Line;
use super::super::offer::{Offer, Said};
use super::{grants, request};
use crate::approve::{Choice, EscalationRequest, Extent, Lifetime, Requested};

fn meaning(request: &EscalationRequest, line: &str) -> Said {
    Offer::of(request).meaning(&Line::of(format!("{line}\n").as_bytes()))
}

fn yes(lifetime: Lifetime, extent: Extent) -> Said {
    Said::Answer(Choice::Yes { lifetime, extent }, None)
}

fn no(reason: Option<&str>) -> Said {
    Said::Answer(Choice::No { all: false }, reason.map(Into::into))
}

fn profile(name: &str) -> EscalationRequest {
    EscalationRequest {
        requested: Requested::Profile(name.into()),
        wider: None,
        ..request()
    }
}

#[test]
fn each_word_and_each_beginning_of_two_letters_or_more_is_an_answer() {
    let requested = Extent::Requested;
    for (lines, said) in [
        (["on", "onc", "once", "ONCE"], yes(Lifetime::Once, requested.clone())),
        (
            ["se", "sess", "session", " session "],
            yes(Lifetime::Session, requested.clone()),
        ),
        (["al", "alw", "always", "Always"], yes(Lifetime::Always, requested)),
        (
            ["wi", "wide", "wider", "wider session"],
            yes(Lifetime::Session, Extent::Wider),
        ),
        (
            ["wi al", "wider  always", "wider al", "wi ALWAYS"],
            yes(Lifetime::Always, Extent::Wider),
        ),
        (["no", "No", "NO", " no"], no(None)),
        (["", "  ", "no ", "no"], no(None)),
        (["de", "det", "details", "DETAILS"], Said::Details),
    ] {
        for line in lines {
            assert_eq!(meaning(&request(), line), said, "{line:?}");
        }
    }
}

#[test]
fn a_no_carries_its_reason_and_only_all_ends_the_asking() {
    assert_eq!(
        meaning(&request(), "no use ./data instead"),
        no(Some("use ./data instead"))
    );
    assert_eq!(
        meaning(&request(), "no all of it is wrong"),
        no(Some("all of it is wrong"))
    );
    let all = Said::Answer(Choice::No { all: true }, None);
    assert_eq!(meaning(&request(), "no all"), all);
    assert_eq!(meaning(&request(), "no   all"), all);
    let Said::Answer(_, Some(reason)) = meaning(&request(), &format!("no {}", "x".repeat(4000))) else {
        panic!("no reason")
    };
    assert_eq!(reason.len(), 500);
}

#[test]
fn nothing_else_is_an_answer() {
    for line in [
        "o",
        "s",
        "a",
        "w",
        "n",
        "d",
        "y",
        "1",
        "ye",
        "yes",
        "onces",
        "once more",
        "nope",
        "not",
        "session always",
        "wider once",
        "wider a",
        "always yes",
        "details please",
        "trusted",
        "ok",
        "sure",
        "-",
        "öö",
        "оnce",
    ] {
        assert_eq!(meaning(&request(), line), Said::Unclear, "{line:?}");
    }
}

#[test]
fn what_the_request_does_not_offer_is_no_answer() {
    let once = EscalationRequest {
        lifetimes: vec![Lifetime::Once],
        ..request()
    };
    for line in ["session", "always", "wider", "wider always"] {
        assert_eq!(meaning(&once, line), Said::Unclear, "{line}");
    }
    let session = EscalationRequest {
        lifetimes: vec![Lifetime::Session],
        ..request()
    };
    assert_eq!(meaning(&session, "wider always"), Said::Unclear);
    let narrow = EscalationRequest {
        wider: None,
        ..request()
    };
    assert_eq!(meaning(&narrow, "wider"), Said::Unclear);
    let nothing = EscalationRequest {
        lifetimes: Vec::new(),
        ..profile("trusted")
    };
    for line in ["once", "yes", "wider", "trusted"] {
        assert_eq!(meaning(&nothing, line), Said::Unclear, "{line}");
    }
}

#[test]
fn a_program_that_has_ended_is_started_again_on_yes_alone() {
    let ended = EscalationRequest {
        live: false,
        ..request()
    };
    for line in ["yes", "ye", "YES"] {
        assert_eq!(meaning(&ended, line), yes(Lifetime::Once, Extent::Requested), "{line}");
    }
    for line in ["once", "session", "always", "wider", "y"] {
        assert_eq!(meaning(&ended, line), Said::Unclear, "{line}");
    }
    assert_eq!(meaning(&ended, "no"), no(None));
}

#[test]
fn a_profile_is_granted_for_the_run_on_yes() {
    assert_eq!(
        meaning(&profile("readonly"), "yes"),
        yes(Lifetime::Session, Extent::Requested)
    );
    assert_eq!(
        meaning(&profile("readonly"), "always"),
        yes(Lifetime::Always, Extent::Requested)
    );
}

#[test]
fn trusted_is_granted_to_who_types_its_whole_name_only() {
    let trusted = yes(Lifetime::Session, Extent::Profile("trusted".into()));
    for name in ["trusted", "readonly"] {
        assert_eq!(meaning(&profile(name), "trusted"), trusted);
        for line in ["tr", "truste", "Trusted", "trusted always"] {
            assert_eq!(meaning(&profile(name), line), Said::Unclear, "{line}");
        }
    }
    for line in ["yes", "once", "session", "always", "wider"] {
        assert_eq!(meaning(&profile("trusted"), line), Said::Unclear, "{line}");
    }
    let wider = EscalationRequest {
        requested: grants(&["--read", "/etc/hosts"]),
        wider: Some(Requested::Profile("trusted".into())),
        ..request()
    };
    assert_eq!(meaning(&wider, "wider"), Said::Unclear);
}

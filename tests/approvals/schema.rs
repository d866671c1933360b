//! Requests and answers are what `schemas/escalation.schema.json` promises.

use std::path::Path;

use serde_json::{Value, json};
use stockade_report::approve::{
    Answer, Approver, Choice, CommandApprover, Deadline, EscalationRequest, Extent, Lifetime, Requested,
};

use crate::approvals::question::{LONG, request};
use crate::common::{Place, faults};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../crates/report/schemas/escalation.schema.json"))
        .expect("the schema is JSON")
}

/// What breaks the promise of one of the two.
fn broken(definition: &str, document: &Value) -> Vec<String> {
    let mut schema = schema();
    schema["oneOf"] = json!([{ "$ref": format!("#/$defs/{definition}") }]);
    let whole = faults(&schema, document);
    // With the reason, which one form of several hides.
    let form = schema["$defs"][definition].clone();
    schema.as_object_mut().unwrap().remove("oneOf");
    schema
        .as_object_mut()
        .unwrap()
        .extend(form.as_object().unwrap().clone());
    let faults = faults(&schema, document);
    assert_eq!(whole.is_empty(), faults.is_empty());
    faults
}

/// What a command is given for this request.
fn given(place: &Place, request: &EscalationRequest) -> Value {
    let file = place.path("given.json");
    let text = format!("cat > {}; echo '{{\"answer\":\"no\"}}'", file.display());
    CommandApprover::new(text).ask(request, &Deadline::of(LONG));
    serde_json::from_str(&std::fs::read_to_string(Path::new(&file)).unwrap()).unwrap()
}

#[test]
fn requests_are_what_the_schema_says() {
    let place = Place::new();
    let mut profile = request("/x");
    profile.requested = Requested::Profile("filesystem".into());
    profile.wider = None;
    profile.live = false;
    profile.capability_id = Some("x.py".into());
    profile.evidence.agent = Some("coder".into());
    profile.evidence.warning = Some("think".into());
    for request in [request("/etc/hosts"), profile] {
        let document = given(&place, &request);
        assert_eq!(broken("request", &document), Vec::<String>::new(), "{document:#}");
        assert_eq!(serde_json::from_value::<EscalationRequest>(document).unwrap(), request);
    }
}

#[test]
fn the_schema_names_every_kind_of_access() {
    let kinds = schema()["$defs"]["evidence"]["properties"]["access"]["enum"].clone();
    let report: Value = serde_json::from_str(include_str!("../../crates/report/schemas/report.schema.json")).unwrap();
    assert_eq!(Some(&kinds), report.pointer("/$defs/denial/properties/access/enum"));
}

#[test]
fn answers_are_what_the_schema_says() {
    let wide = |extent| Answer {
        choice: Choice::Yes {
            lifetime: Lifetime::Always,
            extent,
        },
        ..Answer::no("ada")
    };
    for answer in [
        Answer::yes(Lifetime::Once, "ada"),
        wide(Extent::Wider),
        wide(Extent::Profile("trusted".into())),
        Answer::no("ada").because("not today"),
        Answer::silence("no one was there"),
    ] {
        let document = serde_json::to_value(&answer).unwrap();
        assert_eq!(broken("answer", &document), Vec::<String>::new(), "{document:#}");
    }
}

/// The schema and the program agree on what is an answer.
#[test]
fn an_answer_is_taken_if_and_only_if_the_schema_has_it() {
    for (text, is_one) in [
        (r#"{"answer":"no"}"#, true),
        (
            r#"{"answer":"no","all":true,"by":"x","reason":"y","version":1,"id":"id-of-/x"}"#,
            true,
        ),
        (r#"{"answer":"yes","lifetime":"once"}"#, true),
        (r#"{"answer":"yes","lifetime":"session","extent":"wider"}"#, true),
        (r#"{"answer":"silence","by":null}"#, true),
        (r#"{"answer":"yes"}"#, false),
        (r#"{"answer":"maybe"}"#, false),
        (r#"{"answer":"yes","lifetime":"forever"}"#, false),
        (r#"{"answer":"yes","lifetime":"once","extent":"all"}"#, false),
        (r#"{"answer":"yes","lifetime":"once","extent":{"grants":[]}}"#, false),
        (r#"{"answer":"yes","lifetime":"once","all":false}"#, false),
        (r#"{"answer":"no","lifetime":"once"}"#, false),
        (r#"{"answer":"no","more":1}"#, false),
        (r#"{"answer":"no","version":2}"#, false),
        (r#"{"answer":"silence","all":true}"#, false),
    ] {
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(broken("answer", &document).is_empty(), is_one, "{text}");
        let answer = CommandApprover::new(format!("echo '{text}'")).ask(&request("/x"), &Deadline::of(LONG));
        let is_refused = answer
            .reason
            .is_some_and(|reason| reason.contains("gave no usable answer"));
        assert_eq!(!is_refused, is_one, "{text}");
    }
}

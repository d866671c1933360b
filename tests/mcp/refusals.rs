//! A call that failed for a refusal says so, also where the server says nothing of it; others stay as they are.

use serde_json::{Value, json};

use super::client::{Start, is_error, text};
use crate::common::Place;

fn told(result: &Value) -> bool {
    is_error(result) && text(result).contains("Permission denied: ")
}

#[test]
fn a_failed_call_says_the_reason_and_the_least_grant() {
    let place = Place::new();
    let path = place.path("out.txt");
    let mut client = Start::wrapped(&[]).start(&place);
    // Twice: the same refusal explains each call.
    for _ in 0..2 {
        let result = client.call("write", json!({ "path": path }));
        let reason = format!(
            "Permission denied: creating {0}: nothing grants it\nLeast grant: --write {0}\n",
            path.display()
        );
        assert!(told(&result) && text(&result).contains(&reason), "{result}");
    }
    let result = client.call("write", json!({ "path": path, "as_error": true }));
    assert!(told(&result) && text(&result).starts_with("[Errno 13]"), "{result}");
    client.end();
    assert!(!path.exists());
}

#[test]
fn a_refusal_that_the_server_swallows_is_told() {
    let place = Place::new();
    let key = place.file("~/.ssh/id_ed25519", "private");
    let mut client = Start::wrapped(&[]).start(&place);
    for (tool, path) in [("read_quietly", key), ("write_quietly", place.path("x"))] {
        let result = client.call(tool, json!({ "path": path }));
        assert!(told(&result) && text(&result).starts_with("all is well\n"), "{result}");
        assert!(!text(&result).contains("private"));
    }
    client.end();
}

#[test]
fn a_good_call_stays_as_it_is_beside_what_programs_do_without() {
    let place = Place::new();
    let file = place.file("data", "content");
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let mut client = Start::wrapped(&[]).start(&place);
    for (tool, arguments) in [
        ("probe", json!({})),
        ("read", json!({ "path": file })),
        ("write", json!({ "path": shared.path().join("out") })),
    ] {
        let result = client.call(tool, arguments);
        assert!(!is_error(&result) && !text(&result).contains("denied"), "{result}");
    }
    let failed = client.call("read", json!({ "path": place.path("missing") }));
    assert!(is_error(&failed) && !text(&failed).contains("denied"), "{failed}");
    client.end();
}

#[test]
fn a_refusal_belongs_to_the_call_whose_arguments_name_it() {
    let place = Place::new();
    let mut client = Start::wrapped(&[]).start(&place);
    let good = client.send(
        "tools/call",
        json!({ "name": "sleep", "arguments": { "seconds": 0.5 } }),
    );
    let bad = client.call("write_quietly", json!({ "path": place.path("out.txt") }));
    assert!(told(&bad), "{bad}");
    let good = client.response(good);
    assert!(!is_error(&good["result"]), "{good}");
    client.end();
}

#[test]
fn variables_that_the_clients_configuration_set_are_passed_and_others_are_not() {
    let place = Place::new();
    // The client's own variables are this test's; what it sets for the server differs from them.
    let mut client = Start::wrapped(&[]).variable("API_TOKEN", "secret-1").start(&place);
    assert_eq!(
        text(&client.call("variable", json!({ "name": "API_TOKEN" }))),
        "secret-1"
    );
    assert_eq!(
        text(&client.call("variable", json!({ "name": "CARGO_MANIFEST_DIR" }))),
        "unset"
    );
    client.end();
    let mut client = Start::wrapped(&["--env", "B=2"])
        .variable("API_TOKEN", "secret-1")
        .start(&place);
    assert_eq!(text(&client.call("variable", json!({ "name": "API_TOKEN" }))), "unset");
    assert_eq!(text(&client.call("variable", json!({ "name": "B" }))), "2");
    // An error that names it: the last one is passed.
    for (name, hint) in [("API_TOKEN", "`--env API_TOKEN` hands it over"), ("B", "")] {
        let failed = client.call("read", json!({ "path": place.path(name) }));
        assert_eq!(
            (told(&failed), text(&failed).contains(hint)),
            (!hint.is_empty(), true),
            "{failed}"
        );
    }
    client.end();
}

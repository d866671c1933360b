//! What an inner run's own policy refuses is told by that run, once, with its own hint. The outer run counts it.

use serde_json::Value;

use crate::common::{Ran, Run};
use crate::nesting::inner::{inner, outer};

/// How often Stockade says that something was refused.
/// How many runs name a refusal. The outer one may be less than certain: the inner Stockade makes calls after the last words.
fn tellings(ran: &Ran) -> usize {
    let told = ran.finished.stderr();
    let certain = told.matches("was refused").count();
    certain + told.matches("refused, perhaps the reason").count()
}

fn ends(run: Run, command: &str) -> Ran {
    run.bash(&format!("{command}; exit 1"))
        .any_stdout()
        .status(1)
        .reporting()
        .ends()
}

fn denial<'a>(report: &'a Value, target: &str) -> Option<&'a Value> {
    let denials = report["denials"].as_array().unwrap();
    denials
        .iter()
        .find(|denial| denial["target"].as_str().unwrap().ends_with(target))
}

#[test]
fn the_inner_run_tells_with_its_own_hint_and_the_outer_one_counts() {
    let ran = ends(outer("workspace"), &inner("minimal --report ./inner.json", "cat plain"));
    assert_eq!(tellings(&ran), 1, "{}", ran.finished.stderr());
    assert!(
        ran.finished.stderr().contains("hint: to allow it: `--read "),
        "{}",
        ran.finished.stderr()
    );
    let told: Value = serde_json::from_slice(&std::fs::read(ran.place.path("inner.json")).unwrap()).unwrap();
    let own = denial(&told, "/plain").expect("the inner run's report has it");
    assert_eq!(
        (&told["status"], &own["explains"]),
        (&"permission_denied".into(), &"yes".into())
    );
    assert_eq!(told["suggestion"]["flags"][0], "--read");
    let report = ran.report();
    let counted = denial(&report, "/plain").expect("the outer run's report counts it");
    assert_eq!((&counted["explains"], &counted["grant"]), (&"no".into(), &Value::Null));
    assert_eq!(
        (&report["status"], &report["suggestion"]),
        (&"completed".into(), &Value::Null)
    );
}

#[test]
fn a_secret_is_named_as_one_and_not_suggested() {
    let begun = outer("workspace").file(".env", "x\n");
    let ran = ends(begun, &inner("workspace --report ./inner.json", "cat .env"));
    // The outer run's policy closes it as well, so that one tells.
    assert_eq!(tellings(&ran), 1, "{}", ran.finished.stderr());
    let begun = outer("workspace").file("kept/x", "x\n");
    let ran = ends(begun, &inner("workspace --deny ./kept", "cat kept/x"));
    assert_eq!(tellings(&ran), 1, "{}", ran.finished.stderr());
    assert!(
        ran.finished.stderr().contains("denied path"),
        "{}",
        ran.finished.stderr()
    );
    assert!(
        !ran.finished.stderr().contains("to allow it"),
        "{}",
        ran.finished.stderr()
    );
}

#[test]
fn what_the_outer_run_refuses_is_its_own_to_tell() {
    let ran = ends(outer("minimal"), &inner("trusted", "cat plain"));
    assert_eq!(tellings(&ran), 1, "{}", ran.finished.stderr());
    assert_ne!(ran.report()["denials"][0]["explains"], "no");
}

/// Its own file and what else it is refused is no one else's failure.
#[test]
fn what_stockade_itself_does_without_is_not_blamed() {
    let ran = ends(outer("mcp-standard"), &inner("mcp-standard", "false"));
    assert_eq!(tellings(&ran), 0, "{}", ran.finished.stderr());
}

/// The innermost run that refuses it tells.
#[test]
fn of_runs_one_inside_the_other_one_tells() {
    let innermost = inner("minimal", "cat plain");
    let ran = ends(outer("workspace"), &inner("workspace", &innermost));
    assert_eq!(tellings(&ran), 1, "{}", ran.finished.stderr());
    assert!(
        ran.finished.stderr().contains("hint: to allow it: `--read "),
        "{}",
        ran.finished.stderr()
    );
}

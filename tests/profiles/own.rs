//! Profiles of a person's own: written, shown, and looked through for lines that open nothing.

use serde_json::Value;

use super::{profile, stderr, stdout, write_profile};

#[test]
fn a_new_profile_extends_another_one_and_replaces_none() {
    let home = tempfile::tempdir().unwrap();
    let made = profile(home.path(), &["new", "mine", "--from", "readonly"]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    assert!(stdout(&made).ends_with("/.config/stockade/profiles/mine.toml\n"));
    let shown = profile(home.path(), &["show", "mine", "--json"]);
    let shown: Value = serde_json::from_str(&stdout(&shown)).unwrap();
    assert_eq!(shown["lines"][0]["value"], "readonly, minimal");
    for (words, why) in [
        (["new", "mine"], "there is a profile `mine` already"),
        (["new", "minimal"], "there is a profile `minimal` already"),
        (["new", "../x"], "can't be a profile's name"),
    ] {
        let refused = profile(home.path(), &words);
        assert_eq!(refused.status.code(), Some(125));
        assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
    }
}

#[test]
fn a_grant_that_opens_nothing_is_remarked() {
    let home = tempfile::tempdir().unwrap();
    let line = |path: &str| format!("[[read]]\npath = \"{path}\"\nwhy = \"keys\"\n");
    write_profile(home.path(), "idle", &line("~/.ssh"));
    write_profile(home.path(), "useful", &line("~/notes"));
    let linted = profile(home.path(), &["lint", "idle", "--json"]);
    assert_eq!(linted.status.code(), Some(1));
    let remark: Value = serde_json::from_str(&stdout(&linted)).unwrap();
    let message = remark["message"].as_str().unwrap();
    assert!(
        message.contains("/.ssh` opens nothing: secret ") && message.ends_with(" (built in) closes it"),
        "{message}"
    );
    let shown = stderr(&profile(home.path(), &["show", "idle"]));
    assert!(
        shown.contains("stockade: warning: ") && shown.contains("opens nothing"),
        "{shown}"
    );
    assert_eq!(profile(home.path(), &["lint", "useful"]).status.code(), Some(0));
    assert_eq!(stderr(&profile(home.path(), &["show", "useful"])), "");
}

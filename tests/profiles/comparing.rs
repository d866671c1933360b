//! `stockade profile diff` says what widens and what narrows, as diff(1) does.

use serde_json::{Value, json};

use super::{profile, stderr, stdout, write_profile};

#[test]
fn a_wider_profile_is_told_by_what_it_adds() {
    let home = tempfile::tempdir().unwrap();
    // Not in `/tmp`, which both may write to.
    let ended = profile(home.path(), &["diff", "filesystem", "workspace", "--root", "/usr"]);
    let expected = "+ write        /usr  [profile `workspace`, line 9]\n";
    assert_eq!((stdout(&ended), stderr(&ended)), (expected.into(), String::new()));
    assert_eq!(ended.status.code(), Some(1));
    let back = profile(
        home.path(),
        &["diff", "workspace", "filesystem", "--json", "--root", "/usr"],
    );
    let document: Value = serde_json::from_slice(&back.stdout).unwrap();
    assert_eq!(document["widens"], json!([]));
    assert_eq!(document["narrows"][0]["kind"], "write");
    assert_eq!(document["narrows"][0]["origin"], "profile `workspace`, line 9");
}

#[test]
fn equal_profiles_print_nothing() {
    let home = tempfile::tempdir().unwrap();
    write_profile(
        home.path(),
        "mine",
        "extends = 'workspace'\nread = [{ path = './src' }]",
    );
    for words in [["diff", "workspace", "workspace"], ["diff", "workspace", "mine"]] {
        let ended = profile(home.path(), &words);
        assert_eq!(
            (stdout(&ended), stderr(&ended)),
            (String::new(), String::new()),
            "{words:?}"
        );
        assert_eq!(ended.status.code(), Some(0));
    }
}

#[test]
fn what_cannot_be_compared_is_an_error_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    for words in [
        &["diff", "workspace"][..],
        &["diff", "workspace", "none-such"],
        &["diff", "workspace", "minimal", "--root", "/none-such"],
    ] {
        assert_eq!(profile(home.path(), words).status.code(), Some(125), "{words:?}");
    }
}

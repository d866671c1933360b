//! The policy decides what profiles promise, and nothing of the user's is changed by it.

use std::fs;

use serde_json::Value;

use super::{profile, stderr, stdout, write_profile};

/// Each test of a document, with its result.
fn results(document: &Value) -> Vec<(String, String)> {
    let text = |test: &Value, field: &str| test[field].as_str().unwrap_or("-").to_string();
    let one = |test: &Value| {
        let attempt = format!("{} {}", text(test, "access"), text(test, "target"));
        (attempt, text(test, "result"))
    };
    document["tests"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn every_shipped_profile_keeps_its_promises() {
    let home = tempfile::tempdir().unwrap();
    let ended = profile(home.path(), &["test", "--json"]);
    assert_eq!(ended.status.code(), Some(0), "{}{}", stdout(&ended), stderr(&ended));
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let results = results(&document);
    assert!(results.len() > 40, "{results:?}");
    for (attempt, result) in &results {
        assert_eq!(result, "ok", "{attempt}");
    }
    let left = fs::read_dir(home.path()).unwrap().count();
    assert_eq!(left, 0, "nothing is left at home");
}

#[test]
fn a_promise_that_does_not_hold_is_told_with_the_line_that_breaks_it() {
    let home = tempfile::tempdir().unwrap();
    let tests = "[[read]]\npath = './'\n[tests]\nmust_allow = ['read ./x', 'write ./y']\nmust_deny = ['read ./z', 'create ./new']";
    write_profile(home.path(), "mine", tests);
    let ended = profile(home.path(), &["test", "mine"]);
    let file = home.path().join(".config/stockade/profiles/mine.toml");
    let file = fs::canonicalize(file).unwrap();
    let expected = format!(
        "ok      mine: must allow `read ./x`\n\
         FAILED  mine: must allow `write ./y`: it is denied, since nothing grants it\n\
         FAILED  mine: must deny `read ./z`: it is allowed, by {}:5\n\
         ok      mine: must deny `create ./new`\n",
        file.display()
    );
    assert_eq!(stdout(&ended), expected);
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(stderr(&ended), "stockade: 2 held, 2 failed\n");
}

#[test]
fn each_kind_of_access_is_judged_both_ways() {
    let home = tempfile::tempdir().unwrap();
    let tests = "['read ./x', 'write ./x', 'create ./x', 'delete ./x', 'execute ./x', 'connect localhost:8080', \
                 'listen 0', 'socket ./s', 'env EDITOR', 'read ./']";
    let all = "write = [{ path = './' }]\nexec = [{ path = './' }]\n[network]\nlisten = [{ port = 0 }]\n\
               host = [{ pattern = 'localhost:*' }]\nsocket = [{ path = './s' }]\n[environment]\npass = 'all'\n";
    write_profile(home.path(), "open", &format!("{all}[tests]\nmust_allow = {tests}"));
    write_profile(home.path(), "shut", &format!("[tests]\nmust_deny = {tests}"));
    for name in ["open", "shut"] {
        let ended = profile(home.path(), &["test", "--json", name]);
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        for (attempt, result) in results(&document) {
            assert_eq!(result, "ok", "{name}: {attempt}");
        }
        assert_eq!(document["tests"].as_array().unwrap().len(), 10);
        assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    }
}

#[test]
fn a_root_that_is_named_is_judged_with_the_users_home_and_nothing_is_made() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("x"), "mine").unwrap();
    let path = fs::canonicalize(&root).unwrap();
    let tests = format!(
        "write = [{{ path = '{0}' }}]\n[tests]\nmust_allow = ['read ./x', 'write ./x', 'create ./new', 'delete ./x']\n\
         must_deny = ['execute ./x', 'read ~/y']",
        path.display()
    );
    write_profile(home.path(), "mine", &tests);
    let ended = profile(home.path(), &["test", "mine", "--root", "root"]);
    assert_eq!(ended.status.code(), Some(0), "{}{}", stdout(&ended), stderr(&ended));
    assert_eq!(fs::read_to_string(root.join("x")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
    let elsewhere = profile(home.path(), &["test", "mine"]);
    assert_eq!(elsewhere.status.code(), Some(1), "a root of its own isn't that one");
}

#[test]
fn a_profile_that_can_t_be_tested_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    write_profile(home.path(), "mine", "[tests]\nmust_deny = ['reed ./x']");
    let ended = profile(home.path(), &["test", "mine"]);
    assert_eq!(ended.status.code(), Some(125));
    let text = stderr(&ended);
    assert!(
        text.contains("mine.toml:5:14: `reed` isn't an access that can be tested"),
        "{text}"
    );
    assert!(text.contains("did you mean `read`?"), "{text}");
    for names in [
        &["test", "none-such"][..],
        &["test"],
        &["test", "minimal", "--root", "/none-such"],
    ] {
        assert_eq!(profile(home.path(), names).status.code(), Some(125), "{names:?}");
    }
    write_profile(home.path(), "mine", "");
    let ended = profile(home.path(), &["test", "mine"]);
    assert_eq!((ended.status.code(), stdout(&ended).as_str()), (Some(0), ""));
    assert!(stderr(&ended).contains("the profile `mine` has no tests"));
}

#[test]
fn names_of_a_profile_reach_the_terminal_with_their_escapes_spelled_out() {
    let home = tempfile::tempdir().unwrap();
    write_profile(home.path(), "mine", "[tests]\nmust_deny = [\"read ./a\\u202eb\"]");
    let ended = profile(home.path(), &["test", "mine"]);
    assert_eq!(ended.status.code(), Some(125), "it isn't even a test");
    assert!(!stderr(&ended).contains('\u{202e}'));
}

//! What profiles promise is tried against the sandbox, and nothing of the user's is changed by it.

use std::fs;
use std::net::TcpListener;

use serde_json::Value;

use super::{profile, stderr, stdout, write_profile};

/// Each test of a document, with its result and what found it.
fn results(document: &Value) -> Vec<(String, String, String)> {
    let text = |test: &Value, field: &str| test[field].as_str().unwrap_or("-").to_string();
    let one = |test: &Value| {
        let attempt = format!("{} {}", text(test, "access"), text(test, "target"));
        (attempt, text(test, "result"), text(test, "by"))
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
    for (attempt, result, by) in &results {
        // A port may be taken here, and then nothing is said against it.
        assert_eq!(result, "ok", "{attempt}");
        let is_named = attempt.starts_with("connect") || attempt.starts_with("socket");
        assert!(by == "sandbox" || is_named, "{attempt} isn't tried");
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
        "ok         mine: must allow `read ./x`\n\
         FAILED     mine: must allow `write ./y`: the sandbox denies it, since nothing grants it\n\
         FAILED     mine: must deny `read ./z`: the sandbox allows it, by {}:5\n\
         ok         mine: must deny `create ./new`\n",
        file.display()
    );
    assert_eq!(stdout(&ended), expected);
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(
        stderr(&ended),
        "stockade: 2 held, 2 failed, 0 not tried; 0 decided by the policy alone\n"
    );
}

#[test]
fn each_kind_of_access_is_really_tried_both_ways() {
    let home = tempfile::tempdir().unwrap();
    let tests = "['read ./x', 'write ./x', 'create ./x', 'delete ./x', 'execute ./x', 'connect localhost:PORT', \
                 'listen 0', 'socket ./s', 'env EDITOR', 'read ./']"
        .replace("PORT", &free_port().to_string());
    let all = "write = [{ path = './' }]\nexec = [{ path = './' }]\n[network]\nlisten = [{ port = 0 }]\n\
               host = [{ pattern = 'localhost:*' }]\nsocket = [{ path = './s' }]\n[environment]\npass = 'all'\n";
    write_profile(home.path(), "open", &format!("{all}[tests]\nmust_allow = {tests}"));
    write_profile(home.path(), "shut", &format!("[tests]\nmust_deny = {tests}"));
    for name in ["open", "shut"] {
        let ended = profile(home.path(), &["test", "--json", name]);
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        for (attempt, result, by) in results(&document) {
            assert_eq!((result.as_str(), by.as_str()), ("ok", "sandbox"), "{name}: {attempt}");
        }
        assert_eq!(document["tests"].as_array().unwrap().len(), 10);
        assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn what_fails_without_the_sandbox_too_proves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    write_profile(home.path(), "mine", &format!("[tests]\nmust_deny = ['listen {port}']"));
    let ended = profile(home.path(), &["test", "mine"]);
    let text = stdout(&ended);
    assert!(
        text.starts_with(&format!("not tried  mine: must deny `listen {port}`: it fails without")),
        "{text}"
    );
    assert_eq!(ended.status.code(), Some(0), "neither held nor failed");
}

#[test]
fn in_a_root_that_is_named_nothing_is_made_or_changed() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("x"), "mine").unwrap();
    let tests =
        "[tests]\nmust_allow = ['read ./x', 'write ./x', 'create ./new', 'delete ./x', 'execute ./x', 'read ./none']";
    write_profile(
        home.path(),
        "mine",
        &format!("write = [{{ path = './' }}]\nexec = [{{ path = './' }}]\n{tests}"),
    );
    let ended = profile(home.path(), &["test", "mine", "--root", "root", "--json"]);
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let by: Vec<String> = results(&document).into_iter().map(|(_, _, by)| by).collect();
    assert_eq!(by, ["sandbox", "policy", "policy", "policy", "policy", "policy"]);
    assert_eq!(ended.status.code(), Some(0), "{}", stdout(&ended));
    assert_eq!(fs::read_to_string(root.join("x")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1);
}

#[test]
fn a_name_outside_that_somebody_has_is_not_touched() {
    let home = tempfile::tempdir().unwrap();
    let file = tempfile::Builder::new()
        .prefix("stockade-")
        .tempfile_in("/tmp")
        .unwrap();
    fs::write(file.path(), "theirs").unwrap();
    let name = file.path().display();
    let tests = format!("['write {name}', 'delete {name}', 'create {name}-new']");
    write_profile(
        home.path(),
        "mine",
        &format!("write = [{{ path = '/tmp' }}]\n[tests]\nmust_allow = {tests}"),
    );
    let ended = profile(home.path(), &["test", "mine", "--json"]);
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let by: Vec<String> = results(&document).into_iter().map(|(_, _, by)| by).collect();
    assert_eq!(by, ["policy", "policy", "sandbox"], "{document:#}");
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "theirs");
    assert!(
        !std::path::Path::new(&format!("{name}-new")).exists(),
        "and what is made is removed"
    );
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

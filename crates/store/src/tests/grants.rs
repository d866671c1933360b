use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::*;

fn key() -> Key {
    Key {
        project: "/srv/project".into(),
        profile: "minimal".into(),
        agent: None,
        script: None,
    }
}

fn grant(words: &[&str]) -> NewGrant {
    NewGrant {
        given: Given::Flag(words.iter().map(OsString::from).collect()),
        by: "ada at the terminal".into(),
        reason: Some("needs it".into()),
        request: None,
    }
}

fn id(added: Added) -> String {
    match added {
        Added::New(id) => id,
        Added::Known(id) => panic!("{id} was stored before"),
    }
}

#[test]
fn a_grant_counts_for_its_own_key_alone_until_it_is_revoked() {
    let state = State::new();
    assert!(GrantStore::open_existing(&state.path()).unwrap().is_none());
    let mut store = GrantStore::open(&state.path()).unwrap();
    let read = grant(&["--read", "/etc/hosts"]);
    let id = id(store.add(&key(), &read).unwrap());
    let others = [
        Key {
            project: "/srv/project/sub".into(),
            ..key()
        },
        Key {
            profile: "readonly".into(),
            ..key()
        },
        Key {
            agent: Some("minimal".into()),
            ..key()
        },
        Key {
            agent: Some(String::new()),
            ..key()
        },
        Key {
            script: Some("ab".into()),
            ..key()
        },
    ];
    for other in others {
        assert_eq!(store.matching(&other).unwrap(), [], "{other:?}");
    }
    let found = store.matching(&key()).unwrap();
    assert_eq!((found.len(), &found[0].grant, &found[0].id), (1, &read, &id));
    assert!(store.revoke(&id).unwrap().is_some());
    assert!(store.revoke(&id).unwrap().is_none(), "once is enough");
    assert_eq!(store.matching(&key()).unwrap(), []);
    assert!(store.list().unwrap().grants[0].revoked_ms.is_some());
    assert!(matches!(store.revoke("nosuch"), Err(StoreError::Unknown { .. })));
}

#[test]
fn the_same_grant_is_stored_once_and_again_after_it_was_revoked() {
    let state = State::new();
    let mut store = GrantStore::open(&state.path()).unwrap();
    let read = grant(&["--read", "/etc/hosts"]);
    let first = id(store.add(&key(), &read).unwrap());
    let by_another = NewGrant {
        by: "bo".into(),
        ..read.clone()
    };
    assert_eq!(store.add(&key(), &by_another).unwrap(), Added::Known(first.clone()));
    store.revoke(&first).unwrap();
    assert_ne!(id(store.add(&key(), &read).unwrap()), first);
}

#[test]
fn words_that_are_no_text_come_back_as_they_were() {
    let state = State::new();
    let mut store = GrantStore::open(&state.path()).unwrap();
    let path = OsString::from_vec(b"/srv/\xff\n".to_vec());
    let odd = NewGrant {
        given: Given::Flag(vec!["--write".into(), path.clone()]),
        ..grant(&[])
    };
    let profile = NewGrant {
        given: Given::Profile("readonly".into()),
        ..grant(&[])
    };
    let key = Key {
        project: path.into(),
        ..key()
    };
    store.add(&key, &odd).unwrap();
    store.add(&key, &profile).unwrap();
    let found = store.matching(&key).unwrap();
    assert_eq!([&found[0].grant, &found[1].grant], [&odd, &profile]);
    assert_eq!(found[0].json()["grant"][1], serde_json::json!(b"/srv/\xff\n"));
}

#[test]
fn a_changed_byte_never_widens_a_grant() {
    let state = State::new();
    let mut store = GrantStore::open(&state.path()).unwrap();
    let narrow = grant(&["--read", "/srv/data"]);
    let revoked = id(store.add(&key(), &grant(&["--write", "/srv"])).unwrap());
    store.add(&key(), &narrow).unwrap();
    store.revoke(&revoked).unwrap();
    drop(store);
    let file = state.file("grants.db");
    let bytes = std::fs::read(&file).unwrap();
    // The rows are at the end of the last page.
    for at in (0..100).step_by(7).chain(bytes.len() - 420..bytes.len()) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&file, &changed).unwrap();
        let found = GrantStore::open_existing(&state.path()).and_then(|store| store.unwrap().matching(&key()));
        let found = found.unwrap_or_default();
        assert!(found.iter().all(|found| found.grant == narrow), "byte {at}: {found:?}");
    }
}

#[test]
fn a_damaged_grant_is_named_and_can_be_revoked() {
    let state = State::new();
    let mut store = GrantStore::open(&state.path()).unwrap();
    let id = id(store.add(&key(), &grant(&["--read", "/srv/data"])).unwrap());
    let tamper = rusqlite::Connection::open(state.file("grants.db")).unwrap();
    tamper
        .execute(
            "UPDATE grants SET words = CAST('--read' || x'00' || '/' || x'00' AS BLOB)",
            [],
        )
        .unwrap();
    assert!(matches!(store.matching(&key()), Err(StoreError::Damaged { .. })));
    assert_eq!(store.list().unwrap().damaged, std::slice::from_ref(&id));
    store.revoke(&id).unwrap();
    assert_eq!(store.matching(&key()).unwrap(), []);
}

#[test]
fn the_files_are_for_the_user_alone_and_never_behind_a_link() {
    let state = State::new();
    drop(
        GrantStore::open(&state.path())
            .unwrap()
            .add(&key(), &grant(&["--read", "/x"])),
    );
    assert_eq!((mode(&state.path()), mode(&state.file("grants.db"))), (0o700, 0o600));
    let elsewhere = state.0.path().join("elsewhere.db");
    std::fs::rename(state.file("grants.db"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, state.file("grants.db")).unwrap();
    assert!(matches!(GrantStore::open(&state.path()), Err(StoreError::File { .. })));
    assert!(GrantStore::open_existing(&state.path()).is_err());
    let link = state.0.path().join("link");
    std::os::unix::fs::symlink(state.path(), &link).unwrap();
    assert!(matches!(GrantStore::open(&link), Err(StoreError::Directory { .. })));
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let state = State::new();
    drop(GrantStore::open(&state.path()).unwrap());
    let tamper = rusqlite::Connection::open(state.file("grants.db")).unwrap();
    tamper.pragma_update(None, "user_version", 99).unwrap();
    drop(tamper);
    let error = GrantStore::open(&state.path()).err().unwrap();
    assert!(
        error
            .to_string()
            .ends_with("is of version 99, and this Stockade knows 1"),
        "{error}"
    );
}

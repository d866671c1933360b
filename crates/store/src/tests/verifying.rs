use super::*;

#[test]
fn a_trail_as_it_was_written_is_found_to_be_so() {
    assert_eq!(verify(&State::new().path()).unwrap(), None);
    let state = trail(20);
    let verified = verify(&state.path()).unwrap().unwrap();
    assert_eq!((verified.rows, verified.fault), (20, None));
    assert_eq!(verified.newest, Some(rows(&state.path())[19].hash));
}

#[test]
fn the_first_row_that_is_not_as_it_was_written_is_named() {
    let altered = |seq: u64| Fault::Altered {
        seq,
        run: format!("run-{}", seq % 3),
    };
    let missing = |first, last, after: u64| Fault::Missing {
        first,
        last,
        after: Some(format!("run-{}", after % 3)),
    };
    for (sql, expected) in [
        (
            "UPDATE records SET body = replace(body, 'data', 'date') WHERE seq IN (7, 9)",
            altered(7),
        ),
        ("UPDATE records SET time_ms = time_ms + 1 WHERE seq = 20", altered(20)),
        (
            "UPDATE records SET run = 'run-x' WHERE seq = 1",
            Fault::Altered {
                seq: 1,
                run: "run-x".into(),
            },
        ),
        ("UPDATE records SET hash = zeroblob(32) WHERE seq = 3", altered(3)),
        ("DELETE FROM records WHERE seq IN (5, 6)", missing(5, 6, 4)),
        ("DELETE FROM records WHERE seq > 18", missing(19, 20, 18)),
        (
            "UPDATE records SET seq = -1 WHERE seq = 4; UPDATE records SET seq = 4 WHERE seq = 8;
             UPDATE records SET seq = 8 WHERE seq = -1",
            Fault::Reordered {
                seq: 4,
                stands: 8,
                run: "run-1".into(),
            },
        ),
        (
            "DELETE FROM records WHERE seq = 5; UPDATE records SET seq = seq - 1 WHERE seq > 5",
            Fault::Altered {
                seq: 5,
                run: "run-0".into(),
            },
        ),
    ] {
        let state = trail(20);
        state.tamper(sql);
        assert_eq!(fault(&state), Some(expected), "{sql}");
    }
}

#[test]
fn a_row_replaced_together_with_its_hash_is_found_also_when_it_is_the_last() {
    for (seq, is_last) in [(7, false), (20, true)] {
        let state = trail(20);
        let all = rows(&state.path());
        let mut row = all[seq - 1].clone();
        row.body = row.body.replace("data", "date");
        let hash = row.link(all[seq - 2].hash);
        state.tamper(&format!(
            "UPDATE records SET body = '{}', hash = x'{hash}' WHERE seq = {seq}",
            row.body
        ));
        match fault(&state) {
            Some(Fault::Replaced { seq: 20, .. }) if is_last => {}
            // Its successor is the first that doesn't fit, and the sentence names both.
            Some(Fault::Altered { seq: 8, .. }) if !is_last => {}
            other => panic!("row {seq}: {other:?}"),
        }
    }
}

#[test]
fn what_is_written_later_hides_nothing() {
    for sql in [
        "DELETE FROM records WHERE seq > 18",
        "UPDATE records SET body = '{}', hash = zeroblob(32) WHERE seq = 20",
    ] {
        let state = trail(20);
        state.tamper(sql);
        let before = fault(&state);
        let seqs: Vec<u64> = (21..40)
            .map(entry)
            .map(|entry| Trail::open(&state.path()).unwrap().append(&[entry]).unwrap()[0].seq)
            .collect();
        assert_eq!(seqs, (21..40).collect::<Vec<u64>>());
        assert_eq!(fault(&state), before);
        assert!(before.is_some());
    }
}

#[test]
fn a_lost_log_of_the_database_is_found_by_the_head() {
    let state = trail(10);
    append(&state, 11..=11);
    let other = rusqlite::Connection::open(state.file("audit.db")).unwrap();
    other
        .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .unwrap();
    other.execute_batch("SELECT count(*) FROM records").unwrap();
    assert_eq!(rows(&state.path()).len(), 11);
    drop(other);
    let log = state.file("audit.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    assert!(
        matches!(
            fault(&state),
            Some(Fault::Missing {
                first: 11,
                last: 11,
                ..
            })
        ),
        "{:?}",
        fault(&state)
    );
    std::fs::remove_file(state.file("audit.db")).unwrap();
    assert!(matches!(fault(&state), Some(Fault::Missing { first: 1, last: 11, .. })));
}

#[test]
fn without_a_head_the_end_is_not_known() {
    let state = trail(10);
    std::fs::write(state.file("audit.head"), "10 of them\n").unwrap();
    assert_eq!(fault(&state), Some(Fault::Headless { newest: 10 }));
    std::fs::remove_file(state.file("audit.head")).unwrap();
    assert_eq!(fault(&state), Some(Fault::Headless { newest: 10 }));
}

#[test]
fn a_head_that_was_taken_away_stays_missing_whatever_is_written_later() {
    let state = trail(10);
    state.tamper("DELETE FROM records WHERE seq > 7");
    std::fs::remove_file(state.file("audit.head")).unwrap();
    for seq in 8..12 {
        let mut opened = Trail::open(&state.path()).unwrap();
        assert_eq!(opened.append(&[entry(seq)]).unwrap()[0].seq, seq);
        drop(opened);
        assert_eq!(fault(&state), Some(Fault::Headless { newest: seq }));
    }
    assert!(!state.file("audit.head").exists());
    for name in ["audit.db", "audit.db-wal", "audit.db-shm"] {
        let _ = std::fs::remove_file(state.file(name));
    }
    Trail::open(&state.path()).unwrap().append(&[entry(1)]).unwrap();
    assert_eq!(fault(&state), None);
}

#[test]
fn an_empty_head_is_of_a_trail_without_rows_or_was_emptied() {
    let state = trail(3);
    std::fs::write(state.file("audit.head"), "").unwrap();
    Trail::open(&state.path()).unwrap().append(&[entry(4)]).unwrap();
    assert_eq!(fault(&state), Some(Fault::Headless { newest: 4 }));
    // A run that was killed before its first row.
    let state = State::new();
    std::fs::create_dir_all(state.path()).unwrap();
    std::fs::write(state.file("audit.head"), "").unwrap();
    Trail::open(&state.path()).unwrap().append(&[entry(1)]).unwrap();
    assert_eq!(fault(&state), None);
}

#[test]
fn a_negative_row_is_named_as_it_stands() {
    let state = trail(3);
    state.tamper("UPDATE records SET seq = -3 WHERE seq = 2");
    let fault = fault(&state).unwrap().to_string();
    assert!(fault.contains("row -3"), "{fault}");
    state.tamper("UPDATE records SET body = '{}' WHERE seq = -3");
    let fault = self::fault(&state).unwrap().to_string();
    assert!(fault.starts_with("row -3 "), "{fault}");
}

/// Bytes all over the file: every page's header, cells, rows and unused space.
#[test]
fn a_flipped_byte_is_found_or_changed_no_row() {
    let state = trail(60);
    let file = state.file("audit.db");
    let bytes = std::fs::read(&file).unwrap();
    let before = rows(&state.path());
    assert!(bytes.len() >= 4 * 4096, "{} bytes", bytes.len());
    let headers = (0..bytes.len()).step_by(4096).flat_map(|page| page..page + 12);
    let places: Vec<usize> = (0..100)
        .step_by(2)
        .chain(headers)
        .chain((0..bytes.len()).step_by(97))
        .collect();
    let mut found = 0;
    for at in places {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&file, &changed).unwrap();
        let verdict = std::panic::catch_unwind(|| verify(&state.path())).unwrap();
        match verdict {
            Ok(Some(Verified { fault: None, .. })) => {
                assert_eq!(
                    rows(&state.path()),
                    before,
                    "byte {at} changed a row, and it isn't said"
                );
            }
            Ok(None) => panic!("byte {at}: the trail is gone, and it isn't said"),
            Ok(Some(_)) | Err(_) => found += 1,
        }
        for rest in ["audit.db-wal", "audit.db-shm"] {
            let _ = std::fs::remove_file(state.file(rest));
        }
    }
    assert!(found > 80, "only {found} flips were found");
}

use super::*;

#[test]
fn rows_are_chosen_by_run_time_and_number_oldest_first() {
    let state = trail(30);
    let mut opened = Trail::open_existing(&state.path()).unwrap().unwrap();
    let mut chosen = |choice: Choice| {
        let mut seqs = Vec::new();
        let keep = |row: Row| {
            seqs.push(row.seq);
            Ok::<(), StoreError>(())
        };
        opened.rows(&choice, keep).unwrap();
        seqs
    };
    let run = Some("run-1".to_string());
    let since_ms = Some(1_700_000_000_025);
    assert_eq!(
        chosen(Choice {
            limit: Some(3),
            ..Choice::default()
        }),
        [28, 29, 30]
    );
    assert_eq!(
        chosen(Choice {
            run: run.clone(),
            since_ms,
            ..Choice::default()
        }),
        [25, 28]
    );
    assert_eq!(
        chosen(Choice {
            run,
            limit: Some(2),
            ..Choice::default()
        }),
        [25, 28]
    );
    assert_eq!(
        chosen(Choice {
            after_seq: Some(28),
            ..Choice::default()
        }),
        [29, 30]
    );
    assert_eq!(chosen(Choice::default()).len(), 30);
}

#[test]
fn a_hundred_writers_at_once_lose_nothing() {
    let state = State::new();
    let path = state.path();
    std::thread::scope(|scope| {
        for writer in 0..100 {
            let path = &path;
            scope.spawn(move || {
                let mut trail = Trail::open(path).unwrap();
                for number in 0..3 {
                    trail.append(&[entry(writer * 10 + number)]).unwrap();
                }
            });
        }
    });
    let mut times: Vec<u64> = rows(&path).iter().map(|row| row.time_ms - 1_700_000_000_000).collect();
    times.sort_unstable();
    let expected: Vec<u64> = (0..100)
        .flat_map(|writer| (0..3).map(move |number| writer * 10 + number))
        .collect();
    assert_eq!(times, expected);
    let verified = verify(&path).unwrap().unwrap();
    assert_eq!((verified.rows, verified.fault), (300, None));
    for name in ["audit.db", "audit.log", "audit.head"] {
        assert_eq!(mode(&state.file(name)), 0o600, "{name}");
    }
}

#[test]
fn an_export_tells_what_the_row_holds_and_what_it_cannot_read() {
    let state = trail(1);
    let row = rows(&state.path()).remove(0).json();
    assert_eq!((&row["seq"], &row["record"]["target"]), (&1.into(), &"/data/1".into()));
    state.tamper("UPDATE records SET body = 'no JSON'");
    let row = rows(&state.path()).remove(0).json();
    assert_eq!(row["record"]["kind"], "unreadable");
}

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};

use super::*;

/// Files of a state, to go back to.
struct Kept(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Kept {
    fn of(state: &State, names: &[&str]) -> Kept {
        let keep = |name: &&str| (state.file(name), fs::read(state.file(name)).ok());
        Kept(names.iter().map(keep).collect())
    }

    fn all(state: &State) -> Kept {
        Kept::of(
            state,
            &["audit.db", "audit.db-wal", "audit.db-shm", "audit.log", "audit.head"],
        )
    }

    fn put_back(&self) {
        for (path, bytes) in &self.0 {
            match bytes {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => drop(fs::remove_file(path)),
            }
        }
    }
}

fn log(state: &State) -> Vec<u8> {
    fs::read(state.file("audit.log")).unwrap()
}

fn seqs(state: &State) -> Vec<u64> {
    rows(&state.path()).iter().map(|row| row.seq).collect()
}

/// Two rows in the database, and two in the log.
fn half_taken() -> State {
    let state = trail(2);
    append(&state, 3..=4);
    state
}

#[test]
fn a_row_is_in_the_log_until_somebody_reads() {
    let state = half_taken();
    let text = String::from_utf8(log(&state)).unwrap();
    assert!(text.starts_with("[3,\"") && text.lines().count() == 2, "{text}");
    assert_eq!(seqs(&state), [1, 2, 3, 4]);
    assert!(log(&state).is_empty());
    append(&state, 5..=5);
    assert_eq!(verify(&state.path()).unwrap().unwrap().rows, 5);
    assert!(log(&state).is_empty());
}

#[test]
fn what_a_killed_writer_left_of_a_line_is_cut_off() {
    let state = half_taken();
    let kept = Kept::all(&state);
    append(&state, 5..=5);
    let longer = log(&state);
    for length in (kept.0[3].1.as_ref().unwrap().len()..longer.len()).step_by(5) {
        kept.put_back();
        fs::write(state.file("audit.log"), &longer[..length]).unwrap();
        // A reader first, or a writer.
        if length % 2 == 0 {
            assert_eq!(seqs(&state), [1, 2, 3, 4], "{length} bytes");
        }
        append(&state, 5..=6);
        assert_eq!((fault(&state), seqs(&state).len()), (None, 6), "{length} bytes");
    }
}

#[test]
fn a_long_last_line_is_found() {
    let state = State::new();
    for (number, length) in [(1, 3 << 10), (2, 5 << 10), (3, 300 << 10)] {
        let body = "x".repeat(length);
        let mut trail = Trail::open(&state.path()).unwrap();
        trail.append(&[Entry { body, ..entry(number) }]).unwrap();
    }
    append(&state, 4..=4);
    assert_eq!((fault(&state), seqs(&state)), (None, vec![1, 2, 3, 4]));
}

#[test]
fn a_writer_killed_before_it_advanced_the_head_has_recorded() {
    for is_read in [false, true] {
        let state = half_taken();
        let head = Kept::of(&state, &["audit.head"]);
        append(&state, 5..=5);
        head.put_back();
        if is_read {
            assert_eq!((fault(&state), seqs(&state).len()), (None, 5));
        }
        assert_eq!(append(&state, 6..=6)[0].seq, 6);
        assert_eq!((fault(&state), seqs(&state).len()), (None, 6));
    }
}

#[test]
fn a_reader_killed_before_it_emptied_the_log_has_stored_each_row_once() {
    let state = half_taken();
    let kept = Kept::of(&state, &["audit.log"]);
    rows(&state.path());
    kept.put_back();
    append(&state, 5..=5);
    assert_eq!((fault(&state), seqs(&state)), (None, vec![1, 2, 3, 4, 5]));
    assert!(log(&state).is_empty());
}

#[test]
fn a_changed_byte_or_a_shortened_log_is_found() {
    let state = half_taken();
    let kept = Kept::all(&state);
    let whole = log(&state);
    for at in 0..whole.len() {
        for is_cut in [false, true] {
            kept.put_back();
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            bytes.truncate(if is_cut { at } else { whole.len() });
            fs::write(state.file("audit.log"), bytes).unwrap();
            // A reader is the first, or a writer.
            if at % 4 == 0 {
                append(&state, 5..=5);
            }
            assert!(fault(&state).is_some(), "byte {at}, cut: {is_cut}");
        }
    }
}

#[test]
fn from_a_damaged_line_on_the_log_stays_as_it_is() {
    let state = half_taken();
    append(&state, 5..=5);
    let before = String::from_utf8(log(&state)).unwrap();
    let mut lines: Vec<&str> = before.lines().collect();
    let damaged = lines[1].replace("denied", "\"denied");
    lines[1] = &damaged;
    let text = lines.join("\n") + "\n";
    fs::write(state.file("audit.log"), &text).unwrap();
    assert_eq!(fault(&state), Some(Fault::Log { line: 2, after: 3 }));
    let mut read = Vec::new();
    let mut trail = Trail::open_existing(&state.path()).unwrap().unwrap();
    let error = trail
        .rows(&Choice::default(), |row| {
            read.push(row.seq);
            Ok::<(), StoreError>(())
        })
        .unwrap_err();
    assert_eq!(read, [1, 2, 3]);
    assert!(error.to_string().starts_with("line 2 of ") && error.to_string().contains("audit.log"));
    assert!(error.hint().unwrap().contains("`audit.log`"));
    assert_eq!(append(&state, 6..=6)[0].seq, 6);
    assert!(log(&state).starts_with(text.as_bytes()));
}

#[test]
fn a_row_with_the_number_of_another_stays_in_the_log() {
    let state = half_taken();
    let kept = Kept::of(&state, &["audit.log"]);
    rows(&state.path());
    kept.put_back();
    state.tamper("UPDATE records SET body = '{}' WHERE seq = 4");
    assert!(matches!(fault(&state), Some(Fault::Altered { seq: 4, .. })));
    assert_eq!(log(&state), kept.0[0].1.clone().unwrap());
}

#[test]
fn a_database_without_a_log_goes_on_where_it_ended_also_if_its_head_is_behind() {
    let state = trail(8);
    let head = Kept::of(&state, &["audit.head"]);
    append(&state, 9..=10);
    rows(&state.path());
    head.put_back();
    fs::remove_file(state.file("audit.log")).unwrap();
    assert_eq!((fault(&state), seqs(&state).len()), (None, 10));
    assert_eq!(append(&state, 11..=11)[0].seq, 11);
    assert_eq!((fault(&state), seqs(&state).len()), (None, 11));
}

#[test]
fn rows_in_the_log_get_no_new_head() {
    for content in [None, Some("altered\n"), Some("")] {
        let state = State::new();
        append(&state, 1..=2);
        match content {
            None => fs::remove_file(state.file("audit.head")).unwrap(),
            Some(text) => fs::write(state.file("audit.head"), text).unwrap(),
        }
        for number in 3..=6 {
            assert_eq!(append(&state, number..=number)[0].seq, number);
            if number % 2 == 0 {
                assert_eq!(fault(&state), Some(Fault::Headless { newest: number }));
            }
        }
        assert_eq!(fs::read_to_string(state.file("audit.head")).ok().as_deref(), content);
    }
}

#[test]
fn a_lost_database_or_log_is_found_by_the_head() {
    let state = half_taken();
    let kept = Kept::all(&state);
    fs::remove_file(state.file("audit.log")).unwrap();
    append(&state, 5..=5);
    assert!(matches!(fault(&state), Some(Fault::Missing { first: 3, last: 4, .. })));
    kept.put_back();
    fs::remove_file(state.file("audit.db")).unwrap();
    let expected = Fault::Missing {
        first: 1,
        last: 2,
        after: None,
    };
    assert_eq!(fault(&state), Some(expected));
    assert_eq!(seqs(&state), [3, 4]);
}

#[test]
fn a_writer_loses_nothing_while_others_read() {
    let state = State::new();
    append(&state, 1..=1);
    let (path, is_done) = (state.path(), std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                    assert_eq!(verify(&path).unwrap().unwrap().fault, None);
                    rows(&path);
                }
            });
        }
        let mut trail = Trail::open(&path).unwrap();
        (2..=300).for_each(|number| drop(trail.append(&[entry(number)]).unwrap()));
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(seqs(&state), (1..=300).collect::<Vec<u64>>());
    assert_eq!(fault(&state), None);
}

/// Appends and reads, which both have to fail and to name the log.
fn unusable(state: &State) {
    let path = state.path();
    for error in [
        Trail::open(&path).unwrap().append(&[entry(5)]).unwrap_err(),
        verify(&path).unwrap_err(),
        Trail::open_existing(&path).err().unwrap(),
    ] {
        assert!(error.to_string().contains("audit.log"), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_log_that_is_something_else_is_not_used() {
    let state = half_taken();
    let (file, other) = (state.file("audit.log"), state.file("other"));
    fs::rename(&file, &other).unwrap();
    let before = fs::read(&other).unwrap();
    symlink(&other, &file).unwrap();
    unusable(&state);
    fs::remove_file(&file).unwrap();
    nix::unistd::mkfifo(&file, nix::sys::stat::Mode::S_IRWXU).unwrap();
    unusable(&state);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    unusable(&state);
    fs::remove_dir(&file).unwrap();
    fs::copy(&other, &file).unwrap();
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
    } else {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    }
    unusable(&state);
    assert_eq!(
        (fs::read(&file).unwrap(), fs::read(&other).unwrap()),
        (before.clone(), before)
    );
}

#[test]
fn a_log_that_others_may_read_is_made_private() {
    let state = half_taken();
    fs::set_permissions(state.file("audit.log"), fs::Permissions::from_mode(0o644)).unwrap();
    append(&state, 5..=5);
    assert_eq!(mode(&state.file("audit.log")), 0o600);
}

/// As after a power cut: the file is as long as it was, and its end was never written.
#[test]
fn zeros_at_the_end_are_cut_off() {
    let state = half_taken();
    let length = log(&state).len() as u64;
    let file = fs::File::options().write(true).open(state.file("audit.log")).unwrap();
    file.write_all_at(&[0; 9000], length).unwrap();
    assert_eq!(append(&state, 5..=5)[0].seq, 5);
    assert_eq!((fault(&state), seqs(&state).len()), (None, 5));
}

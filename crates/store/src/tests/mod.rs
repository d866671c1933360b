mod grants;
mod log;
mod trail;
mod verifying;
mod writing;

use std::path::{Path, PathBuf};

use super::*;

/// The state directory of one test.
struct State(tempfile::TempDir);

impl State {
    fn new() -> State {
        State(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("stockade")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Runs SQL as an attacker who may write the file.
    fn tamper(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.file("audit.db")).unwrap();
        connection.execute_batch(sql).unwrap();
    }
}

fn entry(number: u64) -> Entry {
    Entry {
        time_ms: 1_700_000_000_000 + number,
        run: format!("run-{}", number % 3),
        kind: "denied",
        body: format!("{{\"kind\":\"denied\",\"target\":\"/data/{number}\"}}"),
    }
}

/// A trail with this many rows, closed, all of them in its database.
fn trail(rows: u64) -> State {
    let state = State::new();
    append(&state, 1..=rows);
    assert_eq!(super::tests::rows(&state.path()).len() as u64, rows);
    state
}

fn append(state: &State, numbers: impl Iterator<Item = u64>) -> Vec<Row> {
    let entries: Vec<Entry> = numbers.map(entry).collect();
    Trail::open(&state.path()).unwrap().append(&entries).unwrap()
}

fn fault(state: &State) -> Option<Fault> {
    verify(&state.path()).unwrap().unwrap().fault
}

fn rows(state: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut trail = Trail::open_existing(state).unwrap().unwrap();
    let keep = |row| {
        rows.push(row);
        Ok::<(), StoreError>(())
    };
    trail.rows(&Choice::default(), keep).unwrap();
    rows
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_full_disk_is_said_to_be_full() {
    let failure = |code| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
    let said = |code| StoreError::of_database("write to", "/s/audit.db".into(), failure(code)).to_string();
    assert_eq!(
        said(rusqlite::ffi::SQLITE_FULL),
        "can't write to `/s/audit.db`: the disk is full"
    );
    assert_eq!(said(rusqlite::ffi::SQLITE_IOERR), "can't write to `/s/audit.db`");
}

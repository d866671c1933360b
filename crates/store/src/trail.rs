//! The audit trail: one append-only table, one chain for all runs.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::StoreError;
use super::chain::{Hash, Row};
use super::database::{Database, Kind};
use super::error::TRAIL;
use super::head::{self, Access, Head, Locked};
use super::place::Place;

pub(super) const AUDIT: Kind = Kind {
    name: TRAIL,
    migrations: &["CREATE TABLE records (
        seq INTEGER PRIMARY KEY,
        time_ms INTEGER NOT NULL,
        run TEXT NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        hash BLOB NOT NULL
    ) STRICT"],
};

const HEAD: &str = "audit.head";

/// The open trail.
pub struct Trail {
    place: Place,
    database: Database,
    /// The head's file, once a row was written.
    head: Option<File>,
}

/// A record to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time of the event: milliseconds since 1970.
    pub time_ms: u64,
    /// The run's id.
    pub run: String,
    /// The kind of record.
    pub kind: &'static str,
    /// The record as [`stockade::audit::body`] writes it.
    pub body: String,
}

/// A selection of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only rows of this run.
    pub run: Option<String>,
    /// Only rows from this time on: milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Only rows behind this one.
    pub after_seq: Option<u64>,
    /// Only this many of the newest rows.
    pub limit: Option<u64>,
}

impl Trail {
    /// Opens the trail, and creates it if it is missing.
    ///
    /// # Errors
    /// It can't be used.
    pub fn open(state: &Path) -> Result<Trail, StoreError> {
        let place = Place::make(state)?;
        let database = AUDIT.open(&place)?;
        Ok(Trail::of(place, database))
    }

    /// Opens the trail if there is one.
    ///
    /// # Errors
    /// It exists but can't be used.
    pub fn open_existing(state: &Path) -> Result<Option<Trail>, StoreError> {
        let Some(place) = Place::existing(state)? else {
            return Ok(None);
        };
        let database = AUDIT.open_existing(&place)?;
        Ok(database.map(|database| Trail::of(place, database)))
    }

    /// Which file the trail of a state directory is: another one, once that was moved away.
    pub fn identity(state: &Path) -> Option<(u64, u64)> {
        let file = std::fs::symlink_metadata(state.join(AUDIT.name)).ok()?;
        Some((file.dev(), file.ino()))
    }

    fn of(place: Place, database: Database) -> Trail {
        Trail {
            place,
            database,
            head: None,
        }
    }

    /// Skips the checkpoint on close: it waits for the disk, and the next run may come at once.
    ///
    /// # Errors
    /// SQLite refuses the setting.
    pub fn leave_log(&mut self) -> Result<(), StoreError> {
        self.database.doing("prepare", |connection| {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        })?;
        Ok(())
    }

    /// Appends entries after the last row, all or none, and returns their rows.
    ///
    /// # Errors
    /// They can't be written.
    pub fn append(&mut self, entries: &[Entry]) -> Result<Vec<Row>, StoreError> {
        let Some(file) = self.head_file()? else {
            return self.append_headless(entries);
        };
        let failed = |error| self.place.file_error(HEAD, error);
        let locked = Locked::of(&file).map_err(failed)?;
        let head = locked.read().map_err(failed)?;
        let rows = write(&mut self.database, entries, head)?;
        if let Some(row) = rows.last() {
            locked
                .advance(row.seq, row.hash)
                .map_err(|error| self.place.file_error(HEAD, error))?;
        }
        drop(locked);
        self.head = Some(file);
        Ok(rows)
    }

    /// Appends after the head was removed: a new head would hide which rows were removed with it.
    fn append_headless(&mut self, entries: &[Entry]) -> Result<Vec<Row>, StoreError> {
        // Writers are still serialised.
        let _lock = self.place.lock()?;
        write(&mut self.database, entries, Head::Absent)
    }

    /// The head; `None` if it was removed. It is created only for an empty table.
    fn head_file(&mut self) -> Result<Option<File>, StoreError> {
        if let Some(file) = self.head.take() {
            return Ok(Some(file));
        }
        let path = match self.place.existing_file(HEAD)? {
            None if self.is_empty()? => Some(self.place.file(HEAD)?),
            // Again: another process's first run creates it before it writes the first row.
            None => self.place.existing_file(HEAD)?,
            path => path,
        };
        path.map(|path| head::open(&path, Access::Writing))
            .transpose()
            .map_err(|error| self.place.file_error(HEAD, error))
    }

    fn is_empty(&mut self) -> Result<bool, StoreError> {
        let last = self.database.doing("read", |connection| last_row(connection))?;
        Ok(last.is_none())
    }

    /// Passes the selected rows to `each`, oldest first, until it fails.
    ///
    /// # Errors
    /// The trail can't be read, or `each` failed.
    pub fn rows<E: From<StoreError>>(
        &mut self,
        choice: &Choice,
        mut each: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let newest_first = choice.limit.is_some();
        let order = if newest_first { "DESC LIMIT ?3" } else { "LIMIT ?3" };
        let limit = choice.limit.map_or(-1, u64::cast_signed);
        let since = choice.since_ms.map(u64::cast_signed);
        // The first row's number is 1.
        let after = choice.after_seq.unwrap_or(0).cast_signed();
        let mut kept = Vec::new();
        let mut outcome = Ok(());
        self.database.doing("read", |connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT * FROM records NOT INDEXED
                 WHERE seq > ?4 AND (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR time_ms >= ?2) ORDER BY seq {order}"
            ))?;
            let mut rows = statement.query((&choice.run, since, limit, after))?;
            while let Some(row) = rows.next()? {
                let row = parse(row)?;
                if newest_first {
                    kept.push(row);
                } else if let Err(error) = each(row) {
                    outcome = Err(error);
                    break;
                }
            }
            Ok(())
        })?;
        kept.into_iter().rev().try_for_each(each).and(outcome)
    }
}

/// The head, and the trail's database if there is one.
pub(super) fn look(state: &Path) -> Result<(Head, Option<Database>), StoreError> {
    let Some(place) = Place::existing(state)? else {
        return Ok((Head::Absent, None));
    };
    // The head first: rows written meanwhile make the table longer than the head says, never shorter.
    let head = match place.existing_file(HEAD)? {
        Some(path) => Head::of(&path).map_err(|error| place.file_error(HEAD, error))?,
        None => Head::Absent,
    };
    Ok((head, AUDIT.open_existing(&place)?))
}

/// Parses one row of the table.
pub(super) fn parse(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        seq: row.get::<_, i64>("seq")?.cast_unsigned(),
        time_ms: row.get::<_, i64>("time_ms")?.cast_unsigned(),
        run: row.get("run")?,
        kind: row.get("kind")?,
        body: row.get("body")?,
        hash: Hash(row.get("hash")?),
    })
}

/// Appends after the last row, in one transaction.
fn write(database: &mut Database, entries: &[Entry], head: Head) -> Result<Vec<Row>, StoreError> {
    database.change(|transaction| {
        let last = last_row(transaction)?;
        insert(transaction, chained(entries, newest(last, head)))
    })
}

fn last_row(connection: &Connection) -> rusqlite::Result<Option<(u64, Hash)>> {
    let sql = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(sql, [], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), Hash(row.get(1)?)))
    });
    last.optional()
}

/// The predecessor of the next row: the head, if rows behind it are missing or its row was replaced. The gap, or the
/// break in the chain, then remains detectable whatever is written later.
fn newest(last: Option<(u64, Hash)>, head: Head) -> (u64, Hash) {
    let last = last.unwrap_or((0, Hash::FIRST));
    match head {
        Head::At(seq, hash) if seq >= last.0 => (seq, hash),
        _ => last,
    }
}

fn chained(entries: &[Entry], (mut seq, mut previous): (u64, Hash)) -> Vec<Row> {
    let link = |entry: &Entry| {
        seq += 1;
        let mut row = Row {
            seq,
            time_ms: entry.time_ms,
            run: entry.run.clone(),
            kind: entry.kind.to_string(),
            body: entry.body.clone(),
            hash: Hash::FIRST,
        };
        row.hash = row.link(previous);
        previous = row.hash;
        row
    };
    entries.iter().map(link).collect()
}

fn insert(transaction: &Transaction<'_>, rows: Vec<Row>) -> rusqlite::Result<Vec<Row>> {
    let mut statement = transaction.prepare("INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for row in &rows {
        let (seq, time) = (row.seq.cast_signed(), row.time_ms.cast_signed());
        statement.execute((seq, time, &row.run, &row.kind, &row.body, row.hash.0))?;
    }
    Ok(rows)
}

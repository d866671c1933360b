//! The audit trail: one append-only table, and a log of the rows that aren't in it yet; one chain for all runs.
//!
//! Writers append to the log alone. Whoever reads moves its rows into the table before, under the log's lock.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

use super::StoreError;
use super::chain::{Hash, Row};
use super::database::{Database, Kind};
use super::error::TRAIL;
use super::head::Head;
use super::log::{self, LOG, LONG, Locked};
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

/// The open trail. Its files are opened when they are needed.
pub struct Trail {
    place: Place,
    log: Option<File>,
    head: Option<File>,
    database: Option<Database>,
    /// The log's length after the last append.
    length: u64,
}

/// The log's rows as they were taken into the database.
pub(super) struct Taken {
    /// The head, read under the same lock.
    pub(super) head: Head,
    /// The reason that rows are in the log still.
    pub(super) damage: Option<StoreError>,
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
    /// The record as [`stockade_report::audit::body`] writes it.
    pub body: String,
}

/// A selection of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Only rows of this run.
    pub run: Option<String>,
    /// Only rows of this kind; of `denied` also decisions before anything ran that deny.
    pub kind: Option<&'static str>,
    /// Only rows from this time on: milliseconds since 1970.
    pub since_ms: Option<u64>,
    /// Only rows behind this one.
    pub after_seq: Option<u64>,
    /// Only this many of the newest rows.
    pub limit: Option<u64>,
}

impl Trail {
    /// Opens the trail. The first row creates it if it is missing.
    ///
    /// # Errors
    /// The state directory can't be used.
    pub fn open(state: &Path) -> Result<Trail, StoreError> {
        Ok(Trail::of(Place::make(state)?))
    }

    /// Opens the trail if there is one.
    ///
    /// # Errors
    /// It exists but can't be used.
    pub fn open_existing(state: &Path) -> Result<Option<Trail>, StoreError> {
        let Some(place) = Place::existing(state)? else {
            return Ok(None);
        };
        let mut trail = Trail::of(place);
        trail.log = trail.place.open(LOG)?;
        trail.database = AUDIT.open_existing(&trail.place)?;
        Ok((trail.log.is_some() || trail.database.is_some()).then_some(trail))
    }

    /// Which file the trail of a state directory is: another one, once that was moved away.
    pub fn identity(state: &Path) -> Option<(u64, u64)> {
        let file = std::fs::symlink_metadata(state.join(AUDIT.name)).ok()?;
        Some((file.dev(), file.ino()))
    }

    pub(super) fn of(place: Place) -> Trail {
        Trail {
            place,
            log: None,
            head: None,
            database: None,
            length: 0,
        }
    }

    /// Appends entries after the last row, all or none, and returns their rows.
    ///
    /// # Errors
    /// They can't be written.
    pub fn append(&mut self, entries: &[Entry]) -> Result<Vec<Row>, StoreError> {
        self.set_up()?;
        let Trail {
            place,
            log: Some(log),
            head: file,
            length,
            ..
        } = self
        else {
            unreachable!("the log was just opened");
        };
        let failed = |error| place.file_error(LOG, error);
        let locked = Locked::of(log).map_err(failed)?;
        let head = read_head(place, file)?;
        let end = locked.end().map_err(failed)?;
        let last = match newest(end.last, head) {
            Some(last) => Some(last),
            None => last_stored(place)?,
        };
        let is_empty = last.is_none() && end.length == 0;
        if file.is_none() && is_empty {
            // Only then: a new head would hide which rows were removed with the old one.
            *file = Some(place.create(HEAD)?);
        }
        let head = match (file.as_ref(), head) {
            (Some(file), Head::Absent) if is_empty => {
                Head::begin(file).map_err(|error| place.file_error(HEAD, error))?
            }
            _ => head,
        };
        let rows = chained(entries, last.unwrap_or((0, Hash::FIRST)));
        *length = locked.append(&end, &rows).map_err(failed)?;
        if let (Some(file), Some(row)) = (file, rows.last())
            && let Err(error) = head.advance(file, (row.seq, row.hash))
        {
            locked.cut(end.length);
            return Err(place.file_error(HEAD, error));
        }
        Ok(rows)
    }

    /// Opens the log. Where there is none, the trail is its database alone, and the head is advanced to its last row: a
    /// killed writer may have left it behind, and the log follows the head.
    fn set_up(&mut self) -> Result<(), StoreError> {
        let Trail { place, log, .. } = self;
        if log.is_none() {
            *log = place.open(LOG)?;
        }
        if log.is_none() {
            let last = last_stored(place)?;
            let _lock = place.lock()?;
            let mut file = None;
            let head = read_head(place, &mut file)?;
            if let (Some(file), Some(last)) = (&file, last) {
                head.advance(file, last)
                    .map_err(|error| place.file_error(HEAD, error))?;
            }
            *log = Some(place.create(LOG)?);
        }
        Ok(())
    }

    /// Moves the log's rows into the database, as they are written there.
    pub(super) fn take_in(&mut self) -> Result<Taken, StoreError> {
        let Trail {
            place,
            log,
            head: file,
            database,
            ..
        } = self;
        if log.is_none() {
            *log = place.open(LOG)?;
        }
        let Some(log) = log else {
            let head = read_head(place, file)?;
            return Ok(Taken { head, damage: None });
        };
        let failed = |error| place.file_error(LOG, error);
        let locked = Locked::of(log).map_err(failed)?;
        let mut head = read_head(place, file)?;
        let end = locked.end().map_err(failed)?;
        if end.length == 0 {
            return Ok(Taken { head, damage: None });
        }
        if let Some(file) = file {
            // On the disk before the rows are: where the log is empty, the next row follows the head alone.
            let advanced = end.last.map_or(Ok(()), |last| head.advance(file, last));
            let read = advanced.and_then(|()| file.sync_data()).and_then(|()| Head::of(file));
            head = read.map_err(|error| place.file_error(HEAD, error))?;
        }
        let lines = locked.lines(&end).map_err(failed)?;
        let damage = match store(opened(place, database)?, &lines) {
            Ok(None) => {
                locked.empty().map_err(failed)?;
                None
            }
            Ok(Some(line)) => Some(place.line_error(LOG, line)),
            Err(error) if error.is_broken() => Some(error),
            Err(error) => return Err(error),
        };
        Ok(Taken { head, damage })
    }

    /// The same, unless the log is short. The database stays open for the next time.
    pub(super) fn take_in_if_long(&mut self, state: &Path) -> Result<(), StoreError> {
        if self.length <= LONG {
            return Ok(());
        }
        if self.database.is_none() {
            // All by name: what is open here may have been moved away, and the database by that name then isn't its own.
            *self = Trail::open(state)?;
            opened(&self.place, &mut self.database)?.doing("prepare", |connection| {
                // That waits for the disk, and the next run may come at once.
                connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            })?;
        }
        self.take_in()?.damage.map_or(Ok(()), Err)
    }

    /// Passes the selected rows to `each`, oldest first, until it fails.
    ///
    /// # Errors
    /// The trail can't be read, or not beyond the rows that were passed, or `each` failed.
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
        let damage = self.take_in()?.damage;
        let Some(database) = &mut self.database else {
            return Ok(());
        };
        database.doing("read", |connection| {
            let mut statement = connection.prepare(&format!("SELECT * {CHOSEN} ORDER BY seq {order}"))?;
            let mut rows = statement.query((&choice.run, since, limit, after, choice.kind))?;
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
        kept.into_iter().rev().try_for_each(each).and(outcome)?;
        damage.map_or(Ok(()), |damage| Err(damage.into()))
    }

    /// The number of chosen rows, whatever the limit.
    ///
    /// # Errors
    /// The trail can't be read.
    pub fn count(&mut self, choice: &Choice) -> Result<u64, StoreError> {
        self.take_in()?;
        let Some(database) = &mut self.database else {
            return Ok(0);
        };
        let since = choice.since_ms.map(u64::cast_signed);
        let after = choice.after_seq.unwrap_or(0).cast_signed();
        database.doing("read", |connection| {
            // All parameters of `CHOSEN` are numbered, and the third is the limit.
            let mut statement = connection.prepare(&format!("SELECT count(*) {CHOSEN} LIMIT ?3"))?;
            let count =
                statement.query_row((&choice.run, since, -1, after, choice.kind), |row| row.get::<_, i64>(0))?;
            Ok(count.cast_unsigned())
        })
    }
}

/// The rows of a [`Choice`]: `?1` is its run, `?2` its time, `?4` the row before, `?5` its kind.
const CHOSEN: &str = "FROM records NOT INDEXED
    WHERE seq > ?4 AND (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR time_ms >= ?2)
    AND (?5 IS NULL OR kind = ?5 OR ?5 = 'denied' AND kind = 'judged' AND body LIKE '%\"result\":\"deny\"%')";

/// The trail's database, if there is one, with the log's rows taken in.
pub(super) fn look(state: &Path) -> Result<(Taken, Option<Database>), StoreError> {
    let Some(place) = Place::existing(state)? else {
        let head = Head::Absent;
        return Ok((Taken { head, damage: None }, None));
    };
    // The head as it was with the rows: those written meanwhile make the table longer than it says, never shorter.
    let mut trail = Trail::of(place);
    let taken = trail.take_in()?;
    let database = match trail.database {
        None => AUDIT.open_existing(&trail.place)?,
        database => database,
    };
    Ok((taken, database))
}

fn read_head(place: &Place, file: &mut Option<File>) -> Result<Head, StoreError> {
    if file.is_none() {
        *file = place.open(HEAD)?;
    }
    let read = file.as_ref().map_or(Ok(Head::Absent), Head::of);
    read.map_err(|error| place.file_error(HEAD, error))
}

fn opened<'d>(place: &Place, database: &'d mut Option<Database>) -> Result<&'d mut Database, StoreError> {
    match database {
        Some(database) => Ok(database),
        none => Ok(none.insert(AUDIT.open(place)?)),
    }
}

/// Position and hash of the last row in the database.
fn last_stored(place: &Place) -> Result<Option<(u64, Hash)>, StoreError> {
    AUDIT.open(place)?.doing("read", |connection| last_row(connection))
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

fn last_row(connection: &Connection) -> rusqlite::Result<Option<(u64, Hash)>> {
    let sql = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1";
    let last = connection.query_row(sql, [], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), Hash(row.get(1)?)))
    });
    last.optional()
}

/// The predecessor of the next row, unless the database tells: the log's last row, or the head, if rows behind it are missing
/// or its row was replaced. The gap, or the break in the chain, then remains detectable whatever is written later.
fn newest(last: Option<(u64, Hash)>, head: Head) -> Option<(u64, Hash)> {
    match head {
        Head::At(seq, hash) if last.is_none_or(|last| seq >= last.0) => Some((seq, hash)),
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

/// Stores the log's rows, on the disk: they are removed from the log. Returns the first line that isn't one, or whose number
/// another row has; the rows before it are stored.
fn store(database: &mut Database, lines: &[u8]) -> Result<Option<u64>, StoreError> {
    database.doing("prepare", |connection| {
        connection.pragma_update(None, "synchronous", "full")
    })?;
    database.change(|transaction| {
        let mut insert = transaction.prepare("INSERT OR IGNORE INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        let mut is_stored = transaction.prepare(
            "SELECT 1 FROM records
             WHERE seq = ?1 AND time_ms = ?2 AND run = ?3 AND kind = ?4 AND body = ?5 AND hash = ?6",
        )?;
        for (row, line) in log::rows(lines).zip(1..) {
            let Some(row) = row else { return Ok(Some(line)) };
            let (seq, time) = (row.seq.cast_signed(), row.time_ms.cast_signed());
            let values = (seq, time, &row.run, &row.kind, &row.body, row.hash.0);
            // A taker that was killed before it emptied the log has stored the same.
            if insert.execute(values)? == 0 && !is_stored.exists(values)? {
                return Ok(Some(line));
            }
        }
        Ok(None)
    })
}

//! Verifies the trail, and names the first row that isn't as it was written.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::StoreError;
use super::chain::{Hash, Row};
use super::fault::Fault;
use super::head::Head;
use super::trail::{Taken, look, parse};

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The number of rows that are as they were written, from the first on.
    pub rows: u64,
    /// The hash of the last of them: a reader that stores it elsewhere can detect a rewritten trail.
    pub newest: Option<Hash>,
    /// The first fault.
    pub fault: Option<Fault>,
}

/// Checks every row. `None` if nothing was ever recorded.
///
/// # Errors
/// The trail can't be read at all.
pub(super) fn verify(state: &Path) -> Result<Option<Verified>, StoreError> {
    let (Taken { head, damage }, database) = look(state)?;
    let Some(mut database) = database else {
        return Ok(without_table(head));
    };
    database
        .doing("read", |connection| {
            connection.pragma_update(None, "cell_size_check", true)?;
            let mut walk = Walk::new(head);
            walk.rows(connection)?;
            if walk.fault.is_none() {
                let left = damage.map(|damage| walk.left(&damage));
                walk.fault = left.or_else(|| walk.end()).or_else(|| structure(connection));
            }
            Ok(walk.found())
        })
        .map(Some)
}

fn without_table(head: Head) -> Option<Verified> {
    let fault = match head {
        Head::Absent | Head::At(0, _) => return None,
        Head::At(last, _) => Fault::Missing {
            first: 1,
            last,
            after: None,
        },
        Head::Unreadable => Fault::Headless { newest: 0 },
    };
    Some(Verified {
        rows: 0,
        newest: None,
        fault: Some(fault),
    })
}

/// The walk through the rows.
struct Walk {
    head: Head,
    /// The last valid row.
    seq: u64,
    hash: Hash,
    run: Option<String>,
    /// The row at the head's position.
    at_head: Option<(Hash, String)>,
    fault: Option<Fault>,
}

impl Walk {
    fn new(head: Head) -> Walk {
        Walk {
            head,
            seq: 0,
            hash: Hash::FIRST,
            run: None,
            at_head: None,
            fault: None,
        }
    }

    fn rows(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare("SELECT * FROM records NOT INDEXED ORDER BY seq")?;
        let mut rows = statement.query([])?;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => parse(row).map_err(|_| row.get::<_, i64>("seq").map_or(0, i64::cast_unsigned)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.fault = Some(self.broken(error)?);
                    return Ok(());
                }
            };
            self.fault = self.row(row, connection);
            if self.fault.is_some() {
                return Ok(());
            }
        }
    }

    /// Checks the next row, or the position of one with a wrong type.
    fn row(&mut self, row: Result<Row, u64>, connection: &Connection) -> Option<Fault> {
        let expected = self.seq + 1;
        let row = match row {
            Ok(row) => row,
            Err(seq) => {
                let run = String::new();
                return Some(Fault::Altered { seq, run });
            }
        };
        if row.seq != expected || row.link(self.hash) != row.hash {
            return Some(self.wrong(row, connection));
        }
        if matches!(self.head, Head::At(seq, _) if seq == row.seq) {
            self.at_head = Some((row.hash, row.run.clone()));
        }
        (self.seq, self.hash, self.run) = (row.seq, row.hash, Some(row.run));
        None
    }

    fn wrong(&self, row: Row, connection: &Connection) -> Fault {
        let seq = self.seq + 1;
        if let Some(other) = self.belonging_to(seq, connection) {
            return Fault::Reordered {
                seq,
                stands: other.seq,
                run: other.run,
            };
        }
        if row.seq > seq && row.seq.cast_signed() > 0 {
            return Fault::Missing {
                first: seq,
                last: row.seq - 1,
                after: self.run.clone(),
            };
        }
        let Row { seq, run, .. } = row;
        Fault::Altered { seq, run }
    }

    /// The row that follows the last valid one, wherever it is stored.
    fn belonging_to(&self, seq: u64, connection: &Connection) -> Option<Row> {
        let mut statement = connection.prepare("SELECT * FROM records NOT INDEXED").ok()?;
        let mut rows = statement.query([]).ok()?;
        while let Ok(Some(row)) = rows.next() {
            let Ok(row) = parse(row) else { continue };
            let moved = Row { seq, ..row.clone() };
            if row.seq != seq && moved.link(self.hash) == row.hash {
                return Some(row);
            }
        }
        None
    }

    fn broken(&self, error: rusqlite::Error) -> rusqlite::Result<Fault> {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure) => {
                Ok(Fault::Broken {
                    after: self.seq,
                    why: error.to_string(),
                })
            }
            _ => Err(error),
        }
    }

    /// Rows that aren't in the table are in the log still.
    fn left(&self, damage: &StoreError) -> Fault {
        match damage {
            StoreError::Line { line, .. } => Fault::Log {
                line: *line,
                after: self.seq,
            },
            other => Fault::Broken {
                after: self.seq,
                why: other.to_string(),
            },
        }
    }

    /// Compares the end with the head.
    fn end(&self) -> Option<Fault> {
        match (self.head, &self.at_head) {
            (Head::At(last, _), _) if last > self.seq => Some(Fault::Missing {
                first: self.seq + 1,
                last,
                after: self.run.clone(),
            }),
            (Head::At(seq, hash), Some((stands, run))) if hash != *stands => {
                Some(Fault::Replaced { seq, run: run.clone() })
            }
            (Head::Absent, _) if self.seq == 0 => None,
            (Head::Absent | Head::Unreadable, _) => Some(Fault::Headless { newest: self.seq }),
            (Head::At(..), _) => None,
        }
    }

    fn found(self) -> Verified {
        Verified {
            rows: self.seq,
            newest: (self.seq > 0).then_some(self.hash),
            fault: self.fault,
        }
    }
}

fn structure(connection: &Connection) -> Option<Fault> {
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match checked {
        Ok(answer) if answer == "ok" => None,
        Ok(why) => Some(Fault::Structure { why }),
        Err(error) => Some(Fault::Structure { why: error.to_string() }),
    }
}

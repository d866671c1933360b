//! The log of the newest rows, in a file beside the database: a line for each, appended by a few system calls.
//!
//! A line is a JSON array of number, hash, time, run, kind and body, in one accepted form. Its rows go into the
//! database when somebody reads the trail, or when the log is large. Its lock serialises all writers of log, head and
//! database.
//!
//! A head on the disk is never behind the database: who takes the log in puts the head on the disk first, then the rows
//! in one transaction, then empties the log. One that is killed between leaves rows in both, which are the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::chain::{Hash, Row};

/// The log's name.
pub(super) const LOG: &str = "audit.log";

/// A longer log is taken into the database by the run that writes it. Doing so waits for the disk.
pub(super) const LONG: u64 = if cfg!(test) { 16 << 10 } else { 256 << 10 };

/// Read from the end at first; the last line is seldom longer.
const LAST_BYTES: u64 = 4 << 10;

/// The most bytes that are read. Only a log that can't be taken in grows so long.
const MAX_BYTES: u64 = 256 << 20;

/// The file, locked. Others wait until the value is dropped.
pub(super) struct Locked<'f> {
    file: &'f File,
}

/// Where the log ends.
pub(super) struct End {
    /// The number of bytes.
    pub(super) length: u64,
    /// Number and hash of the last row, if it is readable.
    pub(super) last: Option<(u64, Hash)>,
}

impl<'f> Locked<'f> {
    pub(super) fn of(file: &'f File) -> io::Result<Locked<'f>> {
        file.lock()?;
        Ok(Locked { file })
    }

    /// Finds the end, and cuts off a line that a killed writer left incomplete: nothing was said to be recorded by it.
    pub(super) fn end(&self) -> io::Result<End> {
        let length = self.file.metadata()?.len();
        let mut wanted = LAST_BYTES;
        let end = loop {
            let start = length.saturating_sub(wanted);
            let bytes = self.bytes(start, length)?;
            let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').rev().peekable();
            let torn = lines.next_if(|line| !line.ends_with(b"\n")).map_or(0, <[u8]>::len);
            match (lines.next(), lines.next()) {
                // Behind another line, or at the start of the file, it is whole.
                (Some(last), before) if before.is_some() || start == 0 => {
                    break End {
                        length: length - torn as u64,
                        last: parse(last).map(|row| (row.seq, row.hash)),
                    };
                }
                _ if start == 0 => break End { length: 0, last: None },
                _ => wanted *= 8,
            }
        };
        if end.length < length {
            self.file.set_len(end.length)?;
        }
        Ok(end)
    }

    /// Appends rows, all or none.
    pub(super) fn append(&self, end: &End, rows: &[Row]) -> io::Result<u64> {
        let lines: String = rows.iter().map(line).collect();
        let written = self.file.write_all_at(lines.as_bytes(), end.length);
        written.inspect_err(|_| self.cut(end.length))?;
        Ok(end.length + lines.len() as u64)
    }

    /// Takes back what was appended. What can't be is left to the head and to the next writer.
    pub(super) fn cut(&self, length: u64) {
        let _ = self.file.set_len(length);
    }

    /// The lines before this end.
    pub(super) fn lines(&self, end: &End) -> io::Result<Vec<u8>> {
        self.bytes(0, end.length)
    }

    pub(super) fn empty(&self) -> io::Result<()> {
        self.file.set_len(0)
    }

    fn bytes(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        if end - start > MAX_BYTES {
            return Err(io::Error::other("it is too long"));
        }
        let mut bytes = vec![0; (end - start) as usize];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Explicitly: a process started meanwhile has copies of the descriptor, and the lock with them.
        let _ = self.file.unlock();
    }
}

/// The rows of lines; `None` for a line that isn't as it was written.
pub(super) fn rows(lines: &[u8]) -> impl Iterator<Item = Option<Row>> {
    lines.split_inclusive(|byte| *byte == b'\n').map(parse)
}

fn line(row: &Row) -> String {
    let fields = (
        row.seq,
        row.hash.to_string(),
        row.time_ms,
        &row.run,
        &row.kind,
        &row.body,
    );
    serde_json::to_string(&fields).expect("texts and numbers") + "\n"
}

fn parse(bytes: &[u8]) -> Option<Row> {
    let (seq, hash, time_ms, run, kind, body) = serde_json::from_slice::<(u64, String, _, _, _, _)>(bytes).ok()?;
    let hash = Hash::parse(&hash)?;
    let row = Row {
        seq,
        time_ms,
        run,
        kind,
        body,
        hash,
    };
    // No changed byte may pass for another way to write the same, and no number may overflow.
    (seq < u64::MAX >> 2 && line(&row).as_bytes() == bytes).then_some(row)
}

//! The faults of a trail, as a value and as a sentence.

use std::fmt;

/// A fault of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A row's content doesn't match its hash, or the row before it was replaced.
    Altered {
        /// The row's position.
        seq: u64,
        /// The row's run, as stored.
        run: String,
    },
    /// A row is at the position of another one.
    Reordered {
        /// The position.
        seq: u64,
        /// The position of the row that belongs there.
        stands: u64,
        /// The run of that row.
        run: String,
    },
    /// Rows are missing.
    Missing {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
        /// The run of the row before the gap.
        after: Option<String>,
    },
    /// The newest row isn't the one that was written.
    Replaced {
        /// The row's position.
        seq: u64,
        /// The row's run, as stored.
        run: String,
    },
    /// The database itself is damaged.
    Broken {
        /// The last readable row.
        after: u64,
        /// SQLite's error.
        why: String,
    },
    /// All rows are as written, but the database is damaged elsewhere.
    Structure {
        /// SQLite's error.
        why: String,
    },
    /// A line of the log isn't as it was written, or its number is another row's.
    Log {
        /// The line's number, from 1 on.
        line: u64,
        /// The last readable row.
        after: u64,
    },
    /// The head is gone or was altered, so rows may be missing at the end.
    Headless {
        /// The newest row found.
        newest: u64,
    },
}

/// The sentence. An attacker may have given a row a negative number.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Altered { seq, run } => {
                let seq = seq.cast_signed();
                write!(f, "row {seq}{} was altered, or the row before it was replaced", of(run))
            }
            Fault::Reordered { seq, stands, run } => {
                let stands = stands.cast_signed();
                write!(f, "row {seq}{} stands as row {stands}: rows were reordered", of(run))
            }
            Fault::Missing { first, last, after } => {
                let after = after.as_deref().map(|run| format!(", behind a row{}", of(run)));
                let after = after.unwrap_or_default();
                if first == last {
                    write!(f, "row {first} is missing{after}")
                } else {
                    write!(f, "rows {first} to {last} are missing{after}")
                }
            }
            Fault::Replaced { seq, run } => write!(f, "row {seq}{} was replaced", of(run)),
            Fault::Broken { after: 0, why } => write!(f, "the database is damaged, and no row can be read: {why}"),
            Fault::Broken { after, why } => {
                write!(f, "the database is damaged, and can be read up to row {after}: {why}")
            }
            Fault::Structure { why } => {
                write!(f, "every row is as it was written, but the database is damaged: {why}")
            }
            Fault::Log { line, after } => {
                write!(
                    f,
                    "line {line} of `audit.log` was altered, or its row was replaced, and rows can be read up to row {after}"
                )
            }
            Fault::Headless { newest } => write!(
                f,
                "`audit.head` is gone or was altered, so rows may be missing behind row {newest}"
            ),
        }
    }
}

fn of(run: &str) -> String {
    if run.is_empty() {
        String::new()
    } else {
        format!(" of run {run}")
    }
}

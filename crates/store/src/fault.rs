//! What can be wrong with the trail, in a value and in a sentence.

use std::fmt;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A row isn't what was hashed, or the row before it was replaced.
    Altered {
        /// Which.
        seq: u64,
        /// Of which run, as it stands there.
        run: String,
    },
    /// A row stands in the place of another one.
    Reordered {
        /// Whose place.
        seq: u64,
        /// Where the row is that belongs there.
        stands: u64,
        /// Of which run that is.
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
        /// Which.
        seq: u64,
        /// Of which run, as it stands there.
        run: String,
    },
    /// The database itself is damaged.
    Broken {
        /// The last row that can be read.
        after: u64,
        /// What SQLite says.
        why: String,
    },
    /// All rows are as they were written, and the database is damaged elsewhere.
    Structure {
        /// What SQLite says.
        why: String,
    },
    /// The head is gone or was altered, so that it isn't known whether rows are missing at the end.
    Headless {
        /// The newest row that is there.
        newest: u64,
    },
}

/// In a sentence. Somebody may have given a row a negative number.
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

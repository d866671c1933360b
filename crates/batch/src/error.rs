//! What ends a whole batch. The errors of single jobs are [`JobError`](crate::JobError)s, and stand in their results.

use std::io;
use std::path::PathBuf;

/// A batch that couldn't begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The jobs can't be read.
    #[error("can't read the jobs")]
    Input(#[source] io::Error),
    /// A result can't be written.
    #[error("can't write the results")]
    Output(#[source] io::Error),
    /// The file of results can't be opened.
    #[error("can't write results to `{}`", .0.display())]
    Open(PathBuf, #[source] io::Error),
    /// The file of results isn't a regular file.
    #[error("can't write results to `{}`: it isn't a regular file", .0.display())]
    Irregular(PathBuf),
    /// Another batch writes to the file.
    #[error("another batch is writing its results to `{}`", .0.display())]
    Busy(PathBuf),
    /// A line of the file isn't a result.
    #[error("line {line} of `{}` isn't the result of a batch", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A line of the file was lost in a power cut, and others come after it.
    #[error("line {line} of `{}` has zeros in place of a result, as a power cut leaves them", .path.display())]
    Zeros {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A job isn't the one whose result is there.
    #[error("line {line} of the jobs has changed since its result was written to `{}`", .path.display())]
    Changed {
        /// The file of results.
        path: PathBuf,
        /// The line of the input, from 1.
        line: u64,
    },
    /// There are results of more jobs.
    #[error("`{}` holds more results than there are jobs ({jobs})", .path.display())]
    Fewer {
        /// The file of results.
        path: PathBuf,
        /// The number of jobs.
        jobs: u64,
    },
    /// Processes can't be watched or started at all.
    #[error("can't {0}")]
    System(&'static str, #[source] io::Error),
}

impl BatchError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            BatchError::Open(_, source) if source.raw_os_error() == Some(libc::ELOOP) => {
                Some("it is a symbolic link, and results are never written through one")
            }
            BatchError::Foreign { .. } => Some("name another file: a batch only adds to a file of its own results"),
            BatchError::Zeros { .. } => Some(
                "where these are results, keep the lines before it (`head -n`) and the same command goes on behind them: the \
                 other jobs run again",
            ),
            BatchError::Changed { .. } | BatchError::Fewer { .. } => {
                Some("restore the jobs as they were, or write the results to another file")
            }
            _ => None,
        }
    }
}

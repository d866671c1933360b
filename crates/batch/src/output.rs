//! Where the results go: a stream, or a file that a later batch goes on with.
//!
//! The file is only appended to, in whole lines, so a batch that was killed leaves at most one torn line at its end.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BatchError;
use crate::lines::Lines;
use crate::row::{BEGINNING, Head};

/// How much may be lost if the machine itself fails: results that are younger.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How long the runs of a killed batch may take to end.
const MAX_END: Duration = Duration::from_secs(3);

/// The most bytes of a result that are read back.
const MAX_ROW: u64 = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// Where the results go.
pub struct Output {
    place: Place,
}

enum Place {
    Stream(Box<dyn Write + Send>),
    File { file: File, path: PathBuf, synced: Instant },
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Output")
    }
}

/// What an earlier batch has left.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// The jobs that have a result.
    pub done: u64,
    /// Those among them without an answer.
    pub unanswered: u64,
    /// Whether a torn line was dropped.
    pub was_torn: bool,
}

impl Output {
    /// A stream, which no later batch can go on with.
    pub fn stream(stream: Box<dyn Write + Send>) -> Output {
        Output {
            place: Place::Stream(stream),
        }
    }

    /// A file, made if it isn't there. No other batch may write to it meanwhile.
    ///
    /// # Errors
    /// It can't be opened, is a link or no regular file, or another batch writes to it.
    pub fn file(path: &Path) -> Result<Output, BatchError> {
        let failed = |error| BatchError::Open(path.to_path_buf(), error);
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK)
            .open(path)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(BatchError::Irregular(path.to_path_buf()));
        }
        if !lock(&file).map_err(failed)? {
            return Err(BatchError::Busy(path.to_path_buf()));
        }
        Ok(Output {
            place: Place::File {
                file,
                path: path.to_path_buf(),
                synced: Instant::now(),
            },
        })
    }

    /// Skips the jobs whose results are there, and drops a torn line at the end.
    ///
    /// # Errors
    /// A line isn't a result, has zeros of a power cut before other lines, or is that of another job than the one in its
    /// place.
    pub fn resume<R: Read>(&mut self, lines: &mut Lines<R>) -> Result<Resumed, BatchError> {
        let mut resumed = Resumed::default();
        let Place::File { file, path, .. } = &mut self.place else {
            return Ok(resumed);
        };
        let failed = |error| BatchError::Open(path.clone(), error);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut rows = BufReader::new(&*file);
        let (mut row, mut kept) = (Vec::new(), 0);
        loop {
            row.clear();
            let read = rows.by_ref().take(MAX_ROW).read_until(b'\n', &mut row);
            if read.map_err(failed)? == 0 {
                break;
            }
            if row.last() != Some(&b'\n') {
                resumed.was_torn = true;
                break;
            }
            let head = serde_json::from_slice(&row).ok();
            let head: Head = head
                .filter(|head: &Head| head.index == resumed.done)
                .ok_or_else(|| no_result(path, resumed.done + 1, &row))?;
            let job = lines.read().map_err(BatchError::Input)?;
            let job = job.ok_or_else(|| BatchError::Fewer {
                path: path.clone(),
                jobs: resumed.done,
            })?;
            if job.hash != head.hash {
                return Err(BatchError::Changed {
                    path: path.clone(),
                    line: job.number,
                });
            }
            resumed.done += 1;
            resumed.unanswered += u64::from(head.error.is_some());
            kept += row.len() as u64;
        }
        if resumed.was_torn {
            // Never somebody's other file. A power cut may leave zeros in place of what wasn't written yet.
            let written = |byte: &u8| *byte != 0;
            let begin = row.iter().position(written).unwrap_or(row.len());
            let end = row.iter().rposition(written).map_or(begin, |last| last + 1);
            let goes_on = row.len() as u64 == MAX_ROW;
            if !begins_as_ours(&row[begin..end]) || begin > 0 && kept == 0 || goes_on {
                return Err(no_result(path, resumed.done + 1, &row));
            }
            file.set_len(kept).map_err(failed)?;
        }
        Ok(resumed)
    }

    /// Adds whole lines.
    pub(crate) fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::Stream(stream) => {
                stream.write_all(lines)?;
                stream.flush()
            }
            Place::File { file, synced, .. } => {
                file.write_all(lines)?;
                if synced.elapsed() >= SYNC_EVERY {
                    file.sync_data()?;
                    *synced = Instant::now();
                }
                Ok(())
            }
        }
    }

    /// Makes sure that everything is on the disk.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.place {
            Place::Stream(mut stream) => stream.flush(),
            Place::File { file, .. } => file.sync_all(),
        }
    }
}

/// Whether a line, or what is there of it, begins as a result does.
fn begins_as_ours(row: &[u8]) -> bool {
    let common = row.len().min(BEGINNING.len());
    row[..common] == BEGINNING[..common]
}

/// The error for a line that isn't a result.
fn no_result(path: &Path, line: u64, row: &[u8]) -> BatchError {
    let path = path.to_path_buf();
    match row.iter().position(|byte| *byte == 0) {
        Some(zero) if begins_as_ours(&row[..zero]) => BatchError::Zeros { path, line },
        _ => BatchError::Foreign { path, line },
    }
}

/// Locks the file against other batches. The wardens of a batch that was killed hold its lock until they have ended their
/// runs, which takes a moment.
fn lock(file: &File) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if began.elapsed() < MAX_END => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobError;
    use crate::row::{self, Answer};

    const JOBS: &str = "{\"shell\":\"a\"}\n{\"shell\":\"b\"}\n{\"shell\":\"c\"}\n";

    /// The results of the first jobs.
    fn rows(count: usize) -> Vec<u8> {
        let mut lines = Lines::of(JOBS.as_bytes());
        let line = |_| {
            let job = lines.read().unwrap().unwrap();
            row::line(&job, None, Answer::NotStarted(JobError::new("x"))).0
        };
        (0..count).flat_map(line).collect()
    }

    fn resume(content: &[u8], jobs: &str) -> (Result<Resumed, String>, Vec<u8>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results");
        std::fs::write(&path, content).unwrap();
        let mut output = Output::file(&path).unwrap();
        let resumed = output.resume(&mut Lines::of(jobs.as_bytes()));
        let resumed = resumed.map_err(|error| error.to_string());
        if resumed.is_ok() {
            output.add(b"next\n").unwrap();
        }
        (resumed, std::fs::read(&path).unwrap())
    }

    #[test]
    fn a_batch_goes_on_behind_the_last_whole_line() {
        for whole in 0..=3 {
            for torn in [
                &b""[..],
                b"{",
                b"{\"index\":3,\"ha",
                b"{\"index\":3\0\0",
                b"\0\0",
                b"\0\0{\"index\":3,\"ha",
            ] {
                // Without a result before them, zeros may be anything.
                if whole == 0 && torn.starts_with(b"\0") {
                    continue;
                }
                let (resumed, content) = resume(&[&rows(whole)[..], torn].concat(), JOBS);
                let expected = Resumed {
                    done: whole as u64,
                    unanswered: whole as u64,
                    was_torn: !torn.is_empty(),
                };
                assert_eq!(resumed, Ok(expected));
                assert_eq!(content, [&rows(whole)[..], b"next\n"].concat());
            }
        }
    }

    #[test]
    fn a_changed_job_is_told_and_nothing_is_written() {
        for (jobs, part) in [
            (JOBS.replace('b', "d"), "line 2 of the jobs has changed"),
            (
                JOBS.lines().next().unwrap().to_string(),
                "more results than there are jobs (1)",
            ),
            (
                JOBS.split_once('\n').unwrap().1.to_string(),
                "line 1 of the jobs has changed",
            ),
        ] {
            let (resumed, content) = resume(&rows(2), &jobs);
            let error = resumed.unwrap_err();
            assert!(error.contains(part), "{error}");
            assert_eq!(content, rows(2));
        }
        assert!(resume(&rows(2), &JOBS.replace('c', "d")).0.is_ok());
    }

    #[test]
    fn a_file_of_something_else_is_left_as_it_is() {
        let second_first = rows(2)[rows(1).len()..].to_vec();
        for content in [
            b"my notes\n".to_vec(),
            b"my notes".to_vec(),
            b"{\"a\":1}\n".to_vec(),
            b"\0\0".to_vec(),
            second_first,
        ] {
            let (resumed, left) = resume(&content, JOBS);
            assert!(resumed.unwrap_err().contains("line 1 of"));
            assert_eq!(left, content);
        }
    }

    #[test]
    fn zeros_before_other_results_are_told_and_nothing_is_lost() {
        let (one, two) = (rows(1), rows(2));
        let zeros = &b"\0\0\0"[..];
        for (content, line) in [
            ([&one[..], zeros, &two[one.len()..]].concat(), 2),
            ([&one[..], &two[one.len()..one.len() + 20], zeros, b"\n{"].concat(), 2),
            ([zeros, &two[..]].concat(), 1),
            (zeros.to_vec(), 1),
            ([&one[..], &vec![0; MAX_ROW as usize], &two[one.len()..]].concat(), 2),
        ] {
            let (resumed, left) = resume(&content, JOBS);
            let error = resumed.unwrap_err();
            assert!(
                error.contains(&format!("line {line} of")) && error.contains("zeros"),
                "{error}"
            );
            assert_eq!(left, content);
        }
    }

    #[test]
    fn links_and_files_in_use_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results");
        let held = Output::file(&path).unwrap();
        assert!(matches!(Output::file(&path), Err(BatchError::Busy(_))));
        drop(held);
        assert!(Output::file(&path).is_ok());
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(matches!(Output::file(&link), Err(BatchError::Open(..))));
        assert!(matches!(
            Output::file("/dev/null".as_ref()),
            Err(BatchError::Irregular(_))
        ));
    }
}

//! `stockade batch`: many jobs, each in a sandbox of its own, with results that a later batch goes on from.

mod files;
mod progress;
mod sandboxes;
mod signals;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::REFUSED;
use super::args::Batch;
use super::ask::Ask;
use super::message::{Failure, note};
use super::run;
use files::Files;
use progress::Progress;
use sandboxes::Sandboxes;
use signals::Signals;
use stockade_batch::{BatchError, Lines, Output, Resumed, Stop, Stoppable, Tally};

/// Exit code: a job has no answer, or its answer no reader.
const UNANSWERED: u8 = 1;

/// Carries out a batch; returns the exit code.
pub fn batch(task: &Batch) -> Result<u8, Failure> {
    refuse_what_has_no_use(task)?;
    let jobs = Path::new(&task.run.command[0]);
    // Before anything runs, so that a key pressed at once ends the batch like any later one.
    let signals = Signals::take().map_err(|error| Failure::new(REFUSED, &error))?;
    let stop = Stop::by(signals.as_fd()).map_err(|error| Failure::new(REFUSED, &error))?;
    // Before a file for results is made.
    let mut lines = Lines::of(Stoppable::of(Jobs::open(jobs)?, &stop));
    let mut output = output(task)?;
    let resumed = match output.resume(&mut lines) {
        // What the signal cut is no line that has changed.
        Err(_) if stop.is_asked() => return Ok(concluded(task, None, signals.arrived())),
        resumed => resumed?,
    };
    say_resumed(resumed, jobs, task.output.as_deref());
    let files = Files::of(jobs, task.output.as_deref()).map_err(|error| Failure::new(REFUSED, &error))?;
    let making = Sandboxes::of(task, files)?;
    run::say_absent(&task.run);
    let progress = Progress::of(jobs, resumed.done);
    let batch = stockade_batch::Batch {
        jobs_at_once: task.jobs.unwrap_or_else(processors),
        kept_output: task.keep_output,
        sandboxes: &making,
        stop: &stop,
        mask: signals.before(),
        told: &|tally| progress.tell(tally),
        goes_without: &|said| progress.note_once(said),
    };
    let done = Tally {
        done: resumed.done,
        unanswered: resumed.unanswered,
    };
    let outcome = stockade_batch::run(&batch, &mut lines, output, done);
    progress.finish();
    making.close();
    match outcome {
        Err(BatchError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(UNANSWERED),
        Err(error) => Err(error.into()),
        Ok(tally) => Ok(concluded(task, Some(tally), signals.arrived())),
    }
}

/// Says how far the batch came, and returns its exit code.
fn concluded(task: &Batch, tally: Option<Tally>, signal: Option<i32>) -> u8 {
    const SIGNALLED: i32 = 128;
    if let Some(signal) = signal {
        let name = stockade_report::report::signal_name(signal);
        match &tally {
            Some(tally) => note(&format!("{name} ended the batch after {} results", tally.done)),
            None => note(&format!("{name} ended the batch before its first job")),
        }
        if task.output.is_some() {
            note("the same command goes on with the rest");
        }
        return u8::try_from(SIGNALLED + signal).unwrap_or(u8::MAX);
    }
    let Some(tally) = tally else { return UNANSWERED };
    if tally.unanswered == 0 {
        return 0;
    }
    note(&format!(
        "{} of {} jobs have no answer; their results have an `error`",
        tally.unanswered, tally.done
    ));
    UNANSWERED
}

/// Refuses flags of `run` that would do nothing here.
fn refuse_what_has_no_use(task: &Batch) -> Result<(), Failure> {
    if task.run.command.len() != 1 {
        let text = "a batch takes one file of jobs";
        return Err(Failure::text(REFUSED, text).hint("each job's command stands in its line, as `command` or `shell`"));
    }
    if task.run.report.is_some() {
        let text = "a batch writes no report";
        return Err(Failure::text(REFUSED, text).hint("each result has the job's denials, suggestion and resources"));
    }
    match task.run.ask {
        Ask::Auto | Ask::Terminal => Err(Failure::text(REFUSED, "a batch asks no questions at a terminal")
            .hint("use `--ask socket` and `stockade approvals`, `--ask command=TEXT`, or `--ask never`")),
        _ => Ok(()),
    }
}

fn say_resumed(resumed: Resumed, jobs: &Path, path: Option<&Path>) {
    if resumed.done > 0 || resumed.was_torn {
        let path = path.unwrap_or(Path::new("")).display().to_string();
        let torn = if resumed.was_torn {
            ", and dropped a torn one"
        } else {
            ""
        };
        let results = if resumed.done == 1 { "result" } else { "results" };
        let next = match progress::count(jobs) {
            Some(count) if count == resumed.done => "every job has one",
            _ => "going on with the next job",
        };
        note(&format!(
            "found {} {results} in `{}`{torn}: {next}",
            resumed.done,
            stockade_policy::profile::visible(&path)
        ));
    }
}

/// Where the results go.
fn output(task: &Batch) -> Result<Output, Failure> {
    match &task.output {
        Some(path) => Ok(Output::file(path)?),
        None => Ok(Output::stream(Box::new(io::stdout()))),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The file of jobs, or standard input.
enum Jobs {
    File(File),
    Input(io::Stdin),
}

impl Jobs {
    fn open(path: &Path) -> Result<Jobs, Failure> {
        if path == "-" {
            return Ok(Jobs::Input(io::stdin()));
        }
        let failed = |error: io::Error| {
            let text = format!("can't read the jobs of `{}`: {error}", path.display());
            Failure::text(REFUSED, text)
        };
        // A FIFO without a writer would keep the opening, and the signals that end the batch are blocked.
        let file = File::options()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(path)
            .map_err(failed)?;
        match file.metadata().map_err(failed)?.is_dir() {
            true => Err(failed(io::ErrorKind::IsADirectory.into())),
            false => Ok(Jobs::File(file)),
        }
    }
}

impl Read for Jobs {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Jobs::File(file) => file.read(buffer),
            // Unbuffered, so that waiting on the descriptor tells whether there is more.
            Jobs::Input(input) => nix::unistd::read(input, buffer).map_err(io::Error::from),
        }
    }
}

impl AsFd for Jobs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Jobs::File(file) => file.as_fd(),
            Jobs::Input(input) => input.as_fd(),
        }
    }
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Failure {
        Failure {
            hint: error.hint().map(String::from),
            ..Failure::new(REFUSED, &error)
        }
    }
}

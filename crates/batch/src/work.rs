//! Carries out one job, from its sandbox to what it printed.

use stockade::internal::CallersSignals;
use stockade::{Child, Event, LeftBehind, Outcome};

use crate::batch::{Batch, JobSandbox};
use crate::capture::Capture;
use crate::feed::feed;
use crate::job::{Job, JobError};
use crate::orphans::Orphans;
use crate::row::Answer;

/// What came of carrying out a job.
pub enum Work {
    /// It has a result.
    Answered(Answer),
    /// The batch was stopped, and the job ended for that.
    Stopped,
}

/// Runs a job to its end.
pub fn carry_out(batch: &Batch<'_>, job: &Job, orphans: &Orphans) -> Work {
    let words = match job.words() {
        Ok(words) => words,
        Err(error) => return Work::Answered(Answer::Invalid(error)),
    };
    let starting = orphans.start();
    let (child, left_behind) = match start(batch, job, words) {
        Ok(started) => started,
        // It may have been the signal that kept the program from starting.
        Err(_) if batch.stop.is_asked() => return Work::Stopped,
        Err(error) => return Work::Answered(Answer::NotStarted(error)),
    };
    let warden = child.warden();
    orphans.begun(warden);
    drop(starting);
    let work = attend(batch, child);
    match work {
        Ok(work) => {
            orphans.ended(warden);
            if let Work::Answered(Answer::Ran(report, _)) = &work {
                let told = |left: &&LeftBehind| left.hosts.is_empty() || left.explains(report);
                let told = left_behind.iter().filter(told);
                told.for_each(|left| (batch.goes_without)(&left.said));
            }
            work
        }
        Err(error) => {
            orphans.end(warden);
            Work::Answered(Answer::Lost(error))
        }
    }
}

fn start(batch: &Batch<'_>, job: &Job, words: Vec<String>) -> Result<(Child, Vec<LeftBehind>), JobError> {
    let JobSandbox { mut sandbox, root } = batch.sandboxes.sandbox(job)?;
    if let Some(timeout) = job.timeout {
        sandbox = sandbox.time_limit_at_most(timeout.0);
    }
    let mut words = words.into_iter();
    let mut command = sandbox.command(words.next().unwrap_or_default());
    command.args(words).pipe_output().no_input();
    if let Some(text) = &job.stdin {
        let reader = feed(text).map_err(|error| JobError::new(format!("can't make a pipe for `stdin`: {error}")))?;
        command.input(reader);
    }
    let ready = command.prepare()?;
    if root.is_some_and(|root| root != ready.policy.root) {
        return Err(JobError::new("`root` leads elsewhere by now"));
    }
    // The program alone may hold the reading end of its input.
    drop(command);
    let caller = CallersSignals {
        mask: batch.mask,
        descriptor: batch.stop.as_fd(),
    };
    let left_behind = ready.left_behind.clone();
    Ok((ready.start_for(Some(caller))?, left_behind))
}

/// Collects what a job prints, until it has ended.
fn attend(batch: &Batch<'_>, mut child: Child) -> Result<Work, JobError> {
    let mut streams = [Capture::of(batch.kept_output), Capture::of(batch.kept_output)];
    loop {
        match child.next_event(Some(batch.stop.as_fd()))? {
            Event::Output(stream, bytes) => streams[stream].add(&bytes),
            Event::Ended(ending) => return Ok(Work::Answered(answer(&child.outcome(&ending), streams))),
            Event::Attention if batch.stop.is_asked() => {
                // Dropping it ends the whole tree.
                child.kill();
                return Ok(Work::Stopped);
            }
            // No shell will let it go on.
            Event::Stopped(_) => child.signal_all(libc::SIGCONT),
            Event::Continued | Event::Attention | Event::Appeared(_) => {}
        }
    }
}

fn answer(outcome: &Outcome, streams: [Capture; 2]) -> Answer {
    let report = outcome.report();
    match report.faults.iter().find(|_| report.was_ended_by_fault()) {
        Some(fault) => Answer::Lost(JobError::new(format!("internal error: {}", fault.message))),
        None => Answer::Ran(Box::new(report.clone()), streams),
    }
}

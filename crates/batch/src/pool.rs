//! Shares the jobs among threads, each of which carries out one at a time.

use std::io::Read;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use stockade_report::fault;

use crate::batch::{Batch, Tally};
use crate::error::BatchError;
use crate::job::{Job, JobError, id_of};
use crate::lines::{Line, Lines, MAX_LINE};
use crate::order::Order;
use crate::orphans::Orphans;
use crate::output::Output;
use crate::row::{self, Answer};
use crate::work::{self, Work};

/// A thread's stack: reading a job and writing a result need little more than a run's.
const STACK: usize = 2 << 20;

/// Carries out all jobs behind those that are done, or as many as there are until the batch is stopped.
///
/// # Errors
/// The jobs can't be read, or the results not written. What is written stays.
pub fn run<R: Read>(batch: &Batch<'_>, lines: &mut Lines<R>, output: Output, done: Tally) -> Result<Tally, BatchError> {
    let failed = |error| BatchError::System("watch this process's children in `/proc`", error);
    let orphans = Orphans::expect().map_err(failed)?;
    let order = Order::into(output, done, batch.stop, batch.told);
    let (sender, receiver) = sync_channel(batch.jobs_at_once);
    let receiver = Arc::new(Mutex::new(receiver));
    let outcome = thread::scope(|scope| {
        for _ in 0..batch.jobs_at_once {
            let (receiver, order, orphans) = (Arc::clone(&receiver), &order, &orphans);
            let worker = thread::Builder::new().name("batch-job".into()).stack_size(STACK);
            let started = worker.spawn_scoped(scope, move || serve(batch, &receiver, order, orphans));
            if let Err(error) = started {
                batch.stop.ask();
                return Err(BatchError::System("start a thread", error));
            }
        }
        // Where all threads have ended, so has the channel.
        drop(receiver);
        while !batch.stop.is_asked() {
            let Some(line) = lines.read().map_err(BatchError::Input)? else {
                break;
            };
            // What the stop cut is no line.
            if batch.stop.is_asked() {
                break;
            }
            if sender.send(line).is_err() {
                break;
            }
        }
        drop(sender);
        Ok(())
    });
    let tally = order.finish().map_err(BatchError::Output)?;
    outcome.map(|()| tally)
}

/// One thread: jobs until there are none, or the batch is stopped.
fn serve(batch: &Batch<'_>, jobs: &Mutex<Receiver<Line>>, order: &Order<'_>, orphans: &Orphans) {
    while !batch.stop.is_asked() {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(line) = next else { return };
        let Some((row, is_answer)) = answer(batch, &line, orphans) else {
            return;
        };
        order.put(line.index, row, is_answer);
    }
}

/// The result of one line; `None` where the batch was stopped meanwhile.
fn answer(batch: &Batch<'_>, line: &Line, orphans: &Orphans) -> Option<(Vec<u8>, bool)> {
    let job = match line.is_too_long {
        true => Err(JobError::new(format!("the line is longer than {MAX_LINE} bytes"))),
        false => Job::read(&line.text),
    };
    let job = match job {
        Ok(job) => job,
        Err(error) => return Some(row::line(line, id_of(&line.text).as_deref(), Answer::Invalid(error))),
    };
    let worked = fault::contain(|| work::carry_out(batch, &job, orphans));
    let answer = match worked {
        Ok(Work::Stopped) => return None,
        Ok(Work::Answered(answer)) => answer,
        Err(fault) => Answer::Lost(JobError::new(format!("internal error: {fault}"))),
    };
    // A key at the terminal reaches the jobs too: what it ended is no result.
    let is_result = !batch.stop.is_asked();
    is_result.then(|| row::line(line, job.id.as_deref(), answer))
}

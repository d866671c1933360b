//! Retries of calls whose approved grants lie outside the workers' Landlock domain.
//!
//! The retry thread is started before the first worker confines itself, and only starts one further thread per call.
//! That thread reads, resolves and judges the call unconfined, since Landlock would keep a thread of another domain
//! from reading the target's memory, and confines itself before the first effect.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::approved_grants::{CallGrants, CallSite};
use crate::fault;
use crate::ruleset;
use crate::supervise::answer::Errno;
use crate::supervise::dispatch;
use crate::supervise::nested_runs::Applying;
use crate::supervise::notify_context::NotifyContext;
use crate::supervise::worker::{Slow, Worker, spawn};
use stockade_sys::notify::Notification;

/// One call to retry.
pub struct Job {
    /// The worker that answers the call.
    pub worker: Worker,
    pub notification: Notification,
    pub nested_runs: Applying,
    pub call_grants: CallGrants,
}

impl Job {
    /// Answers the call with an error.
    pub fn refuse(&self, errno: i32) {
        self.worker.answer(&self.notification, Err(Errno(errno)));
    }
}

/// The thread that starts a thread for each call.
pub struct RetryThread;

impl RetryThread {
    /// Starts the thread from a worker that isn't confined yet. It ends with the last sender.
    pub fn start() -> io::Result<Sender<Job>> {
        let (sender, jobs) = channel();
        thread::Builder::new()
            .name("stockade-beyond".into())
            .stack_size(64 * 1024)
            .spawn(move || serve(&jobs))?;
        Ok(sender)
    }
}

fn serve(jobs: &Receiver<Job>) {
    for job in jobs {
        let (worker, notification) = (job.worker.clone(), job.notification);
        worker.attempt(&notification, |worker| start(worker, job));
    }
}

/// Starts the thread for one call.
fn start(worker: &Worker, job: Job) {
    let Some(slow) = Slow::begin(&worker.shared) else {
        job.refuse(libc::EAGAIN);
        return;
    };
    let notification = job.notification;
    let started = spawn(move || {
        let _slow = slow;
        let worker = job.worker.clone();
        worker.attempt(&notification, |_| make(job));
    });
    if started.is_err() {
        worker.answer(&notification, Err(Errno(libc::EAGAIN)));
    }
}

/// Handles one call on a thread of its own.
fn make(mut job: Job) {
    fault::point("beyond", || "");
    let worker_fds = &job.worker.worker_fds;
    if worker_fds.isolation.begin_another(&mut worker_fds.numbers()).is_err() {
        job.refuse(libc::EPERM);
        return;
    }
    job.call_grants.place = CallSite::RetryThread;
    job.worker
        .work(&job.notification, &job.nested_runs, job.call_grants, dispatch::dispatch);
}

/// Confines the thread of a call to the workers' domain widened by the approved grants.
pub fn confine(context: &NotifyContext<'_>) -> Result<(), Errno> {
    // For the note of a later refusal: from here on the program can't be read.
    let _ = context.caller().program();
    let worker_fds = context.worker_fds();
    let domain = worker_fds.domain.as_ref().ok_or(Errno(libc::EPERM))?;
    let approvals = context.shared().approvals.as_deref().ok_or(Errno(libc::EPERM))?;
    let paths: Vec<_> = approvals.opened().paths().chain(context.once().paths()).collect();
    let abi = context.shared().run.run_config.supervision.landlock_abi;
    ruleset::enter_with(domain.as_fd(), abi, &paths)?;
    Ok(())
}

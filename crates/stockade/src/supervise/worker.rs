//! The threads that serve a run, and when they start and end.
//!
//! Every further waiting thread makes each answer slower, so a run starts with one. Another is started when a call
//! waits while no worker is free for it.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::answer::{CallAnswer, Effect, Errno};
use super::approvals::{CallGrants, CallSite, Job, Question};
use super::caller::Caller;
use super::dispatch;
use super::nested_runs::Applying;
use super::notify_context::{Deferral, NotifyContext};
use super::policy_stack::PolicyStack;
use super::processor;
use super::shared::{Replay, Shared};
use super::stderr_log;
use super::worker_fds::WorkerFds;
use crate::fault::{self, Fault};
use crate::mutex::lock;
use crate::report::FaultyPart;
use crate::warden::Order;
use stockade_sys::file;
use stockade_sys::notify::{self, Notification, OnExecute};
use stockade_sys::wire::{self, Message};

/// Most workers: as many as can run at once, and one for a call that waits in the kernel.
fn most_workers() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(2, |count| count.get() + 1))
}

/// Most slow calls at once in a run without a limit of processes: more are refused, so that no target fills the machine with the
/// supervisor's threads. A run with a limit has no more threads that could wait than that.
const MOST_SLOW: usize = 4096;
/// Beside threads that wait there are connections to nameservers.
const LEAST_SLOW: usize = 512;

/// Counts a slow call until it is dropped.
pub(super) struct Slow(Arc<Shared>);

impl Slow {
    /// Returns `None` if there are too many.
    pub(super) fn begin(shared: &Arc<Shared>) -> Option<Slow> {
        let slow = Slow(Arc::clone(shared));
        let limit = shared.run.run_config.policy.limits.processes;
        let most = limit.map_or(MOST_SLOW, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let most = most.max(LEAST_SLOW);
        (shared.slow.fetch_add(1, Ordering::Relaxed) < most).then_some(slow)
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.slow.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Deep enough for the kernel's longest paths; only the used part is paged in.
pub(super) const STACK: usize = 512 * 1024;

/// Serves until no process of the run is left. An error is a panic between two calls, for which the run is ended.
pub(super) fn serve(shared: &Arc<Shared>, worker_fds: &Arc<WorkerFds>) -> Result<(), Fault> {
    shared.workers.fetch_add(1, Ordering::Relaxed);
    let worker = Worker {
        shared: Arc::clone(shared),
        worker_fds: Arc::clone(worker_fds),
    };
    let served = fault::contain(|| while worker.next() {});
    shared.workers.fetch_sub(1, Ordering::Relaxed);
    if let Err(fault) = &served {
        worker.end_run(fault);
    }
    served
}

/// One serving thread.
#[derive(Clone)]
pub struct Worker {
    pub shared: Arc<Shared>,
    pub worker_fds: Arc<WorkerFds>,
}

impl Worker {
    /// Receives and answers one notification; returns `false` once there will be no more.
    fn next(&self) -> bool {
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let received = self.receive();
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        match received {
            Ok(notification) => {
                self.attempt(&notification, |worker| worker.handle(&notification));
                true
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => true,
                // The caller was killed before its notification was received, or no process is left.
                Some(libc::ENOENT) => !self.worker_fds.is_abandoned(),
                _ => false,
            },
        }
    }

    /// Runs a task for a call. If it panics, the call is refused, so that no target waits for ever.
    pub(super) fn attempt(&self, notification: &Notification, task: impl FnOnce(&Worker)) {
        if let Err(fault) = fault::contain(|| task(self)) {
            self.shared.faults.note(FaultyPart::Worker, &fault);
            self.answer(notification, Err(Errno(libc::EPERM)));
        }
    }

    /// Ends the run: a worker panicked between two calls, and another might do no better.
    fn end_run(&self, fault: &Fault) {
        self.shared.faults.note(FaultyPart::Supervisor, fault);
        let order = Message::new(Order::Kill as u32, 0, 0);
        let _ = wire::send(self.worker_fds.orders.as_raw_fd(), &order);
    }

    fn receive(&self) -> io::Result<Notification> {
        fault::point("receiving", || "");
        // One worker at a time, so that the notification that was polled is there to be received.
        let _turn = lock(&self.shared.turn);
        if !self.worker_fds.receiving_ends && !self.worker_fds.wait()? {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        notify::receive(self.worker_fds.listener.as_fd())
    }

    fn handle(&self, notification: &Notification) {
        fault::point("handling", || notification.number.to_string());
        self.call_for_help();
        let call = (notification.number, notification.arguments);
        if let Some(result) = self.shared.recall(notification.thread, call) {
            self.finish(notification, result);
            return;
        }
        let caller = Caller::new(&self.worker_fds, notification);
        let number = i64::from(notification.number);
        self.shared.count_call();
        if matches!(number, libc::SYS_write | libc::SYS_writev) {
            let recorded = stderr_log::record(&self.shared, &self.worker_fds, &caller, number);
            self.answer(notification, recorded);
            return;
        }
        let nested_runs = self.shared.nested_runs.of(&self.worker_fds, &caller);
        nested_runs.note_call(self.shared.handled_calls());
        self.work(notification, &nested_runs, CallGrants::default(), dispatch::dispatch);
    }

    /// Handles one call in a context of its own, and answers it, unless it is deferred.
    pub(super) fn work(
        &self,
        notification: &Notification,
        nested_runs: &Applying,
        call_grants: CallGrants,
        task: impl FnOnce(&NotifyContext<'_>) -> Result<CallAnswer, Errno>,
    ) {
        let mut caller = Caller::new(&self.worker_fds, notification);
        caller.top = nested_runs.top;
        let judge = PolicyStack {
            shared: &self.shared,
            worker_fds: &self.worker_fds,
            caller: &caller,
            nested_runs,
            call_grants: &call_grants,
        };
        let context = NotifyContext {
            worker: self,
            judge,
            notification,
            place: Cell::new(call_grants.place),
            deferral: Cell::new(None),
        };
        let done = task(&context);
        let deferral = context.deferral.take();
        match (done, deferral) {
            (Err(Errno(errno)), Some(deferral)) => {
                self.defer((notification, nested_runs), call_grants, deferral, errno)
            }
            (done, deferral) => {
                if let Some(Deferral::Ask(refusal)) = deferral {
                    self.shared.note(*refusal);
                }
                self.answer(notification, done);
            }
        }
    }

    /// Does the same on a thread of its own, which shares this one's descriptors, so that `task`'s are closed once.
    pub(super) fn work_apart(
        &self,
        (notification, nested_runs): (Notification, Applying),
        call_grants: CallGrants,
        task: impl FnOnce(&NotifyContext<'_>) -> Result<CallAnswer, Errno> + Send + 'static,
    ) -> io::Result<()> {
        let worker = self.clone();
        spawn(move || {
            worker.attempt(&notification, |worker| {
                fault::point("apart", || notification.number.to_string());
                if worker.worker_fds.isolation.leave_directory().is_err() {
                    worker.answer(&notification, Err(Errno(libc::EPERM)));
                    return;
                }
                worker.work(&notification, &nested_runs, call_grants, task);
            });
        })
    }

    /// Hands a refused call to the prompt queue, or to the retry thread.
    fn defer(
        &self,
        (notification, nested_runs): (&Notification, &Applying),
        call_grants: CallGrants,
        deferral: Deferral,
        errno: i32,
    ) {
        // The call is handled again from the start, on a worker.
        let call_grants = CallGrants {
            place: CallSite::Worker,
            ..call_grants
        };
        let refused = |worker: &Worker| worker.answer(notification, Err(Errno(errno)));
        let Some(approvals) = &self.shared.approvals else {
            return refused(self);
        };
        match deferral {
            Deferral::Ask(refusal) => {
                let question = Box::new(Question {
                    notification: *notification,
                    nested_runs: nested_runs.clone(),
                    call_grants,
                    refusal: *refusal,
                    errno,
                });
                if let Err(question) = approvals.ask(question) {
                    self.shared.note(question.refusal);
                    refused(self);
                }
            }
            Deferral::RetryThread => {
                let job = Job {
                    worker: self.clone(),
                    notification: *notification,
                    nested_runs: nested_runs.clone(),
                    call_grants,
                };
                if !approvals.go_beyond(job) {
                    refused(self);
                }
            }
        }
    }

    /// Sends the answer, once the run isn't stopped.
    pub fn answer(&self, notification: &Notification, answer: Result<CallAnswer, Errno>) {
        if let Some(approvals) = &self.shared.approvals {
            approvals.wait_for_hold();
        }
        self.answer_now(notification, answer);
    }

    /// Sends the answer even while the run is stopped, for the prompt queue.
    pub fn answer_now(&self, notification: &Notification, answer: Result<CallAnswer, Errno>) {
        let listener = self.worker_fds.listener.as_fd();
        let id = notification.id;
        // A target that was killed meanwhile takes no answer.
        match answer {
            Ok(CallAnswer::Value(value)) => self.finish(notification, Ok(value)),
            Ok(CallAnswer::Descriptor(descriptor, on_execute)) => {
                let result = self.inject(notification, descriptor, on_execute, None);
                self.finish(notification, result);
            }
            Ok(CallAnswer::Depending(descriptor, on_execute, effect)) => {
                let result = self.inject(notification, descriptor, on_execute, Some(*effect));
                self.finish(notification, result);
            }
            Ok(CallAnswer::Continue(_)) => {
                let _ = notify::let_continue(listener, id);
            }
            Ok(CallAnswer::Later) => {}
            Err(Errno(errno)) => self.finish(notification, Err(errno)),
        }
    }

    /// Installs a descriptor in the target and closes the supervisor's copy; returns the target's number for it.
    fn inject(
        &self,
        notification: &Notification,
        descriptor: OwnedFd,
        on_execute: OnExecute,
        effect: Option<Effect>,
    ) -> Result<i64, i32> {
        let listener = self.worker_fds.listener.as_fd();
        let hand_over = || notify::inject(listener, notification.id, descriptor.as_fd(), on_execute);
        // While other workers are at work, no processor is idle.
        let injected = match self.shared.is_one_at_work() {
            true => processor::stay(hand_over),
            false => hand_over(),
        };
        match (&injected, effect) {
            (Ok(_), Some(Effect::Truncate(object))) => {
                let _ = file::truncate(&object.path(), 0);
            }
            (Err(_), Some(Effect::Made(place))) => place.undo(descriptor.as_fd()),
            _ => {}
        }
        injected.map(i64::from).map_err(|error| errno_of_injection(&error))
    }

    fn finish(&self, notification: &Notification, result: Result<i64, i32>) {
        let (value, errno) = match result {
            Ok(value) => (value, 0),
            Err(errno) => (0, errno),
        };
        let sent = notify::answer(self.worker_fds.listener.as_fd(), notification.id, value, errno);
        if self.worker_fds.is_interruptible
            && sent.is_err_and(|error| error.raw_os_error() == Some(libc::ENOENT))
            && result.is_ok()
        {
            let call = (notification.number, notification.arguments);
            self.shared.remember(notification.thread, Replay { call, result });
        }
    }

    /// Starts another worker if a call waits and no worker is free for it.
    fn call_for_help(&self) {
        let is_enough = || self.shared.workers.load(Ordering::Relaxed) >= most_workers();
        if !self.shared.is_busy() || is_enough() || !self.shared.is_time_to_look() || !self.worker_fds.has_more() {
            return;
        }
        self.shared.calls_alone.store(0, Ordering::Relaxed);
        let (shared, worker_fds) = (Arc::clone(&self.shared), Arc::clone(&self.worker_fds));
        let (ready, is_ready) = sync_channel(1);
        let spawned = spawn(move || {
            // Until then it has copies of descriptors that this thread is about to hand over.
            if worker_fds.isolation.begin_another(&mut worker_fds.numbers()).is_ok() {
                let _ = ready.send(());
                let _ = serve(&shared, &worker_fds);
            }
        });
        if spawned.is_ok() {
            let _ = is_ready.recv();
        }
    }
}

/// Starts a thread that inherits the confinement of this one.
pub(super) fn spawn(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name("stockade-worker".into())
        .stack_size(STACK)
        .spawn(task)
        .map(drop)
}

/// The errno of a failed injection: the target's table is full; any other error means that the target is gone.
fn errno_of_injection(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(errno @ (libc::EMFILE | libc::ENFILE)) => errno,
        _ => libc::EMFILE,
    }
}

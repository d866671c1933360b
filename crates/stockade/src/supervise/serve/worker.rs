//! The threads that serve a run, and when they start and end.
//!
//! Every further waiting thread makes each answer slower, so a run starts with one. Another is started when a call
//! waits while no worker is free for it.
//!
//! There are as many as processors and one more at most; a lone worker that found no call waiting for a while looks at
//! each sixteenth call only. Calls that may take long, a `connect` or an open of a FIFO, get a thread of their own
//! ([`CallAnswer::Apart`]), so the others go on; their number is limited
//! ([`crate::supervise::call::threads::SlowCalls`]). Workers end when no process of the run is left. Before Linux 6.11
//! receiving doesn't end then, so they poll first.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};
use std::{io, thread};

use super::pool::WorkerPool;
use super::processor;
use crate::fault::{self, Fault};
use crate::mutex::lock;
use crate::report::{FaultyPart, Refusal};
use crate::supervise::approvals::{CallGrants, CallServer, CallSite, Hold, PendingCall, Question};
use crate::supervise::call::caller::Caller;
use crate::supervise::call::errno::Errno;
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::call::threads::spawn;
use crate::supervise::handlers::answer::{Apart, CallAnswer, Effect, Handled};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::handlers::stop::Stop;
use crate::supervise::handlers::{stderr, table};
use crate::supervise::judge::stack::PolicyStack;
use crate::supervise::run::Run;
use crate::supervise::state::nested_runs::CallerRuns;
use crate::supervise::state::replays::Replay;
use crate::warden::Order;
use stockade_sys::file;
use stockade_sys::notify::{self, Notification, OnExecute};
use stockade_sys::wire::{self, Message};

/// Most workers: as many as can run at once, and one for a call that waits in the kernel.
fn most_workers() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(2, |count| count.get() + 1))
}

/// Serves until no process of the run is left. An error is a panic between two calls, for which the run is ended.
pub fn serve(worker: &Worker) -> Result<(), Fault> {
    worker.pool.workers.fetch_add(1, Ordering::Relaxed);
    let served = fault::contain(|| while worker.next() {});
    worker.pool.workers.fetch_sub(1, Ordering::Relaxed);
    if let Err(fault) = &served {
        worker.end_run(fault);
    }
    served
}

/// One serving thread.
#[derive(Clone)]
pub struct Worker {
    pub run: Arc<Run>,
    pub pool: Arc<WorkerPool>,
    pub fds: Arc<WorkerFds>,
}

impl Worker {
    /// Receives and answers one notification; returns `false` once there will be no more.
    fn next(&self) -> bool {
        self.pool.waiting.fetch_add(1, Ordering::Relaxed);
        let received = self.receive();
        self.pool.waiting.fetch_sub(1, Ordering::Relaxed);
        match received {
            Ok(notification) => {
                self.attempt(&notification, |worker| worker.handle(&notification));
                true
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => true,
                // The caller was killed before its notification was received, or no process is left.
                Some(libc::ENOENT) => !self.fds.is_abandoned(),
                _ => false,
            },
        }
    }

    /// Runs a task for a call. If it panics, the call is refused, so that no target waits for ever.
    pub fn attempt(&self, notification: &Notification, task: impl FnOnce(&Worker)) {
        if let Err(fault) = fault::contain(|| task(self)) {
            self.run.journal.faults.note(FaultyPart::Worker, &fault);
            self.answer(notification, Err(Errno(libc::EPERM)));
        }
    }

    /// Ends the run: a worker panicked between two calls, and another might do no better.
    fn end_run(&self, fault: &Fault) {
        self.run.journal.faults.note(FaultyPart::Supervisor, fault);
        let order = Message::new(Order::Kill as u32, 0, 0);
        let _ = wire::send(self.fds.orders.as_raw_fd(), &order);
    }

    fn receive(&self) -> io::Result<Notification> {
        fault::point("receiving", || "");
        // One worker at a time, so that the notification that was polled is there to be received.
        let _turn = lock(&self.pool.turn);
        if !self.fds.receiving_ends && !self.fds.wait()? {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        notify::receive(self.fds.listener.as_fd())
    }

    fn handle(&self, notification: &Notification) {
        fault::point("handling", || notification.number.to_string());
        self.call_for_help();
        let call = (notification.number, notification.arguments);
        if let Some(result) = self.run.replays.recall(notification.thread, call) {
            self.finish(notification, result);
            return;
        }
        let caller = Caller::new(&self.fds, notification);
        let number = i64::from(notification.number);
        self.run.journal.count_call();
        if matches!(number, libc::SYS_write | libc::SYS_writev) {
            let recorded = stderr::record(&self.run, &self.fds, &caller, number);
            self.answer(notification, Ok(recorded));
            return;
        }
        let nested_runs = self.run.journal.nested_runs.of(&self.fds, &caller);
        nested_runs.note_call(self.run.journal.handled_calls());
        self.work(notification, &nested_runs, CallGrants::default(), table::dispatch);
    }

    /// Handles one call in a context of its own, and answers it, unless another thread does.
    fn work(
        &self,
        notification: &Notification,
        nested_runs: &CallerRuns,
        call_grants: CallGrants,
        task: impl FnOnce(&NotifyContext<'_>) -> Handled,
    ) {
        let mut caller = Caller::new(&self.fds, notification);
        caller.top = nested_runs.top;
        let judge = PolicyStack {
            run: &self.run,
            fds: &self.fds,
            caller: &caller,
            nested_runs,
            call_grants: &call_grants,
        };
        let context = NotifyContext::new(judge, notification);
        let pending = |call_grants| PendingCall {
            notification: *notification,
            nested_runs: nested_runs.clone(),
            call_grants,
        };
        match task(&context) {
            Ok(CallAnswer::Apart(task)) => {
                let Some(slow) = self.run.slow.begin() else {
                    return self.refuse(notification, Errno(libc::EAGAIN));
                };
                let task = move |context: &NotifyContext<'_>| {
                    let _slow = slow;
                    task(context)
                };
                let apart = self.work_apart(pending(context.call_grants()), Box::new(task));
                if let Err(error) = apart {
                    self.refuse(notification, error.into());
                }
            }
            // The call is handled again from the start, on a worker.
            Err(Stop::Ask(refusal, errno)) => self.ask(pending(call_grants.on_a_worker()), *refusal, errno),
            Err(Stop::Widen(errno)) => self.widen(pending(call_grants.on_a_worker()), errno),
            Err(Stop::Errno(errno)) => self.refuse(notification, errno),
            Ok(answer) => self.answer(notification, Ok(answer)),
        }
    }

    /// Does the same on a thread of its own, which shares this one's descriptors, so that `task`'s are closed once.
    fn work_apart(&self, call: PendingCall, task: Box<Apart>) -> io::Result<()> {
        let worker = self.clone();
        spawn(move || {
            worker.attempt(&call.notification, |worker| {
                fault::point("apart", || call.notification.number.to_string());
                if worker.fds.isolation.leave_directory().is_err() {
                    worker.refuse(&call.notification, Errno(libc::EPERM));
                    return;
                }
                worker.work(&call.notification, &call.nested_runs, call.call_grants, task);
            });
        })
    }

    /// Hands a refused call to the prompt queue.
    fn ask(&self, call: PendingCall, refusal: Refusal, Errno(errno): Errno) {
        let question = Box::new(Question { call, refusal, errno });
        let asked = match &self.run.approvals {
            Some(approvals) => approvals.ask(question),
            None => Err(question),
        };
        if let Err(question) = asked {
            self.run.journal.note(question.refusal);
            self.refuse(&question.call.notification, Errno(errno));
        }
    }

    /// Hands a call to a thread that can enter the domain widened by the approved grants.
    fn widen(&self, call: PendingCall, errno: Errno) {
        let notification = call.notification;
        let worker = self.clone();
        let task = Box::new(move || worker.attempt(&notification, |worker| worker.start_widened(call)));
        let approvals = self.run.approvals.as_ref();
        if !approvals.is_some_and(|approvals| approvals.run_unconfined(task)) {
            self.refuse(&notification, errno);
        }
    }

    /// Starts the thread of such a call, from the one outside the workers' domain.
    fn start_widened(&self, mut call: PendingCall) {
        let notification = call.notification;
        let worker = self.clone();
        let started = self.run.slow.begin().ok_or(Errno(libc::EAGAIN)).and_then(|slow| {
            spawn(move || {
                let _slow = slow;
                worker.attempt(&notification, |worker| {
                    fault::point("unconfined", || "");
                    let fds = &worker.fds;
                    if fds.isolation.begin_another(&mut fds.numbers()).is_err() {
                        return worker.refuse(&notification, Errno(libc::EPERM));
                    }
                    call.call_grants.site = CallSite::Unconfined;
                    worker.work(&notification, &call.nested_runs, call.call_grants, table::dispatch);
                });
            })
            .map_err(|_| Errno(libc::EAGAIN))
        });
        if let Err(errno) = started {
            self.refuse(&notification, errno);
        }
    }

    /// Fails a call, after waiting until the run is no longer stopped.
    fn refuse(&self, notification: &Notification, errno: Errno) {
        self.answer(notification, Err(errno));
    }

    /// Sends the answer, after waiting until the run is no longer stopped.
    pub fn answer(&self, notification: &Notification, answer: Result<CallAnswer, Errno>) {
        if let Some(approvals) = &self.run.approvals {
            approvals.wait_for_hold();
        }
        self.answer_now(notification, answer);
    }

    /// Sends the answer even while the run is stopped, for the prompt queue.
    pub fn answer_now(&self, notification: &Notification, answer: Result<CallAnswer, Errno>) {
        let listener = self.fds.listener.as_fd();
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
            // Only a handler of a whole call leaves a rest.
            Ok(CallAnswer::Apart(_)) => self.finish(notification, Err(libc::EIO)),
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
        let listener = self.fds.listener.as_fd();
        let hand_over = || notify::inject(listener, notification.id, descriptor.as_fd(), on_execute);
        // While other workers are at work, no processor is idle.
        let injected = match self.pool.is_one_at_work() {
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
        let sent = notify::answer(self.fds.listener.as_fd(), notification.id, value, errno);
        if self.fds.is_interruptible
            && sent.is_err_and(|error| error.raw_os_error() == Some(libc::ENOENT))
            && result.is_ok()
        {
            let call = (notification.number, notification.arguments);
            self.run.replays.remember(notification.thread, Replay { call, result });
        }
    }

    /// Starts another worker if a call waits and no worker is free for it.
    fn call_for_help(&self) {
        let is_enough = || self.pool.workers.load(Ordering::Relaxed) >= most_workers();
        if !self.pool.is_busy() || is_enough() || !self.pool.is_time_to_look() || !self.fds.has_more() {
            return;
        }
        self.pool.calls_alone.store(0, Ordering::Relaxed);
        let worker = self.clone();
        let (ready, is_ready) = sync_channel(1);
        let spawned = spawn(move || {
            // Until then it has copies of descriptors that this thread is about to hand over.
            let fds = &worker.fds;
            if fds.isolation.begin_another(&mut fds.numbers()).is_ok() {
                let _ = ready.send(());
                let _ = serve(&worker);
            }
        });
        if spawned.is_ok() {
            let _ = is_ready.recv();
        }
    }
}

/// The errno of a failed injection: the target's table is full; any other error means that the target is gone.
fn errno_of_injection(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(errno @ (libc::EMFILE | libc::ENFILE)) => errno,
        _ => libc::EMFILE,
    }
}

impl CallServer for Worker {
    fn again(&self, call: PendingCall) -> io::Result<()> {
        self.work_apart(call, Box::new(table::dispatch))
    }

    fn refuse_now(&self, call: &Notification, errno: Errno) {
        self.answer_now(call, Err(errno));
    }

    fn is_interrupted(&self, call: &Notification) -> bool {
        Caller::new(&self.fds, call).is_interrupted()
    }

    fn hold(&self) -> Result<Hold, &'static str> {
        let approvals = self.run.approvals.as_ref().ok_or("nothing can be asked")?;
        Hold::begin(&self.fds, approvals.gate())
    }
}

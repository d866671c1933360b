//! The first worker: how the supervisor of a run starts.
//!
//! A worker takes its own powers away before it serves, in this order: block all signals; stop sharing descriptors,
//! umask and working directory with the process; `no_new_privs`; drop all Linux capabilities; start the thread outside
//! the domain, if the run has an approver; enter the workers' Landlock domain (`launch/workers.rs`); fork the warden;
//! close every descriptor but its own. So a mistake in the supervisor reaches little beyond what the policy names,
//! though secrets inside granted trees are among that.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use std::{io, thread};

use super::pool::WorkerPool;
use super::unconfined;
use super::worker::{Worker, serve};
use crate::fault;
use crate::supervise::approvals::{ApproverPool, PromptQueue, UnconfinedTask};
use crate::supervise::call::fds::{Copies, Isolation, WorkerFds};
use crate::supervise::call::threads::STACK;
use crate::supervise::run::Run;
use crate::warden::{self, Spawned, WardenSpec};
use stockade_sys::signals::SignalSet;
use stockade_sys::wire::{self, Message};
use stockade_sys::{self, confine, notify, process};

/// The launcher's handle on the supervisor of one run.
pub struct Supervisor {
    run: Arc<Run>,
}

impl Supervisor {
    /// Starts the first worker, which starts the warden and then serves. Returns once the target waits for its first
    /// answer, or failed to start.
    pub fn start(run: &Arc<Run>, spec: WardenSpec, socket: RawFd) -> io::Result<(Supervisor, Spawned)> {
        let run = Arc::clone(run);
        let of_worker = Arc::clone(&run);
        let (sender, receiver) = sync_channel(1);
        let approver_pool = match &run.approvals {
            Some(approvals) => {
                let faults = Arc::clone(&run.journal.faults);
                Some(ApproverPool::start(
                    approvals.approver(),
                    faults,
                    spec.holds_capabilities,
                )?)
            }
            None => None,
        };
        thread::Builder::new()
            .name("stockade-supervisor".into())
            .stack_size(STACK)
            .spawn(move || {
                let served = fault::contain(|| first(&of_worker, &spec, socket, approver_pool, &sender));
                if let Err(fault) = served {
                    let _ = sender.send(Err(io::Error::other(format!("internal error: {fault}"))));
                }
            })?;
        let spawned = receiver
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the supervisor ended at once")))?;
        Ok((Supervisor { run }, spawned))
    }

    /// The state that the workers share.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

/// The first worker: it confines itself, forks the warden, receives the listener and serves.
fn first(
    run: &Arc<Run>,
    spec: &WardenSpec,
    socket: RawFd,
    approver_pool: Option<ApproverPool>,
    sender: &SyncSender<io::Result<Spawned>>,
) {
    match begin(spec, socket, approver_pool.is_some()) {
        Ok(Begun {
            mut spawned,
            isolation,
            listener: Some(listener),
            copies,
            unconfined,
        }) => {
            let warden = spawned.warden;
            let fds = WorkerFds::new(listener, copies, warden, isolation);
            let worker = fds.and_then(|fds| {
                let _ = isolation.close_all_but(&mut fds.numbers());
                let worker = Worker {
                    run: Arc::clone(run),
                    pool: Arc::new(WorkerPool::default()),
                    fds: Arc::new(fds),
                };
                start_approvals(&worker, approver_pool.zip(unconfined))?;
                Ok(worker)
            });
            match worker {
                Ok(worker) => {
                    let (hold, heard) = channel();
                    spawned.hold = Some(hold);
                    let _ = sender.send(Ok(spawned));
                    notify::wake_synchronously(worker.fds.listener.as_fd());
                    let served = serve(&worker);
                    if let Some(approvals) = &run.approvals {
                        approvals.close();
                    }
                    // A short run may be over before the warden watches it. If serving failed, a warden that waits for
                    // the unserved target has to die with this thread.
                    if served.is_ok() {
                        let _ = heard.recv();
                    }
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        }
        Ok(Begun { spawned, .. }) => drop(sender.send(Ok(spawned))),
        Err(error) => drop(sender.send(Err(error))),
    }
}

/// Starts the prompt queue and registers it with the unconfined thread, if the run has an approver.
fn start_approvals(worker: &Worker, threads: Option<(ApproverPool, Sender<UnconfinedTask>)>) -> io::Result<()> {
    if let (Some(approvals), Some((approver_pool, unconfined))) = (&worker.run.approvals, threads) {
        let server = Box::new(worker.clone());
        let prompt_queue = PromptQueue::start(server, Arc::clone(approvals), approver_pool)?;
        approvals.register(prompt_queue, unconfined);
    }
    Ok(())
}

/// The parts that the first worker starts with.
struct Begun {
    spawned: Spawned,
    isolation: Isolation,
    /// `None` if the target failed before it sent its listener.
    listener: Option<OwnedFd>,
    /// The worker's copies of launcher descriptors; the launcher closes the originals.
    copies: Copies,
    /// The channel to the thread outside the workers' domain.
    unconfined: Option<Sender<UnconfinedTask>>,
}

/// Confines the thread and starts the warden, which inherits the confinement. The run's first message comes from the
/// target, with its listener, or from the warden, if the target couldn't be started.
fn begin(spec: &WardenSpec, socket: RawFd, asks: bool) -> io::Result<Begun> {
    fault::point("supervisor", || "");
    let isolation = give_up_powers(spec.holds_capabilities)?;
    // Started before the domain is entered, and with the descriptors of this thread.
    let unconfined = asks.then(unconfined::start).transpose()?;
    let copies = Copies {
        control: spec.control.map(stockade_sys::duplicate).transpose()?,
        domain: spec
            .workers_ruleset
            .filter(|_| asks)
            .map(stockade_sys::duplicate)
            .transpose()?,
        orders: stockade_sys::duplicate(socket)?,
    };
    if let Some(ruleset) = spec.workers_ruleset {
        confine::landlock_restrict_self(ruleset)?;
    }
    let mut spawned = warden::spawn_warden(spec)?;
    // The launcher closes the original descriptors itself.
    let own = [&copies.control, &copies.domain].into_iter().flatten();
    let own = own.chain([&copies.orders]).map(AsRawFd::as_raw_fd);
    let mut kept: Vec<_> = [socket].into_iter().chain(own).collect();
    isolation.close_all_but(&mut kept)?;
    let listener = match first_message(socket, spawned.warden)? {
        Some((_, Some(listener))) => Some(listener),
        Some((message, None)) => {
            spawned.news = Some(message);
            None
        }
        None => None,
    };
    Ok(Begun {
        spawned,
        isolation,
        listener,
        copies,
        unconfined,
    })
}

/// The first message of the run; `None` if the warden ended without one. An end of the socket can't tell that: the
/// launcher's main thread, which waits for this one, has a copy of it.
fn first_message(socket: RawFd, warden: i32) -> io::Result<Option<(Message, Option<OwnedFd>)>> {
    const SLICE_MS: i32 = 50;
    while wire::wait_readable([socket, -1], SLICE_MS)? == 0 {
        if process::has_ended(warden)? && wire::wait_readable([socket, -1], 0)? == 0 {
            return Ok(None);
        }
    }
    wire::receive_with(socket)
}

/// Gives up powers that neither a worker nor the target needs.
fn give_up_powers(holds_capabilities: bool) -> io::Result<Isolation> {
    SignalSet::full().block()?;
    let isolation = Isolation::begin()?;
    confine::no_new_privs()?;
    confine::drop_capabilities(holds_capabilities)?;
    Ok(isolation)
}

//! The threads that serve a run, and how they come and go.
//!
//! Every further thread makes each answer slower, so a run starts with one. A second one comes when a descriptor is
//! handed over while nobody else waits: the kernel's call sleeps until the target took it.

use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::answer::{Answer, Errno};
use super::caller::Caller;
use super::dispatch;
use super::judge::Judge;
use super::shared::{Replay, Shared};
use super::station::Station;
use crate::launch::{Born, Duty};
use crate::sys::notify::{self, Notification};
use crate::sys::signals::SignalSet;
use crate::sys::{confine, file};

/// More threads than this never wait: what is slow has a thread of its own.
const MOST_WORKERS: usize = 8;

/// Slow calls at once: more are refused, so that no target fills the machine with our threads.
const MOST_SLOW: usize = 512;

/// Counts a slow call while it lasts.
struct Slow(Arc<Shared>);

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.slow.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The supervisor of one run, as the launcher holds it.
pub struct Supervisor {
    shared: Arc<Shared>,
}

impl Supervisor {
    /// Starts the first worker, which starts the warden, and serves from then on. Answers once the target waits for its
    /// first answer, or failed to start.
    pub fn start(shared: Shared, duty: Duty, socket: RawFd) -> io::Result<(Supervisor, Born)> {
        let shared = Arc::new(shared);
        let of_worker = Arc::clone(&shared);
        let (sender, receiver) = sync_channel(1);
        thread::Builder::new()
            .name("stockade-supervisor".into())
            .stack_size(STACK)
            .spawn(move || first(&of_worker, &duty, socket, &sender))?;
        let born = receiver
            .recv()
            .unwrap_or_else(|_| Err(io::Error::other("the supervisor ended at once")))?;
        Ok((Supervisor { shared }, born))
    }

    /// What the workers share.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Deep enough for paths of the kernel's longest; only what is used is paged in.
const STACK: usize = 512 * 1024;

/// The first worker: it confines itself, forks the warden, receives the listener and serves.
fn first(shared: &Arc<Shared>, duty: &Duty, socket: RawFd, sender: &SyncSender<io::Result<Born>>) {
    match begin(duty, socket) {
        Ok((born, Some(listener))) => {
            let warden = born.warden;
            let station = Station::new(listener, warden);
            match station {
                Ok(station) => {
                    let _ = file::close_all_but(&mut station.numbers());
                    let _ = sender.send(Ok(born));
                    notify::wake_synchronously(station.listener.as_fd());
                    serve(shared, &Arc::new(station));
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        }
        Ok((born, None)) => drop(sender.send(Ok(born))),
        Err(error) => drop(sender.send(Err(error))),
    }
}

/// The warden inherits what this thread gave up. The first message of the run is the target's, with its listener, or the
/// warden's, that it couldn't be started.
fn begin(duty: &Duty, socket: RawFd) -> io::Result<(Born, Option<OwnedFd>)> {
    give_up_powers(duty.holds_capabilities)?;
    if let Some(ruleset) = duty.workers_ruleset {
        confine::landlock_restrict_self(ruleset)?;
    }
    let mut born = crate::launch::bear(duty)?;
    // The launcher's own copies are its affair.
    file::close_all_but(&mut [socket])?;
    match crate::sys::wire::receive_with(socket)? {
        Some((_, Some(listener))) => Ok((born, Some(listener))),
        Some((message, None)) => {
            born.news = Some(message);
            Ok((born, None))
        }
        None => Ok((born, None)),
    }
}

/// What a worker needs no more than the target does.
fn give_up_powers(holds_capabilities: bool) -> io::Result<()> {
    SignalSet::full().block()?;
    file::stop_sharing()?;
    confine::no_new_privs()?;
    confine::drop_capabilities(holds_capabilities)
}

/// Answers until nobody of the run is left.
fn serve(shared: &Arc<Shared>, station: &Arc<Station>) {
    shared.workers.fetch_add(1, Ordering::Relaxed);
    let mut worker = Worker {
        shared: Arc::clone(shared),
        station: Arc::clone(station),
        waits_by_poll: !station.receive_ends_by_itself,
    };
    while worker.next() {}
    shared.workers.fetch_sub(1, Ordering::Relaxed);
}

/// One thread that serves.
pub struct Worker {
    pub shared: Arc<Shared>,
    pub station: Arc<Station>,
    waits_by_poll: bool,
}

impl Worker {
    /// Receives and answers one notification; `false` once there'll be no more.
    fn next(&mut self) -> bool {
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let received = self.receive();
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        match received {
            Ok(notification) => {
                self.handle(&notification);
                true
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => true,
                // The caller was killed before it was heard, or nobody is left.
                Some(libc::ENOENT) => !self.station.is_abandoned(),
                _ => false,
            },
        }
    }

    fn receive(&self) -> io::Result<Notification> {
        if self.waits_by_poll && !self.station.wait()? {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        notify::receive(self.station.listener.as_fd())
    }

    fn handle(&self, notification: &Notification) {
        let caller = Caller::new(&self.station, notification);
        let call = (notification.number, notification.arguments);
        if let Some(result) = self.shared.recall(notification.thread, call) {
            self.finish(notification, result);
            return;
        }
        let judge = Judge {
            shared: &self.shared,
            station: &self.station,
            caller: &caller,
        };
        let desk = Desk {
            worker: self,
            judge,
            notification,
        };
        // A mistake of ours is a refusal, not a target that waits for ever.
        let answer = catch_unwind(AssertUnwindSafe(|| dispatch::dispatch(&desk))).unwrap_or(Err(Errno(libc::EPERM)));
        self.answer(notification, answer);
    }

    /// Gives the answer.
    pub fn answer(&self, notification: &Notification, answer: Result<Answer, Errno>) {
        let listener = self.station.listener.as_fd();
        let id = notification.id;
        // A target that was killed meanwhile takes no answer.
        match answer {
            Ok(Answer::Value(value)) => self.finish(notification, Ok(value)),
            Ok(Answer::Reading(descriptor, on_execute)) => {
                self.call_for_help();
                if let Err(error) = notify::answer_with(listener, id, descriptor.as_fd(), on_execute) {
                    let _ = notify::answer(listener, id, 0, errno_of_injection(&error));
                }
            }
            Ok(Answer::Writing(descriptor, on_execute)) => {
                let injected = notify::inject(listener, id, descriptor.as_fd(), on_execute);
                drop(descriptor);
                let result = injected.map(i64::from).map_err(|error| errno_of_injection(&error));
                self.finish(notification, result);
            }
            Ok(Answer::Continue(_)) => {
                let _ = notify::let_continue(listener, id);
            }
            Ok(Answer::Later) => {}
            Err(Errno(errno)) => self.finish(notification, Err(errno)),
        }
    }

    fn finish(&self, notification: &Notification, result: Result<i64, i32>) {
        let (value, errno) = match result {
            Ok(value) => (value, 0),
            Err(errno) => (0, errno),
        };
        let sent = notify::answer(self.station.listener.as_fd(), notification.id, value, errno);
        if sent.is_err_and(|error| error.raw_os_error() == Some(libc::ENOENT)) && result.is_ok() {
            let call = (notification.number, notification.arguments);
            self.shared.remember(notification.thread, Replay { call, result });
        }
    }

    /// Starts another worker where nobody waits for the next notification.
    pub fn call_for_help(&self) {
        if !self.shared.is_busy() || self.shared.workers.load(Ordering::Relaxed) >= MOST_WORKERS {
            return;
        }
        let (shared, station) = (Arc::clone(&self.shared), Arc::clone(&self.station));
        let (ready, is_ready) = sync_channel(1);
        let spawned = spawn(move || {
            // Until then it has copies of what this thread is about to hand over.
            if file::stop_sharing().is_ok() && file::close_all_but(&mut station.numbers()).is_ok() {
                let _ = ready.send(());
                serve(&shared, &station);
            }
        });
        if spawned.is_ok() {
            let _ = is_ready.recv();
        }
    }
}

/// A thread that inherits what this one gave up.
fn spawn(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new()
        .name("stockade-worker".into())
        .stack_size(STACK)
        .spawn(task)
        .map(drop)
}

/// The target's table may be full; everything else is a target that is gone.
fn errno_of_injection(error: &io::Error) -> i32 {
    match error.raw_os_error() {
        Some(errno @ (libc::EMFILE | libc::ENFILE)) => errno,
        _ => libc::EMFILE,
    }
}

/// One call on a worker's desk.
pub struct Desk<'a> {
    pub worker: &'a Worker,
    pub judge: Judge<'a>,
    pub notification: &'a Notification,
}

impl<'a> Desk<'a> {
    pub fn station(&self) -> &'a Station {
        self.judge.station
    }

    pub fn caller(&self) -> &'a Caller<'a> {
        self.judge.caller
    }

    pub fn shared(&self) -> &'a Shared {
        self.judge.shared
    }

    /// Hands the call to a thread of its own, because it may take long: the other calls go on.
    ///
    /// The thread shares this one's descriptors, so that what `task` owns is closed once.
    pub fn later(
        &self,
        task: impl FnOnce(&Desk<'_>) -> Result<Answer, Errno> + Send + 'static,
    ) -> Result<Answer, Errno> {
        let worker = Worker {
            shared: Arc::clone(&self.worker.shared),
            station: Arc::clone(&self.worker.station),
            waits_by_poll: self.worker.waits_by_poll,
        };
        let notification = *self.notification;
        if self.shared().slow.fetch_add(1, Ordering::Relaxed) >= MOST_SLOW {
            self.shared().slow.fetch_sub(1, Ordering::Relaxed);
            return Err(Errno(libc::EAGAIN));
        }
        let spawned = spawn(move || {
            let _slow = Slow(Arc::clone(&worker.shared));
            if confine::stop_sharing_directory().is_err() {
                worker.answer(&notification, Err(Errno(libc::EPERM)));
                return;
            }
            let caller = Caller::new(&worker.station, &notification);
            let desk = Desk {
                worker: &worker,
                judge: Judge {
                    shared: &worker.shared,
                    station: &worker.station,
                    caller: &caller,
                },
                notification: &notification,
            };
            let answer = catch_unwind(AssertUnwindSafe(|| task(&desk))).unwrap_or(Err(Errno(libc::EPERM)));
            worker.answer(&notification, answer);
        });
        if spawned.is_err() {
            self.shared().slow.fetch_sub(1, Ordering::Relaxed);
        }
        spawned?;
        Ok(Answer::Later)
    }

    /// Gives this thread the caller's umask, for what it is about to make.
    pub fn take_umask(&self) {
        let differ = self.shared().umasks_differ.load(Ordering::Relaxed);
        file::set_umask(if differ {
            self.caller().umask()
        } else {
            self.station().umask
        });
    }

    /// The call's name.
    pub fn call_name(&self) -> &'static str {
        let number = u32::try_from(self.notification.number).unwrap_or(u32::MAX);
        crate::plan::filter::Architecture::native()
            .and_then(|architecture| crate::plan::calls::name(number, architecture))
            .unwrap_or("unknown")
    }
}

//! The threads that serve a run, and how they come and go.
//!
//! Every further thread that waits makes each answer slower, so a run starts with one. Another comes when a call is found
//! waiting while nobody is free for it.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

use super::answer::{Answer, Effect, Errno};
use super::approvals::{self, Asker, Beyond, Clerk, Job, Leave, Opened, Place, Question};
use super::bench::Bench;
use super::caller::Caller;
use super::dispatch;
use super::labels::Applying;
use super::shared::{Replay, Shared};
use super::station::{Isolation, Station};
use crate::launch::{Born, Duty};
use crate::network::Network;
use crate::report::Refusal;
use crate::sys::notify::{self, Notification, OnExecute};
use crate::sys::signals::SignalSet;
use crate::sys::{self, confine, file};

/// As many as can run at once, and one for a call that waits in the kernel.
fn most_workers() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(2, |count| count.get() + 1))
}

/// Slow calls at once: more are refused, so that no target fills the machine with our threads.
const MOST_SLOW: usize = 512;

/// Counts a slow call while it lasts.
pub(super) struct Slow(Arc<Shared>);

impl Slow {
    /// `None` where there are too many.
    pub(super) fn begin(shared: &Arc<Shared>) -> Option<Slow> {
        let slow = Slow(Arc::clone(shared));
        (shared.slow.fetch_add(1, Ordering::Relaxed) < MOST_SLOW).then_some(slow)
    }
}

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
    pub fn start(shared: &Arc<Shared>, duty: Duty, socket: RawFd) -> io::Result<(Supervisor, Born)> {
        let shared = Arc::clone(shared);
        let of_worker = Arc::clone(&shared);
        let (sender, receiver) = sync_channel(1);
        let asker = match &shared.approvals {
            Some(approvals) => Some(Asker::start(approvals.approver(), duty.holds_capabilities)?),
            None => None,
        };
        thread::Builder::new()
            .name("stockade-supervisor".into())
            .stack_size(STACK)
            .spawn(move || first(&of_worker, &duty, socket, asker, &sender))?;
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
fn first(
    shared: &Arc<Shared>,
    duty: &Duty,
    socket: RawFd,
    asker: Option<Asker>,
    sender: &SyncSender<io::Result<Born>>,
) {
    match begin(duty, socket, asker.is_some()) {
        Ok(Begun {
            born,
            isolation,
            listener: Some(listener),
            domain,
            beyond,
        }) => {
            let warden = born.warden;
            // Its original is the launcher's to close.
            let bell = duty.bell.map(sys::duplicate).transpose();
            let station = bell.and_then(|bell| Station::new(listener, (bell, domain), warden, isolation));
            let station = station.and_then(|station| {
                let _ = isolation.close_all_but(&mut station.numbers());
                let station = Arc::new(station);
                employ(shared, &station, asker.zip(beyond))?;
                Ok(station)
            });
            match station {
                Ok(station) => {
                    let _ = sender.send(Ok(born));
                    notify::wake_synchronously(station.listener.as_fd());
                    serve(shared, &station);
                    if let Some(approvals) = &shared.approvals {
                        approvals.close();
                    }
                }
                Err(error) => drop(sender.send(Err(error))),
            }
        }
        Ok(Begun { born, .. }) => drop(sender.send(Ok(born))),
        Err(error) => drop(sender.send(Err(error))),
    }
}

/// Those who keep the questions of a run, where somebody can be asked.
fn employ(shared: &Arc<Shared>, station: &Arc<Station>, staff: Option<(Asker, Sender<Job>)>) -> io::Result<()> {
    let (Some(approvals), Some((asker, beyond))) = (&shared.approvals, staff) else {
        return Ok(());
    };
    let worker = Worker {
        shared: Arc::clone(shared),
        station: Arc::clone(station),
    };
    let clerk = Clerk::start(worker, Arc::clone(approvals), asker)?;
    approvals.employ(clerk, beyond);
    Ok(())
}

/// What the first worker has begun with.
struct Begun {
    born: Born,
    isolation: Isolation,
    /// `None` where the target never came so far.
    listener: Option<OwnedFd>,
    /// The workers' own ruleset, for what is granted later.
    domain: Option<OwnedFd>,
    /// The thread outside of that domain.
    beyond: Option<Sender<Job>>,
}

/// The warden inherits what this thread gave up. The first message of the run is the target's, with its listener, or the
/// warden's, that it couldn't be started.
fn begin(duty: &Duty, socket: RawFd, asks: bool) -> io::Result<Begun> {
    let isolation = give_up_powers(duty.holds_capabilities)?;
    // Before the domain is entered, and with the descriptors of this thread.
    let beyond = asks.then(Beyond::start).transpose()?;
    let domain = match duty.workers_ruleset.filter(|_| asks) {
        Some(ruleset) => Some(sys::duplicate(ruleset)?),
        None => None,
    };
    if let Some(ruleset) = duty.workers_ruleset {
        confine::landlock_restrict_self(ruleset)?;
    }
    let mut born = crate::launch::bear(duty)?;
    // The launcher's own copies are its affair.
    let own = domain.as_ref().map(AsRawFd::as_raw_fd);
    let mut kept: Vec<_> = [socket].into_iter().chain(duty.bell).chain(own).collect();
    isolation.close_all_but(&mut kept)?;
    let listener = match crate::sys::wire::receive_with(socket)? {
        Some((_, Some(listener))) => Some(listener),
        Some((message, None)) => {
            born.news = Some(message);
            None
        }
        None => None,
    };
    Ok(Begun {
        born,
        isolation,
        listener,
        domain,
        beyond,
    })
}

/// What a worker needs no more than the target does.
fn give_up_powers(holds_capabilities: bool) -> io::Result<Isolation> {
    SignalSet::full().block()?;
    let isolation = Isolation::begin()?;
    confine::no_new_privs()?;
    confine::drop_capabilities(holds_capabilities)?;
    Ok(isolation)
}

/// Answers until nobody of the run is left.
fn serve(shared: &Arc<Shared>, station: &Arc<Station>) {
    shared.workers.fetch_add(1, Ordering::Relaxed);
    let worker = Worker {
        shared: Arc::clone(shared),
        station: Arc::clone(station),
    };
    while worker.next() {}
    shared.workers.fetch_sub(1, Ordering::Relaxed);
}

/// One thread that serves.
#[derive(Clone)]
pub struct Worker {
    pub shared: Arc<Shared>,
    pub station: Arc<Station>,
}

impl Worker {
    /// Receives and answers one notification; `false` once there'll be no more.
    fn next(&self) -> bool {
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
        if !self.station.receive_ends_by_itself && !self.station.wait()? {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        notify::receive(self.station.listener.as_fd())
    }

    fn handle(&self, notification: &Notification) {
        self.call_for_help();
        let call = (notification.number, notification.arguments);
        if let Some(result) = self.shared.recall(notification.thread, call) {
            self.finish(notification, result);
            return;
        }
        let labels = self
            .shared
            .labels
            .of(&self.station, &Caller::new(&self.station, notification));
        self.work(notification, &labels, Leave::default(), dispatch::dispatch);
    }

    /// Does one call at a desk of its own, and answers it, unless somebody else will.
    pub(super) fn work(
        &self,
        notification: &Notification,
        labels: &Applying,
        leave: Leave,
        task: impl FnOnce(&Desk<'_>) -> Result<Answer, Errno>,
    ) {
        let mut caller = Caller::new(&self.station, notification);
        caller.top = labels.top;
        let judge = Bench {
            shared: &self.shared,
            station: &self.station,
            caller: &caller,
            labels,
            once: &leave.once,
        };
        let desk = Desk {
            worker: self,
            judge,
            notification,
            place: Cell::new(leave.place),
            detour: Cell::new(None),
        };
        // A mistake of ours is a refusal, not a target that waits for ever.
        let done = catch_unwind(AssertUnwindSafe(|| task(&desk)));
        let detour = desk.detour.take();
        match (done, detour) {
            (Ok(Err(Errno(errno))), Some(detour)) => self.take_detour((notification, labels), leave, detour, errno),
            (done, detour) => {
                if let Some(Detour::Ask(refusal)) = detour {
                    self.shared.note(*refusal);
                }
                self.answer(notification, done.unwrap_or(Err(Errno(libc::EPERM))));
            }
        }
    }

    /// Hands a refused call to whoever asks, or makes it where what was granted can be reached.
    fn take_detour(
        &self,
        (notification, labels): (&Notification, &Applying),
        leave: Leave,
        detour: Detour,
        errno: i32,
    ) {
        // It begins anew, where every call does.
        let leave = Leave {
            place: Place::Worker,
            ..leave
        };
        let refused = |worker: &Worker| worker.answer(notification, Err(Errno(errno)));
        let Some(approvals) = &self.shared.approvals else {
            return refused(self);
        };
        match detour {
            Detour::Ask(refusal) => {
                let question = Box::new(Question {
                    notification: *notification,
                    labels: labels.clone(),
                    leave,
                    refusal: *refusal,
                    errno,
                });
                if let Err(question) = approvals.ask(question) {
                    self.shared.note(question.refusal);
                    refused(self);
                }
            }
            Detour::Beyond => {
                let job = Job {
                    worker: self.clone(),
                    notification: *notification,
                    labels: labels.clone(),
                    leave,
                };
                if !approvals.go_beyond(job) {
                    refused(self);
                }
            }
        }
    }

    /// Gives the answer.
    pub fn answer(&self, notification: &Notification, answer: Result<Answer, Errno>) {
        let listener = self.station.listener.as_fd();
        let id = notification.id;
        // A target that was killed meanwhile takes no answer.
        match answer {
            Ok(Answer::Value(value)) => self.finish(notification, Ok(value)),
            Ok(Answer::Descriptor(descriptor, on_execute)) => {
                let result = self.inject(notification, descriptor, on_execute, None);
                self.finish(notification, result);
            }
            Ok(Answer::Depending(descriptor, on_execute, effect)) => {
                let result = self.inject(notification, descriptor, on_execute, Some(*effect));
                self.finish(notification, result);
            }
            Ok(Answer::Continue(_)) => {
                let _ = notify::let_continue(listener, id);
            }
            Ok(Answer::Later) => {}
            Err(Errno(errno)) => self.finish(notification, Err(errno)),
        }
    }

    /// Hands a descriptor over and closes our copy: the target's number for it.
    fn inject(
        &self,
        notification: &Notification,
        descriptor: OwnedFd,
        on_execute: OnExecute,
        effect: Option<Effect>,
    ) -> Result<i64, i32> {
        let listener = self.station.listener.as_fd();
        let injected = notify::inject(listener, notification.id, descriptor.as_fd(), on_execute);
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
        let sent = notify::answer(self.station.listener.as_fd(), notification.id, value, errno);
        if self.station.is_interruptible
            && sent.is_err_and(|error| error.raw_os_error() == Some(libc::ENOENT))
            && result.is_ok()
        {
            let call = (notification.number, notification.arguments);
            self.shared.remember(notification.thread, Replay { call, result });
        }
    }

    /// Starts another worker where a call waits and nobody is free for it.
    fn call_for_help(&self) {
        let is_enough = || self.shared.workers.load(Ordering::Relaxed) >= most_workers();
        if !self.shared.is_busy() || is_enough() || !self.station.has_more() {
            return;
        }
        let (shared, station) = (Arc::clone(&self.shared), Arc::clone(&self.station));
        let (ready, is_ready) = sync_channel(1);
        let spawned = spawn(move || {
            // Until then it has copies of what this thread is about to hand over.
            if station.isolation.begin_another(&mut station.numbers()).is_ok() {
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
pub(super) fn spawn(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
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
    pub judge: Bench<'a>,
    pub notification: &'a Notification,
    place: Cell<Place>,
    detour: Cell<Option<Detour>>,
}

/// What is to become of a call that isn't answered here.
pub enum Detour {
    /// Somebody is asked about this.
    Ask(Box<Refusal>),
    /// It is made beyond the workers' domain.
    Beyond,
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

    /// What was granted for this call alone.
    pub fn once(&self) -> &'a Opened {
        self.judge.once
    }

    /// Leaves a call that is refused here to somebody else. The first reason counts.
    pub fn divert(&self, detour: Detour) {
        let first = self.detour.take();
        self.detour.set(Some(first.unwrap_or(detour)));
    }

    /// Goes where what was granted can be reached: the first time by handing the call over, which `errno` stands for
    /// meanwhile, and there by confining the thread before anything is done.
    pub fn reach_what_was_granted(&self, errno: Errno) -> Result<(), Errno> {
        match self.place.get() {
            Place::Worker => {
                self.divert(Detour::Beyond);
                Err(errno)
            }
            Place::Beyond => {
                approvals::confine(self)?;
                self.place.set(Place::Confined);
                Ok(())
            }
            Place::Confined => Ok(()),
        }
    }

    /// The relay, and where its visitors are announced.
    pub fn network(&self) -> Option<(&'a Network, BorrowedFd<'a>)> {
        let network = self.shared().network.as_deref()?;
        Some((network, self.station().bell.as_ref()?.as_fd()))
    }

    /// Hands the call to a thread of its own, because it may take long: the other calls go on.
    ///
    /// The thread shares this one's descriptors, so that what `task` owns is closed once.
    pub fn later(
        &self,
        task: impl FnOnce(&Desk<'_>) -> Result<Answer, Errno> + Send + 'static,
    ) -> Result<Answer, Errno> {
        let worker = self.worker.clone();
        let notification = *self.notification;
        let labels = self.judge.labels.clone();
        let leave = Leave {
            once: self.once().clone(),
            place: self.place.get(),
        };
        let slow = Slow::begin(&worker.shared).ok_or(Errno(libc::EAGAIN))?;
        spawn(move || {
            let _slow = slow;
            if worker.station.isolation.leave_directory().is_err() {
                worker.answer(&notification, Err(Errno(libc::EPERM)));
                return;
            }
            worker.work(&notification, &labels, leave, task);
        })?;
        Ok(Answer::Later)
    }

    /// The mode to make something with, so that it gets the caller's umask: this thread takes it on, or, where the
    /// umask isn't this thread's own, the bits are taken away here. What our own umask takes away then stays away.
    pub fn mode_under_umask(&self, mode: u32) -> u32 {
        let differ = self.shared().umasks_differ.load(Ordering::Relaxed);
        let umask = if differ {
            self.caller().umask()
        } else {
            self.station().umask
        };
        match self.station().isolation {
            Isolation::Own => {
                file::set_umask(umask);
                mode
            }
            Isolation::Shared => mode & !umask,
        }
    }

    /// The call's name.
    pub fn call_name(&self) -> &'static str {
        let number = u32::try_from(self.notification.number).unwrap_or(u32::MAX);
        crate::plan::filter::Architecture::native()
            .and_then(|architecture| crate::plan::calls::name(number, architecture))
            .unwrap_or("unknown")
    }
}

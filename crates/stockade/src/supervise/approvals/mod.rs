//! Approvals while a run is alive: a refused call becomes a question, and a yes lets the call be made after all.
//!
//! The worker that refuses a call doesn't answer it but hands it over as a [`Question`]. The **prompt queue**, a thread
//! of the run's, keeps the questions: one open at a time for each directory or host, no target twice, a limited number
//! in all. The **approver pool**, which is unconfined, calls the approver on its threads. On a yes the call is handled
//! again from the start: it is read, resolved and judged again, now with the new grant. On a no, a time-out or any
//! error the call gets the answer that it would have got at once.
//!
//! The workers' Landlock domain doesn't include later grants. A **retry thread** makes such calls: it reads and judges
//! the call and then confines itself to that domain widened by the grants.

mod approved_grants;
mod approver_pool;
mod decision;
mod hold;
mod log;
mod prompt_queue;
mod question;
mod retry_thread;
mod writing;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

pub use approved_grants::{ApprovedGrants, CallGrants, CallSite};
pub use approver_pool::ApproverPool;
pub use log::Considered;
pub use prompt_queue::PromptQueue;
pub use question::{Message, Question};
pub use retry_thread::{Job, RetryThread, confine};

use crate::approve::{Approver, Lifetime, Unit};
use crate::mutex::lock;
use crate::policy::Policy;
use crate::report::{self, Escalation, Refusal, Setting};
use hold::Gate;
use log::Log;

/// The approver and the facts that questions need.
pub struct Asking {
    /// The approver.
    pub approver: Arc<dyn Approver>,
    /// How long one question may stay open.
    pub timeout: Duration,
    /// The unit of a question: a grant or a profile.
    pub unit: Unit,
    /// The lifetimes that a grant may have.
    pub lifetimes: Vec<Lifetime>,
    /// The run's id.
    pub run: String,
    /// The run's command.
    pub command: Vec<String>,
    /// The caller's home.
    pub home: Option<PathBuf>,
    /// The agent that the run acts for.
    pub agent: Option<String>,
    /// The hash of the script, if the run is started for a script.
    pub script: Option<String>,
    /// The shipped profiles, for [`Unit::Profile`].
    pub profiles: Box<dyn Profiles>,
}

/// The shipped profiles, resolved for a run.
pub trait Profiles: Send + Sync {
    /// The lowest profile that allows this access and all that the run has; never `trusted`.
    fn lowest(&self, refusal: &Refusal) -> Option<String>;
    /// The policy that a profile would grant here.
    fn policy(&self, name: &str) -> Option<Policy>;
}

/// The approvals of one run.
pub struct Approvals {
    asking: Asking,
    opened: RwLock<ApprovedGrants>,
    log: Mutex<Log>,
    prompt_queue: Mutex<Option<Sender<Message>>>,
    beyond: Mutex<Option<Sender<Job>>>,
    clock: Mutex<Clock>,
    gate: Gate,
}

/// The time that the run has waited for answers.
#[derive(Debug, Default)]
struct Clock {
    waited: Duration,
    since: Option<Instant>,
}

impl Approvals {
    pub fn new(asking: Asking) -> Approvals {
        Approvals {
            log: Mutex::new(Log::new(asking.approver.is_limited())),
            asking,
            opened: RwLock::default(),
            prompt_queue: Mutex::default(),
            beyond: Mutex::default(),
            clock: Mutex::default(),
            gate: Gate::default(),
        }
    }

    /// The approver.
    pub fn approver(&self) -> Arc<dyn Approver> {
        Arc::clone(&self.asking.approver)
    }

    /// The grants that last until the run ends.
    pub fn opened(&self) -> RwLockReadGuard<'_, ApprovedGrants> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a refused access is to be handled.
    pub fn consider(&self, refusal: &Refusal, policy: &Policy) -> Considered {
        let setting = Setting {
            policy,
            home: self.asking.home.as_deref(),
            command: &self.asking.command,
            opens_guarded: self.asking.approver.may_open_guarded(),
        };
        if report::offer(refusal, &setting).is_none() {
            return Considered::Plain;
        }
        self.log().consider(refusal)
    }

    /// Hands a question to the prompt queue; returns it if there is no queue.
    pub fn ask(&self, question: Box<Question>) -> Result<(), Box<Question>> {
        let prompt_queue = lock(&self.prompt_queue);
        let Some(prompt_queue) = prompt_queue.as_ref() else {
            return Err(question);
        };
        prompt_queue
            .send(Message::Question(question))
            .map_err(|unsent| match unsent.0 {
                Message::Question(question) => question,
                Message::Answered(..) | Message::Over => unreachable!("it was a question"),
            })
    }

    /// Queues a call for the retry thread; returns whether that was possible.
    pub fn go_beyond(&self, job: Job) -> bool {
        let beyond = lock(&self.beyond);
        beyond.as_ref().is_some_and(|beyond| beyond.send(job).is_ok())
    }

    /// Registers the prompt queue and the retry channel.
    pub fn employ(&self, prompt_queue: Sender<Message>, beyond: Sender<Job>) {
        *lock(&self.prompt_queue) = Some(prompt_queue);
        *lock(&self.beyond) = Some(beyond);
    }

    /// Waits while the run is stopped and no call may be answered.
    pub fn wait_for_hold(&self) {
        self.gate.pass();
    }

    /// Ends asking and retrying: no process of the run is left.
    pub fn close(&self) {
        if let Some(prompt_queue) = lock(&self.prompt_queue).take() {
            let _ = prompt_queue.send(Message::Over);
        }
        lock(&self.beyond).take();
    }

    /// The time that questions have been open; it doesn't count as the run's time.
    pub fn waited(&self) -> Duration {
        let clock = lock(&self.clock);
        clock.waited + clock.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The questions and answers, for the report; `None` if nothing was asked.
    pub fn escalation(&self) -> Option<Escalation> {
        self.log().escalation()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        lock(&self.log)
    }

    /// Counts the time while at least one question is open.
    fn count_time(&self, is_asking: bool) {
        let mut clock = lock(&self.clock);
        match (is_asking, clock.since) {
            (true, None) => clock.since = Some(Instant::now()),
            (false, Some(since)) => {
                clock.waited += since.elapsed();
                clock.since = None;
            }
            _ => {}
        }
    }
}

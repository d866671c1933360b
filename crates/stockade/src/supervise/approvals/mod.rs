//! Approvals while a run is alive: a refused call becomes a question, and a yes lets the call be made after all.
//!
//! The worker that refuses a call doesn't answer it but hands it over as a [`Question`]. The **prompt queue**, a thread
//! of the run's, keeps the questions: one open at a time for each directory or host, no target twice, a limited number
//! in all. The **approver pool**, which is unconfined, calls the approver on its threads. On a yes the call is handled
//! again from the start: it is read, resolved and judged again, now with the new grant. On a no, a time-out or any
//! error the call gets the answer that it would have got at once.
//!
//! The workers' Landlock domain doesn't include later grants: such a call is handed to a thread outside of it, which enters the
//! domain widened by the grants.

mod approved_grants;
mod approver_pool;
mod asking;
mod call_grants;
mod decision;
mod gate;
mod hold;
mod keys;
mod prompt_queue;
mod question;
mod question_limits;
mod writing;

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::RwLockReadGuard;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::Instant;

pub use approved_grants::ApprovedGrants;
pub use approver_pool::ApproverPool;
pub use asking::Asking;
pub use asking::Profiles;
pub use call_grants::CallGrants;
pub use call_grants::CallSite;
pub use gate::Gate;
pub use hold::Hold;
pub use prompt_queue::CallServer;
pub use prompt_queue::PromptQueue;
pub use question::Message;
pub use question::PendingCall;
pub use question::Question;
pub use question_limits::Considered;

use crate::approve::Approver;
use crate::mutex::lock;
use crate::report;
use crate::report::Escalation;
use crate::report::Refusal;
use crate::report::Setting;
use crate::supervise::state::journal::Journal;
use question_limits::QuestionLimits;

/// What the thread outside the workers' domain is given to do.
pub type UnconfinedTask = Box<dyn FnOnce() + Send>;

/// The approvals of one run.
pub struct Approvals {
    asking: Asking,
    journal: Arc<Journal>,
    opened: RwLock<ApprovedGrants>,
    limits: Mutex<QuestionLimits>,
    prompt_queue: Mutex<Option<Sender<Message>>>,
    unconfined: Mutex<Option<Sender<UnconfinedTask>>>,
    clock: Mutex<Clock>,
    gate: Arc<Gate>,
}

/// The time that the run has waited for answers.
#[derive(Debug, Default)]
struct Clock {
    waited: Duration,
    since: Option<Instant>,
}

impl Approvals {
    pub fn new(asking: Asking, journal: Arc<Journal>) -> Approvals {
        Approvals {
            limits: Mutex::new(QuestionLimits::new(asking.approver.is_limited())),
            asking,
            journal,
            opened: RwLock::default(),
            prompt_queue: Mutex::default(),
            unconfined: Mutex::default(),
            clock: Mutex::default(),
            gate: Arc::default(),
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
    pub fn consider(&self, refusal: &Refusal) -> Considered {
        let setting = Setting {
            policy: &self.journal.policy.run_config.policy,
            home: self.asking.home.as_deref(),
            command: &self.asking.command,
            opens_guarded: self.asking.approver.may_open_guarded(),
        };
        if report::offer(refusal, &setting).is_none() {
            return Considered::Plain;
        }
        self.limits().consider(refusal)
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

    /// Gives a task to the thread outside the workers' domain; returns whether there is one.
    pub fn run_unconfined(&self, task: UnconfinedTask) -> bool {
        let unconfined = lock(&self.unconfined);
        unconfined
            .as_ref()
            .is_some_and(|unconfined| unconfined.send(task).is_ok())
    }

    /// Registers the prompt queue and the thread outside the workers' domain.
    pub fn register(&self, prompt_queue: Sender<Message>, unconfined: Sender<UnconfinedTask>) {
        *lock(&self.prompt_queue) = Some(prompt_queue);
        *lock(&self.unconfined) = Some(unconfined);
    }

    /// The gate that answers pass.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
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
        lock(&self.unconfined).take();
    }

    /// The time that questions have been open; it doesn't count as the run's time.
    pub fn waited(&self) -> Duration {
        let clock = lock(&self.clock);
        clock.waited + clock.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The questions and answers, for the report; `None` if nothing was asked.
    pub fn escalation(&self) -> Option<Escalation> {
        self.limits().escalation()
    }

    fn limits(&self) -> MutexGuard<'_, QuestionLimits> {
        lock(&self.limits)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::GrantExtent;
    use crate::report::{FlagGrant, Kind, Reason};
    use crate::supervise::state::nested_runs::CallerRuns;
    use crate::supervise::testing::{Silent, approvals, asking, notification, policy, refusal, run_config};

    impl Approvals {
        /// Adds a grant that lasts.
        pub(in crate::supervise) fn open(&self, grant: &FlagGrant) {
            crate::mutex::write_lock(&self.opened).add(grant, GrantExtent::Subtree, "ada");
        }
    }

    fn none() -> Approvals {
        approvals(asking(Silent), run_config(policy(Vec::new())))
    }

    pub(super) fn question(id: u64, kind: Kind, target: &str) -> Question {
        Question {
            call: PendingCall {
                notification: notification(id),
                nested_runs: CallerRuns {
                    list: Vec::new(),
                    top: 1,
                    is_certain: true,
                },
                call_grants: CallGrants::default(),
            },
            refusal: refusal(kind, target),
            errno: libc::EACCES,
        }
    }

    #[test]
    fn what_no_grant_would_open_is_refused_plainly() {
        let approvals = none();
        let mut never = refusal(Kind::Read, "/x/a");
        never.reason = Reason::Never("never".into());
        assert_eq!(approvals.consider(&never), Considered::Plain);
        assert_eq!(approvals.consider(&refusal(Kind::Execute, "/x/a")), Considered::Plain);
        assert_eq!(
            approvals.consider(&refusal(Kind::Read, "/proc/1/status")),
            Considered::Plain
        );
        assert_eq!(approvals.consider(&refusal(Kind::Read, "/x/a")), Considered::Ask);
    }

    #[test]
    fn a_question_comes_back_where_no_queue_takes_it() {
        let approvals = none();
        let returned = approvals.ask(Box::new(question(7, Kind::Read, "/x/a"))).unwrap_err();
        assert_eq!(returned.call.notification.id, 7);
        assert!(!approvals.run_unconfined(Box::new(|| ())));
    }

    #[test]
    fn closing_ends_the_queue_and_the_thread_for_tasks() {
        let approvals = none();
        let (questions, inbox) = std::sync::mpsc::channel();
        let (tasks, to_do) = std::sync::mpsc::channel::<UnconfinedTask>();
        approvals.register(questions, tasks);
        assert!(approvals.ask(Box::new(question(7, Kind::Read, "/x/a"))).is_ok());
        assert!(approvals.run_unconfined(Box::new(|| ())));
        approvals.close();
        assert!(matches!(inbox.recv(), Ok(Message::Question(_))));
        assert!(matches!(inbox.recv(), Ok(Message::Over)));
        assert!(to_do.recv().is_ok() && to_do.recv().is_err());
        assert!(approvals.ask(Box::new(question(8, Kind::Read, "/x/a"))).is_err());
    }

    #[test]
    fn only_the_time_with_an_open_question_is_the_runs_waiting() {
        let approvals = none();
        assert_eq!(approvals.waited(), Duration::ZERO);
        approvals.count_time(true);
        approvals.count_time(true);
        approvals.count_time(false);
        let waited = approvals.waited();
        assert!(waited > Duration::ZERO);
        approvals.count_time(false);
        assert_eq!(approvals.waited(), waited);
    }
}

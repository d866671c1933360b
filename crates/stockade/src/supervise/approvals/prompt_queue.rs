//! The prompt queue: the thread that keeps a run's questions. It asks one at a time per group, receives the answers,
//! and checks on waiting calls: a signal takes a call back, and none waits longer than the timeout.
//!
//! It shares the first worker's descriptors and domain. One question stands for all calls with the same target, and
//! only so many are asked (`question_limits.rs`). Of several calls that wait for a yes for once the first is made; the others ask
//! again. What a yes turns out not to open isn't asked about again. The end of the target withdraws the question.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use super::approver_pool::{ApproverPool, PromptJob};
use super::hold::Hold;
use super::keys::{Group, QuestionKey};
use super::question::{Message, PendingCall, Question};
use super::question_limits::{Considered, not_opened};
use super::{Approvals, decision, writing};
use crate::approve::{Answer, Choice, Deadline, EscalationRequest, Manner, Requested};
use crate::audit::{Decided, Granted, Record};
use crate::fault::{self, Fault};
use crate::policy::Policy;
use crate::report::{Declined, Escalated, FaultyPart, Reason};
use crate::supervise::call::errno::Errno;
use crate::supervise::state::journal::Journal;
use decision::AnswerEffect;
use stockade_sys::notify::Notification;
use stockade_sys::signals::stop_as_by_key;
use writing::Offered;

/// The interval at which waiting calls are checked.
const SLICE: Duration = Duration::from_millis(50);
/// The time that an approver may take beyond its timeout before it is given up.
const GRACE: Duration = Duration::from_secs(2);
/// Most calls that wait at once; further ones are refused.
const MAX_WAITING: usize = 256;

/// What the queue needs of the threads that serve the run's calls.
pub trait CallServer: Send {
    /// Handles a call again from the start, on a thread of its own in the workers' domain.
    fn again(&self, call: PendingCall) -> io::Result<()>;
    /// Fails a call, even while the run is stopped.
    fn refuse_now(&self, call: &Notification, errno: Errno);
    /// Whether a signal has taken the call back.
    fn is_interrupted(&self, call: &Notification) -> bool;
    /// Stops the whole run; an error says why that isn't possible.
    fn hold(&self) -> Result<Hold, &'static str>;
}

/// The prompt queue of one run.
pub struct PromptQueue {
    server: Box<dyn CallServer>,
    approvals: Arc<Approvals>,
    approver_pool: ApproverPool,
    inbox: Receiver<Message>,
    replies: Sender<Message>,
    open: Vec<OpenPrompt>,
    waiting: VecDeque<Question>,
    /// Messages received while waiting for one particular answer.
    early: VecDeque<Message>,
    /// The stopped run, while a question is open on its terminal.
    hold: Option<Hold>,
    /// Calls to refuse once the run is resumed.
    held_back: Vec<(Notification, i32)>,
    /// All calls that still wait for an answer here, with the errno that they get if the thread panics.
    owed: Vec<(Notification, i32)>,
}

/// A question that the approver has been asked.
struct OpenPrompt {
    number: usize,
    group: Group,
    key: QuestionKey,
    request: EscalationRequest,
    offered: Offered,
    deadline: Deadline,
    begun: Instant,
    /// The calls that wait for its answer.
    calls: Vec<Question>,
}

impl PromptQueue {
    /// Starts the queue's thread with a worker; returns the channel for questions.
    pub fn start(
        server: Box<dyn CallServer>,
        approvals: Arc<Approvals>,
        approver_pool: ApproverPool,
    ) -> io::Result<Sender<Message>> {
        let (sender, inbox) = channel();
        let prompt_queue = PromptQueue {
            server,
            approvals,
            approver_pool,
            inbox,
            replies: sender.clone(),
            open: Vec::new(),
            waiting: VecDeque::new(),
            early: VecDeque::new(),
            hold: None,
            held_back: Vec::new(),
            owed: Vec::new(),
        };
        thread::Builder::new()
            .name("stockade-prompts".into())
            .stack_size(512 * 1024)
            .spawn(move || prompt_queue.serve())?;
        Ok(sender)
    }

    fn serve(mut self) {
        loop {
            match fault::contain(|| self.go_round()) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => self.start_over(&fault),
            }
        }
        self.open.iter().for_each(|open| open.deadline.withdraw());
        self.approvals.count_time(false);
    }

    /// Receives one message and does what is due; returns `false` once the run is over.
    fn go_round(&mut self) -> bool {
        match self.hear() {
            Ok(Message::Question(question)) => self.take(*question),
            Ok(Message::Answered(number, answer)) => self.answered(number, &answer),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Message::Over) | Err(RecvTimeoutError::Disconnected) => return false,
        }
        self.look_after();
        self.ask_next();
        self.approvals.count_time(!self.open.is_empty());
        true
    }

    /// After a panic: withdraws every question and refuses every waiting call.
    fn start_over(&mut self, fault: &Fault) {
        self.journal().faults.note(FaultyPart::Questions, fault);
        for open in std::mem::take(&mut self.open) {
            open.deadline.withdraw();
            self.wait_for_terminal(open.number);
            self.keep(&open, &Answer::silence("asking failed"), None);
            self.waiting.extend(open.calls);
        }
        self.hold = None;
        self.held_back.clear();
        for mut question in std::mem::take(&mut self.waiting) {
            question.refusal.reason = Reason::Declined(Box::new(by_stockade("asking failed")));
            self.journal().note(question.refusal);
        }
        for (notification, errno) in std::mem::take(&mut self.owed) {
            self.server.refuse_now(&notification, Errno(errno));
        }
        self.approvals.count_time(false);
    }

    /// Forgets a call that was answered, or that another thread will answer.
    fn settle(&mut self, notification: &Notification) {
        self.owed.retain(|(owed, _)| owed.id != notification.id);
    }

    fn hear(&mut self) -> Result<Message, RecvTimeoutError> {
        if let Some(message) = self.early.pop_front() {
            Ok(message)
        } else if self.open.is_empty() && self.waiting.is_empty() {
            self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            self.inbox.recv_timeout(SLICE)
        }
    }

    fn policy(&self) -> &Policy {
        &self.journal().policy.run_config.policy
    }

    fn journal(&self) -> &Journal {
        &self.approvals.journal
    }

    fn take(&mut self, mut question: Question) {
        self.owed.push((question.call.notification, question.errno));
        fault::point("questions", || &question.refusal.target);
        let considered = self.approvals.limits().consider(&question.refusal);
        if let Considered::Refused(declined) = considered {
            self.decline(question, declined);
            return;
        }
        let key = QuestionKey::of(&question.refusal);
        if question.call.call_grants.answered.contains(&key) {
            self.decline(question, not_opened());
            return;
        }
        if self.approvals.limits().has_granted(&key) {
            // It may have been judged before the yes.
            question.call.call_grants.answered.push(key);
            self.go_on(question);
            return;
        }
        if let Some(open) = self.open.iter_mut().find(|open| open.key == key) {
            open.calls.push(question);
        } else if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(question);
        } else {
            self.decline(question, by_stockade("too many calls wait for an answer"));
        }
    }

    /// Asks all questions that may be asked now.
    fn ask_next(&mut self) {
        let in_place = self.approvals.asking.approver.manner() == Manner::InPlace;
        if self.open.is_empty() && self.is_broken() {
            // The next question needs a new stop.
            self.let_go();
        }
        let mut index = 0;
        while index < self.waiting.len() && (!in_place || self.open.is_empty()) {
            let group = Group::of(&self.waiting[index].refusal);
            if self.open.iter().any(|open| open.group == group) {
                index += 1;
            } else if let Some(question) = self.waiting.remove(index) {
                self.ask(question);
            }
        }
        if self.open.is_empty() {
            self.let_go();
        }
    }

    fn ask(&mut self, question: Question) {
        let considered = self.approvals.limits().consider(&question.refusal);
        if let Considered::Refused(declined) = considered {
            self.decline(question, declined);
            return;
        }
        let in_place = self.approvals.asking.approver.manner() == Manner::InPlace;
        if in_place && let Err(reason) = self.hold_still() {
            self.decline(question, by_stockade(reason));
            return;
        }
        let Some(offered) = writing::offered(&self.approvals.asking, self.policy(), &question.refusal) else {
            self.decline(question, by_stockade("nothing sensible would allow it"));
            return;
        };
        let counted = self.approvals.limits().count();
        let number = match counted {
            Ok(number) => number,
            Err(declined) => {
                self.decline(question, declined);
                return;
            }
        };
        let asking = &self.approvals.asking;
        let mut request = writing::request(asking, self.policy(), &question.refusal, number, &offered);
        let group = Group::of(&question.refusal);
        request.granted_beside = self.approvals.limits().granted_beside(&group);
        request.refused_beside = self.approvals.limits().refused_beside(&group);
        self.journal().tell(|| Record::Asked(Box::new(request.clone())));
        let deadline = match &self.hold {
            Some(hold) => Deadline::of(asking.timeout).while_held(is_still_held(hold)),
            None => Deadline::of(asking.timeout),
        };
        self.approver_pool.send(PromptJob {
            number,
            request: request.clone(),
            deadline: deadline.clone(),
            reply: self.replies.clone(),
        });
        self.open.push(OpenPrompt {
            number,
            group: Group::of(&question.refusal),
            key: QuestionKey::of(&question.refusal),
            request,
            offered,
            deadline,
            begun: Instant::now(),
            calls: vec![question],
        });
    }

    /// Stops the whole run; an error says why that isn't possible.
    fn hold_still(&mut self) -> Result<(), &'static str> {
        if self.hold.is_none() {
            self.hold = Some(self.server.hold()?);
        }
        Ok(())
    }

    fn is_broken(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| !hold.is_unbroken())
    }

    /// Resumes the run.
    fn let_go(&mut self) {
        if self.hold.take().is_some() {
            for (notification, errno) in std::mem::take(&mut self.held_back) {
                self.refuse_now(&notification, errno);
            }
        }
    }

    /// Refuses a call: at once, or when the run is resumed.
    fn reply(&mut self, notification: Notification, errno: i32) {
        if self.hold.is_some() {
            self.held_back.push((notification, errno));
        } else {
            self.refuse_now(&notification, errno);
        }
    }

    fn refuse_now(&mut self, notification: &Notification, errno: i32) {
        self.server.refuse_now(notification, Errno(errno));
        self.settle(notification);
    }

    fn answered(&mut self, number: usize, answer: &Answer) {
        // The answer to a question that was given up comes too late.
        let Some(at) = self.open.iter().position(|open| open.number == number) else {
            return;
        };
        let open = self.open.remove(at);
        if open.deadline.is_interrupted() {
            self.give_way(open, answer);
            return;
        }
        if open.deadline.is_suspended() {
            self.suspend(open, answer);
            return;
        }
        // Checked after the answer was read and before anything is granted. The run stays stopped in between: what it
        // hasn't done by now it does only after the answer was carried out.
        if self.is_broken() {
            self.break_off(open);
        } else {
            self.close(open, answer);
        }
    }

    /// Handles Ctrl-C, which ends the run when it is resumed: the waiting calls are declined without asking.
    fn give_way(&mut self, open: OpenPrompt, answer: &Answer) {
        self.close(open, answer);
        for question in std::mem::take(&mut self.waiting) {
            self.decline(
                question,
                Declined {
                    by: Some(answer.by.clone()),
                    reason: answer.reason.clone(),
                },
            );
        }
    }

    /// Handles Ctrl-Z: stops this process with the run still held. Its shell lets both go on at once, so the run is held anew
    /// for the same questions.
    fn suspend(&mut self, open: OpenPrompt, answer: &Answer) {
        self.keep(&open, answer, None);
        stop_as_by_key();
        for question in open.calls.into_iter().rev() {
            self.waiting.push_front(question);
        }
        self.let_go();
    }

    /// Gives up a question because the run was resumed: the answer may be to a question that the run has drawn.
    fn break_off(&mut self, open: OpenPrompt) {
        open.deadline.break_off();
        self.close(open, &Answer::silence("the run went on while the question was open"));
    }

    /// Waits, with the run still stopped, until the approver's thread has given the terminal back: the run may end the
    /// moment it is resumed, and Stockade with it.
    fn wait_for_terminal(&mut self, number: usize) {
        let end = Instant::now() + GRACE;
        while self.hold.is_some() {
            let left = end.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Message::Answered(answered, _)) if answered == number => return,
                Ok(message) => self.early.push_back(message),
                Err(_) => return,
            }
        }
    }

    /// Carries out an answer.
    fn close(&mut self, open: OpenPrompt, answer: &Answer) {
        open.deadline.withdraw();
        let decision = decision::decide(&self.approvals.asking, &open.request, &open.offered, answer);
        let answer = match &decision {
            // An answer that doesn't fit the question counts as none.
            AnswerEffect::No(declined) if matches!(answer.choice, Choice::Yes { .. }) => {
                &Answer::silence(declined.to_string())
            }
            _ => answer,
        };
        let granted = match &decision {
            AnswerEffect::Yes(granting) => Some(granting.requested()),
            AnswerEffect::No(_) => None,
        };
        self.keep(&open, answer, granted);
        match decision {
            AnswerEffect::Yes(granting) => self.grant(open, answer, &granting),
            AnswerEffect::No(declined) => self.refuse(open, answer, &declined),
        }
    }

    fn keep(&self, open: &OpenPrompt, answer: &Answer, granted: Option<Requested>) {
        let evidence = &open.request.evidence;
        self.approvals.limits().keep(Escalated {
            id: open.request.id.clone(),
            access: evidence.access,
            target: evidence.target.clone(),
            requested: open.request.requested.clone(),
            answer: answer.clone(),
            granted,
            waited_ms: u64::try_from(open.begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
        self.journal().tell(|| {
            Record::Answered(Decided {
                request: open.request.id.clone(),
                answer: answer.clone(),
            })
        });
    }

    fn grant(&mut self, open: OpenPrompt, answer: &Answer, granting: &decision::Granting) {
        fault::point("granting", || &open.request.evidence.target);
        let lifetime = granting.open(
            &self.approvals.opened,
            self.journal(),
            (&open.request, open.calls.first().map(|call| &call.refusal)),
            answer,
        );
        self.journal().tell(|| {
            Record::Granted(Granted {
                request: open.request.id.clone(),
                granted: granting.requested(),
                lifetime,
                by: answer.by.clone(),
            })
        });
        self.approvals.limits().grant(&open.key, &open.group, granting.lasts());
        let mut calls = open.calls.into_iter();
        if let Some(mut question) = calls.next() {
            question.call.call_grants.answered.push(open.key);
            granting.for_one(&question.refusal, &mut question.call.call_grants.once, &answer.by);
            self.go_on(question);
        }
        // A yes for one call covers one call. A lasting one may cover the others; if it doesn't, they come back.
        self.waiting.extend(calls);
        for question in std::mem::take(&mut self.waiting) {
            if granting.lasts() && Group::of(&question.refusal) == open.group {
                self.go_on(question);
            } else {
                self.waiting.push_back(question);
            }
        }
    }

    fn refuse(&mut self, open: OpenPrompt, answer: &Answer, declined: &Declined) {
        {
            let mut limits = self.approvals.limits();
            if let Some(first) = open.calls.first() {
                limits.refuse(&first.refusal, declined.clone());
            }
            match answer.choice {
                Choice::No { all: true } => limits.end(declined.clone()),
                Choice::Silence => limits.hear_nothing(),
                Choice::No { all: false } | Choice::Yes { .. } => limits.hear_something(),
            }
        }
        for question in open.calls {
            self.decline(question, declined.clone());
        }
    }

    /// Handles the call again on a thread in the workers' domain, which passes it to one outside if needed.
    fn go_on(&mut self, question: Question) {
        let notification = question.call.notification;
        match self.server.again(question.call) {
            Ok(()) => self.settle(&notification),
            Err(_) => self.reply(notification, libc::EAGAIN),
        }
    }

    fn decline(&mut self, mut question: Question, declined: Declined) {
        question.refusal.reason = Reason::Declined(Box::new(declined));
        self.journal().note(question.refusal);
        self.reply(question.call.notification, question.errno);
    }

    /// Drops calls that were interrupted, and closes questions that took too long.
    fn look_after(&mut self) {
        let interrupted = self.interrupted();
        let is_broken = !self.open.is_empty() && self.is_broken();
        // Checked last. Ctrl-C is a signal too, which is announced before it is sent, and its answer is on its way.
        let gives_way = self.open.iter().any(|open| open.deadline.is_interrupted());
        if !gives_way {
            self.let_interrupted_go(interrupted);
        }
        let is_broken = is_broken && !gives_way;
        let limit = self.approvals.asking.timeout + GRACE;
        let mut index = 0;
        while index < self.open.len() {
            let is_late = self.open[index].begun.elapsed() > limit;
            if is_broken {
                let open = self.open.remove(index);
                let number = open.number;
                self.break_off(open);
                self.wait_for_terminal(number);
            } else if self.open[index].calls.is_empty() {
                let open = self.open.remove(index);
                open.deadline.withdraw();
                self.keep(&open, &Answer::silence("the program went on without an answer"), None);
                self.wait_for_terminal(open.number);
            } else if is_late {
                let open = self.open.remove(index);
                let answer = Answer::silence(format!(
                    "no answer within {} s",
                    self.approvals.asking.timeout.as_secs()
                ));
                self.close(open, &answer);
            } else {
                index += 1;
            }
        }
    }

    /// Waiting calls that a signal has interrupted.
    fn interrupted(&self) -> Vec<Notification> {
        let open = self.open.iter().flat_map(|open| &open.calls);
        let calls = self
            .waiting
            .iter()
            .chain(open)
            .map(|question| question.call.notification);
        calls.filter(|call| self.server.is_interrupted(call)).collect()
    }

    fn let_interrupted_go(&mut self, interrupted: Vec<Notification>) {
        let goes_on = |question: &Question| interrupted.iter().all(|call| call.id != question.call.notification.id);
        self.waiting.retain(goes_on);
        for open in &mut self.open {
            open.calls.retain(goes_on);
        }
        for notification in interrupted {
            self.reply(notification, libc::EINTR);
        }
    }
}

/// The check that the approver's thread makes while it asks.
fn is_still_held(hold: &Hold) -> impl Fn() -> bool + Send + Sync + 'static {
    let look = hold.look();
    move || look.is_unbroken()
}

fn by_stockade(reason: &str) -> Declined {
    Declined {
        by: Some("Stockade".into()),
        reason: Some(reason.into()),
    }
}

#[cfg(test)]
mod tests;

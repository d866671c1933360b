//! Threads that call the approver. They are unconfined and share the launcher's descriptors, since an approver opens
//! terminals and sockets and starts programs.
//!
//! Started by the launcher's own thread, outside every confinement. So an approver decides nothing: what an answer
//! grants is computed from what was offered (`decision.rs`), and what doesn't fit is a no.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

use super::question::Message;
use crate::approve::{Answer, Approver, Deadline, EscalationRequest};
use crate::fault;
use crate::report::{Faults, FaultyPart};
use stockade_sys::confine;

/// One question to put to the approver.
pub struct PromptJob {
    /// The prompt queue's number for the question.
    pub number: usize,
    pub request: EscalationRequest,
    pub deadline: Deadline,
    /// The channel on which the answer is sent.
    pub reply: Sender<Message>,
}

impl PromptJob {
    fn reply(&self, answer: Answer) {
        let _ = self.reply.send(Message::Answered(self.number, answer));
    }
}

/// The sending end of the pool. The pool ends when the last clone is dropped.
#[derive(Clone)]
pub struct ApproverPool(Sender<PromptJob>);

impl ApproverPool {
    /// Starts the pool from a thread of the launcher on which all signals are blocked.
    pub fn start(
        approver: Arc<dyn Approver>,
        faults: Arc<Faults>,
        holds_capabilities: bool,
    ) -> io::Result<ApproverPool> {
        let (sender, jobs) = channel();
        thread::Builder::new()
            .name("stockade-approver".into())
            .spawn(move || serve(&jobs, &approver, &faults, holds_capabilities))?;
        Ok(ApproverPool(sender))
    }

    /// Hands a job to the pool; answers with silence if the pool has ended.
    pub fn send(&self, job: PromptJob) {
        if let Err(unsent) = self.0.send(job) {
            unsent.0.reply(Answer::silence("there is no thread that asks"));
        }
    }
}

/// Starts a thread for each question, so that one that never returns doesn't hold up the others.
fn serve(jobs: &Receiver<PromptJob>, approver: &Arc<dyn Approver>, faults: &Arc<Faults>, holds_capabilities: bool) {
    if confine::drop_capabilities(holds_capabilities).is_err() {
        return;
    }
    for job in jobs {
        let (approver, faults) = (Arc::clone(approver), Arc::clone(faults));
        let (number, reply) = (job.number, job.reply.clone());
        let asking = thread::Builder::new()
            .name("stockade-asking".into())
            .spawn(move || ask(&job, approver.as_ref(), &faults));
        if asking.is_err() {
            let answer = Answer::silence("there was no thread to ask on");
            let _ = reply.send(Message::Answered(number, answer));
        }
    }
}

/// Asks the approver. A panic counts as no answer.
fn ask(job: &PromptJob, approver: &dyn Approver, faults: &Faults) {
    let asked = fault::contain(|| {
        fault::point("asker", || &job.request.evidence.target);
        approver.ask(&job.request, &job.deadline)
    });
    job.reply(asked.unwrap_or_else(|fault| {
        faults.note(FaultyPart::Approver, &fault);
        Answer::silence("asking failed")
    }));
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::Duration;

    use super::*;
    use crate::approve::Choice;
    use crate::report::Kind;
    use crate::supervise::approvals::writing::{offered, request};
    use crate::supervise::testing::{Silent, asking, policy, refusal};

    /// A question, and where its answer comes.
    fn job(number: usize, target: &str) -> (PromptJob, Receiver<Message>) {
        let (asking, policy, refusal) = (asking(Silent), policy(Vec::new()), refusal(Kind::Read, target));
        let offered = offered(&asking, &policy, &refusal).unwrap();
        let (reply, answers) = channel();
        let job = PromptJob {
            number,
            request: request(&asking, &policy, &refusal, number, &offered),
            deadline: Deadline::of(Duration::from_secs(60)),
            reply,
        };
        (job, answers)
    }

    fn answer(answers: &Receiver<Message>) -> (usize, Answer) {
        match answers.recv_timeout(Duration::from_secs(10)) {
            Ok(Message::Answered(number, answer)) => (number, answer),
            _ => panic!("no answer"),
        }
    }

    struct Panicking;

    impl Approver for Panicking {
        fn ask(&self, _: &EscalationRequest, _: &Deadline) -> Answer {
            panic!("on purpose")
        }
    }

    /// Answers once it is asked twice.
    struct BothAtOnce(Barrier);

    impl Approver for BothAtOnce {
        fn ask(&self, request: &EscalationRequest, _: &Deadline) -> Answer {
            self.0.wait();
            Answer::no(&request.evidence.target)
        }
    }

    #[test]
    fn a_panic_of_the_approver_is_silence_and_a_fault() {
        let faults = Arc::<Faults>::default();
        let pool = ApproverPool::start(Arc::new(Panicking), Arc::clone(&faults), false).unwrap();
        let (job, answers) = job(3, "/x/a");
        pool.send(job);
        let (number, answer) = answer(&answers);
        assert_eq!((number, answer.choice), (3, Choice::Silence));
        assert_eq!(faults.list()[0].part, FaultyPart::Approver);
    }

    #[test]
    fn a_question_that_is_open_does_not_hold_up_another() {
        let approver = Arc::new(BothAtOnce(Barrier::new(2)));
        let pool = ApproverPool::start(approver, Arc::default(), false).unwrap();
        let (first, first_answer) = job(1, "/x/a");
        let (second, second_answer) = job(2, "/y/a");
        pool.send(first);
        pool.send(second);
        assert_eq!(answer(&first_answer).1.by, "/x/a");
        assert_eq!(answer(&second_answer).1.by, "/y/a");
    }

    #[test]
    fn without_a_pool_there_is_no_answer() {
        let (sender, jobs) = channel();
        drop(jobs);
        let (job, answers) = job(1, "/x/a");
        ApproverPool(sender).send(job);
        assert_eq!(answer(&answers).1.choice, Choice::Silence);
    }
}

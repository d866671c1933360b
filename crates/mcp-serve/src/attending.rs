//! A call waits for its run: it passes questions on, tells its progress, and ends with the run or with the call.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitResult, ElicitationAction,
    ProgressNotificationParam, ProgressToken, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use tokio::time::{MissedTickBehavior, interval};

use crate::arguments::Grants;
use crate::child::Ended;
use crate::question::{Line, Question, Said, Yes};
use crate::running::Running;

/// How often a call tells its progress.
const TICK: Duration = Duration::from_secs(1);

/// The most questions of a run that wait for their turn. Stockade asks no more than this in a run.
const MAX_WAITING: usize = 50;

/// A run with its questions.
#[derive(Debug)]
pub struct Attended {
    /// The run.
    pub running: Running,
    /// What the client asked for.
    pub asked: Grants,
    /// Whether a person said yes to all of that.
    pub all_asked: bool,
    /// Questions that weren't put yet.
    pub waiting: VecDeque<Question>,
    /// Who answers, for the report.
    pub by: String,
}

/// Why a call stops waiting.
#[derive(Debug)]
pub enum Stopped {
    /// The run has ended.
    Ended(Box<Ended>),
    /// Questions wait for the client, which can't be asked within the call.
    Questions,
    /// The client doesn't wait any more.
    Cancelled,
}

/// How the client is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// By a request within the call.
    Request,
    /// By the call's result, which the client answers with the call made anew (protocol 2026-07-28).
    Result,
}

type Answering = Pin<Box<dyn Future<Output = Option<(Question, ElicitResult)>> + Send>>;

impl Attended {
    /// Waits for the next thing that the call has to tell.
    pub async fn wait(&mut self, context: &RequestContext<RoleServer>, manner: Manner) -> Stopped {
        let token = context.meta.get_progress_token();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.tick().await;
        let mut open: Option<(String, Answering)> = None;
        loop {
            if open.is_none()
                && manner == Manner::Request
                && let Some(question) = self.waiting.pop_front()
            {
                let id = question.id.clone();
                open = Some((id, Box::pin(ask(context.peer.clone(), question, self.asked.clone()))));
            }
            if manner == Manner::Result && !self.waiting.is_empty() {
                return Stopped::Questions;
            }
            tokio::select! {
                biased;
                () = context.ct.cancelled() => return Stopped::Cancelled,
                ended = &mut self.running.ended => return match ended {
                    Ok(ended) => Stopped::Ended(Box::new(ended)),
                    Err(_) => Stopped::Cancelled,
                },
                Some(line) = self.running.questions.recv() => match line {
                    Line::Question(question) => self.take(*question).await,
                    Line::Withdrawn(id) => {
                        self.waiting.retain(|question| question.id != id);
                        // The answer isn't needed: its dropped request is told to the client.
                        open = open.filter(|(open, _)| *open != id);
                    }
                },
                answered = answer(&mut open), if open.is_some() => {
                    open = None;
                    if let Some((question, result)) = answered {
                        self.answer(&question, &result).await;
                    }
                }
                _ = tick.tick() => self.progress(context, token.as_ref(), open.is_some()).await,
            }
        }
    }

    /// Answers a question at once where a person said yes to it beforehand; else it waits for its turn.
    async fn take(&mut self, question: Question) {
        if self.all_asked && question.is_covered(&self.asked) {
            return self.say(&question, &Said::Yes(Yes::Session)).await;
        }
        match self.waiting.len() < MAX_WAITING {
            true => self.waiting.push_back(question),
            false => {
                self.say(&question, &Said::No(Some("too many questions wait".into())))
                    .await
            }
        }
    }

    /// Passes a person's answer on.
    pub async fn answer(&mut self, question: &Question, result: &ElicitResult) {
        let said = question.said(result, &self.asked);
        if said == Said::Yes(Yes::AllAsked) {
            self.all_asked = true;
            for waiting in std::mem::take(&mut self.waiting) {
                Box::pin(self.take(waiting)).await;
            }
        }
        self.say(question, &said).await;
    }

    async fn say(&self, question: &Question, said: &Said) {
        // Where the run has ended meanwhile, the answer isn't needed.
        let _ = self.running.answers.send(question.answer(said, &self.by)).await;
    }

    async fn progress(&self, context: &RequestContext<RoleServer>, token: Option<&ProgressToken>, is_asked: bool) {
        let Some(token) = token else { return };
        let time = self.running.begun.elapsed();
        let bytes = self.running.heard.load(Ordering::Relaxed);
        let message = match is_asked {
            true => format!("waits for an answer; {} s, {bytes} bytes of output", time.as_secs()),
            false => format!("running for {} s, {bytes} bytes of output", time.as_secs()),
        };
        let told = ProgressNotificationParam::new(token.clone(), time.as_secs_f64()).with_message(message);
        // A client that doesn't read doesn't hold the run up.
        let _ = tokio::time::timeout(TICK, context.peer.notify_progress(told)).await;
    }
}

async fn answer(open: &mut Option<(String, Answering)>) -> Option<(Question, ElicitResult)> {
    match open {
        Some((_, answering)) => answering.as_mut().await,
        None => std::future::pending().await,
    }
}

/// Tells the client that a request's answer isn't needed, unless it came.
struct Withdrawal {
    peer: Peer<RoleServer>,
    request: Option<rmcp::model::RequestId>,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        let (peer, Some(request)) = (self.peer.clone(), self.request.take()) else {
            return;
        };
        let told = CancelledNotificationParam::new(Some(request), Some("the answer isn't needed any more".into()));
        tokio::spawn(async move { peer.notify_cancelled(told).await });
    }
}

/// Asks the person at the client. An error, a time-out and a result of another form count as no answer.
async fn ask(peer: Peer<RoleServer>, question: Question, asked: Grants) -> Option<(Question, ElicitResult)> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question.form(&asked)));
    let none = || ElicitResult::new(ElicitationAction::Cancel);
    let options = PeerRequestOptions::with_timeout(question.time());
    let Ok(handle) = peer.send_cancellable_request(request, options).await else {
        return Some((question, none()));
    };
    let mut withdrawal = Withdrawal {
        peer,
        request: Some(handle.id.clone()),
    };
    let result = match handle.await_response().await {
        Ok(ClientResult::ElicitResult(result)) => result,
        // The SDK reads a result of another form as it can; only one with an `action` is an answer.
        Ok(_) | Err(_) => none(),
    };
    withdrawal.request = None;
    Some((question, result))
}

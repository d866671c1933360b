//! The questions of the run: answered by a tool's grants or the client's roots, by the client's user, or by an approver.
//!
//! Every failure is a no, and so is an answer that comes too late.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use stockade_report::approve::{Answer, Approver, Choice, Deadline, EscalationRequest, Lifetime};

use crate::elicit::{self, Reply};
use crate::line::Lines;
use crate::listing::shown;
use crate::message::{Id, quoted};
use crate::refusal::{BY, NOTHING};
use crate::rules::{cover, requested};
use crate::session::Session;

/// The longest request.
const MAX_LENGTH: usize = 1 << 20;

/// Questions that are open to people at once.
const MAX_OPEN: usize = 8;

/// Questions to people within [`RATE_TIME`].
const MAX_AT_ONCE: usize = 20;
const RATE_TIME: Duration = Duration::from_secs(60);

/// How long a no counts for the same target.
const NO_LASTS: Duration = Duration::from_secs(120);

/// Targets with a no that are remembered.
const MAX_REMEMBERED: usize = 1024;

/// This much earlier than the run an answer is given up.
const EARLIER: Duration = Duration::from_millis(250);

/// What became of a request to the client.
pub(crate) enum Outcome {
    /// It was answered.
    Answered(Reply),
    /// The run doesn't wait any more.
    Withdrawn,
}

/// The limits of questions to people: a server can make a client ask without end.
#[derive(Default)]
pub(crate) struct Limits {
    open: usize,
    recent: VecDeque<Instant>,
    refused: HashMap<(String, String), Instant>,
}

impl Limits {
    /// Whether a question may be asked now; `Err` says why not.
    fn begin(&mut self, key: &(String, String)) -> Result<(), &'static str> {
        let now = Instant::now();
        self.refused.retain(|_, since| now.duration_since(*since) < NO_LASTS);
        while self
            .recent
            .front()
            .is_some_and(|time| now.duration_since(*time) > RATE_TIME)
        {
            self.recent.pop_front();
        }
        if self.refused.contains_key(key) {
            return Err("it was refused a short time ago");
        }
        if self.open >= MAX_OPEN {
            return Err("too many questions are open");
        }
        if self.recent.len() >= MAX_AT_ONCE {
            return Err("too much was asked within a minute");
        }
        self.open += 1;
        self.recent.push_back(now);
        Ok(())
    }

    fn end(&mut self, key: (String, String), is_yes: bool) {
        self.open = self.open.saturating_sub(1);
        if !is_yes && self.refused.len() < MAX_REMEMBERED {
            self.refused.insert(key, Instant::now());
        }
    }
}

/// A line of the run.
#[derive(Deserialize)]
struct Withdrawn {
    withdrawn: String,
}

/// How a question is stopped that isn't waited for any more.
enum Open {
    Form(Id),
    Approver(Deadline),
}

/// The conversation with the run.
struct Conversation {
    socket: Mutex<UnixStream>,
    open: Mutex<HashMap<String, Open>>,
}

impl Conversation {
    fn answer(&self, id: &str, answer: &Answer) {
        let mut line = serde_json::to_value(answer).unwrap_or_else(|_| json!({ "answer": "no" }));
        line["id"] = json!(id);
        line["version"] = json!(stockade_report::approve::VERSION);
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        // A run that is gone waits for no answer.
        let _ = socket.write_all(format!("{line}\n").as_bytes());
    }

    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers the questions of the run until it ends.
pub fn serve(session: &Arc<Session>, socket: UnixStream) {
    let Ok(reading) = socket.try_clone() else {
        return;
    };
    let conversation = Arc::new(Conversation {
        socket: Mutex::new(socket),
        open: Mutex::default(),
    });
    let mut lines = Lines::up_to(reading, MAX_LENGTH);
    while let Ok(Some(line)) = lines.next() {
        if let Ok(Withdrawn { withdrawn }) = serde_json::from_slice(line) {
            session.withdraw(conversation.open().remove(&withdrawn));
            continue;
        }
        let Ok(request) = serde_json::from_slice::<EscalationRequest>(line) else {
            // The run takes a no of all questions from the end of the conversation.
            return;
        };
        match session.by_rule(&request) {
            Some(answer) => conversation.answer(&request.id, &answer),
            None => ask_apart(session, &conversation, request),
        }
    }
}

/// Asks a person on a thread of its own.
fn ask_apart(session: &Arc<Session>, conversation: &Arc<Conversation>, request: EscalationRequest) {
    let id = request.id.clone();
    let (session, talk) = (Arc::clone(session), Arc::clone(conversation));
    let asking = thread::Builder::new().name("stockade-asking".into()).spawn(move || {
        let answer = session.by_person(&talk, &request);
        talk.open().remove(&request.id);
        talk.answer(&request.id, &answer);
    });
    if asking.is_err() {
        conversation.answer(&id, &no("there was no thread to ask on"));
    }
}

fn no(reason: &str) -> Answer {
    Answer::no(BY).because(reason)
}

impl Session {
    /// The answer that needs no person: a tool's grants, the client's roots, or that no one is there. `None`: ask.
    pub(super) fn by_rule(&self, request: &EscalationRequest) -> Option<Answer> {
        if !request.live {
            return Some(no(NOTHING));
        }
        let wanted = requested(request);
        let state = self.state();
        let running = || state.calls.running().map(|call| call.tool.as_str());
        // A call that its client gave up may still run: it only takes other calls' grants away.
        if state.calls.is_any_waited_for() && self.setup.rules.grant(running(), &wanted) {
            return Some(Answer::yes(Lifetime::Once, format!("{BY}, for the tool that runs")));
        }
        if cover(&state.roots, &wanted) {
            return Some(Answer::yes(Lifetime::Once, format!("{BY}, for the client's roots")));
        }
        let shows_form = self.can_show_form(&state);
        drop(state);
        let asks = shows_form || self.setup.approver.is_some() && (self.setup.is_attended)();
        (!asks).then(|| no(NOTHING))
    }

    fn can_show_form(&self, state: &crate::session::State) -> bool {
        self.setup.forms
            && state.shows_forms
            && !state.is_over
            && elicit::has_requests(&state.version)
            && state.calls.is_any_waited_for()
    }

    /// Asks the client's user, or the approver.
    fn by_person(&self, conversation: &Conversation, request: &EscalationRequest) -> Answer {
        let key = (
            request.evidence.access.name().to_owned(),
            request.evidence.target.clone(),
        );
        let shows_form = {
            let mut state = self.state();
            if let Err(reason) = state.limits.begin(&key) {
                return no(reason);
            }
            self.can_show_form(&state)
        };
        let answer = match (&self.setup.approver, shows_form) {
            (_, true) => self.by_form(conversation, request),
            (Some(approver), false) => by_approver(approver.as_ref(), conversation, request),
            (None, false) => no(NOTHING),
        };
        let is_yes = matches!(answer.choice, Choice::Yes { .. });
        self.state().limits.end(key, is_yes);
        answer
    }

    fn by_form(&self, conversation: &Conversation, request: &EscalationRequest) -> Answer {
        let by = "the client's user";
        let (sender, receiver) = channel();
        let (id, form) = {
            let mut state = self.state();
            if state.is_over {
                return Answer::silence("the client is gone");
            }
            let id = self.next_id(&mut state);
            state.asked.insert(id.clone(), sender);
            let mut tools: Vec<String> = state.calls.running().map(|call| call.tool.clone()).collect();
            tools.sort();
            tools.dedup();
            (id, elicit::form(request, &self.setup.name, &tools, &state.version))
        };
        conversation.open().insert(request.id.clone(), Open::Form(id.clone()));
        self.say(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"elicitation/create\",\"params\":{form}}}",
            id.json()
        ));
        let time = Duration::from_millis(request.timeout_ms).saturating_sub(EARLIER);
        match receiver.recv_timeout(time) {
            Ok(Outcome::Answered(Reply::Yes(lifetime, extent))) if elicit::offers(request, lifetime, &extent) => {
                Answer {
                    choice: Choice::Yes { lifetime, extent },
                    ..Answer::no(by)
                }
            }
            Ok(Outcome::Answered(Reply::Yes(..))) => Answer::no(by).because("the answer wasn't offered"),
            Ok(Outcome::Answered(Reply::No(Some(reason)))) => Answer::no(by).because(shown(&reason)),
            Ok(Outcome::Answered(Reply::No(None))) => Answer::no(by),
            Ok(Outcome::Withdrawn) => {
                self.cancel(&id, "the server doesn't wait for the answer any more");
                Answer::silence("the answer isn't needed any more")
            }
            Err(RecvTimeoutError::Timeout) => {
                self.cancel(&id, "there was no answer in time");
                Answer::silence("the client's user didn't answer in time")
            }
            Err(RecvTimeoutError::Disconnected) => Answer::silence("the client is gone"),
        }
    }

    /// Takes a request to the client back.
    fn cancel(&self, id: &Id, reason: &str) {
        self.state().asked.remove(id);
        self.say(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{},\"reason\":{}}}}}",
            id.json(),
            quoted(reason)
        ));
    }

    fn withdraw(&self, open: Option<Open>) {
        match open {
            Some(Open::Form(id)) => {
                let waiting = self.state().asked.remove(&id);
                if let Some(waiting) = waiting {
                    let _ = waiting.send(Outcome::Withdrawn);
                }
            }
            Some(Open::Approver(deadline)) => deadline.withdraw(),
            None => {}
        }
    }
}

fn by_approver(approver: &dyn Approver, conversation: &Conversation, request: &EscalationRequest) -> Answer {
    let deadline = Deadline::of(Duration::from_millis(request.timeout_ms).saturating_sub(EARLIER));
    conversation
        .open()
        .insert(request.id.clone(), Open::Approver(deadline.clone()));
    approver.ask(request, &deadline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_what_the_run_reads() {
        let as_read = |answer: &Answer| serde_json::to_value(answer).unwrap();
        let yes = as_read(&Answer::yes(Lifetime::Once, "x"));
        assert_eq!(
            yes,
            json!({ "answer": "yes", "lifetime": "once", "extent": "requested", "by": "x", "reason": null })
        );
        assert_eq!(
            as_read(&no("y")),
            json!({ "answer": "no", "all": false, "by": BY, "reason": "y" })
        );
        assert_eq!(as_read(&Answer::silence("z"))["answer"], "silence");
    }

    #[test]
    fn people_are_asked_a_limited_number_of_times() {
        let key = |target: usize| ("read".to_owned(), target.to_string());
        let mut limits = Limits::default();
        assert_eq!(limits.begin(&key(0)), Ok(()));
        limits.end(key(0), false);
        assert!(limits.begin(&key(0)).is_err());
        for target in 1..MAX_AT_ONCE {
            assert_eq!(limits.begin(&key(target)), Ok(()));
            limits.end(key(target), true);
        }
        assert!(limits.begin(&key(1)).is_err());
    }
}

//! The run's side of one question.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollTimeout, poll};

use super::Waiting;
use super::directory::Directory;
use super::stream::{Received, SocketStream};
use crate::approve::{Answer, Deadline, EscalationRequest, question, reply};

/// Interval at which the deadline is checked.
const SLICE: Duration = Duration::from_millis(100);
/// Interval of the search for watchers.
const ROUND: Duration = Duration::from_millis(200);
/// The line of a watcher that only lists questions: it answers none, and others may.
pub(super) const LISTED: &[u8] = b"";
/// The answerer of a no where an answer can't be used.
const US: &str = "stockade";

/// Asks all watchers and returns the first answer.
pub(super) fn ask(state: &Path, waiting: Waiting, request: &EscalationRequest, deadline: &Deadline) -> Answer {
    if question::line(request).is_none() {
        return Answer::no(US).because("the question is too long to be asked");
    }
    let mut asked = Asked::default();
    let mut looked: Option<Instant> = None;
    while let Some(left) = deadline.left() {
        if looked.is_none_or(|at| at.elapsed() >= ROUND) {
            asked.look_for_watchers(state, request, left);
            looked = Some(Instant::now());
        }
        if asked.streams.is_empty() && asked.was_left {
            return Answer::silence("`stockade approvals` ended before it answered");
        }
        if asked.streams.is_empty() && waiting == Waiting::OnlyWatched {
            return Answer::silence("no `stockade approvals` is watching");
        }
        if let Some(answer) = asked.listen(request, left.min(SLICE)) {
            return answer;
        }
    }
    let time = Duration::from_millis(request.timeout_ms);
    Answer::silence(match (deadline.is_withdrawn(), asked.names.is_empty()) {
        (true, _) => "the answer isn't needed any more".to_string(),
        (false, true) => format!("no `stockade approvals` came to answer within {time:?}"),
        (false, false) => format!("no answer within {time:?}"),
    })
}

/// The watchers that were asked.
#[derive(Default)]
struct Asked {
    /// All watchers ever asked, by socket name.
    names: BTreeSet<OsString>,
    /// The connections without an answer yet.
    streams: Vec<SocketStream>,
    /// One of them ended without an answer.
    was_left: bool,
}

impl Asked {
    /// Asks new watchers. Late ones have less time.
    fn look_for_watchers(&mut self, state: &Path, request: &EscalationRequest, left: Duration) {
        let Ok(directory) = Directory::open(state) else {
            return;
        };
        let mut names = directory.sockets();
        names.retain(|name| !self.names.contains(name));
        if names.is_empty() {
            return;
        }
        let left = left.as_millis().try_into().unwrap_or(u64::MAX);
        let request = EscalationRequest {
            timeout_ms: request.timeout_ms.min(left),
            ..request.clone()
        };
        let Some(line) = question::line(&request) else {
            return;
        };
        for name in names {
            let connected = directory.connect(&name);
            let stream = connected.and_then(|socket| SocketStream::new(socket, reply::MAX_LENGTH));
            if let Ok(mut stream) = stream {
                self.names.insert(name);
                // A watcher that is gone at once still counts as asked.
                match stream.say(&line) {
                    Ok(()) => self.streams.push(stream),
                    Err(_) => self.was_left = true,
                }
            }
        }
    }

    /// Waits for `time` at most; returns the first answer.
    fn listen(&mut self, request: &EscalationRequest, time: Duration) -> Option<Answer> {
        let mut waiting: Vec<PollFd<'_>> = self
            .streams
            .iter()
            .map(|stream| PollFd::new(stream.as_fd(), stream.interest()))
            .collect();
        // At least one millisecond, as the rest may be less.
        let time = PollTimeout::try_from(time.max(Duration::from_millis(1))).unwrap_or(PollTimeout::ZERO);
        let _ = poll(&mut waiting, time);
        let mut answer = None;
        self.streams.retain_mut(|stream| {
            if answer.is_some() {
                return false;
            }
            let heard = match stream.send() {
                Ok(()) => stream.hear(),
                // It may have answered before it closed.
                Err(_) => Some(stream.hear())
                    .filter(|heard| *heard != Received::Nothing)
                    .unwrap_or(Received::End),
            };
            match heard {
                Received::Nothing => return true,
                Received::End => self.was_left = true,
                Received::Line(line) if line == LISTED => {}
                Received::TooMuch => answer = Some(unusable("it is too long")),
                Received::Line(line) => {
                    let read = reply::read(&line, request, "somebody at approvals");
                    answer = Some(read.unwrap_or_else(|error| unusable(&error.to_string())));
                }
            }
            false
        });
        answer
    }
}

fn unusable(why: &str) -> Answer {
    Answer::no(US).because(format!("the watcher's answer can't be used: {why}"))
}

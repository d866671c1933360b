//! The program that started Stockade answers, over a socket that it left open: one line of JSON for each request, one for
//! each answer (`schemas/escalation.schema.json`).
//!
//! Several questions may be open at once, so an answer has to carry its question's `id`. A question that isn't waited for any
//! more is withdrawn by a line of its own. A line that isn't an answer ends the conversation: it and all later ones are a no.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use stockade_sys::socket as sys_socket;

use super::object::document;
use super::{Answer, Approver, Deadline, EscalationRequest, VERSION, question, reply};

/// Interval at which the deadline is checked, and at which an answer is found that another question's thread received.
const SLICE: Duration = Duration::from_millis(20);
/// Descriptors of the standard streams, which the run has too.
const STANDARD: std::ops::Range<i32> = 0..3;

/// The reason that a descriptor can't be asked.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    /// There is none of that number.
    #[error("descriptor {number} isn't open: {source}")]
    Closed {
        /// The number.
        number: i32,
        /// The cause.
        source: io::Error,
    },
    /// A file, a pipe, a datagram socket, a listener, a socket of a network.
    #[error("descriptor {0} isn't a connected unix stream socket")]
    NoSocket(i32),
    /// The run could answer.
    #[error("descriptor {0} is one of the standard streams, which the run has too")]
    Standard(i32),
}

/// Asks over an inherited socket.
#[derive(Debug)]
pub struct DescriptorApprover {
    number: i32,
    /// A copy to wait at while the conversation isn't locked.
    waited_at: OwnedFd,
    conversation: Mutex<ChannelState>,
    decides_each: bool,
}

impl DescriptorApprover {
    /// Takes a copy of this process's descriptor.
    ///
    /// # Errors
    /// It isn't a connected unix stream socket, or a standard stream is the same one.
    pub fn new(number: i32) -> Result<DescriptorApprover, DescriptorError> {
        let closed = |source| DescriptorError::Closed { number, source };
        if STANDARD.contains(&number) {
            return Err(DescriptorError::Standard(number));
        }
        let socket = stockade_sys::duplicate(number).map_err(closed)?;
        if !is_stream(&socket) {
            return Err(DescriptorError::NoSocket(number));
        }
        let inode = sys_socket::number(socket.as_fd()).map_err(closed)?;
        let is_same = |stream: &OwnedFd| is_stream(stream) && sys_socket::number(stream.as_fd()).ok() == Some(inode);
        let mut standard = STANDARD.filter_map(|number| stockade_sys::duplicate(number).ok());
        if standard.any(|stream| is_same(&stream)) {
            return Err(DescriptorError::Standard(number));
        }
        let socket = UnixStream::from(socket);
        socket.peer_addr().map_err(|_| DescriptorError::NoSocket(number))?;
        socket.set_nonblocking(true).map_err(closed)?;
        Ok(DescriptorApprover {
            number,
            waited_at: socket.as_fd().try_clone_to_owned().map_err(closed)?,
            conversation: Mutex::new(ChannelState::new(socket)),
            decides_each: false,
        })
    }

    /// The program decides each access by itself, and limits its own questions to people.
    #[must_use]
    pub fn deciding_each(self) -> Self {
        DescriptorApprover {
            decides_each: true,
            ..self
        }
    }

    fn name(&self) -> String {
        format!("descriptor {}", self.number)
    }

    fn no(&self, why: &str) -> Answer {
        Answer::no(self.name()).because(format!("the program that is asked {why}"))
    }

    fn with<T>(&self, action: impl FnOnce(&mut ChannelState) -> T) -> T {
        // A panic in another question's thread leaves lines that are cut at worst, and those are a no.
        action(&mut self.conversation.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for `time` at most until there is something to read, or room to write.
    fn wait(&self, events: PollFlags, time: Duration) {
        let mut waiting = [PollFd::new(self.waited_at.as_fd(), events)];
        // At least one millisecond, as the rest may be less.
        let time = PollTimeout::try_from(time.max(Duration::from_millis(1))).unwrap_or(PollTimeout::ZERO);
        let _ = poll(&mut waiting, time);
    }
}

impl Approver for DescriptorApprover {
    fn is_limited(&self) -> bool {
        !self.decides_each
    }

    /// What decides each access by itself is `mcp wrap`, which shows its client's user a form.
    fn may_open_guarded(&self) -> bool {
        self.decides_each
    }

    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        let Some(line) = question::line(request) else {
            return self.no("can't be: the question is too long");
        };
        self.with(|conversation| conversation.ask(&request.id, &line));
        let answer = loop {
            let Some(left) = deadline.left() else {
                break Answer::silence(match deadline.is_withdrawn() {
                    true => "the answer isn't needed any more".to_string(),
                    false => {
                        let time = Duration::from_millis(request.timeout_ms);
                        format!("the program that is asked didn't answer within {time:?}")
                    }
                });
            };
            match self.with(|conversation| conversation.go_on(&request.id)) {
                Step::Wait(events) => self.wait(events, left.min(SLICE)),
                Step::Answer(line) => {
                    let read = reply::read(&line, request, &self.name());
                    return read.unwrap_or_else(|error| self.no(&format!("gave no usable answer: {error}")));
                }
                Step::Over(why) => break self.no(why),
            }
        };
        self.with(|conversation| conversation.withdraw(&request.id));
        answer
    }
}

fn is_stream(socket: &OwnedFd) -> bool {
    let is = |found: io::Result<i32>, wanted| found.is_ok_and(|found| found == wanted);
    is(sys_socket::domain(socket.as_fd()), libc::AF_UNIX) && is(sys_socket::kind(socket.as_fd()), libc::SOCK_STREAM)
}

/// What a question's thread does next.
enum Step {
    Wait(PollFlags),
    Answer(Vec<u8>),
    /// There is no conversation any more.
    Over(&'static str),
}

/// The lines both ways.
#[derive(Debug)]
struct ChannelState {
    socket: UnixStream,
    unsent: Vec<u8>,
    heard: Vec<u8>,
    /// The open questions, and the answers that came for them.
    open: HashMap<String, Option<Vec<u8>>>,
    over: Option<&'static str>,
}

/// The field that tells whose answer a line is; the rest is read with the question.
#[derive(Deserialize)]
struct Addressed {
    id: String,
}

/// Tells that a question isn't waited for any more.
#[derive(Serialize)]
struct Withdrawn<'a> {
    version: u32,
    withdrawn: &'a str,
}

impl ChannelState {
    fn new(socket: UnixStream) -> ChannelState {
        ChannelState {
            socket,
            unsent: Vec::new(),
            heard: Vec::new(),
            open: HashMap::new(),
            over: None,
        }
    }

    fn ask(&mut self, id: &str, line: &[u8]) {
        self.open.insert(id.to_string(), None);
        self.unsent.extend_from_slice(line);
    }

    fn withdraw(&mut self, id: &str) {
        self.open.remove(id);
        let withdrawn = Withdrawn {
            version: VERSION,
            withdrawn: id,
        };
        self.unsent
            .extend(serde_json::to_vec(&withdrawn).expect("a text and a number"));
        self.unsent.push(b'\n');
        self.send();
    }

    /// Moves all bytes that can be moved now.
    fn go_on(&mut self, id: &str) -> Step {
        self.send();
        self.receive();
        if self.open.get(id).is_some_and(Option::is_some) {
            return Step::Answer(self.open.remove(id).flatten().unwrap_or_default());
        }
        match (self.over, self.unsent.is_empty()) {
            (Some(why), _) => Step::Over(why),
            (None, true) => Step::Wait(PollFlags::POLLIN),
            (None, false) => Step::Wait(PollFlags::POLLIN | PollFlags::POLLOUT),
        }
    }

    fn send(&mut self) {
        while !self.unsent.is_empty() && self.over.is_none() {
            match self.socket.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Answers that came before it closed are still there to be read.
                Err(_) => self.unsent.clear(),
            }
        }
    }

    fn receive(&mut self) {
        let mut buffer = [0; 16 * 1024];
        while self.over.is_none() {
            match self.socket.read(&mut buffer) {
                Ok(0) => self.over = Some("has closed the connection"),
                Ok(count) => self.hear(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.over = Some("has closed the connection"),
            }
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.heard.extend_from_slice(bytes);
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.heard.drain(..=end).collect();
            let Ok(Addressed { id }) = document(&line) else {
                self.over = Some("wrote a line that isn't an answer with an `id`");
                return;
            };
            // The first answer counts. One that comes for a withdrawn question is dropped.
            if let Some(place @ None) = self.open.get_mut(&id) {
                *place = Some(line);
            }
        }
        if self.heard.len() > reply::MAX_LENGTH {
            self.over = Some("says too much");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::fd::AsRawFd;
    use std::sync::Arc;
    use std::thread;

    use super::*;
    use crate::approve::samples::request;
    use crate::approve::{Choice, Lifetime};

    fn pair() -> (BufReader<UnixStream>, Arc<DescriptorApprover>) {
        let (far, near) = UnixStream::pair().unwrap();
        let approver = DescriptorApprover::new(near.as_raw_fd()).unwrap();
        (BufReader::new(far), Arc::new(approver))
    }

    fn asking(approver: &Arc<DescriptorApprover>, id: &str, time: u64) -> thread::JoinHandle<Answer> {
        let (approver, request) = (
            Arc::clone(approver),
            EscalationRequest {
                id: id.into(),
                ..request()
            },
        );
        thread::spawn(move || approver.ask(&request, &Deadline::of(Duration::from_secs(time))))
    }

    fn line(far: &mut BufReader<UnixStream>) -> serde_json::Value {
        let mut line = String::new();
        far.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn answer(far: &mut BufReader<UnixStream>, text: &str) {
        writeln!(far.get_mut(), "{text}").unwrap();
    }

    #[test]
    fn each_question_gets_the_answer_with_its_id() {
        let (mut far, approver) = pair();
        let (first, second) = (asking(&approver, "a", 20), asking(&approver, "b", 20));
        let mut ids = [line(&mut far), line(&mut far)].map(|request| request["id"].as_str().unwrap().to_string());
        ids.sort();
        assert_eq!(ids, ["a", "b"]);
        answer(&mut far, r#"{"id":"c","answer":"yes","lifetime":"once"}"#);
        answer(&mut far, r#"{"id":"b","answer":"no","reason":"not today"}"#);
        answer(&mut far, r#"{"id":"a","answer":"yes","lifetime":"session"}"#);
        assert!(matches!(
            first.join().unwrap().choice,
            Choice::Yes {
                lifetime: Lifetime::Session,
                ..
            }
        ));
        assert_eq!(second.join().unwrap().reason.as_deref(), Some("not today"));
    }

    #[test]
    fn the_first_answer_counts() {
        let (mut far, approver) = pair();
        let asked = asking(&approver, "a", 20);
        line(&mut far);
        let both = "{\"id\":\"a\",\"answer\":\"no\"}\n{\"id\":\"a\",\"answer\":\"yes\",\"lifetime\":\"once\"}";
        answer(&mut far, both);
        assert_eq!(asked.join().unwrap().choice, Choice::No { all: false });
    }

    #[test]
    fn a_question_that_is_over_is_withdrawn_and_a_late_answer_is_none() {
        let (mut far, approver) = pair();
        let asked = asking(&approver, "a", 0);
        assert_eq!(asked.join().unwrap().choice, Choice::Silence);
        assert_eq!(line(&mut far)["id"], "a");
        assert_eq!(line(&mut far)["withdrawn"], "a");
        answer(&mut far, r#"{"id":"a","answer":"yes","lifetime":"session"}"#);
        let again = asking(&approver, "b", 20);
        line(&mut far);
        answer(&mut far, r#"{"id":"b","answer":"no"}"#);
        assert_eq!(again.join().unwrap().choice, Choice::No { all: false });
    }

    #[test]
    fn a_line_that_isnt_an_answer_is_a_no_to_all() {
        let long = "x".repeat(reply::MAX_LENGTH + 1);
        for garbage in ["", "yes", r#"{"answer":"yes","lifetime":"session"}"#, r#"["a"]"#, &long] {
            let (mut far, approver) = pair();
            let asked = asking(&approver, "a", 20);
            line(&mut far);
            answer(&mut far, garbage);
            answer(&mut far, r#"{"id":"a","answer":"yes","lifetime":"session"}"#);
            assert_eq!(asked.join().unwrap().choice, Choice::No { all: false }, "{garbage}");
            assert_eq!(
                asking(&approver, "b", 20).join().unwrap().choice,
                Choice::No { all: false }
            );
        }
    }

    #[test]
    fn a_closed_connection_is_a_no() {
        let (mut far, approver) = pair();
        let asked = asking(&approver, "a", 20);
        line(&mut far);
        drop(far);
        let answer = asked.join().unwrap();
        assert_eq!(
            answer.reason.as_deref(),
            Some("the program that is asked has closed the connection")
        );
    }

    #[test]
    fn an_answer_given_before_the_end_counts() {
        let (mut far, approver) = pair();
        let asked = asking(&approver, "a", 20);
        line(&mut far);
        answer(&mut far, r#"{"id":"a","answer":"yes","lifetime":"once"}"#);
        drop(far);
        assert!(matches!(asked.join().unwrap().choice, Choice::Yes { .. }));
    }

    #[test]
    fn only_a_connected_unix_stream_is_asked() {
        let refused = |number: i32| DescriptorApprover::new(number).unwrap_err().to_string();
        let file = std::fs::File::open("/dev/null").unwrap();
        let (pipe, _end) = nix::unistd::pipe().unwrap();
        let listener = std::os::unix::net::UnixListener::bind(tempfile::tempdir().unwrap().path().join("s")).unwrap();
        let (datagram, _other) = std::os::unix::net::UnixDatagram::pair().unwrap();
        for socket in [
            file.as_raw_fd(),
            pipe.as_raw_fd(),
            datagram.as_raw_fd(),
            listener.as_raw_fd(),
        ] {
            assert!(refused(socket).contains("isn't a connected unix stream socket"));
        }
        assert!(refused(1).contains("standard streams"));
        assert!(refused(987_654).contains("isn't open"));
    }
}

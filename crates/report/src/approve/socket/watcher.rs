//! The watcher's side: it listens, collects questions and sends the answers.
//!
//! One thread does all of it, without blocking. Nothing here decides or prints.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::asking::LISTED;
use super::directory::{Directory, DirectoryError, is_same_user};
use super::stream::{Received, SocketStream};
use crate::approve::{Answer, Choice, EscalationRequest, question, reply};

/// Concurrent connections; a further one is closed, which is a no.
const CONNECTIONS: usize = 512;
/// The time in which a run must send its question.
const SAYS_WITHIN: Duration = Duration::from_secs(5);
/// How long past its deadline a run may keep a question open.
const LATE: Duration = Duration::from_secs(2);

/// The reason that a watcher can't serve or answer.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The socket's directory can't be used.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The socket can't be created.
    #[error("can't listen in `{}`", .path.display())]
    Listen {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The answer grants more than was asked.
    #[error("that can't be answered: {0}")]
    Unfit(String),
    /// The question is no longer open.
    #[error("this answer isn't needed any more")]
    Gone,
}

/// A question that waits for an answer.
#[derive(Debug)]
pub struct WaitingQuestion {
    /// Its number at this watcher, counted from 1.
    pub number: u32,
    /// The request. Its texts come from the confined program.
    pub request: EscalationRequest,
    /// The time at which the run stops waiting.
    pub deadline: Instant,
}

/// A change among the questions.
#[derive(Debug)]
pub enum WatchEvent {
    /// A question arrived.
    Came(u32),
    /// A question is no longer open: another watcher answered, its time is over, or the program doesn't wait.
    Gone(Box<WaitingQuestion>),
}

/// A watcher. Runs find it as long as the value lives; questions open at its end are refused.
#[derive(Debug)]
pub struct Watcher {
    directory: Directory,
    name: OsString,
    listener: UnixListener,
    connections: Vec<WatcherConnection>,
    last: u32,
}

#[derive(Debug)]
struct WatcherConnection {
    stream: SocketStream,
    since: Instant,
    question: Option<WaitingQuestion>,
}

impl Watcher {
    /// Starts to watch for the runs with this state directory (`$XDG_STATE_HOME/stockade`).
    ///
    /// # Errors
    /// The directory can't be created or isn't the user's alone; the socket can't be created there.
    pub fn begin(state: &Path) -> Result<Watcher, WatchError> {
        let directory = Directory::make(state)?;
        let failed = |source| WatchError::Listen {
            path: super::place(state),
            source,
        };
        let (listener, name) = directory.listen().map_err(failed)?;
        let watcher = Watcher {
            directory,
            name,
            listener,
            connections: Vec::new(),
            last: 0,
        };
        watcher.listener.set_nonblocking(true).map_err(failed)?;
        Ok(watcher)
    }

    /// The socket, for callers that have to remove it when the value can't be dropped.
    pub fn path(&self) -> PathBuf {
        self.directory.path_of(&self.name)
    }

    /// Waits until there is something to do, here or at one of the other descriptors.
    pub fn wait(&self, others: &[BorrowedFd<'_>], time: Duration) {
        let descriptors = self.connections.iter().map(|connection| connection.stream.as_fd());
        let mut waiting: Vec<PollFd<'_>> = std::iter::once(self.listener.as_fd())
            .chain(descriptors)
            .chain(others.iter().copied())
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        let _ = poll(&mut waiting, PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO));
    }

    /// Reads all available input.
    pub fn hear(&mut self) -> Vec<WatchEvent> {
        self.accept();
        let mut news = Vec::new();
        let last = &mut self.last;
        let connections = std::mem::take(&mut self.connections);
        for mut connection in connections {
            if connection.hear(last, &mut news) {
                self.connections.push(connection);
            } else if let Some(question) = connection.question {
                news.push(WatchEvent::Gone(Box::new(question)));
            }
        }
        news
    }

    fn accept(&mut self) {
        // A bounded number, because there may always be more.
        for _ in 0..CONNECTIONS {
            let Ok((socket, _)) = self.listener.accept() else {
                return;
            };
            let is_welcome = self.connections.len() < CONNECTIONS && is_same_user(&socket).unwrap_or(false);
            if let (true, Ok(stream)) = (is_welcome, SocketStream::new(socket, question::MAX_LENGTH)) {
                self.connections.push(WatcherConnection {
                    stream,
                    since: Instant::now(),
                    question: None,
                });
            }
        }
    }

    /// The open questions, in order of arrival.
    pub fn questions(&self) -> impl Iterator<Item = &WaitingQuestion> {
        self.connections
            .iter()
            .filter_map(|connection| connection.question.as_ref())
    }

    /// One open question.
    pub fn question(&self, number: u32) -> Option<&WaitingQuestion> {
        self.questions().find(|question| question.number == number)
    }

    /// Whether a client has connected that hasn't sent its question yet.
    pub fn expects_more(&self) -> bool {
        self.connections.iter().any(|connection| connection.question.is_none())
    }

    /// Leaves the open questions to others: they were only listed.
    pub fn leave(&mut self) {
        for mut connection in self.connections.drain(..) {
            let _ = connection.stream.say(&[LISTED, b"\n"].concat());
        }
    }

    /// Answers a question and removes it.
    ///
    /// # Errors
    /// The answer grants more than was asked; the question is no longer open.
    pub fn answer(&mut self, number: u32, answer: &Answer) -> Result<WaitingQuestion, WatchError> {
        let has_number = |connection: &WatcherConnection| {
            let question = connection.question.as_ref();
            question.is_some_and(|question| question.number == number)
        };
        let at = self.connections.iter().position(has_number).ok_or(WatchError::Gone)?;
        let request = &self.connections[at].question.as_ref().ok_or(WatchError::Gone)?.request;
        if let Choice::Yes { lifetime, extent } = &answer.choice {
            let fits = reply::may_be_granted(request, *lifetime, extent);
            fits.map_err(|error| WatchError::Unfit(error.to_string()))?;
        }
        let line = reply::line(request, answer);
        let mut connection = self.connections.remove(at);
        // An answer is short, and nothing was sent on this connection before, so it fits the buffer.
        match connection.stream.say(&line) {
            Ok(()) if connection.stream.has_sent() => connection.question.ok_or(WatchError::Gone),
            _ => Err(WatchError::Gone),
        }
    }
}

impl WatcherConnection {
    /// Reads all available input; returns whether the connection stays.
    fn hear(&mut self, last: &mut u32, news: &mut Vec<WatchEvent>) -> bool {
        match (self.stream.hear(), &self.question) {
            (Received::Nothing, None) => self.since.elapsed() < SAYS_WITHIN,
            (Received::Nothing, Some(question)) => Instant::now() < question.deadline + LATE,
            (Received::Line(line), None) => {
                let Some(request) = question::read(&line) else {
                    return false;
                };
                *last += 1;
                let time = Duration::from_millis(request.timeout_ms.min(24 * 3600 * 1000));
                self.question = Some(WaitingQuestion {
                    number: *last,
                    request,
                    deadline: Instant::now() + time,
                });
                news.push(WatchEvent::Came(*last));
                true
            }
            (Received::Line(_) | Received::TooMuch | Received::End, _) => false,
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.directory.remove(&self.name);
    }
}

//! The threads that carry lines between a client and its server.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::line::Lines;
use crate::queue::Queue;
use crate::session::{Passed, Session, serve};

/// The streams of a session, beside the one that it writes to its client.
pub struct Streams<I, O> {
    /// The client's lines.
    pub from_client: File,
    /// The server's standard input.
    pub to_server: I,
    /// The server's standard output.
    pub from_server: O,
    /// The questions of the run, and their answers.
    pub ask: UnixStream,
    /// The other end of the stream of refusals that the session reads, to wait at.
    pub events: UnixStream,
}

/// Starts to carry lines. The thread that is returned ends with the server's output.
///
/// # Errors
/// There is no thread.
pub fn start<I, O>(session: &Arc<Session>, streams: Streams<I, O>) -> io::Result<JoinHandle<()>>
where
    I: AsFd + Send + Sync + 'static,
    for<'i> &'i I: Write,
    O: Read + Send + 'static,
{
    let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| thread::Builder::new().name(name.into()).spawn(work);
    let Streams {
        from_client,
        to_server,
        from_server,
        ask,
        events,
    } = streams;
    let shared = Arc::clone(session);
    spawn("stockade-asked", Box::new(move || serve(&shared, ask)))?;
    let shared = Arc::clone(session);
    spawn("stockade-refusals", Box::new(move || follow(&shared, &events)))?;
    let queue = Arc::new(Queue::to(to_server));
    // Weak: the server's standard input ends with the threads that write to it.
    let weak = Arc::downgrade(&queue);
    let _ = session.server.set(Box::new(move |line| {
        weak.upgrade().map(|queue| queue.push(line.as_bytes()));
    }));
    let queued = Arc::clone(&queue);
    spawn("stockade-to-server", Box::new(move || write_to_server(&queued)))?;
    let shared = Arc::clone(session);
    spawn(
        "stockade-client",
        Box::new(move || serve_client(&shared, from_client, &queue)),
    )?;
    let shared = Arc::clone(session);
    spawn("stockade-server", Box::new(move || serve_server(&shared, from_server)))
}

/// Takes refusals as they come, so that the run always has room for more.
fn follow(session: &Session, events: &UnixStream) {
    loop {
        let mut waiting = [PollFd::new(events.as_fd(), PollFlags::POLLIN)];
        match poll(&mut waiting, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return,
            Ok(_) if !session.take_events() => return,
            Ok(_) => {}
        }
    }
}

fn serve_client<W: AsFd>(session: &Session, from_client: File, to_server: &Queue<W>)
where
    for<'w> &'w W: Write,
{
    let mut lines = Lines::of(from_client);
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                session.tell_end("the client", &error);
                break;
            }
        };
        let is_read = match session.of_client(line) {
            Passed::AsIs => to_server.push(line),
            Passed::Changed(text) => to_server.push(text.as_bytes()),
            Passed::Nothing => true,
        };
        if !is_read {
            break;
        }
    }
    to_server.end();
    session.end();
}

fn write_to_server<W: AsFd>(queue: &Queue<W>)
where
    for<'w> &'w W: Write,
{
    if !queue.write() {
        // The server reads no more: neither does this program, so that the client learns of it.
        close_standard_input();
    }
}

/// Carries the server's lines, and their end.
fn serve_server(session: &Session, from_server: impl Read) {
    let written = carry_to_client(session, from_server);
    session.end();
    session.close_client();
    // A client that is gone learns nothing, and by what it left open is seen to be gone.
    if written.is_ok() {
        close_standard_output();
    }
}

/// Returns an error if the client takes no more.
fn carry_to_client(session: &Session, from_server: impl Read) -> io::Result<()> {
    let mut lines = Lines::of(from_server);
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(error) => {
                session.tell_end("the server", &error);
                return Ok(());
            }
        };
        let _busy = session.carrying();
        match session.of_server(line) {
            Passed::AsIs => session.to_client(line)?,
            Passed::Changed(text) => session.to_client(text.as_bytes())?,
            Passed::Nothing => {}
        }
    }
}

/// Puts `/dev/null` in the place of standard input, which closes it for its writer.
fn close_standard_input() {
    if let Ok(nothing) = File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(&nothing);
    }
}

/// Puts `/dev/null` in the place of standard output: its reader learns that nothing more comes.
fn close_standard_output() {
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdout(&nothing);
    }
}

impl Session {
    fn tell_end(&self, writer: &str, error: &io::Error) {
        self.tell(&format!("no more lines of {writer} are read: {error}"));
    }
}

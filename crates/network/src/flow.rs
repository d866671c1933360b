//! One direction of a connection: moves bytes from one socket to the other, without copying where the kernel can.
//!
//! It reads more only when all bytes read are written, so a slow reader holds up its own writer and no other.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::pipe2;

/// The size set for a pipe. Larger ones count against the user's share (`pipe-user-pages-soft`).
const PIPE_SIZE: usize = 256 * 1024;
/// Bytes copied at once where there's no pipe.
const COPIED: usize = 64 * 1024;
/// Rounds that one connection is served before the others have their turn.
const ROUNDS: usize = 16;

/// A pipe through which the kernel moves bytes between two sockets.
struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    /// A reference held by each pipe, for counting them.
    _share: Rc<()>,
}

impl Pipe {
    fn new(share: Rc<()>) -> io::Result<Pipe> {
        let (out, into) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        let size = i32::try_from(PIPE_SIZE).expect("a small number");
        // A user with many pipes gets smaller ones.
        let _ = fcntl(&into, FcntlArg::F_SETPIPE_SZ(size));
        Ok(Pipe {
            out,
            into,
            _share: share,
        })
    }
}

/// The empty pipes. A connection has one only while bytes wait in it.
#[derive(Default)]
pub struct PipePool {
    empty: Vec<Pipe>,
    share: Rc<()>,
}

impl PipePool {
    /// The limit on all pipes together, so that slow readers take neither all descriptors nor the user's share of pages
    /// (`pipe-user-pages-soft`): 16 MiB of 64. A connection without a pipe has its bytes copied.
    pub const MAX: usize = 64;
    const MAX_EMPTY: usize = 16;

    fn take(&mut self) -> Option<Pipe> {
        if let Some(pipe) = self.empty.pop() {
            return Some(pipe);
        }
        let made = Rc::strong_count(&self.share) - 1;
        (made < Self::MAX).then(|| Pipe::new(Rc::clone(&self.share)).ok())?
    }

    fn put_back(&mut self, pipe: Pipe) {
        if self.empty.len() < Self::MAX_EMPTY {
            self.empty.push(pipe);
        }
    }
}

/// The state of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// One of the sockets isn't ready.
    Waiting,
    /// There may be more to move, after other connections had their turn.
    More,
    /// The end of the stream was passed on.
    Finished,
}

/// One direction.
#[derive(Default)]
pub struct Flow {
    /// Bytes that were read for checking and are still to be written.
    pending: Vec<u8>,
    pipe: Option<Pipe>,
    in_pipe: usize,
    copies: bool,
    source_ended: bool,
    finished: bool,
}

impl Flow {
    /// Queues bytes to be written before anything else.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Notes that the source has ended.
    pub fn end(&mut self) {
        self.source_ended = true;
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Moves all that can be moved without blocking.
    pub fn advance(&mut self, from: &TcpStream, to: &TcpStream, pipes: &mut PipePool) -> io::Result<Moved> {
        for _ in 0..ROUNDS {
            if self.finished {
                return Ok(Moved::Finished);
            }
            if !self.flush(to, pipes)? {
                return Ok(Moved::Waiting);
            }
            if self.source_ended {
                self.finish(to)?;
            } else if self.fill(from, PIPE_SIZE, pipes)?.is_none() {
                return Ok(Moved::Waiting);
            }
        }
        Ok(Moved::More)
    }

    /// Writes all bytes read; `false` if some couldn't be written yet.
    pub fn flush(&mut self, to: &TcpStream, pipes: &mut PipePool) -> io::Result<bool> {
        let mut to_write = to;
        let mut written = 0;
        while written < self.pending.len() {
            match unless_blocked(to_write.write(&self.pending[written..]))? {
                Some(count) => written += count,
                None => {
                    self.pending.drain(..written);
                    return Ok(false);
                }
            }
        }
        self.pending.clear();
        while let Some(pipe) = &self.pipe {
            if self.in_pipe == 0 {
                pipes.put_back(self.pipe.take().expect("just seen"));
                break;
            }
            match unless_blocked(move_bytes(pipe.out.as_fd(), to.as_fd(), self.in_pipe))? {
                Some(count) => self.in_pipe -= count,
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Once all earlier bytes are written, reads at most `most`. Returns the count: 0 at the end, `None` if nothing is
    /// there yet.
    pub fn take_some(&mut self, from: &TcpStream, most: u64, pipes: &mut PipePool) -> io::Result<Option<u64>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(PIPE_SIZE);
        Ok(self.fill(from, most, pipes)?.map(|count| count as u64))
    }

    /// Copies bytes from now on: the kernel doesn't splice past an urgent one.
    pub fn copy_from_now_on(&mut self) {
        self.copies = true;
    }

    fn fill(&mut self, from: &TcpStream, most: usize, pipes: &mut PipePool) -> io::Result<Option<usize>> {
        let pipe = if self.copies { None } else { pipes.take() };
        let Some(pipe) = pipe else {
            return self.copy(from, most);
        };
        let got = unless_blocked(move_bytes(from.as_fd(), pipe.into.as_fd(), most));
        match got {
            Ok(Some(count)) if count > 0 => {
                self.in_pipe = count;
                self.pipe = Some(pipe);
            }
            _ => pipes.put_back(pipe),
        }
        self.source_ended |= matches!(got, Ok(Some(0)));
        got
    }

    fn copy(&mut self, mut from: &TcpStream, most: usize) -> io::Result<Option<usize>> {
        let mut bytes = vec![0; COPIED.min(most)];
        let got = unless_blocked(from.read(&mut bytes))?;
        match got {
            Some(0) => self.source_ended = true,
            Some(count) => self.pending.extend_from_slice(&bytes[..count]),
            None => {}
        }
        Ok(got)
    }

    fn finish(&mut self, to: &TcpStream) -> io::Result<()> {
        self.finished = true;
        match to.shutdown(Shutdown::Write) {
            // It was reset meanwhile, which the other direction will notice.
            Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => Ok(()),
            other => other,
        }
    }
}

fn move_bytes(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    let flags = SpliceFFlags::SPLICE_F_MOVE | SpliceFFlags::SPLICE_F_NONBLOCK;
    splice(from, None, to, None, most, flags).map_err(io::Error::from)
}

/// `None` if the call would block. All signals are blocked here, so nothing interrupts it.
pub fn unless_blocked(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads once and returns the count: 0 at the end, `None` if nothing is there yet.
pub fn read_more(mut from: &TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<usize>> {
    const PIECE: usize = 16 * 1024;
    let length = bytes.len();
    bytes.resize(length + PIECE, 0);
    let got = unless_blocked(from.read(&mut bytes[length..]));
    bytes.truncate(length + got.as_ref().map_or(0, |got| got.unwrap_or(0)));
    got
}

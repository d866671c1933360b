//! One direction of a connection: bytes from one socket to the other, without a copy where the kernel can.
//!
//! Reading goes on only when all that was read is written, so a slow reader holds its writer up and no other.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::pipe2;

/// What a pipe is made to hold. Larger ones count against the user's share (`pipe-user-pages-soft`).
const PIPE_SIZE: usize = 256 * 1024;
/// Bytes that are copied at once where there's no pipe.
const COPIED: usize = 64 * 1024;
/// How often one connection is served before the others have their turn.
const ROUNDS: usize = 16;

/// A pipe through which the kernel moves bytes between two sockets.
struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    /// Held by each pipe there is, so that they can be counted.
    _share: Rc<()>,
}

impl Pipe {
    fn new(share: Rc<()>) -> io::Result<Pipe> {
        let (out, into) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        let size = i32::try_from(PIPE_SIZE).expect("a small number");
        // A user with many pipes has to do with smaller ones.
        let _ = fcntl(&into, FcntlArg::F_SETPIPE_SZ(size));
        Ok(Pipe {
            out,
            into,
            _share: share,
        })
    }
}

/// Pipes that nothing is in. A connection has one only while bytes wait in it.
#[derive(Default)]
pub struct Pipes {
    empty: Vec<Pipe>,
    share: Rc<()>,
}

impl Pipes {
    /// All pipes together, so that slow readers take neither all descriptors nor the user's share of pages
    /// (`pipe-user-pages-soft`): 16 MiB of 64. Who gets none has its bytes copied.
    pub const MOST: usize = 64;
    const MOST_EMPTY: usize = 16;

    fn take(&mut self) -> Option<Pipe> {
        if let Some(pipe) = self.empty.pop() {
            return Some(pipe);
        }
        let made = Rc::strong_count(&self.share) - 1;
        (made < Self::MOST).then(|| Pipe::new(Rc::clone(&self.share)).ok())?
    }

    fn put_back(&mut self, pipe: Pipe) {
        if self.empty.len() < Self::MOST_EMPTY {
            self.empty.push(pipe);
        }
    }
}

/// Where a direction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    /// One of the sockets isn't ready.
    Waiting,
    /// There may be more to move; others first.
    More,
    /// The end got through.
    Finished,
}

/// One direction.
#[derive(Default)]
pub struct Flow {
    /// Bytes that were read to be looked at, still to be written.
    pending: Vec<u8>,
    pipe: Option<Pipe>,
    in_pipe: usize,
    copies: bool,
    source_ended: bool,
    finished: bool,
}

impl Flow {
    /// Has these written before anything else.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// That nothing more comes.
    pub fn end(&mut self) {
        self.source_ended = true;
    }

    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Moves what can be moved now.
    pub fn advance(&mut self, from: &TcpStream, to: &TcpStream, pipes: &mut Pipes) -> io::Result<Moved> {
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

    /// Writes what was read; `false` where not all of it could be.
    pub fn flush(&mut self, to: &TcpStream, pipes: &mut Pipes) -> io::Result<bool> {
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

    /// Reads so many bytes at most, once all that was read before is written: how many, 0 at the end, `None` where there's
    /// nothing yet.
    pub fn take_some(&mut self, from: &TcpStream, most: u64, pipes: &mut Pipes) -> io::Result<Option<u64>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(PIPE_SIZE);
        Ok(self.fill(from, most, pipes)?.map(|count| count as u64))
    }

    /// From now on bytes are copied: the kernel doesn't splice past an urgent one.
    pub fn copy_from_now_on(&mut self) {
        self.copies = true;
    }

    fn fill(&mut self, from: &TcpStream, most: usize, pipes: &mut Pipes) -> io::Result<Option<usize>> {
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
            // It was reset meanwhile, which the other direction will hear of.
            Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => Ok(()),
            other => other,
        }
    }
}

fn move_bytes(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    let flags = SpliceFFlags::SPLICE_F_MOVE | SpliceFFlags::SPLICE_F_NONBLOCK;
    splice(from, None, to, None, most, flags).map_err(io::Error::from)
}

/// `None` where the call would have to wait. All signals are blocked here, so nothing interrupts it.
pub fn unless_blocked(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

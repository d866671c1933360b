//! Signals the processes below this one, where no Landlock scope would confine a signal to all of them to the run.
//!
//! A process id may be reused by the time of a call. A child's id isn't until this process collects it; any other
//! process is pinned first, and then shown to be a child of one that is pinned and lives.

use std::io;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use super::check;
use super::other::{process_descriptor, signal_process};
use super::process::signal;

/// The children of the calling thread, by a list opened at the start: a run may fill the machine's table of open files,
/// and must be killed all the same.
pub struct Children(OwnedFd);

impl Children {
    /// Opens the list. Child-safe.
    pub fn open() -> io::Result<Children> {
        let file = open(&ProcPath::new("thread-self/children"))?;
        super::duplicate_above(file.as_raw_fd(), super::BEYOND_THE_WARDENS).map(Children)
    }

    /// Sends a signal to the present children, except those that are spared, and to all processes below them.
    /// Child-safe, if `is_spared` is.
    ///
    /// The caller is the subreaper, so any process missed here becomes its child in the end: the orphan of a process
    /// that ended meanwhile, and those below more processes than can be remembered, opened, or looked at in one call.
    /// The next call reaches it.
    pub fn signal(&self, number: i32, is_spared: impl Fn(i32) -> bool) {
        const MAX_STEPS: usize = 1 << 16;
        let mut steps = MAX_STEPS;
        each_listed(&self.0, |child| {
            if !is_spared(child) {
                match process_descriptor(child) {
                    Ok(descriptor) if steps > 0 => {
                        let top = Pinned {
                            number: child,
                            descriptor,
                        };
                        signal_from(top, number, &mut steps);
                    }
                    _ => drop(signal(child, number)),
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// One round of killing them, counted from 1; the caller collects zombies between rounds. Child-safe, if `is_spared` is.
    ///
    /// Descending the tree kills a chain whose processes stay. It takes long with hundreds of processes, and a process that
    /// forks the next and exits is gone by the time it's reached. So most rounds kill only this process's own children, by one
    /// call each; every eighth descends.
    pub fn kill(&self, round: usize, is_spared: impl Fn(i32) -> bool) {
        const DOWN: usize = 8;
        if round.is_multiple_of(DOWN) {
            return self.signal(libc::SIGKILL, is_spared);
        }
        each_listed(&self.0, |child| {
            if !is_spared(child) {
                let _ = signal(child, libc::SIGKILL);
            }
            ControlFlow::Continue(())
        });
    }

    /// Calls `act` with the present children, and those added meanwhile. Child-safe, if `act` is.
    pub fn each(&self, mut act: impl FnMut(i32)) {
        each_listed(&self.0, |child| {
            act(child);
            ControlFlow::Continue(())
        });
    }
}

impl AsRawFd for Children {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The object that a standard stream is: a pipe, a file, a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    device: u64,
    inode: u64,
}

impl Stream {
    /// That of a descriptor; `None` for `/dev/null` (null(4)), where no output is lost. Child-safe.
    pub fn of(descriptor: RawFd) -> Option<Stream> {
        let mut status = MaybeUninit::<libc::stat>::uninit();
        // SAFETY: the kernel writes one `stat`, which is read only after that.
        let status = unsafe { (libc::fstat(descriptor, status.as_mut_ptr()) == 0).then(|| status.assume_init())? };
        (status.st_rdev != libc::makedev(1, 3)).then(|| Stream::new(&status))
    }

    /// Whether it is the standard output or error of a process that can be looked at. Child-safe.
    pub fn is_of(self, process: i32) -> bool {
        ["/fd/1", "/fd/2"].into_iter().any(|entry| {
            let path = ProcPath::of(process).text(entry);
            let mut status = MaybeUninit::<libc::stat>::uninit();
            // SAFETY: the path ends with a 0; the kernel writes one `stat`, which is read only after that.
            let status = unsafe {
                let found = libc::stat(path.bytes.as_ptr().cast(), status.as_mut_ptr()) == 0;
                found.then(|| status.assume_init())
            };
            status.is_some_and(|status| Stream::new(&status) == self)
        })
    }

    fn new(status: &libc::stat) -> Stream {
        Stream {
            device: status.st_dev,
            inode: status.st_ino,
        }
    }
}

/// A process pinned against the reuse of its id.
struct Pinned {
    number: i32,
    descriptor: OwnedFd,
}

impl Pinned {
    fn signal(&self, number: i32) {
        let _ = signal_process(self.descriptor.as_fd(), number, None);
    }

    /// Whether it still exists, dead or alive: then its id wasn't reused.
    fn is_there(&self) -> bool {
        signal_process(self.descriptor.as_fd(), 0, None).is_ok()
    }

    /// Its child of this number, if it has one.
    fn child(&self, number: i32) -> Option<Pinned> {
        let descriptor = process_descriptor(number).ok()?;
        (parent(number) == Some(self.number) && self.is_there()).then_some(Pinned { number, descriptor })
    }
}

/// Signals a process and all below it, in so many steps: a thread or a child is one. No allocation, so few are remembered: a
/// chain of processes needs one place, however long it is. If more wait at once, some are signalled without those below them.
///
/// A killed process's children pass to the subreaper a moment later, so they are pinned before it is killed, or a chain would
/// lose one process per round. Until then it may fork more: late ones pass to the subreaper too. As it could go on for ever, it
/// is killed once there's no place for another, or after some steps. With any other signal the process gets it first.
fn signal_from(top: Pinned, signal: i32, steps: &mut usize) {
    const KEPT: usize = 24;
    const BEFORE_KILLED: usize = 1024;
    let is_killed = signal == libc::SIGKILL;
    let mut kept = [const { None::<Pinned> }; KEPT];
    let mut count = 0;
    let mut next = Some(top);
    while let Some(parent) = next.take() {
        if !is_killed {
            parent.signal(signal);
        }
        let allowed = if is_killed { BEFORE_KILLED.min(*steps) } else { *steps };
        let mut left = allowed;
        each_thread(parent.number, |thread| {
            let path = ProcPath::of(parent.number)
                .text("/task/")
                .number(thread)
                .text("/children");
            if let Ok(list) = open(&path) {
                each_listed(&list, |number| {
                    if let Some(child) = parent.child(number) {
                        match kept.get_mut(count) {
                            Some(place) => {
                                *place = Some(child);
                                count += 1;
                            }
                            None => child.signal(signal),
                        }
                    }
                    step(&mut left, is_killed && count == KEPT)
                });
            }
            step(&mut left, is_killed && count == KEPT)
        });
        *steps -= allowed - left;
        if is_killed {
            parent.signal(signal);
        }
        if *steps > 0 && count > 0 {
            count -= 1;
            next = kept.get_mut(count).and_then(Option::take);
        }
    }
    for left in kept.iter().flatten() {
        left.signal(signal);
    }
}

/// Takes one of the steps that are left; breaks if none is left or `is_enough`.
fn step(left: &mut usize, is_enough: bool) -> ControlFlow<()> {
    *left = left.saturating_sub(1);
    match *left == 0 || is_enough {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// The numbers of a list of children (proc_pid_task(5)).
fn each_listed(list: &OwnedFd, mut act: impl FnMut(i32) -> ControlFlow<()>) {
    // More than there are process ids (PID_MAX_LIMIT), so that a list that grows while it is read has an end too. The
    // youngest come last, behind any number of zombies.
    const PAGES: usize = 1 << 13;
    let mut buffer = [0_u8; 4096];
    let mut offset = 0;
    let mut pid = 0_i32;
    for _ in 0..PAGES {
        // SAFETY: the kernel writes at most the buffer's size into it. Reading from offset 0 makes the list anew.
        let got = unsafe { libc::pread(list.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), offset) };
        let text = buffer.get(..usize::try_from(got).unwrap_or(0)).unwrap_or(&[]);
        if text.is_empty() {
            return;
        }
        offset += text.len() as libc::off_t;
        // A blank follows each number. A read may end within one.
        for byte in text {
            if byte.is_ascii_digit() {
                pid = pid.saturating_mul(10).saturating_add(i32::from(byte - b'0'));
                continue;
            }
            if pid > 1 && act(pid).is_break() {
                return;
            }
            pid = 0;
        }
    }
}

/// Calls `act` with the present threads of a process.
fn each_thread(process: i32, mut act: impl FnMut(i32) -> ControlFlow<()>) {
    if let Ok(directory) = open(&ProcPath::of(process).text("/task")) {
        let _ = super::file::each_entry(directory.as_fd(), |name, _| act(number(name)));
    }
}

/// The parent of a process (proc_pid_stat(5)).
fn parent(process: i32) -> Option<i32> {
    let file = open(&ProcPath::of(process).text("/stat")).ok()?;
    let mut buffer = [0_u8; 512];
    // SAFETY: the kernel writes at most the buffer's size into it.
    let got = unsafe { libc::read(file.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    let text = buffer.get(..usize::try_from(got).ok()?)?;
    // The name is in brackets, and may contain brackets itself.
    let end = text.iter().rposition(|byte| *byte == b')')?;
    text.get(end..)?.split(|byte| *byte == b' ').nth(2).map(number)
}

/// Parses a decimal number; 0 for anything else.
fn number(digits: &[u8]) -> i32 {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
    let add = |number: i32, byte| number.checked_mul(10)?.checked_add(digit(byte)?);
    digits.iter().try_fold(0, add).unwrap_or(0)
}

/// A path in `/proc`, built without allocation. A path that doesn't fit is cut to one that doesn't exist.
struct ProcPath {
    bytes: [u8; 64],
    length: usize,
}

impl ProcPath {
    fn new(rest: &str) -> ProcPath {
        let empty = ProcPath {
            bytes: [0; 64],
            length: 0,
        };
        empty.text("/proc/").text(rest)
    }

    fn of(process: i32) -> ProcPath {
        ProcPath::new("").number(process)
    }

    fn text(mut self, text: &str) -> ProcPath {
        // The last byte stays 0.
        let end = self.bytes.len() - 1;
        for (place, byte) in self.bytes[..end].iter_mut().skip(self.length).zip(text.bytes()) {
            *place = byte;
        }
        self.length += text.len();
        self
    }

    fn number(self, number: i32) -> ProcPath {
        let mut digits = [0_u8; 10];
        let mut rest = number.unsigned_abs();
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.text(std::str::from_utf8(&digits[first..]).unwrap_or(""))
    }
}

/// Opens a file for reading. Child-safe.
fn open(path: &ProcPath) -> io::Result<OwnedFd> {
    // SAFETY: the path's last byte is 0, and it outlives the call.
    check(unsafe { libc::open(path.bytes.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC) }).map(super::own)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_signal_reaches_all_below_the_children_that_arent_spared() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap()
        };
        // Each shell waits for the next; the last prints that it runs. `true` keeps a shell from executing its command in place.
        let chain = "sh -c 'sh -c \"sh -c \\\"echo; sleep 60; true\\\"; true\"; true'; true";
        let mut chains = [shell(chain), shell(chain)];
        let outputs = chains.each_mut().map(|chain| chain.stdout.take().unwrap());
        let mut outputs = outputs.map(BufReader::new);
        for output in &mut outputs {
            output.read_line(&mut String::new()).unwrap();
        }
        let spared = chains[1].id() as i32;
        let begun = std::time::Instant::now();
        let children = Children::open().unwrap();
        children.signal(libc::SIGKILL, |pid| pid == spared);
        // All holders of the pipe have ended.
        assert_eq!(outputs[0].read_line(&mut String::new()).unwrap(), 0);
        assert!(chains[1].try_wait().unwrap().is_none());
        children.signal(libc::SIGKILL, |_| false);
        assert_eq!(outputs[1].read_line(&mut String::new()).unwrap(), 0);
        for chain in &mut chains {
            chain.wait().unwrap();
        }
        // The last process of each chain ends by itself after a minute.
        assert!(begun.elapsed().as_secs() < 50);
    }

    #[test]
    fn what_there_is_no_step_left_for_is_signalled_without_what_is_below() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let number = child.id() as i32;
        let top = Pinned {
            number,
            descriptor: process_descriptor(number).unwrap(),
        };
        let mut steps = 0;
        signal_from(top, libc::SIGKILL, &mut steps);
        assert!(!child.wait().unwrap().success());
        let mut left = 2;
        assert!(step(&mut left, false).is_continue() && step(&mut left, false).is_break());
        assert!(step(&mut 5, true).is_break());
    }

    #[test]
    fn a_process_is_pinned_as_the_child_of_its_parent_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pin = |number: i32| Pinned {
            number,
            descriptor: process_descriptor(number).unwrap(),
        };
        let (own, number) = (std::process::id() as i32, child.id() as i32);
        assert!(pin(own).child(number).is_some());
        assert!(pin(number).child(own).is_none());
        assert!(pin(1).child(number).is_none());
        let gone = pin(number);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!gone.is_there());
        assert!(pin(own).child(number).is_none());
    }

    #[test]
    fn paths_and_numbers_are_written_and_read() {
        let path = ProcPath::of(i32::MAX).text("/task/").number(0).text("/children");
        assert_eq!(&path.bytes[..path.length], b"/proc/2147483647/task/0/children");
        let long = ProcPath::new(&"x".repeat(100)).text("y");
        assert_eq!(long.bytes[63], 0);
        assert_eq!([&b"12"[..], b"", b"1x", b"99999999999"].map(number), [12, 0, 0, 0]);
        let threads = std::cell::RefCell::new(Vec::new());
        each_thread(std::process::id() as i32, |thread| {
            threads.borrow_mut().push(thread);
            ControlFlow::Continue(())
        });
        assert!(threads.borrow().contains(&nix::unistd::gettid().as_raw()));
        assert_eq!(parent(std::process::id() as i32), Some(nix::unistd::getppid().as_raw()));
    }
}

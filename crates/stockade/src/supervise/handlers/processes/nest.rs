//! The supervisor's end of the connection on which a nested run asks to be narrowed ([`stockade_sys::outer`]).
//!
//! A request is an allegation by a program of the run. It is bounded and parsed strictly, and can only take access from
//! processes below the one that sends it.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::plan::{self, Supervision};
use crate::policy::{Policy, Target};
use crate::profile::path_bytes;
use crate::report::{Counted, Refusals, StderrTail};
use crate::supervise::call::errno::Errno;
use crate::supervise::handlers::answer::{CallAnswer, Handled};
use crate::supervise::handlers::context::NotifyContext;
use crate::supervise::run::Run;
use crate::supervise::state::nested_runs::{NestRequest, NestedRun};
use crate::supervise::state::run_config::RunConfig;
use stockade_sys::{notify, outer};

/// The largest request.
const MAX_SIZE: usize = 4 * 1024 * 1024;
/// The time that a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run configuration in wire form; fields that the outer supervisor derives are left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NestedPolicy {
    policy: Policy,
    scratch: Option<NamedPath>,
    cache: Option<NamedPath>,
    scratch_executes: bool,
    terminals: Vec<NamedPath>,
    starts: u32,
}

/// A path.
#[derive(Serialize, Deserialize)]
struct NamedPath(#[serde(with = "path_bytes")] PathBuf);

/// The bytes to send for a run configuration.
pub fn request(run_config: RunConfig) -> Vec<u8> {
    let request = NestedPolicy {
        policy: run_config.policy,
        scratch: run_config.scratch.map(NamedPath),
        cache: run_config.cache.map(NamedPath),
        scratch_executes: run_config.scratch_executes,
        terminals: run_config.terminals.into_iter().map(NamedPath).collect(),
        starts: run_config.starts,
    };
    serde_json::to_vec(&request).expect("numbers and strings")
}

/// The largest account of a nested run's refusals, and the time that its launcher waits for it.
const MAX_ACCOUNT: usize = 4 * 1024 * 1024;
const WAITS: Duration = Duration::from_secs(2);

/// A nested run's refusals by its own policy, and the end of its standard error, in wire form for its launcher: with times since
/// the nested run's start.
#[derive(Serialize, Deserialize)]
struct Account {
    refusals: Vec<Counted>,
    dropped: u64,
    stderr: StderrTail,
}

impl Account {
    fn of(nested_run: &NestedRun, run: &Run) -> Account {
        let begun = nested_run.begun();
        let refusals = nested_run.refusals();
        let mut account = Account {
            refusals: refusals.list().to_vec(),
            dropped: refusals.dropped(),
            stderr: run.stderr_log().tail(Some(nested_run.number()), nested_run.last_call()),
        };
        for counted in &mut account.refusals {
            counted.first.at = counted.first.at.saturating_sub(begun);
            counted.last_at = counted.last_at.saturating_sub(begun);
        }
        account
    }
}

/// The outer supervisor's account of a run.
pub struct Told {
    pub refusals: Refusals,
    pub stderr: StderrTail,
}

/// Receives the outer supervisor's account once it was told that the run is over; `None` if it sends none.
pub fn told(connection: OwnedFd) -> Option<Told> {
    let bytes = receive(&mut UnixStream::from(connection), MAX_ACCOUNT, Instant::now() + WAITS)?;
    let account: Account = serde_json::from_slice(&bytes).ok()?;
    Some(Told {
        refusals: Refusals::told(account.refusals, account.dropped),
        stderr: account.stderr,
    })
}

/// Makes the connection that a nested run's launcher or warden asks for: one end of a socket pair takes the socket's
/// place, and a thread of its own reads from the other. Marked opens are none of its business: the inner run's filter
/// refuses them, so that they come without their mark.
pub fn connect(context: &NotifyContext<'_>) -> Handled {
    const REFUSED: Errno = Errno(libc::EAGAIN);
    let nest_request = NestRequest::new(context.fds(), context.caller(), context.judge.nested_runs);
    let nest_request = nest_request.ok_or(REFUSED)?;
    let (ours, theirs) = outer::pair()?;
    let connection = NestConnection::new(context.run(), ours).ok_or(REFUSED)?;
    let listener = context.fds().listener.as_fd();
    notify::replace(
        listener,
        context.notification.id,
        theirs.as_fd(),
        context.caller().registers.int(0),
    )?;
    drop(theirs);
    crate::supervise::call::threads::spawn(move || connection.serve(nest_request))?;
    Ok(CallAnswer::Value(0))
}

/// Whether the globs can be compiled without harm to the supervisor.
fn is_reasonable(policy: &Policy) -> bool {
    const MAX: usize = 4096;
    policy.denials.len() <= MAX
        && policy.denials.iter().all(|denial| match &denial.target {
            Target::Glob { glob, .. } => is_reasonable_glob(glob),
            Target::AllBut { globs, .. } => globs.len() <= MAX && globs.iter().all(|glob| is_reasonable_glob(glob)),
            Target::Listed(listed) => listed.entries.len() <= MAX && listed.open.len() <= MAX,
            Target::Path(_) | Target::GitDirectories => true,
        })
}

fn is_reasonable_glob(glob: &str) -> bool {
    const MAX_LENGTH: usize = 4096;
    const MAX_BRACES: usize = 32;
    glob.len() <= MAX_LENGTH && glob.matches('{').count() <= MAX_BRACES
}

/// One connection. It counts among the connected ones until it is closed.
struct NestConnection {
    run: Arc<Run>,
    stream: UnixStream,
}

impl NestConnection {
    fn new(run: &Arc<Run>, end: OwnedFd) -> Option<NestConnection> {
        run.journal.nested_runs.connect().then(|| NestConnection {
            run: Arc::clone(run),
            stream: UnixStream::from(end),
        })
    }

    /// Receives the request and the goodbye. A warden that ends without one may leave orphans, so its nested run stays.
    fn serve(mut self, nest_request: NestRequest) {
        let Some(number) = self.grant(nest_request) else {
            return;
        };
        let said = self.stream.write_all(&[outer::YES]).and_then(|()| {
            let mut word = [0];
            self.stream.set_read_timeout(None)?;
            self.stream.read_exact(&mut word).map(|()| word[0])
        });
        if matches!(said, Ok(outer::GOODBYE))
            && let Some(nested_run) = self.run.journal.nested_runs.remove(number)
        {
            // A launcher that has ended, or doesn't read, receives nothing.
            let _ = self.tell(&nested_run);
        }
    }

    fn tell(&mut self, nested_run: &NestedRun) -> std::io::Result<()> {
        let bytes = serde_json::to_vec(&Account::of(nested_run, &self.run))?;
        let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
        self.stream.set_write_timeout(Some(WAITS))?;
        self.stream.write_all(&length.to_le_bytes())?;
        self.stream.write_all(&bytes)
    }

    fn grant(&mut self, nest_request: NestRequest) -> Option<usize> {
        let bytes = receive(&mut self.stream, MAX_SIZE, Instant::now() + PATIENCE)?;
        let request: NestedPolicy = serde_json::from_slice(&bytes).ok()?;
        if !is_reasonable(&request.policy) {
            return None;
        }
        let reading = plan::reading(&request.policy);
        let run_config = RunConfig {
            native: Vec::new(),
            taken: Vec::new(),
            earlier: Vec::new(),
            supervision: Supervision {
                reading,
                ..self.run.policy().run_config.supervision
            },
            policy: request.policy,
            scratch: request.scratch.map(|path| path.0),
            cache: request.cache.map(|path| path.0),
            scratch_executes: request.scratch_executes,
            terminals: request.terminals.into_iter().map(|path| path.0).collect(),
            starts: request.starts,
            // The outer run counts them.
            most_processes: None,
            kept: None,
        };
        self.run
            .journal
            .nested_runs
            .add(nest_request, run_config, self.run.journal.started.elapsed())
    }
}

/// Receives a length and that many bytes before the deadline.
fn receive(stream: &mut UnixStream, largest: usize, deadline: Instant) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    fill(stream, &mut length, deadline)?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok()?;
    let mut bytes = Vec::new();
    if length > largest {
        return None;
    }
    // Memory grows with the received bytes, not with the announced length.
    while bytes.len() < length {
        const PIECE: usize = 64 * 1024;
        let start = bytes.len();
        bytes.resize(length.min(start + PIECE), 0);
        fill(stream, &mut bytes[start..], deadline)?;
    }
    Some(bytes)
}

fn fill(stream: &mut UnixStream, mut bytes: &mut [u8], deadline: Instant) -> Option<()> {
    while !bytes.is_empty() {
        let left = deadline.checked_duration_since(Instant::now())?;
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1)))).ok()?;
        let got = stream.read(bytes).ok().filter(|got| *got > 0)?;
        bytes = &mut bytes[got..];
    }
    Some(())
}

impl Drop for NestConnection {
    fn drop(&mut self) {
        self.run.journal.nested_runs.disconnect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Access, DenialKind};
    use crate::supervise::testing::{denial, policy, run_config};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    /// What the other end receives of these bytes.
    fn received(bytes: &[u8], largest: usize) -> Option<Vec<u8>> {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        ours.write_all(bytes).unwrap();
        drop(ours);
        receive(&mut theirs, largest, soon())
    }

    #[test]
    fn a_request_has_its_length_before_it() {
        assert_eq!(received(b"\x03\0\0\0abc", 3).as_deref(), Some(&b"abc"[..]));
        assert_eq!(received(b"\0\0\0\0", 3).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn a_request_that_is_too_long_or_ends_too_early_is_none() {
        assert_eq!(received(b"\x04\0\0\0abcd", 3), None);
        assert_eq!(received(b"\x03\0\0\0ab", 3), None);
        assert_eq!(received(b"\x03\0", 3), None);
        assert_eq!(received(b"\xff\xff\xff\xff", 3), None);
    }

    #[test]
    fn a_request_that_comes_too_late_is_none() {
        let (_ours, mut theirs) = UnixStream::pair().unwrap();
        assert_eq!(receive(&mut theirs, 3, Instant::now()), None);
    }

    #[test]
    fn a_policy_goes_over_the_wire_as_it_is() {
        let mut config = run_config(policy(Vec::new()));
        config.scratch = Some("/s".into());
        config.starts = 3;
        let sent: NestedPolicy = serde_json::from_slice(&request(config)).unwrap();
        assert_eq!(sent.policy, policy(Vec::new()));
        assert_eq!((sent.scratch.unwrap().0, sent.starts), ("/s".into(), 3));
    }

    #[test]
    fn globs_that_would_take_long_to_compile_are_refused() {
        let with = |glob: &str| {
            let mut policy = policy(Vec::new());
            let target = Target::Glob {
                below: "/w".into(),
                glob: glob.into(),
            };
            policy.denials.push(denial(target, Access::all(), DenialKind::Explicit));
            is_reasonable(&policy)
        };
        assert!(with("**/*.pem"));
        assert!(!with(&"{a,b}".repeat(33)));
        assert!(!with(&"a".repeat(5000)));
    }

    #[test]
    fn more_denials_than_there_is_room_for_are_refused() {
        let mut policy = policy(Vec::new());
        policy.denials = vec![denial(Target::GitDirectories, Access::all(), DenialKind::Guarded); 4097];
        assert!(!is_reasonable(&policy));
        policy.denials.pop();
        assert!(is_reasonable(&policy));
    }
}

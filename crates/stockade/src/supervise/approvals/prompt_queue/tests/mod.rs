//! The queue's steps, one by one: the server is a list of what it was told, and the approver is the test.

mod in_place;
mod limits;

use std::collections::HashSet;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use super::*;
use crate::approve::{Approver, Lifetime};
use crate::mutex::lock;
use crate::policy::Access;
use crate::report::{Kind, Refusal};
use crate::supervise::approvals::tests::question;
use crate::supervise::approvals::{Asking, Gate};
use crate::supervise::call::fds::WorkerFds;
use crate::supervise::testing::{approvals, asking, policy, run_config, worker_fds};

/// What the queue did to calls.
#[derive(Debug, PartialEq, Eq)]
enum Served {
    Again(u64),
    Refused(u64, i32),
}

use Served::{Again, Refused};

/// What the server was told, and how it is to behave.
#[derive(Default)]
struct Server {
    served: Vec<Served>,
    again: Vec<PendingCall>,
    interrupted: HashSet<u64>,
    is_broken: bool,
    has_no_threads: bool,
    /// Where the run is stopped, with the tree to stop.
    held: Option<(WorkerFds, Arc<Gate>)>,
}

struct FakeServer(Arc<Mutex<Server>>);

impl CallServer for FakeServer {
    fn again(&self, call: PendingCall) -> io::Result<()> {
        let mut server = lock(&self.0);
        assert!(!server.is_broken, "on purpose");
        if server.has_no_threads {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        server.served.push(Again(call.notification.id));
        server.again.push(call);
        Ok(())
    }

    fn refuse_now(&self, call: &Notification, errno: Errno) {
        lock(&self.0).served.push(Refused(call.id, errno.0));
    }

    fn is_interrupted(&self, call: &Notification) -> bool {
        lock(&self.0).interrupted.contains(&call.id)
    }

    fn hold(&self) -> Result<Hold, &'static str> {
        let server = lock(&self.0);
        let (fds, gate) = server.held.as_ref().ok_or("it can't be held")?;
        Hold::begin(fds, gate)
    }
}

/// One question, as the approver gets it. Without a reply there is no answer.
struct Asked {
    request: EscalationRequest,
    deadline: Deadline,
    reply: Sender<Answer>,
}

impl Asked {
    fn target(&self) -> &str {
        &self.request.evidence.target
    }
}

/// An approver that passes its questions to the test, and panics at `/panic`.
struct Person {
    asked: Sender<Asked>,
    manner: Manner,
}

impl Approver for Person {
    fn ask(&self, request: &EscalationRequest, deadline: &Deadline) -> Answer {
        assert!(!request.evidence.target.starts_with("/panic"), "on purpose");
        let (reply, answer) = channel();
        let _ = self.asked.send(Asked {
            request: request.clone(),
            deadline: deadline.clone(),
            reply,
        });
        answer.recv().unwrap_or_else(|_| Answer::silence("gone"))
    }

    fn manner(&self) -> Manner {
        self.manner
    }
}

struct Bench {
    queue: PromptQueue,
    server: Arc<Mutex<Server>>,
    asked: Receiver<Asked>,
    calls: u64,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(Manner::Beside, |_| {})
    }

    fn with(manner: Manner, change: impl FnOnce(&mut Asking)) -> Bench {
        let (sender, asked) = channel();
        let mut asking = asking(Person { asked: sender, manner });
        change(&mut asking);
        let approvals = Arc::new(approvals(asking, run_config(policy(Vec::new()))));
        let server = Arc::<Mutex<Server>>::default();
        let faults = Arc::clone(&approvals.journal.faults);
        let approver_pool = ApproverPool::start(approvals.approver(), faults, false).unwrap();
        let (replies, inbox) = channel();
        let queue = PromptQueue {
            server: Box::new(FakeServer(Arc::clone(&server))),
            approvals,
            approver_pool,
            inbox,
            replies,
            open: Vec::new(),
            waiting: VecDeque::new(),
            early: VecDeque::new(),
            hold: None,
            held_back: Vec::new(),
            owed: Vec::new(),
        };
        Bench {
            queue,
            server,
            asked,
            calls: 0,
        }
    }

    /// Asks in place, with a tree that can be stopped.
    fn in_place() -> (Bench, Tree) {
        let bench = Bench::with(Manner::InPlace, |_| {});
        let tree = Tree::new();
        let mut fds = worker_fds();
        fds.is_interruptible = false;
        fds.warden = tree.0.id().try_into().unwrap();
        let gate = Arc::clone(bench.queue.approvals.gate());
        lock(&bench.server).held = Some((fds, gate));
        (bench, tree)
    }

    fn round(&mut self) -> bool {
        fault::contain(|| self.queue.go_round()).unwrap_or_else(|fault| {
            self.queue.start_over(&fault);
            true
        })
    }

    /// A call that is refused; returns its number.
    fn call(&mut self, kind: Kind, target: &str) -> u64 {
        self.calls += 1;
        self.send(question(self.calls, kind, target))
    }

    fn send(&mut self, question: Question) -> u64 {
        let id = question.call.notification.id;
        self.queue.replies.send(Message::Question(Box::new(question))).unwrap();
        self.round();
        id
    }

    fn read(&mut self, target: &str) -> u64 {
        self.call(Kind::Read, target)
    }

    /// The next question that the approver gets.
    fn asked(&self) -> Asked {
        self.asked.recv_timeout(Duration::from_secs(10)).expect("a question")
    }

    /// A call and the question about it.
    fn asked_about(&mut self, target: &str) -> (u64, Asked) {
        let id = self.read(target);
        (id, self.asked())
    }

    /// Has the queue look after its calls, as it does from time to time.
    fn look(&mut self) {
        // The answer to a question that isn't open.
        self.queue.replies.send(Message::Answered(0, no())).unwrap();
        self.round();
    }

    /// Goes on until a question is closed.
    fn until_closed(&mut self, asked: &Asked) {
        let number = |open: &OpenPrompt| open.request.id == asked.request.id;
        while self.queue.open.iter().any(number) {
            self.round();
        }
    }

    fn answer(&mut self, asked: &Asked, answer: Answer) {
        asked.reply.send(answer).unwrap();
        self.until_closed(asked);
    }

    /// The targets of the open questions.
    fn open(&self) -> Vec<&str> {
        let open = self.queue.open.iter();
        open.map(|open| open.request.evidence.target.as_str()).collect()
    }

    /// What was done to calls since the last time.
    fn served(&self) -> Vec<Served> {
        std::mem::take(&mut lock(&self.server).served)
    }

    /// The reasons of the recorded refusals.
    fn reasons(&self) -> Vec<String> {
        let refusals = self.queue.journal().refusals();
        let reason = |refusal: &Refusal| match &refusal.reason {
            Reason::Declined(declined) => declined.to_string(),
            other => format!("{other:?}"),
        };
        refusals.list().iter().map(|counted| reason(&counted.first)).collect()
    }
}

/// A shell, below which a process appears once its input ends.
struct Tree(Child);

impl Tree {
    fn new() -> Tree {
        let shell = Command::new("sh")
            .args(["-c", "read line; sleep 60 & wait"])
            .stdin(Stdio::piped())
            .spawn();
        Tree(shell.unwrap())
    }

    /// Starts a process below it, and waits until it runs.
    fn grow(&mut self) {
        drop(self.0.stdin.take());
        let warden = self.0.id().try_into().unwrap();
        while crate::processes::below(warden).unwrap().is_empty() {
            std::thread::yield_now();
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for process in crate::processes::below(self.0.id().try_into().unwrap()).unwrap_or_default() {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), nix::sys::signal::SIGKILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn once() -> Answer {
    Answer::yes(Lifetime::Once, "ada")
}

fn for_the_session() -> Answer {
    Answer::yes(Lifetime::Session, "ada")
}

fn no() -> Answer {
    Answer::no("ada")
}

const REFUSED: i32 = libc::EACCES;

#[test]
fn a_yes_for_once_lets_one_call_do_exactly_what_it_asked_for() {
    let mut bench = Bench::new();
    let (id, asked) = bench.asked_about("/x/a");
    assert_eq!(bench.served(), []);
    bench.answer(&asked, once());
    assert_eq!(bench.served(), [Again(id)]);
    let grants = &lock(&bench.server).again[0].call_grants;
    assert!(grants.once.path(Access::READ, "/x/a".as_ref()));
    assert!(!grants.once.path(Access::READ, "/x/b".as_ref()));
    assert!(!grants.once.path(Access::WRITE, "/x/a".as_ref()));
    assert!(!bench.queue.approvals.opened().path(Access::READ, "/x/a".as_ref()));
}

#[test]
fn a_yes_for_the_session_opens_for_every_call() {
    let mut bench = Bench::new();
    let (id, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, for_the_session());
    assert_eq!(bench.served(), [Again(id)]);
    assert!(bench.queue.approvals.opened().path(Access::READ, "/x/a".as_ref()));
    // One that was judged before the yes isn't asked about.
    let late = bench.read("/x/a");
    assert_eq!(bench.served(), [Again(late)]);
    assert!(bench.open().is_empty());
}

#[test]
fn calls_with_the_same_target_share_a_question_and_a_yes_for_once_is_for_the_first() {
    let mut bench = Bench::new();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/x/a");
    assert_eq!(bench.queue.open[0].calls.len(), 2);
    bench.answer(&asked, once());
    assert_eq!(bench.served(), [Again(first)]);
    let again = bench.asked();
    assert_eq!(again.target(), "/x/a");
    bench.answer(&again, once());
    assert_eq!(bench.served(), [Again(second)]);
}

#[test]
fn a_yes_for_the_session_lets_all_calls_of_the_directory_go_on() {
    let mut bench = Bench::new();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/x/b");
    let third = bench.read("/x/a");
    bench.answer(&asked, for_the_session());
    let served: HashSet<_> = bench.served().into_iter().map(|served| format!("{served:?}")).collect();
    let expected = [first, second, third].map(|id| format!("{:?}", Again(id)));
    assert_eq!(served, expected.into());
}

#[test]
fn questions_about_one_directory_are_asked_one_after_the_other_and_others_at_once() {
    let mut bench = Bench::new();
    let (_, first) = bench.asked_about("/x/a");
    bench.read("/x/b");
    bench.read("/y/a");
    assert_eq!(bench.open(), ["/x/a", "/y/a"]);
    bench.answer(&first, no());
    assert_eq!(bench.open(), ["/y/a", "/x/b"]);
}

#[test]
fn reading_and_writing_one_file_are_two_questions() {
    let mut bench = Bench::new();
    bench.read("/x/a");
    bench.call(Kind::Write, "/x/a");
    assert_eq!(bench.queue.open.len(), 2);
}

#[test]
fn a_no_refuses_all_calls_that_wait_for_it_and_later_ones_without_a_question() {
    let mut bench = Bench::new();
    let (first, asked) = bench.asked_about("/x/a");
    let second = bench.read("/x/a");
    bench.answer(&asked, no().because("not now"));
    assert_eq!(bench.served(), [Refused(first, REFUSED), Refused(second, REFUSED)]);
    let third = bench.read("/x/a");
    assert_eq!(bench.served(), [Refused(third, REFUSED)]);
    assert!(bench.open().is_empty());
    assert_eq!(bench.reasons(), ["refused by ada: not now"]);
}

#[test]
fn two_noes_close_a_directory_and_the_second_question_says_so() {
    let mut bench = Bench::new();
    let (_, asked) = bench.asked_about("/x/a");
    assert!(!asked.request.ends_by_no());
    bench.answer(&asked, no());
    let (_, asked) = bench.asked_about("/x/b");
    assert!(asked.request.ends_by_no());
    bench.answer(&asked, no());
    bench.served();
    let third = bench.read("/x/c");
    assert_eq!(bench.served(), [Refused(third, REFUSED)]);
}

#[test]
fn a_question_says_how_many_beside_it_had_a_yes() {
    let mut bench = Bench::new();
    let (_, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, once());
    let (_, asked) = bench.asked_about("/x/b");
    assert_eq!((asked.request.granted_beside, asked.request.refused_beside), (1, 0));
}

#[test]
fn a_no_to_everything_ends_all_asking() {
    let mut bench = Bench::new();
    let (first, asked) = bench.asked_about("/x/a");
    let all = Answer {
        choice: Choice::No { all: true },
        ..no()
    };
    bench.answer(&asked, all);
    let second = bench.read("/y/a");
    assert_eq!(bench.served(), [Refused(first, REFUSED), Refused(second, REFUSED)]);
}

#[test]
fn what_a_yes_does_not_open_is_not_asked_about_again() {
    let mut bench = Bench::new();
    let (_, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, once());
    bench.served();
    let mut back = question(9, Kind::Read, "/x/a");
    back.call.call_grants = lock(&bench.server).again[0].call_grants.clone();
    bench.send(back);
    assert_eq!(bench.served(), [Refused(9, REFUSED)]);
    assert_eq!(
        bench.reasons(),
        ["refused by Stockade: what was granted doesn't open it"]
    );
}

#[test]
fn an_access_that_nothing_sensible_opens_is_refused() {
    let mut bench = Bench::new();
    let id = bench.call(Kind::Execute, "/x/a");
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    assert!(bench.open().is_empty());
}

#[test]
fn an_answer_that_does_not_fit_the_question_counts_as_none() {
    let mut bench = Bench::with(Manner::Beside, |asking| asking.lifetimes = vec![Lifetime::Once]);
    let (id, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, for_the_session());
    assert_eq!(bench.served(), [Refused(id, REFUSED)]);
    let escalation = bench.queue.approvals.escalation().unwrap();
    assert_eq!(escalation.requests[0].answer.choice, Choice::Silence);
    assert!(!bench.queue.approvals.opened().path(Access::READ, "/x/a".as_ref()));
}

#[test]
fn every_answer_is_kept_for_the_report() {
    let mut bench = Bench::new();
    let (_, asked) = bench.asked_about("/x/a");
    bench.answer(&asked, once());
    let (_, asked) = bench.asked_about("/y/a");
    bench.answer(&asked, no());
    let requests = bench.queue.approvals.escalation().unwrap().requests;
    let granted: Vec<_> = requests.iter().map(|one| one.granted.is_some()).collect();
    assert_eq!(granted, [true, false]);
    assert!(requests.iter().all(|one| one.id.starts_with("run-")));
}

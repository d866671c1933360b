//! The requests that are open, and the refusals while a call of a tool is.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use crate::message::Id;
use crate::refusal::{MAX, Refusal};

/// More open requests than this are a mistake: one that is no call is forgotten for each further one, and calls are refused.
const MAX_OPEN: usize = 4096;

/// The most tasks whose refusals are kept: the oldest is forgotten for each further one.
pub const MAX_TASKS: usize = 256;

/// Bytes of a call's arguments that are searched for names.
const MAX_ARGUMENTS: usize = 64 * 1024;

/// A request that its client has given up may go on in the server: this long it still counts as running.
const LINGERS: Duration = Duration::from_secs(60);

/// What a request of the client asks for.
#[derive(Debug)]
pub enum Open {
    /// `initialize`.
    Initialize,
    /// `tools/list`.
    List {
        /// Whether it is another page.
        is_continued: bool,
    },
    /// `tools/call`.
    Call(Call),
    /// `tasks/result`.
    Task {
        /// The task.
        task: Task,
        /// Once it is answered: the call that became this task, if its refusals are kept.
        call: Option<Call>,
    },
    /// Anything else.
    Other,
}

/// A request of the client that isn't answered yet.
#[derive(Debug)]
pub struct Request {
    /// Its id, as the client wrote it.
    pub written_id: String,
    /// What it asks for.
    pub open: Open,
    /// How many were begun before.
    number: u64,
    /// When the client gave it up.
    given_up: Option<Instant>,
}

/// A task, by the hash of the id that the server gave it, which may have any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Task(u64);

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The beginning of its arguments, as JSON.
    pub arguments: String,
    /// The refusals while it was the only one, or that name what its arguments name.
    pub own: Vec<Refusal>,
    /// The refusals while others were open too.
    pub shared: Vec<Refusal>,
    /// Whether the request is of a version of the protocol in which results say their type.
    pub is_modern: bool,
    /// Whether the client asks for a task in place of the result.
    pub is_task: bool,
}

impl Call {
    /// A call that begins.
    pub fn new(tool: String, arguments: &str) -> Call {
        Call {
            tool,
            arguments: begun(arguments),
            own: Vec::new(),
            shared: Vec::new(),
            is_modern: false,
            is_task: false,
        }
    }

    fn note(&mut self, refusal: &Refusal, is_own: bool) {
        let list = if is_own { &mut self.own } else { &mut self.shared };
        if list.iter().any(|known| known.is_like(refusal)) {
            return;
        }
        if list.len() >= MAX {
            // One that changes what the call did takes the place of one that programs do without.
            let lesser = list.iter().rposition(|kept| refusal.is_loud() && !kept.is_loud());
            let Some(place) = lesser else { return };
            list.remove(place);
        }
        list.push(refusal.clone());
    }

    /// Becomes one with a later call, whose task has the same id.
    fn join(&mut self, later: &Call) {
        self.arguments = begun(&[&*later.arguments, &*self.arguments].concat());
        later.own.iter().for_each(|refusal| self.note(refusal, true));
        later.shared.iter().for_each(|refusal| self.note(refusal, false));
    }
}

fn begun(arguments: &str) -> String {
    arguments[..arguments.floor_char_boundary(MAX_ARGUMENTS)].to_owned()
}

/// The open requests.
#[derive(Debug, Default)]
pub struct Calls {
    open: HashMap<Id, Request>,
    /// Calls that became tasks, the oldest first, until a result that tells their refusals has passed.
    tasks: VecDeque<(Task, Call)>,
    hashing: RandomState,
    begun: u64,
}

impl Calls {
    /// Begins to follow a request with this id; returns whether there is room.
    pub fn begin(&mut self, id: Id, written_id: &str, open: Open) -> bool {
        if self.open.len() >= MAX_OPEN {
            self.make_room();
        }
        let has_room = self.open.len() < MAX_OPEN;
        if has_room {
            self.begun += 1;
            let request = Request {
                written_id: written_id.to_owned(),
                open,
                number: self.begun,
                given_up: None,
            };
            self.open.insert(id, request);
        }
        has_room
    }

    /// Forgets what has gone, else the oldest request that is no call. Its response won't be passed on.
    fn make_room(&mut self) {
        let now = Instant::now();
        self.open.retain(|_, request| !request.has_gone(now));
        if self.open.len() < MAX_OPEN {
            return;
        }
        let others = self.open.iter().filter(|(_, request)| request.call().is_none());
        let oldest = others.min_by_key(|(_, request)| request.number);
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.open.remove(&id);
        }
    }

    /// The request that a response answers. Where there is none with its id, one whose id is taken for it by some clients.
    pub fn end(&mut self, id: &Id) -> Option<Request> {
        let ended = self.open.remove(id);
        let mut ended = ended.or_else(|| self.open.remove(&id.look_alike()?))?;
        if let Open::Task { task, call } = &mut ended.open {
            let kept = self.tasks.iter().find(|(kept, _)| kept == task);
            *call = kept.map(|(_, call)| call.clone());
        }
        Some(ended)
    }

    /// The client gives a request up.
    pub fn give_up(&mut self, id: &Id) {
        if let Some(request) = self.open.get_mut(id) {
            request.given_up = Some(Instant::now());
        }
    }

    /// Whether a call is open that its client waits for.
    pub fn is_any_waited_for(&self) -> bool {
        self.open
            .values()
            .any(|request| request.call().is_some() && request.given_up.is_none())
    }

    /// The calls that may be running in the server.
    pub fn running(&self) -> impl Iterator<Item = &Call> {
        let now = Instant::now();
        self.open
            .values()
            .filter(move |request| !request.has_gone(now))
            .filter_map(Request::call)
    }

    /// The task with this id.
    pub fn task(&self, id: &str) -> Task {
        Task(self.hashing.hash_one(id))
    }

    /// Keeps the refusals of a call that became this task. There may come more. Returns whether another is forgotten for it.
    pub fn keep_task(&mut self, task: Task, call: Call) -> bool {
        match self.tasks.iter_mut().find(|(kept, _)| *kept == task) {
            Some((_, kept)) => kept.join(&call),
            None => self.tasks.push_back((task, call)),
        }
        self.tasks.len() > MAX_TASKS && self.tasks.pop_front().is_some()
    }

    /// Forgets the task whose result the client got, if it still waited for it.
    pub fn forget_task(&mut self, ended: &Request) {
        if let (Open::Task { task, .. }, None) = (&ended.open, ended.given_up) {
            self.tasks.retain(|(kept, _)| kept != task);
        }
    }

    /// Notes a refusal with the calls that are open, and those that became tasks.
    pub fn note(&mut self, refusal: &Refusal) {
        let now = Instant::now();
        let (mut calls, mut waited_for) = (Vec::new(), HashSet::new());
        for request in self.open.values_mut().filter(|request| !request.has_gone(now)) {
            match &mut request.open {
                Open::Call(call) => calls.push(call),
                Open::Task { task, .. } => _ = waited_for.insert(*task),
                Open::Initialize | Open::List { .. } | Open::Other => {}
            }
        }
        // A task may have ended: only one whose result is waited for counts beside open calls.
        let (open, others): (Vec<_>, Vec<_>) = self.tasks.iter_mut().partition(|(task, _)| waited_for.contains(task));
        calls.extend(open.into_iter().map(|(_, call)| call));
        let open = calls.len();
        calls.extend(others.into_iter().map(|(_, call)| call));
        let is_one = open == 1 || calls.len() == 1;
        for (at, call) in calls.into_iter().enumerate() {
            let is_own = is_one && at == 0 || refusal.is_named_in(&call.arguments);
            call.note(refusal, is_own);
        }
    }
}

impl Request {
    fn call(&self) -> Option<&Call> {
        match &self.open {
            Open::Call(call) => Some(call),
            Open::Initialize | Open::List { .. } | Open::Task { .. } | Open::Other => None,
        }
    }

    /// The call whose end its response is.
    pub fn ended_call(&self) -> Option<&Call> {
        match &self.open {
            Open::Call(call) => Some(call),
            Open::Task { call, .. } => call.as_ref(),
            Open::Initialize | Open::List { .. } | Open::Other => None,
        }
    }

    fn has_gone(&self, now: Instant) -> bool {
        self.given_up.is_some_and(|since| now.duration_since(since) > LINGERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::tests::refusal;

    fn number(number: usize) -> Id {
        Id::Number(number.to_string())
    }

    #[test]
    fn calls_that_nothing_answers_have_no_room_and_other_requests_make_it() {
        let mut calls = Calls::default();
        let call = || Open::Call(Call::new("t".into(), "{}"));
        for at in 0..MAX_OPEN {
            let open = if at < 2 { Open::Other } else { call() };
            assert!(calls.begin(number(at), "", open));
        }
        assert!(calls.begin(number(MAX_OPEN), "", call()));
        assert!(calls.end(&number(0)).is_none() && calls.end(&number(MAX_OPEN)).is_some());
        assert!(calls.begin(number(MAX_OPEN), "", call()));
        assert!(calls.begin(number(MAX_OPEN + 1), "", Open::Other));
        assert!(calls.end(&number(1)).is_none());
        calls.begin(number(MAX_OPEN + 1), "", call());
        assert!(!calls.begin(number(MAX_OPEN + 2), "", Open::Other));
    }

    #[test]
    fn very_many_refusals_that_programs_do_without_crowd_out_no_other() {
        let mut call = Call::new("t".into(), "{}");
        let mut note = |at: usize, quiet: bool| {
            call.note(&refusal(&format!("/{at}"), quiet), true);
            call.own.clone()
        };
        for at in 0..MAX {
            note(at, true);
        }
        assert_eq!(note(MAX, true).len(), MAX);
        for at in MAX..2 * MAX {
            assert_eq!(note(at, false).last().unwrap().target, format!("/{at}"));
        }
        let kept = note(2 * MAX, false);
        assert!(kept.len() == MAX && kept.iter().all(Refusal::is_loud));
        assert_eq!(kept[0].target, format!("/{MAX}"));
    }

    #[test]
    fn a_response_ends_the_request_that_its_client_takes_it_for() {
        let mut calls = Calls::default();
        calls.begin(number(1), "1.0", Open::Other);
        calls.begin(Id::Text("1".into()), "\"1\"", Open::Other);
        assert_eq!(calls.end(&Id::Text("1".into())).unwrap().written_id, "\"1\"");
        assert_eq!(calls.end(&Id::Text("1".into())).unwrap().written_id, "1.0");
        assert!(calls.end(&number(1)).is_none());
    }
}

//! The requests that are open, and the refusals while a call of a tool is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::message::Id;
use crate::refusal::{MOST, Refusal};

/// More open requests than this are a mistake; further ones aren't followed.
const MOST_OPEN: usize = 4096;

/// Bytes of a call's arguments that are searched for names.
const LONGEST_ARGUMENTS: usize = 64 * 1024;

/// A call that its client has given up may go on in the server: this long it still counts as running.
const LINGERS: Duration = Duration::from_secs(60);

/// A request of the client that is followed.
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
}

/// A call of a tool.
#[derive(Debug)]
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
    /// When the client gave it up.
    given_up: Option<Instant>,
}

impl Call {
    /// A call that begins.
    pub fn new(tool: String, arguments: &str, is_modern: bool) -> Call {
        let end = arguments.floor_char_boundary(LONGEST_ARGUMENTS);
        Call {
            tool,
            arguments: arguments[..end].to_owned(),
            own: Vec::new(),
            shared: Vec::new(),
            is_modern,
            given_up: None,
        }
    }
}

/// The open requests.
#[derive(Debug, Default)]
pub struct Calls {
    open: HashMap<Id, Open>,
}

impl Calls {
    /// Begins to follow a request; returns whether there is room.
    pub fn begin(&mut self, id: Id, open: Open) -> bool {
        if self.open.len() >= MOST_OPEN {
            let now = Instant::now();
            self.open.retain(|_, open| !has_gone(open, now));
        }
        let has_room = self.open.len() < MOST_OPEN;
        if has_room {
            self.open.insert(id, open);
        }
        has_room
    }

    /// The request that a response answers.
    pub fn end(&mut self, id: &Id) -> Option<Open> {
        self.open.remove(id)
    }

    /// The client gives a request up.
    pub fn give_up(&mut self, id: &Id) {
        if let Some(Open::Call(call)) = self.open.get_mut(id) {
            call.given_up = Some(Instant::now());
        }
    }

    /// Whether a call is open that its client waits for.
    pub fn is_any_waited_for(&self) -> bool {
        self.running().any(|call| call.given_up.is_none())
    }

    /// The calls that may be running in the server.
    pub fn running(&self) -> impl Iterator<Item = &Call> {
        let now = Instant::now();
        self.open
            .values()
            .filter(move |open| !has_gone(open, now))
            .filter_map(|open| match open {
                Open::Call(call) => Some(call),
                Open::Initialize | Open::List { .. } => None,
            })
    }

    /// Notes a refusal with the calls that are open.
    pub fn note(&mut self, refusal: &Refusal) {
        let now = Instant::now();
        let mut calls: Vec<&mut Call> = self
            .open
            .values_mut()
            .filter(|open| !has_gone(open, now))
            .filter_map(|open| match open {
                Open::Call(call) => Some(call),
                Open::Initialize | Open::List { .. } => None,
            })
            .collect();
        let is_alone = calls.len() == 1;
        for call in &mut calls {
            let is_own = is_alone || refusal.is_named_in(&call.arguments);
            let list = if is_own { &mut call.own } else { &mut call.shared };
            let is_known = list.iter().any(|known| known.is_like(refusal));
            if !is_known && list.len() < MOST {
                list.push(refusal.clone());
            }
        }
    }
}

fn has_gone(open: &Open, now: Instant) -> bool {
    matches!(open, Open::Call(call) if call.given_up.is_some_and(|since| now.duration_since(since) > LINGERS))
}

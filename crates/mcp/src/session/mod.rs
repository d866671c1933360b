//! One client and its server: what passes between them, and what changes on the way.
//!
//! Lines pass byte for byte unless a message has to change. A line that begins as a message does and can't be read doesn't
//! pass: its reader might understand it in another way than this one.

mod asking;
mod checking;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stockade::approve::Approver;
use stockade::report::{FlagGrant, PathGrant};

pub(crate) use asking::serve;
use asking::{Limits, Outcome};

use crate::calls::{Call, Calls, Open};
use crate::elicit;
use crate::known::Known;
use crate::listing::shown;
use crate::message::{Id, Kind, Line, Object, decoded};
use crate::refusal::Refusal;
use crate::result::{content, explained, failure};
use crate::roots;
use crate::rules::Rules;

/// The most different remarks about tools in one session.
const MOST_TOLD: usize = 256;

/// The longest row of the events.
const LONGEST_ROW: usize = 1 << 20;

/// What a session is made with.
pub struct Setup {
    /// The server's name.
    pub name: String,
    /// What the configuration says of it.
    pub rules: Rules,
    /// Where its accepted tools are kept.
    pub known: Option<Known>,
    /// Who is asked where no rule grants it and the client shows no forms.
    pub approver: Option<Arc<dyn Approver>>,
    /// Whether somebody is at that approver.
    pub is_attended: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether the client's user is asked.
    pub forms: bool,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// A word that no server can guess, for the ids of requests to the client.
    pub token: String,
    /// Tells a person something, in one line.
    pub tell: Box<dyn Fn(&str) + Send + Sync>,
}

/// One client and its server.
pub struct Session {
    pub(crate) setup: Setup,
    pub(crate) state: Mutex<State>,
    client: Mutex<Box<dyn Write + Send>>,
    events: Mutex<Events>,
}

/// What changes while the session lasts.
#[derive(Default)]
pub(crate) struct State {
    pub calls: Calls,
    /// Whether the client shows forms by a request.
    pub shows_forms: bool,
    has_roots: bool,
    /// The negotiated version of the protocol.
    pub version: String,
    /// The open requests of this program to the client.
    pub asked: HashMap<Id, Sender<Outcome>>,
    pub last_number: u64,
    roots_asked: Option<Id>,
    pub roots: Vec<FlagGrant>,
    pub limits: Limits,
    pub listing: checking::State,
    told: HashSet<String>,
}

/// The refusals of the run on their way.
struct Events {
    stream: Box<dyn Read + Send>,
    begun: Vec<u8>,
}

/// What becomes of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Passed {
    /// It passes as it is.
    AsIs,
    /// It passes changed, with its line end.
    Changed(String),
    /// It doesn't pass.
    Nothing,
}

/// What becomes of a message.
pub(crate) enum Message {
    AsIs,
    Changed(String),
    Nothing,
}

impl Session {
    /// A session that writes to this client, and learns of refusals from this stream, which doesn't block.
    pub fn new(setup: Setup, client: Box<dyn Write + Send>, events: Box<dyn Read + Send>) -> Session {
        Session {
            setup,
            state: Mutex::default(),
            client: Mutex::new(client),
            events: Mutex::new(Events {
                stream: events,
                begun: Vec::new(),
            }),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes bytes of whole lines to the client.
    ///
    /// # Errors
    /// The client doesn't read any more.
    pub fn to_client(&self, bytes: &[u8]) -> io::Result<()> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        client.write_all(bytes)?;
        client.flush()
    }

    /// Writes a message of this program's own to the client. A client that is gone needs none.
    pub(crate) fn say(&self, message: &str) {
        let _ = self.to_client(format!("{message}\n").as_bytes());
    }

    pub(crate) fn tell(&self, text: &str) {
        (self.setup.tell)(text);
    }

    /// Tells a remark once in a session.
    pub(crate) fn tell_once(&self, text: String) {
        let is_new = {
            let mut state = self.state();
            state.told.len() < MOST_TOLD && state.told.insert(text.clone())
        };
        if is_new {
            self.tell(&text);
        }
    }

    /// What becomes of a line of the client.
    pub fn of_client(&self, line: &[u8]) -> Passed {
        self.pass(line, "the client", |message| self.client_says(message))
    }

    /// What becomes of a line of the server.
    pub fn of_server(&self, line: &[u8]) -> Passed {
        self.pass(line, "the server", |message| self.server_says(message))
    }

    fn pass(&self, line: &[u8], writer: &str, read: impl Fn(&Object<'_>) -> Message) -> Passed {
        let text = decoded(line);
        match Line::read(&text) {
            Line::Plain => Passed::AsIs,
            Line::Unreadable => {
                let start: String = text.chars().take(200).collect();
                self.tell(&format!(
                    "a line of {writer} isn't passed on, since it can't be read as a message: `{}`",
                    shown(&start)
                ));
                Passed::Nothing
            }
            Line::One(message) => match read(&message) {
                Message::AsIs => Passed::AsIs,
                Message::Changed(message) => Passed::Changed(message + line_end(&text)),
                Message::Nothing => Passed::Nothing,
            },
            Line::Batch(messages) => batch(&messages, &text, read),
        }
    }

    fn client_says(&self, message: &Object<'_>) -> Message {
        let Some(kind) = Kind::of(message) else {
            return Message::AsIs;
        };
        match kind {
            Kind::Request(id, method) => match method.as_str() {
                "initialize" => {
                    self.meet(message);
                    self.state().calls.begin(id, Open::Initialize);
                }
                "tools/list" => {
                    let parameters = message.object("params").unwrap_or_default();
                    let is_continued = parameters.get("cursor").is_some_and(|cursor| cursor.get() != "null");
                    self.state().calls.begin(id, Open::List { is_continued });
                }
                "tools/call" => return self.begin_call(id, message),
                _ => {}
            },
            Kind::Notification(method) => match method.as_str() {
                "notifications/initialized" | "notifications/roots/list_changed" => self.ask_for_roots(),
                "notifications/cancelled" => {
                    let parameters = message.object("params").unwrap_or_default();
                    if let Some(id) = parameters.get("requestId").and_then(Id::of) {
                        self.state().calls.give_up(&id);
                    }
                }
                _ => {}
            },
            Kind::Response(id) => return self.answered(&id, message),
            Kind::Other => {}
        }
        Message::AsIs
    }

    /// Learns what the client can do.
    fn meet(&self, message: &Object<'_>) {
        let parameters = message.object("params").unwrap_or_default();
        let abilities = parameters.object("capabilities").unwrap_or_default();
        let mut state = self.state();
        state.shows_forms = elicit::shows_forms(&abilities);
        state.has_roots = abilities.object("roots").is_some();
    }

    /// Follows a call, or answers it where the tool isn't there.
    fn begin_call(&self, id: Id, message: &Object<'_>) -> Message {
        let parameters = message.object("params");
        let name = parameters.as_ref().and_then(|parameters| parameters.text("name"));
        let (Some(parameters), Some(name)) = (parameters, name) else {
            let text = "Invalid params: a call needs the name of a tool, once";
            self.say(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":-32602,\"message\":\"{text}\"}}}}",
                id.json()
            ));
            return Message::Nothing;
        };
        let meta = parameters.object("_meta").unwrap_or_default();
        let version = meta.text("io.modelcontextprotocol/protocolVersion").unwrap_or_default();
        let is_modern = elicit::is_stateless(&version);
        let why = self.why_not(&name).or_else(|| {
            let arguments = parameters.get("arguments").map_or("", |arguments| arguments.get());
            let call = Call::new(name, arguments, is_modern);
            let has_room = self.state().calls.begin(id.clone(), Open::Call(call));
            (!has_room).then(|| "too many calls are open".to_owned())
        });
        match why {
            None => Message::AsIs,
            Some(why) => {
                let told = content(&format!("Permission denied: {why}"));
                self.say(&failure(&id.json(), &[&told], is_modern));
                Message::Nothing
            }
        }
    }

    /// A response of the client: to the server, or to a request of this program.
    fn answered(&self, id: &Id, message: &Object<'_>) -> Message {
        let mut state = self.state();
        if let Some(waiting) = state.asked.remove(id) {
            drop(state);
            let reply = message.object("result").map(|result| elicit::Reply::of(&result));
            let _ = waiting.send(Outcome::Answered(reply.unwrap_or(elicit::Reply::No(None))));
            return Message::Nothing;
        }
        if state.roots_asked.as_ref() == Some(id) {
            state.roots_asked = None;
            drop(state);
            self.take_roots(message);
            return Message::Nothing;
        }
        // A late answer to a request of this program isn't the server's either.
        match id {
            Id::Text(text) if text.starts_with(&self.own_ids()) => Message::Nothing,
            _ => Message::AsIs,
        }
    }

    fn own_ids(&self) -> String {
        format!("stockade-{}-", self.setup.token)
    }

    /// The id of the next request to the client.
    pub(crate) fn next_id(&self, state: &mut State) -> Id {
        state.last_number += 1;
        Id::Text(format!("{}{}", self.own_ids(), state.last_number))
    }

    fn ask_for_roots(&self) {
        if self.setup.rules.roots.is_none() {
            return;
        }
        let id = {
            let mut state = self.state();
            if !state.has_roots {
                return;
            }
            let id = self.next_id(&mut state);
            state.roots_asked = Some(id.clone());
            id
        };
        self.say(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"roots/list\"}}",
            id.json()
        ));
    }

    fn take_roots(&self, message: &Object<'_>) {
        let (Some(flag), Some(result)) = (self.setup.rules.roots, message.get("result")) else {
            return;
        };
        let (paths, wide) = roots::read(result, self.setup.home.as_deref());
        for path in wide {
            self.tell_once(format!(
                "the client's root `{}` grants nothing: it is too wide",
                shown(&path.to_string_lossy())
            ));
        }
        let grants = paths.into_iter().map(|path| FlagGrant::Path(PathGrant { flag, path }));
        self.state().roots = grants.collect();
    }

    fn server_says(&self, message: &Object<'_>) -> Message {
        let Some(Kind::Response(id)) = Kind::of(message) else {
            return Message::AsIs;
        };
        // Refusals are told before the program that they stop goes on: all of this call's are there.
        self.take_events();
        let open = self.state().calls.end(&id);
        match open {
            None => Message::AsIs,
            Some(Open::Initialize) => {
                let version = message
                    .object("result")
                    .and_then(|result| result.text("protocolVersion"));
                self.state().version = version.unwrap_or_default();
                Message::AsIs
            }
            Some(Open::List { is_continued }) => self.checked(message, is_continued),
            Some(Open::Call(call)) => match explained(message, &call, &self.setup.name) {
                Some(response) => Message::Changed(response),
                None => Message::AsIs,
            },
        }
    }

    /// Takes the refusals that have been told so far; returns whether there may come more.
    pub fn take_events(&self) -> bool {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [0; 16 * 1024];
        loop {
            match events.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => events.begun.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
            let Some(end) = events.begun.iter().rposition(|byte| *byte == b'\n') else {
                if events.begun.len() > LONGEST_ROW {
                    events.begun.clear();
                }
                continue;
            };
            let rows: Vec<u8> = events.begun.drain(..=end).collect();
            let mut state = self.state();
            for refusal in rows.split(|byte| *byte == b'\n').filter_map(Refusal::read) {
                state.calls.note(&refusal);
            }
        }
    }

    /// The client is gone: no question is answered any more.
    pub fn end(&self) {
        self.state().asked.clear();
    }
}

/// The line end of a line.
fn line_end(text: &str) -> &'static str {
    match (text.ends_with("\r\n"), text.ends_with('\n')) {
        (true, _) => "\r\n",
        (_, true) => "\n",
        _ => "",
    }
}

/// A batch: each message by itself.
fn batch(messages: &[Object<'_>], text: &str, read: impl Fn(&Object<'_>) -> Message) -> Passed {
    let mut is_changed = false;
    let mut passed: Vec<Cow<'_, str>> = Vec::new();
    for message in messages {
        match read(message) {
            Message::AsIs => passed.push(message.with(&[]).into()),
            Message::Changed(message) => {
                is_changed = true;
                passed.push(message.into());
            }
            Message::Nothing => is_changed = true,
        }
    }
    match (is_changed, passed.is_empty()) {
        (false, _) => Passed::AsIs,
        (true, true) => Passed::Nothing,
        (true, false) => Passed::Changed(format!("[{}]{}", passed.join(","), line_end(text))),
    }
}

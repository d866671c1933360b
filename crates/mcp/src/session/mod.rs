//! One client and its server: what passes between them, and what changes on the way.
//!
//! Lines pass byte for byte unless a message has to change. A line that begins as a message does and can't be read doesn't
//! pass, nor does one that some reader might understand in another way than this one. Of the server, responses pass only to
//! requests that are open.

mod asking;
mod checking;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use stockade::internal::WrittenTrees;
use stockade_report::approve::Approver;
use stockade_report::report::{Flag, FlagGrant, PathGrant};

pub(crate) use asking::serve;
use asking::{Limits, Outcome};

use crate::calls::{Call, Calls, MAX_TASKS, Open, Request};
use crate::elicit;
use crate::known::Known;
use crate::listing::shown;
use crate::message::{Id, Kind, Line, Object, Whole, decoded, quoted, without_mark};
use crate::refusal::Refusal;
use crate::result::{content, explained, failure};
use crate::roots;
use crate::rules::Rules;

/// The most different remarks about tools in one session.
const MAX_TOLD: usize = 256;

/// The most remarks about lines that don't pass in one session.
const MAX_LINES_TOLD: u32 = 32;

/// The longest row of the events.
const MAX_ROW: usize = 1 << 20;

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
    /// The names of the client's variables that the server doesn't get.
    pub lacks: Vec<String>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where a link may be one that an earlier run made.
    pub trees: WrittenTrees,
    /// A word that no server can guess, for the ids of requests to the client.
    pub token: String,
    /// Tells a person something, in one line.
    pub tell: Box<dyn Fn(&str) + Send + Sync>,
}

pub(crate) type ToServer = Box<dyn Fn(&str) + Send + Sync>;

/// One client and its server.
pub struct Session {
    pub(crate) setup: Setup,
    pub(crate) state: Mutex<State>,
    client: Mutex<Box<dyn Write + Send>>,
    /// Takes a line of this program's own for the server.
    pub(crate) server: OnceLock<ToServer>,
    events: Mutex<Events>,
    is_carrying: AtomicBool,
}

/// While this lives, a line of the server is on its way to the client.
pub(crate) struct Carrying<'s>(&'s AtomicBool);

impl Drop for Carrying<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// What changes while the session lasts.
#[derive(Default)]
pub(crate) struct State {
    pub calls: Calls,
    /// Whether the client shows forms by a request.
    pub shows_forms: bool,
    has_roots: bool,
    /// Whether the client is gone, or can't be reached.
    pub is_over: bool,
    /// The negotiated version of the protocol.
    pub version: String,
    /// The open requests of this program to the client.
    pub asked: HashMap<Id, Sender<Outcome>>,
    pub last_number: u64,
    roots_asked: Option<Id>,
    pub roots: Vec<FlagGrant>,
    /// Where a link may be one that a run made: what the setup says, and all roots that were announced for writing.
    trees: WrittenTrees,
    pub limits: Limits,
    pub listing: checking::State,
    told: HashSet<String>,
    lines_told: u32,
    /// Whether it was told that texts of the server don't pass.
    texts_told: bool,
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
    /// It doesn't pass, which is told.
    Odd {
        why: &'static str,
        /// What passes in its place.
        instead: Option<String>,
    },
}

impl Message {
    fn odd(why: &'static str) -> Message {
        Message::Odd { why, instead: None }
    }
}

/// Who writes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    Client,
    Server,
}

impl Session {
    /// A session that writes to this client, and learns of refusals from this stream, which doesn't block.
    pub fn new(setup: Setup, client: Box<dyn Write + Send>, events: Box<dyn Read + Send>) -> Session {
        let state = State {
            trees: setup.trees.clone(),
            ..State::default()
        };
        Session {
            setup,
            state: Mutex::new(state),
            client: Mutex::new(client),
            server: OnceLock::new(),
            events: Mutex::new(Events {
                stream: events,
                begun: Vec::new(),
            }),
            is_carrying: AtomicBool::new(false),
        }
    }

    /// Says that a line of the server is on its way to the client.
    pub(crate) fn carrying(&self) -> Carrying<'_> {
        self.is_carrying.store(true, Ordering::Release);
        Carrying(&self.is_carrying)
    }

    /// Whether a line of the server is on its way to the client, which may be slow to take it.
    pub fn is_carrying(&self) -> bool {
        self.is_carrying.load(Ordering::Acquire)
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

    /// Writes a message of this program's own to the server. One that is gone needs none.
    fn say_to_server(&self, message: &str) {
        if let Some(server) = self.server.get() {
            server(&format!("{message}\n"));
        }
    }

    pub(crate) fn tell(&self, text: &str) {
        (self.setup.tell)(text);
    }

    /// Tells a remark once in a session.
    pub(crate) fn tell_once(&self, text: String) {
        let (is_new, is_last) = {
            let mut state = self.state();
            let is_new = state.told.len() < MAX_TOLD && state.told.insert(text.clone());
            (is_new, state.told.len() == MAX_TOLD)
        };
        if is_new {
            self.tell(&text);
            if is_last {
                self.tell("further remarks about tools aren't told in this session");
            }
        }
    }

    /// Tells that a line doesn't pass.
    fn tell_odd(&self, writer: Writer, why: &str, line: &str) {
        let told = {
            let mut state = self.state();
            state.lines_told = state.lines_told.saturating_add(1);
            state.lines_told
        };
        if told <= MAX_LINES_TOLD {
            let writer = writer.name();
            self.tell(&format!(
                "a line of {writer} isn't passed on, since {why}: `{}`",
                beginning(line)
            ));
        }
        if told == MAX_LINES_TOLD {
            self.tell("further lines that aren't passed on aren't told in this session");
        }
    }

    /// Tells once that texts of the server don't pass.
    fn tell_text(&self, line: &str) {
        if !std::mem::replace(&mut self.state().texts_told, true) {
            self.tell(&format!(
                "texts that the server writes to standard output aren't passed on, since they are no messages: `{}`",
                beginning(line)
            ));
        }
    }

    /// What becomes of a line of the client.
    pub fn of_client(&self, line: &[u8]) -> Passed {
        self.pass(line, Writer::Client, |message| self.client_says(message))
    }

    /// What becomes of a line of the server.
    pub fn of_server(&self, line: &[u8]) -> Passed {
        self.pass(line, Writer::Server, |message| self.server_says(message))
    }

    fn pass(&self, line: &[u8], writer: Writer, read: impl Fn(&Object<'_>) -> Message) -> Passed {
        let text = decoded(line);
        let undecoded = matches!(text, Cow::Owned(_)).then_some("it isn't UTF-8");
        let told = |message: Message| match message {
            Message::Odd { why, instead } => {
                self.tell_odd(writer, why, &text);
                instead.map_or(Message::Nothing, Message::Changed)
            }
            other => other,
        };
        let read = |whole: &Whole<'_>| {
            told(match undecoded.or(whole.ambiguity) {
                None => read(&whole.message),
                Some(why) => self.stopped(writer, &whole.message, why),
            })
        };
        let passed = |message: Message| match message {
            Message::AsIs => Passed::AsIs,
            Message::Changed(message) => Passed::Changed(message + line_end(&text)),
            Message::Nothing | Message::Odd { .. } => Passed::Nothing,
        };
        let passed = match (Line::read(&text), writer) {
            (Line::Blank, _) | (Line::Plain, Writer::Client) => return Passed::AsIs,
            (Line::Plain, Writer::Server) => {
                self.tell_text(&text);
                Passed::Nothing
            }
            (Line::Unreadable(begun), _) => {
                let why = "it can't be read as a message";
                passed(told(self.stopped(writer, &begun, why)))
            }
            (Line::One(message), _) => passed(read(&message)),
            (Line::Batch(messages), _) => batch(&messages, &text, read),
        };
        // Some readers trip over the mark.
        match (passed, without_mark(&text)) {
            (Passed::AsIs, unmarked) if unmarked.len() < text.len() => Passed::Changed(unmarked.to_owned()),
            (passed, _) => passed,
        }
    }

    /// A message that doesn't pass. Where its id can be read, the side that would wait gets an error.
    fn stopped(&self, writer: Writer, message: &Object<'_>, why: &'static str) -> Message {
        let is_request = message.has_like("method");
        let id = message.get("id").and_then(Id::of);
        let error = error(written_id(message), -32700, why);
        let mut instead = None;
        match (writer, id) {
            (_, None) => {}
            (Writer::Client, Some(_)) if is_request => self.say(&error),
            (Writer::Server, Some(_)) if is_request => self.say_to_server(&error),
            (Writer::Server, Some(id)) => {
                if let Some(request) = self.ended(&id) {
                    return self.odd_response(why, &request);
                }
            }
            // Without a result it is a no to a question of this program.
            (Writer::Client, Some(id)) => match self.answered(&id, &Object::default()) {
                Message::AsIs => instead = Some(error),
                own => return own,
            },
        }
        Message::Odd { why, instead }
    }

    fn client_says(&self, message: &Object<'_>) -> Message {
        let Some(kind) = Kind::of(message) else {
            return self.stopped(Writer::Client, message, "its method or its id can't be read");
        };
        match kind {
            Kind::Request(id, method) => self.begin(id, &method, message),
            Kind::Notification(method) => self.notified(&method, message),
            Kind::Response(id) => self.answered(&id, message),
            Kind::Other => Message::AsIs,
        }
    }

    /// Follows a request of the client, so that its response passes.
    fn begin(&self, id: Id, method: &str, message: &Object<'_>) -> Message {
        let open = match method {
            "initialize" => {
                self.meet(message);
                Open::Initialize
            }
            "tools/list" => {
                let parameters = message.object("params").unwrap_or_default();
                let is_continued = parameters.get("cursor").is_some_and(|cursor| cursor.get() != "null");
                Open::List { is_continued }
            }
            "tools/call" => return self.begin_call(id, message),
            "tasks/result" => {
                let task = message
                    .object("params")
                    .and_then(|parameters| parameters.text("taskId"));
                task.map_or(Open::Other, |id| Open::Task {
                    task: self.state().calls.task(&id),
                    call: None,
                })
            }
            _ => Open::Other,
        };
        let written_id = written_id(message);
        if self.state().calls.begin(id, written_id, open) {
            return Message::AsIs;
        }
        self.say(&error(written_id, -32603, TOO_MANY));
        Message::Nothing
    }

    fn notified(&self, method: &str, message: &Object<'_>) -> Message {
        match method {
            "notifications/initialized" | "notifications/roots/list_changed" => self.ask_for_roots(),
            "notifications/cancelled" => {
                let parameters = message.object("params").unwrap_or_default();
                if let Some(id) = parameters.get("requestId").and_then(Id::of) {
                    self.state().calls.give_up(&id);
                }
            }
            // A server might run it all the same, and this session would not follow it.
            "tools/call" => return Message::odd("a call of a tool needs an id"),
            _ => {}
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
            self.say(&error(written_id(message), -32602, text));
            return Message::Nothing;
        };
        let meta = parameters.object("_meta").unwrap_or_default();
        let version = meta.text("io.modelcontextprotocol/protocolVersion").unwrap_or_default();
        let is_modern = elicit::is_stateless(&version);
        let why = self.why_not(&name).or_else(|| {
            let arguments = parameters.get("arguments").map_or("", |arguments| arguments.get());
            let call = Call {
                is_modern,
                is_task: parameters.object("task").is_some(),
                ..Call::new(name, arguments)
            };
            let has_room = self.state().calls.begin(id, written_id(message), Open::Call(call));
            (!has_room).then(|| TOO_MANY.to_owned())
        });
        match why {
            None => Message::AsIs,
            Some(why) => {
                let told = content(&format!("Permission denied: {why}"));
                self.say(&failure(written_id(message), &[&told], is_modern));
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
            // Until it answers none counts: it may have taken them back.
            state.roots.clear();
            id
        };
        self.say(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"roots/list\"}}",
            id.json()
        ));
    }

    fn take_roots(&self, message: &Object<'_>) {
        let (Some(flag), Some(result)) = (self.setup.rules.roots, message.get("result")) else {
            // Those of before count no more.
            self.state().roots.clear();
            return;
        };
        let named = roots::named(result);
        let (paths, refused) = {
            let trees = &mut self.state().trees;
            if flag == Flag::Write {
                trees.add(named.iter().cloned());
            }
            roots::granted(&named, self.setup.home.as_deref(), trees)
        };
        refused.into_iter().for_each(|why| self.tell_once(why));
        let grants = paths.into_iter().map(|path| FlagGrant::Path(PathGrant { flag, path }));
        self.state().roots = grants.collect();
    }

    fn server_says(&self, message: &Object<'_>) -> Message {
        match Kind::strictly_of(message) {
            Ok(Kind::Response(id)) => match self.ended(&id) {
                Some(request) => self.with_clients_id(message, request),
                None => Message::odd("no request with its id is open"),
            },
            Ok(_) => Message::AsIs,
            Err(why) => self.stopped(Writer::Server, message, why),
        }
    }

    /// The request that a response of the server answers, with all refusals of its time.
    fn ended(&self, id: &Id) -> Option<Request> {
        // Refusals are told before the program that they stop goes on: all of this call's are there.
        self.take_events();
        self.state().calls.end(id)
    }

    /// Told as odd; the client gets an error in place of the response, with the refusals of a call.
    pub(crate) fn odd_response(&self, why: &'static str, request: &Request) -> Message {
        let text = format!("the server's response isn't passed on: {why}");
        let text = error(&request.written_id, -32603, &text);
        let explained = Object::read(&text).and_then(|text| self.explained(&text, request));
        Message::Odd {
            why,
            instead: Some(explained.unwrap_or(text)),
        }
    }

    /// The response that ends a call, with the refusals that explain it. Those of a task are told with that.
    fn explained(&self, response: &Object<'_>, request: &Request) -> Option<String> {
        let explained = explained(response, request.ended_call()?, &self.setup.name, &self.setup.lacks)?;
        self.state().calls.forget_task(request);
        Some(explained)
    }

    /// A response, with the id as the client wrote it: other clients tell `1.0` or `"1"` from `1`, or don't.
    fn with_clients_id(&self, message: &Object<'_>, request: Request) -> Message {
        if written_id(message) == request.written_id {
            return self.responds(message, request);
        }
        let id = request.written_id.clone();
        let Ok(id) = serde_json::from_str(&id) else {
            return Message::odd("its id can't be read");
        };
        let message = message.replaced("id", id);
        match self.responds(&message, request) {
            Message::AsIs => Message::Changed(message.with(&[])),
            other => other,
        }
    }

    /// A response of the server to this request.
    fn responds(&self, message: &Object<'_>, request: Request) -> Message {
        let result = match message.get("result").map(|result| result.get()) {
            Some(text) if text.starts_with('{') => match Object::read(text) {
                Some(result) => result,
                None => return self.odd_response("its result can't be read", &request),
            },
            _ => Object::default(),
        };
        match &request.open {
            Open::Initialize => self.state().version = result.text("protocolVersion").unwrap_or_default(),
            // No call returns a listing: a client might take it for one, and what it says of refusals is lost in it.
            Open::Call(_) | Open::Task { .. } if result.get("tools").is_some() => {
                return self.odd_response("the result of a call holds a list of tools", &request);
            }
            Open::Call(call) => {
                let explained = self.explained(message, &request);
                let task = result.object("task").filter(|_| explained.is_none() && call.is_task);
                if let Some(id) = task.and_then(|task| task.text("taskId")) {
                    self.keep_task(&id, call);
                }
                return explained.map_or(Message::AsIs, Message::Changed);
            }
            Open::Task { .. } => {
                let explained = self.explained(message, &request);
                // An error may say that there is no result yet.
                if result.get("content").is_some() {
                    self.state().calls.forget_task(&request);
                }
                return explained.map_or(Message::AsIs, Message::Changed);
            }
            Open::List { is_continued } => {
                return self.checked(message, &result, Some(*is_continued), &request);
            }
            Open::Other => {}
        }
        // A client might take it for a listing, whatever it asked for.
        match result.get("tools") {
            Some(_) => self.checked(message, &result, None, &request),
            None => Message::AsIs,
        }
    }

    /// Keeps the refusals of a call for the result of its task.
    fn keep_task(&self, id: &str, call: &Call) {
        let call = Call {
            is_task: false,
            ..call.clone()
        };
        let is_any_forgotten = {
            let calls = &mut self.state().calls;
            calls.keep_task(calls.task(id), call)
        };
        if is_any_forgotten {
            self.tell_once(format!(
                "more than {MAX_TASKS} tasks whose results weren't passed: the refusals of the oldest are forgotten"
            ));
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
                if events.begun.len() > MAX_ROW {
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

    /// The client is gone, or can't be reached: no question is put to it or answered any more.
    pub fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.asked.clear();
    }

    /// Lets go of the stream to the client.
    pub(crate) fn close_client(&self) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(io::sink());
    }
}

impl Writer {
    fn name(self) -> &'static str {
        match self {
            Writer::Client => "the client",
            Writer::Server => "the server",
        }
    }
}

/// Why a request isn't passed to the server.
const TOO_MANY: &str = "too many requests are open";

/// The id of a request as it was written.
fn written_id<'a>(message: &Object<'a>) -> &'a str {
    message.get("id").map_or("null", |id| id.get())
}

/// The response to a request that failed.
fn error(id: &str, code: i32, text: &str) -> String {
    let text = quoted(text);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{text}}}}}")
}

/// The beginning of a line, for a person.
fn beginning(line: &str) -> String {
    let start: String = line.chars().take(200).collect();
    shown(&start)
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
fn batch(messages: &[Whole<'_>], text: &str, read: impl Fn(&Whole<'_>) -> Message) -> Passed {
    let mut is_changed = false;
    let mut passed = String::with_capacity(text.len());
    for message in messages {
        let read = read(message);
        is_changed |= !matches!(read, Message::AsIs);
        if matches!(read, Message::AsIs | Message::Changed(_)) {
            passed.push(if passed.is_empty() { '[' } else { ',' });
        }
        match read {
            Message::AsIs => passed.extend(message.message.parts(&[])),
            Message::Changed(message) => passed.push_str(&message),
            Message::Nothing | Message::Odd { .. } => {}
        }
    }
    match (is_changed, passed.is_empty()) {
        (false, _) => Passed::AsIs,
        (true, true) => Passed::Nothing,
        (true, false) => Passed::Changed(passed + "]" + line_end(text)),
    }
}

#[cfg(test)]
mod tests;

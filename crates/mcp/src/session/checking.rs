//! Listings of tools on their way to the client: compared with what was accepted, and without what is refused.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::calls::Request;
use crate::known::{self, Content};
use crate::listing::{Accepted, Finding, Tool, definitions_of, shown};
use crate::message::Object;
use crate::session::{Message, Session};

/// What is known of the listings of a session.
#[derive(Default)]
pub(crate) struct State {
    /// How far the very first listing of this server is, where nothing was accepted before.
    first: First,
    /// The tools that are refused, and why.
    refused: HashMap<String, String>,
    /// What would be kept, where it can't be.
    unkept: Option<Content>,
    /// The tools of the listing so far, as far as the configuration names them.
    named: HashSet<String>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum First {
    #[default]
    Expected,
    Begun,
    Over,
}

/// Other servers, and the tools that they have too.
type Shadowed = BTreeMap<String, Vec<String>>;

/// Tools that are remembered as refused. A server with more has none that can be called.
const MAX_REFUSED: usize = 4096;

impl State {
    fn why_refused(&self, tool: &str, server: &str) -> Option<String> {
        let too_many = || format!("too many tools of the server `{server}` are refused");
        let is_full = self.refused.len() >= MAX_REFUSED;
        self.refused.get(tool).cloned().or_else(|| is_full.then(too_many))
    }
}

impl Session {
    /// Why a tool can't be called; `None` if it can.
    pub(crate) fn why_not(&self, tool: &str) -> Option<String> {
        let server = shown(&self.setup.name);
        if !self.setup.rules.has(tool) {
            return Some(format!(
                "the tool `{}` of the server `{server}` is denied by the configuration (`[mcp.servers.{server}]`)",
                shown(tool)
            ));
        }
        if let Some(why) = self.state().listing.why_refused(tool, &server) {
            return Some(why);
        }
        if self.setup.rules.refuses_changed {
            let content = self.load().0;
            let is_in = |tools: &Option<Accepted>| tools.as_ref().is_some_and(|tools| tools.0.contains_key(tool));
            if content.accepted.is_some() && !is_in(&content.accepted) {
                return Some(match is_in(&content.listed) {
                    true => self.how_to_accept(&Finding::New.text(tool)),
                    false => format!("the server `{server}` has listed no tool `{}`", shown(tool)),
                });
            }
        }
        None
    }

    fn how_to_accept(&self, why: &str) -> String {
        format!("{why}\n  {} accepts it", self.accepting())
    }

    fn accepting(&self) -> String {
        format!("`stockade mcp tools {} --accept`", shown(&self.setup.name))
    }

    /// What is kept of the server's tools, and whether it may be replaced.
    fn load(&self) -> (Content, bool) {
        if let Some(content) = self.state().listing.unkept.clone() {
            return (content, false);
        }
        let Some(known) = &self.setup.known else {
            return (Content::default(), false);
        };
        match known.load() {
            Ok(content) => (content, true),
            Err(error) => {
                self.tell_once(format!("no tool counts as accepted: {}", shown(&error.to_string())));
                let content = Content {
                    accepted: Some(Accepted::default()),
                    ..Content::default()
                };
                (content, false)
            }
        }
    }

    /// A listing without the tools that are denied or refused. Tells what is odd.
    ///
    /// `is_continued`: whether another page was asked for; `None` where no listing was asked for at all.
    pub(crate) fn checked(
        &self,
        message: &Object<'_>,
        result: &Object<'_>,
        is_continued: Option<bool>,
        request: &Request,
    ) -> Message {
        let Some(definitions) = result.get("tools") else {
            return Message::AsIs;
        };
        let Some(definitions) = definitions_of(definitions) else {
            return self.odd_response("its list of tools can't be read", request);
        };
        let (mut content, is_kept) = self.load();
        let before = content.clone();
        let is_last = result.get("nextCursor").is_none_or(|cursor| cursor.get() == "null");
        let is_first = is_continued.is_some_and(|is_continued| self.is_first(&content, is_continued, is_last));
        // From the first listing on everything else is new, also if it lists nothing.
        let accepted = content.accepted.get_or_insert_default().clone();
        let others = self.setup.known.as_ref().map(known::Known::others).unwrap_or_default();
        let mut passed = Vec::new();
        let mut shadowed = Shadowed::new();
        if is_continued == Some(false) {
            self.state().listing.named.clear();
        }
        for definition in &definitions {
            let Some(tool) = Tool::read(definition.get()) else {
                self.tell_once("a tool is left out, since its definition can't be read".to_owned());
                continue;
            };
            if self.setup.rules.named().any(|name| name == tool.name) {
                self.state().listing.named.insert(tool.name.clone());
            }
            let findings = tool.findings((!is_first).then_some(&accepted), &others);
            let is_refused = self.is_refused(&tool, &findings, &mut shadowed);
            known::add(&mut content, &tool, is_first);
            if self.setup.rules.has(&tool.name) && !is_refused {
                passed.push(definition.get());
            }
        }
        self.tell_shadowed(shadowed);
        if is_last && is_continued.is_some() {
            self.tell_unlisted();
        }
        // What is as it was accepted waits for no one.
        if let (Some(Accepted(accepted)), Some(Accepted(listed))) = (&content.accepted, &mut content.listed) {
            listed.retain(|name, hash| accepted.get(name) != Some(hash));
            if listed.is_empty() {
                content.listed = None;
            }
        }
        if content != before {
            self.keep(content, is_kept);
        }
        if passed.len() == definitions.len() {
            return Message::AsIs;
        }
        let passed = passed.join(",");
        let result = result.parts(&[("tools", &["[", &passed, "]"])]);
        let result: Vec<&str> = result.iter().map(AsRef::as_ref).collect();
        Message::Changed(message.with(&[("result", &result)]))
    }

    /// A line for each tool that the configuration names and the server doesn't list: a wrong name holds for nothing.
    fn tell_unlisted(&self) {
        let listed = std::mem::take(&mut self.state().listing.named);
        let server = shown(&self.setup.name);
        for name in self.setup.rules.named().filter(|name| !listed.contains(*name)) {
            self.tell_once(format!(
                "`[mcp.servers.{server}]` names the tool `{}`, which the server doesn't list",
                shown(name)
            ));
        }
    }

    /// Keeps what was listed: in the state directory, else as long as the session lasts.
    fn keep(&self, content: Content, is_kept: bool) {
        if let Some(known) = self.setup.known.as_ref().filter(|_| is_kept) {
            match known.store(&content) {
                Ok(()) => return,
                Err(error) => self.tell_once(format!("can't keep the list of tools: {}", shown(&error.to_string()))),
            }
        }
        self.state().listing.unkept = Some(content);
    }

    /// Whether this page belongs to the very first listing of the server, which is accepted.
    fn is_first(&self, content: &Content, is_continued: bool, is_last: bool) -> bool {
        let mut state = self.state();
        let is_first = match state.listing.first {
            First::Expected => content.accepted.is_none(),
            First::Begun => is_continued,
            First::Over => false,
        };
        state.listing.first = if is_first && !is_last {
            First::Begun
        } else {
            First::Over
        };
        is_first
    }

    /// One line for all tools that another server has too.
    fn tell_shadowed(&self, shadowed: Shadowed) {
        const NAMED: usize = 3;
        let refuses = self.setup.rules.refuses_shadowed;
        for (server, tools) in shadowed {
            let named: Vec<String> = tools
                .iter()
                .take(NAMED)
                .map(|tool| format!("`{}`", shown(tool)))
                .collect();
            let more = match tools.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (noun, verb) = if tools.len() == 1 {
                ("tool", "it is")
            } else {
                ("tools", "they are")
            };
            let refused = if refuses {
                format!("; {verb} refused")
            } else {
                String::new()
            };
            let server = shown(&server);
            self.tell_once(format!(
                "the server `{server}` has the {noun} {}{more} too{refused}",
                named.join(", ")
            ));
        }
    }

    /// Tells what is odd about a tool; whether it is refused for that.
    fn is_refused(&self, tool: &Tool, findings: &[Finding], shadowed: &mut Shadowed) -> bool {
        let rules = &self.setup.rules;
        let refuses = |finding: &&Finding| {
            finding.is_change() && rules.refuses_changed || finding.is_shadow() && rules.refuses_shadowed
        };
        let why = findings.iter().find(refuses).map(|finding| match finding.is_change() {
            true => self.how_to_accept(&finding.text(&tool.name)),
            false => format!("{} (`on_shadowed_tools`)", finding.text(&tool.name)),
        });
        for finding in findings {
            if let Finding::Shadows(server) = finding {
                shadowed.entry(server.clone()).or_default().push(tool.name.clone());
                continue;
            }
            let consequence = match (refuses(&finding), finding.is_change()) {
                (true, true) => format!("\n  it is refused until {}", self.accepting()),
                (true, false) => "; it is refused".to_owned(),
                (false, true) => self.how_to_accept(""),
                (false, false) => String::new(),
            };
            self.tell_once(finding.text(&tool.name) + &consequence);
        }
        let mut state = self.state();
        let refused = &mut state.listing.refused;
        match why {
            Some(why) => {
                if refused.len() < MAX_REFUSED {
                    refused.insert(tool.name.clone(), why);
                }
                true
            }
            None => {
                refused.remove(&tool.name);
                false
            }
        }
    }
}

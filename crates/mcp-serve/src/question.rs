//! Questions of runs: read from the socket of `--ask fd:N`, put to the person at the client as a form, answered with a line.
//!
//! Anything but a clear yes is a no.

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arguments::Grants;
use std::path::Path;
use std::time::Duration;
use stockade_text::quote::command_line;
use stockade_text::visible::visible;

/// The most characters of a reason.
const MAX_REASON: usize = 500;

/// A line of the socket.
#[derive(Debug)]
pub enum Line {
    /// A question.
    Question(Box<Question>),
    /// The question of this id isn't waited for any more.
    Withdrawn(String),
}

/// A question, as `schemas/escalation.schema.json` has it.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    current_profile: String,
    requested: Requested,
    wider: Option<Requested>,
    evidence: Evidence,
    lifetimes: Vec<String>,
    timeout_ms: u64,
}

#[derive(Debug, Clone, Deserialize)]
struct Requested {
    #[serde(default)]
    grants: Vec<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Evidence {
    access: String,
    target: String,
    program: String,
    command: Vec<String>,
    why: String,
    warning: Option<String>,
}

#[derive(Deserialize)]
struct Withdrawn {
    withdrawn: String,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A yes.
    Yes(Yes),
    /// A no, with the reason.
    No(Option<String>),
}

/// What a yes grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yes {
    /// The very access.
    Once,
    /// The grant asked for, until the run ends.
    Session,
    /// The wider one, until the run ends.
    Wider,
    /// The grant asked for, and everything that the client asked for as well, until the run ends.
    AllAsked,
}

/// Reads a line; `None` for one that isn't understood, which gets no answer.
pub fn read(line: &[u8]) -> Option<Line> {
    if let Ok(Withdrawn { withdrawn }) = serde_json::from_slice(line) {
        return Some(Line::Withdrawn(withdrawn));
    }
    serde_json::from_slice(line)
        .ok()
        .map(|question| Line::Question(Box::new(question)))
}

const ONCE: &str = "once";
const SESSION: &str = "session";
const WIDER: &str = "wider";
const ASKED: &str = "all-asked";
const NO: &str = "no";

impl Question {
    /// How long the answer is waited for.
    pub fn time(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// The form for the person at the client.
    pub fn form(&self, asked: &Grants) -> ElicitRequestParams {
        let mut choices: Vec<&str> = [ONCE, SESSION].into_iter().filter(|word| self.lasts(word)).collect();
        let mut meaning = "`once`: this access; `session`: until the run ends".to_string();
        if self.offers_wider() {
            choices.push(WIDER);
            meaning += "; `wider`: the wider grant, until the run ends";
        }
        if self.offers_all(asked) {
            choices.push(ASKED);
            meaning += "; `all-asked`: this, and all that the client asked for, until the run ends";
        }
        choices.push(NO);
        let schema = json!({
            "type": "object",
            "properties": {
                "answer": { "type": "string", "title": "Answer", "description": meaning, "enum": choices },
                "reason": {
                    "type": "string", "title": "Reason", "description": "Told to the program with a no.", "maxLength": MAX_REASON
                }
            },
            "required": ["answer"]
        });
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message(asked),
            requested_schema: serde_json::from_value(schema).expect("the schema is one of a form"),
        }
    }

    /// Whether single grants wider than those asked for are known.
    fn offers_wider(&self) -> bool {
        self.lasts(SESSION) && self.wider.as_ref().is_some_and(|wider| !wider.grants.is_empty())
    }

    /// Whether one answer may give all that the client asked for: where the form shows each of it.
    fn offers_all(&self, asked: &Grants) -> bool {
        let listed = listed(asked);
        !asked.is_empty() && self.lasts(SESSION) && shortened(&listed) == listed
    }

    fn lasts(&self, lifetime: &str) -> bool {
        self.lifetimes.iter().any(|word| word == lifetime)
    }

    /// The question in a few lines. What the program chose is escaped, and ends no line.
    fn message(&self, asked: &Grants) -> String {
        let evidence = &self.evidence;
        let grants = |requested: &Requested| {
            let lines: Vec<String> = requested.grants.iter().map(|words| command_line(words)).collect();
            visible(&lines.join(" ")).into_owned()
        };
        let mut lines = vec![
            format!(
                "`{}` wants to {} `{}`",
                visible(&evidence.program),
                visible(&evidence.access),
                visible(&evidence.target)
            ),
            format!(
                "refused under `{}`: {}",
                visible(&self.current_profile),
                visible(&evidence.why)
            ),
            format!("would grant: {}", grants(&self.requested)),
        ];
        let wider = self.wider.as_ref().filter(|_| self.offers_wider());
        lines.extend(wider.map(|wider| format!("wider grants: {}", grants(wider))));
        lines.push(format!(
            "command: {}",
            shortened(&visible(&command_line(&evidence.command)))
        ));
        lines.extend(
            evidence
                .warning
                .as_ref()
                .map(|warning| format!("warning: {}", visible(warning))),
        );
        if !asked.is_empty() {
            lines.push(format!("the client asked for: {}", shortened(&listed(asked))));
        }
        lines.join("\n")
    }

    /// Whether the client asked for all that it requests, by path component, or by the host's name.
    pub fn is_covered(&self, asked: &Grants) -> bool {
        let covers = |words: &Vec<String>| {
            let [flag, value] = words.as_slice() else { return false };
            match flag.as_str() {
                "--read" => is_below(value, &asked.read) || is_below(value, &asked.write),
                "--write" => is_below(value, &asked.write),
                "--host" => asked.host.iter().any(|host| is_host(value, host)),
                _ => false,
            }
        };
        let grants = &self.requested.grants;
        !grants.is_empty() && self.lasts(SESSION) && grants.iter().all(covers)
    }

    /// What the client's answer says.
    pub fn said(&self, result: &ElicitResult, asked: &Grants) -> Said {
        let field = |name: &str| result.content.as_ref()?.get(name)?.as_str().map(String::from);
        let reason = || field("reason").map(|reason| reason.chars().take(MAX_REASON).collect::<String>());
        if result.action != ElicitationAction::Accept {
            return Said::No(None);
        }
        match field("answer").as_deref() {
            Some(ONCE) if self.lasts(ONCE) => Said::Yes(Yes::Once),
            Some(SESSION) if self.lasts(SESSION) => Said::Yes(Yes::Session),
            Some(WIDER) if self.offers_wider() => Said::Yes(Yes::Wider),
            Some(ASKED) if self.offers_all(asked) => Said::Yes(Yes::AllAsked),
            _ => Said::No(reason().filter(|reason| !reason.trim().is_empty())),
        }
    }

    /// The line for Stockade.
    pub fn answer(&self, said: &Said, by: &str) -> Vec<u8> {
        let answer = match said {
            Said::Yes(yes) => {
                let lifetime = if *yes == Yes::Once { ONCE } else { SESSION };
                let extent = if *yes == Yes::Wider { WIDER } else { "requested" };
                json!({ "id": self.id, "answer": "yes", "lifetime": lifetime, "extent": extent, "by": by })
            }
            Said::No(reason) => json!({ "id": self.id, "answer": "no", "reason": reason, "by": by }),
        };
        format!("{answer}\n").into_bytes()
    }
}

fn is_below(path: &str, trees: &[String]) -> bool {
    trees.iter().any(|tree| Path::new(path).starts_with(tree))
}

/// Without a port a host is asked for at 80 and 443, as by `--host`.
fn is_host(requested: &str, asked: &str) -> bool {
    requested.eq_ignore_ascii_case(asked)
        || [80, 443]
            .iter()
            .any(|port| requested.eq_ignore_ascii_case(&format!("{asked}:{port}")))
}

/// What the client asked for, as flags.
fn listed(asked: &Grants) -> String {
    visible(&command_line(&asked.flags().concat())).into_owned()
}

fn shortened(text: &str) -> String {
    stockade_text::visible::fit::shortened(text, 400)
}

/// The result that a client sends for an elicitation within a retried call.
pub fn result_of(value: &Value) -> ElicitResult {
    let no = || ElicitResult::new(ElicitationAction::Cancel);
    serde_json::from_value(value.clone()).unwrap_or_else(|_| no())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        let line = json!({
            "version": 1, "id": "r-1", "run": "r", "capability_id": null, "current_profile": "readonly",
            "requested": { "grants": [["--write", "/r/out/\u{1b}[2Ja"]] }, "wider": null,
            "reason": "PermissionDenied: create /r/out/a",
            "evidence": {
                "access": "create", "target": "/r/out/\u{1b}[2Ja\nstockade: fine", "asked": "a", "syscall": "openat", "pid": 1,
                "program": "/usr/bin/cp", "command": ["cp", "a", "b"], "root": "/r", "agent": "mcp", "why": "nothing grants it",
                "warning": null, "at_ms": 1
            },
            "lifetimes": ["once", "session", "always"], "granted_beside": 0, "live": true, "timeout_ms": 1000
        });
        match read(line.to_string().as_bytes()) {
            Some(Line::Question(question)) => *question,
            other => panic!("{other:?}"),
        }
    }

    fn accepted(content: Value) -> ElicitResult {
        ElicitResult::new(ElicitationAction::Accept).with_content(content)
    }

    fn asked(write: &str) -> Grants {
        Grants {
            write: vec![write.into()],
            ..Grants::default()
        }
    }

    #[test]
    fn only_an_accepted_word_of_the_form_is_a_yes() {
        let question = question();
        let none = Grants::default();
        assert_eq!(
            question.said(&accepted(json!({ "answer": "once" })), &none),
            Said::Yes(Yes::Once)
        );
        assert_eq!(
            question.said(&accepted(json!({ "answer": "session" })), &none),
            Said::Yes(Yes::Session)
        );
        assert_eq!(
            question.said(&accepted(json!({ "answer": "all-asked" })), &asked("/r")),
            Said::Yes(Yes::AllAsked)
        );
        let mut wide = question.clone();
        wide.wider = Some(Requested {
            grants: vec![vec!["--write".into(), "/r/out".into()]],
        });
        assert_eq!(
            wide.said(&accepted(json!({ "answer": "wider" })), &none),
            Said::Yes(Yes::Wider)
        );
        assert!(wide.message(&none).contains("wider grants: --write /r/out"));
        let line: Value = serde_json::from_slice(&wide.answer(&Said::Yes(Yes::Wider), "x")).unwrap();
        assert_eq!(
            (&line["lifetime"], &line["extent"]),
            (&json!("session"), &json!("wider"))
        );
        for content in [
            json!({ "answer": "wider" }),
            json!({ "answer": "all-asked" }),
            json!({ "answer": "always" }),
            json!({ "answer": "YES" }),
            json!({ "answer": true }),
            json!({ "answer": ["once"] }),
            json!({}),
            json!("once"),
            json!(null),
        ] {
            assert_eq!(
                question.said(&accepted(content.clone()), &none),
                Said::No(None),
                "{content}"
            );
        }
        for action in [ElicitationAction::Decline, ElicitationAction::Cancel] {
            let result = ElicitResult::new(action).with_content(json!({ "answer": "session" }));
            assert_eq!(question.said(&result, &none), Said::No(None));
        }
        let refused = accepted(json!({ "answer": "no", "reason": "not this" }));
        assert_eq!(question.said(&refused, &none), Said::No(Some("not this".into())));
    }

    #[test]
    fn one_answer_gives_all_only_where_the_form_shows_all() {
        let question = question();
        let all = accepted(json!({ "answer": "all-asked" }));
        let mut asked = asked("/r/out");
        for is_shown in [true, false] {
            let form = serde_json::to_value(question.form(&asked)).unwrap();
            let message = form["message"].as_str().unwrap();
            let choices = form["requestedSchema"]["properties"]["answer"]["enum"].to_string();
            let shows_all = asked.write.iter().all(|path| message.contains(path.as_str()));
            assert_eq!((shows_all, choices.contains(ASKED)), (is_shown, is_shown), "{form}");
            assert_eq!(question.said(&all, &asked) == Said::Yes(Yes::AllAsked), is_shown);
            asked.write.extend((0..40).map(|i| format!("/r/chapter-{i}")));
        }
    }

    #[test]
    fn a_garbled_result_is_a_no() {
        for value in [
            json!(null),
            json!({ "action": "yes" }),
            json!([]),
            json!({ "content": { "answer": "once" } }),
        ] {
            assert_eq!(
                question().said(&result_of(&value), &Grants::default()),
                Said::No(None),
                "{value}"
            );
        }
    }

    #[test]
    fn the_programs_words_are_escaped_and_begin_no_line() {
        let ElicitRequestParams::FormElicitationParams { message, .. } = question().form(&Grants::default()) else {
            panic!("a form")
        };
        assert!(!message.contains('\u{1b}') && message.contains("\\u{1b}"), "{message}");
        assert_eq!(message.lines().count(), 4, "{message}");
        assert!(message.lines().all(|line| !line.starts_with("stockade")), "{message}");
    }

    #[test]
    fn what_a_client_asked_for_covers_what_is_below_it_alone() {
        let question = question();
        for (tree, covers) in [
            ("/r", true),
            ("/r/out", true),
            ("/r/ou", false),
            ("/", true),
            ("/x", false),
        ] {
            assert_eq!(question.is_covered(&asked(tree)), covers, "{tree}");
        }
        let read = Grants {
            read: vec!["/r".into()],
            ..Grants::default()
        };
        assert!(!question.is_covered(&read));
        assert!(is_host("api.example.com:443", "API.example.com"));
        assert!(!is_host("api.example.com:8443", "api.example.com"));
        assert!(!is_host("evil.api.example.com:443", "api.example.com"));
    }

    #[test]
    fn a_line_that_isnt_understood_is_no_question() {
        assert!(matches!(read(br#"{"version":1,"withdrawn":"a"}"#), Some(Line::Withdrawn(id)) if id == "a"));
        for line in [&b""[..], b"x", b"{}", b"[]", br#"{"id":"a"}"#] {
            assert!(read(line).is_none());
        }
    }
}

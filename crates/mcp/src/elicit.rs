//! A question of the run as a form for the client's user, and the answer.
//!
//! The texts of a question come from the server: they are escaped. Every answer but a complete yes is a no.

use serde_json::{Value, json};
use stockade_report::approve::{EscalationRequest, Extent, Lifetime, Requested};
use stockade_text::quote::command_line;
use stockade_text::visible::{fit, visible};

use crate::message::Object;

/// The first version of the protocol with forms.
const FIRST: &str = "2025-06-18";

/// The first version in which a choice has titles of its own.
const TITLED: &str = "2025-11-25";

/// The first version in which servers make no requests.
pub const STATELESS: &str = "2026-07-28";

/// Columns of a text in the question.
const COLUMNS: usize = 400;

/// Characters of a reason.
const REASON: usize = 300;

/// Whether a version of the protocol has forms that a server asks for by a request of its own. Versions are dates.
pub fn has_requests(version: &str) -> bool {
    is_date(version) && (FIRST..STATELESS).contains(&version)
}

/// Whether a version of the protocol carries a client's abilities in each request.
pub fn is_stateless(version: &str) -> bool {
    is_date(version) && version >= STATELESS
}

fn is_date(version: &str) -> bool {
    version.len() == FIRST.len() && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Whether a client with these abilities shows forms: `elicitation` without modes means forms.
pub fn shows_forms(abilities: &Object<'_>) -> bool {
    abilities
        .object("elicitation")
        .is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none())
}

/// The parameters of the request for a form.
pub fn form(request: &EscalationRequest, server: &str, tools: &[String], version: &str) -> Value {
    let titled = version >= TITLED;
    let choices = [
        ("once", "Allow it once"),
        ("session", "Allow it until the server ends"),
        ("wider", "Allow the wider grant until the server ends"),
        ("no", "Refuse it"),
    ];
    let is_offered = |word: &str| match word {
        "session" => offers(request, Lifetime::Session, &Extent::Requested),
        "wider" => offers(request, Lifetime::Session, &Extent::Wider),
        _ => true,
    };
    let offered = || choices.iter().filter(|(word, _)| is_offered(word));
    let mut answer = json!({ "type": "string", "title": "Answer" });
    if titled {
        answer["oneOf"] = offered()
            .map(|(word, title)| json!({ "const": word, "title": title }))
            .collect();
    } else {
        answer["enum"] = offered().map(|(word, _)| json!(word)).collect();
        answer["enumNames"] = offered().map(|(_, title)| json!(title)).collect();
    }
    let mut parameters = json!({
        "message": message(request, server, tools),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "answer": answer,
                "reason": {
                    "type": "string",
                    "title": "Reason",
                    "description": "Passed on with a no; may be left empty",
                    "maxLength": REASON,
                },
            },
            "required": ["answer"],
        },
    });
    if titled {
        parameters["mode"] = json!("form");
    }
    parameters
}

fn message(request: &EscalationRequest, server: &str, tools: &[String]) -> String {
    let shown = |text: &str| fit::shortened(&visible(text), COLUMNS);
    let evidence = &request.evidence;
    let access = evidence.access.name();
    let target = match !evidence.asked.is_empty() && evidence.asked != evidence.target {
        true => format!("{} (asked for as {})", shown(&evidence.target), shown(&evidence.asked)),
        false => shown(&evidence.target),
    };
    let during = match tools {
        [] => String::new(),
        tools => format!(" during {}", shown(&tools.join(", "))),
    };
    let mut text = format!(
        "The server {} wants to {access}{during}:\n{target}\nrefused under the profile {}: {}",
        shown(server),
        shown(&request.current_profile),
        shown(&evidence.why)
    );
    // What would be granted is never cut.
    for granted in granted(&request.requested) {
        text += &format!("\nA yes grants {granted}");
    }
    for granted in wider(request).into_iter().flat_map(granted) {
        text += &format!("\nThe wider grant is {granted}");
    }
    if let Some(warning) = &evidence.warning {
        text += &format!("\nWarning: {}", shown(warning));
    }
    text
}

/// Whether a yes for so long and so much is among the answers of the form.
pub fn offers(request: &EscalationRequest, lifetime: Lifetime, extent: &Extent) -> bool {
    request.lifetimes.contains(&lifetime) && (*extent == Extent::Requested || wider(request).is_some())
}

/// What is wider than what was asked for. A profile that is granted only if its name is typed isn't offered.
fn wider(request: &EscalationRequest) -> Option<&Requested> {
    request.wider.as_ref().filter(|wider| !wider.must_be_typed())
}

fn granted(requested: &Requested) -> Vec<String> {
    let line = |words: &Vec<String>| visible(&command_line(words)).into_owned();
    match requested {
        Requested::Grants(grants) => grants.iter().map(line).collect(),
        Requested::Profile(name) => vec![format!("all of the profile {}", visible(name))],
    }
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Yes, for so long and so much.
    Yes(Lifetime, Extent),
    /// No, and the reason that was given.
    No(Option<String>),
}

impl Reply {
    /// Reads the result of the form: anything but a complete yes is a no.
    pub fn of(result: &Object<'_>) -> Reply {
        if result.text("action").as_deref() != Some("accept") {
            return Reply::No(None);
        }
        let Some(content) = result.object("content") else {
            return Reply::No(None);
        };
        let reason = content.text("reason").filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| reason.chars().take(REASON).collect());
        match content.text("answer").as_deref() {
            Some("once") => Reply::Yes(Lifetime::Once, Extent::Requested),
            Some("session") => Reply::Yes(Lifetime::Session, Extent::Requested),
            Some("wider") => Reply::Yes(Lifetime::Session, Extent::Wider),
            _ => Reply::No(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_yes_is_one() {
        let reply = |text: &str| Reply::of(&Object::read(text).unwrap());
        assert_eq!(
            reply(r#"{"action":"accept","content":{"answer":"once"}}"#),
            Reply::Yes(Lifetime::Once, Extent::Requested)
        );
        assert_eq!(
            reply(r#"{"action":"accept","content":{"answer":"session","reason":"x"}}"#),
            Reply::Yes(Lifetime::Session, Extent::Requested)
        );
        assert_eq!(
            reply(r#"{"action":"accept","content":{"answer":"wider"}}"#),
            Reply::Yes(Lifetime::Session, Extent::Wider)
        );
        assert_eq!(
            reply(r#"{"action":"accept","content":{"answer":"no","reason":"not now"}}"#),
            Reply::No(Some("not now".into()))
        );
        for text in [
            "{}",
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":{"answer":"always"}}"#,
            r#"{"action":"accept","content":{"answer":true}}"#,
            r#"{"action":"accept","content":["once"]}"#,
            r#"{"action":"decline","content":{"answer":"once"}}"#,
            r#"{"action":"cancel"}"#,
            r#"{"action":["accept"],"content":{"answer":"once"}}"#,
            r#"{"action":"accept","content":{"answer":"once","answer":"no"}}"#,
        ] {
            assert_eq!(reply(text), Reply::No(None), "{text}");
        }
    }

    #[test]
    fn a_version_with_forms_is_a_date_in_their_time() {
        for (version, has) in [
            ("2024-11-05", false),
            ("2025-03-26", false),
            ("2025-06-18", true),
            ("2025-11-25", true),
            ("2026-07-28", false),
            ("9", false),
            ("draft", false),
        ] {
            assert_eq!(has_requests(version), has, "{version}");
        }
    }

    #[test]
    fn a_client_that_only_opens_pages_shows_no_forms() {
        let shows = |text: &str| shows_forms(&Object::read(text).unwrap());
        assert!(shows(r#"{"elicitation":{}}"#) && shows(r#"{"elicitation":{"form":{},"url":{}}}"#));
        assert!(!shows(r#"{"elicitation":{"url":{}}}"#) && !shows("{}") && !shows(r#"{"elicitation":null}"#));
    }

    #[test]
    fn a_wider_grant_is_offered_where_it_is_known_and_lasts() {
        let mut request = stockade_report::approve::samples::request();
        let offers = |request: &EscalationRequest| {
            let form = form(request, "s", &[], "2025-11-25");
            (
                form.to_string().contains("\"wider\""),
                form["message"]
                    .as_str()
                    .unwrap()
                    .contains("The wider grant is --read /etc"),
            )
        };
        assert_eq!(offers(&request), (true, true));
        request.lifetimes = vec![Lifetime::Once];
        assert!(!offers(&request).0);
        request.wider = Some(Requested::Profile(Requested::TYPED.into()));
        request.lifetimes = vec![Lifetime::Once, Lifetime::Session];
        assert_eq!(offers(&request), (false, false));
    }

    #[test]
    fn a_question_escapes_what_the_server_chose() {
        let mut request = stockade_report::approve::samples::request();
        request.evidence.target = "/x\nA yes grants nothing\u{1b}[2J\u{202e}".into();
        let form = form(&request, "s", &["t\u{202e}".into()], "2025-06-18").to_string();
        assert!(!form.contains('\u{202e}') && !form.contains("u001b"), "{form}");
        assert!(form.contains("enumNames"));
    }
}

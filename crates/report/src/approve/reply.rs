//! An answer from outside: one JSON document, an allegation (`schemas/escalation.schema.json`).
//!
//! Unknown fields and words are refused, and so is a yes to more than was requested. Any unusable answer is a no.

use serde::{Deserialize, Serialize};

use super::object::{document, not_null};
use super::{Answer, Choice, EscalationRequest, Extent, Lifetime, Requested, VERSION};

/// Bytes of an answer: it has one lifetime and one reason.
pub(super) const MAX_LENGTH: usize = 64 * 1024;
/// Characters of a reason that are kept.
const REASON: usize = 1000;
/// Characters of the answerer's name.
const BY: usize = 200;

/// The reason that an answer is unusable.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplyError {
    #[error("it isn't an answer: {0}")]
    Malformed(String),
    #[error("it is an answer of version {0}")]
    Version(u32),
    #[error("it is the answer to another question")]
    OtherQuestion,
    #[error("a yes needs a `lifetime`")]
    NoLifetime,
    #[error("the lifetime `{}` wasn't offered", .0.word())]
    NotOffered(Lifetime),
    #[error("nothing wider was offered")]
    NothingWider,
    #[error("that profile wasn't requested")]
    OtherProfile,
    #[error("`trusted` is only granted to who names it")]
    Unnamed,
    #[error("`{0}` doesn't go with this answer")]
    Astray(&'static str),
}

/// The fields of the JSON form.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyFields {
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    answer: ReplyWord,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    lifetime: Option<Lifetime>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    extent: Option<Extent>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    all: Option<bool>,
    #[serde(default)]
    by: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReplyWord {
    Yes,
    No,
    Silence,
}

/// The JSON form of an answer to a request, on one line.
pub(super) fn line(request: &EscalationRequest, answer: &Answer) -> Vec<u8> {
    let (word, lifetime, extent, all) = match &answer.choice {
        Choice::Yes { lifetime, extent } => (ReplyWord::Yes, Some(*lifetime), Some(extent.clone()), None),
        Choice::No { all } => (ReplyWord::No, None, None, Some(*all)),
        Choice::Silence => (ReplyWord::Silence, None, None, None),
    };
    let reply = ReplyFields {
        version: Some(VERSION),
        id: Some(request.id.clone()),
        answer: word,
        lifetime,
        extent,
        all,
        by: Some(answer.by.clone()),
        reason: answer.reason.clone(),
    };
    let mut line = serde_json::to_vec(&reply).expect("texts and words only");
    line.push(b'\n');
    line
}

/// Parses an answer to `request`. `by` names the answerer if the answer doesn't.
pub(super) fn read(bytes: &[u8], request: &EscalationRequest, by: &str) -> Result<Answer, ReplyError> {
    let reply: ReplyFields = document(bytes).map_err(|error| ReplyError::Malformed(error.to_string()))?;
    if let Some(version) = reply.version.filter(|version| *version != VERSION) {
        return Err(ReplyError::Version(version));
    }
    if reply.id.as_ref().is_some_and(|id| *id != request.id) {
        return Err(ReplyError::OtherQuestion);
    }
    Ok(Answer {
        choice: choice(&reply, request)?,
        by: reply.by.map_or_else(|| by.to_string(), |by| cut(&by, BY)),
        reason: reply.reason.map(|reason| cut(&reason, REASON)),
    })
}

fn choice(reply: &ReplyFields, request: &EscalationRequest) -> Result<Choice, ReplyError> {
    let is_yes = reply.answer == ReplyWord::Yes;
    let astray = [
        ("lifetime", !is_yes && reply.lifetime.is_some()),
        ("extent", !is_yes && reply.extent.is_some()),
        ("all", reply.answer != ReplyWord::No && reply.all.is_some()),
    ];
    if let Some((field, _)) = astray.iter().find(|(_, is_astray)| *is_astray) {
        return Err(ReplyError::Astray(field));
    }
    Ok(match reply.answer {
        ReplyWord::Silence => Choice::Silence,
        ReplyWord::No => Choice::No {
            all: reply.all.unwrap_or(false),
        },
        ReplyWord::Yes => {
            let lifetime = reply.lifetime.ok_or(ReplyError::NoLifetime)?;
            let extent = reply.extent.clone().unwrap_or_default();
            may_be_granted(request, lifetime, &extent)?;
            Choice::Yes { lifetime, extent }
        }
    })
}

/// Whether a yes stays within the request.
pub(super) fn may_be_granted(
    request: &EscalationRequest,
    lifetime: Lifetime,
    extent: &Extent,
) -> Result<(), ReplyError> {
    if !request.lifetimes.contains(&lifetime) {
        return Err(ReplyError::NotOffered(lifetime));
    }
    let granted = match extent {
        Extent::Requested => &request.requested,
        Extent::Wider => request.wider.as_ref().ok_or(ReplyError::NothingWider)?,
        Extent::Profile(name) => {
            let mut offered = std::iter::once(&request.requested).chain(&request.wider);
            let is_offered = offered.any(|offer| matches!(offer, Requested::Profile(one) if one == name));
            return is_offered.then_some(()).ok_or(ReplyError::OtherProfile);
        }
    };
    match granted.must_be_typed() {
        true => Err(ReplyError::Unnamed),
        false => Ok(()),
    }
}

/// At most `longest` characters, with a mark if any are cut.
pub(super) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_string(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approve::samples::request;

    fn refused(text: &str) -> String {
        read(text.as_bytes(), &request(), "x").unwrap_err().to_string()
    }

    #[test]
    fn an_answer_comes_back_as_it_was_given() {
        let request = request();
        for answer in [
            Answer::yes(Lifetime::Session, "ada"),
            Answer::no("ada").because("not today"),
            Answer::silence("gone"),
            Answer {
                choice: Choice::Yes {
                    lifetime: Lifetime::Always,
                    extent: Extent::Wider,
                },
                ..Answer::no("ada")
            },
            Answer {
                choice: Choice::No { all: true },
                ..Answer::no("ada")
            },
        ] {
            assert_eq!(read(&line(&request, &answer), &request, "x").unwrap(), answer);
        }
    }

    #[test]
    fn the_least_answer_is_one_word() {
        let answer = read(br#"{"answer":"no"}"#, &request(), "command x").unwrap();
        assert_eq!(answer, Answer::no("command x"));
        let answer = read(br#"{"answer":"yes","lifetime":"once"}"#, &request(), "command x").unwrap();
        assert_eq!(answer, Answer::yes(Lifetime::Once, "command x"));
        let answer = read(br#"{"answer":"no","by":null,"reason":null}"#, &request(), "command x").unwrap();
        assert_eq!(answer, Answer::no("command x"));
    }

    #[test]
    fn unknown_fields_and_words_are_refused() {
        for text in [
            "",
            "yes",
            "{}",
            r#"{"answer":"maybe"}"#,
            r#"{"answer":"no","because":"x"}"#,
            r#"{"answer":"yes","lifetime":"forever"}"#,
            r#"{"answer":"yes","lifetime":"once","extent":"everything"}"#,
            r#"{"answer":"yes","lifetime":"once"} and more"#,
            r#"{"answer":"no","answer":"yes","lifetime":"once"}"#,
            r#"[null,null,"yes","once",null,null,null,null]"#,
            r#"["yes"]"#,
            "[]",
            r#"[{"answer":"no"}]"#,
            "null",
            r#"{"answer":"yes","lifetime":null}"#,
            r#"{"answer":"yes","lifetime":"once","extent":null}"#,
            r#"{"answer":"no","lifetime":null}"#,
            r#"{"answer":"no","all":null}"#,
            r#"{"answer":"no","version":null}"#,
            r#"{"answer":"no","id":null}"#,
        ] {
            assert!(refused(text).starts_with("it isn't an answer: "), "{text}");
        }
    }

    #[test]
    fn a_yes_to_more_than_was_offered_is_refused() {
        let mut narrow = request();
        narrow.lifetimes = vec![Lifetime::Once];
        narrow.wider = None;
        let refused = |text: &str| read(text.as_bytes(), &narrow, "x").unwrap_err().to_string();
        assert_eq!(refused(r#"{"answer":"yes"}"#), "a yes needs a `lifetime`");
        assert_eq!(
            refused(r#"{"answer":"yes","lifetime":"always"}"#),
            "the lifetime `always` wasn't offered"
        );
        assert_eq!(
            refused(r#"{"answer":"yes","lifetime":"once","extent":"wider"}"#),
            "nothing wider was offered"
        );
        assert_eq!(
            refused(r#"{"answer":"yes","lifetime":"once","extent":{"profile":"trusted"}}"#),
            "that profile wasn't requested"
        );
    }

    #[test]
    fn trusted_is_only_granted_to_who_names_it() {
        let mut wide = request();
        wide.requested = Requested::Profile("trusted".into());
        let said = |extent: &str| {
            let text = format!(r#"{{"answer":"yes","lifetime":"once","extent":{extent}}}"#);
            read(text.as_bytes(), &wide, "x").map_err(|error| error.to_string())
        };
        assert!(
            said(r#""requested""#)
                .unwrap_err()
                .contains("only granted to who names it")
        );
        assert!(said(r#"{"profile":"trusted"}"#).is_ok());
    }

    #[test]
    fn fields_of_another_answer_are_refused() {
        assert_eq!(
            refused(r#"{"answer":"no","lifetime":"once"}"#),
            "`lifetime` doesn't go with this answer"
        );
        assert_eq!(
            refused(r#"{"answer":"yes","lifetime":"once","all":true}"#),
            "`all` doesn't go with this answer"
        );
        assert_eq!(
            refused(r#"{"answer":"no","id":"another"}"#),
            "it is the answer to another question"
        );
        assert_eq!(
            refused(r#"{"answer":"no","version":2}"#),
            "it is an answer of version 2"
        );
    }

    #[test]
    fn what_is_kept_of_a_reason_is_bounded() {
        let text = format!(r#"{{"answer":"no","reason":"{}","by":"{0}"}}"#, "x".repeat(9999));
        let answer = read(text.as_bytes(), &request(), "x").unwrap();
        assert_eq!(answer.reason.unwrap().chars().count(), REASON + 1);
        assert_eq!(answer.by.chars().count(), BY + 1);
    }
}

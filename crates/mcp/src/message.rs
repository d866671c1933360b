//! One message, read strictly and only as far as needed: each member stays the text that it was.
//!
//! A member that is there twice makes the message unreadable: another reader might take the other one.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object: its members in their order.
#[derive(Debug, Default)]
pub struct Object<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

/// A member's name, borrowed where it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    if members.len() >= MOST_MEMBERS {
                        return Err(M::Error::custom("too many members"));
                    }
                    if members.iter().any(|(known, _)| *known == name) {
                        return Err(M::Error::custom("a member is there twice"));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// No message has nearly as many, and each is compared with all before.
const MOST_MEMBERS: usize = 1024;

impl<'a> Object<'a> {
    /// Reads an object; `None` if it isn't exactly one.
    pub fn read(text: &'a str) -> Option<Object<'a>> {
        serde_json::from_str(text).ok()
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// A member that is an object.
    pub fn object(&self, name: &str) -> Option<Object<'a>> {
        Object::read(self.get(name)?.get())
    }

    /// A member that is a string.
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.get(name)?)
    }

    /// The text of the object, with some members replaced; those that it lacks come last.
    pub fn with(&self, changes: &[(&str, String)]) -> String {
        let changed = |name: &str| changes.iter().find(|(known, _)| *known == name);
        let kept = self.0.iter().map(|(name, value)| {
            let value = changed(name).map_or(value.get(), |(_, text)| text);
            (name.as_ref(), value)
        });
        let added = changes.iter().filter(|(name, _)| self.get(name).is_none());
        let members = kept.chain(added.map(|(name, text)| (*name, text.as_str())));
        let members: Vec<String> = members
            .map(|(name, value)| format!("{}:{value}", quoted(name)))
            .collect();
        format!("{{{}}}", members.join(","))
    }
}

/// The elements of an array, as they were; `None` if it isn't one.
pub fn elements(array: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(array.get()).ok()
}

/// A value that is a string.
pub fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The id of a request, in a form in which equal ids are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A string.
    Text(String),
    /// A number, as it was written.
    Number(String),
}

impl Id {
    /// Reads an id; `None` if it is neither a string nor a number.
    pub fn of(value: &RawValue) -> Option<Id> {
        let raw = value.get();
        match raw.as_bytes().first()? {
            b'"' => text(value).map(Id::Text),
            b'-' | b'0'..=b'9' => Some(Id::Number(raw.to_owned())),
            _ => None,
        }
    }

    /// As JSON.
    pub fn json(&self) -> String {
        match self {
            Id::Text(text) => quoted(text),
            Id::Number(number) => number.clone(),
        }
    }
}

/// What a message is.
#[derive(Debug)]
pub enum Kind {
    /// A request: id and method.
    Request(Id, String),
    /// A notification: method.
    Notification(String),
    /// A response: id.
    Response(Id),
    /// Something else.
    Other,
}

impl Kind {
    /// Of a message; `None` if its method or id is unusable.
    pub fn of(message: &Object<'_>) -> Option<Kind> {
        let id = message.get("id").filter(|id| id.get() != "null");
        let id = id.map(|id| Id::of(id).ok_or(())).transpose().ok()?;
        let method = message
            .get("method")
            .map(|method| text(method).ok_or(()))
            .transpose()
            .ok()?;
        Some(match (id, method) {
            (Some(id), Some(method)) => Kind::Request(id, method),
            (None, Some(method)) => Kind::Notification(method),
            (Some(id), None) => Kind::Response(id),
            (None, None) => Kind::Other,
        })
    }
}

/// What a line holds.
#[derive(Debug)]
pub enum Line<'a> {
    /// No message: a blank line, or a text.
    Plain,
    /// It begins as a message does and can't be read.
    Unreadable,
    /// One message.
    One(Object<'a>),
    /// A batch of messages.
    Batch(Vec<Object<'a>>),
}

/// A line as text: what isn't UTF-8 is replaced, as clients in JavaScript do.
pub fn decoded(line: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(line)
}

impl<'a> Line<'a> {
    /// Reads a line.
    pub fn read(text: &'a str) -> Line<'a> {
        // Some readers skip a byte order mark.
        let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\u{b}', '\u{c}']);
        match text.as_bytes().first() {
            Some(b'{') => Object::read(text).map_or(Line::Unreadable, Line::One),
            Some(b'[') => serde_json::from_str(text).map_or(Line::Unreadable, Line::Batch),
            _ => Line::Plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stay_as_they_were_and_in_their_order() {
        let text = r#"{"z":1.10,"a\u0062":[1, 2],"id":1e2,"é":"\u00e9"}"#;
        let object = Object::read(text).unwrap();
        assert_eq!(object.get("ab").unwrap().get(), "[1, 2]");
        assert_eq!(object.with(&[]), r#"{"z":1.10,"ab":[1, 2],"id":1e2,"é":"\u00e9"}"#);
        assert_eq!(
            object.with(&[("ab", "true".into()), ("new", "null".into())]),
            r#"{"z":1.10,"ab":true,"id":1e2,"é":"\u00e9","new":null}"#
        );
    }

    #[test]
    fn a_line_is_a_message_a_batch_a_text_or_unreadable() {
        let kind = |text: &str| match Line::read(text) {
            Line::Plain => "plain",
            Line::Unreadable => "unreadable",
            Line::One(_) => "one",
            Line::Batch(_) => "batch",
        };
        for (text, expected) in [
            ("", "plain"),
            (" \r\n", "plain"),
            ("server listens\n", "plain"),
            ("12\n", "plain"),
            (" {\"id\":1}\r\n", "one"),
            ("\u{feff}{\"id\":1}", "one"),
            ("[]", "batch"),
            ("[{\"id\":1}]", "batch"),
            ("{", "unreadable"),
            ("{\"id\":1} {}", "unreadable"),
            ("{\"method\":\"a\",\"method\":\"b\"}", "unreadable"),
            ("{\"method\":\"a\",\"m\\u0065thod\":\"b\"}", "unreadable"),
            ("[1]", "unreadable"),
            ("{\"a\":NaN}", "unreadable"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn ids_are_equal_however_they_are_written() {
        let id = |text: &str| {
            let message = Object::read(text).unwrap();
            match Kind::of(&message) {
                Some(Kind::Response(id)) => Some(id),
                _ => None,
            }
        };
        assert_eq!(id(r#"{"id":"a\u0062"}"#), Some(Id::Text("ab".into())));
        assert_ne!(id(r#"{"id":"1"}"#), id(r#"{"id":1}"#));
        assert_eq!(id(r#"{"id":null}"#), None);
        assert_eq!(id(r#"{"id":[1]}"#), None);
    }

    #[test]
    fn deep_nesting_is_unreadable_and_no_crash() {
        let deep = format!("{{\"id\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        let _ = Line::read(&deep);
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(matches!(Line::read(&deep), Line::Unreadable));
    }
}

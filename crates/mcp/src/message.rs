//! One message, read only as far as needed: each member stays the text that it was.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use stockade_text::json;
use stockade_text::visible::is_invisible;

use crate::names::{ambiguity, folded, is_like_a_method};

/// An object: its members in their order. One that is there twice is none that can be asked for.
#[derive(Debug, Default)]
pub struct Object<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

/// The most messages of a batch.
const MAX_MESSAGES: usize = 1024;

impl<'a> Object<'a> {
    /// Reads an object; `None` if it isn't exactly one.
    pub fn read(text: &'a str) -> Option<Object<'a>> {
        let (members, read) = json::members(text.as_bytes());
        read.ok().map(|()| Object(members))
    }

    /// A member.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut found = self.0.iter().filter(|(known, _)| known == name);
        found.next().filter(|_| found.next().is_none()).map(|(_, value)| *value)
    }

    /// Whether it has a member of this name, also nearly.
    pub fn has_like(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| folded(known) == name)
    }

    /// A member that is an object.
    pub fn object(&self, name: &str) -> Option<Object<'a>> {
        Object::read(self.get(name)?.get())
    }

    /// A member that is a string.
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.get(name)?)
    }

    /// The same object with another value of a member that it has.
    pub fn replaced<'b>(&self, name: &str, value: &'b RawValue) -> Object<'b>
    where
        'a: 'b,
    {
        let members = self.0.iter().map(|(known, kept)| {
            let value = if known == name { value } else { kept };
            (known.clone(), value)
        });
        Object(members.collect())
    }

    /// The text of the object, with some members replaced; those that it lacks come last. A value is given in parts.
    pub fn with(&self, changes: &[(&str, &[&str])]) -> String {
        self.parts(changes).concat()
    }

    /// The parts of that text: a big value isn't copied until the whole line is put together.
    pub fn parts<'b>(&'b self, changes: &[(&str, &[&'b str])]) -> Vec<Cow<'b, str>> {
        let mut parts: Vec<Cow<'b, str>> = vec!["{".into()];
        let mut add = |name: &str, value: &[&'b str]| {
            let comma = if parts.len() > 1 { "," } else { "" };
            parts.push(format!("{comma}{}:", quoted(name)).into());
            parts.extend(value.iter().map(|part| Cow::Borrowed(*part)));
        };
        for (name, value) in &self.0 {
            let changed = changes.iter().find(|(known, _)| known == name);
            add(name, changed.map_or(&[value.get()], |(_, value)| value));
        }
        for (name, value) in changes.iter().filter(|(name, _)| self.get(name).is_none()) {
            add(name, value);
        }
        parts.push("}".into());
        parts
    }
}

/// The elements of an array, as they were; `None` if it isn't one, or has more than this many.
pub fn elements(array: &RawValue, most: usize) -> Option<Vec<&RawValue>> {
    few(array.get(), most)
}

/// Reads an array of at most so many elements: memory has an end.
fn few<'a, T: Deserialize<'a>>(text: &'a str, most: usize) -> Option<Vec<T>> {
    struct Elements<T>(usize, PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<S: SeqAccess<'de>>(self, mut sequence: S) -> Result<Self::Value, S::Error> {
            let mut elements = Vec::new();
            while let Some(element) = sequence.next_element()? {
                if elements.len() >= self.0 {
                    return Err(S::Error::custom("too many elements"));
                }
                elements.push(element);
            }
            Ok(elements)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let elements = deserializer.deserialize_seq(Elements(most, PhantomData)).ok()?;
    deserializer.end().is_ok().then_some(elements)
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
    /// A number: an integer without fraction and exponent, however it was written; another one as it was written.
    Number(String),
}

/// Integers up to this one are the same number for every reader: a double holds them exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl Id {
    /// Reads an id; `None` if it is neither a string nor a number.
    pub fn of(value: &RawValue) -> Option<Id> {
        let raw = value.get();
        match raw.as_bytes().first()? {
            b'"' => text(value).map(Id::Text),
            b'-' | b'0'..=b'9' => Some(Id::Number(plain_number(raw))),
            _ => None,
        }
    }

    /// The id that some readers take for this one: the number for its digits in a string, and the other way round.
    pub fn look_alike(&self) -> Option<Id> {
        let is_plain = |text: &str| {
            let is_of_digits = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
            is_of_digits && serde_json::from_str::<&RawValue>(text).is_ok() && text != "-0"
        };
        match self {
            Id::Number(number) => Some(Id::Text(number.clone())),
            Id::Text(text) => is_plain(text).then(|| Id::Number(text.clone())),
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

/// `1`, also for `1.0` and `1e0`.
fn plain_number(raw: &str) -> String {
    let is_plain = raw.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) && raw != "-0";
    let value = raw.parse::<f64>().ok().filter(|_| !is_plain);
    match value.filter(|value| value.fract() == 0.0 && value.abs() < MAX_EXACT) {
        // Without the sign of a zero.
        Some(value) => format!("{:.0}", value + 0.0),
        None => raw.to_owned(),
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

    /// Of a message that every reader understands in the same way.
    ///
    /// # Errors
    /// Another reader might understand it otherwise: why.
    pub fn strictly_of(message: &Object<'_>) -> Result<Kind, &'static str> {
        if message.text("jsonrpc").as_deref() != Some("2.0") {
            return Err("it isn't of JSON-RPC 2.0");
        }
        let kind = Kind::of(message).ok_or("its method or its id can't be read")?;
        let [has_result, has_error] = ["result", "error"].map(|name| message.get(name).is_some());
        match &kind {
            Kind::Request(..) | Kind::Notification(_) if has_result || has_error => {
                Err("it is a request and a response at once")
            }
            Kind::Notification(_) if message.get("id").is_some() => Err("its id is null"),
            Kind::Response(_) if has_result == has_error => Err("it has both a result and an error, or neither"),
            Kind::Other => Err("it is neither a request nor a response to one"),
            _ => Ok(kind),
        }
    }
}

/// What a line holds.
#[derive(Debug)]
pub enum Line<'a> {
    /// Blanks.
    Blank,
    /// No message: a text.
    Plain,
    /// It begins as a message does and can't be read: its members as far as they can.
    Unreadable(Object<'a>),
    /// One message.
    One(Whole<'a>),
    /// A batch of messages.
    Batch(Vec<Whole<'a>>),
}

/// A message, and why readers may take it differently.
#[derive(Debug)]
pub struct Whole<'a> {
    /// The message.
    pub message: Object<'a>,
    /// Why, if they may.
    pub ambiguity: Option<&'static str>,
}

impl<'a> Whole<'a> {
    fn read(text: &'a str) -> Option<Whole<'a>> {
        let message = Object::read(text)?;
        let method = message.text("method").unwrap_or_default();
        let odd_method = is_like_a_method(&method).then_some("its method is called nearly as one of the protocol");
        let ambiguity = ambiguity(text).or(odd_method);
        Some(Whole { message, ambiguity })
    }
}

/// A line as text. One that isn't UTF-8 is owned: `?` stands for the wrong bytes, which makes it no longer.
pub fn decoded(line: &[u8]) -> Cow<'_, str> {
    // Looks at many bytes at once, as nothing has to be replaced in most lines.
    if let Ok(text) = std::str::from_utf8(line) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(if chunk.invalid().is_empty() { "" } else { "?" });
    }
    Cow::Owned(text)
}

impl<'a> Line<'a> {
    /// Reads a line.
    pub fn read(text: &'a str) -> Line<'a> {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let message = without_mark(text).trim_start_matches([' ', '\t']);
        let begun = message.trim_start_matches(is_blank_to_some);
        let is_odd = begun.len() < message.len() || text.contains('\r');
        let unreadable = || Line::Unreadable(Object(json::members(begun.as_bytes()).0));
        let batch = |texts: Vec<&'a RawValue>| texts.into_iter().map(|text| Whole::read(text.get())).collect();
        match begun.as_bytes().first() {
            None if !is_odd => Line::Blank,
            Some(b'{' | b'[') if is_odd => unreadable(),
            Some(b'{') => Whole::read(message).map_or_else(unreadable, Line::One),
            Some(b'[') => few(message, MAX_MESSAGES)
                .and_then(batch)
                .map_or_else(unreadable, Line::Batch),
            // A carriage return ends a line for some readers: the rest would be the next one.
            _ if text.contains('\r') => unreadable(),
            _ => Line::Plain,
        }
    }
}

/// A text without byte order marks at its start: some readers skip them.
pub fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

/// Whether some reader skips this character before a message.
fn is_blank_to_some(c: char) -> bool {
    c.is_whitespace() || c.is_control() || is_invisible(c)
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
            object.with(&[("ab", &["t", "rue"]), ("new", &["null"])]),
            r#"{"z":1.10,"ab":true,"id":1e2,"é":"\u00e9","new":null}"#
        );
    }

    #[test]
    fn a_line_is_a_message_a_batch_a_text_or_unreadable() {
        let kind = |text: &str| match Line::read(text) {
            Line::Blank => "blank",
            Line::Plain => "plain",
            Line::Unreadable(_) => "unreadable",
            Line::One(Whole { ambiguity: None, .. }) => "one",
            Line::One(_) => "odd",
            Line::Batch(_) => "batch",
        };
        for (text, expected) in [
            ("", "blank"),
            (" \t\r\n", "blank"),
            ("\u{c}\n", "plain"),
            ("server listens\n", "plain"),
            ("12\n", "plain"),
            (" {\"id\":1}\r\n", "one"),
            ("\u{feff}{\"id\":1}", "one"),
            ("[]", "batch"),
            ("[{\"id\":1}]", "batch"),
            ("{", "unreadable"),
            ("{\"id\":1} {}", "unreadable"),
            ("{\"method\":\"a\",\"method\":\"b\"}", "odd"),
            ("{\"method\":\"a\",\"m\\u0065thod\":\"b\"}", "odd"),
            ("{\"method\":\"Tools/call\"}", "odd"),
            ("[1]", "unreadable"),
            ("{\"a\":NaN}", "unreadable"),
            ("x\r{\"id\":1}\n", "unreadable"),
            ("{\"id\":1}\r{\"id\":2}\n", "unreadable"),
            ("{\"id\":\r1}\n", "unreadable"),
            ("\u{a0}{\"id\":1}\n", "unreadable"),
            ("\u{c}[{\"id\":1}]\n", "unreadable"),
            ("\u{200b}{\"id\":1}\n", "unreadable"),
            (" \u{feff}{\"id\":1}\n", "unreadable"),
            ("{\"id\":\"\u{2028}\"}\n", "one"),
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
        assert_eq!(id(r#"{"id":1.0}"#), id(r#"{"id":1}"#));
        assert_eq!(id(r#"{"id":100e-2}"#), id(r#"{"id":1}"#));
        assert_eq!(id(r#"{"id":-0}"#), id(r#"{"id":0}"#));
        assert_ne!(id(r#"{"id":9007199254740993}"#), id(r#"{"id":9007199254740992}"#));
        assert_eq!(id(r#"{"id":1.5}"#), Some(Id::Number("1.5".into())));
        assert_eq!(id(r#"{"id":null}"#), None);
        assert_eq!(id(r#"{"id":[1]}"#), None);
    }

    #[test]
    fn digits_in_a_string_are_taken_for_a_number() {
        let text = |text: &str| Id::Text(text.into());
        assert_eq!(text("12").look_alike(), Some(Id::Number("12".into())));
        assert_eq!(Id::Number("12".into()).look_alike(), Some(text("12")));
        for other in ["", "a", "01", "1.0", " 1", "0x1", "-", "\"1\"", "1 "] {
            assert_eq!(text(other).look_alike(), None, "{other}");
        }
    }

    #[test]
    fn a_message_that_two_readers_understand_in_two_ways_is_odd() {
        let is_odd = |text: &str| Kind::strictly_of(&Object::read(text).unwrap()).is_err();
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{},"odd":1}"#,
        ] {
            assert!(!is_odd(good), "{good}");
        }
        for odd in [
            r#"{}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":2.0,"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":null,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"x","error":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":[1],"result":{}}"#,
        ] {
            assert!(is_odd(odd), "{odd}");
        }
    }

    #[test]
    fn deep_nesting_is_unreadable_and_no_crash() {
        let deep = format!("{{\"id\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        let _ = Line::read(&deep);
        let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert!(matches!(Line::read(&deep), Line::Unreadable(_)));
    }
}

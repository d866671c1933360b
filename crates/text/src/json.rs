//! JSON that all readers take in the same way: of two members with one name some take the first, others the last.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::visible::visible;

/// No object that is read by its members has nearly as many, and memory has an end.
const MAX_MEMBERS: usize = 1024;

/// Nor has a member nearly as long a name, of which copies are made.
const MAX_NAME: usize = 64 * 1024;

/// Deeper than any message; each level takes memory.
const MAX_DEPTH: usize = 1024;

/// The name of an element of an array in a path of members.
pub const ELEMENT: &str = "[]";

/// Why two readers may take a text differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ambiguity {
    /// An object has this member twice.
    Twice(String),
    /// This member is odd to the caller.
    Odd(String),
    /// A member's name is no text.
    Name,
    /// It nests too deep.
    Depth,
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ambiguity::Twice(name) => write!(f, "the member `{}` is there twice", visible(name)),
            Ambiguity::Odd(name) => write!(f, "the member `{}` isn't one that is used here", visible(name)),
            Ambiguity::Name => f.write_str("the name of a member isn't a text"),
            Ambiguity::Depth => f.write_str("it nests too deep"),
        }
    }
}

/// Reads a value in which no object has a member twice, at any depth, also where the value leaves it out.
///
/// # Errors
/// It isn't such a value.
pub fn from_slice<'a, T: Deserialize<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    let value = serde_json::from_slice(json)?;
    match ambiguity(json, |_, _| false) {
        None => Ok(value),
        Some(ambiguity) => Err(serde_json::Error::custom(ambiguity)),
    }
}

/// Why two readers may take this JSON differently, at any depth. `is_odd` judges a member by the names that lead to its
/// object, and its own.
///
/// Only names are decoded: a text that a server has cut inside of a character is valid for most readers.
pub fn ambiguity(json: &[u8], is_odd: impl Fn(&[Cow<'_, str>], &str) -> bool) -> Option<Ambiguity> {
    let hashing = RandomState::new();
    // For each level its names, which an array has none of, and the name that leads on.
    let mut levels: Vec<Option<HashSet<u64>>> = Vec::new();
    let mut path: Vec<Cow<'_, str>> = Vec::new();
    let mut is_name_next = false;
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' if levels.len() == MAX_DEPTH => return Some(Ambiguity::Depth),
            b'{' | b'[' => {
                is_name_next = *byte == b'{';
                levels.push(is_name_next.then(HashSet::new));
                path.push(ELEMENT.into());
            }
            b'}' | b']' => {
                levels.pop();
                path.pop();
                is_name_next = false;
            }
            b',' => is_name_next = matches!(levels.last(), Some(Some(_))),
            b'"' => {
                at = end_of_text(json, at);
                let Some(Some(names)) = levels.last_mut().filter(|_| is_name_next) else {
                    continue;
                };
                is_name_next = false;
                let Ok(Name(name)) = serde_json::from_slice(&json[start..at]) else {
                    return Some(Ambiguity::Name);
                };
                path.pop();
                if !names.insert(hashing.hash_one(&*name)) {
                    return Some(Ambiguity::Twice(name.into_owned()));
                }
                if is_odd(&path, &name) {
                    return Some(Ambiguity::Odd(name.into_owned()));
                }
                path.push(name);
            }
            _ => {}
        }
    }
    None
}

/// Where a text ends that begins before this place.
fn end_of_text(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = json[at..].iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        at += found + 1;
        if json[at - 1] == b'"' {
            return at;
        }
        at = json.len().min(at + 1);
    }
    json.len()
}

/// The members of an object in their order, also those that are there twice. Where the text can't be read to its end, those
/// before, and why.
pub fn members(json: &[u8]) -> (Vec<(Cow<'_, str>, &RawValue)>, serde_json::Result<()>) {
    let mut members = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(json);
    let read = reader
        .deserialize_map(Members(&mut members))
        .and_then(|()| reader.end());
    // A value that ends where the text does may be cut.
    let end = json.as_ptr_range().end;
    members.retain(|(_, value): &(_, &RawValue)| value.get().as_bytes().as_ptr_range().end != end);
    (members, read)
}

/// The id of a line that can't be used, as it was written, as far as it can be read.
pub fn id_of(line: &[u8]) -> Option<Box<RawValue>> {
    let (members, _) = members(line);
    let id = members.into_iter().find(|(name, _)| name == "id");
    id.map(|(_, id)| id.to_owned())
}

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

struct Members<'m, 'de>(&'m mut Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Visitor<'de> for Members<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Name(name)) = map.next_key()? {
            if self.0.len() >= MAX_MEMBERS || name.len() > MAX_NAME {
                return Err(M::Error::custom("too many members, or too long a name"));
            }
            self.0.push((name, map.next_value()?));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_value_is_what_it_is_elsewhere_unless_a_member_is_there_twice() {
        let good = r#"{"a":[null,true,-1,18446744073709551615,1.5e3,"x\u0061\\\"","a"],"b":{"a":{},"c":"a"}}"#;
        let value: Value = from_slice(good.as_bytes()).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(good).unwrap());
        for bad in [
            r#"{"a":1,"a":1}"#,
            r#"[{"b":{"a":1,"\u0061":2}}]"#,
            r#"{"x":[{},{"y":"\\","b":[],"b":{}}]}"#,
            r#"{"x":1} {}"#,
        ] {
            assert!(from_slice::<Value>(bad.as_bytes()).is_err(), "{bad}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(from_slice::<Value>(deep.as_bytes()).is_err());
        assert_eq!(ambiguity(deep.as_bytes(), |_, _| false), Some(Ambiguity::Depth));
    }

    #[test]
    fn a_member_is_judged_by_the_names_that_lead_to_it() {
        let json = br#"{"a":{"b":[{"c":1},{"d":{"e":2}}]},"f":"g"}"#;
        let seen = std::cell::RefCell::new(Vec::new());
        ambiguity(json, |path, name| {
            seen.borrow_mut().push(format!("{} {name}", path.join("/")));
            false
        });
        let expected = [" a", "a b", "a/b/[] c", "a/b/[] d", "a/b/[]/d e", " f"];
        assert_eq!(*seen.borrow(), expected);
        assert_eq!(ambiguity(json, |_, name| name == "e"), Some(Ambiguity::Odd("e".into())));
        assert_eq!(
            ambiguity(br#"{"x":"\ud800","\ud800":1}"#, |_, _| false),
            Some(Ambiguity::Name)
        );
        // None of these is JSON.
        for odd in [&b"{\"a"[..], b"\"\\", b"}]}", b"{\"a\":\"\\", b"{,{\"", b"[\"a\""] {
            assert!(ambiguity(odd, |_, _| false).is_none_or(|found| found == Ambiguity::Name));
        }
    }

    #[test]
    fn members_come_in_their_order_as_far_as_they_can_be_read() {
        let names = |text: &'static str| {
            let (members, read) = members(text.as_bytes());
            let members: Vec<String> = members.iter().map(|(name, value)| format!("{name}={value}")).collect();
            (members.join(" "), read.is_ok())
        };
        assert_eq!(names(r#"{"b": 1.0, "a":[2], "b":3}"#), ("b=1.0 a=[2] b=3".into(), true));
        assert_eq!(names(r#"{"id": 7, "b":nul"#), ("id=7".into(), false));
        assert_eq!(names(r#"{"id": 7"#), (String::new(), false));
        assert_eq!(names("[7]"), (String::new(), false));
        assert_eq!(
            id_of(br#"{"x": 1, "id": {"a":  1.50}, x"#).unwrap().get(),
            r#"{"a":  1.50}"#
        );
    }
}

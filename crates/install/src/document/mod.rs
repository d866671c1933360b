//! A settings file as text, and a tree of its values that says where each one stands in the text.
//!
//! The tree is read, never written back: changes are edits of the text, so comments, order and layout stay. JSON may have
//! comments and trailing commas, which several clients allow in their files.

mod json;
mod toml;

use std::ops::Range;

/// The most bytes of a settings file. Claude Code keeps its history in the same file as its servers.
pub const MAX_BYTES: usize = 64 << 20;

/// What a file is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML 1.0.
    Toml,
}

/// A value and its place in the text.
#[derive(Debug, Clone)]
pub struct Node {
    /// The bytes of the value. A TOML table with a header of its own has those of the header.
    pub span: Range<usize>,
    /// The value.
    pub kind: Kind,
}

/// The values that settings of servers and hooks are made of.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A string, without its quotes and escapes.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object or a table, in the order of the file.
    Table(Vec<Member>),
    /// A number, a truth value, `null`, a date.
    Other,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct Member {
    /// The key, without its quotes and escapes.
    pub key: String,
    /// The bytes of the key, with its quotes.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// Why a file can't be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    /// A fault at a byte of the text.
    pub fn at(text: &str, byte: usize, message: impl Into<String>) -> Fault {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Fault {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

/// The tree of a text, which begins without a byte order mark.
///
/// # Errors
/// The text isn't of the format, or nests too deep.
pub fn parse(text: &str, format: Format) -> Result<Node, Fault> {
    match format {
        Format::Json => json::parse(text),
        Format::Toml => toml::parse(text),
    }
}

impl Node {
    /// The members, if it is a table.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Table(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn elements(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The member of a table with this key.
    ///
    /// # Errors
    /// The key is there twice: programs differ on which one counts.
    pub fn member(&self, key: &str, text: &str) -> Result<Option<&Member>, Fault> {
        let mut found = self
            .members()
            .unwrap_or_default()
            .iter()
            .filter(|member| member.key == key);
        let first = found.next();
        match found.next() {
            Some(again) => Err(twice(again, text)),
            None => Ok(first),
        }
    }
}

/// The fault of a key that a table has twice.
pub fn twice(again: &Member, text: &str) -> Fault {
    Fault::at(
        text,
        again.key_span.start,
        format!("`{}` is there a second time", again.key),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(node: &Node, text: &str) -> String {
        match &node.kind {
            Kind::Text(value) => format!("{value:?}"),
            Kind::Other => text[node.span.clone()].to_string(),
            Kind::List(elements) => {
                let elements: Vec<String> = elements.iter().map(|element| shown(element, text)).collect();
                format!("[{}]", elements.join(" "))
            }
            Kind::Table(members) => {
                let member =
                    |member: &Member| format!("{}={}", &text[member.key_span.clone()], shown(&member.value, text));
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(" "))
            }
        }
    }

    #[test]
    fn both_formats_give_a_tree_with_places() {
        let json = "{ // a\n \"a\\u0062\": [1, \"x\\n\", {},], /* b */ \"c\": {\"d\": null,}, }";
        let node = parse(json, Format::Json).unwrap();
        assert_eq!(shown(&node, json), r#"{"a\u0062"=[1 "x\n" {}] "c"={"d"=null}}"#);
        assert_eq!(node.members().unwrap()[0].key, "ab");
        let toml = "a = 1\n[b.'c d']\ne = ['x', \"y\"] # f\ng.h = {i = true}\n[[j]]\nk = 2\n";
        let node = parse(toml, Format::Toml).unwrap();
        assert_eq!(
            shown(&node, toml),
            r#"{a=1 b={'c d'={e=["x" "y"] g={h={i=true}}}} j=[{k=2}]}"#
        );
    }

    #[test]
    fn a_fault_says_where_it_is() {
        for (text, format, expected) in [
            ("{\"ä\": 1, x}", Format::Json, "line 1, column 10: "),
            ("{\n  \"a\": 'x'}", Format::Json, "line 2, column 8: "),
            ("a = 1\nb = = 2", Format::Toml, "line 2, column 5: "),
            ("a = 1\na = 2", Format::Toml, "line 2, column 1: "),
            ("", Format::Json, "line 1, column 1: it is empty"),
        ] {
            let fault = parse(text, format).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{text}: {fault}");
        }
        let text = "{\"a\": 1,\n \"a\": 2}";
        let node = parse(text, Format::Json).unwrap();
        let fault = node.member("a", text).unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 2));
    }

    #[test]
    fn nesting_ends_in_a_fault() {
        for (open, close, format) in [
            ("[", "]", Format::Json),
            ("{\"a\":", "}", Format::Json),
            ("[", "]", Format::Toml),
        ] {
            let value = format!("{}1{}", open.repeat(30_000), close.repeat(30_000));
            let text = match format {
                Format::Json => value,
                Format::Toml => format!("a = {value}"),
            };
            assert!(parse(&text, format).is_err(), "{open}");
        }
    }
}

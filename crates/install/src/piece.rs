//! JSON to put into a file, written with the file's own indent and line breaks.

use crate::document::Format;
use crate::document::Node;
use crate::edit::{literal, newline, own_indent};

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A string.
    Text(String),
    /// A number.
    Number(u64),
    /// `true`.
    Yes,
    /// An array.
    List(Vec<Piece>),
    /// An object, in this order.
    Table(Vec<(&'static str, Piece)>),
}

/// How a file is laid out.
#[derive(Debug, Clone)]
pub struct Layout {
    newline: &'static str,
    unit: String,
}

impl Layout {
    /// That of a file, by its first member.
    pub fn of(text: &str, root: &Node) -> Layout {
        let first = root.members().and_then(|members| members.first());
        let unit = first.and_then(|member| own_indent(text, member.key_span.start));
        Layout {
            newline: newline(text),
            unit: unit.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_string(),
        }
    }

    /// That of a new file.
    pub fn new() -> Layout {
        Layout {
            newline: "\n",
            unit: "  ".into(),
        }
    }
}

impl Piece {
    /// The text, behind a place with this indent.
    pub fn written(&self, layout: &Layout, indent: &str) -> String {
        let deeper = format!("{indent}{}", layout.unit);
        let lines = |open: char, close: char, children: Vec<String>| match children.is_empty() {
            true => format!("{open}{close}"),
            false => {
                let newline = layout.newline;
                let between = format!(",{newline}{deeper}");
                format!(
                    "{open}{newline}{deeper}{}{newline}{indent}{close}",
                    children.join(&between)
                )
            }
        };
        match self {
            Piece::Text(text) => literal(text, Format::Json),
            Piece::Number(number) => number.to_string(),
            Piece::Yes => "true".into(),
            Piece::List(elements) => {
                let elements = elements.iter().map(|element| element.written(layout, &deeper));
                lines('[', ']', elements.collect())
            }
            Piece::Table(members) => {
                let members = members.iter().map(|(key, value)| member(key, value, layout, &deeper));
                lines('{', '}', members.collect())
            }
        }
    }
}

/// A member of an object, behind a place with this indent.
pub fn member(key: &str, value: &Piece, layout: &Layout, indent: &str) -> String {
    format!("{}: {}", literal(key, Format::Json), value.written(layout, indent))
}

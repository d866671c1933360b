//! TOML, by `toml_edit`, which knows the place of each value and bounds the nesting.

use toml_edit::{Document, InlineTable, Item, Key, Table, Value};

use super::{Fault, Kind, Member, Node};

pub fn parse(text: &str) -> Result<Node, Fault> {
    let document = Document::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Fault::at(text, error.span().map_or(0, |span| span.start), message)
    })?;
    Ok(table(document.as_table()))
}

fn item(item: &Item) -> Node {
    match item {
        Item::Value(inner) => value(inner),
        Item::Table(inner) => table(inner),
        Item::ArrayOfTables(tables) => Node {
            span: tables.span().unwrap_or_default(),
            kind: Kind::List(tables.iter().map(table).collect()),
        },
        Item::None => Node {
            span: 0..0,
            kind: Kind::Other,
        },
    }
}

fn table(table: &Table) -> Node {
    let members = table.iter().filter_map(|(key, _)| table.get_key_value(key));
    Node {
        span: table.span().unwrap_or_default(),
        kind: Kind::Table(members.map(member).collect()),
    }
}

fn inline(table: &InlineTable) -> Vec<Member> {
    let members = table.iter().filter_map(|(key, _)| table.get_key_value(key));
    members.map(member).collect()
}

fn member((key, value): (&Key, &Item)) -> Member {
    Member {
        key: key.get().to_string(),
        key_span: key.span().unwrap_or_default(),
        value: item(value),
    }
}

fn value(value: &Value) -> Node {
    let kind = match value {
        Value::String(text) => Kind::Text(text.value().clone()),
        Value::Array(array) => Kind::List(array.iter().map(self::value).collect()),
        Value::InlineTable(table) => Kind::Table(inline(table)),
        _ => Kind::Other,
    };
    Node {
        span: value.span().unwrap_or_default(),
        kind,
    }
}

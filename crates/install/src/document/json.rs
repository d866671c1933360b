//! JSON with comments and trailing commas, by `jsonc-parser`. What else JSON5 allows is a fault: no client reads it.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Fault, Kind, Member, Node};

pub fn parse(text: &str) -> Result<Node, Fault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| Fault::at(text, error.range().start, error.kind().to_string()))?;
    let value = parsed.value.ok_or_else(|| Fault::at(text, 0, "it is empty"))?;
    Ok(node(value))
}

/// The parser bounds the nesting, and with it this recursion.
fn node(value: Value<'_>) -> Node {
    let range = value.range();
    let kind = match value {
        Value::StringLit(text) => Kind::Text(text.value.into_owned()),
        Value::Array(array) => Kind::List(array.elements.into_iter().map(node).collect()),
        Value::Object(object) => Kind::Table(object.properties.into_iter().map(member).collect()),
        Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => Kind::Other,
    };
    Node {
        span: range.start..range.end,
        kind,
    }
}

fn member(property: ObjectProp<'_>) -> Member {
    let range = property.name.range();
    Member {
        key_span: range.start..range.end,
        key: property.name.into_string(),
        value: node(property.value),
    }
}

//! Converts JSON text to TOML tables, so that one reader serves both formats and reports the same positions.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use stockade_policy::profile::reading::Complaint;
use stockade_policy::profile::visible;
use stockade_text::json::members;

/// A file of rules nests five levels deep.
const MAX_DEPTH: usize = 8;

/// A fault and its position.
pub(super) type Wrong = (usize, Complaint);

/// Parses a text into a table; a `null` field is omitted.
pub(super) fn table(text: &str) -> Result<DeTable<'_>, Wrong> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| syntax(text, &error))?;
    match value(text, raw, 0)?.into_inner() {
        DeValue::Table(table) => Ok(table),
        _ => Err((0, Complaint::new("expected an object"))),
    }
}

fn syntax(text: &str, error: &serde_json::Error) -> Wrong {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let at = text.floor_char_boundary((before + error.column().saturating_sub(1)).min(text.len()));
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    (at, Complaint::new(visible(message).into_owned()))
}

fn value<'t>(text: &str, raw: &'t RawValue, depth: usize) -> Result<Spanned<DeValue<'t>>, Wrong> {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    let wrong = |message: &str| (start, Complaint::new(message));
    if depth > MAX_DEPTH {
        return Err(wrong("this nests too deep"));
    }
    let broken = |_| wrong("this isn't JSON");
    let parsed = match raw.get().as_bytes().first() {
        Some(b'{') => {
            let (fields, read) = members(raw.get().as_bytes());
            read.map_err(broken)?;
            let mut seen = HashSet::new();
            let mut table = DeTable::new();
            for (name, field) in fields {
                if !seen.insert(name.clone()) {
                    let at = field.get().as_ptr() as usize - text.as_ptr() as usize;
                    let message = format!("`{}` stands here a second time", visible(&name));
                    return Err((at, Complaint::new(message)));
                }
                if field.get() != "null" {
                    let field = value(text, field, depth + 1)?;
                    table.insert(Spanned::new(field.span(), name), field);
                }
            }
            DeValue::Table(table)
        }
        Some(b'[') => {
            let entries: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(broken)?;
            let mut array = DeArray::new();
            for entry in entries {
                array.push(value(text, entry, depth + 1)?);
            }
            DeValue::Array(array)
        }
        Some(b'"') => DeValue::String(Cow::Owned(serde_json::from_str(raw.get()).map_err(broken)?)),
        Some(b't' | b'f') => DeValue::Boolean(raw.get() == "true"),
        Some(b'n') => return Err(wrong("there's no use for `null` in a list")),
        _ => match DeValue::parse(raw.get()) {
            Ok(number) => number.into_inner(),
            Err(_) => return Err(wrong("this number isn't one that is used here")),
        },
    };
    Ok(Spanned::new(start..start + raw.get().len(), parsed))
}

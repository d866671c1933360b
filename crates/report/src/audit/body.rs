//! The stored form of a record: JSON, with secrets masked and texts bounded.

use serde_json::Value;

use super::Record;
use stockade_text::mask;

/// The longest text that is kept, in bytes: a path (`PATH_MAX`).
const MAX_TEXT: usize = 4096;

/// The longest list that is kept, in entries.
const MAX_LIST: usize = 256;

/// The longest record, in bytes: longer ones are cut further.
const MAX_BODY: usize = 48 * 1024;

/// The JSON form of a record, one line, its fields in the order of their names.
pub fn body(record: &Record) -> String {
    let mut value = serde_json::to_value(record).unwrap_or(Value::Null);
    bound(&mut value, usize::MAX, MAX_LIST);
    // Masked before texts are cut: half a token is still a secret.
    mask::json(&mut value);
    bound(&mut value, MAX_TEXT, MAX_LIST);
    let mut text = value.to_string();
    let mut longest = MAX_TEXT;
    while text.len() > MAX_BODY && longest > 16 {
        longest /= 4;
        bound(&mut value, longest, longest / 16);
        text = value.to_string();
    }
    text
}

fn bound(value: &mut Value, longest_text: usize, longest_list: usize) {
    match value {
        Value::String(text) if text.len() > longest_text => {
            text.truncate(text.floor_char_boundary(longest_text));
            text.push('…');
        }
        Value::Array(entries) => {
            let is_words = entries.iter().all(Value::is_string);
            if entries.len() > longest_list {
                entries.truncate(longest_list);
                // The mark for the omitted entries is within the limit, so cutting again changes nothing.
                if let (true, Some(last)) = (is_words, entries.last_mut()) {
                    *last = Value::String("…".into());
                }
            }
            for entry in entries {
                bound(entry, longest_text, longest_list);
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                bound(field, longest_text, longest_list);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Started;

    #[test]
    fn a_record_is_kept_masked_bounded_and_can_be_read_again() {
        let record = Record::Started(Started {
            profile: "minimal".into(),
            command: (0..500).map(|_| "ü".repeat(3000)).collect(),
            root: "/r".into(),
            agent: None,
            flags: vec!["--env".into(), "TOKEN=abc".into()],
        });
        let body = body(&record);
        assert!(body.len() <= MAX_BODY, "{}", body.len());
        let Ok(Record::Started(kept)) = serde_json::from_str(&body) else {
            panic!("{body}");
        };
        assert!(kept.command[0].ends_with('…') && kept.command.last().unwrap() == "…");
        assert_eq!(kept.flags, ["--env", "TOKEN=***"]);
    }
}

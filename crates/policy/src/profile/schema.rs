//! The JSON Schema of profiles, for editors. Written by hand; tests compare it with the parser.

/// `schemas/profile.schema.json`.
pub const SCHEMA: &str = include_str!("../../schemas/profile.schema.json");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::profile::attempt::WORDS;
    use crate::profile::read::{DOCUMENT_FIELDS, ENVIRONMENT_FIELDS, LIMITS_FIELDS, NETWORK_FIELDS, TESTS_FIELDS};

    fn schema() -> Value {
        serde_json::from_str(SCHEMA).unwrap()
    }

    #[test]
    fn the_schema_knows_the_fields_that_are_read_and_no_others() {
        let schema = schema();
        for (table, fields) in [
            ("", DOCUMENT_FIELDS.as_slice()),
            ("/properties/network", &NETWORK_FIELDS),
            ("/properties/environment", &ENVIRONMENT_FIELDS),
            ("/properties/limits", &LIMITS_FIELDS),
            ("/properties/tests", &TESTS_FIELDS),
        ] {
            let known = schema
                .pointer(&format!("{table}/properties"))
                .and_then(Value::as_object);
            let known: BTreeSet<&str> = known.unwrap().keys().map(String::as_str).collect();
            assert_eq!(known, fields.iter().copied().collect(), "{table}");
        }
    }

    #[test]
    fn every_object_of_the_schema_is_closed_and_every_field_described() {
        fn walk(value: &Value, path: &str) {
            let Some(fields) = value.as_object() else {
                return;
            };
            if fields.get("type").and_then(Value::as_str) == Some("object") {
                assert_eq!(fields.get("additionalProperties"), Some(&Value::Bool(false)), "{path}");
                for (name, rules) in fields["properties"].as_object().unwrap() {
                    let is_described = rules.get("description").is_some() || rules.get("$ref").is_some();
                    assert!(is_described, "{path}/{name}");
                }
            }
            for (name, inner) in fields {
                walk(inner, &format!("{path}/{name}"));
            }
        }
        walk(&schema(), "");
    }

    #[test]
    fn the_schema_names_every_word_of_a_test() {
        let schema = schema();
        let pattern = schema.pointer("/$defs/attempts/items/pattern").and_then(Value::as_str);
        for word in WORDS {
            assert!(pattern.unwrap().contains(word), "{word}");
        }
    }
}

//! Checks documents against the project's JSON Schemas.
//!
//! It supports only the keywords that they use and refuses any other, so a schema with an unchecked keyword fails.

use regex_automata::meta::Regex;
use serde_json::{Map, Value, json};

/// The violations of a schema by a document, one line each.
pub fn faults(schema: &Value, document: &Value) -> Vec<String> {
    let mut checker = Checker {
        schema,
        faults: Vec::new(),
    };
    checker.check(schema, document, "");
    checker.faults
}

struct Checker<'a> {
    schema: &'a Value,
    faults: Vec<String>,
}

impl Checker<'_> {
    fn fault(&mut self, path: &str, text: String) {
        let path = if path.is_empty() { "/" } else { path };
        self.faults.push(format!("{path}: {text}"));
    }

    fn check(&mut self, rules: &Value, value: &Value, path: &str) {
        let rules = rules.as_object().expect("a schema is an object");
        for (word, rule) in rules {
            match word.as_str() {
                "$schema" | "$defs" | "title" | "description" | "properties" => {}
                "pattern" => self.check_pattern(rule, value, path),
                "$ref" => {
                    let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).unwrap();
                    let target = self.schema.pointer(pointer).expect("the reference leads somewhere");
                    self.check(target, value, path);
                }
                "type" => self.check_type(rule, value, path),
                "const" if rule != value => self.fault(path, format!("{value} isn't {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    self.fault(path, format!("{value} isn't one of {rule}"));
                }
                "minimum" if value.as_i64() < rule.as_i64() && value.is_number() => {
                    self.fault(path, format!("{value} is below {rule}"));
                }
                "maximum" if value.as_i64() > rule.as_i64() && value.is_number() => {
                    self.fault(path, format!("{value} is above {rule}"));
                }
                "const" | "enum" | "minimum" | "maximum" => {}
                "oneOf" => self.check_one_of(rule, value, path),
                "minItems" => self.check_length(rule, value, path),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{path}/{index}"));
                    }
                }
                "required" => self.check_required(rule, value, path),
                "additionalProperties" => self.check_names(rule, rules, value, path),
                other => panic!("the checker doesn't know `{other}`"),
            }
        }
        let is_closed = rules.get("additionalProperties").is_none_or(|rule| !rule.is_object());
        if let (Some(Value::Object(properties)), Value::Object(fields), true) =
            (rules.get("properties"), value, is_closed)
        {
            self.check_fields(properties, fields, path);
        }
    }

    fn check_one_of(&mut self, rule: &Value, value: &Value, path: &str) {
        let forms = rule.as_array().unwrap();
        let fits = |form: &&Value| {
            let mut checker = Checker {
                schema: self.schema,
                faults: Vec::new(),
            };
            checker.check(form, value, path);
            checker.faults.is_empty()
        };
        let count = forms.iter().filter(fits).count();
        if count != 1 {
            self.fault(path, format!("{value} has {count} of the {} forms", forms.len()));
        }
    }

    fn check_type(&mut self, rule: &Value, value: &Value, path: &str) {
        let admitted: Vec<&str> = match rule {
            Value::String(one) => vec![one],
            _ => rule.as_array().unwrap().iter().filter_map(Value::as_str).collect(),
        };
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if !admitted.contains(&found) {
            let found = if found == "integer" { "number" } else { found };
            self.fault(path, format!("a {found} isn't {}", admitted.join(" or ")));
        }
    }

    fn check_pattern(&mut self, rule: &Value, value: &Value, path: &str) {
        let pattern = Regex::new(rule.as_str().unwrap()).expect("the pattern is a regular expression");
        if value.as_str().is_some_and(|text| !pattern.is_match(text)) {
            self.fault(path, format!("{value} doesn't match {rule}"));
        }
    }

    fn check_length(&mut self, rule: &Value, value: &Value, path: &str) {
        let length = value.as_array().map_or(0, Vec::len);
        if (length as u64) < rule.as_u64().unwrap() {
            self.fault(path, format!("{length} items are fewer than {rule}"));
        }
    }

    fn check_required(&mut self, rule: &Value, value: &Value, path: &str) {
        for name in rule.as_array().unwrap().iter().filter_map(Value::as_str) {
            if value.is_object() && value.get(name).is_none() {
                self.fault(path, format!("`{name}` is missing"));
            }
        }
    }

    /// Objects are closed, or are tables with arbitrary names whose values are all of one kind.
    fn check_names(&mut self, rule: &Value, rules: &Map<String, Value>, value: &Value, path: &str) {
        if !rule.is_object() {
            assert_eq!(rule, &json!(false), "objects are closed");
            return;
        }
        assert!(
            !rules.contains_key("properties"),
            "either names of ours or of anybody's"
        );
        for (name, value) in value.as_object().into_iter().flatten() {
            self.check(rule, value, &format!("{path}/{name}"));
        }
    }

    fn check_fields(&mut self, properties: &Map<String, Value>, fields: &Map<String, Value>, path: &str) {
        for (name, value) in fields {
            match properties.get(name) {
                Some(rules) => self.check(rules, value, &format!("{path}/{name}")),
                None => self.fault(path, format!("`{name}` isn't known")),
            }
        }
    }
}

//! Rows of the audit trail as log records of OpenTelemetry: one `LogsData` a line, in the JSON mapping of its protocol
//! (OTLP specification, "JSON Protobuf Encoding"; "OpenTelemetry Protocol File Exporter"). 64-bit numbers are strings there.

use std::io::Write;

use serde_json::{Value, json};
use stockade_policy::config::Decision;
use stockade_report::audit::Record;
use stockade_store::Row;
use stockade_text::visible::visible_json;

use super::{Stop, summary};

/// Severities (opentelemetry/proto/logs/v1/logs.proto, `SeverityNumber`).
const INFO: (u32, &str) = (9, "INFO");
const WARN: (u32, &str) = (13, "WARN");
const ERROR: (u32, &str) = (17, "ERROR");

/// Prints a row as one line.
pub fn exported(row: &Row, out: &mut dyn Write) -> Result<(), Stop> {
    Ok(writeln!(out, "{}", visible_json(&logs_data(row).to_string()))?)
}

fn logs_data(row: &Row) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    json!({"resourceLogs": [{
        "resource": {"attributes": [
            attribute("service.name", &json!("stockade")),
            attribute("service.version", &json!(version)),
        ]},
        "scopeLogs": [{
            "scope": {"name": "stockade.audit", "version": version},
            "logRecords": [log_record(row)],
        }],
    }]})
}

fn log_record(row: &Row) -> Value {
    let (number, text) = severity(row);
    let time = (u128::from(row.time_ms) * 1_000_000).to_string();
    let exported = row.json();
    json!({
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "severityNumber": number,
        "severityText": text,
        "eventName": format!("stockade.audit.{}", row.kind),
        "body": {"stringValue": summary(row)},
        "attributes": [
            attribute("stockade.audit.seq", &exported["seq"]),
            attribute("stockade.audit.hash", &exported["hash"]),
            attribute("stockade.audit.kind", &exported["kind"]),
            attribute("stockade.run", &exported["run"]),
            attribute("stockade.record", &exported["record"]),
        ],
    })
}

/// What was refused stands out, and what is missing more so.
fn severity(row: &Row) -> (u32, &'static str) {
    match serde_json::from_str::<Record>(&row.body) {
        Ok(Record::Denied(_)) => WARN,
        Ok(Record::Judged(judged)) if judged.result == Decision::Deny => WARN,
        Ok(Record::Ended(ended)) if ended.status != "completed" => WARN,
        Ok(Record::Lost(_)) | Err(_) => ERROR,
        Ok(_) => INFO,
    }
}

fn attribute(key: &str, value: &Value) -> Value {
    json!({"key": key, "value": any_value(value)})
}

/// A value as `AnyValue`; an empty one stands for null.
fn any_value(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(is_true) => json!({"boolValue": is_true}),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!({"intValue": whole.to_string()}),
            None if number.is_u64() => json!({"stringValue": number.to_string()}),
            None => json!({"doubleValue": number}),
        },
        Value::String(text) => json!({"stringValue": text}),
        Value::Array(values) => {
            let values: Vec<Value> = values.iter().map(any_value).collect();
            json!({"arrayValue": {"values": values}})
        }
        Value::Object(fields) => {
            let values: Vec<Value> = fields.iter().map(|(key, value)| attribute(key, value)).collect();
            json!({"kvlistValue": {"values": values}})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_are_strings() {
        assert_eq!(any_value(&json!(-7)), json!({"intValue": "-7"}));
        assert_eq!(
            any_value(&json!(u64::MAX)),
            json!({"stringValue": "18446744073709551615"})
        );
        assert_eq!(any_value(&json!(0.5)), json!({"doubleValue": 0.5}));
    }

    #[test]
    fn nested_values_keep_their_form() {
        assert_eq!(
            any_value(&json!({"a": [true, null], "b": "x"})),
            json!({"kvlistValue": {"values": [
                {"key": "a", "value": {"arrayValue": {"values": [{"boolValue": true}, {}]}}},
                {"key": "b", "value": {"stringValue": "x"}},
            ]}})
        );
    }
}

//! `schemas/config.schema.json` and what reads configurations agree.

use serde_json::{Map, Value, json};
use stockade_judge::Layers;
use stockade_policy::config::SCHEMA;
use toml::de::{DeTable, DeValue};

use crate::common::{Place, faults};
use crate::configuration::told;

/// TOML as JSON.
fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(integer) => json!(i64::from_str_radix(integer.as_str(), integer.radix()).unwrap()),
        DeValue::Boolean(boolean) => json!(boolean),
        DeValue::Array(array) => array.iter().map(|entry| json_of(entry.get_ref())).collect(),
        DeValue::Table(table) => json_of_table(table),
        DeValue::Float(_) | DeValue::Datetime(_) => json!(null),
    }
}

fn json_of_table(table: &DeTable<'_>) -> Value {
    let fields = table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref())));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// Whether the schema takes it, and whether a user's configuration with it is read.
fn taken(text: &str) -> (bool, bool) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let table = DeTable::parse(text).unwrap();
    let by_schema = faults(&schema, &json_of_table(table.get_ref())).is_empty();
    let place = Place::new();
    place.file("~/config/config.toml", text);
    let read = Layers::load(Some(&place.home.join("config")), None, &place.root);
    (by_schema, read.is_ok())
}

const WHOLE: &str = r#"
version = 1
on_violation = ["notify-send", "stockade"]
[[permissions.allow]]
tool = "bash"
command = "git status"
match = ["git status -s"]
not_match = ["git push"]
[[permissions.allow]]
tool = "bash"
command_glob = "rg* > /dev/null"
[[permissions.deny]]
tool = "skill_load"
skill_name = "dangerous"
[agents.judge]
mode = "manual"
profile = "readonly"
capabilities = ["READ", "LLM"]
tools = ["filesystem", "bash"]
hosts = ["api.example.com", "10.0.0.0/8:5432"]
[agents.judge.scope]
allowed = ["src/**"]
denied = ["*.pem", "secrets/**"]
readOnly = ["dist/**"]
[agents.judge.limits]
time = "30s"
cpu = 90
memory = "1G"
processes = 64
open-files = 100
file-size = "1M"
disk = "1G"
output = "1M"
[tools.git]
profile = "workspace"
commands = ["git status", "git"]
capabilities = ["READ"]
"#;

#[test]
fn every_field_is_known_to_both() {
    assert_eq!(taken(WHOLE), (true, true));
    for text in [
        "version = 1",
        "version = 1\non_violation = 'x'",
        "version = 1\n[agents.worker]\nmode = 'acceptEdits'\n[agents.worker.scope]\nread_only = []\n[tools.x]",
    ] {
        assert_eq!(taken(text), (true, true), "{text}");
    }
}

#[test]
fn what_one_refuses_the_other_does() {
    for text in [
        "",
        "version = 2",
        "version = '1'",
        "on_violation = 'x'",
        "version = 1\non_violation = []",
        "version = 1\nagent = {}",
        "version = 1\n[permissions]\nask = []",
        "version = 1\n[[permissions.allow]]\ncommand = 'ls'",
        "version = 1\n[[permissions.allow]]\ntool = 'bash'\nglob = '*'",
        "version = 1\n[permissions]\ndeny = {}",
        "version = 1\n[agents]\nworker = 'manual'",
        "version = 1\n[agents.worker]\nmode = 'auto'",
        "version = 1\n[agents.worker]\ncapabilities = ['RED']",
        "version = 1\n[agents.worker]\ncapabilities = 'READ'",
        "version = 1\n[agents.worker]\ntools = [1]",
        "version = 1\n[agents.worker]\nscope = []",
        "version = 1\n[agents.worker.scope]\nallow = []",
        "version = 1\n[agents.worker.limits]\nmem = '1G'",
        "version = 1\n[agents.worker.limits]\ncpu = 0",
        "version = 1\n[agents.worker.limits]\ntime = true",
        "version = 1\n[tools.git]\ncommand = ['git']",
        "version = 1\n[tools.git]\nprofile = 1",
    ] {
        assert_eq!(taken(text), (false, false), "{text}");
    }
}

#[test]
fn the_program_prints_the_schema() {
    assert_eq!(told(&Place::new(), &["config", "schema"]), format!("{SCHEMA}Some(0)"));
}

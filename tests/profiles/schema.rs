//! The JSON Schema of profiles admits what Stockade reads, and refuses what it refuses.

use serde_json::{Map, Value};
use stockade_policy::profile::{SCHEMA, SHIPPED, Source, parse};
use toml::de::{DeTable, DeValue};

use super::{profile, stdout};
use crate::common;

fn faults(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let table = DeTable::parse(text).expect("it is TOML");
    common::faults(&schema, &object(table.get_ref()))
}

/// As editors see a TOML document.
fn object(table: &DeTable<'_>) -> Value {
    let field = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
        (key.get_ref().to_string(), json(value.get_ref()))
    };
    Value::Object(table.iter().map(field).collect::<Map<_, _>>())
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => Value::from(number.as_str().parse::<i64>().unwrap()),
        DeValue::Float(number) => Value::from(number.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(boolean) => Value::from(*boolean),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(array) => array.iter().map(|entry| json(entry.get_ref())).collect(),
        DeValue::Table(table) => object(table),
    }
}

const HEAD: &str = "version = 1\nname = \"mine\"\ndescription = \"d\"\n";

fn reads(text: &str) -> bool {
    parse(text, &Source::File("mine.toml".into())).is_ok()
}

#[test]
fn profile_schema_prints_the_schema() {
    let home = tempfile::tempdir().unwrap();
    let ended = profile(home.path(), &["schema"]);
    assert_eq!(
        stdout(&ended),
        include_str!("../../crates/policy/schemas/profile.schema.json")
    );
}

#[test]
fn the_schema_admits_every_shipped_profile() {
    for (name, text) in SHIPPED {
        assert_eq!(faults(text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn the_schema_admits_what_is_read() {
    for lines in [
        "",
        "extends = 'minimal'\nscratch = true",
        "extends = '../other.toml'",
        "read = [{ path = '.' }, { path = '~/x y', why = 'because' }, { path = '/' }]",
        "deny = [{ glob = '**/*.csv' }, { glob = './x' }]",
        "[network]\nall = true\nwhy = 'all of them'",
        "[network]\nllm = true\nhost = [{ pattern = '*.example.com:443' }, { pattern = '10.0.0.0/8:*' }]\n\
         listen = [{ port = 0 }, { port = 65535, why = 'w' }]\nsocket = [{ path = '/run/x.sock' }]",
        "environment.pass = 'limited'\nenvironment.name = [{ name = 'A_1' }]",
        "limits = { time = '500ms', cpu = 90, memory = '50 MiB', processes = '7', open-files = 10, file-size = '7k', disk = '2GB', output = '9B' }",
        "system-call = [{ name = 'ptrace' }]",
        "tests.must_allow = ['read ./x', 'connect [::1]:80', 'listen 0', 'env A', 'socket ~/s']\ntests.must_deny = []",
    ] {
        let text = format!("{HEAD}{lines}\n");
        assert!(reads(&text), "{lines}");
        assert_eq!(faults(&text), Vec::<String>::new(), "{lines}");
    }
}

#[test]
fn the_schema_refuses_what_is_not_read() {
    for lines in [
        "reed = []",
        "read = './x'",
        "read = ['./x']",
        "read = [{ path = 'x' }]",
        "read = [{ path = '' }]",
        "read = [{ why = 'no path' }]",
        "read = [{ path = './x', wy = 'w' }]",
        "read = [{ path = './x', why = '  ' }]",
        "deny = [{ glob = '*.pem' }]",
        "scratch = 'yes'",
        "extends = 'No Name'",
        "extends = 7",
        "network = true",
        "network.all = 'all'",
        "network.host = [{ pattern = 'https://example.com/' }]",
        "network.host = [{ pattern = 'me@example.com' }]",
        "network.host = [{ host = 'example.com' }]",
        "network.listen = [{ port = 65536 }]",
        "network.listen = [{ port = '80' }]",
        "environment.pass = 'some'",
        "environment.name = [{ name = 'A=b' }]",
        "limits.time = '1d'",
        "limits.memory = '1Mb'",
        "limits.memory = '256'",
        "limits.memory = 256",
        "limits.memory = 0",
        "limits.memory = '0'",
        "limits.processes = '1K'",
        "limits.cpu = 1.5",
        "limits.ram = 1",
        "system-call = [{ name = 'Ptrace' }]",
        "tests.must_allow = 'read ./x'",
        "tests.must_allow = ['read x']",
        "tests.must_allow = ['reed ./x']",
        "tests.must_deny = ['read ./*.csv']",
        "tests.must_deny = ['connect example.com']",
        "tests.must_forbid = []",
    ] {
        let text = format!("{HEAD}{lines}\n");
        // Which profile it extends is looked at where that is looked for.
        let is_read = reads(&text) && !lines.starts_with("extends");
        assert!(!is_read, "{lines}");
        assert!(!faults(&text).is_empty(), "{lines}");
    }
    for head in [
        "name = 'mine'\ndescription = 'd'",
        "version = 1\ndescription = 'd'",
        "version = 1\nname = 'mine'",
        "version = 2\nname = 'mine'\ndescription = 'd'",
        "version = 1\nname = 'Mine'\ndescription = 'd'",
        "version = 1\nname = 'mine'\ndescription = ''",
    ] {
        assert!(!reads(head), "{head}");
        assert!(!faults(head).is_empty(), "{head}");
    }
}

//! Endpoints of language models: hosts and the variables that hold their keys, from the user's document or the shipped
//! one.

use std::path::Path;

use toml::de::DeTable;

use super::catalog::own_text_of;
use super::document::Source;
use super::error::{Complaint, DocumentFault, ProfileError, excerpt};
use super::host::HostPattern;
use super::read::{Reader, Value, read_with};
use super::rule::{Origin, Rule};
use super::value;
use crate::real_path::is_there;

/// The document of this binary.
const SHIPPED: &str = include_str!("../../profiles/models.toml");

const DOCUMENT_FIELDS: [&str; 2] = ["version", "model"];
const MODEL_FIELDS: [&str; 3] = ["name", "host", "key"];

/// One provider of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The provider's name.
    pub name: String,
    /// The hosts of its endpoints.
    pub hosts: Vec<Rule<HostPattern>>,
    /// The variables that hold its keys.
    pub keys: Vec<Rule<String>>,
}

/// The user's models if that file exists, otherwise the shipped ones.
///
/// # Errors
/// The file can't be read, or has faults.
pub fn models(user_file: Option<&Path>) -> Result<Vec<Model>, ProfileError> {
    let is_users = |path: &&Path| {
        is_there(path).map_err(|source| ProfileError::Unreadable {
            path: path.to_path_buf(),
            source,
        })
    };
    match user_file {
        Some(path) if is_users(&path)? => {
            let source = Source::File(path.to_path_buf());
            let text = own_text_of(path, &source)?;
            parse(&text, &source)
        }
        _ => parse(SHIPPED, &Source::Shipped("models")),
    }
    .map_err(ProfileError::Faults)
}

fn parse(text: &str, source: &Source) -> Result<Vec<Model>, Vec<DocumentFault>> {
    read_with(text, source, "list of models", |reader, root| {
        if !root.contains_key("version") {
            let complaint = Complaint::new("`version` is missing").hint("a list of models begins with `version = 1`");
            reader.fault(0, complaint);
        }
        let mut models = Vec::new();
        for (key, value) in root {
            match key.get_ref().as_ref() {
                "version" => {}
                "model" => models = list(reader, value, source),
                _ => reader.unknown_field(key, "a list of models", &DOCUMENT_FIELDS),
            }
        }
        models
    })
}

fn list(reader: &mut Reader<'_>, value: &Value<'_>, source: &Source) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for (table, at) in reader.tables(value, "model", "write one `[[model]]` table for each") {
        let model = model(reader, table, at, source);
        if !model.name.is_empty() && models.iter().any(|known| known.name == model.name) {
            reader.fault(
                at,
                Complaint::new(format!("a model `{}` already stands above", model.name)),
            );
        }
        models.push(model);
    }
    models
}

fn model(reader: &mut Reader<'_>, table: &DeTable<'_>, at: usize, source: &Source) -> Model {
    let mut model = Model {
        name: String::new(),
        hosts: Vec::new(),
        keys: Vec::new(),
    };
    for field in ["name", "host"] {
        if !table.contains_key(field) {
            reader.fault(at, Complaint::new(format!("this `model` has no `{field}`")));
        }
    }
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => model.name = reader.parsed(value, model_name).unwrap_or_default(),
            "host" => model.hosts = rules(reader, value, source, value::host),
            "key" => model.keys = rules(reader, value, source, value::variable),
            _ => reader.unknown_field(key, "`model`", &MODEL_FIELDS),
        }
    }
    model
}

fn model_name(text: &str) -> Result<String, Complaint> {
    if value::is_profile_name(text) {
        return Ok(text.to_owned());
    }
    Err(
        Complaint::new(format!("`{}` can't be the name of a model", excerpt(text)))
            .hint("a name has small letters, digits, `-` and `_`, and starts with a letter or a digit"),
    )
}

fn rules<T>(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    source: &Source,
    parse: fn(&str) -> Result<T, Complaint>,
) -> Vec<Rule<T>> {
    let values = reader.all_parsed(value, parse);
    let rule = |(value, line): (T, usize)| Rule {
        value,
        why: None,
        origin: origin(source, line),
    };
    values.into_iter().map(rule).collect()
}

fn origin(source: &Source, line: usize) -> Origin {
    match source {
        Source::Shipped(_) => Origin::Models { line },
        Source::File(_) => source.origin(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> String {
        let found = parse(text, &Source::File("models.toml".into())).expect_err("the document has faults");
        let hint = |fault: &DocumentFault| fault.hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})"));
        let lines: Vec<_> = found.iter().map(|fault| format!("{fault}{}", hint(fault))).collect();
        lines.join("\n")
    }

    #[test]
    fn the_shipped_models_are_read_with_their_places() {
        let models = models(None).unwrap();
        let of = |name: &str| models.iter().find(|model| model.name == name).unwrap();
        assert_eq!(of("anthropic").hosts[0].value.to_string(), "api.anthropic.com");
        assert_eq!(of("anthropic").keys[0].value, "ANTHROPIC_API_KEY");
        assert_eq!(of("ollama").hosts[0].value.to_string(), "localhost:11434");
        let line = 1 + SHIPPED
            .lines()
            .position(|line| line.contains("api.openai.com"))
            .unwrap();
        assert_eq!(
            of("openai").hosts[0].origin.to_string(),
            format!("the shipped `models.toml`, line {line}")
        );
        for model in &models {
            assert!(!model.hosts.is_empty(), "{}", model.name);
        }
    }

    #[test]
    fn the_user_s_file_takes_the_place_of_the_shipped_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("models.toml");
        assert_eq!(models(Some(&file)).unwrap(), models(None).unwrap(), "not there");
        std::fs::write(
            &file,
            "version = 1\n[[model]]\nname = 'own'\nhost = ['llm.internal:8000']\n",
        )
        .unwrap();
        let found = models(Some(&file)).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].hosts[0].origin.to_string().ends_with("models.toml:4"));
        std::fs::write(&file, "version = 1\n").unwrap();
        assert_eq!(models(Some(&file)).unwrap(), [], "none, if that is what it says");
        std::fs::write(&file, b"\xff").unwrap();
        assert!(models(Some(&file)).unwrap_err().to_string().contains("UTF-8"));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("nothing", &file).unwrap();
        assert!(matches!(models(Some(&file)), Err(ProfileError::Unreadable { .. })));
    }

    #[test]
    fn faults_are_told_with_line_and_column() {
        insta::assert_snapshot!(
            faults(
                "version = 1\nmodels = 1\n[[model]]\nname = 'A b'\nhost = 'api.a.b'\n[[model]]\nname = 'x'\n\
                 host = ['api.x', 'http://x/']\nkey = ['LD_PRELOAD', 'K', 1]\nkind = 1\n[[model]]\nname = 'x'\nhost = []\n"
            ),
            @"
        models.toml:2:1: a list of models has no field `models` (did you mean `model`?)
        models.toml:4:8: `A b` can't be the name of a model (a name has small letters, digits, `-` and `_`, and starts with a letter or a digit)
        models.toml:5:8: expected an array of strings, found a string
        models.toml:8:18: `http://x/` is a URL, not a host (write the host alone, without `http://` and path: `x`)
        models.toml:9:8: `LD_PRELOAD` can't be passed: it tells the loader or the C library which code or files to use
        models.toml:9:27: expected a string, found an integer
        models.toml:10:1: `model` has no field `kind` (the fields are `name`, `host` and `key`)
        models.toml:11:1: a model `x` already stands above
        "
        );
        insta::assert_snapshot!(faults("version = 2\n"), @"models.toml:1:11: this is a list of models of version 2 (this Stockade reads version 1)");
        insta::assert_snapshot!(faults("model = 1\n"), @"
        models.toml:1:1: `version` is missing (a list of models begins with `version = 1`)
        models.toml:1:9: expected an array of tables, found an integer (write one `[[model]]` table for each)
        ");
    }
}

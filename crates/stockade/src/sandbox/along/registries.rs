//! The addresses of package registries in the user's own settings, as variables: never tokens, names or passwords.
//! A manager that doesn't see its setting would ask the public registry for a private name, which a stranger may have
//! taken there. Checked with npm 11, pip 23, uv 0.13 and Cargo 1.9x.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::de::DeTable;
use url::Url;

use super::{Along, read};
use crate::policy::{Access, NetworkPolicy, Policy};
use crate::surroundings::Surroundings;

/// Where each manager goes without its setting: its public registry.
const NPM: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];
const PYTHON: &[&str] = &["pypi.org", "files.pythonhosted.org"];
const CARGO: &[&str] = &["index.crates.io", "static.crates.io", "crates.io"];

/// Variables of registries that the caller may have set, which count before files.
const OF_PYTHON: [&str; 6] = [
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
];

pub(super) fn bring(along: &mut Along, surroundings: &Surroundings, policy: &Policy) {
    if policy.granting(Access::READ, &policy.root).is_none() && policy.reach == NetworkPolicy::Nothing {
        return;
    }
    let mut registries = Registries {
        along,
        surroundings,
        root: &policy.root,
        named: BTreeSet::new(),
    };
    registries.variables();
    registries.npm();
    registries.pip();
    registries.uv();
    registries.cargo();
}

struct Registries<'a> {
    along: &'a mut Along,
    surroundings: &'a Surroundings,
    root: &'a Path,
    /// The variables that are there already.
    named: BTreeSet<String>,
}

impl Registries<'_> {
    /// Brings a list of addresses, unless something that counts before has brought one.
    fn bring(&mut self, name: &str, value: &str, from: &str, hosts: &'static [&'static str]) {
        if !self.named.insert(name.to_string()) {
            return;
        }
        let addresses: Option<Vec<String>> = value.split_whitespace().map(address).collect();
        match addresses.filter(|addresses| !addresses.is_empty()) {
            Some(addresses) => self.along.variable(name, addresses.join(" ")),
            None => self.unseen(&format!("a registry of {from}"), hosts),
        }
    }

    fn unseen(&mut self, what: &str, hosts: &'static [&'static str]) {
        let said = format!("this run doesn't see {what}, and asked the public one; don't grant that for private names");
        self.along.leave(said, hosts);
    }

    fn variables(&mut self) {
        let lowered = |name: &str| {
            let of_npm = "npm_config_";
            let rest = name
                .get(of_npm.len()..)
                .filter(|_| name[..of_npm.len()].eq_ignore_ascii_case(of_npm))?;
            let is_registry =
                rest.eq_ignore_ascii_case("registry") || rest.starts_with('@') && rest.ends_with(":registry");
            is_registry.then(|| format!("{of_npm}{}", if rest.starts_with('@') { rest } else { "registry" }))
        };
        for (name, value) in &self.surroundings.environment {
            let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
                continue;
            };
            let of_cargo = name.starts_with("CARGO_REGISTRIES_") && name.ends_with("_INDEX");
            if OF_PYTHON.contains(&name) {
                self.bring(name, value, &format!("`{name}`"), PYTHON);
            } else if of_cargo {
                self.bring(name, value, &format!("`{name}`"), CARGO);
            } else if let Some(own) = lowered(name) {
                self.bring(&own, value, &format!("`{name}`"), NPM);
            }
        }
    }

    /// The file that a variable names, or else these below the home, or below `XDG_CONFIG_HOME`. One that is there and isn't
    /// read may name a registry.
    fn texts(&mut self, variable: &str, below: &[&str], hosts: &'static [&'static str]) -> Vec<(PathBuf, String)> {
        let configuration = self.surroundings.configuration.as_deref().and_then(Path::parent);
        let home = self.surroundings.home.as_deref();
        let place = |name: &&str| match name.strip_prefix(".config/") {
            Some(rest) => configuration.map(|configuration| configuration.join(rest)),
            None => home.map(|home| home.join(name)),
        };
        let files = match self.surroundings.variable(variable) {
            Some(named) => vec![self.surroundings.directory.join(named)],
            None => below.iter().filter_map(place).collect(),
        };
        let with_text = |file: PathBuf| Some((file.clone(), self.text(&file, hosts)?));
        files.into_iter().filter_map(with_text).collect()
    }

    fn text(&mut self, file: &Path, hosts: &'static [&'static str]) -> Option<String> {
        let text = read(file);
        if text.is_none() && file.is_file() {
            self.unseen(&format!("the settings of `{}`", file.display()), hosts);
        }
        text.map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    fn of_project(&self, name: &str) -> String {
        let text = read(&self.root.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// npmrc(5): `registry` and `@scope:registry`. A project's file counts before the user's, but not before variables.
    fn npm(&mut self) {
        let is_registry = |key: &str| key == "registry" || key.starts_with('@') && key.ends_with(":registry");
        for (file, text) in self.texts("npm_config_userconfig", &[".npmrc"], NPM) {
            let of_project = settings(&self.of_project(".npmrc"));
            for (_, key, value) in settings(&text).into_iter().rev() {
                if !is_registry(&key) || of_project.iter().any(|(_, own, _)| *own == key) {
                    continue;
                }
                self.bring(
                    &format!("npm_config_{key}"),
                    &value,
                    &format!("`{}`", file.display()),
                    NPM,
                );
                if let Some((scope, _)) = key.split_once(':') {
                    let said =
                        format!("names of `{scope}/` are private: below `sh`, not bash, npm asks the public registry");
                    self.along.leave(said, NPM);
                }
            }
        }
    }

    /// pip's configuration: the last file and, within it, the command's own section count.
    fn pip(&mut self) {
        let files = self.texts("PIP_CONFIG_FILE", &[".pip/pip.conf", ".config/pip/pip.conf"], PYTHON);
        for (file, text) in files.into_iter().rev() {
            let found = settings(&text);
            for section in ["install", "global"] {
                let of_section = found.iter().rev().filter(|(of, ..)| of == section);
                for (_, key, value) in of_section {
                    let name = match key.replace('_', "-").as_str() {
                        "index-url" => "PIP_INDEX_URL",
                        "extra-index-url" => "PIP_EXTRA_INDEX_URL",
                        _ => continue,
                    };
                    self.bring(name, value, &format!("`{}`", file.display()), PYTHON);
                }
            }
        }
    }

    /// uv's configuration: variables count before a project's own indexes, so where it has any, none comes.
    fn uv(&mut self) {
        for (file, text) in self.texts("UV_CONFIG_FILE", &[".config/uv/uv.toml"], PYTHON) {
            let project = self.of_project("pyproject.toml");
            let has_own = self.of_project("uv.toml").contains("index")
                || project.contains("tool.uv") && project.contains("index");
            let Ok(table) = DeTable::parse(&text) else {
                continue;
            };
            if has_own {
                continue;
            }
            let from = format!("`{}`", file.display());
            let table = table.get_ref();
            let (mut others, mut of_default) = (Vec::new(), None);
            let indexes = table.get("index").and_then(|index| index.get_ref().as_array());
            for index in indexes.into_iter().flatten() {
                let Some(index) = index.get_ref().as_table() else {
                    continue;
                };
                let is_on = |key: &str| {
                    index
                        .get(key)
                        .is_some_and(|value| value.get_ref().as_bool() == Some(true))
                };
                match text_of(index, "url") {
                    // It is for packages that a project names.
                    Some(_) if is_on("explicit") => {}
                    Some(url) if is_on("default") => of_default = of_default.or(Some(url)),
                    Some(url) => others.push(url),
                    None => {}
                }
            }
            let extra = table.get("extra-index-url").and_then(|list| list.get_ref().as_array());
            let extra: Vec<&str> = extra
                .into_iter()
                .flatten()
                .filter_map(|url| url.get_ref().as_str())
                .collect();
            let found = [
                ("UV_DEFAULT_INDEX", of_default.map(str::to_string)),
                ("UV_INDEX_URL", text_of(table, "index-url").map(str::to_string)),
                ("UV_INDEX", (!others.is_empty()).then(|| others.join(" "))),
                ("UV_EXTRA_INDEX_URL", (!extra.is_empty()).then(|| extra.join(" "))),
            ];
            for (name, value) in found {
                if let Some(value) = value {
                    self.bring(name, &value, &from, PYTHON);
                }
            }
        }
    }

    /// Cargo's configuration. No variable replaces a source.
    fn cargo(&mut self) {
        let files = match self.surroundings.variable("CARGO_HOME") {
            Some(home) => ["config.toml", "config"]
                .map(|name| PathBuf::from(&home).join(name))
                .to_vec(),
            None => {
                let home = self.surroundings.home.iter();
                home.flat_map(|home| [".cargo/config.toml", ".cargo/config"].map(|name| home.join(name)))
                    .collect()
            }
        };
        for file in &files {
            let Some(text) = self.text(file, CARGO) else {
                continue;
            };
            let of_project = self.of_project(".cargo/config.toml");
            let own = DeTable::parse(&of_project).ok();
            let Ok(table) = DeTable::parse(&text) else {
                continue;
            };
            let table = table.get_ref();
            let registries = table.get("registries").and_then(|all| all.get_ref().as_table());
            for (name, registry) in registries.into_iter().flatten() {
                let name = name.get_ref().as_ref();
                let is_own = own.as_ref().is_some_and(|own| {
                    let all = own.get_ref().get("registries").and_then(|all| all.get_ref().as_table());
                    all.is_some_and(|all| all.contains_key(name))
                });
                let index = registry
                    .get_ref()
                    .as_table()
                    .and_then(|registry| text_of(registry, "index"));
                if let Some(index) = index.filter(|_| !is_own) {
                    let name = name.to_ascii_uppercase().replace('-', "_");
                    let from = format!("`{}`", file.display());
                    self.bring(&format!("CARGO_REGISTRIES_{name}_INDEX"), index, &from, CARGO);
                }
            }
            let sources = table.get("source").and_then(|all| all.get_ref().as_table());
            let of_crates = sources.and_then(|all| all.get("crates-io")?.get_ref().as_table());
            if of_crates.is_some_and(|source| source.contains_key("replace-with")) {
                let file = file.display();
                let said = format!(
                    "cargo didn't see `[source]` of `{file}` here, so it asked crates.io: `--read {file}`, and `cargo --config {file}`"
                );
                self.along.leave(said, CARGO);
            }
        }
    }
}

fn text_of<'t>(table: &'t DeTable<'_>, key: &str) -> Option<&'t str> {
    table.get(key)?.get_ref().as_str()
}

/// An address without names, passwords and queries; `None` for what isn't one of HTTP, or may hold a token.
fn address(text: &str) -> Option<String> {
    let (kind, text) = match text.strip_prefix("sparse+") {
        Some(rest) => ("sparse+", rest),
        None => ("", text),
    };
    let mut url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && !text.contains('$'))?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    // Some registries take a token in the path.
    let is_token = |part: &str| {
        let has = |kind: fn(&u8) -> bool| part.as_bytes().iter().any(kind);
        part.len() >= 16 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) && !part.contains(['-', '.', '_'])
    };
    let has_token = url.path_segments()?.any(is_token);
    (!has_token).then(|| format!("{kind}{url}"))
}

/// The settings of npm's and pip's files: section, key, value. An indented line without `=` goes on with the value before.
fn settings(text: &str) -> Vec<(String, String, String)> {
    let (mut section, mut found) = (String::new(), Vec::<(String, String, String)>::new());
    for line in text.lines() {
        let plain = line.trim();
        if plain.starts_with(['#', ';']) {
        } else if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim().to_ascii_lowercase();
        } else if let Some((key, value)) = plain.split_once('=') {
            let value = value.trim().trim_matches(['"', '\'']);
            found.push((section.clone(), key.trim().to_string(), value.to_string()));
        } else if let Some((.., value)) = found.last_mut().filter(|_| line.starts_with([' ', '\t'])) {
            value.push(' ');
            value.push_str(plain);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_without_what_proves_who_one_is() {
        let cases = [
            (
                "https://ann:pw@registry.example.com/npm/",
                Some("https://registry.example.com/npm/"),
            ),
            (
                "https://token@registry.example.com",
                Some("https://registry.example.com/"),
            ),
            (
                "https://registry.example.com/x?key=1#y",
                Some("https://registry.example.com/x"),
            ),
            (
                "sparse+https://registry.example.com/i/",
                Some("sparse+https://registry.example.com/i/"),
            ),
            ("https://registry.example.com/4f9a8b7c6d5e4f3a/simple/", None),
            ("ssh://git@registry.example.com/index", None),
            ("https://${HOST}/", None),
            ("${REGISTRY}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn settings_are_read_with_their_sections_and_further_lines() {
        let text = "registry = \"https://a/\" \n; x = y\n@acme:registry=https://b/\n[Global]\nextra-index-url =\n  https://c/\n  https://d/\n";
        let read: Vec<String> = settings(text)
            .iter()
            .map(|(of, key, value)| format!("{of}|{key}|{}", value.trim()))
            .collect();
        assert_eq!(
            read,
            [
                "|registry|https://a/",
                "|@acme:registry|https://b/",
                "global|extra-index-url|https://c/ https://d/"
            ]
        );
    }
}

//! `stockade profile new`: writes a profile of the user's own, that extends another one.

use std::fs::{self, File};
use std::io::Write;

use crate::REFUSED;
use crate::layers::unprinted;
use crate::message::Failure;
use stockade::internal::Surroundings;
use stockade_policy::profile::{Catalog, Profile, visible};

/// Writes the file, which must not be there, and prints its path.
pub fn new(
    catalog: &Catalog,
    surroundings: &Surroundings,
    name: &str,
    from: &str,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let refused = |text: String| Failure::text(REFUSED, text);
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) || name.starts_with(['_', '-']) || name.len() > 64 {
        return Err(refused(format!("`{}` can't be a profile's name", visible(name)))
            .hint("a name has small letters, digits, `-` and `_`, and at most 64 of them"));
    }
    if catalog.list().iter().any(|known| known.name == name) {
        return Err(refused(format!("there is a profile `{name}` already"))
            .hint(format!("`stockade profile show {name}` says what it means")));
    }
    if from.contains('/') {
        return Err(refused("a profile extends another one by its name".into()));
    }
    let extended = catalog.load(from).map_err(stockade::Error::from)?;
    let directory = surroundings.profiles().ok_or_else(|| {
        refused("there is no directory for profiles".into())
            .hint("set `HOME`, or `XDG_CONFIG_HOME` to an absolute path")
    })?;
    let path = directory.join(format!("{name}.toml"));
    let written = fs::create_dir_all(&directory)
        .and_then(|()| File::create_new(&path))
        .and_then(|mut file| file.write_all(text(name, &extended).as_bytes()));
    written.map_err(|error| refused(format!("can't write `{}`: {error}", path.display())))?;
    writeln!(out, "{}", visible(&path.to_string_lossy())).map_err(unprinted)?;
    Ok(0)
}

fn text(name: &str, extended: &Profile) -> String {
    let (from, description) = (visible(&extended.name), visible(&extended.description));
    format!(
        r#"# `stockade profile show {name}` says what this means, `lint` what is unwise in it, and `test` judges its [tests].
# `stockade help profiles` has every word; `stockade profile schema` is for editors.

version = 1
name = "{name}"
# For `stockade profile list`.
description = "{from}, and what you add"
# All of that profile: {description}
extends = "{from}"

# What it allows beyond that: take away the `#`. `./` is the root of a run, `~/` your home. Secrets stay closed.
#
# [[read]]
# path = "~/datasets"
# why = "what is worked on"
#
# [[write]]
# path = "./results"
# why = "what comes out"
#
# [[network.host]]
# pattern = "registry.example.com"
# why = "packages"
#
# [[environment.name]]
# name = "LANG"
# why = "the language of messages"
#
# What it closes, whatever grants it:
#
# [[deny]]
# glob = "./private/**"
# why = "of no use to programs"
#
# [limits]
# time = "10m"

[tests]
must_allow = []
must_deny = ["read ~/.ssh/id_ed25519"]
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_commented_out_is_a_profile_too() {
        let directory = tempfile::tempdir().unwrap();
        let catalog = Catalog::new(Some(directory.path().into()));
        let text = text("mine", &catalog.load("minimal").unwrap());
        let keys = ["[", "path", "why", "name = \"", "pattern", "glob", "time"];
        let opened = keys.iter().fold(text.clone(), |text, key| {
            text.replace(&format!("\n# {key}"), &format!("\n{key}"))
        });
        for text in [opened, text] {
            fs::write(directory.path().join("mine.toml"), &text).unwrap();
            let loaded = catalog.load("mine").unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(loaded.lineage, ["minimal"]);
        }
    }
}

//! `stockade profile diff`: accesses that a second profile allows and the first doesn't, and the reverse.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use stockade::internal::Surroundings;
use stockade_policy::command::ResolvedCommand;
use stockade_policy::policy::{self, Additions, Circumstances, Differences, Meaning, Policy, Power};
use stockade_policy::profile::{self, Catalog, Model, Profile, ProfileError, visible};
use stockade_policy::real_path::Walker;

/// Compares two profiles for runs in the same root.
///
/// # Errors
/// One of them, or the list of models, can't be loaded.
pub fn compare(
    catalog: &Catalog,
    caller: &Surroundings,
    names: [&str; 2],
    root: &Path,
) -> Result<Differences, ProfileError> {
    let [a, b] = [catalog.load(names[0])?, catalog.load(names[1])?];
    let models = match a.llm || b.llm {
        true => profile::models(caller.models().as_deref())?,
        false => Vec::new(),
    };
    let own = caller.own().map_err(|source| ProfileError::Unreadable {
        path: caller.configuration.clone().unwrap_or_default(),
        source,
    })?;
    let [of_a, of_b] = [&a, &b].map(|profile| resolve(profile, caller, (root, &own), &models));
    let meaning = |profile, policy| Meaning { profile, policy };
    Ok(policy::differences(meaning(&a, &of_a), meaning(&b, &of_b)))
}

/// Resolves a profile for a command without grants of its own.
fn resolve(profile: &Profile, caller: &Surroundings, (root, own): (&Path, &[PathBuf]), models: &[Model]) -> Policy {
    let command = ResolvedCommand::nothing();
    policy::resolve(
        profile,
        &Circumstances {
            root,
            home: caller.home.as_deref(),
            environment: &caller.environment,
            command: &command,
            entries: &[],
            opened: &[],
            closed: &[],
            own,
            programs: &caller.programs(root, &mut Walker::default()),
            models,
            memory: None,
            additions: &Additions::NONE,
        },
    )
}

/// Prints a line for each difference; nothing if there are none.
pub fn print(differences: &Differences, out: &mut dyn Write) -> io::Result<()> {
    let signed = |sign: char| move |power: &Power| format!("{sign} {}", line(power));
    let widens = differences.widens.iter().map(signed('+'));
    let mut lines = widens.chain(differences.narrows.iter().map(signed('-')));
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// The line for a difference.
pub fn line(power: &Power) -> String {
    let kind = power.kind.to_string();
    let target = visible(&power.target);
    match &power.origin {
        Some(origin) => format!("{kind:11}  {target}  [{}]", visible(&origin.to_string())),
        None => format!("{kind:11}  {target}"),
    }
}

/// The differences as JSON.
pub fn document(differences: &Differences, names: [&str; 2], root: &Path) -> Value {
    let powers = |powers: &[Power]| -> Vec<Value> {
        let one = |power: &Power| {
            json!({
                "kind": power.kind.to_string(),
                "target": power.target,
                "origin": power.origin.as_ref().map(ToString::to_string),
            })
        };
        powers.iter().map(one).collect()
    };
    json!({
        "version": 1,
        "a": names[0],
        "b": names[1],
        "root": root.to_string_lossy(),
        "widens": powers(&differences.widens),
        "narrows": powers(&differences.narrows),
    })
}

//! `stockade profile test`: asks the policy about the tests that profiles declare, and reports which hold.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::foreseen::{Foreseen, foresee};
use crate::REFUSED;
use crate::message::{Failure, note};
use stockade::Sandbox;
use stockade::internal::Surroundings;
use stockade_policy::profile::{self, Anchor, Attempt, Catalog, Model, Profile, ProfileError, Rule, visible};

/// The value that the caller's variables have in a test.
const VALUE: &str = "stockade-test";

/// The request.
pub struct Order<'a> {
    /// Names and files of profiles; none means all of them.
    pub names: &'a [String],
    /// The root that the caller names: canonical.
    pub root: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// One test of a profile and its result.
struct Promise {
    profile: String,
    must_allow: bool,
    rule: Rule<Attempt>,
    found: Foreseen,
}

/// The directories and the environment that a profile is tested with.
struct World {
    root: PathBuf,
    surroundings: Surroundings,
    /// Holds an empty root and home, and goes with the world; `None` if the caller names the root.
    _made: Option<TempDir>,
}

/// Judges all tests of the profiles. The exit code is 1 if a test fails.
///
/// # Errors
/// A profile can't be loaded; a run with it would be refused.
pub fn test(catalog: &Catalog, caller: &Surroundings, order: &Order<'_>, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut promises = Vec::new();
    for name in names(catalog, order.names)? {
        let tests = of_profile(catalog, caller, &name, order.root.as_deref())?;
        if tests.is_empty() {
            note(&format!("the profile `{name}` has no tests"));
        }
        if !order.json {
            tests
                .iter()
                .try_for_each(|promise| writeln!(out, "{}", line(promise)))
                .and_then(|()| out.flush())
                .map_err(unwritable)?;
        }
        promises.extend(tests);
    }
    if order.json {
        writeln!(out, "{:#}", document(&promises)).map_err(unwritable)?;
    }
    note(&summary(&promises));
    let is_broken = promises.iter().any(|promise| !promise.holds());
    Ok(u8::from(is_broken))
}

/// All profiles if none is named. An unusable one fails all its tests, so it isn't skipped.
fn names(catalog: &Catalog, named: &[String]) -> Result<Vec<String>, Failure> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let all = catalog.list().into_iter();
    all.map(|listed| match listed.problem {
        None => Ok(listed.name),
        Some(problem) => Err(Failure::text(
            REFUSED,
            format!("the profile `{}` can't be used: {problem}", listed.name),
        )),
    })
    .collect()
}

fn of_profile(
    catalog: &Catalog,
    caller: &Surroundings,
    name: &str,
    root: Option<&Path>,
) -> Result<Vec<Promise>, Failure> {
    let profile = catalog.load(name).map_err(unusable)?;
    let tests = catalog.document(name).map_err(unusable)?.tests;
    let models: Vec<Model> = match profile.llm {
        true => profile::models(caller.models().as_deref()).map_err(unusable)?,
        false => Vec::new(),
    };
    let allowed = tests.must_allow.into_iter().map(|rule| (true, rule));
    let denied = tests.must_deny.into_iter().map(|rule| (false, rule));
    let tests: Vec<(bool, Rule<Attempt>)> = allowed.chain(denied).collect();
    let mut world = match root {
        Some(root) => World::given(root, caller),
        None => World::make(&profile, caller).map_err(unwritable)?,
    };
    tests.iter().for_each(|(_, rule)| world.set_variable(&rule.value));
    let profile_name = profile.name.clone();
    let sandbox = Sandbox::of(profile, world.surroundings.clone(), models).root(&world.root);
    let policy = sandbox.policy_of_any_command().map_err(|error| Failure {
        exit_code: REFUSED,
        ..Failure::from(error)
    })?;
    let promise = |(must_allow, rule): (bool, Rule<Attempt>)| Promise {
        profile: profile_name.clone(),
        must_allow,
        found: foresee(
            &policy,
            &rule.value,
            &world.path(&rule.value),
            &variable_value(&rule.value),
        ),
        rule,
    };
    Ok(tests.into_iter().map(promise).collect())
}

impl World {
    /// An empty root and home of the test's own, so that a profile's tests mean the same everywhere.
    fn make(profile: &Profile, caller: &Surroundings) -> io::Result<World> {
        let made = tempfile::Builder::new()
            .prefix("stockade-test-")
            .tempdir_in(place(profile, caller))?;
        let path = std::fs::canonicalize(made.path())?;
        let (root, home) = (path.join("root"), path.join("home"));
        std::fs::create_dir(&root)?;
        std::fs::create_dir(&home)?;
        let surroundings = Surroundings {
            directory: root.clone(),
            configuration: Some(home.join(".config/stockade")),
            state: Some(home.join(".local/state/stockade")),
            named_home: Some(home.clone()),
            home: Some(home),
            ..caller.clone()
        };
        Ok(World {
            root,
            surroundings,
            _made: Some(made),
        })
    }

    /// The user's own root and home.
    fn given(root: &Path, caller: &Surroundings) -> World {
        World {
            root: root.to_path_buf(),
            surroundings: caller.clone(),
            _made: None,
        }
    }

    /// The path of an attempt that has one.
    fn path(&self, attempt: &Attempt) -> PathBuf {
        let home = self.surroundings.home.as_deref();
        match attempt {
            Attempt::Path(_, spec) => spec.resolve(&self.root, home.unwrap_or(Path::new("/nonexistent"))),
            _ => PathBuf::new(),
        }
    }

    /// Gives the caller the variable of an attempt.
    fn set_variable(&mut self, attempt: &Attempt) {
        if let Attempt::Variable(name) = attempt {
            let environment = &mut self.surroundings.environment;
            environment.retain(|(other, _)| other.to_str() != Some(name));
            environment.push((name.into(), OsString::from(variable_value(attempt))));
        }
    }
}

/// The value that the caller has for the variable of an attempt. Of a `PATH` only directories are passed.
fn variable_value(attempt: &Attempt) -> String {
    match attempt {
        Attempt::Variable(name) if name == "PATH" => "/usr/bin:/bin".to_owned(),
        _ => VALUE.to_owned(),
    }
}

/// The first directory that can hold a new one and that no rule of the profile covers, except one on `/`.
fn place(profile: &Profile, caller: &Surroundings) -> PathBuf {
    let rules = profile.read.iter().chain(&profile.write).chain(&profile.exec);
    let granted: Vec<PathBuf> = rules
        .filter(|rule| rule.value.anchor == Anchor::Absolute && rule.value.rest != Path::new(""))
        .map(|rule| Path::new("/").join(&rule.value.rest))
        .collect();
    let mut places = ["/var/tmp", "/dev/shm"].map(PathBuf::from).to_vec();
    places.extend(caller.home.clone());
    let is_fit = |place: &&PathBuf| {
        let real = std::fs::canonicalize(place).unwrap_or_default();
        let is_writable = nix::unistd::access(*place, nix::unistd::AccessFlags::W_OK).is_ok();
        is_writable && !granted.iter().any(|granted| real.starts_with(granted))
    };
    let fit = places.iter().find(is_fit).cloned();
    fit.unwrap_or_else(std::env::temp_dir)
}

fn unusable(error: ProfileError) -> Failure {
    Failure {
        hint: error.hint(),
        ..Failure::new(REFUSED, &error)
    }
}

fn unwritable(error: io::Error) -> Failure {
    Failure::new(REFUSED, &error)
}

impl Promise {
    fn holds(&self) -> bool {
        self.found.is_allowed == self.must_allow
    }

    /// The deciding rule, in words.
    fn because(&self) -> String {
        match &self.found.rule {
            Some(rule) => format!("by {rule}"),
            None if self.found.is_allowed => "by the profile as a whole".to_string(),
            None => "since nothing grants it".to_string(),
        }
    }
}

fn line(promise: &Promise) -> String {
    let expected = if promise.must_allow { "allow" } else { "deny" };
    let said = format!("{}: must {expected} `{}`", promise.profile, promise.rule.value);
    let (verdict, why) = match promise.holds() {
        true => ("ok", String::new()),
        false => {
            let decision = decision(promise.found.is_allowed);
            ("FAILED", format!(": it is {decision}, {}", promise.because()))
        }
    };
    format!("{verdict:6}  {}", visible(&format!("{said}{why}")))
}

fn decision(is_allowed: bool) -> &'static str {
    if is_allowed { "allowed" } else { "denied" }
}

fn summary(promises: &[Promise]) -> String {
    let held = promises.iter().filter(|promise| promise.holds()).count();
    format!("{held} held, {} failed", promises.len() - held)
}

fn document(promises: &[Promise]) -> Value {
    let one = |promise: &Promise| {
        json!({
            "profile": promise.profile,
            "expected": decision(promise.must_allow),
            "access": promise.rule.value.word(),
            "target": promise.rule.value.target(),
            "origin": promise.rule.origin.to_string(),
            "result": if promise.holds() { "ok" } else { "failed" },
            "found": decision(promise.found.is_allowed),
            "rule": promise.found.rule.as_ref().map(ToString::to_string),
        })
    };
    json!({ "version": 1, "tests": promises.iter().map(one).collect::<Vec<_>>() })
}

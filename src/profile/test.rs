//! `stockade profile test`: tries the tests that profiles declare, and reports which hold.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::trial::{Bench, Found, Means, TrialError};
use crate::REFUSED;
use crate::message::{Failure, note};
use stockade::internal::Surroundings;
use stockade_policy::profile::{self, Attempt, Catalog, Model, ProfileError, Rule, visible};

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
    expected: Expected,
    rule: Rule<Attempt>,
    found: Found,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Allowed,
    Denied,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Held,
    Failed,
    NotTried,
}

/// Tries all tests of the profiles. The exit code is 1 if a test fails.
///
/// # Errors
/// A profile can't be loaded; the sandbox can't be had here.
pub fn test(catalog: &Catalog, caller: &Surroundings, order: &Order<'_>, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut promises = Vec::new();
    for name in names(catalog, order.names)? {
        let tried = of_profile(catalog, caller, &name, order.root.as_deref())?;
        if tried.is_empty() {
            note(&format!("the profile `{name}` has no tests"));
        }
        if !order.json {
            tried
                .iter()
                .try_for_each(|promise| writeln!(out, "{}", line(promise)))
                .and_then(|()| out.flush())
                .map_err(unwritable)?;
        }
        promises.extend(tried);
    }
    if order.json {
        writeln!(out, "{:#}", document(&promises)).map_err(unwritable)?;
    }
    note(&summary(&promises));
    let is_broken = promises.iter().any(|promise| promise.verdict() == Verdict::Failed);
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
    let probe = std::env::current_exe().map_err(unwritable)?;
    let bench = Bench {
        profile: &profile,
        models: &models,
        caller,
        root,
        probe: &probe,
    };
    let allowed = tests.must_allow.into_iter().map(|rule| (Expected::Allowed, rule));
    let denied = tests.must_deny.into_iter().map(|rule| (Expected::Denied, rule));
    let promise = |(expected, rule): (Expected, Rule<Attempt>)| {
        let mut promise = Promise {
            profile: profile.name.clone(),
            expected,
            found: bench.test(&rule.value).map_err(untried)?,
            rule,
        };
        if promise.verdict() == Verdict::Failed && promise.found.foreseen.is_none() {
            promise.found.foreseen = Some(bench.foresee(&promise.rule.value).map_err(untried)?);
        }
        Ok(promise)
    };
    allowed.chain(denied).map(promise).collect()
}

fn unusable(error: ProfileError) -> Failure {
    Failure {
        hint: error.hint(),
        ..Failure::new(REFUSED, &error)
    }
}

fn untried(error: TrialError) -> Failure {
    match error {
        TrialError::Run(error) => Failure {
            exit_code: REFUSED,
            ..Failure::from(error)
        },
        other => Failure::new(REFUSED, &other),
    }
}

fn unwritable(error: io::Error) -> Failure {
    Failure::new(REFUSED, &error)
}

impl Promise {
    fn verdict(&self) -> Verdict {
        match self.found.is_allowed {
            None => Verdict::NotTried,
            Some(is_allowed) if is_allowed == (self.expected == Expected::Allowed) => Verdict::Held,
            Some(_) => Verdict::Failed,
        }
    }

    /// The deciding rule, in words.
    fn because(&self) -> String {
        let foreseen = self.found.foreseen.as_ref();
        match foreseen.and_then(|foreseen| foreseen.rule.as_ref()) {
            Some(rule) => format!("by {rule}"),
            None if self.found.is_allowed == Some(true) => "by the profile as a whole".to_string(),
            None => "since nothing grants it".to_string(),
        }
    }

    /// The remark for the person beside the verdict.
    fn remark(&self) -> String {
        let found = &self.found;
        match (self.verdict(), found.means) {
            (Verdict::Held, Means::Sandbox) => String::new(),
            (Verdict::Held, Means::Policy) => format!(" (by the policy: {})", found.said),
            (Verdict::NotTried, _) => format!(": {}", found.said),
            (Verdict::Failed, Means::Policy) => format!(": the policy {} it, {}", self.does(), self.because()),
            (Verdict::Failed, Means::Sandbox) => {
                let is_foreseen = found.foreseen.as_ref().map(|foreseen| foreseen.is_allowed) == found.is_allowed;
                let why = match is_foreseen {
                    true => self.because(),
                    false => "though the policy says otherwise".to_string(),
                };
                format!(": the sandbox {} it, {why}", self.does())
            }
        }
    }

    fn does(&self) -> &'static str {
        match self.found.is_allowed {
            Some(true) => "allows",
            _ => "denies",
        }
    }
}

fn line(promise: &Promise) -> String {
    let verdict = match promise.verdict() {
        Verdict::Held => "ok",
        Verdict::Failed => "FAILED",
        Verdict::NotTried => "not tried",
    };
    let expected = match promise.expected {
        Expected::Allowed => "must allow",
        Expected::Denied => "must deny",
    };
    let text = format!(
        "{}: {expected} `{}`{}",
        promise.profile,
        promise.rule.value,
        promise.remark()
    );
    format!("{verdict:9}  {}", visible(&text))
}

fn summary(promises: &[Promise]) -> String {
    let count = |verdict: Verdict| promises.iter().filter(|one| one.verdict() == verdict).count();
    let by_policy = promises.iter().filter(|one| one.found.means == Means::Policy).count();
    format!(
        "{} held, {} failed, {} not tried; {by_policy} decided by the policy alone",
        count(Verdict::Held),
        count(Verdict::Failed),
        count(Verdict::NotTried),
    )
}

fn document(promises: &[Promise]) -> Value {
    let one = |promise: &Promise| {
        let rule = promise
            .found
            .foreseen
            .as_ref()
            .and_then(|foreseen| foreseen.rule.as_ref());
        json!({
            "profile": promise.profile,
            "expected": match promise.expected {
                Expected::Allowed => "allowed",
                Expected::Denied => "denied",
            },
            "access": promise.rule.value.word(),
            "target": promise.rule.value.target(),
            "origin": promise.rule.origin.to_string(),
            "result": match promise.verdict() {
                Verdict::Held => "ok",
                Verdict::Failed => "failed",
                Verdict::NotTried => "not_tried",
            },
            "found": promise.found.is_allowed.map(|is_allowed| if is_allowed { "allowed" } else { "denied" }),
            "by": match promise.found.means {
                Means::Sandbox => "sandbox",
                Means::Policy => "policy",
            },
            "said": promise.found.said,
            "rule": rule.map(ToString::to_string),
        })
    };
    json!({ "version": 1, "tests": promises.iter().map(one).collect::<Vec<_>>() })
}

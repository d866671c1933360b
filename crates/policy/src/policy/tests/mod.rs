//! The decisions of policies, and the laws of their intersection.

mod denials;
mod differences;
mod reach;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::profile::{Limits, Origin};

pub(super) fn grant(access: Access, path: &str) -> Grant {
    Grant {
        access,
        path: PathBuf::from(path),
        extent: GrantExtent::Subtree,
        exempt: false,
        origin: Origin::Flag("test".into()),
        why: None,
    }
}

pub(super) fn denial(glob: &str, kind: DenialKind) -> DenialRule {
    DenialRule {
        target: Target::Glob {
            below: PathBuf::from("/"),
            glob: glob.into(),
        },
        access: Access::WRITING,
        kind,
        origin: Origin::BuiltIn,
    }
}

pub(super) fn policy(grants: Vec<Grant>, denials: Vec<DenialRule>) -> Policy {
    Policy {
        profile: "test".into(),
        capabilities: crate::policy::Capabilities::USUAL,
        mode: crate::policy::Mode::AcceptEdits,
        root: PathBuf::from("/r"),
        grants,
        denials,
        reach: NetworkPolicy::Nothing,
        listen: Vec::new(),
        sockets: Vec::new(),
        environment: BTreeMap::new(),
        scratch: false,
        limits: Limits::NONE,
        system_calls: Vec::new(),
        asks: Asks::Nothing,
    }
}

fn allows(policy: &Policy, access: Access, path: &str) -> bool {
    Matcher::new(policy).decide(access, Path::new(path)).is_allowed()
}

#[test]
fn a_prefix_of_a_name_is_not_a_directory_above() {
    let policy = policy(vec![grant(Access::READ, "/home/a")], vec![]);
    assert!(allows(&policy, Access::READ, "/home/a/x"));
    assert!(!allows(&policy, Access::READ, "/home/ab/x"));
}

#[test]
fn a_denial_wins_over_any_grant() {
    let policy = policy(
        vec![grant(Access::all(), "/"), grant(Access::READ, "/r/.env")],
        vec![denial("**/.env*", DenialKind::SecretPattern)],
    );
    for path in ["/r/.env", "/r/.env.local", "/.env", "/r/.envs/inside"] {
        assert!(!allows(&policy, Access::READ, path), "{path}");
    }
    assert!(allows(&policy, Access::READ, "/r/env"));
}

#[test]
fn closing_everything_in_a_directory_closes_the_directory() {
    let policy = policy(
        vec![grant(Access::all(), "/")],
        vec![denial("**/secrets/**", DenialKind::SecretPattern)],
    );
    assert!(!allows(&policy, Access::WRITE, "/r/secrets"));
    assert!(!allows(&policy, Access::READ, "/r/secrets/a/b"));
    assert!(allows(&policy, Access::READ, "/r/secrets.rs"));
}

#[test]
fn secret_patterns_are_off_in_an_installation_and_secret_names_are_not() {
    let mut installation = grant(Access::READ, "/opt/tool");
    installation.exempt = true;
    let closed = DenialRule {
        target: Target::Path(PathBuf::from("/opt/tool/private")),
        kind: DenialKind::SecretName,
        ..denial("", DenialKind::SecretName)
    };
    let policy = policy(
        vec![installation],
        vec![denial("**/*.pem", DenialKind::SecretPattern), closed],
    );
    assert!(allows(&policy, Access::READ, "/opt/tool/cacert.pem"));
    assert!(!allows(&policy, Access::READ, "/opt/tool/private/x"));
}

#[test]
fn a_single_path_grants_nothing_below_it() {
    let mut one = grant(Access::READ, "/r/script.py");
    one.extent = GrantExtent::Single;
    let policy = policy(vec![one], vec![]);
    assert!(allows(&policy, Access::READ, "/r/script.py"));
    assert!(!allows(&policy, Access::READ, "/r/script.py/x"));
}

#[test]
fn variables_that_steer_the_loader_never_pass() {
    for name in ["LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "GCONV_PATH"] {
        assert!(is_unsecure(name.as_ref()), "{name}");
    }
    assert!(!is_unsecure("TMPDIR".as_ref()));
}

const COMPONENTS: &[&str] = &["a", "b", "ab", ".env", "x.pem", "secrets"];

pub(super) fn any_path() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(COMPONENTS), 0..5)
        .prop_map(|parts| format!("/{}", parts.join("/")))
}

fn any_access() -> impl Strategy<Value = Access> {
    proptest::sample::select(vec![
        Access::READ,
        Access::WRITING,
        Access::READ | Access::EXECUTE,
        Access::all(),
    ])
}

fn any_grant() -> impl Strategy<Value = Grant> {
    (any_access(), any_path(), any::<bool>(), any::<bool>()).prop_map(|(access, path, single, exempt)| Grant {
        extent: if single {
            GrantExtent::Single
        } else {
            GrantExtent::Subtree
        },
        exempt,
        ..grant(access, &path)
    })
}

fn any_denial() -> impl Strategy<Value = DenialRule> {
    let kinds = vec![
        DenialKind::Explicit,
        DenialKind::SecretName,
        DenialKind::SecretPattern,
        DenialKind::Guarded,
    ];
    let globs = vec!["**/.env*", "**/*.pem", "**/secrets/**", "a/*", "a/b", "**"];
    (proptest::sample::select(kinds), proptest::sample::select(globs)).prop_map(|(kind, glob)| denial(glob, kind))
}

pub(super) fn any_policy() -> impl Strategy<Value = Policy> {
    (
        proptest::collection::vec(any_grant(), 0..5),
        proptest::collection::vec(any_denial(), 0..3),
    )
        .prop_map(|(grants, denials)| policy(grants, denials))
}

/// Every access to the probes with the policy's decision.
fn answers(policy: &Policy, probes: &[String]) -> Vec<(String, Access, bool)> {
    let matcher = Matcher::new(policy);
    probes
        .iter()
        .flat_map(|path| Access::all().iter().map(move |access| (path.clone(), access)))
        .map(|(path, access)| {
            let allowed = matcher.decide(access, Path::new(&path)).is_allowed();
            (path, access, allowed)
        })
        .collect()
}

/// The accesses that are allowed.
fn allowed(policy: &Policy, probes: &[String]) -> Vec<(String, Access)> {
    let allowed = answers(policy, probes).into_iter().filter(|(_, _, allowed)| *allowed);
    allowed.map(|(path, access, _)| (path, access)).collect()
}

fn any_probes() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(any_path(), 12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn meeting_is_commutative(a in any_policy(), b in any_policy(), probes in any_probes()) {
        prop_assert_eq!(answers(&a.meet(&b), &probes), answers(&b.meet(&a), &probes));
    }

    #[test]
    fn meeting_is_associative(a in any_policy(), b in any_policy(), c in any_policy(), probes in any_probes()) {
        prop_assert_eq!(answers(&a.meet(&b).meet(&c), &probes), answers(&a.meet(&b.meet(&c)), &probes));
    }

    #[test]
    fn meeting_oneself_changes_nothing(a in any_policy(), probes in any_probes()) {
        prop_assert_eq!(answers(&a.meet(&a), &probes), answers(&a, &probes));
    }

    #[test]
    fn a_meeting_lies_inside_both(a in any_policy(), b in any_policy(), probes in any_probes()) {
        let (ours, theirs) = (allowed(&a, &probes), allowed(&b, &probes));
        for access in allowed(&a.meet(&b), &probes) {
            prop_assert!(ours.contains(&access) && theirs.contains(&access), "{:?}", access);
        }
    }

    #[test]
    fn a_denial_never_adds_an_access(a in any_policy(), more in any_denial(), probes in any_probes()) {
        let before = allowed(&a, &probes);
        let mut narrower = a.clone();
        narrower.denials.push(more);
        for access in allowed(&narrower, &probes) {
            prop_assert!(before.contains(&access), "{:?}", access);
        }
    }
}

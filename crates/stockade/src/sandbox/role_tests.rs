//! The laws of roles: capabilities, mode and scope only take away and never add.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::Sandbox;
use crate::policy::*;
use crate::profile::{Glob, Origin, Rule};

const PROBES: &[&str] = &[
    "/var/tmp/a.rs",
    "/var/tmp/src/a.rs",
    "/var/tmp/src/deep/b.md",
    "/var/tmp/docs/b.md",
    "/var/tmp/.env",
    "/var/tmp/.git/config",
    "/var/tmp/.git/index",
    "/var/tmp",
    "/tmp/x",
    "/etc/passwd",
    "/etc/shadow",
    "/usr/bin/env",
    "/dev/null",
    "/home/x",
];

const GLOBS: &[&str] = &[
    "src/**",
    "*.md",
    "**",
    "docs",
    "src/deep/*",
    "/var/tmp/src",
    "/etc/**",
    "*.rs",
];

fn any_capabilities() -> impl Strategy<Value = Capabilities> {
    (0..=Capabilities::all().bits()).prop_map(Capabilities::from_bits_truncate)
}

fn any_globs() -> impl Strategy<Value = Vec<Rule<Glob>>> {
    proptest::collection::vec(proptest::sample::select(GLOBS), 0..3).prop_map(|globs| {
        let rule = |glob: &str| Rule {
            value: scope_glob(glob).unwrap(),
            why: None,
            origin: Origin::BuiltIn,
        };
        globs.into_iter().map(rule).collect()
    })
}

fn any_scope() -> impl Strategy<Value = Scope> {
    (proptest::collection::vec(any_globs(), 0..3), any_globs(), any_globs()).prop_map(|(allowed, denied, read_only)| {
        Scope {
            allowed,
            denied,
            read_only,
        }
    })
}

fn any_role() -> impl Strategy<Value = Role> {
    let modes = vec![Mode::Manual, Mode::AcceptEdits, Mode::Bypass];
    (any_capabilities(), proptest::sample::select(modes), any_scope()).prop_map(|(capabilities, mode, scope)| Role {
        capabilities,
        mode,
        scope,
        ..Role::WHOLE
    })
}

fn policy(profile: &str, role: &Role) -> Policy {
    let sandbox = Sandbox::profile(profile).unwrap().root("/var/tmp").role(role.clone());
    sandbox.policy_of_any_command().unwrap()
}

fn allowed(policy: &Policy) -> Vec<(PathBuf, Access)> {
    let matcher = Matcher::new(policy);
    let pairs = PROBES
        .iter()
        .flat_map(|path| Access::all().iter().map(move |access| (PathBuf::from(path), access)));
    pairs
        .filter(|(path, access)| matcher.decide(*access, Path::new(path)).is_allowed())
        .collect()
}

fn is_inside(inner: &Policy, outer: &Policy) -> bool {
    let outer = allowed(outer);
    allowed(inner).iter().all(|one| outer.contains(one))
}

fn profiles() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "minimal",
        "readonly",
        "filesystem",
        "workspace",
        "mcp-standard",
        "trusted",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_role_never_allows_what_the_profile_alone_does_not(profile in profiles(), role in any_role()) {
        prop_assert!(is_inside(&policy(profile, &role), &policy(profile, &Role::WHOLE)));
    }

    #[test]
    fn a_child_has_what_both_roles_have(profile in profiles(), parent in any_role(), child in any_role()) {
        let (parent, child) = (policy(profile, &parent), policy(profile, &child));
        let both = parent.meet(&child);
        prop_assert!(is_inside(&both, &parent) && is_inside(&both, &child));
        prop_assert_eq!(both.capabilities, parent.capabilities & child.capabilities);
        prop_assert_eq!(allowed(&both), allowed(&child.meet(&parent)));
    }

    #[test]
    fn without_a_capability_nothing_that_a_person_granted_is_done_by_it(role in any_role()) {
        let policy = policy("workspace", &role);
        for (capability, access) in [
            (Capabilities::READ, Access::READ),
            (Capabilities::WRITE, Access::WRITE),
            (Capabilities::DELETE, Access::DELETE),
        ] {
            if !role.capabilities.contains(capability) {
                prop_assert!(!Matcher::new(&policy).decide(access, Path::new("/var/tmp/src/a.rs")).is_allowed());
            }
        }
    }

    #[test]
    fn one_more_denied_glob_never_allows_more(role in any_role(), more in any_globs()) {
        let mut narrower = role.clone();
        narrower.scope.denied.extend(more);
        prop_assert!(is_inside(&policy("workspace", &narrower), &policy("workspace", &role)));
    }

    #[test]
    fn a_mode_with_more_power_allows_no_less(role in any_role()) {
        let of = |mode: Mode| policy("workspace", &Role { mode, ..role.clone() });
        prop_assert!(is_inside(&of(Mode::Manual), &of(Mode::AcceptEdits)));
        prop_assert!(is_inside(&of(Mode::AcceptEdits), &of(Mode::Bypass)));
    }
}

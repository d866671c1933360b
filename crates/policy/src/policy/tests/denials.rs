//! Denials, compiled and moved: against the definition that one regular expression for each glob gives.

use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::{denial, grant, policy};

fn closing(target: Target, access: Access, kind: DenialKind) -> DenialRule {
    DenialRule {
        target,
        access,
        kind,
        ..denial("", kind)
    }
}

fn path(path: &str) -> Target {
    Target::Path(PathBuf::from(path))
}

/// The definition: one glob, tried on the path and each directory above it.
fn closes(denial: &DenialRule, path: &Path) -> bool {
    match &denial.target {
        Target::Path(closed) => path.starts_with(closed),
        Target::GitDirectories => git::is_guarded(path),
        Target::Listed(listed) => listed::tests::closes(listed, path),
        Target::AllBut { .. } => unreachable!("scopes have tests of their own"),
        Target::Glob { below, glob } => path.strip_prefix(below).is_ok_and(|rest| {
            let glob: GlobMatcher = globset::GlobBuilder::new(glob.strip_suffix("/**").unwrap_or(glob))
                .literal_separator(true)
                .case_insensitive(denial.kind != DenialKind::Explicit)
                .build()
                .unwrap()
                .compile_matcher();
            rest.ancestors()
                .take_while(|part| !part.as_os_str().is_empty())
                .any(|part| glob.is_match(part))
        }),
    }
}

const LISTS: [SecretList; 5] = SecretList::ALL;

fn listed_denial(list: SecretList, homes: &[&str]) -> DenialRule {
    let home = |place: &&str| Entry {
        place: PathBuf::from(place),
        at: PathBuf::new(),
    };
    let (access, kind) = match list {
        SecretList::Secret => (Access::WRITING, DenialKind::SecretName),
        SecretList::Key => (Access::WRITING, DenialKind::SecretPattern),
        SecretList::Guarded | SecretList::Folder | SecretList::Project => (Access::CHANGE, DenialKind::Guarded),
    };
    let listed = Listed {
        list,
        entries: homes.iter().map(home).collect(),
        open: [].into(),
    };
    closing(Target::Listed(listed), access, kind)
}

const GLOBS: &[&str] = &[
    "**/secrets/**",
    "**/.env*",
    "**/a/*/b",
    "x/**/c",
    "**/*.pem",
    "*.pem",
    "a/*",
    "a/b",
    "**",
    "**/**",
    "a/**/**",
    "**/a/**/b/c",
    "{a,b}/c",
    "**/{a/b,c}",
    "{a/**,x}/b",
    "[ab]/c",
    "a[!b]c",
    "**/a/**",
    "**/A",
    "a?/b",
];

const NAMES: &[&str] = &[
    "a",
    "b",
    "c",
    "w",
    "x",
    "A",
    "ab",
    ".env",
    "k.pem",
    "secrets",
    ".git",
    "refs",
    "hooks",
    "modules",
    "home",
    "u",
    ".ssh",
    ".config",
    "gh",
    ".npmrc",
    ".env.example",
    ".vscode",
    "etc",
    "shadow",
    "id_rsa.pub",
];

fn any_path(most: usize) -> impl Strategy<Value = PathBuf> {
    proptest::collection::vec(select(NAMES), 0..=most).prop_map(|parts| Path::new("/").join(parts.join("/")))
}

fn any_denial() -> impl Strategy<Value = DenialRule> {
    let kinds = vec![DenialKind::Explicit, DenialKind::SecretPattern, DenialKind::Guarded];
    let accesses = vec![Access::WRITE, Access::WRITING];
    let globs = (select(GLOBS), select(vec!["/", "/w", "/w/x"])).prop_map(|(glob, below)| Target::Glob {
        below: PathBuf::from(below),
        glob: glob.to_owned(),
    });
    let target = prop_oneof![8 => globs, 1 => any_path(3).prop_map(Target::Path), 1 => Just(Target::GitDirectories)];
    let other = (target, select(accesses), select(kinds));
    let other = other.prop_map(|(target, access, kind)| closing(target, access, kind));
    let homes = select(vec![&[][..], &["/w"][..], &["/w/x", "/w/x/a"][..]]);
    let listed = (select(LISTS.to_vec()), homes).prop_map(|(list, homes)| listed_denial(list, homes));
    prop_oneof![3 => other, 1 => listed]
}

fn any_denials() -> impl Strategy<Value = Vec<DenialRule>> {
    proptest::collection::vec(any_denial(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_move_that_opens_nothing_leaves_closed_what_was_closed(
        denials in any_denials(),
        (old, new) in (any_path(4), any_path(4)),
        suffixes in proptest::collection::vec(any_path(4), 8),
    ) {
        let policy = policy(vec![grant(Access::all(), "/")], denials);
        let matcher = Matcher::new(&policy);
        if matcher.opens_by_moving(&old, &new).is_none() {
            for suffix in suffixes {
                let suffix = suffix.strip_prefix("/").unwrap();
                let (before, after) = (old.join(suffix), new.join(suffix));
                for access in Access::all().iter().filter(|access| matcher.denial(*access, &before, false).is_some()) {
                    prop_assert!(matcher.denial(access, &after, false).is_some(), "{:?}: {:?}", access, after);
                }
            }
        }
    }

    /// The other direction: a path closed under the new name, by a denial with components, was closed under the old.
    #[test]
    fn a_move_that_fills_nothing_brings_nothing_to_a_closed_name(
        denials in any_denials(),
        (old, new) in (any_path(4), any_path(4)),
        suffixes in proptest::collection::vec(any_path(4), 8),
    ) {
        let denials: Vec<_> = denials.into_iter().filter(|denial| !denial.guards_git()).collect();
        let policy = policy(vec![grant(Access::all(), "/")], denials);
        let matcher = Matcher::new(&policy);
        let closed = |path: &Path| matcher.denial(Access::WRITE, path, false).is_some();
        if matcher.filled_by(Arrival::Directory(&old), &new).is_none() && !closed(&new) && !closed(&old) {
            for suffix in suffixes {
                let suffix = suffix.strip_prefix("/").unwrap();
                let (before, after) = (old.join(suffix), new.join(suffix));
                prop_assert!(!closed(&after) || closed(&before), "{:?} to {:?}", before, after);
            }
        }
    }

    #[test]
    fn a_grant_covers_what_lies_below_it_by_component(top in "/?[a./]{0,6}", probe in "/[a./]{0,8}") {
        let expected = Path::new(&probe).starts_with(&top);
        prop_assert_eq!(grant(Access::READ, &top).covers(Path::new(&probe)), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn compiled_denials_close_what_each_of_them_closes(
        denials in any_denials(),
        probe in any_path(5),
        exempt: bool,
    ) {
        let policy = policy(vec![grant(Access::all(), "/")], denials);
        for access in Access::all().iter() {
            let defined = policy.denials.iter().find(|denial| {
                denial.access.intersects(access) && !(exempt && denial.is_pattern()) && closes(denial, &probe)
            });
            prop_assert_eq!(Matcher::new(&policy).denial(access, &probe, exempt), defined);
        }
    }
}

fn opens(target: Target, old: &str, new: &str) -> bool {
    let policy = policy(vec![], vec![closing(target, Access::WRITE, DenialKind::Explicit)]);
    Matcher::new(&policy)
        .opens_by_moving(Path::new(old), Path::new(new))
        .is_some()
}

#[test]
fn a_directory_moves_where_what_is_closed_in_it_stays_closed() {
    let glob = |below: &str, glob: &str| Target::Glob {
        below: PathBuf::from(below),
        glob: glob.to_owned(),
    };
    for (target, old, new, expected) in [
        (glob("/", "**/secrets/**"), "/w/a", "/w/b", false),
        (glob("/", "**/secrets/**"), "/w/secrets", "/w/public", true),
        (glob("/", "**/a/*/b"), "/w/a", "/w/c", true),
        (glob("/", "**/a/*/b"), "/w/a/x", "/w/a/y", false),
        (glob("/", "**/a/*/b"), "/w/c", "/w/a", false),
        (glob("/w/x", "**/c"), "/w/x/d", "/w/y/d", true),
        (glob("/w/x", "**/c"), "/w/x/d", "/w/x/e/f", false),
        (glob("/w/x", "**/c"), "/w", "/v", true),
        (glob("/w", "{a/b,c}"), "/w/a", "/w/d", true),
        (glob("/w", "{a/b,c}"), "/v/a", "/v/d", false),
        (glob("/w", "[a-c]/d"), "/w/a", "/w/b", false),
        (glob("/w", "[a-c]/d"), "/w/a", "/w/x", true),
        // A negated class matches the separator too.
        (glob("/w", "a[!b]c"), "/w/a", "/w/d", true),
        (glob("/w", "a[+-9]c"), "/w/a", "/w/d", true),
        (glob("/w", "a[]+-9]b/c"), "/w/a", "/w/d", true),
        (path("/w/a/b"), "/w/a", "/w/c", true),
        (path("/w/a/b"), "/w/a/b/c", "/w/a/b/d", false),
        (path("/w/a/b"), "/w/a/b/c", "/w/d", true),
        (path("/w/a/b"), "/w/c", "/w/d", false),
    ] {
        assert_eq!(opens(target.clone(), old, new), expected, "{target:?}: {old} to {new}");
    }
}

#[test]
fn nothing_arrives_above_a_closed_name_that_could_not_be_made_there() {
    let glob = |below: &str, glob: &str| Target::Glob {
        below: PathBuf::from(below),
        glob: glob.to_owned(),
    };
    for (target, old, new, by_directory, by_link) in [
        (path("/h/.config/own"), "/h/x", "/h/.config", true, true),
        (path("/h/.config/own"), "/x", "/h", true, true),
        (path("/h/.config/own"), "/h/x", "/h/.configs", false, false),
        (path("/h/.config/own"), "/h/x", "/h/.config/other", false, false),
        (glob("/w", "vendor/*.json"), "/w/x", "/w/vendor", true, true),
        (glob("/w", "vendor/*.json"), "/w/x", "/w/y", false, false),
        (glob("/w", "*/vendor/**"), "/v/x", "/w/web", true, true),
        (glob("/w", "*/vendor/**"), "/w/x", "/w/web", false, true),
        (glob("/", "**/.config/gh/**"), "/w/x", "/w/.config", true, true),
        (glob("/", "**/.config/gh/**"), "/w/x", "/w/y", false, false),
        // At any depth below a directory: a link may lead to anything anyway, and a directory could be copied in.
        (glob("/w", "**/secrets/**"), "/v/x", "/w/x", true, false),
        (glob("/w", "**/secrets/**"), "/w/x", "/w/y/x", false, false),
        (glob("/", "**/secrets/**"), "/v/x", "/w/x", false, false),
        (glob("/w", "{a/b,c}"), "/v/x", "/w/x", true, true),
    ] {
        let policy = policy(
            vec![],
            vec![closing(target.clone(), Access::WRITE, DenialKind::Explicit)],
        );
        let matcher = Matcher::new(&policy);
        let filled = |arrival| matcher.filled_by(arrival, Path::new(new)).is_some();
        let found = (filled(Arrival::Directory(Path::new(old))), filled(Arrival::Link));
        assert_eq!(found, (by_directory, by_link), "{target:?}: {old} to {new}");
    }
}

/// Shipped anchored denials, including the machine's: no directory and no link may arrive above one.
#[test]
fn nothing_arrives_above_any_place_that_is_closed_by_name() {
    let names: Vec<PathBuf> = LISTS.into_iter().flat_map(listed::paths_of_machine).collect();
    assert!(names.len() > 10, "{names:?}");
    let denials = LISTS.map(|list| listed_denial(list, &["/opt/ada"])).to_vec();
    let policy = policy(vec![grant(Access::all(), "/")], denials);
    let matcher = Matcher::new(&policy);
    let of_home = ["/opt/ada/.ssh", "/home/bob/.ssh"].map(PathBuf::from);
    let is_open = |path: &&Path| matcher.denial(Access::WRITE, path, false).is_none();
    for above in names
        .iter()
        .chain(&of_home)
        .flat_map(|name| name.ancestors().skip(1))
        .filter(is_open)
    {
        assert!(
            matcher.filled_by(Arrival::Link, above).is_some() || above == Path::new("/"),
            "{}",
            above.display()
        );
        assert!(matcher.built_in_below(above).is_some(), "{}", above.display());
        for from in ["/tmp/x", "/srv/x", "/x"].map(Path::new) {
            assert!(
                matcher.filled_by(Arrival::Directory(from), above).is_some(),
                "{}",
                above.display()
            );
        }
    }
}

#[test]
fn repositories_move_and_what_is_in_a_git_directory_keeps_its_role() {
    for (old, new, expected) in [
        ("/w/clone", "/w/project", false),
        ("/w/.git/refs/heads/x", "/w/.git/refs/heads/y", false),
        ("/w/.git/logs/refs/.tmp-renamed-log", "/w/.git/logs/refs/heads/x", false),
        ("/w/.git", "/w/.got", true),
        ("/w/got", "/w/.git", true),
        ("/w/.git/hooks", "/w/.git/refs/hooks", true),
        ("/w/.git/refs/x", "/w/.git/objects/info", true),
        ("/w/.git/refs/x", "/w/.git/worktrees/x", true),
        ("/w/.git/refs/x", "/w/x", true),
        ("/w/.git/modules/x", "/w/.git/modules/y", true),
        ("/w/.git/worktrees/x", "/w/.git/worktrees/y", true),
    ] {
        assert_eq!(opens(Target::GitDirectories, old, new), expected, "{old} to {new}");
    }
}

#[test]
fn where_all_of_the_new_place_is_closed_nothing_opens() {
    let guarded = closing(path("/w/a/b"), Access::WRITE, DenialKind::Guarded);
    let both = Access::WRITING;
    for (access, kind, opens) in [
        (both, DenialKind::SecretName, false),
        (Access::READ, DenialKind::SecretName, true),
        // This one is off in exempt grants.
        (both, DenialKind::SecretPattern, true),
    ] {
        let policy = policy(vec![], vec![guarded.clone(), closing(path("/w/c"), access, kind)]);
        let matcher = Matcher::new(&policy);
        let lost = matcher.opens_by_moving(Path::new("/w/a"), Path::new("/w/c/d"));
        assert_eq!(lost.is_some(), opens, "{access:?} {kind:?}");
    }
}

/// The supervisor's threads share the same compiled denials.
#[test]
fn compiled_denials_are_shared_between_threads() {
    let policy = policy(
        vec![grant(Access::all(), "/")],
        vec![denial("**/*.pem", DenialKind::SecretPattern)],
    );
    let closed = Closed::compile(&policy);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let matcher = Matcher::with(&policy, &closed);
                assert!(!matcher.decide(Access::READ, Path::new("/w/x.PEM")).is_allowed());
                assert!(matcher.decide(Access::READ, Path::new("/w/x")).is_allowed());
            });
        }
    });
}

#[test]
fn a_glob_that_is_none_closes_everything() {
    let policy = policy(
        vec![grant(Access::all(), "/")],
        vec![denial("**/[", DenialKind::Explicit)],
    );
    let matcher = Matcher::new(&policy);
    assert!(!matcher.decide(Access::READ, Path::new("/w")).is_allowed());
    assert!(matcher.decide(Access::EXECUTE, Path::new("/w")).is_allowed());
}

/// It compiles alone, and not in a set.
#[test]
fn a_glob_that_nests_too_deep_closes_everything_and_leaves_the_others_as_they_are() {
    let deep = format!("{}x{}", "{".repeat(2000), "}".repeat(2000));
    let globs = [(deep.as_str(), Access::READ), ("**/b", Access::WRITE)].map(|(glob, access)| DenialRule {
        access,
        ..denial(glob, DenialKind::Explicit)
    });
    let policy = policy(vec![grant(Access::all(), "/")], globs.to_vec());
    let matcher = Matcher::new(&policy);
    assert!(!matcher.decide(Access::READ, Path::new("/w/a")).is_allowed());
    assert!(matcher.decide(Access::WRITE, Path::new("/w/a")).is_allowed());
    assert!(!matcher.decide(Access::WRITE, Path::new("/w/b/c")).is_allowed());
}

/// The writer of these decides what is confined, or what a run with other grants does.
// promise: stockade.12
#[test]
fn what_starts_stockade_from_python_and_node_is_never_written() {
    let denials = vec![listed_denial(SecretList::Guarded, &[])];
    let policy = policy(vec![grant(Access::all(), "/")], denials);
    let matcher = Matcher::new(&policy);
    for name in [
        "/w/node_modules/stockade/lib/binary.cjs",
        "/w/node_modules/.pnpm/stockade@0.1.0/node_modules/stockade/index.mjs",
        "/w/node_modules/.bin/stockade",
        "/w/.venv/lib/python3.11/site-packages/stockade/_binary.py",
        "/usr/lib/python3/dist-packages/stockade/new.py",
        "/tmp/stockade-code-1a2b/code.py",
        "/tmp/stockade-code-1a2b/json.py",
    ] {
        assert!(!matcher.decide(Access::WRITE, Path::new(name)).is_allowed(), "{name}");
        assert!(matcher.decide(Access::READ, Path::new(name)).is_allowed(), "{name}");
    }
    for name in [
        "/w/node_modules/other/lib/stockade.cjs",
        "/w/node_modules/.bin/other",
        "/w/stockade/a.py",
        "/w/stockade-coder/a.py",
    ] {
        assert!(matcher.decide(Access::WRITE, Path::new(name)).is_allowed(), "{name}");
    }
    let lost = matcher.opens_by_moving(Path::new("/tmp/stockade-code-1"), Path::new("/tmp/other"));
    assert!(lost.is_some());
}

/// A project's rules on tool calls are for a person to set, never for a run.
// promise: stockade.13
#[test]
fn a_project_s_configuration_is_read_and_never_written() {
    let denials = vec![listed_denial(SecretList::Guarded, &[])];
    let policy = policy(vec![grant(Access::all(), "/")], denials);
    let matcher = Matcher::new(&policy);
    for name in [
        "/w/.stockade",
        "/w/.stockade/config.toml",
        "/w/sub/.stockade/config.toml",
    ] {
        assert!(!matcher.decide(Access::WRITE, Path::new(name)).is_allowed(), "{name}");
        assert!(matcher.decide(Access::READ, Path::new(name)).is_allowed(), "{name}");
    }
    assert!(
        matcher
            .decide(Access::WRITE, Path::new("/w/stockade/config.toml"))
            .is_allowed()
    );
    let lost = matcher.opens_by_moving(Path::new("/w/.stockade"), Path::new("/w/other"));
    assert!(lost.is_some());
}

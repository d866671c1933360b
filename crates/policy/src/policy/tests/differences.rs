//! The comparison of two profiles, and its laws.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::*;
use super::{any_path, any_policy, grant, policy};
use crate::command::ResolvedCommand;
use crate::profile::{Catalog, Profile};

/// A profile with these lines, and its policy for a run in `/r` with the home `/h`.
fn meaning(lines: &str) -> (Profile, Policy) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mine.toml");
    let head = "version = 1\nname = \"mine\"\ndescription = \"d\"\n";
    std::fs::write(&file, format!("{head}{lines}\n")).unwrap();
    resolved(Catalog::new(None).load(file.to_str().unwrap()).unwrap())
}

fn shipped(name: &str) -> (Profile, Policy) {
    resolved(Catalog::new(None).load(name).unwrap())
}

fn resolved(profile: Profile) -> (Profile, Policy) {
    let command = ResolvedCommand::nothing();
    let policy = resolve(
        &profile,
        &Circumstances {
            root: Path::new("/r"),
            home: Some(Path::new("/h")),
            environment: &[],
            command: &command,
            entries: &[Entry {
                place: "/h".into(),
                at: "".into(),
            }],
            opened: &[],
            closed: &[],
            own: &[],
            programs: &[],
            models: &crate::profile::models(None).unwrap(),
            memory: None,
            additions: &Additions::NONE,
        },
    );
    (profile, policy)
}

fn compare(a: &(Profile, Policy), b: &(Profile, Policy)) -> Differences {
    let meaning = |(profile, policy)| Meaning { profile, policy };
    differences(meaning((&a.0, &a.1)), meaning((&b.0, &b.1)))
}

fn text(differences: &Differences) -> String {
    let line = |sign: char| move |power: &Power| format!("{sign} {} {}\n", power.kind, power.target);
    let widens = differences.widens.iter().map(line('+'));
    widens.chain(differences.narrows.iter().map(line('-'))).collect()
}

fn said(a: &str, b: &str) -> String {
    text(&compare(&meaning(a), &meaning(b)))
}

#[test]
fn shipped_profiles_differ_in_what_the_design_s_table_says() {
    insta::assert_snapshot!(text(&compare(&shipped("filesystem"), &shipped("workspace"))), @"+ write /r");
    insta::assert_snapshot!(text(&compare(&shipped("minimal"), &shipped("readonly"))), @r"
    + read /r/data
    + scratch HOME and TMPDIR of its own
    ");
    insta::assert_snapshot!(text(&compare(&shipped("workspace"), &shipped("trusted"))), @r"
    + write /
    + exec /
    + network every host
    + environment the caller's, but what looks like a secret
    + limit no file-size limit in place of 4G
    + limit no memory limit in place of 8G
    + limit no open-files limit in place of 4096
    + limit no processes limit in place of 4096
    ");
    insta::assert_snapshot!(text(&compare(&shipped("mcp-standard"), &shipped("network-api"))), @r"
    - write /tmp
    - exec /
    - network every host
    - environment a short list of the caller's
    - limit processes 4096 in place of 1024
    ");
}

#[test]
fn a_grant_that_a_wider_one_covers_is_no_difference() {
    assert_eq!(
        said(
            "write = [{ path = './' }]",
            "read = [{ path = './a' }]\nwrite = [{ path = './' }]"
        ),
        ""
    );
    assert_eq!(
        said("read = [{ path = './' }]", "read = [{ path = './a' }]"),
        "- read /r\n"
    );
    let two = "read = [{ path = './' }]\nwrite = [{ path = './' }]";
    assert_eq!(said("", two), "+ write /r\n", "what writing brings along isn't said");
    assert_eq!(
        said(
            "[[network.host]]\npattern = '*.example.com'",
            "[[network.host]]\npattern = 'a.example.com:https'"
        ),
        "- host *.example.com\n"
    );
}

#[test]
fn a_grant_that_leaves_nothing_open_is_no_difference() {
    assert_eq!(said("", "read = [{ path = '~/.ssh' }]"), "");
    assert_eq!(
        said("", "write = [{ path = '~/.bashrc' }]"),
        "+ read /h/.bashrc\n",
        "guarded, not secret"
    );
    assert_eq!(said("", "read = [{ path = './x' }]\ndeny = [{ glob = './x' }]"), "");
}

#[test]
fn what_the_other_side_denies_is_a_power() {
    let open = "read = [{ path = './' }]";
    let closed = "read = [{ path = './' }]\ndeny = [{ glob = '**/*.csv' }, { glob = './private' }]";
    assert_eq!(said(closed, open), "+ undenied **/*.csv\n+ undenied /r/private\n");
    assert_eq!(said(open, closed), "- undenied **/*.csv\n- undenied /r/private\n");
    let wider = "read = [{ path = './' }]\ndeny = [{ glob = '**/*.{csv,tsv}' }, { glob = './pri*' }]";
    assert_eq!(said(closed, wider), "- undenied **/*.{csv,tsv}\n- undenied /r/pri*\n");
    let intricate = "read = [{ path = './' }]\ndeny = [{ glob = './[a-c]*' }]";
    assert_eq!(
        said(intricate, open),
        "+ undenied /r/[a-c]*\n",
        "a pattern of classes is said"
    );
}

#[test]
fn everything_that_is_no_file_is_compared_too() {
    let b = "scratch = true\n[network]\nllm = true\n[[network.host]]\npattern = 'a.b:22'\n[[network.listen]]\nport = 8080\n\
             [[network.socket]]\npath = '/run/x.sock'\n[environment]\npass = 'limited'\n[[environment.name]]\nname = 'FOO'\n\
             [[environment.name]]\nname = 'LANG'\n[limits]\ncpu = '2h'\ntime = '1m'\n[[system-call]]\nname = 'ptrace'";
    insta::assert_snapshot!(said("limits.cpu = '1h'", b), @r"
    + host a.b:22
    + llm the hosts and keys of `models.toml`
    + listen 8080
    + socket /run/x.sock
    + environment a short list of the caller's
    + variable FOO
    + scratch HOME and TMPDIR of its own
    + limit cpu 2h in place of 1h
    + system-call ptrace
    - limit no time limit in place of 1m
    ");
    assert_eq!(said("", "[network]\nhost = []"), "+ network sockets, and no host\n");
    assert_eq!(
        said(
            "[[network.socket]]\npath = '/run'",
            "[[network.socket]]\npath = '/run/docker.sock'"
        ),
        "+ socket /run/docker.sock\n- socket /run\n"
    );
    let credentials = "[[network.host]]\npattern = '169.254.169.254:80'";
    assert_eq!(
        said("network.all = true", credentials),
        "+ host 169.254.169.254:80\n- network every host\n"
    );
}

/// Both policies under an empty profile.
fn of_policies(a: &Policy, b: &Policy) -> Differences {
    let (profile, _) = shipped("minimal");
    let meaning = |policy| Meaning {
        profile: &profile,
        policy,
    };
    differences(meaning(a), meaning(b))
}

/// Without the exemption of installations, which both sides of a comparison share.
fn plain_policy() -> impl Strategy<Value = Policy> {
    any_policy().prop_map(|mut policy| {
        policy.grants.iter_mut().for_each(|grant| grant.exempt = false);
        policy
    })
}

/// The paths of both policies' grants, and names in them, known to the rules and unknown.
fn probes(a: &Policy, b: &Policy) -> Vec<PathBuf> {
    const NAMES: [&str; 9] = ["a", "b", "ab", ".env", ".envs", "x.pem", "y.pem", "secrets", "new"];
    let mut last: Vec<PathBuf> = a
        .grants
        .iter()
        .chain(&b.grants)
        .map(|grant| grant.path.clone())
        .collect();
    let mut paths = last.clone();
    for _ in 0..2 {
        last = last.iter().flat_map(|top| NAMES.map(|name| top.join(name))).collect();
        paths.extend(last.iter().cloned());
    }
    paths
}

/// Whether the second policy allows an access to one of the paths that the first refuses.
fn gains<P: AsRef<Path>>(a: &Policy, b: &Policy, paths: &[P]) -> bool {
    let (refusing, allowing) = (Matcher::new(a), Matcher::new(b));
    let is_gained = |one: Access, path: &P| {
        allowing.decide(one, path.as_ref()).is_allowed() && !refusing.decide(one, path.as_ref()).is_allowed()
    };
    paths
        .iter()
        .any(|path| Access::all().iter().any(|one| is_gained(one, path)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_policy_doesn_t_differ_from_itself(a in any_policy()) {
        prop_assert_eq!(text(&of_policies(&a, &a.clone())), "");
    }

    #[test]
    fn what_widens_one_way_narrows_the_other(a in any_policy(), b in any_policy()) {
        let (there, back) = (of_policies(&a, &b), of_policies(&b, &a));
        prop_assert_eq!((there.widens, there.narrows), (back.narrows, back.widens));
    }

    #[test]
    fn no_access_is_gained_that_isn_t_said(a in plain_policy(), b in plain_policy(), paths in prop::collection::vec(any_path(), 12)) {
        prop_assert!(!gains(&a, &b, &paths) || !of_policies(&a, &b).widens.is_empty());
    }

    #[test]
    fn nothing_widens_without_an_access_that_is_gained(a in plain_policy(), b in plain_policy()) {
        let widens = of_policies(&a, &b).widens;
        prop_assert!(widens.is_empty() || gains(&a, &b, &probes(&a, &b)), "{:?}", widens);
    }

    #[test]
    fn the_meeting_of_two_widens_neither(a in plain_policy(), b in plain_policy()) {
        prop_assert_eq!(of_policies(&a, &a.meet(&b)).widens, vec![]);
    }
}

#[test]
fn the_order_of_grants_makes_no_difference() {
    let (one, two) = (grant(Access::READ, "/a"), grant(Access::READ | Access::WRITE, "/b"));
    let a = policy(vec![one.clone(), two.clone()], vec![]);
    let b = policy(vec![two, one], vec![]);
    assert_eq!(text(&of_policies(&a, &b)), "");
}

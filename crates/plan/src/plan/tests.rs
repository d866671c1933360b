//! Compiles policies for old and new kernels.

use std::collections::BTreeMap;

use landlock::AccessFs;

use super::*;
use crate::policy::{DenialKind, DenialRule, Grant, GrantExtent, HostGrant, ListenGrant, Target};
use crate::profile::{HostPattern, Origin};

const NEW: Ability = Ability {
    landlock_abi: 7,
    seccomp: true,
    control_group: Grouped::Nothing,
    supervisor: SupervisorAbility::None,
    takes_descriptors: true,
};

fn grant(access: Access, path: &str, origin: Origin) -> Grant {
    Grant {
        access,
        path: PathBuf::from(path),
        extent: GrantExtent::Subtree,
        exempt: matches!(origin, Origin::Base),
        origin,
        why: None,
    }
}

fn flag() -> Origin {
    Origin::Flag("--read".into())
}

fn policy(grants: Vec<Grant>) -> Policy {
    Policy {
        profile: "test".into(),
        capabilities: crate::policy::Capabilities::USUAL,
        mode: crate::policy::Mode::AcceptEdits,
        root: PathBuf::from("/work"),
        grants,
        denials: Vec::new(),
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

fn at_abi(landlock_abi: i32) -> Ability {
    Ability { landlock_abi, ..NEW }
}

fn missing(policy: &Policy, ability: Ability) -> Vec<Shortfall> {
    match compile(policy, ability, &[], Reads::Exact) {
        Ok(_) => Vec::new(),
        Err(PlanError::Shortfall(missing)) => missing.iter().map(|missing| missing.shortfall).collect(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_policy_that_only_reads_has_no_shortfall() {
    let policy = policy(vec![
        grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base),
        grant(Access::READ, "/work/data", flag()),
    ]);
    let plan = compile(&policy, NEW, &[], Reads::Exact).unwrap();
    let cover = |path: &str| {
        plan.rules
            .iter()
            .find(|rule| rule.path == std::path::Path::new(path))
            .unwrap()
            .cover
    };
    assert_eq!(cover("/usr"), Cover::Whole);
    assert_eq!(cover("/work/data"), Cover::FileByFile);
}

#[test]
fn writing_needs_the_supervisor_until_it_is_accepted_by_name() {
    let policy = policy(vec![grant(Access::WRITING, "/tmp", flag())]);
    assert_eq!(missing(&policy, NEW), [Shortfall::Supervisor]);
    let plan = compile(&policy, NEW, &[Shortfall::Supervisor], Reads::Exact).unwrap();
    assert_eq!(plan.shortfalls.len(), 1);
    assert!(compile(&policy, NEW, &[Shortfall::Network, Shortfall::Signals], Reads::Exact).is_err());
}

#[test]
fn only_a_supervised_run_has_a_cache_and_its_target_gets_no_right_to_write_there() {
    let mut policy = policy(vec![
        grant(Access::WRITING | Access::EXECUTE, "/tmp", flag()),
        grant(Access::WRITING, "/work", flag()),
    ]);
    policy.scratch = true;
    let cache = |policy: &Policy, supervisor| {
        let ability = Ability { supervisor, ..NEW };
        compile(policy, ability, &[Shortfall::Supervisor], Reads::Exact)
            .unwrap()
            .cache
    };
    let rights = (AccessFs::Execute | AccessFs::ReadFile).bits();
    assert_eq!(cache(&policy, SupervisorAbility::Own), Some(rights));
    assert_eq!(cache(&policy, SupervisorAbility::Outer), Some(rights));
    assert_eq!(cache(&policy, SupervisorAbility::None), None);
    policy.grants.pop();
    assert_eq!(
        cache(&policy, SupervisorAbility::Own),
        None,
        "it fetches nothing and doesn't write its root"
    );
}

#[test]
fn named_hosts_are_the_network_shortfall_and_accepted_mean_no_network() {
    let mut policy = policy(vec![]);
    policy.reach = NetworkPolicy::Hosts(vec![HostGrant {
        pattern: HostPattern::parse("api.*").unwrap(),
        origin: Origin::BuiltIn,
    }]);
    assert_eq!(missing(&policy, NEW), [Shortfall::Network]);
    let plan = compile(&policy, NEW, &[Shortfall::Network], Reads::Exact).unwrap();
    assert!(plan.handled.tcp);
    policy.reach = NetworkPolicy::Nothing;
    assert_eq!(plan.filter, compile(&policy, NEW, &[], Reads::Exact).unwrap().filter);
}

#[test]
fn named_hosts_and_ports_need_a_supervisor_of_the_runs_own() {
    let own = Ability {
        supervisor: SupervisorAbility::Own,
        ..NEW
    };
    let outer = Ability {
        supervisor: SupervisorAbility::Outer,
        ..NEW
    };
    let mut hosts = policy(vec![]);
    hosts.reach = NetworkPolicy::Hosts(vec![HostGrant {
        pattern: HostPattern::parse("api.example.com").unwrap(),
        origin: flag(),
    }]);
    let mut ports = policy(vec![]);
    ports.listen = vec![ListenGrant {
        port: 8080,
        origin: flag(),
    }];
    for policy in [hosts, ports] {
        let plan = compile(&policy, own, &[], Reads::Exact).unwrap();
        assert!(plan.network && plan.shortfalls.is_empty());
        // Landlock keeps the run from everybody, should the supervisor be gone.
        assert!(plan.handled.tcp);
        // The supervisor must see opens of files that it serves, and nothing grants them.
        assert_eq!(kept_exact(&policy, own), None);
        let mut open = policy.clone();
        open.grants.push(grant(Access::READ, "/etc", flag()));
        assert_eq!(kept_exact(&open, own), Some(KeptExact::Hosts("/etc/resolv.conf")));
        assert_eq!(missing(&policy, outer), [Shortfall::Network]);
        let without = compile(&policy, outer, &[Shortfall::Network], Reads::Exact).unwrap();
        assert!(!without.network && without.handled.tcp);
    }
}

#[test]
fn an_empty_list_of_hosts_is_no_network() {
    let mut policy = policy(vec![]);
    policy.reach = NetworkPolicy::Hosts(Vec::new());
    let plan = compile(&policy, NEW, &[], Reads::Exact).unwrap();
    policy.reach = NetworkPolicy::Nothing;
    assert_eq!(plan, compile(&policy, NEW, &[], Reads::Exact).unwrap());
}

#[test]
fn nothing_runs_without_landlock_or_seccomp_whatever_is_accepted() {
    let policy = policy(vec![]);
    assert!(matches!(
        compile(&policy, at_abi(0), &Shortfall::ALL, Reads::Exact),
        Err(PlanError::NoLandlock)
    ));
    let blind = Ability { seccomp: false, ..NEW };
    assert!(matches!(
        compile(&policy, blind, &Shortfall::ALL, Reads::Exact),
        Err(PlanError::NoSeccomp)
    ));
}

#[test]
fn older_kernels_lose_rights_and_say_what_that_means() {
    let policy = policy(vec![]);
    for abi in 1..=5 {
        assert_eq!(missing(&policy, at_abi(abi)), [Shortfall::Signals], "ABI {abi}");
        for supervisor in [SupervisorAbility::Own, SupervisorAbility::Outer] {
            let supervised = Ability {
                supervisor,
                ..at_abi(abi)
            };
            assert_eq!(missing(&policy, supervised), [], "ABI {abi}, {supervisor:?}");
        }
    }
    for abi in 6..=9 {
        assert_eq!(missing(&policy, at_abi(abi)), [], "ABI {abi}");
    }
}

#[test]
fn every_abi_handles_all_the_file_rights_it_has() {
    // Counted in linux/landlock.h: 13 rights in ABI 1, then REFER, TRUNCATE, IOCTL_DEV, RESOLVE_UNIX.
    let bits = |abi| Handled::new(abi, calls::Sockets::None).files.count_ones();
    let counts: Vec<u32> = (1..=9).map(bits).collect();
    assert_eq!(counts, [13, 14, 15, 15, 16, 16, 16, 16, 17]);
    assert_eq!(bits(12), bits(9), "a newer kernel is used as far as it is known");
}

#[test]
fn a_rule_never_asks_for_more_than_is_handled() {
    let policy = policy(vec![
        grant(Access::all(), "/w", flag()),
        grant(Access::WRITING, "/dev/null", Origin::Base),
    ]);
    for abi in 1..=9 {
        let plan = compile(&policy, at_abi(abi), &Shortfall::ALL, Reads::Exact).unwrap();
        for rule in &plan.rules {
            assert_eq!(rule.rights & !plan.handled.files, 0, "ABI {abi}: {rule:?}");
        }
    }
}

#[test]
fn no_rule_lets_a_run_make_devices_or_reach_unix_sockets() {
    const MAKE_CHAR: u64 = 1 << 6;
    const MAKE_BLOCK: u64 = 1 << 11;
    const RESOLVE_UNIX: u64 = 1 << 16;
    let policy = policy(vec![grant(Access::all(), "/", flag())]);
    let plan = compile(&policy, at_abi(9), &Shortfall::ALL, Reads::Exact).unwrap();
    for rule in &plan.rules {
        assert_eq!(rule.rights & (MAKE_CHAR | MAKE_BLOCK | RESOLVE_UNIX), 0, "{rule:?}");
    }
}

#[test]
fn counting_processes_needs_a_control_group_or_the_supervisor() {
    let mut policy = policy(vec![]);
    policy.limits.processes = Some(8);
    assert_eq!(missing(&policy, NEW), [Shortfall::Supervisor]);
    let delegated = Ability {
        control_group: Grouped::All,
        ..NEW
    };
    assert!(
        compile(&policy, delegated, &[], Reads::Exact)
            .unwrap()
            .control_group
            .processes()
    );
    // The launcher itself samples the trees' sizes.
    policy.limits.disk = Some(1 << 20);
    assert_eq!(missing(&policy, delegated), []);
}

fn explicit(target: Target) -> DenialRule {
    DenialRule {
        target,
        access: Access::all(),
        kind: DenialKind::Explicit,
        origin: Origin::Flag("--deny".into()),
    }
}

#[test]
fn a_denied_path_of_the_base_is_gone_around() {
    let mut policy = policy(vec![grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base)]);
    for closed in ["/usr/share/x", "/usr", "/"] {
        policy.denials = vec![explicit(Target::Path(PathBuf::from(closed)))];
        let plan = compile(&policy, NEW, &[], Reads::Exact).unwrap();
        assert_eq!(plan.rules[0].cover, Cover::AroundClosed, "{closed}");
    }
    policy.denials = vec![explicit(Target::Path(PathBuf::from("/usrx")))];
    assert_eq!(
        compile(&policy, NEW, &[], Reads::Exact).unwrap().rules[0].cover,
        Cover::Whole
    );
}

#[test]
fn a_denied_glob_inside_the_base_is_a_shortfall_and_a_pattern_is_not_meant_there() {
    let mut policy = policy(vec![grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base)]);
    let glob = |below: &str, glob: &str| {
        explicit(Target::Glob {
            below: PathBuf::from(below),
            glob: glob.into(),
        })
    };
    for (below, text) in [("/", "usr/share/*"), ("/", "*/x"), ("/usr/lib", "a/?b")] {
        policy.denials = vec![glob(below, text)];
        assert_eq!(missing(&policy, NEW), [Shortfall::Supervisor], "{below} {text}");
    }
    for (below, text) in [("/", "**/private/**"), ("/work", "*.log"), ("/", "var/*")] {
        policy.denials = vec![glob(below, text)];
        assert_eq!(missing(&policy, NEW), [], "{below} {text}");
    }
}

#[test]
fn calls_that_other_promises_rest_on_can_not_be_added() {
    let mut policy = policy(vec![]);
    policy.system_calls = vec!["ptrace".into()];
    assert!(compile(&policy, NEW, &[], Reads::Exact).is_ok());
    for call in ["io_uring_setup", "open_by_handle_at", "pidfd_getfd", "mount", "bpf"] {
        policy.system_calls = vec![call.into()];
        assert!(
            matches!(compile(&policy, NEW, &[], Reads::Exact), Err(PlanError::Calls(_))),
            "{call}"
        );
    }
    policy.system_calls = vec!["no_such_call".into()];
    assert!(matches!(
        compile(&policy, NEW, &[], Reads::Exact),
        Err(PlanError::UnknownCall(_))
    ));
}

#[test]
fn the_plan_of_a_small_policy_reads_like_it() {
    let policy = policy(vec![
        grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base),
        grant(Access::READ | Access::EXECUTE, "/usr/bin/true", Origin::Entrypoint),
        grant(Access::READ, "/work/data", flag()),
    ]);
    let plan = compile(&policy, NEW, &[], Reads::Exact).unwrap();
    insta::assert_debug_snapshot!((plan.handled, &plan.rules, plan.home, plan.own_proc_rights), @r#"
    (
        Handled {
            abi: 7,
            files: 65535,
            tcp: true,
            scopes: true,
        },
        [
            FileRule {
                path: "/usr",
                rights: 13,
                cover: Whole,
                links: Followed,
            },
            FileRule {
                path: "/work/data",
                rights: 12,
                cover: FileByFile,
                links: Refused,
            },
        ],
        Nowhere,
        12,
    )
    "#);
}

const WATCHED: Ability = Ability {
    supervisor: SupervisorAbility::Own,
    ..NEW
};

fn supervision(grants: Vec<Grant>) -> Supervision {
    compile(&policy(grants), WATCHED, &[], Reads::Exact)
        .unwrap()
        .supervision
        .unwrap()
}

#[test]
fn landlock_grants_chosen_trees_for_executing_alone_where_somebody_supervises() {
    let base = grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base);
    let written = grant(Access::WRITING, "/work", flag());
    let executed = grant(Access::READ | Access::EXECUTE, "/work/tools", flag());
    let plan = compile(&policy(vec![base, written, executed]), WATCHED, &[], Reads::Exact).unwrap();
    let rights = |path: &str| {
        let rule = plan.rules.iter().find(|rule| rule.path == Path::new(path));
        rule.map(|rule| rule.rights)
    };
    const EXECUTE: u64 = 1;
    const READ_FILE: u64 = 1 << 2;
    assert_eq!(rights("/work"), None);
    assert_eq!(rights("/work/tools"), Some(EXECUTE | READ_FILE));
    assert!(rights("/usr").is_some());
    assert!(plan.shortfalls.is_empty());
}

#[test]
fn reading_is_landlocks_until_it_grants_more_for_the_sake_of_executing() {
    let data = || grant(Access::READ, "/work/data", flag());
    let tools = grant(Access::READ | Access::EXECUTE, "/work/tools", flag());
    assert_eq!(supervision(vec![data()]).reading, Reading::Landlock);
    assert_eq!(supervision(vec![data(), tools]).reading, Reading::Supervisor);
}

#[test]
fn marked_reads_are_landlocks_where_it_can_be_told_all_that_is_read() {
    let shipped = |line| Origin::Shipped {
        profile: "workspace".into(),
        line,
    };
    let kept = |grants| kept_exact(&policy(grants), WATCHED);
    let data = || grant(Access::READ, "/work/data", flag());
    let written = || grant(Access::WRITING | Access::EXECUTE, "/work", shipped(1));
    assert_eq!(kept(vec![]), None);
    assert_eq!(kept(vec![data(), written()]), None);
    assert_eq!(kept(vec![grant(Access::WRITING, "/work/out", flag())]), None);
    for tree in ["/", "/home", "/proc/1", "/sys/class"] {
        for access in [Access::READ | Access::EXECUTE, Access::WRITING] {
            let tree = grant(access, tree, flag());
            assert_eq!(kept(vec![tree.clone()]), Some(KeptExact::TooLarge(tree.path)));
        }
        // Where it is only read Landlock grants nothing of it.
        assert_eq!(kept(vec![grant(Access::READ, tree, flag())]), None);
    }
    // As without the capability READ.
    let executed = grant(Access::EXECUTE, "/work", shipped(1));
    assert_eq!(kept(vec![executed]), Some(KeptExact::Executed("/work".into())));
    let inner = Ability {
        supervisor: SupervisorAbility::Outer,
        ..NEW
    };
    assert_eq!(kept_exact(&policy(vec![]), inner), Some(KeptExact::Inside));
}

#[test]
fn landlock_alone_opens_what_was_found_to_be_open() {
    let base = grant(Access::READ | Access::EXECUTE, "/usr", Origin::Base);
    let written = grant(Access::WRITING | Access::EXECUTE, "/work", flag());
    let opening = |path: &str, access, part| Opening {
        path: path.into(),
        access,
        part,
        links: Links::GrantNothing,
    };
    let openings = [
        opening("/work/open", Access::READ | Access::EXECUTE, Part::All),
        opening("/work", Access::READ | Access::EXECUTE, Part::Names),
    ];
    let plan = compile(&policy(vec![base, written]), WATCHED, &[], Reads::Marked(&openings)).unwrap();
    let rights = |path: &str| {
        let rule = plan.rules.iter().find(|rule| rule.path == Path::new(path));
        rule.map(|rule| rule.rights)
    };
    const EXECUTE: u64 = 1;
    const READ_FILE: u64 = 1 << 2;
    const READ_DIR: u64 = 1 << 3;
    assert_eq!(rights("/work/open"), Some(EXECUTE | READ_FILE | READ_DIR));
    assert_eq!(rights("/work"), Some(READ_DIR));
    assert_eq!(plan.supervision.unwrap().trace, Trace::Marked);
    assert!(plan.workers_rules.iter().any(|rule| rule.path == Path::new("/work")));
}

#[test]
fn under_an_outer_supervisor_the_plan_is_a_supervised_one_whose_filter_notifies_none() {
    let policy = policy(vec![grant(Access::WRITING, "/work", flag())]);
    let ability = |supervisor| Ability { supervisor, ..NEW };
    let compiled = |supervisor| compile(&policy, ability(supervisor), &[], Reads::Exact).unwrap();
    let (own, outer) = (compiled(SupervisorAbility::Own), compiled(SupervisorAbility::Outer));
    let asks = |plan: &Plan| {
        plan.filter
            .iter()
            .any(|instruction| instruction.k == filter::Action::Notify.code())
    };
    assert!(asks(&own) && !asks(&outer));
    assert_eq!((own.rules, own.supervision), (outer.rules, outer.supervision));
    assert_eq!(outer.shortfalls, Vec::new());
}

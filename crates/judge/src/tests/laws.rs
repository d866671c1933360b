//! The laws of rules, as properties.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const RULES: &[&str] = &[
    "bash",
    "bash:git",
    "bash:git push",
    "bash:make",
    "bash:rm",
    "bash~make*",
    "bash~*| head*",
    "bash~git push > x",
    "bash:rg~*foo*",
    "bash~*",
    "write",
    "skill_load",
    "skill_load:a",
];

const LINES: &[&str] = &[
    "git status",
    "git push",
    "git push > x",
    "make all | head -n 1",
    "rg foo | make",
    "rm x; git push",
    "rg --pre x foo",
    "echo $(rm x)",
    "sudo make",
    "cd /",
    "ls",
];

fn calls() -> impl Strategy<Value = Call> {
    let lines = select(LINES).prop_map(line);
    let others = select(&["write", "read", "skill_load", "knob"][..]).prop_map(call);
    prop_oneof![3 => lines, 1 => others, 1 => Just(skill("a")), 1 => Just(skill("b"))]
}

fn lists() -> impl Strategy<Value = (Vec<PermissionRule>, Vec<PermissionRule>)> {
    let list = || proptest::collection::vec(select(RULES).prop_map(rule), 0..4);
    (list(), list())
}

fn decide(allow: &[PermissionRule], deny: &[PermissionRule], call: &Call) -> Decision {
    let permissions = Permissions {
        allow: allow.to_vec(),
        deny: deny.to_vec(),
    };
    answer(&Judge::new(permissions, Vec::new(), Path::new("/")), call).decision
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn deny_wins((allow, deny) in lists(), call in calls()) {
        if decide(&[], &deny, &call) == Decision::Deny {
            prop_assert_eq!(decide(&allow, &deny, &call), Decision::Deny);
        }
    }

    #[test]
    fn the_order_of_layers_never_matters((allow, deny) in lists(), call in calls()) {
        let reversed = |list: &[PermissionRule]| list.iter().rev().cloned().collect::<Vec<_>>();
        prop_assert_eq!(
            decide(&allow, &deny, &call),
            decide(&reversed(&allow), &reversed(&deny), &call)
        );
    }

    #[test]
    fn adding_a_deny_never_allows((allow, deny) in lists(), more in select(RULES), call in calls()) {
        let before = decide(&allow, &deny, &call);
        let deny: Vec<_> = deny.into_iter().chain([rule(more)]).collect();
        prop_assert!(decide(&allow, &deny, &call) >= before || before == Decision::Deny);
    }

    #[test]
    fn adding_an_allow_never_denies((allow, deny) in lists(), more in select(RULES), call in calls()) {
        // A tool that no rule names doesn't exist.
        prop_assume!(call.tool != "knob");
        let before = decide(&allow, &deny, &call);
        let allow: Vec<_> = allow.into_iter().chain([rule(more)]).collect();
        prop_assert!(decide(&allow, &deny, &call) <= before);
    }
}

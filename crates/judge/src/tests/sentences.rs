//! One test for each sentence of the page.

use super::Decision::{Allow, Confirm, Deny};
use super::*;

#[test]
fn the_default_is_confirm() {
    let judge = judge(&[]);
    for call in [line("cargo build"), call("write"), call("bash"), skill("repo-review")] {
        assert_eq!(answer(&judge, &call).decision, Confirm, "{call:?}");
    }
}

#[test]
fn only_a_matching_allow_rule_skips_the_question() {
    decides(&["+bash:cargo"], &[("cargo build", Allow), ("make", Confirm)]);
}

#[test]
fn where_no_question_can_be_asked_confirm_is_deny() {
    let judge = judge(&["+bash:make"]);
    let denied = answer(&judge, &line("cargo build")).without_asking();
    assert_eq!(denied.decision, Deny);
    assert_eq!(
        denied.reason,
        "no rule allows `cargo build`, and no question can be asked"
    );
    assert_eq!((denied.title, denied.danger, denied.remember), (None, None, Vec::new()));
    assert_eq!(answer(&judge, &line("make")).without_asking().decision, Allow);
}

#[test]
fn shell_commands_are_examined_down_to_sub_commands() {
    decides(
        &["+bash:git push"],
        &[
            ("git push", Allow),
            ("git push origin main", Allow),
            ("git pull", Confirm),
            ("git", Confirm),
        ],
    );
}

#[test]
fn command_git_matches_git_status_and_git_push_and_command_git_push_the_latter_alone() {
    let lines = |fetch| [("git fetch", fetch), ("git push origin main", Allow)];
    decides(&["+bash:git"], &lines(Allow));
    decides(&["+bash:git push"], &lines(Confirm));
}

#[test]
fn command_is_compared_with_whole_words() {
    decides(
        &["+bash:make"],
        &[
            ("make", Allow),
            ("makefile", Confirm),
            ("./make", Confirm),
            ("make \"x\"", Allow),
        ],
    );
}

#[test]
fn command_and_command_glob_must_both_match() {
    decides(
        &["+bash:deno task~*--quiet*"],
        &[
            ("deno task --quiet x", Allow),
            ("deno task x", Confirm),
            ("deno run --quiet", Confirm),
        ],
    );
    decides(
        &["-bash:deno task~*--quiet*"],
        &[("deno task --quiet x", Deny), ("deno task x", Confirm)],
    );
}

#[test]
fn a_rule_without_command_matches_the_whole_tool() {
    let allowing = judge(&["+write", "+skill_load", "+bash"]);
    let denying = judge(&["-write", "-skill_load", "-bash", "-read"]);
    for call in [call("write"), skill("x"), line("make all"), line("frobnicate -x | y")] {
        assert_eq!(answer(&allowing, &call).decision, Allow, "{call:?}");
        assert_eq!(answer(&denying, &call).decision, Deny, "{call:?}");
    }
    assert_eq!(answer(&denying, &call("read")).decision, Deny);
}

#[test]
fn skill_name_is_exact() {
    let judge = judge(&["+skill_load:repo-review", "-skill_load:dangerous-skill"]);
    for (name, decision) in [
        ("repo-review", Allow),
        ("dangerous-skill", Deny),
        ("Dangerous-Skill ", Deny),
        ("repo-review2", Confirm),
        ("Repo-Review", Confirm),
    ] {
        assert_eq!(answer(&judge, &skill(name)).decision, decision, "{name}");
    }
}

#[test]
fn a_deny_is_before_an_allow_and_an_allow_before_confirm() {
    decides(&["+bash:rm", "-bash:rm"], &[("rm x", Deny)]);
    decides(&["-bash:rm", "+bash:rm"], &[("rm x", Deny)]);
    decides(
        &["+bash:make", "-bash~make install*"],
        &[("make", Allow), ("make install", Deny)],
    );
}

#[test]
fn blanks_are_trimmed_and_runs_of_them_become_one() {
    decides(
        &["+bash~make all x"],
        &[("  make \t all   x ", Allow), ("make 'all  x'", Confirm)],
    );
    let asked = answer(&judge(&[]), &line("  cargo \t  build "));
    assert_eq!(asked.message.as_deref(), Some("cargo build"));
}

#[test]
fn a_newline_and_an_ampersand_separate_commands() {
    for text in ["make\nevil", "make & evil", "make&evil", "evil &\nmake"] {
        decides(&["+bash:make"], &[(text, Confirm)]);
        decides(&["+bash:make", "-bash:evil"], &[(text, Deny)]);
        decides(&["+bash:make", "+bash:evil"], &[(text, Allow)]);
    }
}

#[test]
fn a_line_is_split_at_each_operator() {
    for operator in ["|", "||", "&&", ";", "|&"] {
        let text = format!("make{operator}evil x");
        decides(&["+bash:make"], &[(&text, Confirm)]);
        decides(&["+bash:make", "+bash:evil"], &[(&text, Allow)]);
        decides(&["+bash:make", "-bash:evil"], &[(&text, Deny)]);
    }
}

#[test]
fn operators_in_quotes_or_behind_a_backslash_are_text() {
    for text in ["echo 'a && b'", "echo \"a | b\"", "echo a\\;b", "echo a\\&\\&b"] {
        decides(&["+bash:echo", "-bash:b"], &[(text, Allow)]);
        decides(&["+bash:make"], &[(&text.replace("echo", "make"), Allow)]);
    }
}

#[test]
fn what_stands_right_of_a_redirection_is_no_command() {
    decides(&["+bash:make", "+bash:evil"], &[("make > evil", Confirm)]);
    for operator in [">", ">>", "<", "2>", "2>>"] {
        decides(
            &["+bash:make", "+bash:out"],
            &[(&format!("make {operator} out"), Confirm)],
        );
    }
}

#[test]
fn a_redirection_is_allowed_only_by_a_glob_that_spells_the_whole_text() {
    decides(
        &["+bash:frob", "+bash~frob* > /dev/zero"],
        &[
            ("frob -n foo > /dev/zero", Allow),
            ("frob foo > /dev/zer", Confirm),
            ("frob foo > x > /dev/zero", Confirm),
            ("frob foo >> /dev/zero", Confirm),
            ("frob foo 2> /dev/zero", Confirm),
            ("frob '>' /dev/zero", Allow),
        ],
    );
    decides(&["+bash~frob > *"], &[("frob > x", Confirm)]);
    decides(
        &["+bash~frob 2> err"],
        &[("frob 2> err", Allow), ("frob > err", Confirm)],
    );
}

#[test]
fn joining_its_own_outputs_and_throwing_them_away_opens_nothing() {
    decides(
        &["+bash:make", "+bash:frob"],
        &[
            ("make 2>&1 | frob", Allow),
            ("make >& x", Confirm),
            ("make 2>/dev/null >> /dev/null </dev/null", Allow),
            ("make &> /dev/null", Allow),
            ("make > /dev/null/../sda", Confirm),
            ("make 2> /dev/null > x", Confirm),
        ],
    );
}

#[test]
fn all_segments_must_be_allowed_and_one_that_is_denied_denies() {
    decides(
        &["+bash:a", "+bash:b", "-bash:c"],
        &[
            ("a | b", Allow),
            ("a && b; a", Allow),
            ("a | d", Confirm),
            ("d | a", Confirm),
            ("a | d | c", Deny),
            ("c", Deny),
        ],
    );
}

#[test]
fn a_glob_is_any_string_any_character_and_otherwise_literal() {
    decides(
        &["+bash~frob ?[x]*.c"],
        &[("frob a'[x]'.c", Confirm), ("frob xx.c", Confirm)],
    );
    decides(
        &["+bash~frob*", "+bash~x?z"],
        &[
            ("frob -n foo", Allow),
            ("frob", Allow),
            ("xyz", Allow),
            ("xz", Confirm),
            ("xyyz", Confirm),
            ("afrob", Confirm),
        ],
    );
    decides(
        &["+bash~git push*"],
        &[("git push origin main", Allow), ("git pull", Confirm)],
    );
}

#[test]
fn a_glob_applies_to_segments_and_to_the_whole_text_which_decides_at_once() {
    decides(
        &["+bash~frob* | knob*"],
        &[
            ("frob x | knob y", Allow),
            ("frob x", Confirm),
            ("frob x | knob y | frob", Confirm),
            ("frob x | knob y > z", Confirm),
        ],
    );
    decides(&["+bash~frob*", "+bash~knob*"], &[("frob x | knob y", Allow)]);
}

#[test]
fn wildcards_of_an_allow_rule_never_span_an_operator_a_redirection_or_a_newline() {
    for operator in ["&&", "||", "|", ";", "&", "|&", "\n", ">", ">>", "<", "2>", ">&"] {
        decides(&["+bash~git fetch*"], &[(&format!("git fetch {operator} rm"), Confirm)]);
        decides(
            &["+bash~*"],
            &[(
                &format!("git fetch {operator} rm"),
                match operator {
                    // Each command is anything.
                    "&&" | "||" | "|" | ";" | "&" | "|&" | "\n" => Allow,
                    _ => Confirm,
                },
            )],
        );
    }
    decides(
        &["+bash~echo \"*;*\""],
        &[("echo \"x\" ; evil \"y\"", Confirm), ("echo \"x; y\"", Allow)],
    );
}

#[test]
fn the_built_in_tools_are_allowed() {
    let judge = judge(&[]);
    for tool in [
        "read",
        "grep",
        "glob_search",
        "todo_read",
        "todo_write",
        "tool_output_cache",
        "tool_output_cache_grep",
        "done",
    ] {
        let answer = answer(&judge, &call(tool));
        assert_eq!(answer.decision, Allow, "{tool}");
        assert_eq!(answer.matched.as_deref(), Some(&*format!("allow {tool} (built in)")));
    }
}

#[test]
fn the_built_in_commands_are_allowed() {
    for text in [
        "pwd",
        "ls -la src",
        "rg -n foo",
        "grep -rn foo src",
        "find . -name x",
        "sort x",
        "cat x",
        "head -n 3 x",
        "tail x",
        "wc -l x",
        "stat x",
        "file x",
        "uname -a",
        "whoami",
        "date",
        "git status",
        "git diff HEAD",
        "git show HEAD",
        "git log --oneline",
        "git rev-parse HEAD",
        "git ls-files",
        "git grep foo",
        "git status | head",
    ] {
        decides(&[], &[(text, Allow)]);
    }
    for text in ["git push", "cargo build", "sed x", "rm x", "git"] {
        decides(&[], &[(text, Confirm)]);
    }
}

#[test]
fn a_question_has_a_title_a_message_and_a_danger() {
    let judge = judge(&[]);
    let command = answer(&judge, &line("cargo   build"));
    assert_eq!(command.title.as_deref(), Some("Run command?"));
    assert_eq!(command.message.as_deref(), Some("cargo build"));
    assert_eq!(command.danger, Some(Danger::Medium));
    let tool = answer(&judge, &skill("x"));
    assert_eq!(tool.title.as_deref(), Some("Run tool?"));
    assert_eq!(tool.message.as_deref(), Some("skill_load: x"));
    assert_eq!(answer(&judge, &call("remove")).danger, Some(Danger::High));
    for text in [
        "rm -rf x",
        "sudo make",
        "echo $(evil)",
        "cargo build `x`",
        "find . -exec rm {} +",
    ] {
        assert_eq!(answer(&judge, &line(text)).danger, Some(Danger::High), "{text}");
    }
    assert_eq!(answer(&judge, &call("read")).title, None);
}

#[test]
fn a_refusal_is_a_tool_error_permission_denied_and_the_reason() {
    let judge = judge(&["-bash:rm"]);
    let error = answer(&judge, &line("rm x")).tool_error().unwrap();
    assert!(error.is_error);
    assert_eq!(error.content, "Permission denied: a rule denies it");
    assert_eq!(answer(&judge, &call("read")).tool_error(), None);
}

#[test]
fn an_unknown_tool_is_not_found() {
    let judge = judge(&["+frobnicate"]);
    let answer_of = |tool| answer(&judge, &call(tool));
    assert_eq!(answer_of("frobnicate").decision, Allow);
    for tool in ["Bash", "knob", "", "shell"] {
        assert_eq!(answer_of(tool).decision, Deny);
        assert!(answer_of(tool).reason.starts_with("Stockade doesn't know the tool"));
    }
}

#[test]
fn only_reading_and_printing_needs_no_rule() {
    let lines = [
        ("echo hi", Allow),
        ("true || false", Allow),
        ("jq -r .name package.json | tr a-z A-Z", Allow),
        ("jq --rawfile a b .a", Confirm),
        ("grep -rn x src 2>/dev/null", Allow),
        ("printf '%s' a", Allow),
        ("printf -v PATH a", Confirm),
        ("uniq a b", Confirm),
        ("tree -o x", Confirm),
        ("tree -R -L 1", Confirm),
        ("diff -l a b", Confirm),
        ("test -v 'a[$(id)]'", Confirm),
        ("column --unknown", Confirm),
        ("echo hi > x", Confirm),
        ("sort -o x y", Confirm),
        ("npm test", Confirm),
    ];
    decides(&[], &lines);
}

#[test]
fn the_page_s_examples_hold() {
    let nothing = judge(&[]);
    assert_eq!(answer(&nothing, &line("cargo build")).decision, Confirm);
    decides(
        &["+bash:rg", "+bash~git status*"],
        &[("rg foo", Allow), ("git status -s", Allow), ("cargo x", Confirm)],
    );
    decides(&["+bash:rm", "-bash:rm"], &[("rm x", Deny)]);
}

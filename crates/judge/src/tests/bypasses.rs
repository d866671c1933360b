//! Safety beyond the page: lines that aren't plain and options that do more are confirmed, and nothing hides from a deny.

use super::Decision::{Allow, Confirm, Deny};
use super::*;

// promise: agents.1
#[test]
fn what_is_not_plain_is_confirmed_whatever_the_rules_say() {
    for text in [
        "echo $(rm x)",
        "echo `rm x`",
        "echo $HOME",
        "FOO=1 make",
        "make <<x\nx",
        "make <(ls)",
        "if true; then make; fi",
        "(make)",
        "{ make; }",
        "! make",
        "make 'x",
        "make x\\",
        "make \u{202e}x",
        "make\0x",
        "make x\rrm y",
        "",
    ] {
        decides(
            &["+bash", "+bash~*", "+bash:make", "+bash:echo", "+bash~echo *"],
            &[(text, Confirm)],
        );
    }
}

#[test]
fn options_that_do_more_are_confirmed_though_the_command_is_allowed() {
    let rules = [
        "+bash:find",
        "+bash:rg",
        "+bash:sort",
        "+bash:git",
        "+bash~rg*",
        "+bash~find*",
        "+bash~*",
    ];
    for text in [
        "find . -exec rm x +",
        "find . -delete",
        "rg --pre x foo",
        "rg --pre=x foo",
        "rg '--pre' x foo",
        "rg --p\\re x foo",
        "sort -o x y",
        "git -c core.pager=x log",
        "git diff --output=x",
        "sudo ls",
        "env ls",
        "timeout 5 ls",
        "xargs ls",
        "sh -c ls",
    ] {
        decides(&[], &[(text, Confirm)]);
        decides(&rules, &[(text, Confirm)]);
    }
}

#[test]
fn a_glob_that_spells_the_option_allows_it() {
    decides(
        &[
            "+bash~rg --pre cat *",
            "+bash~find * -delete",
            "+bash~sudo reboot",
            "+bash~sudo systemctl *",
        ],
        &[
            ("rg --pre cat foo", Allow),
            ("rg --pre cat --pre rm foo", Confirm),
            ("find x -delete", Allow),
            ("find x -exec rm y + -delete", Confirm),
            ("sudo reboot", Allow),
            ("sudo systemctl reboot", Confirm),
        ],
    );
}

#[test]
fn a_wildcard_behind_a_name_leads_to_no_other_path() {
    decides(
        &["+bash~frob*", "+bash~./scripts/*"],
        &[
            ("frob x", Allow),
            ("frob/x", Confirm),
            ("frob/../x", Confirm),
            ("./scripts/x.sh y", Allow),
            ("./scripts/../x", Confirm),
            ("./scripts/../../x/y", Confirm),
        ],
    );
    decides(&["+bash~*"], &[("./x/y", Allow)]);
}

#[test]
fn a_name_with_a_slash_is_another_command_for_an_allow_rule_and_the_same_for_a_deny_rule() {
    decides(&["+bash:make"], &[("./make", Confirm), ("/tmp/make", Confirm)]);
    decides(&["+bash", "-bash:make"], &[("./make", Deny), ("/tmp/make x", Deny)]);
}

#[test]
fn a_deny_rule_sees_through_options_before_the_sub_command() {
    for text in [
        "git push",
        "git -C x push",
        "git --no-pager push",
        "git --git-dir x push --force",
        "/usr/bin/git push",
        "ls; git push",
        "ls && git -P push",
    ] {
        decides(&["+bash", "-bash:git push"], &[(text, Deny)]);
    }
    decides(
        &["+bash", "-bash:git push"],
        &[("git commit -m push", Allow), ("git log x push", Allow)],
    );
}

#[test]
fn a_deny_glob_is_tried_on_everything() {
    let rules = [
        "+bash",
        "-bash~rm -rf*",
        "-bash~*evil.example*",
        "-bash~git push --force*",
    ];
    for text in [
        "rm -rf x",
        "  rm   -rf x",
        "r'm' -rf x",
        "ls; rm -rf x",
        "ls | rm -rf x",
        "ls\nrm -rf x",
        "/bin/rm -rf x",
        "curl https://evil.example/x | tail",
        "curl \"https://evil.exam\"ple/x",
        "ls > evil.example",
        "git  push   --force",
        "(rm -rf x)",
    ] {
        decides(&rules, &[(text, Deny)]);
    }
    decides(&rules, &[("rm -r x", Allow), ("git commit -m 'no rm -rf'", Allow)]);
}

#[test]
fn a_text_in_quotes_is_no_command_for_a_deny_rule_unless_it_is_started() {
    decides(
        &["+bash", "-bash:rm"],
        &[
            ("git commit -m 'a; rm x'", Allow),
            ("echo rm", Allow),
            ("echo rm x | sh", Deny),
            ("echo 'rm x' | sh", Deny),
            ("sh -c 'rm x'", Deny),
            ("uv run rm x", Deny),
        ],
    );
}

#[test]
fn messages_and_reasons_are_bounded() {
    let long = format!("make {}", "x".repeat(100_000));
    let answer = answer(&judge(&[]), &line(&long));
    assert_eq!(answer.decision, Confirm);
    assert!(answer.reason.len() < 1000 && answer.message.unwrap().len() < 5000);
}

#[test]
fn a_pattern_for_a_name_is_denied_with_the_names_that_it_could_become() {
    let rules = ["+bash", "-bash:rm", "-bash:git push"];
    for text in [
        "/bin/r? x",
        "/bin/[r]m x",
        "/usr/lib/git-core/git-push",
        "gi? push",
        "setarch x86_64 rm -rf x",
    ] {
        decides(&rules, &[(text, Deny)]);
    }
}

#[test]
fn a_wrapper_is_allowed_by_no_rule_that_only_names_it() {
    for name in [
        "setarch",
        "tini",
        "gosu",
        "ccache",
        "srun",
        "mamba",
        "op",
        "sshpass",
        "eatmydata",
    ] {
        let rule = format!("+bash:{name}");
        let text = format!("{name} x");
        let answer = answer(&judge(&[&rule]), &line(&text));
        assert_eq!(answer.decision, Confirm, "{text}");
        assert_eq!(answer.danger, Some(Danger::High), "{text}");
        assert!(answer.remember.is_empty(), "{text}");
    }
}

#[test]
fn a_deny_rule_leaves_alone_what_only_has_its_words_as_operands() {
    let rules = ["+bash", "-bash:rm", "-bash:git push", "-bash:kubectl delete"];
    for text in [
        "git commit -m 'rm x'",
        "git log --grep 'git push'",
        "kubectl -n delete get x",
        "git rm x",
        "make rm",
        "command -v rm",
    ] {
        decides(&rules, &[(text, Allow)]);
    }
    for text in [
        "git -C $x push status",
        "git -C push push",
        "kubectl -n x delete y",
        "echo rm x | make -f -",
        "command rm x",
    ] {
        decides(&rules, &[(text, Deny)]);
    }
}

#[test]
fn a_question_shows_both_ends_of_a_long_line_and_says_that_it_is_dangerous() {
    let long = format!("ls {}; ./evil", "a".repeat(5000));
    let answer = answer(&judge(&[]), &line(&long));
    let message = answer.message.unwrap();
    assert!(
        message.starts_with("ls aaa") && message.ends_with("aaa; ./evil"),
        "{message}"
    );
    assert!(message.contains("… (915 characters left out) …"), "{message}");
    assert_eq!(answer.danger, Some(Danger::High));
    // No character is split.
    let wide = format!("ls '{}'; ./evil", "äö€".repeat(5000));
    assert!(super::answer(&judge(&[]), &line(&wide)).message.unwrap().len() < 4200);
}

#[test]
fn where_the_work_for_globs_is_spent_deny_rules_deny_and_allow_rules_allow_nothing() {
    let hostile = format!("{}b", "*a".repeat(64));
    let deny: Vec<String> = (0..512).map(|index| format!("-bash~{hostile}{index}")).collect();
    let allow: Vec<String> = (0..512).map(|index| format!("+bash~{hostile}{index}")).collect();
    let refs = |rules: &[String]| judge(&rules.iter().map(String::as_str).collect::<Vec<_>>());
    let long = format!("make {}", "a".repeat(60_000));
    let many = format!("make a;{}", "a;".repeat(2_000));
    for text in [&long, &many] {
        assert_eq!(answer(&refs(&deny), &line(text)).decision, Deny);
        assert_eq!(answer(&refs(&allow), &line(text)).decision, Confirm);
    }
    // Cheap lines are judged as usual.
    assert_eq!(answer(&refs(&deny), &line("ls -l src")).decision, Allow);
}

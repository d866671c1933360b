//! The rules that a yes stores.

use super::*;

/// The commands that a yes stores.
fn stored(rules: &[&str], text: &str) -> Vec<String> {
    let answer = answer(&judge(rules), &line(text));
    let commands = answer.remember.into_iter().map(|remember| {
        assert_eq!(remember.tool, SHELL);
        remember.command.unwrap()
    });
    commands.collect()
}

#[test]
fn each_segment_is_stored_by_its_first_word_or_by_two_where_there_are_sub_commands() {
    for (text, expected) in [
        ("make all", &["make"][..]),
        ("make all && make install", &["make"]),
        ("git push origin main", &["git push"]),
        ("cargo build | tail", &["cargo build", "tail"]),
        ("npm run build; frob x", &["npm run", "frob"]),
        ("cargo build 2>&1 | tail", &["cargo build", "tail"]),
        ("docker ps", &["docker ps"]),
        ("git --no-pager fetch", &["git fetch"]),
    ] {
        assert_eq!(stored(&[], text), expected, "{text}");
    }
}

#[test]
fn cd_is_never_stored() {
    for text in ["cd /", "cd / && ls", "cd"] {
        assert!(stored(&[], text).is_empty(), "{text}");
    }
}

#[test]
fn nothing_is_stored_that_would_ask_again_or_allow_more() {
    for text in [
        "echo $(x)",
        "make > x",
        "rg --pre x y",
        "find . -delete",
        "sudo make",
        "docker -H tcp://x ps",
        "git",
        "'a b' c",
        "make; rg --pre x y",
    ] {
        assert!(stored(&[], text).is_empty(), "{text}: {:?}", stored(&[], text));
    }
    assert!(stored(&["+bash:make"], "make").is_empty());
    assert!(stored(&["-bash:make"], "make").is_empty());
}

#[test]
fn what_is_stored_then_allows_the_line() {
    for text in [
        "make all",
        "cargo build | tail -n 3",
        "git push origin main",
        "npm test",
        "frob x && knob",
    ] {
        let rules: Vec<String> = stored(&[], text)
            .iter()
            .map(|command| format!("+bash:{command}"))
            .collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        decides(&rules, &[(text, Decision::Allow)]);
    }
}

#[test]
fn a_skill_and_a_tool_are_stored_by_name() {
    let judge = judge(&[]);
    let of_skill = answer(&judge, &skill("x")).remember;
    assert_eq!(
        (of_skill[0].tool.as_str(), of_skill[0].skill_name.as_deref()),
        (SKILL_LOAD, Some("x"))
    );
    let of_tool = answer(&judge, &call("write")).remember;
    assert_eq!((of_tool[0].tool.as_str(), of_tool.len()), ("write", 1));
    assert!(answer(&judge, &call(SHELL)).remember.is_empty());
}

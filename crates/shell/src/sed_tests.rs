fn is_safe_sed(program: &str) -> bool {
    super::sed(program).is_plain
}

#[test]
fn sed_scripts_that_only_change_text_are_safe() {
    for script in [
        "1,20p",
        "$p",
        "5q",
        "/a/,/b/p",
        "s/a/b/",
        "s/a/b/g",
        "s|/x|/y|gp",
        "/x/d",
        "1d;$d",
        "10,+5p",
        "/a/!d",
        "s/a/\\/b/2",
        "y/abc/def/",
        "/x/{p;q}",
        "s/[0-9]*/n/",
        "1~2p",
        "",
        "/^$/d",
        "s/ e /w/",
    ] {
        assert!(is_safe_sed(script), "{script}");
    }
    for script in [
        "e",
        "1e",
        "1e rm x",
        "s/a/b/e",
        "s/a/b/ge",
        "s/a/b/w x",
        "w x",
        "1w /etc/x",
        "r /etc/passwd",
        "R x",
        "W x",
        "p;w x",
        "p\ne id",
        "{e\n}",
        "s/a/b/;e id",
        "a text",
        "i text",
        "c text",
        "F",
        "b",
        "t",
        ":a",
        "s/a/b",
        "s,a,b,we",
        "s/[/]/b/e",
        "y/a/b/e",
        "1!e",
        "v",
        "s/a/b\n/e",
        "}",
        "{p",
        "sxaxbxe",
        "s/a/b/\u{a0}",
        "z",
        "/a/I,/b/e",
    ] {
        assert!(!is_safe_sed(script), "{script}");
    }
}

#[test]
fn many_classes_without_an_end_take_no_longer_than_one() {
    let program = format!("s/{}", "[".repeat(1 << 20));
    assert!(!is_safe_sed(&program));
}

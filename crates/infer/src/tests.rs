//! Whole scripts and their inferences.

use super::*;

#[test]
fn a_script_that_is_too_long_is_not_read() {
    let long = " ".repeat(LONGEST + 1);
    let answer = infer(&long, Language::Python, &Setting::default());
    assert_eq!((&*answer.profile, answer.confidence), ("trusted", 0.0));
}

#[test]
fn the_profile_that_writes_its_root_is_named_beside_the_six() {
    for (code, profile, other) in [
        ("open('out.csv', 'w')", "trusted", Some("workspace")),
        (
            "open('out.csv', 'w'); open('a.csv'); open('/tmp/b', 'w')",
            "trusted",
            Some("workspace"),
        ),
        ("open('out.csv', 'w'); open('/srv/a')", "trusted", None),
        (
            "import urllib.request as u; u.urlopen('https://example.com'); open('o', 'w')",
            "trusted",
            None,
        ),
        ("open('/srv/out.csv', 'w')", "trusted", None),
        ("open('/tmp/out.csv', 'w')", "filesystem", None),
    ] {
        let answer = infer(code, Language::Python, &Setting::default());
        assert_eq!(
            (&*answer.profile, answer.or_profile.as_deref()),
            (profile, other),
            "{code}"
        );
    }
}

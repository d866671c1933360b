use super::super::{Line, Operator, Plain};
use super::read;

fn plain(text: &str) -> Plain {
    match read(text) {
        Line::Plain(plain) => plain,
        Line::NotPlain(not) => panic!("{text:?} {}", not.why),
    }
}

fn words(text: &str) -> Vec<Vec<String>> {
    plain(text).parts.into_iter().map(|part| part.words).collect()
}

#[test]
fn a_line_is_split_at_the_longest_operators_that_stand_there() {
    let line = plain("a  1 | b |& c&&d || e ; f & g \n\n h >x 2>>y <z 2>&1 &>w &");
    let follows: Vec<_> = line.parts.iter().map(|part| part.follows).collect();
    use Operator::{And, Background, Newline, Or, Pipe, PipeBoth, Semicolon};
    let expected = [Pipe, PipeBoth, And, Or, Semicolon, Background, Newline].map(Some);
    assert_eq!(follows[0], None);
    assert_eq!(follows[1..], expected);
    let last = line.parts.last().unwrap();
    assert_eq!(last.text, "h");
    let redirections: Vec<_> = last
        .redirections
        .iter()
        .map(|r| (r.operator.as_str(), r.target.as_str()))
        .collect();
    assert_eq!(
        redirections,
        [(">", "x"), ("2>>", "y"), ("<", "z"), ("2>&", "1"), ("&>", "w")]
    );
    assert_eq!(last.redirections.iter().filter(|r| r.opens_nothing()).count(), 1);
    let operators: Vec<_> = line
        .operators
        .iter()
        .map(|place| &line.normalised[place.clone()])
        .collect();
    assert_eq!(
        operators,
        [
            "|", "|&", "&&", "||", ";", "&", "\n\n", ">", "2>>", "<", "2>&", "&>", "&"
        ]
    );
}

#[test]
fn operators_inside_quotes_and_behind_backslashes_are_text() {
    assert_eq!(
        words(r#"grep 'a|b' "c;d &&" e\;f \> g"#),
        [["grep", "a|b", "c;d &&", "e;f", ">", "g"]]
    );
}

#[test]
fn words_have_the_values_that_a_shell_gives_them() {
    assert_eq!(
        words(r#"echo a'b'"c"\d '' "" 'it'\''s'"#),
        [["echo", "abcd", "", "", "it's"]]
    );
    assert_eq!(
        words(r#"echo "a\"b\\c\nd" "foo$" "x!""#),
        [["echo", "a\"b\\c\\nd", "foo$", "x!"]]
    );
    assert_eq!(
        words("git log HEAD~2..main@{1} a=b x#y"),
        [["git", "log", "HEAD~2..main@{1}", "a=b", "x#y"]]
    );
    assert_eq!(
        words("git commit -m 'one\n\ntwo  three'"),
        [["git", "commit", "-m", "one\n\ntwo  three"]]
    );
    assert_eq!(words(">x ls a"), [["ls", "a"]]);
    assert_eq!(words("ls src/*.rs"), [["ls", "src/*.rs"]]);
    assert_eq!(words("echo grün"), [["echo", "grün"]]);
}

#[test]
fn what_a_shell_would_make_more_of_is_not_plain() {
    for text in [
        "",
        " ",
        "\n",
        "a &&",
        "| a",
        "a | | b",
        "; a",
        "a ;; b",
        "a\n&& b",
        "> x",
        "a >",
        "a > > b",
        "a <<E\nE",
        "a <<< b",
        "a <(b)",
        "a >(b)",
        "a >| b",
        "a <> b",
        "a 3> b",
        "a 99999999999> b",
        "a {x}> b",
        "a >&-",
        "a 2>&x",
        "a <&0",
        "$x",
        "a $x",
        "a ${x}",
        "a $(b)",
        "a `b`",
        "a \"$(b)\"",
        "a \"`b`\"",
        "a $'b'",
        "a $\"b\"",
        "a \"$x\"",
        "a $",
        "a ~",
        "a ~b",
        "a --x=~",
        "a {b,c}",
        "a {b..c}",
        "a {}",
        "a }",
        "(a)",
        "{ a; }",
        "a() { b; }",
        "if a; then b; fi",
        "! a",
        "time a",
        "[[ a ]]",
        "a !b",
        "a !!",
        "a \"!b\"",
        "X=1 a",
        "X=1",
        "a # b",
        "# a",
        "'a' b",
        "\"a\"",
        "l\\s",
        "a*",
        "a *",
        "a *.c",
        "echo src/*",
        "ls -*",
        "ls ?",
        "ls [a]",
        "git s*",
        "a 'b",
        "a \"b",
        "a b\\",
        "a b\\\nc",
        "a \"b\\\nc\"",
        "a\rb",
        "a\u{0}b",
        "a\u{b}b",
        "a\u{c}b",
        "a\u{1b}[2J",
        "a\u{a0}b",
        "a\u{3000}b",
        "a\u{2028}b",
        "a\u{200b}b",
        "a\u{202e}b",
        "a\u{feff}b",
        "a\u{2800}b",
        "a 'b\u{1b}'",
        "a =ls",
        "^a^b",
        "%1",
        "a > *",
        "a > ''",
        "- a",
        "+x",
        "a (b)",
        "a @(b|c)",
        "a 'b'{c,d}",
        "a @'x'{1}",
        "coproc a",
        "select x in a; do b; done",
        "a & & b",
        "a &;",
    ] {
        assert!(matches!(read(text), Line::NotPlain(_)), "{text:?}");
    }
}

#[test]
fn nothing_nests_deep_enough_to_end_or_stall_the_reader() {
    let pieces = [
        "(",
        "$(",
        "`",
        "${",
        "{ ",
        "((",
        "$((",
        "[[ ",
        "\"$(",
        "'",
        "\"",
        "\\",
        "if ",
        "! ",
        "case a in ",
        "a|",
        "a;",
        "<<a ",
        "a>",
    ];
    for piece in pieces {
        for times in [1000, 60_000 / piece.len()] {
            let text = piece.repeat(times);
            let _ = read(&text);
            let _ = crate::seen(&text);
            let _ = read(&piece.repeat(100_000));
            assert!(
                matches!(read(&format!("{text}a")), Line::NotPlain(_)) || times < 2000,
                "{piece}"
            );
        }
    }
    assert!(matches!(read(&"a".repeat(64 * 1024 + 1)), Line::NotPlain(_)));
    assert!(matches!(read(&"a ".repeat(30 * 1024)), Line::NotPlain(_)));
}

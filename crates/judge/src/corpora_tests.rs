//! Hostile, ordinary and random lines, with a real shell as the reference for both parsers.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::sample::select;

use crate::known;
use stockade_shell::*;

const HOSTILE: &str = include_str!("../../../tests/judge/hostile.txt");
const ORDINARY: &str = include_str!("../../../tests/judge/ordinary.txt");

fn lines(corpus: &str) -> Vec<String> {
    let lines = corpus
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# ") && !line.starts_with('"'));
    let encoded = corpus.lines().filter(|line| line.starts_with('"'));
    let encoded = encoded.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")));
    lines.map(str::to_string).chain(encoded).collect()
}

/// The words that the rules of `usual.toml` name.
fn usual() -> (Vec<String>, Vec<String>) {
    let text = include_str!("../../../tests/judge/usual.toml");
    let all = |field: &str| {
        let values = text
            .lines()
            .filter_map(|line| line.strip_prefix(field)?.strip_prefix(" = \""));
        values
            .filter_map(|value| value.strip_suffix('"'))
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    (all("command"), all("command_glob"))
}

/// The decision of a simple rule engine: every part allowed by its first word or two, no file by redirection.
fn is_allowed(text: &str, commands: &[String]) -> bool {
    let Line::Plain(line) = read(text) else {
        return false;
    };
    line.parts.iter().all(|part| {
        let (command, sub) = subject(&part.words).unwrap();
        let sub = sub.or(part.words.get(1).map(String::as_str)).unwrap_or_default();
        let names = [command.to_string(), format!("{command} {sub}")];
        let is_named = names
            .iter()
            .any(|name| known::allowed().any(|(_, command)| command == Some(name.as_str())) || commands.contains(name));
        let opens_nothing = part.redirections.iter().all(Redirection::opens_nothing);
        is_named && opens_nothing && !matches!(fitness(&part.words), Fitness::Unfit(_))
    })
}

#[test]
fn no_hostile_line_is_allowed_without_a_question() {
    let (commands, _) = usual();
    let hostile = lines(HOSTILE);
    assert!(hostile.len() >= 250, "{}", hostile.len());
    let allowed: Vec<_> = hostile.iter().filter(|line| is_allowed(line, &commands)).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn no_ordinary_line_needs_a_question() {
    let (commands, globs) = usual();
    let ordinary = lines(ORDINARY);
    assert!(ordinary.len() >= 220, "{}", ordinary.len());
    let by_glob = |line: &String| {
        let rules = globs.iter().filter_map(|glob| globset::Glob::new(glob).ok());
        matches!(read(line), Line::Plain(_)) && rules.map(|glob| glob.compile_matcher()).any(|glob| glob.is_match(line))
    };
    let asked: Vec<_> = ordinary
        .iter()
        .filter(|line| !is_allowed(line, &commands) && !by_glob(line))
        .collect();
    let whys: Vec<_> = asked.iter().map(|line| (line, read(line))).collect();
    assert!(asked.is_empty(), "{whys:#?}");
}

#[test]
fn each_part_of_a_plain_line_is_seen() {
    for text in lines(ORDINARY) {
        let Line::Plain(line) = read(&text) else {
            panic!("{text}");
        };
        let seen = seen(&text);
        for part in line.parts {
            assert!(seen.contains(&part.words), "{text}: {:?} in {seen:?}", part.words);
        }
    }
}

/// Pieces at which shells split words, join words, or differ.
const PIECES: &[&str] = &[
    " ", "  ", "\t", "a", "b-c", "-d", "1", "2", "=", "é", "'", "\"", "'x y'", "\"x  y\"", "\\", "\\ ", "\\'", "\\\"",
    "\\\\", "\\n", "$", "$x", "`", "|", "|&", "||", "&", "&&", ";", "\n", ">", ">>", "<", "2>", "2>&1", ">&2", "&>",
    "(", ")", "{", "}", "#", "!", "~", "*", "?", "[", "]", "@{1}", ",", ":", "%", "^", "+", "if", "do", "time", "''",
    "\"\"", "'\n'", "\"$\"", "\\\n", "\r", "\u{200b}", "x=y", "<<", "/x", ".",
];

fn cases() -> u32 {
    if is_soak() { 200_000 } else { 300 }
}

/// `STOCKADE_TEST_SOAK=1`, as `tools/test` says; it also passes on an empty one.
fn is_soak() -> bool {
    std::env::var_os("STOCKADE_TEST_SOAK").is_some_and(|value| value == "1")
}

fn any_line() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(select(PIECES), 0..16).prop_map(|pieces| pieces.concat());
    let corpus: Vec<String> = lines(HOSTILE).into_iter().chain(lines(ORDINARY)).collect();
    let mutated = (select(corpus), select(PIECES), any::<prop::sample::Index>(), 0..4_usize);
    let mutated = mutated.prop_map(|(line, piece, at, cut)| {
        let mut chars: Vec<char> = line.chars().collect();
        let at = at.index(chars.len() + 1);
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, piece.chars());
        chars.into_iter().collect::<String>()
    });
    let bytes =
        proptest::collection::vec(any::<u8>(), 0..64).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    prop_oneof![4 => pieces, 4 => mutated, 1 => bytes]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_ends_the_readers_and_what_is_plain_is_consistent(text in any_line()) {
        let seen = seen(&text);
        if let Line::Plain(line) = read(&text) {
            prop_assert!(!line.parts.is_empty());
            prop_assert_eq!(&line.normalised, &normalise(&text));
            prop_assert!(line.operators.iter().all(|place| line.normalised.get(place.clone()).is_some()));
            // The normalised form has the same meaning.
            prop_assert_eq!(&read(&line.normalised), &Line::Plain(line.clone()));
            for part in &line.parts {
                let _ = fitness(&part.words);
                prop_assert!(seen.contains(&part.words), "{:?}", part.words);
            }
        }
    }
}

/// Ends each word, and each command.
const WORD: char = '\u{1}';
const COMMAND: char = '\u{2}';

/// A shell's reading of lines: every command is a function that prints its words.
fn said_by(shell: &str, lines: &[String]) -> Option<Vec<String>> {
    let mut script = String::from("c() { printf '%s\\001' c \"$@\"; printf '\\002'; }\n");
    for line in lines {
        // In a group of its own, so that a pipe's reader is told of its writer's words too.
        script.push_str(&format!("{{\n{line}\n}} 2>&1\nwait\nprintf '\\003'\n"));
    }
    // A file: written to its input, it would wait for us to read while we wait for it to do so.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(script.as_bytes()).unwrap();
    let ran = Command::new(shell)
        .arg(file.path())
        .env_clear()
        .stdin(Stdio::null())
        .output();
    let output = ran.ok()?;
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let mut said: Vec<String> = said.split('\u{3}').map(str::to_string).collect();
    said.pop();
    Some(said)
}

#[test]
fn real_shells_find_the_words_that_were_read() {
    let words: &[&str] = &[
        "a",
        "'x y'",
        "\"x  y\"",
        "a\\ b",
        "''",
        "\"\"",
        "a'b'\"c\"d",
        "'it'\\''s'",
        "\"a\\\"b\"",
        "\"a\\\\b\"",
        "\"a\\nb\"",
        "\\*",
        "'*'",
        "\"$\"",
        "\"a$ b\"",
        "a=b",
        "--x=y",
        "HEAD~1",
        "HEAD@{1}",
        "a#b",
        "é",
        "'\n'",
        "\"|;&\"",
        "'$x `y`'",
        "\\$x",
        "!",
        "a!=b",
        "%1",
        "]",
        ":",
        "\\\\",
        "\\|",
        "\"!\"",
        "x,y",
        "a:b",
        "@",
        "\"a\\$b\"",
        "\"a\\`b\"",
        "\\\"",
        "'\"'",
        "\"'\"",
        "\"\\*\"",
        "^",
        "+",
        "-",
        "--",
        "-n",
        "1",
        "\"\\!\"",
    ];
    // A deterministic walk: each line takes the next words and operators.
    let operators = ["; ", " && ", "\n", ";", "&&", "  ;\t"];
    let count = if is_soak() { 20_000 } else { 400 };
    let mut state = 1_usize;
    let mut next = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let lines: Vec<String> = (0..count)
        .map(|_| {
            let command = |next: &mut dyn FnMut(usize) -> usize| {
                let words: Vec<_> = (0..next(6)).map(|_| words[next(words.len())]).collect();
                format!("c {}", words.join([" ", "  ", "\t"][next(3)]))
            };
            let mut line = command(&mut next);
            for _ in 0..next(3) {
                line.push_str(operators[next(operators.len())]);
                line.push_str(&command(&mut next));
            }
            line
        })
        .collect();
    let plain: Vec<(String, String)> = lines
        .into_iter()
        .filter_map(|line| match read(&line) {
            Line::Plain(plain) => {
                let words = |part: &Part| {
                    part.words
                        .iter()
                        .map(|word| format!("{word}{WORD}"))
                        .collect::<String>()
                };
                let said = plain.parts.iter().map(|part| format!("{}{COMMAND}", words(part)));
                Some((line, said.collect()))
            }
            Line::NotPlain(_) => None,
        })
        .collect();
    assert!(
        plain.len() > count * 8 / 10,
        "only {} of {count} are plain",
        plain.len()
    );
    let (lines, expected): (Vec<_>, Vec<_>) = plain.into_iter().unzip();
    for shell in ["bash", "dash"] {
        let Some(said) = said_by(shell, &lines) else {
            eprintln!("skipped: no {shell}");
            continue;
        };
        for ((line, expected), said) in lines.iter().zip(&expected).zip(&said) {
            assert_eq!(expected, said, "{shell}: {line:?}");
        }
        assert_eq!(said.len(), lines.len());
    }
}

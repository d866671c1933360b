//! Texts that are made to break their reader, or to show something else than they are.

use serde_json::json;

use crate::exec::place::Place;

const LANGUAGES: [&str; 4] = ["python", "javascript", "typescript", "shell"];

#[test]
fn no_text_breaks_more_than_its_own_answer() {
    let place = Place::new();
    let deep = [
        "(",
        "[",
        "{",
        "-",
        "!",
        "not ",
        "$(",
        "`",
        "a=>",
        "a?b:",
        "if x:\n ",
        "lambda: ",
        "<a>",
        "a.b",
        "1+",
        "f'{",
        "\"",
        "'",
        "<<E\n",
        "case x in ",
        "while ",
        "await ",
        "{ ",
        "((",
        "${",
    ];
    for language in LANGUAGES {
        for piece in deep {
            place.file("deep", &piece.repeat(60_000 / piece.len()));
            let answer = place.json(&["infer", "--json", "--lang", language, "deep"]);
            let confidence = answer["confidence"].as_f64().unwrap();
            // Some of them are good code after all: `1+1+…` and a line of words.
            assert!((0.0..=1.0).contains(&confidence), "{language} {piece}");
        }
    }
}

#[test]
fn what_is_no_text_or_too_long_is_not_judged() {
    let place = Place::new();
    std::fs::write(place.root().join("bytes.py"), b"print('\xff\xfe')\n").unwrap();
    place.file("long.py", &"#".repeat((1 << 20) + 1));
    for (file, why) in [("bytes.py", "it isn't UTF-8"), ("long.py", "it is longer than 1 MiB")] {
        let answer = place.json(&["infer", "--json", file]);
        assert_eq!(answer["confidence"], json!(0.0));
        assert_eq!(answer["runs_as"], json!("minimal"));
        assert_eq!(answer["dynamic"], json!([format!("it can't be read: {why}")]));
    }
}

#[test]
fn a_text_moves_no_terminal() {
    let place = Place::new();
    place.file("shown.py", "open('a\\x1b[2J\\u202eb')  # \x1b[2J\u{202e}\n");
    for words in [&["infer", "shown.py"][..], &["exec", "--ask", "never", "shown.py"]] {
        let called = place.call(words);
        let said = called.stdout + called.stderr.split("Traceback").next().unwrap();
        assert!(!said.contains(['\x1b', '\u{202e}']), "{said:?}");
    }
}

#[test]
fn a_long_text_is_read_in_time() {
    let place = Place::new();
    // Without optimisation it takes ten times as long; `tools/benches/infer.rs` measures.
    let length = if cfg!(debug_assertions) { 1 << 18 } else { 1 << 20 };
    for (language, line) in [
        ("python", "x = open('data/a.csv').read()\n"),
        ("javascript", "fetch('https://api.example.com/x');\n"),
        ("typescript", "fetch('https://api.example.com/x');\n"),
        ("shell", "cat data/a.csv\n"),
    ] {
        place.file("long", &line.repeat(length / line.len()));
        let answer = place.json(&["infer", "--json", "--lang", language, "long"]);
        assert_ne!(answer["confidence"], json!(0.0), "{language}");
    }
}

//! Properties of every suggestion and every text.

use proptest::prelude::*;

use super::*;
use crate::policy::{Access, Matcher};

#[test]
fn siblings_that_a_program_makes_are_folded_to_their_directory() {
    let mut begun = run(&["tar", "-x"]).by("/usr/bin/tar");
    for index in 0..100 {
        begun = begun.tries(Kind::Create, &format!("/srv/out/{index}.txt"));
    }
    let report = begun.exits(2).fails_on("/srv/out/99.txt").judged();
    assert_eq!(flags(&report), "--write /srv/out");
    assert!((1..=4).contains(&explaining(&report).len()));
}

#[test]
fn what_is_wide_or_holds_something_closed_is_not_folded_to() {
    for directory in ["/home/ada", "/etc", "/usr/lib", "/home/ada/.config", "/home"] {
        let paths: Vec<String> = (0..9).map(|index| format!("{directory}/file{index}")).collect();
        let mut begun = run(&["x"]);
        for path in &paths {
            begun = begun.tries(Kind::Write, path);
        }
        let report = begun.fails_on(&paths[8]).judged();
        let flags = report.suggestion.map_or(Vec::new(), |suggestion| suggestion.flags);
        assert!(!flags.contains(&directory.into()), "{directory}");
        assert!(flags.len() <= 12, "{directory}");
    }
}

#[test]
fn a_suggested_profile_keeps_what_the_run_has() {
    let report = run(&["cat", "/etc/hosts"])
        .profile("workspace")
        .tries(Kind::Read, "/etc/hosts")
        .fails_on("/etc/hosts")
        .judged();
    // It would read the file, and not write the project.
    assert_eq!(report.denials[0].profile.as_deref(), Some("mcp-standard"));
    assert_eq!(report.suggestion.unwrap().profile, None);
}

#[test]
fn each_kind_has_its_flag() {
    let grant = |kind: Kind, target: &str| {
        let words = run(&["x"]).tries(kind, target).judged().denials.remove(0).grant?;
        Some(words.join(" ".as_ref()).into_string().unwrap())
    };
    assert_eq!(grant(Kind::Read, "/a/b").unwrap(), "--read /a/b");
    for kind in [Kind::Write, Kind::Create, Kind::Delete, Kind::Metadata] {
        assert_eq!(grant(kind, "/a/b").unwrap(), "--write /a/b");
    }
    assert_eq!(grant(Kind::Execute, "/a/b").unwrap(), "--exec /a/b");
    assert_eq!(grant(Kind::Socket, "/a/b").unwrap(), "--socket /a/b");
    for kind in [
        Kind::Connect,
        Kind::Listen,
        Kind::Resolve,
        Kind::Signal,
        Kind::Spawn,
        Kind::Syscall,
    ] {
        assert_eq!(grant(kind, "/a/b"), None);
    }
    assert_eq!(grant(Kind::Socket, "@abstract"), None);
    assert_eq!(grant(Kind::Read, &format!("/{}", "x".repeat(5000))), None, "it was cut");
}

#[test]
fn what_is_never_allowed_has_no_grant() {
    let never = Refusal {
        reason: Reason::Never("another process's memory".into()),
        ..refusal(Kind::Read, "/srv/x")
    };
    let report = run(&["x", "/srv/x"]).refused(never).fails_on("/srv/x").judged();
    assert_eq!(explaining(&report), ["/srv/x"]);
    assert_eq!(
        report.denials[0].rule.as_ref().unwrap().text,
        "another process's memory"
    );
    assert_eq!((&report.denials[0].grant, &report.suggestion), (&None, &None));
}

#[test]
fn a_run_without_refusals_asks_nothing() {
    struct Unasked;
    impl ProfileOrder for Unasked {
        fn lowest(&self, _: &[Need<'_>]) -> Option<&'static str> {
            panic!("it isn't asked")
        }
    }
    let mut begun = run(&["false"]);
    let run_context = RunContext {
        policy: &begun.policy,
        home: None,
        stderr: &StderrTail::default(),
        variables: &[],
        program: &|_| None,
        order: &Unasked,
    };
    let before = begun.report.clone();
    begun.report.conclude(&begun.refusals, &run_context);
    assert_eq!(begun.report, before);
}

#[test]
fn odd_names_are_text_in_the_document_and_raw_in_the_grant() {
    use std::os::unix::ffi::OsStrExt;
    let name = b"/srv/a\xff\x1b[2J\xe2\x80\xae";
    let report = run(&["x"]).refused(refusal(Kind::Create, name)).judged();
    let grant = report.denials[0].grant.as_ref().unwrap();
    assert_eq!(grant[1].as_bytes(), name);
    let text = serde_json::to_string(&report).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let shown = "/srv/a\u{fffd}\u{1b}[2J\u{202e}";
    assert_eq!(document["denials"][0]["target"], shown);
    // As text it would be another name.
    assert_eq!(document["denials"][0]["grant"], serde_json::Value::Null);
    assert_eq!(document["suggestion"]["flags"], serde_json::json!([]));
}

#[test]
fn a_report_that_was_written_is_read_back() {
    let report = run(&["cat"])
        .tries(Kind::Read, "/etc/hosts")
        .tries(Kind::Read, "/srv/x")
        .judged();
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(Report::parse(text.as_bytes()).unwrap(), report);
    let newer = text.replacen("\"version\":1", "\"version\":2,\"all\":\"new\"", 1);
    let error = Report::parse(newer.as_bytes()).unwrap_err();
    assert!(matches!(error, ParseError::Newer(2)), "{error}");
    let further = text.replacen("\"run\":", "\"more\":1,\"run\":", 1);
    assert_eq!(Report::parse(further.as_bytes()).unwrap(), report);
    for bad in ["", "{}", "[]", "{\"version\":1}", "nothing"] {
        assert!(
            matches!(Report::parse(bad.as_bytes()), Err(ParseError::Format(_))),
            "{bad}"
        );
    }
    assert!(matches!(Report::parse(b"{\"version\":0}"), Err(ParseError::Unknown(0))));
}

fn any_path() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a"),
        Just("b.db"),
        Just(".git"),
        Just("hooks"),
        Just("config"),
        Just(".env"),
        Just("secrets"),
        Just("x.pem"),
        Just(".ssh"),
        Just(".bashrc"),
        Just(".config"),
        Just("gh"),
        Just("project"),
        Just(".vscode"),
        Just("index.lock"),
        Just("shadow"),
    ];
    let top = prop_oneof![
        Just("/home/ada"),
        Just("/home/ada/project"),
        Just("/etc"),
        Just("/srv"),
        Just("")
    ];
    (top, prop::collection::vec(name, 1..4)).prop_map(|(top, names)| format!("{top}/{}", names.join("/")))
}

fn any_refusal() -> impl Strategy<Value = Refusal> {
    let kind = prop_oneof![
        Just(Kind::Read),
        Just(Kind::Write),
        Just(Kind::Create),
        Just(Kind::Delete),
        Just(Kind::Execute),
        Just(Kind::Socket),
    ];
    (kind, any_path()).prop_map(|(kind, path)| refusal(kind, path))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // The supervisor wouldn't call a denied path "not granted"; even if it did, no flag would open one.
    #[test]
    fn no_flag_names_a_secret_or_guarded_path(all in prop::collection::vec(any_refusal(), 1..30)) {
        let begun = all.iter().cloned().fold(run(&["x"]), Run::refused);
        let named = all.iter().map(|refusal| String::from_utf8_lossy(&refusal.target));
        let printed = named.map(|name| format!("{name}: Permission denied\n")).collect::<String>();
        let policy = begun.policy.clone();
        let matcher = Matcher::new(&policy);
        let report = begun.says(&printed).judged();
        let suggested = report.suggestion.iter().flat_map(|suggestion| {
            let listed = suggestion.candidates.iter().map(|candidate| &candidate.flags);
            listed.chain([&suggestion.flags]).flat_map(|flags| flags.chunks(2))
        });
        for pair in suggested {
            let access = match pair[0].to_str().unwrap() {
                "--read" | "--exec" => Access::READ,
                _ => Access::READ | Access::WRITE,
            };
            let path = Path::new(&pair[1]);
            // The files that a commit writes in a `.git` are open, and a grant of it opens no more.
            let asked = if path.ends_with(".git") { path.join("index") } else { path.to_path_buf() };
            prop_assert!(matcher.denial(access, &asked, false).is_none(), "{pair:?}");
            prop_assert!(!["/", "/etc", HOME].contains(&path.to_str().unwrap()), "{pair:?}");
        }
        prop_assert!(report.explanation().count() <= 4);
    }
}

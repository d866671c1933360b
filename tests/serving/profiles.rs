//! The files of the user's own profiles: no call changes one, and a changed one is no profile of the server's.

use std::fs;

use serde_json::{Value, json};

use super::session::{Session, text};
use crate::common::{Place, STOCKADE, finish};

fn profile(name: &str, extends: &str) -> String {
    format!("version = 1\nname = \"{name}\"\ndescription = \"own\"\nextends = \"{extends}\"\n")
}

// promise: agents.9
#[test]
fn no_answer_opens_the_ceilings_file_or_what_it_extends_under_any_profile() {
    let place = Place::new();
    place.file("own.toml", profile("own", "./base.toml"));
    place.file("base.toml", profile("base", "readonly"));
    let yes = json!({ "action": "accept", "content": { "answer": "session" } });
    let mut session = Session::start(&place, &["--ceiling", "./own.toml"], Some(yes));
    for name in ["own.toml", "base.toml", "other"] {
        for profile in ["minimal", "own"] {
            let line = format!("echo '# changed' >> {name}; mv {name} away; echo '# changed' > {name}");
            session.call("run_command", json!({ "command": line, "profile": profile }));
            let code = format!("open('{name}', 'a').write('# changed')");
            session.call(
                "run_script",
                json!({ "language": "python", "code": code, "profile": profile }),
            );
        }
    }
    assert_eq!(
        fs::read_to_string(place.path("own.toml")).unwrap(),
        profile("own", "./base.toml")
    );
    assert_eq!(
        fs::read_to_string(place.path("base.toml")).unwrap(),
        profile("base", "readonly")
    );
    assert!(!session.asked.is_empty() && place.path("other").exists());
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
}

#[test]
fn a_profile_that_was_changed_runs_nothing() {
    let place = Place::new();
    place.file("own.toml", profile("own", "./base.toml"));
    place.file("base.toml", profile("base", "readonly"));
    let mut session = Session::start(&place, &["--ceiling", "./own.toml"], None);
    assert_eq!(session.run("echo fine")["structuredContent"]["stdout"], "fine\n");
    let script = json!({ "language": "shell", "code": "echo fine", "profile": "own" });
    let ran = &session.call("run_script", script.clone())["structuredContent"];
    // No word of a flag that the user didn't give.
    assert_eq!((&ran["stdout"], &ran["stderr"]), (&"fine\n".into(), &"".into()));
    place.file("base.toml", profile("base", "trusted"));
    for result in [session.run("echo fine"), session.call("run_script", script)] {
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("has changed since it was chosen"), "{result}");
    }
    // Others are as they were.
    let result = session.call("run_command", json!({ "command": "echo fine", "profile": "minimal" }));
    assert_eq!(result["structuredContent"]["stdout"], "fine\n");
}

#[test]
fn an_own_profile_is_within_a_ceiling_that_grants_all_that_it_does() {
    let place = Place::new();
    place.file("m3.toml", profile("m3", "readonly"));
    let flags = ["--ceiling", "workspace", "--profile", "./m3.toml"];
    let mut session = Session::start(&place, &flags, None);
    let ran = session.run("echo fine");
    assert_eq!(ran["structuredContent"]["stdout"], "fine\n");
    assert_eq!(ran["structuredContent"]["profile"], "m3");
    place.file(
        "m3.toml",
        profile("m3", "readonly") + "[[network.host]]\npattern = \"docs.example.com\"\nwhy = \"docs\"\n",
    );
    let mut command = place.command(STOCKADE);
    let told = finish(command.args(["mcp", "serve"]).args(flags), b"").stderr();
    let begins = "stockade: the profile `m3` isn't within the ceiling `workspace`: it grants more\n  host ";
    assert!(told.starts_with(begins) && told.contains("docs.example.com"), "{told}");
    let hint = told.split("hint: ").nth(1).unwrap();
    assert!(
        hint.contains("leave `--profile` out") && !hint.contains("--ceiling"),
        "{told}"
    );
}

#[test]
fn a_profile_that_extends_trusted_is_no_ceiling() {
    let place = Place::new();
    place.file("own.toml", profile("own", "./base.toml"));
    place.file("base.toml", profile("base", "trusted"));
    for flag in ["--ceiling", "--profile"] {
        let mut command = place.command(STOCKADE);
        let finished = finish(command.args(["mcp", "serve", flag, "./own.toml"]), b"");
        assert_eq!(finished.status.code(), Some(125));
        assert!(
            finished.stderr().contains("`own` extends `trusted`"),
            "{}",
            finished.stderr()
        );
    }
}

/// `workspace` writes `/tmp`, so a call can lead the name of a root there elsewhere.
#[test]
fn a_call_that_leads_the_roots_name_elsewhere_moves_no_later_call() {
    let made = tempfile::Builder::new()
        .prefix("stockade-root-")
        .tempdir_in("/tmp")
        .unwrap();
    let (root, was) = (made.path().join("r"), made.path().join("was"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("own"), "own\n").unwrap();
    let place = Place::new();
    place.file("~/private", "PRIVATE");
    let mut session = Session::start(&place, &["--root", root.to_str().unwrap()], None);
    let swap = format!(
        "mv {0} {1}; ln -s {2} {0}",
        root.display(),
        was.display(),
        place.home.display()
    );
    let swapped = session.run(&swap);
    assert_eq!(swapped["structuredContent"]["exit_code"], 0, "{swapped}");
    assert_eq!(
        fs::read_to_string(root.join("private")).unwrap(),
        "PRIVATE",
        "so this proves nothing"
    );
    for profile in ["workspace", "minimal"] {
        let call = json!({ "command": "cat private own; echo x >planted", "profile": profile });
        let result = session.call("run_command", call);
        assert!(!result.to_string().contains("PRIVATE"), "{profile}: {result}");
        assert!(!place.path("~/planted").exists(), "{profile}: {result}");
    }
    let stayed = session.run("cat own");
    assert_eq!(stayed["structuredContent"]["stdout"], "own\n", "{stayed}");
}

/// A script has the least profile that is offered and holds what its text needs; else that of commands.
#[test]
fn a_script_writes_its_own_file_within_the_ceiling() {
    let script = |code: &str, arguments: &[&str]| json!({ "language": "python", "code": code, "arguments": arguments });
    let write = script("open('out.txt', 'w').write('x')", &[]);
    let named = script("import sys\nopen(sys.argv[1], 'w').write('x')", &["named.txt"]);
    for (flags, written, at_argument) in [
        (&["--ceiling", "workspace"][..], "workspace", "workspace"),
        (
            &["--ceiling", "workspace", "--profile", "readonly"],
            "workspace",
            "readonly",
        ),
        (&["--ceiling", "readonly"], "readonly", "readonly"),
    ] {
        let place = Place::new();
        let mut session = Session::start(&place, flags, None);
        let call = |session: &mut Session, script: &Value| session.call("run_script", script.clone());
        for (script, profile, file) in [(&write, written, "out.txt"), (&named, at_argument, "named.txt")] {
            let result = call(&mut session, script);
            assert_eq!(result["structuredContent"]["profile"], profile, "{flags:?}: {result}");
            assert_eq!(place.path(file).exists(), profile == "workspace", "{flags:?}: {result}");
        }
        let result = call(&mut session, &script("print('fine')", &[]));
        assert_eq!(result["structuredContent"]["profile"], "minimal", "{flags:?}: {result}");
    }
}

//! The files of the user's own profiles: no call changes one, and a changed one is no profile of the server's.

use std::fs;

use serde_json::json;

use super::session::{Session, text};
use crate::common::{Place, STOCKADE, finish};

fn profile(name: &str, extends: &str) -> String {
    format!("version = 1\nname = \"{name}\"\ndescription = \"own\"\nextends = \"{extends}\"\n")
}

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
    assert_eq!(
        session.call("run_script", script.clone())["structuredContent"]["stdout"],
        "fine\n"
    );
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

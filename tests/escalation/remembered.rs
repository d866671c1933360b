//! An answer for always: what it is kept for, and what ends it.

use std::os::unix::fs::PermissionsExt;

use crate::common::{Finished, Place, STOCKADE, finish, is_root, skipped};

/// A project with a file, and somebody who is asked by a command that counts.
struct Project {
    place: Place,
}

impl Project {
    fn new() -> Project {
        let place = Place::new();
        place.file("file", "first\n");
        Project { place }
    }

    fn stockade(&self, words: &[&str]) -> Finished {
        finish(self.place.command(STOCKADE).args(words), b"")
    }

    /// `cat file`, with this answer for who asks.
    fn cat(&self, answer: &str, flags: &[&str]) -> Finished {
        let asked = self.place.path("~/asked");
        let ask = format!("command=echo >> {}; echo '{answer}'", asked.display());
        let file = self.place.path("file");
        let words = [&["run", "--ask", &ask], flags, &["--", "cat", file.to_str().unwrap()]].concat();
        self.stockade(&words)
    }

    fn always(&self) -> Finished {
        self.cat(r#"{"answer":"yes","lifetime":"always","by":"ada"}"#, &[])
    }

    /// The same with somebody who says no.
    fn never(&self, flags: &[&str]) -> Finished {
        self.cat(r#"{"answer":"no"}"#, flags)
    }

    /// How often somebody was asked.
    fn asked(&self) -> usize {
        std::fs::read(self.place.path("~/asked")).unwrap_or_default().len()
    }

    fn listed(&self) -> String {
        self.stockade(&["grant", "list"]).stdout()
    }

    fn id(&self) -> String {
        let listed = self.listed();
        listed.split_whitespace().next().expect("a grant is stored").to_string()
    }
}

/// What a hook says of a call of the agent's own tool, in place of a command.
#[test]
fn it_counts_for_the_agents_own_tools_and_opens_no_secret() {
    let project = Project::new();
    let outside = Place::new();
    let files = ["data.txt", "other.txt", ".env"].map(|name| outside.file(name, "x\n"));
    let hook = |path: &std::path::Path| {
        let input = serde_json::json!({"hook_event_name": "PreToolUse", "cwd": project.place.path(""),
            "tool_name": "Read", "tool_input": {"file_path": path}});
        let words = ["hook", "claude-code", "--profile", "readonly"];
        let said = finish(
            project.place.command(STOCKADE).args(words),
            input.to_string().as_bytes(),
        )
        .stdout();
        said.contains(r#""permissionDecision":"allow""#)
    };
    assert!(files.iter().all(|path| !hook(path)), "{files:?}");
    let answer = r#"command=echo '{"answer":"yes","lifetime":"always","by":"ada"}'"#;
    for path in [&files[0], &files[2]] {
        let path = path.to_str().unwrap();
        project.stockade(&["run", "--profile", "readonly", "--ask", answer, "--", "cat", path]);
    }
    assert_eq!(files.map(|path| hook(&path)), [true, false, false]);
}

#[track_caller]
fn printed(finished: &Finished, text: &str) {
    let said = (finished.status.code(), finished.stdout(), finished.stderr());
    assert_eq!(said, (Some(0), text.to_string(), String::new()));
}

#[track_caller]
fn was_closed(finished: &Finished) {
    assert_eq!((finished.status.code(), finished.stdout().as_str()), (Some(1), ""));
}

#[test]
fn always_counts_until_it_is_revoked() {
    let project = Project::new();
    printed(&project.always(), "first\n");
    assert_eq!(project.asked(), 1);
    let listed = project
        .place
        .fill("--read @ROOT/file\n        in @ROOT under minimal; ");
    assert!(project.listed().contains(&listed), "{}", project.listed());
    assert!(project.listed().contains(" by ada"), "{}", project.listed());
    printed(&project.never(&[]), "first\n");
    assert_eq!(project.asked(), 1, "it was asked again");
    // An editor saves like this.
    project.place.file("new", "second\n");
    std::fs::rename(project.place.path("new"), project.place.path("file")).unwrap();
    printed(&project.never(&[]), "second\n");
    let revoked = project.stockade(&["grant", "revoke", &project.id()]);
    assert_eq!(revoked.status.code(), Some(0), "{}", revoked.stderr());
    assert_eq!(project.listed(), "");
    was_closed(&project.never(&[]));
    assert_eq!(project.asked(), 2);
}

// promise: answers.10
#[test]
fn always_counts_for_no_other_root_profile_or_agent() {
    let project = Project::new();
    printed(&project.always(), "first\n");
    std::fs::create_dir(project.place.path("below")).unwrap();
    let fixer = "version = 1\n[agents.fixer]\nprofile = \"minimal\"\n";
    project.place.file("~/.config/stockade/config.toml", fixer);
    let others = [
        &["--root", "below"][..],
        &["--profile", "network-api"],
        &["--agent", "fixer"],
    ];
    for (count, flags) in others.into_iter().enumerate() {
        was_closed(&project.never(flags));
        assert_eq!(project.asked(), 2 + count, "{flags:?}");
    }
    printed(&project.never(&["--root", "."]), "first\n");
}

#[test]
fn a_profile_for_always_takes_away_nothing_that_was_denied() {
    let project = Project::new();
    project.place.file("closed", "precious\n");
    let own = "version = 1\nname = 'own'\ndescription = 'x'\nextends = 'minimal'\n[[deny]]\nglob = './closed'\n";
    let own = project.place.file("~/own.toml", own);
    let flags = ["--escalate", "profile", "--profile", own.to_str().unwrap()];
    printed(
        &project.cat(r#"{"answer":"yes","lifetime":"always"}"#, &flags),
        "first\n",
    );
    assert!(
        project.listed().contains("--profile filesystem\n"),
        "{}",
        project.listed()
    );
    printed(&project.never(&flags), "first\n");
    assert_eq!(project.asked(), 1);
    let words = [&["run", "--ask", "never"], &flags[2..], &["--", "cat", "closed"]].concat();
    was_closed(&project.stockade(&words));
}

// promise: answers.10
#[test]
fn a_name_that_became_a_link_grants_nothing_and_it_is_said() {
    let project = Project::new();
    printed(&project.always(), "first\n");
    project.place.file("precious", "precious\n");
    std::fs::remove_file(project.place.path("file")).unwrap();
    std::os::unix::fs::symlink("precious", project.place.path("file")).unwrap();
    let finished = project.never(&[]);
    was_closed(&finished);
    let expected = format!("stockade: the stored grant {} (`", project.id());
    let said = finished.stderr();
    let lines = said
        .lines()
        .filter(|line| line.starts_with(&expected) && line.contains("isn't used"));
    assert_eq!(lines.count(), 1, "{said}");
}

#[test]
fn a_store_that_is_damaged_grants_nothing_and_it_is_said_once() {
    let project = Project::new();
    printed(&project.always(), "first\n");
    project
        .place
        .file("~/.local/state/stockade/grants.db", "no database".repeat(1000));
    let finished = project.never(&[]);
    was_closed(&finished);
    assert_eq!(
        finished.stderr().matches("can't use stored grants: ").count(),
        1,
        "{}",
        finished.stderr()
    );
    // What can't be kept counts in this run, and it is said.
    let finished = project.always();
    assert_eq!(
        (finished.status.code(), finished.stdout().as_str()),
        (Some(0), "first\n")
    );
    assert!(
        finished.stderr().contains("a grant couldn't be kept for later runs"),
        "{}",
        finished.stderr()
    );
}

#[test]
fn a_store_that_is_read_only_still_counts_and_keeps_nothing_new() {
    if is_root() {
        return skipped("root writes read-only files");
    }
    let project = Project::new();
    printed(&project.always(), "first\n");
    let store = project.place.state().join("grants.db");
    std::fs::set_permissions(store, std::fs::Permissions::from_mode(0o400)).unwrap();
    printed(&project.never(&[]), "first\n");
    let answer = r#"{"answer":"yes","lifetime":"always"}"#;
    let finished = project.cat(answer, &["--profile", "network-api"]);
    assert_eq!(
        (finished.status.code(), finished.stdout().as_str()),
        (Some(0), "first\n")
    );
    let said = finished.stderr();
    assert_eq!(
        said.matches("a grant couldn't be kept for later runs").count(),
        1,
        "{said}"
    );
}

//! `stockade config show`, `stockade rules list`.

use crate::common::Place;
use crate::configuration::{ALLOW, stockade, told};

#[test]
fn changes_to_the_list_of_secrets_are_shown() {
    let place = Place::new();
    place.file(
        "~/.config/stockade/config.toml",
        "version = 1\n[secrets]\nclosed = ['**/*.tfstate', '**/a \"b\"']\nopen = ['~/work/dev.pem']\n",
    );
    let shown = told(&place, &["config", "show", "--origin"]);
    let of_secrets = shown.lines().filter(|line| line.starts_with("secrets."));
    insta::assert_snapshot!(of_secrets.collect::<Vec<_>>().join("\n"), @r#"
    secrets.closed = ["**/*.tfstate"]  # @HOME/.config/stockade/config.toml:3
    secrets.closed = ["**/a \"b\""]  # @HOME/.config/stockade/config.toml:3
    secrets.open = ["~/work/dev.pem"]  # @HOME/.config/stockade/config.toml:4
    "#);
}

#[test]
fn each_line_that_counts_is_shown_with_its_origin_and_what_does_not_count_with_the_reason() {
    let place = Place::new();
    let user =
        "version = 1\n[[permissions.deny]]\ntool = 'bash'\ncommand = 'rm'\n[agents.judge]\ncapabilities = ['READ']\n";
    place.file("~/.config/stockade/config.toml", user);
    place.file(
        ".stockade/config.toml",
        format!("{ALLOW}[agents.worker]\nmode = 'manual'\n"),
    );
    let plain = told(&place, &["config", "show"]);
    let without_built_in = plain.lines().filter(|line| !line.starts_with("permissions.allow"));
    insta::assert_snapshot!(without_built_in.collect::<Vec<_>>().join("\n"), @r#"
        permissions.deny = { tool = "bash", command = "rm" }
        agents.worker.mode = "manual"
        agents.worker.profile = "workspace"
        agents.judge.mode = "manual"
        agents.judge.profile = "workspace"
        agents.judge.capabilities = ["READ"]
        agents.planner.mode = "manual"
        agents.planner.profile = "workspace"
        agents.leader.mode = "manual"
        agents.leader.profile = "workspace"
        agents.mcp.mode = "accept-edits"
        agents.mcp.profile = "workspace"
        ! stockade: `@ROOT/.stockade/config.toml` isn't trusted, so what it allows doesn't count: `stockade trust` shows it
        Some(0)
        "#);
    insta::assert_snapshot!(told(&place, &["config", "show", "--origin", "--root", "@ROOT"]), @r#"
        permissions.deny = { tool = "bash", command = "rm" }  # @HOME/.config/stockade/config.toml:3
        agents.worker.mode = "manual"  # built in, @ROOT/.stockade/config.toml:6
        agents.worker.profile = "workspace"  # built in
        agents.judge.mode = "manual"  # built in
        agents.judge.profile = "workspace"  # built in
        agents.judge.capabilities = ["READ"]  # @HOME/.config/stockade/config.toml:6
        agents.planner.mode = "manual"  # built in
        agents.planner.profile = "workspace"  # built in
        agents.leader.mode = "manual"  # built in
        agents.leader.profile = "workspace"  # built in
        agents.mcp.mode = "accept-edits"  # built in
        agents.mcp.profile = "workspace"  # built in
        # doesn't count, not trusted: permissions.allow = { tool = "bash", command = "git push" }  # @ROOT/.stockade/config.toml:3
        ! stockade: `@ROOT/.stockade/config.toml` isn't trusted, so what it allows doesn't count: `stockade trust` shows it
        Some(0)
        "#);
    let all = stockade(&place, &["rules", "list"]).stdout();
    assert!(
        all.contains("permissions.allow = { tool = \"bash\", command = \"git status\" }  # built in\n"),
        "{all}"
    );
    insta::assert_snapshot!(told(&place, &["rules", "list"]), @r#"
        permissions.deny = { tool = "bash", command = "rm" }  # @HOME/.config/stockade/config.toml:3
        # doesn't count, not trusted: permissions.allow = { tool = "bash", command = "git push" }  # @ROOT/.stockade/config.toml:3
        ! stockade: `@ROOT/.stockade/config.toml` isn't trusted, so what it allows doesn't count: `stockade trust` shows it
        Some(0)
        "#);
}

#[test]
fn a_fault_in_a_configuration_is_told_with_its_place() {
    let place = Place::new();
    place.file(
        ".stockade/config.toml",
        "version = 1\n[agents.worker]\nmode = 'bypass'\n",
    );
    insta::assert_snapshot!(told(&place, &["config", "show"]), @"
        ! stockade: @ROOT/.stockade/config.toml:3:8: a project can't set the mode `bypass`, trusted or not
        !   hint: write `manual` or `accept-edits`; who wants `bypass` says so on the command line or in the user's configuration
        Some(125)
        ");
    place.file(".stockade/config.toml", "version = 1\non_violation = 'x'\n");
    insta::assert_snapshot!(told(&place, &["trust", "--yes"]), @"
        ! stockade: @ROOT/.stockade/config.toml:2:16: a project can't set `on_violation`, which runs outside any sandbox
        !   hint: it belongs into your own configuration, `~/.config/stockade/config.toml`
        Some(125)
        ");
}

/// What a stranger wrote never reaches the terminal as it is.
#[test]
fn texts_of_a_project_are_escaped() {
    let place = Place::new();
    let of_an_agent = "version = 1\n[agents.mine.scope]\nallowed = [\"a\u{202e}b\"]\n";
    let in_a_fault = "version = 1\n[agents.\"a\u{202e}b\"]\n";
    for text in [of_an_agent, in_a_fault] {
        place.file(".stockade/config.toml", text);
        for arguments in [&["trust"][..], &["config", "show", "--origin"]] {
            let told = told(&place, arguments);
            assert!(!told.contains('\u{202e}') && told.contains("\\u{202e}"), "{told}");
        }
    }
}

/// It may name programs that run unconfined, so it counts only where no other user could have put it there.
// promise: stockade.11
#[test]
fn a_configuration_that_other_users_could_have_written_stops_everything() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let begin = || {
        let place = Place::new();
        place.file("~/.config/stockade/config.toml", "version = 1\n");
        place
    };
    let answer = |place: &Place| {
        let finished = stockade(place, &["run", "--ask", "never", "--", "true"]);
        let stderr = finished.stderr().replace(place.home.to_str().unwrap(), "@HOME");
        (finished.status.code(), stderr)
    };
    assert_eq!(answer(&begin()), (Some(0), String::new()));
    for name in ["~/.config/stockade/config.toml", "~/.config/stockade", "~/.config"] {
        let place = begin();
        mode(&place.path(name), 0o777);
        let (code, stderr) = answer(&place);
        assert_eq!(code, Some(125), "{name}: {stderr}");
        let named = name.replace("~", "@HOME");
        assert!(
            stderr.contains(&format!("`{named}` may be written by other users")),
            "{name}: {stderr}"
        );
        assert!(stderr.contains("chmod go-w"), "{stderr}");
    }
    // A link that leads through a directory of everybody's. Where others can't remove what isn't theirs, it counts.
    let place = begin();
    place.file("public/x", "");
    std::fs::rename(place.path("~/.config/stockade"), place.path("~/kept")).unwrap();
    symlink(place.path("public/through"), place.path("~/.config/stockade")).unwrap();
    symlink(place.path("~/kept"), place.path("public/through")).unwrap();
    assert_eq!(answer(&place), (Some(0), String::new()));
    mode(&place.path("public"), 0o1777);
    assert_eq!(answer(&place), (Some(0), String::new()));
    mode(&place.path("public"), 0o777);
    assert_eq!(answer(&place).0, Some(125));
    if crate::common::is_root() {
        let place = begin();
        std::os::unix::fs::chown(place.path("~/.config"), Some(1), None).unwrap();
        let (code, stderr) = answer(&place);
        assert_eq!(code, Some(125));
        assert!(stderr.contains("`@HOME/.config` belongs to another user"), "{stderr}");
    } else {
        crate::common::skipped("only root can give a directory to another user");
    }
    // One that isn't there has no owner, and neither has an empty one.
    let place = Place::new();
    place.file("~/.config/x", "");
    mode(&place.path("~/.config"), 0o777);
    assert_eq!(answer(&place), (Some(0), String::new()));
    std::fs::create_dir(place.path("~/.config/stockade")).unwrap();
    assert_eq!(answer(&place), (Some(0), String::new()));
    place.file("~/.config/stockade/config.toml", "version = 1\n");
    assert_eq!(answer(&place).0, Some(125));
}

#[test]
fn stockade_makes_no_directory_that_it_would_refuse() {
    use std::os::unix::fs::PermissionsExt;
    for (mode, is_made) in [(0o777, false), (0o755, true)] {
        let place = Place::new();
        std::fs::set_permissions(&place.home, std::fs::Permissions::from_mode(mode)).unwrap();
        for _ in 0..2 {
            let finished = stockade(&place, &["run", "--ask", "never", "--profile", "trusted", "--", "true"]);
            assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr());
            assert_eq!(place.path("~/.config/stockade").exists(), is_made, "{mode:o}");
        }
    }
}

/// Each file that is found without being named is looked at by itself.
#[test]
fn a_file_that_other_users_could_have_written_is_not_used() {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    const PROFILE: &str = "version = 1\nname = \"own\"\ndescription = \"x\"\n";
    let begin = || {
        let place = Place::new();
        place.file("~/.config/stockade/profiles/own.toml", PROFILE);
        place.file(
            "~/.config/stockade/models.toml",
            "version = 1\n[[model]]\nname = \"m\"\nhost = [\"m.example\"]\n",
        );
        place
    };
    let answer = |place: &Place, words: &[&str]| {
        let words: Vec<_> = ["run", "--ask", "never"]
            .iter()
            .chain(words)
            .chain(&["--", "true"])
            .copied()
            .collect();
        let finished = stockade(place, &words);
        (finished.status.code(), finished.stderr())
    };
    let refused = |place: &Place, words: &[&str], why: &str| {
        let (code, stderr) = answer(place, words);
        assert!(code == Some(125) && stderr.contains(why), "{words:?}: {stderr}");
        assert_eq!(answer(place, &[]).0, Some(0), "what isn't used isn't looked at");
    };
    let own: &[&str] = &["--profile", "own"];
    let mode = |place: &Place, name: &str, mode| {
        std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(answer(&begin(), own).0, Some(0));
    assert_eq!(answer(&begin(), &["--llm"]).0, Some(0));
    let place = begin();
    mode(&place, "~/.config/stockade/profiles/own.toml", 0o666);
    refused(&place, own, "own.toml` may be written by other users");
    let place = begin();
    mode(&place, "~/.config/stockade/profiles", 0o777);
    refused(&place, own, "profiles` may be written by other users");
    let place = begin();
    mode(&place, "~/.config/stockade/models.toml", 0o666);
    refused(&place, &["--llm"], "models.toml` may be written by other users");
    // What somebody names is that person's choice.
    let place = begin();
    place.file("own.toml", PROFILE);
    mode(&place, "own.toml", 0o666);
    assert_eq!(answer(&place, &["--profile", "./own.toml"]).0, Some(0));
    // An access list makes the group's bits mean others.
    let place = begin();
    let list = "import os, struct, sys\n\
        entry = lambda tag, rights, id=0xffffffff: struct.pack('<HHI', tag, rights, id)\n\
        os.setxattr(sys.argv[1], 'system.posix_acl_access', struct.pack('<I', 2) + entry(1, 6) + entry(2, 6, 4242)\n\
            + entry(4, 4) + entry(16, 6) + entry(32, 4))";
    let set = std::process::Command::new("python3")
        .args(["-c", list])
        .arg(place.path("~/.config/stockade/profiles/own.toml"))
        .status();
    match set.unwrap().success() {
        true => refused(&place, own, "own.toml` may be written by other users"),
        false => crate::common::skipped("this file system has no access lists"),
    }
    if !crate::common::is_root() {
        return crate::common::skipped("only root can give a file to another user");
    }
    let profile = "~/.config/stockade/profiles/own.toml";
    let place = begin();
    mode(&place, "~/.config/stockade/profiles", 0o1777);
    assert_eq!(answer(&place, own).0, Some(0));
    chown(place.path(profile), Some(1), None).unwrap();
    refused(&place, own, "own.toml` belongs to another user; set XDG_CONFIG_HOME");
    let place = begin();
    place.file("theirs.toml", PROFILE);
    chown(place.path("theirs.toml"), Some(1), None).unwrap();
    std::fs::remove_file(place.path(profile)).unwrap();
    symlink(place.path("theirs.toml"), place.path(profile)).unwrap();
    refused(&place, own, "own.toml` belongs to another user");
    let place = begin();
    chown(place.path(profile), None, Some(4242)).unwrap();
    mode(&place, profile, 0o664);
    refused(&place, own, "own.toml` may be written by other users");
    let place = begin();
    mode(&place, profile, 0o664);
    assert_eq!(answer(&place, own).0, Some(0), "a group of one's own");
    // Root's number outside of a user namespace is a stranger's where there is none.
    let place = begin();
    chown(place.path(profile), Some(65534), None).unwrap();
    refused(&place, own, "own.toml` belongs to another user");
}

/// A mode that shuts us out is no reason to go on without what stands there.
// promise: stockade.11
#[test]
fn a_configuration_that_cannot_be_looked_into_is_not_taken_for_an_absent_one() {
    use std::os::unix::fs::PermissionsExt;
    const CONFINED: &[&str] = &[
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ];
    let answer = |place: &Place, words: &[&str]| {
        let mut command = match crate::common::is_root() {
            true => {
                let mut command = place.command("setpriv");
                command.args(CONFINED).arg(crate::common::STOCKADE.path());
                command
            }
            false => place.command(crate::common::STOCKADE),
        };
        let finished = crate::common::finish(command.args(words), b"");
        (finished.status.code(), finished.stderr())
    };
    let run: &[&str] = &["run", "--ask", "never", "--", "true"];
    let llm: &[&str] = &["run", "--ask", "never", "--llm", "--", "true"];
    for (name, words) in [
        ("~/.config", run),
        ("~/.config/stockade", run),
        ("~/.config/stockade/config.toml", run),
        ("~/.config/stockade/profiles", run),
        ("~/.config/stockade/models.toml", llm),
    ] {
        let place = Place::new();
        place.file("~/.config/stockade/config.toml", "version = 1\n");
        place.file(
            "~/.config/stockade/models.toml",
            "version = 1\n[[model]]\nname = \"m\"\nhost = [\"m.example\"]\n",
        );
        place.file(
            "~/.config/stockade/profiles/x.toml",
            "version = 1\nname = \"x\"\ndescription = \"x\"\n",
        );
        let mode = |mode| std::fs::set_permissions(place.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(answer(&place, words), (Some(0), String::new()), "{name}");
        mode(0o000);
        let (code, stderr) = answer(&place, words);
        mode(0o700);
        assert_eq!(code, Some(125), "{name}: {stderr}");
        assert!(
            stderr.contains("Permission denied") && stderr.contains(".config"),
            "{name}: {stderr}"
        );
    }
    // Nor is a directory in which closed places may be.
    let place = Place::new();
    place.file("~/.docker/config.json", "x");
    let docker = place.path("~/.docker");
    std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o000)).unwrap();
    let words = ["run", "--ask", "never", "--profile", "trusted", "--", "true"];
    let (code, stderr) = answer(&place, &words);
    std::fs::set_permissions(&docker, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(code == Some(125) && stderr.contains("/.docker`"), "{stderr}");
    assert_eq!(answer(&place, &words).0, Some(0));
}

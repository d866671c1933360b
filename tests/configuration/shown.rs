//! `stockade config show`, `stockade rules list`.

use crate::common::Place;
use crate::configuration::{ALLOW, stockade, told};

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
    // One that isn't there is nobody's.
    let place = Place::new();
    place.file("~/.config/x", "");
    mode(&place.path("~/.config"), 0o777);
    assert_eq!(answer(&place), (Some(0), String::new()));
}

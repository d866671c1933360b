use std::os::unix::fs::symlink;

use super::*;
use stockade::Sandbox;
use stockade_policy::policy::{Role, Scope, scope_glob};
use stockade_policy::profile::{Glob, Origin};

/// A root with some files, and an agent's access there.
struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    fn new() -> Project {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let project = Project { directory };
        for (name, text) in [
            ("src/a.rs", "a"),
            ("docs/b.md", "b"),
            ("dist/c.js", "c"),
            (".env", "KEY=1"),
        ] {
            let path = project.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap()
    }

    fn reachable(&self, role: &Role) -> Reachable {
        let policy = |mode: Mode| {
            let sandbox = Sandbox::profile("workspace").unwrap().root(self.root());
            let role = Role { mode, ..role.clone() };
            sandbox.role(role).policy_of_any_command().unwrap()
        };
        let free = match role.mode {
            Mode::Manual => Mode::AcceptEdits,
            other => other,
        };
        Reachable::new(policy(role.mode), policy(free))
    }

    fn decision(&self, role: &Role, action: Action, path: &str) -> Decision {
        self.reachable(role)
            .path(action, Path::new(path), &self.root())
            .decision
    }
}

fn scope(allowed: Option<&[&str]>, denied: &[&str], read_only: &[&str]) -> Scope {
    let rules = |globs: &[&str]| globs.iter().map(|glob| rule(glob)).collect::<Vec<_>>();
    Scope {
        allowed: allowed.map(rules).into_iter().collect(),
        denied: rules(denied),
        read_only: rules(read_only),
    }
}

fn rule(glob: &str) -> stockade_policy::profile::Rule<Glob> {
    stockade_policy::profile::Rule {
        value: scope_glob(glob).unwrap(),
        why: None,
        origin: Origin::BuiltIn,
    }
}

fn role(mode: Mode, scope: Scope) -> Role {
    Role {
        mode,
        scope,
        ..Role::WHOLE
    }
}

#[test]
fn in_manual_every_change_asks_and_reading_is_free() {
    let (project, manual) = (Project::new(), role(Mode::Manual, Scope::WHOLE));
    assert_eq!(project.decision(&manual, Action::Read, "src/a.rs"), Decision::Allow);
    assert_eq!(project.decision(&manual, Action::Write, "src/a.rs"), Decision::Confirm);
    assert_eq!(
        project.decision(&manual, Action::Write, "src/new.rs"),
        Decision::Confirm
    );
    assert_eq!(project.decision(&manual, Action::Delete, "src/a.rs"), Decision::Confirm);
    assert_eq!(project.decision(&manual, Action::Write, "/etc/hosts"), Decision::Deny);
}

#[test]
fn in_accept_edits_changes_inside_the_scope_are_free_and_outside_they_are_refused() {
    let project = Project::new();
    let worker = role(Mode::AcceptEdits, scope(Some(&["src/**"]), &[], &[]));
    assert_eq!(project.decision(&worker, Action::Write, "src/a.rs"), Decision::Allow);
    assert_eq!(
        project.decision(&worker, Action::Write, "src/deep/new.rs"),
        Decision::Allow
    );
    assert_eq!(project.decision(&worker, Action::Delete, "src/a.rs"), Decision::Allow);
    assert_eq!(project.decision(&worker, Action::Write, "docs/b.md"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Delete, "docs/b.md"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Write, "srcs/x"), Decision::Deny);
    assert_eq!(
        project.decision(&worker, Action::Write, "src/../docs/b.md"),
        Decision::Deny
    );
    assert_eq!(project.decision(&worker, Action::Read, "docs/b.md"), Decision::Allow);
}

#[test]
fn an_empty_list_of_what_is_allowed_allows_no_change() {
    let project = Project::new();
    let worker = role(Mode::AcceptEdits, scope(Some(&[]), &[], &[]));
    assert_eq!(project.decision(&worker, Action::Write, "src/a.rs"), Decision::Deny);
}

#[test]
fn in_bypass_the_scope_does_not_count_and_the_profile_does() {
    let project = Project::new();
    let bypass = role(Mode::Bypass, scope(Some(&["src/**"]), &["docs/**"], &["dist/**"]));
    assert_eq!(project.decision(&bypass, Action::Write, "docs/b.md"), Decision::Allow);
    assert_eq!(project.decision(&bypass, Action::Write, "dist/c.js"), Decision::Allow);
    assert_eq!(project.decision(&bypass, Action::Write, "/etc/hosts"), Decision::Deny);
}

#[test]
fn denied_is_over_read_only_over_allowed_and_reads_obey_denied_alone() {
    let project = Project::new();
    let worker = role(
        Mode::AcceptEdits,
        scope(Some(&["**"]), &["docs/**"], &["dist/**", "docs/**"]),
    );
    assert_eq!(project.decision(&worker, Action::Write, "dist/c.js"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Read, "dist/c.js"), Decision::Allow);
    assert_eq!(project.decision(&worker, Action::Write, "docs/b.md"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Read, "docs/b.md"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Write, "src/a.rs"), Decision::Allow);
    assert_eq!(project.decision(&worker, Action::Write, "new"), Decision::Allow);
}

#[test]
fn a_scope_s_glob_without_a_slash_counts_at_any_depth() {
    let project = Project::new();
    let worker = role(Mode::AcceptEdits, scope(None, &["*.md"], &["*.js"]));
    assert_eq!(project.decision(&worker, Action::Read, "docs/b.md"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Write, "dist/c.js"), Decision::Deny);
}

#[test]
fn what_is_always_denied_is_so_in_every_mode() {
    let project = Project::new();
    fs::create_dir_all(project.root().join("sub/.git")).unwrap();
    for mode in [Mode::Manual, Mode::AcceptEdits, Mode::Bypass] {
        let agent = role(mode, Scope::WHOLE);
        for path in [
            ".env",
            "src/.env.local",
            "secrets/a",
            "src/secrets/b",
            "cert.pem",
            "a.KEY",
            "credentials",
            "credentials.json",
        ] {
            assert_eq!(
                project.decision(&agent, Action::Write, path),
                Decision::Deny,
                "{mode} {path}"
            );
            assert_eq!(
                project.decision(&agent, Action::Read, path),
                Decision::Deny,
                "{mode} {path}"
            );
        }
        for path in [
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/index",
            ".git",
            "sub/.git/HEAD",
        ] {
            assert_eq!(
                project.decision(&agent, Action::Write, path),
                Decision::Deny,
                "{mode} {path}"
            );
            assert_eq!(
                project.decision(&agent, Action::Delete, path),
                Decision::Deny,
                "{mode} {path}"
            );
        }
        assert_eq!(project.decision(&agent, Action::Read, ".git/config"), Decision::Allow);
        for (path, decision) in [
            (".stockade/config.toml", Decision::Deny),
            (".envrc", Decision::Deny),
            // A person may open these, one by one.
            (".vscode/tasks.json", Decision::Confirm),
            ("src/.gdbinit", Decision::Confirm),
            ("sub/.mcp.json", Decision::Confirm),
        ] {
            assert_eq!(project.decision(&agent, Action::Write, path), decision, "{mode} {path}");
        }
    }
}

#[test]
fn names_of_projects_are_free_where_no_project_is() {
    let project = Project::new();
    fs::create_dir_all(project.root().join("sub/.git")).unwrap();
    let agent = role(Mode::AcceptEdits, Scope::WHOLE);
    for path in [
        "src/.vscode/tasks.json",
        "node_modules/x/.claude/x",
        ".claude/worktrees/x/a",
    ] {
        assert_eq!(project.decision(&agent, Action::Write, path), Decision::Allow, "{path}");
    }
    for path in ["sub/.vscode/tasks.json", ".claude/worktrees.json", ".claude/x"] {
        assert_eq!(
            project.decision(&agent, Action::Write, path),
            Decision::Confirm,
            "{path}"
        );
    }
}

#[test]
fn the_capability_is_checked_first_and_named() {
    let project = Project::new();
    let judge = Role {
        capabilities: Capabilities::READ,
        ..role(Mode::Manual, Scope::WHOLE)
    };
    let reachable = project.reachable(&judge);
    for (action, name) in [
        (Action::Write, "WRITE"),
        (Action::Delete, "DELETE"),
        (Action::Execute, "EXECUTE"),
    ] {
        let answer = reachable.path(action, Path::new("/etc/hosts"), &project.root());
        assert_eq!(answer.decision, Decision::Deny);
        assert_eq!(answer.reason, format!("permission denied: {name} capability required"));
    }
    assert_eq!(
        reachable.connect("example.com").reason,
        "permission denied: NET capability required"
    );
    assert_eq!(project.decision(&judge, Action::Read, "src/a.rs"), Decision::Allow);
    let unnamed = without_context(Capabilities::READ);
    assert_eq!(
        (unnamed.decision, unnamed.reason.as_str()),
        (Decision::Deny, "permission denied: READ capability required")
    );
}

#[test]
fn what_a_link_leads_to_is_what_counts() {
    let project = Project::new();
    let root = project.root();
    symlink("../.env", root.join("src/plain")).unwrap();
    symlink("/etc/new", root.join("src/dangling")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/etc", root.join("out")).unwrap();
    let worker = role(Mode::AcceptEdits, Scope::WHOLE);
    assert_eq!(project.decision(&worker, Action::Read, "src/plain"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Write, "src/dangling"), Decision::Deny);
    assert_eq!(
        project.decision(&worker, Action::Delete, "src/dangling"),
        Decision::Allow
    );
    assert_eq!(project.decision(&worker, Action::Read, "loop"), Decision::Deny);
    assert_eq!(project.decision(&worker, Action::Write, "out/hosts"), Decision::Deny);
    assert_eq!(
        project.decision(&worker, Action::Write, "missing/../../x"),
        Decision::Deny
    );
    assert_eq!(
        project.decision(&worker, Action::Write, "./src//./a.rs"),
        Decision::Allow
    );
}

#[test]
fn hosts_are_those_of_the_profile_in_whatever_form_they_are_written() {
    let project = Project::new();
    let reachable = |profile: &str| {
        let sandbox = Sandbox::profile(profile).unwrap().root(project.root());
        let policy = sandbox.policy_of_any_command().unwrap();
        Reachable::new(policy.clone(), policy)
    };
    let api = reachable("network-api");
    assert_eq!(api.connect("api.example.com").decision, Decision::Allow);
    assert_eq!(api.connect("API.Example.COM:443").decision, Decision::Allow);
    for host in [
        "api.example.com:22",
        "example.com",
        "127.0.0.1",
        "",
        "a b",
        "[::1",
        "x:99999",
    ] {
        assert_eq!(api.connect(host).decision, Decision::Deny, "{host}");
    }
    let all = reachable("mcp-standard");
    assert_eq!(all.connect("example.com:22").decision, Decision::Allow);
    for host in [
        "169.254.169.254",
        "169.254.169.254:80",
        "0xa9fea9fe",
        "2852039166",
        "[::ffff:169.254.169.254]:80",
    ] {
        assert_eq!(all.connect(host).decision, Decision::Deny, "{host}");
    }
    assert_eq!(reachable("workspace").connect("example.com").decision, Decision::Deny);
    let sandbox = Sandbox::profile("minimal").unwrap().root(project.root());
    let policy = sandbox.host("localhost:8080").unwrap().policy_of_any_command().unwrap();
    let own = Reachable::new(policy.clone(), policy);
    for host in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "0.0.0.0:8080"] {
        assert_eq!(own.connect(host).decision, Decision::Allow, "{host}");
    }
    assert_eq!(own.connect("localhost:8081").decision, Decision::Deny);
}

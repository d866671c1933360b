//! The files for other people's tools: the development container's feature, the action, the hooks of pre-commit.

use std::fs;
use std::process::Command;

use crate::common::{Finished, Place, STOCKADE, checkout, finish, skipped};

/// Runs the feature's installer, which is the action's too, with these options.
fn install(place: &Place, options: &[(&str, &str)]) -> Finished {
    let script = checkout().join("tools/packaging/devcontainer/src/stockade/install.sh");
    let prefix = place.path("prefix");
    let options = options.iter().copied();
    finish(place.command("sh").arg(script).envs(options).env("PREFIX", prefix), b"")
}

fn has(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        !found.unwrap().status.success()
    });
    if let Some(missing) = missing {
        skipped(&format!("{missing} isn't installed"));
    }
    missing.is_none()
}

#[test]
fn an_archive_is_installed_if_its_hash_is_the_one_that_was_given() {
    if !has(&["curl", "tar", "sha256sum"]) {
        return;
    }
    let place = Place::new();
    place.file("release/stockade-0.1.0/LICENSE-MIT", "");
    fs::copy(STOCKADE.path(), place.path("release/stockade-0.1.0/stockade")).unwrap();
    let make = "tar -C release -cf release.tar stockade-0.1.0 && sha256sum release.tar";
    let made = finish(place.command("sh").args(["-c", make]), b"");
    let hash = made.stdout()[..64].to_string();
    let url = format!("file://{}", place.path("release.tar").display());
    let wrong = "0".repeat(64);
    for options in [&[][..], &[("ARCHIVE", &*url)], &[("ARCHIVE", &url), ("SHA256", &wrong)]] {
        let done = install(&place, options);
        assert!(!done.status.success(), "{options:?}");
        assert!(!place.path("prefix/bin/stockade").exists(), "{options:?}");
    }
    let done = install(&place, &[("ARCHIVE", &url), ("SHA256", &hash)]);
    assert!(done.status.success(), "{}", done.stderr());
    assert!(done.stdout().starts_with("stockade 0."), "{}", done.stdout());
}

/// The `entry` of a hook, split as a shell splits it, with files behind it.
fn run_hook(place: &Place, id: &str, files: &[&str]) -> i32 {
    let manifest = fs::read_to_string(checkout().join(".pre-commit-hooks.yaml")).unwrap();
    let hook = manifest.split("- id: ").find(|hook| hook.starts_with(id)).unwrap();
    let entry = hook.lines().find_map(|line| line.strip_prefix("  entry: ")).unwrap();
    let directory = STOCKADE.path().rsplit_once('/').unwrap().0;
    let mut command = place.command("sh");
    command.args(["-c", &format!("{entry} \"$@\""), "sh"]).args(files);
    command.env("PATH", format!("{directory}:/usr/bin:/bin"));
    finish(&mut command, b"").status.code().unwrap()
}

#[test]
fn the_hooks_of_pre_commit_look_at_each_file() {
    let place = Place::new();
    let profile = |name: &str, rest: &str| {
        let text = format!("version = 1\nname = \"{name}\"\ndescription = \"Reads\"\nextends = \"readonly\"\n{rest}");
        place.file(&format!("profiles/{name}.toml"), text);
    };
    profile(
        "good",
        "[tests]\nmust_allow = [\"read ./data/a\"]\nmust_deny = [\"read ./b\"]\n",
    );
    profile(
        "bad",
        "[[write]]\npath = \"/\"\nwhy = \"all\"\n[tests]\nmust_deny = [\"read ./data/a\"]\n",
    );
    let (good, bad) = ("profiles/good.toml", "profiles/bad.toml");
    for id in ["stockade-profile-lint", "stockade-profile-test"] {
        assert_eq!(run_hook(&place, id, &[good]), 0, "{id}");
        assert_ne!(run_hook(&place, id, &[bad, good]), 0, "{id}");
    }
    place.file("a.txt", "");
    let flags = ["--profile", "filesystem", "--", "cat"];
    assert_eq!(run_hook(&place, "stockade-run", &[&flags[..], &["a.txt"]].concat()), 0);
}

#[test]
fn the_action_runs_what_a_workflow_says_without_pasting_it_into_a_script() {
    let action = fs::read_to_string(checkout().join("action.yml")).unwrap();
    // An expression within a script would let the value end the script's own words.
    let scripts = action.split("run: |\n").skip(1);
    let scripts: Vec<&str> = scripts.map(|rest| rest.split("\n    - ").next().unwrap()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        assert!(!script.contains("${{"), "{script}");
    }
}

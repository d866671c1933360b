//! What a run may remove it may not put something of its own in the place of: what the user's git does afterwards is
//! tried, and does what the run wanted where no run was confined.

use super::running::{prepare, run_bare, run_confined};
use super::twins::repository;
use crate::same_as_bare::twins::installed;

/// For the scripts: a repository whose `git status` runs a command, and the command.
const TOOLS: &str = "evil=\"touch $HOME/../root/done; false\"
repository() { mkdir -p $1; git init -q $1; git -C $1 config core.fsmonitor \"$evil\"; }
bare() { mkdir -p $1; git init -q --bare $1; git -C $1 config core.fsmonitor \"$evil\"; git -C $1 config core.bare false; }
hook() { printf '#!/bin/sh\\n%s\\n' \"$evil\" >$1; chmod +x $1; }
";

struct Attack {
    /// What the user has besides the repository of the tests.
    before: &'static str,
    /// What runs do, one after the other.
    runs: &'static [&'static str],
    /// What the user does then.
    after: &'static str,
}

const ATTACKS: &[Attack] = &[
    Attack {
        before: "git init -q lib",
        runs: &["rm -rf lib; repository lib"],
        after: "git -C lib status",
    },
    Attack {
        before: "git init -q lib",
        runs: &["rm -rf lib/.git", "repository lib"],
        after: "git -C lib status",
    },
    Attack {
        before: "git init -q lib",
        runs: &["rm -rf lib", "ls", "repository other; mv other lib"],
        after: "git -C lib status",
    },
    // A repository above, for one below.
    Attack {
        before: "mkdir vendor; git init -q vendor/lib",
        runs: &["rm -rf vendor/lib/.git; repository vendor"],
        after: "git -C vendor/lib status",
    },
    Attack {
        before: "mkdir vendor; git init -q vendor/lib",
        runs: &["rm vendor/lib/.git/HEAD; repository vendor"],
        after: "git -C vendor/lib status",
    },
    Attack {
        before: "mkdir vendor; git init -q vendor/lib",
        runs: &["rm -rf vendor/lib/.git", "repository vendor"],
        after: "git -C vendor/lib status",
    },
    // A repository in the place of a work tree's part of one.
    Attack {
        before: "git worktree add -q tree",
        runs: &["rm -rf .git/worktrees/tree", "bare .git/worktrees/tree"],
        after: "git -C tree status",
    },
    Attack {
        before: "git worktree add -q tree",
        runs: &["git worktree remove tree; repository tree"],
        after: "git -C tree status",
    },
    // A submodule's place.
    Attack {
        before: "git -c protocol.file.allow=always submodule add -q ../remote.git sub; git commit -q -m sub",
        runs: &["rm -rf sub", "repository sub"],
        after: "git status",
    },
    // A directory that stops to be a repository stays a project.
    Attack {
        before: "git init -q lib",
        runs: &["rm -rf lib/.git", "mkdir lib/.vscode; echo x >lib/.vscode/tasks.json"],
        after: "test ! -e lib/.vscode/tasks.json || touch done",
    },
    // What installed packages hold, where the user cloned one of them.
    Attack {
        before: "mkdir node_modules; git init -q node_modules/lib",
        runs: &["mkdir node_modules/lib/.vscode; echo x >node_modules/lib/.vscode/tasks.json"],
        after: "test ! -e node_modules/lib/.vscode/tasks.json || touch done",
    },
    // Hooks of a repository below, by its configuration.
    Attack {
        before: "git init -q lib; git -C lib config core.hooksPath .githooks",
        runs: &["mkdir lib/.githooks; hook lib/.githooks/pre-commit"],
        after: "git -C lib commit -q --allow-empty -m x",
    },
    Attack {
        before: "git init -q lib; git -C lib config core.hooksPath .husky/_; mkdir -p lib/.husky/_",
        runs: &["hook lib/.husky/_/pre-commit"],
        after: "git -C lib commit -q --allow-empty -m x",
    },
    // Commands that a configuration names in the ways of a shell.
    Attack {
        before: "mkdir tools; git config filter.x.clean '\"$(git rev-parse --show-toplevel)\"/tools/clean'; echo '*.x filter=x' >.gitattributes",
        runs: &["hook tools/clean; echo x >a.x"],
        after: "git add a.x",
    },
    Attack {
        before: "mkdir tools; git config alias.st '!sh tools/st'; git config core.editor \"sh -c './tools/edit \\$1' --\"",
        runs: &["hook tools/st"],
        after: "git st",
    },
    Attack {
        before: "git config remote.origin.url ../remote.git; git init -q --bare inner.git; git config remote.in.url ./inner.git",
        runs: &["mkdir -p inner.git/hooks; hook inner.git/hooks/pre-receive"],
        after: "git push -q in main",
    },
];

fn is_done(attack: &Attack, run: impl Fn(&crate::common::Place, &str) -> crate::common::Finished) -> (bool, String) {
    let place = repository();
    prepare(&place, &format!("{TOOLS}{}", attack.before));
    let ended = attack
        .runs
        .iter()
        .map(|script| run(&place, &format!("{TOOLS}{script}")));
    let told: Vec<String> = ended.map(|finished| finished.stderr()).collect();
    run_bare(&place, attack.after);
    (place.root.join("done").exists(), told.concat())
}

// promise: guarded.12
#[test]
fn what_a_run_removed_is_not_replaced() {
    let mut faults = String::new();
    for attack in ATTACKS {
        let (bare, said) = is_done(attack, run_bare);
        if !bare {
            faults += &format!("{:?} doesn't work unconfined: {said}\n", attack.runs);
        }
        let (confined, said) = is_done(attack, run_confined);
        if confined {
            faults += &format!("{:?} works: {said}\n", attack.runs);
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_mercurial_repository_that_a_run_removed_is_not_replaced() {
    if !installed(&["hg"]) {
        return;
    }
    let attack = Attack {
        before: "hg init lib",
        runs: &[
            "rm -rf lib/.hg",
            "hg init lib; printf \"[hooks]\\npre-status = $evil\\n\" >lib/.hg/hgrc",
        ],
        after: "cd lib; hg status",
    };
    assert!(is_done(&attack, run_bare).0, "it works unconfined");
    let (confined, said) = is_done(&attack, run_confined);
    assert!(!confined, "{said}");
}

/// A run's own repositories may be made again, and those that the user made since are theirs.
#[test]
fn a_run_replaces_what_it_made() {
    let place = repository();
    let ended = run_confined(
        &place,
        "git clone -q . own; rm -rf own; git clone -q . own; git -C own status",
    );
    assert!(ended.status.success(), "{}", ended.stderr());
    prepare(&place, "git init -q lib");
    assert!(run_confined(&place, "rm -rf lib").status.success());
    let ended = run_confined(&place, "git clone -q . lib");
    assert!(!ended.status.success());
    assert!(ended.stderr().contains("lib/.git"), "{}", ended.stderr());
    prepare(&place, "git clone -q . lib");
    let ended = run_confined(&place, "git -C lib commit -q --allow-empty -m x");
    assert!(ended.status.success(), "{}", ended.stderr());
}

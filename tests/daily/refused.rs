//! What changes the configuration: what a run may change, and what it may not, whole and with a line.

use super::table::{Row, as_bare, hold, refused, whole};
use super::twins::{Twins, repository};

const SETTINGS: &[Row] = &[
    as_bare(
        "config user.name",
        "",
        "git config user.name Somebody; git config user.name; git config --unset user.name",
    ),
    refused(
        "config of anything else",
        "",
        "git config pull.rebase true",
        ".git/config",
    ),
    as_bare(
        "remote add",
        "",
        "git remote add fork https://example.com/a.git; git remote -v",
    ),
    refused("config of an alias", "", "git config alias.x '!sh'", ".git/config"),
    refused(
        "config of the hooks' place",
        "",
        "git config core.hooksPath hooks",
        ".git/config",
    ),
    refused(
        "config of a pager, in an editor",
        "",
        "GIT_EDITOR='sed -i s/.core./[core]pager=x/' git config --edit",
        ".git/config",
    ),
    whole("remote remove", "", "git remote remove origin", &[".git/config"]),
    whole("remote rename", "", "git remote rename origin other", &[".git/config"]),
    refused(
        "a hook",
        "",
        "echo '#!/bin/sh' >.git/hooks/pre-commit",
        ".git/hooks/pre-commit",
    ),
    refused(
        "attributes of .git",
        "",
        "mkdir -p .git/info; echo '* filter=x' >.git/info/attributes",
        ".git/info/attributes",
    ),
    refused(
        "alternates",
        "",
        "echo ../../x >.git/objects/info/alternates",
        ".git/objects/info/alternates",
    ),
    whole(
        "a first sparse checkout",
        "",
        "git sparse-checkout set src",
        &[".git/config"],
    ),
    whole(
        "submodule add",
        "git init -q -b main ../lib; git -C ../lib commit -q --allow-empty -m lib; mv ../lib lib",
        "git -c protocol.file.allow=always submodule --quiet add ./lib lib",
        &[".git/"],
    ),
    refused(
        "a .git that another takes the place of",
        "",
        "mv .git .was; git init -q .",
        ".git",
    ),
];

/// A submodule that is checked out.
pub const MODULE: &str = "git init -q -b main ../lib; cd ../lib; echo l >l; git add l; git commit -q -m lib; cd ../root
git -c protocol.file.allow=always submodule -q add ../lib lib; git commit -q -m 'with a submodule'; rm -rf ../lib";

#[test]
fn settings_are_changed_as_bare_or_refused_whole_and_with_a_line() {
    hold(SETTINGS);
}

/// The submodule's own configuration stays as it is, which both git and Stockade say.
#[test]
fn a_submodule_is_given_up_and_the_last_lines_say_what_is_left() {
    let twins = Twins::of(&repository()).prepared(MODULE);
    let tried = twins.run("git submodule deinit -f lib; ls lib; git status --short; git config --get-regexp submodule");
    tried
        .ends_with_lines(&[".git/modules/lib/config"])
        .unwrap_or_else(|fault| panic!("{fault}"));
}

/// Whatever the exit code, and whatever the rule.
#[test]
fn what_git_keeps_closed_is_told_where_a_command_ends_well() {
    for (command, target) in [
        ("echo x >.git/HEAD", ".git/HEAD"),
        ("rm .git/index", ".git/index"),
        ("mkdir .git/modules", ".git/modules"),
        ("mkdir -p new src && mkdir src/.git", "src/.git"),
        (
            "git init -q e; git -C e commit -q --allow-empty -m e; git add e",
            ".git/index",
        ),
    ] {
        let twins = Twins::of(&repository());
        let tried = twins.run(&format!("({command}) || true"));
        tried.ends_with_lines(&[target]).unwrap();
    }
}

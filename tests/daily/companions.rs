//! Tools around git that keep files of their own in `.git` and work through hooks.

use super::running::prepare;
use super::twins::{Twins, repository};
use crate::common::Place;
use crate::programs::support::{missing, prepared};
use crate::same_as_bare::twins::installed;

/// Files that are set up to be tidied at each commit: trailing spaces go, and what holds `broken` is refused.
const TIDY: &str = "#!/bin/sh\nset -e; for file; do sed -i 's/ *$//' \"$file\"; ! grep -n broken \"$file\"; done\n";
/// A file that is staged whole.
const WHOLE: &str = "echo 'let a = 1   ' >>a.js; git add a.js; git commit -q -m whole; git show; git status --short";
/// A file of which one part is staged and the other isn't.
const PARTLY: &str =
    "sed -i '1s/.*/first   /' lines.js; git add lines.js; sed -i '30s/.*/last   /' lines.js; echo loose >>src/b
echo untracked >new.js; git commit -q -m partly; git show; git diff; git status --short; git stash list; cat lines.js";
/// A commit that the hook refuses. The changes are there afterwards.
const BROKEN: &str =
    "echo broken >>a.js; git add a.js; echo loose >>lines.js; ! git commit -q -m broken; git diff; git diff --cached
git status --short; git stash list";

fn project() -> Place {
    let template = repository();
    template.program("tidy", TIDY);
    template.file("a.js", "let b\n");
    template.file("lines.js", (1..=30).map(|n| format!("{n}\n")).collect::<String>());
    template
}

#[test]
fn husky_with_lint_staged_commits_whole_and_partly_staged_files_as_bare() {
    let Some(template) = with_husky() else { return };
    for script in [WHOLE, PARTLY, BROKEN] {
        Twins::of(&template).same(script);
    }
}

#[test]
fn husky_with_lint_staged_goes_on_over_several_runs() {
    let Some(template) = with_husky() else { return };
    let twins = Twins::of(&template);
    for script in [
        WHOLE,
        BROKEN,
        "git restore --staged --worktree a.js",
        PARTLY,
        "git commit -q -a -m rest",
    ] {
        twins.same(script);
    }
}

/// Set up as their documentation says, before any run.
fn with_husky() -> Option<Place> {
    if !installed(&["node", "npm"]) {
        return None;
    }
    let hooks = prepared("STOCKADE_TEST_NPM", "test-npm").join("daily/hooks/node_modules");
    if !hooks.join("lint-staged").exists() {
        missing("lint-staged");
        return None;
    }
    let template = project();
    template.file(
        "package.json",
        r#"{ "name": "daily", "version": "1.0.0", "type": "commonjs", "scripts": { "prepare": "husky" },
            "lint-staged": { "*.js": "./tidy" } }"#,
    );
    template.file(".husky/pre-commit", "node_modules/.bin/lint-staged\n");
    let set_up =
        "echo node_modules >>.gitignore; node_modules/.bin/husky; git add -A; git commit -q -m 'hooks for commits'";
    prepare(
        &template,
        &format!("cp -a {} node_modules; {set_up} --no-verify", hooks.display()),
    );
    Some(template)
}

#[test]
fn pre_commit_tidies_whole_and_partly_staged_files_as_bare() {
    if !installed(&["pre-commit"]) {
        return;
    }
    let template = project();
    let settings = "repos:\n- repo: local\n  hooks:\n  - { id: tidy, name: tidy, entry: ./tidy, language: system, files: '[.]js$' }\n";
    template.file(".pre-commit-config.yaml", settings);
    prepare(
        &template,
        "git add -A; git commit -q -m 'hooks for commits'; pre-commit install",
    );
    let again = "{ git commit -q -m tidied || git add -u; git commit -q -m tidied; } 2>&1 | sed 's/ [^ ]*patch[0-9-]*//'; git show; git status --short";
    for script in [
        "echo 'let a = 1   ' >>a.js; git add a.js; git commit -q -m whole || git diff".to_owned()
            + "; git add a.js; git commit -m whole; git show",
        "sed -i '1s/.*/first/' lines.js; git add lines.js; sed -i '30s/.*/last/' lines.js; echo loose >>src/b
git commit -m partly 2>&1 | sed 's/ [^ ]*patch[0-9-]*//'; git show; git diff; git status --short"
            .to_owned(),
        format!("echo 'first   ' >>a.js; git add a.js; echo loose >>src/b; {again}"),
        BROKEN.replace("-q -m broken", "-m broken 2>/dev/null"),
        "echo 'let c' >>a.js; git commit -a -m all; echo y | git commit --allow-empty -p -m part; git status --short"
            .to_owned(),
        "echo 'let c   ' >>a.js; git commit -a -m all || git commit -a -m again; git show; git status --short"
            .to_owned(),
        "echo 'let c   ' >>a.js; git add a.js; pre-commit run || git diff; pre-commit run --all-files".to_owned(),
    ] {
        Twins::of(&template).same(&script);
    }
}

#[test]
fn large_files_are_kept_as_bare() {
    if !installed(&["git-lfs"]) {
        return;
    }
    let template = repository();
    prepare(
        &template,
        "git lfs install --local >/dev/null; git lfs track '*.bin' >/dev/null; echo large >large.bin; git add -A
git commit -q -m 'a large file'",
    );
    let twins = Twins::of(&template);
    twins.same("echo larger >>large.bin; echo other >other.bin; git add -A; git commit -q -m more; git lfs ls-files; git lfs status");
    twins.same("git switch -q topic; ls; git switch -q main; cat large.bin; git lfs fsck; git stash list");
    twins.same(
        "echo loose >>large.bin; git stash -q; cat large.bin; git stash pop -q; cat large.bin; git lfs track '*.iso'",
    );
    twins.same("git commit -q -a -m loose; git rebase -q --force-rebase HEAD~; git lfs prune; git lfs ls-files");
}

#[test]
fn history_is_filtered_as_bare() {
    if !installed(&["git-filter-repo"]) {
        return;
    }
    let script = "git filter-repo --force --quiet --path src --path a >/dev/null; git log --oneline --all; ls; git status --short";
    Twins::of(&repository())
        .prepared("git remote remove origin")
        .same(script);
    Twins::of(&repository()).same(&script.replace("--force", "--force --partial"));
}

#[test]
fn stacks_of_patches_are_kept_as_bare() {
    if !installed(&["stg"]) {
        return;
    }
    let twins = Twins::of(&repository());
    for script in [
        "stg init; stg new -m one one; echo x >>a; stg refresh; stg series",
        "stg new -m two two; echo y >>src/b; stg refresh; stg pop; stg push; stg series; stg pop -a; stg push -a",
        "stg delete two; stg commit -a; git log --format='%s %T'; git status --short; git fsck --no-progress",
    ] {
        let tried = twins.run(script);
        let same = tried.succeeds_bare().and_then(|()| tried.says_as_bare());
        same.unwrap_or_else(|fault| panic!("`{script}`\n{fault}"));
    }
}

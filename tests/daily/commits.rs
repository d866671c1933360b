//! Commits, with hooks that use the index and hooks that don't.

use super::table::{Row, as_bare, hold};

const WITH_HOOKS: &[Row] = &[
    as_bare(
        "commit -a with a hook that writes the tree",
        "hook pre-commit <<'H'\n#!/bin/sh\ngit write-tree\nH",
        "echo x >>a; git commit -q -a -m next",
    ),
    as_bare(
        "commit -a with a hook that adds a file",
        "hook pre-commit <<'H'\n#!/bin/sh\necho made >made; git add made\nH",
        "echo x >>a; git commit -q -a -m next",
    ),
    as_bare(
        "commit -a with a hook that stashes",
        "hook pre-commit <<'H'\n#!/bin/sh\nset -e; test -n \"$(git stash create)\"\nH",
        "echo x >>a; git commit -q -a -m next",
    ),
    as_bare(
        "commit -a with a hook that tidies and adds again",
        "hook pre-commit <<'H'\n#!/bin/sh\nsed -i 's/ *$//' a; git add a\nH",
        "echo 'x   ' >>a; git commit -q -a -m next; git show",
    ),
    as_bare(
        "commit -a with git's own sample hook",
        "hook pre-commit <<'H'\n#!/bin/sh\nexec git diff-index --check --cached HEAD --\nH",
        "echo 'x   ' >>a; git commit -q -a -m next || echo refused by the hook; git diff --cached --stat",
    ),
    as_bare(
        "commit -a with a hook that hides what isn't staged",
        "hook pre-commit <<'H'\n#!/bin/sh\nset -e; git diff --binary --output .git/unstaged.patch; git checkout -q -- .
test ! -s .git/unstaged.patch || git apply .git/unstaged.patch; rm .git/unstaged.patch\nH
echo staged >>a; git add a; echo unstaged >>a",
        "git commit -q -m next; cat a; git diff",
    ),
    as_bare(
        "commit -p",
        "sed -i '1s/.*/first/; 30s/.*/last/' src/lines",
        "printf 'y\\nn\\n' | git commit -p -m next; git diff",
    ),
    as_bare(
        "commit -p with a hook that tidies and adds again",
        "sed -i '1s/.*/first   /' src/lines
hook pre-commit <<'H'\n#!/bin/sh\nsed -i 's/ *$//' src/lines; git add src/lines\nH",
        "echo y | git commit -p -m next; git show",
    ),
    as_bare(
        "commit of a path with a hook that writes the tree",
        "hook pre-commit <<'H'\n#!/bin/sh\ngit write-tree; git add -u\nH",
        "echo x >>a; echo y >>src/b; git commit -q -m next a",
    ),
    as_bare(
        "commit --amend with a hook that adds",
        "hook pre-commit <<'H'\n#!/bin/sh\ngit add -A\nH",
        "echo x >>a; git commit -q -a --amend --no-edit",
    ),
    as_bare(
        "commit with a hook that refuses",
        "hook pre-commit <<'H'\n#!/bin/sh\necho no >&2; exit 3\nH",
        "echo x >>a; git add a; git commit -q -m next || echo refused by the hook",
    ),
    as_bare(
        "commit with a hook afterwards that leaves a note in .git",
        "hook post-commit <<'H'\n#!/bin/sh\ngit rev-parse HEAD >.git/last-commit; mkdir -p .git/mine; date -d @0 >.git/mine/seen\nH",
        "echo x >>a; git commit -q -a -m next; cat .git/last-commit",
    ),
];

const PLAIN: &[Row] = &[
    as_bare(
        "add and commit",
        "",
        "echo new >new; mkdir d; echo q >d/q; git add -A; git commit -m next",
    ),
    as_bare("commit --allow-empty -s", "", "git commit -q --allow-empty -s -m empty"),
    as_bare(
        "commit -F -, verbose and dry",
        "echo x >>a",
        "git commit --dry-run -v -a || true; echo told | git commit -q -a -F -",
    ),
    as_bare(
        "commit --fixup and rebase --autosquash",
        "echo x >>src/b",
        "git commit -q -a --fixup HEAD; GIT_SEQUENCE_EDITOR=: git rebase -q -i --autosquash HEAD~2",
    ),
    as_bare(
        "an index of one's own in .git",
        "",
        "export GIT_INDEX_FILE=.git/foo; git read-tree HEAD; echo x >>a; git add a; git commit-tree -p HEAD -m x $(git write-tree)",
    ),
    as_bare(
        "update-index in its forms",
        "touch -d 2001-01-01 a src/b",
        "git update-index --refresh; git update-index --assume-unchanged a; git update-index --skip-worktree src/b; git ls-files -v",
    ),
    as_bare(
        "a split index",
        "",
        "git update-index --split-index; echo x >>a; git add a; git commit -q -m next; git update-index --no-split-index",
    ),
    as_bare(
        "add -p",
        "sed -i '1s/.*/first/; 30s/.*/last/' src/lines",
        "printf 'n\\ny\\n' | git add -p; git diff --cached; git diff",
    ),
    as_bare(
        "add -p with an edited hunk",
        "sed -i '1s/.*/first/' src/lines",
        "printf 'e\\n' | GIT_EDITOR='sed -i s/+first/+FIRST/' git add -p; git diff --cached",
    ),
    as_bare(
        "add -e and add -N",
        "echo x >>a; echo new >new",
        "git add -N new; GIT_EDITOR='sed -i s/+x/+y/' git add -e a; git diff --cached; git diff",
    ),
    as_bare(
        "mv",
        "",
        "git mv a renamed; git mv src other; git commit -q -m moved; ls",
    ),
    as_bare(
        "rm",
        "",
        "git rm -q a; git rm -q --cached src/b; git status --short; git commit -q -m removed; ls src",
    ),
    as_bare(
        "what git ignores here alone",
        "echo x >private",
        "echo private >>.git/info/exclude; git status --short; git check-ignore -v private",
    ),
];

#[test]
fn commits_with_hooks_end_as_bare() {
    hold(WITH_HOOKS);
}

#[test]
fn adding_and_committing_ends_as_bare() {
    hold(PLAIN);
}

//! Messages: whoever writes them, an editor or a hook, may put a new file in the place of the old one.

use super::table::{Row, as_bare, hold};
use crate::same_as_bare::twins::installed;

/// As vim does with `backup` and without `writebackup`'s shortcut: tries whether it may make files, keeps a swap file, renames
/// the old text and writes a new one.
const LIKE_VIM: &str = "program .git/editor <<'H'
#!/bin/sh\nset -e; d=$(dirname \"$1\"); n=$(basename \"$1\")
: >\"$d/4913\"; rm \"$d/4913\"; echo swap >\"$d/.$n.swp\"; mv \"$1\" \"$1~\"; { echo typed; cat \"$1~\"; } >\"$1\"
rm \"$1~\" \"$d/.$n.swp\"\nH
";

const EDITORS: &[Row] = &[
    as_bare(
        "commit with sed -i",
        "",
        "echo x >>a; GIT_EDITOR='sed -i 1s/^/typed/' git commit -q -a",
    ),
    as_bare(
        "commit with an editor like vim",
        LIKE_VIM,
        "echo x >>a; GIT_EDITOR=.git/editor git commit -q -a",
    ),
    as_bare(
        "commit with an editor that keeps a backup",
        "program .git/editor <<'H'\n#!/bin/sh\ncp \"$1\" \"$1~\"; echo typed >\"$1\"\nH",
        "echo x >>a; GIT_EDITOR=.git/editor git commit -q -a; ls .git",
    ),
    as_bare(
        "commit with an editor that writes beside and renames",
        "program .git/editor <<'H'\n#!/bin/sh\nset -e; n=$(mktemp \"$1.XXXXXX\"); echo typed >\"$n\"; mv \"$n\" \"$1\"\nH",
        "echo x >>a; GIT_EDITOR=.git/editor git commit -q -a -v",
    ),
    as_bare(
        "commit --amend in an editor",
        "",
        "GIT_EDITOR='sed -i 1s/^/typed/' git commit -q --amend",
    ),
    as_bare(
        "tag -a in an editor",
        "",
        "GIT_EDITOR='sed -i 1s/^/typed/' git tag -a v2; git cat-file -p v2",
    ),
    as_bare(
        "tag -a -m, forced",
        "",
        "git tag -a -m noted v2; git tag -f -a -m again v2 HEAD~",
    ),
    as_bare(
        "notes in an editor",
        "git notes add -m one",
        "GIT_EDITOR='sed -i 1s/^/typed/' git notes edit; git notes append -m two; git notes show; git notes copy HEAD HEAD~",
    ),
    as_bare(
        "notes that are merged and removed",
        "git notes add -m one; git notes --ref other add -m two",
        "git notes merge -q -s union other; git notes show; git notes remove; git notes prune; git notes list",
    ),
    as_bare(
        "merge in an editor",
        "",
        "GIT_EDITOR='sed -i 1s/^/typed/' git merge -q --no-ff --edit topic",
    ),
    as_bare(
        "rebase -i with reword",
        "git switch -q topic",
        "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/reword/' GIT_EDITOR='sed -i 1s/^/typed/' git rebase -q -i main",
    ),
    as_bare(
        "rebase -i with squash, in an editor like vim",
        LIKE_VIM,
        "git switch -q topic; GIT_SEQUENCE_EDITOR='sed -i 2s/pick/squash/' GIT_EDITOR=$PWD/.git/editor git rebase -q -i main",
    ),
    as_bare(
        "replace --edit",
        "",
        "GIT_EDITOR='sed -i s/third/typed/' git replace --edit HEAD; git log --format=%s; git replace -l",
    ),
];

const HOOKS: &[Row] = &[
    as_bare(
        "commit --trailer",
        "",
        "echo x >>a; git commit -q -a -m next --trailer 'Reviewed-by: Ann'",
    ),
    as_bare(
        "commit with a hook that adds a trailer",
        "hook commit-msg <<'H'\n#!/bin/sh\ngit interpret-trailers --in-place --trailer 'Change-Id: 1' \"$1\"\nH",
        "echo x >>a; git commit -q -a -m next",
    ),
    as_bare(
        "commit with a commit-msg hook that uses sed -i",
        "hook commit-msg <<'H'\n#!/bin/sh\nsed -i 's/^/[x] /' \"$1\"\nH",
        "echo x >>a; git commit -q -a -m next; git commit -q --amend -m again",
    ),
    as_bare(
        "commit with a hook that writes the message beside and renames",
        "hook commit-msg <<'H'\n#!/bin/sh\nset -e; awk '{ print \"[x]\", $0 }' \"$1\" >\"$1.new\"; mv \"$1.new\" \"$1\"\nH",
        "echo x >>a; git commit -q -a -m next",
    ),
    as_bare(
        "commit with a hook that prepares the message",
        "hook prepare-commit-msg <<'H'\n#!/bin/sh\nsed -i \"1s/^/$(git symbolic-ref --short HEAD): /\" \"$1\"\nH",
        "echo x >>a; git commit -q -a -m next; git merge -q --no-edit topic; git cherry-pick -n topic~ || true",
    ),
    as_bare(
        "commit with a commit-msg hook that refuses",
        "hook commit-msg <<'H'\n#!/bin/sh\ngrep -q '^JIRA' \"$1\" || { echo no ticket; exit 1; }\nH",
        "echo x >>a; git commit -q -a -m next || git commit -q -a -m JIRA-1",
    ),
];

const VIM: &[Row] = &[
    as_bare(
        "commit in vim",
        "echo x >>a",
        "GIT_EDITOR='vim -N -u NONE -i NONE --not-a-term -c s/^/typed/ -c wq >/dev/null 2>&1' git commit -q -a; ls -A .git",
    ),
    as_bare(
        "commit in vim with backups beside the file",
        "echo x >>a",
        "GIT_EDITOR='vim -N -u NONE -i NONE --not-a-term --cmd set\\ backup\\ bdir=. -c s/^/typed/ -c wq >/dev/null 2>&1' \\
git commit -q -a; ls -A .git",
    ),
    as_bare(
        "rebase -i with reword in vim",
        "git switch -q topic",
        "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/reword/' \\
GIT_EDITOR='vim -N -u NONE -i NONE --not-a-term -c s/^/typed/ -c wq >/dev/null 2>&1' git rebase -q -i main; ls -A .git",
    ),
];

#[test]
fn messages_from_editors_end_as_bare() {
    hold(EDITORS);
}

#[test]
fn messages_from_hooks_end_as_bare() {
    hold(HOOKS);
}

#[test]
fn messages_from_vim_end_as_bare() {
    if installed(&["vim"]) {
        hold(VIM);
    }
}

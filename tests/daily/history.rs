//! History that is rewritten: rebase in its forms, cherry-pick, revert, patches.

use super::table::{Row, as_bare, hold};

const REBASES: &[Row] = &[
    as_bare("rebase", "git switch -q topic", "git rebase main; git log --oneline"),
    as_bare("rebase --apply", "git switch -q topic", "git rebase -q --apply main"),
    as_bare(
        "rebase --apply with a conflict, aborted",
        "git switch -q topic; echo other >>a; git commit -q -a -m other; git switch -q main; echo mine >>a
git commit -q -a -m mine; git switch -q topic",
        "git rebase --apply main || git status; git rebase --abort; git status",
    ),
    as_bare(
        "rebase --apply with a conflict, resolved",
        "git switch -q topic; echo other >>a; git commit -q -a -m other; git switch -q main; echo mine >>a
git commit -q -a -m mine; git switch -q topic",
        "git rebase --apply main || echo both >a; git add a; git rebase --continue; git log --oneline",
    ),
    as_bare(
        "rebase with a conflict, resolved",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other",
        "git rebase main || echo both >src/b; git add src/b; GIT_EDITOR=: git rebase --continue; git log --oneline",
    ),
    as_bare(
        "rebase with a conflict, skipped",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other",
        "git rebase main || git rebase --skip; git log --oneline",
    ),
    as_bare(
        "rebase with a conflict, aborted",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other",
        "git rebase main || git rebase --abort; git log --oneline",
    ),
    as_bare(
        "rebase --autostash",
        "git switch -q topic; echo loose >>a",
        "git rebase --autostash main; git diff",
    ),
    as_bare(
        "rebase --onto",
        "",
        "git rebase -q --onto main v1 topic; git log --oneline",
    ),
    as_bare(
        "rebase --root -x",
        "",
        "git rebase -q --root -x 'ls >seen.log'; cat seen.log",
    ),
    as_bare(
        "rebase --rebase-merges",
        "git merge -q --no-ff -m merged topic; git commit -q --allow-empty -m top",
        "git rebase -q --rebase-merges --force-rebase v1; git log --oneline --graph",
    ),
    as_bare(
        "rebase --update-refs",
        "git branch middle topic~; git switch -q topic",
        "git rebase -q --update-refs main; git log --oneline middle",
    ),
    as_bare(
        "rebase -i with fixup, drop and edit",
        "git switch -q topic; for n in 1 2 3; do echo $n >n$n; git add n$n; git commit -q -m n$n; done",
        "GIT_SEQUENCE_EDITOR='sed -i -e 2s/pick/fixup/ -e 3s/pick/drop/ -e 4s/pick/edit/' git rebase -i main
echo more >n2; git add n2; git commit -q --amend --no-edit; git rebase --continue; git log --stat --oneline",
    ),
    as_bare(
        "rebase with hooks",
        "hook post-rewrite <<'H'\n#!/bin/sh\ncat >.git/rewritten\nH
hook pre-rebase <<'H'\n#!/bin/sh\necho \"$@\" >.git/from\nH
git switch -q topic",
        "git rebase -q main; cat .git/rewritten .git/from",
    ),
];

const PICKED: &[Row] = &[
    as_bare("cherry-pick", "", "git cherry-pick -x topic~; git log --oneline"),
    as_bare(
        "cherry-pick of a range",
        "",
        "git cherry-pick main..topic; git log --oneline",
    ),
    as_bare(
        "cherry-pick with a conflict, resolved",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main",
        "git cherry-pick topic || echo both >src/b; git add src/b; GIT_EDITOR=: git cherry-pick --continue; git log --oneline",
    ),
    as_bare(
        "cherry-pick with a conflict, aborted",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main",
        "git cherry-pick main..topic || git cherry-pick --abort; git status",
    ),
    as_bare(
        "revert",
        "",
        "git revert --no-edit HEAD; git revert -n HEAD; git revert --quit; git status --short",
    ),
    as_bare(
        "revert of some",
        "",
        "git revert --no-edit HEAD~2..HEAD; git log --oneline",
    ),
    as_bare(
        "format-patch and am",
        "",
        "git format-patch -q -o out main..topic; ls out; git am -q out/*.patch; git log --oneline",
    ),
    as_bare(
        "am with a conflict",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main
git format-patch -q -o out topic~2..topic",
        "git am -3 out/*.patch || git status; git am --show-current-patch=diff >/dev/null; git am --abort; git status",
    ),
    as_bare(
        "am with a conflict, resolved",
        "git switch -q topic; echo other >>src/b; git commit -q -a -m other; git switch -q main
git format-patch -q -o out topic~..topic",
        "git am -3 -s out/*.patch || echo both >src/b; git add src/b; git am --continue; git log -1",
    ),
    as_bare(
        "apply in its forms",
        "git diff main topic >../root/p.log",
        "git apply --check p.log; git apply --index p.log; git status --short; git apply -R --3way p.log; git status --short",
    ),
    as_bare(
        "reset --hard",
        "echo x >>a",
        "git reset --hard HEAD~; git reset --hard ORIG_HEAD; git reflog",
    ),
    as_bare(
        "reset --soft and --mixed",
        "echo x >>a",
        "git reset -q --soft HEAD~; git status --short; git reset -q --mixed HEAD~; git status --short",
    ),
    as_bare(
        "reset --keep, --merge and -p",
        "echo x >>src/lines",
        "git reset -q --keep HEAD~; git add -u; echo y | git reset -p; git reset -q --merge",
    ),
    as_bare(
        "replace",
        "",
        "git replace HEAD HEAD~; git log --oneline; git replace -d $(git rev-parse HEAD)",
    ),
    as_bare(
        "replace --graft",
        "",
        "git replace --graft HEAD topic; git log --oneline --graph",
    ),
    as_bare(
        "filter-branch",
        "",
        "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch --msg-filter 'sed s/^/x/' HEAD >/dev/null; git log --format=%s",
    ),
    as_bare(
        "bisect run",
        "for n in 1 2 3 4 5; do echo $n >>n; git add n; git commit -q -m n$n; done",
        "git bisect start HEAD v1 >/dev/null; git bisect run sh -c '! grep -q 3 n' | grep 'first bad'; git bisect log; git bisect reset",
    ),
    as_bare(
        "bisect by hand, with terms",
        "for n in 1 2 3 4 5; do echo $n >>n; git add n; git commit -q -m n$n; done",
        "git bisect start --term-new slow --term-old fast; git bisect slow; git bisect fast v1; git bisect skip; git bisect visualize --oneline; git bisect reset",
    ),
];

#[test]
fn rebases_end_as_bare() {
    hold(REBASES);
}

#[test]
fn picked_and_patched_commits_end_as_bare() {
    hold(PICKED);
}

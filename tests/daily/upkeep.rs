//! Packing, checking, exporting.

use super::table::{Row, as_bare, hold};

const UPKEEP: &[Row] = &[
    as_bare("gc", "", "git gc --quiet; git count-objects -v; git log --oneline"),
    as_bare(
        "gc --prune=now",
        "git branch -q -D topic",
        "git gc --quiet --prune=now; git count-objects -v",
    ),
    as_bare("gc --auto", "git config gc.auto 1", "git gc --auto --quiet; git status"),
    as_bare(
        "repack -ad",
        "git gc --quiet; echo x >>a; git commit -q -a -m x",
        "git repack -q -a -d; git count-objects -v",
    ),
    as_bare(
        "repack with bitmaps and a multi-pack-index",
        "",
        "git repack -q -a -d -b; git multi-pack-index write; git multi-pack-index verify; git repack -q -A -d",
    ),
    as_bare(
        "prune",
        "git reset -q --hard HEAD~; git reflog expire --expire=all --all",
        "git prune -v --expire=now; git prune-packed",
    ),
    as_bare(
        "pack-refs",
        "",
        "git pack-refs --all; cat .git/packed-refs; git branch other; git branch -d other",
    ),
    as_bare(
        "reflog",
        "",
        "git reflog; git reflog expire --expire=now --all; git reflog; git reflog delete HEAD@{0} || true",
    ),
    as_bare(
        "commit-graph",
        "",
        "git commit-graph write --reachable; git commit-graph verify; git commit-graph write --reachable --split",
    ),
    as_bare(
        "maintenance run",
        "",
        "git maintenance run --quiet; git maintenance run --quiet --task=loose-objects --task=incremental-repack",
    ),
    as_bare(
        "fsck",
        "git branch -q -D topic; git reflog expire --expire=all --all",
        "git fsck --no-progress | sort",
    ),
    as_bare(
        "fsck --lost-found",
        "git branch -q -D topic; git reflog expire --expire=all --all",
        "git fsck --no-progress --lost-found | sort; ls .git/lost-found/*",
    ),
    as_bare(
        "archive and bundle",
        "",
        "git archive -o a.tar HEAD; tar tf a.tar; git bundle create -q all.bundle --all; git bundle verify -q all.bundle; git fetch -q all.bundle topic:fetched",
    ),
    as_bare(
        "fast-export",
        "",
        "git fast-export --all | tee export.log | git fast-import --quiet --force; git fast-export --import-marks-if-exists=.git/marks --export-marks=.git/marks HEAD >/dev/null; cat .git/marks",
    ),
    as_bare(
        "update-server-info and pack-objects",
        "",
        "git update-server-info; git rev-list --objects --all | git pack-objects -q ../root/p.log; ls",
    ),
    as_bare(
        "an attribute of the repository's files",
        "",
        "echo '*.bin binary' >>.gitattributes; git add -A; git commit -q -m attributes; git check-attr -a x.bin",
    ),
];

#[test]
fn upkeep_ends_as_bare() {
    hold(UPKEEP);
}

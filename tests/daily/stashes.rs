//! Changes that are put away and brought back.

use super::table::{Row, as_bare, hold};
use super::twins::{Twins, repository};

const LOOSE: &str =
    "echo loose >>a; echo staged >>src/b; git add src/b; echo untracked >new; mkdir -p build; echo o >build/o";

const STASHES: &[Row] = &[
    as_bare(
        "stash and pop",
        LOOSE,
        "git stash; git status --short; git stash list; git stash pop",
    ),
    as_bare("stash pop --index", LOOSE, "git stash -q; git stash pop --index"),
    as_bare(
        "stash -u",
        LOOSE,
        "git stash push -u -m put-away; ls; git stash show -u; git stash pop; ls",
    ),
    as_bare("stash -a", LOOSE, "git stash -a; ls; git stash pop -q; ls build"),
    as_bare(
        "stash --keep-index",
        LOOSE,
        "git stash --keep-index; git diff HEAD; git stash apply || true; git stash list",
    ),
    as_bare(
        "stash --staged",
        LOOSE,
        "git stash --staged; git status --short; git stash pop",
    ),
    as_bare(
        "stash of a path",
        LOOSE,
        "git stash push -q a; git status --short; git stash show -p; git stash pop -q",
    ),
    as_bare(
        "stash -p",
        LOOSE,
        "printf 'y\\nn\\n' | git stash -p; git status --short",
    ),
    as_bare(
        "stash apply and drop",
        LOOSE,
        "git stash -q; git stash apply; git stash drop -q; git stash list",
    ),
    as_bare(
        "stash branch",
        LOOSE,
        "git stash -q; git stash branch other; git status",
    ),
    as_bare(
        "stash clear",
        "echo 1 >>a; git stash -q; echo 2 >>a; git stash -q",
        "git stash list; git stash clear; git stash list",
    ),
    as_bare(
        "stash create and store",
        LOOSE,
        "git stash store -m kept $(git stash create); git stash list",
    ),
    as_bare(
        "stash pop with a conflict",
        LOOSE,
        "git stash -q; echo other >>a; git commit -q -a -m other; git stash pop || git status; git checkout -q HEAD -- a; git stash drop",
    ),
    as_bare(
        "stash with nothing to put away",
        "",
        "git stash; git stash pop || echo nothing",
    ),
];

#[test]
fn stashes_end_as_bare() {
    hold(STASHES);
}

#[test]
fn a_failure_after_a_stash_is_not_laid_to_a_refusal() {
    let twins = Twins::of(&repository());
    let tried = twins.run("echo loose >>a; git stash -q; git stash pop -q; exit 3");
    tried.is_as_bare().unwrap();
}

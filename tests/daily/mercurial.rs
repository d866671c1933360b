//! Mercurial, in a user's own repository.

use super::running::prepare;
use super::twins::Twins;
use crate::common::Place;
use crate::same_as_bare::twins::installed;

/// Commits that have the same names in both runs.
const FIXED: &str = "export HGUSER='Ann <ann@example.org>' HGPLAIN=1
commit() { hg commit -d '0 0' \"$@\"; }
";

/// Caches and what holds times and inode numbers.
const LOOSE: &[&str] = &[
    ".hg/dirstate*",
    ".hg/cache/*",
    ".hg/wcache/*",
    ".hg/undo*",
    ".hg/store/undo*",
    ".hg/store/fncache",
    ".hg/branch",
];
const NAMED_BY_TIMES: &[&str] = &[".hg/wcache/*", ".hg/cache/*"];

fn twins() -> Twins {
    let template = Place::new();
    prepare(
        &template,
        &format!(
            "set -e\n{FIXED}hg init .; printf '[extensions]\\nshelve =\\nrebase =\\nstrip =\\n' >>.hg/hgrc
echo one >a; mkdir src; echo b >src/b; hg -q add; commit -m first; echo two >>a; commit -m second
hg -q bookmark topic; echo topic >topic; hg -q add topic; commit -m topic; hg -q update 1; hg -q bookmark main
echo third >>src/b; commit -m third; hg init -q ../other; hg -q push -B main ../other; printf '[paths]\\ndefault = ../other\\n' >>.hg/hgrc"
        ),
    );
    Twins::of(&template).loosely(LOOSE).ignoring(NAMED_BY_TIMES)
}

#[test]
fn mercurial_commits_bookmarks_and_updates_as_bare() {
    if !installed(&["hg"]) {
        return;
    }
    let twins = twins();
    for script in [
        "hg status; hg log -G; hg summary; hg diff -c .; hg annotate a",
        "echo x >>a; echo new >new; hg -q add new; commit -m next; hg mv new moved; hg rm topic || true; commit -m moved",
        "hg bookmark other; hg -q update topic; ls; hg -q update other; hg bookmark -d other; hg branch side; commit -m side; hg branches",
        "echo loose >>a; hg revert -C --no-backup a; hg tag -d '0 0' v1; hg tags; hg -q update -C main; hg status",
        "hg phase -r .; hg push -q -f --new-branch || true; hg pull -q; hg incoming || true; hg verify -q; hg recover || true",
    ] {
        twins.same(&format!("{FIXED}{script}"));
    }
}

#[test]
fn mercurial_shelves_and_merges_as_bare() {
    over_several_runs(&[
        &[
            "echo loose >>a; hg shelve --date '0 0' -n kept; hg shelve -l; cat a",
            "hg unshelve kept; cat a; hg status",
        ],
        &["hg -q merge topic; commit -m merged; hg log -G"],
        &["hg graft -q topic; hg log -G", "commit --amend -m again; hg log -G"],
        &[
            "hg bisect -r; hg bisect -b; hg bisect -g 0; hg bisect -r",
            "hg export . | hg import -q --no-commit - || true; hg status",
        ],
    ]);
}

#[test]
fn mercurial_rebases_as_bare() {
    const CONFLICT: &str =
        "hg -q update topic; echo other >>src/b; commit -m other; ! hg rebase -q -d main -t :fail; hg resolve -l";
    over_several_runs(&[
        &[
            "hg rebase -q -s topic -d main; hg log -G",
            "hg strip -q --no-backup tip; hg log -G",
        ],
        &[
            CONFLICT,
            "echo both >src/b; hg resolve -q -m src/b; hg rebase -q --continue; hg log -G",
        ],
        &[CONFLICT, "hg rebase -q --abort; hg status; hg log -G"],
    ]);
}

/// Each list of scripts is for a repository of its own, each script a run.
fn over_several_runs(lists: &[&[&str]]) {
    if !installed(&["hg"]) {
        return;
    }
    for scripts in lists {
        let twins = twins();
        for script in *scripts {
            twins.same(&format!("{FIXED}{script}"));
        }
    }
}

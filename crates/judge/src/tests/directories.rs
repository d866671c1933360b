//! `cd` is free inside the root.

use super::Decision::{Allow, Confirm};
use super::*;
use std::os::unix::fs::symlink;

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("root");
    std::fs::create_dir_all(root.join("src/deep")).unwrap();
    std::fs::create_dir(place.path().join("beside")).unwrap();
    symlink("/", root.join("out")).unwrap();
    symlink("src/deep", root.join("in")).unwrap();
    symlink("/nowhere/at/all", root.join("dangling")).unwrap();
    (place, root)
}

#[track_caller]
fn decides_in(rules: &[&str], cwd: &str, lines: &[(&str, Decision)]) {
    let (_place, root) = place();
    let judge = Judge::new(permissions(rules), Vec::new(), &root);
    for (text, decision) in lines {
        let text = text.replace("@", root.to_str().unwrap());
        let answer = judge.tool(None, &line(&text), &root.join(cwd));
        assert_eq!(answer.decision, *decision, "{text}: {answer:?}");
    }
}

#[test]
fn cd_is_allowed_where_the_target_stays_inside_the_root_and_otherwise_confirmed() {
    decides_in(
        &[],
        "",
        &[
            ("cd src", Allow),
            ("cd ./src/deep", Allow),
            ("cd src/..", Allow),
            ("cd @/src", Allow),
            ("cd .", Allow),
            ("cd -- src", Allow),
            ("cd in", Allow),
            ("cd src && ls", Allow),
            ("cd ..", Confirm),
            ("cd /", Confirm),
            ("cd @/../beside", Confirm),
            ("cd src/../..", Confirm),
            ("cd out", Confirm),
            ("cd out/tmp", Confirm),
            ("cd in/../..", Confirm),
            ("cd dangling", Confirm),
            ("cd missing", Confirm),
            ("cd", Confirm),
            ("cd -", Confirm),
            ("cd -P src", Confirm),
            ("cd ''", Confirm),
            ("cd ~", Confirm),
            ("cd '~'", Confirm),
            ("cd src x", Confirm),
            ("cd src > x", Confirm),
            ("cd $X", Confirm),
        ],
    );
}

#[test]
fn a_cd_changes_what_later_ones_mean() {
    decides_in(
        &["+bash:mkdir", "+bash:make", "+bash:export"],
        "",
        &[
            ("cd src && cd ..", Confirm),
            ("cd src && cd deep", Confirm),
            ("cd src/deep && cd ../deep", Confirm),
            ("mkdir build && cd build", Allow),
            ("mkdir dangling && cd dangling", Confirm),
            ("mkdir out/x && cd out/x", Confirm),
            ("export CDPATH=/ && cd src", Confirm),
        ],
    );
    decides_in(
        &[],
        "src",
        &[("cd deep", Allow), ("cd ..", Allow), ("cd ../..", Confirm)],
    );
    decides_in(&[], "..", &[("cd beside", Confirm), ("cd root", Allow)]);
}

#[test]
fn a_cd_is_free_only_behind_what_leaves_the_directories_as_they_are() {
    decides_in(
        &[
            "+bash:git checkout",
            "+bash:ln",
            "+bash:make",
            "+bash:mv",
            "+bash:tar",
            "+bash:echo",
            "+bash:mkdir",
        ],
        "",
        &[
            ("git checkout -q evil && cd src && pwd", Confirm),
            ("ln -sfn /tmp src && cd src && make", Confirm),
            ("ln -sfn /tmp src; cd ./src", Confirm),
            ("ln -sfn /tmp src & cd @/src", Confirm),
            ("ls && mv out src; cd src", Confirm),
            ("make && cd src", Confirm),
            ("tar xf a.tar && cd src && make", Confirm),
            ("cd src && make", Allow),
            ("ls -l && cd src && make", Allow),
            ("git --no-pager status -sb && cd src", Allow),
            ("echo x; cd src; ls", Allow),
            ("cd src; make; cd deep", Confirm),
        ],
    );
}

#[test]
fn only_a_glob_that_spells_it_allows_another_cd() {
    decides_in(
        &["+bash:cd", "+bash~cd *", "+bash~cd /tmp", "+bash~cd /var && make"],
        "",
        &[
            ("cd /tmp", Allow),
            ("cd /", Confirm),
            ("cd /var && make", Allow),
            ("cd /var", Confirm),
        ],
    );
}

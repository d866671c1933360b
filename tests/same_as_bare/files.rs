//! The small tools that make, mark, move and remove.

use super::twins::{Twins, installed};

#[test]
fn install_mktemp_mkfifo_and_touch_do_their_work() {
    let twins = Twins::new()
        .file("tool", "#!/bin/sh\necho tool\n")
        .file("data", "data\n");
    twins.same("install -m 751 tool out; install -d -m 700 made/deep; install -p -D data a/b/c/data; ./out");
    twins.same("name=$(mktemp -p . XXXXXX.tmp); echo temporary >$name; mv $name fixed; rm -r $(mktemp -d -p made)");
    twins.same("mkfifo -m 620 pipe; (echo through the pipe >pipe) & cat pipe; wait; rm pipe; mkfifo pipe");
    twins.same("touch -d '1999-12-31 23:59:59.5' old; touch -r old also; touch -a -d 2005-01-01 data; touch -c absent");
    twins.same(
        "touch -h -d 2004-02-29 link 2>/dev/null || ln -s data link; touch -h -d 2004-02-29 link; stat -c '%Y %F' link",
    );
    twins.same("name=$(mktemp); echo $$ >$name; test -s $name; rm $name; test -w $HOME; mkdir ~/made; rmdir ~/made");
}

#[test]
fn modes_owners_and_masks_are_kept() {
    let twins = Twins::new().file("file", "x").file("directory/inside", "y");
    twins.same("chmod 604 file; chmod -R u=rwX,go= directory; chmod +t file; stat -c '%a %n' file directory");
    twins.same("umask 027; echo a >masked; mkdir masked-directory; umask 0; echo b >open; mkdir -m 711 said; umask");
    twins.same(
        "chown $(id -u):$(id -g) file; chgrp -h $(id -g) directory/inside; chmod 000 masked; ls -l | awk '{print $1}'",
    );
    twins.same("chmod g+s directory; mkdir directory/inherits; chmod --reference=file open; rm -f masked");
}

#[test]
fn links_renames_and_removals_leave_the_same_names() {
    let twins = Twins::new().file("a", "a\n").file("b", "b\n").file("d/e/f", "f\n");
    twins.same(
        "ln a hard; ln -s a soft; ln -sfn d directory; ln -f b hard; ln -P soft hard-soft; readlink -f directory/e/f",
    );
    twins.same(
        "mv a renamed; mv -T d moved; mv -n b renamed; mv -f b moved/e; mv --backup renamed moved/e/f; find . | sort",
    );
    twins.same(
        "rm soft; rm -r moved/e; rmdir moved; unlink hard; ln -s $PWD absolute; ls -l --time-style=+ absolute/; rm -rf directory/",
    );
    twins.same("mkdir -p x/y/z; rmdir -p x/y/z; mkdir full; echo >full/file; rmdir full 2>&1 || echo refused; cd full; rm -r ../full; pwd");
    twins
        .same("mkdir 1; cd 1; mkdir 2; mv ../1 ../other; pwd -P; echo here >here; cd 2; cat ../here; cd ..; cd ..; ls");
}

#[test]
fn text_tools_edit_sort_split_and_patch() {
    let twins = Twins::new().file("text", "delta\nalpha\ncharlie\nbravo\n").file(
        "change.diff",
        "--- text\n+++ text\n@@ -1,2 +1,2 @@\n-delta\n+DELTA\n alpha\n",
    );
    twins
        .same("sed -i.bak s/alpha/ALPHA/ text; sed -i s/ALPHA/alpha/ text; sort -o sorted text; split -l 2 text part-");
    twins.same("cat part-* | tee -a sorted >both; truncate -s 100 both; dd if=both of=copy bs=7 skip=1 seek=2 conv=notrunc status=none");
    twins.same("diff -u --label a --label b text sorted || true; comm <(sort text) <(sort sorted); sort -S 1k -T . text text >large; csplit -s text /charlie/");
    twins.same("shred -n 1 copy; rm copy; sha256sum * 2>/dev/null | sort; wc -l *; head -c 5 text >>text; fallocate -l 5000 reserved");
    if installed(&["patch"]) {
        twins.same("patch -s -b text change.diff && cat text");
    }
}

#[test]
fn vim_edits_in_place_with_swap_backup_and_undo() {
    if installed(&["vim"]) {
        let twins = Twins::new().file("text", "one\ntwo\nthree\n").ignoring(&["*.un~"]);
        twins.same("vim -u NONE -es -c 'set swapfile backup' -c '%s/two/TWO/' -c 'wq' text; cat text; ls -A");
        twins.same(
            "vim -u NONE -es -c 'set undofile writebackup backupcopy=yes' -c 'normal Gofour' -c 'wq' text; cat text",
        );
        twins.same(
            "ln -s text link; vim -u NONE -es -c '1d' -c 'w! other' -c 'wq' link; cat other; chmod 640 text
            vim -u NONE -es -c 'set backupcopy=no nobackup' -c '$d' -c 'wq' text; stat -c %a text",
        );
    }
}

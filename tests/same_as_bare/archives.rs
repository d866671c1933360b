//! Archives and copies: modes, times, links.

use super::twins::{Twins, installed};

/// A tree with all that an archive keeps.
const TREE: &str = "mkdir -p tree/sub/deep tree/empty; echo one >tree/one; ln tree/one tree/sub/same
ln -s ../one tree/sub/link; ln -s nowhere tree/dangling; ln -s /etc/passwd tree/absolute; chmod 0751 tree/one
echo two >tree/sub/two; chmod 0400 tree/sub/two; mkfifo tree/fifo; printf x >'tree/odd name \\n'; printf y >$'tree/b\\x01\\xff'
head -c 300000 /dev/zero >tree/sub/deep/zeros
find tree -exec touch -h -d '2002-03-04 05:06:07.987654321' {} +; chmod 2770 tree/sub
touch -d '2002-03-04 05:06:07.987654321' tree/sub";

fn twins() -> Twins {
    Twins::new().prepared(TREE)
}

#[test]
fn tar_packs_and_unpacks_modes_times_and_links() {
    if installed(&["tar", "gzip"]) {
        let twins = twins();
        twins.same("tar --sort=name --format=pax --pax-option=exthdr.name=%d/%f,delete=atime,delete=ctime -cf a.tar tree; tar tf a.tar");
        twins.same("mkdir out; tar -xpf a.tar -C out; tar -czf - tree | tar -xzf - -C out --one-top-level=again");
        twins.same("tar -df a.tar; tar -xf a.tar -C out tree/one; tar --delete -f a.tar tree/sub/two; tar tf a.tar");
        twins.same("rm -r out/again; mkdir plain; umask 077; tar -xf a.tar -C plain --no-same-permissions");
    }
}

#[test]
fn rsync_copies_updates_and_deletes() {
    if installed(&["rsync"]) {
        let twins = twins();
        twins.same("rsync -aHXi --numeric-ids tree/ copy/");
        twins.same(
            "rsync -ai tree/ copy/; rm tree/sub/two; echo more >>tree/sub/deep/zeros; rsync -aHi --delete tree/ copy/",
        );
        twins.same(
            "rsync -a --link-dest=../copy tree/ linked/; rsync -rc --inplace --exclude fifo tree/ flat/ 2>/dev/null",
        );
    }
}

#[test]
fn zip_and_unzip_keep_times_modes_and_links() {
    if installed(&["zip", "unzip"]) {
        let twins = twins().prepared("rm tree/fifo tree/b*; touch -d 2002-03-04 tree");
        twins.same("zip -q -r -y -X a.zip tree; unzip -Z1 a.zip; unzip -q -d out a.zip; unzip -p a.zip tree/sub/two");
        // -X: without it the archive has the time of the last read.
        twins.same(
            "zip -q -d a.zip tree/one; zip -q -X -j a.zip tree/sub/same; unzip -tq a.zip; unzip -q -o a.zip -d out",
        );
    }
}

#[test]
fn cp_copies_what_an_archive_copy_must_keep() {
    let twins = twins();
    twins.same("cp -a tree copy; cp -r tree/sub plain; cp -l tree/one linked; cp -s $PWD/tree/one symlinked");
    twins.same("cp -p tree/one kept; cp --parents tree/sub/two copy; cp -f --remove-destination kept linked; cp -u tree/one kept");
    twins.same("cp --reflink=auto --sparse=always tree/sub/deep/zeros sparse; cmp sparse tree/sub/deep/zeros");
}

#[test]
fn extended_attributes_are_set_copied_and_removed() {
    let script = r#"python3 - <<'END'
import os, shutil
try:
    os.setxattr("file", "user.probe", b"1")
except OSError as error:
    print("no attributes here", error.errno)
    raise SystemExit
os.setxattr("file", "user.colour", b"blue")
os.setxattr("file", "user.colour", b"green", os.XATTR_REPLACE)
os.removexattr("file", "user.probe")
with open("file") as file:
    os.setxattr(file.fileno(), "user.by.descriptor", b"yes")
    print(sorted(os.listxattr(file.fileno())))
shutil.copy2("file", "copy")
print(os.getxattr("copy", "user.colour"), sorted(os.listxattr("copy")))
END
cp -a file archive; cp file plain; mv archive moved"#;
    if installed(&["python3"]) {
        Twins::new().file("file", "x").same(script);
    }
}
